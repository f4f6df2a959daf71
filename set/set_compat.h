/*-------------------------------------------------------------------------
 *
 * set/set_compat.h
 *		What differs between the supported servers for stored sets alone: the
 *		heap, indexes, locks.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_COMPAT_H
#define SET_COMPAT_H

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "parser/parse_type.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/rel.h"

/* What the server's transactions have in common was renamed in PostgreSQL 17 */
#include "access/transam.h"
#if PG_VERSION_NUM < 170000
#define TransamVariables	ShmemVariableCache
#endif

/* One function asks for the lock itself, or a stronger one, since PostgreSQL 17 */
#if PG_VERSION_NUM < 170000
#define LockHeldByMe(tag, mode, orstronger) LockHeldByMe(tag, mode)
#endif

/* Which indexes an update needs became an enum with PostgreSQL 16 */
#if PG_VERSION_NUM < 160000
#define TU_UpdateIndexes	bool
#define TU_All				true
#endif

/*
 * Write new data, of the same size, over that of a tuple.
 *
 * XXX heap_inplace_update is there for catalogs, and the server promises it to
 * nobody else.  A version that is overwritten here is one that no other session
 * sees, so that it does not matter that the write is not undone by itself (see
 * "Overwriting" in set/README).  By GenericXLog, the interface for
 * extensions, it takes ten times as long, and its records fail
 * wal_consistency_checking, which does not know how to mask a heap page for them.
 */
static inline void
BloomOverwriteTuple(Relation rel, HeapTuple tuple)
{
#if PG_VERSION_NUM >= 180000
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(&tuple->t_self));
	HeapTupleData old = *tuple;

	LockTuple(rel, &tuple->t_self, InplaceUpdateTupleLock);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	old.t_data = (HeapTupleHeader) PageGetItem(BufferGetPage(buffer),
											   PageGetItemId(BufferGetPage(buffer),
															 ItemPointerGetOffsetNumber(&tuple->t_self)));
	heap_inplace_update_and_unlock(rel, &old, tuple, buffer);
	ReleaseBuffer(buffer);
#else
	heap_inplace_update(rel, tuple);
#endif
}

/* Privileges moved out of the range table's entries with PostgreSQL 16 */
#if PG_VERSION_NUM >= 160000
#define BloomPermissions		RTEPermissionInfo
#define BloomMakePermissions(rte) \
	((rte)->perminfoindex = 1, makeNode(RTEPermissionInfo))
#define BloomHasPermissions(rte, permissions) \
	ExecCheckPermissions(list_make1(rte), list_make1(permissions), false)
#else
#define BloomPermissions		RangeTblEntry
#define BloomMakePermissions(rte)	(rte)
#define BloomHasPermissions(rte, permissions) \
	ExecCheckRTPerms(list_make1(rte), false)
#endif

/* The strategy, which was a number, is a bool in PostgreSQL 18: reverse? */
#if PG_VERSION_NUM >= 180000
#define BloomPrepareSort(index, ssup) \
	PrepareSortSupportFromIndexRel(index, false, ssup)
#else
#define BloomPrepareSort(index, ssup) \
	PrepareSortSupportFromIndexRel(index, BTLessStrategyNumber, ssup)
#endif

/*
 * Index scans got a place for EXPLAIN's counts with PostgreSQL 18, and scans flags
 * with 19.  Updates and deletes got options with 19, and those of
 * table_tuple_insert, of which we use none, became unsigned.
 */
#if PG_VERSION_NUM < 190000
#define SO_NONE 0
#if PG_VERSION_NUM >= 180000
#define index_beginscan(rel, index, snapshot, instrument, nkeys, norderbys, flags) \
	index_beginscan(rel, index, snapshot, instrument, nkeys, norderbys)
#else
#define index_beginscan(rel, index, snapshot, instrument, nkeys, norderbys, flags) \
	index_beginscan(rel, index, snapshot, nkeys, norderbys)
#endif
#define table_beginscan(rel, snapshot, nkeys, key, flags) \
	table_beginscan(rel, snapshot, nkeys, key)
#define table_tuple_update(rel, tid, slot, cid, options, snapshot, crosscheck, wait, failure, lockmode, update_indexes) \
	table_tuple_update(rel, tid, slot, cid, snapshot, crosscheck, wait, failure, lockmode, update_indexes)
#define table_tuple_delete(rel, tid, cid, options, snapshot, crosscheck, wait, failure) \
	table_tuple_delete(rel, tid, cid, snapshot, crosscheck, wait, failure, false)
#endif

/* A datum of a sort may be read without a copy since PostgreSQL 16 */
#include "utils/tuplesort.h"
#if PG_VERSION_NUM < 160000
#define tuplesort_getdatum(sort, forward, copy, value, isnull, abbrev) \
	tuplesort_getdatum(sort, forward, value, isnull, abbrev)
#endif

/* Who truncates may be the table's owner, for subscribers, since PostgreSQL 16 */
#include "commands/tablecmds.h"
#if PG_VERSION_NUM < 160000
#define ExecuteTruncateGuts(rels, relids, logged, behavior, restart_seqs, as_owner) \
	ExecuteTruncateGuts(rels, relids, logged, behavior, restart_seqs)
#endif

/* A primary key that is deferrable may be left out since PostgreSQL 18 */
#if PG_VERSION_NUM < 180000
#define RelationGetPrimaryKeyIndex(rel, deferrable_ok) \
	RelationGetPrimaryKeyIndex(rel)
#endif

/* One function for who owns an object came with PostgreSQL 16 */
#if PG_VERSION_NUM >= 160000
#include "catalog/pg_class_d.h"
#include "catalog/pg_namespace_d.h"
#define BloomIsOwnerOfTable(relid, role) \
	object_ownercheck(RelationRelationId, relid, role)
#define BloomMayCreateIn(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_CREATE) == ACLCHECK_OK)
#else
#define BloomIsOwnerOfTable(relid, role)	pg_class_ownercheck(relid, role)
#define BloomMayCreateIn(schema, role) \
	(pg_namespace_aclcheck(schema, role, ACL_CREATE) == ACLCHECK_OK)
#endif

/* A generated column can get another expression since PostgreSQL 17 */
#if PG_VERSION_NUM >= 170000
#define BloomSetsExpression(command)	((command)->subtype == AT_SetExpression)
#else
#define BloomSetsExpression(command)	(false)
#endif

#endif							/* SET_COMPAT_H */
