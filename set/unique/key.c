/*-------------------------------------------------------------------------
 *
 * unique/key.c
 *		What a unique key is, by the triggers of its table.
 *
 * The triggers have the seed of the set as their argument, which nothing can
 * rename.  All names are in one of them, which never fires:
 *
 *		BEFORE UPDATE OF columns FOR EACH STATEMENT
 *		WHEN (false AND 'set'::regclass IS NOT NULL)
 *
 * There the server maintains them, whatever is renamed, and in a dump; and it
 * refuses to drop the set or a column, or to change the type of a column.
 *
 * What is found is kept for the session, until a message says that it can have
 * changed.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

/* A trigger, as it fires for a table */
typedef struct Site
{
	Oid			oid;			/* hash key */
	Oid			relid;
	bool		is_valid;
	BloomUniqueTag tag;
	AttrNumber	columns[INDEX_MAX_KEYS];	/* of the key, in this table */
} Site;

/* A unique key */
typedef struct Known
{
	BloomUniqueTag tag;			/* hash key */
	BloomUnique *unique;		/* or NULL */
} Known;

PGFunction	BloomUniqueFunction = NULL;

static HTAB *sites = NULL;
static HTAB *known_keys = NULL;
static uint64 nserials = 0;

/* ----------------------------------------------------------------
 *							TRIGGERS
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueIsOurs
 *		Is this the trigger function bloom_unique?
 */
bool
BloomUniqueIsOurs(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		is_ours = false;
	FmgrInfo	flinfo;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		name = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc,
										   &isnull);
		char	   *symbol = TextDatumGetCString(name);

		/* no library of others is loaded */
		is_ours = strcmp(symbol, "bloom_unique") == 0;
		pfree(symbol);
	}
	ReleaseSysCache(tuple);
	if (!is_ours)
		return false;
	fmgr_info(function, &flinfo);
	return flinfo.fn_addr == BloomUniqueFunction;
}

/*
 * BloomUniqueSeedOf
 *		The seed in the arguments of a trigger.
 */
int64
BloomUniqueSeedOf(int16 nargs, char **args)
{
	if (nargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_unique requires one argument"),
				 errhint("bloom_unique_create makes its triggers.")));
	return DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(args[0])));
}

/* The argument of a trigger in the catalog, which is one, or NULL. */
static char *
ArgumentOf(Relation catalog, HeapTuple tuple)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, Anum_pg_trigger_tgargs,
									 RelationGetDescr(catalog), &isnull);

	if (isnull || ((Form_pg_trigger) GETSTRUCT(tuple))->tgnargs != 1)
		return NULL;
	/* it ends with a zero */
	return TextDatumGetCString(value);
}

/* The set that the condition of the idle trigger names, or invalid. */
static Oid
SetOfCondition(Relation catalog, HeapTuple tuple)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, Anum_pg_trigger_tgqual,
									 RelationGetDescr(catalog), &isnull);
	BoolExpr   *both;
	NullTest   *test;
	Const	   *set;

	if (isnull)
		return InvalidOid;
	both = stringToNode(TextDatumGetCString(value));
	if (!IsA(both, BoolExpr) || list_length(both->args) != 2)
		return InvalidOid;
	test = lsecond(both->args);
	if (!IsA(test, NullTest))
		return InvalidOid;
	set = (Const *) test->arg;
	if (!IsA(set, Const) || set->consttype != REGCLASSOID || set->constisnull)
		return InvalidOid;
	return DatumGetObjectId(set->constvalue);
}

/* Which of ours is a trigger? */
static BloomUniqueTrigger
KindOf(int16 type, bool has_columns)
{
	if (has_columns)
		return BLOOM_UNIQUE_KEYS;
	if (TRIGGER_FOR_ROW(type))
		return BLOOM_UNIQUE_ROW;
	return TRIGGER_FOR_BEFORE(type) ? BLOOM_UNIQUE_OPEN : BLOOM_UNIQUE_CLOSE;
}

/* A scan of the triggers of a table, in the order of their names */
static SysScanDesc
BeginTriggers(Relation catalog, Oid table)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	return systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1,
							  &key);
}

