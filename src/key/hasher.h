/*-------------------------------------------------------------------------
 *
 * key/hasher.h
 *		How keys of a type become canonical bytes.
 *
 * For key/hash.h, through which all other files hash keys.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_HASHER_H
#define BLOOM_HASHER_H

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "bits/bits.h"
#include "utils/typcache.h"

#include "key/key_type.h"

/* How a key becomes canonical bytes */
typedef enum BloomEncoding
{
	BLOOM_KEY_INT2,
	BLOOM_KEY_INT4,
	BLOOM_KEY_INT8,				/* all numbers of 8 bytes, such as timestamps */
	BLOOM_KEY_FLOAT4,
	BLOOM_KEY_FLOAT8,
	BLOOM_KEY_1BYTE,			/* bool, "char" */
	BLOOM_KEY_4BYTES,			/* date, oid, xid, cid */
	BLOOM_KEY_UUID,
	BLOOM_KEY_MACADDR,			/* macaddr8, too */
	BLOOM_KEY_TIMETZ,
	BLOOM_KEY_INTERVAL,
	BLOOM_KEY_TID,
	BLOOM_KEY_INET,
	BLOOM_KEY_NUMERIC,
	BLOOM_KEY_VARBIT,
	BLOOM_KEY_BYTEA,
	BLOOM_KEY_TEXT,				/* text, varchar */
	BLOOM_KEY_BPCHAR,
	BLOOM_KEY_NAME,				/* and unknown */
	BLOOM_KEY_ENUM,
	BLOOM_KEY_COLLATED,			/* text by its collation's hash function */
	BLOOM_KEY_HASHED,			/* by the type's own hash function */
	/* those that are made of other values */
	BLOOM_KEY_JSONB,
	BLOOM_KEY_ARRAY,
	BLOOM_KEY_RANGE,
	BLOOM_KEY_MULTIRANGE,
	BLOOM_KEY_ROW
} BloomEncoding;

#define BloomEncodingIsScalar(encoding) ((encoding) < BLOOM_KEY_JSONB)

/*
 * How keys of a type are hashed.  There is one for the keys of a call site, and
 * below it one for each type that they are made of.
 */
typedef struct BloomHasher
{
	Oid			type;			/* of the Datums */
	BloomKeyType key_type;		/* of whole keys, as filters keep it */
	BloomEncoding encoding;
	Oid			base;			/* the type without its domains */
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool		key_type_varies;	/* by the value, since there are rows in
									 * it */
	const char *name;			/* of the key type or a part of it, in UTF-8 */
	TypeCacheEntry *typentry;	/* of ranges, rows and BLOOM_KEY_HASHED */
	struct BloomHasher *root;	/* that of whole keys */
	struct BloomHasher *element;	/* of arrays, ranges and multiranges */
	MemoryContext context;		/* of all of this */

	/* rows: the last row type */
	Oid			row_type;
	int32		row_typmod;
	uint64		row_identifier; /* of its columns, which can be altered */
	TupleDesc	tupdesc;
	struct BloomHasher *columns;
	Datum	   *values;
	bool	   *nulls;
	char	   *row_name;		/* the memory of the name */
	MemoryContext row_context;

	/* whole keys */
	BloomKeySource source;
	bool		is_stale;		/* has a row type changed since the name? */
	/* is it an error if the key type changes?  For hashes kept without one */
	bool		one_type;
	StringInfoData buffer;		/* for the canonical bytes */
} BloomHasher;

/* The canonical bytes of one scalar */
typedef struct BloomBytes
{
	const char *data;
	Size		len;
	void	   *copy;			/* memory to be freed, or NULL */
	char		small[NAMEDATALEN]; /* room for those that are computed */
} BloomBytes;

/* key/hasher.c */
extern void BloomHasherInit(BloomHasher *hasher, Oid type, Oid collation);
extern char *BloomWholeName(const BloomKeyType *key_type);
extern BloomKeyType BloomKeyTypeOfName(const char *name);
extern BloomKeyType BloomKeyTypeOfSqlType(Oid type);
extern bool BloomTextIsKeyType(Oid collation);
extern void BloomSetRowType(BloomHasher *hasher, Oid row_type, int32 typmod);
extern TupleDesc BloomHasherInitColumns(BloomHasher *hasher, int ncolumns,
										const Oid *types,
										const Oid *collations);
extern void BloomForgetRowTypes(BloomHasher *hasher);
extern void BloomRefreshName(BloomHasher *hasher);
extern void BloomRefreshKeyType(BloomHasher *hasher);

/* key/scalar.c */
extern bool BloomTextNeedsConversion(void);
extern void BloomScalarBytes(const BloomHasher *hasher, Datum key,
							 BloomBytes *bytes);
extern void BloomTextBytes(const char *text, Size len, BloomBytes *bytes);
extern void BloomNumericBytes(Datum key, BloomBytes *bytes);

/* key/container.c */
extern void BloomAppendKey(BloomHasher *hasher, Datum key, StringInfo buf);

static inline void
BloomFreeBytes(BloomBytes *bytes)
{
	if (bytes->copy != NULL)
		pfree(bytes->copy);
}

/* The bytes of a varlena, which may be compressed or stored out of line. */
static inline void
BloomVarlenaBytes(Datum key, BloomBytes *bytes)
{
	struct varlena *unpacked = PG_DETOAST_DATUM_PACKED(key);

	bytes->copy = (Pointer) unpacked != DatumGetPointer(key) ? unpacked : NULL;
	bytes->data = VARDATA_ANY(unpacked);
	bytes->len = VARSIZE_ANY_EXHDR(unpacked);
}

/* The integer that a key is. */
static inline int64
BloomGetInteger(const BloomHasher *hasher, Datum key)
{
	return hasher->typlen == 2 ? DatumGetInt16(key) :
		hasher->typlen == 4 ? DatumGetInt32(key) : DatumGetInt64(key);
}

/* -0 equals 0, and every NaN equals every other */
static inline uint64
BloomFloatBits(float8 value)
{
	uint64		bits;

	if (value == 0)
		return 0;
	if (value != value)
		return UINT64CONST(0x7ff8000000000000);
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Numbers in canonical bytes are little-endian. */
static inline void
BloomPut16(char *out, uint16 value)
{
	value = BloomLittleEndian16(value);
	memcpy(out, &value, sizeof(value));
}

static inline void
BloomPut32(char *out, uint32 value)
{
	value = BloomLittleEndian32(value);
	memcpy(out, &value, sizeof(value));
}

static inline uint32
BloomGet32(const char *in)
{
	uint32		value;

	memcpy(&value, in, sizeof(value));
	value = BloomLittleEndian32(value);
	return value;
}

static inline void
BloomPut64(char *out, uint64 value)
{
	value = BloomLittleEndian64(value);
	memcpy(out, &value, sizeof(value));
}

#endif							/* BLOOM_HASHER_H */
