/*-------------------------------------------------------------------------
 *
 * filter/state.c
 *		A filter that is changed in place: an aggregate's transition state.
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
 * reallocation.  func/agg.c has the handle by which nodeAgg.c knows it.
 *
 * What a state is
 * ---------------
 *
 * A value has the version of the format, a state has BLOOM_STATE.  It is the
 * header and the name of the key type as in a value, content, a batch, and a
 * tail with fields of its own.  AssertCheckState has the invariant, and every
 * function here that changes a state ends with it.  No state is ever a value,
 * nor is a value changed: where a value is given for a state, a state is made
 * of it.
 *
 * There are three kinds:
 *
 *		table	an open-addressing table of entries (bits/table.h), without a
 *				batch.  "count" is exact, and at least a fifth of the slots is
 *				free (while a key is added, all but one of these).  It can tell
 *				whether a key is new.
 *		list	"count" distinct hashes, ascending, and all other room is the
 *				batch.
 *		bits	the bit array, whose bits are not counted, with a batch where
 *				it is larger than the nearest cache.
 *
 * Keys are collected in a table while it is small, since that is fast where
 * many rows have few different keys.  Later, to look for each key is to wait
 * for memory.  So from then on, hashes are only appended to the batch behind a
 * list, and when there is no more room, they are sorted and merged into it.
 * That takes no time that depends on the keys, so that nobody can choose bad
 * ones, and it makes one list of two partial states by reading them.  A state
 * that has to tell of each key whether it is new stays a table.
 *
 * The switch to bits comes at the same number of keys as in values.  Bits
 * that are larger than the caches have a batch as well: in one loop, the
 * processor waits for many cache misses at a time; between rows, it would
 * wait for each.
 *
 * There is always room for one more hash in a batch, or else in the table, so
 * that adding needs no check beforehand; whoever takes the last room makes
 * more.  A final function can make no room, and so takes none: it settles what
 * is in the batch only where there is room for it, which is in lists and bits.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "bits/sort.h"
#include "filter/state.h"

/* The first table, with its header and tail: 8 slots, for 6 keys */
#define INITIAL_STATE_SIZE		128

/* The largest table of a state that need not tell */
#define MAX_TABLE_SLOTS			8192

/* The smallest batch of a list */
#define MIN_LIST_BATCH			16384

/* Bits from this size on get a batch */
#define BATCH_FROM_SIZE			(8 * 1024)

/* Bits from this size on are asked for before they are needed */
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
 *							PARTS
 * ----------------------------------------------------------------
 */

/* The size of a state like this with so many words and such a batch. */
static inline Size
SizeOf(const Bloom *like, uint64 words, uint64 batch)
{
	return BloomPrefixSize(like) + (words + batch) * sizeof(uint64) +
		sizeof(BloomStateTail);
}

/* The words of a state's content: slots, hashes of the list, or bits / 64. */
static inline uint64
WordsOf(const Bloom *state)
{
	return (VARSIZE(state) - SizeOf(state, 0, 0)) / sizeof(uint64) -
		BloomStateTailOf(state)->batch;
}

static inline uint64 *
BatchOf(const Bloom *state)
{
	return BloomKeyData(unconstify(Bloom *, state)) + WordsOf(state);
}

#ifdef USE_ASSERT_CHECKING
/* How many words the content may have for all of them to be looked at */
#define CHECKED_WORDS	1024

/*
 * AssertCheckState
 *		What is true of every state between two calls.
 */
