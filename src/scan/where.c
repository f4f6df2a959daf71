/*-------------------------------------------------------------------------
 *
 * where.c
 *		filter @> key in the condition of a sequential scan, a page at a time.
 *
 * Our node reads the rows of the scan below it.  When that enters a page, all
 * its rows are tested together, by the type's own functions (batch.h), and
 * those that the filter does not know never get into a slot.  The scan's
 * condition without these tests decides about the rest.
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
#include "nodes/extensible.h"
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

/* A member of the condition. */
typedef struct WhereMember
{
	ExprState  *condition;		/* for an instrumented node */
	bool		is_test;		/* of a filter */
} WhereMember;

/* filter @> key, one of the members. */
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

typedef struct WhereNode
{
	CustomScanState css;
	ScanTesting testing;
	ScanPage	page;
	Plan	   *planned;		/* the scan, as the planner has made it */
	List	   *clauses;		/* those tested, for EXPLAIN */
	int			ntests;
	WhereTest  *tests;
	ExprState  *whole;			/* the scan's condition */
	ExprState  *rest;			/* without the tests, or NULL */
	int			nmembers;
	WhereMember *members;
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
	int			nbackward;
	int			nrescans;
} WhereNode;

static const CustomExecMethods where_methods;


/* ----------------------------------------------------------------
 *		Pages
 * ----------------------------------------------------------------
 */

/* The rows of the scan begin again, or are other ones. */
static void
BeginAgain(WhereNode *node)
{
	BloomScanForgetPage(&node->page);
	node->is_tested = false;
	node->nrescans++;
}

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

	return routine != NULL && routine->version == BLOOM_BATCH_ROUTINE_VERSION ?
		routine : NULL;
}

/* Take out of the page's list what is not in the filter. */
static void
TestKeys(WhereNode *node, WhereTest *test, TableScanDesc desc,
		 const BloomBatchRoutine *routine)
{
	ScanPage   *page = &node->page;
	ExprContext *econtext = ((SeqScanState *) outerPlanState(node))->ss.ps.ps_ExprContext;
	Datum		keys[MaxHeapTuplesPerPage];
	uint16		row[MaxHeapTuplesPerPage];
	uint16		found[MaxHeapTuplesPerPage];
	MemoryContext old;
	int			nkeys = 0;
	int			nfound;

	BloomScanReadPage(page, desc, &test->column, keys);
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
}

/*
 * EndWindow
 *		Does it pay to test pages?
 *
 * It does not where they drop little, and the rest of the condition drops so
 * much that the tests would be for few rows.
 */
static void
EndWindow(WhereNode *node)
{
	double		nrows = node->ntested;
	double		nleft = nrows - node->ndropped;

	if (node->ndropped < DROPS_LITTLE * nrows &&
		node->nrest > DROPS_MUCH * nleft && node->testing != SCAN_TESTING_FORCE)
	{
		node->wait = node->testing == SCAN_TESTING_SMALL ? SMALL_FIRST_ROWS : PAUSE;
		node->npauses++;
	}
	node->ntested = node->ndropped = node->nrest = 0;
}

/*
 * TestPage
 *		The scan has entered a page: take out of its list the rows behind the
 *		current one that do not pass.  Returns how many.
 */
static int
TestPage(WhereNode *node, TableScanDesc desc)
{
	ExprContext *econtext = ((SeqScanState *) outerPlanState(node))->ss.ps.ps_ExprContext;
	const BloomBatchRoutine *routine = Routine();
	int			ndropped = 0;
	int			nrows;

	if (node->ntested >= (node->testing == SCAN_TESTING_OFF ? WINDOW : SMALL_WINDOW))
		EndWindow(node);

	/* where counts are shown, they tell nothing of rows that a policy hides */
	node->is_tested = BloomScanEnterPage(&node->page, desc) &&
		(node->css.ss.ps.instrument == NULL || node->rest == NULL);
	if (!node->is_tested)
		return 0;
	nrows = node->page.nrows;
	ResetExprContext(econtext);
	for (int i = 0; i < node->ntests; i++)
	{
		WhereTest  *test = &node->tests[i];

		if (node->page.nrows == 0)
			break;
		if (OpenFilter(test, econtext, routine))
		{
			TestKeys(node, test, desc, routine);
			ndropped += BloomScanKeepRows(&node->page, desc);
		}
		else
			node->is_tested = false;
	}
	ResetExprContext(econtext);
	if (node->is_tested)
	{
		node->npages++;
		node->ntested += nrows;
		node->ndropped += ndropped;
	}
	else
		node->nnot++;
	node->total_dropped += ndropped;
	return ndropped;
}

