/*-------------------------------------------------------------------------
 *
 * filter/assign.c
 *		A filter that is assigned or cast to a type with a modifier.
 *
 * A column of type bloom(100000, 0.01) has filters of the bits and hashes that
 * bloom_empty(100000, 0.01) has.  Those of one seed and key type can then be
 * combined.  Seed and key type are no part of the shape: each filter has its own.
 *
 * - A filter of these bits and hashes is stored as it is, in either form.
 *
 * - One without keys takes the shape, and keeps its seed and key type.
 *
 * - Any other is an error where it is stored, not where it is combined.  Whether
 *	 a filter still has its keys depends on their number.  So this does not
 *	 matter here: an INSERT that works for few keys must not fail for many.
 *
 * - An explicit cast says that a filter is to be made anew.  That is possible
 *	 while it has its keys, and exact if the new capacity is enough for them.
 *
 * The bits of a filter can be folded to a divisor of their number (bits/fold.h).
 * That is not done here: whether one size divides another is chance, and a fold
 * raises the rate.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "filter/fetch.h"
#include "filter/setops.h"
#include "filter/typmod.h"

/* What a call site keeps: the shape of its type modifier */
typedef struct TypmodSite
{
	int32		typmod;
	BloomShape	shape;
} TypmodSite;

/* The shape of a type modifier, computed once for a call site. */
static const BloomShape *
ShapeOfTypmod(FunctionCallInfo fcinfo, BloomKind kind, int32 typmod)
{
	TypmodSite *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									  sizeof(TypmodSite));
		site->typmod = -1;
		fcinfo->flinfo->fn_extra = site;
	}
	if (site->typmod != typmod)
	{
		site->shape = BloomTypmodShape(kind, typmod);
		site->typmod = typmod;
	}
	return &site->shape;
}

/* The error of a filter of another shape, with what makes the right one. */
static Datum
ReportShape(FunctionCallInfo fcinfo, const Bloom *filter, int32 typmod,
			const BloomShape *shape)
{
	BloomKind	kind = BloomKindOf(filter);
	const char *unit = BloomUnit(kind);
	const char *type = BloomTypeName(kind);
	const char *modifiers = BloomTypmodText(typmod, ", ");

	(void) fcinfo;
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not have the shape of type %s%s",
					BloomKindName(kind), type, modifiers),
			 errdetail("It has " UINT64_FORMAT " %s and %d hashes, not " UINT64_FORMAT " %s and %d hashes.",
					   BloomBits(filter), unit, filter->hashes,
					   shape->bits, unit, shape->hashes),
			 BloomIsBits(filter) ?
			 errhint("Build it by %s_agg(key, %s or from %s_empty%s.",
					 type, modifiers + 1, type, modifiers) :
			 filter->count > shape->capacity ?
			 errhint("It holds " UINT64_FORMAT " keys, which are more than fit. Build it by %s_agg(key, %s or from %s_empty%s.",
					 filter->count, type, modifiers + 1, type, modifiers) :
			 errhint("Build it by %s_agg(key, %s or from %s_empty%s. It still holds its keys, so that a cast turns it: filter::%s%s. ALTER TABLE takes that after USING.",
					 type, modifiers + 1, type, modifiers, type, modifiers)));
}

/*
 * The filter in the shape of a type modifier, or the error that it has another.
 *
 * Of one that has the shape, only the header is read.  Errors are soft if
 * fcinfo->context asks for that.
 */
static Datum
ApplyTypmod(FunctionCallInfo fcinfo, Datum datum, int32 typmod, bool is_explicit)
{
	const Bloom *filter;
	BloomShape	shape;
	BloomKeyType key_type;

	if (typmod < 0)
		return datum;
	filter = BloomFetchHeader(datum);
	shape = *ShapeOfTypmod(fcinfo, BloomKindOf(filter), typmod);
	if (BloomBits(filter) == shape.bits && filter->hashes == shape.hashes)
		return datum;
	if (BloomIsBits(filter) ||
		filter->count > (is_explicit ? shape.capacity : 0))
		return ReportShape(fcinfo, filter, typmod, &shape);

	filter = BloomFetch(datum);
	key_type = BloomKeyTypeOf(filter);
	shape.seed = (int64) filter->seed;
	filter = BloomAddKeys(BloomMake(&shape, &key_type,
									BloomKindOf(filter) | BLOOM_KEYS, 0),
						  BloomKeysOf(filter), &key_type);
	return PointerGetDatum(filter);
}

/*
 * BloomReturnInput
 *		What an input function returns: the filter in the shape of its third
 *		argument, a type modifier.
 *
 * If there is no filter, the input function has reported a soft error.  There is
 * no third argument if somebody else has declared the function without one.
 */
Datum
BloomReturnInput(FunctionCallInfo fcinfo, Datum filter)
{
	if (DatumGetPointer(filter) == NULL || PG_NARGS() < 3)
		return filter;
	return ApplyTypmod(fcinfo, filter, PG_GETARG_INT32(2), false);
}

/*
 * _bloom_to_shape
 *		The filter in the shape of a type modifier.
 *
 * The server calls it where a value is assigned or cast to a type with a
 * modifier.  The third argument tells whether the cast is written in the query.
 */
PG_FUNCTION_INFO_V1(_bloom_to_shape);
Datum
_bloom_to_shape(PG_FUNCTION_ARGS)
{
	return ApplyTypmod(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_INT32(1),
					   PG_GETARG_BOOL(2));
}
