/*-------------------------------------------------------------------------
 *
 * set/define.c
 *		What a stored set is: parameters, generations, and its table.
 *
 * The table
 * ---------
 *
 *		bucket	lane	slice		filter	room
 *		-1		<= 0	-infinity	a key	NULL: its type is that of all keys
 *		0..		0		see below	keys	zeros
 *		0..		< 0		see below	NULL	a lane: hashes of keys
 *
 * The hash of a key determines its bucket.  The slice is the beginning of a
 * time slice, or -infinity in a set that keeps its keys.  Rows are made when
 * they are needed; to truncate the table is to empty the set.  What the rows of
 * a bucket hold is in set/set.c.
 *
 * Beside a filter, "room" has as many zero bytes as the filter in keys form
 * lacks in size until it has turned into bits.  So no filter's row grows, and
 * no row is so large that TOAST would look at it.
 *
 * The parameters
 * --------------
 *
 * The parameters of a set are the arguments of that column's default.  A table
 * of parameters of all sets would be the obvious place; but there, everybody
 * who may create a set could change everybody else's, and rows would have to be
 * kept true when tables are renamed, moved, dropped, dumped or restored one by
 * one.  A part of the table's definition is seen by all, is changed only by the
 * table's owner, and goes wherever the table goes.  A default, unlike a
 * constraint or the expression of a generated column, costs an update nothing.
 *
 * Nothing that an owner can write is believed.  A table is a set only if it has
 * exactly the columns, types, default and primary key that bloom_set_create
 * makes (or a copy of that, which REINDEX CONCURRENTLY leaves when it fails),
 * and nothing that would run code or hide rows.  So we can read and
 * write it without the executor, and no code of its owner runs as the caller.
 *
 * Generations
 * -----------
 *
 * A set that grows does so bucket by bucket.  When half of the bits of a filter
 * are set, its bucket is closed: further keys go to two buckets of the next
 * generation, half of them to each, and so on.  Nothing is moved, and no number
 * is kept for the whole set, which all adds would have to change: the rows of a
 * bucket show whether it is closed.
 *
 * With half of its bits set, a filter of k hashes has a rate of 2^-k.  A key is
 * looked for in one bucket of each generation, so the rates add up.  Of the rate
 * that was asked, generation g has at most 1 / ((g + 1) * (g + 2)): 1/2, 1/6,
 * 1/12, ..., whose sum is 1 however many there are.  (With a half for each next
 * one, the fourteenth would take 30 bits a key at one percent; so it takes 22.)
 * In hashes, that is ceil(log2((g + 1) * (g + 2) / 2)) more than the first has:
 * whole numbers, the same on every machine.
 *
 * Capacity and rate of a set that does not grow
 * ---------------------------------------------
 *
 * Some buckets get more keys than others, and their rate is above the mean by
 * more than the others' is below.  Buckets are sized for the mean over all of
 * them (the number of keys in a bucket has a Poisson distribution).
 *
 * A key is looked for in each live time slice, of which there are one more than
 * slices in "keep".  So each is sized for the rate divided by their number.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/shortest_dec.h"
#include "nodes/makefuncs.h"
#include "port/pg_bitutils.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "key/key_type.h"
#include "set/define.h"

/*
 * With the header of a filter, of a row and its line pointers (two, after an
 * update), 6 rows of this many bits and an old version of one fill a page.
 */
#define BUCKET_BITS			8512

/*
 * How many standard deviations of its number of keys the buckets of a set that
 * grows have to spare: one in 160 is full when the set holds its capacity.
 */
#define SPARE_DEVIATIONS	2.5

PG_FUNCTION_INFO_V1(_bloom_set_room);

/* ----------------------------------------------------------------
 *							SIZING
 * ----------------------------------------------------------------
 */

/* The mean rate of buckets with so many keys on average. */
static double
MixedRate(double keys, int64 bits, int hashes)
{
	double		spread = 10 * sqrt(keys) + 10;
	double		rate = 0;

	for (double n = floor(Max(1, keys - spread)); n <= keys + spread; n++)
		rate += exp(n * log(keys) - keys - lgamma(n + 1)) *
			BloomRate(bits / n, hashes);
	return rate;
}

