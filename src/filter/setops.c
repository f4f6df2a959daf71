/*-------------------------------------------------------------------------
 *
 * filter/setops.c
 *		Operations on filters as sets: add, test, compare, combine, fit.
 *
 * A filter stands for the set of its bits, in whichever form it holds them.
 * Two filters in keys form are merged or compared as lists of hashes; when
 * one of two is in bits form, the other is turned into bits as well, which
 * takes no more memory than the first has taken already.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "bits/interrupts.h"
#include "filter/setops.h"
#include "bits/sort.h"

/* Keys that are worked on between two looks for a cancel request */
#define KEYS_PER_INTERRUPT_CHECK	UINT64CONST(65536)

/* ----------------------------------------------------------------
 *							CHECKS
 * ----------------------------------------------------------------
 */

/*
 * BloomCheckHasShape
 *		An error, if the filter can hold no keys.
 */
void
BloomCheckHasShape(const Bloom *filter)
{
	if (likely(BloomHasShape(filter)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot add keys to a %s without a shape",
					BloomKindName(BloomKindOf(filter))),
			 errdetail("The filter was aggregated over no rows, so its size is not known."),
			 BloomKindOf(filter) == BLOOM_COUNTING ?
			 errhint("Start from counting_bloom_empty(capacity, fp_prob), or take the sum with such a filter.") :
			 errhint("Start from bloom_empty(capacity, fp_prob), or take the union with such a filter.")));
}

/*
 * BloomCheckCombinable
 *		An error, unless bits mean the same in both filters.
 */
void
BloomCheckCombinable(const Bloom *a, const Bloom *b)
{
	BloomKeyType type_a = BloomKeyTypeOf(a);
	BloomKeyType type_b = BloomKeyTypeOf(b);
	const char *name = BloomKindName(BloomKindOf(a));
	const char *unit = BloomKindOf(a) == BLOOM_COUNTING ? "counters" : "bits";

	if (!BloomHasShape(a) || !BloomHasShape(b))
		return;
	if (!BloomShapeEquals(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine %ss of different shapes", name),
				 errdetail("One filter has " UINT64_FORMAT " %s, %d hashes and seed " INT64_FORMAT ", the other has " UINT64_FORMAT " %s, %d hashes and seed " INT64_FORMAT ".",
						   BloomBits(a), unit, a->hashes, (int64) a->seed,
						   BloomBits(b), unit, b->hashes, (int64) b->seed),
				 errhint("Build both filters with the same capacity, fp_prob and seed.")));
	if (type_a.id != 0 && type_b.id != 0 && !BloomSameKeyType(&type_a, &type_b))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine %ss of different key types", name),
				 errdetail("One filter holds keys of type %s, the other of type %s.",
						   BloomKeyTypeName(&type_a), BloomKeyTypeName(&type_b)),
				 errhint("Cast the keys to one type when building the filters.")));
}

/* ----------------------------------------------------------------
 *							HASHES
 * ----------------------------------------------------------------
 */

/*
 * BloomSortHashes
 *		Sort hashes, drop repeats, and give the number that remains.
 */
uint64
BloomSortHashes(uint64 *hashes, uint64 nhashes)
{
	uint64	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext,
												 nhashes * sizeof(uint64));
	uint64		distinct = BloomSortDistinct(hashes, scratch, nhashes, false);

	pfree(scratch);
	return distinct;
}

/*
 * BloomSetMany
 *		Set the bits of many keys in a filter in bits form, in place.
 *
 * The bits set are not counted.
 */
void
BloomSetMany(Bloom *bits, const uint64 *hashes, uint64 nhashes)
{
	while (nhashes > 0)
	{
		uint64		n = Min(nhashes, KEYS_PER_INTERRUPT_CHECK);

		CHECK_FOR_INTERRUPTS();
		BloomSetBitsOfMany(BloomBitData(bits), BloomBits(bits),
						   bits->hashes, hashes, n);
		hashes += n;
		nhashes -= n;
	}
}

