-- The same filter, as a constant and from its row, for each of 10^6 events, in
-- the same join.  The CASE keeps the constant's test in its place.  The largest filter is a quarter full.
-- each: mb = 1 10 100
-- title: 10^6 events against a stored filter of :mb MB
-- setup:
SELECT bench_keys('int8', :rows);
DROP TABLE IF EXISTS events, seen;
CREATE UNLOGGED TABLE events AS
SELECT DATE '2026-11-20' AS day, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
CREATE TABLE seen (day date PRIMARY KEY, filter bloom);
INSERT INTO seen
SELECT '2026-11-20', bloom_add_all(bloom_empty_shaped(8 * 1048576::bigint * :mb, 7), array_agg(hashint8extended(i, :seed)))
FROM generate_series(900001::bigint, 900000 + least(838860 * :mb, 20000000)) AS i;
SELECT bench_settle('events');
VACUUM ANALYZE seen;
DELETE FROM bench_filters WHERE name = 'seen';
INSERT INTO bench_filters SELECT 'seen', filter FROM seen;
PREPARE probe AS
SELECT count(*) FROM events JOIN seen USING (day)
WHERE CASE WHEN seen.day IS NOT NULL THEN bench_filter('seen') END @> events.k;
-- ours: joined
SELECT count(*) FROM events JOIN seen USING (day) WHERE seen.filter @> events.k;
-- against: the constant filter | at most 1.2
EXECUTE probe;
