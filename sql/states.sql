--
-- States: every function that SQL can name survives every value of its types
--

-- Filters in every form that the server has for a value: in keys form and in
-- bits, in line with a short header, compressed, out of line, and without a
-- shape.  None may be changed by anything below.
CREATE TABLE forms (n int, name text, f bloom, before text);
ALTER TABLE forms ALTER f SET STORAGE extended;
INSERT INTO forms VALUES
	(1, 'shapeless', (SELECT bloom_agg(i) FROM generate_series(1, 0) AS i)),
	(2, 'empty', bloom_empty(100)),
	(3, 'short keys', (SELECT bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 5) AS i)),
	(4, 'keys', (SELECT bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 100) AS i)),
	(5, 'bits', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i));
INSERT INTO forms SELECT 6, 'compressed bits', bloom_agg(i, 100000, 0.01) FROM generate_series(1, 17000) AS i;
ALTER TABLE forms ALTER f SET STORAGE external;
INSERT INTO forms SELECT 7, 'stored keys', bloom_agg(i, 10000000, 0.01) FROM generate_series(1, 100000) AS i;
INSERT INTO forms SELECT 8, 'stored bits', bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 300000) AS i;
UPDATE forms SET before = md5(f::bytea);
SELECT name, pg_column_size(f) < 128 AS short,
	   pg_column_size(f) < (bloom_info(f)).bytes * 0.9 AND n = 6 AS compressed, (bloom_info(f)).representation
FROM forms ORDER BY n;

-- Aggregates that somebody has made of our functions: each function that
-- takes a filter as transition function, with and without each final one.
CREATE FUNCTION pg_temp.first_filter(bloom, bloom) RETURNS bloom LANGUAGE sql AS 'SELECT coalesce($1, $2)';
DO $$
DECLARE
	s text;
	e text;
BEGIN
	FOREACH s IN ARRAY '{bloom_union,bloom_intersect,_bloom_union_agg_trans,_bloom_intersect_agg_trans,_bloom_agg_collect_combine,pg_temp.first_filter}'::text[]
	LOOP
		FOREACH e IN ARRAY '{"",_bloom_agg_final,_bloom_agg_fit_final}'::text[]
		LOOP
			EXECUTE format('CREATE AGGREGATE pg_temp.%I(bloom) (SFUNC = %s, STYPE = bloom%s)',
						   replace(s, 'pg_temp.', '') || ' + ' || e, s, coalesce(', FINALFUNC = ' || nullif(e, ''), ''));
			EXECUTE format('CREATE AGGREGATE pg_temp.%I(bloom) (SFUNC = %s, STYPE = bloom, COMBINEFUNC = _bloom_union_agg_trans, INITCOND = %L%s)',
						   replace(s, 'pg_temp.', '') || ' from + ' || e, s, bloom_empty(100)::text, coalesce(', FINALFUNC = ' || nullif(e, ''), ''));
		END LOOP;
	END LOOP;
END
$$;

