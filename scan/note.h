/*-------------------------------------------------------------------------
 *
 * note.h
 *		What EXPLAIN tells of a plan with filters.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_NOTE_H
#define BLOOM_SCAN_NOTE_H

#include "nodes/pathnodes.h"

/* A scan that was planned as if filters were above it. */
typedef struct ScanNote
{
	Oid			table;
	Path	   *path;			/* its numbers are those of the plan node */
	Path	   *plain;			/* the server's */
	Cost		first_cost;		/* of the usual plan with filters */
	Cost		second_cost;
} ScanNote;

extern void BloomScanNote(List *scans, Cost first_cost, Cost second_cost);
extern void BloomScanNoteInit(void);

#endif							/* BLOOM_SCAN_NOTE_H */
