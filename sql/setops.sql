--
-- Set operations: bloom | bloom, bloom & bloom, bloom_superset
--

-- Filters of one shape (16 words) in all combinations of forms.
CREATE TEMPORARY TABLE parts (name text, low int, high int, filter bloom);
INSERT INTO parts
SELECT name, low, high,
	   coalesce((SELECT bloom_agg(i, 100, 0.01) FROM generate_series(low, high) AS i
				 HAVING count(*) > 0), bloom_empty(100))
FROM (VALUES ('none', 1, 0), ('keys', 1, 10), ('more keys', 6, 15), ('other keys', 51, 60),
			 ('bits', 1, 60), ('more bits', 41, 100)) AS v (name, low, high);

SELECT name, (bloom_info(filter)).representation, (bloom_info(filter)).bits, bloom_cardinality(filter)
FROM parts;

-- The union is what adding all keys to one filter gives.
SELECT a.name, b.name, (a.filter | b.filter) = u.filter AS exact,
	   (a.filter | b.filter)::text = u.filter::text AS prints_alike,
	   _bloom_hash(a.filter | b.filter) = _bloom_hash(u.filter) AS hashes_alike,
	   (bloom_info(u.filter)).representation
FROM parts AS a, parts AS b,
	 LATERAL (SELECT coalesce(bloom_agg(i, 100, 0.01), bloom_empty(100)) AS filter
			  FROM (SELECT generate_series(a.low, a.high)
					UNION SELECT generate_series(b.low, b.high)) AS keys (i)
			  HAVING count(*) > 0
			  UNION ALL
			  SELECT bloom_empty(100) WHERE a.low > a.high AND b.low > b.high) AS u
ORDER BY a.name COLLATE "C", b.name COLLATE "C";

-- The intersection holds each key that both hold; each side contains it; it
-- is exact between keys forms.
SELECT a.name, b.name,
	   coalesce(bool_and((a.filter & b.filter) @> i), true) AS no_false_negatives,
	   bloom_superset(a.filter, a.filter & b.filter) AND bloom_superset(b.filter, a.filter & b.filter) AS contained,
	   (a.filter & b.filter) = (b.filter & a.filter) AS commutes,
	   bloom_cardinality(a.filter & b.filter) AS keys,
	   count(i) AS true_keys
FROM parts AS a CROSS JOIN parts AS b
	 LEFT JOIN generate_series(1, 100) AS i
	 ON i BETWEEN greatest(a.low, b.low) AND least(a.high, b.high)
GROUP BY a.name, b.name, a.filter, b.filter
ORDER BY a.name COLLATE "C", b.name COLLATE "C";

-- Containment: of each other, and in the union.
SELECT a.name, b.name, bloom_superset(a.filter, b.filter) AS contains,
	   bloom_superset(a.filter | b.filter, b.filter) AS in_union,
	   b.low >= a.low AND b.high <= a.high OR b.low > b.high AS truly
FROM parts AS a, parts AS b
ORDER BY a.name COLLATE "C", b.name COLLATE "C";

-- Laws, over all triples; one filter of no key knows its key type.
WITH parts AS (SELECT filter FROM parts UNION ALL SELECT bloom_empty(100, key_type => 'int4'))
SELECT count(*) AS triples,
	   bool_and((a | b) = (b | a)) AS union_commutes,
	   bool_and(((a | b) | c) = (a | (b | c))) AS union_associates,
	   bool_and(((a & b) & c) = (a & (b & c))) AS intersection_associates,
	   bool_and((a | a) = a AND (a & a) = a) AS idempotent,
	   bool_and((a | (a & b)) = a) AS absorbs
FROM (SELECT a.filter AS a, b.filter AS b, c.filter AS c
	  FROM parts AS a, parts AS b, parts AS c) AS triples;

-- Without a shape, in every position.
SELECT name, (s | filter) = filter AS left_of_union, (filter | s) = filter AS right_of_union,
	   bloom_cardinality(s & filter) = 0 AS left_of_intersection, bloom_cardinality(filter & s) = 0 AS right_of_intersection,
	   bloom_superset(filter, s) AS contains_it, bloom_superset(s, filter) AS in_it
FROM parts, (SELECT bloom_agg(i) AS s FROM generate_series(1, 0) AS i) AS shapeless
ORDER BY name COLLATE "C";
SELECT (s | s) = s AS union, (s & s) = s AS intersection, bloom_superset(s, s) AS contains, s = s AS equals
FROM (SELECT bloom_agg(i) AS s FROM generate_series(1, 0) AS i) AS shapeless;

-- Keys on both sides that together pass the threshold of the keys form.
SELECT n, (bloom_info(a)).representation AS a, (bloom_info(b)).representation AS b,
	   (bloom_info(a | b)).representation AS both, (a | b) = u AS exact
FROM generate_series(6, 10) AS n,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(1024, 5), array_agg(i)) AS a FROM generate_series(1, n) AS i) AS a,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(1024, 5), array_agg(i)) AS b FROM generate_series(n + 1, 2 * n) AS i) AS b,
	 LATERAL (SELECT bloom_add_all(bloom_empty_shaped(1024, 5), array_agg(i)) AS u FROM generate_series(1, 2 * n) AS i) AS u;

-- The larger capacity is kept, whatever the order: 63 and 64 keys have the
-- same shape.
SELECT (bloom_info(a | b)).capacity, (bloom_info(b | a)).capacity, (bloom_info(a & b)).capacity,
	   (a | b)::text = (b | a)::text AS prints_alike
FROM bloom_add(bloom_empty(63), 1) AS a, bloom_add(bloom_empty(64), 2) AS b;

-- The arguments are as before.
SELECT bool_and(before = filter) AS unchanged
FROM (SELECT filter, filter::text::bloom AS before, filter | lead AS result, filter & lead AS other
	  FROM (SELECT filter, lead(filter) OVER () FROM parts) AS s) AS s;
