/*-------------------------------------------------------------------------
 *
 * set/sql.c
 *		Stored sets: the functions that SQL calls.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "commands/comment.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/varlena.h"

#include "filter/call.h"
#include "set/add.h"
#include "set/compat.h"
#include "set/identity.h"
#include "set/maintain.h"
#include "set/test.h"

/* Room of a set that grows, and for whose size nobody has asked */
#define DEFAULT_CAPACITY	100000

/* ----------------------------------------------------------------
 *							ARGUMENTS
 * ----------------------------------------------------------------
 */

static Oid
GetSetArg(FunctionCallInfo fcinfo)
{
	BloomCheckNotNull(PG_ARGISNULL(0), "set");
	return PG_GETARG_OID(0);
}

static TimestampTz
CheckTime(const char *name, Datum value, bool isnull)
{
	TimestampTz at = DatumGetTimestampTz(value);

	BloomCheckNotNull(isnull, name);
	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("%s must be finite", name)));
	return at;
}

static TimestampTz
GetTimeArg(FunctionCallInfo fcinfo, int argno)
{
	return CheckTime("time", PG_GETARG_DATUM(argno), PG_ARGISNULL(argno));
}

/* What a call site knows */
typedef struct CallSite
{
	BloomHasher hasher;
	bool		warned;
	StoredSetCache *cache;		/* of tests, or NULL */
} CallSite;

static CallSite *
GetCallSite(FunctionCallInfo fcinfo, bool is_array)
{
	CallSite   *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
		site = BloomMakeCallSite(fcinfo, 1, is_array, sizeof(CallSite));
	return site;
}

/* ----------------------------------------------------------------
 *							CREATING
 * ----------------------------------------------------------------
 */

/* How long to keep a key, in microseconds. */
static int64
GetKeepArg(FunctionCallInfo fcinfo, int argno, int32 slices)
{
	const Interval *span = PG_GETARG_INTERVAL_P(argno);
	double		days = span->day + (double) span->month * DAYS_PER_MONTH;
	double		microseconds = span->time + days * USECS_PER_DAY;

	if (microseconds < slices || microseconds > STORED_SET_MAX_KEEP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keep %s is out of range",
						DatumGetCString(DirectFunctionCall1(interval_out,
															PG_GETARG_DATUM(argno)))),
				 errdetail("keep must be at least a microsecond for each slice, and at most 365000 days.")));
	return (int64) microseconds;
}

/* The key type that a name stands for, as it would for a column. */
static BloomKeyType
GetKeyTypeArg(FunctionCallInfo fcinfo, int argno)
{
	Oid			type;
	int32		typmod;

	BloomCheckNotNull(PG_ARGISNULL(argno), "key_type");
	parseTypeString(text_to_cstring(PG_GETARG_TEXT_PP(argno)), &type, &typmod,
					NULL);
	return BloomKeyTypeOfSqlType(type);
}

/* Parameters by the arguments of bloom_set_create. */
static StoredSetParams
GetParams(FunctionCallInfo fcinfo)
{
	StoredSetParams params = {0};

	BloomCheckNotNull(PG_ARGISNULL(3), "fp_prob");
	BloomCheckNotNull(PG_ARGISNULL(5), "slices");
	BloomCheckNotNull(PG_ARGISNULL(6), "grow");
	BloomCheckNotNull(PG_ARGISNULL(7), "unlogged");
	BloomCheckNotNull(PG_ARGISNULL(9), "if_not_exists");

	params.grows = PG_GETARG_BOOL(6);
	if (!params.grows)
		BloomCheckNotNull(PG_ARGISNULL(2), "capacity of a set that does not grow");
	params.capacity = PG_ARGISNULL(2) ? DEFAULT_CAPACITY :
		(int64) BloomCheckCapacity(PG_GETARG_FLOAT8(2),
								   (double) STORED_SET_MAX_CAPACITY);
	params.fp_prob = PG_GETARG_FLOAT8(3);
	params.slices = PG_GETARG_INT32(5);
	if (params.slices < 1 || params.slices > STORED_SET_MAX_SLICES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slices %d is out of range", params.slices),
				 errdetail("slices must be between 1 and %d.",
						   STORED_SET_MAX_SLICES)));
	if (!PG_ARGISNULL(4))
		params.keep = GetKeepArg(fcinfo, 4, params.slices);

	/* checks fp_prob as the caller wrote it */
	(void) BloomShapeForCapacity(1, params.fp_prob, 0);
	if (StoredSetSliceRate(&params) < BloomMinFpProb())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fp_prob %g is out of range for a set of %d slices",
						params.fp_prob, params.slices),
				 errdetail("Each of %d live time slices would need fp_prob %.3g; the smallest possible is %.3g.",
						   params.slices + 1, StoredSetSliceRate(&params),
						   BloomMinFpProb())));

	if (!PG_ARGISNULL(8))
		params.seed = PG_GETARG_INT64(8);
	else if (!pg_strong_random(&params.seed, sizeof(params.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	if (!StoredSetSize(&params))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity " INT64_FORMAT " is too large for a set",
						params.capacity),
				 errdetail("The set would have more than %d buckets.",
						   PG_INT32_MAX)));
	return params;
}

