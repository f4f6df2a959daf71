-- For the default frame, beside row_number() of ORDER BY, the server reads each row again, and
-- compares it with its peers.  From PostgreSQL 16 on, it asks for a cheaper one.
-- title: repeats in the order of an index, default frame, beside row_number()
-- setup:
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT i AS ts, hashint8extended(i, :seed) AS k
FROM generate_series(1::bigint, 1000000) AS i;
CREATE INDEX ON wanted (ts);
VACUUM ANALYZE wanted;
-- ours: bloom_seen(k) OVER (ORDER BY ts) and row_number() OVER (ORDER BY ts)
SELECT count(*), max(k) FROM (SELECT k, bloom_seen(k) OVER w AS seen, row_number() OVER w AS n FROM wanted WINDOW w AS (ORDER BY ts)) AS w WHERE NOT seen AND n > 1;
-- against: row_number() OVER (ORDER BY ts) | at most 1.5
SELECT count(*), max(k) FROM (SELECT k, row_number() OVER (ORDER BY ts) AS n FROM wanted) AS w WHERE n > 1;
