/*-------------------------------------------------------------------------
 *
 * table.c
 *		Test src/bits/table.h and src/bits/sort.c: distinct hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include "bits/sort.h"
#include "bits/table.h"

#define MAX_SLOTS	5000

static uint64 slots[MAX_SLOTS];
static uint64 keys[MAX_SLOTS];
static uint64 sorted[MAX_SLOTS];
static uint64 expected[MAX_SLOTS];

static int
compare(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Hashes of several kinds, of which some tables' searches run past the end. */
static uint64
make_key(int kind, uint64 *random, int i)
{
	uint64		key = next_random(random);

	switch (kind)
	{
		case 0:					/* as hashes are */
			break;
		case 1:					/* few different ones */
			key %= 100;
			break;
		case 2:					/* all large */
			key = PG_UINT64_MAX - key % 1000000;
			break;
		case 3:					/* all small */
			key %= 1000000;
			break;
		case 4:					/* large and small */
			key = i % 2 ? PG_UINT64_MAX - i : (uint64) i + 1;
			break;
		default:				/* in clusters */
			key = (key & UINT64CONST(0xff00000000000000)) + i;
			break;
	}
	return key == 0 ? 1 : key;
}

/* One table of so many slots, filled with so many keys. */
static void
check_table(int kind, uint64 nslots, uint64 nkeys, uint64 seed,
			bool *inserts_right, bool *sorted_right)
{
	uint64		random = seed;
	uint64		distinct = 0;
	uint64		inserted = 0;
	uint64		n;

	memset(slots, 0, sizeof(slots));
	for (uint64 i = 0; i < nkeys; i++)
	{
		keys[i] = make_key(kind, &random, (int) i);
		inserted += BloomTableInsert(slots, nslots, keys[i]);
		*inserts_right &= !BloomTableInsert(slots, nslots, keys[i]);
	}

	memcpy(expected, keys, nkeys * sizeof(uint64));
	qsort(expected, nkeys, sizeof(uint64), compare);
	for (uint64 i = 0; i < nkeys; i++)
		if (i == 0 || expected[i] != expected[i - 1])
			expected[distinct++] = expected[i];
	*inserts_right &= inserted == distinct;

	n = BloomTableSorted(slots, nslots, sorted);
	*sorted_right &= n == distinct &&
		memcmp(sorted, expected, n * sizeof(uint64)) == 0;
}

/*
 * Chosen hashes cannot crowd a large table: all searches together take about
 * as many steps as for random ones.  At 4/5 full, linear probing takes about
 * 3 steps for a hash that is there (Knuth), so that 6 is far from chance.
 */
static void
check_spread(void)
{
	bool		few_steps = true;
	uint64		nslots = MAX_SLOTS;
	uint64		nkeys = nslots / 5 * 4;

	for (int kind = 0; kind < 6; kind++)
		for (uint64 seed = 0; seed < 20; seed++)
		{
			uint64		random = seed;
			uint64		secret = next_random(&random) | 1;
			uint64		steps = 0;
			uint64		n = 0;

			memset(slots, 0, sizeof(slots));
			for (uint64 i = 0; i < nkeys; i++)
			{
				/* kind 0: ascending; then multiples of a power of two */
				uint64		hash = (i + 1) << (kind * 8);

				n += BloomTableInsert(slots, nslots,
									  BloomTableEntry(secret, hash));
			}
			for (uint64 i = 0; i < nslots; i++)
				if (slots[i] != 0)
					steps += (i + nslots - BloomTableHome(nslots, slots[i])) % nslots + 1;
			few_steps &= n == nkeys && steps <= 6 * nkeys;
		}
	ok(few_steps, "chosen hashes do not crowd a table that has a secret");
}

static void
check_sort(void)
{
	bool		sort_right = true;
	bool		merge_right = true;

	for (int kind = 0; kind < 6; kind++)
		for (uint64 n = 0; n <= MAX_SLOTS; n += 1 + n / 2)
			for (uint64 seed = 0; seed < 10; seed++)
			{
				uint64		random = seed;
				uint64		distinct = 0;
				uint64		na = n / 3;
				uint64		nb;

				for (uint64 i = 0; i < n; i++)
					keys[i] = make_key(kind, &random, (int) i);
				memcpy(expected, keys, n * sizeof(uint64));
				qsort(expected, n, sizeof(uint64), compare);
				for (uint64 i = 0; i < n; i++)
					if (i == 0 || expected[i] != expected[i - 1])
						expected[distinct++] = expected[i];

				memcpy(slots, keys, n * sizeof(uint64));
				sort_right &= BloomSortDistinct(slots, sorted, n, true) == distinct &&
					memcmp(sorted, expected, distinct * sizeof(uint64)) == 0;
				memcpy(slots, keys, n * sizeof(uint64));
				sort_right &= BloomSortDistinct(slots, sorted, n, false) == distinct &&
					memcmp(slots, expected, distinct * sizeof(uint64)) == 0;

				/* the same in two parts */
				memcpy(slots, keys, n * sizeof(uint64));
				nb = BloomSortDistinct(slots + na, sorted, n - na, false);
				memmove(keys, slots + na, nb * sizeof(uint64));
				na = BloomSortDistinct(slots, sorted, na, false);
				merge_right &= BloomMergeHashes(slots, na, keys, nb, NULL) == distinct &&
					BloomMergeHashes(slots, na, keys, nb, sorted) == distinct &&
					memcmp(sorted, expected, distinct * sizeof(uint64)) == 0;
				merge_right &= BloomMergeInPlace(slots, na, keys, nb) == distinct &&
					memcmp(slots, expected, distinct * sizeof(uint64)) == 0;
			}
	ok(sort_right, "BloomSortDistinct sorts and drops repeats, here or there");
	ok(merge_right, "lists are merged, in place as well");
}

int
main(void)
{
	bool		inserts_right = true;
	bool		sorted_right = true;
	bool		entries_right = true;

	for (int kind = 0; kind < 6; kind++)
		for (uint64 nslots = 5; nslots < MAX_SLOTS; nslots += 1 + nslots / 3)
			for (uint64 seed = 0; seed < 10; seed++)
				check_table(kind, nslots, BloomTableRoom(nslots), seed,
							&inserts_right, &sorted_right);
	ok(inserts_right, "a hash is inserted once");
	ok(sorted_right, "BloomTableSorted gives all hashes, ascending");

	/* scrambling is a permutation that keeps zero */
	for (uint64 seed = 0; seed < 1000; seed++)
	{
		uint64		random = seed;
		uint64		secret = next_random(&random) | 1;
		uint64		inverse = BloomTableInverse(secret);

		entries_right &= BloomTableEntry(secret, 0) == 0 &&
			BloomTableEntry(0, seed) == seed &&
			BloomTableHash(BloomTableInverse(0), seed) == seed;
		for (int kind = 0; kind < 6; kind++)
		{
			uint64		hash = make_key(kind, &random, (int) seed);
			uint64		entry = BloomTableEntry(secret, hash);

			entries_right &= entry != 0 && BloomTableHash(inverse, entry) == hash;
		}
	}
	ok(entries_right, "an entry is a hash scrambled, and gives it back");
	check_spread();
	check_sort();
	return done_testing();
}
