/*-------------------------------------------------------------------------
 *
 * filter/statement.c
 *		What several call sites of one running statement share.
 *
 * A condition over a partitioned table is copied into the scan of each
 * partition, and each copy has its own fn_extra.  What all copies have in
 * common is fn_mcxt, the memory context of the statement that runs.  So what
 * they share is found by that context and a name.
 *
 * There is a list of all, for a session rarely has more than a few at a time,
 * and a call site looks only once.  They go with their contexts: a callback
 * takes them from the list.  So no other statement can find them there, even
 * if its context comes to lie at the same address.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "filter/statement.h"

static BloomShared *all_shared = NULL;

/* The context is reset or deleted. */
static void
Forget(void *arg)
{
	for (BloomShared **link = &all_shared; *link != NULL; link = &(*link)->next)
	{
		if (*link == (BloomShared *) arg)
		{
			*link = (*link)->next;
			return;
		}
	}
}

/*
 * BloomShare
 *		What has this name in this context, a struct of so many bytes that
 *		begins with a BloomShared.  The first time, the rest of it is zero.
 */
void *
BloomShare(MemoryContext query, int32 name, Size size)
{
	BloomShared *shared;

	for (shared = all_shared; shared != NULL; shared = shared->next)
	{
		if (shared->query == query && shared->name == name)
			return shared;
	}

	shared = MemoryContextAllocZero(query, size);
	shared->query = query;
	shared->name = name;
	shared->callback.func = Forget;
	shared->callback.arg = shared;
	MemoryContextRegisterResetCallback(query, &shared->callback);
	shared->next = all_shared;
	all_shared = shared;
	return shared;
}
