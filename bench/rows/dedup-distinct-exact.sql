-- The same, exactly, with a table of hashes.
-- title: one row of each key, in the SELECT list, exactly
-- setup:
SELECT bench_events();
SET work_mem = '4MB';
-- ours: bloom_distinct(id)
SELECT count(*), max(ts) FROM (SELECT bloom_distinct(id), ts FROM dedup_events) AS e;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | at most 0.33
SELECT count(*), max(ts) FROM (SELECT ts, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_events) AS e WHERE n = 1;
-- against: DISTINCT ON (id) ... ORDER BY id, ts | at most 0.50
SELECT count(*), max(ts) FROM (SELECT DISTINCT ON (id) ts FROM dedup_events ORDER BY id, ts) AS e;
-- against: GROUP BY id, min(ts)
SELECT count(*), max(ts) FROM (SELECT min(ts) AS ts FROM dedup_events GROUP BY id) AS e;
