/*-------------------------------------------------------------------------
 *
 * set/identity.c
 *		Is a table a set, and which?
 *
 * The parameters of a set are a text in the default of its column "hashes".
 * A table of parameters of all sets would be the obvious place; but there,
 * everybody who may create a set could change everybody else's, and rows would
 * have to be kept true when tables are renamed, moved, dropped, dumped or
 * restored one by one.  A part of the table's definition is seen by all, is
 * changed only by the table's owner, and goes wherever the table goes.  A
 * default, unlike a constraint or the expression of a generated column, costs an
 * update nothing.  The default is a call of our function, so that the catalog knows
 * all sets, and DROP EXTENSION the defaults; and its argument is a text, which every
 * version can read, and whatever it says, restore (set/params.h).
 *
 * The definition and the content of a table are not trusted.  A table is a set
 * only if it has exactly the columns, types, default and primary key that
 * bloom_set_create makes (or a copy of that, which REINDEX CONCURRENTLY leaves
 * when it fails), and nothing that would run code or hide rows.  So we can read
 * and write it without the executor, and no code of its owner runs as the caller.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "set/store.h"

PG_FUNCTION_INFO_V1(_bloom_set_params);

/* ----------------------------------------------------------------
 *							PARAMETERS
 * ----------------------------------------------------------------
 */

/*
 * _bloom_set_params
 *		Null: its argument is the parameters of a set, which are kept here.
 */
Datum
_bloom_set_params(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_NULL();
}

/*
 * StoredSetDefault
 *		The default of the column "hashes", which is a call of this function.
 */
char *
StoredSetDefault(const StoredSet *set, Oid function)
{
	char		text[STORED_SET_PARAMS_SIZE];

	StoredSetWriteParams(&set->params, BloomWholeName(&set->key_type), text);
	return psprintf("%s._bloom_set_params(%s::pg_catalog.text)",
					quote_identifier(get_namespace_name(get_func_namespace(function))),
					quote_literal_cstr(text));
}

/*
 * Read the parameters in the definition of a table.  The result says what is
 * wrong, or is NULL.
 */
static const char *
ReadParams(TupleDesc desc, StoredSet *set)
{
	static const char *const no_call = "The default of its column \"hashes\" is not a call of _bloom_set_params.";
	FuncExpr   *call = NULL;
	Const	   *argument;
	FmgrInfo	flinfo;
	text	   *parameters;
	char		type_name[STORED_SET_TYPE_NAME_SIZE];
	const char *wrong;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		if (desc->constr->defval[i].adnum != STORED_SET_HASHES)
			return psprintf("Its column \"%s\" has a default.",
							NameStr(TupleDescAttr(desc, desc->constr->defval[i].adnum - 1)->attname));
		call = (FuncExpr *) stringToNode(desc->constr->defval[i].adbin);
	}

	if (call == NULL || !IsA(call, FuncExpr) || list_length(call->args) != 1)
		return no_call;
	fmgr_info(call->funcid, &flinfo);
	argument = linitial(call->args);
	if (flinfo.fn_addr != _bloom_set_params ||
		exprType((Node *) argument) != TEXTOID)
		return no_call;
	if (!IsA(argument, Const) || argument->constisnull)
		return "The parameters in the default of its column \"hashes\" are not a constant.";

	parameters = DatumGetTextPP(argument->constvalue);
	wrong = StoredSetReadParams(VARDATA_ANY(parameters),
								VARSIZE_ANY_EXHDR(parameters),
								&set->params, type_name);
	if (wrong != NULL)
		return wrong;
	set->packing.dropped = STORED_SET_ALL_BITS - set->params.kept_bits;
	set->packing.has_ages = set->params.keep != 0;
	set->key_type = BloomKeyTypeOfName(type_name);
	return NULL;
}

/* ----------------------------------------------------------------
 *							TIME
 * ----------------------------------------------------------------
 */

/*
 * StoredSetSliceLength
 *		The length of a time slice, in microseconds.
 *
 * "keep" touches one slice more than it is cut into, and a call can be ahead of
 * the clock by one: all these differ by no more than an age can tell.
 */
int64
StoredSetSliceLength(const StoredSetParams *params)
{
	return (params->keep - 1) / STORED_SET_SLICES + 1;
}

/*
 * StoredSetKeepInterval
 *		For how long keys are kept, as an interval.
 */
Datum
StoredSetKeepInterval(const StoredSetParams *params)
{
	Interval   *span = palloc0(sizeof(Interval));

	span->day = params->keep / USECS_PER_DAY;
	span->time = params->keep % USECS_PER_DAY;
	return IntervalPGetDatum(span);
}

