/*-------------------------------------------------------------------------
 *
 * unique/commands.c
 *		Unique keys: the functions that SQL calls.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "set/set_compat.h"
#include "set/set.h"
#include "set/unique/unique.h"

/* ----------------------------------------------------------------
 *							ARGUMENTS
 * ----------------------------------------------------------------
 */

/* Run a command, which names all that it uses.  Only what is being made has one. */
static void
Run(const char *command)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "command failed: %s", command);
	SPI_finish();
}

/* The name of a relation, as a command needs it */
static const char *
NameOf(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/* The table, which nobody writes to in this session, and whose owner asks. */
static Oid
GetTableArg(FunctionCallInfo fcinfo, LOCKMODE lockmode)
{
	Relation	rel;
	Oid			relid;

	BloomCheckNotNull(PG_ARGISNULL(0), "relation");
	relid = PG_GETARG_OID(0);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		BloomUniqueReportNoTable(relid);
	if (!BloomIsOwnerOfTable(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	rel = try_relation_open(relid, lockmode);
	if (rel == NULL)
		BloomUniqueReportNoTable(relid);
	CheckTableNotInUse(rel, get_func_name(fcinfo->flinfo->fn_oid));
	relation_close(rel, NoLock);
	return relid;
}

/* An error: something that looks like an expression is no column. */
static void
ReportExpression(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("unique key \"%s\" is not a list of columns", text),
			 errdetail("A key can have columns, but no expressions."),
			 errhint("Add a column GENERATED ALWAYS AS (...) STORED, and name that.")));
}

/*
 * The columns that a list names, as CREATE INDEX has it; none, if there need not
 * be one of each name, and is not
 */
static int
GetColumnsArg(FunctionCallInfo fcinfo, Oid relid, bool missing_ok,
			  AttrNumber *columns)
{
	char	   *list;
	List	   *names;
	ListCell   *cell;
	int			n = 0;

	BloomCheckNotNull(PG_ARGISNULL(1), "columns");
	list = text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (!SplitIdentifierString(pstrdup(list), ',', &names) || names == NIL)
	{
		if (strchr(list, '(') != NULL)
			ReportExpression(list);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid list of columns \"%s\"", list),
				 errhint("Write it as for CREATE INDEX: 'tenant, id'.")));
	}
	if (list_length(names) > INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("cannot use more than %d columns in a unique key",
						INDEX_MAX_KEYS)));
	foreach(cell, names)
	{
		const char *name = lfirst(cell);

		columns[n] = get_attnum(relid, name);
		if (columns[n] <= 0 && missing_ok)
			return 0;
		if (columns[n] <= 0 && strchr(name, '(') != NULL)
			ReportExpression(name);
		if (columns[n] <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							name, get_rel_name(relid))));
		for (int i = 0; i < n; i++)
		{
			if (columns[i] == columns[n])
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" appears twice in unique constraint",
								name)));
		}
		n++;
	}
	return n;
}

/* A key that is to be made, or that is there */
static BloomUnique *
MakeUnique(Oid relid, const AttrNumber *columns, int ncolumns)
{
	BloomUnique *unique = palloc0(sizeof(BloomUnique));

	unique->tag.root = relid;
	unique->context = CurrentMemoryContext;
	unique->ncolumns = ncolumns;
	unique->columns = palloc0(ncolumns * sizeof(BloomUniqueColumn));
	for (int i = 0; i < ncolumns; i++)
		unique->columns[i].number = columns[i];
	BloomUniqueDescribe(unique);
	return unique;
}

/* The key of a table that the arguments name, which must be there. */
static BloomUniqueTag
FindKey(FunctionCallInfo fcinfo, Oid relid)
{
	AttrNumber	columns[INDEX_MAX_KEYS];
	BloomUniqueTag tag = {.root = relid};
	int			ncolumns = GetColumnsArg(fcinfo, relid, false, columns);

	if (!BloomUniqueFindSeed(relid, columns, ncolumns, false, &tag.seed))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no unique key of these columns that bloom_unique_create made",
						get_rel_name(relid))));
	return tag;
}