/* How many keys may a bucket have on average? */
static double
MixedCapacity(int64 bits, int hashes, double fp_prob)
{
	double		low = 0;
	double		high = (double) bits;

	while (high - low > 0.01)
	{
		double		middle = (low + high) / 2;

		if (MixedRate(middle, bits, hashes) <= fp_prob)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * StoredSetSliceCapacity, StoredSetSliceRate
 *		Keys and rate of one time slice.
 */
int64
StoredSetSliceCapacity(const StoredSetParams *params)
{
	if (params->keeps_all)
		return params->capacity;
	return (params->capacity - 1) / params->slices + 1;
}

double
StoredSetSliceRate(const StoredSetParams *params)
{
	if (params->keeps_all)
		return params->fp_prob;
	return params->fp_prob / (params->slices + 1);
}

/* So many buckets, if there can be so many. */
static void
SetBuckets(StoredSetParams *params, double buckets)
{
	if (buckets > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity " INT64_FORMAT " is too large for a set",
						params->capacity),
				 errdetail("The set would have more than %d buckets.",
						   PG_INT32_MAX)));
	params->buckets = (int32) buckets;
}

/*
 * StoredSetSize
 *		The number of buckets, and their shape, by the other parameters.
 */
void
StoredSetSize(StoredSetParams *params)
{
	int64		capacity = StoredSetSliceCapacity(params);
	double		fp_prob = StoredSetSliceRate(params);
	double		most = 0;

	params->bits = BUCKET_BITS;
	if (params->grows)
	{
		double		keys;

		params->hashes = (int32) ceil(-log2(fp_prob)) + 1;
		keys = BUCKET_BITS * M_LN2 / params->hashes;
		SetBuckets(params,
				   ceil(capacity / (keys - SPARE_DEVIATIONS * sqrt(keys))));
		return;
	}

	if (capacity <= BUCKET_BITS)
	{
		BloomShape	small = BloomShapeForCapacity(capacity, fp_prob, 0);

		if (small.bits <= BUCKET_BITS)
		{
			params->buckets = 1;
			params->bits = small.bits;
			params->hashes = small.hashes;
			return;
		}
	}
	for (int hashes = Max(1, (int) -log2(fp_prob) - 1);
		 hashes <= Min(BLOOM_MAX_HASHES, -log2(fp_prob) + 1); hashes++)
	{
		/* the formula is for large filters: small ones have a little more */
		double		keys = MixedCapacity(BUCKET_BITS, hashes, 0.99 * fp_prob);

		if (keys > most)
		{
			most = keys;
			params->hashes = hashes;
		}
	}
	SetBuckets(params, ceil(capacity / most));
}

/* ----------------------------------------------------------------
 *							GENERATIONS
 * ----------------------------------------------------------------
 */

/*
 * StoredSetHashes
 *		The number of hashes in a generation.
 */
int
StoredSetHashes(const StoredSetParams *params, int generation)
{
	uint32		part = (uint32) (generation + 1) * (generation + 2) / 2;

	/* ceil(log2(part)) */
	return params->hashes + (part == 1 ? 0 : pg_leftmost_one_pos32(part - 1) + 1);
}

/* How many generations have bucket numbers and hashes? */
static int
CountGenerations(const StoredSetParams *params)
{
	int			n = 1;

	if (!params->grows)
		return 1;
	while (((int64) params->buckets << (n + 1)) - params->buckets <= PG_INT32_MAX &&
		   StoredSetHashes(params, n) <= BLOOM_MAX_HASHES)
		n++;
	return n;
}

/*
 * StoredSetShape
 *		The shape of the buckets of a generation.
 */
