/*-------------------------------------------------------------------------
 *
 * unique/look.c
 *		Rows with a key, in all partitions of a table.
 *
 * The caller holds the keys, so that nobody else can write a row with one of them.
 * Therefore each partition can be read by a snapshot of its own, which is taken under
 * its lock, and so sees what the last rewrite has left.  A row counts if its partition
 * is still one afterwards: a row in a table that was detached is nobody's business.
 * (A caller that does not hold them yet, to know whether it should, looks again when
 * it does: a row that moves meanwhile can be missed.)
 *
 * A partition is locked only while it is read, since a transaction that looks up
 * keys in 1,000 partitions must not keep 2,000 locks.
 *
 * Many keys are looked up partition by partition.  In the order of the index,
 * they are found by one pass over it, if it is not much larger than they are.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/sortsupport.h"

#include "set/set_compat.h"
#include "set/unique/unique.h"
#include "pause.h"

/* A pass over an index takes less than searches for so many keys a page */
#ifndef BLOOM_UNIQUE_PER_PAGE
#define BLOOM_UNIQUE_PER_PAGE	32
#endif

/* With fewer keys, each is searched for */
#ifndef BLOOM_UNIQUE_MANY
#define BLOOM_UNIQUE_MANY	32
#endif

/* Keys that are looked up */
typedef struct Search
{
	BloomUnique *unique;
	Datum	   *keys;			/* side by side */
	int			nkeys;
	Snapshot	snapshot;		/* or NULL: another for each partition */
	int			most;			/* as many rows of each matter */
	int		   *counts;
	Oid		   *places;			/* partitions, so many of each key, or NULL */
	int			nopen;			/* keys with fewer rows so far */
	int		   *order;			/* sorted, or NULL */
} Search;

/* A partition that is read */
typedef struct Partition
{
	const BloomUniqueLeaf *leaf;
	Relation	rel;
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;		/* or NULL */
	bool		has_rows;
} Partition;

static inline Datum *
KeyAt(const Search *search, int i)
{
	return &search->keys[(Size) i * search->unique->ncolumns];
}

/*
 * Does the snapshot see the row at which a scan has arrived?
 *
 * To be asked once: afterwards the scan is at another tuple of the same chain, and
 * a second fetch from there finds nothing, and marks the entry of the index as dead.
 */
static bool
SeesRow(Partition *partition)
{
	if (partition->slot == NULL)
		partition->slot = table_slot_create(partition->rel, NULL);
	if (!index_fetch_heap(partition->scan, partition->slot))
		return false;
	partition->has_rows = true;
	ExecClearTuple(partition->slot);
	return true;
}

/* Count a row that has a key. */
static void
CountRow(Search *search, const Partition *partition, int key)
{
	if (search->counts[key] >= search->most)
		return;
	if (search->places != NULL)
		search->places[(Size) key * search->most + search->counts[key]] =
			RelationGetRelid(partition->rel);
	if (++search->counts[key] == search->most)
		search->nopen--;
}

/* Search for one key. */
static void
SearchKey(Search *search, Partition *partition, int key)
{
	const BloomUniqueLeaf *leaf = partition->leaf;
	int			ncolumns = search->unique->ncolumns;
	ScanKeyData conditions[INDEX_MAX_KEYS];

	CHECK_FOR_INTERRUPTS();
	if (search->counts[key] >= search->most)
		return;
	for (int i = 0; i < ncolumns; i++)
		ScanKeyEntryInitialize(&conditions[i], 0, (AttrNumber) (i + 1),
							   BTEqualStrategyNumber, InvalidOid,
							   leaf->collations[i], leaf->equals[i],
							   KeyAt(search, key)[leaf->columns[i]]);
	index_rescan(partition->scan, conditions, ncolumns, NULL, 0);
	while (search->counts[key] < search->most &&
		   index_getnext_tid(partition->scan, ForwardScanDirection) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (SeesRow(partition))
			CountRow(search, partition, key);
	}
}

