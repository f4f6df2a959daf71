/*-------------------------------------------------------------------------
 *
 * seen/node.h
 *		A plan node for bloom_seen() OVER (...), in place of WindowAgg.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SEEN_SCAN_H
#define BLOOM_SEEN_SCAN_H

/* seen/window.c */
extern PGDLLEXPORT Datum bloom_seen(PG_FUNCTION_ARGS);

extern void BloomSeenScanInit(void);

#endif							/* BLOOM_SEEN_SCAN_H */
