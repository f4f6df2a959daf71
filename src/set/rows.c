/*-------------------------------------------------------------------------
 *
 * set/rows.c
 *		The rows of a stored set: open it, find, insert, update, delete.
 *
 * An add changes one row that it finds by its key.  Most of the time of such
 * a statement would go to the executor, so we call the table and the index
 * ourselves, and do what the executor does for such statements: locks and
 * privileges, snapshots and command numbers, waiting for other transactions,
 * serialization failures, index entries, replica identity.  What it would do
 * beside that, for triggers, rules, policies, constraints and partitions, is
 * not needed: a table that has any of these is no set (set/define.c).
 *
 * Reading
 * -------
 *
 * Rows come from an index scan with the active snapshot, or, for a call that
 * writes, with a snapshot of its own that sees what its transaction has
 * written.  It runs backward, because the newest version of a row tends to
 * have the highest address.
 *
 * Within a transaction, each add leaves an old version behind, which nobody
 * can remove yet.  To find the newest among a hundred thousand versions must
 * not take a hundred thousand steps: a session notes for the transaction where
 * it has put rows.  Such a note is only a hint: the row that is there is used
 * if it is the right one and the snapshot sees it.
 *
 * Writing
 * -------
 *
 * An update is tried on the version that was read.  If another transaction
 * has changed that, it fails (after waiting for its end), and we lock the
 * newest version and let the caller look at that; or, where the transaction has
 * one snapshot for all its statements, it is a serialization failure.
 *
 * The new version needs an index entry unless it is on the page of the old one
 * (HOT).  The index need not check that its key is unique, since the old
 * version, which has the same key, is still there: whoever inserts that key
 * finds it, and waits for us.  (To check would be to look at all versions.)
 *
 * To insert a row that is missing, we first take a lock that says so, and look
 * with a snapshot that sees everything.  So two sessions that insert the same
 * row are told apart here, and not by an error of the index.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
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
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "filter/fetch.h"
#include "set/rows.h"

/* Hints are kept in a table of this size, in which newer ones displace older */
#define NUM_HINTS	16384		/* a power of two */

/* A copy of the parameters is no longer than this */
#define MAX_DEFAULT	1000

struct BloomSetHint
{
	LocalTransactionId transaction; /* which put it there */
	int32		shard;
	TimestampTz slice;
	ItemPointerData tid;
};

/*
 * Pages from which this session has moved rows, so that their old versions can
 * be removed when its transaction has ended.
 */
#define MAX_VACATED	4096

struct BloomSetVacated
{
	int			n;
	BlockNumber blocks[MAX_VACATED];
};

/* What a session remembers of a set */
typedef struct Known
{
	Oid			relid;			/* hash key */
	bool		is_valid;
	LocalTransactionId last_writer;
	BloomSet	set;
	BloomSetHint *hints;		/* or NULL */
	BloomSetVacated *vacated;	/* or NULL */
} Known;

static HTAB *known_sets = NULL;

/* ----------------------------------------------------------------
 *							WHAT A SESSION REMEMBERS
 * ----------------------------------------------------------------
 */

static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

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
	Known	   *known;

	hash_seq_init(&status, known_sets);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		if (known->is_valid)
			continue;
		if (known->hints != NULL)
			pfree(known->hints);
		if (known->vacated != NULL)
			pfree(known->vacated);
		(void) hash_search(known_sets, &known->relid, HASH_REMOVE, NULL);
	}
}

