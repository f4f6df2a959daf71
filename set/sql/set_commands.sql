--
-- Stored sets: many adds in one transaction, a statement each
--
-- A transaction may overwrite a lane that it has written, so that each add need not
-- leave a version of a row.  A cursor that was opened before may then see keys that
-- were added since, but must not miss one that was there; nor may what a savepoint
-- rolls back stay.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- keys whose hashes are in one stripe, by their upper 8 bits, for a set of bigint with
-- seed 1: while they are few, they are in one range, and an add appends to the lane of
-- the one before
CREATE TABLE near AS
SELECT row_number() OVER (ORDER BY i) AS n, i::bigint AS key FROM generate_series(1, 1600000) AS i WHERE bloom_hash(i::bigint, 1) BETWEEN 0 AND 72057594037927935;
CREATE FUNCTION near(number bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT key FROM near WHERE n = number); END $$;
CREATE FUNCTION nears(first int, last int) RETURNS bigint[] LANGUAGE sql AS 'SELECT array_agg(key ORDER BY n) FROM near WHERE n BETWEEN first AND last';
CREATE UNIQUE INDEX ON near (n);

-- rows that this transaction has inserted or updated in a table
CREATE FUNCTION written(regclass) RETURNS bigint LANGUAGE sql
AS 'SELECT n_tup_ins + n_tup_upd FROM pg_stat_xact_all_tables WHERE relid = $1';
-- keys of these that a set denies
CREATE FUNCTION denied(set regclass, first int, last int) RETURNS bigint[] LANGUAGE sql STABLE
AS 'SELECT bloom_set_missing(set, ARRAY(SELECT key FROM near WHERE n BETWEEN first AND last))';
-- add keys, in a statement each: the number of those that are new
CREATE FUNCTION add(set regclass, first int, last int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	FOR k IN first .. last LOOP
		IF bloom_set_add(set, near(k)) THEN
			n := n + 1;
		END IF;
	END LOOP;
	RETURN n;
END
$$;

-- 3,000 keys do not leave 3,000 versions; published tables, of which each must be
-- in the log, are the exception
SELECT bloom_set_create('many', 'bigint', seed => 1);
BEGIN;
SELECT add('many', 1, 3000) > 2990 AS nearly_all_new;
SELECT written('many') < (CASE current_setting('wal_level') WHEN 'logical' THEN 9000 ELSE 1500 END) AS few_versions;
COMMIT;
SELECT denied('many', 1, 3000);
DROP TABLE many;

-- Committed keys in short lanes
SELECT bloom_set_create('one', 'bigint', seed => 1);
DO $$
BEGIN
	FOR k IN 1 .. 12 LOOP
		PERFORM bloom_set_add('one', near(k));
		COMMIT;
	END LOOP;
END
$$;

-- further keys are appended
BEGIN;
SELECT add('one', 101, 102) AS new;
DECLARE early CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 102) AS and_own;
SELECT add('one', 103, 103) AS new;
DECLARE late CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own;
SELECT add('one', 104, 106) AS new;
FETCH early;
FETCH late;
SELECT denied('one', 1, 12), denied('one', 101, 106) AS and_own, add('one', 101, 106) AS new_again;
ROLLBACK;
SELECT denied('one', 1, 12), cardinality(denied('one', 101, 106)) AS rolled_back;

-- they move from the short lane, which is full, to a long one, and that becomes
-- full; a cursor is opened after each of these
BEGIN;
SELECT add('one', 101, 104) AS new;
DECLARE c104 CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 104) AS and_own;
SELECT add('one', 105, 110) AS new;
DECLARE c110 CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 110) AS and_own;
SELECT add('one', 111, 130) AS new;
DECLARE c130 CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 130) AS and_own;
SELECT add('one', 131, 140) AS new;
FETCH c104;
FETCH c110;
SELECT add('one', 141, 400) AS new;
FETCH c130;
SELECT denied('one', 1, 12), denied('one', 101, 400) AS and_own;
ROLLBACK;

