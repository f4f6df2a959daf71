/*-------------------------------------------------------------------------
 *
 * set/keys.c
 *		Keys of a stored set by bucket: add, expire, warn.
 *
 * What the rows of a bucket hold, and why an answer is right, is in set/set.c.
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

#include "access/tableam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "filter/setops.h"
#include "filter/statement.h"
#include "key/hash.h"
#include "set/test.h"

/* So many committed keys in the lanes of a bucket are worth a new filter */
#define MERGE_KEYS			STORED_SET_SHORT_LANE

/*
 * Of the keys that set half of the bits of a filter, on average, this part can
 * be in lanes before the bucket is closed.  Then few of them stay there.
 */
#define FULL				0.95

/* Standard errors above the capacity that are worth a warning */
#define OVERFULL_ERRORS		5

/* ----------------------------------------------------------------
 *							TIME SLICES
 * ----------------------------------------------------------------
 */

/* The beginning of the slice that a time is in. */
static TimestampTz
SliceOf(const StoredSet *set, TimestampTz at)
{
	int64		remainder;

	if (set->params.keeps_all)
		return DT_NOBEGIN;
	remainder = at % set->slice_length;
	at -= remainder + (remainder < 0 ? set->slice_length : 0);
	if (!IS_VALID_TIMESTAMP(at))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return at;
}

/*
 * StoredSetOldestSlice
 *		The oldest slice in which a key may still have to be remembered.
 */
TimestampTz
StoredSetOldestSlice(const StoredSet *set, TimestampTz at)
{
	/* neither is large enough for an overflow */
	return SliceOf(set, set->params.keeps_all ? at : at - set->params.keep);
}

/*
 * An error, if a time is ahead of the clock by more than a slice.
 *
 * What is too old by such a time is not, by the time of others.
 */
static void
CheckNotAhead(const StoredSet *set, TimestampTz at)
{
	if (!set->params.keeps_all && at > GetCurrentTimestamp() + set->slice_length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time %s is ahead of the clock",
						timestamptz_to_str(at)),
				 errdetail("By the clock, the set must still remember keys that are too old by that time."),
				 errhint("A time may be ahead by a slice at most: see bloom_set_params.")));
}

/* ----------------------------------------------------------------
 *							CALLS AND KEYS
 * ----------------------------------------------------------------
 */

/*
 * StoredSetStart
 *		Open a set for a call.
 */
void
StoredSetStart(StoredSetCall *call, Oid relid, StoredSetUse use, TimestampTz at)
{
	const StoredSet *set = &call->table.set;

	StoredSetOpen(&call->table, relid, use);
	if (use != STORED_SET_TEST)
		CheckNotAhead(set, at);
	call->seed = (uint64) set->params.seed;
	call->keys = NULL;
	call->nkeys = 0;
	call->oldest = StoredSetOldestSlice(set, at);
	call->current = SliceOf(set, at);
	call->knows_type = false;
	call->overfull = 0;
}

/*
 * StoredSetFinish
 *		Close its set, if it is open.
 */
void
StoredSetFinish(StoredSetCall *call)
{
	if (call->table.rel == NULL)
		return;
	if (call->table.use == STORED_SET_TEST && call->table.slot != NULL)
		StoredSetEnd(&call->table);
	StoredSetClose(&call->table);
}

