/*-------------------------------------------------------------------------
 *
 * func/typmod.c
 *		The type modifier: a column of filters of one shape.
 *
 * A column of type bloom(100000, 0.01) takes filters of the bits and hashes
 * that bloom_empty(100000, 0.01) has, and no others, so that all of its filters
 * can be combined.  A filter that still holds its keys is made anew in that
 * shape, which is exact.  Of one in bits form the keys are not known: that is an
 * error, where it is stored and not where it is combined.
 *
 * The seed is no part of it.  A filter keeps the one that it has, since of the
 * keys only hashes are known, which are by that seed.
 *
 * Bits that are a whole multiple of the column's could be folded (bits/fold.h).
 * They are not: whether one size is a multiple of another is chance, and
 * a fold raises the rate.
 *
 * What the number of a type modifier means is in filter/format.c.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/guc.h"

#include "filter/call.h"
#include "filter/fetch.h"
#include "filter/setops.h"
#include "func/typmod.h"

/* What a call site keeps: the shape of a type modifier */
typedef struct TypmodSite
{
	int32		typmod;
	bool		has_warned;
	BloomShape	shape;
} TypmodSite;

/* ----------------------------------------------------------------
 *						INPUT AND OUTPUT
 * ----------------------------------------------------------------
 */

/* The numbers in parentheses behind a type's name: one, or two. */
static int
ParseTypmods(FunctionCallInfo fcinfo, BloomKind kind, double *numbers)
{
	Datum	   *texts;
	int			ntexts;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), CSTRINGOID, -2, false,
					  TYPALIGN_CHAR, &texts, NULL, &ntexts);
	for (int i = 0; i < ntexts; i++)
	{
		const char *text = DatumGetCString(texts[i]);

		if (ntexts > 2 || !parse_real(text, &numbers[i], 0, NULL))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 ntexts > 2 ?
					 errmsg("too many type modifiers for type %s", BloomTypeName(kind)) :
					 errmsg("invalid type modifier for type %s: \"%s\"",
							BloomTypeName(kind), text),
					 errdetail("The type modifiers are a capacity and an fp_prob, which is %g by default.",
							   BLOOM_DEFAULT_FP_PROB),
					 errhint("For example, write %s(100000, 0.01).",
							 BloomTypeName(kind))));
	}
	return ntexts;
}

/* The type modifier of type kind(capacity [, fp_prob]). */
static Datum
TypmodIn(FunctionCallInfo fcinfo, BloomKind kind)
{
	double		numbers[2] = {0, BLOOM_DEFAULT_FP_PROB};
	BloomShape	shape;
	int32		typmod;

	(void) ParseTypmods(fcinfo, kind, numbers);
	shape = BloomShapeFor(kind, numbers[0], numbers[1], 0);
	typmod = BloomTypmodFor(kind, shape.capacity, shape.fp_prob);
	if (BloomTypmodCapacity(typmod) == (double) shape.capacity &&
		BloomTypmodRate(typmod) == shape.fp_prob)
		PG_RETURN_INT32(typmod);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("type modifiers of type %s have too many digits",
					BloomTypeName(kind)),
			 errdetail("A capacity or fp_prob with more than three significant digits does not fit into a type modifier."),
			 errhint("A type that fits is %s%s.",
					 BloomTypeName(kind), BloomTypmodText(typmod, ", "))));
}

/*
 * _bloom_typmod_in, _counting_bloom_typmod_in
 *		Type modifier input functions: capacity, and fp_prob.
 */
PG_FUNCTION_INFO_V1(_bloom_typmod_in);
Datum
_bloom_typmod_in(PG_FUNCTION_ARGS)
{
	return TypmodIn(fcinfo, BLOOM_PLAIN);
}

PG_FUNCTION_INFO_V1(_counting_bloom_typmod_in);
Datum
_counting_bloom_typmod_in(PG_FUNCTION_ARGS)
{
	return TypmodIn(fcinfo, BLOOM_COUNTING);
}

/*
 * _bloom_typmod_out
 *		Type modifier output function.
 */
