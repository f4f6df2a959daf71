/*-------------------------------------------------------------------------
 *
 * unique/trigger.c
 *		The triggers that keep keys unique.
 *
 * The trigger FOR EACH ROW is the constraint.  Those FOR EACH STATEMENT only make
 * it fast: BEFORE opens a statement, AFTER ROW collects keys in it, AFTER claims
 * what was collected, in one sorted call.  A row for which no statement is open,
 * as of an insert into a partition, or by a logical replication worker, is checked
 * at once.
 *
 * A key must not be claimed in a subtransaction that can be rolled back without
 * its row, or the other way round.  So a row is collected only in a statement that
 * was opened in the subtransaction of the row.
 *
 * A statement can end without its trigger AFTER: if SPI, which had a limit of rows,
 * was content.  Then its keys are claimed by the next statement that is closed, or
 * before the transaction commits.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "set/set_compat.h"
#include "set/unique/unique.h"
#include "pause.h"

/* A statement that is open */
typedef struct Statement
{
	struct Statement *outer;
	SubTransactionId subid;
	BloomUnique *unique;		/* by which its keys were read */
	MemoryContext context;		/* of all this */
	BloomUniqueKeys collected;
} Statement;

static Statement *statements = NULL;

/* ----------------------------------------------------------------
 *							STATEMENTS
 * ----------------------------------------------------------------
 */

static void
DropStatement(Statement *statement)
{
	Statement **link = &statements;

	while (*link != statement)
		link = &(*link)->outer;
	*link = statement->outer;
	MemoryContextDelete(statement->context);
}

/* Are these the same key? */
static inline bool
IsSameTag(const BloomUniqueTag *a, const BloomUniqueTag *b)
{
	return a->root == b->root && a->seed == b->seed;
}

/*
 * BloomUniqueHasCollected
 *		Are there rows of this transaction whose keys are collected, and not yet
 *		claimed?
 */
bool
BloomUniqueHasCollected(const BloomUniqueTag *tag)
{
	for (Statement *s = statements; s != NULL; s = s->outer)
	{
		if (s->collected.nkeys > 0 && IsSameTag(&s->unique->tag, tag))
			return true;
	}
	return false;
}

/* Claim and check what was collected. */
static void
FlushStatement(Statement *statement)
{
	BloomUniqueKeys keys = statement->collected;
	BloomUnique *unique = statement->unique;
	MemoryContext oldcontext;

	if (keys.nkeys == 0)
		return;
	/* a hash function of a key type can write rows, too, and close statements */
	memset(&statement->collected, 0, sizeof(BloomUniqueKeys));
	MemoryContextSetParent(keys.context, TopTransactionContext);
	oldcontext = MemoryContextSwitchTo(keys.context);
	/* if the table has been dropped since, so have its rows */
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(unique->tag.root)))
		BloomUniqueCheckWritten(BloomUniqueRefresh(unique), keys.keys, keys.nkeys,
								BloomUniqueHasCollected(&unique->tag));
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(keys.context);
}

/* At the end of a subtransaction, statements are its parent's, or gone. */
static void
AtSubXact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
		  void *arg)
{
	(void) arg;
	while (event == SUBXACT_EVENT_ABORT_SUB && statements != NULL &&
		   statements->subid == mine)
		DropStatement(statements);
	if (event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	for (Statement *s = statements; s != NULL && s->subid == mine; s = s->outer)
		s->subid = parent;
}

static void
AtXact(XactEvent event, void *arg)
{
	(void) arg;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			while (statements != NULL)
			{
				PushActiveSnapshot(GetTransactionSnapshot());
				/* if it is gone, whoever makes it anew reads all rows */
				if (statements->collected.nkeys > 0 &&
					BloomUniqueIsThere(&statements->unique->tag))
					FlushStatement(statements);
				else
					DropStatement(statements);
				PopActiveSnapshot();
			}
			break;
		case XACT_EVENT_COMMIT:
			/* others see what was written, and have no message of it */
			BLOOM_PAUSE("unique-commit");
			/* FALLTHROUGH */
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* their memory goes with the transaction */
			statements = NULL;
			break;
		default:
			break;
	}
}

static void
OpenStatement(BloomUnique *unique)
{
	static bool is_registered = false;
	MemoryContext context;
	Statement  *statement;

	/*
	 * Callbacks that were registered last are called first, and there is no
	 * safe moment to register anew: others may be walking the list.  So
	 * postgres_fdw commits on other servers before us, if it was used later.
	 */
	if (!is_registered)
	{
		RegisterXactCallback(AtXact, NULL);
		RegisterSubXactCallback(AtSubXact, NULL);
		is_registered = true;
	}
	context = AllocSetContextCreate(TopTransactionContext,
									"statement with unique keys",
									ALLOCSET_START_SMALL_SIZES);
	statement = MemoryContextAllocZero(context, sizeof(Statement));
	statement->context = context;
	statement->outer = statements;
	statement->subid = GetCurrentSubTransactionId();
	statement->unique = unique;
	statements = statement;
}

/*
 * The innermost open statement with a key, in this subtransaction, or NULL; or, of
 * those that have collected rows.
 */
static Statement *
FindStatement(const BloomUnique *unique, bool has_collected)
{
	for (Statement *s = statements;
		 s != NULL && s->subid == GetCurrentSubTransactionId(); s = s->outer)
	{
		if (IsSameTag(&s->unique->tag, &unique->tag) &&
			(s->collected.nkeys > 0 || !has_collected))
			return s;
	}
	return NULL;
}

