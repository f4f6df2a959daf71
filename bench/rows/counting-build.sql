-- As many distinct keys as the capacity, up to the number of rows.
-- each: capacity = 10000 1000000 10000000
-- title: counting filter, build, capacity :capacity
-- setup:
SELECT bench_keys('int8', least(:capacity, :rows));
SELECT 'int8_' || least(:capacity, :rows) AS tab \gset
-- ours: counting_bloom_agg(k, :capacity, 0.01)
SELECT counting_bloom_count(counting_bloom_agg(k, :capacity, 0.01), 0::bigint) FROM :tab;
-- against: bloom_agg(k, :capacity, 0.01) | at most 1.5
SELECT bloom_contains(bloom_agg(k, :capacity, 0.01), 0::bigint) FROM :tab;
