/*-------------------------------------------------------------------------
 *
 * bloom_format.c
 *		The value: shapes, making, encoding, and the one validating decoder.
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

#include "access/transam.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "bloom_format.h"

/* The usual size of huge pages; only a guess is needed */
#define HUGE_PAGE_SIZE	(2 * 1024 * 1024)

/* Size of the header outside of the server */
#define ENCODED_HEADER_SIZE		(BLOOM_HEADER_SIZE - VARHDRSZ)

/* ----------------------------------------------------------------
 *							SHAPES
 * ----------------------------------------------------------------
 */

/*
 * BloomShapeForCapacity
 *		The shape by best_params.  Checks both arguments.
 */
BloomShape
BloomShapeForCapacity(int64 capacity, double fp_prob, int64 seed)
{
	BloomShape	shape;
	BloomParams params;

	if (!BloomBestParams(fp_prob, &params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fp_prob %g is out of range", fp_prob),
				 errdetail("fp_prob must be at least %.3g, which takes %d bits per key, and less than 1.",
						   BloomMinFpProb(), BLOOM_MAX_BITS_PER_KEY),
				 errhint("A rate of one percent is 0.01. To name a capacity as well: bloom_agg(key, capacity, fp_prob), bloom_empty(capacity, fp_prob).")));
	if (capacity < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity " INT64_FORMAT " is out of range", capacity),
				 errdetail("capacity is a number of distinct keys, and must be at least 1.")));
	if ((uint64) capacity > BloomMaxCapacity(params.bits_per_key))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity " INT64_FORMAT " is too large for one filter", capacity),
				 errdetail("With fp_prob %g, a key takes %d bits, and a filter has at most " UINT64_FORMAT " bits.",
						   fp_prob, params.bits_per_key, BLOOM_MAX_BITS),
				 errhint("The largest capacity that fits is " UINT64_FORMAT "; divide larger sets by a hash of the key into several filters.",
						 BloomMaxCapacity(params.bits_per_key))));

	shape.bits = BloomBitsForCapacity(capacity, params.bits_per_key);
	shape.hashes = params.hashes;
	shape.seed = seed;
	shape.capacity = capacity;
	shape.fp_prob = fp_prob;
	return shape;
}

/*
 * BloomCheckHashes
 *		An error, unless a filter may have so many hashes.
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
 * A large filter is read and written all over, and more often than not waits
 * for the page table as well as for the memory itself.  So we ask for huge
 * pages, before any is touched.  It is not an error if there are none.
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
 *		A filter with room for this many bytes of content, all zero.
 *
 * The caller fills in the content and its count.
 */
Bloom *
BloomMake(const BloomShape *shape, Oid key_type,
		  BloomRepresentation representation, Size nbytes)
{
	Size		size = BLOOM_HEADER_SIZE + nbytes;
	Bloom	   *filter = BloomAllocate(CurrentMemoryContext, size);

	memset(filter, 0, size);
	SET_VARSIZE(filter, size);
	filter->version = BLOOM_VERSION;
	filter->representation = representation;
	filter->hashes = shape->hashes;
	filter->key_type = key_type;
	filter->words = shape->bits / 64;
	filter->seed = (uint64) shape->seed;
	filter->capacity = shape->capacity;
	filter->fp_prob = shape->fp_prob;
	return filter;
}

/*
 * BloomMakeEmpty
 *		A filter of this shape that holds no key.
 */
Bloom *
BloomMakeEmpty(const BloomShape *shape)
{
	return BloomMake(shape, InvalidOid, BLOOM_KEYS, 0);
}

/*
 * BloomMakeShapeless
 *		The filter that an aggregate makes of no rows.
 */
