-- How the server itself takes ten times the groups.
-- title: groups of 10 keys, scattered, max(k)
-- setup:
CREATE UNLOGGED TABLE IF NOT EXISTS groups_many AS
SELECT i % (:rows / 10) AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows) AS i;
CREATE UNLOGGED TABLE IF NOT EXISTS groups_few AS
SELECT i % (:rows / 100) AS tenant, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, :rows / 10) AS i;
SELECT bench_settle('groups_many'), bench_settle('groups_few');
-- ours: 10^6 groups
SELECT count(k) FROM (SELECT max(k) AS k FROM groups_many GROUP BY tenant) AS s;
-- against: 10^5 groups
SELECT count(k) FROM (SELECT max(k) AS k FROM groups_few GROUP BY tenant) AS s;
