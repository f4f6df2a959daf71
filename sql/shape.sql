--
-- A column with a shape: the type modifiers of bloom and counting_bloom
--

-- The error of a statement, and its hint.
CREATE FUNCTION pg_temp.failure(statement text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE statement;
	state := 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END
$$;

-- One shape for all filters of a column.
CREATE TABLE visit (day int, url text);
INSERT INTO visit SELECT i % 3, 'page ' || i FROM generate_series(1, 3000) AS i;
CREATE TABLE visited (day int PRIMARY KEY, urls bloom(100000, 0.01) NOT NULL);
INSERT INTO visited SELECT day, bloom_agg(url, 100000, 0.01) FROM visit GROUP BY day;
SELECT bloom_summary(bloom_union_agg(urls)) FROM visited;
-- fail: sized by their keys
INSERT INTO visited SELECT day + 10, bloom_agg(url) FROM visit GROUP BY day;
UPDATE visited SET urls = (SELECT bloom_agg(url) FROM visit);
-- and if nothing stops that
SELECT bloom_union_agg(urls) FROM (SELECT bloom_agg(url) FROM visit WHERE day > 0 OR url LIKE '%1' GROUP BY day ORDER BY day) AS s (urls);
-- one that still holds its keys takes the shape of the other, as the hint says
SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1) FROM generate_series(1, 1000) AS i;
SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1)::bloom(1000, 0.01) = bloom_agg(i) AS combined FROM generate_series(1, 1000) AS i;

-- ----------------------------------------------------------------
-- What may be written
-- ----------------------------------------------------------------

CREATE TABLE forms (a bloom(100000), b bloom(1e6), c bloom(250000, 1e-4), d bloom(1.5, .5), e bloom('1000', '0.05'), f bloom(7, 4.43e-14),
					g bloom(3e9, 0.9), h counting_bloom(1000, 0.01), i bloom(429000000), j counting_bloom(107000000, 0.01));
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'forms'::regclass AND attnum > 0 ORDER BY attnum;
-- the same numbers, and the shape of bloom_empty
CREATE FUNCTION pg_temp.shape(f bloom) RETURNS text LANGUAGE sql AS
$$ SELECT bits || ' bits, ' || hashes || ' hashes, ' || capacity || ' at ' || fp_prob || ', seed ' || seed FROM bloom_info(f) $$;
SELECT pg_temp.shape(f::bloom(100000)) = pg_temp.shape(bloom_empty(100000)) AS a, pg_temp.shape(f::bloom(1e6)) = pg_temp.shape(bloom_empty(1e6)) AS b,
	   pg_temp.shape(f::bloom(250000, 1e-4)) = pg_temp.shape(bloom_empty(250000, 1e-4)) AS c,
	   pg_temp.shape(f::bloom(1.5, .5)) = pg_temp.shape(bloom_empty(1.5, .5)) AS d,
	   pg_temp.shape(f::bloom(7, 4.43e-14)) = pg_temp.shape(bloom_empty(7, 4.43e-14)) AS f,
	   pg_temp.shape(f::bloom(3e9, 0.9)) = pg_temp.shape(bloom_empty(3e9, 0.9)) AS g
FROM bloom_empty(10) AS f;
-- every number of three digits comes back as it was, and no two are one
SELECT count(*) AS rates, count(DISTINCT typmod) AS typmods, bool_and(typmod >= 0) AS positive,
	   bool_and(trim('()' FROM split_part(_bloom_typmod_out(typmod)::text, ',', 2))::float8 = rate) AS same
FROM (SELECT (m || 'e-' || e)::float8 AS rate FROM generate_series(100, 999) AS m, generate_series(3, 16) AS e WHERE e < 16 OR m >= 443) AS r,
	 _bloom_typmod_in(format('{1,%s}', rate)::cstring[]) AS typmod;
SELECT count(*) AS capacities, count(DISTINCT typmod) AS typmods, bool_and(typmod >= 0) AS positive,
	   bool_and(trim('()' FROM split_part(_bloom_typmod_out(typmod)::text, ',', 1))::float8 = capacity) AS same
