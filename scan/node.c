/*-------------------------------------------------------------------------
 *
 * node.c
 *		The node that tests rows: Custom Scan (Bloom Filter).
 *
 * It stands between a node and its child, returns the slot that the child
 * returns, and leaves out the rows that no filter of its joins knows.  Above a
 * sequential scan it reads the table's rows itself, and may test them before
 * the scan's own condition does.
 *
 * Each use of a filter is a test, whose stage is chosen by price.c.  As long as
 * there is no filter, a window of rows asks the join's table itself.  When the
 * rows that came would have saved a part of what it costs to make the filter,
 * it is made.
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

#include "scan/expr.h"
#include "scan/node.h"
#include "scan/scan_compat.h"

/* a filter is made when the rows so far would have saved this part of its price */
#define MAKE_FROM	0.25
/* one of so many rows of a window is enough to ask the table about */
#define ASKED		4

/* The use of a filter at a place. */
typedef struct ScanUse
{
	ScanFilter *filter;
	bool		ahead;			/* may it see rows before the condition? */
	AttrNumber	out_attno[SCAN_MAX_KEYS];	/* its keys in the child's result */
	ScanColumn	column[SCAN_MAX_KEYS];	/* in the rows that are tested */

	ScanTest	test;
	ScanStage	now;			/* where the next rows are tested */
	uint64		generation;		/* that the test is about */
	uint64		on;				/* that whose filter is there, or 0 */
	uint64		paged;			/* that which has tested the rows of this page */
				Counted(ScanUseCounts counts);
} ScanUse;

