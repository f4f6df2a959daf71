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

typedef enum BloomSetAnswer
{
	BLOOM_SET_UNKNOWN,			/* not found so far */
	BLOOM_SET_SEEN,				/* found */
	BLOOM_SET_PENDING,			/* another open transaction has added it */
	BLOOM_SET_FRESH				/* added */
} BloomSetAnswer;

/* A key of a call */
typedef struct BloomSetKey
{
	uint64		place;			/* determines its buckets */
	uint64		hash;
	uint32		index;			/* in the call's array */
	TransactionId creator;		/* who decides, if it is pending */
	uint8		answer;
} BloomSetKey;

/* Keys that are tested or added at once, in order of places */
typedef struct BloomSetCall
{
	BloomSetTable table;
	const BloomKeyType *key_type;
	BloomSetKey *keys;
	uint64		nkeys;
	TimestampTz oldest;			/* live slice */
	TimestampTz current;
	bool		knows_type;		/* the set has keys, and of this type */

	/* the buckets that were added to */
	double		buckets_written;
	double		keys_written;
	bool		is_full;		/* it cannot grow any more */
} BloomSetCall;

/* What the call sites of a statement remember of the buckets they have read */
typedef struct BloomSetCache BloomSetCache;

extern TimestampTz BloomSetOldestSlice(const BloomSet *set, TimestampTz at);

extern void BloomSetStart(BloomSetCall *call, Oid relid, BloomSetUse use,
						  TimestampTz at);
extern void BloomSetFinish(BloomSetCall *call);
extern void BloomSetTest(BloomSetCall *call, const BloomKeyType *key_type,
						 const uint64 *hashes, uint64 nhashes);
extern void BloomSetAdd(BloomSetCall *call, const BloomKeyType *key_type,
						const uint64 *hashes, uint64 nhashes, bool *warned);
extern int64 BloomSetExpire(BloomSetCall *call);
extern int64 BloomSetCompact(BloomSetCall *call);

extern BloomSetCache *BloomSetGetCache(MemoryContext statement, Oid relid);
extern const BloomSet *BloomSetCached(BloomSetCache *cache, TimestampTz at);
extern bool BloomSetTestCached(BloomSetCache *cache, uint64 hash,
							   const BloomKeyType *key_type);
extern bool BloomSetTestOne(BloomSetCall *call, BloomSetCache *cache,
							uint64 hash, const BloomKeyType *key_type);

#endif							/* SET_KEYS_H */