void
AssertCheckState(const Bloom *state)
{
	const BloomStateTail *tail = BloomStateTailOf(state);
	const uint64 *content = BloomKeyData(state);
	uint64		words = WordsOf(state);
	uint64		held = 0;

	Assert(state->version == BLOOM_STATE);
	Assert(BloomHasShape(state));
	Assert(VARSIZE(state) == SizeOf(state, words, tail->batch));
	Assert(tail->batch == 0 || tail->waiting < tail->batch);
	Assert(tail->batch > 0 || tail->waiting == 0);

	switch (state->representation)
	{
		case BLOOM_TABLE:
			Assert(tail->batch == 0);
			Assert((tail->secret == 0) == (words <= BLOOM_TABLE_SMALL));
			Assert(tail->secret == 0 || (tail->secret & 1) == 1);
			Assert(state->count <= BloomTableRoom(words));
			for (uint64 i = 0; i < words && words <= CHECKED_WORDS; i++)
				held += content[i] != 0;
			Assert(words > CHECKED_WORDS || held == state->count);
			break;
		case BLOOM_LIST:
			Assert(words == state->count);
			Assert(tail->batch > 0);
			for (uint64 i = 1; i < Min(words, CHECKED_WORDS); i++)
				Assert(content[i - 1] < content[i]);
			break;
		case BLOOM_BITS:
			Assert(words == state->words);
			break;
		default:
			Assert(false);
	}
}
#endif

/* ----------------------------------------------------------------
 *							MAKING
 * ----------------------------------------------------------------
 */

/*
 * A state with so many words of content, all zero, and such a batch.
 */
static Bloom *
MakeState(const Bloom *like, BloomRepresentation representation,
		  uint64 words, uint64 batch)
{
	Size		size = SizeOf(like, words, batch);
	Bloom	   *state = BloomAllocate(CurrentMemoryContext, size);
	Size		prefix = BloomPrefixSize(like);

	memcpy(state, like, prefix);
	memset((char *) state + prefix, 0, words * sizeof(uint64));
	SET_VARSIZE(state, size);
	state->version = BLOOM_STATE;
	state->representation = representation;
	state->count = 0;
	memset(BloomStateTailOf(state), 0, sizeof(BloomStateTail));
	BloomStateTailOf(state)->batch = batch;
	return state;
}

/*
 * A new secret: an odd number that nobody knows.
 *
 * Each table has its own.  With one for all, the entries of one table would
 * come in the order in which they crowd another.
 */
