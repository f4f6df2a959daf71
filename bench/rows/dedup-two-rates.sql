-- Partitions of two rows, whose second key makes each table a filter.
-- title: two calls with a capacity, partitions of two rows
-- setup:
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT i AS k, i / 2 AS part FROM generate_series(1, 20000) AS i;
VACUUM ANALYZE wanted;
-- ours: rates of 0.01 and 0.001
SELECT count(*) FROM (SELECT bloom_seen(k, 100, 0.01) OVER w AS a, bloom_seen(k + 1, 100, 0.001) OVER w AS b
					  FROM wanted WINDOW w AS (PARTITION BY part)) AS s WHERE NOT a AND NOT b;
-- against: 0.01 for both | at most 1.5
SELECT count(*) FROM (SELECT bloom_seen(k, 100, 0.01) OVER w AS a, bloom_seen(k + 1, 100, 0.01) OVER w AS b
					  FROM wanted WINDOW w AS (PARTITION BY part)) AS s WHERE NOT a AND NOT b;
