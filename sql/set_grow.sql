--
-- Stored sets that grow, unlogged sets, and dedup by trigger
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

--
-- Growth: from 1,000 to 300,000 keys at 1 %, in arrays and one by one.  Of the
-- 300,000, at most one percent is lost while it grows, and of 200,000 absent
-- keys at most 2,000 are imagined; 4.5 standard deviations more are 2,200.
--
SELECT bloom_set_create('growing', 'bigint', 1000, 0.01, seed => 1);
SELECT sum(cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(n * 10000 + 1, n * 10000 + 9900))))) BETWEEN 29 * 9900 * 0.99 AND 29 * 9900 AS nearly_all_new
FROM generate_series(0, 28) AS n;
SELECT count(*) FILTER (WHERE bloom_set_add('growing', n * 10000 - i)) BETWEEN 2900 * 0.98 AND 2900 AS nearly_all_new
FROM generate_series(1, 29) AS n, generate_series(0, 99) AS i;
SELECT bloom_set_contains_all('growing', ARRAY(SELECT generate_series(1, 290000))) AS none_denied;
SELECT bloom_set_missing('growing', ARRAY(SELECT generate_series(1, 290000))) AS none_missing;
SELECT count(*) FILTER (WHERE bloom_set_contains('growing', -i)) BETWEEN 200 AND 2200 AS few_imagined
FROM generate_series(1, 200000) AS i;
SELECT capacity, keys BETWEEN 285000 AND 292000 AS keys, fp_prob_now BETWEEN 0.003 AND 0.01 AS rate_as_asked, buckets, generations
FROM bloom_set_info('growing');

-- each generation has twice the buckets of the last, and no bucket is more than
-- half full, or has more than its part of the rate: 1/2, 1/6, 1/12, ...
CREATE TEMP VIEW bucket AS
SELECT generation, (bloom_info(filter)).*
FROM (SELECT *, floor(log(2, bucket / 2.0 + 1))::int AS generation FROM growing WHERE lane = 0) AS s;
SELECT generation, count(*) AS buckets, min(hashes) AS hashes, max(hashes) = min(hashes) AS alike,
	   max(fill) <= 0.5 AS half_full,
	   max(fp_prob_now) <= 0.01 / ((generation + 1) * (generation + 2)) AS part_of_the_rate
FROM bucket WHERE generation < 8 GROUP BY generation ORDER BY generation;

-- a test sees a key wherever it is, also among many, and one at a time
SELECT bloom_set_contains('growing', 1) AS an_early_one, bloom_set_contains('growing', 289000) AS a_late_one;
SELECT count(*) FILTER (WHERE NOT bloom_set_contains('growing', i)) AS denied FROM generate_series(1, 290000, 7) AS i;

-- a rollback shrinks it again
BEGIN;
SELECT cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(1000001, 1100000)))) > 98500 AS most_new;
ROLLBACK;
SELECT keys < 292000 AS as_before FROM bloom_set_info('growing');
SELECT count(*) FILTER (WHERE bloom_set_contains('growing', i)) <= 1100 AS few_imagined FROM generate_series(1000001, 1100000) AS i;
DROP TABLE growing CASCADE;

-- an array with repeats in which a bucket fills: each key is new once
SELECT bloom_set_create('repeats', 'int', 1000, 0.01, seed => 1);
SELECT count(*) = count(DISTINCT k) AS each_once, count(*) > 4950 AS nearly_all
FROM unnest(bloom_set_add_all('repeats', ARRAY(SELECT i % 5000 FROM generate_series(1, 10000) AS i))) AS k;
SELECT bloom_set_compact('repeats') > 2500 AS most_moved;
SELECT count(*) = count(DISTINCT k) AS each_once, count(*) > 4950 AS nearly_all
FROM unnest(bloom_set_add_all('repeats', ARRAY(SELECT 5000 + i % 5000 FROM generate_series(1, 10000) AS i))) AS k;
SELECT bloom_set_contains_all('repeats', ARRAY(SELECT generate_series(0, 9999))) AS none_denied;
DROP TABLE repeats;