static int
CompareKeys(const void *a, const void *b)
{
	const StoredSetKey *left = a;
	const StoredSetKey *right = b;

	CHECK_FOR_INTERRUPTS();
	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

/* A key of this hash, which stood in this place in an array. */
static StoredSetKey
MakeKey(uint64 hash, uint32 index)
{
	StoredSetKey key;

	key.place = StoredSetPlaceOf(hash);
	key.hash = hash;
	key.index = index;
	key.answer = STORED_SET_UNKNOWN;
	return key;
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
		call->keys[i] = MakeKey(hashes[i], (uint32) i);
	}
	if (nhashes > 1)
		qsort(call->keys, nhashes, sizeof(StoredSetKey), CompareKeys);
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
 * How many of these keys, from the last one, belong to one bucket?  Or to so many
 * side by side, as a power of two.
 */
static uint64
CountLast(const StoredSet *set, int generation, int shift,
		  const StoredSetKey *keys, uint64 nkeys)
{
	int32		last = StoredSetBucketOf(set, generation,
										 keys[nkeys - 1].place) >> shift;
	uint64		n = 1;

	while (n < nkeys && last ==
		   StoredSetBucketOf(set, generation, keys[nkeys - 1 - n].place) >> shift)
		n++;
	return n;
}

static uint64
CountAnswers(const StoredSetKey *keys, uint64 nkeys, StoredSetAnswer answer)
{
	uint64		n = 0;

	for (uint64 i = 0; i < nkeys; i++)
		n += keys[i].answer == answer;
	return n;
}

/*
 * StoredSetIsClosed
 *		May there be keys of this row's bucket in the next generation?
 */
bool
StoredSetIsClosed(const StoredSet *set, int generation, const StoredSetRow *row)
{
	if (generation + 1 >= set->generations)
		return false;
	return row->filter == NULL ? row->closed :
		StoredSetKeysLeft(row->filter) == 0;
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

	if (nkeys == 1)
		return keys->hash == hash ? keys : NULL;
	key = MakeKey(hash, 0);
	return bsearch(&key, keys, nkeys, sizeof(StoredSetKey), CompareKeys);
}

/*
 * Look for keys in a row.
 *
 * In a lane that another open transaction, the creator, has written, its own
 * keys are pending.
 */
static void
FindKeys(StoredSetCall *call, const StoredSetRow *row, TransactionId creator,
		 StoredSetKey *keys, uint64 nkeys)
{
	if (row->filter != NULL)
	{
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, row->filter, call->key_type);
		call->knows_type |= row->filter->count > 0;
		for (uint64 i = 0; i < nkeys; i++)
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
		if (TransactionIdIsValid(creator) && i >= row->ncommitted)
			call->pending = creator;
		else
			key->answer = STORED_SET_SEEN;
	}
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/* A lane that may be written */
typedef struct Lane
{
	StoredSetRow row;			/* with hashes of its own */
	StoredSetPlace place;
	bool		changed;
} Lane;

/* Lanes of a bucket that a call can use, short or long, and that it can make */
#define MAX_LANES		32
#define MAX_NEW_KEYS	((MAX_LANES - 2) * STORED_SET_LONG_LANE)

/* A bucket, by its rows in the current slice */
typedef struct Bucket
{
	int			generation;
	int32		number;
	bool		is_closed;		/* further keys go to the next generation */
	bool		goes_on;		/* in any slice, or by an open transaction */
	bool		has_rows;
	bool		has_filter;
	bool		filter_is_free;
	bool		filter_is_full;
	StoredSetPlace filter;
	double		nkeys;			/* of the filter */
	int			nyoung;			/* of the lanes */
	int			nmergeable;
	int32		last_long;		/* numbers in use */
	int32		last_short;
	int			nlanes;
	Lane		lanes[3 * MAX_LANES];
} Bucket;

static inline bool
IsShort(const Lane *lane)
{
	return lane->row.lane <= STORED_SET_FIRST_SHORT;
}

/* Another lane: what was read, or new. */
static Lane *
AddLane(Bucket *bucket, const StoredSetRow *row)
{
	Lane	   *lane = &bucket->lanes[bucket->nlanes++];
	int			most = row->lane <= STORED_SET_FIRST_SHORT ?
	Max(STORED_SET_SHORT_LANE, row->nhashes) : STORED_SET_LONG_LANE;
	uint64	   *hashes = palloc(most * sizeof(uint64));

	lane->row = *row;
	lane->row.hashes = hashes;
	memcpy(hashes, row->hashes, row->nhashes * sizeof(uint64));
	memset(&lane->place, 0, sizeof(lane->place));
	lane->changed = false;
	return lane;
}

static Lane *
NewLane(StoredSetCall *call, Bucket *bucket, bool is_long)
{
	StoredSetRow row = {0};

	if (bucket->nlanes == lengthof(bucket->lanes))
		elog(ERROR, "too many lanes in a bucket of a Bloom set");
	row.bucket = bucket->number;
	row.slice = call->current;
	row.lane = is_long ? --bucket->last_long : --bucket->last_short;
	row.room = is_long ? 0 : STORED_SET_SHORT_LANE;
	return AddLane(bucket, &row);
}

/* Use a lane that is free, if it has committed keys, or place for more. */
static void
UseLane(Bucket *bucket, const StoredSetVersion *version)
{
	bool		is_long = version->row.lane > STORED_SET_FIRST_SHORT;
	Lane	   *lane;

	if ((version->place.is_own && version->row.ncommitted == 0 &&
		 version->row.nhashes + STORED_SET_SHORT_LANE > STORED_SET_LONG_LANE) ||
		bucket->nlanes >= (is_long ? MAX_LANES : 2 * MAX_LANES))
		return;
	lane = AddLane(bucket, &version->row);
	lane->place = version->place;
	/* what another transaction has written is committed by now */
	if (!version->place.is_own)
		lane->row.ncommitted = lane->row.nhashes;
	bucket->nmergeable += lane->row.ncommitted;
}

/*
 * Look for keys in a row that the transaction's snapshot does not see.
 *
 * What it sees was tested before.  It also sees what the transaction has merged
 * since, which may test positive for further keys of the call.
 */
static void
FindHiddenKeys(StoredSetCall *call, const StoredSetVersion *version,
			   StoredSetKey *keys, uint64 nkeys)
{
	uint64		nseen = CountAnswers(keys, nkeys, STORED_SET_SEEN);

	FindKeys(call, &version->row, version->creator, keys, nkeys);
	if (CountAnswers(keys, nkeys, STORED_SET_SEEN) > nseen)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Another transaction has added a key since this one took its snapshot.")));
}

/*
 * Read a bucket, and look for keys in all live slices.
 *
 * The filter of another open transaction may be rolled back, and with it what
 * tests positive only because of the keys that it has merged.  So we look for
 * keys in the rows from which it was made, which we see while the transaction
 * is open.  False: one ended meanwhile, so that we may have missed these.
 */
static bool
TryReadBucket(StoredSetCall *call, Bucket *bucket, int generation, int32 number,
			  StoredSetKey *keys, uint64 nkeys)
{
	StoredSetTable *table = &call->table;
	const StoredSet *set = &table->set;
	StoredSetVersion version;
	TransactionId merger = InvalidTransactionId;
	TimestampTz merged = 0;		/* slice */

	memset(bucket, 0, offsetof(Bucket, lanes));
	bucket->generation = generation;
	bucket->number = number;
	bucket->last_short = STORED_SET_FIRST_SHORT + 1;
	call->pending = InvalidTransactionId;

	StoredSetFindVersions(table, number, generation == 0 && call->nkeys > 1,
						  call->oldest, DT_NOEND);
	while (StoredSetNextVersion(table, &version))
	{
		const StoredSetRow *row = &version.row;
		bool		is_open = TransactionIdIsValid(version.creator);

		if (row->slice == call->current)
		{
			bucket->has_rows = true;
			if (row->filter == NULL && row->lane > STORED_SET_FIRST_SHORT)
				bucket->last_long = Min(bucket->last_long, row->lane);
			else if (row->filter == NULL)
				bucket->last_short = Min(bucket->last_short, row->lane);
		}
		if (TransactionIdIsValid(merger) && row->slice != merged)
		{
			if (!TransactionIdIsInProgress(merger))
				return false;
			merger = InvalidTransactionId;
		}
		/* the newest version has these keys, or an earlier row */
		if (is_open && !version.is_newest)
			continue;
		if (is_open && row->filter != NULL)
		{
			merger = version.creator;
			merged = row->slice;
		}
		else if (IsolationUsesXactSnapshot() && !version.is_visible)
			FindHiddenKeys(call, &version, keys, nkeys);
		else
			FindKeys(call, row, version.creator, keys, nkeys);
		if (nkeys == 1 && keys[0].answer == STORED_SET_SEEN)
			break;
		if (StoredSetIsClosed(set, generation, row))
		{
			bucket->goes_on = true;
			/* tests of this transaction must see why they look below */
			bucket->is_closed |= version.is_visible &&
				row->slice == call->current;
		}
		if (row->slice != call->current)
			continue;

		if (row->filter != NULL)
		{
			bucket->has_filter = true;
			bucket->nkeys = Max(bucket->nkeys, BloomCardinality(row->filter));
			bucket->filter_is_free |= version.is_free;
			if (version.is_free)
				bucket->filter = version.place;
			bucket->filter_is_full |= StoredSetIsClosed(set, generation, row);
			continue;
		}
		if (version.is_newest)
			bucket->nyoung += row->nhashes;
		if (version.is_free)
			UseLane(bucket, &version);
	}
	if (!bucket->has_filter)
		bucket->filter_is_free = true;
	return !TransactionIdIsValid(merger) || TransactionIdIsInProgress(merger);
}

static void
ReadBucket(StoredSetCall *call, Bucket *bucket, int generation, int32 number,
		   StoredSetKey *keys, uint64 nkeys)
{
	while (!TryReadBucket(call, bucket, generation, number, keys, nkeys))
		CHECK_FOR_INTERRUPTS();
	/* what one transaction has added may be seen in an older slice */
	if (CountAnswers(keys, nkeys, STORED_SET_UNKNOWN) == 0)
		call->pending = InvalidTransactionId;
}

/*
 * The set's key type, in rows that exist or may come to exist: an error if it
 * is another.  False: no committed transaction has set it, nor this one, which
 * may write the row that is the result.
 */
static bool
FindKeyType(StoredSetCall *call, StoredSetRow *next)
{
	StoredSetVersion version;

	next->lane = 0;
	StoredSetFindVersions(&call->table, STORED_SET_TYPE_BUCKET, false,
						  DT_NOBEGIN, DT_NOEND);
	while (!call->knows_type && StoredSetNextVersion(&call->table, &version))
	{
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, version.row.filter,
							call->key_type);
		call->knows_type = !TransactionIdIsValid(version.creator);
		next->filter = version.row.filter;
		next->lane = Min(next->lane, version.row.lane - 1);
	}
	return call->knows_type;
}

