/*-------------------------------------------------------------------------
 *
 * filter/counting_ops.c
 *		Operations on counting filters alone: remove, difference, count, cast.
 *
 * A counting filter stands for its counters, in whichever form it holds them.
 * In keys form it holds more: how often each key was added.  So there a
 * removal, a difference and a count are exact, where in counters form other
 * keys may hide that a key is absent.  Adding or removing the same keys gives
 * the same counters in both forms, as long as none is 15.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>


#include "bits/bits.h"
#include "bits/sort.h"
#include "filter/setops.h"

/* ----------------------------------------------------------------
 *							COUNTED KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomCountHashes
 *		Sort hashes, drop repeats, and count how often there was each.
 */
BloomKeyList
BloomCountHashes(uint64 *hashes, uint64 nhashes)
{
	uint8	   *counts = palloc0(Max(BloomCountBytes(nhashes), 1));
	BloomKeyList keys = {hashes, counts, 0};
	uint64	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext,
												 nhashes * sizeof(uint64));
	uint64		n = 0;

	BloomSort(hashes, scratch, nhashes, false);
	pfree(scratch);
	for (uint64 i = 0; i < nhashes;)
	{
		uint64		hash = hashes[i];
		uint64		first = i;

		while (i < nhashes && hashes[i] == hash)
		{
			BloomCheckInterrupts(i);
			i++;
		}
		hashes[n] = hash;
		BloomPutCounter(counts, n, (unsigned int) Min(i - first, BLOOM_MAX_COUNT));
		n++;
	}
	keys.nkeys = n;
	return keys;
}

/*
 * BloomMergeCountedKeys
 *		Merge two lists, adding the counts of those that are in both, into
 *		arrays, unless those are NULL.  The result is the number of keys.
 *
 * The counts are written into room that is all zero.
 */
uint64
BloomMergeCountedKeys(BloomKeyList a, BloomKeyList b,
					  uint64 *hashes, uint8 *counts)
{
	uint64		n = 0;
	uint64		i = 0;
	uint64		j = 0;

	while (i < a.nkeys || j < b.nkeys)
	{
		bool		from_a = j == b.nkeys ||
		(i < a.nkeys && a.hashes[i] <= b.hashes[j]);
		bool		from_b = i == a.nkeys ||
		(j < b.nkeys && b.hashes[j] <= a.hashes[i]);

		BloomCheckInterrupts(n);
		if (hashes != NULL)
		{
			hashes[n] = from_a ? a.hashes[i] : b.hashes[j];
			BloomPutCounter(counts, n,
							BloomCountSum(from_a ? BloomGetCounter(a.counts, i) : 0,
										  from_b ? BloomGetCounter(b.counts, j) : 0));
		}
		i += from_a;
		j += from_b;
		n++;
	}
	return n;
}

/*
 * BloomCountersAddKeys
 *		Add keys to the counters of a filter in counters form, in place, and
 *		return how many of them were 0 before.
 */
uint64
BloomCountersAddKeys(Bloom *filter, BloomKeyList keys)
{
	uint8	   *counters = BloomCounterData(filter);
	uint64		bits = BloomBits(filter);
	int			hashes = filter->hashes;
	uint64		fresh = 0;

	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		BloomCheckInterrupts(i);
		if (i + BLOOM_PREFETCH_KEYS < keys.nkeys)
			BloomPrefetchCounters(counters, bits, hashes,
								  keys.hashes[i + BLOOM_PREFETCH_KEYS]);
		fresh += BloomCountersAdd(counters, bits, hashes, keys.hashes[i],
								  keys.counts == NULL ? 1 :
								  BloomGetCounter(keys.counts, i));
	}
	return fresh;
}

/* ----------------------------------------------------------------
 *							REMOVE, COUNT
 * ----------------------------------------------------------------
 */

static void
ReportDifference(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("cannot subtract more than the counting filter holds"),
			 errdetail("A key was added to the right filter more often than to the left one, or its count there is 15, which stands for any larger number."),
			 errhint("Subtract only a filter of keys that were added. To remove keys that may be absent, use counting_bloom_remove_all.")));
}

/*
 * Subtract a list of keys from a filter in keys form.  A key that is removed
 * more often than it was added disappears, or is an error.
 */
static Bloom *
SubtractKeys(const Bloom *filter, BloomKeyList removed, bool must_suffice)
{
	BloomKeyList keys = BloomKeysOf(filter);
	Bloom	   *result = BloomCopy(filter);
	uint64	   *hashes = BloomKeyData(result);
	uint8	   *counts = palloc0(Max(BloomCountBytes(keys.nkeys), 1));
	bool		suffices = true;
	uint64		n = 0;
	uint64		j = 0;

	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		unsigned int count = BloomGetCounter(keys.counts, i);

		BloomCheckInterrupts(i);
		for (; j < removed.nkeys && removed.hashes[j] < keys.hashes[i]; j++)
			suffices = false;
		if (j < removed.nkeys && removed.hashes[j] == keys.hashes[i])
		{
			unsigned int wanted = BloomGetCounter(removed.counts, j++);

			suffices &= count >= wanted;
			count = BloomCountDifference(count, Min(count, wanted));
		}
		if (count > 0)
		{
			hashes[n] = keys.hashes[i];
			BloomPutCounter(counts, n++, count);
		}
	}
	if (must_suffice && (!suffices || j < removed.nkeys))
		ReportDifference();
	result->count = n;
	memcpy(BloomCountData(result), counts, BloomCountBytes(n));
	BloomSetCount(result, n);
	pfree(counts);
	return result;
}

