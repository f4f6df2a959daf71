/*-------------------------------------------------------------------------
 *
 * set/table.c
 *		The rows of a stored set: open it, lock, find, write, delete.
 *
 * An add changes a row that it finds by its key.  Most of the time of such a
 * statement would go to the executor, so we call the table and the index
 * ourselves, and do what the executor does for such statements: locks and
 * privileges, command numbers, index entries, replica identity.  Triggers, rules,
 * policies, constraints and partitions need no code here: a table that has any of
 * these is no set (set/identity.c).
 *
 * Searches
 * --------
 *
 * A search finds versions of rows by descending start and lane: for a hash, the
 * lanes that may have it, and then its range.
 *
 * Tests find the rows that the active snapshot sees.  Those that write hold the
 * lock of the stripe, and find all versions that a dirty snapshot admits.  In
 * both, the search passes over versions that cannot matter:
 *
 *	- A snapshot that is taken anew for each statement sees one version of a row
 *	  at most.  A snapshot that is kept can see two, if the transaction has
 *	  deleted a lane that another has deleted, too, and has made it again; and
 *	  for SERIALIZABLE, it matters what is not seen.
 *	- Older versions of a row add nothing to its latest one, if that has been
 *	  committed or is our own.
 *
 * SQL updates rows without our lock.  It can move a row to another page after the
 * search has read the index, so that the entry that was read leads to no version.
 * So if no version of a row is found, the row is searched for once more.
 *
 * Invariants, while the lock of a stripe is held:
 *
 *	- No other add or compaction writes rows of the stripe.  Transactions may end.
 *	- A row has at most one latest version.  Its creator is this transaction,
 *	  another open one, or one that has committed.
 *	- A version is free if it is the latest, no other open transaction has
 *	  created or locked it, and the transaction's snapshot, if there is one,
 *	  sees it.  Only free versions are updated or deleted, so no write waits.
 *	- A version is overwritten only by the subtransaction that has made it, and
 *	  while nothing else in the session reads the table.
 *
 * SQL that locks or changes rows while others add can break these.  At worst, a
 * write then waits, perhaps in a deadlock, or fails with 40001, 23505, 27000 or
 * 55000.
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
#include "storage/freespace.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "set/set_compat.h"
#include "set/store.h"

/* A column, as a member of a set of columns */
#define ATTRIBUTE(column)	((column) - FirstLowInvalidHeapAttributeNumber)

/* Ours among the advisory locks; the server's functions take 1 and 2 */
#define LOCK_CLASS	0xB100

/* With so many ranges between hashes, a search of the index is for one of them */
#define NEAR_RANGES	8

/* With more versions of a row, a search of the index takes less than to pass them */
#define MAX_SKIPPED	16

/*
 * The word behind the last hash of a lane.  All others behind it are zero.
 *
 * Hashes and this word are appended and never moved, so that the write-ahead
 * log, which leaves out what an update has not changed, has 16 bytes of them.
 */
#define LANE_END			(UINT64CONST(1) << 63)
#define LANE_COMMITTED		UINT64CONST(0xff)	/* how many */

StaticAssertDecl(STORED_SET_HARD_BYTES + 100 <= MaxHeapTupleSize &&
				 (STORED_SET_LANE_KEYS + 1) * sizeof(uint64) + 100 <= MaxHeapTupleSize,
				 "pages are too small for the rows of a set");

/* Free space in a page that is worth an entry in the free space map */
#define WORTHWHILE_SPACE	(BLCKSZ / 4)

/* Starts are signed in the table, in the order of the hashes */
#define StartToDatum(start)		Int64GetDatum((int64) ((start) ^ LANE_END))
#define DatumToStart(datum)		((uint64) DatumGetInt64(datum) ^ LANE_END)

/* ----------------------------------------------------------------
 *							OPENING
 * ----------------------------------------------------------------
 */

/*
 * StoredSetCheckPrivileges
 *		The privileges that the executor would check for what a call may do, and
 *		more of them that it needs.
 *
 * To delete a row whose keys have moved counts as an update.
 */
