/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between the supported servers, PostgreSQL 13 to 19.
 *
 * The rest of the code reads as on the newest server.  Beside this file, only
 * func/compat.h, for the planner and EXPLAIN, and set/compat.h ask for the
 * server's version.
 *
 * PostgreSQL 13 and 14 have come to their ends.  When they go, so do in these
 * files the blocks for < 140000 and < 150000, BloomRangeOf, BloomWindowFilters'
 * last form, and CUSTOMPATH_SUPPORT_PROJECTION.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_COMPAT_H
#define BLOOM_COMPAT_H

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "common/base64.h"

/* PostgreSQL 16 declares what it calls in a library */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/* The snapshot for TOAST tables, in this space where the server wants one */
#include "access/toast_internals.h"
static inline Snapshot
BloomToastSnapshot(SnapshotData *space)
{
#if PG_VERSION_NUM >= 180000
	(void) space;
	return get_toast_snapshot();
#else
	init_toast_snapshot(space);
	return space;
#endif
}

/* What hash tables may take; PostgreSQL 15 gives it in bytes */
#if PG_VERSION_NUM >= 150000
#define BloomHashMemoryLimit()	((Size) get_hash_memory_limit())
#else
#define BloomHashMemoryLimit()	((Size) get_hash_mem() * 1024)
#endif

/*
 * Soft errors came with PostgreSQL 16: an input function reports bad input to
 * its caller, if that has asked for it.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define ereturn(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/*
 * Multiranges came with PostgreSQL 14.  Before, no value is one, so that this
 * is compiled but never reached.
 */
#if PG_VERSION_NUM >= 140000
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#define BloomRangeOf(multirange_type)	get_multirange_range(multirange_type)
#else
#include "utils/rangetypes.h"
#define TYPTYPE_MULTIRANGE	'm'
typedef RangeType MultirangeType;
#define BloomRangeOf(multirange_type)	InvalidOid
#define multirange_deserialize(type, multirange, nranges, ranges) \
	((void) (type), (void) (multirange), *(nranges) = 0, *(ranges) = NULL)
#define MONEYOID	CASHOID
#define PG_LSNOID	LSNOID
#endif

#if PG_VERSION_NUM >= 170000
#define BloomLocalTransaction()	(MyProc->vxid.lxid)
#else
#define BloomLocalTransaction()	(MyProc->lxid)
#endif

/* base64 took char before PostgreSQL 18, and takes uint8 since */
static inline int
BloomBase64Encode(const uint8 *src, int len, char *dst, int dstlen)
{
#if PG_VERSION_NUM >= 180000
	return pg_b64_encode(src, len, dst, dstlen);
#else
	return pg_b64_encode((const char *) src, len, dst, dstlen);
#endif
}

static inline int
BloomBase64Decode(const char *src, int len, uint8 *dst, int dstlen)
{
#if PG_VERSION_NUM >= 180000
	return pg_b64_decode(src, len, dst, dstlen);
#else
	return pg_b64_decode(src, len, (char *) dst, dstlen);
#endif
}

/* One function for the privileges of all objects came with PostgreSQL 16 */
#if PG_VERSION_NUM < 160000
#define object_aclcheck(catalog, oid, role, mode) \
	((catalog) == NamespaceRelationId ? \
	 pg_namespace_aclcheck(oid, role, mode) : pg_proc_aclcheck(oid, role, mode))
#endif

/* Conversion without errors came with PostgreSQL 14: before, that of ASCII */
#if PG_VERSION_NUM < 140000
#include "mb/pg_wchar.h"

static inline int
pg_do_encoding_conversion_buf(Oid proc, int from, int to, unsigned char *src,
							  int srclen, unsigned char *dst, int dstlen,
							  bool no_error)
{
	int			n = 0;

	(void) proc;
	(void) from;
	(void) to;
	(void) dstlen;
	(void) no_error;
	for (; n < srclen && !IS_HIGHBIT_SET(src[n]); n++)
		dst[n] = src[n];
	dst[n] = '\0';
	return n;
}
#endif

#endif							/* BLOOM_COMPAT_H */
