/*-------------------------------------------------------------------------
 *
 * func/counting.c
 *		The type counting_bloom: a Bloom filter from which keys can be removed.
 *
 * It has a counter of 4 bits for each position where a plain filter has a bit.
 * Adding a key adds 1 to each of its counters, removing it subtracts 1.
 * Everything else is the same: the shape, the hash, the positions, the types
 * of keys, the header, and the errors.  So it takes four times the room.
 *
 * What removal cannot promise
 * ---------------------------
 *
 * A key that is certainly absent is not removed, since one of its counters is
 * 0.  But a key that was never added, and tests as present by chance, is taken
 * for one that was; to remove it takes from the counters of others, which may
 * then be denied although they were added.  No function can know.  So a key
 * must be removed only by one who knows that it was added.
 *
 * Below this file, each knows one thing:
 *
 *		filter/counting_state.c	an aggregate's state, changed in place
 *		filter/counting_ops.c		add, remove, sum, difference, compare
 *		bits/counters.h		the arithmetic of the counters
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "func/call.h"
#include "filter/io.h"
#include "filter/counting_ops.h"

/* ----------------------------------------------------------------
 *						INPUT AND OUTPUT
 * ----------------------------------------------------------------
 */

/*
 * _counting_bloom_in
 *		Input function of type counting_bloom: base64, as for type bloom.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_in);
Datum
_counting_bloom_in(PG_FUNCTION_ARGS)
{
	return BloomFromText(fcinfo, BLOOM_COUNTING);
}

/*
 * _counting_bloom_out
 *		Output function of type counting_bloom.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_out);
Datum
_counting_bloom_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(BloomToText(PG_GETARG_BLOOM_P(0)));
}

/*
 * _counting_bloom_recv
 *		Binary input function of type counting_bloom.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_recv);
Datum
_counting_bloom_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			len = message->len - message->cursor;

	return BloomFromBytes(pq_getmsgbytes(message, len), len, BLOOM_COUNTING);
}

/*
 * _counting_bloom_send
 *		Binary output function of type counting_bloom.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_send);
Datum
_counting_bloom_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(BloomToBytea(PG_GETARG_BLOOM_P(0)));
}

/*
 * _counting_bloom_to_bytea
 *		The bytes of a filter.  (counting_bloom::bytea)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_to_bytea);
Datum
_counting_bloom_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(BloomToBytea(PG_GETARG_BLOOM_P(0)));
}

/*
 * _counting_bloom_from_bytea
 *		The filter of these bytes.  (bytea::counting_bloom)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_from_bytea);
Datum
_counting_bloom_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	return BloomFromBytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes),
						  BLOOM_COUNTING);
}

/*
 * _counting_bloom_to_bloom
 *		The plain filter of the same keys.  (counting_bloom::bloom)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_to_bloom);
Datum
_counting_bloom_to_bloom(PG_FUNCTION_ARGS)
{
	PG_RETURN_BLOOM_P(BloomCountingToPlain(PG_GETARG_BLOOM_P(0)));
}

/* ----------------------------------------------------------------
 *						ADD AND REMOVE
 * ----------------------------------------------------------------
 */

/*
 * counting_bloom_empty
 *		An empty counting filter for so many keys at such a rate.
 */
PG_FUNCTION_INFO_V1(counting_bloom_empty);
Datum
counting_bloom_empty(PG_FUNCTION_ARGS)
{
	BloomShape	shape = BloomCountingShape(PG_GETARG_FLOAT8(0),
										   PG_GETARG_FLOAT8(1),
										   PG_GETARG_INT64(2));

	PG_RETURN_BLOOM_P(BloomCountingMakeEmpty(&shape));
}

/*
 * The filter with or without one key.  Not strict: a null key changes nothing.
 */
static Datum
ChangeByKey(FunctionCallInfo fcinfo, BloomUse use)
{
	BloomHasher *hasher;
	BloomKeyType key_type;
	const Bloom *filter;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = PG_GETARG_BLOOM_P(0);
	if (PG_ARGISNULL(1))
		PG_RETURN_BLOOM_P(filter);

	hasher = &BloomGetCallSite(fcinfo, 1, false)->hasher;
	hash = BloomHashKey(hasher, PG_GETARG_DATUM(1), filter, use);
	if (use == BLOOM_TO_TEST)
		PG_RETURN_BLOOM_P(BloomCountingRemove(filter, &hash, 1));
	key_type = BloomKeyTypeWith(filter, hasher);
	PG_RETURN_BLOOM_P(BloomCountingAdd(filter, &hash, 1, &key_type));
}

