--
-- Stored sets: keys in a table, by ranges of their hashes
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

--
-- Add and tell
--
SELECT bloom_set_create('visited', 'bigint', seed => 0);
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

-- a null key is new each time, as for a unique index, and leaves nothing
SELECT bloom_set_add('visited', NULL::int) AS null_is_new, bloom_set_add('visited', NULL::int) AS new_again, bloom_set_add('visited', NULL) AS untyped_too,
	   (SELECT keys FROM bloom_set_info('visited'));
-- so that a row without a key is inserted
CREATE TABLE message (id int, body text);
INSERT INTO message SELECT id, body FROM (VALUES (NULL::int, 'a'), (NULL, 'b'), (1, 'seen'), (21, 'new')) AS m (id, body) WHERE bloom_set_add('visited', id);
SELECT * FROM message ORDER BY body;
DROP TABLE message;
-- a test of it is null, as with =; a removal, too; in arrays it counts as in ANY and ALL, or is left out
SELECT bloom_set_contains('visited', NULL::int) AS null_test, bloom_set_contains('visited', NULL::int) IS NOT TRUE AS kept, bloom_set_remove('visited', NULL::int) AS null_removal;
SELECT bloom_set_contains_any('visited', ARRAY[4, NULL]) AS null_any, bloom_set_contains_any('visited', ARRAY[1, NULL]) AS decided_any;
SELECT bloom_set_add_all('visited', ARRAY[NULL, 21, NULL]::int[]) AS left_out, bloom_set_missing('visited', ARRAY[NULL, 4]) AS left_out_too;
SELECT bloom_set_add_all('visited', NULL::int[]) IS NULL AS add_all, bloom_set_missing('visited', NULL::int[]) IS NULL AS missing,
	   bloom_set_contains_all('visited', NULL::int[]) IS NULL AS contains_all, bloom_set_contains_any('visited', NULL::int[]) IS NULL AS contains_any;
SELECT bloom_set_remove('visited', 21) AS taken_back;
-- fail: a null set, and a null time, also with a null key
SELECT bloom_set_add(NULL, NULL);
SELECT bloom_set_add('visited', NULL, NULL);

-- integers of any width are one key type, any other is an error, also when
-- the key would go to a range that has no row yet
SELECT bloom_set_add('visited', 2::smallint) AS seen_2, bloom_set_add('visited', 5::bigint) AS seen_5;
SELECT bloom_set_add('visited', '1'::text);
SELECT bloom_set_add_all('visited', ARRAY['7', '8', '9']);
SELECT bloom_set_contains_all('visited', ARRAY[now()]);
SELECT bloom_set_missing('visited', ARRAY[(1, 'a'), ROW(2)]);

-- what it holds
SELECT key_type, keys, fp_prob_now < 1e-15 AS exact, bytes = pg_total_relation_size('visited') AS bytes_on_disk, rows, keep, oldest, seed
FROM bloom_set_info('visited');
BEGIN;
TRUNCATE visited;
SELECT keys, fp_prob_now, rows FROM bloom_set_info('visited');
ROLLBACK;

--
-- With 100,000 keys, none is denied, and none of 200,000 absent ones is imagined:
-- of 64-bit hashes, the probability that one is, is 1e-9.
--
TRUNCATE visited;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 60000)))) AS new;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(50001, 99500)))) AS new;
SELECT count(*) FILTER (WHERE bloom_set_add('visited', i)) AS new FROM generate_series(99501, 100000) AS i;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(1, 100000))) AS none_denied;
SELECT bloom_set_contains_any('visited', ARRAY(SELECT generate_series(-200000, 0))) AS imagined;
SELECT count(*) FILTER (WHERE bloom_set_contains('visited', i)) AS one_by_one FROM generate_series(-1000, 1000) AS i;
SELECT keys, fp_prob_now = 100000 / 2 ^ 64 AS n_of_all_hashes FROM bloom_set_info('visited');

