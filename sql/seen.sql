--
-- bloom_seen: was this key in an earlier row of the partition?
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- The keys are pseudo-random and the same in every run: 100,000 rows with
-- about 95,000 different keys, and times that order them otherwise.
CREATE TEMP TABLE clicks AS
SELECT i AS row, (hashint8extended(i, 1) & 1048575)::bigint AS id,
	   hashint8extended(i, 2) AS ts, i % 10 AS ad
FROM generate_series(1, 100000) AS i;
CREATE UNIQUE INDEX ON clicks (row);
ANALYZE clicks;

SELECT count(*) AS clicks, count(DISTINCT id) AS ids FROM clicks;

--
-- The exact form
--

-- row by row the same as numbering the rows of each key
SELECT count(*) AS rows, count(*) FILTER (WHERE NOT seen) AS first_ones,
	   bool_and(seen = (n > 1)) AS all_agree
FROM (SELECT bloom_seen(id) OVER (ORDER BY ts, row) AS seen,
			 row_number() OVER (PARTITION BY id ORDER BY ts, row) AS n
	  FROM clicks) AS s;

-- and lets the same rows through as DISTINCT ON
SELECT count(*) AS differences
FROM (SELECT row, id FROM (SELECT *, bloom_seen(id) OVER (ORDER BY ts, row) AS seen
						   FROM clicks) AS c
	  WHERE NOT seen) AS a
FULL JOIN (SELECT DISTINCT ON (id) row, id FROM clicks ORDER BY id, ts, row) AS b
	USING (row, id)
WHERE a.row IS NULL OR b.row IS NULL;

-- partition by partition, and in the other order at the same time
SELECT bool_and(up = (n_up > 1)) AS up_agrees,
	   bool_and(down = (n_down > 1)) AS down_agrees
FROM (SELECT bloom_seen(id) OVER (PARTITION BY ad ORDER BY ts, row) AS up,
			 bloom_seen(id) OVER (PARTITION BY ad ORDER BY ts DESC, row) AS down,
			 row_number() OVER (PARTITION BY ad, id ORDER BY ts, row) AS n_up,
			 row_number() OVER (PARTITION BY ad, id ORDER BY ts DESC, row) AS n_down
	  FROM clicks) AS s;