/* ----------------------------------------------------------------
 *		Rows
 * ----------------------------------------------------------------
 */

/* The same as ExecQual of the condition, and count who dropped the row. */
static bool
PassesCounted(WhereNode *node, bool is_tested)
{
	SeqScanState *scan = (SeqScanState *) outerPlanState(node);

	for (int i = 0; i < node->nmembers; i++)
	{
		WhereMember *member = &node->members[i];

		if ((is_tested && member->is_test) ||
			ExecQual(member->condition, scan->ss.ps.ps_ExprContext))
			continue;
		if (member->is_test)
			InstrCountFiltered1(node, 1);
		else
		{
			/* the scan has not returned it */
			InstrCountFiltered1(scan, 1);
			scan->ss.ps.instrument->tuplecount -= 1;
		}
		return false;
	}
	return true;
}

/*
 * Next
 *		The next row: what ExecScan does for the scan, with our tests.
 */
static TupleTableSlot *
Next(PlanState *ps)
{
	WhereNode  *node = (WhereNode *) ps;
	SeqScanState *scan = (SeqScanState *) outerPlanState(ps);
	EState	   *estate = ps->state;
	TupleTableSlot *slot = scan->ss.ss_ScanTupleSlot;
	ProjectionInfo *projection = scan->ss.ps.ps_ProjInfo;
	ExprContext *econtext = scan->ss.ps.ps_ExprContext;
	TableScanDesc desc;

	if (unlikely(scan->ss.ps.chgParam != NULL))
	{
		BeginAgain(node);
		ExecReScan(&scan->ss.ps);
	}
	if (unlikely(scan->ss.ss_currentScanDesc == NULL))
		scan->ss.ss_currentScanDesc = BloomScanBegin(&scan->ss);
	desc = scan->ss.ss_currentScanDesc;

	for (;;)
	{
		bool		found;
		bool		is_tested = false;

		CHECK_FOR_INTERRUPTS();
		if (scan->ss.ps.instrument)
			InstrStartNode(scan->ss.ps.instrument);
		found = table_scan_getnextslot(desc, estate->es_direction, slot);
		if (scan->ss.ps.instrument)
			InstrStopNode(scan->ss.ps.instrument, found ? 1.0 : 0.0);
		if (!found)
		{
			BloomScanForgetPage(&node->page);
			return projection != NULL ?
				ExecClearTuple(projection->pi_state.resultslot) : NULL;
		}

		if (unlikely(!ScanDirectionIsForward(estate->es_direction)))
		{
			/* rows behind the page's first one were tested; it was not */
			BloomScanForgetPage(&node->page);
			node->nbackward++;
		}
		else if (node->wait > 0)
		{
			if (--node->wait == 0)
				BloomScanForgetPage(&node->page);
		}
		else if (BloomScanIsNewPage(&node->page, desc))
		{
			int			ndropped = TestPage(node, desc);

			/* the scan has read them */
			InstrCountFiltered1(node, ndropped);
			if (scan->ss.ps.instrument)
				scan->ss.ps.instrument->tuplecount += ndropped;
		}
		else
			is_tested = node->is_tested;

		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (unlikely(ps->instrument != NULL) ? !PassesCounted(node, is_tested) :
			!ExecQual(is_tested ? node->rest : node->whole, econtext))
		{
			node->nrest += is_tested;
			continue;
		}
		return projection != NULL ? ExecProject(projection) : slot;
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
 * BloomScanWhere
 *		Have the tests of filters in the condition of a sequential scan done a
 *		page at a time, if there are any, by a node at this link to the scan.
 *
 * Nobody may see that the condition is asked for fewer rows: it has no
 * volatile function.
 */
void
BloomScanWhere(PlanState **link, ScanTesting testing)
{
	SeqScanState *scan = (SeqScanState *) *link;
	List	   *condition = scan->ss.ps.plan->qual;
	const BloomBatchRoutine *routine = Routine();
	WhereTest  *tests;
	WhereNode  *node;
	Plan	   *plan;
	List	   *clauses = NIL;
	List	   *rest = NIL;
	int			ntests = 0;
	int			n = 0;
	ListCell   *lc;

	if (routine == NULL || condition == NIL ||
		!BloomScanHasPages(scan->ss.ss_currentRelation) ||
		!BloomScanQuietList(condition))
		return;
	tests = palloc(list_length(condition) * sizeof(WhereTest));
	foreach(lc, condition)
	{
		if (IsTest(scan, lfirst(lc), routine, &tests[ntests]))
		{
			clauses = lappend(clauses, lfirst(lc));
			ntests++;
		}
		else
			rest = lappend(rest, lfirst(lc));
	}
	if (ntests == 0)
	{
		pfree(tests);
		return;
	}

	node = palloc0(sizeof(WhereNode));
	node->planned = scan->ss.ps.plan;
	/* EXPLAIN shows of the scan what we leave to it; the plan may be cached */
	plan = palloc(sizeof(SeqScan));
	memcpy(plan, scan->ss.ps.plan, sizeof(SeqScan));
	plan->qual = rest;
	scan->ss.ps.plan = plan;

	BloomScanInitNode(&node->css, &where_methods, link, SCAN_WHERE_ID);
	/* WHERE CURRENT OF asks whichever node scans the table */
	node->css.ss.ss_currentRelation = scan->ss.ss_currentRelation;
	node->css.ss.ss_ScanTupleSlot = scan->ss.ss_ScanTupleSlot;
	node->testing = testing;
	node->wait = testing == SCAN_TESTING_OFF ? FIRST_ROWS :
		testing == SCAN_TESTING_SMALL ? SMALL_FIRST_ROWS : 0;
	BloomScanForgetPage(&node->page);
	node->clauses = clauses;
	node->ntests = ntests;
	node->tests = tests;
	node->whole = scan->ss.ps.qual;
	node->rest = ExecInitQual(rest, &scan->ss.ps);
	if (node->css.ss.ps.instrument != NULL)
	{
		node->nmembers = list_length(condition);
		node->members = palloc(node->nmembers * sizeof(WhereMember));
		foreach(lc, condition)
		{
			WhereMember *member = &node->members[n++];

			member->condition = ExecInitQual(list_make1(lfirst(lc)), &scan->ss.ps);
			member->is_test = list_member_ptr(clauses, lfirst(lc));
		}
	}
	ExecSetExecProcNode(&node->css.ss.ps, Next);
}


/* ----------------------------------------------------------------
 *		What the server asks of the node
 * ----------------------------------------------------------------
 */

static void
End(CustomScanState *css)
{
	WhereNode  *node = (WhereNode *) css;

	if (node->testing != SCAN_TESTING_OFF)
	{
		int			seen = 0;
		int			kinds = 0;

		for (int i = 0; i < node->ntests; i++)
		{
			seen |= node->tests[i].column.seen;
			kinds |= node->tests[i].kind;
		}
		ereport(DEBUG1,
				(errmsg_internal("bloomtype_where: tests=%d kinds=%d type=%u pages=" UINT64_FORMAT
								 " not=" UINT64_FORMAT " dropped=" UINT64_FORMAT
								 " seen=%d rest=%d pauses=%d backward=%d rescans=%d worker=%d",
								 node->ntests, kinds, node->tests[0].type,
								 node->npages, node->nnot,
								 node->total_dropped, seen, node->rest != NULL,
								 node->npauses, node->nbackward, node->nrescans,
								 IsParallelWorker())));
	}
	ExecEndNode(outerPlanState(css));
}

static void
Rescan(CustomScanState *css)
{
	PlanState  *child = outerPlanState(css);

	BeginAgain((WhereNode *) css);
	/* else we do it, with the next row */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
Explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	WhereNode  *node = (WhereNode *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->planned,
												   ancestors);

	ExplainPropertyText("Filter",
						deparse_expression((Node *) make_ands_explicit(node->clauses),
										   context, es->verbose, false), es);
	if (es->analyze && css->ss.ps.instrument != NULL)
		BloomScanExplainRows("Rows Removed by Filter",
							 css->ss.ps.instrument->nfiltered1, &css->ss.ps, es);
}

static const CustomExecMethods where_methods = {
	.CustomName = "Bloom Filter",
	.EndCustomScan = End,
	.ReScanCustomScan = Rescan,
	.ExplainCustomScan = Explain
};
