-- How full filters for 10^4 keys at 1 % become, and how well they estimate their
-- number of keys: the mean of a hundred seeds, and a band of one standard
-- deviation.
-- title: fill
-- setup:
DROP TABLE IF EXISTS curve_fills;
CREATE TABLE curve_fills AS
SELECT x, fill, keys / (10000 * x) - 1 AS error
FROM unnest('{0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3}'::float8[]) AS x,
	 generate_series(1, :rows / 100000) AS seed,
	 LATERAL (SELECT bloom_add_all(bloom_empty(10000, 0.01, seed), array_agg(i)) AS filter
			  FROM generate_series(1, (10000 * x)::int) AS i) AS f,
	 bloom_info(filter);
-- points: fill
SELECT 'fill', x, avg(fill), avg(fill) - stddev(fill), avg(fill) + stddev(fill)
FROM curve_fills GROUP BY x ORDER BY x;
-- points: fill
SELECT 'error', x, avg(error), avg(error) - stddev(error), avg(error) + stddev(error)
FROM curve_fills GROUP BY x ORDER BY x;
-- points: fill
SELECT 'bits and hashes', bits, hashes FROM bloom_params(10000, 0.01);
