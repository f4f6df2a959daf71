-- The same with a fifth of the rows: two million of ten.
-- title: one row of each key, of a fifth of the rows
-- setup:
SELECT bench_events();
SELECT bench_first_rows('dedup_fewer', 'dedup_events', :rows / 5);
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows / 5, 0.01) OVER () AS seen FROM dedup_fewer) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.35
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_fewer ORDER BY id, ts) AS e;
