/*-------------------------------------------------------------------------
 *
 * bits/rounds.h
 *		Many keys tested together, so that they wait for memory together.
 *
 * A test of one key in a large filter is mostly waiting: for one cache line or
 * several, until a bit decides.  The next test could begin meanwhile, but the
 * processor does not see so far ahead.  A batch goes in rounds: the first
 * position of all keys is asked for, then looked at, and only the keys whose bit
 * is set go into the next round.  An absent key costs less than two lines in a
 * filter at capacity, and the lines of all keys are on their way at once.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_BATCH_H
#define BLOOM_BATCH_H

#include "bits/blocked.h"

/* The most keys of a batch: their numbers stay in the first-level cache */
#define BLOOM_BATCH			256

/*
 * The size in bytes from which on batches pay: about that of a second-level
 * cache.  A smaller filter answers faster key by key, 1.0 to 1.5 times.
 */
#define BLOOM_BATCH_PAYS	(512 * 1024)

extern int	BloomTestBatchPlaces(const uint8 *data, int width, uint64 bits,
								 int nhashes, const uint64 *hashes, int n,
								 uint16 *found);
extern int	BloomTestBatchList(const uint64 *keys, uint64 nkeys, uint64 *blocks,
							   uint64 nblocks, const BloomBlockedParams *params,
							   const uint64 *hashes, int n, uint16 *found);

#endif							/* BLOOM_BATCH_H */
