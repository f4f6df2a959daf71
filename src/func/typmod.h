/*-------------------------------------------------------------------------
 *
 * func/typmod.h
 *		The type modifier: a column of filters of one shape.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_TYPMOD_H
#define BLOOM_TYPMOD_H

#include "fmgr.h"

extern Datum BloomApplyTypmod(FunctionCallInfo fcinfo, Datum filter,
							  int32 typmod);
extern Datum BloomReturnInput(FunctionCallInfo fcinfo, Datum filter);

#endif							/* BLOOM_TYPMOD_H */
