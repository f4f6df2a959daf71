--
-- Stored sets that forget
--
-- With keep => '62 hours', a slice is an hour: a key is remembered for at least 62
-- hours, and at most one more.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

SELECT bloom_set_create('recent', 'int', keep => '62 hours', seed => 0);
SELECT keep, oldest, keys FROM bloom_set_info('recent', '2020-02-02 12:30');
SELECT bloom_set_add('recent', 1, '2020-01-01 05:59') AS new,
	   bloom_set_add('recent', 1, '2020-01-01 06:00') AS seen,
	   bloom_set_add('recent', 2, '2020-01-01 06:00') AS new,
	   bloom_set_add('recent', 2, '2020-01-01 00:00') AS seen_though_added_later;
-- fail: of another type
SELECT bloom_set_contains('recent', 'a', '2020-01-01 06:00');
SELECT t AS at, bloom_set_contains('recent', 1, t) AS one, bloom_set_contains('recent', 2, t) AS two
FROM unnest(ARRAY['2020-01-01 06:00', '2020-01-03 19:59', '2020-01-03 20:00', '2020-01-03 20:59', '2020-01-03 21:00', '2025-01-01']::timestamptz[]) AS t;

-- both bounds, for keys that are added every 97 minutes: of each, at each later
-- time, is it there?  In lanes, and in lists, since lanes are merged on the way
CREATE TEMP TABLE observed (age interval, there boolean);
DO $$
DECLARE
	at timestamptz := '2020-02-01';
BEGIN
	FOR i IN 1 .. 120 LOOP
		at := at + interval '97 minutes';
		IF cardinality(bloom_set_add_all('recent', ARRAY(SELECT -1000 * i - j FROM generate_series(0, 799) AS j), at)) <> 800 THEN
			RAISE 'not new: %', i;
		END IF;
		INSERT INTO observed
			SELECT (i - j) * interval '97 minutes', bloom_set_contains('recent', -1000 * j - k, at)
			FROM generate_series(1, i) AS j, generate_series(0, 199, 40) AS k;
	END LOOP;
END
$$;
SELECT age <= '62 hours' AS within_keep, age >= '63 hours' AS after_a_slice_more,
	   bool_and(there) AS all_there, bool_or(there) AS any_there
FROM observed GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE lane = 0) > 0 AS lists FROM recent;

-- when a key is forgotten it is new again
SELECT bloom_set_add('recent', 1, '2020-03-01 00:00') AS new, bloom_set_add('recent', 1, '2020-03-01 00:00') AS seen;
-- what is live at a time
SELECT bloom_set_add('recent', 3, '2020-03-03 00:00') AS new;
SELECT t AS at, keys, oldest FROM unnest(ARRAY['2020-03-03 00:00', '2020-03-03 14:59', '2020-03-03 15:00', '2020-03-05 15:00', '2020-03-06']::timestamptz[]) AS t, bloom_set_info('recent', t);
DROP TABLE recent;

--
-- Five rules of ages
--
-- An add of an array merges what was committed before it.
--
CREATE FUNCTION add(set regclass, first int, last int, at timestamptz) RETURNS int LANGUAGE sql
AS 'SELECT cardinality(bloom_set_add_all(set, ARRAY(SELECT generate_series(first, last)), at))';
CREATE FUNCTION missing(set regclass, first int, last int, at timestamptz) RETURNS int LANGUAGE sql STABLE
AS 'SELECT cardinality(bloom_set_missing(set, ARRAY(SELECT generate_series(first, last)), at))';

-- 1. A merge keeps the younger of two equal hashes: a key that was forgotten, told
-- new, and merged again is remembered from then on
SELECT bloom_set_create('younger', 'int', keep => '62 hours', seed => 0);
SELECT add('younger', 1, 3000, '2020-01-01') AS new;
-- (to compact forgets what is too old by the clock; an add, what is so by its own time, too)
SELECT add('younger', 3001, 6000, '2020-01-01 01:00') AS new, add('younger', 6001, 9000, '2020-01-01 02:00') AS new;
SELECT add('younger', 1, 3000, '2020-01-03 16:00') AS new_again;
SELECT add('younger', 9001, 20000, '2020-01-03 16:00') AS new, add('younger', 20001, 30000, '2020-01-03 16:00') AS new;
SELECT count(*) FILTER (WHERE lane = 0) > 64 AS ranges FROM younger;
SELECT missing('younger', 1, 3000, '2020-01-06 06:00') AS missing, missing('younger', 1, 3000, '2020-01-06 07:00') AS missing_after_keep;
DROP TABLE younger;

