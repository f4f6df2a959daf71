/*-------------------------------------------------------------------------
 *
 * seen/table.h
 *		Tables of keys: add one, and learn whether it was new.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SEEN_TABLE_H
#define BLOOM_SEEN_TABLE_H

#include "filter/format.h"
#include "bits/blocked.h"

/* How many hashes may n blocks hold?  Three quarters. */
#define BloomSeenRoom(nblocks)	((nblocks) * (BLOOM_BLOCK_WORDS * 3 / 4))

/* The exact form holds fewer keys than the limit; these blocks have room for them */
#define BLOOM_SEEN_MAX_BLOCKS	(BLOOM_MAX_EXACT_KEYS / BloomSeenRoom(1) + 1)

/*
 * What the tables of one call share, which has one for each partition of a
 * window, or for each rescan.  Zeroes to begin with.
 */
typedef struct BloomSeenTables
{
	bool		warned;			/* of more keys than the capacity, or of
								 * memory */
	double		fp_prob;		/* that params are for */
	BloomBlockedParams params;
} BloomSeenTables;

/*
 * The keys of one query, or of one partition of a window.
 *
 * Its memory goes with the context that it was made in.
 */
typedef struct BloomSeenTable
{
	MemoryContext context;		/* NULL before it was made */
	BloomSeenTables *call;
	uint64		nkeys;			/* distinct ones */
	uint64		limit;			/* of nkeys: then call BloomSeenMakeRoom */
	uint64		expected;		/* distinct keys, by an estimate, or zero */

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
} BloomSeenTable;

extern void BloomSeenInit(BloomSeenTable *table, BloomSeenTables *call,
						  MemoryContext context, const BloomShape *shape,
						  uint64 expected);
extern void BloomSeenMakeRoom(BloomSeenTable *table);
extern uint64 BloomSeenSeed(void);
extern uint64 BloomSeenNextSecret(void);
extern BloomBlockedParams BloomSeenParams(BloomSeenTables *call, double fp_prob);
extern void BloomSeenTooManyKeys(void);
extern bool BloomSeenWarnMemory(uint64 nkeys, Size before, Size after);
extern void BloomSeenWarnOverfull(BloomSeenTables *call, uint64 capacity,
								  double fp_prob);

/*
 * Put a hash into the first block from its place on that is not full, unless
 * it is there.  True: it was not.
 *
 * There are no branches but those that can be foreseen: a hash is found or
 * not, and a block is hardly ever full.  So the processor goes on to the next
 * row while it waits for the block.
 */
static inline bool
BloomSeenInsert(const BloomSeenTable *table, uint64 hash)
{
	uint64		place = BloomMulHigh(hash * table->secret, table->nblocks);

	for (;;)
	{
		uint64	   *block = table->blocks + place * BLOOM_BLOCK_WORDS;
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
		if (++place == table->nblocks)
			place = 0;
	}
}

/*
 * BloomSeenTouch
 *		Read the block of a hash that will be added soon.
 *
 * The reads of several hashes in a row overlap.  A prefetch would not: the
 * processor may drop it where the page's address has to be looked up.
 */
static inline void
BloomSeenTouch(const BloomSeenTable *table, uint64 hash)
{
	uint64		place = BloomMulHigh(table->is_filter ? hash : hash * table->secret,
									 table->nblocks);

	(void) *(volatile uint64 *) (table->blocks + place * BLOOM_BLOCK_WORDS);
}

/* Put a hash into the table or filter, as it is.  True: it was new. */
static inline bool
BloomSeenPut(const BloomSeenTable *table, uint64 hash)
{
	if (table->is_filter)
		return BloomBlockedAdd(table->blocks, table->nblocks, &table->params,
							   hash);
	return BloomSeenInsert(table, hash);
}

/*
 * BloomSeenAdd
 *		Add a hash.  True: it was new.
 *
 * The first time that a table of the call gets more keys than the capacity,
 * there is a WARNING.
 */
static inline bool
BloomSeenAdd(BloomSeenTable *table, uint64 hash)
{
	bool		is_new = BloomSeenPut(table, hash);

	if (is_new && unlikely(++table->nkeys >= table->limit))
		BloomSeenMakeRoom(table);
	return is_new;
}

#endif							/* BLOOM_SEEN_TABLE_H */
