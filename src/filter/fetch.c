/*-------------------------------------------------------------------------
 *
 * filter/fetch.c
 *		From a Datum, which may be stored out of line, to the filter.
 *
 * Most filters are large, and stored in a TOAST table.  To read all of a
 * filter for one probe costs in proportion to its size, and to do so for each
 * row of a join is ruinous.  Two things help:
 *
 * - A probe needs the header and as many bytes as a key has hashes.  Storage
 *	 "external" keeps a value addressable, so we can read just those.
 *
 * - A statement remembers the filters that it has probed, by their TOAST
 *	 pointers.  A pointer names one value for ever: a row that is updated gets
 *	 another.  Once a filter has been probed so often that reading all of it
 *	 would have cost no more, we do that, and keep it.  So the cost is at most
 *	 twice that of the better way, whichever it turns out to be.
 *
 * What is kept is bounded in number, and in bytes by hash_mem, as a hash table
 * would be, but for one filter, which may have any size.  It is bounded for
 * the statement: all call sites share it, those of all partitions among them.
 * What was not used for the longest time goes first.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"

#include "filter/fetch.h"
#include "filter/statement.h"
#include "filter/toast.h"

/* Filters that a statement remembers */
#define CACHE_ENTRIES		128

/* Filters up to this size are read as a whole at once */
#define SMALL_FILTER_BYTES	(4 * TOAST_MAX_CHUNK_SIZE)

/*
 * Reading a chunk of a TOAST value by itself, with its own index scan, takes
 * about as long as so many chunks in a row.  This is a guess, and need not be
 * a good one: only the moment when we change over depends on it.
 */
#define SLICE_COST			8

/* In a list of hashes, so many around the expected place are read at once */
#define KEYS_PER_SLICE		256

/*
 * As many tests as a list has hashes, divided by this, are worth a directory:
 * a search of a list beyond the caches takes some 300 ns, and to make the
 * directory some 10 ns a hash.
 */
#define DIRECTORY_PAYS			32

typedef struct CacheEntry
{
	Oid			toastrelid;		/* a TOAST value's name */
	Oid			valueid;
	uint64		last_used;
	uint64		slices;			/* read so far, or about to be */
	Bloom	   *whole;			/* or NULL */
	BloomDirectory directory;		/* of that, in keys form */
	Bloom	   *header;
} CacheEntry;

struct BloomCache
{
	BloomShared shared;
	uint64		clock;
	Size		bytes;			/* of whole filters and their directories */
	int			nentries;
	int			latest;			/* the entry that was used last */
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
 * BloomFetch
 *		The whole filter, which is a value.
 *
 * An aggregate that somebody has made of our transition functions without a
 * final function returns its state.
 */
const Bloom *
BloomFetch(Datum datum)
{
	const Bloom *filter = BloomFetchState(datum);

	if (unlikely(!BloomIsValue(filter)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot use the state of an aggregate as a %s",
						BloomKindName(BloomKindOf(filter))),
				 errdetail("It is the result of an aggregate that has no final function."),
				 errhint("Convert it by its text, filter::text::%s, or combine such states with %s.",
						 BloomKindOf(filter) == BLOOM_COUNTING ? "counting_bloom" : "bloom",
						 BloomKindOf(filter) == BLOOM_COUNTING ? "counting_bloom_sum_agg" : "bloom_union_agg")));
	return filter;
}

/* ----------------------------------------------------------------
 *							SLICES
 * ----------------------------------------------------------------
 */

/*
 * BloomIsSliceable
 *		Is the Datum a value in a TOAST table of which parts can be read?
 */
bool
BloomIsSliceable(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	/* VARATT_EXTERNAL_IS_COMPRESSED, which compares numbers of unlike sign */
	return VARATT_EXTERNAL_GET_EXTSIZE(pointer) >=
		(uint32) (pointer.va_rawsize - VARHDRSZ);
}

/*
 * BloomFetchSlice
 *		Read some bytes of such a filter, whose offset counts as in Bloom.
 */
void
BloomFetchSlice(Datum stored, Size offset, Size len, void *out)
{
	struct varlena *slice;

	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(stored),
							   (int32) (offset - VARHDRSZ), (int32) len);
	if (VARSIZE_ANY_EXHDR(slice) != len)
		elog(ERROR, "unexpected end of a stored filter");
	memcpy(out, VARDATA_ANY(slice), len);
	pfree(slice);
}

/*
 * Read a header, with the name of the key type, into memory of this context.
 */
