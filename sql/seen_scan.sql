--
-- The plan node of bloom_seen, in place of WindowAgg
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

CREATE TABLE clicks AS
SELECT i AS row, (hashint8extended(i, 1) & 1023)::bigint AS id, i % 10 AS ad, 'https://example.org/' || i % 77 AS url
FROM generate_series(1, 3000) AS i;
CREATE UNIQUE INDEX clicks_row ON clicks (row);
VACUUM ANALYZE clicks;

--
-- Plans
--

-- the node is there in the first query of a session, before anything else of the library is called
\c -
EXPLAIN (COSTS OFF) SELECT row, bloom_seen(id) OVER () FROM clicks;
SHOW bloomtype.enable_seen_scan;

-- all that can be printed of it
EXPLAIN (VERBOSE, COSTS OFF)
SELECT row, url FROM (SELECT *, bloom_seen((id, ad), 1e6, 0.001) OVER (ORDER BY row DESC) AS seen FROM clicks) AS c WHERE NOT seen ORDER BY url;
EXPLAIN (VERBOSE, COSTS OFF) SELECT row, NOT bloom_seen(id % 7) OVER (ORDER BY row) AS is_new FROM clicks ORDER BY is_new, row;
-- beside columns of other windows, which have WindowAggs below and above
DO $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT bloom_seen(id) OVER (ORDER BY row DESC), 1 + count(*) OVER (ORDER BY ad, row),
		rank() OVER (PARTITION BY ad ORDER BY id), bloom_seen(url) OVER (ORDER BY url) FROM clicks' INTO plan;
	ASSERT (SELECT count(*) FROM regexp_matches(plan::text, '"Node Type": "(Custom Scan|WindowAgg)"', 'g')) = 4, plan;
	ASSERT (SELECT count(*) FROM regexp_matches(plan::text, '"Custom Plan Provider": "bloom_seen"', 'g')) = 2, plan;
END
$$;

