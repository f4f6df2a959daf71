/*-------------------------------------------------------------------------
 *
 * unique/unique.h
 *		Keys that are unique across the partitions of a table.
 *
 * What this is, and why its answers are right, is in set/unique/README.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_UNIQUE_H
#define BLOOM_UNIQUE_H

#include "access/tableam.h"
#include "access/tupdesc.h"
#include "commands/trigger.h"
#include "utils/hsearch.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "key/hash.h"
#include "set/set.h"

/* Bits of a hash that the lists of the set keep: the table is asked, too */
#ifndef BLOOM_UNIQUE_KEPT_BITS
#define BLOOM_UNIQUE_KEPT_BITS	40
#endif

/* Keys that are claimed at once, and their bytes */
#ifndef BLOOM_UNIQUE_BATCH
#define BLOOM_UNIQUE_BATCH		100000
#endif
#define BLOOM_UNIQUE_BATCH_BYTES	(32 * 1024 * 1024)

/* A table's unique key.  The seed is that of the set, random. */
typedef struct BloomUniqueTag
{
	int64		seed;
	Oid			root;			/* the table for which it was made */
	Oid			unused;			/* 0: these are compared as bytes */
} BloomUniqueTag;

/* A column of a key */
typedef struct BloomUniqueColumn
{
	NameData	name;
	AttrNumber	number;			/* in the root */
	Oid			type;
	Oid			collation;
	int16		typlen;
	bool		typbyval;
} BloomUniqueColumn;

/* A partition's index by which keys are looked up */
typedef struct BloomUniqueLeaf
{
	Oid			relid;			/* hash key */
	bool		is_valid;		/* no message has come since we looked */
	Oid			index;
	bool		is_in_order;	/* an index tuple has the key's columns, as
								 * they are, in the order of their types */
	int			columns[INDEX_MAX_KEYS];	/* of the key, by those of the
											 * index */
	RegProcedure equals[INDEX_MAX_KEYS];
	Oid			collations[INDEX_MAX_KEYS];
} BloomUniqueLeaf;

/*
 * What the session knows of a unique key.  It is good until the transaction
 * ends, also if it has become invalid: then the next who asks gets another.
 */
typedef struct BloomUnique
{
	BloomUniqueTag tag;
	uint64		serial;			/* another for each */
	bool		is_valid;
	bool		is_marked;		/* the set has the key of every row */
	MemoryContext context;		/* of all this */
	Oid			set;
	NameData	name;			/* of that */
	Oid			owner;			/* of the table */
	char		close;			/* tgenabled of the trigger that closes
								 * statements, or 0 */
	int			ncolumns;
	BloomUniqueColumn *columns;
	BloomHasher hasher;
	TupleDesc	row;			/* of several columns, or NULL */
	HTAB	   *leaves;			/* BloomUniqueLeaf, or NULL */
} BloomUnique;

/* What a trigger of ours is, by its form */
typedef enum BloomUniqueKind
{
	BLOOM_UNIQUE_ROW,			/* the constraint */
	BLOOM_UNIQUE_OPEN,
	BLOOM_UNIQUE_CLOSE,
	BLOOM_UNIQUE_OTHER			/* bloom_unique_create makes none like it */
} BloomUniqueKind;

/* A trigger of ours, by the catalog */
typedef struct BloomUniqueTrigger
{
	Oid			oid;
	NameData	name;
	Oid			parent;			/* of which it is a copy, or invalid */
	char		enabled;
	int64		seed;
	BloomUniqueKind kind;

	Oid			set;			/* of one that keeps it */
	int			ncolumns;		/* of the constraint */
	AttrNumber	columns[INDEX_MAX_KEYS];	/* of the key, in the trigger's
											 * table */
} BloomUniqueTrigger;

/* Copies of keys, side by side */
typedef struct BloomUniqueKeys
{
	MemoryContext context;		/* of all this */
	Datum	   *keys;
	int			nkeys;
	int			maxkeys;
	Size		size;			/* bytes */
} BloomUniqueKeys;

/* What is done with a key of a row */
typedef void (*BloomUniqueKeyAction) (BloomUnique *unique, Datum *key, void *arg);

/* Hashes are sorted as signed numbers, in the order of the unsigned ones. */
static inline int64
BloomUniqueSortedHash(uint64 hash)
{
	return (int64) (hash ^ (UINT64CONST(1) << 63));
}

static inline uint64
BloomUniqueHashOfSorted(int64 sorted)
{
	return (uint64) sorted ^ (UINT64CONST(1) << 63);
}

/* unique/key.c */
extern int64 BloomUniqueSeedOf(const TriggerData *trigger);
extern List *BloomUniqueTriggersOf(Oid relid);
extern const char *BloomUniqueFindTriggers(const BloomUniqueTag *tag,
										   const BloomUniqueTrigger **found,
										   const char **cure);