static Bloom *
FetchHeader(MemoryContext context, Datum stored)
{
	Bloom		header;
	Bloom	   *result;

	BloomFetchSlice(stored, VARHDRSZ, BLOOM_HEADER_SIZE - VARHDRSZ,
					(char *) &header + VARHDRSZ);
	result = MemoryContextAlloc(context, BloomPrefixSize(&header));
	memcpy(result, &header, BLOOM_HEADER_SIZE);
	SET_VARSIZE(result, BloomPrefixSize(&header));
	if (header.type_words > 0)
		BloomFetchSlice(stored, BLOOM_HEADER_SIZE, BloomTypeBytes(&header),
						result->data);
	return result;
}

/*
 * BloomFetchHeader
 *		A filter of which only the header may be looked at.
 */
const Bloom *
BloomFetchHeader(Datum datum)
{
	const Bloom *header;

	if (!BloomIsSliceable(datum))
		return BloomFetch(datum);
	header = FetchHeader(CurrentMemoryContext, datum);
	return BloomIsValue(header) ? header : BloomFetch(datum);
}

/*
 * BloomFetchSize
 *		The size of the whole filter.
 */
Size
BloomFetchSize(Datum datum)
{
	return toast_raw_datum_size(datum);
}

/* ----------------------------------------------------------------
 *							THE CACHE
 * ----------------------------------------------------------------
 */

/* What a whole filter takes, with the directory that it may get. */
static Size
WholeBytes(const Bloom *whole)
{
	return VARSIZE(whole) +
		(BloomIsKeys(whole) ? BloomDirectorySize(whole->count) : 0);
}

/* Forget an entry's whole filter. */
static void
DropWhole(BloomCache *cache, CacheEntry *entry)
{
	if (entry->whole == NULL)
		return;
	cache->bytes -= WholeBytes(entry->whole);
	if (entry->directory.lines != NULL)
		pfree(entry->directory.memory);
	memset(&entry->directory, 0, sizeof(BloomDirectory));
	pfree(entry->whole);
	entry->whole = NULL;
	entry->slices = 0;
}

/* The entry that was not used for the longest time. */
static CacheEntry *
OldestEntry(BloomCache *cache, bool with_whole)
{
	CacheEntry *oldest = NULL;

	for (int i = 0; i < cache->nentries; i++)
	{
		CacheEntry *entry = &cache->entries[i];

		if ((!with_whole || entry->whole != NULL) &&
			(oldest == NULL || entry->last_used < oldest->last_used))
			oldest = entry;
	}
	return oldest;
}

/*
 * The entry of a TOAST value, which may be new.
 */
static CacheEntry *
FindEntry(BloomCache *cache, Datum stored)
{
	struct varatt_external pointer;
	CacheEntry *entry = &cache->entries[cache->latest];

	VARATT_EXTERNAL_GET_POINTER(pointer,
								(struct varlena *) DatumGetPointer(stored));

#define IS_ENTRY_OF_POINTER(entry) \
	((entry)->valueid == pointer.va_valueid && \
	 (entry)->toastrelid == pointer.va_toastrelid)

	if (likely(cache->nentries > 0 && IS_ENTRY_OF_POINTER(entry)))
		return entry;

	for (int i = 0; i < cache->nentries; i++)
	{
		entry = &cache->entries[i];
		if (IS_ENTRY_OF_POINTER(entry))
		{
			cache->latest = i;
			return entry;
		}
	}

	if (cache->nentries < CACHE_ENTRIES)
		entry = &cache->entries[cache->nentries];
	else
	{
		entry = OldestEntry(cache, false);
		DropWhole(cache, entry);
		if (entry->header != NULL)
			pfree(entry->header);
		entry->header = NULL;
	}

	/* the entry is not to be found, until it is complete */
	entry->valueid = InvalidOid;
	entry->header = FetchHeader(cache->shared.query, stored);
	entry->toastrelid = pointer.va_toastrelid;
	entry->valueid = pointer.va_valueid;
	entry->slices = 0;
	entry->whole = NULL;
	cache->latest = entry - cache->entries;
	if (cache->latest == cache->nentries)
		cache->nentries++;
	return entry;
}

/*
 * Is it no more expensive to read all of the filter at once?
 */
static bool
IsWorthWhole(const CacheEntry *entry, Size size)
{
	return size <= SMALL_FILTER_BYTES ||
		!BloomIsValue(entry->header) ||
		entry->slices * SLICE_COST >= size / TOAST_MAX_CHUNK_SIZE;
}

/*
 * Read all of a filter, and keep it.
 */
