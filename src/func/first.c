/*-------------------------------------------------------------------------
 *
 * func/first.c
 *		bloom_first: is this the first row of the statement with this key?
 *
 * A volatile function in a WHERE, with a memory: the rows that it lets pass
 * are the first ones, in one scan, without a sort or a copy of any row.
 *
 * One call, one memory
 * --------------------
 *
 * What a call in the query's text remembers belongs neither to its fn_extra,
 * since a condition is copied into the scan of each partition and each copy
 * has its own, nor to the text, since that may run many times, and within
 * itself.  So the planner's support function replaces
 *
 *		bloom_first(key, ...)  by  _bloom_first(call, key, ...)
 *
 * where "call" is a number that no other call of the same plan has.  Copies of
 * the condition have the same number, and run in the same memory context; by
 * both they find their memory (filter/statement.c).  Another run of the plan has
 * another context.
 *
 * Where it may stand
 * ------------------
 *
 * Which rows a call sees must not be up to the planner.  It is the planner's
 * choice whether a condition on one side of a join is tested before or after
 * the join, and how often the inner side is scanned.  So the support function
 * looks at the query and refuses all but one FROM item, which can be a
 * partitioned table, a view, or a subquery of UNION ALL, and all that could
 * be scanned anew: references to an outer query, subqueries that are joined,
 * or compared with by ANY and ALL, and recursive ones.  What remains is
 * scanned once, and the only choice left is that of the order.
 *
 * A condition can be pushed down into a subquery, where _bloom_first is
 * simplified again, and the same is asked of the query there.
 *
 * Only a scrollable cursor can still go back.  When it is rewound, the memory
 * is emptied, and the same rows come again.  It cannot run backward.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "key/hash.h"
#include "filter/statement.h"
#include "func/dedup.h"
#include "compat.h"

/* The name of a session that Citus opens to another node begins so */
#define CITUS_APPLICATION_NAME	"citus_internal"

/* What all copies of a call share, while a statement runs */
typedef struct FirstMemory
{
	BloomShared shared;
	MemoryContext context;		/* of the keys */
	BloomTeller teller;
	bool		warned;
} FirstMemory;

/* What a copy of a call has */
typedef struct FirstCall
{
	BloomHasher hasher;
	FirstMemory *memory;
	EState	   *cursor;			/* of the cursor that runs it, or NULL */
	bool		is_watched;		/* will be told when that is rewound */
} FirstCall;

/* ----------------------------------------------------------------
 *							PLANNING
 * ----------------------------------------------------------------
 */

/* Arguments: key, or key, capacity, fp_prob; and the number before them */
#define IS_PLANNED_CALL(fcall)	(list_length((fcall)->args) % 2 == 0)

static void
Refuse(const char *place, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("bloom_first cannot be used %s", place),
			 errdetail("%s", reason),
			 errhint("Take the first rows beforehand: WITH f AS MATERIALIZED (SELECT * FROM t WHERE bloom_first(key)) SELECT ... FROM f ...")));
}

/* How many tables, subqueries, functions are there in a FROM clause? */
static int
CountFromItems(const Node *node)
{
	int			n = 0;

	if (node == NULL)
		return 0;
	if (IsA(node, JoinExpr))
		return CountFromItems(((const JoinExpr *) node)->larg) +
			CountFromItems(((const JoinExpr *) node)->rarg);
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((const FromExpr *) node)->fromlist)
			n += CountFromItems(lfirst(lc));
		return n;
	}
	return 1;
}

/* Is the query's FROM clause empty, or about to be, being a constant row? */
static bool
HasNoTable(const Query *query)
{
	const FromExpr *from = query->jointree;

	while (list_length(from->fromlist) == 1 &&
		   IsA(linitial(from->fromlist), FromExpr))
		from = linitial(from->fromlist);
	return from->fromlist == NIL ||
		(IsA(linitial(from->fromlist), RangeTblRef) &&
		 rt_fetch(linitial_node(RangeTblRef, from->fromlist)->rtindex,
				  query->rtable)->rtekind == RTE_RESULT);
}

/*
 * Does the query depend on one that it is within?
 *
 * References are variables of outer levels before they are planned, and after
 * that parameters, which the outer query notes.
 */
static bool
RefersToOuterQuery(PlannerInfo *root)
{
	PlannerInfo *outer = root->parent_root;

	for (int level = 1; outer != NULL; level++, outer = outer->parent_root)
	{
		if (outer->plan_params != NIL ||
			contain_vars_of_level((Node *) root->parse, level))
			return true;
	}
	return false;
}

static bool
IsRecursive(PlannerInfo *root)
{
	while (root != NULL && !root->hasRecursion)
		root = root->parent_root;
	return root != NULL;
}

