/*-------------------------------------------------------------------------
 *
 * filter/counting_ops.c
 *		Operations on counting filters: add, remove, sum, difference, compare.
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
#include "filter/counting_ops.h"

/* ----------------------------------------------------------------
 *							COUNTED KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomCountHashes
 *		Sort hashes, drop repeats, and count how often there was each.
 */
BloomCountedKeys
BloomCountHashes(uint64 *hashes, uint64 nhashes)
{
	uint8	   *counts = palloc0(Max(BloomCountBytes(nhashes), 1));
	BloomCountedKeys keys = {hashes, counts, 0};
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
BloomMergeCountedKeys(BloomCountedKeys a, BloomCountedKeys b,
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
 *		Add keys to an array of counters, and say how many were 0 before.
 */
uint64
BloomCountersAddKeys(uint8 *counters, const Bloom *shape, BloomCountedKeys keys)
{
	uint64		bits = BloomBits(shape);
	int			hashes = shape->hashes;
	uint64		fresh = 0;

	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		BloomCheckInterrupts(i);
		if (i + BLOOM_PREFETCH_KEYS < keys.nkeys)
			BloomPrefetchCounters(counters, bits, hashes,
								  keys.hashes[i + BLOOM_PREFETCH_KEYS]);
		fresh += BloomCountersAdd(counters, bits, hashes, keys.hashes[i],
									BloomGetCounter(keys.counts, i));
	}
	return fresh;
}

/*
 * BloomMakeOfCountedKeys
 *		The filter that holds the keys of two lists, of the shape of another.
 */
Bloom *
BloomMakeOfCountedKeys(const Bloom *like, const BloomKeyType *key_type,
				 BloomCountedKeys a, BloomCountedKeys b)
{
	BloomShape	shape = BloomShapeOf(like);
	uint64		n = BloomMergeCountedKeys(a, b, NULL, NULL);
	uint64		fresh;
	Bloom	   *result;

	if (BloomHoldsAsKeys(like->words, n))
	{
		result = BloomMake(&shape, key_type, BLOOM_COUNTED_KEYS,
						   n * sizeof(uint64) + BloomCountBytes(n));
		result->count = n;
		BloomMergeCountedKeys(a, b, BloomKeyData(result), BloomCountData(result));
		BloomSetCount(result, n);
		return result;
	}

	result = BloomMake(&shape, key_type, BLOOM_COUNTERS,
					   BloomCounterBytes(like));
	fresh = BloomCountersAddKeys(BloomCounterData(result), result, a);
	fresh += BloomCountersAddKeys(BloomCounterData(result), result, b);
	BloomSetCount(result, fresh);
	return result;
}

/*
 * A new filter in counters form, also where the content asks for keys.  Such
 * a filter is for a moment's work.
 */
static Bloom *
ToCounters(const Bloom *filter)
{
	Bloom	   *counters;

	if (BloomIsBits(filter))
		return BloomCopy(filter);
	counters = BloomMakeLike(filter, BLOOM_COUNTERS, BloomCounterBytes(filter));
	counters->count = BloomCountersAddKeys(BloomCounterData(counters), counters,
									  BloomCountedKeysOf(filter));
	return counters;
}

/* ----------------------------------------------------------------
 *							ADD, REMOVE, COUNT
 * ----------------------------------------------------------------
 */

/*
 * BloomCountingAdd
 *		The filter with these hashes, which it puts into order.
 */
const Bloom *
BloomCountingAdd(const Bloom *filter, uint64 *hashes, uint64 nhashes,
				 const BloomKeyType *key_type)
{
	BloomCountedKeys added;
	Bloom	   *result;

	BloomCheckHasShape(filter);
	added = BloomCountHashes(hashes, nhashes);
	if (BloomIsKeys(filter))
		result = BloomMakeOfCountedKeys(filter, key_type, BloomCountedKeysOf(filter),
								  added);
	else
	{
		result = BloomCopy(filter);
		BloomSetCount(result, filter->count +
					  BloomCountersAddKeys(BloomCounterData(result), result, added));
	}
	pfree(unconstify(uint8 *, added.counts));
	return result;
}

/*
 * What remains of one list without another, as a filter.  A key that goes more
 * often than it is there is absent then.
 */
static Bloom *
SubtractKeys(const Bloom *filter, BloomCountedKeys removed)
{
	BloomCountedKeys keys = BloomCountedKeysOf(filter);
	Bloom	   *result = BloomCopy(filter);
	uint64	   *hashes = BloomKeyData(result);
	uint8	   *counts;
	uint64		n = 0;
	uint64		j = 0;

	counts = palloc0(Max(BloomCountBytes(keys.nkeys), 1));
	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		unsigned int count = BloomGetCounter(keys.counts, i);

		BloomCheckInterrupts(i);
		while (j < removed.nkeys && removed.hashes[j] < keys.hashes[i])
			j++;
		if (j < removed.nkeys && removed.hashes[j] == keys.hashes[i])
			count = BloomCountDifference(count,
										Min(count, BloomGetCounter(removed.counts, j)));
		if (count > 0)
		{
			hashes[n] = keys.hashes[i];
			BloomPutCounter(counts, n++, count);
		}
	}
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
		BloomCountedKeys removed = BloomCountHashes(hashes, present);

		result = SubtractKeys(filter, removed);
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
 *							SUM AND DIFFERENCE
 * ----------------------------------------------------------------
 */

/*
 * BloomCountersAddAll
 *		Add the other filter's counters, in place; both in counters form.
 *
 * The counters in use are not counted.
 */
void
BloomCountersAddAll(Bloom *counters, const Bloom *other)
{
	uint64	   *to = BloomKeyData(counters);
	const uint64 *from = BloomKeyData(other);
	uint64		nwords = BloomCounterBytes(other) / sizeof(uint64);

	for (uint64 i = 0; i < nwords; i++)
	{
		BloomCheckInterrupts(i);
		to[i] = BloomCounterWordSum(to[i], from[i]);
	}
}

static uint64
CountersInUse(const Bloom *filter)
{
	return BloomCountersUsed(BloomKeyData(filter),
							  BloomCounterBytes(filter) / sizeof(uint64));
}

/*
 * BloomCountingSum
 *		The filter of the keys of both, each as often as in both together.
 */
const Bloom *
BloomCountingSum(const Bloom *a, const Bloom *b)
{
	Bloom	   *result;

	BloomCheckCombinable(a, b);
	if (!BloomHasShape(a))
		return b;
	if (!BloomHasShape(b))
		return a;

	if (BloomIsKeys(a) && BloomIsBits(b))
	{
		const Bloom *swap = a;

		a = b;
		b = swap;
	}
	if (BloomIsKeys(a))
	{
		BloomKeyType key_type = BloomKeyTypeOf(a->count > 0 ? a : b);

		result = BloomMakeOfCountedKeys(a, &key_type, BloomCountedKeysOf(a),
								  BloomCountedKeysOf(b));
	}
	else
	{
		result = BloomCopy(a);
		if (BloomIsKeys(b))
			BloomSetCount(result, a->count +
						  BloomCountersAddKeys(BloomCounterData(result), result,
										  BloomCountedKeysOf(b)));
		else
		{
			BloomCountersAddAll(result, b);
			BloomSetCount(result, CountersInUse(result));
		}
	}
	BloomAdoptCapacity(result, b);
	return result;
}

static void
ReportDifference(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("cannot subtract more than the counting filter holds"),
			 errdetail("A key was added to the right filter more often than to the left one, or its count there is 15, which stands for any larger number."),
			 errhint("Subtract only a filter of keys that were added. Beside keys that may be absent, use counting_bloom_remove_all.")));
}

