/*-------------------------------------------------------------------------
 *
 * set/bucket.h
 *		A bucket of a stored set, for those that write: read it, merge, write.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_BUCKET_H
#define SET_BUCKET_H

#include "set/rows.h"

/* This many committed keys in the lanes of a bucket are worth a new filter */
#define STORED_SET_MERGE_KEYS	STORED_SET_FEW_KEYS

/* A key of a call */
typedef struct StoredSetKey
{
	uint64		place;			/* determines its buckets */
	uint64		hash;
	uint32		index;			/* in the call's array */
	uint8		answer;
} StoredSetKey;

/* A call that writes */
typedef struct StoredSetCall
{
	StoredSetTable table;
	StoredSetKey *keys;			/* in order of places, each hash once */
	uint64		nkeys;
	TimestampTz oldest;			/* live slice */
	TimestampTz current;		/* to which keys are added */
	TransactionId pending;		/* open: it has added a key of the call, too */
	double		overfull;		/* largest ratio of keys to the capacity of a
								 * bucket, if one is too full, or 0 */
} StoredSetCall;

/* A lane that may be written */
typedef struct StoredSetLane
{
	StoredSetRow row;			/* with hashes of its own */
	StoredSetPlace place;
	bool		has_changed;
	bool		has_lost;		/* hashes that are in the version it replaces */
} StoredSetLane;

/* Lanes of a bucket that a call can use, and that it can make */
#define STORED_SET_MAX_LANES	32
#define STORED_SET_MAX_NEW_KEYS	(STORED_SET_MAX_LANES * STORED_SET_LANE_KEYS)

/* Where are the keys of a bucket? */
typedef enum StoredSetBucketState
{
	STORED_SET_OPEN,			/* here */
	STORED_SET_DIVIDED,			/* some may be in the next generation */
	STORED_SET_CLOSED			/* and new ones go there */
} StoredSetBucketState;

/* Can its filter be written? */
typedef enum StoredSetFilterState
{
	STORED_SET_NO_FILTER,		/* it can: there is none yet */
	STORED_SET_FILTER_FREE,		/* it can */
	STORED_SET_FILTER_HELD,		/* by another transaction, or by this call */
	STORED_SET_FILTER_FULL
} StoredSetFilterState;

/* A bucket, by its rows in the current slice */
typedef struct StoredSetBucket
{
	int			generation;
	int32		number;
	StoredSetBucketState state;
	bool		has_rows;
	StoredSetFilterState filter;
	StoredSetPlace filter_place;	/* if it is free */
	double		nkeys;			/* of the filter */
	int			nyoung;			/* hashes of the lanes */
	int			nmergeable;		/* committed ones in lanes that are free */
	int32		last_lane;		/* number in use */
	int			nlanes;
	StoredSetLane lanes[2 * STORED_SET_MAX_LANES];
} StoredSetBucket;

extern uint64 StoredSetCountAnswers(const StoredSetKey *keys, uint64 nkeys,
									StoredSetAnswer answer);
extern int	StoredSetCompareKeys(const void *a, const void *b);
extern void StoredSetReadBucket(StoredSetCall *call, StoredSetBucket *bucket,
								int generation, int32 number,
								StoredSetKey *keys, uint64 nkeys);
extern void StoredSetMerge(StoredSetCall *call, StoredSetBucket *bucket,
						   int least);
extern StoredSetLane *StoredSetPutIntoLanes(StoredSetCall *call,
											StoredSetBucket *bucket,
											const uint64 *hashes, int n);
extern void StoredSetWriteLanes(StoredSetCall *call, StoredSetBucket *bucket);
extern void StoredSetDeleteSlices(StoredSetCall *call, int32 bucket,
								  TimestampTz before);

/* A key with this hash, which stood in this place in an array. */
static inline StoredSetKey
StoredSetMakeKey(uint64 hash, uint32 index)
{
	StoredSetKey key;

	key.place = StoredSetPlaceOf(hash);
	key.hash = hash;
	key.index = index;
	key.answer = STORED_SET_UNKNOWN;
	return key;
}

#endif							/* SET_BUCKET_H */
