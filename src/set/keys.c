/*-------------------------------------------------------------------------
 *
 * set/keys.c
 *		Keys of a stored set by shard: test, add, warn.
 *
 * The keys of a call are sorted by a number that is made from their hashes,
 * their place.  A shard has a range of places, and two shards of the next
 * generation have the halves of that range; so the keys of a shard stand
 * together, and among them those of each shard below it.
 *
 * Adding
 * ------
 *
 * Of concurrent adds of one key exactly one must be told that it is new.  In a
 * set that keeps all, a key is looked for in the shards on its way, from the
 * first generation on.  Those that are full never change again.  The first that
 * is not full is the only one to which the key can be added, and who adds to it
 * has locked its row, and sees its newest version.
 *
 * In a set that forgets, two sessions whose clocks differ may add the key to
 * different slices, whose rows may not even exist; there the lock is an update
 * of the row at infinity of the shard of the first generation.  (With a mere
 * lock, a transaction with an old snapshot would not notice.)
 *
 * All calls lock shards in the order of places, and of generations within a
 * shard.  So no call waits for another that waits for it.
 *
 * Slices of a set that grows
 * --------------------------
 *
 * When a shard had to grow in the last slice, it would have to grow in the next
 * one, too.  So where the last slice's row is full, the next slice gets a row
 * that is passed over: its filter has no shape, and its keys go to the next
 * generation at once.  If that is no more than half full at the end, the slice
 * after it starts a generation earlier.  The rates still add up to less than
 * was asked, since each generation has its own.
 *
 * Testing many keys one by one
 * ----------------------------
 *
 * A test is STABLE: all that a statement asks at one call site, it asks of one
 * snapshot.  So the call site keeps the shards that it has read.  They take
 * as much memory as a hash table may; then newer ones displace older ones.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "key/hash.h"
#include "filter/setops.h"
#include "set/keys.h"

/* Mixes a key's hash for its shard; frozen, since stored sets depend on it */
#define SHARD_SEED			UINT64CONST(0x73686172642d6f66)

/* How often a shard is tried, when its rows come and go */
#define MAX_TRIES			100

/* Keys that are worked on between two looks for a cancel request */
#define KEYS_PER_INTERRUPT_CHECK	UINT64CONST(65536)

/* Standard errors above the capacity that are worth a warning */
#define OVERFULL_ERRORS		5

/* ----------------------------------------------------------------
 *							TIME SLICES
 * ----------------------------------------------------------------
 */

/*
 * BloomSetSliceOf
 *		The beginning of the slice that a time is in.
 */
TimestampTz
BloomSetSliceOf(const BloomSet *set, TimestampTz at)
{
	int64		remainder;

	if (set->params.keeps_all)
		return DT_NOBEGIN;
	remainder = at % set->slice_length;
	return at - remainder - (remainder < 0 ? set->slice_length : 0);
}

/*
 * BloomSetOldestSlice
 *		The oldest slice in which a key may still have to be remembered.
 */
TimestampTz
BloomSetOldestSlice(const BloomSet *set, TimestampTz at)
{
	int64		oldest;

	if (set->params.keeps_all)
		return DT_NOBEGIN;
	if (pg_sub_s64_overflow(at, set->params.keep, &oldest) ||
		oldest < PG_INT64_MIN + 2 * set->slice_length)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return BloomSetSliceOf(set, oldest);
}

/*
 * BloomSetIsAhead
 *		Is a time ahead of the clock by more than a slice?
 *
 * What is too old by such a time is not, by the time of others.
 */
bool
BloomSetIsAhead(const BloomSet *set, TimestampTz at)
{
	int64		latest;

	if (set->params.keeps_all ||
		pg_add_s64_overflow(GetCurrentTimestamp(), set->slice_length, &latest))
		return false;
	return at > latest;
}

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

static int
CompareKeys(const void *a, const void *b)
{
	const BloomSetKey *left = a;
	const BloomSetKey *right = b;

	CHECK_FOR_INTERRUPTS();
	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->index < right->index ? -1 : 1;
}

/*
 * BloomSetMakeKey
 *		A key of this hash, which stood in this place in an array.
 */
