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
-- one that still holds its keys is cast to the shape of the other, as the hint says
SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1) FROM generate_series(1, 1000) AS i;
SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1)::bloom(1000, 0.01) = bloom_agg(i) AS combined FROM generate_series(1, 1000) AS i;
-- the seed and the key type are each filter's own
SELECT bloom_empty(1000, 0.01, 42) | bloom_empty(1000);
SELECT bloom_empty(1000, 0.01, 42) & bloom_empty(20);
SELECT bloom_superset(bloom_empty(1000, 0.01, key_type => 'text'), bloom_empty(1000, 0.01, key_type => 'citext collate "x"'));
SELECT bloom_empty(1000, 0.01, key_type => 'date') | bloom_empty(1000, 0.01, key_type => 'timestamp');
SELECT counting_bloom_empty(1000, 0.01, 42) + counting_bloom_empty(1000, 0.01, -5);

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
UNION ALL SELECT 'of this shape, at another rate', bloom_agg(i, 1000, 0.0095) FROM generate_series(1, 999) AS i
UNION ALL SELECT 'of another seed, in bits', bloom_add_all(bloom_empty(1000, 0.01, 42), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'larger, with keys', bloom_agg(i, 1e6, 0.001) FROM generate_series(1, 500) AS i
UNION ALL SELECT 'larger, with few keys and a seed', bloom_add_all(bloom_empty(5000, 0.01, -7), '{a,b,c}'::text[])
UNION ALL SELECT 'larger, with arrays', bloom_add(bloom_empty(5000), '{1,2}'::int[])
UNION ALL SELECT 'larger, with just enough keys', bloom_agg(i, 1e6, 0.01) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'larger, with too many keys', bloom_agg(i, 1e6, 0.01) FROM generate_series(1, 1001) AS i
UNION ALL SELECT 'smaller, with keys', bloom_agg(i, 100, 0.01) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'of its own size', bloom_agg(i) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'twice as large, in bits', bloom_add_all(bloom_empty_shaped(20096, 5), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'of other hashes', bloom_add_all(bloom_empty_shaped(10048, 7), array_agg(i)) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'null', NULL;
CREATE TEMPORARY TABLE target (name text, filter bloom(1000, 0.01));
CREATE FUNCTION pg_temp.put(name text, filter bloom, OUT assigned text, OUT of_cast bloom, OUT cast_says text) LANGUAGE plpgsql AS
$$
BEGIN
	BEGIN
		INSERT INTO target VALUES (name, filter);
		assigned := 'in';
	EXCEPTION WHEN invalid_parameter_value THEN
		GET STACKED DIAGNOSTICS assigned = PG_EXCEPTION_DETAIL;
	END;
	of_cast := filter::bloom(1000, 0.01);
	cast_says := 'turned';
EXCEPTION WHEN invalid_parameter_value THEN
	GET STACKED DIAGNOSTICS cast_says = PG_EXCEPTION_HINT;
END
$$;
CREATE TEMPORARY TABLE results AS SELECT name, filter, p.* FROM source, pg_temp.put(name, filter) AS p;
SELECT name, assigned, cast_says FROM results;
-- What was assigned is as it was, or has no keys; a cast is as if its keys had been
-- added to a filter of the type's shape; the seed and the key type are kept.
SELECT t.name, t.filter = r.filter AS same, t.filter = of_cast AS as_by_cast, pg_temp.shape(t.filter) AS shape, (bloom_info(t.filter)).key_type, bloom_cardinality(t.filter) AS keys
FROM target AS t JOIN results AS r USING (name);
SELECT name, pg_temp.shape(of_cast), (bloom_info(of_cast)).key_type, bloom_cardinality(of_cast) AS keys,
	   CASE name WHEN 'larger, with keys' THEN of_cast = (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 500) AS i)
				 WHEN 'larger, with few keys and a seed' THEN of_cast = bloom_add_all(bloom_empty(1000, 0.01, -7), '{c,b,a}'::text[])
				 WHEN 'larger, with just enough keys' THEN of_cast = (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i) END AS as_if_added
FROM results WHERE assigned <> 'in' AND cast_says = 'turned';
-- all of one seed and key type can be combined
SELECT bloom_cardinality(bloom_union_agg(filter)) AS keys FROM target WHERE (bloom_info(filter)).seed = 0 AND coalesce((bloom_info(filter)).key_type, 'bigint') = 'bigint';
-- fail: of two seeds
SELECT bloom_union_agg(filter) FROM target WHERE coalesce((bloom_info(filter)).key_type, 'bigint') = 'bigint';

-- Counting filters, too.
SELECT (counting_bloom_info(counting_bloom_agg(i % 100, 1e5, 0.01)::counting_bloom(1000, 0.01))).capacity,
	   counting_bloom_agg(i % 100, 1e5, 0.01)::counting_bloom(1000, 0.01) = counting_bloom_agg(i % 100, 1000, 0.01) AS counts_kept
FROM generate_series(1, 250) AS i;
SELECT counting_bloom_agg(i, 1000, 0.01)::counting_bloom(1000, 0.001) FROM generate_series(1, 1000) AS i;
SELECT counting_bloom_agg(i, 1e6, 0.01)::counting_bloom(1000, 0.01) FROM generate_series(1, 1001) AS i;
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
-- The edge of forms, wherever a filter goes: a filter for 50,000 has its keys up to
-- 7,812 of them.  That must not decide what is assigned to a type for 100,000.
-- ----------------------------------------------------------------

CREATE TABLE edge (name text PRIMARY KEY, n int, f bloom, c counting_bloom);
INSERT INTO edge
SELECT name, n, bloom_agg(i, capacity, 0.01), counting_bloom_agg(i, capacity, 0.01)
FROM (VALUES ('no_shape', 1, 0, 1), ('no_key', 2, 0, 50000), ('one', 3, 1, 50000), ('in_keys', 4, 7812, 50000), ('in_bits', 5, 7813, 50000),
			 ('too_many', 6, 100001, 8000000), ('right', 7, 7813, 100000), ('rounded', 8, 20000, 99996)) AS v (name, n, keys, capacity)
	 LEFT JOIN LATERAL generate_series(1, keys) AS i ON true WHERE name <> 'no_shape' AND keys > 0 GROUP BY name, n, capacity;
INSERT INTO edge VALUES ('no_key', 2, bloom_empty(50000), counting_bloom_empty(50000));
INSERT INTO edge SELECT 'no_shape', 1, bloom_agg(i), counting_bloom_sum_agg(NULL) FROM generate_series(1, 0) AS i;
SELECT name, (bloom_info(f)).keys, (bloom_info(f)).representation, (counting_bloom_info(c)).representation FROM edge ORDER BY n;
CREATE FUNCTION edge_filter(which text) RETURNS bloom LANGUAGE sql STABLE AS $$ SELECT f FROM edge WHERE name = which $$;
CREATE FUNCTION edge_counting(which text) RETURNS counting_bloom LANGUAGE sql STABLE AS $$ SELECT c FROM edge WHERE name = which $$;
-- "!" stands for the type, "?" for a filter
CREATE FUNCTION pg_temp.fill(statement text, type text, which text) RETURNS text LANGUAGE sql AS
$$ SELECT replace(replace(statement, '!', type), '?', format('edge_%s(%L)', CASE type WHEN 'bloom' THEN 'filter' ELSE 'counting' END, which)) $$;
CREATE FUNCTION pg_temp.rules(type text) RETURNS TABLE (context text, no_shape text, no_key text, one text, in_keys text, in_bits text, too_many text, "right" text, rounded text)
LANGUAGE plpgsql AS
$$
DECLARE
	states text[];
	which text;
	statement text;
BEGIN
	FOREACH statement IN ARRAY ARRAY['CREATE TYPE edge_pair AS (a !(100000, 0.01), b !)',
			'CREATE DOMAIN edge_domain AS !(100000, 0.01)',
			'CREATE TABLE edge_one (n int PRIMARY KEY, f !(100000, 0.01), list !(100000, 0.01)[], pair edge_pair, pairs edge_pair[], of_domain edge_domain, domains edge_domain[])',
			'CREATE TABLE edge_generated (g !, f !(100000, 0.01) GENERATED ALWAYS AS (g) STORED)',
			'CREATE TABLE edge_parted (n int, f !(100000, 0.01)) PARTITION BY LIST (n)',
			'CREATE TABLE edge_part PARTITION OF edge_parted FOR VALUES IN (1)',
			'CREATE TABLE edge_free (f !)',
			'CREATE VIEW edge_view AS SELECT n, f FROM edge_one',
			'CREATE FUNCTION edge_variable(f !) RETURNS void LANGUAGE plpgsql AS $f$ DECLARE v !(100000, 0.01) := f; BEGIN END $f$',
			'CREATE FUNCTION edge_into(f !) RETURNS void LANGUAGE plpgsql AS $f$ DECLARE v edge_one.f%TYPE; BEGIN SELECT f INTO v; END $f$',
			'CREATE FUNCTION edge_field(f !) RETURNS void LANGUAGE plpgsql AS $f$ DECLARE p edge_pair; BEGIN p.a := f; END $f$',
			'CREATE FUNCTION edge_argument(f !(100000, 0.01), OUT g !(100000, 0.01)) LANGUAGE plpgsql AS $f$ BEGIN g := f; END $f$',
			'INSERT INTO edge_one (n, pair) VALUES (1, NULL)'] LOOP
		EXECUTE pg_temp.fill(statement, type, NULL);
	END LOOP;
	FOREACH context IN ARRAY ARRAY[
			'INSERT INTO edge_one (n, f) VALUES (2, ?)', 'INSERT INTO edge_one (n, f) SELECT 2, ?', 'INSERT INTO edge_view VALUES (2, ?)',
			'INSERT INTO edge_one (n, f) VALUES (1, ?) ON CONFLICT (n) DO UPDATE SET f = EXCLUDED.f',
			'MERGE INTO edge_one AS o USING (VALUES (1)) AS v (n) ON o.n = v.n WHEN MATCHED THEN UPDATE SET f = ?',
			'UPDATE edge_one SET f = ?', 'UPDATE edge_one SET (n, f) = (SELECT 1, ?)',
			'UPDATE edge_one SET list[1] = ?', 'UPDATE edge_one SET list = ARRAY[?]', 'UPDATE edge_one SET pair.a = ?', 'UPDATE edge_one SET pair.b = ?',
			'UPDATE edge_one SET pair = ROW(?, NULL)', 'UPDATE edge_one SET pairs[1].a = ?', 'UPDATE edge_one SET of_domain = ?', 'UPDATE edge_one SET domains[1] = ?',
			'INSERT INTO edge_generated VALUES (?)', 'INSERT INTO edge_parted VALUES (1, ?)',
			'DO $f$ BEGIN EXECUTE ''INSERT INTO edge_one (n, f) VALUES (3, $1)'' USING ?; END $f$',
			'INSERT INTO edge_one (n, f) VALUES (4, (?)::text::!)', 'DO $f$ BEGIN EXECUTE format(''UPDATE edge_one SET f = %L'', ?); END $f$',
			'SELECT edge_variable(?)', 'SELECT edge_into(?)', 'SELECT edge_field(?)', 'SELECT edge_argument(?)',
			'SELECT json_populate_record(NULL::edge_pair, json_build_object(''a'', (?)::text))',
			'SELECT format(''(%s,)'', ?)::edge_pair', 'SELECT format(''{%s}'', ?)::!(100000, 0.01)[]',
			'TRUNCATE edge_free; INSERT INTO edge_free VALUES (?); ALTER TABLE edge_free ALTER f TYPE !(100000, 0.01)',
			'ALTER TABLE edge_free ALTER f TYPE !; TRUNCATE edge_free; INSERT INTO edge_free VALUES (?); ALTER TABLE edge_free ALTER f TYPE !(100000, 0.01) USING f::!(100000, 0.01)',
			'SELECT (?)::!(100000, 0.01)', 'SELECT CAST(? AS !(100000, 0.01))', 'SELECT (?)::text::!(100000, 0.01)', 'SELECT (?)::edge_domain',
			'SELECT ROW(?, NULL)::edge_pair', 'SELECT ARRAY[?]::!(100000, 0.01)[]', 'INSERT INTO edge_one (n, f) VALUES (5, (?)::!(100000, 0.01))',
			'SELECT (?)::bytea::!(100000, 0.01)'] LOOP
		states := '{}';
		FOREACH which IN ARRAY '{no_shape,no_key,one,in_keys,in_bits,too_many,right,rounded}'::text[] LOOP
			BEGIN
				EXECUTE pg_temp.fill(context, type, which);
				RAISE EXCEPTION 'undo';
			EXCEPTION WHEN OTHERS THEN
				states := states || CASE SQLERRM WHEN 'undo' THEN '' ELSE SQLSTATE END;
			END;
		END LOOP;
		SELECT states[1], states[2], states[3], states[4], states[5], states[6], states[7], states[8]
		INTO no_shape, no_key, one, in_keys, in_bits, too_many, "right", rounded;
		RETURN NEXT;
	END LOOP;
	DROP VIEW edge_view;
	DROP TABLE edge_one, edge_generated, edge_parted, edge_free;
	DROP FUNCTION edge_variable, edge_into, edge_field, edge_argument;
	DROP DOMAIN edge_domain;
	DROP TYPE edge_pair;
END
$$;
SELECT * FROM pg_temp.rules('bloom');
-- counting filters: the same in each of these
SELECT count(*) AS contexts, count(*) FILTER (WHERE p IS DISTINCT FROM c) AS differ FROM pg_temp.rules('bloom') AS p FULL JOIN pg_temp.rules('counting_bloom') AS c USING (context);
-- what a cast makes at the edge, and that what comes to be is combined
SELECT name, f::bloom(100000, 0.01) = (SELECT bloom_agg(i, 100000, 0.01) FROM generate_series(1, (bloom_info(f)).keys) AS i) AS as_if_added,
	   c::counting_bloom(100000, 0.01) = (SELECT counting_bloom_agg(i, 100000, 0.01) FROM generate_series(1, (bloom_info(f)).keys) AS i) AS counting
FROM edge WHERE name IN ('one', 'in_keys');
SELECT bloom_summary(bloom_union_agg(CASE WHEN name IN ('right', 'rounded') THEN f ELSE f::bloom(100000, 0.01) END)) FROM edge WHERE name NOT IN ('in_bits', 'too_many');
-- COPY, in both forms: no keys and the right shape go in
CREATE TABLE edge_copy (n int, f bloom(100000, 0.01), c counting_bloom(100000, 0.01));
\copy (SELECT n, f, c FROM edge WHERE name IN ('no_shape', 'no_key', 'right', 'rounded')) TO 'results/shape.copy' (FORMAT binary)
\copy edge_copy FROM 'results/shape.copy' (FORMAT binary)
\copy (SELECT n, f, c FROM edge WHERE name IN ('no_shape', 'no_key', 'right', 'rounded')) TO 'results/shape.copy'
\copy edge_copy FROM 'results/shape.copy'
SELECT n, count(*), count(DISTINCT e.f::text) AS filters, bool_and(bloom_cardinality(e.f) = 0 OR e.f = edge.f AND e.c = edge.c) AS as_they_were FROM edge_copy AS e JOIN edge USING (n) GROUP BY n ORDER BY n;
\copy (SELECT n, f, NULL FROM edge WHERE name = 'one') TO 'results/shape.copy' (FORMAT binary)
\copy edge_copy FROM 'results/shape.copy' (FORMAT binary)
\copy (SELECT n, f, NULL FROM edge WHERE name = 'in_keys') TO 'results/shape.copy'
\copy edge_copy FROM 'results/shape.copy'
\copy (SELECT n, f, NULL FROM edge WHERE name = 'in_bits') TO 'results/shape.copy' (FORMAT csv)
\copy edge_copy FROM 'results/shape.copy' (FORMAT csv)
\copy (SELECT n, NULL, c FROM edge WHERE name = 'in_keys') TO 'results/shape.copy'
\copy edge_copy FROM 'results/shape.copy'
\copy (SELECT n, NULL, c FROM edge WHERE name = 'in_bits') TO 'results/shape.copy' (FORMAT binary)
\copy edge_copy FROM 'results/shape.copy' (FORMAT binary)
\! rm results/shape.copy
DROP TABLE edge, edge_copy;
DROP FUNCTION edge_filter, edge_counting;

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
CREATE DOMAIN day_filter AS bloom(1000, 0.01) CHECK (NOT bloom_is_overfull(VALUE));
CREATE TABLE holders (list bloom(10, 0.1)[], pair pair, pairs pair[], of_domain day_filter, domains day_filter[]);
INSERT INTO holders VALUES (ARRAY[bloom_empty(50), NULL, bloom_add(bloom_empty(50), 1)::bloom(10, 0.1)], ROW(bloom_empty(50), bloom_empty(50)),
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
INSERT INTO parted VALUES (2, bloom_add(bloom_empty(1000), 1));
UPDATE parted SET day = 2 WHERE urls IS NULL;
SELECT tableoid::regclass, pg_temp.shape(urls) AS urls, pg_temp.shape(own) AS own FROM parted ORDER BY 1, 2;
-- fail
INSERT INTO parted SELECT 1, f FROM big;
INSERT INTO parted SELECT 2, f FROM big;
INSERT INTO parted (day, n) VALUES (1, 1);
CREATE TABLE parted_3 (day int, n int, urls bloom(1000, 0.02), own bloom(10, 0.1) GENERATED ALWAYS AS (CASE n WHEN 0 THEN bloom_empty(20) ELSE bloom_add_all(bloom_empty(1), ARRAY[n, 2, 3]) END) STORED);
ALTER TABLE parted ATTACH PARTITION parted_3 FOR VALUES IN (3);
CREATE TABLE child (urls bloom(1000, 0.02)) INHERITS (visited);

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
EXECUTE put(9, bloom_add(bloom_empty(100000), 'a'::text));
-- fail
EXECUTE put(10, bloom_add(bloom_empty(1), 'a'::text));
EXECUTE put(10, NULL);
RESET plan_cache_mode;

-- ON CONFLICT, MERGE, RETURNING, UPDATE in place
INSERT INTO visited VALUES (8, bloom_add(bloom_empty(100000), 'a'::text)) ON CONFLICT (day) DO UPDATE SET urls = visited.urls | excluded.urls RETURNING pg_temp.shape(urls);
MERGE INTO visited AS v USING (VALUES (8, 'b')) AS n (day, url) ON v.day = n.day WHEN MATCHED THEN UPDATE SET urls = bloom_add(v.urls, n.url);
UPDATE visited SET urls = bloom_add(urls, 'c'::text) WHERE day = 8;
SELECT day, bloom_summary(urls) FROM visited WHERE day = 8;

-- ALTER TABLE: a full table is turned by USING, or not at all
CREATE TABLE old (n int, f bloom);
INSERT INTO old SELECT 1, bloom_agg(i, 5000, 0.01) FROM generate_series(1, 10) AS i;
INSERT INTO old SELECT 2, bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i;
INSERT INTO old VALUES (3, NULL);
-- fail: the error says what to write
ALTER TABLE old ALTER f TYPE bloom(1000, 0.01);
ALTER TABLE old ALTER f TYPE bloom(1000, 0.01) USING f::bloom(1000, 0.01);
SELECT n, bloom_summary(f) FROM old ORDER BY n;
SELECT bloom_cardinality(bloom_union_agg(f)) FROM old;
-- fail: no longer has its keys
ALTER TABLE old ALTER f TYPE bloom(1000, 0.001) USING f::bloom(1000, 0.001);
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
