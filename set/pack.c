/*-------------------------------------------------------------------------
 *
 * set/pack.c
 *		Packed lists: sorted hashes of a range, Elias-Fano coded, with ages.
 *
 * Lists are read where they are stored, and can have been made up: no bytes
 * lead beyond the end of what there is.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "port/pg_bitutils.h"

#include "bits/bits.h"
#include "set/pack.h"

#define VERSION			1
#define VERSION_MASK	0x7f

/* Bytes of this many bits */
#define BytesOf(bits)	(((Size) (bits) + 7) / 8)

static inline uint64
LowMask(int low)
{
	return (UINT64CONST(1) << low) - 1;
}

/*
 * The number of low bits that packs n numbers up to this one best: such that
 * there are n to 2n values of the high parts.
 *
 * It follows the highest number, not the end of the range: hashes that are near
 * each other would take a bit for each high part between, and more.
 */
static int
LowBits(uint64 nhashes, uint64 largest)
{
	uint64		ratio = nhashes == 0 ? 0 : largest / nhashes;

	return ratio < 2 ? 0 : pg_leftmost_one_pos64(ratio);
}

/*
 * StoredSetPackSize
 *		The size of a list of n hashes, up to this one.
 *
 * With the last hash of the range in its place, that is more than most lists
 * take, but not more than the highest hash decides.
 */
Size
StoredSetPackSize(const StoredSetPacking *packing, uint64 nhashes, uint64 start,
				  uint64 highest)
{
	uint64		largest = StoredSetKept(packing, highest) -
	StoredSetKept(packing, start);
	int			low = LowBits(nhashes, largest);

	if (nhashes == 0)
		return STORED_SET_PACK_HEADER;
	return STORED_SET_PACK_HEADER + BytesOf(nhashes + (largest >> low)) +
		BytesOf(nhashes * low) +
		(packing->has_ages ? BytesOf(nhashes * STORED_SET_AGE_BITS) : 0);
}

/* Write one number of so many bits behind others, in zeroed bytes. */
static void
PutBits(uint8 *out, Size bit, uint64 value, int nbits)
{
	out += bit / 8;
	for (int shift = (int) (bit % 8); nbits > 0; shift = 0)
	{
		int			n = Min(nbits, 8 - shift);

		*out++ |= (uint8) ((value & LowMask(n)) << shift);
		value >>= n;
		nbits -= n;
	}
}

/* Read it. */
static inline uint64
GetBits(const uint8 *in, Size bit, int nbits)
{
	const uint8 *from = in + bit / 8;
	int			shift = (int) (bit % 8);
	int			nbytes = (shift + nbits + 7) / 8;
	uint64		value = 0;

	memcpy(&value, from, Min(nbytes, 8));
	value = BloomLittleEndian64(value) >> shift;
	if (nbytes > 8)
		value |= (uint64) from[8] << (64 - shift);
	return value & LowMask(nbits);
}

/*
 * StoredSetWritePack
 *		Write a list with the start, last hash, slice and mark of this one, and
 *		these items, ascending, distinct in what is kept.  The result is its
 *		size.
 *
 * "out" has room for StoredSetPackSize bytes, up to the last item.
 */
Size
StoredSetWritePack(uint8 *out, const StoredSetPack *pack,
				   const StoredSetItem *items, int nitems)
{
	const StoredSetPacking *packing = &pack->packing;
	uint64		base = StoredSetKept(packing, pack->start);
	uint64		last = BloomLittleEndian64(pack->last);
	uint64		largest = nitems == 0 ? 0 :
	StoredSetKept(packing, items[nitems - 1].hash) - base;
	int			low = LowBits(nitems, largest);
	Size		nhigh = nitems == 0 ? 0 : BytesOf(nitems + (largest >> low));
	Size		nlow = BytesOf((Size) nitems * low);
	Size		nages = packing->has_ages ?
	BytesOf((Size) nitems * STORED_SET_AGE_BITS) : 0;
	uint8	   *parts = out + STORED_SET_PACK_HEADER;

	out[0] = VERSION | (pack->mark ? STORED_SET_PACK_MARK : 0);
	out[1] = (uint8) low;
	out[2] = (uint8) nitems;
	out[3] = (uint8) (nitems >> 8);
	memcpy(out + 4, &last, sizeof(last));
	memset(parts, 0, nhigh + nlow + nages);
	for (int i = 0; i < nitems; i++)
	{
		uint64		number = StoredSetKept(packing, items[i].hash) - base;
		Size		bit = (Size) (number >> low) + i;

		parts[bit / 8] |= 1 << bit % 8;
		PutBits(parts + nhigh, (Size) i * low, number, low);
		if (packing->has_ages)
			PutBits(parts + nhigh + nlow, (Size) i * STORED_SET_AGE_BITS,
					(uint64) (pack->slice - items[i].slice),
					STORED_SET_AGE_BITS);
	}
	return STORED_SET_PACK_HEADER + nhigh + nlow + nages;
}

/*
 * StoredSetReadPack
 *		Read the head of a list, whose packing, start and slice are set.
 *
 * NULL, if it is right; otherwise a sentence that says what is wrong.
 */