PG_FUNCTION_INFO_V1(_bloom_typmod_out);
Datum
_bloom_typmod_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(BloomTypmodText(PG_GETARG_INT32(0), ","));
}

/* ----------------------------------------------------------------
 *							VALUES
 * ----------------------------------------------------------------
 */

/* The shape of a type modifier, computed once for a call site. */
static TypmodSite *
GetSite(FunctionCallInfo fcinfo, BloomKind kind, int32 typmod)
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
	return site;
}

/* A filter in bits form of another shape: an error, and the way out. */
static Datum
ReportShape(FunctionCallInfo fcinfo, const Bloom *filter, int32 typmod,
			const BloomShape *shape)
{
	bool		counting = BloomIsCounting(filter);
	const char *unit = BloomUnit(BloomKindOf(filter));
	const char *type = BloomTypeName(BloomKindOf(filter));
	const char *modifiers = BloomTypmodText(typmod, ", ");

	(void) fcinfo;
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not have the shape of type %s%s",
					BloomKindName(BloomKindOf(filter)), type, modifiers),
			 errdetail("It has " UINT64_FORMAT " %s and %d hashes, not " UINT64_FORMAT " %s and %d hashes, and no longer holds its keys, by which it could be made anew.",
					   BloomBits(filter), unit, filter->hashes,
					   shape->bits, unit, shape->hashes),
			 counting ?
			 errhint("Build it anew from its keys, by counting_bloom_agg(key, %.0f, %.3g) or counting_bloom_empty%s.",
					 BloomTypmodCapacity(typmod), BloomTypmodRate(typmod), modifiers) :
			 errhint("Build it anew from its keys, by bloom_agg(key, %.0f, %.3g) or bloom_empty%s; bloom_agg(key) chooses a shape for its keys.",
					 BloomTypmodCapacity(typmod), BloomTypmodRate(typmod), modifiers)));
}

/*
 * BloomApplyTypmod
 *		The filter in the shape of a type modifier: the same datum, if it has
 *		that.
 *
 * Of that, only the header is read.  An error that the caller may have asked to
 * be told of is one of its context.
 */
Datum
BloomApplyTypmod(FunctionCallInfo fcinfo, Datum datum, int32 typmod)
{
	const Bloom *filter;
	TypmodSite *site;
	BloomShape	shape;
	BloomKeyType key_type;

	if (typmod < 0)
		return datum;
	filter = BloomFetchHeader(datum);
	site = GetSite(fcinfo, BloomKindOf(filter), typmod);
	shape = site->shape;
	if (BloomBits(filter) == shape.bits && filter->hashes == shape.hashes)
		return datum;
	if (BloomIsBits(filter))
		return ReportShape(fcinfo, filter, typmod, &shape);

	filter = BloomFetch(datum);
	key_type = BloomKeyTypeOf(filter);
	shape.seed = (int64) filter->seed;
	return BloomReturnAdded(&site->has_warned,
							BloomAddKeys(BloomMake(&shape, &key_type,
												   BloomKindOf(filter) | BLOOM_KEYS, 0),
										 BloomKeysOf(filter), &key_type));
}

/*
 * BloomReturnInput
 *		What an input function returns: the filter in the shape of its third
 *		argument, a type modifier.
 *
 * No filter is an error that its caller is told of.  Whoever declares a function
 * with one argument has no third one.
 */
Datum
BloomReturnInput(FunctionCallInfo fcinfo, Datum filter)
{
	if (DatumGetPointer(filter) == NULL || PG_NARGS() < 3)
		return filter;
	return BloomApplyTypmod(fcinfo, filter, PG_GETARG_INT32(2));
}

/*
 * _bloom_to_shape
 *		The filter in the shape of a type modifier.
 *
 * The server calls it where a value comes to a column, or a variable, of a type
 * with a modifier.
 */
PG_FUNCTION_INFO_V1(_bloom_to_shape);
Datum
_bloom_to_shape(PG_FUNCTION_ARGS)
{
	return BloomApplyTypmod(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_INT32(1));
}
