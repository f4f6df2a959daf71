/*-------------------------------------------------------------------------
 *
 * sizing.c
 *		Test src/bits/sizing.c: the arithmetic of Bloom filters.
 *
 * What SQL can see of it is tested in sql/sizing.sql.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <math.h>

#include "bits/sizing.h"

static bool
near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * Max(fabs(a), fabs(b));
}

static void
test_rates(void)
{
	bool		right = true;

	for (int k = 1; k <= BLOOM_MAX_HASHES; k++)
		for (double bpk = 0.01; bpk < 200; bpk *= 1.1)
			right &= near(BloomRate(bpk, k), pow(1 - exp(-k / bpk), k), 1e-9);
	ok(right, "BloomRate is (1 - e^(-k/bpk))^k");
	ok(BloomRate(1e300, 1) > 0 && BloomRate(1e300, 1) < 1e-299,
	   "BloomRate does not cancel to zero for many bits");
	ok(BloomRateOfFill(0.5, 7) == 1.0 / 128 && BloomRateOfFill(0, 7) == 0 &&
	   BloomRateOfFill(1, 64) == 1, "BloomRateOfFill");
}

static void
test_best_params(void)
{
	BloomParams params;
	double		least = BloomMinFpProb();
	bool		right = true;
	int			last = 65;

	ok(!BloomBestParams(0, &params) && !BloomBestParams(1, &params) &&
	   !BloomBestParams(-1, &params) && !BloomBestParams(2, &params) &&
	   !BloomBestParams(NAN, &params) && !BloomBestParams(INFINITY, &params) &&
	   !BloomBestParams(least * 0.999999, &params) &&
	   !BloomBestParams(1e-300, &params) && !BloomBestParams(5e-324, &params),
	   "what cannot be reached is refused");
	ok(BloomBestParams(least, &params) && params.bits_per_key == 64 &&
	   params.fp_prob == least, "the lowest rate takes 64 bits per key");

	for (double p = least; p < 1; p *= 1.0003)
	{
		if (!BloomBestParams(p, &params))
		{
			right = false;
			break;
		}
		right &= params.fp_prob <= p * 1.005 && (p > 6.71e-5 || params.fp_prob <= p);
		right &= params.fp_prob == BloomRate(params.bits_per_key, params.hashes);
		right &= params.hashes >= 1 && params.hashes <= BLOOM_MAX_HASHES;
		right &= params.bits_per_key <= last;
		last = params.bits_per_key;
	}
	ok(right, "a higher rate never takes more bits, and is never missed");
	ok(last == 1, "the highest rates take one bit");
}

static void
test_capacity(void)
{
	bool		bits_right = true;
	bool		capacity_right = true;

	for (int bpk = 1; bpk <= BLOOM_MAX_BITS_PER_KEY; bpk++)
	{
		uint64		most = BLOOM_MAX_BITS / bpk;

		for (uint64 n = 1; n < most; n = n * 3 + 1)
		{
			uint64		bits = BloomBitsForCapacity(n, bpk);

			bits_right &= bits % 64 == 0 && bits >= n * bpk && bits < n * bpk + 64;
		}
		bits_right &= BloomBitsForCapacity(most, bpk) <= BLOOM_MAX_BITS &&
			(most + 1) * bpk > BLOOM_MAX_BITS;
	}
	ok(bits_right, "bits for a capacity: whole words, none too many, up to the limit");

	for (int k = 1; k <= BLOOM_MAX_HASHES; k++)
		for (uint64 bits = 64; bits <= BLOOM_MAX_BITS; bits *= 8)
		{
			double		p = BloomRateOfFill(0.5, k);
			uint64		n = BloomCapacityOfBits(bits, k, p);

			capacity_right &= n >= 1 && (n == 1 || BloomRate(bits / (double) n, k) <= p * (1 + 1e-12)) &&
				BloomRate(bits / (n + 1.0), k) > p;
		}
	ok(capacity_right, "BloomCapacityOfBits is the last number that keeps the rate");

	capacity_right = true;
	for (int k = 1; k <= BLOOM_MAX_HASHES; k++)
		for (uint64 bits = BLOOM_MIN_BITS; bits <= BLOOM_MAX_BITS; bits *= 2)
		{
			uint64		n = BloomCapacityOfBits(bits, k, 1 - 1.0 / (UINT64CONST(1) << 53));

			capacity_right &= n >= 1 && n < bits * 64;
		}
	ok(capacity_right, "BloomCapacityOfBits is a number also for a rate next to 1");
}

static void
test_estimates(void)
{
	bool		inverse = true;
	bool		finite = true;

	for (uint64 bits = 64; bits <= BLOOM_MAX_BITS; bits *= 16)
		for (int k = 1; k <= 64; k *= 2)
		{
			for (double n = 0; n < bits / k; n = n * 2 + 1)
			{
				double		set = bits * -expm1(-k * n / bits);

				inverse &= fabs(BloomEstimateKeys(bits, k, set) - n) <= 1e-6 * n + 1e-9;
				finite &= isfinite(BloomEstimateError(bits, k, n)) && BloomEstimateError(bits, k, n) >= 0;
			}
			finite &= isfinite(BloomEstimateKeys(bits, k, (double) bits)) &&
				BloomEstimateKeys(bits, k, (double) bits) > 0 &&
				BloomEstimateKeys(bits, k, 0) == 0;
		}
	ok(inverse, "BloomEstimateKeys inverts the expected number of bits set");
	ok(finite, "estimates are finite, also of a full filter");
}

int
main(void)
{
	test_rates();
	test_best_params();
	test_capacity();
	test_estimates();
	return done_testing();
}
