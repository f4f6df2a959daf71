/*-------------------------------------------------------------------------
 *
 * key/hash.c
 *		From a key, which is a Datum of some type, to its 64-bit hash.
 *
 * A key is reduced to canonical bytes, such that keys that are equal by their
 * types' operators have the same bytes, and others have not.  These are hashed
 * by XXH3 with the filter's seed.  For built-in types we write the bytes
 * ourselves, and promise never to change them (docs/format.md): stored filters
 * depend on it.  The server's own hash functions make no such promise, and
 * some of them keep 32 bits only.
 *
 *		key/scalar.c		the bytes of a number, a text, ...
 *		key/container.c	of arrays, ranges, rows, jsonb, ...
 *		key/hasher.c			how a type is hashed, and what filters
 *								remember of it
 *
 * A hash of zero is replaced by one, so that zero can mean "no hash".
 *
 * Numbers
 * -------
 *
 * Numbers of different types meet as they do with SQL's "=": where the filter
 * has numerics or floats, an integer is taken as one of these, and so is a
 * numeric where it has floats.  In the other direction, a numeric is tested
 * against integers by its value, if it is whole and in range, and otherwise
 * is certainly not one of them.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "key/hash.h"

/* A buffer larger than this is not kept for the next key */
#define BUFFER_TO_KEEP		65536

/* ----------------------------------------------------------------
 *							CALL SITES
 * ----------------------------------------------------------------
 */

/*
 * BloomTypeTakenForText
 *		The type of a key that the parser has made a text, or InvalidOid.
 *
 * A type of an extension that has an implicit cast to text, such as citext,
 * goes to an aggregate for text keys, since that wins over one for any type.
 * But such a type can have an equality of its own, so that equal keys are
 * different texts.
 *
 * This cannot be seen any more where the planner has made a constant of the
 * key, or where the cast was printed and parsed again, as in a view.
 */
Oid
BloomTypeTakenForText(const Node *key)
{
	const Node *before = NULL;
	Oid			type;

	if (key == NULL)
		return InvalidOid;
	if (IsA(key, RelabelType) &&
		((const RelabelType *) key)->relabelformat == COERCE_IMPLICIT_CAST)
		before = (const Node *) ((const RelabelType *) key)->arg;
	else if (IsA(key, CoerceViaIO) &&
			 ((const CoerceViaIO *) key)->coerceformat == COERCE_IMPLICIT_CAST)
		before = (const Node *) ((const CoerceViaIO *) key)->arg;
	else if (IsA(key, FuncExpr) &&
			 ((const FuncExpr *) key)->funcformat == COERCE_IMPLICIT_CAST)
		before = linitial(((const FuncExpr *) key)->args);
	if (before == NULL)
		return InvalidOid;
	type = exprType(before);
	return getBaseType(type) < FirstGenbkiObjectId ? InvalidOid : type;
}

/*
 * BloomMakeCallSite
 *		What a function call keeps between the rows, in fn_extra: a struct of
 *		this size that begins with the hasher of the keys in an argument.
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
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = BloomHashBytes(VARDATA_ANY(bytes),
									  VARSIZE_ANY_EXHDR(bytes), seed);

	if ((Pointer) bytes != DatumGetPointer(key))
		pfree(bytes);
	return hash;
}

/* Is text in this database hashed as it is?  That does not change. */
static inline bool
TextIsCanonical(void)
{
	static enum {UNKNOWN, YES, NO} known = UNKNOWN;

	if (unlikely(known == UNKNOWN))
		known = BloomTextNeedsConversion() ? NO : YES;
	return known == YES;
}

/*
 * BloomHashText
 *		Hash a text under a deterministic collation.
 */
