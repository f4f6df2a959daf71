/*-------------------------------------------------------------------------
 *
 * set/dedup.c
 *		Dedup where rows arrive: a trigger that adds their keys to a set.
 *
 * Rows that move
 * --------------
 *
 * An UPDATE that moves a row to another partition fires BEFORE DELETE triggers
 * there, and then BEFORE INSERT triggers here.  The key of such a row is in the
 * set, but the row must stay.  So the trigger of a partition fires before deletes,
 * too.  It notes the key of the row that the statement has deleted last.  The next row
 * of this key that the statement inserts passes, once.  If a row has not come back
 * yet, a row with another key that is in the set is an error: it may be the moved row,
 * with its key changed, and dropping it would lose that.
 *
 * The same holds for the delete and the insert of a MERGE, and of a data-modifying
 * WITH.  A statement is known by the memory context of its execution, and its note is
 * gone with that.
 *
 * A replica gets such an UPDATE as a DELETE and an INSERT, be its own table in
 * partitions or not.  There the note lasts as long as the transaction.  Rows that
 * triggers at the origin have inserted stand between the two, and can have the key of
 * the row that is still to come.  So a replica never knows that a row has come back:
 * after a DELETE, it drops no more repeats.
 *
 * Rows come from all partitions, so the trigger must be that of the partitioned
 * table, and fire in each partition.  This is checked when a row is to be dropped, for
 * the partitions to which the transaction writes.  So it may be disabled for a
 * partition that is being loaded.
 *
 * A row without a key comes back like any other.
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
#include "catalog/pg_trigger.h"
#include "commands/copy.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "partitioning/partdesc.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "set/set_compat.h"
#include "set/store.h"

/* What the call site of a trigger knows */
typedef struct TriggerSite
{
	BloomHasher hasher;
	Oid			set;
	Oid			root;			/* the table for which the trigger was made */
	int			columns[FUNC_MAX_ARGS]; /* numbers of those of the key */
	int			ncolumns;
	TupleDesc	row;			/* of several columns */
	int			time;			/* column number; 0: the clock */
	bool		has_dropped;	/* a row */
	bool		has_warned;
} TriggerSite;

/* What a statement has deleted */
typedef struct DeletedRow
{
	struct DeletedRow *next;	/* of a statement that runs this one */
	MemoryContext statement;
	Oid			set;
	uint64		hash;			/* of the key of the last row; 0: null */
	bool		last_is_gone;	/* it has not come back */
	bool		any_is_gone;	/* one before it has not, or may not have */
	MemoryContextCallback callback;
} DeletedRow;

static DeletedRow *deleted_rows = NULL;

/* ----------------------------------------------------------------
 *							CALL SITES
 * ----------------------------------------------------------------
 */

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

/*
 * StoredSetTriggerTable
 *		The table for which a trigger was made that fires for this table.
 *
 * A partition has a copy of its parent's trigger, which says whose it is.
 */
Oid
StoredSetTriggerTable(Oid trigger, Oid table)
{
	while (OidIsValid(trigger))
		trigger = ParentTriggerOf(trigger, &table);
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
	schema = get_rel_namespace(StoredSetTriggerTable(trigger->tg_trigger->tgoid,
													 RelationGetRelid(trigger->tg_relation)));
	set = get_relname_relid(range->relname, schema);
	if (!OidIsValid(set))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Bloom set \"%s\" does not exist in schema \"%s\"",
						range->relname, get_namespace_name(schema)),
				 errhint("The arguments of trigger \"%s\" are 'set', or 'schema.set', and the columns of the key.",
						 trigger->tg_trigger->tgname)));
	return set;
}

/* Are changes applied that were made elsewhere?  Subscribers work in this role. */
static bool
IsReplica(void)
{
	return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

/*
 * An error, if rows that come to a partition from another one would be lost: there
 * is no trigger, or it does not fire.
 */
static void
CheckMoves(const TriggerData *trigger, Oid root)
{
	const Trigger *self = trigger->tg_trigger;
	Relation	rel = trigger->tg_relation;
	StringInfoData arguments;

	if (!rel->rd_rel->relispartition && !IsReplica())
		return;
	if (get_rel_relispartition(root))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" was made for partition \"%s\" alone",
						self->tgname, get_rel_name(root)),
				 errdetail("A row that moves to another partition, and comes back, would be lost: the set has seen its key."),
				 errhint("Make the trigger for the partitioned table.")));
	if (TRIGGER_FOR_DELETE(self->tgtype))
		return;
	initStringInfo(&arguments);
	for (int i = 0; i < self->tgnargs; i++)
		appendStringInfo(&arguments, "%s%s", i == 0 ? "" : ", ",
						 quote_literal_cstr(self->tgargs[i]));
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("trigger \"%s\" of table \"%s\" does not fire before a DELETE",
					self->tgname, RelationGetRelationName(rel)),
			 errdetail("An UPDATE that moves a row to another partition deletes it and inserts it: its key is in the set, so that the row would be lost."),
			 errhint("CREATE OR REPLACE TRIGGER %s BEFORE INSERT OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s);",
					 quote_identifier(self->tgname),
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(root)),
												get_rel_name(root)),
					 quote_qualified_identifier(get_namespace_name(get_func_namespace(self->tgfoid)),
												get_func_name(self->tgfoid)),
					 arguments.data)));
}

