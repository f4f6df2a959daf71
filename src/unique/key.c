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
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "set/compat.h"
#include "set/set.h"
#include "unique/unique.h"

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
static uint64 nmessages = 0;	/* that have come */

static void KnowLeaves(BloomUnique *unique);

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
		return TRIGGER_FOR_BEFORE(type) ? BLOOM_UNIQUE_NOTHING : BLOOM_UNIQUE_ROW;
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

/* Is a trigger in the catalog one of these columns, in this order? */
static bool
HasColumns(Form_pg_trigger form, const AttrNumber *columns, int ncolumns)
{
	if (form->tgattr.dim1 != ncolumns)
		return false;
	for (int i = 0; i < ncolumns; i++)
	{
		if (form->tgattr.values[i] != columns[i])
			return false;
	}
	return true;
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

/*
 * BloomUniqueFindSeed
 *		The seed of the key that these columns of a table are.  False: they are
 *		none.
 */
bool
BloomUniqueFindSeed(Oid root, const AttrNumber *columns, int ncolumns,
					int64 *seed)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, root);
	HeapTuple	tuple;
	Form_pg_trigger form;

	while ((form = NextTrigger(catalog, scan, &tuple, seed)) != NULL &&
		   !HasColumns(form, columns, ncolumns));
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

/* Is a table a hypertable of TimescaleDB?  An error, if it is compressed. */
static bool
IsHypertable(Oid relid)
{
	Oid			timescaledb = get_extension_oid("timescaledb", true);
	Oid			catalog;
	Oid			schema = get_namespace_oid("_timescaledb_catalog", true);
	Oid			types[2] = {NAMEOID, NAMEOID};
	Datum		names[2];
	bool		is_hypertable;
	bool		isnull;
	bool		is_compressed = false;

	if (!OidIsValid(timescaledb) || !OidIsValid(schema))
		return false;
	catalog = get_relname_relid("hypertable", schema);

	/* what has the name must be the extension's */
	if (!OidIsValid(catalog) ||
		getExtensionOfObject(RelationRelationId, catalog) != timescaledb)
		return false;
	names[0] = DirectFunctionCall1(namein, CStringGetDatum(get_namespace_name(get_rel_namespace(relid))));
	names[1] = DirectFunctionCall1(namein, CStringGetDatum(get_rel_name(relid)));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args("SELECT compression_state OPERATOR(pg_catalog.<>) 0 OR compressed_hypertable_id IS NOT NULL"
							  " FROM _timescaledb_catalog.hypertable"
							  " WHERE schema_name OPERATOR(pg_catalog.=) $1 AND table_name OPERATOR(pg_catalog.=) $2",
							  2, types, names, NULL, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not look for a hypertable");
	is_hypertable = SPI_processed > 0;
	if (is_hypertable)
		is_compressed = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
												   SPI_tuptable->tupdesc, 1,
												   &isnull));
	SPI_finish();
	if (is_compressed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("hypertable \"%s\" can have compressed chunks",
						get_rel_name(relid)),
				 errdetail("No key can be looked up in a compressed chunk."),
				 errhint("Disable compression, or call bloom_unique_drop.")));
	return is_hypertable;
}

/*
 * BloomUniqueCheckTable
 *		An error, unless a table has partitions whose rows fire its triggers.
 */
