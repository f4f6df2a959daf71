--
-- Stored sets: ranges, which split as they fill, and lanes
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- what must hold of the rows of a set: the ranges of each of the 256 stripes leave
-- no gap, and a lane stands within its range.  The last hash of a range is in
-- bytes 4 to 11 of its list, with the least first.
CREATE FUNCTION last_hash(hashes bytea) RETURNS numeric LANGUAGE sql IMMUTABLE
AS 'SELECT sum(get_byte(hashes, 4 + i) * 256::numeric ^ i) FROM generate_series(0, 7) AS i';
CREATE FUNCTION faults(set regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format($q$
		WITH range AS (SELECT start::numeric + 2 ^ 63::numeric AS first, last_hash(hashes) AS last,
				lead(start::numeric + 2 ^ 63::numeric) OVER (ORDER BY start) AS next, hashes FROM %1$s WHERE lane = 0)
		SELECT (SELECT count(*) FROM range WHERE last < first)
			+ (SELECT count(*) FROM range WHERE next IS NOT NULL AND last + 1 <> next AND (last + 1) %% (2 ^ 56::numeric) <> 0)
			+ (SELECT count(*) FROM range WHERE div(first, 2 ^ 56::numeric) <> div(last, 2 ^ 56::numeric))
			+ (SELECT count(*) FROM range WHERE octet_length(hashes) > 1100)
			+ (SELECT count(*) FROM %1$s WHERE lane > 0 AND (octet_length(hashes) %% 8 <> 0 OR octet_length(hashes) > 1024))$q$, set) INTO result;
	RETURN result;
END
$$;

--
-- Growth, without a number: from nothing to 200,000 keys, in arrays and one by one
--
SELECT bloom_set_create('growing', 'bigint', seed => 1);
SELECT sum(cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(n * 10000 + 1, n * 10000 + 9900))))) = 19 * 9900 AS all_new
FROM generate_series(0, 18) AS n;
SELECT count(*) FILTER (WHERE bloom_set_add('growing', n * 10000 - i)) = 1900 AS all_new
FROM generate_series(1, 19) AS n, generate_series(0, 99) AS i;
SELECT bloom_set_contains_all('growing', ARRAY(SELECT generate_series(1, 190000))) AS none_denied,
	   bloom_set_missing('growing', ARRAY(SELECT generate_series(1, 190000))) AS none_missing,
	   bloom_set_contains_any('growing', ARRAY(SELECT generate_series(-190000, 0))) AS imagined;
SELECT keys, rows BETWEEN 64 AND (CASE current_setting('wal_level') WHEN 'logical' THEN 11000 ELSE 10000 END) AS rows FROM bloom_set_info('growing');
SELECT faults('growing');
SELECT count(*) FILTER (WHERE NOT bloom_set_contains('growing', i)) AS denied FROM generate_series(1, 190000, 7) AS i;
-- in ascending order of keys, and descending, and at random
SELECT bool_and(bloom_set_contains('growing', i)) AS all_there FROM generate_series(1, 3000) AS i;
SELECT bool_and(bloom_set_contains('growing', 3000 - i)) AS all_there FROM generate_series(1, 2999) AS i;

-- a rollback shrinks it again
BEGIN;
SELECT cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(1000001, 1100000)))) AS new;
SELECT faults('growing');
ROLLBACK;
SELECT keys FROM bloom_set_info('growing');
SELECT bloom_set_contains_any('growing', ARRAY(SELECT generate_series(1000001, 1100000))) AS any_there, faults('growing');
-- so does one to a savepoint, with what the transaction had added before
BEGIN;
SELECT cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(1000001, 1010000)))) AS new;
SAVEPOINT s;
SELECT cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(1005001, 1100000)))) AS new;
ROLLBACK TO s;
SELECT bloom_set_contains_all('growing', ARRAY(SELECT generate_series(1000001, 1010000))) AS none_denied,
	   bloom_set_contains_any('growing', ARRAY(SELECT generate_series(1010001, 1100000))) AS any_there, faults('growing');
