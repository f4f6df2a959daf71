/*-------------------------------------------------------------------------
 *
 * unique/claim.c
 *		Claim keys in the set, and look up those that it has seen.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/timestamp.h"

#include "set/set.h"
#include "unique/unique.h"
#include "pause.h"

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/*
 * BloomUniqueHash
 *		The hash of a key, none of whose columns is null.
 */
uint64
BloomUniqueHash(BloomUnique *unique, const Datum *key)
{
	static const bool nulls[INDEX_MAX_KEYS] = {false};
	HeapTuple	tuple;
	uint64		hash;

	if (unique->row == NULL)
		return BloomHashDatum(&unique->hasher, key[0], (uint64) unique->tag.seed);
	tuple = heap_form_tuple(unique->row, unconstify(Datum *, key),
							unconstify(bool *, &nulls[0]));
	hash = BloomHashDatum(&unique->hasher, HeapTupleGetDatum(tuple),
						  (uint64) unique->tag.seed);
	heap_freetuple(tuple);
	return hash;
}

/* May the user see values of the key?  As the server asks for its own errors. */
static bool
MayShow(const BloomUnique *unique)
{
	Oid			root = unique->tag.root;

	if (check_enable_rls(root, InvalidOid, true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int i = 0; i < unique->ncolumns; i++)
	{
		if (pg_attribute_aclcheck(root, unique->columns[i].number, GetUserId(),
								  ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/* A key, as the server shows one. */
static char *
ShowKey(const BloomUnique *unique, const Datum *key)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "(%s)=", BloomUniqueColumns(unique));
	for (int i = 0; i < unique->ncolumns; i++)
	{
		Oid			output;
		bool		isvarlena;

		getTypeOutputInfo(unique->columns[i].type, &output, &isvarlena);
		appendStringInfo(&text, "%s%s", i == 0 ? "(" : ", ",
						 OidOutputFunctionCall(output, key[i]));
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/*
 * BloomUniqueReport
 *		An error: more than one row has a key.  Has one been there, or is none
 *		newer?
 */
void
BloomUniqueReport(const BloomUnique *unique, const Datum *key, bool is_there)
{
	const char *name = NameStr(unique->name);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 is_there ?
			 errmsg("duplicate key value violates unique constraint \"%s\"", name) :
			 errmsg("could not create unique constraint \"%s\"", name),
			 !MayShow(unique) ? 0 :
			 is_there ?
			 errdetail("Key %s already exists.", ShowKey(unique, key)) :
			 errdetail("Key %s is duplicated.", ShowKey(unique, key)),
			 err_generic_string(PG_DIAG_SCHEMA_NAME,
								get_namespace_name(get_rel_namespace(unique->tag.root))),
			 err_generic_string(PG_DIAG_TABLE_NAME, get_rel_name(unique->tag.root)),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, name)));
}

/* ----------------------------------------------------------------
 *							CLAIMING
 * ----------------------------------------------------------------
 */

/*
 * Open the set with the privileges of the table's owner, as for a foreign key.
 *
 * If it has changed while we waited for its lock, it is looked at anew: TRUNCATE
 * may have taken its keys.
 */
static void
OpenSet(StoredSetCall *call, const BloomUnique *unique)
{
	bool		is_same;

	do
	{
		Oid			user;
		int			context;

		GetUserIdAndSecContext(&user, &context);
		SetUserIdAndSecContext(unique->owner,
							   context | SECURITY_LOCAL_USERID_CHANGE);
		StoredSetOpenToWrite(call, unique->set,
							 GetCurrentTransactionStartTimestamp(), true);
		SetUserIdAndSecContext(user, context);
		is_same = unique->is_valid;
		if (!is_same)
		{
			StoredSetClose(&call->table);
			unique = BloomUniqueRecall(&unique->tag);
		}
	} while (!is_same);
}

/*
 * BloomUniqueClaim
 *		Claim keys whose rows have been written, and check that no other row has
 *		one of them.  The keys are brought into another order.
 */
void
BloomUniqueClaim(BloomUnique *unique, Datum *keys, int nkeys)
{
	int			ncolumns = unique->ncolumns;
	uint64	   *hashes = palloc_extended(nkeys * sizeof(uint64), MCXT_ALLOC_HUGE);
	uint8	   *answers = palloc_extended(nkeys, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	StoredSetCall call;
	int			ndoubtful = 0;
	int		   *counts;

	for (int i = 0; i < nkeys; i++)
	{
		BloomCheckInterrupts(i);
		hashes[i] = BloomUniqueHash(unique, &keys[i * ncolumns]);
	}
	OpenSet(&call, unique);
	StoredSetClaim(&call, hashes, nkeys, answers);
	StoredSetClose(&call.table);
	pfree(hashes);

	/* what is not new, and repeats, of which the first alone has an answer */
	for (int i = 0; i < nkeys; i++)
	{
		if (answers[i] != STORED_SET_FRESH)
			memmove(&keys[ndoubtful++ * ncolumns], &keys[i * ncolumns],
					ncolumns * sizeof(Datum));
	}
	pfree(answers);
	if (ndoubtful == 0)
		return;
	BLOOM_PAUSE("unique-claimed");
	counts = palloc_extended(ndoubtful * sizeof(int), MCXT_ALLOC_HUGE);
	BloomUniqueCount(unique, InvalidOid, keys, ndoubtful, 2, counts);
	for (int i = 0; i < ndoubtful; i++)
	{
		if (counts[i] > 1)
			BloomUniqueReport(unique, &keys[i * ncolumns], true);
	}
	pfree(counts);
}

/* Add or claim one key.  True: it is new. */
static bool
AddKey(BloomUnique *unique, uint64 hash, bool claims)
{
	StoredSetCall call;
	uint8		answer = STORED_SET_UNKNOWN;

	OpenSet(&call, unique);
	if (claims)
		StoredSetClaim(&call, &hash, 1, &answer);
	else
		StoredSetAdd(&call, &hash, 1, &answer);
	StoredSetClose(&call.table);
	return answer == STORED_SET_FRESH;
}

/*
 * Is there a row with this key?  In silence, a row that others have written since
 * the transaction took its snapshot is not passed over, if it keeps that.
 */
static bool
IsThere(BloomUnique *unique, Oid partition, Datum *key)
{
	int			count;

	BloomUniqueCount(unique, partition, key, 1, 1, &count);
	if (count > 0 && IsolationUsesXactSnapshot() && !BloomUniqueIsOld(unique, key))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	return count > 0;
}

/*
 * BloomUniqueMayInsert
 *		May a row with this key be written?  If so, the key is claimed.
 *
 * A repeat that is found at once costs no claim.  It is mostly in the partition to
 * which the row goes.
 */
bool
BloomUniqueMayInsert(BloomUnique *unique, Oid partition, Datum *key,
					 uint64 *hash)
{
	bool		claims = IsolationUsesXactSnapshot();

	/* a plain add is an error if others have added the key since the snapshot */
	*hash = BloomUniqueHash(unique, key);
	if (AddKey(unique, *hash, claims))
		return true;
	if (IsThere(unique, partition, key))
		return false;
	if (!claims)
		(void) AddKey(unique, *hash, true);
	BLOOM_PAUSE("unique-claimed");
	return !IsThere(unique, partition, key);
}
