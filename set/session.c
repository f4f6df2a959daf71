/*-------------------------------------------------------------------------
 *
 * set/session.c
 *		What a session remembers of a set.
 *
 * It remembers what the definition of its table says, until that changes, and
 * how wide its ranges are.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "set/store.h"

/* What a session remembers of a set */
typedef struct StoredSetKnown
{
	Oid			relid;			/* hash key */
	bool		is_valid;		/* nothing has changed since we looked */
	bool		is_complete;	/* we have looked */
	uint64		width;			/* of the range that was read last, or 0 */
	StoredSet	set;
} StoredSetKnown;

static HTAB *known_sets = NULL;

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

/* Free the entries of sets that were changed or dropped. */
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
	{
		const char *cure = StoredSetCure(rel);

		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a Bloom set",
						RelationGetRelationName(rel)),
				 errdetail("%s", wrong),
				 cure != NULL ? errhint("%s", cure) :
				 errhint("A set is a table that bloom_set_create made and nobody has changed.")));
	}
	oldcontext = MemoryContextSwitchTo(CacheMemoryContext);
	set.key_type = BloomCopyKeyType(&set.key_type);
	MemoryContextSwitchTo(oldcontext);
	known->set = set;
	known->is_complete = true;
}

/*
 * StoredSetRecall
 *		What the session knows of an open table: an error, if that is no set.
 */
void
StoredSetRecall(StoredSetTable *table)
{
	Oid			relid = RelationGetRelid(table->rel);
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
	if (known == NULL || !known->is_valid || !known->is_complete)
	{
		DropForgotten();
		known = hash_search(known_sets, &relid, HASH_ENTER, NULL);
		memset(known, 0, sizeof(*known));
		known->relid = relid;
		Identify(table->rel, known);
	}
	table->set = known->set;
	table->set.key_type = BloomCopyKeyType(&known->set.key_type);
	table->width = known->width;
}

/*
 * StoredSetRemember
 *		Remember how wide the ranges of a set are.
 */
void
StoredSetRemember(const StoredSetTable *table)
{
	StoredSetKnown *known = hash_search(known_sets, &table->set.relid, HASH_FIND,
										NULL);

	if (known != NULL)
		known->width = table->width;
}
