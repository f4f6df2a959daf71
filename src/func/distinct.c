/*-------------------------------------------------------------------------
 *
 * func/distinct.c
 *		bloom_distinct: one row for each distinct key.
 *
 * A set-returning function in the SELECT list: it returns the key if it is new,
 * and no row if it is a repeat.  The server evaluates it in a ProjectSet node,
 * above WHERE, GROUP BY and window functions of its query, and above the sort,
 * unless ORDER BY names its result.
 *
 * Invariants
 * ----------
 *
 * - One query that contains a call has one ProjectSet node for it, and so one
 *	 dedup table.  A rescan of the node begins with an empty one.
 * - Nothing outside of the query takes rows away below that node.
 * - The result does not decide which row of a key comes first.
 *
 * The planner's support function is asked about each call while its query is
 * planned.  It allows what is known to keep these (CheckQuery), and raises an
 * error elsewhere.
 *
 * What would break them
 * ---------------------
 *
 * - The SELECT list over a partitioned table is evaluated for each partition,
 *	 unless the query groups, or sorts by another column: then the list is
 *	 evaluated above that (grouping_planner, make_sort_input_target).
 * - Conditions of an outer query on its subquery's columns are pushed into the
 *	 subquery, but never those on a column that returns a set, nor past LIMIT
 *	 and OFFSET (subquery_is_pushdown_safe).  From the query of a set operation
 *	 they go on into its arms.  Queries in WITH and in expressions get none:
 *	 they are planned before the outer query's tables are looked at.
 * - Since PostgreSQL 17, an arm of UNION, INTERSECT or EXCEPT is planned so that
 *	 the server can sort its rows by all columns.  Set-returning functions are
 *	 then evaluated below the arm's own ORDER BY (generate_setop_child_grouplist).
 * - Sorted by its own result and another column, a query would have to choose
 *	 the rows before it sorts them.  DISTINCT and GROUP BY alike.
 * - Set-returning functions in one list run in lockstep, and a row of the other
 *	 would bring a repeat back with a null.  One in the key runs below.
 * - Without a table, the query runs anew for each row of something else.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "filter/call.h"
#include "func/dedup.h"
#include "key/hash.h"

/* The name of a session that Citus opens to another node begins so */
#define CITUS_APPLICATION_NAME	"citus_internal"

typedef struct DistinctCall
{
	BloomHasher hasher;
	MemoryContext context;		/* of the dedup table */
	BloomDedup	dedup;
	BloomDedupCall tables;
} DistinctCall;

static void
Refuse(const char *place, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("bloom_distinct cannot be used %s", place),
			 errdetail("%s", reason),
			 errhint("Use bloom_seen: SELECT ... FROM (SELECT *, bloom_seen(key) OVER () AS seen FROM ...) AS s WHERE NOT seen.")));
}

static void
RefuseAsKey(void)
{
	Refuse("with DISTINCT, or as a key of GROUP BY, PARTITION BY or an ORDER BY of several columns",
		   "Which row of each key comes first would depend on the plan.");
}

/* ----------------------------------------------------------------
 *							PLANNING
 * ----------------------------------------------------------------
 */

/* How to find calls of bloom_distinct: they have this support function */
typedef struct CallSearch
{
	Oid			support;
	bool		in_subqueries;
} CallSearch;

static bool
IsCall(Node *node, Oid support)
{
	return node != NULL && IsA(node, FuncExpr) &&
		((FuncExpr *) node)->funcretset &&
		get_func_support(((FuncExpr *) node)->funcid) == support;
}

static bool
HasCall(Node *node, void *context)
{
	CallSearch *search = context;

	if (node == NULL)
		return false;
	if (IsCall(node, search->support))
		return true;
	if (IsA(node, Query))
		return search->in_subqueries &&
			query_tree_walker((Query *) node, HasCall, context, 0);
	return expression_tree_walker(node, HasCall, context);
}

/* Is there anything in FROM but a constant row? */
static bool
HasTable(Node *node, void *context)
{
	Query	   *query = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblRef))
		return rt_fetch(((RangeTblRef *) node)->rtindex,
						query->rtable)->rtekind != RTE_RESULT;
	return expression_tree_walker(node, HasTable, context);
}

static bool
IsRecursive(const PlannerInfo *root)
{
	while (root != NULL && !root->hasRecursion)
		root = root->parent_root;
	return root != NULL;
}

