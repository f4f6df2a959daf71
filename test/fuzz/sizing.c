/*-------------------------------------------------------------------------
 *
 * sizing.c
 *		Fuzz the arithmetic of sizes and rates.
 *
 * The input is a rate, a number of bits per key, and a shape as a header has
 * it.  No combination that a checked header or a checked argument allows may
 * overflow, or give what is no number.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <math.h>

#include "bits/sizing.h"

typedef struct Input
{
	double		fp_prob;
	double		bits_per_key;
	uint64		capacity;
	uint64		bits_set;
	uint32		words;
	uint8		hashes;
} Input;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		in;
	BloomParams params;
	uint64		bits;
	int			hashes;
	double		keys;

	if (size < sizeof(in))
		return 0;
	memcpy(&in, data, sizeof(in));

	if (BloomBestParams(in.fp_prob, &params))
	{
		must(in.fp_prob > 0 && in.fp_prob < 1);
		must(params.hashes >= 1 && params.hashes <= BLOOM_MAX_HASHES);
		must(params.bits_per_key >= 1 && params.bits_per_key <= BLOOM_MAX_BITS_PER_KEY);
		/* the published table has three digits */
		must(params.fp_prob <= in.fp_prob * 1.0031);
		if (in.capacity >= 1 && in.capacity <= BLOOM_MAX_BITS / params.bits_per_key)
		{
			bits = BloomBitsForCapacity(in.capacity, params.bits_per_key);
			must(bits >= BLOOM_MIN_BITS && bits <= BLOOM_MAX_BITS && bits % 64 == 0);
			must(bits / 64 >= in.capacity / 64 * params.bits_per_key);
		}
	}
	else
		must(!(in.fp_prob >= BloomMinFpProb() && in.fp_prob < 1));

	hashes = 1 + in.hashes % BLOOM_MAX_HASHES;
	if (in.bits_per_key > 0 && isfinite(in.bits_per_key))
	{
		double		rate = BloomRate(in.bits_per_key, hashes);

		must(rate >= 0 && rate <= 1);
	}

	bits = (1 + (uint64) in.words % (BLOOM_MAX_BITS / 64)) * 64;
	keys = BloomEstimateKeys(bits, hashes, (double) (in.bits_set % (bits + 1)));
	must(keys >= 0 && keys <= 64.0 * bits);
	must(BloomEstimateError(bits, hashes, keys) >= 0);
	must(BloomRateOfFill((in.bits_set % (bits + 1)) / (double) bits, hashes) <= 1);
	if (in.fp_prob > 0 && in.fp_prob < 1)
	{
		uint64		capacity = BloomCapacityOfBits(bits, hashes, in.fp_prob);

		must(capacity >= 1 && capacity <= UINT64CONST(0x7FFFFFFFFFFFFFFF));
	}
	return 0;
}