void
StoredSetCheckPrivileges(const StoredSetTable *table, AclMode more)
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
	permissions->requiredPerms = ACL_SELECT | more;
	all = bms_add_range(NULL, ATTRIBUTE(1), ATTRIBUTE(STORED_SET_COLUMNS));
	permissions->selectedCols = all;
	if (table->to_write)
	{
		permissions->requiredPerms |= ACL_INSERT | ACL_UPDATE |
			(table->set.params.keep != 0 ? ACL_DELETE : 0);
		permissions->insertedCols = all;
		permissions->updatedCols =
			bms_add_range(NULL, ATTRIBUTE(STORED_SET_SLICE),
						  ATTRIBUTE(STORED_SET_COLUMNS));
	}
	if (BloomHasPermissions(rte, permissions))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", RelationGetRelationName(rel)),
			 (permissions->requiredPerms & ACL_INSERT) == 0 ?
			 errhint("Reading from this set needs the privilege SELECT.") :
			 errhint("Writing to this set needs the privileges %s.",
					 (permissions->requiredPerms & ACL_DELETE) == 0 ?
					 "SELECT, INSERT and UPDATE" :
					 "SELECT, INSERT, UPDATE and DELETE")));
}

/* Can be written at all now, whoever asks? */
static void
CheckCanWrite(const StoredSetTable *table)
{
	/* like the executor, not for temporary tables */
	if (XactReadOnly && !table->rel->rd_islocaltemp)
		PreventCommandIfReadOnly("writes to a Bloom set");
	PreventCommandIfParallelMode("writes to a Bloom set");
	CheckCmdReplicaIdentity(table->rel, CMD_UPDATE);
	CheckCmdReplicaIdentity(table->rel, CMD_DELETE);
}

/*
 * StoredSetCheckWriter
 *		An error, unless the caller may write to a set that is open to be read.
 */
void
StoredSetCheckWriter(StoredSetTable *table)
{
	table->to_write = true;
	StoredSetCheckPrivileges(table, 0);
	CheckCanWrite(table);
	table->to_write = false;
}

/*
 * StoredSetCheckWhole
 *		An error, if the lists of a set do not have whole hashes.
 */
void
StoredSetCheckWhole(const StoredSetTable *table)
{
	int			kept_bits = table->set.params.kept_bits;

	if (kept_bits == STORED_SET_ALL_BITS)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("Bloom set \"%s\" does not keep whole hashes",
					RelationGetRelationName(table->rel)),
			 errdetail("It keeps %d of 64 bits, so that a hash stands for several keys.",
					   kept_bits)));
}

/*
 * StoredSetOpen
 *		Open a set, and check that the caller may read it, or write to it.
 *
 * Nobody can rename or change it from here to the end of the transaction.
 */
void
StoredSetOpen(StoredSetTable *table, Oid relid, bool to_write,
			  bool check_privileges)
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
				 errhint("Name the set first, then the key. If the set was replaced while this call waited for it, repeat the statement.")));
	StoredSetRecall(table);

	if (check_privileges)
		StoredSetCheckPrivileges(table, 0);
	if (table->rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (to_write)
		CheckCanWrite(table);
	table->index = index_open(table->set.index, lockmode);
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
	/* to hash the keys can have run code that has changed it */
	StoredSetRecall(table);
	table->is_alone = table->rel->rd_refcnt == 1;
	table->noted = InvalidBlockNumber;
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
	StoredSetRemember(table);
	if (table->visible.scan != NULL)
		index_endscan(table->visible.scan);
	if (table->versions.scan != NULL)
		index_endscan(table->versions.scan);
	if (table->slot != NULL)
		ExecDropSingleTupleTableSlot(table->slot);
	if (table->output != NULL)
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

/* Let go of the pages that a search has pinned. */
static void
ReleasePages(StoredSetTable *table)
{
	if (table->versions.scan == NULL)
		return;
	ExecClearTuple(table->slot);
	index_rescan(table->versions.scan, NULL, 2, NULL, 0);
	table->versions.at_entry = false;
}

/*
 * The lock of a stripe.
 *
 * It is held while a call reads and writes, and never while it waits for a
 * transaction.  It is an advisory lock, since the deadlock detector of older
 * servers does not look at locks of pages.
 */
static LOCKTAG
LockTagOf(const StoredSetTable *table, uint64 hash)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, table->set.relid,
						 (uint32) (hash >> (64 - STORED_SET_STRIPE_BITS)),
						 LOCK_CLASS);
	return tag;
}

