/*-------------------------------------------------------------------------
 *
 * seen/seen_compat.h
 *		What differs between the supported servers for what only functions,
 *		aggregates and the planner's hooks use: the planner, ANALYZE, EXPLAIN.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SEEN_COMPAT_H
#define BLOOM_SEEN_COMPAT_H

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"

/*
 * Before PostgreSQL 16, the mutator of trees is declared without parameters,
 * which since C23 means that it takes none.
 */
#if PG_VERSION_NUM < 160000
#define expression_tree_mutator(node, mutator, context) \
	expression_tree_mutator(node, (Node *(*) ()) (mutator), context)
#endif

/* PostgreSQL 16 asks the functions of a window which frame they would take */
#if PG_VERSION_NUM < 160000
#define T_SupportRequestOptimizeWindowClause	T_Invalid
typedef struct SupportRequestOptimizeWindowClause
{
	int			frameOptions;
} SupportRequestOptimizeWindowClause;
#endif

/* PostgreSQL 19 has IGNORE NULLS, which a window function can refuse */
#if PG_VERSION_NUM < 190000
#define WinCheckAndInitializeNullTreatment(window, allowed, fcinfo) \
	((void) (window))
#endif

/* RESPECT NULLS or IGNORE NULLS, of PostgreSQL 19 */
#if PG_VERSION_NUM >= 190000
#define BloomNullTreatment(call)		((call)->ignore_nulls != 0)
#else
#define BloomNullTreatment(call)		((void) (call), false)
#endif

/* The run conditions of a WindowAgg became its path's with PostgreSQL 17 */
#if PG_VERSION_NUM >= 170000
#define BloomWindowFilters(path) \
	((path)->qual != NIL || (path)->runCondition != NIL)
#else
#define BloomWindowFilters(path) \
	((path)->qual != NIL || (path)->winclause->runCondition != NIL)
#endif

/* What EXPLAIN prints moved to a header of its own with PostgreSQL 18 */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#else
#include "commands/explain.h"
#endif

#endif							/* BLOOM_SEEN_COMPAT_H */
