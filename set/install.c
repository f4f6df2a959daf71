/*-------------------------------------------------------------------------
 *
 * set/install.c
 *		What the install scripts ask before they are done.
 *
 * A script can be run where others have made objects, or own extensions, and has
 * no way to say that of which it depends.  So its last statement calls a function
 * that looks at what was made, and whose error undoes all of it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "set/store.h"

/*
 * _bloom_set_check
 *		An error, unless the filters of bloom_set_filter are those of bloomtype.
 *
 * The script says "bloom".  Where the schema of the sets is not that of the type,
 * a role that may create types there can have made another one of this name.
 */
PG_FUNCTION_INFO_V1(_bloom_set_check);
Datum
_bloom_set_check(PG_FUNCTION_ARGS)
{
	Oid			type = get_func_rettype(StoredSetFunction("bloom_set_filter"));

	(void) fcinfo;
	/* a domain over ours is not ours either */
	if (getBaseType(type) != type || BloomKindOfType(type) != BLOOM_PLAIN)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("type %s is not that of extension bloomtype",
						format_type_be_qualified(type)),
				 errdetail("bloom_set_filter would return it, since its schema comes before that of bloomtype."),
				 errhint("Drop or rename the type, or create the extension in another schema.")));
	PG_RETURN_VOID();
}

/* The owner of an extension, or InvalidOid if there is none. */
static Oid
OwnerOfExtension(const char *name)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	Oid			owner = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(name));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return owner;
}

/*
 * _bloom_unique_check
 *		An error, unless superusers own the extensions that unique keys require.
 *
 * Others could drop theirs with CASCADE, and so take unique keys off the tables of
 * everybody.
 */
PG_FUNCTION_INFO_V1(_bloom_unique_check);
Datum
_bloom_unique_check(PG_FUNCTION_ARGS)
{
	static const char *const required[] = {"bloomtype", "bloomtype_set"};

	(void) fcinfo;
	for (int i = 0; i < (int) lengthof(required); i++)
	{
		Oid			owner = OwnerOfExtension(required[i]);
		const char *name;

		if (!OidIsValid(owner) || superuser_arg(owner))
			continue;
		name = quote_identifier(GetUserNameFromId(owner, false));
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension %s belongs to %s, who is no superuser",
						required[i], name),
				 errdetail("By DROP EXTENSION %s CASCADE, %s could take unique keys off the tables of others.",
						   required[i], name),
				 errhint("REASSIGN OWNED BY %s TO CURRENT_USER; gives you the extension, and all else that %s owns in this database.",
						 name, name)));
	}
	PG_RETURN_VOID();
}
