/*-------------------------------------------------------------------------
 *
 * set/load.c
 *		Loading a stored set: ascending hashes into ranges, one after another; and
 *		bloom_set_load.
 *
 * Whoever loads has a lock that keeps out all that write, and has found the set
 * empty.  So nobody else reads these rows before the end of the transaction, and
 * there are no lanes.
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
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "set/set_compat.h"
#include "set/store.h"

/*
 * A list is filled up to this size, so that it takes some keys before a split,
 * and a page has seven, and space for one more version.
 */
#define LOAD_BYTES	(STORED_SET_LIST_BYTES * 6 / 7)

/* Hashes that a list of that size can have: 6 bits of each, or more */
#define MAX_ITEMS	(STORED_SET_LIST_BYTES * 4)

/* Keys for which an empty range is made: their list will be half full */
#define KEYS_AHEAD	(STORED_SET_LIST_BYTES / 11)

/* Hashes that are added at once to a set that is not empty */
#define BATCH_HASHES	100000

/*
 * StoredSetIsEmpty
 *		Has an open set no rows that anybody may come to see?
 *
 * Nor one that this transaction still sees by the snapshot which it keeps, though
 * another has deleted it since: ranges would come between it and its keys.
 */
bool
StoredSetIsEmpty(StoredSetTable *table)
{
	StoredSetVersion version;

	StoredSetFind(table, &table->versions, PG_UINT64_MAX, 0);
	if (StoredSetNext(table, &table->versions, &version))
		return false;
	if (!IsolationUsesXactSnapshot())
		return true;
	StoredSetFind(table, &table->visible, PG_UINT64_MAX, 0);
	return !StoredSetNext(table, &table->visible, &version);
}

/*
 * StoredSetIsMarked
 *		Has the lowest range the mark of StoredSetBeginLoad?
 */
bool
StoredSetIsMarked(StoredSetTable *table)
{
	StoredSetVersion version;

	StoredSetFind(table, &table->visible, 0, 0);
	while (StoredSetNext(table, &table->visible, &version))
	{
		if (version.row.lane == 0)
			return version.row.pack.mark;
	}
	return false;
}

/*
 * StoredSetBeginLoad
 *		Begin to load an open set, which is empty.
 *
 * The mark tells a set that is complete: expiry, merges and splits keep it, and
 * to truncate the table removes it.
 */
void
StoredSetBeginLoad(StoredSetLoad *load, StoredSetTable *table, bool mark)
{
	memset(load, 0, sizeof(*load));
	load->table = table;
	load->mark = mark;
	load->slice = StoredSetSliceOf(&table->set.params, GetCurrentTimestamp());
	load->items = palloc(MAX_ITEMS * sizeof(StoredSetItem));
	load->scratch = AllocSetContextCreate(CurrentMemoryContext,
										  "Bloom set load",
										  ALLOCSET_DEFAULT_SIZES);
	StoredSetBeginWriting(table);
}

/* Write the range that was filled, up to this hash. */
static void
WriteLoaded(StoredSetLoad *load, uint64 last)
{
	StoredSetPlace nowhere = {0};
	StoredSetRow row = {0};
	MemoryContext oldcontext = MemoryContextSwitchTo(load->scratch);

	CHECK_FOR_INTERRUPTS();
	row.start = load->start;
	row.slice = load->slice;
	row.pack.packing = load->table->set.packing;
	row.pack.start = row.start;
	row.pack.last = last;
	row.pack.slice = row.slice;
	row.pack.mark = load->mark && row.start == 0;
	StoredSetWriteRow(load->table, &nowhere, &row, load->items, load->nitems);
	load->nitems = 0;
	MemoryContextSwitchTo(oldcontext);
	MemoryContextReset(load->scratch);
}

/* Write the ranges of all stripes before this hash. */
static void
ReachStripe(StoredSetLoad *load, uint64 hash)
{
	for (uint64 end = StoredSetStripeEnd(load->start); hash > end;
		 end = StoredSetStripeEnd(load->start))
	{
		WriteLoaded(load, end);
		load->start = end + 1;
	}
}

/*
 * StoredSetLoadHash
 *		Load a hash, which is not below those before it.
 */
void
StoredSetLoadHash(StoredSetLoad *load, uint64 hash)
{
	const StoredSetPacking *packing = &load->table->set.packing;
	uint64		kept = StoredSetKept(packing, hash);

	ReachStripe(load, hash);
	if (load->nitems > 0 &&
		StoredSetKept(packing, load->items[load->nitems - 1].hash) == kept)
		return;
	if (load->nitems == MAX_ITEMS ||
		StoredSetPackSize(packing, load->nitems + 1, load->start, hash) > LOAD_BYTES)
	{
		uint64		start = kept << packing->dropped;

		WriteLoaded(load, start - 1);
		load->start = start;
	}
	load->items[load->nitems++] = (StoredSetItem)
	{
		hash, load->slice
	};
	load->nkeys++;
}

