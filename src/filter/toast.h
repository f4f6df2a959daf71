/*-------------------------------------------------------------------------
 *
 * filter/toast.h
 *		Parts of a value in a TOAST table, and single bits of it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TOAST_H
#define BLOOM_TOAST_H

extern bool BloomHasParts(Datum datum);
extern void BloomFetchSlice(Datum stored, Size offset, Size len, void *out);
extern void BloomToastRead(Datum stored, Size size, struct varlena *out);
extern bool BloomToastTestBits(Datum stored, Size offset, int width,
							   const uint64 *positions, int npositions);

#endif							/* BLOOM_TOAST_H */
