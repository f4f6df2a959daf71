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
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/deparse_utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "set/compat.h"
#include "set/set.h"
#include "unique/unique.h"

/* ----------------------------------------------------------------
 *							ROWS THAT COME
 * ----------------------------------------------------------------
 */

/*
 * The keys whose row triggers a table has, or the one of this trigger.
 *
 * A trigger that names a table is that by which a set says whose it is.
 */
static List *
KeysOf(Relation rel, const char *name)
{
	List	   *result = NIL;

	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];
		TriggerData data = {.tg_relation = rel,.tg_trigger = trigger};
		BloomUniqueTag *tag;

		if (!TRIGGER_FOR_ROW(trigger->tgtype) || OidIsValid(trigger->tgconstrrelid) ||
			(name != NULL && strcmp(name, trigger->tgname) != 0) ||
			!BloomUniqueIsOurs(trigger->tgfoid))
			continue;
		tag = palloc0(sizeof(BloomUniqueTag));
		tag->seed = BloomUniqueSeedOf(trigger->tgnargs, trigger->tgargs);
		tag->root = StoredSetTriggerTable(&data);
		result = lappend(result, tag);
	}
	return result;
}

/*
 * Claim and check the rows of a partition, as the table's owner.
 *
 * A set that does not name the table, as when a dump is being restored, is not asked: all
 * writes are errors until bloom_unique_rebuild, which checks all rows.
 */
static void
ClaimLeaf(const BloomUniqueTag *tag, Relation rel)
{
	BloomUniqueTriggers triggers;
	BloomUnique *unique;
	Oid			user;
	int			context;

	BloomUniqueFindTriggers(tag, &triggers);
	if (!OidIsValid(triggers.set) ||
		BloomUniqueAskSet(triggers.set, tag->root) != BLOOM_UNIQUE_NAMED)
		return;
	unique = BloomUniqueRecall(tag);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	PushActiveSnapshot(GetTransactionSnapshot());
	(void) BloomUniqueLookAt(unique, rel);
	BloomUniqueClaimLeaf(unique, rel);
	PopActiveSnapshot();
	SetUserIdAndSecContext(user, context);
}

/* Claim the rows of a table and of those below it. */
static void
ClaimTree(Oid relid, const char *trigger)
{
	ListCell   *leaf;
	ListCell   *key;

	foreach(leaf, BloomUniqueLeaves(relid, NULL))
	{
		Relation	rel = try_relation_open(lfirst_oid(leaf), AccessShareLock);

		if (rel == NULL)
			continue;
		foreach(key, KeysOf(rel, trigger))
			ClaimLeaf(lfirst(key), rel);
		relation_close(rel, NoLock);
	}
}

/* Check all rows of a key, from its table down, which fills its set anew. */
static void
CheckAll(const BloomUniqueTag *tag)
{
	BloomUniqueTriggers triggers;

	BloomUniqueFindTriggers(tag, &triggers);
	if (!OidIsValid(triggers.set) ||
		BloomUniqueAskSet(triggers.set, tag->root) != BLOOM_UNIQUE_NAMED)
		return;
	(void) BloomUniqueRefill(BloomUniqueRecall(tag));
	BloomUniqueForgetStatements(tag);
}

/* ----------------------------------------------------------------
 *							WHAT WAS ALTERED
 * ----------------------------------------------------------------
 */

/*
 * A trigger, or all of a table, may have been enabled: check what was written
 * without it.
 */
static void
CheckEnabled(Oid relid, const char *name)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *keys = KeysOf(rel, name);
	ListCell   *cell;

	relation_close(rel, NoLock);
	foreach(cell, keys)
	{
		const BloomUniqueTag *tag = lfirst(cell);

		/* those of partitions stay as they are after ALTER TABLE ONLY */
		BloomUniqueWarnDisabled(tag, relid);
		/* a trigger of a partition can have another name than those below it */
		if (tag->root == relid)
			CheckAll(tag);
		else
			ClaimTree(relid, get_rel_relkind(relid) == RELKIND_RELATION ? name : NULL);
	}
}

/* Partitions were attached, or made of others: their rows count from now on. */
static void
CheckAttached(Oid relid)
{
	ListCell   *cell;

	CommandCounterIncrement();
	foreach(cell, BloomUniqueAttached(relid))
		ClaimTree(lfirst_oid(cell), NULL);
}

/* Warn, if rows of a table or of those below it are not checked. */
static void
WarnDisabled(Oid relid, const char *name)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *keys = KeysOf(rel, name);
	ListCell   *cell;

	relation_close(rel, NoLock);
	foreach(cell, keys)
		BloomUniqueWarnDisabled(lfirst(cell), relid);
}

/* The sets of a table have its owner, by whose rights they are written. */
static void
ChangeOwner(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	char	   *owner = GetUserNameFromId(rel->rd_rel->relowner, false);
	List	   *keys = KeysOf(rel, NULL);
	ListCell   *cell;

	relation_close(rel, NoLock);
	foreach(cell, keys)
	{
		const BloomUniqueTag *tag = lfirst(cell);
		BloomUniqueTriggers triggers;

		BloomUniqueFindTriggers(tag, &triggers);
		if (tag->root == relid && OidIsValid(triggers.set) && !triggers.is_ambiguous &&
			BloomUniqueAskSet(triggers.set, relid) == BLOOM_UNIQUE_NAMED)
			BloomUniqueRun(psprintf("ALTER TABLE %s OWNER TO %s",
									BloomUniqueNameOf(triggers.set),
									quote_identifier(owner)));
	}
}

/* A column may have other values: check the keys that have it. */
static void
CheckExpression(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *keys = KeysOf(rel, NULL);
	ListCell   *cell;

	relation_close(rel, NoLock);
	foreach(cell, keys)
		CheckAll(lfirst(cell));
}

/*
 * A partition was made: an error, if it is a foreign table, to which others write.
 * Where the trigger of its parent is disabled, so is its own.
 */
static void
CheckMade(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE && KeysOf(rel, NULL) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("partition \"%s\" is a foreign table", RelationGetRelationName(rel)),
				 errdetail("Keys of a table that has unique keys cannot be looked up there, and others can write to it.")));
	relation_close(rel, NoLock);
	WarnDisabled(relid, NULL);
}

/* Do what a part of ALTER TABLE means for unique keys. */
static void
Follow(Oid relid, const AlterTableCmd *command)
{
	switch (command->subtype)
	{
		case AT_AttachPartition:
			CheckAttached(relid);
			break;
		case AT_EnableTrig:
		case AT_EnableAlwaysTrig:
			CheckEnabled(relid, command->name);
			break;
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			CheckEnabled(relid, NULL);
			break;
		case AT_DisableTrig:
		case AT_EnableReplicaTrig:
			WarnDisabled(relid, command->name);
			break;
		case AT_DisableTrigAll:
		case AT_DisableTrigUser:
			WarnDisabled(relid, NULL);
			break;
		case AT_ChangeOwner:
			ChangeOwner(relid);
			break;
		default:
			if (BloomSetsExpression(command))
				CheckExpression(relid);
			break;
	}
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
