/*-------------------------------------------------------------------------
 *
 * bloom_set.c
 *		Stored sets: keys in a table, cut by hash into many small filters.
 *
 * A filter in one row is rewritten as a whole when a key is added, and locked
 * as a whole.  A set cuts it by the keys' hash into shards of about 1 kB, each
 * a row of an ordinary table.  So an add rewrites little and hardly ever waits
 * for another, and all that the server does for tables, it does for sets:
 * transactions, crash recovery, replication, dumps, privileges.  We read and
 * write the table by prepared SQL statements, as the caller.
 *
 * The table
 * ---------
 *
 *		shard	slice		filter
 *		-1		-infinity	a first key, whose type is that of all keys
 *		0..		-infinity	of a set that keeps its keys: what a shard holds
 *		0..		a time		of a set that forgets: what came in that slice of time
 *		0..		infinity	of a set that forgets: no keys; its row is locked
 *
 * Rows are made when they are needed; to truncate the table is to empty the
 * set.  Which shard a key has depends on its hash, and is the same in every
 * slice.  A time slice is named by its beginning.
 *
 * A fourth column, "room", is as many zero bytes as a filter in keys form lacks
 * in size until it has turned into bits.  So a row never grows, and a page, in
 * which the fill factor leaves place for one row more, takes its updates for
 * ever, without new index entries (HOT).  A row stays below the size from which
 * TOAST would look at it.
 *
 * The parameters of a set are the arguments of that column's default, which is
 * the room beside an empty filter.  A table of parameters of all sets would be
 * the obvious place; but there, everybody who may create a set could change
 * everybody else's, and rows would have to be kept true when tables are
 * renamed, moved, dropped, dumped or restored one by one.  A part of the
 * table's definition is seen by all, is changed only by the table's owner, and
 * goes wherever the table goes.  A default, unlike a constraint or the
 * expression of a generated column, costs an update nothing.
 *
 * Adding
 * ------
 *
 * Of concurrent adds of one key exactly one must be told that it is new.  A
 * key is first looked for without a lock.  If it is not there, the shard's row
 * is locked, and looked at again as it then is.  In a set that forgets, two
 * sessions whose clocks differ may add the key to different slices, whose
 * rows may not even exist; there the lock is an update of the row at infinity.
 * (With a mere lock, a transaction with an old snapshot would not notice.)
 *
 * Many keys are added shard by shard in ascending order, in fixed ranges of
 * shards: first the rows that are missing, then locks, then updates.  Since
 * all do so, no call waits for another that waits for it.
 *
 * Capacity and rate
 * -----------------
 *
 * Some shards get more keys than others, and their rate is above the mean by
 * more than the others' is below.  Shards are sized for the mean over all of
 * them (the number of keys in a shard has a Poisson distribution).  A key is
 * looked for in each live time slice, of which there are one more than slices
 * in "keep".  So each is sized for the rate divided by their number.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "bloom_fetch.h"
#include "bloom_hash.h"
#include "bloom_state.h"

/*
 * With the header of a filter, of a row and its line pointers (two, after an
 * update), 6 rows of this many bits and an old version of one fill a page.
 */
#define SHARD_BITS			8512
#define SHARD_FILLFACTOR	86

/* The shards between two of its multiples are worked on at a time */
#define SHARDS_PER_RANGE	1024

#define MAX_SLICES			1000
#define MAX_KEEP			(INT64CONST(1000) * 365 * USECS_PER_DAY)

/* How often rows may come or go between two statements */
#define MAX_TRIES			100

/* Mixes a key's hash for its shard; frozen, since stored sets depend on it */
#define SHARD_SEED			UINT64CONST(0x73686172642d6f66)

/* The row that knows the key type */
#define KEY_TYPE_SHARD		(-1)

/* Standard errors above the capacity that are worth a warning */
#define OVERFULL_ERRORS		5

typedef enum SetPlan
{
	PLAN_READ,
	PLAN_PUT,
	PLAN_LOCK,
	PLAN_LOCK_HEADS,
	PLAN_INSERT,
	PLAN_UPDATE,
	PLAN_FORGET,
	NUM_PLANS
} SetPlan;

/*
 * The statements.  %1$s is the table, %2$s the extension's schema; $1 are
 * shards, in all but PLAN_PUT, and $2 a time slice.
 */
static const char *const plan_texts[NUM_PLANS] = {
	[PLAN_PUT] =
	"UPDATE %1$s SET filter = %2$s.bloom_set_put(filter, $3, $4)"
	" WHERE shard OPERATOR(pg_catalog.=) $1"
	" AND slice OPERATOR(pg_catalog.=) $2 AND room IS NULL"
	" AND %2$s.bloom_set_lacks(filter, $3, $4) RETURNING filter",
	[PLAN_READ] =
	"SELECT shard, slice, filter FROM %1$s"
	" WHERE shard OPERATOR(pg_catalog.=) ANY ($1)"
	" AND slice OPERATOR(pg_catalog.>=) $2",
	[PLAN_LOCK] =
	"SELECT shard, slice, filter FROM %1$s"
	" WHERE shard OPERATOR(pg_catalog.=) ANY ($1)"
	" AND slice OPERATOR(pg_catalog.=) $2"
	" ORDER BY shard FOR NO KEY UPDATE",
	[PLAN_LOCK_HEADS] =
	"WITH head AS MATERIALIZED (SELECT shard FROM %1$s"
	" WHERE shard OPERATOR(pg_catalog.=) ANY ($1)"
	" AND slice OPERATOR(pg_catalog.=) $2"
	" ORDER BY shard FOR NO KEY UPDATE)"
	" UPDATE %1$s AS s SET filter = s.filter FROM head"
	" WHERE s.shard OPERATOR(pg_catalog.=) head.shard"
	" AND s.slice OPERATOR(pg_catalog.=) $2",
	[PLAN_INSERT] =
	"INSERT INTO %1$s (shard, slice, filter, room)"
	" SELECT u.shard, $2, u.filter, u.room FROM ROWS FROM (pg_catalog.unnest($1),"
	" pg_catalog.unnest($3), pg_catalog.unnest($4)) AS u (shard, filter, room)"
	" ORDER BY u.shard ON CONFLICT DO NOTHING RETURNING shard",
	[PLAN_UPDATE] =
	"UPDATE %1$s AS s SET filter = u.filter, room = u.room FROM ROWS FROM"
	" (pg_catalog.unnest($1), pg_catalog.unnest($3), pg_catalog.unnest($4))"
	" AS u (shard, filter, room)"
	" WHERE s.shard OPERATOR(pg_catalog.=) u.shard"
	" AND s.slice OPERATOR(pg_catalog.=) $2",
	[PLAN_FORGET] =
	"DELETE FROM %1$s"
	" WHERE shard OPERATOR(pg_catalog.=) ANY ($1)"
	" AND slice OPERATOR(pg_catalog.<) $2"
};