/*
 * The first key of a set decides on the type of its keys.
 *
 * Transactions that add the first keys at the same time write a row each.
 */
static void
EnsureKeyType(StoredSetCall *call)
{
	StoredSetRow row = {.bucket = STORED_SET_TYPE_BUCKET,.slice = DT_NOBEGIN};
	StoredSetPlace nowhere = {0};
	StoredSetWriter *writer = call->table.writer;
	bool		is_number = call->key_type->words == 0;

	call->knows_type |= is_number && writer->key_type == call->key_type->id;
	if (call->knows_type)
		return;
	if (!FindKeyType(call, &row))
	{
		StoredSetLock(&call->table, STORED_SET_TYPE_BUCKET);
		if (!FindKeyType(call, &row))
		{
			BloomShape	shape = BloomShapeExplicit(STORED_SET_TYPE_BITS, 1, 0);

			row.filter = BloomAddSorted(BloomMakeEmpty(&shape),
										&call->keys[0].hash, 1, call->key_type);
			StoredSetWriteRow(&call->table, &nowhere, &row);
			call->knows_type = true;
		}
		StoredSetUnlock(&call->table, STORED_SET_TYPE_BUCKET);
	}
	/* this command will have written, so no other has changed it meanwhile */
	if (is_number)
		writer->key_type = call->key_type->id;
}