typedef struct ScanNode
{
	CustomScanState css;
	ExprContext *econtext;		/* for hash functions that allocate, or NULL */
	ScanWhere  *where;			/* tests in the scan's condition, or NULL */
	ScanCondition condition;	/* of the scan, if rows are read here */
	bool		reads;			/* the table's rows */
	bool		after;			/* uses test what the child returns */
	bool		by_page;		/* all rows of a page may be tested together */
	bool		is_ordered;		/* the condition goes first: rule 6 */
	bool		is_small;		/* in tests: windows end in the middle of
								 * pages */
	bool		is_pending;		/* for a table that is not there yet */
	bool		is_due;			/* a window has ended */
	bool		is_paged;		/* some use has tested this page */
	int			npage;			/* uses that test pages, */
	int			nahead;			/* and rows in their slots, before */
	int			nbehind;		/* and behind the condition */
	ScanPage	page;
	uint64		skip;			/* rows with which no use has anything to do */
	double		nscanned;		/* that the scan is said to have returned */
	int			nuses;
	int			max_uses;
	ScanUse   **uses;
	int			norder;
	ScanUse   **order;			/* as they are tested; NULL is the condition's */
				Counted(ScanNodeCounts counts);
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

/* What the keys of a row say. */
typedef enum KeysOfRow
{
	SCAN_KEYS_HASHED,
	SCAN_KEYS_NULL,				/* one of them: no partner */
	SCAN_KEYS_ELSEWHERE			/* one of them: not tested */
} KeysOfRow;

static inline KeysOfRow
HashRow(const ScanUse *use, TupleTableSlot *slot, uint32 *hash)
{
	ScanFilter *filter = use->filter;

	*hash = 0;
	for (int i = 0; i < filter->nkeys; i++)
	{
		bool		isnull;
		Datum		key = slot_getattr(slot, use->column[i].attno, &isnull);

		if (isnull)
			return SCAN_KEYS_NULL;
		if (BloomScanIsElsewhere(&use->column[i], key))
			return SCAN_KEYS_ELSEWHERE;
		*hash = pg_rotate_left32(*hash, 1) ^
			HashKey(&filter->outer_hash[i], filter->collation[i], key);
	}
	return SCAN_KEYS_HASHED;
}

/* Learn how long keys are: of late, on average. */
static void
NoteLengths(ScanUse *use, TupleTableSlot *slot)
{
	for (int i = 0; i < use->filter->nkeys; i++)
	{
		bool		isnull;
		Datum		key;

		if (use->column[i].len != -1)
			continue;
		key = slot_getattr(slot, use->column[i].attno, &isnull);
		if (!isnull && !BloomScanIsElsewhere(&use->column[i], key))
			use->filter->bytes[i] +=
				(VARSIZE_ANY_EXHDR(DatumGetPointer(key)) - use->filter->bytes[i]) / 32;
	}
}


/* ----------------------------------------------------------------
 *		Where each use tests
 * ----------------------------------------------------------------
 */

/* How many tests share the budget for looking? */
static int
NumberOfTests(const ScanNode *node)
{
	return node->nuses + (node->where != NULL);
}

/*
 * SetPrices
 *		What a test costs by the filter, or by the table, which is asked before
 *		there is one; and how many rows are asked about.
 */
static void
SetPrices(ScanUse *use, bool by_filter)
{
	ScanFilter *filter = use->filter;
	double		ntuples = filter->table->totalTuples;

	use->test.untested = use->test.passed = BloomScanJoinPrice(filter);
	use->test.window = filter->testing == SCAN_TESTING_SMALL ?
		SCAN_SMALL_WINDOW : SCAN_WINDOW;
	if (!by_filter)
		use->test.window = use->test.window / ASKED * filter->table->nbatch;
	if (!by_filter)
		use->test.test = BloomScanHashOuterPrice(filter) + BloomScanProbePrice(ntuples);
	else if (filter->bits.words != NULL)
		use->test.test = BloomScanBitsPrice(filter->bits.nwords * sizeof(uint64),
											filter->bits.is_bitmap) +
			(filter->bits.is_bitmap ? 0 : BloomScanHashOuterPrice(filter));
	else
		use->test.test = BloomScanBitsPrice((Size) (ntuples * 2), false) +
			BloomScanHashOuterPrice(filter);
}

/*
 * Arrange
 *		Uses in the order in which they are tested, and where: the table itself
 *		is asked about rows in their slots.
 */
static void
Arrange(ScanNode *node)
{
	const ScanTest *where = node->where != NULL ? BloomScanWhereTest(node->where) : NULL;
	int			n = 0;

	node->npage = node->nahead = node->nbehind = 0;
	for (int i = 0; i <= node->nuses; i++)
	{
		ScanUse    *use = i < node->nuses ? node->uses[i] : NULL;
		const ScanTest *test = use != NULL ? &use->test : where;
		int			j = n;

		if (test == NULL)
			continue;
		if (use != NULL)
		{
			use->now = use->on == 0 && use->test.stage == SCAN_BY_PAGE ?
				SCAN_IN_SLOT : use->test.stage;
			node->npage += use->now == SCAN_BY_PAGE;
			node->nahead += use->now == SCAN_IN_SLOT;
			node->nbehind += use->now == SCAN_BEHIND;
		}
		for (; j > 0; j--)
		{
			const ScanUse *other = node->order[j - 1];

			if (!BloomScanGoesBefore(test, other != NULL ? &other->test : where))
				break;
			node->order[j] = node->order[j - 1];
		}
		node->order[j] = use;
		n++;
	}
	node->norder = n;
}

/*
 * Rest
 *		Not tested for now; if it can have no filter, not for this table.
 */
static void
Rest(ScanNode *node, ScanUse *use)
{
	SetPrices(use, use->on != 0);
	BloomScanRest(&use->test, &node->condition, NumberOfTests(node));
	if (use->filter->refused)
		use->test.rest = PG_UINT64_MAX;
	Counted(use->counts.rests++);
}

/* Make the filter, or take that which is there. */
static bool
MakeFilter(ScanNode *node, ScanUse *use)
{
	if (!BloomScanMakeFilter(use->filter))
	{
		Rest(node, use);
		return false;
	}
	use->on = use->generation;
	SetPrices(use, true);
	/* the rows that are left of this page can be tested now */
	BloomScanForgetPage(&node->page);
	return true;
}

/*
 * BeginWindow
 *		The use has rested long enough: look what it drops.
 *
 * A filter that costs no more to make than to ask the table is made.
 */
static void
BeginWindow(ScanNode *node, ScanUse *use)
{
	ScanFilter *filter = use->filter;
	double		asking = use->test.window *
	BloomScanProbePrice(filter->table->totalTuples);

	if (use->on == 0 &&
		(filter->bits.words != NULL || BloomScanMakingPrice(filter) <= asking) &&
		!MakeFilter(node, use))
		return;
	BloomScanBeginWindow(&use->test, &node->condition);
	if (use->test.stage == SCAN_BY_PAGE)
		BloomScanForgetPage(&node->page);
}

/*
 * EndWindow
 *		Go on where a row costs least.
 */
static void
EndWindow(ScanNode *node, ScanUse *use)
{
	ScanFilter *filter = use->filter;
	double		gain;

	SetPrices(use, true);
	gain = BloomScanEndWindow(&use->test, &node->condition, NumberOfTests(node));
	filter->rate = use->test.rate;
	if (use->test.stage == SCAN_NOT)
		Rest(node, use);
	else if (use->on == 0)
	{
		if (filter->testing == SCAN_TESTING_OFF &&
			gain * filter->seen < MAKE_FROM * BloomScanMakingPrice(filter))
			Rest(node, use);
		else if (MakeFilter(node, use))
			BloomScanGoOn(&use->test, use->test.rate, &node->condition);
	}
}

/* Windows that have ended. */
static void
Review(ScanNode *node)
{
	node->is_due = false;
	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];

		if (use->generation == use->filter->generation &&
			use->now != SCAN_NOT && use->test.tested >= use->test.window)
			EndWindow(node, use);
	}
	Arrange(node);
}

