/*-------------------------------------------------------------------------
 *
 * filter/state.c
 *		A filter that is changed in place: an aggregate's transition state.
 *
 * Invariants (AssertCheckState)
 * -----------------------------
 *
 * - A state is a flat varlena of type bloom or counting_bloom, whose version
 *	 is BLOOM_STATE.  It is never taken for a value, and a value is never
 *	 changed: where a value is passed for a state, a state is made of it.
 * - It has the header and the representation of a value, content, a batch of
 *	 hashes that wait, and a tail that counts them.
 * - Keys form: "count" distinct hashes, ascending, with their counts if they
 *	 are counted.  All other room is the batch.
 * - Bits form: the bits or counters, which "count" does not count.
 * - The batch has room for at least one more hash.  So adding a key is to
 *	 append its hash, and the caller that fills the batch must flush it.
 *
 * A flush sorts the batch and merges it into the keys, or sets its bits.  If
 * there are then as many keys as values in keys form can hold, the state turns
 * into bits.  So n keys take n log n time, whichever they are, also
 * chosen ones.  Setting bits in batches overlaps cache misses.
 *
 * Memory
 * ------
 *
 * A state is neither "internal", which would keep distributed engines from
 * aggregating in parts, nor an expanded object, since a hash aggregate walks
 * all memory contexts for each new group.  nodeAgg.c copies a state at another
 * address than before into the aggregate's context, and frees the old one.  So
 * a larger state is allocated in the current, short-lived context, and growing
 * in proportion to the size makes that rare.
 *
 * A very large state is owned: its memory is known to be ours, and growing is
 * a reallocation (func/agg_state.c).
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "bits/bits.h"
#include "bits/sort.h"
#include "filter/setops.h"
#include "filter/state.h"

/* The smallest state, and the largest for which the server rounds up */
#define MIN_STATE_SIZE			128
#define MAX_ROUNDED_SIZE		8192

/*
 * The smallest batches of a list that has keys already.  More would make groups
 * of few rows larger; to merge counted keys costs more.
 */
#define MIN_BATCH				12
#define MIN_COUNTED_BATCH		28

/* Bits from this size on have a large batch */
#define BATCH_FROM_SIZE			(8 * 1024)

/*
 * BloomShapeForCollecting
 *		The shape of a state that collects keys in order to size a filter.
 *
 * A list has fewer keys than its filter has words, so the shape has a word for
 * each key of the limit.  Every partial state is a valid filter in keys form.
 */
BloomShape
BloomShapeForCollecting(double fp_prob)
{
	/* 64 keys have just 64 times their bits per key */
	BloomShape	shape = BloomShapeForCapacity(64, fp_prob, 0);
	uint64		bits_per_key = shape.bits / 64;

	shape.bits = BLOOM_MAX_EXACT_KEYS * 64;
	shape.capacity = shape.bits / bits_per_key;
	return shape;
}

/* ----------------------------------------------------------------
 *							PARTS
 * ----------------------------------------------------------------
 */

/* The words of n keys, of bits or counters, and of the content. */
#define KeyWords(like, nkeys)	(BloomKeyBytes(like, nkeys) / sizeof(uint64))
#define ArrayWords(like)		(BloomArrayBytes(like) / sizeof(uint64))
#define ContentWords(filter)	(BloomContentBytes(filter) / sizeof(uint64))

/* The size of a state with this content and batch. */
static inline Size
SizeOf(const Bloom *like, uint64 words, uint64 batch)
{
	return BloomPrefixSize(like) + (words + batch) * sizeof(uint64) +
		sizeof(BloomStateTail);
}

static inline uint64 *
BatchOf(const Bloom *state)
{
	return BloomKeyData(unconstify(Bloom *, state)) + ContentWords(state);
}

