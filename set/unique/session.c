/*-------------------------------------------------------------------------
 *
 * unique/session.c
 *		What a session remembers of unique keys.
 *
 * It is kept until a message says that it can have changed.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "set/set.h"
#include "set/unique/unique.h"

/* A trigger, as it fires for a table */
typedef struct Site
{
	Oid			oid;			/* hash key */
	Oid			relid;
	bool		is_valid;
	BloomUniqueTag tag;
	uint64		serial;			/* of the key whose columns these are */
	AttrNumber	columns[INDEX_MAX_KEYS];	/* of the key, in this table */
} Site;

/* A unique key */
typedef struct Known
{
	BloomUniqueTag tag;			/* hash key */
	BloomUnique *unique;		/* or NULL */
} Known;

static HTAB *sites = NULL;
static HTAB *known_keys = NULL;
static uint64 nserials = 0;

/* A table has changed, or any. */
static void
ForgetRelation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Site	   *site;
	Known	   *known;

	(void) arg;
	hash_seq_init(&status, sites);
	while ((site = hash_seq_search(&status)) != NULL)
	{
		if (!OidIsValid(relid) || relid == site->relid || relid == site->tag.root)
			site->is_valid = false;
	}
	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		BloomUnique *unique = known->unique;
		BloomUniqueLeaf *leaf;

		if (unique == NULL)
			continue;
		if (!OidIsValid(relid) || relid == unique->tag.root ||
			relid == unique->set)
			unique->is_valid = false;
		leaf = unique->leaves == NULL ? NULL :
			hash_search(unique->leaves, &relid, HASH_FIND, NULL);
		if (leaf != NULL)
			leaf->is_valid = false;
	}
}

static HTAB *
MakeTable(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		info = {0};

	info.keysize = keysize;
	info.entrysize = entrysize;
	return hash_create(name, 16, &info, HASH_ELEM | HASH_BLOBS);
}

static void
MakeTables(void)
{
	if (known_keys != NULL)
		return;
	sites = MakeTable("triggers of unique keys", sizeof(Oid), sizeof(Site));
	known_keys = MakeTable("unique keys", sizeof(BloomUniqueTag), sizeof(Known));
	CacheRegisterRelcacheCallback(ForgetRelation, (Datum) 0);
}

/* An error: a set, or what is named as one, is not one to rely on. */
static void
ReportSet(Oid set, Oid root, const char *wrong, const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("\"%s\" cannot be used as the Bloom set of the unique keys of table \"%s\"",
					get_rel_name(set), get_rel_name(root)),
			 errdetail("%s", wrong),
			 errhint("%s", cure)));
}

/*
 * BloomUniqueReportSet
 *		The same for the set of a key.
 */
void
BloomUniqueReportSet(const BloomUnique *unique, const char *wrong, const char *cure)
{
	ReportSet(unique->set, unique->tag.root, wrong, cure);
}

/* An error: a key is not as bloom_unique_create made it, or is gone. */
static void
ReportTriggers(const BloomUniqueTag *tag, const char *wrong, const char *cure)
{
	const char *table = get_rel_name(tag->root);

	if (!BloomUniqueIsThere(tag))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the unique key of table \"%s\" was dropped meanwhile", table),
				 errhint("If it was made anew, repeat the call.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot check unique keys of table \"%s\"", table),
			 errdetail("%s", wrong),
			 errhint("%s", cure)));
}

/*
 * Find out what a key is.
 *
 * If something of it changes while we look, it is invalid at the end: then look again.
 */
