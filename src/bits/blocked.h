/*-------------------------------------------------------------------------
 *
 * bits/blocked.h
 *		In-memory blocked Bloom filter; never stored.
 *
 * - All positions of a key are in one block of 512 bits, which is what the
 *	 processor reads at once; or, for low rates, in up to four blocks.
 * - Adding a key returns whether it was new.
 * - It holds the keys of bloom_seen, and is the sieve of a list that is searched
 *	 many times (filter/fetch.h).
 * - Nothing of this is frozen.
 *
 * A stored filter has its positions over the whole of its bits (bits/bits.h),
 * since that takes the fewest bits for a rate.  Each position is then a cache
 * miss of its own, which is most of the time where keys are added and tested
 * one by one.  Some blocks get more keys than others, so that the rate is
 * higher than that of the same bits in one piece.  BloomBestBlocked takes this
 * into account: down to a rate of 1e-3, one block a key is enough, with at most
 * a tenth more bits.
 *
 * (F. Putze, P. Sanders, J. Singler: Cache-, Hash- and Space-Efficient Bloom
 * Filters.  WEA 2007, 108-121.)
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_BLOCKED_H
#define BLOOM_BLOCKED_H

#include "bits/bits.h"
#include "bits/sizing.h"

#define BLOOM_BLOCK_WORDS	8
#define BLOOM_BLOCK_BYTES	(BLOOM_BLOCK_WORDS * sizeof(uint64))

/* One 64-bit number has n positions in a block, of 9 bits each */
#define BLOOM_BLOCK_POSITIONS	7

/*
 * What to do at one of a key's positions, 0 to 511 in its block, whose word this
 * is.  Returns the bits of the word that are the key's, and were not set.
 */
typedef uint64 (*BloomBlockedVisit) (uint64 *word, int position);

/*
 * Visit the positions of a key: zero, if all of its bits were set.
 *
 * There are no branches but those of the loops, so that the processor can go
 * on while it waits for a block.
 */
static pg_attribute_always_inline uint64
BloomBlockedWalk(uint64 *words, uint64 nblocks, const BloomBlockedParams *params,
				 uint64 hash, BloomBlockedVisit visit)
{
	uint64		a = hash;
	uint64		fresh = 0;

	for (int i = 0; i < params->blocks; i++)
	{
		uint64	   *block = words + BloomMulHigh(a, nblocks) * BLOOM_BLOCK_WORDS;
		int			left = params->hashes;

		while (left > 0)
		{
			int			n = Min(left, BLOOM_BLOCK_POSITIONS);
			uint64		positions = BloomNextNumber(&a);

			left -= n;
			while (n-- > 0)
			{
				fresh |= visit(block + (positions >> 61), (int) (positions >> 55));
				positions <<= 9;
			}
		}
		(void) BloomNextNumber(&a);
	}
	return fresh;
}

static inline uint64
BloomBlockedLook(uint64 *word, int position)
{
	return ~*word & UINT64CONST(1) << (position & 63);
}

/* Is a key certainly absent: is one of its bits not set? */
static inline bool
BloomBlockedLacks(uint64 *words, uint64 nblocks, const BloomBlockedParams *params,
				  uint64 hash)
{
	return BloomBlockedWalk(words, nblocks, params, hash, BloomBlockedLook) != 0;
}

static inline uint64
BloomBlockedSet(uint64 *word, int position)
{
	uint64		mask = UINT64CONST(1) << (position & 63);
	uint64		fresh = ~*word & mask;

	*word |= mask;
	return fresh;
}

/* Add a key.  True: it was new, since one of its bits was not set. */
static inline bool
BloomBlockedAdd(uint64 *words, uint64 nblocks, const BloomBlockedParams *params,
				uint64 hash)
{
	return BloomBlockedWalk(words, nblocks, params, hash, BloomBlockedSet) != 0;
}

#endif							/* BLOOM_BLOCKED_H */