void
BloomUniqueCheckTable(Oid root)
{
	char		relkind = get_rel_relkind(root);

	if (relkind == RELKIND_PARTITIONED_TABLE ||
		(relkind == RELKIND_RELATION && IsHypertable(root)))
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

/* Prepare to hash keys: those of several columns are hashed as ROW(a, b). */
static void
MakeHasher(BloomUnique *unique)
{
	const BloomUniqueColumn *first = unique->columns;

	if (unique->ncolumns == 1)
	{
		BloomHasherInit(&unique->hasher, first->type, first->collation);
		return;
	}
	unique->row = CreateTemplateTupleDesc(unique->ncolumns);
	for (int i = 0; i < unique->ncolumns; i++)
	{
		const BloomUniqueColumn *column = &unique->columns[i];

		TupleDescInitEntry(unique->row, (AttrNumber) (i + 1), NULL,
						   column->type, -1, 0);
		TupleDescInitEntryCollation(unique->row, (AttrNumber) (i + 1),
									column->collation);
	}
	unique->row = BlessTupleDesc(unique->row);
	BloomHasherInit(&unique->hasher, RECORDOID, InvalidOid);
	BloomSetRowType(&unique->hasher, RECORDOID, unique->row->tdtypmod);
	BloomRefreshKeyType(&unique->hasher);
}

/*
 * BloomUniqueDescribe
 *		Complete what is known of a key, whose table and numbers of columns are
 *		there.
 */
void
BloomUniqueDescribe(BloomUnique *unique)
{
	HeapTuple	tuple = SearchSysCache1(RELOID,
										ObjectIdGetDatum(unique->tag.root));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "table %u does not exist", unique->tag.root);
	unique->owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	for (int i = 0; i < unique->ncolumns; i++)
		DescribeColumn(unique->tag.root, unique->columns[i].number,
					   &unique->columns[i]);
	MakeHasher(unique);
}

/* ----------------------------------------------------------------
 *							WHAT THE SESSION KNOWS
 * ----------------------------------------------------------------
 */

static int
CompareDescending(const void *a, const void *b)
{
	Oid			left = *(const Oid *) a;
	Oid			right = *(const Oid *) b;

	return left > right ? -1 : left < right;
}

/* Leaves begin with their OIDs. */
static int
CompareLeaves(const void *a, const void *b)
{
	return CompareDescending(a, b);
}

/* A table has changed, or any. */
static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Site	   *site;
	Known	   *known;

	(void) arg;
	nmessages++;
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
			unique->is_valid = unique->knows_leaves = false;
		if (unique->nparents > 0 &&
			bsearch(&relid, unique->parents, unique->nparents, sizeof(Oid),
					CompareDescending) != NULL)
			unique->knows_leaves = false;
		if (unique->nleaves == 0)
			continue;
		leaf = bsearch(&relid, unique->leaves, unique->nleaves,
					   sizeof(BloomUniqueLeaf), CompareLeaves);
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

/* An error: a key is not as bloom_unique_create made it. */
static void
ReportChanged(Oid root, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot check unique keys of table \"%s\"", get_rel_name(root)),
			 errdetail("%s", detail),
			 errhint("Call bloom_unique_drop, and bloom_unique_create again.")));
}

/*
 * BloomUniqueCheckTriggers
 *		An error, unless the triggers without which nothing is checked are there.
 */
void
BloomUniqueCheckTriggers(Oid root, const BloomUniqueTriggers *triggers)
{
	if (!OidIsValid(triggers->oids[BLOOM_UNIQUE_KEYS]) ||
		!OidIsValid(triggers->set))
		ReportChanged(root, "The trigger that names the key and the set is not there.");
	if (!OidIsValid(triggers->oids[BLOOM_UNIQUE_ROW]))
		ReportChanged(root, "The trigger AFTER INSERT OR UPDATE FOR EACH ROW is not there.");
}

/* An error: the set is not one to rely on. */
static void
ReportSet(const BloomUnique *unique, const char *wrong, const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("Bloom set \"%s\" does not have the keys of table \"%s\"",
					NameStr(unique->name), get_rel_name(unique->tag.root)),
			 errdetail("%s", wrong),
			 errhint("%s", cure)));
}

/*
 * BloomUniqueCheckLogged
 *		An error, if the set forgets its keys in a crash.
 */
void
BloomUniqueCheckLogged(const BloomUnique *unique)
{
	if (get_rel_persistence(unique->set) == RELPERSISTENCE_UNLOGGED)
		ReportSet(unique, "It is unlogged, and forgets all keys in a crash.",
				  "Use ALTER TABLE ... SET LOGGED, then bloom_unique_rebuild.");
}

