-- title: build, capacity 10^6, 10^6 distinct int8
-- setup:
SELECT bench_keys('int8', 1000000);
-- ours: bloom_agg(k, 1000000, 0.01)
SELECT bloom_cardinality(bloom_agg(k, 1000000, 0.01)) FROM int8_1000000;
-- against: max(k) | at most 1.25
SELECT max(k) FROM int8_1000000;
-- against: count(DISTINCT k)
SELECT count(DISTINCT k) FROM int8_1000000;
