/*-------------------------------------------------------------------------
 *
 * set/range.c
 *		A range of a stored set, for those that write: read it, merge, split.
 *
 * set/README explains the rows of a range, their versions, and why an answer is
 * right.
 *
 * Space in a lane
 * ---------------
 *
 * New keys go into a lane that this transaction has written, up to 79; otherwise,
 * if they are few, into one with committed keys, up to 19; otherwise into a new
 * one, which takes up to 127 of them.  A lane with committed keys is written anew
 * by each transaction that adds to it: so it stays short, and in its page.
 *
 * A version can be overwritten only by one of the same size.  So a lane that the
 * transaction writes for the second time gets room for more hashes than it has:
 * it will probably be written a third time.  (Each write logs the whole lane.  With up to 127
 * hashes, 100,000 adds in a statement log 720 bytes each; with 79, 510; with 39,
 * 320, but they take 1.3 times as long, since there are more lanes to read.)  A
 * call with one key leaves room the first time, since its transaction may add
 * another.
 * A call with many keys, of which there are few for each range, makes a lane as
 * long as its hashes.
 *
 * A lane that the transaction cannot overwrite takes up to 8 keys: each key leaves
 * a version, which has all hashes of the version before, and which others read.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/procarray.h"
#include "utils/builtins.h"

#include "bits/sort.h"
#include "set/set_compat.h"
#include "set/store.h"
#include "pause.h"

/* A lane of this transaction takes more keys up to this number */
#define OWN_KEYS	79

/* ... or to this one, if each time leaves a version of it */
#define FEW_OWN_KEYS	8

/* Cells of a range without a list: eighths of a stripe */
#define YOUNG_CELL_BITS	(64 - STORED_SET_STRIPE_BITS - 3)

/* Parts of a range that is split have this part of the size of a list */
#define PART_BYTES	(STORED_SET_LIST_BYTES * 6 / 10)

/* ----------------------------------------------------------------
 *							READING
 * ----------------------------------------------------------------
 */

/*
 * Note a transaction that was seen open, or has ended since.
 *
 * There can be thousands, if each key of a transaction has a subtransaction.  Those
 * of neighbouring versions are often the same.
 */
static void
NoteOpen(StoredSetCall *call, TransactionId xid)
{
	if (!TransactionIdIsValid(xid))
		return;
	for (int i = call->nopen - 1; i >= Max(0, call->nopen - 8); i--)
	{
		if (TransactionIdEquals(call->open[i], xid))
			return;
	}
	call->open = StoredSetMakePlace(call->open, call->nopen,
									sizeof(TransactionId));
	call->open[call->nopen++] = xid;
}

/* How many transactions and subtransactions of the server have ended? */
static uint64
CountEnded(void)
{
	uint64		result;

	LWLockAcquire(ProcArrayLock, LW_SHARED);
	result = TransamVariables->xactCompletionCount;
	LWLockRelease(ProcArrayLock);
	return result;
}

/*
 * StoredSetBeginPicture
 *		Begin to look for keys in a stripe, which is locked.  What was read before
 *		does not count.
 */
void
StoredSetBeginPicture(StoredSetCall *call, StoredSetKey *keys, uint64 nkeys)
{
	call->table.versions.at_entry = false;	/* search again */
	call->nopen = 0;
	call->nended = CountEnded();
	call->has_gap = false;
	for (uint64 i = 0; i < nkeys; i++)
	{
		keys[i].pending = InvalidTransactionId;
		keys[i].is_held = false;
	}
}

/*
 * Is every transaction still open that was seen so, in what was read since the
 * picture was begun?
 *
 * If one has ended, a part of its writes may have been read as they were before,
 * and another as they are after it: then a key that it has moved can be in
 * neither.
 */
static bool
AllAreOpen(const StoredSetCall *call)
{
	if (call->nopen == 0 || CountEnded() == call->nended)
		return true;
	if (call->nopen > 1)
		qsort(call->open, call->nopen, sizeof(TransactionId), xidComparator);
	for (int i = 0; i < call->nopen; i++)
	{
		if (i > 0 && TransactionIdEquals(call->open[i], call->open[i - 1]))
			continue;
		if (!TransactionIdIsInProgress(call->open[i]))
			return false;
	}
	return true;
}

/*
 * StoredSetHasOnePicture
 *		Has what was read since the picture was begun been there at one moment?
 *		Then a hash beyond its range's end shows that a row is missing.
 */
bool
StoredSetHasOnePicture(const StoredSetCall *call, const StoredSetRange *range)
{
	BLOOM_PAUSE("set-read");
	CHECK_FOR_INTERRUPTS();
	if (!AllAreOpen(call))
		return false;
	if (call->has_gap)
		StoredSetInvalidRow(&call->table, range->pack.start, 0,
							"There is no range above it.");
	return true;
}

