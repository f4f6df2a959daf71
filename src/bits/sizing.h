/*-------------------------------------------------------------------------
 *
 * bits/sizing.h
 *		The arithmetic of Bloom filters: sizes, rates, estimates.
 *
 * Nothing here needs a server: c.h and libm are enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SIZING_H
#define BLOOM_SIZING_H

/* Limits of a filter's shape */
#define BLOOM_MIN_BITS			UINT64CONST(64)
#define BLOOM_MAX_BITS			(UINT64CONST(1) << 32)
#define BLOOM_MAX_COUNTERS	(UINT64CONST(1) << 30)
#define BLOOM_MAX_HASHES		64
#define BLOOM_MAX_BITS_PER_KEY	64

/*
 * Where a capacity is not named, hashes are kept, of fewer keys than this.  With
 * assertions there are so few that tests reach the limit (sql/limits.sql).
 */
#ifdef USE_ASSERT_CHECKING
#define BLOOM_MAX_EXACT_KEYS	(UINT64CONST(1) << 20)
#else
#define BLOOM_MAX_EXACT_KEYS	(BLOOM_MAX_BITS / 64)
#endif

#define BLOOM_DEFAULT_FP_PROB	0.01

typedef struct BloomParams
{
	int			hashes;			/* k */
	int			bits_per_key;	/* m/n */
	double		fp_prob;		/* the rate at capacity */
} BloomParams;

/* The shape of a blocked Bloom filter (bits/blocked.h) */
#define BLOOM_BLOCK_BITS			512
#define BLOOM_MAX_BLOCKS			4

typedef struct BloomBlockedParams
{
	int			blocks;			/* of a key */
	int			hashes;			/* in each of them */
	int			bits_per_key;
} BloomBlockedParams;

extern double BloomRate(double bits_per_key, int hashes);
extern double BloomMinFpProb(void);
extern bool BloomBestParams(double fp_prob, BloomParams *params);
extern uint64 BloomBitsForCapacity(uint64 capacity, int bits_per_key);
extern uint64 BloomCapacityOfBits(uint64 bits, int hashes, double fp_prob);

extern double BloomBlockedRate(double bits_per_key, int blocks, int hashes);
extern bool BloomBestBlocked(double fp_prob, BloomBlockedParams *params);
extern uint64 BloomBlocksForCapacity(uint64 capacity, int bits_per_key);

extern double BloomEstimateKeys(uint64 bits, int hashes, double bits_set);
extern double BloomEstimateError(uint64 bits, int hashes, double keys);
extern double BloomRateOfFill(double fill, int hashes);

#endif							/* BLOOM_SIZING_H */
