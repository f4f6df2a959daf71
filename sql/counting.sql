--
-- counting_bloom: keys that can be removed
--

-- The numbers from a to b, each so many times, in a filter.
CREATE FUNCTION pg_temp.holding(a int, b int, times int DEFAULT 1, capacity int DEFAULT 1000)
RETURNS counting_bloom LANGUAGE sql AS
$$
	SELECT counting_bloom_add_all(counting_bloom_empty(capacity), array_agg(i))
	FROM generate_series(a, b) AS i, generate_series(1, times)
$$;
CREATE TEMPORARY TABLE counting (name text, f counting_bloom);
INSERT INTO counting VALUES
	('empty', counting_bloom_empty(1000)),
	('keys', pg_temp.holding(1, 10)),
	('nine keys', pg_temp.holding(1, 9)),
	('fifteen', pg_temp.holding(1, 20, 15)),
	('counters', pg_temp.holding(1, 1000)),
	('seed', counting_bloom_add(counting_bloom_empty(10, 0.5, -42), 'a'::text)),
	('one word', counting_bloom_add_all(counting_bloom_empty(6), '{1,2,3}'::int[]));

-- Adding, testing, removing, in both forms.
SELECT name, (counting_bloom_info(f)).* FROM counting;
SELECT capacity, form, bool_and(f @> i) AS all_present, bool_and(i <@ f) AS all_commuted,
	   bool_or(g @> i) FILTER (WHERE i > 60) AS some_removed_present, bool_and(g @> i) FILTER (WHERE i <= 60) AS all_others,
	   bool_and(g @> i = (g::bloom @> i)) AS cast_agrees
FROM (VALUES (100), (1000)) AS c (capacity),
	 LATERAL (SELECT pg_temp.holding(1, 100, 1, capacity) AS f) AS a,
	 LATERAL (SELECT counting_bloom_remove_all(f, array_agg(i)) AS g FROM generate_series(61, 100) AS i) AS b,
	 LATERAL (SELECT (counting_bloom_info(g)).representation AS form) AS r,
	 generate_series(1, 100) AS i
GROUP BY capacity, form ORDER BY capacity;

-- What is not there, or null, changes nothing.
SELECT name, counting_bloom_remove(f, 123456) = f AS absent, counting_bloom_remove(f, NULL::int) = f AS null_key,
	   counting_bloom_add(f, NULL::int) = f AS null_added, counting_bloom_add_all(f, NULL::int[]) = f AS null_array,
	   counting_bloom_remove_all(f, '{NULL}'::int[]) = f AS null_element, counting_bloom_add_all(f, '{}'::int[]) = f AS empty_array
FROM counting WHERE name <> 'seed';
SELECT counting_bloom_add(NULL, 1) IS NULL AS add, counting_bloom_remove(NULL, 1) IS NULL AS remove,
	   counting_bloom_count(f, NULL::int) IS NULL AS count, f @> NULL::int IS NULL AS contains,
	   f + NULL IS NULL AS sum
FROM counting WHERE name = 'keys';

-- A filter whose last key went is as if it had never had any, but for its type.
SELECT counting_bloom_remove(counting_bloom_add(counting_bloom_empty(1000), 5), 5) = e AS keys_undone,
	   counting_bloom_remove_all(pg_temp.holding(1, 1000), (SELECT array_agg(i) FROM generate_series(1, 1000) AS i)) = e AS counters_undone,
	   e::text::counting_bloom = e AS by_text
FROM counting_bloom_empty(1000, key_type => 'bigint') AS e;
SELECT counting_bloom_empty(NULL) IS NULL AS null_capacity, counting_bloom_empty(10, key_type => NULL) = counting_bloom_empty(10) AS null_type;
-- fail: another type
SELECT counting_bloom_add(counting_bloom_empty(10, key_type => 'int'), 'a'::text);
SELECT counting_bloom_empty(10, key_type => 'record');

-- How often: exact in keys form, and at least that in counters form.
SELECT capacity, min(counting_bloom_count(f, i) - i) AS least, max(counting_bloom_count(f, i) - i) AS most,
	   counting_bloom_count(f, 0) AS absent
