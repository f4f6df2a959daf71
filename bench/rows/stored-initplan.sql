-- title: 10^6 events against a stored filter of 1 MB
-- setup:
DROP TABLE IF EXISTS events, seen;
CREATE UNLOGGED TABLE events AS
SELECT hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
CREATE TABLE seen (day date PRIMARY KEY, filter bloom);
INSERT INTO seen
SELECT '2026-11-20', bloom_add_all(bloom_empty_shaped(8 * 1048576, 7), array_agg(hashint8extended(i, :seed)))
FROM generate_series(900001::bigint, 900000 + 838860) AS i;
SELECT bench_settle('events');
DELETE FROM bench_filters WHERE name = 'seen';
INSERT INTO bench_filters SELECT 'seen', filter FROM seen;
PREPARE probe AS
SELECT count(*) FROM events WHERE bench_filter('seen') @> k;
-- ours: (SELECT filter FROM seen) @> k
SELECT count(*) FROM events WHERE (SELECT filter FROM seen WHERE day = '2026-11-20') @> k;
-- against: the constant filter
EXECUTE probe;
