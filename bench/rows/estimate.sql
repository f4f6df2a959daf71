-- The filter holds every third number; skewed: the number i stands in about
-- 1/i of the rows.  ANALYZE takes a sample, so that the result differs from one
-- run to the next: bench/RESULTS.md says how much.
-- each: column = uniform skewed
-- title: row estimate of filter @> column, :column
-- setup:
DROP TABLE IF EXISTS estimated;
SELECT setseed(0.42);
CREATE UNLOGGED TABLE estimated AS
SELECT (1 + floor(random() * 100000))::bigint AS uniform,
       floor(exp(random() * ln(100000)))::bigint AS skewed
FROM generate_series(1, 1000000) AS i;
ANALYZE estimated;
DELETE FROM bench_filters WHERE name = 'thirds';
INSERT INTO bench_filters
SELECT 'thirds', bloom_agg(i, 33334, 0.01) FROM generate_series(1::bigint, 100000, 3) AS i;
-- value: rows estimated / rows | 0.9 to 1.1
SELECT bench_estimate($$SELECT FROM estimated WHERE bench_filter('thirds') @> :column$$);