/*
 * StoredSetLock, StoredSetUnlock
 *		Lock the stripe of this hash.
 */
void
StoredSetLock(StoredSetTable *table, uint64 hash)
{
	LOCKTAG		tag = LockTagOf(table, hash);

	table->versions.at_entry = false;	/* search again */
	if (LockAcquire(&tag, ExclusiveLock, false, true) !=
		LOCKACQUIRE_NOT_AVAIL)
		return;
	/* VACUUM waits for pins, and who has the lock can wait for long */
	ReleasePages(table);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
StoredSetUnlock(StoredSetTable *table, uint64 hash)
{
	LOCKTAG		tag = LockTagOf(table, hash);

	(void) LockRelease(&tag, ExclusiveLock, false);
}

/*
 * StoredSetWaitFor
 *		Wait for the end of a transaction.
 */
void
StoredSetWaitFor(StoredSetTable *table, TransactionId other)
{
	ReleasePages(table);
	XactLockTableWait(other, NULL, NULL, XLTW_None);
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/*
 * StoredSetInvalidRow
 *		The error of a row that was not written by us.
 */
void
StoredSetInvalidRow(const StoredSetTable *table, uint64 start, int32 lane,
					const char *wrong)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("Bloom set \"%s\" contains an invalid row",
					RelationGetRelationName(table->rel)),
			 errdetail("Start " INT64_FORMAT ", lane %d: %s",
					   DatumGetInt64(StartToDatum(start)), lane, wrong)));
}

static void
ReadLane(StoredSetTable *table, StoredSetRow *row, const char *data, Size size)
{
	uint64		end;
	int			n = (int) (size / sizeof(uint64));
	bool		is_right = true;

	if (size > sizeof(table->words))
		StoredSetInvalidRow(table, row->start, row->lane, "Its lane is too long.");
	row->room = n - 1;
	memcpy(table->words, data, n * sizeof(uint64));
	while (n > 0 && table->words[n - 1] == 0)
		n--;
	for (int i = 0; i < n; i++)
	{
		table->words[i] = BloomLittleEndian64(table->words[i]);
		/* no key has 0 */
		is_right &= table->words[i] != 0 &&
			(table->words[i] >= row->start || i == n - 1);
	}

	end = n > 0 ? table->words[n - 1] : 0;
	row->hashes = table->words;
	row->nhashes = n - 1;
	row->ncommitted = (int) (end & LANE_COMMITTED);
	if ((end & ~LANE_COMMITTED) != LANE_END ||
		row->ncommitted > row->nhashes || !is_right)
		StoredSetInvalidRow(table, row->start, row->lane, "It is no lane.");
}

static void
ReadList(StoredSetTable *table, StoredSetRow *row, const char *data, Size size)
{
	const char *wrong;

	row->pack.packing = table->set.packing;
	row->pack.start = row->start;
	row->pack.slice = row->slice;
	wrong = StoredSetReadPack(&row->pack, (const uint8 *) data, size);
	if (wrong == NULL && row->pack.last > StoredSetStripeEnd(row->start))
		wrong = "Its range is too wide.";
	if (wrong != NULL)
		StoredSetInvalidRow(table, row->start, row->lane, wrong);
	table->width = row->pack.last - row->start;
}

/*
 * Read a row from the slot, and check it before it is used.
 *
 * The owner of the table can have put any value into it.  A forged row can give
 * wrong answers, but cannot crash the server or make it read out of bounds.
 */
