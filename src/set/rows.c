/*-------------------------------------------------------------------------
 *
 * set/rows.c
 *		The rows of a stored set: open it, lock, read, write, delete.
 *
 * An add changes a row that it finds by its key.  Most of the time of such a
 * statement would go to the executor, so we call the table and the index
 * ourselves, and do what the executor does for such statements: locks and
 * privileges, command numbers, index entries, replica identity.  What it would
 * do beside that, for triggers, rules, policies, constraints and partitions, is
 * not needed: a table that has any of these is no set (set/define.c).
 *
 * Tests read rows with the active snapshot.  Writers hold the lock of the
 * bucket, and read all versions that exist or may come to exist (a dirty
 * snapshot), so that they see what open transactions have written.  Of a row
 * that is being changed, all versions but the newest can be passed over.
 *
 * Invariants, while the lock of a bucket is held:
 *
 *	- No other add or expiry writes rows of the bucket.  Transactions may end.
 *	- A row has at most one newest version.  Its creator is this transaction,
 *	  another open one, or one that has committed.
 *	- A version is free if it is the newest, no other open transaction has
 *	  written or locked it, and the transaction's snapshot, if there is one,
 *	  sees it.  Only free versions are updated or deleted, so no write waits.
 *	- A version is overwritten only by the command and the subtransaction that
 *	  have made it.
 *
 * Whoever locks or changes rows by SQL while others add can break these.  The
 * worst that comes of it is that a write waits, be it in a deadlock, or fails with
 * 40001 or 23505.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "access/multixact.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "filter/fetch.h"
#include "set/rows.h"

/* A column, as a member of a set of columns */
#define ATTRIBUTE(column)	((column) - FirstLowInvalidHeapAttributeNumber)

/* Ours among the advisory locks; the server's functions take 1 and 2 */
#define LOCK_CLASS	0xB100

/* With more versions of a row, a search of the index takes less than to pass them */
#define MAX_PASSED	24

/* So many rows must have left their pages before we look at these */
#define MIN_LEFT	32

/*
 * The word behind the last hash of a lane.  All others behind it are zero.
 *
 * Hashes and this word are appended and never moved, so that the write-ahead
 * log, which leaves out what an update has not changed, has 16 bytes of them.
 */
#define LANE_END			(UINT64CONST(1) << 63)
#define LANE_CLOSED			(UINT64CONST(1) << 62)
#define LANE_COMMITTED		UINT64CONST(0xff)	/* how many */

/* What a session remembers of a set */
typedef struct StoredSetKnown
{
	Oid			relid;			/* hash key */
	bool		is_valid;		/* nothing has changed since we looked */
	bool		is_complete;	/* we have looked */
	StoredSet	set;
	StoredSetWriter writer;
} StoredSetKnown;

static HTAB *known_sets = NULL;

/* With which the session has last written to a set */
static StoredSetCommand our_command;

/* ----------------------------------------------------------------
 *							WHAT A SESSION REMEMBERS
 * ----------------------------------------------------------------
 */

static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	StoredSetKnown *known;

	(void) arg;
	if (OidIsValid(relid))
	{
		known = hash_search(known_sets, &relid, HASH_FIND, NULL);
		if (known != NULL)
			known->is_valid = false;
		return;
	}
	hash_seq_init(&status, known_sets);
	while ((known = hash_seq_search(&status)) != NULL)
		known->is_valid = false;
}

/* Sets that were changed or dropped take no memory. */
static void
DropForgotten(void)
{
	HASH_SEQ_STATUS status;
	StoredSetKnown *known;

	hash_seq_init(&status, known_sets);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		if (known->is_valid && known->is_complete)
			continue;
		bms_free(known->writer.left);
		bms_free(known->writer.waiting);
		(void) hash_search(known_sets, &known->relid, HASH_REMOVE, NULL);
	}
}

/*
 * What the session remembers of a table, if it is a set.
 *
 * If the table changes while we look, look again: an invalidation reaches only
 * what is remembered already.
 */
