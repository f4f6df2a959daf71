/*-------------------------------------------------------------------------
 *
 * set/add.h
 *		Adding keys to a stored set.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_ADD_H
#define SET_ADD_H

#include "set/bucket.h"

extern void StoredSetOpenToWrite(StoredSetCall *call, Oid relid,
								 TimestampTz at);
extern void StoredSetAdd(StoredSetCall *call, const uint64 *hashes,
						 uint64 nhashes, bool *warned);

#endif							/* SET_ADD_H */