/* The key with this hash, or NULL. */
static StoredSetKey *
FindKey(StoredSetKey *keys, uint64 nkeys, uint64 hash)
{
	uint64		low = 0;

	for (uint64 high = nkeys; low < high;)
	{
		uint64		middle = low + (high - low) / 2;

		if (keys[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nkeys && keys[low].hash == hash ? &keys[low] : NULL;
}

/*
 * A key is in a version whose creator has committed, or is this transaction.
 *
 * What the transaction's snapshot sees, if it keeps one, was tested before.
 */
static void
SeeKey(StoredSetCall *call, const StoredSetVersion *version, StoredSetKey *key)
{
	if (key->answer != STORED_SET_UNKNOWN)
		return;
	if (IsolationUsesXactSnapshot() && !version->is_visible && !call->claims)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 call->rewrites ?
				 errdetail("Another transaction has written the row of the key since this one took its snapshot.") :
				 errdetail("Another transaction has added a key since this one took its snapshot.")));
	key->answer = STORED_SET_SEEN;
}

/* What a lane says about keys: see "What a version says" in the README. */
static void
FindInLane(StoredSetCall *call, const StoredSetVersion *version,
		   StoredSetKey *keys, uint64 nkeys)
{
	const StoredSetRow *row = &version->row;
	bool		is_open = TransactionIdIsValid(version->creator);

	if (row->slice < call->oldest)
		return;
	for (int i = 0; i < row->nhashes; i++)
	{
		StoredSetKey *key = FindKey(keys, nkeys, row->hashes[i]);
		bool		is_new = i >= row->ncommitted;

		if (key == NULL)
			continue;
		if (!is_open)
			SeeKey(call, version, key);
		else if (is_new)
			key->pending = version->creator;
		if (is_new && version->place.is_own)
			key->is_held = true;
	}
}

/* What a list says about the last of some keys.  The result is how many. */
static uint64
FindInList(StoredSetCall *call, const StoredSetVersion *version,
		   StoredSetKey *keys, uint64 nkeys)
{
	const StoredSetPack *pack = &version->row.pack;
	uint64		n = 0;

	for (; n < nkeys && keys[nkeys - 1 - n].hash >= pack->start; n++)
	{
		StoredSetKey *key = &keys[nkeys - 1 - n];
		int64		slice;

		BloomCheckInterrupts(n + 1);
		if (key->hash > pack->last)
			call->has_gap = true;
		else if (key->answer == STORED_SET_UNKNOWN &&
				 StoredSetFindPacked(pack, key->hash, &slice) &&
				 slice >= call->oldest)
			SeeKey(call, version, key);
	}
	return n;
}

/* Another start at which lanes of new keys can stand. */
static void
AddPoint(StoredSetRange *range, uint64 start)
{
	if (range->npoints > 0 && range->points[range->npoints - 1] == start)
		return;
	range->points = StoredSetMakePlace(range->points, range->npoints,
									   sizeof(uint64));
	range->points[range->npoints++] = start;
}

/* Another lane: what was read, or new. */
static StoredSetVersion *
AddLane(StoredSetRange *range, const StoredSetVersion *lane)
{
	range->lanes = StoredSetMakePlace(range->lanes, range->nlanes,
									  sizeof(StoredSetVersion));
	range->lanes[range->nlanes] = *lane;
	return &range->lanes[range->nlanes++];
}

/*
 * Keep a version of a lane.  If it is held, an add needs only its start and its
 * highest hash; a removal needs all of its hashes.
 */
static void
KeepLane(const StoredSetCall *call, StoredSetRange *range,
		 const StoredSetVersion *version)
{
	StoredSetVersion *lane = AddLane(range, version);
	StoredSetRow *row = &lane->row;

	lane->has_changed = false;
	lane->highest = row->start;
	for (int i = 0; i < row->nhashes; i++)
		lane->highest = Max(lane->highest, row->hashes[i]);
	if (version->is_latest)
		range->nhashes += row->nhashes;
	if (StoredSetIsFree(lane) || call->rewrites)
	{
		uint64	   *hashes = palloc(row->nhashes * sizeof(uint64));

		if (row->nhashes > 0)
			memcpy(hashes, row->hashes, row->nhashes * sizeof(uint64));
		row->hashes = hashes;
	}
	if (!StoredSetIsFree(lane))
		return;
	/* what another transaction has written is committed by now */
	if (!lane->place.is_own)
		row->ncommitted = row->nhashes;
	range->nmergeable += row->ncommitted;
}

/*
 * Read a version of a range's row.  True: it is committed, or our own, and so
 * says which keys of the range there are.
 *
 * That of another open transaction says nothing of keys, since it may be rolled
 * back.  But new keys above its start go to lanes there, where they will be
 * found whether or not it is.
 */
static bool
ReadRangeRow(StoredSetCall *call, StoredSetRange *range,
			 const StoredSetVersion *version, StoredSetKey *keys, uint64 nkeys)
{
	AddPoint(range, version->row.start);
	if (TransactionIdIsValid(version->creator))
	{
		range->holder = version->creator;
		return false;
	}
	if (TransactionIdIsValid(version->holder))
		range->holder = version->holder;
	range->pack = StoredSetCopyPack(&version->row.pack);
	range->place = version->place;
	range->is_visible = version->is_visible;
	range->nkeys = FindInList(call, version, keys, nkeys);
	range->keys = keys + nkeys - range->nkeys;
	range->nhashes += range->pack.nhashes;
	return true;
}

/* May this transaction write the row of a range? */
static bool
IsFree(const StoredSetRange *range)
{
	return range->is_visible && !TransactionIdIsValid(range->holder);
}

/* Where there is no row, there is an empty range: the whole stripe. */
static void
TakeStripe(StoredSetCall *call, StoredSetRange *range, StoredSetKey *keys,
		   uint64 nkeys, uint64 stripe)
{
	range->pack.packing = call->table.set.packing;
	range->pack.start = stripe;
	range->pack.last = StoredSetStripeEnd(stripe);
	range->is_visible = true;
	range->keys = keys;
	range->nkeys = nkeys;
	AddPoint(range, stripe);
}

/* Read the rows of a range that a search finds.  True: its own, too. */
static bool
ReadRows(StoredSetCall *call, StoredSetRange *range, StoredSetKey *keys,
		 uint64 nkeys)
{
	StoredSetTable *table = &call->table;
	StoredSetVersion version;

	while (StoredSetNext(table, &table->versions, &version))
	{
		NoteOpen(call, version.creator);
		NoteOpen(call, version.holder);
		BLOOM_PAUSE("set-version");
		if (version.row.lane == 0)
		{
			if (ReadRangeRow(call, range, &version, keys, nkeys))
				return true;
			continue;
		}
		FindInLane(call, &version, keys, nkeys);
		KeepLane(call, range, &version);
	}
	return false;
}

/* The highest of the points that are not above a hash. */
static uint64
PointOf(const StoredSetRange *range, uint64 hash)
{
	int			low = 0;

	for (int high = range->npoints - 1; low < high;)
	{
		int			middle = low + (high - low) / 2;

		if (range->points[middle] > hash)
			low = middle + 1;
		else
			high = middle;
	}
	return range->points[low];
}

/*
 * An error, if the snapshot that this transaction keeps sees a range above the one
 * that was found, whose row is there no more.
 *
 * Only SQL deletes rows of ranges.  The transaction's own tests would stop at such a
 * range, and miss the keys that it adds or merges below.
 */
static void
CheckDeleted(StoredSetCall *call, const StoredSetRange *range, uint64 from)
{
	StoredSetTable *table = &call->table;
	StoredSetVersion version;

	table->versions.lost_range = false;
	if (!IsolationUsesXactSnapshot())
		return;
	table->visible.at_entry = false;	/* search again */
	StoredSetFind(table, &table->visible, from, range->pack.start);
	while (StoredSetNext(table, &table->visible, &version))
	{
		if (version.row.lane == 0 &&
			PointOf(range, version.row.start) < version.row.start)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent delete"),
					 errdetail("Another transaction has deleted rows of the set by SQL since this one took its snapshot.")));
	}
}