/* Is there as much of every key as is to be removed? */
static bool
KeysSuffice(BloomCountedKeys keys, BloomCountedKeys removed)
{
	uint64		i = 0;

	for (uint64 j = 0; j < removed.nkeys; j++)
	{
		BloomCheckInterrupts(j);
		while (i < keys.nkeys && keys.hashes[i] < removed.hashes[j])
			i++;
		if (i == keys.nkeys || keys.hashes[i] != removed.hashes[j] ||
			!BloomCountSuffices(BloomGetCounter(keys.counts, i),
								BloomGetCounter(removed.counts, j)))
			return false;
	}
	return true;
}

/*
 * BloomCountingDifference
 *		The left filter without what the right one holds.
 *
 * An error, unless there is enough of everything.
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
		BloomCountedKeys removed = BloomCountedKeysOf(b);

		if (BloomIsKeys(a))
		{
			if (!KeysSuffice(BloomCountedKeysOf(a), removed))
				ReportDifference();
			return SubtractKeys(a, removed);
		}
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

	result = ToCounters(a);
	from = BloomKeyData(b);
	to = BloomKeyData(result);
	for (uint64 i = 0; i < BloomCounterBytes(b) / sizeof(uint64); i++)
	{
		BloomCheckInterrupts(i);
		to[i] = BloomCounterWordDifference(to[i], from[i], &missing);
	}
	if (missing != 0)
		ReportDifference();
	BloomSetCount(result, CountersInUse(result));
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
		for (uint64 i = 0; i < BloomCounterBytes(filter) / sizeof(uint64); i++)
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
	uint64		nwords = BloomCounterBytes(filter) / sizeof(uint64);
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
