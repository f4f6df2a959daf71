-- Ten keys against each of the same filters.
-- each: capacity = 1000 2000 10000
-- title: each of many filters for :capacity keys
-- setup:
SELECT bench_many(CASE WHEN :capacity < 10000 THEN 100000 ELSE 10000 END, :capacity);
VACUUM many, many_inline;
-- ours: ten keys
SELECT count(*) FROM many
WHERE bloom_contains_any(filter, (SELECT array_agg(hashint8extended(-i, :seed)) FROM generate_series(1, 10) AS i));
-- against: one key
SELECT count(*) FROM many WHERE filter @> hashint8extended(-1, :seed);
