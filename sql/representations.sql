--
-- The two forms of a filter: keys while they are few, then bits
--

-- From keys to bits where 8 bytes a key are no longer less than the bits:
-- with 16 words, at 16 keys, by whichever way they came.
SELECT n, (bloom_info(f)).representation, (bloom_info(f)).bytes,
	   f = g AND g = h AS equal, f::text = g::text AND g::text = h::text AS print_alike,
	   _bloom_hash(f) = _bloom_hash(g) AND _bloom_hash(g) = _bloom_hash(h) AS hash_alike
FROM generate_series(0, 18) AS n,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(1024, 5), array_agg(i)) AS f FROM generate_series(1, n) AS i) AS aggregated,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(1024, 5), ARRAY(SELECT generate_series(1, n))) AS g) AS by_array,
	 LATERAL (SELECT bloom_union_agg(bloom_add(bloom_empty_shaped(1024, 5), i)) AS h FROM generate_series(1, n) AS i) AS merged
WHERE n > 0;

-- At the turn, two keys can share a bit, so that as many bits are set as there
-- were keys before.
SELECT count(*) AS filters, bool_and(f @> 10 AND bloom_contains_all(f, keys)) AS no_false_negatives, count(*) FILTER (WHERE bits_set = 9) > 0 AS some_share
FROM generate_series(1, 200) AS seed, (SELECT ARRAY(SELECT generate_series(1, 9)) AS keys) AS k,
	 LATERAL (SELECT bloom_add(bloom_add_all(bloom_empty_shaped(640, 1, seed), keys), 10) AS f) AS s,
	 LATERAL (SELECT (bloom_info(f)).fill * 640 AS bits_set) AS i;

-- The smallest shapes have no keys form, but when empty.
SELECT bits, (bloom_info(bloom_empty_shaped(bits, 1))).representation AS empty,
	   (bloom_info(bloom_add(bloom_empty_shaped(bits, 1), 1))).representation AS one_key
FROM unnest('{64,128}'::int[]) AS bits;

-- A filter in bits form that holds few keys, as an intersection or another
-- producer makes it: here what 40 filters of those keys and others have in
-- common.  It differs from the one in keys form, and works as well.
CREATE TEMPORARY TABLE both_forms AS
SELECT f AS keys,
	   (SELECT bloom_intersect_agg(u)
		FROM (SELECT bloom_add_all(f, array_agg(i)) AS u
			  FROM generate_series(1, 40) AS part, generate_series(part * 1000, part * 1000 + 20) AS i
			  GROUP BY part) AS unions) AS bits
FROM bloom_add_all(bloom_empty_shaped(1024, 3), '{1,2}'::int[]) AS f;
SELECT (bloom_info(keys)).representation, (bloom_info(bits)).representation,
	   keys = bits AS equal, keys <> bits AS unequal, bits = bits::text::bloom AS bits_kept,
	   bloom_superset(keys, bits) AND bloom_superset(bits, keys) AS contain_each_other,
	   abs((bloom_info(keys)).fill / (bloom_info(bits)).fill - 1) < 0.01 AS about_the_same_fill
FROM both_forms;
SELECT bits @> 1 AND bits @> 2 AS no_false_negatives, bloom_contains_any(bits, '{100,101,102}'::int[]) AS others,
	   bloom_cardinality(bits) AS keys, bloom_intersect_cardinality(keys, bits) AS common,
	   (keys | bits) = bits AS union, (keys & bits) = keys AS intersection,
	   bloom_superset(bloom_add(bits, 3), bloom_add(keys, 3)) AS added,
	   (SELECT bloom_union_agg(f) = bloom_add_all(keys, ARRAY(SELECT generate_series(1, 30))) FROM (SELECT bits UNION ALL SELECT bloom_add(keys, i) FROM generate_series(1, 30) AS i) AS u (f)) AS aggregated
FROM both_forms;
-- containment, where the forms differ
SELECT bloom_superset(keys, other) AS keys_have_other, bloom_superset(bits, other) AS bits_have_other,
	   bloom_superset(other, keys) AS other_has_keys, bloom_superset(other, bits) AS other_has_bits
FROM both_forms, (VALUES (bloom_add(bloom_empty_shaped(1024, 3), 1)), (bloom_add_all(bloom_empty_shaped(1024, 3), '{1,2,3}'::int[])), (bloom_empty_shaped(1024, 3)),
				  ((SELECT bloom_add_all(bloom_empty_shaped(1024, 3), array_agg(i)) FROM generate_series(1, 100) AS i))) AS o (other);

-- A filter that holds little is small, however large its capacity.
SELECT capacity, (bloom_info(f)).bytes, f @> 10 AS found
FROM unnest('{1000,1000000,400000000}'::bigint[]) AS capacity,
	 LATERAL (SELECT bloom_agg(i, capacity, 0.01) AS f FROM generate_series(1, 10) AS i) AS s;

