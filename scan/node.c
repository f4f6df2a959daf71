/*-------------------------------------------------------------------------
 *
 * node.c
 *		The node that tests rows: Custom Scan (Bloom Filter).
 *
 * It stands between a node and its child, returns the slot that the child
 * returns, and leaves out the rows that no filter of its joins knows.  Above a
 * sequential scan it reads the table's rows itself, and tests them before the
 * scan's own condition does.
 *
 * Each use of a filter goes through these states:
 *
 *		waiting -> on <-> paused -> gone
 *
 * It waits until an eighth as many rows have come as the table has tuples, so
 * that the time to make the filter is small beside that to make the table, and
 * at least some rows: what is scanned again and again may read few.  If the
 * table has batches, it takes a sample instead, before files are read.
 * Then it looks at windows of rows.  After one of which it drops less than a
 * fifth it pauses, or is gone if no more rows are expected than those of the
 * pause.  Rows for which no filter has anything to do are counted, and that is
 * all that a node costs which is of no use.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "scan/scan.h"

/* rows between two looks at what a filter drops, in tests with small tables */
#define WINDOW			4096
#define SMALL_WINDOW	8
/* rows that come before there is a filter, however small the table is */
#define FIRST_ROWS		1024
/* windows of the first pause; how often each next one is twice as long */
#define FIRST_PAUSE		16
#define LONGEST_PAUSE	3
/* the share of rows that must be dropped */
#define PAYS_FROM		0.2

typedef struct ScanNode
{
	CustomScanState css;
	ExprContext *econtext;		/* for hash functions that allocate, or NULL */
	ScanWhere  *where;			/* tests in the scan's condition, or NULL */
	bool		before;			/* uses test the scan's rows before its qual */
	bool		by_page;		/* all rows of a page are tested together */
	ScanPage	page;
	double		expected;		/* rows of the child */
	double		seen;			/* of these, since it began */
	uint64		skip;			/* rows for which no filter has anything to do */
	int			nuses;
	int			max_uses;
	ScanUse   **uses;
	ScanUse   **order;			/* the same, as they are tested */
	bool		reorder;		/* is it time to? */

	/* for tests */
	int			nbackward;
	int			nrescans;
} ScanNode;

static const CustomExecMethods exec_methods;
static const CustomScanMethods plan_methods = {.CustomName = "Bloom Filter"};


/* ----------------------------------------------------------------
 *		Keys
 * ----------------------------------------------------------------
 */

static inline uint32
HashKey(FmgrInfo *function, Oid collation, Datum key)
{
	switch (function->fn_oid)
	{
		case F_HASHINT4:
			return hash_bytes_uint32((uint32) DatumGetInt32(key));
		case F_HASHINT8:
			{
				/* as hashint8 does: equal to hashint4 where the value is */
				int64		value = DatumGetInt64(key);
				uint32		low = (uint32) value;
				uint32		high = (uint32) ((uint64) value >> 32);

				return hash_bytes_uint32(low ^ (value >= 0 ? high : ~high));
			}
		default:
			return DatumGetUInt32(FunctionCall1Coll(function, collation, key));
	}
}

/* The hash of a row's keys.  False if one of them is null. */
static inline bool
HashRow(const ScanUse *use, TupleTableSlot *slot, uint32 *hash)
{
	ScanFilter *filter = use->filter;

	*hash = 0;
	for (int i = 0; i < filter->nkeys; i++)
	{
		bool		isnull;
		Datum		key = slot_getattr(slot, use->attno[i], &isnull);

		if (isnull)
			return false;
		*hash = pg_rotate_left32(*hash, 1) ^
			HashKey(&filter->outer_hash[i], filter->collation[i], key);
	}
	return true;
}


/* ----------------------------------------------------------------
 *		States
 * ----------------------------------------------------------------
 */

static uint32
Window(const ScanUse *use)
{
	return use->filter->testing == SCAN_TESTING_OFF ? WINDOW : SMALL_WINDOW;
}

static void
Enter(ScanUse *use, UseState state)
{
	use->state = state;
	use->on = state == SCAN_ON ? use->generation : 0;
	use->steps |= 1 << state;
}

