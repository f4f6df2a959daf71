/*-------------------------------------------------------------------------
 *
 * seen/table.c
 *		Tables of keys: add one, and learn whether it was new.
 *
 * bloom_seen uses them, in two forms:
 *
 *		(key)						a table of hashes: exact, grows
 *		(key, capacity, fp_prob)	a blocked Bloom filter of a fixed size
 *
 * Invariants
 * ----------
 *
 * - A hash is never zero.  It is in block (hash * secret * nblocks) >> 64, where
 *	 the first product is modulo 2^64, or in the next one with room, cyclically.
 *	 So keys cannot be chosen for their blocks.
 * - Blocks are filled from their beginning, and no hash is ever taken out, so
 *	 that a search ends at the first block with room.
 * - At most three quarters of the places in blocks are in use.
 * - The exact form hashes keys with a secret seed, which is never stored: so a
 *	 key cannot be made for the hash of another one.  All tables of a process
 *	 have the same, so that they agree about each key.
 * - A filter has no secret, and seed 0.  So a query takes the same new keys for
 *	 repeats each time that it runs.
 *
 * Few keys should not pay for the bits of their capacity.  So the second form
 * begins as a table as well, which may take a sixteenth of the filter's bits.
 *
 * The time of a large table is that of one cache miss a key.  The processor
 * works on the rows between meanwhile, unless it has to guess what the answer
 * will be, and guesses wrong.  So both forms consist of blocks of one cache
 * line, which are searched without a branch (seen/table.h, bits/blocked.h).
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "seen/table.h"
#include "key/hash.h"

/* A table may have one key for n words of the bit array */
#define WORDS_PER_TABLE_KEY		16

#define FIRST_BLOCKS			2

/*
 * From so many keys on, a table of the exact form grows in one step to half of
 * the size that is expected.  Until then, it costs little to grow in steps, and a query that ends
 * early has made no large table.
 */
#define ENOUGH_KEYS				16384

/* ... but to no more than so many times its size: an estimate may be wrong. */
#define MOST_GROWTH				16

/* With so many times the memory of the server's hash tables, there is a WARNING */
#define FAR_ABOVE_MEMORY		16

/* Make n empty blocks. */
static void
MakeBlocks(BloomSeenTable *table, uint64 nblocks)
{
	Size		size = (nblocks + 1) * BLOOM_BLOCK_BYTES;
	void	   *memory = BloomAllocate(table->context, size);

	memset(memory, 0, size);
	table->memory = memory;
	table->blocks = (uint64 *) TYPEALIGN(BLOOM_BLOCK_BYTES, memory);
	table->nblocks = nblocks;
}

/*
 * BloomSeenParams
 *		The shape of a filter of this rate.
 *
 * It takes thousands of exponentials to find, and nearly all tables of a call
 * ask for the same.
 */
BloomBlockedParams
BloomSeenParams(BloomSeenTables *call, double fp_prob)
{
	if (call->fp_prob != fp_prob)
	{
		call->fp_prob = 0;
		if (!BloomBestBlocked(fp_prob, &call->params))
			elog(ERROR, "no blocked filter for a false-positive rate of %g", fp_prob);
		call->fp_prob = fp_prob;
	}
	return call->params;
}

/* The blocks of the next table, for more keys */
static uint64
NextBlocks(const BloomSeenTable *table)
{
	uint64		nblocks = table->nblocks * 2;

	if (table->nkeys >= ENOUGH_KEYS)
		nblocks = Max(nblocks, Min(table->expected / 2 / BloomSeenRoom(1),
								   table->nblocks * MOST_GROWTH));
	return Min(nblocks, BLOOM_SEEN_MAX_BLOCKS);
}

/* Is there no filter to change to? */
#define IsExact(table)		((table)->shape.bits == 0)

/* Change to a larger table, or to a filter. */
static void
Rebuild(BloomSeenTable *table, bool is_filter)
{
	BloomSeenTable other = *table;
	uint64		nblocks = NextBlocks(table);

	other.is_filter = is_filter;
	if (is_filter)
	{
		other.params = BloomSeenParams(table->call, table->shape.fp_prob);
		nblocks = BloomBlocksForCapacity(table->shape.capacity,
										 other.params.bits_per_key);
	}
	else if (IsExact(table) && !table->call->warned)
		table->call->warned = BloomSeenWarnMemory(table->nkeys,
												  table->nblocks * BLOOM_BLOCK_BYTES,
												  nblocks * BLOOM_BLOCK_BYTES);
	MakeBlocks(&other, nblocks);
	for (uint64 i = 0; i < table->nblocks; i++)
	{
		const uint64 *block = table->blocks + i * BLOOM_BLOCK_WORDS;

		BloomCheckInterrupts(i);
		for (int j = 0; j < BLOOM_BLOCK_WORDS && block[j] != 0; j++)
			(void) BloomSeenPut(&other, block[j]);
	}
	pfree(table->memory);
	*table = other;
}