-- Each of them over each form, twice, plain, over a growing and a moving
-- frame, and in grouping sets: what it gives, or its error.
CREATE FUNCTION pg_temp.try(query text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;
CREATE TEMPORARY TABLE tried AS
SELECT proname, form.name AS form, form.n, call.n AS call, pg_temp.try(format(call.query, proname, form.n)) AS result
FROM pg_proc, forms AS form, (VALUES
	(1, 'SELECT bloom_cardinality(pg_temp.%I(f)::bytea::bloom) FROM forms WHERE n = %s'),
	(2, 'SELECT bloom_cardinality(pg_temp.%I(f)::bytea::bloom) FROM forms, generate_series(1, 3) WHERE n = %s'),
	(3, 'SELECT string_agg(bloom_cardinality(w::bytea::bloom)::text, '','') FROM (SELECT pg_temp.%I(f) OVER (ORDER BY i) AS w FROM forms, generate_series(1, 3) AS i WHERE n = %s) AS s'),
	(4, 'SELECT string_agg(bloom_cardinality(w::bytea::bloom)::text, '','') FROM (SELECT pg_temp.%I(f) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS w FROM forms, generate_series(1, 3) AS i WHERE n = %s) AS s'),
	(5, 'SELECT string_agg(bloom_cardinality(w::bytea::bloom)::text, '','') FROM (SELECT pg_temp.%I(f) AS w FROM forms, generate_series(1, 3) AS i WHERE n = %s GROUP BY GROUPING SETS ((i), ())) AS s')
) AS call (n, query)
WHERE pronamespace = pg_my_temp_schema() AND prokind = 'a';
SELECT count(*) AS tried, count(*) FILTER (WHERE result LIKE 'XX%') AS internal_errors FROM tried;
SELECT proname, string_agg(result, ' ' ORDER BY n) AS keys FROM tried WHERE call = 2 AND proname NOT LIKE '%from%' GROUP BY proname ORDER BY proname;
-- with an initial value, only what has its shape goes
SELECT result, count(*) AS number FROM tried WHERE call = 2 AND proname LIKE '%from%' GROUP BY result ORDER BY result;
-- no call gives what the plain one does not
SELECT proname, form, array_agg(result ORDER BY call) AS results
FROM tried
GROUP BY proname, form, n
HAVING count(DISTINCT split_part(result, ',', 1)) > 1
ORDER BY proname, n;

-- Aggregates that share one state, in either order: the final function of the one
-- leaves to the other what it has alone.  A state is an error when it is used.
CREATE AGGREGATE pg_temp.raw(int) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom, COMBINEFUNC = _bloom_agg_collect_combine);
CREATE AGGREGATE pg_temp.raw(int, float8, float8) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
CREATE AGGREGATE pg_temp.valued(int) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom, FINALFUNC = _bloom_agg_final);
SELECT n, first.f = alone.f AS own, f2 = alone.f AS own_after, first.v = alone.v AS valued, v2 = alone.v AS valued_first, r::text::bloom = alone.v AS raw, r2::text::bloom = alone.v AS raw_first,
	   first.g = alone.g AND g2 = alone.g AS fixed, gr::text::bloom = alone.g AND gr2::text::bloom = alone.g AS fixed_raw
FROM (VALUES (1), (7), (100), (5000), (200000)) AS v (n),
	 LATERAL (SELECT bloom_agg(i) AS f, pg_temp.raw(i) AS r, pg_temp.valued(i) AS v, bloom_agg(i, 1000000, 0.01) AS g, pg_temp.raw(i, 1000000, 0.01) AS gr FROM generate_series(1, n) AS i) AS first,
	 LATERAL (SELECT pg_temp.valued(i) AS v2, pg_temp.raw(i) AS r2, bloom_agg(i) AS f2, pg_temp.raw(i, 1000000, 0.01) AS gr2, bloom_agg(i, 1000000, 0.01) AS g2 FROM generate_series(1, n) AS i) AS second,
	 LATERAL (SELECT (SELECT bloom_agg(i) FROM generate_series(1, n) AS i) AS f, (SELECT pg_temp.valued(i) FROM generate_series(1, n) AS i) AS v,
					 (SELECT bloom_agg(i, 1000000, 0.01) FROM generate_series(1, n) AS i) AS g) AS alone
ORDER BY n;
-- fail: a state is no value, beside one either
SELECT bloom_summary(bloom_agg(i)), bloom_summary(pg_temp.raw(i)) FROM generate_series(1, 10) AS i;
SELECT bloom_summary(pg_temp.raw(i)), bloom_summary(bloom_agg(i)) FROM generate_series(1, 10) AS i;
-- what the hint says of those that are stored
SELECT bloom_fit(pg_temp.raw(i)::text::bloom, 0.01) = bloom_agg(i) AS as_by_bloom_agg FROM generate_series(1, 1000) AS i;

-- Keys into filters of every form.  Most filters hold all of
-- them already.
SELECT name, count(*) FILTER (WHERE f @> i) AS held,
	   bloom_cardinality(bloom_add_all(f, array_agg(i))) = greatest(bloom_cardinality(f), 20) AS added
FROM forms, generate_series(1, 20) AS i WHERE n > 1
GROUP BY n, name, f ORDER BY n;
-- fail: no shape
SELECT bloom_add_all(f, '{1,2,3}'::int[]) FROM forms WHERE n = 1;

