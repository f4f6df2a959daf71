/*-------------------------------------------------------------------------
 *
 * filter/counting_state.c
 *		A counting filter that is changed in place: an aggregate's state.
 *
 * Why a state is a flat varlena, what its parts are, and which rules it
 * follows, is said in filter/state.c.  A state of a counting filter is one of
 *
 *		list		"count" distinct hashes, ascending, and a counter for each,
 *					as in the keys form; all other room is the batch
 *		counters	the array of counters, and a batch
 *
 * Both have a batch, so that adding a key is to append its hash.  When there
 * is no more room, a list sorts its batch, and merges it with what it has; if
 * those are too many keys for the keys form, it turns into counters.  Either
 * way, n keys take n log n time, whichever they are.
 *
 * A batch of counters is there to wait for many cache misses at a time.
 *
 * Publishing makes a value, and leaves the state as it is.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "bits/interrupts.h"
#include "filter/counting_state.h"

/* The room of the first list, in words */
#define FIRST_ROOM				8

/* Counters from this size on have the large batch */
#define LARGE_BATCH_FROM_SIZE	(16 * 1024)
#define SMALL_BATCH				8
#define LARGE_BATCH				256

/* Counters from this size on are asked for before they are needed */
#define PREFETCH_FROM_SIZE		(1024 * 1024)

/* ----------------------------------------------------------------
 *							PARTS
 * ----------------------------------------------------------------
 */

#define IsList(state)	((state)->representation == BLOOM_COUNTED_LIST)

/* The words of a list of so many keys. */
#define ListWords(nkeys)	((nkeys) + BloomCountBytes(nkeys) / sizeof(uint64))

static inline uint64
ContentWords(const Bloom *state)
{
	return IsList(state) ? ListWords(state->count) :
		BloomCounterBytes(state) / sizeof(uint64);
}

static inline uint64 *
BatchOf(const Bloom *state)
{
	return BloomKeyData(unconstify(Bloom *, state)) + ContentWords(state);
}

#ifdef USE_ASSERT_CHECKING
/*
 * What is true of every state between two calls.
 */
static void
AssertCheckCountingState(const Bloom *state)
{
	const BloomStateTail *tail = BloomStateTailOf(state);

	Assert(state->version == BLOOM_STATE);
	Assert(BloomHasShape(state));
	Assert(state->words <= BLOOM_MAX_COUNTERS / 64);
	Assert(IsList(state) || state->representation == BLOOM_COUNTERS);
	Assert(VARSIZE(state) == BloomPrefixSize(state) +
		   (ContentWords(state) + tail->batch) * sizeof(uint64) +
		   sizeof(BloomStateTail));
	Assert(tail->waiting < tail->batch);
	Assert(!IsList(state) || BloomHoldsAsKeys(state->words, state->count));
	Assert(state->key_type != 0 || state->count + tail->waiting == 0);
	if (IsList(state))
	{
		for (uint64 i = 0; i < Min(state->count, 1024); i++)
		{
			Assert(i == 0 || BloomKeyData(state)[i - 1] < BloomKeyData(state)[i]);
			Assert(BloomGetCounter(BloomCountData(state), i) > 0);
		}
	}
}
#else
#define AssertCheckCountingState(state)	((void) 0)
#endif

/* ----------------------------------------------------------------
 *							MAKING
 * ----------------------------------------------------------------
 */

/*
 * A state with so many words of content, all zero, and such a batch.
 */
static Bloom *
MakeState(const Bloom *like, const BloomKeyType *key_type,
		  BloomRepresentation representation, uint64 words, uint64 batch)
{
	BloomShape	shape = BloomShapeOf(like);
	Bloom	   *state = BloomMake(&shape, key_type, representation,
								  (words + batch) * sizeof(uint64) +
								  sizeof(BloomStateTail));

	state->version = BLOOM_STATE;
	BloomStateTailOf(state)->batch = batch;
	return state;
}

/*
 * A list of so many keys, which the caller fills in, with this much room.
 */
