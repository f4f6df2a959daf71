/*-------------------------------------------------------------------------
 *
 * set/set.h
 *		Stored sets: keys in a table, cut by hash into many small filters.
 *
 * Words
 * -----
 *
 *	bucket		the keys whose hashes are in one range; it has rows of its own
 *	slice		a range of time; -infinity in a set that keeps its keys forever
 *	generation	of a set that grows: the next has twice as many buckets, each
 *				for half of the keys of one before
 *	lane		a row of hashes, exactly: keys that are not in a filter yet
 *	version		of a row: what an insert or update has written of it
 *	open		in progress, said of a transaction
 *	admitted	that the search for versions finds (set/rows.c)
 *	free		said of a version: this transaction may write the next one
 *	closed		said of a bucket: further keys go to the next generation
 *
 * The table
 * ---------
 *
 *		bucket	lane	slice	filter	room
 *		0..		0		..		keys	zeros
 *		0..		< 0		..		NULL	a lane: hashes of keys
 *
 * The filter of a bucket has keys whose transactions had committed when it was
 * written.  Lanes have the others, up to 127 each.  With time slices, each slice
 * of a bucket has its own rows.  Rows are made when they are needed; to truncate
 * the table is to empty the set.
 *
 * Beside a filter, "room" has as many zero bytes as the filter in keys form
 * lacks in size until it has turned into bits.  So no filter's row grows.  Nor
 * is a row so large that TOAST would look at it, but for a key type whose name
 * has more than some 900 bytes; such filters are read from TOAST.
 *
 * The files
 * ---------
 *
 *		size.c		arithmetic, without a server
 *		identity.c	is a table a set, and which?
 *		session.c	what a session remembers of a set
 *		rows.c		open a set, lock, find versions of rows, write them
 *		test.c		test keys
 *		bucket.c	a bucket for those that write: read it, merge, write lanes
 *		add.c		add keys
 *		maintain.c	compact
 *		sql.c		what SQL calls
 *
 * Each uses those above it, and none below.
 *
 * What a version says
 * -------------------
 *
 * An add reads all versions that are there or may come to be there: those that a
 * committed transaction or its own has created and none of these has replaced,
 * and all that another open transaction has created.  What such a version says
 * depends on its creator alone, never on who has updated or locked it:
 *
 *	- Committed, or this transaction: its keys are seen.
 *	- Another open transaction: the hashes of a lane that were committed when it
 *	  was written are seen; the others are pending.  A filter says nothing.
 *	- A bucket that any version closes may have keys in the next generation.
 *
 * Who updates or locks a version decides only whether it is admitted, whether it
 * may be written, and where the search goes on.  For the updater can be rolled
 * back alone, in a subtransaction, while its transaction stays open.
 *
 * Adding
 * ------
 *
 * A call takes the lock of a bucket (of the first generation, with 7 beside it,
 * for all below them and all slices), reads its versions, writes, goes on with
 * the next bucket for which it has keys and the lock, and releases that:
 *
 *	- A key that is seen is not new.
 *	- If a key is pending, the call writes nothing more, releases the lock, waits
 *	  for that transaction, and reads the bucket again.
 *	- Otherwise the key is new, and is appended to a lane that is free.  If all
 *	  are held, there will be one more.
 *	- Before that, if the lanes that are free have 19 committed keys or more, and
 *	  the filter is free, they are merged into it.  Lanes that are empty then
 *	  go, but for the one to which the new key is appended.
 *
 * Why no key is denied
 * --------------------
 *
 * The committed and own keys of a bucket are in the newest versions of its rows.
 * A transaction that merges keys writes the filter and the lanes together, so
 * both or neither become valid; while it is open, the versions that it has
 * replaced are read by others, and read again if it has ended meanwhile.  Keys of
 * an open transaction are never merged, so a filter never shows a key that is
 * rolled back; and since a filter of an open transaction says nothing, no key is
 * taken for seen by what can be rolled back.  Keys move only from lanes to the
 * filter, which is read before them.
 *
 * Why at most one is told that a key is new
 * -----------------------------------------
 *
 * Two calls that add a key lock the same bucket.  The second reads what the
 * first has written, in whichever slice, lane or generation, and finds the key
 * seen or pending.  That is all that it looks at: not its snapshot, clock, or the
 * order of commits.  A key that is neither is in nobody's rows.
 *
 * Why nobody waits otherwise
 * --------------------------
 *
 * Only pending keys are waited for, and those are compared by hash.  The lock of
 * buckets is held for a moment, and only one at a time.
 *
 * Isolation
 * ---------
 *
 * READ COMMITTED needs no snapshot to add.  A transaction that keeps its snapshot
 * tests with that first, which also records what it has read, for SERIALIZABLE; a
 * key that only the second look finds is 40001.  To such a transaction, rows that
 * its snapshot does not see are not free, so it overwrites nothing that it has
 * not seen, as the server's own rules demand.  Nor do they close a bucket for it:
 * it writes a row that does, by which its own tests find its keys.
 *
 * SERIALIZABLE holds if all that add are serializable, as the server's manual asks
 * for.  A conflict with an add is found by the versions that it has written, and
 * not if a transaction that is not serializable has replaced these in between.
 *
 * Savepoints, rollback, two-phase commit, crashes, standbys and replicas need
 * nothing of ours: all state is in versions of rows.
 *
 * Overwriting
 * -----------
 *
 * Each add of a transaction would leave a version of a lane, which nobody can
 * remove before the transaction ends.  So a later add of the same subtransaction
 * overwrites the version, if what it writes holds every hash of it: a hash is
 * appended, or the bucket closed.  Others see the version when the transaction
 * has committed, and then both.  A cursor of this transaction, opened in between,
 * can see a key that was added after it, and no other difference.  A merge, which
 * takes hashes out of a lane, writes a new version: that cursor does not see the
 * filter to which they went.
 * To overwrite is a write of the command like any other, so that what an
 * expression keeps from one command is not used in the next (set/test.c).
 *
 * Growth
 * ------
 *
 * A bucket is closed when half of the bits of its filter are set; or when a
 * transaction has so many keys for it that these would be, if they were merged:
 * then it marks its lane as closed, and adds further keys to the next
 * generation.  Tests look there if a row that they see is closed; adds also if
 * one is that they do not see yet.
 *
 * Expiry
 * ------
 *
 * Slices before the oldest live one are not read.  Who writes the first row of a
 * slice of a bucket deletes what is older, in this bucket and those below it, as
 * far as it is free; bloom_set_compact deletes all that is.  A time that is ahead
 * of the clock by more than a slice is an error, and what the clock says must
 * still be remembered is not deleted by any time.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_SET_H
#define SET_SET_H

#include "filter/format.h"
#include "key/hash.h"
#include "set/size.h"

/* The columns of a set's table */
#define STORED_SET_BUCKET	1
#define STORED_SET_LANE		2
#define STORED_SET_SLICE	3
#define STORED_SET_FILTER	4
#define STORED_SET_ROOM		5
#define STORED_SET_COLUMNS	5

/* Keys that a lane can have, and keys of which one is short; lane 0 is the filter */
#define STORED_SET_LANE_KEYS	127
#define STORED_SET_FEW_KEYS		19

/* A lock is for this many buckets side by side, as a power of two */
#define STORED_SET_LOCK_SHIFT	3

/* Mixes a key's hash for its bucket; frozen, since stored sets depend on it */
#define STORED_SET_PLACE_SEED	UINT64CONST(0x73686172642d6f66)

/* What a call says of a key */
typedef enum StoredSetAnswer
{
	STORED_SET_UNKNOWN,			/* not found so far */
	STORED_SET_SEEN,			/* found */
	STORED_SET_FRESH			/* added */
} StoredSetAnswer;

/* A set, by the definition of its table */
typedef struct StoredSet
{
	Oid			relid;
	Oid			index;			/* its primary key */
	bool		has_copies;		/* of that, by REINDEX CONCURRENTLY */
	StoredSetParams params;
	BloomKeyType key_type;
} StoredSet;

/* The place of the key with this hash, which determines its buckets. */
static inline uint64
StoredSetPlaceOf(uint64 hash)
{
	return BloomHashInt64((int64) hash, STORED_SET_PLACE_SEED);
}

#endif							/* SET_SET_H */