/*
 * Pays
 *		Does the filter drop enough?  If not, pause.
 *
 * Rows often come in the order of their keys, so that those without a partner
 * come late.  We go on looking, at distances that double up to a hundredth of
 * the rows, as long as that many are expected.
 */
static bool
Pays(ScanNode *node, ScanUse *use, double rate)
{
	uint32		window = Window(use);

	use->rate = rate;
	if (rate >= PAYS_FROM || use->filter->testing == SCAN_TESTING_FORCE)
	{
		use->npauses = 0;
		return true;
	}
	use->wait = (uint64) window *
		(window == WINDOW ? FIRST_PAUSE << Min(use->npauses, LONGEST_PAUSE) : 1);
	use->npauses++;
	Enter(use, node->seen + use->wait < node->expected ? SCAN_PAUSED : SCAN_GONE);
	return false;
}

static void
EndWindow(ScanNode *node, ScanUse *use)
{
	double		rate = (double) use->rejected / use->tested;

	use->total_rejected += use->rejected;
	use->tested = 0;
	use->rejected = 0;
	node->reorder = node->nuses > 1;
	Pays(node, use, rate);
}

/*
 * Sample
 *		May the filter be made?
 *
 * Most tuples of a table of several batches are in files.  Before these are
 * read, we look at outer rows of the first batch, whose tuples are in memory.
 */
static bool
Sample(ScanNode *node, ScanUse *use, TupleTableSlot *slot)
{
	ScanFilter *filter = use->filter;
	HashJoinTable table = filter->table;
	uint32		hash;
	uint32		nrows = 1;
	bool		found = false;
	double		rate;

	if (table->nbatch == 1 || table->parallel_state != NULL ||
		filter->bits.words != NULL || filter->refused)
		return true;
	if (HashRow(use, slot, &hash))
		nrows = BloomScanSample(filter, hash, &found);
	use->sampled += nrows;
	use->unmatched += found ? 0 : nrows;
	if (use->sampled < (uint64) Window(use) / 8 * table->nbatch)
		return false;
	rate = (double) use->unmatched / use->sampled;
	use->sampled = use->unmatched = 0;
	return Pays(node, use, rate);
}

/*
 * Advance
 *		A row comes, and the filter is not on.
 */
static void
Advance(ScanNode *node, ScanUse *use, TupleTableSlot *slot)
{
	ScanFilter *filter = use->filter;

	if (use->state == SCAN_GONE || !BloomScanKnow(filter))
		return;
	if (use->generation != filter->generation)
	{
		/* another table; what its filter drops still counts for this window */
		if (use->generation != 0)
			use->nagain++;
		use->generation = filter->generation;
		use->wait = filter->testing == SCAN_TESTING_FORCE || filter->table->nbatch > 1 ?
			0 : (uint64) (filter->table->totalTuples / 8);
		if (filter->testing == SCAN_TESTING_OFF)
			use->wait = Max(use->wait, FIRST_ROWS);
		use->npauses = 0;
		use->sampled = use->unmatched = 0;
		Enter(use, SCAN_WAITING);
	}
	if (use->wait > 0)
		use->wait--;
	else if (Sample(node, use, slot))
	{
		Enter(use, BloomScanMake(filter, use->rate) ? SCAN_ON : SCAN_GONE);
		/* the rows that are left of this page can be tested now */
		BloomScanForgetPage(&node->page);
	}
}

/*
 * Idle
 *		For how many rows has no filter anything to do?  They are skipped.
 */
static uint64
Idle(ScanNode *node)
{
	uint64		nrows = PG_UINT64_MAX;

	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];

		if (use->state == SCAN_GONE)
			continue;
		if (use->on != 0 || use->generation != use->filter->generation)
			return 0;
		nrows = Min(nrows, use->wait);
	}
	for (int i = 0; i < node->nuses; i++)
		node->uses[i]->wait -= Min(nrows, node->uses[i]->wait);
	return nrows;
}

/* The rows of the child begin again, perhaps for other tables. */
static void
BeginAgain(ScanNode *node)
{
	BloomScanForgetPage(&node->page);
	node->skip = 0;
	node->seen = 0;
	if (node->where != NULL)
		BloomScanBeginWhere(node->where);
	node->nrescans++;
}