-- after each single add, a cursor that has yet to read
BEGIN;
CREATE FUNCTION open_cursors(n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM bloom_set_add('one', near(100 + i));
		c := 'c' || i;
		OPEN c FOR SELECT denied('one', 1, 12) || denied('one', 101, 100 + i);
	END LOOP;
END
$$;
CREATE FUNCTION read_cursors(n int) RETURNS TABLE (i int, denied bigint[]) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
BEGIN
	FOR i IN 1 .. n LOOP
		c := 'c' || i;
		FETCH c INTO denied;
		IF denied <> '{}' THEN
			read_cursors.i := i;
			RETURN NEXT;
		END IF;
	END LOOP;
END
$$;
SELECT open_cursors(150);
SELECT * FROM read_cursors(150);
ROLLBACK;

-- committed keys move to lists: before an array is added
BEGIN;
SELECT add('one', 101, 103) AS new;
DECLARE early CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own;
SELECT count(*) AS lists FROM one WHERE lane = 0;
SELECT bloom_set_add_all('one', nears(111, 122)) = nears(111, 122) AS new;
SELECT count(*) AS lists FROM one WHERE lane = 0;
DECLARE late CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own, denied('one', 111, 122) AS and_those;
SELECT add('one', 104, 110) AS new;
SELECT cardinality(bloom_set_add_all('one', nears(105, 200))) AS new;
FETCH early;
FETCH late;
ROLLBACK;
-- and by bloom_set_compact
DROP TABLE one;
SELECT bloom_set_create('one', 'bigint', seed => 1);
SELECT cardinality(bloom_set_add_all('one', nears(2001, 2030))) AS new;
SELECT bloom_set_compact('one') AS moved;
SELECT add('one', 1, 12) AS new;
SELECT count(*) AS lists FROM one WHERE lane = 0;
BEGIN;
SELECT add('one', 101, 103) AS new;
DECLARE early CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own;
SELECT bloom_set_compact('one') AS moved;
DECLARE late CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own;
SELECT add('one', 104, 110) AS new;
FETCH early;
FETCH late;
SELECT denied('one', 1, 12), denied('one', 101, 110) AS and_own;
ROLLBACK;
-- in one statement
BEGIN;
SELECT add('one', 101, 103) AS new;
DECLARE early CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 103) AS and_own;
SELECT bloom_set_add('one', near(104)) AS new, bloom_set_compact('one') AS moved, bloom_set_add('one', near(105)) AS new,
	   cardinality(bloom_set_add_all('one', nears(104, 140))) AS new;
FETCH early;
SELECT denied('one', 1, 12), denied('one', 101, 140) AS and_own;
ROLLBACK;

-- ranges are split, and keys move
SELECT bloom_set_create('grows', 'bigint', seed => 1);
SELECT add('grows', 1, 12) AS new;
BEGIN;
SELECT add('grows', 101, 110) AS new;
DECLARE before CURSOR FOR SELECT denied('grows', 1, 12), denied('grows', 101, 110) AS and_own;
SELECT cardinality(bloom_set_add_all('grows', nears(111, 2000))) AS new;
DECLARE after CURSOR FOR SELECT denied('grows', 1, 12), denied('grows', 101, 2000) AS and_own;
SELECT add('grows', 2001, 3000) AS new;
SELECT bloom_set_compact('grows') AS moved;
SELECT add('grows', 2501, 3500) AS new;
FETCH before;
FETCH after;
SELECT denied('grows', 1, 12), denied('grows', 101, 3500) AS and_own, add('grows', 101, 3500) AS new_again;
COMMIT;
SELECT denied('grows', 1, 12), denied('grows', 101, 3500) AS and_the_others;
BEGIN;
SELECT add('grows', 4001, 4010) AS new;
DECLARE before CURSOR FOR SELECT denied('grows', 1, 12), denied('grows', 101, 3500), denied('grows', 4001, 4010) AS and_own;
SELECT bloom_set_compact('grows') >= 0 AS compacted;
SELECT add('grows', 4011, 5000) AS new;
FETCH before;
ROLLBACK;
SELECT denied('grows', 1, 12), denied('grows', 101, 3500) AS and_the_others, cardinality(denied('grows', 4001, 5000)) AS rolled_back;
DROP TABLE grows;