/* The parameters, as arguments of bloom_set_room */
#define NUM_PARAMETERS		7
typedef struct SetParams
{
	int64		capacity;
	double		fp_prob;
	bool		keeps_all;
	int64		keep;			/* microseconds, unless keeps_all */
	int32		slices;
	int32		shards;
	int64		bits;
	int32		hashes;
} SetParams;

/* What a session remembers of a set */
typedef struct BloomSet
{
	Oid			relid;			/* hash key */
	bool		is_valid;
	int			users;			/* calls that are running */
	SetParams	params;
	BloomShape	shape;			/* of a shard */
	double		shard_capacity; /* mean number of keys */
	int64		slice_length;	/* microseconds */
	Oid			schema;			/* of the extension */
	Oid			bloom_type;
	SPIPlanPtr	plans[NUM_PLANS];
} BloomSet;

static HTAB *sets = NULL;

PG_FUNCTION_INFO_V1(bloom_set_room);

/* ----------------------------------------------------------------
 *							SIZING
 * ----------------------------------------------------------------
 */

/* The mean rate of shards with so many keys on average. */
static double
MixedRate(double keys, int64 bits, int hashes)
{
	double		spread = 10 * sqrt(keys) + 10;
	double		rate = 0;

	for (double n = floor(Max(1, keys - spread)); n <= keys + spread; n++)
		rate += exp(n * log(keys) - keys - lgamma(n + 1)) *
			BloomRate(bits / n, hashes);
	return rate;
}

/* How many keys may a shard have on average? */
static double
MixedCapacity(int64 bits, int hashes, double fp_prob)
{
	double		low = 0;
	double		high = (double) bits;

	while (high - low > 0.01)
	{
		double		middle = (low + high) / 2;

		if (MixedRate(middle, bits, hashes) <= fp_prob)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The number of shards, and their shape, for so many keys at such a rate.
 */
static void
SizeShards(SetParams *params, int64 capacity, double fp_prob)
{
	double		most = 0;
	double		shards;

	if (capacity <= SHARD_BITS)
	{
		BloomShape	small = BloomShapeForCapacity(capacity, fp_prob, 0);

		params->shards = 1;
		params->bits = small.bits;
		params->hashes = small.hashes;
		if (small.bits <= SHARD_BITS)
			return;
	}

	params->bits = SHARD_BITS;
	for (int hashes = Max(1, (int) -log2(fp_prob) - 1);
		 hashes <= Min(BLOOM_MAX_HASHES, -log2(fp_prob) + 1); hashes++)
	{
		/* the formula is for large filters: small ones have a little more */
		double		keys = MixedCapacity(SHARD_BITS, hashes, 0.99 * fp_prob);

		if (keys > most)
		{
			most = keys;
			params->hashes = hashes;
		}
	}
	shards = ceil(capacity / most);
	if (shards > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity " INT64_FORMAT " is too large for a set",
						params->capacity),
				 errdetail("The set would have more than %d shards.",
						   PG_INT32_MAX)));
	params->shards = (int32) shards;
}

/* Keys and rate of one time slice */
static int64
SliceCapacity(const SetParams *params)
{
	if (params->keeps_all)
		return params->capacity;
	return (params->capacity + params->slices - 1) / params->slices;
}

static double
SliceRate(const SetParams *params)
{
	if (params->keeps_all)
		return params->fp_prob;
	return params->fp_prob / (params->slices + 1);
}

/* Microseconds, or -1 for what is negative or more than MAX_KEEP. */
static int64
IntervalToMicroseconds(const Interval *span)
{
	double		days = span->day + (double) span->month * DAYS_PER_MONTH;
	double		microseconds = (double) span->time + days * USECS_PER_DAY;

	if (microseconds < 0 || microseconds > MAX_KEEP)
		return -1;
	return span->time +
		(span->day + (int64) span->month * DAYS_PER_MONTH) * USECS_PER_DAY;
}

/* What a row lacks in size with a filter of this size.  NULL: nothing. */
static bytea *
MakeRoom(int64 bits, Size filter_size)
{
	Size		full = BLOOM_HEADER_SIZE + bits / 8;
	bytea	   *room;

	if (filter_size + VARHDRSZ >= full || full > BLCKSZ)
		return NULL;
	room = palloc0(full - filter_size);
	SET_VARSIZE(room, full - filter_size);
	return room;
}

/*
 * bloom_set_room
 *		What a row lacks in size while its filter is empty.
 *
 * Its arguments are the parameters of a set, which are kept here.
 */
Datum
bloom_set_room(PG_FUNCTION_ARGS)
{
	bytea	   *room = NULL;

	if (!PG_ARGISNULL(5))
		room = MakeRoom(PG_GETARG_INT64(5), BLOOM_HEADER_SIZE);
	if (room == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(room);
}

/* ----------------------------------------------------------------
 *							WHAT A SESSION REMEMBERS
 * ----------------------------------------------------------------
 */

static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	BloomSet   *set;

	(void) arg;
	hash_seq_init(&status, sets);
	while ((set = hash_seq_search(&status)) != NULL)
	{
		if (!OidIsValid(relid) || set->relid == relid)
			set->is_valid = false;
	}
}

/* A parameter in the expression; an error, unless it is a constant. */
static Const *
GetParameter(FuncExpr *call, int number)
{
	Node	   *argument = list_nth(call->args, number);

	if (!IsA(argument, Const) ||
		(((Const *) argument)->constisnull && number != 2))
		elog(ERROR, "parameter %d of a Bloom set is not a constant", number);
	return (Const *) argument;
}

/*
 * Find the parameters in the definition of a table.  False: it is no set.
 */