static inline void
NoteTested(ScanNode *node, ScanUse *use, uint64 tested, uint64 dropped)
{
	use->test.tested += tested;
	use->test.dropped += dropped;
	if (unlikely(use->test.tested >= use->test.window))
		node->is_due = true;
}

/*
 * FindTables
 *		Uses whose table was not there, or which is another one.
 *
 * What a use elsewhere has measured of the same table is believed: partitions
 * are scanned one after the other.
 */
static void
FindTables(ScanNode *node)
{
	bool		found = false;

	node->is_pending = false;
	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];
		ScanFilter *filter = use->filter;

		if (use->generation == filter->generation && filter->table != NULL)
			continue;
		use->on = 0;
		use->test.stage = use->now = SCAN_NOT;
		if (!BloomScanFindTable(filter))
		{
			node->is_pending = true;
			continue;
		}
		found = true;
		Counted(use->counts.again += use->generation != 0);
		use->generation = filter->generation;
		use->paged = 0;
		SetPrices(use, false);
		if (filter->testing >= SCAN_TESTING_FORCE)
		{
			if (MakeFilter(node, use))
				BloomScanBeginWindow(&use->test, &node->condition);
		}
		else if (filter->bits.words != NULL && filter->rate >= 0 &&
				 MakeFilter(node, use) &&
				 BloomScanGoOn(&use->test, filter->rate, &node->condition))
			continue;
		else
		{
			Rest(node, use);
			if (!filter->refused)
				use->test.rest = Min(use->test.rest, filter->rest);
		}
	}
	if (found)
		Arrange(node);
}

/*
 * CountRows
 *		So many rows come: uses that rest may have rested enough.
 */
static void
CountRows(ScanNode *node, uint64 nrows)
{
	bool		begins = false;

	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];

		if (use->generation != use->filter->generation)
		{
			node->is_pending = true;
			continue;
		}
		use->filter->seen += nrows;
		if (use->test.stage != SCAN_NOT || use->test.rest == PG_UINT64_MAX)
			continue;
		if (use->test.rest == 0)
		{
			BeginWindow(node, use);
			begins = true;
		}
		else
			use->test.rest -= Min(use->test.rest, nrows);
		use->filter->rest = use->test.rest;
	}
	if (begins)
		Arrange(node);
}

/* The rows of the child begin again, perhaps for other tables. */
static void
BeginAgain(ScanNode *node)
{
	BloomScanForgetPage(&node->page);
	node->skip = 0;
	node->is_pending = node->nuses > 0;
	if (node->where != NULL)
		BloomScanBeginWhere(node->where, NumberOfTests(node));
	Counted(node->counts.rescans++);
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
		Datum		key = slot_getattr(slot, use->column[0].attno, &isnull);

		return !isnull &&
			BloomScanHasValue(&filter->bits, BloomScanInteger(filter->outer_integer, key));
	}
	switch (HashRow(use, slot, &hash))
	{
		case SCAN_KEYS_HASHED:
			return BloomScanHasHash(&filter->bits, hash);
		case SCAN_KEYS_NULL:
			return false;
		default:
			return true;
	}
}

