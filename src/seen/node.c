/*-------------------------------------------------------------------------
 *
 * seen/node.c
 *		A plan node for bloom_seen() OVER (...), in place of WindowAgg.
 *
 * WindowAgg copies each row into a tuplestore and out again, so that window
 * functions can look at any row of their partition.  bloom_seen needs each row
 * once, in order.  This node keeps up to 32 rows in slots: it hashes their keys,
 * touches their places in the table, so that the cache misses overlap,
 * adds them, and then passes the rows on, each with its flag.
 *
 * The planner makes its paths first.  Then the hook puts ours in place of each
 * WindowAggPath whose window has one call of bloom_seen, and nothing that this
 * node does not do; all others keep WindowAgg, which gives the same rows
 * (seen/window.c).  Rows, order and cost are those of the path that goes, so
 * that no other choice of the planner depends on the node.
 *
 * If the window has no order, and its input has partial paths, it adds a partial
 * path.  The planner then puts conditions such as "NOT seen", and partial
 * aggregates, below Gather, too.
 *
 * Facts about the server, 15 to 19, that this relies on and tests check
 * ---------------------------------------------------------------------
 *
 * - create_window_paths calls create_upper_paths_hook after it has made the
 *	 paths of UPPERREL_WINDOW, and before set_cheapest looks at them.  They are
 *	 made of WindowAggPath, SortPath and IncrementalSortPath of that rel, above
 *	 paths of its input.
 * - cost_windowagg has asked the support function of bloom_seen by then, so that
 *	 this library is loaded and the hook is there, in the first query of a
 *	 session, too.
 * - The topmost WindowAgg of a query tests the run conditions of the WindowAggs
 *	 below it (WindowAggPath.qual).
 * - set_customscan_references replaces each expression of the target list that
 *	 equals one in custom_scan_tlist by a reference to its resno, and ruleutils
 *	 prints the first entry with that resno.  From 18 on, it cannot print a
 *	 WindowFunc without its WindowAgg.  So the list has two entries for a column
 *	 with one: first a plain call, to be printed, and at the end of the list the
 *	 WindowFunc, to be found.  Nothing evaluates them; ExecInitCustomScan makes
 *	 the type of the scan slot from the list, by position.
 * - A scan below a node that wants its exact columns returns no slot of a
 *	 relation with missing or dropped columns as it is (tlist_matches_tupdesc).
 *	 So a copy of it can have the result type's descriptor.
 * - WindowFuncs are parallel restricted, so that the serial paths are marked as
 *	 unfit for workers.  A path for windows without an order, which we add, is not:
 *	 each process adds the keys of its rows to a shared table (seen/shared.c).
 * - A path without CUSTOMPATH_SUPPORT_BACKWARD_SCAN is materialized for a
 *	 cursor that goes back.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "storage/proc.h"		/* NUM_AUXILIARY_PROCS, on 19 */
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "filter/call.h"
#include "seen/seen_compat.h"
#include "seen/node.h"
#include "seen/shared.h"
#include "key/hash.h"

/* How many open scans share the buffers of a session's temporary tables */
#define CURSORS				32

/* Most rows of a batch */
#define MAX_SCAN_BATCH			32

/* In EXPLAIN, and in plans that are sent to other processes */
#define NODE_NAME			"bloom_seen"

/* What the processes of a parallel plan share */
typedef struct SharedScan
{
	bool		has_table;
	BloomSeenShared table;

	/*
	 * Without a table, one of them reads all rows, and the others none: the
	 * first to come.  At its end, it says what its own table has.
	 */
	pg_atomic_uint32 ncame;
	pg_atomic_uint32 nleft;		/* workers that have come to their end */
	uint64		nkeys;
	Size		memory;
} SharedScan;

