/*-------------------------------------------------------------------------
 *
 * plan.c
 *		A planner that knows of filters: bloomtype_scan.plan.
 *
 * The server plans joins from below, and filters come from above: a scan is
 * planned before anybody knows which joins will drop its rows.  So, with this
 * setting, a search for the best joins whose result is expensive is done a
 * second time, with "scans on credit".
 *
 * A scan on credit is a sequential scan of a large table with the rows and the
 * cost that are left if certain providers come above it: each is a relation,
 * or a few, that is hashed, and whose filter drops rows of the table.  Such a
 * path is not in its relation's list of paths, where the server would take it
 * for what it is not yet, but in a list of ours, and so are joins of it, as
 * long as a provider is missing.  When the last one has been joined, the path
 * holds what it promised: it is offered to the server as any other, by its
 * cost.  The result of the second search is taken only if it is cheaper than
 * that of the first.  scan/README has the rules, and what each prevents.
 *
 * Nothing but costs and numbers of rows is ours: the paths are the server's,
 * and the executor puts filters into any plan alike.  Nor does the rest of
 * this library know of this file.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/amapi.h"
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "port/pg_bitutils.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "scan/expr.h"
#include "scan/filter.h"
#include "scan/note.h"
#include "scan/plan.h"
#include "scan/scan_compat.h"

/* tables with scans on credit in a search, and providers of each */
#define MAX_TABLES		3
#define MAX_PROVIDERS	4
/* numbers of values that ANALYZE finds: of more, a sample says little */
#define FEW_VALUES		10000.0
/* a test of a row with its page, by cpu_tuple_cost */
#define TEST_COST		0.15

/* What a plan must be like: see scan/README. */
typedef struct PlanBounds
{
	double		first_cost;		/* of the first search, at least */
	double		rows;			/* cost of a table's rows, by that, at least */
	double		fetched;		/* of it by the first search's path, at least */
	double		regret;			/* cost by that of the first search, at most,
								 * if no filter drops anything */
	double		price;			/* by the cost of a path */
} PlanBounds;

static const PlanBounds usual_bounds = {
	10000, 0.03, 0.1, 2, 1
};
static const PlanBounds no_bounds = {
	0, 0, 0, DBL_MAX, 1e-3
};

/* Relations whose join, when it is hashed, has a filter for a table. */
typedef struct Provider
{
	Relids		relids;			/* all of these are hashed together */
	double		kept;			/* the part of the table's rows with a partner */
} Provider;

/* A large table, what may drop its rows, and our paths of it. */
typedef struct PlanTable
{
	RelOptInfo *rel;
	List	   *scanned;		/* the table itself, or its partitions */
	double		tuples;
	List	   *providers;		/* that which keeps least comes first */
	List	   *credits[2];		/* [1]: partial paths */
} PlanTable;

/* A path that is cheaper than it has earned. */
typedef struct Credit
{
	const PlanTable *table;
	uint32		missing;		/* providers that have not been joined */
	Path	   *path;			/* as if they were */
	Path	   *plain;			/* the same path, if no row is dropped */
} Credit;

/* Our paths of a join. */
typedef struct JoinCredits
{
	RelOptInfo *rel;			/* the key */
	List	   *credits[2];		/* [1]: partial paths */
} JoinCredits;

/* A second search. */
typedef struct PlanSearch
{
	PlannerInfo *root;
	const PlanBounds *bounds;
	Relids		relids;			/* base relations of this search */
	Path	   *first;			/* the best path of the first one */
	Cost		first_cost;
	Cost		filtered_cost;	/* its cost, with the filters that it will
								 * have */
	List	   *tables;			/* of PlanTable */
	HTAB	   *joins;			/* of JoinCredits */
	bool		paid;			/* a path has been offered */
	List	   *notes;			/* of ScanNote */
} PlanSearch;

static bool plan_enabled = false;
static const bool *enabled;
static const int *testing;

static PlanSearch *search = NULL;	/* the one that is being done */

static join_search_hook_type previous_search = NULL;
static set_join_pathlist_hook_type previous_join = NULL;


/* ----------------------------------------------------------------
 *		Tables and columns
 * ----------------------------------------------------------------
 */

/*
 * Scanned
 *		The relations that are scanned for this one: itself, or its partitions
 *		that are left.  NIL if one of them is no table of ours to scan.
 */
static List *
Scanned(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	List	   *scanned = NIL;

	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL)
		return NIL;
	if (!rte->inh)
		return rte->relkind == RELKIND_RELATION ? list_make1(rel) : NIL;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *child = root->simple_rel_array[i];
		int			parent = i;

		if (child == NULL || child->reloptkind != RELOPT_OTHER_MEMBER_REL ||
			root->simple_rte_array[i]->inh || IS_DUMMY_REL(child))
			continue;
		while (root->append_rel_array[parent] != NULL)
			parent = root->append_rel_array[parent]->parent_relid;
		if (parent != (int) rel->relid)
			continue;
		rte = root->simple_rte_array[i];
		if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION)
			return NIL;
		scanned = lappend(scanned, child);
	}
	return scanned;
}