static StoredSetKnown *
GetKnown(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	const char *wrong;
	StoredSetKnown *known;

	if (known_sets == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(StoredSetKnown);
		known_sets = hash_create("Bloom sets", 16, &info,
								 HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
	}
	known = hash_search(known_sets, &relid, HASH_FIND, NULL);
	if (known != NULL && known->is_valid && known->is_complete)
		return known;

	DropForgotten();
	known = hash_search(known_sets, &relid, HASH_ENTER, NULL);
	memset(&known->writer, 0, sizeof(known->writer));
	known->is_complete = false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		known->is_valid = true;
		wrong = StoredSetDefine(rel, &known->set);
	} while (!known->is_valid);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a Bloom set",
						RelationGetRelationName(rel)),
				 errdetail("%s", wrong),
				 errhint("A set is a table that bloom_set_create made and nobody has changed.")));
	known->is_complete = true;
	return known;
}

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
	rte->rellockmode = table->use == STORED_SET_TEST ? AccessShareLock :
		RowExclusiveLock;
	permissions = BloomMakePermissions(rte);
	permissions->relid = rte->relid;
	permissions->requiredPerms = ACL_SELECT;
	if (table->use == STORED_SET_ADD)
		permissions->requiredPerms |= ACL_INSERT | ACL_UPDATE;
	if (table->use == STORED_SET_EXPIRE ||
		(table->use == STORED_SET_ADD && !table->set.params.keeps_all))
		permissions->requiredPerms |= ACL_DELETE;
	all = bms_add_range(NULL, ATTRIBUTE(1), ATTRIBUTE(STORED_SET_COLUMNS));
	permissions->selectedCols = all;
	if (table->use == STORED_SET_ADD)
	{
		permissions->insertedCols = all;
		permissions->updatedCols =
			bms_add_range(NULL, ATTRIBUTE(STORED_SET_FILTER),
						  ATTRIBUTE(STORED_SET_COLUMNS));
	}
	BloomCheckPermissions(rte, permissions);
}

/*
 * StoredSetOpen
 *		Open a set, and check that the caller may use it in this way.
 *
 * Nobody can rename or change it from here to the end of the transaction.
 */
