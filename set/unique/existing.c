/*-------------------------------------------------------------------------
 *
 * unique/existing.c
 *		Keys of rows that are there already.
 *
 * Where nobody else writes, all keys are read and sorted by their hashes, and only
 * those with equal hashes are looked at.  Elsewhere they are claimed, as if they
 * had just been written.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "commands/tablecmds.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

/* Equal hashes whose keys are looked up in one more pass over the rows */
#define MAX_EQUAL	10000

/* ----------------------------------------------------------------
 *							KEYS OF ROWS
 * ----------------------------------------------------------------
 */

/* Call a function for the keys that have no null, of all rows of an open table. */
static void
ScanKeys(BloomUnique *unique, Relation rel, BloomUniqueKeyAction action, void *arg)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL, SO_NONE);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "key of a row",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext oldcontext = MemoryContextSwitchTo(scratch);
	AttrNumber	columns[INDEX_MAX_KEYS];
	Datum		key[INDEX_MAX_KEYS];

	for (int i = 0; i < unique->ncolumns; i++)
		columns[i] = get_attnum(RelationGetRelid(rel),
								NameStr(unique->columns[i].name));
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!BloomUniqueGetKey(unique, columns, slot, key))
			continue;
		action(unique, key, arg);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(scratch);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/*
 * BloomUniqueForAllKeys
 *		Call a function for the keys of all rows of a partition, if it is there: by
 *		one snapshot, which is taken now.
 *
 * The function runs in memory that is reset after each call.
 */
void
BloomUniqueForAllKeys(BloomUnique *unique, Oid relid, BloomUniqueKeyAction action,
					  void *arg)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		return;
	/* under the lock, the columns have the names that the key knows */
	if (rel->rd_rel->relkind == RELKIND_RELATION)
		ScanKeys(BloomUniqueRefresh(unique), rel, action, arg);
	relation_close(rel, AccessShareLock);
}

/* ----------------------------------------------------------------
 *							CLAIMING
 * ----------------------------------------------------------------
 */

static void
CheckKeys(BloomUnique *unique, BloomUniqueKeys *keys)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(keys->context);

	if (keys->nkeys > 0)
		BloomUniqueCheckWritten(unique, keys->keys, keys->nkeys, false);
	MemoryContextSwitchTo(oldcontext);
	BloomUniqueDropKeys(keys);
}

/* Keep a key until there are many. */
static void
CollectKey(BloomUnique *unique, Datum *key, void *arg)
{
	BloomUniqueKeys *keys = arg;

	BloomUniqueKeepKey(unique, keys, key);
	if (keys->size > (Size) maintenance_work_mem * 1024 ||
		keys->nkeys > PG_INT32_MAX / 4)
		CheckKeys(unique, keys);
}

/*
 * BloomUniqueCheckLeaf
 *		Claim and check the keys of all rows of a partition.
 */
void
BloomUniqueCheckLeaf(BloomUnique *unique, Oid relid)
{
	BloomUniqueKeys keys = {.context = AllocSetContextCreate(CurrentMemoryContext,
															 "unique keys",
															 ALLOCSET_DEFAULT_SIZES)};

	/* a key that was claimed may be among them */
	BloomUniqueForgetEntries();
	CommandCounterIncrement();
	BloomUniqueForAllKeys(unique, relid, CollectKey, &keys);
	CheckKeys(unique, &keys);
	MemoryContextDelete(keys.context);
}

/* ----------------------------------------------------------------
 *							FILLING A SET
 * ----------------------------------------------------------------
 */

/* The same for the keys of all partitions */
static void
ForAllLeaves(BloomUnique *unique, BloomUniqueKeyAction action, void *arg)
{
	ListCell   *cell;

	foreach(cell, BloomUniqueLeaves(unique->tag.root, NULL))
		BloomUniqueForAllKeys(unique, lfirst_oid(cell), action, arg);
}

static void
SortHash(BloomUnique *unique, Datum *key, void *arg)
{
	tuplesort_putdatum(arg, Int64GetDatum(BloomUniqueSortedHash(BloomUniqueHash(unique, key))), false);
}

/* Hashes that more than one key has */
typedef struct EqualHashes
{
	uint64		hashes[MAX_EQUAL];	/* ascending */
	int			nhashes;
} EqualHashes;