/*
 * Delete the rows of a bucket in slices of this range, as far as they are free.
 * False: there was none.
 */
static bool
DeleteRows(StoredSetCall *call, int32 bucket, TimestampTz from,
		   TimestampTz before)
{
	StoredSetVersion version;
	bool		deleted = false;

	StoredSetFindVersions(&call->table, bucket, false, from, before);
	while (StoredSetNextVersion(&call->table, &version))
		deleted |= version.is_free &&
			StoredSetDeleteRow(&call->table, &version.place);
	return deleted;
}

/* How many keys set half of the bits of a filter, on average? */
static double
KeysOfHalf(const StoredSet *set, int generation)
{
	return M_LN2 * set->params.bits / StoredSetHashes(&set->params, generation);
}

/*
 * Note for the warning how many keys too many a bucket holds that cannot give
 * any to the next generation.
 *
 * Their number varies by chance, and is an estimate besides.
 */
static void
NoteWritten(StoredSetCall *call, const Bucket *bucket)
{
	const StoredSet *set = &call->table.set;
	double		keys = bucket->nkeys + bucket->nyoung;
	double		capacity = set->params.grows ?
	KeysOfHalf(set, bucket->generation) : set->bucket_capacity;
	double		error;
	double		variance;

	if (bucket->generation + 1 < set->generations || keys <= capacity)
		return;
	error = BloomEstimateError(set->params.bits, set->params.hashes, capacity);
	variance = error * error + (set->params.buckets > 1 ? capacity : 0);
	if (keys > capacity + OVERFULL_ERRORS * sqrt(variance))
		call->overfull = Max(call->overfull, keys / capacity);
}