-- A savepoint: what came before it stays, and what came after it goes
BEGIN;
SELECT add('one', 101, 102) AS new;
SAVEPOINT a;
SELECT add('one', 103, 104) AS new;
DECLARE inside CURSOR FOR SELECT denied('one', 1, 12), denied('one', 101, 104) AS and_own;
SELECT add('one', 105, 105) AS new;
FETCH inside;
ROLLBACK TO a;
SELECT denied('one', 1, 12), denied('one', 101, 105);
SELECT add('one', 103, 104) AS new_again;
ROLLBACK TO a;
SELECT denied('one', 101, 105);
SELECT add('one', 101, 105) AS new;
RELEASE a;
SELECT add('one', 106, 107) AS new;
SAVEPOINT b;
SELECT add('one', 106, 140) AS new;
SELECT bloom_set_compact('one') AS moved;
SAVEPOINT c;
SELECT add('one', 141, 150) AS new;
RELEASE c;
SELECT add('one', 151, 160) AS new, denied('one', 1, 12), denied('one', 101, 150) AS and_own;
ROLLBACK TO b;
SELECT denied('one', 1, 12), denied('one', 101, 110) AS and_own, cardinality(denied('one', 108, 160)) AS rolled_back;
SELECT add('one', 108, 108) AS new;
COMMIT;
SELECT denied('one', 1, 12), denied('one', 101, 108) AS and_the_others, cardinality(denied('one', 109, 160)) AS rolled_back;
-- blocks that roll back, inside and around of blocks that do not
CREATE FUNCTION add_in_blocks(first int, last int) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	kept bigint[] := '{}';
	so_far bigint[];
BEGIN
	FOR k IN first .. last BY 5 LOOP
		so_far := kept;
		BEGIN
			kept := kept || bloom_set_add_all('one', ARRAY[near(k), near(k + 1)]);
			BEGIN
				PERFORM bloom_set_add('one', near(k + 2));
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN
			END;
			BEGIN
				kept := kept || bloom_set_add_all('one', ARRAY[near(k + 3), near(k + 1)]);
			EXCEPTION WHEN division_by_zero THEN
			END;
			IF k % 15 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			kept := so_far;
		END;
		IF bloom_set_add('one', near(k + 4)) THEN
			kept := kept || near(k + 4);
		END IF;
	END LOOP;
	RETURN kept;
END
$$;
BEGIN;
CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT add_in_blocks(1000, 1299) AS keys;
SELECT cardinality(keys) AS kept, bloom_set_missing('one', keys) AS denied,
	   ARRAY(SELECT k FROM unnest(nears(1000, 1299)) AS k WHERE bloom_set_contains('one', k) AND k <> ALL (keys)) AS not_rolled_back
FROM kept;
ROLLBACK;
SELECT cardinality(denied('one', 1000, 1299)) AS rolled_back, denied('one', 1, 12);

-- A cursor that is read while its loop adds, and one that outlives the transaction
DO $$
DECLARE
	found record;
	n int := 0;
BEGIN
	FOR found IN SELECT k, bloom_set_contains('one', near(k)) AS there FROM generate_series(1, 12) AS k LOOP
		PERFORM add('one', 200 + 20 * found.k, 219 + 20 * found.k);
		ASSERT found.there;
		n := n + 1;
	END LOOP;
	ASSERT n = 12 AND denied('one', 220, 459) = '{}';
	ROLLBACK;
