--
-- Stored sets: load what is there, remove a key, take a filter
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

--
-- Load
--
SELECT bloom_set_create('received', 'bigint', seed => 1);
CREATE TABLE activity AS SELECT i::bigint AS id, 'x' AS body FROM generate_series(1, 100000) AS i UNION ALL SELECT 5, 'again' UNION ALL SELECT NULL, 'null';
SELECT bloom_set_load('received', 'SELECT id FROM activity') AS new;
SELECT keys, rows, bytes / keys BETWEEN 6 AND 11 AS bytes_per_key FROM bloom_set_info('received');
SELECT bloom_set_contains_all('received', ARRAY(SELECT id FROM activity WHERE id IS NOT NULL)) AS none_denied, bloom_set_contains_any('received', ARRAY(SELECT generate_series(-100000, 0))) AS imagined;
SELECT count(*) AS lanes FROM received WHERE lane > 0;
-- it is a set like any other
SELECT bloom_set_add('received', 5) AS seen, bloom_set_add('received', 0) AS new, cardinality(bloom_set_add_all('received', ARRAY(SELECT generate_series(90001, 110000)))) AS new;
SELECT bloom_set_compact('received') AS moved, keys FROM bloom_set_info('received');
-- into a set that has keys: by adds
SELECT bloom_set_load('received', 'SELECT i FROM generate_series(105001, 320000) AS i') AS new, bloom_set_load('received', 'SELECT 1::bigint WHERE false') AS none;
SELECT bloom_set_contains_all('received', ARRAY(SELECT generate_series(0, 320000))) AS none_denied, keys FROM bloom_set_info('received');
-- rolled back
BEGIN;
SELECT bloom_set_load('received', 'SELECT 400000') AS new;
ROLLBACK;
SELECT bloom_set_contains('received', 400000) AS there;
-- in a transaction that has added before, also after TRUNCATE
BEGIN;
TRUNCATE received;
SELECT bloom_set_load('received', 'SELECT id FROM activity') AS new;
SELECT keys FROM bloom_set_info('received');
ROLLBACK;
SELECT bloom_set_create('other', 'bigint', seed => 1);
BEGIN;
SELECT bloom_set_add('other', 1) AS new;
SELECT bloom_set_load('other', 'SELECT id FROM activity') AS new;
COMMIT;
SELECT keys FROM bloom_set_info('other');
-- a query that tests the set, and one that adds to it
TRUNCATE other;
CREATE FUNCTION add_to_other(key bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM bloom_set_add('other', key); RETURN key + 1; END $$;
SELECT bloom_set_load('other', 'SELECT i FROM generate_series(1, 10) AS i WHERE NOT bloom_set_contains(''other'', i)') AS new;
TRUNCATE other;
SELECT bloom_set_load('other', 'SELECT add_to_other(i * 10) FROM generate_series(1, 1000) AS i') AS new;
SELECT bloom_set_contains_all('other', ARRAY(SELECT i * 10 + d FROM generate_series(1, 1000) AS i, generate_series(0, 1) AS d)) AS none_denied, keys FROM bloom_set_info('other');
-- more than fits into memory
TRUNCATE other;
SET maintenance_work_mem = '1MB';
SELECT bloom_set_load('other', 'SELECT i FROM generate_series(1, 200000) AS i, generate_series(1, 2) AS twice') AS new;
RESET maintenance_work_mem;
SELECT keys, rows FROM bloom_set_info('other');
SELECT bloom_set_contains_all('other', ARRAY(SELECT generate_series(1, 200000))) AS none_denied;
-- numbers of other types, and text
TRUNCATE other;
SELECT bloom_set_load('other', 'SELECT 1::smallint') AS new, bloom_set_load('other', 'VALUES (1), (2)') AS new;
SELECT bloom_set_create('words', 'text', seed => 1);
SELECT bloom_set_load('words', 'SELECT ''w'' || i FROM generate_series(1, 1000) AS i') AS new, bloom_set_contains('words', 'w1000') AS not_in_this_statement;
SELECT bloom_set_contains_all('words', ARRAY(SELECT 'w' || i FROM generate_series(1, 1000) AS i)) AS none_denied;
-- a set that forgets: the keys are of now
SELECT bloom_set_create('recent', 'int', '1 day', seed => 1);
SELECT bloom_set_load('recent', 'SELECT generate_series(1, 1000)') AS new;
SELECT bloom_set_contains('recent', 1) AS there, bloom_set_contains('recent', 1, now() + interval '2 days') AS gone;
-- fail, all of these; nothing is left behind
TRUNCATE other;
SELECT bloom_set_load('other', NULL);
SELECT bloom_set_load('other', 'SELECT 1, 2');
SELECT bloom_set_load('other', 'SELECT ''a''::text');
SELECT bloom_set_load('other', 'SELECT 1::text WHERE false');
SELECT bloom_set_load('other', 'SELECT 1.5');
SELECT bloom_set_load('other', 'SELECT 1 / (5 - i) FROM generate_series(1, 5) AS i');
-- (it ends, since it can be cancelled)
SET statement_timeout = '200ms';
SELECT bloom_set_load('other', 'SELECT generate_series(1, 1000000000000)');
RESET statement_timeout;
\set VERBOSITY sqlstate
SELECT bloom_set_load('other', 'SELEC 1');
SELECT bloom_set_load('other', '');
SELECT bloom_set_load('other', 'SELECT 1; SELECT 2');
SELECT bloom_set_load('other', 'DELETE FROM activity');
SELECT bloom_set_load('other', 'CREATE TABLE made ()');
SELECT bloom_set_load('nowhere', 'SELECT 1');
\set VERBOSITY default
SELECT count(*) FROM other;
-- the query runs as the caller
CREATE ROLE regress_bloom_loader;
GRANT SELECT, INSERT, UPDATE ON other TO regress_bloom_loader;
SET ROLE regress_bloom_loader;
SELECT bloom_set_load('other', 'SELECT id FROM activity');
SELECT bloom_set_load('other', 'SELECT 7') AS new;
RESET ROLE;
DROP OWNED BY regress_bloom_loader;
DROP ROLE regress_bloom_loader;
BEGIN READ ONLY;
SELECT bloom_set_load('other', 'SELECT 8');
ROLLBACK;

-- in the transaction that has made the set, and in one that has locked it: full lists, no lanes
BEGIN;
SELECT bloom_set_create('made', 'int', seed => 1);
SELECT bloom_set_load('made', 'SELECT generate_series(1, 10000)') AS new;
SELECT count(*) FILTER (WHERE lane = 0) AS lists, count(*) FILTER (WHERE lane > 0) AS lanes FROM made;
COMMIT;
BEGIN;
TRUNCATE made;
LOCK TABLE made IN EXCLUSIVE MODE;
SELECT bloom_set_load('made', 'SELECT generate_series(1, 10000)') AS new;
SELECT count(*) FILTER (WHERE lane = 0) AS lists, count(*) FILTER (WHERE lane > 0) AS lanes FROM made;
-- ... which is then not empty
SELECT bloom_set_load('made', 'SELECT generate_series(1, 20000)') AS new;
COMMIT;
DROP TABLE made;

-- rows without keys: a NOTICE, unless the table is truncated before
SELECT bloom_set_create('ahead', 'int', seed => 1, capacity => 100000);
SELECT bloom_set_load('ahead', 'SELECT generate_series(1, 20000)') AS new;
SELECT bloom_set_load('ahead', 'SELECT generate_series(1, 20001)') AS new;
SELECT count(*) FILTER (WHERE lane > 0) > 0 AS lanes, bloom_set_contains_all('ahead', ARRAY(SELECT generate_series(1, 20001))) AS there FROM ahead;
BEGIN;
TRUNCATE ahead;
SELECT bloom_set_load('ahead', 'SELECT generate_series(1, 20000)') AS new;
COMMIT;
SELECT count(*) FILTER (WHERE lane > 0) > 0 AS lanes, bloom_set_contains_all('ahead', ARRAY(SELECT generate_series(1, 20000))) AS there FROM ahead;
SELECT count(*) FILTER (WHERE bloom_set_remove('ahead', i)) AS removed FROM generate_series(1, 20000) AS i;
\set VERBOSITY terse
SELECT bloom_set_load('ahead', 'SELECT 1') AS new;
\set VERBOSITY default
DROP TABLE ahead;

--
-- Remove
--
SELECT bloom_set_remove('received', 5) AS was_there, bloom_set_remove('received', 5) AS no_more;
SELECT bloom_set_contains('received', 5) AS there, bloom_set_contains_all('received', ARRAY(SELECT generate_series(6, 10000))) AS the_others;
SELECT bloom_set_add('received', 5) AS new_again, bloom_set_add('received', 5) AS seen;
-- of a lane, committed or own; of both, and of a list; the neighbours stay
BEGIN;
SELECT bloom_set_add('received', 500000) AS new, bloom_set_remove('received', 500000) AS was_there, bloom_set_remove('received', 500000) AS no_more, bloom_set_add('received', 500000) AS new;
SELECT bloom_set_remove('received', 6) AS was_there;
SAVEPOINT s;
SELECT bloom_set_remove('received', 7) AS was_there, bloom_set_add('received', 7) AS new, bloom_set_remove('received', 7) AS was_there;
ROLLBACK TO s;
SELECT bloom_set_contains('received', 7) AS still_there, bloom_set_contains('received', 6) AS there;
COMMIT;
SELECT bloom_set_contains('received', 500000) AS there, bloom_set_contains('received', 6) AS gone, bloom_set_contains('received', 7) AS there;
-- every other key, one by one: none that is left is denied
SELECT count(*) FILTER (WHERE bloom_set_remove('other', i)) AS removed FROM generate_series(1, 10) AS i;
SELECT cardinality(bloom_set_add_all('other', ARRAY(SELECT generate_series(1, 3000)))) AS new, bloom_set_contains('other', 1) AS not_in_this_statement;
SELECT bloom_set_compact('other') AS moved;
SELECT cardinality(bloom_set_add_all('other', ARRAY(SELECT generate_series(3001, 4000)))) AS new;
SELECT count(*) FILTER (WHERE bloom_set_remove('other', i)) AS removed FROM generate_series(1, 4000, 2) AS i;
SELECT array_agg(i) FILTER (WHERE bloom_set_contains('other', i) <> (i % 2 = 0)) AS wrong, count(*) FROM generate_series(1, 5000) AS i WHERE i <= 4000;
SELECT bloom_set_compact('other') IS NOT NULL AS compacted, keys FROM bloom_set_info('other');
SELECT array_agg(i) FILTER (WHERE bloom_set_contains('other', i) <> (i % 2 = 0)) AS wrong FROM generate_series(1, 4000) AS i;
SELECT bloom_set_remove('other', NULL) IS NULL AS null_key, bloom_set_remove('other', 2.5) AS no_integer, bloom_set_remove('other', 2.0) AS two;
-- fail
SELECT bloom_set_remove('other', 'a');
-- of a set that forgets
SELECT bloom_set_remove('recent', 1) AS was_there, bloom_set_add('recent', 1) AS new;
SELECT bloom_set_add('recent', 2000, now() - interval '3 days') AS new, bloom_set_remove('recent', 2000) AS was_live;
SELECT bloom_set_add('recent', 2000, now() - interval '3 days') AS new, bloom_set_remove('recent', 2000, now() - interval '3 days') AS was_live_then;
-- fail
SELECT bloom_set_remove('recent', 2000, NULL);

--
-- A filter
--
SELECT bloom_set_filter('other', 3000, 0.001) AS filter \gset
SELECT bool_and(:'filter'::bloom @> i) AS none_denied FROM generate_series(4, 4000, 2) AS i;
SELECT count(*) FILTER (WHERE :'filter'::bloom @> i) AS few FROM generate_series(10001, 20000) AS i;
SELECT key_type, seed, capacity, fp_prob FROM bloom_info(:'filter'::bloom);
-- the same as the filter of these keys
SELECT :'filter'::bloom = bloom_add_all(bloom_empty(3000, 0.001, 1), array_agg(i::bigint)) AS equal FROM generate_series(4, 4000, 2) AS i;
-- of many keys, in bits; small, in keys; empty, with the key type of the set
SELECT bloom_set_filter('received', 1000000, 0.01) = bloom_add_all(bloom_empty(1000000, 0.01, 1), ARRAY(SELECT i::bigint FROM generate_series(0, 320000) AS i WHERE i <> 6 UNION ALL SELECT 500000)) AS equal;
TRUNCATE other;
SELECT bloom_cardinality(filter) = 0 AS is_empty, (bloom_info(filter)).key_type FROM (SELECT bloom_set_filter('other', 10) AS filter) AS s;
SELECT bloom_set_filter('words', 1000) @> 'w7' AS there, bloom_set_filter('words', 1000) @> 'x' AS not_there;
-- of what is live at a time
SELECT bloom_set_filter('recent', 1000) @> 5 AS there, bloom_cardinality(bloom_set_filter('recent', 1000, at => now() + interval '2 days')) = 0 AS gone;
-- more keys than the capacity: a WARNING
SELECT bloom_set_filter('words', 10) @> 'w7' AS there;
DROP TABLE activity, received, other, words, recent;
DROP FUNCTION add_to_other;

--
-- A set that keeps a part of each hash, as keys that are unique across partitions
-- have them: it tests, adds and compacts, but cannot tell one key from another
--
SELECT bloom_set_create('whole', 'bigint', seed => 0);
SELECT pg_get_expr(adbin, adrelid) AS params FROM pg_attrdef WHERE adrelid = 'whole'::regclass \gset
CREATE TABLE part (LIKE whole INCLUDING ALL);
SELECT format('ALTER TABLE part ALTER hashes SET DEFAULT %s', replace(:'params', 'kept_bits=64', 'kept_bits=40')) \gexec
SELECT bloom_set_load('part', 'SELECT generate_series(1, 100000)::bigint') = bloom_set_load('whole', 'SELECT generate_series(1, 100000)::bigint') AS the_same;
SELECT bloom_set_contains_all('part', ARRAY(SELECT generate_series(1, 100000))) AS none_denied, cardinality(bloom_set_add_all('part', ARRAY(SELECT generate_series(50001, 150000)))) >= 49990 AS nearly_all_new;
SELECT bloom_set_compact('part') > 49900 AS moved;
SELECT bloom_set_contains_all('part', ARRAY(SELECT generate_series(1, 150000))) AS none_denied, keys BETWEEN 149900 AND 150000 AS keys, fp_prob_now BETWEEN 1e-7 AND 2e-7 AS rate FROM bloom_set_info('part');
SELECT count(*) FILTER (WHERE bloom_set_contains('part', -i)) <= 1 AS few_imagined FROM generate_series(1, 100000) AS i;
SELECT (SELECT sum(octet_length(hashes)) FROM part) < 0.8 * (SELECT sum(octet_length(hashes)) FROM whole) AS smaller_though_more;
-- fail
SELECT bloom_set_remove('part', 1);
SELECT bloom_set_filter('part', 1000);
DROP TABLE whole, part;
