/*-------------------------------------------------------------------------
 *
 * bits/sizing.c
 *		The arithmetic of Bloom filters: sizes, rates, estimates.
 *
 * Throughout, m is the number of bits, n of keys, k of hashes per key, and
 *
 *		p = (1 - e^(-k n / m))^k
 *
 * is the probability that a key that was never added tests as present, when
 * n keys have been added: each of its k bits is set with the probability in
 * parentheses (B. H. Bloom, CACM 13 (1970), 422-426).
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include <math.h>

#include "bits/sizing.h"

/*
 * Pei Cao's table of false-positive rates: row m/n, column k (L. Fan, P. Cao,
 * J. Almeida, A. Broder: Summary Cache, IEEE/ACM ToN 8 (2000), 281-293).  It
 * stands here in its published three digits, since ClickHouse sizes filters
 * by it, and the same question should have the same answer.  A row ends at
 * its smallest rate or a little after.
 */
#define TABLE_ROWS		20
#define TABLE_COLUMNS	14

static const double cao_table[TABLE_ROWS + 1][TABLE_COLUMNS + 1] = {
	[2] = {1, 0.393, 0.400},
	[3] = {1, 0.283, 0.237, 0.253},
	[4] = {1, 0.221, 0.155, 0.147, 0.160},
	[5] = {1, 0.181, 0.109, 0.092, 0.092, 0.101},
	[6] = {1, 0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638},
	[7] = {1, 0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364},
	[8] = {1, 0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229},
	[9] = {1, 0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145},
	[10] = {1, 0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819,
	0.00846},
	[11] = {1, 0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513,
	0.00509},
	[12] = {1, 0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329,
	0.00314},
	[13] = {1, 0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217,
	0.00199, 0.00194},
	[14] = {1, 0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146,
	0.00129, 0.00121, 0.0012},
	[15] = {1, 0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001,
	0.000852, 0.000775, 0.000744},
	[16] = {1, 0.0606, 0.0138, 0.005, 0.00239, 0.00139, 0.000935, 0.000702,
	0.000574, 0.000505, 0.00047, 0.000459},
	[17] = {1, 0.0571, 0.0123, 0.00423, 0.00193, 0.00107, 0.000692, 0.000499,
	0.000394, 0.000335, 0.000302, 0.000287, 0.000284},
	[18] = {1, 0.054, 0.0111, 0.00362, 0.00158, 0.000839, 0.000519, 0.00036,
	0.000275, 0.000226, 0.000198, 0.000183, 0.000176},
	[19] = {1, 0.0513, 0.00998, 0.00312, 0.0013, 0.000663, 0.000394, 0.000264,
	0.000194, 0.000155, 0.000132, 0.000118, 0.000111, 0.000109},
	[20] = {1, 0.0488, 0.00906, 0.0027, 0.00108, 0.00053, 0.000303, 0.000196,
	0.00014, 0.000108, 8.89e-05, 7.77e-05, 7.12e-05, 6.79e-05, 6.71e-05},
};

/*
 * The false-positive rate at capacity: any cell of Cao's table, exactly.
 */
double
BloomRate(double bits_per_key, int hashes)
{
	return BloomRateOfFill(-expm1(-hashes / bits_per_key), hashes);
}

/*
 * The false-positive rate of a filter in which this fraction of bits is set.
 */
double
BloomRateOfFill(double fill, int hashes)
{
	return pow(fill, hashes);
}

/* The number of hashes with the lowest rate lies next to this: m/n ln 2. */
static double
BestHashes(int bits_per_key)
{
	return bits_per_key * M_LN2;
}

/*
 * The lowest rate that BLOOM_MAX_BITS_PER_KEY bits per key can reach: the best
 * number of hashes is 64 ln 2, which is 44.4.
 */
double
BloomMinFpProb(void)
{
	return BloomRate(BLOOM_MAX_BITS_PER_KEY, 44);
}

/*
 * The rate by which best_params decides: as published where it was published,
 * as computed elsewhere.
 */
static double
TableRate(int bits_per_key, int hashes)
{
	if (bits_per_key <= TABLE_ROWS && hashes <= TABLE_COLUMNS &&
		cao_table[bits_per_key][hashes] > 0)
		return cao_table[bits_per_key][hashes];
	return BloomRate(bits_per_key, hashes);
}

/*
 * The smallest whole number of bits per key that can reach the rate, with the
 * smallest number of hashes that then still does.
 *
 * False, if no shape within the limits reaches it.  The rate that is returned
 * is exact, so it can pass fp_prob in the fourth digit, where
 * the published table decides.
 */
bool
BloomBestParams(double fp_prob, BloomParams *params)
{
	int			first = 1;

	if (!(fp_prob > 0 && fp_prob < 1))
		return false;

	/*
	 * No row can do better than 2^-(k) with k = m/n ln 2, so that rows below
	 * -ln p / (ln 2)^2 need not be looked at.  One more for the rounding.
	 */
	if (fp_prob < cao_table[TABLE_ROWS][TABLE_COLUMNS])
		first = (int) Min(-log(fp_prob) / (M_LN2 * M_LN2), 1000) - 1;

	for (int bits_per_key = first; bits_per_key <= BLOOM_MAX_BITS_PER_KEY; bits_per_key++)
	{
		int			most = (int) ceil(BestHashes(bits_per_key));

		for (int hashes = 1; hashes <= most; hashes++)
		{
			if (TableRate(bits_per_key, hashes) <= fp_prob)
			{
				params->hashes = hashes;
				params->bits_per_key = bits_per_key;
				params->fp_prob = BloomRate(bits_per_key, hashes);
				return true;
			}
		}
	}
	return false;
}

