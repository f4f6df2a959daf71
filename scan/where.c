/*-------------------------------------------------------------------------
 *
 * where.c
 *		filter @> key in the condition of a sequential scan, a page at a time.
 *
 * When the scan below a node of ours enters a page, all its rows are tested
 * together, by the type's own functions (batch.h), and those that the filter
 * does not know never get into a slot.  The scan's condition without these
 * tests decides about the rest.
 *
 * Any row that was not tested with its page meets the whole condition, as
 * without us.  So whatever the type does not test by pages (a filter that is
 * null, of another key type, or of which only parts were read so far) needs
 * nothing here, and the first rows are cheap.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "batch.h"
#include "scan/scan.h"

/* rows that are tested one by one before pages are, with small tables in tests */
#define FIRST_ROWS			64
#define SMALL_FIRST_ROWS	3
/* rows between two looks at whether that pays, and rows of a pause */
#define WINDOW				4096
#define SMALL_WINDOW		8
#define PAUSE				(64 * WINDOW)
/* the share that pages, or the rest of the condition, have to drop */
#define DROPS_LITTLE		0.2
#define DROPS_MUCH			0.8

/* filter @> key, one of the members of the condition. */
typedef struct WhereTest
{
	ExprState  *filter;
	int			paramid;		/* of an InitPlan's result; -1: something else */
	AttrNumber	attno;			/* of the key */
	ScanColumn	column;
	void	   *batch;			/* the type's */
	/* for tests */
	int			kind;			/* of filter: bits as below */
	Oid			type;			/* of the key */
} WhereTest;

/* Where a filter comes from, for tests. */
#define FROM_CONSTANT	1
#define FROM_INITPLAN	2		/* whose result is a parameter */
#define FROM_OUTSIDE	4		/* of the statement */
#define FROM_ABOVE		8		/* in the plan: a nested loop, or a subquery
								 * around */

struct ScanWhere
{
	SeqScanState *scan;
	ScanTesting testing;
	Plan	   *planned;		/* the scan, as the planner has made it */
	int			ntests;
	WhereTest  *tests;
	ExprState  *whole;			/* the scan's condition */
	ExprState  *rest;			/* without the tests, or NULL */
	bool		is_tested;		/* have all tests tested this page? */
	uint64		wait;			/* rows before the next page is tested */

	/* of this window */
	uint64		ntested;		/* rows tested with their page */
	uint64		ndropped;		/* so */
	uint64		nrest;			/* rows dropped by the rest of the condition */

	/* for tests */
	uint64		npages;
	uint64		nnot;			/* pages that could not be tested */
	uint64		total_dropped;
	int			npauses;
};


/* ----------------------------------------------------------------
 *		Pages
 * ----------------------------------------------------------------
 */

/*
 * OpenFilter
 *		Can the type test keys for this filter now?
 *
 * An InitPlan that has not run is not run by us: no row may need it.
 */
static bool
OpenFilter(WhereTest *test, ExprContext *econtext, const BloomBatchRoutine *routine)
{
	bool		isnull;
	Datum		filter;

	if (test->paramid >= 0 &&
		econtext->ecxt_param_exec_vals[test->paramid].execPlan != NULL)
		return false;
	filter = ExecEvalExprSwitchContext(test->filter, econtext, &isnull);
	return !isnull && routine->open(test->batch, filter);
}

static const BloomBatchRoutine *
Routine(void)
{
	const BloomBatchRoutine *routine =
	*find_rendezvous_variable(BLOOM_BATCH_ROUTINE);

	return routine != NULL && routine->interface == BLOOM_BATCH_INTERFACE ?
		routine : NULL;
}

/*
 * TestKeys
 *		Take out of the page's list what is not in the filter.
 *
 * False if there are keys that have to be fetched or decompressed: they are not
 * tested, since the rest of the condition may need few of them.
 */
static bool
TestKeys(WhereTest *test, ScanPage *page, TableScanDesc desc,
		 const BloomBatchRoutine *routine, ExprContext *econtext)
{
	Datum		keys[MaxHeapTuplesPerPage];
	uint16		row[MaxHeapTuplesPerPage];
	uint16		found[MaxHeapTuplesPerPage];
	uint16		elsewhere[MaxHeapTuplesPerPage];
	MemoryContext old;
	int			nkeys = 0;
	int			nfound;
	int			nelsewhere = 0;

	BloomScanReadPage(page, desc, &test->column, keys);
	for (int i = 0; test->column.len == -1 && i < page->nrows; i++)
	{
		Pointer		key = DatumGetPointer(keys[i]);

		if (page->keep[i] && (VARATT_IS_EXTERNAL(key) || VARATT_IS_COMPRESSED(key)))
		{
			elsewhere[nelsewhere++] = (uint16) i;
			page->keep[i] = false;
		}
	}
	/* those that are not null */
	for (int i = 0; i < page->nrows; i++)
	{
		keys[nkeys] = keys[i];
		row[nkeys] = (uint16) i;
		nkeys += page->keep[i];
	}
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	nfound = routine->test(test->batch, keys, nkeys, found);
	MemoryContextSwitchTo(old);
	memset(page->keep, false, page->nrows);
	for (int i = 0; i < nfound; i++)
		page->keep[row[found[i]]] = true;
	for (int i = 0; i < nelsewhere; i++)
		page->keep[elsewhere[i]] = true;
	return nelsewhere == 0;
}

