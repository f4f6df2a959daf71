/*-------------------------------------------------------------------------
 *
 * func/window.c
 *		bloom_seen: was this key in an earlier row of the partition?
 *
 * One pass in the window's order, without a sort or a hash table of rows: each
 * row adds its key to the state of its partition, and is told whether it was
 * there (func/dedup.c).
 *
 * The state lives in the partition's memory, which the executor frees at the
 * partition's end.
 *
 * No row is looked at twice.  We tell the executor so at each row, and it
 * forgets the rows before: nothing is spilled, however long the partition.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "key/hash.h"
#include "func/dedup.h"

/* What a call has, for all partitions */
typedef struct SeenCall
{
	BloomHasher hasher;
	bool		warned;
} SeenCall;

static SeenCall *
GetCall(FunctionCallInfo fcinfo)
{
	SeenCall   *call = fcinfo->flinfo->fn_extra;

	if (unlikely(call == NULL))
	{
		call = BloomMakeCallSite(fcinfo, 0, false, sizeof(SeenCall));
		BloomInsistOnOneType(&call->hasher);
	}
	return call;
}

/* An argument that is looked at on the first row of a partition. */
static Datum
GetParameter(WindowObject window, int argno, const char *name)
{
	bool		isnull;
	Datum		value = WinGetFuncArgCurrent(window, argno, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
	return value;
}

static void
BeginPartition(FunctionCallInfo fcinfo, BloomDedup *dedup)
{
	WindowObject window = PG_WINDOW_OBJECT();
	MemoryContext context = GetMemoryChunkContext(dedup);

	if (PG_NARGS() == 1)
		BloomDedupInit(dedup, context);
	else
	{
		float8		capacity = DatumGetFloat8(GetParameter(window, 1, "capacity"));
		float8		fp_prob = DatumGetFloat8(GetParameter(window, 2, "fp_prob"));

		BloomDedupInitSized(dedup, context, capacity, fp_prob);
	}
}

/*
 * bloom_seen
 *		Was this key (possibly) in an earlier row of the partition?
 *
 * A null key was not.
 */
PG_FUNCTION_INFO_V1(bloom_seen);
Datum
bloom_seen(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	SeenCall   *call = GetCall(fcinfo);
	BloomDedup *dedup;
	bool		isnull;
	Datum		key;
	uint64		hash;

	dedup = WinGetPartitionLocalMemory(window, sizeof(BloomDedup));
	WinSetMarkPosition(window, WinGetCurrentPosition(window));

	if (unlikely(dedup->context == NULL))
		BeginPartition(fcinfo, dedup);

	key = WinGetFuncArgCurrent(window, 0, &isnull);
	if (isnull)
		PG_RETURN_BOOL(false);
	hash = BloomHashDatum(&call->hasher, key, 0);
	PG_RETURN_BOOL(!BloomDedupAdd(dedup, hash, &call->warned));
}
