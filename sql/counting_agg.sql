--
-- counting_bloom: aggregates
--

-- What an aggregate makes is what adding one key after the other makes, to the
-- byte: empty batches, full ones, lists that grow, and the turn to counters.
SET client_min_messages = error;
SELECT n, modulus, agg::text = added::text AS same, (counting_bloom_info(agg)).representation AS form
FROM (SELECT n, modulus, counting_bloom_agg(i % modulus, 1000, 0.01) AS agg,
			 counting_bloom_add_all(counting_bloom_empty(1000), array_agg(i % modulus)) AS added
	  FROM (VALUES (1, 10), (7, 10), (8, 10), (9, 3), (100, 100), (156, 1000), (157, 1000), (158, 1000),
				   (1000, 20), (5000, 156), (5000, 157), (20000, 3000)) AS v (n, modulus),
		   generate_series(1, n) AS i
	  GROUP BY n, modulus) AS s
ORDER BY n, modulus;
RESET client_min_messages;

-- One for each type of key, and for any other.
CREATE TEMPORARY TABLE keys AS
SELECT i % 50 AS i, (i % 50)::text AS t, md5((i % 50)::text)::uuid AS u FROM generate_series(1, 120) AS i;
SELECT bool_and(int2 @> i::int2), bool_and(int4 @> i), bool_and(int8 @> i::int8), bool_and(text @> t), bool_and(uuid @> u),
	   bool_and(bytea @> t::bytea), bool_and(num @> i::numeric), bool_and(float @> i::float8),
	   bool_and(date @> '2000-01-01'::date + i), bool_and(ts @> '2000-01-01'::timestamp + i * interval '1 hour'),
	   bool_and(tstz @> '2000-01-01 0:00+0'::timestamptz + i * interval '1 hour'), bool_and(array_ @> ARRAY[i]),
	   bool_and(row_ @> (i, t)), bool_and(bool @> (i > 10))
FROM keys, (SELECT counting_bloom_agg(i::int2, 50, 0.01) AS int2, counting_bloom_agg(i, 50, 0.01) AS int4,
				   counting_bloom_agg(i::int8, 50, 0.01) AS int8, counting_bloom_agg(t, 50, 0.01) AS text,
				   counting_bloom_agg(u, 50, 0.01) AS uuid, counting_bloom_agg(t::bytea, 50, 0.01) AS bytea,
				   counting_bloom_agg(i::numeric, 50, 0.01) AS num, counting_bloom_agg(i::float8, 50, 0.01) AS float,
				   counting_bloom_agg('2000-01-01'::date + i, 50, 0.01) AS date,
				   counting_bloom_agg('2000-01-01'::timestamp + i * interval '1 hour', 50, 0.01) AS ts,
				   counting_bloom_agg('2000-01-01 0:00+0'::timestamptz + i * interval '1 hour', 50, 0.01) AS tstz,
				   counting_bloom_agg(ARRAY[i], 50, 0.01) AS array_, counting_bloom_agg((i, t), 50, 0.01) AS row_,
				   counting_bloom_agg(i > 10, 50, 0.01) AS bool
			FROM keys) AS f;

-- Nulls, no rows, FILTER, DISTINCT.
SELECT counting_bloom_agg(NULL::int, 1000, 0.01)::text = counting_bloom_empty(1000)::text AS only_null;
SELECT (counting_bloom_info(counting_bloom_agg(i, 1000, 0.01))).* FROM generate_series(1, 0) AS i;
SELECT (counting_bloom_info(counting_bloom_sum_agg(NULL::counting_bloom))).representation;
SELECT counting_bloom_count(counting_bloom_agg(i, 100, 0.01), 7) AS thrice, counting_bloom_count(counting_bloom_agg(DISTINCT i, 100, 0.01), 7) AS once,
	   counting_bloom_count(counting_bloom_agg(i, 100, 0.01) FILTER (WHERE i <> 7), 7) AS never FROM keys;
-- what no rows make adds to all, and takes nothing
SELECT none + f = f AS left_none, f + none = f AS right_none, (none + none)::text = none::text AS both,
	   none @> 1 AS contains, counting_bloom_remove(none, 1)::text = none::text AS removed, (none::bloom)::text = (SELECT bloom_agg(i)::text FROM generate_series(1, 0) AS i) AS cast
