/*-------------------------------------------------------------------------
 *
 * key/key_type.c
 *		Key types: their names, and the error of a key of another type.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "key/key_type.h"

/*
 * BloomNamedKeyType
 *		The key type of this name, which is in UTF-8.
 */
BloomKeyType
BloomNamedKeyType(const char *name)
{
	BloomKeyType type;
	Size		len = strlen(name);
	char	   *padded;

	if (len > BLOOM_MAX_TYPE_WORDS * 8)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("key type is too complex for a Bloom filter"),
				 errdetail("Its description has %zu bytes; at most %d fit.",
						   len, BLOOM_MAX_TYPE_WORDS * 8),
				 errhint("Use fewer columns, or cast the key to text.")));
	type.id = BloomNumberOfTypeName(name, len);
	type.words = (int) ((len + 7) / 8);
	padded = palloc0((Size) type.words * 8);
	memcpy(padded, name, len);
	type.name = padded;
	return type;
}

/*
 * BloomCopyKeyType
 *		A key type with memory of its own.
 */
BloomKeyType
BloomCopyKeyType(const BloomKeyType *key_type)
{
	BloomKeyType copy = *key_type;

	if (copy.words > 0)
	{
		copy.name = palloc((Size) copy.words * 8);
		memcpy(unconstify(char *, copy.name), key_type->name,
			   (Size) copy.words * 8);
	}
	return copy;
}

/*
 * BloomIsFilterType
 *		Is this one of our types, or a domain over it?  Which kind of filter?
 *
 * Our types have no fixed OID, and their names and schema may be anybody's.
 * But no other type has our output functions: only a superuser can make a
 * type, or a function in C.
 */
bool
BloomIsFilterType(Oid type, BloomKind *kind)
{
	Oid			base = getBaseType(type);
	Oid			output;
	bool		is_varlena;
	HeapTuple	tuple;
	char	   *name = "";

	if (base < FirstNormalObjectId || get_typtype(base) != TYPTYPE_BASE)
		return false;
	getTypeOutputInfo(base, &output, &is_varlena);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(output));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", output);
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		is_null;
		Datum		source = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &is_null);

		if (!is_null)
			name = TextDatumGetCString(source);
	}
	ReleaseSysCache(tuple);
	*kind = strcmp(name, "_bloom_out") == 0 ? BLOOM_PLAIN : BLOOM_COUNTING;
	return *kind == BLOOM_PLAIN || strcmp(name, "_counting_bloom_out") == 0;
}

/*
 * BloomNameForPeople
 *		A name of a key type in the server's encoding.
 */
char *
BloomNameForPeople(const char *name)
{
	return pg_any_to_server(pstrdup(name), strlen(name), PG_UTF8);
}

/*
 * BloomKeyTypeName
 *		A key type in a message.
 */
char *
BloomKeyTypeName(const BloomKeyType *key_type)
{
	if (key_type->words == 0)
		return format_type_extended(key_type->id, -1,
									FORMAT_TYPE_ALLOW_INVALID);
	return BloomNameForPeople(pnstrdup(key_type->name,
									   (Size) key_type->words * 8));
}

/* The end of a quoted name. */
static const char *
SkipQuoted(const char *name)
{
	for (name++; *name != '\0'; name++)
	{
		if (*name == '"' && *++name != '"')
			break;
	}
	return name;
}

/*
 * Append a parameter with a cast to the type whose name begins here, and the
 * same for each column of a row.  Returns the end of the name.
 */
static const char *
AppendCast(StringInfo out, const char *name, int *parameter)
{
	static const char *const words[] = {"enum ", "range ", "multirange "};
	const char *start;

	check_stack_depth();
	if (*name == '(')
	{
		int			at = out->len;

		appendStringInfoString(out, "ROW");
		do
		{
			appendStringInfoString(out, *name == '(' ? "(" : ", ");
			name++;
			if (*name != ')')
				name = AppendCast(out, name, parameter);
		} while (*name == ',');
		appendStringInfoChar(out, ')');
		if (*name == ')')
			name++;
		if (strncmp(name, "[]", 2) == 0)
		{
			char	   *row = pstrdup(out->data + at);

			out->len = at;
			appendStringInfo(out, "ARRAY[%s]", row);
			name += 2;
		}
		return name;
	}

	for (int i = 0; i < (int) lengthof(words); i++)
	{
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			name += strlen(words[i]);
	}
	for (start = name; *name != '\0' && *name != ',' && *name != ')';)
		name = *name == '"' ? SkipQuoted(name) : name + 1;
	appendStringInfo(out, "$%d::%.*s", ++*parameter, (int) (name - start),
					 start);
	return name;
}

/* How a key is cast to a key type. */
static char *
CastTo(const BloomKeyType *key_type, bool is_parameter)
{
	StringInfoData out;
	int			parameter = 0;

	if (!is_parameter && key_type->words == 0)
		return psprintf("key::%s", BloomKeyTypeName(key_type));
	initStringInfo(&out);
	(void) AppendCast(&out, BloomKeyTypeName(key_type), &parameter);
	return out.data;
}

/*
 * BloomKeyTypeMismatch
 *		The error of a key that is of another type than the holder's keys.
 */
void
BloomKeyTypeMismatch(BloomHolder holder, const BloomKeyType *has,
					 const BloomKeyType *key_type)
{
	static const char *const names[] = {
		[BLOOM_HOLDER_FILTER] = "Bloom filter",
		[BLOOM_HOLDER_COUNTING] = "counting Bloom filter",
		[BLOOM_HOLDER_SET] = "Bloom set"
	};
	bool		is_text = key_type->id == TEXTOID;
	char	   *cast = CastTo(has, is_text);

	cast = psprintf(holder == BLOOM_HOLDER_SET ?
					"bloom_set_add(set, %s)" : "filter @> %s", cast);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key type %s does not match the %s's key type %s",
					BloomKeyTypeName(key_type), names[holder],
					BloomKeyTypeName(has)),
			 errdetail("Keys of different types hash differently, even where they are equal."),
			 is_text ?
			 errhint("An untyped literal or parameter counts as text. Cast it, as in %s.",
					 cast) :
			 errhint("Cast the key, as in %s.", cast)));
}
