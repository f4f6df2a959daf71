/*-------------------------------------------------------------------------
 *
 * key/hash.h
 *		From a key, which is a Datum of some type, to its 64-bit hash.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_HASH_H
#define BLOOM_HASH_H

#include "nodes/nodes.h"
#include "utils/array.h"

#include "key/hasher.h"

/* xxHash is used from its header alone: nothing to link, nothing to load */
#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * Changes when keys of some type get another hash or key type than before, so that
 * libraries that hash keys differently do not work with each other: src/build.h.
 */
#define BLOOM_HASHING	1

/*
 * Purpose of hashing: to add the key, or to find it, which is to test, count or
 * remove it.  To find, hash 0 means "certainly absent".
 */
typedef enum BloomUse
{
	BLOOM_TO_ADD,
	BLOOM_TO_FIND
} BloomUse;

/* The elements of an array that are not null, in order, with their hashes */
typedef struct BloomArrayKeys
{
	Oid			element;
	BloomKeyType key_type;		/* that they were hashed as, if there are any */
	Datum	   *keys;
	uint64	   *hashes;
	uint64		nkeys;
	bool		has_nulls;		/* were there others? */
} BloomArrayKeys;

extern void *BloomMakeCallSite(FunctionCallInfo fcinfo, int argno, bool is_array,
							   Size size);
extern uint64 BloomHashOther(BloomHasher *hasher, Datum key, uint64 seed);
extern void BloomCheckHasher(const BloomHasher *hasher, const BloomHolder *holder,
							 const BloomKeyType *has, BloomUse use);
extern uint64 BloomHashKeyAs(BloomHasher *hasher, Datum key,
							 const BloomHolder *holder, const BloomKeyType *has,
							 uint64 seed, BloomUse use);

extern BloomArrayKeys BloomHashArray(BloomHasher *hasher, ArrayType *array,
									 const BloomHolder *holder,
									 const BloomKeyType *has, uint64 seed,
									 BloomUse use);
extern Datum BloomMakeKeyArray(Oid element, Datum *keys, uint64 nkeys);

extern uint64 BloomSortHashes(uint64 *hashes, uint64 nhashes);

extern uint64 BloomHashBytes(const void *bytes, Size len, uint64 seed);
extern uint64 BloomHashVarlena(Datum key, uint64 seed);
extern uint64 BloomHashText(Datum key, uint64 seed);
extern uint64 BloomHashNumeric(Datum key, uint64 seed);
extern bool BloomNumericIsInt8(Datum key, int64 *integer);

/* Zero means "no hash". */
static inline uint64
BloomHashNotZero(XXH64_hash_t hash)
{
	return hash == 0 ? 1 : hash;
}

/*
 * Hashes of canonical bytes of a fixed length.  The compiler reduces each to a
 * few instructions.
 */
static inline uint64
BloomHashInt64(int64 value, uint64 seed)
{
	value = (int64) BloomLittleEndian64((uint64) value);
	return BloomHashNotZero(XXH3_64bits_withSeed(&value, sizeof(value), seed));
}

static inline uint64
BloomHashInt32(int32 value, uint64 seed)
{
	value = (int32) BloomLittleEndian32((uint32) value);
	return BloomHashNotZero(XXH3_64bits_withSeed(&value, sizeof(value), seed));
}

static inline uint64
BloomHashUuid(const void *value, uint64 seed)
{
	return BloomHashNotZero(XXH3_64bits_withSeed(value, 16, seed));
}

static inline uint64
BloomHashFloat64(float8 value, uint64 seed)
{
	return BloomHashInt64((int64) BloomFloatBits(value), seed);
}

/*
 * BloomHashDatum
 *		Hash a key, without a call for the most common types.
 *
 * Afterwards, the hasher's key type is that of this key.
 */
static pg_attribute_always_inline uint64
BloomHashDatum(BloomHasher *hasher, Datum key, uint64 seed)
{
	switch (hasher->encoding)
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
