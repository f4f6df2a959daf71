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
#define BLOOM_SET_SHARD		1
#define BLOOM_SET_SLICE		2
#define BLOOM_SET_FILTER	3
#define BLOOM_SET_ROOM		4
#define BLOOM_SET_COLUMNS	4

/* The row that knows the key type, and has a copy of the parameters */
#define BLOOM_SET_TYPE_SHARD	(-1)

/* Bits of such a row's filter, which holds one key */
#define BLOOM_SET_TYPE_BITS		128

#define BLOOM_SET_MAX_SLICES	1000
#define BLOOM_SET_MAX_KEEP		(INT64CONST(1000) * 365 * USECS_PER_DAY)

/* Doubles hold all whole numbers up to this one */
#define BLOOM_SET_MAX_CAPACITY	(INT64CONST(1) << 53)

/* With this fill factor, a page has place for one row more than it holds */
#define BLOOM_SET_FILLFACTOR	86

/* The parameters, as arguments of _bloom_set_room */
#define BLOOM_SET_PARAMETERS	9

typedef struct BloomSetParams
{
	int64		capacity;		/* of the first generation, if it grows */
	double		fp_prob;
	bool		keeps_all;
	int64		keep;			/* microseconds, unless keeps_all */
	int32		slices;
	int32		shards;			/* of the first generation */
	int64		bits;			/* of a shard */
	int32		hashes;			/* of the first generation */
	int64		seed;
	bool		grows;
} BloomSetParams;

typedef struct BloomSet
{
	Oid			relid;
	Oid			index;			/* its primary key */
	BloomSetParams params;
	int			generations;	/* so many it can have */
	double		shard_capacity; /* mean number of keys, unless it grows */
	int64		slice_length;	/* microseconds */
} BloomSet;

extern int64 BloomSetKeep(const Interval *span);
extern double BloomSetSliceRate(const BloomSetParams *params);
extern int64 BloomSetSliceCapacity(const BloomSetParams *params);
extern void BloomSetSize(BloomSetParams *params);
extern char *BloomSetDefault(const BloomSetParams *params);

extern BloomShape BloomSetShape(const BloomSet *set, int generation);
extern int	BloomSetHashes(const BloomSetParams *params, int generation);
extern int	BloomSetGeneration(const BloomSet *set, int32 shard);

extern const char *BloomSetDefine(Relation rel, BloomSet *set,
								  bool *lacks_default);

/*
 * The shard of a key in a generation.  The keys of a shard are divided between
 * two shards of the next generation.
 */
static inline int32
BloomSetShardOf(const BloomSet *set, int generation, uint64 place)
{
	uint64		shards = (uint64) set->params.shards << generation;

	return (int32) (shards - set->params.shards + BloomMulHigh(place, shards));
}

/*
 * How many more keys does a shard of a set that grows take?
 *
 * Each sets at most as many bits as it has hashes, so that no more than half
 * of the bits will be set.
 */
static inline uint64
BloomSetKeysLeft(const Bloom *filter)
{
	uint64		half = BloomBits(filter) / 2;
	uint64		used = BloomIsBits(filter) ? filter->count :
		filter->count * filter->hashes;

	return used >= half ? 0 : (half - used) / filter->hashes;
}

#endif							/* SET_DEFINE_H */