/*
 * BloomUniqueIsFilled
 *		Does the set of a key count as filled?
 *
 * If not, as in a database that is being restored, and there can be rows, all
 * writes are errors until bloom_unique_rebuild, which checks them.
 */
bool
BloomUniqueIsFilled(const BloomUniqueTag *tag)
{
	BloomUniqueTriggers triggers;
	StoredSetTable table;
	bool		result;

	BloomUniqueFindTriggers(tag, &triggers);
	if (!OidIsValid(triggers.set))
		return false;
	StoredSetOpen(&table, triggers.set, false, false);
	PushActiveSnapshot(GetLatestSnapshot());
	result = StoredSetIsMarked(&table);
	PopActiveSnapshot();
	StoredSetClose(&table);
	return result;
}

/* Has a table a row, or may one come to be seen? */
static bool
HasRows(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);

	/* nobody knows what a foreign table has */
	bool		result = rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE;

	if (rel->rd_rel->relkind == RELKIND_RELATION)
	{
		TupleTableSlot *slot = table_slot_create(rel, NULL);
		SnapshotData dirty;
		TableScanDesc scan;

		InitDirtySnapshot(dirty);
		scan = table_beginscan(rel, &dirty, 0, NULL, 0);
		result = table_scan_getnextslot(scan, ForwardScanDirection, slot);
		table_endscan(scan);
		ExecDropSingleTupleTableSlot(slot);
	}
	table_close(rel, NoLock);
	return result;
}

/*
 * Let an open set without a mark count as filled, if there are no rows whose keys
 * it could lack: only the schema was restored.  True: it is filled.
 *
 * The lock keeps out ATTACH PARTITION, which checks nothing without the mark, and
 * all that do the same as we.  Those who write rows are not kept out: a row that
 * is written after we have looked for it is claimed after that.
 */
static bool
MarkIfEmpty(BloomUnique *unique, StoredSetTable *table)
{
	List	   *relids;
	ListCell   *cell;

	/* the list begins with the table, which it does not lock */
	LockRelationOid(unique->tag.root, ShareUpdateExclusiveLock);
	relids = find_all_inheritors(unique->tag.root, ShareUpdateExclusiveLock, NULL);
	if (BloomUniqueIsFilled(&unique->tag))
		return true;
	if (!StoredSetIsEmpty(table))
		return false;
	foreach(cell, relids)
	{
		if (HasRows(lfirst_oid(cell)))
			return false;
	}
	StoredSetMark(unique->set);

	/* who knows of the mark looks again, if it is rolled back */
	CacheInvalidateRelcacheByRelid(unique->set);
	return true;
}

/* An error, if the set is not the one that has the keys of the table. */
static void
CheckSet(BloomUnique *unique)
{
	StoredSetTable table;
	const char *wrong = NULL;

	StoredSetOpen(&table, unique->set, false, false);
	unique->name = table.rel->rd_rel->relname;
	BloomCheckHasher(&unique->hasher, BLOOM_HOLDER_SET, &table.set.key_type,
					 BLOOM_TO_ADD);
	PushActiveSnapshot(GetLatestSnapshot());
	BloomUniqueCheckLogged(unique);
	if (table.set.params.seed != unique->tag.seed)
		wrong = "It is another set than the one that has the keys.";
	else if (!StoredSetIsMarked(&table) && !MarkIfEmpty(unique, &table))
		wrong = "It has lost keys, as by TRUNCATE.";
	StoredSetClose(&table);
	PopActiveSnapshot();
	if (wrong != NULL)
		ReportSet(unique, wrong, "Call bloom_unique_rebuild.");
}