static bool
ReadParams(Relation rel, BloomSet *set)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	SetParams  *params = &set->params;

	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
	{
		FuncExpr   *call;
		FmgrInfo	flinfo;
		Const	   *keep;

		call = (FuncExpr *) stringToNode(constr->defval[i].adbin);
		if (!IsA(call, FuncExpr) || list_length(call->args) != NUM_PARAMETERS)
			continue;
		fmgr_info(call->funcid, &flinfo);
		if (flinfo.fn_addr != bloom_set_room)
			continue;

		params->capacity = DatumGetInt64(GetParameter(call, 0)->constvalue);
		params->fp_prob = DatumGetFloat8(GetParameter(call, 1)->constvalue);
		keep = GetParameter(call, 2);
		params->keeps_all = keep->constisnull;
		params->keep = keep->constisnull ? 0 :
			IntervalToMicroseconds(DatumGetIntervalP(keep->constvalue));
		params->slices = DatumGetInt32(GetParameter(call, 3)->constvalue);
		params->shards = DatumGetInt32(GetParameter(call, 4)->constvalue);
		params->bits = DatumGetInt64(GetParameter(call, 5)->constvalue);
		params->hashes = DatumGetInt32(GetParameter(call, 6)->constvalue);
		set->schema = get_func_namespace(call->funcid);
		set->bloom_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										  CStringGetDatum("bloom"),
										  ObjectIdGetDatum(set->schema));

		/* whoever owns the table can have written anything */
		return params->capacity >= 1 && params->slices >= 1 &&
			params->slices <= MAX_SLICES && params->shards >= 1 &&
			(params->keeps_all || params->keep >= params->slices);
	}
	return false;
}

/*
 * The set of this OID.  The caller is its user until it calls ReleaseSet.
 */
static BloomSet *
GetSet(Oid relid)
{
	BloomSet   *set;
	bool		found;
	Relation	rel;

	if (sets == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(BloomSet);
		sets = hash_create("Bloom sets", 16, &info, HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
	}

	/* from here on, nobody can rename it; and we learn who did */
	LockRelationOid(relid, AccessShareLock);
	set = hash_search(sets, &relid, HASH_FIND, NULL);
	if (set != NULL && set->is_valid)
		return set;

	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));

	set = hash_search(sets, &relid, HASH_ENTER, &found);
	if (!found)
		set->users = 0;
	for (int i = 0; i < NUM_PLANS; i++)
	{
		/* a running call might still use it, in a trigger's caller */
		if (found && set->plans[i] != NULL && set->users == 0)
			SPI_freeplan(set->plans[i]);
		set->plans[i] = NULL;
	}

	set->is_valid = false;
	if (rel->rd_rel->relkind != RELKIND_RELATION || !ReadParams(rel, set))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a Bloom set",
						RelationGetRelationName(rel)),
				 errhint("A set is a table that bloom_set_create has made.")));
	relation_close(rel, NoLock);

	set->slice_length = set->params.keeps_all ? 0 :
		(set->params.keep + set->params.slices - 1) / set->params.slices;
	set->shape = BloomShapeExplicit(set->params.bits, set->params.hashes, 0);
	set->shard_capacity = SliceCapacity(&set->params) /
		(double) set->params.shards;
	set->shape.capacity = Max(1, (uint64) ceil(set->shard_capacity));
	set->shape.fp_prob = SliceRate(&set->params);
	set->is_valid = true;
	return set;
}

static BloomSet *
GetSetArg(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("set must not be null")));
	return GetSet(PG_GETARG_OID(0));
}

/* ----------------------------------------------------------------
 *							TIME SLICES
 * ----------------------------------------------------------------
 */

static TimestampTz
GetTimeArg(FunctionCallInfo fcinfo, int argno)
{
	TimestampTz at;

	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("time must not be null")));
	at = PG_GETARG_TIMESTAMPTZ(argno);
	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("time must be finite")));
	return at;
}

/* The beginning of the slice that a time is in. */
static TimestampTz
SliceOf(const BloomSet *set, TimestampTz at)
{
	int64		remainder;

	if (set->params.keeps_all)
		return DT_NOBEGIN;
	remainder = at % set->slice_length;
	return at - remainder - (remainder < 0 ? set->slice_length : 0);
}

/*
 * The oldest slice in which a key may still have to be remembered.
 */
static TimestampTz
OldestSlice(const BloomSet *set, TimestampTz at)
{
	int64		oldest;

	if (set->params.keeps_all)
		return DT_NOBEGIN;
	if (pg_sub_s64_overflow(at, set->params.keep, &oldest) ||
		oldest < PG_INT64_MIN + 2 * set->slice_length)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return SliceOf(set, oldest);
}

/* ----------------------------------------------------------------
 *							STATEMENTS
 * ----------------------------------------------------------------
 */

/* The table's name, as it may be written into a statement. */
static char *
SetName(const BloomSet *set)
{
	char	   *name = get_rel_name(set->relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", set->relid)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(set->relid)),
									  name);
}

/*
 * Prepare a statement.
 */
static SPIPlanPtr
Prepare(const BloomSet *set, SetPlan plan)
{
	Oid			filters = get_array_type(set->bloom_type);
	Oid			types_of_arrays[] = {INT4ARRAYOID, TIMESTAMPTZOID, filters, BYTEAARRAYOID};
	Oid			types_of_put[] = {INT4OID, TIMESTAMPTZOID, INT8OID, OIDOID};
	bool		has_filters = plan == PLAN_INSERT || plan == PLAN_UPDATE;
	const char *schema = quote_identifier(get_namespace_name(set->schema));
	SPIPlanPtr	prepared;

	prepared = SPI_prepare_cursor(psprintf(plan_texts[plan], SetName(set), schema),
								  plan == PLAN_PUT || has_filters ? 4 : 2,
								  plan == PLAN_PUT ? types_of_put : types_of_arrays,
								  CURSOR_OPT_GENERIC_PLAN);
	if (prepared == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	SPI_keepplan(prepared);
	return prepared;
}

/* Rows that a statement gave, or how many it changed, if that is all. */
typedef struct Rows
{
	uint64		n;
	SPITupleTable *table;
} Rows;

/*
 * Execute a statement.
 *
 * A plan that is made while the table is small will be used when it is large,
 * so it must go by the index from the start.
 */
static Rows
ExecutePlan(BloomSet *set, SetPlan plan, Datum *values, const char *nulls,
			bool read_only)
{
	static const char *const off[] = {
		"enable_seqscan", "enable_hashjoin", "enable_mergejoin"
	};
	int			nest_level = -1;
	Rows		rows;

	if (set->plans[plan] == NULL || !SPI_plan_is_valid(set->plans[plan]))
	{
		nest_level = NewGUCNestLevel();
		for (int i = 0; i < (int) lengthof(off); i++)
			(void) set_config_option(off[i], "off", PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
									 false);
	}
	if (set->plans[plan] == NULL)
		set->plans[plan] = Prepare(set, plan);
	if (SPI_execute_plan(set->plans[plan], values, nulls, read_only, 0) < 0)
		elog(ERROR, "SPI_execute_plan failed");
	if (nest_level >= 0)
		AtEOXact_GUC(true, nest_level);
	rows.n = SPI_processed;
	rows.table = SPI_tuptable;
	return rows;
}

/* A statement that has shards and a time slice. */
static Rows
Execute(BloomSet *set, SetPlan plan, Datum shards, TimestampTz slice,
		bool read_only)
{
	Datum		values[2] = {shards, TimestampTzGetDatum(slice)};

	return ExecutePlan(set, plan, values, NULL, read_only);
}

static Datum
GetColumn(const Rows *rows, uint64 i, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(rows->table->vals[i],
									  rows->table->tupdesc, column, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("unexpected null in the table of a Bloom set")));
	return value;
}

