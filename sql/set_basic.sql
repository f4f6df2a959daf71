--
-- Stored sets: keys in a table of small filters
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

--
-- Add and tell
--
SELECT bloom_set_create('visited', 'bigint', 100000, 0.001, grow => false, seed => 0);
SELECT bloom_set_add('visited', 1) AS first, bloom_set_add('visited', 1) AS again;
SELECT bloom_set_contains('visited', 1) AS there, bloom_set_contains('visited', 2) AS not_there;

-- an array: the new ones in order, each once, without nulls
SELECT bloom_set_add_all('visited', ARRAY[5, 1, 3, NULL, 5, 2]);
SELECT bloom_set_add_all('visited', ARRAY[5, 1, 3, NULL, 5, 2]);
SELECT bloom_set_add_all('visited', '{}'::int[]);
SELECT bloom_set_contains_all('visited', ARRAY[1, 2, 3, 5]) AS all_there,
	   bloom_set_contains_all('visited', ARRAY[1, 4]) AS not_all,
	   bloom_set_contains_all('visited', ARRAY[1, NULL]) AS null_unless_decided,
	   bloom_set_contains_all('visited', ARRAY[4, NULL]) AS decided,
	   bloom_set_contains_all('visited', '{}'::int[]) AS vacuously;

-- null keys
SELECT bloom_set_add('visited', NULL::int) IS NULL AS add,
	   bloom_set_add_all('visited', NULL::int[]) IS NULL AS add_all,
	   bloom_set_contains('visited', NULL::int) IS NULL AS contains,
	   bloom_set_contains_all('visited', NULL::int[]) IS NULL AS contains_all;

-- integers of any width are one key type, any other is an error, also when
-- the key would go to a bucket that has no row yet
SELECT bloom_set_add('visited', 2::smallint) AS seen_2, bloom_set_add('visited', 5::bigint) AS seen_5;
SELECT bloom_set_add('visited', '1'::text);
SELECT bloom_set_add_all('visited', ARRAY['7', '8', '9']);
SELECT bloom_set_contains_all('visited', ARRAY[now()]);
SELECT bloom_set_missing('visited', ARRAY[(1, 'a'), ROW(2)]);

-- capacity, rate and what it holds
SELECT key_type, capacity, fp_prob, keys, fp_prob_now < 1e-15 AS exact_yet, bytes = pg_total_relation_size('visited') AS bytes_on_disk,
	   keep, slices, slice_length, oldest, grow, buckets, generations, seed
FROM bloom_set_info('visited');
-- of a set that keeps all, one slice without a beginning; of an empty one, none
SELECT slice, capacity, fp_prob, keys, fp_prob_now < 1e-15 AS exact_yet, bytes > 0 AS bytes, generations FROM bloom_set_slices('visited');
BEGIN;
TRUNCATE visited;
SELECT * FROM bloom_set_slices('visited');
SELECT keys, fp_prob_now, generations FROM bloom_set_info('visited');
ROLLBACK;

--
-- Filled up to its capacity with 100,000 keys, no key is denied, and the rate of
-- false positives is as asked: of 200,000 absent keys 200 are expected at most,
-- and 4.5 standard deviations more are 264.
--
TRUNCATE visited;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 60000)))) > 59900 AS most_new;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(50001, 99500)))) > 39400 AS most_new_too;
SELECT count(*) FILTER (WHERE bloom_set_add('visited', i)) > 490 AS most_new_one_by_one
FROM generate_series(99501, 100000) AS i;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(1, 100000))) AS none_denied;
SELECT count(*) FILTER (WHERE bloom_set_contains('visited', -i)) BETWEEN 1 AND 264 AS few_imagined
FROM generate_series(1, 200000) AS i;
SELECT capacity, keys BETWEEN 99000 AND 101000 AS keys_estimated,
	   fp_prob_now BETWEEN 0.0008 AND 0.00102 AS rate_as_asked, buckets
FROM bloom_set_info('visited');

-- the buckets are ordinary filters, of one shape
SELECT count(*) = (SELECT buckets FROM bloom_set_info('visited')) AS all_buckets,
	   count(DISTINCT ((bloom_info(filter)).bits, (bloom_info(filter)).hashes)) AS shapes,
	   sum(bloom_cardinality(filter)) BETWEEN 90000 AND 101000 AS nearly_all_keys
FROM visited WHERE filter IS NOT NULL;

