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

/* Hashes that wait in a state for their cache lines; a power of two */
#define BLOOM_PENDING		16

/* What happens when there are as many keys as the keys form can hold */
typedef enum BloomWhenFull
{
	BLOOM_TURN_INTO_BITS,		/* the shape is given */
	BLOOM_FAIL_WHEN_FULL		/* the shape is made at the end */
} BloomWhenFull;

#define BloomIsTable(filter)	((filter)->representation == BLOOM_TABLE)

/* Is this a value, or a state that only this file understands? */
#define BloomIsPublic(filter) \
	((filter)->representation != BLOOM_TABLE && (filter)->pending == 0)

extern BloomShape BloomShapeForCollecting(double fp_prob);
extern Bloom *BloomStateMake(const BloomShape *shape);
extern Bloom *BloomStateFrom(const Bloom *filter);
extern Bloom *BloomStateGrow(Bloom *state, BloomWhenFull when_full);
extern Bloom *BloomStateToBits(Bloom *state);
extern Bloom *BloomStateAddSlow(Bloom *state, uint64 hash,
								BloomWhenFull when_full);
extern Bloom *BloomStateMerge(Bloom *state, const Bloom *other,
							  BloomWhenFull when_full);
extern const Bloom *BloomStatePublish(Bloom *state);
extern const Bloom *BloomStatePublishFitted(Bloom *state);

/* The number of slots of a table, without the pending hashes behind it */
static inline uint64
BloomStateSlots(const Bloom *state)
{
	return (VARSIZE(state) - BLOOM_HEADER_SIZE) / sizeof(uint64) -
		(state->pending != 0 ? BLOOM_PENDING : 0);
}

/*
 * BloomStateSettle
 *		Put one hash into the content of a table or bits state, past the ring.
 */
static inline Bloom *
BloomStateSettle(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	uint64		slots;

	if (BloomIsBits(state))
	{
		state->count += BloomSetBits(BloomBitData(state), BloomBits(state),
									 state->hashes, hash);
		return state;
	}

	slots = BloomStateSlots(state);
	if (!BloomTableInsert(state->data, slots, hash))
		return state;
	if (++state->count < BloomTableRoom(slots) &&
		BloomHoldsAsKeys(state->words, state->count))
		return state;
	return BloomStateGrow(state, when_full);
}

/*
 * BloomStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomStateAdd(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	if (state->pending == 0 && !BloomIsKeys(state))
		return BloomStateSettle(state, hash, when_full);
	return BloomStateAddSlow(state, hash, when_full);
}

/*
 * BloomStateAddAndTell
 *		The same, and was the hash (certainly) not there before?
 *
 * For states that nothing else adds to: a hash that waits in the ring would
 * not be seen.
 */
static inline Bloom *
BloomStateAddAndTell(Bloom *state, uint64 hash, BloomWhenFull when_full,
					 bool *fresh)
{
	uint64		count = state->count;
	Bloom	   *next = BloomStateSettle(state, hash, when_full);

	/* counted before growing, as keys or as bits */
	*fresh = state->count != count;
	return next;
}

#endif							/* BLOOM_STATE_H */
