/*-------------------------------------------------------------------------
 *
 * unique/key.c
 *		The unique keys of a table, by the catalog: its triggers, and its sets.
 *
 * A key is what a constraint trigger of its table says:
 *
 *		AFTER INSERT OR UPDATE FOR EACH ROW WHEN (NEW.column IS NOT NULL AND ...)
 *
 * There the server maintains the names of the columns, whatever is renamed, and in a
 * dump; it refuses to drop one, or to change its type; and nobody but the owner of the
 * table can exchange the trigger or take it away.  The argument is the seed of the
 * set, which nothing can rename.
 *
 * The set names its table, by a constraint trigger that never fires.  It is named in
 * the condition of the trigger AFTER STATEMENT, so that it is not dropped by mistake,
 * and not in the constraint: pg_restore, with several jobs, makes a trigger before
 * others load partitions, if it depends on a table with more data than these have.
 * See "Trust" in the README.
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
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "rewrite/prs2lock.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

static List *FindNamers(const BloomUniqueTag *tag);

static const char *const remake = "Call bloom_unique_drop, and bloom_unique_create again.";

/* ----------------------------------------------------------------
 *							TRIGGERS
 * ----------------------------------------------------------------
 */

/* Is this the trigger function bloom_unique? */
static bool
IsOurs(Oid function)
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
	return flinfo.fn_addr == bloom_unique;
}

/* Read the seed in the argument of a trigger, as it is written there. */
static bool
ReadSeed(const char *argument, int64 *seed)
{
	char	   *again;
	bool		result;

	*seed = strtoll(argument, NULL, 10);
	again = psprintf(INT64_FORMAT, *seed);
	result = strcmp(argument, again) == 0;
	pfree(again);
	return result;
}

/*
 * BloomUniqueSeedOf
 *		The seed in the argument of a trigger that fires.
 */
int64
BloomUniqueSeedOf(const TriggerData *trigger)
{
	int64		seed;

	if (trigger->tg_trigger->tgnargs != 1 ||
		!ReadSeed(trigger->tg_trigger->tgargs[0], &seed))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" of table \"%s\" is not one that bloom_unique_create makes",
						trigger->tg_trigger->tgname,
						RelationGetRelationName(trigger->tg_relation)),
				 errdetail("The argument of bloom_unique is the seed of a set of keys."),
				 errhint("Drop it, and call bloom_unique_create.")));
	return seed;
}

/* What is it that is said not to be null?  NULL, if that is not what is said. */
static Node *
ArgOfTest(Node *node)
{
	NullTest   *test = (NullTest *) node;

	return IsA(test, NullTest) && test->nulltesttype == IS_NOT_NULL &&
		!test->argisrow ? (Node *) test->arg : NULL;
}

/*
 * Read the condition of a constraint: the columns, in the order of the key.  False: it
 * has another form.
 */
static bool
ReadColumns(Node *condition, BloomUniqueTrigger *trigger)
{
	List	   *tests = list_make1(condition);
	ListCell   *cell;

	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == AND_EXPR)
		tests = ((BoolExpr *) condition)->args;
	if (list_length(tests) > INDEX_MAX_KEYS)
		return false;
	foreach(cell, tests)
	{
		Var		   *column = (Var *) ArgOfTest(lfirst(cell));

		if (column == NULL || !IsA(column, Var) ||
			column->varno != PRS2_NEW_VARNO || column->varlevelsup != 0 ||
			column->varattno <= 0)
			return false;
		trigger->columns[trigger->ncolumns++] = column->varattno;
	}
	return true;
}

/* Read the condition that keeps a set from being dropped.  False: it is another. */
static bool
ReadSet(Node *condition, BloomUniqueTrigger *trigger)
{
	Const	   *set = (Const *) ArgOfTest(condition);

	if (set == NULL || !IsA(set, Const) || set->consttype != REGCLASSOID ||
		set->constisnull)
		return false;
	trigger->set = DatumGetObjectId(set->constvalue);
	return true;
}

/* What is a trigger of ours, by all that says when it fires? */
static BloomUniqueKind
KindOf(Relation catalog, HeapTuple tuple, BloomUniqueTrigger *trigger)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
	bool		isnull;
	Datum		value = heap_getattr(tuple, Anum_pg_trigger_tgqual,
									 RelationGetDescr(catalog), &isnull);
	Node	   *condition = isnull ? NULL : stringToNode(TextDatumGetCString(value));

	if (form->tgisinternal || form->tgdeferrable || form->tginitdeferred ||
		form->tgattr.dim1 != 0 || OidIsValid(form->tgconstrrelid) ||
		!heap_attisnull(tuple, Anum_pg_trigger_tgoldtable, NULL) ||
		!heap_attisnull(tuple, Anum_pg_trigger_tgnewtable, NULL))
		return BLOOM_UNIQUE_OTHER;
	if (OidIsValid(form->tgconstraint))
		return form->tgtype == (TRIGGER_TYPE_ROW | TRIGGER_TYPE_AFTER |
								TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE) &&
			condition != NULL && ReadColumns(condition, trigger) ?
			BLOOM_UNIQUE_ROW : BLOOM_UNIQUE_OTHER;
	if (form->tgtype == (TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT |
						 TRIGGER_TYPE_UPDATE) && condition == NULL)
		return BLOOM_UNIQUE_OPEN;
	if (form->tgtype == (TRIGGER_TYPE_AFTER | TRIGGER_TYPE_INSERT |
						 TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_TRUNCATE) &&
		condition != NULL && ReadSet(condition, trigger))
		return BLOOM_UNIQUE_CLOSE;
	return BLOOM_UNIQUE_OTHER;
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