#define RowShard(rows, i)	DatumGetInt32(GetColumn(rows, i, 1))
#define RowSlice(rows, i)	DatumGetTimestampTz(GetColumn(rows, i, 2))
#define RowFilter(rows, i)	BloomFetch(GetColumn(rows, i, 3))

static Datum
MakeShardArray(Datum *shards, int n)
{
	return PointerGetDatum(construct_array(shards, n, INT4OID, sizeof(int32),
										   true, TYPALIGN_INT));
}

/* A statement that has filters as well, one for each shard. */
static Rows
Write(BloomSet *set, SetPlan plan, Datum *shards, TimestampTz slice,
	  Datum *filters, int n)
{
	Datum		values[4];
	Datum	   *rooms = palloc(n * sizeof(Datum));
	bool	   *nulls = palloc(n * sizeof(bool));
	bool		has_room = DatumGetInt32(shards[0]) != KEY_TYPE_SHARD &&
	!TIMESTAMP_IS_NOEND(slice);
	int			low_bound = 1;

	for (int i = 0; i < n; i++)
	{
		bytea	   *room = NULL;

		if (has_room)
			room = MakeRoom(set->params.bits,
							VARSIZE(DatumGetPointer(filters[i])));
		rooms[i] = PointerGetDatum(room);
		nulls[i] = room == NULL;
	}
	values[0] = MakeShardArray(shards, n);
	values[1] = TimestampTzGetDatum(slice);
	values[2] = PointerGetDatum(construct_array(filters, n, set->bloom_type,
												-1, false, TYPALIGN_DOUBLE));
	values[3] = PointerGetDatum(construct_md_array(rooms, nulls, 1, &n,
												   &low_bound, BYTEAOID, -1,
												   false, TYPALIGN_INT));
	return ExecutePlan(set, plan, values, NULL, false);
}

/* ----------------------------------------------------------------
 *							KEYS BY SHARD
 * ----------------------------------------------------------------
 */

/* A key of a call */
typedef struct SetKey
{
	int32		shard;
	bool		seen;			/* found in the set */
	bool		fresh;			/* added by this call */
	uint64		hash;
	uint64		index;			/* place in the array */
} SetKey;

/* The keys of one shard */
typedef struct KeyGroup
{
	int32		shard;
	SetKey	   *keys;
	uint64		nkeys;
	bool		has_head;
	bool		has_rows;
	const Bloom *current;		/* what the current slice holds, if it has a row */
	const Bloom *added;			/* the same with the keys added, if any is fresh */
} KeyGroup;

/* A call */
typedef struct SetCall
{
	BloomSet   *set;
	BloomKeyType key_type;
	SetKey	   *keys;
	uint64		nkeys;
	TimestampTz oldest;
	TimestampTz current;
	bool		read_only;

	/* the shards that were added to */
	double		shards_written;
	double		keys_written;

	/* of the range that is being worked on */
	KeyGroup	   *groups;
	int			ngroups;
} SetCall;

static int
CompareKeys(const void *a, const void *b)
{
	const SetKey *left = a;
	const SetKey *right = b;

	if (left->shard != right->shard)
		return left->shard < right->shard ? -1 : 1;
	return left->index < right->index ? -1 : 1;
}

static void
BeginCall(SetCall *call, BloomSet *set, const BloomHasher *hasher,
		  const uint64 *hashes, uint64 nhashes, TimestampTz at, bool read_only)
{
	memset(call, 0, sizeof(*call));
	call->set = set;
	call->key_type = hasher->key_type;
	call->oldest = OldestSlice(set, at);
	call->current = SliceOf(set, at);
	call->read_only = read_only;
	call->nkeys = nhashes;
	call->keys = MemoryContextAllocExtended(CurrentMemoryContext,
											Max(nhashes, 1) * sizeof(SetKey),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint64 i = 0; i < nhashes; i++)
	{
		uint64		mixed = BloomHashInt64((int64) hashes[i], SHARD_SEED);

		call->keys[i].shard = (int32) BloomMulHigh(mixed, set->params.shards);
		call->keys[i].hash = hashes[i];
		call->keys[i].index = i;
	}
	if (nhashes > 1)
		qsort(call->keys, nhashes, sizeof(SetKey), CompareKeys);
	call->groups = palloc(Min(Max(nhashes, 1), SHARDS_PER_RANGE) *
						  sizeof(KeyGroup));
}

/*
 * Make groups of the keys of a range of shards, from this key on.  The result
 * is the first key of the next range.
 */
static uint64
BeginRange(SetCall *call, uint64 first)
{
	int32		range = call->keys[first].shard / SHARDS_PER_RANGE;
	KeyGroup   *group = NULL;
	uint64		i;

	CHECK_FOR_INTERRUPTS();
	call->ngroups = 0;
	for (i = first; i < call->nkeys &&
		 call->keys[i].shard / SHARDS_PER_RANGE == range; i++)
	{
		if (group == NULL || group->shard != call->keys[i].shard)
		{
			group = &call->groups[call->ngroups++];
			memset(group, 0, sizeof(*group));
			group->shard = call->keys[i].shard;
			group->keys = &call->keys[i];
		}
		group->nkeys++;
	}
	return i;
}

