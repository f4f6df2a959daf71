--
-- Types: equal keys hash alike, and unequal types do not mix
--

-- Filters in keys form: nothing is found by chance.
SELECT (f @> 5::int2) AS int2, (f @> 5::int4) AS int4, (f @> 5::int8) AS int8, f @> (-5)::int2 AS negative
FROM unnest(ARRAY[bloom_add(bloom_empty(1000), 5::int2), bloom_add(bloom_empty(1000), 5::int4),
				  bloom_add(bloom_empty(1000), 5::int8)]) AS f;
SELECT f @> (-1)::int2 AS int2, f @> (-1)::int4 AS int4, f @> (-1)::int8 AS int8, f @> 4294967295 AS unsigned
FROM bloom_add(bloom_empty(1000), -1) AS f;
-- as keys of an aggregate, its function is typed
SELECT bloom_agg(i::int2) = bloom_agg(i) AS int2, bloom_agg(i) = bloom_agg(i::int8) AS int8,
	   bloom_agg(i::int4, 100, 0.01) = bloom_add_all(bloom_empty(100), array_agg(i::int8)) AS forms
FROM generate_series(-50, 49) AS i;

SELECT f @> 1.00 AS more_digits, f @> 1::numeric AS fewer, f @> 1.01 AS other, f @> 'NaN'::numeric AS nan,
	   bloom_add(f, 'NaN'::numeric) @> 'NaN'::numeric AS nan_found, bloom_add(f, 1e30) @> 1000000000000000000000000000000.00 AS large
FROM bloom_add(bloom_empty(1000), 1.0) AS f;

SELECT f @> '-0'::float8 AS minus_zero, f @> 0::float4 AS float4, f @> 'NaN'::float8 AS nan,
	   bloom_add(f, 'NaN'::float4) @> 'NaN'::float8 AS nan_found, f @> 5e-324::float8 AS smallest,
	   bloom_add(f, 'Infinity'::float8) @> 'Infinity'::float4 AS infinity
FROM bloom_add(bloom_empty(1000), 0.0::float8) AS f;
SELECT f @> 0.5::float4 AS half, f @> 0.1::float4 AS tenth_of_other_width, bloom_add(f, 0.1::float4) @> 0.1::float4 AS tenth
FROM bloom_add_all(bloom_empty(1000), '{0.5,0.1}'::float8[]) AS f;
-- a NaN with another sign and payload, as computed
SELECT f @> 'NaN'::float8 AS nan, f @> (-'NaN'::float8) AS minus_nan,
	   f @> ('Infinity'::float8 - 'Infinity') AS computed
FROM bloom_add(bloom_empty(1000), 'Infinity'::float8 - 'Infinity') AS f;

SELECT f @> 'abc'::char(5) AS char5, f @> 'abc'::char(3) AS char3, f @> 'abc  '::char(10) AS char10,
	   f @> 'abc'::text AS text, f @> 'abc'::varchar AS varchar, f @> 'abc'::name AS name,
	   f @> 'abc  '::text AS blanks_in_text, f @> 'ABC'::text AS upper_case
FROM unnest(ARRAY[bloom_add(bloom_empty(1000), 'abc'::char(5)), bloom_add(bloom_empty(1000), 'abc'::text),
				  bloom_add(bloom_empty(1000), 'abc'::name), bloom_add(bloom_empty(1000), 'abc'::varchar(10))]) AS f;
SELECT bloom_contains(f, 'abc'::char(5)) AS function_char, bloom_contains(f, 'abc'::name) AS function_name,
	   bloom_contains(f, 'abc'::varchar) AS function_varchar, bloom_contains(f, 'abc') AS function_untyped
FROM bloom_add(bloom_empty(1000), 'abc'::char(5)) AS f;
-- the aggregate takes char(n), varchar and name as text: blanks do not count
SELECT f @> 'abc'::char(5) AS char5, f @> 'abc'::text AS text
FROM (SELECT bloom_agg('abc  '::char(5), 1000, 0.01) AS f) AS s;
-- the empty string is a key
SELECT f @> ''::text AS empty_text, f @> '   '::char(3) AS blank_char, f @> ' '::text AS blank, bloom_cardinality(f) AS keys
FROM bloom_add(bloom_empty(1000), ''::text) AS f;

