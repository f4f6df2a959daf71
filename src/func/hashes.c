/*-------------------------------------------------------------------------
 *
 * func/hashes.c
 *		Keys as hashes: the step between a key and its bits, in SQL.
 *
 * For programs that read and write filters themselves, and for keys that are
 * not to leave where they are: only their hashes do.  A hash is an unsigned
 * number of 64 bits, and a bigint has the same bits.
 *
 * A hash does not show what was hashed.  So hashes of keys of another type are
 * no error.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "bits/bits.h"
#include "filter/fetch.h"
#include "filter/call.h"
#include "key/hash.h"

/* A hash of a bigint; XXH3 may give 0, which stands for 1. */
static inline uint64
GetHash(Datum hash)
{
	return BloomHashNotZero((uint64) DatumGetInt64(hash));
}

/*
 * bloom_hash
 *		The hash of a key, as a filter of keys of its type has it.
 */
PG_FUNCTION_INFO_V1(bloom_hash);
Datum
bloom_hash(PG_FUNCTION_ARGS)
{
	BloomHasher *hasher = fcinfo->flinfo->fn_extra;

	if (unlikely(hasher == NULL))
		hasher = BloomMakeCallSite(fcinfo, 0, false, sizeof(BloomHasher));
	PG_RETURN_INT64((int64) BloomHashDatum(hasher, PG_GETARG_DATUM(0),
										   (uint64) PG_GETARG_INT64(1)));
}

/*
 * bloom_positions
 *		The bits that a key sets in a filter, in the order of its hashes.
 */
PG_FUNCTION_INFO_V1(bloom_positions);
Datum
bloom_positions(PG_FUNCTION_ARGS)
{
	const Bloom *filter = BloomFetchHeader(PG_GETARG_DATUM(0));
	BloomHasher *hasher = &BloomGetCallSite(fcinfo, 1, false)->hasher;
	uint64		hash = BloomHashKey(hasher, PG_GETARG_DATUM(1), filter,
									BLOOM_TO_FIND);
	Datum		positions[BLOOM_MAX_HASHES];
	int			npositions = hash == 0 ? 0 : filter->hashes;

	for (int i = 0; i < npositions; i++)
	{
		uint64		position = BloomNextPosition(&hash, BloomBits(filter));

		positions[i] = Int64GetDatum((int64) position);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(positions, npositions, INT8OID,
										  sizeof(int64), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}

/*
 * bloom_contains_hash
 *		Does the filter possibly contain a key of this hash?
 */
PG_FUNCTION_INFO_V1(bloom_contains_hash);
Datum
bloom_contains_hash(PG_FUNCTION_ARGS)
{
	BloomProbeSite *site = &BloomGetCallSite(fcinfo, 1, false)->probes;
	BloomProbe	probe;

	BloomProbeOpen(&probe, PG_GETARG_DATUM(0), 1, site,
				   fcinfo->flinfo->fn_mcxt);
	BloomProbeBegin(&probe);
	PG_RETURN_BOOL(BloomProbeTest(&probe, GetHash(PG_GETARG_DATUM(1))));
}

/*
 * bloom_add_hashes
 *		The filter with the keys of these hashes, which are of this type.
 */
PG_FUNCTION_INFO_V1(bloom_add_hashes);
Datum
bloom_add_hashes(PG_FUNCTION_ARGS)
{
	const Bloom *filter;
	BloomKeyType key_type;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	uint64	   *hashes;
	uint64		nhashes = 0;

	/* not STRICT; a null array leaves the filter as it is */
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = PG_GETARG_BLOOM_P(0);
	key_type = PG_ARGISNULL(2) ? BloomKeyTypeOf(filter) :
		BloomKeyTypeOfSqlType(PG_GETARG_OID(2));
	BloomCheckKeyType(filter, &key_type, BLOOM_HASHES);
	if (PG_ARGISNULL(1))
		PG_RETURN_BLOOM_P(filter);

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), INT8OID, sizeof(int64),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls, &n);
	hashes = palloc(Max(n, 1) * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		BloomCheckInterrupts(i);
		if (!nulls[i])
			hashes[nhashes++] = GetHash(elements[i]);
	}
	if (nhashes == 0)
		PG_RETURN_BLOOM_P(filter);
	if (key_type.id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the key type of the hashes is not known"),
				 errdetail("The filter has no keys yet, and key_type is null."),
				 errhint("Name the type of the keys, as in bloom_add_hashes(filter, hashes, 'text').")));
	nhashes = BloomSortHashes(hashes, nhashes);
	return BloomReturnAdded(&BloomGetCallSite(fcinfo, 1, true)->has_warned,
							BloomAddSorted(filter, hashes, nhashes, &key_type));
}