static KeyGroup *
FindGroup(const SetCall *call, int32 shard)
{
	int			low = 0;
	int			high = call->ngroups - 1;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (call->groups[middle].shard < shard)
			low = middle + 1;
		else
			high = middle;
	}
	if (call->groups[low].shard != shard)
		elog(ERROR, "shard %d was not asked for", shard);
	return &call->groups[low];
}

/* Is there a key in the group of which nothing is known yet? */
static bool
IsOpen(const KeyGroup *group)
{
	for (uint64 i = 0; i < group->nkeys; i++)
	{
		if (!group->keys[i].seen && !group->keys[i].fresh)
			return true;
	}
	return false;
}

/* Groups that are chosen for a statement, with their shards */
typedef struct Choice
{
	KeyGroup	  **groups;
	Datum	   *shards;
	Datum	   *filters;
	int			n;
} Choice;

static void
BeginChoice(Choice *choice, const SetCall *call)
{
	choice->groups = palloc(call->ngroups * sizeof(KeyGroup *));
	choice->shards = palloc(call->ngroups * sizeof(Datum));
	choice->filters = palloc(call->ngroups * sizeof(Datum));
	choice->n = 0;
}

static void
Choose(Choice *choice, KeyGroup *group, const Bloom *filter)
{
	choice->groups[choice->n] = group;
	choice->shards[choice->n] = Int32GetDatum(group->shard);
	choice->filters[choice->n] = PointerGetDatum(filter);
	choice->n++;
}

/* ----------------------------------------------------------------
 *							TESTING
 * ----------------------------------------------------------------
 */

/*
 * Look for the keys in rows, and note which rows there are.
 */
static void
LookInto(SetCall *call, const Rows *rows)
{
	for (uint64 i = 0; i < rows->n; i++)
	{
		KeyGroup	   *group = FindGroup(call, RowShard(rows, i));
		TimestampTz slice = RowSlice(rows, i);
		const Bloom *filter;

		if (TIMESTAMP_IS_NOEND(slice))
		{
			group->has_head = true;
			continue;
		}
		filter = RowFilter(rows, i);
		BloomCheckKeyType(filter, &call->key_type);
		group->has_rows = true;
		if (slice == call->current)
			group->current = filter;
		for (uint64 j = 0; j < group->nkeys; j++)
		{
			SetKey	   *key = &group->keys[j];

			if (!key->seen && !key->fresh)
				key->seen = BloomTestHash(filter, key->hash);
		}
	}
}

/* Look for the keys that are open in all live slices. */
static void
Read(SetCall *call)
{
	Choice		choice;
	Rows		rows;

	BeginChoice(&choice, call);
	for (int i = 0; i < call->ngroups; i++)
	{
		if (IsOpen(&call->groups[i]))
			Choose(&choice, &call->groups[i], NULL);
	}
	if (choice.n == 0)
		return;
	rows = Execute(call->set, PLAN_READ,
				   MakeShardArray(choice.shards, choice.n), call->oldest,
				   call->read_only);
	LookInto(call, &rows);
}

/*
 * Check the key type with the row that knows it.  False: there is none.
 */
static bool
CheckSetKeyType(SetCall *call)
{
	Datum		shard = Int32GetDatum(KEY_TYPE_SHARD);
	Rows		rows = Execute(call->set, PLAN_READ, MakeShardArray(&shard, 1),
							   DT_NOBEGIN, call->read_only);

	if (rows.n == 0)
		return false;
	BloomCheckKeyType(RowFilter(&rows, 0), &call->key_type);
	return true;
}

/*
 * Test all keys of a call.
 */
static void
TestKeys(SetCall *call)
{
	bool		checked = false;

	for (uint64 i = 0; i < call->nkeys;)
	{
		i = BeginRange(call, i);
		Read(call);
		for (int j = 0; j < call->ngroups && !checked; j++)
		{
			if (call->groups[j].has_rows)
				continue;
			(void) CheckSetKeyType(call);
			checked = true;
		}
	}
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/*
 * Add what is open of a group to what its shard holds.
 */
static void
AddToFilter(SetCall *call, KeyGroup *group, const Bloom *filter)
{
	Bloom	   *state;
	bool		any = false;

	BloomCheckHasShape(filter);
	state = BloomStateNoteKeyType(BloomStateFrom(filter), &call->key_type);
	for (uint64 i = 0; i < group->nkeys; i++)
	{
		SetKey	   *key = &group->keys[i];

		if (key->seen || key->fresh)
			continue;
		state = BloomStateAddAndTell(state, key->hash, BLOOM_TURN_INTO_BITS,
									 &key->fresh);
		key->seen = !key->fresh;
		any |= key->fresh;
	}
	group->added = any ? BloomStatePublish(state) : NULL;
}

/* A group's keys were not added after all: somebody else made the row. */
static void
Reopen(KeyGroup *group)
{
	for (uint64 i = 0; i < group->nkeys; i++)
	{
		group->keys[i].fresh = false;
		group->keys[i].seen = false;
	}
	group->added = NULL;
}

/* Note for the warning what was written. */
static void
NoteWritten(SetCall *call, const Choice *choice)
{
	for (int i = 0; i < choice->n; i++)
	{
		const Bloom *filter = choice->groups[i]->added;

		call->shards_written++;
		call->keys_written += BloomCardinality(filter);
	}
}

/*
 * An error, if a row can neither be made nor be found again and again.
 */
static void
CheckTries(const BloomSet *set, int tries)
{
	CHECK_FOR_INTERRUPTS();
	if (tries >= MAX_TRIES)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not write to Bloom set \"%s\"",
						get_rel_name(set->relid)),
				 errdetail("A row can be neither inserted nor found."),
				 errhint("A trigger, rule or policy of the table may be in the way.")));
}

/*
 * The first key of a set decides on the type of its keys.
 */
static void
EnsureSetKeyType(SetCall *call)
{
	Datum		shard = Int32GetDatum(KEY_TYPE_SHARD);
	BloomShape	shape = BloomShapeForCapacity(1, BLOOM_DEFAULT_FP_PROB, 0);
	const Bloom *first;
	Datum		filter;

	/* read again each time: the row may be made by another transaction */
	for (int tries = 0; !CheckSetKeyType(call); tries++)
	{
		CheckTries(call->set, tries);
		shape.bits = 128;
		first = BloomAddSorted(BloomMakeEmpty(&shape), &call->keys[0].hash, 1,
							   &call->key_type);
		filter = PointerGetDatum(first);
		Write(call->set, PLAN_INSERT, &shard, DT_NOBEGIN, &filter, 1);
	}
}

