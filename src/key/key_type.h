/*-------------------------------------------------------------------------
 *
 * key/key_type.h
 *		Key types: made, copied, and in messages.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_KEY_TYPE_H
#define BLOOM_KEY_TYPE_H

#include "fmgr.h"

#include "bits/layout.h"

/* How errors name what holds keys: a filter, a counting filter, a set */
typedef struct BloomHolder
{
	const char *name;
	const char *short_name;
	const char *for_arrays;		/* its functions for the elements of an array */
	const char *for_one;		/* its functions for one key */
} BloomHolder;

/* Where keys come from: errors say what to write there */
typedef enum BloomKeySource
{
	BLOOM_ARGUMENT,
	BLOOM_ARRAY_ARGUMENT,		/* its elements are the keys */
	BLOOM_HASHES,				/* of keys that are not known */
	BLOOM_COLUMNS				/* of a table: nothing can be written */
} BloomKeySource;

/* The name of each kind in messages */
static inline const char *
BloomKindName(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counting Bloom filter" : "Bloom filter";
}

/* The key type of keys that a built-in OID describes */
static inline BloomKeyType
BloomBuiltinKeyType(Oid type)
{
	BloomKeyType result = {type, 0, NULL};

	return result;
}

/* The input functions of bloom and counting_bloom; bloomtype.c sets them */
extern PGFunction BloomInput;
extern PGFunction BloomCountingInput;

extern BloomKeyType BloomNamedKeyType(const char *name);
extern BloomKeyType BloomCopyKeyType(const BloomKeyType *key_type);
extern BloomKind BloomKindOfType(Oid type);
extern char *BloomNameInMessage(const char *name);
extern char *BloomKeyTypeName(const BloomKeyType *key_type);
extern const char *BloomCommonKey(const BloomKeyType *a, const BloomKeyType *b);
extern void BloomKeyTypeMismatch(const BloomHolder *holder,
								 const BloomKeyType *has,
								 const BloomKeyType *key_type,
								 BloomKeySource source);

#endif							/* BLOOM_KEY_TYPE_H */
