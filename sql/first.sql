--
-- bloom_first: is this the first row of the statement with this key?
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

--
-- Which rows
--

-- the same as DISTINCT ON
SELECT differences('SELECT row FROM clicks WHERE bloom_first(id)');

-- the last ones, by an order that the condition is not pushed below
SELECT count(*) AS rows,
	   bool_and(row = (SELECT max(c.row) FROM clicks AS c WHERE c.id = r.id)) AS are_the_last
FROM (SELECT * FROM (SELECT * FROM clicks ORDER BY row DESC OFFSET 0) AS c
	  WHERE bloom_first(id)) AS r;

-- without OFFSET 0 it is, and the first one of the scan comes through
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM clicks ORDER BY ad DESC, row DESC) AS c WHERE bloom_first(id);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM clicks ORDER BY ad DESC, row DESC OFFSET 0) AS c WHERE bloom_first(id);
SELECT differences('SELECT * FROM (SELECT * FROM clicks ORDER BY row DESC LIMIT NULL) AS c WHERE bloom_first(id)') > 0 AS limit_null_stays_above;

-- after the cheaper conditions of its scan, in whichever order they are written
EXPLAIN (COSTS OFF) SELECT * FROM clicks WHERE bloom_first(id) AND ad % 2 = 1 AND md5(few::text) <> '';
SELECT count(*) = count(DISTINCT id) AS each_once,
	   count(*) = (SELECT count(DISTINCT id) FROM clicks WHERE ad = 2) AS all_of_them
FROM clicks WHERE bloom_first(id) AND ad = 2;

-- the planner expects as many rows as there are keys
CREATE FUNCTION estimate(query text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' -> 'Plan Rows';
END
$$;
SELECT estimate('SELECT * FROM clicks WHERE bloom_first(few)') BETWEEN 5 AND 9 AS about_7,
	   estimate('SELECT * FROM clicks WHERE bloom_first(row)') BETWEEN 19000 AND 20000 AS about_20000,
	   estimate('SELECT * FROM clicks WHERE bloom_first(few, 100, 0.01) AND ad = 1') BETWEEN 1 AND 3 AS about_2;

--
-- With a capacity
--

-- Repeats never pass.  Of 11,547 first ones, at most one in 100 is lost, on
-- average: 115 expected, and 4.7 standard deviations more are 166.
SELECT count(*) = count(DISTINCT id) AS each_once,
	   (SELECT count(*) FROM first_ones) - count(*) BETWEEN 1 AND 166 AS few_lost
FROM clicks WHERE bloom_first(id, 11547, 0.01);

-- the same rows as bloom_seen, bit by bit
SELECT count(*) AS differences
FROM (SELECT row, bloom_seen(id, 2000, 0.05) OVER (ORDER BY row) AS seen FROM clicks WHERE row <= 2000) AS s
FULL JOIN (WITH f AS MATERIALIZED (SELECT row FROM clicks WHERE row <= 2000 AND bloom_first(id, 2e3, 0.05)) SELECT * FROM f) AS f USING (row)
WHERE s.seen = (f.row IS NOT NULL);

-- one WARNING, and no repeat passes; which keys it is that are in excess differs between servers
\set VERBOSITY terse
SELECT count(*) = count(DISTINCT id) AS each_once FROM clicks WHERE bloom_first(id, 1000, 0.01);
\set VERBOSITY default
-- none at capacity
SELECT count(*) AS rows FROM clicks WHERE bloom_first(row, 2e4, 1e-9);

--
-- Keys
--

-- a null key is new in each row
SELECT x FROM unnest('{1, NULL, 1, NULL}'::int[]) AS x WHERE bloom_first(x);
SELECT x FROM unnest('{1, NULL, 1, NULL}'::int[]) AS x WHERE bloom_first(x, 10, 0.01);
-- 1.0 equals 1.00
SELECT x FROM unnest('{1.0, 1.00, 2}'::numeric[]) AS x WHERE bloom_first(x);
-- of many types
SELECT (WITH t AS MATERIALIZED (SELECT 1 FROM clicks WHERE bloom_first(id::text)) SELECT count(*) FROM t) AS text,
	   (SELECT count(*) FROM clicks WHERE bloom_first(md5(id::text)::uuid)) AS uuid,
	   (SELECT count(*) FROM clicks WHERE bloom_first(id::float8)) AS float8,
	   (SELECT count(*) FROM clicks WHERE bloom_first(ARRAY[id, ad])) = (SELECT count(*) FROM (SELECT DISTINCT id, ad FROM clicks) AS d) AS two,
	   (SELECT count(*) FROM clicks WHERE bloom_first('2026-01-01'::date + few)) AS date;
-- of several columns
SELECT count(*) = (SELECT count(*) FROM (SELECT DISTINCT id, ad FROM clicks) AS d) AS rows_as_keys FROM clicks WHERE bloom_first((ad, id));
SELECT count(*) AS untyped FROM clicks WHERE bloom_first('a');

--
-- One memory for all that stands behind one FROM item
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

EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE bloom_first(id);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM parts_0 UNION ALL SELECT * FROM parts_1) AS u WHERE bloom_first(id);

