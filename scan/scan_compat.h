/*-------------------------------------------------------------------------
 *
 * scan_compat.h
 *		What differs between the supported servers, for joins that filter.
 *
 * This library reads structs of the executor that are no interface: those of
 * hash tables, of their chunks and skew buckets, and of plan states.  It was
 * written after reading them in PostgreSQL 15 to 19, and is built for no
 * other.  A library loads only into a server of the major version that it was
 * built for: the server sees to that.  Phases of barriers, which have been
 * renumbered in a minor release, are not read.
 *
 *		16		RIGHT ANTI joins; clauses of outer joins know of them
 *		18		RIGHT SEMI joins; a table no longer has hash functions: they
 *				are compiled into an expression (we ask the catalog, always)
 *		19		tuples with null keys are not in the table, nor counted in
 *				totalTuples; a node's instrumentation has a type of its own;
 *				scans are told whether their table is changed; the planner is
 *				told of EXPLAIN; paths of partitions come in a struct; some
 *				relations are aggregated before they are joined
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_COMPAT_H
#define BLOOM_SCAN_COMPAT_H

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "bloomtype_scan reads private structs of the executor, and knows those of PostgreSQL 15 to 19 alone."
#endif

/* the server that this was built for: tests say another one */
#ifndef BUILT_FOR
#define BUILT_FOR		PG_VERSION_NUM
#endif

#include "executor/instrument.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#else
#include "commands/explain.h"
#endif

/* PostgreSQL 16 declares what it calls in a library */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

#if PG_VERSION_NUM >= 190000
#define BloomScanInstrument(options) InstrAllocNode(options, false)
#else
#define BloomScanInstrument(options) InstrAlloc(1, options, false)
typedef Instrumentation NodeInstrumentation;
#endif

/* What SeqNext does, if there is no scan yet */
#if PG_VERSION_NUM >= 190000
#define BloomScanBegin(node) \
	table_beginscan((node)->ss_currentRelation, (node)->ps.state->es_snapshot, \
					0, NULL, ScanRelIsReadOnly(node) ? SO_HINT_REL_READ_ONLY : SO_NONE)
#else
#define BloomScanBegin(node) \
	table_beginscan((node)->ss_currentRelation, (node)->ps.state->es_snapshot, \
					0, NULL)
#endif

/* standard_planner and its hook are told of EXPLAIN */
#if PG_VERSION_NUM >= 190000
#define SCAN_PLANNER_PARAMETERS \
	Query *parse, const char *text, int options, ParamListInfo params, \
	ExplainState *es
#define SCAN_PLANNER_ARGUMENTS parse, text, options, params, es
#else
#define SCAN_PLANNER_PARAMETERS \
	Query *parse, const char *text, int options, ParamListInfo params
#define SCAN_PLANNER_ARGUMENTS parse, text, options, params
#endif

/* Equivalence classes know of outer joins */
#if PG_VERSION_NUM >= 160000
#define BloomScanEqualities(root, both, outer_relids, inner) \
	generate_join_implied_equalities(root, both, outer_relids, inner, NULL)
#else
#define BloomScanEqualities(root, both, outer_relids, inner) \
	generate_join_implied_equalities(root, both, outer_relids, inner)
#endif

/* Joins of rows that have been aggregated, so that there are fewer */
#if PG_VERSION_NUM >= 190000
#define BloomScanIsGrouped(rel) IS_GROUPED_REL(rel)
#else
#define BloomScanIsGrouped(rel) false
#endif

/* The path of a table with partitions; with workers, all of these are partial */
#if PG_VERSION_NUM >= 190000
#define BloomScanAppend(root, rel, paths, workers) \
	((Path *) create_append_path(root, rel, \
								 (AppendPathInput) {.subpaths = (workers) > 0 ? NIL : (paths), \
													.partial_subpaths = (workers) > 0 ? (paths) : NIL}, \
								 NIL, NULL, workers, (workers) > 0 && enable_parallel_append, -1))
#else
#define BloomScanAppend(root, rel, paths, workers) \
	((Path *) create_append_path(root, rel, (workers) > 0 ? NIL : (paths), \
								 (workers) > 0 ? (paths) : NIL, NIL, NULL, \
								 workers, (workers) > 0 && enable_parallel_append, -1))
#endif

/*
 * Does a hash join of this type drop every row of its outer side that has no
 * partner?  LEFT, FULL and ANTI joins return it.
 */
static inline bool
BloomScanDropsUnmatched(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
		case JOIN_RIGHT:
#if PG_VERSION_NUM >= 160000
		case JOIN_RIGHT_ANTI:
#endif
#if PG_VERSION_NUM >= 180000
		case JOIN_RIGHT_SEMI:
#endif
			return true;
		default:
			return false;
	}
}

#endif							/* BLOOM_SCAN_COMPAT_H */
