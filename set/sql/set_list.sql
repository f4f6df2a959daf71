--
-- All sets of the database
--
SELECT * FROM bloom_sets();

-- What a set is, and what it is for: its table has a comment, which is anybody's.
SELECT bloom_set_create('received', 'text', keep => '3 months'), bloom_set_create('ids', 'bigint', unlogged => true);
CREATE SCHEMA regress_bloom_apart;
SELECT bloom_set_create('regress_bloom_apart."My Set"', 'inet', keep => '01:02:03');
CREATE TEMPORARY TABLE a_table (i int DEFAULT 1);
SET search_path = pg_temp, public;
SELECT bloom_set_create('passing', 'date');
RESET search_path;
COMMENT ON TABLE ids IS 'payments that were made';
SELECT set, key_type, keep, bytes >= pg_relation_size(set) AS bytes, comment, problem FROM bloom_sets() ORDER BY set::text COLLATE "C";
SELECT obj_description('received_pkey'::regclass, 'pg_class');

-- It follows the table.
ALTER TABLE ids RENAME TO payments;
ALTER TABLE payments SET SCHEMA regress_bloom_apart;
DROP TABLE received, passing;
SELECT set, key_type, keep, comment, problem FROM bloom_sets() ORDER BY set::text COLLATE "C";
BEGIN;
DROP TABLE regress_bloom_apart."My Set";
SELECT set FROM bloom_sets();
ROLLBACK;
-- whoever may not read a set sees that it is there, as in the catalog
CREATE ROLE regress_bloom_reader;
SET ROLE regress_bloom_reader;
SELECT set, key_type, problem FROM bloom_sets() ORDER BY set::text COLLATE "C";
RESET ROLE;
DROP ROLE regress_bloom_reader;
-- as a row among others, and with what bloom_set_info reads
SELECT bloom_set_add_all('regress_bloom_apart.payments', '{1,2,3}'::bigint[]);
SELECT s.set, i.keys, i.bytes = s.bytes AS same_bytes FROM bloom_sets() AS s, bloom_set_info(s.set) AS i ORDER BY i.keys;

-- The set behind unique keys says whose they are.
CREATE TABLE event (day date, id bigint) PARTITION BY RANGE (day);
CREATE TABLE event_1 PARTITION OF event DEFAULT;
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id') IS NOT NULL AS made;
SELECT set, key_type, comment, problem FROM bloom_sets() WHERE set::text LIKE 'event%';
SELECT bloom_unique_drop('event', 'id');
DROP TABLE event;
SELECT set FROM bloom_sets() WHERE set::text LIKE 'event%';

-- A set whose columns were changed: the error says how to get its keys back.
ALTER TABLE regress_bloom_apart.payments ADD COLUMN note text;
SELECT bloom_set_contains('regress_bloom_apart.payments', 1);
ALTER TABLE regress_bloom_apart.payments DROP COLUMN note;
SELECT bloom_set_contains('regress_bloom_apart.payments', 1);
CREATE TABLE copy (LIKE regress_bloom_apart.payments INCLUDING ALL);
INSERT INTO copy SELECT * FROM regress_bloom_apart.payments;
SELECT bloom_set_contains('copy', 1) AS has_1, bloom_set_contains('copy', 4) AS has_4, bloom_set_add('copy', 4) AS adds_4;
DROP TABLE regress_bloom_apart.payments;
-- no cure for a table that never was one
CREATE TABLE five (a int, b int, c int, hashes bytea, e int);
SELECT bloom_set_contains('five', 1);
ALTER TABLE five ALTER COLUMN hashes SET DEFAULT _bloom_set_params('1');
SELECT bloom_set_contains('five', 1);
DROP TABLE five;

-- What is nearly a set is listed with what is wrong, and stops nothing.
CREATE FUNCTION regress_bloom_apart._bloom_set_params(int) RETURNS bytea LANGUAGE sql AS $$ SELECT 1 / 0; SELECT '\x'::bytea $$;
CREATE FUNCTION _bloom_set_params() RETURNS bytea LANGUAGE sql AS $$ SELECT '\x'::bytea $$;
CREATE TABLE other_function (hashes bytea DEFAULT regress_bloom_apart._bloom_set_params(1), more bytea DEFAULT _bloom_set_params());
CREATE TABLE some_column (hashes bytea DEFAULT _bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8'));
CREATE TABLE two_columns (a bytea DEFAULT _bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8'), b bytea DEFAULT _bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8'));
CREATE TABLE no_constants (LIKE copy INCLUDING ALL);
ALTER TABLE no_constants ALTER COLUMN hashes SET DEFAULT _bloom_set_params(md5(random()::text));
CREATE TABLE within (LIKE copy INCLUDING ALL);
ALTER TABLE within ALTER COLUMN hashes SET DEFAULT coalesce(_bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8'), '\x');
CREATE VIEW a_view AS SELECT * FROM some_column;
ALTER VIEW a_view ALTER COLUMN hashes SET DEFAULT _bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8');
CREATE TABLE parts (LIKE copy INCLUDING DEFAULTS) PARTITION BY RANGE (start);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE child () INHERITS (some_column);
CREATE TABLE no_index (LIKE copy INCLUDING DEFAULTS INCLUDING STORAGE);
CREATE TABLE more_index (LIKE copy INCLUDING ALL);
CREATE INDEX ON more_index (length(hashes));
CREATE TABLE guarded (LIKE copy INCLUDING ALL);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
INSERT INTO copy VALUES (5, NULL, 0, '\x00ff');
SELECT set, key_type, bytes IS NOT NULL AS has_bytes, problem FROM bloom_sets() ORDER BY set::text COLLATE "C";
SELECT count(*) AS sets FROM bloom_sets() WHERE problem IS NULL;
-- by whoever lists them, and no lock is kept
CREATE ROLE regress_bloom_nobody;
BEGIN;
SET LOCAL ROLE regress_bloom_nobody;
SELECT count(*) > 10 AS listed FROM bloom_sets();
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation >= 16384;
COMMIT;
DROP ROLE regress_bloom_nobody;

DROP TABLE copy, other_function, some_column, two_columns, no_constants, within, parts, child, no_index, more_index, guarded CASCADE;
DROP FUNCTION _bloom_set_params();
DROP SCHEMA regress_bloom_apart CASCADE;
SELECT * FROM bloom_sets();