/* Ask the table, before there is a filter: the row is kept, whatever it says.  (rule 31) */
static void
AskTable(ScanNode *node, ScanUse *use, TupleTableSlot *slot)
{
	uint32		hash;
	uint32		nrows = 1;
	bool		found = false;
	KeysOfRow	keys = HashRow(use, slot, &hash);

	if (keys == SCAN_KEYS_HASHED)
	{
		NoteLengths(use, slot);
		nrows = BloomScanSample(use->filter, hash, &found);
	}
	NoteTested(node, use, nrows,
			   found || keys == SCAN_KEYS_ELSEWHERE ? 0 : nrows);
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
	bool		elsewhere[MaxHeapTuplesPerPage];
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
	memset(elsewhere, false, nrows);
	for (int k = 0; k < filter->nkeys; k++)
	{
		BloomScanReadPage(page, scan, &use->column[k], keys);
		for (int i = 0; i < nrows; i++)
		{
			if (!page->keep[i] || elsewhere[i])
				continue;
			if (BloomScanIsElsewhere(&use->column[k], keys[i]))
			{
				elsewhere[i] = true;
				continue;
			}
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
		page->keep[i] &= elsewhere[i] | BloomScanHasHash(&bits, hashes[i]);
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
	bool		has_list = BloomScanEnterPage(page, scan);
	int			nrows = has_list ? page->nrows : 0;
	int			nwhere = 0;

	if (!node->after)
		CountRows(node, nrows + 1);
	if (node->where != NULL)
		BloomScanCountWhere(node->where, nrows + 1, NumberOfTests(node));
	node->is_paged = false;
	if (!has_list)
		return;

	/*
	 * a window that has begun has forgotten the page, which we are about to
	 * test
	 */
	page->block = BloomScanBlock(scan);
	for (int i = 0; i < node->norder; i++)
	{
		ScanUse    *use = node->order[i];
		int			before = page->nrows;

		if (use == NULL)
		{
			if (BloomScanWhereTest(node->where)->stage == SCAN_BY_PAGE)
				nwhere = BloomScanTestWhere(node->where, page, scan);
			continue;
		}
		use->paged = 0;
		if (use->now != SCAN_BY_PAGE || use->on != use->filter->generation)
			continue;
		use->paged = use->on;
		node->is_paged = true;
		TestRows(node, use, scan);
		BloomScanKeepRows(page, scan);
		NoteTested(node, use, before, before - page->nrows);
		Counted(use->counts.stages |= 1 << SCAN_BY_PAGE);
		Counted(use->counts.rejected += before - page->nrows);
		Counted(use->counts.paged += before - page->nrows);
	}
	node->nscanned += nrows - page->nrows;
	if (counts != NULL)
	{
		counts->nfiltered1 += nrows - page->nrows - nwhere;
		counts->ntuples2 += nwhere;
	}
}

/*
 * Passes
 *		May the row have a partner in each of the joins whose filter is tested
 *		at one of these stages?
 */
static bool
Passes(ScanNode *node, TupleTableSlot *slot, int stages, bool *tested)
{
	bool		passes = true;
	MemoryContext old = CurrentMemoryContext;

	if (node->econtext != NULL)
	{
		ResetExprContext(node->econtext);
		MemoryContextSwitchTo(node->econtext->ecxt_per_tuple_memory);
	}
	for (int i = 0; i < node->norder && passes; i++)
	{
		ScanUse    *use = node->order[i];

		if (use == NULL || !(stages & 1 << use->now))
			continue;
		/* the filter of a table that is gone has another generation */
		if (unlikely(use->generation != use->filter->generation))
			node->is_pending = true;
		else if (use->on == 0)
		{
			AskTable(node, use, slot);
			Counted(use->counts.asked++);
		}
		else
		{
			passes = TestRow(use, slot);
			*tested = true;
			NoteTested(node, use, 1, !passes);
			Counted(use->counts.stages |= 1 << (use->now));
			Counted(use->counts.rejected += !passes);
		}
	}
	if (node->econtext != NULL)
		MemoryContextSwitchTo(old);
	if (unlikely(node->is_due))
		Review(node);
	if (!passes)
		InstrCountFiltered1(&node->css.ss, 1);
	return passes;
}

/* What comes before each row: tables that were not there, windows that ended. */
static inline void
BeforeRow(ScanNode *node)
{
	if (unlikely(node->is_pending))
		FindTables(node);
	if (unlikely(node->is_due))
		Review(node);
}

/* Leave ReadRow: what the scan is said to have done, is what was done here. */
static inline TupleTableSlot *
Leave(ScanNode *node, NodeInstrumentation *scan, TupleTableSlot *slot)
{
	if (scan != NULL)
		InstrStopNode(scan, node->nscanned);
	return slot;
}

/*
 * ReadRow
 *		The next row of a sequential scan: what ExecScan does, with our tests.
 *
 * In the scan's place we count (rule 6): its rows are those that met its
 * condition, and those that were dropped unasked; all that were read, if the condition is
 * ours (rule 28).
 */
static TupleTableSlot *
ReadRow(PlanState *ps)
{
	ScanNode   *node = (ScanNode *) ps;
	SeqScanState *scan = (SeqScanState *) outerPlanState(ps);
	NodeInstrumentation *counts = scan->ss.ps.instrument;
	ScanWhere  *where = node->where;
	ScanDirection direction = ps->state->es_direction;
	TupleTableSlot *slot = scan->ss.ss_ScanTupleSlot;
	ExprState  *qual = scan->ss.ps.qual;
	ProjectionInfo *projection = scan->ss.ps.ps_ProjInfo;
	ExprContext *econtext = scan->ss.ps.ps_ExprContext;
	bool		after = node->after;
	bool		by_page = node->by_page;
	bool		by_rows = !by_page || node->is_small;
	bool		notes = qual != NULL && node->nuses > 0;
	TableScanDesc desc;

	if (unlikely(scan->ss.ps.chgParam != NULL))
	{
		BeginAgain(node);
		ExecReScan(&scan->ss.ps);
	}
	if (unlikely(scan->ss.ss_currentScanDesc == NULL))
		scan->ss.ss_currentScanDesc = BloomScanBegin(&scan->ss);
	desc = scan->ss.ss_currentScanDesc;
	node->nscanned = 0;
	if (counts != NULL)
		InstrStartNode(counts);

	for (;;)
	{
		bool		is_new = true;
		bool		tested = false;
		bool		meets = true;

		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(desc, direction, slot))
		{
			BloomScanForgetPage(&node->page);
			return Leave(node, counts, projection != NULL ?
						 ExecClearTuple(projection->pi_state.resultslot) : slot);
		}
		if (!after)
		{
			BeforeRow(node);
			if (unlikely(by_rows))
				CountRows(node, 1);
		}
		if (unlikely(!ScanDirectionIsForward(direction)))
		{
			/* the page's first row was not tested with it */
			BloomScanForgetPage(&node->page);
			Counted(node->counts.backward++);
		}
		else if (by_page)
		{
			is_new = BloomScanIsNewPage(&node->page, desc);
			if (is_new)
				TestPage(node, desc);
		}
		if (!after)
		{
			tested = !is_new && node->is_paged;
			if ((node->nahead > 0 || (is_new && node->npage > 0)) &&
				!Passes(node, slot, 1 << SCAN_IN_SLOT |
						(is_new ? 1 << SCAN_BY_PAGE : 0), &tested))
			{
				node->nscanned++;
				continue;
			}
		}
		if (qual != NULL || projection != NULL)
		{
			ResetExprContext(econtext);
			econtext->ecxt_scantuple = slot;
		}
		if (where != NULL)
			meets = BloomScanMeets(where, econtext, is_new);
		else if (qual != NULL)
			meets = ExecQual(qual, econtext);
		if (notes)
			BloomScanNoteAsked(&node->condition, meets);
		if (!meets)
		{
			if (where == NULL)
				InstrCountFiltered1(scan, 1);
			else
			{
				/* one count for all that the condition drops */
				node->nscanned++;
				if (ps->instrument)
					ps->instrument->ntuples2 += 1;
			}
			continue;
		}
		node->nscanned++;
		if (!after && node->nuses > 0)
		{
			if (node->nbehind > 0 && !Passes(node, slot, 1 << SCAN_BEHIND, &tested))
				continue;
			if (!tested)
				InstrCountFiltered2(&node->css.ss, 1);
		}
		return Leave(node, counts, projection != NULL ? ExecProject(projection) : slot);
	}
}

/*
 * PassesAfter
 *		The same for a row that the child has returned, counted one by one.
 *		While no use has anything to do, that is all that is done.
 */
static bool
PassesAfter(ScanNode *node, TupleTableSlot *slot)
{
	bool		tested = false;

	if (node->skip > 0)
	{
		node->skip--;
		InstrCountFiltered2(&node->css.ss, 1);
		return true;
	}
	BeforeRow(node);
	CountRows(node, 1);
	if (node->nbehind > 0 && !Passes(node, slot, 1 << SCAN_BEHIND, &tested))
		return false;
	if (!tested)
		InstrCountFiltered2(&node->css.ss, 1);
	if (node->nbehind == 0 && !node->is_pending)
	{
		node->skip = PG_UINT64_MAX;
		for (int i = 0; i < node->nuses; i++)
			node->skip = Min(node->skip, node->uses[i]->test.rest);
		if (node->skip > 0)
			CountRows(node, node->skip);
	}
	return true;
}

/*
 * TestAfter
 *		Rows tested by the filters of joins when the child has returned them,
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

		if (TupIsNull(slot) || PassesAfter(node, slot))
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
 *		The keys of a use as columns of the scanned table.  False if one is no
 *		column of it.
 */
static bool
MapToTable(const ScanUse *use, PlanState *scan, AttrNumber *attno)
{
	for (int i = 0; i < use->filter->nkeys; i++)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, scan->plan->targetlist,
										   use->out_attno[i] - 1);
		Node	   *column = BloomScanStripRelabel((Node *) entry->expr);

		if (!IsA(column, Var) || ((Var *) column)->varattno <= 0)
			return false;
		attno[i] = ((Var *) column)->varattno;
	}
	return true;
}

