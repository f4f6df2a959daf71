-- One row of each key, 5 of 100 rows a repeat, in the order of the table.
-- Default work_mem.  The rivals' rows are the first by ts, which is the same.
-- title: one row of each key
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER ()
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows, 0.01) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.32
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_events) AS e WHERE n = 1;
-- against: row_number() OVER (), the least that WindowAgg takes
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER () AS n FROM dedup_events) AS e WHERE n > 0;
-- against: the scan, the floor
SELECT count(*), max(ts) FROM dedup_events;
-- value: first rows that were lost, of 100 | at most 1
SELECT 100.0 * (a.n - b.n) / a.n
FROM (SELECT count(*) AS n FROM (SELECT bloom_seen(id) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen) AS a,
	 (SELECT count(*) AS n FROM (SELECT bloom_seen(id, :rows, 0.01) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen) AS b;
-- value: blocks of temporary files | at most 0
SELECT bench_temp_blocks(format('SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, %s, 0.01) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen', :rows));
-- memory: peak memory over a scan, MB | at most 16 | 1048576
SELECT count(*), max(id) FROM dedup_events;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows, 0.01) OVER () AS seen FROM dedup_events) AS e WHERE NOT seen;
SELECT 0;
