/*-------------------------------------------------------------------------
 *
 * set/rows.c
 *		The rows of a stored set: open it, lock, find, write, delete.
 *
 * An add changes a row that it finds by its key.  Most of the time of such a
 * statement would go to the executor, so we call the table and the index
 * ourselves, and do what the executor does for such statements: locks and
 * privileges, command numbers, index entries, replica identity.  What it would
 * do beside that, for triggers, rules, policies, constraints and partitions, is
 * not needed: a table that has any of these is no set (set/identity.c).
 *
 * Tests find the rows that the active snapshot sees.  Those that write hold the
 * lock of the bucket, and find all versions that a dirty snapshot admits.  In
 * both, the search passes over versions that cannot matter:
 *
 *	- A snapshot that is taken anew for each statement sees one version of a row
 *	  at most.  A snapshot that is kept can see two, if the transaction has
 *	  deleted a lane that another has deleted, too, and has made it again; and
 *	  for SERIALIZABLE, it matters what is not seen.
 *	- Behind the newest version of a row, no other says more.  The exception is a
 *	  slice whose filter an open transaction has written: the keys that it has
 *	  merged are in versions that it has replaced.
 *
 * Invariants, while the lock of a bucket is held:
 *
 *	- No other add or compaction writes rows of the bucket.  Transactions may end.
 *	- A row has at most one newest version.  Its creator is this transaction,
 *	  another open one, or one that has committed.
 *	- A version is free if it is the newest, no other open transaction has
 *	  created or locked it, and the transaction's snapshot, if there is one,
 *	  sees it.  Only free versions are updated or deleted, so no write waits.
 *	- A version is overwritten only by the subtransaction that has made it, and
 *	  while nothing else in the session reads the table.
 *
 * Whoever locks or changes rows by SQL while others add can break these.  The
 * worst that comes of it is that a write waits, be it in a deadlock, or fails with
 * 40001, 23505 or 27000.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "access/multixact.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "filter/fetch.h"
#include "set/compat.h"
#include "set/rows.h"

/* A column, as a member of a set of columns */
#define ATTRIBUTE(column)	((column) - FirstLowInvalidHeapAttributeNumber)

/* Ours among the advisory locks; the server's functions take 1 and 2 */
#define LOCK_CLASS	0xB100

/* With more versions of a row, a search of the index takes less than to pass them */
#define MAX_SKIPPED	16

/*
 * The word behind the last hash of a lane.  All others behind it are zero.
 *
 * Hashes and this word are appended and never moved, so that the write-ahead
 * log, which leaves out what an update has not changed, has 16 bytes of them.
 */
#define LANE_END			(UINT64CONST(1) << 63)
#define LANE_CLOSED			(UINT64CONST(1) << 62)
#define LANE_COMMITTED		UINT64CONST(0xff)	/* how many */

/* ----------------------------------------------------------------
 *							OPENING
 * ----------------------------------------------------------------
 */

/*
 * The privileges that the executor would check for what a call may do.  To
 * delete a row whose keys have moved counts as an update.
 */
static void
CheckPrivileges(const StoredSetTable *table)
{
	Relation	rel = table->rel;
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	BloomPermissions *permissions;
	Bitmapset  *all;

	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = table->to_write ? RowExclusiveLock : AccessShareLock;
	permissions = BloomMakePermissions(rte);
	permissions->relid = rte->relid;
	permissions->requiredPerms = ACL_SELECT;
	all = bms_add_range(NULL, ATTRIBUTE(1), ATTRIBUTE(STORED_SET_COLUMNS));
	permissions->selectedCols = all;
	if (table->to_write)
	{
		permissions->requiredPerms |= ACL_INSERT | ACL_UPDATE |
			(table->set.params.keep != 0 ? ACL_DELETE : 0);
		permissions->insertedCols = all;
		permissions->updatedCols =
			bms_add_range(NULL, ATTRIBUTE(STORED_SET_FILTER),
						  ATTRIBUTE(STORED_SET_COLUMNS));
	}
	if (BloomHasPermissions(rte, permissions))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", RelationGetRelationName(rel)),
			 (permissions->requiredPerms & ACL_INSERT) == 0 ? 0 :
			 errhint("Writing to this set needs the privileges %s.",
					 (permissions->requiredPerms & ACL_DELETE) == 0 ?
					 "SELECT, INSERT and UPDATE" :
					 "SELECT, INSERT, UPDATE and DELETE")));
}