/*
 * StoredSetReadRange
 *		Read the range of a hash, as far as it may have this hash or lower ones,
 *		and look there for keys, which are not above it.  The result is the number
 *		of keys that are below the range.
 *
 * A lane with a hash stands at its range's start, or above: where the highest
 * start was that any version of a range had, at or below the hash, when the hash
 * was added.  So it is between the hash and the start of the range.
 */
uint64
StoredSetReadRange(StoredSetCall *call, StoredSetRange *range,
				   StoredSetKey *keys, uint64 nkeys, uint64 from)
{
	uint64		stripe = StoredSetStripeStart(from);

	memset(range, 0, sizeof(*range));
	StoredSetFindRange(&call->table, &call->table.versions, from,
					   (from - stripe) / Max(nkeys, 1));
	if (!ReadRows(call, range, keys, nkeys))
		TakeStripe(call, range, keys, nkeys, stripe);
	/* rolled back, or deleted */
	if (call->table.versions.lost_range)
		CheckDeleted(call, range, from);
	return nkeys - range->nkeys;
}

/*
 * Keep the versions of lanes that only the snapshot of this transaction sees, since
 * another has removed keys from them: a split by this transaction must not come
 * between such a key and its lane.
 */
static void
KeepRemoved(StoredSetCall *call, StoredSetRange *range)
{
	StoredSetTable *table = &call->table;
	StoredSetVersion version = {0};

	table->visible.at_entry = false;	/* search again */
	StoredSetFind(table, &table->visible, range->pack.last, range->pack.start);
	while (StoredSetNext(table, &table->visible, &version))
	{
		/* else it was read with the others */
		if (version.row.lane > 0 &&
			!table_tuple_satisfies_snapshot(table->rel, table->slot,
											&table->dirty))
			KeepLane(call, range, &version);
	}
}

/* ----------------------------------------------------------------
 *							WHERE KEYS FIND PLACE
 * ----------------------------------------------------------------
 */