/* The column of a query's list that is a call, and all of it */
static TargetEntry *
CheckList(Query *query, Oid support)
{
	CallSearch	search = {support, false};
	TargetEntry *result = NULL;
	TargetEntry *other = NULL;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (HasCall((Node *) rte->functions, &search))
			Refuse("in FROM", "There, it would be called anew for each row, or only once.");
		if (HasCall((Node *) BloomGroupKeys(rte), &search))
			RefuseAsKey();
	}
	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst(lc);

		if (!expression_returns_set((Node *) tle->expr))
			continue;
		if (result == NULL && !tle->resjunk &&
			IsCall((Node *) tle->expr, support))
			result = tle;
		else
			other = tle;
	}
	if (other != NULL && result != NULL)
		Refuse("beside another set-returning function",
			   "Both would run in lockstep, and bring repeats back.");
	if (result == NULL ||
		HasCall((Node *) ((FuncExpr *) result->expr)->args, &search))
		Refuse("within an expression",
			   "It has to be a column of the SELECT list by itself.");
	return result;
}

/* Does the order of the query's rows depend on this column, with others? */
static bool
IsKeyBesideOthers(Query *query, TargetEntry *tle)
{
	Index		ref = tle->ressortgroupref;
	ListCell   *lc;

	if (query->distinctClause != NIL)
		return true;
	if (ref == 0)
		return false;
	foreach(lc, query->windowClause)
	{
		WindowClause *window = lfirst(lc);

		if (get_sortgroupref_clause_noerr(ref, window->partitionClause) ||
			get_sortgroupref_clause_noerr(ref, window->orderClause))
			return true;
	}
	return get_sortgroupref_clause_noerr(ref, query->groupClause) ||
		list_length(query->sortClause) > 1;
}

/*
 * Is the SELECT list evaluated above a node that all rows of FROM go through?
 */
static bool
IsAboveAll(Query *query, TargetEntry *result)
{
	if (query->groupClause != NIL || query->groupingSets != NIL ||
		query->hasAggs)
		return true;
	return query->sortClause != NIL && result->ressortgroupref == 0;
}

/*
 * Does a query have a partitioned table or, if asked for subqueries, arms of
 * UNION ALL, which the planner has flattened?
 */
static bool
HasParts(Query *query, RTEKind kind)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == kind && rte->inh &&
			(kind == RTE_SUBQUERY || rte->relkind == RELKIND_PARTITIONED_TABLE))
			return true;
	}
	return false;
}

/* May a set operation sort the rows of its arms, to compare them? */
static bool
ComparesRows(Node *node)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;

	return node != NULL && IsA(node, SetOperationStmt) &&
		(operation->groupClauses != NIL || ComparesRows(operation->larg) ||
		 ComparesRows(operation->rarg));
}

/* A query, and the support function, to look at its conditions */
typedef struct Conditions
{
	PlannerInfo *root;
	Oid			support;
} Conditions;

/*
 * Does a call evaluate this column of a subquery, or none of them?
 *
 * The arms of UNION ALL are where the planner has put them: there, functions
 * of SQL have become subqueries, and subqueries are gone.
 */
static bool
IsResultOrOther(Conditions *conditions, Index relid, AttrNumber column)
{
	CallSearch	search = {conditions->support, true};
	RangeTblEntry *rte = rt_fetch(relid, conditions->root->parse->rtable);
	TargetEntry *tle;
	ListCell   *lc;

	if (rte->rtekind != RTE_SUBQUERY)
		return true;
	if (rte->inh)
	{
		foreach(lc, conditions->root->append_rel_list)
		{
			AppendRelInfo *arm = lfirst(lc);

			if (arm->parent_relid == relid &&
				!IsResultOrOther(conditions, arm->child_relid, InvalidAttrNumber))
				return false;
		}
		return true;
	}
	if (rte->subquery == NULL)
		return false;
	if (!HasCall((Node *) rte->subquery, &search))
		return true;
	tle = get_tle_by_resno(rte->subquery->targetList, column);
	return rte->subquery->setOperations == NULL && tle != NULL &&
		IsCall((Node *) tle->expr, conditions->support);
}

/*
 * Is there a condition on a column of a subquery with a call, that is not the
 * result of the call?
 */
static bool
MayBePushedDown(Node *node, void *context)
{
	Conditions *conditions = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup > 0 || IS_SPECIAL_VARNO(var->varno))
			return true;
		if (rt_fetch(var->varno, conditions->root->parse->rtable)->rtekind == RTE_JOIN)
			return true;
		return !IsResultOrOther(conditions, var->varno, var->varattno);
	}
	return expression_tree_walker(node, MayBePushedDown, context);
}

/*
 * An error, unless no condition from outside takes rows away.
 *
 * What was pushed into an outer query already is among its own conditions.
 */
static void
CheckOuterQueries(PlannerInfo *root, Oid support)
{
	for (PlannerInfo *outer; (outer = root->parent_root) != NULL; root = outer)
	{
		Conditions	conditions = {outer, support};

		/* nothing is pushed past these */
		if (root->parse->limitCount != NULL || root->parse->limitOffset != NULL)
			return;

		/* a query in WITH, or in an expression */
		if (outer->simple_rel_array == NULL)
			return;

		if (MayBePushedDown((Node *) outer->parse->jointree, &conditions))
			Refuse("below a condition on another column",
				   "The server would test the condition of the outer query before it leaves out repeats. WITH, or OFFSET 0 in the query of bloom_distinct, prevents that.");
		if (outer->parse->setOperations == NULL &&
			!HasParts(outer->parse, RTE_SUBQUERY))
			return;
	}
}

