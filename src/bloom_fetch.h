/*-------------------------------------------------------------------------
 *
 * bloom_fetch.h
 *		From a Datum, which may be stored out of line, to the filter.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_FETCH_H
#define BLOOM_FETCH_H

#include "bloom_setops.h"

extern const Bloom *BloomFetch(Datum datum);
extern const Bloom *BloomFetchState(Datum datum);
extern const Bloom *BloomFetchHeader(Datum datum);
extern Size BloomFetchSize(Datum datum);
extern bool BloomIsSliceable(Datum datum);
extern void BloomFetchSlice(Datum stored, Size offset, Size len, void *out);

#define PG_GETARG_BLOOM_P(n)	BloomFetch(PG_GETARG_DATUM(n))
#define PG_RETURN_BLOOM_P(x)	PG_RETURN_DATUM(PointerGetDatum(x))

/* What a call site remembers of the stored filters that it has probed */
typedef struct BloomCache BloomCache;

/* A filter to be probed: as a whole, or by slices of what is stored */
typedef struct BloomProbe
{
	const Bloom *header;		/* only the header, unless is_whole */
	bool		is_whole;
	Datum		stored;			/* unless is_whole */
	uint64		unpacked[(VARATT_SHORT_MAX + VARHDRSZ) / sizeof(uint64) + 1];
} BloomProbe;

extern void BloomProbeStored(BloomProbe *probe, Datum datum, uint64 nkeys,
							 BloomCache **cache, MemoryContext context);
extern bool BloomTestStored(const BloomProbe *probe, uint64 hash);

/*
 * BloomProbeBegin
 *		Make a filter ready to be probed for so many keys.
 *
 * The cache belongs to the call site.  It begins as NULL, and lives in the
 * context that is given.
 */
static inline void
BloomProbeBegin(BloomProbe *probe, Datum datum, uint64 nkeys,
				BloomCache **cache, MemoryContext context)
{
	const Bloom *filter = (const Bloom *) DatumGetPointer(datum);

	if (likely(VARATT_IS_4B_U(filter) && BloomIsPublic(filter)))
	{
		probe->header = filter;
		probe->is_whole = true;
	}
	else
		BloomProbeStored(probe, datum, nkeys, cache, context);
}

/*
 * BloomProbeTest
 *		Does the filter possibly hold a key of this hash?
 */
static inline bool
BloomProbeTest(const BloomProbe *probe, uint64 hash)
{
	if (likely(probe->is_whole))
		return BloomTestHash(probe->header, hash);
	return BloomTestStored(probe, hash);
}

#endif							/* BLOOM_FETCH_H */
