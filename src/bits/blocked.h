/*-------------------------------------------------------------------------
 *
 * bits/blocked.h
 *		A Bloom filter in cache lines, which never leaves the memory.
 *
 * A filter that somebody keeps has its positions over the whole of its bits
 * (bits/bits.h), since that takes the fewest bits for a rate.  Each of them
 * is then a cache miss of its own.  Where keys are added and tested one by
 * one, those misses are most of the time.
 *
 * Here all positions of a key are in one line of 512 bits, which is what the
 * processor reads at once; or, where a low rate is asked, in a few.  Some
 * lines get more keys than others, so that the rate is higher than that of
 * the same bits in one piece.  BloomBestLines takes this into account: down to
 * a rate of 1e-3 one line is enough, and takes at most a tenth more bits.
 *
 * (F. Putze, P. Sanders, J. Singler: Cache-, Hash- and Space-Efficient Bloom
 * Filters.  WEA 2007, 108-121.)
 *
 * Nothing of this is frozen.  Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_LINES_H
#define BLOOM_LINES_H

#include "bits/bits.h"
#include "bits/sizing.h"

#define BLOOM_LINE_WORDS	8

/* One 64-bit number has so many positions in a line, of 9 bits each */
#define BLOOM_LINE_POSITIONS	7

/*
 * Set the bits of a key, and say whether any of them was not set before.
 *
 * There are no branches but those of the loops, so that the processor can go
 * on while it waits for a line.
 */
static inline bool
BloomSetLines(uint64 *words, uint64 nlines, int lines, int hashes,
			  uint64 hash)
{
	uint64		a = hash;
	uint64		fresh = 0;

	while (lines-- > 0)
	{
		uint64	   *line = words + BloomMulHigh(a, nlines) * BLOOM_LINE_WORDS;
		int			left = hashes;

		while (left > 0)
		{
			int			n = Min(left, BLOOM_LINE_POSITIONS);
			uint64		positions = BloomNextNumber(&a);

			left -= n;
			while (n-- > 0)
			{
				uint64	   *word = line + (positions >> 61);
				uint64		mask = UINT64CONST(1) << ((positions >> 55) & 63);

				fresh |= ~*word & mask;
				*word |= mask;
				positions <<= 9;
			}
		}
		(void) BloomNextNumber(&a);
	}
	return fresh != 0;
}

#endif							/* BLOOM_LINES_H */