BloomShape
StoredSetShape(const StoredSet *set, int generation)
{
	const StoredSetParams *params = &set->params;
	BloomShape	shape = BloomShapeExplicit(params->bits,
										   StoredSetHashes(params, generation),
										   params->seed);

	if (!params->grows)
	{
		shape.capacity = Max(1, (uint64) ceil(set->bucket_capacity));
		shape.fp_prob = StoredSetSliceRate(params);
	}
	return shape;
}

/*
 * StoredSetGeneration
 *		The generation of a bucket.  -1, if the set can have no such bucket.
 */
int
StoredSetGeneration(const StoredSet *set, int32 bucket)
{
	if (bucket < 0)
		return -1;
	for (int i = 0; i < set->generations; i++)
	{
		if (bucket < ((int64) set->params.buckets << (i + 1)) - set->params.buckets)
			return i;
	}
	return -1;
}

/*
 * StoredSetFirstBucket
 *		The bucket of the first generation that has the keys of this one.
 */
int32
StoredSetFirstBucket(const StoredSet *set, int32 bucket)
{
	int			generation = StoredSetGeneration(set, bucket);
	int64		before = ((int64) set->params.buckets << generation) -
	set->params.buckets;

	return (int32) ((bucket - before) >> generation);
}

/* ----------------------------------------------------------------
 *							PARAMETERS
 * ----------------------------------------------------------------
 */

/*
 * _bloom_set_room
 *		Null: its arguments are the parameters of a set, which are kept here.
 */
Datum
_bloom_set_room(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_NULL();
}

/*
 * StoredSetDefault
 *		The default of the column "room", without the function's schema.
 */
char *
StoredSetDefault(const StoredSetParams *params)
{
	return psprintf("_bloom_set_room('" INT64_FORMAT "'::pg_catalog.int8,"
					" '%s'::pg_catalog.float8,"
					" '" INT64_FORMAT "'::pg_catalog.int8,"
					" %d, %d, '" INT64_FORMAT "'::pg_catalog.int8, %d,"
					" '" INT64_FORMAT "'::pg_catalog.int8, %s)",
					params->capacity,
					double_to_shortest_decimal(params->fp_prob),
					params->keep, params->slices, params->buckets, params->bits,
					params->hashes, params->seed,
					params->grows ? "true" : "false");
}

/* What is wrong with parameters, which an owner can have written.  Or NULL. */
static const char *
CheckParams(const StoredSetParams *params)
{
	bool		good = params->capacity >= 1 &&
	params->capacity <= STORED_SET_MAX_CAPACITY &&
	params->fp_prob < 1 && StoredSetSliceRate(params) >= BloomMinFpProb() &&
	params->slices >= 1 && params->slices <= STORED_SET_MAX_SLICES &&
	(params->keeps_all || params->keep >= params->slices) &&
	params->keep <= STORED_SET_MAX_KEEP &&
	params->buckets >= 1 &&
	params->bits >= (int64) BLOOM_MIN_BITS && params->bits <= BUCKET_BITS &&
	params->bits % 64 == 0 &&
	params->hashes >= 1 && params->hashes <= BLOOM_MAX_HASHES &&
	(!params->grows || params->hashes <= params->bits / 2);

	return good ? NULL : "A parameter in the default of its column \"room\" is out of range.";
}

/*
 * Read the parameters in the definition of a table.  The result says what is
 * wrong, or is NULL.
 */
