/*-------------------------------------------------------------------------
 *
 * unique/validate.c
 *		Add the keys of rows that were there before their set.
 *
 * Others write meanwhile.  The keys of a partition are read at once, by one
 * snapshot, since an update that leaves a row its key adds nothing to the set.
 * Then they are added, sorted, some at a time, each time in a transaction of its
 * own that waits for nobody.  Those that had been seen are looked up when nothing
 * is held, as many as memory takes, since a pass over an index pays for many.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"
#include "compat.h"
#include "pause.h"

/* Keys that are added in a transaction */
#ifndef BLOOM_UNIQUE_STEP
#define BLOOM_UNIQUE_STEP	10000
#endif

/* Repeats that are named */
#define MAX_NAMED	100

typedef struct Validation
{
	BloomUniqueTag tag;
	BloomUnique *began;			/* with this key, or NULL */
	bool		commits;
	MemoryContext context;		/* lasts to the end of the call */
	Oid			filenode;		/* of the set */
	List	   *filled;			/* partitions */
	Tuplestorestate *store;		/* hash and columns of keys, or NULL */
	TupleDesc	desc;			/* of that */
	BloomUniqueKeys seen;		/* to be looked up */
	HTAB	   *repeats;		/* hashes of keys of more than one row */
	TransactionId blocker;		/* must end before there can be a mark */
} Validation;

/* What is done in a transaction.  False: it need not be called again. */
typedef bool (*Step) (Validation *validation, BloomUnique *unique);

/*
 * What the session knows of the key, which must be the one with which it all began:
 * what was stored outlasts the transaction, and so does a copy of what it was.
 */
static BloomUnique *
RecallSame(Validation *validation)
{
	BloomUnique *unique;
	Size		size;

	if (validation->began != NULL)
		return BloomUniqueRefresh(validation->began);
	unique = BloomUniqueRecall(&validation->tag);
	size = unique->ncolumns * sizeof(BloomUniqueColumn);
	validation->began = MemoryContextAlloc(validation->context, sizeof(BloomUnique));
	*validation->began = *unique;
	validation->began->columns = MemoryContextAlloc(validation->context, size);
	memcpy(validation->began->columns, unique->columns, size);
	return unique;
}

/* Take a step, as the owner of the table, and commit. */
static bool
TakeStep(Validation *validation, Step step)
{
	BloomUnique *unique;
	bool		result;
	Oid			user;
	int			context;

	CHECK_FOR_INTERRUPTS();
	/* after a commit there is none */
	PushActiveSnapshot(GetTransactionSnapshot());
	/* who drops the key has dropped all of it, or nothing */
	LockRelationOid(validation->tag.root, AccessShareLock);
	unique = RecallSame(validation);
	if (!OidIsValid(validation->filenode))
		validation->filenode = BloomUniqueFilenode(unique);
	UnlockRelationOid(validation->tag.root, AccessShareLock);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	result = step(validation, unique);
	SetUserIdAndSecContext(user, context);
	PopActiveSnapshot();
	if (validation->commits)
	{
		SPI_commit();
		SPI_start_transaction();
	}
	MemoryContextSwitchTo(validation->context);
	return result;
}

/* ----------------------------------------------------------------
 *							STEPS
 * ----------------------------------------------------------------
 */

/* The columns of what is stored: the hash, and those of the key */
static TupleDesc
MakeDesc(const BloomUnique *unique)
{
	TupleDesc	desc = CreateTemplateTupleDesc(unique->ncolumns + 1);

	TupleDescInitEntry(desc, 1, NULL, INT8OID, -1, 0);
	for (int i = 0; i < unique->ncolumns; i++)
		TupleDescInitEntry(desc, (AttrNumber) (i + 2), NULL,
						   unique->columns[i].type, -1, 0);
	TupleDescFinalize(desc);
	return desc;
}

/* Where the keys of a partition are sorted */
typedef struct KeySort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
} KeySort;

static void
SortKey(BloomUnique *unique, Datum *key, void *arg)
{
	const KeySort *sort = arg;
	TupleTableSlot *slot = sort->slot;

	(void) BloomUniqueCopyKey(unique, key);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, 0, (unique->ncolumns + 1) * sizeof(bool));
	slot->tts_values[0] =
		Int64GetDatum(BloomUniqueSortedHash(BloomUniqueHash(unique, key)));
	memcpy(&slot->tts_values[1], key, unique->ncolumns * sizeof(Datum));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(sort->sort, slot);
	ExecClearTuple(slot);
}

/* The partitions that have not been filled */
static List *
UnfilledLeaves(const Validation *validation)
{
	return list_difference_oid(BloomUniqueLeaves(validation->tag.root, NULL),
							   validation->filled);
}