/*
 * StoredSetOpen
 *		Open a set, and check that the caller may read it, or write to it.
 *
 * Nobody can rename or change it from here to the end of the transaction.
 */
void
StoredSetOpen(StoredSetTable *table, Oid relid, bool to_write)
{
	LOCKMODE	lockmode = to_write ? RowExclusiveLock : AccessShareLock;

	memset(table, 0, offsetof(StoredSetTable, words));
	table->to_write = to_write;
	table->context = CurrentMemoryContext;
	table->rel = try_relation_open(relid, lockmode);
	if (table->rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid),
				 errhint("If the set was replaced while this call waited for it, repeat the statement.")));
	table->set = StoredSetRecall(table->rel)->set;
	table->set.key_type = BloomCopyKeyType(&table->set.key_type);

	CheckPrivileges(table);
	if (table->rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (to_write)
	{
		/* like the executor, not for temporary tables */
		if (XactReadOnly && !table->rel->rd_islocaltemp)
			PreventCommandIfReadOnly("writes to a Bloom set");
		PreventCommandIfParallelMode("writes to a Bloom set");
		CheckCmdReplicaIdentity(table->rel, CMD_UPDATE);
		CheckCmdReplicaIdentity(table->rel, CMD_DELETE);
	}
	table->index = index_open(table->set.index, lockmode);
}

/*
 * StoredSetOldestSlice
 *		The oldest slice in which a key may still have to be remembered.
 */
TimestampTz
StoredSetOldestSlice(const StoredSetParams *params, TimestampTz at)
{
	/* neither is large enough for an overflow */
	TimestampTz oldest = StoredSetSliceOf(params, at - params->keep);

	if (params->keep != 0 && !IS_VALID_TIMESTAMP(oldest))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return oldest;
}

/*
 * StoredSetBeginWriting
 *		Begin to write to an open set.
 *
 * From here on, until it is closed, no code runs but ours and the server's.
 *
 * What a call writes has a command of its own, so that the statement that calls
 * cannot silently pass over rows that we have changed.
 */
void
StoredSetBeginWriting(StoredSetTable *table)
{
	table->known = StoredSetRecall(table->rel);
	StoredSetReuseSpace(table->rel, table->known);
	table->is_alone = table->rel->rd_refcnt == 1;
	table->output = MakeSingleTupleTableSlot(RelationGetDescr(table->rel),
											 &TTSOpsVirtual);
	CommandCounterIncrement();
	if (IsolationUsesXactSnapshot())
		PushActiveSnapshot(GetTransactionSnapshot());
}

/*
 * StoredSetClose
 *		Close it.  The locks are kept, as after every statement.
 */
void
StoredSetClose(StoredSetTable *table)
{
	if (table->visible.scan != NULL)
		index_endscan(table->visible.scan);
	if (table->versions.scan != NULL)
		index_endscan(table->versions.scan);
	if (table->slot != NULL)
		ExecDropSingleTupleTableSlot(table->slot);
	if (table->known != NULL)
	{
		ExecDropSingleTupleTableSlot(table->output);
		if (IsolationUsesXactSnapshot())
			PopActiveSnapshot();
	}
	index_close(table->index, NoLock);
	relation_close(table->rel, NoLock);
}

/* ----------------------------------------------------------------
 *							LOCKING
 * ----------------------------------------------------------------
 */

/*
 * The lock of a bucket of the first generation and some beside it, for all that
 * are below them.
 *
 * It is held while a call reads and writes, and never while it waits for a
 * transaction.  It is an advisory lock, since the deadlock detector of older
 * servers does not look at locks of pages.
 */