/*
 * BloomToBits
 *		A new filter in bits form, also where the content asks for keys.
 *
 * Such a filter is for a moment's work.  It must not become a value.
 */
Bloom *
BloomToBits(const Bloom *filter)
{
	Bloom	   *bits;

	if (BloomIsBits(filter))
		return BloomCopy(filter);
	bits = BloomMakeLike(filter, BLOOM_BITS, BloomBitBytes(filter));
	BloomSetMany(bits, BloomKeyData(filter), filter->count);
	bits->count = BloomCountBits(bits);
	return bits;
}

/*
 * BloomAdoptCapacity
 *		Note the larger capacity and fp_prob of two filters of one shape.
 *
 * Rounding gives nearby capacities the same shape.  Which one a combination
 * remembers must not depend on the order.
 */
void
BloomAdoptCapacity(Bloom *filter, const Bloom *other)
{
	filter->capacity = Max(filter->capacity, other->capacity);
	filter->fp_prob = Max(filter->fp_prob, other->fp_prob);
}

/*
 * BloomAddSorted
 *		The filter with these hashes, which are ascending and distinct.
 *
 * The filter itself, if it has them all.
 */
const Bloom *
BloomAddSorted(const Bloom *filter, const uint64 *hashes, uint64 nhashes,
			   const BloomKeyType *key_type)
{
	BloomShape	shape = BloomShapeOf(filter);
	Bloom	   *result;
	uint64		total;

	BloomCheckHasShape(filter);
	BloomCheckKeyType(filter, key_type);

	if (BloomIsBits(filter))
	{
		uint64		have = 0;

		while (have < nhashes && BloomTestHash(filter, hashes[have]))
		{
			have++;
			BloomCheckInterrupts(have);
		}
		if (have == nhashes)
			return filter;
		result = BloomCopy(filter);
		BloomSetMany(result, hashes + have, nhashes - have);
		BloomSetCount(result, BloomCountBits(result));
		return result;
	}

	total = BloomMergeHashes(BloomKeyData(filter), filter->count, hashes, nhashes,
						NULL);
	if (total == filter->count)
		return filter;
	if (BloomHoldsAsKeys(filter->words, total))
	{
		result = BloomMake(&shape, key_type, BLOOM_KEYS,
						   total * sizeof(uint64));
		BloomMergeHashes(BloomKeyData(filter), filter->count, hashes, nhashes,
					BloomKeyData(result));
		BloomSetCount(result, total);
		return result;
	}

	result = BloomMake(&shape, key_type, BLOOM_BITS, BloomBitBytes(filter));
	BloomSetMany(result, BloomKeyData(filter), filter->count);
	BloomSetMany(result, hashes, nhashes);
	BloomSetCount(result, BloomCountBits(result));
	return result;
}

/* ----------------------------------------------------------------
 *							COMPARISON
 *
 * Equality is equality of bits.  The form and the list of hashes do not
 * count: by chance, two different lists can set the same bits.
 * ----------------------------------------------------------------
 */

/*
 * Is a list of positions smaller than the bit array?  Then a filter in keys
 * form is better looked at as such a list.
 */
static bool
IsSparse(const Bloom *filter)
{
	return BloomIsKeys(filter) &&
		filter->count * filter->hashes * sizeof(uint32) <= BloomBitBytes(filter);
}

/*
 * The positions of the bits that are set by a filter in keys form, ascending
 * and distinct.
 */
static uint32 *
SortedPositions(const Bloom *filter, uint64 *npositions)
{
	uint64		bits = BloomBits(filter);
	Size		size = filter->count * filter->hashes * sizeof(uint32);
	uint32	   *positions = MemoryContextAllocHuge(CurrentMemoryContext, size);
	uint32	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext, size);
	uint64		n = 0;

	for (uint64 i = 0; i < filter->count; i++)
	{
		uint64		a = BloomKeyData(filter)[i];

		BloomCheckInterrupts(i);
		for (int j = 0; j < filter->hashes; j++)
			positions[n++] = (uint32) BloomNextPosition(&a, bits);
	}
	*npositions = BloomSortPositions(positions, scratch, n);
	pfree(scratch);
	return positions;
}

