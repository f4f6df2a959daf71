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

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "scan/expr.h"
#include "scan/node.h"
#include "scan/plan.h"
#include "scan/scan_compat.h"

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
#define FLAG_ORDERED	0x08000000	/* conditions of scans go first */
#define OUR_FLAGS		(FLAG_FILTERS | FLAG_SMALL | FLAG_FORCE | FLAG_ORDERED)

/* A plan without workers that costs less is not looked at. */
#define MIN_COST		100.0
/* what the node below a place costs at least */
#define MIN_PLACE_COST	50.0

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
			return !BloomScanNodeIsQuiet(ps) ||
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
MapDown(const ScanFilter *filter, PlanState *ps, int varno, AttrNumber *attno)
{
	AttrNumber	below[SCAN_MAX_KEYS];

	for (int i = 0; i < filter->nkeys; i++)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, ps->plan->targetlist,
										   attno[i] - 1);
		Node	   *expr = BloomScanStripRelabel((Node *) entry->expr);

		if (!IsA(expr, Var) || ((Var *) expr)->varno != varno ||
			((Var *) expr)->varattno <= 0)
			return false;
		below[i] = ((Var *) expr)->varattno;
	}
	memcpy(attno, below, filter->nkeys * sizeof(AttrNumber));
	return true;
}

/* A plan, and what is known of its nodes. */
typedef struct PlanWalk
{
	ScanTesting how;
	bool		condition_first;	/* rule 6 */
	HTAB	   *nodes;			/* of KnownNode */
} PlanWalk;

/* A node that has been looked at: once, however many joins are above it.  (rule 35) */
typedef struct KnownNode
{
	PlanState  *ps;
	PlanState **child;			/* see OnlyChild */
	int			varno;
	struct KnownNode *below;	/* that of the child; NULL: not looked up yet */
	/* where a column of its result was followed to, so that joins above go on */
	AttrNumber	column;			/* 0: none was */
	AttrNumber	end_column;
	uint32		end_passed;
	PlanState **end_link;
	struct KnownNode *end;
	bool		is_filtered;	/* a join that has its filter */
} KnownNode;

/*
 * OnlyChild
 *		Where a row of a node's result comes from, if it comes from one row of
 *		one child, and if leaving that out there leaves out this row here, and
 *		does nothing else.  NULL if that is not so, or if we do not know.
 *		(rules 2, 3)
 */
static PlanState **
OnlyChild(PlanState *ps, int *varno)
{
	PlanState **child = NULL;

	*varno = OUTER_VAR;
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
		!BloomScanNodeIsQuiet(ps))
		return NULL;
	return child;
}

static KnownNode *
LookUp(PlanWalk *walk, PlanState *ps)
{
	bool		found;
	KnownNode  *known = hash_search(walk->nodes, &ps, HASH_ENTER, &found);

	if (!found)
	{
		known->child = OnlyChild(ps, &known->varno);
		known->below = NULL;
		known->column = 0;
		known->is_filtered = false;
	}
	return known;
}

/* What is below a node by this link, the one child that rows come from or not. */
static KnownNode *
Below(PlanWalk *walk, KnownNode *known, PlanState **link)
{
	if (link != known->child)
		return LookUp(walk, BloomScanBelow(*link));
	if (known->below == NULL)
		known->below = LookUp(walk, BloomScanBelow(*link));
	return known->below;
}

/*
 * IsWorthIt
 *		Does the node cost so much that a filter above it can save more than it
 *		costs to be there?
 *
 * By the plan alone, which is the same in the leader and its workers (rule 7),
 * and not by the rows that are expected: these depend on guesses about
 * conditions, behind which most of the rows may still be.
 */
static bool
IsWorthIt(const Plan *plan)
{
	return plan->total_cost - plan->startup_cost >= MIN_PLACE_COST;
}

/*
 * Follow
 *		Place the filter as far below as it may stand.
 *
 * What is dear to hash stays where the join would hash it (rule 34); what is not trusted
 * comes after all conditions of the outer side (rule 5).
 */
