/*-------------------------------------------------------------------------
 *
 * set_size.c
 *		Test src/set/size.c: the arithmetic of stored sets.
 *
 * Rates are compared with those of buckets that are filled here, with bits at
 * random: without the formulas.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "bits/sizing.h"
#include "set/size.h"

#define MAX_WORDS	133			/* of the filter of a bucket */

/* What bloom_set_create makes of these. */
static bool
make(StoredSetParams *params, int64 capacity, double fp_prob, int64 keep,
	 int32 slices, bool grows)
{
	memset(params, 0, sizeof(StoredSetParams));
	params->capacity = capacity;
	params->fp_prob = fp_prob;
	params->keep = keep;
	params->slices = slices;
	params->grows = grows;
	if (!StoredSetSize(params))
		return false;
	StoredSetDerive(params);
	return true;
}

static bool
near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * Max(fabs(a), fabs(b));
}

/* How many bits a number of keys sets. */
static int
bits_set_by(int64 keys, int64 bits, int hashes, uint64 *state)
{
	uint64		words[MAX_WORDS] = {0};
	int			set = 0;

	for (int64 i = 0; i < keys * hashes; i++)
	{
		uint64		bit = BloomMulHigh(next_random(state), (uint64) bits);

		set += (words[bit / 64] >> bit % 64 & 1) == 0;
		words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
	return set;
}

/*
 * Fill all buckets of a set with its capacity.  The result is the mean rate of the
 * buckets, and the share of those that have no place for one more key.
 */
static double
fill(const StoredSetParams *params, uint64 seed, double *full)
{
	int64	   *keys = calloc(params->buckets, sizeof(int64));
	double		rate = 0;

	for (int64 i = 0; i < params->capacity; i++)
		keys[StoredSetBucketOf(params, 0, next_random(&seed))]++;
	*full = 0;
	for (int32 i = 0; i < params->buckets; i++)
	{
		int			set = bits_set_by(keys[i], params->bits, params->hashes, &seed);

		rate += pow((double) set / params->bits, params->hashes);
		*full += set + params->hashes > params->bits / 2;
	}
	free(keys);
	*full /= params->buckets;
	return rate / params->buckets;
}

/*
 * The rate of a bucket varies by a part d of the mean: 0.16 at one percent, 0.45
 * at 1e-6.  So the mean of B buckets is wrong by 5 d / sqrt(B) once in 3 million
 * times: by 0.8 and 1.8 percent.
 */
static void
test_rates(void)
{
	StoredSetParams params;
	double		full;
	double		rate;

	make(&params, 9000000, 0.01, 0, 8, false);
	rate = fill(&params, 1, &full) / 0.01;
	ok(params.buckets > 10000 && rate > 0.96 && rate < 1.008,
	   "buckets of a set that does not grow have the rate on average: 0.01");
	make(&params, 4500000, 1e-6, 0, 8, false);
	rate = fill(&params, 2, &full) / 1e-6;
	ok(params.buckets > 15000 && rate > 0.95 && rate < 1.018,
	   "buckets of a set that does not grow have the rate on average: 1e-6");

	/* of 12,000 buckets, 75 are full on average, 8.7 the standard deviation */
	make(&params, 8000000, 0.01, 0, 8, true);
	rate = fill(&params, 3, &full);
	ok(params.buckets > 11000 && full > 1 / 320.0 && full < 1 / 80.0,
	   "of a set that grows, about one bucket in 160 is full at its capacity");
	ok(rate < 0.01 / 2, "and it has less than the first generation's half of the rate");
}

/* In the whole range of parameters. */
static void
test_sizes(void)
{
	StoredSetParams params;
	bool		in_range = true;
	bool		grown = true;
	bool		one = true;
	bool		slices = true;
	int			sets = 0;

	for (double capacity = 1; capacity < 1e13; capacity *= 7.3)
		for (double fp_prob = 0.99; fp_prob > 1e-13; fp_prob /= 3.7)
			for (int keeps = 0; keeps <= 30; keeps += 10)
				for (int grows = 0; grows < 2; grows++)
				{
					if (fp_prob / (keeps + 1) < BloomMinFpProb() ||
						!make(&params, (int64) capacity, fp_prob,
							  keeps * USECS_PER_HOUR, Max(keeps, 1), grows))
						continue;
					sets++;
					in_range &= StoredSetCheckParams(&params) == NULL;
					grown &= params.generations == 1 ||
						ldexp(1, -params.hashes) <= StoredSetSliceRate(&params) / 2;
					if (!grows && params.buckets == 1)
						one &= BloomRate((double) params.bits / params.bucket_capacity,
										 params.hashes) <= StoredSetSliceRate(&params) * 1.01;
					slices &= StoredSetSliceCapacity(&params) * params.slices >= params.capacity &&
						(StoredSetSliceCapacity(&params) - 1) * params.slices < params.capacity &&
						0 - expm1((keeps + 1) * log1p(-StoredSetSliceRate(&params))) <= fp_prob * (1 + 1e-9) &&
						params.bucket_capacity * params.buckets >= StoredSetSliceCapacity(&params) * (1 - 1e-12);
				}
	ok(sets > 2000 && in_range, "what StoredSetSize makes is in range");
	ok(grown, "the first generation has at most half of the rate");
	ok(one, "one filter is enough for few keys");
	ok(slices, "the slices have the capacity together, and at most the rate");
	ok(!make(&params, STORED_SET_MAX_CAPACITY, 1e-9, 0, 8, false) &&
	   !make(&params, STORED_SET_MAX_CAPACITY, 0.5, 0, 8, true) &&
	   make(&params, INT64CONST(1) << 40, 0.01, 0, 8, true) &&
	   params.generations == 1, "there are as many buckets as numbers");
}

static void
test_generations(void)
{
	StoredSetParams params;
	bool		parts = true;
	bool		fewest = true;
	bool		sum = true;
	bool		within = true;
	bool		numbers = true;

	for (double fp_prob = 0.9; fp_prob > 1e-13; fp_prob /= 1.9)
	{
		double		rates = 0;

		if (!make(&params, 1000, fp_prob, 0, 8, true))
			continue;
		within &= params.generations <= STORED_SET_MAX_GENERATIONS &&
			StoredSetBucketsBefore(&params, params.generations) <= PG_INT32_MAX &&
			(StoredSetBucketsBefore(&params, params.generations + 1) > PG_INT32_MAX ||
			 StoredSetHashes(&params, params.generations) > BLOOM_MAX_HASHES);
		for (int g = 0; g < params.generations; g++)
		{
			int			hashes = StoredSetHashes(&params, g);
			double		part = (g + 1) * (g + 2);

			/* with half of its bits set */
			parts &= ldexp(1, -hashes) <= fp_prob / part;
			fewest &= ldexp(1, -hashes + 1) * part > ldexp(1, -params.hashes) * 2;
			rates += ldexp(1, -hashes);
			within &= hashes <= BLOOM_MAX_HASHES;
			numbers &= StoredSetGeneration(&params, (int32) StoredSetBucketsBefore(&params, g)) == g &&
				StoredSetGeneration(&params, (int32) (StoredSetBucketsBefore(&params, g + 1) - 1)) == g;
			/* (1 - 1/m)^(n k) = 1/2 */
			parts &= near(pow(1 - 1.0 / params.bits, StoredSetKeysOfHalf(&params, g) * hashes),
						  0.5, 0.001);
		}
		sum &= rates <= fp_prob;
		numbers &= StoredSetGeneration(&params, (int32) StoredSetBucketsBefore(&params, params.generations)) == -1 &&
			StoredSetGeneration(&params, PG_INT32_MAX) == -1;
	}
	ok(parts, "a generation has its part of the rate");
	ok(fewest, "with the fewest hashes");
	ok(sum, "all generations together have the rate");
	ok(within, "there are as many generations as have numbers and hashes");
	ok(numbers && StoredSetGeneration(&params, 0) == 0 &&
	   StoredSetGeneration(&params, -1) == -1 &&
	   StoredSetGeneration(&params, PG_INT32_MIN) == -1,
	   "StoredSetGeneration");
	make(&params, 1000, 0.01, 0, 8, false);
	ok(params.generations == 1 && StoredSetGeneration(&params, params.buckets) == -1,
	   "a set that does not grow has one");
}

static void
test_buckets(void)
{
	static const int32 buckets[] = {1, 2, 3, 5, 150, 65536, 1000003, PG_INT32_MAX};
	uint64		state = 4;
	bool		first = true;
	bool		below = true;
	bool		in_order = true;
	bool		in_range = true;
	bool		even = true;

	for (int b = 0; b < (int) lengthof(buckets); b++)
	{
		StoredSetParams params = {.capacity = 1000,.fp_prob = 0.01,.slices = 8,
			.buckets = buckets[b],.bits = 8512,.hashes = 8,.grows = true};
		int64		halves = 0;

		StoredSetDerive(&params);
		for (int i = 0; i < 40000; i++)
		{
			uint64		place = i == 0 ? 0 : i == 1 ? PG_UINT64_MAX : next_random(&state);
			uint64		other = next_random(&state);

			for (int g = 0; g < params.generations; g++)
			{
				int32		bucket = StoredSetBucketOf(&params, g, place);

				in_range &= StoredSetGeneration(&params, bucket) == g;
				first &= StoredSetFirstBucket(&params, bucket) ==
					StoredSetBucketOf(&params, 0, place);
				in_order &= place > other ||
					bucket <= StoredSetBucketOf(&params, g, other);
				if (g + 1 < params.generations)
				{
					int32		next = StoredSetBucketOf(&params, g + 1, place);
					int			half = next == StoredSetBucketBelow(&params, bucket, 1);

					below &= next == StoredSetBucketBelow(&params, bucket, half);
					halves += g == 0 ? half : 0;
				}
			}
		}
		/* 40,000 tosses of a coin, and 5 standard deviations */
		even &= params.generations == 1 || (halves >= 19500 && halves <= 20500);
		in_range &= StoredSetBucketOf(&params, 0, PG_UINT64_MAX) == params.buckets - 1;
	}
	ok(in_range, "StoredSetBucketOf is a bucket of the generation");
	ok(in_order, "in the order of places, as calls lock them");
	ok(first, "StoredSetFirstBucket is that of the same place");
	ok(below, "StoredSetBucketBelow has the keys of the same places");
	ok(even, "half of them each");
}

static void
test_keys_left(void)
{
	Bloom		filter = {.version = BLOOM_VERSION,.words = MAX_WORDS};
	uint64		half = BloomBits(&filter) / 2;
	uint64		state = 5;
	bool		bits = true;
	bool		keys = true;

	for (int hashes = 1; hashes <= BLOOM_MAX_HASHES; hashes++)
	{
		filter.hashes = hashes;
		filter.representation = BLOOM_BITS;
		for (uint64 count = 1; count <= BloomBits(&filter); count++)
		{
			uint64		left;

			filter.count = count;
			left = StoredSetKeysLeft(&filter);
			bits &= left == 0 || count + left * hashes <= half;
			bits &= count + (left + 1) * hashes > half;
		}
		filter.representation = BLOOM_KEYS;
		for (uint64 count = 0; count < filter.words; count++)
		{
			filter.count = count;
			/* with as many keys as words, it turns into bits */
			keys &= count + StoredSetKeysLeft(&filter) ==
				filter.words - (hashes > 41 ? 1 : 0);
		}
		/* these are then less than half full, by 7 standard deviations */
		for (int i = 0; hashes <= 41 && i < 50; i++)
			keys &= bits_set_by(filter.words, BloomBits(&filter), hashes,
								&state) <= (int) half;
	}
	ok(bits, "StoredSetKeysLeft of bits: as many keys as can set half of them");
	ok(keys, "StoredSetKeysLeft of keys");
}

static void
test_slices(void)
{
	static const int64 lengths[] = {1, 2, 7, USECS_PER_SEC, USECS_PER_DAY + 1,
	STORED_SET_MAX_KEEP};
	uint64		state = 6;
	StoredSetParams params;
	bool		right = true;

	for (int i = 0; i < (int) lengthof(lengths); i++)
	{
		params = (StoredSetParams)
		{
			.capacity = 1000,.fp_prob = 0.01,.keep = lengths[i],.slices = 1,
				.buckets = 1
		};
		StoredSetDerive(&params);
		right &= params.slice_length == lengths[i];
		for (int j = 0; j < 10000; j++)
		{
			int64		length = params.slice_length;
			TimestampTz at = j == 0 ? MIN_TIMESTAMP : j == 1 ? END_TIMESTAMP - 1 :
			j < 100 ? (j - 50) / 3 * length + j % 3 - 1 :
			(int64) next_random(&state) / 100;
			TimestampTz slice = StoredSetSliceOf(&params, at);

			right &= slice <= at && at - slice < length && slice % length == 0;
		}
	}
	ok(right, "StoredSetSliceOf: the multiple of the length before, also of negative times");

	right = true;
	for (int slices = 1; slices <= STORED_SET_MAX_SLICES; slices++)
		for (int i = 0; i < 20; i++)
		{
			params = (StoredSetParams)
			{
				.capacity = 1000,.fp_prob = 0.01,
					.keep = slices + (int64) (next_random(&state) % (i < 10 ? 100 : STORED_SET_MAX_KEEP)),
					.slices = slices,.buckets = 1
			};
			StoredSetDerive(&params);
			right &= params.slice_length * slices >= params.keep &&
				(params.slice_length - 1) * slices < params.keep;
		}
	ok(right, "the slices have the whole of keep, rounded up");
	params.keep = 0;
	StoredSetDerive(&params);
	ok(StoredSetSliceOf(&params, 12345) == DT_NOBEGIN && params.slice_length == 0 &&
	   StoredSetSliceRate(&params) == 0.01 && StoredSetSliceCapacity(&params) == 1000,
	   "for ever");
}

static void
test_rate_of_slice(void)
{
	StoredSetParams params;
	double		rates[STORED_SET_MAX_GENERATIONS] = {0};
	double		right = 1;

	make(&params, 1000, 0.01, 0, 8, true);
	ok(StoredSetRateOfSlice(&params, rates) == 0, "an empty slice has the rate 0");
	for (int g = 0; g < params.generations; g++)
	{
		/* the mean over the buckets is 1 / (g + 100) */
		rates[g] = params.buckets * (double) (1 << g) / (g + 100);
		right *= 1 - 1.0 / (g + 100);
	}
	ok(near(StoredSetRateOfSlice(&params, rates), 1 - right, 1e-12),
	   "one of the generations may be wrong");
	memset(rates, 0, sizeof(rates));
	rates[0] = params.buckets * 1e-18;
	rates[1] = params.buckets * 4e-18;
	ok(near(StoredSetRateOfSlice(&params, rates), 3e-18, 1e-12),
	   "small rates do not cancel to zero");
}

/* Is a set with one other parameter refused by this name? */
#define REFUSED(field, value) \
	(params = right, params.field = (value), \
	 (wrong = StoredSetCheckParams(&params)) != NULL && strcmp(wrong, #field) == 0)
#define ALLOWED(field, value) \
	(params = right, params.field = (value), StoredSetCheckParams(&params) == NULL)

static void
test_check(void)
{
	StoredSetParams right;
	StoredSetParams params;
	const char *wrong;

	make(&right, 1000, 0.01, USECS_PER_DAY, 8, true);
	ok(StoredSetCheckParams(&right) == NULL, "right parameters");
	ok(REFUSED(capacity, 0) && REFUSED(capacity, -1) && REFUSED(capacity, PG_INT64_MIN) &&
	   REFUSED(capacity, STORED_SET_MAX_CAPACITY + 1) &&
	   ALLOWED(capacity, STORED_SET_MAX_CAPACITY) && ALLOWED(capacity, 1), "capacity");
	ok(REFUSED(slices, 0) && REFUSED(slices, -1) && REFUSED(slices, PG_INT32_MIN) &&
	   REFUSED(slices, STORED_SET_MAX_SLICES + 1) &&
	   ALLOWED(slices, STORED_SET_MAX_SLICES) && ALLOWED(slices, 1), "slices");
	ok(REFUSED(keep, -1) && REFUSED(keep, 7) && REFUSED(keep, STORED_SET_MAX_KEEP + 1) &&
	   REFUSED(keep, PG_INT64_MIN) && REFUSED(keep, PG_INT64_MAX) &&
	   ALLOWED(keep, 8) && ALLOWED(keep, STORED_SET_MAX_KEEP) && ALLOWED(keep, 0), "keep");
	ok(REFUSED(fp_prob, 0) && REFUSED(fp_prob, 1) && REFUSED(fp_prob, -0.5) &&
	   REFUSED(fp_prob, NAN) && REFUSED(fp_prob, INFINITY) && REFUSED(fp_prob, 5e-324) &&
	   REFUSED(fp_prob, BloomMinFpProb() * 8.999) &&
	   ALLOWED(fp_prob, BloomMinFpProb() * 9.001) && ALLOWED(fp_prob, 0.999), "fp_prob, of a slice");
	ok(REFUSED(buckets, 0) && REFUSED(buckets, -1) && REFUSED(buckets, PG_INT32_MIN) &&
	   ALLOWED(buckets, 1) && ALLOWED(buckets, PG_INT32_MAX), "buckets");
	ok(REFUSED(bits, 0) && REFUSED(bits, -64) && REFUSED(bits, 63) && REFUSED(bits, 65) &&
	   REFUSED(bits, 8513) && REFUSED(bits, 8576) && REFUSED(bits, INT64CONST(1) << 32) &&
	   REFUSED(bits, PG_INT64_MIN) && ALLOWED(bits, 64) && ALLOWED(bits, 8512), "bits");
	ok(REFUSED(hashes, 0) && REFUSED(hashes, -1) && REFUSED(hashes, 65) &&
	   REFUSED(hashes, PG_INT32_MAX) && ALLOWED(hashes, 1) && ALLOWED(hashes, 64), "hashes");
	right.bits = 64;
	ok(REFUSED(hashes, 33) && ALLOWED(hashes, 32),
	   "hashes: a key sets at most half of the bits of a set that grows");
	right.grows = false;
	ok(ALLOWED(hashes, 33), "of another one, it may set all");
}

int
main(void)
{
	test_rates();
	test_sizes();
	test_generations();
	test_buckets();
	test_keys_left();
	test_slices();
	test_rate_of_slice();
	test_check();
	return done_testing();
}
