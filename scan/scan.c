/*-------------------------------------------------------------------------
 *
 * scan.c
 *		Joins that filter by themselves: where a filter may stand.
 *
 * No plan is changed.  When the executor has initialized a plan, we look for
 * hash joins that drop the rows of their outer side that have no partner, and
 * follow their keys down that side, as long as dropping a row there does not
 * change the result.  There stands our node (node.c), which asks the filter
 * of the join (filter.c).
 *
 * scan/README has the rules, and their reasons.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"

#include "scan/scan.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomtype_scan",.version = "1.0.0-rc3");
#else
PG_MODULE_MAGIC;
#endif

/*
 * Bits of the executor's flags that the server does not use.  Workers get the
 * flags of the leader's plan, and do what these say, whatever the settings are
 * by then: a node that only a worker has would be an error with EXPLAIN
 * ANALYZE.
 */
#define FLAG_FILTERS	0x10000000
#define FLAG_SMALL		0x20000000
#define FLAG_FORCE		0x40000000
#define OUR_FLAGS		(FLAG_FILTERS | FLAG_SMALL | FLAG_FORCE)

/* A plan without workers that costs less is not looked at. */
#define MIN_COST		100.0
/* rows that must be expected somewhere between the join and the filter */
#define MIN_ROWS		10000.0

static bool enabled = true;
static int	testing = SCAN_TESTING_OFF;

static const struct config_enum_entry testing_options[] = {
	{"off", SCAN_TESTING_OFF, false},
	{"small", SCAN_TESTING_SMALL, false},
	{"force", SCAN_TESTING_FORCE, false},
	{"unseen", SCAN_TESTING_UNSEEN, false},
	{NULL, 0, false}
};

static ExecutorStart_hook_type previous_start = NULL;


/* ----------------------------------------------------------------
 *		Following keys
 * ----------------------------------------------------------------
 */

/*
 * IsLoud
 *		For the inner side of a join: could anybody notice how often it is read,
 *		and how far?  For planstate_tree_walker.
 *
 * That of a nested loop is read once for each outer row, that of a merge join
 * until outer rows end, that of a hash join not at all if there is none.
 */
static bool
IsLoud(PlanState *ps, void *context)
{
	switch (nodeTag(ps))
	{
		case T_SeqScanState:
		case T_IndexScanState:
		case T_IndexOnlyScanState:
		case T_BitmapHeapScanState:
		case T_BitmapIndexScanState:
		case T_MaterialState:
		case T_MemoizeState:
		case T_AppendState:
		case T_SubqueryScanState:
		case T_SortState:
		case T_HashState:
		case T_HashJoinState:
		case T_NestLoopState:
		case T_MergeJoinState:
			return !BloomScanQuiet(ps) ||
				planstate_tree_walker(ps, IsLoud, context);
		case T_CustomScanState:
			/* ours is as its child */
			return BloomScanBelow(ps) == ps ||
				IsLoud(BloomScanBelow(ps), context);
		default:
			return true;
	}
}

/*
 * MapDown
 *		The columns of a node's result as columns of its child, in its target
 *		list the variables of this number.  False if one is something else.
 */
static bool
MapDown(const ScanFilter *filter, PlanState *ps, int varno,
		const AttrNumber *attno, AttrNumber *below)
{
	for (int i = 0; i < filter->nkeys; i++)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, ps->plan->targetlist,
										   attno[i] - 1);
		Node	   *expr = BloomScanPlain((Node *) entry->expr);

		if (!IsA(expr, Var) || ((Var *) expr)->varno != varno ||
			((Var *) expr)->varattno <= 0)
			return false;
		below[i] = ((Var *) expr)->varattno;
	}
	return true;
}

/*
 * OnlyChild
 *		Where a row of a node's result comes from, if it comes from one row of
 *		one child, and if leaving that out there leaves out this row here, and
 *		does nothing else.  NULL if that is not so, or if we do not know.
 */
