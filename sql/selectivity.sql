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

CREATE FUNCTION pg_temp.estimate_prepared(query text) RETURNS float8 LANGUAGE plpgsql AS
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
SELECT estimated FROM pg_temp.estimate_prepared('EXECUTE of_parameter (bloom_empty(10))') AS estimated;
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
SELECT id, bloom_add(bloom_empty(100), id) AS small, bloom_agg(i, bloom_shape(80000, 1)) AS large
FROM generate_series(1, 100) AS id, generate_series(1, 2000) AS i GROUP BY id;
ANALYZE own_filters;
CREATE FUNCTION pg_temp.filter_of(bits bigint) RETURNS bloom LANGUAGE sql IMMUTABLE AS
$$ SELECT bloom_agg(i, bloom_shape(bits, 1)) FROM generate_series(1, bits / 64 + 1) AS i $$;
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

DROP TABLE numbers;