/* Distinct values of a column; 0 if not known. */
static double
DistinctValues(PlannerInfo *root, Node *var, double *nulls)
{
	VariableStatData data;
	double		ndistinct;
	bool		isdefault;

	examine_variable(root, var, 0, &data);
	ndistinct = get_variable_numdistinct(&data, &isdefault);
	*nulls = 0;
	if (HeapTupleIsValid(data.statsTuple))
		*nulls = ((Form_pg_statistic) GETSTRUCT(data.statsTuple))->stanullfrac;
	ReleaseVariableStats(data);
	return isdefault ? 0 : Max(ndistinct, 1);
}

/*
 * IsTestable
 *		Would the executor test such a key where the table is scanned?
 *
 * Only the server's own hash functions may see all rows (filter.c, IsTrusted).
 */
static bool
IsTestable(Node *outer, Node *inner, Oid operator)
{
	Oid			type = exprType(outer);

	return IsA(outer, Var) && IsA(inner, Var) &&
		((Var *) outer)->varattno > 0 && ((Var *) inner)->varattno > 0 &&
		operator < FirstNormalObjectId &&
		(get_typbyval(type) || type == TEXTOID || type == VARCHAROID ||
		 type == BPCHAROID || type == NUMERICOID || type == UUIDOID) &&
		(!OidIsValid(exprCollation(outer)) ||
		 get_collation_isdeterministic(exprCollation(outer)));
}

/*
 * SidesOf
 *		The two sides of a condition that can be hashed; false for others.
 */
static bool
SidesOf(RestrictInfo *ri, Relids outer_relids, Relids inner_relids,
		Node **outer, Node **inner)
{
	if (!ri->can_join || !OidIsValid(ri->hashjoinoperator))
		return false;
	ri->outer_is_left = bms_is_subset(ri->left_relids, outer_relids) &&
		bms_is_subset(ri->right_relids, inner_relids);
	if (!ri->outer_is_left &&
		!(bms_is_subset(ri->right_relids, outer_relids) &&
		  bms_is_subset(ri->left_relids, inner_relids) &&
		  OidIsValid(get_commutator(((OpExpr *) ri->clause)->opno))))
		return false;
	*outer = ri->outer_is_left ? get_leftop(ri->clause) : get_rightop(ri->clause);
	*inner = ri->outer_is_left ? get_rightop(ri->clause) : get_leftop(ri->clause);
	*outer = BloomScanStripRelabel(*outer);
	*inner = BloomScanStripRelabel(*inner);
	return true;
}

/* Does nobody notice for how many rows these conditions are evaluated? */
static bool
IsQuiet(List *clauses)
{
	return BloomScanIsQuiet(extract_actual_clauses(clauses, false));
}


/* ----------------------------------------------------------------
 *		What a provider keeps
 * ----------------------------------------------------------------
 */

/* What PartnersOf says of relations that no condition joins. */
#define NOT_JOINED		2.0

/*
 * PartnersOf
 *		The part of outer's rows with a partner among nrows rows of inner, as
 *		eqjoinsel_semi has it.
 *
 * Where no statistics tell, or one key is such that there is no filter, all.
 */
static double
PartnersOf(RelOptInfo *outer, RelOptInfo *inner, double nrows)
{
	PlannerInfo *root = search->root;
	Relids		both = bms_union(outer->relids, inner->relids);
	List	   *clauses = BloomScanEqualities(root, both, outer->relids, inner);
	double		partners = NOT_JOINED;
	ListCell   *lc;

	foreach(lc, list_concat(clauses, outer->joininfo))
	{
		RestrictInfo *ri = lfirst_node(RestrictInfo, lc);
		double		nulls,
					ignored,
					nouter,
					ninner;
		Node	   *a,
				   *b;

		if (!bms_is_subset(ri->required_relids, both) ||
			!SidesOf(ri, outer->relids, inner->relids, &a, &b))
			continue;
		if (!IsTestable(a, b, ri->hashjoinoperator))
			return 1;
		partners = Min(partners, 1);
		nouter = DistinctValues(root, a, &nulls);
		ninner = DistinctValues(root, b, &ignored);
		if (nouter == 0)
			continue;
		if (ninner == 0)
			ninner = Max(inner->tuples, 1);
		/* where a sample says little, all of inner's may be there */
		if (nouter >= FEW_VALUES)
			nouter = Max(nouter, ninner);
		partners = Min(partners, Min(1, Min(nrows, ninner) / nouter) * (1 - nulls));
	}
	return partners;
}