/* ----------------------------------------------------------------
 *							DROPPING
 * ----------------------------------------------------------------
 */

/* Drop an object, on which nothing depends. */
static void
Drop(Oid catalog, Oid oid)
{
	ObjectAddress address;

	ObjectAddressSet(address, catalog, oid);
	performDeletion(&address, DROP_RESTRICT, 0);
	CommandCounterIncrement();
}

/*
 * Drop the triggers and the set of a key, or what is left of these.  A set that is not
 * quite that of the key stays.
 */
static void
DropKey(const BloomUniqueTag *tag)
{
	Oid			owner = BloomUniqueOwnerOf(tag->root);
	StoredSet	known;
	Oid			found;
	const char *wrong;
	const char *cure;
	Oid			set = BloomUniqueFindSet(tag, owner, &known, &found, &wrong, &cure);
	ListCell   *cell;

	/* in the order in which writers lock */
	foreach(cell, BloomUniqueTriggersOf(tag->root))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);

		/* one that a partition inherits is of another table's key */
		if (trigger->seed == tag->seed && !OidIsValid(trigger->parent))
			Drop(TriggerRelationId, trigger->oid);
	}
	BloomUniqueForgetStatements(tag);
	BloomUniqueForgetEntries();
	if (OidIsValid(set))
	{
		LockRelationOid(set, AccessExclusiveLock);
		set = BloomUniqueFindSet(tag, owner, &known, &found, &wrong, &cure);
	}
	if (OidIsValid(set))
		Drop(RelationRelationId, set);
	else if (OidIsValid(found))
		ereport(NOTICE,
				(errmsg("table \"%s\" stays", get_rel_name(found)),
				 errdetail("%s", wrong),
				 errhint("If it was the set of these keys, drop it: DROP TABLE %s;",
						 NameOf(found))));
}

/*
 * Drop what is left of keys whose constraint was dropped, with a column, say.  All that
 * it does is to refuse rows.  False: there is nothing.
 */
static bool
DropRemains(Oid relid)
{
	List	   *triggers = BloomUniqueTriggersOf(relid);
	bool		result = false;
	ListCell   *cell;

	foreach(cell, triggers)
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);
		BloomUniqueTag tag = {.seed = trigger->seed,.root = relid};
		bool		is_left = !OidIsValid(trigger->parent);
		ListCell   *other;

		foreach(other, triggers)
		{
			const BloomUniqueTrigger *row = lfirst(other);

			if (row->seed == tag.seed && row->kind == BLOOM_UNIQUE_ROW)
				is_left = false;
		}
		if (!is_left || !BloomUniqueIsThere(&tag))
			continue;
		DropKey(&tag);
		result = true;
	}
	return result;
}

/*
 * bloom_unique_drop
 *		Undo bloom_unique_create, also if the constraint is gone already.
 */
