-- The last ten keys by time.  An index on ts gives the order: we read ten rows
-- and a few repeats, DISTINCT ON all.
-- title: the last ten keys
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id) OVER (ORDER BY ts DESC) ... LIMIT 10
SELECT id, ts FROM (SELECT *, bloom_seen(id) OVER (ORDER BY ts DESC) AS seen FROM dedup_events) AS e WHERE NOT seen LIMIT 10;
-- against: DISTINCT ON (id), and then ORDER BY ts DESC LIMIT 10 | at most 0.01
SELECT id, ts FROM (SELECT DISTINCT ON (id) id, ts FROM dedup_events ORDER BY id, ts DESC) AS e ORDER BY ts DESC LIMIT 10;