/*
 * The size in bits of a filter for n keys: a whole number of 64-bit
 * words.  The caller has compared capacity with the largest that fits.
 */
uint64
BloomBitsForCapacity(uint64 capacity, int bits_per_key)
{
	uint64		words = (capacity * bits_per_key + 63) / 64;

	return Max(words, 1) * 64;
}

/*
 * How many keys a filter of this shape holds before its rate passes fp_prob:
 * the formula above, solved for n.  At least 1.
 *
 * A rate next to 1 is never passed.  The answer then is the largest number of
 * keys that can be told from the bits, as in BloomEstimateKeys.
 */
uint64
BloomCapacityOfBits(uint64 bits, int hashes, double fp_prob)
{
	double		fill = pow(fp_prob, 1.0 / hashes);
	double		keys = BloomEstimateKeys(bits, hashes, fill * bits);

	return keys < 1 ? 1 : (uint64) keys;
}

/*
 * The false-positive rate of a blocked Bloom filter at capacity.
 *
 * A block of B bits gets j keys with the Poisson probability of its mean
 * B * blocks * n / m, and then has the rate of a Bloom filter of B bits with j
 * keys (F. Putze, P. Sanders, J. Singler, WEA 2007, 108-121).  All blocks of a
 * key have to pass.
 *
 * In so few bits, the fill varies by chance.  The mean of fill^k is larger than
 * the mean fill to the k-th, by k (k - 1) / 2 times the fill's variance over
 * its square, in second order; the variance is that of the occupancy problem
 * (W. Feller, vol. 1, IV.2).  This adds about one part in a hundred.
 *
 * With one hash, the mean over the blocks is the rate of a filter in one piece,
 * exactly.  It must not be larger by an error of rounding: the rate that
 * best_params returns would then take twice the bits.
 */
double
BloomBlockedRate(double bits_per_key, int blocks, int hashes)
{
	const double B = BLOOM_BLOCK_BITS;
	double		mean = B * blocks / bits_per_key;
	double		spread = 12 * sqrt(mean);
	double		most = mean + spread + 20;
	double		rate = 0;
	double		sum = 0;

	if (blocks == 1 && hashes == 1)
		return BloomRate(bits_per_key, 1);
	for (double j = floor(Max(mean - spread, 0)); j < most; j++)
	{
		double		weight = exp(j * log(mean) - mean - lgamma(j + 1));
		double		empty = exp(hashes * j * log1p(-1 / B));
		double		both_empty = exp(hashes * j * log1p(-2 / B));
		double		fill = 1 - empty;
		double		variance = both_empty - empty * empty + (empty - both_empty) / B;

		sum += weight;
		if (j > 0)
			rate += weight * BloomRateOfFill(fill, hashes) *
				(1 + hashes * (hashes - 1) / 2.0 * variance / (fill * fill));
	}
	return pow(rate / sum, blocks);
}

/*
 * The fewest blocks a key that reach the rate with at most a tenth more bits
 * than best_params takes (in whole bits a key), and then the fewest bits, and
 * the fewest hashes.
 *
 * False, if best_params has no answer.  If it has, there is one: four blocks
 * are enough for every rate (test/unit/blocked.c).
 */
bool
BloomBestBlocked(double fp_prob, BloomBlockedParams *params)
{
	BloomParams best;

	if (!BloomBestParams(fp_prob, &best))
		return false;
	for (params->blocks = 1; params->blocks <= BLOOM_MAX_BLOCKS; params->blocks++)
	{
		int			most_bits = best.bits_per_key + (best.bits_per_key + 9) / 10;

		for (params->bits_per_key = best.bits_per_key;
			 params->bits_per_key <= most_bits; params->bits_per_key++)
		{
			int			most = (int) ceil(BestHashes(params->bits_per_key) / params->blocks);

			for (params->hashes = 1; params->hashes <= most; params->hashes++)
			{
				if (BloomBlockedRate(params->bits_per_key, params->blocks,
									 params->hashes) <= fp_prob)
					return true;
			}
		}
	}
	return false;
}

/*
 * How many blocks a filter for n keys has.
 */
uint64
BloomBlocksForCapacity(uint64 capacity, int bits_per_key)
{
	uint64		blocks = (capacity * bits_per_key + BLOOM_BLOCK_BITS - 1) / BLOOM_BLOCK_BITS;

	return Max(blocks, 1);
}

/*
 * How many keys were added to a filter in which X of m bits are set (S. J.
 * Swamidass, P. Baldi, J. Chem. Inf. Model. 47 (2007), 952-964):
 *
 *		n = -(m / k) ln(1 - X / m)
 *
 * A filter with all bits set could hold any number.  The answer then is that
 * for one bit less, which is the least that it is likely to hold.
 */
double
BloomEstimateKeys(uint64 bits, int hashes, double bits_set)
{
	double		m = (double) bits;

	return -(m / hashes) * log1p(-Min(bits_set, m - 1) / m);
}

/*
 * The standard error of that estimate.
 *
 * The number of empty bits after kn throws has the variance
 * m e^(-c) (1 - (1 + c) e^(-c)) with c = kn/m (occupancy problem; W. Feller,
 * vol. 1, IV.2); divided by the square of the slope k e^(-c) at which empty
 * bits vanish per key, this gives m (e^c - c - 1) / k^2.
 */
double
BloomEstimateError(uint64 bits, int hashes, double keys)
{
	double		c = hashes * keys / (double) bits;

	return sqrt(bits * (expm1(c) - c)) / hashes;
}
