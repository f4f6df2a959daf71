/*-------------------------------------------------------------------------
 *
 * unique/sql.c
 *		Unique keys: the functions that SQL calls, and the event trigger.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "filter/call.h"
#include "set/compat.h"
#include "set/set.h"
#include "unique/unique.h"

/* ----------------------------------------------------------------
 *							ARGUMENTS
 * ----------------------------------------------------------------
 */

/* Run a command, which names all that it uses. */
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

	BloomUniqueFunction = bloom_unique;
	BloomCheckNotNull(PG_ARGISNULL(0), "relation");
	relid = PG_GETARG_OID(0);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!BloomIsOwnerOfTable(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	rel = relation_open(relid, lockmode);
	CheckTableNotInUse(rel, get_func_name(fcinfo->flinfo->fn_oid));
	relation_close(rel, NoLock);
	return relid;
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
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid list of columns \"%s\"", list),
				 errhint("Write it as for CREATE INDEX: 'tenant, id'.")));
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

/* The key that the arguments name, which must be there, with its triggers. */
static BloomUnique *
GetUniqueArgs(FunctionCallInfo fcinfo, LOCKMODE lockmode,
			  BloomUniqueTriggers *triggers)
{
	Oid			relid = GetTableArg(fcinfo, lockmode);
	AttrNumber	columns[INDEX_MAX_KEYS];
	int			ncolumns = GetColumnsArg(fcinfo, relid, false, columns);
	BloomUnique *unique = MakeUnique(relid, columns, ncolumns);

	if (!BloomUniqueFindSeed(relid, columns, ncolumns, &unique->tag.seed))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no unique key of these columns that bloom_unique_create made",
						get_rel_name(relid))));
	BloomUniqueFindTriggers(&unique->tag, triggers);
	unique->set = triggers->set;
	if (OidIsValid(unique->set) && get_rel_name(unique->set) != NULL)
		namestrcpy(&unique->name, get_rel_name(unique->set));
	return unique;
}

/* ----------------------------------------------------------------
 *							DROPPING
 * ----------------------------------------------------------------
 */

static void
DropTriggers(const BloomUniqueTag *tag, const BloomUniqueTriggers *triggers)
{
	for (int i = 0; i < BLOOM_UNIQUE_TRIGGERS; i++)
	{
		if (OidIsValid(triggers->oids[i]))
			Run(psprintf("DROP TRIGGER %s ON %s",
						 quote_identifier(NameStr(triggers->names[i])),
						 NameOf(tag->root)));
	}
	BloomUniqueForgetStatements(tag->root);
}

/*
 * Drop the triggers that are left of keys whose set or column was dropped with
 * CASCADE.  All that they do is to refuse rows.  False: there were none.
 */
static bool
DropLeftovers(Oid relid)
{
	BloomUniqueTag tag = {.root = relid};
	BloomUniqueTriggers triggers;
	bool		found = false;

	while (BloomUniqueFindLeftover(relid, &tag.seed))
	{
		BloomUniqueFindTriggers(&tag, &triggers);
		DropTriggers(&tag, &triggers);
		found = true;
	}
	return found;
}

/*
 * bloom_unique_drop
 *		Undo bloom_unique_create, also if the set or a column is gone.
 */
