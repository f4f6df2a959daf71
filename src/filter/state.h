/*-------------------------------------------------------------------------
 *
 * filter/state.h
 *		A filter that is changed in place: an aggregate's transition state.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_STATE_H
#define BLOOM_STATE_H

#include "filter/format.h"

/* What happens when there are as many keys as the keys form can hold */
typedef enum BloomWhenFull
{
	BLOOM_TURN_INTO_BITS,		/* the shape is given */
	BLOOM_FAIL_WHEN_FULL		/* the shape is made at the end */
} BloomWhenFull;

/* The "version" of a state: a value has BLOOM_VERSION */
#define BLOOM_STATE			0xff

/* What is behind a state's content and its batch, at its very end */
typedef struct BloomStateTail
{
	uint32		waiting;		/* hashes in the batch */
	uint32		batch:31,		/* room for n hashes, at least 1 */
				is_owned:1;		/* grows by reallocation */
} BloomStateTail;

#define BloomStateTailOf(state) \
	((BloomStateTail *) ((char *) (state) + VARSIZE(state)) - 1)
#define BloomStateIsOwned(state) \
	(!BloomIsValue(state) && BloomStateTailOf(state)->is_owned)

extern BloomShape BloomShapeForCollecting(double fp_prob);
extern Bloom *BloomStateMake(const BloomShape *shape, BloomKind kind);
extern Bloom *BloomStateFrom(const Bloom *filter);
extern Bloom *BloomStateOwn(const Bloom *filter, MemoryContext context);
extern Bloom *BloomStateSetKeyType(Bloom *state,
								   const BloomKeyType *key_type);
extern Bloom *BloomStateFlush(Bloom *state, BloomWhenFull when_full);
extern void BloomCheckCanMerge(const Bloom *other, BloomWhenFull when_full);
extern Bloom *BloomStateMerge(Bloom *state, const Bloom *other,
							  BloomWhenFull when_full);
extern void BloomStateCompact(Bloom *state);
extern const Bloom *BloomStateToValue(Bloom *state, bool in_place);
extern const Bloom *BloomStateToFittedValue(Bloom *state, bool in_place);

/*
 * BloomStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomStateAdd(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	BloomStateTail *tail;

	if (unlikely(BloomIsValue(state)))
		state = BloomStateFrom(state);
	tail = BloomStateTailOf(state);
	((uint64 *) tail - tail->batch)[tail->waiting++] = hash;
	if (likely(tail->waiting < tail->batch))
		return state;
	return BloomStateFlush(state, when_full);
}

#endif							/* BLOOM_STATE_H */