static PlanState **
OnlyChild(PlanState *ps, int *varno)
{
	PlanState **child = NULL;

	switch (nodeTag(ps))
	{
		case T_SubqueryScanState:
			child = &((SubqueryScanState *) ps)->subplan;
			*varno = ((Scan *) ps->plan)->scanrelid;
			break;
		case T_NestLoopState:
		case T_MergeJoinState:
		case T_HashJoinState:
			switch (((Join *) ps->plan)->jointype)
			{
				case JOIN_INNER:
				case JOIN_LEFT:
				case JOIN_SEMI:
				case JOIN_ANTI:
					child = &outerPlanState(ps);
					break;
				default:
					break;
			}
			if (IsLoud(innerPlanState(ps), NULL))
				child = NULL;
			break;
		default:
			break;
	}
	if (child == NULL || *child == NULL || (*child)->plan->async_capable ||
		!BloomScanQuiet(ps))
		return NULL;
	return child;
}

/*
 * Follow
 *		Place the filter as far below as it may stand.
 *
 * nrows is the greatest number of rows that the planner expects at one of the
 * nodes that were passed.  All conditions must be the same in the leader and
 * in a worker: they depend on the plan alone.
 */
static void
Follow(ScanFilter *filter, PlanState **link, const AttrNumber *attno,
	   uint32 passed, double nrows)
{
	PlanState  *ps = BloomScanBelow(*link);
	PlanState **child;
	AttrNumber	below[SCAN_MAX_KEYS];
	int			varno = OUTER_VAR;

	check_stack_depth();
	nrows = Max(nrows, ps->plan->plan_rows);
	/* what is not trusted comes after all conditions of the outer side */
	if (filter->trusted)
	{
		/* a child that is executed asynchronously is known by address */
		if (IsA(ps, AppendState) && ((AppendState *) ps)->as_nasyncplans == 0)
		{
			AppendState *append = (AppendState *) ps;

			for (int i = 0; i < append->as_nplans; i++)
				Follow(filter, &append->appendplans[i], attno, passed | 1, nrows);
			return;
		}
		child = OnlyChild(ps, &varno);
		if (child != NULL && MapDown(filter, ps, varno, attno, below))
		{
			uint32		kind = IsA(ps, SubqueryScanState) ? 2 :
			IsA(ps, NestLoopState) ? 4 :
			IsA(ps, MergeJoinState) ? 8 : 16;

			Follow(filter, child, below, passed | kind, nrows);
			return;
		}
	}
	if (nrows >= MIN_ROWS || filter->testing != SCAN_TESTING_OFF)
		BloomScanPlace(link, filter, attno, passed);
}

/*
 * FilterJoin
 *		Place the filter of a hash join, if it can have one, and its keys are
 *		columns of its outer side.
 */
static void
FilterJoin(HashJoinState *join, ScanTesting how)
{
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	ScanFilter *filter = BloomScanFilterOf(join);
	AttrNumber	attno[SCAN_MAX_KEYS];

	if (filter == NULL || outerPlanState(join)->plan->async_capable)
		return;
	filter->testing = how;
	for (int i = 0; i < filter->nkeys; i++)
	{
		Node	   *key = BloomScanPlain(list_nth(plan->hashkeys, i));

		if (!IsA(key, Var) || ((Var *) key)->varno != OUTER_VAR ||
			((Var *) key)->varattno <= 0)
			return;
		attno[i] = ((Var *) key)->varattno;
	}
	Follow(filter, &outerPlanState(join), attno, 0, 0);
}

/*
 * WalkScans
 *		Conditions of sequential scans that test filters.
 *
 * Gather sends the plan of its child to workers; other libraries' nodes know
 * theirs; and Append knows by address what it executes asynchronously.
 */
static void
LookAt(PlanState **link, ScanTesting how)
{
	if (*link != NULL && IsA(*link, SeqScanState) &&
		!(*link)->plan->async_capable)
	{
		ScanWhere  *where = BloomScanWhereOf((SeqScanState *) *link, how);

		if (where != NULL)
			BloomScanPlaceWhere(link, where);
	}
}

