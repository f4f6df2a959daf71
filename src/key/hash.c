/*-------------------------------------------------------------------------
 *
 * key/hash.c
 *		From a key, which is a Datum of some type, to its 64-bit hash.
 *
 * - Keys that are equal by their type's "=" have the same canonical bytes, and
 *	 others have different ones.
 *
 * - The hash is XXH3 of these bytes, with the filter's seed.  Zero is replaced
 *	 by one, so that it can mean "no hash".
 *
 * - The bytes of built-in types never change (docs/format.md): stored filters
 *	 depend on them.  The server's own hash functions make no such promise, and
 *	 some keep only 32 bits.
 *
 * - Numbers of different types are comparable, as with SQL's "=".  An integer becomes a
 *	 numeric or a float where the filter has those, and a numeric a float.  In
 *	 the other direction, a numeric can be tested but not added: if it is whole
 *	 and in range it is looked for as an integer, otherwise it is certainly
 *	 absent.
 *
 *		key/scalar.c		the bytes of a number, a text, ...
 *		key/container.c		of arrays, ranges, rows, jsonb, ...
 *		key/hasher.c		how a type is hashed, and its key type
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "bits/sort.h"
#include "key/hash.h"

/* A buffer larger than this is not kept for the next key */
#define BUFFER_TO_KEEP		65536

/* ----------------------------------------------------------------
 *							CALL SITES
 * ----------------------------------------------------------------
 */

/*
 * BloomMakeCallSite
 *		Make what a call keeps between rows, in fn_extra: a struct of this size
 *		that begins with the hasher of the keys in an argument.
 *
 * The rest of it is zero.
 */
void *
BloomMakeCallSite(FunctionCallInfo fcinfo, int argno, bool is_array, Size size)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	BloomHasher *site;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the key");
	if (is_array)
		type = get_base_element_type(type);
	site = palloc0(size);
	BloomHasherInit(site, type, PG_GET_COLLATION());
	site->source = is_array ? BLOOM_ARRAY_ARGUMENT : BLOOM_ARGUMENT;
	MemoryContextSwitchTo(oldcontext);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* ----------------------------------------------------------------
 *							BYTES
 * ----------------------------------------------------------------
 */

/*
 * BloomHashBytes
 *		Hash canonical bytes of any length.
 */
uint64
BloomHashBytes(const void *bytes, Size len, uint64 seed)
{
	return BloomHashNotZero(XXH3_64bits_withSeed(bytes, len, seed));
}

static uint64
HashAndFree(BloomBytes *bytes, uint64 seed)
{
	uint64		hash = BloomHashBytes(bytes->data, bytes->len, seed);

	BloomFreeBytes(bytes);
	return hash;
}

/*
 * BloomHashVarlena
 *		Hash the bytes of a varlena, which may be stored out of line.
 */
uint64
BloomHashVarlena(Datum key, uint64 seed)
{
	BloomBytes	bytes;

	BloomVarlenaBytes(key, &bytes);
	return HashAndFree(&bytes, seed);
}

/*
 * BloomHashText
 *		Hash a text under a deterministic collation.
 */
uint64
BloomHashText(Datum key, uint64 seed)
{
	BloomBytes	bytes;

	BloomVarlenaBytes(key, &bytes);
	BloomTextBytes(bytes.data, bytes.len, &bytes);
	return HashAndFree(&bytes, seed);
}

/*
 * BloomHashNumeric
 *		Hash a numeric.
 */
uint64
BloomHashNumeric(Datum key, uint64 seed)
{
	BloomBytes	bytes;

	BloomNumericBytes(key, &bytes);
	return HashAndFree(&bytes, seed);
}

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/* Hash a key that is made of other values. */
static uint64
HashContainer(BloomHasher *hasher, Datum key, uint64 seed)
{
	StringInfo	buffer = &hasher->buffer;
	uint64		hash;

	if (buffer->data == NULL)
	{
		MemoryContext oldcontext = MemoryContextSwitchTo(hasher->context);

		initStringInfo(buffer);
		MemoryContextSwitchTo(oldcontext);
	}
	resetStringInfo(buffer);
	BloomAppendKey(hasher, key, buffer);
	hash = BloomHashBytes(buffer->data, buffer->len, seed);
	if (buffer->maxlen > BUFFER_TO_KEEP)
	{
		pfree(buffer->data);
		buffer->data = NULL;
	}
	if (unlikely(hasher->is_stale))
		BloomRefreshKeyType(hasher);
	return hash;
}