/*
 * StoredSetSliceOf
 *		The number of the slice that a time is in.
 */
int64
StoredSetSliceOf(const StoredSetParams *params, TimestampTz at)
{
	int64		length;

	if (params->keep == 0)
		return 0;
	length = StoredSetSliceLength(params);
	return at / length - (at % length < 0);
}

/*
 * StoredSetOldestSlice
 *		The oldest slice in which a key may still have to be remembered.
 */
int64
StoredSetOldestSlice(const StoredSetParams *params, TimestampTz at)
{
	/* neither is large enough for an overflow */
	TimestampTz oldest = at - params->keep;

	if (params->keep != 0 && !IS_VALID_TIMESTAMP(oldest))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return StoredSetSliceOf(params, oldest);
}

/* ----------------------------------------------------------------
 *							THE TABLE
 * ----------------------------------------------------------------
 */

/*
 * What is wrong with the columns, or NULL.
 *
 * We write rows without the executor.  So a column must not be NOT NULL where we
 * write nulls, which the server would take for values; nor have a precision, to
 * which SQL that copies or restores the rows would round times.
 */
static const char *
CheckColumns(TupleDesc desc)
{
	static const struct
	{
		const char *name;
		Oid			type;
		bool		notnull;
	}			columns[STORED_SET_COLUMNS] =
	{
		{"start", INT8OID, true},
		{"slice", TIMESTAMPTZOID, false},
		{"lane", INT4OID, true},
		{"hashes", BYTEAOID, true}
	};

	if (desc->natts != STORED_SET_COLUMNS)
		return psprintf("It has %d column%s (with those that were dropped), and not start, slice, lane, hashes.",
						desc->natts, desc->natts == 1 ? "" : "s");
	for (int i = 0; i < STORED_SET_COLUMNS; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const char *name = columns[i].name;

		if (attribute->attisdropped ||
			strcmp(NameStr(attribute->attname), name) != 0)
			return psprintf("Its column %d is not \"%s\".", i + 1, name);
		if (attribute->atttypid != columns[i].type ||
			attribute->atttypmod != -1)
			return psprintf("Its column \"%s\" is not of type %s.", name,
							format_type_be(columns[i].type));
		if (attribute->attgenerated != '\0' || attribute->attidentity != '\0')
			return psprintf("Its column \"%s\" is generated.", name);
		if (columns[i].notnull && !attribute->attnotnull)
			return psprintf("Its column \"%s\" may be null.", name);
		if (!columns[i].notnull && attribute->attnotnull)
			return psprintf("Its column \"%s\" is NOT NULL.", name);
		if (columns[i].type == BYTEAOID &&
			attribute->attstorage != TYPSTORAGE_PLAIN)
			return psprintf("Its column \"%s\" is not stored PLAIN.", name);
	}
	return NULL;
}

/* Is a column of an index sorted as usual, and is it of this type? */
static bool
IsDefaultOpClass(Relation index, int column, Oid type)
{
	return index->rd_opcintype[column] == type &&
		index->rd_opfamily[column] ==
		get_opclass_family(GetDefaultOpClass(type, BTREE_AM_OID));
}

/* Is an index as the primary key of a set, be it valid or not? */
static bool
IsLikePrimaryKey(Relation index)
{
	Form_pg_index form = index->rd_index;

	return form->indisunique && form->indimmediate &&
		form->indnatts == 2 && form->indnkeyatts == 2 &&
		form->indkey.values[0] == STORED_SET_START &&
		form->indkey.values[1] == STORED_SET_LANE &&
		index->rd_rel->relam == BTREE_AM_OID &&
		IsDefaultOpClass(index, 0, INT8OID) &&
		IsDefaultOpClass(index, 1, INT4OID) &&
		index->rd_indoption[0] == 0 && index->rd_indoption[1] == 0 &&
		RelationGetIndexExpressions(index) == NIL &&
		RelationGetIndexPredicate(index) == NIL;
}

/*
 * What is wrong with the indexes, or NULL.
 *
 * REINDEX CONCURRENTLY makes a copy of the primary key, exchanges the two, and
 * drops the old one; when it is cancelled, either can stay behind.
 */