/*
 * EndWindow
 *		Does it pay to test pages?
 *
 * It does not where they drop little, and the rest of the condition drops so
 * much that the tests would be for few rows.
 */
static void
EndWindow(ScanWhere *where)
{
	double		nrows = where->ntested;
	double		nleft = nrows - where->ndropped;

	if (where->ndropped < DROPS_LITTLE * nrows &&
		where->nrest > DROPS_MUCH * nleft && where->testing != SCAN_TESTING_FORCE)
	{
		where->wait = where->testing == SCAN_TESTING_SMALL ? SMALL_FIRST_ROWS : PAUSE;
		where->npauses++;
	}
	where->ntested = where->ndropped = where->nrest = 0;
}

/*
 * BloomScanTestWhere
 *		Take out of the list of a page, which the scan has just entered, the
 *		rows that do not pass.  Returns how many.
 */
int
BloomScanTestWhere(ScanWhere *where, ScanPage *page, TableScanDesc desc)
{
	ExprContext *econtext = where->scan->ss.ps.ps_ExprContext;
	const BloomBatchRoutine *routine = Routine();
	int			ndropped = 0;
	int			nrows = page->nrows;

	if (where->ntested >= (where->testing == SCAN_TESTING_OFF ? WINDOW : SMALL_WINDOW))
		EndWindow(where);

	where->is_tested = where->wait == 0;
	if (!where->is_tested)
		return 0;
	ResetExprContext(econtext);
	for (int i = 0; i < where->ntests && page->nrows > 0; i++)
	{
		WhereTest  *test = &where->tests[i];

		if (!OpenFilter(test, econtext, routine) ||
			!TestKeys(test, page, desc, routine, econtext))
			where->is_tested = false;
		ndropped += BloomScanKeepRows(page, desc);
	}
	ResetExprContext(econtext);
	if (where->is_tested)
	{
		where->npages++;
		where->ntested += nrows;
		where->ndropped += ndropped;
	}
	else
		where->nnot++;
	where->total_dropped += ndropped;
	return ndropped;
}

/* ----------------------------------------------------------------
 *		Rows
 * ----------------------------------------------------------------
 */

/*
 * BloomScanMeets
 *		Does the row in the scan's expression context meet its condition?
 *
 * Only what is left of it, if the row was tested together with those of its
 * page.
 */
bool
BloomScanMeets(ScanWhere *where, ScanPage *page, bool is_new)
{
	bool		is_tested = !is_new && where->is_tested;
	bool		meets;

	if (where->wait > 0 && --where->wait == 0)
		BloomScanForgetPage(page);
	meets = ExecQual(is_tested ? where->rest : where->whole,
					 where->scan->ss.ps.ps_ExprContext);
	where->nrest += is_tested && !meets;
	return meets;
}


/* ----------------------------------------------------------------
 *		Finding tests
 * ----------------------------------------------------------------
 */

/*
 * IsTest
 *		Is this filter @> key, with a column of the scan, and a filter that is
 *		the same for all its rows?
 *
 * False also if the type does not test such keys together.
 */
static bool
IsTest(SeqScanState *scan, Node *clause, const BloomBatchRoutine *routine,
	   WhereTest *test)
{
	EState	   *estate = scan->ss.ps.state;
	Oid			function,
				collation;
	List	   *args;
	Node	   *filter,
			   *key;
	Var		   *column;
	FmgrInfo	finfo;
	bool		swapped;

	if (IsA(clause, OpExpr))
	{
		function = ((OpExpr *) clause)->opfuncid;
		collation = ((OpExpr *) clause)->inputcollid;
		args = ((OpExpr *) clause)->args;
	}
	else if (IsA(clause, FuncExpr))
	{
		function = ((FuncExpr *) clause)->funcid;
		collation = ((FuncExpr *) clause)->inputcollid;
		args = ((FuncExpr *) clause)->args;
	}
	else
		return false;
	if (list_length(args) != 2 || function < FirstNormalObjectId)
		return false;
	/* what costs nothing to see comes first */
	filter = linitial(args);
	key = lsecond(args);
	swapped = !IsA(filter, Const) && !IsA(filter, Param);
	if (swapped)
	{
		filter = lsecond(args);
		key = linitial(args);
	}
	column = (Var *) BloomScanPlain(key);
	if ((!IsA(filter, Const) && !IsA(filter, Param)) || !IsA(column, Var) ||
		column->varno != (int) ((Scan *) scan->ss.ps.plan)->scanrelid ||
		column->varattno <= 0)
		return false;
	fmgr_info(function, &finfo);
	if (finfo.fn_addr != (swapped ? routine->contained : routine->contains))
		return false;

	test->batch = routine->begin(estate->es_query_cxt, exprType(key), collation,
								 IsA(filter, Const));
	if (test->batch == NULL)
		return false;
	test->filter = ExecInitExpr((Expr *) filter, &scan->ss.ps);
	test->paramid = -1;
	test->type = exprType(key);
	if (IsA(filter, Const))
		test->kind = FROM_CONSTANT;
	else if (((Param *) filter)->paramkind == PARAM_EXTERN)
		test->kind = FROM_OUTSIDE;
	else
	{
		test->paramid = ((Param *) filter)->paramid;
		test->kind = estate->es_param_exec_vals[test->paramid].execPlan != NULL ?
			FROM_INITPLAN : FROM_ABOVE;
	}
	test->attno = column->varattno;
	BloomScanColumnOf(&test->column,
					  scan->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
					  column->varattno);
	return true;
}

