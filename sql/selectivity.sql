--
-- Selectivity: how many rows the planner expects to pass a filter
--
-- Tables of at most 30,000 rows are analysed as a whole, so that nothing here
-- depends on a sample.
--

-- the rows that the planner expects of a query, and those that there are
CREATE FUNCTION pg_temp.estimate(query text, OUT estimated float8, OUT actual float8) LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	estimated := plan -> 0 -> 'Plan' ->> 'Plan Rows';
	EXECUTE 'SELECT count(*) FROM (' || query || ') AS s' INTO actual;
END
$$;

CREATE FUNCTION pg_temp.plan_rows(query text) RETURNS float8 LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;

CREATE TABLE numbers AS
SELECT i % 10000 AS uniform,
	   -- half of the rows are one of ten, the others of 5,000
	   CASE WHEN i % 2 = 0 THEN i / 2 % 10 ELSE 1000 + i / 2 % 5000 END AS skewed,
	   CASE WHEN i % 3 = 0 THEN i % 3000 END AS with_nulls,
	   i AS distinct_key, md5((i % 1000)::text) AS t, i % 7 AS few
FROM generate_series(1, 30000) AS i;
ANALYZE numbers;

SELECT what, predicate, abs(estimated - actual) <= greatest(0.1 * actual, 1) AS within_10_percent
FROM (VALUES
	('a tenth of the keys', '%L::bloom @> uniform', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(0, 999) AS i)),
	('a tenth, from the left', 'uniform <@ %L::bloom', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(0, 999) AS i)),
	('a tenth, by the function', 'bloom_contains(%L::bloom, uniform)', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(0, 999) AS i)),
	('a tenth, in keys form', '%L::bloom @> uniform', (SELECT bloom_agg(i, 100000, 0.01) FROM generate_series(0, 999) AS i)),
	('all', '%L::bloom @> uniform', (SELECT bloom_agg(i, 10000, 0.01) FROM generate_series(0, 9999) AS i)),
	('common values', '%L::bloom @> skewed', (SELECT bloom_agg(i, 100, 0.0001) FROM generate_series(0, 4) AS i)),
	('rare values', '%L::bloom @> skewed', (SELECT bloom_agg(i, 1000, 0.0001) FROM generate_series(1000, 1999) AS i)),
	('common and rare', '%L::bloom @> skewed', (SELECT bloom_agg(i, 2000, 0.0001) FROM generate_series(3, 2500) AS i)),
	('nulls', '%L::bloom @> with_nulls', (SELECT bloom_agg(i, 3000, 0.01) FROM generate_series(0, 1499) AS i)),
	('distinct keys', '%L::bloom @> distinct_key', (SELECT bloom_agg(i, 10000, 0.01) FROM generate_series(1, 3000) AS i)),
	('a high rate', '%L::bloom @> distinct_key', (SELECT bloom_agg(i, 3000, 0.2) FROM generate_series(1, 3000) AS i)),
	('few values', '%L::bloom @> few', (SELECT bloom_agg(i, 100, 0.0001) FROM generate_series(0, 1) AS i)),
	('text', '%L::bloom @> t', (SELECT bloom_agg(md5(i::text), 1000, 0.01) FROM generate_series(0, 99) AS i)),
	('negated', 'NOT %L::bloom @> uniform', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(0, 999) AS i)),
	('empty', '%L::bloom @> uniform', bloom_empty(10)),
	('shapeless', 'NOT %L::bloom @> uniform', (SELECT bloom_agg(i) FROM generate_series(1, 0) AS i))) AS v (what, predicate, filter),
	pg_temp.estimate('SELECT FROM numbers WHERE ' || format(predicate, filter)) AS e;

-- The keys of a filter are taken to be of the column: five are expected to be
-- five of 10,000 values, 15 rows, though here they are none.
SELECT estimated <= 15 AS few_expected, actual
FROM pg_temp.estimate(format('SELECT FROM numbers WHERE %L::bloom @> uniform',
							 (SELECT bloom_agg(-i, 100000, 0.01) FROM generate_series(1, 5) AS i)));