/* May rows of the table stay although they have no partner in other? */
static bool
IsOptional(RelOptInfo *table, RelOptInfo *other)
{
	ListCell   *lc;

	foreach(lc, search->root->join_info_list)
	{
		SpecialJoinInfo *sj = lfirst(lc);
		bool		is_right = bms_overlap(sj->syn_righthand, other->relids);

		if (sj->jointype == JOIN_FULL &&
			(is_right || bms_overlap(sj->syn_lefthand, other->relids)))
			return true;
		if ((sj->jointype == JOIN_LEFT || sj->jointype == JOIN_ANTI) &&
			is_right && !bms_overlap(sj->syn_righthand, table->relids))
			return true;
	}
	return false;
}

/* May this be hashed for a filter?  Tables only: of others we know too little. */
static bool
CanProvide(const PlanTable *table, RelOptInfo *other)
{
	return other != table->rel && !IS_DUMMY_REL(other) &&
		other->rtekind == RTE_RELATION;
}

/*
 * Reduce
 *		The partners of outer's rows in inner, with all that is joined to inner
 *		and leaves fewer of its rows.  Adds these to *members.
 *
 * seen: relations that have been looked at, each once, so that many of one
 * equivalence class take no time; those of the table itself, too.
 */
static double
Reduce(const PlanTable *table, RelOptInfo *outer, RelOptInfo *inner,
	   Relids *seen, Relids *members)
{
	PlannerInfo *root = search->root;
	double		nrows = inner->rows;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	*seen = bms_add_members(*seen, inner->relids);
	*members = bms_add_members(*members, inner->relids);
	for (int i = -1; (i = bms_next_member(search->relids, i)) >= 0;)
	{
		RelOptInfo *next = root->simple_rel_array[i];
		Relids		below = NULL;
		double		kept;

		if (bms_is_member(i, *seen) || !CanProvide(table, next) ||
			IsOptional(inner, next) ||
			PartnersOf(inner, next, next->rows) == NOT_JOINED)
			continue;
		kept = Reduce(table, inner, next, seen, &below);
		if (kept >= 1)
			continue;
		*members = bms_add_members(*members, below);
		nrows *= kept;
	}
	return PartnersOf(outer, inner, nrows);
}

static void
AddProvider(PlanTable *table, Relids relids, double kept)
{
	Provider   *provider = palloc(sizeof(Provider));

	if (kept >= 1)
		return;
	provider->relids = relids;
	provider->kept = kept;
	table->providers = lappend(table->providers, provider);
}

static int
ByKept(const ListCell *a, const ListCell *b)
{
	double		x = ((Provider *) lfirst(a))->kept;
	double		y = ((Provider *) lfirst(b))->kept;

	return x < y ? -1 : x > y;
}

/*
 * FindProviders
 *		Relations that are joined to the table, alone and with what restricts
 *		them.
 */
static void
FindProviders(PlanTable *table)
{
	PlannerInfo *root = search->root;
	Relids		direct = bms_copy(table->rel->relids);

	/* what is joined to the table itself is no part of another provider */
	for (int i = -1; (i = bms_next_member(search->relids, i)) >= 0;)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (CanProvide(table, other) &&
			PartnersOf(table->rel, other, other->rows) != NOT_JOINED)
			direct = bms_add_member(direct, i);
	}
	for (int i = -1; (i = bms_next_member(direct, i)) >= 0;)
	{
		RelOptInfo *other = root->simple_rel_array[i];
		Relids		members = NULL;
		Relids		seen = bms_copy(direct);
		double		alone,
					restricted;

		if (other == table->rel || IsOptional(table->rel, other))
			continue;
		alone = PartnersOf(table->rel, other, other->rows);
		AddProvider(table, other->relids, alone);
		restricted = Reduce(table, table->rel, other, &seen, &members);
		if (restricted < alone)
			AddProvider(table, members, restricted);
	}
	list_sort(table->providers, ByKept);
	table->providers = list_truncate(table->providers, MAX_PROVIDERS);
}


/* ----------------------------------------------------------------
 *		Scans on credit
 * ----------------------------------------------------------------
 */

/* What a path is made of. */
static List *
Subpaths(Path *path)
{
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			return list_make2(((JoinPath *) path)->outerjoinpath,
							  ((JoinPath *) path)->innerjoinpath);
		case T_AppendPath:
			return ((AppendPath *) path)->subpaths;
		case T_MergeAppendPath:
			return ((MergeAppendPath *) path)->subpaths;
			/* all of these begin alike */
		case T_MaterialPath:
		case T_MemoizePath:
		case T_UniquePath:
		case T_SortPath:
		case T_IncrementalSortPath:
		case T_GatherPath:
		case T_GatherMergePath:
		case T_ProjectionPath:
			return list_make1(((MaterialPath *) path)->subpath);
		default:
			return NIL;
	}
}

