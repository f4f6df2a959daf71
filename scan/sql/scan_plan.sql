--
-- A planner that knows of filters: bloomtype_scan.plan
--
-- Each rule has a query whose plan it refuses, and one that it lets through.
--
LOAD 'bloomtype_scan';
SHOW bloomtype_scan.plan;
SELECT pg_settings_get_flags('bloomtype_scan.plan');
-- fail: on or off
SET bloomtype_scan.plan = 2;

CREATE SCHEMA scan_plan;
SET search_path = scan_plan, public;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
-- ANALYZE reads all rows, so that its numbers are always the same
SET default_statistics_target = 1000;
-- what rows of a large table cost, for a small one
SET cpu_tuple_cost = 1;
SET cpu_index_tuple_cost = 0.5;
SET cpu_operator_cost = 0.25;
CREATE TABLE fact (a int, b int, c int, t text, s int);
INSERT INTO fact SELECT i % 500, i / 7 % 100, i / 3 % 1000, 't' || i / 7 % 100, i % 2 FROM generate_series(1, 60000) AS i;
CREATE INDEX ON fact (a);
CREATE TABLE a (id int PRIMARY KEY, g int, b int);
INSERT INTO a SELECT i, i % 5, i % 100 FROM generate_series(0, 499) AS i;
CREATE TABLE b (id int PRIMARY KEY, g int, t text);
INSERT INTO b SELECT i, i % 10, 't' || i FROM generate_series(0, 99) AS i;
CREATE VIEW star AS SELECT fact.*, a.g AS ag, b.g AS bg FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b;
ANALYZE;

-- how a query is planned; its result must be that without filters
CREATE FUNCTION planned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := 'as before';
	found text;
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line ~ '^ *Planned With Filters: cost \d+ instead of \d+$' THEN
			result := 'with filters';
		END IF;
	END LOOP;
	EXECUTE query INTO found;
	PERFORM set_config('bloomtype_scan.enabled', 'off', false);
	EXECUTE query INTO expected;
	PERFORM set_config('bloomtype_scan.enabled', 'on', false);
	IF found IS DISTINCT FROM expected THEN
		RAISE EXCEPTION '% instead of %', found, expected;
	END IF;
	RETURN result;
END $$;

-- off: the server fetches a fifth of the table by its index, since it does not know of filters
EXPLAIN (COSTS OFF) SELECT count(*) FROM star WHERE ag = 1 AND bg = 1;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
SET bloomtype_scan.plan = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star WHERE ag = 1 AND bg = 1;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
-- a subplan that the conditions of several partitions name
CREATE TABLE two (v int) PARTITION BY LIST (v);
CREATE TABLE two_1 PARTITION OF two FOR VALUES IN (1);
CREATE TABLE two_2 PARTITION OF two FOR VALUES IN (2);
INSERT INTO two VALUES (1), (2);
SELECT planned('SELECT count(*) FROM two WHERE v NOT IN (SELECT s FROM star WHERE ag = 1 AND bg = 1)');
-- the scan has the server's numbers, and the filters' node what is expected behind it
CREATE FUNCTION rows_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line ~ 'Custom Scan|on (fact|sale|parts)' THEN
			RETURN NEXT regexp_replace(line, '^[ ->]*|cost=\S* | width=\d+', '', 'g');
		END IF;
	END LOOP;
