-- The leader gets one row of each key, and counts them.
-- each: repeats = 10 50 90
-- clock: wall
-- title: one row of each key, exactly, :repeats % repeats, elapsed time
-- setup:
SELECT bench_repeats(:repeats);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET work_mem = '64MB';
-- ours: bloom_seen(id) OVER (), one worker
SET max_parallel_workers_per_gather = 1;
SELECT count(*), max(ts) FROM (SELECT ts, id FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen OFFSET 0) AS r;
-- against: one process | at most 0.8
SET max_parallel_workers_per_gather = 0;
SELECT count(*), max(ts) FROM (SELECT ts, id FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen OFFSET 0) AS r;
-- against: DISTINCT ON (id), one worker | at most 0.4
SET max_parallel_workers_per_gather = 1;
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts, id FROM repeats_:repeats ORDER BY id, ts) AS r;
