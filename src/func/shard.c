/*-------------------------------------------------------------------------
 *
 * func/shard.c
 *		Which of several filters has a key: sets larger than one filter.
 *
 * A filter has at most 2^32 bits.  More keys than those are for, or keys that
 * live on several servers, are divided by a hash, with a filter for each part.
 *
 * The shard of a key
 * ------------------
 *
 * The key's canonical bytes are hashed as for a filter, with a seed of their
 * own, so that where a key lies in its shard's filter has nothing to do with
 * which shard it is.  The high word of the product of that hash and the number
 * of shards is the shard.  It is frozen like the hash (docs/format.md).
 *
 * Numbers that are equal have to be in one shard, since a filter finds an
 * integer by a numeric that is equal to it.  So a whole number that bigint can
 * hold is hashed as a bigint, whatever its type.  That ends at 2^53 for floats:
 * from there on, one float8 is equal to several bigints (SQL compares the two as
 * float8), and its shard is that of one of them.  For float4, it ends at 2^24.
 *
 * How many keys a shard gets
 * --------------------------
 *
 * About as many as its share, but with a Poisson distribution.  A shard that
 * is sized for the share alone is overfull as often as not.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/lsyscache.h"

#include "args.h"
#include "bits/bits.h"
#include "filter/format.h"
#include "key/hash.h"

/* "bloom shard" would be too long */
#define SHARD_SEED		UINT64CONST(0x6472616873)	/* "shard" */

/* How often may any shard of a set get more keys than it is sized for? */
#define SHARD_RISK		1e-6

static void
CheckShards(int32 shards)
{
	if (shards < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shards %d is out of range", shards),
				 errdetail("There must be at least one shard.")));
}

/* ----------------------------------------------------------------
 *							THE SHARD OF A KEY
 * ----------------------------------------------------------------
 */

/* What a call keeps between the rows */
typedef struct ShardCall
{
	BloomHasher hasher;
	Oid			base;			/* of the keys */
} ShardCall;

static uint64
HashForShard(ShardCall *call, Datum key)
{
	float8		number;
	int64		whole;

	switch (call->base)
	{
		case NUMERICOID:
			if (BloomNumericIsInt8(key, &whole))
				return BloomHashInt64(whole, SHARD_SEED);
			break;
		case FLOAT4OID:
		case FLOAT8OID:
			number = call->base == FLOAT4OID ? DatumGetFloat4(key) :
				DatumGetFloat8(key);
			if (FLOAT8_FITS_IN_INT64(number) && number == rint(number))
				return BloomHashInt64((int64) number, SHARD_SEED);
			break;
		default:
			break;
	}
	return BloomHashDatum(&call->hasher, key, SHARD_SEED);
}

/*
 * bloom_shard
 *		The shard of a key, from 0 to shards - 1.
 */
PG_FUNCTION_INFO_V1(bloom_shard);
Datum
bloom_shard(PG_FUNCTION_ARGS)
{
	ShardCall  *call = fcinfo->flinfo->fn_extra;
	int32		shards = PG_GETARG_INT32(1);

	CheckShards(shards);
	if (unlikely(call == NULL))
	{
		call = BloomMakeCallSite(fcinfo, 0, false, sizeof(ShardCall));
		call->base = getBaseType(call->hasher.type);
	}
	PG_RETURN_INT32((int32) BloomMulHigh(HashForShard(call, PG_GETARG_DATUM(0)),
										 (uint64) shards));
}

/* ----------------------------------------------------------------
 *							THE SIZE OF A SHARD
 * ----------------------------------------------------------------
 */

/*
 * bloom_shard_capacity
 *		The capacity of each of these shards for a set of this capacity.
 *
 * With n keys on average, a shard gets c or more with a probability of at most
 *
 *		exp(c - n - c ln(c / n))
 *
 * (Chernoff's bound for the Poisson distribution, for c > n).  We look for the
 * c with which that, times the number of shards, is no more than the risk.
 */
PG_FUNCTION_INFO_V1(bloom_shard_capacity);
Datum
bloom_shard_capacity(PG_FUNCTION_ARGS)
{
	double		capacity = (double) BloomCheckCapacity(PG_GETARG_FLOAT8(0), 9e18,
													   false);
	int32		shards = PG_GETARG_INT32(1);
	double		n;
	double		wanted;
	double		low;
	double		high;

	CheckShards(shards);
	if (shards == 1)
		PG_RETURN_INT64((int64) capacity);

	/* at high, the bound is below exp(-wanted) */
	low = n = capacity / shards;
	wanted = log(shards / SHARD_RISK);
	high = n + 2 * wanted + 2 * sqrt(n * wanted);
	while (high - low > 0.01 && high - low > low * 1e-12)
	{
		double		c = (low + high) / 2;

		if (c * log(c / n) - (c - n) >= wanted)
			high = c;
		else
			low = c;
	}
	PG_RETURN_INT64((int64) Min(ceil(high), capacity));
}