-- a large load leaves its keys beside the filters, until later adds, or this
TRUNCATE visited;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 50000)))) AS filled;
SELECT count(filter) AS filters FROM visited;
SELECT bloom_set_compact('visited') AS moved, bloom_set_compact('visited') AS none;
SELECT count(filter) = (SELECT buckets FROM bloom_set_info('visited')) AS filters, count(*) FILTER (WHERE lane <> 0) AS lanes FROM visited WHERE bucket >= 0;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(1, 50000))) AS none_denied,
	   bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 50000))) AS none_new;
-- where there is a filter, a few keys move, too
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(-1000, -1)))) AS new;
SELECT count(*) > 100 AS lanes FROM visited WHERE lane <> 0 AND bucket >= 0;
SELECT bloom_set_compact('visited') AS moved, bloom_set_compact('visited') AS none;
SELECT count(*) AS lanes FROM visited WHERE lane <> 0 AND bucket >= 0;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(-1000, -1))) AS none_denied;

-- where there is none, keys move if that saves space: a set with few keys does
-- not become larger
SELECT bloom_set_create('sparse', 'bigint', 1000000, 0.01, grow => false, seed => 0);
SELECT cardinality(bloom_set_add_all('sparse', ARRAY(SELECT generate_series(1, 10000)))) AS new;
SELECT pg_relation_size('sparse') AS size \gset
SELECT bloom_set_compact('sparse') AS moved;
SELECT pg_relation_size('sparse') <= :size AS not_larger;
VACUUM FULL sparse;
SELECT pg_relation_size('sparse') <= :size AS not_larger;
SELECT bloom_set_contains_all('sparse', ARRAY(SELECT generate_series(1, 10000))) AS none_denied;
DROP TABLE sparse;