static void
ReadRow(StoredSetTable *table, StoredSetRow *row)
{
	TupleTableSlot *slot = table->slot;
	const struct varlena *stored;

	slot_getallattrs(slot);
	memset(row, 0, sizeof(*row));
	/* constraints that are not validated can be broken */
	row->start = DatumToStart(slot->tts_values[STORED_SET_START - 1]);
	row->lane = DatumGetInt32(slot->tts_values[STORED_SET_LANE - 1]);
	if (slot->tts_isnull[STORED_SET_START - 1] ||
		slot->tts_isnull[STORED_SET_LANE - 1] ||
		slot->tts_isnull[STORED_SET_HASHES - 1] ||
		slot->tts_isnull[STORED_SET_SLICE - 1] !=
		(table->set.params.keep == 0))
		StoredSetInvalidRow(table, row->start, row->lane, "A column is null, or should be.");
	if (row->lane < 0 || row->lane == PG_INT32_MAX)
		StoredSetInvalidRow(table, row->start, row->lane, "The set cannot have this lane.");
	if (table->set.params.keep != 0)
		row->slice = StoredSetSliceOf(&table->set.params,
									  DatumGetTimestampTz(slot->tts_values[STORED_SET_SLICE - 1]));
	stored = (struct varlena *) DatumGetPointer(slot->tts_values[STORED_SET_HASHES - 1]);
	if (VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored))
		StoredSetInvalidRow(table, row->start, row->lane, "Its hashes are compressed, or stored out of line.");
	if (row->lane > 0)
		ReadLane(table, row, VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
	else
		ReadList(table, row, VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
}

/*
 * StoredSetItemsOf
 *		The items of a list: an error, if there are not as many as its head says.
 */
StoredSetItem *
StoredSetItemsOf(const StoredSetTable *table, const StoredSetPack *pack)
{
	StoredSetItem *items = palloc(pack->nhashes * sizeof(StoredSetItem));

	if (!StoredSetUnpack(pack, items))
		StoredSetInvalidRow(table, pack->start, 0,
							"Its list is not what its head says.");
	return items;
}

/*
 * StoredSetCopyPack
 *		A copy of a list, which is read in its page.
 */
StoredSetPack
StoredSetCopyPack(const StoredSetPack *pack)
{
	StoredSetPack copy = *pack;
	Size		size = pack->end - pack->high_parts;
	uint8	   *bytes = palloc(size);

	memcpy(bytes, pack->high_parts, size);
	copy.high_parts = bytes;
	copy.low_parts = bytes + (pack->low_parts - pack->high_parts);
	copy.ages = bytes + (pack->ages - pack->high_parts);
	copy.end = bytes + size;
	return copy;
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
CopyHeader(StoredSetTable *table, HeapTupleHeader header)
{
	BufferHeapTupleTableSlot *buffered = (BufferHeapTupleTableSlot *) table->slot;

	LockBuffer(buffered->buffer, BUFFER_LOCK_SHARE);
	memcpy(header, buffered->base.tuple->t_data, SizeofHeapTupleHeader);
	LockBuffer(buffered->buffer, BUFFER_LOCK_UNLOCK);
}

/* Has a next version been written, or this one deleted, be it rolled back? */
static bool
IsUpdated(HeapTupleHeader header)
{
	return (header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
		!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask);
}

/* Is a transaction open, and not this one? */
static bool
IsOther(TransactionId xid)
{
	return !TransactionIdIsCurrentTransactionId(xid) &&
		TransactionIdIsInProgress(xid);
}

/* Who else has locked this version, which is the latest, and is open; or invalid */
static TransactionId
LockerOf(HeapTupleHeader header)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(header);
	TransactionId locker = InvalidTransactionId;
	MultiXactMember *members;
	int			n;

	if ((header->t_infomask & HEAP_XMAX_INVALID) != 0 ||
		HEAP_LOCKED_UPGRADED(header->t_infomask))
		return InvalidTransactionId;
	if ((header->t_infomask & HEAP_XMAX_IS_MULTI) == 0)
		return IsOther(xmax) ? xmax : InvalidTransactionId;
	n = GetMultiXactIdMembers(xmax, &members, false,
							  HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask));
	for (int i = 0; i < n; i++)
	{
		if (IsOther(members[i].xid))
			locker = members[i].xid;
	}
	if (n > 0)
		pfree(members);
	return locker;
}

/*
 * May a version be overwritten by what holds all that it holds?  See
 * "Overwriting" in set/README.
 *
 * If the current subtransaction has made it, it goes with what is written over
 * it.  But logical decoding would not see that; nor would a statement that reads
 * the rows of the table itself, and then deletes one with more keys than it has
 * read.
 *
 * All lanes have the same nulls, so that the header can stay.
 */
