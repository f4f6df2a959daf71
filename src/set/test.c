/*-------------------------------------------------------------------------
 *
 * set/test.c
 *		Testing keys of a stored set.
 *
 * A test is STABLE: all that a statement asks, it asks of one snapshot.  So the
 * statement keeps the buckets that it has read, for all its call sites and all
 * sets together.  They take as much memory as a hash table may; then it begins
 * anew.
 *
 * Invariants:
 *
 *	- All that is kept was read with the view of the current call: a user and a
 *	  snapshot that sees the same rows.
 *	- A bucket has what is in all live slices of a set, by a time.
 *	- Whoever tests a key has checked its type with the set's, if it has one.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bits/sort.h"
#include "filter/setops.h"
#include "filter/statement.h"
#include "set/test.h"

/* Bytes of memory that the cache takes at once */
#define MAX_BLOCK	(64 * 1024)

/* The part of a number that has a key's place above and its index below */
#define INDEX_MASK	UINT64CONST(0xffffffff)

/* ----------------------------------------------------------------
 *							THE CACHE
 * ----------------------------------------------------------------
 */

/* What a bucket has in all live slices */
typedef struct CachedBucket
{
	int32		number;			/* hash key */
	char		status;
	bool		is_closed;
	int			nfilters;
	char	   *filters;		/* one after another */
	uint64	   *hashes;			/* of the lanes, sorted */
	uint64		nhashes;
} CachedBucket;

#define SH_PREFIX		buckets
#define SH_ELEMENT_TYPE	CachedBucket
#define SH_KEY_TYPE		int32
#define SH_KEY			number
#define SH_HASH_KEY(tb, key)	murmurhash32((uint32) (key))
#define SH_EQUAL(tb, a, b)		((a) == (b))
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What was read of a set, with the live slices by one time */
typedef struct StoredSetCached
{
	struct StoredSetCached *next;
	StoredSet	set;
	TimestampTz oldest;			/* slice */
	const Bloom *type;			/* a filter that has the key type, or NULL */
	buckets_hash *buckets;
} StoredSetCached;

/* Rows look the same to calls for which all of this agrees */
typedef struct View
{
	Oid			user;
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
	CommandId	command;
	TransactionId xmax;
	uint32		xcnt;
	uint32		xids;			/* a hash of those that run */
	int32		subxcnt;
} View;

struct StoredSetCache
{
	BloomShared shared;
	MemoryContext context;		/* of all that was read */
	View		view;
	uint64		nemptied;		/* how often */
	StoredSetCached *first;
};

/*
 * Forget all that was read.
 *
 * Blocks are small beside the limit, so that what is allocated is used.
 */
static void
EmptyCache(StoredSetCache *cache)
{
	if (cache->context == NULL)
		cache->context = AllocSetContextCreate(cache->shared.query,
											   "Bloom set cache",
											   ALLOCSET_DEFAULT_MINSIZE,
											   ALLOCSET_DEFAULT_INITSIZE,
											   MAX_BLOCK);
	else
		MemoryContextReset(cache->context);
	cache->first = NULL;
	cache->nemptied++;
}

/* Enter a set, nothing of which was read yet, for a call. */
static void
EnterSet(StoredSetCall *call, const StoredSet *set, TimestampTz oldest)
{
	StoredSetCached *cached = MemoryContextAlloc(call->cache->context,
												 sizeof(StoredSetCached));

	cached->set = *set;
	cached->oldest = oldest;
	cached->type = NULL;
	cached->buckets = buckets_create(call->cache->context, 8, NULL);
	cached->next = call->cache->first;
	call->cache->first = call->cached = cached;
	call->nemptied = call->cache->nemptied;
}

/*
 * StoredSetStartTest
 *		Start a call that tests, with the cache of the statement that has this
 *		memory context.  It opens the set unless the set is cached.
 *
 * Within a statement, all calls see the same.  Between two snapshots with the
 * same numbers, no transaction has ended: that would have increased xmax, or
 * else changed those that run.  Their number alone does not tell, since one that
 * is being prepared may be there twice.
 */
