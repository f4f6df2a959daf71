/*-------------------------------------------------------------------------
 *
 * func/agg_state.h
 *		Transition states as arguments and results, large ones included.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_AGG_STATE_H
#define BLOOM_AGG_STATE_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "filter/fetch.h"
#include "filter/state.h"

typedef struct BloomLargeState
{
	ExpandedObjectHeader header;
	Bloom	   *state;			/* owned, in the object's context, or a value */
} BloomLargeState;

/* Is a state behind this Datum that we can change in place? */
#define BloomAggIsInPlace(datum) \
	(VARATT_IS_4B_U(DatumGetPointer(datum)) || \
	 VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))

extern const ExpandedObjectMethods BloomLargeStateMethods;

extern Bloom *BloomAggStateToRead(Datum datum);
extern Datum BloomAggFirst(const Bloom *filter, MemoryContext context);
extern Datum BloomAggReplaced(FunctionCallInfo fcinfo, Bloom *state,
							  MemoryContext context);

/* The handle that a Datum is, or NULL. */
static inline BloomLargeState *
BloomAggLargeState(Datum datum)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	header = DatumGetEOHP(datum);
	return header->eoh_methods == &BloomLargeStateMethods ?
		(BloomLargeState *) header : NULL;
}

/*
 * BloomAggState
 *		The state or value that an argument is, to be changed.
 */
static inline Bloom *
BloomAggState(Datum datum)
{
	BloomLargeState *large;

	if (likely(VARATT_IS_4B_U(DatumGetPointer(datum))))
		return (Bloom *) DatumGetPointer(datum);
	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)) &&
		(large = BloomAggLargeState(datum)) != NULL)
		return large->state;
	/* a copy, of a value in any form that the server has for one */
	return unconstify(Bloom *, BloomFetchState(datum));
}

#endif							/* BLOOM_AGG_STATE_H */
