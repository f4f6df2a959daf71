/*-------------------------------------------------------------------------
 *
 * unique/key.c
 *		The unique keys of a table, by the catalog: its triggers, and its sets.
 *
 * A key is what a constraint trigger of its table says:
 *
 *		AFTER INSERT OR UPDATE FOR EACH ROW
 *		WHEN (NEW.column IS NOT NULL AND ... AND 'set'::regclass IS NOT NULL)
 *
 * There the server maintains all names, whatever is renamed, and in a dump; it
 * refuses to drop the set or a column, or to change the type of a column; and
 * nobody but the owner of the table can exchange it or take it away.  The argument
 * is the seed of the set, which nothing can rename.
 *
 * The set names its table by a constraint trigger that never fires.  See "Trust"
 * in the README.
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

/*
 * Read the condition of a constraint: the columns, in the order of the key, and the
 * set.  False: it has another form.
 */
static bool
ReadCondition(const char *text, BloomUniqueTrigger *trigger)
{
	BoolExpr   *all = (BoolExpr *) stringToNode(text);
	int			ntests;

	if (!IsA(all, BoolExpr) || all->boolop != AND_EXPR)
		return false;
	ntests = list_length(all->args);
	if (ntests < 2 || ntests > INDEX_MAX_KEYS + 1)
		return false;
	for (int i = 0; i < ntests; i++)
	{
		NullTest   *test = list_nth(all->args, i);
		Node	   *arg;

		if (!IsA(test, NullTest) || test->nulltesttype != IS_NOT_NULL ||
			test->argisrow)
			return false;
		arg = (Node *) test->arg;
		if (i < ntests - 1)
		{
			Var		   *column = (Var *) arg;

			if (!IsA(column, Var) || column->varno != PRS2_NEW_VARNO ||
				column->varlevelsup != 0 || column->varattno <= 0)
				return false;
			trigger->columns[i] = column->varattno;
		}
		else
		{
			Const	   *set = (Const *) arg;

			if (!IsA(set, Const) || set->consttype != REGCLASSOID ||
				set->constisnull)
				return false;
			trigger->set = DatumGetObjectId(set->constvalue);
		}
	}
	trigger->ncolumns = ntests - 1;
	return true;
}

/* What is a trigger of ours, by all that says when it fires? */
static BloomUniqueKind
KindOf(Relation catalog, HeapTuple tuple, BloomUniqueTrigger *trigger)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
	bool		has_condition;
	bool		isnull;
	Datum		condition = heap_getattr(tuple, Anum_pg_trigger_tgqual,
										 RelationGetDescr(catalog), &isnull);

	has_condition = !isnull;
	if (form->tgisinternal || form->tgdeferrable || form->tginitdeferred ||
		form->tgattr.dim1 != 0 || OidIsValid(form->tgconstrrelid) ||
		!heap_attisnull(tuple, Anum_pg_trigger_tgoldtable, NULL) ||
		!heap_attisnull(tuple, Anum_pg_trigger_tgnewtable, NULL))
		return BLOOM_UNIQUE_OTHER;
	if (OidIsValid(form->tgconstraint))
		return form->tgtype == (TRIGGER_TYPE_ROW | TRIGGER_TYPE_AFTER |
								TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE) &&
			has_condition && ReadCondition(TextDatumGetCString(condition), trigger) ?
			BLOOM_UNIQUE_ROW : BLOOM_UNIQUE_OTHER;
	if (has_condition)
		return BLOOM_UNIQUE_OTHER;
	if (form->tgtype == (TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT |
						 TRIGGER_TYPE_UPDATE))
		return BLOOM_UNIQUE_OPEN;
	if (form->tgtype == (TRIGGER_TYPE_AFTER | TRIGGER_TYPE_INSERT |
						 TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_TRUNCATE))
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
		bool		isnull;
		Datum		arguments = heap_getattr(tuple, Anum_pg_trigger_tgargs,
											 RelationGetDescr(catalog), &isnull);
		int64		seed;

		/* one argument, which ends with a zero */
		if (isnull || form->tgnargs != 1 || !IsOurs(form->tgfoid) ||
			!ReadSeed(TextDatumGetCString(arguments), &seed))
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

/*
 * BloomUniqueRowTrigger
 *		The constraint of a key, among the triggers of its table, or NULL, with a
 *		sentence that says what is wrong, and what to do.
 *
 * There must be one of it; one at most of each that goes with it; and none with the
 * same seed that has another form.
 */