void
StoredSetStartTest(StoredSetCall *call, StoredSetCache **cache,
				   MemoryContext statement, Oid relid, TimestampTz at)
{
	Snapshot	snapshot = GetActiveSnapshot();
	View		view = {
		.user = GetUserId(),
		.transaction = BloomLocalTransaction(),
		.subtransaction = GetCurrentSubTransactionId(),
		.command = snapshot->curcid,
		.xmax = snapshot->xmax,
		.xcnt = snapshot->xcnt,
		.xids = hash_bytes((const unsigned char *) snapshot->xip,
						   (int) (snapshot->xcnt * sizeof(TransactionId))),
		.subxcnt = snapshot->subxcnt
	};
	StoredSetCached *cached;

	if (*cache == NULL)
		*cache = BloomShare(statement, BLOOM_SHARED_SETS,
							sizeof(StoredSetCache));
	if (memcmp(&view, &(*cache)->view, sizeof(view)) != 0)
	{
		EmptyCache(*cache);
		(*cache)->view = view;
	}
	for (cached = (*cache)->first; cached != NULL; cached = cached->next)
	{
		if (cached->set.relid == relid &&
			StoredSetOldestSlice(&cached->set, at) == cached->oldest)
			break;
	}
	call->cache = *cache;
	call->cached = cached;
	if (cached == NULL)
	{
		StoredSetStart(call, relid, STORED_SET_TEST, at);
		EnterSet(call, &call->table.set, call->oldest);
		return;
	}
	call->table.rel = NULL;
	call->seed = (uint64) cached->set.params.seed;
	call->nemptied = call->cache->nemptied;
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/* Keep what a bucket has more, behind what was kept of it. */
static void *
Keep(void *kept, Size size, const void *more, Size length)
{
	kept = kept == NULL ? palloc_extended(length, MCXT_ALLOC_HUGE) :
		repalloc_huge(kept, size + length);
	memcpy((char *) kept + size, more, length);
	return kept;
}

/* Read the rows of a bucket. */
static void
ReadBucket(StoredSetCall *call, CachedBucket *bucket, int generation)
{
	StoredSetRow row;
	Size		size = 0;

	StoredSetFindRows(&call->table, bucket->number,
					  bucket->number == STORED_SET_TYPE_BUCKET ? DT_NOBEGIN :
					  call->cached->oldest);
	while (StoredSetNextRow(&call->table, &row))
	{
		CHECK_FOR_INTERRUPTS();
		bucket->is_closed |= StoredSetIsClosed(&call->cached->set, generation,
											   &row);
		if (row.filter == NULL)
		{
			bucket->hashes = Keep(bucket->hashes,
								  bucket->nhashes * sizeof(uint64), row.hashes,
								  row.nhashes * sizeof(uint64));
			bucket->nhashes += row.nhashes;
			continue;
		}
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, row.filter, call->key_type);
		bucket->filters = Keep(bucket->filters, size, row.filter,
							   VARSIZE(row.filter));
		bucket->nfilters++;
		size += VARSIZE(row.filter);
	}
	bucket->nhashes = BloomSortHashes(bucket->hashes, bucket->nhashes);
	if (call->cached->type == NULL && bucket->nfilters > 0)
		call->cached->type = (const Bloom *) bucket->filters;
}

/*
 * A bucket, from the cache or from the table.
 *
 * If there is an error while it is read, the rest of it is not missed: then the
 * subtransaction ends, and with it the view.
 */