/*
 * BloomHashOther
 *		Hash a key of any type that BloomHashDatum does not hash inline.
 */
uint64
BloomHashOther(BloomHasher *hasher, Datum key, uint64 seed)
{
	BloomBytes	bytes;

	switch (hasher->encoding)
	{
			/* the lengths of these are known to the compiler */
		case BLOOM_KEY_INT2:
			return BloomHashInt64(DatumGetInt16(key), seed);
		case BLOOM_KEY_FLOAT4:
			return BloomHashFloat64(DatumGetFloat4(key), seed);
		case BLOOM_KEY_FLOAT8:
			return BloomHashFloat64(DatumGetFloat8(key), seed);
		case BLOOM_KEY_4BYTES:
			return BloomHashInt32(DatumGetInt32(key), seed);
		case BLOOM_KEY_TEXT:
			return BloomHashText(key, seed);
		default:
			break;
	}
	if (!BloomEncodingIsScalar(hasher->encoding))
		return HashContainer(hasher, key, seed);
	BloomScalarBytes(hasher, key, &bytes);
	return HashAndFree(&bytes, seed);
}

/* ----------------------------------------------------------------
 *							NUMBERS
 * ----------------------------------------------------------------
 */

static bool
IsNumber(const BloomKeyType *key_type)
{
	return key_type->id == INT8OID || key_type->id == NUMERICOID ||
		key_type->id == FLOAT8OID;
}

/*
 * BloomNumericIsInt8
 *		Is a numeric equal to an int8?  Then it is stored.
 */
bool
BloomNumericIsInt8(Datum key, int64 *integer)
{
	Datum		least = DirectFunctionCall1(int8_numeric, Int64GetDatum(PG_INT64_MIN));
	Datum		most = DirectFunctionCall1(int8_numeric, Int64GetDatum(PG_INT64_MAX));

	/* not NaN, either */
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, key, least)) ||
		DatumGetBool(DirectFunctionCall2(numeric_gt, key, most)))
		return false;
	*integer = DatumGetInt64(DirectFunctionCall1(numeric_int8, key));
	return DatumGetBool(DirectFunctionCall2(numeric_eq, key,
											DirectFunctionCall1(int8_numeric,
																Int64GetDatum(*integer))));
}

/* Are numbers of one type comparable with those of another, to be hashed so? */
static bool
AreComparable(const BloomKeyType *key_type, const BloomKeyType *has, BloomUse use)
{
	if (!IsNumber(key_type) || !IsNumber(has))
		return false;
	return key_type->id == INT8OID ||
		(key_type->id == NUMERICOID &&
		 (has->id == FLOAT8OID || use == BLOOM_TO_FIND));
}

/* Hash a number for a filter with comparable numbers of another type. */
static uint64
HashAsOtherNumber(const BloomHasher *hasher, Datum key, Oid has, uint64 seed,
				  BloomUse use)
{
	int64		value;

	if (hasher->key_type.id == INT8OID)
	{
		value = BloomGetInteger(hasher, key);
		if (has == FLOAT8OID)
			return BloomHashFloat64((float8) value, seed);
		return BloomHashNumeric(DirectFunctionCall1(int8_numeric,
													Int64GetDatum(value)),
								seed);
	}
	if (has == FLOAT8OID)
	{
		PGFunction	convert = use == BLOOM_TO_ADD ? numeric_float8 :
		numeric_float8_no_overflow;

		return BloomHashFloat64(DatumGetFloat8(DirectFunctionCall1(convert, key)),
								seed);
	}
	return BloomNumericIsInt8(key, &value) ? BloomHashInt64(value, seed) : 0;
}

