/*-------------------------------------------------------------------------
 *
 * func/agg.c
 *		The aggregates' transition, combine and final functions.
 *
 * bloom_agg exists once for each of the common key types, with a flat state
 * of type bloom and a combine function, and once for anyelement, with a state
 * of type internal and no combine function.  Distributed engines aggregate in
 * parts only what is of the first kind, and call it without an expression
 * tree and without anything kept between the rows; so those functions know
 * the key type themselves.
 *
 * Each has three forms, told apart by their number of arguments:
 *
 *		(state, key)						collect the keys, size the filter
 *		(state, key, fp_prob)				at the end
 *		(state, key, capacity, fp_prob)		a shape given beforehand
 *
 * and a fourth of another name, (state, key, filter), that starts with a copy
 * of a filter.  What is not the key is looked at on the first row only.
 *
 * The aggregates of counting filters have the third form, and the same parts:
 * what differs between a state of the one kind and of the other is asked in
 * StateFrom, PublishState, StateWithKeyType and MergeState.
 *
 * None of them is strict.  A group whose keys are all null still has a shape.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "filter/fetch.h"
#include "key/hash.h"
#include "filter/state.h"
#include "filter/counting_state.h"

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
				 errmsg("%s is called outside of an aggregate",
						get_func_name(fcinfo->flinfo->fn_oid)),
				 errhint("For single filters, use functions such as bloom_add or counting_bloom_add.")));
	return context;
}

/* The same check, without a call. */
static inline void
CheckContext(FunctionCallInfo fcinfo)
{
	if (unlikely(fcinfo->context == NULL ||
				 !(IsA(fcinfo->context, AggState) ||
				   IsA(fcinfo->context, WindowAggState))))
		(void) StateContext(fcinfo);
}

/* ----------------------------------------------------------------
 *							STATES AS ARGUMENTS AND RESULTS
 *
 * The first argument in an aggregate is the aggregate's own, and can be
 * changed in place.  But it can also be a value, and that in any form that
 * the server has for one: as an initial value, or where somebody has made an
 * aggregate of our functions and others.  A value is never changed: a state
 * is made of it.
 * ----------------------------------------------------------------
 */

/*
 * A very large state is behind a handle that nodeAgg.c takes over as it is:
 * an expanded object.  So it can be reallocated, while any other state would
 * exist three times when it has to grow.
 *
 * Small states have none.  An expanded object has a memory context of its own,
 * and a hash aggregate looks at every context for each new group.
 */
#define LARGE_STATE_SIZE	(1024 * 1024)

typedef struct LargeState
{
	ExpandedObjectHeader header;
	Bloom	   *state;			/* in the object's context */
} LargeState;

/* A state made of a value, or the copy of a state. */
static Bloom *
StateFrom(const Bloom *filter)
{
	return BloomKindOf(filter) == BLOOM_COUNTING ?
		BloomCountingStateFrom(filter) : BloomStateFrom(filter);
}

/* The value of a state or value, which may be itself. */
static const Bloom *
PublishState(Bloom *state)
{
	if (BloomIsPublic(state))
		return state;
	return BloomKindOf(state) == BLOOM_COUNTING ?
		BloomCountingStatePublish(state) : BloomStatePublish(state);
}

/* The state, which takes keys of this type from now on. */
static Bloom *
StateWithKeyType(Bloom *state, const BloomKeyType *key_type)
{
	return BloomKindOf(state) == BLOOM_COUNTING ?
		BloomCountingStateNoteKeyType(state, key_type) :
		BloomStateNoteKeyType(state, key_type);
}

/* The state with the content of another, or of a value. */
static Bloom *
MergeState(Bloom *state, const Bloom *other, BloomWhenFull when_full)
{
	return BloomKindOf(state) == BLOOM_COUNTING ?
		BloomCountingStateMerge(state, other) :
		BloomStateMerge(state, other, when_full);
}

/*
 * What leaves the process is a value, which is smaller than a state.
 */
static Size
LargeStateFlatSize(ExpandedObjectHeader *header)
{
	LargeState *large = (LargeState *) header;
	MemoryContext oldcontext = MemoryContextSwitchTo(header->eoh_context);
	Bloom	   *value = unconstify(Bloom *, PublishState(large->state));

	MemoryContextSwitchTo(oldcontext);
	if (value != large->state)
		pfree(large->state);
	large->state = value;
	return VARSIZE(value);
}

