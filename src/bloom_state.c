/*-------------------------------------------------------------------------
 *
 * bloom_state.c
 *		An aggregate's transition state: a filter that is changed in place.
 *
 * The state is a flat varlena of type bloom, neither "internal" nor an
 * expanded object.  An internal state would keep distributed engines from
 * aggregating in parts; an expanded object per group owns a memory context,
 * and a hash aggregate that walks all of them for each new group takes
 * quadratic time.
 *
 * nodeAgg.c gives the rules.  A transition function that returns the pointer
 * that it got has changed the state in place, and costs nothing.  Anything
 * else it returns is copied into the aggregate's context, and the old state
 * is freed; so a larger state is allocated in the current, short-lived
 * context, and growing by doubling makes that rare.
 *
 * Representations
 * ---------------
 *
 * While there are few enough keys for the keys form, a state collects their
 * hashes in a hash table, which is a representation of its own, since in a
 * sorted list every new key would move all others.  No value outside of an
 * aggregate has it; publishing makes a list of it.  The switch to bits comes
 * at the same number of keys as everywhere.
 *
 * A large state keeps the last few hashes that were added behind its content,
 * as a ring, and asks for their cache lines when they enter it.  By the time
 * that a hash leaves the ring and goes to its place, that is in the cache.
 * "pending" says where in the ring the oldest hash is.  A zero hash is an empty
 * place.
 *
 * A state in bits form does not count the bits that it sets.  Publishing does.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bloom_state.h"

/* The first table, with its header: 10 slots, for 8 keys */
#define INITIAL_STATE_SIZE		128

/* Content from this size on is likely to miss the cache, and gets a ring */
#define RING_FROM_SIZE			(512 * 1024)

/* Most keys of an aggregate that makes its shape at the end */
#define MAX_COLLECTED_WORDS		(BLOOM_MAX_BITS / 64)

static uint64 *
Ring(Bloom *state)
{
	Assert(state->pending >= BLOOM_RING);
	return (uint64 *) ((char *) state + VARSIZE(state)) - BLOOM_PENDING;
}

/*
 * BloomShapeForCollecting
 *		The shape of a state that collects keys in order to size a filter.
 *
 * It is the largest with this fp_prob, so that every partial state is a valid
 * filter in keys form.
 */
BloomShape
BloomShapeForCollecting(double fp_prob)
{
	BloomShape	shape = BloomShapeForCapacity(1, fp_prob, 0);
	BloomParams params;

	(void) BloomBestParams(fp_prob, &params);
	shape.bits = BLOOM_MAX_BITS;
	shape.capacity = BloomMaxCapacity(params.bits_per_key);
	return shape;
}

/* ----------------------------------------------------------------
 *							MAKING AND GROWING
 * ----------------------------------------------------------------
 */

/*
 * An empty state with this much room for content, and a ring if it is large.
 */
static Bloom *
MakeState(const Bloom *like, BloomRepresentation representation, Size nbytes)
{
	bool		ring = nbytes >= RING_FROM_SIZE;
	Bloom	   *state = BloomMakeLike(like, representation, nbytes +
									  (ring ? BLOOM_PENDING * sizeof(uint64) : 0));

	state->pending = ring ? BLOOM_RING : BLOOM_NO_RING;
	return state;
}

/*
 * A table state with room for at least so many keys.
 */
static Bloom *
MakeTable(const Bloom *like, uint64 nkeys)
{
	Size		size = INITIAL_STATE_SIZE;
	uint64		needed = BloomTableSlotsFor(nkeys);
	uint64		most = BloomTableSlotsFor((uint64) like->words);
	uint64		slots;

	/* sizes that waste nothing in the server's allocator */
	while ((size - BLOOM_HEADER_SIZE) / sizeof(uint64) < needed)
		size *= 2;
	slots = (size - BLOOM_HEADER_SIZE) / sizeof(uint64);

	/* more keys than this will not be in a table */
	slots = Max(Min(slots, most), needed);
	return MakeState(like, BLOOM_TABLE, slots * sizeof(uint64));
}

/*
 * BloomStateMake
 *		An empty state of this shape.
 */
Bloom *
BloomStateMake(const BloomShape *shape)
{
	Bloom	   *empty = BloomMakeEmpty(shape);
	Bloom	   *state = MakeTable(empty, 1);

	pfree(empty);
	return state;
}

/*
 * BloomStateFrom
 *		A state with the content of a filter, which stays as it is.
 */
Bloom *
BloomStateFrom(const Bloom *filter)
{
	Bloom	   *state;

	if (BloomIsBits(filter))
	{
		state = MakeState(filter, BLOOM_BITS, BloomBitBytes(filter));
		memcpy(state->data, filter->data, BloomBitBytes(filter));
		return state;
	}

	Assert(BloomIsKeys(filter));
	state = MakeTable(filter, filter->count + 1);
	BloomTableInsertNew(state->data, BloomStateSlots(state),
						filter->data, filter->count);
	state->count = filter->count;
	return state;
}

/*
 * Set the bits of all hashes in an array that has empty places.
 */
