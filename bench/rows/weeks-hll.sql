-- The same beside hll, which only counts: a kilobyte a day, and a larger error.
-- requires: hll
-- title: distinct users of four weeks, beside hll
-- setup:
SELECT bench_visits();
DROP TABLE IF EXISTS day_hlls;
CREATE UNLOGGED TABLE day_hlls AS SELECT day, hll_add_agg(hll_hash_bytea(uuid_send(k))) AS users FROM visits GROUP BY day;
SELECT bench_settle('day_hlls');
-- ours: bloom_cardinality(bloom_union_agg(users)), 28 filters
SELECT bloom_cardinality(bloom_union_agg(users)) FROM day_filters;
-- against: hll_cardinality(hll_union_agg(users)), 28 hlls
SELECT hll_cardinality(hll_union_agg(users)) FROM day_hlls;
-- value: error of hll's estimate, %
SELECT abs((SELECT hll_cardinality(hll_union_agg(users)) FROM day_hlls) * 100.0 / count(DISTINCT k) - 100) FROM visits;
-- value: kB of the 28 hlls
SELECT sum(pg_column_size(users)) / 1024.0 FROM day_hlls;
