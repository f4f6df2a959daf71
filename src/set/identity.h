/*-------------------------------------------------------------------------
 *
 * set/identity.h
 *		Is a table a set, and which?
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_IDENTITY_H
#define SET_IDENTITY_H

#include "utils/relcache.h"

#include "set/set.h"

/* With this fill factor, a page has place for one more filter */
#define STORED_SET_FILLFACTOR	86

extern char *StoredSetDefault(const StoredSet *set, const char *schema);
extern const char *StoredSetIdentify(Relation rel, StoredSet *set);

#endif							/* SET_IDENTITY_H */
