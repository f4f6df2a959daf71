/*
 * Packed lists of stored sets (set/pack.c) against plain arrays, and under bytes
 * that were made up.
 */
#include "c.h"

#undef snprintf
#undef qsort
#include <stdio.h>
#include <stdlib.h>

#include "set/pack.h"
#include "tap.h"

#define MOST	2000

static uint64 state = 1;

#define Random()	next_random(&state)

static int
Compare(const void *a, const void *b)
{
	const StoredSetItem *left = a;
	const StoredSetItem *right = b;

	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

/* Random items in a range, distinct in what is kept, sorted; the result is their number. */
static int
MakeItems(StoredSetItem *items, int n, const StoredSetPack *pack)
{
	uint64		span = pack->last - pack->start;
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		items[i].hash = pack->start + (span == PG_UINT64_MAX ? Random() : Random() % (span + 1));
		items[i].slice = pack->packing.has_ages ? pack->slice - (int64) (Random() % (STORED_SET_MAX_AGE + 1)) : 0;
	}
	/* the ends of the range, too */
	if (n > 2)
	{
		items[0].hash = pack->start;
		items[1].hash = pack->last;
	}
	qsort(items, n, sizeof(StoredSetItem), Compare);
	for (int i = 0; i < n; i++)
	{
		if (kept == 0 || StoredSetKept(&pack->packing, items[kept - 1].hash) !=
			StoredSetKept(&pack->packing, items[i].hash))
			items[kept++] = items[i];
	}
	return kept;
}

/* What goes wrong with a list of up to n items in a range, or NULL. */
static const char *
RoundTrip(StoredSetPack like, int n)
{
	static StoredSetItem items[MOST];
	static StoredSetItem unpacked[MOST];
	StoredSetPack pack = like;
	int			nitems = MakeItems(items, n, &like);
	Size		most = StoredSetPackSize(&like.packing, nitems, like.start,
										 nitems == 0 ? like.start : items[nitems - 1].hash);
	uint8	   *bytes = malloc(most);	/* so that a sanitizer sees its end */
	uint8	   *exact;
	Size		size = StoredSetWritePack(bytes, &like, items, nitems);
	const char *wrong = NULL;
	int64		slice;

	if (size != most)
		return "its size is not what was said";
	exact = malloc(size);
	memcpy(exact, bytes, size);
	if (StoredSetReadPack(&pack, exact, size) != NULL || pack.nhashes != nitems ||
		pack.last != like.last || pack.mark != like.mark)
		wrong = "its head is not read";
	else if (!StoredSetUnpack(&pack, unpacked))
		wrong = "it is not unpacked";
	else if (nitems > 0 && StoredSetHighestPacked(&pack) != unpacked[nitems - 1].hash)
		wrong = "its highest hash is another";
	for (int i = 0; i < nitems && wrong == NULL; i++)
	{
		if (unpacked[i].hash != items[i].hash >> like.packing.dropped << like.packing.dropped ||
			unpacked[i].slice != items[i].slice)
			wrong = "an item is another";
		else if (!StoredSetFindPacked(&pack, items[i].hash, &slice) || slice != items[i].slice)
			wrong = "an item is not found";
	}
	/* those beside each, and others */
	for (int i = 0; i < 3 * nitems + 50 && wrong == NULL; i++)
	{
		uint64		next = UINT64CONST(1) << like.packing.dropped;
		uint64		hash = i < 3 * nitems ? items[i / 3].hash + (i % 3 - 1) * next : Random();
		bool		there = false;

		for (int j = 0; j < nitems; j++)
			there |= StoredSetKept(&like.packing, items[j].hash) == StoredSetKept(&like.packing, hash);
		/* of those at the end of the range of which the same is kept, some are not in it */
		if (hash < like.start || hash > like.last)
			there = false;
		if (StoredSetFindPacked(&pack, hash, &slice) != there)
			wrong = there ? "a hash is denied" : "a hash is imagined";
	}
	free(bytes);
	free(exact);
	return wrong;
}

