/*-------------------------------------------------------------------------
 *
 * set/bucket.c
 *		A bucket of a stored set, for those that write: read it, merge, write.
 *
 * What the rows of a bucket hold, what their versions say, and why an answer is
 * right, is in set/set.h.
 *
 * Place and room in a lane
 * ------------------------
 *
 * New keys go into a lane that this transaction has written, up to 79; otherwise,
 * if they are few, into one with committed keys, up to 19; otherwise into a new
 * one, which takes up to 127 of them.  A lane with committed keys is written anew
 * by each transaction that adds to it: so it stays short, and in its page.
 *
 * A version can be overwritten only by one of the same size.  So a lane that the
 * transaction writes for the second time gets room for more hashes than it has:
 * there will be a third time.  (Each write logs the whole lane.  With up to 127
 * hashes, 100,000 adds in a statement to a set for as many keys log 720 bytes
 * each; with 79, 510; with 39, 320, but they take 1.3 times as long, since there
 * are more lanes to read.)  A call with one key leaves room at once, since its
 * transaction may add another.  A call with many keys, of which there are few for
 * each bucket, makes a lane as long as its hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/procarray.h"

#include "filter/setops.h"
#include "set/bucket.h"

/* A lane of this transaction takes more keys up to this number */
#define OWN_KEYS	79

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/*
 * StoredSetCountAnswers
 *		How many of these keys have this answer?
 */
uint64
StoredSetCountAnswers(const StoredSetKey *keys, uint64 nkeys,
					  StoredSetAnswer answer)
{
	uint64		n = 0;

	for (uint64 i = 0; i < nkeys; i++)
		n += keys[i].answer == answer;
	return n;
}

/*
 * StoredSetCompareKeys
 *		The order of the keys of a call, for qsort.
 */
