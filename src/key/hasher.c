/*-------------------------------------------------------------------------
 *
 * key/hasher.c
 *		From a type to how keys of it are hashed, and to their key type.
 *
 * - Values of one key type can be in one filter, and equal ones have the same
 *	 canonical bytes.
 *
 * - The key type of a scalar is the OID of a built-in type, one for all types
 *	 that are compared with each other: int8 for integers, text for text,
 *	 varchar, name and char(n), float8 for floats, oid for its aliases.
 *
 * - All others have a name, the same in every database:
 *
 *		int8[]					an array, by the key type of its elements
 *		(int8,text)				a composite, by its columns
 *		range tstzrange			a range
 *		multirange nummultirange	a multirange
 *		enum mood				an enum
 *		citext					a type of an extension
 *		text collate "und"		text under a nondeterministic collation
 *
 * - Names of types and collations have no schema.  They are quoted if they have
 *	 other characters than lower-case letters, digits and underscores, or are
 *	 the name of a scalar.  A domain is its base type.
 *
 * - The columns of an anonymous row are known only from the value, and those of
 *	 a named type can be altered.  So the key type of rows is that of the last
 *	 value, and may change with the next one.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "key/hasher.h"
#include "compat.h"

/* ----------------------------------------------------------------
 *							SCALARS
 * ----------------------------------------------------------------
 */

typedef struct ScalarType
{
	Oid			type;
	Oid			key_type;
	BloomEncoding encoding;
	const char *name;			/* of the key type */
} ScalarType;

static const ScalarType scalars[] = {
	{INT2OID, INT8OID, BLOOM_KEY_INT2, "int8"},
	{INT4OID, INT8OID, BLOOM_KEY_INT4, "int8"},
	{INT8OID, INT8OID, BLOOM_KEY_INT8, "int8"},
	{TEXTOID, TEXTOID, BLOOM_KEY_TEXT, "text"},
	{VARCHAROID, TEXTOID, BLOOM_KEY_TEXT, "text"},
	{BPCHAROID, TEXTOID, BLOOM_KEY_BPCHAR, "text"},
	{NAMEOID, TEXTOID, BLOOM_KEY_NAME, "text"},
	/* an untyped literal in a row */
	{UNKNOWNOID, TEXTOID, BLOOM_KEY_NAME, "text"},
	{UUIDOID, UUIDOID, BLOOM_KEY_UUID, "uuid"},
	{BYTEAOID, BYTEAOID, BLOOM_KEY_BYTEA, "bytea"},
	{NUMERICOID, NUMERICOID, BLOOM_KEY_NUMERIC, "numeric"},
	{FLOAT4OID, FLOAT8OID, BLOOM_KEY_FLOAT4, "float8"},
	{FLOAT8OID, FLOAT8OID, BLOOM_KEY_FLOAT8, "float8"},
	{BOOLOID, BOOLOID, BLOOM_KEY_1BYTE, "bool"},
	{DATEOID, DATEOID, BLOOM_KEY_4BYTES, "date"},
	{TIMESTAMPOID, TIMESTAMPOID, BLOOM_KEY_INT8, "timestamp"},
	{TIMESTAMPTZOID, TIMESTAMPTZOID, BLOOM_KEY_INT8, "timestamptz"},
	{TIMEOID, TIMEOID, BLOOM_KEY_INT8, "time"},
	{TIMETZOID, TIMETZOID, BLOOM_KEY_TIMETZ, "timetz"},
	{INTERVALOID, INTERVALOID, BLOOM_KEY_INTERVAL, "interval"},
	{INETOID, INETOID, BLOOM_KEY_INET, "inet"},
	{CIDROID, INETOID, BLOOM_KEY_INET, "inet"},
	{MACADDROID, MACADDROID, BLOOM_KEY_MACADDR, "macaddr"},
	{MACADDR8OID, MACADDR8OID, BLOOM_KEY_MACADDR, "macaddr8"},
	{JSONBOID, JSONBOID, BLOOM_KEY_JSONB, "jsonb"},
	{BITOID, VARBITOID, BLOOM_KEY_VARBIT, "varbit"},
	{VARBITOID, VARBITOID, BLOOM_KEY_VARBIT, "varbit"},
	{MONEYOID, MONEYOID, BLOOM_KEY_INT8, "money"},
	{OIDOID, OIDOID, BLOOM_KEY_4BYTES, "oid"},
	{XIDOID, XIDOID, BLOOM_KEY_4BYTES, "xid"},
	{CIDOID, CIDOID, BLOOM_KEY_4BYTES, "cid"},
	{XID8OID, XID8OID, BLOOM_KEY_INT8, "xid8"},
	{TIDOID, TIDOID, BLOOM_KEY_TID, "tid"},
	{PG_LSNOID, PG_LSNOID, BLOOM_KEY_INT8, "pg_lsn"},
	{CHAROID, CHAROID, BLOOM_KEY_1BYTE, "\"char\""},
};

