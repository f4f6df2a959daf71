/*-------------------------------------------------------------------------
 *
 * price.h
 *		What a test of rows costs, what it saves, and so where it goes.
 *
 * The filters of joins and the tests of filter @> key in a condition go by the
 * same rules.  Prices are constants: nanoseconds of a common machine, of which
 * only the ratios matter.  What a test drops is measured.
 *
 * A test is at one of the stages of ScanStage.  It stays there for a window of
 * rows; then BloomScanEndWindow chooses the stage where a row costs least, by
 * what the window has dropped.  A test that pays nowhere rests, until the rows
 * that came since are worth fifty times what another window costs.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_PRICE_H
#define BLOOM_SCAN_PRICE_H

/* Where rows are tested. */
typedef enum ScanStage
{
	SCAN_NOT,					/* it rests */
	SCAN_BY_PAGE,				/* before any of a page's rows is in a slot */
	SCAN_IN_SLOT,				/* before the scan's condition */
	SCAN_BEHIND					/* behind it */
} ScanStage;

/* For tests: what to do with tables too small for a filter to pay. */
typedef enum ScanTesting
{
	SCAN_TESTING_OFF,			/* none: they have no node */
	SCAN_TESTING_SMALL,			/* as with large ones, in small steps */
	SCAN_TESTING_FORCE,			/* test always, and never give up */
	SCAN_TESTING_UNSEEN			/* the same, but not for EXPLAIN */
} ScanTesting;

/* A condition that rows meet or not, behind which tests may stand. */
typedef struct ScanCondition
{
	double		price;			/* to ask it */
	uint64		asked;			/* of late */
	uint64		failed;
} ScanCondition;

/* One test, or several that are made together. */
typedef struct ScanTest
{
	ScanTesting testing;
	int			stages;			/* where it may be made: bits 1 << stage */

	/* prices */
	double		test;			/* of a test, the keys being read */
	double		walks;			/* to walk to the keys, to each by itself */
	double		walk;			/* to all of them once, as a slot does */
	double		untested;		/* of what is done with a row that was not
								 * tested, and meets the condition */
	double		passed;			/* with one that passed the test */

	ScanStage	stage;
	uint64		window;			/* rows between two decisions */
	uint64		rest;			/* rows before the next window */
	uint64		tested;			/* of this window */
	uint64		dropped;
	double		rate;			/* dropped of the last window */
} ScanTest;

#define SCAN_AHEAD			(1 << SCAN_BY_PAGE | 1 << SCAN_IN_SLOT)

/* rows between two looks at what a test drops, with small tables in tests */
#define SCAN_WINDOW			256
#define SCAN_SMALL_WINDOW	8

/* of a row that the scan puts into a slot and returns */
#define PRICE_ROW			40
/* to test one row in its slot, beside the test itself */
#define PRICE_IN_SLOT		8
/* to walk over a column that is not wanted */
#define PRICE_COLUMN		2
/* to call the server's function that walks */
#define PRICE_WALK			10

extern double BloomScanHashPrice(Oid function, Oid collation, double bytes);
extern double BloomScanBitsPrice(Size bytes, bool is_bitmap);
extern double BloomScanProbePrice(double ntuples);
extern double BloomScanWalkPrice(int attno, int offset);
extern bool BloomScanIsDear(double price);
extern void BloomScanRest(ScanTest *test, const ScanCondition *condition,
						  int ntests);
extern void BloomScanBeginWindow(ScanTest *test,
								 ScanCondition *condition);
extern double BloomScanEndWindow(ScanTest *test,
								 ScanCondition *condition, int ntests);
extern bool BloomScanGoOn(ScanTest *test, double rate,
						  const ScanCondition *condition);

/* The condition was asked about a row. */
static inline void
BloomScanNoteAsked(ScanCondition *condition, bool meets)
{
	condition->asked++;
	condition->failed += !meets;
}

/* Which of two goes first: the one that drops more rows for its price.  (rule 32) */
static inline bool
BloomScanGoesBefore(const ScanTest *a, const ScanTest *b)
{
	return a->rate * (b->test + b->walks) > b->rate * (a->test + a->walks);
}

#endif							/* BLOOM_SCAN_PRICE_H */
