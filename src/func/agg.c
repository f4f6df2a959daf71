/*-------------------------------------------------------------------------
 *
 * func/agg.c
 *		The aggregates' transition, combine and final functions.
 *
 * bloom_agg has three forms, told apart by their number of arguments:
 *
 *		(state, key)						size the filter at the end
 *		(state, key, fp_prob)				size the filter at the end
 *		(state, key, capacity, fp_prob)		a given shape
 *
 * All arguments but the key are read on the first row only.
 *
 * PostgreSQL's own aggregates do not do this (its opr_sanity test forbids it),
 * because of a trap: bloom_agg(k ORDER BY k, 0.01) is a call with one argument
 * whose rows are sorted by two expressions.  The forms stay all the same, since
 * an aggregate takes neither defaults nor named arguments, and three names for
 * one thing would be worse.
 *
 * Each form exists for anyelement, with a state of type internal, and so does
 * that of counting filters, which is like the third.  The state knows the type of
 * its keys, so that parallel plans can combine partial ones.  The first and the
 * third exist for integers and uuid as well, with a flat state of type bloom.
 * Distributed engines aggregate in parts only what is of this kind, and call it
 * without an expression tree and without anything kept between the rows; so those
 * functions know the key type themselves.
 *
 * There is none for text, to which the parser would cast citext, whose equal
 * values are different texts.  Where it has done so is not known at run time: in
 * a window, for a constant, after the planner has removed a pair of casts, or in
 * a view that was dumped.  Types that are no "preferred" ones have no such pull.
 *
 * The states are the same in all of them (filter/state.c).
 *
 * None of them is strict.  A group whose keys are all null still has a shape.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/nodes.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "filter/setops.h"
#include "filter/fetch.h"
#include "filter/state.h"
#include "func/agg_state.h"
#include "filter/call.h"
#include "key/hash.h"

/* ----------------------------------------------------------------
 *							CALLS
 * ----------------------------------------------------------------
 */

/*
 * The context that a state lives in.  An error, if this is no aggregate: the
 * state is changed in place, which would be wrong for any other value.
 */
static MemoryContext
StateContext(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (unlikely(!AggCheckCallContext(fcinfo, &context)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s called in non-aggregate context",
						get_func_name(fcinfo->flinfo->fn_oid)),
				 errhint("For single filters, use functions such as bloom_add or counting_bloom_add.")));
	return context;
}

/* An error if this is no aggregate, found out without a call. */
static inline void
CheckContext(FunctionCallInfo fcinfo)
{
	if (unlikely(fcinfo->context == NULL ||
				 !(IsA(fcinfo->context, AggState) ||
				   IsA(fcinfo->context, WindowAggState))))
		(void) StateContext(fcinfo);
}

/* ----------------------------------------------------------------
 *							STATES
 * ----------------------------------------------------------------
 */

/*
 * What a transition function returns: what it got, if the state has stayed
 * where it was.
 */
static inline Datum
ReturnState(FunctionCallInfo fcinfo, Bloom *state, Bloom *old)
{
	if (likely(state == old && !PG_ARGISNULL(0) &&
			   BloomAggIsInPlace(PG_GETARG_DATUM(0))))
		return PG_GETARG_DATUM(0);
	return BloomAggReplaced(fcinfo, state, StateContext(fcinfo));
}

/*
 * The rate in a second argument.  An error if it is none: it may be meant as
 * a capacity, or as a second column of the key.
 */
static float8
GetSecondArgAsRate(FunctionCallInfo fcinfo)
{
	float8		fp_prob;
	uint64		max_capacity = BLOOM_MAX_BITS /
	BloomParamsFor(BLOOM_DEFAULT_FP_PROB, false).bits_per_key;

	BloomCheckNotNull(PG_ARGISNULL(2), "fp_prob");
	fp_prob = PG_GETARG_FLOAT8(2);
	if (!(fp_prob > 0 && fp_prob < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fp_prob %g is out of range", fp_prob),
				 errdetail("The second of two arguments is fp_prob, which is greater than 0 and less than 1."),
				 fp_prob >= 1 && fp_prob <= max_capacity ?
				 errhint("A capacity is followed by an fp_prob: bloom_agg(key, %.0f, %g). A key of two columns is a row: bloom_agg(ROW(a, b)).",
						 ceil(fp_prob), BLOOM_DEFAULT_FP_PROB) :
				 errhint("A key of two columns is a row: bloom_agg(ROW(a, b)). A rate of one percent is 0.01.")));
	return fp_prob;
}