static void
LargeStateFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	memcpy(result, ((LargeState *) header)->state, size);
}

static const ExpandedObjectMethods LargeStateMethods = {
	LargeStateFlatSize,
	LargeStateFlatten
};

/* The handle that a Datum is, or NULL. */
static LargeState *
LargeStateOf(Datum datum)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	header = DatumGetEOHP(datum);
	return header->eoh_methods == &LargeStateMethods ? (LargeState *) header : NULL;
}

/* Is a state behind this Datum that we can change in place? */
#define IsInPlace(datum) \
	(VARATT_IS_4B_U(DatumGetPointer(datum)) || \
	 VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))

/*
 * The state or value that an argument is, to be looked at.
 */
static const Bloom *
LookAtState(Datum datum)
{
	LargeState *large = LargeStateOf(datum);

	return large != NULL ? large->state : BloomFetchState(datum);
}

/*
 * The state or value that an argument is, to be changed.
 */
static inline Bloom *
StateOf(Datum datum)
{
	const Bloom *state;

	if (likely(VARATT_IS_4B_U(DatumGetPointer(datum))))
		return (Bloom *) DatumGetPointer(datum);
	state = LookAtState(datum);
	if (!IsInPlace(datum) && !BloomIsPublic(state))
		state = StateFrom(state);
	return unconstify(Bloom *, state);
}

/* Have a handle's state replaced. */
static void
ReplaceState(LargeState *large, Bloom *state)
{
	Bloom	   *old = large->state;

	if (state == old)
		return;
	if (BloomStateIsOwned(state))
	{
		/* it was reallocated */
		large->state = state;
		return;
	}
	large->state = BloomAllocate(large->header.eoh_context, VARSIZE(state));
	memcpy(large->state, state, VARSIZE(state));
	if (!BloomIsPublic(state))
		BloomStateTailOf(large->state)->is_owned = true;
	pfree(old);
	pfree(state);
}

/*
 * A handle for a copy of a state, or for a state made of a value.
 */
static Datum
MakeLarge(FunctionCallInfo fcinfo, const Bloom *state)
{
	MemoryContext context = AllocSetContextCreate(StateContext(fcinfo),
												  "bloomtype aggregate state",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext oldcontext = MemoryContextSwitchTo(context);
	LargeState *large = palloc(sizeof(LargeState));

	EOH_init_header(&large->header, &LargeStateMethods, context);
	large->state = StateFrom(state);
	BloomStateTailOf(large->state)->is_owned = true;
	MemoryContextSwitchTo(oldcontext);
	return EOHPGetRWDatum(&large->header);
}

/*
 * What a transition function returns for a state that has been replaced.
 */
static pg_noinline Datum
ReturnReplaced(FunctionCallInfo fcinfo, Bloom *state)
{
	Datum		result;

	if (!PG_ARGISNULL(0) &&
		VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(PG_GETARG_DATUM(0))))
	{
		LargeState *large = LargeStateOf(PG_GETARG_DATUM(0));

		if (large != NULL)
		{
			ReplaceState(large, state);
			return PG_GETARG_DATUM(0);
		}
	}
	if (VARSIZE(state) < LARGE_STATE_SIZE || BloomIsPublic(state))
		return PointerGetDatum(state);

	result = MakeLarge(fcinfo, state);
	pfree(state);
	return result;
}

/*
 * What a transition function returns: what it got, if the state has stayed
 * where it was.
 */
static inline Datum
ReturnState(FunctionCallInfo fcinfo, Bloom *state, Bloom *old)
{
	if (likely(state == old && !PG_ARGISNULL(0) &&
			   IsInPlace(PG_GETARG_DATUM(0))))
		return PG_GETARG_DATUM(0);
	return ReturnReplaced(fcinfo, state);
}

static void
CheckNotNull(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/*
 * The state that the arguments of the first row ask for.
 */
static pg_noinline Bloom *
FirstState(FunctionCallInfo fcinfo)
{
	BloomShape	shape;

	switch (PG_NARGS())
	{
		case 2:
			shape = BloomShapeForCollecting(BLOOM_DEFAULT_FP_PROB);
			break;
		case 3:
			CheckNotNull(fcinfo, 2, "fp_prob");
			shape = BloomShapeForCollecting(PG_GETARG_FLOAT8(2));
			break;
		default:
			CheckNotNull(fcinfo, 2, "capacity");
			CheckNotNull(fcinfo, 3, "fp_prob");
			shape = BloomShapeForCapacity(PG_GETARG_FLOAT8(2),
										  PG_GETARG_FLOAT8(3), 0);
			break;
	}
	return BloomStateMake(&shape);
}

/*
 * The same for a counting filter, which always has a shape.
 */
static pg_noinline Bloom *
FirstCountingState(FunctionCallInfo fcinfo)
{
	BloomShape	shape;

	CheckNotNull(fcinfo, 2, "capacity");
	CheckNotNull(fcinfo, 3, "fp_prob");
	shape = BloomCountingShape(PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3), 0);
	return BloomCountingStateMake(&shape);
}

