/*-------------------------------------------------------------------------
 *
 * filter/build.c
 *		Filters of hashes, for other libraries: src/build.h.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "build.h"
#include "filter/call.h"
#include "key/hash.h"

static Bloom *
Begin(double capacity, double fp_prob, int64 seed, const BloomKeyType *key_type)
{
	BloomShape	shape = BloomShapeForCapacity(capacity, fp_prob, seed);

	return BloomMake(&shape, key_type, BLOOM_KEYS, 0);
}

/* Bits that we have made are changed in place. */
static Bloom *
Add(Bloom *filter, const uint64 *hashes, uint64 nhashes)
{
	BloomKeyList keys = {hashes, NULL, nhashes};
	BloomKeyType key_type = BloomKeyTypeOf(filter);

	if (BloomIsKeys(filter))
		return BloomMakeOfKeys(filter, &key_type, BloomKeysOf(filter), keys);
	BloomAddToArray(filter, keys, &filter->count);
	BloomSetCount(filter, filter->count);
	return filter;
}

static Datum
End(Bloom *filter)
{
	if (BloomIsOverfull(filter))
		BloomWarnOverfull(filter);
	return PointerGetDatum(filter);
}

/*
 * BloomGiveBuilds
 *		Let other libraries find these functions.
 */
void
BloomGiveBuilds(void)
{
	static const BloomBuildRoutine routine = {
		.interface = BLOOM_BUILD_INTERFACE,
		.hashing = BLOOM_HASHING,
		.begin = Begin,
		.add = Add,
		.end = End
	};

	*find_rendezvous_variable(BLOOM_BUILD_ROUTINE) = unconstify(BloomBuildRoutine *, &routine);
}