/*
 * The same with the elements of an array.
 */
static Datum
ChangeByArray(FunctionCallInfo fcinfo, BloomUse use)
{
	const Bloom *filter;
	BloomArrayKeys keys;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = PG_GETARG_BLOOM_P(0);
	if (PG_ARGISNULL(1))
		PG_RETURN_BLOOM_P(filter);

	keys = BloomHashArrayArg(fcinfo, filter, use);
	if (keys.nkeys == 0)
		PG_RETURN_BLOOM_P(filter);
	if (use == BLOOM_TO_TEST)
		PG_RETURN_BLOOM_P(BloomCountingRemove(filter, keys.hashes, keys.nkeys));
	PG_RETURN_BLOOM_P(BloomCountingAdd(filter, keys.hashes, keys.nkeys,
									   &keys.key_type));
}

/*
 * counting_bloom_add
 *		The filter with one more key, or the same key once more.
 */
PG_FUNCTION_INFO_V1(counting_bloom_add);
Datum
counting_bloom_add(PG_FUNCTION_ARGS)
{
	return ChangeByKey(fcinfo, BLOOM_TO_ADD);
}

/*
 * counting_bloom_remove
 *		The filter with the key once less; unchanged, if it is certainly absent.
 */
PG_FUNCTION_INFO_V1(counting_bloom_remove);
Datum
counting_bloom_remove(PG_FUNCTION_ARGS)
{
	return ChangeByKey(fcinfo, BLOOM_TO_TEST);
}

/*
 * counting_bloom_add_all
 *		The filter with each element of an array.
 */
PG_FUNCTION_INFO_V1(counting_bloom_add_all);
Datum
counting_bloom_add_all(PG_FUNCTION_ARGS)
{
	return ChangeByArray(fcinfo, BLOOM_TO_ADD);
}

/*
 * counting_bloom_remove_all
 *		The filter without each element of an array, as often as it is there.
 */
PG_FUNCTION_INFO_V1(counting_bloom_remove_all);
Datum
counting_bloom_remove_all(PG_FUNCTION_ARGS)
{
	return ChangeByArray(fcinfo, BLOOM_TO_TEST);
}

/*
 * counting_bloom_sum
 *		The filter of the keys of both.  (counting_bloom + counting_bloom)
 */
PG_FUNCTION_INFO_V1(counting_bloom_sum);
Datum
counting_bloom_sum(PG_FUNCTION_ARGS)
{
	PG_RETURN_BLOOM_P(BloomCountingSum(PG_GETARG_BLOOM_P(0),
									   PG_GETARG_BLOOM_P(1)));
}

/*
 * counting_bloom_difference
 *		The left filter without what the right one holds.
 *		(counting_bloom - counting_bloom)
 */
PG_FUNCTION_INFO_V1(counting_bloom_difference);
Datum
counting_bloom_difference(PG_FUNCTION_ARGS)
{
	PG_RETURN_BLOOM_P(BloomCountingDifference(PG_GETARG_BLOOM_P(0),
											  PG_GETARG_BLOOM_P(1)));
}

/* ----------------------------------------------------------------
 *							MEMBERSHIP
 * ----------------------------------------------------------------
 */

/*
 * counting_bloom_contains
 *		Does the filter possibly contain the key?  (counting_bloom @> key)
 */
PG_FUNCTION_INFO_V1(counting_bloom_contains);
Datum
counting_bloom_contains(PG_FUNCTION_ARGS)
{
	return BloomTestKeyArg(fcinfo, 0, 1);
}

/*
 * _counting_bloom_contained
 *		Is the key possibly contained in the filter?  (key <@ counting_bloom)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_contained);
Datum
_counting_bloom_contained(PG_FUNCTION_ARGS)
{
	return BloomTestKeyArg(fcinfo, 1, 0);
}

/*
 * counting_bloom_count
 *		How often is the key in the filter, at most?  15 stands for any more.
 */
