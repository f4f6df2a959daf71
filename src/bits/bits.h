/*-------------------------------------------------------------------------
 *
 * bits/bits.h
 *		From a key's 64-bit hash to bits: positions, set, test.
 *
 * The positions of a key
 * ----------------------
 *
 * A key's hash starts a multiplicative sequence modulo 2^64,
 *
 *		a[0] = hash,  a[i] = a[i-1] * BLOOM_MULTIPLIER + BLOOM_INCREMENT
 *
 * and each of a[1] ... a[hashes] gives one position in an array of m bits,
 * the high word of the 128-bit product a[i] * m.  Both constants are odd, so
 * that every step permutes the 64-bit numbers.
 *
 * Taking the high word instead of a remainder costs no division, works for
 * every m, and makes a filter foldable: with d dividing m, the position in
 * m/d bits is the position in m bits divided by d.
 *
 * The usual double hashing (h1 + i * h2 mod m) is cheaper still, but gives
 * small filters many times the false positives that they were sized for,
 * since there are too few different pairs (h1, h2).
 *
 * Bit i is bit i%8 of byte i/8, so that the array has no byte order.
 *
 * All of this is frozen: stored filters depend on it.  docs/format.md has
 * golden vectors.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_BITS_H
#define BLOOM_BITS_H

#include "port/pg_bswap.h"

/* ----------------------------------------------------------------
 *							LONG LOOPS
 * ----------------------------------------------------------------
 */

#ifdef FRONTEND
#define CHECK_FOR_INTERRUPTS()	((void) 0)
#else
#include "miscadmin.h"
#endif

/*
 * CHECK_FOR_INTERRUPTS is cheap but not free, so loops call it once in n steps,
 * of which none takes more than about a hundred nanoseconds.  It is a
 * power of two.
 */
#define BLOOM_STEPS_PER_CHECK	UINT64CONST(262144)

/* In step i of a loop, counted from 0 */
#define BloomCheckInterrupts(i) \
	do { \
		if (((i) & (BLOOM_STEPS_PER_CHECK - 1)) == 0) \
			CHECK_FOR_INTERRUPTS(); \
	} while (0)

/* ----------------------------------------------------------------
 *							BYTE ORDER
 *
 * Numbers are little-endian outside of the server.
 * ----------------------------------------------------------------
 */

#ifdef WORDS_BIGENDIAN
#define BloomLittleEndian16(x)	pg_bswap16(x)
#define BloomLittleEndian32(x)	pg_bswap32(x)
#define BloomLittleEndian64(x)	pg_bswap64(x)
#else
#define BloomLittleEndian16(x)	(x)
#define BloomLittleEndian32(x)	(x)
#define BloomLittleEndian64(x)	(x)
#endif

/* ----------------------------------------------------------------
 *							POSITIONS
 * ----------------------------------------------------------------
 */

#define BLOOM_MULTIPLIER	UINT64CONST(0xd1342543de82ef95)
#define BLOOM_INCREMENT		UINT64CONST(0x2545F4914F6CDD1D)

/* How many keys ahead of its turn a key's cache lines are prefetched. */
#define BLOOM_PREFETCH_KEYS	16

#if defined(__GNUC__)
#define BloomPrefetchRead(p)	__builtin_prefetch(p)
#define BloomPrefetchWrite(p)	__builtin_prefetch((p), 1)
#else
#define BloomPrefetchRead(p)	((void) (p))
#define BloomPrefetchWrite(p)	((void) (p))
#endif

/*
 * The high word of a * bits.
 *
 * Right for every bits up to 2^32, which is the largest filter: then neither
 * partial product nor their sum leaves 64 bits.
 */
static inline uint64
BloomMulHigh(uint64 a, uint64 bits)
{
#ifdef HAVE_INT128
	return (uint64) (((uint128) a * bits) >> 64);
#else
	return ((a >> 32) * bits + (((a & 0xffffffff) * bits) >> 32)) >> 32;
#endif
}