-- all updates find place in the page of their row
VACUUM FULL visited;
CREATE PROCEDURE visit(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. last LOOP
		PERFORM bloom_set_add('visited', i);
		COMMIT;
	END LOOP;
END
$$;
CALL visit(-2000, -1);
SELECT pg_relation_size('visited') AS size \gset
CALL visit(50001, 51000);
SELECT pg_relation_size('visited') - :size AS grown;
DROP PROCEDURE visit;

-- more keys than the capacity: a WARNING, one for each statement
SELECT bloom_set_create('small', 'int', 20, 0.01, grow => false, seed => 0);
SELECT count(*) FILTER (WHERE bloom_set_add('small', i)) AS new FROM generate_series(1, 20) AS i;
SELECT cardinality(bloom_set_add_all('small', ARRAY(SELECT generate_series(21, 100)))) BETWEEN 20 AND 80 AS some_new;
SELECT count(bloom_set_add('small', i)) AS added FROM generate_series(101, 120) AS i;
SELECT bloom_set_contains_all('small', ARRAY(SELECT generate_series(1, 120))) AS none_denied;
SELECT capacity, keys BETWEEN 60 AND 160 AS keys, fp_prob_now > 0.05 AS rate_is_high FROM bloom_set_info('small');
DROP TABLE small;

--
-- Keys of other types
--
SELECT bloom_set_create('texts', 'text', 1000, seed => 0);
SELECT bloom_set_add('texts', 'a') AS first, bloom_set_add('texts', 'a'::varchar) AS again,
	   bloom_set_contains('texts', 'a') AS there, bloom_set_contains('texts', 'b') AS not_there;
SELECT bloom_set_add_all('texts', ARRAY['b', 'a', repeat('c', 10000)]) = ARRAY['b', repeat('c', 10000)] AS new;
SELECT bloom_set_create('arrays', 'int[]', 1000, seed => 0);
SELECT bloom_set_add('arrays', ARRAY[1, 2]) AS first, bloom_set_add('arrays', ARRAY[1, 2]) AS again;
-- fail: no hash function for the key type
SELECT bloom_set_add('texts', point(1, 1));
DROP TABLE texts, arrays;

--
-- Transactions: what is rolled back was not added
--
BEGIN;
SELECT bloom_set_add('visited', -1) AS new;
SAVEPOINT s;
SELECT bloom_set_add('visited', -2) AS new;
ROLLBACK TO s;
SELECT bloom_set_contains('visited', -1) AS there, bloom_set_contains('visited', -2) AS not_there;
ROLLBACK;
SELECT bloom_set_contains('visited', -1) AS not_there, bloom_set_contains('visited', -2) AS not_there;

-- tests work in a read-only transaction
BEGIN READ ONLY;
SELECT bloom_set_contains('visited', 1) AS there;
-- fail
\set VERBOSITY terse
SELECT bloom_set_add('visited', -1);
\set VERBOSITY default
COMMIT;

--
-- Names: renamed, moved, dropped, made again; in a session that knows the set
--
CREATE SCHEMA "Other Schema";
ALTER TABLE visited RENAME TO "visited ""pages";
SELECT bloom_set_add('"visited ""pages"', 1) AS seen, bloom_set_add('"visited ""pages"', -10) AS new;
ALTER TABLE "visited ""pages" SET SCHEMA "Other Schema";
SELECT bloom_set_add('"Other Schema"."visited ""pages"', -10) AS seen, bloom_set_add('"Other Schema"."visited ""pages"', -11) AS new;
CREATE TABLE visited (bucket int, lane int, slice timestamptz, filter bloom);
-- fail: an ordinary table that looks like one
SELECT bloom_set_add('visited', 1);
DROP TABLE visited;
SELECT bloom_set_create('"Other Schema".mine', 'int', 1000, seed => 0);
SELECT bloom_set_add('"Other Schema".mine', 1), (SELECT keys FROM bloom_set_info('"Other Schema".mine')) AS keys_before;
SELECT '"Other Schema".mine'::regclass::oid AS mine \gset
SET client_min_messages = warning;
DROP SCHEMA "Other Schema" CASCADE;
RESET client_min_messages;
DO $$
BEGIN
	PERFORM bloom_set_add('visited', 1);
EXCEPTION WHEN undefined_table THEN
	RAISE NOTICE 'undefined table';
END
$$;
-- a set made in the schema that comes first
CREATE SCHEMA first;
SET search_path = first, public;
SELECT bloom_set_create('visited', 'bigint', 1000, seed => 0);
SELECT bloom_set_add('visited', 1);
RESET search_path;
SELECT bloom_set_contains('first.visited', 1);
SELECT bloom_set_create('pg_temp.visited', 'int', 1000, seed => 0);
-- a test sees what the query's snapshot sees
SELECT bloom_set_add('pg_temp.visited', 1) AS new, bloom_set_contains('pg_temp.visited', 1) AS not_yet;
SELECT bloom_set_contains('pg_temp.visited', 1) AS there;
DROP TABLE pg_temp.visited;

-- nothing that others put into the search path is called
CREATE SCHEMA trap;
CREATE FUNCTION trap.equal(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION trap.equal(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.equal);
CREATE OPERATOR trap.= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = trap.equal);
CREATE OPERATOR trap.>= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = trap.equal);
CREATE FUNCTION trap.unnest(int[]) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE TABLE trap.visited (bucket int, lane int, slice timestamptz, filter bloom);
SET search_path = trap, pg_catalog, public;
SELECT public.bloom_set_create('public.guarded', 'int', 1000, keep => '1 day', seed => 0);
SELECT public.bloom_set_add('public.guarded', 1), public.bloom_set_add_all('public.guarded', ARRAY[1, 2]);
SELECT public.bloom_set_contains('public.guarded', 1), public.bloom_set_compact('public.guarded');
SELECT public.bloom_set_add('first.visited', 1), public.bloom_set_add('first.visited', 2), public.bloom_set_add('first.visited', 3);
SELECT keys FROM public.bloom_set_info('first.visited');
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA trap, first CASCADE;
DROP TABLE guarded;
RESET client_min_messages;

--
-- A set that forgets, with a clock of our own
--
SELECT bloom_set_create('recent', 'int', 10000, 0.01, keep => '1 day', slices => 4, grow => false, seed => 0);
SELECT capacity, fp_prob, keep, slices, slice_length, oldest, grow, buckets, seed FROM bloom_set_info('recent', '2020-02-02 12:00');

-- 6 hours are a slice
SELECT bloom_set_add('recent', 1, '2020-01-01 05:59') AS new,
	   bloom_set_add('recent', 1, '2020-01-01 06:00') AS seen,
	   bloom_set_add('recent', 2, '2020-01-01 06:00') AS new,
	   bloom_set_add('recent', 2, '2020-01-01 00:00') AS seen_though_added_later;
-- fail: of another type
SELECT bloom_set_contains('recent', 'a', '2020-01-01 06:00');
SELECT bloom_set_missing('recent', ARRAY['a'], '2020-01-01 06:00');