/*
 * If there are so many, write the filter of a bucket anew, with the committed
 * keys of its lanes, as far as it takes them.  The caller writes the lanes.
 */
static void
Merge(StoredSetCall *call, Bucket *bucket, int least)
{
	const StoredSet *set = &call->table.set;
	bool		limited = bucket->generation + 1 < set->generations;
	StoredSetRow row = {0};
	uint64	   *hashes;
	int			nmerged = 0;

	if (bucket->nmergeable < least || !bucket->filter_is_free ||
		bucket->filter_is_full)
		return;
	hashes = palloc(bucket->nmergeable * sizeof(uint64));
	if (bucket->has_filter)
		StoredSetReadAgain(&call->table, &bucket->filter.tid, &row);
	else
	{
		BloomShape	shape = StoredSetShape(set, bucket->generation);

		row.bucket = bucket->number;
		row.slice = call->current;
		row.filter = BloomMakeEmpty(&shape);
	}

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
									call->key_type);
		nmerged += n;
	}
	pfree(hashes);
	StoredSetWriteRow(&call->table, &bucket->filter, &row);
	bucket->has_filter = true;
	bucket->filter_is_free = false; /* by this command */
	bucket->nkeys = BloomCardinality(row.filter);
	bucket->is_closed |= StoredSetIsClosed(set, bucket->generation, &row);

	bucket->nyoung -= nmerged;
	for (int i = 0; i < bucket->nlanes && nmerged > 0; i++)
	{
		StoredSetRow *lane = &bucket->lanes[i].row;
		int			n = Min(lane->ncommitted, nmerged);
		uint64	   *kept = (uint64 *) lane->hashes;

		if (n == 0)
			continue;
		memmove(kept, kept + n, (lane->nhashes - n) * sizeof(uint64));
		lane->nhashes -= n;
		lane->ncommitted -= n;
		lane->room = 0;
		nmerged -= n;
		bucket->lanes[i].changed = true;
	}
}

/* Put keys into a lane that has room for them. */
static void
PutIntoLane(StoredSetCall *call, Lane *lane, const uint64 *hashes, int n,
			int ncommitted)
{
	StoredSetRow *row = &lane->row;
	uint64	   *all = (uint64 *) row->hashes;

	Assert(row->nhashes + n <= STORED_SET_LONG_LANE);
	/* committed ones stand before the transaction's own */
	if (ncommitted > 0 && row->ncommitted < row->nhashes)
		memmove(all + row->ncommitted + ncommitted, all + row->ncommitted,
				(row->nhashes - row->ncommitted) * sizeof(uint64));
	memcpy(all + row->ncommitted, hashes, ncommitted * sizeof(uint64));
	row->nhashes += ncommitted;
	row->ncommitted += ncommitted;
	memcpy(all + row->nhashes, hashes + ncommitted,
		   (n - ncommitted) * sizeof(uint64));
	row->nhashes += n - ncommitted;
	if (IsShort(lane))
		/* many versions in a transaction find no place in the page anyway */
		row->room = call->table.same_command ||
			(call->nkeys == 1 && !call->table.wrote_before) ?
			STORED_SET_SHORT_LANE : 0;
	else if (call->table.same_command)
		row->room = STORED_SET_LONG_LANE;
	else
		/* without the word at the end */
		row->room = Max(row->room, (row->nhashes | 15));
	lane->changed = true;
}

