--
-- Rates: at capacity, the false-positive rate is what was asked, and no key
-- is denied
--
-- n = 100,000 keys, and 10^6 absent ones for each filter.  The rate may be 1.05
-- times what was asked, plus three standard errors of a count of rare events,
-- sqrt(N p) / N: that is 0.7 % of p = 0.2, 3 % of 0.01, and 30 % of 10^-4, by which
-- chance alone would pass the bound once in 700 filters.  The keys do not depend
-- on chance: the result is the same in every run.  test/model/model.py bounds the
-- rates of all other kinds of keys.
--

CREATE FUNCTION pg_temp.measured(key text, p float8, OUT denied bigint, OUT false_positives bigint)
LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format('
		WITH f AS MATERIALIZED (SELECT bloom_agg(%1$s, 100000, %2$s) AS f FROM generate_series(1, 100000) AS i)
		SELECT count(*) FILTER (WHERE i <= 100000 AND NOT found), count(*) FILTER (WHERE i > 100000 AND found)
		FROM (SELECT i, (SELECT f FROM f) @> (%1$s) AS found FROM generate_series(1, 1100000) AS i) AS probes', key, p)
	INTO denied, false_positives;
END
$$;

-- The server's own hash function has 3,964 hashes of these 1.1 million rows.
SELECT keys, p, m.denied, m.false_positives <= 1.05 * p * 1e6 + 3 * sqrt(p * 1e6) AS rate_kept,
	   -- nor much lower: the bits are not wasted
	   m.false_positives >= 0.5 * p * 1e6 AS not_wasteful
FROM (VALUES ('fixed width', 'i::int8'), ('text', 'i::text'), ('row', 'ROW(((i % 300)::int8 << 32) | (i / 300))')) AS k (keys, expression),
	 unnest('{0.2,0.01,0.0001}'::float8[]) AS p,
	 pg_temp.measured(expression, p) AS m;

-- A filter that sizes itself, and small ones: 500 filters of 20 keys.
SELECT p, 500 * 2000 AS tested,
	   sum(fp) <= 1.05 * p * 1000000 + 3 * sqrt(p * 1000000) AS rate_kept
FROM (SELECT p, s, (SELECT count(*) FROM generate_series(1, 2000) AS i WHERE f @> hashint8extended(i, -s)) AS fp
	  FROM (SELECT p, s, bloom_agg(hashint8extended(i, s), p) AS f
			FROM unnest('{0.2,0.01,0.001}'::float8[]) AS p, generate_series(1, 500) AS s, generate_series(1, 20) AS i
			GROUP BY p, s) AS filters) AS s
GROUP BY p ORDER BY p;

-- Keys that differ in any bit have different hashes: the keys form counts
-- them.  By the server's hash functions, which keep 32 bits of some types, there
-- were as few as 515 hashes of 90,000 keys.  With 64 bits, two of 30,000 keys
-- have the same once in 4 * 10^10 times; with 32 bits, once in ten, and so in
-- ten of these hundred cases.
CREATE TEMPORARY TABLE numbers AS
SELECT i, hashint8extended(i, 20261120) AS r FROM generate_series(1, 30000) AS i;
CREATE FUNCTION pg_temp.distinct_hashes(expression text, content text) RETURNS bigint LANGUAGE plpgsql AS
$$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT bloom_cardinality(bloom_agg(%s, 10000000, 0.01))
					FROM (SELECT i, %s AS x FROM numbers) AS k WHERE x >= 0', expression, content)
		INTO result;
	RETURN result;
END
$$;

SELECT expression, content, pg_temp.distinct_hashes(expression, content) AS hashes, expected.n AS keys
FROM unnest('{i::int8,r,i::int8 << 32,((i % 300)::int8 << 32) | (i / 300)}'::text[]) AS content,
	 pg_temp.distinct_hashes('x', content) AS expected (n),
	 unnest(ARRAY['x::numeric', 'x::numeric / 7', $$make_interval(secs => 1e-6) * (x % 1000000000000000)$$,
				  $$format('%s/%s', to_hex(x >> 32), to_hex(x & 4294967295))::pg_lsn$$, 'x::text::xid8', $$'::'::inet + x$$, 'x::bit(64)',
				  $$timetz '00:00+00' + make_interval(secs => 1e-6) * (x % 86400000000)$$,
				  'ARRAY[x]', 'ARRAY[x, i]', $$ARRAY['epoch'::timestamp + make_interval(secs => 1e-6) * (x % 1000000000000000)]$$, 'ARRAY[x::text]', 'ARRAY[ROW(x)]',
				  'ROW(x)', 'ROW(i % 7, x)', 'ROW(ROW(x))', $$ROW(x, 'a')$$, 'int8range(x, NULL)', 'numrange(NULL, x)',
				  'to_jsonb(x)', 'jsonb_build_array(x, i)', $$jsonb_build_object('a', x)$$,
				  -- twenty booleans
				  $$(SELECT jsonb_object_agg(b, (i >> b) & 1 = 1) FROM generate_series(0, 19) AS b)$$,
				  'ARRAY(SELECT (i >> b) & 1 = 1 FROM generate_series(0, 19) AS b)']) AS expression
WHERE pg_temp.distinct_hashes(expression, content) <> expected.n;

-- The mean rate of 1,000 filters of 100 keys, and of 100 filters of 1,000 keys, at
-- every power of ten.  The mean of fill^k is above the k-th power of the mean
-- fill by about k^2 / 2 * 0.31 / bits, 4 % for 100 keys at 1e-10, and the published
-- table of sizes rounds by 0.3 %.  The standard error is up to 1 %.  Smaller
-- filters have a table in docs/sizing.md.
SET client_min_messages = error;
SELECT keys, count(*) AS rates, max(ratio) <= 1.05 AS rate_kept, min(ratio) >= 0.5 AS not_wasteful
FROM (SELECT keys, p, avg(bloom_fp_prob_now(f)) / p AS ratio
	  FROM (SELECT keys, p, n, bloom_agg(n * 1000 + i, keys, p) AS f
			FROM generate_series(1, 13) AS e, LATERAL (SELECT 10 ^ -e::float8 AS p) AS asked, unnest('{100,1000}'::bigint[]) AS keys,
				 generate_series(1, 100000 / keys) AS n, generate_series(1, keys) AS i
			GROUP BY keys, p, n) AS filters
	  GROUP BY keys, p) AS rates
GROUP BY keys ORDER BY keys;
RESET client_min_messages;
