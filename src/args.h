/*-------------------------------------------------------------------------
 *
 * args.h
 *		Arguments and results of SQL-callable functions, in all libraries.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_ARGS_H
#define BLOOM_ARGS_H

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"

#include "compat.h"

/* An error if an argument of a function that is not strict is null. */
static inline void
BloomCheckNotNull(bool is_null, const char *name)
{
	if (is_null)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* One row as the result of a function with OUT parameters. */
static inline Datum
BloomReturnRow(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	tupdesc = BlessTupleDesc(tupdesc);
	return HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls));
}

/*
 * BloomCheckCapacity
 *		A capacity as a whole number.  An error unless it is at least 1, and at
 *		most this.  The hint is for callers that take an fp_prob, too.
 */
static inline uint64
BloomCheckCapacity(double capacity, double most, bool has_fp_prob)
{
	/* not NaN, either */
	if (!(capacity >= 1 && capacity <= most))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity %.16g is out of range", capacity),
				 errdetail("capacity is a number of distinct keys, at least 1 and at most %.0f.",
						   most),
				 has_fp_prob && capacity > 0 && capacity < 1 ?
				 errhint("If this is fp_prob, name the capacity before it: (capacity, fp_prob).") : 0));
	return (uint64) ceil(capacity);
}

#endif							/* BLOOM_ARGS_H */