/* A state of the shape that capacity and fp_prob determine. */
static Bloom *
FirstSizedState(FunctionCallInfo fcinfo, BloomKind kind)
{
	BloomShape	shape;

	BloomCheckNotNull(PG_ARGISNULL(2), "capacity");
	BloomCheckNotNull(PG_ARGISNULL(3), "fp_prob");
	shape = BloomShapeFor(kind, PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3), 0);
	return BloomStateMake(&shape, kind);
}

/*
 * The state that the arguments of the first row ask for.
 */
static pg_noinline Bloom *
FirstState(FunctionCallInfo fcinfo)
{
	float8		fp_prob = BLOOM_DEFAULT_FP_PROB;
	BloomShape	shape;

	if (PG_NARGS() == 4)
		return FirstSizedState(fcinfo, BLOOM_PLAIN);
	if (PG_NARGS() == 3)
		fp_prob = GetSecondArgAsRate(fcinfo);
	shape = BloomShapeForCollecting(fp_prob);
	return BloomStateMake(&shape, BLOOM_PLAIN);
}

/*
 * The state of a counting filter, which always has a shape.
 */
static pg_noinline Bloom *
FirstCountingState(FunctionCallInfo fcinfo)
{
	return FirstSizedState(fcinfo, BLOOM_COUNTING);
}

/* ----------------------------------------------------------------
 *							TRANSITION, BY KEY TYPE
 *
 * A function for each key type, with its hash inlined, since a switch or a
 * call per row would be most of the cost.
 * ----------------------------------------------------------------
 */

/* Does this call's aggregate know its shape? */
#define WhenFull() \
	(PG_NARGS() == 4 ? BLOOM_TURN_INTO_BITS : BLOOM_FAIL_WHEN_FULL)

/* The hash of argument 1, which is not null */
typedef uint64 (*HashArg) (FunctionCallInfo fcinfo, uint64 seed);

/*
 * A key whose type is not the state's, or is not known to be: it may be the
 * first, or a number beside numbers of another type.
 */
static pg_noinline Bloom *
SetKeyType(FunctionCallInfo fcinfo, Bloom *state, Oid type,
		   const BloomKeyType *key_type, uint64 *hash)
{
	BloomHasher hasher;

	if (state->key_type == 0)
		return BloomStateSetKeyType(state, key_type);
	BloomHasherInit(&hasher, type, PG_GET_COLLATION());
	*hash = BloomHashKey(&hasher, PG_GETARG_DATUM(1), state, BLOOM_TO_ADD);
	return state;
}

static pg_attribute_always_inline Datum
Transition(FunctionCallInfo fcinfo, Oid type, Oid key_type_id, HashArg hash_arg)
{
	BloomKeyType key_type = BloomBuiltinKeyType(key_type_id);
	Bloom	   *old;
	Bloom	   *state;
	uint64		hash;

	CheckContext(fcinfo);
	if (likely(!PG_ARGISNULL(0)))
		old = BloomAggState(PG_GETARG_DATUM(0));
	else
		old = FirstState(fcinfo);
	if (PG_ARGISNULL(1))
		return ReturnState(fcinfo, old, old);
	hash = hash_arg(fcinfo, old->seed);
	state = old;
	if (unlikely(old->key_type != key_type.id))
		state = SetKeyType(fcinfo, old, type, &key_type, &hash);
	return ReturnState(fcinfo, BloomStateAdd(state, hash, WhenFull()), old);
}

static inline uint64
HashInt2(FunctionCallInfo fcinfo, uint64 seed)
{
	return BloomHashInt64(PG_GETARG_INT16(1), seed);
}

static inline uint64
HashInt4(FunctionCallInfo fcinfo, uint64 seed)
{
	return BloomHashInt64(PG_GETARG_INT32(1), seed);
}