static Known *
FindKnown(Oid relid)
{
	Known	   *known;

	if (known_sets == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(Known);
		known_sets = hash_create("Bloom sets", 16, &info,
								 HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
	}
	known = hash_search(known_sets, &relid, HASH_FIND, NULL);
	return known != NULL && known->is_valid ? known : NULL;
}

/* ----------------------------------------------------------------
 *							OPENING
 * ----------------------------------------------------------------
 */

/*
 * The privileges that the executor would check for what a call may do.
 */
static void
CheckPrivileges(Relation rel, bool writes, bool deletes)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	BloomPermissions *permissions;

	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = writes ? RowExclusiveLock : AccessShareLock;
	permissions = BloomMakePermissions(rte);
	permissions->relid = rte->relid;
	permissions->requiredPerms = ACL_SELECT;
	for (int i = BLOOM_SET_SHARD; i <= BLOOM_SET_FILTER; i++)
		permissions->selectedCols =
			bms_add_member(permissions->selectedCols,
						   i - FirstLowInvalidHeapAttributeNumber);
	if (writes)
	{
		permissions->requiredPerms |= ACL_INSERT | ACL_UPDATE;
		if (deletes)
			permissions->requiredPerms |= ACL_DELETE;
		for (int i = BLOOM_SET_SHARD; i <= BLOOM_SET_ROOM; i++)
			permissions->insertedCols =
				bms_add_member(permissions->insertedCols,
							   i - FirstLowInvalidHeapAttributeNumber);
		for (int i = BLOOM_SET_FILTER; i <= BLOOM_SET_ROOM; i++)
			permissions->updatedCols =
				bms_add_member(permissions->updatedCols,
							   i - FirstLowInvalidHeapAttributeNumber);
	}
	BloomCheckPermissions(rte, permissions);
}

/*
 * The default that a set had when its first key came.  NULL: it is not known.
 *
 * It is text that the table's owner can have written.
 */
static char *
LostDefault(const BloomSetTable *table)
{
	BloomSetTable copy = *table;
	ScanKeyData key;
	char	   *result = NULL;

	copy.index = index_open(copy.set.index, AccessShareLock);
	copy.slot = table_slot_create(copy.rel, NULL);
	copy.scan = index_beginscan(copy.rel, copy.index, GetActiveSnapshot(), NULL,
								1, 0, SO_NONE);
	ScanKeyInit(&key, BLOOM_SET_SHARD, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(BLOOM_SET_TYPE_SHARD));
	index_rescan(copy.scan, &key, 1, NULL, 0);
	if (index_getnext_slot(copy.scan, ForwardScanDirection, copy.slot))
	{
		bool		isnull;
		Datum		room = slot_getattr(copy.slot, BLOOM_SET_ROOM, &isnull);

		if (!isnull && BloomFetchSize(room) <= MAX_DEFAULT)
			result = TextDatumGetCString(room);
		for (char *c = result; c != NULL && *c != '\0'; c++)
		{
			if (*c < ' ' || *c > '~')
				*c = '?';
		}
	}
	index_endscan(copy.scan);
	ExecDropSingleTupleTableSlot(copy.slot);
	index_close(copy.index, NoLock);
	return result;
}

/* The error of a table that is no set. */
static void
NotASet(BloomSetTable *table, const char *wrong, bool lacks_default)
{
	char	   *lost = NULL;

	if (lacks_default)
	{
		CheckPrivileges(table->rel, false, false);
		lost = LostDefault(table);
	}
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a Bloom set",
					RelationGetRelationName(table->rel)),
			 errdetail("%s", wrong),
			 lost != NULL ?
			 errhint("By its first row, it was: ALTER TABLE %s ALTER room SET DEFAULT %s",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(table->rel)),
												RelationGetRelationName(table->rel)),
					 lost) :
			 errhint("A set is a table that bloom_set_create made and nobody has changed.")));
}

/*
 * BloomSetOpen
 *		Open a set, and check that the caller may do so.
 *
 * Nobody can rename or change it from here to the end of the transaction.
 */