/* The table that a name stands for, with the schema in which to make it. */
static RangeVar *
GetNewTable(const text * name, Oid *schema)
{
	char	   *raw = text_to_cstring(name);
	List	   *names;
	ListCell   *lc;
	RangeVar   *table;
	AclResult	allowed;

	/* the names as they are, not cut */
	if (!SplitGUCList(pstrdup(raw), '.', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name syntax"),
				 errdetail("The name of the set is \"%s\".", raw),
				 errhint("Put a name with other characters than lower-case letters, digits and underscores in double quotes, as in '\"my-set\"' or 'my_schema.\"My Set\"'.")));
	foreach(lc, names)
	{
		if (strlen(lfirst(lc)) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("name \"%s\" is too long", (char *) lfirst(lc)),
					 errdetail("It has %zu bytes; a name has at most %d.",
							   strlen(lfirst(lc)), NAMEDATALEN - 1)));
	}
	table = makeRangeVarFromNameList(textToQualifiedNameList((text *) name));
	*schema = RangeVarGetCreationNamespace(table);

	/* here, since the server would show the command that makes the table */
	allowed = object_aclcheck(NamespaceRelationId, *schema, GetUserId(),
							  ACL_CREATE);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_SCHEMA, get_namespace_name(*schema));
	return table;
}

/* An error, unless a relation is a set with keys of this type. */
static void
CheckExists(Oid relid, const BloomKeyType *key_type)
{
	StoredSetTable table;

	/* an error, if it is no set */
	StoredSetOpen(&table, relid, false);
	if (!BloomSameKeyType(&table.set.key_type, key_type))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("Bloom set \"%s\" already exists, with keys of another type",
						RelationGetRelationName(table.rel)),
				 errdetail("The key type of the set is %s, not %s.",
						   BloomKeyTypeName(&table.set.key_type),
						   BloomKeyTypeName(key_type))));
	StoredSetClose(&table);
}

/*
 * bloom_set_create
 *		Make the table of a set.
 */
PG_FUNCTION_INFO_V1(bloom_set_create);
Datum
bloom_set_create(PG_FUNCTION_ARGS)
{
	StoredSet	set = {0};
	RangeVar   *table;
	Oid			schema;
	const char *ours;
	Oid			relid;

	BloomCheckNotNull(PG_ARGISNULL(0), "name");
	set.key_type = GetKeyTypeArg(fcinfo, 1);
	set.params = GetParams(fcinfo);
	table = GetNewTable(PG_GETARG_TEXT_PP(0), &schema);
	relid = get_relname_relid(table->relname, schema);
	if (OidIsValid(relid))
	{
		if (!PG_GETARG_BOOL(9))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_TABLE),
					 errmsg("relation \"%s\" already exists", table->relname)));
		CheckExists(relid, &set.key_type);
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists, skipping",
						table->relname)));
		PG_RETURN_OID(relid);
	}
	ours = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("CREATE%s TABLE %s (bucket pg_catalog.int4,"
							 " lane pg_catalog.int4,"
							 " slice pg_catalog.timestamptz,"
							 " filter %s.bloom,"
							 " room pg_catalog.bytea DEFAULT %s,"
							 " PRIMARY KEY (bucket, slice, lane)"
							 " WITH (deduplicate_items = off))"
							 " USING heap WITH (fillfactor = %d)",
							 PG_GETARG_BOOL(7) ? " UNLOGGED" : "",
							 quote_qualified_identifier(get_namespace_name(schema),
														table->relname),
							 ours, StoredSetDefault(&set, ours),
							 STORED_SET_FILLFACTOR),
					false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create the table of a Bloom set");
	SPI_finish();

	relid = get_relname_relid(table->relname, schema);
	if (!OidIsValid(relid))
		elog(ERROR, "the table of a Bloom set is gone");
	CreateComments(relid, RelationRelationId, 0,
				   "Bloom set of keys: see bloom_set_add, bloom_set_contains, bloom_set_info");
	PG_RETURN_OID(relid);
}

