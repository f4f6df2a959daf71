/*-------------------------------------------------------------------------
 *
 * note.c
 *		What EXPLAIN tells of a plan with filters (plan.c).
 *
 * A plan has the server's numbers for a scan, and those of the filter's node
 * are what is expected behind it.  Until there is such a node, they travel with
 * the plan, in a list of its range table that no table uses.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"

#include "scan/note.h"
#include "scan/scan_compat.h"

static List *notes = NIL;		/* of the plan that is being made */
static const CustomExecMethods *filter_methods; /* of the filter's node */

static planner_hook_type previous_planner = NULL;
static ExecutorStart_hook_type previous_start = NULL;


/*
 * BloomScanNote
 *		The plan that is being made may have these scans.
 */
void
BloomScanNote(List *scans, Cost first_cost, Cost second_cost)
{
	ListCell   *lc;

	foreach(lc, scans)
	{
		ScanNote   *note = lfirst(lc);

		note->first_cost = first_cost;
		note->second_cost = second_cost;
	}
	notes = list_concat(notes, scans);
}

static void
TakeNotes(PlannedStmt *stmt, Plan *plan)
{
	List	   *children = NIL;
	ListCell   *lc;

	check_stack_depth();
	if (plan == NULL)
		return;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
			{
				RangeTblEntry *rte = rt_fetch(((Scan *) plan)->scanrelid, stmt->rtable);

				foreach(lc, notes)
				{
					ScanNote   *note = lfirst(lc);

					if (rte->relid != note->table ||
						plan->total_cost != note->path->total_cost ||
						plan->plan_rows != note->path->rows)
						continue;
					rte->values_lists =
						list_make4(makeFloat(psprintf("%.17g", plan->plan_rows)),
								   makeFloat(psprintf("%.17g", plan->total_cost)),
								   makeFloat(psprintf("%.17g", note->first_cost)),
								   makeFloat(psprintf("%.17g", note->second_cost)));
					plan->plan_rows = note->plain->rows;
					plan->total_cost = note->plain->total_cost;
					break;
				}
				return;
			}
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_SubqueryScan:
			TakeNotes(stmt, ((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			children = ((CustomScan *) plan)->custom_plans;
			break;
		default:
			break;
	}
	foreach(lc, children)
		TakeNotes(stmt, lfirst(lc));
	TakeNotes(stmt, outerPlan(plan));
	TakeNotes(stmt, innerPlan(plan));
}

static PlannedStmt *
PlanQuery(SCAN_PLANNER_PARAMETERS)
{
	PlannedStmt *stmt = NULL;
	List	   *outer_notes = notes;
	ListCell   *lc;

	notes = NIL;
	PG_TRY();
	{
		stmt = previous_planner ? previous_planner(SCAN_PLANNER_ARGUMENTS) :
			standard_planner(SCAN_PLANNER_ARGUMENTS);
		if (notes != NIL)
		{
			TakeNotes(stmt, stmt->planTree);
			foreach(lc, stmt->subplans)
				TakeNotes(stmt, lfirst(lc));
		}
	}
	PG_FINALLY();
	{
		notes = outer_notes;
	}
	PG_END_TRY();
	return stmt;
}

static List *
NumbersOf(const CustomScanState *css)
{
	const PlanState *scan = outerPlanState(css);

	if (strcmp(css->methods->CustomName, "Bloom Filter") != 0 ||
		scan == NULL || !IsA(scan, SeqScanState))
		return NIL;
	return exec_rt_fetch(((Scan *) scan->plan)->scanrelid, scan->state)->values_lists;
}

static void
ExplainFilter(CustomScanState *css, List *ancestors, ExplainState *es)
{
	List	   *numbers = NumbersOf(css);

	filter_methods->ExplainCustomScan(css, ancestors, es);
	if (es->costs)
		ExplainPropertyText("Planned With Filters",
							psprintf("cost %.0f instead of %.0f",
									 floatVal(lfourth(numbers)),
									 floatVal(lthird(numbers))), es);
}

/* The node and its plan were made for this execution alone. */
static bool
NoteNode(PlanState *ps, void *context)
{
	static CustomExecMethods methods;
	CustomScanState *css = (CustomScanState *) ps;

	/* a subplan that several expressions name is walked for each */
	if (IsA(ps, CustomScanState) && NumbersOf(css) != NIL &&
		css->methods->ExplainCustomScan != ExplainFilter)
	{
		List	   *numbers = NumbersOf(css);

		ps->plan->plan_rows = floatVal(linitial(numbers));
		ps->plan->total_cost = floatVal(lsecond(numbers));
		filter_methods = css->methods;
		methods = *css->methods;
		methods.ExplainCustomScan = ExplainFilter;
		css->methods = &methods;
	}
	return planstate_tree_walker(ps, NoteNode, context);
}

static void
Start(QueryDesc *desc, int eflags)
{
	ListCell   *lc;

	if (previous_start)
		previous_start(desc, eflags);
	else
		standard_ExecutorStart(desc, eflags);
	foreach(lc, desc->plannedstmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->values_lists != NIL)
		{
			if (desc->planstate != NULL)
				NoteNode(desc->planstate, NULL);
			break;
		}
	}
}

void
BloomScanNoteInit(void)
{
	previous_planner = planner_hook;
	planner_hook = PlanQuery;
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = Start;
}
