/*-------------------------------------------------------------------------
 *
 * bloom_window.c
 *		bloom_seen: was this key in an earlier row of the partition?
 *
 * One pass in the window's order, without a sort or a hash table of rows: each
 * row adds its key to the state of its partition, and is told whether it was
 * there.  There are two forms:
 *
 *		(key)						a table of hashes: exact, grows
 *		(key, capacity, fp_prob)	a filter, never larger than its bits
 *
 * The state lives in the partition's memory, which the executor frees at the
 * partition's end.  A partition of few rows should not pay for the bits of its
 * capacity.  So the second form begins with a table as well, but only up to
 * a sixteenth of what the bits take.
 *
 * No row is looked at twice.  We tell the executor so at each row, and it
 * forgets the rows before: nothing is spilled, however long the partition.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "bloom_hash.h"
#include "bloom_state.h"

/* A table may have one key for so many words of the bit array */
#define WORDS_PER_TABLE_KEY		16

/* What a partition has */
typedef struct SeenPartition
{
	Bloom	   *state;			/* NULL before the first row */
	uint64		fresh;			/* keys that were not seen before */
} SeenPartition;

/* What a call has, for all partitions */
typedef struct SeenCall
{
	BloomHasher hasher;
	bool		warned;
} SeenCall;

static SeenCall *
GetCall(FunctionCallInfo fcinfo)
{
	SeenCall   *call = fcinfo->flinfo->fn_extra;

	if (unlikely(call == NULL))
		call = BloomMakeCallSite(fcinfo, 0, false, sizeof(SeenCall));
	return call;
}

/* An argument that is looked at on the first row of a partition. */
static Datum
GetParameter(WindowObject window, int argno, const char *name)
{
	bool		isnull;
	Datum		value = WinGetFuncArgCurrent(window, argno, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
	return value;
}

static Bloom *
FirstState(FunctionCallInfo fcinfo, MemoryContext context)
{
	WindowObject window = PG_WINDOW_OBJECT();
	BloomShape	shape;

	if (PG_NARGS() == 1)
		shape = BloomShapeForCollecting(BLOOM_DEFAULT_FP_PROB);
	else
	{
		int64		capacity = DatumGetInt64(GetParameter(window, 1, "capacity"));
		float8		fp_prob = DatumGetFloat8(GetParameter(window, 2, "fp_prob"));

		shape = BloomShapeForCapacity(capacity, fp_prob, 0);
	}
	return BloomStateOwn(BloomStateMake(&shape), context);
}

/*
 * Add a hash to the partition's state.  True: it was not there.
 *
 * The current context is the partition's.
 */
static bool
AddAndTell(SeenPartition *partition, uint64 hash, bool exact)
{
	Bloom	   *state = partition->state;
	bool		fresh;

	partition->state =
		BloomStateAddAndTell(state, hash, exact ? BLOOM_FAIL_WHEN_FULL :
							 BLOOM_TURN_INTO_BITS, &fresh);
	state = partition->state;
	if (fresh && !exact && BloomIsTable(state) &&
		state->count * WORDS_PER_TABLE_KEY >= state->words)
	{
		partition->state = BloomStateToBits(state);
		pfree(state);
	}
	return fresh;
}

/*
 * bloom_seen
 *		Was this key (possibly) in an earlier row of the partition?
 *
 * A null key was not.
 */
PG_FUNCTION_INFO_V1(bloom_seen);
Datum
bloom_seen(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	SeenCall   *call = GetCall(fcinfo);
	SeenPartition *partition;
	MemoryContext context;
	MemoryContext oldcontext;
	bool		exact = PG_NARGS() == 1;
	bool		isnull;
	Datum		key;
	uint64		hash;
	bool		fresh;

	partition = WinGetPartitionLocalMemory(window, sizeof(SeenPartition));
	context = GetMemoryChunkContext(partition);
	WinSetMarkPosition(window, WinGetCurrentPosition(window));

	if (unlikely(partition->state == NULL))
		partition->state = FirstState(fcinfo, context);

	key = WinGetFuncArgCurrent(window, 0, &isnull);
	if (isnull)
		PG_RETURN_BOOL(false);
	hash = BloomHashDatum(&call->hasher, key, 0);

	oldcontext = MemoryContextSwitchTo(context);
	fresh = AddAndTell(partition, hash, exact);
	MemoryContextSwitchTo(oldcontext);

	/* these keys are counted one by one, so that they need no estimate */
	if (fresh && ++partition->fresh > partition->state->capacity &&
		!exact && !call->warned)
	{
		call->warned = true;
		if (BloomIsBits(partition->state))
			partition->state->count = BloomCountBits(partition->state);
		BloomWarnOverfull(partition->state);
	}
	PG_RETURN_BOOL(!fresh);
}