FROM (VALUES (4), (1000)) AS c (capacity),
	 LATERAL (SELECT counting_bloom_add_all(counting_bloom_empty(capacity), array_agg(i)) AS f
			  FROM generate_series(1, 12) AS i, generate_series(1, i)) AS a,
	 generate_series(1, 12) AS i
GROUP BY capacity, f ORDER BY capacity;
-- a key of one array is removed as often as it is there, and then absent
SELECT counting_bloom_count(counting_bloom_remove_all(f, '{12,12,12,7,7,7,7,7,7,7,7,7,7}'::int[]), 12) AS nine,
	   counting_bloom_count(counting_bloom_remove_all(f, '{12,12,12,7,7,7,7,7,7,7,7,7,7}'::int[]), 7) AS none
FROM (SELECT counting_bloom_add_all(counting_bloom_empty(1000), array_agg(i)) AS f
	  FROM generate_series(1, 12) AS i, generate_series(1, i)) AS a;

-- Counts end at 15 in both forms, and then stay.
SELECT capacity, form, counting_bloom_count(f, 1) AS count, (counting_bloom_info(f)).counters_full > 0 AS full,
	   counting_bloom_count(counting_bloom_remove_all(f, array_fill(1, '{100}')), 1) AS after_removals,
	   counting_bloom_remove_all(f, array_fill(1, '{100}')) @> 1 AS still_there
FROM (VALUES (10), (1000)) AS c (capacity), (VALUES (14), (15), (16), (100)) AS t (times),
	 LATERAL (SELECT pg_temp.holding(1, 2, times, capacity) AS f) AS a,
	 LATERAL (SELECT (counting_bloom_info(f)).representation AS form) AS r
ORDER BY capacity, times;

-- Sums: the order does not count, nor how the keys were divided.
SELECT (pg_temp.holding(1, b) + pg_temp.holding(b + 1, c))::text = pg_temp.holding(1, c)::text AS as_one,
	   pg_temp.holding(1, b) + pg_temp.holding(b + 1, c) = pg_temp.holding(b + 1, c) + pg_temp.holding(1, b) AS commutes,
	   counting_bloom_remove_all(pg_temp.holding(1, b) + pg_temp.holding(b + 1, c), ARRAY(SELECT generate_series(1, b)))::bloom = pg_temp.holding(b + 1, c)::bloom AS undone,
	   (counting_bloom_info(pg_temp.holding(1, b))).representation || ' + ' ||
	   (counting_bloom_info(pg_temp.holding(b + 1, c))).representation AS forms
FROM (VALUES (0, 10), (10, 20), (100, 200), (50, 1000), (900, 1000), (500, 1000)) AS v (b, c);
SELECT counting_bloom_count(pg_temp.holding(1, 1, 7, capacity) + pg_temp.holding(1, 1, 7, capacity), 1) AS fourteen,
	   counting_bloom_count(pg_temp.holding(1, 1, 7, capacity) + pg_temp.holding(1, 1, 9, capacity), 1) AS at_most_fifteen
FROM (VALUES (1), (1000)) AS c (capacity);

-- Equality is of the bytes: one set of keys has one form, so that what adds and
-- sums make is equal.  But removals leave counters form, so that a filter
-- differs from the one that never held what went.
SELECT a.name, b.name FROM counting AS a JOIN counting AS b ON a.f = b.f WHERE a.name < b.name;
SELECT (counting_bloom_info(grown)).representation AS one, (counting_bloom_info(small)).representation AS other,
	   grown = small AS equal, grown <> small AS unequal,
	   grown = small + pg_temp.holding(1, 1) AS more, grown::bloom = small::bloom AS casts,
	   (SELECT bool_and(grown @> i AND small @> i) FROM generate_series(1, n) AS i) AS no_false_negatives
FROM (VALUES (10), (150)) AS v (n),
	 LATERAL (SELECT counting_bloom_remove_all(pg_temp.holding(1, 1000), ARRAY(SELECT generate_series(n + 1, 1000))) AS grown, pg_temp.holding(1, n) AS small) AS f;