FROM (SELECT DISTINCT (m || 'e' || e)::float8 AS capacity FROM generate_series(1, 999) AS m, generate_series(0, 7) AS e) AS c,
	 _bloom_typmod_in(format('{%s,0.9}', capacity)::cstring[]) AS typmod
WHERE capacity <= 4294967296;

-- fail, each: the whole of two messages
SELECT bloom_empty(10)::bloom(1048576, 0.01);
SELECT bloom_empty(10)::bloom('abc');
SELECT type, f.*
FROM unnest('{"bloom(1000001)", "bloom(1234.5)", "bloom(1000, 0.0123456)", "bloom(1000, 0.09996)", "bloom(1000, 0.9999999999999)", "bloom(1000, 4.431e-14)",
			"bloom(429496729)", "bloom(429496730)", "counting_bloom(107374182)", "counting_bloom(107374183)", "bloom(1e10, 0.9)", "bloom(0)", "bloom(-5)",
			"bloom(0.5)", "bloom(1e300)", "bloom(1e400)", "bloom(inf)", "bloom(nan)", "bloom(1000, 0)", "bloom(1000, 1)", "bloom(1000, -0.01)",
			"bloom(1000, 1e-15)", "bloom(1000, 1e-400)", "bloom(1000, nan)", "bloom(0.01, 1000)", "bloom(1000, 0.01, 7)", "bloom(1000, ''1%'')",
			"bloom('''')", "counting_bloom(x)", "bloom(1000 + 1)"}'::text[]) AS type,
	 pg_temp.failure('SELECT NULL::' || type) AS f;
SELECT _bloom_typmod_in('{}');
SELECT _bloom_typmod_in('{NULL}');
SELECT _bloom_typmod_in('{{1,0.01},{1,0.01}}');
-- what is no type modifier is no shape, and -1 asks for none
SELECT n, f.*
FROM unnest('{0,1,16383,16384,1638400,51201100,2147483647,-2147483648,-1}'::int[]) AS n,
	 pg_temp.failure('SELECT _bloom_to_shape(bloom_empty(10), ' || n || ', true)') AS f;
SELECT n, format_type('bloom'::regtype, n) IS NOT NULL AS has_text FROM unnest('{0,1,16383,16384,2147483647,-2147483648,-1}'::int[]) AS n;

-- ----------------------------------------------------------------
-- What goes in
-- ----------------------------------------------------------------