PG_FUNCTION_INFO_V1(counting_bloom_count);
Datum
counting_bloom_count(PG_FUNCTION_ARGS)
{
	const Bloom *filter = PG_GETARG_BLOOM_P(0);
	BloomHasher *hasher = &BloomGetCallSite(fcinfo, 1, false)->hasher;
	uint64		hash = BloomHashKey(hasher, PG_GETARG_DATUM(1), filter,
									BLOOM_TO_TEST);

	PG_RETURN_INT32(hash == 0 ? 0 : (int32) BloomCountingCount(filter, hash));
}

/* ----------------------------------------------------------------
 *							EQUALITY
 * ----------------------------------------------------------------
 */

/* An operator class's functions must not leak. */
static bool
ArgsAreEqual(FunctionCallInfo fcinfo)
{
	Bloom	   *a = unconstify(Bloom *, PG_GETARG_BLOOM_P(0));
	Bloom	   *b = unconstify(Bloom *, PG_GETARG_BLOOM_P(1));
	bool		equal = BloomCountingEquals(a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return equal;
}

/*
 * _counting_bloom_eq
 *		Same shape and same counters?  (counting_bloom = counting_bloom)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_eq);
Datum
_counting_bloom_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ArgsAreEqual(fcinfo));
}

/*
 * _counting_bloom_ne
 *		Different shape or counters?  (counting_bloom <> counting_bloom)
 */
PG_FUNCTION_INFO_V1(_counting_bloom_ne);
Datum
_counting_bloom_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!ArgsAreEqual(fcinfo));
}

/* The hash of the first argument. */
static uint64
HashArg(FunctionCallInfo fcinfo)
{
	Bloom	   *filter = unconstify(Bloom *, PG_GETARG_BLOOM_P(0));
	uint64		hash = BloomCountingHash(filter);

	PG_FREE_IF_COPY(filter, 0);
	return hash;
}

/*
 * _counting_bloom_hash
 *		Hash function of the hash operator class.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_hash);
Datum
_counting_bloom_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) HashArg(fcinfo));
}

/*
 * _counting_bloom_hash_extended
 *		The same with 64 bits and a seed; with seed 0, the low half is equal.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_hash_extended);
Datum
_counting_bloom_hash_extended(PG_FUNCTION_ARGS)
{
	uint64		seed = (uint64) PG_GETARG_INT64(1);
	uint64		hash = HashArg(fcinfo);

	if (seed != 0)
		hash = BloomHashInt64((int64) hash, seed);
	PG_RETURN_UINT64(hash);
}

/* ----------------------------------------------------------------
 *							INSPECTION
 * ----------------------------------------------------------------
 */

/*
 * counting_bloom_info
 *		All that there is to know of a counting filter, as one row.
 */
PG_FUNCTION_INFO_V1(counting_bloom_info);
Datum
counting_bloom_info(PG_FUNCTION_ARGS)
{
	const Bloom *filter = PG_GETARG_BLOOM_P(0);
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	uint64		in_use;
	uint64		full = BloomCountersFull(filter, &in_use);
	Datum		values[12];
	bool		nulls[12] = {false};

	if (key_type.id != 0)
		values[0] = CStringGetTextDatum(BloomKeyTypeName(&key_type));
	nulls[0] = key_type.id == 0;
	values[1] = Int64GetDatum((int64) BloomBits(filter));
	values[2] = Int32GetDatum(filter->hashes);
	values[3] = Int64GetDatum((int64) filter->seed);
	values[4] = Int64GetDatum((int64) filter->capacity);
	values[5] = Float8GetDatum(filter->fp_prob);
	values[6] = Int64GetDatum((int64) rint(BloomCardinality(filter)));
	values[7] = Float8GetDatum(BloomRateNow(filter));
	values[8] = Float8GetDatum(in_use / (double) Max(BloomBits(filter), 1));
	values[9] = Int64GetDatum((int64) full);
	values[10] = Int64GetDatum((int64) BloomFetchSize(PG_GETARG_DATUM(0)));
	values[11] = CStringGetTextDatum(BloomIsKeys(filter) ? "keys" : "counters");
	if (!BloomHasShape(filter))
		nulls[1] = nulls[2] = nulls[3] = nulls[4] = nulls[5] = nulls[8] = nulls[9] = true;
	return BloomReturnRow(fcinfo, values, nulls);
}
