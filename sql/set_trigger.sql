--
-- Stored sets: dedup where rows arrive
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

CREATE SCHEMA shop;
SELECT bloom_set_create('shop.seen', 'text', seed => 1);
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
SELECT bloom_set_create('shop.daily', 'int', keep => '1 day', seed => 1);
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
DROP TABLE seen;
DROP FUNCTION try;
RESET client_min_messages;

--
-- The set of a trigger is in the schema of the table for which the trigger was
-- made, whatever the schema of the partition that a row goes to, or comes to
--
CREATE SCHEMA here;
CREATE SCHEMA there;
SELECT bloom_set_create('here.seen', 'bigint', seed => 1);
CREATE TABLE here.event (id bigint) PARTITION BY RANGE (id);
CREATE TABLE there.event_0 PARTITION OF here.event FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (id);
CREATE TABLE there.event_00 PARTITION OF there.event_0 FOR VALUES FROM (0) TO (10);
CREATE TRIGGER dedup BEFORE INSERT ON here.event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
INSERT INTO here.event VALUES (1), (2), (1) RETURNING *;
INSERT INTO there.event_00 VALUES (2), (3) RETURNING *;
-- a set of that name beside the partition is another
SELECT bloom_set_create('there.seen', 'bigint', seed => 1);
INSERT INTO there.event_0 VALUES (3), (4) RETURNING *;
SELECT (SELECT keys FROM bloom_set_info('here.seen')) AS here, (SELECT keys FROM bloom_set_info('there.seen')) AS there;
-- a partition that comes later; and one that has gone keeps its own trigger, if any
CREATE TABLE there.event_1 (id bigint);
ALTER TABLE here.event ATTACH PARTITION there.event_1 FOR VALUES FROM (100) TO (200);
INSERT INTO here.event VALUES (100), (100) RETURNING *;
ALTER TABLE here.event DETACH PARTITION there.event_1;
INSERT INTO there.event_1 VALUES (100) RETURNING *;
-- a trigger of the partition itself: its set is beside the partition
CREATE TRIGGER own BEFORE INSERT ON there.event_1 FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
INSERT INTO there.event_1 VALUES (100), (101) RETURNING *;
SELECT (SELECT keys FROM bloom_set_info('here.seen')) AS here, (SELECT keys FROM bloom_set_info('there.seen')) AS there;
-- a chunk, as extensions make them: a child with a trigger of the same name
CREATE TABLE here.measure (id bigint);
CREATE TABLE there.chunk () INHERITS (here.measure);
CREATE TRIGGER dedup BEFORE INSERT ON here.measure FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
CREATE TRIGGER dedup BEFORE INSERT ON there.chunk FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
INSERT INTO there.chunk VALUES (1), (1000) RETURNING *;
SELECT (SELECT keys FROM bloom_set_info('here.seen')) AS here, (SELECT keys FROM bloom_set_info('there.seen')) AS there;
-- fail: no set of the name in the schema of the parent
DROP TABLE here.seen;
INSERT INTO there.event_00 VALUES (5);
SET client_min_messages = warning;
DROP SCHEMA here, there CASCADE;