-- States that were kept by an aggregate without a final function, and stored:
-- they are values by their text and bytes, and states for other aggregates.
CREATE AGGREGATE pg_temp.kept(int) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
CREATE AGGREGATE pg_temp.kept(int, float8, float8) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
CREATE TEMPORARY TABLE states AS
SELECT n, pg_temp.kept(i) AS own, pg_temp.kept(i, 1000, 0.01) AS fixed
FROM (VALUES (1), (6), (7), (50), (60), (5000), (8000), (30000), (200000)) AS v (n), generate_series(1, 200000) AS i
WHERE i <= n GROUP BY n;
CREATE TEMPORARY TABLE finished AS SELECT n, own::text::bloom AS own, fixed::bytea::bloom AS fixed FROM states;
SELECT n, bloom_cardinality(f.own) = n AS own, s.own::bytea::bloom = f.own AS by_bytes, s.fixed::text::bloom = f.fixed AS fixed_by_text,
	   bloom_contains_all(f.own, ARRAY[1, n]) AND bloom_contains_all(f.fixed, ARRAY[1, n]) AS found
FROM states AS s JOIN finished AS f USING (n) ORDER BY n;
SELECT bloom_cardinality(bloom_union_agg(s.own)) AS own, bloom_cardinality(bloom_intersect_agg(f.own)) AS own_in_all,
	   bloom_union_agg(s.fixed) = (SELECT fixed FROM finished ORDER BY n DESC LIMIT 1) AS fixed
FROM states AS s JOIN finished AS f USING (n);
SELECT n, bloom_cardinality(w) AS keys, w @> n AS found
FROM (SELECT n, bloom_union_agg(own) OVER (ORDER BY n) AS w FROM states) AS s ORDER BY n;
SELECT n, bloom_add_all(fixed, array_agg(i)) @> 77 AS into_fixed, bloom_missing(own, '{1,-1}'::int[]) AS missing
FROM finished, generate_series(70, 80) AS i GROUP BY n, own, fixed ORDER BY n;
-- whatever else is done with them is refused, however they are stored; but their
-- bytes can be compared
ALTER TABLE states ADD COLUMN packed bloom, ADD COLUMN compressed bloom;
ALTER TABLE states ALTER compressed SET STORAGE extended;
UPDATE states SET packed = own, compressed = fixed;
SELECT call, array_agg(DISTINCT pg_temp.try(format('SELECT %s FROM states WHERE n = %s', replace(call, 'f', f), n))) AS results, count(*)
FROM states, (VALUES ('own'), ('fixed'), ('packed'), ('compressed')) AS c (f),
	 (VALUES ('f @> 1'), ('bloom_contains_any(f, ''{1}''::int[])'), ('bloom_add(f, 1)'), ('bloom_cardinality(f)'),
			 ('f = f'), ('bloom_union(f, f)'), ('bloom_add_all(f, ''{1}''::int[])'), ('bloom_intersect_agg(f)')) AS v (call)
GROUP BY call ORDER BY call COLLATE "C";

-- Partial states of every size into states of every size: hashes that wait in
-- either, lists that are appended, merged, or turned into bits, with and
-- without counts.  The result is what the values of both make.
CREATE AGGREGATE pg_temp.kept_counts(counting_bloom) (SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom);
CREATE TEMPORARY TABLE parts AS
SELECT n, c, pg_temp.kept(k, c, 0.01) AS state, bloom_agg(k, c, 0.01) AS value,
	   pg_temp.kept_counts(counting_bloom_add(counting_bloom_empty(c), k)) AS counted_state, counting_bloom_agg(k, c, 0.01) AS counted_value
FROM (VALUES (1), (8), (9), (30), (500), (3000), (20000)) AS v (n), (VALUES (1000), (20000), (1e6)) AS w (c),
	 LATERAL (SELECT (i * n / 7) % (n + n / 5 + 1) AS k FROM generate_series(1, n) AS i) AS keys
GROUP BY n, c;
SET client_min_messages = error;	-- more keys than the capacity
SELECT count(*) AS pairs,
	   count(*) FILTER (WHERE (SELECT bloom_union_agg(f ORDER BY o) FROM (VALUES (1, a.state), (2, b.state)) AS v (o, f)) <> a.value | b.value) AS differ,
	   count(*) FILTER (WHERE (SELECT bloom_union_agg(f ORDER BY o) FROM (VALUES (1, a.value), (2, b.state)) AS v (o, f)) <> a.value | b.value) AS into_value_differ,
	   count(*) FILTER (WHERE (SELECT counting_bloom_sum_agg(f ORDER BY o) FROM (VALUES (1, a.counted_state), (2, b.counted_state)) AS v (o, f)) <> a.counted_value + b.counted_value) AS counted_differ,
	   count(*) FILTER (WHERE (SELECT counting_bloom_sum_agg(f ORDER BY o) FROM (VALUES (1, a.counted_state), (2, b.counted_value)) AS v (o, f)) <> a.counted_value + b.counted_value) AS counted_of_value_differ