/* Find out what a key is. */
static void
BuildUnique(BloomUnique *unique)
{
	BloomUniqueTriggers triggers;

	BloomUniqueFindTriggers(&unique->tag, &triggers);
	BloomUniqueCheckTriggers(unique->tag.root, &triggers);
	BloomUniqueCheckTable(unique->tag.root);
	unique->set = triggers.set;
	unique->ncolumns = triggers.ncolumns;
	unique->columns = palloc0(triggers.ncolumns * sizeof(BloomUniqueColumn));
	for (int i = 0; i < triggers.ncolumns; i++)
		unique->columns[i].number = triggers.columns[i];
	BloomUniqueDescribe(unique);
	CheckSet(unique);
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

		/* a caller further out may still use it */
		if (known->unique != NULL)
			MemoryContextSetParent(known->unique->context, TopTransactionContext);
		known->unique = NULL;
		context = AllocSetContextCreate(TopTransactionContext, "unique key",
										ALLOCSET_SMALL_SIZES);
		oldcontext = MemoryContextSwitchTo(context);
		unique = palloc0(sizeof(BloomUnique));
		unique->tag = *tag;
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
 *
 * A foreign partition is an error, even if no key has to be looked up: others can
 * write to its table.
 */
BloomUnique *
BloomUniqueOfTrigger(const TriggerData *trigger, const AttrNumber **columns)
{
	Oid			oid = trigger->tg_trigger->tgoid;
	Site	   *site;
	BloomUnique *unique;
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
	unique = BloomUniqueRecall(&site->tag);
	KnowLeaves(unique);
	return unique;
}

/* ----------------------------------------------------------------
 *							PARTITIONS
 * ----------------------------------------------------------------
 */

/* Which column of the key is this one of a table?  Or -1. */
static int
ColumnOf(const BloomUnique *unique, Relation rel, AttrNumber number)
{
	const char *name;

	if (number <= 0)
		return -1;
	name = NameStr(TupleDescAttr(RelationGetDescr(rel), number - 1)->attname);
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (strcmp(NameStr(unique->columns[i].name), name) == 0)
			return i;
	}
	return -1;
}

/*
 * Can keys be looked up by an index?  Its first columns are those of the key, in
 * any order, and it compares as the types do.
 */
static bool
IsUsable(const BloomUnique *unique, Relation rel, Relation index,
		 BloomUniqueLeaf *leaf)
{
	Form_pg_index form = index->rd_index;
	bool		seen[INDEX_MAX_KEYS] = {false};

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisvalid ||
		!form->indisready || !form->indislive ||
		form->indnkeyatts < unique->ncolumns ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	leaf->is_in_order = true;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		int			column = ColumnOf(unique, rel, form->indkey.values[i]);
		const BloomUniqueColumn *key;
		Oid			equals;

		if (column < 0 || seen[column])
			return false;
		seen[column] = true;
		key = &unique->columns[column];
		equals = get_opfamily_member(index->rd_opfamily[i],
									 index->rd_opcintype[i],
									 index->rd_opcintype[i],
									 BTEqualStrategyNumber);
		if (index->rd_indcollation[i] != key->collation || !OidIsValid(equals) ||
			equals != lookup_type_cache(key->type, TYPECACHE_EQ_OPR)->eq_opr)
			return false;
		leaf->columns[i] = column;
		leaf->equals[i] = get_opcode(equals);
		leaf->collations[i] = index->rd_indcollation[i];
		leaf->is_in_order &= column == i && index->rd_indoption[i] == 0 &&
			TupleDescAttr(RelationGetDescr(index), i)->atttypid == key->type;
	}
	return true;
}

/* An error: no key can be looked up in this partition. */
static void
ReportLeaf(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("partition \"%s\" is not an ordinary table", name),
			 errdetail("No key can be looked up in a foreign table, or in one with another access method than heap."),
			 errhint("Detach it, or drop the constraint by bloom_unique_drop.")));
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

