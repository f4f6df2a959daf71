-- Of four weeks, one filter a day.  bloom_cardinality is an estimate: its error stands
-- below.
-- title: distinct users of four weeks
-- setup:
SELECT bench_visits();
-- ours: bloom_cardinality(bloom_union_agg(users)), 28 filters
SELECT bloom_cardinality(bloom_union_agg(users)) FROM day_filters;
-- against: count(DISTINCT user)
SELECT count(DISTINCT k) FROM visits;
-- value: error of the estimate, % | at most 1
SELECT abs((SELECT bloom_cardinality(bloom_union_agg(users)) FROM day_filters) * 100.0 / count(DISTINCT k) - 100) FROM visits;
-- value: kB of the 28 filters
SELECT sum(pg_column_size(users)) / 1024.0 FROM day_filters;
-- value: kB of the visits
SELECT pg_relation_size('visits') / 1024.0;
