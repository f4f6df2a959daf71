/*-------------------------------------------------------------------------
 *
 * filter/io.h
 *		Input and output of filters of both types, as text and as bytes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_IO_H
#define BLOOM_IO_H

#include "filter/format.h"

extern Datum BloomFromText(FunctionCallInfo fcinfo, BloomKind kind);
extern Datum BloomFromBytes(Bloom *filter, BloomKind kind);
extern char *BloomToText(Datum datum);
extern bytea *BloomToBytea(Datum datum, bool copy);

#endif							/* BLOOM_IO_H */