/* ----------------------------------------------------------------
 *							ADDING AND TESTING
 * ----------------------------------------------------------------
 */

/* Add a key of a call site, and finish the call.  True: it was new. */
static bool
AddKey(StoredSetCall *call, BloomHasher *hasher, Datum key, bool *warned)
{
	const StoredSet *set = &call->table.set;
	uint64		hash = BloomHashKeyAs(hasher, key, BLOOM_HOLDER_SET,
									  &set->key_type,
									  (uint64) set->params.seed, BLOOM_TO_ADD);

	StoredSetAdd(call, &hash, 1, warned);
	StoredSetClose(&call->table);
	return call->keys[0].answer == STORED_SET_FRESH;
}

/*
 * bloom_set_add
 *		Add a key to a set.  True: it was new.
 */
PG_FUNCTION_INFO_V1(bloom_set_add);
Datum
bloom_set_add(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	CallSite   *site;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetTimeArg(fcinfo, 2));
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		PG_RETURN_NULL();
	}
	site = GetCallSite(fcinfo, false);
	PG_RETURN_BOOL(AddKey(&call, &site->hasher, PG_GETARG_DATUM(1),
						  &site->warned));
}

/* Start a test.  NULL: the keys are null; the set was only looked at. */
static CallSite *
StartTest(FunctionCallInfo fcinfo, bool is_array, StoredSetTest *test,
		  StoredSetTable *table)
{
	Oid			relid = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 2);
	CallSite   *site;

	if (PG_ARGISNULL(1))
	{
		StoredSetOpen(table, relid, false);
		StoredSetClose(table);
		return NULL;
	}
	site = GetCallSite(fcinfo, is_array);
	StoredSetStartTest(test, table, &site->cache, fcinfo->flinfo->fn_mcxt,
					   relid, at);
	return site;
}

/*
 * bloom_set_contains
 *		Does a set possibly contain a key?
 */
PG_FUNCTION_INFO_V1(bloom_set_contains);
Datum
bloom_set_contains(PG_FUNCTION_ARGS)
{
	StoredSetTable table;
	StoredSetTest test;
	CallSite   *site = StartTest(fcinfo, false, &test, &table);
	uint64		hash;
	bool		result;

	if (site == NULL)
		PG_RETURN_NULL();
	hash = BloomHashKeyAs(&site->hasher, PG_GETARG_DATUM(1), BLOOM_HOLDER_SET,
						  &test.key_type, test.seed, BLOOM_TO_FIND);
	result = StoredSetTestKey(&test, hash);
	StoredSetFinishTest(&test);
	PG_RETURN_BOOL(result);
}

/*
 * Answers for the keys of an array, in its order, by a test.  NULL, if the array
 * is null.
 */
static uint8 *
TestArray(FunctionCallInfo fcinfo, BloomArrayKeys *array)
{
	StoredSetTable table;
	StoredSetTest test;
	CallSite   *site = StartTest(fcinfo, true, &test, &table);
	uint8	   *answers;

	if (site == NULL)
		return NULL;
	*array = BloomHashArray(&site->hasher, PG_GETARG_ARRAYTYPE_P(1),
							BLOOM_HOLDER_SET, &test.key_type, test.seed,
							BLOOM_TO_FIND);
	answers = palloc0(array->nkeys + 1);
	StoredSetTestKeys(&test, array->hashes, array->nkeys, answers);
	StoredSetFinishTest(&test);
	return answers;
}

/* The same by an add. */
static uint8 *
AddArray(FunctionCallInfo fcinfo, BloomArrayKeys *array)
{
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	CallSite   *site;
	uint8	   *answers;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetTimeArg(fcinfo, 2));
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		return NULL;
	}
	site = GetCallSite(fcinfo, true);
	*array = BloomHashArray(&site->hasher, PG_GETARG_ARRAYTYPE_P(1),
							BLOOM_HOLDER_SET, &set->key_type,
							(uint64) set->params.seed, BLOOM_TO_ADD);
	answers = palloc0(array->nkeys + 1);
	StoredSetAdd(&call, array->hashes, array->nkeys, &site->warned);
	/* there is none for a repeat, which is not new */
	for (uint64 i = 0; i < call.nkeys; i++)
		answers[call.keys[i].index] = call.keys[i].answer;
	pfree(call.keys);
	StoredSetClose(&call.table);
	return answers;
}