static LOCKTAG
LockTagOf(const StoredSetTable *table, int32 bucket)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, table->set.relid,
						 (uint32) (bucket >> STORED_SET_LOCK_SHIFT), LOCK_CLASS);
	return tag;
}

void
StoredSetLock(StoredSetTable *table, int32 bucket)
{
	LOCKTAG		tag = LockTagOf(table, bucket);

	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	table->versions.lowest = PG_INT32_MAX;	/* search again */
}

void
StoredSetUnlock(StoredSetTable *table, int32 bucket)
{
	LOCKTAG		tag = LockTagOf(table, bucket);

	(void) LockRelease(&tag, ExclusiveLock, false);
}

/*
 * StoredSetWaitFor
 *		Wait for the end of a transaction.
 */
void
StoredSetWaitFor(StoredSetTable *table, TransactionId other)
{
	/* without a page in our hands */
	ExecClearTuple(table->slot);
	index_rescan(table->versions.scan, NULL, 2, NULL, 0);
	XactLockTableWait(other, NULL, NULL, XLTW_None);
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/* The error of a row that was not written by us. */
static void
InvalidRow(const StoredSetTable *table, const StoredSetRow *row, const char *wrong)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("Bloom set \"%s\" contains an invalid row",
					RelationGetRelationName(table->rel)),
			 errdetail("Bucket %d, lane %d, slice %s: %s", row->bucket,
					   row->lane, timestamptz_to_str(row->slice), wrong)));
}

/* Does a filter have the shape of a bucket, and keys of the set's type? */
static bool
IsOfBucket(const StoredSet *set, const StoredSetRow *row, const Bloom *filter)
{
	const StoredSetParams *params = &set->params;
	BloomKeyType key_type = BloomKeyTypeOf(filter);

	return row->lane == 0 && BloomBits(filter) == (uint64) params->bits &&
		filter->hashes == StoredSetHashes(params,
										  StoredSetGeneration(params,
															  row->bucket)) &&
		filter->seed == (uint64) params->seed &&
		BloomSameKeyType(&key_type, &set->key_type);
}

