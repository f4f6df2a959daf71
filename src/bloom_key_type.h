/*-------------------------------------------------------------------------
 *
 * bloom_key_type.h
 *		Key types in messages.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_KEY_TYPE_H
#define BLOOM_KEY_TYPE_H

#include "bloom_layout.h"

extern char *BloomNameForPeople(const char *name);
extern char *BloomKeyTypeName(const BloomKeyType *key_type);
extern void BloomKeyTypeMismatch(const BloomKeyType *has,
								 const BloomKeyType *key_type);

#endif							/* BLOOM_KEY_TYPE_H */
