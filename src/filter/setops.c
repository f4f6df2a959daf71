/*-------------------------------------------------------------------------
 *
 * filter/setops.c
 *		Operations on filters as sets: add, test, compare, combine, fit.
 *
 * Invariants:
 *
 * - One set of keys has one form, whichever functions made the filter: keys
 *	 form while the keys are fewer than the words, then bits form.
 * - Bits form never turns back, since their keys are not known.  So an
 *	 intersection of two filters in bits form stays so, however little it holds.
 * - Two lists of hashes are combined as lists.  Where one of two filters is in
 *	 bits form, the other is turned into bits, which takes no more memory than
 *	 the first one has.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "bits/fold.h"
#include "filter/setops.h"
#include "filter/typmod.h"

/* ----------------------------------------------------------------
 *							CHECKS
 * ----------------------------------------------------------------
 */

/*
 * BloomCheckHasShape
 *		An error if the filter can hold no keys.
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
			 BloomIsCounting(filter) ?
			 errhint("Start from counting_bloom_empty(capacity, fp_prob), or take the sum with such a filter.") :
			 errhint("Start from bloom_empty(capacity, fp_prob), or take the union with such a filter.")));
}

/*
 * Can the keys that a filter still has be cast to a type with this modifier, and
 * has that type this shape, if one is asked for?
 */
static bool
CanBeCast(const Bloom *filter, int32 typmod, const Bloom *like)
{
	BloomShape	shape;

	if (typmod < 0 || !BloomIsKeys(filter))
		return false;
	shape = BloomTypmodShape(BloomKindOf(filter), typmod);
	return filter->count <= shape.capacity &&
		(like == NULL || (shape.bits == BloomBits(like) &&
						  shape.hashes == like->hashes));
}

/*
 * Hint at how two filters get one shape: cast what still has its keys, or build
 * both for a type that a column can have.
 */
static int
HintAtOneShape(const Bloom *a, const Bloom *b)
{
	BloomKind	kind = BloomKindOf(a);
	const char *type = BloomTypeName(kind);
	const Bloom *larger = a->capacity > b->capacity ? a : b;
	const Bloom *fixed = BloomIsBits(a) ? a : b;
	const Bloom *other = BloomIsBits(a) ? b : a;
	int32		typmod = BloomTypmodFor(kind, larger->capacity, larger->fp_prob);
	int32		fixed_typmod = BloomTypmodFor(kind, fixed->capacity, fixed->fp_prob);
	const char *modifiers = typmod < 0 ? "" : BloomTypmodText(typmod, ", ");

	if (BloomIsBits(fixed) && CanBeCast(other, fixed_typmod, fixed))
		return errhint("The one of " UINT64_FORMAT " %s and %d hashes still holds its keys. Cast it: filter::%s%s.",
					   BloomBits(other), BloomUnit(kind), other->hashes,
					   type, BloomTypmodText(fixed_typmod, ", "));
	if (typmod < 0)
		return errhint("Build both filters with the same capacity and fp_prob.");
	if (CanBeCast(a, typmod, NULL) && CanBeCast(b, typmod, NULL))
		return errhint("Both still hold their keys. Cast them to one shape: filter::%s%s.",
					   type, modifiers);
	return errhint("Build both by %s_agg(key, %s, which a column of type %s%s ensures%s.",
				   type, modifiers + 1, type, modifiers,
				   kind == BLOOM_PLAIN ?
				   "; bloom_agg(key) chooses a shape for its keys" : "");
}

/*
 * Hint at how two filters get one seed, and one shape: no cast changes a seed, so
 * that both are built from one empty filter, of the seed that somebody has chosen.
 */