SELECT (SELECT count(*) FROM first_ones) AS ids,
	   (SELECT count(*) FROM parts WHERE bloom_first(id)) AS partitions,
	   (SELECT count(*) FROM parts WHERE bloom_first(id, 100000, 1e-9)) AS partitions_sized,
	   (SELECT count(*) FROM all_parts WHERE bloom_first(id)) AS view,
	   (SELECT count(*) FROM parent WHERE bloom_first(id)) AS children,
	   (SELECT count(*) FROM (SELECT * FROM clicks UNION ALL SELECT * FROM clicks) AS u WHERE bloom_first(id)) AS union_all,
	   (SELECT count(*) FROM (SELECT * FROM clicks UNION ALL SELECT * FROM clicks OFFSET 0) AS u WHERE bloom_first(id)) AS offset_0;
SET enable_partitionwise_aggregate = on;
SELECT sum(n) AS grouped FROM (SELECT ad, count(*) AS n FROM parts WHERE bloom_first(id) GROUP BY ad) AS g;
RESET enable_partitionwise_aggregate;

-- two calls have two, also where they are spelled alike
SELECT count(*) FILTER (WHERE bloom_first(id)) AS a, count(*) FILTER (WHERE bloom_first(id)) AS b, count(*) FILTER (WHERE bloom_first(few)) AS c FROM clicks;
SELECT count(*) AS both FROM clicks WHERE bloom_first(id) AND bloom_first(id);
-- (with one, this would become: bloom_first(few) AND (ad = 0 OR ad = 1), of 207 rows)
SELECT count(*) AS either FROM clicks WHERE bloom_first(few) AND ad = 0 OR bloom_first(few) AND ad = 1;
SELECT count(*) AS arms FROM (SELECT row FROM clicks WHERE bloom_first(id) UNION ALL SELECT row FROM clicks WHERE bloom_first(id)) AS u;
-- and so have two runs of a view
CREATE VIEW first_clicks AS SELECT row, id FROM clicks WHERE bloom_first(id);
SELECT count(*) AS twice FROM (SELECT row FROM first_clicks UNION ALL SELECT row FROM first_clicks) AS u;
SELECT pg_get_viewdef('first_clicks') ~ 'WHERE bloom_first\(' AS dumped_as_written;

