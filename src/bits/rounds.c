/*-------------------------------------------------------------------------
 *
 * bits/rounds.c
 *		Many keys tested together, so that they wait for memory together.
 *
 * Each function tests at most BLOOM_BATCH hashes, of which 0 is that of no key.
 * It puts the numbers of those that are possibly there into found, ascending,
 * and returns how many they are.
 *
 * Loops that drop keys have no branch for it: each key is written to where the
 * next one that stays belongs, and the place moves on if it stays.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "bits/rounds.h"

/* So few keys are tested each by itself: a round has too little to do meanwhile. */
#define FEW		4

/* The numbers of the hashes that are not 0. */
static int
NotZero(const uint64 *hashes, int n, uint16 *found)
{
	int			m = 0;

	for (int i = 0; i < n; i++)
	{
		found[m] = (uint16) i;
		m += hashes[i] != 0;
	}
	return m;
}

static pg_attribute_always_inline int
TestPlaces(const uint8 *data, int width, uint64 bits, int nhashes,
		   const uint64 *hashes, int n, uint16 *found)
{
	uint64		a[BLOOM_BATCH];
	uint32		position[BLOOM_BATCH];
	int			m = NotZero(hashes, n, found);

	Assert(n <= BLOOM_BATCH);
	for (int i = 0; i < m; i++)
		a[i] = hashes[found[i]];
	while (nhashes > 0 && m > FEW)
	{
		for (int i = 0; i < m; i++)
		{
			position[i] = (uint32) BloomNextPosition(&a[i], bits);
			BloomPrefetchRead(&data[(uint64) position[i] * width >> 3]);
		}
		n = m;
		m = 0;
		for (int i = 0; i < n; i++)
		{
			found[m] = found[i];
			a[m] = a[i];
			m += BloomGetPlace(data, position[i], width) != 0;
		}
		nhashes--;
	}
	n = m;
	m = 0;
	for (int i = 0; i < n; i++)
	{
		found[m] = found[i];
		m += BloomTestPlaces(data, width, bits, nhashes, a[i]);
	}
	return m;
}

/*
 * BloomTestBatchPlaces
 *		Keys whose bits are all set, or, with a width of 4, whose counters are
 *		all in use.
 */
int
BloomTestBatchPlaces(const uint8 *data, int width, uint64 bits, int nhashes,
					 const uint64 *hashes, int n, uint16 *found)
{
	if (width == 1)
		return TestPlaces(data, 1, bits, nhashes, hashes, n, found);
	return TestPlaces(data, 4, bits, nhashes, hashes, n, found);
}

/* Of these numbers of hashes, those that a blocked filter does not lack. */
static int
PassSieve(uint64 *blocks, uint64 nblocks, const BloomBlockedParams *params,
		  const uint64 *hashes, int n, uint16 *found)
{
	int			m = 0;

	for (int i = 0; i < n; i++)
		BloomPrefetchRead(&blocks[BloomMulHigh(hashes[found[i]], nblocks) *
								  BLOOM_BLOCK_WORDS]);
	for (int i = 0; i < n; i++)
	{
		uint64		hash = hashes[found[i]];

		found[m] = found[i];
		m += !BloomBlockedLacks(blocks, nblocks, params, hash);
	}
	return m;
}

/*
 * BloomTestBatchList
 *		Hashes in a sorted list, which may have a blocked filter as its sieve.
 *
 * All that pass it are searched by halves, in step.
 */
int
BloomTestBatchList(const uint64 *keys, uint64 nkeys, uint64 *blocks,
				   uint64 nblocks, const BloomBlockedParams *params,
				   const uint64 *hashes, int n, uint16 *found)
{
	uint32		first[BLOOM_BATCH] = {0};
	int			m = nkeys == 0 ? 0 : NotZero(hashes, n, found);

	if (blocks != NULL)
		m = PassSieve(blocks, nblocks, params, hashes, m, found);
	/* a key that is there is among so many from its first on */
	for (uint64 span = nkeys; span > 1 && m > 0;)
	{
		uint64		half = span / 2;

		for (int i = 0; i < m; i++)
		{
			first[i] += keys[first[i] + half] <= hashes[found[i]] ? half : 0;
			BloomPrefetchRead(&keys[first[i] + (span - half) / 2]);
		}
		span -= half;
	}
	n = m;
	m = 0;
	for (int i = 0; i < n; i++)
	{
		uint16		number = found[i];

		found[m] = number;
		m += keys[first[i]] == hashes[number];
	}
	return m;
}
