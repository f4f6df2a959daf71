/*-------------------------------------------------------------------------
 *
 * filter.c
 *		The filter of a hash join, made of what its hash table stores.
 *
 * It costs the build side nothing, since every tuple in the table has its
 * hash value beside it: we read these.  A hash that we missed would be rows
 * missing in the result.  So a filter is used only if
 *
 *	- we have read as many tuples as the server has counted, and
 *	- the stored hashes of the first of them are those that we compute of
 *	  their keys: then the hash of an outer row, computed in the same way, is
 *	  that which the join will look for.
 *
 * It lives in the memory of the table, and is forgotten when that goes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buffile.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "scan/expr.h"
#include "scan/filter.h"
#include "scan/scan_compat.h"

/* bytes: most of one filter */
#define MAX_FILTER		(16 * 1024 * 1024)
/* bits for each tuple: those of small filters, of large ones, and the fewest that do */
#define SMALL_BITS		16
#define LARGE_BITS		12
#define FEWEST_BITS		5
/* so that few tuples have few false positives */
#define FEWEST_WORDS	64
/* from which number of tuples on is it large? */
#define LARGE_TUPLES	100000
/* tuples whose stored hash we compute */
#define CHECKED_TUPLES	16
/* bits of a bitmap that is small, however few of them are set */
#define SMALL_BITMAP	(256 * 1024 * 8)
/* bytes of a key of variable length, before some have been seen */
#define UNKNOWN_BYTES	32
/* prices: to read a tuple of the table; one of a file; to write a row and read it */
#define PRICE_TUPLE		8
#define PRICE_IN_FILE	60
#define PRICE_FILED		250
/* bytes of a row in a file of a batch beside its columns */
#define ROW_OVERHEAD	(sizeof(uint32) + SizeofMinimalTupleHeader)

/* bytes of all filters of this process */
static Size memory_used = 0;


/* ----------------------------------------------------------------
 *		Filters
 * ----------------------------------------------------------------
 */

/*
 * IsTrusted
 *		May this hash function see rows that a policy or a security barrier
 *		would hide?
 *
 * Only the server's own for scalars: none tells what it was called with, by a
 * message or an error.  A function of an extension may.
 */
static bool
IsTrusted(Oid function)
{
	switch (function)
	{
		case F_HASHINT2:
		case F_HASHINT4:
		case F_HASHINT8:
		case F_HASHOID:
		case F_HASHENUM:
		case F_HASHTEXT:
		case F_HASHBPCHAR:
		case F_HASHVARLENA:
		case F_HASHFLOAT4:
		case F_HASHFLOAT8:
		case F_HASH_NUMERIC:
		case F_UUID_HASH:
		case F_TIMESTAMP_HASH:
			/* these have come later */
#ifdef F_HASHBYTEA
		case F_HASHBYTEA:
#endif
#ifdef F_HASHDATE
		case F_HASHDATE:
#endif
#ifdef F_TIMESTAMPTZ_HASH
		case F_TIMESTAMPTZ_HASH:
#endif
			return true;
		default:
			return false;
	}
}

/*
 * IntegerKeys
 *		Which integers does an operator of this function compare?
 *
 * An operator of somebody else may call other values equal.  Columns say less
 * of what is compared than the function does.
 */