static inline uint64
HashInt8(FunctionCallInfo fcinfo, uint64 seed)
{
	return BloomHashInt64(PG_GETARG_INT64(1), seed);
}

static inline uint64
HashUuid(FunctionCallInfo fcinfo, uint64 seed)
{
	return BloomHashUuid(PG_GETARG_UUID_P(1), seed);
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_int2);
Datum
_bloom_agg_trans_int2(PG_FUNCTION_ARGS)
{
	return Transition(fcinfo, INT2OID, INT8OID, HashInt2);
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_int4);
Datum
_bloom_agg_trans_int4(PG_FUNCTION_ARGS)
{
	return Transition(fcinfo, INT4OID, INT8OID, HashInt4);
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_int8);
Datum
_bloom_agg_trans_int8(PG_FUNCTION_ARGS)
{
	return Transition(fcinfo, INT8OID, INT8OID, HashInt8);
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_uuid);
Datum
_bloom_agg_trans_uuid(PG_FUNCTION_ARGS)
{
	return Transition(fcinfo, UUIDOID, UUIDOID, HashUuid);
}

/* ----------------------------------------------------------------
 *							TRANSITION, ANY OTHER TYPE
 *
 * Here the state is internal: the server does not copy it, so that we own it.
 * ----------------------------------------------------------------
 */

typedef Bloom *(*MakeFirst) (FunctionCallInfo fcinfo);

static Datum
TransitionAny(FunctionCallInfo fcinfo, MakeFirst make_first,
			  BloomWhenFull when_full)
{
	MemoryContext context = StateContext(fcinfo);
	BloomHasher *hasher = fcinfo->flinfo->fn_extra;
	Bloom	   *state;
	uint64		hash;

	if (PG_ARGISNULL(0))
		state = BloomStateOwn(make_first(fcinfo), context);
	else
		state = (Bloom *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);

	if (hasher == NULL)
		hasher = BloomMakeCallSite(fcinfo, 1, false, sizeof(BloomHasher));
	hash = BloomHashKey(hasher, PG_GETARG_DATUM(1), state, BLOOM_TO_ADD);
	if (unlikely(state->key_type == 0))
		state = BloomStateSetKeyType(state, &hasher->key_type);
	PG_RETURN_POINTER(BloomStateAdd(state, hash, when_full));
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_any);
Datum
_bloom_agg_trans_any(PG_FUNCTION_ARGS)
{
	return TransitionAny(fcinfo, FirstState, WhenFull());
}

PG_FUNCTION_INFO_V1(_counting_bloom_agg_trans_any);
Datum
_counting_bloom_agg_trans_any(PG_FUNCTION_ARGS)
{
	return TransitionAny(fcinfo, FirstCountingState, BLOOM_TURN_INTO_BITS);
}

/* ----------------------------------------------------------------
 *							COMBINE
 * ----------------------------------------------------------------
 */

/*
 * The second argument of a combine function added to the first; each may be
 * null.  Both are flat, or both internal, which the server does not copy.
 */
static Datum
Combine(FunctionCallInfo fcinfo, BloomWhenFull when_full, bool is_internal)
{
	const Bloom *other;
	Bloom	   *old;
	Bloom	   *state;

	CheckContext(fcinfo);
	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}

	other = BloomAggStateToRead(PG_GETARG_DATUM(1));
	if (PG_ARGISNULL(0))
	{
		BloomCheckCanMerge(other, when_full);
		return is_internal ?
			PointerGetDatum(BloomStateOwn(other, StateContext(fcinfo))) :
			BloomAggFirst(other, StateContext(fcinfo));
	}

	old = BloomAggState(PG_GETARG_DATUM(0));
	state = BloomStateMerge(old, other, when_full);
	return is_internal ? PointerGetDatum(state) : ReturnState(fcinfo, state, old);
}

/*
 * _bloom_agg_collect_combine
 *		Combine partial states whose shape is made at the end.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_collect_combine);
Datum
_bloom_agg_collect_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_FAIL_WHEN_FULL, false);
}

/*
 * _bloom_union_agg_trans
 *		Add a filter or a state of a given shape, unless it is null.  For both
 *		types.
 */
