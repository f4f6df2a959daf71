-- What two workers gain on this machine, whatever they do.
-- each: keys = 1000000 10000000
-- clock: wall
-- title: two workers, :keys distinct int8, elapsed time
-- setup:
SELECT bench_keys('int8', :keys);
-- ours: max(k), two workers
SET max_parallel_workers_per_gather = 2;
SELECT max(k) IS NULL FROM int8_:keys;
-- against: one process
SET max_parallel_workers_per_gather = 0;
SELECT max(k) IS NULL FROM int8_:keys;
