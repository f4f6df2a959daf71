/*-------------------------------------------------------------------------
 *
 * page.h
 *		A page of a table whose rows are tested together.
 *
 * A sequential scan of heap makes a list of the rows of a page that its
 * snapshot sees, when it enters the page, and returns them one by one.  We
 * take rows out of that list before they are returned:
 *
 *		if (BloomScanIsNewPage(page, scan) && BloomScanEnterPage(page, scan))
 *		{
 *			BloomScanReadPage(page, &column, keys);
 *			... page->keep[i] = false, where keys[i] does not do
 *			dropped += BloomScanKeepRows(page, scan);
 *		}
 *
 * README says why that is right, and what the caller has to see to.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_PAGE_H
#define BLOOM_SCAN_PAGE_H

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "scan/report.h"

/* How keys of a column have been read, for tests: bits. */
#define SCAN_READ_FIXED		1	/* at a fixed offset, no nulls in the tuple */
#define SCAN_READ_NULLS		2	/* the same, with nulls behind the key */
#define SCAN_READ_WALK		4	/* by the server's function */
#define SCAN_READ_SHORT		8	/* the tuple is older than the column */

/* A column of a table, or of the tuples of a hash table. */
typedef struct ScanColumn
{
	AttrNumber	attno;
	int16		len;
	bool		byval;
	int			offset;			/* if no column up to it is null; -1 if that
								 * varies */
				Counted(int seen);	/* bits as above */
} ScanColumn;

/* The rows of a page behind the one that the scan has returned last. */
typedef struct ScanPage
{
	BlockNumber block;			/* that was entered; or InvalidBlockNumber */
	bool		is_cold;		/* no column was read yet */
	int			nrows;
	OffsetNumber *rows;			/* in the scan's list */
	bool		keep[MaxHeapTuplesPerPage]; /* which of them? */
} ScanPage;

extern bool BloomScanHasPages(Relation table);
extern void BloomScanColumnOf(ScanColumn *column, TupleDesc desc,
							  AttrNumber attno);
extern bool BloomScanEnterPage(ScanPage *page, TableScanDesc scan);
extern void BloomScanReadPage(ScanPage *page, TableScanDesc scan,
							  ScanColumn *column, Datum *keys);
extern int	BloomScanKeepRows(ScanPage *page, TableScanDesc scan);

/*
 * BloomScanHasAll
 *		Is none of the first columns null?  Bits are set where there is a value.
 */
static inline bool
BloomScanHasAll(const uint8 *bits, int ncolumns)
{
	for (; ncolumns >= 8; ncolumns -= 8)
	{
		if (*bits++ != 0xFF)
			return false;
	}
	return ncolumns == 0 ||
		(*bits & ((1 << ncolumns) - 1)) == (1 << ncolumns) - 1;
}

/*
 * BloomScanKey
 *		The value of a column.  (rule 23)
 */
static inline Datum
BloomScanKey(ScanColumn *column, HeapTupleHeader tuple, TupleDesc desc,
			 bool *isnull)
{
	bool		nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	HeapTupleData whole;

	if (likely(column->offset >= 0 &&
			   HeapTupleHeaderGetNatts(tuple) >= column->attno &&
			   (!nulls || BloomScanHasAll(tuple->t_bits, column->attno))))
	{
		Counted(column->seen |= nulls ? SCAN_READ_NULLS : SCAN_READ_FIXED);
		*isnull = false;
		return fetch_att((char *) tuple + tuple->t_hoff + column->offset,
						 column->byval, column->len);
	}
	Counted(column->seen |= HeapTupleHeaderGetNatts(tuple) < column->attno ?
			SCAN_READ_SHORT : SCAN_READ_WALK);
	whole.t_data = tuple;
	return heap_getattr(&whole, column->attno, desc, isnull);
}

/*
 * BloomScanIsElsewhere
 *		Would the value have to be fetched, or decompressed?  Then it is not read
 *		ahead: the rest of the plan may need few such values.  (rule 33)
 */
static inline bool
BloomScanIsElsewhere(const ScanColumn *column, Datum value)
{
	return column->len == -1 &&
		(VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
		 VARATT_IS_COMPRESSED(DatumGetPointer(value)));
}

/*
 * Is the row that the scan has just returned the first one of a page?
 *
 * Or the first one since BloomScanForgetPage: then the page is entered again, and
 * the rows that are left are tested again.
 */
static inline bool
BloomScanIsNewPage(const ScanPage *page, TableScanDesc scan)
{
	return ((HeapScanDesc) scan)->rs_cblock != page->block;
}

/* The page that the scan stands on. */
static inline BlockNumber
BloomScanBlock(TableScanDesc scan)
{
	return ((HeapScanDesc) scan)->rs_cblock;
}

/*
 * BloomScanForgetPage
 *		The scan begins again, ends, or goes back; or there is another test.
 *		(rules 22, 24)
 */
static inline void
BloomScanForgetPage(ScanPage *page)
{
	page->block = InvalidBlockNumber;
}

#endif							/* BLOOM_SCAN_PAGE_H */