/*
 * Reorder
 *		That which drops most goes first.
 */
static void
Reorder(ScanNode *node)
{
	for (int i = 1; i < node->nuses; i++)
	{
		ScanUse    *use = node->order[i];
		int			j = i;

		for (; j > 0 && node->order[j - 1]->rate < use->rate; j--)
			node->order[j] = node->order[j - 1];
		node->order[j] = use;
	}
	node->reorder = false;
}


/* ----------------------------------------------------------------
 *		Rows
 * ----------------------------------------------------------------
 */

/* May the row have a partner?  Not if a key is null. */
static inline bool
TestRow(const ScanUse *use, TupleTableSlot *slot)
{
	ScanFilter *filter = use->filter;
	uint32		hash;

	if (filter->bits.is_bitmap)
	{
		bool		isnull;
		Datum		key = slot_getattr(slot, use->attno[0], &isnull);

		return !isnull &&
			BloomScanHasValue(&filter->bits, BloomScanInteger(filter->outer_integer, key));
	}
	return HashRow(use, slot, &hash) && BloomScanHasHash(&filter->bits, hash);
}

/* Keep those whose key, of this type, is in a bitmap.  Called with constants. */
static pg_attribute_always_inline void
TestIntegers(const ScanFilter *filter, ScanInteger type, const Datum *keys,
			 int nrows, bool *keep)
{
	ScanBits	bits = filter->bits;	/* in registers */

	for (int i = 0; i < nrows; i++)
		keep[i] &= BloomScanHasValue(&bits, BloomScanInteger(type, keys[i]));
}

/* The same for all rows of a page. */
static void
TestRows(ScanNode *node, ScanUse *use, TableScanDesc scan)
{
	ScanFilter *filter = use->filter;
	ScanPage   *page = &node->page;
	Datum		keys[MaxHeapTuplesPerPage];
	uint32		hashes[MaxHeapTuplesPerPage];
	ScanBits	bits = filter->bits;	/* in registers */
	int			nrows = page->nrows;
	MemoryContext old = CurrentMemoryContext;

	if (bits.is_bitmap)
	{
		BloomScanReadPage(page, scan, &use->column[0], keys);
		if (filter->outer_integer == SCAN_INT4)
			TestIntegers(filter, SCAN_INT4, keys, nrows, page->keep);
		else
			TestIntegers(filter, filter->outer_integer, keys, nrows, page->keep);
		return;
	}
	memset(hashes, 0, nrows * sizeof(uint32));
	for (int k = 0; k < filter->nkeys; k++)
	{
		BloomScanReadPage(page, scan, &use->column[k], keys);
		for (int i = 0; i < nrows; i++)
		{
			if (!page->keep[i])
				continue;
			if (node->econtext != NULL)
			{
				ResetExprContext(node->econtext);
				MemoryContextSwitchTo(node->econtext->ecxt_per_tuple_memory);
			}
			hashes[i] = pg_rotate_left32(hashes[i], 1) ^
				HashKey(&filter->outer_hash[k], filter->collation[k], keys[i]);
		}
	}
	MemoryContextSwitchTo(old);
	for (int i = 0; i < nrows; i++)
		page->keep[i] &= BloomScanHasHash(&bits, hashes[i]);
}

/*
 * TestPage
 *		The scan has entered a page: take out of its list the rows behind the
 *		current one that a filter does not know.
 */
static void
TestPage(ScanNode *node, TableScanDesc scan)
{
	ScanPage   *page = &node->page;
	NodeInstrumentation *counts = node->css.ss.ps.instrument;
	int			nrows;
	int			nwhere = 0;

	if (node->reorder)
		Reorder(node);
	if (!BloomScanEnterPage(page, scan))
		return;
	nrows = page->nrows;
	for (int i = 0; i < node->nuses && node->before; i++)
	{
		ScanUse    *use = node->order[i];
		int			nrejected;

		use->paged = 0;
		if (use->on != use->filter->generation)
			continue;
		use->paged = use->on;
		TestRows(node, use, scan);
		use->tested += page->nrows;
		nrejected = BloomScanKeepRows(page, scan);
		use->rejected += nrejected;
		use->page_rejected += nrejected;
		if (use->tested >= Window(use))
			EndWindow(node, use);
	}
	if (node->where != NULL)
		nwhere = BloomScanTestWhere(node->where, page, scan);
	node->seen += nrows - page->nrows;
	if (counts != NULL)
	{
		/* the scan has read them */
		outerPlanState(node)->instrument->tuplecount += nrows - page->nrows;
		counts->nfiltered1 += nrows - page->nrows - nwhere;
		counts->ntuples2 += nwhere;
	}
}