static void
IntegerKeys(ScanFilter *filter, Oid function)
{
	static const struct
	{
		Oid			function;
		ScanInteger outer,
					inner;
	}			known[] = {
		{F_INT2EQ, SCAN_INT2, SCAN_INT2},
		{F_INT24EQ, SCAN_INT2, SCAN_INT4},
		{F_INT28EQ, SCAN_INT2, SCAN_INT8},
		{F_INT4EQ, SCAN_INT4, SCAN_INT4},
		{F_INT42EQ, SCAN_INT4, SCAN_INT2},
		{F_INT48EQ, SCAN_INT4, SCAN_INT8},
		{F_INT8EQ, SCAN_INT8, SCAN_INT8},
		{F_INT82EQ, SCAN_INT8, SCAN_INT2},
		{F_INT84EQ, SCAN_INT8, SCAN_INT4},
		{F_OIDEQ, SCAN_OID, SCAN_OID},
		{F_DATE_EQ, SCAN_INT4, SCAN_INT4},
		{F_TIME_EQ, SCAN_INT8, SCAN_INT8},
		{F_TIMESTAMP_EQ, SCAN_INT8, SCAN_INT8},
		{F_TIMESTAMPTZ_EQ, SCAN_INT8, SCAN_INT8}
	};

	for (size_t i = 0; i < lengthof(known); i++)
	{
		if (known[i].function == function)
		{
			filter->outer_integer = known[i].outer;
			filter->inner_integer = known[i].inner;
		}
	}
}

/*
 * BloomScanFilterOf
 *		The filter of a join, not made yet.  NULL if the join can have none:
 *		it returns outer rows that have no partner, an operator might be true
 *		of NULL, or we could not compute the hash of a stored tuple.
 *
 * Allocated in the current memory context, which is that of the query.
 */
ScanFilter *
BloomScanFilterOf(HashJoinState *join, ScanTesting testing)
{
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	Hash	   *hash = (Hash *) innerPlanState(join)->plan;
	ScanFilter *filter;

	if (!BloomScanDropsUnmatched(plan->join.jointype) ||
		list_length(plan->hashkeys) > SCAN_MAX_KEYS)
		return NULL;

	filter = palloc0(sizeof(ScanFilter));
	filter->join = join;
	filter->testing = testing;
	filter->generation = 1;
	filter->rate = -1;
	filter->rest = PG_UINT64_MAX;
	filter->trusted = true;
	filter->nkeys = list_length(plan->hashkeys);
	filter->inner_desc = ExecGetResultType(innerPlanState(join));
	for (int i = 0; i < filter->nkeys; i++)
	{
		OpExpr	   *clause = list_nth_node(OpExpr, plan->hashclauses, i);
		Node	   *inner = BloomScanStripRelabel(list_nth(hash->hashkeys, i));
		Oid			outer_hash,
					inner_hash;

		if (!func_strict(clause->opfuncid) ||
			!get_op_hash_functions(clause->opno, &outer_hash, &inner_hash) ||
			!IsA(inner, Var) || ((Var *) inner)->varno != OUTER_VAR ||
			((Var *) inner)->varattno <= 0)
			return NULL;
		fmgr_info(outer_hash, &filter->outer_hash[i]);
		fmgr_info(inner_hash, &filter->inner_hash[i]);
		filter->collation[i] = list_nth_oid(plan->hashcollations, i);
		BloomScanColumnOf(&filter->inner[i], filter->inner_desc,
						  ((Var *) inner)->varattno);
		filter->bytes[i] = filter->inner[i].len == -1 ? UNKNOWN_BYTES : 0;
		if (!IsTrusted(outer_hash))
			filter->trusted = false;
		if (BloomScanIsDear(BloomScanHashPrice(outer_hash, filter->collation[i],
											   filter->bytes[i])))
			filter->dear = true;
	}
	if (filter->nkeys == 1)
		IntegerKeys(filter, linitial_node(OpExpr, plan->hashclauses)->opfuncid);
	return filter;
}

/*
 * TableGone
 *		The memory of the table goes, with the filter in it.  (rule 15)
 *
 * This is a callback of that memory's context: it is called wherever the
 * server frees the table, in error recovery, too.
 */
static void
TableGone(void *arg)
{
	ScanFilter *filter = arg;

	if (filter->bits.words != NULL)
		memory_used -= filter->bits.nwords * sizeof(uint64);
	filter->table = NULL;
	filter->bits.words = NULL;
	filter->refused = false;
	filter->rate = -1;
	filter->seen = 0;
	filter->rest = PG_UINT64_MAX;
	filter->generation++;
}

