/*-------------------------------------------------------------------------
 *
 * set/session.c
 *		What a session remembers of a set.
 *
 * It remembers what the definition of its table says, until that changes, and
 * the pages in which its adds have left space.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufpage.h"
#include "storage/freespace.h"
#include "storage/proc.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "set/compat.h"
#include "set/identity.h"
#include "set/session.h"

/* In fewer pages than this, space that is left is not worth looking for */
#define MIN_LEFT	32

static HTAB *known_sets = NULL;

/* ----------------------------------------------------------------
 *							DEFINITIONS
 * ----------------------------------------------------------------
 */

static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	StoredSetKnown *known;

	(void) arg;
	if (OidIsValid(relid))
	{
		known = hash_search(known_sets, &relid, HASH_FIND, NULL);
		if (known != NULL)
			known->is_valid = false;
		return;
	}
	hash_seq_init(&status, known_sets);
	while ((known = hash_seq_search(&status)) != NULL)
		known->is_valid = false;
}

/* Sets that were changed or dropped take no memory. */
static void
DropForgotten(void)
{
	HASH_SEQ_STATUS status;
	StoredSetKnown *known;

	hash_seq_init(&status, known_sets);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		if (known->is_valid && known->is_complete)
			continue;
		if (known->set.key_type.words > 0)
			pfree(unconstify(char *, known->set.key_type.name));
		hash_destroy(known->space.left);
		hash_destroy(known->space.waiting);
		(void) hash_search(known_sets, &known->relid, HASH_REMOVE, NULL);
	}
}

/* Look what set a table is; an error, if it is none. */
static void
Identify(Relation rel, StoredSetKnown *known)
{
	StoredSet	set;
	MemoryContext oldcontext;
	const char *wrong;

	/*
	 * If the table changes while we look, look again: an invalidation reaches
	 * only what is remembered already.
	 */
	do
	{
		CHECK_FOR_INTERRUPTS();
		known->is_valid = true;
		wrong = StoredSetIdentify(rel, &set);
	} while (!known->is_valid);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a Bloom set",
						RelationGetRelationName(rel)),
				 errdetail("%s", wrong),
				 errhint("A set is a table that bloom_set_create made and nobody has changed.")));
	oldcontext = MemoryContextSwitchTo(CacheMemoryContext);
	set.key_type = BloomCopyKeyType(&set.key_type);
	MemoryContextSwitchTo(oldcontext);
	known->set = set;
	known->is_complete = true;
}

/*
 * StoredSetRecall
 *		What the session remembers of a table, which is a set.
 */
StoredSetKnown *
StoredSetRecall(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	StoredSetKnown *known;

	if (known_sets == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(StoredSetKnown);
		known_sets = hash_create("Bloom sets", 16, &info,
								 HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
	}
	known = hash_search(known_sets, &relid, HASH_FIND, NULL);
	if (known != NULL && known->is_valid && known->is_complete)
		return known;

	DropForgotten();
	known = hash_search(known_sets, &relid, HASH_ENTER, NULL);
	memset(known, 0, sizeof(*known));
	known->relid = relid;
	Identify(rel, known);
	return known;
}

/* ----------------------------------------------------------------
 *							SPACE
 * ----------------------------------------------------------------
 */

/*
 * StoredSetNoteLeft
 *		A version of a row has been left in this place, for another page or for
 *		none.
 */
void
StoredSetNoteLeft(StoredSetKnown *known, ItemPointer tid)
{
	StoredSetSpace *space = &known->space;
	BlockNumber block = ItemPointerGetBlockNumber(tid);

	if (space->left == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(BlockNumber);
		info.entrysize = sizeof(BlockNumber);
		space->left = hash_create("Bloom set pages", 64, &info,
								  HASH_ELEM | HASH_BLOBS);
	}
	(void) hash_search(space->left, &block, HASH_ENTER, NULL);
	space->leaver = GetTopTransactionId();
}

/*
 * StoredSetReuseSpace
 *		Make the space usable that rows have left in transactions of this
 *		session, as soon as nobody can see them there.
 *
 * A call with many keys changes several rows of a page, and not all new versions
 * find place there.  Nobody but vacuum would enter into the free space map where
 * the old ones were, and each such call would make the table larger.
 *
 * While several sessions add, one of them is open at nearly any time.  So what
 * waits for the end of others is kept apart from what has been left since.
 *
 * XXX This does what autovacuum is there for, which comes too late for a table
 * that is filled in minutes.
 */
void
StoredSetReuseSpace(Relation rel, StoredSetKnown *known)
{
	StoredSetSpace *space = &known->space;
	BlockNumber nblocks;
	BlockNumber first = MaxBlockNumber;
	BlockNumber end = 0;
	const BlockNumber *next;
	HASH_SEQ_STATUS status;

	if (space->looked == BloomLocalTransaction())
		return;
	space->looked = BloomLocalTransaction();
	if (space->waiting == NULL && space->left != NULL &&
		hash_get_num_entries(space->left) >= MIN_LEFT)
	{
		space->waiting = space->left;
		space->waits_for = space->leaver;
		space->left = NULL;
	}
	if (space->waiting == NULL ||
		!TransactionIdPrecedes(space->waits_for, BloomOldestXmin(rel)))
		return;

	nblocks = RelationGetNumberOfBlocks(rel);
	hash_seq_init(&status, space->waiting);
	while ((next = hash_seq_search(&status)) != NULL)
	{
		BlockNumber block = *next;
		Buffer		buffer;
		Size		space_left;

		/* who is interrupted later need not look at it again */
		(void) hash_search(space->waiting, &block, HASH_REMOVE, NULL);
		CHECK_FOR_INTERRUPTS();
		if (block >= nblocks)
			continue;
		buffer = ReadBuffer(rel, block);
		BloomPrunePage(rel, buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		space_left = PageGetHeapFreeSpace(BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
		RecordPageWithFreeSpace(rel, block, space_left);
		first = Min(first, block);
		end = Max(end, block + 1);
	}
	hash_destroy(space->waiting);
	space->waiting = NULL;
	if (first < end)
		FreeSpaceMapVacuumRange(rel, first, end);
}