/*
 * FetchedByIndex
 *		The rows that a scan of an index fetches from its table, each from
 *		somewhere else; in whose order they lie, that is a page of them.
 */
static double
FetchedByIndex(IndexPath *path)
{
	amcostestimate_function estimate = path->indexinfo->amcostestimate;
	const RelOptInfo *rel = path->path.parent;
	double		nrows = path->indexselectivity * rel->tuples;
	double		npages = Min(ceil(path->indexselectivity * rel->pages), nrows);
	double		correlation,
				ignored_pages;
	Selectivity ignored_share;
	Cost		ignored;

	if (path->path.pathtype == T_IndexOnlyScan)
		return 0;
	estimate(search->root, path, 1, &ignored, &ignored, &ignored_share,
			 &correlation, &ignored_pages);
	return nrows + correlation * correlation * (npages - nrows);
}

/*
 * Fetched
 *		The rows of a table that a path reads, before conditions that are not an
 *		index's.
 *
 * Those that are looked up for the rows of a provider are no more than it
 * keeps, which we know better than the server does (PartnersOf).
 */
static double
Fetched(Path *path, const PlanTable *table)
{
	double		nrows = 0;
	Cost		cost;
	Selectivity share;
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, Subpaths(path))
		nrows += Fetched(lfirst(lc), table);
	if (IsA(path, NestPath))
	{
		Path	   *outer = ((JoinPath *) path)->outerjoinpath;
		double		inner_nrows = Fetched(((JoinPath *) path)->innerjoinpath, table);

		nrows += inner_nrows * (outer->rows - 1);
		foreach(lc, inner_nrows > 0 ? table->providers : NIL)
		{
			Provider   *provider = lfirst(lc);

			if (bms_is_subset(provider->relids, outer->parent->relids))
				nrows = Min(nrows, provider->kept * table->tuples);
		}
	}
	if (!list_member_ptr(table->scanned, path->parent))
		return nrows;
	if (IsA(path, BitmapHeapPath))
	{
		cost_bitmap_tree_node(((BitmapHeapPath *) path)->bitmapqual, &cost, &share);
		return share * path->parent->tuples;
	}
	if (IsA(path, IndexPath))
		return FetchedByIndex((IndexPath *) path);
	if (path->pathtype == T_SeqScan)
		return path->parent->tuples;
	return nrows > 0 ? nrows : path->rows;
}

/*
 * AddTable
 *		May a table have scans on credit?  If so, add it.
 */
static void
AddTable(RelOptInfo *rel)
{
	const PlanBounds *bounds = search->bounds;
	PlanTable  *table = palloc0(sizeof(PlanTable));
	Cost		rows_cost = 0;
	ListCell   *lc;

	if (IS_DUMMY_REL(rel) || rel->lateral_relids != NULL)
		return;
	table->rel = rel;
	table->scanned = Scanned(search->root, rel);
	foreach(lc, table->scanned)
	{
		RelOptInfo *child = lfirst(lc);

		table->tuples += child->tuples;
		rows_cost += child->tuples *
			(cpu_tuple_cost + child->baserestrictcost.per_tuple);
		if (!IsQuiet(child->baserestrictinfo))
			return;
	}
	if (table->scanned == NIL || rows_cost < bounds->rows * search->first_cost)
		return;
	FindProviders(table);
	/* few rows by an index: no scan is as good */
	if (table->providers != NIL &&
		Fetched(search->first, table) >= bounds->fetched * table->tuples)
		search->tables = lappend(search->tables, table);
}

/*
 * KeptBy
 *		The part of a table's rows that these providers keep, together.  Of two
 *		that have a relation in common, only one can come.
 */
static double
KeptBy(const PlanTable *table, uint32 providers)
{
	Relids		used = NULL;
	double		kept = 1;

	for (int i = 0; i < list_length(table->providers); i++)
	{
		Provider   *provider = list_nth(table->providers, i);

		if ((providers & (1 << i)) == 0)
			continue;
		if (bms_overlap(used, provider->relids))
			return NOT_JOINED;
		used = bms_add_members(used, provider->relids);
		kept *= provider->kept;
	}
	return kept;
}

/* These, and those of a table that are joined with these relations. */
static uint32
AddProviders(const PlanTable *table, uint32 providers, Relids relids)
{
	for (int i = 0; i < list_length(table->providers); i++)
	{
		Provider   *provider = list_nth(table->providers, i);

		if (bms_is_subset(provider->relids, relids) &&
			KeptBy(table, providers | (1 << i)) != NOT_JOINED)
			providers |= 1 << i;
	}
	return providers;
}

