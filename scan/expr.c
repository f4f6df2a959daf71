/*-------------------------------------------------------------------------
 *
 * expr.c
 *		Expressions of plans: what they are, who notices them, what they cost.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "scan/expr.h"

/* prices, as those of price.h: of one of the server's simple functions, */
#define SIMPLE_FUNCTION		8
/* of one that walks a text, and of one of somebody else, which may do anything */
#define TEXT_FUNCTION		200
#define FOREIGN_FUNCTION	200

/*
 * BloomScanIsQuiet
 *		Does nobody notice how often the expression is evaluated?  (rule 3)
 *
 * A subplan may have volatile functions, which contain_volatile_functions does
 * not look for.
 */
bool
BloomScanIsQuiet(void *expr)
{
	return !contain_volatile_functions(expr) && !contain_subplans(expr);
}

/* The same for a target list, which is nearly always one of columns. */
static bool
TargetListIsQuiet(List *targetlist)
{
	ListCell   *lc;

	foreach(lc, targetlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(expr, Var) && !BloomScanIsQuiet(expr))
			return false;
	}
	return true;
}

/*
 * BloomScanNodeIsQuiet
 *		Does nobody notice for how many rows the conditions and the target
 *		list of this node are evaluated?
 */
bool
BloomScanNodeIsQuiet(PlanState *ps)
{
	Plan	   *plan = ps->plan;

	if (!TargetListIsQuiet(plan->targetlist) || !BloomScanIsQuiet(plan->qual))
		return false;
	switch (nodeTag(plan))
	{
		case T_NestLoop:
			return BloomScanIsQuiet(((Join *) plan)->joinqual);
		case T_MergeJoin:
			return BloomScanIsQuiet(((Join *) plan)->joinqual) &&
				BloomScanIsQuiet(((MergeJoin *) plan)->mergeclauses);
		case T_HashJoin:
			return BloomScanIsQuiet(((Join *) plan)->joinqual) &&
				BloomScanIsQuiet(((HashJoin *) plan)->hashclauses);
		default:
			return true;
	}
}

/* Does this function of the server walk over a text, whatever its procost says? */
static bool
WalksText(Oid function)
{
	switch (function)
	{
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
		case F_TEXTICLIKE:
		case F_TEXTICNLIKE:
		case F_BPCHARLIKE:
		case F_BPCHARNLIKE:
		case F_TEXTREGEXEQ:
		case F_TEXTREGEXNE:
		case F_TEXTICREGEXEQ:
		case F_TEXTICREGEXNE:
			return true;
		default:
			return false;
	}
}

/*
 * BloomScanFunctionPrice
 *		What a call costs, as far as the catalog knows it.
 */
double
BloomScanFunctionPrice(Oid function)
{
	HeapTuple	tuple;
	double		price = SIMPLE_FUNCTION;

	if (WalksText(function))
		return TEXT_FUNCTION;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (HeapTupleIsValid(tuple))
	{
		price *= ((Form_pg_proc) GETSTRUCT(tuple))->procost;
		ReleaseSysCache(tuple);
	}
	return function >= FirstNormalObjectId ? Max(price, FOREIGN_FUNCTION) : price;
}

static bool
AddFunction(Oid function, void *context)
{
	*(double *) context += BloomScanFunctionPrice(function);
	return false;
}

static bool
AddPrice(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_functions_in_node(node, AddFunction, context);
	return expression_tree_walker(node, AddPrice, context);
}

/*
 * BloomScanConditionPrice
 *		What it costs to ask a condition about a row.
 */
double
BloomScanConditionPrice(List *condition)
{
	double		price = 0;

	AddPrice((Node *) condition, &price);
	return price;
}
