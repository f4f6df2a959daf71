/*-------------------------------------------------------------------------
 *
 * set/store.h
 *		Stored sets: what the files of this folder have in common.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_STORE_H
#define SET_STORE_H

#include "nodes/parsenodes.h"
#include "utils/timestamp.h"

#include "build.h"
#include "set/set.h"

/* The columns of a set's table */
#define STORED_SET_START	1
#define STORED_SET_SLICE	2
#define STORED_SET_LANE		3
#define STORED_SET_HASHES	4
#define STORED_SET_COLUMNS	4

/* With this fill factor, a page has place for the next version of a range */
#define STORED_SET_FILLFACTOR	86

/* A lock is for the hashes with these upper bits; no range crosses it */
#ifndef STORED_SET_STRIPE_BITS
#define STORED_SET_STRIPE_BITS	8
#endif
#define STORED_SET_STRIPES		(1 << STORED_SET_STRIPE_BITS)

/* Keys that a merge waits for; a lane with fewer committed ones takes more */
#ifndef STORED_SET_FEW_KEYS
#define STORED_SET_FEW_KEYS		19
#endif

/*
 * Bytes of a list: one that would be larger is split; if other transactions
 * prevent that, it goes on to the hard limit.
 */
#ifndef STORED_SET_LIST_BYTES
#define STORED_SET_LIST_BYTES	1100
#endif
#define STORED_SET_HARD_BYTES	6000

/* An array with place for one more element, or a first one, which doubles */
static inline void *
StoredSetMakePlace(void *array, int n, Size size)
{
	if (n == 0)
		return palloc(4 * size);
	return n < 4 || (n & (n - 1)) != 0 ? array : repalloc(array, 2 * n * size);
}

/* The first and the last hash of a stripe */
static inline uint64
StoredSetStripeStart(uint64 hash)
{
	return hash >> (64 - STORED_SET_STRIPE_BITS) << (64 - STORED_SET_STRIPE_BITS);
}

static inline uint64
StoredSetStripeEnd(uint64 hash)
{
	return StoredSetStripeStart(hash) |
		((UINT64CONST(1) << (64 - STORED_SET_STRIPE_BITS)) - 1);
}

/* ----------------------------------------------------------------
 *							ARGUMENTS OF SQL
 * ----------------------------------------------------------------
 */

/* The set, which is the first argument of all functions but bloom_sets */
static inline Oid
StoredSetArg(FunctionCallInfo fcinfo)
{
	BloomCheckNotNull(PG_ARGISNULL(0), "set");
	return PG_GETARG_OID(0);
}

/* A time, of this name, which must be finite */
static inline TimestampTz
StoredSetCheckTime(const char *name, Datum value, bool isnull)
{
	TimestampTz at = DatumGetTimestampTz(value);

	BloomCheckNotNull(isnull, name);
	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("%s must be finite", name)));
	return at;
}

static inline TimestampTz
StoredSetTimeArg(FunctionCallInfo fcinfo, int argno)
{
	return StoredSetCheckTime("at", PG_GETARG_DATUM(argno), PG_ARGISNULL(argno));
}

/* ----------------------------------------------------------------
 *							module.c
 * ----------------------------------------------------------------
 */

extern const BloomBuildRoutine *StoredSetBuild;

/* ----------------------------------------------------------------
 *							identity.c
 * ----------------------------------------------------------------
 */

extern char *StoredSetDefault(const StoredSet *set, Oid function);
extern Oid	StoredSetFunction(const char *name);
extern const char *StoredSetCure(Relation rel);
extern Datum StoredSetKeepInterval(const StoredSetParams *params);
extern int64 StoredSetSliceLength(const StoredSetParams *params);
extern int64 StoredSetSliceOf(const StoredSetParams *params, TimestampTz at);
extern int64 StoredSetOldestSlice(const StoredSetParams *params,
								  TimestampTz at);

/* ----------------------------------------------------------------
 *							session.c
 * ----------------------------------------------------------------
 */

extern void StoredSetRecall(StoredSetTable *table);
extern void StoredSetRemember(const StoredSetTable *table);

/* ----------------------------------------------------------------
 *							table.c
 * ----------------------------------------------------------------
 */

/* A row.  It is good until the next one is read. */
typedef struct StoredSetRow
{
	uint64		start;
	int32		lane;			/* 0: a range */
	int64		slice;			/* of the lane, or of age 0 in the list */
	StoredSetPack pack;			/* of a range */

	/* of a lane */
	const uint64 *hashes;
	int			nhashes;
	int			ncommitted;		/* by others than who wrote this version */
	int			room;			/* at least this many hashes find place */
} StoredSetRow;

/* Where a version of a row is.  All zeros: nowhere yet */
typedef struct StoredSetPlace
{
	ItemPointerData tid;
	bool		is_own;			/* this transaction wrote it */
	uint32		length;			/* 0: this transaction cannot overwrite it */
} StoredSetPlace;

/* A version of a row */
typedef struct StoredSetVersion
{
	StoredSetRow row;

	/* if it was found among all that are there */
	StoredSetPlace place;
	TransactionId creator;		/* another open transaction, or invalid */
	TransactionId holder;		/* another open one that has written the next
								 * version, or has locked it, or invalid */
	bool		is_visible;		/* own, or committed before the snapshot, if
								 * any */
	bool		is_latest;		/* none is written that could come to be valid */

	/* of a lane that a call keeps, to write it */
	uint64		highest;		/* hash */
	bool		has_changed;
} StoredSetVersion;