/*
 * Report
 *		For the random tests: what happened at each use of a node.
 */
static void
Report(ScanNode *node)
{
	uint64		npaged = 0;

	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];
		ScanFilter *filter = use->filter;
		Join	   *join = (Join *) filter->join->js.ps.plan;
		int			seen = 0;

		npaged += use->page_rejected;
		if (filter->testing == SCAN_TESTING_OFF)
			continue;
		for (int k = 0; k < filter->nkeys; k++)
			seen |= use->column[k].seen;
		ereport(DEBUG1,
				(errmsg_internal("bloomtype_scan: join=%d passed=%u child=%d before=%d rejected="
								 UINT64_FORMAT " paged=" UINT64_FORMAT
								 " seen=%d made=%d bitmap=%d spilled=%d grown=%d skewed=%d again=%d steps=%u trusted=%d shared=%d worker=%d",
								 (int) join->jointype, use->passed,
								 (int) nodeTag(outerPlanState(node)->plan),
								 node->before, use->total_rejected + use->rejected,
								 use->page_rejected, seen, filter->nmade,
								 filter->nbitmaps, filter->nspilled,
								 filter->ngrown, filter->nskewed,
								 use->nagain, use->steps,
								 filter->trusted,
								 innerPlanState(filter->join)->plan->parallel_aware,
								 IsParallelWorker())));
	}
	if (node->where != NULL)
		BloomScanReportWhere(node->where, node->nbackward, node->nrescans, npaged);
}

/*
 * Passes
 *		May the row have a partner in each of the joins?
 *
 * is_new: it has not been tested together with the rows of its page.
 */
static bool
Passes(ScanNode *node, TupleTableSlot *slot, bool is_new)
{
	bool		passes = true;
	bool		tested = false;
	MemoryContext old = CurrentMemoryContext;

	node->seen++;
	if (node->skip > 0)
	{
		node->skip--;
		InstrCountFiltered2(&node->css.ss, 1);
		return true;
	}
	if (node->reorder)
		Reorder(node);
	if (node->econtext != NULL)
	{
		ResetExprContext(node->econtext);
		MemoryContextSwitchTo(node->econtext->ecxt_per_tuple_memory);
	}
	for (int i = 0; i < node->nuses && passes; i++)
	{
		ScanUse    *use = node->order[i];

		/* the filter of a table that is gone has another generation */
		if (unlikely(use->on != use->filter->generation))
			Advance(node, use, slot);
		else if (!is_new && use->paged == use->on)
			tested = true;
		else
		{
			passes = TestRow(use, slot);
			tested = true;
			use->rejected += !passes;
			if (unlikely(++use->tested >= Window(use)))
				EndWindow(node, use);
		}
	}
	if (node->econtext != NULL)
		MemoryContextSwitchTo(old);
	if (!passes)
		InstrCountFiltered1(&node->css.ss, 1);
	else if (!tested)
	{
		InstrCountFiltered2(&node->css.ss, 1);
		node->skip = Idle(node);
	}
	return passes;
}

/*
 * ReadRow
 *		The next row of a sequential scan: what ExecScan does, with our tests.
 *
 * Those of its condition are done here, and those of joins, if they come
 * before it.
 */
