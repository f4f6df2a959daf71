--
-- Wrong input: a clear error, with its SQLSTATE
--

-- What a statement fails with; whether there is a detail, and a hint.
CREATE FUNCTION pg_temp.failure(statement text, OUT state text, OUT message text, OUT detail boolean, OUT hint boolean)
LANGUAGE plpgsql AS
$$
DECLARE
	detail_text text;
	hint_text text;
BEGIN
	EXECUTE statement;
	state := 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail_text = PG_EXCEPTION_DETAIL, hint_text = PG_EXCEPTION_HINT;
	detail := detail_text <> '';
	hint := hint_text <> '';
END
$$;

-- fp_prob, wherever it enters
SELECT call, f.*
FROM unnest('{0, 1, 2, NaN, -1, Infinity, -Infinity, 4e-14, 1e-300}'::text[]) AS p,
	 unnest(ARRAY[
		$$SELECT best_params('%s')$$,
		$$SELECT bloom_params(10, '%s')$$,
		$$SELECT bloom_empty(10, '%s')$$,
		$$SELECT bloom_fit(bloom_empty(10), '%s')$$,
		$$SELECT bloom_agg(1, '%s'::float8)$$,
		$$SELECT bloom_agg(1, 10, '%s')$$,
		$$SELECT bloom_agg(true, '%s'::float8)$$]) AS template,
	 format(template, p) AS call,
	 pg_temp.failure(call) AS f
ORDER BY p COLLATE "C", call COLLATE "C";

-- capacity
SELECT call, f.*
FROM unnest('{0, 0.5, -5, -1e300, NaN, -NaN, Infinity, -Infinity, 429496730, 429496729.5, 9007199254740992, 9007199254740994}'::text[]) AS capacity,
	 unnest(ARRAY[
		$$SELECT bloom_params('%s', 0.01)$$,
		$$SELECT bloom_empty('%s', 0.01)$$,
		$$SELECT bloom_agg('a'::text, '%s', 0.01)$$]) AS template,
	 format(template, capacity) AS call,
	 pg_temp.failure(call) AS f
ORDER BY capacity COLLATE "C", call COLLATE "C";
SELECT call, f.*
FROM unnest(ARRAY[
		'SELECT bloom_params(0.01, 1000)',
		'SELECT bloom_empty(0.01, 1000)',
		'SELECT bloom_empty(0.001, 1)',
		$$SELECT bloom_agg('a'::text, 0.01, 1000)$$,
		'SELECT bloom_agg(true, 0.01, 1e6)',
		'SELECT bloom_seen(1, 0.01, 1000) OVER ()',
		'SELECT bloom_agg(1, 1000)',
		'SELECT bloom_agg(1, 0)',
		'SELECT bloom_agg(1, -5)',
		'SELECT bloom_agg(1, 1e12)',
		'SELECT bloom_agg(1, NULL, 0.01)']) AS call,
	 pg_temp.failure(call) AS f
ORDER BY call COLLATE "C";

-- shapes
SELECT call, f.*
FROM unnest(ARRAY[
		'SELECT bloom_empty_shaped(64, 0)',
		'SELECT bloom_empty_shaped(64, 65)',
		'SELECT bloom_empty_shaped(64, -1)',
		'SELECT bloom_empty_shaped(64, 2147483647)',
		'SELECT bloom_empty_shaped(0, 1)',
		'SELECT bloom_empty_shaped(63, 1)',
		'SELECT bloom_empty_shaped(-64, 1)',
		'SELECT bloom_empty_shaped(4294967297, 1)',
		'SELECT bloom_empty_shaped(9223372036854775807, 1)',
		$$SELECT bloom_fp_prob('NaN', 1)$$,
		$$SELECT bloom_fp_prob('Infinity', 1)$$,
		'SELECT bloom_fp_prob(0, 1)',
		'SELECT bloom_fp_prob(-1, 1)',
		'SELECT bloom_fp_prob(10, 0)',
		'SELECT bloom_fp_prob(10, 65)']) AS call,
	 pg_temp.failure(call) AS f;

