/*-------------------------------------------------------------------------
 *
 * whole.h
 *		Whole filters, for other libraries.
 *
 * bloomtype.so puts the address of a BloomWholeRoutine into the rendezvous
 * variable BLOOM_WHOLE_ROUTINE when it is loaded.  A library that makes filters
 * of what it has, such as bloomtype_set, finds it there, and needs to know nothing
 * of what a filter is but bits/layout.h.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_WHOLE_H
#define BLOOM_WHOLE_H

#include "fmgr.h"

#include "bits/layout.h"

#define BLOOM_WHOLE_ROUTINE			"bloomtype filters"
#define BLOOM_WHOLE_ROUTINE_VERSION	1

typedef struct BloomWholeRoutine
{
	int			version;

	/*
	 * the input functions of bloom and counting_bloom, by which these are
	 * known
	 */
	PGFunction	input;
	PGFunction	counting_input;

	/* the text of an empty filter that says no more than what its keys are */
	char	   *(*text_of_key_type) (const BloomKeyType *key_type);

	/* the key type of a filter; an error, if it is none */
	BloomKeyType (*key_type_of) (Datum filter);

	/* an empty filter, of keys or of bits */
	Bloom	   *(*make) (double capacity, double fp_prob, int64 seed,
						 const BloomKeyType *key_type, bool as_bits);

	/*
	 * The filter with distinct hashes, which ascend, and are below those of
	 * the calls before.  NULL: they are too many for a filter of keys, which
	 * is freed.
	 */
	Bloom	   *(*add) (Bloom *filter, const uint64 *hashes, uint64 nhashes);

	/* the filter as a value; a WARNING, if it has more keys than its capacity */
	Datum		(*finish) (Bloom *filter);
} BloomWholeRoutine;

#endif							/* BLOOM_WHOLE_H */
