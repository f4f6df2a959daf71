-- The same keys in a filter that is large enough to keep their hashes, and in
-- one of their own size, which keeps bits.
-- each: keys = 100 10000 1000000
-- title: probe, constant filter of :keys int8 in keys form
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', :keys, 1);
INSERT INTO bench_filters
SELECT 'int8_sparse_:keys', bloom_agg(hashint8extended(i, :seed), 400000000, 0.01) FROM generate_series(1, :keys) AS i
ON CONFLICT DO NOTHING;
PREPARE probe_keys AS SELECT count(*) FROM int8_:rows WHERE bench_filter('int8_sparse_:keys') @> k;
PREPARE probe_bits AS SELECT count(*) FROM int8_:rows WHERE bench_filter('int8_:keys_1') @> k;
-- ours: keys form
EXECUTE probe_keys;
-- against: bits form | at most 1.15
EXECUTE probe_bits;
-- against: k % 2 = -1
SELECT count(*) FROM int8_:rows WHERE k % 2 = -1;