static uint64
MakeSecret(void)
{
	static uint64 generator = 0;
	uint64		secret;

	if (unlikely(generator == 0) &&
		!pg_strong_random(&generator, sizeof(generator)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));

	/* a step of splitmix64 */
	generator += UINT64CONST(0x9e3779b97f4a7c15);
	secret = generator;
	secret = (secret ^ (secret >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	secret = (secret ^ (secret >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return (secret ^ (secret >> 31)) | 1;
}

/* How many slots has a table for more than so many keys? */
static uint64
SlotsFor(const Bloom *like, uint64 nkeys)
{
	Size		size = INITIAL_STATE_SIZE;
	uint64		slots;

	/* sizes that waste nothing in the server's allocator */
	do
	{
		slots = (Max(size, SizeOf(like, 8, 0)) - SizeOf(like, 0, 0)) / sizeof(uint64);
		size *= 2;
	} while (BloomTableRoom(slots) <= nkeys);

	/* more keys than a filter's words will not be in a table for long */
	if (slots > BLOOM_TABLE_SMALL && nkeys < like->words)
		slots = Min(slots, Max((uint64) like->words / 4 * 5 + 10,
							   BLOOM_TABLE_SMALL + 1));
	return slots;
}

/* An empty table with room for more than so many keys. */
static Bloom *
MakeTable(const Bloom *like, uint64 nkeys)
{
	uint64		slots = SlotsFor(like, nkeys);
	Bloom	   *state = MakeState(like, BLOOM_TABLE, slots, 0);

	if (slots > BLOOM_TABLE_SMALL)
		BloomStateTailOf(state)->secret = MakeSecret();
	return state;
}

/*
 * How large a batch has a list?
 *
 * A batch that is nearly as large as the list makes merging cheap.  Much more
 * than the filter's words will not be in a list.
 */
static uint64
ListBatchFor(const Bloom *list, uint64 count)
{
	uint64		most = (uint64) list->words + list->words / 16;
	uint64		batch = count / 4 * 3;

	batch = Min(batch, most - Min(most, count));
	return Max(batch, MIN_LIST_BATCH);
}

/* An empty list, with room for so many hashes and a batch. */
static Bloom *
MakeList(const Bloom *like, uint64 count)
{
	Bloom	   *state = MakeState(like, BLOOM_LIST, 0,
								  count + ListBatchFor(like, count));

	return state;
}

/* So many of the hashes at the beginning of a list's room are in the list. */
static void
SetListCount(Bloom *list, uint64 count)
{
	BloomStateTail *tail = BloomStateTailOf(list);

	tail->batch = WordsOf(list) + tail->batch - count;
	list->count = count;
}

/* A state in bits form, without a bit. */
static Bloom *
MakeBits(const Bloom *like)
{
	Size		nbytes = BloomBitBytes(like);
	uint64		batch = nbytes < BATCH_FROM_SIZE ? 0 :
	Max(64, Min(nbytes / 1024, 2048));

	return MakeState(like, BLOOM_BITS, like->words, batch);
}

/*
 * BloomStateMake
 *		An empty state of this shape.
 */
Bloom *
BloomStateMake(const BloomShape *shape)
{
	Bloom	   *empty = BloomMakeEmpty(shape);
	Bloom	   *state = MakeTable(empty, 0);

	pfree(empty);
	AssertCheckState(state);
	return state;
}

/*
 * Put hashes into a table that has room for them.
 */
static void
PutIntoTable(Bloom *table, const uint64 *hashes, uint64 nhashes)
{
	uint64		secret = BloomStateTailOf(table)->secret;
	uint64		slots = WordsOf(table);
	uint64	   *content = BloomKeyData(table);

	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		table->count += BloomTableInsert(content, slots,
										 BloomTableEntry(secret, hashes[i]));
	}
}

/*
 * The hashes of a table, in any order.
 */
static void
HashesOfTable(const Bloom *table, uint64 *out)
{
	const uint64 *content = BloomKeyData(table);
	uint64		inverse = BloomTableInverse(BloomStateTailOf(table)->secret);
	uint64		slots = WordsOf(table);

	for (uint64 i = 0; i < slots; i++)
	{
		BloomCheckInterrupts(i);
		if (content[i] != 0)
			*out++ = BloomTableHash(inverse, content[i]);
	}
}

/*
 * The hashes of a table, ascending.
 */
static void
SortedHashesOfTable(const Bloom *table, uint64 *out)
{
	uint64	   *scratch;

	if (BloomStateTailOf(table)->secret == 0)
	{
		(void) BloomTableSorted(BloomKeyData(table), WordsOf(table), out);
		return;
	}
	scratch = MemoryContextAllocHuge(CurrentMemoryContext,
									 table->count * sizeof(uint64));
	HashesOfTable(table, scratch);
	(void) BloomSortDistinct(scratch, out, table->count, true);
	pfree(scratch);
}

/* A table or a list of a filter in keys form. */
static Bloom *
StateFromKeys(const Bloom *filter, bool tell)
{
	Bloom	   *state;

	if (tell || BloomTableRoom(MAX_TABLE_SLOTS) > filter->count)
	{
		state = MakeTable(filter, filter->count);
		PutIntoTable(state, BloomKeyData(filter), filter->count);
	}
	else
	{
		state = MakeList(filter, filter->count);
		memcpy(BloomKeyData(state), BloomKeyData(filter),
			   filter->count * sizeof(uint64));
		SetListCount(state, filter->count);
	}
	return state;
}

/*
 * A state with the content of a value, which stays as it is.
 */
static Bloom *
StateFromValue(const Bloom *filter, bool tell)
{
	Bloom	   *state;

	BloomCheckHasShape(filter);
	if (BloomIsBits(filter))
	{
		state = MakeBits(filter);
		memcpy(BloomKeyData(state), BloomKeyData(filter), BloomBitBytes(filter));
	}
	else
		state = StateFromKeys(filter, tell);
	AssertCheckState(state);
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

	if (BloomIsPublic(filter))
		return StateFromValue(filter, false);

	state = BloomCopy(filter);
	BloomStateTailOf(state)->is_owned = false;
	return state;
}

/*
 * BloomStateToTell
 *		A state that can tell whether a key is new, with the content of a value.
 */
Bloom *
BloomStateToTell(const Bloom *filter)
{
	return StateFromValue(filter, true);
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
	BloomStateTailOf(owned)->is_owned = true;
	return owned;
}

/* ----------------------------------------------------------------
 *							GROWING
 *
 * The old state is freed if it was owned, and otherwise is as it was.
 * ----------------------------------------------------------------
 */

/*
 * Allocate what replaces a state where that is, if it is owned.
 */
static MemoryContext
SwitchToOwner(const Bloom *state)
{
	MemoryContext context = CurrentMemoryContext;

	if (BloomStateIsOwned(state))
		context = GetMemoryChunkContext(unconstify(Bloom *, state));
	return MemoryContextSwitchTo(context);
}

/* This state is instead of that. */
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
 * BloomStateNoteKeyType
 *		The state, which takes keys of this type from now on.
 *
 * An error, if it has keys of another.  Before the first key, a name has to
 * be put before the content.
 */
Bloom *
BloomStateNoteKeyType(Bloom *state, const BloomKeyType *key_type)
{
	Size		type_bytes = (Size) key_type->words * 8;
	MemoryContext oldcontext;

	BloomCheckKeyType(state, key_type);
	if (state->key_type != 0 || key_type->id == 0)
		return state;
	if (BloomIsPublic(state))
		state = StateFromValue(state, false);

	if (type_bytes > 0)
	{
		Size		size = VARSIZE(state) + type_bytes;
		Size		prefix = BloomPrefixSize(state);
		Bloom	   *named;

		oldcontext = SwitchToOwner(state);
		named = BloomAllocate(CurrentMemoryContext, size);
		memcpy(named, state, BLOOM_HEADER_SIZE);
		memcpy(named->data, key_type->name, type_bytes);
		memcpy((char *) named->data + type_bytes, (char *) state + prefix,
			   VARSIZE(state) - prefix);
		SET_VARSIZE(named, size);
		named->type_words = key_type->words;
		MemoryContextSwitchTo(oldcontext);
		state = Replace(state, named);
	}
	state->key_type = key_type->id;
	AssertCheckState(state);
	return state;
}

/*
 * Set the bits of all keys of a table or list in a state or value in bits
 * form.  The keys that wait in a batch are not among them.
 */
static void
SetBitsOf(Bloom *bits, const Bloom *state)
{
	const uint64 *content = BloomKeyData(state);
	uint64		hashes[1024];
	uint64		inverse;
	uint64		slots;
	int			n = 0;

	if (BloomIsList(state))
	{
		BloomSetMany(bits, content, state->count);
		return;
	}
	inverse = BloomTableInverse(BloomStateTailOf(state)->secret);
	slots = WordsOf(state);
	for (uint64 i = 0; i < slots; i++)
	{
		if (content[i] == 0)
			continue;
		hashes[n++] = BloomTableHash(inverse, content[i]);
		if (n == lengthof(hashes))
		{
			BloomSetMany(bits, hashes, n);
			n = 0;
		}
	}
	BloomSetMany(bits, hashes, n);
}

/*
 * BloomStateToBits
 *		A state in bits form with the content of a table or list.
 */
Bloom *
BloomStateToBits(const Bloom *old)
{
	Bloom	   *state = MakeBits(old);

	Assert(BloomStateTailOf(old)->waiting == 0);
	SetBitsOf(state, old);
	AssertCheckState(state);
	return state;
}

/*
 * A larger table with the same content.
 */
static Bloom *
GrowTable(const Bloom *old)
{
	Bloom	   *state = MakeTable(old, old->count);
	uint64		secret = BloomStateTailOf(state)->secret;
	uint64		inverse = BloomTableInverse(BloomStateTailOf(old)->secret);
	uint64		old_slots = WordsOf(old);
	uint64		slots = WordsOf(state);
	const uint64 *content = BloomKeyData(old);

	for (uint64 i = 0; i < old_slots; i++)
	{
		uint64		hash = BloomTableHash(inverse, content[i]);

		BloomCheckInterrupts(i);
		if (hash != 0)
			(void) BloomTableInsert(BloomKeyData(state), slots,
									BloomTableEntry(secret, hash));
	}
	state->count = old->count;
	return state;
}

/*
 * A list with the content of a table, and room for at least so many hashes.
 */
static Bloom *
TableToList(const Bloom *table, uint64 room)
{
	Bloom	   *list = MakeList(table, Max(table->count, room));

	SortedHashesOfTable(table, BloomKeyData(list));
	SetListCount(list, table->count);
	return list;
}

/*
 * A list with a batch of this size.
 */
static Bloom *
ResizeBatch(Bloom *list, uint64 batch)
{
	BloomStateTail tail = *BloomStateTailOf(list);
	Size		size = SizeOf(list, list->count, batch);
	Size		used = BloomPrefixSize(list) + list->count * sizeof(uint64);
	Bloom	   *state;

	Assert(tail.waiting == 0);
	if (tail.is_owned)
		state = repalloc_huge(list, size);
	else
	{
		state = BloomAllocate(CurrentMemoryContext, size);
		memcpy(state, list, used);
	}
	SET_VARSIZE(state, size);
	tail.batch = batch;
	*BloomStateTailOf(state) = tail;
	return state;
}

/*
 * The error of more keys than can be collected.
 */
static void
TooManyToCollect(const Bloom *state)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("too many distinct keys to collect without a capacity"),
			 errdetail("Without a capacity, the distinct keys are collected, and must be fewer than " UINT64_FORMAT ".",
					   (uint64) state->words),
			 errhint("Name a capacity: (key, capacity, fp_prob).")));
}

