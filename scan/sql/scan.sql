--
-- Joins that filter by themselves: bloomtype_scan
--
LOAD 'bloomtype_scan';
SHOW bloomtype_scan.enabled;
-- fail: the prefix is reserved
SET bloomtype_scan.enable = on;

CREATE SCHEMA scan;
SET search_path = scan, public;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
CREATE TABLE fact (k int, s int, n text);
INSERT INTO fact SELECT i % 1000, i % 100, 'n' || i % 50 FROM generate_series(1, 20000) AS i;
CREATE TABLE dim (k int8, n text, g int);
INSERT INTO dim SELECT i, 'n' || i, i % 10 FROM generate_series(1, 20) AS i;
CREATE TABLE shop (s int, n text);
INSERT INTO shop SELECT i, 'n' || i FROM generate_series(1, 5) AS i;
CREATE TABLE parts (LIKE fact) PARTITION BY LIST (s);
CREATE TABLE parts_0 (n text, s int, k int);
ALTER TABLE parts ATTACH PARTITION parts_0 FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM fact;
ANALYZE;

-- loaded, but not enabled: no difference
SET bloomtype_scan.enabled = off;
EXPLAIN (COSTS OFF) SELECT * FROM fact JOIN dim USING (k);
RESET bloomtype_scan.enabled;