/* A filter, in memory that is kept until the next one is read. */
static const Bloom *
FetchFilter(StoredSetTable *table, Datum datum)
{
	MemoryContext oldcontext;
	const Bloom *filter;

	if (!VARATT_IS_EXTENDED(DatumGetPointer(datum)))
		return (const Bloom *) DatumGetPointer(datum);
	if (table->fetched == NULL)
		table->fetched = AllocSetContextCreate(table->context, "Bloom set row",
											   ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(table->fetched);
	oldcontext = MemoryContextSwitchTo(table->fetched);
	filter = BloomFetchState(datum);
	MemoryContextSwitchTo(oldcontext);
	return filter;
}

static void
ReadFilter(StoredSetTable *table, StoredSetRow *row, Datum datum)
{
	Size		most = BLOOM_HEADER_SIZE +
	table->set.key_type.words * sizeof(uint64) + table->set.params.bits / 8;
	const Bloom *filter;

	if (toast_raw_datum_size(datum) > most)
		InvalidRow(table, row, "Its filter is larger than that of a bucket.");
	filter = FetchFilter(table, datum);
	if (VARSIZE(filter) < BLOOM_HEADER_SIZE ||
		BloomCheckHeader(filter) != NULL ||
		VARSIZE(filter) != BloomSizeByHeader(filter))
		InvalidRow(table, row, "Its filter is no value, but a state of an aggregate.");
	if (!IsOfBucket(&table->set, row, filter))
		InvalidRow(table, row, "Its filter does not have the shape of the bucket, or the key type of the set.");
	row->filter = filter;
}

static void
ReadLane(StoredSetTable *table, StoredSetRow *row, Datum datum)
{
	const struct varlena *stored = (struct varlena *) DatumGetPointer(datum);
	Size		size = toast_raw_datum_size(datum) - VARHDRSZ;
	uint64		end;
	int			n = (int) (size / sizeof(uint64));
	bool		has_zero = false;	/* which no key has */

	if (size > sizeof(table->words))
		InvalidRow(table, row, "Its lane is too long.");
	row->room = n - 1;
	/* others are not of our making */
	if (likely(VARATT_IS_4B_U(stored)))
		memcpy(table->words, VARDATA(stored), n * sizeof(uint64));
	else
		BloomFetchSlice(datum, VARHDRSZ, n * sizeof(uint64), table->words);
	while (n > 0 && table->words[n - 1] == 0)
		n--;
	for (int i = 0; i < n; i++)
	{
		has_zero |= table->words[i] == 0;
		table->words[i] = BloomLittleEndian64(table->words[i]);
	}

	end = n > 0 ? table->words[n - 1] : 0;
	row->hashes = table->words;
	row->nhashes = n - 1;
	row->ncommitted = (int) (end & LANE_COMMITTED);
	row->closed = (end & LANE_CLOSED) != 0;
	if ((end & ~(LANE_CLOSED | LANE_COMMITTED)) != LANE_END ||
		row->ncommitted > row->nhashes || row->lane >= 0 || has_zero)
		InvalidRow(table, row, "It is no lane.");
}

/*
 * Read a row from the slot, and check it before it is used.
 *
 * The owner of the table can have put any value into it.  What is accepted
 * here may lie about keys, but nothing else.
 */
static void
ReadRow(StoredSetTable *table, StoredSetRow *row)
{
	TupleTableSlot *slot = table->slot;

	slot_getallattrs(slot);
	memset(row, 0, sizeof(*row));
	/* constraints that are not validated can be broken */
	for (int i = 0; i < STORED_SET_FILTER - 1; i++)
	{
		if (slot->tts_isnull[i])
			InvalidRow(table, row, "A column is null.");
	}
	row->bucket = DatumGetInt32(slot->tts_values[STORED_SET_BUCKET - 1]);
	row->lane = DatumGetInt32(slot->tts_values[STORED_SET_LANE - 1]);
	row->slice = DatumGetTimestampTz(slot->tts_values[STORED_SET_SLICE - 1]);
	if (StoredSetGeneration(&table->set.params, row->bucket) < 0 ||
		row->lane > 0 || row->lane == PG_INT32_MIN)
		InvalidRow(table, row, "The set cannot have this bucket or lane.");

	if (!slot->tts_isnull[STORED_SET_FILTER - 1])
		ReadFilter(table, row, slot->tts_values[STORED_SET_FILTER - 1]);
	else if (slot->tts_isnull[STORED_SET_ROOM - 1])
		InvalidRow(table, row, "A column is null.");
	else
		ReadLane(table, row, slot->tts_values[STORED_SET_ROOM - 1]);
}

/* ----------------------------------------------------------------
 *							VERSIONS
 * ----------------------------------------------------------------
 */

/*
 * The header of the tuple in the slot.
 *
 * Others may lock or freeze the tuple meanwhile, so its fields are read at once.
 * What the copy says is looked up without the page, as heap_lock_tuple does.
 */
static void
CopyHeader(TupleTableSlot *slot, HeapTupleHeader header)
{
	BufferHeapTupleTableSlot *buffered = (BufferHeapTupleTableSlot *) slot;

	LockBuffer(buffered->buffer, BUFFER_LOCK_SHARE);
	memcpy(header, buffered->base.tuple->t_data, SizeofHeapTupleHeader);
	LockBuffer(buffered->buffer, BUFFER_LOCK_UNLOCK);
}

/* Is this the newest version of its row? */
static bool
IsNewest(HeapTupleHeader header)
{
	TransactionId updater;

	if ((header->t_infomask & HEAP_XMAX_INVALID) != 0 ||
		HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask))
		return true;
	updater = HeapTupleHeaderGetUpdateXid(header);
	return !TransactionIdIsInProgress(updater) &&
		!TransactionIdDidCommit(updater);
}

