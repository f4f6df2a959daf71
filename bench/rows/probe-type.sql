-- each: type = uuid text url
-- title: probe, constant filter of 10^6 :type
-- setup:
SELECT bench_keys(':type', :rows);
SELECT bench_make_filter(':type', 1000000, :rows / 10 * 9 + 1);
SELECT concat_ws('_', ':type', 1000000, :rows / 10 * 9 + 1) AS name, min(k::text) AS low FROM :type_:rows \gset
PREPARE probe AS SELECT count(*) FROM :type_:rows WHERE bench_filter(:'name') @> k;
-- ours: filter @> k
EXECUTE probe;
-- against: k = constant
SELECT count(*) FROM :type_:rows WHERE k = :'low';
