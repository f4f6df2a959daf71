/*-------------------------------------------------------------------------
 *
 * bloom_index.h
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * Hashes are evenly spread, so that their highest bits tell nearly where they
 * are in the list.  The directory has the exact place for each combination of
 * so many bits that four hashes, on average, have them in common.  A search
 * looks into the directory, and compares a fixed number of hashes from that
 * place on without a branch in between: it waits for two cache misses at most,
 * and the processor need not guess.
 *
 * Where the hashes are not spread so, more than those may have the same
 * highest bits.  They are searched by halves.
 *
 * A longer list is beyond the caches, and most keys that are tested are not in
 * it.  So a sieve stands before it, which is a small Bloom filter itself, with
 * all bits of a key in one word: it is one load and one comparison, and lets
 * one absent key of 27 pass.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_INDEX_H
#define BLOOM_INDEX_H

#include "bloom_setops.h"

typedef struct BloomIndex
{
	const uint64 *keys;
	uint64		nkeys;
	uint64		tests;			/* so far, without a directory */
	uint32	   *starts;			/* the directory, or NULL */
	int			shift;			/* a hash shifted by this has a start */
	uint64	   *sieve;			/* or NULL */
} BloomIndex;

/* The sieve has so many keys a word, or eight bits a key, on average */
#define BLOOM_SIEVE_KEYS	8
#define BLOOM_SIEVE_WORDS(nkeys)	((nkeys) / BLOOM_SIEVE_KEYS)

/* Hashes that are compared at once */
#define BLOOM_INDEX_RUN		8

/* As many tests as a list has hashes, divided by this, are worth a directory */
#define BLOOM_INDEX_PAYS	8

extern void BloomIndexBuild(BloomIndex *index, MemoryContext context);
extern void BloomIndexFree(BloomIndex *index);
extern Size BloomIndexSize(uint64 nkeys);

/* The place in the sieve of a hash, and the bits that it has there. */
static inline uint64
BloomSievePlace(uint64 nkeys, uint64 hash, uint64 *mask)
{
	uint64		a = hash;
	uint64		place = BloomNextPosition(&a, BLOOM_SIEVE_WORDS(nkeys));
	uint64		bits = BloomNextNumber(&a);

	*mask = UINT64CONST(1) << (bits >> 58) |
		UINT64CONST(1) << ((bits >> 52) & 63) |
		UINT64CONST(1) << ((bits >> 46) & 63);
	return place;
}

/*
 * BloomIndexTest
 *		Is the hash in the list?
 *
 * The directory is made when it pays, in the context.
 */
static inline bool
BloomIndexTest(BloomIndex *index, uint64 hash, MemoryContext context)
{
	const uint64 *keys;
	uint64		bucket;
	uint64		start;
	uint64		n;
	int			nfound = 0;

	if (unlikely(index->starts == NULL))
	{
		if (++index->tests * BLOOM_INDEX_PAYS < index->nkeys)
			return BloomTestKeys(index->keys, index->nkeys, hash);
		BloomIndexBuild(index, context);
	}

	bucket = hash >> index->shift;
	if (index->sieve != NULL)
	{
		uint64		mask;
		uint64		place = BloomSievePlace(index->nkeys, hash, &mask);

		if ((index->sieve[place] & mask) != mask)
			return false;
	}

	start = index->starts[bucket];
	n = index->starts[bucket + 1] - start;
	keys = index->keys + start;
	if (unlikely(n > BLOOM_INDEX_RUN ||
				 start + BLOOM_INDEX_RUN > index->nkeys))
		return BloomTestKeys(keys, n, hash);

	/* those behind the bucket do no harm */
	for (int i = 0; i < BLOOM_INDEX_RUN; i++)
		nfound += keys[i] == hash;
	return nfound > 0;
}

#endif							/* BLOOM_INDEX_H */
