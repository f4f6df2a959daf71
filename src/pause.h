/*-------------------------------------------------------------------------
 *
 * pause.h
 *		Pauses between the steps of a call, for tests that force races.
 *
 * BLOOM_PAUSE("name") expands to nothing, except in a library that a test builds
 * with one of
 *
 *	-DBLOOM_PAUSE_AT_GATE	a session whose application_name is the name of the
 *							pause stops there, for as long as somebody has the
 *							advisory lock 2026
 *	-DBLOOM_PAUSE_AT_RANDOM	any session stops now and then, for up to three
 *							milliseconds
 *	-DBLOOM_PAUSE_BRIEFLY	a process gives way to others, each 64th time
 *
 * Names begin with that of their folder.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_PAUSE_H
#define BLOOM_PAUSE_H

#if defined(BLOOM_PAUSE_AT_GATE)
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

static inline void
BLOOM_PAUSE(const char *name)
{
	LOCKTAG		tag;

	if (application_name == NULL || strcmp(application_name, name) != 0)
		return;
	/* that of pg_advisory_lock(2026) */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, 0, 2026, 1);
	(void) LockAcquire(&tag, ShareLock, false, false);
	(void) LockRelease(&tag, ShareLock, false);
}
#elif defined(BLOOM_PAUSE_AT_RANDOM)
#include "miscadmin.h"

static inline void
BLOOM_PAUSE(const char *name)
{
	static uint64 state = 0;

	state = (state + MyProcPid) * UINT64CONST(6364136223846793005) + strlen(name);
	if (state >> 58 == 0)
		pg_usleep((state >> 32) % 3000);
}
#elif defined(BLOOM_PAUSE_BRIEFLY)
#include <sched.h>

static inline void
BLOOM_PAUSE(const char *name)
{
	static uint32 npauses = 0;

	(void) name;
	if (++npauses % 64 == 0)
		(void) sched_yield();
}
#else
#define BLOOM_PAUSE(name)	((void) 0)
#endif

#endif							/* BLOOM_PAUSE_H */
