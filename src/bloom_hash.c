/*-------------------------------------------------------------------------
 *
 * bloom_hash.c
 *		From a key, which is a Datum of some type, to its 64-bit hash.
 *
 * Canonical bytes
 * ---------------
 *
 * A key is reduced to canonical bytes, such that keys that are equal by their
 * types' operators have the same bytes, and these are hashed by XXH3 with the
 * filter's seed.  For the common built-in types we write the bytes ourselves,
 * and promise never to change them (docs/format.md): stored filters depend on
 * it.  The server's own hash functions make no such promise.
 *
 *		int2, int4, int8			8 bytes, little-endian int64
 *		float4, float8				8 bytes, little-endian double
 *		bool						1 byte
 *		date						4 bytes, little-endian
 *		timestamp[tz], time			8 bytes, little-endian
 *		uuid						16 bytes
 *		text, varchar, name, char(n)	their bytes, without trailing blanks
 *									for char(n)
 *		bytea						its bytes
 *		enum						the bytes of its label
 *		any other type				8 bytes, little-endian: the result of the
 *									type's extended hash function
 *
 * Text under a nondeterministic collation belongs to the last line: only the
 * collation's own hash function knows which strings are equal.
 *
 * A hash of zero is replaced by one, so that zero can mean "no hash".
 *
 * Key types
 * ---------
 *
 * A filter remembers what type its keys have, and takes no others.  Types
 * whose equal values hash alike share a key type: int8 stands for all
 * integers, float8 for floats, text for text, varchar, name and char(n), and
 * otherwise the input type of the hash operator class, such as inet for cidr.
 * Only OIDs of built-in types are ever kept, since others differ from server
 * to server: all enums are anyenum, all composites record, and a type from an
 * extension is BLOOM_KEY_OTHER.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "bloom_hash.h"
#include "compat.h"

/*
 * Is equality under this collation equality of bytes?
 */
static bool
CollationIsDeterministic(Oid collation)
{
	return collation == DEFAULT_COLLATION_OID ||
		collation == C_COLLATION_OID ||
		get_collation_isdeterministic(collation);
}

/* An error, if it is not known which collation says what is equal. */
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
 * BloomIsFilterType
 *		Is this our type, or a domain over it?
 *
 * It has no fixed OID, and its name and schema may be anybody's.  But no other
 * type has our output function.
 */
extern PGDLLEXPORT Datum _bloom_out(PG_FUNCTION_ARGS);

bool
BloomIsFilterType(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			output;
	bool		is_varlena;
	FmgrInfo	flinfo;

	if (base < FirstNormalObjectId || get_typtype(base) != TYPTYPE_BASE)
		return false;
	getTypeOutputInfo(base, &output, &is_varlena);
	fmgr_info(output, &flinfo);
	return flinfo.fn_addr == _bloom_out;
}

/*
 * BloomHasherTryInit
 *		Find out how keys of a type are hashed.  False, if there is no way.
 *
 * The hasher may be kept as long as the type cache, that is for the session.
 */
