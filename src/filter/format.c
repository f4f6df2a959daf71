/*-------------------------------------------------------------------------
 *
 * filter/format.c
 *		The value: shapes, and how a filter is made (bits/layout.c decodes its bytes).
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#ifndef WIN32
#include <sys/mman.h>
#endif

#include "args.h"
#include "filter/format.h"

/* The usual size of huge pages; only a guess is needed */
#define HUGE_PAGE_SIZE	(2 * 1024 * 1024)

/* ----------------------------------------------------------------
 *							SHAPES
 * ----------------------------------------------------------------
 */

/*
 * BloomParamsFor
 *		The best parameters for a rate.  An error if it is out of range.  If the
 *		caller takes a capacity, too, the hint of a rate that looks like one tells
 *		which comes first.
 */
BloomParams
BloomParamsFor(double fp_prob, bool has_capacity)
{
	BloomParams params;

	if (!BloomBestParams(fp_prob, &params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fp_prob %g is out of range", fp_prob),
				 errdetail("fp_prob must be at least %.3g, which takes %d bits per key, and less than 1.",
						   BloomMinFpProb(), BLOOM_MAX_BITS_PER_KEY),
				 has_capacity && fp_prob > 1 ?
				 errhint("A rate of one percent is 0.01. A capacity stands before the rate: (capacity, fp_prob).") :
				 errhint("A rate of one percent is 0.01.")));
	return params;
}

/*
 * BloomShapeFor
 *		The shape by best_params of a filter of this kind.  Checks both
 *		arguments.
 *
 * A capacity is any number, such as 1e6, and is rounded up.
 */
BloomShape
BloomShapeFor(BloomKind kind, double capacity, double fp_prob, int64 seed)
{
	bool		is_counting = kind == BLOOM_COUNTING;
	uint64		max_bits = BloomMaxPositions(kind);
	const char *unit = BloomUnit(kind);
	const char *filter = is_counting ? "counting filter" : "filter";
	BloomParams params = BloomParamsFor(fp_prob, true);
	BloomShape	shape;

	shape.capacity = BloomCheckCapacity(capacity, BLOOM_MAX_CAPACITY, true);
	if (shape.capacity > max_bits / params.bits_per_key)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity " UINT64_FORMAT " is too large for one %s",
						shape.capacity, filter),
				 errdetail("With fp_prob %g, a key takes %d %s, and a %s has at most " UINT64_FORMAT " %s.",
						   fp_prob, params.bits_per_key, unit, filter,
						   max_bits, unit),
				 errhint("The largest capacity that fits is " UINT64_FORMAT "; larger sets are divided into several filters by bloom_shard.",
						 max_bits / params.bits_per_key)));

	shape.bits = BloomBitsForCapacity(shape.capacity,
									  params.bits_per_key);
	shape.hashes = params.hashes;
	shape.seed = seed;
	shape.fp_prob = fp_prob;
	return shape;
}

/*
 * BloomCheckHashes
 *		An error unless hashes is in range.
 */
void
BloomCheckHashes(int32 hashes)
{
	if (hashes < 1 || hashes > BLOOM_MAX_HASHES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("hashes %d is out of range", hashes),
				 errdetail("hashes must be between 1 and %d.",
						   BLOOM_MAX_HASHES)));
}

/*
 * BloomShapeExplicit
 *		The shape with just these bits and hashes.  Checks its arguments.
 *
 * Its capacity is the number of keys that this number of hashes is best for,
 * which is where half of the bits are set and the rate is 2^-hashes.
 */
BloomShape
BloomShapeExplicit(int64 bits, int32 hashes, int64 seed)
{
	BloomShape	shape;

	if (bits < (int64) BLOOM_MIN_BITS || bits > (int64) BLOOM_MAX_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits " INT64_FORMAT " is out of range", bits),
				 errdetail("bits must be between " UINT64_FORMAT " and " UINT64_FORMAT ".",
						   BLOOM_MIN_BITS, BLOOM_MAX_BITS)));
	BloomCheckHashes(hashes);

	shape.bits = (bits + 63) / 64 * 64;
	shape.hashes = hashes;
	shape.seed = seed;
	shape.fp_prob = BloomRateOfFill(0.5, hashes);
	shape.capacity = BloomCapacityOfBits(shape.bits, hashes, shape.fp_prob);
	return shape;
}

