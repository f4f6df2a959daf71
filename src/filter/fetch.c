/*-------------------------------------------------------------------------
 *
 * filter/fetch.c
 *		From a Datum, which may be stored out of line, to the filter.
 *
 * Most filters are large, and stored in a TOAST table, in parts of 2 kB.
 * Reading a whole filter for one probe takes time in proportion to its size.
 * Doing so for each row of a join is ruinous.  So
 *
 * - a probe reads the first part, with the header.  If that does not decide,
 *	 it reads the parts with the key's other bits.  Once that has cost about as
 *	 much as reading the whole filter, the whole filter is read: at the latest
 *	 after as many keys as it has parts, divided by PART_COST and by the bits
 *	 that a key may have to read.  This counts the worst case.  Absent keys
 *	 mostly need one read, so that the change comes early rather than late;
 * - a statement remembers what it has read, by TOAST pointers.  A pointer names
 *	 one value forever: a row that is updated gets another pointer.
 *
 * A statement remembers a fixed number of filters.  Their memory is limited to
 * hash_mem, except that one filter of any size is always kept.  A filter that
 * does not fit beside the others replaces them only after reading it in parts,
 * without a probe of another filter in between, has cost as much as reading it
 * whole.  So a join with the filters outside reads each filter once.  A join with
 * the keys outside keeps the filters that fit, and tests the others in parts;
 * without this rule it would read and evict each filter in turn, for each key.
 *
 * All call sites of the statement share the filters, those of all partitions
 * among them.  The simple expressions of a DO block count as one statement, whose
 * cache outlives a COMMIT.  That is safe, since a pointer names one value until
 * OIDs wrap around.
 *
 * CLOCK replacement: the first entry that was not used since the last sweep is
 * evicted.  That takes constant time where each filter is probed once, as in a
 * scan of many, and keeps those that are used again.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "nodes/primnodes.h"

#include "filter/fetch.h"
#include "key/statement.h"

/* Filters that a statement remembers */
#define CACHE_ENTRIES		128

/* The size of a filter of n parts */
#define PARTS_SIZE(n)		(VARHDRSZ + (n) * TOAST_MAX_CHUNK_SIZE)

/* What is read first: one part, or more where the server's blocks are small */
#define MAX_PREFIX_SIZE		(BLOOM_HEADER_SIZE + BLOOM_MAX_TYPE_WORDS * 8)
#define FIRST_SIZE			PARTS_SIZE(MAX_PREFIX_SIZE / TOAST_MAX_CHUNK_SIZE + 1)

/* Filters up to this size are read as a whole if the first part is not enough */
#define SMALL_FILTER_SIZE	PARTS_SIZE(8)

/*
 * Reading a part of a TOAST value by itself, with its own index scan, takes
 * about as long as n parts in a row.  This is a guess, and need not be a good
 * one: only the moment when we change over depends on it.
 */
#define PART_COST			8

/* In a list, n hashes are read at once: two parts or three */
#define KEYS_PER_READ		256

/*
 * As many tests as a list has hashes, divided by this, are worth a sieve: a search
 * of a list beyond the caches needs some 300 ns, and to make the sieve some 10 ns
 * a hash.
 */
#define SIEVE_PAYS				32

typedef struct CacheEntry
{
	Oid			toastrelid;		/* with a value id, a TOAST value's name */
	bool		is_used;		/* since the hand passed */
	uint64		parts;			/* read so far, or about to be */
	uint64		run;			/* those since another filter was probed */
	Bloom	   *first;			/* part, or NULL, if only all of it is read */
	Bloom	   *whole;			/* or NULL */
	BloomSieve	sieve;			/* of that, in keys form */
} CacheEntry;

struct BloomCache
{
	BloomShared shared;
	Size		bytes;			/* of whole filters and their sieves */
	int			latest;			/* the entry that was used last */
	int			hand;			/* the entry to be replaced next */
	Oid			valueids[CACHE_ENTRIES];	/* invalid: no entry */
	CacheEntry	entries[CACHE_ENTRIES];
};

/* ----------------------------------------------------------------
 *							WHOLE FILTERS
 * ----------------------------------------------------------------
 */

/*
 * BloomFetchState
 *		The whole filter, as it is, be it a value or a partial state.
 */
const Bloom *
BloomFetchState(Datum datum)
{
	return (const Bloom *) PG_DETOAST_DATUM(datum);
}

