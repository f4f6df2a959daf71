--
-- Probes: however a filter is kept, tested, stored or cached, the answer is
-- the same
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- Filters in keys form are exact.  Those that are tested many times get a
-- sieve; the first tests are without.
CREATE TABLE filters (n int PRIMARY KEY, f bloom);
INSERT INTO filters
SELECT n, bloom_agg(i, 100000000, 0.01) FILTER (WHERE i <= n)
FROM unnest('{0, 1, 2, 7, 8, 9, 100, 8191, 8192, 30000}'::int[]) AS n, generate_series(1, 30000) AS i
GROUP BY n;
-- as well as one whose hashes are all in a 64th of their range
CREATE TABLE crowd AS SELECT i FROM generate_series(1, 40000) AS i, CAST(bloom_add(bloom_empty(1000), i) AS bytea) AS b
WHERE get_byte(b, octet_length(b) - 1) < 4;
INSERT INTO filters SELECT -1, bloom_agg(i, 100000000, 0.01) FROM crowd;
SELECT n, (bloom_info(f)).representation, bloom_cardinality(f) AS keys FROM filters ORDER BY n;

CREATE FUNCTION the_filter(n int) RETURNS bloom
LANGUAGE sql IMMUTABLE AS 'SELECT f FROM filters WHERE filters.n = $1';

-- The right number of keys found, and whether all of them are its own, in
-- 60,000 tests: of a constant, a subquery, a parameter, and a stored row.
CREATE FUNCTION test_filter(n int, OUT constant bool, OUT subquery bool, OUT parameter bool, OUT stored bool)
LANGUAGE plpgsql AS $$
DECLARE
	count_them text := 'SELECT count(*) = %s AND bool_and(%s) IS NOT FALSE FROM %s generate_series(1, 60000) AS i WHERE %s @> i';
	keys bigint := bloom_cardinality(the_filter(n));
	own text := CASE WHEN n < 0 THEN 'i IN (SELECT i FROM crowd)' ELSE 'i <= ' || n END;
BEGIN
	EXECUTE format(count_them, keys, own, '', format('the_filter(%s)', n)) INTO constant;
	EXECUTE format(count_them, keys, own, '', format('(SELECT f FROM filters WHERE n = %s)', n)) INTO subquery;
	EXECUTE format(count_them, keys, own, '', '$1') INTO parameter USING the_filter(n);
	EXECUTE format(count_them, keys, own, format('(SELECT f FROM filters WHERE n = %s OFFSET 0) AS s, ', n), 's.f') INTO stored;
END
$$;
SELECT n, t.* FROM filters, test_filter(n) AS t ORDER BY n;

-- one probe a statement of what is stored
CREATE FUNCTION one_off(n int, keys int[]) RETURNS TABLE (hits bigint)
LANGUAGE plpgsql AS $$
BEGIN
	hits := 0;
	FOR i IN 1 .. cardinality(keys)
	LOOP
		hits := hits + (SELECT count(*) FROM filters WHERE filters.n = one_off.n AND f @> keys[i]);
	END LOOP;
	RETURN NEXT;
END
$$;
SELECT (SELECT hits FROM one_off(30000, ARRAY(SELECT generate_series(1, 30000, 100)))) AS of_300,
	   (SELECT hits FROM one_off(30000, ARRAY(SELECT generate_series(30001, 60000, 100)))) AS of_none,
	   (SELECT hits = (SELECT count(*) FROM crowd) FROM one_off(-1, ARRAY(SELECT i FROM crowd))) AS crowd,
	   (SELECT hits FROM one_off(-1, ARRAY(SELECT generate_series(1, 1000) EXCEPT SELECT i FROM crowd))) AS not_in_crowd;

