-- The same with rows as events have them, about 150 bytes.
-- title: one row of each key, in the SELECT list; rows of 150 bytes
-- setup:
SELECT bench_wide_events();
SET work_mem = '4MB';
-- ours: bloom_distinct(id, capacity, 0.01)
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT bloom_distinct(id, :rows, 0.01), ts, usr, ad, url FROM dedup_wide) AS e;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | at most 0.20
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_wide) AS e WHERE n = 1;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.33
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT DISTINCT ON (id) * FROM dedup_wide ORDER BY id, ts) AS e;
-- against: the scan, the floor
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM dedup_wide;