/* Which of the uses' hash functions may allocate? */
static bool
Allocates(const ScanFilter *filter)
{
	for (int i = 0; i < filter->nkeys; i++)
	{
		if (filter->outer_hash[i].fn_oid != F_HASHINT4 &&
			filter->outer_hash[i].fn_oid != F_HASHINT8)
			return true;
	}
	return false;
}

/*
 * SetColumns
 *		The keys of a use in the rows that it tests, and the prices to get there.
 */
static void
SetColumns(ScanNode *node, ScanUse *use, const AttrNumber *attno, TupleDesc desc)
{
	ScanFilter *filter = use->filter;

	use->test.testing = filter->testing;
	node->is_small = filter->testing == SCAN_TESTING_SMALL;
	use->test.stages = 1 << SCAN_BEHIND;
	if (!node->after && use->ahead)
		use->test.stages |= node->by_page ? SCAN_AHEAD : 1 << SCAN_IN_SLOT;
	use->test.walk = use->test.walks = 0;
	for (int k = 0; k < filter->nkeys; k++)
	{
		double		walk;

		BloomScanColumnOf(&use->column[k], desc, attno[k]);
		walk = node->after ? 0 :
			BloomScanWalkPrice(attno[k], use->column[k].offset);
		use->test.walks += walk;
		use->test.walk = Max(use->test.walk, walk);
	}
	if (node->econtext == NULL && Allocates(filter))
		node->econtext = CreateExprContext(node->css.ss.ps.state);
}