static bool
CanBeOverwritten(const StoredSetTable *table, const StoredSetRow *row,
				 HeapTupleHeader header)
{
	return row->lane > 0 && table->is_alone &&
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

	CopyHeader(table, &header);
	version->creator = table->dirty.xmin;
	place->tid = table->slot->tts_tid;
	place->is_own = !TransactionIdIsValid(version->creator) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(&header));
	place->length = place->is_own &&
		CanBeOverwritten(table, &version->row, &header) ?
		((BufferHeapTupleTableSlot *) table->slot)->base.tuple->t_len : 0;
	if (TransactionIdIsValid(version->creator))
	{
		/* what others do to it is not ours, nor does it change what it says */
		version->holder = InvalidTransactionId;
		version->is_latest = !IsUpdated(&header);
		version->is_visible = false;
		return;
	}
	version->holder = table->dirty.xmax;
	version->is_latest = !TransactionIdIsValid(version->holder);
	if (version->is_latest)
		version->holder = LockerOf(&header);
	version->is_visible = place->is_own || !IsolationUsesXactSnapshot() ||
		table_tuple_satisfies_snapshot(table->rel, table->slot,
									   GetActiveSnapshot());
}

/* Search the index from a row on, for it and what is below it. */
static void
SearchFrom(StoredSetTable *table, StoredSetSearch *search, uint64 start,
		   int32 lane)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	ScanKey		row = &search->keys[2];

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
	ScanKeyEntryInitialize(&row[0], SK_ROW_MEMBER, 1,
						   BTLessEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_BTINT8CMP, StartToDatum(start));
	ScanKeyEntryInitialize(&row[1], SK_ROW_MEMBER | SK_ROW_END, 2,
						   BTLessEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_BTINT4CMP, Int32GetDatum(lane));
	search->keys[0] = (ScanKeyData)
	{
		.sk_flags = SK_ROW_HEADER,.sk_attno = 1,
			.sk_strategy = BTLessEqualStrategyNumber,.sk_argument = PointerGetDatum(row)
	};
	ScanKeyInit(&search->keys[1], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				StartToDatum(search->lowest));
	index_rescan(search->scan, search->keys, 2, NULL, 0);
	search->at_entry = false;
	search->skip = false;
	search->nlost = 0;
	MemoryContextSwitchTo(oldcontext);
}

/*
 * Begin to find the versions of rows with starts from here down to the lowest, and
 * then to the end.
 *
 * If the search has come near, so that these are among what it has yet to read,
 * it goes on, down to its own lowest start and end.
 */
static void
Find(StoredSetTable *table, StoredSetSearch *search, uint64 from,
	 uint64 lowest, uint64 end)
{
	bool		goes_on = search->at_entry && from < search->start &&
	from >= search->lowest;

	search->from = from;
	/* the rest of the row that was read last does not matter */
	search->skip = true;
	if (goes_on)
		return;
	search->lowest = lowest;
	search->end = end;
	SearchFrom(table, search, from, PG_INT32_MAX);
}

/*
 * StoredSetFind
 *		Begin to find the versions of rows with starts from here down to the
 *		lowest.
 */
void
StoredSetFind(StoredSetTable *table, StoredSetSearch *search, uint64 from,
			  uint64 lowest)
{
	Find(table, search, from, lowest, lowest);
}

/*
 * StoredSetFindRange
 *		Begin to find the lanes that can have a hash, and its range.  There are
 *		others to look for, so far from each other.
 *
 * An index scan takes all entries of a page down to its end.  So that is near,
 * unless one search is for several hashes.
 */
void
StoredSetFindRange(StoredSetTable *table, StoredSetSearch *search, uint64 hash,
				   uint64 spacing)
{
	uint64		width = table->width;
	uint64		stripe = StoredSetStripeStart(hash);
	bool		is_near = width > 0 && width < spacing / NEAR_RANGES &&
	hash - stripe > 3 * width;

	Find(table, search, hash, is_near ? hash - 3 * width : stripe, stripe);
}

/*
 * Enter free space of the page that was read into the free space map.
 *
 * A call with many keys changes several rows of a page, and not all new versions
 * find place there.  Nobody but vacuum would tell where the old ones were, and
 * each such call would make the table larger.
 */