static int
HintAtOneSeed(const Bloom *a, const Bloom *b)
{
	BloomKind	kind = BloomKindOf(a);
	const Bloom *like = a->capacity > b->capacity ? a : b;
	int64		seed = (int64) (a->seed != 0 ? a->seed : b->seed);
	BloomParams params;
	char	   *empty;

	if (BloomBestParams(like->fp_prob, &params) &&
		params.hashes == like->hashes &&
		BloomBitsForCapacity(like->capacity, params.bits_per_key) == BloomBits(like))
		empty = psprintf("%s_empty(" UINT64_FORMAT ", %s, " INT64_FORMAT ")",
						 BloomTypeName(kind), like->capacity,
						 DatumGetCString(DirectFunctionCall1(float8out,
															 Float8GetDatum(like->fp_prob))),
						 seed);
	else if (kind == BLOOM_PLAIN)
		empty = psprintf("bloom_empty_shaped(" UINT64_FORMAT ", %d, " INT64_FORMAT ")",
						 BloomBits(like), like->hashes, seed);
	else
		return errhint("Build both filters with one capacity, fp_prob and seed.");
	return errhint("Build both by %s_add_all(%s, array_agg(key)).",
				   BloomTypeName(kind), empty);
}

/*
 * BloomCheckCombinable
 *		An error unless bits mean the same in both filters.
 */
void
BloomCheckCombinable(const Bloom *a, const Bloom *b)
{
	BloomKeyType type_a = BloomKeyTypeOf(a);
	BloomKeyType type_b = BloomKeyTypeOf(b);
	const char *name = BloomKindName(BloomKindOf(a));
	const char *unit = BloomUnit(BloomKindOf(a));

	if (!BloomHasShape(a) || !BloomHasShape(b))
		return;
	if (a->words != b->words || a->hashes != b->hashes)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine %ss of different shapes", name),
				 errdetail("One filter has " UINT64_FORMAT " %s and %d hashes, the other has " UINT64_FORMAT " %s and %d hashes.",
						   BloomBits(a), unit, a->hashes,
						   BloomBits(b), unit, b->hashes),
				 a->seed == b->seed ? HintAtOneShape(a, b) : HintAtOneSeed(a, b)));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine %ss of different seeds", name),
				 errdetail("One filter has seed " INT64_FORMAT ", the other has seed " INT64_FORMAT ".",
						   (int64) a->seed, (int64) b->seed),
				 HintAtOneSeed(a, b)));
	if (type_a.id != 0 && type_b.id != 0 && !BloomSameKeyType(&type_a, &type_b))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine %ss of different key types", name),
				 errdetail("One filter holds keys of type %s, the other of type %s.",
						   BloomKeyTypeName(&type_a), BloomKeyTypeName(&type_b)),
				 errhint("Build both of keys of one type, such as %s.",
						 BloomCommonKey(&type_a, &type_b))));
}

/* ----------------------------------------------------------------
 *							HASHES
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
 * Merge two lists into arrays, adding the counts of keys that are in both.
 *
 * The counts are written into room that is all zero.  There is no branch by
 * the order of two hashes, which the processor would guess wrong half the time.
 */
static void
MergeCountedKeys(BloomKeyList a, BloomKeyList b, uint64 *hashes, uint8 *counts)
{
	uint64		n = 0;
	uint64		i = 0;
	uint64		j = 0;

	while (i < a.nkeys && j < b.nkeys)
	{
		uint64		left = a.hashes[i];
		uint64		right = b.hashes[j];
		unsigned int from_a = left <= right;
		unsigned int from_b = right <= left;

		BloomCheckInterrupts(n);
		hashes[n] = Min(left, right);
		BloomPutCounter(counts, n++,
						BloomCountAfter(from_a * BloomGetCounter(a.counts, i),
										from_b * BloomGetCounter(b.counts, j)));
		i += from_a;
		j += from_b;
	}
	if (i == a.nkeys)
	{
		a = b;
		i = j;
	}
	for (; i < a.nkeys; i++)
	{
		BloomCheckInterrupts(n);
		hashes[n] = a.hashes[i];
		BloomPutCounter(counts, n++, BloomGetCounter(a.counts, i));
	}
}

/*
 * Add keys to positions of this width, which is known to the compiler, and the
 * positions that were not in use before to a count, unless that is NULL.
 */
