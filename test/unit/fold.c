/*-------------------------------------------------------------------------
 *
 * fold.c
 *		Test src/bits/fold.c: the smallest fold within a rate, and how many
 *		words it looks at.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "tap.h"

#include "bits/bits.h"
#include "bits/fold.h"
#include "bits/sizing.h"

/* 5,765,760 bytes: a number of words with 240 divisors */
#define CRAFTED_WORDS	720720

static void
set_bit(uint64 *words, uint64 bit)
{
	((uint8 *) words)[bit >> 3] |= 1 << (bit & 7);
}

static uint64
count_bits(const uint64 *words, uint64 nwords)
{
	uint64		count = 0;

	for (uint64 i = 0; i < nwords; i++)
		count += __builtin_popcountll(words[i]);
	return count;
}

/* The factor that the search begins with */
static double
first_factor(uint64 words, int hashes, uint64 count, double fp_prob)
{
	double		fill = pow(fmin(1.1 * fp_prob, 0.99), 1.0 / hashes);

	return fmin(words, log1p(-fill) / log(1 - count / (words * 64.0)));
}

/* The same search bit by bit. */
static uint64
slow_fold(const uint64 *from, uint64 words, int hashes, double fp_prob, uint64 *to)
{
	uint64		count = count_bits(from, words);

	if (count == words * 64)
		return 1;
	for (uint64 factor = first_factor(words, hashes, count, fp_prob); factor > 1; factor--)
	{
		if (words % factor != 0)
			continue;
		memset(to, 0, words / factor * sizeof(uint64));
		for (uint64 bit = 0; bit < words * 64; bit++)
			if (BloomGetBit((const uint8 *) from, bit))
				set_bit(to, bit / factor);
		if (pow(count_bits(to, words / factor) / (words / factor * 64.0), hashes) <= fp_prob)
			return factor;
	}
	return 1;
}

/* Random bits, in all of the words or in a part of them. */
static void
test_result(void)
{
	static uint64 from[360];
	static uint64 to[360];
	static uint64 expected[360];
	uint64		random = 20261123;
	bool		right = true;
	int			folded = 0;
	int			not_folded = 0;

	for (int i = 0; i < 600; i++)
	{
		uint64		words = 1 + next_random(&random) % 360;
		uint64		part = 1 + next_random(&random) % words;
		uint64		nbits = 1 + next_random(&random) % (words * (i % 2 ? 4 : 100));
		int			hashes = 1 + next_random(&random) % (i % 3 ? 8 : 64);
		double		fp_prob = pow(0.5 + 0.4999 * (next_random(&random) % 1000) / 1000, hashes);
		uint64		factor;
		BloomFold	fold;

		memset(from, 0, sizeof(from));
		while (nbits-- > 0)
			set_bit(from, (words - part) * 64 + next_random(&random) % (part * 64));
		factor = slow_fold(from, words, hashes, fp_prob, expected);
		fold = BloomFoldToRate(from, words, hashes, count_bits(from, words), fp_prob, to);
		right &= fold.factor == factor;
		if (factor > 1)
			right &= fold.count == count_bits(to, words / factor) &&
				memcmp(to, expected, words / factor * sizeof(uint64)) == 0;
		folded += factor > 1;
		not_folded += factor == 1;
	}
	ok(right, "a fold is the one that is found bit by bit");
	ok(folded > 100 && not_folded > 100, "there were both");
}

/*
 * Bits at equal distances fill every fold by more than that, so that all of
 * them fail, from the first factor down to about the distance.
 */
static void
test_steps(void)
{
	uint64	   *from = calloc(CRAFTED_WORDS, sizeof(uint64));
	uint64	   *to = calloc(CRAFTED_WORDS, sizeof(uint64));
	const double rates[] = {0.01, 0.99};
	bool		bounded = true;
	uint64		most_steps = 0;
	int			most_tried = 0;

	for (uint64 distance = 2; distance < 1000; distance = distance * 2 + 1)
	{
		uint64		count;

		memset(from, 0, CRAFTED_WORDS * sizeof(uint64));
		for (uint64 bit = 0; bit < CRAFTED_WORDS * UINT64CONST(64); bit += distance)
			set_bit(from, bit);
		count = count_bits(from, CRAFTED_WORDS);
		for (int i = 0; i < (int) lengthof(rates); i++)
		{
			BloomFold	fold = BloomFoldToRate(from, CRAFTED_WORDS, 64, count, rates[i], to);
			double		bound = 0;
			int			tried = 0;

			for (uint64 factor = first_factor(CRAFTED_WORDS, 64, count, rates[i]);
				 factor >= fold.factor && factor > 1; factor--)
			{
				if (CRAFTED_WORDS % factor != 0)
					continue;
				tried++;
				bound += CRAFTED_WORDS + 64.0 * CRAFTED_WORDS / factor;
			}
			bounded &= fold.steps <= bound;
			most_steps = Max(most_steps, fold.steps);
			most_tried = Max(most_tried, tried);
		}
	}
	printf("# at most %d factors are tried, and %.1f words are looked at for each word\n",
		   most_tried, most_steps / (double) CRAFTED_WORDS);
	ok(bounded, "a fold looks once at each word, and once more for each of its bits");
	ok(most_tried >= 50, "bits at equal distances make many factors fail");
	/* 64 / f, over all 239 divisors f from 2 on, sum up to 225 */
	ok(most_steps <= UINT64CONST(225) * CRAFTED_WORDS, "and these together look at few words");
	free(from);
	free(to);
}

int
main(void)
{
	test_result();
	test_steps();
	return done_testing();
}
