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

#include "set/keys.h"

/* What a statement has read of sets */
typedef struct StoredSetCache StoredSetCache;

extern void StoredSetStartTest(StoredSetCall *call, StoredSetCache **cache,
							   MemoryContext statement, Oid relid,
							   TimestampTz at);
extern bool StoredSetTestKey(StoredSetCall *call, uint64 hash);
extern void StoredSetTest(StoredSetCall *call, const uint64 *hashes,
						  uint64 nhashes, uint8 *answers);
extern void StoredSetTestBeforeAdd(StoredSetCall *call);

#endif							/* SET_TEST_H */
