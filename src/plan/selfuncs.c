/*-------------------------------------------------------------------------
 *
 * plan/selfuncs.c
 *		What the planner asks of filter @> key: how many rows pass, and what a
 *		test costs; what ANALYZE keeps for that.
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
 * A filter that a sub-select builds, (SELECT bloom_agg(key) FROM ...) @> column,
 * is known when the query runs.  But its keys can be counted as the groups of a
 * GROUP BY are: of the column's values, it holds as many.  That is an upper
 * bound: the filter's keys need not occur in the column.  So it can only raise
 * the estimate.
 *
 * Where the filter is the column and the key is one for all rows, each row has
 * its own false-positive rate.  ANALYZE keeps their mean.  Expected are these false
 * positives, and one row that has the key.
 *
 * Filters are few: a row for each day, or each file.  Autovacuum never analyses a
 * table of fewer than 50 rows, and where a table was never vacuumed, the server
 * supposes 10 pages, in case that it grows: a thousand rows in place of thirty, of
 * which too many pass.  So we look how many pages there are.
 *
 * XXX: how many rows really have the key, only a test of all filters could tell.
 * Of a key that most of them have, far too few rows are expected.
 *
 * All of it is behind the operators' restriction and join estimators and the
 * functions' support function.
 *
 * A test costs little where the filter is in memory and fits into a cache, more
 * where it does not, and much where each row has a filter of its own in TOAST.
 * Too high a cost would make the planner compile the query, or start workers,
 * for nothing; too low a one, make a test before a cheaper condition.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "filter/fetch.h"
#include "filter/typmod.h"
#include "plan/plan_compat.h"
#include "key/hash.h"

/*
 * A filter that is not known at plan time.  Filters are used where they are
 * expected to drop most rows; this is still careful, compared with 0.005 for
 * equality.
 */
#define DEFAULT_BLOOM_SEL		0.1

/* The rate, where neither ANALYZE nor the type tells one: the default fp_prob */
#define DEFAULT_RATE			0.01

/*
 * The mean rate of a column's filters, one number, in pg_statistic.  Numbers from
 * 10000 to 30000 are for anybody's use, and only our types' columns have this one.
 */
#define STATISTIC_KIND_BLOOM_RATE	22801

/* How many filters ANALYZE looks at: a header in TOAST takes 5 microseconds */
#define ANALYZED_FILTERS		1000
#define GOLDEN_RATIO			0.6180339887498949

/* How many standard errors the sample may be away from the formula */
#define SAMPLE_TOLERANCE		3

/*
 * What a test costs, in units of cpu_operator_cost.  Measured: a filter of up
 * to a megabyte is tested in the time of one to three simple operators, one of
 * 120 MB in that of twenty; one of each row's own takes five, or ten if it is
 * read from the cache of stored filters; 30 to 50 microseconds, if it is read
 * from TOAST for a single test.
 */
#define COST_IN_CACHE			3
#define COST_PER_DECADE			8	/* beyond a megabyte */
#define COST_IN_MEMORY			10
#define COST_IN_TOAST			3000
#define COST_UNKNOWN			100

