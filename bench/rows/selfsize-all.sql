-- title: self-sizing, :rows distinct int8
-- setup:
SELECT bench_keys('int8', :rows);
-- ours: bloom_agg(k)
SELECT bloom_cardinality(bloom_agg(k)) FROM int8_:rows;
-- against: max(k)
SELECT max(k) FROM int8_:rows;
-- against: count(DISTINCT k) | less than 1
SELECT count(DISTINCT k) FROM int8_:rows;