/*
 * StoredSetEndLoad
 *		Write what is left.  The result is the number of distinct hashes.
 */
uint64
StoredSetEndLoad(StoredSetLoad *load)
{
	ReachStripe(load, PG_UINT64_MAX);
	WriteLoaded(load, PG_UINT64_MAX);
	MemoryContextDelete(load->scratch);
	pfree(load->items);
	return load->nkeys;
}

/*
 * StoredSetMakeRanges
 *		Make the ranges of a set for so many keys, which is new and open.
 *
 * Ranges that are split off are open to others until their transaction ends; so
 * those who fill a set at the same time would read each other's lanes in all of a
 * stripe.  These ranges are there before.
 */
void
StoredSetMakeRanges(StoredSetTable *table, uint64 nkeys)
{
	uint64		nranges = (nkeys - 1) / STORED_SET_STRIPES / KEYS_AHEAD + 1;
	uint64		width = (StoredSetStripeEnd(0) + 1) / nranges;
	StoredSetLoad load;

	StoredSetBeginLoad(&load, table, false);
	for (uint64 i = 1; i < STORED_SET_STRIPES * nranges; i++)
	{
		uint64		start = i % nranges * width;

		start += i / nranges << (64 - STORED_SET_STRIPE_BITS);
		WriteLoaded(&load, start - 1);
		load.start = start;
	}
	StoredSetEndLoad(&load);
}

/* ----------------------------------------------------------------
 *							BLOOM_SET_LOAD
 * ----------------------------------------------------------------
 */

/* Hashes with these bits inverted are sorted as signed numbers in their order */
#define ASCENDING	(UINT64CONST(1) << 63)
#define DESCENDING	(~ASCENDING)

/*
 * Take a lock that keeps out all that write to a set, if that may be waited for,
 * and look whether the set is empty.
 *
 * A transaction that has written to it has a weaker lock.  Two of these would
 * wait for each other.  One that has made it, or locked it, has a lock as strong.
 */
static bool
LockEmpty(StoredSetTable *table)
{
	bool		is_locked = CheckRelationLockedByMe(table->rel,
													ShareRowExclusiveLock, true);

	if ((!is_locked &&
		 CheckRelationLockedByMe(table->rel, RowExclusiveLock, true)) ||
		!StoredSetIsEmpty(table))
		return false;
	if (!is_locked)
		LockRelationOid(table->set.relid, ShareRowExclusiveLock);
	return true;
}

/*
 * Say so, if a set has rows of ranges, and no keys.
 *
 * They could be filled in place, but who loads a set need not make rows ahead; and
 * no row of a range is ever deleted (see "Isolation" in set/README).
 */
static void
NoticeEmptyRanges(StoredSetTable *table)
{
	StoredSetVersion version;
	bool		has_rows = false;

	StoredSetFind(table, &table->versions, PG_UINT64_MAX, 0);
	while (StoredSetNext(table, &table->versions, &version))
	{
		has_rows = true;
		if (version.row.nhashes > 0 || version.row.pack.nhashes > 0)
			return;
	}
	if (has_rows)
		ereport(NOTICE,
				(errmsg("Bloom set \"%s\" has rows without keys, and is not loaded in one sorted pass",
						RelationGetRelationName(table->rel)),
				 errdetail("They were made for a capacity, or their keys have expired or were removed."),
				 errhint("TRUNCATE the set before: then the load is faster, and the set smaller.")));
}

/* Open a query of one column, which has keys of a set. */
static Portal
OpenKeys(const char *query, const StoredSet *set, BloomHasher *hasher)
{
	Portal		portal = SPI_cursor_open_with_args(NULL, query, 0, NULL, NULL,
												   NULL, false,
												   CURSOR_OPT_NO_SCROLL);
	TupleDesc	desc = portal->tupDesc;

	if (desc->natts != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query returns %d columns", desc->natts),
				 errhint("It must return one column, with the keys; those of several columns are rows, ROW(a, b).")));
	BloomHasherInit(hasher, TupleDescAttr(desc, 0)->atttypid,
					TupleDescAttr(desc, 0)->attcollation);
	BloomCheckHasher(hasher, &StoredSetHolder, &set->key_type, BLOOM_TO_ADD);
	return portal;
}

