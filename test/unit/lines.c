/*-------------------------------------------------------------------------
 *
 * lines.c
 *		Test src/bits/blocked.h: a Bloom filter in cache lines.
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
test_best_lines(void)
{
	bool		found = true;
	bool		kept = true;
	bool		small = true;

	for (double p = BloomMinFpProb(); p < 1; p *= 1.01)
	{
		BloomParams params;
		BloomLineParams lines;

		found &= BloomBestParams(p, &params) && BloomBestLines(p, &lines);
		kept &= BloomLineRate(lines.bits_per_key, lines.lines, lines.hashes) <= p;
		small &= lines.bits_per_key <= ceil(params.bits_per_key * 1.1);
	}
	ok(found, "there are lines for every rate");
	ok(kept, "by the formula they keep it");
	ok(small, "they take at most a tenth more bits a key, rounded up");
}

/*
 * The largest filter of each rate can be allocated: it takes less than 1 GB,
 * with a line for the alignment.  Rates that are just at a step of the bits
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
				BloomLineParams lines;
				uint64		nlines;

				if (!BloomBestParams(fp_prob, &params) ||
					!BloomBestLines(fp_prob, &lines))
					abort();
				nlines = BloomLinesForCapacity(BloomMaxCapacity(params.bits_per_key),
											   lines.bits_per_key);
				fits &= (nlines + 1) * (BLOOM_LINE_BITS / 8) < UINT64CONST(0x3fffffff);
			}
		}
	}
	ok(fits, "the largest filter of each rate can be allocated");
}

/*
 * The formula for one hash is that of a filter in one piece: lines that have
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
		right &= BloomLineRate(bits, 1, 1) == BloomRate(bits, 1);
		for (int hashes = 2; hashes <= bits * M_LN2; hashes++)
			above &= BloomLineRate(bits, 1, hashes) > BloomRate(bits, hashes);
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
	BloomLineParams params;
	uint64		nlines;
	uint64	   *words;
	uint64	   *copy;
	uint64		random = capacity;
	uint64		keys;
	uint64		denied = 0;
	uint64		imagined = 0;
	char		name[200];

	if (!BloomBestLines(fp_prob, &params))
		abort();
	nlines = BloomLinesForCapacity(capacity, params.bits_per_key);
	words = calloc(nlines, BLOOM_LINE_BITS / 8);
	copy = malloc(nlines * (BLOOM_LINE_BITS / 8));

	keys = random;
	for (uint64 i = 0; i < capacity; i++)
		(void) BloomSetLines(words, nlines, params.lines, params.hashes,
							 next_random(&random));
	for (uint64 i = 0; i < capacity; i++)
		denied += BloomSetLines(words, nlines, params.lines, params.hashes,
								next_random(&keys));

	/* a test adds the key: its lines are put back */
	memcpy(copy, words, nlines * (BLOOM_LINE_BITS / 8));
	for (uint64 i = 0; i < probes; i++)
	{
		uint64		number = next_random(&random);
		uint64		a = number;

		imagined += !BloomSetLines(copy, nlines, params.lines, params.hashes,
								   number);
		for (int line = 0; line < params.lines; line++)
		{
			uint64		place = BloomMulHigh(a, nlines) * BLOOM_LINE_WORDS;

			memcpy(copy + place, words + place, BLOOM_LINE_BITS / 8);
			for (int i = 0; i < params.hashes; i += BLOOM_LINE_POSITIONS)
				(void) BloomNextNumber(&a);
			(void) BloomNextNumber(&a);
		}
	}
	snprintf(name, sizeof(name),
			 "%.0f keys at %g, %d lines: none is denied, %.4f of the rate asked",
			 (double) capacity, fp_prob, params.lines,
			 imagined / (probes * fp_prob));
	ok(denied == 0 && memcmp(copy, words, nlines * (BLOOM_LINE_BITS / 8)) == 0 &&
	   imagined <= probes * fp_prob + 4 * sqrt(probes * fp_prob * (1 - fp_prob)),
	   name);
	free(words);
	free(copy);
}

int
main(void)
{
	test_best_lines();
	test_largest();
	test_rate();
	for (uint64 capacity = 100; capacity <= 1000000; capacity *= 100)
		for (double fp_prob = 0.1; fp_prob > 2e-5; fp_prob /= 10)
			test_filter(capacity, fp_prob);
	return done_testing();
}
