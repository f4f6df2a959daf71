-- One key against each of 10^5 or 10^4 stored filters that do not have it: those
-- for 1,000 keys are in their rows, and larger ones in TOAST.
-- each: capacity = 1000 2000 10000
-- title: each of many filters for :capacity keys
-- setup:
SELECT bench_many(CASE WHEN :capacity < 10000 THEN 100000 ELSE 10000 END, :capacity);
VACUUM many, many_inline;
-- ours: one key
SELECT count(*) FROM many WHERE filter @> hashint8extended(-1, :seed);
-- against: the rows without the filters
SELECT count(*) FROM many WHERE id < 0;
