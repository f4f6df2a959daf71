/*-------------------------------------------------------------------------
 *
 * func/dedup.c
 *		Keys that are added one by one, each with the answer whether it is new.
 *
 * What bloom_seen and bloom_first have in common.  There are two forms:
 *
 *		(key)						a table of hashes: exact, grows
 *		(key, capacity, fp_prob)	a filter of a fixed size
 *
 * Few keys should not pay for the bits of their capacity.  So the second form
 * begins with a table as well, but only up to a sixteenth of what the bits
 * take.
 *
 * This is no transition state (filter/state.c): it never becomes a value, and
 * need not be a varlena.  What it has to do is to answer at once, for each
 * key.  The time of a large table is that of a cache miss for each key, which
 * cannot be put off.  But the rows between can be worked on meanwhile, unless
 * the processor has to guess how the answer will be, and guesses wrong.  So
 * both are divided into lines of the size of a cache line, and a line is
 * searched without a branch (func/dedup.h, bits/blocked.h).
 *
 * A number belongs into the line (number * nlines) >> 64, or the next one with
 * room, cyclically; the lines are filled from their beginning.  No number is
 * ever taken out, so that a search ends at the first line with room.  Numbers
 * are hashes, multiplied by a secret: who chooses keys cannot choose their
 * lines.
 *
 * The filter is not one of the kind that is stored: no other program has to
 * find its positions, so that they can be in few lines.  It has no secret,
 * since which first rows it takes for repeats should not change from one run
 * of a query to the next.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "func/dedup.h"

/* A table may have one key for so many words of the bit array */
#define WORDS_PER_TABLE_KEY		16

/* The exact form takes fewer keys; so many lines have room for them */
#define MAX_EXACT_KEYS			(BLOOM_MAX_BITS / 64)
#define MAX_LINES				(MAX_EXACT_KEYS / Room(1) + 1)

#define FIRST_LINES				2

/* How many numbers may so many lines hold?  Three quarters. */
#define Room(nlines)			((nlines) * (BLOOM_TELL_LINE * 3 / 4))

#define LINE_BYTES				(BLOOM_TELL_LINE * sizeof(uint64))

/* Lines that are worked on between two looks for a cancel request */
#define LINES_PER_INTERRUPT_CHECK	65536

/* Make a table of so many empty lines. */
static void
MakeLines(BloomTeller *teller, uint64 nlines)
{
	Size		size = (nlines + 1) * LINE_BYTES;
	void	   *memory = BloomAllocate(teller->context, size);

	memset(memory, 0, size);
	teller->memory = memory;
	teller->lines = (uint64 *) TYPEALIGN(LINE_BYTES, memory);
	teller->nlines = nlines;
}

/* Move all numbers into a table of twice the size. */
static void
Grow(BloomTeller *teller)
{
	const uint64 *old = teller->lines;
	uint64		nold = teller->nlines;
	void	   *old_memory = teller->memory;
	BloomTeller grown = *teller;

	MakeLines(&grown, Min(nold * 2, MAX_LINES));
	for (uint64 i = 0; i < nold; i++)
	{
		const uint64 *line = old + i * BLOOM_TELL_LINE;

		if (i % LINES_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < BLOOM_TELL_LINE && line[j] != 0; j++)
			(void) BloomTellLines(grown.lines, grown.nlines, line[j]);
	}
	*teller = grown;
	pfree(old_memory);
}

/*
 * The lines and hashes for this rate.
 *
 * They take thousands of exponentials to find, and all partitions of a window
 * ask for the same: so the last answer is kept.
 */
static BloomLineParams
LinesFor(double fp_prob)
{
	static double last_fp_prob = 0;
	static BloomLineParams last;

	if (fp_prob != last_fp_prob)
	{
		BloomLineParams params;

		if (!BloomBestLines(fp_prob, &params))
			elog(ERROR, "no lines for a false-positive rate of %g", fp_prob);
		last = params;
		last_fp_prob = fp_prob;
	}
	return last;
}

