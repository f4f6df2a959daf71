--
-- Aggregates: bloom_agg, bloom_union_agg, bloom_intersect_agg
--

CREATE TEMPORARY TABLE t AS
SELECT i, i % 5 AS g, CASE WHEN i % 7 <> 0 THEN i END AS k FROM generate_series(1, 1000) AS i;

-- Each overload, in each of its forms: the keys that were added, no others
-- than at the rate, and the key type.
CREATE FUNCTION pg_temp.overload(type text) RETURNS TABLE (key_type text, forms int, keys_found bigint, union_of_forms boolean)
LANGUAGE plpgsql AS
$$
BEGIN
	RETURN QUERY EXECUTE replace($sql$
		WITH keys AS (
			SELECT CASE 'KEYTYPE'
				WHEN 'uuid' THEN md5(i::text)
				WHEN 'date' THEN ('2000-01-01'::date + i)::text
				WHEN 'time' THEN ('00:00'::time + i * interval '1 second')::text
				WHEN 'timestamp' THEN ('2000-01-01'::timestamp + i * interval '1 second')::text
				WHEN 'timestamptz' THEN ('2000-01-01'::timestamptz + i * interval '1 second')::text
				WHEN 'inet' THEN '10.0.0.' || i
				WHEN 'int4range' THEN format('[%s,%s)', i, i + 3)
				WHEN 'int[]' THEN format('{%s,%s}', i, i + 3)
				ELSE i::text END::KEYTYPE AS k
			FROM generate_series(1, 100) AS i
		), filters AS (
			SELECT bloom_agg(k, 100, 0.01) AS fixed,
				   bloom_union_agg(bloom_add(bloom_empty(100), k)) AS into_empty,
				   bloom_agg(k) AS own, bloom_agg(k, 0.01) AS own_rate
			FROM keys
		)
		SELECT (bloom_info(fixed)).key_type,
			   (fixed = into_empty)::int + (fixed = own)::int + (fixed = own_rate)::int + 1,
			   count(*) FILTER (WHERE fixed @> k AND into_empty @> k AND own @> k AND own_rate @> k),
			   (fixed | into_empty | own | own_rate) = fixed
		FROM keys, filters
		GROUP BY fixed, into_empty, own, own_rate
		$sql$, 'KEYTYPE', type);
END
$$;
SELECT type, o.*
FROM unnest('{int2,int4,int8,text,uuid,bytea,numeric,float8,date,timestamp,timestamptz,
			  varchar,char(5),name,float4,time,inet,int[],int4range,jsonb,interval}'::text[])
	 WITH ORDINALITY AS u (type, n), pg_temp.overload(type) AS o
ORDER BY n;
SELECT (bloom_info(bloom_agg(b))).key_type, bloom_cardinality(bloom_agg(b)) AS keys
FROM (VALUES (true), (false), (NULL)) AS v (b);

-- Over no rows, an empty filter that combines with any, so that NOT f @> key
-- keeps every row; over nulls alone, an empty filter of the shape.
SELECT (i).*, bloom_cardinality(f) = 0 AS is_empty, f IS NULL AS is_null
FROM (SELECT bloom_agg(k) AS f FROM t WHERE false) AS s, bloom_info(f) AS i;
SELECT count(*) AS rows, count(*) FILTER (WHERE NOT f @> i) AS kept
FROM t, (SELECT bloom_agg(k) AS f FROM t WHERE false) AS s;
SELECT count(*) AS forms, bool_and(bloom_cardinality(f) = 0) AS empty
FROM (SELECT bloom_agg(k, 0.1) AS f FROM t WHERE false
	  UNION ALL SELECT bloom_agg(k, 10, 0.1) FROM t WHERE false
	  UNION ALL SELECT bloom_add_all(bloom_empty(10), array_agg(k)) FROM t WHERE false
	  UNION ALL SELECT bloom_agg(k::text::inet) FROM t WHERE false
	  UNION ALL SELECT bloom_agg(k = 1, 10, 0.1) FROM t WHERE false
	  UNION ALL SELECT bloom_union_agg(NULL) FROM t) AS s;
SELECT (bloom_info(bloom_agg(NULL::int, 10, 0.01))).bits AS fixed,
	   bloom_add_all(bloom_empty(10), array_agg(NULL::int)) = bloom_empty(10) AS into_empty,
	   bloom_add_all(bloom_add(bloom_empty(10), 1), array_agg(NULL::int)) = bloom_add(bloom_empty(10), 1) AS into_one,
	   (bloom_info(bloom_agg(NULL::bool, 10, 0.01))).bits AS fixed_any,
	   bloom_cardinality(bloom_agg(NULL::int)) = 0 AS own
FROM t;