/* Is there a subquery that is compared with, row by row? */
static bool
HasAnyOrAll(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink) &&
		(((SubLink *) node)->subLinkType == ANY_SUBLINK ||
		 ((SubLink *) node)->subLinkType == ALL_SUBLINK))
		return true;
	return expression_tree_walker(node, HasAnyOrAll, context);
}

/*
 * An error, unless each row of a query is looked at once, whatever the plan.
 */
static void
CheckQuery(PlannerInfo *root)
{
	const char *before_or_after = "Whether it would see a row before or after the join, and how often, is up to the planner, and so would be the result.";

	if (HasNoTable(root->parse))
		Refuse("without a table", "It tells which rows of a scan are the first of their key.");
	if (CountFromItems((Node *) root->parse->jointree) > 1)
		Refuse("in a join", before_or_after);

	if (IsRecursive(root))
		Refuse("in a recursive query",
			   "Such a query runs anew for the rows that it has found.");

	/* and from the queries in whose FROM clause this one is */
	for (;;)
	{
		PlannerInfo *parent = root->parent_root;

		if (RefersToOuterQuery(root))
			Refuse("in a subquery that refers to an outer query",
				   "Such a subquery runs anew for each row of the outer query.");
		if (parent == NULL)
			return;

		/* CTEs are planned first of all, one by one, and run once */
		if (list_length(parent->cte_plan_ids) <
			list_length(parent->parse->cteList))
			return;

		/* then, before there are relations, the subqueries of expressions */
		if (parent->simple_rel_array == NULL)
		{
			if (query_tree_walker(parent->parse, HasAnyOrAll, NULL, 0))
				Refuse("in a subquery beside IN, ANY or ALL",
					   "Such a subquery may run anew for each row of the outer query.");
			return;
		}

		if (CountFromItems((Node *) parent->parse->jointree) > 1)
			Refuse("in a subquery that is joined", before_or_after);
		root = parent;
	}
}

/*
 * The function _bloom_first that has the arguments of this bloom_first, and
 * the number before them.
 */
static Oid
PlannedFunction(Oid function)
{
	Oid			types[FUNC_MAX_ARGS] = {INT4OID};
	Oid		   *argtypes;
	int			nargs;
	Oid			planned;

	(void) get_func_signature(function, &argtypes, &nargs);
	memcpy(types + 1, argtypes, nargs * sizeof(Oid));
	planned = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
							  CStringGetDatum("_bloom_first"),
							  PointerGetDatum(buildoidvector(types, nargs + 1)),
							  ObjectIdGetDatum(get_func_namespace(function)));
	if (!OidIsValid(planned))
		elog(ERROR, "could not find function _bloom_first");
	return planned;
}

/*
 * Give a call its number.
 */
static Node *
PlanCall(PlannerInfo *root, FuncExpr *fcall)
{
	Const	   *number;

	/* an expression without a query */
	if (root == NULL)
		return NULL;
	CheckQuery(root);
	if (IS_PLANNED_CALL(fcall))
		return NULL;

	/* the executor will ask for the right to execute the other function */
	if (!BloomMayExecute(fcall->funcid, GetUserId()))
		return NULL;

	/* a number of an executor parameter is the planner's way to number */
	number = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
					   Int32GetDatum(assign_special_exec_param(root)),
					   false, true);
	return (Node *) makeFuncExpr(PlannedFunction(fcall->funcid), BOOLOID,
								 lcons(number, list_copy(fcall->args)),
								 fcall->funccollid, fcall->inputcollid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * Which fraction of the rows are the first with their key?
 */
static bool
EstimateCall(SupportRequestSelectivity *req)
{
	VariableStatData key;
	bool		isdefault;
	double		distinct;
	bool		is_known;

	if (req->is_join || list_length(req->args) % 2 != 0)
		return false;
	examine_variable(req->root, lsecond(req->args), req->varRelid, &key);
	distinct = get_variable_numdistinct(&key, &isdefault);
	is_known = !isdefault && key.rel != NULL && key.rel->tuples >= 1;
	if (is_known)
	{
		req->selectivity = distinct / key.rel->tuples;
		CLAMP_PROBABILITY(req->selectivity);
	}
	ReleaseVariableStats(key);
	return is_known;
}

/*
 * _bloom_first_support
 *		Planner support function of bloom_first and _bloom_first.
 */
PG_FUNCTION_INFO_V1(_bloom_first_support);
Datum
_bloom_first_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *req = (SupportRequestSimplify *) request;

		PG_RETURN_POINTER(PlanCall(req->root, req->fcall));
	}
	if (IsA(request, SupportRequestSelectivity) &&
		EstimateCall((SupportRequestSelectivity *) request))
		PG_RETURN_POINTER(request);
	PG_RETURN_POINTER(NULL);
}

