/*-------------------------------------------------------------------------
 *
 * set/maintain.c
 *		Compacting a stored set.
 *
 * Adds do the same for the buckets to which they write.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "set/maintain.h"

/*
 * Merge the lanes of a bucket in one slice, if that saves space.  The result is
 * the number of keys that have moved.
 *
 * A filter takes its room in the table as soon as it is there.
 */
static int
CompactBucket(StoredSetCall *call, int32 number, TimestampTz slice)
{
	const StoredSetParams *params = &call->table.set.params;
	StoredSetBucket bucket;
	int			nyoung;

	call->oldest = call->current = slice;
	StoredSetReadBucket(call, &bucket, StoredSetGeneration(params, number),
						number, NULL, 0);
	nyoung = bucket.nyoung;
	StoredSetMerge(call, &bucket, bucket.filter == STORED_SET_NO_FILTER ?
				   (int) (params->bits / 64) : 1);
	StoredSetWriteLanes(call, &bucket);
	return nyoung - bucket.nyoung;
}

/*
 * StoredSetCompact
 *		Delete the rows of old slices, and move the committed keys of lanes to
 *		the filters, where others are not writing.  The result is the number of
 *		keys that have moved.
 */
int64
StoredSetCompact(StoredSetCall *call)
{
	StoredSetTable *table = &call->table;
	const StoredSetParams *params = &table->set.params;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set compact",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;
	TimestampTz oldest = call->oldest;
	StoredSetVersion version;
	StoredSetRow done = {.bucket = -1};
	int64		nmoved = 0;

	StoredSetBeginWriting(table);
	StoredSetFindAll(table, &table->visible);
	oldcontext = MemoryContextSwitchTo(scratch);
	while (StoredSetNext(table, &table->visible, &version))
	{
		StoredSetRow row = version.row;
		int32		first = StoredSetFirstBucket(params, row.bucket);

		if ((row.bucket == done.bucket && row.slice == done.slice) ||
			(row.slice >= oldest && row.nhashes == 0))
			continue;
		StoredSetLock(table, first);
		if (row.slice < oldest)
			StoredSetDeleteSlices(call, row.bucket, oldest);
		else
			nmoved += CompactBucket(call, row.bucket, row.slice);
		StoredSetUnlock(table, first);
		done = row;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	return nmoved;
}
