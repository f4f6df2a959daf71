/*-------------------------------------------------------------------------
 *
 * unique/columns.c
 *		The columns of a unique key, and copies of their values.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "set/unique/unique.h"

/* An error, if keys of this type can change without being written. */
static void
CheckType(Oid type, const char *column)
{
	Oid			base = getBaseType(type);
	char		typtype = get_typtype(base);
	Oid			part = get_element_type(base);

	if (!OidIsValid(part) && typtype == TYPTYPE_RANGE)
		part = get_range_subtype(base);
	if (!OidIsValid(part) && typtype == TYPTYPE_MULTIRANGE)
		part = get_range_subtype(get_multirange_range(base));
	if (OidIsValid(part))
		CheckType(part, column);
	if (typtype == TYPTYPE_ENUM || typtype == TYPTYPE_COMPOSITE ||
		base == RECORDOID || base == RECORDARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be a unique key", column),
				 errdetail("Values of type %s can change without being written, by ALTER TYPE.",
						   format_type_be(base)),
				 typtype == TYPTYPE_ENUM ? 0 :
				 errhint("Name several columns in place of one with a row type.")));
}

/* Read what a column is. */
static void
DescribeColumn(Oid root, AttrNumber number, BloomUniqueColumn *column)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(root),
										Int16GetDatum(number));
	Form_pg_attribute form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "column %d of table %u does not exist", number, root);
	form = (Form_pg_attribute) GETSTRUCT(tuple);
	column->name = form->attname;
	column->number = number;
	column->type = form->atttypid;
	column->collation = form->attcollation;
	column->typlen = form->attlen;
	column->typbyval = form->attbyval;
	if (form->attgenerated == 'v')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is a virtual generated column",
						NameStr(form->attname)),
				 errhint("Make it a stored one.")));
	ReleaseSysCache(tuple);
	CheckType(column->type, NameStr(column->name));
}

/*
 * BloomUniqueDescribe
 *		Complete what is known of a key, whose table and numbers of columns are
 *		there.
 */
void
BloomUniqueDescribe(BloomUnique *unique)
{
	Oid			types[INDEX_MAX_KEYS];
	Oid			collations[INDEX_MAX_KEYS];

	unique->owner = BloomUniqueOwnerOf(unique->tag.root);
	for (int i = 0; i < unique->ncolumns; i++)
	{
		DescribeColumn(unique->tag.root, unique->columns[i].number,
					   &unique->columns[i]);
		types[i] = unique->columns[i].type;
		collations[i] = unique->columns[i].collation;
	}
	unique->row = BloomHasherInitColumns(&unique->hasher, unique->ncolumns, types,
										 collations);
}

/*
 * BloomUniqueIsSame
 *		Are these two descriptions of one key, so that values which were read by the
 *		one can be read by the other?
 */
bool
BloomUniqueIsSame(const BloomUnique *a, const BloomUnique *b)
{
	if (a->tag.root != b->tag.root || a->tag.seed != b->tag.seed ||
		a->set != b->set || a->ncolumns != b->ncolumns)
		return false;
	for (int i = 0; i < a->ncolumns; i++)
	{
		if (a->columns[i].number != b->columns[i].number ||
			a->columns[i].type != b->columns[i].type ||
			a->columns[i].collation != b->columns[i].collation)
			return false;
	}
	return true;
}

/*
 * BloomUniqueColumns
 *		The columns of the key, as they stand in a list.
 */
char *
BloomUniqueColumns(const BloomUnique *unique)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < unique->ncolumns; i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ",
						 quote_identifier(NameStr(unique->columns[i].name)));
	return list.data;
}

/*
 * BloomUniqueGetKey
 *		The key of a row.  False: a column of it is null, so that it is distinct
 *		from all others.
 */
bool
BloomUniqueGetKey(const BloomUnique *unique, const AttrNumber *columns,
				  TupleTableSlot *slot, Datum *key)
{
	for (int i = 0; i < unique->ncolumns; i++)
	{
		bool		isnull;

		key[i] = slot_getattr(slot, columns[i], &isnull);
		if (isnull)
			return false;
	}
	return true;
}

/*
 * BloomUniqueCopyKey
 *		Copy the columns of a key into the current context.  The result is the
 *		bytes that this takes.
 */
Size
BloomUniqueCopyKey(const BloomUnique *unique, Datum *key)
{
	Size		size = unique->ncolumns * sizeof(Datum);

	for (int i = 0; i < unique->ncolumns; i++)
	{
		const BloomUniqueColumn *column = &unique->columns[i];

		if (column->typbyval)
			continue;
		/* a value out of line can be gone when it is needed */
		key[i] = column->typlen == -1 ?
			PointerGetDatum(PG_DETOAST_DATUM_COPY(key[i])) :
			datumCopy(key[i], false, column->typlen);
		size += datumGetSize(key[i], false, column->typlen);
	}
	return size;
}

/*
 * BloomUniqueKeepKey
 *		Keep a copy of a key.
 */
void
BloomUniqueKeepKey(const BloomUnique *unique, BloomUniqueKeys *keys, Datum *key)
{
	Size		width = unique->ncolumns * sizeof(Datum);
	MemoryContext oldcontext = MemoryContextSwitchTo(keys->context);

	if (keys->nkeys == keys->maxkeys)
	{
		keys->maxkeys = Max(2 * keys->maxkeys, 8);
		keys->keys = keys->keys == NULL ? palloc(keys->maxkeys * width) :
			repalloc_huge(keys->keys, keys->maxkeys * width);
	}
	keys->size += BloomUniqueCopyKey(unique, key);
	memcpy(&keys->keys[(Size) keys->nkeys++ * unique->ncolumns], key, width);
	MemoryContextSwitchTo(oldcontext);
}

/*
 * BloomUniqueDropKeys
 *		Free the copies, so that others can be kept.
 */
void
BloomUniqueDropKeys(BloomUniqueKeys *keys)
{
	MemoryContextReset(keys->context);
	*keys = (BloomUniqueKeys)
	{
		.context = keys->context
	};
}