/* Is a trigger in the catalog one of these columns, in this order or in any? */
static bool
HasColumns(Form_pg_trigger form, const AttrNumber *columns, int ncolumns,
		   bool any_order)
{
	int			nequal = 0;

	for (int i = 0; i < form->tgattr.dim1; i++)
	{
		for (int j = 0; j < ncolumns; j++)
			nequal += form->tgattr.values[i] == columns[j] && (any_order || i == j);
	}
	return nequal == ncolumns && nequal == form->tgattr.dim1;
}

/* The next of our triggers in a scan, with its seed, or NULL */
static Form_pg_trigger
NextTrigger(Relation catalog, SysScanDesc scan, HeapTuple *tuple, int64 *seed)
{
	while ((*tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(*tuple);
		char	   *argument = ArgumentOf(catalog, *tuple);

		if (argument == NULL || !BloomUniqueIsOurs(form->tgfoid))
			continue;
		*seed = BloomUniqueSeedOf(1, &argument);
		return form;
	}
	return NULL;
}

/* Does the session know the key that these columns of a table are, in this order? */
static bool
KnowsSeed(Oid root, const AttrNumber *columns, int ncolumns, int64 *seed)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

	if (known_keys == NULL)
		return false;
	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		const BloomUnique *unique = known->unique;
		int			n = 0;

		if (unique == NULL || !unique->is_valid || unique->tag.root != root ||
			unique->ncolumns != ncolumns)
			continue;
		while (n < ncolumns && unique->columns[n].number == columns[n])
			n++;
		if (n < ncolumns)
			continue;
		*seed = unique->tag.seed;
		hash_seq_term(&status);
		return true;
	}
	return false;
}

/*
 * BloomUniqueFindSeed
 *		The seed of the key that these columns of a table are, in this order or in
 *		any.  False: they are none.
 */
bool
BloomUniqueFindSeed(Oid root, const AttrNumber *columns, int ncolumns,
					bool any_order, int64 *seed)
{
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	tuple;
	Form_pg_trigger form;

	if (KnowsSeed(root, columns, ncolumns, seed))
		return true;
	catalog = table_open(TriggerRelationId, AccessShareLock);
	scan = BeginTriggers(catalog, root);
	while ((form = NextTrigger(catalog, scan, &tuple, seed)) != NULL &&
		   !HasColumns(form, columns, ncolumns, any_order));
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return form != NULL;
}

/*
 * BloomUniqueFindTriggers
 *		Find the triggers of a key.
 */
void
BloomUniqueFindTriggers(const BloomUniqueTag *tag, BloomUniqueTriggers *triggers)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, tag->root);
	HeapTuple	tuple;
	Form_pg_trigger form;
	int64		seed;

	memset(triggers, 0, sizeof(*triggers));
	while ((form = NextTrigger(catalog, scan, &tuple, &seed)) != NULL)
	{
		BloomUniqueTrigger kind;

		if (seed != tag->seed)
			continue;
		kind = KindOf(form->tgtype, form->tgattr.dim1 > 0);
		triggers->is_there = true;
		triggers->is_ambiguous |= OidIsValid(triggers->oids[kind]);
		triggers->oids[kind] = form->oid;
		triggers->names[kind] = form->tgname;
		if (kind != BLOOM_UNIQUE_KEYS || form->tgattr.dim1 > INDEX_MAX_KEYS)
			continue;
		triggers->set = SetOfCondition(catalog, tuple);
		triggers->ncolumns = form->tgattr.dim1;
		memcpy(triggers->columns, form->tgattr.values,
			   form->tgattr.dim1 * sizeof(AttrNumber));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * BloomUniqueFindNamer
 *		The set of a key whose own trigger no longer names it, or invalid: that
 *		which names the table, and has the seed.
 */
Oid
BloomUniqueFindNamer(const BloomUniqueTag *tag)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Form_pg_trigger form;
	int64		seed;

	ScanKeyInit(&key, Anum_pg_trigger_tgconstrrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(tag->root));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	while ((form = NextTrigger(catalog, scan, &tuple, &seed)) != NULL)
	{
		if (seed == tag->seed)
			result = form->tgrelid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * BloomUniqueAskSet
 *		What does a set say of the table whose keys it has?
 *
 * By a constraint trigger that never fires, whose FROM names the table.  Who may
 * not make triggers on the set can forge none, and a second trigger makes it
 * say nothing.
 */
BloomUniqueAnswer
BloomUniqueAskSet(Oid set, Oid root)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, set);
	BloomUniqueAnswer result = BLOOM_UNIQUE_LOST;
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		result = result == BLOOM_UNIQUE_LOST && form->tgconstrrelid == root &&
			OidIsValid(root) && !form->tgisinternal &&
			BloomUniqueIsOurs(form->tgfoid) ?
			BLOOM_UNIQUE_NAMED : BLOOM_UNIQUE_OTHER;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * BloomUniqueFindLeftover
 *		The seed of a key of which only triggers are left: the one that names its
 *		columns and its set was dropped with these.  False: there is none.
 */
bool
BloomUniqueFindLeftover(Oid root, int64 *seed)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, root);
	HeapTuple	tuple;
	Form_pg_trigger form;

	while ((form = NextTrigger(catalog, scan, &tuple, seed)) != NULL)
	{
		BloomUniqueTag tag = {.seed = *seed,.root = root};
		BloomUniqueTriggers triggers;

		/* one that a partition inherits is of another table's key */
		if (OidIsValid(form->tgparentid))
			continue;
		BloomUniqueFindTriggers(&tag, &triggers);
		if (!OidIsValid(triggers.oids[BLOOM_UNIQUE_KEYS]))
			break;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return form != NULL;
}

