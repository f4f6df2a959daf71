/*-------------------------------------------------------------------------
 *
 * set/trigger.c
 *		Dedup where rows arrive: a trigger that adds their keys to a set.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "set/compat.h"
#include "set/store.h"

/* What the call site of a trigger knows */
typedef struct TriggerSite
{
	BloomHasher hasher;
	Oid			set;
	int			key;			/* column numbers */
	int			time;			/* 0: the clock */
} TriggerSite;

/* The column that a trigger's argument names. */
static int
GetTriggerColumn(const TriggerData *trigger, int argno)
{
	const char *name = trigger->tg_trigger->tgargs[argno];
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	int			column = SPI_fnumber(desc, name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(trigger->tg_relation)),
				 errdetail("Trigger \"%s\" names it.",
						   trigger->tg_trigger->tgname)));
	if (TupleDescAttr(desc, column - 1)->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is generated", name),
				 errdetail("A generated column has no value before a trigger BEFORE INSERT.")));
	return column;
}

/* The trigger of the parent of which this one is a copy, or invalid */
static Oid
ParentTriggerOf(Oid trigger, Oid *table)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(trigger));
	scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		*table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		result = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/* Has a table a trigger of this name, which calls this function? */
static bool
HasTrigger(Oid table, const char *name, Oid function)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result;

	ScanKeyInit(&keys[0], Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(table));
	ScanKeyInit(&keys[1], Anum_pg_trigger_tgname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(name));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 2,
							  keys);
	tuple = systable_getnext(scan);
	result = HeapTupleIsValid(tuple) &&
		((Form_pg_trigger) GETSTRUCT(tuple))->tgfoid == function;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * StoredSetTriggerTable
 *		The table for which a trigger was made.
 *
 * A partition has a copy of its parent's trigger, and says whose it is.  A chunk
 * of a hypertable has one of the same name.
 */
Oid
StoredSetTriggerTable(const TriggerData *trigger)
{
	Oid			table = RelationGetRelid(trigger->tg_relation);
	Oid			parent;

	for (Oid oid = trigger->tg_trigger->tgoid; OidIsValid(oid);)
		oid = ParentTriggerOf(oid, &table);
	if (table == RelationGetRelid(trigger->tg_relation) &&
		!trigger->tg_relation->rd_rel->relispartition && has_superclass(table))
	{
		parent = get_partition_parent(table, true);
		if (HasTrigger(parent, trigger->tg_trigger->tgname,
					   trigger->tg_trigger->tgfoid))
			table = parent;
	}
	return table;
}

/*
 * The set that a trigger's first argument names.  Without a schema, it is in
 * that of the table for which the trigger was made, whatever the search_path.
 */
static Oid
GetTriggerSet(const TriggerData *trigger)
{
	const char *name = trigger->tg_trigger->tgargs[0];
	RangeVar   *range;
	Oid			schema;
	Oid			set;

	range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	if (range->schemaname != NULL)
		return RangeVarGetRelid(range, NoLock, false);
	schema = get_rel_namespace(StoredSetTriggerTable(trigger));
	set = get_relname_relid(range->relname, schema);
	if (!OidIsValid(set))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Bloom set \"%s\" does not exist in schema \"%s\"",
						range->relname, get_namespace_name(schema)),
				 errhint("The arguments of trigger \"%s\" are 'set', or 'schema.set', and 'column'.",
						 trigger->tg_trigger->tgname)));
	return set;
}

static TriggerSite *
GetTriggerSite(FunctionCallInfo fcinfo, const TriggerData *trigger)
{
	TriggerSite *site = fcinfo->flinfo->fn_extra;
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	StoredSetTable table;
	Form_pg_attribute key;
	MemoryContext oldcontext;

	if (site != NULL)
		return site;
	if (trigger->tg_trigger->tgnargs < 2 || trigger->tg_trigger->tgnargs > 3)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup requires two or three arguments"),
				 errhint("They are the set, the column of the key and, if there is one, of the time: bloom_set_dedup('set', 'column', 'time').")));
	site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(TriggerSite));
	site->set = GetTriggerSet(trigger);
	site->key = GetTriggerColumn(trigger, 1);
	if (trigger->tg_trigger->tgnargs == 3)
	{
		site->time = GetTriggerColumn(trigger, 2);
		if (TupleDescAttr(desc, site->time - 1)->atttypid != TIMESTAMPTZOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" is not of type timestamp with time zone",
							trigger->tg_trigger->tgargs[2])));
	}
	key = TupleDescAttr(desc, site->key - 1);
	oldcontext = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	BloomHasherInit(&site->hasher, key->atttypid, key->attcollation);
	MemoryContextSwitchTo(oldcontext);

	/*
	 * before the first key, which may be null; to write, since a lock that is
	 * made stronger later can deadlock
	 */
	StoredSetOpen(&table, site->set, true, true);
	BloomCheckHasher(&site->hasher, BLOOM_HOLDER_SET, &table.set.key_type,
					 BLOOM_TO_ADD);
	StoredSetClose(&table);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/*
 * bloom_set_dedup
 *		Drop a row whose key a set has seen.  (trigger)
 *
 * A row without a key is kept.
 */
PG_FUNCTION_INFO_V1(bloom_set_dedup);
Datum
bloom_set_dedup(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TimestampTz at = GetCurrentTransactionStartTimestamp();
	StoredSetCall call;
	TriggerSite *site;
	Datum		key;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup must be called by a trigger BEFORE INSERT FOR EACH ROW")));
	site = GetTriggerSite(fcinfo, trigger);

	if (site->time != 0)
	{
		Datum		time = slot_getattr(trigger->tg_trigslot, site->time,
										&isnull);

		at = StoredSetCheckTime(trigger->tg_trigger->tgargs[2], time, isnull);
	}
	key = slot_getattr(trigger->tg_trigslot, site->key, &isnull);
	if (isnull)
		return PointerGetDatum(trigger->tg_trigtuple);

	StoredSetOpenToWrite(&call, site->set, at, true);
	return PointerGetDatum(StoredSetAddKey(&call, &site->hasher, key) ?
						   trigger->tg_trigtuple : NULL);
}
