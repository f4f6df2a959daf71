/*-------------------------------------------------------------------------
 *
 * set/module.c
 *		The library of stored sets, and what it needs of bloomtype.so.
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

const BloomBuildRoutine *StoredSetBuild;

/*
 * The library is loaded: load the other one, and note by what its types are
 * recognized.
 *
 * After an error the server does not count this library as loaded, and tries again
 * when it is needed for the next time.
 */
void
_PG_init(void)
{
	const BloomBuildRoutine *routine;

	BloomInput = load_external_function("$libdir/bloomtype", "_bloom_in",
										true, NULL);
	BloomCountingInput = load_external_function("$libdir/bloomtype",
												"_counting_bloom_in", true, NULL);
	routine = *find_rendezvous_variable(BLOOM_BUILD_ROUTINE);
	if (routine == NULL || routine->interface != BLOOM_BUILD_INTERFACE ||
		routine->hashing != BLOOM_HASHING)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("library bloomtype_set does not work with the library bloomtype that is loaded"),
				 errdetail("bloomtype_set needs interface %d and hashing %d; bloomtype has %d and %d.",
						   BLOOM_BUILD_INTERFACE, BLOOM_HASHING,
						   routine != NULL ? routine->interface : 0,
						   routine != NULL ? routine->hashing : 0),
				 errhint("Install both from one release, and reconnect. If they are preloaded, restart the server.")));
	StoredSetBuild = routine;
}