/*
 * SavedByScan
 *		What a sequential scan costs less if these providers are above it.
 *
 * Pages cost what they cost.  A row that is dropped costs the tests that it
 * was asked, and neither its condition, nor what comes of it.
 */
static Cost
SavedByScan(const PlanTable *table, uint32 providers, const Path *path)
{
	const RelOptInfo *rel = path->parent;
	Cost		row = cpu_tuple_cost + rel->baserestrictcost.per_tuple;
	double		saved = 1 - KeptBy(table, providers);
	double		page_cost;

	if (row <= 0)				/* cpu_tuple_cost = 0 */
		return 0;
	for (int i = 0; i < list_length(table->providers); i++)
	{
		if (providers & (1 << i))
			saved -= KeptBy(table, providers & ((1 << i) - 1)) * TEST_COST * cpu_tuple_cost / row;
	}
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return saved * (path->total_cost - path->startup_cost - page_cost * rel->pages);
}

/* The path of a table, or a partition, as if these providers were above it. */
static Path *
ScanOnCredit(const PlanTable *table, uint32 providers, Path *plain)
{
	Path	   *path = makeNode(Path);
	ScanNote   *note = palloc0(sizeof(ScanNote));

	*path = *plain;
	path->rows = clamp_row_est(path->rows * KeptBy(table, providers));
	path->total_cost -= SavedByScan(table, providers, plain);
	note->table = search->root->simple_rte_array[path->parent->relid]->relid;
	note->path = path;
	note->plain = plain;
	search->notes = lappend(search->notes, note);
	return path;
}

/*
 * AddScans
 *		A path for each set of a table's providers; partial ones if the server
 *		has such.
 */
static void
AddScans(PlanTable *table, bool partial)
{
	PlannerInfo *root = search->root;
	int			workers = 0;
	List	   *plains = NIL;
	ListCell   *lc;

	foreach(lc, table->scanned)
	{
		RelOptInfo *rel = lfirst(lc);
		int			n = 0;

		if (partial && rel->partial_pathlist == NIL)
			return;
		if (partial)
			n = ((Path *) linitial(rel->partial_pathlist))->parallel_workers;
		workers = Max(workers, n);
		plains = lappend(plains, create_seqscan_path(root, rel, NULL, n));
	}
	for (uint32 providers = 1; providers < (uint32) 1 << list_length(table->providers); providers++)
	{
		Credit	   *credit = palloc0(sizeof(Credit));
		List	   *paths = NIL;

		if (KeptBy(table, providers) == NOT_JOINED)
			continue;
		foreach(lc, plains)
			paths = lappend(paths, ScanOnCredit(table, providers, lfirst(lc)));
		credit->table = table;
		credit->missing = providers;
		credit->path = linitial(paths);
		credit->plain = linitial(plains);
		if (linitial(table->scanned) != table->rel)
		{
			credit->path = BloomScanAppend(root, table->rel, paths, workers);
			credit->plain = BloomScanAppend(root, table->rel, list_copy(plains), workers);
		}
		table->credits[partial] = lappend(table->credits[partial], credit);
	}
}

static void
MakeScans(List *initial_rels)
{
	ListCell   *lc;

	/* what was joined before this search has its paths */
	foreach(lc, initial_rels)
	{
		if (((RelOptInfo *) lfirst(lc))->reloptkind == RELOPT_BASEREL)
			AddTable(lfirst(lc));
	}
	search->tables = list_truncate(search->tables, MAX_TABLES);
	foreach(lc, search->tables)
	{
		PlanTable  *table = lfirst(lc);

		AddScans(table, false);
		if (table->rel->partial_pathlist != NIL)
			AddScans(table, true);
	}
}


/* ----------------------------------------------------------------
 *		Joins on credit
 * ----------------------------------------------------------------
 */

/* GEQO's joins are gone with the memory of one of its trials, and this with them. */
static void
JoinsGone(void *arg)
{
	if (search != NULL && search->joins == arg)
		search->joins = NULL;
}

/*
 * CreditsOf
 *		Our paths of a relation, two lists; NULL if there are none.
 */
