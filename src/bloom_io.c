/*-------------------------------------------------------------------------
 *
 * bloom_io.c
 *		Input and output of filters of both types, as text and as bytes.
 *
 * Text is the base64 of the bytes of docs/format.md.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bloom_io.h"

/* How people call a filter of each kind, beside its SQL name */
static const char *
KindName(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counting Bloom filter" : "Bloom filter";
}

static const char *
KindType(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counting_bloom" : "bloom";
}

/*
 * The server counts base64 in int, which is too small for the largest filters
 * as a whole.  So we go through it in pieces: this many bytes make so many
 * characters, without padding in between.
 */
#define BASE64_PIECE_BYTES	(3 * 1024 * 1024)
#define BASE64_PIECE_CHARS	(4 * 1024 * 1024)

static char *
EncodeBase64(const uint8 *bytes, Size len)
{
	Size		nchars = (len + 2) / 3 * 4;
	char	   *text = palloc(nchars + 1);
	char	   *out = text;

	while (len > 0)
	{
		int			piece = (int) Min(len, BASE64_PIECE_BYTES);
		int			n = BloomBase64Encode(bytes, piece, out,
										  (int) Min(text + nchars - out,
													BASE64_PIECE_CHARS));

		if (n < 0)
			elog(ERROR, "could not encode base64");
		bytes += piece;
		len -= piece;
		out += n;
	}
	*out = '\0';
	return text;
}

/* NULL, if the text is not base64. */
static uint8 *
DecodeBase64(const char *text, Size nchars, Size *len)
{
	uint8	   *bytes = palloc(nchars / 4 * 3 + 3);
	uint8	   *out = bytes;

	while (nchars > 0)
	{
		int			piece = (int) Min(nchars, BASE64_PIECE_CHARS);
		int			n = BloomBase64Decode(text, piece, out, piece / 4 * 3 + 3);

		/* padding ends the text */
		if (n < 0 || (nchars > (Size) piece && n != BASE64_PIECE_BYTES))
			return NULL;
		text += piece;
		nchars -= piece;
		out += n;
	}
	*len = out - bytes;
	return bytes;
}

/*
 * BloomFromText
 *		The filter of the text in a type's input function's argument.
 */
Datum
BloomFromText(FunctionCallInfo fcinfo, BloomKind kind)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *wrong = "It is not base64.";
	Bloom	   *filter = NULL;
	uint8	   *bytes;
	Size		len;

	bytes = DecodeBase64(text, strlen(text), &len);
	if (bytes != NULL)
		filter = BloomDecode(bytes, len, kind, &wrong);
	if (filter == NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%.40s\"%s",
						KindType(kind), text, strlen(text) > 40 ? "..." : ""),
				 errdetail("%s", wrong),
				 errhint("A filter is base64, as its output shows.")));
	pfree(bytes);
	return PointerGetDatum(filter);
}

/*
 * BloomToText
 *		A type's output.
 */
char *
BloomToText(const Bloom *filter)
{
	Size		len = BloomEncodedSize(filter);
	uint8	   *bytes = palloc(len);
	char	   *text;

	BloomEncode(filter, bytes);
	text = EncodeBase64(bytes, len);
	pfree(bytes);
	return text;
}

/*
 * BloomFromBytes
 *		The filter of these bytes: binary input, and the cast from bytea.
 */
Datum
BloomFromBytes(const void *bytes, Size len, BloomKind kind)
{
	const char *wrong;
	Bloom	   *filter = BloomDecode(bytes, len, kind, &wrong);

	if (filter == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of a %s",
						KindName(kind)),
				 errdetail("%s", wrong),
				 errhint("The bytes of a filter are those that the cast to bytea gives.")));
	return PointerGetDatum(filter);
}

/*
 * BloomToBytea
 *		The bytes of a filter: binary output, and the cast to bytea.
 */
bytea *
BloomToBytea(const Bloom *filter)
{
	Size		len = BloomEncodedSize(filter);
	bytea	   *bytes = palloc(VARHDRSZ + len);

	SET_VARSIZE(bytes, VARHDRSZ + len);
	BloomEncode(filter, (uint8 *) VARDATA(bytes));
	return bytes;
}