const BloomUniqueTrigger *
BloomUniqueRowTrigger(List *triggers, const BloomUniqueTag *tag,
					  const char **wrong, const char **cure)
{
	const BloomUniqueTrigger *found[BLOOM_UNIQUE_OTHER] = {NULL};
	const char *table = quote_identifier(get_rel_name(tag->root));
	ListCell   *cell;

	foreach(cell, triggers)
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);
		const char *name = NameStr(trigger->name);

		/* that of a partition which is a copy is of another table's key */
		if (trigger->seed != tag->seed || OidIsValid(trigger->parent))
			continue;
		if (trigger->kind == BLOOM_UNIQUE_OTHER)
		{
			*wrong = psprintf("Trigger \"%s\" is not one that bloom_unique_create makes.",
							  name);
			*cure = psprintf("DROP TRIGGER %s ON %s;", quote_identifier(name), table);
			return NULL;
		}
		if (found[trigger->kind] != NULL)
		{
			*wrong = psprintf("There are two triggers where one is needed, \"%s\" and \"%s\".",
							  NameStr(found[trigger->kind]->name), name);
			*cure = "Drop the one that bloom_unique_create has not made.";
			return NULL;
		}
		found[trigger->kind] = trigger;
	}
	if (found[BLOOM_UNIQUE_ROW] == NULL)
	{
		*wrong = "The constraint trigger FOR EACH ROW is not there.";
		*cure = "Call bloom_unique_drop, and bloom_unique_create again.";
	}
	return found[BLOOM_UNIQUE_ROW];
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

/*
 * Which table does a table name as that whose keys it has?  NULL, if that is so; or
 * a sentence.  It may also be that it names none.
 */
static const char *
NamesOther(Oid relid, Oid root, bool *names_none)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = BeginTriggers(catalog, relid);
	const char *wrong = NULL;
	int			nnames = 0;
	HeapTuple	tuple;

	while (wrong == NULL && (tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		if (OidIsValid(form->tgconstrrelid) && !form->tgisinternal &&
			form->tgconstrrelid != root && IsOurs(form->tgfoid))
			wrong = psprintf("It names table \"%s\" as that whose keys it has.",
							 get_rel_name(form->tgconstrrelid));
		else if (form->tgconstrrelid != root || form->tgisinternal ||
				 !IsOurs(form->tgfoid) || ++nnames > 1)
			wrong = psprintf("It has a trigger \"%s\", beside that which names its table.",
							 NameStr(form->tgname));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	*names_none = nnames == 0;
	return wrong;
}

/*
 * BloomUniqueIdentifySet
 *		Is this table, which a trigger names, the set of a key?
 *
 * NULL, if it is; otherwise a sentence that says why not, and one that says what to
 * do.  Nobody else decides what is read, written, emptied, dropped or given away
 * as the set of a key: anybody who may create a table can make a trigger that
 * names any other.  So nothing is asked of the table before it has named this one,
 * not even a lock, which it has afterwards.
 *
 * To bloom_unique_rebuild, a set of the table's owner may also name none.
 */
const char *
BloomUniqueIdentifySet(const BloomUniqueTag *tag, Oid relid, bool unnamed_ok,
					   StoredSet *set, const char **cure)
{
	bool		names_none;
	const char *wrong = NamesOther(relid, tag->root, &names_none);
	Relation	rel;

	*cure = "Undo that, or call bloom_unique_drop, and bloom_unique_create again.";
	if (wrong != NULL)
		return wrong;
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		return "It was dropped.";
	if (names_none && (!unnamed_ok ||
					   BloomUniqueOwnerOf(relid) != BloomUniqueOwnerOf(tag->root)))
	{
		*cure = "If it is the set of these keys, call bloom_unique_rebuild; if not, bloom_unique_drop, and bloom_unique_create again.";
		return "It has no trigger that names this table.";
	}
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return "It was dropped.";
	wrong = StoredSetIdentify(rel, set);
	if (wrong == NULL && (set->params.seed != tag->seed ||
						  set->params.kept_bits != BLOOM_UNIQUE_KEPT_BITS))
	{
		*cure = "Call bloom_unique_drop, and bloom_unique_create again.";
		wrong = "It is another set than the one that has the keys.";
	}
	relation_close(rel, NoLock);
	/* the triggers may have changed while we waited for the lock */
	if (wrong == NULL)
		wrong = NamesOther(relid, tag->root, &names_none);
	if (wrong == NULL && names_none && !unnamed_ok)
		wrong = "It has no trigger that names this table.";
	return wrong;
}

/*
 * BloomUniqueLockSet
 *		Lock the set of a key.  Invalid: it has none, and what it names in place of one
 *		is left alone.
 */
Oid
BloomUniqueLockSet(const BloomUniqueTag *tag, LOCKMODE lockmode)
{
	Oid			locked = InvalidOid;

	for (;;)
	{
		const char *wrong;
		const char *cure;
		StoredSet	set;
		const BloomUniqueTrigger *row =
			BloomUniqueRowTrigger(BloomUniqueTriggersOf(tag->root), tag, &wrong, &cure);

		CHECK_FOR_INTERRUPTS();
		if (row == NULL ||
			BloomUniqueIdentifySet(tag, row->set, false, &set, &cure) != NULL)
			return InvalidOid;
		if (row->set == locked)
			return locked;
		locked = row->set;
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
