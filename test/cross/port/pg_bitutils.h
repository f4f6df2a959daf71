/*
 * In place of the server's header of this name, whose functions are in a
 * library that is there for this machine only.
 */
#ifndef PG_BITUTILS_H
#define PG_BITUTILS_H

static inline int
pg_popcount64(uint64 word)
{
	return __builtin_popcountll(word);
}

static inline uint64
pg_popcount(const char *buf, int bytes)
{
	uint64		count = 0;

	for (int i = 0; i < bytes; i++)
		count += __builtin_popcount((unsigned char) buf[i]);
	return count;
}

#endif							/* PG_BITUTILS_H */