/* Insert rows for the current slice.  Those that were there are reopened. */
static void
InsertRows(SetCall *call, Choice *choice)
{
	Rows		rows;
	int			kept = 0;

	if (choice->n == 0)
		return;
	rows = Write(call->set, PLAN_INSERT, choice->shards, call->current,
				 choice->filters, choice->n);
	for (int i = 0; i < choice->n; i++)
	{
		bool		inserted = rows.n == (uint64) choice->n;

		for (uint64 j = 0; !inserted && j < rows.n; j++)
			inserted = RowShard(&rows, j) == choice->groups[i]->shard;
		if (inserted)
			choice->groups[kept++] = choice->groups[i];
		else
			Reopen(choice->groups[i]);
	}
	choice->n = kept;
	NoteWritten(call, choice);
}

/* Update rows of the current slice, which are locked. */
static void
UpdateRows(SetCall *call, const Choice *choice)
{
	Rows		rows;

	if (choice->n == 0)
		return;
	rows = Write(call->set, PLAN_UPDATE, choice->shards, call->current,
				 choice->filters, choice->n);
	if (rows.n != (uint64) choice->n)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not write to Bloom set \"%s\"",
						get_rel_name(call->set->relid)),
				 errdetail("Of %d rows, " UINT64_FORMAT " were updated.",
						   choice->n, rows.n),
				 errhint("A trigger, rule or policy of the table may be in the way.")));
	NoteWritten(call, choice);
}

/*
 * Add the keys of a range to a set that keeps all.
 */
static void
AddForEver(SetCall *call)
{
	Choice		choice;
	Rows		rows;

	BeginChoice(&choice, call);
	for (int i = 0; i < call->ngroups; i++)
	{
		KeyGroup	   *group = &call->groups[i];

		if (group->current != NULL || !IsOpen(group))
			continue;
		if (choice.n == 0)
			EnsureSetKeyType(call);
		AddToFilter(call, group, BloomMakeEmpty(&call->set->shape));
		Choose(&choice, group, group->added);
	}
	InsertRows(call, &choice);

	choice.n = 0;
	for (int i = 0; i < call->ngroups; i++)
	{
		if (IsOpen(&call->groups[i]))
			Choose(&choice, &call->groups[i], NULL);
	}
	if (choice.n == 0)
		return;
	rows = Execute(call->set, PLAN_LOCK,
				   MakeShardArray(choice.shards, choice.n), call->current,
				   false);

	choice.n = 0;
	for (uint64 i = 0; i < rows.n; i++)
	{
		KeyGroup	   *group = FindGroup(call, RowShard(&rows, i));

		AddToFilter(call, group, RowFilter(&rows, i));
		if (group->added != NULL)
			Choose(&choice, group, group->added);
	}
	UpdateRows(call, &choice);
}

/*
 * Add the keys of a range to a set that forgets.
 */
static void
AddForAWhile(SetCall *call)
{
	Choice		choice;
	Choice		missing;
	Rows		rows;
	Datum		shards;
	Datum		head = PointerGetDatum(BloomMakeEmpty(&call->set->shape));

	/* the rows to lock */
	BeginChoice(&choice, call);
	BeginChoice(&missing, call);
	for (int i = 0; i < call->ngroups; i++)
	{
		KeyGroup	   *group = &call->groups[i];

		if (!IsOpen(group))
			continue;
		Choose(&choice, group, NULL);
		if (!group->has_head)
			Choose(&missing, group, (Bloom *) DatumGetPointer(head));
	}
	if (missing.n > 0)
	{
		EnsureSetKeyType(call);
		Write(call->set, PLAN_INSERT, missing.shards, DT_NOEND,
			  missing.filters, missing.n);
	}
	shards = MakeShardArray(choice.shards, choice.n);
	rows = Execute(call->set, PLAN_LOCK_HEADS, shards, DT_NOEND, false);
	if (rows.n != (uint64) choice.n)
		return;					/* somebody deletes them: once more */

	/* what others have added meanwhile */
	for (int i = 0; i < call->ngroups; i++)
		call->groups[i].current = NULL;
	Read(call);

	choice.n = 0;
	missing.n = 0;
	for (int i = 0; i < call->ngroups; i++)
	{
		KeyGroup	   *group = &call->groups[i];

		if (!IsOpen(group))
			continue;
		AddToFilter(call, group, group->current != NULL ? group->current :
					BloomMakeEmpty(&call->set->shape));
		if (group->added != NULL)
			Choose(group->current != NULL ? &choice : &missing, group,
				   group->added);
	}
	if (missing.n > 0)
	{
		EnsureSetKeyType(call);
		Execute(call->set, PLAN_FORGET,
				MakeShardArray(missing.shards, missing.n), call->oldest,
				false);
	}
	InsertRows(call, &missing);
	UpdateRows(call, &choice);
}

/*
 * The short way for one key: add it, unless it is there, in one statement.
 *
 * When the row is locked by another session, the server looks at its new
 * version again before it changes it.  False: there is no such row, it still
 * grows, or the key is there.
 */
static bool
PutKey(SetCall *call)
{
	SetKey	   *key = &call->keys[0];
	Datum		values[4];
	Rows		rows;

	values[0] = Int32GetDatum(key->shard);
	values[1] = TimestampTzGetDatum(call->current);
	values[2] = UInt64GetDatum(key->hash);
	values[3] = ObjectIdGetDatum(call->key_type.id);
	rows = ExecutePlan(call->set, PLAN_PUT, values, NULL, false);
	if (rows.n == 0)
		return false;
	key->fresh = true;
	call->shards_written = 1;
	call->keys_written = BloomCardinality(BloomFetch(GetColumn(&rows, 0, 1)));
	return true;
}

/* Is there a key in the range of which nothing is known yet? */
static bool
RangeIsOpen(const SetCall *call)
{
	for (int i = 0; i < call->ngroups; i++)
	{
		if (IsOpen(&call->groups[i]))
			return true;
	}
	return false;
}

/*
 * Add all keys of a call.
 */
