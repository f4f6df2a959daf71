--
-- Stored sets: the type of the keys, which is declared
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

--
-- A type is named as for a column
--
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE other."Mood" AS ENUM ('sad');
CREATE TYPE visit AS (page text, visitor int);
CREATE DOMAIN page AS text CHECK (length(value) < 100);
CREATE DOMAIN pages AS page[];
CREATE TABLE log (page page, visitor bigint, moods mood[]);
CREATE TEMP TABLE made AS
SELECT i, name, bloom_set_create('s' || i, name::regtype) AS set
FROM unnest(ARRAY['int', 'int8', 'pg_catalog.int2', 'INTEGER', '  bigint ', 'text', 'varchar(3)', 'character varying', 'char(5)', 'name', '"char"',
	'numeric(10, 2)', 'float', 'float4', 'double precision', 'bool', 'uuid', 'bytea', 'jsonb', 'inet', 'date', 'time', 'timestamp', 'timestamp(0) with time zone', 'interval',
	'int[]', 'text array', 'numeric[][3]', 'mood', 'other."Mood"', 'mood[]', 'visit', 'visit[]', 'page', 'pages', 'log', 'int4range', 'regclass']) WITH ORDINALITY AS n (name, i);

SELECT name, key_type FROM made, bloom_set_info(set) ORDER BY i;
DO $$
BEGIN
	FOR i IN 1 .. (SELECT count(*) FROM made) LOOP
		EXECUTE 'DROP TABLE s' || i;
	END LOOP;
END
$$;

-- fail, all of these
\set VERBOSITY sqlstate
-- a number is an OID
SELECT bloom_set_create('s', 1);
SELECT bloom_set_create('s');
\set VERBOSITY default
SELECT bloom_set_create('s', NULL);
SELECT bloom_set_create('s', '');
SELECT bloom_set_create('s', 'nowhere');
SELECT bloom_set_create('s', 'nowhere.mood');
SELECT bloom_set_create('s', '"Mood"');
-- the words of a syntax error differ between versions
\set VERBOSITY sqlstate
SELECT bloom_set_create('s', 'int; DROP TABLE log');
\set VERBOSITY default
SELECT bloom_set_create('s', 'SETOF int');
SELECT bloom_set_create('s', 'point');
SELECT bloom_set_create('s', 'point[]');
SELECT bloom_set_create('s', 'record');
SELECT bloom_set_create('s', 'record[]');
SELECT bloom_set_create('s', 'anyelement');
SELECT bloom_set_create('s', 'bloom');
SELECT bloom_set_create('s', 'trigger');
SELECT to_regclass('s') IS NULL AS none_was_made;

--
-- Another key type is an error, before anything is read
--
SELECT bloom_set_create('ids', 'bigint', seed => 1);
SELECT bloom_set_add('ids', 1) AS new, bloom_set_add('ids', 1::smallint) AS seen;
-- fail, all of these
SELECT bloom_set_add('ids', '1');
SELECT bloom_set_add_all('ids', ARRAY['1', '2']);
SELECT bloom_set_contains('ids', now());
SELECT bloom_set_contains_all('ids', ARRAY['1']);
SELECT bloom_set_contains_any('ids', ARRAY[true]);
SELECT bloom_set_missing('ids', ARRAY['00000000-0000-0000-0000-000000000000'::uuid]);
SELECT bloom_set_contains('ids', ROW(1));
SELECT bloom_set_add('ids', ARRAY[1]);
PREPARE untyped AS SELECT bloom_set_add('ids', $1);
EXECUTE untyped('1');
DEALLOCATE untyped;
-- so it is in an empty set, and after TRUNCATE and a rollback
TRUNCATE ids;
\set VERBOSITY terse
SELECT bloom_set_add('ids', 'a');
BEGIN;
SELECT bloom_set_add('ids', 2);
ROLLBACK;
SELECT bloom_set_contains('ids', 'a');
\set VERBOSITY default
-- a key that is null is of any type, so is an array that is null
SELECT bloom_set_add('ids', NULL) AS add, bloom_set_add('ids', NULL::text) AS add_text, bloom_set_add('ids', NULL::point) AS add_point,
	   bloom_set_contains('ids', NULL::text) IS NULL AS contains, bloom_set_add_all('ids', NULL::text[]) IS NULL AS add_all,
	   bloom_set_contains_all('ids', NULL::text[]) IS NULL AS contains_all, bloom_set_contains_any('ids', NULL::text[]) IS NULL AS contains_any,
	   bloom_set_missing('ids', NULL::text[]) IS NULL AS missing;