static pg_attribute_always_inline void
AddToPositions(Bloom *filter, BloomKeyList keys, int width, uint64 *count)
{
	uint8	   *data = BloomBitData(filter);
	uint64		bits = BloomBits(filter);
	int			hashes = filter->hashes;
	bool		is_far = bits * width >= BLOOM_FAR_BITS;
	uint64		fresh = 0;

	for (uint64 i = 0; i < keys.nkeys; i++)
	{
		BloomCheckInterrupts(i);
		if (is_far && i + BLOOM_PREFETCH_KEYS < keys.nkeys)
			BloomPrefetch(data, width, bits, hashes,
						  keys.hashes[i + BLOOM_PREFETCH_KEYS]);
		if (width > 1)
			BloomCountersChange(data, bits, hashes, keys.hashes[i],
								keys.counts == NULL ? 1 :
								BloomGetCounter(keys.counts, i), count);
		else
			fresh += BloomSetBits(data, bits, hashes, keys.hashes[i]);
	}
	if (count != NULL)
		*count += fresh;
}

/*
 * BloomAddToArray
 *		Add keys to the bits or counters of a filter in bits form, in place.
 *
 * With a count of these in use, which may be the filter's, it is kept right.
 * For many keys it is faster to count all in the end.
 */
void
BloomAddToArray(Bloom *filter, BloomKeyList keys, uint64 *count)
{
	if (BloomIsCounting(filter) && count != NULL)
		AddToPositions(filter, keys, 4, count);
	else if (BloomIsCounting(filter))
		AddToPositions(filter, keys, 4, NULL);
	else if (count != NULL)
		AddToPositions(filter, keys, 1, count);
	else
		AddToPositions(filter, keys, 1, NULL);
}

/*
 * BloomMakeOfKeys
 *		The filter that holds the keys of two lists, of the shape and type of
 *		another.
 */
Bloom *
BloomMakeOfKeys(const Bloom *like, const BloomKeyType *key_type,
				BloomKeyList a, BloomKeyList b)
{
	BloomShape	shape = BloomShapeOf(like);
	uint64		n = BloomMergeHashes(a.hashes, a.nkeys, b.hashes, b.nkeys, NULL);
	Bloom	   *result;

	if (BloomHoldsAsKeys(like->words, n))
	{
		result = BloomMake(&shape, key_type, BloomKindOf(like) | BLOOM_KEYS,
						   BloomKeyBytes(like, n));
		result->count = n;		/* it tells where the counts are */
		if (a.counts != NULL)
			MergeCountedKeys(a, b, BloomKeyData(result), BloomCountData(result));
		else
			BloomMergeHashes(a.hashes, a.nkeys, b.hashes, b.nkeys,
							 BloomKeyData(result));
	}
	else
	{
		result = BloomMake(&shape, key_type, BloomKindOf(like) | BLOOM_BITS,
						   BloomArrayBytes(like));
		BloomAddToArray(result, a, NULL);
		BloomAddToArray(result, b, NULL);
		n = BloomCountContent(result);
	}
	BloomSetCount(result, n);
	return result;
}

/*
 * BloomToBits
 *		A new filter in bits form, also where the content asks for keys.
 *
 * A temporary: its count is not right, so it must not become a value.
 */
Bloom *
BloomToBits(const Bloom *filter)
{
	Bloom	   *bits;

	if (BloomIsBits(filter))
		return BloomCopy(filter);
	bits = BloomMakeLike(filter, BloomKindOf(filter) | BLOOM_BITS,
						 BloomArrayBytes(filter));
	BloomAddToArray(bits, BloomKeysOf(filter), NULL);
	return bits;
}

/*
 * BloomAdoptCapacity
 *		Note the larger capacity of two filters of one shape, and its fp_prob;
 *		of equal capacities, the larger fp_prob.
 *
 * Rounding gives nearby capacities the same shape.  What a combination
 * remembers must not depend on the order, and must be what one of the filters
 * was built with.
 */
