/*-------------------------------------------------------------------------
 *
 * set/keys.h
 *		Keys of a stored set by shard: test, add, warn.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_KEYS_H
#define SET_KEYS_H

#include "set/rows.h"

typedef enum BloomSetAnswer
{
	BLOOM_SET_OPEN,				/* not found so far */
	BLOOM_SET_SEEN,				/* found */
	BLOOM_SET_FRESH				/* added */
} BloomSetAnswer;

/* A key of a call */
typedef struct BloomSetKey
{
	uint64		place;			/* decides on the shards */
	uint64		hash;
	uint32		index;			/* in the call's array */
	uint8		answer;
	int8		generation;		/* in which it was found or added */
} BloomSetKey;

/* Keys that are tested or added at once */
typedef struct BloomSetCall
{
	BloomSetTable *table;
	const BloomKeyType *key_type;
	BloomSetKey *keys;
	uint64		nkeys;
	TimestampTz oldest;			/* live slice */
	TimestampTz current;
	bool		may_forget;
	bool		knows_type;		/* the set has keys, and of this type */

	/* the shards that were added to */
	double		shards_written;
	double		keys_written;
	bool		is_full;		/* it cannot grow any more */
} BloomSetCall;

/* What the call site of a test remembers of the shards that it has read */
typedef struct BloomSetCache BloomSetCache;

extern TimestampTz BloomSetSliceOf(const BloomSet *set, TimestampTz at);
extern TimestampTz BloomSetOldestSlice(const BloomSet *set, TimestampTz at);
extern bool BloomSetIsAhead(const BloomSet *set, TimestampTz at);

extern BloomSetKey BloomSetMakeKey(uint64 hash, uint32 index);
extern void BloomSetMakeKeys(BloomSetCall *call, const uint64 *hashes,
							 uint64 nhashes);
extern void BloomSetStart(BloomSetCall *call, BloomSetTable *table,
						  const BloomKeyType *key_type, TimestampTz at);
extern void BloomSetTest(BloomSetCall *call);
extern void BloomSetAdd(BloomSetCall *call);
extern bool BloomSetWarn(const BloomSetCall *call);

extern BloomSetCache *BloomSetMakeCache(MemoryContext context);
extern const BloomSet *BloomSetCached(BloomSetCache *cache, Oid relid,
									  TimestampTz at);
extern bool BloomSetTestCached(BloomSetCache *cache, uint64 hash,
							   const BloomKeyType *key_type);
extern bool BloomSetTestOne(BloomSetCache *cache, BloomSetTable *table,
							uint64 hash, const BloomKeyType *key_type);

#endif							/* SET_KEYS_H */