static void
BuildUnique(BloomUnique *unique)
{
	const BloomUniqueTag *tag = &unique->tag;
	const BloomUniqueTrigger *triggers[BLOOM_UNIQUE_OTHER];
	const BloomUniqueTrigger *row;
	const BloomUniqueTrigger *close;
	const char *cure;
	const char *wrong = BloomUniqueFindTriggers(tag, triggers, &cure);
	Oid			found;
	StoredSet	set;
	StoredSetTable table;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(tag->root)))
		BloomUniqueReportNoTable(tag->root);
	if (wrong != NULL)
	{
		if (unique->is_valid)
			ReportTriggers(tag, wrong, cure);
		return;
	}
	row = triggers[BLOOM_UNIQUE_ROW];
	close = triggers[BLOOM_UNIQUE_CLOSE];
	unique->set = BloomUniqueFindSet(tag, BloomUniqueOwnerOf(tag->root), &set, &found,
									 &wrong, &cure);

	/*
	 * the set is locked, but of the table all may have changed while we
	 * waited
	 */
	if (!unique->is_valid)
		return;
	if (!OidIsValid(unique->set) && !OidIsValid(found) && close != NULL &&
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(close->set)))
	{
		found = close->set;
		wrong = "It does not name this table as that whose keys it has.";
		cure = "Call bloom_unique_rebuild.";
	}
	if (!OidIsValid(unique->set) && OidIsValid(found))
		ReportSet(found, tag->root, wrong, cure);
	if (!OidIsValid(unique->set))
		ReportTriggers(tag, wrong, cure);
	if (close != NULL && close->set != unique->set)
		ReportTriggers(tag, psprintf("Trigger \"%s\" names another set than that which has the keys.",
									 NameStr(close->name)),
					   psprintf("DROP TRIGGER %s ON %s;",
								quote_identifier(NameStr(close->name)),
								quote_identifier(get_rel_name(tag->root))));
	BloomUniqueCheckTable(tag->root);
	namestrcpy(&unique->name, get_rel_name(unique->set));
	unique->close = close == NULL ? '\0' : close->enabled;
	unique->ncolumns = row->ncolumns;
	unique->columns = palloc0(row->ncolumns * sizeof(BloomUniqueColumn));
	for (int i = 0; i < row->ncolumns; i++)
		unique->columns[i].number = row->columns[i];
	BloomUniqueDescribe(unique);
	if (!BloomSameKeyType(&set.key_type, &unique->hasher.key_type))
		ReportSet(unique->set, tag->root, "It was made for keys of another type.",
				  "Call bloom_unique_drop, and bloom_unique_create again.");
	StoredSetOpen(&table, unique->set, false, false);
	PushActiveSnapshot(GetLatestSnapshot());
	unique->is_marked = StoredSetIsMarked(&table);
	PopActiveSnapshot();
	StoredSetClose(&table);
}

/*
 * Give back what is known of keys that have changed or gone.  A caller further out may
 * still use it.
 */
static void
DropInvalid(void)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		if (known->unique == NULL || known->unique->is_valid)
			continue;
		MemoryContextSetParent(known->unique->context, TopTransactionContext);
		known->unique = NULL;
	}
}

/*
 * BloomUniqueRecall
 *		What the session knows of a key.
 */
BloomUnique *
BloomUniqueRecall(const BloomUniqueTag *tag)
{
	Known	   *known;
	bool		found;

	MakeTables();
	known = hash_search(known_keys, tag, HASH_ENTER, &found);
	if (!found)
		known->unique = NULL;
	while (known->unique == NULL || !known->unique->is_valid)
	{
		MemoryContext context;
		MemoryContext oldcontext;
		BloomUnique *unique;

		CHECK_FOR_INTERRUPTS();
		DropInvalid();
		context = AllocSetContextCreate(TopTransactionContext, "unique key",
										ALLOCSET_SMALL_SIZES);
		oldcontext = MemoryContextSwitchTo(context);
		unique = palloc0(sizeof(BloomUnique));
		unique->tag = *tag;
		unique->serial = ++nserials;
		unique->context = context;

		/* messages that come while we look make it invalid */
		unique->is_valid = true;
		known->unique = unique;
		PG_TRY();
		{
			BuildUnique(unique);
		}
		PG_CATCH();
		{
			known->unique = NULL;
			PG_RE_THROW();
		}
		PG_END_TRY();
		MemoryContextSwitchTo(oldcontext);
		MemoryContextSetParent(context, CacheMemoryContext);
	}
	return known->unique;
}

/*
 * BloomUniqueRefresh
 *		What the session knows of a key by now: an error, unless its set and columns
 *		are those with which the caller began.
 *
 * To be called after whatever can have changed the key, which is each wait for a lock
 * or transaction, and each call of functions of others: values that were read by
 * one description are never read by another.
 */