-- many keys of one transaction in a bucket that cannot grow
SELECT bloom_set_create('one', 'int', 500, 1e-9, grow => false, seed => 1);
SET client_min_messages = error;
SELECT cardinality(bloom_set_add_all('one', ARRAY(SELECT generate_series(1, 20000)))) AS new;
SELECT bloom_set_contains_all('one', ARRAY(SELECT generate_series(1, 20000))) AS none_denied;
SELECT cardinality(bloom_set_add_all('one', ARRAY(SELECT generate_series(10001, 30000)))) AS new;
RESET client_min_messages;
DROP TABLE one;

-- the limits of what grows: parameters at which a bucket cannot grow any more
SELECT bloom_set_create('tiny', 'int', 10, 3e-13, seed => 1);
SELECT buckets, fp_prob FROM bloom_set_info('tiny');
SELECT cardinality(bloom_set_add_all('tiny', ARRAY(SELECT generate_series(1, 20000)))) AS new;
SELECT fp_prob_now <= fp_prob AS rate_as_asked, generations > 6 AS has_grown FROM bloom_set_info('tiny');
DROP TABLE tiny;
-- the last generation takes all, with a WARNING; there are few when a bucket has
-- 64 hashes from the beginning
SELECT bloom_set_create('capped', 'int', 1000, 0.01, seed => 1);
SELECT bloom_empty(1, key_type => 'int') AS of_int \gset
ALTER TABLE capped ALTER room SET DEFAULT
	_bloom_set_room('1000'::bigint, '0.01'::float8, '0'::bigint, 8, 1, '8512'::bigint, 64, '1'::bigint, true, :'of_int'::bloom);
SELECT cardinality(bloom_set_add_all('capped', ARRAY(SELECT generate_series(1, 60)))) AS new;
SELECT cardinality(bloom_set_add_all('capped', ARRAY(SELECT generate_series(61, 200)))) AS new;
SELECT bloom_set_contains_all('capped', ARRAY(SELECT generate_series(1, 200))) AS none_denied;
DROP TABLE capped;

-- All generations that there can be: whatever holds the key is emptied and closed,
-- so that it goes to the next one.  With a small stack that is an answer or an
-- error, and no crash.
SELECT bloom_set_create('deep', 'int', capacity => 10, fp_prob => 0.01, seed => 1);
DO $$
DECLARE
	bucket_before int;
	bucket_now int := -1;
BEGIN
	LOOP
		PERFORM bloom_set_add('deep', 1);
		bucket_before := bucket_now;
		SELECT max(bucket) INTO bucket_now FROM deep;
		EXIT WHEN bucket_now = bucket_before;
		UPDATE deep SET room = '\x00000000000000c0' WHERE bucket = bucket_now;
	END LOOP;
END
$$;
SELECT generations FROM bloom_set_info('deep');
SELECT bloom_set_contains('deep', 1) AS there, bloom_set_add('deep', 1) AS new;
SET max_stack_depth = '100kB';
DO $$
BEGIN
	ASSERT NOT bloom_set_add('deep', 1), 'it is there';
	ASSERT bloom_set_add_all('deep', ARRAY[1, 1]) = '{}', 'it is there';
EXCEPTION WHEN statement_too_complex THEN
END
$$;
SELECT bloom_set_contains('deep', 1) AS there;
RESET max_stack_depth;
DROP TABLE deep;