/*
 * Choose the cells of a range, by the size that its list would have with all keys.
 *
 * Whoever has a lane bars splits within it, until the transaction ends.  So where
 * splits are wanted, or will be soon, lanes keep to cells, at whose starts the range
 * can be split.  Cells are powers of two, so that those of several transactions
 * are within each other.
 *
 * In a range without a list, splits will be wanted soon.  There, the many keys of a
 * call keep to eighths of the stripe.  Single keys do not: more lanes would have to
 * be read.
 */
static void
SetCells(const StoredSetCall *call, StoredSetRange *range, Size size)
{
	uint64		ncells = size / PART_BYTES + 1;
	uint64		width = (range->pack.last - range->pack.start) / ncells;

	if (size > STORED_SET_LIST_BYTES && width > 1)
		range->cell_bits = Max(pg_leftmost_one_pos64(width),
							   call->table.set.packing.dropped);
	else if (range->pack.nhashes == 0 && call->nkeys > 1)
		range->cell_bits = YOUNG_CELL_BITS;
}

/* The start of a new lane for this hash. */
static uint64
HomeOf(const StoredSetRange *range, uint64 hash)
{
	uint64		point = PointOf(range, hash);

	return range->cell_bits == 0 ? point :
		Max(point, hash >> range->cell_bits << range->cell_bits);
}

/*
 * Can a lane be written anew without leaving a version, which others read until
 * this transaction ends?
 */
static inline bool
CanGrow(const StoredSetVersion *lane)
{
	return !lane->place.is_own || lane->place.length > 0 || lane->has_changed;
}

/* So many keys a lane takes. */
static inline int
MostKeys(const StoredSetVersion *lane)
{
	return !lane->place.is_own ? STORED_SET_FEW_KEYS :
		CanGrow(lane) ? OWN_KEYS : FEW_OWN_KEYS;
}

/*
 * A lane that has space for this many keys, from this hash on in one cell, or NULL:
 * of this transaction, or with few keys.
 */
static StoredSetVersion *
FindSpace(const StoredSetRange *range, uint64 hash, int64 slice, int n)
{
	uint64		point = PointOf(range, hash);
	uint64		home = HomeOf(range, hash);
	StoredSetVersion *best = NULL;

	for (int i = 0; i < range->nlanes; i++)
	{
		StoredSetVersion *lane = &range->lanes[i];
		bool		is_own = lane->place.is_own;

		if (StoredSetIsFree(lane) &&
			(lane->row.start == home || (is_own && lane->row.start == point)) &&
			(lane->row.slice == slice || lane->row.nhashes == 0) &&
			lane->row.nhashes + n <= MostKeys(lane) &&
			(best == NULL || is_own > best->place.is_own ||
			 (is_own == best->place.is_own &&
			  lane->row.nhashes > best->row.nhashes)))
			best = lane;
	}
	return best;
}

/* The room of a lane with this many hashes, if there will be more: 19, 39, 79 */
static int
RoomToGrow(int nhashes)
{
	int			room = STORED_SET_FEW_KEYS;

	while (room < nhashes)
		room = 2 * room + 1;
	return room;
}

/* A new lane at this start. */
static StoredSetVersion *
NewLane(StoredSetRange *range, uint64 start)
{
	StoredSetVersion lane = {.row.start = start,.is_visible = true,.highest = start};

	for (int i = 0; i < range->nlanes; i++)
	{
		if (range->lanes[i].row.start == start)
			lane.row.lane = Max(lane.row.lane, range->lanes[i].row.lane);
	}
	lane.row.lane++;
	return AddLane(range, &lane);
}

/* Could a lane grow later, by what can be told by those that are there? */
static bool
CanGrowLater(const StoredSetCall *call, const StoredSetRange *range)
{
	if (RelationIsLogicallyLogged(call->table.rel))
		return false;
	for (int i = 0; i < range->nlanes; i++)
	{
		if (!CanGrow(&range->lanes[i]))
			return false;
	}
	return true;
}

/* Put hashes of this transaction, which are in one cell, into lanes. */
static void
PutIntoLanes(const StoredSetCall *call, StoredSetRange *range, int64 slice,
			 const uint64 *hashes, uint64 n)
{
	while (n > 0)
	{
		int			some = (int) Min(n, STORED_SET_LANE_KEYS);
		StoredSetVersion *lane = FindSpace(range, hashes[0], slice, some);
		StoredSetRow *row;
		uint64	   *all;

		if (lane == NULL)
			lane = NewLane(range, HomeOf(range, hashes[0]));
		row = &lane->row;
		row->slice = slice;
		all = palloc((row->nhashes + some) * sizeof(uint64));
		if (row->nhashes > 0)
			memcpy(all, row->hashes, row->nhashes * sizeof(uint64));
		memcpy(all + row->nhashes, hashes, some * sizeof(uint64));
		row->hashes = all;
		row->nhashes += some;
		row->room = row->nhashes <= OWN_KEYS && CanGrowLater(call, range) &&
			(lane->place.is_own || call->nkeys == 1) ?
			RoomToGrow(row->nhashes) : 0;
		lane->has_changed = true;
		hashes += some;
		n -= some;
	}
}

