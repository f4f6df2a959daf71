/*-------------------------------------------------------------------------
 *
 * unique/ddl.c
 *		Rows that come to a table with unique keys by ALTER TABLE.
 *
 * What a command did is told by the server, by OIDs, and by what it wrote to the
 * catalog: while it waited for a lock, the names in its text may have become those of
 * other tables.
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
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/deparse_utility.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

/* ----------------------------------------------------------------
 *							ROWS THAT COME
 * ----------------------------------------------------------------
 */

/* The keys whose constraint a table has, or the one of this trigger */
static List *
KeysOf(Oid relid, const char *name)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, BloomUniqueTriggersOf(relid))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);
		BloomUniqueTag *tag;

		if (trigger->kind != BLOOM_UNIQUE_ROW ||
			(name != NULL && strcmp(name, NameStr(trigger->name)) != 0))
			continue;
		tag = palloc0(sizeof(BloomUniqueTag));
		tag->seed = trigger->seed;
		tag->root = StoredSetTriggerTable(trigger->oid, relid);
		result = lappend(result, tag);
	}
	return result;
}

/*
 * Has a key a set?  If it has none, as when a dump is being restored, all writes are
 * errors until somebody calls a function that checks all rows.
 */
static bool
HasSet(const BloomUniqueTag *tag)
{
	return OidIsValid(BloomUniqueLockSet(tag, BloomUniqueOwnerOf(tag->root),
										 AccessShareLock));
}

/* Check the rows of a partition, as the table's owner. */
static void
CheckLeaf(const BloomUniqueTag *tag, Oid relid)
{
	Relation	rel;
	BloomUnique *unique;
	Oid			user;
	int			context;

	if (!HasSet(tag))
		return;
	rel = relation_open(relid, AccessShareLock);
	unique = BloomUniqueRecall(tag);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	PushActiveSnapshot(GetTransactionSnapshot());
	(void) BloomUniqueDescribeLeaf(unique, rel);
	BloomUniqueCheckLeaf(unique, relid);
	PopActiveSnapshot();
	SetUserIdAndSecContext(user, context);
	relation_close(rel, NoLock);
}

/* Check the rows of a table and of those below it. */
static void
CheckTree(Oid relid, const char *trigger)
{
	ListCell   *leaf;
	ListCell   *key;

	foreach(leaf, BloomUniqueLeaves(relid, NULL))
	{
		foreach(key, KeysOf(lfirst_oid(leaf), trigger))
			CheckLeaf(lfirst(key), lfirst_oid(leaf));
	}
}

/* Check all rows of a key, from its table down, which fills its set anew. */
static void
CheckAll(const BloomUniqueTag *tag)
{
	if (!HasSet(tag))
		return;
	(void) BloomUniqueRefill(BloomUniqueRecall(tag));
	BloomUniqueForgetStatements(tag);
}

/* ----------------------------------------------------------------
 *							PARTITIONS THAT WERE CHECKED
 *
 * The server does not say which partition a command has attached, but the catalog
 * tells which this transaction has attached, and by which of its commands.
 * ----------------------------------------------------------------
 */

/* A table to which this transaction has attached partitions */
typedef struct Parent
{
	Oid			relid;			/* hash key */
	CommandId	checked;		/* what came before this command */
	SubTransactionId subid;		/* that has checked it */
} Parent;

static HTAB *parents = NULL;

static void
ForgetAtXact(XactEvent event, void *arg)
{
	(void) arg;
	/* their memory goes with the transaction */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		parents = NULL;
}

/* What was claimed is rolled back, maybe not with the command that had attached it. */
static void
ForgetAtSubXact(SubXactEvent event, SubTransactionId mine,
				SubTransactionId outer, void *arg)
{
	HASH_SEQ_STATUS status;
	Parent	   *parent;

	(void) outer;
	(void) arg;
	if (event != SUBXACT_EVENT_ABORT_SUB || parents == NULL)
		return;
	hash_seq_init(&status, parents);
	while ((parent = hash_seq_search(&status)) != NULL)
	{
		/* all that have begun since are within it */
		if (parent->subid >= mine)
			parent->checked = FirstCommandId;
	}
}

/* What is known of a table's partitions in this transaction */
static Parent *
FindParent(Oid relid)
{
	static bool is_registered = false;
	Parent	   *parent;
	bool		found;

	if (!is_registered)
	{
		RegisterXactCallback(ForgetAtXact, NULL);
		RegisterSubXactCallback(ForgetAtSubXact, NULL);
		is_registered = true;
	}
	if (parents == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(Parent);
		info.hcxt = TopTransactionContext;
		parents = hash_create("tables with new partitions", 16, &info,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	parent = hash_search(parents, &relid, HASH_ENTER, &found);
	if (!found)
	{
		parent->checked = FirstCommandId;
		parent->subid = InvalidSubTransactionId;
	}
	return parent;
}

/* Partitions were attached: their rows count from now on. */
static void
CheckAttached(Oid relid)
{
	Parent	   *parent = FindParent(relid);
	CommandId	now;
	ListCell   *cell;

	CommandCounterIncrement();
	now = GetCurrentCommandId(false);
	foreach(cell, BloomUniqueAttached(relid, parent->checked))
		CheckTree(lfirst_oid(cell), NULL);
	parent->checked = now;
	parent->subid = GetCurrentSubTransactionId();
}

/* ----------------------------------------------------------------
 *							WHAT WAS ALTERED
 * ----------------------------------------------------------------
 */

/* The owners that a table had before, in this transaction or when it began */
static List *
OldOwnersOf(Oid relid)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, SnapshotAny, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		HeapTupleHeader header = tuple->t_data;

		/* versions that this transaction has replaced */
		if (!(header->t_infomask & HEAP_XMAX_INVALID) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(header)))
			result = list_append_unique_oid(result,
											((Form_pg_class) GETSTRUCT(tuple))->relowner);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * The set of a table has its owner, by whose rights it is written.  So that of an owner
 * before goes to the new one, and none of others, who may have made it name the table.
 */
static void
ChangeOwner(const BloomUniqueTag *tag, Oid owner)
{
	Oid			set = InvalidOid;
	ListCell   *cell;

	foreach(cell, OldOwnersOf(tag->root))
	{
		if (!OidIsValid(set))
			set = BloomUniqueLockSet(tag, lfirst_oid(cell), AccessExclusiveLock);
	}
	if (!OidIsValid(set))
		return;
	if (!superuser() &&
		!BloomMayCreateIn(get_rel_namespace(set), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for schema %s",
						get_namespace_name(get_rel_namespace(set))),
				 errdetail("Bloom set \"%s\" of the unique keys of table \"%s\" is there, and belongs to the owner of the table.",
						   get_rel_name(set), get_rel_name(tag->root)),
				 errhint("Move the set to a schema in which role \"%s\" may create tables: ALTER TABLE %s SET SCHEMA ...",
						 GetUserNameFromId(owner, false),
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(set)),
													get_rel_name(set)))));
	ATExecChangeOwner(set, owner, false, AccessExclusiveLock);
}

