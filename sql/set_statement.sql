--
-- Stored sets: many adds in one statement
--
-- A transaction overwrites the lanes that it has written, so that each add need
-- not make a version of a row.  Only a cursor that it has opened before may see a
-- difference: a key that was added later.
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
SELECT bloom_set_create('many', 'bigint', 20000, 0.01, seed => 1);
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) > 19800 AS nearly_all_new FROM generate_series(1, 20000) AS i;
SELECT written('many') < (CASE current_setting('wal_level') WHEN 'logical' THEN 30000 ELSE 2000 END) AS few_versions;
-- a further statement updates what the first has written, and two sets do not
-- get in each other's way
SELECT bloom_set_create('also', 'bigint', 20000, 0.01, seed => 1);
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) AS repeats,
	   count(*) FILTER (WHERE bloom_set_add('many', 20000 + i)) > 4800 AS nearly_all_new,
	   count(*) FILTER (WHERE bloom_set_add('also', i)) > 4800 AS nearly_all_new
FROM generate_series(1, 5000) AS i;
SELECT written('many') < (CASE current_setting('wal_level') WHEN 'logical' THEN 40000 ELSE 2500 END) AS few_versions,
	   written('also') < (CASE current_setting('wal_level') WHEN 'logical' THEN 10000 ELSE 500 END) AS few_versions;
COMMIT;
SELECT bloom_set_contains_all('many', ARRAY(SELECT generate_series(1, 20000))) AS none_denied;
SELECT count(*) FILTER (WHERE bloom_set_add('many', i)) AS new_again FROM generate_series(1, 20000) AS i;

-- COPY through a trigger
CREATE TABLE event (id bigint, note text);
CREATE TRIGGER dedup BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
SELECT bloom_set_create('seen', 'bigint', 1000, 0.001, grow => false, seed => 1);
BEGIN;
COPY event FROM stdin;
1	a
2	b
1	c
3	d
\.
INSERT INTO event SELECT i % 500, 'x' FROM generate_series(1, 2000) AS i;
SELECT count(*) = count(DISTINCT id) AS each_once, count(DISTINCT id) AS ids FROM event;
SELECT written('seen') < 100 AS few_versions;
ROLLBACK;
SELECT count(*) FROM event;
SELECT bloom_set_missing('seen', ARRAY[1, 2, 3]::bigint[]) AS given_back;

-- A query sees what was there when it began.  A cursor can see keys that were added
-- later, too, if lanes are overwritten that it sees.  All of this is in one bucket,
-- so the first add makes the lane, and those that come later are in it.
SELECT current_setting('wal_level') <> 'logical' AS overwrites \gset
SELECT bloom_set_create('one', 'bigint', 100, 0.001, grow => false, seed => 1);
SELECT i, bloom_set_contains('one', i) AS before, bloom_set_add('one', i) AS new,
	   bloom_set_contains('one', i) AS after, bloom_set_add('one', i) AS again
FROM generate_series(1, 3) AS i;
BEGIN;
DECLARE early CURSOR FOR SELECT bloom_set_contains('one', i) AS early, i FROM generate_series(11, 12) AS i;
SELECT count(*) FILTER (WHERE bloom_set_add('one', 10 + i)) AS new FROM generate_series(1, 5) AS i;
DECLARE late CURSOR FOR SELECT bloom_set_contains('one', 15) AS before, bloom_set_contains('one', 16) = :'overwrites' AS later;
SELECT count(*) FILTER (WHERE bloom_set_add('one', 15 + i)) AS new FROM generate_series(1, 5) AS i;
FETCH ALL early;
FETCH ALL late;
ROLLBACK;

-- a query that begins inside of the statement sees what was added by then; if it is
-- not finished before the next add, it may see that
CREATE FUNCTION seen_between(key bigint, cursor refcursor) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
	SELECT bloom_set_contains('one', key) INTO result;
	OPEN cursor FOR SELECT bloom_set_contains('one', key) AS before, bloom_set_contains('one', key + 1) = (current_setting('wal_level') <> 'logical') AS later;
	RETURN result;
END $$;
BEGIN;
SELECT bloom_set_add('one', i) AS new, seen_between(i, ('cursor' || i)::refcursor) AS seen, bloom_set_add('one', i + 1) AS next
FROM generate_series(21, 25, 2) AS i;
FETCH ALL cursor21;
FETCH ALL cursor25;
ROLLBACK;

