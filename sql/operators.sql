--
-- Operators and functions take keys as people and drivers write them
--

CREATE TABLE filters AS
SELECT bloom_agg(n) AS names, bloom_agg(length(n)) AS lengths FROM unnest('{mary,john}'::text[]) AS n;

-- A literal without a type is text.
SELECT names @> 'mary' AS mary, 'mary' <@ names AS mary, bloom_contains(names, 'mary') AS mary, names @> 'paul' AS paul,
	   names @> NULL AS null_literal, NULL <@ names AS null_literal, lengths @> 4 AS four, 4 <@ lengths AS four, 5 <@ lengths AS five
FROM filters;
SELECT bloom_add(names, 'paul') @> 'paul' AS added, bloom_add_all(names, '{paul,ann}') @> 'ann' AS added_all,
	   bloom_missing(names, '{mary,paul}') AS missing, pg_typeof(bloom_missing(names, '{}')) AS type,
	   bloom_contains_any(names, '{mary,paul}') AS some, bloom_contains_all(names, '{mary,paul}') AS every
FROM filters;
SELECT n, bloom_seen(n) OVER w AS seen, bloom_seen('same') OVER w AS literal, bloom_seen(NULL) OVER w AS null_literal,
	   bloom_seen('same', 10, 0.01) OVER w AS with_capacity
FROM unnest('{a,b,a}'::text[]) WITH ORDINALITY AS k (n, i) WINDOW w AS (ORDER BY i);

-- So is a parameter; one with a type has it.
PREPARE untyped AS SELECT names @> $1 AS operator, $1 <@ names AS commuted, bloom_contains(names, $1) AS function FROM filters;
EXECUTE untyped('mary');
EXECUTE untyped('paul');
PREPARE untyped_keys AS SELECT bloom_contains_any(names, $1) AS some, bloom_add_all(names, $1) @> 'paul' AS added FROM filters;
EXECUTE untyped_keys('{paul,mary}');
EXECUTE untyped_keys('{}');
PREPARE typed(bigint) AS SELECT lengths @> $1 AS operator, $1 <@ lengths AS commuted, bloom_contains(lengths, $1) AS function FROM filters;
EXECUTE typed(4);
EXECUTE typed('5');
SELECT name, parameter_types FROM pg_prepared_statements WHERE name LIKE '%typed%' ORDER BY name COLLATE "C";
SET plan_cache_mode = force_generic_plan;
EXECUTE untyped('mary');
EXECUTE typed(4);
RESET plan_cache_mode;
DEALLOCATE ALL;
CREATE FUNCTION pg_temp.ask(t text, v varchar, c char(10), n name, i int, keys text[])
RETURNS TABLE (as_text boolean, as_varchar boolean, as_char boolean, as_name boolean, as_int boolean, in_array boolean) LANGUAGE plpgsql AS $$
DECLARE
	filter bloom;
BEGIN
	SELECT f.names INTO filter FROM filters AS f;
	RETURN QUERY SELECT filter @> t, v <@ filter, filter @> c, bloom_contains(filter, n), lengths @> i, bloom_contains_any(filter, keys) FROM filters;
END
$$;
SELECT * FROM pg_temp.ask('mary', 'mary', 'mary', 'mary', 4, '{mary}');

-- Every type of keys that text might swallow keeps its own.
CREATE TYPE mood AS ENUM ('mary', 'sad');
CREATE DOMAIN word AS text;
CREATE DOMAIN words AS text[];
SELECT (bloom_info(bloom_add(e, 'a'::"char"))).key_type AS "char", (bloom_info(bloom_add(e, 'sad'::mood))).key_type AS enum,
	   (bloom_info(bloom_add(e, 'a'::name))).key_type AS name, (bloom_info(bloom_add(e, 'a'::word))).key_type AS domain,
	   (bloom_info(bloom_add(e, 'a'::bytea))).key_type AS bytea, (bloom_info(bloom_add(e, 'pg_class'::regclass))).key_type AS regclass,
	   (bloom_info(bloom_add_all(e, '{a}'::words))).key_type AS domain_over_array, (bloom_info(bloom_add(e, '{a}'::words))).key_type AS array_as_key
FROM bloom_empty(10) AS e;

-- Many drivers send an array without elements as one without a type; without
-- keys in it, it fits every filter.
SELECT bloom_contains_all(lengths, '{}') AS every, bloom_contains_any(lengths, '{}') AS some,
	   bloom_contains_all(lengths, '{NULL}') AS every_null, bloom_contains_any(lengths, '{NULL,NULL}') AS some_null,
	   bloom_add_all(lengths, '{}') = lengths AS added, bloom_add_all(lengths, '{NULL}') = lengths AS added_null,
	   bloom_missing(lengths, '{}') AS missing
FROM filters;
SELECT bloom_contains_any(lengths, '{x}') FROM filters;

-- A filter is no key, neither by itself nor by its type.
SELECT names @> names FROM filters;
SELECT bloom_contains_any(names, ARRAY[names]) FROM filters;
CREATE DOMAIN kept AS bloom;
SELECT bloom_add(names, names::kept) FROM filters;

-- The server's own operators mean what they did.
SELECT ARRAY[1, 2] @> ARRAY[1] AS arrays, int4range(1, 9) @> 5 AS range, '{"a": 1}'::jsonb @> '{"a": 1}' AS jsonb, ARRAY['a'] <@ '{a,b}' AS untyped;

-- Whoever creates an operator may give it our estimators: they look for a
-- filter, and find none.
CREATE OPERATOR <~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = starts_with, RESTRICT = _bloom_sel);
CREATE OPERATOR <~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, RESTRICT = _bloom_sel);
CREATE FUNCTION nonzero(int) RETURNS boolean LANGUAGE plpgsql STRICT IMMUTABLE AS 'BEGIN RETURN $1 <> 0; END';
CREATE OPERATOR <~~ (RIGHTARG = int, FUNCTION = nonzero, RESTRICT = _bloom_sel);
CREATE OPERATOR <~~ (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_superset, RESTRICT = _bloom_sel);
CREATE TABLE words_and_numbers AS SELECT i::text AS t, i FROM generate_series(1, 1000) AS i;
ANALYZE words_and_numbers, filters;
CREATE FUNCTION pg_temp.estimate(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM words_and_numbers, filters WHERE ' || condition INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END
$$;
SELECT condition, pg_temp.estimate(condition)
FROM unnest(ARRAY['t <~~ ''a''', '''a'' <~~ t', 'i <~~ 5', '<~~ i', 'names <~~ bloom_empty(10)', 'bloom_empty(10) <~~ names']) AS condition;
-- what it is beside a column of filters, and in a filter beside a column
SELECT condition, pg_temp.estimate(condition)
FROM unnest(ARRAY['names @> ''abc''', '''abc'' <@ names', 'names @> 5', 'bloom_contains(names, ''abc'')',
				  'bloom_empty(10) @> i', 'i <@ bloom_empty(10)', 'bloom_contains(bloom_empty(10), i)', 'NULL::bloom @> i']) AS condition;

DROP TABLE filters, words_and_numbers;
DROP OPERATOR <~~ (text, text), <~~ (int, int), <~~ (bloom, bloom), <~~ (NONE, int);
DROP FUNCTION nonzero(int);
DROP TYPE mood, word, words, kept;
