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

/* ----------------------------------------------------------------
 *						WHAT TO WRITE INSTEAD
 * ----------------------------------------------------------------
 */

/* Read an identifier, in quotes or not, and step over it; NULL if there is none. */
static char *
ReadIdentifier(const char **rest)
{
	StringInfoData out;
	const char *in = *rest;
	bool		quoted = *in == '"';

	initStringInfo(&out);
	if (quoted)
		in++;
	for (; *in != '\0'; in++)
	{
		if (quoted && *in == '"' && *++in != '"')
			break;
		if (!quoted && strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *in) == NULL)
			break;
		appendStringInfoChar(&out, *in);
	}
	*rest = in;
	return out.len > 0 ? out.data : NULL;
}

/*
 * Read the name of a type, of no row, and its collation, as they stand in a key
 * type.  Not valid if no type or collation of this name can be seen here.
 */
static Oid
ReadType(const char **rest, const char **collation)
{
	static const char *const kinds[] = {"enum ", "range ", "multirange "};
	Oid			type = InvalidOid;
	char	   *name;

	for (int i = 0; i < (int) lengthof(kinds); i++)
	{
		if (strncmp(*rest, kinds[i], strlen(kinds[i])) == 0)
			*rest += strlen(kinds[i]);
	}
	name = ReadIdentifier(rest);
	if (name != NULL)
		type = TypenameGetTypid(name);
	if (strncmp(*rest, " collate ", 9) == 0)
	{
		*rest += 9;
		*collation = ReadIdentifier(rest);
		if (*collation == NULL || !OidIsValid(CollationGetCollid(*collation)))
			return InvalidOid;
	}
	for (; strncmp(*rest, "[]", 2) == 0; *rest += 2)
		type = get_array_type(type);
	return type;
}

/* Append a cast of a value to a type, under a collation unless that is NULL. */
static void
AppendCast(StringInfo out, const char *value, Oid type, const char *collation)
{
	appendStringInfo(out, "%s::%s", value, format_type_be(type));
	if (collation != NULL && type_is_collatable(type))
		appendStringInfo(out, " COLLATE %s", quote_identifier(collation));
}

/*
 * The expression that makes a key of this key type, such as key::bigint, of an
 * array keys::bigint[], of two columns ROW(a::bigint, b::text); NULL if there is
 * none.  Text is under the collation of the key type, or else under this one.
 */
static char *
ExpressionOf(const BloomKeyType *key_type, bool is_array, const char *collation)
{
	const char *rest = "";
	char		column[] = "a";
	Oid			type = key_type->id;
	StringInfoData out;

	initStringInfo(&out);
	if (key_type->words > 0)
		rest = InServerEncoding(pnstrdup(key_type->name,
										 (Size) key_type->words * 8));
	if (*rest != '(')
	{
		if (key_type->words > 0)
			type = ReadType(&rest, &collation);
		if (is_array && OidIsValid(type))
			type = get_array_type(type);
		if (!get_typisdefined(type) || *rest != '\0')
			return NULL;
		AppendCast(&out, is_array ? "keys" : "key", type, collation);
		return out.data;
	}

	appendStringInfoString(&out, is_array ? "ARRAY[ROW" : "ROW");
	for (; *rest == '(' || *rest == ','; column[0]++)
	{
		const char *of_column = collation;

		appendStringInfoString(&out, *rest++ == ',' ? ", " : "(");
		type = ReadType(&rest, &of_column);
		if (!OidIsValid(type) || column[0] > 'z')
			return NULL;
		AppendCast(&out, column, type, of_column);
	}
	appendStringInfoString(&out, is_array ? ")]" : ")");
	return strcmp(rest, ")") == 0 ? out.data : NULL;
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

/* The name of a type in a message, without the word for its kind. */
static const char *
TypeInHint(const char *name)
{
	const char *space = strchr(name, ' ');

	return strncmp(name, "enum ", 5) == 0 || strncmp(name, "range ", 6) == 0 ||
		strncmp(name, "multirange ", 11) == 0 ? space + 1 : name;
}

static bool
IsArray(const char *key_type)
{
	Size		len = strlen(key_type);

	return len > 2 && strcmp(key_type + len - 2, "[]") == 0;
}

/*
 * BloomCommonKey
 *		The expression of a key to which keys of both types can be cast.
 */
const char *
BloomCommonKey(const BloomKeyType *a, const BloomKeyType *b)
{
	const BloomKeyType text = BloomBuiltinKeyType(TEXTOID);

	return ExpressionOf(CastLosesNothing(a, b) ? b :
						CastLosesNothing(b, a) ? a : &text,
						false, HasCollation(BloomKeyTypeName(a)) ||
						HasCollation(BloomKeyTypeName(b)) ? "default" : NULL);
}

/*
 * BloomKeyTypeMismatch
 *		The error of a key of another type than the holder's keys.
 */
void
BloomKeyTypeMismatch(const BloomHolder *holder, const BloomKeyType *has,
					 const BloomKeyType *key_type, BloomKeySource source)
{
	char	   *key_name = BloomKeyTypeName(key_type);
	char	   *has_name = BloomKeyTypeName(has);
	bool		is_array = source == BLOOM_ARRAY_ARGUMENT;
	bool		has_collation = HasCollation(key_name) && !HasCollation(has_name);
	char	   *expression = ExpressionOf(has, is_array,
										  has_collation ? "default" : NULL);
	const char *keys = is_array ? "keys" : "key";
	bool		is_text = key_type->id == TEXTOID;

	/* by what has no such expression, or by a cast that could change keys */
	if (source == BLOOM_COLUMNS ||
		!(is_text || has_collation || has->id == TEXTOID || *has_name == '(' ||
		  CastLosesNothing(key_type, has)))
		expression = NULL;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key type %s does not match the %s's key type %s",
					key_name, holder->name, has_name),
			 errdetail("Keys of different types hash differently, even where they are equal."),
			 source == BLOOM_HASHES ?
			 errhint("Leave out key_type if the hashes are of keys of type %s.", has_name) :
			 is_array && IsArray(has_name) ?
			 errhint("Keys that are arrays are given one by one, to %s.", holder->for_one) :
			 source == BLOOM_ARGUMENT && IsArray(key_name) && !IsArray(has_name) ?
			 errhint("For the elements of an array, use %s.", holder->for_arrays) :
			 expression == NULL && AreOfOneKind(has, key_type) ?
			 errhint("Use keys of type %s. If their type was altered or renamed since, make the %s anew.",
					 TypeInHint(has_name), holder->short_name) :
			 expression == NULL ?
			 errhint("Use keys of type %s.", TypeInHint(has_name)) :
			 is_text ?
			 errhint("Write the %s as %s. A literal or parameter without a type is text.",
					 keys, expression) :
			 AreOfOneKind(has, key_type) ?
			 errhint("Write the %s as %s. If the type of the %s's keys was altered since, make it anew.",
					 keys, expression, holder->short_name) :
			 has->id == TEXTOID ?
			 errhint("Write the %s as %s, or make the %s anew for keys of type %s.",
					 keys, expression, holder->short_name, TypeInHint(key_name)) :
			 errhint("Write the %s as %s.", keys, expression)));
}
