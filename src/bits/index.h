/*-------------------------------------------------------------------------
 *
 * bits/index.h
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * A long list is beyond the caches, so that each look at another place of it
 * is a wait for the memory.  The directory is an array of cache lines.  The
 * highest bits of a hash choose the line, so that a line is about a piece of
 * the list, of 48 hashes on average, or 32 if the list is short.
 *
 * Most keys that are tested are not in the list.  So most of a line is a
 * sieve, which is a small Bloom filter with all bits of a key in one word: it
 * is one comparison, and lets at most one absent key of 27 pass.  The rest of
 * the line is a directory proper, of where in the list each twelfth of the
 * piece begins: those are four hashes on average, since hashes are evenly
 * spread.  So an absent key waits for one cache miss, and a present one for two.
 *
 * From that place on, a fixed number of hashes is compared without a branch in
 * between.  Where hashes are not spread so, or for once are many in one place,
 * the one that is looked for may be further on in the piece, and is searched.
 * The search is by halves in the end, however long the piece.
 *
 * Nothing of this is frozen.  Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_INDEX_H
#define BLOOM_INDEX_H

#include "bits/bits.h"
#include "bits/sort.h"

/*
 * Hashes of a line, on average.  The directory of a short list, of less than so
 * many hashes, is in the caches anyway, and has room for a better sieve.
 */
#define BLOOM_INDEX_LINE_KEYS	48
#define BLOOM_INDEX_SHORT_KEYS	32
#define BLOOM_INDEX_SHORT		131072

/* What a line consists of */
#define BLOOM_INDEX_WORDS		6
#define BLOOM_INDEX_PARTS		12

/* Hashes that are compared at once */
#define BLOOM_INDEX_RUN			8

typedef struct BloomIndexLine
{
	uint64		sieve[BLOOM_INDEX_WORDS];
	uint32		start;			/* of the piece in the list */
	uint8		offsets[BLOOM_INDEX_PARTS]; /* of each part, or less */
} BloomIndexLine;

typedef struct BloomIndex
{
	const uint64 *keys;
	uint64		nkeys;
	uint64		tests;			/* so far, without a directory */
	void	   *memory;			/* of the directory */
	BloomIndexLine *lines;		/* one more than nlines; or NULL */
	uint64		nlines;
} BloomIndex;

extern Size BloomIndexSize(uint64 nkeys);
extern void BloomIndexBuild(BloomIndex *index, void *memory);

/* The number of lines, but for the one behind them. */
static inline uint64
BloomIndexLines(uint64 nkeys)
{
	return nkeys / (nkeys < BLOOM_INDEX_SHORT ? BLOOM_INDEX_SHORT_KEYS :
					BLOOM_INDEX_LINE_KEYS) + 1;
}

/* The word of a line's sieve that has a hash, and the bits that it has there. */
static inline uint64
BloomSieveMask(uint64 hash, int *word)
{
	uint64		bits = BloomNextNumber(&hash);

	*word = (int) BloomMulHigh(bits, BLOOM_INDEX_WORDS);
	return UINT64CONST(1) << ((bits >> 52) & 63) |
		UINT64CONST(1) << ((bits >> 46) & 63) |
		UINT64CONST(1) << ((bits >> 40) & 63);
}

/*
 * The part of a line that a hash is in: the product with the number of lines
 * is the number of the line, and the low word is where the hash is in it.
 */
static inline uint64
BloomIndexPart(uint64 nlines, uint64 hash)
{
	return BloomMulHigh(hash * nlines, BLOOM_INDEX_PARTS);
}

/*
 * BloomIndexTest
 *		Is the hash in the list?
 */
static inline bool
BloomIndexTest(const BloomIndex *index, uint64 hash)
{
	const BloomIndexLine *line;
	const uint64 *keys;
	uint64		start;
	uint64		mask;
	int			word;
	int			run;
	int			nfound = 0;

	line = index->lines + BloomMulHigh(hash, index->nlines);
	mask = BloomSieveMask(hash, &word);
	if ((line->sieve[word] & mask) != mask)
		return false;

	start = line->start + line->offsets[BloomIndexPart(index->nlines, hash)];
	keys = index->keys + start;
	run = (int) Min(index->nkeys - start, BLOOM_INDEX_RUN);

	/* those behind the part do no harm */
	for (int i = 0; i < run; i++)
		nfound += keys[i] == hash;
	if (likely(run < BLOOM_INDEX_RUN || keys[run - 1] >= hash))
		return nfound > 0;
	return BloomTestKeys(keys, line[1].start - start, hash);
}

#endif							/* BLOOM_INDEX_H */
