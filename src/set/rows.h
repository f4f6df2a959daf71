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
#include "utils/snapshot.h"

#include "set/define.h"

typedef enum BloomSetUse
{
	BLOOM_SET_TEST,
	BLOOM_SET_ADD,
	BLOOM_SET_EXPIRE
} BloomSetUse;

/* Where this transaction has written lanes (set/rows.c) */
typedef struct BloomSetHint BloomSetHint;

/* What the session remembers of a set (set/rows.c) */
typedef struct BloomSetKnown BloomSetKnown;

/* An open set */
typedef struct BloomSetTable
{
	BloomSet	set;			/* a copy, which stays as it is */
	Relation	rel;
	Relation	index;
	BloomSetUse use;

	/* from BloomSetBegin to BloomSetEnd */
	MemoryContext context;		/* of the scans */
	TupleTableSlot *slot;		/* the row that was read last */
	Snapshot	snapshot;		/* NULL: a writer in READ COMMITTED */
	IndexScanDesc scan;			/* with the snapshot */

	/* of a writer */
	SnapshotData dirty;
	IndexScanDesc versions;		/* with the dirty snapshot */
	TupleTableSlot *output;
	BloomSetKnown *known;		/* or NULL */
	BloomSetHint *hints;		/* or NULL */
	BloomSetHint *hint;			/* the one for this bucket, or NULL */
	int32		hint_lane;
	bool		hint_first;		/* it is to be read next */
	bool		lanes_below;	/* those below its lane come later */
	ScanKeyData keys[3];
	bool		wrote;
	int32		lane;			/* of the index entry that was read last */
	TimestampTz slice;
	bool		passed;			/* other versions of that row do not matter */
	TimestampTz merged;			/* an open transaction has its filter */

	uint64		words[BLOOM_SET_LONG_LANE + 1]; /* of the lane read last */
} BloomSetTable;

/* A row.  It is good until the next one is read. */
typedef struct BloomSetRow
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
} BloomSetRow;

/* A version of a row */
typedef struct BloomSetVersion
{
	BloomSetRow row;
	ItemPointerData tid;
	TransactionId creator;		/* another open transaction, or invalid */
	bool		is_newest;
	bool		is_own;			/* this transaction wrote it */
	bool		is_visible;		/* own, or committed before the snapshot, if any */
	bool		is_free;		/* this transaction may write the next one */
} BloomSetVersion;

extern void BloomSetOpen(BloomSetTable *table, Oid relid, BloomSetUse use);
extern void BloomSetClose(BloomSetTable *table);
extern void BloomSetBegin(BloomSetTable *table);
extern void BloomSetEnd(BloomSetTable *table);
extern void BloomSetNewCommand(BloomSetTable *table);
extern void BloomSetWaitFor(BloomSetTable *table, TransactionId other);

extern void BloomSetLock(BloomSetTable *table, int32 bucket);
extern void BloomSetUnlock(BloomSetTable *table, int32 bucket);

extern void BloomSetReadRow(BloomSetTable *table, BloomSetRow *row);
extern void BloomSetFindRows(BloomSetTable *table, int32 bucket,
							 TimestampTz oldest);
extern bool BloomSetNextRow(BloomSetTable *table, BloomSetRow *row);
extern void BloomSetFindVersions(BloomSetTable *table, int32 bucket,
								 TimestampTz from, TimestampTz before,
								 TimestampTz current);
extern bool BloomSetNextVersion(BloomSetTable *table, BloomSetVersion *version);
extern void BloomSetReadAgain(BloomSetTable *table, ItemPointer tid,
							  BloomSetRow *row);

extern void BloomSetInsertRow(BloomSetTable *table, const BloomSetRow *row);
extern void BloomSetUpdateRow(BloomSetTable *table, ItemPointer tid,
							  const BloomSetRow *row);
extern bool BloomSetDeleteRow(BloomSetTable *table, ItemPointer tid);

#endif							/* SET_ROWS_H */