-- as in filters, an array without keys is of any type
SELECT bloom_set_add_all('ids', '{}'::text[]), bloom_set_add_all('ids', ARRAY[NULL::text]), bloom_set_missing('ids', '{}'::text[]),
	   bloom_set_contains_all('ids', '{}'::text[]), bloom_set_contains_any('ids', '{}'::text[]);
-- in a set of text, it may be the set that has the wrong type
SELECT bloom_set_create('texts', 'text', seed => 1);
SELECT bloom_set_add('texts', 'a') AS new, bloom_set_add('texts', 'a'::varchar) AS seen, bloom_set_add('texts', 'a'::page) AS seen, bloom_set_add('texts', 'a'::name) AS seen;
-- fail
SELECT bloom_set_add('texts', 1);
SELECT bloom_set_contains('texts', '00000000-0000-0000-0000-000000000000'::uuid);
SELECT bloom_set_missing('texts', ARRAY[ROW(1, 2)]);
SELECT bloom_set_add('texts', 'sad'::mood);

--
-- Numbers meet as in filters
--
SELECT bloom_set_create('numerics', 'numeric', seed => 1), bloom_set_create('floats', 'float8', seed => 1);
SELECT bloom_set_add('numerics', 2.0) AS new, bloom_set_add('numerics', 2) AS seen,
	   bloom_set_add('numerics', 3::smallint) AS new, bloom_set_add('numerics', 3.00) AS seen;
SELECT bloom_set_contains('numerics', 2::bigint) AS there, bloom_set_contains('numerics', 4) AS not_there,
	   bloom_set_add_all('numerics', ARRAY[2, 3, 4]) AS new, bloom_set_missing('numerics', ARRAY[2, 5]) AS missing;
SELECT bloom_set_add('floats', 2) AS new, bloom_set_add('floats', 2::float8) AS seen, bloom_set_add('floats', 2::float4) AS seen, bloom_set_add('floats', 2.0) AS seen,
	   bloom_set_add('floats', 0.1) AS new, bloom_set_add('floats', 0.1::float8) AS seen;
SELECT bloom_set_add_all('floats', ARRAY[1, 2, 3]) AS new, bloom_set_add_all('floats', ARRAY[3.0, 4.5]) AS new;
SELECT bloom_set_missing('floats', ARRAY[4.5, 5.5]) AS missing, bloom_set_contains('floats', 1e400) AS not_there, bloom_set_contains('floats', 3) AS there;
SELECT bloom_set_add('ids', 2) AS new;
SELECT bloom_set_contains('ids', 2.0) AS there, bloom_set_contains('ids', 2.5) AS not_there, bloom_set_contains('ids', 1e30) AS not_there_either,
	   bloom_set_missing('ids', ARRAY[2, 2.5]) AS missing;
-- fail, all of these
SELECT bloom_set_add('ids', 2.0);
SELECT bloom_set_add_all('ids', ARRAY[2.0]);
SELECT bloom_set_contains('ids', 2::float8);
SELECT bloom_set_add('ids', 2::float8);
SELECT bloom_set_add('numerics', 2::float8);
SELECT bloom_set_contains('numerics', 2::float8);
SELECT bloom_set_add('floats', 1e400);
DROP TABLE numerics, floats;

--
-- Rows, by a composite type with their columns
--
SELECT bloom_set_create('visits', 'visit', seed => 1);
SELECT bloom_set_add('visits', ROW('/', 1)::visit) AS new, bloom_set_add('visits', ROW('/'::text, 1)) AS seen, bloom_set_add('visits', ROW('/', 1::smallint)) AS seen,
	   bloom_set_add('visits', ROW('/'::varchar, 1::bigint)) AS seen, bloom_set_add('visits', ROW('/', 2)) AS new;
SELECT bloom_set_add_all('visits', ARRAY[ROW('/a', 1), ROW('/', 1), ROW('/a', NULL)]::visit[]);
SELECT bloom_set_add_all('visits', ARRAY[ROW('/a'::text, 1), ROW('/b', 1)]);
SELECT count(*) FILTER (WHERE bloom_set_contains('visits', (page, visitor))) AS there
FROM (VALUES ('/'::text, 1), ('/', 2), ('/', 3)) AS v (page, visitor);
-- fail, all of these
SELECT bloom_set_add('visits', ROW('/', '1'));
SELECT bloom_set_add('visits', ROW(1, '/'::text));
SELECT bloom_set_contains('visits', ROW('/'));
SELECT bloom_set_contains('visits', ROW('/', 1, 1));
SELECT bloom_set_contains('visits', '/');
SELECT bloom_set_add('visits', ROW('/', 1.0));
SELECT bloom_set_add_all('visits', ARRAY[ROW('/', 7), ROW('/', 1.0)]);
SELECT bloom_set_missing('visits', ARRAY[ROW('/', now())]);
-- nothing of that array was added
SELECT bloom_set_contains('visits', ROW('/', 7)) AS not_there;
-- the type is not needed any more
DROP TYPE visit CASCADE;
SELECT bloom_set_add('visits', ROW('/', 1)) AS seen, bloom_set_add('visits', ROW('/', 7)) AS new, (SELECT key_type FROM bloom_set_info('visits'));
DROP TABLE visits;

