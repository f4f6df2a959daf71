/*-------------------------------------------------------------------------
 *
 * filter/setops.h
 *		Operations on filters as sets: add, test, compare, combine, fit.
 *
 * Functions that return a const Bloom do not modify their arguments (lists of
 * hashes may be reordered), and may return an argument.  Those that take a Bloom
 * that is not const modify it in place.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SETOPS_H
#define BLOOM_SETOPS_H

#include "bits/bits.h"
#include "filter/format.h"
#include "key/key_type.h"
#include "bits/sort.h"
#include "bits/counters.h"

/* Distinct hashes, ascending; of a counting filter, with a counter for each */
typedef struct BloomKeyList
{
	const uint64 *hashes;
	const uint8 *counts;		/* or NULL */
	uint64		nkeys;
} BloomKeyList;

/* The keys of a filter in keys form */
static inline BloomKeyList
BloomKeysOf(const Bloom *filter)
{
	BloomKeyList keys;

	keys.hashes = BloomKeyData(filter);
	keys.counts = BloomIsCounting(filter) ?
		BloomCountData(filter) : NULL;
	keys.nkeys = filter->count;
	return keys;
}

extern void BloomCheckCombinable(const Bloom *a, const Bloom *b);
extern void BloomCheckHasShape(const Bloom *filter);

extern BloomKeyList BloomCountHashes(uint64 *hashes, uint64 nhashes);
extern void BloomAddToArray(Bloom *filter, BloomKeyList keys,
							uint64 *count);
extern Bloom *BloomMakeOfKeys(const Bloom *like, const BloomKeyType *key_type,
							  BloomKeyList a, BloomKeyList b);
extern const Bloom *BloomAddKeys(const Bloom *filter, BloomKeyList keys,
								 const BloomKeyType *key_type);
extern Bloom *BloomToBits(const Bloom *filter);
extern void BloomOrBits(Bloom *bits, const Bloom *other);
extern void BloomAdoptCapacity(Bloom *filter, const Bloom *other);

extern bool BloomContainsFilter(const Bloom *filter, const Bloom *part);
extern const Bloom *BloomUnion(const Bloom *a, const Bloom *b);
extern const Bloom *BloomIntersect(const Bloom *a, const Bloom *b);
extern const Bloom *BloomFit(const Bloom *filter, double fp_prob);

extern double BloomFill(const Bloom *filter);
extern double BloomCardinality(const Bloom *filter);
extern double BloomUnionCardinality(const Bloom *a, const Bloom *b);
extern double BloomRateNow(const Bloom *filter);
extern bool BloomIsOverfull(const Bloom *filter);
extern void BloomWarnOverfull(const Bloom *filter);

/* What errors call the filter that has the keys */
static inline const BloomHolder *
BloomHolderOf(const Bloom *filter)
{
	static const BloomHolder plain = {
		"Bloom filter", "filter",
		"bloom_contains_any, bloom_contains_all or bloom_add_all",
		"bloom_contains or bloom_add"
	};
	static const BloomHolder counting = {
		"counting Bloom filter", "filter",
		"counting_bloom_add_all or counting_bloom_remove_all",
		"counting_bloom_contains, counting_bloom_add or counting_bloom_remove"
	};

	return BloomIsCounting(filter) ? &counting : &plain;
}

/*
 * BloomCheckKeyType
 *		An error, unless the filter can hold keys of this key type.
 */
static inline void
BloomCheckKeyType(const Bloom *filter, const BloomKeyType *key_type,
				  BloomKeySource source)
{
	if (likely(filter->key_type == key_type->id && key_type->words == 0))
		return;
	if (filter->key_type != 0 && key_type->id != 0)
	{
		BloomKeyType has = BloomKeyTypeOf(filter);

		if (!BloomSameKeyType(&has, key_type))
			BloomKeyTypeMismatch(BloomHolderOf(filter), &has, key_type, source);
	}
}

/*
 * Does the filter possibly hold a key of this hash?  The caller has checked
 * the key type.
 */
static inline bool
BloomTestHash(const Bloom *filter, uint64 hash)
{
	if (likely(filter->representation == BLOOM_BITS))
		return BloomTestBits(BloomBitData(filter), BloomBits(filter),
							 filter->hashes, hash);
	if (filter->representation == BLOOM_COUNTERS)
		return BloomTestCounters(BloomBitData(filter), BloomBits(filter),
								 filter->hashes, hash);
	return BloomTestKeys(BloomKeyData(filter), filter->count, hash);
}

/* Of counting filters alone (filter/counting_ops.c) */
extern const Bloom *BloomCountingRemove(const Bloom *filter, uint64 *hashes,
										uint64 nhashes);
extern unsigned int BloomCountOfKey(const Bloom *filter, uint64 hash);
extern Bloom *BloomCountingToPlain(const Bloom *filter);
extern uint64 BloomCountersFull(const Bloom *filter);

/* The filter with these hashes, which are ascending and distinct. */
static inline const Bloom *
BloomAddSorted(const Bloom *filter, const uint64 *hashes, uint64 nhashes,
			   const BloomKeyType *key_type)
{
	BloomKeyList keys = {hashes, NULL, nhashes};

	return BloomAddKeys(filter, keys, key_type);
}

#endif							/* BLOOM_SETOPS_H */
