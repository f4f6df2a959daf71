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
 * A very large state cannot afford to exist three times while it is copied.
 * Such a state is owned: its memory is known to be ours, and growing is a
 * reallocation.  bloom_agg.c has the handle by which nodeAgg.c knows it.
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
 * A state that is larger than the nearest cache collects hashes in a batch
 * behind its content, and puts all of them where they belong at once.  In one
 * loop, the processor waits for many cache misses at a time; between rows, it
 * would wait for each.  "version" says how many hashes there are in the batch.
 *
 * A state in bits form does not count the bits that it sets.  Publishing does.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bloom_state.h"

/* The first table, with its header: 10 slots, for 8 keys */
#define INITIAL_STATE_SIZE		128

/* Content from this size on gets a batch */
#define BATCH_FROM_SIZE			(8 * 1024)

/* Content from this size on is asked for before it is needed */
#define PREFETCH_FROM_SIZE		(4 * 1024 * 1024)

/* Most keys of an aggregate that makes its shape at the end */
#define MAX_COLLECTED_WORDS		(BLOOM_MAX_BITS / 64)

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
 * An empty state with this much room for content, and a batch if it is large.
 */
static Bloom *
MakeState(const Bloom *like, BloomRepresentation representation, Size nbytes)
{
	bool		batch = nbytes >= BATCH_FROM_SIZE;
	Bloom	   *state = BloomMakeLike(like, representation, nbytes +
									  (batch ? BLOOM_BATCH * sizeof(uint64) : 0));

	state->version = batch ? BLOOM_EMPTY_BATCH : BLOOM_NO_BATCH;
	return state;
}

/*
 * How many slots has a table for at least so many keys and a batch of others?
 */
static uint64
TableSlots(const Bloom *like, uint64 nkeys)
{
	Size		size = INITIAL_STATE_SIZE;
	uint64		needed = BloomTableSlotsFor(nkeys);
	uint64		most = BloomTableSlotsFor((uint64) like->words + BLOOM_BATCH);

	if (needed * sizeof(uint64) >= BATCH_FROM_SIZE / 2)
		needed = BloomTableSlotsFor(nkeys + BLOOM_BATCH);

	/* sizes that waste nothing in the server's allocator */
	while ((size - BLOOM_HEADER_SIZE) / sizeof(uint64) < needed)
		size *= 2;

	/* more keys than a filter's words will not be in a table */
	return Max(Min((size - BLOOM_HEADER_SIZE) / sizeof(uint64), most), needed);
}

/* An empty table with room for at least so many keys. */
static Bloom *
MakeTable(const Bloom *like, uint64 nkeys)
{
	return MakeState(like, BLOOM_TABLE, TableSlots(like, nkeys) * sizeof(uint64));
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
		memcpy(BloomKeyData(state), BloomKeyData(filter), BloomBitBytes(filter));
		return state;
	}

	Assert(BloomIsKeys(filter));
	state = MakeTable(filter, filter->count + 1);
	BloomTableInsertNew(BloomKeyData(state), BloomStateSlots(state),
						BloomKeyData(filter), filter->count);
	state->count = filter->count;
	return state;
}

/*
 * BloomStateOwn
 *		A copy of a state that grows by reallocation, within this context.
 */
Bloom *
BloomStateOwn(const Bloom *state, MemoryContext context)
{
	Bloom	   *owned = BloomAllocate(context, VARSIZE(state));

	memcpy(owned, state, VARSIZE(state));
	owned->version |= BLOOM_OWNED;
	return owned;
}

/*
 * BloomStateNoteKeyType
 *		The state, which takes keys of this type from now on.
 *
 * An error, if it has keys of another.  Before the first key, a name has to
 * be put before the content, which is still all zero.
 */
