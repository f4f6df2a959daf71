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

#include "bloom_format.h"

extern const Bloom *BloomFetch(Datum datum);
extern const Bloom *BloomFetchState(Datum datum);

#define PG_GETARG_BLOOM_P(n)	BloomFetch(PG_GETARG_DATUM(n))
#define PG_RETURN_BLOOM_P(x)	PG_RETURN_DATUM(PointerGetDatum(x))

#endif							/* BLOOM_FETCH_H */