/* NULL if the type is none of them. */
static const ScalarType *
FindScalar(Oid type)
{
	for (int i = 0; i < (int) lengthof(scalars); i++)
	{
		if (scalars[i].type == type)
			return &scalars[i];
	}
	return NULL;
}

/* ----------------------------------------------------------------
 *							NAMES
 * ----------------------------------------------------------------
 */

static bool
NeedsQuotes(const char *name)
{
	if (strcmp(name, "record") == 0 || (name[0] >= '0' && name[0] <= '9'))
		return true;
	for (int i = 0; i < (int) lengthof(scalars); i++)
	{
		if (strcmp(name, scalars[i].name) == 0)
			return true;
	}
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0';
}

/*
 * BloomWholeName
 *		The name of a key type in UTF-8, that of a built-in one too.
 */
char *
BloomWholeName(const BloomKeyType *key_type)
{
	const ScalarType *scalar = FindScalar(key_type->id);

	if (key_type->words > 0)
		return pnstrdup(key_type->name, (Size) key_type->words * 8);
	if (scalar == NULL || scalar->key_type != key_type->id)
		elog(ERROR, "key type %u has no name", key_type->id);
	return pstrdup(scalar->name);
}

/*
 * BloomKeyTypeOfName
 *		The key type with this name.
 */
BloomKeyType
BloomKeyTypeOfName(const char *name)
{
	for (int i = 0; i < (int) lengthof(scalars); i++)
	{
		if (strcmp(name, scalars[i].name) == 0)
			return BloomBuiltinKeyType(scalars[i].key_type);
	}
	return BloomNamedKeyType(name);
}

/* Append a name in the server's encoding as it stands in a key type. */
static void
AppendName(StringInfo out, const char *server_name, bool always_quoted)
{
	const char *name = pg_server_to_any(server_name, strlen(server_name),
										PG_UTF8);

	if (!always_quoted && !NeedsQuotes(name))
	{
		appendStringInfoString(out, name);
		return;
	}
	appendStringInfoChar(out, '"');
	for (; *name; name++)
	{
		if (*name == '"')
			appendStringInfoChar(out, '"');
		appendStringInfoChar(out, *name);
	}
	appendStringInfoChar(out, '"');
}

/* The name of a type, after a word for its kind. */
static char *
NameOfType(const char *word, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	StringInfoData out;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	initStringInfo(&out);
	appendStringInfoString(&out, word);
	AppendName(&out, NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname), false);
	ReleaseSysCache(tuple);
	return out.data;
}

static char *
WithCollation(const char *name, Oid collation)
{
	char	   *collname = get_collation_name(collation);
	StringInfoData out;

	if (collname == NULL)
		elog(ERROR, "cache lookup failed for collation %u", collation);
	initStringInfo(&out);
	appendStringInfo(&out, "%s collate ", name);
	AppendName(&out, collname, true);
	return out.data;
}

static char *
NameOfRow(const BloomHasher *hasher)
{
	StringInfoData out;
	const char *separator = "";

	if (hasher->tupdesc == NULL)
		return pstrdup("record");
	initStringInfo(&out);
	appendStringInfoChar(&out, '(');
	for (int i = 0; i < hasher->tupdesc->natts; i++)
	{
		if (TupleDescAttr(hasher->tupdesc, i)->attisdropped)
			continue;
		appendStringInfo(&out, "%s%s", separator, hasher->columns[i].name);
		separator = ",";
	}
	appendStringInfoChar(&out, ')');
	return out.data;
}

/*
 * BloomRefreshName
 *		Compose the name anew after a row type in it has changed.
 */
