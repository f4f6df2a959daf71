/*-------------------------------------------------------------------------
 *
 * bloomtype.c
 *		Bloom filters as PostgreSQL values.
 *
 * What a filter is
 * ----------------
 *
 * A Bloom filter is a set of keys that answers "is this key in it?" with
 * "certainly not" or "probably".  It is an array of m bits, of which each key
 * sets k, at positions that are computed from the key's hash.  A key that was
 * added finds all of its bits set; a key that was not finds them so with a
 * probability that depends on how full the array is.  Ten bits per key give
 * one such false positive in a hundred tests, however long the keys are.
 *
 * A counting filter (type counting_bloom) has a counter of 4 bits in place of
 * each bit: adding a key adds 1 to each of its counters, removing it subtracts
 * 1.  All else is the same, at four times the size.
 *
 * XXX: a key that was never added, but tests as present, can be "removed".
 * That subtracts from the counters of other keys, which the filter may then
 * deny.  No function can notice: the caller must know that the key was added.
 *
 * From SQL to bits
 * ----------------
 *
 * This file has the SQL-callable functions of the types bloom and
 * counting_bloom, and nothing that they share.  Where both types have a
 * function, one C function serves both, by the filter that it is given.  The
 * rest lies in the folder of what it knows; a file includes files of its own
 * folder and of those below it, and no others:
 *
 *		src/func	what SQL calls beside this file: aggregates, shards, hashes
 *		src/seen	bloom_seen: a window function, and the plan node that it has
 *		src/plan	what the planner asks of filter @> key, and ANALYZE
 *		src/filter	the value: format, text and binary form, type modifier,
 *					filters as sets, states, from a TOASTed Datum to the filter
 *		src/key		from a Datum to 64 bits; nothing of filters
 *		src/bits	positions, counters, the bytes of a filter, sizes, sorting;
 *					nothing of a server
 *
 * All of this is one library, which writes to no table.
 *
 * Three products
 * --------------
 *
 * Two other libraries stand on this one, each with a README, SQL scripts and
 * tests of its own; nothing here knows of them.
 *
 *		set/		bloomtype_set.so: sets of keys in tables, and (set/unique)
 *					keys unique across partitions.  It has a copy of src/key
 *					and src/bits, and calls src/filter by a struct of functions.
 *		scan/		bloomtype_scan.so: scans that drop rows early, a preview.
 *					It calls src/filter by a struct of functions, too.
 *
 * Names
 * -----
 *
 * A snake_case function is SQL-callable and has the name that it has in SQL;
 * a CamelCase one is for C.  The server itself exports functions with names
 * like bloom_create, and on some platforms a call between our files would
 * reach those instead of ours.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "bits/bits.h"
#include "filter/fetch.h"
#include "filter/format.h"
#include "filter/setops.h"
#include "filter/call.h"
#include "filter/typmod.h"
#include "seen/node.h"
#include "key/hash.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomtype",.version = "1.0.0-rc3");
#else
PG_MODULE_MAGIC;
#endif

/* ----------------------------------------------------------------
 *						INPUT AND OUTPUT
 * ----------------------------------------------------------------
 */

/*
 * _bloom_in, _counting_bloom_in
 *		Input functions: base64 of the bytes of docs/format.md.
 */
PG_FUNCTION_INFO_V1(_bloom_in);
Datum
_bloom_in(PG_FUNCTION_ARGS)
{
	return BloomReturnInput(fcinfo, BloomFromText(fcinfo, BLOOM_PLAIN));
}

PG_FUNCTION_INFO_V1(_counting_bloom_in);
Datum
_counting_bloom_in(PG_FUNCTION_ARGS)
{
	return BloomReturnInput(fcinfo, BloomFromText(fcinfo, BLOOM_COUNTING));
}

/*
 * _bloom_out
 *		Output function.
 */
PG_FUNCTION_INFO_V1(_bloom_out);
Datum
_bloom_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(BloomToText(PG_GETARG_DATUM(0)));
}

/* The filter of a message. */
static Datum
ReceiveFilter(FunctionCallInfo fcinfo, BloomKind kind)
{
	Datum		bytes = DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0));

	return BloomReturnInput(fcinfo, BloomFromBytes(bytes, kind));
}