/* The keys with which a table ends */
static uint64
MostKeys(const BloomSeenTable *table)
{
	return IsExact(table) ? BLOOM_MAX_EXACT_KEYS :
		Max(table->shape.bits / 64 / WORDS_PER_TABLE_KEY, 1);
}

/* How many keys may there be before something has to be done? */
static uint64
NextLimit(const BloomSeenTable *table)
{
	if (!table->is_filter)
		return Min(BloomSeenRoom(table->nblocks), MostKeys(table));
	return table->nkeys > table->shape.capacity ? PG_UINT64_MAX :
		table->shape.capacity + 1;
}

/* The secrets of this server process */
typedef struct Secrets
{
	uint64		of_keys;		/* seed of the exact form's hashes */
	uint64		of_tables;		/* each table has a secret made of it */
} Secrets;

/*
 * They are drawn when first needed: in _PG_init, all processes of a preloaded
 * library would inherit those of the postmaster.
 */
static Secrets
ProcessSecrets(void)
{
	static bool are_drawn = false;
	static Secrets secrets;

	if (!are_drawn && !pg_strong_random(&secrets, sizeof(secrets)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	are_drawn = true;
	return secrets;
}

/*
 * BloomSeenSeed
 *		The seed with which tables of the exact form hash their keys.
 */
uint64
BloomSeenSeed(void)
{
	return ProcessSecrets().of_keys;
}

/*
 * BloomSeenNextSecret
 *		The secret of the next table, an odd number.
 *
 * A strong random number takes longer than all else in a partition of one row.
 * Nobody outside sees the secrets, so the key hash of a counter will do.
 */
uint64
BloomSeenNextSecret(void)
{
	static int64 ntables = 0;

	return BloomHashInt64(ntables++, ProcessSecrets().of_tables) | 1;
}

/*
 * BloomSeenInit
 *		Begin with no keys: for a filter of this shape or, if that is NULL, in
 *		the exact form, for about as many keys as are expected.
 */
void
BloomSeenInit(BloomSeenTable *table, BloomSeenTables *call, MemoryContext context,
			  const BloomShape *shape, uint64 expected)
{
	memset(table, 0, sizeof(BloomSeenTable));
	table->context = context;
	table->call = call;
	table->expected = expected;
	if (shape != NULL)
		table->shape = *shape;
	else
		table->seed = BloomSeenSeed();
	table->secret = BloomSeenNextSecret();
	MakeBlocks(table, FIRST_BLOCKS);
	table->limit = NextLimit(table);
}

/*
 * BloomSeenTooManyKeys
 *		The error of the exact form at its end.
 */
void
BloomSeenTooManyKeys(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("too many distinct keys for bloom_seen without a capacity"),
			 errdetail("Without a capacity, their hashes are kept, and must be fewer than " UINT64_FORMAT ".",
					   BLOOM_MAX_EXACT_KEYS),
			 errhint("Name a capacity: bloom_seen(key, capacity, fp_prob).")));
}

/*
 * BloomSeenWarnMemory
 *		Warn if the exact form grows from this size to one that is far above
 *		what the server's hash tables may take before they spill to disk.
 *
 * It never spills, so the administrator is warned.
 */
bool
BloomSeenWarnMemory(uint64 nkeys, Size before, Size after)
{
	Size		limit = get_hash_memory_limit();

	if (before / FAR_ABOVE_MEMORY >= limit || after / FAR_ABOVE_MEMORY < limit)
		return false;
	ereport(WARNING,
			(errmsg("bloom_seen takes %zu MB for " UINT64_FORMAT " distinct keys, and will take more with more keys",
					after / (1024 * 1024), nkeys),
			 errdetail("Without a capacity, all keys stay in memory, whatever work_mem is; this is %d times work_mem with hash_mem_multiplier.",
					   (int) Min(after / limit, INT_MAX)),
			 errhint("To limit the memory, name a capacity: bloom_seen(key, capacity, fp_prob). If there is enough, raise work_mem.")));
	return true;
}

/*
 * BloomSeenWarnOverfull
 *		Once for each call, a WARNING that there are more keys than the capacity.
 */
void
BloomSeenWarnOverfull(BloomSeenTables *call, uint64 capacity, double fp_prob)
{
	if (call->warned)
		return;
	call->warned = true;
	ereport(WARNING,
			(errmsg("bloom_seen got more distinct keys than its capacity"),
			 errdetail("The capacity is " UINT64_FORMAT " keys; with more of them, the false-positive rate exceeds %g.",
					   capacity, fp_prob),
			 errhint("Name a larger capacity.")));
}

/*
 * BloomSeenMakeRoom
 *		At the limit, make the table grow, change it to a filter, or warn.
 */
void
BloomSeenMakeRoom(BloomSeenTable *table)
{
	if (table->is_filter)
		BloomSeenWarnOverfull(table->call, table->shape.capacity,
							  table->shape.fp_prob);
	else if (table->nkeys >= MostKeys(table) && IsExact(table))
		BloomSeenTooManyKeys();
	else
		Rebuild(table, table->nkeys >= MostKeys(table));
	table->limit = NextLimit(table);
}
