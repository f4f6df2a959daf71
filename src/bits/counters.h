/*-------------------------------------------------------------------------
 *
 * bits/counters.h
 *		Counters of 4 bits in place of bits: add, remove, test, count.
 *
 * The arithmetic
 * --------------
 *
 * A counter counts how often the keys of its position were added, up to 15,
 * which means "15 or more" and never changes again, since the number of removals
 * that would make it 0 is not known.  So a key may stay for too long, but none
 * is lost.
 *
 *		add			x + n is at most 15
 *		remove		15 - n stays 15; x - n with x < n cannot be done
 *
 * A position that a key has twice counts once.  So the smallest counter of a
 * key is at least the number of times that it was added, until it is 15.
 *
 * Counter i is the low half of byte i/2 if i is even, and the high half if i
 * is odd, so that the array has no byte order.  The positions are those of
 * bits/bits.h.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef COUNTING_BITS_H
#define COUNTING_BITS_H

#include "port/pg_bitutils.h"

#include "bits/bits.h"
#include "bits/sizing.h"

#define BLOOM_MAX_COUNT		15

/* Of the 16 counters in a word, those with an even number */
#define EVEN_COUNTERS		UINT64CONST(0x0f0f0f0f0f0f0f0f)

static inline unsigned int
BloomGetCounter(const uint8 *data, uint64 i)
{
	return (data[i >> 1] >> ((i & 1) * 4)) & 15;
}

static inline void
BloomPutCounter(uint8 *data, uint64 i, unsigned int value)
{
	int			shift = (i & 1) * 4;

	data[i >> 1] = (uint8) ((data[i >> 1] & ~(15 << shift)) | value << shift);
}

/* The sum of two counts. */
static inline unsigned int
BloomCountSum(unsigned int a, unsigned int b)
{
	return Min(a + b, BLOOM_MAX_COUNT);
}

/* The difference of two counts, the first of which suffices. */
static inline unsigned int
BloomCountDifference(unsigned int a, unsigned int b)
{
	return a == BLOOM_MAX_COUNT ? a : a - b;
}

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/*
 * Are all counters of the key in use?  False means that the key is not there.
 *
 * The loads of four positions are issued together, as in BloomTestBits.
 */
static inline bool
BloomTestCounters(const uint8 *data, uint64 bits, int hashes, uint64 hash)
{
	uint64		a = hash;

	for (; hashes >= 4; hashes -= 4)
	{
		unsigned int count0 = BloomGetCounter(data, BloomNextPosition(&a, bits));
		unsigned int count1 = BloomGetCounter(data, BloomNextPosition(&a, bits));
		unsigned int count2 = BloomGetCounter(data, BloomNextPosition(&a, bits));
		unsigned int count3 = BloomGetCounter(data, BloomNextPosition(&a, bits));

		if ((count0 == 0) | (count1 == 0) | (count2 == 0) | (count3 == 0))
			return false;
	}
	for (; hashes > 0; hashes--)
	{
		if (BloomGetCounter(data, BloomNextPosition(&a, bits)) == 0)
			return false;
	}
	return true;
}

/* The smallest counter of the key. */
static inline unsigned int
BloomSmallestCounter(const uint8 *data, uint64 bits, int hashes, uint64 hash)
{
	uint64		a = hash;
	unsigned int smallest = BLOOM_MAX_COUNT;

	while (hashes-- > 0)
	{
		unsigned int count = BloomGetCounter(data, BloomNextPosition(&a, bits));

		smallest = Min(smallest, count);
	}
	return smallest;
}

/*
 * Add the key so many times, and say how many counters were 0 before.
 *
 * All counters are read before the first is written.  So a position that the
 * key has twice gets the same new count twice.
 */
static inline int
BloomCountersAdd(uint8 *data, uint64 bits, int hashes, uint64 hash,
				 unsigned int times)
{
	uint32		position[BLOOM_MAX_HASHES];
	uint8		count[BLOOM_MAX_HASHES];
	uint64		a = hash;
	int			fresh = 0;

	for (int i = 0; i < hashes; i++)
	{
		position[i] = (uint32) BloomNextPosition(&a, bits);
		count[i] = BloomCountSum(BloomGetCounter(data, position[i]), times);
	}
	for (int i = 0; i < hashes; i++)
	{
		fresh += BloomGetCounter(data, position[i]) == 0;
		BloomPutCounter(data, position[i], count[i]);
	}
	return fresh;
}