/* Do the parts of a state have the sizes that it says? */
static bool
HasItsSize(const Bloom *state)
{
	const BloomStateTail *tail = BloomStateTailOf(state);

	return (!BloomIsKeys(state) || state->count <= VARSIZE(state) / sizeof(uint64)) &&
		VARSIZE(state) == SizeOf(state, ContentWords(state), tail->batch) &&
		tail->waiting < tail->batch;
}

#ifdef USE_ASSERT_CHECKING
/* How many keys are looked at */
#define CHECKED_KEYS	1024

static void
AssertCheckState(const Bloom *state)
{
	const uint64 *keys = BloomKeyData(state);

	Assert(state->version == BLOOM_STATE);
	Assert(BloomHasShape(state));
	Assert(BloomIsKeys(state) || BloomIsBits(state));
	Assert(HasItsSize(state));
	for (uint64 i = 0; BloomIsKeys(state) && i < Min(state->count, CHECKED_KEYS); i++)
	{
		Assert(i == 0 || keys[i - 1] < keys[i]);
		Assert(!BloomIsCounting(state) || BloomGetCounter(BloomCountData(state), i) > 0);
	}
}
#else
#define AssertCheckState(state)	((void) 0)
#endif

/* ----------------------------------------------------------------
 *							MAKING
 * ----------------------------------------------------------------
 */

/*
 * How large a batch has a list of n keys?
 *
 * A batch that is nearly as large as the list makes merging cheap.  Much more
 * than the filter's words will not be in a list.
 */
static uint64
BatchFor(const Bloom *like, uint64 nkeys)
{
	uint64		most = (uint64) like->words + like->words / 16;
	uint64		least = BloomIsCounting(like) ? MIN_COUNTED_BATCH : MIN_BATCH;
	uint64		batch = Min(Max(nkeys / 4 * 3, nkeys > 0 ? least : 1),
							most - Min(most, nkeys));
	uint64		words = KeyWords(like, nkeys);
	Size		size = MIN_STATE_SIZE;

	/* fill the chunk that the server's allocator makes */
	while (size < SizeOf(like, words, Max(batch, 1)))
		size *= 2;
	if (size <= MAX_ROUNDED_SIZE)
		batch = (size - SizeOf(like, words, 0)) / sizeof(uint64);
	return batch;
}

/*
 * A state of the shape and kind of another filter, with room for n keys, which
 * the caller fills in, or with bits, all zero.
 *
 * The batch is zero, too: a user's aggregate may store a state in a table, where
 * no byte may be what happened to be in memory.
 */
static Bloom *
MakeState(const Bloom *like, BloomRepresentation form, uint64 nkeys,
		  uint64 batch)
{
	uint64		words = form == BLOOM_KEYS ? KeyWords(like, nkeys) : ArrayWords(like);
	Size		size = SizeOf(like, words, batch);
	Bloom	   *state = BloomAllocate(CurrentMemoryContext, size);

	memcpy(state, like, BloomPrefixSize(like));
	if (form == BLOOM_BITS)
		memset(BloomKeyData(state), 0, words * sizeof(uint64));
	SET_VARSIZE(state, size);
	state->version = BLOOM_STATE;
	state->representation = BloomKindOf(like) | form;
	state->count = nkeys;
	memset(BatchOf(state), 0, (char *) state + size - (char *) BatchOf(state));
	BloomStateTailOf(state)->batch = batch;
	return state;
}

static Bloom *
MakeBits(const Bloom *like)
{
	Size		nbytes = BloomArrayBytes(like);
	uint64		batch = nbytes < BATCH_FROM_SIZE ? 8 :
	Max(64, Min(nbytes / 1024, 2048));

	return MakeState(like, BLOOM_BITS, 0, batch);
}

/*
 * BloomStateMake
 *		An empty state of this shape.
 */
Bloom *
BloomStateMake(const BloomShape *shape, BloomKind kind)
{
	Bloom	   *empty = BloomMake(shape, NULL, kind | BLOOM_KEYS, 0);
	Bloom	   *state = MakeState(empty, BLOOM_KEYS, 0, BatchFor(empty, 0));

	pfree(empty);
	AssertCheckState(state);
	return state;
}

