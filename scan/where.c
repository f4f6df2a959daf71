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
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "batch.h"
#include "scan/expr.h"
#include "scan/where.h"

/* prices: of the operator, and of a test of many, beside hashing the key */
#define PRICE_OPERATOR	70
#define PRICE_BATCH		30

/* Where a filter comes from, for reports. */
#define FROM_CONSTANT	1
#define FROM_INITPLAN	2		/* whose result is a parameter */
#define FROM_OUTSIDE	4		/* of the statement */
#define FROM_ABOVE		8		/* in the plan: a nested loop, or a subquery
								 * around */


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
		if (page->keep[i] && BloomScanIsElsewhere(&test->column, keys[i]))
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
 * BloomScanTestWhere
 *		Take out of the list of a page, which the scan has just entered, the
 *		rows that do not pass.  Returns how many.
 *
 * A page that not all tests could test does not count: its rows are asked by
 * the whole condition (rule 26).
 */
int
BloomScanTestWhere(ScanWhere *where, ScanPage *page, TableScanDesc desc)
{
	ExprContext *econtext = where->scan->ss.ps.ps_ExprContext;
	const BloomBatchRoutine *routine = Routine();
	int			ndropped = 0;
	int			nrows = page->nrows;

	where->is_tested = true;
	ResetExprContext(econtext);
	for (int i = 0; i < where->ntests && page->nrows > 0; i++)
	{
		WhereTest  *test = &where->tests[i];

		/* what comes behind it is not asked, if this is an error */
		if (!OpenFilter(test, econtext, routine))
		{
			where->is_tested = false;
			break;
		}
		if (!TestKeys(test, page, desc, routine, econtext))
			where->is_tested = false;
		ndropped += BloomScanKeepRows(page, desc);
	}
	ResetExprContext(econtext);
	if (where->is_tested)
	{
		where->test.tested += nrows;
		where->test.dropped += ndropped;
	}
	Counted(where->counts.pages += where->is_tested);
	Counted(where->counts.not += !where->is_tested);
	Counted(where->counts.dropped += ndropped);
	return ndropped;
}

/*
 * BloomScanCountWhere
 *		The scan enters a page with so many rows: is it to be tested?
 */
void
BloomScanCountWhere(ScanWhere *where, uint64 nrows, int ntests)
{
	ScanTest   *test = &where->test;

	where->is_tested = false;
	if (test->stage == SCAN_NOT)
	{
		if (test->rest == 0)
			BloomScanBeginWindow(test, &where->condition);
		test->rest -= Min(test->rest, nrows);
	}
	else if (test->tested >= test->window)
	{
		BloomScanEndWindow(test, &where->condition, ntests);
		Counted(where->counts.rests += test->stage == SCAN_NOT);
	}
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
	   WhereTest *test, int *kind)
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
	column = (Var *) BloomScanStripRelabel(key);
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
		*kind = FROM_CONSTANT;
	else if (((Param *) filter)->paramkind == PARAM_EXTERN)
		*kind = FROM_OUTSIDE;
	else
	{
		test->paramid = ((Param *) filter)->paramid;
		*kind = estate->es_param_exec_vals[test->paramid].execPlan != NULL ?
			FROM_INITPLAN : FROM_ABOVE;
	}
	test->attno = column->varattno;
	BloomScanColumnOf(&test->column,
					  scan->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
					  column->varattno);
	return true;
}

/* What it costs to test keys of a column, by pages and by the operator. */
static void
AddPrices(ScanTest *test, const WhereTest *where)
{
	double		walk = BloomScanWalkPrice(where->attno, where->column.offset);
	double		bytes = where->column.len == -1 ? get_typavgwidth(where->type, -1) : 0;
	double		hash = where->type == NUMERICOID ? 60 : 5 + bytes / 3;

	test->test += hash + PRICE_BATCH;
	test->untested += hash + PRICE_OPERATOR;
	test->walks += walk;
	test->walk = Max(test->walk, walk);
}

