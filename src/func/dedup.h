/*-------------------------------------------------------------------------
 *
 * func/dedup.h
 *		Keys that are added one by one, each with the answer whether it is new.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TELL_H
#define BLOOM_TELL_H

#include "filter/format.h"
#include "bits/blocked.h"

/* Numbers in a line of the table: what the processor reads at once */
#define BLOOM_TELL_LINE		BLOOM_LINE_WORDS

/*
 * The keys of one scan, or of one partition of a window.
 *
 * Its memory goes with the context that it was made in.
 */
typedef struct BloomTeller
{
	MemoryContext context;		/* NULL before it was made */
	uint64		fresh;			/* keys that were new */
	uint64		look_at;		/* when there are so many, see to the rest */

	/* a table of numbers, or a filter; both in cache lines */
	uint64	   *lines;
	uint64		nlines;
	void	   *memory;			/* of the lines, which begin at a cache line */

	/* a number of the table is a hash, multiplied by this odd number */
	uint64		secret;

	bool		is_exact;
	bool		is_filter;
	BloomShape	shape;			/* as asked, unless it is exact */
	BloomLineParams params;		/* of the filter */
} BloomTeller;

extern void BloomTellerInit(BloomTeller *teller, MemoryContext context);
extern void BloomTellerInitSized(BloomTeller *teller, MemoryContext context,
								 double capacity, double fp_prob);
extern void BloomTellerLook(BloomTeller *teller, bool *warned);

/*
 * Put a number into the first line from its place on that is not full, unless
 * it is there.  True: it was not.
 *
 * There are no branches but those that can be foreseen: a number is found or
 * not, and a line is hardly ever full.  So the processor goes on to the next
 * row while it waits for the line.
 */
static inline bool
BloomTellLines(uint64 *lines, uint64 nlines, uint64 number)
{
	uint64		place = BloomMulHigh(number, nlines);

	for (;;)
	{
		uint64	   *line = lines + place * BLOOM_TELL_LINE;
		int			nfound = 0;
		int			nused = 0;

		for (int i = 0; i < BLOOM_TELL_LINE; i++)
		{
			nfound += line[i] == number;
			nused += line[i] != 0;
		}
		if (nfound > 0)
			return false;
		if (likely(nused < BLOOM_TELL_LINE))
		{
			line[nused] = number;
			return true;
		}
		if (++place == nlines)
			place = 0;
	}
}

/*
 * BloomTell
 *		Add a hash.  True: it was not there.
 *
 * There is one WARNING, when there are more keys than the capacity, unless
 * *warned is true already.
 */
static inline bool
BloomTell(BloomTeller *teller, uint64 hash, bool *warned)
{
	bool		fresh;

	if (teller->is_filter)
		fresh = BloomSetLines(teller->lines, teller->nlines,
							  teller->params.lines, teller->params.hashes,
							  hash);
	else
		fresh = BloomTellLines(teller->lines, teller->nlines,
							   hash * teller->secret);
	if (fresh && unlikely(++teller->fresh >= teller->look_at))
		BloomTellerLook(teller, warned);
	return fresh;
}

#endif							/* BLOOM_TELL_H */