/* The filter in bits form: itself, or a copy. */
static const Bloom *
AsBits(const Bloom *filter)
{
	return BloomIsBits(filter) ? filter : BloomToBits(filter);
}

/* Free what AsBits has made. */
static void
FreeAsBits(const Bloom *bits, const Bloom *filter)
{
	if (bits != filter)
		pfree(unconstify(Bloom *, bits));
}

static bool
SameKeys(const Bloom *a, const Bloom *b)
{
	return BloomIsKeys(a) && BloomIsKeys(b) && a->count == b->count &&
		memcmp(BloomKeyData(a), BloomKeyData(b),
			   a->count * sizeof(uint64)) == 0;
}

/*
 * BloomEquals
 *		Same shape, same key type, and same bits?
 */
bool
BloomEquals(const Bloom *a, const Bloom *b)
{
	BloomKeyType type_a = BloomKeyTypeOf(a);
	BloomKeyType type_b = BloomKeyTypeOf(b);
	bool		equal;

	if (!BloomShapeEquals(a, b) || !BloomSameKeyType(&type_a, &type_b))
		return false;
	if (SameKeys(a, b))
		return true;

	if (IsSparse(a) && IsSparse(b))
	{
		uint64		na;
		uint64		nb;
		uint32	   *pa = SortedPositions(a, &na);
		uint32	   *pb = SortedPositions(b, &nb);

		equal = na == nb && memcmp(pa, pb, na * sizeof(uint32)) == 0;
		pfree(pa);
		pfree(pb);
	}
	else
	{
		const Bloom *bits_a = AsBits(a);
		const Bloom *bits_b = AsBits(b);

		equal = bits_a->count == bits_b->count &&
			memcmp(BloomBitData(bits_a), BloomBitData(bits_b),
				   BloomBitBytes(a)) == 0;
		FreeAsBits(bits_a, a);
		FreeAsBits(bits_b, b);
	}
	return equal;
}

/*
 * BloomHashOfWord
 *		What one word of the content contributes to the hash: nothing, if it is
 *		zero.  Sums of these do not depend on the order.
 */
uint64
BloomHashOfWord(uint64 index, uint64 word)
{
	uint64		pair[2];

	pair[0] = index;
	pair[1] = word;
	return word == 0 ? 0 :
		hash_bytes_extended((const unsigned char *) pair, sizeof(pair), 0);
}

/*
 * BloomShapeHash
 *		What shape and key type contribute to the hash.
 */
uint64
BloomShapeHash(const Bloom *filter)
{
	uint64		hash = filter->seed + filter->hashes;

	hash = hash_combine64(hash, filter->words);
	return hash_combine64(hash, filter->key_type);
}

/*
 * BloomContentHash
 *		A hash that equal filters share.
 *
 * Hash indexes and hash partitions keep it, so that it must not change.  Like
 * the server's own, it differs between machines of different byte order.
 */
uint64
BloomContentHash(const Bloom *filter)
{
	uint64		hash = BloomShapeHash(filter);

	if (IsSparse(filter))
	{
		uint64		n;
		uint32	   *positions = SortedPositions(filter, &n);

		for (uint64 i = 0; i < n;)
		{
			uint32		index = positions[i] / 64;
			union
			{
				uint8		bytes[8];
				uint64		word;
			}			bits = {{0}};

			BloomCheckInterrupts(index);
			for (; i < n && positions[i] / 64 == index; i++)
				bits.bytes[(positions[i] & 63) >> 3] |= 1 << (positions[i] & 7);
			hash += BloomHashOfWord(index, bits.word);
		}
		pfree(positions);
	}
	else if (filter->count > 0)
	{
		const Bloom *bits = AsBits(filter);

		for (uint32 i = 0; i < filter->words; i++)
		{
			BloomCheckInterrupts(i);
			hash += BloomHashOfWord(i, BloomKeyData(bits)[i]);
		}
		FreeAsBits(bits, filter);
	}
	return hash;
}

