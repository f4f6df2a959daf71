/*-------------------------------------------------------------------------
 *
 * set/sets.c
 *		Stored sets: all that are in the database.
 *
 * A set is a table with a default that calls _bloom_set_params, so its default
 * depends on that function: the catalog of dependencies leads to all of them, and
 * no other table is looked at.
 *
 * Whoever can make a table can make one that is nearly a set.  So nothing here
 * reads a row of one, waits for a lock, keeps one, or stops at what is none: that is
 * listed with what is wrong, which a damaged set needs as well.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_proc.h"
#include "commands/comment.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "set/set_compat.h"
#include "set/store.h"

#define COLUMNS		6

/*
 * StoredSetFunction
 *		The only function of our extension with this name; others can have it, too.
 */
Oid
StoredSetFunction(const char *name)
{
	Oid			extension = get_extension_oid("bloomtype_set", true);
	CatCList   *named = SearchSysCacheList1(PROCNAMEARGSNSP,
											CStringGetDatum(name));
	Oid			result = InvalidOid;

	for (int i = 0; i < named->n_members; i++)
	{
		HeapTuple	tuple = &named->members[i]->tuple;
		Oid			oid = ((Form_pg_proc) GETSTRUCT(tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, oid) == extension)
			result = oid;
	}
	ReleaseSysCacheList(named);
	return result;
}

/* The tables with a default that calls this function. */
static List *
FindTables(Oid function)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *tables = NIL;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(ProcedureRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2,
							  keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		Oid			relid = form->classid == AttrDefaultRelationId ?
		GetAttrDefaultColumnAddress(form->objid).objectId : InvalidOid;

		if (OidIsValid(relid))
			tables = lappend_oid(tables, relid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	list_sort(tables, list_oid_cmp);
	list_deduplicate_oid(tables);
	return tables;
}

/*
 * Lock indexes, unless that must be waited for.  The result is a list of those that
 * are locked.
 */
static List *
LockIndexes(List *indexes)
{
	List	   *locked = NIL;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		if (!ConditionalLockRelationOid(lfirst_oid(cell), AccessShareLock))
			break;
		locked = lappend_oid(locked, lfirst_oid(cell));
	}
	return locked;
}

/* A row about a table, which may be gone: then false. */
static bool
Describe(Oid relid, Datum *values, bool *nulls)
{
	Relation	rel;
	StoredSet	set;
	const char *wrong;
	char	   *comment;

	memset(nulls, true, COLUMNS);
	values[0] = ObjectIdGetDatum(relid);
	nulls[0] = false;
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		if (get_rel_name(relid) == NULL)
			return false;
		wrong = "Another transaction has locked it.";
	}
	else if ((rel = try_relation_open(relid, NoLock)) == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return false;
	}
	else
	{
		List	   *indexes = RelationGetIndexList(rel);
		List	   *locked = LockIndexes(indexes);
		ListCell   *cell;

		wrong = list_length(locked) == list_length(indexes) ?
			StoredSetIdentify(rel, &set) :
			"Another transaction has locked an index of it.";
		if (wrong == NULL)
		{
			values[1] = CStringGetTextDatum(BloomKeyTypeName(&set.key_type));
			values[2] = StoredSetKeepInterval(&set.params);
			values[3] = DirectFunctionCall1(pg_total_relation_size,
											ObjectIdGetDatum(relid));
			nulls[1] = nulls[3] = false;
			nulls[2] = set.params.keep == 0;
		}
		/* at once: the caller may have no privileges on any of this */
		foreach(cell, locked)
			UnlockRelationOid(lfirst_oid(cell), AccessShareLock);
		relation_close(rel, AccessShareLock);
	}
	comment = GetComment(relid, RelationRelationId, 0);
	if (comment != NULL)
	{
		values[4] = CStringGetTextDatum(comment);
		nulls[4] = false;
	}
	if (wrong != NULL)
	{
		values[5] = CStringGetTextDatum(wrong);
		nulls[5] = false;
	}
	return true;
}

/*
 * bloom_sets
 *		The sets of the database.
 */
PG_FUNCTION_INFO_V1(bloom_sets);
Datum
bloom_sets(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	List	   *tables;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext oldcontext;
		TupleDesc	tupdesc;

		call = SRF_FIRSTCALL_INIT();
		oldcontext = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		call->tuple_desc = BlessTupleDesc(tupdesc);
		call->user_fctx = FindTables(StoredSetFunction("_bloom_set_params"));
		MemoryContextSwitchTo(oldcontext);
	}
	call = SRF_PERCALL_SETUP();
	tables = call->user_fctx;
	while (call->call_cntr < (uint64) list_length(tables))
	{
		Oid			relid = list_nth_oid(tables, call->call_cntr);
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS];

		CHECK_FOR_INTERRUPTS();
		if (Describe(relid, values, nulls))
			SRF_RETURN_NEXT(call,
							HeapTupleGetDatum(heap_form_tuple(call->tuple_desc,
															  values, nulls)));
		call->call_cntr++;
	}
	SRF_RETURN_DONE(call);
}