/* Has another open transaction locked this version, which is the newest? */
static bool
IsLocked(HeapTupleHeader header)
{
	TransactionId locker = HeapTupleHeaderGetRawXmax(header);

	if ((header->t_infomask & HEAP_XMAX_INVALID) != 0)
		return false;
	if ((header->t_infomask & HEAP_XMAX_IS_MULTI) != 0)
		return MultiXactIdIsRunning(locker, true);
	return !TransactionIdIsCurrentTransactionId(locker) &&
		TransactionIdIsInProgress(locker);
}

/*
 * May a version be overwritten by what holds all that it holds?  See
 * "Overwriting" in set/set.h.
 *
 * If the current subtransaction has made it, it goes with what is written over
 * it.  But logical decoding would not see that; nor would a statement that reads
 * the rows of the table itself, and then deletes one with more keys than it has
 * read.
 *
 * All lanes have the same nulls, so that the header can stay.  Filters differ.
 */
static bool
CanBeOverwritten(const StoredSetTable *table, const StoredSetRow *row,
				 HeapTupleHeader header)
{
	return row->filter == NULL && table->is_alone &&
		TransactionIdEquals(HeapTupleHeaderGetRawXmin(header),
							GetCurrentTransactionIdIfAny()) &&
		!RelationIsLogicallyLogged(table->rel);
}

/* What the version in the slot is, which the dirty snapshot admits. */
static void
Classify(StoredSetTable *table, StoredSetVersion *version)
{
	StoredSetPlace *place = &version->place;
	HeapTupleHeaderData header;

	CopyHeader(table->slot, &header);
	version->creator = table->dirty.xmin;
	place->tid = table->slot->tts_tid;
	place->is_own = !TransactionIdIsValid(version->creator) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(&header));
	place->command = place->is_own ? HeapTupleHeaderGetCmin(&header) :
		InvalidCommandId;
	place->length = place->is_own &&
		CanBeOverwritten(table, &version->row, &header) ?
		((BufferHeapTupleTableSlot *) table->slot)->base.tuple->t_len : 0;
	version->is_newest = IsNewest(&header);
	version->is_visible = !TransactionIdIsValid(version->creator) &&
		(place->is_own || !IsolationUsesXactSnapshot() ||
		 table_tuple_satisfies_snapshot(table->rel, table->slot,
										GetActiveSnapshot()));
	version->is_free = version->is_newest && version->is_visible &&
		!IsLocked(&header);
}

/* Search the index for what is less than (bucket, slice, lane). */
static void
SearchBelow(StoredSetTable *table, StoredSetSearch *search, int32 bucket,
			TimestampTz slice, int32 lane)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	ScanKey		row = &search->keys[2];
	Datum		values[3] = {Int32GetDatum(bucket), TimestampTzGetDatum(slice),
	Int32GetDatum(lane)};

	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	if (search->scan == NULL)
	{
		Snapshot	snapshot = GetActiveSnapshot();

		if (search == &table->versions)
		{
			InitDirtySnapshot(table->dirty);
			snapshot = &table->dirty;
		}
		search->scan = index_beginscan(table->rel, table->index, snapshot, NULL,
									   2, 0, SO_NONE);
		search->scan->xs_want_itup = true;
	}
	for (int i = 0; i < 3; i++)
		ScanKeyEntryInitialize(&row[i], SK_ROW_MEMBER | (i == 2 ? SK_ROW_END : 0),
							   i + 1, BTLessStrategyNumber, InvalidOid,
							   InvalidOid, i == 1 ? F_TIMESTAMP_CMP : F_BTINT4CMP,
							   values[i]);
	search->keys[0] = (ScanKeyData)
	{
		.sk_flags = SK_ROW_HEADER,.sk_attno = 1,
			.sk_strategy = BTLessStrategyNumber,.sk_argument = PointerGetDatum(row)
	};
	ScanKeyInit(&search->keys[1], 1, BTGreaterEqualStrategyNumber, F_INT4GE,
				Int32GetDatum(search->lowest));
	index_rescan(search->scan, search->keys, 2, NULL, 0);
	MemoryContextSwitchTo(oldcontext);
}

/*
 * StoredSetFindAll
 *		Begin to find the versions of all rows.
 */