/* May this transaction write the next version? */
static inline bool
StoredSetIsFree(const StoredSetVersion *version)
{
	return version->is_visible && !TransactionIdIsValid(version->holder);
}

extern void StoredSetCheckPrivileges(const StoredSetTable *table, AclMode more);
extern void StoredSetCheckWhole(const StoredSetTable *table);
extern void StoredSetCheckWriter(StoredSetTable *table);
extern void StoredSetBeginWriting(StoredSetTable *table);
extern void StoredSetLock(StoredSetTable *table, uint64 hash);
extern void StoredSetUnlock(StoredSetTable *table, uint64 hash);
extern void StoredSetWaitFor(StoredSetTable *table, TransactionId other);

extern void StoredSetFind(StoredSetTable *table, StoredSetSearch *search,
						  uint64 from, uint64 lowest);
extern void StoredSetFindRange(StoredSetTable *table, StoredSetSearch *search,
							   uint64 hash, uint64 spacing);
extern bool StoredSetNext(StoredSetTable *table, StoredSetSearch *search,
						  StoredSetVersion *version);
extern StoredSetItem *StoredSetItemsOf(const StoredSetTable *table,
									   const StoredSetPack *pack);
extern StoredSetPack StoredSetCopyPack(const StoredSetPack *pack);
extern void StoredSetInvalidRow(const StoredSetTable *table, uint64 start,
								int32 lane, const char *wrong);

extern void StoredSetWriteRow(StoredSetTable *table, const StoredSetPlace *place,
							  const StoredSetRow *row,
							  const StoredSetItem *items, int nitems);
extern void StoredSetDeleteRow(StoredSetTable *table,
							   const StoredSetPlace *place);

/* ----------------------------------------------------------------
 *							range.c
 * ----------------------------------------------------------------
 */

/* A range, with the lanes of its hashes, as a call has read them */
typedef struct StoredSetRange
{
	StoredSetPack pack;			/* a copy of its list, with its start and end */
	StoredSetPlace place;		/* of its row; nowhere: it has none */
	TransactionId holder;		/* another that has its row open, or invalid */
	bool		is_visible;		/* its row */
	uint64	   *points;			/* lowest starts for lanes of new keys,
								 * descending */
	int			npoints;
	StoredSetVersion *lanes;	/* with hashes of their own */
	int			nlanes;
	int			nhashes;		/* of its list, and of its lanes in their
								 * latest versions */
	int			nmergeable;		/* committed hashes of lanes that are free */
	int			cell_bits;		/* lanes of new keys stand at cells of this
								 * size, or at points */
	StoredSetKey *keys;			/* of the call, in this range */
	uint64		nkeys;

	/* the new list, or NULL: the row stays as it is */
	StoredSetItem *items;
	int			nitems;
	int			nmoved;			/* from lanes, and not left out */
} StoredSetRange;

/* Is there anything to look for, or to write, of a key of a range that was read? */
static inline bool
StoredSetIsUndecided(const StoredSetCall *call, const StoredSetKey *key)
{
	return key->answer == STORED_SET_UNKNOWN || (call->claims && !key->is_held);
}

extern void StoredSetBeginPicture(StoredSetCall *call, StoredSetKey *keys,
								  uint64 nkeys);
extern bool StoredSetHasOnePicture(const StoredSetCall *call,
								   const StoredSetRange *range);
extern uint64 StoredSetReadRange(StoredSetCall *call, StoredSetRange *range,
								 StoredSetKey *keys, uint64 nkeys, uint64 from);
extern void StoredSetPlanRange(StoredSetCall *call, StoredSetRange *range,
							   int least);
extern void StoredSetWriteRange(StoredSetCall *call, StoredSetRange *range);
extern TransactionId StoredSetTakeHash(StoredSetCall *call,
									   StoredSetRange *range, uint64 hash);
extern TransactionId StoredSetTakeMark(StoredSetCall *call,
									   StoredSetRange *range, uint64 hash);

/* ----------------------------------------------------------------
 *							add.c
 * ----------------------------------------------------------------
 */

extern bool StoredSetRemove(StoredSetCall *call, uint64 hash);
extern int64 StoredSetCompact(StoredSetCall *call);

/* ----------------------------------------------------------------
 *							probe.c
 * ----------------------------------------------------------------
 */

/* What a statement has read of sets */
typedef struct StoredSetCache StoredSetCache;

/* A test of one key or more */
typedef struct StoredSetTest
{
	uint64		seed;			/* with which keys are to be hashed */
	BloomKeyType key_type;
	StoredSetTable *table;		/* open if rel is not NULL */
	StoredSetCache *cache;
	struct StoredSetCached *cached; /* of this set */
	uint64		nemptied;		/* how often the cache was emptied before */
	uint64		spacing;		/* of the hashes that are tested, on average */
} StoredSetTest;

extern void StoredSetStartTest(StoredSetTest *test, StoredSetTable *table,
							   StoredSetCache **cache, MemoryContext statement,
							   Oid relid, TimestampTz at);
extern void StoredSetFinishTest(StoredSetTest *test);
extern bool StoredSetTestKey(StoredSetTest *test, uint64 hash);
extern void StoredSetTestKeys(StoredSetTest *test, const uint64 *hashes,
							  uint64 nhashes, uint8 *answers);
extern void StoredSetTestBeforeAdd(StoredSetTable *table, int64 oldest,
								   const uint64 *hashes, uint64 nhashes,
								   uint8 *answers);
extern Datum StoredSetKeysWithAnswer(BloomArrayKeys *array, const uint8 *answers,
									 StoredSetAnswer answer);

#endif							/* SET_STORE_H */