void
StoredSetOpen(StoredSetTable *table, Oid relid, StoredSetUse use)
{
	LOCKMODE	lockmode = use == STORED_SET_TEST ? AccessShareLock :
	RowExclusiveLock;

	memset(table, 0, offsetof(StoredSetTable, words));
	table->use = use;
	table->rel = try_relation_open(relid, lockmode);
	if (table->rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	table->set = GetKnown(table->rel)->set;

	CheckPrivileges(table);
	if (table->rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (use != STORED_SET_TEST)
	{
		/* like the executor, not for temporary tables */
		if (XactReadOnly && !table->rel->rd_islocaltemp)
			PreventCommandIfReadOnly("writes to a Bloom set");
		PreventCommandIfParallelMode("writes to a Bloom set");
		if (use == STORED_SET_ADD)
			CheckCmdReplicaIdentity(table->rel, CMD_UPDATE);
		CheckCmdReplicaIdentity(table->rel, CMD_DELETE);
	}
	table->index = index_open(table->set.index, lockmode);
}

/*
 * StoredSetClose
 *		Close it.  The locks are kept, as after every statement.
 */
void
StoredSetClose(StoredSetTable *table)
{
	index_close(table->index, NoLock);
	relation_close(table->rel, NoLock);
}

/* A row has moved from this page to another, or was deleted. */
static void
NoteLeft(StoredSetWriter *writer, ItemPointer tid)
{
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	MemoryContext oldcontext;

	if (block > PG_INT32_MAX)
		return;
	oldcontext = MemoryContextSwitchTo(CacheMemoryContext);
	writer->left = bms_add_member(writer->left, (int) block);
	writer->nleft++;
	writer->leaver = GetTopTransactionId();
	MemoryContextSwitchTo(oldcontext);
}

/*
 * Make the space usable that rows have left in transactions of this session, as
 * soon as nobody can see them there.
 *
 * A call with many keys changes several rows of a page, and not all new versions
 * find place there.  Nobody but vacuum would enter into the free space map where
 * the old ones were, and each such call would make the table larger.
 *
 * While several sessions add, one of them is open at nearly any time.  So what
 * waits for the end of others is kept apart from what has been left since.
 */
static void
ReuseSpace(Relation rel, StoredSetWriter *writer)
{
	BlockNumber nblocks;
	int			block = -1;

	writer->looked = BloomLocalTransaction();
	if (writer->waiting == NULL && writer->nleft >= MIN_LEFT)
	{
		writer->waiting = writer->left;
		writer->waits_for = writer->leaver;
		writer->left = NULL;
		writer->nleft = 0;
	}
	if (writer->waiting == NULL ||
		!TransactionIdPrecedes(writer->waits_for, BloomOldestXmin(rel)))
		return;
	nblocks = RelationGetNumberOfBlocks(rel);
	while ((block = bms_next_member(writer->waiting, block)) >= 0 &&
		   (BlockNumber) block < nblocks)
	{
		Buffer		buffer = ReadBuffer(rel, block);
		Size		space;

		CHECK_FOR_INTERRUPTS();
		/* who is interrupted later need not look at it again */
		writer->waiting = bms_del_member(writer->waiting, block);
		BloomPrunePage(rel, buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		space = PageGetHeapFreeSpace(BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
		RecordPageWithFreeSpace(rel, block, space);
	}
	FreeSpaceMapVacuum(rel);
	bms_free(writer->waiting);
	writer->waiting = NULL;
}

/* Commands are compared as bytes: the struct has no padding. */
static StoredSetCommand
CurrentCommand(void)
{
	StoredSetCommand command = {BloomLocalTransaction(),
	GetCurrentSubTransactionId(), GetCurrentCommandId(false)};

	return command;
}

/*
 * Find out what the session has written before.
 *
 * A command of our own begins with the first call of a statement, so that the
 * statement itself cannot silently pass over rows that we have changed.  It is
 * one for all sets.
 */
static void
BeginToWrite(StoredSetTable *table)
{
	StoredSetWriter *writer = table->writer = &GetKnown(table->rel)->writer;
	StoredSetCommand command = CurrentCommand();
	bool		is_ours = memcmp(&command, &our_command, sizeof(command)) == 0;

	table->wrote_before = writer->command.transaction == command.transaction;
	table->same_command = is_ours &&
		memcmp(&command, &writer->command, sizeof(command)) == 0;
	if (!table->same_command)
		writer->key_type = 0;
	if (writer->looked != command.transaction)
		ReuseSpace(table->rel, writer);
	if (!is_ours)
		CommandCounterIncrement();
}

/* Remember what it has written by now. */
static void
EndToWrite(StoredSetTable *table)
{
	if (table->wrote)
		table->writer->command = our_command = CurrentCommand();
}

/*
 * StoredSetBegin
 *		Begin to read, or to write.
 *
 * Until StoredSetEnd, no code runs but ours and the server's.
 */
void
StoredSetBegin(StoredSetTable *table)
{
	bool		writes = table->use != STORED_SET_TEST;

	table->context = CurrentMemoryContext;
	table->slot = table_slot_create(table->rel, NULL);
	if (writes)
	{
		BeginToWrite(table);
		table->output = MakeSingleTupleTableSlot(RelationGetDescr(table->rel),
												 &TTSOpsVirtual);
		InitDirtySnapshot(table->dirty);
		table->versions = index_beginscan(table->rel, table->index,
										  &table->dirty, NULL, 2, 0, SO_NONE);
		table->versions->xs_want_itup = true;
		if (IsolationUsesXactSnapshot())
			PushActiveSnapshot(GetTransactionSnapshot());
	}
	table->snapshot = GetActiveSnapshot();
}

/*
 * StoredSetEnd
 *		End what StoredSetBegin has begun.
 */
void
StoredSetEnd(StoredSetTable *table)
{
	if (table->scan != NULL)
		index_endscan(table->scan);
	if (table->versions != NULL)
	{
		EndToWrite(table);
		index_endscan(table->versions);
		ExecDropSingleTupleTableSlot(table->output);
		if (IsolationUsesXactSnapshot())
			PopActiveSnapshot();
	}
	ExecDropSingleTupleTableSlot(table->slot);
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
	index_rescan(table->versions, NULL, 2, NULL, 0);
	XactLockTableWait(other, NULL, NULL, XLTW_None);
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
	table->lowest = PG_INT32_MAX;	/* search again */
}

void
StoredSetUnlock(StoredSetTable *table, int32 bucket)
{
	LOCKTAG		tag = LockTagOf(table, bucket);

	(void) LockRelease(&tag, ExclusiveLock, false);
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

/*
 * The shape that the filter of a row should have, but for what only informs.
 */
static bool
HasOwnShape(const StoredSet *set, const StoredSetRow *row, const Bloom *filter)
{
	if (row->bucket == STORED_SET_TYPE_BUCKET)
		return BloomBits(filter) == STORED_SET_TYPE_BITS;
	return row->lane == 0 && BloomBits(filter) == (uint64) set->params.bits &&
		filter->hashes == StoredSetHashes(&set->params,
										  StoredSetGeneration(set, row->bucket)) &&
		filter->seed == (uint64) set->params.seed;
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
	Size		most = BLOOM_HEADER_SIZE + BLOOM_MAX_TYPE_WORDS * sizeof(uint64) +
	Max(table->set.params.bits, STORED_SET_TYPE_BITS) / 8;
	const Bloom *filter;

	if (toast_raw_datum_size(datum) > most)
		InvalidRow(table, row, "Its filter is larger than that of a bucket.");
	filter = FetchFilter(table, datum);
	if (VARSIZE(filter) < BLOOM_HEADER_SIZE ||
		BloomCheckHeader(filter) != NULL ||
		VARSIZE(filter) != BloomSizeByHeader(filter))
		InvalidRow(table, row, "Its filter is no value, but a state of an aggregate.");
	if (!HasOwnShape(&table->set, row, filter))
		InvalidRow(table, row, "Its filter does not have the shape of the bucket.");
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
	if ((row->bucket != STORED_SET_TYPE_BUCKET &&
		 StoredSetGeneration(&table->set, row->bucket) < 0) ||
		row->lane > 0 || row->lane == PG_INT32_MIN)
		InvalidRow(table, row, "The set cannot have this bucket or lane.");

	if (!slot->tts_isnull[STORED_SET_FILTER - 1])
		ReadFilter(table, row, slot->tts_values[STORED_SET_FILTER - 1]);
	else if (row->bucket == STORED_SET_TYPE_BUCKET ||
			 slot->tts_isnull[STORED_SET_ROOM - 1])
		InvalidRow(table, row, "A column is null.");
	else
		ReadLane(table, row, slot->tts_values[STORED_SET_ROOM - 1]);
}

/*
 * StoredSetFindRows
 *		Begin to read the rows of a bucket, or of all, one bucket and slice after
 *		another, of slices from this one on, as the snapshot sees them.
 */
void
StoredSetFindRows(StoredSetTable *table, int32 bucket, TimestampTz oldest)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	bool		all = bucket == STORED_SET_ALL_BUCKETS;
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, all ? BTGreaterStrategyNumber :
				BTEqualStrategyNumber, all ? F_INT4GT : F_INT4EQ,
				Int32GetDatum(bucket));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber,
				F_TIMESTAMP_GE, TimestampTzGetDatum(oldest));
	if (table->scan == NULL)
		table->scan = index_beginscan(table->rel, table->index,
									  table->snapshot, NULL, 2, 0, SO_NONE);
	index_rescan(table->scan, keys, 2, NULL, 0);
	MemoryContextSwitchTo(oldcontext);
}

/*
 * StoredSetNextRow
 *		The next of these rows.  False: there are no more.
 */
bool
StoredSetNextRow(StoredSetTable *table, StoredSetRow *row)
{
	/* what the scan allocates, it keeps */
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	bool		found = index_getnext_slot(table->scan, BackwardScanDirection,
										   table->slot);

	MemoryContextSwitchTo(oldcontext);
	if (found)
		ReadRow(table, row);
	return found;
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
 * May the command that has made a version, in this transaction, overwrite it?
 *
 * Whoever sees a version must see what was written by then, and no more.  If
 * the current command has made it, no snapshot shows it yet, neither of others
 * nor ours; if the current subtransaction has, it goes with what is written over
 * it.  But logical decoding would not see that.
 *
 * All lanes have the same nulls, so that the header can stay.  Filters differ.
 */
static bool
CanBeOverwritten(const StoredSetTable *table, const StoredSetRow *row,
				 HeapTupleHeader header)
{
	return row->filter == NULL &&
		TransactionIdEquals(HeapTupleHeaderGetRawXmin(header),
							GetCurrentTransactionIdIfAny()) &&
		!RelationIsLogicallyLogged(table->rel);
}

/* The version in the slot, which the dirty snapshot sees. */
static void
ReadVersion(StoredSetTable *table, StoredSetVersion *version)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(table->slot, false, NULL);
	HeapTupleHeader header = tuple->t_data;
	StoredSetPlace *place = &version->place;

	ReadRow(table, &version->row);
	version->creator = table->dirty.xmin;
	place->tid = table->slot->tts_tid;
	place->is_own = !TransactionIdIsValid(version->creator) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(header));
	place->command = place->is_own ? HeapTupleHeaderGetCmin(header) :
		InvalidCommandId;
	place->length = place->is_own && CanBeOverwritten(table, &version->row, header) ?
		tuple->t_len : 0;
	version->is_newest = IsNewest(header);
	version->is_visible = !TransactionIdIsValid(version->creator) &&
		(place->is_own || !IsolationUsesXactSnapshot() ||
		 table_tuple_satisfies_snapshot(table->rel, table->slot,
										table->snapshot));
	version->is_free = version->is_newest && version->is_visible &&
		!IsLocked(header);
}

/*
 * Search the index for what is less than (bucket, slice, lane), down to the
 * lowest bucket that is to be read.
 */
static void
SearchBelow(StoredSetTable *table, int32 bucket, TimestampTz slice, int32 lane)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	ScanKey		row = &table->keys[2];
	Datum		values[3] = {Int32GetDatum(bucket), TimestampTzGetDatum(slice),
	Int32GetDatum(lane)};

	for (int i = 0; i < 3; i++)
		ScanKeyEntryInitialize(&row[i], SK_ROW_MEMBER | (i == 2 ? SK_ROW_END : 0),
							   i + 1, BTLessStrategyNumber, InvalidOid,
							   InvalidOid, i == 1 ? F_TIMESTAMP_CMP : F_BTINT4CMP,
							   values[i]);
	table->keys[0] = (ScanKeyData)
	{
		.sk_flags = SK_ROW_HEADER,.sk_attno = 1,
			.sk_strategy = BTLessStrategyNumber,.sk_argument = PointerGetDatum(row)
	};
	ScanKeyInit(&table->keys[1], 1, BTGreaterEqualStrategyNumber, F_INT4GE,
				Int32GetDatum(table->lowest));
	index_rescan(table->versions, table->keys, 2, NULL, 0);
	MemoryContextSwitchTo(oldcontext);
}

