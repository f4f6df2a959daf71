/*-------------------------------------------------------------------------
 *
 * set/pack.h
 *		Packed lists: sorted hashes of a range, Elias-Fano coded, with ages.
 *
 * The format
 * ----------
 *
 *		0	1	version, 1; bit 7: the mark
 *		1	1	number of low bits, b
 *		2	2	number of hashes, n
 *		4	8	the last hash that the range can have
 *		12		high parts, low parts, ages
 *
 * The first hash that the range can have, its start, stands elsewhere.  A set
 * keeps the upper 64 bits of a hash, or fewer: let h be a hash without the bits
 * that are dropped, and s the start without them.  Then the list has the numbers
 * x = h - s, ascending and distinct:
 *
 *	- High parts, x >> b: for each number as many zero bits as its high part is
 *	  above that of the number before, then a one bit.  So the number i has its
 *	  one bit at (x >> b) + i.
 *	- Low parts: the low b bits of each number, side by side.  A writer chooses b
 *	  by the highest number: n to 2n values of the high part are up to that.
 *	- Ages: 6 bits of each, side by side, in a set that forgets.
 *
 * Each of the three parts begins with a byte of its own.  Bit i of a part is bit
 * i%8 of its byte i/8, and numbers are little-endian.
 *
 * The high parts of n hashes that are spread evenly take about 2 bits each, so
 * a hash takes 2 + log2(range / n).  (Elias 1974, Fano 1971.)
 *
 * Nothing here needs a server: c.h is enough.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_PACK_H
#define SET_PACK_H

#define STORED_SET_PACK_HEADER	12
#define STORED_SET_PACK_MARK	0x80

/* Ages: in slices, counted back from that of the list */
#define STORED_SET_AGE_BITS		6
#define STORED_SET_MAX_AGE		((1 << STORED_SET_AGE_BITS) - 1)

/* How the lists of a set are packed */
typedef struct StoredSetPacking
{
	int			dropped;		/* low bits of hashes */
	bool		has_ages;
} StoredSetPacking;

/* A hash with its age */
typedef struct StoredSetItem
{
	uint64		hash;
	int64		slice;			/* 0 in a set that keeps its keys forever */
} StoredSetItem;

/* A packed list, where it is stored */
typedef struct StoredSetPack
{
	StoredSetPacking packing;
	uint64		start;
	uint64		last;
	int64		slice;			/* of age 0 */
	int			nhashes;
	int			low;
	bool		mark;
	const uint8 *high_parts;
	Size		nhigh;			/* bytes */
	const uint8 *low_parts;
	const uint8 *ages;
	const uint8 *end;
} StoredSetPack;

extern Size StoredSetPackSize(const StoredSetPacking *packing, uint64 nhashes,
							  uint64 start, uint64 highest);
extern Size StoredSetWritePack(uint8 *out, const StoredSetPack *pack,
							   const StoredSetItem *items, int nitems);
extern const char *StoredSetReadPack(StoredSetPack *pack, const uint8 *data,
									 Size size);
extern bool StoredSetFindPacked(const StoredSetPack *pack, uint64 hash,
								int64 *slice);
extern uint64 StoredSetHighestPacked(const StoredSetPack *pack);
extern bool StoredSetUnpack(const StoredSetPack *pack, StoredSetItem *items);

/* What a packed list keeps of a hash: hashes of which it keeps the same are one. */
static inline uint64
StoredSetKept(const StoredSetPacking *packing, uint64 hash)
{
	return hash >> packing->dropped;
}

#endif							/* SET_PACK_H */