Bloom *
BloomStateNoteKeyType(Bloom *state, const BloomKeyType *key_type)
{
	Size		type_bytes = (Size) key_type->words * 8;
	Size		size = VARSIZE(state) + type_bytes;
	bool		is_owned = (state->version & BLOOM_OWNED) != 0;

	BloomCheckKeyType(state, key_type);
	if (state->key_type != 0)
		return state;

	if (type_bytes > 0)
	{
		Bloom	   *named = BloomAllocate(is_owned ? GetMemoryChunkContext(state) :
										  CurrentMemoryContext, size);

		memcpy(named, state, BLOOM_HEADER_SIZE);
		memcpy(named->data, key_type->name, type_bytes);
		memset((char *) named->data + type_bytes, 0,
			   size - BLOOM_HEADER_SIZE - type_bytes);
		SET_VARSIZE(named, size);
		named->type_words = key_type->words;
		if (is_owned)
			pfree(state);
		state = named;
	}
	state->key_type = key_type->id;
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

/*
 * BloomStateToBits
 *		A state in bits form with the content of a table.
 */
Bloom *
BloomStateToBits(const Bloom *old)
{
	Bloom	   *state = MakeState(old, BLOOM_BITS, BloomBitBytes(old));

	SetBitsOfSlots(state, BloomKeyData(old), BloomStateSlots(old));
	return state;
}

/*
 * A larger table with the same content.
 */
static Bloom *
GrowTable(const Bloom *old)
{
	Bloom	   *state = MakeTable(old, old->count + 1);

	BloomTableInsertNew(BloomKeyData(state), BloomStateSlots(state),
						BloomKeyData(old), BloomStateSlots(old));
	state->count = old->count;
	return state;
}

/*
 * The same by reallocation, without a second table beside the first.
 */
static Bloom *
GrowOwnedTable(Bloom *state)
{
	uint64		slots = TableSlots(state, state->count + 1);
	Size		size = BloomPrefixSize(state) +
	(slots + BLOOM_BATCH) * sizeof(uint64);

	(void) BloomTableSorted(BloomKeyData(state), BloomStateSlots(state), BloomKeyData(state));

	state = repalloc(state, size);
	SET_VARSIZE(state, size);
	if (!BloomTableSpread(BloomKeyData(state), slots, state->count))
	{
		Size		nbytes = state->count * sizeof(uint64);
		uint64	   *hashes = palloc(nbytes);

		memcpy(hashes, BloomKeyData(state), nbytes);
		memset(BloomKeyData(state), 0, slots * sizeof(uint64));
		BloomTableInsertNew(BloomKeyData(state), slots, hashes, state->count);
		pfree(hashes);
	}
	return state;
}

/*
 * BloomStateGrow
 *		The same content in a state with room for more.  The batch is empty.
 *
 * The old state is freed if it was owned, and otherwise is as it was.
 */
Bloom *
BloomStateGrow(Bloom *state, BloomWhenFull when_full)
{
	bool		is_owned = (state->version & BLOOM_OWNED) != 0;
	bool		as_table = BloomHoldsAsKeys(state->words, state->count);
	MemoryContext oldcontext = CurrentMemoryContext;
	Bloom	   *grown;

	Assert(BloomIsTable(state));
	CHECK_FOR_INTERRUPTS();
	if (!as_table && when_full == BLOOM_FAIL_WHEN_FULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct keys to collect without a capacity"),
				 errdetail("Without a capacity, the distinct keys are collected, and must be fewer than " UINT64_FORMAT ".",
						   (uint64) MAX_COLLECTED_WORDS),
				 errhint("Name a capacity: (key, capacity, fp_prob).")));

	if (as_table && is_owned && BloomHasBatch(state))
		return GrowOwnedTable(state);

	if (is_owned)
		MemoryContextSwitchTo(GetMemoryChunkContext(state));
	grown = as_table ? GrowTable(state) : BloomStateToBits(state);
	MemoryContextSwitchTo(oldcontext);
	if (is_owned)
	{
		grown->version |= BLOOM_OWNED;
		pfree(state);
	}
	return grown;
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/*
 * Would a table of so many keys have no room for another batch, or hold more
 * than a table may?
 */
static inline bool
IsFullWith(const Bloom *table, uint64 nkeys)
{
	uint64		room = BloomTableRoom(BloomStateSlots(table));

	return nkeys + (BloomHasBatch(table) ? BLOOM_BATCH : 0) >= room ||
		!BloomHoldsAsKeys(table->words, nkeys);
}

static inline bool
IsFull(const Bloom *table)
{
	return IsFullWith(table, table->count);
}

/*
 * Put one hash into the content, for which there is room.  True: it was new.
 */
static inline bool
Settle(Bloom *state, uint64 hash)
{
	bool		fresh;

	if (BloomIsBits(state))
		return BloomSetBits(BloomBitData(state), BloomBits(state),
							state->hashes, hash) > 0;
	fresh = BloomTableInsert(BloomKeyData(state), BloomStateSlots(state), hash);
	state->count += fresh;
	return fresh;
}

/*
 * BloomStateAddAndTell
 *		Add one hash, past the batch, and tell whether it was new.
 *
 * To tell, no hash may be waiting in a batch: a state is filled either by this
 * function or by BloomStateAdd.
 */
Bloom *
BloomStateAddAndTell(Bloom *state, uint64 hash, BloomWhenFull when_full,
					 bool *fresh)
{
	*fresh = Settle(state, hash);
	if (*fresh && BloomIsTable(state) && IsFull(state))
		return BloomStateGrow(state, when_full);
	return state;
}

/*
 * A state that can be changed: an aggregate may have begun with a value.
 */
static Bloom *
ChangeableState(Bloom *state)
{
	if (BloomIsKeys(state))
	{
		BloomCheckHasShape(state);
		return BloomStateFrom(state);
	}
	if (state->version == BLOOM_NOT_A_STATE)
		state->version = BLOOM_NO_BATCH;
	return state;
}

/*
 * BloomStateAddSmall
 *		Add one hash to a state without a batch.
 */
Bloom *
BloomStateAddSmall(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	bool		fresh;

	return BloomStateAddAndTell(ChangeableState(state), hash, when_full,
								&fresh);
}

/*
 * Put the batch into the content, in place: there is room for it.
 */
static void
Flush(Bloom *state)
{
	uint64	   *batch;
	int			n;
	bool		far;

	if (!BloomHasBatch(state))
		return;
	batch = BloomStateBatch(state);
	n = BloomBatchSize(state);
	far = VARSIZE(state) >= PREFETCH_FROM_SIZE;

	if (BloomIsBits(state))
	{
		uint8	   *data = BloomBitData(state);
		uint64		bits = BloomBits(state);
		int			hashes = state->hashes;

		for (int i = 0; far && i < n; i++)
			BloomPrefetchBits(data, bits, hashes, batch[i]);
		for (int i = 0; i < n; i++)
			(void) BloomSetBits(data, bits, hashes, batch[i]);
	}
	else
	{
		uint64		slots = BloomStateSlots(state);

		for (int i = 0; far && i < n; i++)
			BloomPrefetchWrite(&BloomKeyData(state)[BloomTableHome(slots, batch[i])]);
		for (int i = 0; i < n; i++)
			state->count += BloomTableInsert(BloomKeyData(state), slots, batch[i]);
	}
	state->version -= n;
}

/*
 * BloomStateWorkOff
 *		Put the batch into the content, and make room for the next.
 */
Bloom *
BloomStateWorkOff(Bloom *state, BloomWhenFull when_full)
{
	Flush(state);
	if (BloomIsTable(state) && IsFull(state))
		return BloomStateGrow(state, when_full);
	return state;
}

/* Hashes next to each other that SettleMany takes at once: a cache line */
#define BLOCK	8

/*
 * Settle all hashes of an array that has empty places.
 *
 * States on the way from the first to the last one are freed, except for the
 * first, which belongs to the caller (or is freed already, if it was owned).
 *
 * The array is likely to be in the order of the hashes.  Taken in that order,
 * they would crowd the beginning of a table that has to grow for them later,
 * and each would search past all before it.  So we jump by about the golden
 * section of the array, rounded up to a power of two; multiples of an odd
 * number then come by each block once.
 */
static Bloom *
SettleMany(Bloom *state, Bloom *first, const uint64 *slots, uint64 nslots,
		   BloomWhenFull when_full)
{
	uint64		nblocks = pg_nextpower2_64(Max((nslots + BLOCK - 1) / BLOCK, 1));
	uint64		step = (uint64) (nblocks * 0.618) | 1;
	uint64		block = 0;

	for (uint64 i = 0; i < nblocks; i++)
	{
		uint64		end = Min((block + 1) * BLOCK, nslots);

		for (uint64 j = block * BLOCK; j < end; j++)
		{
			Bloom	   *previous = state;
			bool		was_owned = (state->version & BLOOM_OWNED) != 0;
			bool		fresh;

			if (slots[j] == 0)
				continue;
			state = BloomStateAddAndTell(state, slots[j], when_full, &fresh);
			if (state != previous && previous != first && !was_owned)
				pfree(previous);
		}
		block = (block + step) & (nblocks - 1);
	}
	return state;
}

/*
 * BloomStateMerge
 *		Add the content of another filter, which may be a state as well.
 */
Bloom *
BloomStateMerge(Bloom *state, const Bloom *other, BloomWhenFull when_full)
{
	BloomKeyType key_type = BloomKeyTypeOf(other);
	Bloom	   *first = state;
	uint64		ncontent;
	const uint64 *batch;

	BloomCheckCombinable(state, other);
	if (!BloomHasShape(other))
		return state;
	if (!BloomHasShape(state))
		return BloomCopy(other);

	state = ChangeableState(state);
	if (key_type.id != 0)
		state = BloomStateNoteKeyType(state, &key_type);
	Flush(state);

	if (BloomIsBits(other))
	{
		if (when_full == BLOOM_FAIL_WHEN_FULL)
			elog(ERROR, "partial state of a self-sizing aggregate is in bits form");
		if (BloomIsTable(state))
			state = BloomStateToBits(state);
		BloomOrBits(state, other);
		ncontent = other->words;
	}
	else
	{
		ncontent = BloomStateSlots(other);
		state = SettleMany(state, first, BloomKeyData(other), ncontent, when_full);
	}

	batch = BloomKeyData(other) + ncontent;
	if (BloomHasBatch(other))
		state = SettleMany(state, first, batch, BloomBatchSize(other),
						   when_full);

	BloomAdoptCapacity(state, other);
	return state;
}

/* ----------------------------------------------------------------
 *							PUBLISHING
 *
 * A state can go on to be used after it was published: a window aggregate
 * does that.  So it is changed only within its meaning.
 * ----------------------------------------------------------------
 */

/*
 * The state with an empty batch.
 *
 * A state that goes on must have room for another batch, and a final function
 * cannot give back a larger one.  So where the table would be full, this is a
 * copy, and the hashes stay in the state's batch until that is full as well.
 */
static Bloom *
Settled(Bloom *state)
{
	if (BloomIsTable(state) && BloomHasBatch(state) &&
		IsFullWith(state, state->count + BloomBatchSize(state)))
	{
		state = BloomCopy(state);
		state->version &= ~BLOOM_OWNED;
	}
	Flush(state);
	return state;
}

/*
 * The content of a table as a value of the shape of another filter.
 */
static Bloom *
PublishTable(const Bloom *table, const BloomShape *shape)
{
	bool		as_keys = BloomHoldsAsKeys(shape->bits / 64, table->count);
	BloomKeyType key_type = BloomKeyTypeOf(table);
	Bloom	   *value = BloomMake(shape, &key_type,
								  as_keys ? BLOOM_KEYS : BLOOM_BITS,
								  as_keys ? table->count * sizeof(uint64) :
								  shape->bits / 8);

	if (as_keys)
		BloomSetCount(value, BloomTableSorted(BloomKeyData(table),
											  BloomStateSlots(table),
											  BloomKeyData(value)));
	else
	{
		SetBitsOfSlots(value, BloomKeyData(table), BloomStateSlots(table));
		BloomSetCount(value, BloomCountBits(value));
	}
	return value;
}

/*
 * BloomStatePublish
 *		The value of a state, which may be the state itself.
 */
const Bloom *
BloomStatePublish(Bloom *state)
{
	state = Settled(state);
	if (BloomIsTable(state))
	{
		BloomShape	shape = BloomShapeOf(state);

		return PublishTable(state, &shape);
	}
	if (!BloomIsPublic(state))
	{
		/* cut off the batch */
		SET_VARSIZE(state, BloomPrefixSize(state) + BloomBitBytes(state));
		state->version = BLOOM_NOT_A_STATE;
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

	state = Settled(state);
	if (state->count == 0)
		return BloomMakeShapeless();
	if (!BloomIsTable(state))
		return BloomFit(state, state->fp_prob);

	shape = BloomShapeForCapacity(state->count, state->fp_prob,
								  (int64) state->seed);
	return PublishTable(state, &shape);
}