-- remembered for at least a day, and at most 6 hours more
SELECT t AS at, bloom_set_contains('recent', 1, t) AS one, bloom_set_contains('recent', 2, t) AS two
FROM unnest(ARRAY['2020-01-01 06:00', '2020-01-02 05:59', '2020-01-02 06:00', '2020-01-02 11:59',
				  '2020-01-02 12:00', '2025-01-01']::timestamptz[]) AS t;

-- both bounds, for keys that are added every 97 minutes: of each, at each later
-- time, is it there
CREATE TEMP TABLE observed (age interval, there boolean);
DO $$
DECLARE
	at timestamptz := '2020-02-01';
BEGIN
	FOR i IN 1 .. 60 LOOP
		at := at + interval '97 minutes';
		IF NOT bloom_set_add('recent', -i, at) THEN
			RAISE 'not new: %', i;
		END IF;
		INSERT INTO observed
			SELECT (i - j) * interval '97 minutes', bloom_set_contains('recent', -j, at)
			FROM generate_series(1, i) AS j;
	END LOOP;
END
$$;
SELECT age <= '1 day' AS within_keep, age >= '1 day 6 hours' AS after_a_slice_more,
	   bool_and(there) AS all_there, bool_or(there) AS any_there
FROM observed GROUP BY 1, 2 ORDER BY 1, 2;

-- when a key is forgotten it is new again
SELECT bloom_set_add('recent', 1, '2020-03-01 00:00') AS new, bloom_set_add('recent', 1, '2020-03-01 00:00') AS seen;

-- what each slice holds, and the whole set: those that are live at a time
SELECT bloom_set_add('recent', 3, '2020-03-01 12:00') AS new, bloom_set_add('recent', 4, '2020-03-01 18:00') AS new;
SELECT bloom_set_add('recent', i, '2020-03-01 12:00') FROM generate_series(1, 3) AS i;
SELECT slice, capacity, round(fp_prob::numeric, 6) AS fp_prob, keys, generations
FROM bloom_set_slices('recent', '2020-03-01 12:00');
SELECT key_type, capacity, fp_prob, keys, slices, buckets, generations FROM bloom_set_info('recent', '2020-03-01 12:00');
SELECT oldest, keys, (SELECT sum(s.keys) FROM bloom_set_slices('recent', t) AS s) AS of_the_slices
FROM unnest(ARRAY['2020-02-04 20:00', '2020-02-06 01:00', '2020-03-02 06:00', '2020-03-02 12:00', '2020-03-02 18:00', '2020-03-03']::timestamptz[]) AS t,
	 bloom_set_info('recent', t);

-- lazily: a new slice takes the place of those that are too old
SELECT count(DISTINCT slice) AS slices FROM recent;
SELECT bool_and(cardinality(bloom_set_add_all('recent', ARRAY(SELECT generate_series(1, 2000)),
			'2022-01-01'::timestamptz + s * interval '2 days')) > 1900) AS all_new_again
FROM generate_series(0, 9) AS s;
SELECT count(DISTINCT slice) AS slices FROM recent;

-- slices that are too old by the clock are deleted on request; nothing moves
SELECT bloom_set_add('recent', 3, now() - interval '12 hours') AS new, bloom_set_add('recent', 4, now() - interval '3 days') AS old;
SELECT count(DISTINCT slice) AS slices FROM recent;
SELECT bloom_set_compact('recent') AS moved;
SELECT count(DISTINCT slice) AS slices, min(slice) > now() - interval '1 day' AS live FROM recent;
SELECT keys FROM bloom_set_slices('recent', '2022-01-20');
SELECT bloom_set_contains('recent', 3) AS there, bloom_set_contains('recent', 4, now() - interval '3 days') AS gone;
TRUNCATE recent;

-- at capacity, five live slices together have the rate that was asked: of
-- 50,000 absent keys 500 are expected, and 4.5 standard deviations more are 600.
-- The newest is the one after now, so that all stay live here.
SELECT to_timestamp(floor(extract(epoch FROM now()) / 21600) * 21600) + interval '6 hours' AS newest \gset
SELECT bool_and(cardinality(bloom_set_add_all('recent',
			ARRAY(SELECT generate_series(s * 2500 + 1, s * 2500 + 2500)),
			:'newest'::timestamptz - (4 - s) * interval '6 hours')) > 2450) AS most_new
