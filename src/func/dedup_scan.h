/*-------------------------------------------------------------------------
 *
 * func/dedup_scan.h
 *		A plan node for bloom_seen() OVER (...), in place of WindowAgg.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_DEDUP_SCAN_H
#define BLOOM_DEDUP_SCAN_H

/* func/window.c */
extern PGDLLEXPORT Datum bloom_seen(PG_FUNCTION_ARGS);

extern void BloomDedupScanInit(void);

#endif							/* BLOOM_DEDUP_SCAN_H */