static TupleTableSlot *
ReadRow(PlanState *ps)
{
	ScanNode   *node = (ScanNode *) ps;
	SeqScanState *scan = (SeqScanState *) outerPlanState(ps);
	ScanWhere  *where = node->where;
	ScanDirection direction = ps->state->es_direction;
	TupleTableSlot *slot = scan->ss.ss_ScanTupleSlot;
	ExprState  *qual = scan->ss.ps.qual;
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
		bool		is_new = true;

		CHECK_FOR_INTERRUPTS();
		if (scan->ss.ps.instrument)
			InstrStartNode(scan->ss.ps.instrument);
		found = table_scan_getnextslot(desc, direction, slot);
		if (scan->ss.ps.instrument)
			InstrStopNode(scan->ss.ps.instrument, found ? 1.0 : 0.0);
		if (!found)
		{
			BloomScanForgetPage(&node->page);
			return projection != NULL ?
				ExecClearTuple(projection->pi_state.resultslot) : slot;
		}
		if (unlikely(!ScanDirectionIsForward(direction)))
		{
			/* the page's first row was not tested with it */
			BloomScanForgetPage(&node->page);
			node->nbackward++;
		}
		else if (node->by_page)
		{
			is_new = BloomScanIsNewPage(&node->page, desc);
			if (is_new)
				TestPage(node, desc);
		}
		if (node->before && !Passes(node, slot, is_new))
			continue;
		if (qual != NULL || projection != NULL)
		{
			ResetExprContext(econtext);
			econtext->ecxt_scantuple = slot;
			if (where == NULL ? !ExecQual(qual, econtext) :
				!BloomScanMeets(where, &node->page, is_new))
			{
				/* one count for all that the condition drops */
				if (ps->instrument)
					ps->instrument->ntuples2 += 1;
				continue;
			}
			if (projection != NULL)
				return ExecProject(projection);
		}
		return slot;
	}
}

/*
 * TestAfter
 *		Rows tested by the filters of joins after the child's own conditions,
 *		whatever it is.
 */
static TupleTableSlot *
TestAfter(PlanState *ps)
{
	ScanNode   *node = (ScanNode *) ps;
	PlanState  *child = outerPlanState(ps);

	for (;;)
	{
		TupleTableSlot *slot;

		slot = node->where != NULL ? ReadRow(ps) : ExecProcNode(child);

		if (TupIsNull(slot) || Passes(node, slot, true))
			return slot;
		CHECK_FOR_INTERRUPTS();
	}
}


/* ----------------------------------------------------------------
 *		Putting the node there
 * ----------------------------------------------------------------
 */

static bool
IsOurs(PlanState *ps)
{
	return IsA(ps, CustomScanState) &&
		((CustomScanState *) ps)->methods == &exec_methods;
}

/*
 * BloomScanBelow
 *		The node itself, or what is below it if it is one of ours.
 */
PlanState *
BloomScanBelow(PlanState *ps)
{
	return IsOurs(ps) ? outerPlanState(ps) : ps;
}

/*
 * MapToTable
 *		Set the columns of a use to those of the scanned table.  False if one
 *		is no column of it.
 */
static bool
MapToTable(ScanUse *use, PlanState *scan)
{
	for (int i = 0; i < use->filter->nkeys; i++)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, scan->plan->targetlist,
										   use->out_attno[i] - 1);
		Node	   *column = BloomScanPlain((Node *) entry->expr);

		if (!IsA(column, Var) || ((Var *) column)->varattno <= 0)
			return false;
		use->attno[i] = ((Var *) column)->varattno;
	}
	return true;
}

/*
 * ChooseForm
 *		May we read the rows of the scan, and test them before its condition?
 *
 * Only if nobody can see that the condition is asked for fewer rows: it has no
 * volatile function, and what we call for all rows is trusted.  What the
 * condition removes is counted; where that count is wanted, and there is a
 * condition, it goes first.
 */
static void
ChooseForm(ScanNode *node)
{
	PlanState  *child = outerPlanState(node);

	node->before = IsA(child, SeqScanState) && BloomScanQuiet(child) &&
		(child->instrument == NULL || child->qual == NULL);
	for (int i = 0; i < node->nuses && node->before; i++)
		node->before = node->uses[i]->filter->trusted &&
			MapToTable(node->uses[i], child);
	if (!node->before)
	{
		for (int i = 0; i < node->nuses; i++)
			memcpy(node->uses[i]->attno, node->uses[i]->out_attno,
				   sizeof(node->uses[i]->attno));
	}
	node->by_page = (node->before || node->where != NULL) &&
		BloomScanHasPages(((SeqScanState *) child)->ss.ss_currentRelation);
	for (int i = 0; i < node->nuses && node->before; i++)
	{
		ScanUse    *use = node->uses[i];

		for (int k = 0; k < use->filter->nkeys; k++)
			BloomScanColumnOf(&use->column[k],
							  ((SeqScanState *) child)->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							  use->attno[k]);
	}
	ExecSetExecProcNode(&node->css.ss.ps,
						node->before || node->nuses == 0 ? ReadRow : TestAfter);
}