const char *
StoredSetReadPack(StoredSetPack *pack, const uint8 *data, Size size)
{
	Size		nlow;
	Size		nages;

	if (size < STORED_SET_PACK_HEADER)
		return "Its list is too short.";
	if ((data[0] & VERSION_MASK) != VERSION)
		return "Its list is of an unknown version.";
	pack->mark = (data[0] & STORED_SET_PACK_MARK) != 0;
	pack->low = data[1];
	pack->nhashes = data[2] | data[3] << 8;
	memcpy(&pack->last, data + 4, sizeof(pack->last));
	pack->last = BloomLittleEndian64(pack->last);
	if (pack->low + pack->packing.dropped > 63)
		return "Its list has more bits than a hash.";
	if (pack->last < pack->start)
		return "Its range ends before its start.";

	nlow = BytesOf((Size) pack->nhashes * pack->low);
	nages = pack->packing.has_ages ?
		BytesOf((Size) pack->nhashes * STORED_SET_AGE_BITS) : 0;
	size -= STORED_SET_PACK_HEADER;
	if (size < nlow + nages + BytesOf(pack->nhashes) ||
		(pack->nhashes == 0 && size > 0))
		return "Its list does not have the size that its head says.";
	pack->nhigh = size - nlow - nages;
	pack->high_parts = data + STORED_SET_PACK_HEADER;
	pack->low_parts = pack->high_parts + pack->nhigh;
	pack->ages = pack->low_parts + nlow;
	pack->end = pack->ages + nages;
	return NULL;
}

/* Eight bytes of the high parts, or what there is of them. */
static inline uint64
HighWord(const StoredSetPack *pack, Size at)
{
	uint64		word = 0;

	memcpy(&word, pack->high_parts + at, Min(8, pack->nhigh - at));
	return BloomLittleEndian64(word);
}

static inline int64
SliceAt(const StoredSetPack *pack, int i)
{
	if (!pack->packing.has_ages)
		return 0;
	return pack->slice - (int64) GetBits(pack->ages,
										 (Size) i * STORED_SET_AGE_BITS,
										 STORED_SET_AGE_BITS);
}

/*
 * StoredSetFindPacked
 *		Is a hash, or another of which the same is kept, in a list?  Then set its
 *		slice.
 *
 * Behind as many zeros as its high part says, there are the ones of all numbers
 * with this high part.
 */
bool
StoredSetFindPacked(const StoredSetPack *pack, uint64 hash, int64 *slice)
{
	uint64		number = StoredSetKept(&pack->packing, hash) -
	StoredSetKept(&pack->packing, pack->start);
	uint64		zeros = number >> pack->low;	/* to be passed */
	uint64		wanted = number & LowMask(pack->low);
	int			i = 0;			/* ones that were passed */
	Size		at = 0;
	uint64		word;
	int			bit = 0;

	if (hash < pack->start || hash > pack->last || pack->nhashes == 0)
		return false;
	for (;; at += 8)
	{
		int			n;

		if (at >= pack->nhigh)
			return false;
		word = HighWord(pack, at);
		n = 64 - pg_popcount64(word);
		if ((uint64) n >= zeros)
			break;
		zeros -= n;
		i += 64 - n;
	}
	/* pass the rest, from one to the next */
	for (; zeros > 0; zeros--)
	{
		uint64		rest = bit < 64 ? ~word >> bit : 0;
		int			ones;

		if (rest == 0)
			return false;
		ones = pg_rightmost_one_pos64(rest);
		i += ones;
		bit += ones + 1;
	}
	for (; i < pack->nhashes; i++, bit++)
	{
		uint64		low;

		if (bit == 64)
		{
			at += 8;
			bit = 0;
			if (at >= pack->nhigh)
				return false;
			word = HighWord(pack, at);
		}
		if ((word >> bit & 1) == 0)
			return false;
		low = GetBits(pack->low_parts, (Size) i * pack->low, pack->low);
		if (low >= wanted)
		{
			if (low != wanted)
				return false;
			*slice = SliceAt(pack, i);
			return true;
		}
	}
	return false;
}

/*
 * StoredSetHighestPacked
 *		The highest hash of a list, or something, if the list is not what its head
 *		says.
 */
uint64
StoredSetHighestPacked(const StoredSetPack *pack)
{
	int			n = pack->nhashes - 1;
	uint8		byte;
	Size		bit;

	if (n < 0)
		return pack->start;
	byte = pack->high_parts[pack->nhigh - 1];
	bit = (pack->nhigh - 1) * 8 + (byte == 0 ? 0 : pg_leftmost_one_pos32(byte));
	return (StoredSetKept(&pack->packing, pack->start) +
			((uint64) (bit - n) << pack->low |
			 GetBits(pack->low_parts, (Size) n * pack->low, pack->low))) <<
		pack->packing.dropped;
}

/*
 * StoredSetUnpack
 *		All items of a list, in the order of their hashes: pack->nhashes of them.
 *		False: the list is not what its head says.
 */
bool
StoredSetUnpack(const StoredSetPack *pack, StoredSetItem *items)
{
	uint64		base = StoredSetKept(&pack->packing, pack->start);
	uint64		last = 0;
	int			i = 0;

	for (Size at = 0; at < pack->nhigh; at += 8)
	{
		for (uint64 word = HighWord(pack, at); word != 0; word &= word - 1)
		{
			uint64		number = (uint64) at * 8 + pg_rightmost_one_pos64(word) - i;

			if (i == pack->nhashes || number > PG_UINT64_MAX >> pack->low)
				return false;
			number = number << pack->low |
				GetBits(pack->low_parts, (Size) i * pack->low, pack->low);
			number += base;
			if (number < base || number > StoredSetKept(&pack->packing, pack->last) ||
				(i > 0 && number <= last))
				return false;
			last = number;
			items[i].hash = number << pack->packing.dropped;
			items[i].slice = SliceAt(pack, i);
			i++;
		}
	}
	return i == pack->nhashes;
}
