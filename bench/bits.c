/*
 * bench/bits.c
 *		What it takes to set the bits of keys, without a server around it.
 *
 *		cc -O2 -DFRONTEND -I$(pg_config --includedir-server) -Isrc \
 *			bench/bits.c -o /tmp/bits && /tmp/bits
 *
 * Prints nanoseconds of processor time a key, in batches of 64 distinct keys,
 * as an aggregate sets them; the best of ten rounds.
 */
#include "c.h"

#include <time.h>

#include "bits/bits.h"

#undef printf
#include <stdio.h>

#define BATCH	64
#define BATCHES	4000
#define HASHES	5

static double
Now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

/* A call, as in the server, so that the compiler cannot look through it. */
static pg_noinline void
SetBatch(uint8 *data, uint64 bits, const uint64 *keys)
{
	for (int i = 0; i < BATCH; i++)
		(void) BloomSetBits(data, bits, HASHES, keys[i]);
}

int
main(void)
{
	static const uint64 sizes[] = {100000, 10000000, 100000000};

	for (int s = 0; s < (int) lengthof(sizes); s++)
	{
		uint8	   *data = calloc(sizes[s] / 8 + 1, 1);
		uint64		key = 42;
		double		best = 0;

		for (int round = 0; round < 10; round++)
		{
			double		spent = 0;

			for (int b = 0; b < BATCHES; b++)
			{
				uint64		keys[BATCH];
				double		start;

				for (int i = 0; i < BATCH; i++)
				{
					key = key * UINT64CONST(6364136223846793005) + 1442695040888963407;
					keys[i] = key ^ (key >> 29);
				}
				start = Now();
				SetBatch(data, sizes[s], keys);
				spent += Now() - start;
			}
			if (round == 0 || spent < best)
				best = spent;
		}
		printf("%10.3f MB, %d hashes: %6.1f ns a key\n",
			   sizes[s] / 8e6, HASHES, best / BATCHES / BATCH);
		free(data);
	}
	return 0;
}
