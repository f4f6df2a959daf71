-- Which of 10^5 files of 1,000 keys have a key: coarse filters above those of the
-- files, as in docs/cookbook.md, and all filters of the files in line.
-- title: which of 10^5 files have a key
-- setup:
SELECT bench_fine(100000, 1000), bench_coarse(100000, 1000);
VACUUM ANALYZE fine;
VACUUM ANALYZE coarse;
-- ours: coarse filters above fine ones
SELECT count(*) FROM coarse JOIN fine USING (grp)
WHERE coarse.keys @> bench_file_key(4711, 7) AND fine.keys @> bench_file_key(4711, 7);
-- against: fine filters in line | at most 0.2
SELECT count(*) FROM fine WHERE keys @> bench_file_key(4711, 7);
-- value: rows estimated / rows of a key that no file has, fine filters | 0.5 to 2
SELECT bench_expected('SELECT FROM fine WHERE keys @> 1::bigint') /
	   (SELECT count(*) / 100.0 FROM fine, generate_series(1::bigint, 100) AS key WHERE keys @> key);
