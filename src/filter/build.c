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
Begin(double capacity, double fp_prob, int64 seed, const BloomKeyType *key_type,
	  bool as_bits)
{
	BloomShape	shape = BloomShapeForCapacity(capacity, fp_prob, seed);

	return as_bits ? BloomMake(&shape, key_type, BLOOM_BITS, shape.bits / 8) :
		BloomMake(&shape, key_type, BLOOM_KEYS, 0);
}

/* The filter, with room for so many keys. */
static Bloom *
MakeRoom(Bloom *filter, uint64 nkeys)
{
	Size		prefix = BloomPrefixSize(filter);
	Size		size = prefix + BloomKeyBytes(filter, nkeys);

	if (size <= VARSIZE(filter))
		return filter;
	size = Min(2 * size, prefix + BloomKeyBytes(filter, filter->words));
	filter = repalloc(filter, size);
	SET_VARSIZE(filter, size);
	return filter;
}

/*
 * Hashes that come from the highest down are appended, so that nothing moves: until
 * the end, the keys of the filter descend.
 */
static Bloom *
Add(Bloom *filter, const uint64 *hashes, uint64 nhashes)
{
	BloomKeyList keys = {hashes, NULL, nhashes};
	uint64		count = filter->count;
	uint64	   *data;

	if (BloomIsBits(filter))
	{
		BloomAddToArray(filter, keys, &filter->count);
		return filter;
	}
	if (!BloomHoldsAsKeys(filter->words, count + nhashes))
	{
		pfree(filter);
		return NULL;
	}
	filter = MakeRoom(filter, count + nhashes);
	data = BloomKeyData(filter);
	Assert(count == 0 || nhashes == 0 || hashes[nhashes - 1] < data[count - 1]);
	for (uint64 i = nhashes; i > 0; i--)
		data[count++] = hashes[i - 1];
	filter->count = count;
	return filter;
}

static Datum
End(Bloom *filter)
{
	uint64	   *data = BloomKeyData(filter);
	uint64		n = BloomIsKeys(filter) ? filter->count : 0;

	for (uint64 i = 0; i < n / 2; i++)
	{
		uint64		hash = data[i];

		BloomCheckInterrupts(i);
		data[i] = data[n - 1 - i];
		data[n - 1 - i] = hash;
	}
	BloomSetCount(filter, filter->count);
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
