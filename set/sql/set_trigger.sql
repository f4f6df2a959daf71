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
SELECT try('') AS none, try('''seen''') AS one, try('''seen'', ''id'', ''sent'', ''more''') AS no_column;
SELECT try('''seen'', ''id'', ''body'', ''sent''') AS two_columns_of_a_set_of_one;
SELECT try('''nowhere'', ''id''') AS no_set, try('''nowhere.seen'', ''id''') AS no_schema, try('''event'', ''id''') AS no_set_but_a_table;
SELECT try('''seen'', ''nothing''') AS no_key, try('''seen'', ''id'', ''nothing''') AS no_time, try('''seen'', ''id'', ''body''') AS a_text;
SELECT try('''seen'', ''id''', 'AFTER INSERT') AS after_insert, try('''seen'', ''id''', 'BEFORE UPDATE') AS before_update,
	   try('''seen'', ''id''', 'BEFORE INSERT OR UPDATE') AS with_update;
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
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON here.event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id');
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
-- fail: no set of the name in the schema of the parent
DROP TABLE here.seen;
INSERT INTO there.event_00 VALUES (5);
SET client_min_messages = warning;
DROP SCHEMA here, there CASCADE;
RESET client_min_messages;

--
-- Keys of several columns, and a time behind them
--
CREATE TYPE visit AS (tenant int, id text);
CREATE TYPE timed AS (id text, sent timestamptz);
SELECT bloom_set_create('visits', 'visit', seed => 1), bloom_set_create('timed_visits', 'visit', keep => '1 day', seed => 1), bloom_set_create('times', 'timed', seed => 1);
CREATE TABLE page (tenant int, id text, sent timestamptz);
CREATE FUNCTION arrive(arguments text) RETURNS SETOF page LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE TRIGGER dedup BEFORE INSERT ON page FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup(%s)', arguments);
	RETURN QUERY EXECUTE $q$INSERT INTO page VALUES (1, 'a', '2026-01-01Z'), (1, 'b', '2026-01-01Z'), (2, 'a', '2026-01-01Z'), (1, 'a', '2026-01-01Z'), (1, 'a', '2026-01-03Z'),
		(NULL, 'a', '2026-01-03Z'), (NULL, 'a', '2026-01-03Z') RETURNING *$q$;
END
$$;
SELECT * FROM arrive($$'visits', 'tenant', 'id'$$);
SELECT bloom_set_contains('visits', ROW(1, 'a')) AS there, bloom_set_contains('visits', ROW(3, 'a')) AS not_there;
SELECT * FROM arrive($$'timed_visits', 'tenant', 'id', 'sent'$$);
SELECT * FROM arrive($$'times', 'id', 'sent'$$);
-- fail
SELECT * FROM arrive($$'visits', 'id', 'tenant'$$);
SELECT * FROM arrive($$'visits', 'tenant'$$);
SELECT * FROM arrive($$'visits', 'tenant', 'id', 'tenant'$$);
-- rows with a null among the columns come in, also when they move, as below a unique index
SELECT bloom_set_create('pairs', 'visit', seed => 1);
CREATE TABLE pair (part int, tenant int, id text) PARTITION BY LIST (part);
CREATE TABLE pair_1 PARTITION OF pair FOR VALUES IN (1);
CREATE TABLE pair_2 PARTITION OF pair FOR VALUES IN (2);
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON pair FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('pairs', 'tenant', 'id');
INSERT INTO pair VALUES (1, 1, 'a'), (1, 1, NULL), (1, 1, NULL), (1, NULL, 'a'), (1, NULL, NULL), (1, 1, 'a'), (1, NULL, NULL) RETURNING *;
UPDATE pair SET part = 2;
SELECT count(*) FROM pair_2;
UPDATE pair SET part = 1, id = 'b' WHERE tenant IS NULL;
SELECT part, tenant, id FROM pair ORDER BY part, tenant, id;
-- fail: with a key that was seen
UPDATE pair SET part = 1, id = 'a' WHERE tenant = 1 AND id IS NULL;
SELECT keys FROM bloom_set_info('pairs');
DROP FUNCTION arrive;
DROP TABLE page, visits, timed_visits, times, pair, pairs;
DROP TYPE visit, timed;