static Bloom *
MakeList(const Bloom *like, const BloomKeyType *key_type, uint64 nkeys,
		 uint64 room)
{
	Bloom	   *state = MakeState(like, key_type,
								  (BloomRepresentation) BLOOM_COUNTED_LIST,
								  ListWords(nkeys), room - ListWords(nkeys));

	state->count = nkeys;
	return state;
}

/* Room for a list of so many keys and at least as much of a batch. */
static uint64
RoomFor(uint64 nkeys)
{
	uint64		room = FIRST_ROOM;

	while (room < 2 * ListWords(nkeys) + FIRST_ROOM)
		room = room * 2 + 8;	/* header and tail have the size of 8 words */
	return room;
}

static Bloom *
MakeCounters(const Bloom *like, const BloomKeyType *key_type)
{
	Size		nbytes = BloomCounterBytes(like);

	return MakeState(like, key_type, BLOOM_COUNTERS, nbytes / sizeof(uint64),
					 nbytes < LARGE_BATCH_FROM_SIZE ? SMALL_BATCH : LARGE_BATCH);
}

/*
 * BloomCountingStateMake
 *		An empty state of this shape.
 */
Bloom *
BloomCountingStateMake(const BloomShape *shape)
{
	Bloom	   *empty = BloomCountingMakeEmpty(shape);
	BloomKeyType none = {0};
	Bloom	   *state = MakeList(empty, &none, 0, FIRST_ROOM);

	pfree(empty);
	AssertCheckCountingState(state);
	return state;
}

/*
 * BloomCountingStateFrom
 *		A state with the content of a value or of a state, which stays as it is.
 */
Bloom *
BloomCountingStateFrom(const Bloom *filter)
{
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	Bloom	   *state;

	if (!BloomIsPublic(filter))
	{
		state = BloomCopy(filter);
		BloomStateTailOf(state)->is_owned = false;
		return state;
	}
	BloomCheckHasShape(filter);
	if (BloomIsKeys(filter))
	{
		state = MakeList(filter, &key_type, filter->count, RoomFor(filter->count));
		memcpy(BloomKeyData(state), BloomKeyData(filter),
			   ListWords(filter->count) * sizeof(uint64));
	}
	else
	{
		state = MakeCounters(filter, &key_type);
		memcpy(BloomKeyData(state), BloomKeyData(filter), BloomCounterBytes(filter));
	}
	AssertCheckCountingState(state);
	return state;
}

/*
 * Switch to the context in which another state takes the place of this one.
 */
static MemoryContext
SwitchToOwner(Bloom *state)
{
	return MemoryContextSwitchTo(BloomStateIsOwned(state) ?
								 GetMemoryChunkContext(state) :
								 CurrentMemoryContext);
}

/*
 * A state in place of another.  The old one is freed if it was owned, and
 * otherwise is as it was.
 */
static Bloom *
Replace(Bloom *old, Bloom *state)
{
	if (BloomStateIsOwned(old))
	{
		BloomStateTailOf(state)->is_owned = true;
		pfree(old);
	}
	return state;
}

/*
 * BloomCountingStateNoteKeyType
 *		The state, which takes keys of this type from now on.
 *
 * An error, if it has keys of another.
 */
Bloom *
BloomCountingStateNoteKeyType(Bloom *state, const BloomKeyType *key_type)
{
	MemoryContext oldcontext;
	Bloom	   *named;

	BloomCheckKeyType(state, key_type);
	if (BloomIsPublic(state))
		state = BloomCountingStateFrom(state);
	if (state->key_type != 0 || key_type->id == 0)
		return state;
	if (key_type->words == 0)
	{
		state->key_type = key_type->id;
		return state;
	}

	/* it has no key yet */
	oldcontext = SwitchToOwner(state);
	named = MakeList(state, key_type, 0, FIRST_ROOM);
	MemoryContextSwitchTo(oldcontext);
	return Replace(state, named);
}

