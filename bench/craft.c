/*-------------------------------------------------------------------------
 *
 * craft.c
 *		Keys that an attacker would choose, who knows the seed of a set.
 *
 * craft N prints N keys of type bigint whose places in a set of seed 0
 * (set/set.h) are 1, 2, ..., N: so near to each other that all are in the same
 * shard of every generation.  XXH3 of 8 bytes, like every good mixer, can be
 * run backward.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SHARD_SEED	UINT64_C(0x73686172642d6f66)
#define MULTIPLIER	UINT64_C(0x9FB21C651E98DF25)

static uint64_t
Rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

/* The number whose product with an odd one is 1: each step doubles the bits. */
static uint64_t
Inverse(uint64_t odd)
{
	uint64_t	x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* The 8 bytes, as a little-endian number, that have this hash. */
static uint64_t
Unhash(uint64_t h, uint64_t seed)
{
	uint64_t	secret[2];
	uint64_t	x;

	h ^= (h >> 28) ^ (h >> 56);
	h *= Inverse(MULTIPLIER);
	x = h;
	for (int i = 0; i < 2; i++)
		x = h ^ ((x >> 35) + 8);
	h = x * Inverse(MULTIPLIER);

	/* 1 + x^49 + x^24 modulo x^64 + 1 has the order 64 */
	for (int i = 0; i < 63; i++)
		h ^= Rotate(h, 49) ^ Rotate(h, 24);

	memcpy(secret, XXH3_kSecret + 8, sizeof(secret));
	seed ^= (uint64_t) __builtin_bswap32((uint32_t) seed) << 32;
	h ^= (secret[0] ^ secret[1]) - seed;
	return Rotate(h, 32);
}

int
main(int argc, char **argv)
{
	uint64_t	n = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000;

	for (uint64_t place = 1; place <= n; place++)
	{
		uint64_t	hash = Unhash(place, SHARD_SEED);
		int64_t		key = (int64_t) Unhash(hash, 0);

		if (XXH3_64bits_withSeed(&key, 8, 0) != hash ||
			XXH3_64bits_withSeed(&hash, 8, SHARD_SEED) != place)
		{
			fprintf(stderr, "craft: %lld has another hash\n", (long long) key);
			return 1;
		}
		printf("%lld\n", (long long) key);
	}
	return 0;
}