static const char *
ReadParams(TupleDesc desc, StoredSetParams *params)
{
	FuncExpr   *call = NULL;
	Datum		values[STORED_SET_PARAMETERS];
	FmgrInfo	flinfo;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		if (desc->constr->defval[i].adnum != STORED_SET_ROOM)
			return psprintf("Its column \"%s\" has a default.",
							NameStr(TupleDescAttr(desc, desc->constr->defval[i].adnum - 1)->attname));
		call = (FuncExpr *) stringToNode(desc->constr->defval[i].adbin);
	}

	if (call == NULL || !IsA(call, FuncExpr) ||
		list_length(call->args) != STORED_SET_PARAMETERS)
		return "The default of its column \"room\" is not a call of _bloom_set_room.";
	fmgr_info(call->funcid, &flinfo);
	if (flinfo.fn_addr != _bloom_set_room)
		return "The default of its column \"room\" is not a call of _bloom_set_room.";

	for (int i = 0; i < STORED_SET_PARAMETERS; i++)
	{
		Const	   *argument = list_nth(call->args, i);

		if (!IsA(argument, Const) || argument->constisnull)
			return psprintf("Parameter %d in the default of its column \"room\" is not a constant.",
							i + 1);
		values[i] = argument->constvalue;
	}
	params->capacity = DatumGetInt64(values[0]);
	params->fp_prob = DatumGetFloat8(values[1]);
	params->keep = DatumGetInt64(values[2]);
	params->keeps_all = params->keep == 0;
	params->slices = DatumGetInt32(values[3]);
	params->buckets = DatumGetInt32(values[4]);
	params->bits = DatumGetInt64(values[5]);
	params->hashes = DatumGetInt32(values[6]);
	params->seed = DatumGetInt64(values[7]);
	params->grows = DatumGetBool(values[8]);
	return CheckParams(params);
}

/* ----------------------------------------------------------------
 *							IDENTITY
 * ----------------------------------------------------------------
 */

/* What is wrong with the columns, or NULL. */
static const char *
CheckColumns(TupleDesc desc)
{
	static const struct
	{
		const char *name;
		Oid			type;		/* 0: bloom */
		bool		notnull;
	}			columns[STORED_SET_COLUMNS] =
	{
		{"bucket", INT4OID, true},
		{"lane", INT4OID, true},
		{"slice", TIMESTAMPTZOID, true},
		{"filter", InvalidOid, false},
		{"room", BYTEAOID, false}
	};

	if (desc->natts != STORED_SET_COLUMNS)
		return psprintf("It has %d columns (with those that were dropped), and not bucket, lane, slice, filter, room.",
						desc->natts);
	for (int i = 0; i < STORED_SET_COLUMNS; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const char *name = columns[i].name;

		if (attribute->attisdropped ||
			strcmp(NameStr(attribute->attname), name) != 0)
			return psprintf("Its column %d is not \"%s\".", i + 1, name);
		if (OidIsValid(columns[i].type) ?
			attribute->atttypid != columns[i].type :
			!(BloomKindOfType(attribute->atttypid) == BLOOM_PLAIN &&
			  get_typtype(attribute->atttypid) == TYPTYPE_BASE))
			return psprintf("Its column \"%s\" is not of type %s.", name,
							OidIsValid(columns[i].type) ?
							format_type_be(columns[i].type) : "bloom");
		if (attribute->attgenerated != '\0' || attribute->attidentity != '\0')
			return psprintf("Its column \"%s\" is generated.", name);
		if (columns[i].notnull && !attribute->attnotnull)
			return psprintf("Its column \"%s\" may be null.", name);
	}
	return NULL;
}

/* Is a column of an index sorted as usual, and is it of this type? */
static bool
IsDefaultOpClass(Relation index, int column, Oid type)
{
	return index->rd_opcintype[column] == type &&
		index->rd_opfamily[column] ==
		get_opclass_family(GetDefaultOpClass(type, BTREE_AM_OID));
}

/* Is an index as the primary key of a set, be it valid or not? */
static bool
IsLikePrimaryKey(Relation index)
{
	Form_pg_index form = index->rd_index;

	return form->indisunique && form->indimmediate &&
		form->indnatts == 3 && form->indnkeyatts == 3 &&
		form->indkey.values[0] == STORED_SET_BUCKET &&
		form->indkey.values[1] == STORED_SET_SLICE &&
		form->indkey.values[2] == STORED_SET_LANE &&
		index->rd_rel->relam == BTREE_AM_OID &&
		IsDefaultOpClass(index, 0, INT4OID) &&
		IsDefaultOpClass(index, 1, TIMESTAMPTZOID) &&
		IsDefaultOpClass(index, 2, INT4OID) &&
		index->rd_indoption[0] == 0 && index->rd_indoption[1] == 0 &&
		index->rd_indoption[2] == 0 &&
		RelationGetIndexExpressions(index) == NIL &&
		RelationGetIndexPredicate(index) == NIL;
}