/*
 * MakePlan
 *		A plan for our node, which nobody has planned.
 *
 * EXPLAIN reads it, and UpdateChangedParamSet.  Its number is the same in the
 * leader and in all workers, and no other node has it.
 */
static CustomScan *
MakePlan(PlanState *child)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;
	ListCell   *lc;

	scan->methods = &plan_methods;
	plan->startup_cost = child->plan->startup_cost;
	plan->total_cost = child->plan->total_cost;
	plan->plan_rows = child->plan->plan_rows;
	plan->plan_width = child->plan->plan_width;
	plan->parallel_safe = child->plan->parallel_safe;
	plan->plan_node_id = -1 - child->plan->plan_node_id;
	plan->lefttree = child->plan;
	plan->extParam = child->plan->extParam;
	plan->allParam = child->plan->allParam;
	/* columns of a table have the same names here */
	if (IsA(child, SeqScanState))
	{
		plan->targetlist = child->plan->targetlist;
		return scan;
	}
	foreach(lc, child->plan->targetlist)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst_node(TargetEntry, lc));
		Node	   *expr = (Node *) entry->expr;

		entry->expr = (Expr *) makeVar(OUTER_VAR, entry->resno, exprType(expr),
									   exprTypmod(expr), exprCollation(expr), 0);
		plan->targetlist = lappend(plan->targetlist, entry);
	}
	return scan;
}

/* Our node at this link: the one that is there, or a new one. */
static ScanNode *
PutNode(PlanState **link)
{
	PlanState  *child = *link;
	EState	   *estate = child->state;
	ScanNode   *node;
	PlanState  *ps;

	if (IsOurs(child))
		return (ScanNode *) child;

	node = palloc0(sizeof(ScanNode));
	ps = &node->css.ss.ps;
	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	ps->plan = &MakePlan(child)->scan.plan;
	ps->state = estate;
	ps->lefttree = child;
	ps->ps_ResultTupleDesc = child->ps_ResultTupleDesc;
	ps->resultops = child->resultops;
	ps->resultopsfixed = child->resultopsfixed;
	ps->resultopsset = child->resultopsset;
	/* never filled by us, but ExecEndCustomScan clears them */
	ps->ps_ResultTupleSlot = ExecInitExtraTupleSlot(estate, NULL, &TTSOpsVirtual);
	node->css.ss.ss_ScanTupleSlot = ps->ps_ResultTupleSlot;
	ps->chgParam = bms_copy(child->chgParam);
	if (estate->es_instrument)
		ps->instrument = BloomScanInstrument(estate->es_instrument);
	BloomScanForgetPage(&node->page);
	node->max_uses = 4;
	node->uses = palloc(node->max_uses * sizeof(ScanUse *));
	node->order = palloc(node->max_uses * sizeof(ScanUse *));
	node->expected = child->plan->plan_rows;
	if (IsA(child, SeqScanState))
	{
		Relation	table = ((SeqScanState *) child)->ss.ss_currentRelation;

		/* before its condition, if we get there */
		node->expected = Max(node->expected, table->rd_rel->reltuples);
	}
	*link = ps;
	return node;
}

/*
 * BloomScanPlaceWhere
 *		Have these tests in the condition of a sequential scan done here.
 */
void
BloomScanPlaceWhere(PlanState **link, ScanWhere *where)
{
	SeqScanState *scan = (SeqScanState *) *link;
	ScanNode   *node = PutNode(link);

	node->where = where;
	/* WHERE CURRENT OF asks whichever node scans the table */
	node->css.ss.ss_currentRelation = scan->ss.ss_currentRelation;
	node->css.ss.ss_ScanTupleSlot = scan->ss.ss_ScanTupleSlot;
	ChooseForm(node);
}

