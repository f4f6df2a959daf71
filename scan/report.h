/*-------------------------------------------------------------------------
 *
 * report.h
 *		What only tests ask: how often each thing happened.
 *
 * A library that is built with -DUSE_ASSERT_CHECKING counts, and tells it at
 * DEBUG1 when a node ends, if bloomtype_scan.testing is set.  A package does
 * neither.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_REPORT_H
#define BLOOM_SCAN_REPORT_H

#ifdef USE_ASSERT_CHECKING
#define Counted(what)	what
#else
#define Counted(what)
#endif

/* of a filter */
typedef struct ScanFilterCounts
{
	int			made;
	int			bitmaps;		/* of these */
	int			spilled;		/* from several batches */
	int			grown;			/* of these, more than were planned */
	int			skewed;			/* with tuples of the most common outer keys */
} ScanFilterCounts;

/* of a use of a filter */
typedef struct ScanUseCounts
{
	uint32		passed;			/* kinds of nodes between join and place: bits */
	uint64		rejected;
	uint64		paged;			/* of these, before they were in a slot */
	uint32		stages;			/* where it has tested: bits 1 << stage */
	int			asked;			/* windows in which the table was asked itself */
	int			rests;
	int			again;			/* generations after the first */
} ScanUseCounts;

/* of the tests of a condition */
typedef struct ScanWhereCounts
{
	int			kinds;			/* where the filters come from: bits */
	uint64		pages;
	uint64		not;			/* pages that could not be tested */
	uint64		dropped;
	int			rests;
} ScanWhereCounts;

/* of a node */
typedef struct ScanNodeCounts
{
	int			backward;		/* rows */
	int			rescans;
} ScanNodeCounts;

#endif							/* BLOOM_SCAN_REPORT_H */
