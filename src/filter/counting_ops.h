/*-------------------------------------------------------------------------
 *
 * filter/counting_ops.h
 *		Operations on counting filters alone: remove, difference, count, cast.
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

extern BloomKeyList BloomCountHashes(uint64 *hashes, uint64 nhashes);
extern uint64 BloomMergeCountedKeys(BloomKeyList a, BloomKeyList b,
									uint64 *hashes, uint8 *counts);
extern uint64 BloomCountersAddKeys(Bloom *filter, BloomKeyList keys);

extern const Bloom *BloomCountingRemove(const Bloom *filter, uint64 *hashes,
										uint64 nhashes);
extern unsigned int BloomCountOfKey(const Bloom *filter, uint64 hash);
extern const Bloom *BloomCountingDifference(const Bloom *a, const Bloom *b);
extern Bloom *BloomCountingToPlain(const Bloom *filter);
extern uint64 BloomCountersFull(const Bloom *filter);

#endif							/* COUNTING_OPS_H */
