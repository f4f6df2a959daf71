/*-------------------------------------------------------------------------
 *
 * set/maintain.h
 *		Compacting a stored set.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_MAINTAIN_H
#define SET_MAINTAIN_H

#include "set/bucket.h"

extern int64 StoredSetCompact(StoredSetCall *call);

#endif							/* SET_MAINTAIN_H */
