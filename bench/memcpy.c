/*
 * memcpy.c
 *		The bandwidth of memcpy, in GB/s, for bytes read and bytes written.
 *
 * It copies 128 blocks of 1 MiB to one, which stays in the cache: what a
 * union of many filters does with memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK	((size_t) 1 << 20)
#define NBLOCKS 128
#define ROUNDS	10

int
main(void)
{
	char	   *from = malloc(BLOCK * NBLOCKS);
	char	   *to = malloc(BLOCK);
	volatile char sink;
	clock_t		began;
	double		seconds;

	if (from == NULL || to == NULL)
		return 1;
	memset(from, 1, BLOCK * NBLOCKS);
	memset(to, 2, BLOCK);

	began = clock();
	for (int round = 0; round < ROUNDS; round++)
	{
		for (int i = 0; i < NBLOCKS; i++)
		{
			memcpy(to, from + i * BLOCK, BLOCK);
			sink = to[round];
		}
	}
	seconds = (double) (clock() - began) / CLOCKS_PER_SEC;
	(void) sink;
	printf("%.3f\n", 2.0 * BLOCK * NBLOCKS * ROUNDS / seconds / 1e9);
	return 0;
}