/* The elements of an array that have this answer. */
static Datum
KeysWithAnswer(BloomArrayKeys *array, const uint8 *answers,
			   StoredSetAnswer answer)
{
	uint64		n = 0;

	for (uint64 i = 0; i < array->nkeys; i++)
	{
		if (answers[i] == answer)
			array->keys[n++] = array->keys[i];
	}
	return BloomMakeKeyArray(array->element, array->keys, n);
}

/*
 * bloom_set_add_all
 *		Add the elements of an array to a set.  The result are the new ones.
 */
PG_FUNCTION_INFO_V1(bloom_set_add_all);
Datum
bloom_set_add_all(PG_FUNCTION_ARGS)
{
	BloomArrayKeys array;
	uint8	   *answers = AddArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(KeysWithAnswer(&array, answers, STORED_SET_FRESH));
}

/*
 * bloom_set_missing
 *		The elements of an array that a set certainly does not contain.
 */
PG_FUNCTION_INFO_V1(bloom_set_missing);
Datum
bloom_set_missing(PG_FUNCTION_ARGS)
{
	BloomArrayKeys array;
	uint8	   *answers = TestArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(KeysWithAnswer(&array, answers, STORED_SET_UNKNOWN));
}

/* Is one of the answers for an array decisive?  Null elements may be, too. */
static Datum
DecideByArray(FunctionCallInfo fcinfo, StoredSetAnswer decisive)
{
	BloomArrayKeys array;
	uint8	   *answers = TestArray(fcinfo, &array);

	if (answers == NULL)
		PG_RETURN_NULL();
	if (memchr(answers, decisive, array.nkeys) != NULL)
		PG_RETURN_BOOL(decisive == STORED_SET_SEEN);
	if (array.has_nulls)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(decisive != STORED_SET_SEEN);
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
	return DecideByArray(fcinfo, STORED_SET_UNKNOWN);
}

/*
 * bloom_set_contains_any
 *		Does a set possibly contain any element of an array?
 *
 * Null elements count as in ANY.
 */
PG_FUNCTION_INFO_V1(bloom_set_contains_any);
Datum
bloom_set_contains_any(PG_FUNCTION_ARGS)
{
	return DecideByArray(fcinfo, STORED_SET_SEEN);
}

/*
 * bloom_set_compact
 *		Delete what has expired, and move keys from lanes to the filters.
 */
PG_FUNCTION_INFO_V1(bloom_set_compact);
Datum
bloom_set_compact(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	int64		nmoved;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetCurrentTimestamp());
	nmoved = StoredSetCompact(&call);
	StoredSetClose(&call.table);
	PG_RETURN_INT64(nmoved);
}

/* ----------------------------------------------------------------
 *							DEDUP WHERE ROWS ARRIVE
 * ----------------------------------------------------------------
 */

/* What the call site of a trigger knows */
typedef struct TriggerSite
{
	BloomHasher hasher;
	bool		warned;
	Oid			set;
	int			key;			/* column numbers */
	int			time;			/* 0: the clock */
} TriggerSite;

/* The column that a trigger's argument names. */
static int
GetTriggerColumn(const TriggerData *trigger, int argno)
{
	const char *name = trigger->tg_trigger->tgargs[argno];
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	int			column = SPI_fnumber(desc, name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(trigger->tg_relation)),
				 errdetail("Trigger \"%s\" names it.",
						   trigger->tg_trigger->tgname)));
	if (TupleDescAttr(desc, column - 1)->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is generated", name),
				 errdetail("A generated column has no value before a trigger BEFORE INSERT.")));
	return column;
}

/*
 * The set that a trigger's first argument names.  Without a schema, it is in
 * that of the trigger's table, whatever the search_path.
 */
