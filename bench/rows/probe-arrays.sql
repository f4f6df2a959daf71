-- Arrays of absent keys.  bloom_missing tests them in batches; a row is tested by itself.
-- each: capacity = 1000000 10000000 100000000
-- each: length = 100 10000
-- title: 10^6 absent int8 in arrays of :length, stored filter of :capacity
-- setup:
SELECT bench_make_filter('int8', :capacity, 1);
SELECT concat_ws('_', 'int8', :capacity, 1) AS name \gset
CREATE TEMP TABLE absent_:capacity_:length AS
SELECT array_agg(hashint8extended(i + 1000000000, :seed)) AS keys FROM generate_series(0, 999999) AS i GROUP BY i / :length;
ALTER TABLE absent_:capacity_:length ALTER keys SET STORAGE EXTERNAL;
-- ours: bloom_missing(filter, keys)
SELECT sum(cardinality(bloom_missing((SELECT filter FROM bench_filters WHERE name = :'name'), keys))) FROM absent_:capacity_:length;
-- against: filter @> key, for each of unnest(keys)
SELECT count(*) FROM absent_:capacity_:length, unnest(keys) AS k WHERE NOT (SELECT filter FROM bench_filters WHERE name = :'name') @> k;