SELECT count(*) FROM (SELECT DISTINCT f FROM (SELECT f FROM counting UNION ALL SELECT f FROM counting) AS twice) AS once;

SELECT bool_and(f = g) AS equal, bool_and(NOT f <> g) AS not_unequal, bool_and(_counting_bloom_hash(f) = _counting_bloom_hash(g)) AS hash,
	   bool_and(_counting_bloom_hash_extended(f, 7) = _counting_bloom_hash_extended(g, 7)) AS extended,
	   array_agg(DISTINCT (counting_bloom_info(f)).representation) AS forms
FROM (VALUES (1), (155), (156), (157), (158), (500)) AS v (n),
	 LATERAL (SELECT pg_temp.holding(1, n, 3) AS f) AS a,
	 LATERAL (SELECT pg_temp.holding(1, n) + pg_temp.holding(1, n / 2, 2) + pg_temp.holding(n / 2 + 1, n, 2) AS g) AS b;

-- How many keys; a line about it, of the plain filter.
SELECT name, counting_bloom_cardinality(f) AS keys, bloom_summary(f::bloom) AS summary
FROM counting WHERE name <> 'seed';

-- The cast: what bloom_agg makes of the keys, to the byte.
SELECT n, (pg_temp.holding(1, n)::bloom)::text = (SELECT bloom_agg(i, 1000, 0.01)::text FROM generate_series(1, n) AS i) AS same
FROM (VALUES (1), (10), (156), (157), (158), (1000)) AS v (n);
SELECT counting_bloom_remove_all(pg_temp.holding(1, 1000, 3), ARRAY(SELECT n FROM generate_series(501, 1000) AS n, generate_series(1, 3)))::bloom = bloom_agg(i, 1000, 0.01) AS survivors FROM generate_series(1, 500) AS i;
SELECT counting_bloom_empty(1000)::bloom::text = bloom_empty(1000)::text AS empty;

-- Text, binary, bytea.
SELECT name, f::text::counting_bloom::text = f::text AS by_text, f::bytea::counting_bloom::text = f::text AS by_bytea,
	   length(f::bytea) AS bytes FROM counting;
\copy counting TO 'results/counting.copy' (FORMAT binary)
CREATE TEMPORARY TABLE copied (LIKE counting);
\copy copied FROM 'results/counting.copy' (FORMAT binary)
\! rm results/counting.copy
SELECT name, c.f::text = o.f::text AS same FROM copied AS c JOIN counting AS o USING (name) ORDER BY name COLLATE "C";

-- The wrong bytes are an error, with SQLSTATE 22P03: what each check says.
CREATE FUNCTION pg_temp.refusal(bytea) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	detail text;
BEGIN
	RETURN 'accepted: ' || ($1::counting_bloom)::text;
EXCEPTION WHEN invalid_binary_representation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END
$$;
WITH k AS (SELECT f::bytea AS b FROM counting WHERE name = 'nine keys'),
	 c AS (SELECT f::bytea AS b FROM counting WHERE name = 'counters')