static void
Follow(PlanWalk *walk, ScanFilter *filter, PlanState **link, KnownNode *known,
	   const AttrNumber *from, uint32 passed)
{
	AttrNumber	attno[SCAN_MAX_KEYS];
	KnownNode  *begin = known;

	check_stack_depth();
	memcpy(attno, from, filter->nkeys * sizeof(AttrNumber));
	while (filter->trusted && !filter->dear)
	{
		PlanState  *ps = known->ps;

		/*
		 * a child that is executed asynchronously is known by address (rule
		 * 4)
		 */
		if (IsA(ps, AppendState) && ((AppendState *) ps)->as_nasyncplans == 0)
		{
			AppendState *append = (AppendState *) ps;

			for (int i = 0; i < append->as_nplans; i++)
			{
				PlanState **child = &append->appendplans[i];

				Follow(walk, filter, child, LookUp(walk, BloomScanBelow(*child)),
					   attno, passed | 1);
			}
			return;
		}
		if (filter->nkeys == 1 && known->column == attno[0])
		{
			attno[0] = known->end_column;
			passed |= known->end_passed;
			link = known->end_link;
			known = known->end;
			break;
		}
		if (known->child == NULL || !MapDown(filter, ps, known->varno, attno))
			break;
		passed |= IsA(ps, SubqueryScanState) ? 2 :
			IsA(ps, NestLoopState) ? 4 :
			IsA(ps, MergeJoinState) ? 8 : 16;
		link = known->child;
		known = Below(walk, known, link);
	}
	if (filter->nkeys == 1 && known != begin)
	{
		begin->column = from[0];
		begin->end_column = attno[0];
		begin->end_passed = passed;
		begin->end_link = link;
		begin->end = known;
	}
	if (IsWorthIt(known->ps->plan) || walk->how != SCAN_TESTING_OFF)
		BloomScanPlace(link, filter, attno, walk->condition_first, passed);
}

/*
 * FilterJoin
 *		Place the filter of a hash join, if it can have one, and its keys are
 *		columns of its outer side.
 */
static void
FilterJoin(PlanWalk *walk, KnownNode *known)
{
	HashJoinState *join = castNode(HashJoinState, known->ps);
	PlanState **outer = &outerPlanState(join);
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	ScanFilter *filter;
	AttrNumber	attno[SCAN_MAX_KEYS];
	int			nkeys = list_length(plan->hashkeys);

	if ((*outer)->plan->async_capable || nkeys > SCAN_MAX_KEYS ||
		(!IsWorthIt((*outer)->plan) && walk->how == SCAN_TESTING_OFF))
		return;
	for (int i = 0; i < nkeys; i++)
	{
		Node	   *key = BloomScanStripRelabel(list_nth(plan->hashkeys, i));

		if (!IsA(key, Var) || ((Var *) key)->varno != OUTER_VAR ||
			((Var *) key)->varattno <= 0)
			return;
		attno[i] = ((Var *) key)->varattno;
	}
	filter = BloomScanFilterOf(join, walk->how);
	if (filter != NULL)
		Follow(walk, filter, outer, Below(walk, known, outer), attno, 0);
}

/* Have the filters in the condition of a sequential scan tested above it. */
static void
LookAt(PlanState **link, ScanTesting how)
{
	if (*link != NULL && IsA(*link, SeqScanState) &&
		!(*link)->plan->async_capable &&
		(IsWorthIt((*link)->plan) || how != SCAN_TESTING_OFF))
	{
		ScanWhere  *where = BloomScanWhereOf((SeqScanState *) *link, how);

		if (where != NULL)
			BloomScanPlaceWhere(link, where);
	}
}

/*
 * WalkScans
 *		Conditions of sequential scans that test filters.
 *
 * Gather sends the plan of its child to workers; other libraries' nodes know
 * theirs; and Append knows by address what it executes asynchronously.
 * (rule 4)
 */
