/*-------------------------------------------------------------------------
 *
 * limited.c
 *		Run a statement until it has given so many rows, as procedural languages
 *		can: its triggers for the statement are not called then.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

/*
 * limited
 *		The number of rows: (statement, most rows).
 */
PG_FUNCTION_INFO_V1(limited);
Datum
limited(PG_FUNCTION_ARGS)
{
	int64		rows;

	SPI_connect();
	SPI_execute(text_to_cstring(PG_GETARG_TEXT_PP(0)), false, PG_GETARG_INT32(1));
	rows = SPI_processed;
	SPI_finish();
	return Int64GetDatum(rows);
}
