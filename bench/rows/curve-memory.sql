-- The same, with memory enough that nothing is spilled: what it takes.
-- each: n = 100000 300000 1000000 3000000 10000000
-- title: memory
-- setup:
SELECT bench_events(), bench_first_rows('dedup_:n', 'dedup_events', least(:n, :rows));
-- peak: memory | bloom_seen(id, n, 0.01) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_:n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_:n LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :n, 0.01) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- peak: memory | bloom_seen(id) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_:n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_:n LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- peak: memory | DISTINCT ON (id) | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_:n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_:n LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_:n ORDER BY id, ts) AS e;
-- peak: memory | GROUP BY id | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_:n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_:n LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_:n GROUP BY id) AS e;
-- peak: memory | row_number() = 1 | :n
SET work_mem = '2GB';
SELECT count(*), max(id) FROM dedup_:n;
SELECT count(seen) FROM (SELECT bloom_seen(ts) OVER () AS seen FROM dedup_:n LIMIT 10) AS e;
-- then
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_:n) AS e WHERE n = 1;
