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
#ifndef BLOOM_COUNTERS_H
#define BLOOM_COUNTERS_H

#include "port/pg_bitutils.h"

#include "bits/bits.h"
#include "bits/sizing.h"

#define BLOOM_MAX_COUNT		15

/* Of the 16 counters in a word, those with an even number */
#define BLOOM_EVEN_COUNTERS		UINT64CONST(0x0f0f0f0f0f0f0f0f)

#define BloomGetCounter(data, i)	BloomGetPlace(data, i, 4)

static inline void
BloomPutCounter(uint8 *data, uint64 i, unsigned int value)
{
	int			shift = (i & 1) * 4;

	data[i >> 1] = (uint8) ((data[i >> 1] & ~(15 << shift)) | value << shift);
}

/* A count after this change, which is at least -count; 15 stays. */
static inline unsigned int
BloomCountAfter(unsigned int count, int change)
{
	return change < 0 && count == BLOOM_MAX_COUNT ? count :
		Min((int) count + change, BLOOM_MAX_COUNT);
}

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/* Are all counters of the key in use?  False means that it is not there. */
#define BloomTestCounters(data, bits, hashes, hash) \
	BloomTestPlaces(data, 4, bits, hashes, hash)

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
 * Add the key n times, or remove it -n times, at most as often as its smallest
 * counter says; and keep the number of counters in use, unless that is NULL,
 * which the compiler knows.
 *
 * All counters are read before the first is written.  So a position that the
 * key has twice gets the same new count twice.
 */
static pg_attribute_always_inline void
BloomCountersChange(uint8 *data, uint64 bits, int hashes, uint64 hash,
					int n, uint64 *in_use)
{
	uint32		position[BLOOM_MAX_HASHES];
	uint8		count[BLOOM_MAX_HASHES];
	uint64		a = hash;

	for (int i = 0; i < hashes; i++)
	{
		position[i] = (uint32) BloomNextPosition(&a, bits);
		count[i] = BloomCountAfter(BloomGetCounter(data, position[i]), n);
	}
	for (int i = 0; i < hashes; i++)
	{
		if (in_use != NULL)
			*in_use += (count[i] != 0) - (BloomGetCounter(data, position[i]) != 0);
		BloomPutCounter(data, position[i], count[i]);
	}
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
BloomSpreadCarries(uint64 word)
{
	uint64		carries = word & UINT64CONST(0x1010101010101010);

	return carries - (carries >> 4);
}

/* The sums of 8 counters, each in the low half of a byte. */
static inline uint64
BloomAddHalf(uint64 a, uint64 b)
{
	uint64		sum = a + b;

	return (sum | BloomSpreadCarries(sum)) & BLOOM_EVEN_COUNTERS;
}

static inline uint64
BloomCounterWordSum(uint64 a, uint64 b)
{
	return BloomAddHalf(a & BLOOM_EVEN_COUNTERS, b & BLOOM_EVEN_COUNTERS) |
		BloomAddHalf((a >> 4) & BLOOM_EVEN_COUNTERS, (b >> 4) & BLOOM_EVEN_COUNTERS) << 4;
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

#endif							/* BLOOM_COUNTERS_H */