/*
 * An error, unless the call is where the invariants hold.
 */
static void
CheckQuery(PlannerInfo *root, Oid support)
{
	Query	   *query = root->parse;
	TargetEntry *result;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL)
		Refuse("here", "It works in the SELECT list of a query.");
	result = CheckList(query, support);
	if (!HasTable((Node *) query->jointree, query))
		Refuse("without a table", "It leaves out repeats among the rows of FROM.");
	if (IsRecursive(root))
		Refuse("in a recursive query",
			   "Such a query runs anew for the rows that it has found.");
	if (IsKeyBesideOthers(query, result))
		RefuseAsKey();
	if (query->sortClause != NIL && result->ressortgroupref == 0 &&
		root->parent_root != NULL &&
		root->parent_root->simple_rel_array != NULL &&
		ComparesRows(root->parent_root->parse->setOperations))
		Refuse("with ORDER BY in an arm of UNION, INTERSECT or EXCEPT",
			   "The server may sort the rows after it leaves out repeats. A subquery in FROM of the arm prevents that.");
	if (HasParts(query, RTE_RELATION) && !IsAboveAll(query, result))
		Refuse("on a partitioned table",
			   "The server would leave out the repeats of each partition. GROUP BY, ORDER BY on another column, or a subquery with OFFSET 0 in FROM prevents that.");
	CheckOuterQueries(root, support);
}

/*
 * _bloom_distinct_support
 *		Planner support function of bloom_distinct.
 */
PG_FUNCTION_INFO_V1(_bloom_distinct_support);
Datum
_bloom_distinct_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		PlannerInfo *root = ((SupportRequestSimplify *) request)->root;

		/* else it is an expression without a query */
		if (root != NULL)
			CheckQuery(root, fcinfo->flinfo->fn_oid);
	}
	PG_RETURN_POINTER(NULL);
}

/* ----------------------------------------------------------------
 *							RUNNING
 * ----------------------------------------------------------------
 */

/*
 * Empty the dedup table: the query begins anew, or ends.
 */
static void
Rewind(Datum arg)
{
	DistinctCall *call = (DistinctCall *) DatumGetPointer(arg);

	MemoryContextReset(call->context);
	memset(&call->dedup, 0, sizeof(BloomDedup));
}

static DistinctCall *
MakeCall(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	DistinctCall *call;

	/* where the planner was not asked; FROM prefers all rows at once */
	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		(rsinfo->allowedModes & SFRM_ValuePerCall) == 0 ||
		(rsinfo->allowedModes & SFRM_Materialize_Preferred) != 0)
		Refuse("here", "It works in the SELECT list of a query.");

	/* each of several nodes would have a dedup table of its own */
	if (application_name != NULL &&
		strncmp(application_name, CITUS_APPLICATION_NAME,
				strlen(CITUS_APPLICATION_NAME)) == 0)
		Refuse("on a distributed table",
			   "Each node would return the first row of a key.");

	call = BloomMakeCallSite(fcinfo, 0, false, sizeof(DistinctCall));
	call->hasher.one_type = true;
	call->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
										  "bloom_distinct",
										  ALLOCSET_DEFAULT_SIZES);
	return call;
}

/* The first row, also of a rescan. */
static void
Begin(FunctionCallInfo fcinfo, DistinctCall *call)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	BloomShape	shape;

	if (PG_NARGS() == 3)
	{
		BloomCheckNotNull(PG_ARGISNULL(1), "capacity");
		BloomCheckNotNull(PG_ARGISNULL(2), "fp_prob");
		shape = BloomShapeForCapacity(PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), 0);
	}
	BloomDedupInit(&call->dedup, &call->tables, call->context, PG_NARGS() == 3 ? &shape : NULL);
	RegisterExprContextCallback(rsinfo->econtext, Rewind,
								PointerGetDatum(call));
}

/*
 * bloom_distinct
 *		The key, if it is new; otherwise no row.
 *
 * Each null key is new.
 */
PG_FUNCTION_INFO_V1(bloom_distinct);
Datum
bloom_distinct(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	DistinctCall *call = fcinfo->flinfo->fn_extra;
	uint64		hash;

	if (unlikely(call == NULL))
		call = MakeCall(fcinfo);
	if (unlikely(call->dedup.context == NULL))
		Begin(fcinfo, call);

	rsinfo->isDone = ExprSingleResult;
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	hash = BloomHashDatum(&call->hasher, PG_GETARG_DATUM(0), 0);
	if (!BloomDedupAdd(&call->dedup, hash))
	{
		rsinfo->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
