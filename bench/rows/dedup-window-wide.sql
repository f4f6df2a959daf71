-- The same with rows as events have them, about 150 bytes, of which all columns
-- are used: the sort by key carries them, the window hands them on.
-- title: first rows of each key, by a window; rows of 150 bytes
-- setup:
SELECT bench_wide_events();
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER (ORDER BY ts)
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, bloom_seen(id, :rows, 0.01) OVER (ORDER BY ts) AS seen FROM dedup_wide) AS e WHERE NOT seen;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | at most 0.25
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_wide) AS e WHERE n = 1;
-- against: the same, in the order of ts
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_wide ORDER BY ts OFFSET 0) AS e WHERE n = 1;
-- against: row_number() OVER (ORDER BY ts), the floor
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (ORDER BY ts) AS n FROM dedup_wide) AS e WHERE n > 0;