PG_FUNCTION_INFO_V1(bloom_unique_drop);
Datum
bloom_unique_drop(PG_FUNCTION_ARGS)
{
	Oid			relid = GetTableArg(fcinfo, ShareRowExclusiveLock);
	bool		did_drop = DropRemains(relid);
	AttrNumber	columns[INDEX_MAX_KEYS];
	int			ncolumns = GetColumnsArg(fcinfo, relid, did_drop, columns);
	BloomUniqueTag tag = {.root = relid};

	if (did_drop &&
		(ncolumns == 0 ||
		 !BloomUniqueFindSeed(relid, columns, ncolumns, false, &tag.seed)))
		PG_RETURN_VOID();
	tag = FindKey(fcinfo, relid);
	DropKey(&tag);
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 *							CREATING
 * ----------------------------------------------------------------
 */

/*
 * What has a name that the set and the constraint are to have, of a table and those
 * below it?  NULL, if nothing has.
 */
static const char *
UserOfName(const char *name, Oid schema, List *tables)
{
	ListCell   *cell;

	if (OidIsValid(get_relname_relid(name, schema)))
		return psprintf("relation \"%s\" already exists", name);
	foreach(cell, tables)
	{
		Oid			relid = lfirst_oid(cell);

		if (ConstraintNameIsUsed(CONSTRAINT_RELATION, relid, name))
			return psprintf("constraint \"%s\" of relation \"%s\" already exists",
							name, get_rel_name(relid));
		if (OidIsValid(get_trigger_oid(relid, name, true)))
			return psprintf("trigger \"%s\" for relation \"%s\" already exists",
							name, get_rel_name(relid));
	}
	return NULL;
}

/*
 * The name of the set and of the constraint: that of an index on these columns would be
 * like it.
 */
static char *
ChooseName(FunctionCallInfo fcinfo, const BloomUnique *unique, Oid schema,
		   List *tables)
{
	StringInfoData columns;
	char	   *name;

	if (!PG_ARGISNULL(2))
	{
		const char *user;

		name = text_to_cstring(PG_GETARG_TEXT_PP(2));
		if (strlen(name) == 0 || strlen(name) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("invalid name \"%s\"", name),
					 errdetail("A name has between 1 and %d bytes.",
							   NAMEDATALEN - 1)));
		user = UserOfName(name, schema, tables);
		if (user != NULL)
			ereport(ERROR,
					(errcode(OidIsValid(get_relname_relid(name, schema)) ?
							 ERRCODE_DUPLICATE_TABLE : ERRCODE_DUPLICATE_OBJECT),
					 errmsg("%s", user),
					 errdetail("The set and the constraint have one name.")));
		return name;
	}
	initStringInfo(&columns);
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&columns, "%s%s", i == 0 ? "" : "_",
						 NameStr(unique->columns[i].name));
	name = makeObjectName(get_rel_name(unique->tag.root), columns.data, "unique");
	for (int i = 1; UserOfName(name, schema, tables) != NULL; i++)
	{
		CHECK_FOR_INTERRUPTS();
		name = makeObjectName(get_rel_name(unique->tag.root), columns.data,
							  psprintf("unique%d", i));
	}
	return name;
}

/* A name for a trigger that goes with a constraint */
static char *
ChooseTriggerName(Oid relid, const char *name, const char *label)
{
	char	   *result = makeObjectName(name, NULL, label);

	for (int i = 1; OidIsValid(get_trigger_oid(relid, result, true)); i++)
	{
		CHECK_FOR_INTERRUPTS();
		result = makeObjectName(name, NULL, psprintf("%s%d", label, i));
	}
	return result;
}

/* Make a trigger of a key, on its table or on its set. */
static void
MakeTrigger(FunctionCallInfo fcinfo, const BloomUnique *unique, Oid relid,
			bool is_constraint, char *name, const char *definition,
			const char *comment)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	Run(psprintf("CREATE %s %s %s EXECUTE FUNCTION %s.bloom_unique('" INT64_FORMAT "')",
				 is_constraint ? "CONSTRAINT TRIGGER" : "TRIGGER",
				 quote_identifier(name), definition,
				 quote_identifier(get_namespace_name(schema)), unique->tag.seed));
	CreateComments(get_trigger_oid(relid, name, false), TriggerRelationId, 0,
				   comment);
}

/* Let a set name the table whose keys it has. */
static void
NameTable(FunctionCallInfo fcinfo, const BloomUnique *unique)
{
	MakeTrigger(fcinfo, unique, unique->set, true,
				ChooseTriggerName(unique->set, get_rel_name(unique->set), "belongs"),
				psprintf("AFTER UPDATE OF start ON %s FROM %s FOR EACH ROW WHEN (false)",
						 NameOf(unique->set), NameOf(unique->tag.root)),
				"never fires: names the table whose unique keys the set has");
}

