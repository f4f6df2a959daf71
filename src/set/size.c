/*-------------------------------------------------------------------------
 *
 * set/size.c
 *		The arithmetic of stored sets: buckets, generations, time slices.
 *
 * Generations
 * -----------
 *
 * A set that grows does so bucket by bucket.  When half of the bits of a filter
 * are set, its bucket is closed: further keys go to two buckets of the next
 * generation, half of them to each, and so on.  Nothing is moved, and no number
 * is kept for the whole set, which all adds would have to change: the rows of a
 * bucket show whether it is closed.
 *
 * With half of its bits set, a filter of k hashes has a rate of 2^-k.  A key is
 * looked for in one bucket of each generation, so the rates add up.  Of the rate
 * that was asked, generation g has at most 1 / ((g + 1) * (g + 2)): 1/2, 1/6,
 * 1/12, ..., whose sum is 1 however many there are.  (With a half for each next
 * one, the fourteenth would take 30 bits a key at one percent; so it takes 22.)
 * In hashes, that is ceil(log2((g + 1) * (g + 2) / 2)) more than the first has:
 * whole numbers, the same on every machine.
 *
 * Capacity and rate of a set that does not grow
 * ---------------------------------------------
 *
 * Some buckets get more keys than others, and their rate is above the mean by
 * more than the others' is below.  Buckets are sized for the mean over all of
 * them (the number of keys in a bucket has a Poisson distribution).
 *
 * A key is looked for in each live time slice, of which there are one more than
 * slices in "keep".  So each is sized for the rate divided by their number.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "bits/sizing.h"
#include "set/size.h"

/*
 * With the header of a filter, of a row and its line pointers (two, after an
 * update), 6 rows of this many bits and an old version of one fill a page.
 */
#define BUCKET_BITS			8512

/*
 * How many standard deviations of its number of keys the buckets of a set that
 * grows have to spare: one in 160 is full when the set holds its capacity.
 */
#define SPARE_DEVIATIONS	2.5

/* ----------------------------------------------------------------
 *							BUCKETS
 * ----------------------------------------------------------------
 */

/* The mean rate of buckets that have this number of keys on average. */
static double
MixedRate(double keys, int64 bits, int hashes)
{
	double		spread = 10 * sqrt(keys) + 10;
	double		rate = 0;

	for (double n = floor(Max(1, keys - spread)); n <= keys + spread; n++)
		rate += exp(n * log(keys) - keys - lgamma(n + 1)) *
			BloomRate(bits / n, hashes);
	return rate;
}