/*
 * BloomScanFindTable
 *		Is there a table of which a filter could be made now?
 *
 * Called when a row of the outer side is asked for (rule 11).  The join asks for its
 * first outer row before the table is there, if that may spare it the table;
 * for all others after the table was filled.  Parallel Hash with one batch:
 * outer rows are read only while this process is attached to that batch.
 */
bool
BloomScanFindTable(ScanFilter *filter)
{
	HashJoinTable table = filter->join->hj_HashTable;
	MemoryContextCallback *callback;

	if (table == NULL)
		return false;
	if (table->parallel_state != NULL && table->nbatch == 1 &&
		table->curbatch != 0)
		return false;
	if (filter->table == NULL)
	{
		callback = MemoryContextAlloc(table->hashCxt,
									  sizeof(MemoryContextCallback));
		callback->func = TableGone;
		callback->arg = filter;
		MemoryContextRegisterResetCallback(table->hashCxt, callback);
		filter->table = table;
		/* no process has all tuples of a batch, nor a batch now (rule 14) */
		filter->refused = table->parallel_state != NULL && table->nbatch > 1;
	}
	Assert(filter->table == table);
	return true;
}

/*
 * Refuse
 *		There is no filter of this table.  If something unexpected is the
 *		reason, tests must hear of it; queries go on without.
 */
static bool
Refuse(ScanFilter *filter, const char *unexpected)
{
	int			level = filter->testing == SCAN_TESTING_OFF ? DEBUG1 : ERROR;

	filter->refused = true;
	if (unexpected != NULL)
		elog(level, "no filter of hash join %d: %s",
			 filter->join->js.ps.plan->plan_node_id, unexpected);
	return false;
}

/* The value of the first bit of the word of a value. */
static inline uint64
FirstBit(int64 value)
{
	return (uint64) value & ~(uint64) (SCAN_WORD_BITS - 1);
}

/* What a walk over the tuples of a table has found. */
typedef struct Reading
{
	ScanFilter *filter;
	ScanBits	bits;			/* that are made: the filter's when they are
								 * right */
	double		ntuples;
	int			ncompared;
	bool		is_ours;		/* so far */

	/* for a bitmap: one whose positions go round, until the least is known */
	uint64	   *round;
	uint64		nwords;			/* a power of two */
	uint64		most;			/* bits between the ends */
	int64		least;
	int64		greatest;
	bool		too_far;		/* they are farther from each other */
} Reading;

/* A tuple of the table, as if it were in one of ours. */
static inline HeapTupleHeader
TupleOf(HashJoinTuple tuple)
{
	return (HeapTupleHeader)
		((char *) HJTUPLE_MINTUPLE(tuple) - MINIMAL_TUPLE_OFFSET);
}

/*
 * StoredHashIsOurs
 *		Is the stored hash that which we compute?  True also if a key is null:
 *		there is nothing to compare.
 */
static bool
StoredHashIsOurs(Reading *reading, HashJoinTuple tuple)
{
	ScanFilter *filter = reading->filter;
	uint32		hash = 0;

	for (int i = 0; i < filter->nkeys; i++)
	{
		bool		isnull;
		Datum		key = BloomScanKey(&filter->inner[i], TupleOf(tuple),
									   filter->inner_desc, &isnull);

		if (isnull)
			return true;
		hash = pg_rotate_left32(hash, 1) ^
			DatumGetUInt32(FunctionCall1Coll(&filter->inner_hash[i],
											 filter->collation[i], key));
	}
	reading->ncompared++;
	return hash == tuple->hashvalue;
}

/*
 * AddValue
 *		Set the bit of a tuple's key, if it has one.
 */