-- 2. Ages are absolute: a list that is not written for long does not become young
-- again, whatever the multiple of the number of ages
SELECT bloom_set_create('absolute', 'int', keep => '62 hours', seed => 0);
SELECT add('absolute', 1, 3000, '2020-01-01') AS new, add('absolute', 3001, 6000, '2020-01-01') AS new;
SELECT count(*) FILTER (WHERE bloom_set_contains_any('absolute', ARRAY[1, 2, 3, 4, 5], '2020-01-01'::timestamptz + h * interval '1 hour')) AS hours_in_which_they_are_there
FROM generate_series(0, 1000) AS h;
DROP TABLE absolute;

-- 3. A key that is found expired ends no search: it is also in a lane, where it is young
SELECT bloom_set_create('twofold', 'int', keep => '62 hours', seed => 0);
SELECT add('twofold', 1, 3000, '2020-01-01') AS new, add('twofold', 3001, 6000, '2020-01-01') AS new;
SELECT bloom_set_add('twofold', 1, '2020-01-05') AS new, bloom_set_add('twofold', 1, '2020-01-05') AS seen, bloom_set_contains('twofold', 1, '2020-01-05') AS there;
SELECT bloom_set_add_all('twofold', ARRAY[1, 2], '2020-01-05') AS new, bloom_set_missing('twofold', ARRAY[1, 2, 3], '2020-01-05') AS missing_in_this_statement;
SELECT bloom_set_missing('twofold', ARRAY[1, 2, 3], '2020-01-05') AS missing;
DROP TABLE twofold;

-- 4. What is too old by the time of the call and by the clock goes when a list is
-- written anew; an age that does not fit is not changed, also if one set gets the
-- present and a replay of the past at once
SELECT bloom_set_create('replay', 'int', keep => '62 hours', seed => 0);
SELECT add('replay', 1, 3000, '2020-01-01') AS new, add('replay', 3001, 6000, '2020-01-01') AS new;
SELECT add('replay', 10001, 13000, now()) AS new;
SELECT add('replay', 20001, 23000, now()) AS new, add('replay', 30001, 33000, '2020-01-01 01:00') AS new, add('replay', 40001, 43000, '2020-01-01 02:00') AS new, add('replay', 50001, 53000, now()) AS new;
SELECT missing('replay', 10001, 13000, now()) AS denied, missing('replay', 20001, 23000, now()) AS denied, missing('replay', 50001, 53000, now()) AS denied;
SELECT missing('replay', 30001, 33000, '2020-01-01 02:00') AS denied_to_the_replay, missing('replay', 40001, 43000, '2020-01-01 02:00') AS denied_to_the_replay;
SELECT bloom_set_compact('replay') > 0 AS moved;
SELECT missing('replay', 10001, 13000, now()) AS denied, missing('replay', 20001, 23000, now()) AS denied, missing('replay', 50001, 53000, now()) AS denied;
-- what has expired takes no space any more
SELECT keys FROM bloom_set_info('replay');
SELECT sum(octet_length(hashes)) < 9000 * 9 AS only_what_is_live FROM replay;
SELECT bloom_set_compact('replay') AS moved;
DROP TABLE replay;

-- 5. Lanes whose keys have expired are split like others: a call of an earlier time
-- counts on them
SELECT bloom_set_create('earlier', 'int', keep => '62 hours', seed => 0);
BEGIN;
SELECT add('earlier', 1, 20000, '2020-01-01') AS new;
SELECT add('earlier', 20001, 40000, '2020-01-10') AS new;
SELECT add('earlier', 40001, 60000, '2020-01-20') AS new;
SELECT missing('earlier', 1, 20000, '2020-01-01') AS denied, missing('earlier', 20001, 40000, '2020-01-10') AS denied, missing('earlier', 40001, 60000, '2020-01-20') AS denied;
SELECT add('earlier', 1, 20000, '2020-01-01') AS new, add('earlier', 20001, 40000, '2020-01-10') AS new;
COMMIT;
SELECT missing('earlier', 1, 20000, '2020-01-01') AS denied, missing('earlier', 20001, 40000, '2020-01-10') AS denied, missing('earlier', 40001, 60000, '2020-01-20') AS denied;
DROP TABLE earlier;