Bloom *
BloomMakeShapeless(void)
{
	BloomShape	none = {0};

	return BloomMakeEmpty(&none);
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

	return BloomMake(&shape, like->key_type, representation, nbytes);
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
 * BloomCountBits
 *		How many bits are set in the array of a filter in bits form?
 */
uint64
BloomCountBits(const Bloom *bits)
{
	return pg_popcount((const char *) bits->data, (int) BloomBitBytes(bits));
}

/*
 * BloomSetCount
 *		Note how many keys a filter holds, or how many bits are set in it, and
 *		give back what it has too much of room.
 */
void
BloomSetCount(Bloom *filter, uint64 count)
{
	filter->count = count;
	if (count == 0)
	{
		/* bits, none of which is set, are no keys, and those have no type */
		filter->representation = BLOOM_KEYS;
		filter->key_type = InvalidOid;
	}
	if (BloomIsKeys(filter))
		SET_VARSIZE(filter, BLOOM_HEADER_SIZE + count * sizeof(uint64));
	AssertCheckBloom(filter);
}

/* ----------------------------------------------------------------
 *							ENCODING
 * ----------------------------------------------------------------
 */

#ifdef WORDS_BIGENDIAN
#define LittleEndian32(x)	pg_bswap32(x)
#define LittleEndian64(x)	pg_bswap64(x)
#else
#define LittleEndian32(x)	(x)
#define LittleEndian64(x)	(x)
#endif

/*
 * Turn the numbers of a filter from the server's byte order to little-endian,
 * or back: it is the same.  "keys" is how many keys there are behind the
 * header.
 */
static void
SwapToLittleEndian(Bloom *filter, uint64 keys)
{
	uint64		fp_prob;

	StaticAssertStmt(sizeof(double) == sizeof(uint64),
					 "double is not a 64-bit IEEE number");

	filter->key_type = LittleEndian32(filter->key_type);
	filter->words = LittleEndian32(filter->words);
	filter->seed = LittleEndian64(filter->seed);
	filter->capacity = LittleEndian64(filter->capacity);
	memcpy(&fp_prob, &filter->fp_prob, sizeof(fp_prob));
	fp_prob = LittleEndian64(fp_prob);
	memcpy(&filter->fp_prob, &fp_prob, sizeof(fp_prob));
	filter->count = LittleEndian64(filter->count);
#ifdef WORDS_BIGENDIAN
	for (uint64 i = 0; i < keys; i++)
		filter->data[i] = LittleEndian64(filter->data[i]);
#else
	(void) keys;
#endif
}

/*
 * BloomEncodedSize
 *		How many bytes BloomEncode writes.
 */
Size
BloomEncodedSize(const Bloom *filter)
{
	return VARSIZE(filter) - VARHDRSZ;
}

/*
 * BloomEncode
 *		Write the filter's bytes as they leave the server.
 */
void
BloomEncode(const Bloom *filter, uint8 *out)
{
#ifdef WORDS_BIGENDIAN
	Bloom	   *swapped = BloomCopy(filter);

	SwapToLittleEndian(swapped, BloomIsKeys(filter) ? filter->count : 0);
	memcpy(out, VARDATA(swapped), BloomEncodedSize(filter));
	pfree(swapped);
#else
	memcpy(out, VARDATA(filter), BloomEncodedSize(filter));
#endif
}

/* ----------------------------------------------------------------
 *							DECODING
 * ----------------------------------------------------------------
 */

/*
 * What is wrong with a header, or NULL.
 */
static const char *
CheckHeader(const Bloom *filter)
{
	if (filter->version != BLOOM_VERSION)
		return "The version is unknown.";
	if (!BloomIsKeys(filter) && !BloomIsBits(filter))
		return "The representation is unknown.";
	if (filter->pending != 0)
		return "The reserved byte is not zero.";
	if (filter->key_type >= FirstGenbkiObjectId)
		return "The key type is not a built-in type.";
	if (!BloomHasShape(filter))
	{
		if (filter->hashes != 0 || filter->seed != 0 ||
			filter->capacity != 0 || filter->fp_prob != 0 ||
			filter->key_type != InvalidOid || filter->count != 0 ||
			!BloomIsKeys(filter))
			return "A filter without a shape is not all zero.";
		return NULL;
	}
	if (filter->words > BLOOM_MAX_BITS / 64)
		return "The number of bits is out of range.";
	if (filter->hashes < 1 || filter->hashes > BLOOM_MAX_HASHES)
		return "The number of hashes is out of range.";
	if (filter->capacity < 1 || filter->capacity > PG_INT64_MAX)
		return "The capacity is out of range.";
	if (!(filter->fp_prob > 0 && filter->fp_prob < 1))
		return "The fp_prob is out of range.";
	if ((filter->count == 0) != (filter->key_type == InvalidOid))
		return "The key type does not match the number of keys.";
	if (BloomIsKeys(filter))
	{
		if (!BloomHoldsAsKeys(filter->words, filter->count))
			return "There are too many keys for the keys form.";
	}
	else if (filter->count == 0)
		return "No bit is set in the bits form.";
	return NULL;
}

/* How many bytes a filter with a good header has behind it. */
static Size
ContentSize(const Bloom *filter)
{
	return BloomIsKeys(filter) ? filter->count * sizeof(uint64) :
		BloomBitBytes(filter);
}

/*
 * What is wrong with the content behind a good header, or NULL.
 */
static const char *
CheckContent(const Bloom *filter)
{
	if (BloomIsKeys(filter))
	{
		uint64		previous = 0;

		for (uint64 i = 0; i < filter->count; i++)
		{
			if (filter->data[i] <= previous)
				return "The keys are not ascending.";
			previous = filter->data[i];
		}
	}
	else if (BloomCountBits(filter) != filter->count)
		return "The number of bits set does not match.";
	return NULL;
}

/*
 * BloomDecode
 *		Make a filter of bytes from outside, whoever wrote them.
 *
 * Nothing is believed: what this accepts, every other function can work on.
 * NULL, if something is wrong, and then *wrong is a sentence that says what.
 */
Bloom *
BloomDecode(const uint8 *bytes, Size len, const char **wrong)
{
	Bloom		header;
	Bloom	   *filter;

	if (len < ENCODED_HEADER_SIZE)
	{
		*wrong = "There are fewer bytes than a header has.";
		return NULL;
	}

	memcpy((char *) &header + VARHDRSZ, bytes, ENCODED_HEADER_SIZE);
	SwapToLittleEndian(&header, 0);
	*wrong = CheckHeader(&header);
	if (*wrong == NULL && len - ENCODED_HEADER_SIZE != ContentSize(&header))
		*wrong = "The number of bytes does not match the header.";
	if (*wrong != NULL)
		return NULL;

	filter = palloc(VARHDRSZ + len);
	SET_VARSIZE(filter, VARHDRSZ + len);
	memcpy(VARDATA(filter), bytes, len);
	SwapToLittleEndian(filter, BloomIsKeys(&header) ? header.count : 0);

	*wrong = CheckContent(filter);
	if (*wrong != NULL)
	{
		pfree(filter);
		return NULL;
	}
	return filter;
}

#ifdef USE_ASSERT_CHECKING
/*
 * AssertCheckBloom
 *		Check what the decoder would check.
 */
void
AssertCheckBloom(const Bloom *filter)
{
	Assert(CheckHeader(filter) == NULL);
	Assert(VARSIZE(filter) == BLOOM_HEADER_SIZE + ContentSize(filter));
	Assert(CheckContent(filter) == NULL);
}
#endif
