-- Each process has a filter of its own, and the leader unites them.
-- each: keys = 1000000 10000000
-- clock: wall
-- title: two workers, :keys distinct int8, elapsed time
-- setup:
SELECT bench_keys('int8', :keys);
-- ours: bloom_agg(k, :keys, 0.01), two workers
SET max_parallel_workers_per_gather = 2;
SELECT bloom_agg(k, :keys, 0.01) IS NULL FROM int8_:keys;
-- against: one process | at most 0.7
SET max_parallel_workers_per_gather = 0;
SELECT bloom_agg(k, :keys, 0.01) IS NULL FROM int8_:keys;