/* The fraction of rows where the column is null, if that is known. */
static double
NullFraction(const VariableStatData *vardata)
{
	if (!HeapTupleIsValid(vardata->statsTuple))
		return 0;
	return ((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;
}

/* ----------------------------------------------------------------
 *						A COLUMN OF KEYS
 * ----------------------------------------------------------------
 */

/*
 * The fraction of a statistics slot's values that the filter possibly holds:
 * of rows, if they have frequencies, or else of the values themselves.
 * All zero, if there is no such slot, or its values cannot be tested.
 */
typedef struct TestedValues
{
	int			nvalues;
	int			nhits;
	double		frequency;		/* of all values together */
	double		hit_frequency;	/* of those that the filter holds */
} TestedValues;

/* Can values of this type be keys?  The few that have no hash do not matter. */
static bool
IsHashable(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_EXTENDED_PROC);

	return OidIsValid(entry->hash_extended_proc) &&
		BloomKindOfType(type) == BLOOM_NEITHER;
}

static void
TestStatistics(const VariableStatData *vardata, int kind,
			   const Bloom *filter, Oid collation, TestedValues *tested)
{
	AttStatsSlot slot;
	BloomHasher hasher;
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	bool		with_numbers = kind == STATISTIC_KIND_MCV;
	bool		usable;

	if (!get_attstatsslot(&slot, vardata->statsTuple, kind, InvalidOid,
						  ATTSTATSSLOT_VALUES |
						  (with_numbers ? ATTSTATSSLOT_NUMBERS : 0)))
		return;

	usable = IsHashable(slot.valuetype);
	if (usable)
	{
		BloomHasherInit(&hasher, slot.valuetype, OidIsValid(collation) ?
						collation : DEFAULT_COLLATION_OID);
		usable = filter->count == 0 ||
			BloomSameKeyType(&hasher.key_type, &key_type);
	}
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
	double		held;
	double		rest;
	TestedValues common = {0};
	TestedValues sample = {0};

	if (isdefault && !HeapTupleIsValid(vardata->statsTuple))
		return DEFAULT_BLOOM_SEL;

	/* the function sees values that the user perhaps may not */
	if (HeapTupleIsValid(vardata->statsTuple) &&
		statistic_proc_security_check(vardata, function))
	{
		TestStatistics(vardata, STATISTIC_KIND_MCV, filter, collation,
					   &common);
		TestStatistics(vardata, STATISTIC_KIND_HISTOGRAM, filter, collation,
					   &sample);
	}

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
		Max(1 - NullFraction(vardata) - common.frequency, 0) * rest;
}

/*
 * The distinct keys of the filter that is the result of this query, or zero,
 * unless it is a bloom_agg(key ...) of all rows.
 */
static double
KeysOfAggregate(PlannerInfo *root)
{
	const Query *query = root->parse;
	const Aggref *aggregate = (const Aggref *)
	linitial_node(TargetEntry, query->targetList)->expr;
	Expr	   *key;
	RelOptInfo *rows;
	int			relid;
	EstimationInfo info = {0};
	double		nkeys;

	if (!IsA(aggregate, Aggref) || aggregate->args == NIL ||
		BloomKindOfType(aggregate->aggtype) == BLOOM_NEITHER ||
		aggregate->aggfilter != NULL || query->havingQual != NULL ||
		query->groupClause != NIL || query->groupingSets != NIL)
		return 0;

	/* not an aggregate of filters */
	key = linitial_node(TargetEntry, aggregate->args)->expr;
	if (BloomKindOfType(exprType((Node *) key)) != BLOOM_NEITHER)
		return 0;

	rows = bms_get_singleton_member(root->all_query_rels, &relid) ?
		find_base_rel(root, relid) : find_join_rel(root, root->all_query_rels);
	if (rows == NULL)
		return 0;
	nkeys = estimate_num_groups(root, list_make1(key), rows->rows, NULL, &info);
	return (info.flags & SELFLAG_USED_DEFAULT) ? 0 : nkeys;
}

/*
 * As many rows as a parameter's filter has keys, if it is the result of a
 * sub-select that aggregates them.
 */
static double
KeysOfParam(PlannerInfo *root, const Param *param)
{
	/*
	 * It can come from a query around this one.
	 *
	 * XXX subroots is the planner's own: look at it with each new version.
	 */
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *cell;

		foreach(cell, root->init_plans)
		{
			const SubPlan *plan = lfirst_node(SubPlan, cell);

			if (plan->subLinkType == EXPR_SUBLINK &&
				linitial_int(plan->setParam) == param->paramid)
				return KeysOfAggregate(list_nth(root->glob->subroots,
												plan->plan_id - 1));
		}
	}
	return 0;
}

