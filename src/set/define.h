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
#define BLOOM_SET_BUCKET	1
#define BLOOM_SET_LANE		2
#define BLOOM_SET_SLICE		3
#define BLOOM_SET_FILTER	4
#define BLOOM_SET_ROOM		5
#define BLOOM_SET_COLUMNS	5

/* The bucket whose rows know the key type */
#define BLOOM_SET_TYPE_BUCKET	(-1)

/* Bits of the filter of such a row, which holds one key */
#define BLOOM_SET_TYPE_BITS		128

/* Lane 0 is the filter; long lanes count down from -1, short ones from here */
#define BLOOM_SET_FIRST_SHORT	(-(1 << 30))

/* Keys of a lane */
#define BLOOM_SET_SHORT_LANE	19
#define BLOOM_SET_LONG_LANE		127

#define BLOOM_SET_MAX_SLICES	1000
#define BLOOM_SET_MAX_KEEP		(INT64CONST(1000) * 365 * USECS_PER_DAY)

/* Doubles hold all whole numbers up to this one */
#define BLOOM_SET_MAX_CAPACITY	(INT64CONST(1) << 53)

/* With this fill factor, a page has place for one more filter */
#define BLOOM_SET_FILLFACTOR	86

/* Copies of the primary key that a set may have */
#define BLOOM_SET_MAX_COPIES	8

/* The parameters, as arguments of _bloom_set_room */
#define BLOOM_SET_PARAMETERS	9

typedef struct BloomSetParams
{
	int64		capacity;		/* of the first generation, if it grows */
	double		fp_prob;
	bool		keeps_all;
	int64		keep;			/* microseconds, unless keeps_all */
	int32		slices;
	int32		buckets;		/* of the first generation */
	int64		bits;			/* of the filter of a bucket */
	int32		hashes;			/* of the first generation */
	int64		seed;
	bool		grows;
} BloomSetParams;

typedef struct BloomSet
{
	Oid			relid;
	Oid			index;			/* its primary key */
	int			ncopies;		/* of that, which REINDEX CONCURRENTLY makes */
	Oid			copies[BLOOM_SET_MAX_COPIES];
	BloomSetParams params;
	int			generations;	/* so many it can have */
	double		bucket_capacity; /* mean number of keys, unless it grows */
	int64		slice_length;	/* microseconds */
} BloomSet;

extern int64 BloomSetKeep(const Interval *span);
extern double BloomSetSliceRate(const BloomSetParams *params);
extern int64 BloomSetSliceCapacity(const BloomSetParams *params);
extern void BloomSetSize(BloomSetParams *params);
extern char *BloomSetDefault(const BloomSetParams *params);

extern BloomShape BloomSetShape(const BloomSet *set, int generation);
extern int	BloomSetHashes(const BloomSetParams *params, int generation);
extern int	BloomSetGeneration(const BloomSet *set, int32 bucket);
extern int32 BloomSetFirstBucket(const BloomSet *set, int32 bucket);

extern const char *BloomSetDefine(Relation rel, BloomSet *set);

/*
 * The bucket of a key in a generation.  The keys of a bucket are divided
 * between two buckets of the next generation.
 */
static inline int32
BloomSetBucketOf(const BloomSet *set, int generation, uint64 place)
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
BloomSetKeysLeft(const Bloom *filter)
{
	uint64		half = BloomBits(filter) / 2;

	if (!BloomIsBits(filter))
		return filter->words - filter->count - (filter->hashes > 41);
	return filter->count >= half ? 0 : (half - filter->count) / filter->hashes;
}

#endif							/* SET_DEFINE_H */