-- A filter that sizes itself: as bloom_empty sizes it for that many keys.
SELECT n, (bloom_info(f)).representation, (bloom_info(f)).bits = p.bits AND (bloom_info(f)).hashes = p.hashes AS as_bloom_params,
	   (bloom_info(f)).capacity, f = g AS equals_fixed
FROM unnest('{1,2,5,6,7,12,13,64,65,1000,52428,52429,60000}'::int[]) AS n,
	 LATERAL (SELECT bloom_agg(i) AS f, bloom_agg(i, n, 0.01) AS g FROM generate_series(1, n) AS i) AS s,
	 bloom_params(n) AS p;
-- repeats do not count
SELECT (bloom_info(bloom_agg(i % 100))).capacity FROM generate_series(1, 10000) AS i;
-- the rate is high enough that it holds keys itself
SELECT (bloom_info(bloom_agg(i, 1e-12))).representation, bloom_agg(i, 1e-12) @> 5 AS found FROM generate_series(1, 100) AS i;

-- ----------------------------------------------------------------
-- bloom_fit
-- ----------------------------------------------------------------

-- keys: the shape for what it holds
SELECT n, (bloom_info(fitted)).bits, (bloom_info(fitted)).capacity, (bloom_info(fitted)).representation,
	   fitted = own AS as_own_size, (SELECT bool_and(fitted @> i) FROM generate_series(1, n) AS i) AS no_false_negatives
FROM unnest('{1,10,1000}'::int[]) AS n,
	 LATERAL (SELECT bloom_fit(bloom_agg(i, 1000000, 0.01), 0.01) AS fitted, bloom_agg(i) AS own FROM generate_series(1, n) AS i OFFSET 0) AS s;
-- bits: folded as far as the rate allows, and no further
SELECT n, (bloom_info(f)).bits, (bloom_info(fitted)).bits AS fitted_bits, (bloom_info(fitted)).hashes,
	   (bloom_info(fitted)).fp_prob_now <= 0.01 AS rate_kept,
	   (SELECT bool_and(fitted @> i) FROM generate_series(1, n) AS i) AS no_false_negatives,
	   (SELECT count(*) FILTER (WHERE fitted @> i) FROM generate_series(-20000, -1) AS i) <= 20000 * 0.01 + 4 * sqrt(20000 * 0.01) AS few_false_positives
FROM unnest('{4000,12000,16000,31000,64000}'::int[]) AS n,
	 LATERAL (SELECT f, bloom_fit(f, 0.01) AS fitted
			  FROM (SELECT bloom_add_all(bloom_empty_shaped(64 * 64 * 180, 7), array_agg(i)) AS f FROM generate_series(1, n) AS i) AS s
			  OFFSET 0) AS s;
-- the rate that a fold has decides, not the one that was expected
SELECT count(*) AS filters, count(*) FILTER (WHERE i.bits < 64 * 360) AS folded, count(*) FILTER (WHERE i.fp_prob_now > 0.01) AS above
FROM generate_series(360, 1155, 5) AS n,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(64 * 360, 7), array_agg(k)) AS f FROM generate_series(1, n) AS k OFFSET 0) AS s,
	 bloom_info(bloom_fit(f, 0.01)) AS i;
-- a filter folded has the bits of its keys in the smaller shape
SELECT (bloom_info(bloom_fit(f, 0.01))).bits, substring(bloom_fit(f, 0.01)::bytea FROM 45) = substring(g::bytea FROM 45) AS same_as_built_small
FROM (SELECT bloom_add_all(bloom_empty_shaped(64 * 1024, 7), array_agg(i)) AS f, bloom_add_all(bloom_empty_shaped(64 * 256, 7), array_agg(i)) AS g FROM generate_series(1, 1500) AS i) AS s;
-- unchanged when nothing can be gained
SELECT bloom_fit(f, 0.01) = f AS full, bloom_fit(f, 1e-9) = f AS too_high_a_wish, bloom_fit(e, 0.01) @> 1 AS empty,
	   (bloom_info(bloom_fit(e, 0.01))).bits AS bits_of_empty, bloom_cardinality(bloom_fit(s, 0.01)) = 0 AS shapeless
FROM (SELECT bloom_agg(i, 1000, 0.01) AS f, bloom_empty(1000) AS e FROM generate_series(1, 1000) AS i) AS a,
	 (SELECT bloom_agg(i) AS s FROM generate_series(1, 0) AS i) AS b;
-- a rate next to 1 is a capacity, too
SELECT f::text::bloom = f AS comes_back, (bloom_info(f)).capacity BETWEEN 1 AND 1000 AS capacity
FROM (SELECT bloom_fit(bloom_agg(i, 100, 0.01), 0.9999999999999999) AS f FROM generate_series(1, 100) AS i) AS s;
-- seeds stay
SELECT (bloom_info(bloom_fit(bloom_add(bloom_empty(1000, 0.01, -9), 1), 0.01))).seed AS keys,
	   (bloom_info(bloom_fit(bloom_add_all(bloom_empty(10000, 0.01, -9), array_agg(i)), 0.5))).seed AS bits
FROM generate_series(1, 2000) AS i;
