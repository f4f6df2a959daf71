--
-- Which of many files have a key: packed pairs, and the ways of docs/cookbook.md,
-- against exact pairs, over random files and keys
--

SET max_parallel_workers_per_gather = 0;

-- Files of 0 to 120 keys: most numbers are near 0, some beyond 65,536 and thus in
-- another group; keys are repeated within a file and in many files, and some are
-- null.  Files without a key have a filter, too.
CREATE TABLE file AS
SELECT CASE WHEN i % 4 = 0 THEN 65200 + i ELSE i END AS file, (hashint8extended(i, 1) & 127) % 121 AS nkeys
FROM generate_series(0, 999) AS i;
CREATE TABLE file_key AS
SELECT file, CASE (hashint8extended(file * 1000 + i, 2) & 15)
			 WHEN 0 THEN NULL										-- no key
			 WHEN 1 THEN hashint8extended(file * 1000 + i, 3) & 7		-- of many files
			 WHEN 2 THEN file										-- repeated within the file
			 ELSE hashint8extended(file * 1000 + i, 4) & 65535 END AS key
FROM file, generate_series(1, nkeys) AS i;
SELECT count(*) AS pairs, count(*) - count(key) AS nulls, count(key) - count(DISTINCT (file, key)) AS repeated,
	   count(DISTINCT file) AS files, count(*) FILTER (WHERE file > 65535) AS of_the_next_group
FROM file_key;

-- filters, coarse filters, and packed pairs in 128 buckets for each group
CREATE TABLE fine (grp int, file int, keys bloom, PRIMARY KEY (grp, file)) WITH (toast_tuple_target = 8160);
INSERT INTO fine
SELECT file / 100, file, bloom_agg(key, 150, 0.001) FROM file LEFT JOIN file_key USING (file) GROUP BY file;
CREATE TABLE coarse AS
SELECT file / 100 AS grp, bloom_agg(key, 150 * 100, 0.01) AS keys
FROM file LEFT JOIN file_key USING (file) GROUP BY 1;
CREATE TABLE packed (bucket int, grp int, codes int[]) WITH (toast_tuple_target = 8160);
ALTER TABLE packed ALTER codes SET STORAGE main;
INSERT INTO packed
SELECT (hash >> 57) & 127, file >> 16, array_agg((((hash >> 42) & 32767)::int << 16) | (file & 65535))
FROM (SELECT DISTINCT file, bloom_hash(key) AS hash FROM file_key WHERE key IS NOT NULL) AS k GROUP BY 1, 2;
ALTER TABLE packed ADD PRIMARY KEY (bucket, grp);
CREATE FUNCTION files_with(key bigint) RETURNS SETOF int LANGUAGE sql STABLE PARALLEL SAFE AS $$
	SELECT DISTINCT (grp << 16) | (code & 65535)
	FROM (SELECT bloom_hash(key) AS hash) AS k
		 JOIN packed ON bucket = (hash >> 57) & 127, unnest(codes) AS code
	WHERE code >> 16 = (hash >> 42) & 32767
$$;
VACUUM ANALYZE fine;
VACUUM ANALYZE coarse;
VACUUM ANALYZE packed;
SELECT grp, count(*) AS buckets, round(avg(cardinality(codes))) AS codes, min(cardinality(codes)) > 0 AS none_empty,
	   bool_and(0 <= ALL (codes)) AS none_negative
FROM packed GROUP BY grp ORDER BY grp;

-- the function is inlined: an index scan, no function scan of it
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM files_with(4711) AS file;
RESET enable_bitmapscan;

-- Every way names every file that has the key: for a quarter of the keys, and for
-- those of many files.
CREATE TABLE asked AS SELECT DISTINCT key FROM file_key WHERE key % 4 = 3 OR key < 8;
ANALYZE asked;
CREATE TABLE by_pairs AS SELECT DISTINCT key, file FROM file_key JOIN asked USING (key);
CREATE TABLE by_packed AS SELECT key, file FROM asked, files_with(key) AS file;
SELECT (SELECT count(*) FROM by_pairs) AS pairs,
	   (SELECT count(*) FROM (TABLE by_pairs EXCEPT TABLE by_packed) AS s) AS missed,
	   (SELECT count(*) - count(DISTINCT (key, file)) FROM by_packed) AS named_twice;
-- fewer of them for the slower two
CREATE TABLE by_scan AS SELECT key, file FROM asked, fine WHERE keys @> key AND key % 20 = 3;
CREATE TABLE by_levels AS
SELECT key, file
FROM asked, LATERAL (SELECT file FROM coarse JOIN fine USING (grp) WHERE coarse.keys @> key AND fine.keys @> key) AS s
WHERE key % 20 = 3;
SELECT (SELECT count(*) FROM by_pairs WHERE key % 20 = 3) AS pairs,
	   (SELECT count(*) FROM (SELECT * FROM by_pairs WHERE key % 20 = 3 EXCEPT TABLE by_scan) AS s) AS missed_by_scan,
	   (SELECT count(*) FROM (SELECT * FROM by_pairs WHERE key % 20 = 3 EXCEPT TABLE by_levels) AS s) AS missed_by_levels,
	   (SELECT count(*) FROM (TABLE by_levels EXCEPT TABLE by_scan) AS s) AS only_in_levels;

-- Of 10,000 keys that no file has, packed pairs name pairs / 2^22 files each, and
-- filters the sum of their rates.  The numbers vary as those of rare events do, by
-- the square root of their mean; the bound is four times that, which chance would
-- pass once in 15,000 times.  The data are fixed.
CREATE TABLE absent AS SELECT 10000000::bigint + i AS key FROM generate_series(1, 10000) AS i;
SELECT count(*) AS not_absent FROM absent JOIN file_key USING (key);
SELECT way, found, round(expected) AS expected, abs(found - expected) <= 4 * sqrt(expected) AS within_bound
FROM (SELECT 'packed pairs' AS way, (SELECT count(*) FROM absent, files_with(key)) AS found,
			 (SELECT sum(cardinality(codes)) FROM packed) * 10000 / 2.0 ^ 22 AS expected
	  UNION ALL
	  SELECT 'filters', (SELECT count(*) FROM absent, fine WHERE keys @> key),
			 (SELECT sum((bloom_info(keys)).fp_prob_now) FROM fine) * 10000) AS s;
-- A key that no file can have: null; a file that is removed falls out in the join
-- with the table of files.
SELECT count(*) FROM files_with(NULL);
DELETE FROM file WHERE file = (SELECT min(file) FROM by_pairs WHERE key = 3);
SELECT (SELECT count(*) FROM files_with(3)) - (SELECT count(*) FROM files_with(3) AS f JOIN file ON file.file = f) AS removed;

DROP FUNCTION files_with(bigint);
DROP TABLE file, file_key, fine, coarse, packed;
DROP TABLE asked, by_pairs, by_packed, by_scan, by_levels, absent;