/*
 * StoredSetFindVersions
 *		Begin to read the versions of the rows of a bucket, of slices in this
 *		range, that exist or may come to exist.
 *
 * They come by descending lanes: the filter, long lanes, short lanes.  Keys
 * move only to rows that come before theirs.  So if a transaction that has
 * moved keys is rolled back while we read, we see them in their old place.
 *
 * If the caller will read more buckets of the same lock, from higher to lower,
 * one search is for all of them.
 */
void
StoredSetFindVersions(StoredSetTable *table, int32 bucket, bool more,
					  TimestampTz from, TimestampTz before)
{
	bool		goes_on = bucket >= table->lowest && bucket < table->bucket;

	if (!goes_on)
	{
		table->lowest = more ?
			bucket >> STORED_SET_LOCK_SHIFT << STORED_SET_LOCK_SHIFT : bucket;
		table->ahead = false;
		SearchBelow(table, bucket, before, PG_INT32_MIN);
	}
	table->bucket = bucket;
	table->from = from;
	table->merged = DT_NOEND;	/* no row is of that slice */
	/* the rest of a row of another bucket does not matter */
	table->passed = goes_on && !table->ahead;
}

/* Read the next entry of the index.  The last is followed by one below all. */
static void
NextEntry(StoredSetTable *table)
{
	IndexScanDesc scan = table->versions;
	StoredSetRow *entry = &table->entry;
	StoredSetRow last = *entry;
	Datum		values[3];
	bool		nulls[3];

	entry->bucket = STORED_SET_ALL_BUCKETS;
	if (index_getnext_tid(scan, BackwardScanDirection) == NULL)
		return;
	index_deform_tuple(scan->xs_itup, scan->xs_itupdesc, values, nulls);
	entry->bucket = DatumGetInt32(values[0]);
	entry->slice = DatumGetTimestampTz(values[1]);
	entry->lane = DatumGetInt32(values[2]);
	table->passed &= entry->bucket == last.bucket &&
		entry->slice == last.slice && entry->lane == last.lane;
}