/*
 * BloomContainsFilter
 *		Is every bit of the part set in the filter?
 */
bool
BloomContainsFilter(const Bloom *filter, const Bloom *part)
{
	bool		contains = true;

	BloomCheckCombinable(filter, part);
	if (part->count == 0)
		return true;
	if (filter->count == 0)
		return false;

	if (BloomIsKeys(part) && BloomIsBits(filter))
	{
		for (uint64 i = 0; contains && i < part->count; i++)
		{
			BloomCheckInterrupts(i);
			contains = BloomTestHash(filter, BloomKeyData(part)[i]);
		}
	}
	else if (IsSparse(filter) && IsSparse(part))
	{
		uint64		n;
		uint64		npart;
		uint32	   *positions = SortedPositions(filter, &n);
		uint32	   *wanted = SortedPositions(part, &npart);
		uint64		i = 0;

		for (uint64 j = 0; contains && j < npart; j++)
		{
			BloomCheckInterrupts(j);
			while (i < n && positions[i] < wanted[j])
				i++;
			contains = i < n && positions[i] == wanted[j];
		}
		pfree(positions);
		pfree(wanted);
	}
	else
	{
		const Bloom *bits = AsBits(filter);
		const Bloom *part_bits = AsBits(part);

		for (uint32 i = 0; contains && i < filter->words; i++)
		{
			BloomCheckInterrupts(i);
			contains = (BloomKeyData(part_bits)[i] &
						~BloomKeyData(bits)[i]) == 0;
		}
		FreeAsBits(bits, filter);
		FreeAsBits(part_bits, part);
	}
	return contains;
}

/* ----------------------------------------------------------------
 *							COMBINATION
 * ----------------------------------------------------------------
 */

/*
 * BloomOrBits
 *		Set the other filter's bits as well, in place; both in bits form.
 *
 * The bits set are not counted.
 */
void
BloomOrBits(Bloom *bits, const Bloom *other)
{
	uint64	   *to = BloomKeyData(bits);
	const uint64 *from = BloomKeyData(other);
	uint64		words = bits->words;

	/* in pieces, so that the compiler can do many words at a time */
	for (uint64 start = 0; start < words; start += BLOOM_STEPS_PER_CHECK)
	{
		uint64		end = Min(words, start + BLOOM_STEPS_PER_CHECK);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = start; i < end; i++)
			to[i] |= from[i];
	}
}

/*
 * BloomUnion
 *		The filter that holds the keys of both.
 */
const Bloom *
BloomUnion(const Bloom *a, const Bloom *b)
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

	if (BloomIsKeys(b))
	{
		BloomKeyType key_type = BloomKeyTypeOf(b);
		const Bloom *sum = BloomAddSorted(a, BloomKeyData(b), b->count,
										  &key_type);

		result = sum == a ? BloomCopy(a) : unconstify(Bloom *, sum);
	}
	else
	{
		result = BloomCopy(a);
		BloomOrBits(result, b);
		BloomSetCount(result, BloomCountBits(result));
	}
	BloomAdoptCapacity(result, b);
	return result;
}

/*
 * BloomIntersect
 *		A filter that holds the keys that both hold.
 *
 * Between bits, it can hold others besides: a bit that was set in both
 * filters by different keys stays set.
 */
