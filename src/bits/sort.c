/*-------------------------------------------------------------------------
 *
 * bits/sort.c
 *		Sorted lists of hashes: making, merging and searching them.
 *
 * Hashes are evenly distributed, so a radix sort from the left takes two passes
 * over a million of them, where quicksort takes twenty.
 *
 * An attacker can choose keys for their hashes.  So a pass divides by the
 * leading bits of the distance from the smallest hash, within the range of all:
 * shared leading bits cost no pass, and each pass narrows the range by at least
 * MIN_DIGIT_BITS.  So there are at most eleven passes, whatever the hashes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "port/pg_bitutils.h"

#include "bits/bits.h"
#include "bits/sort.h"

/* Up to this number, hashes are sorted by insertion */
#define FEW					24

/* Bits that a pass looks at, fewer where there are fewer hashes */
#define DIGIT_BITS			11
#define MIN_DIGIT_BITS		6

/* Guesses of BloomFindKey, before it does what is safe */
#define INTERPOLATION_STEPS	8

/* Sort a few hashes into another array, or the same. */
static inline void
SortByInsertion(const uint64 *hashes, uint64 nhashes, uint64 *out)
{
	for (uint64 i = 0; i < nhashes; i++)
	{
		uint64		hash = hashes[i];
		uint64		j = i;

		for (; j > 0 && out[j - 1] > hash; j--)
			out[j] = out[j - 1];
		out[j] = hash;
	}
}

/*
 * BloomSort
 *		Sort hashes, with scratch memory of the same size.
 *
 * The result is in scratch if into_scratch, else in hashes; the content of the
 * other array is undefined.
 */
void
BloomSort(uint64 *hashes, uint64 *scratch, uint64 nhashes, bool into_scratch)
{
	uint32		ends[1 << DIGIT_BITS];
	uint64		least = PG_UINT64_MAX;
	uint64		most = 0;
	uint64		start = 0;
	uint32		total = 0;
	uint32		largest = 0;
	int			bits;
	int			shift;

	if (nhashes <= FEW)
	{
		SortByInsertion(hashes, nhashes, into_scratch ? scratch : hashes);
		return;
	}
	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		least = Min(least, hashes[i]);
		most = Max(most, hashes[i]);
	}
	if (least == most)
	{
		if (into_scratch)
			memcpy(scratch, hashes, nhashes * sizeof(uint64));
		return;
	}

	/* about one hash for each value of the digit, if there are not too many */
	bits = pg_leftmost_one_pos64(nhashes) + 1;
	bits = Max(MIN_DIGIT_BITS, Min(bits, DIGIT_BITS));
	shift = Max(pg_leftmost_one_pos64(most - least) + 1 - bits, 0);

	memset(ends, 0, sizeof(uint32) << bits);
	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		ends[(hashes[i] - least) >> shift]++;
	}
	for (int digit = 0; digit < 1 << bits; digit++)
	{
		uint32		n = ends[digit];

		ends[digit] = total;
		total += n;
		largest = Max(largest, n);
	}
	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		scratch[ends[(hashes[i] - least) >> shift]++] = hashes[i];
	}

	if (largest <= FEW)
	{
		/* all are near their places */
		SortByInsertion(scratch, nhashes, into_scratch ? scratch : hashes);
		return;
	}
	for (int digit = 0; digit < 1 << bits; digit++)
	{
		BloomSort(scratch + start, hashes + start, ends[digit] - start,
				  !into_scratch);
		start = ends[digit];
	}
}

/*
 * BloomSortDistinct
 *		Sort hashes, drop repeats, and return the number that remains.
 *
 * Scratch memory and result are as for BloomSort.
 */
uint64
BloomSortDistinct(uint64 *hashes, uint64 *scratch, uint64 nhashes,
				  bool into_scratch)
{
	uint64	   *sorted = into_scratch ? scratch : hashes;
	uint64		distinct = 0;

	BloomSort(hashes, scratch, nhashes, into_scratch);
	for (uint64 i = 0; i < nhashes; i++)
	{
		BloomCheckInterrupts(i);
		sorted[distinct] = sorted[i];
		distinct += i + 1 == nhashes || sorted[i] != sorted[i + 1];
	}
	return distinct;
}

/*
 * BloomMergeHashes
 *		Merge two sorted lists into out, if it is not NULL, and return the
 *		number of distinct hashes.
 */
uint64
BloomMergeHashes(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
				 uint64 *out)
{
	uint64		n = 0;
	uint64		i = 0;
	uint64		j = 0;

	while (i < na && j < nb)
	{
		uint64		left = a[i];
		uint64		right = b[j];

		BloomCheckInterrupts(n);
		if (out != NULL)
			out[n] = Min(left, right);
		n++;
		i += left <= right;
		j += right <= left;
	}
	if (out != NULL)
	{
		memcpy(out + n, a + i, (na - i) * sizeof(uint64));
		memcpy(out + n + (na - i), b + j, (nb - j) * sizeof(uint64));
	}
	return n + (na - i) + (nb - j);
}

/*
 * BloomMergeInPlace
 *		Merge another sorted list into one that has room for it, and return the
 *		number of distinct hashes.
 *
 * From the right, so that nothing is overwritten that is still to be read.
 */
uint64
BloomMergeInPlace(uint64 *hashes, uint64 nhashes,
				  const uint64 *more, uint64 nmore)
{
	uint64		end = nhashes + nmore;
	uint64		out = end;
	uint64		i = nhashes;
	uint64		j = nmore;

	while (i > 0 && j > 0)
	{
		uint64		left = hashes[i - 1];
		uint64		right = more[j - 1];

		BloomCheckInterrupts(out);
		hashes[--out] = Max(left, right);
		i -= left >= right;
		j -= right >= left;
	}
	out -= j;
	memcpy(hashes + out, more, j * sizeof(uint64));
	if (i < out)
		memmove(hashes + i, hashes + out, (end - out) * sizeof(uint64));
	return i + (end - out);
}

/*
 * BloomFindKey
 *		The place of the hash in a sorted list, or NULL.
 *
 * An interpolation search, with fewer cache misses than a binary one.  After a
 * few steps, a binary search takes over, for hashes that are not evenly
 * distributed.
 */
const uint64 *
BloomFindKey(const uint64 *keys, uint64 nkeys, uint64 hash)
{
	uint64		low = 0;
	uint64		high = nkeys;
	uint64		place = BloomMulHigh(hash, nkeys);

	for (int steps = 0; low < high; steps++)
	{
		uint64		key = keys[place];

		if (key == hash)
			return keys + place;
		if (key < hash)
		{
			low = place + 1;
			place = low + BloomMulHigh(hash - key, nkeys);
		}
		else
		{
			uint64		distance = BloomMulHigh(key - hash, nkeys) + 1;

			high = place;
			place = high - Min(distance, high - low);
		}
		if (steps >= INTERPOLATION_STEPS)
			place = low + (high - low) / 2;
		else
			place = Min(place, high - 1);
	}
	return NULL;
}
