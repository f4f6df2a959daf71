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
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplesort.h"
#include "utils/varlena.h"

#include "set/set_compat.h"
#include "set/store.h"

/* Hashes that are gathered at once, to be added to a set or filter */
#define BATCH_HASHES	100000

/* Keys for which ranges can be made ahead: 10 GB of them */
#define MAX_CAPACITY	1e10

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

/*
 * StoredSetCheckTime
 *		A time, which must be finite.
 */
TimestampTz
StoredSetCheckTime(const char *name, Datum value, bool isnull)
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
	return StoredSetCheckTime("at", PG_GETARG_DATUM(argno), PG_ARGISNULL(argno));
}

/* What a call site knows */
typedef struct CallSite
{
	BloomHasher hasher;
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

/*
 * StoredSetCheckKeep
 *		How long to keep a key, in microseconds, by an interval.
 */
int64
StoredSetCheckKeep(Datum value)
{
	const Interval *span = DatumGetIntervalP(value);

	/* at least that long, whichever months and years these are */
	double		days = span->day + span->month / MONTHS_PER_YEAR * 366.0 +
	span->month % MONTHS_PER_YEAR * 31.0;
	double		microseconds = span->time + days * USECS_PER_DAY;

	if (microseconds < STORED_SET_SLICES || microseconds > STORED_SET_MAX_KEEP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keep %s is out of range",
						DatumGetCString(DirectFunctionCall1(interval_out,
															value))),
				 errdetail("keep must be between %d microseconds and 365000 days.",
						   STORED_SET_SLICES)));
	return (int64) microseconds;
}

static BloomKeyType
GetKeyTypeArg(FunctionCallInfo fcinfo, int argno)
{
	BloomCheckNotNull(PG_ARGISNULL(argno), "key_type");
	return BloomKeyTypeOfSqlType(PG_GETARG_OID(argno));
}