const Bloom *
BloomIntersect(const Bloom *a, const Bloom *b)
{
	Bloom	   *result;
	uint64		n = 0;

	BloomCheckCombinable(a, b);
	if (!BloomHasShape(a))
		return a;
	if (!BloomHasShape(b))
		return b;

	/* one that has no key type holds nothing */
	if (a->key_type == 0 || b->key_type == 0)
	{
		BloomShape	shape = BloomShapeOf(a);

		result = BloomMakeEmpty(&shape);
		BloomAdoptCapacity(result, b);
		return result;
	}

	if (BloomIsBits(a) && BloomIsKeys(b))
	{
		const Bloom *swap = a;

		a = b;
		b = swap;
	}

	if (BloomIsKeys(a))
	{
		/* the keys of one that the other holds: as exact as it can be */
		result = BloomCopy(a);
		for (uint64 i = 0; i < a->count; i++)
		{
			BloomCheckInterrupts(i);
			if (BloomTestHash(b, BloomKeyData(a)[i]))
				BloomKeyData(result)[n++] = BloomKeyData(a)[i];
		}
	}
	else
	{
		result = BloomCopy(a);
		for (uint64 start = 0; start < a->words; start += BLOOM_STEPS_PER_CHECK)
		{
			uint64		end = Min(a->words, start + BLOOM_STEPS_PER_CHECK);

			CHECK_FOR_INTERRUPTS();
			for (uint64 i = start; i < end; i++)
				BloomKeyData(result)[i] &= BloomKeyData(b)[i];
		}
		n = BloomCountBits(result);
	}
	BloomAdoptCapacity(result, b);
	BloomSetCount(result, n);
	return result;
}

/* ----------------------------------------------------------------
 *							FIT
 * ----------------------------------------------------------------
 */

/*
 * Fold bits: each bit of the result is the disjunction of "factor" adjacent
 * ones.  Since a position is the high word of a product with the number of
 * bits, that is just where the keys' positions move when that number is
 * divided by the factor.
 */
static Bloom *
FoldBits(const Bloom *filter, uint32 factor)
{
	BloomShape	shape = BloomShapeOf(filter);
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	Bloom	   *folded;
	const uint8 *from = BloomBitData(filter);
	uint8	   *to;
	uint64		bit = 0;

	shape.bits /= factor;
	folded = BloomMake(&shape, &key_type, BLOOM_BITS, shape.bits / 8);
	to = BloomBitData(folded);
	for (uint64 i = 0; i < shape.bits; i++)
	{
		unsigned int any = 0;

		for (uint32 j = 0; j < factor; j++, bit++)
		{
			BloomCheckInterrupts(bit);
			any |= BloomGetBit(from, bit);
		}
		to[i >> 3] |= any << (i & 7);
	}
	folded->count = BloomCountBits(folded);
	return folded;
}

/*
 * The smallest fold of a filter in bits form whose rate is at most fp_prob,
 * or NULL.
 */
static Bloom *
FoldToRate(const Bloom *filter, double fp_prob)
{
	double		empty = 1 - filter->count / (double) BloomBits(filter);
	double		most;

	/*
	 * Folding by f leaves about empty^f of the bits empty.  Begin where the
	 * rate that this predicts is a tenth too high, in case chance helps.
	 */
	if (empty <= 0)
		return NULL;
	most = log1p(-pow(Min(1.1 * fp_prob, 0.99), 1.0 / filter->hashes)) /
		log(empty);

	for (uint32 factor = (uint32) Min(most, filter->words); factor > 1; factor--)
	{
		Bloom	   *folded;

		if (filter->words % factor != 0)
			continue;
		folded = FoldBits(filter, factor);
		if (BloomRateNow(folded) <= fp_prob)
			return folded;
		pfree(folded);
	}
	return NULL;
}

/*
 * BloomFit
 *		The filter with as many bits as its keys need, and no more.
 *
 * The filter itself, if it cannot be made smaller.
 */