SELECT cardinality(bloom_set_add_all('growing', ARRAY(SELECT generate_series(1005001, 1020000)))) AS new;
COMMIT;
SELECT keys FROM bloom_set_info('growing');
SELECT bloom_set_compact('growing') > 20000 AS moved, faults('growing');
SELECT rows = (SELECT count(*) FROM growing WHERE lane = 0) AS only_ranges FROM bloom_set_info('growing');
DROP TABLE growing;

-- an array with repeats in which ranges fill: each key is new once
SELECT bloom_set_create('repeats', 'int', seed => 1);
SELECT count(*) = count(DISTINCT k) AS each_once, count(*)
FROM unnest(bloom_set_add_all('repeats', ARRAY(SELECT i % 50000 FROM generate_series(1, 100000) AS i))) AS k;
SELECT bloom_set_compact('repeats');
SELECT count(*) = count(DISTINCT k) AS each_once, count(*)
FROM unnest(bloom_set_add_all('repeats', ARRAY(SELECT 25000 + i % 50000 FROM generate_series(1, 100000) AS i))) AS k;
SELECT bloom_set_contains_all('repeats', ARRAY(SELECT generate_series(0, 74999))) AS none_denied, faults('repeats');
DROP TABLE repeats;

-- many keys of one transaction, one by one, in a set that is empty: ranges are made
-- for keys that are in lanes
SELECT bloom_set_create('one', 'int', seed => 1);
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('one', i)) AS new FROM generate_series(1, 40000) AS i;
SELECT max(n) < 400 AS few_keys_in_the_lanes_of_a_range
FROM (SELECT sum(octet_length(hashes) / 8 - 1) AS n FROM one WHERE lane > 0 GROUP BY start) AS s;
COMMIT;
SELECT bloom_set_contains_all('one', ARRAY(SELECT generate_series(1, 40000))) AS none_denied, keys, faults('one') FROM bloom_set_info('one');
SELECT cardinality(bloom_set_add_all('one', ARRAY(SELECT generate_series(20001, 60000)))) AS new, faults('one');
DROP TABLE one;

-- keys that whoever knows the seed has chosen: all hashes in a small range, which
-- splits as any other.  (These hashes are from the table itself.)
SELECT bloom_set_create('chosen', 'bigint', seed => 0);
CREATE TEMP TABLE choice AS
SELECT i FROM generate_series(1, 4000000) AS i
WHERE bloom_hash(i::bigint) BETWEEN 1152921504606846976 AND 1152921504606846976 + (2 ^ 51)::bigint;
SELECT count(*) BETWEEN 350 AND 650 AS keys_of_2_to_the_51_hashes FROM choice;
SELECT cardinality(bloom_set_add_all('chosen', ARRAY(SELECT i FROM choice))) = count(*) AS all_new FROM choice;
SELECT bloom_set_compact('chosen') = count(*) AS all_moved FROM choice;
SELECT cardinality(bloom_set_add_all('chosen', ARRAY(SELECT i FROM choice))) AS new, faults('chosen');
SELECT count(*) > 2 AS split FROM chosen WHERE lane = 0;
DROP TABLE chosen;

-- Arrays of a few keys, old and new, have some of the ranges that share a lock,
-- and not those between
SELECT bloom_set_create('sparse', 'int', seed => 1);
SELECT cardinality(bloom_set_add_all('sparse', ARRAY(SELECT generate_series(1, 3000)))) AS new;
SELECT count(*) AS calls, count(*) FILTER (WHERE new = ARRAY[i + 5000, i + 10000]) AS right_answers
FROM (SELECT i, ARRAY(SELECT unnest(bloom_set_add_all('sparse', ARRAY[i, i + 10000, i + 1, i + 5000])) ORDER BY 1) AS new
	  FROM generate_series(1, 2000) AS i) AS s;
SELECT cardinality(bloom_set_missing('sparse', ARRAY(SELECT generate_series(1, 3000) UNION ALL SELECT generate_series(5001, 7000) UNION ALL
	SELECT generate_series(10001, 12000)))) AS denied;
DROP TABLE sparse;

