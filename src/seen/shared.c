/*-------------------------------------------------------------------------
 *
 * seen/shared.c
 *		Tables of keys that several processes add to.
 *
 * The processes of a parallel plan read the rows of a query in an arbitrary
 * order.  So any row of a key may be its first row, but exactly one of them must
 * be.  The tables have the two forms of seen/table.c, in dynamic shared memory.
 * In the common case, no process waits for another one.
 *
 * The exact form
 * --------------
 *
 * - A word of a table is zero, then for good a hash, or CLOSED.  It leaves zero
 *	 by an atomic swap, which one process wins.
 * - A process that adds a hash passes a word only if it has read something there
 *	 that is neither zero nor that hash nor CLOSED.  So all that add this hash go
 *	 the same way, and end at the first word that is, in the end, the hash or
 *	 CLOSED.
 * - The hash is new for the process whose swap put it there, the winner.  There
 *	 is at most one winner: a word leaves zero only once, and a winner at a later
 *	 word would have passed the earlier word, which has the hash.  There is at
 *	 least one: a process that reads the hash reads what a winner has written.
 *
 * A table that is full by three quarters grows: one process makes the next one,
 * of twice the size, and publishes it (ntables).  Only then do processes close the
 * old one.  They deal its chunks among themselves: each zero becomes CLOSED, by a
 * swap, and each hash is put into the next table.  A process that reads CLOSED, or
 * sees the next table published, takes part, and waits until all chunks are done.  So
 * all winners of a table are in the next one before anybody looks for a key there;
 * and afterwards, there are no more.
 *
 * A process that has taken a chunk neither waits nor allocates, and cannot be
 * interrupted.  So the others do not wait long, and check for interrupts.
 *
 * The filter
 * ----------
 *
 * - The last bit of each block is its lock.  It is no bit of any key: left out by
 *	 its position, not by its value, which changes.
 * - A process that adds a hash has the lock of the hash's first block from its
 *	 first look at the bits until all of them are set.  Bits are never cleared.  So
 *	 when two processes add a hash, the second one finds all of its bits set.
 * - A repeat needs no lock: if all bits are set, the hash was added, or it is a
 *	 false positive.
 * - If a key has several blocks, only the first one is locked, and bits are set by
 *	 atomic operations.
 *
 * A process that has the lock of a block only sets bits: like one that moves a
 * chunk, it neither waits nor allocates, and cannot be interrupted.  If it is
 * killed, the server ends all others.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifndef WIN32
#include <sys/mman.h>
#endif
#ifdef __linux__
#include <sys/statvfs.h>
#endif

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/dsm_impl.h"
#include "storage/s_lock.h"

#include "seen/shared.h"
#include "pause.h"

/* Ends the way of all hashes that come to it, in a table that moves */
#define CLOSED					PG_UINT64_MAX

/* The least table of the exact form: half a megabyte */
#define LEAST_BLOCKS			8192

/* How much memory the kernel maps at a time; all sizes of pages divide 64 kB. */
#define MAP_STEP				(64 * 1024 * 1024)
#define MAP_ALIGNMENT			(64 * 1024)

/* Blocks that are cleared at a time */
#define BLOCKS_PER_STEP			(MAP_STEP / BLOOM_BLOCK_BYTES)

/* Blocks whose hashes one process moves at a time */
#define CHUNK_BLOCKS			256

/* How often to look, before sleeping, whether others are done */
#define SPINS_PER_SLEEP			1000

/* The lock of a block, its last bit */
#define LOCK_POSITION			(BLOOM_BLOCK_BITS - 1)
#define LOCK_WORD				(BLOOM_BLOCK_WORDS - 1)
#define LOCK_BIT				(UINT64CONST(1) << 63)

/* Others are at work: wait, for a short time. */
static void
WaitForOthers(int *nspins)
{
	if (++*nspins % SPINS_PER_SLEEP != 0)
		SPIN_DELAY();
	else
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(100);
	}
}

/* ----------------------------------------------------------------
 *							MEMORY
 * ----------------------------------------------------------------
 */

/* The bytes of a table */
#define TableBytes(nblocks)		(((nblocks) + 1) * BLOOM_BLOCK_BYTES)

/*
 * For half more than expected: ANALYZE often estimates too few distinct keys,
 * and to move them to another table costs more than to have room for them.
 */
