--
-- Shards: sets that are larger than one filter
--

-- A key's shard is from 0 on, the same for equal keys, whatever their types.
SELECT min(bloom_shard(i, 7)) AS first, max(bloom_shard(i, 7)) AS last,
	   count(DISTINCT bloom_shard(i, 7)) AS shards,
	   bool_and(bloom_shard(i, 1) = 0) AS one_shard
FROM generate_series(1, 1000) AS i;
SELECT count(*) AS keys, count(*) FILTER (WHERE shard <> ALL (shards)) AS elsewhere
FROM generate_series(-1000, 1000) AS i,
	 LATERAL (SELECT bloom_shard(i, 1000003) AS shard,
			  ARRAY[bloom_shard(i::int2, 1000003), bloom_shard(i::int8, 1000003), bloom_shard(i::numeric, 1000003),
					bloom_shard((i || '.00')::numeric, 1000003), bloom_shard(i::float4, 1000003), bloom_shard(i::float8, 1000003)] AS shards) AS s;
SELECT bloom_shard(-0.0::float8, 1000003) = bloom_shard(0, 1000003) AS zero,
	   bloom_shard('a'::text, 1000003) = bloom_shard('a  '::char(3), 1000003) AS padding,
	   bloom_shard('a', 1000003) = bloom_shard('a'::varchar, 1000003) AS untyped,
	   bloom_shard(1.5, 1000003) = bloom_shard(1.50, 1000003) AS scale,
	   bloom_shard('NaN'::float4, 1000003) = bloom_shard('NaN'::float8, 1000003) AS nan;
SELECT count(*) AS numerics, min(bloom_shard(value, 1000003)) >= 0 AND max(bloom_shard(value, 1000003)) < 1000003 AS in_range
FROM unnest('{9223372036854775807,9223372036854775808,-9223372036854775809,1e400,NaN}'::numeric[]) AS value;
SELECT count(*) AS floats, min(bloom_shard(value, 2147483647)) >= 0 AS in_range
FROM unnest('{9223372036854775807,-9223372036854775808,-1e300,Infinity,-Infinity,NaN}'::float8[]) AS value;
SELECT bloom_shard(NULL::int, 7) IS NULL AS null_key, bloom_shard(1, NULL) IS NULL AS null_shards;

-- Below 2^53 a float8 equals one bigint, and has its shard; from there on it
-- equals several, which have shards of their own.  A float4, the same at 2^24.
SELECT i, n, n::float8 = i::float8 AS equal, bloom_shard(n, 1000003) = bloom_shard(i::float8, 1000003) AS same_shard
FROM unnest('{9007199254740991,9007199254740992}'::bigint[]) AS i, generate_series(i, i + 1) AS n
WHERE n::float8 = i::float8 ORDER BY i, n;
SELECT i, n, n::float4 = i::float4 AS equal, bloom_shard(n, 1000003) = bloom_shard(i::float4, 1000003) AS same_shard
FROM unnest('{16777215,16777216}'::bigint[]) AS i, generate_series(i, i + 1) AS n
WHERE n::float4 = i::float4 ORDER BY i, n;

-- The keys are evenly divided: chi-squared of 1,000,000 keys in 1,000 shards
-- is 999 with a standard deviation of 45; this is within five of them.
SELECT count(*) AS shards, sum((n - 1000) ^ 2) / 1000 BETWEEN 999 - 5 * 45 AND 999 + 5 * 45 AS even
FROM (SELECT count(*) AS n FROM generate_series(1, 1000000) AS i GROUP BY bloom_shard(i, 1000)) AS s;

-- It has nothing to do with the positions in a filter: the keys of one shard
-- fill their filter as any keys do, and its rate is what was asked.
SELECT abs((f).keys - n) < 1000 AS estimate, (f).fill BETWEEN 0.49 AND 0.51 AS half_full
FROM (SELECT count(*) AS n, bloom_info(bloom_add_all(bloom_empty_shaped(7 * 144270, 7), array_agg(i))) AS f
	  FROM generate_series(1, 1000000) AS i WHERE bloom_shard(i, 10) = 3) AS s;

-- No shard is sized too small by chance, and none much too large.
SELECT capacity, shards, bloom_shard_capacity(capacity, shards)
FROM (VALUES (1e9, 16), (1e9, 1), (4e12, 10000), (1e6, 16), (1000, 16), (10, 16), (1, 1), (9e18, 2147483647)) AS v (capacity, shards);
SELECT shards, max(n) <= bloom_shard_capacity(200000, shards) AS enough,
	   max(n) > 200000 / shards AS more_than_a_share
FROM unnest('{2,16,100,1000}'::int[]) AS shards,
	 LATERAL (SELECT count(*) AS n FROM generate_series(1, 200000) AS i GROUP BY bloom_shard(i, shards)) AS s
GROUP BY shards ORDER BY shards;

-- fail
SELECT bloom_shard(1, 0);
SELECT bloom_shard(1, -1);
SELECT bloom_shard(point(1, 1), 3);
SELECT bloom_shard_capacity(100, 0);
SELECT bloom_shard_capacity(0, 3);
SELECT bloom_shard_capacity(0.5, 3);
SELECT bloom_shard_capacity('NaN', 3);
SELECT bloom_shard_capacity('Infinity', 3);
SELECT bloom_shard_capacity(1e19, 3);

-- A set in one statement: no shard has more keys than its capacity, so that
-- there is no warning.
CREATE TABLE big (shard int PRIMARY KEY, f bloom);
INSERT INTO big
SELECT bloom_shard(i, 16), bloom_agg(i, bloom_shard_capacity(200000, 16), 0.01)
FROM generate_series(1, 200000) AS i GROUP BY 1;
SELECT count(*) AS shards, count(DISTINCT (bloom_info(f)).bits) AS shapes, sum(bloom_cardinality(f)) BETWEEN 199000 AND 201000 AS keys FROM big;

-- Every key is found by its shard, and the rate is what was asked: 4 standard
-- deviations of 100,000 keys at 0.01.
SELECT count(*) AS denied FROM generate_series(1, 200000) AS i
LEFT JOIN big ON shard = bloom_shard(i, 16) WHERE (f @> i) IS NOT TRUE;
SELECT count(*) <= 1000 + 4 * sqrt(1000 * 0.99) AS within_rate
FROM generate_series(-100000, -1) AS i JOIN big ON shard = bloom_shard(i, 16) AND f @> i;
-- one key: one row of the primary key
SELECT f @> 4711 AS found FROM big WHERE shard = bloom_shard(4711, 16);
-- sets with the same number of shards are merged shard by shard
SELECT count(*) AS shards, bool_and(big.f | half.f = big.f) AS same
FROM big JOIN (SELECT bloom_shard(i, 16) AS shard, bloom_agg(i, bloom_shard_capacity(200000, 16), 0.01) AS f
			   FROM generate_series(1, 100000) AS i GROUP BY 1) AS half USING (shard);

DROP TABLE big;