/* ----------------------------------------------------------------
 *							RUNNING
 * ----------------------------------------------------------------
 */

/*
 * Empty the memory: the query begins anew.
 *
 * This comes also at its end.
 */
static void
Rewind(Datum arg)
{
	FirstCall  *call = (FirstCall *) DatumGetPointer(arg);

	if (call->memory->context != NULL)
		MemoryContextReset(call->memory->context);
	memset(&call->memory->teller, 0, sizeof(BloomTeller));
	call->is_watched = false;
}

/*
 * If the query is that of a cursor, see to it that we are told when that is
 * rewound.  The executor tells it to the expression context, whose memory is
 * the current one.
 */
static void
Watch(FunctionCallInfo fcinfo, FirstCall *call)
{
	QueryDesc  *query = ActivePortal == NULL ? NULL : ActivePortal->queryDesc;
	ListCell   *lc;

	call->is_watched = true;
	if (query == NULL || query->estate == NULL ||
		query->estate->es_query_cxt != fcinfo->flinfo->fn_mcxt)
		return;
	call->cursor = query->estate;
	foreach(lc, query->estate->es_exprcontexts)
	{
		ExprContext *econtext = lfirst(lc);

		if (econtext->ecxt_per_tuple_memory == CurrentMemoryContext)
			RegisterExprContextCallback(econtext, Rewind,
										PointerGetDatum(call));
	}
}

static FirstCall *
MakeCall(FunctionCallInfo fcinfo)
{
	FirstCall  *call;

	/* each of several nodes would have a memory of its own */
	if (application_name != NULL &&
		strncmp(application_name, CITUS_APPLICATION_NAME,
				strlen(CITUS_APPLICATION_NAME)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("bloom_first cannot be used on a distributed table"),
				 errdetail("Each node would let the first row of a key pass."),
				 errhint("Use bloom_agg, or SELECT DISTINCT.")));

	call = BloomMakeCallSite(fcinfo, 1, false, sizeof(FirstCall));
	BloomInsistOnOneType(&call->hasher);
	call->memory = BloomShare(fcinfo->flinfo->fn_mcxt,
							  PG_ARGISNULL(0) ? 0 : PG_GETARG_INT32(0),
							  sizeof(FirstMemory));
	return call;
}

/* Begin to remember. */
static void
BeginMemory(FunctionCallInfo fcinfo, FirstMemory *memory)
{
	if (memory->context == NULL)
		memory->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
												"bloom_first",
												ALLOCSET_DEFAULT_SIZES);
	if (PG_NARGS() == 2)
	{
		BloomTellerInit(&memory->teller, memory->context);
		return;
	}
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null",
						PG_ARGISNULL(2) ? "capacity" : "fp_prob")));
	BloomTellerInitSized(&memory->teller, memory->context,
						 PG_GETARG_FLOAT8(2),
						 PG_GETARG_FLOAT8(3));
}

/*
 * _bloom_first
 *		Is this the first row with this key, in the memory of this number?
 *
 * A null key is new in each row.
 */
PG_FUNCTION_INFO_V1(_bloom_first);
Datum
_bloom_first(PG_FUNCTION_ARGS)
{
	FirstCall  *call = fcinfo->flinfo->fn_extra;
	FirstMemory *memory;
	uint64		hash;

	if (unlikely(call == NULL))
		call = MakeCall(fcinfo);
	if (unlikely(!call->is_watched))
		Watch(fcinfo, call);
	if (unlikely(call->cursor != NULL &&
				 ScanDirectionIsBackward(call->cursor->es_direction)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("bloom_first cannot run backward"),
				 errhint("Declare the cursor NO SCROLL, or WITH HOLD and commit before scrolling.")));

	memory = call->memory;
	if (unlikely(memory->teller.context == NULL))
		BeginMemory(fcinfo, memory);
	if (PG_ARGISNULL(1))
		PG_RETURN_BOOL(true);
	hash = BloomHashDatum(&call->hasher, PG_GETARG_DATUM(1), 0);
	PG_RETURN_BOOL(BloomTell(&memory->teller, hash, &memory->warned));
}

/*
 * bloom_first
 *		Is this the first row of the statement with this key?
 *
 * It never runs: the planner has replaced it, where that is possible.
 */
PG_FUNCTION_INFO_V1(bloom_first);
Datum
bloom_first(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	Refuse("here", "It works in the WHERE of a query, but not in constraints, triggers' conditions, COPY or arguments of CALL and EXECUTE.");
	PG_RETURN_NULL();
}
