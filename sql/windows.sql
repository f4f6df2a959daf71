--
-- Aggregates over windows: the state goes on after each result
--

-- Each row's filter holds the keys of its frame, and those only: the keys
-- form is exact, and a filter that sizes itself is sized for each row anew.
SELECT count(*) AS rows,
	   bool_and((bloom_info(own)).capacity = n AND own @> i) AS own, bool_and(bloom_cardinality(fixed) = n) AS fixed,
	   bool_and(bloom_cardinality(internal) = n) AS internal,
	   bool_and(fixed @> i AND NOT fixed @> i + 1) AS up_to_this_row
FROM (SELECT i, count(*) OVER w AS n, bloom_agg(i) OVER w AS own,
			 bloom_agg(i, 100000, 0.01) OVER w AS fixed,
			 bloom_agg(('10.0.0.0'::inet + i), 100000, 0.01) OVER w AS internal
	  FROM generate_series(1, 200) AS i
	  WINDOW w AS (ORDER BY i)) AS s;

-- A window whose state grows between two results, again and again:
-- each result flushes the batch in place.  All forms.
SELECT count(*) AS rows, bool_and((bloom_info(own)).capacity = i) AS own,
	   bool_and(bloom_cardinality(fixed) = i AND fixed @> i) AS fixed,
	   bool_and((bloom_info(internal)).capacity = i) AS internal,
	   bool_and(bloom_cardinality(internal_fixed) = i) AS internal_fixed
FROM (SELECT i, bloom_agg(i) OVER w AS own, bloom_agg(i, 1000000, 0.01) OVER w AS fixed,
			 bloom_agg(i::float4) OVER w AS internal, bloom_agg(i::float4, 1000000, 0.01) OVER w AS internal_fixed
	  FROM generate_series(1, 5000) AS i
	  WINDOW w AS (ORDER BY i)) AS s;

-- A sliding frame has no inverse transition: it is aggregated anew.
SELECT count(*) AS rows, bool_and(bloom_cardinality(f) = n) AS keys,
	   bool_and(f = (SELECT bloom_agg(j, 100000, 0.01) FROM generate_series(greatest(i - 3, 1), least(i + 2, 100)) AS j)) AS of_the_frame
FROM (SELECT i, count(*) OVER w AS n, bloom_agg(i, 100000, 0.01) OVER w AS f
	  FROM generate_series(1, 100) AS i
	  WINDOW w AS (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)) AS s;

-- Results of earlier rows stay as they were, and no key is lost, when the
-- state turns from a small list into a large one, into bits, and when it is
-- large enough that hashes wait in it (from 512 kB on).
CREATE FUNCTION pg_temp.running(first int, step int, steps int, capacity bigint)
RETURNS TABLE (n int, representation text, keys_lost bigint, as_at_once boolean) LANGUAGE sql AS
$$
	WITH results AS MATERIALIZED (
		SELECT DISTINCT ON (part) max(i) OVER w AS n, bloom_agg(i, capacity, 0.01) OVER w AS filter
		FROM (SELECT i, greatest(i - first - 1, 0) / step AS part
			  FROM generate_series(1, first + step * steps) AS i) AS s
		WINDOW w AS (ORDER BY part)
		ORDER BY part
	)
	SELECT n, (bloom_info(filter)).representation,
		   (SELECT count(*) FROM generate_series(1, n) AS j WHERE NOT filter @> j),
		   filter = (SELECT bloom_agg(j, capacity, 0.01) FROM generate_series(1, n) AS j)
	FROM results
	ORDER BY n
$$;
-- 157 words
SELECT * FROM pg_temp.running(140, 5, 6, 1000);
-- 100,000 words; 16 hashes wait
SELECT * FROM pg_temp.running(99980, 9, 6, 640000);
-- a list that grows while hashes wait
SELECT count(*) AS results, sum(keys_lost) AS keys_lost, bool_and(as_at_once) AS as_at_once
FROM pg_temp.running(52420, 7, 3, 10000000);
SELECT count(*) AS results, sum(keys_lost) AS keys_lost, bool_and(as_at_once) AS as_at_once
FROM pg_temp.running(104850, 7, 3, 10000000);
-- bits from the start
SELECT count(*) AS results, sum(keys_lost) AS keys_lost, bool_and(as_at_once) AS as_at_once
FROM pg_temp.running(120000, 7, 3, 640000);

-- The running union and intersection of filters.
SELECT i, bloom_cardinality(u) AS keys_in_some, u @> i AND u @> 1 AS contains, bloom_cardinality(x) AS keys_in_all
FROM (SELECT i, bloom_union_agg(f) OVER w AS u, bloom_intersect_agg(f) OVER w AS x
	  FROM (SELECT n AS i, bloom_agg(k, 1000, 0.01) AS f
			FROM generate_series(1, 4) AS n, generate_series(n, n + 5) AS k GROUP BY n) AS filters
	  WINDOW w AS (ORDER BY i)) AS s;
