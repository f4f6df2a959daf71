/*-------------------------------------------------------------------------
 *
 * bits/directory.h
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * Invariants:
 *
 * - The highest bits of a hash choose a cache line.  A line stands for a piece
 *	 of the list: 48 hashes on average, or 32 if the list is short.
 * - The first six words of a line are a small blocked Bloom filter of the piece,
 *	 here called its sieve: of absent hashes, one in 27 passes.
 * - The rest of the line says where each twelfth of the piece begins, or a place
 *	 before it.
 *
 * So an absent key waits for one cache miss, and a present one for two.  From
 * its place on, a fixed number of hashes is compared without a branch.  Where
 * hashes are crowded, the rest of the piece is searched by halves.
 *
 * A plain array of ten bits a key in place of the directory takes 1.1 to 2 times
 * the processor time of a query, and one without a sieve up to 2.4 times, so
 * that this one earns its lines.
 *
 * Nothing of this is frozen.  Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_DIRECTORY_H
#define BLOOM_DIRECTORY_H

#include "bits/bits.h"
#include "bits/sort.h"

/*
 * Hashes of a line, on average.  The directory of a short list, of less than so
 * many hashes, is in the caches anyway, and has room for a better sieve.
 */
#define BLOOM_DIRECTORY_LINE_KEYS	48
#define BLOOM_DIRECTORY_SHORT_KEYS	32
#define BLOOM_DIRECTORY_SHORT		131072

/* What a line consists of */
#define BLOOM_DIRECTORY_WORDS		6
#define BLOOM_DIRECTORY_PARTS		12

/* Hashes that are compared at once */
#define BLOOM_DIRECTORY_RUN			8

typedef struct BloomDirectoryLine
{
	uint64		sieve[BLOOM_DIRECTORY_WORDS];
	uint32		start;			/* of the piece in the list */
	uint8		offsets[BLOOM_DIRECTORY_PARTS]; /* of each part, or less */
} BloomDirectoryLine;

typedef struct BloomDirectory
{
	const uint64 *keys;
	uint64		nkeys;
	uint64		tests;			/* so far, without a directory */
	void	   *memory;			/* of the directory */
	BloomDirectoryLine *lines;	/* one more than nlines; or NULL */
	uint64		nlines;
} BloomDirectory;

extern Size BloomDirectorySize(uint64 nkeys);
extern void BloomDirectoryBuild(BloomDirectory *directory, void *memory);

/* The number of lines, but for the one behind them. */
static inline uint64
BloomDirectoryLines(uint64 nkeys)
{
	return nkeys / (nkeys < BLOOM_DIRECTORY_SHORT ? BLOOM_DIRECTORY_SHORT_KEYS :
					BLOOM_DIRECTORY_LINE_KEYS) + 1;
}

/* The word of a line's sieve that has a hash, and the bits that it has there. */
static inline uint64
BloomSieveMask(uint64 hash, int *word)
{
	uint64		bits = BloomNextNumber(&hash);

	*word = (int) BloomMulHigh(bits, BLOOM_DIRECTORY_WORDS);
	return UINT64CONST(1) << ((bits >> 52) & 63) |
		UINT64CONST(1) << ((bits >> 46) & 63) |
		UINT64CONST(1) << ((bits >> 40) & 63);
}

/*
 * The part of a line that a hash is in: the product with the number of lines
 * is the number of the line, and the low word is where the hash is in it.
 */
static inline uint64
BloomDirectoryPart(uint64 nlines, uint64 hash)
{
	return BloomMulHigh(hash * nlines, BLOOM_DIRECTORY_PARTS);
}

/*
 * BloomDirectoryTest
 *		Is the hash in the list?
 */
static inline bool
BloomDirectoryTest(const BloomDirectory *directory, uint64 hash)
{
	const BloomDirectoryLine *line;
	const uint64 *keys;
	uint64		start;
	uint64		mask;
	int			word;
	int			run;
	int			nfound = 0;

	line = directory->lines + BloomMulHigh(hash, directory->nlines);
	mask = BloomSieveMask(hash, &word);
	if ((line->sieve[word] & mask) != mask)
		return false;

	start = line->start + line->offsets[BloomDirectoryPart(directory->nlines, hash)];
	keys = directory->keys + start;
	run = (int) Min(directory->nkeys - start, BLOOM_DIRECTORY_RUN);

	/* those behind the part do no harm */
	for (int i = 0; i < run; i++)
		nfound += keys[i] == hash;
	if (likely(run < BLOOM_DIRECTORY_RUN || keys[run - 1] >= hash))
		return nfound > 0;
	return BloomTestKeys(keys, line[1].start - start, hash);
}

#endif							/* BLOOM_DIRECTORY_H */
