/*-------------------------------------------------------------------------
 *
 * key/scalar.c
 *		The canonical bytes of keys that do not contain other values.
 *
 *		int2, int4, int8		8 bytes, a signed integer
 *		float4, float8			8 bytes, an IEEE double; -0 as 0, one NaN
 *		numeric					2 bytes weight, 2 bytes sign, 2 bytes each
 *								digit: as numeric_send has them, without
 *								the number of digits and the scale
 *		money, pg_lsn, xid8		8 bytes
 *		oid, reg..., xid, cid	4 bytes
 *		tid						4 bytes block, 2 bytes offset
 *		bool, "char"			1 byte
 *		date					4 bytes, days
 *		timestamp[tz], time		8 bytes, microseconds
 *		timetz					8 bytes microseconds, 4 bytes zone
 *		interval				8 bytes days, a month being 30, and 8 bytes
 *								microseconds, of which a day has 86400000000
 *		uuid, macaddr[8]		their bytes
 *		inet, cidr				1 byte 4 or 6, 1 byte length of the prefix,
 *								the 4 or 16 bytes of the address
 *		bit, varbit				4 bytes number of bits, the bits
 *		bytea					its bytes
 *		text, varchar, name, char(n)	in UTF-8; char(n) without trailing
 *								blanks
 *		enum					its label, in UTF-8
 *		any other type			8 bytes, the result of its hash function
 *
 * Numbers are little-endian.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "mb/pg_wchar.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varbit.h"

#include "key/hasher.h"
#include "compat.h"

/* ----------------------------------------------------------------
 *							TEXT
 * ----------------------------------------------------------------
 */

/*
 * BloomTextNeedsConversion
 *		Is text other than ASCII converted in this database?
 *
 * In SQL_ASCII its encoding is not known, so it is left as it is.
 */
bool
BloomTextNeedsConversion(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

static bool
IsAscii(const char *text, Size len)
{
	for (Size i = 0; i < len; i++)
	{
		if (IS_HIGHBIT_SET(text[i]))
			return false;
	}
	return true;
}

/*
 * BloomTextBytes
 *		The canonical bytes of text in the database's encoding.
 */
void
BloomTextBytes(const char *text, Size len, BloomBytes *bytes)
{
	bytes->data = text;
	bytes->len = len;
	if (unlikely(BloomTextNeedsConversion()) && !IsAscii(text, len))
	{
		char	   *utf8 = pg_server_to_any(text, (int) len, PG_UTF8);

		BloomFreeBytes(bytes);
		bytes->copy = utf8;
		bytes->data = utf8;
		bytes->len = strlen(utf8);
	}
}

/* ----------------------------------------------------------------
 *							VARIABLE LENGTH
 * ----------------------------------------------------------------
 */

/* A char(n) without its padding. */
static void
BpcharBytes(Datum key, BloomBytes *bytes)
{
	BloomVarlenaBytes(key, bytes);
	bytes->len = bpchartruelen(unconstify(char *, bytes->data),
							   (int) bytes->len);
}

/*
 * BloomNumericBytes
 *		The canonical bytes of a numeric.
 *
 * numeric_send writes the number of digits, weight, sign, scale, and digits,
 * two bytes each, big-endian.  A stored numeric has no zeros at either end
 * but those of its scale.
 */
void
BloomNumericBytes(Datum key, BloomBytes *bytes)
{
	bytea	   *sent = DatumGetByteaP(DirectFunctionCall1(numeric_send, key));
	uint16	   *words = (uint16 *) VARDATA(sent);
	int			nwords = (int) (VARSIZE(sent) - VARHDRSZ) / sizeof(uint16);
	uint16		weight = words[1];
	uint16		sign = words[2];

	/* in place, from the third word on */
	words[2] = weight;
	words[3] = sign;
	for (int i = 2; i < nwords; i++)
		words[i] = pg_bswap16(words[i]);
	bytes->data = (char *) &words[2];
	bytes->len = (nwords - 2) * sizeof(uint16);
	bytes->copy = sent;
}

static void
VarbitBytes(Datum key, BloomBytes *bytes)
{
	VarBit	   *bits = DatumGetVarBitP(key);
	char	   *out = palloc(4 + VARBITBYTES(bits));

	BloomPut32(out, VARBITLEN(bits));
	memcpy(out + 4, VARBITS(bits), VARBITBYTES(bits));
	bytes->data = out;
	bytes->len = 4 + VARBITBYTES(bits);
	bytes->copy = out;
	if ((Pointer) bits != DatumGetPointer(key))
		pfree(bits);
}

/*
 * A text under a nondeterministic collation, which alone knows what is equal.
 *
 * A char(n) is hashed as the text that it is equal to.  The server's own function,
 * up to PostgreSQL 15, hashes its trailing blanks, too, under such a collation.
 */
static uint64
HashCollated(const BloomHasher *hasher, Datum key)
{
	Datum		text = key;
	Datum		hash;

	if (hasher->base == BPCHAROID)
		text = DirectFunctionCall1(rtrim1, key);
	else if (hasher->base == NAMEOID || hasher->base == UNKNOWNOID)
		/* both end with a zero byte */
		text = CStringGetTextDatum(DatumGetCString(key));
	hash = DirectFunctionCall2Coll(hashtextextended, hasher->collation, text,
								   UInt64GetDatum(0));
	if (text != key)
		pfree(DatumGetPointer(text));
	return DatumGetUInt64(hash);
}

/* The label of an enum value: its OID differs from server to server. */
static void
EnumBytes(Oid value, BloomBytes *bytes)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	strlcpy(bytes->small,
			NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel),
			sizeof(bytes->small));
	ReleaseSysCache(tuple);
	BloomTextBytes(bytes->small, strlen(bytes->small), bytes);
}

