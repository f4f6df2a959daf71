/*-------------------------------------------------------------------------
 *
 * scan.h
 *		Joins that filter by themselves: what the files share.
 *
 * scan/README has the rules, and their reasons.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_H
#define BLOOM_SCAN_H

#include "executor/hashjoin.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "scan/scan_compat.h"
#include "scan/page.h"

/* a join with more keys has no filter */
#define SCAN_MAX_KEYS	8

/* For tests: what to do with tables too small for a filter to pay. */
typedef enum ScanTesting
{
	SCAN_TESTING_OFF,			/* none: they have no node */
	SCAN_TESTING_SMALL,			/* as with large ones, in small steps */
	SCAN_TESTING_FORCE,			/* filter always, and never give up */
	SCAN_TESTING_UNSEEN			/* the same, but not for EXPLAIN */
} ScanTesting;

/* A key whose values can be the positions of a bitmap, by its type. */
typedef enum ScanInteger
{
	SCAN_NO_INTEGER,
	SCAN_INT2,
	SCAN_INT4,					/* and date */
	SCAN_OID,					/* without sign */
	SCAN_INT8					/* and times */
} ScanInteger;

/* What is looked into. */
typedef struct ScanBits
{
	uint64	   *words;			/* NULL if not made */
	uint64		nwords;
	bool		is_bitmap;
	int64		base;			/* of a bitmap: the value of the first bit */
	uint64		span;			/* of a bitmap: the number of the last one */
} ScanBits;

/*
 * The filter of a hash join: the hash values that its table stores, or a
 * bitmap of the values themselves.
 *
 * A generation is the time from one table to the next.  What was made in one
 * is not valid in another: its memory has gone with its table.
 */
typedef struct ScanFilter
{
	HashJoinState *join;
	ScanTesting testing;
	bool		trusted;		/* hash functions may see any row */
	int			nkeys;
	FmgrInfo	outer_hash[SCAN_MAX_KEYS];
	FmgrInfo	inner_hash[SCAN_MAX_KEYS];
	Oid			collation[SCAN_MAX_KEYS];
	ScanColumn	inner[SCAN_MAX_KEYS];	/* of the tuples in the table */
	ScanInteger outer_integer;	/* if there may be a bitmap */
	ScanInteger inner_integer;
	TupleDesc	inner_desc;

	/* of this generation */
	uint64		generation;		/* at least 1 */
	HashJoinTable table;		/* NULL if we do not know of one */
	ScanBits	bits;
	bool		refused;		/* there will be none */

	/* for EXPLAIN and tests */
	Size		peak;			/* bytes */
	int			nmade;
	int			nbitmaps;		/* of these */
	int			nspilled;		/* from several batches */
	int			ngrown;			/* of these, more than were planned */
	int			nskewed;		/* with tuples of the most common outer keys */
} ScanFilter;

/* What a filter is about to do at a place. */
typedef enum UseState
{
	SCAN_WAITING,				/* until rows have come that pay for it */
	SCAN_ON,
	SCAN_PAUSED,				/* it drops too little */
	SCAN_GONE					/* it does not pay */
} UseState;

/* The use of a filter at a place: its columns there, and whether it pays. */
typedef struct ScanUse
{
	ScanFilter *filter;
	AttrNumber	attno[SCAN_MAX_KEYS];	/* of the slot that is tested */
	AttrNumber	out_attno[SCAN_MAX_KEYS];	/* of the child's result */
	ScanColumn	column[SCAN_MAX_KEYS];	/* of the table, if pages are tested */
	uint32		passed;			/* kinds of nodes between join and place */

	UseState	state;
	uint64		generation;		/* that the state is about */
	uint64		on;				/* the generation if state is SCAN_ON, or 0 */
	uint64		paged;			/* that which has tested the rows of this page */
	uint64		wait;			/* rows before the next step, unless on */
	uint64		sampled;		/* outer rows, of a table in batches */
	uint64		unmatched;		/* of these */
	uint32		tested;			/* rows of this window */
	uint32		rejected;		/* of this window */
	double		rate;			/* of rejection in the last window, or sample */
	int			npauses;		/* since it last paid */

	/* for tests */
	uint64		total_rejected;
	uint64		page_rejected;	/* before they were in a slot */
	uint32		steps;			/* states that it has been in */
	int			nagain;			/* generations after the first */
} ScanUse;