/* Does the trigger of this name fire in a partition that is locked? */
static bool
FiresIn(Oid partition, const char *name)
{
	Relation	rel = table_open(partition, NoLock);
	char		by_role = SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA ?
	TRIGGER_FIRES_ON_REPLICA : TRIGGER_FIRES_ON_ORIGIN;
	bool		fires = false;

	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (strcmp(trigger->tgname, name) == 0)
			fires = trigger->tgenabled == TRIGGER_FIRES_ALWAYS ||
				trigger->tgenabled == by_role;
	}
	table_close(rel, NoLock);
	return fires;
}

/*
 * An error, if a row that is to be dropped may have come from a partition below this
 * table in which the trigger has not noted that it was deleted.
 */
static void
CheckSources(Oid parent, const TriggerData *trigger)
{
	Relation	rel = table_open(parent, AccessShareLock);
	PartitionDesc partitions = RelationGetPartitionDesc(rel, true);

	for (int i = 0; i < partitions->nparts; i++)
	{
		Oid			partition = partitions->oids[i];
		LOCKTAG		tag;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, partition);
		if (!partitions->is_leaf[i])
			CheckSources(partition, trigger);
		else if (LockHeldByMe(&tag, RowExclusiveLock, false) &&
				 get_rel_relkind(partition) == RELKIND_RELATION &&
				 !FiresIn(partition, trigger->tg_trigger->tgname))
			ereport(ERROR,
					(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
					 errmsg("trigger \"%s\" is disabled for partition \"%s\"",
							trigger->tg_trigger->tgname,
							get_rel_name(partition)),
					 errdetail("The transaction writes there: a row that moves from that partition to \"%s\" would be lost, since its key is in the set.",
							   RelationGetRelationName(trigger->tg_relation)),
					 errhint("Enable it for the partition, or disable it for the partitioned table.")));
	}
	table_close(rel, AccessShareLock);
}

/* Prepare to hash keys of so many columns. */
static void
MakeHasher(TriggerSite *site, TupleDesc desc, int ncolumns)
{
	Oid			types[FUNC_MAX_ARGS];
	Oid			collations[FUNC_MAX_ARGS];

	for (int i = 0; i < ncolumns; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, site->columns[i] - 1);

		types[i] = column->atttypid;
		collations[i] = column->attcollation;
	}
	site->ncolumns = ncolumns;
	site->row = BloomHasherInitColumns(&site->hasher, ncolumns, types, collations);
}

/*
 * Which of the columns are the key?  The last one is the time, unless the set has
 * keys of all.
 */
static void
ChooseKey(TriggerSite *site, const TriggerData *trigger,
		  const BloomKeyType *has)
{
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	int			n = trigger->tg_trigger->tgnargs - 1;

	MakeHasher(site, desc, n);
	if (n > 1 && !BloomSameKeyType(has, &site->hasher.key_type))
	{
		int			last = site->columns[n - 1];

		MakeHasher(site, desc, n - 1);
		site->time = last;
		if (TupleDescAttr(desc, last - 1)->atttypid != TIMESTAMPTZOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" is not of type timestamp with time zone",
							trigger->tg_trigger->tgargs[n]),
					 errdetail("The key type of the set is %s, which is not that of all columns, so that this is the time.",
							   BloomKeyTypeName(has))));
	}
	if (n > 1 && site->hasher.key_type_varies)
	{
		/* known by now, and the error is to come before the first key */
		if (!BloomSameKeyType(has, &site->hasher.key_type))
			BloomKeyTypeMismatch(&StoredSetHolder, has,
								 &site->hasher.key_type, BLOOM_COLUMNS);
	}
	else
		BloomCheckHasher(&site->hasher, &StoredSetHolder, has, BLOOM_TO_ADD);
}

