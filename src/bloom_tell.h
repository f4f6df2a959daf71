/*-------------------------------------------------------------------------
 *
 * bloom_tell.h
 *		Keys that are added one by one, each with the answer whether it is new.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TELL_H
#define BLOOM_TELL_H

#include "bloom_state.h"

/*
 * The keys of one scan, or of one partition of a window.
 *
 * Its memory is that of its state, and goes with the context it was made in.
 */
typedef struct BloomTeller
{
	Bloom	   *state;			/* owned; NULL before BloomTellerInit */
	bool		is_exact;
	uint64		fresh;			/* keys that were new */
	uint64		look_at;		/* when there are so many, see to the state */
} BloomTeller;

extern void BloomTellerInit(BloomTeller *teller, MemoryContext context);
extern void BloomTellerInitSized(BloomTeller *teller, MemoryContext context,
								 int64 capacity, double fp_prob);
extern void BloomTellerLook(BloomTeller *teller, bool *warned);

/*
 * BloomTell
 *		Add a hash.  True: it was not there.
 *
 * There is one WARNING, when there are more keys than the capacity, unless
 * *warned is true already.
 */
static inline bool
BloomTell(BloomTeller *teller, uint64 hash, bool *warned)
{
	bool		fresh;

	teller->state =
		BloomStateAddAndTell(teller->state, hash,
							 teller->is_exact ? BLOOM_FAIL_WHEN_FULL :
							 BLOOM_TURN_INTO_BITS, &fresh);
	if (fresh && unlikely(++teller->fresh >= teller->look_at))
		BloomTellerLook(teller, warned);
	return fresh;
}

#endif							/* BLOOM_TELL_H */