/* Make those of the table. */
static void
MakeTriggers(FunctionCallInfo fcinfo, const BloomUnique *unique)
{
	Oid			root = unique->tag.root;
	char	   *name = get_rel_name(unique->set);
	StringInfoData condition;

	initStringInfo(&condition);
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&condition, "%sNEW.%s IS NOT NULL", i == 0 ? "" : " AND ",
						 quote_identifier(NameStr(unique->columns[i].name)));
	MakeTrigger(fcinfo, unique, root, true, name,
				psprintf("AFTER INSERT OR UPDATE ON %s NOT DEFERRABLE FOR EACH ROW WHEN (%s)",
						 NameOf(root), condition.data),
				"keeps keys unique across partitions; the others only make it fast");
	MakeTrigger(fcinfo, unique, root, false, ChooseTriggerName(root, name, "open"),
				psprintf("BEFORE INSERT OR UPDATE ON %s FOR EACH STATEMENT",
						 NameOf(root)),
				"begins to collect the keys of a statement, to check them together");
	MakeTrigger(fcinfo, unique, root, false, ChooseTriggerName(root, name, "close"),
				psprintf("AFTER INSERT OR UPDATE OR TRUNCATE ON %s FOR EACH STATEMENT WHEN ('%u'::pg_catalog.regclass IS NOT NULL)",
						 NameOf(root), unique->set),
				"checks the keys of a statement; TRUNCATE empties the set, which its condition keeps from being dropped");
}

/* Make the set. */
static Oid
MakeSet(FunctionCallInfo fcinfo, BloomUnique *unique, List *tables)
{
	Oid			schema = get_rel_namespace(unique->tag.root);
	StoredSet	set = {0};

	set.key_type = unique->hasher.key_type;
	set.params.kept_bits = BLOOM_UNIQUE_KEPT_BITS;
	set.params.seed = unique->tag.seed;
	unique->set = StoredSetMakeTable(&set, schema,
									 ChooseName(fcinfo, unique, schema, tables), false,
									 psprintf("Bloom set of the unique keys of table %s: see bloom_unique_create",
											  get_rel_name(unique->tag.root)));
	NameTable(fcinfo, unique);
	if (unique->owner != GetUserId())
		ATExecChangeOwner(unique->set, unique->owner, false, AccessExclusiveLock);
	return unique->set;
}

/*
 * bloom_unique_create
 *		Keep the keys of a partitioned table unique from now on.
 */
