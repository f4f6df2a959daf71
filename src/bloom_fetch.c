/*-------------------------------------------------------------------------
 *
 * bloom_fetch.c
 *		From a Datum, which may be stored out of line, to the filter.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bloom_fetch.h"
#include "bloom_state.h"

/*
 * BloomFetchState
 *		The whole filter, as it is, be it a value or a partial state.
 */
const Bloom *
BloomFetchState(Datum datum)
{
	return (const Bloom *) PG_DETOAST_DATUM(datum);
}

/*
 * BloomFetch
 *		The whole filter, as a value.
 *
 * Partial states get here when a distributed engine sends them by the type's
 * output function, or from an aggregate that somebody has made of our
 * transition functions and no final one.
 */
const Bloom *
BloomFetch(Datum datum)
{
	const Bloom *filter = BloomFetchState(datum);

	if (unlikely(!BloomIsPublic(filter)))
		return BloomStatePublish(BloomCopy(filter));
	return filter;
}