/* ----------------------------------------------------------------
 *							WORKING OFF A BATCH
 * ----------------------------------------------------------------
 */

/* Add hashes to counters. */
static uint64
AddHashes(uint8 *counters, const Bloom *shape, const uint64 *hashes, uint64 n)
{
	uint64		bits = BloomBits(shape);
	uint64		fresh = 0;

	if (BloomCounterBytes(shape) >= PREFETCH_FROM_SIZE)
	{
		for (uint64 i = 0; i < Min(n, BLOOM_PREFETCH_KEYS); i++)
			BloomPrefetchCounters(counters, bits, shape->hashes, hashes[i]);
		for (uint64 i = 0; i < n; i++)
		{
			BloomCheckInterrupts(i);
			if (i + BLOOM_PREFETCH_KEYS < n)
				BloomPrefetchCounters(counters, bits, shape->hashes,
									  hashes[i + BLOOM_PREFETCH_KEYS]);
			fresh += BloomAddToCounters(counters, bits, shape->hashes, hashes[i], 1);
		}
	}
	else
	{
		for (uint64 i = 0; i < n; i++)
			fresh += BloomAddToCounters(counters, bits, shape->hashes, hashes[i], 1);
	}
	return fresh;
}

/* The batch of a list as counted keys, in memory of its own. */
static BloomCountedKeys
CountBatch(const Bloom *state)
{
	uint64		n = BloomStateTailOf(state)->waiting;
	uint64	   *hashes = palloc(Max(n, 1) * sizeof(uint64));

	memcpy(hashes, BatchOf(state), n * sizeof(uint64));
	return BloomCountRepeats(hashes, n);
}

static void
FreeCounted(BloomCountedKeys keys)
{
	pfree(unconstify(uint64 *, keys.hashes));
	pfree(unconstify(uint8 *, keys.counts));
}

/*
 * A state in counters form with the keys of a list and others.
 */
static Bloom *
ListToCounters(Bloom *list, BloomCountedKeys added)
{
	BloomKeyType key_type = BloomKeyTypeOf(list);
	MemoryContext oldcontext = SwitchToOwner(list);
	Bloom	   *state = MakeCounters(list, &key_type);

	MemoryContextSwitchTo(oldcontext);
	(void) BloomAddCounted(BloomCounterData(state), state,
						   BloomCountedKeysOf(list));
	(void) BloomAddCounted(BloomCounterData(state), state, added);
	return Replace(list, state);
}

/*
 * The list with other keys: the list itself, if it has the room for them and
 * for as much of a batch.
 */
static Bloom *
MergeIntoList(Bloom *list, BloomCountedKeys added)
{
	BloomStateTail *tail = BloomStateTailOf(list);
	BloomKeyType key_type = BloomKeyTypeOf(list);
	BloomCountedKeys keys = BloomCountedKeysOf(list);
	uint64		room = ContentWords(list) + tail->batch;
	uint64		n = BloomMergeCounted(keys, added, NULL, NULL);
	uint64		words = ListWords(n);
	MemoryContext oldcontext;
	Bloom	   *state;

	if (!BloomHoldsAsKeys(list->words, n))
		return ListToCounters(list, added);

	if (2 * words <= room)
	{
		uint64	   *merged = palloc0(Max(words, 1) * sizeof(uint64));

		BloomMergeCounted(keys, added, merged, (uint8 *) (merged + n));
		memcpy(BloomKeyData(list), merged, words * sizeof(uint64));
		pfree(merged);
		list->count = n;
		tail->batch = room - words;
		tail->waiting = 0;
		return list;
	}

	oldcontext = SwitchToOwner(list);
	state = MakeList(list, &key_type, n, RoomFor(n));
	MemoryContextSwitchTo(oldcontext);
	BloomMergeCounted(keys, added, BloomKeyData(state), BloomCountData(state));
	return Replace(list, state);
}

/*
 * BloomCountingStateWorkOff
 *		Put the batch into the content, and make room for the next.
 */