static List **
CreditsOf(RelOptInfo *rel, bool create)
{
	JoinCredits *entry;
	bool		found;
	ListCell   *lc;

	foreach(lc, search->tables)
	{
		PlanTable  *table = lfirst(lc);

		if (table->rel == rel)
			return table->credits;
	}
	if (search->joins == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(RelOptInfo *),
			.entrysize = sizeof(JoinCredits),
			.hcxt = GetMemoryChunkContext(rel)
		};
		MemoryContextCallback *callback;

		if (!create)
			return NULL;
		search->joins = hash_create("joins on credit", 64, &control,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		callback = MemoryContextAlloc(control.hcxt, sizeof(MemoryContextCallback));
		callback->func = JoinsGone;
		callback->arg = search->joins;
		MemoryContextRegisterResetCallback(control.hcxt, callback);
	}
	entry = hash_search(search->joins, &rel, create ? HASH_ENTER : HASH_FIND, &found);
	if (create && !found)
		memset(entry->credits, 0, sizeof(entry->credits));
	return entry == NULL ? NULL : entry->credits;
}

/* Of those that lack the same, the cheapest one stays. */
static void
AddCredit(List **credits, Credit *credit)
{
	ListCell   *lc;

	foreach(lc, *credits)
	{
		Credit	   *old = lfirst(lc);

		if (old->table != credit->table || old->missing != credit->missing)
			continue;
		if (credit->path->total_cost < old->path->total_cost)
			lfirst(lc) = credit;
		return;
	}
	*credits = lappend(*credits, credit);
}

/* A join that the hook was called for. */
typedef struct PlanJoin
{
	RelOptInfo *rel;
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	type;
	JoinPathExtraData *extra;
	List	   *clauses;		/* that can be hashed */
	int			keys_of;		/* the relation that all keys are columns of,
								 * or 0 */
	bool		quiet;			/* nobody notices for how many rows it is done */
} PlanJoin;

/* Does each row of a join come from one of the outer side? */
static bool
ComesFromOuter(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_LEFT ||
		type == JOIN_ANTI;
}

/*
 * IsPassed
 *		Would the executor pass a join with this inner side on its way down
 *		(scan.c, IsLoud)?
 */
static bool
IsPassed(Path *path)
{
	ListCell   *lc;

	check_stack_depth();
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			if (!IsQuiet(((JoinPath *) path)->joinrestrictinfo))
				return false;
			break;
		case T_IndexPath:
		case T_BitmapHeapPath:
		case T_AppendPath:
		case T_MaterialPath:
		case T_MemoizePath:
		case T_SortPath:
			break;
		default:
			if (path->pathtype != T_SeqScan)
				return false;
			break;
	}
	foreach(lc, Subpaths(path))
	{
		if (!IsPassed(lfirst(lc)))
			return false;
	}
	return IsQuiet(path->parent->baserestrictinfo);
}

/*
 * KeysOf
 *		The relation that all keys of a hash join are columns of; 0 if there is
 *		none, or if the executor does not test them at its scan.
 */
static int
KeysOf(List *clauses, RelOptInfo *outer, RelOptInfo *inner)
{
	int			relid = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *ri = lfirst_node(RestrictInfo, lc);
		Node	   *a,
				   *b;

		if (!SidesOf(ri, outer->relids, inner->relids, &a, &b) ||
			!IsTestable(a, b, ri->hashjoinoperator) ||
			(relid != 0 && relid != ((Var *) a)->varno))
			return 0;
		relid = ((Var *) a)->varno;
	}
	return list_length(clauses) <= SCAN_MAX_KEYS ? relid : 0;
}

/* The conditions of a join that the server would hash. */
static List *
HashClauses(const PlanJoin *join)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, join->extra->restrictlist)
	{
		RestrictInfo *ri = lfirst_node(RestrictInfo, lc);
		Node	   *ignored;

		if ((!IS_OUTER_JOIN(join->type) ||
			 !RINFO_IS_PUSHED_DOWN(ri, join->rel->relids)) &&
			SidesOf(ri, join->outer->relids, join->inner->relids, &ignored, &ignored))
			clauses = lappend(clauses, ri);
	}
	return clauses;
}

/*
 * Joined
 *		A join has been made: if providers are missing, keep it; else it is a
 *		path like any other.
 */
static void
Joined(const PlanJoin *join, const Credit *credit, uint32 missing, Path *path,
	   Path *plain, bool partial)
{
	const PlanBounds *bounds = search->bounds;
	double		nrows = path->rows * KeptBy(credit->table, missing);
	double		expected = credit->path->rows * join->rel->rows / Max(join->outer->rows, 1);

	/*
	 * Its cost is that of a random part of the outer rows, but those that
	 * were dropped are the ones that would find no partner.
	 */
	path->total_cost += cpu_tuple_cost * Max(nrows - expected, 0);
	path->rows = clamp_row_est(nrows);
	if (missing != 0)
	{
		Credit	   *new = palloc(sizeof(Credit));

		new->table = credit->table;
		new->missing = missing;
		new->path = path;
		new->plain = plain;
		AddCredit(&CreditsOf(join->rel, true)[partial], new);
		return;
	}
	if (plain->total_cost >= bounds->regret * search->first_cost)
		return;
	path->total_cost *= bounds->price;
	path->startup_cost = Min(path->startup_cost, path->total_cost);
	search->paid = true;
	if (partial)
		add_partial_path(join->rel, path);
	else
		add_path(join->rel, path);
}