/*
 * _bloom_recv, _counting_bloom_recv
 *		Binary input functions.
 */
PG_FUNCTION_INFO_V1(_bloom_recv);
Datum
_bloom_recv(PG_FUNCTION_ARGS)
{
	return ReceiveFilter(fcinfo, BLOOM_PLAIN);
}

PG_FUNCTION_INFO_V1(_counting_bloom_recv);
Datum
_counting_bloom_recv(PG_FUNCTION_ARGS)
{
	return ReceiveFilter(fcinfo, BLOOM_COUNTING);
}

/*
 * _bloom_send
 *		Binary output function.
 */
PG_FUNCTION_INFO_V1(_bloom_send);
Datum
_bloom_send(PG_FUNCTION_ARGS)
{
	/* a copy, since array_send frees it */
	PG_RETURN_BYTEA_P(BloomToBytea(PG_GETARG_DATUM(0), true));
}

/*
 * _bloom_to_bytea
 *		The bytes of a filter.  (bloom::bytea)
 */
PG_FUNCTION_INFO_V1(_bloom_to_bytea);
Datum
_bloom_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(BloomToBytea(PG_GETARG_DATUM(0), false));
}

/*
 * The filter of the bytes in argument 0: the same memory, where they are stored
 * as they are sent, and aligned, which a bytea in a row need not be.
 */
static Datum
FromBytea(FunctionCallInfo fcinfo, BloomKind kind)
{
	bytea	   *bytes = PG_GETARG_BYTEA_P(0);

	if (!BLOOM_STORED_AS_SENT || (bytea *) MAXALIGN(bytes) != bytes)
		bytes = PG_GETARG_BYTEA_P_COPY(0);
	return BloomFromBytes(PointerGetDatum(bytes), kind);
}

/*
 * _bloom_from_bytea, _counting_bloom_from_bytea
 *		The filter of these bytes.  (bytea::bloom)
 */
PG_FUNCTION_INFO_V1(_bloom_from_bytea);
Datum
_bloom_from_bytea(PG_FUNCTION_ARGS)
{
	return FromBytea(fcinfo, BLOOM_PLAIN);
}

PG_FUNCTION_INFO_V1(_counting_bloom_from_bytea);
Datum
_counting_bloom_from_bytea(PG_FUNCTION_ARGS)
{
	return FromBytea(fcinfo, BLOOM_COUNTING);
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
 *							SIZING
 * ----------------------------------------------------------------
 */

/*
 * best_params
 *		The least bits per key that reach a rate, and the least hashes.
 */
PG_FUNCTION_INFO_V1(best_params);
Datum
best_params(PG_FUNCTION_ARGS)
{
	BloomParams params = BloomParamsFor(PG_GETARG_FLOAT8(0), false);
	Datum		values[3];
	bool		nulls[3] = {false};

	values[0] = Int32GetDatum(params.hashes);
	values[1] = Int32GetDatum(params.bits_per_key);
	values[2] = Float8GetDatum(params.fp_prob);
	return BloomReturnRow(fcinfo, values, nulls);
}

/*
 * bloom_params
 *		The shape of the filter that bloom_empty builds.
 */
PG_FUNCTION_INFO_V1(bloom_params);
Datum
bloom_params(PG_FUNCTION_ARGS)
{
	BloomShape	shape = BloomShapeForCapacity(PG_GETARG_FLOAT8(0),
											  PG_GETARG_FLOAT8(1), 0);
	Datum		values[4];
	bool		nulls[4] = {false};

	values[0] = Int64GetDatum((int64) shape.bits);
	values[1] = Int32GetDatum(shape.hashes);
	values[2] = Int64GetDatum((int64) (BLOOM_HEADER_SIZE + shape.bits / 8));
	values[3] = Float8GetDatum(BloomRate(shape.bits / (double) shape.capacity,
										 shape.hashes));
	return BloomReturnRow(fcinfo, values, nulls);
}

/*
 * bloom_fp_prob
 *		The false-positive rate of bits per key and hashes, at capacity.
 */
PG_FUNCTION_INFO_V1(bloom_fp_prob);
Datum
bloom_fp_prob(PG_FUNCTION_ARGS)
{
	float8		bits_per_key = PG_GETARG_FLOAT8(0);
	int32		hashes = PG_GETARG_INT32(1);

	if (!(bits_per_key > 0) || isinf(bits_per_key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits_per_key %g is out of range", bits_per_key),
				 errdetail("bits_per_key must be a finite number greater than 0.")));
	BloomCheckHashes(hashes);
	PG_RETURN_FLOAT8(BloomRate(bits_per_key, hashes));
}

/* ----------------------------------------------------------------
 *							CONSTRUCTION
 * ----------------------------------------------------------------
 */

/*
 * An empty filter, of an explicit shape or for a capacity.  Argument 3 is the
 * type of its keys, or null: then the first key determines it.
 */
static Datum
MakeEmpty(FunctionCallInfo fcinfo, BloomKind kind, bool is_explicit)
{
	BloomKeyType key_type;
	BloomShape	shape;

	/* not STRICT; only the key type may be null */
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (is_explicit)
		shape = BloomShapeExplicit(PG_GETARG_INT64(0), PG_GETARG_INT32(1),
								   PG_GETARG_INT64(2));
	else
		shape = BloomShapeFor(kind, PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1),
							  PG_GETARG_INT64(2));
	if (PG_ARGISNULL(3))
		PG_RETURN_BLOOM_P(BloomMake(&shape, NULL, kind | BLOOM_KEYS, 0));
	key_type = BloomKeyTypeOfSqlType(PG_GETARG_OID(3));
	PG_RETURN_BLOOM_P(BloomMake(&shape, &key_type, kind | BLOOM_KEYS, 0));
}

