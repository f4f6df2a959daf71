/*-------------------------------------------------------------------------
 *
 * bits/sort.h
 *		Sorted lists of hashes, and of positions: making, merging and
 *		searching them.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SORT_H
#define BLOOM_SORT_H

extern void BloomSort(uint64 *hashes, uint64 *scratch, uint64 nhashes,
					  bool into_scratch);
extern uint64 BloomSortDistinct(uint64 *hashes, uint64 *scratch,
								uint64 nhashes, bool into_scratch);
extern uint64 BloomSortPositions(uint32 *positions, uint32 *scratch,
								 uint64 npositions);
extern uint64 BloomMergeHashes(const uint64 *a, uint64 na,
							   const uint64 *b, uint64 nb, uint64 *out);
extern uint64 BloomMergeInPlace(uint64 *hashes, uint64 nhashes,
								const uint64 *more, uint64 nmore);
extern bool BloomTestKeys(const uint64 *keys, uint64 nkeys, uint64 hash);

#endif							/* BLOOM_SORT_H */