static TriggerSite *
GetTriggerSite(FunctionCallInfo fcinfo, const TriggerData *trigger)
{
	TriggerSite *site = fcinfo->flinfo->fn_extra;
	int			nargs = trigger->tg_trigger->tgnargs;
	StoredSetTable table;
	MemoryContext oldcontext;

	if (site != NULL)
		return site;
	if (nargs < 2 || nargs > FUNC_MAX_ARGS)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup requires two arguments or more"),
				 errhint("They are the set, the columns of the key and, if there is one, of the time: bloom_set_dedup('set', 'column', 'time').")));
	oldcontext = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	site = palloc0(sizeof(TriggerSite));
	site->root = StoredSetTriggerTable(trigger->tg_trigger->tgoid,
									   RelationGetRelid(trigger->tg_relation));
	CheckMoves(trigger, site->root);
	site->set = GetTriggerSet(trigger);
	for (int i = 1; i < nargs; i++)
		site->columns[i - 1] = GetTriggerColumn(trigger, i);

	/*
	 * before the first key, which may be null; to write, since a lock that is
	 * made stronger later can deadlock
	 */
	StoredSetOpen(&table, site->set, true,
				  TRIGGER_FIRED_BY_INSERT(trigger->tg_event));
	ChooseKey(site, trigger, &table.set.key_type);
	StoredSetClose(&table);
	MemoryContextSwitchTo(oldcontext);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* The key of a row.  False: it, or one of its columns, is null, as for a unique index. */
static bool
GetKey(const TriggerSite *site, TupleTableSlot *slot, Datum *key)
{
	Datum		values[FUNC_MAX_ARGS];
	bool		nulls[FUNC_MAX_ARGS];

	for (int i = 0; i < site->ncolumns; i++)
	{
		values[i] = slot_getattr(slot, site->columns[i], &nulls[i]);
		if (nulls[i])
			return false;
	}
	*key = site->row == NULL ? values[0] :
		HeapTupleGetDatum(heap_form_tuple(site->row, values, nulls));
	return true;
}

static uint64
HashKey(TriggerSite *site, const StoredSet *set, Datum key)
{
	return BloomHashKeyAs(&site->hasher, key, &StoredSetHolder, &set->key_type,
						  (uint64) set->params.seed, BLOOM_TO_ADD);
}

/* ----------------------------------------------------------------
 *							ROWS THAT MOVE
 * ----------------------------------------------------------------
 */

static void
ForgetDeleted(void *arg)
{
	for (DeletedRow **link = &deleted_rows; *link != NULL; link = &(*link)->next)
	{
		if (*link == arg)
		{
			*link = (*link)->next;
			return;
		}
	}
}

/* The memory that is there as long as the note of a statement is to last */
static MemoryContext
StatementOf(FunctionCallInfo fcinfo)
{
	return IsReplica() ? TopTransactionContext : fcinfo->flinfo->fn_mcxt;
}

/* What a statement has deleted whose key is in the set of a trigger, or NULL. */
static DeletedRow *
FindDeleted(MemoryContext statement, const TriggerSite *site)
{
	for (DeletedRow *row = deleted_rows; row != NULL; row = row->next)
	{
		if (row->statement == statement && row->set == site->set)
			return row;
	}
	return NULL;
}

/* Note the key of a row that is deleted. */
static void
NoteDeleted(FunctionCallInfo fcinfo, TriggerSite *site, TupleTableSlot *slot)
{
	MemoryContext statement = StatementOf(fcinfo);
	DeletedRow *row = FindDeleted(statement, site);
	StoredSetTable table;
	Datum		key;

	if (row == NULL)
	{
		row = MemoryContextAllocZero(statement, sizeof(DeletedRow));
		row->statement = statement;
		row->set = site->set;
		row->callback.func = ForgetDeleted;
		row->callback.arg = row;
		MemoryContextRegisterResetCallback(statement, &row->callback);
		row->next = deleted_rows;
		deleted_rows = row;
	}
	row->any_is_gone |= row->last_is_gone || IsReplica();
	row->last_is_gone = true;
	row->hash = 0;
	if (!GetKey(site, slot, &key))
		return;
	StoredSetOpen(&table, site->set, true, false);
	row->hash = HashKey(site, &table.set, key);
	StoredSetClose(&table);
}

/* Is this the row that was deleted last, by the hash of its key, or 0? */
static bool
ComesBack(DeletedRow *row, uint64 hash)
{
	if (row == NULL || !row->last_is_gone || row->hash != hash)
		return false;
	row->last_is_gone = false;
	return true;
}

/* ----------------------------------------------------------------
 *							ROWS THAT ARRIVE
 * ----------------------------------------------------------------
 */