static void
TryHash(const PlanJoin *join, const Credit *credit, uint32 missing, Path *inner,
		bool partial, bool parallel_hash)
{
	Path	   *outers[] = {credit->path, credit->plain};
	Path	   *paths[2];

	if (inner == NULL || PATH_REQ_OUTER(inner) != NULL ||
		(missing != 0 && !IsPassed(inner)))
		return;
	for (int i = 0; i < 2; i++)
	{
		JoinCostWorkspace workspace;

		initial_cost_hashjoin(search->root, &workspace, join->type, join->clauses,
							  outers[i], inner, join->extra, parallel_hash);
		/* no process reads all of its tuples, and there is no filter */
		if (parallel_hash && workspace.numbatches > 1 && missing != credit->missing)
			return;
		paths[i] = (Path *)
			create_hashjoin_path(search->root, join->rel, join->type, &workspace,
								 join->extra, outers[i], inner, parallel_hash,
								 join->extra->restrictlist, NULL, join->clauses);
	}
	Joined(join, credit, missing, paths[0], paths[1], partial);
}

static void
TryHashes(const PlanJoin *join, const Credit *credit, uint32 missing, bool partial)
{
	Path	   *inner = join->inner->cheapest_total_path;

	if (join->clauses == NIL)
		return;
	if (partial)
	{
		if (enable_parallel_hash && join->inner->partial_pathlist != NIL)
			TryHash(join, credit, missing, linitial(join->inner->partial_pathlist), true, true);
		if (inner != NULL && !inner->parallel_safe)
			inner = get_cheapest_parallel_safe_total_inner(join->inner->pathlist);
	}
	TryHash(join, credit, missing, inner, partial, false);
}

/*
 * TryCredit
 *		All joins of a path on credit with this inner side.
 *
 * A provider that has come in part cannot come any more.
 */
static void
TryCredit(const PlanJoin *join, const Credit *credit, bool partial)
{
	const PlanTable *table = credit->table;
	uint32		missing = credit->missing;

	bool		is_outer = ComesFromOuter(join->type);

	for (int i = 0; i < list_length(table->providers); i++)
	{
		Relids		relids = ((Provider *) list_nth(table->providers, i))->relids;

		if ((credit->missing & (1 << i)) == 0)
			continue;
		if (bms_is_subset(relids, join->inner->relids))
			missing &= ~(1 << i);
		else if (bms_overlap(relids, join->inner->relids))
			return;
	}
	/* what is left of the providers would have to pass this join */
	if (missing != 0 && !(join->quiet && is_outer))
		return;
	if (partial && !(join->rel->consider_parallel && is_outer))
		return;
	if (missing == credit->missing ||
		(BloomScanDropsUnmatched(join->type) &&
		 join->keys_of == (int) table->rel->relid))
		TryHashes(join, credit, missing, partial);
}

static void
JoinPaths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	List	  **outer;
	PlanJoin	join = {0};

	if (previous_join)
		previous_join(root, joinrel, outerrel, innerrel, jointype, extra);
	if (search == NULL || search->root != root || BloomScanIsGrouped(joinrel) ||
		joinrel->lateral_relids != NULL)
		return;
	outer = CreditsOf(outerrel, false);
	if (outer == NULL)
		return;
	join.rel = joinrel;
	join.outer = outerrel;
	join.inner = innerrel;
	join.type = jointype;
	join.extra = extra;
	join.clauses = HashClauses(&join);
	join.keys_of = KeysOf(join.clauses, outerrel, innerrel);
	join.quiet = IsQuiet(extra->restrictlist);
	for (int partial = 0; partial <= 1; partial++)
	{
		List	   *credits = outer[partial];
		ListCell   *lc;

		foreach(lc, credits)
			TryCredit(&join, lfirst(lc), partial != 0);
	}
}


/* ----------------------------------------------------------------
 *		The two searches
 * ----------------------------------------------------------------
 */

/*
 * Saved
 *		What a path of the first search costs less than the server thinks, since
 *		the executor puts filters into it as well.
 *
 * above: providers whose filters come down to here.
 */