/* Bytes that were made up, or changed: they lead nowhere. */
static void
Hostile(StoredSetPack like, int n)
{
	static StoredSetItem items[MOST];
	static StoredSetItem unpacked[PG_UINT16_MAX + 1];
	int			nitems = MakeItems(items, n, &like);
	uint8	   *bytes = malloc(StoredSetPackSize(&like.packing, nitems, like.start, like.last));
	Size		size = StoredSetWritePack(bytes, &like, items, nitems);

	for (int i = 0; i < 200; i++)
	{
		StoredSetPack pack = like;
		Size		length = i % 4 == 0 ? Random() % (size + 1) : size;
		uint8	   *copy = malloc(length + (length == 0));
		int64		slice;

		memcpy(copy, bytes, length);
		for (int j = 0; j < 1 + i % 5 && length > 0; j++)
			copy[i % 3 == 0 ? Random() % Min(length, STORED_SET_PACK_HEADER) : Random() % length] = (uint8) Random();
		if (StoredSetReadPack(&pack, copy, length) == NULL)
		{
			(void) StoredSetUnpack(&pack, unpacked);
			for (int j = 0; j < 20; j++)
				(void) StoredSetFindPacked(&pack, j % 2 == 0 ? Random() : like.start + Random() % (like.last - like.start), &slice);
		}
		free(copy);
	}
	free(bytes);
}

int
main(void)
{
	static const int bits[] = {64, 63, 56, 48, 40, 33, 32};
	static const int widths[] = {58, 57, 50, 48, 44, 36};

	for (int ages = 0; ages < 2; ages++)
	{
		for (int i = 0; i < (int) lengthof(bits); i++)
		{
			const char *wrong = NULL;
			char		name[100];
			int			lists = 0;

			for (int j = 0; j < (int) lengthof(widths); j++)
			{
				StoredSetPack like = {.packing = {64 - bits[i], ages == 1},.slice = 1000 * ages,.mark = j % 2};
				uint64		width = UINT64CONST(1) << widths[j];

				if (widths[j] <= 64 - bits[i])
					continue;
				like.start = Random() / width * width;
				like.last = like.start + width - 1;
				for (int n = 0; n < 300 && wrong == NULL; n += n < 40 ? 1 : 37, lists++)
					wrong = RoundTrip(like, n);
				if (wrong == NULL)
					wrong = RoundTrip(like, MOST);
				Hostile(like, 150);
			}
			snprintf(name, sizeof(name), "%d bits kept%s, %d lists: %s", bits[i],
					 ages ? ", with ages" : "", lists, wrong == NULL ? "right" : wrong);
			ok(wrong == NULL, name);
		}
	}

	/* ranges that are no powers of two, at the ends of all hashes */
	{
		StoredSetPack like = {.start = 0,.last = 12345678901234567};

		ok(RoundTrip(like, 200) == NULL, "from the lowest hash");
		like.start = PG_UINT64_MAX - 12345678901;
		like.last = PG_UINT64_MAX;
		ok(RoundTrip(like, 200) == NULL, "to the highest hash");
		like.start = like.last;
		ok(RoundTrip(like, 1) == NULL, "a range of one hash");
		like.start = 0;
		ok(RoundTrip(like, 200) == NULL, "all hashes");
	}

	/* chosen hashes: near each other, in a range that is wide */
	for (int bits = 0; bits <= 12; bits += 4)
	{
		static StoredSetItem items[MOST];
		static uint8 bytes[8192];
		StoredSetPack like = {.start = 0,.last = UINT64CONST(1) << 56};
		Size		size;

		for (int i = 0; i < MOST; i++)
			items[i].hash = (uint64) (i + 1) << bits;
		size = StoredSetWritePack(bytes, &like, items, MOST);
		/* 2 bits and those of the stride, of each */
		ok(size <= STORED_SET_PACK_HEADER + MOST * (2 + bits) / 8 + 2,
		   "hashes at a distance of each other take what that takes");
	}

	/* frozen: five hashes in a range of 2^16, with ages */
	{
		static const StoredSetItem items[] = {{0x10000, 7}, {0x10001, 6}, {0x10400, 7}, {0x18000, 1}, {0x1ffff, 7}};
		/* head; high parts; low parts of 13 bits; ages 0, 1, 0, 6, 0 */
		static const uint8 frozen[] = {
			0x81, 13, 5, 0, 0xff, 0xff, 0x01, 0, 0, 0, 0, 0,
			0x87, 0x08,
			0x00, 0x20, 0x00, 0x00, 0x10, 0x00, 0xf0, 0xff, 0x01,
			0x40, 0x00, 0x18, 0x00
		};
		StoredSetPack like = {.packing = {0, true},.start = 0x10000,.last = 0x1ffff,.slice = 7,.mark = true};
		uint8		bytes[64];

		ok(StoredSetWritePack(bytes, &like, items, 5) == sizeof(frozen) &&
		   memcmp(bytes, frozen, sizeof(frozen)) == 0, "frozen bytes");
	}
	return done_testing();
}