bool
BloomHasherTryInit(BloomHasher *hasher, Oid type, Oid collation)
{
	Oid			base = getBaseType(type);

	hasher->type = type;
	hasher->collation = collation;
	hasher->typentry = NULL;
	if (type_is_collatable(base) && !OidIsValid(collation))
		return false;

	switch (base)
	{
		case INT2OID:
			hasher->kind = BLOOM_KEY_INT2;
			hasher->key_type = BloomBuiltinKeyType(INT8OID);
			return true;
		case INT4OID:
			hasher->kind = BLOOM_KEY_INT4;
			hasher->key_type = BloomBuiltinKeyType(INT8OID);
			return true;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
			hasher->kind = BLOOM_KEY_INT8;
			hasher->key_type = BloomBuiltinKeyType(base);
			return true;
		case FLOAT4OID:
			hasher->kind = BLOOM_KEY_FLOAT4;
			hasher->key_type = BloomBuiltinKeyType(FLOAT8OID);
			return true;
		case FLOAT8OID:
			hasher->kind = BLOOM_KEY_FLOAT8;
			hasher->key_type = BloomBuiltinKeyType(FLOAT8OID);
			return true;
		case BOOLOID:
			hasher->kind = BLOOM_KEY_BOOL;
			hasher->key_type = BloomBuiltinKeyType(BOOLOID);
			return true;
		case DATEOID:
			hasher->kind = BLOOM_KEY_DATE;
			hasher->key_type = BloomBuiltinKeyType(DATEOID);
			return true;
		case UUIDOID:
			hasher->kind = BLOOM_KEY_UUID;
			hasher->key_type = BloomBuiltinKeyType(UUIDOID);
			return true;
		case BYTEAOID:
			hasher->kind = BLOOM_KEY_VARLENA;
			hasher->key_type = BloomBuiltinKeyType(BYTEAOID);
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			if (!CollationIsDeterministic(collation))
				break;
			hasher->kind = base == BPCHAROID ? BLOOM_KEY_BPCHAR :
				base == NAMEOID ? BLOOM_KEY_NAME : BLOOM_KEY_VARLENA;
			hasher->key_type = BloomBuiltinKeyType(TEXTOID);
			return true;
		default:
			break;
	}

	hasher->typentry = lookup_type_cache(base,
										 TYPECACHE_HASH_OPFAMILY |
										 TYPECACHE_HASH_EXTENDED_PROC |
										 TYPECACHE_HASH_EXTENDED_PROC_FINFO);

	if (hasher->typentry->typtype == TYPTYPE_ENUM)
	{
		hasher->kind = BLOOM_KEY_ENUM;
		hasher->key_type = BloomBuiltinKeyType(ANYENUMOID);
		return true;
	}

	if (!OidIsValid(hasher->typentry->hash_extended_proc) ||
		BloomIsFilterType(base))
		return false;

	hasher->kind = BLOOM_KEY_HASHED;

	/*
	 * An operator class over a polymorphic type (arrays, ranges) serves many
	 * types; then we know the type better ourselves, if it is built in.
	 */
	if (type_is_collatable(base) && !CollationIsDeterministic(collation))
		hasher->key_type = BloomBuiltinKeyType(BLOOM_KEY_OTHER);
	else if (get_typtype(hasher->typentry->hash_opintype) == TYPTYPE_PSEUDO &&
			 base < FirstGenbkiObjectId)
		hasher->key_type = BloomBuiltinKeyType(base);
	else if (hasher->typentry->hash_opintype < FirstGenbkiObjectId)
		hasher->key_type = BloomBuiltinKeyType(hasher->typentry->hash_opintype);
	else
		hasher->key_type = BloomBuiltinKeyType(BLOOM_KEY_OTHER);
	return true;
}

/*
 * BloomHasherInit
 *		Find out how keys of a type are hashed.  An error, if there is no way.
 */
void
BloomHasherInit(BloomHasher *hasher, Oid type, Oid collation)
{
	Oid			base = getBaseType(type);

	if (BloomHasherTryInit(hasher, type, collation))
		return;
	if (type_is_collatable(base))
		CheckCollation(collation);
	if (BloomIsFilterType(base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a Bloom filter is not a key"),
				 errhint("To compare two filters, use bloom_superset(filter, filter); to merge filters, use bloom_union_agg(filter).")));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify an extended hash function for type %s",
					format_type_be(type)),
			 errdetail("A Bloom filter holds hashes of its keys."),
			 base == RECORDOID ?
			 errhint("Cast the row to a named composite type.") :
			 errhint("Use a key type with a hash operator class, or cast the key to one, such as text.")));
}