/* Parameters by the arguments of bloom_set_create. */
static StoredSetParams
GetParams(FunctionCallInfo fcinfo)
{
	StoredSetParams params = {.kept_bits = STORED_SET_ALL_BITS};

	BloomCheckNotNull(PG_ARGISNULL(3), "unlogged");
	BloomCheckNotNull(PG_ARGISNULL(5), "if_not_exists");
	if (!PG_ARGISNULL(2))
		params.keep = StoredSetCheckKeep(PG_GETARG_DATUM(2));
	if (!PG_ARGISNULL(4))
		params.seed = PG_GETARG_INT64(4);
	else if (!pg_strong_random(&params.seed, sizeof(params.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
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
	StoredSetOpen(&table, relid, false, true);
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

/* Say what the index of a new set is, for those who find it. */
static void
CommentIndex(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Oid			index = RelationGetPrimaryKeyIndex(rel, false);

	CreateComments(index, RelationRelationId, 0,
				   "Primary key of a Bloom set");
	table_close(rel, NoLock);
}

/*
 * StoredSetMakeTable
 *		Make the table of a set.
 */
Oid
StoredSetMakeTable(const StoredSet *set, Oid schema, const char *name,
				   bool unlogged, const char *comment)
{
	const char *table = quote_qualified_identifier(get_namespace_name(schema),
												   name);
	Oid			relid;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("CREATE%s TABLE %s (start pg_catalog.int8 NOT NULL,"
							 " slice pg_catalog.timestamptz,"
							 " lane pg_catalog.int4 NOT NULL,"
							 " hashes pg_catalog.bytea NOT NULL DEFAULT %s,"
							 " PRIMARY KEY (start, lane)"
							 " WITH (deduplicate_items = off))"
							 " USING heap WITH (fillfactor = %d)",
							 unlogged ? " UNLOGGED" : "", table,
							 StoredSetDefault(set, StoredSetParamsFunction()),
							 STORED_SET_FILLFACTOR),
					false, 0) != SPI_OK_UTILITY ||
		SPI_execute(psprintf("ALTER TABLE %s ALTER COLUMN hashes SET STORAGE PLAIN",
							 table),
					false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create the table of a Bloom set");
	SPI_finish();

	relid = get_relname_relid(name, schema);
	if (!OidIsValid(relid))
		elog(ERROR, "the table of a Bloom set is gone");
	CreateComments(relid, RelationRelationId, 0, comment);
	CommentIndex(relid);
	return relid;
}

/* Make the table of a set, with ranges for so many keys, or none. */
static Oid
MakeSet(const StoredSet *set, Oid schema, const char *name, bool unlogged,
		uint64 capacity)
{
	const char *comment = psprintf("Bloom set of %s keys%s: see bloom_set_add, bloom_set_contains, bloom_set_info",
								   BloomKeyTypeName(&set->key_type),
								   set->params.keep == 0 ? "" : ", which forgets");
	Oid			relid = StoredSetMakeTable(set, schema, name, unlogged, comment);

	if (capacity > 0)
	{
		StoredSetTable table;

		StoredSetOpen(&table, relid, true, true);
		StoredSetMakeRanges(&table, capacity);
		StoredSetClose(&table);
	}
	return relid;
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
	uint64		capacity = 0;
	RangeVar   *table;
	Oid			schema;
	Oid			relid;

	BloomCheckNotNull(PG_ARGISNULL(0), "name");
	set.key_type = GetKeyTypeArg(fcinfo, 1);
	set.params = GetParams(fcinfo);
	if (!PG_ARGISNULL(6))
		capacity = BloomCheckCapacity(PG_GETARG_FLOAT8(6), MAX_CAPACITY,
									  false);
	table = GetNewTable(PG_GETARG_TEXT_PP(0), &schema);
	relid = get_relname_relid(table->relname, schema);
	if (!OidIsValid(relid))
		PG_RETURN_OID(MakeSet(&set, schema, table->relname, PG_GETARG_BOOL(3),
							  capacity));
	if (!PG_GETARG_BOOL(5))
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

/* ----------------------------------------------------------------
 *							ADDING AND TESTING
 * ----------------------------------------------------------------
 */

/*
 * bloom_set_add
 *		Add a key to a set.  True: it was new.
 */
PG_FUNCTION_INFO_V1(bloom_set_add);
Datum
bloom_set_add(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint64		hash;
	uint8		answer;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetTimeArg(fcinfo, 2), true);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		PG_RETURN_NULL();
	}
	hash = BloomHashKeyAs(&GetCallSite(fcinfo, false)->hasher,
						  PG_GETARG_DATUM(1), &StoredSetHolder, &set->key_type,
						  (uint64) set->params.seed, BLOOM_TO_ADD);
	StoredSetAdd(&call, &hash, 1, &answer);
	StoredSetClose(&call.table);
	PG_RETURN_BOOL(answer == STORED_SET_FRESH);
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
		StoredSetOpen(table, relid, false, true);
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
	hash = BloomHashKeyAs(&site->hasher, PG_GETARG_DATUM(1), &StoredSetHolder,
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
							&StoredSetHolder, &test.key_type, test.seed,
							BLOOM_TO_FIND);
	answers = palloc0(array->nkeys + 1);
	StoredSetTestKeys(&test, array->hashes, array->nkeys, answers);
	StoredSetFinishTest(&test);
	return answers;
}

/*
 * Answers for the keys of an array, in its order, by an add.  NULL, if the array
 * is null.
 */
static uint8 *
AddArray(FunctionCallInfo fcinfo, BloomArrayKeys *array)
{
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint8	   *answers;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetTimeArg(fcinfo, 2), true);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		return NULL;
	}
	*array = BloomHashArray(&GetCallSite(fcinfo, true)->hasher,
							PG_GETARG_ARRAYTYPE_P(1), &StoredSetHolder,
							&set->key_type, (uint64) set->params.seed,
							BLOOM_TO_ADD);
	answers = palloc(array->nkeys);
	StoredSetAdd(&call, array->hashes, array->nkeys, answers);
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

/* ----------------------------------------------------------------
 *							REMOVING AND COMPACTING
 * ----------------------------------------------------------------
 */

/* An error, if lists do not have whole hashes. */
static void
CheckWhole(const StoredSet *set, Relation rel)
{
	if (set->params.kept_bits == STORED_SET_ALL_BITS)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("Bloom set \"%s\" does not keep whole hashes",
					RelationGetRelationName(rel)),
			 errdetail("It keeps %d of 64 bits, so that a hash stands for several keys.",
					   set->params.kept_bits)));
}

/*
 * bloom_set_remove
 *		Remove a key from a set.  True: it was there.
 */
