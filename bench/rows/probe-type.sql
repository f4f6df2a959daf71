-- The filter holds a tenth of the table's keys, and others.
-- each: type = uuid text url numeric jsonb row
-- title: probe, constant filter of 10^6 :type
-- setup:
SELECT bench_keys(':type', 1000000);
SELECT bench_make_filter(':type', 1000000, 900001);
SELECT min(k::text) AS low FROM :type_1000000 \gset
SELECT pg_typeof(k) AS low_type FROM :type_1000000 LIMIT 1 \gset
PREPARE probe AS SELECT count(*) FROM :type_1000000 WHERE bench_filter(':type_1000000_900001') @> k;
-- ours: filter @> k
EXECUTE probe;
-- against: k = constant
SELECT count(*) FROM :type_1000000 WHERE k = :'low':::low_type;