CREATE FUNCTION has_node(query text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%"Custom Plan Provider": "bloom_seen"%';
END
$$;
SELECT what, has_node(query)
FROM (VALUES
	('no order', 'SELECT bloom_seen(id) OVER () FROM clicks'),
	('an order', 'SELECT bloom_seen(id) OVER (ORDER BY row) FROM clicks'),
	('a frame', 'SELECT bloom_seen(id) OVER (ORDER BY row ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES) FROM clicks'),
	('the same call twice', 'SELECT bloom_seen(id) OVER (), NOT bloom_seen(id) OVER () FROM clicks'),
	('above groups', 'SELECT bloom_seen(count(*)) OVER (ORDER BY id) FROM clicks GROUP BY id'),
	('in a view''s place', 'SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS s FROM clicks) AS c WHERE NOT s'),
	('an offset', 'SELECT bloom_seen(id) OVER (ORDER BY row ROWS 2 PRECEDING) FROM clicks'),
	('partitions', 'SELECT bloom_seen(id) OVER (PARTITION BY ad) FROM clicks'),
	('two calls', 'SELECT bloom_seen(id) OVER (), bloom_seen(ad) OVER () FROM clicks'),
	('another function', 'SELECT bloom_seen(id) OVER (), row_number() OVER () FROM clicks'),
	('a volatile key', 'SELECT bloom_seen(floor(random() * 50)::int) OVER () FROM clicks'),
	('a stable key', 'SELECT bloom_seen(id + extract(year FROM now())::int) OVER () FROM clicks'),
	('no call', 'SELECT row_number() OVER () FROM clicks'))
	AS q (what, query);

-- calls with volatile keys have a key each
SELECT count(*) FILTER (WHERE a <> b) > 0 AS differ
FROM (SELECT bloom_seen(floor(random() * 50)::int) OVER () AS a, bloom_seen(floor(random() * 50)::int) OVER () AS b FROM generate_series(1, 1000)) AS s;

-- conditions that the server moves into windows are tested in each of them
SELECT string_agg(row || ' ' || seen, ', ' ORDER BY row) AS first_four
FROM (SELECT row, bloom_seen(row / 2) OVER (ORDER BY url, row) AS seen, row_number() OVER (ORDER BY row) AS n FROM clicks) AS c WHERE n <= 4;
SELECT string_agg(row || ' ' || seen, ', ' ORDER BY row) AS last_four
FROM (SELECT row, bloom_seen(row / 2) OVER (ORDER BY row) AS seen, row_number() OVER (ORDER BY row DESC) AS n FROM clicks) AS c WHERE n <= 4;

-- a function that is no longer called directly
BEGIN;
ALTER FUNCTION bloom_seen(anycompatible) SET work_mem = '1MB';
SELECT has_node('SELECT bloom_seen(id) OVER () FROM clicks') AS with_set;
ROLLBACK;
-- and one of the same name
CREATE SCHEMA other;
CREATE FUNCTION other.bloom_seen(bigint) RETURNS bigint LANGUAGE internal WINDOW AS 'window_row_number';
SELECT has_node('SELECT other.bloom_seen(id) OVER () FROM clicks') AS another_function;
DROP FUNCTION other.bloom_seen;
DROP SCHEMA other;

-- the setting
SET bloomtype.enable_seen_scan = off;
SELECT has_node('SELECT bloom_seen(id) OVER () FROM clicks') AS when_off;
RESET bloomtype.enable_seen_scan;

--
-- Rows: the same as with WindowAgg, row by row
--

CREATE FUNCTION differences(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SET LOCAL bloomtype.enable_seen_scan = on;
	IF NOT has_node(query) THEN
		RETURN 'no node';
	END IF;
	EXECUTE 'CREATE TEMP TABLE by_node AS SELECT row_number() OVER () AS n, r.*::text AS r FROM (' || query || ' OFFSET 0) AS r';
	SET LOCAL bloomtype.enable_seen_scan = off;
	EXECUTE 'CREATE TEMP TABLE by_window AS SELECT row_number() OVER () AS n, r.*::text AS r FROM (' || query || ' OFFSET 0) AS r';
	SELECT count(*) || ' rows, ' || count(*) FILTER (WHERE a.r IS DISTINCT FROM b.r) || ' differ' INTO result
	FROM by_node AS a FULL JOIN by_window AS b USING (n);
	DROP TABLE by_node, by_window;
	RETURN result;
END
$$;

-- rows that were there before a column, and after one
CREATE TABLE altered (a text, b int);
INSERT INTO altered SELECT 'a' || i, i % 50 FROM generate_series(1, 100) AS i;
ALTER TABLE altered ADD COLUMN c text DEFAULT 'new';
INSERT INTO altered SELECT 'b' || i, i % 50, NULLIF(i % 3, 1) FROM generate_series(1, 100) AS i;
CREATE TABLE dropped (LIKE altered);
INSERT INTO dropped SELECT * FROM altered;
ALTER TABLE dropped DROP COLUMN b;
CREATE TABLE parts (LIKE clicks) PARTITION BY LIST (ad);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 2, 3);
CREATE TABLE parts_2 (url text, ad int, id bigint, gone int, row int);
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 DEFAULT;
INSERT INTO parts SELECT * FROM clicks;
CREATE TABLE toasted AS SELECT i, repeat(md5((i % 20)::text), 5000) AS doc FROM generate_series(1, 100) AS i;
ALTER TABLE toasted ALTER doc SET STORAGE external;
INSERT INTO toasted SELECT i + 100, doc FROM toasted;
SELECT differences('SELECT *, bloom_seen(id) OVER () FROM clicks') AS table,
	   differences('SELECT *, bloom_seen(c) OVER () FROM altered') AS missing_values,
	   differences('SELECT *, bloom_seen(d) OVER () FROM dropped AS d') AS dropped_column,
	   differences('SELECT *, bloom_seen(id) OVER () FROM parts') AS partitions,
	   differences('SELECT ctid, tableoid, xmin, bloom_seen(id) OVER () FROM parts') AS system_columns,
	   differences('SELECT i, md5(doc), bloom_seen(doc) OVER () FROM toasted') AS toasted,
	   differences('SELECT *, bloom_seen(url || ad) OVER (ORDER BY ad, row DESC) FROM clicks') AS sorted,
	   differences('SELECT *, bloom_seen(id) OVER (ORDER BY row DESC) FROM clicks') AS by_index,
	   differences('SELECT *, bloom_seen(id + 1) OVER () FROM (SELECT DISTINCT id, ad FROM clicks ORDER BY id DESC, ad) AS s') AS sorted_below,
	   differences('SELECT c.*, d.url, bloom_seen(d.url) OVER () FROM clicks AS c LEFT JOIN clicks AS d ON d.row = c.row + 2990') AS outer_join,
	   differences('SELECT bloom_seen(NULL::int) OVER () FROM clicks') AS nulls,
	   differences('SELECT *, CASE WHEN bloom_seen(id) OVER () THEN (SELECT max(c.row) FROM clicks AS c WHERE c.row < d.ad) END FROM clicks AS d') AS subquery_beside,
	   differences('SELECT bloom_seen((SELECT c.url FROM clicks AS c WHERE c.row = d.ad)) OVER () FROM clicks AS d') AS subquery_in_key,
	   differences('SELECT bloom_seen(i) OVER () FROM generate_series(1, 0) AS i') AS nothing;
-- all plans at once, with little memory, and rows that take more than that
SET work_mem = '64kB';
SELECT differences('SELECT row, doc, bloom_seen(doc) OVER () FROM (SELECT row, repeat(md5(id::text), 400) AS doc FROM clicks OFFSET 0) AS c') AS wide_rows,
	   differences('SELECT row, bloom_seen(id, 100000, 0.01) OVER (ORDER BY url COLLATE "C", row) FROM clicks') AS sized;
RESET work_mem;

-- a rescan begins anew; the capacity is that of its first row
SELECT g, string_agg(CASE WHEN seen THEN 'x' ELSE '-' END, '' ORDER BY n) AS seen
FROM generate_series(1, 3) AS g, LATERAL (SELECT n, bloom_seen(n % (g + 1), 100 + g + n, 0.01) OVER (ORDER BY n) AS seen FROM generate_series(1, 7) AS n) AS s
GROUP BY g ORDER BY g;
-- one WARNING for all of them
SELECT sum((SELECT count(*) FILTER (WHERE seen) FROM (SELECT bloom_seen(n + g, 10, 0.5) OVER () AS seen FROM generate_series(1, 100) AS n) AS s)) > 0 AS lost
FROM generate_series(1, 5) AS g;

-- reads at most one batch ahead
CREATE SEQUENCE rows_read;
SELECT i, bloom_seen(i % 2) OVER () AS seen FROM (SELECT nextval('rows_read') AS i FROM generate_series(1, 1000)) AS s LIMIT 4;
SELECT last_value AS rows_read FROM rows_read;

-- a cursor, also one that goes back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT row, bloom_seen(ad % 4) OVER () FROM clicks ORDER BY row;
FETCH ABSOLUTE 50 FROM c;
FETCH RELATIVE -46 FROM c;
FETCH 2 FROM c;
COMMIT;

-- rows that were read ahead are those of the cursor's snapshot
BEGIN;
DECLARE c CURSOR FOR SELECT row, url, bloom_seen(ad) OVER () FROM clicks;
FETCH 1 FROM c;
DELETE FROM clicks WHERE row BETWEEN 2 AND 3;
UPDATE clicks SET ad = 77, url = '' WHERE row = 4;
FETCH 3 FROM c;
ROLLBACK;

--
-- EXPLAIN ANALYZE
--

CREATE FUNCTION analyzed(query text) RETURNS TABLE (keys float8, kb bigint)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	WHILE plan ->> 'Node Type' <> 'Custom Scan' LOOP
		-- of the children, the last is the inner one
		plan := plan -> 'Plans' -> -1;
	END LOOP;
	keys := plan ->> 'Distinct Keys';
	kb := plan ->> 'Memory Usage';
	RETURN NEXT;
END
$$;
SELECT keys, kb FROM analyzed('SELECT bloom_seen(NULLIF(id, 3)) OVER () FROM clicks');
-- of the loops, keys are the mean, and the memory is the largest
SELECT keys, kb > 8 AS several_kb FROM analyzed('SELECT seen FROM generate_series(1, 100) AS g, LATERAL (SELECT bloom_seen(i) OVER () AS seen FROM generate_series(1, CASE g WHEN 1 THEN 1000 ELSE 10 END) AS i) AS s');
-- it is what the server says that it takes
SET client_min_messages = error;
BEGIN;
DECLARE exact CURSOR FOR SELECT bloom_seen(i) OVER () FROM generate_series(1, 50000) AS i;
MOVE 50000 IN exact;
DO $$
DECLARE
	shown bigint := kb FROM analyzed('SELECT bloom_seen(i) OVER () FROM generate_series(1, 50000) AS i');
	taken bigint := (sum(total_bytes) + 1023) / 1024 FROM pg_backend_memory_contexts WHERE name = 'bloom_seen keys';
BEGIN
	ASSERT shown BETWEEN 500 AND 1100 AND shown = taken, format('%s kB are shown, %s taken', shown, taken);
END
$$;
ROLLBACK;
RESET client_min_messages;

--
-- Privileges, and changes while a plan is cached
--

CREATE ROLE regress_bloom_reader;
GRANT SELECT ON clicks TO regress_bloom_reader;
REVOKE EXECUTE ON FUNCTION bloom_seen(anycompatible) FROM PUBLIC;
PREPARE seen AS SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS s FROM clicks) AS c WHERE NOT s;
EXECUTE seen;
SET ROLE regress_bloom_reader;
-- fail: not allowed
EXECUTE seen;
EXPLAIN SELECT bloom_seen(id) OVER () FROM clicks;
RESET ROLE;
GRANT EXECUTE ON FUNCTION bloom_seen(anycompatible) TO PUBLIC;
SET ROLE regress_bloom_reader;
EXECUTE seen;
RESET ROLE;
DROP OWNED BY regress_bloom_reader;
DROP ROLE regress_bloom_reader;

