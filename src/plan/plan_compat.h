/*-------------------------------------------------------------------------
 *
 * plan/plan_compat.h
 *		What differs between the supported servers for what only functions,
 *		aggregates and the planner's hooks use: the planner, ANALYZE, EXPLAIN.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_PLAN_COMPAT_H
#define BLOOM_PLAN_COMPAT_H

#include "commands/vacuum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"

/* Outer joins are relations of a query since PostgreSQL 16 */
#if PG_VERSION_NUM < 160000
#define all_query_rels			all_baserels
#endif

/* PostgreSQL 18 tells VACUUM from ANALYZE */
#if PG_VERSION_NUM < 180000
#define vacuum_delay_point(is_analyze)	vacuum_delay_point()
#endif

#endif							/* BLOOM_PLAN_COMPAT_H */
