/*-------------------------------------------------------------------------
 *
 * key/statement.h
 *		What several call sites of one running statement share.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_STATEMENT_H
#define BLOOM_STATEMENT_H

#include "utils/palloc.h"

/* What there is to share */
typedef enum BloomSharedKind
{
	BLOOM_SHARED_CACHE = 1,		/* of stored filters (filter/fetch.c) */
	BLOOM_SHARED_SETS			/* what was read of sets (set/probe.c) */
} BloomSharedKind;

/* The common header of all shared structs */
typedef struct BloomShared
{
	MemoryContext query;
	BloomSharedKind kind;
	struct BloomShared *next;
	MemoryContextCallback callback;
} BloomShared;

extern void *BloomShare(MemoryContext query, BloomSharedKind kind, Size size);

#endif							/* BLOOM_STATEMENT_H */