-- bits, of one hash to many, in the first chunk and in the last,
-- and of keys of another type
INSERT INTO filters
SELECT 100000 + hashes, bloom_add_all(bloom_empty_shaped(1600000, hashes), array_agg(i)) FROM unnest('{1, 2, 7, 64}'::int[]) AS hashes, generate_series(1, 26000) AS i GROUP BY hashes;
INSERT INTO filters SELECT 200000, bloom_add_all(bloom_empty_shaped(1600000, 9), array_agg(i / 10.0)) FROM generate_series(1, 26000) AS i;
SELECT n, (bloom_info(f)).representation, pg_column_size(f) FROM filters WHERE n >= 100000 ORDER BY n;
SELECT n, (SELECT hits FROM one_off(n, ARRAY(SELECT generate_series(1, 26000, 100)))) AS of_260,
	   (SELECT count(*) FROM generate_series(1, 26000) AS i WHERE f @> i) AS of_26000
FROM filters WHERE n BETWEEN 100000 AND 199999 ORDER BY n;
DO $$
BEGIN
	FOR i IN 1 .. 200
	LOOP
		ASSERT (SELECT f @> (i / 10.0) FROM filters WHERE n = 200000);
	END LOOP;
END
$$;
-- a bit in each place of a filter of one hash is found at its place, in 98
-- chunks: as many keys are found one by one as in the whole filter at once
SELECT (SELECT count(*) FROM generate_series(50001, 50400) AS i WHERE f @> i) = one.hits AS same, one.hits > 0 AS some
FROM filters, one_off(100001, ARRAY(SELECT generate_series(50001, 50400))) AS one WHERE n = 100001;

-- more filters than the memory of a statement holds at a time
CREATE TABLE many AS
SELECT n, bloom_agg(n * 100000 + i, 20000, 0.01) AS f FROM generate_series(1, 20) AS n, generate_series(1, 2000) AS i GROUP BY n;
CREATE TABLE many_parts (n int, f bloom) PARTITION BY HASH (n);
CREATE TABLE many_parts_0 PARTITION OF many_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE many_parts_1 PARTITION OF many_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO many_parts SELECT * FROM many;
SET work_mem = '64kB';
SELECT count(*) AS probes, count(*) FILTER (WHERE f @> (n * 100000 + i)) AS own_keys_found
FROM generate_series(1, 2000, 40) AS i, many;
SELECT count(*) AS probes, count(*) FILTER (WHERE f @> (n * 100000 + i)) AS own_keys_found
FROM generate_series(1, 2000, 40) AS i, many_parts;
RESET work_mem;

DROP TABLE filters, crowd, many, many_parts;
DROP FUNCTION the_filter, test_filter, one_off;

