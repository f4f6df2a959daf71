/*-------------------------------------------------------------------------
 *
 * filter/batch.c
 *		Tests of many keys at once, for other libraries: src/batch.h.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

#include "batch.h"
#include "filter/call.h"
#include "filter/fetch.h"
#include "key/hash.h"

typedef struct Batch
{
	MemoryContext context;		/* of the statement */
	BloomHasher hasher;
	BloomProbeSite site;
	BloomProbe	probe;
} Batch;

/*
 * Are keys of this type hashed by nothing but our own code, which raises no
 * error, whatever the key is?  The caller may show us keys that a policy hides
 * from the user, or that the rest of a condition would have kept from us.
 *
 * Types are listed, since BloomHasherInit raises an error for many others, as
 * for a collation that is not known.
 */
static bool
IsOurs(Oid type, Oid collation)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case BOOLOID:
		case CHAROID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
		case OIDOID:
		case XIDOID:
		case CIDOID:
		case XID8OID:
		case PG_LSNOID:
		case UUIDOID:
		case NUMERICOID:
		case BYTEAOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			/* a character may have no equivalent in UTF-8: an error */
			return !BloomTextNeedsConversion() && OidIsValid(collation) &&
				BloomTextIsKeyType(collation);
		default:
			return false;
	}
}

static void *
Begin(MemoryContext context, Oid type, Oid collation, bool filter_is_constant)
{
	MemoryContext old;
	Batch	   *batch;

	if (!IsOurs(getBaseType(type), collation))
		return NULL;
	old = MemoryContextSwitchTo(context);
	batch = palloc0(sizeof(Batch));
	batch->context = context;
	BloomHasherInit(&batch->hasher, type, collation);
	batch->site.is_constant = filter_is_constant;
	MemoryContextSwitchTo(old);
	return batch;
}

static bool
Open(void *opaque, Datum filter)
{
	Batch	   *batch = opaque;

	return BloomProbeOpenWhole(&batch->probe, filter, &batch->site,
							   batch->context) &&
		batch->probe.header->key_type == batch->hasher.key_type.id &&
		batch->hasher.key_type.words == 0;
}

static int
Test(void *opaque, const Datum *keys, int nkeys, uint16 *found)
{
	Batch	   *batch = opaque;
	uint64		seed = batch->probe.header->seed;
	int			nfound = 0;

	for (int i = 0; i < nkeys; i += BLOOM_BATCH)
	{
		uint64		hashes[BLOOM_BATCH];
		int			n = Min(nkeys - i, BLOOM_BATCH);
		int			m;

		for (int j = 0; j < n; j++)
			hashes[j] = BloomHashDatum(&batch->hasher, keys[i + j], seed);
		m = BloomProbeTestBatch(&batch->probe, hashes, n, &found[nfound]);
		for (int j = 0; j < m; j++)
			found[nfound + j] += i;
		nfound += m;
	}
	return nfound;
}

/*
 * BloomGiveBatches
 *		Let other libraries find all this, and these functions.
 */
void
BloomGiveBatches(PGFunction contains, PGFunction contained)
{
	static BloomBatchRoutine routine = {
		.interface = BLOOM_BATCH_INTERFACE,
		.begin = Begin,
		.open = Open,
		.test = Test
	};

	routine.contains = contains;
	routine.contained = contained;
	*find_rendezvous_variable(BLOOM_BATCH_ROUTINE) = &routine;
}
