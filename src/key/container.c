/*-------------------------------------------------------------------------
 *
 * key/container.c
 *		The canonical bytes of keys that are made of other values.
 *
 * One walker appends to one buffer.  A value inside another is an item: its
 * length in 4 bytes, or ffffffff for null, and its own canonical bytes.  So no
 * two different values have the same bytes.
 *
 *		array		4 bytes number of dimensions; of each, 4 bytes length
 *					and 4 bytes lower bound; the elements, each an item
 *		composite	4 bytes number of columns; the columns, each an item
 *		range		1 byte flags: 1 empty, 2 lower bound inclusive, 4 upper
 *					bound inclusive, 8 no lower bound, 16 no upper bound; the
 *					finite bounds, each an item
 *		multirange	4 bytes number of ranges; the ranges, each an item
 *		jsonb		1 byte tag, and by it
 *					0 null, 1 false, 2 true
 *					3 number: an item with the bytes of a numeric
 *					4 string: an item in UTF-8
 *					5 array: 4 bytes number of elements; these, with tags
 *					6 object: 4 bytes number of members; of each, the name
 *					  as an item and the value with its tag; names in the
 *					  order of their lengths, and then of their bytes
 *
 * Equality is that of the type: arrays with different lower bounds differ,
 * 1.0 and 1.00 in jsonb do not.  Dropped columns are left out.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"

#include "key/hasher.h"
#include "compat.h"

#define NULL_ITEM	0xffffffff

static void
Append32(StringInfo buf, uint32 value)
{
	char		bytes[4];

	BloomPut32(bytes, value);
	appendBinaryStringInfo(buf, bytes, sizeof(bytes));
}

static void
AppendBytesAsItem(StringInfo buf, const BloomBytes *bytes)
{
	Append32(buf, (uint32) bytes->len);
	appendBinaryStringInfo(buf, bytes->data, (int) bytes->len);
}

static void
AppendTextAsItem(StringInfo buf, const char *text, Size len)
{
	BloomBytes	bytes = {0};

	BloomTextBytes(text, len, &bytes);
	AppendBytesAsItem(buf, &bytes);
	BloomFreeBytes(&bytes);
}

static void
AppendItem(BloomHasher *hasher, Datum value, StringInfo buf)
{
	int			start = buf->len;

	CHECK_FOR_INTERRUPTS();
	Append32(buf, 0);
	BloomAppendKey(hasher, value, buf);
	BloomPut32(buf->data + start, (uint32) (buf->len - start - 4));
}

/* ----------------------------------------------------------------
 *							JSONB
 *
 * The members of an object are stored in the order of the lengths of their
 * names, and then of their bytes, in the database's encoding.  Where that is
 * not UTF-8, they are sorted by their names in UTF-8, as other databases store
 * the same value.
 * ----------------------------------------------------------------
 */

/* A member in the buffer: its name, which is an item, and what follows */
typedef struct JsonbMember
{
	int			start;
	int			end;
} JsonbMember;

static int
CompareMembers(const void *a, const void *b, void *data)
{
	const char *name_a = (const char *) data + ((const JsonbMember *) a)->start;
	const char *name_b = (const char *) data + ((const JsonbMember *) b)->start;
	uint32		len_a = BloomGet32(name_a);
	uint32		len_b = BloomGet32(name_b);

	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	return memcmp(name_a + 4, name_b + 4, len_a);
}

/* Put the members that the buffer ends with into order. */
static void
SortMembers(JsonbMember *members, int nmembers, StringInfo buf)
{
	int			start = members[0].start;
	char	   *copy = palloc(buf->len - start);

	memcpy(copy, buf->data + start, buf->len - start);
	qsort_arg(members, nmembers, sizeof(JsonbMember), CompareMembers, buf->data);
	buf->len = start;
	for (int i = 0; i < nmembers; i++)
		appendBinaryStringInfo(buf, copy + (members[i].start - start),
							   members[i].end - members[i].start);
	pfree(copy);
}

typedef enum JsonbTag
{
	TAG_NULL,
	TAG_FALSE,
	TAG_TRUE,
	TAG_NUMBER,
	TAG_STRING,
	TAG_ARRAY,
	TAG_OBJECT
} JsonbTag;

static void AppendJsonbContainer(JsonbContainer *container, StringInfo buf);

static void
AppendJsonbValue(const JsonbValue *value, StringInfo buf)
{
	CHECK_FOR_INTERRUPTS();
	switch (value->type)
	{
		case jbvNull:
			appendStringInfoCharMacro(buf, TAG_NULL);
			break;
		case jbvBool:
			appendStringInfoCharMacro(buf, value->val.boolean ?
									  TAG_TRUE : TAG_FALSE);
			break;
		case jbvNumeric:
			{
				BloomBytes	bytes = {0};

				appendStringInfoCharMacro(buf, TAG_NUMBER);
				BloomNumericBytes(NumericGetDatum(value->val.numeric), &bytes);
				AppendBytesAsItem(buf, &bytes);
				BloomFreeBytes(&bytes);
				break;
			}
		case jbvString:
			appendStringInfoCharMacro(buf, TAG_STRING);
			AppendTextAsItem(buf, value->val.string.val,
							 value->val.string.len);
			break;
		case jbvBinary:
			AppendJsonbContainer(value->val.binary.data, buf);
			break;
		default:
			elog(ERROR, "unrecognized jsonb value type: %d",
				 (int) value->type);
	}
}

