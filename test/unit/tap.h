/*-------------------------------------------------------------------------
 *
 * tap.h
 *		The little that a C program needs to print the Test Anything Protocol,
 *		and a seeded generator of numbers.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TAP_H
#define TAP_H

#include "c.h"

/* c.h has its own, which we do not link */
#undef printf
#undef qsort

/* bits/bits.h has another multiplication for compilers without this type */
#ifdef WITHOUT_INT128
#undef HAVE_INT128
#endif

static int	tests_run = 0;
static int	tests_failed = 0;

static inline void
ok(bool passed, const char *name)
{
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tests_run, name);
	tests_failed += !passed;
}

static inline int
done_testing(void)
{
	printf("1..%d\n", tests_run);
	return tests_failed > 0;
}

/* splitmix64 (G. Steele et al., OOPSLA 2014) */
static inline uint64
next_random(uint64 *state)
{
	uint64		z = (*state += UINT64CONST(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif							/* TAP_H */