/*
 * ChooseForm
 *		May we read the rows of the scan, and test them before its condition?
 *
 * Only if nobody can see that the condition is asked for fewer rows: it has no
 * volatile function, and what we call for all rows is trusted.  (rules 3, 5, 6)
 */
static void
ChooseForm(ScanNode *node)
{
	PlanState  *child = outerPlanState(node);
	AttrNumber	attno[SCAN_MAX_KEYS];
	TupleDesc	desc = ExecGetResultType(child);

	node->reads = node->where != NULL ||
		(IsA(child, SeqScanState) && BloomScanNodeIsQuiet(child));
	node->after = !node->reads;
	for (int i = 0; i < node->nuses && !node->after; i++)
		node->after = !MapToTable(node->uses[i], child, attno);
	if (node->after && node->where == NULL)
		node->reads = false;
	if (node->reads)
	{
		node->by_page = BloomScanHasPages(((SeqScanState *) child)->ss.ss_currentRelation);
		if (!node->after)
		{
			desc = ((SeqScanState *) child)->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
			node->condition.price = BloomScanConditionPrice(node->where != NULL ?
															BloomScanWhereCondition(node->where) :
															child->plan->qual);
		}
	}
	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];

		if (node->after)
			memcpy(attno, use->out_attno, sizeof(attno));
		else
			MapToTable(use, child, attno);
		SetColumns(node, use, attno, desc);
	}
	node->order = palloc((node->nuses + 1) * sizeof(ScanUse *));
	node->is_pending = node->nuses > 0;
	if (node->where != NULL)
		BloomScanBeginWhere(node->where, NumberOfTests(node));
	Arrange(node);
}