/*
 * The state that has room for another key, for a table or list whose batch is
 * empty.
 */
static Bloom *
MakeRoom(Bloom *state, bool tell, BloomWhenFull when_full)
{
	MemoryContext oldcontext;
	Bloom	   *grown;

	CHECK_FOR_INTERRUPTS();
	if (!BloomHoldsAsKeys(state->words, state->count))
	{
		if (when_full == BLOOM_FAIL_WHEN_FULL)
			TooManyToCollect(state);

		/* give back first what is more than the list itself */
		if (BloomIsList(state) && BloomStateIsOwned(state))
			state = ResizeBatch(state, 1);
		oldcontext = SwitchToOwner(state);
		grown = BloomStateToBits(state);
	}
	else if (BloomIsList(state))
		return ResizeBatch(state, ListBatchFor(state, state->count));
	else if (!tell && SlotsFor(state, state->count) > MAX_TABLE_SLOTS)
	{
		oldcontext = SwitchToOwner(state);
		grown = TableToList(state, 0);
	}
	else
	{
		oldcontext = SwitchToOwner(state);
		grown = GrowTable(state);
	}
	MemoryContextSwitchTo(oldcontext);
	return Replace(state, grown);
}

/* ----------------------------------------------------------------
 *							ADDING
 * ----------------------------------------------------------------
 */

