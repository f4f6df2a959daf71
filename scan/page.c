/*-------------------------------------------------------------------------
 *
 * page.c
 *		A page of a table whose rows are tested together.
 *
 * The keys of all rows of a page are read before any row is put into a slot:
 * at a fixed offset, where there is one, with some tuples on their way from
 * memory.  Rows that are not kept are taken out of the scan's list, and are
 * never returned.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "scan/page.h"

/* tuples that are on their way from memory while one is read */
#define AHEAD	16

#if defined(__GNUC__) || defined(__clang__)
#define Prefetch(address)	__builtin_prefetch(address)
#else
#define Prefetch(address)	((void) (address))
#endif

/*
 * BloomScanHasPages
 *		May the pages of this table be tested so?
 *
 * Only heap's own (rule 18): another access method's scans have another descriptor, or
 * are heap's with something added.
 */
bool
BloomScanHasPages(Relation table)
{
	return table->rd_tableam == GetHeapamTableAmRoutine();
}

/*
 * BloomScanColumnOf
 *		How to read a column of a table with this description.
 */
void
BloomScanColumnOf(ScanColumn *column, TupleDesc desc, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

	column->attno = attno;
	column->len = att->attlen;
	column->byval = att->attbyval;
	column->offset = 0;
	Counted(column->seen = 0);
	for (int i = 0; i < attno - 1; i++)
	{
		Form_pg_attribute before = TupleDescAttr(desc, i);

		if (before->attlen <= 0)
		{
			column->offset = -1;
			return;
		}
		column->offset = att_align_nominal(column->offset, before->attalign) +
			before->attlen;
	}
	/* where a variable length begins depends on it, too */
	column->offset = att->attlen <= 0 ? -1 :
		(int) att_align_nominal(column->offset, att->attalign);
}

/*
 * BloomScanEnterPage
 *		The scan has returned a row of this page: which are behind it?
 *
 * False if the scan has no list of them: then each row is the first of a page.
 */
bool
BloomScanEnterPage(ScanPage *page, TableScanDesc scan)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	if (!(scan->rs_flags & SO_ALLOW_PAGEMODE))
		return false;
	page->block = heap->rs_cblock;
	page->is_cold = true;
	page->rows = &heap->rs_vistuples[heap->rs_cindex + 1];
	page->nrows = (int) heap->rs_ntuples - (int) heap->rs_cindex - 1;
	memset(page->keep, true, page->nrows);
	return true;
}

static inline HeapTupleHeader
Tuple(Page page, OffsetNumber row)
{
	return (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, row));
}

/* The header and the key may be in two lines of memory. */
static inline void
Expect(HeapTupleHeader tuple, const ScanColumn *column)
{
	Prefetch(&tuple->t_infomask);
	Prefetch((char *) tuple + MAXALIGN(SizeofHeapTupleHeader) +
			 Max(column->offset, 0));
}

/*
 * ReadRows
 *		The values of a column of this length.  Called with constants, so that
 *		the loop is that of one length, and with copies of what does not change.
 */
static pg_attribute_always_inline void
ReadRows(const OffsetNumber *rows, int nrows, Page buffer, TupleDesc desc,
		 ScanColumn *column, int16 len, int ahead, Datum *keys, bool *keep)
{
	ScanColumn	c = *column;

	c.len = len;
	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;

		if (i + ahead < nrows)
			Expect(Tuple(buffer, rows[i + ahead]), &c);
		keys[i] = BloomScanKey(&c, Tuple(buffer, rows[i]), desc, &isnull);
		if (isnull)
			keep[i] = false;
	}
	Counted(column->seen = c.seen);
}

/*
 * BloomScanReadPage
 *		The keys of all rows.  Those of which it is null are not kept.
 *
 * Keys by reference lie in the page, as long as the scan stays there (rule 20).
 */
void
BloomScanReadPage(ScanPage *page, TableScanDesc scan, ScanColumn *column,
				  Datum *keys)
{
	Page		buffer = BufferGetPage(((HeapScanDesc) scan)->rs_cbuf);
	TupleDesc	desc = RelationGetDescr(scan->rs_rd);
	int			ahead = page->is_cold ? AHEAD : page->nrows;

	for (int i = 0; page->is_cold && i < Min(AHEAD, page->nrows); i++)
		Expect(Tuple(buffer, page->rows[i]), column);
	page->is_cold = false;
	if (column->byval && column->len == sizeof(int32))
		ReadRows(page->rows, page->nrows, buffer, desc, column, sizeof(int32),
				 ahead, keys, page->keep);
	else if (column->byval && column->len == sizeof(int64))
		ReadRows(page->rows, page->nrows, buffer, desc, column, sizeof(int64),
				 ahead, keys, page->keep);
	else
		ReadRows(page->rows, page->nrows, buffer, desc, column, column->len,
				 ahead, keys, page->keep);
}

/*
 * BloomScanKeepRows
 *		Take the rows that are not kept out of the scan's list.  Returns how
 *		many these were.
 *
 * The row that the scan stands on stays, whatever it is: the scan goes on
 * from there (rule 18).  The server's statistics count them as read.
 */
int
BloomScanKeepRows(ScanPage *page, TableScanDesc scan)
{
	HeapScanDesc heap = (HeapScanDesc) scan;
	OffsetNumber *rows = page->rows;
	int			nrows = page->nrows;
	int			nkept = 0;
	int			ndropped;

	for (int i = 0; i < nrows; i++)
	{
		rows[nkept] = rows[i];
		nkept += page->keep[i];
	}
	ndropped = nrows - nkept;
	page->nrows = nkept;
	heap->rs_ntuples = heap->rs_cindex + 1 + nkept;
	memset(page->keep, true, nkept);
	/* named after indexes, but this counts what any scan of it returns */
	pgstat_count_index_tuples(scan->rs_rd, ndropped);
	return ndropped;
}