--
-- Rows that move to another partition stay
--
SELECT bloom_set_create('moved', 'int', seed => 1);
CREATE TABLE item (part int, id int, body text) PARTITION BY LIST (part);
CREATE TABLE item_1 PARTITION OF item FOR VALUES IN (1);
CREATE TABLE item_2 PARTITION OF item FOR VALUES IN (2) PARTITION BY LIST (id);
CREATE TABLE item_2_rest PARTITION OF item_2 DEFAULT;
CREATE TRIGGER dedup BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('moved', 'id');
-- fail: they would be lost
INSERT INTO item VALUES (1, 1, 'a');
CREATE OR REPLACE TRIGGER dedup BEFORE INSERT OR DELETE ON public.item FOR EACH ROW EXECUTE FUNCTION public.bloom_set_dedup('moved', 'id');
INSERT INTO item SELECT 1, i, 'a' FROM generate_series(1, 10) AS i;
INSERT INTO item SELECT 1, i, 'again' FROM generate_series(1, 12) AS i RETURNING *;
UPDATE item SET part = 2 WHERE id <= 5;
SELECT tableoid::regclass, count(*), array_agg(id ORDER BY id) AS ids FROM item GROUP BY 1 ORDER BY 1;
UPDATE item SET part = 3 - part;
SELECT tableoid::regclass, count(*) FROM item GROUP BY 1 ORDER BY 1;
-- with another key: new, or seen
UPDATE item SET part = 3 - part, id = 100 WHERE id = 1;
UPDATE item SET part = 3 - part, id = 2 WHERE id = 3;
INSERT INTO item VALUES (1, NULL, 'null');
UPDATE item SET part = 2, id = 4 WHERE id IS NULL;
UPDATE item SET part = 2, id = 101 WHERE id IS NULL;
SELECT count(*), count(id) FROM item;
-- rows without a key come back, and a repeat in the same statement is dropped
INSERT INTO item VALUES (1, NULL, 'null 1'), (1, NULL, 'null 2');
MERGE INTO item USING (VALUES ('null 1', 1), ('no such', 2), ('null 2', 3)) AS v (b, k) ON body = b WHEN MATCHED THEN UPDATE SET part = 2 WHEN NOT MATCHED THEN INSERT VALUES (1, k, 'merged');
WITH moved AS (UPDATE item SET part = 1 WHERE id IS NULL RETURNING body), again AS (INSERT INTO item VALUES (1, 2, 'with') RETURNING *) SELECT (SELECT count(*) FROM again) AS repeats, body FROM moved ORDER BY body;
-- fail: one has not
WITH gone AS (DELETE FROM item WHERE id IS NULL RETURNING *) INSERT INTO item SELECT 1, nullif(v, 0), 'with' FROM (SELECT count(*) FROM gone) AS n, (VALUES (0), (2)) AS v (v);
DELETE FROM item WHERE id IS NULL;
-- a key that was deleted stays seen, for all that comes later
DELETE FROM item WHERE id = 4;
INSERT INTO item VALUES (1, 4, 'again') RETURNING *;
-- MERGE, WITH, functions, cascades
MERGE INTO item USING (VALUES (5), (1000)) AS v (k) ON id = k WHEN MATCHED THEN UPDATE SET part = 3 - part WHEN NOT MATCHED THEN INSERT VALUES (1, k, 'merged');
SELECT count(*), count(*) FILTER (WHERE id IN (5, 1000)) AS both FROM item;
WITH gone AS (DELETE FROM item WHERE id IN (5, 6) RETURNING *) INSERT INTO item SELECT 3 - part, id, 'with' FROM gone;
SELECT count(*) FROM item WHERE id IN (5, 6);
CREATE FUNCTION move(which int) RETURNS bigint LANGUAGE sql AS 'UPDATE item SET part = 3 - part WHERE id = which; SELECT count(*) FROM item WHERE id = which';
SELECT move(i) FROM generate_series(5, 8) AS i;
CREATE TABLE owner (part int PRIMARY KEY);
INSERT INTO owner VALUES (1), (2);
ALTER TABLE item ADD FOREIGN KEY (part) REFERENCES owner ON UPDATE CASCADE;
CREATE TABLE item_3 PARTITION OF item FOR VALUES IN (3);
SELECT count(*) FROM item;
UPDATE owner SET part = 3 WHERE part = 1;
SELECT count(*), count(*) FILTER (WHERE part = 3) > 0 AS moved FROM item;
-- a trigger that inserts meanwhile
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 THEN
		INSERT INTO item VALUES (2, new.id, 'meddled'), (2, 5000 + new.id, 'meddled');
		UPDATE item SET part = 5 - part WHERE id = 100;
	END IF;
	RETURN new;