BloomSetKey
BloomSetMakeKey(uint64 hash, uint32 index)
{
	BloomSetKey key = {0};

	key.place = BloomHashInt64((int64) hash, SHARD_SEED);
	key.hash = hash;
	key.index = index;
	key.answer = BLOOM_SET_OPEN;
	return key;
}

/*
 * BloomSetMakeKeys
 *		Give a call its keys.
 */
void
BloomSetMakeKeys(BloomSetCall *call, const uint64 *hashes, uint64 nhashes)
{
	call->nkeys = nhashes;
	call->keys = palloc_extended(Max(nhashes, 1) * sizeof(BloomSetKey),
								 MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nhashes; i++)
	{
		if (i % KEYS_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		call->keys[i] = BloomSetMakeKey(hashes[i], (uint32) i);
	}
	if (nhashes > 1)
		qsort(call->keys, nhashes, sizeof(BloomSetKey), CompareKeys);
}

/*
 * BloomSetStart
 *		Start a call on an open set.  The caller gives it the keys.
 */
void
BloomSetStart(BloomSetCall *call, BloomSetTable *table,
			  const BloomKeyType *key_type, TimestampTz at)
{
	memset(call, 0, sizeof(*call));
	call->table = table;
	call->key_type = key_type;
	call->oldest = BloomSetOldestSlice(&table->set, at);
	call->current = BloomSetSliceOf(&table->set, at);
	call->may_forget = !table->set.params.keeps_all &&
		!BloomSetIsAhead(&table->set, at);
}

/* How many keys from this one on belong to one shard of a generation? */
static uint64
CountShard(const BloomSet *set, int generation, const BloomSetKey *keys,
		   uint64 nkeys)
{
	int32		shard = BloomSetShardOf(set, generation, keys[0].place);
	uint64		n = 1;

	while (n < nkeys && BloomSetShardOf(set, generation, keys[n].place) == shard)
		n++;
	return n;
}

static bool
AnyOpen(const BloomSetKey *keys, uint64 nkeys)
{
	for (uint64 i = 0; i < nkeys; i++)
	{
		if (keys[i].answer == BLOOM_SET_OPEN)
			return true;
	}
	return false;
}

/* What a row made of keys does not hold, since the row was not written. */
static void
Reopen(BloomSetKey *keys, uint64 nkeys, int generation)
{
	for (uint64 i = 0; i < nkeys; i++)
	{
		if (keys[i].answer == BLOOM_SET_FRESH && keys[i].generation == generation)
			keys[i].answer = BLOOM_SET_OPEN;
	}
}

/* Is this the row of a shard that the slice passes over? */
static inline bool
IsPassedOver(const Bloom *filter)
{
	return !BloomHasShape(filter);
}

/* May keys of this shard be in the next generation? */
static bool
IsClosed(const BloomSet *set, int generation, const Bloom *filter)
{
	if (generation + 1 >= set->generations)
		return false;
	return IsPassedOver(filter) || BloomSetKeysLeft(filter) == 0;
}

/* ----------------------------------------------------------------
 *							TESTING
 * ----------------------------------------------------------------
 */

/*
 * Check the key type with the row that knows it.  False: there is none.
 */
static bool
CheckSetKeyType(BloomSetCall *call)
{
	BloomSetRow row;

	if (!call->knows_type)
	{
		if (!BloomSetFindRow(call->table, BLOOM_SET_TYPE_SHARD, DT_NOBEGIN, &row))
			return false;
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, row.filter, call->key_type);
		call->knows_type = true;
	}
	return true;
}

/* Look for keys in a filter of their shard. */
static void
LookInto(BloomSetCall *call, int generation, const Bloom *filter,
		 BloomSetKey *keys, uint64 nkeys)
{
	if (IsPassedOver(filter))
		return;
	BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, filter, call->key_type);
	for (uint64 i = 0; i < nkeys; i++)
	{
		if ((i + 1) % KEYS_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (keys[i].answer == BLOOM_SET_OPEN &&
			BloomTestHash(filter, keys[i].hash))
		{
			keys[i].answer = BLOOM_SET_SEEN;
			keys[i].generation = generation;
		}
	}
}

