--
-- bloom_seen in parallel plans: the node below Gather
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

CREATE TABLE clicks AS
SELECT i AS row, (hashint8extended(i, 1) & 8191)::bigint AS id, i % 10 AS ad FROM generate_series(1, 100000) AS i;
CREATE INDEX clicks_row ON clicks (row);
ALTER TABLE clicks SET (parallel_workers = 2);
VACUUM ANALYZE clicks;

\c -
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0.0001;
SET work_mem = '4MB';

--
-- Plans
--

EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
EXPLAIN (VERBOSE, COSTS OFF) SELECT row, NOT bloom_seen((id, ad), 1e4, 0.001) OVER () FROM clicks;

CREATE FUNCTION is_parallel(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	parallel text := 'no node';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Custom Scan (bloom_seen)%' THEN
			parallel := CASE WHEN line LIKE '%Parallel%' THEN 'parallel' ELSE 'serial' END;
		END IF;
	END LOOP;
	RETURN parallel;
END
$$;
CREATE FUNCTION unsafe(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL UNSAFE AS 'SELECT $1';
CREATE FUNCTION restricted(bigint) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS 'BEGIN RETURN $1; END';
SELECT what, is_parallel(query)
FROM (VALUES
	('rows', 'SELECT *, bloom_seen(id) OVER () FROM clicks'),
	('sorted after it', 'SELECT *, bloom_seen(id) OVER () AS seen FROM clicks ORDER BY row'),
	('groups after it', 'SELECT ad, count(*) FROM (SELECT ad, bloom_seen(id) OVER () AS seen FROM clicks) AS c WHERE NOT seen GROUP BY ad'),
	('joined below', 'SELECT count(*) FROM (SELECT bloom_seen(d.id) OVER () AS seen FROM clicks AS c JOIN clicks AS d USING (row)) AS s WHERE NOT seen'),
	('an initplan in the numbers', 'SELECT count(*) FROM (SELECT bloom_seen(id, (SELECT count(*) FROM clicks), 0.01) OVER () AS seen FROM clicks) AS s WHERE NOT seen'),
	('DISTINCT above', 'SELECT DISTINCT ad FROM (SELECT ad, bloom_seen(id) OVER () AS seen FROM clicks) AS s WHERE NOT seen'),
	('UNION ALL above', 'SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS seen FROM clicks UNION ALL SELECT bloom_seen(ad) OVER () FROM clicks) AS s WHERE NOT seen'),
	('an order of the window', 'SELECT bloom_seen(id) OVER (ORDER BY row) FROM clicks'),
	('an order below', 'SELECT bloom_seen(id) OVER () FROM (SELECT * FROM clicks ORDER BY row) AS c'),
	('a limit below', 'SELECT bloom_seen(id) OVER () FROM (SELECT * FROM clicks LIMIT 1000) AS c'),
	('partitions of the window', 'SELECT bloom_seen(id) OVER (PARTITION BY ad) FROM clicks'),
	('two windows', 'SELECT bloom_seen(id) OVER (), rank() OVER (ORDER BY row) FROM clicks'),
	('unsafe', 'SELECT bloom_seen(unsafe(id)) OVER () FROM clicks'),
	('a restricted key', 'SELECT bloom_seen(restricted(id)) OVER () FROM clicks'),
	('a restricted column', 'SELECT restricted(id), bloom_seen(id) OVER () FROM clicks'),
	('a restricted number', 'SELECT bloom_seen(id, restricted(10), 0.1) OVER () FROM clicks'),
	('numbers of the first row', 'SELECT bloom_seen(id, row, 0.01) OVER () FROM clicks'),
	('sets of rows', 'SELECT generate_series(1, ad), bloom_seen(id) OVER () FROM clicks'),
	('rows to write', 'INSERT INTO clicks SELECT row, id FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM clicks) AS c WHERE NOT seen'))
	AS q (what, query);
-- more than the processes may take; a hash join has the same limit
SET work_mem = '64kB';
SELECT is_parallel('SELECT bloom_seen(id) OVER () FROM clicks') AS exact,
	   is_parallel('SELECT bloom_seen(id, 1e4, 0.01) OVER () FROM clicks') AS sized,
	   is_parallel('SELECT bloom_seen(id, 1e6, 0.01) OVER () FROM clicks') AS too_large;
SET work_mem = '4MB';
SET bloomtype.enable_seen_scan = off;
SELECT is_parallel('SELECT bloom_seen(id) OVER () FROM clicks') AS when_off;
RESET bloomtype.enable_seen_scan;

--
-- Costs: in parallel where that is faster, at default settings
--

-- as many rows as its statistics say
CREATE TABLE sized AS SELECT i AS row, i::bigint AS id FROM generate_series(1, 1000000) AS i;
VACUUM ANALYZE sized;
CREATE FUNCTION chosen(form text, nrows float8, ndistinct float8, workers int, mem text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	answer text := '';
	query text;
BEGIN
	UPDATE pg_class SET reltuples = nrows WHERE oid = 'sized'::regclass;
	UPDATE pg_statistic SET stadistinct = ndistinct WHERE starelid = 'sized'::regclass AND staattnum = 2;
	-- as many as tables of this size have by themselves
	EXECUTE format('ALTER TABLE sized SET (parallel_workers = %s)', least(workers, CASE nrows WHEN 1e4 THEN 0 WHEN 1e6 THEN 2 ELSE 4 END));
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM set_config('work_mem', mem, true);
	RETURN is_parallel(format('SELECT count(*) FROM (SELECT %s OVER () AS seen FROM sized) AS s WHERE NOT seen', form)) || ', '
		|| is_parallel(format('SELECT * FROM (SELECT *, %s OVER () AS seen FROM sized) AS s WHERE NOT seen', form)) || ', '
		|| is_parallel(format('SELECT *, %s OVER () AS seen FROM sized', form));
END
$$;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
BEGIN;
SELECT nrows, repeats || ' %' AS repeats, workers, chosen('bloom_seen(id)', nrows, repeats / 100.0 - 1, workers, '64MB') AS "exact: count, new rows, all rows",
	   chosen(format('bloom_seen(id, %s, 0.01)', nrows), nrows, repeats / 100.0 - 1, workers, '64MB') AS sized
FROM (VALUES (1e4), (1e6), (1e7)) AS n (nrows), (VALUES (10), (90)) AS p (repeats), (VALUES (0), (2), (4)) AS w (workers)
ORDER BY nrows, repeats, workers;
-- in the exact form, as much memory as of hash joins
SELECT mem, chosen('bloom_seen(id)', 1e7, -0.9, 4, mem) AS "10 %", chosen('bloom_seen(id)', 1e7, -0.1, 4, mem) AS "90 %"
FROM (VALUES ('4MB'), ('32MB')) AS m (mem) ORDER BY mem DESC;
ROLLBACK;
DROP TABLE sized;
DROP FUNCTION chosen;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0.0001;

--
-- Answers: one row of each key is new
--

CREATE VIEW new_rows AS SELECT * FROM (SELECT *, bloom_seen(NULLIF(id, 7)) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
SELECT count(*) AS new, count(DISTINCT id) AS keys, count(*) FILTER (WHERE id = 7) = (SELECT count(*) FROM clicks WHERE id = 7) AS all_nulls
FROM new_rows;
SELECT count(*) AS new, count(DISTINCT id) AS keys FROM (SELECT id, bloom_seen(id, 10000, 1e-9) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
SELECT count(*) AS new, count(DISTINCT doc) AS keys
FROM (SELECT doc, bloom_seen(doc) OVER () AS seen FROM (SELECT 'https://example.org/' || id AS doc FROM clicks) AS d) AS c WHERE NOT seen;
SELECT sum(new) AS new FROM (SELECT count(*) AS new FROM new_rows GROUP BY ad) AS g;
-- the rows themselves
CREATE TEMPORARY TABLE kept AS SELECT * FROM new_rows;
SELECT count(*) AS rows, count(*) FILTER (WHERE (row, id) IN (SELECT row, id FROM clicks)) AS of_the_table FROM kept;

-- a rescan begins anew
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF)
SELECT g, count(*) FROM generate_series(1, 3) AS g LEFT JOIN (SELECT id FROM new_rows OFFSET 0) AS n ON n.id > g GROUP BY g ORDER BY g;
SELECT g, count(*) FROM generate_series(1, 3) AS g LEFT JOIN (SELECT id FROM new_rows OFFSET 0) AS n ON n.id > g GROUP BY g ORDER BY g;
-- ... also after a limit has ended it
SELECT g, count(*) FROM generate_series(1, 3) AS g LEFT JOIN (SELECT id FROM new_rows WHERE id IS NOT NULL LIMIT 5000) AS n ON n.id >= g - g GROUP BY g ORDER BY g;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- a limit ends it before its end
SELECT count(*) AS ten FROM (SELECT * FROM new_rows LIMIT 10) AS n;

-- no workers are free
SET max_parallel_workers = 0;
SELECT count(*) AS new, count(DISTINCT id) AS keys FROM new_rows;
RESET max_parallel_workers;
-- no parallel mode
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM new_rows WHERE id < 5 OR id > 8190;
FETCH FROM c \gset
MOVE FORWARD ALL FROM c;
COMMIT;
DO $$
DECLARE
	n int := 0;
	r record;
BEGIN
	FOR r IN SELECT * FROM new_rows LOOP
		n := n + 1;
	END LOOP;
	RAISE NOTICE '% rows in a loop', n;
END
$$;
-- the leader reads nothing
SET parallel_leader_participation = off;
SELECT count(*) AS new, count(DISTINCT id) AS keys FROM new_rows;

-- the memory is refused: one process reads all
PREPARE kept AS SELECT count(*) AS new, count(DISTINCT id) AS keys FROM new_rows;
PREPARE sized AS SELECT count(*) AS new, count(DISTINCT id) AS keys FROM (SELECT id, bloom_seen(id, 5000, 1e-9) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
SET plan_cache_mode = force_generic_plan;
SET client_min_messages = error;
EXECUTE kept;
EXECUTE sized;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
RESET client_min_messages;
SELECT is_parallel('EXECUTE kept') AS plan;
EXECUTE kept;
-- with one WARNING
EXECUTE sized;
RESET parallel_leader_participation;
EXECUTE kept;
EXECUTE sized;
RESET work_mem;
RESET hash_mem_multiplier;
RESET plan_cache_mode;
SET work_mem = '4MB';

--
-- Errors and warnings come from the leader
--

-- more keys than the capacity
SELECT count(*) > 1000 AS some FROM (SELECT bloom_seen(id, 1000, 0.01) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
-- fail: numbers out of range, also without a row
SELECT count(*) FROM (SELECT bloom_seen(id, -1, 0.01) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
SELECT count(*) FROM (SELECT bloom_seen(id, NULL, 0.01) OVER () AS seen FROM clicks WHERE row < 0) AS c WHERE NOT seen;
-- fail: a key without equality
SELECT count(*) FROM (SELECT bloom_seen(point(id, 1)) OVER () AS seen FROM clicks) AS c WHERE NOT seen;

--
-- EXPLAIN ANALYZE: the keys of all processes; of rescans, the mean, and the most memory
--

CREATE FUNCTION analyzed(query text) RETURNS TABLE (keys float8, several_kb boolean)
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		keys := coalesce(substring(line FROM 'Distinct Keys: ([0-9]+)')::float8, keys);
		several_kb := coalesce(substring(line FROM 'Memory Usage: ([0-9]+)')::int > 8, several_kb);
	END LOOP;
	RETURN NEXT;
END
$$;
SELECT * FROM analyzed('SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS seen FROM clicks) AS c WHERE NOT seen');
SELECT * FROM analyzed('SELECT count(*) FROM (SELECT bloom_seen(id, 1e4, 1e-9) OVER () AS seen FROM clicks) AS c WHERE NOT seen');
SET enable_material = off;
SELECT * FROM analyzed('SELECT count(*) FROM generate_series(1, 3) AS g, (SELECT seen FROM (SELECT bloom_seen(id) OVER () AS seen FROM clicks) AS c WHERE NOT seen OFFSET 0) AS n');
RESET enable_material;
-- nothing, where a LIMIT ends the query while workers are at work
CREATE FUNCTION slow(k bigint) RETURNS bigint PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN k; END $$;
SET parallel_leader_participation = off;
SELECT keys IS NULL AS not_known FROM analyzed('SELECT * FROM (SELECT bloom_seen(slow(id::bigint)) OVER () AS seen FROM clicks) AS c WHERE NOT seen LIMIT 1');
RESET parallel_leader_participation;

-- The whole of a shared filter is there from the beginning.  So for a capacity
-- that is far above the expected keys, the plan is serial.
SELECT capacity, is_parallel(format('SELECT count(*) FROM (SELECT bloom_seen(id, %s, 0.01) OVER () AS seen FROM clicks) AS c WHERE NOT seen', capacity)) AS parallel
FROM unnest('{1e3,1e5,1e7,3e8}'::float8[]) AS capacity;

DROP VIEW new_rows;
DROP TABLE clicks;
DROP FUNCTION is_parallel, analyzed, slow, unsafe, restricted;