static Cost
Saved(const PlanTable *table, uint32 above, Path *path)
{
	JoinPath   *join = (JoinPath *) path;
	Cost		saved = 0;
	ListCell   *lc;

	check_stack_depth();
	if (path->pathtype == T_SeqScan && list_member_ptr(table->scanned, path->parent))
		return SavedByScan(table, above, path);
	if (IsA(path, HashPath) || IsA(path, NestPath) || IsA(path, MergePath))
	{
		Path	   *outer = join->outerjoinpath;
		Path	   *inner = join->innerjoinpath;
		Cost		own = path->total_cost - outer->total_cost;

		if (!bms_is_member(table->rel->relid, outer->parent->relids))
			return Saved(table, 0, inner);
		if (!ComesFromOuter(join->jointype) || !IsPassed(inner) ||
			!IsQuiet(join->joinrestrictinfo))
			above = 0;
		if (IsA(path, HashPath))
		{
			own -= inner->total_cost;
			if (BloomScanDropsUnmatched(join->jointype) &&
				KeysOf(((HashPath *) path)->path_hashclauses, outer->parent,
					   inner->parent) == (int) table->rel->relid)
				above = AddProviders(table, above, inner->parent->relids);
		}
		return own * (1 - KeptBy(table, above)) + Saved(table, above, outer);
	}
	foreach(lc, Subpaths(path))
		saved += Saved(table, IsA(path, AppendPath) ? above : 0, lfirst(lc));
	return saved;
}

static RelOptInfo *
SearchJoins(PlannerInfo *root, int levels, List *initial_rels)
{
	if (previous_search)
		return previous_search(root, levels, initial_rels);
	if (enable_geqo && levels >= geqo_threshold)
		return geqo(root, levels, initial_rels);
	return standard_join_search(root, levels, initial_rels);
}

/* The best path of a relation; a partial one is gathered later. */
static Path *
BestPath(RelOptInfo *rel)
{
	Path	   *best = rel->cheapest_total_path;

	if (rel->partial_pathlist != NIL &&
		((Path *) linitial(rel->partial_pathlist))->total_cost < best->total_cost)
		best = linitial(rel->partial_pathlist);
	return best;
}

static RelOptInfo *
SearchTwice(PlannerInfo *root, int levels, List *initial_rels)
{
	PlanSearch	second = {
		.root = root,
		.bounds = *testing == SCAN_TESTING_OFF ? &usual_bounds : &no_bounds
	};
	PlanSearch *outer_search;
	List	   *before;
	List	   *first_joins;
	HTAB	   *first_hash;
	RelOptInfo *first;
	RelOptInfo *result;
	ListCell   *lc;

	if (!plan_enabled || !*enabled || previous_search != NULL ||
		!enable_hashjoin || !enable_seqscan)
		return SearchJoins(root, levels, initial_rels);
	before = list_copy(root->join_rel_list);
	first = SearchJoins(root, levels, initial_rels);
	if (IS_DUMMY_REL(first))
		return first;
	second.first = BestPath(first);
	second.first_cost = second.first->total_cost;
	if (second.first_cost < second.bounds->first_cost)
		return first;
	foreach(lc, initial_rels)
		second.relids = bms_add_members(second.relids, ((RelOptInfo *) lfirst(lc))->relids);
	second.relids = bms_intersect(second.relids, root->all_baserels);

	/* as GEQO does for each of its trials */
	result = first;
	first_joins = root->join_rel_list;
	first_hash = root->join_rel_hash;
	outer_search = search;
	search = &second;
	PG_TRY();
	{
		MakeScans(initial_rels);
		if (second.tables != NIL)
		{
			second.filtered_cost = second.first_cost;
			foreach(lc, second.tables)
				second.filtered_cost -= Saved(lfirst(lc), 0, second.first);
			root->join_rel_list = before;
			root->join_rel_hash = NULL;
			result = SearchJoins(root, levels, initial_rels);
		}
	}
	PG_FINALLY();
	{
		search = outer_search;
	}
	PG_END_TRY();
	if (!second.paid || BestPath(result)->total_cost >= second.filtered_cost)
	{
		root->join_rel_list = first_joins;
		root->join_rel_hash = first_hash;
		return first;
	}
	BloomScanNote(second.notes, second.filtered_cost, BestPath(result)->total_cost);
	return result;
}


/* ----------------------------------------------------------------
 *		The setting
 * ----------------------------------------------------------------
 */

/*
 * BloomScanPlanInit
 *		Called once, when all other hooks of the library are there.
 */
void
BloomScanPlanInit(const bool *scan_enabled, const int *scan_testing)
{
	enabled = scan_enabled;
	testing = scan_testing;
	DefineCustomBoolVariable("bloomtype_scan.plan",
							 "Lets the planner expect that hash joins drop rows where these are read.",
							 "Expensive joins are planned twice. No effect unless bloomtype_scan.enabled is on.",
							 &plan_enabled, false, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	previous_search = join_search_hook;
	join_search_hook = SearchTwice;
	previous_join = set_join_pathlist_hook;
	set_join_pathlist_hook = JoinPaths;
	BloomScanNoteInit();
}