PG_FUNCTION_INFO_V1(bloom_set_remove);
Datum
bloom_set_remove(PG_FUNCTION_ARGS)
{
	Oid			relid = GetSetArg(fcinfo);
	StoredSetCall call;
	const StoredSet *set = &call.table.set;
	uint64		hash;
	bool		result = false;

	StoredSetOpenToWrite(&call, relid, GetTimeArg(fcinfo, 2), false);
	StoredSetCheckPrivileges(&call.table, ACL_DELETE);
	CheckWhole(set, call.table.rel);
	if (PG_ARGISNULL(1))
	{
		StoredSetClose(&call.table);
		PG_RETURN_NULL();
	}
	hash = BloomHashKeyAs(&GetCallSite(fcinfo, false)->hasher,
						  PG_GETARG_DATUM(1), &StoredSetHolder, &set->key_type,
						  (uint64) set->params.seed, BLOOM_TO_FIND);
	if (hash != 0)
		result = StoredSetRemove(&call, hash);
	StoredSetClose(&call.table);
	PG_RETURN_BOOL(result);
}

/*
 * bloom_set_compact
 *		Move keys from lanes to lists, and leave out what has expired.
 */
PG_FUNCTION_INFO_V1(bloom_set_compact);
Datum
bloom_set_compact(PG_FUNCTION_ARGS)
{
	StoredSetCall call;
	int64		nmoved;

	StoredSetOpenToWrite(&call, GetSetArg(fcinfo), GetCurrentTimestamp(), true);
	nmoved = StoredSetCompact(&call);
	StoredSetClose(&call.table);
	PG_RETURN_INT64(nmoved);
}

/* ----------------------------------------------------------------
 *							LOADING
 * ----------------------------------------------------------------
 */

/* Hashes with these bits inverted are sorted as signed numbers in their order */
#define ASCENDING	(UINT64CONST(1) << 63)
#define DESCENDING	(~ASCENDING)

/*
 * Take a lock that keeps out all that write to a set, if that may be waited for,
 * and look whether the set is empty.
 *
 * A transaction that has written to it has a weaker lock.  Two of these would
 * wait for each other.  One that has made it, or locked it, has a lock as strong.
 */
static bool
LockEmpty(StoredSetTable *table)
{
	bool		is_locked = CheckRelationLockedByMe(table->rel,
													ShareRowExclusiveLock, true);

	if ((!is_locked &&
		 CheckRelationLockedByMe(table->rel, RowExclusiveLock, true)) ||
		!StoredSetIsEmpty(table))
		return false;
	if (!is_locked)
		LockRelationOid(table->set.relid, ShareRowExclusiveLock);
	return true;
}

/* Open a query of one column, which has keys of a set. */
static Portal
OpenKeys(const char *query, const StoredSet *set, BloomHasher *hasher)
{
	Portal		portal = SPI_cursor_open_with_args(NULL, query, 0, NULL, NULL,
												   NULL, false,
												   CURSOR_OPT_NO_SCROLL);
	TupleDesc	desc = portal->tupDesc;

	if (desc->natts != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query returns %d columns", desc->natts),
				 errhint("It must return one column, with the keys; those of several columns are rows, ROW(a, b).")));
	BloomHasherInit(hasher, TupleDescAttr(desc, 0)->atttypid,
					TupleDescAttr(desc, 0)->attcollation);
	BloomCheckHasher(hasher, &StoredSetHolder, &set->key_type, BLOOM_TO_ADD);
	return portal;
}

/* Hash the keys that were fetched, and give the hashes to a sort. */
static void
SortFetched(Tuplesortstate *sort, uint64 mask, const StoredSet *set,
			BloomHasher *hasher)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		key = SPI_getbinval(SPI_tuptable->vals[i],
										SPI_tuptable->tupdesc, 1, &isnull);
		uint64		hash;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		hash = BloomHashKeyAs(hasher, key, &StoredSetHolder, &set->key_type,
							  (uint64) set->params.seed, BLOOM_TO_ADD);
		tuplesort_putdatum(sort, Int64GetDatum((int64) (hash ^ mask)), false);
	}
}