void
BloomSetOpen(BloomSetTable *table, Oid relid, bool writes)
{
	Known	   *known;

	memset(table, 0, sizeof(*table));
	table->writes = writes;
	table->rel = try_relation_open(relid, writes ? RowExclusiveLock : AccessShareLock);
	if (table->rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));

	known = FindKnown(relid);
	if (known == NULL)
	{
		bool		lacks_default;
		const char *wrong = BloomSetDefine(table->rel, &table->set,
										   &lacks_default);

		if (wrong != NULL)
			NotASet(table, wrong, lacks_default);
		DropForgotten();
		known = hash_search(known_sets, &relid, HASH_ENTER, NULL);
		known->set = table->set;
		known->last_writer = InvalidLocalTransactionId;
		known->hints = NULL;
		known->vacated = NULL;
		known->is_valid = true;
	}
	table->set = known->set;

	CheckPrivileges(table->rel, writes, !table->set.params.keeps_all);
	if (writes)
	{
		/* like the executor, not for temporary tables */
		if (XactReadOnly && !table->rel->rd_islocaltemp)
			PreventCommandIfReadOnly("bloom_set_add()");
		PreventCommandIfParallelMode("bloom_set_add()");
		CheckCmdReplicaIdentity(table->rel, CMD_UPDATE);
	}
	table->index = index_open(table->set.index,
							  writes ? RowExclusiveLock : AccessShareLock);
}

/*
 * BloomSetClose
 *		Close it.  The locks are kept, as after every statement.
 */
void
BloomSetClose(BloomSetTable *table)
{
	index_close(table->index, NoLock);
	relation_close(table->rel, NoLock);
}

/* A place for a hint. */
static BloomSetHint *
HintFor(const BloomSetTable *table, int32 shard, TimestampTz slice)
{
	uint32		hash = murmurhash32((uint32) shard ^
									murmurhash32((uint32) (slice ^ (slice >> 32))));

	return &table->hints[hash & (NUM_HINTS - 1)];
}

/*
 * BloomSetBegin
 *		Begin to read, or to write.
 *
 * Until BloomSetEnd, no code runs but ours and the server's.
 */
void
BloomSetBegin(BloomSetTable *table)
{
	if (table->writes)
	{
		Known	   *known;

		/* what the caller's command has written is not to be overlooked */
		CommandCounterIncrement();
		PushActiveSnapshot(GetTransactionSnapshot());

		/* only transactions that write more than once need hints */
		known = FindKnown(table->set.relid);
		if (known != NULL)
		{
			LocalTransactionId transaction = BloomLocalTransaction();

			if (known->last_writer == transaction && known->hints == NULL)
				known->hints = MemoryContextAllocZero(CacheMemoryContext,
													  NUM_HINTS * sizeof(BloomSetHint));
			known->last_writer = transaction;
			table->hints = known->hints;
		}
		table->output = MakeSingleTupleTableSlot(RelationGetDescr(table->rel),
												 &TTSOpsVirtual);
	}
	table->context = CurrentMemoryContext;
	table->snapshot = GetActiveSnapshot();
	table->slot = table_slot_create(table->rel, NULL);
	table->scan = index_beginscan(table->rel, table->index, table->snapshot,
								  NULL, 2, 0, SO_NONE);
	table->roomy_from = InvalidBlockNumber;
}

/*
 * BloomSetEnd
 *		End what BloomSetBegin has begun.
 */
void
BloomSetEnd(BloomSetTable *table)
{
	index_endscan(table->scan);
	ExecDropSingleTupleTableSlot(table->slot);
	if (table->roomy_from != InvalidBlockNumber)
		FreeSpaceMapVacuumRange(table->rel, table->roomy_from,
								table->roomy_to + 1);
	if (table->writes)
	{
		ExecDropSingleTupleTableSlot(table->output);
		PopActiveSnapshot();
		CommandCounterIncrement();
	}
}

/*
 * BloomSetRefresh
 *		Take a new snapshot, since others have written, or we.
 */