typedef struct SeenScan
{
	CustomScanState css;

	ExprState  *key;
	Oid			key_type;
	Oid			collation;
	BloomHasher hasher;			/* made for the first row */

	/* NULL for the exact form */
	ExprState  *capacity;
	ExprState  *fp_prob;
	uint64		expected;		/* distinct keys, as the planner estimates */

	bool		has_begun;		/* with the first row */
	uint64		seed;			/* to hash the keys with */
	BloomSeenTable table;
	BloomSeenTables tables;		/* what those of all rescans share */
	MemoryContext table_context;

	/* NULL but in a parallel plan, which has begun workers */
	SharedScan *shared;
	const ParallelContext *workers; /* in the leader */
	dsa_area   *area;
	BloomSeenView view;			/* of the shared table */

	/*
	 * The batch, in slots of the scan's type: columns of the child, and
	 * flags. Columns that are not passed by value point to copies of the
	 * child's slots, which are cleared when the row was passed on.
	 */
	TupleTableSlot *rows[MAX_SCAN_BATCH];
	TupleTableSlot *copies[MAX_SCAN_BATCH];
	MemoryContext rows_context;
	bool		needs_copies;
	int			flag;			/* its place, after the child's columns */
	int			max_rows;
	int			nrows;
	int			next;
	bool		is_past_end;

	/*
	 * for EXPLAIN, of the tables before a rescan, and of those that were
	 * shared
	 */
	uint64		nshared;		/* how many of these */
	bool		was_cut;		/* one of these, with workers still at work */
	uint64		nkeys;			/* in all of them */
	Size		memory;			/* of the largest */
} SeenScan;

static void ReplacePaths(PlannerInfo *root, UpperRelationKind stage,
						 RelOptInfo *input_rel, RelOptInfo *output_rel,
						 void *extra);

static bool enable_seen_scan = true;
static bool has_hook = false;
static create_upper_paths_hook_type previous_hook;

/* ----------------------------------------------------------------
 *							PLANNING
 * ----------------------------------------------------------------
 */

/*
 * The call of bloom_seen, if a node of ours can do what this path does.
 *
 * Calls with volatile arguments are equal, but each has a key of its own.
 * fmgr_info returns a wrapper if the function has SET options or an fmgr hook.
 */
static WindowFunc *
CallOf(const WindowAggPath *path, const WindowFuncLists *lists)
{
	const WindowClause *window = path->winclause;
	List	   *calls = lists->windowFuncs[window->winref];
	WindowFunc *call;
	FmgrInfo	function;
	ListCell   *lc;

	if (calls == NIL || window->partitionClause != NIL ||
		window->startOffset != NULL || window->endOffset != NULL ||
		BloomWindowFilters(path))
		return NULL;
	call = linitial_node(WindowFunc, calls);
	foreach(lc, calls)
	{
		/* one call may stand in several places */
		if (!equal(lfirst(lc), call))
			return NULL;
	}
	if (call->winagg || call->aggfilter != NULL || BloomNullTreatment(call) ||
		contain_volatile_functions((Node *) call->args))
		return NULL;
	fmgr_info(call->winfnoid, &function);
	return function.fn_addr == bloom_seen ? call : NULL;
}

static const CustomPathMethods path_methods;

/* How many distinct keys there are likely to be */
static double
EstimateKeys(PlannerInfo *root, WindowFunc *call, double rows)
{
	return Min(estimate_num_groups(root, list_make1(linitial(call->args)), rows,
								   NULL, NULL), INT_MAX);
}

static Path *
MakePath(PlannerInfo *root, const WindowAggPath *window, WindowFunc *call)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = window->path;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(window->subpath);
	path->custom_private = list_make2(call,
									  makeInteger((int) EstimateKeys(root, call, window->subpath->rows)));
	path->methods = &path_methods;
	return (Path *) path;
}

/*
 * Does another library still look for the WindowAggs of these rows?
 *
 * If its hook was installed after ours, it runs after it.  TimescaleDB's gapfill
 * is a path of its own for the groups, and adjusts the WindowAggs above that.
 */
static bool
IsWatched(const RelOptInfo *input_rel)
{
	ListCell   *lc;

	if (create_upper_paths_hook == ReplacePaths ||
		input_rel->reloptkind != RELOPT_UPPER_REL)
		return false;
	foreach(lc, input_rel->pathlist)
	{
		if (IsA(lfirst(lc), CustomPath))
			return true;
	}
	return false;
}

/*
 * A copy of a path with our node in place of each WindowAgg that it can do.
 *
 * The path itself is not changed: others may share it.
 */