void
StoredSetFindAll(StoredSetTable *table, StoredSetSearch *search)
{
	/* also those below 0, which are an error; the end is below all */
	search->lowest = search->first = PG_INT32_MIN + 1;
	search->last = PG_INT32_MAX;
	search->from = DT_NOBEGIN;
	search->ahead = search->skip = false;
	SearchBelow(table, search, PG_INT32_MAX, DT_NOEND, PG_INT32_MIN);
}

/*
 * StoredSetFindBucket
 *		Begin to find the versions of the rows of a bucket, of slices in this
 *		range.
 *
 * They come by descending lanes, the filter first.  Keys move only to that.  So
 * if a transaction that has moved keys is rolled back while we read, we see them
 * in their old place.
 *
 * If the caller will go on with lower buckets, of the same lock and slices, down
 * to the lowest, one scan of the index is for all of them.
 */
void
StoredSetFindBucket(StoredSetTable *table, StoredSetSearch *search, int32 bucket,
					int32 lowest, TimestampTz from, TimestampTz before)
{
	bool		goes_on = bucket >= search->lowest && bucket < search->first;

	search->first = search->last = bucket;
	search->from = from;
	search->merged = DT_NOEND;	/* no row is of that slice */
	/* the rest of a row of another bucket does not matter */
	search->skip = goes_on && !search->ahead;
	if (goes_on)
		return;
	search->lowest = lowest;
	search->ahead = false;
	SearchBelow(table, search, bucket, before, PG_INT32_MIN);
}

/* Take the next entry of the index.  The last is followed by one below all. */
static void
NextEntry(StoredSetSearch *search)
{
	IndexScanDesc scan = search->scan;
	StoredSetRow *entry = &search->entry;
	StoredSetRow last = *entry;
	Datum		values[3];
	bool		nulls[3];

	entry->bucket = PG_INT32_MIN;
	if (index_getnext_tid(scan, BackwardScanDirection) == NULL)
		return;
	index_deform_tuple(scan->xs_itup, scan->xs_itupdesc, values, nulls);
	entry->bucket = DatumGetInt32(values[0]);
	entry->slice = DatumGetTimestampTz(values[1]);
	entry->lane = DatumGetInt32(values[2]);
	search->skip &= entry->bucket == last.bucket &&
		entry->slice == last.slice && entry->lane == last.lane;
}

/*
 * Go to the next version by the index.  False: there is none.
 *
 * Rows that are written often have many, while others have old snapshots.
 */
static bool
NextSlot(StoredSetTable *table, StoredSetSearch *search)
{
	IndexScanDesc scan = search->scan;
	const StoredSetRow *entry = &search->entry;
	int			nskipped = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!scan->xs_heap_continue || search->skip)
		{
			if (!search->ahead)
				NextEntry(search);
			search->ahead = entry->bucket < search->first;
			if (search->ahead)
				return false;
			if (entry->bucket > search->last || entry->slice < search->from)
				continue;
			if (search->skip)
			{
				if (++nskipped == MAX_SKIPPED)
					SearchBelow(table, search, entry->bucket, entry->slice,
								entry->lane);
				continue;
			}
		}
		if (index_fetch_heap(scan, table->slot))
			return true;
	} while (true);
}

/*
 * StoredSetNext
 *		The next of the versions that a search finds.  False: there are no more.
 */
bool
StoredSetNext(StoredSetTable *table, StoredSetSearch *search,
			  StoredSetVersion *version)
{
	/* what the scan allocates, it keeps */
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	bool		found = NextSlot(table, search);

	MemoryContextSwitchTo(oldcontext);
	if (!found)
		return false;
	ReadRow(table, &version->row);
	if (search == &table->visible)
	{
		search->skip = !IsolationUsesXactSnapshot();
		return true;
	}
	Classify(table, version);
	if (TransactionIdIsValid(version->creator) && version->row.filter != NULL)
		search->merged = version->row.slice;
	search->skip = version->is_newest && version->row.slice != search->merged;
	return true;
}

