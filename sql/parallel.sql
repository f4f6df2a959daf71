--
-- Parallel plans: the filter of a serial plan
--

CREATE TABLE parallel_keys AS
SELECT i AS k, i % 1000 AS few, md5(i::text) AS t, ((i % 3) || '.5')::numeric AS n
FROM generate_series(1, 100000) AS i;
INSERT INTO parallel_keys VALUES (NULL, NULL, NULL, NULL);
ANALYZE parallel_keys;

CREATE VIEW parallel_filters AS
SELECT bloom_agg(k) AS own, bloom_agg(k, 0.001) AS own_rate, bloom_agg(k, 100000, 0.01) AS fixed,
	   bloom_agg(few) AS few, bloom_agg(few, 10000000, 0.01) AS sparse,
	   bloom_agg(t) AS text, bloom_agg(n) AS numeric
FROM parallel_keys;

SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial_result AS SELECT * FROM parallel_filters;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

SET max_parallel_workers_per_gather = 2;
ALTER TABLE parallel_keys SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT bloom_agg(k), bloom_agg(k, 1000, 0.01), bloom_union_agg(bloom_empty(k)) FROM parallel_keys;
CREATE TABLE parallel_result_2 AS SELECT * FROM parallel_filters;

SET max_parallel_workers_per_gather = 4;
ALTER TABLE parallel_keys SET (parallel_workers = 4);
CREATE TABLE parallel_result_4 AS SELECT * FROM parallel_filters;

SELECT s.own = p2.own AS own_2, s.own = p4.own AS own_4, s.own::text = p4.own::text AS own_text,
	   s.own_rate = p2.own_rate AS own_rate_2, s.own_rate = p4.own_rate AS own_rate_4,
	   s.fixed = p2.fixed AS fixed_2, s.fixed = p4.fixed AS fixed_4, s.fixed::text = p4.fixed::text AS fixed_text
FROM serial_result AS s, parallel_result_2 AS p2, parallel_result_4 AS p4;
SELECT s.few = p2.few AS few_2, s.few = p4.few AS few_4, s.sparse = p2.sparse AS sparse_2, s.sparse = p4.sparse AS sparse_4,
	   s.sparse::text = p4.sparse::text AS sparse_text, s.text = p2.text AS text_2, s.text = p4.text AS text_4,
	   s.numeric = p4.numeric AS numeric_4
FROM serial_result AS s, parallel_result_2 AS p2, parallel_result_4 AS p4;
SELECT (bloom_info(own)).capacity AS own, (bloom_info(few)).capacity AS few, bloom_cardinality(sparse) AS sparse,
	   (bloom_info(text)).capacity AS text, bloom_cardinality(numeric) AS numeric
FROM parallel_result_4;

-- The number of each kind's false negatives.
SELECT count(*) FILTER (WHERE NOT own @> k) AS own, count(*) FILTER (WHERE NOT fixed @> k) AS fixed,
	   count(*) FILTER (WHERE NOT r.few @> p.few) AS few, count(*) FILTER (WHERE NOT sparse @> p.few) AS sparse,
	   count(*) FILTER (WHERE NOT text @> t) AS text, count(*) FILTER (WHERE NOT numeric @> n) AS numeric
FROM parallel_keys AS p, parallel_result_4 AS r;

-- Shuffled input: the same filter, which prints alike.
CREATE TABLE shuffled AS SELECT * FROM parallel_keys ORDER BY md5(k::text || 'shuffled');
SET max_parallel_workers_per_gather = 0;
SELECT s.own = r.own AS own, s.own::text = r.own::text AS own_text,
	   s.fixed = r.fixed AS fixed, s.fixed::text = r.fixed::text AS fixed_text,
	   s.sparse::text = r.sparse::text AS sparse_text
FROM serial_result AS r,
	 (SELECT bloom_agg(k) AS own, bloom_agg(k, 100000, 0.01) AS fixed, bloom_agg(few, 10000000, 0.01) AS sparse
	  FROM shuffled) AS s;
SET max_parallel_workers_per_gather = 4;

-- Workers that see no row at all; groups; a table without rows.
SELECT bloom_agg(k) = bloom_agg(1) AS of_one_row FROM parallel_keys WHERE k = 1;
SELECT bloom_cardinality(bloom_agg(k)) = 0 AS of_no_row, bloom_cardinality(bloom_agg(k, 10, 0.01)) = 0 AS of_no_row_fixed
FROM parallel_keys WHERE k < 0;
SELECT count(*) AS groups, bool_and(bloom_contains_all(f, keys) AND cardinality(keys) = 100) AS no_false_negatives,
	   bool_and(capacity = 100) AS sized
FROM (SELECT few, bloom_agg(k) AS f, (bloom_info(bloom_agg(k))).capacity, array_agg(k) AS keys
	  FROM parallel_keys WHERE k IS NOT NULL GROUP BY few) AS s;

-- The union and intersection of stored filters, in parallel.
CREATE TABLE stored_filters AS
SELECT few % 100 AS part, bloom_agg(k, 100000, 0.01) AS f FROM parallel_keys WHERE k IS NOT NULL GROUP BY 1;
ALTER TABLE stored_filters SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT bloom_union_agg(f), bloom_intersect_agg(f) FROM stored_filters;
SELECT bloom_union_agg(f) = fixed AS union_is_whole, bloom_cardinality(bloom_intersect_agg(f)) = 0 AS nothing_common
FROM stored_filters, serial_result
GROUP BY fixed;