--
-- A set that forgets and grows: each slice by itself
--
SELECT bloom_set_create('recent', 'int', 1000, 0.01, keep => '4 days', slices => 4, seed => 1);
CREATE PROCEDURE add_a_day(day int, keys int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM bloom_set_add_all('recent', ARRAY(SELECT day * 100000 + i FROM generate_series(1, keys) AS i), '2020-01-01'::timestamptz + day * interval '1 day');
END
$$;
CALL add_a_day(0, 20000);
CALL add_a_day(1, 20000);
CALL add_a_day(2, 20000);
CALL add_a_day(3, 200);
CALL add_a_day(4, 200);
SELECT keys, fp_prob_now <= fp_prob AS rate_as_asked, generations FROM bloom_set_info('recent', '2020-01-05');
SELECT slice, keys, fp_prob_now <= fp_prob AS rate_as_asked, generations FROM bloom_set_slices('recent', '2020-01-05');
-- none is denied that is live, whichever day
SELECT bool_and(bloom_set_contains_all('recent', ARRAY(SELECT day * 100000 + i FROM generate_series(1, CASE WHEN day < 3 THEN 20000 ELSE 200 END) AS i), '2020-01-05')) AS none_denied
FROM generate_series(1, 4) AS day;
SELECT count(*) FILTER (WHERE bloom_set_contains('recent', -i, '2020-01-05')) <= 1100 AS few_imagined FROM generate_series(1, 100000) AS i;
SELECT bool_and(bloom_set_contains('recent', 200000 + i, '2020-01-05')) AS none_denied_one_by_one FROM generate_series(1, 20000, 10) AS i;
DROP PROCEDURE add_a_day;
DROP TABLE recent;

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
-- Made twice: an error, or left as it is
--
SELECT bloom_set_create('cache', 'text', 1000, seed => 1);
SELECT bloom_set_add('cache', 'a') AS new;
-- fail
SELECT bloom_set_create('cache', 'text');
SELECT bloom_set_create('cache', 'text', 2000, if_not_exists => true);
SELECT capacity, keys FROM bloom_set_info('cache');
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

-- the key type is checked for each key, also where a bucket is empty, and was
-- read before
CREATE TYPE pair AS (number int, word text);
SELECT bloom_set_create('records', 'pair', 1000, seed => 1);
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
SELECT bloom_set_create('nums', 'regress_num', 1000, seed => 1);
SELECT bloom_set_add('nums', '1'::regress_num) AS new, bloom_set_contains('nums', '1'::regress_num) AS not_yet;
SELECT see('1'::regress_num);
DROP TABLE nums;
DROP TYPE regress_num CASCADE;
RESET client_min_messages;

-- the live slices are those of each row's time
SELECT bloom_set_create('daily', 'int', 1000, 1e-9, keep => '1 day', slices => 4, seed => 1);
SELECT bloom_set_add('daily', 1, '2020-01-01 00:00Z') AS new;
SELECT h AS hours, bloom_set_contains('daily', 1, '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS one,
	   bloom_set_contains_all('daily', ARRAY[1], '2020-01-01 00:00Z'::timestamptz + h * interval '1 hour') AS array
FROM unnest(ARRAY[0, 30, 24, 71, 29, 0]) AS h;
DROP TABLE daily;

--
-- Dedup where rows arrive
--
CREATE SCHEMA shop;
SELECT bloom_set_create('shop.seen', 'text', 1000, 1e-9, seed => 1);
CREATE TABLE shop.event (id text, sent timestamptz, body text);
CREATE TRIGGER dedup BEFORE INSERT ON shop.event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
-- the set of that name in the search path is another
SELECT bloom_set_create('seen', 'text', seed => 1);
INSERT INTO shop.event VALUES ('a', NULL, '1'), ('b', NULL, '2'), ('a', NULL, '3'), (NULL, NULL, '4'), (NULL, NULL, '5') RETURNING id, body;
INSERT INTO shop.event SELECT chr(97 + i % 4), NULL, i + 5 FROM generate_series(1, 20) AS i RETURNING id, body;
COPY shop.event (id, body) FROM stdin;
d	26
e	27
e	28
\.
BEGIN;
INSERT INTO shop.event VALUES ('f', NULL, '29') RETURNING id;
ROLLBACK;
INSERT INTO shop.event VALUES ('f', NULL, '30') RETURNING id;
SELECT id, body FROM shop.event ORDER BY body::int;
SELECT (SELECT keys FROM bloom_set_info('shop.seen')) AS keys, (SELECT keys FROM bloom_set_info('public.seen')) AS keys_of_the_other;

-- a clock in the rows
SELECT bloom_set_create('shop.daily', 'int', 1000, 1e-9, keep => '1 day', slices => 4, seed => 1);
CREATE TABLE shop.message (id int, sent timestamptz);
CREATE TRIGGER dedup BEFORE INSERT ON shop.message FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('shop.daily', 'id', 'sent');
INSERT INTO shop.message VALUES (1, '2020-01-01 00:00'), (1, '2020-01-01 12:00'), (1, '2020-01-02 00:00'), (1, '2020-01-02 06:00') RETURNING *;
-- fail
INSERT INTO shop.message VALUES (2, NULL);
INSERT INTO shop.message VALUES (2, 'infinity');

-- who inserts needs the privileges to add
CREATE ROLE regress_bloom_clerk;
GRANT USAGE ON SCHEMA shop TO regress_bloom_clerk;
GRANT INSERT ON shop.event TO regress_bloom_clerk;
SET ROLE regress_bloom_clerk;
-- fail
INSERT INTO shop.event VALUES ('g', NULL, '31');
RESET ROLE;
GRANT SELECT, INSERT, UPDATE ON shop.seen TO regress_bloom_clerk;
SET ROLE regress_bloom_clerk;
INSERT INTO shop.event VALUES ('g', NULL, '31'), ('a', NULL, '32');
RESET ROLE;
SELECT id, body FROM shop.event WHERE body::int > 30;
DROP OWNED BY regress_bloom_clerk;
DROP ROLE regress_bloom_clerk;

-- fail, all of these
DROP TRIGGER dedup ON shop.event;
CREATE FUNCTION try(arguments text, whenever text DEFAULT 'BEFORE INSERT') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER dedup %s ON shop.event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup(%s)', whenever, arguments);
	INSERT INTO shop.event VALUES ('z', NULL, '33');
	UPDATE shop.event SET body = '34' WHERE id = 'g';
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT try('') AS none, try('''seen''') AS one, try('''seen'', ''id'', ''sent'', ''more''') AS four;
SELECT try('''nowhere'', ''id''') AS no_set, try('''nowhere.seen'', ''id''') AS no_schema, try('''event'', ''id''') AS no_set_but_a_table;
SELECT try('''seen'', ''nothing''') AS no_key, try('''seen'', ''id'', ''nothing''') AS no_time, try('''seen'', ''id'', ''body''') AS a_text;
SELECT try('''seen'', ''id''', 'AFTER INSERT') AS after_insert, try('''seen'', ''id''', 'BEFORE UPDATE') AS before_update;
SELECT bloom_set_dedup();

-- a generated column has no value yet
CREATE TABLE shop.generated (id int, key int GENERATED ALWAYS AS (id % 10) STORED);
CREATE TRIGGER dedup BEFORE INSERT ON shop.generated FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'key');
INSERT INTO shop.generated VALUES (1), (11);

SET client_min_messages = warning;
DROP SCHEMA shop CASCADE;
DROP TABLE seen, texts;
DROP FUNCTION try;

-- Arrays of a few keys, old and new, have some of the buckets that share a lock,
-- and not those between
SELECT bloom_set_create('sparse', 'int', 10000, 1e-9, seed => 1);
SELECT buckets > 40 AS many_buckets FROM bloom_set_info('sparse');
SELECT cardinality(bloom_set_add_all('sparse', ARRAY(SELECT generate_series(1, 3000)))) AS new;
SELECT count(*) AS calls, count(*) FILTER (WHERE new = ARRAY[i + 5000, i + 10000]) AS right_answers
FROM (SELECT i, ARRAY(SELECT unnest(bloom_set_add_all('sparse', ARRAY[i, i + 10000, i + 1, i + 5000])) ORDER BY 1) AS new
	  FROM generate_series(1, 2000) AS i) AS s;
SELECT cardinality(bloom_set_missing('sparse', ARRAY(SELECT generate_series(1, 3000) UNION ALL SELECT generate_series(5001, 7000) UNION ALL
	SELECT generate_series(10001, 12000)))) AS denied;
DROP TABLE sparse;
