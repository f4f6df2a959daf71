-- 10^7 rows against a tenth as many keys.  Building the filter is part of our
-- time.
-- title: semi-join, 10 % match, in memory
-- setup:
SELECT bench_keys('int8', :rows);
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT hashint8extended(i, :seed) AS k
FROM generate_series(:rows / 10 * 9 + 1::bigint, :rows) AS i;
SELECT bench_settle('wanted');
SET work_mem = '2GB';
-- ours: with the pre-filter
SELECT count(*) FROM int8_:rows AS b
WHERE (SELECT bloom_agg(k, 1000000, 0.01) FROM wanted) @> b.k
  AND EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
-- against: without | at most 0.6
SELECT count(*) FROM int8_:rows AS b
WHERE EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