-- NULLs, DISTINCT, ORDER BY, FILTER change nothing that they should not.
SELECT bloom_agg(k) = bloom_agg(DISTINCT k) AS distinct_keys,
	   bloom_agg(k) = bloom_agg(k ORDER BY k DESC) AS ordered,
	   bloom_agg(k) = bloom_agg(k ORDER BY md5(i::text)) AS shuffled,
	   bloom_agg(k)::text = bloom_agg(k ORDER BY md5(i::text))::text AS shuffled_text,
	   bloom_agg(k) = bloom_agg(i) FILTER (WHERE i % 7 <> 0) AS filtered,
	   bloom_agg(k, 1000, 0.01) = bloom_agg(DISTINCT k, 1000, 0.01) AS distinct_keys_fixed,
	   bloom_agg(k, 1000, 0.01) = bloom_agg(k, 1000, 0.01 ORDER BY i DESC) AS ordered_fixed
FROM t;

-- Each group by itself, sorted and hashed, with an aggregate beside it.
SET enable_hashagg = off;
CREATE TEMPORARY TABLE sorted AS
SELECT g, bloom_agg(k) AS own, bloom_agg(k, 500, 0.01) AS fixed, bloom_agg(k = 1) AS internal, count(k) FROM t GROUP BY g;
SET enable_hashagg = on;
SET enable_sort = off;
CREATE TEMPORARY TABLE hashed AS
SELECT g, bloom_agg(k) AS own, bloom_agg(k, 500, 0.01) AS fixed, bloom_agg(k = 1) AS internal, count(k) FROM t GROUP BY g;
RESET enable_sort;
RESET enable_hashagg;
SELECT g, s.count, s.own = h.own AS own, s.fixed = h.fixed AS fixed, s.internal = h.internal AS internal,
	   (SELECT count(*) FROM t WHERE t.g = s.g AND s.own @> k AND s.fixed @> k) AS found
FROM sorted AS s JOIN hashed AS h USING (g)
ORDER BY g;

-- GROUPING SETS, HAVING
SELECT g, i % 2 AS odd, count(k), (SELECT count(*) FROM t AS t2
	   WHERE bloom_agg(t.k) @> t2.k AND (t.g IS NULL OR t2.g = t.g)) >= count(k) AS found
FROM t
GROUP BY GROUPING SETS ((g), (i % 2), ())
HAVING bloom_agg(k) @> 1
ORDER BY g, odd;

-- Merging by groups gives the filter of the whole.
SELECT bloom_union_agg(fixed) = (SELECT bloom_agg(k, 500, 0.01) FROM t) AS equals_whole FROM sorted;
SELECT bloom_union_agg(f) = bloom_agg(1, 1000, 0.01) AS nulls_ignored
FROM (VALUES (NULL), ((SELECT bloom_agg(1, 1000, 0.01))), (NULL)) AS v (f);
SELECT bloom_union_agg(f) @> 1 AS with_shapeless
FROM (SELECT bloom_agg(i) AS f FROM generate_series(1, 0) AS i
	  UNION ALL SELECT bloom_agg(i, 10, 0.01) FROM generate_series(1, 1) AS i
	  UNION ALL SELECT bloom_agg(i) AS f FROM generate_series(1, 0) AS i) AS s;
SELECT bloom_intersect_agg(f) @> 5 AS in_all, bloom_cardinality(bloom_intersect_agg(f)) AS keys,
	   bloom_intersect_agg(f) FILTER (WHERE false) IS NULL AS null_over_none
FROM (SELECT bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, 10) AS n, generate_series(n, 10) AS i WHERE n <= 5 GROUP BY n) AS s;
-- the inputs are as before
CREATE TEMPORARY TABLE stored AS SELECT g, fixed AS f, md5(fixed::bytea) AS before FROM sorted;
SELECT bloom_cardinality(bloom_union_agg(f)) > 0 AS union, bloom_intersect_agg(f) IS NOT NULL AS intersection,
	   bool_and(bloom_add(f, g) IS NOT NULL) AS added
FROM stored WHERE g = 1;
SELECT count(*) AS filters, count(*) FILTER (WHERE md5(f::bytea) = before) AS unchanged FROM stored;

-- One WARNING for all groups of an aggregate that holds more than its capacity.
SELECT g, bloom_agg(k, 10, 0.01) IS NOT NULL AS warned FROM t GROUP BY g ORDER BY g;
-- none, at capacity: the estimate is a little more than the capacity at times
SELECT count(*) AS filters, count(f) AS not_null
FROM (SELECT bloom_agg(i * 1000 + n, 200, 0.01) AS f
	  FROM generate_series(1, 300) AS n, generate_series(1, 200) AS i GROUP BY n) AS s;
-- nor for a filter that sizes itself
SELECT (bloom_info(bloom_agg(i))).capacity AS own FROM generate_series(1, 3000) AS i;

-- Keys that are untyped need a cast: no form of bloom_agg is for a preferred type.
SELECT bloom_agg('a'::text) @> 'a' AS own, bloom_agg('a'::text, 0.01) @> 'a' AS with_rate, bloom_agg('a'::text, 10, 0.01) @> 'a' AS with_capacity,
	   bloom_cardinality(bloom_agg(NULL::text)) = 0 AS null_own, bloom_cardinality(bloom_agg(NULL::text, 10, 0.01)) = 0 AS null_with_capacity;