/* Put items into lanes, those of one cell and slice together. */
static void
PutItems(const StoredSetCall *call, StoredSetRange *range,
		 const StoredSetItem *items, uint64 nitems)
{
	uint64	   *hashes = palloc_extended((nitems + 1) * sizeof(uint64),
										 MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < nitems;)
	{
		uint64		home = HomeOf(range, items[i].hash);
		int64		slice = items[i].slice;
		uint64		n = 0;

		for (; i < nitems && items[i].slice == slice &&
			 HomeOf(range, items[i].hash) == home; i++)
			hashes[n++] = items[i].hash;
		PutIntoLanes(call, range, slice, hashes, n);
	}
	pfree(hashes);
}

/* ----------------------------------------------------------------
 *							MERGING
 * ----------------------------------------------------------------
 */

static uint64
CountToBeWritten(const StoredSetCall *call, const StoredSetRange *range)
{
	uint64		n = 0;

	for (uint64 i = 0; i < range->nkeys; i++)
		n += StoredSetIsUndecided(call, &range->keys[i]);
	return n;
}

static int
CompareItems(const void *a, const void *b)
{
	const StoredSetItem *left = a;
	const StoredSetItem *right = b;

	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

/* The committed hashes of the lanes that are free, in order. */
static StoredSetItem *
CollectCommitted(const StoredSetRange *range)
{
	StoredSetItem *items = palloc((range->nmergeable + 1) * sizeof(StoredSetItem));
	int			n = 0;

	for (int i = 0; i < range->nlanes; i++)
	{
		const StoredSetRow *row = &range->lanes[i].row;

		for (int j = 0; StoredSetIsFree(&range->lanes[i]) && j < row->ncommitted; j++)
			items[n++] = (StoredSetItem)
		{
			row->hashes[j], row->slice
		};
	}
	Assert(n == range->nmergeable);
	qsort(items, n, sizeof(StoredSetItem), CompareItems);
	return items;
}

/*
 * Append an item to a list, unless it can be forgotten.  Of two of which the same is
 * kept, the list has the younger.
 */
static void
AppendItem(const StoredSetCall *call, StoredSetRange *range,
		   const StoredSetItem *item)
{
	const StoredSetPacking *packing = &call->table.set.packing;
	StoredSetItem *last = &range->items[range->nitems - 1];

	if (item->slice < call->droppable)
		return;
	if (range->nitems > 0 && StoredSetKept(packing, last->hash) ==
		StoredSetKept(packing, item->hash))
		last->slice = Max(last->slice, item->slice);
	else
		range->items[range->nitems++] = *item;
}

/* Make the new list of a range: the old one with the committed keys of lanes. */
static void
MakeItems(StoredSetCall *call, StoredSetRange *range)
{
	StoredSetItem *added = CollectCommitted(range);
	int			nold = range->pack.nhashes;
	StoredSetItem *old = StoredSetItemsOf(&call->table, &range->pack);
	int			j = 0;

	range->items = palloc((nold + range->nmergeable + 1) * sizeof(StoredSetItem));
	for (int i = 0; i < nold || j < range->nmergeable;)
	{
		bool		is_old = j == range->nmergeable ||
		(i < nold && old[i].hash <= added[j].hash);

		range->nmoved += !is_old && added[j].slice >= call->droppable;
		AppendItem(call, range, is_old ? &old[i++] : &added[j++]);
	}
	if (range->nitems > 0 &&
		range->items[range->nitems - 1].hash > range->pack.last)
		StoredSetInvalidRow(&call->table, range->pack.start, 0,
							"Its lanes have hashes of another range.");
	pfree(added);
	pfree(old);
}

/* Can the list tell all ages? */
static bool
AgesFit(const StoredSetRange *range)
{
	int64		youngest = PG_INT64_MIN;
	int64		oldest = PG_INT64_MAX;

	for (int i = 0; i < range->nitems; i++)
	{
		youngest = Max(youngest, range->items[i].slice);
		oldest = Min(oldest, range->items[i].slice);
	}
	return range->nitems == 0 || youngest - oldest <= STORED_SET_MAX_AGE;
}

/*
 * The hashes of the range that are known, in order: of its new list, of free lanes,
 * and of the keys that will be written.
 */
static uint64 *
CollectFree(const StoredSetCall *call, const StoredSetRange *range, uint64 *n)
{
	uint64		most = range->nitems + range->nhashes + range->nkeys;
	uint64	   *hashes = palloc_extended((2 * most + 1) * sizeof(uint64),
										 MCXT_ALLOC_HUGE);

	*n = 0;
	for (int i = 0; i < range->nitems; i++)
		hashes[(*n)++] = range->items[i].hash;
	for (int i = 0; i < range->nlanes; i++)
	{
		const StoredSetVersion *lane = &range->lanes[i];

		for (int j = lane->row.ncommitted;
			 StoredSetIsFree(lane) && j < lane->row.nhashes; j++)
			hashes[(*n)++] = lane->row.hashes[j];
	}
	for (uint64 i = 0; i < range->nkeys; i++)
	{
		if (StoredSetIsUndecided(call, &range->keys[i]))
			hashes[(*n)++] = range->keys[i].hash;
	}
	*n = BloomSortDistinct(hashes, hashes + most, *n, false);
	return hashes;
}

/*
 * May a range not be split here?  That is so if a lane below has a hash above, and is
 * not ours to change: from the lowest of these lanes to their highest hash.
 */
static bool
IsBarred(const StoredSetRange *range, uint64 start, uint64 *lowest,
		 uint64 *highest)
{
	CHECK_FOR_INTERRUPTS();
	*lowest = start;
	*highest = 0;
	for (int i = 0; i < range->nlanes; i++)
	{
		const StoredSetVersion *lane = &range->lanes[i];

		if (!StoredSetIsFree(lane) && lane->row.start < start &&
			lane->highest >= start)
		{
			*lowest = Min(*lowest, lane->row.start);
			*highest = Max(*highest, lane->highest);
		}
	}
	return *lowest < start;
}

/* The lowest start at or above this one at which a range can be split, or 0. */
static uint64
PlaceAbove(const StoredSetCall *call, const StoredSetRange *range, uint64 start)
{
	int			dropped = call->table.set.packing.dropped;
	uint64		lowest;
	uint64		highest;

	/* a list can begin where no kept bit is lost */
	while (IsBarred(range, start, &lowest, &highest))
		start = ((highest >> dropped) + 1) << dropped;
	return start;
}

/* The highest such start at or below this one, or that of the range. */
static uint64
PlaceBelow(const StoredSetRange *range, uint64 start)
{
	uint64		lowest;
	uint64		highest;

	while (IsBarred(range, start, &lowest, &highest))
		start = lowest;
	return start;
}

/*
 * Split a range at a hash, without the bits that are dropped, or near it, where it
 * can be, and where it has hashes on both sides.
 */
static void
TrySplitAt(const StoredSetCall *call, StoredSetRange *range, uint64 hash,
		   const uint64 *hashes, uint64 nhashes)
{
	int			dropped = call->table.set.packing.dropped;
	uint64		wanted = hash >> dropped << dropped;
	uint64		above = range->npoints == 0 ? hashes[nhashes - 1 - nhashes / 16] :
	range->points[range->npoints - 1] - 1;
	uint64		start = PlaceBelow(range, wanted);

	if (start <= hashes[nhashes / 16])
		start = PlaceAbove(call, range, wanted);
	if (start > hashes[nhashes / 16] && start > range->pack.start && start <= above)
		AddPoint(range, start);
}

/* The size of the part of a range that begins at a point. */
static Size
PartSize(const StoredSetCall *call, const StoredSetRange *range, int point,
		 int *first, int end)
{
	uint64		start = range->points[point];

	*first = end;
	while (*first > 0 && range->items[*first - 1].hash >= start)
		(*first)--;
	return StoredSetPackSize(&call->table.set.packing, end - *first, start,
							 *first == end ? start : range->items[end - 1].hash);
}

/*
 * Set the starts of the parts of a range, so that each has about as many keys.
 * False: there would be one whose list is too long.
 */
static bool
FindParts(StoredSetCall *call, StoredSetRange *range, Size size)
{
	uint64		nparts = size <= STORED_SET_LIST_BYTES ? 1 : size / PART_BYTES + 1;
	uint64		nhashes;
	uint64	   *hashes = CollectFree(call, range, &nhashes);

	/* a hash takes a bit or more, and its number in a list two bytes */
	StaticAssertStmt(STORED_SET_HARD_BYTES < PG_UINT16_MAX / 8, "a list can have too many hashes");
	range->npoints = 0;
	for (uint64 i = nparts - 1; i > 0 && nhashes > 0; i--)
		TrySplitAt(call, range, hashes[nhashes * i / nparts], hashes, nhashes);
	AddPoint(range, range->pack.start);
	pfree(hashes);
	for (int i = 0, end = range->nitems; i < range->npoints; i++)
	{
		if (PartSize(call, range, i, &end, end) > STORED_SET_HARD_BYTES)
			return false;
	}
	return true;
}

/* The highest hash that is known of a range, or will be written. */
static uint64
HighestOf(const StoredSetRange *range)
{
	uint64		highest = Max(range->pack.start, StoredSetHighestPacked(&range->pack));

	for (int i = 0; i < range->nlanes; i++)
		highest = Max(highest, range->lanes[i].highest);
	return range->nkeys == 0 ? highest :
		Max(highest, range->keys[range->nkeys - 1].hash);
}

/*
 * Is it worth a try to split a range?  Not while there are few keys that cannot be
 * merged; nor if lanes that others hold leave no place; nor for keys that find
 * place in lanes of this transaction.
 */
static bool
CanBeSplit(const StoredSetCall *call, const StoredSetRange *range, uint64 nnew,
		   uint64 highest)
{
	uint64		place;

	if (range->nhashes + nnew - range->pack.nhashes - range->nmergeable <=
		STORED_SET_LANE_KEYS ||
		(nnew > 0 && FindSpace(range, range->keys[0].hash, call->current,
							   (int) Min(nnew, STORED_SET_LANE_KEYS)) != NULL))
		return false;
	place = PlaceAbove(call, range, range->pack.start + 1);
	return place != 0 && place <= highest;
}

/*
 * Take out of the lanes the hashes that were merged, and those of this
 * transaction that are in a part of the range which now begins above their lane.
 * The latter go to lanes of their part.
 */
static void
MoveFromLanes(const StoredSetCall *call, StoredSetRange *range)
{
	StoredSetItem *moved = palloc((range->nhashes + 1) * sizeof(StoredSetItem));
	uint64		nmoved = 0;

	for (int i = 0; i < range->nlanes; i++)
	{
		StoredSetVersion *lane = &range->lanes[i];
		StoredSetRow *row = &lane->row;
		uint64	   *hashes = (uint64 *) row->hashes;
		int			nkept = 0;

		for (int j = row->ncommitted; StoredSetIsFree(lane) && j < row->nhashes; j++)
		{
			if (PointOf(range, hashes[j]) <= row->start)
				hashes[nkept++] = hashes[j];
			else
				moved[nmoved++] = (StoredSetItem)
			{
				hashes[j], row->slice
			};
		}
		if (!StoredSetIsFree(lane) || nkept == row->nhashes)
			continue;
		row->ncommitted = 0;
		row->nhashes = nkept;
		row->room = 0;
		lane->has_changed = true;
		lane->place.length = 0;
	}
	qsort(moved, nmoved, sizeof(StoredSetItem), CompareItems);
	PutItems(call, range, moved, nmoved);
	pfree(moved);
}

/*
 * StoredSetPlanRange
 *		If there are at least this many committed keys in lanes, make a new list
 *		of the range, and split it if it is too long.  It is also split if it has
 *		many keys in lanes that cannot be merged yet.
 *
 * A call that adds does so with fewer, if its keys would not find space beside them in
 * a lane.
 *
 * Nothing is written here; nor will it be, if nothing would change but a few keys
 * that are moved.
 */
void
StoredSetPlanRange(StoredSetCall *call, StoredSetRange *range, int least)
{
	const StoredSetPacking *packing = &call->table.set.packing;
	uint64		nnew = CountToBeWritten(call, range);
	uint64		highest = HighestOf(range);
	Size		size = StoredSetPackSize(packing, range->nhashes + nnew,
										 range->pack.start, highest);

	SetCells(call, range, size);
	if (!call->rewrites)
		least = Max(least / 2, least + 1 - (int) Min(nnew, (uint64) least));
	if (!IsFree(range) || (nnew == 0 && !call->rewrites) ||
		(range->nmergeable < least &&
		 (size <= STORED_SET_LIST_BYTES ||
		  !CanBeSplit(call, range, nnew, highest))))
		return;
	if (size > STORED_SET_LIST_BYTES)
	{
		uint64		start = range->pack.start;

		/* its upper part can have lanes that are not known yet */
		(void) StoredSetReadRange(call, range, range->keys, range->nkeys,
								  range->pack.last);
		if (range->pack.start != start)
			call->has_gap = true;	/* another range within it? */
		if (IsolationUsesXactSnapshot())
			KeepRemoved(call, range);
		size = StoredSetPackSize(packing, range->nhashes + nnew,
								 range->pack.start, HighestOf(range));
		SetCells(call, range, size);
		if (!IsFree(range))
			return;
	}
	MakeItems(call, range);
	if (AgesFit(range) && FindParts(call, range, size) &&
		(range->npoints > 1 || range->nmergeable >= least))
	{
		if (range->npoints > 1)
			range->cell_bits = 0;
		MoveFromLanes(call, range);
		return;
	}
	/* leave it as it is */
	range->items = NULL;
	range->nitems = 0;
	range->npoints = 0;
	AddPoint(range, range->pack.start);
}

/* ----------------------------------------------------------------
 *							WRITING
 * ----------------------------------------------------------------
 */

/* Write the rows of the parts of a range. */
static void
WriteParts(StoredSetCall *call, StoredSetRange *range)
{
	StoredSetPlace nowhere = {0};

	for (int i = 0, end = range->nitems, first; i < range->npoints; i++)
	{
		bool		is_lowest = i == range->npoints - 1;
		StoredSetRow row = {0};

		(void) PartSize(call, range, i, &first, end);
		row.start = range->points[i];
		row.pack.packing = call->table.set.packing;
		row.pack.start = row.start;
		row.pack.last = i == 0 ? range->pack.last : range->points[i - 1] - 1;
		row.pack.mark = range->pack.mark && is_lowest;
		row.slice = first == end ? call->current : range->items[first].slice;
		for (int j = first; j < end; j++)
			row.slice = Max(row.slice, range->items[j].slice);
		row.pack.slice = row.slice;
		StoredSetWriteRow(&call->table, is_lowest ? &range->place : &nowhere,
						  &row, range->items + first, end - first);
		end = first;
	}
}

/* Write the lanes that have changed.  Those that are empty now go. */
static void
WriteLanes(StoredSetCall *call, StoredSetRange *range)
{
	for (int i = 0; i < range->nlanes; i++)
	{
		StoredSetVersion *lane = &range->lanes[i];

		if (!lane->has_changed)
			continue;
		if (lane->row.nhashes > 0)
			StoredSetWriteRow(&call->table, &lane->place, &lane->row, NULL, 0);
		else if (ItemPointerIsValid(&lane->place.tid))
			StoredSetDeleteRow(&call->table, &lane->place);
	}
}

/*
 * StoredSetWriteRange
 *		Write what was planned for a range, and its new keys.
 */
void
StoredSetWriteRange(StoredSetCall *call, StoredSetRange *range)
{
	StoredSetItem *added = palloc_extended((range->nkeys + 1) * sizeof(StoredSetItem),
										   MCXT_ALLOC_HUGE);
	uint64		nadded = 0;

	for (uint64 i = 0; i < range->nkeys; i++)
	{
		StoredSetKey *key = &range->keys[i];

		if (!StoredSetIsUndecided(call, key))
			continue;
		if (key->answer == STORED_SET_UNKNOWN)
			key->answer = STORED_SET_FRESH;
		key->is_held = true;
		added[nadded++] = (StoredSetItem)
		{
			key->hash, call->current
		};
	}
	if (range->items != NULL)
		WriteParts(call, range);
	PutItems(call, range, added, nadded);
	WriteLanes(call, range);
	pfree(added);
}

/* ----------------------------------------------------------------
 *							REMOVING
 * ----------------------------------------------------------------
 */

/*
 * A transaction that must end before a version can be written that has the hash
 * which is to be removed.  An error, if it is one that the transaction's
 * snapshot does not see, and that has been committed.
 */
static TransactionId
BlockerOf(TransactionId creator, TransactionId holder, bool is_visible)
{
	if (TransactionIdIsValid(creator))
		return creator;
	if (TransactionIdIsValid(holder))
		return holder;
	if (!is_visible)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Another transaction has written the key since this one took its snapshot.")));
	return InvalidTransactionId;
}

/* Take a hash out of a lane.  False: it was not there. */
static bool
RemoveFromLane(StoredSetVersion *lane, uint64 hash)
{
	StoredSetRow *row = &lane->row;
	uint64	   *hashes = (uint64 *) row->hashes;
	int			nhashes = row->nhashes;
	int			ncommitted = row->ncommitted;
	int			n = 0;

	for (int i = 0; i < nhashes; i++)
	{
		if (hashes[i] != hash)
			hashes[n++] = hashes[i];
		else if (i < ncommitted)
			row->ncommitted--;
	}
	row->nhashes = n;
	return n < nhashes;
}

/*
 * StoredSetTakeHash
 *		Plan to take a hash out of a range and its lanes, of which each copy was
 *		read.  The result is a transaction that prevents it.
 */
TransactionId
StoredSetTakeHash(StoredSetCall *call, StoredSetRange *range, uint64 hash)
{
	TransactionId blocker = InvalidTransactionId;
	int64		slice;
	int			n = 0;

	for (int i = 0; i < range->nlanes && !TransactionIdIsValid(blocker); i++)
	{
		StoredSetVersion *lane = &range->lanes[i];

		if (!RemoveFromLane(lane, hash))
			continue;
		lane->has_changed = true;
		lane->place.length = 0;
		blocker = BlockerOf(lane->creator, lane->holder, lane->is_visible);
	}
	/* what another has merged, it has deleted from a lane, and holds that */
	if (TransactionIdIsValid(blocker) ||
		!StoredSetFindPacked(&range->pack, hash, &slice))
		return blocker;
	blocker = BlockerOf(InvalidTransactionId, range->holder, range->is_visible);
	if (TransactionIdIsValid(blocker))
		return blocker;
	Assert(IsFree(range));
	range->items = StoredSetItemsOf(&call->table, &range->pack);
	for (int i = 0; i < range->pack.nhashes; i++)
	{
		if (range->items[i].hash != hash)
			range->items[n++] = range->items[i];
	}
	range->nitems = n;
	return InvalidTransactionId;
}

/*
 * StoredSetTakeMark
 *		Plan to write the list of a range as it is, with the mark.  The result is a
 *		transaction that prevents it.
 */
TransactionId
StoredSetTakeMark(StoredSetCall *call, StoredSetRange *range, uint64 hash)
{
	(void) hash;
	if (!IsFree(range))
		return BlockerOf(InvalidTransactionId, range->holder,
						 range->is_visible);
	range->items = StoredSetItemsOf(&call->table, &range->pack);
	range->nitems = range->pack.nhashes;
	range->pack.mark = true;
	return InvalidTransactionId;
}