static Oid
GetTriggerSet(const TriggerData *trigger)
{
	const char *name = trigger->tg_trigger->tgargs[0];
	RangeVar   *range;
	Oid			set;

	range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	if (range->schemaname != NULL)
		return RangeVarGetRelid(range, NoLock, false);
	set = get_relname_relid(range->relname,
							RelationGetNamespace(trigger->tg_relation));
	if (!OidIsValid(set))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Bloom set \"%s\" does not exist in schema \"%s\"",
						range->relname,
						get_namespace_name(RelationGetNamespace(trigger->tg_relation))),
				 errhint("Name another schema in the arguments of trigger \"%s\": 'schema.set'.",
						 trigger->tg_trigger->tgname)));
	return set;
}

static TriggerSite *
GetTriggerSite(FunctionCallInfo fcinfo, const TriggerData *trigger)
{
	TriggerSite *site = fcinfo->flinfo->fn_extra;
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	StoredSetTable table;
	Form_pg_attribute key;
	MemoryContext oldcontext;

	if (site != NULL)
		return site;
	if (trigger->tg_trigger->tgnargs < 2 || trigger->tg_trigger->tgnargs > 3)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup requires two or three arguments"),
				 errhint("They are the set, the column of the key and, if there is one, of the time: bloom_set_dedup('set', 'column', 'time').")));
	site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(TriggerSite));
	site->set = GetTriggerSet(trigger);
	site->key = GetTriggerColumn(trigger, 1);
	if (trigger->tg_trigger->tgnargs == 3)
	{
		site->time = GetTriggerColumn(trigger, 2);
		if (TupleDescAttr(desc, site->time - 1)->atttypid != TIMESTAMPTZOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" is not of type timestamp with time zone",
							trigger->tg_trigger->tgargs[2])));
	}
	key = TupleDescAttr(desc, site->key - 1);
	oldcontext = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	BloomHasherInit(&site->hasher, key->atttypid, key->attcollation);
	MemoryContextSwitchTo(oldcontext);

	/*
	 * before the first key, which may be null; to write, since a lock that is
	 * made stronger later can deadlock
	 */
	StoredSetOpen(&table, site->set, true);
	BloomCheckHasher(&site->hasher, BLOOM_HOLDER_SET, &table.set.key_type,
					 BLOOM_TO_ADD);
	StoredSetClose(&table);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/*
 * bloom_set_dedup
 *		Drop a row whose key a set has seen.  (trigger)
 *
 * A row without a key is kept.
 */
PG_FUNCTION_INFO_V1(bloom_set_dedup);
Datum
bloom_set_dedup(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TimestampTz at = GetCurrentTransactionStartTimestamp();
	StoredSetCall call;
	TriggerSite *site;
	Datum		key;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_set_dedup must be called by a trigger BEFORE INSERT FOR EACH ROW")));
	site = GetTriggerSite(fcinfo, trigger);

	if (site->time != 0)
	{
		Datum		time = slot_getattr(trigger->tg_trigslot, site->time,
										&isnull);

		at = CheckTime(trigger->tg_trigger->tgargs[2], time, isnull);
	}
	key = slot_getattr(trigger->tg_trigslot, site->key, &isnull);
	if (isnull)
		return PointerGetDatum(trigger->tg_trigtuple);

	StoredSetOpenToWrite(&call, site->set, at);
	return PointerGetDatum(AddKey(&call, &site->hasher, key, &site->warned) ?
						   trigger->tg_trigtuple : NULL);
}

/* ----------------------------------------------------------------
 *							LOOKING AT A SET
 * ----------------------------------------------------------------
 */

static Datum
MakeInterval(int64 microseconds)
{
	Interval   *span = palloc0(sizeof(Interval));

	span->day = microseconds / USECS_PER_DAY;
	span->time = microseconds % USECS_PER_DAY;
	return IntervalPGetDatum(span);
}

/* What is known of one slice, or of the whole set that keeps all */
typedef struct SliceInfo
{
	struct SliceInfo *next;
	TimestampTz slice;
	double		keys;
	double		bytes;
	int			generations;
	/* sums over the buckets of each generation */
	double		rates[STORED_SET_MAX_GENERATIONS];
} SliceInfo;

/*
 * Read all rows of a set, and sum up by slices, the newest first.
 *
 * The rows of a bucket come in that order, so that the next slice is near.
 */
