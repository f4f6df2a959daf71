/*-------------------------------------------------------------------------
 *
 * set/create.c
 *		Making a stored set: bloom_set_create.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace_d.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "set/set_compat.h"
#include "set/store.h"

/* Keys for which ranges can be made ahead: 10 GB of them */
#define MAX_CAPACITY	1e10

/* How long to keep a key, in microseconds, by an interval. */
static int64
CheckKeep(Datum value)
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
		params.keep = CheckKeep(PG_GETARG_DATUM(2));
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
							 StoredSetDefault(set, StoredSetFunction("_bloom_set_params")),
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