FROM (SELECT counting_bloom_agg(i, 1000, 0.01) FILTER (WHERE i < 0) AS f, counting_bloom_sum_agg(NULL::counting_bloom) AS none FROM keys) AS s;
SELECT counting_bloom_add(counting_bloom_sum_agg(NULL::counting_bloom), 1);

-- Running windows: a state that was published goes on.
SELECT count(*), bool_and(counting_bloom_count(f, 1) = least((n + 2) / 3, 15)) AS counts, bool_and(f::bloom = g) AS casts
FROM (SELECT row_number() OVER w AS n, counting_bloom_agg(i % 3, 100, 0.01) OVER w AS f, bloom_agg(i % 3, 100, 0.01) OVER w AS g
	  FROM generate_series(1, 300) AS i WINDOW w AS (ORDER BY i)) AS s;
SELECT count(*), bool_and(f = g) AS sums, bool_and(h) AS any_type
FROM (SELECT counting_bloom_agg(i, 1000, 0.01) OVER w AS f, counting_bloom_sum_agg(counting_bloom_add(counting_bloom_empty(1000), i)) OVER w AS g,
			 counting_bloom_agg(ARRAY[i], 1000, 0.01) OVER w @> ARRAY[i] AS h
	  FROM generate_series(1, 400) AS i WINDOW w AS (ORDER BY i)) AS s;
SELECT bool_and(f @> i AND f @> i - 2 AND (counting_bloom_info(f)).keys = 3) AS moving_frame
FROM (SELECT i, counting_bloom_agg(i, 1000, 0.01) OVER (ORDER BY i ROWS 2 PRECEDING) AS f FROM generate_series(1, 100) AS i) AS s WHERE i > 2;

-- Parallel plans, large states, many groups: the same filter to the byte.
CREATE TABLE counting_rows AS SELECT i AS k, i % 10 AS g, i % 7 AS hot FROM generate_series(1, 60000) AS i;
ANALYZE counting_rows;
CREATE TEMPORARY TABLE serial AS
SELECT counting_bloom_agg(k, 60000, 0.01) AS f, counting_bloom_agg(hot, 60000, 0.01) AS hot, counting_bloom_agg(k::text, 200000, 0.01) AS text,
	   counting_bloom_agg(k, 400000, 0.01) AS large
FROM counting_rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT counting_bloom_agg(k, 60000, 0.01) FROM counting_rows;
SELECT p.f::text = s.f::text AS f, p.hot::text = s.hot::text AS hot, p.text::text = s.text::text AS text, p.large::text = s.large::text AS large
FROM serial AS s, (SELECT counting_bloom_agg(k, 60000, 0.01) AS f, counting_bloom_agg(hot, 60000, 0.01) AS hot,
						  counting_bloom_agg(k::text, 200000, 0.01) AS text, counting_bloom_agg(k, 400000, 0.01) AS large FROM counting_rows) AS p;
CREATE TABLE counting_parts AS SELECT g, counting_bloom_agg(k, 60000, 0.01) AS f FROM counting_rows GROUP BY g;
SELECT counting_bloom_sum_agg(p.f)::text = s.f::text AS sum, counting_bloom_sum_agg(p.f)::bloom = (SELECT bloom_agg(k, 60000, 0.01) FROM counting_rows) AS cast
FROM counting_parts AS p, serial AS s GROUP BY s.f;
RESET max_parallel_workers_per_gather;
SELECT count(*) AS groups, bool_and(counting_bloom_count(f, g) = 6) AS counts
FROM (SELECT k % 10000 AS g, counting_bloom_agg(k % 10000, 100, 0.01) AS f FROM counting_rows GROUP BY k % 10000) AS s;

-- More keys than the capacity: a WARNING.
SELECT (counting_bloom_info(counting_bloom_agg(i, 100, 0.01))).fill > 0.5 AS overfull FROM generate_series(1, 1000) AS i;

-- fail: parameters, types, shapes; here, and not in a worker
SET max_parallel_workers_per_gather = 0;
SELECT counting_bloom_agg(i, 0, 0.01) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(i, 'NaN', 0.01) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(i, 1e9, 0.01) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(i, 10, 1) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(i, NULL, 0.01) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(i, 10, NULL) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_agg(point(i, i), 10, 0.01) FROM generate_series(1, 3) AS i;
SELECT counting_bloom_sum_agg(counting_bloom_empty(i)) FROM generate_series(10, 1000, 500) AS i;
SELECT _counting_bloom_union_agg_trans(f, f) FROM counting_parts;
SELECT _counting_bloom_agg_final(f) FROM counting_parts;

