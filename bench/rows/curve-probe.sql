-- A tenth of the rows pass, or less where there are few keys.  The hash table
-- of the rival is in memory; to build it is not counted as a test of a row.
-- each: keys = 1000 10000 100000 1000000 10000000
-- title: probe
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', :keys, :rows / 10 * 9 + 1);
INSERT INTO bench_filters
SELECT 'int8_sparse_9_:keys', bloom_agg(hashint8extended(i, :seed), 400000000, 0.01) FROM generate_series(:rows / 10 * 9 + 1, :rows / 10 * 9 + :keys) AS i
ON CONFLICT DO NOTHING;
DROP TABLE IF EXISTS curve_keys;
CREATE TABLE curve_keys AS SELECT hashint8extended(i, :seed) AS k FROM generate_series(:rows / 10 * 9 + 1, :rows / 10 * 9 + :keys) AS i;
VACUUM ANALYZE curve_keys;
SELECT concat_ws('_', 'int8', :keys, :rows / 10 * 9 + 1) AS name \gset
PREPARE probe AS SELECT count(*) FROM int8_:rows WHERE bench_filter(:'name') @> k;
PREPARE probe_keys AS SELECT count(*) FROM int8_:rows WHERE bench_filter('int8_sparse_9_:keys') @> k;
-- curve: probe | filter @> k, n keys at 1 % | :keys | :rows
EXECUTE probe;
-- curve: probe | filter @> k, in keys form | :keys | :rows
EXECUTE probe_keys;
-- curve: probe | k IN (SELECT ...), hashed | :keys | :rows
SELECT count(*) FROM int8_:rows WHERE k IN (SELECT k FROM curve_keys);
-- curve: probe | k % 2 = -1, the floor | :keys | :rows
SELECT count(*) FROM int8_:rows WHERE k % 2 = -1;
