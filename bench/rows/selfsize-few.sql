-- each: distinct = 10 10000 1000000
-- title: self-sizing, :distinct distinct int8
-- setup:
SELECT bench_keys('int8', :distinct);
-- ours: bloom_agg(k)
SELECT bloom_cardinality(bloom_agg(k)) FROM int8_:distinct;
-- against: max(k) | at most 2.0
SELECT max(k) FROM int8_:distinct;
-- against: count(DISTINCT k) | less than 1
SELECT count(DISTINCT k) FROM int8_:distinct;
