/*-------------------------------------------------------------------------
 *
 * directory.c
 *		Test src/bits/directory.h: the directory of a sorted list of hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <stdlib.h>

#include "bits/directory.h"

/* c.h has its own, which we do not link */
#undef snprintf

#define MAX_KEYS	200000
#define CANARY		0x5a

static uint64 keys[MAX_KEYS + BLOOM_DIRECTORY_RUN];
static uint64 nkeys;
static BloomDirectory directory;

static int
compare(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

static bool
in_list(uint64 hash)
{
	return bsearch(&hash, keys, nkeys, sizeof(uint64), compare) != NULL;
}

/* The first hash of a part, where all parts of all lines are counted. */
static uint64
first_of_part(uint64 part, uint64 nlines)
{
	uint64		nparts = nlines * BLOOM_DIRECTORY_PARTS;
	uint64		quotient = PG_UINT64_MAX / nparts;
	uint64		rest = PG_UINT64_MAX % nparts + 1;

	return part == 0 ? 0 : part * quotient + (part * rest + nparts - 1) / nparts;
}

/*
 * Make the directory of the keys, in memory that ends where it must and begins
 * as palloc's can, between canaries.
 */
static bool
make_directory(void)
{
	static char *memory = NULL;
	static int	shift = 0;
	Size		size;
	uint64		distinct = 0;
	bool		intact = true;

	qsort(keys, nkeys, sizeof(uint64), compare);
	for (uint64 i = 0; i < nkeys; i++)
		if (i == 0 || keys[i] != keys[i - 1])
			keys[distinct++] = keys[i];
	nkeys = distinct;

	free(memory);
	size = BloomDirectorySize(nkeys);
	shift = (shift + 8) % 64;
	memory = malloc(size + 128);
	memset(memory, CANARY, size + 128);

	memset(&directory, 0, sizeof(directory));
	directory.keys = keys;
	directory.nkeys = nkeys;
	BloomDirectoryBuild(&directory, memory + shift);
	for (int i = 0; i < 128; i++)
		intact &= memory[i < shift ? (Size) i : size + i] == CANARY;
	return intact && directory.nlines == BloomDirectoryLines(nkeys) &&
		directory.lines[directory.nlines].start == nkeys &&
		(uintptr_t) directory.lines % sizeof(BloomDirectoryLine) == 0;
}

/*
 * Is the answer for this hash right, even if it stands behind the list's end?
 */
static bool
is_right(uint64 hash)
{
	for (int i = 0; i < BLOOM_DIRECTORY_RUN; i++)
		keys[nkeys + i] = hash;
	return BloomDirectoryTest(&directory, hash) == in_list(hash);
}

/* All keys, and what is next to them. */
static bool
keys_are_right(void)
{
	bool		right = true;

	for (uint64 i = 0; i < nkeys; i++)
		right &= is_right(keys[i] - 1) && is_right(keys[i]) &&
			is_right(keys[i] + 1);
	return right && is_right(0) && is_right(PG_UINT64_MAX);
}

static void
test_lengths(void)
{
	uint64		random = 1;
	bool		built = true;
	bool		right = true;

	for (uint64 n = 0; n < MAX_KEYS; n = n < 200 ? n + 1 : n * 3)
	{
		for (nkeys = 0; nkeys < n; nkeys++)
			keys[nkeys] = next_random(&random);
		built &= make_directory();
		right &= keys_are_right();
		for (int i = 0; i < 1000; i++)
			right &= is_right(next_random(&random));
	}
	ok(built, "lists of any length: the directory stays in its memory, and is aligned");
	ok(right, "lists of any length: all answers are right");
}

/*
 * How good it is: of absent keys, few pass the sieve; of the keys, nearly all
 * are among those that are compared at once.  The list is a long one: a word
 * has eight keys on average, some have more, and 0.037 pass.
 */
static void
test_spread(void)
{
	uint64		random = 2;
	int			passed = 0;
	int			further = 0;

	for (nkeys = 0; nkeys < MAX_KEYS; nkeys++)
		keys[nkeys] = next_random(&random);
	make_directory();
	for (uint64 i = 0; i < nkeys; i++)
	{
		const BloomDirectoryLine *line = directory.lines + BloomMulHigh(keys[i], directory.nlines);
		uint64		start = line->start +
			line->offsets[BloomDirectoryPart(directory.nlines, keys[i])];
		uint64		hash = next_random(&random);
		int			word;
		uint64		mask = BloomSieveMask(hash, &word);

		further += start > i || i - start >= BLOOM_DIRECTORY_RUN;
		line = directory.lines + BloomMulHigh(hash, directory.nlines);
		passed += (line->sieve[word] & mask) == mask;
	}
	ok(passed > MAX_KEYS * 0.035 && passed < MAX_KEYS * 0.040,
	   "one absent key of 27 passes the sieve");
	ok(further < MAX_KEYS * 0.01, "99 of 100 keys are found at once");
}

/* The first and the last hash of each part, half of them in the list. */
static void
test_boundaries(void)
{
	uint64		random = 3;
	bool		right = true;

	for (uint64 nlines = 1; nlines <= 200; nlines++)
	{
		uint64		nparts = nlines * BLOOM_DIRECTORY_PARTS;

		nkeys = 0;
		for (uint64 part = 0; part < nparts; part++)
		{
			uint64		first = first_of_part(part, nlines);

			/* this is what the test is about */
			if (BloomMulHigh(first, nlines) * BLOOM_DIRECTORY_PARTS +
				BloomDirectoryPart(nlines, first) != part ||
				(part > 0 && BloomMulHigh(first - 1, nlines) * BLOOM_DIRECTORY_PARTS +
				 BloomDirectoryPart(nlines, first - 1) != part - 1))
				right = false;
			for (int i = -1; i <= 1; i++)
				if (next_random(&random) % 2 == 0)
					keys[nkeys++] = first + i;
		}
		while (BloomDirectoryLines(nkeys) < nlines)
			keys[nkeys++] = next_random(&random);
		make_directory();
		right &= directory.nlines == nlines;
		for (uint64 part = 0; part < nparts; part++)
			for (int i = -2; i <= 2; i++)
				right &= is_right(first_of_part(part, nlines) + i);
	}
	ok(right, "the first and the last hash of each part are found if they are in the list");
}

/*
 * So many hashes in one part, every other number, and others elsewhere: the
 * sieve lets the numbers in between pass.
 */
static void
test_crowds(void)
{
	static const int crowds[] = {7, 8, 9, 15, 16, 17, 254, 255, 256, 257, 258, 1000, 20000};
	uint64		random = 4;
	bool		right = true;

	for (int c = 0; c < (int) lengthof(crowds); c++)
		for (int line = 0; line < 3; line++)
			for (int part = 0; part < BLOOM_DIRECTORY_PARTS; part++)
			{
				uint64		total = crowds[c] + 2000;
				uint64		nlines = BloomDirectoryLines(total);
				uint64		lines[] = {0, nlines / 2, nlines - 1};
				uint64		first = first_of_part(lines[line] * BLOOM_DIRECTORY_PARTS + part,
												  nlines);

				/* next to the other end of the part, every second time */
				if (c % 2 == 1)
					first = first_of_part(lines[line] * BLOOM_DIRECTORY_PARTS + part + 1,
										  nlines) - 2 * crowds[c];
				for (nkeys = 0; nkeys < (uint64) crowds[c]; nkeys++)
					keys[nkeys] = first + 2 * nkeys;
				while (nkeys < total)
					keys[nkeys++] = next_random(&random);
				make_directory();
				right &= directory.nlines == nlines && nkeys == total;
				right &= keys_are_right();
			}
	ok(right, "many hashes in one part: all answers are right");
}

/* Hashes that are all small, all large, or in all of some lines. */
static void
test_ranges(void)
{
	bool		right = true;

	for (int kind = 0; kind < 4; kind++)
	{
		for (nkeys = 0; nkeys < 20000; nkeys++)
		{
			uint64		i = nkeys * 2;

			keys[nkeys] = kind == 0 ? i + 1 :
				kind == 1 ? PG_UINT64_MAX - i :
				kind == 2 ? (i << 40) + i : PG_UINT64_MAX - (i << 40) - i;
		}
		right &= make_directory();
		right &= keys_are_right();
	}
	ok(right, "hashes that are not spread: all answers are right");
}

int
main(void)
{
	test_lengths();
	test_spread();
	test_boundaries();
	test_crowds();
	test_ranges();
	return done_testing();
}
