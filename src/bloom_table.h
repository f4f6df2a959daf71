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

/* How many of these hashes are not in the table?  They are distinct. */
static inline uint64
BloomTableCountNew(const uint64 *slots, uint64 nslots,
				   const uint64 *hashes, uint64 nhashes)
{
	uint64		n = 0;

	for (uint64 j = 0; j < nhashes; j++)
	{
		uint64		i = BloomTableHome(nslots, hashes[j]);

		if (hashes[j] == 0)
			continue;			/* an empty slot of another table */
		while (slots[i] != 0 && slots[i] != hashes[j])
		{
			if (++i == nslots)
				i = 0;
		}
		n += slots[i] == 0;
	}
	return n;
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

/*
 * Write the hashes of a table in ascending order to out, which has room for
 * them, and give their number.
 *
 * Hashes whose search passed the end of the table stand at its beginning;
 * they are the largest, so they come last.  All others are at most a run of
 * full slots away from their place, which an insertion sort mends.
 */
static inline uint64
BloomTableSorted(const uint64 *slots, uint64 nslots, uint64 *out)
{
	uint64		n = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		if (slots[i] != 0 && BloomTableHome(nslots, slots[i]) <= i)
			out[n++] = slots[i];
	}
	for (uint64 i = 0; i < nslots && slots[i] != 0; i++)
	{
		if (BloomTableHome(nslots, slots[i]) > i)
			out[n++] = slots[i];
	}

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

#endif							/* BLOOM_TABLE_H */
