/*-------------------------------------------------------------------------
 *
 * set/probe.c
 *		Testing keys of a stored set: bloom_set_contains, bloom_set_contains_all,
 *		bloom_set_contains_any, bloom_set_missing.
 *
 * A test is STABLE: all that a statement asks, it asks of one snapshot.  So the
 * statement keeps the ranges that it has read, for all its call sites and all
 * sets together.  They take as much memory as a hash table may; then it begins
 * anew.
 *
 * Invariants:
 *
 *	- All that is kept was read with the view of the current call: a user and a
 *	  snapshot that sees the same rows.
 *	- A range has what is live of it by a time, up to its top.
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
#include "key/statement.h"
#include "set/store.h"

/* Bytes of memory that the cache takes at once */
#define MAX_BLOCK	(64 * 1024)

/* The part of a number that has a key's hash above and its index below */
#define INDEX_MASK	UINT64CONST(0xffffffff)

/* ----------------------------------------------------------------
 *							THE CACHE
 * ----------------------------------------------------------------
 */

/* A range, as a snapshot sees it */
typedef struct CachedRange
{
	uint64		start;
	uint64		last;
	uint64		top;			/* from here down, its lanes were read */
	StoredSetPack pack;
	uint64	   *hashes;			/* of the lanes, sorted */
	uint64		nhashes;
} CachedRange;

/*
 * The ranges of a stripe that were read, by descending starts: keys of an array are
 * tested in this order, so that the ranges that they need are appended.
 */
typedef struct CachedStripe
{
	CachedRange **ranges;
	int			nranges;
} CachedStripe;

