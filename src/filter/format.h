/*-------------------------------------------------------------------------
 *
 * filter/format.h
 *		The value: a filter as a varlena.
 *
 * A filter is made, read and written here.  What its bytes mean is in
 * bits/layout.h.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_FORMAT_H
#define BLOOM_FORMAT_H

#include "fmgr.h"

#include "bits/layout.h"
#include "bits/sizing.h"
#include "key/key_type.h"
#include "compat.h"

/* What bloom_empty and bloom_empty_shaped take: a filter without its content */
typedef struct BloomShape
{
	uint64		bits;
	int			hashes;
	int64		seed;
	uint64		capacity;
	double		fp_prob;
} BloomShape;

/* The largest capacity: 2^53, up to which every whole number is a float8 */
#define BLOOM_MAX_CAPACITY		9007199254740992.0

/* How many bits or counters a filter of a kind may have */
#define BloomMaxPositions(kind) \
	((kind) == BLOOM_COUNTING ? BLOOM_MAX_COUNTERS : BLOOM_MAX_BITS)

/* Is this a value, or an aggregate's state (filter/state.c)? */
#define BloomIsValue(filter)	((filter)->version == BLOOM_VERSION)

extern BloomParams BloomParamsFor(double fp_prob, bool has_capacity);
extern BloomShape BloomShapeFor(BloomKind kind, double capacity,
								double fp_prob, int64 seed);

/* The shape by best_params of a filter of type bloom */
#define BloomShapeForCapacity(capacity, fp_prob, seed) \
	BloomShapeFor(BLOOM_PLAIN, capacity, fp_prob, seed)

extern void BloomCheckHashes(int32 hashes);
extern BloomShape BloomShapeExplicit(int64 bits, int32 hashes, int64 seed);
extern BloomShape BloomShapeOf(const Bloom *filter);

/* The name of each type */
static inline const char *
BloomTypeName(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counting_bloom" : "bloom";
}

/* What filters of a kind consist of, in messages */
static inline const char *
BloomUnit(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counters" : "bits";
}

extern void *BloomAllocate(MemoryContext context, Size size);

extern Bloom *BloomMake(const BloomShape *shape, const BloomKeyType *key_type,
						BloomRepresentation representation, Size nbytes);
extern Bloom *BloomMakeEmpty(const BloomShape *shape);
extern Bloom *BloomMakeLike(const Bloom *like,
							BloomRepresentation representation, Size nbytes);
extern Bloom *BloomCopy(const Bloom *filter);
extern void BloomSetCount(Bloom *filter, uint64 count);

extern Datum BloomFromText(FunctionCallInfo fcinfo, BloomKind kind);
extern Datum BloomFromBytes(Datum bytes, BloomKind kind);
extern char *BloomToText(Datum datum);
extern bytea *BloomToBytea(Datum datum, bool copy);

#endif							/* BLOOM_FORMAT_H */