void
BloomRefreshName(BloomHasher *hasher)
{
	MemoryContext oldcontext;
	char	   *old = hasher->row_name;

	if (!hasher->key_type_varies)
		return;
	check_stack_depth();
	if (hasher->encoding == BLOOM_KEY_ARRAY)
		BloomRefreshName(hasher->element);
	else if (hasher->tupdesc != NULL)
	{
		for (int i = 0; i < hasher->tupdesc->natts; i++)
			BloomRefreshName(&hasher->columns[i]);
	}

	oldcontext = MemoryContextSwitchTo(hasher->context);
	if (hasher->encoding == BLOOM_KEY_ARRAY)
		hasher->row_name = psprintf("%s[]", hasher->element->name);
	else
		hasher->row_name = NameOfRow(hasher);
	hasher->name = hasher->row_name;
	MemoryContextSwitchTo(oldcontext);
	if (old != NULL)
		pfree(old);
}

/*
 * BloomRefreshKeyType
 *		Make the key type of a hasher of whole keys from its name.
 */
void
BloomRefreshKeyType(BloomHasher *hasher)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(hasher->context);
	BloomKeyType old = hasher->key_type;

	BloomRefreshName(hasher);
	hasher->key_type = BloomNamedKeyType(hasher->name);
	hasher->is_stale = false;
	MemoryContextSwitchTo(oldcontext);
	if (old.id == 0)
		return;
	if (hasher->one_type && !BloomSameKeyType(&old, &hasher->key_type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys have different row types: %s and %s",
						BloomKeyTypeName(&old),
						BloomKeyTypeName(&hasher->key_type)),
				 errhint("Cast the columns, so that all rows have the same types.")));
	pfree(unconstify(char *, old.name));
}

/* ----------------------------------------------------------------
 *							ROW TYPES
 * ----------------------------------------------------------------
 */

static void InitHasher(BloomHasher *hasher, BloomHasher *root, Oid type,
					   Oid collation);

/* Set the columns of a row type. */
static void
SetColumns(BloomHasher *hasher, Oid row_type, int32 typmod)
{
	MemoryContext oldcontext;
	TupleDesc	tupdesc;

	/* after an error on the way, the hasher has no row type */
	hasher->row_type = InvalidOid;
	hasher->tupdesc = NULL;
	hasher->root->is_stale = true;
	if (hasher->row_context == NULL)
		hasher->row_context = AllocSetContextCreate(hasher->context,
													"bloomtype row type",
													ALLOCSET_SMALL_SIZES);
	MemoryContextReset(hasher->row_context);

	oldcontext = MemoryContextSwitchTo(hasher->row_context);
	tupdesc = lookup_rowtype_tupdesc_copy(row_type, typmod);
	hasher->values = palloc(tupdesc->natts * sizeof(Datum));
	hasher->nulls = palloc(tupdesc->natts * sizeof(bool));
	hasher->columns = palloc0(tupdesc->natts * sizeof(BloomHasher));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(tupdesc, i);

		if (!column->attisdropped)
			InitHasher(&hasher->columns[i], hasher->root, column->atttypid,
					   column->attcollation);
	}
	MemoryContextSwitchTo(oldcontext);

	hasher->typentry = NULL;
	hasher->row_identifier = 0;
	if (row_type != RECORDOID)
	{
		hasher->typentry = lookup_type_cache(row_type, TYPECACHE_TUPDESC);
		hasher->row_identifier = hasher->typentry->tupDesc_identifier;
	}
	hasher->row_type = row_type;
	hasher->row_typmod = typmod;
	hasher->tupdesc = tupdesc;
}

/*
 * BloomSetRowType
 *		Prepare for a row of this type.
 */
void
BloomSetRowType(BloomHasher *hasher, Oid row_type, int32 typmod)
{
	if (unlikely(hasher->row_type != row_type || hasher->row_typmod != typmod ||
				 (hasher->typentry != NULL &&
				  hasher->typentry->tupDesc_identifier != hasher->row_identifier)))
		SetColumns(hasher, row_type, typmod);
}

/*
 * BloomHasherInitColumns
 *		Prepare to hash keys of one column, or of several, which are hashed as
 *		ROW(a, b).  The result is the type of these rows, or NULL.
 */
TupleDesc
BloomHasherInitColumns(BloomHasher *hasher, int ncolumns, const Oid *types,
					   const Oid *collations)
{
	TupleDesc	row;

	if (ncolumns == 1)
	{
		BloomHasherInit(hasher, types[0], collations[0]);
		hasher->source = BLOOM_COLUMNS;
		return NULL;
	}
	row = CreateTemplateTupleDesc(ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		TupleDescInitEntry(row, (AttrNumber) (i + 1), NULL, types[i], -1, 0);
		TupleDescInitEntryCollation(row, (AttrNumber) (i + 1), collations[i]);
	}
	TupleDescFinalize(row);
	row = BlessTupleDesc(row);
	BloomHasherInit(hasher, RECORDOID, InvalidOid);
	hasher->source = BLOOM_COLUMNS;
	BloomSetRowType(hasher, RECORDOID, row->tdtypmod);
	BloomRefreshKeyType(hasher);
	return row;
}

