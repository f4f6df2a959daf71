/*-------------------------------------------------------------------------
 *
 * set/keys.h
 *		Keys of a stored set by bucket: add, expire, compact.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_KEYS_H
#define SET_KEYS_H

#include "key/hash.h"
#include "set/rows.h"

/* Mixes a key's hash for its bucket; frozen, since stored sets depend on it */
#define STORED_SET_PLACE_SEED	UINT64CONST(0x73686172642d6f66)

typedef enum StoredSetAnswer
{
	STORED_SET_UNKNOWN,			/* not found so far */
	STORED_SET_SEEN,			/* found */
	STORED_SET_FRESH			/* added */
} StoredSetAnswer;

/* A key of a call */
typedef struct StoredSetKey
{
	uint64		place;			/* determines its buckets */
	uint64		hash;
	uint32		index;			/* in the call's array */
	uint8		answer;
} StoredSetKey;

/* Keys that are tested or added at once, in order of places */
typedef struct StoredSetCall
{
	StoredSetTable table;		/* of a test, open if rel is not NULL */
	uint64		seed;
	const BloomKeyType *key_type;
	StoredSetKey *keys;
	uint64		nkeys;
	TimestampTz oldest;			/* live slice */
	TimestampTz current;
	bool		knows_type;		/* the set has keys, and of this type */
	TransactionId pending;		/* open: it has added a key, too */
	double		overfull;		/* so many times the keys of a bucket, or 0 */

	/* what was read before, by a call that tests */
	struct StoredSetCache *cache;
	struct StoredSetCached *cached;
	uint64		nemptied;		/* the cache, when the call started */
} StoredSetCall;

extern TimestampTz StoredSetOldestSlice(const StoredSet *set, TimestampTz at);

extern void StoredSetStart(StoredSetCall *call, Oid relid, StoredSetUse use,
						   TimestampTz at);
extern void StoredSetFinish(StoredSetCall *call);
extern bool StoredSetIsClosed(const StoredSet *set, int generation,
							  const StoredSetRow *row);
extern void StoredSetAdd(StoredSetCall *call, const BloomKeyType *key_type,
						 const uint64 *hashes, uint64 nhashes, bool *warned);
extern int64 StoredSetExpire(StoredSetCall *call);
extern int64 StoredSetCompact(StoredSetCall *call);

/* The place of the key with this hash, which determines its buckets. */
static inline uint64
StoredSetPlaceOf(uint64 hash)
{
	return BloomHashInt64((int64) hash, STORED_SET_PLACE_SEED);
}

#endif							/* SET_KEYS_H */