/* Has a table more keys than it should, or than any may? */
static inline bool
IsFull(const Bloom *table)
{
	return table->count > BloomTableRoom(WordsOf(table)) ||
		!BloomHoldsAsKeys(table->words, table->count);
}

/*
 * Add one hash to a table, or to bits past the batch.
 */
static Bloom *
AddAndTell(Bloom *state, uint64 hash, bool tell, BloomWhenFull when_full,
		   bool *fresh)
{
	if (BloomIsBits(state))
		*fresh = BloomSetBits(BloomBitData(state), BloomBits(state),
							  state->hashes, hash) > 0;
	else
	{
		uint64		secret = BloomStateTailOf(state)->secret;

		Assert(BloomIsTable(state));
		*fresh = BloomTableInsert(BloomKeyData(state), WordsOf(state),
								  BloomTableEntry(secret, hash));
		state->count += *fresh;
		if (*fresh && IsFull(state))
			state = MakeRoom(state, tell, when_full);
	}
	AssertCheckState(state);
	return state;
}

/*
 * BloomStateAddAndTell
 *		Add one hash, and tell whether it was new.
 *
 * To tell, no hash may be waiting in a batch: a state is filled either by this
 * function or by BloomStateAdd.
 */
Bloom *
BloomStateAddAndTell(Bloom *state, uint64 hash, BloomWhenFull when_full,
					 bool *fresh)
{
	Assert(!BloomIsPublic(state));
	Assert(BloomStateTailOf(state)->waiting == 0);
	return AddAndTell(state, hash, true, when_full, fresh);
}

