/*-------------------------------------------------------------------------
 *
 * func/dedup.h
 *		Dedup tables: add a key, and learn whether it was new.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_DEDUP_H
#define BLOOM_DEDUP_H

#include "filter/format.h"
#include "bits/blocked.h"

/*
 * What the tables of one call share, which has one for each partition of a
 * window, or for each rescan.  Zeroes to begin with.
 */
typedef struct BloomDedupCall
{
	bool		warned;			/* of more keys than the capacity */
	double		fp_prob;		/* that params are for */
	BloomBlockedParams params;
} BloomDedupCall;

/*
 * The keys of one query, or of one partition of a window.
 *
 * Its memory goes with the context that it was made in.
 */
typedef struct BloomDedup
{
	MemoryContext context;		/* NULL before it was made */
	BloomDedupCall *call;
	uint64		nkeys;			/* distinct ones */
	uint64		limit;			/* of nkeys: then call BloomDedupMakeRoom */

	uint64		seed;			/* to hash the keys with */

	/* hashes, or the bits of a blocked Bloom filter */
	uint64	   *blocks;
	uint64		nblocks;
	void	   *memory;			/* of the blocks, which are aligned */

	/* the product of a hash with this odd number determines its block */
	uint64		secret;

	bool		is_filter;
	BloomShape	shape;			/* without one, the table is exact */
	BloomBlockedParams params;	/* of the filter */
} BloomDedup;

extern void BloomDedupInit(BloomDedup *dedup, BloomDedupCall *call,
						   MemoryContext context, const BloomShape *shape);
extern void BloomDedupMakeRoom(BloomDedup *dedup);

/*
 * Put a hash into the first block from its place on that is not full, unless
 * it is there.  True: it was not.
 *
 * There are no branches but those that can be foreseen: a hash is found or
 * not, and a block is hardly ever full.  So the processor goes on to the next
 * row while it waits for the block.
 */
static inline bool
BloomDedupInsert(const BloomDedup *dedup, uint64 hash)
{
	uint64		place = BloomMulHigh(hash * dedup->secret, dedup->nblocks);

	for (;;)
	{
		uint64	   *block = dedup->blocks + place * BLOOM_BLOCK_WORDS;
		int			nfound = 0;
		int			nused = 0;

		for (int i = 0; i < BLOOM_BLOCK_WORDS; i++)
		{
			nfound += block[i] == hash;
			nused += block[i] != 0;
		}
		if (nfound > 0)
			return false;
		if (likely(nused < BLOOM_BLOCK_WORDS))
		{
			block[nused] = hash;
			return true;
		}
		if (++place == dedup->nblocks)
			place = 0;
	}
}

/*
 * BloomDedupTouch
 *		Read the block of a hash that will be added soon.
 *
 * The reads of several hashes in a row overlap.  A prefetch would not: the
 * processor may drop it where the page's address has to be looked up.
 */
static inline void
BloomDedupTouch(const BloomDedup *dedup, uint64 hash)
{
	uint64		place = BloomMulHigh(dedup->is_filter ? hash : hash * dedup->secret,
									 dedup->nblocks);

	(void) *(volatile uint64 *) (dedup->blocks + place * BLOOM_BLOCK_WORDS);
}

/* Put a hash into the table or filter, as it is.  True: it was new. */
static inline bool
BloomDedupPut(const BloomDedup *dedup, uint64 hash)
{
	if (dedup->is_filter)
		return BloomBlockedAdd(dedup->blocks, dedup->nblocks, &dedup->params,
							   hash);
	return BloomDedupInsert(dedup, hash);
}

/*
 * BloomDedupAdd
 *		Add a hash.  True: it was new.
 *
 * The first time that a table of the call gets more keys than the capacity,
 * there is a WARNING.
 */
static inline bool
BloomDedupAdd(BloomDedup *dedup, uint64 hash)
{
	bool		is_new = BloomDedupPut(dedup, hash);

	if (is_new && unlikely(++dedup->nkeys >= dedup->limit))
		BloomDedupMakeRoom(dedup);
	return is_new;
}

#endif							/* BLOOM_DEDUP_H */