void
BloomSetRefresh(BloomSetTable *table)
{
	MemoryContext oldcontext;

	Assert(table->writes);
	CHECK_FOR_INTERRUPTS();
	index_endscan(table->scan);
	ExecClearTuple(table->slot);
	PopActiveSnapshot();
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	table->snapshot = GetActiveSnapshot();
	oldcontext = MemoryContextSwitchTo(table->context);
	table->scan = index_beginscan(table->rel, table->index, table->snapshot,
								  NULL, 2, 0, SO_NONE);
	MemoryContextSwitchTo(oldcontext);
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/* The error of a row that was not written by us. */
static void
SpoiltRow(const BloomSetTable *table, const BloomSetRow *row, const char *wrong)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("Bloom set \"%s\" has a row that it cannot have",
					RelationGetRelationName(table->rel)),
			 errdetail("Shard %d, slice %s: %s", row->shard,
					   timestamptz_to_str(row->slice), wrong)));
}

/*
 * The shape that the filter of a row should have, but for what only informs.
 */
static bool
HasOwnShape(const BloomSet *set, const BloomSetRow *row, const Bloom *filter)
{
	int			generation;

	if (row->shard == BLOOM_SET_TYPE_SHARD)
		return BloomBits(filter) == BLOOM_SET_TYPE_BITS;
	generation = BloomSetGeneration(set, row->shard);

	/* a slice that passes over the shard, and goes to the next generation */
	if (!BloomHasShape(filter))
		return generation >= 0 && generation + 1 < set->generations &&
			!TIMESTAMP_NOT_FINITE(row->slice);
	return generation >= 0 &&
		BloomBits(filter) == (uint64) set->params.bits &&
		filter->hashes == BloomSetHashes(&set->params, generation) &&
		filter->seed == (uint64) set->params.seed;
}

/*
 * BloomSetReadRow
 *		Read a row from a slot, and check it before its filter is used.
 *
 * The owner of the table can have put any value of type bloom into it.  What is
 * accepted here may lie about keys, but nothing else.
 */
void
BloomSetReadRow(const BloomSetTable *table, TupleTableSlot *slot,
				BloomSetRow *row)
{
	Size		most = BLOOM_HEADER_SIZE + BLOOM_MAX_TYPE_WORDS * sizeof(uint64) +
	Max(table->set.params.bits, BLOOM_SET_TYPE_BITS) / 8;
	const Bloom *filter;
	Datum		datum;

	slot_getsomeattrs(slot, BLOOM_SET_FILTER);
	for (int i = 0; i < BLOOM_SET_FILTER; i++)
	{
		/* constraints that are not validated can be broken */
		if (slot->tts_isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("Bloom set \"%s\" has a row that it cannot have",
							RelationGetRelationName(table->rel)),
					 errdetail("A column is null.")));
	}
	row->shard = DatumGetInt32(slot->tts_values[BLOOM_SET_SHARD - 1]);
	row->slice = DatumGetTimestampTz(slot->tts_values[BLOOM_SET_SLICE - 1]);
	datum = slot->tts_values[BLOOM_SET_FILTER - 1];

	if (BloomFetchSize(datum) > most)
		SpoiltRow(table, row, "Its filter is larger than a shard's.");
	filter = BloomFetchState(datum);
	if (VARSIZE(filter) < BLOOM_HEADER_SIZE ||
		BloomCheckHeader(filter) != NULL ||
		VARSIZE(filter) != BloomSizeByHeader(filter))
		SpoiltRow(table, row, "Its filter is no value, but a state of an aggregate.");
	if (!HasOwnShape(&table->set, row, filter))
		SpoiltRow(table, row, "Its filter does not have the shape of the shard.");
	row->filter = filter;
}

/*
 * The next row of an index scan.  What the scan allocates, it keeps, so it must
 * not be in a context that the caller resets between two shards.
 */
static bool
GetNext(BloomSetTable *table, IndexScanDesc scan, ScanDirection direction)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(table->context);
	bool		found = index_getnext_slot(scan, direction, table->slot);

	MemoryContextSwitchTo(oldcontext);
	return found;
}

/*
 * BloomSetFindRows
 *		Begin to read the rows of a shard, of slices from this one on.
 */
