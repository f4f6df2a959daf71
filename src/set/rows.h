/*-------------------------------------------------------------------------
 *
 * set/rows.h
 *		The rows of a stored set: open it, lock, read, write, delete.
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
#include "nodes/bitmapset.h"
#include "utils/snapshot.h"

#include "set/define.h"

typedef enum StoredSetUse
{
	STORED_SET_TEST,
	STORED_SET_ADD,
	STORED_SET_EXPIRE
} StoredSetUse;

/* A command of a transaction, in one of its subtransactions */
typedef struct StoredSetCommand
{
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
	CommandId	command;
} StoredSetCommand;

/* What a session remembers of its writes to a set */
typedef struct StoredSetWriter
{
	StoredSetCommand command;	/* the last one */
	uint32		key_type;		/* that the set has, if one number says it, or
								 * 0 */
	Bitmapset  *left;			/* pages that rows have left */
	int			nleft;			/* so many rows */
	TransactionId leaver;		/* the last transaction in which they did */
	Bitmapset  *waiting;		/* pages that rows had left before */
	TransactionId waits_for;	/* others may see what was there before it */
	LocalTransactionId looked;	/* the last transaction that looked for these */
} StoredSetWriter;

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
	int			room;			/* at least so many hashes find place */
	bool		closed;			/* further keys are in the next generation */
} StoredSetRow;

/* An open set */
typedef struct StoredSetTable
{
	StoredSet	set;			/* a copy, which stays as it is */
	Relation	rel;
	Relation	index;
	StoredSetUse use;

	/* from StoredSetBegin to StoredSetEnd */
	MemoryContext context;		/* of the scans */
	MemoryContext fetched;		/* of a filter that was not in its row */
	TupleTableSlot *slot;		/* the row that was read last */
	Snapshot	snapshot;		/* the active one */
	IndexScanDesc scan;			/* with the snapshot */

	/* of a writer */
	SnapshotData dirty;
	IndexScanDesc versions;		/* with the dirty snapshot */
	ScanKeyData keys[5];		/* of that, and their parts */
	TupleTableSlot *output;
	StoredSetWriter *writer;
	bool		wrote;
	bool		wrote_before;	/* in this transaction */
	bool		same_command;	/* has written before */
	int32		bucket;			/* of which they are read */
	TimestampTz from;			/* this slice */
	int32		lowest;			/* bucket that the search is for */
	StoredSetRow entry;			/* of the index, read last: only the key */
	bool		ahead;			/* it is of a lower bucket */
	bool		passed;			/* other versions of that row do not matter */
	TimestampTz merged;			/* an open transaction has its filter */

	uint64		words[STORED_SET_LONG_LANE + 1];	/* of the lane read last */
} StoredSetTable;

/* Where a version of a row is.  All zeros: nowhere yet */
typedef struct StoredSetPlace
{
	ItemPointerData tid;
	bool		is_own;			/* this transaction wrote it */
	CommandId	command;		/* with which, or InvalidCommandId */
	uint32		length;			/* if that command can overwrite it, or 0 */
} StoredSetPlace;

/* A version of a row */
typedef struct StoredSetVersion
{
	StoredSetRow row;
	StoredSetPlace place;
	TransactionId creator;		/* another open transaction, or invalid */
	bool		is_newest;
	bool		is_visible;		/* own, or committed before the snapshot, if
								 * any */
	bool		is_free;		/* this transaction may write the next one */
} StoredSetVersion;

extern void StoredSetOpen(StoredSetTable *table, Oid relid, StoredSetUse use);
extern void StoredSetClose(StoredSetTable *table);
extern void StoredSetBegin(StoredSetTable *table);
extern void StoredSetEnd(StoredSetTable *table);
extern void StoredSetWaitFor(StoredSetTable *table, TransactionId other);

extern void StoredSetLock(StoredSetTable *table, int32 bucket);
extern void StoredSetUnlock(StoredSetTable *table, int32 bucket);

extern void StoredSetFindRows(StoredSetTable *table, int32 bucket,
							  TimestampTz oldest);
extern bool StoredSetNextRow(StoredSetTable *table, StoredSetRow *row);
extern void StoredSetFindVersions(StoredSetTable *table, int32 bucket, bool more,
								  TimestampTz from, TimestampTz before);
extern bool StoredSetNextVersion(StoredSetTable *table, StoredSetVersion *version);
extern void StoredSetReadAgain(StoredSetTable *table, ItemPointer tid,
							   StoredSetRow *row);

extern void StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
							  const StoredSetRow *row);
extern bool StoredSetDeleteRow(StoredSetTable *table,
							   const StoredSetPlace *place);

#endif							/* SET_ROWS_H */
