-- Groups of 10 keys, whose rows are spread over the whole table.
-- title: groups of 10 keys, scattered, bloom_agg
-- setup:
DROP TABLE IF EXISTS groups_filters;
CREATE UNLOGGED TABLE IF NOT EXISTS groups_many AS
SELECT i % (:rows / 10) AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows) AS i;
CREATE UNLOGGED TABLE IF NOT EXISTS groups_few AS
SELECT i % (:rows / 100) AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows / 10) AS i;
SELECT bench_settle('groups_many'), bench_settle('groups_few');
CREATE UNLOGGED TABLE groups_filters AS
SELECT tenant, bloom_agg(k, 1000000, 0.01) AS filter FROM groups_many GROUP BY tenant;
-- ours: 10^6 groups
SELECT count(filter) FROM (SELECT bloom_agg(k, 1000000, 0.01) AS filter FROM groups_many GROUP BY tenant) AS s;
-- against: 10^5 groups | at most 12
SELECT count(filter) FROM (SELECT bloom_agg(k, 1000000, 0.01) AS filter FROM groups_few GROUP BY tenant) AS s;
-- memory: peak memory, MB | at most 1000 | 1000000
SELECT max(k) FROM groups_many;
-- then
SELECT count(filter) * 0 FROM (SELECT bloom_agg(k, 1000000, 0.01) AS filter FROM groups_many GROUP BY tenant) AS s;
-- value: table of the results, MB | at most 250
SELECT pg_total_relation_size('groups_filters') / 1e6;