/* ----------------------------------------------------------------
 *							TABLES AND COLUMNS
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueCheckTable
 *		An error, unless a table has partitions whose rows fire its triggers.
 */
void
BloomUniqueCheckTable(Oid root)
{
	char		relkind = get_rel_relkind(root);

	if (relkind == RELKIND_PARTITIONED_TABLE)
		return;
	if (relkind == RELKIND_RELATION && !has_subclass(root))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" has no partitions", get_rel_name(root)),
				 get_rel_relispartition(root) ?
				 errhint("Name the partitioned table to which it belongs.") :
				 errhint("Use CREATE UNIQUE INDEX.")));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a partitioned table", get_rel_name(root)),
			 errdetail("Rows that are written to tables that inherit from it, or to a view, do not fire its triggers.")));
}

/* An error, if keys of this type can change without being written. */
static void
CheckType(Oid type, const char *column)
{
	Oid			base = getBaseType(type);
	char		typtype = get_typtype(base);
	Oid			part = get_element_type(base);

	if (!OidIsValid(part) && typtype == TYPTYPE_RANGE)
		part = get_range_subtype(base);
	if (!OidIsValid(part) && typtype == TYPTYPE_MULTIRANGE)
		part = get_range_subtype(get_multirange_range(base));
	if (OidIsValid(part))
		CheckType(part, column);
	if (typtype == TYPTYPE_ENUM || typtype == TYPTYPE_COMPOSITE ||
		base == RECORDOID || base == RECORDARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be a unique key", column),
				 errdetail("Values of type %s can change without being written, by ALTER TYPE.",
						   format_type_be(base)),
				 typtype == TYPTYPE_ENUM ? 0 :
				 errhint("Name several columns in place of one with a row type.")));
}

/* Read what a column is. */
static void
DescribeColumn(Oid root, AttrNumber number, BloomUniqueColumn *column)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(root),
										Int16GetDatum(number));
	Form_pg_attribute form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "column %d of table %u does not exist", number, root);
	form = (Form_pg_attribute) GETSTRUCT(tuple);
	column->name = form->attname;
	column->number = number;
	column->type = form->atttypid;
	column->collation = form->attcollation;
	column->typlen = form->attlen;
	column->typbyval = form->attbyval;
	if (form->attgenerated == 'v')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is a virtual generated column",
						NameStr(form->attname)),
				 errhint("Make it a stored one.")));
	ReleaseSysCache(tuple);
	CheckType(column->type, NameStr(column->name));
}

/*
 * BloomUniqueOwnerOf
 *		The owner of a table, which is locked.
 */
Oid
BloomUniqueOwnerOf(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "table %u does not exist", relid);
	result = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * BloomUniqueDescribe
 *		Complete what is known of a key, whose table and numbers of columns are
 *		there.
 */
