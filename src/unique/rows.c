/*-------------------------------------------------------------------------
 *
 * unique/rows.c
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
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "set/compat.h"
#include "set/set.h"
#include "unique/unique.h"

/* Equal hashes that are looked at in one more pass over the rows */
#define MAX_EQUAL	10000

/* ----------------------------------------------------------------
 *							KEYS OF ROWS
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueBeginRows
 *		Begin a scan of all rows of a partition that are there now.
 */
void
BloomUniqueBeginRows(BloomUniqueRows *rows, const BloomUnique *unique, Relation rel)
{
	rows->rel = rel;
	for (int i = 0; i < unique->ncolumns; i++)
		rows->columns[i] = get_attnum(RelationGetRelid(rel),
									  NameStr(unique->columns[i].name));
	rows->snapshot = RegisterSnapshot(GetLatestSnapshot());
	rows->scan = table_beginscan(rel, rows->snapshot, 0, NULL, SO_NONE);
	rows->slot = table_slot_create(rel, NULL);
}

/*
 * BloomUniqueNextKey
 *		The next key that has no null.  It is good until the next call.
 */
bool
BloomUniqueNextKey(BloomUniqueRows *rows, const BloomUnique *unique, Datum *key)
{
	while (table_scan_getnextslot(rows->scan, ForwardScanDirection, rows->slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (BloomUniqueGetKey(unique, rows->columns, rows->slot, key))
			return true;
	}
	return false;
}

void
BloomUniqueEndRows(BloomUniqueRows *rows)
{
	table_endscan(rows->scan);
	ExecDropSingleTupleTableSlot(rows->slot);
	UnregisterSnapshot(rows->snapshot);
}

/* ----------------------------------------------------------------
 *							CLAIMING
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueClaimLeaf
 *		Claim and check the keys of all rows of a partition.
 */
void
BloomUniqueClaimLeaf(BloomUnique *unique, Relation rel)
{
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext,
												"unique keys",
												ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcontext;
	Size		limit = (Size) maintenance_work_mem * 1024;
	int			ncolumns = unique->ncolumns;
	Datum		key[INDEX_MAX_KEYS];
	Datum	   *keys = NULL;
	int			nkeys = 0;
	int			maxkeys = 0;
	Size		size = 0;
	BloomUniqueRows rows;
	bool		found;

	/* a key that was claimed may be among them */
	BloomUniqueForgetEntries();
	CommandCounterIncrement();
	BloomUniqueBeginRows(&rows, unique, rel);
	oldcontext = MemoryContextSwitchTo(batch);
	do
	{
		found = BloomUniqueNextKey(&rows, unique, key);
		if (found)
		{
			if (nkeys == maxkeys)
			{
				maxkeys = Max(1024, 2 * maxkeys);
				keys = keys == NULL ? palloc(maxkeys * ncolumns * sizeof(Datum)) :
					repalloc_huge(keys, (Size) maxkeys * ncolumns * sizeof(Datum));
			}
			size += BloomUniqueCopyKey(unique, key);
			memcpy(&keys[(Size) nkeys++ * ncolumns], key, ncolumns * sizeof(Datum));
		}
		if (nkeys > 0 && (!found || size > limit || nkeys > PG_INT32_MAX / 4))
		{
			BloomUniqueClaim(unique, keys, nkeys, false);
			MemoryContextReset(batch);
			keys = NULL;
			nkeys = maxkeys = 0;
			size = 0;
		}
	} while (found);
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(batch);
	BloomUniqueEndRows(&rows);
}

/* ----------------------------------------------------------------
 *							FILLING A SET
 * ----------------------------------------------------------------
 */

/* What to do with a key; false: no more */
typedef bool (*KeyAction) (BloomUnique *unique, const Datum *key, void *arg);

/* Go over the keys of all partitions. */
static void
ForAllKeys(BloomUnique *unique, List *relids, KeyAction action, void *arg)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "key of a row",
												  ALLOCSET_SMALL_SIZES);
	bool		goes_on = true;
	ListCell   *cell;

	foreach(cell, relids)
	{
		Relation	rel;
		Datum		key[INDEX_MAX_KEYS];
		BloomUniqueRows rows;

		if (!goes_on || get_rel_relkind(lfirst_oid(cell)) != RELKIND_RELATION)
			continue;
		rel = relation_open(lfirst_oid(cell), AccessShareLock);
		BloomUniqueBeginRows(&rows, unique, rel);
		while (goes_on && BloomUniqueNextKey(&rows, unique, key))
		{
			MemoryContext oldcontext = MemoryContextSwitchTo(scratch);

			goes_on = action(unique, key, arg);
			MemoryContextSwitchTo(oldcontext);
			MemoryContextReset(scratch);
		}
		BloomUniqueEndRows(&rows);
		relation_close(rel, NoLock);
	}
	MemoryContextDelete(scratch);
}

