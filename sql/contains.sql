--
-- Construction and membership: bloom_add, bloom @> anyelement
--

CREATE TEMPORARY TABLE filters (form text, filter bloom);
INSERT INTO filters
SELECT 'keys', bloom_agg(i, 100000, 0.01) FROM generate_series(1, 1000) AS i
UNION ALL
SELECT 'bits', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i;

-- A filter never denies a key that was added to it.
SELECT form, count(*) AS keys, bool_and(filter @> i) AS no_false_negatives,
	   bool_and(i <@ filter) AS by_commutator, bool_and(bloom_contains(filter, i)) AS by_function
FROM filters, generate_series(1, 1000) AS i
GROUP BY form ORDER BY form COLLATE "C";

-- It imagines few; the keys form, none (2^-64 per key).  9.3 are
-- expected of 1,000, and four standard deviations are 12.
SELECT form, count(*) FILTER (WHERE filter @> i) <= CASE form WHEN 'keys' THEN 0 ELSE 21 END AS few_false_positives,
	   bool_and((filter @> i) = (i <@ filter)) AS commutes,
	   bool_and((filter @> i) = bloom_contains(filter, i)) AS same_by_function
FROM filters, generate_series(1001, 2000) AS i
GROUP BY form ORDER BY form COLLATE "C";

-- Nothing is in an empty filter, whatever its type.
SELECT bloom_empty(10) @> 1 AS int, bloom_empty(10) @> 'a'::text AS text,
	   bloom_contains(bloom_empty(10), 'a') AS untyped, bloom_empty(10) @> now() AS timestamptz;
SELECT f @> 1 AS shapeless, bloom_contains(f, 'a') AS shapeless_text,
	   bloom_contains_all(f, '{1}'::int[]) AS all_of_one, bloom_contains_all(f, '{}'::int[]) AS all_of_none
FROM (SELECT bloom_agg(i) AS f FROM generate_series(1, 0) AS i) AS s;

-- Adding one by one is adding all at once, or by the aggregate.
DO $do$
DECLARE
	filter bloom := bloom_empty(100);
	before bloom;
BEGIN
	FOR i IN 1 .. 100
	LOOP
		before := filter;
		filter := bloom_add(filter, i);
		-- a key that is there already changes nothing
		ASSERT bloom_add(filter, i) = filter;
		-- the filter that it was added to is as before
		ASSERT before = (SELECT bloom_add_all(bloom_empty(100), array_agg(j)) FROM generate_series(1, i - 1) AS j)
			OR i = 1 AND bloom_cardinality(before) = 0;
	END LOOP;
	ASSERT filter = bloom_add_all(bloom_empty(100), ARRAY(SELECT generate_series(1, 100)));
	ASSERT filter = (SELECT bloom_agg(i, 100, 0.01) FROM generate_series(1, 100) AS i);
	ASSERT filter = (SELECT bloom_add_all(bloom_empty(100), array_agg(i)) FROM generate_series(1, 100) AS i);
	ASSERT filter::text = (SELECT bloom_add_all(bloom_empty(100), array_agg(i)) FROM generate_series(1, 100) AS i)::text;
END
$do$;

-- Its argument is as before.
SELECT bloom_cardinality(e) = 0 AS still_empty, bloom_add(e, 1) @> 1 AS added, bloom_cardinality(e) = 0 AS still_empty
FROM bloom_empty(64) AS e;

-- The seed changes the hashes, and two seeds never mix.
SELECT bloom_add(bloom_empty(10), 1)::bytea = bloom_add(bloom_empty(10, 0.01, 1), 1)::bytea AS same_bytes,
	   bloom_add(bloom_empty(10, 0.01, 1), 1) @> 1 AS contains;

-- Rounding of bits; largest and smallest shapes.
SELECT asked, (bloom_info(bloom_empty_shaped(asked, 3))).bits, (bloom_info(bloom_empty_shaped(asked, 3))).capacity
FROM unnest('{64, 65, 128, 1000, 4294967295, 4294967296}'::bigint[]) AS asked;
SELECT bloom_add(bloom_empty_shaped(4294967296, 64), 'a') @> 'a'::text AS largest,
	   (bloom_info(bloom_add(bloom_empty_shaped(4294967296, 64), 'a'))).bytes AS bytes_of_largest,
	   bloom_add(bloom_empty_shaped(64, 1), 'a') @> 'a'::text AS smallest;

-- An untyped literal or parameter is text.
SELECT bloom_contains(bloom_add(bloom_empty(10), 'a'), 'a') AS contains;
PREPARE probe AS SELECT bloom_contains(bloom_add(bloom_empty(10), 'a'), $1);
EXECUTE probe('a');
EXECUTE probe('b');
DEALLOCATE probe;
SELECT bloom_add(bloom_empty(10), 'a') @> 'a' AS by_operator;

-- The planner makes the cheap tests before ours.
CREATE TEMPORARY TABLE numbers AS SELECT i FROM generate_series(1, 10) AS i;
EXPLAIN (COSTS OFF)
SELECT * FROM numbers, filters WHERE filter @> i AND i > 5 AND form = 'keys' AND i <@ filter;

-- ----------------------------------------------------------------
-- Arrays
-- ----------------------------------------------------------------

CREATE TEMPORARY TABLE small AS
SELECT 'keys' AS form, bloom_add_all(bloom_empty(1000), '{1,2,3}'::int[]) AS filter
UNION ALL
-- p = 1e-9: no false positive among the few absent keys here
SELECT 'bits', bloom_add_all(bloom_empty(3, 1e-9), '{1,2,3}'::int[]);

