/*-------------------------------------------------------------------------
 *
 * bits/sort.h
 *		Sorted lists of hashes: making, merging and searching them.
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
extern uint64 BloomMergeHashes(const uint64 *a, uint64 na,
							   const uint64 *b, uint64 nb, uint64 *out);
extern uint64 BloomMergeInPlace(uint64 *hashes, uint64 nhashes,
								const uint64 *more, uint64 nmore);
extern const uint64 *BloomFindKey(const uint64 *keys, uint64 nkeys,
								  uint64 hash);

/* Is the hash in a sorted list? */
static inline bool
BloomTestKeys(const uint64 *keys, uint64 nkeys, uint64 hash)
{
	return BloomFindKey(keys, nkeys, hash) != NULL;
}

#endif							/* BLOOM_SORT_H */