/*
 * BloomStateFrom
 *		A state with the content of a value or state, which stays as it is.
 */
Bloom *
BloomStateFrom(const Bloom *filter)
{
	Bloom	   *state;

	if (BloomIsValue(filter))
	{
		BloomCheckHasShape(filter);
		state = BloomIsBits(filter) ? MakeBits(filter) :
			MakeState(filter, BLOOM_KEYS, filter->count,
					  BatchFor(filter, filter->count));
		memcpy(BloomKeyData(state), BloomKeyData(filter),
			   BloomContentBytes(filter));
		state->count = filter->count;
	}
	else
	{
		/* what a superuser's cast has made is none */
		if (!HasItsSize(filter))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("invalid state of an aggregate of %ss",
							BloomKindName(BloomKindOf(filter)))));
		state = BloomCopy(filter);
		BloomStateTailOf(state)->is_owned = false;
	}
	AssertCheckState(state);
	return state;
}

/*
 * BloomStateOwn
 *		The same, but one that grows by reallocation, within this context.
 */
Bloom *
BloomStateOwn(const Bloom *filter, MemoryContext context)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(context);
	Bloom	   *owned = BloomStateFrom(filter);

	MemoryContextSwitchTo(oldcontext);
	BloomStateTailOf(owned)->is_owned = true;
	return owned;
}

/* ----------------------------------------------------------------
 *							GROWING
 *
 * The old state is freed if it was owned, and otherwise stays as it was.
 * ----------------------------------------------------------------
 */

/* Switch to the context where another state takes the place of this one. */
static MemoryContext
SwitchToOwner(Bloom *state)
{
	return MemoryContextSwitchTo(BloomStateIsOwned(state) ?
								 GetMemoryChunkContext(state) :
								 CurrentMemoryContext);
}

/* Switch back, with a state in place of another. */
static Bloom *
Replace(Bloom *old, Bloom *state, MemoryContext oldcontext)
{
	MemoryContextSwitchTo(oldcontext);
	if (BloomStateIsOwned(old))
	{
		BloomStateTailOf(state)->is_owned = true;
		pfree(old);
	}
	return state;
}

/*
 * BloomStateSetKeyType
 *		The state, for keys of this type.
 *
 * An error if it has keys of another type.
 */
Bloom *
BloomStateSetKeyType(Bloom *state, const BloomKeyType *key_type)
{
	BloomCheckKeyType(state, key_type, BLOOM_ARGUMENT);
	if (BloomIsValue(state))
		state = BloomStateFrom(state);
	if (state->key_type != 0 || key_type->id == 0)
		return state;
	if (key_type->words > 0)
	{
		/* the name stands before the content, which is empty */
		BloomShape	shape = BloomShapeOf(state);
		MemoryContext oldcontext = SwitchToOwner(state);
		Bloom	   *like = BloomMake(&shape, key_type,
									 BloomKindOf(state) | BLOOM_KEYS, 0);
		Bloom	   *named = MakeState(like, BLOOM_KEYS, 0, BatchFor(like, 0));

		pfree(like);
		return Replace(state, named, oldcontext);
	}
	state->key_type = key_type->id;
	return state;
}

/* There are n keys at the beginning of the list's room. */
static void
SetListCount(Bloom *list, uint64 nkeys)
{
	BloomStateTail *tail = BloomStateTailOf(list);
	uint64		room = ContentWords(list) + tail->batch;

	tail->batch = room - KeyWords(list, nkeys);
	list->count = nkeys;
}