-- A filter that is not known: a tenth; the planner is not disturbed by what
-- would be an error.
SELECT what, CASE WHEN estimated <= 1 THEN 'none' ELSE estimated::text END AS estimated
FROM (VALUES
	('of a subquery', 'SELECT FROM numbers WHERE (SELECT bloom_empty(i) FROM generate_series(1, 1) AS i) @> uniform'),
	('null', 'SELECT FROM numbers WHERE NULL::bloom @> uniform'),
	('a null key', 'SELECT FROM numbers WHERE bloom_empty(1) @> NULL::int')) AS v (what, query),
	pg_temp.estimate(query);
SELECT count(*) FROM numbers, (SELECT bloom_add(bloom_empty(few + 1), few) AS f FROM numbers ORDER BY distinct_key LIMIT 2) AS s WHERE f @> few AND uniform < 10;
-- known as a whole: not tested at all
EXPLAIN (COSTS OFF) SELECT * FROM numbers WHERE bloom_add(bloom_empty(1), 5) @> 5;

-- The filter of a sub-select: as many of the column's values as its keys are
-- expected to be, and no less than a tenth.
CREATE TABLE dimension AS SELECT i AS id, i::text AS t, i % 10 AS tenth FROM generate_series(0, 9999) AS i;
ANALYZE dimension;
CREATE TABLE not_analyzed AS SELECT i % 10000 AS k FROM generate_series(1, 30000) AS i;
SELECT what, abs(estimated - actual) <= 0.15 * actual AS within_15_percent
FROM (VALUES
	('all keys', '(SELECT bloom_agg(uniform) FROM numbers) @> uniform'),
	('most keys', '(SELECT bloom_agg(id) FROM dimension WHERE id < 9000) @> uniform'),
	('half of them', '(SELECT bloom_agg(id) FROM dimension WHERE id < 5000) @> uniform'),
	('from the left', 'uniform <@ (SELECT bloom_agg(id) FROM dimension WHERE id < 5000)'),
	('by the function', 'bloom_contains((SELECT bloom_agg(id) FROM dimension WHERE id < 5000), uniform)'),
	('a shape', '(SELECT bloom_agg(id, 10000, 0.001) FROM dimension WHERE id < 5000) @> uniform'),
	('counting', '(SELECT counting_bloom_agg(id, 10000, 0.01) FROM dimension WHERE id < 5000) @> uniform'),
	('negated', 'NOT (SELECT bloom_agg(id) FROM dimension WHERE id < 5000) @> uniform'),
	('repeated keys', '(SELECT bloom_agg(uniform) FROM numbers WHERE few < 6) @> uniform'),
	('text', '(SELECT bloom_agg(md5(id::text)) FROM dimension WHERE id < 100) @> t'),
	('a join', '(SELECT bloom_agg(id) FROM dimension JOIN numbers ON id = distinct_key AND few < 5) @> uniform'),
	('an outer join', '(SELECT bloom_agg(d.id) FROM dimension AS d LEFT JOIN dimension AS e ON e.id = d.id + 5000 WHERE d.id < 5000) @> uniform'),
	('a subquery', '(SELECT bloom_agg(u) FROM (SELECT id AS u FROM dimension WHERE id < 5000 OFFSET 0) AS s) @> uniform'),
	('nulls', '(SELECT bloom_agg(with_nulls) FROM numbers) @> with_nulls'),
	('more keys than values', '(SELECT bloom_agg(distinct_key) FROM numbers) @> uniform')) AS v (what, predicate),
	pg_temp.estimate('SELECT FROM numbers WHERE ' || predicate) AS e;
