--
-- Stored sets: what a call says, and what its call site remembers
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

--
-- A seed: random, or as asked
--
SELECT bloom_set_create('one', 'int'), bloom_set_create('other', 'int'), bloom_set_create('seven', 'int', seed => 7);
SELECT (SELECT seed FROM bloom_set_info('one')) <> (SELECT seed FROM bloom_set_info('other')) AS they_differ,
	   (SELECT seed FROM bloom_set_info('seven')) AS seven;
DROP TABLE one, other, seven;

--
-- Unlogged
--
SELECT bloom_set_create('cache', 'text', unlogged => true);
SELECT relpersistence FROM pg_class WHERE oid = 'cache'::regclass;
SELECT bloom_set_add('cache', 'a') AS new, bloom_set_add('cache', 'a') AS seen;
DROP TABLE cache;

--
-- Capacity: ranges ahead, without a gap, their widths differ by less than their number
--
SELECT bloom_set_create('ahead', 'int', seed => 1, capacity => 150000), bloom_set_create('small', 'int', keep => '1 day', capacity => 1, unlogged => true);
CREATE FUNCTION ranges(rows regclass, OUT ranges bigint, OUT gaps bigint, OUT last_one boolean, OUT widths_differ_by bigint, OUT hashes bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('
		SELECT count(*), count(*) FILTER (WHERE last + 1 <> next), max(last) = 2::numeric ^ 64 - 1,
			   max(last - first) - min(last - first), sum(get_byte(hashes, 2) + 256 * get_byte(hashes, 3))
		FROM (SELECT *, start + 2::numeric ^ 63 AS first, lead(start + 2::numeric ^ 63) OVER (ORDER BY start) AS next,
					 (SELECT sum(get_byte(hashes, 4 + i) * 256::numeric ^ i) FROM generate_series(0, 7) AS i) AS last
			  FROM %s WHERE lane = 0) AS range', rows)
	INTO ranges, gaps, last_one, widths_differ_by, hashes;
END $$;
SELECT * FROM ranges('ahead');
SELECT * FROM ranges('small');
SELECT keys, rows FROM bloom_set_info('ahead');
SELECT count(*) FILTER (WHERE bloom_set_add('ahead', i)) AS added, count(*) FILTER (WHERE bloom_set_add('ahead', i)) AS again FROM generate_series(1, 2000) AS i;
SELECT cardinality(bloom_set_add_all('ahead', ARRAY(SELECT generate_series(1001, 5000)))) AS added_all, bloom_set_compact('ahead') AS compacted, bloom_set_load('ahead', 'SELECT generate_series(4001, 6000)') AS loaded;
SELECT ranges, gaps, last_one, widths_differ_by FROM ranges('ahead');
SELECT keys FROM bloom_set_info('ahead');
SELECT bloom_set_contains_all('ahead', ARRAY(SELECT generate_series(1, 6000))) AS has_all, bloom_set_contains_any('ahead', ARRAY(SELECT generate_series(6001, 9000))) AS has_others;
-- more than that, with keep
SELECT cardinality(bloom_set_add_all('small', ARRAY(SELECT generate_series(1, 50000)))) AS added_all;
SELECT bloom_set_compact('small') > 0 AS compacted;
SELECT ranges > 256 AS split, gaps, last_one, hashes FROM ranges('small');
SELECT bloom_set_contains_all('small', ARRAY(SELECT generate_series(1, 50000))) AS has_all;
-- one that is there stays as it is
SELECT bloom_set_create('ahead', 'int', capacity => 1000000, if_not_exists => true);
SELECT ranges FROM ranges('ahead');
TRUNCATE ahead;
SELECT bloom_set_add('ahead', 1) AS new;
SELECT keys, rows FROM bloom_set_info('ahead');
-- fail
SELECT bloom_set_create('none', 'int', capacity => 0);
SELECT bloom_set_create('none', 'int', capacity => 0.5);
SELECT bloom_set_create('none', 'int', capacity => 1e10 + 1);
SELECT bloom_set_create('none', 'int', capacity => 'NaN');
SELECT 'none'::regclass;
DROP TABLE ahead, small;
DROP FUNCTION ranges;

--
-- Made twice: an error, or left as it is
--
SELECT bloom_set_create('cache', 'text', seed => 1);
SELECT bloom_set_add('cache', 'a') AS new;
-- fail
SELECT bloom_set_create('cache', 'text');
SELECT bloom_set_create('cache', 'text', if_not_exists => true);
SELECT keys FROM bloom_set_info('cache');
DROP TABLE cache;
CREATE TABLE cache (i int);
-- fail
SELECT bloom_set_create('cache', 'text', if_not_exists => true);
SELECT bloom_set_create('cache', 'text', if_not_exists => NULL);
DROP TABLE cache;

--
-- any, missing
--
SELECT bloom_set_create('texts', 'text', seed => 1);
SELECT bloom_set_contains_any('texts', ARRAY['a', 'b']) AS none_in_an_empty_set, bloom_set_missing('texts', ARRAY['a', 'b', NULL, 'a']);
SELECT bloom_set_add_all('texts', ARRAY['a', 'b']);
SELECT bloom_set_contains_any('texts', ARRAY['x', 'b']) AS one_is, bloom_set_contains_any('texts', ARRAY['x', 'y']) AS none_is,
	   bloom_set_contains_any('texts', ARRAY['x', NULL]) AS null_unless_decided, bloom_set_contains_any('texts', ARRAY['a', NULL]) AS decided,
	   bloom_set_contains_any('texts', '{}'::text[]) AS none;
SELECT bloom_set_missing('texts', ARRAY['x', 'a', NULL, 'y', 'x']), bloom_set_missing('texts', '{}'::text[]), bloom_set_missing('texts', NULL::text[]);
-- fail
SELECT bloom_set_missing('texts', ARRAY[1]);
SELECT bloom_set_contains_any(NULL, ARRAY['a']);

-- the key type is checked for each key, also where a range is empty, and was
-- read before
CREATE TYPE pair AS (number int, word text);
SELECT bloom_set_create('records', 'pair', seed => 1);
SELECT bloom_set_add('records', ROW(1, 'a'::text));
-- fail, all of these
SELECT bloom_set_contains('records', r)
FROM (SELECT ROW(i, 'b'::text) FROM generate_series(1, 40) AS i UNION ALL SELECT ROW(1, 5)) AS v (r);
SELECT bloom_set_contains_any('records', ARRAY(SELECT ROW(i, 'b'::text) FROM generate_series(1, 40) AS i)), bloom_set_contains('records', ROW(1, 5));
SELECT bloom_set_contains('records', ROW(1, 'b'::text)), bloom_set_missing('records', ARRAY(SELECT ROW(i, 5) FROM generate_series(1, 40) AS i));
DROP TABLE records;
DROP TYPE pair;

-- what call sites remember ends with what they see: the same expression, again
-- and again in one function, while the set changes
CREATE FUNCTION see(text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	seen boolean := bloom_set_contains('texts', $1);
BEGIN
	ASSERT bloom_set_contains_all('texts', ARRAY[$1, $1]) = seen;
	ASSERT bloom_set_contains_any('texts', ARRAY[$1]) = seen;
	ASSERT (bloom_set_missing('texts', ARRAY[$1]) = '{}') = seen;
	RETURN seen;
END
$$;
CREATE FUNCTION see(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_set_contains('texts', $1); END $$;
DO $$
BEGIN
	ASSERT see('a') AND see('b') AND NOT see('c');
	PERFORM bloom_set_add('texts', 'c');
	ASSERT see('c') AND see('a');
	BEGIN
		PERFORM bloom_set_add('texts', 'd');
		ASSERT see('d') AND see('c');
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		ASSERT NOT see('d') AND see('c');
	END;
	ASSERT NOT see('d') AND see('c');
	TRUNCATE texts;
	ASSERT NOT see('c') AND NOT see('a');
	PERFORM bloom_set_add('texts', 'e');
	ASSERT see('e') AND NOT see('a');
	BEGIN
		CREATE ROLE regress_bloom_stranger;
		ASSERT see('e');
		SET LOCAL ROLE regress_bloom_stranger;
		ASSERT see('e') IS NULL, 'no privileges are needed';
	EXCEPTION WHEN insufficient_privilege THEN
		ASSERT SQLERRM = 'permission denied for table texts', SQLERRM;
	END;
END
$$;
-- what was being read when there was an error, is read again
SELECT cardinality(bloom_set_add_all('texts', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i))) AS new;
SELECT cardinality(bloom_set_add_all('texts', ARRAY(SELECT 't' || i FROM generate_series(1001, 2000) AS i))) AS new;
SELECT bloom_set_compact('texts') AS moved;
DO $$
BEGIN
	BEGIN
		ASSERT see(1) IS NULL, 'of another type';
	EXCEPTION WHEN datatype_mismatch THEN
	END;
	ASSERT (SELECT bool_and(see('t' || i)) FROM generate_series(1, 2000) AS i);
END
$$;

-- what a statement adds, it does not see, and the next one does
SELECT bloom_set_contains('texts', 'f') AS before, bloom_set_add('texts', 'f') AS add, bloom_set_contains('texts', 'f') AS after,
	   bloom_set_contains_all('texts', ARRAY['e', 'f']) AS all_after;
SELECT see('f') AND see('e') AS there;
DROP FUNCTION see(text), see(int);

-- fail: a hash function that itself tests, and sees something else
SET client_min_messages = warning;
CREATE TYPE regress_num;
CREATE FUNCTION num_in(cstring) RETURNS regress_num LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION num_out(regress_num) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE regress_num (INPUT = num_in, OUTPUT = num_out, LIKE = int);
CREATE FUNCTION num_eq(regress_num, regress_num) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION num_hash(regress_num) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE FUNCTION num_hash(regress_num, bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	seen boolean;
BEGIN
	CREATE TEMP TABLE hashed ();
	DROP TABLE hashed;
	seen := bloom_set_contains('texts', 'e');
	RETURN 1;
END
$$;
CREATE OPERATOR === (LEFTARG = regress_num, RIGHTARG = regress_num, FUNCTION = num_eq, HASHES);
CREATE OPERATOR CLASS num_ops DEFAULT FOR TYPE regress_num USING hash AS OPERATOR 1 ===, FUNCTION 1 num_hash(regress_num), FUNCTION 2 num_hash(regress_num, bigint);
CREATE FUNCTION see(regress_num) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_set_contains('nums', $1); END $$;
SELECT bloom_set_create('nums', 'regress_num', seed => 1);
SELECT bloom_set_add('nums', '1'::regress_num) AS new, bloom_set_contains('nums', '1'::regress_num) AS not_yet;
SELECT see('1'::regress_num);
DROP TABLE nums;
DROP TYPE regress_num CASCADE;
RESET client_min_messages;

-- the live slices are those of each row's time
SELECT bloom_set_create('daily', 'int', keep => '1 day', seed => 1);
SELECT bloom_set_add('daily', 1, '2020-01-01 00:00Z') AS new;
SELECT h AS hours, bloom_set_contains('daily', 1, '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS one,
	   bloom_set_contains_all('daily', ARRAY[1], '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS array
FROM unnest(ARRAY[0, 30, 24, 71, 29, 0]) AS h;
DROP TABLE daily;

DROP TABLE texts;
