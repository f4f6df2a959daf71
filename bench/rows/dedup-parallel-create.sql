-- each: repeats = 10
-- clock: wall
-- title: a table of one row of each key, exactly, :repeats % repeats, elapsed time
-- setup:
SELECT bench_repeats(:repeats);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET work_mem = '64MB';
-- ours: CREATE UNLOGGED TABLE AS, one worker
SET max_parallel_workers_per_gather = 1;
DROP TABLE IF EXISTS kept;
CREATE UNLOGGED TABLE kept AS SELECT ts, id FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen;
-- against: one process | at most 0.55
SET max_parallel_workers_per_gather = 0;
DROP TABLE IF EXISTS kept;
CREATE UNLOGGED TABLE kept AS SELECT ts, id FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM repeats_:repeats) AS e WHERE NOT seen;