-- What a subtransaction has added is gone with it, and what was added before it
-- in the same statement is not.
CREATE FUNCTION add_and_fail(key bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
	result := bloom_set_add('one', key);
	PERFORM 1 / 0;
	RETURN result;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
CREATE FUNCTION add_inside(key bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RETURN bloom_set_add('one', key);
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
BEGIN;
SELECT bloom_set_add('one', i) AS before, add_and_fail(i + 1) AS rolled_back, bloom_set_add('one', i + 1) AS given_back,
	   add_inside(i + 2) AS released, bloom_set_add('one', i + 2) AS again, add_and_fail(i + 3) AS rolled_back, bloom_set_add('one', i) AS still
FROM generate_series(31, 61, 10) AS i;
SELECT count(*) FILTER (WHERE bloom_set_contains('one', i)) AS there, string_agg((i - 30)::text, ' ') FILTER (WHERE bloom_set_contains('one', i)) AS which
FROM generate_series(31, 70) AS i;
ROLLBACK;
SELECT bloom_set_contains_any('one', ARRAY(SELECT generate_series(31, 70))) AS rolled_back;

-- What the expressions of a function keep between its commands is not used any
-- more after an add, also if that has overwritten a row
SELECT bloom_set_create('kept', 'bigint', 100, 0.001, grow => false, seed => 1);
DO $$
DECLARE
	key bigint;
	early int := 0;
	denied int := 0;
	missing bigint[];
BEGIN
	FOR i IN 1 .. 60 LOOP
		key := i;
		IF bloom_set_contains('kept', key) THEN early := early + 1; END IF;
		PERFORM bloom_set_add('kept', key);
		IF NOT bloom_set_contains('kept', key) THEN denied := denied + 1; END IF;
	END LOOP;
	FOR i IN 61 .. 70 LOOP
		missing := bloom_set_add_all('kept', ARRAY[i, i + 10]::bigint[]);
		missing := bloom_set_missing('kept', missing);
		denied := denied + cardinality(missing);
	END LOOP;
	RAISE INFO 'early %, denied %', early, denied;
END
$$;
DROP TABLE kept;

-- The same with arrays of keys, which find place in a lane that an earlier add has
-- made for many
SELECT bloom_set_create('long', 'bigint', 500, 0.001, grow => false, seed => 1);
SELECT buckets FROM bloom_set_info('long');
CREATE FUNCTION add_all_and_fail(keys bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
	PERFORM bloom_set_add_all('long', keys);
	PERFORM 1 / 0;
	RETURN keys;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END $$;
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('long', i)) AS new FROM generate_series(1, 60) AS i;
DECLARE early CURSOR FOR SELECT count(*) FILTER (WHERE bloom_set_contains('long', i)) = CASE WHEN :'overwrites' THEN 75 ELSE 60 END AS right_answer FROM generate_series(1, 200) AS i;
SELECT cardinality(bloom_set_add_all('long', ARRAY(SELECT generate_series(51, 75))::bigint[])) AS new;
FETCH ALL early;
ROLLBACK;
BEGIN;
SELECT count(*) FILTER (WHERE bloom_set_add('long', i)) AS new, max(CASE WHEN i = 60 THEN coalesce(add_all_and_fail(ARRAY(SELECT generate_series(61, 75))), '{}') END) AS rolled_back,
	   sum(CASE WHEN i = 60 THEN cardinality(bloom_set_add_all('long', ARRAY(SELECT generate_series(51, 75))::bigint[])) END) AS given_back
FROM generate_series(1, 60) AS i;
SELECT count(*) FILTER (WHERE bloom_set_contains('long', i)) AS there FROM generate_series(1, 200) AS i;
ROLLBACK;
SELECT bloom_set_contains_any('long', ARRAY(SELECT generate_series(1, 200))::bigint[]) AS rolled_back;

-- Two sets, two types of keys, a change of the set in the midst of the statement
SELECT bloom_set_create('other', 'text', 100, 0.001, grow => false, seed => 1);
SELECT bloom_set_add('one', i) AS one, bloom_set_add('other', i::text) AS other, bloom_set_add('one', i) AS again,
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

DROP TABLE event, many, also, seen, one, long, other;
DROP FUNCTION written, seen_between, add_and_fail, add_inside, add_all_and_fail, empty_set;
