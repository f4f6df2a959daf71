--
-- Estimates: cardinality, similarity, rates
--

-- The number of keys, within 2 % up to capacity; exact in keys form.  The
-- standard error at 10,000 keys of 10 bits is 0.4 %, less with fewer.
SELECT p, n, bloom_cardinality(f) BETWEEN 0.98 * n AND 1.02 * n AS within_2_percent,
	   (bloom_info(f)).representation = 'bits' OR bloom_cardinality(f) = n AS exact_as_keys,
	   (bloom_info(f)).keys = bloom_cardinality(f) AS info_agrees
FROM unnest('{0.2,0.01,0.0001}'::float8[]) AS p, unnest('{1,10,100,1000,2000,5000,8000,10000}'::int[]) AS n,
	 LATERAL (SELECT bloom_agg(i, 10000, p) AS f FROM generate_series(1, n) AS i) AS s
ORDER BY p, n;
-- small ones as well, of other keys
SELECT count(*) AS filters, count(*) FILTER (WHERE abs(bloom_cardinality(f) - n) > greatest(0.02 * n, 4 * sqrt(n) * 0.3)) AS far_off
FROM (SELECT n, s, bloom_agg(s * 100000 + i, 1000, 0.01) AS f
	  FROM unnest('{160,300,700,1000}'::int[]) AS n, generate_series(1, 50) AS s, generate_series(1, n) AS i GROUP BY n, s) AS s;

-- Union and intersection, within 5 % of the capacity.
SELECT overlap, abs(bloom_cardinality(a | b) - (10000 - overlap)) <= 500 AS union_within_5_percent,
	   abs(bloom_intersect_cardinality(a, b) - overlap) <= 500 AS intersection_within_5_percent
FROM unnest('{0,10,1000,2500,4999,5000}'::int[]) AS overlap,
	 LATERAL (SELECT bloom_agg(i, 10000, 0.01) AS a FROM generate_series(1, 5000) AS i) AS a,
	 LATERAL (SELECT bloom_agg(i, 10000, 0.01) AS b FROM generate_series(5001 - overlap, 10000 - overlap) AS i) AS b
ORDER BY overlap;
-- keys forms: exact
SELECT bloom_cardinality(a | b), bloom_intersect_cardinality(a, b)
FROM (SELECT bloom_agg(i, 10000, 0.01) AS a, bloom_agg(i + 50, 10000, 0.01) AS b FROM generate_series(1, 100) AS i) AS s;
SELECT bloom_cardinality(e | e) AS union, bloom_intersect_cardinality(e, bloom_add(e, 1)) AS one_empty, bloom_intersect_cardinality(s, bloom_add(e, 1)) AS intersection
FROM bloom_empty(100) AS e, (SELECT bloom_agg(i) AS s FROM generate_series(1, 0) AS i) AS s;

-- The rate now: that of the fraction of bits that are set; none in keys form.
SELECT n, (bloom_info(f)).representation, abs(bloom_fp_prob_now(f) / bloom_fp_prob((bloom_info(f)).bits / n::float8, 5) - 1) < 0.1 AS as_by_formula,
	   bloom_fp_prob_now(f) < 1e-15 AS next_to_none, (bloom_info(f)).fp_prob_now = bloom_fp_prob_now(f) AS info_agrees,
	   abs(bloom_fp_prob_now(f) - power((bloom_info(f)).fill, 5)) < 1e-9 OR (bloom_info(f)).representation = 'keys' AS of_fill
FROM unnest('{1,100,2000,10000,20000}'::int[]) AS n,
	 LATERAL (SELECT bloom_add_all(bloom_empty(10000), array_agg(i)) AS f FROM generate_series(1, n) AS i) AS s
ORDER BY n;
SELECT bloom_fp_prob_now(bloom_empty(10)) AS empty, bloom_fp_prob_now(f) AS full_of_ones, bloom_cardinality(f) AS keys, (bloom_info(f)).fill
FROM (SELECT bloom_add_all(bloom_empty_shaped(64, 64), array_agg(i)) AS f FROM generate_series(1, 100) AS i) AS s;

