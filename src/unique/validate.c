/*-------------------------------------------------------------------------
 *
 * unique/validate.c
 *		Add the keys of rows that were there before their set.
 *
 * Others write meanwhile.  The keys of a partition are read at once, by one
 * snapshot, since an update that leaves a row its key adds nothing to the set.
 * Then they are added, sorted, some at a time, each time in a transaction of its
 * own that waits for nobody.  Nothing is held while keys are looked up.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "set/compat.h"
#include "set/set.h"
#include "unique/unique.h"
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
	bool		commits;
	MemoryContext context;		/* lasts to the end of the call */
	Oid			filenode;		/* of the set */
	List	   *filled;			/* partitions */
	Tuplestorestate *store;		/* hash and columns, of one partition, or NULL */
	TupleDesc	desc;			/* of that */
	MemoryContext batch;		/* of these */
	Datum	   *keys;			/* added by the last step, which had been seen */
	int			nkeys;
	HTAB	   *repeats;		/* their hashes */
} Validation;

/* What is done in a transaction; false: it is the last of its kind */
typedef bool (*Step) (Validation *validation, BloomUnique *unique, void *arg);

/* Take a step, as the owner of the table, and commit. */
static bool
TakeStep(Validation *validation, Step step, void *arg)
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
	unique = BloomUniqueRecall(&validation->tag);
	UnlockRelationOid(validation->tag.root, AccessShareLock);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	result = step(validation, unique, arg);
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
 *							ONE PARTITION
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

/* Read the keys of a partition, if it is there, by one snapshot. */
static bool
ReadLeaf(Validation *validation, BloomUnique *unique, void *arg)
{
	AttrNumber	column = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	KeySort		sort;
	TupleTableSlot *slot;

	MemoryContextSwitchTo(validation->context);
	validation->desc = MakeDesc(unique);
	/* it lasts longer than the transaction: so do its files */
	validation->store = tuplestore_begin_heap(false, true, work_mem);
	sort.sort = tuplesort_begin_heap(validation->desc, 1, &column, &less, &collation,
									 &nulls_first, maintenance_work_mem, NULL,
									 TUPLESORT_NONE);
	sort.slot = MakeSingleTupleTableSlot(validation->desc, &TTSOpsVirtual);
	BloomUniqueForAllKeys(unique, *(Oid *) arg, SortKey, &sort);
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

/*
 * Look up the keys of the last step that had been seen.
 *
 * By one snapshot, since they are not held: a row that moves is one row in that.
 */
static void
LookUpSeen(Validation *validation, BloomUnique *unique)
{
	int			nkeys = validation->nkeys;
	int		   *counts;
	Oid		   *places;

	if (nkeys > 0)
	{
		MemoryContextSwitchTo(validation->batch);
		counts = palloc(nkeys * sizeof(int));
		places = palloc0(2 * nkeys * sizeof(Oid));
		PushActiveSnapshot(GetLatestSnapshot());
		BloomUniqueCountBy(unique, GetActiveSnapshot(), validation->keys, nkeys, 2,
						   counts, places);
		PopActiveSnapshot();
		for (int i = 0; i < nkeys; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (counts[i] > 1)
				NoteRepeat(validation, unique,
						   &validation->keys[i * unique->ncolumns], &places[2 * i]);
		}
	}
	MemoryContextSwitchTo(validation->context);
	MemoryContextReset(validation->batch);
	validation->keys = NULL;
	validation->nkeys = 0;
}

/* Read some of the keys that are stored.  The result is how many. */
static int
ReadKeys(Validation *validation, BloomUnique *unique, uint64 *hashes,
		 Datum *keys)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(validation->desc,
													&TTSOpsMinimalTuple);
	int			ncolumns = unique->ncolumns;
	int			n = 0;
	bool		isnull;

	while (n < BLOOM_UNIQUE_STEP &&
		   tuplestore_gettupleslot(validation->store, true, false, slot))
	{
		Datum	   *key = &keys[n * ncolumns];

		CHECK_FOR_INTERRUPTS();
		hashes[n++] = BloomUniqueHashOfSorted(DatumGetInt64(slot_getattr(slot, 1, &isnull)));
		for (int i = 0; i < ncolumns; i++)
			key[i] = slot_getattr(slot, i + 2, &isnull);
		(void) BloomUniqueCopyKey(unique, key);
	}
	ExecDropSingleTupleTableSlot(slot);
	return n;
}