static bool
WalkScans(PlanState *ps, void *context)
{
	ScanTesting how = ((PlanWalk *) context)->how;

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
	if (IsA(ps, HashJoinState))
	{
		KnownNode  *known = LookUp(walk, ps);

		if (!known->is_filtered)
			FilterJoin(walk, known);
		known->is_filtered = true;
	}
	return false;
}

/*
 * HidesRows
 *		Does a policy or a security barrier view hide rows from who runs this?
 *
 * Then what each condition drops is counted as the server does, and EXPLAIN
 * tells nothing of what is hidden (rule 6).  The plan does not say it, but its
 * tables do.  A barrier view in a subquery is known by the entry for its
 * privileges; from PostgreSQL 16 on by its own.
 */
static bool
HidesRows(const PlannedStmt *statement)
{
	ListCell   *lc;

	foreach(lc, statement->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Relation	rel;
		bool		hides;

		if (rte->security_barrier)
			return true;
		if (!OidIsValid(rte->relid))
			continue;
		rel = RelationIdGetRelation(rte->relid);
		if (!RelationIsValid(rel))
			continue;
		hides = rel->rd_rel->relrowsecurity ||
			(rel->rd_rel->relkind == RELKIND_VIEW && RelationIsSecurityView(rel));
		RelationClose(rel);
		if (hides)
			return true;
	}
	return false;
}

/*
 * PutFilters
 *		Have filters stand in a plan that was initialized.
 */
static void
PutFilters(QueryDesc *desc, int flags)
{
	HASHCTL		info = {.keysize = sizeof(PlanState *),.entrysize = sizeof(KnownNode)};
	MemoryContext old = MemoryContextSwitchTo(desc->estate->es_query_cxt);
	PlanWalk	walk = {
		.how = (flags & FLAG_FORCE) ? SCAN_TESTING_FORCE :
		(flags & FLAG_SMALL) ? SCAN_TESTING_SMALL : SCAN_TESTING_OFF,
		.condition_first = (flags & FLAG_ORDERED) != 0
	};

	walk.nodes = hash_create("nodes of a plan", 64, &info, HASH_ELEM | HASH_BLOBS);

	/*
	 * The root is asked for by desc alone.  Below Gather it is one in
	 * workers, but not in the leader, which would look for its counts.
	 */
	if (!IsParallelWorker() || desc->instrument_options == 0)
		LookAt(&desc->planstate, walk.how);
	WalkScans(desc->planstate, &walk);
	WalkPlan(desc->planstate, &walk);
	hash_destroy(walk.nodes);
	MemoryContextSwitchTo(old);
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
		if (!IsParallelWorker() && desc->instrument_options != 0 &&
			HidesRows(desc->plannedstmt))
			flags |= FLAG_ORDERED;
		PutFilters(desc, flags);
		desc->estate->es_top_eflags |= flags;
	}
}

/*
 * NoteVersion
 *		Structs are those of the minor version that this was built for: one that
 *		changes them would be seen in the log, beside what it leads to.
 */
static void
NoteVersion(void)
{
	int			server = atoi(GetConfigOption("server_version_num", false, false));

	if (server != BUILT_FOR)
		ereport(LOG,
				(errmsg("bloomtype_scan was built for PostgreSQL %d.%d, and the server is %d.%d",
						BUILT_FOR / 10000, BUILT_FOR % 10000, server / 10000, server % 10000),
				 errhint("Build it for this version, if joins should behave strangely: it reads structs of the executor.")));
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("bloomtype_scan.enabled",
							 "Lets hash joins drop rows without a partner where these are read, by a filter of their keys.",
							 "A preview. No result is changed, and no plan unless bloomtype_scan.plan is on.",
							 &enabled, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("bloomtype_scan.testing",
							 "For tests: filters for small tables, too, in small steps or always.",
							 NULL,
							 &testing, SCAN_TESTING_OFF, testing_options,
							 PGC_SUSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	NoteVersion();
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = Start;
	BloomScanPlanInit(&enabled, &testing);
	MarkGUCPrefixReserved("bloomtype_scan");
}