/*
 * StoredSetIsClosed
 *		May there be keys of this row's bucket in the next generation?
 */
bool
StoredSetIsClosed(const StoredSetParams *params, int generation,
				  const StoredSetRow *row)
{
	if (generation + 1 >= params->generations)
		return false;
	return row->filter == NULL ? row->closed :
		StoredSetKeysLeft(row->filter) == 0;
}

/*
 * StoredSetReadAgain
 *		Read a row that was read before.
 */
void
StoredSetReadAgain(StoredSetTable *table, ItemPointer tid, StoredSetRow *row)
{
	if (!table_tuple_fetch_row_version(table->rel, tid, SnapshotAny,
									   table->slot))
		elog(ERROR, "could not read a row of a Bloom set again");
	ReadRow(table, row);
}

/* ----------------------------------------------------------------
 *							WRITING
 * ----------------------------------------------------------------
 */

/* What a row lacks in size with this filter.  NULL: nothing. */
static bytea *
MakeRoom(const StoredSet *set, const Bloom *filter)
{
	Size		full = BloomPrefixSize(filter) + set->params.bits / 8;
	Size		size = VARSIZE(filter);
	bytea	   *room;

	if (size + VARHDRSZ >= full)
		return NULL;
	room = palloc0(full - size);
	SET_VARSIZE(room, full - size);
	return room;
}

static bytea *
MakeLane(const StoredSetRow *row)
{
	int			nwords = Max(row->room, row->nhashes) + 1;
	Size		size = VARHDRSZ + nwords * sizeof(uint64);
	bytea	   *room = palloc0(size);
	char	   *words = VARDATA(room);

	SET_VARSIZE(room, size);
	for (int i = 0; i <= row->nhashes; i++)
	{
		uint64		word = i < row->nhashes ? row->hashes[i] :
		LANE_END | (row->closed ? LANE_CLOSED : 0) | (uint64) row->ncommitted;

		word = BloomLittleEndian64(word);
		memcpy(words + i * sizeof(uint64), &word, sizeof(uint64));
	}
	return room;
}

/* Make a row in the output slot. */
static void
MakeRow(StoredSetTable *table, const StoredSetRow *row)
{
	TupleTableSlot *slot = table->output;
	bytea	   *room = NULL;

	if (row->filter == NULL)
		room = MakeLane(row);
	else
		room = MakeRoom(&table->set, row->filter);
	ExecClearTuple(slot);
	slot->tts_tableOid = RelationGetRelid(table->rel);
	slot->tts_values[STORED_SET_BUCKET - 1] = Int32GetDatum(row->bucket);
	slot->tts_values[STORED_SET_LANE - 1] = Int32GetDatum(row->lane);
	slot->tts_values[STORED_SET_SLICE - 1] = TimestampTzGetDatum(row->slice);
	slot->tts_values[STORED_SET_FILTER - 1] = PointerGetDatum(row->filter);
	slot->tts_values[STORED_SET_ROOM - 1] = PointerGetDatum(room);
	memset(slot->tts_isnull, 0, STORED_SET_COLUMNS * sizeof(bool));
	slot->tts_isnull[STORED_SET_FILTER - 1] = row->filter == NULL;
	slot->tts_isnull[STORED_SET_ROOM - 1] = room == NULL;
	ExecStoreVirtualTuple(slot);
}

/* Make an entry in an index for the row that was written last. */
static void
WriteIndexEntry(StoredSetTable *table, Relation index, const StoredSetRow *row,
				bool is_new)
{
	Datum		values[3] = {Int32GetDatum(row->bucket),
	TimestampTzGetDatum(row->slice), Int32GetDatum(row->lane)};
	bool		nulls[3] = {false, false, false};

	/*
	 * The check protects a new row from what others insert by SQL.  The key
	 * of an old one is unique, for its last version is still there.
	 */
	(void) index_insert(index, values, nulls, &table->output->tts_tid,
						table->rel,
						is_new ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						!is_new, BuildIndexInfo(index));
}