/*
 * bloom_empty
 *		An empty filter for capacity keys at fp_prob.
 */
PG_FUNCTION_INFO_V1(bloom_empty);
Datum
bloom_empty(PG_FUNCTION_ARGS)
{
	return MakeEmpty(fcinfo, BLOOM_PLAIN, false);
}

/*
 * bloom_empty_shaped
 *		An empty filter of an explicit shape.
 */
PG_FUNCTION_INFO_V1(bloom_empty_shaped);
Datum
bloom_empty_shaped(PG_FUNCTION_ARGS)
{
	return MakeEmpty(fcinfo, BLOOM_PLAIN, true);
}

/*
 * counting_bloom_empty
 *		An empty counting filter, of the shape that bloom_empty makes.
 */
PG_FUNCTION_INFO_V1(counting_bloom_empty);
Datum
counting_bloom_empty(PG_FUNCTION_ARGS)
{
	return MakeEmpty(fcinfo, BLOOM_COUNTING, false);
}

/* ----------------------------------------------------------------
 *						ADD AND REMOVE
 * ----------------------------------------------------------------
 */

/*
 * The filter with the key in argument 1, or with the elements of that array;
 * without them, if they are for a test.
 */
static Datum
ChangeFilter(FunctionCallInfo fcinfo, bool is_array, BloomUse use)
{
	BloomCallSite *site;
	const Bloom *filter;
	BloomArrayKeys keys = {0};
	BloomKeyList list = {0};
	uint64		hash;

	/* not STRICT; a null key or array leaves the filter as it is */
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = PG_GETARG_BLOOM_P(0);
	if (PG_ARGISNULL(1))
		PG_RETURN_BLOOM_P(filter);

	site = BloomGetCallSite(fcinfo, 1, is_array);
	if (is_array)
		keys = BloomHashArrayFor(site, PG_GETARG_ARRAYTYPE_P(1), filter, use);
	else
	{
		hash = BloomHashKey(&site->hasher, PG_GETARG_DATUM(1), filter, use);
		keys.hashes = &hash;
		keys.nkeys = 1;
		keys.key_type = filter->key_type != 0 ? BloomKeyTypeOf(filter) :
			site->hasher.key_type;
	}

	if (keys.nkeys == 0)
		PG_RETURN_BLOOM_P(filter);
	if (use == BLOOM_TO_FIND)
		PG_RETURN_BLOOM_P(BloomCountingRemove(filter, keys.hashes, keys.nkeys));
	if (BloomIsCounting(filter))
		list = BloomCountHashes(keys.hashes, keys.nkeys);
	else
	{
		list.hashes = keys.hashes;
		list.nkeys = keys.nkeys == 1 ? 1 :
			BloomSortHashes(keys.hashes, keys.nkeys);
	}
	return BloomReturnAdded(&site->has_warned,
							BloomAddKeys(filter, list, &keys.key_type));
}

