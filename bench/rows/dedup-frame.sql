-- For the default frame of ORDER BY, the server reads each row again, and
-- compares it with its peers.  From PostgreSQL 16 on, it asks for a cheaper one.
-- title: repeats in the order of an index, default frame
-- setup:
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT i AS ts, 0 AS part, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
CREATE INDEX ON wanted (part, ts);
CREATE INDEX ON wanted (ts);
VACUUM ANALYZE wanted;
-- ours: bloom_seen(k) OVER (PARTITION BY part ORDER BY ts)
SELECT count(*), max(k) FROM (SELECT k, bloom_seen(k) OVER (PARTITION BY part ORDER BY ts) AS seen FROM wanted) AS w WHERE NOT seen;
-- against: row_number() OVER (ORDER BY ts) | at most 1.5
SELECT count(*), max(k) FROM (SELECT k, row_number() OVER (ORDER BY ts) AS n FROM wanted) AS w WHERE n > 1;