-- one node for all joins, above the scan that the keys come from
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN dim USING (k) JOIN shop USING (s) WHERE fact.n <> 'n7';
SELECT count(*) FROM fact JOIN dim USING (k) JOIN shop USING (s) WHERE fact.n <> 'n7';
EXPLAIN (VERBOSE, COSTS OFF) SELECT fact.n FROM fact JOIN dim USING (k);
-- one above each partition that costs enough
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts JOIN dim USING (k);
SELECT count(*) FROM parts JOIN dim USING (k);
-- a subplan that they share has one filter for each join
CREATE FUNCTION hash_conditions(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Hash Cond:%' THEN RETURN NEXT trim(line); END IF;
	END LOOP;
END $$;
SELECT hash_conditions('SELECT count(*) FROM parts WHERE k = (SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.g > parts.s)');
-- EXPLAIN (SETTINGS) shows it
SELECT pg_settings_get_flags('bloomtype_scan.enabled');
-- where a node stands, the cost of the scan says, not the rows that are expected of a condition
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN dim USING (k) WHERE s % 3 = 1;
-- too few rows for a filter to pay; tests have them
EXPLAIN (COSTS OFF) SELECT * FROM shop AS a JOIN shop AS b USING (s);
SET bloomtype_scan.testing = force;
EXPLAIN (COSTS OFF) SELECT * FROM shop AS a JOIN shop AS b USING (s);

-- what an instrumented node tells: of 20000 rows 400 have a partner, and one
-- row comes before there is a table
CREATE FUNCTION counts(query text, OUT passed int, OUT removed int, OUT untested int) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    SELECT (n ->> 'Actual Rows')::numeric, (n ->> 'Rows Removed by Bloom Filter')::numeric, (n ->> 'Rows Not Tested')::numeric
    INTO passed, removed, untested
    FROM jsonb_path_query(plan, 'strict $.**?(@."Custom Plan Provider" == "Bloom Filter")') AS n;
END $$;
SELECT passed BETWEEN 400 AND 420 AS few_pass, passed + removed AS rows, untested FROM counts('SELECT FROM fact JOIN dim USING (k)');
SELECT passed BETWEEN 400 AND 420 AS few_pass, passed + removed AS rows, untested FROM counts('SELECT FROM fact JOIN dim USING (k) WHERE fact.s >= 0');

-- all rows are accounted for: those of the scan met its condition, or were dropped unasked;
-- of several loops EXPLAIN shows averages, which are rounded
CREATE FUNCTION sums(query text, OUT read int, OUT adds_up boolean, OUT loops int) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
    ours jsonb;
    scan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    ours := jsonb_path_query_first(plan, 'strict $.**?(@."Custom Plan Provider" == "Bloom Filter")');
    scan := ours -> 'Plans' -> 0;
    loops := scan ->> 'Actual Loops';
    read := ((scan ->> 'Actual Rows')::numeric + coalesce((scan ->> 'Rows Removed by Filter')::numeric, 0)) * loops;
    adds_up := ours ->> 'Actual Loops' = loops::text
        AND abs((ours ->> 'Actual Rows')::numeric + coalesce((ours ->> 'Rows Removed by Bloom Filter')::numeric, 0) + coalesce((ours ->> 'Rows Removed by Filter')::numeric, 0)
            - (scan ->> 'Actual Rows')::numeric) <= CASE loops WHEN 1 THEN 0 ELSE 2 END
        AND coalesce((ours ->> 'Rows Not Tested')::numeric, 0) <= (ours ->> 'Actual Rows')::numeric + CASE loops WHEN 1 THEN 0 ELSE 1 END;
END $$;
CREATE TABLE few AS SELECT bloom_agg(i) AS f FROM generate_series(0, 99) AS i;
CREATE TABLE query (n serial, q text);
INSERT INTO query (q) VALUES ('SELECT FROM fact JOIN dim USING (k) WHERE s % 3 = 1'), ('SELECT FROM fact JOIN dim USING (n)'), ('SELECT s + 1 FROM fact JOIN dim USING (n) WHERE s % 3 = 1'),
    ($$SELECT FROM fact JOIN dim USING (k) WHERE (SELECT f FROM few) @> s AND fact.n LIKE '%1'$$), ($$SELECT FROM fact WHERE fact.n LIKE '%1' AND (SELECT f FROM few) @> k$$),
    ('SELECT FROM (SELECT s + 1 AS t FROM fact WHERE s < 50 OFFSET 0) AS f JOIN shop ON shop.s = t');
CREATE FUNCTION all_sums(testing text) RETURNS TABLE (n int, read int, adds_up boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('bloomtype_scan.testing', testing, false);
    RETURN QUERY SELECT query.n, s.read, s.adds_up FROM query, sums(q) AS s ORDER BY query.n;
END $$;
SELECT * FROM all_sums('force');
SELECT * FROM all_sums('small') WHERE NOT adds_up OR read <> 20000;
SELECT * FROM all_sums('off') WHERE NOT adds_up OR read <> 20000;
-- with workers, and in loops
CREATE FUNCTION many_sums(form text, times int) RETURNS TABLE (n int, testing text, several boolean, all_read boolean, adds_up boolean) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH testing IN ARRAY '{force,small,off}'::text[] LOOP
        PERFORM set_config('bloomtype_scan.testing', testing, false);
        RETURN QUERY SELECT query.n, many_sums.testing, s.loops > 1, abs(s.read - 20000 * times) <= 2 * s.loops, s.adds_up
            FROM query, sums(format(form, q)) AS s WHERE query.n IN (1, 2, 4, 5);
    END LOOP;
END $$;
SELECT several, all_read, adds_up, count(*) FROM many_sums('SELECT FROM generate_series(1, 3) AS g, LATERAL (SELECT FROM (%s OFFSET 0) AS q WHERE g > 0 OFFSET 0) AS s', 3) GROUP BY 1, 2, 3;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT bool_or(several) AS workers, all_read, adds_up, count(*) FROM many_sums('SELECT count(*) FROM (%s) AS s', 1) GROUP BY all_read, adds_up;
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- but behind a security barrier the condition goes first
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM fact WHERE s < 10;
SET bloomtype_scan.testing = force;
CREATE FUNCTION tested(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, 'strict $.**.Tested') #>> '{}';
END $$;
SELECT tested('SELECT FROM fact JOIN dim USING (k) WHERE s < 10');
SELECT tested('SELECT FROM barrier JOIN dim USING (k)');
SELECT tested('SELECT FROM (SELECT DISTINCT k FROM (SELECT * FROM barrier OFFSET 0) AS b JOIN dim USING (k)) AS s');

-- the server's statistics count the rows that are read, also those that are dropped; not those of before
DO $$ BEGIN PERFORM pg_stat_force_next_flush(); END $$;
BEGIN;
SELECT count(*) FROM fact JOIN dim USING (k);
SELECT seq_tup_read / seq_scan AS rows FROM pg_stat_xact_user_tables WHERE relid = 'fact'::regclass;
COMMIT;

-- types of joins: those that return outer rows without a partner have none
EXPLAIN (COSTS OFF) SELECT * FROM fact LEFT JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM fact FULL JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE dim.k = fact.k);
EXPLAIN (COSTS OFF) SELECT * FROM fact WHERE EXISTS (SELECT FROM dim WHERE dim.k = fact.k);
EXPLAIN (COSTS OFF) SELECT * FROM fact RIGHT JOIN dim USING (k);
-- operators that are not equality of columns have none
EXPLAIN (COSTS OFF) SELECT * FROM fact JOIN dim ON fact.k % 10 = dim.k;
EXPLAIN (COSTS OFF) SELECT * FROM fact JOIN dim ON fact.k = dim.k + 1;

-- what is passed: the outer sides of joins that keep it, subqueries, partitions
SET join_collapse_limit = 1;
EXPLAIN (COSTS OFF) SELECT * FROM fact LEFT JOIN shop USING (s) JOIN dim USING (k);
SET enable_nestloop = on;
EXPLAIN (COSTS OFF) SELECT * FROM fact JOIN shop ON fact.s < shop.s JOIN dim USING (k);
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, s + 1 AS t FROM fact OFFSET 0) AS f JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, n FROM fact UNION ALL SELECT k + 1, n FROM fact) AS f JOIN dim USING (k);
-- what is not: LIMIT, DISTINCT, volatile functions, sets of rows
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM fact ORDER BY k, s LIMIT 1000) AS f JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT DISTINCT k, s FROM fact) AS f JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, random() FROM fact) AS f JOIN dim USING (k);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, generate_series(1, 2) FROM fact) AS f JOIN dim USING (k);
EXPLAIN (COSTS OFF) WITH f AS MATERIALIZED (SELECT k FROM fact) SELECT * FROM f JOIN dim USING (k);
RESET join_collapse_limit;

