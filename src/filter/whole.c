/*-------------------------------------------------------------------------
 *
 * filter/whole.c
 *		Whole filters, for other libraries: src/whole.h.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "filter/call.h"
#include "filter/fetch.h"
#include "whole.h"

static char *
TextOfKeyType(const BloomKeyType *key_type)
{
	BloomShape	least = BloomShapeExplicit(BLOOM_MIN_BITS, 1, 0);

	return BloomToText(PointerGetDatum(BloomMake(&least, key_type,
												 BLOOM_KEYS, 0)));
}

static BloomKeyType
KeyTypeOf(Datum filter)
{
	return BloomKeyTypeOf(BloomFetch(filter));
}

static Bloom *
Make(double capacity, double fp_prob, int64 seed, const BloomKeyType *key_type)
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
Finish(Bloom *filter)
{
	if (BloomIsOverfull(filter))
		BloomWarnOverfull(filter);
	return PointerGetDatum(filter);
}

/*
 * BloomGiveFilters
 *		Let other libraries find all this, and these functions.
 */
void
BloomGiveFilters(PGFunction input, PGFunction counting_input)
{
	static BloomWholeRoutine routine = {
		.version = BLOOM_WHOLE_ROUTINE_VERSION,
		.text_of_key_type = TextOfKeyType,
		.key_type_of = KeyTypeOf,
		.make = Make,
		.add = Add,
		.finish = Finish
	};

	routine.input = input;
	routine.counting_input = counting_input;
	*find_rendezvous_variable(BLOOM_WHOLE_ROUTINE) = &routine;
}