SELECT bloom_cardinality(bloom_empty(10)) = 0 AS empty, bloom_cardinality(bloom_add(bloom_empty(10), 1)) = 0 AS one_key,
	   bloom_cardinality(bloom_add(bloom_empty(10), NULL::int)) = 0 AS one_null;
-- no key is in both, but a bit of some is
SELECT bloom_cardinality(f) AS keys, (SELECT count(*) FROM generate_series(1, 100000) AS i WHERE f @> i) AS found
FROM bloom_intersect(bloom_add_all(bloom_empty_shaped(256, 12), '{1,2,3,4,5,6}'::int[]), bloom_add_all(bloom_empty_shaped(256, 12), '{7,8,9,10,11,12}'::int[])) AS f;

-- Full: more keys than it is sized for, by the rule of the WARNING.  A filter that
-- holds just what it is sized for is not: of 600, the estimate of half is above it.
SELECT n, bloom_is_overfull(f) AS is_overfull, (bloom_info(f)).representation
FROM unnest('{0,1,15,900,1100,3000}'::int[]) AS n,
	 LATERAL (SELECT bloom_add_all(bloom_empty(1000), ARRAY(SELECT generate_series(1, n))) AS f OFFSET 0) AS s ORDER BY n;
SELECT count(*) AS filters, count(*) FILTER (WHERE bloom_is_overfull(f)) AS full, count(*) FILTER (WHERE bloom_cardinality(f) > keys) > 200 AS estimated_above
FROM (SELECT keys, s, bloom_agg(s * 10000 + i, keys, 0.01) AS f
	  FROM unnest('{100,1000}'::int[]) AS keys, generate_series(1, 300) AS s, generate_series(1, keys) AS i GROUP BY keys, s) AS s;
SELECT keys, count(*) AS self_sized, count(*) FILTER (WHERE bloom_is_overfull(f)) AS full
FROM (SELECT keys, s, bloom_agg(s * 10000 + i) AS f
	  FROM unnest('{1,2,10,1000}'::int[]) AS keys, generate_series(1, 100) AS s, generate_series(1, keys) AS i GROUP BY keys, s) AS s
GROUP BY keys ORDER BY keys;
SELECT bloom_is_overfull(bloom_agg(i)) AS shapeless, bloom_is_overfull(NULL) AS null_filter FROM generate_series(1, 0) AS i;

-- A WARNING, once for each place in a query that adds too many keys.
CREATE TEMPORARY TABLE overfull (place text, f bloom, c counting_bloom);
INSERT INTO overfull VALUES ('none', bloom_empty(1000), counting_bloom_empty(1000)), ('none', bloom_empty(1000), counting_bloom_empty(1000));
UPDATE overfull SET f = bloom_add_all(f, ARRAY(SELECT generate_series(1, 1000)));
UPDATE overfull SET f = bloom_add_all(f, ARRAY(SELECT generate_series(1, 5000)));
UPDATE overfull SET f = bloom_add(f, -1);
UPDATE overfull SET f = bloom_add_hashes(f, '{1,2}');
UPDATE overfull SET c = counting_bloom_add_all(c, ARRAY(SELECT generate_series(1, 5000)));
UPDATE overfull SET c = counting_bloom_add(c, -1);
UPDATE overfull SET c = counting_bloom_remove(c, -1);
SELECT bloom_is_overfull(f) AS is_overfull, bloom_is_overfull(c::bloom) AS counting FROM overfull;
-- So do unions and sums: here of two halves that are not overfull, by batches of an
-- upsert, of stored filters, of constants, while the query is planned, and in PL/pgSQL.
CREATE TEMPORARY TABLE day (day int PRIMARY KEY, f bloom, c counting_bloom);
CREATE PROCEDURE pg_temp.upsert(batches int, size int) LANGUAGE plpgsql AS $$
BEGIN
	FOR batch IN 1 .. batches LOOP
		INSERT INTO day SELECT 1, bloom_agg(i + batch * size, 1000, 0.01), counting_bloom_agg(i + batch * size, 1000, 0.01) FROM generate_series(1, size) AS i
		ON CONFLICT (day) DO UPDATE SET f = day.f | EXCLUDED.f, c = day.c + EXCLUDED.c;
	END LOOP;