-- in each kind of scan; not in parallel
CREATE FUNCTION first_by(setting text) RETURNS TABLE (scan text, rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT id FROM clicks WHERE id < 100000 AND bloom_first(id)' INTO plan;
	scan := plan -> 0 -> 'Plan' ->> 'Node Type';
	SELECT count(*) INTO rows FROM (SELECT id FROM clicks WHERE id < 100000 AND bloom_first(id) OFFSET 0) AS f;
	RETURN NEXT;
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM first_by('index only');
SET enable_indexonlyscan = off;
SELECT * FROM first_by('index');
SET enable_indexscan = off;
SET enable_bitmapscan = on;
SELECT * FROM first_by('bitmap');
RESET ALL;
SELECT count(*) AS by_tid FROM clicks WHERE ctid = ANY (ARRAY(SELECT ctid FROM clicks)) AND bloom_first(id);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM clicks WHERE bloom_first(id);
RESET ALL;

--
-- Statements that run more than once
--

SELECT count(DISTINCT id) FROM clicks WHERE ad = 1;
PREPARE first_of (int, float8) AS SELECT count(*) FROM clicks WHERE ad = $1 AND bloom_first(id, $2, 0.000001);
SET plan_cache_mode = force_custom_plan;
EXECUTE first_of(1, 1e5);
EXECUTE first_of(1, 1e5);
SET plan_cache_mode = force_generic_plan;
EXECUTE first_of(1, 1e5);
EXECUTE first_of(1, 1e5);
RESET plan_cache_mode;

-- in a function, also within itself, each run has its own
CREATE FUNCTION ones_of(depth int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	c record;
	n int := 0;
	below text := '';
BEGIN
	FOR c IN SELECT few FROM clicks WHERE bloom_first(few)
	LOOP
		n := n + 1;
		IF depth > 0 AND n = 3 THEN
			below := ' ' || ones_of(depth - 1);
		END IF;
	END LOOP;
	RETURN n || below;
END
$$;
SELECT count(*) AS nulls_and_7 FROM clicks WHERE bloom_first(few);
SELECT ones_of(2);
SELECT few, ones_of(0) FROM clicks WHERE few > 3 AND bloom_first(few);

-- a trigger that runs the same statement
CREATE TABLE log (few int);
CREATE FUNCTION log_first() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() < 3 THEN
		INSERT INTO log SELECT few FROM clicks WHERE few IS NOT NULL AND bloom_first(few);
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER again AFTER INSERT ON log EXECUTE FUNCTION log_first();
INSERT INTO log SELECT few FROM clicks WHERE few IS NOT NULL AND bloom_first(few);
SELECT few, count(*) FROM log GROUP BY few ORDER BY few;

-- an error in one row, and the next statement
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM clicks WHERE bloom_first(id) AND 1 / (10000 - row) IS NOT NULL;
ROLLBACK TO s;
SELECT count(*) FROM clicks WHERE bloom_first(id);
COMMIT;

-- cursors: an error elsewhere does not matter
BEGIN;
DECLARE c CURSOR FOR SELECT few FROM clicks WHERE few IS NOT NULL AND bloom_first(few);
FETCH 3 FROM c;
SAVEPOINT s;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH ALL FROM c;
-- from the beginning again, with the same rows
MOVE ABSOLUTE 0 IN c;
FETCH 2 FROM c;
FETCH FIRST FROM c;
FETCH ALL FROM c;
-- fail: backward
FETCH PRIOR FROM c;
ROLLBACK;
-- in a partitioned table, too
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id & 3 AS two_bits FROM parts WHERE bloom_first(id & 3);
FETCH ALL FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH ALL FROM c;
ROLLBACK;
-- what is held is computed once
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT few FROM clicks WHERE few IS NOT NULL AND bloom_first(few);
DECLARE d NO SCROLL CURSOR WITH HOLD FOR SELECT few FROM clicks WHERE few IS NOT NULL AND bloom_first(few);
FETCH 2 FROM c;
FETCH 2 FROM d;
COMMIT;
FETCH ALL FROM c;
FETCH BACKWARD 3 FROM c;
FETCH ALL FROM d;
CLOSE ALL;

--
-- Other statements, and places other than WHERE
--

-- keep one row of each key
CREATE TABLE twice AS SELECT * FROM clicks UNION ALL SELECT * FROM clicks;
BEGIN;
DELETE FROM twice WHERE NOT bloom_first(id);
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM twice;
ROLLBACK;
WITH u AS (UPDATE twice SET ad = -1 WHERE bloom_first(id) RETURNING *)
SELECT count(*) AS updated FROM u;
SELECT count(*) AS updated, count(DISTINCT id) AS ids FROM twice WHERE ad = -1;
DELETE FROM parts WHERE NOT bloom_first(id);
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM parts;

-- in a list, each row is asked; in HAVING, each group
SELECT count(*) FILTER (WHERE is_first) AS first_ones FROM (SELECT bloom_first(id) AS is_first FROM clicks) AS c;
SELECT ad / 2 AS half FROM clicks GROUP BY ad HAVING bloom_first(ad / 2) ORDER BY 1;

-- rows that are new to a table, and first
CREATE TABLE target AS SELECT id, min(row) AS row FROM clicks WHERE ad = 1 GROUP BY id;
INSERT INTO target
WITH f AS MATERIALIZED (SELECT id, row FROM clicks WHERE bloom_first(id))
SELECT * FROM f WHERE id NOT IN (SELECT id FROM target);
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM target;

--
-- Where the plan would decide
--

-- what the hint says
WITH f AS MATERIALIZED (SELECT id, ad FROM clicks WHERE bloom_first(id))
SELECT count(*) FROM f JOIN generate_series(0, 3) AS g ON g = f.ad;
WITH j AS MATERIALIZED (SELECT id FROM clicks JOIN generate_series(0, 3) AS g ON g = ad)
SELECT count(*) FROM j WHERE bloom_first(id);
SELECT count(*) FROM (SELECT id FROM clicks JOIN generate_series(0, 3) AS g ON g = ad OFFSET 0) AS j WHERE bloom_first(id);

-- fail: a join
SELECT * FROM clicks JOIN parts USING (row) WHERE bloom_first(clicks.id);
\set VERBOSITY terse
SELECT * FROM clicks, parts WHERE bloom_first(clicks.id);
SELECT * FROM clicks LEFT JOIN parts ON bloom_first(parts.id);
SELECT * FROM clicks, LATERAL (SELECT bloom_first(clicks.id) AS f) AS l;
SELECT * FROM clicks, bloom_first(clicks.id) AS f WHERE f;
UPDATE clicks SET ad = 1 FROM parts WHERE bloom_first(clicks.id);
DELETE FROM clicks USING parts WHERE bloom_first(clicks.id);
-- fail: one that appears when the view, the subquery or the function is pulled up
SELECT * FROM first_clicks JOIN parts USING (row);
SELECT * FROM (SELECT * FROM clicks JOIN parts USING (row)) AS j WHERE bloom_first(row);
SELECT * FROM parts WHERE row IN (SELECT row FROM clicks WHERE bloom_first(id));
SELECT * FROM clicks WHERE bloom_first(id) AND EXISTS (SELECT FROM parts WHERE parts.row = clicks.row);
-- or pushed down
SELECT * FROM (SELECT clicks.* FROM clicks JOIN parts USING (row) ORDER BY row) AS j WHERE bloom_first(id);
-- fail: a subquery that could run more than once
SELECT * FROM parts, (SELECT * FROM clicks WHERE bloom_first(id) OFFSET 0) AS f;
SELECT * FROM parts, (SELECT * FROM (SELECT * FROM clicks WHERE bloom_first(id) OFFSET 0) AS f OFFSET 0) AS g;
SELECT * FROM parts, (SELECT id FROM clicks WHERE bloom_first(id) UNION ALL SELECT 1 OFFSET 0) AS f;
SELECT * FROM parts WHERE row NOT IN (SELECT row FROM clicks WHERE bloom_first(id));
SELECT (SELECT count(*) FROM clicks WHERE bloom_first(id) AND row < p.row) FROM parts AS p;
SELECT (SELECT count(*) + p.row FROM clicks WHERE bloom_first(id)) FROM parts AS p;
SELECT (SELECT count(*) FROM (SELECT * FROM clicks WHERE bloom_first(id) OFFSET 0) AS f WHERE f.row < p.row) FROM parts AS p;
SELECT (SELECT count(*) FROM (SELECT p.row + 1 AS row FROM clicks WHERE bloom_first(id) OFFSET 0) AS f) FROM parts AS p;
SELECT * FROM parts AS p, LATERAL (SELECT p.row FROM clicks WHERE bloom_first(id)) AS l;
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9 AND bloom_first(n)) SELECT * FROM r;
-- fail: no table
SELECT bloom_first(1);
SELECT bloom_first(1) WHERE true;
INSERT INTO log VALUES (1) RETURNING bloom_first(few);
DO $$ BEGIN IF bloom_first(1) THEN NULL; END IF; END $$;
CREATE FUNCTION not_inlined(int) RETURNS boolean LANGUAGE sql STRICT AS 'SELECT bloom_first($1)';
SELECT count(*) FROM clicks WHERE not_inlined(ad);
-- a function that is inlined is as if it were written there
CREATE FUNCTION inlined(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT bloom_first($1)';
SELECT count(*) FROM clicks WHERE inlined(id);
-- fail: no query
CREATE TABLE checked (a int CHECK (bloom_first(a)));
INSERT INTO checked VALUES (1);
-- fail: not immutable (PostgreSQL 19 also names the place)
\set VERBOSITY sqlstate
CREATE INDEX ON clicks (bloom_first(id));
\set VERBOSITY terse
CREATE TRIGGER sometimes AFTER INSERT ON log FOR EACH ROW WHEN (bloom_first(NEW.few)) EXECUTE FUNCTION log_first();
INSERT INTO log VALUES (1);
DROP TRIGGER sometimes ON log;
EXECUTE first_of(bloom_first(1)::int, 10);
\set VERBOSITY default

-- fail: parameters
SELECT * FROM clicks WHERE bloom_first(id, 0, 0.01);
SELECT * FROM clicks WHERE bloom_first(id, 1e30, 0.01);
SELECT * FROM clicks WHERE bloom_first(id, 'NaN', 0.01);
SELECT * FROM clicks WHERE bloom_first(id, 1e12, 0.01);
SELECT * FROM clicks WHERE bloom_first(id, 10, 2);
SELECT * FROM clicks WHERE bloom_first(id, NULL, 0.01);
SELECT * FROM clicks WHERE bloom_first(id, 10, NULL);
-- fail: no hash function for the key type
SELECT * FROM clicks WHERE bloom_first(point(ad, ad));

-- fail: on a worker of Citus
SET application_name = 'citus_internal gpid=10000000001';
SELECT count(*) FROM clicks WHERE bloom_first(id);
RESET application_name;

-- what the planner makes of it is no way round, and asks for the same right
\set VERBOSITY terse
SELECT * FROM clicks, parts WHERE _bloom_first(0, clicks.id);
\set VERBOSITY default
SELECT count(*) AS nulls FROM clicks WHERE _bloom_first(NULL, few);
BEGIN;
REVOKE EXECUTE ON FUNCTION bloom_first(anycompatible) FROM public;
CREATE ROLE regress_bloom_first;
GRANT SELECT ON clicks TO regress_bloom_first;
SET ROLE regress_bloom_first;
SELECT count(*) FROM clicks WHERE bloom_first(id);
ROLLBACK;

DROP TABLE clicks, first_ones, parts, parent, child, log, twice, target, checked CASCADE;
DROP FUNCTION differences, estimate, first_by, ones_of, log_first, inlined, not_inlined;