/* What was read of a set, with the live slices by one time */
typedef struct StoredSetCached
{
	struct StoredSetCached *next;
	StoredSet	set;
	int64		oldest;			/* slice */
	CachedStripe stripes[STORED_SET_STRIPES];
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
EnterSet(StoredSetTest *test, int64 oldest)
{
	StoredSetCache *cache = test->cache;
	MemoryContext oldcontext = MemoryContextSwitchTo(cache->context);
	StoredSetCached *cached = palloc0(sizeof(StoredSetCached));

	cached->set = test->table->set;
	cached->set.key_type = BloomCopyKeyType(&cached->set.key_type);
	cached->oldest = oldest;
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
	test->spacing = PG_UINT64_MAX;
	if (cached == NULL)
	{
		StoredSetOpen(table, relid, false, true);
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

/* Keep the hashes of a lane that are live. */
static void
KeepHashes(const StoredSetTest *test, CachedRange *range, const StoredSetRow *row)
{
	uint64		n = range->nhashes + row->nhashes;

	if (row->slice < test->cached->oldest || row->nhashes == 0)
		return;
	range->hashes = range->hashes == NULL ?
		palloc_extended(n * sizeof(uint64), MCXT_ALLOC_HUGE) :
		repalloc_huge(range->hashes, n * sizeof(uint64));
	memcpy(range->hashes + range->nhashes, row->hashes,
		   row->nhashes * sizeof(uint64));
	range->nhashes = n;
}

/* Keep the list of a range. */
static void
KeepList(const StoredSetTable *table, CachedRange *range, const StoredSetRow *row)
{
	if (range->top > row->pack.last)
		StoredSetInvalidRow(table, row->start, 0, "There is no range above it.");
	range->start = row->start;
	range->last = row->pack.last;
	range->pack = StoredSetCopyPack(&row->pack);
}

/* Read the rows of a range that a search finds.  True: its own, too. */
static bool
ReadRows(StoredSetTest *test, CachedRange *range)
{
	StoredSetTable *table = test->table;
	StoredSetVersion version;

	while (StoredSetNext(table, &table->visible, &version))
	{
		if (version.row.lane == 0)
		{
			KeepList(table, range, &version.row);
			return true;
		}
		KeepHashes(test, range, &version.row);
	}
	return false;
}

/* Read the range of a hash, as far as it may have this hash or lower ones. */
static void
ReadRange(StoredSetTest *test, CachedRange *range, uint64 hash)
{
	range->top = hash;
	StoredSetFindRange(test->table, &test->table->visible, hash, test->spacing);
	if (!ReadRows(test, range))
	{
		/* no row: an empty range, which is the stripe */
		range->start = StoredSetStripeStart(hash);
		range->last = StoredSetStripeEnd(hash);
	}
	range->nhashes = BloomSortHashes(range->hashes, range->nhashes);
}

/* Make ready to read: the set is open, and there is memory. */
static void
PrepareToRead(StoredSetTest *test)
{
	StoredSetCache *cache = test->cache;

	if (test->table->rel == NULL)
		StoredSetOpen(test->table, test->cached->set.relid, false, true);
	if (MemoryContextMemAllocated(cache->context, false) >
		get_hash_memory_limit())
	{
		int64		oldest = test->cached->oldest;

		EmptyCache(cache);
		EnterSet(test, oldest);
	}
}

/* How many ranges of a stripe start above a hash? */
static int
CountAbove(const CachedStripe *stripe, uint64 hash)
{
	int			low = 0;

	for (int high = stripe->nranges; low < high;)
	{
		int			middle = low + (high - low) / 2;

		if (stripe->ranges[middle]->start > hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Read a range, and enter it among those of its stripe. */
static CachedRange *
EnterRange(CachedStripe *stripe, StoredSetTest *test, uint64 hash)
{
	CachedRange *range = palloc0(sizeof(CachedRange));
	int			i;

	ReadRange(test, range, hash);
	stripe->ranges = StoredSetMakePlace(stripe->ranges, stripe->nranges,
										sizeof(CachedRange *));
	i = CountAbove(stripe, range->start);
	memmove(stripe->ranges + i + 1, stripe->ranges + i,
			(stripe->nranges - i) * sizeof(CachedRange *));
	stripe->ranges[i] = range;
	stripe->nranges++;
	return range;
}

/*
 * The range of a hash, from the cache or from the table.
 *
 * If there is an error while it is read, the rest of it is not missed: then the
 * subtransaction ends, and with it the view.
 */
static CachedRange *
GetRange(StoredSetTest *test, uint64 hash)
{
	int			number = (int) (hash >> (64 - STORED_SET_STRIPE_BITS));
	CachedStripe *stripe = &test->cached->stripes[number];
	int			i = CountAbove(stripe, hash);
	CachedRange *range = i == stripe->nranges ? NULL : stripe->ranges[i];
	uint64		nemptied = test->cache->nemptied;
	MemoryContext oldcontext;

	if (range != NULL && hash <= range->top)
		return range;
	PrepareToRead(test);
	if (nemptied != test->cache->nemptied || (range != NULL && hash > range->last))
		range = NULL;
	stripe = &test->cached->stripes[number];
	oldcontext = MemoryContextSwitchTo(test->cache->context);
	if (range == NULL)
		range = EnterRange(stripe, test, hash);
	else
	{
		/* the lanes above what was read of it */
		uint64		top = range->top;

		range->top = range->last;
		StoredSetFind(test->table, &test->table->visible, range->last, top + 1);
		/* a search that has gone on can read its row again */
		if (ReadRows(test, range) &&
			range->start > top)
			StoredSetInvalidRow(test->table, range->start, 0,
								"It is within another range.");
		range->nhashes = BloomSortHashes(range->hashes, range->nhashes);
	}
	MemoryContextSwitchTo(oldcontext);
	return range;
}

/* ----------------------------------------------------------------
 *							TESTING
 * ----------------------------------------------------------------
 */

/*
 * StoredSetTestKey
 *		Is a key of this hash in the set?  Hash 0 means that no key of the set's
 *		type equals it.
 */
bool
StoredSetTestKey(StoredSetTest *test, uint64 hash)
{
	CachedRange *range;
	int64		slice;

	if (test->nemptied != test->cache->nemptied)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stored sets cannot be tested by the hash function of a key type, for a key that is being tested")));
	if (hash == 0)
		return false;
	range = GetRange(test, hash);
	return BloomTestKeys(range->hashes, range->nhashes, hash) ||
		(StoredSetFindPacked(&range->pack, hash, &slice) &&
		 slice >= test->cached->oldest);
}

/*
 * StoredSetTestKeys
 *		Answers for keys of these hashes.
 *
 * Those of a range are tested one after another, so that it is read only once
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
		order[i] = (hashes[i] & ~INDEX_MASK) | i;
	}
	BloomSort(order, order + nhashes, nhashes, false);
	test->spacing = PG_UINT64_MAX / Max(nhashes, 1);
	for (uint64 i = nhashes; i > 0; i--)
	{
		uint64		index = order[i - 1] & INDEX_MASK;

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
StoredSetTestBeforeAdd(StoredSetTable *table, int64 oldest,
					   const uint64 *hashes, uint64 nhashes, uint8 *answers)
{
	StoredSetCache cache = {.shared.query = CurrentMemoryContext};
	StoredSetTest test = {.table = table,.cache = &cache};

	EmptyCache(&cache);
	EnterSet(&test, oldest);
	StoredSetTestKeys(&test, hashes, nhashes, answers);
	MemoryContextDelete(cache.context);
}

/* ----------------------------------------------------------------
 *							WHAT SQL CALLS
 * ----------------------------------------------------------------
 */

/* What a call site knows */
typedef struct CallSite
{
	BloomHasher hasher;
	StoredSetCache *cache;		/* of tests, or NULL */
} CallSite;

static CallSite *
GetCallSite(FunctionCallInfo fcinfo, bool is_array)
{
	CallSite   *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
		site = BloomMakeCallSite(fcinfo, 1, is_array, sizeof(CallSite));
	return site;
}

/* Start a test.  NULL: the keys are null; the set was only looked at. */
static CallSite *
StartTest(FunctionCallInfo fcinfo, bool is_array, StoredSetTest *test,
		  StoredSetTable *table)
{
	Oid			relid = StoredSetArg(fcinfo);
	TimestampTz at = StoredSetTimeArg(fcinfo, 2);
	CallSite   *site;

	if (PG_ARGISNULL(1))
	{
		StoredSetOpen(table, relid, false, true);
		StoredSetClose(table);
		return NULL;
	}
	site = GetCallSite(fcinfo, is_array);
	StoredSetStartTest(test, table, &site->cache, fcinfo->flinfo->fn_mcxt,
					   relid, at);
	return site;
}

/*
 * bloom_set_contains
 *		Does a set possibly contain a key?
 */
PG_FUNCTION_INFO_V1(bloom_set_contains);
Datum
bloom_set_contains(PG_FUNCTION_ARGS)
{
	StoredSetTable table;
	StoredSetTest test;
	CallSite   *site = StartTest(fcinfo, false, &test, &table);
	uint64		hash;
	bool		result;

	if (site == NULL)
		PG_RETURN_NULL();
	hash = BloomHashKeyAs(&site->hasher, PG_GETARG_DATUM(1), &StoredSetHolder,
						  &test.key_type, test.seed, BLOOM_TO_FIND);
	result = StoredSetTestKey(&test, hash);
	StoredSetFinishTest(&test);
	PG_RETURN_BOOL(result);
}

/*
 * Answers for the keys of an array, in its order, by a test.  NULL, if the array
 * is null.
 */
static uint8 *
TestArray(FunctionCallInfo fcinfo, BloomArrayKeys *array)
{
	StoredSetTable table;
	StoredSetTest test;
	CallSite   *site = StartTest(fcinfo, true, &test, &table);
	uint8	   *answers;

	if (site == NULL)
		return NULL;
	*array = BloomHashArray(&site->hasher, PG_GETARG_ARRAYTYPE_P(1),
							&StoredSetHolder, &test.key_type, test.seed,
							BLOOM_TO_FIND);
	answers = palloc0(array->nkeys + 1);
	StoredSetTestKeys(&test, array->hashes, array->nkeys, answers);
	StoredSetFinishTest(&test);
	return answers;
}

/*
 * StoredSetKeysWithAnswer
 *		The elements of an array that have this answer.
 */
Datum
StoredSetKeysWithAnswer(BloomArrayKeys *array, const uint8 *answers,
						StoredSetAnswer answer)
{
	uint64		n = 0;

	for (uint64 i = 0; i < array->nkeys; i++)
	{
		if (answers[i] == answer)
			array->keys[n++] = array->keys[i];
	}
	return BloomMakeKeyArray(array->element, array->keys, n);
}

/*
 * bloom_set_missing
 *		The elements of an array that a set certainly does not contain.
 */
PG_FUNCTION_INFO_V1(bloom_set_missing);
Datum
bloom_set_missing(PG_FUNCTION_ARGS)
{
	BloomArrayKeys array;
	uint8	   *answers = TestArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(StoredSetKeysWithAnswer(&array, answers, STORED_SET_UNKNOWN));
}

/* Is one of the answers for an array decisive?  Null elements may be, too. */
static Datum
DecideByArray(FunctionCallInfo fcinfo, StoredSetAnswer decisive)
{
	BloomArrayKeys array;
	uint8	   *answers = TestArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	if (memchr(answers, decisive, array.nkeys) != NULL)
		PG_RETURN_BOOL(decisive == STORED_SET_SEEN);
	if (array.has_nulls)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(decisive != STORED_SET_SEEN);
}

/*
 * bloom_set_contains_all
 *		Does a set possibly contain every element of an array?
 *
 * Null elements count as in ALL.
 */
PG_FUNCTION_INFO_V1(bloom_set_contains_all);
Datum
bloom_set_contains_all(PG_FUNCTION_ARGS)
{
	return DecideByArray(fcinfo, STORED_SET_UNKNOWN);
}

/*
 * bloom_set_contains_any
 *		Does a set possibly contain any element of an array?
 *
 * Null elements count as in ANY.
 */
PG_FUNCTION_INFO_V1(bloom_set_contains_any);
Datum
bloom_set_contains_any(PG_FUNCTION_ARGS)
{
	return DecideByArray(fcinfo, STORED_SET_SEEN);
}