/*
 * The selectivity of a filter over a column, if only its number of keys is known.
 */
static double
SelectivityOfKeys(VariableStatData *vardata, double nkeys)
{
	bool		isdefault;
	double		distinct = get_variable_numdistinct(vardata, &isdefault);

	if (isdefault)
		return DEFAULT_BLOOM_SEL;
	return Max(DEFAULT_BLOOM_SEL,
			   (1 - NullFraction(vardata)) * Min(nkeys / distinct, 1));
}

/* ----------------------------------------------------------------
 *						A COLUMN OF FILTERS
 * ----------------------------------------------------------------
 */

/*
 * The rate of a stored filter, by its header alone, or a negative number.
 *
 * A table may have anything in place of a filter, such as an aggregate's state,
 * and ANALYZE must get past it.  So nothing here raises an error.  What is
 * compressed is not looked at: that may turn out not to be decompressible.
 */
static double
RateOfStored(Datum stored)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(stored);
	Size		size = toast_raw_datum_size(stored);
	Bloom		header;
	double		rate;

	if (size < BLOOM_HEADER_SIZE || VARATT_IS_COMPRESSED(value) ||
		(VARATT_IS_EXTERNAL(value) && toast_datum_size(stored) + VARHDRSZ < size))
		return -1;
	SET_VARSIZE(&header, size);
	BloomFetchSlice(stored, VARHDRSZ, BLOOM_ENCODED_HEADER, &header.version);
	if (BloomCheckHeader(&header) != NULL || BloomSizeByHeader(&header) != size)
		return -1;
	rate = BloomRateNow(&header);
	return rate <= 1 ? rate : -1;
}

/* What the server keeps of a column, and the mean of its filters' rates. */
static void
ComputeFilterStats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch,
				   int nrows, double total_rows)
{
	double		sum = 0;
	int			nfilters = 0;
	int			nvalues = 0;
	double		fraction;
	int			slot = 0;

	/* as before, but now with the server's own function */
	std_typanalyze(stats);
	stats->compute_stats(stats, fetch, nrows, total_rows);

	fraction = ANALYZED_FILTERS / (nrows * (1 - stats->stanullfrac));
	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;
		Datum		stored = fetch(stats, i, &isnull);
		double		rate;

		vacuum_delay_point(true);
		/* evenly spread, but in step with no pattern that the rows may have */
		if (isnull || fmod(nvalues++ * GOLDEN_RATIO, 1) >= fraction)
			continue;
		rate = RateOfStored(stored);
		if (rate < 0)
			continue;
		sum += rate;
		nfilters++;
	}

	while (slot < STATISTIC_NUM_SLOTS && stats->stakind[slot] != 0)
		slot++;
	if (nfilters == 0 || slot == STATISTIC_NUM_SLOTS)
		return;
	stats->stakind[slot] = STATISTIC_KIND_BLOOM_RATE;
	stats->numnumbers[slot] = 1;
	stats->stanumbers[slot] = MemoryContextAlloc(stats->anl_context,
												 sizeof(float4));
	stats->stanumbers[slot][0] = (float4) (sum / nfilters);
}

/*
 * _bloom_typanalyze
 *		What ANALYZE does with a column of filters.
 */
PG_FUNCTION_INFO_V1(_bloom_typanalyze);
Datum
_bloom_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	stats->compute_stats = ComputeFilterStats;
	PG_RETURN_BOOL(true);
}

/*
 * Of the rows that the planner supposes in a table, the fraction that can be
 * there: less than 1 if it supposes more pages than there are.
 */
