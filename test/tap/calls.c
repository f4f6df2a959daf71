/*-------------------------------------------------------------------------
 *
 * calls.c
 *		A transition function that calls another as distributed engines do, and
 *		the input function of a type of another library.
 *
 * They aggregate in parts by functions of their own, which are given the
 * arguments in a record.  So the function that they call has no expression
 * tree, no collation, and no type of its arguments but what it declares.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

/*
 * call_bare
 *		Call a transition function: (state, function, arguments of it ...).
 */
PG_FUNCTION_INFO_V1(call_bare);
Datum
call_bare(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	FmgrInfo	function;
	Datum		result;

	fmgr_info(PG_GETARG_OID(1), &function);
	InitFunctionCallInfoData(*call, &function, PG_NARGS() - 1, InvalidOid,
							 fcinfo->context, NULL);
	call->args[0] = fcinfo->args[0];
	for (int i = 2; i < PG_NARGS(); i++)
		call->args[i - 1] = fcinfo->args[i];
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	return result;
}

/*
 * _bloom_in
 *		An input function that has the name of ours.
 */
PG_FUNCTION_INFO_V1(_bloom_in);
Datum
_bloom_in(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(textin, PG_GETARG_DATUM(0));
}
