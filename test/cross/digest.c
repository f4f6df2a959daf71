/*-------------------------------------------------------------------------
 *
 * digest.c
 *		What floor 0 makes of some bytes, as text that is the same everywhere.
 *
 * Reads the files that are named, as filters' bytes from outside.  For each it
 * prints what the decoder says, and a hash of all that follows from a filter
 * that was accepted: its bytes again, its bits or counters after some keys
 * were added, which of others are in it.  scripts/other-machines compares what
 * machines of other word sizes and byte orders print.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bits/layout.h"
#include "bits/sizing.h"
#include "bits/counters.h"
#include "mb/pg_wchar.h"

#ifdef CROSS
/* the server's library is there for this machine only */
int
pg_utf_mblen(const unsigned char *s)
{
	return (*s & 0x80) == 0 ? 1 : (*s & 0xe0) == 0xc0 ? 2 :
		(*s & 0xf0) == 0xe0 ? 3 : (*s & 0xf8) == 0xf0 ? 4 : 1;
}

bool
pg_utf8_islegal(const unsigned char *s, int len)
{
	for (int i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	switch (len)
	{
		case 1:
			return s[0] < 0x80;
		case 2:
			return s[0] >= 0xc2;
		case 3:
			return (s[0] != 0xe0 || s[1] >= 0xa0) && (s[0] != 0xed || s[1] < 0xa0);
		case 4:
			return s[0] <= 0xf4 && (s[0] != 0xf0 || s[1] >= 0x90) &&
				(s[0] != 0xf4 || s[1] < 0x90);
		default:
			return false;
	}
}
#endif

static uint64
digest(const void *bytes, size_t len, uint64 before)
{
	return XXH3_64bits_withSeed(bytes, len, before);
}

/* As digest, of a number in no byte order. */
static uint64
digest_number(uint64 number, uint64 before)
{
	uint8		bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8) (number >> (8 * i));
	return digest(bytes, sizeof(bytes), before);
}

static uint64
digest_filter(Bloom *filter, size_t len)
{
	uint64		random = filter->seed;
	Bloom	   *again = malloc(len + BLOOM_VARLENA_SIZE);
	uint64		sum;

	memcpy(again, filter, len + BLOOM_VARLENA_SIZE);
	BloomTurnIntoBytes(again);
	sum = digest((uint8 *) again + BLOOM_VARLENA_SIZE, len, 0);
	free(again);

	if (filter->words > 0)
		sum = digest_number((uint64) BloomEstimateKeys(BloomBits(filter), filter->hashes,
													   Min(filter->count, BloomBits(filter) - 1)), sum);
	for (int i = 0; i < 20; i++)
	{
		uint64		hash = next_random(&random);
		uint64		a = hash;

		for (int j = 0; j < filter->hashes; j++)
			sum = digest_number(BloomNextPosition(&a, BloomBits(filter)), sum);
		if (BloomIsKeys(filter))
			continue;
		if (BloomIsCounting(filter))
		{
			uint64		before = filter->count;

			sum = digest_number(BloomTestCounters(BloomBitData(filter), BloomBits(filter),
												  filter->hashes, hash), sum);
			BloomCountersChange(BloomBitData(filter), BloomBits(filter),
								filter->hashes, hash, 1 + i % 3, &filter->count);
			sum = digest_number(filter->count - before, sum);
		}
		else
		{
			sum = digest_number(BloomTestBits(BloomBitData(filter), BloomBits(filter),
											  filter->hashes, hash), sum);
			sum = digest_number(BloomSetBits(BloomBitData(filter), BloomBits(filter),
											 filter->hashes, hash), sum);
		}
	}
	if (!BloomIsKeys(filter))
		sum = digest(BloomBitData(filter), len - BLOOM_ENCODED_HEADER - BloomTypeBytes(filter), sum);
	return sum;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		static uint8 bytes[100000];
		const char *name = strrchr(argv[i], '/');
		FILE	   *file = fopen(argv[i], "rb");
		Bloom	   *filter;
		size_t		len;
		const char *wrong;

		if (file == NULL)
			return 1;
		len = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		filter = calloc(len + BLOOM_VARLENA_SIZE, 1);
		memcpy((uint8 *) filter + BLOOM_VARLENA_SIZE, bytes, len);
		wrong = BloomTurnIntoFilter(filter, len + BLOOM_VARLENA_SIZE, len < 2 ?
									BLOOM_PLAIN : BloomKindOf(filter));
		if (wrong == NULL)
			printf("%s %016llx\n", name, (unsigned long long) digest_filter(filter, len));
		else
			printf("%s %s\n", name, wrong);
		free(filter);
	}

	/* sizes, which become part of filters */
	for (double fp_prob = 0.99; fp_prob > 5e-14; fp_prob *= 0.93)
	{
		BloomParams params;

		if (BloomBestParams(fp_prob, &params))
			printf("%.3g: %d %d %llu %llu\n", fp_prob, params.bits_per_key, params.hashes,
				   (unsigned long long) BloomBitsForCapacity(1234567, params.bits_per_key),
				   (unsigned long long) BloomCapacityOfBits(UINT64CONST(1) << 30, params.hashes, fp_prob));
	}
	return 0;
}