/* ----------------------------------------------------------------
 *							FIXED LENGTH
 * ----------------------------------------------------------------
 */

static Size
PutInterval(char *out, const Interval *interval)
{
	int64		days = (int64) interval->month * DAYS_PER_MONTH +
	interval->day + interval->time / USECS_PER_DAY;
	int64		usecs = interval->time % USECS_PER_DAY;

	if (usecs < 0)
	{
		usecs += USECS_PER_DAY;
		days--;
	}
	BloomPut64(out, (uint64) days);
	BloomPut64(out + 8, (uint64) usecs);
	return 16;
}

static Size
PutInet(char *out, Datum key)
{
	inet	   *address = DatumGetInetPP(key);
	Size		size = ip_addrsize(address);

	out[0] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
	out[1] = ip_bits(address);
	memcpy(out + 2, ip_addr(address), size);
	if ((Pointer) address != DatumGetPointer(key))
		pfree(address);
	return 2 + size;
}

/* Write those of a fixed length; returns the length. */
static Size
PutFixed(const BloomHasher *hasher, Datum key, char *out)
{
	switch (hasher->encoding)
	{
		case BLOOM_KEY_INT2:
		case BLOOM_KEY_INT4:
		case BLOOM_KEY_INT8:
			BloomPut64(out, (uint64) BloomGetInteger(hasher, key));
			return 8;
		case BLOOM_KEY_FLOAT4:
			BloomPut64(out, BloomFloatBits(DatumGetFloat4(key)));
			return 8;
		case BLOOM_KEY_FLOAT8:
			BloomPut64(out, BloomFloatBits(DatumGetFloat8(key)));
			return 8;
		case BLOOM_KEY_1BYTE:
			out[0] = DatumGetChar(key);
			return 1;
		case BLOOM_KEY_4BYTES:
			BloomPut32(out, DatumGetUInt32(key));
			return 4;
		case BLOOM_KEY_TIMETZ:
			BloomPut64(out, (uint64) DatumGetTimeTzADTP(key)->time);
			BloomPut32(out + 8, (uint32) DatumGetTimeTzADTP(key)->zone);
			return 12;
		case BLOOM_KEY_INTERVAL:
			return PutInterval(out, DatumGetIntervalP(key));
		case BLOOM_KEY_TID:
			{
				ItemPointer tid = (ItemPointer) DatumGetPointer(key);

				BloomPut32(out, ItemPointerGetBlockNumberNoCheck(tid));
				BloomPut16(out + 4, ItemPointerGetOffsetNumberNoCheck(tid));
				return 6;
			}
		case BLOOM_KEY_INET:
			return PutInet(out, key);
		case BLOOM_KEY_COLLATED:
			BloomPut64(out, HashCollated(hasher, key));
			return 8;
		case BLOOM_KEY_HASHED:
			BloomPut64(out, DatumGetUInt64(FunctionCall2Coll(&hasher->typentry->hash_extended_proc_finfo,
															 hasher->collation,
															 key,
															 UInt64GetDatum(0))));
			return 8;
		default:
			elog(ERROR, "unrecognized key encoding: %d", (int) hasher->encoding);
			return 0;
	}
}

/*
 * BloomScalarBytes
 *		The canonical bytes of a key that does not contain others.
 *
 * They are the key's own, or in memory that BloomFreeBytes frees.
 */
void
BloomScalarBytes(const BloomHasher *hasher, Datum key, BloomBytes *bytes)
{
	bytes->copy = NULL;
	switch (hasher->encoding)
	{
		case BLOOM_KEY_UUID:
		case BLOOM_KEY_MACADDR:
			bytes->data = DatumGetPointer(key);
			bytes->len = hasher->typlen;
			break;
		case BLOOM_KEY_BYTEA:
			BloomVarlenaBytes(key, bytes);
			break;
		case BLOOM_KEY_TEXT:
			BloomVarlenaBytes(key, bytes);
			BloomTextBytes(bytes->data, bytes->len, bytes);
			break;
		case BLOOM_KEY_BPCHAR:
			BpcharBytes(key, bytes);
			BloomTextBytes(bytes->data, bytes->len, bytes);
			break;
		case BLOOM_KEY_NAME:
			BloomTextBytes(DatumGetCString(key), strlen(DatumGetCString(key)),
						   bytes);
			break;
		case BLOOM_KEY_ENUM:
			EnumBytes(DatumGetObjectId(key), bytes);
			break;
		case BLOOM_KEY_NUMERIC:
			BloomNumericBytes(key, bytes);
			break;
		case BLOOM_KEY_VARBIT:
			VarbitBytes(key, bytes);
			break;
		default:
			bytes->len = PutFixed(hasher, key, bytes->small);
			bytes->data = bytes->small;
			break;
	}
}