static uint64
BlocksForKeys(uint64 nkeys)
{
	return Max((nkeys + nkeys / 2) / BloomSeenRoom(1) + 1, LEAST_BLOCKS);
}

/*
 * BloomSeenSharedBytes
 *		What the exact form would take for so many keys.
 */
Size
BloomSeenSharedBytes(uint64 nkeys)
{
	return TableBytes(BlocksForKeys(nkeys));
}

/* Is this what the server says where there is no more shared memory? */
static bool
IsLackOfMemory(int code)
{
	return code == ERRCODE_DISK_FULL || code == ERRCODE_OUT_OF_MEMORY ||
		code == ERRCODE_INSUFFICIENT_RESOURCES;
}

/*
 * Is there so much shared memory, and some for the area's own use of it?
 *
 * If not, to ask for it is an error, and so it is if others take it meanwhile.
 * Only where it is a file system do we know it beforehand.
 */
static bool
IsThereMemory(Size size)
{
#ifdef __linux__
	struct statvfs fs;

	if (dynamic_shared_memory_type == DSM_IMPL_POSIX &&
		statvfs("/dev/shm", &fs) == 0)
		return (size + size / 16) / fs.f_frsize < fs.f_bavail;
#endif
	(void) size;
	return true;
}

/* The blocks of a table, in this process */
static uint64 *
BlocksOf(const BloomSeenShared *shared, dsa_area *area, int table)
{
	void	   *memory = dsa_get_address(area, shared->tables[table].memory);

	return (uint64 *) TYPEALIGN(BLOOM_BLOCK_BYTES, memory);
}

/*
 * Have the kernel map the pages of a table in this process, some megabytes at a
 * time.
 *
 * One by one, as they are first touched, costs several times as much, most of
 * all in virtual machines; and shared memory has no huge pages, which
 * BloomAllocate asks for.  If the kernel cannot, it is done that way.
 */
static void
MapPages(void *memory, Size size)
{
#ifdef MADV_POPULATE_WRITE
	char	   *start = (char *) TYPEALIGN(MAP_ALIGNMENT, memory);
	char	   *end = (char *) memory + size;

	for (; start < end; start += MAP_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		(void) madvise(start, Min(MAP_STEP, end - start), MADV_POPULATE_WRITE);
	}
#else
	(void) memory;
	(void) size;
#endif
}

/* What to do, in the server's error that there is no more shared memory. */
static void
HintAtMemory(void *arg)
{
	(void) arg;
	if (IsLackOfMemory(geterrcode()))
		errhint("A parallel plan of bloom_seen has its keys in shared memory, which cannot be left once there are some. Enlarge /dev/shm, set max_parallel_workers_per_gather to 0 for this query, or name a capacity: bloom_seen(key, capacity, fp_prob).");
}

/*
 * Make the next table, and publish it.  One process does that; it has no lock,
 * so that it can be interrupted.
 */
static void
MakeSharedTable(BloomSeenShared *shared, dsa_area *area, uint64 nblocks)
{
	int			number = pg_atomic_read_u32(&shared->ntables);
	BloomSeenBlocks *table = &shared->tables[number];
	ErrorContextCallback callback = {error_context_stack, HintAtMemory, NULL};
	uint64	   *blocks;

	if (number == BLOOM_SEEN_MAX_TABLES)
		elog(ERROR, "too many tables of keys");
	error_context_stack = &callback;
	table->memory = dsa_allocate_extended(area, TableBytes(nblocks), DSA_ALLOC_HUGE);
	error_context_stack = callback.previous;
	table->nblocks = nblocks;
	table->nusers = 0;
	pg_atomic_init_u64(&table->ndealt, 0);
	pg_atomic_init_u64(&table->nmoved, 0);
	MapPages(dsa_get_address(area, table->memory), TableBytes(nblocks));
	blocks = BlocksOf(shared, area, number);
	for (uint64 i = 0; i < nblocks; i += BLOCKS_PER_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		memset(blocks + i * BLOOM_BLOCK_WORDS, 0,
			   Min(nblocks - i, BLOCKS_PER_STEP) * BLOOM_BLOCK_BYTES);
	}
	pg_write_barrier();
	pg_atomic_write_u32(&shared->ntables, number + 1);
}

/*
 * BloomSeenShare
 *		The leader, before others begin: a table without keys, for a filter of
 *		this shape or, if that is NULL, for as many keys as are expected.
 *
 * False if it takes more than the limit, or than there is.
 */
