/*-------------------------------------------------------------------------
 *
 * filter/typmod.h
 *		The type modifier: a column of filters of one shape.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TYPMOD_H
#define BLOOM_TYPMOD_H

#include "filter/format.h"

/* filter/typmod.c */
extern double BloomTypmodCapacity(int32 typmod);
extern double BloomTypmodRate(int32 typmod);
extern BloomShape BloomTypmodShape(BloomKind kind, int32 typmod);
extern int32 BloomTypmodFor(BloomKind kind, uint64 capacity, double fp_prob);
extern char *BloomTypmodText(int32 typmod, const char *separator);

/* filter/assign.c */
extern Datum BloomReturnInput(FunctionCallInfo fcinfo, Datum filter);

#endif							/* BLOOM_TYPMOD_H */