/* filter.c */
extern Node *BloomScanPlain(Node *expr);
extern bool BloomScanQuiet(PlanState *ps);
extern bool BloomScanQuietList(List *expressions);
extern ScanFilter *BloomScanFilterOf(HashJoinState *join);
extern bool BloomScanKnow(ScanFilter *filter);
extern uint32 BloomScanSample(const ScanFilter *filter, uint32 hash, bool *found);
extern bool BloomScanMake(ScanFilter *filter, double share);

/* where.c */
typedef struct ScanWhere ScanWhere;
extern ScanWhere *BloomScanWhereOf(SeqScanState *scan, ScanTesting testing);
extern int	BloomScanTestWhere(ScanWhere *where, ScanPage *page,
							   TableScanDesc desc);
extern void BloomScanBeginWhere(ScanWhere *where);
extern bool BloomScanMeets(ScanWhere *where, ScanPage *page, bool is_new);
extern char *BloomScanExplainWhere(const ScanWhere *where, List *ancestors,
								   ExplainState *es);
extern void BloomScanReportWhere(const ScanWhere *where, int nbackward,
								 int nrescans, uint64 njoined);

/* node.c */
extern PlanState *BloomScanBelow(PlanState *ps);
extern void BloomScanPlace(PlanState **link, ScanFilter *filter,
						   const AttrNumber *attno, uint32 passed);
extern void BloomScanPlaceWhere(PlanState **link, ScanWhere *where);

#define SCAN_WORD_BITS	64

/* Spread the 32 bits of a hash over 64. */
static inline uint64
BloomScanMix(uint32 hash)
{
	uint64		x = hash;

	x *= UINT64CONST(0x9E3779B97F4A7C15);
	x ^= x >> 32;
	x *= UINT64CONST(0xD6E8FEB86659FD93);
	x ^= x >> 32;
	return x;
}

/* Four bits, all of one word: one look at memory. */
static inline uint64
BloomScanMask(uint64 mixed)
{
	return (UINT64CONST(1) << (mixed & 63)) |
		(UINT64CONST(1) << ((mixed >> 6) & 63)) |
		(UINT64CONST(1) << ((mixed >> 12) & 63)) |
		(UINT64CONST(1) << ((mixed >> 18) & 63));
}

/* nwords is below 2^32: see BloomScanMake */
static inline uint64
BloomScanWord(uint64 mixed, uint64 nwords)
{
	return ((mixed >> 32) * nwords) >> 32;
}

static inline void
BloomScanAdd(const ScanBits *bits, uint32 hash)
{
	uint64		mixed = BloomScanMix(hash);

	bits->words[BloomScanWord(mixed, bits->nwords)] |= BloomScanMask(mixed);
}

/* False is certain: the table has no tuple of this hash. */
static inline bool
BloomScanHasHash(const ScanBits *bits, uint32 hash)
{
	uint64		mixed = BloomScanMix(hash);
	uint64		mask = BloomScanMask(mixed);

	return (bits->words[BloomScanWord(mixed, bits->nwords)] & mask) == mask;
}

static inline int64
BloomScanInteger(ScanInteger type, Datum value)
{
	switch (type)
	{
		case SCAN_INT2:
			return DatumGetInt16(value);
		case SCAN_INT4:
			return DatumGetInt32(value);
		case SCAN_OID:
			return DatumGetObjectId(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Exact.  Written so that the processor need not guess which rows are kept. */
static inline bool
BloomScanHasValue(const ScanBits *bits, int64 value)
{
	uint64		at = (uint64) value - (uint64) bits->base;
	bool		inside = at <= bits->span;

	at &= -(uint64) inside;
	return inside & (bits->words[at / SCAN_WORD_BITS] >> (at % SCAN_WORD_BITS));
}

#endif							/* BLOOM_SCAN_H */
