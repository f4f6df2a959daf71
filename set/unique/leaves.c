/*-------------------------------------------------------------------------
 *
 * unique/leaves.c
 *		The partitions of a table, as they are now.
 *
 * A transaction that has attached a partition is visible to snapshots before its
 * messages are sent.  So nothing that rests on messages tells which partitions
 * there are: the list is read from pg_inherits each time, by a snapshot that is
 * taken for it.  Its locks are released after its messages are sent, so what is
 * known of a partition is good under a lock on it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "set/set_compat.h"
#include "set/unique/unique.h"

/* ----------------------------------------------------------------
 *							THE LIST
 * ----------------------------------------------------------------
 */

/*
 * The kind of a table, which does not change.  Of one that has just been made, the
 * cache may not know yet: under its lock it does.
 */
static char
KindOf(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == '\0')
	{
		LockRelationOid(relid, AccessShareLock);
		relkind = get_rel_relkind(relid);
		UnlockRelationOid(relid, AccessShareLock);
	}
	return relkind;
}

/* Add the partitions of a table to a list. */
static List *
AddChildren(Relation catalog, Snapshot snapshot, Oid parent, List *children)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(parent));
	scan = systable_beginscan(catalog, InheritsParentIndexId, true, snapshot, 1,
							  &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_inherits form = (Form_pg_inherits) GETSTRUCT(tuple);

		if (!form->inhdetachpending)
			children = lappend_oid(children, form->inhrelid);
	}
	systable_endscan(scan);
	return children;
}

/*
 * BloomUniqueLeaves
 *		The tables with rows below a table, or itself; and, if they are asked for,
 *		the partitioned tables, from there down.
 */
List *
BloomUniqueLeaves(Oid root, List **parents)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	List	   *tables = list_make1_oid(root);
	List	   *leaves = NIL;
	ListCell   *cell;

	if (parents != NULL)
		*parents = NIL;
	foreach(cell, tables)
	{
		Oid			relid = lfirst_oid(cell);

		if (KindOf(relid) != RELKIND_PARTITIONED_TABLE)
		{
			leaves = lappend_oid(leaves, relid);
			continue;
		}
		CHECK_FOR_INTERRUPTS();
		tables = AddChildren(catalog, snapshot, relid, tables);
		if (parents != NULL)
			*parents = lappend_oid(*parents, relid);
	}
	UnregisterSnapshot(snapshot);
	table_close(catalog, AccessShareLock);
	list_free(tables);
	return leaves;
}

/*
 * BloomUniqueAttached
 *		The partitions of a table that this transaction has attached or made, by this
 *		command of it or a later one.
 */
List *
BloomUniqueAttached(Oid parent, CommandId since)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(parent));
	scan = systable_beginscan(catalog, InheritsParentIndexId, true, NULL, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)) &&
			HeapTupleHeaderGetCmin(tuple->t_data) >= since)
			result = lappend_oid(result,
								 ((Form_pg_inherits) GETSTRUCT(tuple))->inhrelid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/* The parent of a partition that is not being detached, or invalid */
static Oid
ParentOf(Relation catalog, Snapshot snapshot, Oid relid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, snapshot, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple) &&
		!((Form_pg_inherits) GETSTRUCT(tuple))->inhdetachpending)
		result = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;
	systable_endscan(scan);
	return result;
}

/*
 * BloomUniqueIsBelow
 *		Is a table still a partition, at whatever level, of another?
 */
bool
BloomUniqueIsBelow(Oid leaf, Oid root)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	Oid			relid = leaf;

	while (OidIsValid(relid) && relid != root)
		relid = ParentOf(catalog, snapshot, relid);
	UnregisterSnapshot(snapshot);
	table_close(catalog, AccessShareLock);
	return relid == root;
}

/* The name of the trigger of a table that does not check rows for a key, or NULL */
static const char *
DisabledTriggerOf(Oid relid, const BloomUniqueTag *tag)
{
	ListCell   *cell;

	foreach(cell, BloomUniqueTriggersOf(relid))
	{
		const BloomUniqueTrigger *trigger = lfirst(cell);

		if (trigger->kind == BLOOM_UNIQUE_ROW && trigger->seed == tag->seed &&
			(trigger->enabled == TRIGGER_DISABLED ||
			 trigger->enabled == TRIGGER_FIRES_ON_REPLICA))
			return NameStr(trigger->name);
	}
	return NULL;
}

/*
 * BloomUniqueWarnDisabled
 *		Warn, if rows of a table or of those below it are not checked.
 */
void
BloomUniqueWarnDisabled(const BloomUniqueTag *tag, Oid relid)
{
	List	   *parents;
	List	   *leaves = BloomUniqueLeaves(relid, &parents);
	const char *first = NULL;
	const char *first_trigger = NULL;
	int			nothers = 0;
	ListCell   *cell;

	foreach(cell, list_concat(parents, leaves))
	{
		const char *trigger = DisabledTriggerOf(lfirst_oid(cell), tag);
		const char *table = get_rel_name(lfirst_oid(cell));

		CHECK_FOR_INTERRUPTS();
		if (trigger == NULL || table == NULL)
			continue;
		if (first != NULL)
		{
			nothers++;
			continue;
		}
		first = table;
		first_trigger = trigger;
		/* what is below it is not worth mention */
		if (lfirst_oid(cell) == relid)
			break;
	}
	if (first == NULL)
		return;
	ereport(WARNING,
			(errmsg("unique keys of table \"%s\" are not checked while trigger \"%s\" is disabled",
					first, first_trigger),
			 nothers == 0 ? 0 :
			 errdetail_plural("Nor are those of %d other table below \"%s\".",
							  "Nor are those of %d other tables below \"%s\".",
							  nothers, nothers, get_rel_name(relid)),
			 errhint("ALTER TABLE ... ENABLE TRIGGER, without ONLY, checks all rows.")));
}