static void
AddKeys(SetCall *call)
{
	if (call->nkeys == 1 && call->set->params.keeps_all &&
		call->key_type.words == 0 && PutKey(call))
		return;
	for (uint64 i = 0; i < call->nkeys;)
	{
		i = BeginRange(call, i);
		for (int tries = 0;; tries++)
		{
			CheckTries(call->set, tries);
			Read(call);
			if (!RangeIsOpen(call))
				break;
			if (call->set->params.keeps_all)
				AddForEver(call);
			else
				AddForAWhile(call);
			if (!RangeIsOpen(call))
				break;
			/* rows have come or gone between two statements */
			for (int j = 0; j < call->ngroups; j++)
			{
				call->groups[j].current = NULL;
				call->groups[j].has_head = false;
			}
		}
	}
}

/*
 * Warn of a set that holds more keys than it is sized for, as far as the
 * shards tell that this call has written to.  True: there was a warning.
 *
 * The number of keys in a shard varies by chance, and is an estimate besides.
 */
static bool
WarnIfOverfullSet(const SetCall *call)
{
	const BloomSet *set = call->set;
	double		expected = call->shards_written * set->shard_capacity;
	double		error = BloomEstimateError(set->shape.bits, set->shape.hashes,
										   set->shard_capacity);
	double		variance = error * error +
	(set->params.shards > 1 ? set->shard_capacity : 0);

	if (call->keys_written <= expected +
		OVERFULL_ERRORS * sqrt(call->shards_written * variance))
		return false;
	ereport(WARNING,
			(errmsg("Bloom set \"%s\" holds more keys than its capacity",
					get_rel_name(set->relid)),
			 errdetail("By %.0f of its %d shards, it holds about %.1f times as many keys as the " INT64_FORMAT " that it %s sized for.",
					   call->shards_written, set->params.shards,
					   call->keys_written / expected,
					   SliceCapacity(&set->params),
					   set->params.keeps_all ? "is" : "has each time slice"),
			 errhint("bloom_set_info tells the rate of false positives. Make a set of a larger capacity.")));
	return true;
}

/* ----------------------------------------------------------------
 *							SQL-CALLABLE
 * ----------------------------------------------------------------
 */

/*
 * bloom_set_create
 *		Make the table of a set.
 */
PG_FUNCTION_INFO_V1(bloom_set_create);
Datum
bloom_set_create(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"name", "capacity", "fp_prob", NULL, "slices"};
	SetParams	params = {0};
	RangeVar   *table;
	const char *name;
	const char *schema;
	char	   *keep = NULL;
	Oid			relid;

	for (int i = 0; i < (int) lengthof(names); i++)
	{
		if (names[i] != NULL && PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[i])));
	}

	params.capacity = PG_GETARG_INT64(1);
	params.fp_prob = PG_GETARG_FLOAT8(2);
	params.keeps_all = PG_ARGISNULL(3);
	params.slices = PG_GETARG_INT32(4);
	if (params.slices < 1 || params.slices > MAX_SLICES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slices %d is out of range", params.slices),
				 errdetail("slices must be between 1 and %d.", MAX_SLICES)));
	if (!params.keeps_all)
	{
		Interval   *span = PG_GETARG_INTERVAL_P(3);

		keep = DatumGetCString(DirectFunctionCall1(interval_out,
												   IntervalPGetDatum(span)));
		params.keep = IntervalToMicroseconds(span);
		if (params.keep < params.slices)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("keep %s is out of range", keep),
					 errdetail("keep must be at least a microsecond for each slice, and at most 365000 days.")));
	}
	/* checks fp_prob as the caller wrote it */
	(void) BloomShapeForCapacity(1, params.fp_prob, 0);
	if (params.capacity < 1)
		(void) BloomShapeForCapacity(params.capacity, params.fp_prob, 0);
	if (SliceRate(&params) < BloomMinFpProb())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fp_prob %g is out of range for a set of %d slices",
						params.fp_prob, params.slices),
				 errdetail("Each of %d live time slices would have to have fp_prob %.3g; at least %.3g can be had.",
						   params.slices + 1, SliceRate(&params),
						   BloomMinFpProb())));
	SizeShards(&params, SliceCapacity(&params), SliceRate(&params));

	table = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	name = quote_qualified_identifier(table->schemaname, table->relname);
	schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("CREATE TABLE %s (shard pg_catalog.int4,"
							 " slice pg_catalog.timestamptz,"
							 " filter %s.bloom NOT NULL,"
							 " room pg_catalog.bytea DEFAULT"
							 " %s.bloom_set_room('" INT64_FORMAT "'::pg_catalog.int8,"
							 " '%s'::pg_catalog.float8, %s::pg_catalog.interval,"
							 " %d, %d, '" INT64_FORMAT "'::pg_catalog.int8, %d),"
							 " PRIMARY KEY (shard, slice))"
							 " WITH (fillfactor = %d)",
							 name, schema, schema, params.capacity,
							 double_to_shortest_decimal(params.fp_prob),
							 keep == NULL ? "NULL" : quote_literal_cstr(keep),
							 params.slices, params.shards, params.bits,
							 params.hashes, SHARD_FILLFACTOR),
					false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create the table of a Bloom set");
	relid = RangeVarGetRelid(table, NoLock, false);
	if (SPI_execute(psprintf("COMMENT ON TABLE %s IS 'Bloom set of keys: see bloom_set_add, bloom_set_contains, bloom_set_info'",
							 name), false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not comment on the table of a Bloom set");
	SPI_finish();
	PG_RETURN_OID(relid);
}

/* What a call site knows */
typedef struct CallSite
{
	BloomHasher hasher;
	bool		warned;
} CallSite;

static CallSite *
GetCallSite(FunctionCallInfo fcinfo, bool is_array)
{
	CallSite   *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
		site = BloomMakeCallSite(fcinfo, 1, is_array, sizeof(CallSite));
	return site;
}

/*
 * Add hashes to a set, or only look for them.
 */
static SetCall
RunCall(BloomSet *set, CallSite *site, const uint64 *hashes, uint64 nhashes,
		TimestampTz at, bool add)
{
	SetCall		call;

	BeginCall(&call, set, &site->hasher, hashes, nhashes, at, !add);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	set->users++;
	PG_TRY();
	{
		if (add)
			AddKeys(&call);
		else
			TestKeys(&call);
	}
	PG_FINALLY();
	{
		set->users--;
	}
	PG_END_TRY();
	if (!site->warned)
		site->warned = WarnIfOverfullSet(&call);
	SPI_finish();
	return call;
}

/*
 * bloom_set_add
 *		Add a key to a set.  True: it was new.
 */
PG_FUNCTION_INFO_V1(bloom_set_add);
Datum
bloom_set_add(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 2);
	CallSite   *site;
	uint64		hash;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = GetCallSite(fcinfo, false);
	hash = BloomHashDatum(&site->hasher, PG_GETARG_DATUM(1), 0);
	PG_RETURN_BOOL(RunCall(set, site, &hash, 1, at, true).keys[0].fresh);
}

