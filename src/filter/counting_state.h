/*-------------------------------------------------------------------------
 *
 * filter/counting_state.h
 *		A counting filter that is changed in place: an aggregate's state.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef COUNTING_STATE_H
#define COUNTING_STATE_H

#include "filter/state.h"
#include "filter/counting_ops.h"

/* A list of counted keys, and others that wait; only in a state */
#define BLOOM_COUNTED_LIST		(BLOOM_COUNTING | BLOOM_LIST)

extern Bloom *BloomCountingStateMake(const BloomShape *shape);
extern Bloom *BloomCountingStateFrom(const Bloom *filter);
extern Bloom *BloomCountingStateNoteKeyType(Bloom *state,
											const BloomKeyType *key_type);
extern Bloom *BloomCountingStateAddToValue(const Bloom *value, uint64 hash);
extern Bloom *BloomCountingStateWorkOff(Bloom *state);
extern Bloom *BloomCountingStateMerge(Bloom *state, const Bloom *other);
extern Bloom *BloomCountingStatePublish(const Bloom *state);

/*
 * BloomCountingStateAdd
 *		Add one hash.  The result is the state, unless that had to grow.
 */
static inline Bloom *
BloomCountingStateAdd(Bloom *state, uint64 hash)
{
	BloomStateTail *tail = BloomStateTailOf(state);

	if (unlikely(BloomIsPublic(state)))
		return BloomCountingStateAddToValue(state, hash);

	((uint64 *) tail - tail->batch)[tail->waiting++] = hash;
	if (likely(tail->waiting < tail->batch))
		return state;
	return BloomCountingStateWorkOff(state);
}

#endif							/* COUNTING_STATE_H */