PG_FUNCTION_INFO_V1(bloom_unique_drop);
Datum
bloom_unique_drop(PG_FUNCTION_ARGS)
{
	Oid			relid = GetTableArg(fcinfo, ShareRowExclusiveLock);
	bool		did_drop = DropLeftovers(relid);
	AttrNumber	columns[INDEX_MAX_KEYS];
	int			ncolumns = GetColumnsArg(fcinfo, relid, did_drop, columns);
	BloomUniqueTriggers triggers;
	BloomUnique *unique;
	int64		seed;

	if (did_drop &&
		(ncolumns == 0 || !BloomUniqueFindSeed(relid, columns, ncolumns, &seed)))
		PG_RETURN_VOID();
	unique = GetUniqueArgs(fcinfo, ShareRowExclusiveLock, &triggers);
	DropTriggers(&unique->tag, &triggers);
	if (OidIsValid(unique->set) && get_rel_name(unique->set) != NULL)
		Run(psprintf("DROP TABLE %s", NameOf(unique->set)));
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 *							CREATING
 * ----------------------------------------------------------------
 */

/* The name of the set: that of an index on these columns would be like it. */
static char *
ChooseName(FunctionCallInfo fcinfo, const BloomUnique *unique, Oid schema)
{
	StringInfoData columns;

	if (!PG_ARGISNULL(4))
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(4));

		if (strlen(name) == 0 || strlen(name) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("invalid name \"%s\"", name),
					 errdetail("A name has between 1 and %d bytes.",
							   NAMEDATALEN - 1)));
		if (OidIsValid(get_relname_relid(name, schema)))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_TABLE),
					 errmsg("relation \"%s\" already exists", name)));
		return name;
	}
	initStringInfo(&columns);
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&columns, "%s%s", i == 0 ? "" : "_",
						 NameStr(unique->columns[i].name));
	return ChooseRelationName(get_rel_name(unique->tag.root), columns.data,
							  "unique", schema, false);
}

/* Make the set. */
static Oid
MakeSet(FunctionCallInfo fcinfo, BloomUnique *unique)
{
	Oid			schema = get_rel_namespace(unique->tag.root);
	StoredSet	set = {0};
	Oid			relid;

	set.key_type = unique->hasher.key_type;
	set.params.kept_bits = BLOOM_UNIQUE_KEPT_BITS;
	set.params.seed = unique->tag.seed;
	if (!PG_ARGISNULL(3))
		set.params.keep = StoredSetCheckKeep(PG_GETARG_DATUM(3));
	relid = StoredSetMakeTable(&set, schema, ChooseName(fcinfo, unique, schema),
							   false, fcinfo->flinfo->fn_oid,
							   psprintf("Bloom set of the unique keys of table %s: see bloom_unique_create",
										get_rel_name(unique->tag.root)));
	if (unique->owner != GetUserId())
		Run(psprintf("ALTER TABLE %s OWNER TO %s", NameOf(relid),
					 quote_identifier(GetUserNameFromId(unique->owner, false))));
	return relid;
}

/* A trigger: when it fires, and what it is for */
static const struct
{
	const char *suffix;
	const char *events;
	const char *level;
	const char *comment;
}			made[BLOOM_UNIQUE_TRIGGERS] =

{
	[BLOOM_UNIQUE_KEYS] =
	{
		"keys", "BEFORE UPDATE", "STATEMENT",
		"never fires: names the columns and the set of a unique key"
	},
	[BLOOM_UNIQUE_OPEN] =
	{
		"open", "BEFORE INSERT OR UPDATE", "STATEMENT",
		"begins to collect the keys of a statement, to check them at once"
	},
	[BLOOM_UNIQUE_ROW] =
	{
		"row", "AFTER INSERT OR UPDATE", "ROW",
		"keeps keys unique across partitions; the others only make it fast"
	},
	[BLOOM_UNIQUE_CLOSE] =
	{
		"close", "AFTER INSERT OR UPDATE OR TRUNCATE", "STATEMENT",
		"checks the keys of a statement; TRUNCATE empties the set"
	},
	[BLOOM_UNIQUE_NOTHING] =
	{
		"nothing", "BEFORE INSERT", "ROW",
		"drops rows whose key is there"
	}
};

/* Make one of the triggers. */
static void
MakeTrigger(FunctionCallInfo fcinfo, const BloomUnique *unique,
			BloomUniqueTrigger kind)
{
	Oid			ours = get_func_namespace(fcinfo->flinfo->fn_oid);
	const char *name = makeObjectName(get_rel_name(unique->set), NULL,
									  made[kind].suffix);
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE TRIGGER %s %s", quote_identifier(name),
					 made[kind].events);
	if (kind == BLOOM_UNIQUE_KEYS)
		appendStringInfo(&command, " OF %s", BloomUniqueColumns(unique));
	appendStringInfo(&command, " ON %s FOR EACH %s", NameOf(unique->tag.root),
					 made[kind].level);
	if (kind == BLOOM_UNIQUE_KEYS)
		appendStringInfo(&command, " WHEN (false AND %s::pg_catalog.regclass IS NOT NULL)",
						 quote_literal_cstr(NameOf(unique->set)));
	appendStringInfo(&command, " EXECUTE FUNCTION %s.bloom_unique('" INT64_FORMAT "')",
					 quote_identifier(get_namespace_name(ours)),
					 unique->tag.seed);
	Run(command.data);
}