-- a key that is null has no partner, but one that is not known does no harm
SELECT count(*) FROM (SELECT NULLIF(k, 7) AS k FROM fact) AS f JOIN dim USING (k);
INSERT INTO dim SELECT NULL, 'null', 1;
SELECT count(*), count(f.k) FROM fact AS f RIGHT JOIN dim USING (k);
-- wide and narrow integers
SELECT count(*) FROM (VALUES (1::int8), (-1), (2 ^ 32 + 1), (NULL)) AS v (k) JOIN (VALUES (1::int2), (-1)) AS w (k) USING (k);

-- a filter goes with its table: each group has another one
SELECT g, (SELECT count(*) FROM parts JOIN (SELECT k FROM dim WHERE dim.g = groups.g OFFSET 0) AS d USING (k)) AS rows
FROM generate_series(0, 9) AS groups (g) ORDER BY g;

-- so does each round of a recursive query
EXPLAIN (COSTS OFF) WITH RECURSIVE r (k) AS (VALUES (1) UNION SELECT fact.k + 1 FROM r JOIN fact ON fact.k = r.k WHERE fact.k < 50)
SELECT count(*), max(k) FROM r;
WITH RECURSIVE r (k) AS (VALUES (1) UNION SELECT fact.k + 1 FROM r JOIN fact ON fact.k = r.k WHERE fact.k < 50)
SELECT count(*), max(k) FROM r;

-- prepared statements, cursors
PREPARE rows (int) AS SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.g = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE rows (1);
EXECUTE rows (2);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT fact.k, fact.s FROM fact JOIN dim USING (k);
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
COMMIT;

-- changes of rows
BEGIN;
UPDATE fact SET n = 'new' FROM dim WHERE fact.k = dim.k AND dim.g = 3;
DELETE FROM fact USING dim WHERE fact.k = dim.k AND dim.g = 4;
MERGE INTO parts USING (SELECT k, min(g) AS g FROM dim GROUP BY k) AS d ON parts.k = d.k
WHEN MATCHED AND g = 5 THEN DELETE WHEN MATCHED THEN UPDATE SET n = 'new' WHEN NOT MATCHED THEN DO NOTHING;
SELECT count(*), count(*) FILTER (WHERE n = 'new') FROM fact;
SELECT count(*), count(*) FILTER (WHERE n = 'new') FROM parts;
ROLLBACK;