/*
 * BloomForgetRowTypes
 *		Forget the row types of earlier values, for an array or a null that
 *		determines none.
 */
void
BloomForgetRowTypes(BloomHasher *hasher)
{
	if (hasher->encoding == BLOOM_KEY_ARRAY)
		BloomForgetRowTypes(hasher->element);
	else if (hasher->encoding == BLOOM_KEY_ROW && hasher->base == RECORDOID &&
			 hasher->tupdesc != NULL)
	{
		hasher->row_type = InvalidOid;
		hasher->tupdesc = NULL;
		hasher->root->is_stale = true;
	}
}

/* ----------------------------------------------------------------
 *							HASHERS
 * ----------------------------------------------------------------
 */

/* Are these strings, which compare by a collation? */
static bool
EncodingIsText(BloomEncoding encoding)
{
	return encoding == BLOOM_KEY_TEXT || encoding == BLOOM_KEY_BPCHAR ||
		encoding == BLOOM_KEY_NAME;
}

/* An error if the collation that determines equality is not known. */
static void
CheckCollation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for hashing the key"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
}

/*
 * BloomTextIsKeyType
 *		Do text keys under this collation have the key type text?  If not, they
 *		are hashed by their collation.
 */
bool
BloomTextIsKeyType(Oid collation)
{
	CheckCollation(collation);
	return get_collation_isdeterministic(collation);
}

/* The error of a type that cannot be hashed, and so be no key. */
static void
NoHashFunction(Oid type)
{
	BloomKind	kind = BloomKindOfType(type);

	if (kind != BLOOM_NEITHER)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot use a %s as a key", BloomKindName(kind)),
				 kind == BLOOM_COUNTING ?
				 errhint("To compare two filters, use bloom_superset(filter::bloom, filter::bloom); to merge filters, use counting_bloom_sum_agg(filter).") :
				 errhint("To compare two filters, use bloom_superset(filter, filter); to merge filters, use bloom_union_agg(filter).")));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify an extended hash function for type %s",
					format_type_be(type)),
			 errdetail("A Bloom filter holds 64-bit hashes of its keys."),
			 errhint("Cast values of this type to one that has such a function, such as text.")));
}

/*
 * Refuse types that the server can hash, and whose hash would mean nothing: an
 * aclitem is made of OIDs of roles, which are others in each cluster; and a
 * pseudo-type has no values of its own.
 */
static void
CheckHasMeaning(Oid type)
{
	bool		is_pseudo = get_typtype(type) == TYPTYPE_PSEUDO;

	if (is_pseudo || type == ACLITEMOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot use a value of type %s as a key",
						format_type_be(type)),
				 is_pseudo ?
				 errdetail("A pseudo-type has no values of its own.") :
				 errdetail("It contains the OIDs of roles, which mean nothing in another database cluster."),
				 errhint("Cast values of this type to text.")));
}

/*
 * A type without canonical bytes of its own: it has those of a built-in type
 * whose operator class it uses, or else the result of its hash function.
 */
