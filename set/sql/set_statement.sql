--
-- Stored sets: many adds in one statement
--
-- A transaction overwrites the lanes that it has written, so that each add need
-- not make a version of a row.  Only a cursor that it has opened before, and a
-- statement whose transaction has added before, may see a difference: a key that was
-- added later.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- rows that this transaction has inserted or updated in a table
CREATE FUNCTION written(regclass) RETURNS bigint LANGUAGE sql
AS 'SELECT n_tup_ins + n_tup_upd FROM pg_stat_xact_all_tables WHERE relid = $1';

-- 20,000 keys are not written as 20,000 versions: an add appends to the lane, and
-- writes a version when that is full, less often than for each tenth key.  Published
-- tables, of which each version must be in the log, are the exception.
SELECT bloom_set_create('many', 'bigint', seed => 1);
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) AS new FROM generate_series(1, 20000) AS i;
SELECT written('many') < (CASE current_setting('wal_level') WHEN 'logical' THEN 30000 ELSE 4000 END) AS few_versions;
-- a further statement updates what the first has written, and two sets do not
-- get in each other's way
SELECT bloom_set_create('also', 'bigint', seed => 1);
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) AS repeats,
	   count(*) FILTER (WHERE bloom_set_add('many', 20000 + i)) AS new,
	   count(*) FILTER (WHERE bloom_set_add('also', i)) AS new
FROM generate_series(1, 5000) AS i;
SELECT written('many') < (CASE current_setting('wal_level') WHEN 'logical' THEN 40000 ELSE 5000 END) AS few_versions,
	   written('also') < (CASE current_setting('wal_level') WHEN 'logical' THEN 10000 ELSE 1000 END) AS few_versions;
COMMIT;
SELECT bloom_set_contains_all('many', ARRAY(SELECT generate_series(1, 20000))) AS none_denied;
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) AS new_again FROM generate_series(1, 20000) AS i;

-- COPY through a trigger
CREATE TABLE event (id bigint, note text);
CREATE TRIGGER dedup BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
SELECT bloom_set_create('seen', 'bigint', seed => 1);
BEGIN;
COPY event FROM stdin;
1	a
2	b
1	c
3	d
\.
INSERT INTO event SELECT i % 500, 'x' FROM generate_series(1, 2000) AS i;
SELECT count(*) = count(DISTINCT id) AS each_once, count(DISTINCT id) AS ids FROM event;
SELECT written('seen') < (CASE current_setting('wal_level') WHEN 'logical' THEN 1000 ELSE 300 END) AS few_versions;
ROLLBACK;
SELECT count(*) FROM event;
SELECT bloom_set_missing('seen', ARRAY[1, 2, 3]::bigint[]) AS given_back;

-- keys whose hashes are in one stripe, by their upper 8 bits, for a set of bigint with
-- seed 1: while they are few, they are in one range, and an add appends to the lane of
-- the one before
CREATE TABLE near AS
SELECT row_number() OVER (ORDER BY i) AS n, i::bigint AS key FROM generate_series(1, 1600000) AS i WHERE bloom_hash(i::bigint, 1) BETWEEN 0 AND 72057594037927935;
CREATE FUNCTION near(number bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT key FROM near WHERE n = number); END $$;
CREATE FUNCTION nears(first int, last int) RETURNS bigint[] LANGUAGE sql AS 'SELECT array_agg(key ORDER BY n) FROM near WHERE n BETWEEN first AND last';
CREATE UNIQUE INDEX ON near (n);

-- A query sees what was there when it began.  A cursor can see keys that were added
-- later, too, if lanes are overwritten that it sees.
SELECT current_setting('wal_level') <> 'logical' AS overwrites \gset
SELECT bloom_set_create('one', 'bigint', seed => 1);
SELECT i, bloom_set_contains('one', near(i)) AS before, bloom_set_add('one', near(i)) AS new,
	   bloom_set_contains('one', near(i)) AS after, bloom_set_add('one', near(i)) AS again
FROM generate_series(1, 3) AS i;
BEGIN;
DECLARE early CURSOR FOR SELECT bloom_set_contains('one', near(i)) AS early, i FROM generate_series(11, 12) AS i;
SELECT count(*) FILTER (WHERE bloom_set_add('one', near(10 + i))) AS new FROM generate_series(1, 5) AS i;
DECLARE late CURSOR FOR SELECT bloom_set_contains('one', near(15)) AS before, bloom_set_contains('one', near(16)) = :'overwrites' AS later;
SELECT count(*) FILTER (WHERE bloom_set_add('one', near(15 + i))) AS new FROM generate_series(1, 5) AS i;
FETCH ALL early;
FETCH ALL late;
ROLLBACK;