extern bool BloomUniqueIsThere(const BloomUniqueTag *tag);
extern const char *BloomUniqueIdentifySet(const BloomUniqueTag *tag, Oid relid,
										  Oid owner, bool unnamed_ok,
										  StoredSet *set, const char **cure);
extern Oid	BloomUniqueFindSet(const BloomUniqueTag *tag, Oid owner,
							   StoredSet *set, Oid *found, const char **wrong,
							   const char **cure);
extern Oid	BloomUniqueLockSet(const BloomUniqueTag *tag, Oid owner,
							   LOCKMODE lockmode);
extern void BloomUniqueReportNoTable(Oid relid);
extern void BloomUniqueCheckTable(Oid root);
extern Oid	BloomUniqueOwnerOf(Oid relid);

/* unique/columns.c */
extern void BloomUniqueDescribe(BloomUnique *unique);
extern bool BloomUniqueIsSame(const BloomUnique *a, const BloomUnique *b);
extern char *BloomUniqueColumns(const BloomUnique *unique);
extern bool BloomUniqueGetKey(const BloomUnique *unique,
							  const AttrNumber *columns, TupleTableSlot *slot,
							  Datum *key);
extern Size BloomUniqueCopyKey(const BloomUnique *unique, Datum *key);
extern void BloomUniqueKeepKey(const BloomUnique *unique, BloomUniqueKeys *keys,
							   Datum *key);
extern void BloomUniqueDropKeys(BloomUniqueKeys *keys);

/* unique/session.c */
extern bool BloomUniqueFindSeed(Oid root, const AttrNumber *columns,
								int ncolumns, bool any_order, int64 *seed);
extern void BloomUniqueReportSet(const BloomUnique *unique, const char *wrong,
								 const char *cure);
extern BloomUnique *BloomUniqueRecall(const BloomUniqueTag *tag);
extern BloomUnique *BloomUniqueRefresh(const BloomUnique *unique);
extern BloomUnique *BloomUniqueOfTrigger(const TriggerData *trigger,
										 const AttrNumber **columns);

/* unique/leaves.c */
extern List *BloomUniqueLeaves(Oid root, List **parents);
extern List *BloomUniqueAttached(Oid parent, CommandId since);
extern bool BloomUniqueIsBelow(Oid leaf, Oid root);
extern void BloomUniqueWarnDisabled(const BloomUniqueTag *tag, Oid relid);
extern BloomUniqueLeaf *BloomUniqueDescribeLeaf(BloomUnique *unique, Relation rel);
extern void BloomUniqueCheckLeaves(BloomUnique *unique);

/* unique/look.c */
extern void BloomUniqueCount(BloomUnique *unique, Datum *keys, int nkeys,
							 int most, int *counts);
extern void BloomUniqueCountBy(BloomUnique *unique, Snapshot snapshot,
							   Datum *keys, int nkeys, int most, int *counts,
							   Oid *places);

/* unique/claim.c */
extern uint64 BloomUniqueHash(BloomUnique *unique, const Datum *key);
extern char *BloomUniqueShowKey(const BloomUnique *unique, const Datum *key);
extern void BloomUniqueReport(const BloomUnique *unique, const Datum *key,
							  bool is_there);
extern void BloomUniqueAdd(BloomUnique *unique, const uint64 *hashes,
						   int nkeys, uint8 *answers);
extern Oid	BloomUniqueFilenode(const BloomUnique *unique);
extern TransactionId BloomUniqueMark(BloomUnique *unique);
extern void BloomUniqueCheckWritten(BloomUnique *unique, Datum *keys, int nkeys,
									bool lacks_some);
extern void BloomUniqueClaimAbsent(BloomUnique *unique, Datum *keys, int nkeys,
								   bool lacks_some, bool *is_free);
extern bool BloomUniqueTakeEntry(BloomUnique *unique, const Datum *key);
extern void BloomUniqueForgetEntries(void);

/* unique/existing.c */
extern void BloomUniqueForAllKeys(BloomUnique *unique, Oid relid,
								  BloomUniqueKeyAction action, void *arg);
extern uint64 BloomUniqueFill(BloomUnique *unique);
extern uint64 BloomUniqueRefill(BloomUnique *unique);
extern void BloomUniqueCheckLeaf(BloomUnique *unique, Oid relid);

/* unique/validate.c */
extern uint64 BloomUniqueValidate(const BloomUniqueTag *tag, bool commits);

/* unique/trigger.c */
extern PGDLLEXPORT Datum bloom_unique(PG_FUNCTION_ARGS);
extern bool BloomUniqueHasCollected(const BloomUniqueTag *tag);
extern void BloomUniqueForgetStatements(const BloomUniqueTag *tag);

#endif							/* BLOOM_UNIQUE_H */