/* The list with a batch of this size, which is empty. */
static Bloom *
ResizeBatch(Bloom *list, uint64 batch)
{
	BloomStateTail tail = *BloomStateTailOf(list);
	Size		old_size = VARSIZE(list);
	Size		size = SizeOf(list, ContentWords(list), batch);
	Bloom	   *state;

	Assert(tail.waiting == 0);
	if (tail.is_owned)
		state = repalloc(list, size);
	else
	{
		state = BloomAllocate(CurrentMemoryContext, size);
		memcpy(state, list, Min(size, old_size));
	}
	if (size > old_size)
		memset((char *) state + old_size, 0, size - old_size);
	SET_VARSIZE(state, size);
	tail.batch = batch;
	*BloomStateTailOf(state) = tail;
	return state;
}

/* The batch as keys, of which none is counted. */
static BloomKeyList
Waiting(const Bloom *state)
{
	BloomKeyList keys = {BatchOf(state), NULL, BloomStateTailOf(state)->waiting};

	return keys;
}

/* The content and the batch of a list as a state in bits form. */
static Bloom *
ToBits(const Bloom *list)
{
	Bloom	   *bits = MakeBits(list);

	BloomAddToArray(bits, BloomKeysOf(list), NULL);
	BloomAddToArray(bits, Waiting(list), NULL);
	return bits;
}

/* The list as a state in bits form, which takes its place. */
static Bloom *
TurnIntoBits(Bloom *list)
{
	MemoryContext oldcontext = SwitchToOwner(list);

	return Replace(list, ToBits(list), oldcontext);
}

/* ----------------------------------------------------------------
 *							LISTS
 * ----------------------------------------------------------------
 */

/*
 * Hashes that wait as distinct keys, ascending, in memory of its own.  Their
 * order is undefined afterwards.
 */
static BloomKeyList
SortKeys(const Bloom *like, BloomKeyList waiting)
{
	uint64		n = waiting.nkeys;
	uint64	   *hashes = unconstify(uint64 *, waiting.hashes);
	uint64	   *sorted = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(n, 1) * sizeof(uint64));
	BloomKeyList keys = {sorted, NULL, 0};

	if (BloomIsCounting(like))
	{
		memcpy(sorted, hashes, n * sizeof(uint64));
		return BloomCountHashes(sorted, n);
	}
	keys.nkeys = BloomSortDistinct(hashes, sorted, n, true);
	return keys;
}

static void
FreeKeys(BloomKeyList keys)
{
	pfree(unconstify(uint64 *, keys.hashes));
	if (keys.counts != NULL)
		pfree(unconstify(uint8 *, keys.counts));
}

/* The error of more keys than can be collected. */
static void
TooManyToCollect(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("too many distinct keys for bloom_agg without a capacity"),
			 errdetail("Without a capacity, the distinct keys are collected, and must be fewer than " UINT64_FORMAT ".",
					   BLOOM_MAX_EXACT_KEYS),
			 errhint("Name a capacity: bloom_agg(key, capacity, fp_prob).")));
}

/*
 * Merge keys without counts into a list whose batch is empty, and has room for
 * them.  There may be more keys then than the keys form can hold.
 */
static void
MergeInPlace(Bloom *list, BloomKeyList keys)
{
	SetListCount(list, BloomMergeInPlace(BloomKeyData(list), list->count,
										 keys.hashes, keys.nkeys));
}

/*
 * Move the batch of bits or of plain keys into the content, without growing.
 *
 * There may be more keys afterwards than the keys form can hold.
 */
static void
FlushInPlace(Bloom *state)
{
	BloomKeyList waiting = Waiting(state);

	BloomStateTailOf(state)->waiting = 0;
	if (BloomIsBits(state))
		BloomAddToArray(state, waiting, NULL);
	else
	{
		BloomKeyList keys = SortKeys(state, waiting);

		MergeInPlace(state, keys);
		FreeKeys(keys);
	}
}

/*
 * A list, without counts, that has room for the next batch, or has turned into
 * bits.
 */