static void
AppendJsonbContainer(JsonbContainer *container, StringInfo buf)
{
	bool		is_object = JsonContainerIsObject(container);
	JsonbIterator *it = JsonbIteratorInit(container);
	JsonbIteratorToken token;
	JsonbValue	value;
	JsonbMember *members = NULL;
	int			nmembers = 0;

	check_stack_depth();
	if (!JsonContainerIsScalar(container))
	{
		appendStringInfoCharMacro(buf, is_object ? TAG_OBJECT : TAG_ARRAY);
		Append32(buf, JsonContainerSize(container));
	}
	if (is_object)
		members = palloc(JsonContainerSize(container) * sizeof(JsonbMember));

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			members[nmembers].start = buf->len;
			AppendTextAsItem(buf, value.val.string.val, value.val.string.len);
		}
		else if (token == WJB_VALUE || token == WJB_ELEM)
			AppendJsonbValue(&value, buf);
		if (token == WJB_VALUE)
			members[nmembers++].end = buf->len;
	}
	if (nmembers > 1 && BloomTextNeedsConversion())
		SortMembers(members, nmembers, buf);
	if (is_object)
		pfree(members);
}

/* ----------------------------------------------------------------
 *							ARRAYS, RANGES, ROWS
 * ----------------------------------------------------------------
 */

/*
 * An error if the rows of one array have different key types.
 */
static void
CheckElementName(BloomHasher *element, char **first)
{
	if (element->root->is_stale)
		BloomRefreshName(element);
	if (*first == NULL)
		*first = pstrdup(element->name);
	else if (strcmp(*first, element->name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("array key contains rows of different types: %s and %s",
						BloomNameInMessage(*first),
						BloomNameInMessage(element->name)),
				 errhint("Cast the columns, so that all rows have the same types.")));
}

static void
AppendArray(BloomHasher *hasher, ArrayType *array, StringInfo buf)
{
	BloomHasher *element = hasher->element;
	char	   *first_name = NULL;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	Append32(buf, ARR_NDIM(array));
	for (int i = 0; i < ARR_NDIM(array); i++)
	{
		Append32(buf, ARR_DIMS(array)[i]);
		Append32(buf, ARR_LBOUND(array)[i]);
	}

	if (element->key_type_varies)
		BloomForgetRowTypes(element);
	deconstruct_array(array, ARR_ELEMTYPE(array), element->typlen,
					  element->typbyval, element->typalign,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
		{
			Append32(buf, NULL_ITEM);
			continue;
		}
		AppendItem(element, values[i], buf);
		if (element->key_type_varies)
			CheckElementName(element, &first_name);
	}
	if (first_name != NULL)
		pfree(first_name);
	pfree(values);
	pfree(nulls);
}

static void
AppendRange(BloomHasher *hasher, const RangeType *range, StringInfo buf)
{
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;
	char		flags = range_get_flags(range) &
	(RANGE_EMPTY | RANGE_LB_INC | RANGE_UB_INC | RANGE_LB_INF | RANGE_UB_INF);

	range_deserialize(hasher->typentry, range, &lower, &upper, &is_empty);
	appendStringInfoCharMacro(buf, flags);
	if (RANGE_HAS_LBOUND(flags))
		AppendItem(hasher->element, lower.val, buf);
	if (RANGE_HAS_UBOUND(flags))
		AppendItem(hasher->element, upper.val, buf);
}

static void
AppendMultirange(BloomHasher *hasher, const MultirangeType *multirange,
				 StringInfo buf)
{
	RangeType **ranges;
	int32		nranges;

	multirange_deserialize(hasher->element->typentry, multirange,
						   &nranges, &ranges);
	Append32(buf, nranges);
	for (int i = 0; i < nranges; i++)
		AppendItem(hasher->element, RangeTypePGetDatum(ranges[i]), buf);
}

static void
AppendRow(BloomHasher *hasher, HeapTupleHeader header, StringInfo buf)
{
	HeapTupleData tuple;
	int			nlive_at = buf->len;
	uint32		nlive = 0;

	BloomSetRowType(hasher, HeapTupleHeaderGetTypeId(header),
					HeapTupleHeaderGetTypMod(header));
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, hasher->tupdesc, hasher->values, hasher->nulls);

	Append32(buf, 0);
	for (int i = 0; i < hasher->tupdesc->natts; i++)
	{
		BloomHasher *column = &hasher->columns[i];

		if (TupleDescAttr(hasher->tupdesc, i)->attisdropped)
			continue;
		nlive++;
		if (!hasher->nulls[i])
			AppendItem(column, hasher->values[i], buf);
		else
		{
			Append32(buf, NULL_ITEM);
			if (column->key_type_varies)
				BloomForgetRowTypes(column);
		}
	}
	BloomPut32(buf->data + nlive_at, nlive);
}

/*
 * BloomAppendKey
 *		Append the canonical bytes of a key.
 */
void
BloomAppendKey(BloomHasher *hasher, Datum key, StringInfo buf)
{
	void	   *value;

	if (BloomEncodingIsScalar(hasher->encoding))
	{
		BloomBytes	bytes;

		BloomScalarBytes(hasher, key, &bytes);
		appendBinaryStringInfo(buf, bytes.data, (int) bytes.len);
		BloomFreeBytes(&bytes);
		return;
	}

	check_stack_depth();
	value = PG_DETOAST_DATUM(key);
	switch (hasher->encoding)
	{
		case BLOOM_KEY_ARRAY:
			AppendArray(hasher, value, buf);
			break;
		case BLOOM_KEY_RANGE:
			AppendRange(hasher, value, buf);
			break;
		case BLOOM_KEY_MULTIRANGE:
			AppendMultirange(hasher, value, buf);
			break;
		case BLOOM_KEY_JSONB:
			AppendJsonbContainer(&((Jsonb *) value)->root, buf);
			break;
		default:
			AppendRow(hasher, value, buf);
			break;
	}
	if (value != DatumGetPointer(key))
		pfree(value);
}
