/*-------------------------------------------------------------------------
 *
 * filter/statement.h
 *		What several call sites of one running statement share.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_QUERY_H
#define BLOOM_QUERY_H

#include "utils/palloc.h"

/* The names of what is shared, besides the numbers of bloom_first's calls */
#define BLOOM_SHARED_CACHE	(-1)

/* What is shared begins with this */
typedef struct BloomShared
{
	MemoryContext query;
	int32		name;
	struct BloomShared *next;
	MemoryContextCallback callback;
} BloomShared;

extern void *BloomShare(MemoryContext query, int32 name, Size size);

#endif							/* BLOOM_QUERY_H */
