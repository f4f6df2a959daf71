/*-------------------------------------------------------------------------
 *
 * set/define.h
 *		What a stored set is: parameters, generations, and its table.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_DEFINE_H
#define SET_DEFINE_H

#include "datatype/timestamp.h"
#include "utils/relcache.h"

#include "bits/bits.h"
#include "filter/format.h"

/* The columns of a set's table */
#define STORED_SET_BUCKET	1
#define STORED_SET_LANE		2
#define STORED_SET_SLICE		3
#define STORED_SET_FILTER	4
#define STORED_SET_ROOM		5
#define STORED_SET_COLUMNS	5

/* The bucket whose rows know the key type */
#define STORED_SET_TYPE_BUCKET	(-1)

/* Before all buckets */
#define STORED_SET_ALL_BUCKETS	PG_INT32_MIN

/* Bits of the filter of such a row, which holds one key */
#define STORED_SET_TYPE_BITS		128

/* Lane 0 is the filter; long lanes count down from -1, short ones from here */
#define STORED_SET_FIRST_SHORT	(-(1 << 30))

/* A lock is for so many buckets side by side, as a power of two */
#define STORED_SET_LOCK_SHIFT	3

/* Keys of a lane */
#define STORED_SET_SHORT_LANE	19
#define STORED_SET_LONG_LANE		127

#define STORED_SET_MAX_SLICES	1000
#define STORED_SET_MAX_KEEP		(INT64CONST(1000) * 365 * USECS_PER_DAY)

/* Doubles hold all whole numbers up to this one */
#define STORED_SET_MAX_CAPACITY	(INT64CONST(1) << 53)

/* With this fill factor, a page has place for one more filter */
#define STORED_SET_FILLFACTOR	86

/* Copies of the primary key that a set may have */
#define STORED_SET_MAX_COPIES	8

/* The parameters, as arguments of _bloom_set_room */
#define STORED_SET_PARAMETERS	9

typedef struct StoredSetParams
{
	int64		capacity;		/* of the first generation, if it grows */
	double		fp_prob;
	bool		keeps_all;
	int64		keep;			/* microseconds; 0 if keeps_all */
	int32		slices;
	int32		buckets;		/* of the first generation */
	int64		bits;			/* of the filter of a bucket */
	int32		hashes;			/* of the first generation */
	int64		seed;
	bool		grows;
} StoredSetParams;

typedef struct StoredSet
{
	Oid			relid;
	Oid			index;			/* its primary key */
	int			ncopies;		/* of that, which REINDEX CONCURRENTLY makes */
	Oid			copies[STORED_SET_MAX_COPIES];
	StoredSetParams params;
	int			generations;	/* so many it can have */
	double		bucket_capacity;	/* mean number of keys, unless it grows */
	int64		slice_length;	/* microseconds */
} StoredSet;

extern double StoredSetSliceRate(const StoredSetParams *params);
extern int64 StoredSetSliceCapacity(const StoredSetParams *params);
extern void StoredSetSize(StoredSetParams *params);
extern char *StoredSetDefault(const StoredSetParams *params);

extern BloomShape StoredSetShape(const StoredSet *set, int generation);
extern int	StoredSetHashes(const StoredSetParams *params, int generation);
extern int	StoredSetGeneration(const StoredSet *set, int32 bucket);
extern int32 StoredSetFirstBucket(const StoredSet *set, int32 bucket);

extern const char *StoredSetDefine(Relation rel, StoredSet *set);

/*
 * The bucket of a key in a generation.  The keys of a bucket are divided
 * between two buckets of the next generation.
 */
static inline int32
StoredSetBucketOf(const StoredSet *set, int generation, uint64 place)
{
	uint64		buckets = (uint64) set->params.buckets << generation;

	return (int32) (buckets - set->params.buckets + BloomMulHigh(place, buckets));
}

/*
 * How many more keys does the filter of a set that grows take at once?  0: it is
 * full.
 *
 * In bits form, each sets at most as many bits as it has hashes, so that no more
 * than half of the bits will be set.  In keys form, it takes as many as there
 * are words, with which it turns into bits: with up to 41 hashes, these are then
 * less than half full, since 1 - exp(-41 / 64) < 0.48.
 */
static inline uint64
StoredSetKeysLeft(const Bloom *filter)
{
	uint64		half = BloomBits(filter) / 2;

	if (!BloomIsBits(filter))
		return filter->words - filter->count - (filter->hashes > 41);
	return filter->count >= half ? 0 : (half - filter->count) / filter->hashes;
}

#endif							/* SET_DEFINE_H */