END
$$;
CREATE TRIGGER a_meddler BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION meddle();
UPDATE item SET part = 5 - part WHERE id IN (7, 8);
SELECT count(*) FILTER (WHERE body = 'a') AS were_there, count(*) FILTER (WHERE body = 'meddled') AS new, count(*) FILTER (WHERE id = 100) AS moved_twice FROM item WHERE id IN (7, 8, 5007, 5008, 100);
-- rows that are deleted, and inserted in another order: an error, or they stay
WITH gone AS (DELETE FROM item WHERE id IN (10, 11, 12) RETURNING *) INSERT INTO item SELECT 5 - part, id, body FROM gone ORDER BY id DESC;
WITH gone AS (DELETE FROM item WHERE id = 10 RETURNING *), more AS (INSERT INTO item VALUES (2, 7000, 'new')) INSERT INTO item SELECT 5 - part, id, 'came back' FROM gone;
SELECT id, body FROM item WHERE id IN (10, 11, 12, 7000) ORDER BY id;
-- fail: a repeat, but not known to be one
MERGE INTO item USING (VALUES (10), (11), (4)) AS v (k) ON id = k WHEN MATCHED AND k = 11 THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (2, k, 'merged');
SELECT id, body FROM item WHERE id IN (4, 10, 11) ORDER BY id;
-- whoever deletes needs no privileges on the set
CREATE ROLE regress_bloom_deleter;
GRANT SELECT, DELETE ON item TO regress_bloom_deleter;
SET ROLE regress_bloom_deleter;
DELETE FROM item WHERE id = 9;
RESET ROLE;
DROP OWNED BY regress_bloom_deleter;
DROP ROLE regress_bloom_deleter;
-- fail: disabled for a partition, from which a row moves
DROP TRIGGER a_meddler ON item;
ALTER TABLE item DROP CONSTRAINT item_part_fkey;
INSERT INTO item VALUES (1, 20, 'a'), (1, 21, 'a');
ALTER TABLE item_1 DISABLE TRIGGER dedup;
UPDATE item SET part = 2 WHERE id = 20;
UPDATE item SET part = 2, id = 21 WHERE id = 20;
ALTER TABLE item_1 ENABLE REPLICA TRIGGER dedup;
UPDATE item SET part = 2 WHERE id = 20;
WITH gone AS (DELETE FROM item_1 WHERE id = 20 RETURNING *) INSERT INTO item SELECT 2, id, body FROM gone;
ALTER TABLE item_1 DISABLE TRIGGER dedup;
-- ... but rows that do not come from there are added, or dropped
INSERT INTO item VALUES (2, 20, 'again'), (2, 22, 'new') RETURNING id;
UPDATE item SET part = 1 WHERE id = 22;
UPDATE item SET part = 2, id = 23 WHERE id = 20;
SELECT part, id FROM item WHERE id BETWEEN 20 AND 23 ORDER BY id;
ALTER TABLE item_1 ENABLE ALWAYS TRIGGER dedup;
UPDATE item SET part = 2 WHERE id IN (21, 22);
SELECT part, id FROM item WHERE id BETWEEN 20 AND 23 ORDER BY id;
-- policies: a key of a row that one refuses is new again, and rows move
CREATE ROLE regress_bloom_tenant;
GRANT ALL ON item, moved TO regress_bloom_tenant;
ALTER TABLE item ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON item USING (body = 'own');
SET ROLE regress_bloom_tenant;
INSERT INTO item VALUES (1, 30, 'other');
INSERT INTO item VALUES (1, 30, 'own'), (1, 31, 'own'), (1, 20, 'own') RETURNING id;
UPDATE item SET part = 2;
UPDATE item SET part = 1, body = 'other';
SELECT part, id FROM item ORDER BY id;
RESET ROLE;
ALTER TABLE item DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_bloom_tenant;
DROP ROLE regress_bloom_tenant;
-- a set that is emptied knows no key, and rows move all the same
BEGIN;
TRUNCATE moved;
UPDATE item SET part = 3 - part WHERE id IN (20, 21, 30, 31);
INSERT INTO item VALUES (1, 30, 'again'), (1, 30, 'again') RETURNING id;
ROLLBACK;
INSERT INTO item VALUES (1, 30, 'again') RETURNING id;
-- fail: a trigger of one partition, which does not see what comes from others
DROP TRIGGER dedup ON item;
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON item_1 FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('moved', 'id');
INSERT INTO item VALUES (1, 8000, 'new');
DELETE FROM item WHERE part = 1;
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON item_2 FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('moved', 'id');
INSERT INTO item VALUES (2, 8000, 'new');
DROP TABLE item, owner, moved;
DROP FUNCTION move, meddle;
-- WITH moves rows of any table whose trigger fires before a DELETE
SELECT bloom_set_create('moved', 'int', seed => 1);
CREATE TABLE plain (part int, id int);
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON plain FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('moved', 'id');
INSERT INTO plain SELECT 1, nullif(i, 0) FROM generate_series(0, 5) AS i;
WITH gone AS (DELETE FROM plain WHERE id < 3 OR id IS NULL RETURNING *) INSERT INTO plain SELECT 2, id FROM gone;
-- fail
WITH gone AS (DELETE FROM plain WHERE id = 3 RETURNING *) INSERT INTO plain SELECT 2, 4 FROM gone;
SELECT * FROM plain ORDER BY id;
-- on a replica, a move is two statements of a transaction; what triggers at the origin insert can stand between them
SET session_replication_role = replica;
ALTER TABLE plain ENABLE ALWAYS TRIGGER dedup;
CREATE FUNCTION apply(VARIADIC changes text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	change text;
	result text;
BEGIN
	FOREACH change IN ARRAY changes LOOP
		EXECUTE CASE WHEN change ~ '^-' THEN 'DELETE FROM plain WHERE id IS NOT DISTINCT FROM ' || substr(change, 2)
					 ELSE 'INSERT INTO plain VALUES (3, ' || change || ')' END;
	END LOOP;
	SELECT string_agg(part || ' ' || coalesce(id::text, 'null'), ', ' ORDER BY id, part) INTO result FROM plain;
	-- each is to start from the same rows
	RAISE EXCEPTION USING MESSAGE = result, ERRCODE = '00001';
EXCEPTION WHEN OTHERS THEN
	RETURN CASE SQLSTATE WHEN '00001' THEN SQLERRM ELSE SQLSTATE END;
END
$$;
SELECT apply('4');
SELECT apply('-1', '1');
SELECT apply('-1', '100');
SELECT apply('-1', '1', '-2', '2');
SELECT apply('-null', 'null', 'null');
-- fail: the last row may be that of the first, with another key or in another order
SELECT apply('-1', '4');
SELECT apply('-null', 'null', '4');
SELECT apply('-1', '1', '4');
SELECT apply('-1', '-2', '2', '1');
SELECT apply('-1', '1', '-2', '2', '4');
BEGIN;
DELETE FROM plain WHERE id = 1;
SAVEPOINT s;
INSERT INTO plain VALUES (3, 1);
ROLLBACK TO s;
INSERT INTO plain VALUES (3, 4);
ROLLBACK;
INSERT INTO plain VALUES (3, 1) RETURNING *;
-- fail: a trigger that does not fire before a DELETE
CREATE OR REPLACE TRIGGER dedup BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('moved', 'id');
ALTER TABLE plain ENABLE ALWAYS TRIGGER dedup;
INSERT INTO plain VALUES (3, 1);
RESET session_replication_role;
DROP FUNCTION apply;
DROP TABLE plain, moved;

--
-- A COPY that drops rows says so, once
--
SELECT bloom_set_create('copied', 'int', seed => 1);
CREATE TABLE file (id int);
CREATE TRIGGER dedup BEFORE INSERT ON file FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('copied', 'id');
COPY file FROM stdin;
1
2
\.
COPY file FROM stdin;
1
2
3
\.
INSERT INTO file VALUES (1), (2), (3);
-- ... whatever is monitored, and in a function
SET track_activities = off;
COPY file FROM stdin;
1
\.
RESET track_activities;
DO $$ BEGIN EXECUTE 'COPY file FROM PROGRAM ''echo 1'''; END $$;
-- not an INSERT that a COPY into another table makes
CREATE TABLE inbox (id int);
CREATE FUNCTION pass_on() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO file VALUES (new.id); RETURN new; END $$;
CREATE TRIGGER pass_on BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION pass_on();
COPY inbox FROM stdin;
1
4
\.
SELECT id FROM file ORDER BY id;
DROP TABLE inbox;
DROP FUNCTION pass_on;
-- a restore: the set comes with its keys
TRUNCATE file;
ALTER TABLE file DISABLE TRIGGER ALL;
COPY file FROM stdin;
1
2
3
\.
ALTER TABLE file ENABLE TRIGGER ALL;
SELECT count(*) FROM file;
DROP TABLE file;
-- into a partition, whatever table above it is named
CREATE TABLE file (id int) PARTITION BY RANGE (id);
CREATE TABLE file_0 PARTITION OF file FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE file_00 PARTITION OF file_0 FOR VALUES FROM (0) TO (10);
CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON file FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('copied', 'id');
COPY file FROM stdin;
1
\.
COPY file_0 FROM stdin;
1
\.
COPY file_00 FROM stdin;
1
\.
DROP TABLE file, copied;

--
-- A view in place of a table of keys
--
SELECT bloom_set_create('processed', 'bigint', seed => 1);
CREATE VIEW processed_event AS SELECT NULL::bigint AS id WHERE false;
CREATE TRIGGER dedup INSTEAD OF INSERT ON processed_event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('processed', 'id');
INSERT INTO processed_event (id) VALUES (1) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO processed_event (id) VALUES (1) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO processed_event (id) VALUES (1), (2), (3), (2) ON CONFLICT DO NOTHING RETURNING id;
SELECT bloom_set_contains('processed', 3) AS there;
-- fail
INSERT INTO processed_event (id) VALUES (1) ON CONFLICT (id) DO NOTHING;
-- MERGE, where the server can: from 17 on
CREATE FUNCTION merge() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	MERGE INTO processed_event AS p USING (VALUES (1), (2), (4), (5)) AS v (k) ON p.id = v.k WHEN NOT MATCHED THEN INSERT (id) VALUES (v.k);
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
EXCEPTION WHEN wrong_object_type OR feature_not_supported THEN
	RETURN CASE WHEN current_setting('server_version_num')::int < 170000 THEN 2 END;
END
$$;
SELECT merge();
DROP FUNCTION merge;
DROP VIEW processed_event;
DROP TABLE processed;

--
-- One column and a time: many rows of a statement, beside DISTINCT
--
SELECT bloom_set_create('numbers', 'int', keep => '1 day', seed => 1), bloom_set_create('texts', 'text', keep => '1 day', seed => 1), bloom_set_create('uuids', 'uuid', keep => '1 day', seed => 1);
CREATE TABLE number (k int, sent timestamptz);
CREATE TABLE text_key (k text, sent timestamptz);
CREATE TABLE uuid_key (k uuid, sent timestamptz);
CREATE TRIGGER dedup BEFORE INSERT ON number FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('numbers', 'k', 'sent');
CREATE TRIGGER dedup BEFORE INSERT ON text_key FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('texts', 'k', 'sent');
CREATE TRIGGER dedup BEFORE INSERT ON uuid_key FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('uuids', 'k', 'sent');
INSERT INTO number SELECT i % 300, now() FROM generate_series(1, 1000) AS i;
INSERT INTO text_key SELECT i % 300, now() FROM generate_series(1, 1000) AS i;
INSERT INTO uuid_key SELECT md5((i % 300)::text)::uuid, now() FROM generate_series(1, 1000) AS i;
SELECT (SELECT count(*) FROM number) AS numbers, (SELECT count(*) FROM text_key) AS texts, (SELECT count(*) FROM uuid_key) AS uuids;
DROP TABLE number, text_key, uuid_key, numbers, texts, uuids;
