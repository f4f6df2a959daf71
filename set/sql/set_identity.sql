--
-- Stored sets: what is a set, and what only looks like one
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

-- Whether the set s can be tested and added to, or what is in the way.  Both
-- must say the same.
CREATE FUNCTION ask() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	test text;
	adding text;
	detail text;
BEGIN
	BEGIN
		test := bloom_set_contains('s', 1);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		test := SQLSTATE || ' ' || SQLERRM || ': ' || detail;
	END;
	BEGIN
		adding := NOT bloom_set_add('s', 1);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		adding := SQLSTATE || ' ' || SQLERRM || ': ' || detail;
	END;
	RETURN CASE WHEN test = adding THEN test
		ELSE format('test: %s, add: %s', test, adding) END;
END
$$;

SELECT bloom_set_create('s', 'int', keep => NULL, seed => 7);
SELECT bloom_set_add('s', 1) AS new, bloom_set_add('s', 2) AS new_too;
SELECT ask();

--
-- Each obstacle alone, in a transaction that is rolled back.  50 and 52 are none.
--
CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'code of the owner runs'; END $$;
CREATE FUNCTION run(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'code of the owner runs'; END $$;
CREATE FUNCTION other(bigint) RETURNS bytea AS '$libdir/bloomtype_set', '_bloom_set_params' LANGUAGE C;
CREATE FUNCTION more(text, text) RETURNS bytea AS '$libdir/bloomtype_set', '_bloom_set_params' LANGUAGE C;
CREATE TEMP TABLE obstacle (id int, statement text);
INSERT INTO obstacle VALUES
	(1, 'CREATE TRIGGER t BEFORE UPDATE ON s FOR EACH ROW EXECUTE FUNCTION run()'),
	(2, 'CREATE TRIGGER t AFTER INSERT ON s FOR EACH STATEMENT EXECUTE FUNCTION run()'),
	(3, 'CREATE RULE r AS ON UPDATE TO s DO ALSO NOTIFY n'),
	(4, 'ALTER TABLE s ENABLE ROW LEVEL SECURITY'),
	(5, 'ALTER TABLE s FORCE ROW LEVEL SECURITY'),
	(6, 'ALTER TABLE s ADD CONSTRAINT c CHECK (run(lane)) NOT VALID'),
	(7, 'CREATE INDEX i ON s (slice)'),
	(8, 'CREATE INDEX i ON s ((1)) WHERE lane > 1000 AND run(lane)'),
	(9, 'ALTER TABLE s DROP CONSTRAINT s_pkey'),
	(10, 'ALTER TABLE s DROP CONSTRAINT s_pkey; CREATE UNIQUE INDEX s_pkey ON s (start, lane) WHERE lane < 5'),
	(11, 'ALTER TABLE s DROP CONSTRAINT s_pkey; ALTER TABLE s ADD PRIMARY KEY (lane, start)'),
	(12, 'ALTER TABLE s DROP CONSTRAINT s_pkey; ALTER TABLE s ADD PRIMARY KEY (start, lane) DEFERRABLE'),
	(13, 'ALTER TABLE s DROP CONSTRAINT s_pkey; ALTER TABLE s ADD PRIMARY KEY (start, lane) INCLUDE (hashes)'),
	(14, 'ALTER TABLE s DROP CONSTRAINT s_pkey; ALTER TABLE s ADD PRIMARY KEY (start)'),
	(15, 'ALTER TABLE s ADD more int'),
	(16, 'ALTER TABLE s DROP hashes'),
	(17, 'ALTER TABLE s DROP slice'),
	(18, 'ALTER TABLE s RENAME hashes TO chamber'),
	(19, 'ALTER TABLE s ALTER start TYPE numeric'),
	(20, 'ALTER TABLE s ALTER slice TYPE timestamp'),
	(21, 'ALTER TABLE s ALTER hashes DROP DEFAULT, ALTER hashes TYPE text USING hashes::text'),
	(22, 'ALTER TABLE s ALTER hashes DROP NOT NULL'),
	(23, 'ALTER TABLE s ALTER hashes SET STORAGE EXTERNAL'),
	(24, 'ALTER TABLE s ALTER lane SET DEFAULT 0'),
	(25, 'ALTER TABLE s ALTER start SET DEFAULT 0'),
	(26, 'ALTER TABLE s ALTER start ADD GENERATED ALWAYS AS IDENTITY'),
	(27, 'ALTER TABLE s DROP hashes; ALTER TABLE s ADD hashes bytea GENERATED ALWAYS AS (NULL) STORED'),
	(28, 'CREATE TABLE child () INHERITS (s)'),
	(29, 'CREATE TABLE parent (LIKE s); ALTER TABLE s INHERIT parent'),
	(30, 'CREATE TABLE parent (LIKE s) PARTITION BY RANGE (lane); ALTER TABLE parent ATTACH PARTITION s FOR VALUES FROM (0) TO (1000)'),
	(31, 'ALTER TABLE s ALTER hashes DROP DEFAULT'),
	(32, 'ALTER TABLE s ALTER hashes SET DEFAULT NULL'),
	(33, 'ALTER TABLE s ALTER hashes SET DEFAULT ''\x'''),
	(34, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed='' || (random() * 1000)::int || '' kept_bits=64 key_type=int8'')'),
	(35, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=-1 seed=7 kept_bits=64 key_type=int8'')'),
	(36, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=61 seed=7 kept_bits=64 key_type=int8'')'),
	(37, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=9223372036854775807 seed=7 kept_bits=64 key_type=int8'')'),
	(38, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=31 key_type=int8'')'),
	(39, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=65 key_type=int8'')'),
	(40, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=-1 key_type=int8'')'),
	(41, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(NULL)'),
	(42, 'ALTER TABLE s ALTER hashes SET DEFAULT other(1000)'),
	(43, 'ALTER TABLE s ALTER hashes SET DEFAULT more(''1 keep=0 seed=7 kept_bits=64 key_type=int8'', NULL)'),
	(44, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=64 key_type=int8''::varchar)'),
	(45, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(CASE WHEN true THEN ''1 keep=0 seed=7 kept_bits=64 key_type=int8'' END)'),
	(46, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(parameters => ''1 keep=0 seed=7 kept_bits=64 key_type=int8'')'),
	(47, 'CREATE TABLE elsewhere (start bigint, lane int, FOREIGN KEY (start, lane) REFERENCES s)'),
	(48, 'ALTER TABLE s RENAME TO other; CREATE VIEW s AS SELECT * FROM other'),
	(49, 'ALTER TABLE s RENAME TO other; CREATE MATERIALIZED VIEW s AS SELECT * FROM other'),
	(50, 'ALTER TABLE s SET UNLOGGED'),
	(51, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=64 key_type=text'')'),
	(52, 'ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params(''1 keep=0 seed=7 kept_bits=64 key_type=int8'')'),
	(53, 'TRUNCATE s; ALTER TABLE s ALTER slice SET NOT NULL'),
	(54, 'ALTER TABLE s ALTER slice TYPE timestamptz(0)');
DO $$
DECLARE
	o record;
	answer text;
BEGIN
	FOR o IN SELECT * FROM obstacle ORDER BY id LOOP
		BEGIN
			EXECUTE o.statement;
			answer := ask();
			RAISE EXCEPTION USING ERRCODE = 'RB000';
		EXCEPTION WHEN SQLSTATE 'RB000' THEN
			RAISE INFO '%: %', o.id, answer;
		END;
	END LOOP;
END
$$;
-- all of them are gone
SELECT ask();

--
-- Tables that pretend: whatever is in the rows, it does no harm
--
-- fail: a type with a cast of its owner
CREATE TYPE mine AS (t timestamptz);
CREATE FUNCTION mine(mine) RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'code of the owner runs'; END $$;
CREATE CAST (mine AS timestamptz) WITH FUNCTION mine(mine) AS IMPLICIT;
CREATE TABLE fake (start bigint, slice mine, lane int, hashes bytea NOT NULL
	DEFAULT _bloom_set_params('1 keep=0 seed=0 kept_bits=64 key_type=int8'), PRIMARY KEY (start, lane));
SELECT bloom_set_contains('fake', 5);
SELECT bloom_set_add_all('fake', ARRAY[5]);
SELECT bloom_set_info('fake');
SELECT bloom_set_compact('fake');
SELECT bloom_set_load('fake', 'SELECT 1');
SELECT bloom_set_remove('fake', 1);
SELECT bloom_set_filter('fake', 1000);
DROP TABLE fake;
DROP CAST (mine AS timestamptz);
DROP FUNCTION mine(mine);
DROP TYPE mine;

-- a domain is not its type
CREATE DOMAIN checked AS bytea CHECK (run(1));
CREATE TABLE fake (start bigint, slice timestamptz, lane int, hashes checked NOT NULL
	DEFAULT _bloom_set_params('1 keep=0 seed=0 kept_bits=64 key_type=int8'), PRIMARY KEY (start, lane));
SELECT bloom_set_contains('fake', 5);
DROP TABLE fake;
DROP DOMAIN checked;

-- (what rows can say is in set_ranges.sql)

-- the caller's own command may not change the table
SELECT ask();
-- fail
\set VERBOSITY terse
UPDATE s SET hashes = hashes WHERE bloom_set_add('s', 77) IS NOT NULL;
\set VERBOSITY default

--
-- Privileges are checked as for SELECT, INSERT and UPDATE
--
CREATE ROLE regress_bloom_set_user;
\set VERBOSITY terse
GRANT SELECT (start, slice, lane, hashes) ON s TO regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
SELECT bloom_set_contains('s', 1) AS by_columns;
-- fail
SELECT bloom_set_add('s', 1);
RESET ROLE;
GRANT INSERT ON s TO regress_bloom_set_user;
GRANT UPDATE (slice, lane, hashes) ON s TO regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
SELECT bloom_set_add('s', 1) AS seen, bloom_set_add('s', 100) AS new;
RESET ROLE;
REVOKE SELECT ON s FROM regress_bloom_set_user;
REVOKE SELECT (slice) ON s FROM regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
-- fail
SELECT bloom_set_contains('s', 1);
RESET ROLE;
\set VERBOSITY default
REVOKE ALL ON s FROM regress_bloom_set_user;
DROP ROLE regress_bloom_set_user;

-- to add to a set that forgets can delete as well, and so can to compact it
SELECT bloom_set_create('daily', 'int', keep => '1 day', seed => 1);
SELECT bloom_set_add('daily', 1, '2020-01-01') AS new;
CREATE ROLE regress_bloom_set_user;
\set VERBOSITY terse
GRANT SELECT, INSERT, UPDATE ON daily TO regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
-- fail
SELECT bloom_set_add('daily', 1);
SELECT bloom_set_compact('daily');
RESET ROLE;
-- fail: each of the others is needed, too
CREATE FUNCTION compact_without(privilege text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('REVOKE %s ON daily FROM regress_bloom_set_user', privilege);
	SET LOCAL ROLE regress_bloom_set_user;
	RETURN bloom_set_compact('daily');
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM;
END
$$;
GRANT DELETE ON daily TO regress_bloom_set_user;
SELECT privilege, compact_without(privilege) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege;
SELECT count(*) AS rows FROM daily;
SET ROLE regress_bloom_set_user;
SELECT bloom_set_compact('daily') AS moved;
RESET ROLE;
SELECT count(*) AS rows FROM daily;
DROP FUNCTION compact_without;
BEGIN READ ONLY;
-- fail
SELECT bloom_set_compact('daily');
COMMIT;
-- fail: deletes are published, and could not be told apart
SET client_min_messages = error;
CREATE PUBLICATION regress_bloom_deletes FOR TABLE daily WITH (publish = 'delete');
ALTER TABLE daily REPLICA IDENTITY NOTHING;
SELECT bloom_set_compact('daily');
SELECT bloom_set_add('daily', 1);
DROP PUBLICATION regress_bloom_deletes;
RESET client_min_messages;
\set VERBOSITY default
DROP TABLE daily;
DROP ROLE regress_bloom_set_user;

-- a copy of the primary key, as REINDEX CONCURRENTLY makes and can leave behind,
-- gets all entries
SELECT bloom_set_create('indexed', 'int', seed => 1);
SELECT cardinality(bloom_set_add_all('indexed', ARRAY(SELECT generate_series(1, 1000)))) AS added;
REINDEX INDEX CONCURRENTLY indexed_pkey;
CREATE UNIQUE INDEX indexed_copy ON indexed (start, lane);
SELECT cardinality(bloom_set_add_all('indexed', ARRAY(SELECT generate_series(1001, 3000)))) AS added;
SELECT count(*) FILTER (WHERE bloom_set_add('indexed', i)) AS added FROM generate_series(3001, 5000) AS i;
ALTER TABLE indexed DROP CONSTRAINT indexed_pkey, ADD PRIMARY KEY USING INDEX indexed_copy;
SELECT bloom_set_contains_all('indexed', ARRAY(SELECT generate_series(1, 5000))) AS none_denied;
SELECT bloom_set_add_all('indexed', ARRAY(SELECT generate_series(1, 5000))) AS none_new;
DROP TABLE indexed;

--
-- Names do not matter: a set is its OID
--
CREATE SCHEMA house;
ALTER TABLE s SET SCHEMA house;
CREATE TABLE remembered AS SELECT 'house.s'::regclass AS set;
SELECT bloom_set_add(set, 200) AS new FROM remembered;
ALTER SCHEMA house RENAME TO "old house";
CREATE SCHEMA house;
SELECT bloom_set_create('house.s', 'int', seed => 1);
-- the one that was meant before
SELECT set, bloom_set_add(set, 200) AS seen, bloom_set_add(set, 201) AS new FROM remembered;
SELECT bloom_set_contains('house.s', 200) AS not_there, bloom_set_contains('"old house".s', 201) AS there;
-- the extension's schema, with a name that is a format
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'bloomtype' \gset
ALTER SCHEMA :home RENAME TO "a%sb";
SET search_path = "a%sb";
SELECT bloom_set_add(set, 201) AS seen, bloom_set_contains(set, 201) AS there FROM remembered;
SELECT i.keys FROM remembered, bloom_set_info(set) AS i;
SELECT bloom_set_create('another', 'int');
SELECT bloom_set_add('another', 1) AS new;
ALTER SCHEMA "a%sb" RENAME TO :home;
RESET search_path;
SELECT bloom_set_add('another', 1) AS seen;
DROP TABLE another;

-- a set is made where its name says, whatever else has that name
CREATE TEMP TABLE temporary (i int);
SELECT bloom_set_create('public.temporary', 'int')::oid AS first, bloom_set_create('public.pg_class', 'int')::oid AS second \gset
SELECT 'public.temporary'::regclass = :first AS the_set, 'public.pg_class'::regclass = :second AS the_other_set;
SELECT obj_description('pg_temp.temporary'::regclass, 'pg_class') IS NULL AS no_comment,
	   obj_description('pg_catalog.pg_class'::regclass, 'pg_class') IS NULL AS no_comment_either,
	   obj_description('public.pg_class'::regclass, 'pg_class') AS comment;
DROP TABLE public.pg_class, public.temporary, pg_temp.temporary;
\set VERBOSITY terse
-- fail: it exists
SELECT bloom_set_create('remembered', 'int');
\set VERBOSITY default

-- an emptied set, in the transaction that filled it
BEGIN;
SELECT bloom_set_create('twice', 'int', seed => 1);
SELECT count(bloom_set_add('twice', i)) FROM generate_series(1, 100) AS i;
SAVEPOINT before;
TRUNCATE twice;
SELECT count(*) FILTER (WHERE bloom_set_add('twice', i)) AS new_again FROM generate_series(1, 100) AS i;
ROLLBACK TO before;
SELECT count(*) FILTER (WHERE bloom_set_add('twice', i)) AS new FROM generate_series(51, 150) AS i;
ROLLBACK TO before;
SELECT count(*) FILTER (WHERE bloom_set_add('twice', i)) AS new_once_more FROM generate_series(51, 150) AS i;
TRUNCATE twice;
SELECT count(*) FILTER (WHERE bloom_set_add('twice', i)) AS new_again FROM generate_series(1, 100) AS i;
COMMIT;
DROP TABLE twice;

-- errors that say what is needed: privileges, and shorter names; nothing is made
CREATE SCHEMA locked;
SELECT bloom_set_create('locked.keeps', 'int'), bloom_set_create('locked.forgets', 'int', keep => '1 day');
CREATE ROLE regress_bloom_set_user;
GRANT USAGE ON SCHEMA locked TO regress_bloom_set_user;
GRANT SELECT, INSERT ON locked.keeps TO regress_bloom_set_user;
GRANT SELECT, INSERT, UPDATE ON locked.forgets TO regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
-- fail
SELECT bloom_set_add('locked.keeps', 1);
SELECT bloom_set_add_all('locked.forgets', ARRAY[1]);
SELECT bloom_set_create('locked.mine', 'int');
RESET ROLE;
REVOKE SELECT ON locked.keeps FROM regress_bloom_set_user;
SET ROLE regress_bloom_set_user;
-- fail: to test
SELECT bloom_set_contains('locked.keeps', 1);
RESET ROLE;
-- fail: a name of 64 bytes, of a set and of a schema, quoted or not
SELECT bloom_set_create('locked.' || repeat('x', 64), 'int');
SELECT bloom_set_create('"' || repeat('""', 64) || '"', 'int');
SELECT bloom_set_create(repeat('x', 64) || '.mine', 'int');
SELECT bloom_set_create('locked.' || repeat('x', 63), 'int'), bloom_set_create('locked."' || repeat('""', 63) || '"', 'int');
SELECT relname FROM pg_class WHERE relnamespace = 'locked'::regnamespace AND relkind = 'r' ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA locked CASCADE;
DROP ROLE regress_bloom_set_user;
DROP SCHEMA house, "old house" CASCADE;
DROP TABLE remembered;
DROP FUNCTION ask(), run(int), run(), other(bigint), more(text, text) CASCADE;