FROM generate_series(0, 4) AS s;
SELECT bloom_set_compact('recent') > 10000 AS compacted;
SELECT count(*) FILTER (WHERE bloom_set_contains('recent', -i, :'newest'::timestamptz + interval '5 hours')) BETWEEN 100 AND 600 AS few_imagined
FROM generate_series(1, 50000) AS i;
SELECT :'newest' - slice AS age, capacity, keys BETWEEN 2400 AND 2520 AS about_full, fp_prob_now <= fp_prob * 1.05 AS rate_as_asked
FROM bloom_set_slices('recent', :'newest'::timestamptz + interval '5 hours');
SELECT capacity, keys BETWEEN 12200 AND 12600 AS about_full, fp_prob_now <= fp_prob * 1.05 AS rate_as_asked
FROM bloom_set_info('recent', :'newest'::timestamptz + interval '5 hours');
SELECT bloom_set_contains_all('recent', ARRAY(SELECT generate_series(1, 12500)), :'newest'::timestamptz + interval '5 hours') AS none_denied;
-- also with estimates, the slices add up to the whole
SELECT h AS hours_later, (SELECT count(*) FROM bloom_set_slices('recent', t)) AS slices,
	   i.keys = (SELECT coalesce(sum(s.keys), 0) FROM bloom_set_slices('recent', t) AS s) AS they_add_up
FROM generate_series(0, 36, 6) AS h, CAST(:'newest'::timestamptz + h * interval '1 hour' AS timestamptz) AS t, bloom_set_info('recent', t) AS i;
TRUNCATE recent;

-- the clock is that of the transaction, unless it is given
SELECT bloom_set_add('recent', 78, '2022-01-01') AS old, bloom_set_add('recent', 77) AS new;
SELECT bloom_set_contains('recent', 77) AS there,
	   bloom_set_contains('recent', 77, now() + interval '2 days') AS gone;
SELECT bloom_set_compact('recent') AS moved;
SELECT count(DISTINCT slice) AS slices FROM recent;
SELECT bloom_set_contains('recent', 77) AS there;

-- fail: a time that is ahead of the clock does not forget what is live by the
-- clock, and there would be slices without limit
SELECT bloom_set_add_all('recent', ARRAY(SELECT generate_series(1, 1000)), '2999-01-01');
SELECT bloom_set_contains('recent', 77) AS still_there;
-- nor are there slices that no timestamp can show
SELECT bloom_set_add('recent', 77, '4714-11-24 00:00:00+00 BC');
SELECT bloom_set_contains('recent', 77, '4714-11-24 00:00:00+00 BC');

-- a set that keeps all has no clock
SELECT bloom_set_create('forever', 'int', 1000, seed => 0);
SELECT bloom_set_add('forever', 1, '2020-01-01') AS new, bloom_set_add('forever', 1, '1990-01-01') AS seen,
	   bloom_set_compact('forever') AS none_moved;
SELECT bloom_set_contains('forever', 1, '2999-01-01') AS there;
SELECT keep, slices, slice_length, oldest FROM bloom_set_info('forever');
SELECT slice, keys FROM bloom_set_slices('forever', '2999-01-01');

--
-- Privileges are those of a table
--
\set VERBOSITY terse
CREATE ROLE regress_bloom_owner;
CREATE ROLE regress_bloom_other;
CREATE SCHEMA owned AUTHORIZATION regress_bloom_owner;
SET ROLE regress_bloom_owner;
SELECT bloom_set_create('owned.keys', 'int', 1000, seed => 0);
SELECT bloom_set_add('owned.keys', 1);
SET ROLE regress_bloom_other;
-- fail
SELECT bloom_set_create('owned.others', 'int', 1000);
SELECT bloom_set_add('owned.keys', 2);
SET ROLE regress_bloom_owner;
GRANT USAGE ON SCHEMA owned TO regress_bloom_other;
SET ROLE regress_bloom_other;
-- fail
SELECT bloom_set_contains('owned.keys', 1);
SELECT bloom_set_info('owned.keys');
SELECT bloom_set_slices('owned.keys');
SET ROLE regress_bloom_owner;
GRANT SELECT ON owned.keys TO regress_bloom_other;
SET ROLE regress_bloom_other;
SELECT bloom_set_contains('owned.keys', 1), (SELECT keys FROM bloom_set_info('owned.keys')), (SELECT keys FROM bloom_set_slices('owned.keys'));
-- fail
SELECT bloom_set_add('owned.keys', 3);
SELECT bloom_set_compact('owned.keys');
ALTER TABLE owned.keys ALTER room SET DEFAULT NULL;
SET ROLE regress_bloom_owner;
GRANT INSERT, UPDATE ON owned.keys TO regress_bloom_other;
SET ROLE regress_bloom_other;
SELECT bloom_set_add('owned.keys', 3), bloom_set_add('owned.keys', 1), bloom_set_add_all('owned.keys', ARRAY[3, 4]), bloom_set_compact('owned.keys');
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA owned CASCADE;
RESET client_min_messages;
DROP ROLE regress_bloom_owner, regress_bloom_other;
\set VERBOSITY default