static CachedBucket *
GetBucket(StoredSetCall *call, int generation, int32 number)
{
	StoredSetCache *cache = call->cache;
	CachedBucket *bucket = buckets_lookup(call->cached->buckets, number);
	MemoryContext oldcontext;
	bool		found;

	if (bucket != NULL)
		return bucket;
	if (MemoryContextMemAllocated(cache->context, false) >
		BloomHashMemoryLimit())
	{
		StoredSetCached kept = *call->cached;

		EmptyCache(cache);
		EnterSet(call, &kept.set, kept.oldest);
	}
	bucket = buckets_insert(call->cached->buckets, number, &found);
	*bucket = (CachedBucket)
	{
		.number = number,.status = bucket->status
	};
	if (call->table.rel == NULL)
		StoredSetOpen(&call->table, call->cached->set.relid, STORED_SET_TEST);
	if (call->table.slot == NULL)
		StoredSetBegin(&call->table);
	oldcontext = MemoryContextSwitchTo(cache->context);
	ReadBucket(call, bucket, generation);
	MemoryContextSwitchTo(oldcontext);
	return bucket;
}

/* ----------------------------------------------------------------
 *							TESTING
 * ----------------------------------------------------------------
 */

/* Is a key of this hash in a bucket? */
static bool
TestBucket(CachedBucket *bucket, uint64 hash)
{
	const char *filter = bucket->filters;

	for (int i = 0; i < bucket->nfilters; i++)
	{
		if (BloomTestHash((const Bloom *) filter, hash))
			return true;
		filter += VARSIZE(filter);
	}
	return BloomTestKeys(bucket->hashes, bucket->nhashes, hash);
}

/*
 * StoredSetTestKey
 *		Is a key of this hash, and of the call's key type, in the set?
 */
bool
StoredSetTestKey(StoredSetCall *call, uint64 hash)
{
	uint64		place = StoredSetPlaceOf(hash);
	bool		found = false;
	bool		goes_on = true;

	if (call->nemptied != call->cache->nemptied)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("Bloom sets cannot be tested by the hash function of a key that is tested")));
	for (int generation = 0; goes_on && !found; generation++)
	{
		int32		number = StoredSetBucketOf(&call->cached->set, generation,
											   place);
		CachedBucket *bucket = GetBucket(call, generation, number);

		goes_on = bucket->is_closed;
		found = TestBucket(bucket, hash);
	}
	if (call->cached->type == NULL)
		(void) GetBucket(call, 0, STORED_SET_TYPE_BUCKET);
	if (call->cached->type != NULL)
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, call->cached->type, call->key_type);
	return found;
}

/*
 * StoredSetTest
 *		Answers for keys of these hashes.
 *
 * Those of a bucket are tested one after another, so that it is read only once
 * even if the cache is too small.
 */
void
StoredSetTest(StoredSetCall *call, const uint64 *hashes, uint64 nhashes,
			  uint8 *answers)
{
	uint64	   *order = palloc_extended((2 * nhashes + 1) * sizeof(uint64),
										MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		order[i] = (StoredSetPlaceOf(hashes[i]) & ~INDEX_MASK) | i;
	}
	BloomSort(order, order + nhashes, nhashes, false);
	for (uint64 i = 0; i < nhashes; i++)
	{
		uint64		index = order[i] & INDEX_MASK;

		BloomCheckInterrupts(i);
		answers[index] = StoredSetTestKey(call, hashes[index]) ?
			STORED_SET_SEEN : STORED_SET_UNKNOWN;
	}
	pfree(order);
}

/*
 * StoredSetTestBeforeAdd
 *		Test the keys of a call that adds, with its own snapshot.
 */
void
StoredSetTestBeforeAdd(StoredSetCall *call)
{
	StoredSetCache cache = {.shared.query = CurrentMemoryContext};

	EmptyCache(&cache);
	call->cache = &cache;
	EnterSet(call, &call->table.set, call->oldest);
	for (uint64 i = 0; i < call->nkeys; i++)
	{
		BloomCheckInterrupts(i);
		if (StoredSetTestKey(call, call->keys[i].hash))
			call->keys[i].answer = STORED_SET_SEEN;
	}
	call->knows_type = call->cached->type != NULL;
	MemoryContextDelete(cache.context);
}
