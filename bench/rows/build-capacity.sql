-- As many distinct keys as the capacity, up to the number of rows.
-- each: capacity = 10000 10000000 100000000
-- title: build, capacity :capacity
-- setup:
SELECT bench_keys('int8', least(:capacity, :rows));
SELECT 'int8_' || least(:capacity, :rows) AS tab \gset
-- ours: bloom_agg(k, :capacity, 0.01)
SELECT bloom_cardinality(bloom_agg(k, :capacity, 0.01)) FROM :tab;
-- against: max(k)
SELECT max(k) FROM :tab;