/* Compare the columns of a key with those of an index tuple. */
static int
CompareWithEntry(const Search *search, SortSupport sorts, const Datum *key,
				 Partition *partition)
{
	IndexTuple	entry = partition->scan->xs_itup;

	for (int i = 0; i < search->unique->ncolumns; i++)
	{
		bool		isnull;
		Datum		value = index_getattr(entry, i + 1,
										  RelationGetDescr(partition->index),
										  &isnull);
		int			order = ApplySortComparator(key[i], false, value, isnull,
												&sorts[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

/* How the columns of a key are sorted, by the index of a partition */
static SortSupport
MakeSorts(const BloomUnique *unique, Relation index)
{
	SortSupport sorts = palloc0(unique->ncolumns * sizeof(SortSupportData));

	for (int i = 0; i < unique->ncolumns; i++)
	{
		sorts[i].ssup_cxt = CurrentMemoryContext;
		sorts[i].ssup_collation = index->rd_indcollation[i];
		sorts[i].ssup_attno = (AttrNumber) (i + 1);
		BloomPrepareSort(index, &sorts[i]);
	}
	return sorts;
}

typedef struct SortArg
{
	const Search *search;
	SortSupport sorts;
} SortArg;

static int
CompareKeys(const void *a, const void *b, void *arg)
{
	const SortArg *sort = arg;
	int			left = *(const int *) a;
	int			right = *(const int *) b;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < sort->search->unique->ncolumns; i++)
	{
		int			order = ApplySortComparator(KeyAt(sort->search, left)[i], false,
												KeyAt(sort->search, right)[i], false,
												&sort->sorts[i]);

		if (order != 0)
			return order;
	}
	return left < right ? -1 : left > right;
}

/* Bring the keys into the order of an index, which is that of all others. */
static void
SortKeys(Search *search, Relation index)
{
	SortArg		arg = {search, MakeSorts(search->unique, index)};

	search->order = palloc_extended(search->nkeys * sizeof(int), MCXT_ALLOC_HUGE);
	for (int i = 0; i < search->nkeys; i++)
		search->order[i] = i;
	qsort_arg(search->order, search->nkeys, sizeof(int), CompareKeys, &arg);
}

/* Go over the whole index, and over the sorted keys beside it. */
static void
MergeKeys(Search *search, Partition *partition)
{
	SortSupport sorts = MakeSorts(search->unique, partition->index);
	int			at = 0;

	partition->scan->xs_want_itup = true;
	index_rescan(partition->scan, NULL, 0, NULL, 0);
	while (at < search->nkeys &&
		   index_getnext_tid(partition->scan, ForwardScanDirection) != NULL)
	{
		int			order;

		CHECK_FOR_INTERRUPTS();
		while ((order = CompareWithEntry(search, sorts,
										 KeyAt(search, search->order[at]),
										 partition)) < 0 &&
			   ++at < search->nkeys);
		/* if this one needs no more rows, nor do those that are equal */
		if (at == search->nkeys || order != 0 ||
			search->counts[search->order[at]] >= search->most ||
			!SeesRow(partition))
			continue;

		/* each of the keys that are equal has the row */
		for (int i = at; i < search->nkeys; i++)
		{
			if (i > at &&
				CompareWithEntry(search, sorts,
								 KeyAt(search, search->order[i]), partition) != 0)
				break;
			CountRow(search, partition, search->order[i]);
		}
	}
	pfree(sorts);
}

/* Look up all keys in a partition that is open. */
static void
LookInPartition(Search *search, Partition *partition)
{
	bool		is_merge;

	if (search->nkeys >= BLOOM_UNIQUE_MANY && partition->leaf->is_in_order &&
		search->order == NULL)
		SortKeys(search, partition->index);
	is_merge = search->order != NULL && partition->leaf->is_in_order &&
		RelationGetNumberOfBlocks(partition->index) <
		(BlockNumber) (search->nkeys / BLOOM_UNIQUE_PER_PAGE) + 2;
	partition->scan = index_beginscan(partition->rel, partition->index,
									  GetActiveSnapshot(), NULL,
									  is_merge ? 0 : search->unique->ncolumns,
									  0, SO_NONE);
	if (is_merge)
		MergeKeys(search, partition);
	for (int i = 0; !is_merge && i < search->nkeys && search->nopen > 0; i++)
		SearchKey(search, partition, search->order == NULL ? i : search->order[i]);
	index_endscan(partition->scan);
	if (partition->slot != NULL)
		ExecDropSingleTupleTableSlot(partition->slot);
}

/* Has an index all rows?  That of REINDEX CONCURRENTLY may not. */
static bool
IsComplete(Relation index)
{
	return index != NULL && index->rd_index->indisvalid &&
		index->rd_index->indisready && index->rd_index->indislive;
}

/*
 * Look up all keys in one partition.  False: begin anew, without it.  It was dropped,
 * and its rows can be elsewhere; or it was detached, and rows that were found may
 * have been written since.
 */
static bool
LookInLeaf(Search *search, Oid relid)
{
	Partition	partition = {0};
	bool		is_done = true;

	BLOOM_PAUSE("unique-leaf");
	partition.rel = try_relation_open(relid, AccessShareLock);
	if (partition.rel == NULL)
		return false;

	/*
	 * a caller that has a snapshot may have no other lock that keeps the
	 * names
	 */
	if (search->snapshot != NULL)
		search->unique = BloomUniqueRefresh(search->unique);
	do
	{
		BloomUniqueLeaf *leaf = BloomUniqueDescribeLeaf(search->unique, partition.rel);

		CHECK_FOR_INTERRUPTS();
		partition.leaf = leaf;
		partition.index = try_relation_open(leaf->index, AccessShareLock);
		if (IsComplete(partition.index))
			break;
		leaf->is_valid = false;
		if (partition.index != NULL)
			relation_close(partition.index, AccessShareLock);
	} while (true);
	PushActiveSnapshot(search->snapshot != NULL ? search->snapshot :
					   GetLatestSnapshot());
	LookInPartition(search, &partition);
	PopActiveSnapshot();
	BLOOM_PAUSE("unique-found");
	if (partition.has_rows)
		is_done = BloomUniqueIsBelow(relid, search->unique->tag.root);
	relation_close(partition.index, AccessShareLock);
	relation_close(partition.rel, AccessShareLock);
	return is_done;
}

/* Look up all keys in all partitions, the newest first. */
static bool
LookInLeaves(Search *search, const List *leaves)
{
	memset(search->counts, 0, search->nkeys * sizeof(int));
	search->nopen = search->nkeys;
	for (int i = list_length(leaves) - 1; i >= 0 && search->nopen > 0; i--)
	{
		CHECK_FOR_INTERRUPTS();
		if (!LookInLeaf(search, list_nth_oid(leaves, i)))
			return false;
	}
	return true;
}

/*
 * BloomUniqueCountBy
 *		How many rows have each of these keys, up to so many, and in which
 *		partitions?
 *
 * Without a snapshot, that is now, and the keys must be held.  What this transaction
 * has written counts.  By one snapshot, a row that moves is one row; but rows of a
 * partition that is rewritten meanwhile may not be found.
 */
void
BloomUniqueCountBy(BloomUnique *unique, Snapshot snapshot, Datum *keys,
				   int nkeys, int most, int *counts, Oid *places)
{
	Search		search = {.keys = keys,.nkeys = nkeys,.snapshot = snapshot,
	.most = most,.counts = counts,.places = places};
	bool		is_done;

	do
	{
		List	   *leaves;

		CHECK_FOR_INTERRUPTS();
		search.unique = BloomUniqueRefresh(unique);
		leaves = BloomUniqueLeaves(unique->tag.root, NULL);
		BLOOM_PAUSE("unique-list");
		is_done = LookInLeaves(&search, leaves);
		list_free(leaves);
	} while (!is_done);
	if (search.order != NULL)
		pfree(search.order);
}

/*
 * BloomUniqueCount
 *		The same now.
 */
void
BloomUniqueCount(BloomUnique *unique, Datum *keys, int nkeys, int most,
				 int *counts)
{
	CommandCounterIncrement();
	BloomUniqueCountBy(unique, NULL, keys, nkeys, most, counts, NULL);
}
