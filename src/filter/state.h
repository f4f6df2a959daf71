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

#include "bits/bits.h"
#include "filter/format.h"
#include "filter/setops.h"
#include "bits/table.h"

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
	uint64		secret;			/* of a table's entries */
	uint32		waiting;		/* hashes in the batch */
	uint32		batch:31,		/* room for so many */
				is_owned:1;		/* grows by reallocation */
} BloomStateTail;

#define BloomStateTailOf(state) \
	((BloomStateTail *) ((char *) (state) + VARSIZE(state)) - 1)
#define BloomStateIsOwned(state) \
	(!BloomIsPublic(state) && BloomStateTailOf(state)->is_owned)

#define BloomIsTable(filter)	((filter)->representation == BLOOM_TABLE)
#define BloomIsList(filter)		((filter)->representation == BLOOM_LIST)

extern BloomShape BloomShapeForCollecting(double fp_prob);
extern Bloom *BloomStateMake(const BloomShape *shape);
extern Bloom *BloomStateFrom(const Bloom *filter);
extern Bloom *BloomStateToTell(const Bloom *filter);
extern Bloom *BloomStateOwn(const Bloom *state, MemoryContext context);
extern Bloom *BloomStateNoteKeyType(Bloom *state,
									const BloomKeyType *key_type);
extern Bloom *BloomStateAddSlowly(Bloom *state, uint64 hash,
								  BloomWhenFull when_full);
extern Bloom *BloomStateAddAndTell(Bloom *state, uint64 hash,
								   BloomWhenFull when_full, bool *fresh);
extern Bloom *BloomStateToBits(const Bloom *state);
extern Bloom *BloomStateWorkOff(Bloom *state, BloomWhenFull when_full);
extern void BloomCheckCanMerge(const Bloom *other, BloomWhenFull when_full);
extern Bloom *BloomStateMerge(Bloom *state, const Bloom *other,
							  BloomWhenFull when_full);
extern const Bloom *BloomStatePublish(Bloom *state);
extern const Bloom *BloomStatePublishFitted(Bloom *state);

#ifdef USE_ASSERT_CHECKING
extern void AssertCheckState(const Bloom *state);
#else
#define AssertCheckState(state)	((void) 0)
#endif

/*
 * BloomStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomStateAdd(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	BloomStateTail *tail = BloomStateTailOf(state);

	if (unlikely(state->version != BLOOM_STATE || tail->batch == 0))
		return BloomStateAddSlowly(state, hash, when_full);

	((uint64 *) tail - tail->batch)[tail->waiting++] = hash;
	if (likely(tail->waiting < tail->batch))
		return state;
	return BloomStateWorkOff(state, when_full);
}

#endif							/* BLOOM_STATE_H */
