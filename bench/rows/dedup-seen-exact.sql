-- The same, exactly, with a table of hashes.
-- title: one row of each key, exactly
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.42
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
-- against: GROUP BY id, min(ts)
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_events GROUP BY id) AS e;
