/*-------------------------------------------------------------------------
 *
 * bits/layout.h
 *		The bytes of a filter: what they mean, and which are right.
 *
 * Layout
 * ------
 *
 *		offset	size
 *		0		4		varlena header
 *		4		1		version
 *		5		1		representation
 *		6		1		hashes
 *		7		1		type words: size of the key type's name, divided by 8
 *		8		4		key type, 0 if not known yet
 *		12		4		words: size in bits, divided by 64
 *		16		8		seed
 *		24		8		capacity
 *		32		8		fp_prob
 *		40		8		count: keys held, or bits set
 *		48		8 t		name of the key type, in UTF-8, padded with zeros
 *		48 + 8t			keys: count 64-bit hashes, ascending, none zero
 *						bits: words * 8 bytes
 *						counted keys: as keys, then count counters of 4 bits,
 *							none zero, padded with zeros to a multiple of 8 bytes
 *						counters: words * 32 bytes
 *
 * The bytes from offset 4 on, with every number little-endian, are also what
 * leaves the server: binary output, the cast to bytea, and, in base64, text.
 *
 * Representations
 * ---------------
 *
 * A filter holds the hashes of its keys while they are fewer than its words,
 * which is when they take less room than the bits.  Then it is exact, and small.
 * From then on it holds the bits.  A filter in bits form has at least one bit
 * set.
 *
 * A counting filter has counted keys and counters where another has keys and
 * bits, and turns from the one to the other at the same number of keys.  Its
 * "count" is the number of distinct keys, or of counters that are not zero.
 * Counters are numbered like bits; bits/counters.h has their arithmetic.
 *
 * A filter without a shape (zero words) is what an aggregate makes of no rows
 * at all: it has no key, can get none, and may be combined with any other.
 *
 * Key types
 * ---------
 *
 * The key type is the OID of a built-in type where that determines how keys are
 * hashed.  All other key types have a name, such as "int8[]" or "enum mood",
 * which is the same in every database, and a number made from it, which is
 * above all OIDs of built-in types.  Such names are compared only where the
 * numbers agree.
 *
 * Bytes from outside are checked by bits/layout.c alone.  Nothing here needs a
 * server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_LAYOUT_H
#define BLOOM_LAYOUT_H

#define BLOOM_VERSION	1

/* The two types of filters.  Each is a bit of its representations. */
typedef enum BloomKind
{
	BLOOM_NEITHER = -1,
	BLOOM_PLAIN = 0,
	BLOOM_COUNTING = 16
} BloomKind;

typedef enum BloomRepresentation
{
	BLOOM_KEYS = 1,				/* sorted distinct hashes */
	BLOOM_BITS = 2,				/* bit array */
	BLOOM_COUNTED_KEYS = BLOOM_COUNTING | BLOOM_KEYS,
	BLOOM_COUNTERS = BLOOM_COUNTING | BLOOM_BITS
} BloomRepresentation;

typedef struct Bloom
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint8		version;
	uint8		representation;
	uint8		hashes;
	uint8		type_words;
	uint32		key_type;
	uint32		words;
	uint64		seed;
	uint64		capacity;
	double		fp_prob;
	uint64		count;
	uint64		data[FLEXIBLE_ARRAY_MEMBER];	/* use the macros below */
} Bloom;

/* What all keys of a filter are */
typedef struct BloomKeyType
{
	uint32		id;				/* 0: no key yet */
	int			words;			/* size of the name, divided by 8 */
	const char *name;			/* padded with zeros, if there is one */
} BloomKeyType;

/* Numbers of key types with a name, and how long a name may be */
#define BLOOM_NAMED_KEY_TYPE	UINT64CONST(0x80000000)
#define BLOOM_MAX_TYPE_WORDS	128

/* The smallest OID that is not of a built-in type, in every version */
#define BLOOM_MAX_BUILTIN_OID	10000

