-- The same with a fifth of the rows: two million of ten.
-- title: one row of each key, of a fifth of the rows
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows / 5, 0.01) OVER () AS seen FROM dedup_events WHERE ts <= :rows / 5) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.35
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events WHERE ts <= :rows / 5 ORDER BY id, ts) AS e;