-- a query around that of the test has the sub-select
SELECT abs(estimated - actual) <= 0.15 * actual AS within_15_percent
FROM pg_temp.estimate('SELECT FROM (SELECT uniform FROM numbers OFFSET 0) AS s
					   WHERE (SELECT bloom_agg(id) FROM dimension WHERE id < 5000) @> uniform');
-- a tenth, where the keys are few, others than they seem, or not known
SELECT what, estimated
FROM (VALUES
	('few keys', 'SELECT FROM numbers WHERE (SELECT bloom_agg(id) FROM dimension WHERE id < 10) @> uniform'),
	('no row', 'SELECT FROM numbers WHERE (SELECT bloom_agg(5)) @> uniform'),
	('rows that are not known', 'SELECT FROM numbers WHERE (SELECT bloom_agg(k) FROM not_analyzed) @> uniform'),
	('function', 'SELECT FROM numbers WHERE (SELECT bloom_agg(i) FROM generate_series(1, 10000) AS i) @> uniform'),
	('filtered', 'SELECT FROM numbers WHERE (SELECT bloom_agg(uniform) FILTER (WHERE few = 9) FROM numbers) @> uniform'),
	('having', 'SELECT FROM numbers WHERE (SELECT bloom_agg(uniform) FROM numbers HAVING count(*) > 0) @> uniform'),
	('groups', 'SELECT FROM numbers WHERE (SELECT bloom_agg(uniform) FROM numbers GROUP BY few ORDER BY few LIMIT 1) @> uniform'),
	('grouping sets', 'SELECT FROM numbers WHERE (SELECT bloom_agg(uniform) FROM numbers GROUP BY GROUPING SETS (())) @> uniform'),
	('filters', 'SELECT FROM numbers WHERE (SELECT bloom_union_agg(f) FROM (SELECT bloom_agg(uniform, 10000, 0.01) AS f FROM numbers GROUP BY few) AS s) @> uniform'),
	('an expression', 'SELECT FROM numbers WHERE (SELECT coalesce(bloom_agg(uniform), bloom_empty(10)) FROM numbers) @> uniform'),
	('a filter of a subquery', 'SELECT FROM numbers WHERE (SELECT f FROM (SELECT bloom_agg(uniform) AS f FROM numbers) AS s) @> uniform'),
	('a filter of a WITH', 'WITH w AS MATERIALIZED (SELECT bloom_agg(uniform) AS f FROM numbers) SELECT FROM numbers WHERE (SELECT f FROM w) @> uniform'),
	('a key of an expression', 'SELECT FROM numbers WHERE (SELECT bloom_agg(uniform) FROM numbers) @> (uniform + 1)')) AS v (what, query),
	pg_temp.estimate(query);
-- also in a generic plan, where a parameter is no sub-select
SET plan_cache_mode = force_generic_plan;
PREPARE of_parameter (bloom) AS SELECT FROM numbers WHERE $1 @> uniform AND (SELECT bloom_agg(few) FROM numbers) @> few;
SELECT estimated FROM pg_temp.plan_rows('EXECUTE of_parameter (bloom_empty(10))') AS estimated;
DEALLOCATE of_parameter;
RESET plan_cache_mode;
DROP TABLE dimension, not_analyzed;

-- A filter of another key type is an error when it is used, not before.
CREATE TEMPORARY TABLE wrong AS SELECT bloom_agg('a'::text) AS f;
SELECT f::text AS text_filter FROM wrong \gset
EXPLAIN (COSTS OFF) SELECT * FROM numbers WHERE uniform < 0 AND :'text_filter'::bloom @> uniform;
SELECT count(*) FROM numbers WHERE uniform < 0 AND :'text_filter'::bloom @> uniform;
SELECT count(*) FROM numbers WHERE :'text_filter'::bloom @> uniform;

-- What a test costs, in simple operators, by where the filter is: a constant, of
-- several sizes; the same for many rows; each row its own, inline or in TOAST.
CREATE FUNCTION pg_temp.cost(tables text, test text) RETURNS int LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
	base json;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s', tables) INTO base;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s WHERE %s', tables, test) INTO plan;
	RETURN round(((plan -> 0 -> 'Plan' ->> 'Total Cost')::float8 - (base -> 0 -> 'Plan' ->> 'Total Cost')::float8) /
				 ((base -> 0 -> 'Plan' ->> 'Plan Rows')::float8 * current_setting('cpu_operator_cost')::float8));
