/*-------------------------------------------------------------------------
 *
 * bits/interrupts.h
 *		A look for a cancel request in a loop that can be long.
 *
 * A look is cheap, but not nothing: loops take one once in so many steps, of
 * which none takes more than about a hundred nanoseconds.
 *
 * Outside of a server, nobody cancels: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_INTERRUPTS_H
#define BLOOM_INTERRUPTS_H

#ifdef FRONTEND
#define CHECK_FOR_INTERRUPTS()	((void) 0)
#else
#include "miscadmin.h"
#endif

/* How many steps of a loop are taken between two looks: a power of two */
#define BLOOM_STEPS_PER_CHECK	UINT64CONST(262144)

/* The look of step i, counted from 0 */
#define BloomCheckInterrupts(i) \
	do { \
		if (((i) & (BLOOM_STEPS_PER_CHECK - 1)) == 0) \
			CHECK_FOR_INTERRUPTS(); \
	} while (0)

#endif							/* BLOOM_INTERRUPTS_H */
