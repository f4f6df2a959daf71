/*-------------------------------------------------------------------------
 *
 * where.h
 *		filter @> key in the condition of a sequential scan, a page at a time.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_WHERE_H
#define BLOOM_SCAN_WHERE_H

#include "nodes/execnodes.h"

#include "scan/page.h"
#include "scan/price.h"
#include "scan/scan_compat.h"

typedef struct ScanWhere ScanWhere;

extern ScanWhere *BloomScanWhereOf(SeqScanState *scan, ScanTesting testing);
extern ScanTest *BloomScanWhereTest(ScanWhere *where);
extern List *BloomScanWhereCondition(const ScanWhere *where);
extern int	BloomScanTestWhere(ScanWhere *where, ScanPage *page,
							   TableScanDesc desc);
extern void BloomScanCountWhere(ScanWhere *where, uint64 nrows, int ntests);
extern void BloomScanBeginWhere(ScanWhere *where, int ntests);
extern bool BloomScanMeets(ScanWhere *where, bool is_new);
extern char *BloomScanExplainWhere(const ScanWhere *where, List *ancestors,
								   ExplainState *es);
extern void BloomScanReportWhere(const ScanWhere *where,
								 const ScanNodeCounts *node, uint64 njoined);

#endif							/* BLOOM_SCAN_WHERE_H */