static inline void
AddValue(Reading *reading, HashJoinTuple tuple)
{
	ScanFilter *filter = reading->filter;
	bool		isnull;
	Datum		key = BloomScanKey(&filter->inner[0], TupleOf(tuple),
								   filter->inner_desc, &isnull);
	int64		value = BloomScanInteger(filter->inner_integer, key);

	if (isnull)
		return;
	reading->least = Min(reading->least, value);
	reading->greatest = Max(reading->greatest, value);
	if ((uint64) reading->greatest - FirstBit(reading->least) >= reading->most)
		reading->too_far = true;
	reading->round[((uint64) value / SCAN_WORD_BITS) % reading->nwords] |=
		UINT64CONST(1) << ((uint64) value % SCAN_WORD_BITS);
}

static inline void
ReadTuple(Reading *reading, HashJoinTuple tuple)
{
	if (unlikely(reading->ncompared < CHECKED_TUPLES && reading->is_ours))
		reading->is_ours = StoredHashIsOurs(reading, tuple);
	if (reading->round != NULL)
		AddValue(reading, tuple);
	else
		BloomScanAdd(&reading->bits, tuple->hashvalue);
	reading->ntuples++;
}

static void
ReadChunk(Reading *reading, HashMemoryChunk chunk)
{
	size_t		at = 0;

	CHECK_FOR_INTERRUPTS();
	while (at < chunk->used && !reading->too_far)
	{
		HashJoinTuple tuple = (HashJoinTuple) (HASH_CHUNK_DATA(chunk) + at);

		ReadTuple(reading, tuple);
		at += MAXALIGN(HJTUPLE_OVERHEAD + HJTUPLE_MINTUPLE(tuple)->t_len);
	}
}

/*
 * ReadFile
 *		The hash values of the tuples of another batch.
 *
 * The server rewinds the file before it reads it, and writes no more to it.
 * We leave it at its end; what stops us before is an error.
 */