int
StoredSetCompareKeys(const void *a, const void *b)
{
	const StoredSetKey *left = a;
	const StoredSetKey *right = b;

	CHECK_FOR_INTERRUPTS();
	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

/*
 * The key with this hash, or NULL.
 *
 * With many keys, a search takes their logarithm for each hash of a row, so
 * that chosen keys, all in one bucket, cannot make it take their number.
 */
static StoredSetKey *
FindKey(StoredSetKey *keys, uint64 nkeys, uint64 hash)
{
	StoredSetKey key;

	/* without keys, as in bloom_set_compact, there is no array to search */
	if (nkeys < 2)
		return nkeys == 1 && keys->hash == hash ? keys : NULL;
	key = StoredSetMakeKey(hash, 0);
	return bsearch(&key, keys, nkeys, sizeof(StoredSetKey),
				   StoredSetCompareKeys);
}

/*
 * What a version says about keys: see "What a version says" in set/set.h.
 */
static void
FindKeys(StoredSetCall *call, const StoredSetVersion *version,
		 StoredSetKey *keys, uint64 nkeys)
{
	const StoredSetRow *row = &version->row;
	bool		is_open = TransactionIdIsValid(version->creator);

	if (row->filter != NULL)
	{
		for (uint64 i = 0; i < nkeys && !is_open; i++)
		{
			BloomCheckInterrupts(i + 1);
			if (keys[i].answer == STORED_SET_UNKNOWN &&
				BloomTestHash(row->filter, keys[i].hash))
				keys[i].answer = STORED_SET_SEEN;
		}
		return;
	}
	for (int i = 0; i < row->nhashes; i++)
	{
		StoredSetKey *key = FindKey(keys, nkeys, row->hashes[i]);

		if (key == NULL || key->answer != STORED_SET_UNKNOWN)
			continue;
		if (is_open && i >= row->ncommitted)
			call->pending = version->creator;
		else
			key->answer = STORED_SET_SEEN;
	}
}

/*
 * The same of a version that the transaction's snapshot does not see.
 *
 * What it sees was tested before.  It also sees what the transaction has merged
 * since, which may test positive for further keys of the call.
 */
static void
FindHiddenKeys(StoredSetCall *call, const StoredSetVersion *version,
			   StoredSetKey *keys, uint64 nkeys)
{
	uint64		nseen = StoredSetCountAnswers(keys, nkeys, STORED_SET_SEEN);

	FindKeys(call, version, keys, nkeys);
	if (StoredSetCountAnswers(keys, nkeys, STORED_SET_SEEN) > nseen)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Another transaction has added a key since this one took its snapshot.")));
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/* Another lane: what was read, or new. */
static StoredSetLane *
AddLane(StoredSetBucket *bucket, const StoredSetRow *row)
{
	StoredSetLane *lane = &bucket->lanes[bucket->nlanes++];
	uint64	   *hashes = palloc(row->nhashes * sizeof(uint64));

	memset(lane, 0, sizeof(*lane));
	lane->row = *row;
	lane->row.hashes = hashes;
	if (row->nhashes > 0)
		memcpy(hashes, row->hashes, row->nhashes * sizeof(uint64));
	return lane;
}

/* Use a lane that is free, if it has committed keys, or place for more. */
static void
UseLane(StoredSetBucket *bucket, const StoredSetVersion *version)
{
	const StoredSetRow *row = &version->row;
	bool		is_own = version->place.is_own;
	StoredSetLane *lane;

	if ((is_own && row->ncommitted == 0 && row->nhashes >= OWN_KEYS) ||
		bucket->nlanes == STORED_SET_MAX_LANES)
		return;
	lane = AddLane(bucket, row);
	lane->place = version->place;
	/* what another transaction has written is committed by now */
	if (!is_own)
		lane->row.ncommitted = lane->row.nhashes;
	bucket->nmergeable += lane->row.ncommitted;
}

/* Note a version of the filter in the current slice. */
static void
UseFilter(StoredSetCall *call, StoredSetBucket *bucket,
		  const StoredSetVersion *version)
{
	bucket->nkeys = Max(bucket->nkeys, BloomCardinality(version->row.filter));
	if (version->is_free)
		bucket->filter_place = version->place;
	if (StoredSetIsClosed(&call->table.set.params, bucket->generation,
						  &version->row))
		bucket->filter = STORED_SET_FILTER_FULL;
	else if (version->is_free && bucket->filter != STORED_SET_FILTER_FULL)
		bucket->filter = STORED_SET_FILTER_FREE;
	else if (bucket->filter == STORED_SET_NO_FILTER)
		bucket->filter = STORED_SET_FILTER_HELD;
}

/*
 * Read a bucket, and look for keys in all live slices.
 *
 * A filter of another open transaction says nothing, since it may be rolled
 * back.  The rows from which it was made do, as long as the transaction is open.
 * False: it ended meanwhile, so that we may have missed some of these.
 */
static bool
TryReadBucket(StoredSetCall *call, StoredSetBucket *bucket, int generation,
			  int32 number, StoredSetKey *keys, uint64 nkeys)
{
	StoredSetTable *table = &call->table;
	int32		lowest = number;
	StoredSetVersion version;
	TransactionId merger = InvalidTransactionId;
	TimestampTz merged = 0;		/* slice */

	memset(bucket, 0, offsetof(StoredSetBucket, lanes));
	bucket->generation = generation;
	bucket->number = number;
	call->pending = InvalidTransactionId;

	/* the call will go on with the other buckets of the lock */
	if (generation == 0 && call->nkeys > 1)
		lowest = number >> STORED_SET_LOCK_SHIFT << STORED_SET_LOCK_SHIFT;
	StoredSetFindBucket(table, &table->versions, number, lowest, call->oldest,
						DT_NOEND);
	while (StoredSetNext(table, &table->versions, &version))
	{
		const StoredSetRow *row = &version.row;
		bool		is_current = row->slice == call->current;

		bucket->has_rows |= is_current;
		if (TransactionIdIsValid(merger) && row->slice != merged)
		{
			if (!TransactionIdIsInProgress(merger))
				return false;
			merger = InvalidTransactionId;
		}
		if (TransactionIdIsValid(version.creator) && row->filter != NULL)
		{
			merger = version.creator;
			merged = row->slice;
		}

		if (IsolationUsesXactSnapshot() && !version.is_visible)
			FindHiddenKeys(call, &version, keys, nkeys);
		else
			FindKeys(call, &version, keys, nkeys);
		if (nkeys == 1 && keys[0].answer == STORED_SET_SEEN)
			break;

		if (StoredSetIsClosed(&table->set.params, generation, row))
		{
			/* tests of this transaction must see why they look below */
			if (is_current && version.is_visible)
				bucket->state = STORED_SET_CLOSED;
			else if (bucket->state == STORED_SET_OPEN)
				bucket->state = STORED_SET_DIVIDED;
		}
		if (is_current && row->filter != NULL)
			UseFilter(call, bucket, &version);
		else if (is_current)
		{
			bucket->last_lane = Min(bucket->last_lane, row->lane);
			if (version.is_newest)
				bucket->nyoung += row->nhashes;
			if (version.is_free)
				UseLane(bucket, &version);
		}
	}
	return !TransactionIdIsValid(merger) || TransactionIdIsInProgress(merger);
}

/*
 * StoredSetReadBucket
 *		Read a bucket, and look for keys in all live slices.
 */
void
StoredSetReadBucket(StoredSetCall *call, StoredSetBucket *bucket, int generation,
					int32 number, StoredSetKey *keys, uint64 nkeys)
{
	while (!TryReadBucket(call, bucket, generation, number, keys, nkeys))
		CHECK_FOR_INTERRUPTS();
	/* what one transaction has added may be seen in an older slice */
	if (StoredSetCountAnswers(keys, nkeys, STORED_SET_UNKNOWN) == 0)
		call->pending = InvalidTransactionId;
}

/* ----------------------------------------------------------------
 *							MERGING
 * ----------------------------------------------------------------
 */

/* Take hashes that were merged out of the lanes. */
static void
TakeOut(StoredSetBucket *bucket, int nmerged)
{
	bucket->nyoung -= nmerged;
	for (int i = 0; i < bucket->nlanes && nmerged > 0; i++)
	{
		StoredSetLane *lane = &bucket->lanes[i];
		StoredSetRow *row = &lane->row;
		int			n = Min(row->ncommitted, nmerged);
		uint64	   *kept = (uint64 *) row->hashes;

		if (n == 0)
			continue;
		memmove(kept, kept + n, (row->nhashes - n) * sizeof(uint64));
		row->nhashes -= n;
		row->ncommitted -= n;
		row->room = 0;
		nmerged -= n;
		lane->has_changed = lane->has_lost = true;
	}
}

/* The filter of a bucket, as it is now, or an empty one. */
static StoredSetRow
GetFilter(StoredSetCall *call, StoredSetBucket *bucket)
{
	const StoredSet *set = &call->table.set;
	const StoredSetParams *params = &set->params;
	StoredSetRow row = {0};
	BloomShape	shape;

	if (bucket->filter != STORED_SET_NO_FILTER)
	{
		StoredSetReadAgain(&call->table, &bucket->filter_place.tid, &row);
		return row;
	}
	shape = BloomShapeExplicit(params->bits,
							   StoredSetHashes(params, bucket->generation),
							   params->seed);
	if (!params->grows)
	{
		shape.capacity = Max(1, (uint64) ceil(params->bucket_capacity));
		shape.fp_prob = StoredSetSliceRate(params);
	}
	row.bucket = bucket->number;
	row.slice = call->current;
	row.filter = BloomMakeEmpty(&shape);
	return row;
}

/*
 * StoredSetMerge
 *		If there are at least this many, write the filter of a bucket anew, with
 *		the committed keys of its lanes, as far as it takes them.
 *
 * The caller writes the lanes.
 */
void
StoredSetMerge(StoredSetCall *call, StoredSetBucket *bucket, int least)
{
	const StoredSet *set = &call->table.set;
	bool		limited = bucket->generation + 1 < set->params.generations;
	StoredSetRow row;
	uint64	   *hashes;
	int			nmerged = 0;

	if (bucket->nmergeable < least ||
		bucket->filter == STORED_SET_FILTER_HELD ||
		bucket->filter == STORED_SET_FILTER_FULL)
		return;
	hashes = palloc(bucket->nmergeable * sizeof(uint64));
	row = GetFilter(call, bucket);
	for (int i = 0, n = 0; i < bucket->nlanes; i++)
	{
		const StoredSetRow *lane = &bucket->lanes[i].row;

		memcpy(hashes + n, lane->hashes, lane->ncommitted * sizeof(uint64));
		n += lane->ncommitted;
	}
	while (nmerged < bucket->nmergeable)
	{
		uint64		left = limited ? StoredSetKeysLeft(row.filter) :
		PG_UINT32_MAX;
		int			n = (int) Min(left, (uint64) (bucket->nmergeable - nmerged));

		/* as many keys as it certainly takes */
		if (n == 0)
			break;
		row.filter = BloomAddSorted(row.filter, hashes + nmerged,
									BloomSortHashes(hashes + nmerged, n),
									&set->key_type);
		nmerged += n;
	}
	pfree(hashes);
	StoredSetWriteRow(&call->table, &bucket->filter_place, &row, false);
	bucket->filter = STORED_SET_FILTER_HELD;
	bucket->nkeys = BloomCardinality(row.filter);
	if (StoredSetIsClosed(&set->params, bucket->generation, &row))
		bucket->state = STORED_SET_CLOSED;
	TakeOut(bucket, nmerged);
}

/* ----------------------------------------------------------------
 *							LANES
 * ----------------------------------------------------------------
 */

/* A lane with place for this many keys: of this transaction, or with few. */
static StoredSetLane *
FindPlace(StoredSetCall *call, StoredSetBucket *bucket, int n)
{
	StoredSetLane *best = NULL;
	StoredSetRow row = {0};

	for (int i = 0; i < bucket->nlanes; i++)
	{
		StoredSetLane *lane = &bucket->lanes[i];
		bool		is_own = lane->place.is_own;

		if (lane->row.nhashes + n <= (is_own ? OWN_KEYS : STORED_SET_FEW_KEYS) &&
			(best == NULL || is_own > best->place.is_own ||
			 (is_own == best->place.is_own &&
			  lane->row.nhashes > best->row.nhashes)))
			best = lane;
	}
	if (best != NULL)
		return best;
	if (bucket->nlanes == lengthof(bucket->lanes))
		elog(ERROR, "too many lanes in a bucket of a Bloom set");
	row.bucket = bucket->number;
	row.slice = call->current;
	row.lane = --bucket->last_lane;
	return AddLane(bucket, &row);
}

/* The room of a lane with this many hashes, if there will be more: 19, 39, 79 */
static int
RoomToGrow(int nhashes)
{
	int			room = STORED_SET_FEW_KEYS;

	while (room < nhashes)
		room = 2 * room + 1;
	return room;
}

/*
 * StoredSetPutIntoLanes
 *		Put new keys into lanes.  The result is the last of these.
 */
StoredSetLane *
StoredSetPutIntoLanes(StoredSetCall *call, StoredSetBucket *bucket,
					  const uint64 *hashes, int n)
{
	StoredSetLane *lane;

	do
	{
		int			some = Min(n, STORED_SET_LANE_KEYS);
		StoredSetRow *row;
		uint64	   *all;

		lane = FindPlace(call, bucket, some);
		row = &lane->row;
		all = palloc((row->nhashes + some) * sizeof(uint64));
		memcpy(all, row->hashes, row->nhashes * sizeof(uint64));
		memcpy(all + row->nhashes, hashes, some * sizeof(uint64));
		row->hashes = all;
		row->nhashes += some;
		row->room = row->nhashes <= OWN_KEYS &&
			(lane->place.is_own || call->nkeys == 1) ?
			RoomToGrow(row->nhashes) : 0;
		lane->has_changed = true;
		hashes += some;
		n -= some;
	} while (n > 0);
	return lane;
}

/*
 * StoredSetWriteLanes
 *		Write the lanes that have changed.  Those that are empty now go.
 */
void
StoredSetWriteLanes(StoredSetCall *call, StoredSetBucket *bucket)
{
	for (int i = 0; i < bucket->nlanes; i++)
	{
		StoredSetLane *lane = &bucket->lanes[i];

		if (!lane->has_changed)
			continue;
		if (lane->row.nhashes > 0 || lane->row.closed)
			StoredSetWriteRow(&call->table, &lane->place, &lane->row,
							  !lane->has_lost);
		else
			StoredSetDeleteRow(&call->table, &lane->place);
		lane->has_changed = false;
	}
}

/* ----------------------------------------------------------------
 *							OLD SLICES
 * ----------------------------------------------------------------
 */

/*
 * StoredSetDeleteSlices
 *		Delete the rows of a bucket in slices before this one, and those of the
 *		buckets below it to which these have given keys, as far as they are
 *		free.
 */
void
StoredSetDeleteSlices(StoredSetCall *call, int32 bucket, TimestampTz before)
{
	StoredSetTable *table = &call->table;
	const StoredSetParams *params = &table->set.params;
	int			generation = StoredSetGeneration(params, bucket);
	StoredSetVersion version;
	bool		divided = false;

	check_stack_depth();
	StoredSetFindBucket(table, &table->versions, bucket, bucket, DT_NOBEGIN,
						before);
	while (StoredSetNext(table, &table->versions, &version))
	{
		divided |= StoredSetIsClosed(params, generation, &version.row);
		if (version.is_free)
			StoredSetDeleteRow(table, &version.place);
	}
	for (int i = 0; divided && i < 2; i++)
		StoredSetDeleteSlices(call, StoredSetBucketBelow(params, bucket, i),
							  before);
}
