-- The same, exactly.
-- title: one row of each key, exactly; rows of 150 bytes
-- setup:
SELECT bench_wide_events();
SELECT bench_first_rows('dedup_wide_fewer', 'dedup_wide', :rows / 10);
SET work_mem = '4MB';
-- ours: bloom_seen(id) OVER ()
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, bloom_seen(id) OVER () AS seen FROM dedup_wide_fewer) AS e WHERE NOT seen;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.5
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT DISTINCT ON (id) * FROM dedup_wide_fewer ORDER BY id, ts) AS e;