static Path *
ReplacePath(PlannerInfo *root, const RelOptInfo *rel, Path *path,
			const WindowFuncLists *lists)
{
	if (path->parent != rel)
		return path;
	if (IsA(path, WindowAggPath))
	{
		WindowAggPath *copy = makeNode(WindowAggPath);
		WindowFunc *call;

		*copy = *(WindowAggPath *) path;
		copy->subpath = ReplacePath(root, rel, copy->subpath, lists);
		call = CallOf(copy, lists);
		return call != NULL ? MakePath(root, copy, call) : &copy->path;
	}
	if (IsA(path, SortPath))
	{
		SortPath   *copy = makeNode(SortPath);

		*copy = *(SortPath *) path;
		copy->subpath = ReplacePath(root, rel, copy->subpath, lists);
		return &copy->path;
	}
	if (IsA(path, IncrementalSortPath))
	{
		IncrementalSortPath *copy = makeNode(IncrementalSortPath);

		*copy = *(IncrementalSortPath *) path;
		copy->spath.subpath = ReplacePath(root, rel, copy->spath.subpath, lists);
		return &copy->spath.path;
	}
	return path;
}

/* An expression with plain calls in place of those of window functions */
static Node *
Printable(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
	{
		WindowFunc *call = (WindowFunc *) node;

		return (Node *) makeFuncExpr(call->winfnoid, call->wintype, call->args,
									 call->wincollid, call->inputcollid,
									 COERCE_EXPLICIT_CALL);
	}
	return expression_tree_mutator(node, Printable, context);
}

/* The memory that processes of a parallel plan may share, as of a hash join */
static Size
SharedLimit(int nprocesses)
{
	return (Size) ((double) nprocesses * work_mem * hash_mem_multiplier * 1024);
}

/*
 * Does the table probably fit into shared memory?
 *
 * A shared filter has all of its bits from the beginning, where that of one
 * process grows into them.  So it is not worth while for a capacity that is far
 * above the number of keys: we take no more memory for it than the exact form
 * would begin with.  Its bits are estimated as those of a filter in one piece;
 * when it is made, it is known.
 */
static bool
Fits(PlannerInfo *root, const List *args, uint64 expected, Size limit)
{
	Size		exact = BloomSeenSharedBytes(expected);
	Node	   *capacity;
	Node	   *fp_prob;
	double		bits_per_key;

	if (list_length(args) == 1)
		return exact <= limit;
	capacity = estimate_expression_value(root, lsecond(args));
	fp_prob = estimate_expression_value(root, lthird(args));
	if (!IsA(capacity, Const) || !IsA(fp_prob, Const))
		return true;
	/* wrong numbers are an error later */
	if (((Const *) capacity)->constisnull || ((Const *) fp_prob)->constisnull)
		return true;
	bits_per_key = -log(DatumGetFloat8(((Const *) fp_prob)->constvalue)) / (M_LN2 * M_LN2);
	return !(DatumGetFloat8(((Const *) capacity)->constvalue) * bits_per_key / 8 >
			 Min(exact, limit));
}

/*
 * A path of which each process has a part of the rows, for a window without an
 * order, if its input has such paths.
 *
 * The planner asks for more: that all that the rows have can be computed in a
 * worker, but for the call itself, which has no process of its own; and that the
 * leader can compute the numbers beforehand.
 *
 * Cost and rows are those of the serial path, for a part of the rows.
 */
