/*-------------------------------------------------------------------------
 *
 * set/info.c
 *		Reading all of a stored set: bloom_set_info, bloom_set_filter.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "bits/sort.h"
#include "set/store.h"

/* Hashes that are gathered before they are counted or added to a filter */
#define GATHERED_HASHES	100000

/* The live hashes of a set, gathered from its rows range by range */
typedef struct Gathered
{
	uint64	   *hashes;
	uint64		nhashes;
	uint64		maxhashes;
	uint64		lowest;			/* of those before, or 0 */
	uint64		nrows;
} Gathered;

static void
GatherHash(Gathered *gathered, uint64 hash)
{
	if (gathered->nhashes == gathered->maxhashes)
	{
		gathered->maxhashes = Max(1024, 2 * gathered->maxhashes);
		gathered->hashes = gathered->hashes == NULL ?
			palloc(gathered->maxhashes * sizeof(uint64)) :
			repalloc_huge(gathered->hashes,
						  gathered->maxhashes * sizeof(uint64));
	}
	gathered->hashes[gathered->nhashes++] = hash;
}

/*
 * Gather some hashes of ranges and their lanes, from the highest down, each once.
 * False: there are no more.
 *
 * In a range of a set that does not keep whole hashes, those of lanes are cut.
 */
static bool
GatherHashes(StoredSetTable *table, int64 oldest, Gathered *gathered)
{
	int			dropped = table->set.packing.dropped;
	StoredSetVersion version;
	const StoredSetRow *row = &version.row;
	bool		found;

	gathered->nhashes = 0;
	while ((found = StoredSetNext(table, &table->visible, &version)))
	{
		StoredSetItem *items;

		gathered->nrows++;
		for (int i = 0; i < row->nhashes && row->slice >= oldest; i++)
			GatherHash(gathered, row->hashes[i] >> dropped << dropped);
		if (row->lane > 0)
			continue;
		items = StoredSetItemsOf(table, &row->pack);
		for (int i = 0; i < row->pack.nhashes; i++)
		{
			if (items[i].slice >= oldest)
				GatherHash(gathered, items[i].hash);
		}
		pfree(items);
		if (gathered->nhashes >= GATHERED_HASHES)
			break;
	}
	gathered->nhashes = BloomSortHashes(gathered->hashes, gathered->nhashes);
	if (gathered->nhashes == 0)
		return found;
	if (gathered->lowest > 0 &&
		gathered->hashes[gathered->nhashes - 1] >= gathered->lowest)
		StoredSetInvalidRow(table, row->start, row->lane,
							"It, or one above it, has hashes of another range.");
	gathered->lowest = gathered->hashes[0];
	return found;
}

/*
 * bloom_set_info
 *		The parameters of a set, and what it holds now.
 */
PG_FUNCTION_INFO_V1(bloom_set_info);
Datum
bloom_set_info(PG_FUNCTION_ARGS)
{
	Oid			relid = StoredSetArg(fcinfo);
	TimestampTz at = StoredSetTimeArg(fcinfo, 1);
	StoredSetTable table;
	const StoredSetParams *params = &table.set.params;
	int64		oldest;
	Datum		values[8];
	bool		nulls[8] = {false};
	Gathered	gathered = {0};
	uint64		nkeys = 0;
	bool		more;

	StoredSetOpen(&table, relid, false, true);
	oldest = StoredSetOldestSlice(params, at);
	StoredSetFind(&table, &table.visible, PG_UINT64_MAX, 0);
	do
	{
		more = GatherHashes(&table, oldest, &gathered);
		nkeys += gathered.nhashes;
	} while (more);
	values[0] = CStringGetTextDatum(BloomKeyTypeName(&table.set.key_type));
	values[1] = Int64GetDatum((int64) nkeys);
	values[2] = Float8GetDatum(ldexp((double) nkeys, -params->kept_bits));
	values[3] = DirectFunctionCall1(pg_total_relation_size,
									ObjectIdGetDatum(relid));
	values[4] = Int64GetDatum((int64) gathered.nrows);
	values[5] = StoredSetKeepInterval(params);
	values[6] = TimestampTzGetDatum(params->keep == 0 ? 0 :
									oldest * StoredSetSliceLength(params));
	nulls[5] = nulls[6] = params->keep == 0;
	values[7] = Int64GetDatum(params->seed);
	StoredSetClose(&table);
	return BloomReturnRow(fcinfo, values, nulls);
}

/*
 * A filter with the live keys of a set.  NULL: it can hold them only as bits.
 */
static Bloom *
MakeFilter(StoredSetTable *table, int64 oldest, double capacity, double fp_prob,
		   bool as_bits)
{
	const StoredSet *set = &table->set;
	Gathered	gathered = {0};
	Bloom	   *filter = StoredSetBuild->begin(capacity, fp_prob, set->params.seed,
											   &set->key_type, as_bits);
	bool		more = true;

	StoredSetFind(table, &table->visible, PG_UINT64_MAX, 0);
	while (more && filter != NULL)
	{
		more = GatherHashes(table, oldest, &gathered);
		filter = StoredSetBuild->add(filter, gathered.hashes, gathered.nhashes);
	}
	if (gathered.hashes != NULL)
		pfree(gathered.hashes);
	return filter;
}

/*
 * bloom_set_filter
 *		A filter with the keys of a set.
 *
 * If there turn out to be too many for a filter of keys, these are freed, and read
 * again for one of bits: to have both at once would take twice the memory.
 */
PG_FUNCTION_INFO_V1(bloom_set_filter);
Datum
bloom_set_filter(PG_FUNCTION_ARGS)
{
	Oid			relid = StoredSetArg(fcinfo);
	TimestampTz at = StoredSetTimeArg(fcinfo, 3);
	StoredSetTable table;
	Bloom	   *filter;
	int64		oldest;

	BloomCheckNotNull(PG_ARGISNULL(1), "capacity");
	BloomCheckNotNull(PG_ARGISNULL(2), "fp_prob");
	StoredSetOpen(&table, relid, false, true);
	StoredSetCheckWhole(&table);
	oldest = StoredSetOldestSlice(&table.set.params, at);
	filter = MakeFilter(&table, oldest, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2),
						false);
	if (filter == NULL)
		filter = MakeFilter(&table, oldest, PG_GETARG_FLOAT8(1),
							PG_GETARG_FLOAT8(2), true);
	StoredSetClose(&table);
	PG_RETURN_DATUM(StoredSetBuild->end(filter));
}