/*
 * BloomShapeOf
 *		The shape that a filter has.
 */
BloomShape
BloomShapeOf(const Bloom *filter)
{
	BloomShape	shape;

	shape.bits = BloomBits(filter);
	shape.hashes = filter->hashes;
	shape.seed = (int64) filter->seed;
	shape.capacity = filter->capacity;
	shape.fp_prob = filter->fp_prob;
	return shape;
}

/* ----------------------------------------------------------------
 *							MAKING
 * ----------------------------------------------------------------
 */

/*
 * BloomAllocate
 *		Memory for a filter.
 *
 * A large filter is accessed at random, and most accesses miss the TLB as well
 * as the caches.  So we ask for huge pages, before any is touched.  It is not an
 * error if there are none.
 */
void *
BloomAllocate(MemoryContext context, Size size)
{
	void	   *memory = MemoryContextAlloc(context, size);

#ifdef MADV_HUGEPAGE
	if (size >= 2 * HUGE_PAGE_SIZE)
	{
		uintptr_t	start = TYPEALIGN(HUGE_PAGE_SIZE, memory);
		uintptr_t	end = TYPEALIGN_DOWN(HUGE_PAGE_SIZE, (char *) memory + size);

		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
	}
#endif
	return memory;
}

/*
 * BloomMake
 *		A filter with room for nbytes of content, all zero.
 *
 * Without a shape it is what an aggregate makes of no rows.  The key type is
 * NULL before the first key.  The caller fills in the content and its count.
 */
Bloom *
BloomMake(const BloomShape *shape, const BloomKeyType *key_type,
		  BloomRepresentation representation, Size nbytes)
{
	static const BloomShape unsized = {0};
	Size		type_bytes = key_type == NULL ? 0 : (Size) key_type->words * 8;
	Size		size = BLOOM_HEADER_SIZE + type_bytes + nbytes;
	Bloom	   *filter = BloomAllocate(CurrentMemoryContext, size);

	if (shape == NULL)
		shape = &unsized;
	memset(filter, 0, size);
	SET_VARSIZE(filter, size);
	filter->version = BLOOM_VERSION;
	filter->representation = representation;
	filter->hashes = shape->hashes;
	filter->words = shape->bits / 64;
	filter->seed = (uint64) shape->seed;
	filter->capacity = shape->capacity;
	filter->fp_prob = shape->fp_prob;
	if (key_type != NULL)
	{
		filter->key_type = key_type->id;
		filter->type_words = key_type->words;
		if (type_bytes > 0)
			memcpy(filter->data, key_type->name, type_bytes);
	}
	return filter;
}

/*
 * BloomMakeEmpty
 *		A filter of this shape that holds no key.
 */
Bloom *
BloomMakeEmpty(const BloomShape *shape)
{
	return BloomMake(shape, NULL, BLOOM_KEYS, 0);
}

/*
 * BloomMakeLike
 *		A filter of the same shape and key type, without the content.
 */
Bloom *
BloomMakeLike(const Bloom *like, BloomRepresentation representation,
			  Size nbytes)
{
	BloomShape	shape = BloomShapeOf(like);
	BloomKeyType key_type = BloomKeyTypeOf(like);

	return BloomMake(&shape, &key_type, representation, nbytes);
}

/*
 * BloomCopy
 *		The same filter, to be changed.
 */
Bloom *
BloomCopy(const Bloom *filter)
{
	Bloom	   *copy = BloomAllocate(CurrentMemoryContext, VARSIZE(filter));

	memcpy(copy, filter, VARSIZE(filter));
	return copy;
}

/*
 * BloomSetCount
 *		Note how many keys a filter holds, or how many bits are set in it, and
 *		return the room that it does not need.
 */
void
BloomSetCount(Bloom *filter, uint64 count)
{
	filter->count = count;
	if (count == 0)
		filter->representation = BloomKindOf(filter) | BLOOM_KEYS;
	if (BloomIsKeys(filter))
		SET_VARSIZE(filter, BloomSizeByHeader(filter));
	/* what the decoder checks */
	Assert(BloomCheckHeader(filter) == NULL);
	Assert(VARSIZE(filter) == BloomSizeByHeader(filter));
	Assert(BloomCheckContent(filter) == NULL);
}