-- So can a statement whose transaction has added before: bloom_set_contains is STABLE,
-- and what it sees of its own statement's adds is not promised
BEGIN;
SELECT bloom_set_add('one', near(11)) AS new;
SELECT bloom_set_add('one', near(12)) AS new, bloom_set_contains('one', near(12)) = :'overwrites' AS there;
SELECT bloom_set_contains('one', near(99)) AS absent, bloom_set_add('one', near(13)) AS new, bloom_set_contains('one', near(13)) AS read_before;
SELECT bloom_set_contains('one', near(13)) AS there;
ROLLBACK;

-- a query that begins inside of the statement sees what was added by then; if it is
-- not finished before the next add, it may see that
CREATE FUNCTION seen_between(key bigint, cursor refcursor) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
	SELECT bloom_set_contains('one', near(key)) INTO result;
	OPEN cursor FOR SELECT bloom_set_contains('one', near(key)) AS before, bloom_set_contains('one', near(key + 1)) = (current_setting('wal_level') <> 'logical') AS later;
	RETURN result;
END $$;
BEGIN;
SELECT bloom_set_add('one', near(i)) AS new, seen_between(i, ('cursor' || i)::refcursor) AS seen, bloom_set_add('one', near(i + 1)) AS next
FROM generate_series(21, 25, 2) AS i;
FETCH ALL cursor21;
FETCH ALL cursor25;
ROLLBACK;

