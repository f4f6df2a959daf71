/*-------------------------------------------------------------------------
 *
 * set/add.c
 *		Calls that write to a stored set: add, claim, remove, compact; and
 *		bloom_set_add, bloom_set_add_all, bloom_set_remove, bloom_set_compact.
 *
 * The keys of a call are sorted by their hashes.  It goes from stripe to stripe:
 * locks one, reads all ranges for which it has keys, then writes, and unlocks.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "set/store.h"
#include "pause.h"

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
StoredSetOpenToWrite(StoredSetCall *call, Oid relid, TimestampTz at,
					 bool check_privileges)
{
	const StoredSetParams *params = &call->table.set.params;
	TimestampTz clock = GetCurrentTimestamp();

	StoredSetOpen(&call->table, relid, true, check_privileges);
	memset((char *) call + sizeof(StoredSetTable), 0,
		   sizeof(StoredSetCall) - sizeof(StoredSetTable));
	if (params->keep != 0 && at > clock + StoredSetSliceLength(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time %s is ahead of the clock",
						timestamptz_to_str(at)),
				 errdetail("At that time, keys would be forgotten that are still to be remembered by the clock of the server."),
				 errhint("A time may be ahead by keep / %d at most.",
						 STORED_SET_SLICES)));
	call->oldest = StoredSetOldestSlice(params, at);
	call->current = StoredSetSliceOf(params, at);
	call->droppable = Min(call->oldest, StoredSetOldestSlice(params, clock));
}

/* The order of the keys of a call, for qsort. */
static int
CompareKeys(const void *a, const void *b)
{
	const StoredSetKey *left = a;
	const StoredSetKey *right = b;

	CHECK_FOR_INTERRUPTS();
	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
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
		call->keys[i] = (StoredSetKey)
		{
			.hash = hashes[i],.index = (uint32) i
		};
	}
	if (nhashes > 1)
		qsort(call->keys, nhashes, sizeof(StoredSetKey), CompareKeys);
	for (uint64 i = 0; i < nhashes; i++)
	{
		if (i == 0 || call->keys[i].hash != call->keys[n - 1].hash)
			call->keys[n++] = call->keys[i];
	}
	call->nkeys = n;
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/* Read the ranges of keys, from higher to lower, and plan what to write. */
static List *
ReadRanges(StoredSetCall *call, StoredSetKey *keys, uint64 nkeys)
{
	List	   *ranges = NIL;

	while (nkeys > 0)
	{
		StoredSetRange *range;

		CHECK_FOR_INTERRUPTS();
		if (!StoredSetIsUndecided(call, &keys[nkeys - 1]))
		{
			nkeys--;
			continue;
		}
		range = palloc(sizeof(StoredSetRange));
		nkeys = StoredSetReadRange(call, range, keys, nkeys,
								   keys[nkeys - 1].hash);
		StoredSetPlanRange(call, range, STORED_SET_FEW_KEYS);
		ranges = lappend(ranges, range);
	}
	return ranges;
}

/* Another transaction that decides on one of these keys, or invalid */
static TransactionId
PendingOf(const StoredSetCall *call, const StoredSetKey *keys, uint64 nkeys)
{
	for (uint64 i = 0; i < nkeys; i++)
	{
		if (TransactionIdIsValid(keys[i].pending) &&
			(call->claims || keys[i].answer == STORED_SET_UNKNOWN))
			return keys[i].pending;
	}
	return InvalidTransactionId;
}