END
$$;
CALL pg_temp.upsert(2, 500);
CALL pg_temp.upsert(3, 900);
CREATE TEMPORARY TABLE half AS
SELECT s, bloom_agg(i, 1000, 0.01) AS a, bloom_agg(-i, 1000, 0.01) AS b, counting_bloom_agg(i, 1000, 0.01) AS c, counting_bloom_agg(-i, 1000, 0.01) AS d
FROM generate_series(1, 2) AS s, generate_series(1, 900) AS i GROUP BY s;
UPDATE overfull SET f = bloom_union(a, b), c = counting_bloom_sum(half.c, d) FROM half WHERE s = 1;
SELECT bloom_is_overfull(a | b) AS of_stored FROM half;
SELECT a AS a, b AS b FROM half WHERE s = 1 \gset
EXPLAIN (COSTS OFF) SELECT bloom_is_overfull(:'a'::bloom | :'b');
DO $$
DECLARE
	f bloom := (SELECT a FROM half WHERE s = 1);
	g bloom := (SELECT b FROM half WHERE s = 1);
BEGIN
	g := f | g;
	f := f | (SELECT b FROM half WHERE s = 1);
END
$$;
-- not of what one of them already was: one WARNING, by the aggregate
UPDATE half SET a = a | (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 5000) AS i);
SELECT bloom_is_overfull(b | a) AS stays_so, bloom_is_overfull(a | (SELECT bloom_agg(i) FROM generate_series(1, 0) AS i)) AS with_no_shape FROM half WHERE s = 1;
-- nothing that only measures what is in both does, nor an intersection
SELECT bloom_intersect_cardinality(a.f, b.f) > 1000 AS common,
	   bloom_superset(a.f, b.f), bloom_is_overfull(a.f & b.f) AS intersection
FROM day AS a, day AS b;
-- not where the filter is so small that its rate is still below fp_prob
SELECT (i).keys, (i).capacity, (i).fp_prob_now < (i).fp_prob AS keeps_to_fp_prob
FROM (SELECT bloom_info(bloom_add_all(bloom_empty(2), '{1,2,3,4,5}'::int[])) AS i) AS s;

-- bloom_info: all of it.
\x on
SELECT * FROM bloom_info(bloom_empty(1000, 0.001, 7));
SELECT * FROM bloom_info(bloom_add(bloom_empty_shaped(1024, 3, -1), 'a'));
SELECT key_type, bits, hashes, seed, capacity, fp_prob, keys, round(fp_prob_now::numeric, 6) AS fp_prob_now,
	   round(fill::numeric, 6) AS fill, bytes, representation
FROM bloom_info((SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i));
\x off

-- In one line.
SELECT bloom_summary(f) AS summary
FROM (SELECT 1, bloom_agg(i) AS f FROM generate_series(1, 0) AS i
	  UNION ALL SELECT 2, bloom_agg(NULL::int) FROM generate_series(1, 10)
	  UNION ALL SELECT 3, bloom_empty(1e6)
	  UNION ALL SELECT 4, bloom_empty(10, 1e-6)
	  UNION ALL SELECT 5, bloom_agg(i::text, 1e5, 0.001) FROM generate_series(1, 5000) AS i
	  UNION ALL SELECT 6, bloom_agg(i::text, 1e5, 0.01) FROM generate_series(1, 70000) AS i
	  UNION ALL SELECT 7, bloom_agg(i) FROM generate_series(1, 999) AS i
	  UNION ALL SELECT 8, bloom_add_all(bloom_empty(1000), array_agg(i)) FROM generate_series(1, 3000) AS i
	  UNION ALL SELECT 9, bloom_add(bloom_empty_shaped(64, 64), 1.5)
	  UNION ALL SELECT 10, NULL) AS v (n, f)
ORDER BY n;
