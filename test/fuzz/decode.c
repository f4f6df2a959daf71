/*-------------------------------------------------------------------------
 *
 * decode.c
 *		Fuzz the decoder, and everything that works on what it accepts.
 *
 * The input is what a filter's bytes are outside of the server.  Bytes that
 * are refused are done with.  Of those that are accepted, this must hold:
 *
 *		written again, they are the same bytes;
 *		the invariants of the layout hold, by loops that are not the decoder's;
 *		each operation of bits and counters stays in the content's memory,
 *		which has just its size, and does what its comment says.
 *
 * Random changes of a valid filter are nearly always refused, since its count
 * or the number of its key type does not match any more.  So half of them are
 * mended.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bits/layout.h"
#include "bits/counters.h"

/* No arrays larger than this are made of a header alone */
#define MAX_CONTENT		(1 << 13)

/* Keys that are added and tested */
#define TRIES			8

extern size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
extern size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
									  size_t max_size, unsigned int seed);

static uint64
bits_set(const uint8 *bytes, size_t len)
{
	uint64		count = 0;

	for (size_t i = 0; i < len * 8; i++)
		count += (bytes[i / 8] >> (i % 8)) & 1;
	return count;
}

static uint64
counters_in_use(const uint8 *bytes, size_t len)
{
	uint64		count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((bytes[i] & 15) != 0) + ((bytes[i] >> 4) != 0);
	return count;
}

/* A copy that has just the size, so that a step too far is noticed. */
static void *
copy_of(const void *bytes, size_t len)
{
	void	   *copy = malloc(len);

	memcpy(copy, bytes, len);
	return copy;
}

/* ----------------------------------------------------------------
 *							INVARIANTS
 * ----------------------------------------------------------------
 */

static void
check_header(const Bloom *filter)
{
	must(filter->version == BLOOM_VERSION);
	must(filter->words <= BLOOM_MAX_BITS / 64);
	must(filter->hashes <= BLOOM_MAX_HASHES);
	must((filter->hashes == 0) == (filter->words == 0));
	must(filter->capacity <= UINT64CONST(0x7FFFFFFFFFFFFFFF));
	must(filter->words == 0 || (filter->fp_prob > 0 && filter->fp_prob < 1));
	must(filter->key_type != 0 || filter->count == 0);
	/* only plain filters can have a key type before the first key */
	must(filter->count > 0 || filter->key_type == 0 || BloomIsKeys(filter));
	must(filter->key_type < BLOOM_MAX_BUILTIN_OID ||
		 (filter->key_type >= BLOOM_NAMED_KEY_TYPE && filter->type_words > 0));
}

static void
check_content(const Bloom *filter)
{
	const uint64 *keys = BloomKeyData(filter);
	const uint8 *bytes = BloomBitData(filter);

	switch ((BloomRepresentation) filter->representation)
	{
		case BLOOM_KEYS:
		case BLOOM_COUNTED_KEYS:
			must(filter->words == 0 ? filter->count == 0 :
				 filter->count < filter->words);
			for (uint64 i = 0; i < filter->count; i++)
				must(keys[i] != 0 && (i == 0 || keys[i - 1] < keys[i]));
			if (filter->representation == BLOOM_COUNTED_KEYS)
				must(counters_in_use(BloomCountData(filter),
									 BloomCountBytes(filter->count)) == filter->count);
			break;
		case BLOOM_BITS:
			must(filter->count == bits_set(bytes, BloomBitBytes(filter)));
			break;
		case BLOOM_COUNTERS:
			must(filter->count == counters_in_use(bytes, BloomArrayBytes(filter)));
			break;
		default:
			must(false);
	}
}

/* ----------------------------------------------------------------
 *							OPERATIONS
 * ----------------------------------------------------------------
 */

static void
use_bits(const Bloom *filter, uint64 *random)
{
	uint64		bits = BloomBits(filter);
	uint8	   *copy = copy_of(BloomBitData(filter), BloomBitBytes(filter));
	uint64		count = filter->count;

	for (int i = 0; i < TRIES; i++)
	{
		uint64		hash = next_random(random);
		bool		was_there = BloomTestBits(copy, bits, filter->hashes, hash);
		int			fresh = BloomSetBits(copy, bits, filter->hashes, hash);

		must(was_there == (fresh == 0));
		must(fresh <= filter->hashes);
		count += fresh;
		must(BloomTestBits(copy, bits, filter->hashes, hash));
	}
	must(count == (uint64) pg_popcount((const char *) copy, (int) BloomBitBytes(filter)));
	must(count == bits_set(copy, BloomBitBytes(filter)));

	free(copy);
}