/* Hash the keys that a query returns, and sort the hashes. */
static void
SortHashes(Tuplesortstate *sort, uint64 mask, const char *query,
		   const StoredSet *set)
{
	BloomHasher hasher;
	Portal		portal;
	MemoryContext scratch;
	bool		is_end;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = OpenKeys(query, set, &hasher);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "Bloom set load",
									ALLOCSET_DEFAULT_SIZES);
	do
	{
		MemoryContext oldcontext;

		SPI_cursor_fetch(portal, true, 1000);
		is_end = SPI_processed == 0;
		/* what a hash function leaves behind */
		oldcontext = MemoryContextSwitchTo(scratch);
		SortFetched(sort, mask, set, &hasher);
		MemoryContextSwitchTo(oldcontext);
		MemoryContextReset(scratch);
		SPI_freetuptable(SPI_tuptable);
	} while (!is_end);
	SPI_cursor_close(portal);
	SPI_finish();
	tuplesort_performsort(sort);
}

static bool
NextHash(Tuplesortstate *sort, uint64 mask, uint64 *hash)
{
	Datum		value;
	bool		isnull;

	if (!tuplesort_getdatum(sort, true, false, &value, &isnull, NULL))
		return false;
	*hash = (uint64) DatumGetInt64(value) ^ mask;
	return true;
}

/* Load sorted hashes into an empty set. */
static uint64
LoadSorted(StoredSetTable *table, Tuplesortstate *sort)
{
	StoredSetLoad load;
	uint64		hash;

	StoredSetBeginLoad(&load, table, false);
	while (NextHash(sort, ASCENDING, &hash))
		StoredSetLoadHash(&load, hash);
	return StoredSetEndLoad(&load);
}

/*
 * Add sorted hashes to a set that has keys.
 *
 * If others can add at the same time, the hashes come in descending order, as all
 * calls add: so these do not deadlock.
 */
static uint64
AddSorted(Oid relid, Tuplesortstate *sort, uint64 mask)
{
	uint64	   *hashes = palloc(BATCH_HASHES * sizeof(uint64));
	uint8	   *answers = palloc(BATCH_HASHES);
	uint64		nnew = 0;
	uint64		n;

	do
	{
		StoredSetCall call;

		for (n = 0; n < BATCH_HASHES && NextHash(sort, mask, &hashes[n]);)
			n++;
		StoredSetOpenToWrite(&call, relid, GetCurrentTimestamp(), true);
		StoredSetAdd(&call, hashes, n, answers);
		StoredSetClose(&call.table);
		for (uint64 i = 0; i < n; i++)
			nnew += answers[i] == STORED_SET_FRESH;
	} while (n == BATCH_HASHES);
	return nnew;
}

/*
 * bloom_set_load
 *		Add the keys that a query returns to a set.  The result is the number of
 *		new ones.
 *
 * The set is closed while the query runs, which may test it, or add to it.
 */
PG_FUNCTION_INFO_V1(bloom_set_load);
Datum
bloom_set_load(PG_FUNCTION_ARGS)
{
	Oid			relid = GetSetArg(fcinfo);
	StoredSetTable table;
	StoredSet	set;
	Tuplesortstate *sort;
	bool		is_locked;
	uint64		mask;
	uint64		nnew;

	BloomCheckNotNull(PG_ARGISNULL(1), "query");
	/* as a reader: see LockEmpty */
	StoredSetOpen(&table, relid, false, false);
	StoredSetCheckWriter(&table);
	set = table.set;
	is_locked = LockEmpty(&table);
	StoredSetClose(&table);

	mask = is_locked ? ASCENDING : DESCENDING;
	sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
								 maintenance_work_mem, NULL, TUPLESORT_NONE);
	SortHashes(sort, mask, text_to_cstring(PG_GETARG_TEXT_PP(1)), &set);
	StoredSetOpen(&table, relid, true, true);
	if (is_locked && StoredSetIsEmpty(&table))
	{
		nnew = LoadSorted(&table, sort);
		StoredSetClose(&table);
	}
	else
	{
		StoredSetClose(&table);
		nnew = AddSorted(relid, sort, mask);
	}
	tuplesort_end(sort);
	PG_RETURN_INT64((int64) nnew);
}

/* ----------------------------------------------------------------
 *							LOOKING AT A SET
 * ----------------------------------------------------------------
 */

/* The live hashes of a set, gathered from its rows range by range */
typedef struct Gathered
{
	uint64	   *hashes;
	uint64		nhashes;
	uint64		maxhashes;
	uint64		nrows;
} Gathered;

