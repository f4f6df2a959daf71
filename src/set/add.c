/*-------------------------------------------------------------------------
 *
 * set/add.c
 *		Adding keys to a stored set.
 *
 * The keys of a call are sorted by a number that is made from their hashes,
 * their place.  A bucket has a range of places, and two buckets of the next
 * generation have the halves of that range; so the keys of a bucket stand
 * together, and among them those of each bucket below it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "set/add.h"
#include "set/test.h"

/*
 * A bucket is closed when its filter and lanes together have this part of the
 * keys that set half of the bits, on average.  Then few of them stay in lanes.
 */
#define CLOSE_AT			0.95

/* Standard errors above the capacity that are worth a warning */
#define OVERFULL_ERRORS		5

/* ----------------------------------------------------------------
 *							CALLS
 * ----------------------------------------------------------------
 */

/*
 * StoredSetOpenToWrite
 *		Open a set for a call that writes, at this time.
 *
 * An error, if the time is ahead of the clock by more than a slice.
 */
void
StoredSetOpenToWrite(StoredSetCall *call, Oid relid, TimestampTz at)
{
	const StoredSetParams *params = &call->table.set.params;

	call->keys = NULL;
	call->nkeys = 0;
	call->overfull = 0;
	StoredSetOpen(&call->table, relid, true);
	if (params->keep != 0 && at > GetCurrentTimestamp() + params->slice_length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time %s is ahead of the clock",
						timestamptz_to_str(at)),
				 errdetail("By the clock, the set must still remember keys that are too old by that time."),
				 errhint("A time may be ahead by a slice at most: see bloom_set_info.")));
	call->oldest = StoredSetOldestSlice(params, at);
	call->current = StoredSetSliceOf(params, at);
}

/* Give a call its keys, the first of each hash. */
static void
MakeKeys(StoredSetCall *call, const uint64 *hashes, uint64 nhashes)
{
	uint64		n = 0;

	call->keys = palloc_extended(Max(nhashes, 1) * sizeof(StoredSetKey),
								 MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		call->keys[i] = StoredSetMakeKey(hashes[i], (uint32) i);
	}
	if (nhashes > 1)
		qsort(call->keys, nhashes, sizeof(StoredSetKey), StoredSetCompareKeys);
	for (uint64 i = 0; i < nhashes; i++)
	{
		if (i == 0 || call->keys[i].hash != call->keys[n - 1].hash)
			call->keys[n++] = call->keys[i];
		else
			call->keys[n - 1].index = Min(call->keys[n - 1].index,
										  call->keys[i].index);
	}
	call->nkeys = n;
}

/*
 * How many of these keys, from the last one, belong to one bucket?  Or to as
 * many side by side as this power of two.
 */
static uint64
CountLast(const StoredSetParams *params, int generation, int shift,
		  const StoredSetKey *keys, uint64 nkeys)
{
	int32		last = StoredSetBucketOf(params, generation,
										 keys[nkeys - 1].place) >> shift;
	uint64		n = 1;

	while (n < nkeys && last ==
		   StoredSetBucketOf(params, generation, keys[nkeys - 1 - n].place) >> shift)
		n++;
	return n;
}

/* ----------------------------------------------------------------
 *							WARNING
 * ----------------------------------------------------------------
 */

/*
 * Note by how much a bucket exceeds its capacity that cannot give keys to the
 * next generation.
 *
 * Their number varies by chance, and is an estimate besides.
 */
static void
NoteOverfull(StoredSetCall *call, const StoredSetBucket *bucket)
{
	const StoredSetParams *params = &call->table.set.params;
	double		keys = bucket->nkeys + bucket->nyoung;
	double		capacity = params->grows ?
	StoredSetKeysOfHalf(params, bucket->generation) : params->bucket_capacity;
	double		error;
	double		variance;

	if (bucket->generation + 1 < params->generations || keys <= capacity)
		return;
	error = BloomEstimateError(params->bits, params->hashes, capacity);
	variance = error * error + (params->buckets > 1 ? capacity : 0);
	if (keys > capacity + OVERFULL_ERRORS * sqrt(variance))
		call->overfull = Max(call->overfull, keys / capacity);
}

