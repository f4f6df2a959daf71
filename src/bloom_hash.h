/*-------------------------------------------------------------------------
 *
 * bloom_hash.h
 *		From a key, which is a Datum of some type, to its 64-bit hash.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_HASH_H
#define BLOOM_HASH_H

#include "catalog/pg_type_d.h"
#include "nodes/nodes.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/typcache.h"

#include "bloom_format.h"

/* xxHash is used from its header alone: nothing to link, nothing to load */
#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * The key type of keys that are hashed by code the filter cannot name: those
 * of user-defined types, and text under a nondeterministic collation.
 */
#define BLOOM_KEY_OTHER		ANYELEMENTOID

/* How a key becomes canonical bytes */
typedef enum BloomKeyKind
{
	BLOOM_KEY_INT2,
	BLOOM_KEY_INT4,
	BLOOM_KEY_INT8,				/* also timestamps and time */
	BLOOM_KEY_FLOAT4,
	BLOOM_KEY_FLOAT8,
	BLOOM_KEY_BOOL,
	BLOOM_KEY_DATE,
	BLOOM_KEY_UUID,
	BLOOM_KEY_VARLENA,			/* text, varchar, bytea */
	BLOOM_KEY_BPCHAR,
	BLOOM_KEY_NAME,
	BLOOM_KEY_ENUM,
	BLOOM_KEY_HASHED			/* by the type's own hash function */
} BloomKeyKind;

/* What is to be known of a type in order to hash keys of it */
typedef struct BloomHasher
{
	Oid			type;			/* of the Datums */
	BloomKeyType key_type;		/* of the keys, as filters remember it */
	Oid			collation;
	BloomKeyKind kind;
	TypeCacheEntry *typentry;	/* of BLOOM_KEY_HASHED */
} BloomHasher;

/* The elements of an array that are not null, in order, with their hashes */
typedef struct BloomArrayKeys
{
	Oid			element;
	Datum	   *keys;
	uint64	   *hashes;
	uint64		nkeys;
	bool		has_nulls;		/* were there others? */
} BloomArrayKeys;

extern bool BloomIsFilterType(Oid type);
extern void BloomHasherInit(BloomHasher *hasher, Oid type, Oid collation);
extern bool BloomHasherTryInit(BloomHasher *hasher, Oid type, Oid collation);
extern Oid	BloomTypeTakenForText(const Node *key);
extern void *BloomMakeCallSite(FunctionCallInfo fcinfo, int argno, bool is_array,
							   Size size);
extern uint64 BloomHashOther(const BloomHasher *hasher, Datum key, uint64 seed);

extern BloomArrayKeys BloomHashArray(const BloomHasher *hasher,
									 ArrayType *array, uint64 seed);
extern Datum BloomMakeKeyArray(Oid element, Datum *keys, uint64 nkeys);

extern uint64 BloomHashBytes(const void *bytes, Size len, uint64 seed);
extern uint64 BloomHashVarlena(Datum key, uint64 seed);
extern uint64 BloomHashText(Datum key, Oid collation, uint64 seed,
							BloomKeyType *key_type);
extern uint64 BloomHashNumeric(Datum key, uint64 seed);

/* Zero is kept for "no hash". */
static inline uint64
BloomHashNotZero(XXH64_hash_t hash)
{
	return hash == 0 ? 1 : hash;
}

/*
 * The canonical bytes of fixed length, hashed.  The compiler reduces each to
 * a few instructions.
 */
static inline uint64
BloomHashInt64(int64 value, uint64 seed)
{
#ifdef WORDS_BIGENDIAN
	value = (int64) pg_bswap64((uint64) value);
#endif
	return BloomHashNotZero(XXH3_64bits_withSeed(&value, sizeof(value), seed));
}

static inline uint64
BloomHashInt32(int32 value, uint64 seed)
{
#ifdef WORDS_BIGENDIAN
	value = (int32) pg_bswap32((uint32) value);
#endif
	return BloomHashNotZero(XXH3_64bits_withSeed(&value, sizeof(value), seed));
}

static inline uint64
BloomHashUuid(const void *value, uint64 seed)
{
	return BloomHashNotZero(XXH3_64bits_withSeed(value, 16, seed));
}

/* -0 equals 0, and every NaN equals every other */
static inline uint64
BloomHashFloat64(float8 value, uint64 seed)
{
	int64		bytes;

	if (value == 0)
		value = 0;
	else if (value != value)
	{
		return BloomHashInt64(INT64CONST(0x7ff8000000000000), seed);
	}
	memcpy(&bytes, &value, sizeof(bytes));
	return BloomHashInt64(bytes, seed);
}

/*
 * BloomHashDatum
 *		Hash a key, without a call for the commonest types.
 */
static pg_attribute_always_inline uint64
BloomHashDatum(const BloomHasher *hasher, Datum key, uint64 seed)
{
	switch (hasher->kind)
	{
		case BLOOM_KEY_INT4:
			return BloomHashInt64(DatumGetInt32(key), seed);
		case BLOOM_KEY_INT8:
			return BloomHashInt64(DatumGetInt64(key), seed);
		case BLOOM_KEY_UUID:
			return BloomHashUuid(DatumGetPointer(key), seed);
		default:
			return BloomHashOther(hasher, key, seed);
	}
}

#endif							/* BLOOM_HASH_H */
