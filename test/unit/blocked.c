/*-------------------------------------------------------------------------
 *
 * blocked.c
 *		Test src/bits/blocked.h: a blocked Bloom filter.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "bits/blocked.h"

/* c.h has its own, which we do not link */
#undef snprintf

/*
 * Every rate that best_params reaches can be had, in at most a tenth more
 * bits, which is rounded up.
 */
static void
test_best(void)
{
	bool		found = true;
	bool		kept = true;
	bool		small = true;

	for (double p = BloomMinFpProb(); p < 1; p *= 1.01)
	{
		BloomParams params;
		BloomBlockedParams blocked;

		found &= BloomBestParams(p, &params) && BloomBestBlocked(p, &blocked);
		kept &= BloomBlockedRate(blocked.bits_per_key, blocked.blocks, blocked.hashes) <= p;
		small &= blocked.bits_per_key <= ceil(params.bits_per_key * 1.1);
	}
	ok(found, "there are blocks for every rate");
	ok(kept, "by the formula they keep it");
	ok(small, "they take at most a tenth more bits a key, rounded up");
}

/*
 * The largest filter of each rate can be allocated: it takes less than 1 GB,
 * with a block for the alignment.  Rates that are just at a step of the bits
 * per key, which best_params returns, may take a bit more.
 */
static void
test_largest(void)
{
	bool		fits = true;

	for (int bits = 1; bits <= 12; bits++)
	{
		for (int hashes = 1; hashes <= bits; hashes++)
		{
			double		fp_prob = nextafter(BloomRate(bits, hashes), 0);

			for (int i = 0; i < 4; i++, fp_prob = nextafter(fp_prob, 1))
			{
				BloomParams params;
				BloomBlockedParams blocked;
				uint64		nblocks;

				if (!BloomBestParams(fp_prob, &params) ||
					!BloomBestBlocked(fp_prob, &blocked))
					abort();
				nblocks = BloomBlocksForCapacity(BLOOM_MAX_BITS / params.bits_per_key,
											   blocked.bits_per_key);
				fits &= (nblocks + 1) * (BLOOM_BLOCK_BITS / 8) < UINT64CONST(0x3fffffff);
			}
		}
	}
	ok(fits, "the largest filter of each rate can be allocated");
}

/*
 * The formula for one hash is that of a filter in one piece: blocks that have
 * more keys make up for those with fewer, since the rate is linear in the
 * fill.
 */
static void
test_rate(void)
{
	bool		right = true;
	bool		above = true;

	for (double bits = 1; bits <= 64; bits++)
	{
		right &= BloomBlockedRate(bits, 1, 1) == BloomRate(bits, 1);
		for (int hashes = 2; hashes <= bits * M_LN2; hashes++)
			above &= BloomBlockedRate(bits, 1, hashes) > BloomRate(bits, hashes);
	}
	ok(right, "with one hash, the rate is that of a filter in one piece");
	ok(above, "with more, up to the best number, it is higher");
}

/*
 * Fill a filter to its capacity.  No key is denied; and the rate is what was
 * asked for, but for chance: of n absent keys, n p (1 - p) is the variance of
 * how many are imagined, and four standard errors are passed once in 30,000
 * filters.  The seeds are fixed.
 */
static void
test_filter(uint64 capacity, double fp_prob)
{
	uint64		probes = (uint64) Max(100000, Min(1000 / fp_prob, 1000000));
	BloomBlockedParams params;
	uint64		nblocks;
	uint64	   *words;
	uint64		random = capacity;
	uint64		keys;
	uint64		denied = 0;
	uint64		imagined = 0;
	char		name[200];

	if (!BloomBestBlocked(fp_prob, &params))
		abort();
	nblocks = BloomBlocksForCapacity(capacity, params.bits_per_key);
	words = calloc(nblocks, BLOOM_BLOCK_BITS / 8);

	keys = random;
	for (uint64 i = 0; i < capacity; i++)
		(void) BloomBlockedAdd(words, nblocks, &params, next_random(&random));
	for (uint64 i = 0; i < capacity; i++)
	{
		uint64		number = next_random(&keys);

		denied += BloomBlockedLacks(words, nblocks, &params, number) ||
			BloomBlockedAdd(words, nblocks, &params, number);
	}
	for (uint64 i = 0; i < probes; i++)
		imagined += !BloomBlockedLacks(words, nblocks, &params, next_random(&random));
	snprintf(name, sizeof(name),
			 "%.0f keys at %g, %d blocks: none is denied, %.4f of the rate asked",
			 (double) capacity, fp_prob, params.blocks,
			 imagined / (probes * fp_prob));
	ok(denied == 0 &&
	   imagined <= probes * fp_prob + 4 * sqrt(probes * fp_prob * (1 - fp_prob)),
	   name);
	free(words);
}

int
main(void)
{
	test_best();
	test_largest();
	test_rate();
	for (uint64 capacity = 100; capacity <= 1000000; capacity *= 100)
		for (double fp_prob = 0.1; fp_prob > 2e-5; fp_prob /= 10)
			test_filter(capacity, fp_prob);
	return done_testing();
}
