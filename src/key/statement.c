/*-------------------------------------------------------------------------
 *
 * key/statement.c
 *		What several call sites of one running statement share.
 *
 * - A shared struct is found by the memory context of its statement (fn_mcxt)
 *	 and by its kind.  One kind has one struct, of one size.
 * - It goes with its context: a callback takes it from the list.  So no other
 *	 statement can find it, even if its context has the same address.
 *
 * A condition over a partitioned table is copied into the scan of each
 * partition, and each copy has its own fn_extra.  What all copies have in
 * common is their context.  A list is enough, since a session rarely has more
 * than a few of these at a time, and a call site looks only once.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"


#include "key/statement.h"

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
 *		What this context has of this kind: a struct of this size that
 *		begins with a BloomShared.  The first time, the rest of it is zero.
 */
void *
BloomShare(MemoryContext query, BloomSharedKind kind, Size size)
{
	BloomShared *shared;

	for (shared = all_shared; shared != NULL; shared = shared->next)
	{
		if (shared->query == query && shared->kind == kind)
			return shared;
	}

	shared = MemoryContextAllocZero(query, size);
	shared->query = query;
	shared->kind = kind;
	shared->callback.func = Forget;
	shared->callback.arg = shared;
	MemoryContextRegisterResetCallback(query, &shared->callback);
	shared->next = all_shared;
	all_shared = shared;
	return shared;
}
