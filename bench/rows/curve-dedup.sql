-- The first n of the benchmark's rows, as a table of their own, so that each
-- statement scans all of it.  Elapsed seconds for a million rows; two processes are
-- the leader and a worker, however cheap the planner takes one for.
-- each: n = 100000 300000 1000000 3000000 10000000
-- clock: wall
-- title: dedup
-- setup:
SELECT bench_events(), bench_first_rows('dedup_:n', 'dedup_events', least(:n, :rows));
SET work_mem = '4MB';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
-- curve: dedup | bloom_seen(id, n, 0.01) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :n, 0.01) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- curve: dedup | bloom_seen(id) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- curve: dedup | bloom_seen(id, n, 0.01), two processes | :n | :n * 1000
SET max_parallel_workers_per_gather = 1;
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :n, 0.01) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
SET max_parallel_workers_per_gather = 0;
-- curve: dedup | DISTINCT ON (id) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_:n ORDER BY id, ts) AS e;
-- curve: dedup | DISTINCT ON (id), two processes | :n | :n * 1000
SET max_parallel_workers_per_gather = 1;
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_:n ORDER BY id, ts) AS e;
SET max_parallel_workers_per_gather = 0;
-- curve: dedup | GROUP BY id | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_:n GROUP BY id) AS e;
-- curve: dedup | the scan, the floor | :n | :n * 1000
SELECT count(*), max(ts) FROM dedup_:n;