bool
BloomSeenShare(BloomSeenShared *shared, dsa_area *area, BloomSeenTables *call,
			   const BloomShape *shape, uint64 expected, Size limit)
{
	uint64		nblocks = Min(BlocksForKeys(expected), BLOOM_SEEN_MAX_BLOCKS);

	memset(shared, 0, sizeof(BloomSeenShared));
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	pg_atomic_init_u64(&shared->nkeys, 0);
	pg_atomic_init_u32(&shared->ntables, 0);
	pg_atomic_init_u32(&shared->nclaimed, 0);
	if (shape != NULL)
	{
		shared->capacity = shape->capacity;
		shared->fp_prob = shape->fp_prob;
		shared->params = BloomSeenParams(call, shape->fp_prob);
		nblocks = BloomBlocksForCapacity(shape->capacity,
										 shared->params.bits_per_key);
		/* for the bits that are locks */
		nblocks += nblocks / 100 + 1;
	}
	else
		shared->seed = BloomSeenSeed();
	shared->secret = BloomSeenNextSecret();
	if (TableBytes(nblocks) > limit || !IsThereMemory(TableBytes(nblocks)))
		return false;
	MakeSharedTable(shared, area, nblocks);
	pg_atomic_write_u32(&shared->nclaimed, 1);
	return true;
}

/*
 * BloomSeenUnshare
 *		The leader, after all others: give the memory back.
 */
void
BloomSeenUnshare(BloomSeenShared *shared, dsa_area *area)
{
	int			ntables = pg_atomic_read_u32(&shared->ntables);

	while (shared->oldest < ntables)
		dsa_free(area, shared->tables[shared->oldest++].memory);
}

/*
 * BloomSeenSharedMemory
 *		What the tables take.
 */
Size
BloomSeenSharedMemory(const BloomSeenShared *shared)
{
	int			ntables = pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->ntables));
	Size		size = 0;

	for (int i = shared->oldest; i < ntables; i++)
		size += TableBytes(shared->tables[i].nblocks);
	return size;
}

/*
 * Go from one table to another; the first is none to begin with.  A table that all
 * have left is freed, unless somebody may still have to pass through it.
 */
static void
UseTable(BloomSeenView *view, int from, int to)
{
	BloomSeenShared *shared = view->shared;
	int			last;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	last = pg_atomic_read_u32(&shared->ntables) - 1;
	if (from >= 0)
		shared->tables[from].nusers--;
	else
		to = shared->oldest;
	shared->tables[to].nusers++;
	while (shared->oldest < last && shared->tables[shared->oldest].nusers == 0)
		dsa_free(view->area, shared->tables[shared->oldest++].memory);
	LWLockRelease(&shared->lock);
	view->table = to;
	view->blocks = BlocksOf(shared, view->area, to);
	view->nblocks = shared->tables[to].nblocks;
}

/*
 * BloomSeenJoin
 *		A process that begins.
 */
void
BloomSeenJoin(BloomSeenView *view, BloomSeenShared *shared, dsa_area *area)
{
	view->shared = shared;
	view->area = area;
	UseTable(view, -1, 0);
	MapPages(view->blocks, view->nblocks * BLOOM_BLOCK_BYTES);
}

/* ----------------------------------------------------------------
 *						THE EXACT FORM
 * ----------------------------------------------------------------
 */

typedef enum Outcome
{
	KEY_SEEN,
	KEY_NEW,
	TABLE_CLOSED,
	TABLE_FULL
} Outcome;

#define AtomicWord(word)		((pg_atomic_uint64 *) (word))

/* Put a value in place of zero.  False: something is there, which is returned. */
static inline bool
Swap(uint64 *word, uint64 *there, uint64 value)
{
	*there = 0;
	return pg_atomic_compare_exchange_u64(AtomicWord(word), there, value);
}