static const char *
CheckIndexes(Relation rel, StoredSet *set)
{
	List	   *indexes = RelationGetIndexList(rel);
	const char *wrong = NULL;
	ListCell   *cell;

	set->index = InvalidOid;
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (!IsLikePrimaryKey(index))
			wrong = form->indisprimary ?
				psprintf("Its index \"%s\" is not a primary key (start, lane) that is checked at once.",
						 RelationGetRelationName(index)) :
				psprintf("It has an index \"%s\" besides the primary key.",
						 RelationGetRelationName(index));
		else if (form->indisprimary &&
				 (!form->indisvalid || !form->indisready || !form->indislive))
			wrong = "Its primary key is not valid.";
		else if (form->indisprimary)
			set->index = RelationGetRelid(index);
		/* none is dropped while its table is locked */
		index_close(index, AccessShareLock);
		if (wrong != NULL)
			return wrong;
	}
	list_free(indexes);
	return OidIsValid(set->index) ? NULL : "It has no primary key.";
}

/*
 * Is this a constraint trigger that names another table, and never fires?  The set of
 * a unique key has one.
 */
static bool
NeverFires(const Trigger *trigger)
{
	Const	   *condition;

	if (!OidIsValid(trigger->tgconstrrelid) || trigger->tgqual == NULL)
		return false;
	condition = (Const *) stringToNode(trigger->tgqual);
	return IsA(condition, Const) && !condition->constisnull &&
		condition->consttype == BOOLOID && !DatumGetBool(condition->constvalue);
}

/* What a table has that a set does not have, or NULL. */
static const char *
CheckExtras(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		return "It is not an ordinary table.";
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return "Its access method is not heap.";
	if (RELATION_IS_OTHER_TEMP(rel))
		return "It is a temporary table of another session.";
	if (rel->rd_rel->relispartition || has_superclass(RelationGetRelid(rel)))
		return "It inherits from another table, or is a partition.";
	if (rel->rd_rel->relhassubclass &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL)
		return "Another table inherits from it.";
	if (rel->trigdesc != NULL && rel->trigdesc->numtriggers > 0 &&
		rel->trigdesc->triggers[0].tgisinternal)
		return "It has a foreign key, or a constraint that is deferrable.";
	if (rel->trigdesc != NULL && rel->trigdesc->numtriggers > 0 &&
		!(rel->trigdesc->numtriggers == 1 && NeverFires(&rel->trigdesc->triggers[0])))
		return psprintf("It has a trigger \"%s\".",
						rel->trigdesc->triggers[0].tgname);
	if (rel->trigdesc != NULL && rel->trigdesc->numtriggers > 0 &&
		rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "It has unique keys, and is unlogged: a crash would empty it, but keep the rows of prepared transactions.";
	if (rel->rd_rules != NULL && rel->rd_rules->numLocks > 0)
		return "It has a rule.";
	if (rel->rd_rel->relrowsecurity || rel->rd_rel->relforcerowsecurity)
		return "It has row-level security.";
	if (constr != NULL && constr->num_check > 0)
		return psprintf("It has a check constraint \"%s\".",
						constr->check[0].ccname);
	return NULL;
}

/*
 * StoredSetIdentify
 *		Find out whether an open table is a set, and which.
 *
 * NULL, if it is one; otherwise a sentence that says why it is none.  All of
 * this is known from the relation cache, whose entries are invalidated when
 * any of it changes.
 */
const char *
StoredSetIdentify(Relation rel, StoredSet *set)
{
	const char *wrong = CheckExtras(rel);

	set->relid = RelationGetRelid(rel);
	if (wrong == NULL)
		wrong = CheckColumns(RelationGetDescr(rel));
	if (wrong == NULL)
		wrong = CheckIndexes(rel, set);
	if (wrong == NULL)
		wrong = ReadParams(RelationGetDescr(rel), set);
	return wrong;
}

/*
 * StoredSetCure
 *		How a table that is no set can become one again, or NULL.
 *
 * Columns that were added stay in its definition even after they are dropped.  A
 * copy of the table lacks them.  But a copy of the set of a unique key belongs to no
 * table, so that bloom_unique_create must make that anew.
 */
const char *
StoredSetCure(Relation rel)
{
	const char *name;
	StoredSet	set;

	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		if (!NeverFires(&rel->trigdesc->triggers[i]))
			continue;
		if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
			return psprintf("ALTER TABLE %s SET LOGGED;",
							quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
													   RelationGetRelationName(rel)));
		return psprintf("It has the unique keys of table \"%s\": call bloom_unique_drop, and bloom_unique_create again.",
						get_rel_name(rel->trigdesc->triggers[i].tgconstrrelid));
	}
	if (RelationGetDescr(rel)->natts <= STORED_SET_COLUMNS ||
		ReadParams(RelationGetDescr(rel), &set) != NULL)
		return NULL;
	name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
	return psprintf("If the columns that were added are dropped, a copy of the table is a set with its keys: CREATE TABLE copy (LIKE %s INCLUDING ALL); INSERT INTO copy SELECT * FROM %s;",
					name, name);
}
