/*-------------------------------------------------------------------------
 *
 * set/set.h
 *		Stored sets: keys in a table, exactly, by ranges of their hashes.
 *
 * What a set is, and why its answers are right, is in set/README.  This is
 * what others may call; set/store.h is for the files of this folder.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_SET_H
#define SET_SET_H

#include "access/genam.h"
#include "access/skey.h"
#include "commands/trigger.h"
#include "datatype/timestamp.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "args.h"
#include "key/hash.h"
#include "set/pack.h"
#include "set/params.h"

/* Hashes that a lane can have */
#define STORED_SET_LANE_KEYS		127

/* What errors call a set */
static const BloomHolder StoredSetHolder = {
	"Bloom set", "set",
	"bloom_set_contains_any, bloom_set_contains_all or bloom_set_add_all",
	"bloom_set_contains, bloom_set_add or bloom_set_remove"
};

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
	StoredSetParams params;
	StoredSetPacking packing;	/* by the parameters */
	BloomKeyType key_type;
} StoredSet;

/* A search for versions of rows: see set/table.c */
typedef struct StoredSetSearch
{
	IndexScanDesc scan;			/* NULL: there was none yet */
	ScanKeyData keys[4];		/* two, of which one has two parts */
	uint64		from;			/* the highest start */
	uint64		lowest;			/* the end of this scan of the index */
	uint64		end;			/* the end of the search */
	uint64		start;			/* of the entry of the index that was read
								 * last */
	int32		lane;
	bool		at_entry;		/* is there one? */
	bool		skip;			/* other versions of its row do not matter */
	bool		found;			/* a version of its row */
	int			nlost;			/* entries of its row without one */
	int			nlost_before;	/* in the search before, which lost all */
	bool		lost_range;		/* a row of a range had no version */
} StoredSetSearch;

/* An open set */
typedef struct StoredSetTable
{
	StoredSet	set;			/* a copy, which stays as it is */
	Relation	rel;
	Relation	index;
	bool		to_write;
	MemoryContext context;		/* of all this */
	TupleTableSlot *slot;		/* the row that was read last */
	StoredSetSearch visible;	/* what the active snapshot sees */
	StoredSetSearch versions;	/* what is there, or may come to be there */
	SnapshotData dirty;			/* with which these are found */
	uint64		width;			/* of the range that was read last, or 0 */

	/* of those that write */
	TupleTableSlot *output;
	bool		is_alone;		/* nothing else in the session has it open */
	BlockNumber noted;			/* page whose free space was looked at last */

	uint64		words[STORED_SET_LANE_KEYS + 1];	/* of the lane read last */
} StoredSetTable;

/* A key of a call */
typedef struct StoredSetKey
{
	uint64		hash;
	uint32		index;			/* in the call's array */
	TransactionId pending;		/* another that has it, too, and is open */
	uint8		answer;
	bool		is_held;		/* by this transaction */
} StoredSetKey;

/* A call that writes */
typedef struct StoredSetCall
{
	StoredSetTable table;
	StoredSetKey *keys;			/* in order of hashes, each once */
	uint64		nkeys;
	bool		claims;			/* writes what is seen, too */
	bool		never_waits;	/* writes what others may have written, too */
	bool		rewrites;		/* lists, be there new keys or not */
	int64		oldest;			/* slice that is live */
	int64		current;		/* to which keys are added */
	int64		droppable;		/* slices before this one can be forgotten */
	TransactionId *open;		/* other transactions that were seen open */
	int			nopen;
	uint64		nended;			/* of the server's, before these were seen */
	bool		has_gap;		/* a hash was beyond the end of its range */
} StoredSetCall;

/* A load of ascending hashes into an empty set (set/load.c) */
typedef struct StoredSetLoad
{
	StoredSetTable *table;
	int64		slice;
	StoredSetItem *items;		/* of the range that is being filled */
	int			nitems;
	uint64		start;			/* of that */
	bool		mark;
	uint64		nkeys;
	MemoryContext scratch;
} StoredSetLoad;

extern const char *StoredSetIdentify(Relation rel, StoredSet *set);
extern Oid	StoredSetMakeTable(const StoredSet *set, Oid schema,
							   const char *name, bool unlogged,
							   const char *comment);

extern void StoredSetOpen(StoredSetTable *table, Oid relid, bool to_write,
						  bool check_privileges);
extern void StoredSetClose(StoredSetTable *table);

extern void StoredSetOpenToWrite(StoredSetCall *call, Oid relid, TimestampTz at,
								 bool check_privileges);
extern void StoredSetAdd(StoredSetCall *call, const uint64 *hashes,
						 uint64 nhashes, uint8 *answers);

extern bool StoredSetIsEmpty(StoredSetTable *table);
extern TransactionId StoredSetMark(StoredSetCall *call);
extern bool StoredSetIsMarked(StoredSetTable *table);
extern void StoredSetBeginLoad(StoredSetLoad *load, StoredSetTable *table,
							   bool mark);
extern void StoredSetLoadHash(StoredSetLoad *load, uint64 hash);
extern uint64 StoredSetEndLoad(StoredSetLoad *load);
extern void StoredSetMakeRanges(StoredSetTable *table, uint64 nkeys);

extern Oid	StoredSetTriggerTable(Oid trigger, Oid table);

#endif							/* SET_SET_H */
