/*-------------------------------------------------------------------------
 *
 * seen/shared.h
 *		Tables of keys that several processes add to.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SEEN_SHARED_H
#define BLOOM_SEEN_SHARED_H

#include "port/atomics.h"
#include "storage/lwlock.h"
#include "utils/dsa.h"

#include "seen/table.h"

/* From the least size on, a table of the exact form doubles fewer times. */
#define BLOOM_SEEN_MAX_TABLES	24

/* A table of hashes, or the bits of a filter */
typedef struct BloomSeenBlocks
{
	dsa_pointer memory;			/* of the blocks, which are aligned in it */
	uint64		nblocks;
	int			nusers;			/* processes that add to it; under the lock */

	/* when its hashes move to the next table: chunks that are dealt, and done */
	pg_atomic_uint64 ndealt;
	pg_atomic_uint64 nmoved;
} BloomSeenBlocks;

/* What all processes share, in dynamic shared memory */
typedef struct BloomSeenShared
{
	LWLock		lock;			/* to begin with a table, to free one */
	uint64		seed;			/* to hash the keys with */
	uint64		secret;			/* the exact form's, as in BloomSeenTable */
	uint64		capacity;		/* of the filter, or zero */
	double		fp_prob;
	BloomBlockedParams params;

	pg_atomic_uint32 ntables;	/* all but the last one are closed, or soon */
	pg_atomic_uint32 nclaimed;	/* with one that a process is making */
	int			oldest;			/* table that was not freed */
	BloomSeenBlocks tables[BLOOM_SEEN_MAX_TABLES];

	/*
	 * Distinct keys, but for those of open batches.  All processes write to
	 * it with each batch: not in a cache line that all of them read for each
	 * row.
	 */
	char		before[PG_CACHE_LINE_SIZE];
	pg_atomic_uint64 nkeys;
	char		after[PG_CACHE_LINE_SIZE];
} BloomSeenShared;

/* One process's part in it */
typedef struct BloomSeenView
{
	BloomSeenShared *shared;
	dsa_area   *area;
	int			table;			/* that it adds to */
	uint64	   *blocks;			/* of that table */
	uint64		nblocks;
} BloomSeenView;

/* Are there atomic words of 64 bits, which take no more memory than those? */
#define BLOOM_SEEN_CAN_SHARE	(sizeof(pg_atomic_uint64) == sizeof(uint64))

extern Size BloomSeenSharedBytes(uint64 nkeys);
extern bool BloomSeenShare(BloomSeenShared *shared, dsa_area *area,
						   BloomSeenTables *call, const BloomShape *shape,
						   uint64 expected, Size limit);
extern void BloomSeenUnshare(BloomSeenShared *shared, dsa_area *area);
extern Size BloomSeenSharedMemory(const BloomSeenShared *shared);
extern void BloomSeenJoin(BloomSeenView *view, BloomSeenShared *shared,
						  dsa_area *area);
extern void BloomSeenAddBatch(BloomSeenView *view, const uint64 *hashes, int n,
							  bool *seen);

#endif							/* BLOOM_SEEN_SHARED_H */
