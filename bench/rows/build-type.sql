-- each: type = uuid text url numeric jsonb row
-- title: build, capacity 10^6, 10^6 distinct :type
-- setup:
SELECT bench_keys(':type', 1000000);
-- ours: bloom_agg(k, 1000000, 0.01)
SELECT bloom_cardinality(bloom_agg(k, 1000000, 0.01)) FROM :type_1000000;
-- against: count(k)
SELECT count(k) FROM :type_1000000;