const Bloom *
BloomFit(const Bloom *filter, double fp_prob)
{
	Bloom	   *fitted;

	if (BloomIsKeys(filter))
	{
		BloomKeyType key_type = BloomKeyTypeOf(filter);
		BloomShape	shape;

		/* checks fp_prob as well */
		shape = BloomShapeForCapacity(Max(filter->count, 1), fp_prob,
									  (int64) filter->seed);
		if (!BloomHasShape(filter) || shape.bits >= BloomBits(filter))
			return filter;

		fitted = BloomMakeEmpty(&shape);
		return BloomAddSorted(fitted, BloomKeyData(filter), filter->count,
							  &key_type);
	}

	/* check fp_prob */
	(void) BloomShapeForCapacity(1, fp_prob, 0);

	fitted = FoldToRate(filter, fp_prob);
	if (fitted == NULL)
		return filter;
	fitted->fp_prob = fp_prob;
	fitted->capacity = BloomCapacityOfBits(BloomBits(fitted), fitted->hashes,
										   fp_prob);
	BloomSetCount(fitted, fitted->count);
	return fitted;
}

/* ----------------------------------------------------------------
 *							ESTIMATES
 * ----------------------------------------------------------------
 */

/*
 * BloomBitsSet
 *		How many bits are set, or would be in bits form.
 */
uint64
BloomBitsSet(const Bloom *filter)
{
	uint64		set;

	if (BloomIsBits(filter))
		return filter->count;
	if (IsSparse(filter))
		pfree(SortedPositions(filter, &set));
	else
	{
		Bloom	   *bits = BloomToBits(filter);

		set = bits->count;
		pfree(bits);
	}
	return set;
}

/*
 * BloomCardinality
 *		How many distinct keys were added: exact in keys form.
 */
double
BloomCardinality(const Bloom *filter)
{
	if (BloomIsKeys(filter))
		return (double) filter->count;
	return BloomEstimateKeys(BloomBits(filter), filter->hashes,
							 (double) filter->count);
}

/*
 * BloomUnionCardinality
 *		How many distinct keys were added to one of two filters or to both.
 */
double
BloomUnionCardinality(const Bloom *a, const Bloom *b)
{
	const Bloom *both = BloomUnion(a, b);
	double		keys = BloomCardinality(both);

	if (both != a && both != b)
		pfree(unconstify(Bloom *, both));
	return keys;
}

/*
 * BloomRateNow
 *		The probability that a key that was never added tests as present.
 *
 * In keys form, that takes an equal hash.
 */
double
BloomRateNow(const Bloom *filter)
{
	if (BloomIsKeys(filter))
		return ldexp((double) filter->count, -64);
	return BloomRateOfFill(filter->count / (double) BloomBits(filter),
						   filter->hashes);
}

/*
 * BloomIsOverfull
 *		Were more keys added than the filter is sized for?
 *
 * The number of keys is only an estimate, with a normal error.  A filter that
 * holds just its capacity must not be called overfull, so we ask for four
 * standard errors, which chance passes once in 30,000 times.
 */
bool
BloomIsOverfull(const Bloom *filter)
{
	double		capacity = (double) filter->capacity;

	return BloomIsBits(filter) &&
		BloomCardinality(filter) > capacity +
		4 * BloomEstimateError(BloomBits(filter), filter->hashes, capacity);
}

/*
 * BloomWarnOverfull
 *		Warn that more keys were added than the filter is sized for.
 */
void
BloomWarnOverfull(const Bloom *filter)
{
	bool		is_saturated = BloomIsBits(filter) &&
	filter->count == BloomBits(filter);

	ereport(WARNING,
			(errmsg("%s holds more keys than its capacity",
					BloomKindName(BloomKindOf(filter))),
			 errdetail("It holds %s %.0f keys, its capacity is " UINT64_FORMAT "; its false-positive rate is now %.3g, not %.3g.",
					   is_saturated ? "at least" : "about",
					   BloomCardinality(filter), filter->capacity,
					   BloomRateNow(filter), filter->fp_prob),
			 errhint("Rebuild the filter with a larger capacity; its keys cannot be moved to another filter.")));
}