/* The number by which a product with an odd number is undone, modulo 2^64 */
static uint64
InverseOf(uint64 odd)
{
	uint64		inverse = odd;	/* right in the three lowest bits */

	for (int bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* Go over from the table to a filter. */
static void
TurnIntoFilter(BloomTeller *teller)
{
	BloomTeller filter = *teller;
	BloomLineParams params = LinesFor(teller->shape.fp_prob);
	uint64		inverse = InverseOf(teller->secret);

	filter.params = params;
	filter.is_filter = true;
	MakeLines(&filter, BloomLinesForCapacity(teller->shape.capacity,
											 params.bits_per_key));
	for (uint64 i = 0; i < teller->nlines; i++)
	{
		const uint64 *line = teller->lines + i * BLOOM_TELL_LINE;

		if (i % LINES_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < BLOOM_TELL_LINE && line[j] != 0; j++)
			(void) BloomSetLines(filter.lines, filter.nlines,
								 params.lines, params.hashes,
								 line[j] * inverse);
	}
	pfree(teller->memory);
	*teller = filter;
}

/* How many keys may there be before something has to be done? */
static uint64
NextLook(const BloomTeller *teller)
{
	uint64		room = Room(teller->nlines);

	if (teller->is_exact)
		return Min(room, MAX_EXACT_KEYS);
	if (!teller->is_filter)
		return Min(room, Max(teller->shape.bits / 64 / WORDS_PER_TABLE_KEY, 1));
	return teller->fresh > teller->shape.capacity ? PG_UINT64_MAX :
		teller->shape.capacity + 1;
}

static void
Init(BloomTeller *teller, MemoryContext context)
{
	teller->context = context;
	teller->fresh = 0;
	teller->is_filter = false;
	if (!pg_strong_random(&teller->secret, sizeof(teller->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	teller->secret |= 1;
	MakeLines(teller, FIRST_LINES);
	teller->look_at = NextLook(teller);
}

/*
 * BloomTellerInit
 *		Begin with no keys, in the exact form.
 */
void
BloomTellerInit(BloomTeller *teller, MemoryContext context)
{
	teller->is_exact = true;
	Init(teller, context);
}

/*
 * BloomTellerInitSized
 *		Begin with no keys, in the form of a filter.  Checks both parameters.
 */
void
BloomTellerInitSized(BloomTeller *teller, MemoryContext context,
					 double capacity, double fp_prob)
{
	teller->is_exact = false;
	teller->shape = BloomShapeForCapacity(capacity, fp_prob, 0);
	Init(teller, context);
}

/*
 * BloomTellerLook
 *		There are so many keys that there has to be more room for them, or
 *		something to be said.
 */
void
BloomTellerLook(BloomTeller *teller, bool *warned)
{
	if (teller->is_filter)
	{
		if (!*warned)
		{
			*warned = true;
			ereport(WARNING,
					(errmsg("there are more distinct keys than the capacity"),
					 errdetail("The capacity is " UINT64_FORMAT " keys; with more of them, the false-positive rate exceeds %g.",
							   teller->shape.capacity, teller->shape.fp_prob),
					 errhint("Name a larger capacity.")));
		}
	}
	else if (teller->fresh < Room(teller->nlines))
	{
		if (teller->is_exact)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many distinct keys to remember without a capacity"),
					 errdetail("Without a capacity, their hashes are kept, and must be fewer than " UINT64_FORMAT ".",
							   (uint64) MAX_EXACT_KEYS),
					 errhint("Name a capacity: (key, capacity, fp_prob).")));
		TurnIntoFilter(teller);
	}
	else if (!teller->is_exact &&
			 teller->fresh >= teller->shape.bits / 64 / WORDS_PER_TABLE_KEY)
		TurnIntoFilter(teller);
	else
		Grow(teller);
	teller->look_at = NextLook(teller);
}
