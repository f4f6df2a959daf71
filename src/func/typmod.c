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
 * The number
 * ----------
 *
 * Both arguments have at most three significant digits, and are kept as they
 * are written, in decimal:
 *
 *		bits 14 to 26	capacity: m + 1000 e stands for m * 10^e, m < 1000
 *		bits 0 to 13	fp_prob: m + 1000 e stands for m / 10^(e + 3), m < 1000
 *
 * A quotient of two numbers that a double holds exactly is rounded as the text
 * of the number is: so 0.01 is the same as elsewhere.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/guc.h"

#include "filter/call.h"
#include "filter/fetch.h"
#include "filter/setops.h"
#include "func/typmod.h"

#define DIGITS			1000	/* one more than the largest mantissa */
#define RATE_BITS		14
#define RATE_MASK		((1 << RATE_BITS) - 1)

/* What a call site keeps: the shape of a type modifier */
typedef struct TypmodSite
{
	int32		typmod;
	bool		has_warned;
	BloomShape	shape;
} TypmodSite;

static const char *
NameOfType(BloomKind kind)
{
	return kind == BLOOM_COUNTING ? "counting_bloom" : "bloom";
}

/* ----------------------------------------------------------------
 *							THE NUMBER
 * ----------------------------------------------------------------
 */

static double
PowerOf10(int n)
{
	double		power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

static double
TypmodCapacity(int32 typmod)
{
	int			code = typmod >> RATE_BITS;

	return code % DIGITS * PowerOf10(code / DIGITS);
}

/*
 * BloomTypmodRate
 *		The fp_prob of a type modifier.
 */
double
BloomTypmodRate(int32 typmod)
{
	int			code = typmod & RATE_MASK;

	return code % DIGITS / PowerOf10(code / DIGITS + 3);
}

/*
 * The shape that a type modifier asks for.  An error if there is none, as in a
 * number that no type modifier is.
 */
static BloomShape
TypmodShape(BloomKind kind, int32 typmod)
{
	return BloomShapeFor(kind, TypmodCapacity(typmod),
						 BloomTypmodRate(typmod), 0);
}

/*
 * The type modifier of the next larger capacity of three digits, or of the next
 * smaller one; both are the capacity itself, if it has no more.
 */
static int32
CapacityCode(uint64 capacity, bool larger)
{
	int			exponent = 0;

	for (; capacity >= DIGITS; exponent++)
		capacity = (capacity + (larger ? 9 : 0)) / 10;
	return (int32) ((capacity + exponent * DIGITS) << RATE_BITS);
}

/* The same of a rate, which the type modifier's functions have checked. */
static int32
RateCode(double fp_prob, bool larger)
{
	/* the product is rounded, too */
	const double error = 1e-6;
	int			exponent = 3;
	double		mantissa;

	while (fp_prob * PowerOf10(exponent) < DIGITS / 10 - error)
		exponent++;
	mantissa = fp_prob * PowerOf10(exponent);
	mantissa = larger ? ceil(mantissa - error) : floor(mantissa + error);
	return (int32) Min(mantissa, DIGITS - 1) + (exponent - 3) * DIGITS;
}

static char *
TypmodText(int32 typmod, const char *separator)
{
	return psprintf("(%.0f%s%.3g)", TypmodCapacity(typmod), separator,
					BloomTypmodRate(typmod));
}

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
					 errmsg("too many type modifiers for type %s", NameOfType(kind)) :
					 errmsg("invalid type modifier for type %s: \"%s\"",
							NameOfType(kind), text),
					 errdetail("The type modifiers are a capacity and an fp_prob, which is %g by default.",
							   BLOOM_DEFAULT_FP_PROB),
					 errhint("For example, write %s(100000, 0.01).",
							 NameOfType(kind))));
	}
	return ntexts;
}

/* The type modifier of type kind(capacity [, fp_prob]). */
static Datum
TypmodIn(FunctionCallInfo fcinfo, BloomKind kind)
{
	double		numbers[2] = {0, BLOOM_DEFAULT_FP_PROB};
	BloomShape	shape;
	BloomParams params;
	int32		typmod;

	(void) ParseTypmods(fcinfo, kind, numbers);
	shape = BloomShapeFor(kind, numbers[0], numbers[1], 0);
	typmod = CapacityCode(shape.capacity, true) | RateCode(shape.fp_prob, false);
	if (TypmodCapacity(typmod) == (double) shape.capacity &&
		BloomTypmodRate(typmod) == shape.fp_prob)
		PG_RETURN_INT32(typmod);

	/* the promise is kept by a larger capacity and a lower rate, if they fit */
	if (!BloomBestParams(BloomTypmodRate(typmod), &params) ||
		TypmodCapacity(typmod) > BloomMaxPositions(kind) / params.bits_per_key)
		typmod = CapacityCode(shape.capacity, false) | RateCode(shape.fp_prob, true);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("type modifiers of type %s have too many digits",
					NameOfType(kind)),
			 errdetail("A capacity or fp_prob with more than three significant digits does not fit into a type modifier."),
			 errhint("A type that fits is %s%s.",
					 NameOfType(kind), TypmodText(typmod, ", "))));
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
	PG_RETURN_CSTRING(TypmodText(PG_GETARG_INT32(0), ","));
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
		site->shape = TypmodShape(kind, typmod);
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
	const char *unit = counting ? "counters" : "bits";
	const char *type = NameOfType(BloomKindOf(filter));
	const char *modifiers = TypmodText(typmod, ", ");

	(void) fcinfo;
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not have the shape of type %s%s",
					BloomKindName(BloomKindOf(filter)), type, modifiers),
			 errdetail("It has " UINT64_FORMAT " %s and %d hashes, not " UINT64_FORMAT " %s and %d hashes, and no longer holds its keys, by which it could be made anew.",
					   BloomBits(filter), unit, filter->hashes,
					   shape->bits, unit, shape->hashes),
			 counting ?
			 errhint("Build it by counting_bloom_agg(key, %.0f, %.3g) or counting_bloom_empty%s.",
					 TypmodCapacity(typmod), BloomTypmodRate(typmod), modifiers) :
			 errhint("Build it by bloom_agg(key, %.0f, %.3g) or bloom_empty%s; bloom_agg(key) chooses a shape for its keys.",
					 TypmodCapacity(typmod), BloomTypmodRate(typmod), modifiers)));
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
