/*-------------------------------------------------------------------------
 *
 * filter/toast.c
 *		Parts of a value in a TOAST table, and single bits of it.
 *
 * The server reads one run of a stored value's parts at a time, for which it
 * opens the TOAST table and its index, and descends the index.  The bits of a
 * key are in as many parts as it has hashes, far from each other.  So we scan
 * the index once for all of these parts, in the order in which they lie in the
 * table, and end at the first bit that is not set.  By single bytes instead, a
 * one-off probe of a filter of 10 MB for a key that it has takes 1.2 times as
 * long with 7 hashes, and 1.6 times with 17; for an absent key, the same.
 *
 * How a TOAST table keeps its values is up to its access method.  So the scan is
 * for heap alone; of others, we read single bytes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "bits/bits.h"
#include "bits/sort.h"
#include "filter/toast.h"
#include "compat.h"

/* Columns of a TOAST table */
#define CHUNK_ID	1
#define CHUNK_SEQ	2
#define CHUNK_DATA	3

/*
 * BloomHasParts
 *		Is the Datum a value in a TOAST table of which parts can be read?
 */
bool
BloomHasParts(Datum datum)
{
	/*
	 * compressed or not, by its size: the server's macro compares unlike
	 * signs
	 */
	return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)) &&
		toast_datum_size(datum) + VARHDRSZ >= toast_raw_datum_size(datum);
}

/*
 * BloomToastRead
 *		Read the first bytes of such a value, of this size with the varlena
 *		header.
 */
void
BloomToastRead(Datum stored, Size size, struct varlena *out)
{
	struct varatt_external pointer;
	Relation	toast;

	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));
	SET_VARSIZE(out, size);
	toast = table_open(pointer.va_toastrelid, AccessShareLock);
	table_relation_fetch_toast_slice(toast, pointer.va_valueid,
									 pointer.va_rawsize - VARHDRSZ,
									 0, (int32) (size - VARHDRSZ), out);
	table_close(toast, AccessShareLock);
}

/*
 * BloomFetchSlice
 *		Read some bytes of such a value, whose offset counts the varlena header
 *		as well.
 */
void
BloomFetchSlice(Datum stored, Size offset, Size len, void *out)
{
	struct varlena *slice;

	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(stored),
							   (int32) (offset - VARHDRSZ), (int32) len);
	if (VARSIZE_ANY_EXHDR(slice) != len)
		elog(ERROR, "unexpected end of a stored filter");
	memcpy(out, VARDATA_ANY(slice), len);
	pfree(slice);
}

/* The data of a part, and its length. */
static const uint8 *
PartData(HeapTuple tuple, TupleDesc desc, Size *len)
{
	bool		isnull;
	struct varlena *part = (struct varlena *)
	DatumGetPointer(heap_getattr(tuple, CHUNK_DATA, desc, &isnull));

	if (isnull || (VARATT_IS_EXTENDED(part) && !VARATT_IS_SHORT(part)))
		elog(ERROR, "unexpected part of a stored filter");
	*len = VARSIZE_ANY_EXHDR(part);
	return (const uint8 *) VARDATA_ANY(part);
}

/* BloomToastTestBits through the access method of the TOAST table. */
static bool
TestByBytes(Datum stored, Size offset, int width, const uint64 *positions,
			int npositions)
{
	for (int i = 0; i < npositions; i++)
	{
		uint8		byte;

		BloomFetchSlice(stored, VARHDRSZ + offset + positions[i] * width / 8,
						1, &byte);
		if (BloomGetPlace(&byte, positions[i] % (8 / width), width) == 0)
			return false;
	}
	return true;
}

/*
 * BloomToastTestBits
 *		Are all these bits of a stored value set, or, where they have a width
 *		of 4, all these counters in use?
 *
 * They are counted from an offset in bytes, which is that in the value
 * without its varlena header.  The positions are sorted.
 */
bool
BloomToastTestBits(Datum stored, Size offset, int width, uint64 *positions,
				   int npositions)
{
	struct varatt_external pointer;
	uint64		scratch[BLOOM_TOAST_BITS];
	Relation	toast;
	Relation   *indexes;
	int			nindexes;
	int			valid;
	Datum		parts[BLOOM_TOAST_BITS];
	int			nparts = 0;
	ScanKeyData keys[2];
	SnapshotData snapshot;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			ntested = 0;
	bool		all_set = true;

	Assert(npositions > 0 && npositions <= BLOOM_TOAST_BITS);
	BloomSort(positions, scratch, npositions, false);
	for (int i = 0; i < npositions; i++)
	{
		int32		part = (offset + positions[i] * width / 8) / TOAST_MAX_CHUNK_SIZE;

		if (nparts == 0 || DatumGetInt32(parts[nparts - 1]) != part)
			parts[nparts++] = Int32GetDatum(part);
	}

	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));
	toast = table_open(pointer.va_toastrelid, AccessShareLock);
	if (toast->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(toast, AccessShareLock);
		return TestByBytes(stored, offset, width, positions, npositions);
	}
	valid = toast_open_indexes(toast, AccessShareLock, &indexes, &nindexes);

	ScanKeyInit(&keys[0], CHUNK_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(pointer.va_valueid));
	ScanKeyEntryInitialize(&keys[1], SK_SEARCHARRAY, CHUNK_SEQ,
						   BTEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_INT4EQ,
						   PointerGetDatum(construct_array(parts, nparts,
														   INT4OID,
														   sizeof(int32),
														   true, 'i')));

	scan = systable_beginscan_ordered(toast, indexes[valid],
									  BloomToastSnapshot(&snapshot), 2, keys);
	while (all_set &&
		   (tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		bool		isnull;
		Size		part = DatumGetInt32(heap_getattr(tuple, CHUNK_SEQ,
													  RelationGetDescr(toast),
													  &isnull));
		Size		len;
		const uint8 *data = PartData(tuple, RelationGetDescr(toast), &len);

		for (; all_set && ntested < npositions; ntested++)
		{
			Size		byte = offset + positions[ntested] * width / 8;

			if (byte / TOAST_MAX_CHUNK_SIZE != part)
				break;
			byte %= TOAST_MAX_CHUNK_SIZE;
			if (byte >= len)
				elog(ERROR, "unexpected end of a stored filter");
			all_set = BloomGetPlace(&data[byte], positions[ntested] % (8 / width),
									width) != 0;
		}
	}
	systable_endscan_ordered(scan);
	toast_close_indexes(indexes, nindexes, AccessShareLock);
	table_close(toast, AccessShareLock);

	if (all_set && ntested < npositions)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("missing part number %d of a stored filter",
								 (int) ((offset + positions[ntested] * width / 8) / TOAST_MAX_CHUNK_SIZE))));
	return all_set;
}
