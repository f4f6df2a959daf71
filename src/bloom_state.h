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

/* Values of "pending", besides BLOOM_NOT_A_STATE */
#define BLOOM_NO_RING		1	/* a state without a ring */
#define BLOOM_RING			2	/* this, and the index of the oldest hash */
#define BLOOM_OWNED			0x80	/* beside these: grows by reallocation */

#define BloomHasRing(state)		(((state)->pending & ~BLOOM_OWNED) >= BLOOM_RING)

#define BloomIsTable(filter)	((filter)->representation == BLOOM_TABLE)

extern BloomShape BloomShapeForCollecting(double fp_prob);
extern Bloom *BloomStateMake(const BloomShape *shape);
extern Bloom *BloomStateFrom(const Bloom *filter);
extern Bloom *BloomStateOwn(const Bloom *state, MemoryContext context);
extern Bloom *BloomStateGrow(Bloom *state, BloomWhenFull when_full);
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
		(BloomHasRing(state) ? BLOOM_PENDING : 0);
}

/*
 * BloomStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomStateAdd(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	if (likely((state->pending & ~BLOOM_OWNED) == BLOOM_NO_RING))
	{
		uint64		slots;

		if (BloomIsBits(state))
		{
			(void) BloomSetBits(BloomBitData(state), BloomBits(state),
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
	return BloomStateAddSlow(state, hash, when_full);
}

#endif							/* BLOOM_STATE_H */