/*
 * bloom_add
 *		The filter with one more key; a counting filter counts it once more.
 */
PG_FUNCTION_INFO_V1(bloom_add);
Datum
bloom_add(PG_FUNCTION_ARGS)
{
	return ChangeFilter(fcinfo, false, BLOOM_TO_ADD);
}

/*
 * bloom_add_all
 *		The filter with all elements of an array.
 */
PG_FUNCTION_INFO_V1(bloom_add_all);
Datum
bloom_add_all(PG_FUNCTION_ARGS)
{
	return ChangeFilter(fcinfo, true, BLOOM_TO_ADD);
}

/*
 * counting_bloom_remove
 *		The filter with the key once less; unchanged if it is certainly absent.
 */
PG_FUNCTION_INFO_V1(counting_bloom_remove);
Datum
counting_bloom_remove(PG_FUNCTION_ARGS)
{
	return ChangeFilter(fcinfo, false, BLOOM_TO_FIND);
}

/*
 * counting_bloom_remove_all
 *		The filter without each element of an array, as often as it is there.
 */
PG_FUNCTION_INFO_V1(counting_bloom_remove_all);
Datum
counting_bloom_remove_all(PG_FUNCTION_ARGS)
{
	return ChangeFilter(fcinfo, true, BLOOM_TO_FIND);
}

/* ----------------------------------------------------------------
 *							MEMBERSHIP
 * ----------------------------------------------------------------
 */

/*
 * bloom_contains
 *		Does the filter possibly contain the key?  (bloom @> key)
 *
 * False means that the key was certainly never added.  True may be a false
 * positive, at about the rate that the filter was sized for.
 */
PG_FUNCTION_INFO_V1(bloom_contains);
Datum
bloom_contains(PG_FUNCTION_ARGS)
{
	return BloomTestKeyArg(fcinfo, 0, 1);
}

/*
 * _bloom_contained
 *		Is the key possibly contained in the filter?  (key <@ bloom)
 */
PG_FUNCTION_INFO_V1(_bloom_contained);
Datum
_bloom_contained(PG_FUNCTION_ARGS)
{
	return BloomTestKeyArg(fcinfo, 1, 0);
}

/* The library is loaded: note by what our types and operators are recognized. */
void
_PG_init(void)
{
	BloomInput = _bloom_in;
	BloomCountingInput = _counting_bloom_in;
	BloomSeenScanInit();
	BloomGiveBatches(bloom_contains, _bloom_contained);
	BloomGiveBuilds();
}

/*
 * Make the filter in argument 0 ready to be probed for the keys in the array in
 * argument 1, which are the result.
 */
static BloomArrayKeys
BeginArrayProbe(FunctionCallInfo fcinfo, BloomProbe *probe)
{
	BloomCallSite *site = BloomGetCallSite(fcinfo, 1, true);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);	/* detoasted once */
	BloomArrayKeys keys;

	BloomProbeOpen(probe, PG_GETARG_DATUM(0),
				   ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)),
				   &site->probes, fcinfo->flinfo->fn_mcxt);
	keys = BloomHashArrayFor(site, array, probe->header, BLOOM_TO_FIND);
	BloomProbeBegin(probe);
	return keys;
}

/*
 * Test the elements of an array until one decides the answer.
 *
 * Null elements count as in ALL and ANY: if no other element decides, the
 * result is null.
 */