/*
 * Look for the keys of one shard in all live slices, and in the shards below.
 */
static void
TestShard(BloomSetCall *call, int generation, BloomSetKey *keys, uint64 nkeys)
{
	const BloomSet *set = &call->table->set;
	BloomSetRow row;
	bool		closed = false;
	bool		found = false;

	BloomSetFindRows(call->table,
					 BloomSetShardOf(set, generation, keys[0].place),
					 call->oldest);
	while (BloomSetNextRow(call->table, &row))
	{
		if (TIMESTAMP_IS_NOEND(row.slice))
			continue;
		found |= row.filter->count > 0;
		LookInto(call, generation, row.filter, keys, nkeys);
		closed |= IsClosed(set, generation, row.filter);
	}
	if (!found && generation == 0)
		(void) CheckSetKeyType(call);

	for (uint64 i = 0; closed && i < nkeys;)
	{
		uint64		n = CountShard(set, generation + 1, keys + i, nkeys - i);

		if (AnyOpen(keys + i, n))
			TestShard(call, generation + 1, keys + i, n);
		i += n;
	}
}

/*
 * BloomSetTest
 *		Look for all keys of a call.
 */
void
BloomSetTest(BloomSetCall *call)
{
	for (uint64 i = 0; i < call->nkeys;)
	{
		uint64		n = CountShard(&call->table->set, 0, call->keys + i,
								   call->nkeys - i);

		CHECK_FOR_INTERRUPTS();
		TestShard(call, 0, call->keys + i, n);
		i += n;
	}
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/*
 * An error, if a row can neither be made nor be found again and again.
 */
static void
CheckTries(const BloomSetCall *call, int tries)
{
	CHECK_FOR_INTERRUPTS();
	if (tries >= MAX_TRIES)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not write to Bloom set \"%s\"",
						RelationGetRelationName(call->table->rel)),
				 errdetail("A row can be neither inserted nor found.")));
}

/*
 * The first key of a set decides on the type of its keys.
 */
static void
EnsureSetKeyType(BloomSetCall *call)
{
	for (int tries = 0; !CheckSetKeyType(call); tries++)
	{
		BloomShape	shape = BloomShapeExplicit(BLOOM_SET_TYPE_BITS, 1, 0);
		const Bloom *first = BloomAddSorted(BloomMakeEmpty(&shape),
											&call->keys[0].hash, 1,
											call->key_type);

		CheckTries(call, tries);
		if (BloomSetInsertRow(call->table, BLOOM_SET_TYPE_SHARD, DT_NOBEGIN,
							  first) == BLOOM_SET_WRITTEN)
			call->knows_type = true;
		else
			BloomSetRefresh(call->table);
	}
}

/*
 * Add keys to a filter, as far as it takes them.  The result is NULL, if there
 * was nothing to add.
 *
 * The keys are in order, so that equal ones stand together: the first of them
 * is the one that is new.
 */
static const Bloom *
AddToFilter(BloomSetCall *call, int generation, const Bloom *filter,
			BloomSetKey *keys, uint64 nkeys)
{
	const BloomSet *set = &call->table->set;
	bool		limited = generation + 1 < set->generations;
	const Bloom *result = NULL;
	uint64	   *hashes = NULL;
	uint64		i = 0;

	LookInto(call, generation, filter, keys, nkeys);
	while (i < nkeys)
	{
		uint64		left = limited ? BloomSetKeysLeft(filter) : nkeys - i;
		uint64		n = 0;

		if (left == 0)
			break;
		if (hashes == NULL)
			hashes = palloc(nkeys * sizeof(uint64));
		for (; i < nkeys && n < left; i++)
		{
			BloomSetKey *key = &keys[i];

			if (key->answer != BLOOM_SET_OPEN)
				continue;
			key->generation = generation;
			if (i > 0 && keys[i - 1].hash == key->hash)
			{
				key->answer = BLOOM_SET_SEEN;
				continue;
			}
			/* what was added in the round before may show it */
			if (result != NULL && BloomTestHash(result, key->hash))
			{
				key->answer = BLOOM_SET_SEEN;
				continue;
			}
			key->answer = BLOOM_SET_FRESH;
			hashes[n++] = key->hash;
		}
		if (n > 0)
			result = filter = BloomAddSorted(filter, hashes,
											 BloomSortHashes(hashes, n),
											 call->key_type);
	}
	if (hashes != NULL)
		pfree(hashes);
	return result;
}