static void
NoteSpace(StoredSetTable *table, IndexScanDesc scan)
{
	Buffer		buffer = ((IndexFetchHeapData *) scan->xs_heapfetch)->xs_cbuf;
	BlockNumber block;
	Size		space;

	if (!BufferIsValid(buffer) ||
		(block = BufferGetBlockNumber(buffer)) == table->noted)
		return;
	table->noted = block;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	space = PageGetHeapFreeSpace(BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (space < WORTHWHILE_SPACE ||
		GetRecordedFreeSpace(table->rel, block) >= space / 2)
		return;
	RecordPageWithFreeSpace(table->rel, block, space);
	FreeSpaceMapVacuumRange(table->rel, block, block + 1);
}

/* Take the next entry of the index.  False: there is none. */
static bool
NextEntry(StoredSetSearch *search)
{
	IndexScanDesc scan = search->scan;
	uint64		start = search->start;
	int32		lane = search->lane;
	Datum		values[2];
	bool		nulls[2];
	bool		is_other;

	if (index_getnext_tid(scan, BackwardScanDirection) == NULL)
		return false;
	index_deform_tuple(scan->xs_itup, scan->xs_itupdesc, values, nulls);
	search->start = DatumToStart(values[0]);
	search->lane = DatumGetInt32(values[1]);
	is_other = search->start != start || search->lane != lane;
	if (is_other || !search->at_entry)
	{
		search->skip = search->found = false;
		search->nlost = 0;
	}
	if (is_other)
		search->nlost_before = 0;
	search->at_entry = true;
	return true;
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
	int			nskipped = 0;

	for (;;)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (!search->at_entry || !scan->xs_heap_continue || search->skip)
		{
			StoredSetSearch last = *search;
			bool		is_end = !NextEntry(search);
			bool		is_lost = search == &table->versions && last.at_entry &&
			!last.found && last.nlost > 0 && (is_end || search->nlost == 0);

			/* has a row moved, so that all that we know of it is gone? */
			if (is_lost && last.nlost != last.nlost_before)
			{
				SearchFrom(table, search, last.start, last.lane);
				search->start = last.start;
				search->lane = last.lane;
				search->nlost_before = last.nlost;
				continue;
			}
			search->lost_range |= is_lost && last.lane == 0;
			if (is_end && search->lowest > search->end)
			{
				uint64		from = search->lowest - 1;

				search->lowest = search->end;
				SearchFrom(table, search, from, PG_INT32_MAX);
				continue;
			}
			if (is_end)
			{
				search->at_entry = false;
				return false;
			}
			if (search->start > search->from)
				continue;
			if (search->skip)
			{
				if (++nskipped == MAX_SKIPPED)
					SearchFrom(table, search, search->start, search->lane - 1);
				continue;
			}
		}
		found = index_fetch_heap(scan, table->slot);
		if (search == &table->versions)
			NoteSpace(table, scan);
		if (found)
			return true;
		search->nlost++;
	}
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
	search->found = true;
	ReadRow(table, &version->row);
	if (search == &table->visible)
	{
		search->skip = !IsolationUsesXactSnapshot();
		return true;
	}
	Classify(table, version);
	search->skip = !TransactionIdIsValid(version->creator) &&
		version->is_latest;
	return true;
}

/* ----------------------------------------------------------------
 *							WRITING
 * ----------------------------------------------------------------
 */

static bytea *
MakeLane(const StoredSetRow *row)
{
	int			nwords = Max(row->room, row->nhashes) + 1;
	Size		size = VARHDRSZ + nwords * sizeof(uint64);
	bytea	   *hashes = palloc0(size);
	char	   *words = VARDATA(hashes);

	SET_VARSIZE(hashes, size);
	for (int i = 0; i <= row->nhashes; i++)
	{
		uint64		word = i < row->nhashes ? row->hashes[i] :
		LANE_END | (uint64) row->ncommitted;

		word = BloomLittleEndian64(word);
		memcpy(words + i * sizeof(uint64), &word, sizeof(uint64));
	}
	return hashes;
}

static bytea *
MakeList(const StoredSetRow *row, const StoredSetItem *items, int nitems)
{
	const StoredSetPack *pack = &row->pack;
	bytea	   *hashes = palloc(VARHDRSZ +
								StoredSetPackSize(&pack->packing, nitems,
												  pack->start,
												  nitems == 0 ? pack->start :
												  items[nitems - 1].hash));

	SET_VARSIZE(hashes, VARHDRSZ +
				StoredSetWritePack((uint8 *) VARDATA(hashes), pack, items,
								   nitems));
	return hashes;
}