/*
 * An error if a filter is no value: an aggregate of our transition functions that has
 * no final function returns its state.
 */
static void
CheckIsValue(const Bloom *filter)
{
	bool		counting = BloomIsCounting(filter);

	if (unlikely(!BloomIsValue(filter)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot use the state of an aggregate as a %s",
						BloomKindName(BloomKindOf(filter))),
				 errdetail("It is the result of an aggregate that has no final function."),
				 counting ?
				 errhint("Give the aggregate the final function of counting_bloom_agg. What is stored is converted by its text, filter::text::counting_bloom.") :
				 errhint("Give the aggregate the final function of bloom_agg. What is stored is converted by its text, bloom_fit(filter::text::bloom, 0.01).")));
}

/*
 * BloomFetch
 *		The whole filter, which is a value.
 */
const Bloom *
BloomFetch(Datum datum)
{
	const Bloom *filter = BloomFetchState(datum);

	CheckIsValue(filter);
	return filter;
}

/*
 * The first bytes of a stored filter, of this size with the varlena header, or
 * the whole filter, in memory of this context.
 *
 * This is what detoasting does, but without a second copy.
 */
static Bloom *
FetchStored(MemoryContext context, Datum stored, Size size)
{
	Bloom	   *filter = BloomAllocate(context, size);

	if (BloomHasParts(stored))
		BloomToastRead(stored, size, (struct varlena *) filter);
	else
	{
		Bloom	   *whole = unconstify(Bloom *, BloomFetchState(stored));

		memcpy(filter, whole, size);
		pfree(whole);
	}
	CheckIsValue(filter);
	return filter;
}

/*
 * BloomFetchHeader
 *		A filter of which only the header may be looked at.
 */
const Bloom *
BloomFetchHeader(Datum datum)
{
	if (!BloomHasParts(datum))
		return BloomFetch(datum);
	return FetchStored(CurrentMemoryContext, datum,
					   Min(toast_raw_datum_size(datum), FIRST_SIZE));
}

/* ----------------------------------------------------------------
 *							THE CACHE
 * ----------------------------------------------------------------
 */

/* The size of the sieve of n hashes, and of a block before the first one. */
static Size
SieveBytes(uint64 nkeys)
{
	return (BloomBlocksForCapacity(nkeys, BloomSieveParams.bits_per_key) + 1) *
		BLOOM_BLOCK_BYTES;
}

/* The size of a whole filter, with the sieve that it may get. */
static Size
WholeBytes(const Bloom *whole)
{
	return VARSIZE(whole) + (BloomIsKeys(whole) ? SieveBytes(whole->count) : 0);
}

/* Forget an entry's whole filter. */
static void
DropWhole(BloomCache *cache, CacheEntry *entry)
{
	if (entry->whole == NULL)
		return;
	cache->bytes -= WholeBytes(entry->whole);
	if (entry->sieve.blocks != NULL)
		pfree(entry->sieve.memory);
	memset(&entry->sieve, 0, sizeof(BloomSieve));
	pfree(entry->whole);
	entry->whole = NULL;
	entry->parts = 0;
}

/* The next entry to be replaced, or to lose its whole filter. */
static CacheEntry *
NextVictim(BloomCache *cache, bool with_whole)
{
	for (;;)
	{
		CacheEntry *entry = &cache->entries[cache->hand];

		cache->hand = (cache->hand + 1) % CACHE_ENTRIES;
		if (with_whole && entry->whole == NULL)
			continue;
		if (!entry->is_used)
			return entry;
		entry->is_used = false;
	}
}

/* Is there no room for a filter of this size beside the others? */
static bool
MustEvict(const BloomCache *cache, Size size)
{
	return cache->bytes > 0 && cache->bytes + size > get_hash_memory_limit();
}

/*
 * Is it no more expensive to read all of the filter than n parts more?
 */
static bool
IsWorthWhole(const BloomCache *cache, CacheEntry *entry, Datum stored,
			 uint64 nparts)
{
	Size		size = toast_raw_datum_size(stored);

	entry->parts += nparts;
	entry->run += nparts;
	return size <= SMALL_FILTER_SIZE ||
		(MustEvict(cache, size) ? entry->run : entry->parts) * PART_COST >=
		size / TOAST_MAX_CHUNK_SIZE;
}

/*
 * Read all of a filter, and keep it.
 */