-- different shapes, seeds and key types
SELECT call, f.*
FROM unnest(ARRAY['%s | %s', '%s & %s', 'bloom_superset(%s, %s)',
				  'bloom_intersect_cardinality(%s, %s)']) AS operation,
	 (VALUES ($$bloom_empty(10)$$, $$bloom_empty(20)$$),
			 ($$bloom_empty_shaped(64, 1)$$, $$bloom_empty_shaped(64, 2)$$),
			 ($$bloom_empty_shaped(64, 1, 0)$$, $$bloom_empty_shaped(64, 1, 1)$$),
			 ($$bloom_add(bloom_empty(10), 1)$$, $$bloom_add(bloom_empty(10), 1.5)$$),
			 ($$bloom_add(bloom_empty_shaped(64, 1), 1)$$, $$bloom_add(bloom_empty_shaped(64, 1), 'a')$$)) AS filters (a, b),
	 format('SELECT ' || operation, a, b) AS call,
	 pg_temp.failure(call) AS f
ORDER BY call COLLATE "C";

-- different filters are different, but comparing them is no error
SELECT bloom_empty(10) = bloom_empty(20) AS other_bits,
	   bloom_empty_shaped(64, 1) = bloom_empty_shaped(64, 2) AS other_hashes,
	   bloom_empty_shaped(64, 1, 0) = bloom_empty_shaped(64, 1, 1) AS other_seed,
	   bloom_add(bloom_empty(10), 1) = bloom_add(bloom_empty(10), 1.5) AS other_key_type;

-- key types
SELECT call, f.*
FROM unnest(ARRAY[
		'SELECT bloom_add(bloom_add(bloom_empty(10), 1), 1.5)',
		'SELECT 1.5::float8 <@ bloom_add(bloom_empty(10), 1)',
		$$SELECT bloom_contains(bloom_add(bloom_empty(10), 1), 'a')$$,
		$$SELECT bloom_add(bloom_empty(10), 1) @> 'a'::text$$,
		$$SELECT bloom_contains_all(bloom_add(bloom_empty(10), 1), '{a}'::text[])$$,
		$$SELECT bloom_contains_any(bloom_add(bloom_empty(10), 1), '{a}'::text[])$$,
		$$SELECT bloom_add(bloom_add(bloom_empty(10), 1), 'a'::text)$$,
		$$SELECT bloom_add_all(bloom_add(bloom_empty(10), 1), '{a}'::text[])$$,
		$$SELECT bloom_agg(point(1, 1))$$,
		$$SELECT bloom_empty(10) @> point(1, 1)$$,
		$$SELECT bloom_add(bloom_empty(10), '1'::json)$$,
		$$SELECT bloom_add_all(bloom_empty(10), ARRAY[point(1, 1)])$$,
		$$SELECT bloom_add(bloom_empty(10), ARRAY[point(1, 1)])$$,
		'SELECT bloom_empty(10) @> bloom_empty(10)',
		'SELECT bloom_agg(bloom_empty(10))']) AS call,
	 pg_temp.failure(call) AS f;

-- no shape
SELECT call, f.*
FROM (SELECT bloom_agg(i)::text AS none FROM generate_series(1, 0) AS i) AS s,
	 unnest(ARRAY[
		$$SELECT bloom_add(%L::bloom, 1)$$,
		$$SELECT bloom_add_all(%L::bloom, '{1}'::int[])$$]) AS template,
	 replace(template, '%L', 'shapeless') AS call,
	 pg_temp.failure(format(template, none)) AS f;

