--
-- bloom_distinct: one row for each distinct key, in the SELECT list
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- The keys are pseudo-random and the same in every run: 20,000 rows with
-- 11,547 different keys; the rows lie in the order of their numbers.
CREATE TABLE clicks AS
SELECT i AS row, (hashint8extended(i, 1) & 16383)::bigint AS id, i % 4 AS ad,
	   CASE WHEN i % 100 <> 0 THEN i % 7 END AS few
FROM generate_series(1, 20000) AS i;
CREATE UNIQUE INDEX clicks_row ON clicks (row);
CREATE INDEX clicks_id ON clicks (id);
VACUUM ANALYZE clicks;
SELECT count(*) AS clicks, count(DISTINCT id) AS ids FROM clicks;

CREATE TABLE first_ones AS SELECT DISTINCT ON (id) * FROM clicks ORDER BY id, row;

-- How many rows of a query are not the first ones of clicks, or are missing?
CREATE FUNCTION differences(query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('WITH q AS MATERIALIZED (%s)
		SELECT count(*) FROM q FULL JOIN first_ones AS f USING (row)
		WHERE q.row IS NULL OR f.row IS NULL', query) INTO n;
	RETURN n;
END
$$;

-- How many rows and keys does a query give in a column k?
CREATE FUNCTION rows_and_keys(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('WITH q AS MATERIALIZED (%s)
		SELECT count(*) || '' rows, '' || count(DISTINCT k) || '' keys'' FROM q', query) INTO answer;
	RETURN answer;
END
$$;

--
-- Which rows
--

-- the first ones of a scan, and the last ones by an order
SELECT differences('SELECT bloom_distinct(id), row FROM clicks') AS scan,
	   differences('SELECT bloom_distinct(id), row FROM clicks ORDER BY row') AS ordered,
	   differences('SELECT bloom_distinct(id), row FROM (SELECT * FROM clicks ORDER BY row) AS c') AS ordered_below;
SELECT bool_and(row = (SELECT max(c.row) FROM clicks AS c WHERE c.id = r.id)) AS are_the_last, count(*) AS rows
FROM (SELECT bloom_distinct(id) AS id, row FROM clicks ORDER BY row DESC) AS r;

-- the last three keys, from an index, at once
SELECT bloom_distinct(few) AS few, row FROM clicks ORDER BY row DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT bloom_distinct(few) AS few, row FROM clicks ORDER BY row DESC LIMIT 3;
-- after a sort
SELECT bloom_distinct(few) AS few, row, ad FROM clicks ORDER BY ad, row DESC LIMIT 3;

-- above WHERE, GROUP BY, HAVING and windows of its query, whatever they cost
CREATE FUNCTION dear(bigint) RETURNS boolean LANGUAGE plpgsql COST 100000 AS 'BEGIN RETURN $1 > 10000; END';
SELECT rows_and_keys('SELECT bloom_distinct(id) AS k FROM clicks WHERE dear(row)') =
	   (SELECT count(DISTINCT id) || ' rows, ' || count(DISTINCT id) || ' keys' FROM clicks WHERE row > 10000) AS after_the_dear_one;
SELECT rows_and_keys('SELECT bloom_distinct(id % 4) AS k, count(*) FROM clicks GROUP BY id') AS groups,
	   rows_and_keys('SELECT bloom_distinct(count(*)) AS k FROM clicks GROUP BY id HAVING count(*) > 1') =
	   rows_and_keys('SELECT DISTINCT n AS k FROM (SELECT count(*) AS n FROM clicks GROUP BY id HAVING count(*) > 1) AS c') AS aggregates,
	   rows_and_keys('SELECT bloom_distinct(few) AS k, count(*) OVER (PARTITION BY ad) FROM clicks WHERE few IS NOT NULL') AS windows,
	   rows_and_keys('SELECT bloom_distinct(ad / 2) AS k FROM clicks GROUP BY ROLLUP (ad)') AS rollup;

-- below LIMIT and OFFSET of its query
SELECT rows_and_keys('SELECT bloom_distinct(few) AS k FROM clicks WHERE few IS NOT NULL LIMIT 5') AS limited,
	   rows_and_keys('SELECT bloom_distinct(few) AS k FROM clicks WHERE few IS NOT NULL OFFSET 5') AS offset_5;

--
-- With a capacity
--

-- Repeats never come.  Of 11,547 keys, at most one in 100 is lost, on average:
-- 115 expected, and 4.7 standard deviations more are 166.
SELECT count(*) = count(DISTINCT id) AS each_once,
	   (SELECT count(*) FROM first_ones) - count(*) BETWEEN 1 AND 166 AS few_lost
FROM (SELECT bloom_distinct(id, 11547, 0.01) AS id FROM clicks) AS d;

-- the same rows as bloom_seen, bit by bit
SELECT count(*) AS differences
FROM (SELECT row, bloom_seen(id, 2000, 0.05) OVER (ORDER BY row) AS seen FROM clicks WHERE row <= 2000) AS s
FULL JOIN (SELECT bloom_distinct(id, 2e3, 0.05) AS id, row FROM clicks WHERE row <= 2000 OFFSET 0) AS d USING (row)
WHERE s.seen = (d.row IS NOT NULL);

-- one WARNING, and no repeat; which keys it is that are in excess differs between servers
\set VERBOSITY terse
SELECT count(*) = count(DISTINCT id) AS each_once FROM (SELECT bloom_distinct(id, 1000, 0.01) AS id FROM clicks) AS d;
\set VERBOSITY default
-- none at capacity
SELECT count(*) AS rows FROM (SELECT bloom_distinct(row, 2e4, 1e-9) FROM clicks) AS d;

--
-- Keys
--

-- each null key is new
SELECT bloom_distinct(x) AS x FROM unnest('{1, NULL, 1, NULL}'::int[]) AS x;
SELECT bloom_distinct(x, 10, 0.01) AS x FROM unnest('{1, NULL, 1, NULL}'::int[]) AS x;
-- 1.0 equals 1.00
SELECT bloom_distinct(x) AS x FROM unnest('{1.0, 1.00, 2}'::numeric[]) AS x;
SELECT (SELECT count(*) FROM (SELECT bloom_distinct(id::text) FROM clicks) AS d) AS text,
	   (SELECT count(*) FROM (SELECT bloom_distinct(md5(id::text)::uuid) FROM clicks) AS d) AS uuid,
	   (SELECT count(*) FROM (SELECT bloom_distinct(id::float8) FROM clicks) AS d) AS float8,
	   (SELECT count(*) FROM (SELECT bloom_distinct((ad, id)) FROM clicks) AS d) = (SELECT count(*) FROM (SELECT DISTINCT id, ad FROM clicks) AS d) AS two,
	   (SELECT count(*) FROM (SELECT bloom_distinct('2026-01-01'::date + few) FROM clicks WHERE few IS NOT NULL) AS d) AS date;
SELECT bloom_distinct('a') AS untyped FROM clicks;
SELECT pg_typeof(bloom_distinct) FROM (SELECT bloom_distinct(v) FROM (VALUES ('a'::varchar), ('b')) AS s (v)) AS d;
-- a set-returning function in the key comes first
SELECT bloom_distinct(unnest(ARRAY[few, few + 1])) AS k FROM clicks WHERE few < 3 ORDER BY k;
SELECT bloom_distinct(unnest(ARRAY[n, n + 1])) AS k, n FROM generate_series(1, 3) AS n;

--
-- One memory for all that stands below
--

CREATE TABLE parts (row int, id bigint, ad int) PARTITION BY LIST (ad);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_23 PARTITION OF parts FOR VALUES IN (2, 3) PARTITION BY RANGE (row);
CREATE TABLE parts_23_low PARTITION OF parts_23 FOR VALUES FROM (0) TO (10000);
CREATE TABLE parts_23_high (ad int, id bigint, row int);
ALTER TABLE parts_23 ATTACH PARTITION parts_23_high FOR VALUES FROM (10000) TO (20001);
INSERT INTO parts SELECT row, id, ad FROM clicks;
ANALYZE parts;
CREATE VIEW all_parts AS SELECT * FROM parts;
CREATE TABLE parent (LIKE clicks);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM clicks WHERE row % 2 = 0;
INSERT INTO child SELECT * FROM clicks WHERE row % 2 = 1;

SELECT rows_and_keys('SELECT bloom_distinct(id) AS k FROM parent') AS children,
	   rows_and_keys('SELECT bloom_distinct(id) AS k FROM (SELECT * FROM clicks UNION ALL SELECT * FROM clicks) AS u') AS union_all,
	   rows_and_keys('SELECT bloom_distinct(c.id) AS k FROM clicks AS c JOIN parent AS p USING (id)') AS joined,
	   rows_and_keys('SELECT bloom_distinct(c.id) AS k FROM clicks AS c LEFT JOIN parent AS p ON p.id = c.id AND p.ad = 2') AS left_joined;

-- a partitioned table: by another column, in groups, or from a subquery
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
SELECT differences('SELECT bloom_distinct(id), row FROM parts ORDER BY row') AS ordered,
	   rows_and_keys('SELECT bloom_distinct(id) AS k FROM parts GROUP BY id, ad') AS grouped,
	   rows_and_keys('SELECT bloom_distinct(id) AS k FROM (SELECT * FROM parts OFFSET 0) AS p') AS offset_0,
	   rows_and_keys('SELECT bloom_distinct(p.id) AS k FROM parts AS p JOIN parts AS q USING (ad, row) ORDER BY row') AS joined;
-- fail: otherwise
SELECT bloom_distinct(id) FROM parts;
\set VERBOSITY terse
SELECT bloom_distinct(id) FROM all_parts;
SELECT bloom_distinct(id) AS k FROM parts ORDER BY k;
SELECT bloom_distinct(id), count(*) OVER () FROM parts;
SELECT bloom_distinct(id) FROM parts LIMIT 10;
SELECT bloom_distinct(p.id) FROM parts AS p JOIN parts AS q USING (ad, row);
SELECT bloom_distinct(p.id) FROM clicks AS c JOIN parts AS p USING (row);
SELECT bloom_distinct(id) FROM (SELECT id FROM parts UNION ALL SELECT id FROM clicks) AS u;
WITH w AS (SELECT bloom_distinct(id) FROM parts) SELECT count(*) FROM w;
CREATE TABLE never AS SELECT bloom_distinct(id) FROM parts;
\set VERBOSITY default
RESET enable_partitionwise_aggregate;
RESET enable_partitionwise_join;

-- two queries have two, also where they are spelled alike
SELECT rows_and_keys('SELECT bloom_distinct(id) AS k FROM clicks UNION ALL SELECT bloom_distinct(id) FROM clicks') AS arms;
CREATE VIEW distinct_clicks AS SELECT bloom_distinct(id) AS k, row FROM clicks;
SELECT rows_and_keys('SELECT k FROM distinct_clicks UNION ALL SELECT k FROM distinct_clicks') AS twice;
SELECT pg_get_viewdef('distinct_clicks') ~ 'SELECT bloom_distinct\(' AS dumped_as_written;

-- workers scan below it
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bloom_distinct(id) FROM clicks WHERE ad = 1;
SELECT rows_and_keys('SELECT bloom_distinct(id) AS k FROM clicks') AS parallel;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

--
-- Statements that run more than once
--

SELECT count(DISTINCT id) FROM clicks WHERE ad = 1;
PREPARE distinct_of (int, float8) AS SELECT count(*) FROM (SELECT bloom_distinct(id, $2, 0.000001) FROM clicks WHERE ad = $1) AS d;
SET plan_cache_mode = force_custom_plan;
EXECUTE distinct_of(1, 1e5);
EXECUTE distinct_of(1, 1e5);
SET plan_cache_mode = force_generic_plan;
EXECUTE distinct_of(1, 1e5);
EXECUTE distinct_of(1, 1e5);
RESET plan_cache_mode;

-- in a function, also within itself, each run has its own
CREATE FUNCTION distinct_few(depth int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	c record;
	n int := 0;
	below text := '';
BEGIN
	FOR c IN SELECT bloom_distinct(few) AS few FROM clicks WHERE few IS NOT NULL
	LOOP
		n := n + 1;
		IF depth > 0 AND n = 3 THEN
			below := ' ' || distinct_few(depth - 1);
		END IF;
	END LOOP;
	RETURN n || below;
END
$$;
SELECT distinct_few(2);
SELECT bloom_distinct(few) AS few, distinct_few(0) FROM clicks WHERE few > 3 AND row < 15;

-- a rescan begins anew
SELECT g, l.k FROM generate_series(1, 2) AS g,
	LATERAL (SELECT bloom_distinct(x + g) AS k FROM unnest('{1, 1, 2}'::int[]) AS x) AS l;
SELECT g, ARRAY(SELECT bloom_distinct(x % g) FROM generate_series(1, 9) AS x) AS remainders FROM generate_series(1, 3) AS g;

-- an error in one row, and the next statement
BEGIN;
SAVEPOINT s;
SELECT bloom_distinct(id), 1 / (10000 - row) FROM clicks;
ROLLBACK TO s;
SELECT rows_and_keys('SELECT bloom_distinct(id) AS k FROM clicks');
COMMIT;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT bloom_distinct(few) FROM clicks WHERE few IS NOT NULL;
FETCH 3 FROM c;
SAVEPOINT s;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 2 FROM c;
DECLARE d NO SCROLL CURSOR FOR SELECT bloom_distinct(few) FROM clicks WHERE few IS NOT NULL;
FETCH ALL FROM d;
DECLARE h CURSOR WITH HOLD FOR SELECT bloom_distinct(few) FROM clicks WHERE few IS NOT NULL;
FETCH 2 FROM h;
COMMIT;
FETCH ALL FROM h;
CLOSE ALL;

--
-- Other statements
--

CREATE TABLE target AS SELECT bloom_distinct(id) AS id, row FROM clicks WHERE ad = 1;
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM target;
INSERT INTO target SELECT bloom_distinct(id) AS id, row FROM clicks WHERE id NOT IN (SELECT id FROM target);
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM target;
COPY (SELECT bloom_distinct(ad) FROM clicks ORDER BY row) TO stdout;
SELECT count(*) FROM clicks WHERE id IN (SELECT bloom_distinct(id) FROM clicks WHERE ad = 1);
SELECT count(*) FROM clicks WHERE id NOT IN (SELECT bloom_distinct(id) FROM clicks WHERE ad = 1);
SELECT EXISTS (SELECT bloom_distinct(id) FROM clicks) AS some, (SELECT bloom_distinct(id) FROM clicks WHERE row = 1) AS one;
UPDATE target SET row = -1 FROM (SELECT bloom_distinct(id) AS id FROM clicks WHERE ad = 2) AS d WHERE d.id = target.id;
SELECT count(*) = (SELECT count(DISTINCT id) FROM clicks WHERE ad = 2) AS updated FROM target WHERE row = -1;
DELETE FROM target USING (SELECT bloom_distinct(id) AS id FROM clicks WHERE ad = 2) AS d WHERE d.id = target.id;
SELECT count(*) AS rows FROM target WHERE row = -1;

--
-- Conditions of outer queries
--

-- none, or on the result alone
SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks) AS d;
SELECT min(k), max(k), count(row) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks) AS d WHERE k % 2 = 0;
SELECT count(*) FROM clicks AS c JOIN distinct_clicks AS d ON d.k = c.id WHERE c.ad = 1;
SELECT count(*) FROM distinct_clicks AS d LEFT JOIN parts AS p ON p.id = d.k AND p.ad = 1 WHERE p.id IS NULL;
SELECT k % 2 AS odd, count(*) FILTER (WHERE row > 10000) AS late FROM distinct_clicks GROUP BY k % 2 HAVING count(*) > 0 ORDER BY 1;
-- past OFFSET, LIMIT and WITH, each is right
SELECT (SELECT count(*) FROM first_ones WHERE row > 10000) AS expected,
	   (SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks OFFSET 0) AS d WHERE row > 10000) AS offset_0,
	   (SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks LIMIT 20000) AS d WHERE row > 10000) AS limited,
	   (WITH d AS (SELECT bloom_distinct(id) AS k, row FROM clicks) SELECT count(*) FROM d WHERE row > 10000) AS with,
	   (WITH d AS NOT MATERIALIZED (SELECT * FROM distinct_clicks) SELECT count(*) FROM d JOIN clicks USING (row) WHERE row > 10000) AS view_in_with;

-- fail: on another column
SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks) AS d WHERE row > 10000;
\set VERBOSITY terse
SELECT count(*) FROM distinct_clicks WHERE row > 10000;
SELECT count(*) FROM distinct_clicks AS d JOIN clicks AS c ON c.row = d.row;
SELECT count(*) FROM distinct_clicks AS d JOIN clicks AS c ON c.row = d.row AND c.row = 5;
SELECT count(*) FROM clicks AS c LEFT JOIN distinct_clicks AS d ON d.k = c.id AND d.row > 5;
SELECT count(*) FROM distinct_clicks AS d, clicks AS c WHERE d.row > 5 AND c.ad = 1 OR d.row < 3 AND c.ad = 2;
SELECT count(*) FROM distinct_clicks AS d WHERE EXISTS (SELECT FROM clicks AS c WHERE c.row = d.row);
SELECT count(*) FROM distinct_clicks AS d WHERE d IS NOT NULL;
SELECT count(*) FROM clicks WHERE (id, row) IN (SELECT bloom_distinct(id), row FROM clicks);
SELECT count(*) FROM (SELECT k, row FROM distinct_clicks GROUP BY k, row) AS g WHERE row > 10000;
SELECT count(*) FROM (SELECT DISTINCT k, row FROM distinct_clicks) AS g WHERE row > 10000;
SELECT count(*) FROM (SELECT DISTINCT ON (row) k, row FROM distinct_clicks ORDER BY row) AS g WHERE row > 10000;
SELECT count(*) FROM (SELECT *, count(*) OVER (PARTITION BY row) FROM distinct_clicks) AS g WHERE row > 10000;
SELECT count(*) FROM (SELECT * FROM distinct_clicks ORDER BY row) AS g WHERE row > 10000;
SELECT count(*) FROM (SELECT k, row FROM distinct_clicks UNION ALL SELECT id, row FROM parts) AS u WHERE row > 10000;
SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks UNION SELECT id, row FROM parts) AS u WHERE row > 10000;
SELECT count(*) FROM (SELECT * FROM (SELECT bloom_distinct(id) AS k, row FROM clicks EXCEPT SELECT id, row FROM parts) AS v UNION SELECT 1, 1) AS u WHERE row > 10000;
SELECT count(*) FROM (SELECT bloom_distinct(id) AS k, row_number() OVER (ORDER BY row) AS n FROM clicks) AS d WHERE n <= 10;
CREATE VIEW barrier WITH (security_barrier) AS SELECT bloom_distinct(id) AS k, row FROM clicks UNION ALL SELECT bloom_distinct(id), row FROM clicks;
SELECT count(*) FROM barrier WHERE row > 10000;
-- the planner's own, to look for the minimum in an index
SELECT min(row), max(row) FROM (SELECT bloom_distinct(id) AS k, row FROM clicks UNION ALL SELECT id, row FROM clicks) AS u;
CREATE FUNCTION distinct_rows() RETURNS TABLE (k bigint, number int) LANGUAGE sql STABLE AS 'SELECT bloom_distinct(id), row FROM clicks';
SELECT count(*) FROM distinct_rows() AS d WHERE d.number > 10000;
SELECT count(*) FROM (SELECT k, number FROM distinct_rows() UNION ALL SELECT id, row FROM clicks) AS u WHERE number > 10000;
-- without UNION ALL it has none
SELECT min(row), max(row) BETWEEN 19990 AND 20000 AS max FROM distinct_clicks;
SELECT count(*) FROM distinct_rows();

