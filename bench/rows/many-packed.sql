-- Which of 16,384 files of 1,000 keys have a key: packed pairs, as in
-- sql/packed.sql, and coarse filters above those of the files; a hundred keys.
-- title: which of 16,384 files have a key
-- setup:
SELECT bench_fine(16384, 1000), bench_coarse(16384, 1000), bench_packed(16384, 1000, 15);
VACUUM ANALYZE fine;
VACUUM ANALYZE coarse;
VACUUM ANALYZE packed;
-- ours: packed pairs
SELECT count(file)
FROM (SELECT bench_file_key(j * 163, j) AS key FROM generate_series(1, 100) AS j OFFSET 0) AS k,
	 LATERAL (SELECT DISTINCT (grp << 16) | (code & 65535) AS file
			  FROM (SELECT bloom_hash(key) AS hash) AS h
				   JOIN packed ON bucket = (hash >> 49) & 32767, unnest(codes) AS code
			  WHERE code >> 16 = (hash >> 34) & 32767) AS s;
-- against: coarse filters above fine ones | at most 0.3
SELECT count(file)
FROM (SELECT bench_file_key(j * 163, j) AS key FROM generate_series(1, 100) AS j OFFSET 0) AS k,
	 LATERAL (SELECT file FROM coarse JOIN fine USING (grp) WHERE coarse.keys @> key AND fine.keys @> key) AS s;
-- value: bytes a pair (file, key), packed | at most 4.8
SELECT pg_total_relation_size('packed') / (16384 * 1000.0);
-- value: bytes a pair (file, key), both levels of filters
SELECT (pg_total_relation_size('fine') + pg_total_relation_size('coarse')) / (16384 * 1000.0);