-- nulls in every position of strict functions and operators
SELECT count(*) AS calls, count(*) FILTER (WHERE value IS NOT NULL) AS not_null
FROM (SELECT (NULL::bloom @> 1)::text AS value
	  UNION ALL SELECT (bloom_empty(10) @> NULL::int)::text
	  UNION ALL SELECT (NULL::int <@ bloom_empty(10))::text
	  UNION ALL SELECT (1 <@ NULL::bloom)::text
	  UNION ALL SELECT bloom_contains(NULL, 1)::text
	  UNION ALL SELECT bloom_contains(bloom_empty(10), NULL)::text
	  UNION ALL SELECT bloom_contains(bloom_empty(10), NULL::int)::text
	  UNION ALL SELECT bloom_contains_all(NULL, '{1}'::int[])::text
	  UNION ALL SELECT bloom_contains_all(bloom_empty(10), NULL::int[])::text
	  UNION ALL SELECT bloom_contains_any(NULL, '{1}'::int[])::text
	  UNION ALL SELECT bloom_contains_any(bloom_empty(10), NULL::int[])::text
	  UNION ALL SELECT bloom_superset(NULL, bloom_empty(10))::text
	  UNION ALL SELECT bloom_superset(bloom_empty(10), NULL)::text
	  UNION ALL SELECT (NULL::bloom | bloom_empty(10))::text
	  UNION ALL SELECT (bloom_empty(10) | NULL::bloom)::text
	  UNION ALL SELECT (NULL::bloom & bloom_empty(10))::text
	  UNION ALL SELECT (bloom_empty(10) & NULL::bloom)::text
	  UNION ALL SELECT (NULL::bloom = bloom_empty(10))::text
	  UNION ALL SELECT (bloom_empty(10) <> NULL::bloom)::text
	  UNION ALL SELECT bloom_fit(NULL, 0.01)::text
	  UNION ALL SELECT bloom_fit(bloom_empty(10), NULL)::text
	  UNION ALL SELECT bloom_empty(NULL)::text
	  UNION ALL SELECT bloom_empty(10, NULL)::text
	  UNION ALL SELECT bloom_empty(10, 0.01, NULL)::text
	  UNION ALL SELECT bloom_empty_shaped(NULL, 1)::text
	  UNION ALL SELECT bloom_empty_shaped(64, NULL)::text
	  UNION ALL SELECT bloom_empty_shaped(64, 1, NULL)::text
	  UNION ALL SELECT bloom_cardinality(NULL)::text
	  UNION ALL SELECT bloom_intersect_cardinality(NULL, bloom_empty(10))::text
	  UNION ALL SELECT bloom_intersect_cardinality(bloom_empty(10), NULL)::text
	  UNION ALL SELECT bloom_fp_prob_now(NULL)::text
	  UNION ALL SELECT bloom_info(NULL)::text
	  UNION ALL SELECT bloom_add(NULL, 1)::text
	  UNION ALL SELECT bloom_add(NULL, NULL)::text
	  UNION ALL SELECT bloom_add_all(NULL, '{1}'::int[])::text
	  UNION ALL SELECT NULL::bloom::bytea::text
	  UNION ALL SELECT NULL::bytea::bloom::text) AS calls;

-- a null key changes nothing
SELECT bloom_add(f, NULL::int) = f AS null_int, bloom_add(f, NULL) = f AS null_text,
	   bloom_add_all(f, NULL::int[]) = f AS null_array,
	   bloom_add_all(f, '{NULL}'::int[]) = f AS null_element
FROM bloom_add(bloom_empty(10), 1) AS f;

-- aggregates: what is not the key must not be null
SELECT call, f.*
FROM unnest(ARRAY[
		'SELECT bloom_agg(1, NULL::float8)',
		'SELECT bloom_agg(1, NULL, 0.01)',
		'SELECT bloom_agg(1, 10, NULL)',
		'SELECT bloom_agg(true, NULL::float8)',
		'SELECT bloom_agg(1, 1000000)']) AS call,
	 pg_temp.failure(call) AS f;

-- The whole of some messages.
SELECT bloom_empty(0);
SELECT bloom_empty(4611686018427387904);
SELECT bloom_agg(1, 1000000);
SELECT bloom_empty(10) | bloom_empty(20);
SELECT bloom_add(bloom_empty(10), 1) | bloom_add(bloom_empty(10), 1.5);
SELECT bloom_add(bloom_add(bloom_empty(10), 1), 1.5);
SELECT bloom_empty(10) @> bloom_empty(10);
SELECT bloom_empty(10) @> point(1, 1);