SELECT f @> '\x00ff'::bytea AS same, f @> '\x00ff00'::bytea AS longer, bloom_add(f, ''::bytea) @> ''::bytea AS none
FROM bloom_add(bloom_empty(1000), '\x00ff'::bytea) AS f;

SELECT bloom_add(e, true) @> true AS found, bloom_add(e, true) @> false AS other FROM bloom_empty(1000) AS e;

SELECT f @> '2026-11-20'::date AS date, f @> '2026-11-21'::date AS other, bloom_add(f, 'infinity'::date) @> 'infinity'::date AS infinity
FROM bloom_add(bloom_empty(1000), '2026-11-20'::date) AS f;
SELECT f @> '2026-11-20 10:00+00'::timestamptz AS same, f @> '2026-11-20 12:00+02'::timestamptz AS other_zone,
	   f @> '2026-11-20 10:00:00.000001+00'::timestamptz AS other
FROM bloom_add(bloom_empty(1000), '2026-11-20 10:00+00'::timestamptz) AS f;
SELECT bloom_add(e, '10:00'::time) @> '10:00'::time AS time,
	   bloom_add(e, '10:00+00'::timetz) @> '10:00+00'::timetz AS timetz,
	   bloom_add(e, '24 hours'::interval) @> '1 day'::interval AS interval,
	   bloom_add(e, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid) @> 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid AS uuid
FROM bloom_empty(1000) AS e;

-- by the type's own hash function
SELECT bloom_add(e, '10.0.0.1'::inet) @> '10.0.0.1/32'::inet AS inet,
	   bloom_add(e, '10.0.0.0/8'::cidr) @> '10.0.0.0/8'::cidr AS cidr,
	   bloom_add(e, '10.0.0.1'::cidr) @> '10.0.0.1'::inet AS cidr_as_inet,
	   bloom_add(e, '08:00:2b:01:02:03'::macaddr) @> '08-00-2b-01-02-03'::macaddr AS macaddr,
	   bloom_add(e, '{"a": 1, "b": 2}'::jsonb) @> '{"b": 2, "a": 1.00}'::jsonb AS jsonb,
	   bloom_add(e, '[1,5)'::int4range) @> '[1,4]'::int4range AS range,
	   bloom_add(e, '{1,NULL,3}'::int[]) @> '{1,NULL,3}'::int[] AS int_array,
	   bloom_add(e, '{1,2}'::int[]) @> '{2,1}'::int[] AS other_array,
	   bloom_add(e, '{1.0,2}'::numeric[]) @> '{1.00,2.0}'::numeric[] AS numeric_array,
	   bloom_add(e, '{a,b}'::text[]) @> '{a,b}'::text[] AS text_array,
	   bloom_add(e, 5::oid) @> 5::oid AS oid, bloom_add(e, '0/5'::pg_lsn) @> '0/05'::pg_lsn AS lsn
FROM bloom_empty(1000) AS e;

-- domains are their base types
CREATE DOMAIN small AS int2 CHECK (VALUE > 0);
CREATE DOMAIN smaller AS small CHECK (VALUE < 10);
CREATE DOMAIN word AS varchar(10);
SELECT bloom_add(e, 5::smaller) @> 5::int8 AS domain, bloom_add(e, 5) @> 5::small AS as_domain,
	   (bloom_info(bloom_add(e, 5::small))).key_type, bloom_add(e, 'a'::word) @> 'a'::text AS word,
	   bloom_agg(5::smaller) = bloom_agg(5) AS aggregated, bloom_contains_all(bloom_add(e, 5), ARRAY[5::small]) AS array_of
FROM bloom_empty(1000) AS e
GROUP BY e;

-- enums by their labels, whatever their OIDs
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
SELECT f @> 'ok'::mood AS found, f @> 'sad'::mood AS other, (bloom_info(f)).key_type, f @> ('ok'::mood) AS again
FROM bloom_add(bloom_empty(1000), 'ok'::mood) AS f;
CREATE TEMPORARY TABLE of_enum AS SELECT bloom_agg(m, 1000, 0.01) AS f FROM unnest('{ok,happy}'::mood[]) AS m;
DROP TYPE mood;
CREATE TYPE mood AS ENUM ('happy', 'sad', 'ok');
SELECT f @> 'ok'::mood AS ok, f @> 'happy'::mood AS happy, f @> 'sad'::mood AS sad FROM of_enum;
ALTER TYPE mood ADD VALUE 'glad';
SELECT f @> 'glad'::mood AS glad FROM of_enum;