void
BloomAdoptCapacity(Bloom *filter, const Bloom *other)
{
	if (other->capacity > filter->capacity)
		filter->fp_prob = other->fp_prob;
	else if (other->capacity == filter->capacity)
		filter->fp_prob = Max(filter->fp_prob, other->fp_prob);
	filter->capacity = Max(filter->capacity, other->capacity);
}

/*
 * BloomAddKeys
 *		The filter with these keys as well.
 *
 * The filter itself, if it is a plain one in bits form that has them all.
 */
const Bloom *
BloomAddKeys(const Bloom *filter, BloomKeyList keys,
			 const BloomKeyType *key_type)
{
	BloomKeyType type = BloomKeyTypeOf(filter);
	Bloom	   *result;

	BloomCheckHasShape(filter);
	BloomCheckKeyType(filter, key_type, BLOOM_ARGUMENT);
	if (type.id == 0)
		type = *key_type;

	if (BloomIsKeys(filter))
		return BloomMakeOfKeys(filter, &type, BloomKeysOf(filter), keys);
	if (keys.counts == NULL)
	{
		/* the first keys that it has */
		for (uint64 i = 0; keys.nkeys > 0 && BloomTestHash(filter, *keys.hashes); i++)
		{
			BloomCheckInterrupts(i);
			keys.hashes++;
			keys.nkeys--;
		}
		if (keys.nkeys == 0)
			return filter;
	}
	result = BloomCopy(filter);
	BloomAddToArray(result, keys, &result->count);
	BloomSetCount(result, result->count);
	return result;
}

/* ----------------------------------------------------------------
 *							COMPARISON
 * ----------------------------------------------------------------
 */

/*
 * BloomContainsFilter
 *		Is all of the part in the filter: each key, or in bits form each bit?
 */
bool
BloomContainsFilter(const Bloom *filter, const Bloom *part)
{
	const Bloom *bits = filter;
	uint64		i = 0;

	BloomCheckCombinable(filter, part);
	if (part->count == 0)
		return true;
	if (filter->count == 0)
		return false;

	if (BloomIsKeys(part))
	{
		for (; i < part->count; i++)
		{
			BloomCheckInterrupts(i);
			if (!BloomTestHash(filter, BloomKeyData(part)[i]))
				return false;
		}
		return true;
	}

	if (BloomIsKeys(filter))
		bits = BloomToBits(filter);
	for (; i < part->words; i++)
	{
		BloomCheckInterrupts(i);
		if ((BloomKeyData(part)[i] & ~BloomKeyData(bits)[i]) != 0)
			break;
	}
	if (bits != filter)
		pfree(unconstify(Bloom *, bits));
	return i == part->words;
}

/* ----------------------------------------------------------------
 *							COMBINATION
 * ----------------------------------------------------------------
 */

/*
 * Set the other filter's bits as well, or only keep what is set in both, in
 * place, in pieces, so that the compiler can do many words at a time.
 */
static void
CombineBits(Bloom *bits, const Bloom *other, bool in_both)
{
	uint64	   *to = BloomKeyData(bits);
	const uint64 *from = BloomKeyData(other);
	uint64		words = bits->words;

	for (uint64 start = 0; start < words; start += BLOOM_STEPS_PER_CHECK)
	{
		uint64		end = Min(words, start + BLOOM_STEPS_PER_CHECK);

		CHECK_FOR_INTERRUPTS();
		if (in_both)
			for (uint64 i = start; i < end; i++)
				to[i] &= from[i];
		else
			for (uint64 i = start; i < end; i++)
				to[i] |= from[i];
	}
}

/*
 * BloomOrBits
 *		Set the other filter's bits as well, or add its counters, in place; both
 *		in bits form.
 *
 * The count stays as it was.
 */
void
BloomOrBits(Bloom *bits, const Bloom *other)
{
	uint64	   *to = BloomKeyData(bits);
	const uint64 *from = BloomKeyData(other);

	if (BloomKindOf(bits) == BLOOM_PLAIN)
	{
		CombineBits(bits, other, false);
		return;
	}
	for (uint64 i = 0; i < BloomCounterWords(bits); i++)
	{
		BloomCheckInterrupts(i);
		to[i] = BloomCounterWordSum(to[i], from[i]);
	}
}