END
$$;
BEGIN;
SELECT add('one', 201, 203) AS new;
DECLARE held CURSOR WITH HOLD FOR SELECT denied('one', 1, 12), denied('one', 201, 203) AS and_own;
SELECT cardinality(bloom_set_add_all('one', nears(211, 222))) AS new;
SELECT bloom_set_compact('one') AS moved;
COMMIT;
FETCH held;
CLOSE held;

-- The leader of a parallel plan, who tests, sees what the transaction has added
CREATE TABLE key AS SELECT n AS k, key FROM near WHERE n BETWEEN 301 AND 400;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
BEGIN;
SELECT add('one', 301, 310) AS new;
EXPLAIN (COSTS OFF) SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
SELECT add('one', 311, 320) AS new;
SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
SAVEPOINT a;
SELECT add('one', 321, 330) AS new;
SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
ROLLBACK TO a;
SELECT bloom_set_compact('one') > 0 AS moved;
SELECT add('one', 321, 325) AS new;
SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
COMMIT;
SELECT count(*), max(k) FILTER (WHERE bloom_set_contains('one', key)) AS last_seen, count(*) FILTER (WHERE bloom_set_contains('one', key)) AS seen FROM key;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
DROP TABLE key;

-- A statement that itself changes the rows of the set cannot take a new key away:
-- fail
\set VERBOSITY terse
BEGIN;
DELETE FROM one WHERE lane > 0 AND bloom_set_add('one', near(500));
ROLLBACK;
BEGIN;
SELECT add('one', 501, 502) AS new;
DELETE FROM one WHERE lane > 0 AND bloom_set_add('one', near(503));
ROLLBACK;
BEGIN;
SELECT add('one', 501, 502) AS new;
UPDATE one SET hashes = hashes WHERE lane > 0 AND bloom_set_add('one', near(503));
ROLLBACK;
-- below a function, a WITH and a view
BEGIN;
SELECT add('one', 501, 502) AS new;
DELETE FROM one WHERE lane > 0 AND add('one', 503, 503) = 1;
ROLLBACK;
BEGIN;
SELECT add('one', 501, 502) AS new;
WITH deleted AS (DELETE FROM one RETURNING 1) SELECT bloom_set_add('one', near(503));
ROLLBACK;
BEGIN;
CREATE VIEW rows_of_one AS SELECT * FROM one;
SELECT add('one', 501, 502) AS new;
WITH deleted AS (DELETE FROM rows_of_one WHERE (SELECT add('one', 503, 503)) = 1 RETURNING 1) SELECT count(*) FROM deleted;
ROLLBACK;
-- a function of the statement deletes all: what was told new before is new again
CREATE FUNCTION delete_all() RETURNS bigint LANGUAGE sql VOLATILE
AS 'WITH deleted AS (DELETE FROM one WHERE lane >= 0 RETURNING 1) SELECT count(*) FROM deleted';
BEGIN;
SELECT add('one', 501, 502) AS new;
SELECT bloom_set_add('one', near(503)) AS new, delete_all() > 0 AS deleted, bloom_set_add('one', near(503)) AS new_again, bloom_set_add('one', near(504)) AS new;
SELECT denied('one', 503, 504), cardinality(denied('one', 1, 12)) AS deleted;
ROLLBACK;
-- the other way round
BEGIN;
WITH deleted AS (DELETE FROM one WHERE lane >= 0 RETURNING 1) SELECT count(*) > 0 AS deleted, bloom_set_add('one', near(503)) FROM deleted;
ROLLBACK;
\set VERBOSITY default
-- an earlier statement may, and then the keys are new
BEGIN;
SELECT add('one', 501, 502) AS new;
DELETE FROM one WHERE lane >= 0;
SELECT add('one', 501, 503) AS new, add('one', 1, 12) AS new;
ROLLBACK;
SELECT denied('one', 1, 12);

DROP TABLE one, near;
DROP FUNCTION written, denied, add, add_in_blocks, delete_all, near, nears;