-- a security barrier: a hash function of an extension does not see what is
-- behind it; here it tells what it sees
CREATE TYPE one AS (i int);
CREATE FUNCTION one_eq(one, one) RETURNS boolean STRICT IMMUTABLE COST 1 LANGUAGE plpgsql AS 'BEGIN RETURN $1.i = $2.i; END';
CREATE FUNCTION one_hash(one) RETURNS int STRICT IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF $1.i > 8000 THEN RAISE NOTICE 'hidden: %', $1.i; END IF;
    RETURN hashint4($1.i);
END $$;
CREATE OPERATOR = (LEFTARG = one, RIGHTARG = one, FUNCTION = one_eq, COMMUTATOR = =, HASHES, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE OPERATOR CLASS one_ops DEFAULT FOR TYPE one USING hash AS OPERATOR 1 =, FUNCTION 1 one_hash(one);
CREATE TABLE ones AS SELECT ROW(i)::one AS o, i FROM generate_series(1, 10000) AS i;
CREATE VIEW visible WITH (security_barrier) AS SELECT * FROM ones WHERE i <= 8000;
CREATE TABLE two AS SELECT ROW(i)::one AS o FROM generate_series(1, 2) AS i;
ANALYZE ones, two;
EXPLAIN (COSTS OFF) SELECT count(*) FROM visible JOIN two ON visible.o OPERATOR(=) two.o;
SELECT count(*) FROM visible JOIN two ON visible.o OPERATOR(=) two.o;


RESET bloomtype_scan.testing;
-- volatile functions are called as often as without, wherever they stand: in the LIMIT
-- of a nested loop's inner side, in a hash condition, on the inner side of a merge join
SET enable_memoize = off;
SET join_collapse_limit = 1;
SET from_collapse_limit = 1;
CREATE SEQUENCE called;
CREATE FUNCTION called(i int) RETURNS int VOLATILE LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''called''); RETURN i; END';
CREATE TABLE inside AS SELECT i AS k, i % 7 AS y FROM generate_series(0, 999) AS i;
CREATE TABLE price AS SELECT i::money AS m, i AS k, i % 100 AS s FROM generate_series(1, 20000) AS i;
CREATE INDEX ON inside (k);
CREATE INDEX ON price (m);
VACUUM ANALYZE inside, price;
CREATE FUNCTION calls(query text, method text, enabled text, OUT answer text, OUT calls bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('called', 1), set_config('enable_' || method, 'on', true), set_config('bloomtype_scan.enabled', enabled, true);
	EXECUTE query INTO answer;
	PERFORM set_config('enable_' || method, CASE method WHEN 'hashjoin' THEN 'on' ELSE 'off' END, true);
	calls := last_value FROM called;
END $$;
CREATE TABLE loud (n int, method text, query text);
INSERT INTO loud VALUES
	(1, 'nestloop', 'SELECT (count(*), sum(l.k)) FROM fact CROSS JOIN LATERAL (SELECT i.k FROM inside AS i WHERE i.k <= fact.s ORDER BY i.k LIMIT nextval(''called'') % 3) AS l JOIN dim ON dim.k = fact.k'),
	(2, 'hashjoin', 'SELECT count(*) FROM fact JOIN inside AS i ON (SELECT nextval(''called'') * 0 + fact.s + zero FROM (SELECT 0 AS zero OFFSET 0) AS z) = i.k JOIN dim ON dim.k = fact.k'),
	(3, 'mergejoin', 'SELECT count(*) FROM price LEFT JOIN (SELECT m, k FROM price WHERE called(k) >= 0 ORDER BY m OFFSET 0) AS i ON i.m = price.m AND i.k > price.s - 10 JOIN dim ON dim.k = price.k');
SET enable_sort = off;
SELECT n, method, w.answer = a.answer AS same_answer, w.calls = a.calls AS as_often, w.calls > 10000 AS often
FROM loud, calls(query, method, 'off') AS w, calls(query, method, 'on') AS a
ORDER BY n;
RESET enable_sort;
RESET enable_memoize;
RESET join_collapse_limit;
RESET from_collapse_limit;

-- only superusers test
CREATE ROLE scan_user;
SET ROLE scan_user;
SET bloomtype_scan.testing = force;
SET bloomtype_scan.enabled = off;
SET bloomtype_scan.enabled = maybe;
RESET ROLE;
DROP ROLE scan_user;

SET client_min_messages = warning;
DROP SCHEMA scan CASCADE;
