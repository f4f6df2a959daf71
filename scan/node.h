/*-------------------------------------------------------------------------
 *
 * node.h
 *		The node that tests rows: Custom Scan (Bloom Filter).
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_NODE_H
#define BLOOM_SCAN_NODE_H

#include "scan/filter.h"
#include "scan/where.h"

extern PlanState *BloomScanBelow(PlanState *ps);
extern void BloomScanPlace(PlanState **link, ScanFilter *filter,
						   const AttrNumber *attno, bool condition_first,
						   uint32 passed);
extern void BloomScanPlaceWhere(PlanState **link, ScanWhere *where);

#endif							/* BLOOM_SCAN_NODE_H */