static SliceInfo *
SumUpRows(StoredSetTable *table, TimestampTz oldest)
{
	SliceInfo  *slices = NULL;
	SliceInfo **link = &slices;
	StoredSetVersion version;
	const StoredSetRow *row = &version.row;

	StoredSetFindAll(table, &table->visible);
	while (StoredSetNext(table, &table->visible, &version))
	{
		SliceInfo  *info;
		int			generation;

		if (row->slice < oldest)
			continue;
		if (*link != NULL && (*link)->slice < row->slice)
			link = &slices;
		while (*link != NULL && (*link)->slice > row->slice)
			link = &(*link)->next;
		info = *link;
		if (info == NULL || info->slice < row->slice)
		{
			info = palloc0(sizeof(SliceInfo));
			info->slice = row->slice;
			info->next = *link;
			*link = info;
		}
		generation = StoredSetGeneration(&table->set.params, row->bucket);
		info->generations = Max(info->generations, generation + 1);
		if (row->filter == NULL)
		{
			info->bytes += (row->room + 1) * sizeof(uint64);
			info->keys += row->nhashes;
			continue;
		}
		info->bytes += VARSIZE(row->filter);
		info->keys += BloomCardinality(row->filter);
		info->rates[generation] += BloomRateNow(row->filter);
	}
	return slices;
}

/*
 * bloom_set_info
 *		The parameters of a set, and what it holds now.
 */
PG_FUNCTION_INFO_V1(bloom_set_info);
Datum
bloom_set_info(PG_FUNCTION_ARGS)
{
	Oid			relid = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 1);
	StoredSetTable table;
	const StoredSetParams *params = &table.set.params;
	TimestampTz oldest;
	Datum		values[14];
	bool		nulls[14] = {false};
	double		keys = 0;
	double		right = 0;		/* logarithm */
	int			generations = 0;

	StoredSetOpen(&table, relid, false);
	oldest = StoredSetOldestSlice(params, at);
	for (const SliceInfo *info = SumUpRows(&table, oldest); info != NULL;
		 info = info->next)
	{
		keys += rint(info->keys);	/* the sum over bloom_set_slices */
		right += log1p(-StoredSetRateOfSlice(params, info->rates));
		generations = Max(generations, info->generations);
	}
	values[0] = CStringGetTextDatum(BloomKeyTypeName(&table.set.key_type));
	values[1] = Int64GetDatum(params->capacity);
	values[2] = Float8GetDatum(params->fp_prob);
	values[3] = Int64GetDatum((int64) keys);
	values[4] = Float8GetDatum(0 - expm1(right));
	values[5] = DirectFunctionCall1(pg_total_relation_size,
									ObjectIdGetDatum(relid));
	values[6] = MakeInterval(params->keep);
	values[7] = Int32GetDatum(params->slices);
	values[8] = MakeInterval(params->slice_length);
	values[9] = TimestampTzGetDatum(oldest);
	nulls[6] = nulls[7] = nulls[8] = nulls[9] = params->keep == 0;
	values[10] = BoolGetDatum(params->grows);
	values[11] = Int32GetDatum(params->buckets);
	values[12] = Int32GetDatum(generations);
	values[13] = Int64GetDatum(params->seed);
	StoredSetClose(&table);
	return BloomReturnRow(fcinfo, values, nulls);
}

/*
 * bloom_set_slices
 *		What the live time slices of a set hold, the newest first.
 */
PG_FUNCTION_INFO_V1(bloom_set_slices);
Datum
bloom_set_slices(PG_FUNCTION_ARGS)
{
	Oid			relid = GetSetArg(fcinfo);
	TimestampTz at = GetTimeArg(fcinfo, 1);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	StoredSetTable table;
	const StoredSetParams *params = &table.set.params;
	Datum		values[7];
	bool		nulls[7] = {false};

	InitMaterializedSRF(fcinfo, 0);
	StoredSetOpen(&table, relid, false);
	for (const SliceInfo *info = SumUpRows(&table, StoredSetOldestSlice(params, at));
		 info != NULL; info = info->next)
	{
		values[0] = TimestampTzGetDatum(info->slice);
		values[1] = Int64GetDatum(StoredSetSliceCapacity(params));
		values[2] = Float8GetDatum(StoredSetSliceRate(params));
		values[3] = Int64GetDatum((int64) rint(info->keys));
		values[4] = Float8GetDatum(StoredSetRateOfSlice(params, info->rates));
		values[5] = Int64GetDatum((int64) info->bytes);
		values[6] = Int32GetDatum(info->generations);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	StoredSetClose(&table);
	return (Datum) 0;
}