-- What a subtransaction has added is gone with it, and what was added before it
-- in the same statement is not.
CREATE FUNCTION add_and_fail(key bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
	result := bloom_set_add('one', near(key));
	PERFORM 1 / 0;
	RETURN result;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
CREATE FUNCTION add_inside(key bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RETURN bloom_set_add('one', near(key));
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
BEGIN;
SELECT bloom_set_add('one', near(i)) AS before, add_and_fail(i + 1) AS rolled_back, bloom_set_add('one', near(i + 1)) AS given_back,
	   add_inside(i + 2) AS released, bloom_set_add('one', near(i + 2)) AS again, add_and_fail(i + 3) AS rolled_back, bloom_set_add('one', near(i)) AS still
FROM generate_series(31, 61, 10) AS i;
SELECT count(*) FILTER (WHERE bloom_set_contains('one', near(i))) AS there, string_agg((i - 30)::text, ' ') FILTER (WHERE bloom_set_contains('one', near(i))) AS which
FROM generate_series(31, 70) AS i;
ROLLBACK;
SELECT bloom_set_contains_any('one', nears(31, 70)) AS rolled_back;

-- What the expressions of a function keep between its commands is not used any
-- more after an add, also if that has overwritten a row
SELECT bloom_set_create('kept', 'bigint', seed => 1);
DO $$
DECLARE
	key bigint;
	early int := 0;
	denied int := 0;
	missing bigint[];
BEGIN
	FOR i IN 1 .. 60 LOOP
		key := near(i);
		IF bloom_set_contains('kept', key) THEN early := early + 1; END IF;
		PERFORM bloom_set_add('kept', key);
		IF NOT bloom_set_contains('kept', key) THEN denied := denied + 1; END IF;
	END LOOP;
	FOR i IN 61 .. 70 LOOP
		missing := bloom_set_add_all('kept', ARRAY[near(i), near(i + 10)]);
		missing := bloom_set_missing('kept', missing);
		denied := denied + cardinality(missing);
	END LOOP;
	RAISE INFO 'early %, denied %', early, denied;
END
$$;
DROP TABLE kept;

-- The same with arrays of keys, which find place in a lane that an earlier add has
-- made for many
SELECT bloom_set_create('long', 'bigint', seed => 1);
CREATE FUNCTION add_all_and_fail(keys bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
	PERFORM bloom_set_add_all('long', keys);
	PERFORM 1 / 0;
	RETURN keys;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('long', near(i))) AS new FROM generate_series(1, 60) AS i;
DECLARE early CURSOR FOR SELECT count(*) FILTER (WHERE bloom_set_contains('long', near(i))) = CASE WHEN :'overwrites' THEN 75 ELSE 60 END AS right_answer FROM generate_series(1, 200) AS i;
SELECT cardinality(bloom_set_add_all('long', nears(51, 75))) AS new;
FETCH ALL early;
ROLLBACK;
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('long', near(i))) AS new, max(CASE WHEN i = 60 THEN coalesce(add_all_and_fail(nears(61, 75)), '{}') END) AS rolled_back,
	   sum(CASE WHEN i = 60 THEN cardinality(bloom_set_add_all('long', nears(51, 75))) END) AS given_back
FROM generate_series(1, 60) AS i;
SELECT count(*) FILTER (WHERE bloom_set_contains('long', near(i))) AS there FROM generate_series(1, 200) AS i;
ROLLBACK;
SELECT bloom_set_contains_any('long', nears(1, 200)) AS rolled_back;

-- Two sets, two types of keys, a change of the set in the midst of the statement
SELECT bloom_set_create('other', 'text', seed => 1);
SELECT bloom_set_add('one', near(i)) AS one, bloom_set_add('other', i::text) AS other, bloom_set_add('one', near(i)) AS again,
	   bloom_set_add('other', i::text) AS again
FROM generate_series(71, 73) AS i;
\set VERBOSITY terse
-- fail
SELECT bloom_set_add('other', 'a'::text), bloom_set_add('other', 1);
\set VERBOSITY default
CREATE FUNCTION empty_set(set text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM %I', set);
	RETURN true;
END $$;
BEGIN;
SELECT bloom_set_add('other', 'new'::text) AS added, empty_set('other') AS emptied, bloom_set_add('other', 'new'::text) AS added_again,
	   empty_set('other') AS emptied_again, bloom_set_add('other', 'newer') AS added_then;
SELECT keys FROM bloom_set_info('other');
ROLLBACK;

--
-- A range of which an earlier call has read the lower part: the rest of it is read to its
-- end, whatever end the search for the range above has given to the index
--
SELECT bloom_set_create('narrow', 'bigint', seed => 1);
CREATE TEMP TABLE narrow_keys AS
SELECT row_number() OVER (ORDER BY h) AS n, k, h
FROM (SELECT i::bigint AS k, bloom_hash(i::bigint, 1) AS h FROM generate_series(1, 20000) AS i) AS hashes
WHERE h BETWEEN 0 AND (1::bigint << 56) - 1;
CREATE FUNCTION pg_temp.hash(number int) RETURNS bigint LANGUAGE sql AS 'SELECT h FROM narrow_keys WHERE n = number';
CREATE FUNCTION pg_temp.key(number int) RETURNS bigint LANGUAGE sql AS 'SELECT k FROM narrow_keys WHERE n = number';
CREATE FUNCTION pg_temp.bytes(word bigint) RETURNS bytea LANGUAGE sql AS
	$$ SELECT string_agg(substr(int8send(word), i, 1), '' ORDER BY i DESC) FROM generate_series(1, 8) AS i $$;
-- three ranges without a list, of which the upper two are narrow, and a lane in the lowest
INSERT INTO narrow (start, lane, hashes)
SELECT start # (1::bigint << 63), 0, '\x01000000' || pg_temp.bytes(last)
FROM (VALUES (0, pg_temp.hash(5) - 2), (pg_temp.hash(5) - 1, pg_temp.hash(5) + 1), (pg_temp.hash(50) - 1, pg_temp.hash(50) + 1)) AS ranges (start, last)
UNION ALL
SELECT pg_temp.hash(3) # (1::bigint << 63), 1, pg_temp.bytes(pg_temp.hash(3)) || '\x0100000000000080';
SELECT pg_temp.hash(50) > 4 * pg_temp.hash(5) AS far_above,
       bloom_set_contains('narrow', pg_temp.key(1)) AS lowest,
       bloom_set_missing('narrow', ARRAY[pg_temp.key(50), pg_temp.key(5), pg_temp.key(3)]) = ARRAY[pg_temp.key(50), pg_temp.key(5)] AS all_but_one;
DROP TABLE narrow, narrow_keys;

DROP TABLE event, many, also, seen, one, long, other, near;
DROP FUNCTION written, seen_between, add_and_fail, add_inside, add_all_and_fail, empty_set, near, nears;
