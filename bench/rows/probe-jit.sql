-- The other rows have JIT off.  A filter must not make a plan look so
-- expensive that the server compiles it where it would not without.
-- title: probe, constant filter of 10^6 int8, JIT at its default
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', 1000000, :rows / 10 * 9 + 1);
SELECT concat_ws('_', 'int8', 1000000, :rows / 10 * 9 + 1) AS name \gset
PREPARE probe AS SELECT count(*) FROM int8_:rows WHERE bench_filter(:'name') @> k;
-- ours: filter @> k
SET jit = on;
EXECUTE probe;
-- against: k % 2 = -1 | at most 1.25
SET jit = on;
SELECT count(*) FROM int8_:rows WHERE k % 2 = -1;
