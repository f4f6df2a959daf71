-- A partition for each row: what it takes to begin and to end a dedup table.
-- title: repeats in partitions of one row
-- setup:
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT i AS ts, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
CREATE INDEX ON wanted (ts);
VACUUM ANALYZE wanted;
-- ours: bloom_seen(k) OVER (PARTITION BY ts)
SELECT count(*) FROM (SELECT bloom_seen(k) OVER (PARTITION BY ts) AS seen FROM wanted) AS w WHERE NOT seen;
-- against: row_number() OVER (PARTITION BY ts) | at most 2.0
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY ts) AS n FROM wanted) AS w WHERE n > 1;