-- Whoever makes aggregates of these functions gets right answers or errors:
-- values where states are expected, stored in every way, and the reverse.
CREATE AGGREGATE pg_temp.sum_of_values(counting_bloom) (SFUNC = counting_bloom_sum, STYPE = counting_bloom, FINALFUNC = _counting_bloom_agg_final);
CREATE AGGREGATE pg_temp.combined(counting_bloom) (SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom);
CREATE TEMPORARY TABLE hostile (name text, f counting_bloom);
INSERT INTO hostile SELECT 'state', pg_temp.combined(counting_bloom_add(counting_bloom_empty(1000), i)) FROM generate_series(1, 5) AS i;
INSERT INTO hostile SELECT 'counters', pg_temp.combined(counting_bloom_add(counting_bloom_empty(1000), i)) FROM generate_series(1, 1000) AS i;
INSERT INTO hostile SELECT 'value', counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 5) AS i;
INSERT INTO hostile SELECT 'large', pg_temp.combined(f) FROM (SELECT counting_bloom_agg(i, 300000, 0.01) AS f FROM generate_series(1, 300000) AS i GROUP BY i % 2) AS s;
CREATE TEMPORARY TABLE hostile_compressed (LIKE hostile);
ALTER TABLE hostile_compressed ALTER f SET STORAGE extended;
INSERT INTO hostile_compressed SELECT name || ', compressed', f FROM hostile;
INSERT INTO hostile SELECT * FROM hostile_compressed;
SELECT name, bytes::counting_bloom = f AS by_bytes, f @> 1 AND 1 <@ f AS contains, counting_bloom_count(f, 1) AS count, counting_bloom_remove(f, 1) @> 1 AS removed,
	   counting_bloom_count(counting_bloom_add(f, 1), 1) AS added, counting_bloom_count(f + f, 1) = 2 * counting_bloom_count(f, 1) AS sums, f::bloom @> 1 AS cast, (counting_bloom_info(f)).keys,
	   _counting_bloom_hash(f) = _counting_bloom_hash(f::bytea::counting_bloom) AS hash
FROM (SELECT name, f::text::counting_bloom AS f, f::bytea AS bytes FROM hostile) AS s ORDER BY name COLLATE "C";
SELECT name, counting_bloom_count(pg_temp.sum_of_values(f::text::counting_bloom), 1) AS sum, counting_bloom_count(pg_temp.combined(f)::text::counting_bloom, 1) AS combined, counting_bloom_count(counting_bloom_sum_agg(f), 1) AS sum_agg
FROM hostile, generate_series(1, 3) GROUP BY name ORDER BY name COLLATE "C";
SELECT bool_and(f::text::counting_bloom @> 1) AS running FROM (SELECT pg_temp.combined(f) OVER (ORDER BY name COLLATE "C") AS f FROM hostile WHERE name NOT LIKE 'large%') AS s;
-- fail: a state is no value
SELECT f @> 1 FROM hostile WHERE name = 'state';
SELECT counting_bloom_add(f, 1) FROM hostile WHERE name = 'large, compressed';

-- Chosen keys: hashes in ascending order, and all next to each other, by the
-- bytes of a filter.  They sort like any others.
CREATE TEMPORARY TABLE crafted AS
SELECT (substr(e, 1, 36) || set_byte(set_byte(set_byte('\x0000000000000000'::bytea, 0, n % 256), 1, n / 256 % 256), 2, n / 65536) ||
		hashes || decode(repeat('11', n / 2), 'hex') || decode(repeat('00', (16 - n % 16) % 16 / 2), 'hex'))::counting_bloom AS f
FROM (SELECT counting_bloom_add(counting_bloom_empty(1000000), 1)::bytea AS e) AS s, (VALUES (100000)) AS v (n),
	 LATERAL (SELECT string_agg(decode(lpad(to_hex(i % 256), 2, '0') || lpad(to_hex(i / 256 % 256), 2, '0') || lpad(to_hex(i / 65536), 2, '0') || '0000000000', 'hex'), '' ORDER BY i) AS hashes
			  FROM generate_series(1, n) AS i) AS h;
SELECT (counting_bloom_info(f)).keys, (counting_bloom_info(counting_bloom_sum_agg(f))).keys AS of_two, counting_bloom_sum_agg(f) = f + f AS same
FROM crafted, generate_series(1, 2) GROUP BY f;

DROP TABLE counting_rows, counting_parts;
