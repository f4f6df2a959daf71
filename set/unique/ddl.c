/*-------------------------------------------------------------------------
 *
 * unique/ddl.c
 *		Rows and partitions that come to a table with unique keys by ALTER TABLE
 *		and CREATE TABLE.
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

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/deparse_utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

/* ----------------------------------------------------------------
 *							ROWS THAT COME
 * ----------------------------------------------------------------
 */

/*
 * The keys whose row triggers a table has, or the one of this trigger.
 */
static List *
KeysOf(Oid relid, const char *name)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	List	   *result = NIL;
	const Trigger *trigger;
	int			at = 0;

	if (rel == NULL)
		return NIL;
	while ((trigger = BloomUniqueNextRowTrigger(rel, &at)) != NULL)
	{
		TriggerData data = {.tg_relation = rel,.tg_trigger = unconstify(Trigger *, trigger)};
		BloomUniqueTag *tag;

		if (name != NULL && strcmp(name, trigger->tgname) != 0)
			continue;
		tag = palloc0(sizeof(BloomUniqueTag));
		tag->seed = BloomUniqueSeedOf(trigger->tgnargs, trigger->tgargs);
		tag->root = StoredSetTriggerTable(&data);
		result = lappend(result, tag);
	}
	relation_close(rel, NoLock);
	return result;
}

/*
 * The set of a key, or invalid, if it does not name the table, as when a dump is being
 * restored.  Then it is not asked: all writes are errors until bloom_unique_rebuild,
 * which checks all rows.
 */
static Oid
SetOf(const BloomUniqueTag *tag)
{
	BloomUniqueTriggers triggers;

	BloomUniqueFindTriggers(tag, &triggers);
	return OidIsValid(triggers.set) &&
		BloomUniqueAskSet(triggers.set, tag->root) == BLOOM_UNIQUE_NAMED ?
		triggers.set : InvalidOid;
}

/* Claim and check the rows of a partition, as the table's owner. */
static void
ClaimLeaf(const BloomUniqueTag *tag, Oid relid)
{
	Relation	rel;
	BloomUnique *unique;
	Oid			user;
	int			context;

	if (!OidIsValid(SetOf(tag)))
		return;
	rel = relation_open(relid, AccessShareLock);
	unique = BloomUniqueRecall(tag);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	PushActiveSnapshot(GetTransactionSnapshot());
	(void) BloomUniqueLookAt(unique, rel);
	BloomUniqueClaimLeaf(unique, relid);
	PopActiveSnapshot();
	SetUserIdAndSecContext(user, context);
	relation_close(rel, NoLock);
}

/* Claim the rows of a table and of those below it. */
static void
ClaimTree(Oid relid, const char *trigger)
{
	ListCell   *leaf;
	ListCell   *key;

	foreach(leaf, BloomUniqueLeaves(relid, NULL))
	{
		foreach(key, KeysOf(lfirst_oid(leaf), trigger))
			ClaimLeaf(lfirst(key), lfirst_oid(leaf));
	}
}

/* Check all rows of a key, from its table down, which fills its set anew. */
static void
CheckAll(const BloomUniqueTag *tag)
{
	if (!OidIsValid(SetOf(tag)))
		return;
	(void) BloomUniqueRefill(BloomUniqueRecall(tag));
	BloomUniqueForgetStatements(tag);
}

/* ----------------------------------------------------------------
 *							WHAT WAS ALTERED
 * ----------------------------------------------------------------
 */

/* Partitions were attached: their rows count from now on. */
static void
CheckAttached(Oid relid)
{
	ListCell   *cell;

	CommandCounterIncrement();
	foreach(cell, BloomUniqueAttached(relid))
		ClaimTree(lfirst_oid(cell), NULL);
}

/*
 * A partition was made: an error, if it is a foreign table, to which others write.
 * Where the trigger of its parent is disabled, so is its own.
 */
static void
CheckMade(Oid relid)
{
	ListCell   *cell;

	foreach(cell, KeysOf(relid, NULL))
	{
		if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("partition \"%s\" is a foreign table", get_rel_name(relid)),
					 errdetail("Keys of a table that has unique keys cannot be looked up there, and others can write to it.")));
		BloomUniqueWarnDisabled(lfirst(cell), relid);
	}
}

/* The set of a table has its owner, by whose rights it is written. */
static void
ChangeOwner(const BloomUniqueTag *tag, Oid owner)
{
	Oid			set = SetOf(tag);

	if (OidIsValid(set))
		BloomUniqueRun(psprintf("ALTER TABLE %s OWNER TO %s", BloomUniqueNameOf(set),
								quote_identifier(GetUserNameFromId(owner, false))));
}

/* Do what a part of ALTER TABLE means for one of the unique keys of a table. */
static void
FollowKey(Oid relid, const AlterTableCmd *command, const BloomUniqueTag *tag)
{
	switch (command->subtype)
	{
		case AT_EnableTrig:
		case AT_EnableAlwaysTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			/* those of partitions stay as they are after ALTER TABLE ONLY */
			BloomUniqueWarnDisabled(tag, relid);

			/*
			 * Check what was written without the trigger.  That of a
			 * partition can have another name than those below it.
			 */
			if (tag->root == relid)
				CheckAll(tag);
			else
				ClaimTree(relid, get_rel_relkind(relid) == RELKIND_RELATION ?
						  command->name : NULL);
			break;
		case AT_DisableTrig:
		case AT_DisableTrigAll:
		case AT_DisableTrigUser:
		case AT_EnableReplicaTrig:
			BloomUniqueWarnDisabled(tag, relid);
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
Follow(Oid relid, const AlterTableCmd *command)
{
	ListCell   *cell;

	if (command->subtype == AT_AttachPartition)
	{
		CheckAttached(relid);
		return;
	}
	/* of those that matter, one names a column, and others a trigger or none */
	foreach(cell, KeysOf(relid, BloomSetsExpression(command) ? NULL : command->name))
		FollowKey(relid, command, lfirst(cell));
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
 *		Check rows and partitions that come to a table with unique keys.
 *		(event trigger)
 */
PG_FUNCTION_INFO_V1(_bloom_unique_ddl);
Datum
_bloom_unique_ddl(PG_FUNCTION_ARGS)
{
	const Node *parsetree;
	ListCell   *cell;
	ListCell   *part;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("_bloom_unique_ddl must be called by an event trigger")));
	/* pg_upgrade brings rows and sets as files, whose numbers must stay */
	if (IsBinaryUpgrade)
		PG_RETURN_NULL();
	/* tables that are no partitions are made often */
	parsetree = ((EventTriggerData *) fcinfo->context)->parsetree;
	if (IsA(parsetree, CreateStmt) &&
		((const CreateStmt *) parsetree)->partbound == NULL)
		PG_RETURN_NULL();
	BloomUniqueFunction = bloom_unique;
	foreach(cell, CollectedCommands())
	{
		const CollectedCommand *command = lfirst(cell);

		if (command->type == SCT_Simple &&
			command->d.simple.address.classId == RelationRelationId &&
			get_rel_relispartition(command->d.simple.address.objectId))
			CheckMade(command->d.simple.address.objectId);
		if (command->type != SCT_AlterTable ||
			command->d.alterTable.classId != RelationRelationId)
			continue;
		foreach(part, command->d.alterTable.subcmds)
			Follow(command->d.alterTable.objectId,
				   (AlterTableCmd *) ((CollectedATSubcmd *) lfirst(part))->parsetree);
	}
	PG_RETURN_NULL();
}
