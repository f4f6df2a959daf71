/*-------------------------------------------------------------------------
 *
 * bits/layout.c
 *		The bytes of a filter: reading and writing them, and the one check of
 *		bytes from outside.
 *
 * A check returns what is wrong, as a sentence, or NULL.  All other functions
 * rely on it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include <math.h>

#include "mb/pg_wchar.h"
#include "port/pg_bitutils.h"

/* xxHash is used from its header alone: nothing to link, nothing to load */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bits/bits.h"
#include "bits/layout.h"
#include "bits/sizing.h"
#include "bits/counters.h"

/*
 * BloomCountContent
 *		How many bits are set in a filter in bits form, or how many counters
 *		are not 0?
 */
uint64
BloomCountContent(const Bloom *filter)
{
	const uint64 *words = BloomKeyData(filter);
	uint64		count = 0;

	if (BloomIsCounting(filter))
	{
		for (uint64 i = 0; i < BloomCounterWords(filter); i++)
		{
			BloomCheckInterrupts(i);
			count += BloomCounterWordUsed(words[i]);
		}
		return count;
	}
	/* XXX no interrupt: 0.1 s for the largest filter */
	return pg_popcount((const char *) words, (int) BloomBitBytes(filter));
}

/*
 * BloomNumberOfTypeName
 *		The number of the key type of this name, without its padding.
 */
uint32
BloomNumberOfTypeName(const char *name, size_t len)
{
	return (uint32) (BLOOM_NAMED_KEY_TYPE |
					 (XXH3_64bits(name, len) & (BLOOM_NAMED_KEY_TYPE - 1)));
}

/* ----------------------------------------------------------------
 *							BYTE ORDER
 * ----------------------------------------------------------------
 */

/*
 * Turn the numbers of a header from this machine's byte order to
 * little-endian, or back: it is the same.
 */
static void
SwapHeader(Bloom *header)
{
	uint64		fp_prob;

	StaticAssertStmt(sizeof(double) == sizeof(uint64),
					 "double is not a 64-bit IEEE number");

	header->key_type = BloomLittleEndian32(header->key_type);
	header->words = BloomLittleEndian32(header->words);
	header->seed = BloomLittleEndian64(header->seed);
	header->capacity = BloomLittleEndian64(header->capacity);
	memcpy(&fp_prob, &header->fp_prob, sizeof(fp_prob));
	fp_prob = BloomLittleEndian64(fp_prob);
	memcpy(&header->fp_prob, &fp_prob, sizeof(fp_prob));
	header->count = BloomLittleEndian64(header->count);
}

static void
SwapKeys(Bloom *filter)
{
	uint64	   *keys = BloomKeyData(filter);

	for (uint64 i = 0; i < filter->count && BloomIsKeys(filter); i++)
		keys[i] = BloomLittleEndian64(keys[i]);
}

/*
 * BloomTurnIntoBytes
 *		Make the bytes that leave the server of a filter, in its place.
 */
void
BloomTurnIntoBytes(Bloom *filter)
{
	if (BLOOM_STORED_AS_SENT)
		return;
	SwapKeys(filter);
	SwapHeader(filter);
}

/* ----------------------------------------------------------------
 *							CHECKS
 * ----------------------------------------------------------------
 */

/*
 * BloomCheckTypeName
 *		Could a key type be called so?
 */
const char *
BloomCheckTypeName(const char *name, size_t len)
{
	const unsigned char *bytes = (const unsigned char *) name;

	if (len == 0 || len > BLOOM_MAX_TYPE_WORDS * 8)
		return "The name of the key type has a wrong size.";
	for (size_t i = 0; i < len;)
	{
		size_t		n = pg_utf_mblen(bytes + i);

		if (n > len - i || !pg_utf8_islegal(bytes + i, (int) n))
			return "The name of the key type is not UTF-8.";
		if (bytes[i] < ' ' || bytes[i] == 0x7f)
			return "The name of the key type has a control character.";
		i += n;
	}
	return NULL;
}

/*
 * BloomCheckHeader
 *		Could this be the header of a filter?
 */