BloomUnique *
BloomUniqueRefresh(const BloomUnique *unique)
{
	BloomUnique *now = BloomUniqueRecall(&unique->tag);

	if (now != unique && !BloomUniqueIsSame(now, unique))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the unique key of table \"%s\" was changed meanwhile",
						get_rel_name(unique->tag.root)),
				 errdetail("It has another set, other columns, or the same in another order."),
				 errhint("Repeat the transaction.")));
	return now;
}

/* Find out for which key a trigger fires.  Messages that come meanwhile count. */
static void
BuildSite(Site *site, const TriggerData *trigger)
{
	PG_TRY();
	{
		site->is_valid = true;
		site->relid = RelationGetRelid(trigger->tg_relation);
		site->serial = 0;
		memset(&site->tag, 0, sizeof(site->tag));
		site->tag.seed = BloomUniqueSeedOf(trigger);
		site->tag.root = StoredSetTriggerTable(trigger->tg_trigger->tgoid, site->relid);
	}
	PG_CATCH();
	{
		site->is_valid = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * BloomUniqueOfTrigger
 *		The key for which a trigger fires, and its columns in the table that the
 *		trigger is on.
 */
BloomUnique *
BloomUniqueOfTrigger(const TriggerData *trigger, const AttrNumber **columns)
{
	Oid			oid = trigger->tg_trigger->tgoid;
	BloomUnique *unique;
	Site	   *site;
	bool		found;

	MakeTables();
	site = hash_search(sites, &oid, HASH_ENTER, &found);
	if (!found)
		site->is_valid = false;
	*columns = site->columns;
	for (;;)
	{
		if (!site->is_valid)
			BuildSite(site, trigger);
		unique = BloomUniqueRecall(&site->tag);
		if (site->is_valid && site->serial == unique->serial)
			return unique;
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < unique->ncolumns; i++)
			site->columns[i] = get_attnum(site->relid,
										  NameStr(unique->columns[i].name));
		site->serial = unique->serial;
	}
}

/* Does the session know the key that these columns of a table are, in this order? */
static bool
KnowsSeed(Oid root, const AttrNumber *columns, int ncolumns, int64 *seed)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

	if (known_keys == NULL)
		return false;
	hash_seq_init(&status, known_keys);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		const BloomUnique *unique = known->unique;
		int			n = 0;

		if (unique == NULL || !unique->is_valid || unique->tag.root != root ||
			unique->ncolumns != ncolumns)
			continue;
		while (n < ncolumns && unique->columns[n].number == columns[n])
			n++;
		if (n < ncolumns)
			continue;
		*seed = unique->tag.seed;
		hash_seq_term(&status);
		return true;
	}
	return false;
}

/* Does a trigger have these columns, in this order or in any? */
static bool
HasColumns(const BloomUniqueTrigger *trigger, const AttrNumber *columns,
		   int ncolumns, bool any_order)
{
	int			nequal = 0;

	for (int i = 0; i < trigger->ncolumns; i++)
	{
		for (int j = 0; j < ncolumns; j++)
			nequal += trigger->columns[i] == columns[j] && (any_order || i == j);
	}
	return nequal == ncolumns && nequal == trigger->ncolumns;
}

/*
 * BloomUniqueFindSeed
 *		The seed of the key that these columns of a table are, in this order or in
 *		any.  False: they are none.
 */
bool
BloomUniqueFindSeed(Oid root, const AttrNumber *columns, int ncolumns,
					bool any_order, int64 *seed)
{
	ListCell   *cell;

	if (KnowsSeed(root, columns, ncolumns, seed))
		return true;
	foreach(cell, BloomUniqueTriggersOf(root))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);

		/* one that a partition inherits is of another table's key */
		if (trigger->kind != BLOOM_UNIQUE_ROW || OidIsValid(trigger->parent) ||
			!HasColumns(trigger, columns, ncolumns, any_order))
			continue;
		*seed = trigger->seed;
		return true;
	}
	return false;
}
