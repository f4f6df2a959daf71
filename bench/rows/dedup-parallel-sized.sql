-- Elapsed time with a worker, of rows of which :repeats in 100 are repeats.
-- each: repeats = 10 50 90
-- clock: wall
-- title: count of distinct keys, with a capacity, :repeats % repeats, elapsed time
-- setup:
SELECT bench_repeats(:repeats);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET work_mem = '64MB';
-- ours: bloom_seen(id, :rows, 0.01) OVER (), one worker
SET max_parallel_workers_per_gather = 1;
SELECT count(*) FROM (SELECT bloom_seen(id, :rows, 0.01) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen;
-- against: one process | at most 0.55
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM (SELECT bloom_seen(id, :rows, 0.01) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen;
