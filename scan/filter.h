/*-------------------------------------------------------------------------
 *
 * filter.h
 *		The filter of a hash join, made of what its hash table stores.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_FILTER_H
#define BLOOM_SCAN_FILTER_H

#include "executor/hashjoin.h"
#include "fmgr.h"
#include "nodes/execnodes.h"

#include "scan/page.h"
#include "scan/price.h"
#include "scan/report.h"

/* a join with more keys has no filter */
#define SCAN_MAX_KEYS	8

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
	bool		dear;			/* a key costs much to hash */
	int			nkeys;
	FmgrInfo	outer_hash[SCAN_MAX_KEYS];
	FmgrInfo	inner_hash[SCAN_MAX_KEYS];
	Oid			collation[SCAN_MAX_KEYS];
	double		bytes[SCAN_MAX_KEYS];	/* of an outer key, on average */
	ScanColumn	inner[SCAN_MAX_KEYS];	/* of the tuples in the table */
	ScanInteger outer_integer;	/* if there may be a bitmap */
	ScanInteger inner_integer;
	TupleDesc	inner_desc;

	/* of this generation */
	uint64		generation;		/* at least 1 */
	HashJoinTable table;		/* NULL if we do not know of one */
	ScanBits	bits;
	bool		refused;		/* there will be none */

	double		rate;			/* that a use of it has measured; or -1 */
	uint64		seen;			/* rows that have come to its uses */
	uint64		rest;			/* before the next of these looks what it
								 * drops */

	Size		peak;			/* bytes, for EXPLAIN */
				Counted(ScanFilterCounts counts);
} ScanFilter;

extern ScanFilter *BloomScanFilterOf(HashJoinState *join, ScanTesting testing);
extern bool BloomScanFindTable(ScanFilter *filter);
extern double BloomScanHashOuterPrice(const ScanFilter *filter);
extern double BloomScanJoinPrice(const ScanFilter *filter);
extern double BloomScanMakingPrice(const ScanFilter *filter);
extern uint32 BloomScanSample(const ScanFilter *filter, uint32 hash, bool *found);
extern bool BloomScanMakeFilter(ScanFilter *filter);

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

/* nwords is below 2^32: see BloomScanMakeFilter */
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

#endif							/* BLOOM_SCAN_FILTER_H */
