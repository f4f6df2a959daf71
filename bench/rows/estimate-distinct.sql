-- What estimate.sql asks of its uniform column, where the planner is told how
-- many distinct values that has.  By ANALYZE, those are 8 of 100 too few.
-- title: row estimate of filter @> column, uniform, with the true n_distinct
-- setup:
DROP TABLE IF EXISTS estimated;
SELECT setseed(0.42);
CREATE UNLOGGED TABLE estimated AS
SELECT (1 + floor(random() * 100000))::bigint AS uniform
FROM generate_series(1, 1000000) AS i;
ALTER TABLE estimated ALTER uniform SET (n_distinct = 99997);
ANALYZE estimated;
DELETE FROM bench_filters WHERE name = 'thirds';
INSERT INTO bench_filters
SELECT 'thirds', bloom_agg(i, 33334, 0.01) FROM generate_series(1::bigint, 100000, 3) AS i;
-- value: rows estimated / rows | 0.98 to 1.02
SELECT bench_estimate($$SELECT FROM estimated WHERE bench_filter('thirds') @> uniform$$);