/* Step the sequence, and return the new number. */
static inline uint64
BloomNextNumber(uint64 *a)
{
	*a = *a * BLOOM_MULTIPLIER + BLOOM_INCREMENT;
	return *a;
}

/* Step the sequence, and return the position of the new number. */
static inline uint64
BloomNextPosition(uint64 *a, uint64 bits)
{
	return BloomMulHigh(BloomNextNumber(a), bits);
}

/*
 * What is at a position of an array of bits, which have a width of 1, or of
 * counters, which have one of 4 (bits/counters.h).
 */
static inline unsigned int
BloomGetPlace(const uint8 *data, uint64 position, int width)
{
	uint64		bit = position * width;

	return data[bit >> 3] >> (bit & 7) & ((1 << width) - 1);
}

#define BloomGetBit(data, position)	BloomGetPlace(data, position, 1)

/*
 * Filters from this size on are beyond the second-level cache, where a miss
 * takes longer than to compute all positions.
 */
#define BLOOM_FAR_BITS	(UINT64CONST(8) * 4 * 1024 * 1024)

/*
 * Loads issued per round: about as many cache misses as a core can have
 * outstanding.
 */
#define BLOOM_FAR_LOADS	16

/*
 * Are all bits of the key set, or all its counters in use?  False means that
 * the key was never added.
 *
 * The loads of four positions are issued together: an exit after each one
 * would make every cache miss wait for the branch before it.  In a large
 * filter, these are the loads of all positions.
 */
static pg_attribute_always_inline bool
BloomTestPlaces(const uint8 *data, int width, uint64 bits, int hashes,
				uint64 hash)
{
	uint64		a = hash;

	while (width == 1 && bits >= BLOOM_FAR_BITS && hashes > 0)
	{
		unsigned int all = 1;
		int			n = Min(hashes, BLOOM_FAR_LOADS);

		hashes -= n;
		while (n-- > 0)
			all &= BloomGetPlace(data, BloomNextPosition(&a, bits), width) != 0;
		if (all == 0)
			return false;
	}
	for (; hashes >= 4; hashes -= 4)
	{
		bool		set0 = BloomGetPlace(data, BloomNextPosition(&a, bits), width) != 0;
		bool		set1 = BloomGetPlace(data, BloomNextPosition(&a, bits), width) != 0;
		bool		set2 = BloomGetPlace(data, BloomNextPosition(&a, bits), width) != 0;
		bool		set3 = BloomGetPlace(data, BloomNextPosition(&a, bits), width) != 0;

		if ((set0 & set1 & set2 & set3) == 0)
			return false;
	}
	for (; hashes > 0; hashes--)
	{
		if (BloomGetPlace(data, BloomNextPosition(&a, bits), width) == 0)
			return false;
	}
	return true;
}

#define BloomTestBits(data, bits, hashes, hash) \
	BloomTestPlaces(data, 1, bits, hashes, hash)

/* Set the bits of the key, and return how many of them were not set before. */
static inline int
BloomSetBits(uint8 *data, uint64 bits, int hashes, uint64 hash)
{
	uint64		a = hash;
	int			fresh = 0;

	while (hashes-- > 0)
	{
		uint64		position = BloomNextPosition(&a, bits);
		uint8	   *byte = &data[position >> 3];
		uint8		mask = 1 << (position & 7);

		fresh += (*byte & mask) == 0;
		*byte |= mask;
	}
	return fresh;
}

/* Ask for the cache lines that adding the key is going to write. */
static pg_attribute_always_inline void
BloomPrefetch(const uint8 *data, int width, uint64 bits, int hashes,
			  uint64 hash)
{
	uint64		a = hash;

	while (hashes-- > 0)
		BloomPrefetchWrite(&data[BloomNextPosition(&a, bits) * width >> 3]);
}

#endif							/* BLOOM_BITS_H */
