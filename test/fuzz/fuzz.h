/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *		What the fuzz targets share.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "c.h"

/* c.h has its own, which we do not link */
#undef printf
#undef fprintf

/* A finding, which the fuzzer keeps. */
#define must(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* splitmix64 (G. Steele et al., OOPSLA 2014) */
static inline uint64
next_random(uint64 *state)
{
	uint64		z = (*state += UINT64CONST(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif							/* FUZZ_H */