const char *
BloomCheckHeader(const Bloom *header)
{
	bool		has_name = header->key_type >= BLOOM_NAMED_KEY_TYPE;
	uint64		max_bits = BLOOM_MAX_BITS;

	if (header->version != BLOOM_VERSION)
		return "The version is unknown.";
	if (!BloomIsKeys(header) && !BloomIsBits(header))
		return "The representation is unknown.";
	if (BloomIsCounting(header))
		max_bits = BLOOM_MAX_COUNTERS;
	if (!has_name && header->key_type >= BLOOM_MAX_BUILTIN_OID)
		return "The key type is not a built-in type.";
	if (has_name != (header->type_words > 0) ||
		header->type_words > BLOOM_MAX_TYPE_WORDS)
		return "The name of the key type has a wrong size.";
	if (!BloomHasShape(header))
	{
		if (header->hashes != 0 || header->seed != 0 ||
			header->capacity != 0 ||
			header->fp_prob != 0 || signbit(header->fp_prob) ||
			header->key_type != 0 || header->count != 0 ||
			!BloomIsKeys(header))
			return "A filter without a shape is not all zero.";
		return NULL;
	}
	if (header->words > max_bits / 64)
		return "The number of bits is out of range.";
	if (header->hashes < 1 || header->hashes > BLOOM_MAX_HASHES)
		return "The number of hashes is out of range.";
	if (header->capacity < 1 || header->capacity > UINT64CONST(0x7FFFFFFFFFFFFFFF))
		return "The capacity is out of range.";
	if (!(header->fp_prob > 0 && header->fp_prob < 1))
		return "The fp_prob is out of range.";
	if (header->count > 0 && header->key_type == 0)
		return "There are keys, but no key type.";
	if (BloomIsKeys(header))
	{
		if (!BloomHoldsAsKeys(header->words, header->count))
			return "There are too many keys for the keys form.";
	}
	else if (header->count == 0)
		return "No bit is set in the bits form.";
	return NULL;
}

/*
 * Is the name of the key type right, and are its size and number?
 */
static const char *
CheckKeyType(const Bloom *filter)
{
	const char *name = (const char *) filter->data;
	size_t		size = BloomTypeBytes(filter);
	size_t		len = strnlen(name, size);
	const char *wrong = BloomCheckTypeName(name, len);

	for (size_t i = len; i < size; i++)
	{
		if (name[i] != 0)
			return "The name of the key type is not padded with zeros.";
	}
	if (size - len >= 8)
		return "The name of the key type has a wrong size.";
	if (wrong != NULL)
		return wrong;
	if (BloomNumberOfTypeName(name, len) != filter->key_type)
		return "The number of the key type does not match its name.";
	return NULL;
}

/*
 * Is each key of a counting filter counted, and nothing else?
 */
static const char *
CheckCounts(const Bloom *filter)
{
	const uint8 *counts = BloomCountData(filter);
	uint64		nplaces = BloomCountBytes(filter->count) * 2;

	for (uint64 i = 0; i < nplaces; i++)
	{
		BloomCheckInterrupts(i);
		if ((BloomGetCounter(counts, i) != 0) != (i < filter->count))
			return "The counts do not match the keys.";
	}
	return NULL;
}

/*
 * BloomCheckContent
 *		Is what is behind a good header right?
 */
const char *
BloomCheckContent(const Bloom *filter)
{
	if (filter->type_words > 0)
	{
		const char *wrong = CheckKeyType(filter);

		if (wrong != NULL)
			return wrong;
	}
	if (BloomIsKeys(filter))
	{
		const uint64 *keys = BloomKeyData(filter);
		uint64		previous = 0;

		for (uint64 i = 0; i < filter->count; i++)
		{
			BloomCheckInterrupts(i);
			if (keys[i] <= previous)
				return "The keys are not ascending.";
			previous = keys[i];
		}
		if (BloomIsCounting(filter))
			return CheckCounts(filter);
	}
	else if (BloomCountContent(filter) != filter->count)
		return BloomIsCounting(filter) ?
			"The number of counters in use does not match." :
			"The number of bits set does not match.";
	return NULL;
}

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/*
 * BloomTurnIntoFilter
 *		Make a filter of this kind of the bytes behind its varlena header, in
 *		their place.  The size counts both.
 *
 * Where BLOOM_STORED_AS_SENT, nothing is written.
 */
const char *
BloomTurnIntoFilter(Bloom *bytes, size_t size, BloomKind kind)
{
	const char *wrong;

	if (size < BLOOM_HEADER_SIZE)
		return "There are fewer bytes than a header has.";
	if (!BLOOM_STORED_AS_SENT)
		SwapHeader(bytes);
	wrong = BloomCheckHeader(bytes);
	if (wrong != NULL)
		return wrong;
	if (size != BloomSizeByHeader(bytes))
		return "The number of bytes does not match the header.";
	if (BloomKindOf(bytes) != kind)
		return kind == BLOOM_PLAIN ? "It is a counting_bloom." : "It is a bloom.";
	if (!BLOOM_STORED_AS_SENT)
		SwapKeys(bytes);
	return BloomCheckContent(bytes);
}