/* Put keys into long lanes. */
static Lane *
PutIntoLongLanes(StoredSetCall *call, Bucket *bucket, const uint64 *hashes, int n,
				 int ncommitted)
{
	Lane	   *lane = NULL;

	for (int i = 0; i < bucket->nlanes && lane == NULL; i++)
	{
		if (!IsShort(&bucket->lanes[i]) &&
			bucket->lanes[i].row.nhashes + n <= STORED_SET_LONG_LANE)
			lane = &bucket->lanes[i];
	}
	while (lane == NULL && n > STORED_SET_LONG_LANE)
	{
		int			some = Min(ncommitted, STORED_SET_LONG_LANE);

		PutIntoLane(call, NewLane(call, bucket, true), hashes,
					STORED_SET_LONG_LANE, some);
		hashes += STORED_SET_LONG_LANE;
		n -= STORED_SET_LONG_LANE;
		ncommitted -= some;
	}
	if (lane == NULL)
		lane = NewLane(call, bucket, true);
	PutIntoLane(call, lane, hashes, n, ncommitted);
	return lane;
}

/*
 * Put new keys into lanes.
 *
 * They go to a short lane.  If there is none with room, the keys of a short
 * lane that is full move to a long one.  If all are held, there will be one
 * more.
 */
static Lane *
PutIntoLanes(StoredSetCall *call, Bucket *bucket, const uint64 *hashes, int n)
{
	Lane	   *lane = NULL;
	int			best = -1;

	if (n > STORED_SET_SHORT_LANE)
		return PutIntoLongLanes(call, bucket, hashes, n, 0);
	/* rather one that has room, and is held by this transaction already */
	for (int i = 0; i < bucket->nlanes; i++)
	{
		int			value = 0;

		if (!IsShort(&bucket->lanes[i]))
			continue;
		if (bucket->lanes[i].row.nhashes + n <= STORED_SET_SHORT_LANE)
			value = 1 + bucket->lanes[i].row.nhashes;
		if (bucket->lanes[i].place.is_own)
			value += 2 * STORED_SET_SHORT_LANE;
		if (value > best)
		{
			best = value;
			lane = &bucket->lanes[i];
		}
	}
	if (lane == NULL)
		lane = NewLane(call, bucket, false);
	else if (lane->row.nhashes + n > STORED_SET_SHORT_LANE)
	{
		(void) PutIntoLongLanes(call, bucket, lane->row.hashes,
								lane->row.nhashes, lane->row.ncommitted);
		lane->row.nhashes = lane->row.ncommitted = 0;
	}
	PutIntoLane(call, lane, hashes, n, 0);
	return lane;
}

/* Write the lanes that have changed.  Those that are empty now go. */
static void
WriteLanes(StoredSetCall *call, Bucket *bucket)
{
	for (int i = 0; i < bucket->nlanes; i++)
	{
		Lane	   *lane = &bucket->lanes[i];

		if (!lane->changed)
			continue;
		if (lane->row.nhashes > 0 || lane->row.closed)
			StoredSetWriteRow(&call->table, &lane->place, &lane->row);
		else
			(void) StoredSetDeleteRow(&call->table, &lane->place);
		lane->changed = false;
	}
}

/* How many more keys may there be in a bucket? */
static uint64
RoomLeft(const StoredSet *set, const Bucket *bucket)
{
	double		keys = FULL * KeysOfHalf(set, bucket->generation) -
	bucket->nkeys - bucket->nyoung;

	if (bucket->generation + 1 >= set->generations)
		return PG_UINT32_MAX;
	return keys < 1 ? 0 : (uint64) keys;
}