-- composites
CREATE TYPE pair AS (a int, b text);
SELECT f @> ROW(1, 'x')::pair AS found, f @> ROW(1, 'y')::pair AS other,
	   -- lengths count
	   f @> ROW(1, NULL)::pair AS null_field
FROM bloom_add(bloom_empty(1000), ROW(1, 'x')::pair) AS f;

-- Names that need quotes, and a name that is too long.
CREATE TYPE "Odd ""name""" AS ENUM ('a');
CREATE TYPE pg_temp.record AS ENUM ('a');
CREATE TYPE pg_temp."9th" AS ENUM ('a');
CREATE TYPE pg_temp.text AS ENUM ('a');
SELECT (bloom_info(f)).key_type
FROM (VALUES (1, bloom_add(bloom_empty(10), 'a'::"Odd ""name""")), (2, bloom_add(bloom_empty(10), 'a'::pg_temp.record)),
			 (3, bloom_add(bloom_empty(10), 'a'::pg_temp."9th")), (4, bloom_add(bloom_empty(10), 'a'::pg_temp.text))) AS v (n, f)
ORDER BY n;
DROP TYPE pg_temp.record, pg_temp.text;
SELECT format('SELECT bloom_add(bloom_empty(10), ROW(%s))', string_agg('1', ',')) AS many_columns FROM generate_series(1, 300) \gset
\set VERBOSITY terse
:many_columns;
\set VERBOSITY default
-- a column that was dropped; a key longer than the buffer that is kept
CREATE TYPE pg_temp.trio AS (a int, b text, c int);
ALTER TYPE pg_temp.trio DROP ATTRIBUTE b;
SELECT f @> ROW(1, 2) AS found, f @> ROW(2, 1) AS other, (bloom_info(f)).key_type
FROM bloom_add(bloom_empty(10), ROW(1, 2)::pg_temp.trio) AS f;
SELECT f @> ARRAY[repeat('x', 100000), 'y'] AS found, f @> ARRAY[repeat('x', 100000), 'z'] AS other
FROM bloom_add(bloom_empty(10), ARRAY[repeat('x', 100000), 'y']) AS f;

-- A key type without a hash function in one of its parts.
CREATE TYPE with_point AS (a int, p point);
\set VERBOSITY sqlstate
SELECT bloom_add(bloom_empty(1000), ROW(1, '(1,1)')::with_point);
SELECT bloom_add(bloom_empty(1000), '{"(1,1)"}'::point[]);
\set VERBOSITY default