static int
CompareHashes(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * Look a key up whose hash is not alone.  If another row has it, that is an error.
 *
 * Different keys with equal hashes are so rare that most often, the first that is
 * looked up is the last.
 */
static void
CheckEqual(BloomUnique *unique, Datum *key, void *arg)
{
	const EqualHashes *equal = arg;
	uint64		hash = BloomUniqueHash(unique, key);
	int			count;

	if (bsearch(&hash, equal->hashes, equal->nhashes, sizeof(uint64),
				CompareHashes) == NULL)
		return;
	BloomUniqueCount(unique, key, 1, 2, &count);
	if (count > 1)
		BloomUniqueReport(unique, key, false);
}

/* Write the sorted hashes to the set, and note which are equal. */
static uint64
LoadSorted(BloomUnique *unique, Tuplesortstate *sort, EqualHashes *equal)
{
	StoredSetTable table;
	StoredSetLoad load;
	uint64		last = 0;
	bool		is_first = true;
	Datum		value;
	bool		isnull;
	uint64		result;

	StoredSetOpen(&table, unique->set, true, true);
	StoredSetBeginLoad(&load, &table, true);
	/* who has known of another mark looks again, also if this is rolled back */
	CacheInvalidateRelcacheByRelid(unique->set);
	while (tuplesort_getdatum(sort, true, false, &value, &isnull, NULL))
	{
		uint64		hash = BloomUniqueHashOfSorted(DatumGetInt64(value));

		CHECK_FOR_INTERRUPTS();
		if (is_first || hash != last)
			StoredSetLoadHash(&load, hash);
		else if (equal->nhashes < MAX_EQUAL &&
				 (equal->nhashes == 0 || equal->hashes[equal->nhashes - 1] != hash))
			equal->hashes[equal->nhashes++] = hash;
		is_first = false;
		last = hash;
	}
	result = StoredSetEndLoad(&load);
	StoredSetClose(&table);
	return result;
}

/*
 * BloomUniqueFill
 *		Write the keys of all rows to the set, which is empty, and check them.  The
 *		result is the number of keys.
 *
 * Nobody else writes to the table from here to the end of the transaction.
 */
uint64
BloomUniqueFill(BloomUnique *unique)
{
	Tuplesortstate *sort = tuplesort_begin_datum(INT8OID, Int8LessOperator,
												 InvalidOid, false,
												 maintenance_work_mem, NULL,
												 TUPLESORT_NONE);
	EqualHashes *equal = palloc0(sizeof(EqualHashes));
	uint64		result;
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	CommandCounterIncrement();
	ForAllLeaves(unique, SortHash, sort);
	tuplesort_performsort(sort);
	result = LoadSorted(unique, sort, equal);
	tuplesort_end(sort);
	if (equal->nhashes > 0)
		ForAllLeaves(unique, CheckEqual, equal);
	if (equal->nhashes == MAX_EQUAL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different keys have equal hashes")));
	pfree(equal);
	SetUserIdAndSecContext(user, context);
	return result;
}

/* Empty the set of a key, which is locked. */
static void
EmptySet(const BloomUnique *unique)
{
	StoredSetTable table;
	bool		is_empty;
	Relation	set;
	List	   *relids = list_make1_oid(unique->set);

	/* as it is when the same command truncates it */
	StoredSetOpen(&table, unique->set, false, false);
	is_empty = StoredSetIsEmpty(&table);
	StoredSetClose(&table);
	if (is_empty)
		return;
	set = table_open(unique->set, NoLock);
	CheckTableNotInUse(set, "TRUNCATE");
	ExecuteTruncateGuts(list_make1(set), relids,
						RelationIsLogicallyLogged(set) ? relids : NIL,
						DROP_RESTRICT, false, false);
	table_close(set, NoLock);
}

/*
 * BloomUniqueRefill
 *		The same for a set that has keys, which are removed.
 *
 * Locks are taken in the order in which writers take them.
 */
uint64
BloomUniqueRefill(BloomUnique *unique)
{
	(void) find_all_inheritors(unique->tag.root, ShareRowExclusiveLock, NULL);
	LockRelationOid(unique->set, AccessExclusiveLock);
	/* nobody can change it any more, but what is locked may not be its set */
	unique = BloomUniqueRefresh(unique);
	EmptySet(unique);
	BloomUniqueForgetEntries();
	return BloomUniqueFill(unique);
}
