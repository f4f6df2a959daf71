/*-------------------------------------------------------------------------
 *
 * where.h
 *		filter @> key in the condition of a sequential scan, a page at a time.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_WHERE_H
#define BLOOM_SCAN_WHERE_H

#include "executor/executor.h"
#include "nodes/execnodes.h"

#include "scan/page.h"
#include "scan/price.h"
#include "scan/scan_compat.h"

/* filter @> key, one of the members of the condition. */
typedef struct WhereTest
{
	ExprState  *filter;
	int			paramid;		/* of an InitPlan's result; -1: something else */
	AttrNumber	attno;			/* of the key */
	ScanColumn	column;
	void	   *batch;			/* the type's */
	Oid			type;			/* of the key */
} WhereTest;

/* The condition of a scan that tests filters. */
typedef struct ScanWhere
{
	SeqScanState *scan;
	Plan	   *planned;		/* the scan, as the planner has made it */
	int			ntests;
	WhereTest  *tests;

	/* The scan's condition, in its order: what comes before the first test, */
	ExprState  *ahead;			/* or NULL */
	ExprState  *whole;			/* what comes from it on, */
	ExprState  *rest;			/* and that without the tests, or NULL */

	ScanTest	test;			/* all tests together */
	ScanCondition condition;	/* what comes before them */
	bool		is_tested;		/* have all tests tested this page? */
				Counted(ScanWhereCounts counts);
} ScanWhere;

extern ScanWhere *BloomScanWhereOf(SeqScanState *scan, ScanTesting testing);
extern ScanTest *BloomScanWhereTest(ScanWhere *where);
extern List *BloomScanWhereCondition(const ScanWhere *where);
extern int	BloomScanTestWhere(ScanWhere *where, ScanPage *page,
							   TableScanDesc desc);
extern void BloomScanCountWhere(ScanWhere *where, uint64 nrows, int ntests);
extern void BloomScanBeginWhere(ScanWhere *where, int ntests);
extern char *BloomScanExplainWhere(const ScanWhere *where, List *ancestors,
								   ExplainState *es);
extern void BloomScanReportWhere(const ScanWhere *where,
								 const ScanNodeCounts *node, uint64 njoined);

/*
 * BloomScanMeets
 *		Does the row in the scan's expression context meet its condition?
 *
 * It is asked in the order of the server, but for the tests if the row was
 * tested together with those of its page.
 */
static inline bool
BloomScanMeets(ScanWhere *where, ExprContext *econtext, bool is_new)
{
	if (where->ahead != NULL)
	{
		bool		meets = ExecQual(where->ahead, econtext);

		BloomScanNoteAsked(&where->condition, meets);
		if (!meets)
			return false;
	}
	return ExecQual(!is_new && where->is_tested ? where->rest : where->whole,
					econtext);
}

#endif							/* BLOOM_SCAN_WHERE_H */