/* Give the triggers their comments. */
static void
CommentTriggers(const BloomUnique *unique, bool is_validated)
{
	BloomUniqueTriggers triggers;

	CommandCounterIncrement();
	BloomUniqueFindTriggers(&unique->tag, &triggers);
	for (int i = 0; i < BLOOM_UNIQUE_TRIGGERS; i++)
	{
		if (OidIsValid(triggers.oids[i]))
			CreateComments(triggers.oids[i], TriggerRelationId, 0,
						   i == BLOOM_UNIQUE_ROW && !is_validated ?
						   "keeps keys unique across partitions, but for those of earlier rows: see bloom_unique_validate" :
						   made[i].comment);
	}
}

/* What to do with repeats.  True: nothing, so that they are dropped. */
static bool
GetOnConflictArg(FunctionCallInfo fcinfo, int argno)
{
	char	   *action;

	BloomCheckNotNull(PG_ARGISNULL(argno), "on_conflict");
	action = text_to_cstring(PG_GETARG_TEXT_PP(argno));
	if (strcmp(action, "nothing") != 0 && strcmp(action, "error") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_conflict must be 'error' or 'nothing'"),
				 errdetail("It is '%s'.", action)));
	return strcmp(action, "nothing") == 0;
}

/* Before a row is written, a generated column has no value. */
static void
CheckNotGenerated(const BloomUnique *unique)
{
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (get_attgenerated(unique->tag.root, unique->columns[i].number) != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" is generated",
							NameStr(unique->columns[i].name)),
					 errdetail("A generated column has no value before a row is written, when on_conflict => 'nothing' decides."),
					 errhint("Use on_conflict => 'error'.")));
	}
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
	bool		drops = GetOnConflictArg(fcinfo, 2);
	bool		validates;
	BloomUnique *unique;
	int64		seed;

	BloomCheckNotNull(PG_ARGISNULL(5), "validate");
	validates = PG_GETARG_BOOL(5);
	BloomUniqueCheckTable(relid);
	if (BloomUniqueFindSeed(relid, columns, ncolumns, &seed))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table \"%s\" has a unique key of these columns already",
						get_rel_name(relid))));
	(void) DropLeftovers(relid);
	(void) find_all_inheritors(relid, ShareRowExclusiveLock, NULL);
	unique = MakeUnique(relid, columns, ncolumns);
	if (drops)
		CheckNotGenerated(unique);
	if (!pg_strong_random(&unique->tag.seed, sizeof(unique->tag.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	BloomUniqueFindLeaves(unique);
	unique->set = MakeSet(fcinfo, unique);
	namestrcpy(&unique->name, get_rel_name(unique->set));
	for (int i = 0; i < BLOOM_UNIQUE_TRIGGERS; i++)
	{
		if (i != BLOOM_UNIQUE_NOTHING || drops)
			MakeTrigger(fcinfo, unique, i);
	}
	CommentTriggers(unique, validates);
	if (validates)
		(void) BloomUniqueFill(unique);
	else
		StoredSetMark(unique->set);
	PG_RETURN_OID(unique->set);
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
	BloomUniqueTriggers triggers;
	BloomUnique *unique = GetUniqueArgs(fcinfo, ShareRowExclusiveLock, &triggers);
	uint64		result;

	BloomUniqueCheckTriggers(unique->tag.root, &triggers);
	BloomUniqueCheckLogged(unique);
	BloomUniqueFindLeaves(unique);
	result = BloomUniqueRefill(unique);
	CommentTriggers(unique, true);
	PG_RETURN_INT64((int64) result);
}

/* ----------------------------------------------------------------
 *							VALIDATING
 * ----------------------------------------------------------------
 */

/* Claim and check the rows of a partition, if it is there, as the table's owner. */
static void
ClaimLeaf(const BloomUniqueTag *tag, Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	BloomUnique *unique;
	Oid			user;
	int			context;

	if (rel == NULL)
		return;
	unique = BloomUniqueRecall(tag);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_RESTRICTED_OPERATION);
	/* after a commit there is none */
	PushActiveSnapshot(GetTransactionSnapshot());
	BloomUniqueFindLeaves(unique);
	BloomUniqueClaimLeaf(unique, rel);
	PopActiveSnapshot();
	SetUserIdAndSecContext(user, context);
	relation_close(rel, NoLock);
}

/* The tables with rows among a table and those below it */
static List *
LeavesOf(Oid relid)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relid, NoLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			result = lappend_oid(result, lfirst_oid(cell));
	}
	return result;
}

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
	BloomUniqueTriggers triggers;
	BloomUnique *unique = GetUniqueArgs(fcinfo, AccessShareLock, &triggers);
	BloomUniqueTag tag = unique->tag;
	List	   *leaves;
	ListCell   *cell;

	if (SPI_connect_ext(commits ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");

	/* SPI's memory lasts until SPI_finish, whatever is committed */
	leaves = LeavesOf(tag.root);
	foreach(cell, leaves)
	{
		ClaimLeaf(&tag, lfirst_oid(cell));
		if (commits)
		{
			SPI_commit();
			SPI_start_transaction();
		}
	}
	CommentTriggers(BloomUniqueRecall(&tag), true);
	SPI_finish();
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 *							ALTER TABLE
 * ----------------------------------------------------------------
 */

/* The table that the command has altered, or invalid */
static Oid
AlteredTable(void)
{
	Oid			result = InvalidOid;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute("SELECT objid FROM pg_catalog.pg_event_trigger_ddl_commands()"
					" WHERE classid OPERATOR(pg_catalog.=) 1259 AND objsubid OPERATOR(pg_catalog.=) 0",
					false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not look for the altered table");
	if (SPI_processed > 0)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[0],
										  SPI_tuptable->tupdesc, 1, &isnull);

		result = isnull ? InvalidOid : DatumGetObjectId(value);
	}
	SPI_finish();
	return result;
}

/* The keys whose row triggers a table has */
static List *
KeysOf(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	List	   *result = NIL;

	if (rel == NULL)
		return NIL;
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];
		TriggerData data = {.tg_relation = rel,.tg_trigger = trigger};
		BloomUniqueTag *tag;

		if (!TRIGGER_FOR_ROW(trigger->tgtype) || TRIGGER_FOR_BEFORE(trigger->tgtype) ||
			!BloomUniqueIsOurs(trigger->tgfoid))
			continue;
		tag = palloc0(sizeof(BloomUniqueTag));
		tag->seed = BloomUniqueSeedOf(trigger->tgnargs, trigger->tgargs);
		tag->root = StoredSetTriggerTable(&data);
		result = lappend(result, tag);
	}
	relation_close(rel, AccessShareLock);
	return result;
}