/* Keys into bits, as a filter does that grows out of the keys form. */
static void
use_keys(const Bloom *filter)
{
	uint64		bits = BloomBits(filter);
	const uint64 *keys = BloomKeyData(filter);
	uint8	   *content;

	for (uint64 i = 0; i < filter->count; i++)
	{
		uint64		a = keys[i];

		for (int j = 0; j < filter->hashes; j++)
			must(BloomNextPosition(&a, bits) < bits);
	}
	if (BloomBitBytes(filter) > MAX_CONTENT || filter->words == 0)
		return;
	content = calloc(BloomBitBytes(filter), 1);
	for (uint64 i = 0; i < filter->count; i++)
		(void) BloomSetBits(content, bits, filter->hashes, keys[i]);
	for (uint64 i = 0; i < filter->count; i++)
		must(BloomTestBits(content, bits, filter->hashes, keys[i]));
	must(bits_set(content, BloomBitBytes(filter)) <= filter->count * filter->hashes);
	free(content);
}

static void
use_counters(const Bloom *filter, uint64 *random)
{
	uint64		bits = BloomBits(filter);
	size_t		size = BloomArrayBytes(filter);
	const uint8 *before = BloomBitData(filter);
	uint8	   *copy = copy_of(before, size);

	for (int i = 0; i < TRIES; i++)
	{
		uint64		hash = next_random(random);
		int			times = 1 + (int) (next_random(random) % BLOOM_MAX_COUNT);
		unsigned int smallest = BloomSmallestCounter(copy, bits, filter->hashes, hash);
		uint64		in_use = counters_in_use(copy, size);
		uint8	   *old = copy_of(copy, size);
		bool		full;

		must(BloomTestCounters(copy, bits, filter->hashes, hash) == (smallest > 0));
		BloomCountersChange(copy, bits, filter->hashes, hash, times, &in_use);
		must(in_use == counters_in_use(copy, size));
		must(BloomSmallestCounter(copy, bits, filter->hashes, hash) ==
			 Min(smallest + times, BLOOM_MAX_COUNT));

		/* what was added can be taken away, unless a counter is full */
		full = false;
		for (size_t j = 0; j < size * 2; j++)
			full |= BloomGetCounter(copy, j) == BLOOM_MAX_COUNT;
		BloomCountersChange(copy, bits, filter->hashes, hash, -times, &in_use);
		must(counters_in_use(copy, size) == in_use);
		must(full || memcmp(copy, old, size) == 0);
		free(old);
	}
	free(copy);
}

/* Sixteen counters at once against one by one. */
static void
use_words(uint64 a, uint64 b)
{
	uint64		sum = BloomCounterWordSum(a, b);
	unsigned int bits = BloomCountersToBits(a);
	int			in_use = 0;

	for (int i = 0; i < 64; i += 4)
	{
		unsigned int x = (a >> i) & 15;
		unsigned int y = (b >> i) & 15;

		in_use += x != 0;
		must(((bits >> (i / 4)) & 1) == (x != 0));
		must(((sum >> i) & 15) == BloomCountAfter(x, y));
	}
	must(in_use == BloomCounterWordUsed(a));
	must(bits >> 16 == 0);
}