/*
 * BloomCountingRemove
 *		The filter without these hashes, which it puts into order.
 *
 * A key that is certainly absent changes nothing; its hash may be 0.
 */
const Bloom *
BloomCountingRemove(const Bloom *filter, uint64 *hashes, uint64 nhashes)
{
	uint64		present = 0;
	uint64		emptied = 0;
	Bloom	   *result;

	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		if (hashes[i] != 0 && BloomTestHash(filter, hashes[i]))
			hashes[present++] = hashes[i];
	}
	if (present == 0)
		return filter;

	if (BloomIsKeys(filter))
	{
		BloomKeyList removed = BloomCountHashes(hashes, present);

		result = SubtractKeys(filter, removed, false);
		pfree(unconstify(uint8 *, removed.counts));
		return result;
	}

	result = BloomCopy(filter);
	for (uint64 i = 0; i < present; i++)
	{
		BloomCheckInterrupts(i);

		/* false, if those before it have removed it: it is absent now */
		(void) BloomCountersRemove(BloomCounterData(result), BloomBits(result),
								   result->hashes, hashes[i], 1, &emptied);
	}
	BloomSetCount(result, filter->count - emptied);
	return result;
}

/*
 * BloomCountOfKey
 *		How often was the key added, at most?  15 stands for any more.
 */
unsigned int
BloomCountOfKey(const Bloom *filter, uint64 hash)
{
	const uint64 *key;

	if (BloomIsBits(filter))
		return BloomSmallestCounter(BloomCounterData(filter), BloomBits(filter),
									filter->hashes, hash);
	key = BloomFindKey(BloomKeyData(filter), filter->count, hash);
	return key == NULL ? 0 :
		BloomGetCounter(BloomCountData(filter), key - BloomKeyData(filter));
}

/* ----------------------------------------------------------------
 *							DIFFERENCE
 * ----------------------------------------------------------------
 */

/*
 * BloomCountingDifference
 *		The left filter without what the right one holds.
 *
 * An error unless there is enough of everything.
 */
const Bloom *
BloomCountingDifference(const Bloom *a, const Bloom *b)
{
	Bloom	   *result;
	const uint64 *from;
	uint64	   *to;
	uint64		missing = 0;
	uint64		emptied = 0;

	BloomCheckCombinable(a, b);
	if (b->count == 0)
		return a;
	if (a->count == 0)
		ReportDifference();

	if (BloomIsKeys(b))
	{
		BloomKeyList removed = BloomKeysOf(b);

		if (BloomIsKeys(a))
			return SubtractKeys(a, removed, true);
		result = BloomCopy(a);
		for (uint64 i = 0; i < removed.nkeys; i++)
		{
			BloomCheckInterrupts(i);
			if (!BloomCountersRemove(BloomCounterData(result), BloomBits(a),
									 a->hashes, removed.hashes[i],
									 BloomGetCounter(removed.counts, i),
									 &emptied))
				ReportDifference();
		}
		BloomSetCount(result, a->count - emptied);
		return result;
	}

	result = BloomToBits(a);
	from = BloomKeyData(b);
	to = BloomKeyData(result);
	for (uint64 i = 0; i < BloomCounterWords(b); i++)
	{
		BloomCheckInterrupts(i);
		to[i] = BloomCounterWordDifference(to[i], from[i], &missing);
	}
	if (missing != 0)
		ReportDifference();
	BloomSetCount(result, BloomCountContent(result));
	return result;
}

/* ----------------------------------------------------------------
 *							CAST
 * ----------------------------------------------------------------
 */

/*
 * BloomCountingToPlain
 *		The plain filter that holds the same keys.
 *
 * Both types turn from keys to positions at the same number of keys, so that
 * the form is kept.
 */
Bloom *
BloomCountingToPlain(const Bloom *filter)
{
	Bloom	   *plain;
	const uint64 *from = BloomKeyData(filter);
	uint8	   *to;

	if (BloomIsKeys(filter))
	{
		Size		nbytes = filter->count * sizeof(uint64);

		plain = BloomMakeLike(filter, BLOOM_KEYS, nbytes);
		memcpy(BloomKeyData(plain), BloomKeyData(filter), nbytes);
	}
	else
	{
		plain = BloomMakeLike(filter, BLOOM_BITS, BloomBitBytes(filter));
		to = BloomBitData(plain);
		for (uint64 i = 0; i < BloomCounterWords(filter); i++)
		{
			unsigned int bits = BloomCountersToBits(BloomLittleEndian64(from[i]));

			BloomCheckInterrupts(i);
			*to++ = (uint8) bits;
			*to++ = (uint8) (bits >> 8);
		}
	}
	BloomSetCount(plain, filter->count);
	return plain;
}

/* ----------------------------------------------------------------
 *							INSPECTION
 * ----------------------------------------------------------------
 */

/*
 * BloomCountersFull
 *		How many counters are 15; in keys form, how many keys are counted so.
 */
uint64
BloomCountersFull(const Bloom *filter)
{
	const uint64 *words = BloomKeyData(filter);
	uint64		nwords = BloomCounterWords(filter);
	uint64		full = 0;

	if (BloomIsKeys(filter))
	{
		words = (const uint64 *) BloomCountData(filter);
		nwords = BloomCountBytes(filter->count) / sizeof(uint64);
	}
	for (uint64 i = 0; i < nwords; i++)
	{
		BloomCheckInterrupts(i);

		/* a counter is 15 where none of its complement's bits is set */
		full += 16 - BloomCounterWordUsed(~words[i]);
	}
	return full;
}