--
-- Rows that were not written by us: an error, or an answer, and no more
--
-- (An error at once, where the row alone tells.  15: a range that claims hashes of
-- others would be found out only by who reads the rows above it, which depends on
-- what is written; and until then, tests of a statement would take lists of others
-- for its own.)
--
SELECT bloom_set_create('s', 'int', seed => 7);
SELECT cardinality(bloom_set_add_all('s', ARRAY(SELECT generate_series(1, 20000)))) AS new;
SELECT bloom_set_compact('s') AS moved;
SELECT cardinality(bloom_set_add_all('s', ARRAY(SELECT generate_series(20001, 20400)))) AS new;
-- each function, and what it says: errors that differ, each once
CREATE FUNCTION ask() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	statement text;
	answer text;
	detail text;
BEGIN
	FOREACH statement IN ARRAY ARRAY[
			'cardinality(bloom_set_missing(''s'', ARRAY(SELECT generate_series(1, 24000)))) IS NOT NULL',
			'cardinality(bloom_set_add_all(''s'', ARRAY(SELECT generate_series(12000, 36000)))) IS NOT NULL',
			'(SELECT count(bloom_set_add(''s'', i)) FROM generate_series(1, 500) AS i) = 500',
			'bloom_set_compact(''s'') IS NOT NULL',
			'(bloom_set_info(''s'')).keys IS NOT NULL',
			'bloom_set_filter(''s'', 40000) IS NOT NULL',
			'bool_or(bloom_set_remove(''s'', i)) IS NOT NULL FROM generate_series(1, 500) AS i'] LOOP
		BEGIN
			EXECUTE 'SELECT ' || statement INTO answer;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			answer := SQLSTATE || ' ' || regexp_replace(detail, '^Start -?\d+', 'Start N');
		END;
		IF answer <> ALL (coalesce(answers, '{}')) THEN
			answers := answers || answer;
		END IF;
	END LOOP;
	RETURN array_to_string(answers, ' | ');
END
$$;
SELECT ask();
DO $$
DECLARE
	forged record;
	answer text;