/* Read the keys of a partition that has not been filled.  False: there is none. */
static bool
ReadLeaf(Validation *validation, BloomUnique *unique)
{
	List	   *leaves = UnfilledLeaves(validation);
	AttrNumber	column = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	KeySort		sort;
	TupleTableSlot *slot;

	if (leaves == NIL)
		return false;
	MemoryContextSwitchTo(validation->context);
	validation->filled = lappend_oid(validation->filled, linitial_oid(leaves));
	validation->desc = MakeDesc(unique);
	/* it lasts longer than the transaction: so do its files */
	validation->store = tuplestore_begin_heap(false, true, work_mem);
	sort.sort = tuplesort_begin_heap(validation->desc, 1, &column, &less, &collation,
									 &nulls_first, maintenance_work_mem, NULL,
									 TUPLESORT_NONE);
	sort.slot = MakeSingleTupleTableSlot(validation->desc, &TTSOpsVirtual);
	BloomUniqueForAllKeys(unique, linitial_oid(leaves), SortKey, &sort);
	tuplesort_performsort(sort.sort);
	slot = MakeSingleTupleTableSlot(validation->desc, &TTSOpsMinimalTuple);
	while (tuplesort_gettupleslot(sort.sort, true, false, slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(validation->store, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(sort.slot);
	tuplesort_end(sort.sort);
	return true;
}

/* Warn of a key that more than one row has, once. */
static void
NoteRepeat(Validation *validation, BloomUnique *unique, const Datum *key,
		   const Oid *places)
{
	uint64		hash = BloomUniqueHash(unique, key);
	bool		found;

	(void) hash_search(validation->repeats, &hash, HASH_ENTER, &found);
	if (found || hash_get_num_entries(validation->repeats) > MAX_NAMED)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("key %s is in more than one row", BloomUniqueShowKey(unique, key)),
			 places[0] == places[1] ?
			 errdetail("Two of them are in \"%s\".", get_rel_name(places[0])) :
			 errdetail("One is in \"%s\", another in \"%s\".",
					   get_rel_name(places[0]), get_rel_name(places[1]))));
}

/* The file of a table, by a snapshot */
static Oid
FileBy(Relation catalog, Snapshot snapshot, Oid relid)
{
	Oid			result = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, snapshot, 1, &key);
	if ((tuple = systable_getnext(scan)) != NULL)
		result = ((Form_pg_class) GETSTRUCT(tuple))->relfilenode;
	systable_endscan(scan);
	return result;
}

/*
 * Has a partition been rewritten since a snapshot?  It may not see the rows that were
 * there: ALTER TABLE ... SET UNLOGGED, for one, writes them as if they were new.
 */
static bool
IsRewrittenSince(Oid root, Snapshot snapshot)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	Snapshot	now = RegisterSnapshot(GetLatestSnapshot());
	bool		result = false;
	ListCell   *cell;

	foreach(cell, BloomUniqueLeaves(root, NULL))
	{
		Oid			leaf = lfirst_oid(cell);

		CHECK_FOR_INTERRUPTS();
		result = FileBy(catalog, snapshot, leaf) != FileBy(catalog, now, leaf);
		if (result)
			break;
	}
	UnregisterSnapshot(now);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * Look up keys that had been seen.
 *
 * By one snapshot, since they are not held: a row that moves is one row in that.
 */
static bool
LookUpSeen(Validation *validation, BloomUnique *unique)
{
	const BloomUniqueKeys *seen = &validation->seen;
	int		   *counts;
	Oid		   *places;

	MemoryContextSwitchTo(seen->context);
	counts = palloc_extended((seen->nkeys + 1) * sizeof(int), MCXT_ALLOC_HUGE);
	places = palloc_extended((2 * (Size) seen->nkeys + 1) * sizeof(Oid),
							 MCXT_ALLOC_HUGE);
	for (bool is_done = seen->nkeys == 0; !is_done;)
	{
		PushActiveSnapshot(GetLatestSnapshot());
		BloomUniqueCountBy(unique, GetActiveSnapshot(), seen->keys, seen->nkeys, 2,
						   counts, places);
		is_done = !IsRewrittenSince(validation->tag.root, GetActiveSnapshot());
		PopActiveSnapshot();
	}
	for (int i = 0; i < seen->nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (counts[i] > 1)
			NoteRepeat(validation, unique, &seen->keys[(Size) i * unique->ncolumns],
					   &places[2 * (Size) i]);
	}
	MemoryContextSwitchTo(validation->context);
	BloomUniqueDropKeys(&validation->seen);
	return true;
}