/* The header without a name, in the server and outside */
#define BLOOM_HEADER_SIZE		offsetof(Bloom, data)
#define BLOOM_VARLENA_SIZE		offsetof(Bloom, version)
#define BLOOM_ENCODED_HEADER	(BLOOM_HEADER_SIZE - BLOOM_VARLENA_SIZE)

/* Are these the bytes behind the varlena header, as they are? */
#ifdef WORDS_BIGENDIAN
#define BLOOM_STORED_AS_SENT	false
#else
#define BLOOM_STORED_AS_SENT	true
#endif

#define BloomTypeBytes(filter)	((size_t) (filter)->type_words * 8)
#define BloomPrefixSize(filter)	(BLOOM_HEADER_SIZE + BloomTypeBytes(filter))

/* The content */
#define BloomKeyData(filter)	((filter)->data + (filter)->type_words)
#define BloomBitData(filter)	((uint8 *) BloomKeyData(filter))
#define BloomBitBytes(filter)	((size_t) (filter)->words * 8)

/* The content of a counting filter */
#define BloomCounterWords(filter)	((uint64) (filter)->words * 4)
#define BloomCountData(filter)		((uint8 *) (BloomKeyData(filter) + (filter)->count))
#define BloomCountBytes(nkeys)		(((nkeys) + 15) / 16 * sizeof(uint64))

#define BloomBits(filter)		((uint64) (filter)->words * 64)
#define BloomHasShape(filter)	((filter)->words != 0)

/* These apply to both types: "bits form" includes counters. */
#define BloomIsBits(filter)		(((filter)->representation & ~BLOOM_COUNTING) == BLOOM_BITS)
#define BloomIsKeys(filter)		(((filter)->representation & ~BLOOM_COUNTING) == BLOOM_KEYS)

#define BloomKindOf(filter)		((BloomKind) ((filter)->representation & BLOOM_COUNTING))
#define BloomIsCounting(filter)	(BloomKindOf(filter) == BLOOM_COUNTING)

/* The bits of a position, and the size of all positions in bits form */
#define BloomWidth(filter)		(BloomIsCounting(filter) ? 4 : 1)
#define BloomArrayBytes(filter)	(BloomBitBytes(filter) * BloomWidth(filter))

/* Does a filter of these words hold n keys as keys? */
#define BloomHoldsAsKeys(words, nkeys)	((nkeys) < (uint64) (words))

/* The size of n keys in such a filter, with their counts if there are any */
static inline size_t
BloomKeyBytes(const Bloom *filter, uint64 nkeys)
{
	return nkeys * sizeof(uint64) +
		(BloomIsCounting(filter) ? BloomCountBytes(nkeys) : 0);
}

/* The size of the content, and of the whole with the varlena header */
#define BloomContentBytes(filter) \
	(BloomIsKeys(filter) ? BloomKeyBytes(filter, (filter)->count) : \
	 BloomArrayBytes(filter))
#define BloomSizeByHeader(filter) \
	(BloomPrefixSize(filter) + BloomContentBytes(filter))

/* The key type of a filter.  Its name is in the filter. */
static inline BloomKeyType
BloomKeyTypeOf(const Bloom *filter)
{
	BloomKeyType type;

	type.id = filter->key_type;
	type.words = filter->type_words;
	type.name = (const char *) filter->data;
	return type;
}

/* Do two key types hash equal keys alike? */
static inline bool
BloomSameKeyType(const BloomKeyType *a, const BloomKeyType *b)
{
	return a->id == b->id && a->words == b->words &&
		(a->words == 0 || memcmp(a->name, b->name, (size_t) a->words * 8) == 0);
}

extern uint32 BloomNumberOfTypeName(const char *name, size_t len);
extern uint64 BloomCountContent(const Bloom *filter);

extern const char *BloomTurnIntoFilter(Bloom *bytes, size_t size, BloomKind kind);
extern void BloomTurnIntoBytes(Bloom *filter);

extern const char *BloomCheckTypeName(const char *name, size_t len);
extern const char *BloomCheckHeader(const Bloom *header);
extern const char *BloomCheckContent(const Bloom *filter);

#endif							/* BLOOM_LAYOUT_H */