PG_FUNCTION_INFO_V1(_bloom_union_agg_trans);
Datum
_bloom_union_agg_trans(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS, false);
}

PG_FUNCTION_INFO_V1(_bloom_agg_collect_combine_internal);
Datum
_bloom_agg_collect_combine_internal(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_FAIL_WHEN_FULL, true);
}

PG_FUNCTION_INFO_V1(_bloom_agg_combine);
Datum
_bloom_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS, true);
}

/*
 * _bloom_agg_serialize
 *		The bytes of an internal state, for another process of the server.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_serialize);
Datum
_bloom_agg_serialize(PG_FUNCTION_ARGS)
{
	Bloom	   *state = (Bloom *) PG_GETARG_POINTER(0);

	CheckContext(fcinfo);
	BloomStateCompact(state);
	PG_RETURN_POINTER(BloomStateFrom(state));
}

/*
 * _bloom_agg_deserialize
 *		The state of these bytes, where a state may stand.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_deserialize);
Datum
_bloom_agg_deserialize(PG_FUNCTION_ARGS)
{
	const bytea *bytes = PG_GETARG_BYTEA_PP(0);
	Size		size = VARSIZE_ANY_EXHDR(bytes) + VARHDRSZ;
	Bloom	   *state = BloomAllocate(CurrentMemoryContext, size);

	CheckContext(fcinfo);
	SET_VARSIZE(state, size);
	memcpy(VARDATA(state), VARDATA_ANY(bytes), size - VARHDRSZ);
	PG_RETURN_POINTER(state);
}

/*
 * _bloom_intersect_agg_trans
 *		Keep what a filter holds as well, unless it is null.  Combines states
 *		as well.
 */
PG_FUNCTION_INFO_V1(_bloom_intersect_agg_trans);
Datum
_bloom_intersect_agg_trans(PG_FUNCTION_ARGS)
{
	CheckContext(fcinfo);
	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	if (PG_ARGISNULL(0))
		return PointerGetDatum(PG_GETARG_BLOOM_P(1));
	PG_RETURN_BLOOM_P(BloomIntersect(PG_GETARG_BLOOM_P(0),
									 PG_GETARG_BLOOM_P(1)));
}

/* ----------------------------------------------------------------
 *							FINAL
 * ----------------------------------------------------------------
 */

/*
 * The filter that a state of a given shape stands for.
 *
 * For a state of one of our types and one of type internal, which are the
 * same.  Over no rows at all, that is an unsized filter.  A state that goes on,
 * in a window, or that another aggregate of the query shares, stays a state.
 *
 * It warns once for each aggregate of a query, not for each group.
 */
static Datum
Final(FunctionCallInfo fcinfo, BloomKind kind)
{
	const Bloom *filter;

	CheckContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_BLOOM_P(BloomMake(NULL, NULL, kind | BLOOM_KEYS, 0));
	filter = BloomStateToValue(BloomAggStateToRead(PG_GETARG_DATUM(0)),
							   !AggStateIsShared(fcinfo));
	return BloomReturnCombined(fcinfo, filter);
}

/*
 * _bloom_agg_final
 *		The filter that a state of a given shape stands for.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_final);
Datum
_bloom_agg_final(PG_FUNCTION_ARGS)
{
	return Final(fcinfo, BLOOM_PLAIN);
}

/*
 * _counting_bloom_agg_final
 *		The counting filter that a state stands for.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_agg_final);
Datum
_counting_bloom_agg_final(PG_FUNCTION_ARGS)
{
	return Final(fcinfo, BLOOM_COUNTING);
}

/*
 * _bloom_agg_fit_final
 *		The filter for the keys that a state has collected.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_fit_final);
Datum
_bloom_agg_fit_final(PG_FUNCTION_ARGS)
{
	CheckContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_BLOOM_P(BloomMake(NULL, NULL, BLOOM_KEYS, 0));
	PG_RETURN_BLOOM_P(BloomStateToFittedValue(BloomAggStateToRead(PG_GETARG_DATUM(0)),
											  !AggStateIsShared(fcinfo)));
}