/* A key whose triggers were enabled or disabled, from a table down */
typedef struct Switched
{
	BloomUniqueTag tag;
	Oid			relid;
} Switched;

/* Add it to a list, once. */
static List *
AddSwitched(List *list, const BloomUniqueTag *tag, Oid relid)
{
	Switched   *added;
	ListCell   *cell;

	foreach(cell, list)
	{
		const Switched *switched = lfirst(cell);

		if (switched->relid == relid && switched->tag.root == tag->root &&
			switched->tag.seed == tag->seed)
			return list;
	}
	added = palloc(sizeof(Switched));
	added->tag = *tag;
	added->relid = relid;
	return lappend(list, added);
}

/* Do what a part of ALTER TABLE means for one of the unique keys of a table. */
static void
FollowKey(Oid relid, const AlterTableCmd *command, const BloomUniqueTag *tag,
		  List **switched)
{
	switch (command->subtype)
	{
		case AT_EnableTrig:
		case AT_EnableAlwaysTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			/* those of partitions stay as they are after ALTER TABLE ONLY */
			*switched = AddSwitched(*switched, tag, relid);

			/*
			 * Check what was written without the trigger.  That of a
			 * partition can have another name than those below it.
			 */
			if (tag->root == relid)
				CheckAll(tag);
			else
				CheckTree(relid, get_rel_relkind(relid) == RELKIND_RELATION ?
						  command->name : NULL);
			break;
		case AT_DisableTrig:
		case AT_DisableTrigAll:
		case AT_DisableTrigUser:
		case AT_EnableReplicaTrig:
			*switched = AddSwitched(*switched, tag, relid);
			break;
		case AT_ChangeOwner:
			if (tag->root == relid)
				ChangeOwner(tag, BloomUniqueOwnerOf(relid));
			break;
		default:
			/* a column may have other values */
			if (BloomSetsExpression(command))
				CheckAll(tag);
			break;
	}
}

/* Do what a part of ALTER TABLE means for unique keys. */
static void
Follow(Oid relid, const AlterTableCmd *command, List **switched)
{
	ListCell   *cell;

	if (command->subtype == AT_AttachPartition)
	{
		CheckAttached(relid);
		return;
	}
	/* of those that matter, one names a column, and others a trigger or none */
	foreach(cell, KeysOf(relid, BloomSetsExpression(command) ? NULL : command->name))
		FollowKey(relid, command, lfirst(cell), switched);
}

/* The commands that were collected, in their order */
static List *
CollectedCommands(void)
{
	MemoryContext oldcontext = CurrentMemoryContext;
	List	   *result = NIL;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute("SELECT command FROM pg_catalog.pg_event_trigger_ddl_commands()",
					false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look for altered tables");
	MemoryContextSwitchTo(oldcontext);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[i],
										  SPI_tuptable->tupdesc, 1, &isnull);

		result = lappend(result, DatumGetPointer(value));
	}
	SPI_finish();
	return result;
}

/*
 * _bloom_unique_ddl
 *		Check rows that come to a table with unique keys.
 *		(event trigger)
 */
PG_FUNCTION_INFO_V1(_bloom_unique_ddl);
Datum
_bloom_unique_ddl(PG_FUNCTION_ARGS)
{
	List	   *switched = NIL;
	ListCell   *cell;
	ListCell   *part;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("_bloom_unique_ddl must be called by an event trigger")));
	/* pg_upgrade brings rows and sets as files, whose numbers must stay */
	if (IsBinaryUpgrade)
		PG_RETURN_NULL();
	foreach(cell, CollectedCommands())
	{
		const CollectedCommand *command = lfirst(cell);

		if (command->type != SCT_AlterTable ||
			command->d.alterTable.classId != RelationRelationId)
			continue;
		foreach(part, command->d.alterTable.subcmds)
			Follow(command->d.alterTable.objectId,
				   (AlterTableCmd *) ((CollectedATSubcmd *) lfirst(part))->parsetree,
				   &switched);
	}
	foreach(cell, switched)
	{
		const Switched *one = lfirst(cell);

		BloomUniqueWarnDisabled(&one->tag, one->relid);
	}
	PG_RETURN_NULL();
}