/* The mean number of keys in a bucket at which the mean rate is fp_prob. */
static double
MixedCapacity(int64 bits, int hashes, double fp_prob)
{
	double		low = 0;
	double		high = (double) bits;

	while (high - low > 0.01)
	{
		double		middle = (low + high) / 2;

		if (MixedRate(middle, bits, hashes) <= fp_prob)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Mean number of keys in a bucket of a set that grows, at its capacity. */
static double
SizeToGrow(StoredSetParams *params, double fp_prob)
{
	double		keys;

	params->bits = BUCKET_BITS;
	params->hashes = (int32) ceil(-log2(fp_prob)) + 1;
	keys = BUCKET_BITS * M_LN2 / params->hashes;
	return keys - SPARE_DEVIATIONS * sqrt(keys);
}

/* The same of a set that does not grow. */
static double
SizeToStay(StoredSetParams *params, double fp_prob)
{
	int64		capacity = StoredSetSliceCapacity(params);
	BloomParams best;
	double		most = 0;

	if (capacity <= BUCKET_BITS && BloomBestParams(fp_prob, &best) &&
		BloomBitsForCapacity(capacity, best.bits_per_key) <= BUCKET_BITS)
	{
		/* one filter is enough */
		params->bits = (int64) BloomBitsForCapacity(capacity, best.bits_per_key);
		params->hashes = best.hashes;
		return (double) capacity;
	}
	params->bits = BUCKET_BITS;
	for (int hashes = Max(1, (int) -log2(fp_prob) - 1);
		 hashes <= Min(BLOOM_MAX_HASHES, -log2(fp_prob) + 1); hashes++)
	{
		/* the formula is for large filters: small ones have a little more */
		double		keys = MixedCapacity(BUCKET_BITS, hashes, 0.99 * fp_prob);

		if (keys > most)
		{
			most = keys;
			params->hashes = hashes;
		}
	}
	return most;
}

/*
 * StoredSetSize
 *		The number of buckets and their shape, by the other parameters.  False:
 *		there would be more buckets than there are numbers.
 */
bool
StoredSetSize(StoredSetParams *params)
{
	double		fp_prob = StoredSetSliceRate(params);
	double		keys = params->grows ? SizeToGrow(params, fp_prob) :
	SizeToStay(params, fp_prob);
	double		buckets = ceil(StoredSetSliceCapacity(params) / keys);

	if (buckets > PG_INT32_MAX)
		return false;
	params->buckets = (int32) buckets;
	return true;
}

/*
 * StoredSetCheckParams
 *		The name of a parameter that is out of range, or NULL.
 */
const char *
StoredSetCheckParams(const StoredSetParams *params)
{
	if (params->capacity < 1 || params->capacity > STORED_SET_MAX_CAPACITY)
		return "capacity";
	if (params->slices < 1 || params->slices > STORED_SET_MAX_SLICES)
		return "slices";
	if (params->keep != 0 && (params->keep < params->slices ||
							  params->keep > STORED_SET_MAX_KEEP))
		return "keep";
	/* not NaN, either */
	if (!(params->fp_prob < 1 && StoredSetSliceRate(params) >= BloomMinFpProb()))
		return "fp_prob";
	if (params->buckets < 1)
		return "buckets";
	if (params->bits < (int64) BLOOM_MIN_BITS || params->bits > BUCKET_BITS ||
		params->bits % 64 != 0)
		return "bits";
	if (params->hashes < 1 || params->hashes > BLOOM_MAX_HASHES ||
		(params->grows && params->hashes > params->bits / 2))
		return "hashes";
	return NULL;
}

/*
 * StoredSetDerive
 *		Compute what follows from the parameters, which are right.
 */
void
StoredSetDerive(StoredSetParams *params)
{
	int			n = 1;

	/* generations that have bucket numbers and hashes */
	while (params->grows &&
		   StoredSetBucketsBefore(params, n + 1) <= PG_INT32_MAX &&
		   StoredSetHashes(params, n) <= BLOOM_MAX_HASHES)
		n++;
	params->generations = n;
	params->bucket_capacity = StoredSetSliceCapacity(params) /
		(double) params->buckets;
	params->slice_length = params->keep == 0 ? 0 :
		(params->keep - 1) / params->slices + 1;
}

/* ----------------------------------------------------------------
 *							TIME SLICES
 * ----------------------------------------------------------------
 */

/*
 * StoredSetSliceCapacity, StoredSetSliceRate
 *		Keys and rate of one time slice.
 */
int64
StoredSetSliceCapacity(const StoredSetParams *params)
{
	if (params->keep == 0)
		return params->capacity;
	return (params->capacity - 1) / params->slices + 1;
}

double
StoredSetSliceRate(const StoredSetParams *params)
{
	if (params->keep == 0)
		return params->fp_prob;
	return params->fp_prob / (params->slices + 1);
}

/*
 * StoredSetSliceOf
 *		The beginning of the slice that a time is in.  It may be out of range.
 */
TimestampTz
StoredSetSliceOf(const StoredSetParams *params, TimestampTz at)
{
	int64		remainder;

	if (params->keep == 0)
		return DT_NOBEGIN;
	remainder = at % params->slice_length;
	return at - remainder - (remainder < 0 ? params->slice_length : 0);
}

/*
 * StoredSetRateOfSlice
 *		The rate of all generations of a slice together, by the sum over the
 *		buckets of each.
 */
double
StoredSetRateOfSlice(const StoredSetParams *params, const double *rates)
{
	double		right = 0;		/* logarithm */

	for (int i = 0; i < params->generations; i++)
		right += log1p(-rates[i] / ldexp(params->buckets, i));
	return 0 - expm1(right);
}

/* ----------------------------------------------------------------
 *							GENERATIONS
 * ----------------------------------------------------------------
 */

/*
 * StoredSetHashes
 *		The number of hashes in a generation.
 */
int
StoredSetHashes(const StoredSetParams *params, int generation)
{
	uint32		part = (uint32) (generation + 1) * (generation + 2) / 2;

	/* ceil(log2(part)) */
	return params->hashes + (part == 1 ? 0 : pg_leftmost_one_pos32(part - 1) + 1);
}

/*
 * StoredSetGeneration
 *		The generation of a bucket.  -1, if the set can have no such bucket.
 */
int
StoredSetGeneration(const StoredSetParams *params, int32 bucket)
{
	if (bucket < 0)
		return -1;
	for (int i = 0; i < params->generations; i++)
	{
		if (bucket < StoredSetBucketsBefore(params, i + 1))
			return i;
	}
	return -1;
}

/*
 * StoredSetFirstBucket
 *		The bucket of the first generation that has the keys of this one.
 */
int32
StoredSetFirstBucket(const StoredSetParams *params, int32 bucket)
{
	int			generation = StoredSetGeneration(params, bucket);

	return (int32) ((bucket - StoredSetBucketsBefore(params, generation)) >>
					generation);
}

/*
 * StoredSetBucketBelow
 *		The bucket of the next generation that has this half of a bucket's keys.
 */
int32
StoredSetBucketBelow(const StoredSetParams *params, int32 bucket, int half)
{
	int			generation = StoredSetGeneration(params, bucket);

	return (int32) (StoredSetBucketsBefore(params, generation + 1) + half +
					2 * (bucket - StoredSetBucketsBefore(params, generation)));
}

/*
 * StoredSetKeysOfHalf
 *		The number of keys that set half of the bits of a filter, on average.
 */
double
StoredSetKeysOfHalf(const StoredSetParams *params, int generation)
{
	return M_LN2 * params->bits / StoredSetHashes(params, generation);
}

/*
 * StoredSetKeysLeft
 *		The number of keys that certainly set no more than half of the bits of
 *		the filter of a set that grows.  0: it is full.
 *
 * In bits form, a key sets at most as many bits as it has hashes.  In keys form,
 * the filter takes as many as there are words, with which it turns into bits:
 * with up to 41 hashes, these are then less than half full, since
 * 1 - exp(-41 / 64) < 0.48.
 */
uint64
StoredSetKeysLeft(const Bloom *filter)
{
	uint64		half = BloomBits(filter) / 2;

	if (!BloomIsBits(filter))
		return filter->words - filter->count - (filter->hashes > 41);
	return filter->count >= half ? 0 : (half - filter->count) / filter->hashes;
}
