/*-------------------------------------------------------------------------
 *
 * set/params.h
 *		The parameters of a set, and the text of them.
 *
 * The text is the only argument of the default of a set's column "hashes":
 *
 *		1 keep=0 seed=7 kept_bits=64 key_type=enum%20mood
 *
 * - The number of the format, and then every parameter once, in this order, each
 *	 behind one blank.
 * - Numbers are decimal, without zeros in front; only a seed can be negative.
 * - The key type has its name of docs/format.md, built-in ones too ("int8").  It is
 *	 in UTF-8, of which each byte that is not a printable character of ASCII, or is
 *	 one of blank % ' \, stands as % and two digits, 0 to f.  So the text is the same
 *	 in every encoding, and needs no quoting.
 *
 * One set of parameters has one text.  A later version can add a format, or
 * parameters.
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_PARAMS_H
#define SET_PARAMS_H

#include "datatype/timestamp.h"

#include "bits/layout.h"

/* Bits of a hash that lists can keep */
#define STORED_SET_ALL_BITS			64
#ifndef STORED_SET_MIN_BITS
#define STORED_SET_MIN_BITS			32
#endif

/* Times that are kept are cut into this many slices, and some more are live */
#define STORED_SET_SLICES			62
#define STORED_SET_MAX_KEEP			(INT64CONST(1000) * 365 * USECS_PER_DAY)

typedef struct StoredSetParams
{
	int64		keep;			/* microseconds; 0: forever */
	int64		seed;
	int32		kept_bits;		/* of a hash, in lists */
} StoredSetParams;

/* The name of a key type, and the text of all, with a zero at the end of each */
#define STORED_SET_TYPE_NAME_SIZE	(BLOOM_MAX_TYPE_WORDS * 8 + 1)
#define STORED_SET_PARAMS_SIZE		(3 * STORED_SET_TYPE_NAME_SIZE + 128)

extern void StoredSetWriteParams(const StoredSetParams *params,
								 const char *type_name, char *text);
extern const char *StoredSetReadParams(const char *text, size_t len,
									   StoredSetParams *params,
									   char *type_name);

#endif							/* SET_PARAMS_H */
