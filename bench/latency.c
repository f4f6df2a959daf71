/*
 * latency.c
 *		How long a read at a random place of the memory takes, in ns.
 *
 *			latency MEGABYTES READS
 *
 * So many reads are under way together, and the next ones wait for all of
 * them, as a test of a key does whose answer decides what comes next.  This
 * is the least that a test of a filter of that size can take above what the
 * executor does.  Huge pages are asked for, as for a filter.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TESTS	2000000
#define PAGE	((size_t) 2 << 20)

int
main(int argc, char **argv)
{
	size_t		size = argc == 3 ? (size_t) atoi(argv[1]) << 20 : 0;
	int			reads = argc == 3 ? atoi(argv[2]) : 0;
	unsigned char *bytes;
	uint64_t	a = 42;
	unsigned int last = 0;
	volatile unsigned int sink;
	clock_t		began;

	if (size == 0 || reads < 1 ||
		(bytes = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE)) == NULL)
		return 1;
#ifdef MADV_HUGEPAGE
	(void) madvise(bytes, size, MADV_HUGEPAGE);
#endif
	/* not one value, or the compiler knows what it reads */
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char) (i >> 6);

	began = clock();
	for (int i = 0; i < TESTS; i++)
	{
		unsigned int all = 0;

		a += last;
		for (int j = 0; j < reads; j++)
		{
			a = a * UINT64_C(0xd1342543de82ef95) + UINT64_C(0x2545F4914F6CDD1D);
			all += bytes[(size_t) (((unsigned __int128) a * size) >> 64)];
		}
		last = all & 1;
	}
	sink = last;
	printf("%.0f\n", (double) (clock() - began) / CLOCKS_PER_SEC / TESTS * 1e9);
	return sink > 1;
}
