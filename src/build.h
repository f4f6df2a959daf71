/*-------------------------------------------------------------------------
 *
 * build.h
 *		Filters of hashes, for other libraries.
 *
 * bloomtype.so puts the address of a BloomBuildRoutine into the rendezvous
 * variable BLOOM_BUILD_ROUTINE when it is loaded.  A library that hashes keys
 * itself, as bloomtype_set does, finds it there, and needs to know nothing else
 * of filters.
 *
 *		filter = routine->begin(capacity, fp_prob, seed, &key_type, false);
 *		filter = routine->add(filter, hashes, nhashes);		(any number of times)
 *		PG_RETURN_DATUM(routine->end(filter));
 *
 * Libraries of two releases work together if both numbers are the same: that of
 * this file, and that of key/hash.h, since a filter must be asked for a key by
 * the hash that it was added with.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_BUILD_H
#define BLOOM_BUILD_H

#include "fmgr.h"

#include "bits/layout.h"

#define BLOOM_BUILD_ROUTINE		"bloomtype builds"

/* Changes with what follows, and with BloomKeyType */
#define BLOOM_BUILD_INTERFACE	1

typedef struct BloomBuildRoutine
{
	/* these two stay where they are, whatever the interface */
	int			interface;		/* BLOOM_BUILD_INTERFACE */
	int			hashing;		/* BLOOM_HASHING */

	/* an empty filter, of keys or of bits; an error, if no filter can be so */
	Bloom	   *(*begin) (double capacity, double fp_prob, int64 seed,
						  const BloomKeyType *key_type, bool as_bits);

	/*
	 * The filter with these hashes, too, which ascend, are distinct, and are
	 * below those of the calls before.  NULL: they are too many for a filter
	 * of keys, which is freed.
	 */
	Bloom	   *(*add) (Bloom *filter, const uint64 *hashes, uint64 nhashes);

	/* the filter as a value; a WARNING, if it has more keys than its capacity */
	Datum		(*end) (Bloom *filter);
} BloomBuildRoutine;

#endif							/* BLOOM_BUILD_H */
