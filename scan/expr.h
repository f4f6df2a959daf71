/*-------------------------------------------------------------------------
 *
 * expr.h
 *		Expressions of plans: what they are, who notices them, what they cost.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_EXPR_H
#define BLOOM_SCAN_EXPR_H

#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

extern bool BloomScanIsQuiet(void *expr);
extern bool BloomScanNodeIsQuiet(PlanState *ps);
extern double BloomScanFunctionPrice(Oid function);
extern double BloomScanConditionPrice(List *condition);

/*
 * BloomScanStripRelabel
 *		An expression without relabeling, which leaves the value as it is.
 */
static inline Node *
BloomScanStripRelabel(Node *expr)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr;
}

#endif							/* BLOOM_SCAN_EXPR_H */