CREATE TEMPORARY TABLE source (name text, filter bloom);
INSERT INTO source
SELECT 'of no rows', bloom_agg(i) FROM generate_series(1, 0) AS i
UNION ALL SELECT 'empty, of another shape', bloom_empty(77, 0.1)
UNION ALL SELECT 'empty, with a key type', bloom_empty(77, 0.1, 0, 'uuid')
UNION ALL SELECT 'of this shape, with keys', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'of this shape, in bits', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'of as many bits, by rounding', bloom_agg(i, 999, 0.01) FROM generate_series(1, 999) AS i
UNION ALL SELECT 'of another seed, in bits', bloom_add_all(bloom_empty(1000, 0.01, 42), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'larger, with keys', bloom_agg(i, 1e6, 0.001) FROM generate_series(1, 500) AS i
UNION ALL SELECT 'larger, with few keys and a seed', bloom_add_all(bloom_empty(5000, 0.01, -7), '{a,b,c}'::text[])
UNION ALL SELECT 'larger, with arrays', bloom_add(bloom_empty(5000), '{1,2}'::int[])
UNION ALL SELECT 'larger, with too many keys', bloom_agg(i, 1e6, 0.01) FROM generate_series(1, 2000) AS i
UNION ALL SELECT 'smaller, with keys', bloom_agg(i, 100, 0.01) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'of its own size', bloom_agg(i) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'twice as large, in bits', bloom_add_all(bloom_empty_shaped(20096, 5), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'of other hashes', bloom_add_all(bloom_empty_shaped(10048, 7), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'null', NULL;
CREATE TEMPORARY TABLE target (name text, filter bloom(1000, 0.01));
CREATE FUNCTION pg_temp.put(name text, filter bloom) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	detail text;
BEGIN
	INSERT INTO target VALUES (name, filter);
	RETURN 'in';
EXCEPTION WHEN invalid_parameter_value THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END
$$;
SELECT name, pg_temp.put(name, filter) FROM source;
-- exactly as if the keys had been added to one of the column's shape
SELECT t.name, t.filter = s.filter AS same, pg_temp.shape(t.filter) AS shape, (bloom_info(t.filter)).key_type, bloom_cardinality(t.filter) AS keys
FROM target AS t JOIN source AS s USING (name);
SELECT t.filter = f AS as_if_added FROM target AS t, (SELECT bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, 500) AS i) AS s WHERE name = 'larger, with keys';
SELECT t.filter = f AS as_if_added FROM target AS t, bloom_add_all(bloom_empty(1000, 0.01, -7), '{c,b,a}'::text[]) AS f WHERE name = 'larger, with few keys and a seed';
SELECT t.filter = f AS as_if_added FROM target AS t, (SELECT bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, 2000) AS i) AS s WHERE name = 'larger, with too many keys';
-- and all of one seed and key type can be combined
SELECT bloom_cardinality(bloom_union_agg(filter)) AS keys FROM target WHERE (bloom_info(filter)).seed = 0 AND coalesce((bloom_info(filter)).key_type, 'bigint') = 'bigint';
-- fail: the seed is no part of the shape
SELECT bloom_union_agg(filter) FROM target WHERE coalesce((bloom_info(filter)).key_type, 'bigint') = 'bigint';

-- Counting filters, too.
SELECT (counting_bloom_info(counting_bloom_agg(i % 100, 1e5, 0.01)::counting_bloom(1000, 0.01))).capacity,
	   counting_bloom_agg(i % 100, 1e5, 0.01)::counting_bloom(1000, 0.01) = counting_bloom_agg(i % 100, 1000, 0.01) AS counts_kept
FROM generate_series(1, 250) AS i;
SELECT counting_bloom_agg(i, 1000, 0.01)::counting_bloom(1000, 0.001) FROM generate_series(1, 1000) AS i;
SELECT bloom_summary(counting_bloom_agg(i, 1000, 0.01)::bloom(1000, 0.01)) FROM generate_series(1, 1000) AS i;
SELECT counting_bloom_agg(i, 1000, 0.01)::bloom(1000, 0.001) FROM generate_series(1, 1000) AS i;

-- Of a stored filter, only the header is read: of 1.25 MB, one part.
CREATE TABLE stored AS SELECT bloom_agg(i, 1000000, 0.01) AS f FROM generate_series(1, 200000) AS i;
CREATE FUNCTION pg_temp.blocks(statement text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	-- not counting what the first time takes, for the catalogs
	FOR i IN 1..2 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json, TIMING off) ' || statement INTO plan;
	END LOOP;
	RETURN CASE WHEN (plan #>> '{0,Plan,Shared Hit Blocks}')::int + (plan #>> '{0,Plan,Shared Read Blocks}')::int < 10 THEN 'few' ELSE 'many' END;
END
$$;
SELECT pg_temp.blocks('SELECT f::bloom(1000000, 0.01) FROM stored') AS header, pg_temp.blocks('SELECT bloom_add(f, 0) FROM stored') AS whole;

-- ----------------------------------------------------------------
-- Where types stand
-- ----------------------------------------------------------------

-- CREATE TABLE AS, LIKE, views, subqueries, UNION
CREATE TABLE copy AS SELECT * FROM visited;
CREATE TABLE alike (LIKE visited);
CREATE VIEW seen AS SELECT day, urls, urls::bloom AS free, bloom_empty(50)::bloom(10, 0.1) AS small FROM visited;
CREATE MATERIALIZED VIEW seen_now AS SELECT * FROM seen;
CREATE TABLE unions AS SELECT urls AS same FROM visited UNION ALL SELECT urls FROM copy;
CREATE TABLE mixtures AS SELECT urls AS differ FROM visited UNION ALL SELECT small FROM seen;
CREATE TABLE cases AS SELECT CASE day WHEN 1 THEN urls END AS same, coalesce(urls, small) AS differ, urls | urls AS of_operator FROM seen;
SELECT attrelid::regclass AS relation, attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid IN ('copy'::regclass, 'alike'::regclass, 'seen'::regclass, 'seen_now'::regclass, 'unions'::regclass, 'mixtures'::regclass, 'cases'::regclass)
  AND attnum > 0 AND attname <> 'day' ORDER BY attrelid, attnum;
SELECT pg_get_viewdef('seen') LIKE '%::bloom AS free%' AS without, pg_get_viewdef('seen') LIKE '%::bloom(10,0.1) AS small%' AS with;

-- arrays, composites, domains
CREATE TYPE pair AS (a bloom(10, 0.1), b bloom);
CREATE DOMAIN day_filter AS bloom(1000, 0.01) CHECK (NOT bloom_is_full(VALUE));
CREATE TABLE holders (list bloom(10, 0.1)[], pair pair, pairs pair[], of_domain day_filter, domains day_filter[]);
INSERT INTO holders VALUES (ARRAY[bloom_empty(50), NULL, bloom_add(bloom_empty(50), 1)], ROW(bloom_empty(50), bloom_empty(50)),
							ARRAY[ROW(bloom_empty(60), bloom_empty(60))::pair], bloom_empty(70), ARRAY[bloom_empty(80)::day_filter]);
SELECT pg_temp.shape(list[1]), list[2] IS NULL AS is_null, pg_temp.shape(list[3]), pg_temp.shape((pair).a) AS a, pg_temp.shape((pair).b) AS b FROM holders;
SELECT pg_temp.shape(pairs[1].a) AS a, pg_temp.shape(of_domain), pg_temp.shape(domains[1]) FROM holders;
UPDATE holders SET list[2] = bloom_empty(90), pair.a = bloom_empty(90);
SELECT pg_temp.shape(list[2]), pg_temp.shape((pair).a) AS a FROM holders;
-- fail, all but one: a filter of its own size
CREATE TABLE big AS SELECT bloom_agg(i) AS f FROM generate_series(1, 3000) AS i;
SELECT statement, f.state, f.message
FROM unnest(ARRAY['UPDATE holders SET list[1] = f FROM big', 'UPDATE holders SET list = ARRAY[f] FROM big', 'UPDATE holders SET list = (SELECT array_agg(f) FROM big)',
				  'UPDATE holders SET pair.a = f FROM big', 'UPDATE holders SET pair.b = f FROM big', 'UPDATE holders SET pair = ROW(f, NULL) FROM big',
				  'UPDATE holders SET pairs[1].a = f FROM big', 'UPDATE holders SET of_domain = f FROM big', 'UPDATE holders SET domains[1] = f FROM big',
				  'SELECT ROW(f, f)::pair FROM big', 'SELECT f::day_filter FROM big', 'SELECT ARRAY[f, f]::bloom(10, 0.1)[] FROM big']) AS statement,
	 pg_temp.failure(statement) AS f;
-- by text, too
SELECT what, f.state, f.message
FROM (SELECT f::text AS t FROM big) AS b,
	 unnest(ARRAY['bloom(10, 0.1)', 'day_filter', 'pair', 'pair', 'bloom(10, 0.1)[]'], ARRAY[t, t, '(' || t || ',)', '(,' || t || ')', '{' || t || '}']) AS v (what, text),
	 pg_temp.failure(format('SELECT %L::%s', text, what)) AS f;
SELECT pg_temp.shape((f::text)::bloom(10, 0.1)), pg_temp.shape((ROW(f, f)::text::pair).a) AS a, pg_temp.shape((('{' || f::text || '}')::bloom(10, 0.1)[])[1]) AS element
FROM bloom_empty(50) AS f;
SELECT pg_temp.shape((json_populate_record(NULL::pair, json_build_object('a', f::text))).a) AS of_json FROM bloom_empty(50) AS f;
SELECT f.state, f.message FROM pg_temp.failure('SELECT json_populate_record(NULL::pair, json_build_object(''a'', f::text)) FROM big') AS f;
-- softly, where the server asks for that
SELECT current_setting('server_version_num')::int >= 160000 AS has_soft_errors \gset
\if :has_soft_errors
	\set error 'pg_input_error_info(f::text, \'bloom(10, 0.1)\') AS e'
\else
	-- what newer servers say
	\set error '(VALUES (\'22023\', \'Bloom filter does not have the shape of type bloom(10, 0.1)\')) AS e (sql_error_code, message)'
\endif
SELECT sql_error_code, message FROM big, LATERAL :error;

-- defaults, generated columns, NULL, partitions, inheritance
CREATE TABLE parted (day int, urls bloom(1000, 0.01) DEFAULT bloom_empty(50), n int DEFAULT 0,
					 own bloom(10, 0.1) GENERATED ALWAYS AS (CASE n WHEN 0 THEN bloom_empty(20) ELSE bloom_add_all(bloom_empty(1), ARRAY[n, 2, 3]) END) STORED)
	PARTITION BY LIST (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (day int, n int DEFAULT 0, urls bloom(1000, 0.01), own bloom(10, 0.1) GENERATED ALWAYS AS (CASE n WHEN 0 THEN bloom_empty(20) ELSE bloom_add_all(bloom_empty(1), ARRAY[n, 2, 3]) END) STORED);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
INSERT INTO parted (day) VALUES (1), (2);
INSERT INTO parted VALUES (1, NULL);
INSERT INTO parted VALUES (2, bloom_add(bloom_empty(70), 1));
UPDATE parted SET day = 2 WHERE urls IS NULL;
SELECT tableoid::regclass, pg_temp.shape(urls) AS urls, pg_temp.shape(own) AS own FROM parted ORDER BY 1, 2;
-- fail
INSERT INTO parted SELECT 1, f FROM big;
INSERT INTO parted SELECT 2, f FROM big;
INSERT INTO parted (day, n) VALUES (1, 1);
CREATE TABLE parted_3 (day int, n int, urls bloom(1000, 0.02), own bloom(10, 0.1) GENERATED ALWAYS AS (CASE n WHEN 0 THEN bloom_empty(20) ELSE bloom_add_all(bloom_empty(1), ARRAY[n, 2, 3]) END) STORED);
ALTER TABLE parted ATTACH PARTITION parted_3 FOR VALUES IN (3);
CREATE TABLE child (urls bloom(1000, 0.02)) INHERITS (visited);

-- COPY
\copy (SELECT 5, bloom_agg(i, 5000, 0.01) FROM generate_series(1, 10) AS i) TO 'results/shape.copy' (FORMAT binary)
\copy visited FROM 'results/shape.copy' (FORMAT binary)
\copy (SELECT 6, bloom_agg(i, 5000, 0.01) FROM generate_series(1, 10) AS i) TO 'results/shape.copy'
\copy visited FROM 'results/shape.copy'
SELECT day, pg_temp.shape(urls) FROM visited WHERE day IN (5, 6) ORDER BY day;
-- fail, in both forms; one warning for all rows of too many keys
\copy (SELECT 7, f FROM big) TO 'results/shape.copy' (FORMAT binary)
\copy visited FROM 'results/shape.copy' (FORMAT binary)
\copy (SELECT 7, f FROM big) TO 'results/shape.copy'
\copy visited FROM 'results/shape.copy'
\copy (SELECT s.name, s.filter FROM source AS s, generate_series(1, 3) WHERE name = 'larger, with too many keys') TO 'results/shape.copy'
\copy target FROM 'results/shape.copy'
\! rm results/shape.copy

-- variables and arguments: a variable has the shape, an argument has none
CREATE FUNCTION variables(f bloom(10, 0.1), OUT argument text, OUT variable text) LANGUAGE plpgsql AS
$$
DECLARE
	v bloom(10, 0.1) := f;
	p pair;
BEGIN
	argument := pg_temp.shape(f);
	variable := pg_temp.shape(v);
	p.a := f;
	SELECT f INTO v;
	v := bloom_add(v, 1);
	v := NULL;
END
$$;
SELECT * FROM variables(bloom_empty(50));
SELECT variables(f) FROM big;

-- prepared statements, also with generic plans
SET plan_cache_mode = force_generic_plan;
PREPARE put AS INSERT INTO visited VALUES ($1, $2);
EXECUTE put(8, bloom_empty(50));
EXECUTE put(9, bloom_add(bloom_empty(1), 'a'::text));
EXECUTE put(9, NULL);
RESET plan_cache_mode;

-- ON CONFLICT, MERGE, RETURNING, UPDATE in place
INSERT INTO visited VALUES (8, bloom_add(bloom_empty(50), 'a'::text)) ON CONFLICT (day) DO UPDATE SET urls = visited.urls | excluded.urls RETURNING pg_temp.shape(urls);
MERGE INTO visited AS v USING (VALUES (8, 'b')) AS n (day, url) ON v.day = n.day WHEN MATCHED THEN UPDATE SET urls = bloom_add(v.urls, n.url);
UPDATE visited SET urls = bloom_add(urls, 'c'::text) WHERE day = 8;
SELECT day, bloom_summary(urls) FROM visited WHERE day = 8;

-- ALTER TABLE: a full table is turned, or not at all
CREATE TABLE old (n int, f bloom);
INSERT INTO old SELECT 1, bloom_agg(i, 5000, 0.01) FROM generate_series(1, 10) AS i;
INSERT INTO old SELECT 2, bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i;
INSERT INTO old VALUES (3, NULL);
ALTER TABLE old ALTER f TYPE bloom(1000, 0.01);
SELECT n, bloom_summary(f) FROM old ORDER BY n;
SELECT bloom_cardinality(bloom_union_agg(f)) FROM old;
-- fail
ALTER TABLE old ALTER f TYPE bloom(1000, 0.001);
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'old'::regclass AND attname = 'f';
-- nothing to do for no shape
SELECT pg_relation_filenode('old') AS node \gset
ALTER TABLE old ALTER f TYPE bloom;
SELECT pg_relation_filenode('old') = :node AS not_rewritten, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'old'::regclass AND attname = 'f';
-- by bloom_union, which keeps the shape; by text
ALTER TABLE old ALTER f TYPE bloom(1000, 0.01) USING f | f;
ALTER TABLE old ALTER f TYPE text, ALTER f SET DEFAULT 'x';
ALTER TABLE old ALTER f DROP DEFAULT, ALTER f TYPE bloom(1000, 0.01) USING f::bloom;
SELECT n, bloom_summary(f) FROM old ORDER BY n;

-- A column's rate, before ANALYZE knows that of its filters: of 20,000 rows at
-- one in a million, none is expected but the one that has the key.
CREATE TABLE many (id int, f bloom(1000, 1e-6), g bloom);
ALTER TABLE many SET (autovacuum_enabled = off);
INSERT INTO many SELECT i, bloom_empty(1000, 1e-6), bloom_empty(1000, 1e-6) FROM generate_series(1, 20000) AS i;
CREATE FUNCTION pg_temp.expected(condition text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM many WHERE ' || condition INTO plan;
	RETURN CASE WHEN (plan #>> '{0,Plan,Plan Rows}')::int < 10 THEN 'few' ELSE 'many' END;
END
$$;
SELECT pg_temp.expected('f @> 1') AS by_type, pg_temp.expected('g @> 1') AS by_default;
ANALYZE many;
SELECT pg_temp.expected('f @> 1') AS known, pg_temp.expected('g @> 1') AS as_well;

DROP TABLE visit, visited, copy, alike, unions, mixtures, cases, holders, parted, parted_3, big, old, many, stored, forms CASCADE;
DROP FUNCTION variables;
DROP DOMAIN day_filter;
DROP TYPE pair;