/* Note for the warning what was written. */
static void
NoteWritten(BloomSetCall *call, int generation, const Bloom *filter)
{
	const BloomSet *set = &call->table->set;

	if (set->params.grows)
		call->is_full |= generation + 1 == set->generations &&
			BloomSetKeysLeft(filter) == 0;
	else
	{
		call->shards_written++;
		call->keys_written += BloomCardinality(filter);
	}
}

/*
 * Should a new slice pass over this shard, by what the last slice has?
 */
static bool
ShouldPassOver(BloomSetCall *call, int generation, uint64 place)
{
	const BloomSet *set = &call->table->set;
	BloomSetRow row;
	bool		is_full = false;

	if (set->params.keeps_all || generation + 1 >= set->generations)
		return false;
	BloomSetFindRows(call->table, BloomSetShardOf(set, generation, place),
					 call->oldest);
	while (BloomSetNextRow(call->table, &row))
	{
		/* newest first */
		if (row.slice >= call->current)
			continue;
		is_full = IsClosed(set, generation, row.filter);
		if (IsPassedOver(row.filter))
		{
			/* was that right? */
			TimestampTz slice = row.slice;

			is_full =
				BloomSetFindRow(call->table,
								BloomSetShardOf(set, generation + 1, place),
								slice, &row) &&
				(IsPassedOver(row.filter) ||
				 BloomSetKeysLeft(row.filter) * row.filter->hashes <
				 BloomBits(row.filter) / 4);
		}
		break;
	}
	return is_full;
}

/*
 * Add what is open of the keys of a shard to the current slice: to the shard,
 * or if it is full, to those below.
 */
static void
AddToShard(BloomSetCall *call, int generation, BloomSetKey *keys, uint64 nkeys)
{
	const BloomSet *set = &call->table->set;
	int32		shard = BloomSetShardOf(set, generation, keys[0].place);

	for (int tries = 0;; tries++)
	{
		BloomSetWritten written = BLOOM_SET_WRITTEN;
		BloomSetRow row;
		const Bloom *added;

		CheckTries(call, tries);
		if (BloomSetFindRow(call->table, shard, call->current, &row))
		{
			do
			{
				/* a version that is newer than our snapshot may be full */
				if (written == BLOOM_SET_CHANGED &&
					IsClosed(set, generation, row.filter))
				{
					LookInto(call, generation, row.filter, keys, nkeys);
					BloomSetRefresh(call->table);
					break;
				}
				if (IsPassedOver(row.filter))
					break;
				added = AddToFilter(call, generation, row.filter, keys, nkeys);
				if (added == NULL)
					break;
				written = BloomSetUpdateRow(call->table, &row, added);
				if (written == BLOOM_SET_WRITTEN)
					NoteWritten(call, generation, added);
				else
					Reopen(keys, nkeys, generation);
			} while (written == BLOOM_SET_CHANGED);
		}
		else
		{
			EnsureSetKeyType(call);
			if (call->may_forget)
				(void) BloomSetDeleteRows(call->table, shard, call->oldest);
			if (ShouldPassOver(call, generation, keys[0].place))
				added = BloomMakeUnsized(BLOOM_PLAIN);
			else
			{
				BloomShape	shape = BloomSetShape(set, generation);

				added = AddToFilter(call, generation, BloomMakeEmpty(&shape),
									keys, nkeys);
				Assert(added != NULL);
			}
			written = BloomSetInsertRow(call->table, shard, call->current,
										added);
			if (written != BLOOM_SET_WRITTEN)
				Reopen(keys, nkeys, generation);
			else if (!IsPassedOver(added))
				NoteWritten(call, generation, added);
		}
		if (written != BLOOM_SET_AGAIN)
			break;
		BloomSetRefresh(call->table);
	}

	/* what is open now, the shard was too full for */
	for (uint64 i = 0; i < nkeys;)
	{
		uint64		n = nkeys - i;

		if (keys[i].answer != BLOOM_SET_OPEN)
		{
			i++;
			continue;
		}
		Assert(generation + 1 < set->generations);
		n = CountShard(set, generation + 1, keys + i, n);
		AddToShard(call, generation + 1, keys + i, n);
		i += n;
	}
}