void
BloomUniqueDescribe(BloomUnique *unique)
{
	Oid			types[INDEX_MAX_KEYS];
	Oid			collations[INDEX_MAX_KEYS];

	unique->owner = BloomUniqueOwnerOf(unique->tag.root);
	for (int i = 0; i < unique->ncolumns; i++)
	{
		DescribeColumn(unique->tag.root, unique->columns[i].number,
					   &unique->columns[i]);
		types[i] = unique->columns[i].type;
		collations[i] = unique->columns[i].collation;
	}
	unique->row = BloomHasherInitColumns(&unique->hasher, unique->ncolumns, types,
										 collations);
}

/*
 * BloomUniqueColumns
 *		The columns of the key, as they stand in a list.
 */
char *
BloomUniqueColumns(const BloomUnique *unique)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ",
						 quote_identifier(NameStr(unique->columns[i].name)));
	return list.data;
}

/*
 * BloomUniqueGetKey
 *		The key of a row.  False: a column of it is null, so that it is distinct
 *		from all others.
 */
bool
BloomUniqueGetKey(const BloomUnique *unique, const AttrNumber *columns,
				  TupleTableSlot *slot, Datum *key)
{
	for (int i = 0; i < unique->ncolumns; i++)
	{
		bool		isnull;

		key[i] = slot_getattr(slot, columns[i], &isnull);
		if (isnull)
			return false;
	}
	return true;
}

/*
 * BloomUniqueCopyKey
 *		Copy the columns of a key into the current context.  The result is the
 *		bytes that this takes.
 */
Size
BloomUniqueCopyKey(const BloomUnique *unique, Datum *key)
{
	Size		size = unique->ncolumns * sizeof(Datum);

	for (int i = 0; i < unique->ncolumns; i++)
	{
		const BloomUniqueColumn *column = &unique->columns[i];

		if (column->typbyval)
			continue;
		/* a value out of line can be gone when it is needed */
		key[i] = column->typlen == -1 ?
			PointerGetDatum(PG_DETOAST_DATUM_COPY(key[i])) :
			datumCopy(key[i], false, column->typlen);
		size += datumGetSize(key[i], false, column->typlen);
	}
	return size;
}

/*
 * BloomUniqueKeepKey
 *		Keep a copy of a key.
 */
void
BloomUniqueKeepKey(const BloomUnique *unique, BloomUniqueKeys *keys, Datum *key)
{
	Size		width = unique->ncolumns * sizeof(Datum);
	MemoryContext oldcontext = MemoryContextSwitchTo(keys->context);

	if (keys->nkeys == keys->maxkeys)
	{
		keys->maxkeys = Max(2 * keys->maxkeys, 8);
		keys->keys = keys->keys == NULL ? palloc(keys->maxkeys * width) :
			repalloc_huge(keys->keys, keys->maxkeys * width);
	}
	keys->size += BloomUniqueCopyKey(unique, key);
	memcpy(&keys->keys[(Size) keys->nkeys++ * unique->ncolumns], key, width);
	MemoryContextSwitchTo(oldcontext);
}

/*
 * BloomUniqueDropKeys
 *		Free the copies, so that others can be kept.
 */
void
BloomUniqueDropKeys(BloomUniqueKeys *keys)
{
	MemoryContextReset(keys->context);
	*keys = (BloomUniqueKeys)
	{
		.context = keys->context
	};
}

/* ----------------------------------------------------------------
 *							WHAT THE SESSION KNOWS
 * ----------------------------------------------------------------
 */

/* A table has changed, or any. */
static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Site	   *site;
	Known	   *known;

	(void) arg;
	hash_seq_init(&status, sites);
	while ((site = hash_seq_search(&status)) != NULL)
	{
		if (!OidIsValid(relid) || relid == site->relid || relid == site->tag.root)
			site->is_valid = false;
	}
	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		BloomUnique *unique = known->unique;
		BloomUniqueLeaf *leaf;

		if (unique == NULL)
			continue;
		if (!OidIsValid(relid) || relid == unique->tag.root ||
			relid == unique->set)
			unique->is_valid = false;
		leaf = unique->leaves == NULL ? NULL :
			hash_search(unique->leaves, &relid, HASH_FIND, NULL);
		if (leaf != NULL)
			leaf->is_valid = false;
	}
}