/*
 * BloomScanPlace
 *		Have rows tested by this filter between a node and its child, where
 *		its keys are these columns.
 *
 * All filters of one place share a node.  Those that were placed first, of the
 * lowest joins, are tested first, until we know which of them drops more.
 */
void
BloomScanPlace(PlanState **link, ScanFilter *filter, const AttrNumber *attno,
			   uint32 passed)
{
	ScanNode   *node = PutNode(link);
	ScanUse    *use = palloc0(sizeof(ScanUse));

	use->filter = filter;
	use->passed = passed;
	memcpy(use->out_attno, attno, filter->nkeys * sizeof(AttrNumber));
	if (node->nuses == node->max_uses)
	{
		node->max_uses *= 2;
		node->uses = repalloc(node->uses, node->max_uses * sizeof(ScanUse *));
		node->order = repalloc(node->order, node->max_uses * sizeof(ScanUse *));
	}
	node->order[node->nuses] = use;
	node->uses[node->nuses++] = use;
	for (int i = 0; i < filter->nkeys; i++)
	{
		if (filter->outer_hash[i].fn_oid != F_HASHINT4 &&
			filter->outer_hash[i].fn_oid != F_HASHINT8 &&
			node->econtext == NULL)
			node->econtext = CreateExprContext(node->css.ss.ps.state);
	}
	ChooseForm(node);
}


/* ----------------------------------------------------------------
 *		What the server asks of the node
 * ----------------------------------------------------------------
 */

static void
End(CustomScanState *css)
{
	Report((ScanNode *) css);
	ExecEndNode(outerPlanState(css));
}

static void
Rescan(CustomScanState *css)
{
	PlanState  *child = outerPlanState(css);

	BeginAgain((ScanNode *) css);
	/* else the child does it itself, with its next row */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

/*
 * Condition
 *		The hash condition of a join, as text.
 */
static char *
Condition(ScanFilter *filter, List *ancestors, ExplainState *es)
{
	HashJoin   *join = (HashJoin *) filter->join->js.ps.plan;
	List	   *above = ancestors;
	List	   *context;

	/* the names of its columns are those that the join has for them */
	for (int i = 0; i < list_length(ancestors); i++)
	{
		if (list_nth(ancestors, i) == join)
			above = list_copy_tail(ancestors, i + 1);
	}
	context = set_deparse_context_plan(es->deparse_cxt, &join->join.plan, above);
	return deparse_expression((Node *) make_ands_explicit(join->hashclauses),
							  context, true, false);
}

/* Rows for each loop, as the server's own counts. */
static void
ExplainRows(const char *label, double nrows, PlanState *ps, ExplainState *es)
{
	if (nrows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat(label, NULL, nrows / Max(ps->instrument->nloops, 1),
							 0, es);
}

static void
Explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	ScanNode   *node = (ScanNode *) css;
	PlanState  *ps = &css->ss.ps;
	List	   *conditions = NIL;
	int64		memory = 0;

	for (int i = 0; i < node->nuses; i++)
	{
		ScanFilter *filter = node->uses[i]->filter;

		conditions = lappend(conditions, Condition(filter, ancestors, es));
		memory += (filter->peak + 1023) / 1024;
	}
	if (node->nuses > 0)
		ExplainPropertyList("Hash Cond", conditions, es);
	if (node->where != NULL)
		ExplainPropertyText("Filter",
							BloomScanExplainWhere(node->where, ancestors, es), es);
	if (!es->analyze || ps->instrument == NULL)
		return;
	if (node->where != NULL)
		ExplainRows("Rows Removed by Filter", ps->instrument->ntuples2, ps, es);
	if (node->nuses == 0)
		return;
	ExplainRows("Rows Removed by Bloom Filter", ps->instrument->nfiltered1, ps, es);
	ExplainRows("Rows Not Tested", ps->instrument->nfiltered2, ps, es);
	if (memory > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Memory Usage", "kB", memory, es);
}

/*
 * ExecCustomScan is never called: our node is not initialized from a plan, and
 * has an ExecProcNode of its own.
 */
static const CustomExecMethods exec_methods = {
	.CustomName = "Bloom Filter",
	.EndCustomScan = End,
	.ReScanCustomScan = Rescan,
	.ExplainCustomScan = Explain
};