--
-- Arrays; enums, also under another name
--
SELECT bloom_set_create('arrays', 'int[]', seed => 1);
SELECT bloom_set_add('arrays', ARRAY[1, 2]) AS new, bloom_set_add('arrays', ARRAY[1, 2]::bigint[]) AS seen, bloom_set_add('arrays', '{}'::int[]) AS new,
	   bloom_set_contains('arrays', ARRAY[2, 1]) AS not_there;
-- fail
SELECT bloom_set_add('arrays', ARRAY['1']);
SELECT bloom_set_add('arrays', 1);
SELECT bloom_set_create('moods', 'mood', seed => 1);
SELECT bloom_set_add('moods', 'sad'::mood) AS new, bloom_set_add_all('moods', enum_range(NULL::mood));
-- fail: another enum
SELECT bloom_set_contains('moods', 'sad'::other."Mood");
-- fail: the name is part of the key type
ALTER TYPE mood RENAME TO humour;
SELECT bloom_set_contains('moods', 'sad'::humour);
SELECT key_type FROM bloom_set_info('moods');
ALTER TYPE humour RENAME TO mood;
SELECT bloom_set_contains('moods', 'sad'::mood) AS there;
DROP TABLE arrays, moods;

-- Strings under a nondeterministic collation, where the server has ICU: that is
-- the collation of a domain or of a column
SELECT count(*) > 0 AS has_icu FROM pg_collation
WHERE collname = 'und-x-icu' AND getdatabaseencoding() = 'UTF8' \gset
\if :has_icu
	CREATE COLLATION ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE DOMAIN any_case AS text COLLATE ignoring_case;
	CREATE TYPE hit AS (word text COLLATE ignoring_case, n int);
	CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		hint text;
	BEGIN
		EXECUTE statement;
		RETURN NULL;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		RETURN SQLSTATE || ' ' || SQLERRM || ': ' || hint;
	END
	$$;
	SELECT bloom_set_create('words', 'any_case', seed => 1), bloom_set_create('hits', 'hit', seed => 1) \gset
	SELECT concat_ws(' ', bloom_set_add('words', 'a'::any_case), bloom_set_add('words', 'A' COLLATE ignoring_case), bloom_set_add('words', 'b'::name COLLATE ignoring_case),
		bloom_set_add('words', 'B'::any_case)) AS words \gset
	SELECT concat_ws(' ', bloom_set_add('hits', ROW('a', 1)::hit), bloom_set_add('hits', ROW('A'::any_case, 1)), bloom_set_add('hits', ROW('A' COLLATE ignoring_case, 1)),
		bloom_set_add('hits', ROW('b' COLLATE ignoring_case, 1)), bloom_set_add('hits', ROW('B', 1)::hit)) AS hits \gset
	SELECT (SELECT key_type FROM bloom_set_info('words')) AS of_words, (SELECT key_type FROM bloom_set_info('hits')) AS of_hits \gset
	SELECT error_of($$SELECT bloom_set_add('words', 'a')$$) AS plain \gset
	ALTER COLLATION ignoring_case RENAME TO no_case;
	SELECT error_of($$SELECT bloom_set_add('words', 'a'::any_case)$$) AS renamed \gset
	SET client_min_messages = warning;
	DROP COLLATION no_case CASCADE;
	DROP TABLE words, hits;
	DROP TYPE hit;
	DROP FUNCTION error_of;
	RESET client_min_messages;
\else
	-- what servers with ICU say
	\set words 't f t f'
	\set hits 't f f t f'
	\set of_words 'text collate "ignoring_case"'
	\set of_hits '(text collate "ignoring_case",bigint)'
	\set plain '42804 key type text does not match the Bloom set''s key type text collate "ignoring_case": An untyped literal or parameter counts as text. Use keys of type text collate "ignoring_case".'
	\set renamed '42804 key type text collate "no_case" does not match the Bloom set''s key type text collate "ignoring_case": Use keys of type text collate "ignoring_case". If their type was altered or renamed since, make the set anew.'
\endif
SELECT :'words' AS words, :'hits' AS hits, :'of_words' AS of_words, :'of_hits' AS of_hits;
-- fail: without the collation, or if it has another name
SELECT :'plain' AS plain;
SELECT :'renamed' AS renamed;