FROM parts AS a JOIN parts AS b USING (c);
RESET client_min_messages;
DROP TABLE parts;

-- By hand, no transition, combine or final function does anything.
SELECT count(*) AS functions, count(*) FILTER (WHERE result <> '55000') AS not_refused
FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	 JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid,
	 pg_temp.try(format('SELECT %s(%s)', proname,
		 array_to_string(array(SELECT 'NULL::' || format_type(t, NULL) FROM unnest(proargtypes) AS t), ', '))) AS result
WHERE extname = 'bloomtype' AND prokind = 'f' AND proname ~ '_(trans|combine|final)' AND proargtypes[0] = 'bloom'::regtype;

-- What was stored is as it was.
SELECT count(*) AS forms, count(*) FILTER (WHERE before = md5(f::bytea)) AS unchanged FROM forms;
DROP TABLE forms;

-- Chosen keys.  A filter in keys form of ascending small hashes, as anybody can
-- write one: everything that is done with it takes about as long as with
-- hashes that are spread.  (That it ends at all is the test: it took a minute.)
CREATE FUNCTION pg_temp.int8le(n bigint) RETURNS bytea LANGUAGE sql AS
$$
	SELECT string_agg(substr(int8send(n), i, 1), '' ORDER BY i DESC) FROM generate_series(1, 8) AS i
$$;
CREATE FUNCTION pg_temp.crafted(n int) RETURNS bloom LANGUAGE sql AS
$$
	SELECT (substr(h, 1, 36) || pg_temp.int8le(n) || string_agg(pg_temp.int8le(i), '' ORDER BY i))::bloom
	FROM generate_series(1, n) AS i, (SELECT bloom_add(bloom_empty(400000000), 1)::bytea AS h) AS s GROUP BY h
$$;
CREATE TEMPORARY TABLE crafted AS SELECT pg_temp.crafted(300000) AS f;
SELECT bloom_cardinality(f) AS keys, bloom_cardinality(bloom_add_all(f, '{1,2}'::bigint[])) AS added FROM crafted;
SELECT bloom_cardinality(bloom_union_agg(f)) AS united FROM (SELECT f FROM crafted UNION ALL SELECT bloom_add(bloom_empty(400000000), 2) UNION ALL SELECT f FROM crafted) AS s;

-- A state has no byte that is not its own: two of the same keys, made in
-- different memory, are equal byte for byte.
CREATE AGGREGATE pg_temp.state_of(int4, float8, float8) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
CREATE AGGREGATE pg_temp.counting_state_of(counting_bloom) (SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom);
SELECT n, (SELECT record_image_eq(ROW(pg_temp.state_of(i, 1000, 0.01)), ROW(pg_temp.state_of(0 + i, 1000, 0.01))) FROM generate_series(1, n) AS i) AS same,
	   (SELECT record_image_eq(ROW(pg_temp.counting_state_of(counting_bloom_add(counting_bloom_empty(1000), i))), ROW(pg_temp.counting_state_of(counting_bloom_add(counting_bloom_empty(1000), 0 + i)))) FROM generate_series(1, n) AS i) AS counting
FROM (VALUES (1), (2), (5), (20), (100), (600), (1000)) AS v (n);

-- A state that only a superuser's cast can make up: 3.6 billion hashes that wait,
-- in 124 bytes.  It is refused before memory for them is asked for.
CREATE FUNCTION pg_temp.bytes_of(bloom, bytea) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION pg_temp.bloom_of(bytea, bytea) RETURNS bloom LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE TEMPORARY TABLE made_up AS SELECT pg_temp.bytes_of(pg_temp.kept(1, 1000, 0.01), '') AS b;
SELECT pg_temp.bloom_of(b, '')::text::bloom = bloom_add(bloom_empty(1000), 1) AS as_it_was FROM made_up;
SELECT pg_temp.bloom_of(overlay(b PLACING '\xd7d7d7d7' FROM length(b) - 7), '')::text FROM made_up;
SELECT pg_temp.bloom_of(overlay(b PLACING '\xffffff7f' FROM length(b) - 3), '')::text FROM made_up;
