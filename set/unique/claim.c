/*-------------------------------------------------------------------------
 *
 * unique/claim.c
 *		Claim keys in the set, and look up those that it has seen.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "set/set.h"
#include "set/unique/unique.h"
#include "pause.h"

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueHash
 *		The hash of a key, none of whose columns is null.
 */
uint64
BloomUniqueHash(BloomUnique *unique, const Datum *key)
{
	static const bool nulls[INDEX_MAX_KEYS] = {false};
	HeapTuple	tuple;
	uint64		hash;

	if (unique->row == NULL)
		return BloomHashDatum(&unique->hasher, key[0], (uint64) unique->tag.seed);
	tuple = heap_form_tuple(unique->row, unconstify(Datum *, key),
							unconstify(bool *, &nulls[0]));
	hash = BloomHashDatum(&unique->hasher, HeapTupleGetDatum(tuple),
						  (uint64) unique->tag.seed);
	heap_freetuple(tuple);
	return hash;
}

/* May the user see values of the key?  As the server asks for its own errors. */
static bool
MayShow(const BloomUnique *unique)
{
	Oid			root = unique->tag.root;

	if (check_enable_rls(root, InvalidOid, true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (pg_attribute_aclcheck(root, unique->columns[i].number, GetUserId(),
								  ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/*
 * BloomUniqueShowKey
 *		A key, as the server shows one.
 */
char *
BloomUniqueShowKey(const BloomUnique *unique, const Datum *key)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "(%s)=", BloomUniqueColumns(unique));
	for (int i = 0; i < unique->ncolumns; i++)
	{
		Oid			output;
		bool		isvarlena;

		getTypeOutputInfo(unique->columns[i].type, &output, &isvarlena);
		appendStringInfo(&text, "%s%s", i == 0 ? "(" : ", ",
						 OidOutputFunctionCall(output, key[i]));
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/*
 * BloomUniqueReport
 *		An error: more than one row has a key.  Has one been there, or is none
 *		newer?
 */
void
BloomUniqueReport(const BloomUnique *unique, const Datum *key, bool is_there)
{
	const char *name = NameStr(unique->name);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 is_there ?
			 errmsg("duplicate key value violates unique constraint \"%s\"", name) :
			 errmsg("could not create unique constraint \"%s\"", name),
			 !MayShow(unique) ? 0 :
			 is_there ?
			 errdetail("Key %s already exists.", BloomUniqueShowKey(unique, key)) :
			 errdetail("Key %s is duplicated.", BloomUniqueShowKey(unique, key)),
			 err_generic_string(PG_DIAG_SCHEMA_NAME,
								get_namespace_name(get_rel_namespace(unique->tag.root))),
			 err_generic_string(PG_DIAG_TABLE_NAME, get_rel_name(unique->tag.root)),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, name)));
}

/* ----------------------------------------------------------------
 *							THE SET
 * ----------------------------------------------------------------
 */

/*
 * Open the set with the privileges of the table's owner, as for a foreign key.
 *
 * If it has changed while we waited for its lock, it is looked at anew: TRUNCATE
 * may have taken its keys, or DROP the set.  The result is what is known then.
 */
static BloomUnique *
OpenSet(StoredSetCall *call, BloomUnique *unique)
{
	Oid			user;
	int			context;

	LockRelationOid(unique->set, RowExclusiveLock);
	while (!unique->is_valid)
	{
		UnlockRelationOid(unique->set, RowExclusiveLock);
		unique = BloomUniqueRefresh(unique);
		LockRelationOid(unique->set, RowExclusiveLock);
	}
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(unique->owner,
						   context | SECURITY_LOCAL_USERID_CHANGE);
	StoredSetOpenToWrite(call, unique->set,
						 GetCurrentTransactionStartTimestamp(), true);
	SetUserIdAndSecContext(user, context);
	return unique;
}

/* Write hashes to the set.  Who claims holds them afterwards. */
static BloomUnique *
WriteHashes(BloomUnique *unique, bool claims, const uint64 *hashes, int nkeys,
			uint8 *answers)
{
	StoredSetCall call;

	unique = OpenSet(&call, unique);
	call.claims = claims;
	StoredSetAdd(&call, hashes, nkeys, answers);
	StoredSetClose(&call.table);
	return unique;
}

/*
 * BloomUniqueAdd
 *		Add hashes to the set, which need not be held, without waiting for anybody.
 */
void
BloomUniqueAdd(BloomUnique *unique, const uint64 *hashes, int nkeys,
			   uint8 *answers)
{
	StoredSetCall call;

	(void) OpenSet(&call, unique);
	/* who keeps a snapshot may not add what others have added since that */
	call.claims = IsolationUsesXactSnapshot();
	call.never_waits = true;
	StoredSetAdd(&call, hashes, nkeys, answers);
	StoredSetClose(&call.table);
}

/*
 * BloomUniqueMark
 *		Let the set count as complete: it has the keys of all rows.
 *
 * The result is a transaction that prevents it, and must end first, or invalid.
 */
TransactionId
BloomUniqueMark(BloomUnique *unique)
{
	StoredSetCall call;
	TransactionId blocker;

	(void) OpenSet(&call, unique);
	blocker = StoredSetMark(&call);
	StoredSetClose(&call.table);
	if (TransactionIdIsValid(blocker))
		return blocker;

	/*
	 * who knows of the mark, or of none, looks again, also if it is rolled
	 * back
	 */
	CacheInvalidateRelcacheByRelid(unique->set);
	return InvalidTransactionId;
}

/*
 * BloomUniqueFilenode
 *		The file of the set: another, if it was emptied.
 */
Oid
BloomUniqueFilenode(const BloomUnique *unique)
{
	Relation	set = relation_open(unique->set, RowExclusiveLock);
	Oid			result = set->rd_rel->relfilenode;

	relation_close(set, NoLock);
	return result;
}

/*
 * May a row have this key?  What a set calls new is in no row only if it has all
 * keys, also those of this transaction.  Of repeats, the first alone has an answer.
 */
static inline bool
IsDoubtful(const BloomUnique *unique, uint8 answer, bool lacks_some)
{
	return answer != STORED_SET_FRESH || lacks_some || !unique->is_marked;
}

/* The hashes of keys */
static uint64 *
HashKeys(BloomUnique *unique, const Datum *keys, int nkeys)
{
	uint64	   *hashes = palloc_extended(nkeys * sizeof(uint64), MCXT_ALLOC_HUGE);

	for (int i = 0; i < nkeys; i++)
	{
		BloomCheckInterrupts(i);
		hashes[i] = BloomUniqueHash(unique, &keys[(Size) i * unique->ncolumns]);
	}
	return hashes;
}

/* ----------------------------------------------------------------
 *							ROWS THAT WERE WRITTEN
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueCheckWritten
 *		Claim keys whose rows have been written, and check that no other row has
 *		one of them.  The keys are brought into another order.
 *
 * Are there rows of this transaction whose keys are not yet claimed?  Then what is
 * new to the set is looked up, too.
 */
void
BloomUniqueCheckWritten(BloomUnique *unique, Datum *keys, int nkeys, bool lacks_some)
{
	int			ncolumns = unique->ncolumns;
	uint64	   *hashes = HashKeys(unique, keys, nkeys);
	uint8	   *answers = palloc_extended(nkeys, MCXT_ALLOC_HUGE);
	int			ndoubtful = 0;
	int		   *counts;

	unique = WriteHashes(unique, true, hashes, nkeys, answers);
	pfree(hashes);
	for (int i = 0; i < nkeys; i++)
	{
		if (IsDoubtful(unique, answers[i], lacks_some))
			memmove(&keys[(Size) ndoubtful++ * ncolumns],
					&keys[(Size) i * ncolumns], ncolumns * sizeof(Datum));
	}
	pfree(answers);
	if (ndoubtful == 0)
		return;
	BLOOM_PAUSE("unique-claimed");
	counts = palloc_extended(ndoubtful * sizeof(int), MCXT_ALLOC_HUGE);
	BloomUniqueCount(unique, keys, ndoubtful, 2, counts);
	for (int i = 0; i < ndoubtful; i++)
	{
		if (counts[i] > 1)
			BloomUniqueReport(unique, &keys[(Size) i * ncolumns], true);
	}
	pfree(counts);
}

/* ----------------------------------------------------------------
 *							ENTRIES
 *
 * An entry is a key that this transaction holds, and that no row had when it was
 * claimed.  The first row that is written with it need not be looked up.  There is
 * one for each hash; whatever is claimed or checked with that hash takes it out,
 * so that equal keys that look different do not pass each other by.
 * ----------------------------------------------------------------
 */

typedef struct Entry
{
	uint64		hash;			/* these two are the hash key */
	int64		seed;
	uint64		serial;			/* of the key as it was known */
	Datum	   *key;
} Entry;

static MemoryContext entry_context = NULL;
static HTAB *entries = NULL;
static Size entry_bytes = 0;

/*
 * BloomUniqueForgetEntries
 *		Look up all keys that are written from now on.
 */
void
BloomUniqueForgetEntries(void)
{
	if (entry_context != NULL)
		MemoryContextDelete(entry_context);
	entry_context = NULL;
	entries = NULL;
	entry_bytes = 0;
}

static void
ForgetAtXact(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		BloomUniqueForgetEntries();
}

static void
ForgetAtSubXact(SubXactEvent event, SubTransactionId mine,
				SubTransactionId parent, void *arg)
{
	(void) mine;
	(void) parent;
	(void) arg;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		BloomUniqueForgetEntries();
}

static void
MakeEntries(void)
{
	static bool is_registered = false;
	HASHCTL		info = {0};

	if (!is_registered)
	{
		RegisterXactCallback(ForgetAtXact, NULL);
		RegisterSubXactCallback(ForgetAtSubXact, NULL);
		is_registered = true;
	}
	entry_context = AllocSetContextCreate(TopTransactionContext,
										  "claims of unique keys",
										  ALLOCSET_DEFAULT_SIZES);
	info.keysize = offsetof(Entry, serial);
	info.entrysize = sizeof(Entry);
	info.hcxt = entry_context;
	entries = hash_create("claims of unique keys", 64, &info,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Note a key that is held and in no row, as long as there is memory. */
static void
MakeEntry(const BloomUnique *unique, uint64 hash, const Datum *key)
{
	Entry		hashed = {.hash = hash,.seed = unique->tag.seed};
	MemoryContext oldcontext;
	Entry	   *entry;
	bool		found;

	if (entry_bytes >= (Size) work_mem * 1024)
	{
		if (hash_get_num_entries(entries) > 0)
			return;
		BloomUniqueForgetEntries();
	}
	if (entries == NULL)
		MakeEntries();
	entry = hash_search(entries, &hashed, HASH_ENTER, &found);
	if (found)
	{
		/* keys that differ have one hash: none is spared */
		(void) hash_search(entries, &hashed, HASH_REMOVE, NULL);
		return;
	}
	oldcontext = MemoryContextSwitchTo(entry_context);
	entry->serial = unique->serial;
	entry->key = palloc(unique->ncolumns * sizeof(Datum));
	memcpy(entry->key, key, unique->ncolumns * sizeof(Datum));
	entry_bytes += 2 * sizeof(Entry) + BloomUniqueCopyKey(unique, entry->key);
	MemoryContextSwitchTo(oldcontext);
}

/* Take out the entry of a hash, or NULL. */
static Entry *
TakeEntry(const BloomUnique *unique, uint64 hash)
{
	Entry		hashed = {.hash = hash,.seed = unique->tag.seed};

	/* what it says is there until the next entry is made */
	return entries == NULL ? NULL :
		hash_search(entries, &hashed, HASH_REMOVE, NULL);
}

/*
 * BloomUniqueTakeEntry
 *		Is this the key of the first row that is written with it, after it was
 *		claimed?
 */
bool
BloomUniqueTakeEntry(BloomUnique *unique, const Datum *key)
{
	const Entry *entry;

	if (entries == NULL || hash_get_num_entries(entries) == 0)
		return false;
	entry = TakeEntry(unique, BloomUniqueHash(unique, key));
	if (entry == NULL || entry->serial != unique->serial)
		return false;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (!datum_image_eq(entry->key[i], key[i], unique->columns[i].typbyval,
							unique->columns[i].typlen))
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------
 *							KEYS WITHOUT ROWS
 * ----------------------------------------------------------------
 */

/* Keys of which some are to be claimed */
typedef struct Claim
{
	BloomUnique *unique;
	Datum	   *keys;
	uint64	   *hashes;
	bool		lacks_some;		/* are there rows whose keys are not claimed? */
	bool	   *is_free;		/* for all that is known */

	/* those that are left to be looked up, or claimed */
	int		   *indexes;
	int			nindexes;
} Claim;

static int
CompareByHash(const void *a, const void *b, void *arg)
{
	const uint64 *hashes = arg;
	int			left = *(const int *) a;
	int			right = *(const int *) b;

	CHECK_FOR_INTERRUPTS();
	if (hashes[left] != hashes[right])
		return hashes[left] < hashes[right] ? -1 : 1;
	return left - right;
}

/* Are two keys equal, as their types see it? */
static bool
AreEqual(const Claim *claim, int a, int b)
{
	const BloomUnique *unique = claim->unique;

	for (int i = 0; i < unique->ncolumns; i++)
	{
		const BloomUniqueColumn *column = &unique->columns[i];
		TypeCacheEntry *type = lookup_type_cache(column->type,
												 TYPECACHE_EQ_OPR_FINFO);

		if (!DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, column->collation,
											claim->keys[(Size) a * unique->ncolumns + i],
											claim->keys[(Size) b * unique->ncolumns + i])))
			return false;
	}
	return true;
}

/* Leave each key once: of equal ones, the first is free. */
static void
DropRepeats(Claim *claim)
{
	int		   *indexes = claim->indexes;

	qsort_arg(indexes, claim->nindexes, sizeof(int), CompareByHash,
			  claim->hashes);
	for (int i = 1; i < claim->nindexes; i++)
	{
		for (int j = i - 1; j >= 0 && claim->is_free[indexes[i]] &&
			 claim->hashes[indexes[j]] == claim->hashes[indexes[i]]; j--)
		{
			CHECK_FOR_INTERRUPTS();
			if (AreEqual(claim, indexes[j], indexes[i]))
				claim->is_free[indexes[i]] = false;
		}
	}
}

/* Add or claim the keys that are left; those remain that a row may have. */
static void
WriteClaim(Claim *claim, bool claims)
{
	uint64	   *hashes = palloc_extended(claim->nindexes * sizeof(uint64),
										 MCXT_ALLOC_HUGE);
	uint8	   *answers = palloc_extended(claim->nindexes, MCXT_ALLOC_HUGE);
	int			n = 0;

	for (int i = 0; i < claim->nindexes; i++)
		hashes[i] = claim->hashes[claim->indexes[i]];
	claim->unique = WriteHashes(claim->unique, claims, hashes, claim->nindexes,
								answers);
	for (int i = 0; i < claim->nindexes; i++)
	{
		if (IsDoubtful(claim->unique, answers[i], claim->lacks_some))
			claim->indexes[n++] = claim->indexes[i];
	}
	claim->nindexes = n;
	pfree(hashes);
	pfree(answers);
}

/*
 * Look up the keys that are left; those remain that no row has.
 *
 * Who keeps a snapshot is not told of a row that this does not see: 40001.
 */
static void
LookUpClaim(Claim *claim)
{
	int			ncolumns = claim->unique->ncolumns;
	int			nkeys = claim->nindexes;
	Datum	   *keys = palloc_extended(((Size) nkeys + 1) * ncolumns * sizeof(Datum),
									   MCXT_ALLOC_HUGE);
	int		   *counts = palloc_extended((nkeys + 1) * sizeof(int), MCXT_ALLOC_HUGE);
	int			nfound = 0;

	for (int i = 0; i < nkeys; i++)
		memcpy(&keys[(Size) i * ncolumns],
			   &claim->keys[(Size) claim->indexes[i] * ncolumns],
			   ncolumns * sizeof(Datum));
	if (nkeys > 0)
		BloomUniqueCount(claim->unique, keys, nkeys, 1, counts);
	claim->nindexes = 0;
	for (int i = 0; i < nkeys; i++)
	{
		if (counts[i] == 0)
		{
			claim->indexes[claim->nindexes++] = claim->indexes[i];
			continue;
		}
		claim->is_free[claim->indexes[i]] = false;
		memmove(&keys[(Size) nfound++ * ncolumns], &keys[(Size) i * ncolumns],
				ncolumns * sizeof(Datum));
	}
	if (nfound > 0 && IsolationUsesXactSnapshot())
	{
		Snapshot	snapshot = GetTransactionSnapshot();

		PushCopiedSnapshot(snapshot);
		UpdateActiveSnapshotCommandId();
		BloomUniqueCountBy(claim->unique, GetActiveSnapshot(), keys, nfound, 1,
						   counts, NULL);
		PopActiveSnapshot();
		for (int i = 0; i < nfound; i++)
		{
			if (counts[i] == 0)
				ereport(ERROR,
						(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						 errmsg("could not serialize access due to concurrent update"),
						 errdetail("Another transaction has written a row with the key since this one took its snapshot.")));
		}
	}
	pfree(keys);
	pfree(counts);
}

/*
 * BloomUniqueClaimAbsent
 *		Claim those of the keys that no row has, each once.  They are free.
 *
 * A claim cannot be given back.  So a key that has been seen is looked up before it
 * is claimed: who finds a row holds nothing.  And once more afterwards, since who
 * held it may have written one.  All calls add what is new before they claim
 * what is not, both in the order of hashes, so that they do not deadlock.
 */
void
BloomUniqueClaimAbsent(BloomUnique *unique, Datum *keys, int nkeys,
					   bool lacks_some, bool *is_free)
{
	Claim		claim = {.unique = unique,.keys = keys,.lacks_some = lacks_some,
	.is_free = is_free};
	bool		claims = IsolationUsesXactSnapshot();
	int		   *all = palloc_extended((nkeys + 1) * sizeof(int), MCXT_ALLOC_HUGE);
	int			n = 0;

	claim.hashes = HashKeys(unique, keys, nkeys);
	claim.indexes = palloc_extended((nkeys + 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int i = 0; i < nkeys; i++)
	{
		is_free[i] = true;
		claim.indexes[claim.nindexes++] = i;
		(void) TakeEntry(unique, claim.hashes[i]);
	}
	DropRepeats(&claim);
	for (int i = 0; i < nkeys; i++)
	{
		if (is_free[claim.indexes[i]])
			all[n++] = claim.indexes[i];
	}
	claim.nindexes = n;
	memcpy(claim.indexes, all, n * sizeof(int));

	/* who keeps a snapshot may not add what others have added since that */
	WriteClaim(&claim, claims);
	if (claim.nindexes > 0 && !claims)
	{
		LookUpClaim(&claim);
		if (claim.nindexes > 0)
			WriteClaim(&claim, true);
	}
	if (claim.nindexes > 0)
	{
		BLOOM_PAUSE("unique-claimed");
		LookUpClaim(&claim);
	}
	for (int i = 0; i < n; i++)
	{
		if (is_free[all[i]])
			MakeEntry(claim.unique, claim.hashes[all[i]],
					  &keys[(Size) all[i] * unique->ncolumns]);
	}
	pfree(all);
	pfree(claim.hashes);
	pfree(claim.indexes);
}