static void
InitByOperatorClass(BloomHasher *hasher)
{
	const ScalarType *scalar;

	CheckHasMeaning(hasher->base);
	hasher->typentry = lookup_type_cache(hasher->base,
										 TYPECACHE_HASH_OPFAMILY |
										 TYPECACHE_BTREE_OPFAMILY |
										 TYPECACHE_HASH_EXTENDED_PROC |
										 TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	scalar = FindScalar(OidIsValid(hasher->typentry->hash_opf) ?
						hasher->typentry->hash_opintype :
						hasher->typentry->btree_opintype);
	if (scalar != NULL)
	{
		hasher->base = scalar->type;
		hasher->encoding = scalar->encoding;
		hasher->name = scalar->name;
		return;
	}
	if (!OidIsValid(hasher->typentry->hash_extended_proc) ||
		BloomKindOfType(hasher->base) != BLOOM_NEITHER)
		NoHashFunction(hasher->base);
	hasher->encoding = BLOOM_KEY_HASHED;
	hasher->name = NameOfType("", hasher->base);
	if (OidIsValid(hasher->collation) &&
		!get_collation_isdeterministic(hasher->collation))
		hasher->name = WithCollation(hasher->name, hasher->collation);
}

static void
MakeElement(BloomHasher *hasher, Oid type, Oid collation)
{
	hasher->element = palloc(sizeof(BloomHasher));
	InitHasher(hasher->element, hasher->root, type, collation);
}

/*
 * Determine how values of a type are hashed.
 *
 * Allocates in the current context.
 */
static void
InitHasher(BloomHasher *hasher, BloomHasher *root, Oid type, Oid collation)
{
	const ScalarType *scalar;
	Oid			element;

	check_stack_depth();
	memset(hasher, 0, sizeof(BloomHasher));
	hasher->type = type;
	hasher->base = getBaseType(type);
	hasher->collation = collation;
	hasher->root = root;
	hasher->context = CurrentMemoryContext;
	get_typlenbyvalalign(hasher->base, &hasher->typlen, &hasher->typbyval,
						 &hasher->typalign);
	if (type_is_collatable(hasher->base))
		CheckCollation(collation);

	element = get_element_type(hasher->base);
	scalar = FindScalar(hasher->base);
	if (scalar != NULL)
	{
		hasher->encoding = scalar->encoding;
		hasher->name = scalar->name;
	}
	else if (OidIsValid(element))
	{
		hasher->encoding = BLOOM_KEY_ARRAY;
		MakeElement(hasher, element, collation);
		hasher->key_type_varies = hasher->element->key_type_varies;
		if (!hasher->key_type_varies)
			hasher->name = psprintf("%s[]", hasher->element->name);
	}
	else if (hasher->base == RECORDOID)
	{
		hasher->encoding = BLOOM_KEY_ROW;
		hasher->key_type_varies = true;
		hasher->name = "record";
	}
	else
	{
		switch (get_typtype(hasher->base))
		{
			case TYPTYPE_ENUM:
				hasher->encoding = BLOOM_KEY_ENUM;
				hasher->name = NameOfType("enum ", hasher->base);
				break;
			case TYPTYPE_RANGE:
				hasher->encoding = BLOOM_KEY_RANGE;
				hasher->name = NameOfType("range ", hasher->base);
				hasher->typentry = lookup_type_cache(hasher->base,
													 TYPECACHE_RANGE_INFO);
				MakeElement(hasher, hasher->typentry->rngelemtype->type_id,
							hasher->typentry->rng_collation);
				break;
			case TYPTYPE_MULTIRANGE:
				hasher->encoding = BLOOM_KEY_MULTIRANGE;
				hasher->name = NameOfType("multirange ", hasher->base);
				MakeElement(hasher, get_multirange_range(hasher->base), InvalidOid);
				break;
			case TYPTYPE_COMPOSITE:
				hasher->encoding = BLOOM_KEY_ROW;
				hasher->key_type_varies = true;
				SetColumns(hasher, hasher->base, -1);
				break;
			default:
				InitByOperatorClass(hasher);
				break;
		}
	}

	/* text whose equality only the collation knows */
	if (EncodingIsText(hasher->encoding) && OidIsValid(collation) &&
		!get_collation_isdeterministic(collation))
	{
		hasher->encoding = BLOOM_KEY_COLLATED;
		hasher->name = WithCollation("text", collation);
	}
}

/*
 * BloomHasherInit
 *		Determine how keys of a type are hashed.  An error if they cannot be.
 *
 * The hasher lives as long as the current memory context.
 */
void
BloomHasherInit(BloomHasher *hasher, Oid type, Oid collation)
{
	const ScalarType *scalar;

	InitHasher(hasher, hasher, type, collation);
	scalar = FindScalar(hasher->base);
	if (scalar != NULL && hasher->encoding == scalar->encoding)
		hasher->key_type = BloomBuiltinKeyType(scalar->key_type);
	else if (hasher->base != RECORDOID)
		BloomRefreshKeyType(hasher);
}

/*
 * BloomKeyTypeOfSqlType
 *		The key type of the keys of an SQL type, under its own collation.
 */
BloomKeyType
BloomKeyTypeOfSqlType(Oid type)
{
	BloomHasher hasher;

	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type with OID %u does not exist", type)));
	BloomHasherInit(&hasher, type, get_typcollation(type));
	if (hasher.base == RECORDOID || hasher.base == RECORDARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key_type %s does not determine the columns of the keys",
						format_type_be(type)),
				 errhint("Name a composite type with the columns of the keys.")));
	return hasher.key_type;
}