/* The first row: all uses are there by now. */
static TupleTableSlot *
FirstRow(PlanState *ps)
{
	ScanNode   *node = (ScanNode *) ps;
	MemoryContext old = MemoryContextSwitchTo(ps->state->es_query_cxt);

	ChooseForm(node);
	MemoryContextSwitchTo(old);
	ExecSetExecProcNode(ps, node->after && node->nuses > 0 ? TestAfter : ReadRow);
	return ps->ExecProcNodeReal(ps);
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
	ExecSetExecProcNode(ps, FirstRow);
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
}

/*
 * BloomScanPlace
 *		Have rows tested by this filter between a node and its child, where
 *		its keys are these columns.
 *
 * All filters of one place share a node.  Those that were placed first, of the
 * lowest joins, are tested first, until we know which of them drops more.
 *
 * condition_first: what a scan's condition drops is counted as dropped by it.
 */
void
BloomScanPlace(PlanState **link, ScanFilter *filter, const AttrNumber *attno,
			   bool condition_first, uint32 passed)
{
	ScanNode   *node = PutNode(link);
	PlanState  *child = outerPlanState(node);
	ScanUse    *use = palloc0(sizeof(ScanUse));

	use->filter = filter;
	use->ahead = filter->trusted;
	if (condition_first && IsA(child, SeqScanState) &&
		(node->where != NULL || child->plan->qual != NIL))
	{
		use->ahead = false;
		node->is_ordered = true;
	}
	Counted(use->counts.passed = passed);
	(void) passed;
	memcpy(use->out_attno, attno, filter->nkeys * sizeof(AttrNumber));
	if (node->nuses == node->max_uses)
	{
		node->max_uses = Max(4, node->max_uses * 2);
		node->uses = node->nuses == 0 ?
			palloc(node->max_uses * sizeof(ScanUse *)) :
			repalloc(node->uses, node->max_uses * sizeof(ScanUse *));
	}
	node->uses[node->nuses++] = use;
}


/* ----------------------------------------------------------------
 *		What the server asks of the node
 * ----------------------------------------------------------------
 */

/*
 * Report
 *		For the random tests: what happened at each use of a node.
 */
static void
Report(ScanNode *node)
{
#ifdef USE_ASSERT_CHECKING
	uint64		npaged = 0;

	for (int i = 0; i < node->nuses; i++)
	{
		ScanUse    *use = node->uses[i];
		ScanFilter *filter = use->filter;
		Join	   *join = (Join *) filter->join->js.ps.plan;
		int			seen = 0;

		npaged += use->counts.paged;
		if (filter->testing == SCAN_TESTING_OFF)
			continue;
		for (int k = 0; k < filter->nkeys; k++)
			seen |= use->column[k].seen;
		ereport(DEBUG1,
				(errmsg_internal("bloomtype_scan: join=%d passed=%u child=%d stages=%u rejected="
								 UINT64_FORMAT " paged=" UINT64_FORMAT
								 " seen=%d made=%d bitmap=%d spilled=%d grown=%d skewed=%d again=%d asked=%d rests=%d trusted=%d shared=%d worker=%d",
								 (int) join->jointype, use->counts.passed,
								 (int) nodeTag(outerPlanState(node)->plan),
								 use->counts.stages, use->counts.rejected,
								 use->counts.paged, seen, filter->counts.made,
								 filter->counts.bitmaps, filter->counts.spilled,
								 filter->counts.grown, filter->counts.skewed,
								 use->counts.again, use->counts.asked,
								 use->counts.rests, filter->trusted,
								 innerPlanState(filter->join)->plan->parallel_aware,
								 IsParallelWorker())));
	}
	if (node->where != NULL)
		BloomScanReportWhere(node->where, &node->counts, npaged);
#else
	(void) node;
#endif
}

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
	if (node->is_ordered)
		ExplainPropertyText("Tested", "after the condition, since EXPLAIN counts what a policy or a security barrier view hides", es);
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