static void
FetchWhole(BloomCache *cache, CacheEntry *entry, Datum stored)
{
	Size		size = toast_raw_datum_size(stored);

	while (MustEvict(cache, size))
		DropWhole(cache, NextVictim(cache, true));

	entry->whole = FetchStored(cache->shared.query, stored, size);
	cache->bytes += WholeBytes(entry->whole);
}

/*
 * Put a TOAST value, to be probed for n keys, in the place of another one.
 */
static int
ReplaceEntry(BloomCache *cache, Datum stored, uint64 nkeys)
{
	struct varatt_external pointer;
	CacheEntry *entry = NextVictim(cache, false);
	int			i = entry - cache->entries;

	cache->valueids[i] = InvalidOid;	/* until it is complete */
	DropWhole(cache, entry);
	if (entry->first != NULL)
		pfree(entry->first);
	entry->first = NULL;
	entry->parts = 0;
	if (BloomHasParts(stored) && toast_raw_datum_size(stored) >
		(nkeys == 1 ? FIRST_SIZE : SMALL_FILTER_SIZE))
		entry->first = FetchStored(cache->shared.query, stored, FIRST_SIZE);
	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));
	entry->toastrelid = pointer.va_toastrelid;
	cache->valueids[i] = pointer.va_valueid;
	return i;
}

/* The entry of a TOAST value, or NULL. */
static CacheEntry *
FindEntry(BloomCache *cache, Datum stored)
{
	struct varatt_external pointer;
	int			i = cache->latest;

	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));

#define IS_ENTRY(i) \
	(cache->valueids[i] == pointer.va_valueid && \
	 cache->entries[i].toastrelid == pointer.va_toastrelid)

	if (unlikely(!IS_ENTRY(i)))
	{
		for (i = 0; i < CACHE_ENTRIES && !IS_ENTRY(i); i++)
			;
		if (i == CACHE_ENTRIES)
			return NULL;
		cache->entries[i].is_used = true;
		cache->latest = i;
		cache->entries[i].run = 0;
	}
	return &cache->entries[i];
}

/*
 * The entry of a TOAST value, which may be new, to probe it for n keys; it has
 * the first part, or all.
 */
static CacheEntry *
GetEntry(BloomCache *cache, Datum stored, uint64 nkeys)
{
	CacheEntry *entry = FindEntry(cache, stored);

	if (entry == NULL)
	{
		cache->latest = ReplaceEntry(cache, stored, nkeys);
		entry = &cache->entries[cache->latest];
		entry->run = 0;
	}
	if (entry->whole == NULL && entry->first == NULL)
		FetchWhole(cache, entry, stored);
	return entry;
}

/*
 * BloomProbeSiteInit
 *		What a call site that probes the filter in this argument begins with.
 */
void
BloomProbeSiteInit(BloomProbeSite *site, FunctionCallInfo fcinfo, int argno)
{
	const Node *call = fcinfo->flinfo->fn_expr;
	List	   *args = NIL;

	memset(site, 0, sizeof(BloomProbeSite));
	if (call != NULL && IsA(call, FuncExpr))
		args = ((const FuncExpr *) call)->args;
	else if (call != NULL && IsA(call, OpExpr))
		args = ((const OpExpr *) call)->args;
	site->is_constant = argno < list_length(args) &&
		IsA(list_nth(args, argno), Const);
}

/* Unpack a small filter, as all of them in tables are.  False: it is no value. */
static bool
Unpack(BloomProbe *probe, struct varlena *value)
{
	/* not worth a palloc */
	Bloom	   *filter = (Bloom *) probe->unpacked;

	SET_VARSIZE(filter, VARHDRSZ + VARSIZE_SHORT(value) - VARHDRSZ_SHORT);
	memcpy(VARDATA(filter), VARDATA_SHORT(value),
		   VARSIZE_SHORT(value) - VARHDRSZ_SHORT);
	probe->header = filter;
	return BloomIsValue(filter);
}

static BloomCache *
GetCache(BloomProbeSite *site, MemoryContext context)
{
	if (site->cache == NULL)
		site->cache = BloomShare(context, BLOOM_SHARED_CACHE,
								 sizeof(BloomCache));
	return site->cache;
}

/*
 * BloomProbeOpenOther
 *		BloomProbeOpen for a filter that is not at hand as a whole.
 */
