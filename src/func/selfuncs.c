/*-------------------------------------------------------------------------
 *
 * func/selfuncs.c
 *		What the planner asks: how many rows pass filter @> key, and what the
 *		state of an aggregate costs.
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
 * A partial state of an aggregate can be as large as its result.  A plan that
 * has one for each partition saves little on the rows, and loses much on large
 * states.  To the planner, a state of 12 MB would cost as much as a number, so
 * we tell it, where the capacity is known.  That is charged for each node that
 * begins a state, not for combining them: the planner chooses among partial
 * plans before it adds that.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "filter/fetch.h"
#include "key/hash.h"
#include "compat.h"

/*
 * A filter that is not known at plan time.  Filters are used where they are
 * expected to drop most rows; this is still careful, compared with 0.005 for
 * equality.
 */
#define DEFAULT_BLOOM_SEL		0.1

/* How many standard errors the sample may be away from the formula */
#define SAMPLE_TOLERANCE		3

/*
 * A state is written, passed on, and read.  Measured with states of 12 MB, each
 * page of one takes as long as so many that are scanned.
 */
#define PAGES_PER_STATE_PAGE	4

/* A counter has so many bits, where a filter that does not count has one */
#define COUNTER_BITS			4

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
	BloomKind	kind;

	if (list_length(args) != 2)
		return DEFAULT_BLOOM_SEL;

	if (!get_restriction_variable(root, args, varRelid, &vardata, &other,
								  &varonleft))
		return DEFAULT_BLOOM_SEL;

	/* is the key the column, and the filter a constant? */
	if (IsA(other, Const) &&
		BloomIsFilterType(((Const *) other)->consttype, &kind))
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

/* ----------------------------------------------------------------
 *							COST OF A STATE
 * ----------------------------------------------------------------
 */

/* A number among the arguments of an aggregate; 0, if it is not constant. */
static double
NumberArgument(const Aggref *aggref, int argno)
{
	const Expr *expr;

	if (argno >= list_length(aggref->args))
		return 0;
	expr = list_nth_node(TargetEntry, aggref->args, argno)->expr;
	if (!IsA(expr, Const) || ((const Const *) expr)->constisnull ||
		((const Const *) expr)->consttype != FLOAT8OID)
		return 0;
	return DatumGetFloat8(((const Const *) expr)->constvalue);
}

/* The bits of the filter that an aggregate makes; 0, if they are not known. */
static double
BitsOfAggregate(const Aggref *aggref)
{
	double		capacity = NumberArgument(aggref, 1);
	double		fp_prob = NumberArgument(aggref, 2);
	BloomParams params;

	/* what is out of range gets its error from the first row */
	if (!(capacity > 0) || !BloomBestParams(fp_prob, &params))
		return 0;
	return Min(capacity * params.bits_per_key, (double) BLOOM_MAX_BITS);
}

/* Is this the transition function of an aggregate? */
static bool
HasTransition(const Aggref *aggref, Oid transition)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(aggref->aggfnoid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn == transition;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The bytes that a state takes, on average over the aggregates of the query
 * that have this transition function; 0, if that is not known.
 *
 * A state that holds little is small.  So that of a group may have any size
 * up to this, and we say nothing of groups.
 */
static double
StateBytes(PlannerInfo *root, Oid transition, int bits_each)
{
	List	   *expressions;
	ListCell   *cell;
	double		rows = 0;
	double		bytes = 0;
	int			naggregates = 0;

	if (!BLOOM_AGGREGATES_HAVE_ROWS || root == NULL ||
		root->parse->groupClause != NIL ||
		root->parse->groupingSets != NIL)
		return 0;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && rel->reloptkind == RELOPT_BASEREL)
			rows = Max(rows, rel->rows);
	}

	expressions = pull_var_clause((Node *) list_make2(root->processed_tlist,
													  root->parse->havingQual),
								  PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS);
	foreach(cell, expressions)
	{
		const Aggref *aggref = (const Aggref *) lfirst(cell);

		if (!IsA(aggref, Aggref) || !HasTransition(aggref, transition))
			continue;
		bytes += Min(BitsOfAggregate(aggref) * bits_each / BITS_PER_BYTE,
					 rows * sizeof(uint64));
		naggregates++;
	}
	return naggregates > 0 ? bytes / naggregates : 0;
}

/* What a state costs, if that is what the planner asks. */
static SupportRequestCost *
CostOfState(Node *request, int bits_each)
{
	SupportRequestCost *req = (SupportRequestCost *) request;
	double		bytes;

	if (!IsA(request, SupportRequestCost))
		return NULL;
	bytes = StateBytes(req->root, req->funcid, bits_each);
	if (bytes <= 0)
		return NULL;
	req->startup = PAGES_PER_STATE_PAGE * seq_page_cost * bytes / BLCKSZ;
	req->per_tuple = cpu_operator_cost;
	return req;
}

/*
 * _bloom_agg_trans_support
 *		Support function of the transition functions of bloom_agg with a capacity.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_trans_support);
Datum
_bloom_agg_trans_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CostOfState((Node *) PG_GETARG_POINTER(0), 1));
}

/*
 * _counting_bloom_agg_trans_support
 *		The same for counting_bloom_agg.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_agg_trans_support);
Datum
_counting_bloom_agg_trans_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CostOfState((Node *) PG_GETARG_POINTER(0), COUNTER_BITS));
}