static HTAB *
MakeTable(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		info = {0};

	info.keysize = keysize;
	info.entrysize = entrysize;
	return hash_create(name, 16, &info, HASH_ELEM | HASH_BLOBS);
}

static void
MakeTables(void)
{
	if (known_keys != NULL)
		return;
	sites = MakeTable("triggers of unique keys", sizeof(Oid), sizeof(Site));
	known_keys = MakeTable("unique keys", sizeof(BloomUniqueTag), sizeof(Known));
	CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
}

static const char *const remake = "Call bloom_unique_drop, and bloom_unique_create again.";

/* An error: a key is not as bloom_unique_create made it. */
static void
ReportChanged(Oid root, const char *detail, const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot check unique keys of table \"%s\"", get_rel_name(root)),
			 errdetail("%s", detail),
			 errhint("%s", cure)));
}

/*
 * BloomUniqueReportNoTable
 *		An error: there is no such table, or no longer.
 */
void
BloomUniqueReportNoTable(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relid)));
}

/*
 * BloomUniqueCheckTriggers
 *		An error, unless the triggers without which nothing is checked are there.
 */
void
BloomUniqueCheckTriggers(Oid root, const BloomUniqueTriggers *triggers)
{
	if (get_rel_name(root) == NULL)
		BloomUniqueReportNoTable(root);
	if (!triggers->is_there)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the unique key of table \"%s\" was dropped meanwhile",
						get_rel_name(root)),
				 errhint("If it was made anew, repeat the call.")));
	if (!OidIsValid(triggers->oids[BLOOM_UNIQUE_KEYS]) ||
		!OidIsValid(triggers->set))
		ReportChanged(root, "The trigger that names the key and the set is not there.",
					  remake);
	if (!OidIsValid(triggers->oids[BLOOM_UNIQUE_ROW]))
		ReportChanged(root, "The trigger AFTER INSERT OR UPDATE FOR EACH ROW is not there.",
					  remake);
	if (triggers->is_ambiguous)
		ReportChanged(root, "There are two triggers where one is needed.",
					  remake);
}

/*
 * BloomUniqueReportSet
 *		An error: the set is not one to rely on.
 */
void
BloomUniqueReportSet(const BloomUnique *unique, const char *wrong, const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("Bloom set \"%s\" does not have the keys of table \"%s\"",
					NameStr(unique->name), get_rel_name(unique->tag.root)),
			 errdetail("%s", wrong),
			 errhint("%s", cure)));
}

/*
 * Look at the set, which names the table: an error, if it is not the one that has
 * its keys.
 */
static void
LookAtSet(BloomUnique *unique)
{
	StoredSetTable table;

	StoredSetOpen(&table, unique->set, false, false);
	unique->name = table.rel->rd_rel->relname;
	if (table.set.params.seed != unique->tag.seed ||
		table.set.params.kept_bits != BLOOM_UNIQUE_KEPT_BITS)
		BloomUniqueReportSet(unique, "It is another set than the one that has the keys.",
							 "Call bloom_unique_drop, and bloom_unique_create again.");
	BloomCheckHasher(&unique->hasher, &StoredSetHolder, &table.set.key_type,
					 BLOOM_TO_ADD);
	PushActiveSnapshot(GetLatestSnapshot());
	unique->is_marked = StoredSetIsMarked(&table);
	PopActiveSnapshot();
	StoredSetClose(&table);
}

/*
 * Find out what a key is.
 *
 * The triggers can be forged by whoever may create a table.  So nothing is asked
 * of the set that they name, not even a lock, before that has named the table.
 */