/*
 * BloomCheckHasher
 *		An error, if keys of a call site are of another type than the holder's.
 *
 * The type of a row is known only with the key.
 */
void
BloomCheckHasher(const BloomHasher *hasher, const BloomHolder *holder,
				 const BloomKeyType *has, BloomUse use)
{
	if (!hasher->key_type_varies &&
		!BloomSameKeyType(has, &hasher->key_type) &&
		!AreComparable(&hasher->key_type, has, use))
		BloomKeyTypeMismatch(holder, has, &hasher->key_type, hasher->source);
}

/*
 * BloomHashKeyAs
 *		Hash a key to add to a holder whose keys have this key type, or to test.
 *
 * An error if it is of another type, unless both are numbers, which are
 * comparable.  Zero if no key of that type is equal to this one, so that it is
 * certainly absent.
 */
uint64
BloomHashKeyAs(BloomHasher *hasher, Datum key, const BloomHolder *holder,
			   const BloomKeyType *has, uint64 seed, BloomUse use)
{
	BloomKeyType copy;
	uint64		hash;

	if (!hasher->key_type_varies && has->id != 0)
	{
		if (BloomSameKeyType(has, &hasher->key_type))
			return BloomHashDatum(hasher, key, seed);
		BloomCheckHasher(hasher, holder, has, use);
		return HashAsOtherNumber(hasher, key, has->id, seed, use);
	}
	/* the type of a row is known only afterwards; functions may run meanwhile */
	copy = BloomCopyKeyType(has);
	hash = BloomHashDatum(hasher, key, seed);
	if (copy.id != 0 && !BloomSameKeyType(&copy, &hasher->key_type))
		BloomKeyTypeMismatch(holder, &copy, &hasher->key_type, hasher->source);
	return hash;
}

/* ----------------------------------------------------------------
 *							ARRAYS OF KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomHashArray
 *		Hash the elements of an array, as keys of this key type; of that of the
 *		first element if there is none.
 *
 * An array without elements, or with nulls only, is of any type.
 */
BloomArrayKeys
BloomHashArray(BloomHasher *hasher, ArrayType *array, const BloomHolder *holder,
			   const BloomKeyType *has, uint64 seed, BloomUse use)
{
	BloomArrayKeys result = {0};
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), hasher->typlen,
					  hasher->typbyval, hasher->typalign,
					  &result.keys, &nulls, &n);
	result.element = ARR_ELEMTYPE(array);
	result.key_type = BloomCopyKeyType(has);
	result.hashes = palloc(Max(n, 1) * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
		{
			result.has_nulls = true;
			continue;
		}
		CHECK_FOR_INTERRUPTS();
		result.keys[result.nkeys] = result.keys[i];
		result.hashes[result.nkeys] =
			BloomHashKeyAs(hasher, result.keys[i], holder, &result.key_type,
						   seed, use);
		if (result.key_type.id == 0)
			result.key_type = BloomCopyKeyType(&hasher->key_type);
		result.nkeys++;
	}
	pfree(nulls);
	return result;
}

/*
 * BloomMakeKeyArray
 *		An array of keys.
 */
Datum
BloomMakeKeyArray(Oid element, Datum *keys, uint64 nkeys)
{
	TypeCacheEntry *typentry = lookup_type_cache(element, 0);

	return PointerGetDatum(construct_array(keys, (int) nkeys, element,
										   typentry->typlen,
										   typentry->typbyval,
										   typentry->typalign));
}

/*
 * BloomSortHashes
 *		Sort hashes, drop repeats, and return the number that remains.
 */
uint64
BloomSortHashes(uint64 *hashes, uint64 nhashes)
{
	uint64	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext,
												 nhashes * sizeof(uint64));
	uint64		distinct = BloomSortDistinct(hashes, scratch, nhashes, false);

	pfree(scratch);
	return distinct;
}