/*
 * Does a COPY insert the row?
 *
 * Then what COPY adds to errors is the innermost of all that is added to them: whatever
 * runs a statement within it, such as another trigger, adds something, too.  No other
 * state of the server says this of a COPY in a function, in the first copy that a
 * subscriber makes, and whatever is monitored.
 */
static bool
IsCopied(void)
{
	return error_context_stack != NULL &&
		error_context_stack->callback == CopyFromErrorCallback;
}

/*
 * Say so, if a COPY drops a row: it may be that of a restore, for which the set
 * was filled before.
 */
static void
WarnOfCopy(TriggerSite *site, const TriggerData *trigger)
{
	if (site->has_warned || !IsCopied())
		return;
	site->has_warned = true;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("COPY drops rows of \"%s\" whose keys Bloom set \"%s\" has seen",
					RelationGetRelationName(trigger->tg_relation),
					get_rel_name(site->set)),
			 errhint("To restore rows of which the set knows the keys already, disable trigger \"%s\", as pg_restore --disable-triggers does.",
					 trigger->tg_trigger->tgname)));
}

/* Is a row to be inserted?  Its key is added to the set. */
static bool
IsToBeInserted(FunctionCallInfo fcinfo, TriggerSite *site,
			   const TriggerData *trigger, TimestampTz at)
{
	DeletedRow *deleted = FindDeleted(StatementOf(fcinfo), site);
	bool		may_have_moved = deleted != NULL &&
	(deleted->last_is_gone || deleted->any_is_gone);
	StoredSetCall call;
	uint8		answer = STORED_SET_UNKNOWN;
	uint64		hash;
	Datum		key;

	if (!GetKey(site, trigger->tg_trigslot, &key))
	{
		(void) ComesBack(deleted, 0);
		return true;
	}
	StoredSetOpenToWrite(&call, site->set, at, true);
	hash = HashKey(site, &call.table.set, key);
	if (ComesBack(deleted, hash))
		answer = STORED_SET_FRESH;
	else
		StoredSetAdd(&call, &hash, 1, &answer);
	StoredSetClose(&call.table);
	if (answer == STORED_SET_FRESH)
		return true;
	if (may_have_moved)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("Bloom set \"%s\" has seen the key of a row of \"%s\", which may have moved",
						get_rel_name(site->set),
						RelationGetRelationName(trigger->tg_relation)),
				 IsReplica() ?
				 errdetail("The transaction has deleted rows: if this is one of them, with another key or in another order, it would be lost.") :
				 errdetail("The statement has deleted rows that it has not inserted again: if this is one of them, with another key or in another order, it would be lost."),
				 IsReplica() ?
				 errhint("Disable trigger \"%s\" until the transaction is applied.",
						 trigger->tg_trigger->tgname) : 0));
	if (!site->has_dropped && trigger->tg_relation->rd_rel->relispartition)
		CheckSources(site->root, trigger);
	site->has_dropped = true;
	WarnOfCopy(site, trigger);
	return false;
}

/*
 * bloom_set_dedup
 *		Drop a row whose key a set has seen.  (trigger)
 *
 * A row without a key is kept.  A view with such a trigger has no rows: its set
 * remembers the keys.
 */
PG_FUNCTION_INFO_V1(bloom_set_dedup);
Datum
bloom_set_dedup(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TimestampTz at = GetCurrentTransactionStartTimestamp();
	TriggerSite *site;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		!((TRIGGER_FIRED_BEFORE(trigger->tg_event) &&
		   (TRIGGER_FIRED_BY_INSERT(trigger->tg_event) ||
			TRIGGER_FIRED_BY_DELETE(trigger->tg_event))) ||
		  (TRIGGER_FIRED_INSTEAD(trigger->tg_event) &&
		   TRIGGER_FIRED_BY_INSERT(trigger->tg_event))))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup must be called by a trigger FOR EACH ROW that is BEFORE INSERT, BEFORE INSERT OR DELETE, or INSTEAD OF INSERT on a view")));
	site = GetTriggerSite(fcinfo, trigger);
	if (TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
	{
		NoteDeleted(fcinfo, site, trigger->tg_trigslot);
		return PointerGetDatum(trigger->tg_trigtuple);
	}

	if (site->time != 0)
	{
		bool		isnull;
		Datum		time = slot_getattr(trigger->tg_trigslot, site->time,
										&isnull);

		at = StoredSetCheckTime(trigger->tg_trigger->tgargs[trigger->tg_trigger->tgnargs - 1],
								time, isnull);
	}
	return PointerGetDatum(IsToBeInserted(fcinfo, site, trigger, at) ?
						   trigger->tg_trigtuple : NULL);
}
