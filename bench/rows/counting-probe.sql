-- Both filters hold the last tenth of the table's keys, and others up to their
-- capacity.  The counting filter is four times as large: where it leaves a
-- cache in which the other fits, that is what is measured.
-- each: capacity = 10000 1000000 10000000
-- title: counting filter, probe, constant filter of :capacity int8
-- setup:
SELECT bench_keys('int8', :rows);
SELECT bench_make_filter('int8', :capacity, :rows / 10 * 9 + 1);
SELECT concat_ws('_', 'int8', :capacity, :rows / 10 * 9 + 1) AS name \gset
CREATE TABLE IF NOT EXISTS bench_counting (name text PRIMARY KEY, filter counting_bloom);
CREATE OR REPLACE FUNCTION bench_counting_filter(name text) RETURNS counting_bloom
	LANGUAGE sql IMMUTABLE AS $$
	SELECT f.filter FROM bench_counting AS f WHERE f.name = bench_counting_filter.name
$$;
INSERT INTO bench_counting
SELECT :'name', counting_bloom_agg(hashint8extended(i, :seed), :capacity, 0.01)
FROM generate_series(:rows / 10 * 9 + 1, :rows / 10 * 9 + :capacity) AS i
ON CONFLICT DO NOTHING;
PREPARE counting_probe AS SELECT count(*) FROM int8_:rows WHERE bench_counting_filter(:'name') @> k;
PREPARE plain_probe AS SELECT count(*) FROM int8_:rows WHERE bench_filter(:'name') @> k;
-- ours: counting filter @> k
EXECUTE counting_probe;
-- against: filter @> k | at most 1.2
EXECUTE plain_probe;
