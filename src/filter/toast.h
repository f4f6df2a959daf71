/*-------------------------------------------------------------------------
 *
 * filter/toast.h
 *		Single bits of a value in a TOAST table.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TOAST_H
#define BLOOM_TOAST_H

/* Most bits of one test */
#define BLOOM_TOAST_BITS	64

extern bool BloomToastTestBits(Datum stored, Size offset, int width,
							   uint64 *positions, int npositions);

#endif							/* BLOOM_TOAST_H */
