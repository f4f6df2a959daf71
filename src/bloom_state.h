/*-------------------------------------------------------------------------
 *
 * bloom_state.h
 *		An aggregate's transition state: a filter that is changed in place.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_STATE_H
#define BLOOM_STATE_H

#include "bloom_bits.h"
#include "bloom_format.h"
#include "bloom_setops.h"
#include "bloom_table.h"

/* Hashes that a large state collects before it puts them where they belong */
#define BLOOM_BATCH		64

/* What happens when there are as many keys as the keys form can hold */
typedef enum BloomWhenFull
{
	BLOOM_TURN_INTO_BITS,		/* the shape is given */
	BLOOM_FAIL_WHEN_FULL		/* the shape is made at the end */
} BloomWhenFull;

/* What a state has in "version", where a value has BLOOM_NOT_A_STATE */
#define BLOOM_NO_BATCH		2	/* a state without room for a batch */
#define BLOOM_EMPTY_BATCH	3	/* this, and the number of hashes in the batch */
#define BLOOM_OWNED			0x80	/* beside these: grows by reallocation */

#define BloomHasBatch(state) \
	(((state)->version & ~BLOOM_OWNED) >= BLOOM_EMPTY_BATCH)
#define BloomBatchSize(state) \
	(((state)->version & ~BLOOM_OWNED) - BLOOM_EMPTY_BATCH)

#define BloomIsTable(filter)	((filter)->representation == BLOOM_TABLE)

extern BloomShape BloomShapeForCollecting(double fp_prob);
extern Bloom *BloomStateMake(const BloomShape *shape);
extern Bloom *BloomStateFrom(const Bloom *filter);
extern Bloom *BloomStateOwn(const Bloom *state, MemoryContext context);
extern Bloom *BloomStateNoteKeyType(Bloom *state,
									const BloomKeyType *key_type);
extern Bloom *BloomStateGrow(Bloom *state, BloomWhenFull when_full);
extern Bloom *BloomStateAddSmall(Bloom *state, uint64 hash,
								 BloomWhenFull when_full);
extern Bloom *BloomStateAddAndTell(Bloom *state, uint64 hash,
								   BloomWhenFull when_full, bool *fresh);
extern Bloom *BloomStateToBits(const Bloom *table);
extern Bloom *BloomStateWorkOff(Bloom *state, BloomWhenFull when_full);
extern Bloom *BloomStateMerge(Bloom *state, const Bloom *other,
							  BloomWhenFull when_full);
extern const Bloom *BloomStatePublish(Bloom *state);
extern const Bloom *BloomStatePublishFitted(Bloom *state);

/* The number of slots of a table, without the batch behind it */
static inline uint64
BloomStateSlots(const Bloom *state)
{
	return (VARSIZE(state) - BloomPrefixSize(state)) / sizeof(uint64) -
		(BloomHasBatch(state) ? BLOOM_BATCH : 0);
}

static inline uint64 *
BloomStateBatch(Bloom *state)
{
	return (uint64 *) ((char *) state + VARSIZE(state)) - BLOOM_BATCH;
}

/*
 * BloomStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomStateAdd(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	if (unlikely(!BloomHasBatch(state)))
		return BloomStateAddSmall(state, hash, when_full);

	BloomStateBatch(state)[BloomBatchSize(state)] = hash;
	state->version++;
	if (likely(BloomBatchSize(state) < BLOOM_BATCH))
		return state;
	return BloomStateWorkOff(state, when_full);
}

#endif							/* BLOOM_STATE_H */