static bool
WalkScans(PlanState *ps, void *context)
{
	ScanTesting how = *(ScanTesting *) context;

	check_stack_depth();
	switch (nodeTag(ps))
	{
		case T_AppendState:
			for (int i = 0; i < ((AppendState *) ps)->as_nplans; i++)
				LookAt(&((AppendState *) ps)->appendplans[i], how);
			break;
		case T_SubqueryScanState:
			LookAt(&((SubqueryScanState *) ps)->subplan, how);
			break;
		case T_GatherState:
		case T_GatherMergeState:
		case T_CustomScanState:
		case T_ForeignScanState:
			break;
		default:
			LookAt(&outerPlanState(ps), how);
			LookAt(&innerPlanState(ps), how);
			break;
	}
	return planstate_tree_walker(ps, WalkScans, context);
}

typedef struct PlanWalk
{
	ScanTesting how;
	List	   *joins;			/* that have been seen */
} PlanWalk;

/*
 * WalkPlan
 *		Hash joins.  Those below come first: their filters are tested first.
 *
 * A subplan that partitions share is below each of them.
 */
static bool
WalkPlan(PlanState *ps, void *context)
{
	PlanWalk   *walk = context;

	check_stack_depth();
	planstate_tree_walker(ps, WalkPlan, context);
	if (IsA(ps, HashJoinState) && !list_member_ptr(walk->joins, ps))
	{
		walk->joins = lappend(walk->joins, ps);
		FilterJoin((HashJoinState *) ps, walk->how);
	}
	return false;
}


/* ----------------------------------------------------------------
 *		The hook, and the settings
 * ----------------------------------------------------------------
 */

/*
 * FlagsOf
 *		What to do with this plan, as bits of the executor's flags.
 *
 * In a worker, the leader has said it.  The plans of functions that a worker
 * calls have no flags, and no filters.
 */
static int
FlagsOf(QueryDesc *desc, int eflags)
{
	if (IsParallelWorker())
		return eflags & OUR_FLAGS;
	if (!enabled)
		return 0;
	if (testing == SCAN_TESTING_SMALL)
		return FLAG_FILTERS | FLAG_SMALL;
	if (testing == SCAN_TESTING_UNSEEN &&
		(desc->instrument_options || (eflags & EXEC_FLAG_EXPLAIN_ONLY)))
		return 0;
	if (testing != SCAN_TESTING_OFF)
		return FLAG_FILTERS | FLAG_FORCE;
	/* above Gather, LIMIT may cost little: the cost says nothing of workers */
	if (!desc->plannedstmt->parallelModeNeeded &&
		desc->plannedstmt->planTree->total_cost < MIN_COST)
		return 0;
	return FLAG_FILTERS;
}

static void
Start(QueryDesc *desc, int eflags)
{
	int			flags = FlagsOf(desc, eflags);

	if (previous_start)
		previous_start(desc, eflags & ~OUR_FLAGS);
	else
		standard_ExecutorStart(desc, eflags & ~OUR_FLAGS);

	if ((flags & FLAG_FILTERS) && desc->planstate != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(desc->estate->es_query_cxt);
		PlanWalk	walk = {
			.how = (flags & FLAG_FORCE) ? SCAN_TESTING_FORCE :
			(flags & FLAG_SMALL) ? SCAN_TESTING_SMALL : SCAN_TESTING_OFF
		};

		/*
		 * The root is asked for by desc alone.  Below Gather it is one in
		 * workers, but not in the leader, which would look for its counts.
		 */
		if (!IsParallelWorker() || desc->instrument_options == 0)
			LookAt(&desc->planstate, walk.how);
		WalkScans(desc->planstate, &walk.how);
		WalkPlan(desc->planstate, &walk);
		desc->estate->es_top_eflags |= flags;
		MemoryContextSwitchTo(old);
	}
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("bloomtype_scan.enabled",
							 "Lets hash joins drop rows without a partner where these are read, by a filter of their keys.",
							 "A preview. No plan is changed, and no result.",
							 &enabled, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("bloomtype_scan.testing",
							 "For tests: filters for small tables, too, in small steps or always.",
							 NULL,
							 &testing, SCAN_TESTING_OFF, testing_options,
							 PGC_SUSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("bloomtype_scan");
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = Start;
}
