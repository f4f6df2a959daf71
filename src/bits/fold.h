/*-------------------------------------------------------------------------
 *
 * bits/fold.h
 *		Fold the bits of a filter as far as a rate allows.
 *
 * Nothing here needs a server: c.h and libm are enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_FOLD_H
#define BLOOM_FOLD_H

typedef struct BloomFold
{
	uint32		factor;			/* adjacent bits that are merged into one; 1:
								 * no fold */
	uint64		count;			/* bits set in the result */
	uint64		steps;			/* words looked at, for all factors */
} BloomFold;

extern BloomFold BloomFoldToRate(const uint64 *from, uint64 words, int hashes,
								 uint64 count, double fp_prob, uint64 *to);

#endif							/* BLOOM_FOLD_H */