/*
 * BloomScanWhereTest
 *		All tests of the condition, as one.
 */
ScanTest *
BloomScanWhereTest(ScanWhere *where)
{
	return &where->test;
}

/* The condition as the planner has made it. */
List *
BloomScanWhereCondition(const ScanWhere *where)
{
	return where->planned->qual;
}

/*
 * BloomScanBeginWhere
 *		The scan begins, perhaps again: it may be read for few rows.
 */
void
BloomScanBeginWhere(ScanWhere *where, int ntests)
{
	BloomScanRest(&where->test, &where->condition, ntests);
	where->is_tested = false;
}

/*
 * BloomScanWhereOf
 *		The tests of filters in the condition of a sequential scan, which are to
 *		be done a page at a time.  NULL if there are none.
 *
 * Nobody may see that the condition is asked for fewer rows: it has no
 * volatile function.  (rule 27)
 */
ScanWhere *
BloomScanWhereOf(SeqScanState *scan, ScanTesting testing)
{
	List	   *condition = scan->ss.ps.plan->qual;
	const BloomBatchRoutine *routine = Routine();
	WhereTest  *tests;
	ScanWhere  *where;
	Plan	   *plan;
	List	   *ahead = NIL;
	List	   *whole = NIL;
	List	   *rest = NIL;
	int			ntests = 0;
	int			kinds pg_attribute_unused() = 0;	/* in a test build */
	ListCell   *lc;

	if (routine == NULL || condition == NIL ||
		!BloomScanHasPages(scan->ss.ss_currentRelation) ||
		!BloomScanIsQuiet(condition))
		return NULL;
	tests = palloc(list_length(condition) * sizeof(WhereTest));
	foreach(lc, condition)
	{
		int			kind = 0;
		bool		is_test = IsTest(scan, lfirst(lc), routine, &tests[ntests], &kind);

		kinds |= kind;
		ntests += is_test;
		if (ntests == 0)
			ahead = lappend(ahead, lfirst(lc));
		else
			whole = lappend(whole, lfirst(lc));
		if (ntests > 0 && !is_test)
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
	where->ntests = ntests;
	where->tests = tests;
	where->ahead = ExecInitQual(ahead, &scan->ss.ps);
	where->whole = ExecInitQual(whole, &scan->ss.ps);
	where->rest = ExecInitQual(rest, &scan->ss.ps);
	where->test.testing = testing;
	where->test.window = testing == SCAN_TESTING_SMALL ?
		SCAN_SMALL_WINDOW : SCAN_WINDOW;
	where->test.stages = 1 << SCAN_BY_PAGE;
	for (int i = 0; i < ntests; i++)
		AddPrices(&where->test, &tests[i]);
	where->condition.price = BloomScanConditionPrice(ahead);
	Counted(where->counts.kinds = kinds);
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
BloomScanReportWhere(const ScanWhere *where, const ScanNodeCounts *node,
					 uint64 njoined)
{
#ifdef USE_ASSERT_CHECKING
	int			seen = 0;

	if (where->test.testing == SCAN_TESTING_OFF)
		return;
	for (int i = 0; i < where->ntests; i++)
		seen |= where->tests[i].column.seen;
	ereport(DEBUG1,
			(errmsg_internal("bloomtype_where: tests=%d kinds=%d type=%u pages=" UINT64_FORMAT
							 " not=" UINT64_FORMAT " dropped=" UINT64_FORMAT
							 " seen=%d rest=%d rests=%d backward=%d rescans=%d joined="
							 UINT64_FORMAT " worker=%d",
							 where->ntests, where->counts.kinds,
							 where->tests[0].type, where->counts.pages,
							 where->counts.not, where->counts.dropped, seen,
							 where->rest != NULL || where->ahead != NULL,
							 where->counts.rests, node->backward, node->rescans,
							 njoined, IsParallelWorker())));
#else
	(void) where;
	(void) node;
	(void) njoined;
#endif
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
