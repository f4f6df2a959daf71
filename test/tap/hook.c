/*-------------------------------------------------------------------------
 *
 * hook.c
 *		Whether a library has set the hook that bloom_seen needs.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "optimizer/planner.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT Datum hook_is_set(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(hook_is_set);

Datum
hook_is_set(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(create_upper_paths_hook != NULL);
}
