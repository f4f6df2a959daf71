/*-------------------------------------------------------------------------
 *
 * set/pause.h
 *		Pauses between the steps of a call, for tests that force races.
 *
 * A library that is built with -DSTORED_SET_PAUSES stops at a place, in a session
 * whose application_name has the letter of the place, for as long as somebody
 * has the advisory lock of this key.  With -DSTORED_SET_RANDOM_PAUSES, any session
 * stops there now and then, for up to three milliseconds.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SET_PAUSE_H
#define SET_PAUSE_H

#define STORED_SET_PAUSE_VERSION	'v' /* after a version was read */
#define STORED_SET_PAUSE_READ		'r' /* before the picture is checked */
#define STORED_SET_PAUSE_WRITE		'w' /* before anything is written */

/* of src/unique */
#define STORED_SET_PAUSE_CLAIMED	'c' /* before keys that were claimed are
										 * looked up */
#define STORED_SET_PAUSE_LIST		'l' /* after partitions were listed */
#define STORED_SET_PAUSE_SNAPSHOT	's' /* after a snapshot was taken */
#define STORED_SET_PAUSE_LEAF		'p' /* before a partition is opened */

#ifdef STORED_SET_PAUSES
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

#define STORED_SET_PAUSE_KEY		2026

static inline void
StoredSetPause(char place)
{
	LOCKTAG		tag;

	if (application_name == NULL || strchr(application_name, place) == NULL)
		return;
	/* that of pg_advisory_lock(2026) */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, 0, STORED_SET_PAUSE_KEY, 1);
	(void) LockAcquire(&tag, ShareLock, false, false);
	(void) LockRelease(&tag, ShareLock, false);
}
#elif defined(STORED_SET_RANDOM_PAUSES)
#include "miscadmin.h"

static inline void
StoredSetPause(char place)
{
	static uint64 state = 0;

	state = (state + MyProcPid) * UINT64CONST(6364136223846793005) + place;
	if (state >> 58 == 0)
		pg_usleep((state >> 32) % 3000);
}
#else
#define StoredSetPause(place)	((void) 0)
#endif

#endif							/* SET_PAUSE_H */
