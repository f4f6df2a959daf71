/*-------------------------------------------------------------------------
 *
 * bits/fold.c
 *		Fold the bits of a filter as far as a rate allows.
 *
 * In a fold, each bit is the disjunction of "factor" adjacent ones.  Since a
 * position is the high word of a product with the number of bits, that is just
 * where the keys' positions move when that number is divided by the factor.
 *
 * Which factor is best is not known before the fold is made.  Bits that were not
 * set by keys can make many factors fail, one after the other.  So each has to
 * fail fast: one look at a word either sets a bit of the result, of which there
 * may be only so many, or passes a word without more bits.  A fold of n words
 * takes at most n looks and as many more as bits may be set in the result.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "bits/bits.h"
#include "bits/fold.h"
#include "bits/sizing.h"

/*
 * Make a fold.  It is given up when it has more bits than these.
 */
static void
FoldBits(const uint64 *from, uint64 words, uint64 most, uint64 *to,
		 BloomFold *fold)
{
	uint8	   *bits = (uint8 *) to;
	uint64		position = 0;

	memset(to, 0, words / fold->factor * sizeof(uint64));
	fold->count = 0;
	while (position < words * 64 && fold->count <= most)
	{
		uint64		word = BloomLittleEndian64(from[position / 64]) >> position % 64;
		uint64		bit;

		BloomCheckInterrupts(fold->steps);
		fold->steps++;
		if (word == 0)
		{
			position = (position / 64 + 1) * 64;
			continue;
		}

		/* positions are less than 2^32, and shorter numbers divided faster */
		bit = (uint32) (position + pg_rightmost_one_pos64(word)) / fold->factor;
		bits[bit >> 3] |= 1 << (bit & 7);
		fold->count++;
		position = (bit + 1) * fold->factor;
	}
}

/*
 * BloomFoldToRate
 *		Make the smallest fold of these bits, of which "count" are set, whose
 *		rate is at most fp_prob.
 *
 * There is room for half of the words in the result.
 */
BloomFold
BloomFoldToRate(const uint64 *from, uint64 words, int hashes, uint64 count,
				double fp_prob, uint64 *to)
{
	BloomFold	fold = {1, count, 0};
	double		empty = 1 - count / (words * 64.0);
	double		fill = pow(fp_prob, 1.0 / hashes);
	double		most;

	/*
	 * Folding by f leaves about empty^f of the bits empty.  Begin where the
	 * rate that this predicts is a tenth too high, in case chance helps.
	 */
	if (empty <= 0)
		return fold;
	most = log1p(-pow(Min(1.1 * fp_prob, 0.99), 1.0 / hashes)) / log(empty);

	for (uint64 factor = (uint64) Min(most, words); factor > 1; factor--)
	{
		double		bits = words / factor * 64.0;

		BloomCheckInterrupts(factor);
		if (words % factor != 0)
			continue;
		fold.factor = (uint32) factor;

		/* one more, since this is rounded */
		FoldBits(from, words, (uint64) (fill * bits) + 1, to, &fold);
		if (BloomRateOfFill(fold.count / bits, hashes) <= fp_prob)
			return fold;
	}
	fold.factor = 1;
	fold.count = count;
	return fold;
}
