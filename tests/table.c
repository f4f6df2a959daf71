/*-------------------------------------------------------------------------
 *
 * table.c
 *		Test src/bloom_table.h: a table of distinct hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include "bloom_table.h"

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
			bool *inserts_right, bool *sorted_right, bool *spread_right)
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

	/* in place */
	n = BloomTableSorted(slots, nslots, slots);
	*sorted_right &= n == distinct &&
		memcmp(slots, expected, n * sizeof(uint64)) == 0;

	if (BloomTableSpread(slots, nslots, n))
	{
		for (uint64 i = 0; i < nkeys; i++)
			*spread_right &= !BloomTableInsert(slots, nslots, keys[i]);
		*spread_right &= BloomTableSorted(slots, nslots, sorted) == distinct &&
			memcmp(sorted, expected, distinct * sizeof(uint64)) == 0;
	}
	else
	{
		*spread_right &= kind != 0 &&
			memcmp(slots, expected, n * sizeof(uint64)) == 0;
	}
}

int
main(void)
{
	bool		inserts_right = true;
	bool		sorted_right = true;
	bool		spread_right = true;
	bool		room_right = true;

	for (int kind = 0; kind < 6; kind++)
		for (uint64 nslots = 5; nslots < MAX_SLOTS; nslots += 1 + nslots / 3)
			for (uint64 seed = 0; seed < 10; seed++)
				check_table(kind, nslots, BloomTableRoom(nslots), seed,
							&inserts_right, &sorted_right, &spread_right);
	ok(inserts_right, "a hash is inserted once");
	ok(sorted_right, "BloomTableSorted gives all hashes, ascending, also in place");
	ok(spread_right, "BloomTableSpread makes the same table again");

	/* a table that was filled by BloomTableInsertNew from another's slots */
	for (uint64 seed = 0; seed < 100; seed++)
	{
		uint64		random = seed;
		uint64		count = 0;
		uint64		n;

		memset(slots, 0, sizeof(slots));
		for (int i = 0; i < 800; i++)
			count += BloomTableInsert(slots, 1000, make_key(0, &random, i));
		memset(keys, 0, sizeof(keys));
		BloomTableInsertNew(keys, 2011, slots, 1000);
		n = BloomTableSorted(slots, 1000, sorted);
		room_right &= n == count && BloomTableSorted(keys, 2011, expected) == n &&
			memcmp(sorted, expected, n * sizeof(uint64)) == 0;
	}
	ok(room_right, "BloomTableInsertNew moves the hashes of a table");

	room_right = true;
	for (uint64 n = 1; n < 100000; n++)
		room_right &= BloomTableRoom(BloomTableSlotsFor(n)) >= n &&
			BloomTableSlotsFor(n) > n;
	ok(room_right, "there is room for as many keys as slots were asked for");
	return done_testing();
}