--
-- A hash function of a key's type probes so many other filters that the one
-- under test is forgotten meanwhile, and its memory used again
--
SET client_min_messages = warning;
CREATE TYPE regress_key;
CREATE FUNCTION key_in(cstring) RETURNS regress_key LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION key_out(regress_key) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE regress_key (INPUT = key_in, OUTPUT = key_out, LIKE = int);
CREATE CAST (int AS regress_key) WITHOUT FUNCTION;
CREATE FUNCTION key_eq(regress_key, regress_key) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION key_hash(regress_key) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE FUNCTION key_hash_alone(regress_key, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'hashint4extended';
CREATE FUNCTION key_hash(regress_key, bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	other record;
	found boolean;
BEGIN
	IF current_setting('regress.probe', true) = 'on' THEN
		FOR other IN SELECT f FROM others LOOP
			found := other.f @> 1;
		END LOOP;
	END IF;
	RETURN key_hash_alone($1, $2);
END
$$;
CREATE OPERATOR === (LEFTARG = regress_key, RIGHTARG = regress_key, FUNCTION = key_eq, HASHES);
CREATE OPERATOR CLASS key_ops DEFAULT FOR TYPE regress_key USING hash AS OPERATOR 1 ===, FUNCTION 1 key_hash(regress_key), FUNCTION 2 key_hash(regress_key, bigint);
RESET client_min_messages;
CREATE TABLE others AS
SELECT n, bloom_agg(n * 10000 + i, 4000, 0.01) AS f FROM generate_series(1, 300) AS n, generate_series(1, 1000) AS i GROUP BY n;
CREATE TABLE own AS
SELECT bloom_agg(i::regress_key, 4000, 0.01) AS f, bloom_agg((i, i::regress_key), 4000, 0.01) AS pairs FROM generate_series(1, 1000) AS i;
CREATE FUNCTION denied(OUT single int, OUT all_of_two int, OUT any_of_two int, OUT missing int, OUT pair int)
LANGUAGE plpgsql AS $$
DECLARE
	own record;
	two regress_key[];
BEGIN
	SELECT * INTO own FROM own;
	single := 0; all_of_two := 0; any_of_two := 0; missing := 0; pair := 0;
	FOR i IN 1 .. 10 LOOP
		two := ARRAY[i::regress_key, (i + 1)::regress_key];
		single := single + (NOT own.f @> i::regress_key)::int;
		all_of_two := all_of_two + (NOT bloom_contains_all(own.f, two))::int;
		any_of_two := any_of_two + (NOT bloom_contains_any(own.f, two))::int;
		missing := missing + cardinality(bloom_missing(own.f, two));
		pair := pair + (NOT own.pairs @> (i, i::regress_key))::int;
	END LOOP;
END
$$;
SELECT * FROM denied();
SET regress.probe = on;
SELECT * FROM denied();
RESET regress.probe;
DROP TABLE others, own;
DROP FUNCTION denied();
SET client_min_messages = warning;
DROP TYPE regress_key CASCADE;
RESET client_min_messages;

-- Many keys and many filters, which exceed the memory of a statement together: with the
-- filters outside, each is read once, and in parts before that; with the keys outside, no
-- filter is read again and again only to be evicted before its next turn.  A test of a
-- filter that does not fit needs one part, mostly, which is two or three blocks.
CREATE TEMPORARY TABLE many AS
SELECT n, bloom_agg(n * 100000 + i, 200000, 0.01) AS f FROM generate_series(1, 8) AS n, generate_series(1, 60000) AS i GROUP BY n;
CREATE TEMPORARY TABLE tested AS SELECT i * 500 AS k FROM generate_series(1, 2000) AS i;
CREATE FUNCTION pg_temp.blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE query;				-- what it reads of the catalog, it has then
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT sum(value::bigint) FROM json_each_text(plan #> '{0,Plan}') WHERE key ~ '^(Shared|Local) (Hit|Read) Blocks$');
END
$$;
SET work_mem = '512kB';
SET hash_mem_multiplier = 1;
SET enable_material = off;
SELECT count(*) AS filters, sum(length(f::bytea)) > 3 * 524288 AS exceed_memory FROM many;
-- the inner side depends on the outer one, so that no join order but this one is there
SELECT pg_temp.blocks('SELECT count(*) FROM many CROSS JOIN LATERAL (SELECT k FROM tested WHERE k + 1000 > n OFFSET 0) AS t WHERE f @> k') <
	   3 * pg_temp.blocks('SELECT sum(length(f::bytea)) FROM many') AS filters_outside,
	   pg_temp.blocks('SELECT count(*) FROM tested CROSS JOIN LATERAL (SELECT f FROM many WHERE n < k + 1000 OFFSET 0) AS t WHERE f @> k') < 4 * 8 * 2000 AS keys_outside;
SELECT (SELECT count(*) FROM tested CROSS JOIN LATERAL (SELECT f FROM many WHERE n < k + 1000 OFFSET 0) AS t WHERE f @> k) =
	   (SELECT sum(2000 - cardinality(bloom_missing(f, a))) FROM many, (SELECT array_agg(k) AS a FROM tested) AS t) AS as_by_array;
RESET enable_material;
RESET hash_mem_multiplier;
RESET work_mem;
DROP TABLE many, tested;