/*
 * Check all rows of a key, from its table down.
 *
 * Indexes are not opened unless keys have equal hashes: pg_restore can be attaching
 * them in another session.
 */
static void
CheckAll(const BloomUniqueTag *tag)
{
	if (!BloomUniqueIsFilled(tag))
		return;
	(void) BloomUniqueRefill(BloomUniqueRecall(tag));
	BloomUniqueForgetStatements(tag->root);
}

/* Claim the rows of a table and of those below it. */
static void
ClaimTree(Oid relid)
{
	ListCell   *leaf;
	ListCell   *key;

	foreach(leaf, LeavesOf(relid))
	{
		foreach(key, KeysOf(lfirst_oid(leaf)))
		{
			if (BloomUniqueIsFilled(lfirst(key)))
				ClaimLeaf(lfirst(key), lfirst_oid(leaf));
		}
	}
}

/* A partition was attached: its rows count from now on. */
static void
CheckAttached(Oid relid, const AlterTableCmd *command)
{
	const PartitionCmd *attach = (const PartitionCmd *) command->def;
	Oid			attached = RangeVarGetRelid(attach->name, NoLock, true);

	/* if the name now means another table, all are checked */
	if (!list_member_oid(find_all_inheritors(relid, NoLock, NULL), attached))
		attached = relid;
	ClaimTree(attached);
}