void
BloomSetFindRows(BloomSetTable *table, int32 shard, TimestampTz oldest)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], BLOOM_SET_SHARD, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(shard));
	ScanKeyInit(&keys[1], BLOOM_SET_SLICE, BTGreaterEqualStrategyNumber,
				F_TIMESTAMP_GE, TimestampTzGetDatum(oldest));
	index_rescan(table->scan, keys, 2, NULL, 0);
}

/*
 * BloomSetNextRow
 *		The next of these rows.  False: there are no more.
 */
bool
BloomSetNextRow(BloomSetTable *table, BloomSetRow *row)
{
	if (!GetNext(table, table->scan, BackwardScanDirection))
		return false;
	BloomSetReadRow(table, table->slot, row);
	return true;
}

/* Find the row with this key by an index scan. */
static bool
FindSlot(BloomSetTable *table, IndexScanDesc scan, int32 shard,
		 TimestampTz slice)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], BLOOM_SET_SHARD, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(shard));
	ScanKeyInit(&keys[1], BLOOM_SET_SLICE, BTEqualStrategyNumber,
				F_TIMESTAMP_EQ, TimestampTzGetDatum(slice));
	index_rescan(scan, keys, 2, NULL, 0);
	return GetNext(table, scan, BackwardScanDirection);
}

/*
 * BloomSetFindRow
 *		Find a row.  False: there is none.
 */
bool
BloomSetFindRow(BloomSetTable *table, int32 shard, TimestampTz slice,
				BloomSetRow *row)
{
	if (table->hints != NULL)
	{
		BloomSetHint *hint = HintFor(table, shard, slice);

		if (hint->transaction == BloomLocalTransaction() &&
			hint->shard == shard && hint->slice == slice &&
			table_tuple_fetch_row_version(table->rel, &hint->tid,
										  table->snapshot, table->slot))
		{
			/* after a rollback, another row may be there */
			BloomSetReadRow(table, table->slot, row);
			if (row->shard == shard && row->slice == slice)
				return true;
		}
	}
	if (!FindSlot(table, table->scan, shard, slice))
		return false;
	BloomSetReadRow(table, table->slot, row);
	return true;
}

/* ----------------------------------------------------------------
 *							WRITING
 * ----------------------------------------------------------------
 */

/* What a row lacks in size with this filter.  NULL: nothing. */
static bytea *
MakeRoom(const BloomSet *set, const Bloom *filter)
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

/* Make a row in the output slot. */
static void
MakeRow(BloomSetTable *table, int32 shard, TimestampTz slice,
		const Bloom *filter)
{
	TupleTableSlot *slot = table->output;
	bytea	   *room = NULL;

	ExecClearTuple(slot);
	slot->tts_tableOid = RelationGetRelid(table->rel);
	if (shard == BLOOM_SET_TYPE_SHARD)
		room = cstring_to_text(BloomSetDefault(&table->set.params));
	else if (!TIMESTAMP_IS_NOEND(slice) && BloomHasShape(filter))
		room = MakeRoom(&table->set, filter);
	slot->tts_values[BLOOM_SET_SHARD - 1] = Int32GetDatum(shard);
	slot->tts_values[BLOOM_SET_SLICE - 1] = TimestampTzGetDatum(slice);
	slot->tts_values[BLOOM_SET_FILTER - 1] = PointerGetDatum(filter);
	slot->tts_values[BLOOM_SET_ROOM - 1] = PointerGetDatum(room);
	memset(slot->tts_isnull, 0, BLOOM_SET_COLUMNS * sizeof(bool));
	slot->tts_isnull[BLOOM_SET_ROOM - 1] = room == NULL;
	ExecStoreVirtualTuple(slot);
}

/* Make an index entry for the row that was written last. */
static void
WriteIndexEntry(BloomSetTable *table, int32 shard, TimestampTz slice,
				IndexUniqueCheck check, bool same_key)
{
	Datum		values[2] = {Int32GetDatum(shard), TimestampTzGetDatum(slice)};
	bool		nulls[2] = {false, false};

	(void) same_key;			/* not asked for before PostgreSQL 14 */
	(void) BloomInsertIntoIndex(table->index, values, nulls,
								&table->output->tts_tid, table->rel, check,
								same_key, BuildIndexInfo(table->index));
}