static void
GatherHash(Gathered *gathered, uint64 hash)
{
	if (gathered->nhashes == gathered->maxhashes)
	{
		gathered->maxhashes = Max(1024, 2 * gathered->maxhashes);
		gathered->hashes = gathered->hashes == NULL ?
			palloc(gathered->maxhashes * sizeof(uint64)) :
			repalloc_huge(gathered->hashes,
						  gathered->maxhashes * sizeof(uint64));
	}
	gathered->hashes[gathered->nhashes++] = hash;
}

/*
 * Gather the hashes of ranges and their lanes, from the highest down, each once,
 * until there are enough.  False: there are no more.
 *
 * In a range of a set that does not keep whole hashes, those of lanes are cut.
 */
static bool
GatherHashes(StoredSetTable *table, int64 oldest, uint64 enough,
			 Gathered *gathered)
{
	int			dropped = table->set.packing.dropped;
	StoredSetVersion version;
	const StoredSetRow *row = &version.row;
	bool		found;

	gathered->nhashes = 0;
	while ((found = StoredSetNext(table, &table->visible, &version)))
	{
		StoredSetItem *items;

		gathered->nrows++;
		for (int i = 0; i < row->nhashes && row->slice >= oldest; i++)
			GatherHash(gathered, row->hashes[i] >> dropped << dropped);
		if (row->lane > 0)
			continue;
		items = StoredSetItemsOf(table, &row->pack);
		for (int i = 0; i < row->pack.nhashes; i++)
		{
			if (items[i].slice >= oldest)
				GatherHash(gathered, items[i].hash);
		}
		pfree(items);
		if (gathered->nhashes >= enough)
			break;
	}
	gathered->nhashes = BloomSortHashes(gathered->hashes, gathered->nhashes);
	return found;
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
	int64		oldest;
	Datum		values[8];
	bool		nulls[8] = {false};
	Gathered	gathered = {0};
	uint64		nkeys = 0;
	bool		more;

	StoredSetOpen(&table, relid, false, true);
	oldest = StoredSetOldestSlice(params, at);
	StoredSetFind(&table, &table.visible, PG_UINT64_MAX, 0);
	do
	{
		more = GatherHashes(&table, oldest, BATCH_HASHES, &gathered);
		nkeys += gathered.nhashes;
	} while (more);
	values[0] = CStringGetTextDatum(BloomKeyTypeName(&table.set.key_type));
	values[1] = Int64GetDatum((int64) nkeys);
	values[2] = Float8GetDatum(ldexp((double) nkeys, -params->kept_bits));
	values[3] = DirectFunctionCall1(pg_total_relation_size,
									ObjectIdGetDatum(relid));
	values[4] = Int64GetDatum((int64) gathered.nrows);
	values[5] = StoredSetKeepInterval(params);
	values[6] = TimestampTzGetDatum(params->keep == 0 ? 0 :
									oldest * StoredSetSliceLength(params));
	nulls[5] = nulls[6] = params->keep == 0;
	values[7] = Int64GetDatum(params->seed);
	StoredSetClose(&table);
	return BloomReturnRow(fcinfo, values, nulls);
}

/*
 * bloom_set_filter
 *		A filter with the keys of a set.
 */
PG_FUNCTION_INFO_V1(bloom_set_filter);
Datum
bloom_set_filter(PG_FUNCTION_ARGS)
{
	Oid			relid = GetSetArg(fcinfo);
	StoredSetTable table;
	const StoredSet *set = &table.set;
	Bloom	   *filter;
	int64		oldest;
	Gathered	gathered = {0};
	bool		more;

	BloomCheckNotNull(PG_ARGISNULL(1), "capacity");
	BloomCheckNotNull(PG_ARGISNULL(2), "fp_prob");
	StoredSetOpen(&table, relid, false, true);
	CheckWhole(set, table.rel);
	filter = StoredSetBuild->begin(PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2),
								   set->params.seed, &set->key_type);
	oldest = StoredSetOldestSlice(&set->params, GetTimeArg(fcinfo, 3));
	StoredSetFind(&table, &table.visible, PG_UINT64_MAX, 0);
	do
	{
		more = GatherHashes(&table, oldest, 10 * BATCH_HASHES, &gathered);
		filter = StoredSetBuild->add(filter, gathered.hashes, gathered.nhashes);
	} while (more);
	StoredSetClose(&table);
	PG_RETURN_DATUM(StoredSetBuild->end(filter));
}