DROP VIEW parallel_filters;
DROP TABLE parallel_keys, serial_result, parallel_result_2, parallel_result_4, shuffled, stored_filters;

-- A filter for each partition, merged at the end.
CREATE TABLE parts (k int) PARTITION BY RANGE (k);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (5000) TO (20000);
INSERT INTO parts SELECT i FROM generate_series(0, 19999) AS i;
ANALYZE parts;
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT bloom_agg(k, 20000, 0.01), bloom_agg(k) FROM parts;
SELECT bloom_agg(k, 20000, 0.01) = (SELECT bloom_agg(i, 20000, 0.01) FROM generate_series(0, 19999) AS i) AS in_parts,
	   bloom_agg(k) = (SELECT bloom_agg(i) FROM generate_series(0, 19999) AS i) AS self_sized
FROM parts;
DROP TABLE parts;

-- Keys of every kind: the states of polymorphic forms are combined as well.
CREATE TABLE every (i int, b bool, i2 int2, i8 int8, f4 float4, f8 float8, n numeric, c "char", bc char(8), v varchar, na name, by bytea,
	u uuid, d date, t time, ttz timetz, ts timestamp, tz timestamptz, iv interval, ip inet, m macaddr, bi bit(8), o oid, l pg_lsn, x xid8,
	j jsonb, a int[], r int4range, p money);
INSERT INTO every SELECT i, i % 2 = 0, i % 30000, i, i / 7.0, i / 7.0, i / 7.0, chr(65 + i % 50)::"char", 'c' || i, 'v' || i, 'n' || i, i::text::bytea,
	md5(i::text)::uuid, date '2026-01-01' + i, time '00:00' + i * interval '1 s', timetz '00:00+00' + i * interval '1 s',
	timestamp '2026-01-01' + i * interval '1 s', timestamptz '2026-01-01' + i * interval '1 s', i * interval '1 s', inet '10.0.0.0' + i,
	('08002b' || lpad(to_hex(i), 6, '0'))::macaddr, (i % 256)::bit(8), i, ('0/' || to_hex(i))::pg_lsn, i::text::xid8,
	jsonb_build_object('i', i), ARRAY[i, 1], int4range(i, i + 3), i::money
FROM generate_series(1, 5000) AS i;
ALTER TABLE every SET (parallel_workers = 2);
ANALYZE every;
SET client_min_messages = error;	-- more keys than the capacity
DO $$
DECLARE
	form text;
	columns text[] := ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = 'every'::regclass AND attnum > 0 ORDER BY attnum);
	query text;
	serial text[];
	parallel text[];
	plan json;
	n int := 0;
BEGIN
	FOREACH form IN ARRAY '{bloom_agg(%I),"bloom_agg(%I, 0.001)","bloom_agg(%I, 2000, 0.01)","counting_bloom_agg(%I, 2000, 0.01)","counting_bloom_agg(%I, 20000, 0.01)"}'::text[]
	LOOP
		query := 'SELECT ARRAY[' || (SELECT string_agg(format(form, c) || '::text', ', ') FROM unnest(columns) AS c) || '] FROM every';
		SET LOCAL max_parallel_workers_per_gather = 0;
		EXECUTE query INTO serial;
		SET LOCAL max_parallel_workers_per_gather = 2;
		EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
		EXECUTE query INTO parallel;
		ASSERT plan::text LIKE '%"Partial Mode": "Partial"%', form;
		FOR i IN 1 .. cardinality(columns) LOOP
			ASSERT parallel[i] = serial[i], format(form, columns[i]);
			n := n + 1;
		END LOOP;
	END LOOP;
	RAISE INFO '% aggregates', n;
END
$$;
RESET client_min_messages;
DROP TABLE every;

-- the types that have forms of their own, and those that could be taken for them
SELECT key, (bloom_info(f)).key_type
FROM (SELECT 'int2' AS key, bloom_agg(1::int2) AS f UNION ALL SELECT 'oid', bloom_agg(1::oid) UNION ALL SELECT 'regclass', bloom_agg('pg_class'::regclass)
	UNION ALL SELECT 'float4', bloom_agg(1::float4) UNION ALL SELECT 'numeric', bloom_agg(1.0) UNION ALL SELECT 'money', bloom_agg(1::money)
	UNION ALL SELECT '"char"', bloom_agg('a'::"char") UNION ALL SELECT 'name', bloom_agg('a'::name) UNION ALL SELECT 'char(1)', bloom_agg('a'::char(1))
	UNION ALL SELECT 'varchar', bloom_agg('a'::varchar) UNION ALL SELECT 'text', bloom_agg('a'::text) UNION ALL SELECT 'bytea', bloom_agg('a'::bytea) UNION ALL SELECT 'bool', bloom_agg(true)
	UNION ALL SELECT 'date', bloom_agg(date '2026-01-01') UNION ALL SELECT 'time', bloom_agg(time '00:00') UNION ALL SELECT 'timestamp', bloom_agg(timestamp '2026-01-01')
	UNION ALL SELECT 'timestamptz', bloom_agg(timestamptz '2026-01-01')) AS s;