END $$;
SELECT rows_of('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
-- those of a cached plan, too; it stays until it is planned again
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT count(*) FROM star WHERE ag = 1 AND bg = 1;
EXECUTE q;
SET bloomtype_scan.plan = off;
EXECUTE q;
SELECT rows_of('EXECUTE q'), planned('EXECUTE q');
DEALLOCATE q;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
SET bloomtype_scan.plan = on;
-- in force only if filters are
SET bloomtype_scan.enabled = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star WHERE ag = 1 AND bg = 1;
RESET bloomtype_scan.enabled;
-- nor where the server may not scan, or hash
SET enable_hashjoin = off;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1') AS no_hash_joins;
RESET enable_hashjoin;
SET enable_seqscan = off;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1') AS no_scans;
RESET enable_seqscan;

-- P1. Cheap joins are planned once
RESET cpu_tuple_cost; RESET cpu_index_tuple_cost; RESET cpu_operator_cost;
SET random_page_cost = 1;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1') AS cheap;
RESET random_page_cost;
SET cpu_tuple_cost = 1; SET cpu_index_tuple_cost = 0.5; SET cpu_operator_cost = 0.25;
-- where the first rows are wanted, what they cost
SELECT planned('SELECT * FROM star WHERE ag = 1 AND bg = 1 ORDER BY c, a, b, s LIMIT 1') AS sorted;
EXPLAIN (COSTS OFF) SELECT * FROM star WHERE ag = 1 AND bg = 1 LIMIT 1;

-- P2. Tables whose rows are 3 % of the cost at least
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1') AS most,
	planned('SELECT count(*) FROM star, generate_series(1, 3000) WHERE ag = 1 AND bg = 1') AS little;
-- that are scanned as a whole
SELECT planned('SELECT count(*) FROM fact TABLESAMPLE SYSTEM (100) JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.g < 2 AND b.g = 1') AS sample;

-- P3. whose conditions nobody can see evaluated: the executor tests nothing before these
CREATE FUNCTION seen(i int) RETURNS bool VOLATILE LANGUAGE plpgsql COST 0.1 AS 'BEGIN RETURN i >= 0; END';
CREATE FUNCTION unseen(i int) RETURNS bool IMMUTABLE LANGUAGE plpgsql COST 0.1 AS 'BEGIN RETURN i >= 0; END';
SELECT planned('SELECT count(*) FROM star WHERE ag < 2 AND bg = 1 AND seen(c)') AS volatile,
	planned('SELECT count(*) FROM star WHERE ag < 2 AND bg = 1 AND unseen(c)') AS immutable,
	planned('SELECT count(*) FROM star WHERE ag < 2 AND bg = 1 AND c <> ALL (SELECT 1 - star.c)') AS subquery,
	planned('SELECT count(*) FROM star WHERE ag < 2 AND bg = 1 AND c <> ALL (ARRAY[1, 2])') AS list;

-- P4. No scan is as good as an index that fetches less than a tenth of the rows
SET random_page_cost = 130;
SELECT planned('SELECT sum(fact.c) FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.id < 40 AND b.g = 1') AS eight_percent,
	planned('SELECT sum(fact.c) FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.id < 60 AND b.g = 1') AS twelve_percent;
RESET random_page_cost;
-- or that has all columns itself
SELECT planned('SELECT count(*) FROM fact JOIN a ON a.id = fact.a WHERE a.g < 2') AS index_only,
	planned('SELECT count(c) FROM fact JOIN a ON a.id = fact.a WHERE a.g < 2') AS fetched;
-- or in whose order the rows lie
CREATE TABLE ordered AS SELECT * FROM fact ORDER BY a;
CREATE INDEX ON ordered (a);
ANALYZE ordered;
SELECT planned('SELECT count(c) FROM ordered JOIN a ON a.id = ordered.a WHERE a.g < 2') AS ordered;
-- that looks up no more than the provider keeps, whatever ANALYZE has made of many values
CREATE TABLE item (id int PRIMARY KEY, g int);
INSERT INTO item SELECT i, i % 16 FROM generate_series(1, 60000) AS i;
CREATE TABLE sale (item int, n int);
INSERT INTO sale SELECT i * 7919::int8 % 60000 + 1, i FROM generate_series(1, 60000) AS i;
CREATE INDEX ON sale (item);
ALTER TABLE sale ALTER item SET (n_distinct = 25000);
ANALYZE item, sale;
SET enable_mergejoin = off;
SET cpu_operator_cost = 0.01;
SELECT rows_of('SELECT sum(n) FROM sale JOIN item ON item.id = sale.item WHERE item.g < 1');
SELECT planned('SELECT sum(n) FROM sale JOIN item ON item.id = sale.item WHERE item.g < 1') AS six_percent,
	planned('SELECT sum(n) FROM sale JOIN item ON item.id = sale.item WHERE item.g < 2') AS twelve_percent;
SET cpu_operator_cost = 0.25;
RESET enable_mergejoin;

-- P5. Providers: joined by columns that the executor tests where the table is scanned
CREATE INDEX ON fact (t);
CREATE TABLE lists AS SELECT ARRAY[b] AS l, c FROM fact;
CREATE INDEX ON lists (l);
CREATE TABLE lists_b AS SELECT ARRAY[id] AS l FROM b WHERE g < 4;
ANALYZE lists, lists_b;
SELECT planned('SELECT sum(c) FROM fact JOIN a ON a.id = fact.a + 0 WHERE a.g < 2') AS expression,
	planned('SELECT sum(c) FROM fact JOIN b USING (t) WHERE b.g < 4') AS text,
	planned('SELECT sum(c) FROM fact JOIN a ON a.id = fact.a AND a.b <> fact.c JOIN b ON b.id = fact.b WHERE a.g = 1 AND b.g = 1') AS more,
	planned('SELECT sum(c) FROM lists JOIN lists_b USING (l)') AS arrays;
-- without which rows do not stay
SELECT planned('SELECT sum(c) FROM fact LEFT JOIN a ON a.id = fact.a AND a.g < 2') AS left,
	planned('SELECT sum(c) FROM fact WHERE NOT EXISTS (SELECT FROM a WHERE a.id = fact.a AND a.g < 2)') AS anti,
	planned('SELECT sum(c) FROM fact FULL JOIN (SELECT * FROM a WHERE g < 2) AS a ON a.id = fact.a') AS full,
	planned('SELECT sum(c) FROM fact WHERE EXISTS (SELECT FROM a WHERE a.id = fact.a AND a.g < 2)') AS semi,
	planned('SELECT sum(c) FROM a LEFT JOIN fact ON a.id = fact.a WHERE a.g < 2') AS right;
-- tables, with what restricts them
CREATE TABLE small AS SELECT i AS id, i % 10 AS g FROM generate_series(0, 9) AS i;
ANALYZE small;
SELECT planned('SELECT sum(c) FROM fact JOIN (SELECT id FROM a WHERE g < 2 OFFSET 0) AS a ON a.id = fact.a') AS subquery,
	planned('SELECT sum(c) FROM fact JOIN a ON a.id = fact.a JOIN small ON small.id = a.g JOIN b ON b.id = fact.b WHERE small.g < 3 AND b.g = 1') AS small,
	planned('SELECT sum(c) FROM fact JOIN a ON a.id = fact.a LEFT JOIN small ON small.id = a.g AND small.g < 3') AS optional;
EXPLAIN (COSTS OFF) SELECT sum(c) FROM fact JOIN a ON a.id = fact.a JOIN small ON small.id = a.g JOIN b ON b.id = fact.b WHERE small.g < 3 AND b.g = 1;

-- P6. What the executor does not pass is above the joins that filter
CREATE TABLE n AS SELECT i % 100 * 10 AS id, i AS x FROM generate_series(0, 999) AS i;
ANALYZE n;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star JOIN (SELECT id FROM n GROUP BY 1 OFFSET 0) AS n ON n.id = star.c WHERE ag < 2 AND bg = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star JOIN n ON n.x = star.c WHERE ag < 2 AND bg = 1 AND n.id = 10;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star JOIN n ON n.x = star.c AND seen(n.id + star.s) WHERE ag < 2 AND bg = 1 AND n.id = 10;

-- P7. The usual plan has filters, too
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN b ON b.id = fact.b WHERE b.g < 4;
SELECT planned('SELECT count(*) FROM fact JOIN b ON b.id = fact.b WHERE b.g < 4') AS scanned,
	planned('SELECT count(*) FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.g < 2 AND b.g < 4') AS fetched;

-- P8. Regret: if no filter drops anything, the plan costs less than twice the first
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1 AND unseen(c)') AS twice,
	planned('SELECT count(*) FROM star WHERE ag < 2 AND bg = 1 AND unseen(c)') AS less;

-- Partitions: each has its part
CREATE TABLE parts (LIKE fact) PARTITION BY LIST (s);
CREATE TABLE parts_0 (s int, t text, c int, b int, a int);
ALTER TABLE parts ATTACH PARTITION parts_0 FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT PARTITION BY RANGE (a);
CREATE TABLE parts_10 PARTITION OF parts_1 FOR VALUES FROM (0) TO (250);
CREATE TABLE parts_11 PARTITION OF parts_1 DEFAULT;
INSERT INTO parts SELECT * FROM fact;
CREATE INDEX ON parts (a);
CREATE VIEW part_star AS SELECT parts.*, a.g AS ag, b.g AS bg FROM parts JOIN a ON a.id = parts.a JOIN b ON b.id = parts.b;
ANALYZE parts;
SET cpu_operator_cost = 1;
SET bloomtype_scan.plan = off;
EXPLAIN (COSTS OFF) SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1;
SET bloomtype_scan.plan = on;
EXPLAIN (COSTS OFF) SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1;
SELECT planned('SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1');
SELECT rows_of('SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1');
-- those that are left
SELECT rows_of('SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1 AND s = 1');
-- conditions of one that somebody can see
CREATE POLICY p ON parts_0 USING (true);
SELECT planned('SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1 AND seen(c)') AS volatile;
-- tables that inherit
CREATE TABLE inherited (a int, b int, c int);
CREATE TABLE inherits () INHERITS (inherited);
INSERT INTO inherited SELECT a, b, c FROM fact WHERE s = 0;
INSERT INTO inherits SELECT a, b, c FROM fact WHERE s = 1;
CREATE INDEX ON inherited (a);
CREATE INDEX ON inherits (a);
ANALYZE inherited, inherits;
SELECT planned('SELECT sum(inherited.c) FROM inherited JOIN a ON a.id = inherited.a JOIN b ON b.id = inherited.b WHERE a.g = 1 AND b.g = 1') AS inherited,
	planned('SELECT sum(inherited.c) FROM ONLY inherited JOIN a ON a.id = inherited.a JOIN b ON b.id = inherited.b WHERE a.g = 1 AND b.g = 1') AS only;
SET cpu_operator_cost = 0.25;

-- GEQO
SET geqo_threshold = 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM star WHERE ag = 1 AND bg = 1;
SELECT planned('SELECT count(*) FROM star JOIN small ON small.id = ag JOIN small AS x ON x.id = bg WHERE ag = 1 AND bg = 1');
RESET geqo_threshold;

-- what was joined before: with an explicit order, each join is planned by itself
SET join_collapse_limit = 1;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
RESET join_collapse_limit;

-- rows that cost nothing; the tests' bounds take them all the same
SET bloomtype_scan.testing = small;
SET cpu_tuple_cost = 0;
SELECT planned('SELECT count(*) FROM star WHERE ag = 1 AND bg = 1');
SET cpu_tuple_cost = 1;
RESET bloomtype_scan.testing;

-- Workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT sum(fact.c) FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.id < 140 AND b.g = 1;
SELECT planned('SELECT sum(fact.c) FROM fact JOIN a ON a.id = fact.a JOIN b ON b.id = fact.b WHERE a.id < 140 AND b.g = 1');
EXPLAIN (COSTS OFF) SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1;
SELECT planned('SELECT sum(c) FROM part_star WHERE ag = 1 AND bg = 1');
-- Parallel Hash in batches has no filter, and gives no credit
SET enable_mergejoin = off;
SET cpu_operator_cost = 0.01;
SELECT planned('SELECT sum(n) FROM sale JOIN item ON item.id = sale.item WHERE item.g < 2') AS one_batch;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
EXPLAIN (COSTS OFF) SELECT sum(n) FROM sale JOIN item ON item.id = sale.item WHERE item.g < 2;

DROP SCHEMA scan_plan CASCADE;