/* Hashes are sorted as signed numbers, in the order of the unsigned ones */
#define TO_SIGNED	(UINT64CONST(1) << 63)

static bool
SortHash(BloomUnique *unique, const Datum *key, void *arg)
{
	tuplesort_putdatum(arg,
					   Int64GetDatum((int64) (BloomUniqueHash(unique, key) ^ TO_SIGNED)),
					   false);
	return true;
}

/* Keys whose hash others have, too */
typedef struct EqualHashes
{
	uint64		hashes[MAX_EQUAL];	/* ascending */
	int			nhashes;
	MemoryContext context;		/* of the keys */
	Datum	   *keys;
	int			nkeys;
	Size		size;
} EqualHashes;

static int
CompareHashes(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Look up the keys that were kept.  Two that are equal are an error. */
static void
LookUpEqual(BloomUnique *unique, EqualHashes *equal)
{
	int		   *counts = palloc((equal->nkeys + 1) * sizeof(int));

	if (equal->nkeys > 0)
		BloomUniqueCount(unique, equal->keys, equal->nkeys, 2, counts);
	for (int i = 0; i < equal->nkeys; i++)
	{
		if (counts[i] > 1)
			BloomUniqueReport(unique, &equal->keys[i * unique->ncolumns], false);
	}
	pfree(counts);
	MemoryContextReset(equal->context);
	equal->keys = NULL;
	equal->nkeys = 0;
	equal->size = 0;
}

/* Keep a key whose hash is not alone, until there are many. */
static bool
KeepEqual(BloomUnique *unique, const Datum *key, void *arg)
{
	EqualHashes *equal = arg;
	int			ncolumns = unique->ncolumns;
	uint64		hash = BloomUniqueHash(unique, key);
	MemoryContext oldcontext;
	Datum	   *copy;

	if (bsearch(&hash, equal->hashes, equal->nhashes, sizeof(uint64),
				CompareHashes) == NULL)
		return true;
	oldcontext = MemoryContextSwitchTo(equal->context);
	if (equal->keys == NULL)
		equal->keys = palloc(MAX_EQUAL * ncolumns * sizeof(Datum));
	copy = &equal->keys[equal->nkeys * ncolumns];
	memcpy(copy, key, ncolumns * sizeof(Datum));
	equal->size += BloomUniqueCopyKey(unique, copy);
	MemoryContextSwitchTo(oldcontext);
	if (++equal->nkeys == MAX_EQUAL || equal->size >= BLOOM_UNIQUE_BATCH_BYTES)
		LookUpEqual(unique, equal);
	return true;
}

/*
 * Look at the keys with equal hashes.  Two that are equal are an error.
 *
 * Different keys with equal hashes are so rare that these are not more than
 * what is kept of them, or else the hash function is of no use.
 */
static void
CheckEqual(BloomUnique *unique, List *relids, EqualHashes *equal)
{
	equal->context = AllocSetContextCreate(CurrentMemoryContext,
										   "keys with equal hashes",
										   ALLOCSET_DEFAULT_SIZES);
	ForAllKeys(unique, relids, KeepEqual, equal);
	LookUpEqual(unique, equal);
	MemoryContextDelete(equal->context);
	if (equal->nhashes == MAX_EQUAL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different keys have equal hashes")));
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
		uint64		hash = (uint64) DatumGetInt64(value) ^ TO_SIGNED;

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
	List	   *relids = find_all_inheritors(unique->tag.root,
											 ShareRowExclusiveLock, NULL);
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
	ForAllKeys(unique, relids, SortHash, sort);
	tuplesort_performsort(sort);
	result = LoadSorted(unique, sort, equal);
	tuplesort_end(sort);
	if (equal->nhashes > 0)
		CheckEqual(unique, relids, equal);
	pfree(equal);
	SetUserIdAndSecContext(user, context);
	return result;
}

/* Empty the set of a key, which belongs to the table's owner. */
static void
EmptySet(const BloomUnique *unique)
{
	Relation	set = relation_open(unique->set, AccessExclusiveLock);
	char	   *name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(set)),
												  RelationGetRelationName(set));
	StoredSetTable table;
	bool		is_empty;
	Oid			user;
	int			context;

	relation_close(set, NoLock);
	/* as it is when the same command truncates it */
	StoredSetOpen(&table, unique->set, false, false);
	is_empty = StoredSetIsEmpty(&table);
	StoredSetClose(&table);
	if (is_empty)
		return;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("TRUNCATE ONLY %s", name), false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not truncate a Bloom set");
	SPI_finish();
	SetUserIdAndSecContext(user, context);
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
	EmptySet(unique);
	BloomUniqueForgetEntries();
	return BloomUniqueFill(unique);
}