/* Note where a row was put. */
static void
NoteHint(BloomSetTable *table, int32 shard, TimestampTz slice)
{
	BloomSetHint *hint;

	if (table->hints == NULL)
		return;
	hint = HintFor(table, shard, slice);
	hint->transaction = BloomLocalTransaction();
	hint->shard = shard;
	hint->slice = slice;
	hint->tid = table->output->tts_tid;
}

/*
 * A call that adds to many shards writes several rows of a page, and has to put
 * some of them elsewhere.  When it has ended, the space that they leave is free,
 * but only vacuum would tell the free space map, and each such call would make
 * the table larger.  So we tell it ourselves: of pages that have place for two
 * rows, so that one can move there, and of pages from which the session's last
 * call has moved rows.
 */
#define ROOMY	(BLCKSZ * 2 / 7)

/* Note how much space there is on a page, if it is enough. */
static void
NoteFreeSpace(BloomSetTable *table, BlockNumber block, Size space)
{
	if (space < ROOMY)
		return;
	RecordPageWithFreeSpace(table->rel, block, space);
	if (table->roomy_from == InvalidBlockNumber)
		table->roomy_from = table->roomy_to = block;
	table->roomy_from = Min(table->roomy_from, block);
	table->roomy_to = Max(table->roomy_to, block);
}

/*
 * Note what an update has done to the page of the old version.
 *
 * We look at it without a lock: who wants to use the space checks.
 */
static void
NotePage(BloomSetTable *table)
{
	Buffer		buffer = ((BufferHeapTupleTableSlot *) table->slot)->buffer;
	BlockNumber block;

	if (!table->many || !BufferIsValid(buffer))
		return;
	block = BufferGetBlockNumber(buffer);
	if (ItemPointerGetBlockNumber(&table->output->tts_tid) == block)
		NoteFreeSpace(table, block, PageGetHeapFreeSpace(BufferGetPage(buffer)));
	else if (table->vacated != NULL && table->vacated->n < MAX_VACATED)
		table->vacated->blocks[table->vacated->n++] = block;
}

/*
 * BloomSetExpectMany
 *		Prepare for a call that is going to write many rows.
 */
void
BloomSetExpectMany(BloomSetTable *table)
{
	Known	   *known = FindKnown(table->set.relid);
	BlockNumber nblocks = RelationGetNumberOfBlocks(table->rel);
	BloomSetVacated *vacated;

	table->many = true;
	if (known == NULL)
		return;
	if (known->vacated == NULL)
		known->vacated = MemoryContextAllocZero(CacheMemoryContext,
												sizeof(BloomSetVacated));
	vacated = table->vacated = known->vacated;
	for (int i = 0; i < vacated->n; i++)
	{
		BlockNumber block = vacated->blocks[i];
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		if (block >= nblocks || (i > 0 && block == vacated->blocks[i - 1]))
			continue;
		buffer = ReadBuffer(table->rel, block);
		BloomPrunePage(table->rel, buffer);
		NoteFreeSpace(table, block, PageGetHeapFreeSpace(BufferGetPage(buffer)));
		ReleaseBuffer(buffer);
	}
	vacated->n = 0;
	if (table->roomy_from != InvalidBlockNumber)
		FreeSpaceMapVacuumRange(table->rel, table->roomy_from,
								table->roomy_to + 1);
}

/* Others have changed what our snapshot sees. */
static void
CheckSerializable(bool deleted)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 deleted ?
				 errmsg("could not serialize access due to concurrent delete") :
				 errmsg("could not serialize access due to concurrent update")));
}

/*
 * BloomSetInsertRow
 *		Insert a row that was not found.
 */
