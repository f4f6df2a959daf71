/*-------------------------------------------------------------------------
 *
 * set/test.h
 *		Testing keys of a stored set.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_TEST_H
#define SET_TEST_H

#include "set/rows.h"

/* What a statement has read of sets */
typedef struct StoredSetCache StoredSetCache;

/* A test of one key or more */
typedef struct StoredSetTest
{
	uint64		seed;			/* with which keys are to be hashed */
	BloomKeyType key_type;
	StoredSetTable *table;		/* open if rel is not NULL */
	StoredSetCache *cache;
	struct StoredSetCached *cached; /* of this set */
	uint64		nemptied;		/* how often the cache was emptied before */
} StoredSetTest;

extern void StoredSetStartTest(StoredSetTest *test, StoredSetTable *table,
							   StoredSetCache **cache, MemoryContext statement,
							   Oid relid, TimestampTz at);
extern void StoredSetFinishTest(StoredSetTest *test);
extern bool StoredSetTestKey(StoredSetTest *test, uint64 hash);
extern void StoredSetTestKeys(StoredSetTest *test, const uint64 *hashes,
							  uint64 nhashes, uint8 *answers);
extern void StoredSetTestBeforeAdd(StoredSetTable *table, TimestampTz oldest,
								   const uint64 *hashes, uint64 nhashes,
								   uint8 *answers);

#endif							/* SET_TEST_H */
