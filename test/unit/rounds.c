/*-------------------------------------------------------------------------
 *
 * batch.c
 *		Test src/bits/rounds.c: many keys at once are found as one by one.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <stdlib.h>

#include "bits/rounds.h"
#include "bits/counters.h"

#define MAX_KEYS	20000
#define MAX_BITS	200000
#define MAX_BLOCKS	400

static uint64 keys[MAX_KEYS];
static uint64 nkeys;
static uint8 data[MAX_BITS / 2];
static uint64 blocks[MAX_BLOCKS * BLOOM_BLOCK_WORDS] __attribute__((aligned(64)));
static uint64 random_state = 1;

/* How many numbers of each kind of key were tested */
static int	ntested[3];
static int	nfound[3];

static int
compare(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* So many keys, ascending and distinct; sometimes all of one neighbourhood. */
static void
make_keys(uint64 n)
{
	bool		crowded = next_random(&random_state) % 4 == 0;

	for (uint64 i = 0; i < n; i++)
		keys[i] = crowded ? 1000 + 3 * i : next_random(&random_state) | 1;
	qsort(keys, n, sizeof(uint64), compare);
	nkeys = 0;
	for (uint64 i = 0; i < n; i++)
		if (i == 0 || keys[i] != keys[i - 1])
			keys[nkeys++] = keys[i];
}

/* Keys that are there, neighbours of such, any, and 0, with repeats. */
static int
make_hashes(uint64 *hashes)
{
	int			n = (int) (next_random(&random_state) % (BLOOM_BATCH + 1));
	uint64		present = next_random(&random_state) % 5;

	for (int i = 0; i < n; i++)
	{
		uint64		r = next_random(&random_state);

		if (r % 16 == 0)
			hashes[i] = 0;
		else if (r % 16 == 1 && i > 0)
			hashes[i] = hashes[i - 1];
		else if (nkeys > 0 && r / 16 % 4 < present)
			hashes[i] = keys[r / 64 % nkeys] + (r % 16 == 2) - (r % 16 == 3);
		else
			hashes[i] = next_random(&random_state);
	}
	return n;
}

/* Are these the numbers of the hashes for which the test holds? */
#define IS_RIGHT(kind, call, test) \
	do { \
		uint64		hashes[BLOOM_BATCH]; \
		uint16		found[BLOOM_BATCH + 1]; \
		int			n = make_hashes(hashes); \
		int			m; \
		int			next = 0; \
\
		found[n] = 0x5a5a; \
		m = call; \
		for (int i = 0; i < n; i++) \
		{ \
			uint64		hash = hashes[i]; \
\
			if (hash != 0 && (test)) \
				right &= next < m && found[next++] == i; \
		} \
		right &= next == m && found[n] == 0x5a5a; \
		ntested[kind] += n; \
		nfound[kind] += m; \
	} while (0)

static void
test_places(int width)
{
	static const int all_hashes[] = {1, 2, 3, 5, 7, 17, 64};
	bool		right = true;

	for (int i = 0; i < 400; i++)
	{
		int			nhashes = all_hashes[next_random(&random_state) % lengthof(all_hashes)];
		uint64		bits = (1 + next_random(&random_state) % (MAX_BITS / 64)) * 64;

		make_keys(next_random(&random_state) % (bits / nhashes + 1) % MAX_KEYS);
		memset(data, 0, sizeof(data));
		for (uint64 k = 0; k < nkeys; k++)
		{
			if (width == 1)
				BloomSetBits(data, bits, nhashes, keys[k]);
			else
				BloomCountersChange(data, bits, nhashes, keys[k], 1, NULL);
		}
		for (int j = 0; j < 20; j++)
			IS_RIGHT(0, BloomTestBatchPlaces(data, width, bits, nhashes, hashes, n, found),
					 BloomTestPlaces(data, width, bits, nhashes, hash));
	}
	ok(right, width == 1 ? "bits: the same keys as one by one" :
	   "counters: the same keys as one by one");
}

static void
test_lists(void)
{
	bool		right = true;

	for (int i = 0; i < 400; i++)
	{
		static const BloomBlockedParams params = {1, 5, 10};
		uint64		nblocks = 1 + next_random(&random_state) % (MAX_BLOCKS - 1);

		make_keys(i < 40 ? (uint64) i : next_random(&random_state) % MAX_KEYS);
		memset(blocks, 0, sizeof(blocks));
		for (uint64 k = 0; k < nkeys; k++)
			BloomBlockedAdd(blocks, nblocks, &params, keys[k]);
		for (int j = 0; j < 20; j++)
		{
			IS_RIGHT(1, BloomTestBatchList(keys, nkeys, NULL, 0, NULL, hashes, n, found),
					 bsearch(&hash, keys, nkeys, sizeof(uint64), compare) != NULL);
			IS_RIGHT(2, BloomTestBatchList(keys, nkeys, blocks, nblocks, &params, hashes, n, found),
					 bsearch(&hash, keys, nkeys, sizeof(uint64), compare) != NULL);
		}
	}
	ok(right, "sorted lists, with and without a sieve: the same keys as one by one");
}

int
main(void)
{
	test_places(1);
	test_places(4);
	test_lists();
	for (int kind = 0; kind < 3; kind++)
		ok(nfound[kind] > ntested[kind] / 5 && nfound[kind] < ntested[kind] / 5 * 4,
		   "some were there, and some were not");
	return done_testing();
}