static double
FractionThatIsThere(PlannerInfo *root, const RelOptInfo *rel)
{
	const RangeTblEntry *rte;
	Relation	table;
	double		npages = rel->pages;

	if (rel->reloptkind == RELOPT_JOINREL || npages == 0)
		return 1;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->rtekind != RTE_RELATION || rte->inh)
		return 1;
	/* the planner has locked it */
	table = table_open(rte->relid, NoLock);
	if (table->rd_rel->relpages == 0 &&
		(table->rd_rel->relkind == RELKIND_RELATION ||
		 table->rd_rel->relkind == RELKIND_MATVIEW))
		npages = Max(RelationGetNumberOfBlocks(table), 1);
	table_close(table, NoLock);
	return Min(npages / rel->pages, 1);
}

/*
 * The selectivity of a key over a column of filters.
 *
 * No privilege is checked: a number is read, and no function sees a value.
 */
static double
SelectivityOfFilters(PlannerInfo *root, const VariableStatData *vardata)
{
	double		rate = vardata->atttypmod < 0 ? DEFAULT_RATE :
	BloomTypmodRate(vardata->atttypmod);
	double		rows = vardata->rel != NULL ? vardata->rel->tuples : 0;
	double		there = vardata->rel != NULL ?
	FractionThatIsThere(root, vardata->rel) : 1;
	AttStatsSlot slot;

	if (HeapTupleIsValid(vardata->statsTuple) &&
		get_attstatsslot(&slot, vardata->statsTuple, STATISTIC_KIND_BLOOM_RATE,
						 InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		rate = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	/* one row has the key; where there are few rows, nothing is known */
	return (1 - NullFraction(vardata)) * rate * there +
		(rows > 0 ? Min(1 / rows, DEFAULT_BLOOM_SEL) : 0);
}

/* ----------------------------------------------------------------
 *							ESTIMATORS
 * ----------------------------------------------------------------
 */

/*
 * The selectivity of a test with these two arguments, in either order.
 *
 * Any operator may name our estimator as its own.  So it is the constant's own
 * type that determines whether it is a filter, and there is no key
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

	if (list_length(args) != 2 ||
		!get_restriction_variable(root, args, varRelid, &vardata, &other,
								  &varonleft))
		return DEFAULT_BLOOM_SEL;

	/* is the key the column, and the filter a constant? */
	if (IsA(other, Const) &&
		BloomKindOfType(((Const *) other)->consttype) != BLOOM_NEITHER)
	{
		Const	   *constant = (Const *) other;

		if (constant->constisnull)
			selectivity = 0;
		else
			selectivity = SelectivityOfColumn(&vardata,
											  BloomFetch(constant->constvalue),
											  function, collation);
	}
	else if (BloomKindOfType(vardata.vartype) != BLOOM_NEITHER)
		selectivity = SelectivityOfFilters(root, &vardata);
	else if (IsA(other, Param) && ((Param *) other)->paramkind == PARAM_EXEC)
		selectivity = SelectivityOfKeys(&vardata,
										KeysOfParam(root, (Param *) other));
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
	PG_RETURN_FLOAT8(SelectivityOfTest((PlannerInfo *) PG_GETARG_POINTER(0),
									   (List *) PG_GETARG_POINTER(2),
									   PG_GETARG_INT32(3),
									   get_opcode(PG_GETARG_OID(1)),
									   PG_GET_COLLATION()));
}

/*
 * The selectivity of a test of one table's keys in the filters of another.
 */
static double
SelectivityOfJoin(PlannerInfo *root, List *args, SpecialJoinInfo *sjinfo)
{
	double		selectivity = DEFAULT_BLOOM_SEL;
	ListCell   *cell;

	/* how many rows find one that passes is another question */
	if (sjinfo->jointype == JOIN_SEMI || sjinfo->jointype == JOIN_ANTI)
		return selectivity;
	foreach(cell, args)
	{
		VariableStatData vardata;

		if (BloomKindOfType(exprType(lfirst(cell))) == BLOOM_NEITHER)
			continue;
		examine_variable(root, lfirst(cell), 0, &vardata);
		selectivity = SelectivityOfFilters(root, &vardata);
		ReleaseVariableStats(vardata);
	}
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * _bloom_joinsel
 *		Join selectivity of bloom @> key and key <@ bloom.
 */
PG_FUNCTION_INFO_V1(_bloom_joinsel);
Datum
_bloom_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(SelectivityOfJoin((PlannerInfo *) PG_GETARG_POINTER(0),
									   (List *) PG_GETARG_POINTER(2),
									   (SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}

/* ----------------------------------------------------------------
 *							COSTS
 * ----------------------------------------------------------------
 */

/* What a test costs if each row has its own filter, by their average width. */
static double
CostOfOwnFilter(PlannerInfo *root, Node *filter)
{
	Var		   *column = (Var *) filter;
	RangeTblEntry *rte;
	int32		width;

	if (!IsA(filter, Var) || column->varlevelsup > 0 ||
		(int) column->varno <= 0 ||
		(int) column->varno >= root->simple_rel_array_size)
		return COST_UNKNOWN;
	rte = root->simple_rte_array[column->varno];
	if (rte == NULL || rte->rtekind != RTE_RELATION)
		return COST_UNKNOWN;
	width = get_attavgwidth(rte->relid, column->varattno);
	if (width <= 0)
		return COST_UNKNOWN;
	/* a pointer to TOAST is shorter than any filter */
	return width < (int32) BLOOM_HEADER_SIZE ? COST_IN_TOAST : COST_IN_MEMORY;
}

/*
 * What a test of this filter with this key costs, in simple operators.
 */
static double
CostOfTest(PlannerInfo *root, Node *filter, Node *key)
{
	Relids		filter_rels;
	Relids		key_rels;

	if (IsA(filter, Const))
	{
		Const	   *constant = (Const *) filter;
		double		megabytes = constant->constisnull ? 0 :
		toast_raw_datum_size(constant->constvalue) / 1048576.0;

		return COST_IN_CACHE + COST_PER_DECADE * log10(Max(megabytes, 1));
	}

	if (root == NULL)
		return COST_UNKNOWN;

	/* is the filter the same for many keys, so that it is kept? */
	filter_rels = pull_varnos(root, filter);
	key_rels = pull_varnos(root, key);
	if (bms_is_empty(filter_rels) ||
		(!bms_is_empty(key_rels) && !bms_overlap(filter_rels, key_rels)))
		return COST_IN_MEMORY;
	return CostOfOwnFilter(root, filter);
}

/* The cost of a call of bloom @> key or key <@ bloom; NULL, if not known. */
static SupportRequestCost *
CostOfCall(SupportRequestCost *request)
{
	List	   *args = NIL;
	Node	   *left;
	Node	   *right;
	double		cost;

	if (request->node != NULL && IsA(request->node, FuncExpr))
		args = ((FuncExpr *) request->node)->args;
	else if (request->node != NULL && IsA(request->node, OpExpr))
		args = ((OpExpr *) request->node)->args;
	if (list_length(args) != 2)
		return NULL;
	left = linitial(args);
	right = lsecond(args);
	if (BloomKindOfType(exprType(left)) != BLOOM_NEITHER)
		cost = CostOfTest(request->root, left, right);
	else if (BloomKindOfType(exprType(right)) != BLOOM_NEITHER)
		cost = CostOfTest(request->root, right, left);
	else
		return NULL;
	request->startup = 0;
	request->per_tuple = cpu_operator_cost * cost;
	return request;
}

/*
 * _bloom_contains_support
 *		How many rows pass the functions behind the operators, and what a
 *		call costs.
 */
PG_FUNCTION_INFO_V1(_bloom_contains_support);
Datum
_bloom_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *req;

	if (IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(CostOfCall((SupportRequestCost *) request));
	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	req = (SupportRequestSelectivity *) request;
	req->selectivity = req->is_join ?
		SelectivityOfJoin(req->root, req->args, req->sjinfo) :
		SelectivityOfTest(req->root, req->args, req->varRelid, req->funcid,
						  req->inputcollid);
	PG_RETURN_POINTER(req);
}
