/*-------------------------------------------------------------------------
 *
 * filter/typmod.c
 *		The type modifier: capacity and fp_prob in a number, and as a text.
 *
 * What it means for a filter is in filter/assign.c.
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
#include "filter/typmod.h"

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
