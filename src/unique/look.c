/*-------------------------------------------------------------------------
 *
 * unique/look.c
 *		Rows with a key, in all partitions of a table.
 *
 * The list of partitions is made before a snapshot is taken, and must still be
 * good after that: so it has every partition in which the snapshot sees a row.
 * A partition that has been rewritten since has rows that the snapshot does not
 * see.  In both cases all begins anew.
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

#include "set/compat.h"
#include "unique/unique.h"
#include "pause.h"

/* A pass over an index takes less than searches for so many keys a page */
#define KEYS_PER_PAGE	32

/* With fewer keys, each is searched for */
#define MANY_KEYS		32

/* Keys that are looked up */
typedef struct Search
{
	BloomUnique *unique;
	Datum	   *keys;			/* side by side */
	int			nkeys;
	int			most;			/* as many rows of each matter */
	int		   *counts;
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
} Partition;

static inline Datum *
KeyAt(const Search *search, int i)
{
	return &search->keys[i * search->unique->ncolumns];
}

/* Count the row at which a scan has arrived, if the snapshot sees it. */
static void
CountRow(Search *search, Partition *partition, int key)
{
	if (search->counts[key] >= search->most)
		return;
	if (partition->slot == NULL)
		partition->slot = table_slot_create(partition->rel, NULL);
	if (index_fetch_heap(partition->scan, partition->slot))
	{
		if (++search->counts[key] == search->most)
			search->nopen--;
		ExecClearTuple(partition->slot);
	}
}

/* Search for one key. */
static void
SearchKey(Search *search, Partition *partition, int key)
{
	const BloomUniqueLeaf *leaf = partition->leaf;
	int			ncolumns = search->unique->ncolumns;
	ScanKeyData conditions[INDEX_MAX_KEYS];

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
		if (at == search->nkeys || order != 0)
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

	if (search->nkeys >= MANY_KEYS && partition->leaf->is_in_order &&
		search->order == NULL)
		SortKeys(search, partition->index);
	is_merge = search->order != NULL && partition->leaf->is_in_order &&
		RelationGetNumberOfBlocks(partition->index) <
		(BlockNumber) (search->nkeys / KEYS_PER_PAGE) + 2;
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

/* Is a partition that was locked as it was when the list was made? */
static bool
IsUnchanged(const Partition *partition)
{
	const BloomUniqueLeaf *leaf = partition->leaf;
	Form_pg_index index;

	if (partition->rel->rd_rel->relfilenode != leaf->filenode)
		return false;
	if (partition->index == NULL)
		return false;

	/* one that REINDEX CONCURRENTLY has replaced may not have all rows */
	index = partition->index->rd_index;
	return index->indisvalid && index->indisready && index->indislive;
}

/*
 * Look up all keys in one partition.  False: begin anew.  If it was dropped since,
 * so were its rows.
 */
static bool
LookInLeaf(Search *search, const BloomUniqueLeaf *leaf)
{
	Partition	partition = {.leaf = leaf};
	bool		is_unchanged;

	BLOOM_PAUSE("unique-leaf");
	partition.rel = try_relation_open(leaf->relid, AccessShareLock);
	if (partition.rel == NULL)
		return true;
	partition.index = try_relation_open(leaf->index, AccessShareLock);
	is_unchanged = IsUnchanged(&partition);
	if (is_unchanged)
		LookInPartition(search, &partition);
	if (partition.index != NULL)
		relation_close(partition.index, AccessShareLock);
	relation_close(partition.rel, AccessShareLock);
	return is_unchanged;
}

/* Look up all keys by the active snapshot, in one partition first. */
static bool
LookInLeaves(Search *search, const BloomUniqueLeaf *leaves, int nleaves,
			 Oid first)
{
	memset(search->counts, 0, search->nkeys * sizeof(int));
	search->nopen = search->nkeys;
	for (int i = 0; OidIsValid(first) && i < nleaves; i++)
	{
		if (leaves[i].relid == first &&
			!LookInLeaf(search, &leaves[i]))
			return false;
	}
	for (int i = 0; i < nleaves && search->nopen > 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (leaves[i].relid != first &&
			!LookInLeaf(search, &leaves[i]))
			return false;
	}
	return true;
}

/* A copy of the list of partitions, which is good now */
static BloomUniqueLeaf *
CopyLeaves(BloomUnique *unique, int *nleaves)
{
	Size		size;
	BloomUniqueLeaf *leaves;

	BloomUniqueFindLeaves(unique);
	size = unique->nleaves * sizeof(BloomUniqueLeaf);
	leaves = palloc(Max(size, 1));
	memcpy(leaves, unique->leaves, size);
	*nleaves = unique->nleaves;
	return leaves;
}

/*
 * BloomUniqueCount
 *		How many rows have each of these keys now, up to so many?
 *
 * What this transaction has written counts.  One partition can be read first.
 */
void
BloomUniqueCount(BloomUnique *unique, Oid first, Datum *keys, int nkeys,
				 int most, int *counts)
{
	Search		search = {.keys = keys,.nkeys = nkeys,.most = most,.counts = counts};
	bool		is_done;

	CommandCounterIncrement();
	do
	{
		BloomUniqueLeaf *leaves;
		int			nleaves;

		CHECK_FOR_INTERRUPTS();
		search.unique = BloomUniqueRecall(&unique->tag);
		leaves = CopyLeaves(search.unique, &nleaves);
		BLOOM_PAUSE("unique-list");
		PushActiveSnapshot(GetLatestSnapshot());
		BLOOM_PAUSE("unique-snapshot");
		AcceptInvalidationMessages();
		is_done = search.unique->knows_leaves && search.unique->is_valid &&
			LookInLeaves(&search, leaves, nleaves, first);
		PopActiveSnapshot();
		pfree(leaves);
		if (!is_done)
			search.unique->knows_leaves = false;
	} while (!is_done);
	if (search.order != NULL)
		pfree(search.order);
}

/*
 * BloomUniqueIsOld
 *		Does the snapshot that the transaction keeps see a row with this key?
 */
bool
BloomUniqueIsOld(BloomUnique *unique, const Datum *key)
{
	int			count = 0;
	Datum		columns[INDEX_MAX_KEYS];
	Search		search = {.keys = columns,.nkeys = 1,.most = 1,.counts = &count};
	BloomUniqueLeaf *leaves;
	int			nleaves;

	memcpy(columns, key, unique->ncolumns * sizeof(Datum));
	search.unique = BloomUniqueRecall(&unique->tag);
	leaves = CopyLeaves(search.unique, &nleaves);
	PushActiveSnapshot(GetTransactionSnapshot());
	UpdateActiveSnapshotCommandId();
	/* a partition that is rewritten meanwhile has no row for this snapshot */
	(void) LookInLeaves(&search, leaves, nleaves, InvalidOid);
	PopActiveSnapshot();
	pfree(leaves);
	return count > 0;
}