-- The hint of a statement's error.
CREATE FUNCTION pg_temp.hint(statement text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END
$$;

-- Case-insensitive and accent-insensitive keys, where the server has ICU; they
-- do not mix with those of other collations.
SELECT count(*) > 0 AS has_icu FROM pg_collation
WHERE collname = 'und-x-icu' AND getdatabaseencoding() = 'UTF8' \gset
\if :has_icu
	CREATE COLLATION pg_temp.ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TEMPORARY TABLE words (w text COLLATE pg_temp.ignoring_case);
	CREATE DOMAIN pg_temp.any_case AS text COLLATE pg_temp.ignoring_case;
	INSERT INTO words VALUES ('Bloom'), ('FILTER'), ('key');
	-- each spelling in each type; the server's own hash of char(n) has the blanks in it
	CREATE TEMPORARY TABLE spelled (a text COLLATE pg_temp.ignoring_case, b char(5) COLLATE pg_temp.ignoring_case,
									c char(9) COLLATE pg_temp.ignoring_case, d name COLLATE pg_temp.ignoring_case);
	INSERT INTO spelled VALUES ('Key', 'KEY', 'key', 'kEy');
	SELECT bool_and(f @> a AND f @> b AND f @> c AND f @> d) AS as_any_type
	FROM spelled, unnest(ARRAY[bloom_add(bloom_empty(10), a), bloom_add(bloom_empty(10), b),
							   bloom_add(bloom_empty(10), c), bloom_add(bloom_empty(10), d)]) AS f \gset
	SELECT bool_and(f @> 'bLOOM' COLLATE pg_temp.ignoring_case) AS found,
		   bool_and(bloom_contains(f, 'filter' COLLATE pg_temp.ignoring_case)) AS by_function,
		   bool_or(f @> 'other' COLLATE pg_temp.ignoring_case) AS other,
		   min((bloom_info(f)).key_type) AS key_type
	FROM (SELECT bloom_agg(w, 1000, 0.01) AS f FROM words
		  UNION ALL
		  SELECT bloom_add_all(bloom_empty(1000), array_agg(w)) FROM words
		  UNION ALL
		  SELECT bloom_add_hashes(bloom_empty(1000), array_agg(bloom_hash(w)), 'pg_temp.any_case') FROM words) AS s \gset
	SELECT pg_temp.hint($$SELECT bloom_add(bloom_empty(10), 'x'::text) @> ('x' COLLATE pg_temp.ignoring_case)::text$$) AS scalar_hint,
		   pg_temp.hint($$SELECT bloom_add(bloom_empty(10), '{x}'::text[]) @> ARRAY['x' COLLATE pg_temp.ignoring_case]$$) AS array_hint,
		   bloom_add(bloom_empty(10), 'x'::text) @> ('x' COLLATE pg_temp.ignoring_case)::text COLLATE "default" AS as_the_hint_says \gset
\else
	-- what servers with ICU say
	\set scalar_hint 'Was the filter meant to have keys of type text collate "ignoring_case"? Then make it anew with that key_type. Otherwise, write key::text COLLATE "default".'
	\set array_hint 'Use keys of type text[], of texts with COLLATE "default".'
	\set as_the_hint_says t
	\set found t
	\set as_any_type t
	\set by_function t
	\set other f
	\set key_type 'text collate "ignoring_case"'
\endif
SELECT :'scalar_hint' AS hint UNION ALL SELECT :'array_hint';
SELECT :'as_the_hint_says' AS as_the_hint_says, :'found' AS found, :'as_any_type' AS as_any_type, :'by_function' AS by_function, :'other' AS other, :'key_type' AS key_type;

-- citext, where it is installed: a type of an equality of its own, and with an
-- implicit cast to text, to which no form gives in.  Not in a window, for a
-- constant, for a text that is cast, in a view that was printed and parsed again.
CREATE FUNCTION pg_temp.with_citext(what text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer bool;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citext') THEN
		RETURN what || ': true';
	END IF;
	EXECUTE query INTO answer;
	RETURN what || ': ' || answer;
END
$$;
SELECT count(*) > 0 AS has_citext FROM pg_available_extensions WHERE name = 'citext' \gset
\if :has_citext
	CREATE EXTENSION citext;
	CREATE TEMPORARY TABLE names AS SELECT k::citext, k::text AS t FROM unnest('{Bloom,BLOOM}'::text[]) AS k;
	CREATE TEMPORARY VIEW of_names AS SELECT bloom_agg(k) AS f, bloom_agg(k, 100, 0.01) AS g FROM names;
	SELECT pg_get_viewdef('of_names') AS definition \gset
	CREATE TEMPORARY VIEW parsed_again AS :definition
\endif
SELECT pg_temp.with_citext(what, format('SELECT bool_and(bloom_cardinality(f) = 1 AND f @> %L::citext AND NOT f @> %L::citext) FROM (%s) AS s (f)', 'bLOOM', 'other', query))
FROM (VALUES ('own', 'SELECT bloom_agg(k) FROM names'), ('rate', 'SELECT bloom_agg(k, 0.01) FROM names'),
			 ('capacity', 'SELECT bloom_agg(k, 1000, 0.01) FROM names'), ('counting', 'SELECT counting_bloom_agg(k, 1000, 0.01)::bloom FROM names'),
			 ('window', 'SELECT bloom_agg(k) OVER () FROM names'), ('window, capacity', 'SELECT bloom_agg(k, 1000, 0.01) OVER () FROM names'),
			 ('distinct', 'SELECT bloom_agg(DISTINCT k) FROM names'), ('sorted', 'SELECT bloom_agg(k ORDER BY t) FROM names'),
			 ('constant', $$SELECT bloom_agg('Bloom'::citext)$$), ('cast', 'SELECT bloom_agg(t::citext) FROM names'),
			 ('cast, window', 'SELECT bloom_agg(t::citext, 9, 0.1) OVER () FROM names'), ('view', 'SELECT f FROM of_names UNION ALL SELECT g FROM of_names'),
			 ('view, parsed again', 'SELECT f FROM parsed_again UNION ALL SELECT g FROM parsed_again'),
			 ('array', 'SELECT bloom_add_all(bloom_empty(1000), array_agg(k)) FROM names'),
			 ('beside text', 'SELECT f FROM (SELECT bloom_agg(t) OVER () AS text, bloom_agg(k) OVER () AS f FROM names) AS s')) AS v (what, query);
SELECT pg_temp.with_citext(what, query)
FROM (VALUES ('missing', $$SELECT cardinality(bloom_missing(bloom_agg(k), '{blooM,more,MORE}'::citext[])) = 2 FROM names$$),
			 ('seen', $$SELECT array_agg(seen) = '{f,t}' FROM (SELECT bloom_seen(k) OVER (ORDER BY t) AS seen FROM names) AS s$$),
			 ('as text, if asked', 'SELECT bloom_cardinality(bloom_agg(k::text)) = 2 FROM names'),
			 ('lower', 'SELECT bloom_cardinality(bloom_agg(lower(k))) = 1 FROM names'),
			 ('key type', $$SELECT (bloom_info(bloom_agg(k))).key_type = 'citext' FROM names$$)) AS v (what, query);
DROP VIEW IF EXISTS parsed_again, of_names;
DROP TABLE IF EXISTS names;
DROP FUNCTION pg_temp.with_citext(text, text);
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS citext;
RESET client_min_messages;

-- "char", which has implicit casts to more than one of the aggregates' types.
SELECT bloom_agg(c) = bloom_add_all(bloom_empty(3), ARRAY['a', 'b', 'c']::"char"[]) AS bloom_agg,
	   bloom_agg(c, 0.1) @> 'a'::"char" AND NOT bloom_agg(c, 0.1) @> 'd'::"char" AS with_fp_prob,
	   bloom_agg(c, 100, 0.01) = bloom_add_all(bloom_empty(100), ARRAY['a', 'b', 'c']::"char"[]) AS with_capacity,
	   counting_bloom_agg(c, 100, 0.01) @> 'c'::"char" AS counting,
	   (bloom_info(bloom_agg(c))).key_type
FROM unnest('{a,b,c,b}'::"char"[]) AS c;

-- A collation that cannot be determined.
\set VERBOSITY sqlstate
SELECT bloom_empty(10) @> (a.x || b.y) FROM (SELECT 'a' COLLATE "C" AS x) AS a, (SELECT 'b' COLLATE "POSIX" AS y) AS b;
\set VERBOSITY default

-- A key type that is named before the first key.
SELECT type, i.key_type, i.keys, i.representation, f::text::bloom = f AS text_form, length(f::bytea) AS bytes,
	   bloom_cardinality(f) = 0 AS empty, f | bloom_empty(10) = f AS union, f & bloom_empty(10) = bloom_empty(10) AS intersection
FROM unnest('{int,name,regclass,text[],mood,small,pair,pair[],jsonb,tsrange}'::text[]) AS type,
	 bloom_empty(10, key_type => type::regtype) AS f, bloom_info(f) AS i;
SELECT (bloom_info(bloom_empty_shaped(64, 1, key_type => 'uuid'))).key_type, bloom_empty(10, key_type => 'int') @> 5 AS five,
	   bloom_add_all(bloom_empty(10, key_type => 'numeric'), array_agg(i::int)) @> 3.0 AS numeric,
	   bloom_add(bloom_empty(10, key_type => 'pair'), (1, 'x')) @> (1, 'x') AS row,
	   (bloom_info(bloom_add_all(bloom_empty(10, key_type => 'int'), array_agg(NULL::int)))).key_type AS of_nulls,
	   (bloom_info(bloom_add(bloom_empty(10), 1) & bloom_add(bloom_empty(10), 2))).key_type AS of_intersection
FROM generate_series(1, 3) AS i;
SELECT bloom_empty(10, NULL, 0, 'int') IS NULL AS empty, bloom_empty_shaped(NULL, 3, key_type => 'int') IS NULL AS shape;
-- fail: not that type, not any type
SELECT bloom_add(bloom_empty(10, key_type => 'int'), '5');
SELECT bloom_empty(10, key_type => 'int') @> now();
SELECT bloom_empty(10, key_type => 'int') | bloom_empty(10, key_type => 'text');
SELECT bloom_empty(10, key_type => 'record');
SELECT bloom_empty(10, key_type => 'record[]');
SELECT bloom_empty(10, key_type => 'point');
SELECT bloom_empty(10, key_type => 'bloom');

DROP TYPE mood, pair, with_point;
DROP DOMAIN smaller, small, word;
