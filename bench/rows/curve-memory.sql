-- The same, with memory enough that nothing is spilled: what it takes.
-- each: n = 10000 100000 1000000 10000000
-- title: memory
-- setup:
SELECT bench_events();
-- peak: memory | bloom_seen(id, n, 0.01) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_events WHERE ts <= :n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :n, 0.01) OVER () AS seen FROM dedup_events WHERE ts <= :n) AS e WHERE NOT seen;
-- peak: memory | bloom_seen(id) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_events WHERE ts <= :n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_events WHERE ts <= :n) AS e WHERE NOT seen;
-- peak: memory | DISTINCT ON (id) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_events WHERE ts <= :n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events WHERE ts <= :n ORDER BY id, ts) AS e;
-- peak: memory | GROUP BY id | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_events WHERE ts <= :n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_events WHERE ts <= :n GROUP BY id) AS e;
-- peak: memory | row_number() = 1 | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_events WHERE ts <= :n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_events LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_events WHERE ts <= :n) AS e WHERE n = 1;
