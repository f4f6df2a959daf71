--
-- Stored sets: the text of their parameters, right and wrong ones
--
SET intervalstyle = postgres;

-- What the default of a set says, and what a table says that has it from elsewhere.
CREATE FUNCTION params(set regclass) RETURNS text LANGUAGE sql AS $$
	SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = set
$$;
CREATE FUNCTION give(set regclass, params text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER TABLE %s ALTER hashes SET DEFAULT _bloom_set_params(%L)', set, params);
END
$$;

-- Each kind of key type, and of parameter; the same is read again.
CREATE SCHEMA regress_bloom_types;
CREATE TYPE regress_bloom_types.mood AS ENUM ('sad');
CREATE TYPE regress_bloom_types."it's 100% \ ""so""" AS ENUM ('sad');
CREATE TYPE regress_bloom_types.int8 AS ENUM ('sad');
CREATE TYPE regress_bloom_types.visit AS (page text, "when" timestamptz, moods regress_bloom_types.mood[]);
CREATE TYPE regress_bloom_types.floats AS RANGE (subtype = float8);
CREATE DOMAIN regress_bloom_types.page AS text;
SELECT bloom_set_create('s' || i, type::regtype, keep => keep, seed => seed) AS set, params(('s' || i)::regclass)
FROM (VALUES (1, 'int', NULL::interval, 0), (2, '"char"', '62 microseconds', 9223372036854775807), (3, 'text', '365000 days', -9223372036854775808),
	  (4, 'regress_bloom_types.mood', NULL, -1), (5, $$regress_bloom_types."it's 100% \ ""so"""$$, NULL, 1), (6, 'regress_bloom_types.int8', NULL, 1),
	  (7, 'regress_bloom_types.visit[]', '1 day', 1), (8, 'regress_bloom_types.floats', NULL, 1), (9, 'regress_bloom_types.page', NULL, 1)) AS v (i, type, keep, seed)
ORDER BY i;
SELECT set, s.key_type, s.keep, i.seed, problem, s.key_type = i.key_type AS same FROM bloom_sets() AS s, bloom_set_info(set) AS i ORDER BY substr(set::text, 2)::int;

-- Types move to another schema, and domains and composites have other names: the text stays.
SELECT bloom_set_add('s4', 'sad'::regress_bloom_types.mood) AS new, bloom_set_add('s7', ARRAY[ROW('/', '2026-01-01', '{}')::regress_bloom_types.visit]) AS new, bloom_set_add('s9', 'a'::regress_bloom_types.page) AS new;
BEGIN;
CREATE SCHEMA regress_bloom_moved;
ALTER TYPE regress_bloom_types.mood SET SCHEMA regress_bloom_moved;
ALTER TYPE regress_bloom_types.visit RENAME TO visits;
ALTER DOMAIN regress_bloom_types.page RENAME TO pages;
SELECT bloom_set_add('s4', 'sad'::regress_bloom_moved.mood) AS seen, bloom_set_add('s7', ARRAY[ROW('/', '2026-01-01', '{}')::regress_bloom_types.visits]) AS seen, bloom_set_add('s9', 'a'::regress_bloom_types.pages) AS seen;
-- fail: an enum's name is part of the key type
ALTER TYPE regress_bloom_moved.mood RENAME TO moods;
\set VERBOSITY terse
SELECT bloom_set_add('s4', 'sad'::regress_bloom_moved.moods);
\set VERBOSITY default
ROLLBACK;
-- they are not needed to know what the set has
DROP SCHEMA regress_bloom_types CASCADE;
SELECT set, key_type FROM bloom_sets() WHERE problem IS NULL ORDER BY substr(set::text, 2)::int;

-- What is wrong with a text is said of its table, and of no other.
CREATE TABLE text_of (i int, params text);
INSERT INTO text_of (i, params) SELECT ordinality, params FROM unnest(ARRAY[
	-- these are right
	'1 keep=0 seed=7 kept_bits=64 key_type=int8',
	'1 keep=62 seed=-9223372036854775808 kept_bits=32 key_type=enum%20"a%20b"',
	'1 keep=0 seed=0 kept_bits=64 key_type=nowhere',
	'1 keep=0 seed=0 kept_bits=64 key_type=' || repeat('x', 1024),
	'1 keep=0 seed=0 kept_bits=64 key_type=enum%20gr%c3%bcn',
	-- a format
	'', ' ', 'one', '0', '01 keep=0 seed=7 kept_bits=64 key_type=int8', '-1 keep=0', '+1 keep=0', ' 1 keep=0 seed=7 kept_bits=64 key_type=int8', '1.0 keep=0', '1keep=0',
	-- of a newer version
	'2', '2 anything', '10 keep=0 seed=7 kept_bits=64 key_type=int8', '99999999999999999999 keep=0',
	'1 method=2 keep=0 seed=7 kept_bits=64 key_type=int8', '1 keep=0 seed=7 kept_bits=64 key_type=int8 method=2', '1 keep=0 seed2=7 kept_bits=64 key_type=int8',
	-- each name, once, in its place
	'1', '1 ', '1  keep=0 seed=7 kept_bits=64 key_type=int8', '1 keep=0', '1 keep=0 seed=7', '1 keep=0 seed=7 kept_bits=64', '1 keep=0 seed=7 kept_bits=64 ', '1 0 7 64 int8',
	'1 seed=7 keep=0 kept_bits=64 key_type=int8', '1 keep=0 keep=0 seed=7 kept_bits=64 key_type=int8', '1 keep=0 seed=7 kept_bits=64 key_type=int8 key_type=int8',
	'1 KEEP=0 seed=7 kept_bits=64 key_type=int8', '1 keep =0 seed=7 kept_bits=64 key_type=int8', E'1\tkeep=0 seed=7 kept_bits=64 key_type=int8',
	'1 keep=0 seed=7 kept_bits=64 key_type=int8 ', '1 keep=0 seed=7 kept_bits=64 key_type=int8 more', E'1 keep=0 seed=7 kept_bits=64 key_type=int8\n',
	-- numbers
	'1 keep= seed=7 kept_bits=64 key_type=int8', '1 keep=x seed=7 kept_bits=64 key_type=int8', '1 keep=00 seed=7 kept_bits=64 key_type=int8', '1 keep=+62 seed=7 kept_bits=64 key_type=int8',
	'1 keep=62.0 seed=7 kept_bits=64 key_type=int8', '1 keep=1e3 seed=7 kept_bits=64 key_type=int8', '1 keep=0x40 seed=7 kept_bits=64 key_type=int8', '1 keep=0 seed=-0 kept_bits=64 key_type=int8',
	'1 keep=0 seed=- kept_bits=64 key_type=int8', '1 keep=0 seed=--7 kept_bits=64 key_type=int8', '1 keep=0 seed=07 kept_bits=64 key_type=int8',
	'1 keep=61 seed=7 kept_bits=64 key_type=int8', '1 keep=-62 seed=7 kept_bits=64 key_type=int8', '1 keep=9223372036854775807 seed=7 kept_bits=64 key_type=int8',
	'1 keep=18446744073709551678 seed=7 kept_bits=64 key_type=int8', '1 keep=0 seed=9223372036854775808 kept_bits=64 key_type=int8', '1 keep=0 seed=-9223372036854775809 kept_bits=64 key_type=int8',
	'1 keep=0 seed=7 kept_bits=31 key_type=int8', '1 keep=0 seed=7 kept_bits=65 key_type=int8', '1 keep=0 seed=7 kept_bits=4294967360 key_type=int8', '1 keep=0 seed=7 kept_bits=-64 key_type=int8',
	-- key types
	'1 keep=0 seed=7 kept_bits=64 key_type=', '1 keep=0 seed=7 kept_bits=64 key_type=%', '1 keep=0 seed=7 kept_bits=64 key_type=%2', '1 keep=0 seed=7 kept_bits=64 key_type=a%c', '1 keep=0 seed=7 kept_bits=64 key_type=a%zz',
	'1 keep=0 seed=7 kept_bits=64 key_type=a%C3%BC', '1 keep=0 seed=7 kept_bits=64 key_type=%61', '1 keep=0 seed=7 kept_bits=64 key_type=a%c3', '1 keep=0 seed=7 kept_bits=64 key_type=a%ff', '1 keep=0 seed=7 kept_bits=64 key_type=a%c0%80',
	'1 keep=0 seed=7 kept_bits=64 key_type=a%00', '1 keep=0 seed=7 kept_bits=64 key_type=a%0a', '1 keep=0 seed=7 kept_bits=64 key_type=a%7f', '1 keep=0 seed=7 kept_bits=64 key_type=a''b', '1 keep=0 seed=7 kept_bits=64 key_type=a\b',
	'1 keep=0 seed=7 kept_bits=64 key_type=enum mood', '1 keep=0 seed=7 kept_bits=64 key_type=' || repeat('x', 1025), '1 keep=0 seed=7 kept_bits=64 key_type=' || repeat('%20', 342) || '%20'
]) WITH ORDINALITY AS t (params, ordinality);
DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT * FROM text_of ORDER BY i LOOP
		EXECUTE format('CREATE TABLE %I (LIKE s1 INCLUDING ALL)', 't' || t.i);
		PERFORM give(('t' || t.i)::regclass, t.params);
	END LOOP;
END
$$;
SELECT i, CASE WHEN length(params) > 100 THEN left(params, 50) || '...' ELSE params END AS params, left(key_type, 20) AS key_type, problem
FROM bloom_sets() JOIN text_of ON set = ('t' || i)::regclass ORDER BY i;
-- those that are right are sets, and none of the others is
CREATE FUNCTION error_of(set regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM bloom_set_add_all(set, '{}'::int[]), bloom_set_info(set), bloom_set_compact(set);
	RETURN NULL;
EXCEPTION WHEN wrong_object_type THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END
$$;
SELECT count(*) AS texts, count(problem) AS problems, count(*) FILTER (WHERE error_of(set) IS DISTINCT FROM problem) AS other_errors
FROM bloom_sets() JOIN text_of ON set = ('t' || i)::regclass;
-- a long one, which its catalog compresses
SELECT give('s1', '1 keep=0 seed=7 kept_bits=64 key_type=' || repeat('(', 100000));
SELECT set, problem FROM bloom_sets() WHERE set = 's1'::regclass;

DO $$
BEGIN
	FOR i IN 1 .. 9 LOOP
		EXECUTE 'DROP TABLE s' || i;
	END LOOP;
	FOR i IN 1 .. (SELECT count(*) FROM text_of) LOOP
		EXECUTE 'DROP TABLE t' || i;
	END LOOP;
END
$$;
DROP TABLE text_of;
DROP FUNCTION params(regclass), give(regclass, text), error_of(regclass);