static void
SetBitsOfSlots(Bloom *bits, const uint64 *slots, uint64 nslots)
{
	uint64		batch[1024];
	int			n = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		if (slots[i] == 0)
			continue;
		batch[n++] = slots[i];
		if (n == lengthof(batch))
		{
			BloomSetMany(bits, batch, n);
			n = 0;
		}
	}
	BloomSetMany(bits, batch, n);
}

/* Take over the pending hashes of a state that is replaced by a larger one. */
static void
MovePending(Bloom *state, Bloom *old)
{
	if (old->pending < BLOOM_RING)
		return;
	memcpy(Ring(state), Ring(old), BLOOM_PENDING * sizeof(uint64));
	state->pending = old->pending;
}

/*
 * A state in bits form with the content of a table or list of keys.
 */
static Bloom *
TurnIntoBits(Bloom *old)
{
	Bloom	   *state = MakeState(old, BLOOM_BITS, BloomBitBytes(old));

	SetBitsOfSlots(state, old->data, BloomStateSlots(old));
	if (old->pending >= BLOOM_RING && state->pending < BLOOM_RING)
		SetBitsOfSlots(state, Ring(old), BLOOM_PENDING);
	else
		MovePending(state, old);
	return state;
}

/*
 * The same content with room for more than so many keys in all.
 */
static Bloom *
GrowTo(Bloom *state, uint64 nkeys, BloomWhenFull when_full)
{
	Bloom	   *grown;

	Assert(BloomIsTable(state));
	CHECK_FOR_INTERRUPTS();
	if (!BloomHoldsAsKeys(state->words, nkeys))
	{
		if (when_full == BLOOM_FAIL_WHEN_FULL)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many distinct keys for a filter that sizes itself"),
					 errdetail("Such an aggregate collects fewer than " UINT64_FORMAT " distinct keys.",
							   (uint64) MAX_COLLECTED_WORDS),
					 errhint("Name a capacity: bloom_agg(key, capacity, fp_prob).")));
		return TurnIntoBits(state);
	}

	grown = MakeTable(state, nkeys + 1);
	BloomTableInsertNew(grown->data, BloomStateSlots(grown),
						state->data, BloomStateSlots(state));
	grown->count = state->count;
	MovePending(grown, state);
	return grown;
}

/*
 * BloomStateGrow
 *		The same content with room for more.  The old state is as it was.
 */