/* Look up what the last step has seen, and then add more keys. */
static bool
AddKeys(Validation *validation, BloomUnique *unique, void *arg)
{
	int			ncolumns = unique->ncolumns;
	uint64	   *hashes;
	uint8	   *answers;
	Datum	   *keys;
	int			nkeys;

	(void) arg;
	LookUpSeen(validation, unique);
	MemoryContextSwitchTo(validation->batch);
	hashes = palloc(BLOOM_UNIQUE_STEP * sizeof(uint64));
	answers = palloc(BLOOM_UNIQUE_STEP);
	keys = palloc(BLOOM_UNIQUE_STEP * ncolumns * sizeof(Datum));
	nkeys = ReadKeys(validation, unique, hashes, keys);
	if (nkeys > 0)
		BloomUniqueAdd(unique, hashes, nkeys, answers);
	validation->keys = keys;
	for (int i = 0; i < nkeys; i++)
	{
		if (answers[i] != STORED_SET_FRESH)
			memmove(&keys[validation->nkeys++ * ncolumns], &keys[i * ncolumns],
					ncolumns * sizeof(Datum));
	}
	BLOOM_PAUSE("unique-validate");
	return nkeys > 0;
}

/* ----------------------------------------------------------------
 *							ALL OF THEM
 * ----------------------------------------------------------------
 */

/* A partition that has not been filled, or invalid */
static Oid
NextLeaf(const Validation *validation)
{
	ListCell   *cell;

	foreach(cell, BloomUniqueLeaves(validation->tag.root, NULL))
	{
		if (!list_member_oid(validation->filled, lfirst_oid(cell)))
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/* Note as what the set begins, and which partition is the first. */
static bool
FindLeaf(Validation *validation, BloomUnique *unique, void *arg)
{
	if (!OidIsValid(validation->filenode))
		validation->filenode = BloomUniqueFilenode(unique);
	*(Oid *) arg = NextLeaf(validation);
	return OidIsValid(*(Oid *) arg);
}

/*
 * Let the set count as complete, if there is no partition left: under locks that keep
 * others from changing that.  True: there is one.
 */
static bool
Finish(Validation *validation, BloomUnique *unique, void *arg)
{
	List	   *parents;
	ListCell   *cell;

	(void) arg;
	(void) BloomUniqueLeaves(validation->tag.root, &parents);
	foreach(cell, parents)
		LockRelationOid(lfirst_oid(cell), ShareUpdateExclusiveLock);
	if (OidIsValid(NextLeaf(validation)))
		return true;
	if (BloomUniqueFilenode(unique) != validation->filenode)
		BloomUniqueReportSet(unique, "It was emptied or rewritten while keys were added to it.",
							 "Call bloom_unique_validate again.");
	BloomUniqueMark(unique);
	return false;
}

/* Add the keys of all partitions. */
static void
FillAll(Validation *validation)
{
	Oid			leaf;

	do
	{
		while (TakeStep(validation, FindLeaf, &leaf))
		{
			(void) TakeStep(validation, ReadLeaf, &leaf);
			while (TakeStep(validation, AddKeys, NULL));
			tuplestore_end(validation->store);
			validation->store = NULL;
			validation->filled = lappend_oid(validation->filled, leaf);
		}
	} while (TakeStep(validation, Finish, NULL));
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
	validation.batch = AllocSetContextCreate(CurrentMemoryContext,
											 "keys that are validated",
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