PG_FUNCTION_INFO_V1(bloom_unique_create);
Datum
bloom_unique_create(PG_FUNCTION_ARGS)
{
	Oid			relid = GetTableArg(fcinfo, ShareRowExclusiveLock);
	AttrNumber	columns[INDEX_MAX_KEYS];
	int			ncolumns = GetColumnsArg(fcinfo, relid, false, columns);
	bool		validates;
	List	   *tables;
	BloomUnique *made;
	BloomUnique *unique;
	int64		seed;

	BloomCheckNotNull(PG_ARGISNULL(3), "validate");
	validates = PG_GETARG_BOOL(3);
	BloomUniqueCheckTable(relid);
	if (BloomUniqueFindSeed(relid, columns, ncolumns, true, &seed))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table \"%s\" has a unique key of these columns already",
						get_rel_name(relid)),
				 errhint("To make it anew, call bloom_unique_drop first.")));
	tables = find_all_inheritors(relid, ShareRowExclusiveLock, NULL);
	(void) DropRemains(relid);
	made = MakeUnique(relid, columns, ncolumns);
	if (!pg_strong_random(&made->tag.seed, sizeof(made->tag.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	BloomUniqueCheckLeaves(made);
	(void) MakeSet(fcinfo, made, tables);
	MakeTriggers(fcinfo, made);
	/* names can have become those of others before they were used */
	unique = BloomUniqueRefresh(made);
	if (validates)
		(void) BloomUniqueFill(unique);
	PG_RETURN_OID(made->set);
}

/*
 * bloom_unique_rebuild
 *		Fill the set anew with the keys of the rows that are there.  The result is
 *		their number.
 */
PG_FUNCTION_INFO_V1(bloom_unique_rebuild);
Datum
bloom_unique_rebuild(PG_FUNCTION_ARGS)
{
	Oid			relid = GetTableArg(fcinfo, ShareRowExclusiveLock);
	BloomUnique found = {.tag = FindKey(fcinfo, relid)};
	const BloomUniqueTrigger *triggers[BLOOM_UNIQUE_OTHER];
	const BloomUniqueTrigger *close;
	const char *cure;
	StoredSet	set;
	BloomUnique *unique;
	uint64		result;

	/* a set that does not name the table, and that the table names */
	(void) BloomUniqueFindTriggers(&found.tag, triggers, &cure);
	close = triggers[BLOOM_UNIQUE_CLOSE];
	if (close != NULL && SearchSysCacheExists1(RELOID, ObjectIdGetDatum(close->set)) &&
		BloomUniqueIdentifySet(&found.tag, close->set, BloomUniqueOwnerOf(relid), false,
							   &set, &cure) != NULL &&
		BloomUniqueIdentifySet(&found.tag, close->set, BloomUniqueOwnerOf(relid), true,
							   &set, &cure) == NULL)
	{
		found.set = close->set;
		NameTable(fcinfo, &found);
	}
	/* an error, unless each names the other */
	unique = BloomUniqueRecall(&found.tag);
	BloomUniqueCheckLeaves(unique);
	result = BloomUniqueRefill(unique);
	BloomUniqueWarnDisabled(&found.tag, relid);
	PG_RETURN_INT64((int64) result);
}

/* ----------------------------------------------------------------
 *							VALIDATING
 * ----------------------------------------------------------------
 */

/*
 * bloom_unique_validate
 *		Check the rows that were there before bloom_unique_create, partition by
 *		partition.
 */
PG_FUNCTION_INFO_V1(bloom_unique_validate);
Datum
bloom_unique_validate(PG_FUNCTION_ARGS)
{
	CallContext *call = (CallContext *) fcinfo->context;
	bool		commits = call != NULL && IsA(call, CallContext) && !call->atomic;
	Oid			relid = GetTableArg(fcinfo, AccessShareLock);
	BloomUniqueTag tag = FindKey(fcinfo, relid);
	uint64		nrepeats;

	if (SPI_connect_ext(commits ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");

	/* SPI's memory lasts until SPI_finish, whatever is committed */
	nrepeats = BloomUniqueValidate(&tag, commits);
	if (nrepeats > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg_plural("%llu key of table \"%s\" is in more than one row",
							   "%llu keys of table \"%s\" are in more than one row",
							   (unsigned long) Min(nrepeats, PG_INT32_MAX),
							   (unsigned long long) nrepeats, get_rel_name(relid)),
				 errdetail("These rows were there before the unique key. All keys that are written from now on are checked against them."),
				 errhint("Delete rows until each key is there once, and call it again.")));
	PushActiveSnapshot(GetTransactionSnapshot());
	BloomUniqueWarnDisabled(&tag, relid);
	PopActiveSnapshot();
	SPI_finish();
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 *							CLAIMING
 * ----------------------------------------------------------------
 */

/* An error: a key does not have the types of the columns. */
static void
ReportKeyType(const BloomUnique *unique, Oid type)
{
	StringInfoData cure;

	initStringInfo(&cure);
	if (unique->ncolumns > 1)
		appendStringInfoString(&cure, "ROW(");
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&cure, "%s%s::%s", i == 0 ? "" : ", ",
						 quote_identifier(NameStr(unique->columns[i].name)),
						 format_type_be(unique->columns[i].type));
	if (unique->ncolumns > 1)
		appendStringInfoChar(&cure, ')');
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key of type %s is not of the type of the unique key (%s)",
					format_type_be(type), BloomUniqueColumns(unique)),
			 OidIsValid(get_element_type(getBaseType(unique->columns[0].type))) &&
			 unique->ncolumns == 1 ?
			 errhint("Claim keys that are arrays one by one: bloom_unique_claim(..., %s)",
					 cure.data) :
			 errhint("Write it with a cast: %s", cure.data)));
}