/* Put a hash into the first place on its way that is free, unless it is there. */
static inline Outcome
Put(uint64 *blocks, uint64 nblocks, uint64 secret, uint64 hash)
{
	uint64		place = BloomMulHigh(hash * secret, nblocks);

	for (uint64 n = 0; n < nblocks; n++)
	{
		uint64	   *block = blocks + place * BLOOM_BLOCK_WORDS;
		uint64		there;
		int			nfound = 0;
		int			nclosed = 0;
		uint32		free = 0;

		for (int i = 0; i < BLOOM_BLOCK_WORDS; i++)
		{
			there = pg_atomic_read_u64(AtomicWord(block + i));
			nfound += there == hash;
			nclosed += there == CLOSED;
			free |= (uint32) (there == 0) << i;
		}
		if (nfound > 0)
			return KEY_SEEN;
		if (unlikely(nclosed > 0))
			return TABLE_CLOSED;
		if (likely(free != 0))
		{
			/* what was read before the first free place has not changed */
			BLOOM_PAUSE("seen-put");
			for (int i = pg_rightmost_one_pos32(free); i < BLOOM_BLOCK_WORDS; i++)
			{
				if (likely(Swap(block + i, &there, hash)))
					return KEY_NEW;
				if (there == hash)
					return KEY_SEEN;
				if (there == CLOSED)
					return TABLE_CLOSED;
			}
		}
		if (++place == nblocks)
			place = 0;
	}
	return TABLE_FULL;
}

/* Close some blocks, and put their hashes into the next table. */
static void
MoveBlocks(const BloomSeenShared *shared, uint64 *from, uint64 nwords,
		   uint64 *to, uint64 nblocks)
{
	for (uint64 i = 0; i < nwords; i++)
	{
		uint64		hash = pg_atomic_read_u64(AtomicWord(from + i));

		if (hash == 0)
		{
			BLOOM_PAUSE("seen-close");
			if (Swap(from + i, &hash, CLOSED))
				continue;
		}
		if (hash != CLOSED &&
			Put(to, nblocks, shared->secret, hash) != KEY_NEW)
			elog(ERROR, "a key is in a table of keys twice");
	}
}

/* Move to the next table, together with the others. */
static void
MoveOn(BloomSeenView *view)
{
	BloomSeenShared *shared = view->shared;
	BloomSeenBlocks *table = &shared->tables[view->table];
	uint64		nchunks = (view->nblocks + CHUNK_BLOCKS - 1) / CHUNK_BLOCKS;
	uint64	   *next;
	uint64		nblocks;
	uint64		chunk;
	int			nspins = 0;

	/* who has found a word closed may read this late */
	pg_memory_barrier();
	if (pg_atomic_read_u32(&shared->ntables) < (uint32) view->table + 2)
		elog(ERROR, "a table of keys is closed, and there is no other");

	/* all that can fail comes first */
	next = BlocksOf(shared, view->area, view->table + 1);
	nblocks = shared->tables[view->table + 1].nblocks;
	MapPages(next, nblocks * BLOOM_BLOCK_BYTES);
	while ((chunk = pg_atomic_fetch_add_u64(&table->ndealt, 1)) < nchunks)
	{
		uint64		first = chunk * CHUNK_BLOCKS;
		uint64		last = Min(first + CHUNK_BLOCKS, view->nblocks);

		MoveBlocks(shared, view->blocks + first * BLOOM_BLOCK_WORDS,
				   (last - first) * BLOOM_BLOCK_WORDS, next, nblocks);
		pg_atomic_fetch_add_u64(&table->nmoved, 1);
	}
	while (pg_atomic_read_u64(&table->nmoved) < nchunks)
		WaitForOthers(&nspins);
	pg_memory_barrier();
	UseTable(view, view->table, view->table + 1);
}

/*
 * The table has no room: make the next one, or wait for the process that does.
 * If that fails, the server ends those who wait.
 */
static void
Grow(BloomSeenView *view)
{
	BloomSeenShared *shared = view->shared;
	uint32		ntables = view->table + 1;
	uint32		nclaimed = ntables;
	int			nspins = 0;

	if (pg_atomic_compare_exchange_u32(&shared->nclaimed, &nclaimed, ntables + 1))
	{
		uint64		nblocks = Min(view->nblocks * 2, BLOOM_SEEN_MAX_BLOCKS);

		(void) BloomSeenWarnMemory(pg_atomic_read_u64(&shared->nkeys),
								   TableBytes(view->nblocks), TableBytes(nblocks));
		MakeSharedTable(shared, view->area, nblocks);
	}
	else
		while (pg_atomic_read_u32(&shared->ntables) == ntables)
			WaitForOthers(&nspins);
	MoveOn(view);
}