static Datum
TestElements(FunctionCallInfo fcinfo, bool decisive)
{
	BloomProbe	probe;
	BloomArrayKeys keys = BeginArrayProbe(fcinfo, &probe);
	uint64		most = 1;		/* in the next batch: the first key may decide */
	int			n;

	for (uint64 i = 0; i < keys.nkeys; i += n)
	{
		uint16		found[BLOOM_BATCH];
		int			nfound;

		CHECK_FOR_INTERRUPTS();
		n = (int) Min(keys.nkeys - i, most);
		most = Min(most * 16, BLOOM_BATCH);
		nfound = BloomProbeTestBatch(&probe, &keys.hashes[i], n, found);
		if (decisive ? nfound > 0 : nfound < n)
			PG_RETURN_BOOL(decisive);
	}
	if (keys.has_nulls)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(!decisive);
}

/*
 * bloom_contains_all
 *		Is every element of the array possibly contained?
 */
PG_FUNCTION_INFO_V1(bloom_contains_all);
Datum
bloom_contains_all(PG_FUNCTION_ARGS)
{
	return TestElements(fcinfo, false);
}

/*
 * bloom_contains_any
 *		Is some element of the array possibly contained?
 */
PG_FUNCTION_INFO_V1(bloom_contains_any);
Datum
bloom_contains_any(PG_FUNCTION_ARGS)
{
	return TestElements(fcinfo, true);
}

/*
 * bloom_missing
 *		The elements of the array that are certainly not contained.
 */
PG_FUNCTION_INFO_V1(bloom_missing);
Datum
bloom_missing(PG_FUNCTION_ARGS)
{
	BloomProbe	probe;
	BloomArrayKeys keys = BeginArrayProbe(fcinfo, &probe);
	uint64		nmissing = 0;
	int			n;

	for (uint64 i = 0; i < keys.nkeys; i += n)
	{
		uint16		found[BLOOM_BATCH];
		int			nfound;
		int			next = 0;

		CHECK_FOR_INTERRUPTS();
		n = (int) Min(keys.nkeys - i, BLOOM_BATCH);
		nfound = BloomProbeTestBatch(&probe, &keys.hashes[i], n, found);
		for (int j = 0; j < n; j++)
		{
			if (next < nfound && found[next] == j)
				next++;
			else
				keys.keys[nmissing++] = keys.keys[i + j];
		}
	}
	PG_RETURN_DATUM(BloomMakeKeyArray(keys.element, keys.keys, nmissing));
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
									BLOOM_TO_FIND);

	PG_RETURN_INT32(hash == 0 ? 0 : (int32) BloomCountOfKey(filter, hash));
}

/* ----------------------------------------------------------------
 *							SET OPERATIONS
 * ----------------------------------------------------------------
 */

/*
 * bloom_superset
 *		Is all of the right filter in the left one?
 */
PG_FUNCTION_INFO_V1(bloom_superset);
Datum
bloom_superset(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(BloomContainsFilter(PG_GETARG_BLOOM_P(0),
									   PG_GETARG_BLOOM_P(1)));
}

/*
 * bloom_union
 *		The filter of the keys of both.  (bloom | bloom)
 */
PG_FUNCTION_INFO_V1(bloom_union);
Datum
bloom_union(PG_FUNCTION_ARGS)
{
	return BloomReturnUnion(fcinfo);
}

/*
 * bloom_intersect
 *		A filter of the keys that are in both.  (bloom & bloom)
 */
PG_FUNCTION_INFO_V1(bloom_intersect);
Datum
bloom_intersect(PG_FUNCTION_ARGS)
{
	PG_RETURN_BLOOM_P(BloomIntersect(PG_GETARG_BLOOM_P(0),
									 PG_GETARG_BLOOM_P(1)));
}

/*
 * bloom_fit
 *		The filter with no more bits than its keys need.
 */
PG_FUNCTION_INFO_V1(bloom_fit);
Datum
bloom_fit(PG_FUNCTION_ARGS)
{
	PG_RETURN_BLOOM_P(BloomFit(PG_GETARG_BLOOM_P(0), PG_GETARG_FLOAT8(1)));
}

/*
 * counting_bloom_sum
 *		The filter of the keys of both.  (counting_bloom + counting_bloom)
 */
PG_FUNCTION_INFO_V1(counting_bloom_sum);
Datum
counting_bloom_sum(PG_FUNCTION_ARGS)
{
	return BloomReturnUnion(fcinfo);
}