/*
 * Lock a shard of a set that forgets, with all shards below it.
 */
static BloomSetWritten
LockHead(BloomSetCall *call, int32 shard)
{
	BloomSetRow row;
	BloomSetWritten written;

	if (!BloomSetFindRow(call->table, shard, DT_NOEND, &row))
	{
		BloomShape	shape = BloomSetShape(&call->table->set, 0);

		EnsureSetKeyType(call);
		return BloomSetInsertRow(call->table, shard, DT_NOEND,
								 BloomMakeEmpty(&shape));
	}
	written = BloomSetUpdateRow(call->table, &row, row.filter);
	if (written == BLOOM_SET_CHANGED &&
		BloomSetUpdateRow(call->table, &row, row.filter) != BLOOM_SET_WRITTEN)
		written = BLOOM_SET_AGAIN;
	return written;
}

/*
 * Add the keys of a shard to a set that forgets.
 */
static void
AddForAWhile(BloomSetCall *call, BloomSetKey *keys, uint64 nkeys)
{
	int32		shard = BloomSetShardOf(&call->table->set, 0, keys[0].place);

	for (int tries = 0;; tries++)
	{
		BloomSetWritten written;

		CheckTries(call, tries);
		TestShard(call, 0, keys, nkeys);
		if (!AnyOpen(keys, nkeys))
			return;
		written = LockHead(call, shard);
		if (written == BLOOM_SET_WRITTEN)
			break;
		/* others have added: look again */
		BloomSetRefresh(call->table);
		if (written == BLOOM_SET_CHANGED)
		{
			TestShard(call, 0, keys, nkeys);
			break;
		}
	}
	if (AnyOpen(keys, nkeys))
		AddToShard(call, 0, keys, nkeys);
}

/*
 * BloomSetAdd
 *		Add all keys of a call.
 */
void
BloomSetAdd(BloomSetCall *call)
{
	const BloomSet *set = &call->table->set;
	MemoryContext scratch = NULL;
	MemoryContext oldcontext = CurrentMemoryContext;

	if (call->nkeys > 1)
	{
		BloomSetExpectMany(call->table);
		scratch = AllocSetContextCreate(oldcontext, "Bloom set keys",
										ALLOCSET_DEFAULT_SIZES);
	}
	for (uint64 i = 0; i < call->nkeys;)
	{
		uint64		n = CountShard(set, 0, call->keys + i, call->nkeys - i);

		CHECK_FOR_INTERRUPTS();
		if (scratch != NULL)
		{
			MemoryContextReset(scratch);
			MemoryContextSwitchTo(scratch);
		}
		if (set->params.keeps_all)
			AddToShard(call, 0, call->keys + i, n);
		else
			AddForAWhile(call, call->keys + i, n);
		MemoryContextSwitchTo(oldcontext);
		i += n;
	}
	if (scratch != NULL)
		MemoryContextDelete(scratch);
}

/*
 * BloomSetWarn
 *		Warn of a set that holds more keys than it is sized for, as far as the
 *		shards tell that a call has written to.  True: there was a warning.
 *
 * The number of keys in a shard varies by chance, and is an estimate besides.
 */
