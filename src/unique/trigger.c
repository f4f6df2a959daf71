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
 * was content.  Then its keys are claimed before the transaction commits.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/partition.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "set/compat.h"
#include "unique/unique.h"

/* Keys that rows were let pass with, at most */
#define MAX_PASSED	1000000

/* A statement that is open */
typedef struct Statement
{
	struct Statement *outer;
	uint64		number;
	SubTransactionId subid;
	BloomUniqueTag tag;
	bool		may_update;		/* rows, which can move */
	bool		has_ended;		/* without its trigger AFTER */
	MemoryContext context;		/* of all this */
	MemoryContext batch;		/* of the keys */
	Datum	   *keys;
	int			nkeys;
	int			maxkeys;
	Size		size;
} Statement;

/* Tells that the query of a statement has ended */
typedef struct StatementEnd
{
	MemoryContextCallback callback;
	uint64		number;
} StatementEnd;

/*
 * A key with which the trigger BEFORE ROW has let a row pass.  It was claimed, and
 * in no row.  So the first row that is written with it needs no check.  If two
 * rows were let pass with it, neither had been written when the other was checked.
 */
typedef struct Passed
{
	uint64		hash;			/* these two are the hash key */
	int64		seed;
	bool		is_doubtful;	/* let pass twice */
} Passed;

static Statement *statements = NULL;
static uint64 nstatements = 0;
static HTAB *passed_keys = NULL;

/* ----------------------------------------------------------------
 *							STATEMENTS
 * ----------------------------------------------------------------
 */

/* Forget the keys that were let pass: then all are checked. */
static void
ForgetPassed(void)
{
	if (passed_keys != NULL)
		hash_destroy(passed_keys);
	passed_keys = NULL;
}

static void
DropStatement(Statement *statement)
{
	Statement **link = &statements;

	while (*link != statement)
		link = &(*link)->outer;
	*link = statement->outer;
	MemoryContextDelete(statement->context);
	if (statements == NULL)
		ForgetPassed();
}

/* Claim and check what was collected. */
static void
FlushStatement(Statement *statement)
{
	MemoryContext batch = statement->batch;
	MemoryContext oldcontext;
	Datum	   *keys = statement->keys;
	int			nkeys = statement->nkeys;

	if (nkeys == 0)
		return;
	/* a hash function of a key type can write rows, too */
	statement->batch = NULL;
	statement->nkeys = 0;
	statement->maxkeys = 0;
	statement->size = 0;
	oldcontext = MemoryContextSwitchTo(batch);
	BloomUniqueClaim(BloomUniqueRecall(&statement->tag), keys, nkeys);
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(batch);
}

/* At the end of a subtransaction, statements are its parent's, or gone. */
static void
AtSubXact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
		  void *arg)
{
	(void) arg;
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		while (statements != NULL && statements->subid == mine)
			DropStatement(statements);
		ForgetPassed();
	}
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
				FlushStatement(statements);
				PopActiveSnapshot();
				DropStatement(statements);
			}
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			/* their memory goes with the transaction */
			statements = NULL;
			passed_keys = NULL;
			break;
		default:
			break;
	}
}

/* The query of a statement has ended. */
static void
NoteEnd(void *arg)
{
	const StatementEnd *end = arg;

	for (Statement *s = statements; s != NULL; s = s->outer)
	{
		if (s->number == end->number)
			s->has_ended = true;
	}
}

/* Open a statement of the query whose memory this is. */
static void
OpenStatement(const BloomUnique *unique, MemoryContext query, bool may_update)
{
	static bool is_registered = false;
	MemoryContext context;
	Statement  *statement;
	StatementEnd *end;

	/*
	 * Callbacks that were registered last are called first: ours before that
	 * of postgres_fdw, which commits on other servers.
	 */
	if (statements == NULL)
	{
		UnregisterXactCallback(AtXact, NULL);
		RegisterXactCallback(AtXact, NULL);
		if (!is_registered)
			RegisterSubXactCallback(AtSubXact, NULL);
		is_registered = true;
	}
	context = AllocSetContextCreate(TopTransactionContext,
									"statement with unique keys",
									ALLOCSET_START_SMALL_SIZES);
	statement = MemoryContextAllocZero(context, sizeof(Statement));
	statement->context = context;
	statement->outer = statements;
	statement->number = ++nstatements;
	statement->subid = GetCurrentSubTransactionId();
	statement->tag = unique->tag;
	statement->may_update = may_update;
	statements = statement;

	end = MemoryContextAllocZero(query, sizeof(StatementEnd));
	end->number = statement->number;
	end->callback.func = NoteEnd;
	end->callback.arg = end;
	MemoryContextRegisterResetCallback(query, &end->callback);
}

/* The innermost open statement with a key, in this subtransaction, or NULL. */
static Statement *
FindStatement(const BloomUnique *unique)
{
	for (Statement *s = statements;
		 s != NULL && s->subid == GetCurrentSubTransactionId(); s = s->outer)
	{
		if (s->tag.root == unique->tag.root && s->tag.seed == unique->tag.seed)
			return s;
	}
	return NULL;
}

/* Claim the keys of the innermost statement, and of those that have ended. */
static void
CloseStatement(const BloomUnique *unique)
{
	Statement  *statement;
	bool		is_closed = false;

	while (!is_closed && (statement = FindStatement(unique)) != NULL)
	{
		is_closed = !statement->has_ended;
		FlushStatement(statement);
		DropStatement(statement);
	}
}

