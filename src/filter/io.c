/*-------------------------------------------------------------------------
 *
 * filter/io.c
 *		Input and output of filters of both types, as text and as bytes.
 *
 * Text is the base64 of the bytes of docs/format.md.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "filter/fetch.h"
#include "filter/format.h"
#include "filter/state.h"

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
		CHECK_FOR_INTERRUPTS();
	}
	*out = '\0';
	return text;
}

/*
 * The bytes of base64, behind room for a varlena header, or NULL if the text is
 * not base64.
 *
 * White space may stand anywhere, as for decode(..., 'base64').  But of two
 * texts for the same bytes only the one that we write is accepted: there is
 * nothing after the padding, and the bits that the last character has to spare
 * are zero.
 */
static Bloom *
DecodeBase64(const char *text)
{
	Size		nchars = strlen(text);
	Bloom	   *filter = BloomAllocate(CurrentMemoryContext,
									   VARHDRSZ + nchars / 4 * 3 + 3);
	uint8	   *out = (uint8 *) VARDATA(filter);
	char	   *chars = palloc(Min(nchars, BASE64_PIECE_CHARS) + 1);
	bool		padded = false;

	while (*text != '\0')
	{
		int			nin = 0;
		int			nout;
		const char *padding;

		while (*text != '\0' && nin < BASE64_PIECE_CHARS)
		{
			char		c = *text++;

			if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
				chars[nin++] = c;
		}
		if (nin == 0)
			break;

		nout = padded ? -1 :
			BloomBase64Decode(chars, nin, out, nin / 4 * 3 + 3);
		padding = memchr(chars, '=', nin);
		if (nout >= 0 && padding != NULL)
		{
			char		last[4];

			/* the padding is what the last bytes have when we write them */
			padded = true;
			if (padding < chars + nin - 2 ||
				BloomBase64Encode(out + nout - (nout % 3), nout % 3, last, 4) != 4 ||
				memcmp(last, chars + nin - 4, 4) != 0)
				nout = -1;
		}
		if (nout < 0)
		{
			pfree(chars);
			pfree(filter);
			return NULL;
		}
		out += nout;
		CHECK_FOR_INTERRUPTS();
	}
	pfree(chars);
	SET_VARSIZE(filter, out - (uint8 *) filter);
	return filter;
}

/*
 * BloomFromText
 *		The filter of the text in a type's input function's argument.
 */
Datum
BloomFromText(FunctionCallInfo fcinfo, BloomKind kind)
{
	const char *text = PG_GETARG_CSTRING(0);
	Bloom	   *filter = DecodeBase64(text);
	const char *wrong = "It is not base64.";

	if (filter != NULL)
		wrong = BloomDecode(filter, kind);
	if (wrong != NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%.*s\"%s",
						kind == BLOOM_COUNTING ? "counting_bloom" : "bloom",
						pg_mbcliplen(text, (int) strnlen(text, 64), 40), text,
						strnlen(text, 64) > 40 ? "..." : ""),
				 errdetail("%s", wrong),
				 errhint("A filter is base64, as its output shows.")));
	return PointerGetDatum(filter);
}

/*
 * What leaves the server is a value, also where a distributed engine sends an
 * aggregate's partial state.
 */
static const Bloom *
FetchToSend(Datum datum)
{
	const Bloom *filter = BloomFetchState(datum);

	return BloomIsValue(filter) ? filter :
		BloomStateToValue(BloomStateFrom(filter), true);
}

/*
 * BloomToText
 *		A type's output.
 */
char *
BloomToText(Datum datum)
{
	const bytea *bytes = BloomToBytea(datum, false);

	return EncodeBase64((const uint8 *) VARDATA(bytes),
						VARSIZE(bytes) - VARHDRSZ);
}

/*
 * BloomFromBytes
 *		The filter of these bytes, whose memory it takes: binary input, and the
 *		cast from bytea.
 */
Datum
BloomFromBytes(Bloom *filter, BloomKind kind)
{
	const char *wrong = BloomDecode(filter, kind);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of a %s",
						BloomKindName(kind)),
				 errdetail("%s", wrong),
				 errhint("The bytes of a filter are those that the cast to bytea returns.")));
	return PointerGetDatum(filter);
}

/*
 * BloomToBytea
 *		The bytes of a filter: binary output, and the cast to bytea.
 *
 * Where they are stored as they are sent, it is the filter itself, unless a
 * copy is asked for.
 */
bytea *
BloomToBytea(Datum datum, bool copy)
{
	const Bloom *filter = FetchToSend(datum);
	Size		size = VARSIZE(filter);
	bytea	   *bytes;

	if (BLOOM_STORED_AS_SENT && !copy)
		return (bytea *) unconstify(Bloom *, filter);
	bytes = palloc(size);
	SET_VARSIZE(bytes, size);
	BloomWriteBytes(filter, (uint8 *) VARDATA(bytes), size - VARHDRSZ);
	return bytes;
}