/*
 * Bring a value to the type of a column, as an INSERT would.  False: it is of another
 * type, which is more than the server casts without being told, or a set takes.
 */
static bool
Convert(const BloomUniqueColumn *column, Oid type, bool isnull, Datum *value)
{
	Oid			from = getBaseType(type);
	Oid			to = getBaseType(column->type);
	BloomKeyType has;
	BloomKeyType needs;
	Oid			function;
	CoercionPathType path;

	if (from == to)
		return true;
	/* a literal in a row */
	if (from == UNKNOWNOID)
	{
		Oid			input;
		Oid			parameter;

		getTypeInputInfo(column->type, &input, &parameter);
		if (!isnull)
			*value = OidInputFunctionCall(input, DatumGetCString(*value),
										  parameter, -1);
		return true;
	}
	path = find_coercion_pathway(to, from, COERCION_IMPLICIT, &function);
	if (path == COERCION_PATH_NONE)
	{
		has = BloomKeyTypeOfSqlType(from);
		needs = BloomKeyTypeOfSqlType(to);
		if (!BloomSameKeyType(&has, &needs))
			return false;
		path = find_coercion_pathway(to, from, COERCION_ASSIGNMENT, &function);
	}
	if (path == COERCION_PATH_FUNC && get_func_nargs(function) == 1)
	{
		if (!isnull)
			*value = OidFunctionCall1Coll(function, column->collation, *value);
		return true;
	}
	return path == COERCION_PATH_RELABELTYPE;
}

/* An error, unless who asks may write rows with such keys, and see which there are. */
static void
CheckMayClaim(const BloomUnique *unique)
{
	Oid			root = unique->tag.root;
	bool		may_insert = pg_class_aclcheck(root, GetUserId(), ACL_INSERT) == ACLCHECK_OK;

	for (int i = 0; i < unique->ncolumns && !may_insert; i++)
	{
		if (pg_attribute_aclcheck(root, unique->columns[i].number, GetUserId(),
								  ACL_INSERT) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(root));
	}
	if (check_enable_rls(root, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security of table \"%s\" applies to role \"%s\"",
						get_rel_name(root), GetUserNameFromId(GetUserId(), false)),
				 errdetail("A claim would tell which keys there are in rows that a policy hides."),
				 errhint("Claim in a function with SECURITY DEFINER, of a role that may see all rows.")));
}

/* An error, if who asks may write no column of a table. */
static void
CheckMayInsert(Oid relid)
{
	if (get_rel_name(relid) == NULL)
		BloomUniqueReportNoTable(relid);
	if (pg_class_aclcheck(relid, GetUserId(), ACL_INSERT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_INSERT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(relid));
}

/* The key of which values are to be claimed, by who may do that */
static BloomUnique *
GetClaimedKey(FunctionCallInfo fcinfo)
{
	BloomUniqueTag tag;
	BloomUnique *unique;
	Oid			relid;

	BloomCheckNotNull(PG_ARGISNULL(0), "relation");
	relid = PG_GETARG_OID(0);

	/* before the set is locked, as by those that write rows */
	CheckMayInsert(relid);
	LockRelationOid(relid, RowExclusiveLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		BloomUniqueReportNoTable(relid);
	tag = FindKey(fcinfo, relid);
	unique = BloomUniqueRecall(&tag);
	CheckMayClaim(unique);
	return unique;
}

/* Read the columns of a key.  False: one is null. */
static bool
ReadRow(const BloomUnique *unique, Datum value, Datum *key)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
											  HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	bool		result = true;
	int			column = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		bool		isnull;

		if (attribute->attisdropped)
			continue;
		if (column == unique->ncolumns)
			ReportKeyType(unique, HeapTupleHeaderGetTypeId(header));
		key[column] = heap_getattr(&tuple, i + 1, desc, &isnull);
		if (!Convert(&unique->columns[column], attribute->atttypid, isnull,
					 &key[column]))
			ReportKeyType(unique, HeapTupleHeaderGetTypeId(header));
		column++;
		result &= !isnull;
	}
	if (column < unique->ncolumns)
		ReportKeyType(unique, HeapTupleHeaderGetTypeId(header));
	ReleaseTupleDesc(desc);
	return result;
}

