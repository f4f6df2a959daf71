/*-------------------------------------------------------------------------
 *
 * set/size.h
 *		The arithmetic of stored sets: buckets, generations, time slices.
 *
 * Nothing here needs a server: c.h and libm are enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_SIZE_H
#define SET_SIZE_H

#include "bits/bits.h"
#include "bits/layout.h"
#include "datatype/timestamp.h"

#define STORED_SET_MAX_SLICES	1000
#define STORED_SET_MAX_KEEP		(INT64CONST(1000) * 365 * USECS_PER_DAY)

/* Doubles hold all whole numbers up to this one */
#define STORED_SET_MAX_CAPACITY	(INT64CONST(1) << 53)

/* A limit on generations, whose hashes and bucket numbers end before */
#define STORED_SET_MAX_GENERATIONS	32

typedef struct StoredSetParams
{
	/* in the definition of the table */
	int64		capacity;		/* of the first generation, if it grows */
	double		fp_prob;
	int64		keep;			/* microseconds; 0: forever */
	int32		slices;
	int32		buckets;		/* of the first generation */
	int64		bits;			/* of the filter of a bucket */
	int32		hashes;			/* of the first generation */
	int64		seed;
	bool		grows;

	/* derived from these by StoredSetDerive */
	int			generations;	/* that it can have */
	double		bucket_capacity;	/* mean number of keys, unless it grows */
	int64		slice_length;	/* microseconds */
} StoredSetParams;

extern bool StoredSetSize(StoredSetParams *params);
extern const char *StoredSetCheckParams(const StoredSetParams *params);
extern void StoredSetDerive(StoredSetParams *params);

extern int64 StoredSetSliceCapacity(const StoredSetParams *params);
extern double StoredSetSliceRate(const StoredSetParams *params);
extern TimestampTz StoredSetSliceOf(const StoredSetParams *params,
									TimestampTz at);
extern double StoredSetRateOfSlice(const StoredSetParams *params,
								   const double *rates);

extern int	StoredSetHashes(const StoredSetParams *params, int generation);
extern int	StoredSetGeneration(const StoredSetParams *params, int32 bucket);
extern int32 StoredSetFirstBucket(const StoredSetParams *params, int32 bucket);
extern int32 StoredSetBucketBelow(const StoredSetParams *params, int32 bucket,
								  int half);
extern double StoredSetKeysOfHalf(const StoredSetParams *params, int generation);
extern uint64 StoredSetKeysLeft(const Bloom *filter);

/* The first bucket of a generation */
static inline int64
StoredSetBucketsBefore(const StoredSetParams *params, int generation)
{
	return ((int64) params->buckets << generation) - params->buckets;
}

/*
 * The bucket of a key in a generation.  The keys of a bucket are divided
 * between two buckets of the next generation.
 */
static inline int32
StoredSetBucketOf(const StoredSetParams *params, int generation, uint64 place)
{
	uint64		buckets = (uint64) params->buckets << generation;

	return (int32) (StoredSetBucketsBefore(params, generation) +
					(int64) BloomMulHigh(place, buckets));
}

#endif							/* SET_SIZE_H */
