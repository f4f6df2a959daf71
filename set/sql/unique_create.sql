--
-- bloom_unique_create: which tables, columns and rows; its arguments
--
\set VERBOSITY default

CREATE TABLE log (id bigint, p int NOT NULL, note text) PARTITION BY LIST (p);
CREATE TABLE log_0 PARTITION OF log FOR VALUES IN (0);
-- the columns of a partition can stand in another order
CREATE TABLE log_1 (note text, gone int, p int NOT NULL, id bigint);
ALTER TABLE log_1 DROP gone;
ALTER TABLE log ATTACH PARTITION log_1 FOR VALUES IN (1);
CREATE INDEX ON log (id);

-- fail: arguments
SELECT bloom_unique_create(NULL, 'id');
SELECT bloom_unique_create('log', NULL);
SELECT bloom_unique_create('log', '');
SELECT bloom_unique_create('log', 'nosuch');
SELECT bloom_unique_create('log', 'id, id');
SELECT bloom_unique_create('log', 'tableoid');
SELECT bloom_unique_create('log', 'lower(note)');
SELECT bloom_unique_create('log', 'id, (note || note)');
SELECT bloom_unique_create('log', 'id', name => 'log_0');
SELECT bloom_unique_create('log', 'id', name => '');
SELECT bloom_unique_create('log', 'id', validate => NULL);
SELECT bloom_unique_create(0, 'id');
SELECT bloom_unique_rebuild('log', 'id');
SELECT bloom_unique_drop('log', 'id');
CALL bloom_unique_validate('log', 'id');

-- fail: tables
SELECT bloom_unique_create('log_0', 'id');
SELECT bloom_unique_create('log_id_idx', 'id');
CREATE TABLE parent (id bigint);
CREATE TABLE child () INHERITS (parent);
SELECT bloom_unique_create('parent', 'id');
CREATE VIEW log_view AS SELECT * FROM log;
SELECT bloom_unique_create('log_view', 'id');
CREATE TABLE lone (id bigint);
SELECT bloom_unique_create('lone', 'id');
DROP TABLE lone;

-- fail: columns whose values can change without being written
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TYPE pair AS (a int, b mood);
CREATE DOMAIN moods AS mood[];
CREATE TABLE other (m mood, ms moods, pair pair, id int, double int GENERATED ALWAYS AS (id * 2) STORED)
	PARTITION BY LIST (id);
CREATE TABLE other_1 PARTITION OF other DEFAULT;
SELECT bloom_unique_create('other', 'm');
SELECT bloom_unique_create('other', 'ms');
SELECT bloom_unique_create('other', 'pair');
-- what an expression would be
CREATE INDEX ON other (double);
SELECT bloom_unique_create('other', 'double');
INSERT INTO other (id) VALUES (1);
INSERT INTO other (id) VALUES (1);
DROP TABLE other, other_double_unique;
DROP DOMAIN moods;
DROP TYPE pair, mood;