/*
 * BloomUnion
 *		The filter that holds the keys of both; of counting filters, the sum.
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

	/* into bits, if there are any; into one that has a key type */
	if (BloomIsKeys(a) && (BloomIsBits(b) || a->key_type == 0))
	{
		const Bloom *swap = a;

		a = b;
		b = swap;
	}

	if (BloomIsKeys(b))
	{
		BloomKeyType key_type = BloomKeyTypeOf(b);
		const Bloom *sum = BloomAddKeys(a, BloomKeysOf(b), &key_type);

		result = sum == a ? BloomCopy(a) : unconstify(Bloom *, sum);
	}
	else
	{
		result = BloomCopy(a);
		BloomOrBits(result, b);
		BloomSetCount(result, BloomCountContent(result));
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

	/* of one in keys form, if there is any; of one that has no key type */
	if (BloomIsKeys(b) && (BloomIsBits(a) || b->key_type == 0))
	{
		const Bloom *swap = a;

		a = b;
		b = swap;
	}

	result = BloomCopy(a);
	if (BloomIsKeys(a))
	{
		/* the keys of one that the other holds: as exact as it can be */
		for (uint64 i = 0; i < a->count; i++)
		{
			BloomCheckInterrupts(i);
			if (BloomTestHash(b, BloomKeyData(a)[i]))
				BloomKeyData(result)[n++] = BloomKeyData(a)[i];
		}
	}
	else
	{
		CombineBits(result, b, true);
		n = BloomCountContent(result);
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
 * The smallest fold of a filter in bits form whose rate is at most fp_prob,
 * or NULL.
 */
static Bloom *
FoldToRate(const Bloom *filter, double fp_prob)
{
	BloomShape	shape = BloomShapeOf(filter);
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	uint64	   *bits = BloomAllocate(CurrentMemoryContext,
									 Max(filter->words / 2, 1) * sizeof(uint64));
	BloomFold	fold = BloomFoldToRate(BloomKeyData(filter), filter->words,
									   filter->hashes, filter->count, fp_prob,
									   bits);
	Bloom	   *folded = NULL;

	if (fold.factor > 1)
	{
		shape.bits /= fold.factor;
		folded = BloomMake(&shape, &key_type, BLOOM_BITS, shape.bits / 8);
		memcpy(BloomKeyData(folded), bits, shape.bits / 8);
		folded->count = fold.count;
	}
	pfree(bits);
	return folded;
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
	BloomKeyType key_type = BloomKeyTypeOf(filter);
	Bloom	   *fitted;

	(void) BloomParamsFor(fp_prob, false);
	if (BloomIsKeys(filter))
	{
		BloomShape	shape = BloomShapeForCapacity(Max(filter->count, 1), fp_prob,
												  (int64) filter->seed);

		return !BloomHasShape(filter) || shape.bits >= BloomBits(filter) ? filter :
			BloomAddSorted(BloomMakeEmpty(&shape), BloomKeyData(filter),
						   filter->count, &key_type);
	}

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
 * BloomFill
 *		The fraction of bits set, or of counters in use: in keys form, what it
 *		would be on average.
 */
double
BloomFill(const Bloom *filter)
{
	double		bits = (double) BloomBits(filter);

	if (BloomIsBits(filter))
		return filter->count / bits;
	return -expm1((double) filter->count * filter->hashes * log1p(-1 / bits));
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
 * The number of keys is an estimate.  A filter that holds just its capacity must
 * not be called overfull, so we require four standard errors, which is wrong
 * once in 30,000 times.  A small filter,
 * whose size was rounded up, may hold more keys than its capacity and still
 * keep to fp_prob.
 */
bool
BloomIsOverfull(const Bloom *filter)
{
	double		capacity = (double) filter->capacity;

	return BloomIsBits(filter) && BloomRateNow(filter) > filter->fp_prob &&
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
