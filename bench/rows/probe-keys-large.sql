-- 10^7 keys in a filter for more: 80 MB of hashes.  A tenth of them pass.
-- title: probe, constant filter of 10^7 int8 in keys form
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', 10000000, :rows / 10 * 9 + 1);
INSERT INTO bench_filters
SELECT 'int8_sparse_10000000', bloom_agg(hashint8extended(i, :seed), 400000000, 0.01) FROM generate_series(:rows / 10 * 9 + 1, :rows / 10 * 9 + 10000000) AS i
ON CONFLICT DO NOTHING;
SELECT concat('int8_10000000_', :rows / 10 * 9 + 1) AS name \gset
PREPARE probe_keys AS SELECT count(*) FROM int8_:rows WHERE bench_filter('int8_sparse_10000000') @> k;
PREPARE probe_bits AS SELECT count(*) FROM int8_:rows WHERE bench_filter(:'name') @> k;
-- ours: keys form
EXECUTE probe_keys;
-- against: bits form
EXECUTE probe_bits;
-- against: k % 2 = -1
SELECT count(*) FROM int8_:rows WHERE k % 2 = -1;