/* Add keys of one stripe. */
static void
AddToStripe(StoredSetCall *call, StoredSetKey *keys, uint64 nkeys)
{
	uint64		hash = keys[0].hash;
	TransactionId pending;

	do
	{
		List	   *ranges;
		ListCell   *cell;

		StoredSetLock(&call->table, hash);
		do
		{
			StoredSetBeginPicture(call, keys, nkeys);
			ranges = ReadRanges(call, keys, nkeys);
		} while (ranges != NIL && !StoredSetHasOnePicture(call, llast(ranges)));

		pending = call->never_waits ? InvalidTransactionId :
			PendingOf(call, keys, nkeys);
		BLOOM_PAUSE("set-write");
		if (!TransactionIdIsValid(pending))
		{
			foreach(cell, ranges)
				StoredSetWriteRange(call, lfirst(cell));
		}
		StoredSetUnlock(&call->table, hash);
		if (TransactionIdIsValid(pending))
			StoredSetWaitFor(&call->table, pending);
	} while (TransactionIdIsValid(pending));
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

/* How many of these keys, from the last one, belong to one stripe? */
static uint64
CountLast(const StoredSetKey *keys, uint64 nkeys)
{
	uint64		stripe = StoredSetStripeStart(keys[nkeys - 1].hash);
	uint64		n = 1;

	while (n < nkeys && keys[nkeys - 1 - n].hash >= stripe)
		n++;
	return n;
}

/*
 * StoredSetAdd
 *		Add keys of these hashes, of the set's key type.
 *
 * Of each, the answer is that of the first: of a repeat there is none.
 *
 * If the call claims, they are added also if they are seen.  Then no other
 * transaction can have claimed one of them until this one ends.
 */
void
StoredSetAdd(StoredSetCall *call, const uint64 *hashes, uint64 nhashes,
			 uint8 *answers)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set add",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;

	memset(answers, STORED_SET_UNKNOWN, nhashes);
	MakeKeys(call, hashes, nhashes);
	StoredSetBeginWriting(&call->table);
	if (IsolationUsesXactSnapshot() && !call->claims)
		TestBeforeAdd(call, hashes, nhashes);
	oldcontext = MemoryContextSwitchTo(scratch);
	for (uint64 left = call->nkeys; left > 0;)
	{
		uint64		n = CountLast(call->keys, left);

		left -= n;
		AddToStripe(call, call->keys + left, n);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	for (uint64 i = 0; i < call->nkeys; i++)
		answers[call->keys[i].index] = call->keys[i].answer;
	pfree(call->keys);
	call->keys = NULL;
}

/* ----------------------------------------------------------------
 *							REMOVING AND MARKING
 * ----------------------------------------------------------------
 */

/*
 * Look for a key in its range, or for none, and write what a function plans.  The
 * result is a transaction that prevents it, or invalid.
 */
static TransactionId
TryToRewrite(StoredSetCall *call, StoredSetKey *key, uint64 nkeys,
			 TransactionId (*plan) (StoredSetCall *, StoredSetRange *, uint64))
{
	TransactionId blocker;
	StoredSetRange range;

	StoredSetLock(&call->table, key->hash);
	do
	{
		StoredSetBeginPicture(call, key, nkeys);
		key->answer = STORED_SET_UNKNOWN;
		(void) StoredSetReadRange(call, &range, key, nkeys, key->hash);
	} while (!StoredSetHasOnePicture(call, &range));
	range.nkeys = 0;			/* none is added */
	blocker = plan(call, &range, key->hash);
	if (!TransactionIdIsValid(blocker))
		StoredSetWriteRange(call, &range);
	StoredSetUnlock(&call->table, key->hash);
	return blocker;
}

/*
 * StoredSetRemove
 *		Remove the key of this hash.  True: it was there.
 */
bool
StoredSetRemove(StoredSetCall *call, uint64 hash)
{
	StoredSetKey key = {.hash = hash};
	uint8		before = STORED_SET_UNKNOWN;
	TransactionId blocker;

	call->rewrites = true;
	StoredSetBeginWriting(&call->table);
	/* also records what was read, for SERIALIZABLE */
	if (IsolationUsesXactSnapshot())
		StoredSetTestBeforeAdd(&call->table, call->oldest, &hash, 1, &before);
	while (TransactionIdIsValid(blocker = TryToRewrite(call, &key, 1,
													   StoredSetTakeHash)))
		StoredSetWaitFor(&call->table, blocker);
	if (before == STORED_SET_SEEN && key.answer != STORED_SET_SEEN)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Another transaction has removed the key since this one took its snapshot.")));
	return key.answer == STORED_SET_SEEN;
}

/*
 * StoredSetMark
 *		Let a set count as complete: write its lowest list anew, with the mark.
 *
 * The result is a transaction that has that list open, for which the caller should
 * wait and try again, or invalid.
 */
TransactionId
StoredSetMark(StoredSetCall *call)
{
	StoredSetKey lowest = {.hash = 0};

	call->rewrites = true;
	StoredSetBeginWriting(&call->table);
	return TryToRewrite(call, &lowest, 0, StoredSetTakeMark);
}

/* ----------------------------------------------------------------
 *							COMPACTING
 * ----------------------------------------------------------------
 */

/* Does a range's list have keys that can be forgotten? */
static bool
HasExpired(const StoredSetCall *call, const StoredSetRange *range)
{
	StoredSetItem *items;
	bool		result = false;

	if (range->pack.nhashes == 0 || !range->pack.packing.has_ages)
		return false;
	items = palloc(range->pack.nhashes * sizeof(StoredSetItem));
	if (!StoredSetUnpack(&range->pack, items))
		return false;			/* who needs the list will tell */
	for (int i = 0; i < range->pack.nhashes; i++)
		result |= items[i].slice < call->droppable;
	pfree(items);
	return result;
}

/*
 * StoredSetCompact
 *		Move the committed keys of lanes to the lists of their ranges, where
 *		others are not writing, and leave out what is too old.  The result is the
 *		number of keys that have moved.
 */
int64
StoredSetCompact(StoredSetCall *call)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "Bloom set compact",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;
	uint64		from = PG_UINT64_MAX;
	int64		nmoved = 0;
	bool		is_last = false;

	call->rewrites = true;
	StoredSetBeginWriting(&call->table);
	oldcontext = MemoryContextSwitchTo(scratch);
	while (!is_last)
	{
		StoredSetRange range;

		StoredSetLock(&call->table, from);
		do
		{
			StoredSetBeginPicture(call, NULL, 0);
			(void) StoredSetReadRange(call, &range, NULL, 0, from);
			StoredSetPlanRange(call, &range, HasExpired(call, &range) ? 0 : 1);
		} while (!StoredSetHasOnePicture(call, &range));
		if (range.items != NULL)
		{
			nmoved += range.nmoved;
			StoredSetWriteRange(call, &range);
		}
		StoredSetUnlock(&call->table, from);
		is_last = range.pack.start == 0;
		from = range.pack.start - 1;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	return nmoved;
}

/* ----------------------------------------------------------------
 *							WHAT SQL CALLS
 * ----------------------------------------------------------------
 */

/* What a call site knows of its keys */
static BloomHasher *
GetHasher(FunctionCallInfo fcinfo, bool is_array)
{
	if (fcinfo->flinfo->fn_extra == NULL)
		(void) BloomMakeCallSite(fcinfo, 1, is_array, sizeof(BloomHasher));
	return fcinfo->flinfo->fn_extra;
}

/*
 * bloom_set_add
 *		Add a key to a set.  True: it was new.
 *
 * A null key is new each time, as for a unique index, and nothing is added.
 */
PG_FUNCTION_INFO_V1(bloom_set_add);
Datum
bloom_set_add(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint64		hash;
	uint8		answer;

	StoredSetOpenToWrite(&call, StoredSetArg(fcinfo), StoredSetTimeArg(fcinfo, 2), true);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		PG_RETURN_BOOL(true);
	}
	hash = BloomHashKeyAs(GetHasher(fcinfo, false),
						  PG_GETARG_DATUM(1), &StoredSetHolder, &set->key_type,
						  (uint64) set->params.seed, BLOOM_TO_ADD);
	StoredSetAdd(&call, &hash, 1, &answer);
	StoredSetClose(&call.table);
	PG_RETURN_BOOL(answer == STORED_SET_FRESH);
}

