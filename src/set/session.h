/*-------------------------------------------------------------------------
 *
 * set/session.h
 *		What a session remembers of a set.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_SESSION_H
#define SET_SESSION_H

#include "storage/itemptr.h"
#include "utils/hsearch.h"
#include "utils/relcache.h"

#include "set/set.h"

/* Space that versions of rows have left, by adds of this session */
typedef struct StoredSetSpace
{
	HTAB	   *left;			/* pages, or NULL */
	TransactionId leaver;		/* the last transaction in which they did */
	HTAB	   *waiting;		/* pages that were left before */
	TransactionId waits_for;	/* others may see what was there before it */
	LocalTransactionId looked;	/* the last transaction that looked for these */
} StoredSetSpace;

typedef struct StoredSetKnown
{
	Oid			relid;			/* hash key */
	bool		is_valid;		/* nothing has changed since we looked */
	bool		is_complete;	/* we have looked */
	StoredSet	set;
	StoredSetSpace space;
} StoredSetKnown;

extern StoredSetKnown *StoredSetRecall(Relation rel);
extern void StoredSetNoteLeft(StoredSetKnown *known, ItemPointer tid);
extern void StoredSetReuseSpace(Relation rel, StoredSetKnown *known);

#endif							/* SET_SESSION_H */