BEGIN
	FOR forged IN SELECT * FROM (VALUES
			(1, 'UPDATE s SET hashes = ~~ WHERE lane = 0'),
			(2, 'UPDATE s SET hashes = substr(hashes, 1, 11) WHERE lane = 0'),
			(3, 'UPDATE s SET hashes = substr(hashes, 1, 12) WHERE lane = 0'),
			(4, 'UPDATE s SET hashes = substr(hashes, 1, octet_length(hashes) - 1) WHERE lane = 0'),
			(5, 'UPDATE s SET hashes = hashes || hashes WHERE lane = 0'),
			(6, 'UPDATE s SET hashes = set_byte(hashes, 0, 2) WHERE lane = 0'),
			(7, 'UPDATE s SET hashes = set_byte(hashes, 0, 129) WHERE lane = 0'),
			(8, 'UPDATE s SET hashes = set_byte(hashes, 1, 255) WHERE lane = 0'),
			(9, 'UPDATE s SET hashes = set_byte(hashes, 1, 63) WHERE lane = 0'),
			(10, 'UPDATE s SET hashes = set_byte(hashes, 1, 0) WHERE lane = 0'),
			(11, 'UPDATE s SET hashes = set_byte(set_byte(hashes, 2, 255), 3, 255) WHERE lane = 0'),
			(12, 'UPDATE s SET hashes = set_byte(hashes, 2, 0) WHERE lane = 0'),
			(13, 'UPDATE s SET hashes = set_byte(hashes, 2, get_byte(hashes, 2) - 1) WHERE lane = 0'),
			(14, 'UPDATE s SET hashes = overlay(hashes PLACING decode(repeat(~00~, 8), ~hex~) FROM 5) WHERE lane = 0'),
			(15, 'UPDATE s SET hashes = overlay(hashes PLACING decode(repeat(~ff~, 8), ~hex~) FROM 5) WHERE lane = 0'),
			(16, 'UPDATE s SET hashes = substr(hashes, 1, 12) || decode(repeat(~ff~, octet_length(hashes) - 12), ~hex~) WHERE lane = 0'),
			(17, 'UPDATE s SET hashes = substr(hashes, 1, 12) || decode(repeat(~00~, octet_length(hashes) - 12), ~hex~) WHERE lane = 0'),
			(18, 'UPDATE s SET hashes = substr(hashes, 1, 12) || decode(repeat(~aa~, octet_length(hashes) - 12), ~hex~) WHERE lane = 0'),
			(19, 'DELETE FROM s WHERE lane = 0 AND start > 0'),
			(20, 'DELETE FROM s WHERE lane = 0 AND (start & 72057594037927935) = 0'),
			(21, 'DELETE FROM s WHERE lane = 0'),
			(22, 'UPDATE s SET start = start + 1 WHERE lane = 0'),
			(23, 'UPDATE s SET start = start - 1 WHERE lane > 0 AND start > -9223372036854775807'),
			(24, 'UPDATE s SET start = start + 1000000000000000 WHERE lane > 0 AND start < 9000000000000000000'),
			(25, 'UPDATE s SET lane = -lane WHERE lane > 0'),
			(26, 'UPDATE s SET slice = now()'),
			(27, 'UPDATE s SET hashes = ~~ WHERE lane > 0'),
			(28, 'UPDATE s SET hashes = decode(repeat(~00~, octet_length(hashes)), ~hex~) WHERE lane > 0'),
			(29, 'UPDATE s SET hashes = decode(repeat(~ff~, octet_length(hashes)), ~hex~) WHERE lane > 0'),
			(30, 'UPDATE s SET hashes = decode(repeat(~01~, 2000), ~hex~) WHERE lane > 0'),
			(31, 'UPDATE s SET hashes = hashes || ~\x00~ WHERE lane > 0'),
			(32, 'UPDATE s SET hashes = hashes || decode(repeat(~00~, 80), ~hex~) WHERE lane > 0'),
			(33, 'UPDATE s SET hashes = ~\x00000000000000ff0a00000000000080~ WHERE lane > 0'),
			(34, 'INSERT INTO s SELECT start, slice, lane + 1000, hashes FROM s'),
			(35, 'INSERT INTO s SELECT start, slice, 2147483647, hashes FROM s WHERE lane = 1'),
			(36, 'INSERT INTO s SELECT start + 5, slice, lane, hashes FROM s WHERE lane = 0')) AS f (id, statement) LOOP
		BEGIN
			EXECUTE replace(forged.statement, '~', '''');
			answer := ask();
			RAISE EXCEPTION USING ERRCODE = 'RB000';
		EXCEPTION WHEN SQLSTATE 'RB000' THEN
			RAISE INFO '%: %', forged.id, answer;
		END;
	END LOOP;
END
$$;
SELECT ask();
-- hostile bytes of every kind: each byte of lists and lanes changed, in turn
DO $$
DECLARE
	at int;
BEGIN
	FOR at IN 0 .. 200 LOOP
		BEGIN
			UPDATE s SET hashes = set_byte(hashes, (at * 37) % octet_length(hashes), (at * 101 + 7) % 256) WHERE octet_length(hashes) > 0;
			PERFORM ask();
			RAISE EXCEPTION USING ERRCODE = 'RB000';
		EXCEPTION WHEN SQLSTATE 'RB000' THEN
		END;
	END LOOP;
END
$$;
SELECT ask();
DROP TABLE s;

-- updates by SQL that change nothing, and a row that has moved to another page
SELECT bloom_set_create('s', 'int', seed => 7);
SELECT cardinality(bloom_set_add_all('s', ARRAY(SELECT generate_series(1, 5000)))) AS new;
UPDATE s SET lane = lane;
UPDATE s SET hashes = hashes;
SELECT cardinality(bloom_set_add_all('s', ARRAY(SELECT generate_series(1, 5000)))) AS new, bloom_set_contains_all('s', ARRAY(SELECT generate_series(1, 5000))) AS none_denied;
CREATE TABLE copy (LIKE s INCLUDING ALL);
INSERT INTO copy SELECT * FROM s ORDER BY random();
SELECT cardinality(bloom_set_add_all('copy', ARRAY(SELECT generate_series(1, 5001)))) AS new, faults('copy');
DROP TABLE s, copy;
DROP FUNCTION ask, faults, last_hash;