END
$$;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE own_filters AS
SELECT id, bloom_add(bloom_empty(100), id) AS small, bloom_add_all(bloom_empty_shaped(80000, 1), array_agg(i)) AS large
FROM generate_series(1, 100) AS id, generate_series(1, 2000) AS i GROUP BY id;
ANALYZE own_filters;
CREATE FUNCTION pg_temp.filter_of(bits bigint) RETURNS bloom LANGUAGE sql IMMUTABLE AS
$$ SELECT bloom_add_all(bloom_empty_shaped(bits, 1), array_agg(i)) FROM generate_series(1, bits / 64 + 1) AS i $$;
SELECT tables, test, pg_temp.cost(tables, test)
FROM (VALUES
	('numbers', 'distinct_key = 5'),
	('numbers', 'pg_temp.filter_of(64) @> distinct_key'),
	('numbers', 'distinct_key <@ pg_temp.filter_of(64)'),
	('numbers', 'bloom_contains(pg_temp.filter_of(64), distinct_key)'),
	('numbers', 'counting_bloom_add(counting_bloom_empty(10), 1) @> distinct_key'),
	('numbers', 'pg_temp.filter_of(80 * 1024 * 1024) @> distinct_key'),
	('own_filters', 'small @> 5'),
	('own_filters', 'small @> id'),
	('own_filters', 'bloom_add(small, 5) @> id'),
	('own_filters', 'large @> 5'),
	('own_filters', 'id <@ large'),
	('numbers, own_filters', 'large @> distinct_key')) AS v (tables, test);
