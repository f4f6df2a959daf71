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

-- each run of a subquery starts anew
SELECT r, seen
FROM generate_series(1, 2) AS r,
	 LATERAL (SELECT bloom_seen(k) OVER () AS seen
			  FROM unnest(ARRAY[r, 7, 7]) AS k) AS s;

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

-- one WARNING, however many partitions have too many keys, and no repeat passes
SELECT count(*) FILTER (WHERE n > 1 AND NOT seen) AS repeats_that_passed
FROM (SELECT bloom_seen(id, 1000, 0.01) OVER (PARTITION BY ad ORDER BY ts, row) AS seen,
			 row_number() OVER (PARTITION BY ad, id ORDER BY ts, row) AS n
	  FROM clicks) AS s;

-- no WARNING at capacity
SELECT count(*) FILTER (WHERE NOT seen) AS first_ones
FROM (SELECT bloom_seen(i, 1000, 1e-9) OVER () AS seen
	  FROM generate_series(1, 1000) AS i) AS s;

-- many partitions of a large capacity cost no more than they hold
SELECT count(*) FILTER (WHERE NOT seen) AS first_ones
FROM (SELECT bloom_seen(row, 10000000, 0.01) OVER (PARTITION BY row / 2) AS seen
	  FROM clicks) AS s;

--
-- Keys
--

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

-- fail: no hash function for the key type
SELECT bloom_seen(point(1, 1)) OVER ();
