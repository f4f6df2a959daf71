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

/* Enter an open set, nothing of which was read yet, for a test. */
static void
EnterSet(StoredSetTest *test, TimestampTz oldest)
{
	StoredSetCache *cache = test->cache;
	MemoryContext oldcontext = MemoryContextSwitchTo(cache->context);
	StoredSetCached *cached = palloc(sizeof(StoredSetCached));

	cached->set = test->table->set;
	cached->set.key_type = BloomCopyKeyType(&cached->set.key_type);
	cached->oldest = oldest;
	cached->buckets = buckets_create(cache->context, 8, NULL);
	cached->next = cache->first;
	cache->first = test->cached = cached;
	test->nemptied = cache->nemptied;
	MemoryContextSwitchTo(oldcontext);
}

/*
 * StoredSetStartTest
 *		Start a test, with the cache of the statement that has this memory
 *		context.  It opens the set in "table", unless the set is cached.
 *
 * Within a statement, all calls see the same.  Between two snapshots with the
 * same numbers, no transaction has ended: that would have increased xmax, or
 * else changed those that run.  Their number alone does not tell, since one that
 * is being prepared may be there twice.
 */
void
StoredSetStartTest(StoredSetTest *test, StoredSetTable *table,
				   StoredSetCache **cache, MemoryContext statement, Oid relid,
				   TimestampTz at)
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
			StoredSetOldestSlice(&cached->set.params, at) == cached->oldest)
			break;
	}
	table->rel = NULL;
	test->table = table;
	test->cache = *cache;
	test->cached = cached;
	test->nemptied = test->cache->nemptied;
	if (cached == NULL)
	{
		StoredSetOpen(table, relid, false);
		EnterSet(test, StoredSetOldestSlice(&table->set.params, at));
	}
	/* hashing a key can run code that empties the cache */
	test->seed = (uint64) test->cached->set.params.seed;
	test->key_type = BloomCopyKeyType(&test->cached->set.key_type);
}

/*
 * StoredSetFinishTest
 *		Close the set, if the test has opened it.
 */
void
StoredSetFinishTest(StoredSetTest *test)
{
	if (test->table->rel != NULL)
		StoredSetClose(test->table);
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
ReadBucket(StoredSetTest *test, CachedBucket *bucket, int generation)
{
	StoredSetTable *table = test->table;
	StoredSetVersion version;
	const StoredSetRow *row = &version.row;
	Size		size = 0;

	StoredSetFindBucket(table, &table->visible, bucket->number, bucket->number,
						test->cached->oldest, DT_NOEND);
	while (StoredSetNext(table, &table->visible, &version))
	{
		bucket->is_closed |= StoredSetIsClosed(&test->cached->set.params,
											   generation, row);
		if (row->filter == NULL)
		{
			bucket->hashes = Keep(bucket->hashes,
								  bucket->nhashes * sizeof(uint64), row->hashes,
								  row->nhashes * sizeof(uint64));
			bucket->nhashes += row->nhashes;
			continue;
		}
		bucket->filters = Keep(bucket->filters, size, row->filter,
							   VARSIZE(row->filter));
		bucket->nfilters++;
		size += VARSIZE(row->filter);
	}
	bucket->nhashes = BloomSortHashes(bucket->hashes, bucket->nhashes);
}

/*
 * A bucket, from the cache or from the table.
 *
 * If there is an error while it is read, the rest of it is not missed: then the
 * subtransaction ends, and with it the view.
 */
static CachedBucket *
GetBucket(StoredSetTest *test, int generation, int32 number)
{
	StoredSetCache *cache = test->cache;
	CachedBucket *bucket = buckets_lookup(test->cached->buckets, number);
	MemoryContext oldcontext;
	bool		found;

	if (bucket != NULL)
		return bucket;
	if (test->table->rel == NULL)
		StoredSetOpen(test->table, test->cached->set.relid, false);
	if (MemoryContextMemAllocated(cache->context, false) >
		BloomHashMemoryLimit())
	{
		TimestampTz oldest = test->cached->oldest;

		EmptyCache(cache);
		EnterSet(test, oldest);
	}
	bucket = buckets_insert(test->cached->buckets, number, &found);
	*bucket = (CachedBucket)
	{
		.number = number,.status = bucket->status
	};
	oldcontext = MemoryContextSwitchTo(cache->context);
	ReadBucket(test, bucket, generation);
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
 *		Is a key of this hash in the set?  0: of none.
 */
bool
StoredSetTestKey(StoredSetTest *test, uint64 hash)
{
	uint64		place = StoredSetPlaceOf(hash);
	bool		found = false;
	bool		goes_on = hash != 0;

	if (test->nemptied != test->cache->nemptied)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stored sets cannot be tested by the hash function of a key type, for a key that is being tested")));
	for (int generation = 0; goes_on && !found; generation++)
	{
		int32		number = StoredSetBucketOf(&test->cached->set.params,
											   generation, place);
		CachedBucket *bucket = GetBucket(test, generation, number);

		goes_on = bucket->is_closed;
		found = TestBucket(bucket, hash);
	}
	return found;
}

/*
 * StoredSetTestKeys
 *		Answers for keys of these hashes.
 *
 * Those of a bucket are tested one after another, so that it is read only once
 * even if the cache is too small.
 */
void
StoredSetTestKeys(StoredSetTest *test, const uint64 *hashes, uint64 nhashes,
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
		answers[index] = StoredSetTestKey(test, hashes[index]) ?
			STORED_SET_SEEN : STORED_SET_UNKNOWN;
	}
	pfree(order);
}

/*
 * StoredSetTestBeforeAdd
 *		Answers for the keys of a call that adds, by its own snapshot.
 */
void
StoredSetTestBeforeAdd(StoredSetTable *table, TimestampTz oldest,
					   const uint64 *hashes, uint64 nhashes, uint8 *answers)
{
	StoredSetCache cache = {.shared.query = CurrentMemoryContext};
	StoredSetTest test = {.table = table,.cache = &cache};

	EmptyCache(&cache);
	EnterSet(&test, oldest);
	StoredSetTestKeys(&test, hashes, nhashes, answers);
	MemoryContextDelete(cache.context);
}