-- a large load leaves its keys in lanes, until later adds, or this
TRUNCATE visited;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 50000)))) AS filled;
SELECT count(*) FILTER (WHERE lane > 0) > 64 AS lanes, count(*) FILTER (WHERE lane = 0) > 64 AS ranges FROM visited;
SELECT bloom_set_compact('visited') AS moved, bloom_set_compact('visited') AS none;
SELECT count(*) FILTER (WHERE lane > 0) AS lanes FROM visited;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(1, 50000))) AS none_denied,
	   bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 50000))) AS none_new;
SELECT cardinality(bloom_set_add_all('visited', ARRAY(SELECT generate_series(-1000, -1)))) AS new;
SELECT bloom_set_compact('visited') > 0 AS moved, bloom_set_compact('visited') AS none;
SELECT count(*) FILTER (WHERE lane > 0) AS lanes FROM visited;
SELECT bloom_set_contains_all('visited', ARRAY(SELECT generate_series(-1000, -1))) AS none_denied, keys FROM bloom_set_info('visited');

-- compact and vacuumed, a key takes few bytes; a set with few keys is small
VACUUM FULL visited;
SELECT bytes / keys BETWEEN 6 AND 9 AS bytes_per_key FROM bloom_set_info('visited');

-- an add of a transaction of its own finds place in the page of its row: the table
-- does not grow by a page for each
CREATE PROCEDURE visit(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. last LOOP
		PERFORM bloom_set_add('visited', i);
		COMMIT;
	END LOOP;
END
$$;
SELECT pg_relation_size('visited') AS size \gset
CALL visit(50001, 51000);
SELECT pg_relation_size('visited') < 1.5 * :size AS stays_small;
DROP PROCEDURE visit;

--
-- Keys of other types
--
SELECT bloom_set_create('texts', 'text', seed => 0);
SELECT bloom_set_add('texts', 'a') AS first, bloom_set_add('texts', 'a'::varchar) AS again,
	   bloom_set_contains('texts', 'a') AS there, bloom_set_contains('texts', 'b') AS not_there;
SELECT bloom_set_add_all('texts', ARRAY['b', 'a', repeat('c', 10000)]) = ARRAY['b', repeat('c', 10000)] AS new;
SELECT bloom_set_create('arrays', 'int[]', seed => 0);
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
CREATE TABLE visited (start bigint, slice timestamptz, lane int, hashes bytea);
-- fail: an ordinary table that looks like one
SELECT bloom_set_add('visited', 1);
DROP TABLE visited;
SELECT bloom_set_create('"Other Schema".mine', 'int', seed => 0);
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
SELECT bloom_set_create('visited', 'bigint', seed => 0);
SELECT bloom_set_add('visited', 1);
RESET search_path;
SELECT bloom_set_contains('first.visited', 1);
SELECT bloom_set_create('pg_temp.visited', 'int', seed => 0);
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
CREATE TABLE trap.visited (start bigint, slice timestamptz, lane int, hashes bytea);
SET search_path = trap, pg_catalog, public;
SELECT public.bloom_set_create('public.guarded', 'int', keep => '1 day', seed => 0);
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
-- Privileges are those of a table
--
\set VERBOSITY terse
CREATE ROLE regress_bloom_owner;
CREATE ROLE regress_bloom_other;
CREATE SCHEMA owned AUTHORIZATION regress_bloom_owner;
SET ROLE regress_bloom_owner;
SELECT bloom_set_create('owned.keys', 'int', seed => 0);
SELECT bloom_set_add('owned.keys', 1);
SET ROLE regress_bloom_other;
-- fail
SELECT bloom_set_create('owned.others', 'int');
SELECT bloom_set_add('owned.keys', 2);
SET ROLE regress_bloom_owner;
GRANT USAGE ON SCHEMA owned TO regress_bloom_other;
SET ROLE regress_bloom_other;
-- fail
SELECT bloom_set_contains('owned.keys', 1);
SELECT bloom_set_info('owned.keys');
SET ROLE regress_bloom_owner;
GRANT SELECT ON owned.keys TO regress_bloom_other;
SET ROLE regress_bloom_other;
SELECT bloom_set_contains('owned.keys', 1), (SELECT keys FROM bloom_set_info('owned.keys'));
-- fail
SELECT bloom_set_add('owned.keys', 3);
SELECT bloom_set_compact('owned.keys');
ALTER TABLE owned.keys ALTER hashes SET DEFAULT NULL;
SELECT bloom_set_load('owned.keys', 'SELECT 5');
SELECT bloom_set_remove('owned.keys', 1);
SET ROLE regress_bloom_owner;
GRANT INSERT, UPDATE ON owned.keys TO regress_bloom_other;
SET ROLE regress_bloom_other;
SELECT bloom_set_add('owned.keys', 3), bloom_set_add('owned.keys', 1), bloom_set_add_all('owned.keys', ARRAY[3, 4]), bloom_set_compact('owned.keys'), bloom_set_load('owned.keys', 'SELECT 5');
\set VERBOSITY default
-- fail: to remove is to delete
SELECT bloom_set_remove('owned.keys', 3);
RESET ROLE;
GRANT DELETE ON owned.keys TO regress_bloom_other;
SET ROLE regress_bloom_other;
SELECT bloom_set_remove('owned.keys', 3), bloom_set_remove('owned.keys', 3), (bloom_set_filter('owned.keys', 10) @> 4) AS in_the_filter;
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA owned CASCADE;
RESET client_min_messages;
DROP ROLE regress_bloom_owner, regress_bloom_other;
\set VERBOSITY default

--
-- What is no set, and parameters out of range
--
SELECT bloom_set_create('recent', 'int', keep => '1 day', seed => 0);
CREATE VIEW a_view AS SELECT * FROM recent;
CREATE TABLE a_table (i int DEFAULT 1 + 1, t text DEFAULT lower('X'));
-- fail, all of these
SELECT bloom_set_add('a_table', 1);
SELECT bloom_set_contains('a_view', 1);
SELECT bloom_set_add_all('recent_pkey', ARRAY[1]);
SELECT bloom_set_info('a_table');
SELECT bloom_set_compact('a_view');
SELECT bloom_set_add(NULL, 1);
SELECT bloom_set_contains_all(NULL, ARRAY[1]);
SELECT bloom_set_info(NULL);
SELECT bloom_set_compact(NULL);
SELECT bloom_set_remove(NULL, 1);
SELECT bloom_set_load(NULL, 'SELECT 1');
SELECT bloom_set_filter(NULL, 1000);
SELECT bloom_set_filter('recent', NULL);
SELECT bloom_set_filter('recent', 1000, NULL);
SELECT bloom_set_filter('recent', 0);
SELECT bloom_set_filter('recent', 1000, 2);
SELECT bloom_set_remove('a_table', 1);
SELECT bloom_set_load('a_view', 'SELECT 1');
SELECT bloom_set_filter('a_table', 1000);
SELECT bloom_set_add(0, 1);
SELECT bloom_set_add('nowhere', 1);
SELECT bloom_set_add('recent', 1, NULL);
SELECT bloom_set_add('recent', 1, 'infinity');
SELECT bloom_set_contains('recent', 1, '-infinity');
\set VERBOSITY terse
SELECT bloom_set_create('recent', 'int');
SELECT bloom_set_create('nowhere.s', 'int');
\set VERBOSITY default
SELECT bloom_set_create(NULL, 'int');
SELECT bloom_set_create('', 'int');
SELECT bloom_set_create('My Set', 'int');
SELECT bloom_set_create('"My Set"', 'int');
SELECT bloom_set_add('"My Set"', 1);
DROP TABLE "My Set";
SELECT bloom_set_create('s', 'int', unlogged => NULL);
SELECT bloom_set_create('s', 'int', if_not_exists => NULL);
SELECT bloom_set_create('s', 'int', '0');
SELECT bloom_set_create('s', 'int', '-1 day');
SELECT bloom_set_create('s', 'int', '61 microseconds');
SELECT bloom_set_create('s', 'int', '10000 years');
SELECT bloom_set_create('s', 'int', '178000000 years');

DROP VIEW a_view;
DROP TABLE a_table, recent;