/*
 * Answers for the keys of an array, in its order, by an add.  NULL, if the array
 * is null.
 */
static uint8 *
AddArray(FunctionCallInfo fcinfo, BloomArrayKeys *array)
{
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint8	   *answers;

	StoredSetOpenToWrite(&call, StoredSetArg(fcinfo), StoredSetTimeArg(fcinfo, 2), true);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		return NULL;
	}
	*array = BloomHashArray(GetHasher(fcinfo, true),
							PG_GETARG_ARRAYTYPE_P(1), &StoredSetHolder,
							&set->key_type, (uint64) set->params.seed,
							BLOOM_TO_ADD);
	answers = palloc(array->nkeys);
	StoredSetAdd(&call, array->hashes, array->nkeys, answers);
	StoredSetClose(&call.table);
	return answers;
}

/*
 * bloom_set_add_all
 *		Add the elements of an array to a set.  The result are the new ones.
 */
PG_FUNCTION_INFO_V1(bloom_set_add_all);
Datum
bloom_set_add_all(PG_FUNCTION_ARGS)
{
	BloomArrayKeys array;
	uint8	   *answers = AddArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(StoredSetKeysWithAnswer(&array, answers, STORED_SET_FRESH));
}

/*
 * bloom_set_remove
 *		Remove a key from a set.  True: it was there.
 */
PG_FUNCTION_INFO_V1(bloom_set_remove);
Datum
bloom_set_remove(PG_FUNCTION_ARGS)
{
	Oid			relid = StoredSetArg(fcinfo);
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint64		hash;
	bool		result = false;

	StoredSetOpenToWrite(&call, relid, StoredSetTimeArg(fcinfo, 2), false);
	StoredSetCheckPrivileges(&call.table, ACL_DELETE);
	StoredSetCheckWhole(&call.table);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		PG_RETURN_NULL();
	}
	hash = BloomHashKeyAs(GetHasher(fcinfo, false),
						  PG_GETARG_DATUM(1), &StoredSetHolder, &set->key_type,
						  (uint64) set->params.seed, BLOOM_TO_FIND);
	if (hash != 0)
		result = StoredSetRemove(&call, hash);
	StoredSetClose(&call.table);
	PG_RETURN_BOOL(result);
}

/*
 * bloom_set_compact
 *		Move keys from lanes to lists, and leave out what has expired.
 */
PG_FUNCTION_INFO_V1(bloom_set_compact);
Datum
bloom_set_compact(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	int64		nmoved;

	StoredSetOpenToWrite(&call, StoredSetArg(fcinfo), GetCurrentTimestamp(), true);
	nmoved = StoredSetCompact(&call);
	StoredSetClose(&call.table);
	PG_RETURN_INT64(nmoved);
}