/*
 * BloomTypeTakenForText
 *		The type of a key that the parser has made a text, or InvalidOid.
 *
 * A type of an extension that has an implicit cast to text, such as citext,
 * goes to an aggregate for text keys, since that wins over one for any type.
 * But such a type can have an equality of its own, so that equal keys are
 * different texts.
 *
 * This cannot be seen any more where the planner has made a constant of the
 * key, or where the cast was printed and parsed again, as in a view.
 */
Oid
BloomTypeTakenForText(const Node *key)
{
	const Node *before = NULL;
	Oid			type;

	if (key == NULL)
		return InvalidOid;
	if (IsA(key, RelabelType) &&
		((const RelabelType *) key)->relabelformat == COERCE_IMPLICIT_CAST)
		before = (const Node *) ((const RelabelType *) key)->arg;
	else if (IsA(key, CoerceViaIO) &&
			 ((const CoerceViaIO *) key)->coerceformat == COERCE_IMPLICIT_CAST)
		before = (const Node *) ((const CoerceViaIO *) key)->arg;
	else if (IsA(key, FuncExpr) &&
			 ((const FuncExpr *) key)->funcformat == COERCE_IMPLICIT_CAST)
		before = linitial(((const FuncExpr *) key)->args);
	if (before == NULL)
		return InvalidOid;
	type = exprType(before);
	return getBaseType(type) < FirstGenbkiObjectId ? InvalidOid : type;
}

/*
 * BloomMakeCallSite
 *		What a function call keeps between the rows, in fn_extra: a struct of
 *		this size that begins with the hasher of the keys in an argument.
 *
 * The rest of it is zero.
 */
void *
BloomMakeCallSite(FunctionCallInfo fcinfo, int argno, bool is_array, Size size)
{
	BloomHasher *site;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the key");
	if (is_array)
		type = get_base_element_type(type);
	site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, size);
	BloomHasherInit(site, type, PG_GET_COLLATION());
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/*
 * BloomHashBytes
 *		Hash canonical bytes of any length.
 */
uint64
BloomHashBytes(const void *bytes, Size len, uint64 seed)
{
	return BloomHashNotZero(XXH3_64bits_withSeed(bytes, len, seed));
}

/*
 * BloomHashVarlena
 *		Hash the bytes of a varlena, which may be stored out of line.
 */
uint64
BloomHashVarlena(Datum key, uint64 seed)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = BloomHashBytes(VARDATA_ANY(bytes),
									  VARSIZE_ANY_EXHDR(bytes), seed);

	if ((Pointer) bytes != DatumGetPointer(key))
		pfree(bytes);
	return hash;
}

/*
 * BloomHashText
 *		Hash a text, and say what key type it is under this collation.
 *
 * For callers that have no place to keep a hasher.
 */
uint64
BloomHashText(Datum key, Oid collation, uint64 seed, BloomKeyType *key_type)
{
	BloomHasher hasher;

	CheckCollation(collation);
	if (likely(CollationIsDeterministic(collation)))
	{
		*key_type = BloomBuiltinKeyType(TEXTOID);
		return BloomHashVarlena(key, seed);
	}
	BloomHasherInit(&hasher, TEXTOID, collation);
	*key_type = hasher.key_type;
	return BloomHashDatum(&hasher, key, seed);
}

/*
 * BloomHashNumeric
 *		Hash a numeric.  What its type's operator class does, without a lookup.
 */
uint64
BloomHashNumeric(Datum key, uint64 seed)
{
	Datum		hash = DirectFunctionCall2(hash_numeric_extended, key,
										   UInt64GetDatum(0));

	return BloomHashInt64((int64) DatumGetUInt64(hash), seed);
}

/*
 * Hash an enum value by its label: its OID differs from server to server.
 */
static uint64
BloomHashEnum(Oid value, uint64 seed)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	const char *label;
	uint64		hash;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	label = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	hash = BloomHashBytes(label, strlen(label), seed);
	ReleaseSysCache(tuple);
	return hash;
}

/*
 * Hash a char(n): its trailing blanks are padding.
 */