/* Read a key of an argument.  False: it is null, or a column is. */
static bool
ReadKey(const BloomUnique *unique, Oid type, Datum value, bool isnull, Datum *key)
{
	if (unique->ncolumns > 1 && (type == RECORDOID || type_is_rowtype(type)))
		return !isnull && ReadRow(unique, value, key);
	key[0] = value;
	if (unique->ncolumns > 1 ||
		!Convert(&unique->columns[0], type, isnull, &key[0]))
		ReportKeyType(unique, type);
	return !isnull;
}

/*
 * bloom_unique_claim
 *		Has no row this key?  Then nobody else can write it before the transaction
 *		ends.
 */
PG_FUNCTION_INFO_V1(bloom_unique_claim);
Datum
bloom_unique_claim(PG_FUNCTION_ARGS)
{
	BloomUnique *unique = GetClaimedKey(fcinfo);
	Datum		key[INDEX_MAX_KEYS];
	bool		is_free;

	/* a key with a null is distinct from all others */
	if (!ReadKey(unique, get_fn_expr_argtype(fcinfo->flinfo, 2),
				 PG_GETARG_DATUM(2), PG_ARGISNULL(2), key))
		PG_RETURN_BOOL(true);
	BloomUniqueClaimAbsent(unique, key, 1, BloomUniqueHasCollected(&unique->tag),
						   &is_free);
	PG_RETURN_BOOL(is_free);
}

/*
 * bloom_unique_claim_all
 *		Those of the keys that no row has, each once.  Then nobody else can write
 *		them before the transaction ends.
 */
PG_FUNCTION_INFO_V1(bloom_unique_claim_all);
Datum
bloom_unique_claim_all(PG_FUNCTION_ARGS)
{
	BloomUnique *unique = GetClaimedKey(fcinfo);
	int			ncolumns = unique->ncolumns;
	ArrayType  *array;
	Oid			type;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			nvalues;
	Datum	   *keys;
	bool	   *is_free;
	int			nkeys = 0;
	int			nfree = 0;

	if (PG_ARGISNULL(2))
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(2);
	type = ARR_ELEMTYPE(array);
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls,
					  &nvalues);
	keys = palloc_extended((Size) (nvalues + 1) * ncolumns * sizeof(Datum),
						   MCXT_ALLOC_HUGE);
	is_free = palloc(nvalues + 1);
	for (int i = 0; i < nvalues; i++)
	{
		BloomCheckInterrupts(i);
		if (ReadKey(unique, type, values[i], nulls[i],
					&keys[(Size) nkeys * ncolumns]))
			values[nkeys++] = values[i];
	}
	BloomUniqueClaimAbsent(unique, keys, nkeys,
						   BloomUniqueHasCollected(&unique->tag), is_free);
	for (int i = 0; i < nkeys; i++)
	{
		if (is_free[i])
			values[nfree++] = values[i];
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(values, nfree, type, typlen, typbyval,
										  typalign));
}