/*
 * The state that starts with a copy of a filter.
 */
static pg_noinline Bloom *
FirstStateInto(FunctionCallInfo fcinfo)
{
	const Bloom *filter;

	CheckNotNull(fcinfo, 2, "filter");
	filter = PG_GETARG_BLOOM_P(2);
	BloomCheckHasShape(filter);
	return BloomStateFrom(filter);
}

/*
 * A key whose type is not the state's, or is not known to be: it may be the
 * first, or a number that meets those of another type.
 */
static pg_noinline Bloom *
NoteKeyType(FunctionCallInfo fcinfo, Bloom *state, Oid type,
			const BloomKeyType *key_type, uint64 *hash)
{
	BloomKeyType has = BloomKeyTypeOf(state);
	BloomHasher hasher;

	if (has.id == 0)
		return StateWithKeyType(state, key_type);
	if (!BloomSameKeyType(&has, key_type))
	{
		BloomHasherInit(&hasher, type, PG_GET_COLLATION());
		*hash = BloomHashKey(&hasher, PG_GETARG_DATUM(1), state, BLOOM_TO_ADD);
	}
	return state;
}

/* Does this call's aggregate know its shape? */
#define WhenFull() \
	(PG_NARGS() == 4 ? BLOOM_TURN_INTO_BITS : BLOOM_FAIL_WHEN_FULL)

/* ----------------------------------------------------------------
 *							TRANSITION, BY KEY TYPE
 *
 * A function for each key type, with its hash inlined, since a switch or a
 * call per row would be most of the cost.
 * ----------------------------------------------------------------
 */

#define TRANSITION_BODY(first_state, add, type, get_hash) \
	Bloom	   *old; \
	Bloom	   *state; \
	BloomKeyType key_type; \
	uint64		hash; \
 \
	CheckContext(fcinfo); \
	if (likely(!PG_ARGISNULL(0))) \
		old = StateOf(PG_GETARG_DATUM(0)); \
	else \
		old = first_state(fcinfo); \
	if (PG_ARGISNULL(1)) \
		return ReturnState(fcinfo, old, old); \
	get_hash; \
	state = old; \
	if (unlikely(old->key_type != key_type.id || key_type.words > 0)) \
		state = NoteKeyType(fcinfo, old, type, &key_type, &hash); \
	state = add; \
	return ReturnState(fcinfo, state, old)