/* A trigger may have been enabled: check what has been written without it. */
static void
CheckEnabled(Oid relid, const AlterTableCmd *command)
{
	ListCell   *cell;
	bool		is_below = false;

	(void) command;
	foreach(cell, KeysOf(relid))
	{
		const BloomUniqueTag *tag = lfirst(cell);

		if (tag->root == relid)
			CheckAll(tag);
		else
			is_below = true;
	}
	if (is_below)
		ClaimTree(relid);
}

static void
WarnDisabled(Oid relid, const AlterTableCmd *command)
{
	Relation	rel = relation_open(relid, AccessShareLock);

	(void) command;
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (trigger->tgenabled == TRIGGER_DISABLED &&
			TRIGGER_FOR_ROW(trigger->tgtype) && TRIGGER_FOR_AFTER(trigger->tgtype) &&
			BloomUniqueIsOurs(trigger->tgfoid))
			ereport(WARNING,
					(errmsg("unique keys of table \"%s\" are not checked while trigger \"%s\" is disabled",
							RelationGetRelationName(rel), trigger->tgname),
					 errhint("ALTER TABLE ... ENABLE TRIGGER checks all rows.")));
	}
	relation_close(rel, AccessShareLock);
}

/* The sets of a table have its owner, by whose rights they are written. */
static void
ChangeOwner(Oid relid, const AlterTableCmd *command)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;
	ListCell   *cell;

	(void) command;
	if (!HeapTupleIsValid(tuple))
		return;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	foreach(cell, KeysOf(relid))
	{
		const BloomUniqueTag *tag = lfirst(cell);
		BloomUniqueTriggers triggers;

		BloomUniqueFindTriggers(tag, &triggers);
		if (tag->root == relid && OidIsValid(triggers.set))
			Run(psprintf("ALTER TABLE %s OWNER TO %s", NameOf(triggers.set),
						 quote_identifier(GetUserNameFromId(owner, false))));
	}
}

/* A column may have other values: check the keys that have it. */
static void
CheckExpression(Oid relid, const AlterTableCmd *command)
{
	ListCell   *cell;

	(void) command;
	foreach(cell, KeysOf(relid))
		CheckAll(lfirst(cell));
}

/* What a part of ALTER TABLE means for unique keys: who follows it, or NULL */
typedef void (*Follower) (Oid relid, const AlterTableCmd *command);

static Follower
FollowerOf(const AlterTableCmd *command)
{
	switch (command->subtype)
	{
		case AT_AttachPartition:
			return CheckAttached;
		case AT_EnableTrig:
		case AT_EnableAlwaysTrig:
		case AT_EnableReplicaTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			return CheckEnabled;
		case AT_DisableTrig:
		case AT_DisableTrigAll:
		case AT_DisableTrigUser:
			return WarnDisabled;
		case AT_ChangeOwner:
			return ChangeOwner;
		default:
			return BloomSetsExpression(command) ? CheckExpression : NULL;
	}
}

/*
 * _bloom_unique_alter_table
 *		Check rows that come to a table with unique keys by ALTER TABLE.
 *		(event trigger)
 */
PG_FUNCTION_INFO_V1(_bloom_unique_alter_table);
Datum
_bloom_unique_alter_table(PG_FUNCTION_ARGS)
{
	EventTriggerData *event = (EventTriggerData *) fcinfo->context;
	Oid			relid = InvalidOid;
	ListCell   *cell;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("_bloom_unique_alter_table must be called by an event trigger")));
	/* pg_upgrade brings rows and sets as files, whose numbers must stay */
	if (IsBinaryUpgrade ||
		event->parsetree == NULL || !IsA(event->parsetree, AlterTableStmt))
		PG_RETURN_NULL();
	BloomUniqueFunction = bloom_unique;
	foreach(cell, ((AlterTableStmt *) event->parsetree)->cmds)
	{
		const AlterTableCmd *command = lfirst(cell);

		Follower	follow = FollowerOf(command);

		if (follow == NULL)
			continue;
		if (!OidIsValid(relid))
			relid = AlteredTable();
		if (OidIsValid(relid))
			follow(relid, command);
	}
	PG_RETURN_NULL();
}