SELECT form, (bloom_info(filter)).representation,
	   bloom_contains_all(filter, '{1,2,3}'::int[]) AS all_there,
	   bloom_contains_all(filter, '{1,2,99}'::int[]) AS one_missing,
	   bloom_contains_all(filter, '{1,NULL}'::int[]) AS null_is_unknown,
	   bloom_contains_all(filter, '{99,NULL}'::int[]) AS missing_decides,
	   bloom_contains_all(filter, '{}'::int[]) AS none_asked
FROM small;

SELECT form, bloom_contains_any(filter, '{99,98,1}'::int[]) AS one_there,
	   bloom_contains_any(filter, '{99,98}'::int[]) AS none_there,
	   bloom_contains_any(filter, '{99,NULL}'::int[]) AS null_is_unknown,
	   bloom_contains_any(filter, '{1,NULL}'::int[]) AS there_decides,
	   bloom_contains_any(filter, '{}'::int[]) AS none_asked
FROM small;

SELECT form, bloom_missing(filter, '{99,1,NULL,98,99}'::int[]) AS in_order, bloom_missing(filter, '{1}'::int[]) AS none,
	   bloom_missing(filter, '{NULL}'::int[]) AS no_nulls, bloom_missing(filter, '{}'::int[]) AS none_asked,
	   bloom_missing(filter, NULL::int[]) IS NULL AS null_array, bloom_missing(filter, '{1.5,1.0}'::numeric[]) AS equal_to_none
FROM small;

-- of several dimensions, with bounds of their own, and of other widths
SELECT form, bloom_contains_all(filter, '{{1,2},{3,1}}'::int[]) AS two_dimensions,
	   bloom_contains_all(filter, '[5:6]={1,2}'::int[]) AS other_bounds,
	   bloom_contains_all(filter, '{1,2}'::int2[]) AS int2,
	   bloom_contains_all(filter, '{1,2}'::int8[]) AS int8
FROM small;

-- Arrays against large filters, which test keys together: as one by one, in every form,
-- stored and not, whatever the length, with nulls, repeats, and keys that equal no integer.
CREATE TEMPORARY TABLE large AS
SELECT 'keys' AS form, bloom_agg(i, 1000000, 0.01) AS filter FROM generate_series(1, 70000) AS i
UNION ALL SELECT 'bits', bloom_agg(i, 500000, 0.01) FROM generate_series(1, 100000) AS i;
SELECT form, (bloom_info(filter)).representation, length(filter::bytea) > 524288 AS is_large FROM large ORDER BY form;
CREATE FUNCTION pg_temp.differ(filter bloom) RETURNS TABLE (arrays bigint, all_there bigint, none_there bigint, "unknown" bigint,
	differ_missing bigint, differ_all bigint, differ_any bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE expect_all), count(*) FILTER (WHERE NOT expect_any),
		   count(*) FILTER (WHERE expect_all IS NULL OR expect_any IS NULL),
		   count(*) FILTER (WHERE bloom_missing(filter, a) <> missing),
		   count(*) FILTER (WHERE bloom_contains_all(filter, a) IS DISTINCT FROM expect_all),
		   count(*) FILTER (WHERE bloom_contains_any(filter, a) IS DISTINCT FROM expect_any)
	FROM (SELECT ARRAY(SELECT CASE WHEN i % 29 = 7 AND place % 4 = 3 THEN NULL WHEN place % 3 = 0 THEN i % 100 * 1000 - 9000
						WHEN place % 3 = 1 AND i <> place THEN i + 1 WHEN place % 3 = 2 AND i <> place THEN -i
						ELSE i + 0.5 * (place % 2) END::numeric
						FROM generate_series(1, length) AS i) AS a
		  FROM unnest('{1, 2, 15, 16, 17, 18, 255, 256, 257, 272, 273, 274, 528, 529, 530, 1000}'::int[]) AS length,
			   generate_series(0, length, length / 12 + 1) AS place OFFSET 0) AS arrays,
		 LATERAL (SELECT coalesce(array_agg(k ORDER BY n) FILTER (WHERE NOT filter @> k), '{}') AS missing,
						 coalesce(bool_and(filter @> k), true) AND (count(*) = count(k) OR bool_or(NOT filter @> k) OR NULL) AS expect_all,
						 coalesce(bool_or(filter @> k), false) OR (count(*) > count(k) AND NULL) AS expect_any
				  FROM unnest(a) WITH ORDINALITY AS keys (k, n)) AS expected
$$;
SELECT form, differ.* FROM large, pg_temp.differ(filter) ORDER BY form;
SELECT form, differ.* FROM large, LATERAL (SELECT bloom_union(filter, filter) OFFSET 0) AS f (united), pg_temp.differ(united) ORDER BY form;
-- the sieve of a list is made in the middle of an array
SELECT bloom_missing(filter, a) = a[70001:] AS right_through FROM large, (SELECT array_agg(i) FROM generate_series(1, 70100) AS i) AS keys (a) WHERE form = 'keys';

-- elements, repeats, nulls; none at all
SELECT bloom_add_all(e, '{3,1,2,1,NULL}'::int[]) = bloom_add(bloom_add(bloom_add(e, 1), 2), 3) AS equal,
	   bloom_add_all(e, '{}'::int[]) = e AS nothing_added,
	   bloom_add_all(e, '{NULL,NULL}'::int[]) = e AS nothing_but_nulls,
	   bloom_cardinality(bloom_add_all(e, '{{1,2},{2,1}}'::int[])) AS distinct_elements
FROM bloom_empty(10000) AS e;

-- a domain over an array
CREATE DOMAIN pair AS int[] CHECK (array_length(VALUE, 1) = 2);
SELECT bloom_contains_all(bloom_add_all(bloom_empty(100), '{1,2}'::pair), '{2,1}'::pair) AS contains;
DROP DOMAIN pair;