static void
BuildUnique(BloomUnique *unique)
{
	BloomUniqueTriggers triggers;
	BloomUniqueAnswer answer;

	BloomUniqueFindTriggers(&unique->tag, &triggers);
	BloomUniqueCheckTriggers(unique->tag.root, &triggers);
	BloomUniqueCheckTable(unique->tag.root);
	unique->set = triggers.set;
	answer = BloomUniqueAskSet(unique->set, unique->tag.root);
	if (answer == BLOOM_UNIQUE_NAMED)
		LockRelationOid(unique->set, AccessShareLock);
	/* all of this may have changed while we waited: then look again */
	if (!unique->is_valid)
		return;
	if (answer == BLOOM_UNIQUE_LOST)
		ReportChanged(unique->tag.root,
					  "The set has no trigger that names this table.",
					  "Call bloom_unique_rebuild.");
	if (answer == BLOOM_UNIQUE_OTHER)
		ReportChanged(unique->tag.root,
					  "The triggers name a set that belongs to another table, or a table that is no set.",
					  remake);
	unique->ncolumns = triggers.ncolumns;
	unique->columns = palloc0(triggers.ncolumns * sizeof(BloomUniqueColumn));
	for (int i = 0; i < triggers.ncolumns; i++)
		unique->columns[i].number = triggers.columns[i];
	BloomUniqueDescribe(unique);
	LookAtSet(unique);
}

/*
 * Give back what is known of keys that have changed or gone.  A caller further out may
 * still use it.
 */
static void
DropInvalid(void)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		if (known->unique == NULL || known->unique->is_valid)
			continue;
		MemoryContextSetParent(known->unique->context, TopTransactionContext);
		known->unique = NULL;
	}
}

/*
 * BloomUniqueRecall
 *		What the session knows of a key.
 */
BloomUnique *
BloomUniqueRecall(const BloomUniqueTag *tag)
{
	Known	   *known;
	bool		found;

	MakeTables();
	known = hash_search(known_keys, tag, HASH_ENTER, &found);
	if (!found)
		known->unique = NULL;
	while (known->unique == NULL || !known->unique->is_valid)
	{
		MemoryContext context;
		MemoryContext oldcontext;
		BloomUnique *unique;

		CHECK_FOR_INTERRUPTS();
		DropInvalid();
		context = AllocSetContextCreate(TopTransactionContext, "unique key",
										ALLOCSET_SMALL_SIZES);
		oldcontext = MemoryContextSwitchTo(context);
		unique = palloc0(sizeof(BloomUnique));
		unique->tag = *tag;
		unique->serial = ++nserials;
		unique->context = context;

		/* messages that come while we look make it invalid */
		unique->is_valid = true;
		known->unique = unique;
		PG_TRY();
		{
			BuildUnique(unique);
		}
		PG_CATCH();
		{
			known->unique = NULL;
			PG_RE_THROW();
		}
		PG_END_TRY();
		MemoryContextSwitchTo(oldcontext);
		MemoryContextSetParent(context, CacheMemoryContext);
	}
	return known->unique;
}

/* Find out for which key a trigger fires, and the key's columns in its table. */
static void
BuildSite(Site *site, const TriggerData *trigger)
{
	BloomUnique *unique;

	do
	{
		CHECK_FOR_INTERRUPTS();
		site->is_valid = true;
		site->relid = RelationGetRelid(trigger->tg_relation);
		memset(&site->tag, 0, sizeof(site->tag));
		site->tag.seed = BloomUniqueSeedOf(trigger->tg_trigger->tgnargs,
										   trigger->tg_trigger->tgargs);
		site->tag.root = StoredSetTriggerTable(trigger);
		unique = BloomUniqueRecall(&site->tag);
		for (int i = 0; i < unique->ncolumns; i++)
			site->columns[i] = get_attnum(site->relid,
										  NameStr(unique->columns[i].name));
	} while (!site->is_valid);
}

/*
 * BloomUniqueOfTrigger
 *		The key for which a trigger fires, and its columns in the table that the
 *		trigger is on.
 */
BloomUnique *
BloomUniqueOfTrigger(const TriggerData *trigger, const AttrNumber **columns)
{
	Oid			oid = trigger->tg_trigger->tgoid;
	Site	   *site;
	bool		found;

	MakeTables();
	site = hash_search(sites, &oid, HASH_ENTER, &found);
	if (!found)
		site->is_valid = false;
	if (!site->is_valid)
	{
		PG_TRY();
		{
			BuildSite(site, trigger);
		}
		PG_CATCH();
		{
			site->is_valid = false;
			PG_RE_THROW();
		}
		PG_END_TRY();
	}
	*columns = site->columns;
	return BloomUniqueRecall(&site->tag);
}