static void
FetchWhole(BloomCache *cache, CacheEntry *entry, Datum stored, Size size)
{
	const Bloom *filter;

	while (cache->bytes > 0 && cache->bytes + size > BloomHashMemoryLimit())
		DropWhole(cache, OldestEntry(cache, true));

	filter = BloomFetch(stored);
	entry->whole = BloomAllocate(cache->shared.query, VARSIZE(filter));
	memcpy(entry->whole, filter, VARSIZE(filter));
	pfree(unconstify(Bloom *, filter));
	cache->bytes += WholeBytes(entry->whole);
	if (BloomIsKeys(entry->whole))
	{
		entry->directory.keys = BloomKeyData(entry->whole);
		entry->directory.nkeys = entry->whole->count;
	}
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

/*
 * BloomProbeStored
 *		Make a filter ready to be probed, that is not at hand as a whole.
 */
void
BloomProbeStored(BloomProbe *probe, Datum datum, uint64 nkeys,
				 BloomProbeSite *site, MemoryContext context)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	BloomCache *cache = site->cache;
	CacheEntry *entry;

	probe->directory = NULL;
	if (VARATT_IS_SHORT(value) && !VARATT_IS_EXTERNAL(value))
	{
		/* packed, as all small filters in tables are: not worth a palloc */
		Bloom	   *filter = (Bloom *) probe->unpacked;

		SET_VARSIZE(filter, VARHDRSZ + VARSIZE_SHORT(value) - VARHDRSZ_SHORT);
		memcpy(VARDATA(filter), VARDATA_SHORT(value),
			   VARSIZE_SHORT(value) - VARHDRSZ_SHORT);
		if (BloomIsValue(filter))
		{
			probe->header = filter;
			probe->is_whole = true;
			return;
		}
	}

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		/* in line, but compressed, or no value */
		probe->header = BloomFetch(datum);
		probe->is_whole = true;
		return;
	}

	if (cache == NULL)
		cache = site->cache = BloomShare(context, BLOOM_SHARED_CACHE,
										 sizeof(BloomCache));
	entry = FindEntry(cache, datum);
	entry->last_used = ++cache->clock;

	if (entry->whole == NULL)
	{
		Size		size = BloomFetchSize(datum);

		entry->slices += BloomIsKeys(entry->header) ? nkeys :
			nkeys * entry->header->hashes;
		if (!BloomIsSliceable(datum) || IsWorthWhole(entry, size))
			FetchWhole(cache, entry, datum, size);
	}

	probe->is_whole = entry->whole != NULL;
	probe->header = probe->is_whole ? entry->whole : entry->header;
	if (probe->is_whole && BloomIsKeys(entry->whole))
		probe->directory = &entry->directory;
	probe->stored = datum;
}

/*
 * BloomProbeDirectory
 *		Make the directory of the filter's keys, once it pays.
 *
 * False: not yet.  To make it takes about as long as the searches until then.
 */
bool
BloomProbeDirectory(const BloomProbe *probe)
{
	BloomDirectory *directory = probe->directory;

	if (++directory->tests * DIRECTORY_PAYS < directory->nkeys)
		return false;
	BloomDirectoryBuild(directory, BloomAllocate(probe->context,
										 BloomDirectorySize(directory->nkeys)));
	return true;
}

/* ----------------------------------------------------------------
 *							PROBES BY SLICES
 * ----------------------------------------------------------------
 */

/* Are all bits of a key set, or all counters in use? */
static bool
TestStoredBits(const BloomProbe *probe, uint64 hash)
{
	const Bloom *header = probe->header;
	uint64		positions[BLOOM_MAX_HASHES];
	uint64		a = hash;
	int			width = BloomKindOf(header) == BLOOM_COUNTING ? 4 : 1;

	for (int i = 0; i < header->hashes; i++)
		positions[i] = BloomNextPosition(&a, BloomBits(header));
	return BloomToastTestBits(probe->stored,
							  BloomPrefixSize(header) - VARHDRSZ, width,
							  positions, header->hashes);
}

/*
 * Is the hash in a list?  Hashes are evenly spread, so that its place is known
 * up to about the square root of their number.  If it is not among those that
 * we read there, the nearest of them tells how far it is, a second time more
 * precisely.  Then a binary search goes on in what remains.
 */
static bool
TestStoredKeys(const BloomProbe *probe, uint64 hash)
{
	uint64		low = 0;
	uint64		high = probe->header->count;
	uint64		count = high;
	uint64		middle = BloomMulHigh(hash, high);

	for (int guesses = 2; low < high; guesses--)
	{
		uint64		keys[KEYS_PER_SLICE];
		uint64		first = middle - Min(middle - low, KEYS_PER_SLICE / 2);
		uint64		n = Min(high - first, KEYS_PER_SLICE);

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
	if (BloomIsKeys(probe->header))
		return TestStoredKeys(probe, hash);
	return TestStoredBits(probe, hash);
}
