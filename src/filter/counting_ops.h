/*-------------------------------------------------------------------------
 *
 * filter/counting_ops.h
 *		Operations on counting filters: add, remove, sum, difference.
 *
 * Those that return a const Bloom change no argument but a list of hashes, and
 * may return one of their arguments.  Those that take a Bloom change it in place.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef COUNTING_OPS_H
#define COUNTING_OPS_H

#include "filter/setops.h"
#include "bits/counters.h"


/* Distinct hashes, ascending, and a counter for each */
typedef struct BloomCountedKeys
{
	const uint64 *hashes;
	const uint8 *counts;
	uint64		nkeys;
} BloomCountedKeys;

/* The keys of a counting filter in keys form */
static inline BloomCountedKeys
BloomCountedKeysOf(const Bloom *filter)
{
	BloomCountedKeys keys;

	keys.hashes = BloomKeyData(filter);
	keys.counts = BloomCountData(filter);
	keys.nkeys = filter->count;
	return keys;
}

extern BloomCountedKeys BloomCountHashes(uint64 *hashes, uint64 nhashes);
extern uint64 BloomMergeCountedKeys(BloomCountedKeys a, BloomCountedKeys b,
								uint64 *hashes, uint8 *counts);
extern uint64 BloomCountersAddKeys(uint8 *counters, const Bloom *shape,
							  BloomCountedKeys keys);
extern void BloomCountersAddAll(Bloom *counters, const Bloom *other);
extern Bloom *BloomMakeOfCountedKeys(const Bloom *like, const BloomKeyType *key_type,
							   BloomCountedKeys a, BloomCountedKeys b);

extern const Bloom *BloomCountingAdd(const Bloom *filter, uint64 *hashes,
									 uint64 nhashes,
									 const BloomKeyType *key_type);
extern const Bloom *BloomCountingRemove(const Bloom *filter, uint64 *hashes,
										uint64 nhashes);
extern unsigned int BloomCountOfKey(const Bloom *filter, uint64 hash);
extern const Bloom *BloomCountingSum(const Bloom *a, const Bloom *b);
extern const Bloom *BloomCountingDifference(const Bloom *a, const Bloom *b);
extern Bloom *BloomCountingToPlain(const Bloom *filter);

extern uint64 BloomCountersFull(const Bloom *filter);

#endif							/* COUNTING_OPS_H */
