/*-------------------------------------------------------------------------
 *
 * bits/directory.c
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "bits/directory.h"
#include "bits/bits.h"

/*
 * BloomDirectorySize
 *		The size of the directory of n keys.
 *
 * One line more says where the last piece ends; and as much again may be lost
 * before the first one, which begins a cache line.
 */
Size
BloomDirectorySize(uint64 nkeys)
{
	return (BloomDirectoryLines(nkeys) + 2) * sizeof(BloomDirectoryLine);
}

/*
 * BloomDirectoryBuild
 *		Make the directory, in memory of BloomDirectorySize.
 */
void
BloomDirectoryBuild(BloomDirectory *directory, void *memory)
{
	uint64		nlines = BloomDirectoryLines(directory->nkeys);
	BloomDirectoryLine *lines;
	uint64		k = 0;

	StaticAssertStmt(sizeof(BloomDirectoryLine) == 64, "a line is no cache line");
	lines = (BloomDirectoryLine *) TYPEALIGN(sizeof(BloomDirectoryLine), memory);

	for (uint64 i = 0; i <= nlines; i++)
	{
		BloomDirectoryLine *line = &lines[i];
		uint64		first = k;
		uint64		ends[BLOOM_DIRECTORY_PARTS] = {0};	/* 0: it has no keys */
		uint64		end = 0;

		memset(line, 0, sizeof(BloomDirectoryLine));
		line->start = (uint32) first;
		for (; k < directory->nkeys; k++)
		{
			uint64		hash = directory->keys[k];
			uint64		mask;
			int			word;

			BloomCheckInterrupts(k);
			if (BloomMulHigh(hash, nlines) != i)
				break;
			mask = BloomSieveMask(hash, &word);
			line->sieve[word] |= mask;
			ends[BloomDirectoryPart(nlines, hash)] = k + 1 - first;
		}

		/* a test begins too early where the offset is larger than a byte */
		for (int part = 0; part < BLOOM_DIRECTORY_PARTS; part++)
		{
			line->offsets[part] = (uint8) Min(end, PG_UINT8_MAX);
			end = Max(end, ends[part]);
		}
	}

	directory->memory = memory;
	directory->nlines = nlines;
	directory->lines = lines;
}