/* Make a row in the output slot. */
static void
MakeRow(StoredSetTable *table, const StoredSetRow *row,
		const StoredSetItem *items, int nitems)
{
	TupleTableSlot *slot = table->output;
	const StoredSetParams *params = &table->set.params;

	ExecClearTuple(slot);
	slot->tts_tableOid = RelationGetRelid(table->rel);
	slot->tts_values[STORED_SET_START - 1] = StartToDatum(row->start);
	slot->tts_values[STORED_SET_LANE - 1] = Int32GetDatum(row->lane);
	slot->tts_values[STORED_SET_SLICE - 1] = params->keep == 0 ? (Datum) 0 :
		TimestampTzGetDatum(row->slice * StoredSetSliceLength(params));
	slot->tts_values[STORED_SET_HASHES - 1] =
		PointerGetDatum(row->lane > 0 ? MakeLane(row) :
						MakeList(row, items, nitems));
	memset(slot->tts_isnull, 0, STORED_SET_COLUMNS * sizeof(bool));
	slot->tts_isnull[STORED_SET_SLICE - 1] = params->keep == 0;
	ExecStoreVirtualTuple(slot);
}

/*
 * Make entries for the row that was written last: in the primary key, and in copies of
 * it, which REINDEX CONCURRENTLY makes.
 */
static void
WriteIndexEntries(StoredSetTable *table, const StoredSetRow *row, bool is_new)
{
	Datum		values[2] = {StartToDatum(row->start), Int32GetDatum(row->lane)};
	bool		nulls[2] = {false, false};
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table->rel))
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);

		/*
		 * The check protects a new row from what others insert by SQL.  The
		 * key of an old one is unique, for its last version is still there.
		 */
		if (index->rd_index->indisready)
			(void) index_insert(index, values, nulls, &table->output->tts_tid,
								table->rel,
								is_new ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
								!is_new, BuildIndexInfo(index));
		index_close(index, NoLock);
	}
}

/*
 * An error, unless a row was written.
 *
 * Only statements of SQL write without our lock.  What they leave of a row is not
 * what was read of it, so that nothing may be written that goes by that.
 */
static void
CheckWritten(TM_Result result)
{
	if (result == TM_SelfModified)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("row of a Bloom set was already modified by the current command"),
				 errhint("Do not change the table of a set in the statement that adds to the set.")));
	if (result == TM_Updated || result == TM_Deleted)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Another transaction has written a row of the set by SQL.")));
	if (result != TM_Ok)
		elog(ERROR, "unexpected result of a write to a Bloom set: %u", result);
}

/*
 * Overwrite a version with the row in the output slot, if that may be done and
 * has the same size.
 */
static bool
Overwrite(StoredSetTable *table, const StoredSetPlace *place)
{
	HeapTuple	tuple;
	bool		fits;

	if (place->length == 0)
		return false;
	tuple = ExecCopySlotHeapTuple(table->output);
	fits = tuple->t_len == place->length;
	if (fits)
	{
		tuple->t_self = place->tid;
		BloomOverwriteTuple(table->rel, tuple);
		/* a write: the next command sees another state (set/probe.c) */
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

	result = table_tuple_update(table->rel, &tid, table->output,
								GetCurrentCommandId(true), 0, SnapshotAny,
								InvalidSnapshot, true, &failure, &lockmode,
								&update_indexes);
	CheckWritten(result);
	if (update_indexes == TU_All)
		WriteIndexEntries(table, row, false);
}

/*
 * StoredSetWriteRow
 *		Write a row that is not there yet, or over the version in this place, or
 *		as its next version.  The items are those of a range.
 */
void
StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
				  const StoredSetRow *row, const StoredSetItem *items,
				  int nitems)
{
	MakeRow(table, row, items, nitems);
	if (!ItemPointerIsValid(&place->tid))
	{
		table_tuple_insert(table->rel, table->output,
						   GetCurrentCommandId(true), 0, NULL);
		WriteIndexEntries(table, row, true);
	}
	else if (!Overwrite(table, place))
		Update(table, place, row);
}

/*
 * StoredSetDeleteRow
 *		Delete the version in this place.
 */
void
StoredSetDeleteRow(StoredSetTable *table, const StoredSetPlace *place)
{
	ItemPointerData tid = place->tid;
	TM_FailureData failure;

	CheckWritten(table_tuple_delete(table->rel, &tid,
									GetCurrentCommandId(true), 0, SnapshotAny,
									InvalidSnapshot, true, &failure));
}