-- a frame does not matter
SELECT bool_and(a = b AND a = c) AS same_in_any_frame
FROM (SELECT bloom_seen(id) OVER (ORDER BY row) AS a,
			 bloom_seen(id) OVER (ORDER BY row ROWS BETWEEN 1 PRECEDING AND 5 FOLLOWING) AS b,
			 bloom_seen(id) OVER (ORDER BY row RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS c
	  FROM clicks WHERE row <= 10000) AS s;

-- so from PostgreSQL 16 on, the planner gives it the frame of row_number(), and
-- one node computes both; 18 shows the frame
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || ' ';
	END LOOP;
	RETURN plan;
END
$$;
SELECT cardinality(string_to_array(plan, 'WindowAgg')) - 1 = CASE WHEN server >= 160000 THEN 1 ELSE 2 END AS one_node,
	   (plan LIKE '%(ORDER BY "row" ROWS UNBOUNDED PRECEDING)%') = (server >= 180000) AS frame_shown
FROM CAST(current_setting('server_version_num') AS int) AS server,
	 pg_temp.plan_of('SELECT bloom_seen(id) OVER (ORDER BY row) AS a, bloom_seen(id, 10, 0.01) OVER (ORDER BY row) AS b,
							 row_number() OVER (ORDER BY row ROWS UNBOUNDED PRECEDING) FROM clicks') AS plan;
SELECT bool_and(a = (n > 1) AND b = (n > 1)) AS all_agree
FROM (SELECT bloom_seen(id) OVER (PARTITION BY ad ORDER BY ts, row) AS a,
			 bloom_seen(id) OVER (PARTITION BY ad ORDER BY ts, row ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING EXCLUDE TIES) AS b,
			 row_number() OVER (PARTITION BY ad, id ORDER BY ts, row) AS n,
			 rank() OVER (PARTITION BY ad ORDER BY ts, row) AS r
	  FROM clicks) AS s;

-- each run of a subquery starts anew
SELECT r, seen
FROM generate_series(1, 2) AS r,
	 LATERAL (SELECT bloom_seen(k) OVER () AS seen
			  FROM unnest(ARRAY[r, 7, 7]) AS k) AS s;

-- Two keys that were made to have equal hashes of the default seed are two keys:
-- by the plan node, in a rescan, and by WindowAgg, in a partition.
CREATE TEMP TABLE forged AS
SELECT i, k::uuid, uuid_send(k::uuid) AS bytes
FROM (VALUES (1, '7f3c2b1a-9d4e-4c6f-8a21-5b6c7d8e9f00'), (2, 'b93942ea-7b73-8267-d262-9c65d1bf2557')) AS v (i, k);
SELECT count(DISTINCT bloom_hash(k)) AS hashes_of_uuids, count(DISTINCT bloom_hash(bytes)) AS hashes_of_bytes FROM forged;
SELECT i, bloom_seen(k) OVER (ORDER BY i) AS seen FROM forged;
SELECT i, bloom_seen(bytes) OVER (ORDER BY i) AS seen FROM forged;
SELECT r, i, seen
FROM generate_series(1, 2) AS r, LATERAL (SELECT i, bloom_seen(k) OVER (ORDER BY i * r) AS seen FROM forged) AS s;
SELECT i, bloom_seen(k) OVER (PARTITION BY i > 0 ORDER BY i) AS seen_in_partition, bloom_seen(k) OVER (ORDER BY i DESC) AS seen_from_the_end
FROM forged ORDER BY i;

--
-- The form with a capacity
--

-- Repeats never pass.  The first ones that are lost are false positives of
-- a filter that fills up to its capacity, so at most one in 100 on average:
-- with 95,000 of them, at most 950 are expected, and 4.7 standard deviations
-- more are 1095.
SELECT count(*) FILTER (WHERE n > 1 AND NOT seen) AS repeats_that_passed,
	   count(*) FILTER (WHERE n = 1 AND seen) BETWEEN 1 AND 1095 AS few_lost
FROM (SELECT bloom_seen(id, 100000, 0.01) OVER (ORDER BY ts, row) AS seen,
			 row_number() OVER (PARTITION BY id ORDER BY ts, row) AS n
	  FROM clicks) AS s;

-- Which first ones are lost does not change from one run to the next.  Of 1000
-- at most 50 are expected, and 4.5 standard deviations more are 81.
CREATE TEMP TABLE lost AS
SELECT row FROM (SELECT row, bloom_seen(id, 1000, 0.05) OVER (ORDER BY row) AS seen,
						row_number() OVER (PARTITION BY id ORDER BY row) AS n
				 FROM clicks WHERE row <= 1000) AS s
WHERE seen AND n = 1;
SELECT count(*) BETWEEN 1 AND 81 AS some_lost, bool_and(again.seen) AS lost_again
FROM lost JOIN (SELECT row, bloom_seen(id, 1000, 0.05) OVER (ORDER BY row) AS seen
				FROM clicks WHERE row <= 1000) AS again USING (row);

-- So it has the default seed, and a key that was made for another's hash hides it.
SELECT i, bloom_seen(k, 1000, 1e-9) OVER (ORDER BY i) AS seen, bloom_seen(k, 1000, 1e-9) OVER (PARTITION BY i > 0 ORDER BY i) AS seen_in_partition
FROM forged;

-- one WARNING, however many partitions have too many keys, and no repeat passes
SELECT count(*) FILTER (WHERE n > 1 AND NOT seen) AS repeats_that_passed
FROM (SELECT bloom_seen(id, 1000, 0.01) OVER (PARTITION BY ad ORDER BY ts, row) AS seen,
			 row_number() OVER (PARTITION BY ad, id ORDER BY ts, row) AS n
	  FROM clicks) AS s;

-- no WARNING at capacity
SELECT count(*) FILTER (WHERE NOT seen) AS first_ones
FROM (SELECT bloom_seen(i, 1000, 1e-9) OVER () AS seen
	  FROM generate_series(1, 1000) AS i) AS s;

-- two calls with rates of their own, and a rate that changes with the partition:
-- each filter has the shape of its rate.  The keys that are lost are those that
-- a call alone loses.
CREATE TEMP TABLE rates AS
SELECT row, id, row % 3 AS part, (ARRAY[0.3, 0.01, 0.2])[row % 3 + 1] AS rate FROM clicks WHERE row <= 3000;
SELECT count(*) FILTER (WHERE both_a <> alone_a OR both_b <> alone_b OR changing <> alone_changing) AS differences,
	   count(*) FILTER (WHERE changing AND part = 0) > count(*) FILTER (WHERE changing AND part = 1) AS lost_by_rate
FROM (SELECT row, part, bloom_seen(id, 1000, 0.3) OVER w AS both_a, bloom_seen(id, 1000, 0.01) OVER w AS both_b,
			 bloom_seen(id, 1000, rate) OVER w AS changing
	  FROM rates WINDOW w AS (PARTITION BY part ORDER BY row)) AS together
JOIN (SELECT row, bloom_seen(id, 1000, 0.3) OVER (PARTITION BY part ORDER BY row) AS alone_a FROM rates) AS a USING (row)
JOIN (SELECT row, bloom_seen(id, 1000, 0.01) OVER (PARTITION BY part ORDER BY row) AS alone_b FROM rates) AS b USING (row)
JOIN (SELECT row, bloom_seen(id, 1000, 0.3) OVER (ORDER BY row) AS alone_changing FROM rates WHERE part = 0
	  UNION ALL SELECT row, bloom_seen(id, 1000, 0.01) OVER (ORDER BY row) FROM rates WHERE part = 1
	  UNION ALL SELECT row, bloom_seen(id, 1000, 0.2) OVER (ORDER BY row) FROM rates WHERE part = 2) AS c USING (row);

-- many partitions of a large capacity cost no more than they hold
SELECT count(*) FILTER (WHERE NOT seen) AS first_ones
FROM (SELECT bloom_seen(row, 10000000, 0.01) OVER (PARTITION BY row / 2) AS seen
	  FROM clicks) AS s;

--
-- Keys
--

-- from one batch of rows to the next, and across partitions of every size
SELECT bool_and(seen = (n > 1)) AS all_agree, count(*) AS rows
FROM (SELECT bloom_seen(row % 7) OVER w AS seen, row_number() OVER (PARTITION BY part, row % 7 ORDER BY row) AS n
	  FROM (SELECT row, floor(sqrt(row)) AS part FROM clicks WHERE row <= 5000) AS c
	  WINDOW w AS (PARTITION BY part ORDER BY row)) AS s;
-- a LIMIT does not read far ahead
CREATE TEMP SEQUENCE rows_read;
SELECT i, bloom_seen(i % 2) OVER () AS seen FROM (SELECT nextval('rows_read') AS i FROM generate_series(1, 1000)) AS s LIMIT 3;
SELECT last_value < 10 AS few_rows_read FROM rows_read;

-- nor does WindowAgg compute large keys ahead, since they stay in memory until the end of a batch
SET bloomtype.enable_seen_scan = off;
SET work_mem = '1MB';
SELECT setval('rows_read', 1, false) AS start;
SELECT count(*) AS rows, bool_or(seen) AS any_seen
FROM (SELECT bloom_seen(nextval('rows_read') || repeat('x', 2000000)) OVER () AS seen FROM generate_series(1, 1000) LIMIT 8) AS s;
SELECT last_value AS keys_computed FROM rows_read;
RESET work_mem;
RESET bloomtype.enable_seen_scan;

-- a null key was never seen
SELECT k, bloom_seen(k) OVER () AS exact, bloom_seen(k, 10, 0.01) OVER () AS sized
FROM unnest(ARRAY[NULL, 1, NULL, 1, NULL]) AS k;

-- keys of every kind
SELECT bool_and(t = w AND u = w AND n = w AND a = w) AS all_agree
FROM (SELECT bloom_seen(id::text) OVER o AS t,
			 bloom_seen(md5(id::text)::uuid) OVER o AS u,
			 bloom_seen(id::numeric) OVER o AS n,
			 bloom_seen(ARRAY[id]) OVER o AS a,
			 row_number() OVER (PARTITION BY id ORDER BY row) > 1 AS w
	  FROM clicks WHERE row <= 20000
	  WINDOW o AS (ORDER BY row)) AS s;

-- 1.0 equals 1.00
SELECT k, bloom_seen(k) OVER () AS seen FROM (VALUES (1.0), (1.00), (2.0)) AS v (k);

--
-- Nothing is spilled: rows that were passed are forgotten
--
SET work_mem = '64kB';

CREATE FUNCTION pg_temp.temp_blocks(query text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' -> 'Temp Written Blocks';
END
$$;

SELECT pg_temp.temp_blocks('SELECT bloom_seen(id) OVER () FROM clicks') AS seen,
	   pg_temp.temp_blocks('SELECT bloom_seen(id, 100000, 0.01) OVER () FROM clicks') AS seen_sized,
	   pg_temp.temp_blocks('SELECT count(*) OVER () FROM clicks') > 0 AS others_spill;
RESET work_mem;

--
-- Whatever stands around it: the window sees all rows of its query, once
--

CREATE TEMP VIEW marked AS SELECT *, bloom_seen(id) OVER () AS seen FROM clicks;
CREATE TEMP VIEW first_ones AS SELECT * FROM marked WHERE NOT seen;
CREATE INDEX ON clicks (ts);
CREATE FUNCTION pg_temp.dear(bigint) RETURNS boolean LANGUAGE plpgsql COST 100000 AS 'BEGIN RETURN $1 > 50000; END';
CREATE FUNCTION pg_temp.first_in(bigint) RETURNS bigint LANGUAGE sql STABLE
	AS 'SELECT count(*) FROM (SELECT bloom_seen(c.id) OVER () AS seen FROM clicks AS c WHERE c.ad < $1) AS s WHERE NOT seen';
CREATE TEMP TABLE expected AS SELECT DISTINCT ON (id) * FROM clicks ORDER BY id, row;

-- a FILTER of an aggregate that is spilled, sorted, or has grouping sets; a frame that moves
SET work_mem = '64kB';
SET enable_sort = off;
SELECT sum(n) AS spilled FROM (SELECT row / 2 AS page, count(*) FILTER (WHERE NOT seen) AS n FROM marked GROUP BY row / 2) AS g;
RESET enable_sort;
SET enable_hashagg = off;
SELECT sum(n) AS sorted FROM (SELECT row / 2 AS page, count(*) FILTER (WHERE NOT seen) AS n FROM marked GROUP BY row / 2) AS g;
RESET enable_hashagg;
SELECT ad, count(*) FILTER (WHERE NOT seen) AS n FROM marked GROUP BY GROUPING SETS ((ad), ()) HAVING ad IS NULL;
SELECT max(n) FROM (SELECT count(*) FILTER (WHERE NOT seen) OVER (ORDER BY row ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS n FROM marked) AS w;
RESET work_mem;
SELECT (SELECT count(*) FROM expected) AS expected,
	   -- groups
	   (SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS seen FROM (SELECT id, ad, count(*) FROM clicks GROUP BY id, ad) AS g) AS s WHERE NOT seen) AS groups,
	   -- a function that is inlined, or is not
	   pg_temp.first_in(10) AS function;
-- an index gives the minimum and the maximum
SELECT min(ts) = (SELECT min(ts) FROM expected) AS min_agrees, max(ts) = (SELECT max(ts) FROM expected) AS max_agrees, bool_and(ad < 10)
FROM first_ones;
SELECT min(ts) IS NOT NULL AS min, max(ts) IS NOT NULL AS max FROM (SELECT ts, bloom_seen(0) OVER () AS seen FROM clicks) AS s WHERE NOT seen;
-- conditions of every cost, in each order, and in outer queries
SELECT (SELECT count(*) FROM expected WHERE row > 50000) AS expected,
	   (SELECT count(*) FROM marked WHERE NOT seen AND pg_temp.dear(row)) AS dear,
	   (SELECT count(*) FROM marked WHERE pg_temp.dear(row) AND NOT seen) AS dear_first,
	   (SELECT count(*) FROM first_ones WHERE row > 50000) AS view,
	   (SELECT count(*) FROM first_ones AS f JOIN clicks AS c USING (row) WHERE c.row > 50000) AS joined,
	   (SELECT count(*) FROM clicks AS c WHERE row > 50000 AND EXISTS (SELECT FROM first_ones AS f WHERE f.row = c.row)) AS exists,
	   (SELECT count(*) FROM marked AS m WHERE NOT seen AND EXISTS (SELECT FROM clicks AS c WHERE c.row = m.row AND c.row > 50000)) AS exists_below;
-- conditions of its own query come first
SELECT count(*) = (SELECT count(DISTINCT id) FROM clicks WHERE row > 50000) AS own_condition
FROM (SELECT bloom_seen(id) OVER () AS seen FROM clicks WHERE pg_temp.dear(row)) AS s WHERE NOT seen;

-- over partitions, with workers, in both orders
CREATE TEMP TABLE parts (LIKE clicks) PARTITION BY LIST (ad);
CREATE TEMP TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TEMP TABLE parts_rest PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM clicks;
SELECT count(*) FROM (SELECT bloom_seen(id) OVER () AS seen FROM parts) AS s WHERE NOT seen;
SELECT count(*) AS differences
FROM (SELECT row FROM (SELECT row, bloom_seen(id) OVER (ORDER BY row DESC) AS seen FROM parts) AS s WHERE NOT seen) AS a
FULL JOIN (SELECT DISTINCT ON (id) row FROM clicks ORDER BY id, row DESC) AS b USING (row)
WHERE a.row IS NULL OR b.row IS NULL;

-- keep one row of each key
BEGIN;
DELETE FROM clicks WHERE ctid IN (SELECT ctid FROM (SELECT ctid, bloom_seen(id) OVER (ORDER BY row) AS seen FROM clicks) AS s WHERE seen);
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM clicks;
ROLLBACK;
UPDATE clicks SET ad = -1 FROM first_ones AS f WHERE f.row = clicks.row;
SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM clicks WHERE ad = -1;

-- a cursor that goes back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, bloom_seen(k) OVER () AS seen FROM unnest(ARRAY[1, 1, 2]) AS k;
FETCH ALL FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 2 FROM c;
FETCH PRIOR FROM c;
COMMIT;

--
-- Wrong use
--

-- fail: no window
SELECT bloom_seen(1);

-- fail: out of range
SELECT bloom_seen(1, 0, 0.01) OVER ();
SELECT bloom_seen(1, 10, 2) OVER ();
SELECT bloom_seen(1, 4611686018427387904, 0.01) OVER ();

-- fail: null parameters
SELECT bloom_seen(1, NULL, 0.01) OVER ();
SELECT bloom_seen(1, 10, NULL) OVER ();

-- no IGNORE NULLS: PostgreSQL 19 knows it, and others have a syntax error
DO $$
BEGIN
	EXECUTE 'SELECT bloom_seen(k) IGNORE NULLS OVER () FROM unnest(ARRAY[1, NULL]) AS k';
	RAISE 'it was accepted';
EXCEPTION
	WHEN feature_not_supported OR syntax_error THEN NULL;
END
$$;

-- fail: no hash function for the key type
SELECT bloom_seen(point(1, 1)) OVER ();

-- The exact form keeps all keys in memory: a WARNING, once, when it takes sixteen times
-- what a hash table of the server may take; of all partitions, once; none with a capacity.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*) FILTER (WHERE NOT seen) AS keys FROM (SELECT bloom_seen(i) OVER () AS seen FROM generate_series(1, 40000) AS i) AS s;
SELECT count(*) FILTER (WHERE NOT seen) AS keys FROM (SELECT bloom_seen(i) OVER () AS seen FROM generate_series(1, 400000) AS i) AS s;
SELECT count(*) FILTER (WHERE NOT seen) AS keys FROM (SELECT bloom_seen(i) OVER (PARTITION BY i % 2) AS seen FROM generate_series(1, 400000) AS i) AS s;
SELECT count(*) FILTER (WHERE NOT seen) > 390000 AS keys FROM (SELECT bloom_seen(i, 400000, 0.01) OVER () AS seen FROM generate_series(1, 400000) AS i) AS s;
RESET hash_mem_multiplier;
RESET work_mem;

-- A capacity alone would lose rows at a rate that nobody asked for; with the rate, in any order.
\set VERBOSITY sqlstate
SELECT bloom_seen(i, 100) OVER () FROM generate_series(1, 3) AS i;
SELECT bloom_seen(i, capacity => 100) OVER () FROM generate_series(1, 3) AS i;
\set VERBOSITY default
SELECT i, bloom_seen(fp_prob => 0.01, capacity => 100, key => i) OVER () AS plan_node, bloom_seen(i, 100, fp_prob => 0.01) OVER (PARTITION BY i < 9) AS window_agg
FROM unnest('{1,2,1,3}'::int[]) WITH ORDINALITY AS v (i, n) ORDER BY n;
EXPLAIN (COSTS OFF) SELECT bloom_seen(fp_prob => 0.01, capacity => 100, key => i) OVER () FROM generate_series(1, 3) AS i;