static bool AddToBucket(StoredSetCall *call, int generation, StoredSetKey *keys,
						uint64 nkeys, bool write);

/* The same for each of their buckets in a generation, from higher to lower. */
static bool
AddToBuckets(StoredSetCall *call, int generation, StoredSetKey *keys,
			 uint64 nkeys, bool write)
{
	for (uint64 left = nkeys; left > 0;)
	{
		uint64		n = CountLast(&call->table.set, generation, 0, keys, left);

		left -= n;
		if (CountAnswers(keys + left, n, STORED_SET_UNKNOWN) > 0 &&
			!AddToBucket(call, generation, keys + left, n, write))
			return false;
	}
	return true;
}

/*
 * Add those keys that are new to the rows of a bucket, as many as it takes.
 * True: the others go to the next generation.
 */
static bool
WriteBucket(StoredSetCall *call, Bucket *bucket, StoredSetKey *keys, uint64 nkeys)
{
	uint64		nopen = CountAnswers(keys, nkeys, STORED_SET_UNKNOWN);
	uint64		n = 0;
	uint64		room;
	uint64		one;
	uint64	   *hashes = nopen == 1 ? &one : palloc(nopen * sizeof(uint64));
	Lane	   *lane = NULL;

	EnsureKeyType(call);
	if (!bucket->has_rows && !call->table.set.params.keeps_all)
		(void) DeleteRows(call, bucket->number, DT_NOBEGIN, call->oldest);
	/* rather than that the new keys find no place beside them */
	Merge(call, bucket, nopen < MERGE_KEYS / 2 ? MERGE_KEYS + 1 - (int) nopen :
		  MERGE_KEYS / 2);

	room = bucket->is_closed ? 0 : RoomLeft(&call->table.set, bucket);
	for (uint64 i = 0; i < nkeys && n < Min(room, MAX_NEW_KEYS); i++)
	{
		if (keys[i].answer != STORED_SET_UNKNOWN)
			continue;
		keys[i].answer = STORED_SET_FRESH;
		hashes[n++] = keys[i].hash;
	}
	if (n > 0 || !bucket->is_closed)
		lane = PutIntoLanes(call, bucket, hashes, (int) n);
	if (n == room && n < nopen && !bucket->is_closed)
		bucket->is_closed = lane->row.closed = lane->changed = true;
	bucket->nyoung += n;
	WriteLanes(call, bucket);
	NoteWritten(call, bucket);
	return bucket->is_closed;
}

/*
 * Add keys that belong to one bucket, there or in the next generations; or only
 * look for them.  False: another transaction decides on one of them.
 */