BloomSetWritten
BloomSetInsertRow(BloomSetTable *table, int32 shard, TimestampTz slice,
				  const Bloom *filter)
{
	BlockNumber lock = (BlockNumber) shard + 1;
	SnapshotData dirty;
	IndexScanDesc scan;
	bool		found;

	/*
	 * A lock of that page of the table, which nobody else uses, stands for the
	 * row that is not there yet.  It is held for a moment: the next session
	 * then finds the row, and waits for our transaction.
	 */
	LockPage(table->rel, lock, ExclusiveLock);
	InitDirtySnapshot(dirty);
	scan = index_beginscan(table->rel, table->index, &dirty, NULL, 2, 0,
						   SO_NONE);
	found = FindSlot(table, scan, shard, slice);
	if (found)
	{
		TransactionId other = TransactionIdIsValid(dirty.xmin) ? dirty.xmin :
		dirty.xmax;
		ItemPointerData tid = table->slot->tts_tid;

		index_endscan(scan);
		ExecClearTuple(table->slot);
		UnlockPage(table->rel, lock, ExclusiveLock);
		if (TransactionIdIsValid(other))
			XactLockTableWait(other, table->rel, &tid, XLTW_InsertIndex);
		else
			CheckSerializable(false);
		return BLOOM_SET_AGAIN;
	}
	index_endscan(scan);

	MakeRow(table, shard, slice, filter);
	table_tuple_insert(table->rel, table->output, GetCurrentCommandId(true), 0,
					   NULL);
	WriteIndexEntry(table, shard, slice, UNIQUE_CHECK_YES, false);
	UnlockPage(table->rel, lock, ExclusiveLock);
	NoteHint(table, shard, slice);
	return BLOOM_SET_WRITTEN;
}

/*
 * Lock the newest version of a row, and read it.
 */
static BloomSetWritten
LockNewest(BloomSetTable *table, BloomSetRow *row)
{
	ItemPointerData tid = table->slot->tts_tid;
	BloomSetRow newest;
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_lock(table->rel, &tid, table->snapshot, table->slot,
							  GetCurrentCommandId(true),
							  LockTupleNoKeyExclusive, LockWaitBlock,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	switch (result)
	{
		case TM_Ok:
			BloomSetReadRow(table, table->slot, &newest);
			if (newest.shard != row->shard || newest.slice != row->slice)
				return BLOOM_SET_AGAIN;
			*row = newest;
			return BLOOM_SET_CHANGED;
		case TM_Deleted:
			return BLOOM_SET_AGAIN;
		default:
			elog(ERROR, "unexpected table_tuple_lock status: %u", result);
	}
	return BLOOM_SET_AGAIN;		/* keep compiler quiet */
}

/* The error of a row that the caller's own command has written. */
static void
SelfModified(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("row of a Bloom set was already modified by the current command"),
			 errhint("Do not change the table of a set in the statement that adds to the set.")));
}

/*
 * BloomSetUpdateRow
 *		Give a row, which was read last, another filter.
 *
 * If the row had changed, it is not written, but locked and read again.
 */
BloomSetWritten
BloomSetUpdateRow(BloomSetTable *table, BloomSetRow *row, const Bloom *filter)
{
	TM_FailureData failure;
	LockTupleMode lockmode;
	BloomUpdateIndexes update_indexes;
	TM_Result	result;

	MakeRow(table, row->shard, row->slice, filter);
	result = table_tuple_update(table->rel, &table->slot->tts_tid,
								table->output, GetCurrentCommandId(true), 0,
								table->snapshot, InvalidSnapshot, true,
								&failure, &lockmode, &update_indexes);
	switch (result)
	{
		case TM_Ok:
			/* the index may look for dead versions, but of others only */
			if (BloomNeedsIndexes(update_indexes))
				WriteIndexEntry(table, row->shard, row->slice, UNIQUE_CHECK_NO,
								table->hints == NULL);
			NoteHint(table, row->shard, row->slice);
			NotePage(table);
			return BLOOM_SET_WRITTEN;
		case TM_Updated:
			CheckSerializable(false);
			return LockNewest(table, row);
		case TM_Deleted:
			CheckSerializable(true);
			return BLOOM_SET_AGAIN;
		case TM_SelfModified:
			SelfModified();
			break;
		default:
			elog(ERROR, "unexpected table_tuple_update status: %u", result);
	}
	return BLOOM_SET_AGAIN;		/* keep compiler quiet */
}