/* ----------------------------------------------------------------
 *							INDEXES
 * ----------------------------------------------------------------
 */

/* Which column of the key is this one of a table?  Or -1. */
static int
ColumnOf(const BloomUnique *unique, Relation rel, AttrNumber number)
{
	const char *name;

	if (number <= 0)
		return -1;
	name = NameStr(TupleDescAttr(RelationGetDescr(rel), number - 1)->attname);
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (strcmp(NameStr(unique->columns[i].name), name) == 0)
			return i;
	}
	return -1;
}

/*
 * Can keys be looked up by an index?  Its first columns are those of the key, in
 * any order, and it compares as the types do.
 */
static bool
IsUsable(const BloomUnique *unique, Relation rel, Relation index,
		 BloomUniqueLeaf *leaf)
{
	Form_pg_index form = index->rd_index;
	bool		seen[INDEX_MAX_KEYS] = {false};

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisvalid ||
		!form->indisready || !form->indislive ||
		form->indnkeyatts < unique->ncolumns ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	leaf->is_in_order = true;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		int			column = ColumnOf(unique, rel, form->indkey.values[i]);
		const BloomUniqueColumn *key;
		TypeCacheEntry *type;
		Oid			equals;

		if (column < 0 || seen[column])
			return false;
		seen[column] = true;
		key = &unique->columns[column];
		type = lookup_type_cache(key->type,
								 TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
		equals = get_opfamily_member(index->rd_opfamily[i],
									 index->rd_opcintype[i],
									 index->rd_opcintype[i],
									 BTEqualStrategyNumber);
		if (index->rd_indcollation[i] != key->collation || !OidIsValid(equals) ||
			equals != type->eq_opr)
			return false;
		leaf->columns[i] = column;
		leaf->equals[i] = get_opcode(equals);
		leaf->collations[i] = index->rd_indcollation[i];
		leaf->is_in_order &= column == i && index->rd_indoption[i] == 0 &&
			index->rd_opfamily[i] == type->btree_opf &&
			TupleDescAttr(RelationGetDescr(index), i)->atttypid == key->type;
	}
	return true;
}

/* An error: no key can be looked up in this partition. */
static void
ReportLeaf(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("partition \"%s\" is not an ordinary table", name),
			 errdetail("No key can be looked up in a foreign table, or in one with another access method than heap."),
			 errhint("Detach it, or drop the constraint by bloom_unique_drop.")));
}

/* Find the index of a partition. */
static void
ReadLeaf(BloomUnique *unique, Relation rel, BloomUniqueLeaf *leaf)
{
	List	   *indexes;
	ListCell   *cell;

	if (rel->rd_rel->relkind != RELKIND_RELATION ||
		rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ReportLeaf(RelationGetRelationName(rel));
	leaf->index = InvalidOid;
	indexes = RelationGetIndexList(rel);
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		BloomUniqueLeaf candidate = *leaf;

		if (IsUsable(unique, rel, index, &candidate) &&
			(!OidIsValid(leaf->index) || candidate.is_in_order > leaf->is_in_order))
		{
			*leaf = candidate;
			leaf->index = lfirst_oid(cell);
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (!OidIsValid(leaf->index))
	{
		char	   *columns = BloomUniqueColumns(unique);
		Oid			root = unique->tag.root;

		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index on (%s)",
						RelationGetRelationName(rel), columns),
				 errdetail("Keys are looked up by a valid btree index that begins with these columns, has no condition, and compares as their types do."),
				 errhint("CREATE INDEX ON %s (%s);",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(root)),
													get_rel_name(root)),
						 columns)));
	}
}

/*
 * BloomUniqueDescribeLeaf
 *		The index of a partition, which is locked.
 */
BloomUniqueLeaf *
BloomUniqueDescribeLeaf(BloomUnique *unique, Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	BloomUniqueLeaf *leaf;
	bool		found;

	if (unique->leaves == NULL)
	{
		HASHCTL		info = {0};

		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(BloomUniqueLeaf);
		info.hcxt = unique->context;
		unique->leaves = hash_create("partitions of a unique key", 32, &info,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	leaf = hash_search(unique->leaves, &relid, HASH_ENTER, &found);
	/* what made the key invalid may have been about all tables */
	if (!found || !unique->is_valid)
		leaf->is_valid = false;
	while (!leaf->is_valid)
	{
		CHECK_FOR_INTERRUPTS();
		leaf->is_valid = true;
		PG_TRY();
		{
			ReadLeaf(unique, rel, leaf);
		}
		PG_CATCH();
		{
			leaf->is_valid = false;
			PG_RE_THROW();
		}
		PG_END_TRY();
	}
	return leaf;
}

/*
 * BloomUniqueCheckLeaves
 *		An error, if keys cannot be looked up in all partitions.
 */
void
BloomUniqueCheckLeaves(BloomUnique *unique)
{
	ListCell   *cell;

	foreach(cell, BloomUniqueLeaves(unique->tag.root, NULL))
	{
		Relation	rel = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (rel == NULL)
			continue;
		(void) BloomUniqueDescribeLeaf(unique, rel);
		relation_close(rel, AccessShareLock);
	}
}
