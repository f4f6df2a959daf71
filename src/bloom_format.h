/*-------------------------------------------------------------------------
 *
 * bloom_format.h
 *		The value: a filter as a varlena.
 *
 * Layout
 * ------
 *
 *		offset	size
 *		0		4		varlena header
 *		4		1		version
 *		5		1		representation
 *		6		1		hashes
 *		7		1		zero (not in an aggregate's state: bloom_state.c)
 *		8		4		key type, 0 before the first key
 *		12		4		words: size in bits, divided by 64
 *		16		8		seed
 *		24		8		capacity
 *		32		8		fp_prob, as asked
 *		40		8		count: keys held, or bits set
 *		48				keys: count 64-bit hashes, ascending, none zero
 *						bits: words * 8 bytes
 *
 * The bytes from offset 4 on, with every number little-endian, are also what
 * leaves the server: binary output, the cast to bytea, and, in base64, text.
 *
 * Representations
 * ---------------
 *
 * A filter holds the hashes of its keys as long as they are fewer than its
 * words, since that is when they take less room than the bits: it is exact,
 * and nearly free while it holds little.  From then on it holds the bits.  A
 * filter in bits form has at least one bit set.
 *
 * A filter without a shape (zero words) is what an aggregate makes of no rows
 * at all: it has no key, takes none, and may be combined with any other.
 *
 * This file and bloom_format.c are the only ones that know the layout.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_FORMAT_H
#define BLOOM_FORMAT_H

#include "fmgr.h"

#include "bloom_sizing.h"
#include "compat.h"

#define BLOOM_VERSION	1

typedef enum BloomRepresentation
{
	BLOOM_KEYS = 1,				/* sorted distinct hashes */
	BLOOM_BITS = 2,				/* bit array */
	BLOOM_TABLE = 3				/* hash table; only inside an aggregate */
} BloomRepresentation;

typedef struct Bloom
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint8		version;
	uint8		representation;
	uint8		hashes;
	uint8		pending;		/* see bloom_state.c; zero in a stored value */
	Oid			key_type;
	uint32		words;
	uint64		seed;
	uint64		capacity;
	double		fp_prob;
	uint64		count;
	uint64		data[FLEXIBLE_ARRAY_MEMBER];
} Bloom;

#define BLOOM_HEADER_SIZE	offsetof(Bloom, data)

/* What bloom_empty and bloom_shape take: a filter without its content */
typedef struct BloomShape
{
	uint64		bits;
	int			hashes;
	int64		seed;
	uint64		capacity;
	double		fp_prob;
} BloomShape;

#define BloomBits(filter)		((uint64) (filter)->words * 64)
#define BloomHasShape(filter)	((filter)->words != 0)
#define BloomBitData(filter)	((uint8 *) (filter)->data)
#define BloomBitBytes(filter)	((Size) (filter)->words * 8)
#define BloomIsBits(filter)		((filter)->representation == BLOOM_BITS)
#define BLOOM_NOT_A_STATE	0

/* Is this a value, or a state that only bloom_state.c understands? */
#define BloomIsPublic(filter)	((filter)->pending == BLOOM_NOT_A_STATE)

#define BloomIsKeys(filter)		((filter)->representation == BLOOM_KEYS)

/* Does a filter of this many words hold this many keys as keys? */
#define BloomHoldsAsKeys(words, nkeys)	((nkeys) < (uint64) (words))

/* Do keys of both filters have the same positions? */
static inline bool
BloomShapeEquals(const Bloom *a, const Bloom *b)
{
	return a->words == b->words && a->hashes == b->hashes &&
		a->seed == b->seed;
}

extern BloomShape BloomShapeForCapacity(int64 capacity, double fp_prob,
										int64 seed);
extern void BloomCheckHashes(int32 hashes);
extern BloomShape BloomShapeExplicit(int64 bits, int32 hashes, int64 seed);
extern BloomShape BloomShapeOf(const Bloom *filter);

extern void *BloomAllocate(MemoryContext context, Size size);

extern Bloom *BloomMake(const BloomShape *shape, Oid key_type,
						BloomRepresentation representation, Size nbytes);
extern Bloom *BloomMakeEmpty(const BloomShape *shape);
extern Bloom *BloomMakeShapeless(void);
extern Bloom *BloomMakeLike(const Bloom *like,
							BloomRepresentation representation, Size nbytes);
extern Bloom *BloomCopy(const Bloom *filter);
extern uint64 BloomCountBits(const Bloom *bits);
extern void BloomSetCount(Bloom *filter, uint64 count);

extern Size BloomEncodedSize(const Bloom *filter);
extern void BloomEncode(const Bloom *filter, uint8 *out);
extern Bloom *BloomDecode(const uint8 *bytes, Size len, const char **wrong);

#ifdef USE_ASSERT_CHECKING
extern void AssertCheckBloom(const Bloom *filter);
#else
#define AssertCheckBloom(filter)	((void) 0)
#endif

#endif							/* BLOOM_FORMAT_H */