/*
 * BloomScanBeginWhere
 *		The scan begins, perhaps again: it may be read for few rows.
 */
void
BloomScanBeginWhere(ScanWhere *where)
{
	if (where->testing == SCAN_TESTING_OFF)
		where->wait = Max(where->wait, FIRST_ROWS);
	else if (where->testing == SCAN_TESTING_SMALL)
		where->wait = Max(where->wait, SMALL_FIRST_ROWS);
}

/*
 * BloomScanWhereOf
 *		The tests of filters in the condition of a sequential scan, which are to
 *		be done a page at a time.  NULL if there are none.
 *
 * Nobody may see that the condition is asked for fewer rows: it has no
 * volatile function.
 */
ScanWhere *
BloomScanWhereOf(SeqScanState *scan, ScanTesting testing)
{
	List	   *condition = scan->ss.ps.plan->qual;
	const BloomBatchRoutine *routine = Routine();
	WhereTest  *tests;
	ScanWhere  *where;
	Plan	   *plan;
	List	   *rest = NIL;
	int			ntests = 0;
	ListCell   *lc;

	if (routine == NULL || condition == NIL ||
		!BloomScanHasPages(scan->ss.ss_currentRelation) ||
		!BloomScanQuietList(condition))
		return NULL;
	tests = palloc(list_length(condition) * sizeof(WhereTest));
	foreach(lc, condition)
	{
		if (IsTest(scan, lfirst(lc), routine, &tests[ntests]))
			ntests++;
		else
			rest = lappend(rest, lfirst(lc));
	}
	if (ntests == 0)
	{
		pfree(tests);
		return NULL;
	}

	where = palloc0(sizeof(ScanWhere));
	where->scan = scan;
	where->planned = scan->ss.ps.plan;
	/* EXPLAIN shows the condition as that of our node; the plan may be cached */
	plan = palloc(sizeof(SeqScan));
	memcpy(plan, scan->ss.ps.plan, sizeof(SeqScan));
	plan->qual = NIL;
	scan->ss.ps.plan = plan;
	where->testing = testing;
	where->ntests = ntests;
	where->tests = tests;
	where->whole = scan->ss.ps.qual;
	where->rest = ExecInitQual(rest, &scan->ss.ps);
	BloomScanBeginWhere(where);
	return where;
}


/* ----------------------------------------------------------------
 *		What is shown
 * ----------------------------------------------------------------
 */

/*
 * BloomScanReportWhere
 *		For the random tests: what happened.
 */
void
BloomScanReportWhere(const ScanWhere *where, int nbackward, int nrescans,
					 uint64 njoined)
{
	int			seen = 0;
	int			kinds = 0;

	if (where->testing == SCAN_TESTING_OFF)
		return;
	for (int i = 0; i < where->ntests; i++)
	{
		seen |= where->tests[i].column.seen;
		kinds |= where->tests[i].kind;
	}
	ereport(DEBUG1,
			(errmsg_internal("bloomtype_where: tests=%d kinds=%d type=%u pages=" UINT64_FORMAT
							 " not=" UINT64_FORMAT " dropped=" UINT64_FORMAT
							 " seen=%d rest=%d pauses=%d backward=%d rescans=%d joined="
							 UINT64_FORMAT " worker=%d",
							 where->ntests, kinds, where->tests[0].type,
							 where->npages, where->nnot,
							 where->total_dropped, seen, where->rest != NULL,
							 where->npauses, nbackward, nrescans, njoined,
							 IsParallelWorker())));
}

/*
 * BloomScanExplainWhere
 *		The condition, as text.
 */
char *
BloomScanExplainWhere(const ScanWhere *where, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, where->planned,
												   ancestors);

	return deparse_expression((Node *) make_ands_explicit(where->planned->qual),
							  context, es->verbose, false);
}
