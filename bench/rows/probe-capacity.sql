-- The filter holds the last tenth of the table's keys, and others up to its
-- capacity: so a tenth of the rows pass, or less where the capacity is small.
-- each: capacity = 10000
-- title: probe, constant filter of :capacity int8
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', :capacity, :rows / 10 * 9 + 1);
SELECT concat_ws('_', 'int8', :capacity, :rows / 10 * 9 + 1) AS name \gset
PREPARE probe AS SELECT count(*) FROM int8_:rows WHERE bench_filter(:'name') @> k;
-- ours: filter @> k
EXECUTE probe;
-- against: k % 2 = -1
SELECT count(*) FROM int8_:rows WHERE k % 2 = -1;