#define TRANSITION_FUNCTIONS(name, type, get_hash) \
PG_FUNCTION_INFO_V1(_bloom_agg_trans_##name); \
Datum \
_bloom_agg_trans_##name(PG_FUNCTION_ARGS) \
{ \
	TRANSITION_BODY(FirstState, BloomStateAdd(state, hash, WhenFull()), \
					type, get_hash); \
} \
PG_FUNCTION_INFO_V1(_bloom_agg_into_trans_##name); \
Datum \
_bloom_agg_into_trans_##name(PG_FUNCTION_ARGS) \
{ \
	TRANSITION_BODY(FirstStateInto, \
					BloomStateAdd(state, hash, BLOOM_TURN_INTO_BITS), \
					type, get_hash); \
} \
PG_FUNCTION_INFO_V1(_counting_bloom_agg_trans_##name); \
Datum \
_counting_bloom_agg_trans_##name(PG_FUNCTION_ARGS) \
{ \
	TRANSITION_BODY(FirstCountingState, BloomCountingStateAdd(state, hash), \
					type, get_hash); \
} \
extern int	bloom_no_such_symbol	/* swallow a semicolon */

#define FIXED(type_of_keys, hash_function, value) \
	key_type = BloomBuiltinKeyType(type_of_keys); \
	hash = hash_function(value, old->seed)

/*
 * An error, on the first row, if these keys became text by a cast that nobody
 * asked for.
 */
static pg_noinline void
CheckTextKeys(FunctionCallInfo fcinfo)
{
	static char checked;
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Oid			type = InvalidOid;

	if (aggref != NULL && aggref->args != NIL)
		type = BloomTypeTakenForText((Node *) linitial_node(TargetEntry, aggref->args)->expr);
	if (OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys of type %s would become text", format_type_be(type)),
				 errdetail("Type %s may have equal values that are different texts.",
						   format_type_be(type)),
				 errhint("Say which text the key is: lower(column) for a type that ignores case, column::text for the text as it is.")));
	fcinfo->flinfo->fn_extra = &checked;
}

static inline uint64
HashTextKey(FunctionCallInfo fcinfo, uint64 seed, BloomKeyType *key_type)
{
	Oid			collation = PG_GET_COLLATION();

	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		CheckTextKeys(fcinfo);

	/* without an expression, nobody could have said which collation */
	if (unlikely(!OidIsValid(collation) && fcinfo->flinfo->fn_expr == NULL))
		collation = DEFAULT_COLLATION_OID;
	return BloomHashText(PG_GETARG_DATUM(1), collation, seed, key_type);
}

#define COLLATED \
	hash = HashTextKey(fcinfo, old->seed, &key_type)

TRANSITION_FUNCTIONS(int2, INT2OID, FIXED(INT8OID, BloomHashInt64, PG_GETARG_INT16(1)));
TRANSITION_FUNCTIONS(int4, INT4OID, FIXED(INT8OID, BloomHashInt64, PG_GETARG_INT32(1)));
TRANSITION_FUNCTIONS(int8, INT8OID, FIXED(INT8OID, BloomHashInt64, PG_GETARG_INT64(1)));
TRANSITION_FUNCTIONS(text, TEXTOID, COLLATED);
TRANSITION_FUNCTIONS(uuid, UUIDOID, FIXED(UUIDOID, BloomHashUuid, PG_GETARG_UUID_P(1)));
TRANSITION_FUNCTIONS(bytea, BYTEAOID, FIXED(BYTEAOID, BloomHashVarlena, PG_GETARG_DATUM(1)));
TRANSITION_FUNCTIONS(numeric, NUMERICOID, FIXED(NUMERICOID, BloomHashNumeric, PG_GETARG_DATUM(1)));
TRANSITION_FUNCTIONS(float8, FLOAT8OID, FIXED(FLOAT8OID, BloomHashFloat64, PG_GETARG_FLOAT8(1)));
TRANSITION_FUNCTIONS(date, DATEOID, FIXED(DATEOID, BloomHashInt32, PG_GETARG_DATEADT(1)));
TRANSITION_FUNCTIONS(timestamp, TIMESTAMPOID, FIXED(TIMESTAMPOID, BloomHashInt64, PG_GETARG_TIMESTAMP(1)));
TRANSITION_FUNCTIONS(timestamptz, TIMESTAMPTZOID, FIXED(TIMESTAMPTZOID, BloomHashInt64, PG_GETARG_TIMESTAMPTZ(1)));

/* ----------------------------------------------------------------
 *							TRANSITION, ANY OTHER TYPE
 *
 * Here the state is internal: nobody copies it for us, so that we own it.
 * ----------------------------------------------------------------
 */

static Datum
TransitionAny(FunctionCallInfo fcinfo,
			  Bloom *(*first_state) (FunctionCallInfo),
			  BloomWhenFull when_full)
{
	MemoryContext context = StateContext(fcinfo);
	BloomHasher *hasher = fcinfo->flinfo->fn_extra;
	Bloom	   *state;
	uint64		hash;

	if (PG_ARGISNULL(0))
		state = BloomStateOwn(first_state(fcinfo), context);
	else
	{
		state = (Bloom *) PG_GETARG_POINTER(0);
		if (unlikely(BloomIsPublic(state)))
		{
			/* it was published, and goes on */
			Bloom	   *value = state;

			state = BloomStateOwn(StateFrom(value), context);
			pfree(value);
		}
	}
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);

	if (hasher == NULL)
		hasher = BloomMakeCallSite(fcinfo, 1, false, sizeof(BloomHasher));
	hash = BloomHashKey(hasher, PG_GETARG_DATUM(1), state, BLOOM_TO_ADD);
	if (unlikely(state->key_type == 0))
		state = StateWithKeyType(state, &hasher->key_type);
	if (BloomKindOf(state) == BLOOM_COUNTING)
		PG_RETURN_POINTER(BloomCountingStateAdd(state, hash));
	PG_RETURN_POINTER(BloomStateAdd(state, hash, when_full));
}

PG_FUNCTION_INFO_V1(_bloom_agg_trans_any);
Datum
_bloom_agg_trans_any(PG_FUNCTION_ARGS)
{
	return TransitionAny(fcinfo, FirstState, WhenFull());
}

PG_FUNCTION_INFO_V1(_bloom_agg_into_trans_any);
Datum
_bloom_agg_into_trans_any(PG_FUNCTION_ARGS)
{
	return TransitionAny(fcinfo, FirstStateInto, BLOOM_TURN_INTO_BITS);
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
 * null.
 */
static Datum
Combine(FunctionCallInfo fcinfo, BloomWhenFull when_full)
{
	const Bloom *other;
	Bloom	   *old;
	Bloom	   *state;

	CheckContext(fcinfo);
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		return PG_GETARG_DATUM(0);
	}

	other = LookAtState(PG_GETARG_DATUM(1));
	if (PG_ARGISNULL(0))
	{
		BloomCheckCanMerge(other, when_full);
		if (VARSIZE(other) >= LARGE_STATE_SIZE)
			return MakeLarge(fcinfo, other);
		if (!BloomIsPublic(other))
			other = StateFrom(other);
		return PointerGetDatum(other);
	}

	old = StateOf(PG_GETARG_DATUM(0));
	state = MergeState(old, other, when_full);
	return ReturnState(fcinfo, state, old);
}

/*
 * _bloom_agg_combine
 *		Combine partial states of a given shape.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_combine);
Datum
_bloom_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS);
}

/*
 * _bloom_agg_collect_combine
 *		Combine partial states whose shape is made at the end.
 */
PG_FUNCTION_INFO_V1(_bloom_agg_collect_combine);
Datum
_bloom_agg_collect_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_FAIL_WHEN_FULL);
}

