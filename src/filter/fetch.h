/*-------------------------------------------------------------------------
 *
 * filter/fetch.h
 *		From a Datum, which may be stored out of line, to the filter.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_FETCH_H
#define BLOOM_FETCH_H

#include "access/detoast.h"

#include "bits/rounds.h"
#include "bits/blocked.h"
#include "filter/setops.h"
#include "filter/toast.h"

extern const Bloom *BloomFetch(Datum datum);
extern const Bloom *BloomFetchState(Datum datum);
extern const Bloom *BloomFetchHeader(Datum datum);

#define PG_GETARG_BLOOM_P(n)	BloomFetch(PG_GETARG_DATUM(n))
#define PG_RETURN_BLOOM_P(x)	PG_RETURN_DATUM(PointerGetDatum(x))

/* What the call sites of a statement remember of the stored filters */
typedef struct BloomCache BloomCache;

/*
 * A sieve of a list of hashes that is searched many times: a blocked Bloom filter
 * of them, in the order of the list.  An absent key waits for one cache miss, where
 * a search waits for several.
 */
typedef struct BloomSieve
{
	uint64		tests;			/* so far, without one */
	void	   *memory;			/* of the blocks, which are aligned in it */
	uint64	   *blocks;			/* or NULL */
	uint64		nblocks;
} BloomSieve;

/* One block and five bits a key, ten bits in all: of absent keys, one in 95 passes */
static const BloomBlockedParams BloomSieveParams = {1, 5, 10};

/* What a call site has to probe with */
typedef struct BloomProbeSite
{
	BloomCache *cache;			/* NULL before the first stored filter */
	bool		is_constant;	/* it has one filter, for all its life */
	BloomSieve	sieve;			/* of that, in keys form */
} BloomProbeSite;

/*
 * A filter to be probed: as a whole, or by parts of what is stored.
 *
 * First it is opened.  Its header then tells how to hash the keys.  Then the
 * tests begin.  Between the two, functions of the keys' type may run, which can
 * be anybody's, and may probe so many other filters that the cache forgets this
 * one: so nothing of a stored filter is kept from the one to the other.
 */
typedef struct BloomProbe
{
	const Bloom *header;		/* with some of its content, unless is_whole */
	bool		is_whole;
	BloomSieve *sieve;			/* of its list, or NULL */
	MemoryContext context;		/* of the sieve */
	BloomCache *cache;			/* of a stored filter, or NULL; else not set: */
	Datum		stored;
	uint64		nkeys;
	struct CacheEntry *entry;
	uint64		unpacked[(VARATT_SHORT_MAX + VARHDRSZ) / sizeof(uint64) + 1];
} BloomProbe;

extern void BloomProbeSiteInit(BloomProbeSite *site, FunctionCallInfo fcinfo,
							   int argno);
extern void BloomProbeOpenOther(BloomProbe *probe, Datum datum, uint64 nkeys,
								BloomProbeSite *site);
extern bool BloomProbeOpenWhole(BloomProbe *probe, Datum datum,
								BloomProbeSite *site, MemoryContext context);
extern void BloomProbeBeginStored(BloomProbe *probe);
extern bool BloomProbeSieve(const BloomProbe *probe, uint64 ntests);
extern bool BloomTestStored(const BloomProbe *probe, uint64 hash);
extern int	BloomProbeTestBatch(BloomProbe *probe, const uint64 *hashes, int n,
								uint16 *found);

/*
 * BloomProbeOpen
 *		Open a filter, to probe it for n keys.
 *
 * The context is the function's own, fn_mcxt.
 */
static inline void
BloomProbeOpen(BloomProbe *probe, Datum datum, uint64 nkeys,
			   BloomProbeSite *site, MemoryContext context)
{
	const Bloom *filter = (const Bloom *) DatumGetPointer(datum);

	probe->context = context;
	probe->is_whole = true;
	probe->sieve = NULL;
	probe->cache = NULL;
	if (likely(VARATT_IS_4B_U(filter) && BloomIsValue(filter)))
	{
		probe->header = filter;
		if (site->is_constant && BloomIsKeys(filter))
			probe->sieve = &site->sieve;
	}
	else
		BloomProbeOpenOther(probe, datum, nkeys, site);
}

/*
 * BloomProbeBegin
 *		Make ready for the tests, between which no other probe begins.
 */
static inline void
BloomProbeBegin(BloomProbe *probe)
{
	if (unlikely(probe->cache != NULL))
		BloomProbeBeginStored(probe);
}

/*
 * BloomProbeTest
 *		Does the filter possibly hold a key of this hash?
 */
static inline bool
BloomProbeTest(const BloomProbe *probe, uint64 hash)
{
	if (unlikely(!probe->is_whole))
		return BloomTestStored(probe, hash);
	if (probe->sieve != NULL &&
		(likely(probe->sieve->blocks != NULL) || BloomProbeSieve(probe, 1)) &&
		BloomBlockedLacks(probe->sieve->blocks, probe->sieve->nblocks,
						  &BloomSieveParams, hash))
		return false;
	return BloomTestHash(probe->header, hash);
}

#endif							/* BLOOM_FETCH_H */