/*
 * Close the innermost statement of a key.
 *
 * Others can have ended before it, and it can have opened none, if a trigger was
 * disabled.  So all that was collected in this subtransaction is claimed: it is
 * never wrong to do that early.
 */
static void
CloseStatement(const BloomUnique *unique)
{
	Statement  *statement;

	while ((statement = FindStatement(unique, true)) != NULL)
		FlushStatement(statement);
	statement = FindStatement(unique, false);
	if (statement != NULL)
		DropStatement(statement);
}

/*
 * Will the trigger fire that closes a statement?  If somebody has dropped, replaced or
 * disabled it, rows are checked one by one, as their statement would be.
 */
static bool
IsClosed(const BloomUnique *unique)
{
	return unique->close == TRIGGER_FIRES_ALWAYS ||
		unique->close == (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA ?
						  TRIGGER_FIRES_ON_REPLICA : TRIGGER_FIRES_ON_ORIGIN);
}

/* Keep a key until its statement is closed. */
static void
Collect(Statement *statement, BloomUnique *unique, Datum *key)
{
	BloomUniqueKeys *keys = &statement->collected;

	/* it holds keys of one description alone */
	if (unique != statement->unique)
		statement->unique = BloomUniqueRefresh(statement->unique);
	Assert(BloomUniqueIsSame(unique, statement->unique));
	if (keys->nkeys >= BLOOM_UNIQUE_BATCH || keys->size >= BLOOM_UNIQUE_BATCH_BYTES)
		FlushStatement(statement);
	if (keys->context == NULL)
		keys->context = AllocSetContextCreate(statement->context, "unique keys",
											  ALLOCSET_DEFAULT_SIZES);
	BloomUniqueKeepKey(unique, keys, key);
}

/*
 * BloomUniqueForgetStatements
 *		All rows of a table have been checked, or need not be: nothing that was
 *		collected for this key has to be.
 */
void
BloomUniqueForgetStatements(const BloomUniqueTag *tag)
{
	Statement  *next;

	for (Statement *s = statements; s != NULL; s = next)
	{
		next = s->outer;
		if (IsSameTag(&s->unique->tag, tag))
			DropStatement(s);
	}
}

/* ----------------------------------------------------------------
 *							THE TRIGGER
 * ----------------------------------------------------------------
 */

/* Has an update left the key as it was? */
static bool
IsSameKey(const BloomUnique *unique, const AttrNumber *columns,
		  TupleTableSlot *old, const Datum *key)
{
	Datum		before[INDEX_MAX_KEYS];

	if (!BloomUniqueGetKey(unique, columns, old, before))
		return false;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (!datum_image_eq(before[i], key[i], unique->columns[i].typbyval,
							unique->columns[i].typlen))
			return false;
	}
	return true;
}

/* Check a row that has been written, now or when its statement is closed. */
static void
CheckRow(BloomUnique *unique, Datum *key)
{
	Statement  *statement;

	if (BloomUniqueTakeEntry(unique, key))
		return;
	statement = IsClosed(unique) ? FindStatement(unique, false) : NULL;
	if (statement != NULL)
		Collect(statement, unique, key);
	else
		BloomUniqueCheckWritten(unique, key, 1,
								BloomUniqueHasCollected(&unique->tag));
}

/*
 * bloom_unique
 *		Keep the keys of a table and its partitions unique.  (trigger)
 *
 * bloom_unique_create makes its triggers.  What it does depends on when it is
 * called.
 */
PG_FUNCTION_INFO_V1(bloom_unique);
Datum
bloom_unique(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TriggerEvent event;
	BloomUnique *unique;
	const AttrNumber *columns;
	Datum		key[INDEX_MAX_KEYS];

	if (!CALLED_AS_TRIGGER(fcinfo) || TRIGGER_FIRED_INSTEAD(trigger->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(trigger->tg_event) ||
		(TRIGGER_FIRED_FOR_ROW(trigger->tg_event) &&
		 TRIGGER_FIRED_BEFORE(trigger->tg_event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_unique must be called by a trigger that bloom_unique_create made")));
	event = trigger->tg_event;

	/*
	 * nothing was begun, as when pg_restore has not made the other triggers
	 * yet
	 */
	if (TRIGGER_FIRED_FOR_STATEMENT(event) && TRIGGER_FIRED_AFTER(event) &&
		!TRIGGER_FIRED_BY_TRUNCATE(event) && statements == NULL)
		return PointerGetDatum(NULL);
	unique = BloomUniqueOfTrigger(trigger, &columns);
	if (TRIGGER_FIRED_FOR_STATEMENT(event))
	{
		if (TRIGGER_FIRED_BY_TRUNCATE(event))
			(void) BloomUniqueRefill(unique);
		else if (TRIGGER_FIRED_AFTER(event))
			CloseStatement(unique);
		else if (IsClosed(unique))
			OpenStatement(unique);
		return PointerGetDatum(NULL);
	}

	if (TRIGGER_FIRED_BY_UPDATE(event))
	{
		if (BloomUniqueGetKey(unique, columns, trigger->tg_newslot, key) &&
			!IsSameKey(unique, columns, trigger->tg_trigslot, key))
			CheckRow(unique, key);
		return PointerGetDatum(trigger->tg_newtuple);
	}
	if (BloomUniqueGetKey(unique, columns, trigger->tg_trigslot, key))
		CheckRow(unique, key);
	return PointerGetDatum(trigger->tg_trigtuple);
}