bool
BloomSetWarn(const BloomSetCall *call)
{
	const BloomSet *set = &call->table->set;
	const char *name = RelationGetRelationName(call->table->rel);
	double		expected = call->shards_written * set->shard_capacity;
	double		error;
	double		variance;

	if (call->is_full)
	{
		ereport(WARNING,
				(errmsg("Bloom set \"%s\" cannot grow any more", name),
				 errdetail("It has %d generations.", set->generations),
				 errhint("bloom_set_info shows the false-positive rate. Make a set of a larger capacity.")));
		return true;
	}
	if (call->shards_written == 0)
		return false;

	error = BloomEstimateError(set->params.bits, set->params.hashes,
							   set->shard_capacity);
	variance = error * error + (set->params.shards > 1 ? set->shard_capacity : 0);
	if (call->keys_written <= expected +
		OVERFULL_ERRORS * sqrt(call->shards_written * variance))
		return false;
	ereport(WARNING,
			(errmsg("Bloom set \"%s\" holds more keys than its capacity", name),
			 errdetail("By %.0f of its %d shards, it holds about %.1f times as many keys as the " INT64_FORMAT " that it %s sized for.",
					   call->shards_written, set->params.shards,
					   call->keys_written / expected,
					   BloomSetSliceCapacity(&set->params),
					   set->params.keeps_all ? "is" : "has each time slice"),
			 errhint("bloom_set_info shows the false-positive rate. Make a set of a larger capacity, or one that grows.")));
	return true;
}

/* ----------------------------------------------------------------
 *							TESTING WITH A CACHE
 * ----------------------------------------------------------------
 */

/* A shard that was read: its filters in all live slices, one after another */
typedef struct CachedShard
{
	int32		shard;
	bool		closed;
	int			nfilters;		/* -1: the entry is empty */
	Size		size;			/* of the memory */
	char	   *filters;
} CachedShard;

/* Shards that were read look the same to calls for which all of this agrees */
typedef struct View
{
	Oid			relid;
	Oid			user;
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
	TimestampTz at;
} View;

struct BloomSetCache
{
	MemoryContext context;
	View		view;
	BloomSet	set;
	bool		knows_type;
	uint32		nentries;		/* a power of two, or 0 */
	CachedShard *entries;
};

/*
 * BloomSetMakeCache
 *		An empty cache.
 */
BloomSetCache *
BloomSetMakeCache(MemoryContext context)
{
	BloomSetCache *cache = MemoryContextAllocZero(context, sizeof(BloomSetCache));

	cache->context = AllocSetContextCreate(context, "Bloom set cache",
										   ALLOCSET_DEFAULT_SIZES);
	return cache;
}

/*
 * BloomSetCached
 *		The set, if the caller sees the same as the last one, or else NULL.
 *
 * Within a statement, all calls see the same.  Between two transactions that
 * have the same numbers in their snapshots, no other has begun or ended.
 */
const BloomSet *
BloomSetCached(BloomSetCache *cache, Oid relid, TimestampTz at)
{
	Snapshot	snapshot = GetActiveSnapshot();
	View		view;

	memset(&view, 0, sizeof(view));
	view.relid = relid;
	view.user = GetUserId();
	view.transaction = BloomLocalTransaction();
	view.subtransaction = GetCurrentSubTransactionId();
	view.command = snapshot->curcid;
	view.xmin = snapshot->xmin;
	view.xmax = snapshot->xmax;
	view.xcnt = snapshot->xcnt;
	view.subxcnt = snapshot->subxcnt;
	view.at = at;
	if (memcmp(&view, &cache->view, sizeof(view)) == 0)
		return OidIsValid(cache->set.relid) ? &cache->set : NULL;

	MemoryContextReset(cache->context);
	cache->view = view;
	cache->set.relid = InvalidOid;
	cache->knows_type = false;
	cache->nentries = 0;
	return NULL;
}

/* How many bytes may the cache have?  As many as a hash table. */
static Size
CacheSize(void)
{
	return (Size) (Min(work_mem * hash_mem_multiplier, MAX_KILOBYTES) * 1024.0);
}

/* Make a table of entries, each of which will keep the filters of a shard. */
static void
MakeEntries(BloomSetCache *cache)
{
	const BloomSetParams *params = &cache->set.params;
	int			slices = params->keeps_all ? 1 : params->slices + 1;
	Size		each = sizeof(CachedShard) +
	slices * (BLOOM_HEADER_SIZE + params->bits / 8);
	uint64		n = Max(CacheSize() / each, 16);

	/* no more than have a shard; those of further generations displace them */
	n = Min(n, Max(2 * (uint64) params->shards, 1024));
	cache->nentries = pg_prevpower2_32((uint32) Min(n, 1 << 20));
	cache->entries = MemoryContextAlloc(cache->context,
										cache->nentries * sizeof(CachedShard));
	for (uint32 i = 0; i < cache->nentries; i++)
	{
		cache->entries[i].nfilters = -1;
		cache->entries[i].size = 0;
		cache->entries[i].filters = NULL;
	}
}