/* Is this a trigger that calls bloom_unique with one seed, and with which? */
static bool
HasSeed(Relation catalog, HeapTuple tuple, int64 *seed)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
	bool		isnull;
	Datum		arguments = heap_getattr(tuple, Anum_pg_trigger_tgargs,
										 RelationGetDescr(catalog), &isnull);

	/* the argument ends with a zero */
	return !isnull && form->tgnargs == 1 && IsOurs(form->tgfoid) &&
		ReadSeed(TextDatumGetCString(arguments), seed);
}

/*
 * BloomUniqueTriggersOf
 *		The triggers of a table that call bloom_unique with a seed, in the order of
 *		their names.
 *
 * Whoever has TRIGGER on a table can make some.  So nothing here is an error.
 */
List *
BloomUniqueTriggersOf(Oid relid)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, relid);
	List	   *result = NIL;
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
		BloomUniqueTrigger *trigger;
		int64		seed;

		if (!HasSeed(catalog, tuple, &seed))
			continue;
		trigger = palloc0(sizeof(BloomUniqueTrigger));
		trigger->oid = form->oid;
		trigger->name = form->tgname;
		trigger->parent = form->tgparentid;
		trigger->enabled = form->tgenabled;
		trigger->seed = seed;
		trigger->kind = KindOf(catalog, tuple, trigger);
		result = lappend(result, trigger);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/* What is wrong with a trigger of no key, and what to do. */
static const char *
Stranger(const BloomUniqueTag *tag, const BloomUniqueTrigger *trigger,
		 const char **cure)
{
	const char *name = NameStr(trigger->name);

	*cure = psprintf("DROP TRIGGER %s ON %s;", quote_identifier(name),
					 quote_identifier(get_rel_name(tag->root)));
	return psprintf("Trigger \"%s\" is not one that bloom_unique_create makes.", name);
}

/*
 * BloomUniqueFindTriggers
 *		Find those of a key, by their kind, among the triggers of its table.
 *
 * NULL, if the constraint is there, one at most of each that goes with it, and none with
 * the same seed that has another form; otherwise a sentence that says what is wrong,
 * and one that says what to do.
 */
const char *
BloomUniqueFindTriggers(const BloomUniqueTag *tag,
						const BloomUniqueTrigger **found, const char **cure)
{
	const BloomUniqueTrigger *any = NULL;
	ListCell   *cell;

	memset(found, 0, BLOOM_UNIQUE_OTHER * sizeof(*found));
	foreach(cell, BloomUniqueTriggersOf(tag->root))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);
		const char *name = NameStr(trigger->name);

		/* that of a partition which is a copy is of another table's key */
		if (trigger->seed != tag->seed || OidIsValid(trigger->parent))
			continue;
		if (trigger->kind == BLOOM_UNIQUE_OTHER)
			return Stranger(tag, trigger, cure);
		if (found[trigger->kind] != NULL)
		{
			*cure = "Drop the one that bloom_unique_create has not made.";
			return psprintf("There are two triggers where one is needed, \"%s\" and \"%s\".",
							NameStr(found[trigger->kind]->name), name);
		}
		found[trigger->kind] = any = trigger;
	}
	*cure = remake;
	if (found[BLOOM_UNIQUE_ROW] != NULL)
		return NULL;
	/* without a set, too, it is no key, but a trigger that somebody has made */
	if (any != NULL && FindNamers(tag) == NIL)
		return Stranger(tag, any, cure);
	return "The constraint trigger FOR EACH ROW is not there.";
}

/*
 * BloomUniqueIsThere
 *		Does a table have any trigger of a key?
 */
bool
BloomUniqueIsThere(const BloomUniqueTag *tag)
{
	ListCell   *cell;

	foreach(cell, BloomUniqueTriggersOf(tag->root))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);

		if (trigger->seed == tag->seed && !OidIsValid(trigger->parent))
			return true;
	}
	return false;
}

/* ----------------------------------------------------------------
 *							THE SET
 * ----------------------------------------------------------------
 */

/* What is wrong with the triggers of a set that names its table by one, or NULL */
static const char *
OtherTrigger(Relation rel, Oid root)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (trigger->tgconstrrelid != root)
			return psprintf("It has a trigger \"%s\", beside that which names its table.",
							trigger->tgname);
	}
	return NULL;
}