SELECT change, pg_temp.refusal(bytes)
FROM k, c, LATERAL (VALUES
	('nothing', k.b),
	('representation', set_byte(k.b, 1, 16)),
	('representation of bloom', set_byte(k.b, 1, 1)),
	('cut off', substr(k.b, 1, length(k.b) - 1)),
	('trailing byte', k.b || '\x00'),
	('one key less', set_byte(k.b, 36, get_byte(k.b, 36) - 1)),
	('a count of 0', set_byte(k.b, length(k.b) - 8, 16)),
	('a count too many', set_byte(k.b, length(k.b) - 1, 1)),
	('the tenth of nine', set_byte(k.b, length(k.b) - 4, 17)),
	('keys not ascending', set_byte(k.b, 51, 255)),
	('a number of a name', set_byte(k.b, 7, 128)),
	('too many counters', set_byte(c.b, 11, 2)),
	('counters in use', set_byte(c.b, 36, get_byte(c.b, 36) # 1)),
	('a counter of its own', set_byte(c.b, length(c.b) - 1, get_byte(c.b, length(c.b) - 1) # 240))) AS v (change, bytes);
-- a bloom is no counting_bloom, nor the other way round
SELECT pg_temp.refusal(bloom_empty(10)::bytea);
SELECT counting_bloom_empty(10)::text::bloom;
SELECT bloom_empty(10)::text::counting_bloom;
SELECT 'x'::counting_bloom;

-- The wrong parameters, types and shapes are errors.
SELECT counting_bloom_empty(0);
SELECT counting_bloom_empty(1000, 2);
SELECT counting_bloom_empty(0.01, 1000);
SELECT counting_bloom_empty(107374183);
SELECT (counting_bloom_info(counting_bloom_empty(107374182))).counters;
SELECT f @> 'a'::text FROM counting WHERE name = 'keys';
SELECT counting_bloom_add(f, 'a'::text) FROM counting WHERE name = 'keys';
SELECT counting_bloom_remove(f, 'a'::text) FROM counting WHERE name = 'keys';
SELECT counting_bloom_count(f, 'a'::text) FROM counting WHERE name = 'keys';
SELECT counting_bloom_add_all(counting_bloom_empty(1000), ARRAY[(1, 'a'), ROW(2)]);
SELECT counting_bloom_add(f, point(1, 1)) FROM counting WHERE name = 'keys';
SELECT counting_bloom_empty(1000) + counting_bloom_empty(2000);
SELECT counting_bloom_empty(1000) + counting_bloom_empty(1000, 0.01, 5);
SELECT counting_bloom_add(counting_bloom_empty(10), 1) + counting_bloom_add(counting_bloom_empty(10), 'a'::text);

-- Stored: short, in line, out of line as a whole, by slices, compressed.
CREATE TEMPORARY TABLE stored (name text, f counting_bloom);
INSERT INTO stored SELECT 'short', pg_temp.holding(1, 3);
INSERT INTO stored SELECT 'in line', pg_temp.holding(1, 100);
INSERT INTO stored SELECT 'whole', pg_temp.holding(1, 1000, 1, 1000);
INSERT INTO stored SELECT 'slices of keys', pg_temp.holding(1, 10000, 1, 100000);
INSERT INTO stored SELECT 'slices', pg_temp.holding(1, 100000, 1, 100000);
CREATE TEMPORARY TABLE compressed (LIKE stored);
ALTER TABLE compressed ALTER f SET STORAGE extended;
INSERT INTO compressed SELECT 'compressed', pg_temp.holding(1, 200, 1, 10000);
SELECT name, count(*) FILTER (WHERE f @> i) AS present, f @> 1 AND f @> 3 AS once, counting_bloom_count(f, 2) AS count
FROM (SELECT * FROM stored UNION ALL SELECT * FROM compressed) AS s, generate_series(1, 3) AS i
GROUP BY name, f ORDER BY name COLLATE "C";

-- The planner expects as many rows as with the cast.
CREATE TEMPORARY TABLE planned AS SELECT i % 1000 AS i, (i % 1000)::text AS t FROM generate_series(1, 10000) AS i;
ANALYZE planned;
CREATE FUNCTION pg_temp.expected(condition text) RETURNS float8 LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM planned WHERE ' || condition INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;
SELECT b, pg_temp.expected(format('%L::counting_bloom @> i', f)) = pg_temp.expected(format('%L::bloom @> i', f::bloom)) AS operator,
	   pg_temp.expected(format('i <@ %L::counting_bloom', f)) = pg_temp.expected(format('i <@ %L::bloom', f::bloom)) AS commutator,
	   pg_temp.expected(format('counting_bloom_contains(%L, i)', f)) = pg_temp.expected(format('bloom_contains(%L, i)', f::bloom)) AS function,
	   pg_temp.expected(format('%L::counting_bloom @> i', f)) BETWEEN 9 * b AND 12 * b + 110 AS near
FROM (VALUES (1), (100), (500), (1000)) AS v (b), LATERAL (SELECT pg_temp.holding(0, b - 1) AS f) AS s;
-- fail: a filter is no key
SELECT f @> f FROM counting;
SELECT counting_bloom_add(f, f::bloom) FROM counting;
SELECT bloom_agg(f) FROM counting;
