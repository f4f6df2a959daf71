/*-------------------------------------------------------------------------
 *
 * filter/typmod.c
 *		The type modifier: a column of filters of one shape.
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

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/guc.h"

#include "args.h"
#include "filter/fetch.h"
#include "filter/setops.h"
#include "filter/typmod.h"

/* What a call site keeps: the shape of its type modifier */
typedef struct TypmodSite
{
	int32		typmod;
	BloomShape	shape;
} TypmodSite;

/* ----------------------------------------------------------------
 *							THE NUMBER
 *
 * Capacity and fp_prob have at most three significant digits, and are kept as
 * they are written, in decimal:
 *
 *		bits 14 to 26	capacity: m + 1000 e stands for m * 10^e, m < 1000
 *		bits 0 to 13	fp_prob: m + 1000 e stands for m / 10^(e + 3), m < 1000
 *
 * A quotient of two numbers that a double holds exactly is rounded as the text
 * of the number is: so 0.01 is the same as elsewhere.
 * ----------------------------------------------------------------
 */

#define DIGITS			1000	/* one more than the largest mantissa */
#define RATE_BITS		14
#define RATE_MASK		((1 << RATE_BITS) - 1)

static double
PowerOf10(int n)
{
	double		power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/*
 * BloomTypmodCapacity
 *		The capacity of a type modifier.
 */
double
BloomTypmodCapacity(int32 typmod)
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
 * BloomTypmodShape
 *		The shape that a type modifier asks for.  An error if there is none, as
 *		in a number that no type modifier is.
 */
BloomShape
BloomTypmodShape(BloomKind kind, int32 typmod)
{
	return BloomShapeFor(kind, BloomTypmodCapacity(typmod),
						 BloomTypmodRate(typmod), 0);
}

/*
 * BloomTypmodText
 *		A type modifier, as it stands behind the name of the type.
 */
char *
BloomTypmodText(int32 typmod, const char *separator)
{
	return psprintf("(%.0f%s%.3g)", BloomTypmodCapacity(typmod), separator,
					BloomTypmodRate(typmod));
}

/*
 * The next larger capacity of three digits, or the next smaller one; both are
 * the capacity itself, if it has no more.
 */
static int32
CapacityCode(uint64 capacity, bool larger)
{
	int			exponent = 0;

	for (; capacity >= DIGITS; exponent++)
		capacity = (capacity + (larger ? 9 : 0)) / 10;
	return (int32) ((capacity + exponent * DIGITS) << RATE_BITS);
}

/* The same of a rate, which is in range. */
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

/*
 * BloomTypmodFor
 *		The type modifier of a capacity and a rate.
 *
 * If they have too many digits, that of the next larger capacity and lower rate,
 * with which a filter of this kind keeps the promise; if such a filter would be
 * too large, of the next smaller and higher.  -1 if there is none.
 */
int32
BloomTypmodFor(BloomKind kind, uint64 capacity, double fp_prob)
{
	BloomParams params;

	if (capacity > BLOOM_MAX_CAPACITY || !BloomBestParams(fp_prob, &params))
		return -1;
	for (int i = 0; i < 2; i++)
	{
		int32		typmod = CapacityCode(capacity, i == 0) | RateCode(fp_prob, i > 0);

		if (BloomBestParams(BloomTypmodRate(typmod), &params) &&
			BloomTypmodCapacity(typmod) <= BloomMaxPositions(kind) / params.bits_per_key)
			return typmod;
	}
	return -1;
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