static Bloom *
MakeBatchRoom(Bloom *list, BloomWhenFull when_full)
{
	uint64		batch = BatchFor(list, list->count);

	if (!BloomHoldsAsKeys(list->words, list->count))
	{
		if (when_full == BLOOM_FAIL_WHEN_FULL)
			TooManyToCollect();

		/* free first what is more than the list itself */
		if (BloomStateIsOwned(list))
			list = ResizeBatch(list, 1);
		return TurnIntoBits(list);
	}
	return BloomStateTailOf(list)->batch < batch ? ResizeBatch(list, batch) : list;
}

/*
 * A list, merged with other keys in new memory.
 */
static Bloom *
MergeByCopy(Bloom *list, BloomKeyList keys, BloomWhenFull when_full)
{
	BloomKeyType key_type = BloomKeyTypeOf(list);
	MemoryContext oldcontext = SwitchToOwner(list);
	Bloom	   *value = BloomMakeOfKeys(list, &key_type, BloomKeysOf(list), keys);
	Bloom	   *state;

	if (BloomIsBits(value) && when_full == BLOOM_FAIL_WHEN_FULL)
		TooManyToCollect();
	state = BloomStateFrom(value);
	pfree(value);
	if (VARSIZE(state) != VARSIZE(list))
		return Replace(list, state, oldcontext);
	MemoryContextSwitchTo(oldcontext);
	BloomStateTailOf(state)->is_owned = BloomStateIsOwned(list);
	memcpy(list, state, VARSIZE(list));
	pfree(state);
	return list;
}

/*
 * The list, whose batch is empty, with the keys of another.
 *
 * To merge in place takes room for both lists, even if they share their keys.
 * Two of the longest lists are too large together for a varlena.
 */
static Bloom *
MergeKeys(Bloom *list, BloomKeyList keys, BloomWhenFull when_full)
{
	CHECK_FOR_INTERRUPTS();
	if (keys.counts != NULL ||
		SizeOf(list, list->count + keys.nkeys, 1) > MaxAllocSize)
		return MergeByCopy(list, keys, when_full);
	if (BloomStateTailOf(list)->batch < keys.nkeys)
		list = ResizeBatch(list, keys.nkeys +
						   BatchFor(list, list->count + keys.nkeys));
	MergeInPlace(list, keys);
	return MakeBatchRoom(list, when_full);
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/*
 * BloomStateFlush
 *		Move the batch into the content, and make room for the next.
 */
Bloom *
BloomStateFlush(Bloom *state, BloomWhenFull when_full)
{
	if (BloomIsCounting(state) && BloomIsKeys(state))
	{
		BloomKeyList keys = SortKeys(state, Waiting(state));

		BloomStateTailOf(state)->waiting = 0;
		state = MergeByCopy(state, keys, when_full);
		FreeKeys(keys);
	}
	else
	{
		FlushInPlace(state);
		if (BloomIsKeys(state))
			state = MakeBatchRoom(state, when_full);
	}
	AssertCheckState(state);
	return state;
}

/*
 * Add keys through the batch, each as often as it is counted.
 *
 * 15 stands for any larger number, and so for 15.
 */
static Bloom *
AddEach(Bloom *state, BloomKeyList keys, BloomWhenFull when_full)
{
	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		int			times = keys.counts == NULL ? 1 :
		BloomGetCounter(keys.counts, i);

		BloomCheckInterrupts(i);
		while (times-- > 0)
			state = BloomStateAdd(state, keys.hashes[i], when_full);
	}
	return state;
}

/*
 * BloomCheckCanMerge
 *		An error if keys are collected that a filter does not know any more.
 */
void
BloomCheckCanMerge(const Bloom *other, BloomWhenFull when_full)
{
	if (when_full == BLOOM_FAIL_WHEN_FULL && BloomIsBits(other))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot collect the keys of a Bloom filter in bits form"),
				 errdetail("An aggregate without a capacity sizes the filter at the end."),
				 errhint("Use bloom_union_agg to combine filters.")));
}

/*
 * BloomStateMerge
 *		Add the content of another filter, which may be a state as well.
 */
