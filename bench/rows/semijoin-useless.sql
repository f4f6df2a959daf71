-- 10^6 rows against 10^6 keys.  Every row has a match: the filter removes
-- nothing, and is only work.
-- title: semi-join, all match, in memory
-- setup:
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
SELECT bench_settle('wanted');
-- ours: with the pre-filter
SELECT count(*) FROM wanted AS b
WHERE (SELECT bloom_agg(k, 1000000, 0.01) FROM wanted) @> b.k
  AND EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
-- against: without
SELECT count(*) FROM wanted AS b
WHERE EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