/*
 * Go to the next version by the index.  False: there is none.
 *
 * In a transaction of many commands, a row can have many.
 */
static bool
NextSlot(StoredSetTable *table)
{
	IndexScanDesc scan = table->versions;
	const StoredSetRow *entry = &table->entry;
	int			npassed = 0;

	do
	{
		if (!scan->xs_heap_continue || table->passed)
		{
			if (!table->ahead)
				NextEntry(table);
			table->ahead = entry->bucket < table->bucket;
			if (table->ahead)
				return false;
			if (entry->bucket > table->bucket || entry->slice < table->from)
				continue;
			if (table->passed)
			{
				if (++npassed == MAX_PASSED)
					SearchBelow(table, entry->bucket, entry->slice,
								entry->lane);
				continue;
			}
		}
		if (index_fetch_heap(scan, table->slot))
			return true;
	} while (true);
}

/*
 * StoredSetNextVersion
 *		The next of these versions.  False: there are no more.
 */
bool
StoredSetNextVersion(StoredSetTable *table, StoredSetVersion *version)
{
	MemoryContext oldcontext;
	bool		found;

	oldcontext = MemoryContextSwitchTo(table->context);
	found = NextSlot(table);
	MemoryContextSwitchTo(oldcontext);
	if (!found)
		return false;
	ReadVersion(table, version);
	if (!TransactionIdIsValid(version->creator))
		table->passed = version->is_newest;
	else
	{
		/* what it has merged is in versions that it has replaced */
		if (version->row.filter != NULL)
			table->merged = version->row.slice;
		table->passed = version->is_newest &&
			version->row.slice != table->merged;
	}
	return true;
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
	else if (row->bucket != STORED_SET_TYPE_BUCKET)
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

/* Make entries for the row that was written last, in the index and its copies. */
static void
WriteIndexEntries(StoredSetTable *table, const StoredSetRow *row,
				  IndexUniqueCheck check, bool same_key)
{
	Datum		values[3] = {Int32GetDatum(row->bucket),
	TimestampTzGetDatum(row->slice), Int32GetDatum(row->lane)};
	bool		nulls[3] = {false, false, false};

	(void) same_key;			/* not asked for before PostgreSQL 14 */
	for (int i = -1; i < table->set.ncopies; i++)
	{
		Relation	index = i < 0 ? table->index :
		index_open(table->set.copies[i], RowExclusiveLock);

		(void) index_insert(index, values, nulls, &table->output->tts_tid,
							table->rel, check, same_key,
							BuildIndexInfo(index));
		if (i >= 0)
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
 * Overwrite a version with the row in the output slot, if the current command
 * can, and it has the same size.
 */
static bool
Overwrite(StoredSetTable *table, const StoredSetPlace *place)
{
	HeapTuple	tuple;
	bool		fits;

	if (place->length == 0 || place->command != GetCurrentCommandId(false))
		return false;
	tuple = ExecCopySlotHeapTuple(table->output);
	fits = tuple->t_len == place->length;
	if (fits)
	{
		tuple->t_self = place->tid;
		BloomOverwriteTuple(table->rel, tuple);
	}
	heap_freetuple(tuple);
	return fits;
}

/*
 * Write the next version of a row that is free.
 *
 * The index need not check that the key is unique: the old version, which has
 * the same key, is still there.
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
		WriteIndexEntries(table, row, UNIQUE_CHECK_NO, true);
		NoteLeft(table->writer, &tid);
	}
}

/*
 * StoredSetWriteRow
 *		Write a row that is not there yet, or over the version in this place, or
 *		as its next version.
 *
 * The check of the index protects a new row from what others insert by SQL.
 */
void
StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
				  const StoredSetRow *row)
{
	MakeRow(table, row);
	if (!ItemPointerIsValid(&place->tid))
	{
		table_tuple_insert(table->rel, table->output,
						   GetCurrentCommandId(true), 0, NULL);
		WriteIndexEntries(table, row, UNIQUE_CHECK_YES, false);
	}
	else if (!Overwrite(table, place))
		Update(table, place, row);
	table->wrote = true;
}

/*
 * StoredSetDeleteRow
 *		Delete the version that has this place.  False: somebody else did.
 */
bool
StoredSetDeleteRow(StoredSetTable *table, const StoredSetPlace *place)
{
	ItemPointerData tid = place->tid;
	TM_FailureData failure;
	bool		written;

	if (place->command == GetCurrentCommandId(false))
		CommandCounterIncrement();
	written = WasWritten(table_tuple_delete(table->rel, &tid,
											GetCurrentCommandId(true), 0,
											SnapshotAny, InvalidSnapshot, true,
											&failure));
	if (written)
		NoteLeft(table->writer, &tid);
	table->wrote |= written;
	return written;
}
