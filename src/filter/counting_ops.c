/*-------------------------------------------------------------------------
 *
 * filter/counting_ops.c
 *		Operations on counting filters alone: remove, count, cast.
 *
 * A counting filter stands for its counters, in whichever form it holds them.
 * In keys form it holds more: how often each key was added.  So there a
 * removal and a count are exact, where in counters form other keys may hide
 * that a key is absent.  Adding or removing the same keys results
 * in the same counters in both forms, as long as none is 15.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/bits.h"
#include "filter/setops.h"

/* ----------------------------------------------------------------
 *							REMOVE, COUNT
 * ----------------------------------------------------------------
 */

/*
 * The filter without a list of keys, each as often as it is counted, or as it
 * is there, if that is less often.
 */
static Bloom *
Subtract(const Bloom *filter, BloomKeyList removed)
{
	Bloom	   *result = BloomCopy(filter);
	uint64	   *hashes = BloomKeyData(result);
	uint8	   *counts = BloomCountData(result);
	uint64		n = 0;

	for (uint64 i = 0; i < removed.nkeys; i++)
	{
		uint64		hash = removed.hashes[i];
		int			times = BloomGetCounter(removed.counts, i);
		int			count = BloomCountOfKey(result, hash);

		BloomCheckInterrupts(i);
		times = Min(times, count);
		if (BloomIsBits(result))
			BloomCountersChange(BloomBitData(result), BloomBits(result),
								result->hashes, hash, -times, &result->count);
		else if (times > 0)
			BloomPutCounter(counts, BloomFindKey(hashes, filter->count, hash) - hashes,
							BloomCountAfter(count, -times));
	}

	if (BloomIsKeys(result))
	{
		/* drop those that are not there any more */
		for (uint64 i = 0; i < filter->count; i++)
		{
			unsigned int count = BloomGetCounter(counts, i);

			BloomCheckInterrupts(i);
			BloomPutCounter(counts, i, 0);
			if (count == 0)
				continue;
			hashes[n] = hashes[i];
			BloomPutCounter(counts, n++, count);
		}
		memmove(hashes + n, counts, BloomCountBytes(n));
		result->count = n;
	}
	BloomSetCount(result, result->count);
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

	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		if (hashes[i] != 0 && BloomTestHash(filter, hashes[i]))
			hashes[present++] = hashes[i];
	}
	if (present == 0)
		return filter;
	return Subtract(filter, BloomCountHashes(hashes, present));
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
		return BloomSmallestCounter(BloomBitData(filter), BloomBits(filter),
									filter->hashes, hash);
	key = BloomFindKey(BloomKeyData(filter), filter->count, hash);
	return key == NULL ? 0 :
		BloomGetCounter(BloomCountData(filter), key - BloomKeyData(filter));
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