/* Hash the keys that were fetched, and give the hashes to a sort. */
static void
SortFetched(Tuplesortstate *sort, uint64 mask, const StoredSet *set,
			BloomHasher *hasher)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		key = SPI_getbinval(SPI_tuptable->vals[i],
										SPI_tuptable->tupdesc, 1, &isnull);
		uint64		hash;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		hash = BloomHashKeyAs(hasher, key, &StoredSetHolder, &set->key_type,
							  (uint64) set->params.seed, BLOOM_TO_ADD);
		tuplesort_putdatum(sort, Int64GetDatum((int64) (hash ^ mask)), false);
	}
}

/* Hash the keys that a query returns, and sort the hashes. */
static void
SortHashes(Tuplesortstate *sort, uint64 mask, const char *query,
		   const StoredSet *set)
{
	BloomHasher hasher;
	Portal		portal;
	MemoryContext scratch;
	bool		is_end;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = OpenKeys(query, set, &hasher);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "Bloom set load",
									ALLOCSET_DEFAULT_SIZES);
	do
	{
		MemoryContext oldcontext;

		SPI_cursor_fetch(portal, true, 1000);
		is_end = SPI_processed == 0;
		/* what a hash function leaves behind */
		oldcontext = MemoryContextSwitchTo(scratch);
		SortFetched(sort, mask, set, &hasher);
		MemoryContextSwitchTo(oldcontext);
		MemoryContextReset(scratch);
		SPI_freetuptable(SPI_tuptable);
	} while (!is_end);
	SPI_cursor_close(portal);
	SPI_finish();
	tuplesort_performsort(sort);
}

static bool
NextHash(Tuplesortstate *sort, uint64 mask, uint64 *hash)
{
	Datum		value;
	bool		isnull;

	if (!tuplesort_getdatum(sort, true, false, &value, &isnull, NULL))
		return false;
	*hash = (uint64) DatumGetInt64(value) ^ mask;
	return true;
}

/* Load sorted hashes into an empty set. */
static uint64
LoadSorted(StoredSetTable *table, Tuplesortstate *sort)
{
	StoredSetLoad load;
	uint64		hash;

	StoredSetBeginLoad(&load, table, false);
	while (NextHash(sort, ASCENDING, &hash))
		StoredSetLoadHash(&load, hash);
	return StoredSetEndLoad(&load);
}

/*
 * Add sorted hashes to a set that has keys.
 *
 * If others can add at the same time, the hashes come in descending order, as all
 * calls add: so these do not deadlock.
 */
static uint64
AddSorted(Oid relid, Tuplesortstate *sort, uint64 mask)
{
	uint64	   *hashes = palloc(BATCH_HASHES * sizeof(uint64));
	uint8	   *answers = palloc(BATCH_HASHES);
	uint64		nnew = 0;
	uint64		n;

	do
	{
		StoredSetCall call;

		for (n = 0; n < BATCH_HASHES && NextHash(sort, mask, &hashes[n]);)
			n++;
		StoredSetOpenToWrite(&call, relid, GetCurrentTimestamp(), true);
		StoredSetAdd(&call, hashes, n, answers);
		StoredSetClose(&call.table);
		for (uint64 i = 0; i < n; i++)
			nnew += answers[i] == STORED_SET_FRESH;
	} while (n == BATCH_HASHES);
	return nnew;
}

/*
 * bloom_set_load
 *		Add the keys that a query returns to a set.  The result is the number of
 *		new ones.
 *
 * The set is closed while the query runs, which may test it, or add to it.
 */
PG_FUNCTION_INFO_V1(bloom_set_load);
Datum
bloom_set_load(PG_FUNCTION_ARGS)
{
	Oid			relid = StoredSetArg(fcinfo);
	StoredSetTable table;
	StoredSet	set;
	Tuplesortstate *sort;
	bool		is_locked;
	uint64		mask;
	uint64		nnew;

	BloomCheckNotNull(PG_ARGISNULL(1), "query");
	/* as a reader: see LockEmpty */
	StoredSetOpen(&table, relid, false, false);
	StoredSetCheckWriter(&table);
	set = table.set;
	is_locked = LockEmpty(&table);
	if (!is_locked)
		NoticeEmptyRanges(&table);
	StoredSetClose(&table);

	mask = is_locked ? ASCENDING : DESCENDING;
	sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
								 maintenance_work_mem, NULL, TUPLESORT_NONE);
	SortHashes(sort, mask, text_to_cstring(PG_GETARG_TEXT_PP(1)), &set);
	StoredSetOpen(&table, relid, true, true);
	if (is_locked && StoredSetIsEmpty(&table))
	{
		nnew = LoadSorted(&table, sort);
		StoredSetClose(&table);
	}
	else
	{
		StoredSetClose(&table);
		nnew = AddSorted(relid, sort, mask);
	}
	tuplesort_end(sort);
	PG_RETURN_INT64((int64) nnew);
}