static bool
AddToBucket(StoredSetCall *call, int generation, StoredSetKey *keys, uint64 nkeys,
			bool write)
{
	Bucket		bucket;

	CHECK_FOR_INTERRUPTS();
	ReadBucket(call, &bucket, generation,
			   StoredSetBucketOf(&call->table.set, generation, keys[0].place),
			   keys, nkeys);
	if (TransactionIdIsValid(call->pending) ||
		(bucket.goes_on &&
		 !AddToBuckets(call, generation + 1, keys, nkeys,
					   write && bucket.is_closed)))
		return false;
	if (!write || CountAnswers(keys, nkeys, STORED_SET_UNKNOWN) == 0)
	{
		/* merge what was still in lanes when the bucket was closed */
		if (write && bucket.is_closed && call->table.wrote)
		{
			Merge(call, &bucket, MERGE_KEYS);
			WriteLanes(call, &bucket);
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
	int32		bucket = StoredSetBucketOf(&call->table.set, 0, keys[0].place);

	/* there may also be more than MAX_NEW_KEYS */
	while (CountAnswers(keys, nkeys, STORED_SET_UNKNOWN) > 0)
	{
		bool		done;

		StoredSetLock(&call->table, bucket);
		done = AddToBuckets(call, 0, keys, nkeys, true);
		StoredSetUnlock(&call->table, bucket);
		if (!done)
			StoredSetWaitFor(&call->table, call->pending);
	}
}

/* Add all keys of a call. */
static void
AddKeys(StoredSetCall *call)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set add",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;

	if (IsolationUsesXactSnapshot())
		StoredSetTestBeforeAdd(call);
	oldcontext = MemoryContextSwitchTo(scratch);
	for (uint64 left = call->nkeys; left > 0;)
	{
		uint64		n = CountLast(&call->table.set, 0, STORED_SET_LOCK_SHIFT,
								  call->keys, left);

		left -= n;
		AddLocked(call, call->keys + left, n);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
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

/*
 * StoredSetAdd
 *		Add keys of these hashes.  Of each, the answer is that of the first.
 */
void
StoredSetAdd(StoredSetCall *call, const BloomKeyType *key_type,
			 const uint64 *hashes, uint64 nhashes, bool *warned)
{
	call->key_type = key_type;
	MakeKeys(call, hashes, nhashes);
	StoredSetBegin(&call->table);
	AddKeys(call);
	StoredSetEnd(&call->table);
	if (!*warned)
		*warned = WarnIfOverfull(call);
}

/* ----------------------------------------------------------------
 *							EXPIRING AND COMPACTING
 * ----------------------------------------------------------------
 */

/*
 * Go to the next bucket, in one of its slices, that has rows to be deleted, or
 * lanes with keys.  False: there is none.
 */
static bool
NextPart(StoredSetCall *call, StoredSetRow *part)
{
	StoredSetTable *table = &call->table;
	StoredSetRow row;

	while (StoredSetNextRow(table, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (row.bucket == STORED_SET_TYPE_BUCKET ||
			(row.bucket == part->bucket && row.slice == part->slice) ||
			(table->use == STORED_SET_EXPIRE ? row.slice >= call->oldest :
			 row.nhashes == 0))
			continue;
		*part = row;
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
	StringInfoData slices;
	StoredSetRow part = {.bucket = STORED_SET_TYPE_BUCKET};

	initStringInfo(&slices);
	StoredSetBegin(table);
	StoredSetFindRows(table, STORED_SET_ALL_BUCKETS, DT_NOBEGIN);
	while (NextPart(call, &part))
	{
		int32		first = StoredSetFirstBucket(&table->set, part.bucket);
		bool		deleted;

		StoredSetLock(table, first);
		deleted = DeleteRows(call, part.bucket, part.slice, part.slice + 1);
		StoredSetUnlock(table, first);
		if (deleted)
			appendBinaryStringInfo(&slices, (char *) &part.slice,
								   sizeof(part.slice));
	}
	StoredSetEnd(table);
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
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set compact",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;
	StoredSetRow type = {.bucket = STORED_SET_TYPE_BUCKET};
	StoredSetRow part = type;
	BloomKeyType key_type = {0};
	int64		nmoved = 0;

	StoredSetBegin(table);
	call->key_type = &key_type;
	if (FindKeyType(call, &type))
		key_type = BloomKeyTypeOf(BloomCopy(type.filter));
	StoredSetFindRows(table, STORED_SET_ALL_BUCKETS, DT_NOBEGIN);
	oldcontext = MemoryContextSwitchTo(scratch);
	/* else no transaction has committed keys */
	while (call->knows_type && NextPart(call, &part))
	{
		int32		first = StoredSetFirstBucket(&table->set, part.bucket);
		Bucket		bucket;
		int			nyoung;

		call->oldest = call->current = part.slice;
		StoredSetLock(table, first);
		ReadBucket(call, &bucket,
				   StoredSetGeneration(&table->set, part.bucket),
				   part.bucket, NULL, 0);
		nyoung = bucket.nyoung;
		Merge(call, &bucket, 1);
		WriteLanes(call, &bucket);
		StoredSetUnlock(table, first);
		nmoved += nyoung - bucket.nyoung;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	StoredSetEnd(table);
	return nmoved;
}
