/*-------------------------------------------------------------------------
 *
 * price.c
 *		What a test of rows costs, what it saves, and so where it goes.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "scan/expr.h"
#include "scan/price.h"

/* what looking may cost, as a share of what the rows cost */
#define BUDGET			0.02
/* the share of a row's cost that a test must save */
#define LEAST_GAIN		0.03
/* the rate that a test is given before its first window */
#define UNKNOWN_RATE	0.5
/* from so many rows on, what a condition has said of older ones counts half */
#define MOST_ASKED		65536
/* a key that costs more to hash is hashed where the join would do it */
#define DEAR			150


/* ----------------------------------------------------------------
 *		Prices
 * ----------------------------------------------------------------
 */

/*
 * BloomScanHashPrice
 *		What it costs to hash a key, which has so many bytes on average.
 */
double
BloomScanHashPrice(Oid function, Oid collation, double bytes)
{
	switch (function)
	{
		case F_HASHINT2:
		case F_HASHINT4:
		case F_HASHINT8:
		case F_HASHOID:
		case F_HASHENUM:
		case F_HASHFLOAT4:
		case F_HASHFLOAT8:
		case F_TIMESTAMP_HASH:
#ifdef F_HASHDATE
		case F_HASHDATE:
#endif
#ifdef F_TIMESTAMPTZ_HASH
		case F_TIMESTAMPTZ_HASH:
#endif
			return 4;
		case F_UUID_HASH:
			return 10;
		case F_HASH_NUMERIC:
			return 30;
		case F_HASHTEXT:
		case F_HASHBPCHAR:
			/* a sort key by ICU, of which the hash is */
			if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
				return 400 + 25 * bytes;
			return 15 + 0.3 * bytes;
		case F_HASHVARLENA:
#ifdef F_HASHBYTEA
		case F_HASHBYTEA:
#endif
			return 15 + 0.3 * bytes;
		default:
			return 10 + 2 * BloomScanFunctionPrice(function) + 0.3 * bytes;
	}
}

/*
 * BloomScanBitsPrice
 *		What it costs to look into a filter of this size, by the cache that it
 *		is in.
 */
double
BloomScanBitsPrice(Size bytes, bool is_bitmap)
{
	double		price = is_bitmap ? 3 : 5;

	return bytes <= 256 * 1024 ? price : bytes <= 2 * 1024 * 1024 ? price + 4 :
		price + 15;
}

/*
 * BloomScanProbePrice
 *		What a join does with a row: it looks for its hash in a table.
 */
double
BloomScanProbePrice(double ntuples)
{
	return ntuples <= 10000 ? 30 : ntuples <= 100000 ? 50 : 120;
}

/*
 * BloomScanWalkPrice
 *		What it costs to get at a column that has no fixed offset.
 */
double
BloomScanWalkPrice(int attno, int offset)
{
	return offset >= 0 ? 0 : PRICE_WALK + PRICE_COLUMN * attno;
}

/*
 * BloomScanIsDear
 *		Does a key cost so much to hash that it is hashed only where the join
 *		would do it?
 */
bool
BloomScanIsDear(double price)
{
	return price > DEAR;
}


/* ----------------------------------------------------------------
 *		Stages
 * ----------------------------------------------------------------
 */

/* Rows of long ago count less. */
static void
Forget(ScanCondition *condition)
{
	if (condition->asked > MOST_ASKED)
	{
		condition->asked /= 2;
		condition->failed /= 2;
	}
}

/* The share of rows that meet the condition, as far as it was asked. */
static double
Passing(const ScanCondition *condition)
{
	return (condition->asked - condition->failed + 1.0) / (condition->asked + 1.0);
}

/*
 * CostOf
 *		What a row of the scan costs, if the test is made at this stage, and
 *		drops this share.  (rule 29)
 *
 * A row that comes into a slot is walked for its join anyway, unless it was
 * dropped before: so a walk in the slot is paid once, that of a page is not.
 */
