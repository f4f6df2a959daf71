/*-------------------------------------------------------------------------
 *
 * set/keys.h
 *		Keys of a stored set by bucket: test, add, expire, compact.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_KEYS_H
#define SET_KEYS_H

#include "set/rows.h"

typedef enum StoredSetAnswer
{
	STORED_SET_UNKNOWN,			/* not found so far */
	STORED_SET_SEEN,			/* found */
	STORED_SET_PENDING,			/* another open transaction has added it */
	STORED_SET_FRESH			/* added */
} StoredSetAnswer;

/* A key of a call */
typedef struct StoredSetKey
{
	uint64		place;			/* determines its buckets */
	uint64		hash;
	uint32		index;			/* in the call's array */
	TransactionId creator;		/* who decides, if it is pending */
	uint8		answer;
} StoredSetKey;

/* Keys that are tested or added at once, in order of places */
typedef struct StoredSetCall
{
	StoredSetTable table;
	const BloomKeyType *key_type;
	StoredSetKey *keys;
	uint64		nkeys;
	TimestampTz oldest;			/* live slice */
	TimestampTz current;
	bool		knows_type;		/* the set has keys, and of this type */

	/* the buckets that were added to */
	double		buckets_written;
	double		keys_written;
	bool		is_full;		/* it cannot grow any more */
} StoredSetCall;

/* What the call sites of a statement remember of the buckets they have read */
typedef struct StoredSetCache StoredSetCache;

extern TimestampTz StoredSetOldestSlice(const StoredSet *set, TimestampTz at);

extern void StoredSetStart(StoredSetCall *call, Oid relid, StoredSetUse use,
						   TimestampTz at);
extern void StoredSetFinish(StoredSetCall *call);
extern void StoredSetTest(StoredSetCall *call, const BloomKeyType *key_type,
						  const uint64 *hashes, uint64 nhashes);
extern void StoredSetAdd(StoredSetCall *call, const BloomKeyType *key_type,
						 const uint64 *hashes, uint64 nhashes, bool *warned);
extern int64 StoredSetExpire(StoredSetCall *call);
extern int64 StoredSetCompact(StoredSetCall *call);

extern StoredSetCache *StoredSetGetCache(MemoryContext statement, Oid relid);
extern const StoredSet *StoredSetCached(StoredSetCache *cache, TimestampTz at);
extern bool StoredSetTestCached(StoredSetCache *cache, uint64 hash,
								const BloomKeyType *key_type);
extern bool StoredSetTestOne(StoredSetCall *call, StoredSetCache *cache,
							 uint64 hash, const BloomKeyType *key_type);

#endif							/* SET_KEYS_H */