--
-- What is no set, and parameters out of range
--
CREATE VIEW a_view AS SELECT * FROM recent;
CREATE TABLE a_table (i int DEFAULT 1 + 1, t text DEFAULT lower('X'));
-- fail, all of these
SELECT bloom_set_add('a_table', 1);
SELECT bloom_set_contains('a_view', 1);
SELECT bloom_set_add_all('recent_pkey', ARRAY[1]);
SELECT bloom_set_info('a_table');
SELECT bloom_set_compact('a_view');
SELECT bloom_set_slices('a_view');
SELECT bloom_set_add(NULL, 1);
SELECT bloom_set_contains_all(NULL, ARRAY[1]);
SELECT bloom_set_info(NULL);
SELECT bloom_set_slices(NULL);
SELECT bloom_set_slices('recent', NULL);
SELECT bloom_set_slices('recent', 'infinity');
SELECT bloom_set_compact(NULL);
SELECT bloom_set_add(0, 1);
SELECT bloom_set_add('nowhere', 1);
SELECT bloom_set_add('recent', 1, NULL);
SELECT bloom_set_add('recent', 1, 'infinity');
SELECT bloom_set_contains('recent', 1, '-infinity');
\set VERBOSITY terse
SELECT bloom_set_create('recent', 'int', 1000);
SELECT bloom_set_create('nowhere.s', 'int', 1000);
\set VERBOSITY default
SELECT bloom_set_create(NULL, 'int', 1000);
SELECT bloom_set_create('', 'int', 1000);
SELECT bloom_set_create('s', 'int', NULL, grow => false);
SELECT bloom_set_create('s', 'int', 0);
SELECT bloom_set_create('s', 'int', -5);
SELECT bloom_set_create('s', 'int', 4611686018427387904);
SELECT bloom_set_create('s', 'int', 9223372036854775807, keep => '1 day');
SELECT bloom_set_create('s', 'int', 9007199254740992, keep => '1 day');
SELECT bloom_set_create('s', 'int', 9007199254740992, 1e-9, grow => false);
SELECT bloom_set_create('s', 'int', 'NaN');
SELECT bloom_set_create('s', 'int', 'infinity');
SELECT bloom_set_create('s', 'int', 0.5);
SELECT bloom_set_create('My Set', 'int');
SELECT bloom_set_create('"My Set"', 'int');
SELECT bloom_set_add('"My Set"', 1);
DROP TABLE "My Set";
SELECT bloom_set_create('s', 'int', grow => NULL);
SELECT bloom_set_create('s', 'int', unlogged => NULL);
SELECT bloom_set_create('s', 'int', 1000, 0);
SELECT bloom_set_create('s', 'int', 1000, 1);
SELECT bloom_set_create('s', 'int', 1000, 'NaN');
SELECT bloom_set_create('s', 'int', 1000, NULL);
SELECT bloom_set_create('s', 'int', 1000, 0.01, '0');
SELECT bloom_set_create('s', 'int', 1000, 0.01, '-1 day');
SELECT bloom_set_create('s', 'int', 1000, 0.01, '3 microseconds');
SELECT bloom_set_create('s', 'int', 1000, 0.01, '10000 years');
SELECT bloom_set_create('s', 'int', 1000, 0.01, '178000000 years');
SELECT bloom_set_create('s', 'int', 1000, 0.01, '1 day', 0);
SELECT bloom_set_create('s', 'int', 1000, 0.01, '1 day', 1001);
SELECT bloom_set_create('s', 'int', 1000, 0.01, '1 day', NULL);
SELECT bloom_set_create('s', 'int', 1000, 1e-13, '1 day', 1000);


DROP VIEW a_view;
DROP TABLE a_table, recent, forever;