/*
 * Remove the key so many times, and add to "emptied" the number of counters
 * that became 0.
 *
 * False, and nothing is changed: a counter does not suffice.
 */
static inline bool
BloomCountersRemove(uint8 *data, uint64 bits, int hashes, uint64 hash,
					unsigned int times, uint64 *emptied)
{
	uint32		position[BLOOM_MAX_HASHES];
	uint8		count[BLOOM_MAX_HASHES];
	uint64		a = hash;

	for (int i = 0; i < hashes; i++)
	{
		unsigned int old;

		position[i] = (uint32) BloomNextPosition(&a, bits);
		old = BloomGetCounter(data, position[i]);
		if (old < times)
			return false;
		count[i] = BloomCountDifference(old, times);
	}
	for (int i = 0; i < hashes; i++)
	{
		*emptied += count[i] == 0 && BloomGetCounter(data, position[i]) != 0;
		BloomPutCounter(data, position[i], count[i]);
	}
	return true;
}

/* Ask for the cache lines that BloomCountersAdd is going to write. */
static inline void
BloomPrefetchCounters(const uint8 *data, uint64 bits, int hashes, uint64 hash)
{
	uint64		a = hash;

	while (hashes-- > 0)
		BloomPrefetchWrite(&data[BloomNextPosition(&a, bits) >> 1]);
}

/* ----------------------------------------------------------------
 *							SIXTEEN COUNTERS AT ONCE
 * ----------------------------------------------------------------
 */

/* A word that has the lowest bit of each counter that is not 0. */
static inline uint64
BloomCountersNotZero(uint64 word)
{
	word |= word >> 2;
	word |= word >> 1;
	return word & UINT64CONST(0x1111111111111111);
}

/* How many of 16 counters are not 0? */
static inline int
BloomCounterWordUsed(uint64 word)
{
	return pg_popcount64(BloomCountersNotZero(word));
}

/* A word that has 15 in each byte whose bit 4 is set. */
static inline uint64
SpreadCarries(uint64 word)
{
	uint64		carries = word & UINT64CONST(0x1010101010101010);

	return carries - (carries >> 4);
}

/* The sums of 8 counters, each in the low half of a byte. */
static inline uint64
AddHalf(uint64 a, uint64 b)
{
	uint64		sum = a + b;

	return (sum | SpreadCarries(sum)) & EVEN_COUNTERS;
}

static inline uint64
BloomCounterWordSum(uint64 a, uint64 b)
{
	return AddHalf(a & EVEN_COUNTERS, b & EVEN_COUNTERS) |
		AddHalf((a >> 4) & EVEN_COUNTERS, (b >> 4) & EVEN_COUNTERS) << 4;
}

/* The differences, and in "missing" a bit for each that cannot be. */
static inline uint64
SubtractHalf(uint64 a, uint64 b, uint64 *missing)
{
	const uint64 borrow = UINT64CONST(0x1010101010101010);
	uint64		difference = (a | borrow) - b;
	uint64		full = SpreadCarries(a + UINT64CONST(0x0101010101010101));

	*missing |= ~difference & borrow;
	return ((difference & ~full) | full) & EVEN_COUNTERS;
}

/* 0 in "missing" stays, unless a counter of "a" does not suffice. */
static inline uint64
BloomCounterWordDifference(uint64 a, uint64 b, uint64 *missing)
{
	return SubtractHalf(a & EVEN_COUNTERS, b & EVEN_COUNTERS, missing) |
		SubtractHalf((a >> 4) & EVEN_COUNTERS, (b >> 4) & EVEN_COUNTERS,
					 missing) << 4;
}

/* The bits of 16 counters: those that are not 0. */
static inline unsigned int
BloomCountersToBits(uint64 word)
{
	uint64		bits = BloomCountersNotZero(word);

	/* gather the lowest bits of four, then of two times two, and so on */
	bits = (bits | bits >> 3) & UINT64CONST(0x0303030303030303);
	bits = (bits | bits >> 6) & UINT64CONST(0x000f000f000f000f);
	bits = (bits | bits >> 12) & UINT64CONST(0x000000ff000000ff);
	bits = (bits | bits >> 24) & UINT64CONST(0xffff);
	return (unsigned int) bits;
}

#endif							/* COUNTING_BITS_H */