static void
AddPartialPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			   const CustomPath *serial)
{
	WindowFunc *call = linitial_node(WindowFunc, serial->custom_private);
	const Path *below = linitial(serial->custom_paths);
	List	   *numbers = list_copy_tail(call->args, 1);
	CustomPath *path;
	Path	   *part;
	double		rows = serial->path.rows;

	if (!BLOOM_SEEN_CAN_SHARE || input_rel->partial_pathlist == NIL ||
		list_length(root->parse->windowClause) != 1 ||
		linitial_node(WindowClause, root->parse->windowClause)->orderClause != NIL ||
		root->parse->hasTargetSRFs || serial->path.param_info != NULL ||
		contain_var_clause((Node *) numbers) || contain_agg_clause((Node *) numbers) ||
		!is_parallel_safe(root, Printable((Node *) serial->path.pathtarget->exprs, NULL)))
		return;
	part = linitial(input_rel->partial_pathlist);
	if (!Fits(root, call->args, intVal(lsecond(serial->custom_private)),
			  SharedLimit(part->parallel_workers + 1)))
		return;

	path = makeNode(CustomPath);
	*path = *serial;
	path->custom_paths = list_make1(part);
	path->path.pathkeys = NIL;
	path->path.parallel_aware = true;
	path->path.parallel_safe = part->parallel_safe;
	path->path.parallel_workers = part->parallel_workers;
	path->path.rows = part->rows;
	path->path.startup_cost = part->startup_cost +
		serial->path.startup_cost - below->startup_cost;
	path->path.total_cost = part->total_cost +
		(serial->path.total_cost - below->total_cost) *
		(part->rows / clamp_row_est(below->rows));

	/* the paths that are there have been marked as unfit for workers */
	output_rel->consider_parallel = true;
	add_partial_path(output_rel, &path->path);
	add_path(output_rel, (Path *)
			 create_gather_path(root, output_rel, &path->path,
								path->path.pathtarget, NULL, &rows));
}

static void
ReplacePaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
			 RelOptInfo *output_rel, void *extra)
{
	WindowFuncLists *lists;
	CustomPath *serial = NULL;
	ListCell   *lc;

	if (previous_hook)
		previous_hook(root, stage, input_rel, output_rel, extra);
	if (stage != UPPERREL_WINDOW || !enable_seen_scan || IsWatched(input_rel))
		return;
	lists = find_window_functions((Node *) root->processed_tlist,
								  list_length(root->parse->windowClause));
	foreach(lc, output_rel->pathlist)
	{
		Path	   *path = ReplacePath(root, output_rel, lfirst(lc), lists);

		lfirst(lc) = path;
		if (serial == NULL && IsA(path, CustomPath) &&
			((CustomPath *) path)->methods == &path_methods)
			serial = (CustomPath *) path;
	}
	if (serial != NULL)
		AddPartialPath(root, input_rel, output_rel, serial);
}

static const CustomScanMethods scan_methods;

/*
 * Make the plan.  Its rows are those of the child, and a flag.
 */
static Plan *
MakePlan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
		 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	WindowFunc *call = linitial_node(WindowFunc, path->custom_private);
	List	   *columns = list_copy(child->targetlist);
	ListCell   *lc;

	(void) root;
	(void) rel;
	(void) clauses;
	columns = lappend(columns,
					  makeTargetEntry(&call->xpr, list_length(columns) + 1, NULL, false));
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = (List *) Printable((Node *) columns, NULL);
	foreach(lc, columns)
	{
		if (contain_window_function(lfirst(lc)))
			scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
											  copyObject(lfirst(lc)));
	}
	scan->custom_exprs = copyObject(call->args);
	scan->custom_private = list_make2(list_make2_oid(call->winfnoid, call->inputcollid),
									  lsecond(path->custom_private));
	scan->methods = &scan_methods;
	return &scan->scan.plan;
}

/* ----------------------------------------------------------------
 *							RUNNING
 * ----------------------------------------------------------------
 */

/* A number that is looked at on the first row. */
static float8
ScanParameter(SeenScan *scan, ExprState *expr, const char *name)
{
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(expr, scan->css.ss.ps.ps_ExprContext,
												  &isnull);

	BloomCheckNotNull(isnull, name);
	return DatumGetFloat8(value);
}

/* The filter that the numbers ask for */
static BloomShape
GetShape(SeenScan *scan)
{
	float8		capacity = ScanParameter(scan, scan->capacity, "capacity");
	float8		fp_prob = ScanParameter(scan, scan->fp_prob, "fp_prob");

	return BloomShapeForCapacity(capacity, fp_prob, 0);
}

static void
InitScanHasher(SeenScan *scan)
{
	if (scan->hasher.context != NULL)
		return;
	BloomHasherInit(&scan->hasher, scan->key_type, scan->collation);
	scan->hasher.one_type = true;
}

