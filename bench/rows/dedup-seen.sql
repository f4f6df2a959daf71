-- Which rows are repeats, in the order of the table: the way for any query.
-- Default work_mem.  The rivals' rows are the first by ts, which is the same.
-- title: repeats, by a window without an order
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows, 0.01) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.45
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_events) AS e WHERE n = 1;
-- against: row_number() OVER (), the floor
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER () AS n FROM dedup_events) AS e WHERE n > 0;