/* Add some of the keys that are stored.  False: none is left. */
static bool
AddKeys(Validation *validation, BloomUnique *unique)
{
	MemoryContext context = AllocSetContextCreate(validation->context, "keys of a step",
												  ALLOCSET_DEFAULT_SIZES);
	BloomUniqueKeys keys = {.context = context};
	TupleTableSlot *slot = MakeSingleTupleTableSlot(validation->desc,
													&TTSOpsMinimalTuple);
	uint64	   *hashes = MemoryContextAlloc(context, BLOOM_UNIQUE_STEP * sizeof(uint64));
	uint8	   *answers = MemoryContextAlloc(context, BLOOM_UNIQUE_STEP);
	int			nkeys;

	while (keys.nkeys < BLOOM_UNIQUE_STEP &&
		   tuplestore_gettupleslot(validation->store, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		hashes[keys.nkeys] = BloomUniqueHashOfSorted(DatumGetInt64(slot->tts_values[0]));
		BloomUniqueKeepKey(unique, &keys, &slot->tts_values[1]);
	}
	ExecDropSingleTupleTableSlot(slot);
	nkeys = keys.nkeys;
	MemoryContextSwitchTo(context);
	if (nkeys > 0)
		BloomUniqueAdd(unique, hashes, nkeys, answers);
	for (int i = 0; i < nkeys; i++)
	{
		if (answers[i] != STORED_SET_FRESH)
			BloomUniqueKeepKey(unique, &validation->seen,
							   &keys.keys[(Size) i * unique->ncolumns]);
	}
	MemoryContextSwitchTo(validation->context);
	MemoryContextDelete(context);
	BLOOM_PAUSE("unique-validate");
	return nkeys > 0;
}

/*
 * Let the set count as complete, if there is no partition left: under locks that keep
 * others from changing that.  True: there is one, or another transaction prevents it;
 * then the locks are given back.
 */
static bool
Finish(Validation *validation, BloomUnique *unique)
{
	List	   *parents;
	ListCell   *cell;

	(void) BloomUniqueLeaves(validation->tag.root, &parents);
	foreach(cell, parents)
		LockRelationOid(lfirst_oid(cell), ShareUpdateExclusiveLock);
	if (UnfilledLeaves(validation) != NIL)
		return true;
	/* the key may have been dropped while we waited for the locks */
	unique = RecallSame(validation);
	if (BloomUniqueFilenode(unique) != validation->filenode)
		BloomUniqueReportSet(unique, "It was emptied or rewritten while keys were added to it.",
							 "Call bloom_unique_validate again.");
	validation->blocker = BloomUniqueMark(unique);
	if (!TransactionIdIsValid(validation->blocker))
		return false;
	foreach(cell, parents)
		UnlockRelationOid(lfirst_oid(cell), ShareUpdateExclusiveLock);
	return true;
}

/* Wait for a transaction that has the lowest list of the set open. */
static void
WaitForBlocker(Validation *validation)
{
	if (!TransactionIdIsValid(validation->blocker))
		return;
	ereport(NOTICE,
			(errmsg("all keys are in the set; waiting for transaction %u, which has written to it",
					validation->blocker)));
	XactLockTableWait(validation->blocker, NULL, NULL, XLTW_None);
	validation->blocker = InvalidTransactionId;
}

/* Add the keys of all partitions. */
static void
FillAll(Validation *validation)
{
	do
	{
		WaitForBlocker(validation);
		while (TakeStep(validation, ReadLeaf))
		{
			while (TakeStep(validation, AddKeys))
			{
				if (validation->seen.size > (Size) maintenance_work_mem * 1024)
					(void) TakeStep(validation, LookUpSeen);
			}
			tuplestore_end(validation->store);
			validation->store = NULL;
		}
		(void) TakeStep(validation, LookUpSeen);
	} while (TakeStep(validation, Finish));
}

/*
 * BloomUniqueValidate
 *		Add the keys of all rows to the set, and let it count as complete.  The
 *		result is the number of keys that more than one row has.
 *
 * The current memory context lasts as long as the call.
 */
uint64
BloomUniqueValidate(const BloomUniqueTag *tag, bool commits)
{
	Validation	validation = {.tag = *tag,.commits = commits,
	.context = CurrentMemoryContext};
	HASHCTL		info = {0};

	BloomUniqueForgetEntries();
	validation.seen.context = AllocSetContextCreate(CurrentMemoryContext,
													"keys that are looked up",
													ALLOCSET_DEFAULT_SIZES);
	info.keysize = sizeof(uint64);
	info.entrysize = sizeof(uint64);
	info.hcxt = CurrentMemoryContext;
	validation.repeats = hash_create("repeated keys", 64, &info,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	PG_TRY();
	{
		FillAll(&validation);
	}
	PG_FINALLY();
	{
		/* its files outlive the transaction */
		if (validation.store != NULL)
			tuplestore_end(validation.store);
	}
	PG_END_TRY();
	return (uint64) hash_get_num_entries(validation.repeats);
}
