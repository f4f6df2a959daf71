-- A set of 10^7 keys in 16 shards, against one filter of the same size.
-- title: build, 16 shards, 10^7 distinct int8
-- setup:
SELECT bench_keys('int8', :rows);
SELECT 'int8_' || :rows AS tab \gset
-- ours: bloom_agg ... GROUP BY bloom_shard(k, 16)
SELECT sum(bloom_cardinality(f)) FROM (SELECT bloom_agg(k, bloom_shard_capacity(:rows, 16), 0.01) AS f FROM :tab GROUP BY bloom_shard(k, 16)) AS s;
-- against: bloom_agg(k), one filter | at most 1.1
SELECT bloom_cardinality(bloom_agg(k, :rows, 0.01)) FROM :tab;
-- against: max(k) ... GROUP BY k % 16, the floor of grouping
SELECT sum(m) FROM (SELECT max(k) AS m FROM :tab GROUP BY k % 16) AS s;
