-- How often filters for 10^5 keys say yes to keys that were never added, while
-- they fill up, beside the formula.
-- title: rate
-- setup:
CREATE UNLOGGED TABLE IF NOT EXISTS curve_absent AS
SELECT 1000000000 + i AS k FROM generate_series(1, (:rows * 0.4)::bigint) AS i;
SELECT bench_settle('curve_absent');
-- points: rate
SELECT 100 * asked || ' %', x, hits::float8 / (:rows * 0.4)
FROM unnest('{0.1, 0.01, 0.001}'::float8[]) WITH ORDINALITY AS a (asked, place),
	 generate_series(0.2, 3, 0.2) AS x,
	 LATERAL (SELECT bloom_agg(i, 100000, asked) AS filter
			  FROM generate_series(1, (100000 * x)::bigint) AS i) AS f,
	 LATERAL (SELECT count(*) AS hits FROM curve_absent WHERE filter @> k) AS s
ORDER BY place, x;
-- points: rate
SELECT 100 * asked || ' %, bits a key and hashes', bits / 100000.0, hashes
FROM unnest('{0.1, 0.01, 0.001}'::float8[]) AS asked, bloom_params(100000, asked);