--
-- A burst, then a day at another rate: the rows of the burst take no space
--
SELECT bloom_set_create('burst', 'int', keep => '62 minutes', seed => 1);
SELECT add('burst', 1, 100000, '2020-01-01 00:30') AS new;
SELECT sum(add('burst', 1000000 + minute * 200, 1000000 + minute * 200 + 199, '2020-01-01'::timestamptz + minute * interval '1 minute')) AS new
FROM generate_series(60, 360) AS minute;
SELECT missing('burst', 1000000 + 300 * 200, 1000000 + 360 * 200 + 199, '2020-01-01 06:00') AS denied, missing('burst', 1, 100000, '2020-01-01 06:00') AS forgotten;
SELECT bloom_set_compact('burst') IS NOT NULL AS compacted;
SELECT keys, sum(octet_length(hashes)) < 100000 AS small FROM burst, bloom_set_info('burst') GROUP BY keys;
DROP TABLE burst;

--
-- A time may be ahead of the clock by a slice.  What must be remembered by the clock is
-- not forgotten then: here, a key of the oldest slice.  Within a transaction, the clock
-- stands still.
--
BEGIN;
SELECT bloom_set_create('ahead', 'int', keep => '62 days', seed => 1);
SELECT add('ahead', 1, 2000, now() - interval '62 days') AS oldest, add('ahead', 2001, 4000, now()) AS newest;
SELECT bloom_set_contains('ahead', 1) AS there, bloom_set_contains('ahead', 1, now() + interval '1 day') AS there_tomorrow;
SELECT add('ahead', 4001, 6000, now() + interval '1 day') AS ahead, bloom_set_compact('ahead') IS NOT NULL AS compacted;
-- (at midnight, a day may begin between the two)
SELECT missing('ahead', 1, 2000, now()) = 0 OR date(clock_timestamp()) > date(now()) AS none_denied, missing('ahead', 2001, 6000, now()) AS denied;
-- fail
SELECT bloom_set_add('ahead', 3, '2999-01-01');
ROLLBACK;
SELECT bloom_set_create('recent', 'int', keep => '1 day', seed => 1);
SELECT bloom_set_add('recent', 78, '2022-01-01') AS old, bloom_set_add('recent', 77) AS new;
SELECT bloom_set_contains('recent', 77) AS there, bloom_set_contains('recent', 77, now() + interval '2 days') AS gone;
SELECT bloom_set_compact('recent') AS moved;
SELECT bloom_set_contains('recent', 77) AS there, keys FROM bloom_set_info('recent');
-- fail: there are no slices that no timestamp can show
SELECT bloom_set_add('recent', 77, '4714-11-24 00:00:00+00 BC');
SELECT bloom_set_contains('recent', 77, '4714-11-24 00:00:00+00 BC');

-- the time is that of each row
SELECT bloom_set_add('recent', 1, '2020-01-01 00:00Z') AS new;
SELECT h AS hours, bloom_set_contains('recent', 1, '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS one,
	   bloom_set_contains_all('recent', ARRAY[1], '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS array
FROM unnest(ARRAY[0, 30, 24, 71, 23, 0]) AS h;

-- a set that keeps all has no clock
SELECT bloom_set_create('forever', 'int', seed => 0);
SELECT bloom_set_add('forever', 1, '2020-01-01') AS new, bloom_set_add('forever', 1, '1990-01-01') AS seen, bloom_set_compact('forever') AS none_moved;
SELECT bloom_set_contains('forever', 1, '2999-01-01') AS there;
SELECT keep, oldest FROM bloom_set_info('forever');

-- the shortest and the longest time
SELECT bloom_set_create('short', 'int', keep => '62 microseconds', seed => 0), bloom_set_create('long', 'int', keep => '365000 days', seed => 0);
SELECT bloom_set_add('short', 1, '2020-01-01') AS new, bloom_set_add('short', 1, '2020-01-01 00:00:00.000062') AS seen, bloom_set_add('short', 1, '2020-01-01 00:00:00.000063') AS new;
SELECT bloom_set_add('long', 1, '1100-01-01') AS new, bloom_set_contains('long', 1, '2020-01-01') AS there, bloom_set_contains('long', 1, '2200-01-01') AS gone;

-- at least that long, whichever months and years these are
SELECT bloom_set_create('months', 'int', keep => '1 year 2 months 3 days 04:00', seed => 0);
SELECT keep FROM bloom_set_info('months');
SELECT bloom_set_add('months', 1, '2023-07-01 12:00') AS new;
SELECT bloom_set_contains('months', 1, timestamp '2023-07-01 12:00' + interval '1 year 2 months 3 days 04:00') AS there;

DROP TABLE recent, forever, short, long, months;
DROP FUNCTION add, missing;
