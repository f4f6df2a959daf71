/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between the supported servers, PostgreSQL 15 to 19.
 *
 * The rest of the code reads as on the newest server.  Beside this file, only
 * those of the planner (plan/plan_compat.h, seen/seen_compat.h), of tables and
 * indexes (set/set_compat.h) and of the executor (scan/scan_compat.h) ask for the
 * server's version.
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

/* A row type that is made by hand is to be completed since PostgreSQL 19 */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(tupdesc)	((void) (tupdesc))
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

#endif							/* BLOOM_COMPAT_H */