/* Find the index of a partition. */
static void
DescribeLeaf(BloomUnique *unique, Relation rel, BloomUniqueLeaf *leaf)
{
	List	   *indexes;
	ListCell   *cell;

	if (rel->rd_rel->relkind != RELKIND_RELATION ||
		rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ReportLeaf(RelationGetRelationName(rel));
	leaf->filenode = rel->rd_rel->relfilenode;
	leaf->index = InvalidOid;
	indexes = RelationGetIndexList(rel);
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		BloomUniqueLeaf candidate = *leaf;

		if (IsUsable(unique, rel, index, &candidate) &&
			(!OidIsValid(leaf->index) || candidate.is_in_order > leaf->is_in_order))
		{
			*leaf = candidate;
			leaf->index = lfirst_oid(cell);
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (!OidIsValid(leaf->index))
	{
		char	   *columns = BloomUniqueColumns(unique);
		Oid			root = unique->tag.root;

		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index on (%s)",
						RelationGetRelationName(rel), columns),
				 errdetail("Keys are looked up by a valid btree index that begins with these columns, has no condition, and compares as their types do."),
				 errhint("CREATE INDEX ON %s (%s);",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(root)),
													get_rel_name(root)),
						 columns)));
	}
}

/* Look at a partition, if it is still there. */
static bool
RefreshLeaf(BloomUnique *unique, BloomUniqueLeaf *leaf)
{
	Relation	rel;

	do
	{
		CHECK_FOR_INTERRUPTS();
		leaf->is_valid = true;
		rel = try_relation_open(leaf->relid, AccessShareLock);
		if (rel == NULL)
			return false;
		PG_TRY();
		{
			DescribeLeaf(unique, rel, leaf);
		}
		PG_CATCH();
		{
			leaf->is_valid = false;
			PG_RE_THROW();
		}
		PG_END_TRY();
		relation_close(rel, AccessShareLock);
	} while (!leaf->is_valid);
	return true;
}

/* List the partitions, and those above them. */
static void
ListLeaves(BloomUnique *unique)
{
	List	   *relids = find_all_inheritors(unique->tag.root, NoLock, NULL);
	MemoryContext oldcontext = MemoryContextSwitchTo(unique->context);
	BloomUniqueLeaf *leaves;
	Oid		   *parents;
	int			nleaves = 0;
	int			nparents = 0;
	ListCell   *cell;

	leaves = palloc0(list_length(relids) * sizeof(BloomUniqueLeaf));
	parents = palloc(list_length(relids) * sizeof(Oid));
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		char		relkind = get_rel_relkind(relid);

		if (relkind == RELKIND_PARTITIONED_TABLE)
			parents[nparents++] = relid;
		else if (relkind == RELKIND_FOREIGN_TABLE)
			ReportLeaf(get_rel_name(relid));
		else
			leaves[nleaves++].relid = relid;
	}
	qsort(leaves, nleaves, sizeof(BloomUniqueLeaf), CompareLeaves);
	qsort(parents, nparents, sizeof(Oid), CompareDescending);
	if (unique->leaves != NULL)
	{
		pfree(unique->leaves);
		pfree(unique->parents);
	}
	unique->leaves = leaves;
	unique->nleaves = nleaves;
	unique->parents = parents;
	unique->nparents = nparents;
	MemoryContextSwitchTo(oldcontext);
	list_free(relids);
}

/*
 * Have a list of the partitions that is good.  A message that comes while it is made
 * is counted, so that an error cannot leave an old list behind.
 */
static void
KnowLeaves(BloomUnique *unique)
{
	while (!unique->knows_leaves)
	{
		uint64		before = nmessages;

		CHECK_FOR_INTERRUPTS();
		ListLeaves(unique);
		unique->knows_leaves = before == nmessages;
	}
}

/*
 * BloomUniqueFindLeaves
 *		Know all partitions, with their indexes.
 *
 * If one changes meanwhile, knows_leaves becomes false, or is_valid of a leaf.
 */
void
BloomUniqueFindLeaves(BloomUnique *unique)
{
	AcceptInvalidationMessages();
	for (bool complete = false; !complete;)
	{
		KnowLeaves(unique);
		complete = true;
		for (int i = 0; i < unique->nleaves && complete; i++)
		{
			if (!unique->leaves[i].is_valid)
				complete = RefreshLeaf(unique, &unique->leaves[i]);
			complete &= unique->knows_leaves;
		}
		if (!complete)
			unique->knows_leaves = false;
	}
}
