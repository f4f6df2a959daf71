/*-------------------------------------------------------------------------
 *
 * bits.c
 *		Test src/bits/bits.h: positions, set, test.
 *
 * Reads the positions of clients/vectors.json from standard input.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include "bits/bits.h"

/* Are these the positions of a line of the file? */
static bool
row_is_right(const char *row)
{
	unsigned long long hash;
	unsigned long long bits;
	int			hashes;
	int			used;
	uint64		a;

	if (sscanf(row, "{\"hash\": \"%16llx\", \"bits\": %llu, \"hashes\": %d, \"positions\": [%n",
			   &hash, &bits, &hashes, &used) != 3)
		return false;
	row += used;
	a = hash;
	for (int i = 0; i < hashes; i++)
	{
		unsigned long long position;

		if (sscanf(row, "%llu%*c%n", &position, &used) != 1)
			return false;
		row += used;
		if (BloomNextPosition(&a, bits) != position)
			return false;
	}
	return true;
}

static void
test_golden(void)
{
	char		line[4096];
	bool		in_section = false;
	int			rows = 0;
	int			right = 0;

	while (fgets(line, sizeof(line), stdin))
	{
		if (line[0] != '{')
			in_section = strcmp(line, "\"positions\": [\n") == 0;
		else if (in_section)
		{
			rows++;
			right += row_is_right(line);
		}
	}
	ok(rows >= 10 && right == rows, "positions are the golden ones");
}

/* The high word by another way: bit by bit, with bits at most 2^32. */
static uint64
slow_multiply_high(uint64 a, uint64 bits)
{
	uint64		high = 0;
	uint64		low = 0;

	for (int i = 63; i >= 0; i--)
	{
		high = (high << 1) | (low >> 63);
		low <<= 1;
		if ((a >> i) & 1)
		{
			low += bits;
			high += low < bits;
		}
	}
	return high;
}

static void
test_multiply_high(void)
{
	const uint64 sizes[] = {64, 128, 192, 10048, 10000000, UINT64CONST(4294967232), UINT64CONST(1) << 32};
	uint64		random = 20261120;
	bool		right = true;
	bool		in_range = true;

	for (int i = 0; i < 100000; i++)
	{
		uint64		bits = sizes[i % lengthof(sizes)];
		uint64		a = i < 7 ? PG_UINT64_MAX : next_random(&random);
		uint64		position = BloomMulHigh(a, bits);

		right &= position == slow_multiply_high(a, bits);
		in_range &= position < bits;
	}
	ok(right, "BloomMulHigh is the high word of the product");
	ok(in_range, "every position is within the bits");
}

static void
test_folding(void)
{
	uint64		random = 1;
	bool		foldable = true;

	for (int i = 0; i < 10000; i++)
	{
		uint64		words = 1 + next_random(&random) % 1000;
		uint64		factor = 1 + next_random(&random) % 1000;
		uint64		large = next_random(&random);
		uint64		small = large;

		for (int j = 0; j < 5; j++)
			foldable &= BloomNextPosition(&large, words * 64 * factor) / factor ==
				BloomNextPosition(&small, words * 64);
	}
	ok(foldable, "positions fold: those in m/d bits are those in m bits divided by d");
}

static int
count_bits(const uint8 *data, int nbytes)
{
	int			count = 0;

	for (int i = 0; i < nbytes * 8; i++)
		count += (data[i / 8] >> (i % 8)) & 1;
	return count;
}

static void
test_set_and_test(void)
{
	bool		found = true;
	bool		fresh_right = true;
	bool		exact = true;

	for (int hashes = 1; hashes <= 64; hashes++)
	{
		uint8		data[320] = {0};
		uint64		bits = sizeof(data) * 8;
		uint64		keys[100];
		uint64		random = hashes;
		int			set = 0;

		for (int i = 0; i < 100; i++)
		{
			keys[i] = next_random(&random);
			set += BloomSetBits(data, bits, hashes, keys[i]);
			fresh_right &= set == count_bits(data, sizeof(data));
			fresh_right &= BloomSetBits(data, bits, hashes, keys[i]) == 0;
			if (hashes < 8)
				for (int j = 0; j <= i; j++)
					found &= BloomTestBits(data, bits, hashes, keys[j]);
		}
		for (int i = 0; i < 1000; i++)
		{
			uint64		key = next_random(&random);
			uint64		a = key;
			bool		all_set = true;

			for (int j = 0; j < hashes; j++)
				all_set &= BloomGetBit(data, BloomNextPosition(&a, bits));
			exact &= BloomTestBits(data, bits, hashes, key) == all_set;
		}
	}
	ok(found, "keys that were set test as set");
	ok(fresh_right, "BloomSetBits says how many bits were new");
	ok(exact, "BloomTestBits is whether all positions are set, for 1 to 64 hashes");
}

int
main(void)
{
	test_golden();
	test_multiply_high();
	test_folding();
	test_set_and_test();
	return done_testing();
}
