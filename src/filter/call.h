/*-------------------------------------------------------------------------
 *
 * filter/call.h
 *		Arguments and results of SQL-callable functions.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_CALL_H
#define BLOOM_CALL_H

#include "args.h"
#include "filter/fetch.h"
#include "filter/setops.h"
#include "key/hash.h"

/* filter/batch.c */
extern void BloomGiveBatches(PGFunction contains, PGFunction contained);

/* filter/build.c */
extern void BloomGiveBuilds(void);

/*
 * BloomHashKey
 *		Hash a key to add to a filter, or to test.
 *
 * An error if the filter has keys of another type, unless both are numbers, which
 * are comparable.  Zero if no key of the filter's type is equal to this one, so that it
 * is certainly absent.
 */
static pg_attribute_always_inline uint64
BloomHashKey(BloomHasher *hasher, Datum key, const Bloom *filter, BloomUse use)
{
	BloomKeyType has;

	if (likely(filter->key_type == hasher->key_type.id &&
			   hasher->key_type.words == 0))
		return BloomHashDatum(hasher, key, filter->seed);
	has = BloomKeyTypeOf(filter);
	return BloomHashKeyAs(hasher, key, BloomHolderOf(filter), &has,
						  filter->seed, use);
}

/* What a call site keeps between the rows: its keys' type, stored filters */
typedef struct BloomCallSite
{
	BloomHasher hasher;
	BloomProbeSite probes;		/* of those that test */
	bool		has_warned;		/* of a filter that is overfull */
} BloomCallSite;

static inline BloomCallSite *
BloomGetCallSite(FunctionCallInfo fcinfo, int key_argno, bool is_array)
{
	BloomCallSite *site = fcinfo->flinfo->fn_extra;

	if (unlikely(site == NULL))
	{
		site = BloomMakeCallSite(fcinfo, key_argno, is_array,
								 sizeof(BloomCallSite));
		BloomProbeSiteInit(&site->probes, fcinfo, 1 - key_argno);
	}
	return site;
}

/* Return a filter that keys were added to; warn once if they are too many. */
static inline Datum
BloomReturnAdded(bool *has_warned, const Bloom *filter)
{
	if (!*has_warned && BloomIsOverfull(filter))
	{
		*has_warned = true;
		BloomWarnOverfull(filter);
	}
	return PointerGetDatum(filter);
}

/*
 * Return a filter that others were combined into; warn once if it has too many
 * keys.  fn_extra is a flag: the function keeps nothing else for its call site.
 */
static inline Datum
BloomReturnCombined(FunctionCallInfo fcinfo, const Bloom *filter)
{
	static char warned;
	bool		has_warned = fcinfo->flinfo->fn_extra != NULL;
	Datum		result = BloomReturnAdded(&has_warned, filter);

	if (has_warned)
		fcinfo->flinfo->fn_extra = &warned;
	return result;
}

/*
 * The union of the filters in two arguments, or the sum of counting filters.  It
 * does not warn of what an argument already was.
 */
static inline Datum
BloomReturnUnion(FunctionCallInfo fcinfo)
{
	const Bloom *a = PG_GETARG_BLOOM_P(0);
	const Bloom *b = PG_GETARG_BLOOM_P(1);
	const Bloom *result = BloomUnion(a, b);

	if (BloomIsOverfull(a) || BloomIsOverfull(b))
		PG_RETURN_BLOOM_P(result);
	return BloomReturnCombined(fcinfo, result);
}

/* The keys in an array, hashed for a filter. */
static inline BloomArrayKeys
BloomHashArrayFor(BloomCallSite *site, ArrayType *array, const Bloom *filter,
				  BloomUse use)
{
	BloomKeyType has = BloomKeyTypeOf(filter);

	return BloomHashArray(&site->hasher, array, BloomHolderOf(filter), &has,
						  filter->seed, use);
}

/*
 * Does the filter in one argument possibly contain the key in the other?
 */
static pg_attribute_always_inline Datum
BloomTestKeyArg(FunctionCallInfo fcinfo, int filter_argno, int key_argno)
{
	BloomCallSite *site = BloomGetCallSite(fcinfo, key_argno, false);
	BloomProbe	probe;
	uint64		hash;

	BloomProbeOpen(&probe, PG_GETARG_DATUM(filter_argno), 1,
				   &site->probes, fcinfo->flinfo->fn_mcxt);
	hash = BloomHashKey(&site->hasher, PG_GETARG_DATUM(key_argno),
						probe.header, BLOOM_TO_FIND);
	BloomProbeBegin(&probe);
	PG_RETURN_BOOL(hash != 0 && BloomProbeTest(&probe, hash));
}

#endif							/* BLOOM_CALL_H */