/* The same in the primary key, and in copies of that. */
static void
WriteIndexEntries(StoredSetTable *table, const StoredSetRow *row, bool is_new)
{
	ListCell   *cell;

	WriteIndexEntry(table, table->index, row, is_new);
	if (!table->set.has_copies)
		return;
	foreach(cell, RelationGetIndexList(table->rel))
	{
		Oid			indexid = lfirst_oid(cell);
		Relation	index;

		if (indexid == table->set.index)
			continue;
		index = index_open(indexid, RowExclusiveLock);
		if (index->rd_index->indisready)
			WriteIndexEntry(table, index, row, is_new);
		index_close(index, NoLock);
	}
}

/*
 * Was a row written?  False: another transaction has.  An error, if the
 * caller's own command has.
 */
static bool
WasWritten(TM_Result result)
{
	if (result == TM_SelfModified)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("row of a Bloom set was already modified by the current command"),
				 errhint("Do not change the table of a set in the statement that adds to the set.")));
	if (result != TM_Ok && result != TM_Updated && result != TM_Deleted)
		elog(ERROR, "unexpected result of a write to a Bloom set: %u", result);
	return result == TM_Ok;
}

/*
 * Overwrite a version with the row in the output slot, if that may be done and
 * has the same size.
 */
static bool
Overwrite(StoredSetTable *table, const StoredSetPlace *place, bool holds_all)
{
	HeapTuple	tuple;
	bool		fits;

	if (place->length == 0 ||
		!(holds_all || place->command == GetCurrentCommandId(false)))
		return false;
	tuple = ExecCopySlotHeapTuple(table->output);
	fits = tuple->t_len == place->length;
	if (fits)
	{
		tuple->t_self = place->tid;
		BloomOverwriteTuple(table->rel, tuple);
		/* a write: the next command sees another state (set/test.c) */
		(void) GetCurrentCommandId(true);
	}
	heap_freetuple(tuple);
	return fits;
}

/*
 * Write the next version of a row that is free.
 */
static void
Update(StoredSetTable *table, const StoredSetPlace *place,
	   const StoredSetRow *row)
{
	ItemPointerData tid = place->tid;
	TM_FailureData failure;
	LockTupleMode lockmode;
	TU_UpdateIndexes update_indexes;
	TM_Result	result;

	/* what the current command has written can be updated by the next one */
	if (place->command == GetCurrentCommandId(false))
		CommandCounterIncrement();
	result = table_tuple_update(table->rel, &tid, table->output,
								GetCurrentCommandId(true), 0, SnapshotAny,
								InvalidSnapshot, true, &failure, &lockmode,
								&update_indexes);
	if (!WasWritten(result))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	if (update_indexes == TU_All)
	{
		WriteIndexEntries(table, row, false);
		StoredSetNoteLeft(table->known, &tid);
	}
}

/*
 * StoredSetWriteRow
 *		Write a row that is not there yet, or over the version in this place, or
 *		as its next version.  Does it hold all hashes of that version?
 */
void
StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
				  const StoredSetRow *row, bool holds_all)
{
	MakeRow(table, row);
	if (!ItemPointerIsValid(&place->tid))
	{
		table_tuple_insert(table->rel, table->output,
						   GetCurrentCommandId(true), 0, NULL);
		WriteIndexEntries(table, row, true);
	}
	else if (!Overwrite(table, place, holds_all))
		Update(table, place, row);
	table->wrote = true;
}

/*
 * StoredSetDeleteRow
 *		Delete the version in this place, unless somebody else has.
 */
void
StoredSetDeleteRow(StoredSetTable *table, const StoredSetPlace *place)
{
	ItemPointerData tid = place->tid;
	TM_FailureData failure;

	if (place->command == GetCurrentCommandId(false))
		CommandCounterIncrement();
	if (!WasWritten(table_tuple_delete(table->rel, &tid,
									   GetCurrentCommandId(true), 0,
									   SnapshotAny, InvalidSnapshot, true,
									   &failure)))
		return;
	StoredSetNoteLeft(table->known, &tid);
	table->wrote = true;
}