/* Append a filter to an entry. */
static void
KeepFilter(BloomSetCache *cache, CachedShard *entry, Size used,
		   const Bloom *filter)
{
	Size		size = used + MAXALIGN(VARSIZE(filter));

	if (entry->size < size)
	{
		if (entry->filters == NULL)
			entry->filters = MemoryContextAlloc(cache->context, size);
		else
			entry->filters = repalloc(entry->filters, size);
		entry->size = size;
	}
	memcpy(entry->filters + used, filter, VARSIZE(filter));
}

/* Read the rows of a shard into an entry. */
static void
ReadShard(BloomSetCache *cache, CachedShard *entry, int generation,
		  int32 shard, const BloomKeyType *key_type)
{
	BloomSetTable table;
	BloomSetCall call;
	BloomSetRow row;
	Size		used = 0;
	int			nfilters = 0;

	BloomSetOpen(&table, cache->view.relid, false);
	BloomSetBegin(&table);
	BloomSetStart(&call, &table, key_type, cache->view.at);
	entry->nfilters = -1;
	entry->shard = shard;
	entry->closed = false;
	BloomSetFindRows(&table, shard, call.oldest);
	while (BloomSetNextRow(&table, &row))
	{
		if (TIMESTAMP_IS_NOEND(row.slice))
			continue;
		entry->closed |= IsClosed(&table.set, generation, row.filter);
		if (row.filter->count == 0)
			continue;
		BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, row.filter, key_type);
		KeepFilter(cache, entry, used, row.filter);
		used += MAXALIGN(VARSIZE(row.filter));
		nfilters++;
	}
	if (nfilters == 0 && generation == 0 && !cache->knows_type)
		cache->knows_type = CheckSetKeyType(&call);
	BloomSetEnd(&table);
	BloomSetClose(&table);
	entry->nfilters = nfilters;
}

/*
 * BloomSetTestCached
 *		Look for a key in the set that BloomSetCached has given.
 */
bool
BloomSetTestCached(BloomSetCache *cache, uint64 hash,
				   const BloomKeyType *key_type)
{
	const BloomSet *set = &cache->set;
	BloomSetKey key = BloomSetMakeKey(hash, 0);
	CachedShard *entry;

	if (cache->nentries == 0)
		MakeEntries(cache);
	for (int generation = 0; generation < set->generations; generation++)
	{
		int32		shard = BloomSetShardOf(set, generation, key.place);
		char	   *filter;

		entry = &cache->entries[murmurhash32((uint32) shard) &
								(cache->nentries - 1)];
		if (entry->nfilters < 0 || entry->shard != shard)
			ReadShard(cache, entry, generation, shard, key_type);
		filter = entry->filters;
		for (int i = 0; i < entry->nfilters; i++)
		{
			/* the type of a key may differ from that of the last one */
			BloomCheckKeyTypeOf(BLOOM_HOLDER_SET, (const Bloom *) filter,
								key_type);
			if (BloomTestHash((const Bloom *) filter, hash))
				return true;
			filter += MAXALIGN(VARSIZE(filter));
		}
		if (!entry->closed)
			return false;
	}
	return false;
}

/*
 * BloomSetTestOne
 *		Look for a key in an open set, and remember what the caller sees.
 */
bool
BloomSetTestOne(BloomSetCache *cache, BloomSetTable *table, uint64 hash,
				const BloomKeyType *key_type)
{
	BloomSetKey key = BloomSetMakeKey(hash, 0);
	BloomSetCall call;

	BloomSetBegin(table);
	BloomSetStart(&call, table, key_type, cache->view.at);
	call.keys = &key;
	call.nkeys = 1;
	BloomSetTest(&call);
	BloomSetEnd(table);
	cache->knows_type = call.knows_type;
	cache->set = table->set;
	return key.answer == BLOOM_SET_SEEN;
}