/*
 * bloom_set_add_all
 *		Add the elements of an array to a set.  The result are the new ones.
 */
PG_FUNCTION_INFO_V1(bloom_set_add_all);
Datum
bloom_set_add_all(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 2);
	CallSite   *site;
	BloomKeyType any = {0};
	BloomArrayKeys keys;
	SetCall		call;
	bool	   *fresh;
	uint64		nfresh = 0;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = GetCallSite(fcinfo, true);
	keys = BloomHashArray(&site->hasher, PG_GETARG_ARRAYTYPE_P(1), &any, 0,
						  BLOOM_TO_ADD);
	call = RunCall(set, site, keys.hashes, keys.nkeys, at, true);

	fresh = palloc0(Max(keys.nkeys, 1) * sizeof(bool));
	for (uint64 i = 0; i < keys.nkeys; i++)
		fresh[call.keys[i].index] = call.keys[i].fresh;
	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		if (fresh[i])
			keys.keys[nfresh++] = keys.keys[i];
	}
	PG_RETURN_DATUM(BloomMakeKeyArray(keys.element, keys.keys, nfresh));
}

/*
 * bloom_set_contains
 *		Does a set possibly contain a key?
 */
PG_FUNCTION_INFO_V1(bloom_set_contains);
Datum
bloom_set_contains(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 2);
	CallSite   *site;
	uint64		hash;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = GetCallSite(fcinfo, false);
	hash = BloomHashDatum(&site->hasher, PG_GETARG_DATUM(1), 0);
	PG_RETURN_BOOL(RunCall(set, site, &hash, 1, at, false).keys[0].seen);
}

/*
 * bloom_set_contains_all
 *		Does a set possibly contain every element of an array?
 *
 * Null elements count as in ALL.
 */
PG_FUNCTION_INFO_V1(bloom_set_contains_all);
Datum
bloom_set_contains_all(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 2);
	CallSite   *site;
	BloomKeyType any = {0};
	BloomArrayKeys keys;
	SetCall		call;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = GetCallSite(fcinfo, true);
	keys = BloomHashArray(&site->hasher, PG_GETARG_ARRAYTYPE_P(1), &any, 0,
						  BLOOM_TO_ADD);
	call = RunCall(set, site, keys.hashes, keys.nkeys, at, false);
	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		if (!call.keys[i].seen)
			PG_RETURN_BOOL(false);
	}
	if (keys.has_nulls)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(true);
}

/*
 * bloom_set_expire
 *		Forget the time slices that need no longer be remembered.
 */
PG_FUNCTION_INFO_V1(bloom_set_expire);
Datum
bloom_set_expire(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 1);
	Oid			type = TIMESTAMPTZOID;
	Datum		oldest = TimestampTzGetDatum(OldestSlice(set, at));
	int64		forgotten;
	bool		isnull;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(psprintf("WITH old AS (DELETE FROM %s"
									   " WHERE shard OPERATOR(pg_catalog.>=) 0"
									   " AND slice OPERATOR(pg_catalog.<) $1"
									   " RETURNING slice)"
									   " SELECT pg_catalog.count(DISTINCT slice) FROM old",
									   SetName(set)),
							  1, &type, &oldest, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not delete from the table of a Bloom set");
	forgotten = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
											SPI_tuptable->tupdesc, 1, &isnull));
	SPI_finish();
	PG_RETURN_INT64(forgotten);
}

/*
 * bloom_set_params
 *		The parameters of a set, and the oldest live time slice.
 */
PG_FUNCTION_INFO_V1(bloom_set_params);
Datum
bloom_set_params(PG_FUNCTION_ARGS)
{
	BloomSet   *set = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 1);
	SetParams  *params = &set->params;
	TupleDesc	tupdesc;
	Datum		values[8];
	bool		nulls[8] = {false};
	Interval	keep = {0};
	Interval	slice = {0};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	keep.day = params->keep / USECS_PER_DAY;
	keep.time = params->keep % USECS_PER_DAY;
	slice.day = set->slice_length / USECS_PER_DAY;
	slice.time = set->slice_length % USECS_PER_DAY;

	values[0] = Int64GetDatum(params->capacity);
	values[1] = Float8GetDatum(params->fp_prob);
	values[2] = IntervalPGetDatum(&keep);
	nulls[2] = params->keeps_all;
	values[3] = IntervalPGetDatum(&slice);
	nulls[3] = params->keeps_all;
	values[4] = Int64GetDatum(SliceCapacity(params));
	values[5] = Float8GetDatum(SliceRate(params));
	values[6] = Int32GetDatum(params->shards);
	values[7] = TimestampTzGetDatum(OldestSlice(set, at));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values,
											 nulls));
}

/*
 * bloom_set_put
 *		A shard's filter with one more hash.
 */
PG_FUNCTION_INFO_V1(bloom_set_put);
Datum
bloom_set_put(PG_FUNCTION_ARGS)
{
	uint64		hash = (uint64) PG_GETARG_INT64(1);
	BloomKeyType key_type = BloomBuiltinKeyType(PG_GETARG_OID(2));

	PG_RETURN_BLOOM_P(BloomAddSorted(PG_GETARG_BLOOM_P(0), &hash, 1,
									 &key_type));
}

/*
 * bloom_set_lacks
 *		Does a shard's filter certainly not hold a hash?
 */
PG_FUNCTION_INFO_V1(bloom_set_lacks);
Datum
bloom_set_lacks(PG_FUNCTION_ARGS)
{
	const Bloom *filter = PG_GETARG_BLOOM_P(0);
	BloomKeyType key_type = BloomBuiltinKeyType(PG_GETARG_OID(2));

	BloomCheckKeyType(filter, &key_type);
	PG_RETURN_BOOL(!BloomTestHash(filter, (uint64) PG_GETARG_INT64(1)));
}