/*
 * BloomStateAddSlowly
 *		Add one hash to a state without a batch, or a value.
 */
Bloom *
BloomStateAddSlowly(Bloom *state, uint64 hash, BloomWhenFull when_full)
{
	bool		fresh;

	if (BloomIsPublic(state))
	{
		state = StateFromValue(state, false);
		if (BloomStateTailOf(state)->batch > 0)
			return BloomStateAdd(state, hash, when_full);
	}
	return AddAndTell(state, hash, false, when_full, &fresh);
}

/*
 * Put the batch into the content, in place.
 *
 * A list may have more keys afterwards than the keys form can hold.
 */
static void
Settle(Bloom *state)
{
	BloomStateTail *tail = BloomStateTailOf(state);
	uint64		n = tail->waiting;
	uint64	   *batch = BatchOf(state);

	if (n == 0)
		return;
	tail->waiting = 0;
	if (BloomIsList(state))
	{
		uint64	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext,
													 n * sizeof(uint64));

		n = BloomSortDistinct(batch, scratch, n, true);
		SetListCount(state, BloomMergeInPlace(BloomKeyData(state),
											  state->count, scratch, n));
		pfree(scratch);
	}
	else if (VARSIZE(state) >= PREFETCH_FROM_SIZE)
		BloomSetMany(state, batch, n);
	else
	{
		uint8	   *data = BloomBitData(state);
		uint64		bits = BloomBits(state);
		int			hashes = state->hashes;

		for (uint64 i = 0; i < n; i++)
			(void) BloomSetBits(data, bits, hashes, batch[i]);
	}
}

/*
 * BloomStateWorkOff
 *		Put the batch into the content, and make room for the next.
 */
Bloom *
BloomStateWorkOff(Bloom *state, BloomWhenFull when_full)
{
	Settle(state);
	if (BloomIsList(state) &&
		(BloomStateTailOf(state)->batch < ListBatchFor(state, state->count) ||
		 !BloomHoldsAsKeys(state->words, state->count)))
		state = MakeRoom(state, false, when_full);
	AssertCheckState(state);
	return state;
}

/*
 * Add many hashes.
 *
 * States on the way from the first to the last one are freed, except for the
 * first, which belongs to the caller (or is freed already, if it was owned).
 */
static Bloom *
AddMany(Bloom *state, const Bloom *first, const uint64 *hashes,
		uint64 nhashes, BloomWhenFull when_full)
{
	for (uint64 i = 0; i < nhashes; i++)
	{
		Bloom	   *previous = state;
		bool		was_owned = BloomStateIsOwned(state);

		BloomCheckInterrupts(i);
		state = BloomStateAdd(state, hashes[i], when_full);
		if (state != previous && previous != first && !was_owned)
			pfree(previous);
	}
	return state;
}

/*
 * Merge many hashes, ascending and distinct, into a list or table, which
 * becomes a list.
 */
static Bloom *
MergeSorted(Bloom *state, const uint64 *hashes, uint64 nhashes,
			BloomWhenFull when_full)
{
	if (BloomIsTable(state))
	{
		MemoryContext oldcontext = SwitchToOwner(state);
		Bloom	   *list = TableToList(state, state->count + nhashes);

		MemoryContextSwitchTo(oldcontext);
		state = Replace(state, list);
	}
	Settle(state);
	if (BloomStateTailOf(state)->batch <= nhashes)
		state = ResizeBatch(state, nhashes +
							ListBatchFor(state, state->count + nhashes));
	SetListCount(state, BloomMergeInPlace(BloomKeyData(state), state->count,
										  hashes, nhashes));
	return BloomStateWorkOff(state, when_full);
}

/*
 * The content of a filter in bits form, added to a state.
 */
static Bloom *
MergeBits(Bloom *state, const Bloom *bits)
{
	if (!BloomIsBits(state))
	{
		MemoryContext oldcontext;
		Bloom	   *turned;

		Settle(state);
		oldcontext = SwitchToOwner(state);
		turned = BloomStateToBits(state);
		MemoryContextSwitchTo(oldcontext);
		state = Replace(state, turned);
	}
	BloomOrBits(state, bits);
	return state;
}

