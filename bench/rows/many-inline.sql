-- One key against each of 10^5 filters of 2.5 kB that stay in their rows, and
-- against the same filters in TOAST.
-- title: each of 10^5 filters of 2.5 kB, one key
-- setup:
SELECT bench_many(100000, 2000);
VACUUM many, many_inline;
-- ours: in their rows
SELECT count(*) FROM many_inline WHERE filter @> hashint8extended(-1, :seed);
-- against: in TOAST | at most 0.4
SELECT count(*) FROM many WHERE filter @> hashint8extended(-1, :seed);