/*
 * What is wrong with the indexes, or NULL.
 *
 * REINDEX CONCURRENTLY makes a copy of the primary key, exchanges the two, and
 * drops the old one; when it is cancelled, either can stay behind.
 */
static const char *
CheckIndexes(Relation rel, StoredSet *set)
{
	List	   *indexes = RelationGetIndexList(rel);
	const char *wrong = NULL;
	ListCell   *cell;

	set->index = InvalidOid;
	set->ncopies = 0;
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (!IsLikePrimaryKey(index))
			wrong = form->indisprimary ?
				psprintf("Its index \"%s\" is not a primary key (bucket, slice, lane) that is checked at once.",
						 RelationGetRelationName(index)) :
				psprintf("It has an index \"%s\" besides the primary key.",
						 RelationGetRelationName(index));
		else if (form->indisprimary)
		{
			set->index = RelationGetRelid(index);
			if (!form->indisvalid || !form->indisready || !form->indislive)
				wrong = "Its primary key is not valid.";
		}
		else if (set->ncopies == STORED_SET_MAX_COPIES)
			wrong = "It has too many indexes.";
		else if (form->indisready)
			set->copies[set->ncopies++] = RelationGetRelid(index);
		index_close(index, NoLock);
		if (wrong != NULL)
			return wrong;
	}
	list_free(indexes);
	return OidIsValid(set->index) ? NULL : "It has no primary key.";
}

/* What a table has that a set does not have, or NULL. */
static const char *
CheckExtras(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		return "It is not an ordinary table.";
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return "Its access method is not heap.";
	if (RELATION_IS_OTHER_TEMP(rel))
		return "It is a temporary table of another session.";
	if (rel->rd_rel->relispartition || has_superclass(RelationGetRelid(rel)))
		return "It inherits from another table, or is a partition.";
	if (rel->rd_rel->relhassubclass &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL)
		return "Another table inherits from it.";
	if (rel->trigdesc != NULL && rel->trigdesc->numtriggers > 0 &&
		rel->trigdesc->triggers[0].tgisinternal)
		return "It has a foreign key, or a constraint that is deferrable.";
	if (rel->trigdesc != NULL && rel->trigdesc->numtriggers > 0)
		return psprintf("It has a trigger \"%s\".",
						rel->trigdesc->triggers[0].tgname);
	if (rel->rd_rules != NULL && rel->rd_rules->numLocks > 0)
		return "It has a rule.";
	if (rel->rd_rel->relrowsecurity || rel->rd_rel->relforcerowsecurity)
		return "It has row-level security.";
	if (constr != NULL && constr->num_check > 0)
		return psprintf("It has a check constraint \"%s\".",
						constr->check[0].ccname);
	return NULL;
}

/*
 * StoredSetDefine
 *		Find out whether an open table is a set, and which.
 *
 * NULL, if it is one; otherwise a sentence that says why it is none.  All of
 * this is known from the relation cache, whose entries are invalidated when
 * any of it changes.
 */
const char *
StoredSetDefine(Relation rel, StoredSet *set)
{
	StoredSetParams *params = &set->params;
	const char *wrong;

	wrong = CheckExtras(rel);
	if (wrong == NULL)
		wrong = CheckColumns(RelationGetDescr(rel));
	if (wrong == NULL)
		wrong = CheckIndexes(rel, set);
	if (wrong == NULL)
		wrong = ReadParams(RelationGetDescr(rel), params);
	if (wrong != NULL)
		return wrong;

	set->relid = RelationGetRelid(rel);
	set->generations = CountGenerations(params);
	set->slice_length = params->keeps_all ? 0 :
		(params->keep - 1) / params->slices + 1;
	set->bucket_capacity = StoredSetSliceCapacity(params) /
		(double) params->buckets;
	return NULL;
}