/*
 * _bloom_union_agg_trans
 *		Add a filter, unless it is null.  Combines states as well.
 */
PG_FUNCTION_INFO_V1(_bloom_union_agg_trans);
Datum
_bloom_union_agg_trans(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS);
}

/*
 * _counting_bloom_agg_combine
 *		Combine partial states of counting filters.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_agg_combine);
Datum
_counting_bloom_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS);
}

/*
 * _counting_bloom_sum_agg_trans
 *		Add a counting filter, unless it is null.  Combines states as well.
 */
PG_FUNCTION_INFO_V1(_counting_bloom_sum_agg_trans);
Datum
_counting_bloom_sum_agg_trans(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, BLOOM_TURN_INTO_BITS);
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
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
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
 * The state or value that a final function gets.
 *
 * The server passes a handle that is for reading only, since a state may go
 * on.  Publishing changes a state within its meaning, which is allowed.
 */
static Bloom *
FinalState(FunctionCallInfo fcinfo)
{
	LargeState *large = LargeStateOf(PG_GETARG_DATUM(0));

	return large != NULL ? large->state : StateOf(PG_GETARG_DATUM(0));
}

/*
 * Warn of a filter that holds more keys than its capacity: once for each
 * aggregate of a query, not for each group.
 */
static void
WarnIfOverfull(FunctionCallInfo fcinfo, const Bloom *filter)
{
	static const char warned[] = "warned";

	if (fcinfo->flinfo->fn_extra != NULL || !BloomIsOverfull(filter))
		return;
	fcinfo->flinfo->fn_extra = unconstify(char *, &warned[0]);
	BloomWarnOverfull(filter);
}

/*
 * The filter that a state of a given shape stands for.
 *
 * For a state of one of our types and one of type internal, which are the
 * same.  Over no rows at all, that is an empty filter without a shape.
 */
static Datum
Final(FunctionCallInfo fcinfo, BloomKind kind)
{
	const Bloom *filter;

	CheckContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_BLOOM_P(kind == BLOOM_COUNTING ? BloomCountingMakeShapeless() :
						  BloomMakeShapeless());
	filter = PublishState(FinalState(fcinfo));
	WarnIfOverfull(fcinfo, filter);
	PG_RETURN_BLOOM_P(filter);
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
		PG_RETURN_BLOOM_P(BloomMakeShapeless());
	PG_RETURN_BLOOM_P(BloomStatePublishFitted(FinalState(fcinfo)));
}