/* ----------------------------------------------------------------
 *							THE FUZZER'S ENTRANCES
 * ----------------------------------------------------------------
 */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bloom	   *filter;
	Bloom	   *again;
	uint64		random;

	filter = malloc(size + BLOOM_VARLENA_SIZE);
	filter->vl_len_ = 0;
	memcpy((uint8 *) filter + BLOOM_VARLENA_SIZE, data, size);
	if (BloomTurnIntoFilter(filter, size + BLOOM_VARLENA_SIZE, size < 2 ?
							BLOOM_PLAIN : BloomKindOf(filter)) != NULL)
	{
		free(filter);
		return 0;
	}

	must(BloomSizeByHeader(filter) == size + BLOOM_VARLENA_SIZE);
	again = (Bloom *) copy_of(filter, size + BLOOM_VARLENA_SIZE);
	BloomTurnIntoBytes(again);
	must(memcmp((uint8 *) again + BLOOM_VARLENA_SIZE, data, size) == 0);
	free(again);

	check_header(filter);
	check_content(filter);

	random = XXH3_64bits(data, size);
	switch ((BloomRepresentation) filter->representation)
	{
		case BLOOM_BITS:
			use_bits(filter, &random);
			break;
		case BLOOM_COUNTERS:
			use_counters(filter, &random);
			for (uint64 i = 1; i < filter->words * UINT64CONST(4); i++)
				use_words(filter->data[filter->type_words + i - 1],
						  filter->data[filter->type_words + i]);
			break;
		default:
			use_keys(filter);
	}
	free(filter);
	return 0;
}

/* Make the numbers fit that depend on others, in some representation. */
static size_t
mend(uint8_t *data, size_t size, unsigned int choice)
{
	static const BloomRepresentation choices[] = {
		BLOOM_KEYS, BLOOM_BITS, BLOOM_COUNTED_KEYS, BLOOM_COUNTERS
	};
	Bloom		header;
	uint64	   *content;
	size_t		prefix;
	uint64		words;

	if (size < BLOOM_ENCODED_HEADER)
		return size;
	memcpy((uint8 *) &header + BLOOM_VARLENA_SIZE, data, BLOOM_ENCODED_HEADER);
	header.version = BLOOM_VERSION;
	if (choice % 8 < 4)
		header.representation = choices[choice % 8];
	prefix = BLOOM_ENCODED_HEADER + BloomTypeBytes(&header);
	if (size < prefix || header.type_words > BLOOM_MAX_TYPE_WORDS)
	{
		header.type_words = 0;
		prefix = BLOOM_ENCODED_HEADER;
	}
	size -= (size - prefix) % sizeof(uint64);
	words = (size - prefix) / sizeof(uint64);
	content = copy_of(data + prefix, size - prefix + 1);

	switch ((BloomRepresentation) header.representation)
	{
		case BLOOM_KEYS:
			/* ascending: each the sum of those before */
			for (uint64 i = 1; i < words; i++)
				content[i] = content[i - 1] + 1 + (content[i] >> 8);
			header.count = words;
			header.words = Max(header.words, words + 1);
			break;
		case BLOOM_COUNTED_KEYS:
			header.count = words * 16 / 17;
			words = header.count + BloomCountBytes(header.count) / sizeof(uint64);
			size = prefix + words * sizeof(uint64);
			for (uint64 i = 1; i < header.count; i++)
				content[i] = content[i - 1] + 1 + (content[i] >> 8);
			for (uint64 i = 0; i < (words - header.count) * 16; i++)
			{
				uint8	   *counts = (uint8 *) (content + header.count);

				if (i >= header.count)
					BloomPutCounter(counts, i, 0);
				else if (BloomGetCounter(counts, i) == 0)
					BloomPutCounter(counts, i, 1);
			}
			header.words = Max(header.words % (BLOOM_MAX_COUNTERS / 64), header.count + 1);
			break;
		case BLOOM_BITS:
			header.words = words;
			header.count = bits_set((uint8 *) content, words * 8);
			break;
		case BLOOM_COUNTERS:
			header.words = words / 4;
			size -= words % 4 * sizeof(uint64);
			header.count = counters_in_use((uint8 *) content, header.words * (size_t) 32);
			break;
		default:
			break;
	}
	header.hashes = header.hashes % (BLOOM_MAX_HASHES + 1);
	if (header.count == 0)
		header.key_type = 0;
	else if (header.type_words > 0)
	{
		const char *name = (const char *) data + BLOOM_ENCODED_HEADER;

		header.key_type = BloomNumberOfTypeName(name,
												strnlen(name, BloomTypeBytes(&header)));
	}
	else
		header.key_type = 1 + header.key_type % (BLOOM_MAX_BUILTIN_OID - 1);
	memcpy(data, (uint8 *) &header + BLOOM_VARLENA_SIZE, BLOOM_ENCODED_HEADER);
	memcpy(data + prefix, content, size - prefix);
	free(content);
	return size;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
						unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	return seed % 2 ? mend(data, size, seed / 2) : size;
}
