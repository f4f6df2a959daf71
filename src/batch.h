/*-------------------------------------------------------------------------
 *
 * batch.h
 *		Tests of many keys at once, for other libraries.
 *
 * bloomtype.so puts the address of a BloomBatchRoutine into the rendezvous
 * variable BLOOM_BATCH_ROUTINE when it is loaded.  Libraries that test the keys of
 * filter @> key in batches, such as bloomtype_scan, use this table and nothing else
 * of the type.  A library that knows another interface leaves the tests to the
 * operator.
 *
 *		routine = *find_rendezvous_variable(BLOOM_BATCH_ROUTINE);
 *		batch = routine->begin(context, type, collation, filter_is_constant);
 *		if (batch != NULL && routine->open(batch, filter))
 *			nfound = routine->test(batch, keys, nkeys, found);
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_BATCH_ROUTINE_H
#define BLOOM_BATCH_ROUTINE_H

#include "fmgr.h"

#define BLOOM_BATCH_ROUTINE		"bloomtype batches"

/* Changes with what follows */
#define BLOOM_BATCH_INTERFACE	1

typedef struct BloomBatchRoutine
{
	/* stays where it is, whatever the interface */
	int			interface;		/* BLOOM_BATCH_INTERFACE */

	/* the functions that @> and <@ call, as fmgr_info finds them */
	PGFunction	contains;		/* (filter, key) */
	PGFunction	contained;		/* (key, filter) */

	/*
	 * Tests of keys of this type, under this collation, in a statement whose
	 * memory this is (es_query_cxt).  NULL: such keys are hashed by functions
	 * that are not ours, or some could be an error, or they are no keys at
	 * all: the operator has to do it, or to say so.  There is no error.
	 */
	void	   *(*begin) (MemoryContext context, Oid type, Oid collation,
						  bool filter_is_constant);

	/*
	 * Is this filter, which is not null, at hand as a whole, and of that key
	 * type?  It reads nothing, and there is no error: where it is false, the
	 * operator reads, or says what is wrong.  Asked before each test.
	 */
	bool		(*open) (void *batch, Datum filter);

	/*
	 * The numbers of the keys that the filter possibly holds, ascending, and
	 * how many they are.  Keys may be in a packed form, or compressed or
	 * stored elsewhere: the current memory context is to be reset afterwards.
	 */
	int			(*test) (void *batch, const Datum *keys, int nkeys,
						 uint16 *found);
} BloomBatchRoutine;

#endif							/* BLOOM_BATCH_ROUTINE_H */