/* Add a hash.  True: it was new. */
static inline bool
AddHash(BloomSeenView *view, uint64 hash)
{
	Outcome		outcome;

	/* one of 2^64 hashes is counted as another */
	if (unlikely(hash == CLOSED))
		hash--;
	while (unlikely((outcome = Put(view->blocks, view->nblocks,
								   view->shared->secret, hash)) > KEY_NEW))
	{
		if (outcome == TABLE_CLOSED)
			MoveOn(view);
		else
			Grow(view);
	}
	return outcome == KEY_NEW;
}

/* ----------------------------------------------------------------
 *							THE FILTER
 * ----------------------------------------------------------------
 */

/* The bit of a position in its word; none, if it is that of the lock */
#define BitOf(position) \
	((position) == LOCK_POSITION ? 0 : UINT64CONST(1) << ((position) & 63))

/* Visits of a key's positions: to look, and, with the lock of its block, to set */
static inline uint64
LookAtBit(uint64 *word, int position)
{
	return ~pg_atomic_read_u64(AtomicWord(word)) & BitOf(position);
}

static inline uint64
SetBit(uint64 *word, int position)
{
	uint64		before = *word;

	*word = before | BitOf(position);
	return ~before & BitOf(position);
}

/* The same in a block that others may write to */
static inline uint64
SetBitOfMany(uint64 *word, int position)
{
	return ~pg_atomic_fetch_or_u64(AtomicWord(word), BitOf(position)) & BitOf(position);
}

/* Add a hash.  True: it was new, since one of its bits was not set. */
static inline bool
AddToFilter(BloomSeenView *view, uint64 hash)
{
	const BloomBlockedParams *params = &view->shared->params;
	uint64	   *block = view->blocks +
	BloomMulHigh(hash, view->nblocks) * BLOOM_BLOCK_WORDS;
	pg_atomic_uint64 *lock = AtomicWord(block + LOCK_WORD);
	uint64		missing;
	int			nspins = 0;

	if (BloomBlockedWalk(view->blocks, view->nblocks, params, hash, LookAtBit) == 0)
		return false;
	while (pg_atomic_fetch_or_u64(lock, LOCK_BIT) & LOCK_BIT)
		WaitForOthers(&nspins);
	if (params->blocks > 1)
	{
		missing = BloomBlockedWalk(view->blocks, view->nblocks, params, hash, SetBitOfMany);
		BLOOM_PAUSE("seen-add");
		pg_atomic_fetch_and_u64(lock, ~LOCK_BIT);
	}
	else
	{
		/* nobody else writes to the block */
		missing = BloomBlockedWalk(view->blocks, view->nblocks, params, hash, SetBit);
		BLOOM_PAUSE("seen-add");
		pg_write_barrier();
		pg_atomic_write_u64(lock, block[LOCK_WORD] & ~LOCK_BIT);
	}
	return missing != 0;
}

/* ----------------------------------------------------------------
 *							BATCHES
 * ----------------------------------------------------------------
 */

/*
 * BloomSeenAddBatch
 *		Add the hashes of some rows: which were seen before?  Zero was not.
 */
void
BloomSeenAddBatch(BloomSeenView *view, const uint64 *hashes, int n, bool *seen)
{
	BloomSeenShared *shared = view->shared;
	bool		is_filter = shared->capacity > 0;
	uint64		nnew = 0;
	uint64		nkeys;

	while (pg_atomic_read_u32(&shared->ntables) > (uint32) view->table + 1)
		MoveOn(view);

	/* so that the cache misses overlap: see BloomSeenTouch */
	for (int i = 0; i < n; i++)
	{
		uint64		place = BloomMulHigh(is_filter ? hashes[i] : hashes[i] * shared->secret,
										 view->nblocks);

		(void) *(volatile uint64 *) (view->blocks + place * BLOOM_BLOCK_WORDS);
	}
	for (int i = 0; i < n; i++)
	{
		bool		is_new = hashes[i] != 0 &&
		(is_filter ? AddToFilter(view, hashes[i]) : AddHash(view, hashes[i]));

		seen[i] = hashes[i] != 0 && !is_new;
		nnew += is_new;
	}
	if (nnew == 0)
		return;
	nkeys = pg_atomic_fetch_add_u64(&shared->nkeys, nnew) + nnew;
	if (is_filter || nkeys < Min(BloomSeenRoom(view->nblocks), BLOOM_MAX_EXACT_KEYS))
		return;
	if (nkeys >= BLOOM_MAX_EXACT_KEYS)
		BloomSeenTooManyKeys();
	Grow(view);
}