/*
 * BloomCheckCanMerge
 *		An error, if keys are collected that a filter does not know any more.
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
	Bloom	   *first = state;
	const uint64 *content = BloomKeyData(other);

	BloomCheckCombinable(state, other);
	BloomCheckCanMerge(other, when_full);
	if (!BloomHasShape(other))
		return state;
	if (!BloomHasShape(state))
		return BloomStateFrom(other);

	if (BloomIsPublic(state))
		state = StateFromValue(state, false);
	state = BloomStateNoteKeyType(state, &key_type);

	if (BloomIsBits(other))
		state = MergeBits(state, other);
	else if (BloomIsTable(other))
	{
		uint64	   *hashes = MemoryContextAllocHuge(CurrentMemoryContext,
													Max(other->count, 1) * sizeof(uint64));

		HashesOfTable(other, hashes);
		state = AddMany(state, first, hashes, other->count, when_full);
		pfree(hashes);
	}
	else if (other->count < MIN_LIST_BATCH || BloomIsBits(state))
		state = AddMany(state, first, content, other->count, when_full);
	else
		state = MergeSorted(state, content, other->count, when_full);

	if (!BloomIsPublic(other))
		state = AddMany(state, first, BatchOf(other),
						BloomStateTailOf(other)->waiting, when_full);
	BloomAdoptCapacity(state, other);
	AssertCheckState(state);
	return state;
}

/* ----------------------------------------------------------------
 *							PUBLISHING
 *
 * A state can go on to be used after it was published: a window aggregate
 * does that.  So it is changed only within its meaning: it may become a value.
 * ----------------------------------------------------------------
 */

/*
 * The content of a table or list as a value of the shape of another filter.
 */
static Bloom *
PublishKeys(const Bloom *state, const BloomShape *shape)
{
	bool		as_keys = BloomHoldsAsKeys(shape->bits / 64, state->count);
	BloomKeyType key_type = BloomKeyTypeOf(state);
	Bloom	   *value = BloomMake(shape, &key_type,
								  as_keys ? BLOOM_KEYS : BLOOM_BITS,
								  as_keys ? state->count * sizeof(uint64) :
								  shape->bits / 8);

	if (!as_keys)
	{
		SetBitsOf(value, state);
		BloomSetCount(value, BloomCountBits(value));
		return value;
	}
	if (BloomIsTable(state))
		SortedHashesOfTable(state, BloomKeyData(value));
	else
		memcpy(BloomKeyData(value), BloomKeyData(state),
			   state->count * sizeof(uint64));
	BloomSetCount(value, state->count);
	return value;
}

/*
 * Make a value of a state, in place: cut off what a value does not have.
 */
static void
Cut(Bloom *state, BloomRepresentation representation, uint64 count)
{
	SET_VARSIZE(state, BloomPrefixSize(state) + WordsOf(state) * sizeof(uint64));
	state->version = BLOOM_VERSION;
	state->representation = representation;
	BloomSetCount(state, count);
}

/*
 * BloomStatePublish
 *		The value of a state, which may be the state itself.
 */
const Bloom *
BloomStatePublish(Bloom *state)
{
	if (BloomIsPublic(state))
		return state;
	Settle(state);
	if (BloomIsBits(state))
		Cut(state, BLOOM_BITS, BloomCountBits(state));
	else if (BloomIsList(state) &&
			 BloomHoldsAsKeys(state->words, state->count))
		Cut(state, BLOOM_KEYS, state->count);
	else
	{
		BloomShape	shape = BloomShapeOf(state);

		AssertCheckState(state);
		return PublishKeys(state, &shape);
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

	if (BloomIsPublic(state) || BloomIsBits(state))
	{
		const Bloom *value = BloomStatePublish(state);

		return value->count == 0 ? BloomMakeShapeless() :
			BloomFit(value, value->fp_prob);
	}
	Settle(state);
	AssertCheckState(state);
	if (state->count == 0)
		return BloomMakeShapeless();
	if (state->count >= MAX_COLLECTED_WORDS)
		TooManyToCollect(state);

	shape = BloomShapeForCapacity(state->count, state->fp_prob,
								  (int64) state->seed);
	return PublishKeys(state, &shape);
}