void
BloomProbeOpenOther(BloomProbe *probe, Datum datum, uint64 nkeys,
					BloomProbeSite *site)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	CacheEntry *entry;

	if (VARATT_IS_SHORT(value) && !VARATT_IS_EXTERNAL(value) &&
		Unpack(probe, value))
		return;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		/* in line, but compressed, or no value */
		probe->header = BloomFetch(datum);
		return;
	}

	entry = GetEntry(GetCache(site, probe->context), datum, nkeys);
	probe->header = entry->whole != NULL ? entry->whole : entry->first;
	probe->is_whole = false;
	probe->cache = site->cache;
	probe->stored = datum;
	probe->nkeys = nkeys;
}

/* Probe the whole filter, if its entry has it. */
static void
UseWhole(BloomProbe *probe)
{
	CacheEntry *entry = probe->entry;

	probe->is_whole = entry->whole != NULL;
	probe->header = probe->is_whole ? entry->whole : entry->first;
	if (probe->is_whole && BloomIsKeys(entry->whole))
		probe->sieve = &entry->sieve;
}

/*
 * BloomProbeBeginStored
 *		BloomProbeBegin for a stored filter.
 */
void
BloomProbeBeginStored(BloomProbe *probe)
{
	uint64		nkeys = probe->nkeys;
	CacheEntry *entry = GetEntry(probe->cache, probe->stored, nkeys);

	if (entry->whole == NULL && nkeys > 1 &&
		IsWorthWhole(probe->cache, entry, probe->stored, BloomIsKeys(entry->first) ?
					 nkeys : nkeys * entry->first->hashes))
		FetchWhole(probe->cache, entry, probe->stored);

	probe->entry = entry;
	UseWhole(probe);
}

/*
 * BloomProbeOpenWhole
 *		Open a filter, and begin, if it is at hand as a whole.
 *
 * Nothing is read, and nothing is an error.
 */
bool
BloomProbeOpenWhole(BloomProbe *probe, Datum datum, BloomProbeSite *site,
					MemoryContext context)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);

	if (VARATT_IS_EXTERNAL_ONDISK(value))
	{
		CacheEntry *entry = FindEntry(GetCache(site, context), datum);

		if (entry == NULL || entry->whole == NULL)
			return false;
		probe->context = context;
		probe->sieve = NULL;
		probe->cache = site->cache;
		probe->entry = entry;
		UseWhole(probe);
		return true;
	}
	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_4B_C(value))
		return false;
	if (VARATT_IS_SHORT(value))
	{
		probe->is_whole = true;
		probe->sieve = NULL;
		probe->cache = NULL;
		return Unpack(probe, value);
	}
	if (!BloomIsValue((const Bloom *) value))
		return false;
	BloomProbeOpen(probe, datum, 1, site, context);
	return true;
}

/*
 * BloomProbeSieve
 *		Make the sieve of the filter's keys, once it pays.
 *
 * False: not yet, with n tests more.  To make it costs about as much as the
 * searches until then.
 */
bool
BloomProbeSieve(const BloomProbe *probe, uint64 ntests)
{
	BloomSieve *sieve = probe->sieve;
	uint64		nkeys = probe->header->count;
	uint64	   *blocks;

	sieve->tests += ntests;
	if (sieve->tests * SIEVE_PAYS < nkeys)
		return false;
	sieve->memory = BloomAllocate(probe->context, SieveBytes(nkeys));
	sieve->nblocks = BloomBlocksForCapacity(nkeys, BloomSieveParams.bits_per_key);
	blocks = (uint64 *) TYPEALIGN(BLOOM_BLOCK_BYTES, sieve->memory);
	memset(blocks, 0, sieve->nblocks * BLOOM_BLOCK_BYTES);
	for (uint64 i = 0; i < nkeys; i++)
	{
		BloomCheckInterrupts(i);
		(void) BloomBlockedAdd(blocks, sieve->nblocks, &BloomSieveParams,
							   BloomKeyData(probe->header)[i]);
	}
	sieve->blocks = blocks;
	return true;
}

/* ----------------------------------------------------------------
 *							PROBES BY PARTS
 * ----------------------------------------------------------------
 */

/* The whole filter of a probe, if n parts more would cost as much. */
static const Bloom *
WholeInstead(const BloomProbe *probe, uint64 nparts)
{
	CacheEntry *entry = probe->entry;

	if (entry->whole == NULL &&
		IsWorthWhole(probe->cache, entry, probe->stored, nparts))
		FetchWhole(probe->cache, entry, probe->stored);
	return entry->whole;
}

