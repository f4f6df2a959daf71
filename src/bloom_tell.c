/*-------------------------------------------------------------------------
 *
 * bloom_tell.c
 *		Keys that are added one by one, each with the answer whether it is new.
 *
 * What bloom_seen and bloom_first have in common.  There are two forms:
 *
 *		(key)						a table of hashes: exact, grows
 *		(key, capacity, fp_prob)	a filter, never larger than its bits
 *
 * Few keys should not pay for the bits of their capacity.  So the second form
 * begins with a table as well, but only up to a sixteenth of what the bits
 * take.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "bloom_tell.h"

/* A table may have one key for so many words of the bit array */
#define WORDS_PER_TABLE_KEY		16

static void
Init(BloomTeller *teller, MemoryContext context, const BloomShape *shape)
{
	Bloom	   *state = BloomStateMake(shape);

	teller->state = BloomStateOwn(state, context);
	teller->fresh = 0;
	pfree(state);
}

/*
 * BloomTellerInit
 *		Begin with no keys, in the exact form.
 */
void
BloomTellerInit(BloomTeller *teller, MemoryContext context)
{
	BloomShape	shape = BloomShapeForCollecting(BLOOM_DEFAULT_FP_PROB);

	Init(teller, context, &shape);
	teller->is_exact = true;
	teller->look_at = PG_UINT64_MAX;
}

/*
 * BloomTellerInitSized
 *		Begin with no keys, in the form of a filter.  Checks both parameters.
 */
void
BloomTellerInitSized(BloomTeller *teller, MemoryContext context,
					 int64 capacity, double fp_prob)
{
	BloomShape	shape = BloomShapeForCapacity(capacity, fp_prob, 0);

	Init(teller, context, &shape);
	teller->is_exact = false;
	teller->look_at = Max(shape.bits / 64 / WORDS_PER_TABLE_KEY, 1);
}

/*
 * BloomTellerLook
 *		Make bits of a table that is large enough, or warn of too many keys.
 */
void
BloomTellerLook(BloomTeller *teller, bool *warned)
{
	Bloom	   *state = teller->state;

	if (BloomIsTable(state))
	{
		MemoryContext context = GetMemoryChunkContext(state);
		MemoryContext oldcontext = MemoryContextSwitchTo(context);

		teller->state = BloomStateToBits(state);
		pfree(state);
		MemoryContextSwitchTo(oldcontext);
	}
	/* the keys are counted one by one, so that they need no estimate */
	else if (teller->fresh > state->capacity && !*warned)
	{
		*warned = true;
		state->count = BloomCountBits(state);
		BloomWarnOverfull(state);
	}
	teller->look_at = teller->fresh > teller->state->capacity ? PG_UINT64_MAX :
		teller->state->capacity + 1;
}
