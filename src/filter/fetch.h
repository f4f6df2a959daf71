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

#include "bits/directory.h"
#include "filter/setops.h"

extern const Bloom *BloomFetch(Datum datum);
extern const Bloom *BloomFetchState(Datum datum);
extern const Bloom *BloomFetchHeader(Datum datum);
extern void BloomFetchSlice(Datum stored, Size offset, Size len, void *out);

#define PG_GETARG_BLOOM_P(n)	BloomFetch(PG_GETARG_DATUM(n))
#define PG_RETURN_BLOOM_P(x)	PG_RETURN_DATUM(PointerGetDatum(x))

/* What the call sites of a statement remember of the stored filters */
typedef struct BloomCache BloomCache;

/* What a call site has to probe with */
typedef struct BloomProbeSite
{
	BloomCache *cache;			/* NULL before the first stored filter */
	bool		is_constant;	/* it has one filter, for all its life */
	BloomDirectory directory;	/* of that, in keys form */
} BloomProbeSite;

/* A filter to be probed: as a whole, or by parts of what is stored */
typedef struct BloomProbe
{
	const Bloom *header;		/* with some of its content, unless is_whole */
	bool		is_whole;
	BloomDirectory *directory;	/* or NULL */
	MemoryContext context;		/* of the directory */
	Datum		stored;			/* unless is_whole, as the next two */
	BloomCache *cache;
	struct CacheEntry *entry;
	uint64		unpacked[(VARATT_SHORT_MAX + VARHDRSZ) / sizeof(uint64) + 1];
} BloomProbe;

extern void BloomProbeSiteInit(BloomProbeSite *site, FunctionCallInfo fcinfo,
							   int argno);
extern void BloomProbeStored(BloomProbe *probe, Datum datum, uint64 nkeys,
							 BloomProbeSite *site, MemoryContext context);
extern bool BloomProbeDirectory(const BloomProbe *probe);
extern bool BloomTestStored(const BloomProbe *probe, uint64 hash);

/*
 * BloomProbeBegin
 *		Make a filter ready to be probed for n keys.
 *
 * The context is the function's own, fn_mcxt.
 */
static inline void
BloomProbeBegin(BloomProbe *probe, Datum datum, uint64 nkeys,
				BloomProbeSite *site, MemoryContext context)
{
	const Bloom *filter = (const Bloom *) DatumGetPointer(datum);

	probe->context = context;
	if (likely(VARATT_IS_4B_U(filter) && BloomIsValue(filter)))
	{
		probe->header = filter;
		probe->is_whole = true;
		probe->directory = NULL;
		if (site->is_constant && BloomIsKeys(filter))
		{
			site->directory.keys = BloomKeyData(filter);
			site->directory.nkeys = filter->count;
			probe->directory = &site->directory;
		}
	}
	else
		BloomProbeStored(probe, datum, nkeys, site, context);
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
	if (probe->directory != NULL &&
		(likely(probe->directory->lines != NULL) || BloomProbeDirectory(probe)))
		return BloomDirectoryTest(probe->directory, hash);
	return BloomTestHash(probe->header, hash);
}

#endif							/* BLOOM_FETCH_H */
