/*-------------------------------------------------------------------------
 *
 * bloom_table.h
 *		An open-addressing table of distinct 64-bit hashes in a flat array.
 *
 * An aggregate collects keys in it.  simplehash.h would be the server's own
 * choice, but its tables hold a pointer, and an aggregate's state must be a
 * flat varlena (bloom_state.c says why).
 *
 * An empty slot is zero, which is no hash (bloom_hash.c).  A hash belongs
 * into the slot (hash * nslots) >> 64, or the next free one, cyclically.  So
 * the number of slots need not be a power of two, the slots are nearly in the
 * order of the hashes, growing reads and writes memory in sequence, and
 * sorting at the end costs next to nothing.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TABLE_H
#define BLOOM_TABLE_H

#include "bloom_bits.h"

/* Most keys that a table may hold: 4/5 of its slots. */
#define BloomTableRoom(nslots)		((nslots) / 5 * 4)
#define BloomTableSlotsFor(nkeys)	(((nkeys) + 3) / 4 * 5)

static inline uint64
BloomTableHome(uint64 nslots, uint64 hash)
{
	return BloomMulHigh(hash, nslots);
}

/* Put the hash in, unless it is there.  True: it was not. */
static inline bool
BloomTableInsert(uint64 *slots, uint64 nslots, uint64 hash)
{
	uint64		i = BloomTableHome(nslots, hash);

	while (slots[i] != 0)
	{
		if (slots[i] == hash)
			return false;
		if (++i == nslots)
			i = 0;
	}
	slots[i] = hash;
	return true;
}

/* Put in hashes that are known to be distinct and new. */
static inline void
BloomTableInsertNew(uint64 *slots, uint64 nslots,
					const uint64 *hashes, uint64 nhashes)
{
	for (uint64 j = 0; j < nhashes; j++)
	{
		uint64		i;

		if (hashes[j] == 0)
			continue;			/* an empty slot of another table */
		i = BloomTableHome(nslots, hashes[j]);
		while (slots[i] != 0)
		{
			if (++i == nslots)
				i = 0;
		}
		slots[i] = hashes[j];
	}
}

/* So many hashes are set aside, where some have to be */
#define BLOOM_TABLE_ASIDE	64

/*
 * Write the hashes of a table in ascending order to out, which has room for
 * them or is the table itself, and give their number.
 *
 * Hashes whose search passed the end of the table stand at its beginning;
 * they are the largest, so they are set aside to come last.  All others are
 * at most a run of full slots away from their place, which an insertion sort
 * mends (and also what could not be set aside).
 */
static inline uint64
BloomTableSorted(const uint64 *slots, uint64 nslots, uint64 *out)
{
	uint64		aside[BLOOM_TABLE_ASIDE];
	int			naside = 0;
	uint64		n = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		hash = slots[i];

		if (hash == 0)
			continue;
		if (BloomTableHome(nslots, hash) > i && naside < BLOOM_TABLE_ASIDE)
			aside[naside++] = hash;
		else
			out[n++] = hash;
	}
	for (int i = 0; i < naside; i++)
		out[n++] = aside[i];

	for (uint64 i = 1; i < n; i++)
	{
		uint64		hash = out[i];
		uint64		j = i;

		for (; j > 0 && out[j - 1] > hash; j--)
			out[j] = out[j - 1];
		out[j] = hash;
	}
	return n;
}

/*
 * Make a table of the hashes at the beginning of an array, which are
 * ascending, in the array itself.  What is behind them is overwritten.
 *
 * The hashes are moved to the end of the array, and then, in order, each to
 * the first slot that is both free and no less than its own.  No slot is
 * written before it was read, as long as there are enough slots for those that
 * follow.  At the very end there may not be, so the last hashes are set aside
 * and inserted in the usual way.  If that does not help either, the result is
 * false, and the hashes are at the beginning of the array as before: there
 * are implausibly many large ones.
 */
static inline bool
BloomTableSpread(uint64 *slots, uint64 nslots, uint64 nhashes)
{
	uint64		aside[BLOOM_TABLE_ASIDE];
	uint64		naside = Min(nhashes, BLOOM_TABLE_ASIDE);
	uint64		n = nhashes - naside;
	uint64		start = nslots - nhashes;
	uint64		next = 0;

	for (uint64 i = 0; i < n; i++)
	{
		next = Max(next, BloomTableHome(nslots, slots[i]));
		if (next > start + i)
			return false;
		next++;
	}

	memcpy(aside, slots + n, naside * sizeof(uint64));
	memmove(slots + start, slots, n * sizeof(uint64));
	memset(slots, 0, start * sizeof(uint64));
	memset(slots + start + n, 0, naside * sizeof(uint64));

	next = 0;
	for (uint64 i = 0; i < n; i++)
	{
		uint64		hash = slots[start + i];

		slots[start + i] = 0;
		next = Max(next, BloomTableHome(nslots, hash));
		slots[next++] = hash;
	}
	for (uint64 i = 0; i < naside; i++)
		(void) BloomTableInsert(slots, nslots, aside[i]);
	return true;
}

#endif							/* BLOOM_TABLE_H */
