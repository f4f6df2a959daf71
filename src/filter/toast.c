/*-------------------------------------------------------------------------
 *
 * filter/toast.c
 *		Single bits of a value in a TOAST table.
 *
 * The server reads a slice of a stored value: a run of chunks, for which it
 * opens the TOAST table and its index, and descends the index.  The bits of a
 * key are in as many chunks as it has hashes, far from each other.  So we ask
 * the index for all of these chunks in one scan, in the order in which they
 * lie in the table, and leave at the first bit that is not set.
 *
 * What this costs at least is a descent and a page for each chunk.
 *
 * How a TOAST table keeps its values is up to its access method.  So this is
 * for heap alone; others are asked for slices of one byte.
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
#include "access/toast_internals.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "bits/bits.h"
#include "filter/fetch.h"
#include "filter/toast.h"
#include "compat.h"

/* Columns of a TOAST table */
#define CHUNK_ID	1
#define CHUNK_SEQ	2
#define CHUNK_DATA	3

static int
ComparePositions(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* The data of a chunk, and its length. */
static const uint8 *
ChunkData(HeapTuple tuple, TupleDesc desc, Size *len)
{
	bool		isnull;
	struct varlena *chunk = (struct varlena *)
	DatumGetPointer(heap_getattr(tuple, CHUNK_DATA, desc, &isnull));

	if (isnull || (VARATT_IS_EXTENDED(chunk) && !VARATT_IS_SHORT(chunk)))
		elog(ERROR, "unexpected chunk of a stored filter");
	*len = VARSIZE_ANY_EXHDR(chunk);
	return (const uint8 *) VARDATA_ANY(chunk);
}

/* Is the bit, or the counter, in this byte set? */
static inline bool
TestByte(uint8 byte, uint64 position, int width)
{
	return (byte >> position * width % 8 & ((1 << width) - 1)) != 0;
}

/* The same through the access method of the TOAST table. */
static bool
TestBySlices(Datum stored, Size offset, int width, const uint64 *positions,
			 int npositions)
{
	for (int i = 0; i < npositions; i++)
	{
		uint8		byte;

		BloomFetchSlice(stored, VARHDRSZ + offset + positions[i] * width / 8,
						1, &byte);
		if (!TestByte(byte, positions[i], width))
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
	Relation	toast;
	Relation   *indexes;
	int			nindexes;
	int			valid;
	Datum		chunks[BLOOM_TOAST_BITS];
	int			nchunks = 0;
	ScanKeyData keys[2];
	SnapshotData snapshot;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			ntested = 0;
	bool		all_set = true;

	Assert(npositions > 0 && npositions <= BLOOM_TOAST_BITS);
	qsort(positions, npositions, sizeof(uint64), ComparePositions);
	for (int i = 0; i < npositions; i++)
	{
		int32		chunk = (offset + positions[i] * width / 8) / TOAST_MAX_CHUNK_SIZE;

		if (nchunks == 0 || DatumGetInt32(chunks[nchunks - 1]) != chunk)
			chunks[nchunks++] = Int32GetDatum(chunk);
	}

	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));
	toast = table_open(pointer.va_toastrelid, AccessShareLock);
	if (toast->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(toast, AccessShareLock);
		return TestBySlices(stored, offset, width, positions, npositions);
	}
	valid = toast_open_indexes(toast, AccessShareLock, &indexes, &nindexes);

	ScanKeyInit(&keys[0], CHUNK_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(pointer.va_valueid));
	ScanKeyEntryInitialize(&keys[1], SK_SEARCHARRAY, CHUNK_SEQ,
						   BTEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_INT4EQ,
						   PointerGetDatum(construct_array(chunks, nchunks,
														   INT4OID,
														   sizeof(int32),
														   true, 'i')));

	scan = systable_beginscan_ordered(toast, indexes[valid],
									  BloomToastSnapshot(&snapshot), 2, keys);
	while (all_set &&
		   (tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		bool		isnull;
		Size		chunk = DatumGetInt32(heap_getattr(tuple, CHUNK_SEQ,
													   RelationGetDescr(toast),
													   &isnull));
		Size		len;
		const uint8 *data = ChunkData(tuple, RelationGetDescr(toast), &len);

		for (; all_set && ntested < npositions; ntested++)
		{
			Size		byte = offset + positions[ntested] * width / 8;

			if (byte / TOAST_MAX_CHUNK_SIZE != chunk)
				break;
			byte %= TOAST_MAX_CHUNK_SIZE;
			if (byte >= len)
				elog(ERROR, "unexpected end of a stored filter");
			all_set = TestByte(data[byte], positions[ntested], width);
		}
	}
	systable_endscan_ordered(scan);
	toast_close_indexes(indexes, nindexes, AccessShareLock);
	table_close(toast, AccessShareLock);

	if (all_set && ntested < npositions)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("missing chunk number %d of a stored filter",
								 (int) ((offset + positions[ntested] * width / 8) / TOAST_MAX_CHUNK_SIZE))));
	return all_set;
}
