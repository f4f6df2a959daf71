-- The first n of the benchmark's rows, as a table of their own, so that each
-- statement scans all of it.  Seconds for a million rows.
-- each: n = 100000 300000 1000000 3000000 10000000
-- title: dedup
-- setup:
SELECT bench_events(), bench_first_rows('dedup_:n', 'dedup_events', least(:n, :rows));
SET work_mem = '4MB';
-- curve: dedup | bloom_seen(id, n, 0.01) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id, :n, 0.01) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- curve: dedup | bloom_seen(id) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT ts, bloom_seen(id) OVER () AS seen FROM dedup_:n) AS e WHERE NOT seen;
-- curve: dedup | DISTINCT ON (id) | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_:n ORDER BY id, ts) AS e;
-- curve: dedup | GROUP BY id | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_:n GROUP BY id) AS e;
-- curve: dedup | row_number() = 1 | :n | :n * 1000
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_:n) AS e WHERE n = 1;
-- curve: dedup | the scan, the floor | :n | :n * 1000
SELECT count(*), max(ts) FROM dedup_:n;
