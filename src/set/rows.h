/*-------------------------------------------------------------------------
 *
 * set/rows.h
 *		The rows of a stored set: open it, lock, find, write, delete.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_ROWS_H
#define SET_ROWS_H

#include "access/genam.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "set/session.h"

/* A row.  It is good until the next one is read. */
typedef struct StoredSetRow
{
	int32		bucket;
	int32		lane;
	TimestampTz slice;
	const Bloom *filter;		/* NULL: a lane */

	/* of a lane */
	const uint64 *hashes;
	int			nhashes;
	int			ncommitted;		/* by others than who wrote this version */
	int			room;			/* at least this many hashes find place */
	bool		closed;			/* further keys are in the next generation */
} StoredSetRow;

/*
 * A search for versions of rows, by descending bucket, slice and lane, which is
 * the order in which keys move: an entry of the index for each version that has
 * moved to another page, and the versions in that page.
 *
 * - What the index has above "entry" was read, or need not be.  "entry" itself
 *	 is the last one that was taken from the index.
 * - If "ahead", it is below the buckets that are read now, and is still to be
 *	 read with those of its own.
 * - If "skip", the other versions of its row do not matter.
 */
typedef struct StoredSetSearch
{
	IndexScanDesc scan;			/* NULL: there was none yet */
	ScanKeyData keys[5];		/* two, of which one has three parts */
	int32		lowest;			/* bucket to which the scan goes */
	int32		first;			/* buckets that are read now */
	int32		last;
	TimestampTz from;			/* slices that are read */
	TimestampTz merged;			/* an open transaction has written its filter */
	StoredSetRow entry;			/* only the key is set */
	bool		ahead;
	bool		skip;
} StoredSetSearch;

/* An open set */
typedef struct StoredSetTable
{
	StoredSet	set;			/* a copy, which stays as it is */
	Relation	rel;
	Relation	index;
	bool		to_write;
	MemoryContext context;		/* of all this */
	MemoryContext fetched;		/* of a filter that was not in its row */
	TupleTableSlot *slot;		/* the row that was read last */
	StoredSetSearch visible;	/* what the active snapshot sees */
	StoredSetSearch versions;	/* what is there, or may come to be there */
	SnapshotData dirty;			/* with which these are found */

	/* of those that write */
	StoredSetKnown *known;		/* NULL: not yet */
	TupleTableSlot *output;
	bool		is_alone;		/* nothing else in the session has it open */
	bool		wrote;

	uint64		words[STORED_SET_LANE_KEYS + 1];	/* of the lane read last */
} StoredSetTable;

/* Where a version of a row is.  All zeros: nowhere yet */
typedef struct StoredSetPlace
{
	ItemPointerData tid;
	bool		is_own;			/* this transaction wrote it */
	CommandId	command;		/* with which, or InvalidCommandId */
	uint32		length;			/* 0: this transaction cannot overwrite it */
} StoredSetPlace;

/* A version of a row */
typedef struct StoredSetVersion
{
	StoredSetRow row;

	/* if it was found among all that are there */
	StoredSetPlace place;
	TransactionId creator;		/* another open transaction, or invalid */
	bool		is_newest;
	bool		is_visible;		/* own, or committed before the snapshot, if
								 * any */
	bool		is_free;		/* this transaction may write the next one */
} StoredSetVersion;

extern void StoredSetOpen(StoredSetTable *table, Oid relid, bool to_write);
extern void StoredSetBeginWriting(StoredSetTable *table);
extern void StoredSetClose(StoredSetTable *table);

extern TimestampTz StoredSetOldestSlice(const StoredSetParams *params,
										TimestampTz at);

extern void StoredSetLock(StoredSetTable *table, int32 bucket);
extern void StoredSetUnlock(StoredSetTable *table, int32 bucket);
extern void StoredSetWaitFor(StoredSetTable *table, TransactionId other);

extern void StoredSetFindAll(StoredSetTable *table, StoredSetSearch *search);
extern void StoredSetFindBucket(StoredSetTable *table, StoredSetSearch *search,
								int32 bucket, int32 lowest,
								TimestampTz from, TimestampTz before);
extern bool StoredSetNext(StoredSetTable *table, StoredSetSearch *search,
						  StoredSetVersion *version);
extern bool StoredSetIsClosed(const StoredSetParams *params, int generation,
							  const StoredSetRow *row);
extern void StoredSetReadAgain(StoredSetTable *table, ItemPointer tid,
							   StoredSetRow *row);

extern void StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
							  const StoredSetRow *row, bool holds_all);
extern void StoredSetDeleteRow(StoredSetTable *table,
							   const StoredSetPlace *place);

#endif							/* SET_ROWS_H */