-- cheap conditions come first, dear ones last
CREATE FUNCTION pg_temp.dear(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
CREATE FUNCTION pg_temp.order_of(query text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN regexp_replace(regexp_replace(plan -> 0 -> 'Plan' ->> 'Filter', '''[^'']*''', '...', 'g'), 'pg_temp[_0-9]*\.', '');
END
$$;
SELECT pg_temp.order_of('SELECT FROM numbers WHERE pg_temp.dear(few) AND pg_temp.filter_of(64) @> few AND few > 5') AS filter;
RESET max_parallel_workers_per_gather;
-- also when a function is inlined, where there are still variables of outer queries
CREATE FUNCTION pg_temp.twice(boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OR $1';
SELECT id, (SELECT count(*) FILTER (WHERE pg_temp.twice(o.small @> n.few)) FROM numbers AS n) = 0 AS of_variable
FROM own_filters AS o WHERE id = 99;
SELECT (SELECT bool_or(pg_temp.twice(bloom_agg(o.id) @> n.few)) FROM numbers AS n WHERE few > 0) AS of_aggregate
FROM own_filters AS o;
DROP TABLE own_filters;

--
-- A column of filters: what ANALYZE keeps of it, and how many rows are expected
-- to have a key
--

-- what ANALYZE has kept of a column; the kind is our own
CREATE FUNCTION pg_temp.kept(rel regclass) RETURNS TABLE (column_name name, inherited boolean, rate float4, is_one_number boolean) LANGUAGE sql AS
$$
SELECT attname, stainherit, numbers[1], cardinality(numbers) = 1 AND no_values
FROM pg_statistic JOIN pg_attribute ON attrelid = starelid AND attnum = staattnum,
	 LATERAL (VALUES (stakind1, stanumbers1, stavalues1 IS NULL), (stakind2, stanumbers2, stavalues2 IS NULL), (stakind3, stanumbers3, stavalues3 IS NULL),
					 (stakind4, stanumbers4, stavalues4 IS NULL), (stakind5, stanumbers5, stavalues5 IS NULL)) AS slot (kind, numbers, no_values)
WHERE starelid = rel AND kind = 22801 ORDER BY attnum, stainherit
$$;
-- the rows with a key, on average over fifty keys that were never added
CREATE FUNCTION pg_temp.found(rel regclass) RETURNS float8 LANGUAGE plpgsql AS
$$
DECLARE
	total float8;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s, generate_series(-50, -1) AS key WHERE f @> key', rel) INTO total;
	RETURN total / 50;
END
$$;
CREATE FUNCTION pg_temp.expected(rel regclass, test text DEFAULT 'f @> -1') RETURNS float8 LANGUAGE sql AS
$$ SELECT pg_temp.plan_rows(format('SELECT FROM %s WHERE %s', rel, test)) $$;

-- Temporary tables, which autovacuum does not analyse.
CREATE TEMPORARY TABLE one_shape AS
SELECT file, bloom_agg(file * 20 + i, 25, 0.001) AS f FROM generate_series(1, 20000) AS file, generate_series(1, 20) AS i GROUP BY file ORDER BY file;
CREATE TEMPORARY TABLE many_sizes AS
SELECT file, bloom_agg(file * 200 + i, 1 + file % 157, 0.02 / (1 + file % 5)) AS f
FROM generate_series(1, 5000) AS file, generate_series(1, 157) AS i WHERE i <= 1 + file % 157 GROUP BY file ORDER BY file;
CREATE TEMPORARY TABLE coarse AS
SELECT file / 100 AS id, bloom_agg(file * 20 + i, 2000, 0.0001) AS f FROM generate_series(1, 20000) AS file, generate_series(1, 20) AS i GROUP BY 1 ORDER BY 1;
CREATE TEMPORARY TABLE overfull AS
SELECT file, f FROM (SELECT file, bloom_agg(file * 20 + i, 40, 0.01) FROM generate_series(1, 2000) AS file, generate_series(1, 60) AS i GROUP BY file ORDER BY file) AS s (file, f);
CREATE TEMPORARY TABLE half_null AS SELECT file, CASE WHEN file % 2 = 0 THEN f END AS f FROM one_shape;
CREATE TEMPORARY TABLE few_not_null AS SELECT file, CASE WHEN file % 1000 = 7 THEN f END AS f FROM one_shape;
CREATE TEMPORARY TABLE counting AS
SELECT file, counting_bloom_agg(file * 20 + i, 20, 0.01) AS f FROM generate_series(1, 5000) AS file, generate_series(1, 20) AS i GROUP BY file ORDER BY file;
CREATE TEMPORARY TABLE in_keys_form AS
SELECT file, bloom_agg(file * 20 + i, 10000, 0.01) AS f FROM generate_series(1, 2000) AS file, generate_series(1, 20) AS i GROUP BY file ORDER BY file;
CREATE TEMPORARY TABLE in_toast AS
SELECT file, bloom_agg(file * 3000 + i, 3000, 0.05) AS f FROM generate_series(1, 200) AS file, generate_series(1, 3000) AS i GROUP BY file ORDER BY file;
CREATE TEMPORARY TABLE only_empty AS SELECT file, bloom_empty(10) AS f FROM generate_series(1, 2000) AS file;
CREATE TEMPORARY TABLE only_null (file int, f bloom);
INSERT INTO only_null SELECT i FROM generate_series(1, 2000) AS i;
CREATE TEMPORARY TABLE no_row (file int, f bloom);
CREATE DOMAIN known_filter AS bloom CHECK (VALUE IS NOT NULL);
CREATE TEMPORARY TABLE of_domain (file int, f known_filter);
INSERT INTO of_domain SELECT * FROM one_shape;
CREATE TEMPORARY TABLE parts (file int, f bloom) PARTITION BY RANGE (file);
CREATE TEMPORARY TABLE part_1 PARTITION OF parts FOR VALUES FROM (1) TO (10000);
CREATE TEMPORARY TABLE part_2 PARTITION OF parts FOR VALUES FROM (10000) TO (30000);
INSERT INTO parts SELECT * FROM one_shape;
CREATE TEMPORARY TABLE parent (file int, f bloom);
CREATE TEMPORARY TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM overfull;
INSERT INTO child SELECT * FROM one_shape;
CREATE TEMPORARY TABLE compressed (file int, f bloom);
ALTER TABLE compressed ALTER f SET STORAGE extended;
INSERT INTO compressed SELECT file, bloom_agg(i, 100000, 0.01) FROM generate_series(1, 20) AS file, generate_series(1, 17000) AS i GROUP BY file ORDER BY file;

-- An estimate is the mean of the rates, or 0.01 before ANALYZE, and one row.
VACUUM (DISABLE_PAGE_SKIPPING) one_shape, many_sizes, coarse, overfull, half_null, few_not_null, counting, in_keys_form, in_toast, only_empty, only_null, no_row, of_domain, part_1, part_2, parent, child, compressed;
CREATE TEMPORARY TABLE filters AS
SELECT ordinality AS n, name::regclass, pg_temp.expected(name::regclass) AS before
FROM unnest('{one_shape, many_sizes, coarse, overfull, half_null, few_not_null, counting, in_keys_form, in_toast, only_empty, only_null, of_domain, parts, part_1, parent, compressed}'::text[]) WITH ORDINALITY AS name (name);
ANALYZE one_shape, many_sizes, coarse, overfull, half_null, few_not_null, counting, in_keys_form, in_toast, only_empty, only_null, no_row, of_domain, parts, parent, child, compressed;
SELECT name, before, after, found, after - 1 BETWEEN found / 2 - 1 AND found * 2 + 1 AS is_right
FROM filters, pg_temp.expected(name) AS after, pg_temp.found(name) AS found ORDER BY n;
-- it is kept as one number, beside what the server keeps
SELECT name, column_name, inherited, rate::numeric(8, 6), is_one_number FROM filters, pg_temp.kept(name) ORDER BY n, inherited;
SELECT count(*) AS without_rows FROM pg_temp.kept('no_row');
SELECT tablename, null_frac, n_distinct, avg_width FROM pg_stats
WHERE attname = 'f' AND tablename IN ('one_shape', 'half_null', 'in_toast', 'only_empty', 'only_null') AND schemaname LIKE 'pg_temp%' ORDER BY 1;

-- Few filters in a table that nobody has analysed, as autovacuum never does below
-- 50 rows: few are expected to have a key, so that these lead to their rows.
CREATE TEMPORARY TABLE days AS SELECT day, bloom_agg(day * 1000 + i, 20000, 0.01) AS f FROM generate_series(1, 30) AS day, generate_series(1, 1000) AS i GROUP BY day;
CREATE TEMPORARY TABLE day_rows AS SELECT day, day * 1000 + i AS key FROM generate_series(1, 30) AS day, generate_series(1, 1000) AS i;
CREATE INDEX ON day_rows (day);
ANALYZE day_rows;
CREATE TEMPORARY TABLE days_inline AS SELECT i, bloom_add(bloom_empty(100), i) AS f FROM generate_series(1, 300) AS i;
SELECT name, (SELECT relpages FROM pg_class WHERE oid = name) AS relpages, pg_relation_size(name) / 8192 AS pages,
	   pg_temp.expected(name) AS expected, pg_temp.expected(name, 'f @> 30000') AS of_any_key, pg_temp.plan_rows(format('SELECT FROM %s', name)) > 500 AS supposes_too_many
FROM unnest('{days, days_inline}'::regclass[]) AS name;
EXPLAIN (COSTS OFF) SELECT key FROM days JOIN day_rows USING (day) WHERE f @> 5005 AND key = 5005;
-- as a filter beside the keys of another table
SELECT pg_temp.plan_rows('SELECT FROM days, (SELECT key FROM day_rows WHERE day = 1) AS k WHERE f @> key');
-- where the table has more pages than that, all of them count; where it was
-- analysed, what was found; an empty one has a row that it may have
INSERT INTO days_inline SELECT i, bloom_add(bloom_empty(100), i) FROM generate_series(301, 3000) AS i;
CREATE TEMPORARY TABLE no_days (day int, f bloom);
SELECT pg_temp.expected('days_inline') AS many, pg_temp.expected('no_days') AS none;
ANALYZE days, days_inline;
SELECT pg_temp.expected('days') AS days, pg_temp.expected('days_inline') AS many;
-- a partitioned table, a parent, a view, and a function have no pages of their own
CREATE TEMPORARY TABLE day_parts (day int, f bloom) PARTITION BY RANGE (day);
CREATE TEMPORARY TABLE day_part PARTITION OF day_parts DEFAULT;
INSERT INTO day_parts SELECT * FROM days;
CREATE TEMPORARY VIEW day_view AS SELECT * FROM day_part;
CREATE FUNCTION pg_temp.day_function() RETURNS SETOF days LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT * FROM days; END $$;
SELECT pg_temp.plan_rows('SELECT FROM day_parts WHERE f @> -1') AS parts, pg_temp.plan_rows('SELECT FROM day_view WHERE f @> -1') AS view,
	   pg_temp.plan_rows('SELECT FROM pg_temp.day_function() WHERE f @> -1') AS function,
	   pg_temp.plan_rows('SELECT FROM (SELECT f FROM day_part UNION ALL SELECT f FROM days) AS u WHERE f @> -1') AS appended;
DROP VIEW day_view;
DROP TABLE days_inline, no_days, day_rows, day_parts;

-- All spellings of a test of one key are estimated alike.
SELECT test, pg_temp.expected('one_shape', test)
FROM unnest('{f @> -1, -1 <@ f, "bloom_contains(f, -1)", "f @> (SELECT -1)", "f @> (random() * 0)::int", "NOT f @> -1"}'::text[]) AS test;
SELECT test, pg_temp.expected('counting', test)
FROM unnest('{f @> -1, -1 <@ f, "counting_bloom_contains(f, -1)"}'::text[]) AS test;
SET plan_cache_mode = force_generic_plan;
PREPARE of_key (int) AS SELECT FROM one_shape WHERE f @> $1;
SELECT pg_temp.plan_rows('EXECUTE of_key (-1)') AS of_parameter;
DEALLOCATE of_key;
RESET plan_cache_mode;
-- other tests are not: a key of the same row, several keys
SELECT test, pg_temp.expected('one_shape', test)
FROM unnest('{f @> file, file <@ f, "bloom_contains_all(f, ''{-1, -2}''::int[])", "bloom_contains_any(f, ''{-1, -2}''::int[])"}'::text[]) AS test;
-- the statistics of an index's expression; the filter of another expression is
-- not known
CREATE INDEX ON overfull USING hash ((coalesce(f, bloom_empty(1))));
ANALYZE overfull;
SELECT test, pg_temp.expected('overfull', test) FROM unnest('{"coalesce(f, bloom_empty(1)) @> -1", "coalesce(f, bloom_empty(2)) @> -1"}'::text[]) AS test;
-- where only some rows may be seen, a number is no secret
CREATE ROLE regress_bloom_reader;
CREATE TABLE not_for_all AS SELECT * FROM overfull;
ANALYZE not_for_all;
ALTER TABLE not_for_all ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON not_for_all USING (file >= 0);
GRANT SELECT ON not_for_all TO regress_bloom_reader;
SET ROLE regress_bloom_reader;
SELECT pg_temp.expected('not_for_all');
RESET ROLE;
DROP TABLE not_for_all;
DROP ROLE regress_bloom_reader;

-- Joins: the same rate for each pair, and no more than a tenth of them beside it,
-- where there are few filters.  A semi-join keeps a tenth.
SELECT what, pg_temp.plan_rows(query)
FROM (VALUES
	('a join', 'SELECT FROM one_shape, numbers WHERE f @> distinct_key'),
	('from the left', 'SELECT FROM one_shape, numbers WHERE distinct_key <@ f'),
	('by the function', 'SELECT FROM one_shape, numbers WHERE bloom_contains(f, distinct_key)'),
	('an outer join', 'SELECT FROM numbers LEFT JOIN one_shape ON f @> distinct_key'),
	('an outer join, the filters kept', 'SELECT FROM one_shape LEFT JOIN numbers ON f @> distinct_key'),
	('an outer join, tested above', 'SELECT FROM one_shape LEFT JOIN numbers ON file = distinct_key WHERE f @> -1'),
	('a semi-join', 'SELECT FROM numbers WHERE EXISTS (SELECT FROM one_shape WHERE f @> distinct_key)'),
	('an anti-join', 'SELECT FROM numbers WHERE NOT EXISTS (SELECT FROM one_shape WHERE f @> distinct_key)'),
	('one filter', 'SELECT FROM numbers, (SELECT f FROM one_shape LIMIT 1) AS s WHERE f @> distinct_key'),
	('a filter of a group', 'SELECT FROM numbers AS n, (SELECT few, bloom_agg(distinct_key) AS f FROM numbers GROUP BY few) AS s WHERE f @> distinct_key'),
	('by file', 'SELECT FROM one_shape JOIN numbers ON file = distinct_key WHERE f @> few')) AS v (what, query);
-- levels: the coarse filters first, then the fine ones below those that pass
ALTER TABLE one_shape ADD PRIMARY KEY (file);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT s.file FROM coarse AS c JOIN one_shape AS s ON s.file BETWEEN 100 * c.id AND 100 * c.id + 99 WHERE c.f @> 4711 AND s.f @> 4711;
SELECT s.file FROM coarse AS c JOIN one_shape AS s ON s.file BETWEEN 100 * c.id AND 100 * c.id + 99 WHERE c.f @> 4711 AND s.f @> 4711;
RESET enable_bitmapscan;

-- What is no filter is left out of the mean: the state of an aggregate, and what
-- only a superuser can put there.  It stops neither ANALYZE nor the planner.
CREATE AGGREGATE pg_temp.state_of(bloom) (SFUNC = _bloom_union_agg_trans, STYPE = bloom);
CREATE FUNCTION pg_temp.made_up(cstring) RETURNS bloom LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION pg_temp.made_up(bytes bytea) RETURNS bloom LANGUAGE sql AS $$ SELECT pg_temp.made_up(bytes::text::cstring) $$;
CREATE TEMPORARY TABLE hostile AS
SELECT 'a state' AS what, pg_temp.state_of(f) AS f FROM overfull WHERE file <= 2
UNION ALL SELECT 'a large state', pg_temp.state_of(f) FROM in_toast WHERE file <= 2
UNION ALL SELECT 'nothing', pg_temp.made_up('\x'::bytea)
UNION ALL SELECT 'a short header', pg_temp.made_up(substr(f::bytea, 1, 43)) FROM overfull WHERE file = 1
UNION ALL SELECT 'a header alone', pg_temp.made_up(substr(f::bytea, 1, 44)) FROM overfull WHERE file = 1
UNION ALL SELECT 'one byte more', pg_temp.made_up(f::bytea || '\x00') FROM overfull WHERE file = 1
UNION ALL SELECT 'more bits set than there are', pg_temp.made_up(set_byte(f::bytea, 43, 64)) FROM overfull WHERE file = 1
UNION ALL SELECT 'another version', pg_temp.made_up(set_byte(f::bytea, 0, 2)) FROM overfull WHERE file = 1
UNION ALL SELECT 'no hashes', pg_temp.made_up(set_byte(f::bytea, 2, 0)) FROM overfull WHERE file = 1
UNION ALL SELECT 'bytes', pg_temp.made_up(decode(string_agg(md5(i::text), ''), 'hex')) FROM generate_series(1, 200) AS i GROUP BY i < 4;
ANALYZE hostile;
SELECT * FROM pg_temp.kept('hostile');
INSERT INTO hostile SELECT 'a filter', f FROM overfull WHERE file <= 900;
ANALYZE hostile;
SELECT abs(rate / (SELECT avg((bloom_info(f)).fp_prob_now) FROM overfull WHERE file <= 900) - 1) < 1e-6 AS mean_of_filters FROM pg_temp.kept('hostile');
SELECT pg_temp.expected('hostile');

-- An ANALYZE that is cancelled changes nothing.
UPDATE one_shape SET f = bloom_empty(10);
SET vacuum_cost_delay = 100;
SET vacuum_cost_limit = 1;
SET statement_timeout = 20;
ANALYZE one_shape;
RESET statement_timeout;
RESET vacuum_cost_delay;
RESET vacuum_cost_limit;
SELECT * FROM pg_temp.kept('one_shape');
DROP TABLE one_shape, many_sizes, coarse, overfull, half_null, few_not_null, counting, in_keys_form, in_toast, only_empty, only_null, no_row, of_domain, parts, parent, child, compressed, hostile, filters;
DROP DOMAIN known_filter;

DROP TABLE numbers;