/*
 * BloomUniqueIdentifySet
 *		Is this table the set of a key, if it is one that names the key's table, or
 *		need not?
 *
 * NULL, if it is; otherwise a sentence that says why not, and one that says what to
 * do.  It must be a set as bloom_unique_create makes one, and of the table's owner:
 * whoever has TRIGGER on the table can make others that name it.
 */
const char *
BloomUniqueIdentifySet(const BloomUniqueTag *tag, Oid relid, Oid owner,
					   bool unnamed_ok, StoredSet *set, const char **cure)
{
	Relation	rel;
	const char *wrong;

	*cure = "Undo that, or call bloom_unique_drop, and bloom_unique_create again.";
	if (BloomUniqueOwnerOf(relid) != owner)
	{
		*cure = psprintf("ALTER TABLE ... OWNER TO %s;",
						 quote_identifier(GetUserNameFromId(owner, false)));
		return "It belongs to another role than the table.";
	}
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return "It was dropped.";
	wrong = OtherTrigger(rel, tag->root);
	if (wrong == NULL)
		wrong = StoredSetIdentify(rel, set);
	if (wrong != NULL && rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		*cure = psprintf("ALTER TABLE %s SET LOGGED;",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
													get_rel_name(relid)));
	if (wrong == NULL && (set->params.seed != tag->seed ||
						  set->params.kept_bits != BLOOM_UNIQUE_KEPT_BITS))
	{
		*cure = remake;
		wrong = "It is another set than the one that has the keys.";
	}
	if (wrong == NULL && rel->trigdesc == NULL && !unnamed_ok)
	{
		*cure = "Call bloom_unique_rebuild.";
		wrong = "It does not name this table as that whose keys it has.";
	}
	relation_close(rel, NoLock);
	return wrong;
}

/* The tables that have a trigger of ours with this seed which names a table */
static List *
FindNamers(const BloomUniqueTag *tag)
{
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(tag->root));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, 2, keys);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		Form_pg_trigger trigger;
		ScanKeyData key;
		SysScanDesc found;
		HeapTuple	row;
		int64		seed;

		if (form->classid != TriggerRelationId)
			continue;
		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(form->objid));
		found = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
		row = systable_getnext(found);
		trigger = row == NULL ? NULL : (Form_pg_trigger) GETSTRUCT(row);
		if (row != NULL && trigger->tgconstrrelid == tag->root &&
			!trigger->tgisinternal && HasSeed(catalog, row, &seed) &&
			seed == tag->seed)
			result = list_append_unique_oid(result, trigger->tgrelid);
		systable_endscan(found);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	table_close(depends, AccessShareLock);
	return result;
}

/*
 * BloomUniqueFindSet
 *		The set of a key, which names the key's table, or invalid.
 *
 * Nothing else says what is read, written, emptied, dropped or given away as the set of
 * a key.  Nothing is asked of a table that does not name this one, not even a lock;
 * the set has one afterwards.
 *
 * If there is none, a sentence says why, and one what to do; "found" is then the table
 * that would be the set but for that, or invalid.
 */
Oid
BloomUniqueFindSet(const BloomUniqueTag *tag, Oid owner, StoredSet *set,
				   Oid *found, const char **wrong, const char **cure)
{
	Oid			result = InvalidOid;
	ListCell   *cell;

	*found = InvalidOid;
	*wrong = "No set names this table as that whose keys it has.";
	*cure = remake;
	foreach(cell, FindNamers(tag))
	{
		Oid			namer = lfirst_oid(cell);
		bool		is_owned;
		StoredSet	named;
		const char *reason;
		const char *hint;

		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(namer)))
			continue;
		is_owned = BloomUniqueOwnerOf(namer) == owner;
		reason = BloomUniqueIdentifySet(tag, namer, owner, false, &named, &hint);
		if (reason == NULL && OidIsValid(result))
		{
			*found = namer;
			*wrong = "There are two sets that name this table.";
			*cure = "Drop the one that bloom_unique_create has not made.";
			return InvalidOid;
		}
		if (reason == NULL)
		{
			result = namer;
			*set = named;
		}
		else if (!OidIsValid(*found) || is_owned)
		{
			*found = namer;
			*wrong = reason;
			*cure = hint;
		}
	}
	return result;
}

/*
 * BloomUniqueLockSet
 *		Lock the set of a key.  Invalid: it has none.
 */
Oid
BloomUniqueLockSet(const BloomUniqueTag *tag, Oid owner, LOCKMODE lockmode)
{
	Oid			locked = InvalidOid;

	for (;;)
	{
		const char *wrong;
		const char *cure;
		Oid			found;
		StoredSet	known;
		Oid			set = BloomUniqueFindSet(tag, owner, &known, &found, &wrong, &cure);

		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(set) || set == locked)
			return set;
		locked = set;
		LockRelationOid(locked, lockmode);
	}
}

/* ----------------------------------------------------------------
 *							THE TABLE
 * ----------------------------------------------------------------
 */

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

/*
 * BloomUniqueOwnerOf
 *		The owner of a table.
 */
Oid
BloomUniqueOwnerOf(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		BloomUniqueReportNoTable(relid);
	result = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return result;
}