/* Keep a key until its statement is closed. */
static void
Collect(Statement *statement, const BloomUnique *unique, Datum *key)
{
	int			ncolumns = unique->ncolumns;
	MemoryContext oldcontext;

	if (statement->nkeys >= BLOOM_UNIQUE_BATCH ||
		statement->size >= BLOOM_UNIQUE_BATCH_BYTES)
		FlushStatement(statement);
	if (statement->batch == NULL)
		statement->batch = AllocSetContextCreate(statement->context,
												 "unique keys",
												 ALLOCSET_DEFAULT_SIZES);
	oldcontext = MemoryContextSwitchTo(statement->batch);
	if (statement->nkeys == statement->maxkeys)
	{
		statement->maxkeys = Max(2 * statement->maxkeys, 8);
		statement->keys = statement->nkeys == 0 ?
			palloc(statement->maxkeys * ncolumns * sizeof(Datum)) :
			repalloc(statement->keys,
					 statement->maxkeys * ncolumns * sizeof(Datum));
	}
	statement->size += BloomUniqueCopyKey(unique, key);
	memcpy(&statement->keys[statement->nkeys++ * ncolumns], key,
		   ncolumns * sizeof(Datum));
	MemoryContextSwitchTo(oldcontext);
}

/*
 * BloomUniqueForgetStatements
 *		All rows of a table have been checked: nothing that was collected of it
 *		has to be.
 */
void
BloomUniqueForgetStatements(Oid root)
{
	Statement  *next;

	for (Statement *s = statements; s != NULL; s = next)
	{
		next = s->outer;
		if (s->tag.root == root)
			DropStatement(s);
	}
}

/* ----------------------------------------------------------------
 *							DROPPING ROWS
 * ----------------------------------------------------------------
 */

/*
 * Is a row that comes to a partition one that moves, for all that is known?  To drop
 * it would be to lose the row that it was.
 *
 * Of INSERT ... ON CONFLICT DO UPDATE and MERGE, which can do both, and of what is
 * written directly to a partition that has partitions, it is not known.
 */
static bool
MayMove(const BloomUnique *unique, Relation rel)
{
	const Statement *statement = FindStatement(unique);

	if (statement != NULL && !statement->has_ended)
		return statement->may_update;
	return rel->rd_rel->relispartition &&
		get_partition_parent(RelationGetRelid(rel), true) != unique->tag.root;
}

/* Note that a row was let pass. */
static void
NotePassed(const BloomUnique *unique, uint64 hash)
{
	Passed		key = {.hash = hash,.seed = unique->tag.seed};
	Passed	   *passed;
	bool		found;

	if (passed_keys == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = offsetof(Passed, is_doubtful);
		info.entrysize = sizeof(Passed);
		info.hcxt = TopTransactionContext;
		passed_keys = hash_create("keys of rows", 64, &info,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(passed_keys) >= MAX_PASSED &&
		hash_search(passed_keys, &key, HASH_FIND, NULL) == NULL)
		return;
	passed = hash_search(passed_keys, &key, HASH_ENTER, &found);
	passed->is_doubtful = found;
}

/* Is a row the first that was written with a key that was let pass once? */
static bool
IsPassed(BloomUnique *unique, const Datum *key)
{
	Passed		hashed = {.seed = unique->tag.seed};
	Passed	   *passed;

	if (passed_keys == NULL)
		return false;
	hashed.hash = BloomUniqueHash(unique, key);
	passed = hash_search(passed_keys, &hashed, HASH_FIND, NULL);
	if (passed == NULL || passed->is_doubtful)
		return false;
	(void) hash_search(passed_keys, &hashed, HASH_REMOVE, NULL);
	return true;
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

	if (IsPassed(unique, key))
		return;
	statement = FindStatement(unique);
	if (statement != NULL && !statement->has_ended)
		Collect(statement, unique, key);
	else
		BloomUniqueClaim(unique, key, 1);
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
	uint64		hash;

	if (!CALLED_AS_TRIGGER(fcinfo) || TRIGGER_FIRED_INSTEAD(trigger->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_unique must be called by a trigger that bloom_unique_create made")));
	BloomUniqueFunction = bloom_unique;
	event = trigger->tg_event;
	unique = BloomUniqueOfTrigger(trigger, &columns);
	if (TRIGGER_FIRED_FOR_STATEMENT(event))
	{
		if (TRIGGER_FIRED_BY_TRUNCATE(event))
			(void) BloomUniqueRefill(unique);
		else if (TRIGGER_FIRED_BEFORE(event))
			OpenStatement(unique, fcinfo->flinfo->fn_mcxt,
						  TRIGGER_FIRED_BY_UPDATE(event));
		else
			CloseStatement(unique);
		return PointerGetDatum(NULL);
	}

	if (TRIGGER_FIRED_BY_UPDATE(event))
	{
		if (BloomUniqueGetKey(unique, columns, trigger->tg_newslot, key) &&
			!IsSameKey(unique, columns, trigger->tg_trigslot, key))
			CheckRow(unique, key);
		return PointerGetDatum(trigger->tg_newtuple);
	}
	if (!BloomUniqueGetKey(unique, columns, trigger->tg_trigslot, key))
		return PointerGetDatum(trigger->tg_trigtuple);
	if (TRIGGER_FIRED_AFTER(event))
		CheckRow(unique, key);
	else if (MayMove(unique, trigger->tg_relation))
		 /* it is checked when it has been written */ ;
	else if (BloomUniqueMayInsert(unique, RelationGetRelid(trigger->tg_relation),
								  key, &hash))
		NotePassed(unique, hash);
	else
		return PointerGetDatum(NULL);
	return PointerGetDatum(trigger->tg_trigtuple);
}