Bloom *
BloomCountingStateWorkOff(Bloom *state)
{
	BloomStateTail *tail = BloomStateTailOf(state);

	if (IsList(state))
	{
		BloomCountedKeys added = CountBatch(state);

		state = MergeIntoList(state, added);
		FreeCounted(added);
	}
	else
	{
		(void) AddHashes(BloomCounterData(state), state, BatchOf(state),
						 tail->waiting);
		tail->waiting = 0;
	}
	AssertCheckCountingState(state);
	return state;
}

/*
 * BloomCountingStateAddToValue
 *		A state with the content of a value, and one hash more.
 */
Bloom *
BloomCountingStateAddToValue(const Bloom *value, uint64 hash)
{
	return BloomCountingStateAdd(BloomCountingStateFrom(value), hash);
}

/*
 * BloomCountingStateMerge
 *		Add what a value or another state holds.
 */
Bloom *
BloomCountingStateMerge(Bloom *state, const Bloom *other)
{
	BloomKeyType key_type = BloomKeyTypeOf(other);
	Bloom	   *first = state;

/* States on the way are freed, but for the first, which the caller has. */
#define ADVANCE(next) \
	do { \
		Bloom	   *previous = state; \
		bool		was_owned = BloomStateIsOwned(state); \
\
		state = (next); \
		if (state != previous && previous != first && !was_owned) \
			pfree(previous); \
	} while (0)

	BloomCheckCombinable(state, other);
	if (!BloomHasShape(other))
		return state;
	if (!BloomHasShape(state))
		return BloomCountingStateFrom(other);

	if (BloomIsPublic(state))
		ADVANCE(BloomCountingStateFrom(state));
	ADVANCE(BloomCountingStateNoteKeyType(state, &key_type));

	if (other->representation == BLOOM_COUNTERS)
	{
		if (IsList(state))
		{
			BloomCountedKeys added = CountBatch(state);

			ADVANCE(ListToCounters(state, added));
			FreeCounted(added);
		}
		BloomAddCounters(state, other);
	}
	else
	{
		BloomCountedKeys keys = BloomCountedKeysOf(other);

		/* 15 stands for any larger number, and so for 15 */
		for (uint64 i = 0; i < keys.nkeys; i++)
		{
			BloomCheckInterrupts(i);
			for (unsigned int j = BloomGetCounter(keys.counts, i); j > 0; j--)
				ADVANCE(BloomCountingStateAdd(state, keys.hashes[i]));
		}
	}

	if (!BloomIsPublic(other))
	{
		for (uint64 i = 0; i < BloomStateTailOf(other)->waiting; i++)
			ADVANCE(BloomCountingStateAdd(state, BatchOf(other)[i]));
	}
	BloomAdoptCapacity(state, other);
	AssertCheckCountingState(state);
	return state;

#undef ADVANCE
}

/* ----------------------------------------------------------------
 *							PUBLISHING
 * ----------------------------------------------------------------
 */

/*
 * BloomCountingStatePublish
 *		The value of a state, which goes on as it is.
 */
Bloom *
BloomCountingStatePublish(const Bloom *state)
{
	BloomKeyType key_type = BloomKeyTypeOf(state);
	Size		size = BloomPrefixSize(state) + BloomCounterBytes(state);
	Bloom	   *value;

	if (IsList(state))
	{
		BloomCountedKeys added = CountBatch(state);

		value = BloomMakeCounted(state, &key_type, BloomCountedKeysOf(state),
								 added);
		FreeCounted(added);
		return value;
	}

	value = BloomAllocate(CurrentMemoryContext, size);
	memcpy(value, state, size);
	SET_VARSIZE(value, size);
	value->version = BLOOM_NOT_A_STATE;
	(void) AddHashes(BloomCounterData(value), value, BatchOf(state),
					 BloomStateTailOf(state)->waiting);
	BloomSetCount(value, BloomCountCounters(BloomKeyData(value),
											BloomCounterBytes(value) / sizeof(uint64)));
	return value;
}
