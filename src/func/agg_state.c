/*-------------------------------------------------------------------------
 *
 * func/agg_state.c
 *		Transition states as arguments and results, large ones included.
 *
 * A state of 1 MB or more is behind a handle, an expanded object, which
 * nodeAgg.c takes over as it is.  So it is owned: it grows by reallocation,
 * while any other state exists three times when it has to grow.
 *
 * Smaller states have no handle.  An expanded object has a memory context of
 * its own, and a hash aggregate walks all contexts for each new group.
 *
 * The first argument in an aggregate is the aggregate's own, and can be
 * changed in place.  But it can also be a value, in any form that the server
 * has for one: as an initial value, or in an aggregate of our functions and
 * others.  A value is never changed: a state is made of
 * it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "func/agg_state.h"

#define LARGE_STATE_SIZE	(1024 * 1024)

/* A state that leaves the process is compacted: it has no room for more keys. */
static Size
LargeStateFlatSize(ExpandedObjectHeader *header)
{
	BloomLargeState *large = (BloomLargeState *) header;

	BloomStateCompact(large->state);
	return VARSIZE(large->state);
}

static void
LargeStateFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	memcpy(result, ((BloomLargeState *) header)->state, size);
	if (BloomStateIsOwned((Bloom *) result))
		BloomStateTailOf((Bloom *) result)->is_owned = false;
}

const ExpandedObjectMethods BloomLargeStateMethods = {
	LargeStateFlatSize,
	LargeStateFlatten
};

/*
 * BloomAggStateToRead
 *		The state or value that an argument is, to be read, or flushed by a
 *		final function.
 *
 * The server passes a handle to a final function for reading only, since a
 * state may go on.  A flush does not change what the state holds.
 */
Bloom *
BloomAggStateToRead(Datum datum)
{
	BloomLargeState *large = BloomAggLargeState(datum);

	return large != NULL ? large->state :
		unconstify(Bloom *, BloomFetchState(datum));
}

/*
 * BloomAggFirst
 *		What an aggregate returns that starts with a value or state, which
 *		stays as it is.
 */
Datum
BloomAggFirst(const Bloom *filter, MemoryContext context)
{
	MemoryContext own;
	BloomLargeState *large;

	if (VARSIZE(filter) < LARGE_STATE_SIZE)
		return PointerGetDatum(BloomIsValue(filter) ? filter :
							   BloomStateFrom(filter));

	own = AllocSetContextCreate(context, "bloomtype aggregate state",
								ALLOCSET_SMALL_SIZES);
	large = MemoryContextAlloc(own, sizeof(BloomLargeState));
	EOH_init_header(&large->header, &BloomLargeStateMethods, own);
	large->state = BloomStateOwn(filter, own);
	return EOHPGetRWDatum(&large->header);
}

/*
 * BloomAggReplaced
 *		What a transition function returns for a state at another address than
 *		its first argument's.
 */
Datum
BloomAggReplaced(FunctionCallInfo fcinfo, Bloom *state, MemoryContext context)
{
	Datum		result;
	BloomLargeState *large;

	if (!PG_ARGISNULL(0) &&
		VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(PG_GETARG_DATUM(0))) &&
		(large = BloomAggLargeState(PG_GETARG_DATUM(0))) != NULL)
	{
		/* it was reallocated, so that the old one is gone */
		Assert(BloomStateIsOwned(state));
		large->state = state;
		return PG_GETARG_DATUM(0);
	}
	if (VARSIZE(state) < LARGE_STATE_SIZE || BloomIsValue(state))
		return PointerGetDatum(state);

	result = BloomAggFirst(state, context);
	pfree(state);
	return result;
}