/* ----------------------------------------------------------------
 *							EQUALITY
 *
 * Of the bytes, header included, for both types: equal filters answer alike in
 * every function.  An operator class's functions must not leak.
 * ----------------------------------------------------------------
 */

/*
 * _bloom_eq
 *		Are both filters the same?  (bloom = bloom)
 *
 * It compares bytes, and so does not ask what they are: ANALYZE, which must not
 * fail, compares whatever a table has.
 */
PG_FUNCTION_INFO_V1(_bloom_eq);
Datum
_bloom_eq(PG_FUNCTION_ARGS)
{
	struct varlena *a = PG_GETARG_VARLENA_P(0);
	struct varlena *b = PG_GETARG_VARLENA_P(1);
	bool		equal = VARSIZE(a) == VARSIZE(b) &&
	memcmp(a, b, VARSIZE(a)) == 0;

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	PG_RETURN_BOOL(equal);
}

/*
 * _bloom_ne
 *		Are the filters different?  (bloom <> bloom)
 */
PG_FUNCTION_INFO_V1(_bloom_ne);
Datum
_bloom_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!DatumGetBool(_bloom_eq(fcinfo)));
}

/*
 * The hash of the first argument: XXH3, whose values never change, of the bytes
 * behind the varlena header, as they are on a machine of this byte order.
 */
static uint64
HashOfArg(FunctionCallInfo fcinfo, uint64 seed)
{
	struct varlena *filter = PG_GETARG_VARLENA_P(0);
	uint64		hash = BloomHashBytes(VARDATA(filter),
									  VARSIZE(filter) - VARHDRSZ, seed);

	PG_FREE_IF_COPY(filter, 0);
	return hash;
}

/*
 * _bloom_hash
 *		Hash function of the hash operator class.
 */
PG_FUNCTION_INFO_V1(_bloom_hash);
Datum
_bloom_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) HashOfArg(fcinfo, 0));
}

/*
 * _bloom_hash_extended
 *		The same with 64 bits and a seed; with seed 0, the low half is equal.
 */
PG_FUNCTION_INFO_V1(_bloom_hash_extended);
Datum
_bloom_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT64(HashOfArg(fcinfo, (uint64) PG_GETARG_INT64(1)));
}

/* ----------------------------------------------------------------
 *							INSPECTION
 * ----------------------------------------------------------------
 */

/*
 * bloom_cardinality
 *		About how many distinct keys does the filter hold?
 */
PG_FUNCTION_INFO_V1(bloom_cardinality);
Datum
bloom_cardinality(PG_FUNCTION_ARGS)
{
	const Bloom *header = BloomFetchHeader(PG_GETARG_DATUM(0));

	PG_RETURN_INT64((int64) rint(BloomCardinality(header)));
}

/*
 * bloom_intersect_cardinality
 *		About how many distinct keys are in both filters?
 *
 * By inclusion and exclusion.  Each estimate has its own error, so that the
 * difference is kept where it can be.
 */
PG_FUNCTION_INFO_V1(bloom_intersect_cardinality);
Datum
bloom_intersect_cardinality(PG_FUNCTION_ARGS)
{
	const Bloom *a = PG_GETARG_BLOOM_P(0);
	const Bloom *b = PG_GETARG_BLOOM_P(1);
	double		in_a = BloomCardinality(a);
	double		in_b = BloomCardinality(b);
	double		in_both = in_a + in_b - BloomUnionCardinality(a, b);

	PG_RETURN_INT64((int64) rint(Max(0, Min(in_both, Min(in_a, in_b)))));
}

/*
 * bloom_fp_prob_now
 *		The false-positive rate that the filter has now.
 */
PG_FUNCTION_INFO_V1(bloom_fp_prob_now);
Datum
bloom_fp_prob_now(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(BloomRateNow(BloomFetchHeader(PG_GETARG_DATUM(0))));
}

/*
 * bloom_is_overfull
 *		Does the filter hold more keys than it is sized for?  As the WARNING.
 */
PG_FUNCTION_INFO_V1(bloom_is_overfull);
Datum
bloom_is_overfull(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(BloomIsOverfull(BloomFetchHeader(PG_GETARG_DATUM(0))));
}