static double
CostOf(const ScanTest *test, ScanStage stage, double rate,
	   const ScanCondition *condition)
{
	double		left = 1 - rate;
	double		passing = Passing(condition);
	double		asking = condition->price;

	switch (stage)
	{
		case SCAN_BY_PAGE:
			return test->test + test->walks +
				left * (PRICE_ROW + asking + passing * (test->walk + test->passed));
		case SCAN_IN_SLOT:
			return PRICE_ROW + test->walk + PRICE_IN_SLOT + test->test +
				left * (asking + passing * test->passed);
		case SCAN_BEHIND:
			return PRICE_ROW + asking +
				passing * (test->walk + PRICE_IN_SLOT + test->test + left * test->passed);
		default:
			return PRICE_ROW + asking + passing * (test->walk + test->untested);
	}
}

/* The stage where a row costs least; for tests that must be made, not SCAN_NOT. */
static ScanStage
Choose(const ScanTest *test, double rate, const ScanCondition *condition)
{
	bool		forced = test->testing >= SCAN_TESTING_FORCE;
	ScanStage	best = SCAN_NOT;
	double		least = forced ? 1e30 :
	CostOf(test, SCAN_NOT, rate, condition) * (1 - LEAST_GAIN);

	for (ScanStage stage = SCAN_BY_PAGE; stage <= SCAN_BEHIND; stage++)
	{
		double		cost = CostOf(test, stage, rate, condition);

		if (!(test->stages & 1 << stage) || cost >= least)
			continue;
		best = stage;
		least = cost;
	}
	return best;
}

/* The stage of a window, which must be made somewhere. */
static ScanStage
StageToLook(const ScanTest *test, const ScanCondition *condition)
{
	ScanTest	forced = *test;

	forced.testing = SCAN_TESTING_FORCE;
	return Choose(&forced, UNKNOWN_RATE, condition);
}

/*
 * BloomScanRest
 *		Not tested, until the rows are worth the next window.  (rule 30)
 *
 * All tests of a scan share the budget.  A test that pays whatever it drops
 * needs none: that of the operator, which would be made for each row, costs
 * more than the same by pages.  But a scan may be read for few rows.
 */
void
BloomScanRest(ScanTest *test, const ScanCondition *condition, int ntests)
{
	ScanStage	stage = StageToLook(test, condition);
	double		price = test->test +
	(stage == SCAN_BY_PAGE ? test->walks : stage == SCAN_IN_SLOT ?
	 PRICE_IN_SLOT + test->walk : PRICE_IN_SLOT);
	double		worth = CostOf(test, SCAN_NOT, 0, condition);

	test->stage = SCAN_NOT;
	test->tested = test->dropped = 0;
	if (test->testing >= SCAN_TESTING_FORCE)
		test->rest = 0;
	else if (test->testing == SCAN_TESTING_SMALL)
		test->rest = SCAN_SMALL_WINDOW / 2;
	else if (Choose(test, 0, condition) != SCAN_NOT)
		test->rest = SCAN_WINDOW / 4;
	else
		test->rest = (uint64) (test->window * price * Max(ntests, 1) / (BUDGET * worth)) + 1;
}

/*
 * BloomScanBeginWindow
 *		The next rows are tested, at the stage that does if this drops some.
 */
void
BloomScanBeginWindow(ScanTest *test, ScanCondition *condition)
{
	Forget(condition);
	test->stage = StageToLook(test, condition);
	test->tested = test->dropped = 0;
	test->rest = 0;
}

/*
 * BloomScanEndWindow
 *		Choose the stage of the next rows, and return what it saves of each.
 *
 * A test that does not pay goes to rest.
 */
double
BloomScanEndWindow(ScanTest *test, ScanCondition *condition, int ntests)
{
	ScanStage	stage;

	Forget(condition);
	test->rate = (double) test->dropped / Max(test->tested, 1);
	test->tested = test->dropped = 0;
	stage = Choose(test, test->rate, condition);
	if (stage == SCAN_NOT)
	{
		BloomScanRest(test, condition, ntests);
		return 0;
	}
	test->stage = stage;
	return CostOf(test, SCAN_NOT, test->rate, condition) -
		CostOf(test, stage, test->rate, condition);
}

/*
 * BloomScanGoOn
 *		The test drops this share elsewhere: begin with it, if that pays.
 */
bool
BloomScanGoOn(ScanTest *test, double rate, const ScanCondition *condition)
{
	ScanStage	stage = Choose(test, rate, condition);

	if (stage == SCAN_NOT)
		return false;
	test->rate = rate;
	test->stage = stage;
	test->tested = test->dropped = test->rest = 0;
	return true;
}