static void
ReadFile(Reading *reading, BufFile *file)
{
	uint32		header[2];		/* hash value; length, of this, too */
	size_t		nread;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind hash-join temporary file")));
	while ((nread = BufFileRead(file, header, sizeof(header))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (nread != sizeof(header) ||
			BufFileSeek(file, 0, header[1] - sizeof(uint32), SEEK_CUR) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from hash-join temporary file")));
		BloomScanAdd(&reading->bits, header[0]);
		reading->ntuples++;
	}
}

/*
 * ReadTable
 *		All tuples of a table: those in memory, those of the most common outer
 *		keys, and those of other batches.  (rule 13)
 */
static void
ReadTable(Reading *reading, HashJoinTable table)
{
	if (table->parallel_state != NULL)
	{
		dsa_pointer next = table->batches[0].shared->chunks;

		while (DsaPointerIsValid(next))
		{
			HashMemoryChunk chunk = dsa_get_address(table->area, next);

			ReadChunk(reading, chunk);
			next = chunk->next.shared;
		}
		return;
	}
	for (HashMemoryChunk chunk = table->chunks; chunk != NULL;
		 chunk = chunk->next.unshared)
		ReadChunk(reading, chunk);
	for (int i = 0; i < table->nSkewBuckets; i++)
	{
		HashSkewBucket *bucket = table->skewBucket[table->skewBucketNums[i]];

		for (HashJoinTuple tuple = bucket->tuples; tuple != NULL;
			 tuple = tuple->next.unshared)
			ReadTuple(reading, tuple);
	}
	for (int i = 1; i < table->nbatch; i++)
	{
		if (table->innerBatchFile[i] != NULL)
			ReadFile(reading, table->innerBatchFile[i]);
	}
}

/*
 * MakeBitmap
 *		A bitmap of the keys, if it is no larger than the Bloom filter of this
 *		size, or small (rule 17).  False if it is not made.
 *
 * One walk over the table, which is long: the least key is known at its end.
 * Until then, a value has the bit that it would have after any number of
 * rounds.  These are all of different values if the ends are less than a round
 * apart.
 *
 * Both arrays are there together, and both are within the limit (rule 16): the
 * caller gives us half of what is left.
 */
static bool
MakeBitmap(Reading *reading, double nbits, Size limit)
{
	HashJoinTable table = reading->filter->table;
	ScanBits   *bits = &reading->bits;
	uint64		base;

	reading->most = Min((uint64) Max(nbits, SMALL_BITMAP), (uint64) limit * 8);
	reading->nwords = pg_nextpower2_64(reading->most) / SCAN_WORD_BITS;
	if (reading->nwords * sizeof(uint64) > limit)
		reading->nwords /= 2;
	if (reading->nwords == 0)
		return false;
	reading->most = Min(reading->most, reading->nwords * SCAN_WORD_BITS);
	reading->least = PG_INT64_MAX;
	reading->greatest = PG_INT64_MIN;
	reading->round = MemoryContextAllocZero(table->hashCxt,
											reading->nwords * sizeof(uint64));
	ReadTable(reading, table);
	if (reading->greatest < reading->least)
		reading->least = reading->greatest = 0; /* no keys: no bits */
	if (!reading->too_far)
	{
		base = FirstBit(reading->least);
		bits->is_bitmap = true;
		bits->base = (int64) base;
		bits->span = (uint64) reading->greatest - base;
		bits->nwords = bits->span / SCAN_WORD_BITS + 1;
		bits->words = MemoryContextAlloc(table->hashCxt,
										 bits->nwords * sizeof(uint64));
		for (uint64 i = 0; i < bits->nwords; i++)
			bits->words[i] =
				reading->round[(base / SCAN_WORD_BITS + i) % reading->nwords];
	}
	pfree(reading->round);
	reading->round = NULL;
	return bits->words != NULL;
}

/* A Bloom filter of the stored hash values. */
static void
MakeBloom(Reading *reading, double nbits)
{
	HashJoinTable table = reading->filter->table;
	ScanBits   *bits = &reading->bits;

	bits->is_bitmap = false;
	bits->nwords = Max((uint64) (nbits / SCAN_WORD_BITS), FEWEST_WORDS);
	bits->words = MemoryContextAllocZero(table->hashCxt,
										 bits->nwords * sizeof(uint64));
	ReadTable(reading, table);
}

/* The first tuple of a bucket, and the next one of the same. */
static HashJoinTuple
FirstOf(HashJoinTable table, int bucket)
{
	dsa_pointer first;

	if (table->parallel_state == NULL)
		return table->buckets.unshared[bucket];
	first = dsa_pointer_atomic_read(&table->buckets.shared[bucket]);
	return DsaPointerIsValid(first) ? dsa_get_address(table->area, first) : NULL;
}

static HashJoinTuple
NextOf(HashJoinTable table, HashJoinTuple tuple)
{
	if (table->parallel_state == NULL)
		return tuple->next.unshared;
	return DsaPointerIsValid(tuple->next.shared) ?
		dsa_get_address(table->area, tuple->next.shared) : NULL;
}

/*
 * BloomScanSample
 *		Is there a tuple of this hash, as far as it can be seen in memory?
 *		Returns for how many outer rows this one stands: none if its tuples
 *		are in a file.
 */
uint32
BloomScanSample(const ScanFilter *filter, uint32 hash, bool *found)
{
	HashJoinTable table = filter->table;
	int			skew = ExecHashGetSkewBucket(table, hash);
	int			bucket,
				batch;
	HashJoinTuple tuple;

	*found = false;
	if (skew != INVALID_SKEW_BUCKET_NO)
	{
		*found = table->skewBucket[skew]->tuples != NULL;
		return 1;
	}
	ExecHashGetBucketAndBatch(table, hash, &bucket, &batch);
	if (batch != 0)
		return 0;
	tuple = FirstOf(table, bucket);
	while (tuple != NULL && tuple->hashvalue != hash)
		tuple = NextOf(table, tuple);
	*found = tuple != NULL;
	return table->nbatch;
}


/* ----------------------------------------------------------------
 *		Prices
 * ----------------------------------------------------------------
 */

/* What it costs to hash the keys of an outer row. */
double
BloomScanHashOuterPrice(const ScanFilter *filter)
{
	double		price = 0;

	for (int i = 0; i < filter->nkeys; i++)
		price += BloomScanHashPrice(filter->outer_hash[i].fn_oid,
									filter->collation[i], filter->bytes[i]);
	return price;
}

/*
 * BloomScanJoinPrice
 *		What the join does with an outer row: it hashes its keys, looks for them
 *		in its table, or writes the row to the file of a later batch, and reads
 *		it again.
 */
double
BloomScanJoinPrice(const ScanFilter *filter)
{
	HashJoinTable table = filter->table;
	double		price = BloomScanHashOuterPrice(filter);

	if (table == NULL)
		return price + BloomScanProbePrice(0);
	price += BloomScanProbePrice(table->totalTuples / table->nbatch);
	if (table->nbatch > 1)
		price += (1 - 1.0 / table->nbatch) *
			(PRICE_FILED + outerPlan(filter->join->js.ps.plan)->plan_width);
	return price;
}

/*
 * BloomScanMakingPrice
 *		What it costs to read all tuples of the table.
 */
double
BloomScanMakingPrice(const ScanFilter *filter)
{
	HashJoinTable table = filter->table;
	const Plan *inner = innerPlan(filter->join->js.ps.plan);

	return table->totalTuples *
		(table->nbatch == 1 ? PRICE_TUPLE :
		 PRICE_IN_FILE + (inner->plan_width + ROW_OVERHEAD) / 4.0);
}

/*
 * BloomScanMakeFilter
 *		Make the filter of the table that BloomScanFindTable has found, if it
 *		has none.  False: there will be none.
 *
 * It is there for others when all is verified (rule 12).
 */
bool
BloomScanMakeFilter(ScanFilter *filter)
{
	HashJoinTable table = filter->table;
	Reading		reading = {.filter = filter,.is_ours = true};
	double		ntuples = Max(table->totalTuples, 1);
	double		nbits = ntuples * (ntuples < LARGE_TUPLES ? SMALL_BITS : LARGE_BITS);
	Size		left = get_hash_memory_limit();
	Size		limit;

	if (filter->bits.words != NULL)
		return true;
	if (filter->refused)
		return false;
	left -= Min(left, memory_used);
	limit = Min(left, MAX_FILTER);
	nbits = Min(nbits, limit * 8.0);
	if (nbits < FEWEST_BITS * ntuples || limit < FEWEST_WORDS * sizeof(uint64))
		return Refuse(filter, NULL);
	/* files are read once, whatever the range turns out to be (rule 13) */
	if (filter->inner_integer == SCAN_NO_INTEGER || table->nbatch > 1 ||
		!MakeBitmap(&reading, nbits, Min(left / 2, limit)))
	{
		reading = (Reading)
		{
			.filter = filter,.is_ours = true
		};
		MakeBloom(&reading, nbits);
	}
	if (!reading.is_ours || reading.ntuples != table->totalTuples ||
		(reading.ncompared == 0 && reading.ntuples > 0))
	{
		pfree(reading.bits.words);
		return Refuse(filter, !reading.is_ours ?
					  "it stores other hash values than those of the keys" :
					  reading.ntuples != table->totalTuples ?
					  "its table has another number of tuples than were counted" :
					  NULL);
	}
	filter->bits = reading.bits;
	memory_used += reading.bits.nwords * sizeof(uint64);
	filter->peak = Max(filter->peak, reading.bits.nwords * sizeof(uint64));
	Counted(filter->counts.made++);
	Counted(filter->counts.bitmaps += reading.bits.is_bitmap);
	Counted(filter->counts.spilled += table->nbatch > 1);
	Counted(filter->counts.grown += table->nbatch > table->nbatch_original);
	Counted(filter->counts.skewed += table->skewTuples > 0);
	return true;
}