SET plan_cache_mode = force_generic_plan;
EXECUTE seen;
-- fail: the extension is gone
BEGIN;
SET LOCAL client_min_messages = error;
DROP EXTENSION bloomtype CASCADE;
\set VERBOSITY terse
EXECUTE seen;
\set VERBOSITY default
ROLLBACK;
EXECUTE seen;

--
-- Errors in the middle of a batch leave nothing behind
--

SELECT bloom_seen(1 / (row - 40)) OVER () FROM clicks;
BEGIN;
SAVEPOINT s;
SELECT count(bloom_seen) FROM (SELECT row, url, bloom_seen(url || 1 / (row - 40)) OVER () FROM clicks) AS c;
ROLLBACK TO s;
EXECUTE seen;
COMMIT;
-- fail: parameters, on the first row
SELECT bloom_seen(id, NULL, 0.1) OVER () FROM clicks;
SELECT bloom_seen(id, 10, ad) OVER (ORDER BY row) FROM clicks;
-- without a row, they are not looked at
SELECT bloom_seen(point(1, 1), -1, 2) OVER () FROM clicks WHERE row < 0;
-- fail: keys without equality
SELECT bloom_seen(point(1, 1)) OVER () FROM clicks;

DROP TABLE clicks, altered, dropped, parts, toasted;
DROP SEQUENCE rows_read;
DROP FUNCTION has_node, differences, analyzed;

--
-- Cursors over temporary tables share few buffers: rows that are kept for a batch
-- pin theirs, here one for each row
--
\c -
SET temp_buffers = '800kB';
CREATE TEMPORARY TABLE wide (k int, page text);
ALTER TABLE wide ALTER page SET STORAGE plain;
INSERT INTO wide SELECT i, repeat('x', 5000) FROM generate_series(1, 500) AS i;
BEGIN;
DO $$
DECLARE
	c refcursor;
	row record;
BEGIN
	FOR i IN 0..9 LOOP
		c := 'c' || i;
		OPEN c FOR EXECUTE 'SELECT *, bloom_seen(k) OVER () FROM wide WHERE k > ' || i * 40;
		MOVE FORWARD 26 FROM c;
		FETCH c INTO row;
		ASSERT row.k = i * 40 + 27;
	END LOOP;
END
$$;
SELECT count(*) AS there_is_room FROM wide;
COMMIT;