--
-- Made twice
--
SELECT bloom_set_create('ids', 'int', if_not_exists => true);
-- fail: it has keys of another type
SELECT bloom_set_create('ids', 'text', if_not_exists => true);
SELECT bloom_set_create('ids', 'numeric', if_not_exists => true);
\set VERBOSITY sqlstate
SELECT bloom_set_create('ids', 'text', if_not_exists => true);
\set VERBOSITY terse
-- fail: it exists, whatever its type
SELECT bloom_set_create('ids', 'text');
-- fail: another person's
CREATE ROLE regress_bloom_reader;
GRANT CREATE ON SCHEMA public TO regress_bloom_reader;
SET ROLE regress_bloom_reader;
SELECT bloom_set_create('ids', 'text', if_not_exists => true);
RESET ROLE;
DROP OWNED BY regress_bloom_reader;
DROP ROLE regress_bloom_reader;
\set VERBOSITY default

--
-- The trigger checks its column when it is called for the first time
--
CREATE TABLE event (id int, name text, value numeric, measure float8);
CREATE FUNCTION try(arguments text, rows text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE format('CREATE TRIGGER dedup BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup(%s)', arguments);
	EXECUTE format('INSERT INTO event VALUES %s', rows);
	DROP TRIGGER dedup ON event;
	RETURN (SELECT count(*) FROM event);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ' ' || SQLERRM || ': ' || hint;
END
$$;
SELECT try('ids, name', $$(1, 'a', NULL, NULL)$$);
SELECT try('ids, name', $$(1, NULL, NULL, NULL)$$) AS null_first;
SELECT try('ids, value', $$(1, NULL, 1.0, NULL)$$);
SELECT try('ids, measure', $$(1, NULL, NULL, NULL)$$) AS null_first;
SELECT try('texts, id', $$(1, 'a', NULL, NULL)$$);
SELECT try('texts, id', $$(NULL, 'a', NULL, NULL)$$) AS null_first;
SELECT try('texts, name', $$(1, 'b', NULL, NULL), (1, 'b', NULL, NULL), (1, NULL, NULL, NULL)$$) AS total;
-- integers and decimals go to a set of floats
SELECT bloom_set_create('floats', 'float8', seed => 1);
SELECT try('floats, id', $$(1, 'c', NULL, NULL), (1, 'd', NULL, NULL)$$) AS total, try('floats, value', $$(1, 'e', 1.0, NULL), (1, 'f', 2.5, NULL)$$) AS total,
	   try('floats, measure', $$(1, 'g', 1.0, 2.5)$$) AS total;
DROP TABLE event, floats;
DROP FUNCTION try;

--
-- Where the type is kept: the default of a column, which only its owner changes
--
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'ids'::regclass;
-- a table with the same definition is a set, be it made by hand
CREATE TABLE again (LIKE ids INCLUDING ALL);
SELECT bloom_set_add('again', 1) AS new, bloom_set_add('ids', 1) AS new, bloom_set_add('again', 1) AS seen;
-- fail
\set VERBOSITY terse
SELECT bloom_set_add('again', 'a');
\set VERBOSITY default
-- a type with a long name, which is in the definition of the set alone
DO $$
DECLARE
	nulls text := (SELECT string_agg('NULL::timestamptz', ', ') FROM generate_series(1, 84));
	new boolean;
BEGIN
	EXECUTE 'CREATE TYPE wide AS (' || (SELECT string_agg(format('c%s timestamptz', i), ', ') FROM generate_series(1, 84) AS i) || ')';
	PERFORM bloom_set_create('long', 'wide', seed => 1);
	EXECUTE format('SELECT bloom_set_add(''long'', ROW(%s))', nulls) INTO new;
	ASSERT new;
	FOR i IN 1 .. 500 LOOP
		EXECUTE format('SELECT bloom_set_add(''long'', ROW(%s, to_timestamp($1)))', substr(nulls, 20)) USING i INTO new;
		ASSERT new;
	END LOOP;
	EXECUTE format('SELECT bloom_set_contains(''long'', ROW(%s)::wide)', nulls) INTO new;
	ASSERT new;
END
$$;
SELECT bloom_set_compact('long') AS moved;
SELECT length(key_type), keys FROM bloom_set_info('long');
SELECT bloom_set_contains('long', NULL::wide) IS NULL AS null_key;
DROP TABLE long;
-- fail: longer than any filter may have
DROP TYPE wide;
SELECT 'CREATE TYPE wide AS (' || string_agg(format('c%s timestamptz', i), ', ') || ')' AS create_wide FROM generate_series(1, 86) AS i \gset
:create_wide;
SELECT bloom_set_create('long', 'wide');
DROP TYPE wide;

DROP TABLE ids, again, texts, log;
SET client_min_messages = warning;
DROP SCHEMA other CASCADE;
DROP DOMAIN pages, page;
DROP TYPE mood;