PREPARE typed AS SELECT bloom_agg($1::text) @> 'a' AS own, bloom_agg($2::text, 10, 0.01) @> 'a' AS with_capacity;
EXECUTE typed('a', 'a');
-- fail: no type
\set VERBOSITY sqlstate
SELECT bloom_agg('a');
SELECT bloom_agg(NULL);
SELECT bloom_agg('a', 0.01);
SELECT bloom_agg('a', 10, 0.01);
PREPARE failing AS SELECT bloom_agg($1);
PREPARE failing AS SELECT bloom_agg($1, 10, 0.01);
\set VERBOSITY default
-- Of the same keys, each form builds the same filter.
SELECT bloom_agg(i::int2, 0.01) = bloom_agg(i::int2) AS smallint,
	   bloom_agg(i, 0.01) = bloom_agg(i) AS integer,
	   bloom_agg(i::int8, 0.01) = bloom_agg(i::int8) AS bigint,
	   bloom_agg(i::text, 0.01) = bloom_agg(i::text) AS text,
	   bloom_agg(i::text::varchar, 0.01) = bloom_agg(i::text::varchar) AS varchar,
	   bloom_agg(i::text::char(5), 0.01) = bloom_agg(i::text::char(5)) AS "char(5)",
	   bloom_agg(i::text::name, 0.01) = bloom_agg(i::text::name) AS name,
	   bloom_agg(md5(i::text)::uuid, 0.01) = bloom_agg(md5(i::text)::uuid) AS uuid,
	   bloom_agg(i::text::bytea, 0.01) = bloom_agg(i::text::bytea) AS bytea,
	   bloom_agg(i / 7.0, 0.01) = bloom_agg(i / 7.0) AS "numeric",
	   bloom_agg(i / 7.0::float8, 0.01) = bloom_agg(i / 7.0::float8) AS "double",
	   bloom_agg(i::float4 / 7, 0.01) = bloom_agg(i::float4 / 7) AS "real",
	   bloom_agg('2026-01-01'::date + i, 0.01) = bloom_agg('2026-01-01'::date + i) AS date,
	   bloom_agg('2026-01-01'::timestamp + i * interval '1 s', 0.01) = bloom_agg('2026-01-01'::timestamp + i * interval '1 s') AS "timestamp",
	   bloom_agg('2026-01-01 0:00+0'::timestamptz + i * interval '1 s', 0.01) = bloom_agg('2026-01-01 0:00+0'::timestamptz + i * interval '1 s') AS "timestamptz",
	   bloom_agg((i + 31)::"char", 0.01) = bloom_agg((i + 31)::"char") AS "char"
FROM generate_series(1, 90) AS i \gx

-- State functions are for aggregates only.
\set VERBOSITY sqlstate
SELECT _bloom_agg_trans_int4(NULL, 1);
SELECT _bloom_agg_trans_int4(bloom_empty(10), 1);
SELECT _bloom_agg_collect_combine(bloom_empty(10), bloom_empty(10));
SELECT _bloom_agg_final(bloom_empty(10));
SELECT _bloom_agg_fit_final(bloom_empty(10));
SELECT _bloom_union_agg_trans(bloom_empty(10), bloom_empty(10));
SELECT _bloom_intersect_agg_trans(bloom_empty(10), bloom_empty(10));
\set VERBOSITY default

-- An aggregate of our functions without a final one returns its state, which
-- leaves the server as a value.
CREATE AGGREGATE pg_temp.unfinished(int) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
SELECT n, bloom_contains_all(f, ARRAY(SELECT generate_series(1, n))) AS no_false_negatives,
	   bloom_cardinality(f) AS keys, state::bytea::bloom = f AS by_bytes
FROM (VALUES (1), (10), (100), (70000)) AS v (n),
	 LATERAL (SELECT pg_temp.unfinished(i) AS state FROM generate_series(1, n) AS i) AS s,
	 LATERAL (SELECT state::text::bloom AS f) AS t;
-- fail: a state is no value
SELECT pg_temp.unfinished(i) @> 1 AS found FROM generate_series(1, 10) AS i;

-- One that begins with a value: with a filter of a shape, as by
-- bloom_add_all(filter, array_agg(key)); without one, keys have no place.
CREATE AGGREGATE pg_temp.from_empty(int, float8, float8) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom,
	INITCOND = 'AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAAA=');
SELECT pg_temp.from_empty(i, 1, 0.5)::text::bloom = bloom_add_all(bloom_empty(1000), array_agg(i)) AS equal FROM generate_series(1, 1000) AS i;
CREATE AGGREGATE pg_temp.from_shapeless(int, float8, float8) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom,
	INITCOND = 'AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=');
SELECT pg_temp.from_shapeless(i, 10, 0.01) FROM generate_series(1, 10) AS i;