Bloom *
BloomStateMerge(Bloom *state, const Bloom *other, BloomWhenFull when_full)
{
	BloomKeyType key_type = BloomKeyTypeOf(other);

	BloomCheckCombinable(state, other);
	BloomCheckCanMerge(other, when_full);
	if (!BloomHasShape(other))
		return state;
	if (!BloomHasShape(state))
		return BloomStateFrom(other);

	if (BloomIsValue(state))
		state = BloomStateFrom(state);
	state = BloomStateSetKeyType(state, &key_type);

	/* a longer list is merged with the batch's keys among the others */
	if (BloomIsKeys(other) && other->count >= BloomStateTailOf(state)->batch)
		state = BloomStateFlush(state, when_full);
	if (BloomIsBits(other))
	{
		if (BloomIsKeys(state))
			state = TurnIntoBits(state);
		BloomOrBits(state, other);
	}
	else if (BloomIsBits(state))
		BloomAddToArray(state, BloomKeysOf(other), NULL);
	else if (other->count < BloomStateTailOf(state)->batch)
		state = AddEach(state, BloomKeysOf(other), when_full);
	else
		state = MergeKeys(state, BloomKeysOf(other), when_full);
	if (!BloomIsValue(other))
		state = AddEach(state, Waiting(other), when_full);
	BloomAdoptCapacity(state, other);
	AssertCheckState(state);
	return state;
}

/* ----------------------------------------------------------------
 *							VALUES
 *
 * A state may be used again after its value was made: a window aggregate does
 * that.  Then the value is a copy.
 * ----------------------------------------------------------------
 */

/*
 * BloomStateCompact
 *		Take back room that an owned state does not need in order to be read.
 *
 * The next key makes room again.
 */
void
BloomStateCompact(Bloom *state)
{
	BloomStateTail tail;

	if (BloomIsValue(state) || BloomIsCounting(state) || BloomIsBits(state))
		return;
	FlushInPlace(state);
	tail = *BloomStateTailOf(state);
	tail.batch = 1;
	SET_VARSIZE(state, SizeOf(state, state->count, 1));
	*BloomStateTailOf(state) = tail;
}

/*
 * BloomStateToValue
 *		The value of a state or value, which may be that itself.
 *
 * In place, the state becomes the value, if it can.  Otherwise it stays a
 * state, with the same keys.
 */
const Bloom *
BloomStateToValue(Bloom *state, bool in_place)
{
	BloomKeyType key_type = BloomKeyTypeOf(state);
	Bloom	   *value;
	Size		size;

	if (BloomIsValue(state))
		return state;
	if (BloomIsCounting(state) && BloomIsKeys(state))
	{
		BloomKeyList waiting = SortKeys(state, Waiting(state));

		value = BloomMakeOfKeys(state, &key_type, BloomKeysOf(state), waiting);
		FreeKeys(waiting);
		return value;
	}

	FlushInPlace(state);
	value = state;
	size = BloomSizeByHeader(state);
	if (BloomIsKeys(state) && !BloomHoldsAsKeys(state->words, state->count))
	{
		value = ToBits(state);
		size = BloomSizeByHeader(value);
	}
	else if (!in_place)
	{
		value = BloomAllocate(CurrentMemoryContext, size);
		memcpy(value, state, size);
	}
	SET_VARSIZE(value, size);
	value->version = BLOOM_VERSION;
	BloomSetCount(value, BloomIsBits(value) ? BloomCountContent(value) :
				  value->count);
	return value;
}

/*
 * BloomStateToFittedValue
 *		The same, with bits for just the keys that the state has collected.
 */
const Bloom *
BloomStateToFittedValue(Bloom *state, bool in_place)
{
	const Bloom *value = BloomStateToValue(state, in_place);

	/* the list was full */
	if (BloomIsKeys(state) && BloomIsBits(value))
		TooManyToCollect();
	if (value->count == 0)
		return BloomMake(NULL, NULL, BLOOM_KEYS, 0);
	return BloomFit(value, value->fp_prob);
}