/*
 * Delete the row that was read last.  True, unless somebody else did.
 */
static bool
DeleteRow(BloomSetTable *table, TupleTableSlot *slot)
{
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_delete(table->rel, &slot->tts_tid,
								GetCurrentCommandId(true), 0, table->snapshot,
								InvalidSnapshot, true, &failure);
	switch (result)
	{
		case TM_Ok:
			return true;
		case TM_Updated:
			/* somebody adds with a clock that is late: it may stay */
			CheckSerializable(false);
			return false;
		case TM_Deleted:
			CheckSerializable(true);
			return false;
		case TM_SelfModified:
			SelfModified();
			break;
		default:
			elog(ERROR, "unexpected table_tuple_delete status: %u", result);
	}
	return false;
}

/*
 * BloomSetDeleteRows
 *		Delete the rows of a shard in slices before this one.
 */
int64
BloomSetDeleteRows(BloomSetTable *table, int32 shard, TimestampTz oldest)
{
	ScanKeyData keys[2];
	int64		deleted = 0;

	ScanKeyInit(&keys[0], BLOOM_SET_SHARD, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(shard));
	ScanKeyInit(&keys[1], BLOOM_SET_SLICE, BTLessStrategyNumber,
				F_TIMESTAMP_LT, TimestampTzGetDatum(oldest));
	index_rescan(table->scan, keys, 2, NULL, 0);
	while (GetNext(table, table->scan, ForwardScanDirection))
		deleted += DeleteRow(table, table->slot);
	return deleted;
}

static int
CompareTimes(const void *a, const void *b)
{
	TimestampTz left = *(const TimestampTz *) a;
	TimestampTz right = *(const TimestampTz *) b;

	return left < right ? -1 : left > right;
}

/*
 * BloomSetDeleteSlices
 *		Delete the rows of all slices before this one.  The result is the number
 *		of slices.
 */
int64
BloomSetDeleteSlices(BloomSetTable *table, TimestampTz oldest)
{
	TableScanDesc scan = table_beginscan(table->rel, table->snapshot, 0, NULL,
										 SO_NONE);
	int			nslices = 0;
	int			room = 64;
	int64		distinct = 0;
	TimestampTz *slices = palloc(room * sizeof(TimestampTz));

	while (table_scan_getnextslot(scan, ForwardScanDirection, table->slot))
	{
		TimestampTz slice;
		int			i;

		CHECK_FOR_INTERRUPTS();
		slot_getsomeattrs(table->slot, BLOOM_SET_SLICE);
		if (table->slot->tts_isnull[BLOOM_SET_SHARD - 1] ||
			table->slot->tts_isnull[BLOOM_SET_SLICE - 1])
			continue;
		slice = DatumGetTimestampTz(table->slot->tts_values[BLOOM_SET_SLICE - 1]);
		if (DatumGetInt32(table->slot->tts_values[BLOOM_SET_SHARD - 1]) < 0 ||
			slice >= oldest || !DeleteRow(table, table->slot))
			continue;

		/* neighbours tend to be of the same few slices */
		for (i = Max(nslices - 8, 0); i < nslices && slices[i] != slice; i++)
			;
		if (i < nslices)
			continue;
		if (nslices == room)
		{
			room *= 2;
			slices = repalloc_huge(slices, room * sizeof(TimestampTz));
		}
		slices[nslices++] = slice;
	}
	table_endscan(scan);

	qsort(slices, nslices, sizeof(TimestampTz), CompareTimes);
	for (int i = 0; i < nslices; i++)
		distinct += i == 0 || slices[i] != slices[i - 1];
	pfree(slices);
	return distinct;
}