--
-- Other places
--

-- fail: the result is a key beside others
SELECT bloom_distinct(id) AS k, row FROM clicks ORDER BY row, k LIMIT 1;
SELECT bloom_distinct(id) AS k, row FROM clicks ORDER BY k, row LIMIT 1;
SELECT DISTINCT bloom_distinct(id) FROM clicks;
SELECT DISTINCT ON (ad) bloom_distinct(id), ad FROM clicks ORDER BY ad;
SELECT bloom_distinct(id) AS k, count(*) FROM clicks GROUP BY k;
SELECT bloom_distinct(id) AS k, count(*) FROM clicks GROUP BY 1, ad;
\set VERBOSITY sqlstate
SELECT bloom_distinct(id) AS k, rank() OVER (ORDER BY bloom_distinct(id)) FROM clicks;
SELECT bloom_distinct(id) AS k, rank() OVER (PARTITION BY bloom_distinct(id) ORDER BY row) FROM clicks;
\set VERBOSITY terse
-- by itself, it is not
SELECT bloom_distinct(few) AS k FROM clicks WHERE few IS NOT NULL ORDER BY k DESC LIMIT 3;
-- fail: an arm whose rows the server may sort
(SELECT bloom_distinct(few) AS k, row FROM clicks ORDER BY row DESC) UNION SELECT 1, 1 WHERE false;
(SELECT bloom_distinct(few) AS k, row FROM clicks ORDER BY row DESC LIMIT 3) UNION ALL (SELECT 1, 1 EXCEPT ALL SELECT 2, 2);
SELECT 1, 1 INTERSECT ((SELECT bloom_distinct(few) AS k, row FROM clicks ORDER BY row DESC) UNION ALL SELECT 1, 2);
-- in FROM of the arm, in WITH, below UNION ALL, or ordered by the result, it may
SELECT * FROM (SELECT bloom_distinct(few) AS k, row FROM clicks WHERE few < 3 ORDER BY row DESC) AS s UNION SELECT 1, 1 WHERE false ORDER BY row;
WITH s AS (SELECT bloom_distinct(few) AS k, row FROM clicks WHERE few < 3 ORDER BY row DESC) SELECT * FROM s UNION SELECT 1, 1 WHERE false ORDER BY row;
(SELECT bloom_distinct(few) AS k, row FROM clicks WHERE few < 3 ORDER BY row DESC) UNION ALL SELECT 1, 1 WHERE false;
(SELECT bloom_distinct(few) AS k FROM clicks WHERE few < 3 ORDER BY k) UNION SELECT 1 WHERE false ORDER BY k;
-- fail: another set-returning function, or not by itself
SELECT bloom_distinct(id), generate_series(1, 2) FROM clicks;
SELECT bloom_distinct(id), bloom_distinct(ad) FROM clicks;
SELECT bloom_distinct(id), row FROM clicks ORDER BY generate_series(1, 2);
SELECT bloom_distinct(unnest(ARRAY[id])), unnest(ARRAY[ad]) FROM clicks;
SELECT bloom_distinct(bloom_distinct(id)) FROM clicks;
SELECT bloom_distinct(id) + 1 FROM clicks;
SELECT row FROM clicks ORDER BY bloom_distinct(id);
SELECT generate_series(1, bloom_distinct(ad)) FROM clicks;
-- fail: in FROM, or without a table
SELECT * FROM bloom_distinct(1);
SELECT * FROM clicks, bloom_distinct(id) AS k;
SELECT bloom_distinct(k) FROM clicks, bloom_distinct(id) AS k;
SELECT * FROM clicks, ROWS FROM (bloom_distinct(id), generate_series(1, 2)) AS r;
SELECT bloom_distinct(1);
SELECT bloom_distinct(x) FROM (SELECT 1 AS x) AS s;
SELECT * FROM clicks, LATERAL (SELECT bloom_distinct(id)) AS l;
SELECT count(*) FROM clicks AS c WHERE EXISTS (SELECT bloom_distinct(c.id));
SELECT (SELECT bloom_distinct(c.id)) FROM clicks AS c;
INSERT INTO target VALUES (bloom_distinct(1), 1);
INSERT INTO target VALUES (bloom_distinct(1), 1), (2, 2);
INSERT INTO target VALUES (1, 1) RETURNING bloom_distinct(id);
UPDATE target SET id = bloom_distinct(id);
DO $$ DECLARE a int := bloom_distinct(1); BEGIN END $$;
CREATE FUNCTION wrapped(bigint) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT bloom_distinct($1)';
SELECT wrapped(id) FROM clicks;
SELECT count(*) FROM clicks, wrapped(id);
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT bloom_distinct(n + 1) FROM r WHERE n < 9) SELECT * FROM r;
-- fail: where no set may be
SELECT * FROM clicks WHERE bloom_distinct(id) = 1;
SELECT ad FROM clicks GROUP BY ad HAVING bloom_distinct(ad) = 1;
SELECT count(bloom_distinct(id)) FROM clicks;
SELECT count(*) FILTER (WHERE bloom_distinct(id) = 1) FROM clicks;
SELECT CASE WHEN ad = 1 THEN bloom_distinct(id) END FROM clicks;
SELECT bloom_distinct(id) FROM clicks FOR UPDATE;
CREATE TABLE checked (a int CHECK (bloom_distinct(a) = 1));
CREATE INDEX ON clicks (bloom_distinct(id));
EXECUTE distinct_of(bloom_distinct(1)::int, 10);
\set VERBOSITY default

-- fail: parameters
SELECT bloom_distinct(id, 0, 0.01) FROM clicks;
SELECT bloom_distinct(id, 1e30, 0.01) FROM clicks;
SELECT bloom_distinct(id, 'NaN', 0.01) FROM clicks;
SELECT bloom_distinct(id, 1e12, 0.01) FROM clicks;
SELECT bloom_distinct(id, 10, 2) FROM clicks;
SELECT bloom_distinct(id, NULL, 0.01) FROM clicks;
SELECT bloom_distinct(id, 10, NULL) FROM clicks;
-- fail: no hash function for the key type
SELECT bloom_distinct(point(ad, ad)) FROM clicks;
-- fail: keys of two types
SELECT bloom_distinct(CASE WHEN row < 3 THEN (1, 'a') ELSE (row, row) END) FROM clicks;

-- fail: on a worker of Citus
SET application_name = 'citus_internal gpid=10000000001';
SELECT count(*) FROM (SELECT bloom_distinct(id) FROM clicks) AS d;
RESET application_name;

DROP TABLE clicks, first_ones, parts, parent, child, target CASCADE;
DROP FUNCTION differences, rows_and_keys, dear, distinct_few, distinct_rows, wrapped;
