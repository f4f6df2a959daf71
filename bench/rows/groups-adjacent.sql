-- The same where the rows of a group follow each other: then neither the
-- server's hash table nor the states have to be fetched into the cache anew.
-- title: groups of 10 keys, adjacent, bloom_agg
-- setup:
CREATE UNLOGGED TABLE IF NOT EXISTS groups_adjacent AS
SELECT i / 10 AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows) AS i;
CREATE UNLOGGED TABLE IF NOT EXISTS groups_adjacent_few AS
SELECT i / 10 AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows / 10) AS i;
SELECT bench_settle('groups_adjacent'), bench_settle('groups_adjacent_few');
-- ours: 10^6 groups
SELECT count(filter) FROM (SELECT bloom_agg(k, 1000000, 0.01) AS filter FROM groups_adjacent GROUP BY tenant) AS s;
-- against: 10^5 groups | at most 12
SELECT count(filter) FROM (SELECT bloom_agg(k, 1000000, 0.01) AS filter FROM groups_adjacent_few GROUP BY tenant) AS s;
