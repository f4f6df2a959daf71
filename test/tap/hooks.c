/*-------------------------------------------------------------------------
 *
 * hooks.c
 *		A planner hook that does what TimescaleDB's gapfill does.
 *
 * It puts a path of its own in place of the paths of groups.  In the next call,
 * for windows, it looks for the WindowAggPaths above, to adjust them.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "optimizer/planner.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

static create_upper_paths_hook_type previous_hook;

static TupleTableSlot *
NextRow(CustomScanState *node)
{
	return ExecProcNode(outerPlanState(node));
}

static void
Begin(CustomScanState *node, EState *estate, int eflags)
{
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;

	outerPlanState(node) = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
}

static void
End(CustomScanState *node)
{
	ExecEndNode(outerPlanState(node));
}

static void
Rescan(CustomScanState *node)
{
	ExecReScan(outerPlanState(node));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "gaps",
	.BeginCustomScan = Begin,
	.ExecCustomScan = NextRow,
	.EndCustomScan = End,
	.ReScanCustomScan = Rescan
};

static Node *
MakeState(CustomScan *plan)
{
	CustomScanState *state = makeNode(CustomScanState);

	state->methods = &exec_methods;
	return (Node *) state;
}

static const CustomScanMethods scan_methods = {
	.CustomName = "gaps",
	.CreateCustomScanState = MakeState
};

static Plan *
MakePlan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		 List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = ((Plan *) linitial(custom_plans))->targetlist;
	scan->methods = &scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "gaps",
	.PlanCustomPath = MakePlan
};

static void
UpperPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
		   RelOptInfo *output_rel, void *extra)
{
	ListCell   *lc;

	if (previous_hook)
		previous_hook(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_GROUP_AGG)
	{
		foreach(lc, output_rel->pathlist)
		{
			CustomPath *path = makeNode(CustomPath);

			path->path = *(Path *) lfirst(lc);
			path->path.type = T_CustomPath;
			path->path.pathtype = T_CustomScan;
			path->custom_paths = list_make1(lfirst(lc));
			path->methods = &path_methods;
			lfirst(lc) = path;
		}
	}
	if (stage == UPPERREL_WINDOW && IsA(linitial(input_rel->pathlist), CustomPath))
	{
		foreach(lc, output_rel->pathlist)
		{
			if (!IsA(lfirst(lc), WindowAggPath))
				ereport(ERROR, (errmsg("there is no window to adjust")));
		}
	}
}

void
_PG_init(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = UpperPaths;
}
