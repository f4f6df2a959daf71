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

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "key/key_type.h"
#include "compat.h"

PGFunction	BloomInput;
PGFunction	BloomCountingInput;

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
 * BloomKindOfType
 *		The kind of filter that values of a type are, or of a domain over it.
 *
 * Our types have no fixed OID, and other types can have their names.  But no
 * other type has our input functions: only a superuser can make a type, or a
 * function in C.
 */
BloomKind
BloomKindOfType(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			input;
	Oid			ioparam;
	FmgrInfo	function;

	if (base < FirstNormalObjectId || get_typtype(base) != TYPTYPE_BASE)
		return BLOOM_NEITHER;
	getTypeInputInfo(base, &input, &ioparam);
	fmgr_info(input, &function);
	return function.fn_addr == BloomInput ? BLOOM_PLAIN :
		function.fn_addr == BloomCountingInput ? BLOOM_COUNTING : BLOOM_NEITHER;
}

/*
 * A name of a key type in the server's encoding.
 *
 * A filter may come from a database of another encoding.  A character that ours
 * does not have is shown by its number, as in an escape string: \u3042.
 */
static char *
InServerEncoding(const char *name)
{
	unsigned char *rest = (unsigned char *) unconstify(char *, name);
	int			encoding = GetDatabaseEncoding();
	int			len = (int) strlen(name);
	int			room = len * MAX_CONVERSION_GROWTH + 1;
	unsigned char *converted;
	Oid			conversion;
	StringInfoData out;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		return pstrdup(name);
	initStringInfo(&out);
	converted = palloc(room);
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	while (len > 0)
	{
		int			nbytes = 0;

		if (OidIsValid(conversion))
			nbytes = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
												   encoding, rest, len,
												   converted, room, true);
		if (nbytes > 0)
			appendStringInfoString(&out, (char *) converted);
		else
		{
			pg_wchar	number = utf8_to_unicode(rest);

			nbytes = pg_utf_mblen(rest);
			appendStringInfo(&out, number > 0xffff ? "\\U%08x" : "\\u%04x",
							 (unsigned int) number);
		}
		rest += nbytes;
		len -= nbytes;
	}
	pfree(converted);
	return out.data;
}

/*
 * BloomNameInMessage
 *		The name of a key type as messages show it: its types as format_type_be
 *		calls them, (bigint,text)[] for what is (int8,text)[] in the bytes.
 *
 * Those stand without quotes; another name that could be taken for one has them.
 */
char *
BloomNameInMessage(const char *name)
{
	const char *rest = InServerEncoding(name);
	StringInfoData out;

	initStringInfo(&out);
	while (*rest != '\0')
	{
		int			len = (int) strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_");
		char	   *word = pnstrdup(rest, len);
		Oid			type = InvalidOid;

		/* behind a space stands the name of an enum or a range */
		if (out.len == 0 || out.data[out.len - 1] != ' ')
			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								   CStringGetDatum(word),
								   ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
		if (OidIsValid(type))
			appendStringInfoString(&out, format_type_be(type));
		else
		{
			/* another word or character, or all that is in quotes */
			if (*rest == '"')
				len = (int) strcspn(rest + 1, "\"") + 2;
			len = Min(Max(len, 1), (int) strlen(rest));
			appendBinaryStringInfo(&out, rest, len);
		}
		rest += len;
	}
	return out.data;
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
	return BloomNameInMessage(pnstrdup(key_type->name,
									   (Size) key_type->words * 8));
}

/* Do equal keys, and no others, stay equal by this cast? */
static bool
CastLosesNothing(const BloomKeyType *from, const BloomKeyType *to)
{
	static const Oid casts[][2] = {
		{INT8OID, NUMERICOID},
		{OIDOID, INT8OID},
		{DATEOID, TIMESTAMPOID}
	};

	for (int i = 0; i < (int) lengthof(casts); i++)
	{
		if (casts[i][0] == from->id && casts[i][1] == to->id)
			return true;
	}
	return false;
}

/* Is it text, or made of text, that a collation compares? */
static bool
HasCollation(const char *key_type)
{
	return strstr(key_type, " collate \"") != NULL;
}

/* Are these both enums, or both rows: of one type, perhaps, that has changed? */
static bool
AreOfOneKind(const BloomKeyType *a, const BloomKeyType *b)
{
	Size		most = (Size) Min(a->words, b->words) * 8;
	Size		len = 0;

	while (len < most && a->name[len] == b->name[len])
	{
		if (strchr(" (", a->name[len++]) != NULL)
			return true;
	}
	return false;
}

static bool
IsArray(const char *key_type)
{
	Size		len = strlen(key_type);

	return len > 2 && strcmp(key_type + len - 2, "[]") == 0;
}

/*
 * BloomKeyTypeMismatch
 *		The error of a key of another type than the holder's keys.
 */
void
BloomKeyTypeMismatch(const BloomHolder *holder, const BloomKeyType *has,
					 const BloomKeyType *key_type)
{
	char	   *key_name = BloomKeyTypeName(key_type);
	char	   *has_name = BloomKeyTypeName(has);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key type %s does not match the %s's key type %s",
					key_name, holder->name, has_name),
			 errdetail("Keys of different types hash differently, even where they are equal."),
			 IsArray(key_name) && !IsArray(has_name) ?
			 errhint("For the elements of an array, use %s.",
					 holder->for_arrays) :
			 key_type->id == TEXTOID && has->words == 0 ?
			 errhint("Cast the key to %s: an untyped literal or parameter counts as text.",
					 has_name) :
			 key_type->id == TEXTOID && key_type->words == 0 ?
			 errhint("Use keys of type %s: an untyped literal or parameter counts as text.",
					 has_name) :
			 has->id == TEXTOID && HasCollation(key_name) ?
			 errhint("Was the %s meant to have keys of type %s? Then make it anew with that key_type. Otherwise, write key::text COLLATE \"default\".",
					 holder->short_name,
					 key_name) :
			 has->id == TEXTOID ?
			 errhint("Was the %s meant to have keys of type %s? Then make it anew with that key_type. Otherwise, cast the key to text.",
					 holder->short_name,
					 key_name) :
			 CastLosesNothing(key_type, has) ?
			 errhint("Cast the key to %s.", has_name) :
			 HasCollation(key_name) && !HasCollation(has_name) ?
			 errhint("Use keys of type %s, of texts with COLLATE \"default\".", has_name) :
			 AreOfOneKind(has, key_type) ?
			 errhint("Use keys of type %s. If their type was altered or renamed since, make the %s anew.",
					 has_name, holder->short_name) :
			 errhint("Use keys of type %s.", has_name)));
}
