/*-------------------------------------------------------------------------
 *
 * sort.c
 *		Test src/bits/sort.c: sorted lists of distinct hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include "bits/sort.h"

#define MAX_KEYS	5000

static uint64 work[MAX_KEYS];
static uint64 keys[MAX_KEYS];
static uint64 sorted[MAX_KEYS];
static uint64 expected[MAX_KEYS];

static int
compare(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Hashes of several kinds. */
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

static void
check_sort(void)
{
	bool		sort_right = true;
	bool		merge_right = true;
	bool		places_right = true;

	for (int kind = 0; kind < 6; kind++)
		for (uint64 n = 0; n <= MAX_KEYS; n += 1 + n / 2)
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

				memcpy(work, keys, n * sizeof(uint64));
				sort_right &= BloomSortDistinct(work, sorted, n, true) == distinct &&
					memcmp(sorted, expected, distinct * sizeof(uint64)) == 0;
				memcpy(work, keys, n * sizeof(uint64));
				sort_right &= BloomSortDistinct(work, sorted, n, false) == distinct &&
					memcmp(work, expected, distinct * sizeof(uint64)) == 0;

				/* each has its place; its neighbours that are not there have none */
				for (uint64 i = 0; i < distinct; i++)
					places_right &= BloomFindKey(expected, distinct, expected[i]) == expected + i &&
						(i > 0 && expected[i - 1] == expected[i] - 1 ? true :
						 BloomFindKey(expected, distinct, expected[i] - 1) == NULL);

				/* the same in two parts */
				memcpy(work, keys, n * sizeof(uint64));
				nb = BloomSortDistinct(work + na, sorted, n - na, false);
				memmove(keys, work + na, nb * sizeof(uint64));
				na = BloomSortDistinct(work, sorted, na, false);
				merge_right &= BloomMergeHashes(work, na, keys, nb, NULL) == distinct &&
					BloomMergeHashes(work, na, keys, nb, sorted) == distinct &&
					memcmp(sorted, expected, distinct * sizeof(uint64)) == 0;
				merge_right &= BloomMergeInPlace(work, na, keys, nb) == distinct &&
					memcmp(work, expected, distinct * sizeof(uint64)) == 0;
			}
	ok(sort_right, "BloomSortDistinct sorts and drops repeats, here or there");
	ok(places_right, "BloomFindKey returns the place of a hash, or NULL");
	ok(merge_right, "lists are merged, in place as well");
}

int
main(void)
{
	check_sort();
	return done_testing();
}
