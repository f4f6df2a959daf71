/*-------------------------------------------------------------------------
 *
 * bits/table.h
 *		An open-addressing table of distinct 64-bit hashes in a flat array.
 *
 * A state collects keys in it.  simplehash.h would be the server's own
 * choice, but its tables hold a pointer, and an aggregate's state must be a
 * flat varlena (filter/state.c says why).
 *
 * An empty slot is zero, which is no hash (key/hash.c).  An entry belongs
 * into the slot (entry * nslots) >> 64, or the next free one, cyclically.  So
 * the number of slots need not be a power of two, and the slots are nearly in
 * the order of the entries.
 *
 * Entries
 * -------
 *
 * Somebody who chooses keys for their hashes could have them all belong into
 * the same few slots, and then each would search past all before it.  So a
 * large table has a secret, an odd number, and its entries are the hashes
 * scrambled by that: a permutation of the 64-bit numbers, with zero in its
 * place, which nobody can aim at.  In a small table, a search is short
 * whatever the hashes; its secret is zero, and its entries are the hashes.
 *
 * All searches end, even in a table that is full, which would be a bug.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TABLE_H
#define BLOOM_TABLE_H

#include "bits/bits.h"
#include "bits/interrupts.h"

/* Cannot happen: those who add see to it that there is a free slot */
#ifdef FRONTEND
#define BloomTableIsFull()			abort()
#else
#define BloomTableIsFull()			elog(ERROR, "table of hashes is full")
#endif

/* A table without a secret has at most so many slots */
#define BLOOM_TABLE_SMALL			64

/* Most keys that a table may hold, but for a moment: 4/5 of its slots. */
#define BloomTableRoom(nslots)		((nslots) - ((nslots) + 4) / 5)

/*
 * The entry of a hash.
 *
 * One step less would leave multiples of a large power of two in rows.  Read
 * backwards, it is the same function, of the secret's inverse.
 */
static inline uint64
BloomTableEntry(uint64 secret, uint64 hash)
{
	uint64		entry = hash;

	if (secret != 0)
	{
		entry *= secret;
		entry ^= entry >> 32;
		entry *= secret;
		entry ^= entry >> 32;
		entry *= secret;
	}
	return entry;
}

/* What turns entries back into hashes: the inverse of the secret */
static inline uint64
BloomTableInverse(uint64 secret)
{
	uint64		inverse = secret;

	/* an odd number is its own inverse modulo 8; each step doubles the bits */
	for (int bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - secret * inverse;
	return inverse;
}

/* The hash of an entry */
static inline uint64
BloomTableHash(uint64 inverse, uint64 entry)
{
	return BloomTableEntry(inverse, entry);
}

static inline uint64
BloomTableHome(uint64 nslots, uint64 entry)
{
	return BloomMulHigh(entry, nslots);
}

/*
 * Put the entry in, unless it is there.  True: it was not.
 *
 * There is a free slot.
 */
static inline bool
BloomTableInsert(uint64 *slots, uint64 nslots, uint64 entry)
{
	uint64		home = BloomTableHome(nslots, entry);
	uint64		i = home;

	while (slots[i] != 0)
	{
		if (slots[i] == entry)
			return false;
		if (++i == nslots)
			i = 0;
		if (unlikely(i == home))
			BloomTableIsFull();
	}
	slots[i] = entry;
	return true;
}

/* So many entries are set aside, where some have to be */
#define BLOOM_TABLE_ASIDE	64

/*
 * Write the entries of a table in ascending order to out, which has room for
 * them, and give their number.
 *
 * Entries whose search passed the end of the table stand at its beginning;
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
		uint64		entry = slots[i];

		BloomCheckInterrupts(i);
		if (entry == 0)
			continue;
		if (BloomTableHome(nslots, entry) > i && naside < BLOOM_TABLE_ASIDE)
			aside[naside++] = entry;
		else
			out[n++] = entry;
	}
	for (int i = 0; i < naside; i++)
		out[n++] = aside[i];

	for (uint64 i = 1; i < n; i++)
	{
		uint64		entry = out[i];
		uint64		j = i;

		BloomCheckInterrupts(i);
		for (; j > 0 && out[j - 1] > entry; j--)
			out[j] = out[j - 1];
		out[j] = entry;
	}
	return n;
}

#endif							/* BLOOM_TABLE_H */
