/*-------------------------------------------------------------------------
 *
 * set/load.c
 *		Loading a stored set: ascending hashes into ranges, one after another.
 *
 * The caller has a lock that keeps out all that write, and has found the set
 * empty.  So nobody else reads these rows before the end of the transaction, and
 * there are no lanes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

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