-- A hint names a cast only where it loses nothing, and the functions for arrays.
CREATE FUNCTION pg_temp.hint(statement text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END
$$;
CREATE TYPE pg_temp.mood AS ENUM ('a');
CREATE TYPE pg_temp."int8 mood" AS ENUM ('a');
CREATE TYPE pg_temp.bpchar AS ENUM ('a');
SELECT regexp_replace(call, 'SELECT (counting_)?bloom_add', '') AS call, f AS hint
FROM unnest(ARRAY[
		'SELECT bloom_add(bloom_empty(10), 1) @> 5.5::float8',
		'SELECT bloom_add(bloom_empty(10), 1) @> ''5''',
		'SELECT bloom_add(bloom_empty(10), ''1''::text) @> 5',
		'SELECT bloom_add(bloom_empty(10), ''1''::text) @> 5.0',
		'SELECT bloom_add(bloom_empty(10), date ''2000-01-01'') @> timestamp ''2000-01-01 12:00''',
		'SELECT bloom_add(bloom_empty(10), timestamp ''2000-01-01'') @> date ''2000-01-01''',
		'SELECT bloom_add(bloom_empty(10), 1) @> ARRAY[1, 2]',
		'SELECT bloom_add(bloom_add(bloom_empty(10), 1), ARRAY[1, 2])',
		'SELECT counting_bloom_add(counting_bloom_add(counting_bloom_empty(10), 1), ARRAY[1, 2])',
		'SELECT bloom_add(bloom_empty(10), ARRAY[1, 2]) @> ARRAY[''a'']',
		'SELECT bloom_add(bloom_empty(10), ROW(1, ''a'')) @> ROW(1, 2)',
		'SELECT bloom_add(bloom_empty(10, 0.01, 0, ''text''), ARRAY[1, 2])',
		'SELECT counting_bloom_add(counting_bloom_add(counting_bloom_empty(10), ''5''::text), 5)',
		'SELECT bloom_empty(0.01)',
		'SELECT bloom_empty(10) = ''k5''',
		'SELECT counting_bloom_empty(10) = ''k5''',
		'SELECT bloom_add(bloom_empty(10), ARRAY[ROW(1, true)]) @> ARRAY[ROW(1, true, now())]',
		'SELECT bloom_add(bloom_empty(10), ''a''::pg_temp.mood) @> ''a''::pg_temp."int8 mood"',
		'SELECT bloom_add(bloom_empty(10), ARRAY[''a''::pg_temp."int8 mood"]) @> ARRAY[''a''::pg_temp.mood]',
		'SELECT bloom_add(bloom_empty(10), ROW(''a''::pg_temp.bpchar, 1)) @> ROW(''a''::pg_temp.bpchar)',
		'SELECT bloom_empty(10) | bloom_empty(1000)',
		'SELECT counting_bloom_empty(10) + counting_bloom_empty(1000)',
		'SELECT bloom_empty(10) | bloom_empty(123456, 0.012345)',
		'SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1) FROM generate_series(1, 1000) AS i',
		'SELECT bloom_add(bloom_empty(1e6), 1) | bloom_agg(i) FROM generate_series(1, 1000) AS i',
		'SELECT counting_bloom_empty(1e6) + counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i',
		'SELECT bloom_agg(i) | bloom_agg(-i) FILTER (WHERE i < 1000) FROM generate_series(1, 1234) AS i',
		'SELECT bloom_agg(i) | bloom_add(bloom_empty(10), 1) FROM generate_series(1, 12345) AS i',
		'SELECT counting_bloom_agg(i, 1000, 0.01) + counting_bloom_agg(i, 1001, 0.0123456) FROM generate_series(1, 1000) AS i',
		'SELECT bloom_empty(10, 0.01, 1) | bloom_empty(20, 0.01)',
		'SELECT bloom_empty(1e15, 0.999999999) | bloom_empty(10)',
		'SELECT bloom_empty_shaped(4294967296, 1) | bloom_empty(10)',
		'SELECT bloom_empty_shaped(4294967296, 64) | bloom_empty(10)',
		'SELECT bloom_agg(1, 2)']) AS call,
	 pg_temp.hint(call) AS f;
