/*-------------------------------------------------------------------------
 *
 * seen/window.c
 *		bloom_seen: was this key in an earlier row of the partition?
 *
 * - Rows are looked at in batches, and only once, in the order of the window.
 *	 A batch adds its keys to the table of the partition, and notes which
 *	 were there (seen/table.c).
 * - At the end of a batch the executor learns that its rows are done, and
 *	 forgets them: nothing is spilled, however long the partition, unless rows
 *	 take more than a 64th of work_mem.
 * - The table lives in the partition's memory, which the executor frees
 *	 at the partition's end.
 *
 * Most of the time of a large table is that of its cache misses.  In a batch,
 * they overlap.  The first batches of a partition are small, so that a query
 * with a LIMIT does not read far ahead.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "filter/call.h"
#include "seen/seen_compat.h"
#include "seen/table.h"
#include "key/hash.h"

/* Most rows of a batch, one for each bit of a word */
#define MAX_BATCH			32

/* What a call has, for all partitions */
typedef struct SeenCall
{
	BloomHasher hasher;
	BloomSeenTables tables;		/* of the partitions */
	int			max_batch;
} SeenCall;

/* What it has for a partition; the table is first (see BeginPartition) */
typedef struct SeenPartition
{
	BloomSeenTable table;
	int64		start;			/* row of the partition that begins the batch */
	int			nrows;			/* of the batch */
	uint32		seen;			/* a bit for each of them */
} SeenPartition;

static SeenCall *
GetCall(FunctionCallInfo fcinfo)
{
	SeenCall   *call = fcinfo->flinfo->fn_extra;

	if (unlikely(call == NULL))
	{
		WinCheckAndInitializeNullTreatment(PG_WINDOW_OBJECT(), false, fcinfo);
		call = BloomMakeCallSite(fcinfo, 0, false, sizeof(SeenCall));
		call->hasher.one_type = true;

		/* the executor keeps two batches; a stored row takes at most a page */
		call->max_batch = Max(1, Min(MAX_BATCH, work_mem / (2 * BLCKSZ / 1024)));
	}
	return call;
}

/* A number that is looked at on the first row of a partition. */
static float8
GetParameter(WindowObject window, int argno, const char *name)
{
	bool		isnull;
	Datum		value = WinGetFuncArgCurrent(window, argno, &isnull);

	BloomCheckNotNull(isnull, name);
	return DatumGetFloat8(value);
}

static void
BeginPartition(FunctionCallInfo fcinfo, SeenCall *call, BloomSeenTable *table)
{
	WindowObject window = PG_WINDOW_OBJECT();
	MemoryContext context = GetMemoryChunkContext(table);

	if (PG_NARGS() == 1)
		BloomSeenInit(table, &call->tables, context, NULL, 0);
	else
	{
		float8		capacity = GetParameter(window, 1, "capacity");
		float8		fp_prob = GetParameter(window, 2, "fp_prob");
		BloomShape	shape = BloomShapeForCapacity(capacity, fp_prob, 0);

		BloomSeenInit(table, &call->tables, context, &shape, 0);
	}
}

/* Look at the current row and the next ones. */
static void
NextBatch(WindowObject window, SeenCall *call, SeenPartition *partition)
{
	uint64		hashes[MAX_BATCH];
	int			most = Min(partition->nrows * 2 + 1, call->max_batch);
	int			n = 0;

	partition->start = WinGetCurrentPosition(window);
	WinSetMarkPosition(window, partition->start);
	while (n < most)
	{
		bool		isnull;
		bool		is_past_end;
		Datum		key = WinGetFuncArgInPartition(window, 0,
												   n, WINDOW_SEEK_CURRENT,
												   false, &isnull,
												   &is_past_end);

		if (is_past_end)
			break;
		/* zero is no hash */
		hashes[n] = isnull ? 0 :
			BloomHashDatum(&call->hasher, key, partition->table.seed);
		n++;

		/* keys that were computed stay in memory until the end of the batch */
		if (MemoryContextMemAllocated(CurrentMemoryContext, false) >
			work_mem * (Size) 1024)
			break;
	}
	for (int i = 0; i < n; i++)
		BloomSeenTouch(&partition->table, hashes[i]);

	partition->nrows = n;
	partition->seen = 0;
	for (int i = 0; i < n; i++)
	{
		if (hashes[i] != 0 &&
			!BloomSeenAdd(&partition->table, hashes[i]))
			partition->seen |= (uint32) 1 << i;
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
	SeenPartition *partition;
	int64		row = WinGetCurrentPosition(window);

	StaticAssertStmt(offsetof(SeenPartition, table) == 0,
					 "the table's address must be that of its memory chunk");
	partition = WinGetPartitionLocalMemory(window, sizeof(SeenPartition));
	if (row >= partition->start + partition->nrows)
	{
		SeenCall   *call = GetCall(fcinfo);

		if (partition->table.context == NULL)
			BeginPartition(fcinfo, call, &partition->table);
		NextBatch(window, call, partition);
	}
	PG_RETURN_BOOL((partition->seen >> (row - partition->start)) & 1);
}
