-- The same with rows as events have them, about 150 bytes, of which all columns
-- are used: the sort by key carries them, the window hands them on.
-- title: first rows of each key, by a window; rows of 150 bytes
-- setup:
CREATE TABLE IF NOT EXISTS dedup_wide AS
SELECT i AS ts, md5((CASE WHEN i % 20 = 0 THEN i - 1 - (hashint8extended(i, :seed) & 8190) ELSE i END)::text)::uuid AS id,
	   (hashint8extended(i, 1) & 1048575)::int AS usr, (hashint8extended(i, 2) & 1023)::int AS ad,
	   'https://www.example.org/articles/' || md5(i::text) || '/index.html?from=' || md5((i % 1000)::text) AS url
FROM generate_series(1, :rows) AS i;
CREATE UNIQUE INDEX IF NOT EXISTS dedup_wide_ts ON dedup_wide (ts);
VACUUM ANALYZE dedup_wide;
SELECT count(*) FROM dedup_wide;
SET work_mem = '4MB';
-- ours: bloom_seen(id, capacity, 0.01) OVER (ORDER BY ts)
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, bloom_seen(id, :rows, 0.01) OVER (ORDER BY ts) AS seen FROM dedup_wide) AS e WHERE NOT seen;
-- against: row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | at most 0.25
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_wide) AS e WHERE n = 1;
-- against: the same, in the order of ts
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY ts) AS n FROM dedup_wide ORDER BY ts OFFSET 0) AS e WHERE n = 1;
-- against: row_number() OVER (ORDER BY ts), the floor
SELECT count(*), max(ts), max(usr), max(ad), max(length(url)) FROM (SELECT *, row_number() OVER (ORDER BY ts) AS n FROM dedup_wide) AS e WHERE n > 0;
