/*-------------------------------------------------------------------------
 *
 * set/maintain.c
 *		Expiring and compacting a stored set.
 *
 * Adds do both for the buckets to which they write.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "bits/sort.h"
#include "filter/setops.h"
#include "set/maintain.h"

/*
 * Go to the next bucket, in one of its slices, that has rows to be deleted, or
 * lanes with keys.  False: there is none.
 */
static bool
NextPart(StoredSetCall *call, StoredSetRow *part)
{
	StoredSetTable *table = &call->table;
	StoredSetVersion version;
	const StoredSetRow *row = &version.row;

	while (StoredSetNext(table, &table->visible, &version))
	{
		if ((row->bucket == part->bucket && row->slice == part->slice) ||
			(table->use == STORED_SET_EXPIRE ? row->slice >= call->oldest :
			 row->nhashes == 0))
			continue;
		*part = *row;
		return true;
	}
	return false;
}

/*
 * StoredSetExpire
 *		Delete the rows of old slices, but for those that others are writing.
 *		The result is the number of slices.
 */
int64
StoredSetExpire(StoredSetCall *call)
{
	StoredSetTable *table = &call->table;
	const StoredSetParams *params = &table->set.params;
	StringInfoData slices;
	StoredSetRow part = {.bucket = -1};

	initStringInfo(&slices);
	call->oldest = Min(call->oldest,
					   StoredSetOldestSlice(params, GetCurrentTimestamp()));
	StoredSetBeginWriting(table);
	StoredSetFindAll(table, &table->visible);
	while (NextPart(call, &part))
	{
		int32		first = StoredSetFirstBucket(params, part.bucket);
		bool		deleted;

		StoredSetLock(table, first);
		deleted = StoredSetDeleteSlices(call, part.bucket, part.slice,
										part.slice + 1);
		StoredSetUnlock(table, first);
		if (deleted)
			appendBinaryStringInfo(&slices, (char *) &part.slice,
								   sizeof(part.slice));
	}
	return BloomSortHashes((uint64 *) slices.data,
						   slices.len / sizeof(part.slice));
}

/*
 * StoredSetCompact
 *		Move the committed keys of all lanes that are free to the filters.  The
 *		result is their number.
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
	StoredSetRow part = {.bucket = -1};
	int64		nmoved = 0;

	StoredSetBeginWriting(table);
	StoredSetFindAll(table, &table->visible);
	oldcontext = MemoryContextSwitchTo(scratch);
	while (NextPart(call, &part))
	{
		int32		first = StoredSetFirstBucket(params, part.bucket);
		StoredSetBucket bucket;
		int			nyoung;

		call->oldest = call->current = part.slice;
		StoredSetLock(table, first);
		StoredSetReadBucket(call, &bucket,
							StoredSetGeneration(params, part.bucket),
							part.bucket, NULL, 0);
		nyoung = bucket.nyoung;
		StoredSetMerge(call, &bucket, 1);
		StoredSetWriteLanes(call, &bucket);
		StoredSetUnlock(table, first);
		nmoved += nyoung - bucket.nyoung;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	return nmoved;
}
