/*-------------------------------------------------------------------------
 *
 * bits/index.c
 *		A directory of a sorted list of hashes that is searched many times.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "bits/index.h"
#include "bits/interrupts.h"

/*
 * BloomIndexSize
 *		The memory that the directory of so many keys takes.
 *
 * One line more says where the last piece ends; and as much again may be lost
 * before the first one, which begins a cache line.
 */
Size
BloomIndexSize(uint64 nkeys)
{
	return (BloomIndexLines(nkeys) + 2) * sizeof(BloomIndexLine);
}

/*
 * BloomIndexBuild
 *		Make the directory, in memory of BloomIndexSize.
 */
void
BloomIndexBuild(BloomIndex *index, void *memory)
{
	uint64		nlines = BloomIndexLines(index->nkeys);
	BloomIndexLine *lines;
	uint64		k = 0;

	StaticAssertStmt(sizeof(BloomIndexLine) == 64, "a line is no cache line");
	lines = (BloomIndexLine *) TYPEALIGN(sizeof(BloomIndexLine), memory);

	for (uint64 i = 0; i <= nlines; i++)
	{
		BloomIndexLine *line = &lines[i];
		uint64		first = k;
		uint64		ends[BLOOM_INDEX_PARTS] = {0};	/* 0: it has no keys */
		uint64		end = 0;

		memset(line, 0, sizeof(BloomIndexLine));
		line->start = (uint32) first;
		for (; k < index->nkeys; k++)
		{
			uint64		hash = index->keys[k];
			uint64		mask;
			int			word;

			BloomCheckInterrupts(k);
			if (BloomMulHigh(hash, nlines) != i)
				break;
			mask = BloomSieveMask(hash, &word);
			line->sieve[word] |= mask;
			ends[BloomIndexPart(nlines, hash)] = k + 1 - first;
		}

		/* a test begins too early where the offset is larger than a byte */
		for (int part = 0; part < BLOOM_INDEX_PARTS; part++)
		{
			line->offsets[part] = (uint8) Min(end, PG_UINT8_MAX);
			end = Max(end, ends[part]);
		}
	}

	index->memory = memory;
	index->nlines = nlines;
	index->lines = lines;
}