/* The first row is in the scan slot: begin with an empty table, or a shared one. */
static void
BeginTable(SeenScan *scan)
{
	scan->has_begun = true;
	InitScanHasher(scan);
	if (scan->shared != NULL && scan->shared->has_table)
	{
		BloomSeenJoin(&scan->view, &scan->shared->table, scan->area);
		scan->seed = scan->shared->table.seed;
		return;
	}
	if (scan->capacity == NULL)
		BloomSeenInit(&scan->table, &scan->tables, scan->table_context, NULL,
					  scan->expected);
	else
	{
		BloomShape	shape = GetShape(scan);

		BloomSeenInit(&scan->table, &scan->tables, scan->table_context, &shape, 0);
	}
	scan->seed = scan->table.seed;
}

/* The hash of a row's key, or zero if that is null */
static uint64
HashRow(SeenScan *scan, int i)
{
	ExprContext *econtext = scan->css.ss.ps.ps_ExprContext;
	MemoryContext oldcontext;
	uint64		hash;
	Datum		key;
	bool		isnull;

	econtext->ecxt_scantuple = scan->rows[i];
	ResetExprContext(econtext);
	if (!scan->has_begun)
		BeginTable(scan);

	oldcontext = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	key = ExecEvalExpr(scan->key, econtext, &isnull);
	hash = isnull ? 0 : BloomHashDatum(&scan->hasher, key, scan->seed);
	MemoryContextSwitchTo(oldcontext);
	return hash;
}

/* Make room for one more row of a batch. */
static void
MakeSlots(SeenScan *scan, int i)
{
	PlanState  *child = outerPlanState(scan);
	MemoryContext oldcontext = MemoryContextSwitchTo(scan->rows_context);

	scan->rows[i] = MakeSingleTupleTableSlot(scan->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor,
											 &TTSOpsVirtual);
	ExecStoreAllNullTuple(scan->rows[i]);
	if (scan->needs_copies)
		scan->copies[i] = MakeSingleTupleTableSlot(ExecGetResultType(child),
												   ExecGetResultSlotOps(child, NULL));
	MemoryContextSwitchTo(oldcontext);
}

/* Keep a row of the child for the batch. */
static void
KeepRow(SeenScan *scan, int i, TupleTableSlot *slot)
{
	TupleTableSlot *row;

	if (scan->rows[i] == NULL)
		MakeSlots(scan, i);
	row = scan->rows[i];
	if (scan->needs_copies)
		slot = ExecCopySlot(scan->copies[i], slot);
	slot_getallattrs(slot);
	memcpy(row->tts_values, slot->tts_values, scan->flag * sizeof(Datum));
	memcpy(row->tts_isnull, slot->tts_isnull, scan->flag * sizeof(bool));
}

/*
 * Read a batch of rows, and find out which keys were seen before.  False: there
 * are no more.
 *
 * The first batches are small, so that a query with a LIMIT does not read far
 * ahead.  A batch ends when its rows take more than work_mem.
 */
static bool
ReadBatch(SeenScan *scan)
{
	uint64		hashes[MAX_SCAN_BATCH];
	int			most = Min(scan->nrows * 2 + 1, scan->max_rows);
	Size		memory = MemoryContextMemAllocated(scan->rows_context, false);
	bool		seen[MAX_SCAN_BATCH];
	int			n = 0;

	if (!scan->has_begun && scan->shared != NULL && !scan->shared->has_table &&
		pg_atomic_fetch_add_u32(&scan->shared->ncame, 1) > 0)
		scan->is_past_end = true;
	while (n < most && !scan->is_past_end)
	{
		TupleTableSlot *slot = ExecProcNode(outerPlanState(scan));

		if (TupIsNull(slot))
		{
			scan->is_past_end = true;
			break;
		}
		KeepRow(scan, n, slot);
		hashes[n] = HashRow(scan, n);
		n++;
		if (MemoryContextMemAllocated(scan->rows_context, false) >
			memory + work_mem * (Size) 1024)
			break;
	}
	if (scan->view.shared != NULL)
		BloomSeenAddBatch(&scan->view, hashes, n, seen);
	else
	{
		for (int i = 0; i < n; i++)
			BloomSeenTouch(&scan->table, hashes[i]);
		for (int i = 0; i < n; i++)
			seen[i] = hashes[i] != 0 && !BloomSeenAdd(&scan->table, hashes[i]);
	}
	for (int i = 0; i < n; i++)
	{
		scan->rows[i]->tts_values[scan->flag] = BoolGetDatum(seen[i]);
		scan->rows[i]->tts_isnull[scan->flag] = false;
	}
	scan->nrows = n;
	scan->next = 0;
	return n > 0;
}

