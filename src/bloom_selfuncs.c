/*-------------------------------------------------------------------------
 *
 * bloom_selfuncs.c
 *		Selectivity: what the planner asks about filter @> key.
 *
 * When the filter is known at plan time, and the key is a column that was
 * analysed, there is much to go by:
 *
 * - The most common values are tested one by one.
 *
 * - Of the other distinct values, D of them, the filter holds those of its
 *	 keys that are not among the common ones, so a fraction q = keys / D, and
 *	 imagines the others at its false-positive rate p: q + (1 - q) p.
 *
 * - That takes for granted that the keys come from the column.  The bounds of
 *	 the histogram are a sample of its rows, so we test them as well.  If they
 *	 contradict the formula by more than chance, they are right.
 *
 * All of it is one estimator, behind the operators' restriction estimator and
 * the functions' support function.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "bloom_fetch.h"
#include "bloom_hash.h"

/*
 * A filter that is not known at plan time.  Filters are used where they are
 * expected to drop most rows; this is still careful, compared with 0.005 for
 * equality.
 */
#define DEFAULT_BLOOM_SEL		0.1

/* How many standard errors the sample may be away from the formula */
#define SAMPLE_TOLERANCE		3

/*
 * The fraction of a statistics slot's values that the filter possibly holds:
 * of rows, if they have frequencies, or else of the values themselves.
 *
 * False, if there is no such slot, or its values cannot be tested.
 */
typedef struct TestedValues
{
	int			nvalues;
	int			nhits;
	double		frequency;		/* of all values together */
	double		hit_frequency;	/* of those that the filter holds */
} TestedValues;

static bool
TestStatistics(const VariableStatData *vardata, int kind,
			   const Bloom *filter, Oid collation, TestedValues *tested)
{
	AttStatsSlot slot;
	BloomHasher hasher;
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	bool		with_numbers = kind == STATISTIC_KIND_MCV;
	bool		usable;

	memset(tested, 0, sizeof(TestedValues));
	if (!get_attstatsslot(&slot, vardata->statsTuple, kind, InvalidOid,
						  ATTSTATSSLOT_VALUES |
						  (with_numbers ? ATTSTATSSLOT_NUMBERS : 0)))
		return false;

	usable = BloomHasherTryInit(&hasher, slot.valuetype, collation) &&
		(filter->count == 0 || BloomSameKeyType(&hasher.key_type, &key_type));
	for (int i = 0; usable && i < slot.nvalues; i++)
	{
		uint64		hash = BloomHashDatum(&hasher, slot.values[i],
										  filter->seed);
		double		frequency = with_numbers ? slot.numbers[i] : 0;

		tested->nvalues++;
		tested->frequency += frequency;
		if (BloomTestHash(filter, hash))
		{
			tested->nhits++;
			tested->hit_frequency += frequency;
		}
	}
	free_attstatsslot(&slot);
	return usable;
}

/*
 * The selectivity of a known filter over a column.
 */
static double
SelectivityOfColumn(VariableStatData *vardata, const Bloom *filter,
					Oid function, Oid collation)
{
	double		rate = BloomRateNow(filter);
	double		keys = BloomCardinality(filter);
	bool		isdefault;
	double		distinct = get_variable_numdistinct(vardata, &isdefault);
	double		nullfrac = 0;
	double		held;
	double		rest;
	TestedValues common = {0};
	TestedValues sample = {0};

	if (HeapTupleIsValid(vardata->statsTuple))
	{
		nullfrac = ((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;

		/* the function sees values that the user perhaps may not */
		if (statistic_proc_security_check(vardata, function))
		{
			TestStatistics(vardata, STATISTIC_KIND_MCV, filter, collation,
						   &common);
			TestStatistics(vardata, STATISTIC_KIND_HISTOGRAM, filter,
						   collation, &sample);
		}
	}
	else if (isdefault)
		return DEFAULT_BLOOM_SEL;

	/* of the values that are not common, which fraction does it hold? */
	held = Max(keys - common.nhits, 0) / Max(distinct - common.nvalues, 1);
	held = Min(held, 1);
	rest = held + (1 - held) * rate;

	if (sample.nvalues > 0)
	{
		double		sampled = sample.nhits / (double) sample.nvalues;
		double		error = sqrt(rest * (1 - rest) / sample.nvalues);

		if (fabs(sampled - rest) > SAMPLE_TOLERANCE * error + 1.0 / sample.nvalues)
			rest = Max(sampled, rate);
	}

	return common.hit_frequency +
		Max(1 - nullfrac - common.frequency, 0) * rest;
}

/*
 * The selectivity of a test with these two arguments, in either order.
 *
 * Whoever creates an operator may name our estimator for it.  So it is the
 * constant's own type that says whether it is a filter, and there is no key
 * that is one.
 */
static double
SelectivityOfTest(PlannerInfo *root, List *args, int varRelid, Oid function,
				  Oid collation)
{
	VariableStatData vardata;
	Node	   *other;
	bool		varonleft;
	double		selectivity = DEFAULT_BLOOM_SEL;

	if (list_length(args) != 2)
		return DEFAULT_BLOOM_SEL;

	if (!get_restriction_variable(root, args, varRelid, &vardata, &other,
								  &varonleft))
		return DEFAULT_BLOOM_SEL;

	/* is the key the column, and the filter a constant? */
	if (IsA(other, Const) && BloomIsFilterType(((Const *) other)->consttype))
	{
		Const	   *constant = (Const *) other;

		if (constant->constisnull)
			selectivity = 0;
		else
			selectivity = SelectivityOfColumn(&vardata,
											  BloomFetch(constant->constvalue),
											  function, collation);
	}
	ReleaseVariableStats(vardata);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * _bloom_sel
 *		Restriction selectivity of bloom @> key and key <@ bloom.
 */
PG_FUNCTION_INFO_V1(_bloom_sel);
Datum
_bloom_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			function = get_opcode(PG_GETARG_OID(1));
	List	   *args = (List *) PG_GETARG_POINTER(2);
	int			varRelid = PG_GETARG_INT32(3);

	PG_RETURN_FLOAT8(SelectivityOfTest(root, args, varRelid, function,
									   PG_GET_COLLATION()));
}

/*
 * _bloom_join_sel
 *		Join selectivity of bloom @> key and key <@ bloom.
 *
 * The filter then is a column, of which we know nothing.
 */
PG_FUNCTION_INFO_V1(_bloom_join_sel);
Datum
_bloom_join_sel(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_FLOAT8(DEFAULT_BLOOM_SEL);
}

/*
 * _bloom_contains_support
 *		The same for the functions behind the operators.
 */
PG_FUNCTION_INFO_V1(_bloom_contains_support);
Datum
_bloom_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *req;

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	req = (SupportRequestSelectivity *) request;
	req->selectivity = req->is_join ? DEFAULT_BLOOM_SEL :
		SelectivityOfTest(req->root, req->args, req->varRelid, req->funcid,
						  req->inputcollid);
	PG_RETURN_POINTER(req);
}