/* Warn of a set that holds more keys than it is sized for.  True: it does. */
static bool
WarnIfOverfull(const StoredSetCall *call)
{
	if (call->overfull > 0)
		ereport(WARNING,
				(errmsg("Bloom set \"%s\" holds more keys than its capacity",
						RelationGetRelationName(call->table.rel)),
				 errdetail("A bucket holds about %.1f times the keys that it is sized for.",
						   call->overfull),
				 call->table.set.params.grows ?
				 errhint("bloom_set_info shows the false-positive rate. Make a set of a larger capacity.") :
				 errhint("bloom_set_info shows the false-positive rate. Make a set of a larger capacity, or one that grows.")));
	return call->overfull > 0;
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

static bool AddToBucket(StoredSetCall *call, int generation, StoredSetKey *keys,
						uint64 nkeys, bool write);

/* The same for each of their buckets in a generation, from higher to lower. */
static bool
AddToBuckets(StoredSetCall *call, int generation, StoredSetKey *keys,
			 uint64 nkeys, bool write)
{
	for (uint64 left = nkeys; left > 0;)
	{
		uint64		n = CountLast(&call->table.set.params, generation, 0, keys,
								  left);

		left -= n;
		if (StoredSetCountAnswers(keys + left, n, STORED_SET_UNKNOWN) > 0 &&
			!AddToBucket(call, generation, keys + left, n, write))
			return false;
	}
	return true;
}

/* How many more keys may there be in a bucket? */
static uint64
RoomLeft(const StoredSetParams *params, const StoredSetBucket *bucket)
{
	double		keys = CLOSE_AT * StoredSetKeysOfHalf(params, bucket->generation) -
	bucket->nkeys - bucket->nyoung;

	if (bucket->generation + 1 >= params->generations)
		return PG_UINT32_MAX;
	return keys < 1 ? 0 : (uint64) keys;
}

/*
 * Delete what is older than the oldest live slice, by the time of the call and
 * by the clock.
 */
static void
DeleteOldSlices(StoredSetCall *call, int32 bucket)
{
	TimestampTz oldest = StoredSetOldestSlice(&call->table.set.params,
											  GetCurrentTimestamp());

	StoredSetDeleteSlices(call, bucket, Min(call->oldest, oldest));
}

/*
 * Add those keys that are new to the rows of a bucket, as many as it takes.
 * True: the others go to the next generation.
 */
static bool
WriteBucket(StoredSetCall *call, StoredSetBucket *bucket, StoredSetKey *keys,
			uint64 nkeys)
{
	const StoredSetParams *params = &call->table.set.params;
	uint64		nopen = StoredSetCountAnswers(keys, nkeys, STORED_SET_UNKNOWN);
	uint64		n = 0;
	uint64		room;
	uint64		one;
	uint64	   *hashes = nopen == 1 ? &one : palloc(nopen * sizeof(uint64));
	StoredSetLane *lane = NULL;

	if (!bucket->has_rows && params->keep != 0)
		DeleteOldSlices(call, bucket->number);
	/* early, if the new keys would not find place beside them in a lane */
	StoredSetMerge(call, bucket, nopen < STORED_SET_MERGE_KEYS / 2 ?
				   STORED_SET_MERGE_KEYS + 1 - (int) nopen :
				   STORED_SET_MERGE_KEYS / 2);

	room = bucket->state == STORED_SET_CLOSED ? 0 : RoomLeft(params, bucket);
	for (uint64 i = 0; i < nkeys && n < Min(room, STORED_SET_MAX_NEW_KEYS); i++)
	{
		if (keys[i].answer != STORED_SET_UNKNOWN)
			continue;
		keys[i].answer = STORED_SET_FRESH;
		hashes[n++] = keys[i].hash;
	}
	if (n > 0 || bucket->state != STORED_SET_CLOSED)
		lane = StoredSetPutIntoLanes(call, bucket, hashes, (int) n);
	if (n == room && n < nopen && bucket->state != STORED_SET_CLOSED)
	{
		bucket->state = STORED_SET_CLOSED;
		lane->row.closed = true;
	}
	bucket->nyoung += n;
	StoredSetWriteLanes(call, bucket);
	NoteOverfull(call, bucket);
	return bucket->state == STORED_SET_CLOSED;
}

/*
 * Add keys that belong to one bucket, there or in the next generations; or only
 * look for them.  False: another transaction decides on one of them.
 */
static bool
AddToBucket(StoredSetCall *call, int generation, StoredSetKey *keys, uint64 nkeys,
			bool write)
{
	StoredSetBucket bucket;
	bool		is_closed;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	StoredSetReadBucket(call, &bucket, generation,
						StoredSetBucketOf(&call->table.set.params, generation,
										  keys[0].place),
						keys, nkeys);
	is_closed = bucket.state == STORED_SET_CLOSED;
	if (TransactionIdIsValid(call->pending) ||
		(bucket.state != STORED_SET_OPEN &&
		 !AddToBuckets(call, generation + 1, keys, nkeys, write && is_closed)))
		return false;
	if (!write || StoredSetCountAnswers(keys, nkeys, STORED_SET_UNKNOWN) == 0)
	{
		/* merge what was still in lanes when the bucket was closed */
		if (write && is_closed && call->table.wrote)
		{
			StoredSetMerge(call, &bucket, STORED_SET_MERGE_KEYS);
			StoredSetWriteLanes(call, &bucket);
		}
		return true;
	}
	return !WriteBucket(call, &bucket, keys, nkeys) ||
		AddToBuckets(call, generation + 1, keys, nkeys, true);
}

/* Add keys whose buckets have one lock. */
static void
AddLocked(StoredSetCall *call, StoredSetKey *keys, uint64 nkeys)
{
	int32		bucket = StoredSetBucketOf(&call->table.set.params, 0,
										   keys[0].place);

	/* there may also be more than STORED_SET_MAX_NEW_KEYS */
	while (StoredSetCountAnswers(keys, nkeys, STORED_SET_UNKNOWN) > 0)
	{
		bool		done;

		StoredSetLock(&call->table, bucket);
		done = AddToBuckets(call, 0, keys, nkeys, true);
		StoredSetUnlock(&call->table, bucket);
		if (!done)
			StoredSetWaitFor(&call->table, call->pending);
	}
}

/* Test the keys of a call by the snapshot that its transaction keeps. */
static void
TestBeforeAdd(StoredSetCall *call, const uint64 *hashes, uint64 nhashes)
{
	uint8	   *answers = palloc_extended(nhashes + 1, MCXT_ALLOC_HUGE);

	StoredSetTestBeforeAdd(&call->table, call->oldest, hashes, nhashes,
						   answers);
	for (uint64 i = 0; i < call->nkeys; i++)
		call->keys[i].answer = answers[call->keys[i].index];
	pfree(answers);
}

/*
 * StoredSetAdd
 *		Add keys of these hashes, of the set's key type.  Of each, the answer is
 *		that of the first.
 */
void
StoredSetAdd(StoredSetCall *call, const uint64 *hashes, uint64 nhashes,
			 bool *warned)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set add",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;

	MakeKeys(call, hashes, nhashes);
	StoredSetBeginWriting(&call->table);
	if (IsolationUsesXactSnapshot())
		TestBeforeAdd(call, hashes, nhashes);
	oldcontext = MemoryContextSwitchTo(scratch);
	for (uint64 left = call->nkeys; left > 0;)
	{
		uint64		n = CountLast(&call->table.set.params, 0,
								  STORED_SET_LOCK_SHIFT, call->keys, left);

		left -= n;
		AddLocked(call, call->keys + left, n);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	if (!*warned)
		*warned = WarnIfOverfull(call);
}
