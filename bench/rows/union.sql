-- 100 filters of 1.25 MB, in memory, 10 times over.  A union reads the state
-- and the filter and writes the state: three times the size of a filter.  With
-- 200,000 keys each, they are in bits form.
-- title: bloom_union_agg
-- setup:
DROP TABLE IF EXISTS parts;
CREATE UNLOGGED TABLE parts AS
SELECT bloom_agg(hashint8extended(i, :seed), 1000000, 0.01) AS filter
FROM generate_series(1, 20000000) AS i GROUP BY i % 100;
-- bandwidth: union of 100 filters | at most 1.5 | 3750000000
SELECT bloom_cardinality(bloom_union_agg(filter)) = 0
FROM generate_series(1, 10) AS g, LATERAL (SELECT unnest((SELECT array_agg(filter) FROM parts)) AS filter OFFSET g * 0) AS f;
-- less
SELECT count(filter)
FROM generate_series(1, 10) AS g, LATERAL (SELECT unnest((SELECT array_agg(filter) FROM parts)) AS filter OFFSET g * 0) AS f;
