/*-------------------------------------------------------------------------
 *
 * bloom_index.c
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "bloom_index.h"

/* Hashes that have a start in common, on average */
#define KEYS_PER_START	4

/* Lists from this length on get a sieve */
#define SIEVE_FROM_KEYS	UINT64CONST(8192)

#define KEYS_PER_INTERRUPT_CHECK	UINT64CONST(65536)

/* The highest bits of a hash that choose a start: at least one */
static int
StartBits(uint64 nkeys)
{
	return pg_leftmost_one_pos64(Max(nkeys / KEYS_PER_START, 1)) + 1;
}

/* One entry more than there are starts; whole words, for what comes behind */
static Size
StartsSize(uint64 nkeys)
{
	return MAXALIGN((((Size) 1 << StartBits(nkeys)) + 1) * sizeof(uint32));
}

static Size
SieveSize(uint64 nkeys)
{
	return BLOOM_SIEVE_WORDS(nkeys) * sizeof(uint64);
}

/*
 * BloomIndexSize
 *		The memory that the directory and the sieve of so many keys take.
 */
Size
BloomIndexSize(uint64 nkeys)
{
	return StartsSize(nkeys) +
		(nkeys >= SIEVE_FROM_KEYS ? SieveSize(nkeys) : 0);
}

/*
 * BloomIndexFree
 *		Forget the directory.
 */
void
BloomIndexFree(BloomIndex *index)
{
	if (index->starts != NULL)
		pfree(index->starts);
	memset(index, 0, sizeof(BloomIndex));
}

/*
 * BloomIndexBuild
 *		Make the directory.
 */
void
BloomIndexBuild(BloomIndex *index, MemoryContext context)
{
	int			bits = StartBits(index->nkeys);
	int			shift = 64 - bits;
	Size		size = BloomIndexSize(index->nkeys);
	uint32	   *starts = BloomAllocate(context, size);
	uint64		next = 0;

	for (uint64 i = 0; i < index->nkeys; i++)
	{
		if (i % KEYS_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		while (next <= index->keys[i] >> shift)
			starts[next++] = (uint32) i;
	}
	while (next <= (uint64) 1 << bits)
		starts[next++] = (uint32) index->nkeys;

	index->shift = shift;
	index->sieve = NULL;
	if (index->nkeys >= SIEVE_FROM_KEYS)
	{
		index->sieve = (uint64 *) ((char *) starts + StartsSize(index->nkeys));
		memset(index->sieve, 0, SieveSize(index->nkeys));
		for (uint64 i = 0; i < index->nkeys; i++)
		{
			uint64		mask;
			uint64		place = BloomSievePlace(index->nkeys,
												index->keys[i], &mask);

			if (i % KEYS_PER_INTERRUPT_CHECK == 0)
				CHECK_FOR_INTERRUPTS();
			index->sieve[place] |= mask;
		}
	}
	index->starts = starts;		/* last, since we may be interrupted */
}
