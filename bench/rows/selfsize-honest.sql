-- The rate over keys that were never added: 10^6 of them give 10,000 false
-- positives with a standard deviation of 100, so that 1.05 is five of those
-- from 1.  Sizes are rounded up to whole words, which helps the smallest.
-- each: distinct = 10 10000 1000000 10000000
-- title: self-sizing, :distinct distinct int8
-- setup:
DROP TABLE IF EXISTS selfsized;
CREATE TEMP TABLE selfsized AS
SELECT bloom_agg(hashint8extended(i, :seed)) AS filter
FROM generate_series(1::bigint, :distinct) AS i;
-- value: rate measured / rate asked | at most 1.05
SELECT avg((filter @> hashint8extended(-i, :seed))::int) / 0.01
FROM (SELECT filter | filter AS filter FROM selfsized OFFSET 0) AS f,
     generate_series(1::bigint, 1000000) AS i;
-- value: size / size by bloom_params | at most 1.01
SELECT i.bytes::float8 / p.bytes
FROM selfsized, bloom_info(filter) AS i, bloom_params(:distinct) AS p;
