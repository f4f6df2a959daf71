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

/* What is converted between two looks for an interrupt */
#define BASE64_PIECE_CHARS	(4 * 1024 * 1024)
#define BASE64_PIECE_BYTES	(BASE64_PIECE_CHARS / 4 * 3)

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
		wrong = BloomTurnIntoFilter(filter, VARSIZE(filter), kind);
	if (wrong != NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%.*s\"%s",
						BloomTypeName(kind),
						pg_mbcliplen(text, (int) strnlen(text, 64), 40), text,
						strnlen(text, 64) > 40 ? "..." : ""),
				 errdetail("%s", wrong),
				 errhint("A filter is base64, as its output shows. To test a key, write filter @> key.")));
	return PointerGetDatum(filter);
}

/*
 * BloomToText
 *		A type's output.
 */
char *
BloomToText(Datum datum)
{
	const bytea *bytes = BloomToBytea(datum, false);
	int			len = (int) (VARSIZE(bytes) - VARHDRSZ);
	int			nchars = (len + 2) / 3 * 4;
	char	   *text = palloc(nchars + 1);

	for (int i = 0; i < len; i += BASE64_PIECE_BYTES)
	{
		int			done = i / 3 * 4;

		CHECK_FOR_INTERRUPTS();
		(void) BloomBase64Encode((const uint8 *) VARDATA(bytes) + i,
								 Min(len - i, BASE64_PIECE_BYTES),
								 text + done, nchars - done);
	}
	text[nchars] = '\0';
	return text;
}

/*
 * BloomFromBytes
 *		The filter of a bytea, whose memory it takes: binary input, and the
 *		cast from bytea.
 */
Datum
BloomFromBytes(Datum bytes, BloomKind kind)
{
	Bloom	   *filter = (Bloom *) DatumGetPointer(bytes);
	const char *wrong = BloomTurnIntoFilter(filter, VARSIZE(filter), kind);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of a %s",
						BloomKindName(kind)),
				 errdetail("%s", wrong),
				 errhint("The bytes of a filter are those that the cast to bytea returns.")));
	return bytes;
}

/*
 * BloomToBytea
 *		The bytes of a filter: binary output, and the cast to bytea.
 *
 * They are those of a value, also where a distributed engine sends a partial
 * state.  Where they are stored as they are sent, it is the filter itself,
 * unless a copy is asked for.
 */
bytea *
BloomToBytea(Datum datum, bool copy)
{
	Bloom	   *bytes = unconstify(Bloom *, BloomFetchState(datum));

	if (!BloomIsValue(bytes))
		bytes = unconstify(Bloom *, BloomStateToValue(BloomStateFrom(bytes), true));
	if (copy || !BLOOM_STORED_AS_SENT)
	{
		bytes = BloomCopy(bytes);
		BloomTurnIntoBytes(bytes);
	}
	return (bytea *) bytes;
}