uint64
BloomHashText(Datum key, uint64 seed)
{
	BloomBytes	bytes;

	if (likely(TextIsCanonical()))
		return BloomHashVarlena(key, seed);
	bytes.copy = NULL;
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

	bytes.copy = NULL;
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
 *		Hash a key of any type.
 */
uint64
BloomHashOther(BloomHasher *hasher, Datum key, uint64 seed)
{
	BloomBytes	bytes;

	switch (hasher->kind)
	{
			/* the lengths of these are known to the compiler */
		case BLOOM_KEY_INT2:
			return BloomHashInt64(DatumGetInt16(key), seed);
		case BLOOM_KEY_INT4:
			return BloomHashInt64(DatumGetInt32(key), seed);
		case BLOOM_KEY_INT8:
			return BloomHashInt64(DatumGetInt64(key), seed);
		case BLOOM_KEY_FLOAT4:
			return BloomHashFloat64(DatumGetFloat4(key), seed);
		case BLOOM_KEY_FLOAT8:
			return BloomHashFloat64(DatumGetFloat8(key), seed);
		case BLOOM_KEY_4BYTES:
			return BloomHashInt32(DatumGetInt32(key), seed);
		case BLOOM_KEY_UUID:
			return BloomHashUuid(DatumGetPointer(key), seed);
		case BLOOM_KEY_TEXT:
			return BloomHashText(key, seed);
		case BLOOM_KEY_BYTEA:
			return BloomHashVarlena(key, seed);
		default:
			break;
	}
	if (!BloomKindIsScalar(hasher->kind))
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

static int64
IntegerOf(const BloomHasher *hasher, Datum key)
{
	switch (hasher->kind)
	{
		case BLOOM_KEY_INT2:
			return DatumGetInt16(key);
		case BLOOM_KEY_INT4:
			return DatumGetInt32(key);
		default:
			return DatumGetInt64(key);
	}
}

/*
 * Is the numeric of these canonical bytes an int8?  Then it is stored.
 */
static bool
NumericIsInteger(const BloomBytes *bytes, int64 *integer)
{
	int			ndigits = (int) bytes->len / 2 - 2;
	int			weight = (int16) BloomGet16(bytes->data);
	uint16		sign = BloomGet16(bytes->data + 2);
	int64		value = 0;

	if (sign > BLOOM_NUMERIC_NEGATIVE || ndigits > weight + 1)
		return false;
	for (int i = 0; i <= weight; i++)
	{
		int			digit = i < ndigits ? BloomGet16(bytes->data + 4 + 2 * i) : 0;

		/* negative numbers reach further */
		if (pg_mul_s64_overflow(value, 10000, &value) ||
			pg_sub_s64_overflow(value, digit, &value))
			return false;
	}
	if (sign == BLOOM_NUMERIC_NEGATIVE)
		*integer = value;
	else if (value == PG_INT64_MIN)
		return false;
	else
		*integer = -value;
	return true;
}

/*
 * Hash a number for a filter with numbers of another type.  False, if these
 * do not meet.
 */
static bool
HashAsOtherNumber(const BloomHasher *hasher, Datum key, Oid has, uint64 seed,
				  BloomUse use, uint64 *hash)
{
	if (hasher->key_type.id == INT8OID)
	{
		int64		value = IntegerOf(hasher, key);

		if (has == FLOAT8OID)
			*hash = BloomHashFloat64((float8) value, seed);
		else
			*hash = BloomHashNumeric(DirectFunctionCall1(int8_numeric,
														 Int64GetDatum(value)),
									 seed);
		return true;
	}
	if (hasher->key_type.id == NUMERICOID && has == FLOAT8OID)
	{
		PGFunction	convert = use == BLOOM_TO_ADD ? numeric_float8 :
			numeric_float8_no_overflow;

		*hash = BloomHashFloat64(DatumGetFloat8(DirectFunctionCall1(convert, key)),
								 seed);
		return true;
	}
	if (hasher->key_type.id == NUMERICOID && use == BLOOM_TO_TEST)
	{
		BloomBytes	bytes;
		int64		value = 0;

		bytes.copy = NULL;
		BloomNumericBytes(key, &bytes);
		*hash = NumericIsInteger(&bytes, &value) ?
			BloomHashInt64(value, seed) : 0;
		BloomFreeBytes(&bytes);
		return true;
	}
	return false;
}

/*
 * BloomHashKeyAs
 *		What BloomHashKey does, for keys that are to have this key type.
 */
uint64
BloomHashKeyAs(BloomHasher *hasher, Datum key, BloomHolder holder,
			   const BloomKeyType *has, uint64 seed, BloomUse use)
{
	uint64		hash = 0;

	/* the type of a row is not known before */
	if (hasher->has_rows || has->id == 0)
	{
		hash = BloomHashDatum(hasher, key, seed);
		if (has->id == 0 || BloomSameKeyType(has, &hasher->key_type))
			return hash;
	}
	else if (BloomSameKeyType(has, &hasher->key_type))
		return BloomHashDatum(hasher, key, seed);
	else if (IsNumber(has) && IsNumber(&hasher->key_type) &&
			 HashAsOtherNumber(hasher, key, has->id, seed, use, &hash))
		return hash;
	BloomKeyTypeMismatch(holder, has, &hasher->key_type);
	return hash;
}

/* ----------------------------------------------------------------
 *							ARRAYS OF KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomHashArray
 *		Hash the elements of an array, to be keys of this key type, or of one
 *		that they bring.
 *
 * An array without elements that count is of any type.
 */
BloomArrayKeys
BloomHashArray(BloomHasher *hasher, ArrayType *array, BloomHolder holder,
			   const BloomKeyType *has, uint64 seed, BloomUse use)
{
	BloomArrayKeys result = {0};
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), hasher->typlen,
					  hasher->typbyval, hasher->typalign,
					  &result.keys, &nulls, &n);
	result.element = ARR_ELEMTYPE(array);
	result.key_type = *has;
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