-- an index serves only if it compares as the type does, and has all rows
CREATE TABLE word (w text COLLATE "C", p int) PARTITION BY LIST (p);
CREATE TABLE word_0 PARTITION OF word FOR VALUES IN (0);
CREATE INDEX ON word (w COLLATE "POSIX");
CREATE INDEX ON word USING hash (w);
CREATE INDEX ON word (p, w);
CREATE INDEX ON word (w) WHERE p = 0;
CREATE INDEX ON word (lower(w));
SELECT bloom_unique_create('word', 'w');
CREATE INDEX ON word (w DESC NULLS LAST);
SELECT bloom_unique_create('word', 'w');
INSERT INTO word SELECT i::text, 0 FROM generate_series(1, 100) AS i;
-- fail: many keys are looked up, some of them with a row
INSERT INTO word SELECT i::text, 0 FROM generate_series(70, 170) AS i;
DROP TABLE word, word_w_unique;
-- two that agree on what is equal, and not on the order
CREATE FUNCTION backwards(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($2, $1)';
CREATE OPERATOR CLASS backwards_ops FOR TYPE int USING btree AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 backwards(int, int);
CREATE TABLE item (id int, p int) PARTITION BY LIST (p);
CREATE TABLE item_0 PARTITION OF item FOR VALUES IN (0);
CREATE TABLE item_1 PARTITION OF item FOR VALUES IN (1);
CREATE INDEX ON item_0 (id);
CREATE INDEX ON item_1 (id backwards_ops);
SELECT bloom_unique_create('item', 'id');
INSERT INTO item SELECT i, 0 FROM generate_series(1, 100) AS i;
DELETE FROM item;
INSERT INTO item VALUES (30, 0), (60, 1);
-- fail
INSERT INTO item SELECT i, 0 FROM generate_series(50, 100) AS i;
INSERT INTO item SELECT i, 1 FROM generate_series(1, 50) AS i;
DROP TABLE item, item_id_unique;
DROP OPERATOR FAMILY backwards_ops USING btree;
DROP FUNCTION backwards(int, int);

-- rows that are there
INSERT INTO log SELECT i, i % 2, 'first' FROM generate_series(1, 1000) AS i;
INSERT INTO log SELECT i, 0, 'second' FROM generate_series(500, 2000, 500) AS i;
SELECT bloom_unique_create('log', 'id');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'log'::regclass;
SELECT to_regclass('log_id_unique');
DELETE FROM log WHERE note = 'second' AND id <= 1000;
BEGIN;
INSERT INTO log VALUES (3000, 1, 'of this transaction');
SELECT bloom_unique_create('log', 'id');
COMMIT;
INSERT INTO log VALUES (3000, 0);
SELECT keys FROM bloom_set_info('log_id_unique');
-- fail
SELECT bloom_unique_create('log', 'id');
-- the name that an index would have is taken
SELECT bloom_unique_drop('log', 'id');
CREATE TABLE log_id_unique ();
SELECT bloom_unique_create('log', 'id');
INSERT INTO log VALUES (3000, 0);
SELECT bloom_unique_drop('log', 'id');
DROP TABLE log_id_unique;

-- without a look at the rows, which are checked later
INSERT INTO log VALUES (1, 1, 'second');
SELECT bloom_unique_create('log', 'id', validate => false);
INSERT INTO log VALUES (2, 1, 'not known yet');
INSERT INTO log VALUES (2, 0, 'known');
CALL bloom_unique_validate('log', 'id');
DELETE FROM log WHERE note IN ('second', 'not known yet');
CALL bloom_unique_validate('log', 'id');
INSERT INTO log VALUES (3, 1);
-- within a transaction, it does not commit
BEGIN;
CALL bloom_unique_validate('log', 'id');
ROLLBACK;
SELECT bloom_unique_drop('log', 'id');

-- many keys at once, in one pass over an index and by searches
CREATE INDEX ON log (note, id);
SELECT bloom_unique_create('log', 'id, note');
-- fail: the same columns
SELECT bloom_unique_create('log', 'note, id');
INSERT INTO log SELECT i, 1, 'n' || i FROM generate_series(1, 5000) AS i;
INSERT INTO log SELECT i, 0, 'n' || i FROM generate_series(10000, 5000, -1) AS i;
INSERT INTO log SELECT i, 0, 'n' || i FROM generate_series(10000, 5001, -1) AS i;
INSERT INTO log SELECT i, 0, CASE WHEN i <> 4 THEN 'n' END FROM generate_series(1, 50) AS i;
INSERT INTO log VALUES (4, 1, NULL), (4, 1, NULL);
SELECT count(*), count(DISTINCT (id, note)) FROM log WHERE note LIKE 'n%';
SELECT bloom_unique_drop('log', 'id, note');

-- repeats of a few thousand and of some dozens, up and down and mixed: each is found
TRUNCATE log;
SELECT bloom_unique_create('log', 'id');
INSERT INTO log SELECT i, 1 FROM generate_series(1, 5000) AS i;
CREATE FUNCTION pg_temp.repeats(times int, step int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log SELECT k, 0
	FROM (SELECT CASE step WHEN -1 THEN times + 1 - i ELSE i * step % 3001 END AS k FROM generate_series(1, times) AS i) AS r WHERE k > 0;
	RETURN true;
EXCEPTION WHEN unique_violation THEN
	RETURN false;
END
$$;
SELECT times, step, let_pass FROM (VALUES (3000), (500), (50), (20)) AS t (times), (VALUES (1), (-1), (7)) AS s (step), pg_temp.repeats(times, step) AS let_pass ORDER BY 1, 2;

-- the owner alone makes, rebuilds and drops it
TRUNCATE log;
SELECT bloom_unique_rebuild('log', 'id');
CREATE ROLE regress_bloom_writer;
GRANT SELECT (note), INSERT ON log TO regress_bloom_writer;
SET ROLE regress_bloom_writer;
SELECT bloom_unique_create('log', 'note');
SELECT bloom_unique_rebuild('log', 'id');
SELECT bloom_unique_drop('log', 'id');
CALL bloom_unique_validate('log', 'id');
-- who may insert needs no privilege on the set, and is not shown what it may not see
INSERT INTO log VALUES (20000, 1);
INSERT INTO log VALUES (20000, 0);
RESET ROLE;
GRANT SELECT ON log TO regress_bloom_writer;
SET ROLE regress_bloom_writer;
INSERT INTO log VALUES (20000, 0);
RESET ROLE;
-- a new owner of the table is that of the set
ALTER TABLE log OWNER TO regress_bloom_writer;
SELECT relowner::regrole FROM pg_class WHERE relname = 'log_id_unique';
INSERT INTO log VALUES (20001, 1);
INSERT INTO log VALUES (20001, 0);

-- names that are taken, in a partition
ALTER TABLE log_1 ADD CONSTRAINT taken CHECK (id > 0);
CREATE TRIGGER used BEFORE UPDATE ON log_1 FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT bloom_unique_drop('log', 'id');
SELECT bloom_unique_create('log', 'id', name => 'taken');
SELECT bloom_unique_create('log', 'id', name => 'used');
ALTER TABLE log_1 ADD CONSTRAINT log_id_unique CHECK (id > 0);
SELECT bloom_unique_create('log', 'id');
SELECT bloom_unique_drop('log', 'id');
ALTER TABLE log_1 DROP CONSTRAINT log_id_unique, DROP CONSTRAINT taken;
DROP TRIGGER used ON log_1;
SELECT bloom_unique_create('log', 'id');

-- a set that somebody has changed
ALTER TABLE log_id_unique ADD COLUMN note text;
ALTER TABLE log_id_unique DROP COLUMN note;
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_claim('log', 'id', 20002::bigint);
SELECT bloom_unique_rebuild('log', 'id');
SELECT bloom_unique_drop('log', 'id');
DROP TABLE log_id_unique;
SELECT bloom_unique_create('log', 'id');
CREATE INDEX more ON log_id_unique (lane);
INSERT INTO log VALUES (20002, 1);
DROP INDEX more;
CREATE TRIGGER more BEFORE INSERT ON log_id_unique FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
INSERT INTO log VALUES (20002, 1);
DROP TRIGGER more ON log_id_unique;
ALTER TABLE log_id_unique ENABLE ROW LEVEL SECURITY;
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_rebuild('log', 'id');
ALTER TABLE log_id_unique DISABLE ROW LEVEL SECURITY;
DROP TRIGGER log_id_unique_belongs ON log_id_unique;
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_rebuild('log', 'id');
INSERT INTO log VALUES (20001, 0);
-- fail: a crash would empty it
ALTER TABLE log_id_unique SET UNLOGGED;
INSERT INTO log VALUES (20002, 1);
INSERT INTO log_1 (id, p) VALUES (20002, 1);
SELECT bloom_unique_claim('log', 'id', 20002::bigint);
SELECT bloom_unique_rebuild('log', 'id');
SELECT problem FROM bloom_sets() WHERE set = 'log_id_unique'::regclass;
SELECT bloom_set_contains('log_id_unique', 1::bigint);
ALTER TABLE log_id_unique SET LOGGED;
INSERT INTO log VALUES (20001, 0);
-- triggers that are of no key: of a partition, and in place of one that is
CREATE TRIGGER more BEFORE INSERT OR UPDATE ON log_1 FOR EACH STATEMENT EXECUTE FUNCTION bloom_unique('5');
INSERT INTO log_1 (id, p) VALUES (20002, 1);
DROP TRIGGER more ON log_1;
BEGIN;
CREATE OR REPLACE TRIGGER log_id_unique_open BEFORE INSERT OR UPDATE ON log FOR EACH STATEMENT EXECUTE FUNCTION bloom_unique('5');
SAVEPOINT s;
INSERT INTO log VALUES (20002, 1);
ROLLBACK TO s;
DROP TRIGGER log_id_unique_open ON log;
INSERT INTO log VALUES (20002, 1), (20002, 0);
ROLLBACK;
-- the constraint is dropped: what is left goes
DROP TRIGGER log_id_unique ON log;
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_drop('log', 'id');
SELECT to_regclass('log_id_unique');
SELECT bloom_unique_create('log', 'id');
-- what belongs to others stays
ALTER TABLE log_id_unique OWNER TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO regress_bloom_writer;
SET ROLE regress_bloom_writer;
SELECT bloom_unique_drop('log', 'id');
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM regress_bloom_writer;
DROP TABLE log_id_unique;
SELECT bloom_unique_create('log', 'id');
-- the set, and then a column, are dropped with CASCADE: what is left goes
DROP TABLE log_id_unique CASCADE;
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_rebuild('log', 'id');
SELECT bloom_unique_drop('log', 'id');
INSERT INTO log VALUES (20002, 1);
SELECT bloom_unique_create('log', 'id');
DROP TABLE log_id_unique CASCADE;
SELECT bloom_unique_create('log', 'id');
INSERT INTO log_0 VALUES (20002, 0);
SELECT bloom_unique_drop('log', 'id');
SELECT bloom_unique_create('log', 'id');
INSERT INTO log VALUES (20002, 0);
-- without the constraint, nothing is checked
DROP TRIGGER log_id_unique ON log;
SELECT bloom_unique_rebuild('log', 'id');
DROP VIEW log_view;
ALTER TABLE log DROP COLUMN id CASCADE;
SELECT bloom_unique_drop('log', 'id');
SELECT bloom_unique_drop('log', 'id');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'log'::regclass;
DROP TABLE log;
DROP TABLE child, parent;
DROP ROLE regress_bloom_writer;
