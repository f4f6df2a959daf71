-- Events in the order of time, 5 of 100 of them a repeat; an index gives the
-- order.  The filter has room for all keys.  Default work_mem.
-- title: first rows of each key, by a window
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER (ORDER BY ts)
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :rows, 0.01) OVER (ORDER BY ts) AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | at most 0.25
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_events) AS e WHERE n = 1;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.5
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
-- against: bloom_seen(id) OVER (ORDER BY ts), exact
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER (ORDER BY ts) AS seen FROM dedup_events) AS e WHERE NOT seen;
-- against: row_number() OVER (ORDER BY ts), the least that WindowAgg takes
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (ORDER BY ts) AS n FROM dedup_events) AS e WHERE n > 0;
-- value: first rows that were lost, of 100 | at most 1
SELECT 100.0 * (a.n - b.n) / a.n
FROM (SELECT count(*) AS n FROM (SELECT bloom_seen(id) OVER (ORDER BY ts) AS seen FROM dedup_events) AS e WHERE NOT seen) AS a,
	 (SELECT count(*) AS n FROM (SELECT bloom_seen(id, :rows, 0.01) OVER (ORDER BY ts) AS seen FROM dedup_events) AS e WHERE NOT seen) AS b;
