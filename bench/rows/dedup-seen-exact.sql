-- The same, exactly, with a table of hashes.
-- title: repeats, by a window without an order, exactly
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.6
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
