/*-------------------------------------------------------------------------
 *
 * set/module.c
 *		The library of stored sets, and what it asks of bloomtype.so.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "set/store.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomtype_set",.version = "1.0.0-rc3");
#else
PG_MODULE_MAGIC;
#endif

const BloomWholeRoutine *StoredSetFilters;

/* The library is loaded: have the other one loaded, too. */
void
_PG_init(void)
{
	(void) load_external_function("$libdir/bloomtype", "bloom_contains", true, NULL);
	StoredSetFilters = *find_rendezvous_variable(BLOOM_WHOLE_ROUTINE);
	if (StoredSetFilters == NULL ||
		StoredSetFilters->version != BLOOM_WHOLE_ROUTINE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("bloomtype_set.so and bloomtype.so are of different versions")));
	BloomInput = StoredSetFilters->input;
	BloomCountingInput = StoredSetFilters->counting_input;
}