/* Are all bits of a key set, or all counters in use? */
static bool
TestStoredBits(const BloomProbe *probe, uint64 hash)
{
	const Bloom *first = probe->header;
	const Bloom *whole;
	uint8	   *data = BloomBitData(unconstify(Bloom *, first));
	int			width = BloomWidth(first);
	uint64		nfirst = (VARSIZE(first) - BloomPrefixSize(first)) * 8 / width;
	uint64		positions[BLOOM_MAX_HASHES];
	int			npositions = 0;
	uint64		a = hash;

	for (int i = 0; i < first->hashes; i++)
	{
		uint64		position = BloomNextPosition(&a, BloomBits(first));

		if (position >= nfirst)
			positions[npositions++] = position;
		else if (BloomGetPlace(data, position, width) == 0)
			return false;
	}
	if (npositions == 0)
		return true;
	whole = WholeInstead(probe, npositions);
	if (whole != NULL)
		return BloomTestHash(whole, hash);
	return BloomToastTestBits(probe->stored,
							  BloomPrefixSize(first) - VARHDRSZ, width,
							  positions, npositions);
}

/*
 * Is the hash in a list?  Hashes are evenly spread, so that its place is known
 * up to about the square root of their number.  If it is not among those that
 * we read there, the nearest of them tells how far it is, a second time more
 * precisely.  Then a binary search goes on in what remains, which is for
 * hostile lists.
 */
static bool
TestStoredKeys(const BloomProbe *probe, uint64 hash)
{
	uint64		count = probe->header->count;
	uint64		low = 0;
	uint64		high = count;
	uint64		middle = BloomMulHigh(hash, count);

	if (WholeInstead(probe, 2) != NULL)
		return BloomTestHash(probe->entry->whole, hash);
	for (int guesses = 2; low < high; guesses--)
	{
		uint64		keys[KEYS_PER_READ];
		uint64		first = middle - Min(middle - low, KEYS_PER_READ / 2);
		uint64		n = Min(high - first, KEYS_PER_READ);

		BloomFetchSlice(probe->stored, BloomPrefixSize(probe->header) +
						first * sizeof(uint64), n * sizeof(uint64), keys);
		if (hash < keys[0])
		{
			high = first;
			middle = high - Min(BloomMulHigh(keys[0] - hash, count), high - low);
		}
		else if (hash > keys[n - 1])
		{
			low = first + n;
			middle = low + Min(BloomMulHigh(hash - keys[n - 1], count), high - low);
		}
		else
			return BloomTestKeys(keys, n, hash);
		if (guesses <= 0)
			middle = low + (high - low) / 2;
	}
	return false;
}

/*
 * BloomTestStored
 *		Does a stored filter possibly hold a key of this hash?
 */
bool
BloomTestStored(const BloomProbe *probe, uint64 hash)
{
	return BloomIsKeys(probe->header) ? TestStoredKeys(probe, hash) :
		TestStoredBits(probe, hash);
}

/* ----------------------------------------------------------------
 *							MANY KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomProbeTestBatch
 *		The numbers of those of at most BLOOM_BATCH hashes of which the filter
 *		possibly holds a key, ascending.  Returns how many they are.
 *
 * Hash 0 is that of no key.
 */
int
BloomProbeTestBatch(BloomProbe *probe, const uint64 *hashes, int n,
					uint16 *found)
{
	const Bloom *filter;
	BloomSieve *sieve;
	int			nfound = 0;

	/* the batch before may have read all of it */
	if (!probe->is_whole)
		UseWhole(probe);
	filter = probe->header;
	sieve = probe->sieve;
	if (!probe->is_whole || BloomContentBytes(filter) < BLOOM_BATCH_PAYS)
	{
		for (int i = 0; i < n; i++)
		{
			if (hashes[i] != 0 && BloomProbeTest(probe, hashes[i]))
				found[nfound++] = (uint16) i;
		}
		return nfound;
	}
	if (BloomIsBits(filter))
		return BloomTestBatchPlaces(BloomBitData(unconstify(Bloom *, filter)),
									BloomWidth(filter), BloomBits(filter),
									filter->hashes, hashes, n, found);
	if (sieve != NULL && (sieve->blocks != NULL || BloomProbeSieve(probe, n)))
		return BloomTestBatchList(BloomKeyData(filter), filter->count,
								  sieve->blocks, sieve->nblocks,
								  &BloomSieveParams, hashes, n, found);
	return BloomTestBatchList(BloomKeyData(filter), filter->count, NULL, 0, NULL,
							  hashes, n, found);
}