static TupleTableSlot *
NextRow(CustomScanState *css)
{
	SeenScan   *scan = (SeenScan *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	/* the caller is done with the last row */
	if (scan->next > 0 && scan->needs_copies)
		ExecClearTuple(scan->copies[scan->next - 1]);
	if (scan->next == scan->nrows && !ReadBatch(scan))
		return NULL;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = scan->rows[scan->next++];
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static bool
AllByValue(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attbyval)
			return false;
	}
	return true;
}

/* May the user call this function?  As WindowAgg asks. */
static void
CheckExecute(Oid function)
{
	AclResult	result = object_aclcheck(ProcedureRelationId, function,
										 GetUserId(), ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

static void
BeginScan(CustomScanState *css, EState *estate, int eflags)
{
	SeenScan   *scan = (SeenScan *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *args = plan->custom_exprs;
	Expr	   *key = linitial(args);
	List	   *oids = linitial(plan->custom_private);

	CheckExecute(linitial_oid(oids));
	outerPlanState(css) = ExecInitNode(linitial(plan->custom_plans), estate, eflags);

	scan->flag = ExecGetResultType(outerPlanState(css))->natts;
	scan->needs_copies = !AllByValue(ExecGetResultType(outerPlanState(css)));
	scan->key = ExecInitExpr(key, &css->ss.ps);
	scan->key_type = exprType((Node *) key);
	scan->collation = lsecond_oid(oids);
	scan->expected = (uint64) intVal(lsecond(plan->custom_private));
	if (list_length(args) == 3)
	{
		scan->capacity = ExecInitExpr(lsecond(args), &css->ss.ps);
		scan->fp_prob = ExecInitExpr(lthird(args), &css->ss.ps);
	}
	scan->table_context = AllocSetContextCreate(CurrentMemoryContext,
												"bloom_seen keys",
												ALLOCSET_DEFAULT_SIZES);
	scan->rows_context = AllocSetContextCreate(CurrentMemoryContext,
											   "bloom_seen rows",
											   ALLOCSET_DEFAULT_SIZES);

	/*
	 * Copies of rows in buffers pin these: no more than a session's share.
	 * Those of temporary tables are the session's own, but many cursors may
	 * be open in it.
	 */
	scan->max_rows = MAX_SCAN_BATCH;
	if (scan->needs_copies &&
		ExecGetResultSlotOps(outerPlanState(css), NULL) == &TTSOpsBufferHeapTuple)
	{
		int			share = Min(NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS),
								num_temp_buffers / CURSORS);

		scan->max_rows = Max(1, Min(MAX_SCAN_BATCH, share));
	}
}

/* What the present table takes */
static Size
TableMemory(const SeenScan *scan)
{
	return MemoryContextMemAllocated(scan->table_context, true);
}

static void
RescanScan(CustomScanState *css)
{
	SeenScan   *scan = (SeenScan *) css;

	scan->nkeys += scan->table.nkeys;
	scan->memory = Max(scan->memory, TableMemory(scan));
	MemoryContextReset(scan->table_context);
	memset(&scan->table, 0, sizeof(BloomSeenTable));
	memset(&scan->view, 0, sizeof(BloomSeenView));
	scan->has_begun = false;

	for (int i = 0; i < scan->nrows && scan->needs_copies; i++)
		ExecClearTuple(scan->copies[i]);
	scan->nrows = 0;
	scan->next = 0;
	scan->is_past_end = false;

	/* otherwise it begins anew by itself */
	if (outerPlanState(css)->chgParam == NULL)
		ExecReScan(outerPlanState(css));
}

/* ----------------------------------------------------------------
 *							IN PARALLEL
 *
 * The leader calls the first three, before it has begun workers, and before it
 * begins them again for a rescan.  If it could begin none, nothing is shared.
 * ----------------------------------------------------------------
 */

static Size
EstimateShared(CustomScanState *css, ParallelContext *context)
{
	(void) css;
	(void) context;
	return sizeof(SharedScan);
}

/* What can be wrong with the call is an error here, and not in a worker. */
static void
BeginShared(SeenScan *scan, const ParallelContext *context)
{
	SharedScan *shared = scan->shared;
	BloomShape	shape;

	InitScanHasher(scan);
	if (scan->capacity != NULL)
		shape = GetShape(scan);
	memset(shared, 0, sizeof(SharedScan));
	pg_atomic_init_u32(&shared->ncame, 0);
	pg_atomic_init_u32(&shared->nleft, 0);
	shared->has_table = BloomSeenShare(&shared->table, scan->area, &scan->tables,
									   scan->capacity != NULL ? &shape : NULL,
									   scan->expected, SharedLimit(context->nworkers + 1));
}

static void
InitializeShared(CustomScanState *css, ParallelContext *context, void *coordinate)
{
	SeenScan   *scan = (SeenScan *) css;

	scan->area = css->ss.ps.state->es_query_dsa;
	if (scan->area == NULL)
		return;
	scan->shared = coordinate;
	scan->workers = context;
	BeginShared(scan, context);
}

/* The leader: keep what EXPLAIN prints, and warn of too many keys. */
static void
CollectShared(SeenScan *scan)
{
	SharedScan *shared = scan->shared;
	uint64		nkeys = shared->nkeys;
	Size		memory = shared->memory;

	if (shared->has_table)
	{
		nkeys = pg_atomic_read_u64(&shared->table.nkeys);
		memory = BloomSeenSharedMemory(&shared->table);
	}
	scan->nshared++;
	scan->nkeys += nkeys;
	scan->memory = Max(scan->memory, memory);
	if (shared->table.capacity > 0 && nkeys > shared->table.capacity)
		BloomSeenWarnOverfull(&scan->tables, shared->table.capacity,
							  shared->table.fp_prob);
}

static void
ReInitializeShared(CustomScanState *css, ParallelContext *context, void *coordinate)
{
	SeenScan   *scan = (SeenScan *) css;

	(void) coordinate;
	if (scan->shared == NULL)
		return;
	CollectShared(scan);
	BloomSeenUnshare(&scan->shared->table, scan->area);
	BeginShared(scan, context);
}

static void
InitializeWorker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	SeenScan   *scan = (SeenScan *) css;

	(void) toc;
	scan->area = css->ss.ps.state->es_query_dsa;
	scan->shared = coordinate;
	/* the leader warns */
	scan->tables.warned = true;
}

/*
 * The shared memory goes: in a worker at its end, in the leader before Gather
 * waits for those.  If all rows were read, that has no more to wait for.  But
 * under LIMIT they may be at work, and what is in the table is that of a moment.
 */
static void
ShutdownShared(CustomScanState *css)
{
	SeenScan   *scan = (SeenScan *) css;

	if (scan->shared == NULL)
		return;
	if (!IsParallelWorker())
	{
		scan->was_cut |= pg_atomic_read_u32(&scan->shared->nleft) <
			(uint32) scan->workers->nworkers_launched;
		CollectShared(scan);
	}
	else
	{
		if (scan->table.context != NULL)
		{
			scan->shared->nkeys = scan->table.nkeys;
			scan->shared->memory = TableMemory(scan);
		}
		pg_atomic_fetch_add_u32(&scan->shared->nleft, 1);
	}
	scan->shared = NULL;
	memset(&scan->view, 0, sizeof(BloomSeenView));
	/* nobody should ask for more, before a rescan */
	scan->next = scan->nrows;
	scan->is_past_end = true;
}

/* ----------------------------------------------------------------
 *								END
 * ----------------------------------------------------------------
 */

static void
EndScan(CustomScanState *css)
{
	SeenScan   *scan = (SeenScan *) css;

	ShutdownShared(css);
	for (int i = 0; i < MAX_SCAN_BATCH; i++)
	{
		if (scan->rows[i] != NULL)
			ExecDropSingleTupleTableSlot(scan->rows[i]);
		if (scan->copies[i] != NULL)
			ExecDropSingleTupleTableSlot(scan->copies[i]);
	}
	ExecEndNode(outerPlanState(css));
}

static void
ExplainScan(CustomScanState *css, List *ancestors, ExplainState *es)
{
	static const char *const labels[] = {"Key", "Capacity", "False-Positive Rate"};
	SeenScan   *scan = (SeenScan *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan,
												   ancestors);
	bool		useprefix = list_length(es->rtable) > 1 || es->verbose;
	ListCell   *lc;

	foreach(lc, plan->custom_exprs)
		ExplainPropertyText(labels[foreach_current_index(lc)],
							deparse_expression(lfirst(lc), context, useprefix, false),
							es);
	if (es->analyze && css->ss.ps.instrument != NULL &&
		css->ss.ps.instrument->nloops > 0 && !scan->was_cut)
	{
		Size		memory = Max(scan->memory, TableMemory(scan));
		double		nloops = css->ss.ps.instrument->nloops;

		/* loops of all processes together are one of a shared table */
		if (scan->nshared > 0)
			nloops = scan->nshared;

		/* the mean of the loops, as of rows; of the loop that took most */
		ExplainPropertyFloat("Distinct Keys", NULL,
							 (scan->nkeys + scan->table.nkeys) / nloops, 0, es);
		ExplainPropertyInteger("Memory Usage", "kB",
							   (int64) ((memory + 1023) / 1024), es);
	}
}

/* ----------------------------------------------------------------
 *							METHODS
 * ----------------------------------------------------------------
 */

static const CustomExecMethods exec_methods = {
	.CustomName = NODE_NAME,
	.BeginCustomScan = BeginScan,
	.ExecCustomScan = NextRow,
	.EndCustomScan = EndScan,
	.ReScanCustomScan = RescanScan,
	.EstimateDSMCustomScan = EstimateShared,
	.InitializeDSMCustomScan = InitializeShared,
	.ReInitializeDSMCustomScan = ReInitializeShared,
	.InitializeWorkerCustomScan = InitializeWorker,
	.ShutdownCustomScan = ShutdownShared,
	.ExplainCustomScan = ExplainScan
};

static Node *
MakeScanState(CustomScan *plan)
{
	SeenScan   *scan = palloc0(sizeof(SeenScan));

	(void) plan;
	NodeSetTag(scan, T_CustomScanState);
	scan->css.methods = &exec_methods;
	return (Node *) scan;
}

static const CustomScanMethods scan_methods = {
	.CustomName = NODE_NAME,
	.CreateCustomScanState = MakeScanState
};

static const CustomPathMethods path_methods = {
	.CustomName = NODE_NAME,
	.PlanCustomPath = MakePlan
};

/*
 * _bloom_seen_support
 *		Planner support function of bloom_seen.
 *
 * The frame makes no difference, so the planner may take the cheapest.  It does
 * only if all functions of the window agree: so this is the frame for which
 * row_number(), rank() and others ask.
 *
 * It is asked for the cost of each window, before the hook is called for its
 * paths.  So a session has the hook from its first query with bloom_seen on.
 */
PG_FUNCTION_INFO_V1(_bloom_seen_support);
Datum
_bloom_seen_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!has_hook)
	{
		has_hook = true;
		previous_hook = create_upper_paths_hook;
		create_upper_paths_hook = ReplacePaths;
	}
	if (IsA(request, SupportRequestOptimizeWindowClause))
	{
		((SupportRequestOptimizeWindowClause *) request)->frameOptions =
			FRAMEOPTION_NONDEFAULT | FRAMEOPTION_ROWS |
			FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_CURRENT_ROW;
		PG_RETURN_POINTER(request);
	}
	PG_RETURN_POINTER(NULL);
}

/*
 * BloomSeenScanInit
 *		The library is loaded: plans of other processes can have the node.
 */
void
BloomSeenScanInit(void)
{
	DefineCustomBoolVariable("bloomtype.enable_seen_scan",
							 "Enables the planner's use of a plan node for bloom_seen in place of WindowAgg.",
							 NULL, &enable_seen_scan, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	MarkGUCPrefixReserved("bloomtype");
	RegisterCustomScanMethods(&scan_methods);
}