/*
 * bloom_info, counting_bloom_info
 *		All that there is to know of a filter, as one row.
 *
 * Of a counting filter, the bits are counters, and there is one more column, for
 * which all of it is read.
 */
PG_FUNCTION_INFO_V1(bloom_info);
Datum
bloom_info(PG_FUNCTION_ARGS)
{
	const Bloom *filter = BloomFetchHeader(PG_GETARG_DATUM(0));
	bool		is_counting = BloomIsCounting(filter);
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	Datum		values[12] = {0};
	bool		nulls[12] = {false};
	int			n = 9;

	nulls[0] = key_type.id == 0;
	if (!nulls[0])
		values[0] = CStringGetTextDatum(BloomKeyTypeName(&key_type));
	values[6] = Int64GetDatum((int64) rint(BloomCardinality(filter)));
	values[7] = Float8GetDatum(BloomRateNow(filter));
	if (BloomHasShape(filter))
	{
		values[1] = Int64GetDatum((int64) BloomBits(filter));
		values[2] = Int32GetDatum(filter->hashes);
		values[3] = Int64GetDatum((int64) filter->seed);
		values[4] = Int64GetDatum((int64) filter->capacity);
		values[5] = Float8GetDatum(filter->fp_prob);
		values[8] = Float8GetDatum(BloomFill(filter));
	}
	else
		nulls[1] = nulls[2] = nulls[3] = nulls[4] = nulls[5] = nulls[8] = true;
	if (is_counting)
	{
		nulls[n] = !BloomHasShape(filter);
		values[n++] = Int64GetDatum((int64) BloomCountersFull(PG_GETARG_BLOOM_P(0)));
	}
	values[n++] = Int64GetDatum((int64) toast_raw_datum_size(PG_GETARG_DATUM(0)));
	values[n++] = CStringGetTextDatum(BloomIsKeys(filter) ? "keys" :
									  BloomUnit(BloomKindOf(filter)));
	return BloomReturnRow(fcinfo, values, nulls);
}

/* A whole number with commas; an estimate with three digits that count. */
static char *
ReadableNumber(int64 number, bool estimated)
{
	text	   *format = cstring_to_text("FM9,999,999,999,999,999,999,990");

	if (estimated && number >= 1000)
	{
		double		unit = pow(10, floor(log10(number)) - 2);

		number = (int64) (rint(number / unit) * unit);
	}
	return TextDatumGetCString(DirectFunctionCall2(int8_to_char,
												   Int64GetDatum(number),
												   PointerGetDatum(format)));
}

/*
 * bloom_summary
 *		The facts that matter of a filter, in one line.
 */
PG_FUNCTION_INFO_V1(bloom_summary);
Datum
bloom_summary(PG_FUNCTION_ARGS)
{
	const Bloom *filter = BloomFetchHeader(PG_GETARG_DATUM(0));
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	bool		estimated = !BloomIsKeys(filter);
	Datum		size = Int64GetDatum((int64) toast_raw_datum_size(PG_GETARG_DATUM(0)));
	StringInfoData line;

	initStringInfo(&line);
	if (key_type.id == 0)
		appendStringInfoString(&line, "no keys");
	else
		appendStringInfo(&line, "%s keys, %s%s", BloomKeyTypeName(&key_type),
						 estimated ? "about " : "",
						 ReadableNumber((int64) rint(BloomCardinality(filter)),
										estimated));

	if (!BloomHasShape(filter))
		appendStringInfoString(&line, " and no shape");
	else
	{
		appendStringInfo(&line, "%s %s",
						 key_type.id == 0 ? ", room for" : " of",
						 ReadableNumber((int64) filter->capacity, false));
		if (BloomIsOverfull(filter))
			appendStringInfo(&line, " at %.3g %%, not %.3g %%",
							 BloomRateNow(filter) * 100, filter->fp_prob * 100);
		else
			appendStringInfo(&line, " at %.3g %%", filter->fp_prob * 100);
	}
	appendStringInfo(&line, ", %s",
					 TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
															 size)));
	PG_RETURN_TEXT_P(cstring_to_text(line.data));
}
