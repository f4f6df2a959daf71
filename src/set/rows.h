/*-------------------------------------------------------------------------
 *
 * set/rows.h
 *		The rows of a stored set: open it, find, insert, update, delete.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_ROWS_H
#define SET_ROWS_H

#include "access/genam.h"
#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "set/define.h"

/* Where this transaction has put rows (set/rows.c) */
typedef struct BloomSetHint BloomSetHint;

/* From which pages this session has moved rows (set/rows.c) */
typedef struct BloomSetVacated BloomSetVacated;

/* An open set */
typedef struct BloomSetTable
{
	BloomSet	set;			/* a copy, which stays as it is */
	Relation	rel;
	Relation	index;
	bool		writes;

	/* from BloomSetBegin to BloomSetEnd */
	MemoryContext context;		/* of the scan */
	Snapshot	snapshot;
	TupleTableSlot *slot;		/* the row that was read last */
	TupleTableSlot *output;		/* a row to be written */
	IndexScanDesc scan;
	BloomSetHint *hints;		/* or NULL */
	BloomSetVacated *vacated;	/* or NULL */
	bool		many;			/* rows are going to be written */
	BlockNumber roomy_from;		/* pages with free space, which are noted */
	BlockNumber roomy_to;
} BloomSetTable;

/* A row.  It is good until the next one is read or locked. */
typedef struct BloomSetRow
{
	int32		shard;
	TimestampTz slice;
	const Bloom *filter;
} BloomSetRow;

typedef enum BloomSetWritten
{
	BLOOM_SET_WRITTEN,
	BLOOM_SET_CHANGED,			/* not written: it had changed, and is locked */
	BLOOM_SET_AGAIN				/* not written: look again, with a new snapshot */
} BloomSetWritten;

extern void BloomSetOpen(BloomSetTable *table, Oid relid, bool writes);
extern void BloomSetClose(BloomSetTable *table);
extern void BloomSetBegin(BloomSetTable *table);
extern void BloomSetExpectMany(BloomSetTable *table);
extern void BloomSetRefresh(BloomSetTable *table);
extern void BloomSetEnd(BloomSetTable *table);

extern void BloomSetFindRows(BloomSetTable *table, int32 shard,
							 TimestampTz oldest);
extern bool BloomSetNextRow(BloomSetTable *table, BloomSetRow *row);
extern bool BloomSetFindRow(BloomSetTable *table, int32 shard,
							TimestampTz slice, BloomSetRow *row);
extern void BloomSetReadRow(const BloomSetTable *table, TupleTableSlot *slot,
							BloomSetRow *row);

extern BloomSetWritten BloomSetInsertRow(BloomSetTable *table, int32 shard,
										 TimestampTz slice,
										 const Bloom *filter);
extern BloomSetWritten BloomSetUpdateRow(BloomSetTable *table,
										 BloomSetRow *row,
										 const Bloom *filter);
extern int64 BloomSetDeleteRows(BloomSetTable *table, int32 shard,
								TimestampTz oldest);
extern int64 BloomSetDeleteSlices(BloomSetTable *table, TimestampTz oldest);

#endif							/* SET_ROWS_H */