Bloom *
BloomStateGrow(Bloom *state, BloomWhenFull when_full)
{
	return GrowTo(state, state->count, when_full);
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/*
 * Put one hash into the content of a table or bits state.
 */
static Bloom *
Settle(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	uint64		slots;

	if (BloomIsBits(state))
	{
		(void) BloomSetBits(BloomBitData(state), BloomBits(state),
							state->hashes, hash);
		return state;
	}

	slots = BloomStateSlots(state);
	if (!BloomTableInsert(state->data, slots, hash))
		return state;
	if (++state->count < BloomTableRoom(slots) &&
		BloomHoldsAsKeys(state->words, state->count))
		return state;
	return BloomStateGrow(state, when_full);
}

/*
 * A state that can be changed: an aggregate may have begun with a value.
 */
static Bloom *
OwnState(Bloom *state)
{
	if (BloomIsKeys(state))
		return BloomStateFrom(state);
	if (state->pending == BLOOM_NOT_A_STATE)
		state->pending = BLOOM_NO_RING;
	return state;
}

/*
 * BloomStateAddSlow
 *		Add one hash to a state that is large, or was not made for adding.
 */
Bloom *
BloomStateAddSlow(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	int			index;
	uint64		oldest;

	if (state->pending < BLOOM_RING)
		return Settle(OwnState(state), hash, when_full);

	if (BloomIsBits(state))
		BloomPrefetchBits(BloomBitData(state), BloomBits(state),
						  state->hashes, hash);
	else
		BloomPrefetchWrite(&state->data[BloomTableHome(BloomStateSlots(state),
													   hash)]);

	index = state->pending - BLOOM_RING;
	oldest = Ring(state)[index];
	Ring(state)[index] = hash;
	state->pending = BLOOM_RING + (index + 1) % BLOOM_PENDING;
	return oldest == 0 ? state : Settle(state, oldest, when_full);
}

/*
 * Free a state that was an intermediate step from the first to the last.
 */
static void
FreeIntermediate(Bloom *state, Bloom *first, Bloom *last)
{
	if (state != first && state != last)
		pfree(state);
}

/*
 * Settle all hashes of an array that has empty places.
 */
static Bloom *
SettleMany(Bloom *state, const uint64 *slots, uint64 nslots,
		   BloomWhenFull when_full)
{
	Bloom	   *first = state;

	for (uint64 i = 0; i < nslots; i++)
	{
		Bloom	   *next;

		if (slots[i] == 0)
			continue;
		next = Settle(state, slots[i], when_full);
		FreeIntermediate(state, first, next);
		state = next;
	}
	return state;
}

/*
 * Settle what is pending.  The ring stays, empty.
 *
 * The old state keeps its meaning, also if it had to be replaced.
 */
static Bloom *
Flush(Bloom *state, BloomWhenFull when_full)
{
	uint64		waiting[BLOOM_PENDING];

	if (state->pending < BLOOM_RING)
		return state;
	memcpy(waiting, Ring(state), sizeof(waiting));
	memset(Ring(state), 0, sizeof(waiting));
	return SettleMany(state, waiting, BLOOM_PENDING, when_full);
}

/*
 * Make room for the keys of another table, or list of keys, in a table.
 *
 * They come in about the order of the slots that they belong into.  If the
 * table grew only when it is full, the slots at its beginning would be all
 * taken by then, and each search would pass them: quadratic time.
 */
static Bloom *
MakeRoomFor(Bloom *state, const Bloom *other, BloomWhenFull when_full)
{
	uint64		room = BloomTableRoom(BloomStateSlots(state));
	uint64		nkeys = state->count + other->count;

	if (nkeys < room)
		return state;
	nkeys = state->count +
		BloomTableCountNew(state->data, BloomStateSlots(state),
						   other->data, BloomStateSlots(other));
	return nkeys < room ? state : GrowTo(state, nkeys, when_full);
}

/*
 * BloomStateMerge
 *		Add the content of another filter, which may be a state as well.
 */
Bloom *
BloomStateMerge(Bloom *state, const Bloom *other, BloomWhenFull when_full)
{
	Bloom	   *first = state;
	Bloom	   *next;
	uint64		nwords = (VARSIZE(other) - BLOOM_HEADER_SIZE) / sizeof(uint64);

	BloomCheckCombinable(state, other);
	if (!BloomHasShape(other))
		return state;
	if (!BloomHasShape(state))
		return BloomCopy(other);

	state = Flush(OwnState(state), when_full);

	if (BloomIsBits(other))
	{
		if (when_full == BLOOM_FAIL_WHEN_FULL)
			elog(ERROR, "partial state of a self-sizing aggregate is in bits form");
		if (BloomIsTable(state))
		{
			next = TurnIntoBits(state);
			FreeIntermediate(state, first, next);
			state = next;
		}
		BloomOrBits(state, other);
		/* what remains is a ring, if there is one */
		next = SettleMany(state, other->data + other->words,
						  nwords - other->words, when_full);
	}
	else
	{
		if (BloomIsTable(state))
		{
			next = MakeRoomFor(state, other, when_full);
			FreeIntermediate(state, first, next);
			state = next;
		}
		next = SettleMany(state, other->data, nwords, when_full);
	}
	FreeIntermediate(state, first, next);

	BloomAdoptCapacity(next, other);
	return next;
}

/* ----------------------------------------------------------------
 *							PUBLISHING
 * ----------------------------------------------------------------
 */

/*
 * The content of a table as a filter in keys form.
 */
static Bloom *
TableToKeys(const Bloom *like, const Bloom *table)
{
	Bloom	   *keys = BloomMakeLike(like, BLOOM_KEYS,
									 table->count * sizeof(uint64));
	uint64		n;

	keys->key_type = table->key_type;
	n = BloomTableSorted(table->data, BloomStateSlots(table), keys->data);
	Assert(n == table->count);
	BloomSetCount(keys, n);
	return keys;
}

/*
 * BloomStatePublish
 *		The value of a state.
 *
 * It may be the state itself, which then is a value and still a state.  In
 * any case the state can go on to be used: a window aggregate does.
 */
const Bloom *
BloomStatePublish(Bloom *state)
{
	state = Flush(state, BLOOM_TURN_INTO_BITS);
	if (BloomIsTable(state))
		return TableToKeys(state, state);
	if (state->pending != BLOOM_NOT_A_STATE)
	{
		/* cut off the ring */
		SET_VARSIZE(state, BLOOM_HEADER_SIZE + BloomBitBytes(state));
		state->pending = BLOOM_NOT_A_STATE;
		BloomSetCount(state, BloomCountBits(state));
	}
	return state;
}

/*
 * BloomStatePublishFitted
 *		The value of a state that has collected keys, with bits for just them.
 */
const Bloom *
BloomStatePublishFitted(Bloom *state)
{
	BloomShape	shape;
	Bloom	   *fitted;

	state = Flush(state, BLOOM_FAIL_WHEN_FULL);
	if (state->count == 0)
		return BloomMakeShapeless();
	if (!BloomIsTable(state))
		return BloomFit(state, state->fp_prob);

	shape = BloomShapeForCapacity(state->count, state->fp_prob,
								  (int64) state->seed);
	fitted = BloomMakeEmpty(&shape);
	if (BloomHoldsAsKeys(fitted->words, state->count))
		return TableToKeys(fitted, state);

	fitted = BloomMake(&shape, state->key_type, BLOOM_BITS, shape.bits / 8);
	SetBitsOfSlots(fitted, state->data, BloomStateSlots(state));
	BloomSetCount(fitted, BloomCountBits(fitted));
	return fitted;
}