static uint64
BloomHashBpchar(Datum key, uint64 seed)
{
	BpChar	   *padded = (BpChar *) PG_DETOAST_DATUM_PACKED(key);
	char	   *bytes = VARDATA_ANY(padded);
	uint64		hash = BloomHashBytes(bytes,
									  bpchartruelen(bytes, VARSIZE_ANY_EXHDR(padded)),
									  seed);

	if ((Pointer) padded != DatumGetPointer(key))
		pfree(padded);
	return hash;
}

/*
 * BloomHashOther
 *		Hash a key of any type.
 */
uint64
BloomHashOther(const BloomHasher *hasher, Datum key, uint64 seed)
{
	switch (hasher->kind)
	{
		case BLOOM_KEY_INT2:
			return BloomHashInt64(DatumGetInt16(key), seed);
		case BLOOM_KEY_INT4:
			return BloomHashInt64(DatumGetInt32(key), seed);
		case BLOOM_KEY_INT8:
			return BloomHashInt64(DatumGetInt64(key), seed);
		case BLOOM_KEY_FLOAT4:
			return BloomHashFloat64(DatumGetFloat4(key), seed);
		case BLOOM_KEY_FLOAT8:
			return BloomHashFloat64(DatumGetFloat8(key), seed);
		case BLOOM_KEY_BOOL:
			{
				uint8		byte = DatumGetBool(key) ? 1 : 0;

				return BloomHashBytes(&byte, 1, seed);
			}
		case BLOOM_KEY_DATE:
			return BloomHashInt32(DatumGetInt32(key), seed);
		case BLOOM_KEY_UUID:
			return BloomHashUuid(DatumGetPointer(key), seed);
		case BLOOM_KEY_VARLENA:
			return BloomHashVarlena(key, seed);
		case BLOOM_KEY_BPCHAR:
			return BloomHashBpchar(key, seed);
		case BLOOM_KEY_NAME:
			{
				const char *name = NameStr(*DatumGetName(key));

				return BloomHashBytes(name, strlen(name), seed);
			}
		case BLOOM_KEY_ENUM:
			return BloomHashEnum(DatumGetObjectId(key), seed);
		case BLOOM_KEY_HASHED:
			{
				Datum		hash;

				hash = FunctionCall2Coll(&hasher->typentry->hash_extended_proc_finfo,
										 hasher->collation, key,
										 UInt64GetDatum(0));
				return BloomHashInt64((int64) DatumGetUInt64(hash), seed);
			}
	}
	elog(ERROR, "unrecognized key kind: %d", (int) hasher->kind);
	return 0;
}

/*
 * BloomHashArray
 *		Hash the elements of an array.
 */
BloomArrayKeys
BloomHashArray(const BloomHasher *hasher, ArrayType *array, uint64 seed)
{
	BloomArrayKeys result = {0};
	TypeCacheEntry *typentry = lookup_type_cache(ARR_ELEMTYPE(array), 0);
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), typentry->typlen,
					  typentry->typbyval, typentry->typalign,
					  &result.keys, &nulls, &n);
	result.element = ARR_ELEMTYPE(array);
	result.hashes = palloc(Max(n, 1) * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
		{
			result.has_nulls = true;
			continue;
		}
		result.keys[result.nkeys] = result.keys[i];
		result.hashes[result.nkeys] = BloomHashDatum(hasher, result.keys[i],
													 seed);
		result.nkeys++;
	}
	pfree(nulls);
	return result;
}

/*
 * BloomMakeKeyArray
 *		An array of keys.
 */
Datum
BloomMakeKeyArray(Oid element, Datum *keys, uint64 nkeys)
{
	TypeCacheEntry *typentry = lookup_type_cache(element, 0);

	return PointerGetDatum(construct_array(keys, (int) nkeys, element,
										   typentry->typlen,
										   typentry->typbyval,
										   typentry->typalign));
}
