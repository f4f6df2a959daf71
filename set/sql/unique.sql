--
-- Keys unique across partitions: bloom_unique_create
--
\set VERBOSITY default

CREATE TABLE event (id uuid, at timestamptz NOT NULL, body text)
	PARTITION BY RANGE (at);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2026-01-01Z') TO ('2026-02-01Z');
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM ('2026-02-01Z') TO ('2026-03-01Z');

-- fail: keys could not be looked up
SELECT bloom_unique_create('event', 'id');
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id');

INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000001', '2026-01-05Z', 'first');
-- fail, these: through the table, directly, by COPY, within a statement, by UPDATE
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000001', '2026-02-05Z', 'again');
INSERT INTO event_2 VALUES ('00000000-0000-0000-0000-000000000001', '2026-02-05Z', 'again');
COPY event FROM stdin;
00000000-0000-0000-0000-000000000002	2026-02-05Z	copied
00000000-0000-0000-0000-000000000001	2026-02-05Z	again
\.
INSERT INTO event SELECT '00000000-0000-0000-0000-000000000003', '2026-02-05Z' FROM generate_series(1, 2);
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000004', '2026-02-05Z', 'other');
UPDATE event SET id = '00000000-0000-0000-0000-000000000001' WHERE body = 'other';
UPDATE event_2 SET id = '00000000-0000-0000-0000-000000000001' WHERE body = 'other';

-- a row moves, and is the only one of its key all the time
UPDATE event SET at = '2026-02-06Z' WHERE body = 'first';
UPDATE event SET at = '2026-01-06Z', id = '00000000-0000-0000-0000-000000000005' WHERE body = 'first';
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000001', '2026-02-07Z', 'free again');
-- what was rolled back is free, too
BEGIN;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000006', '2026-02-07Z');
ROLLBACK;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000006', '2026-01-07Z', 'six');
-- and what was deleted; nulls are distinct
WITH gone AS (DELETE FROM event WHERE body = 'six' RETURNING id)
INSERT INTO event SELECT id, '2026-02-08Z', 'seven' FROM gone;
DELETE FROM event WHERE body = 'six';
INSERT INTO event SELECT NULL, '2026-01-08Z', 'null ' || i FROM generate_series(1, 3) AS i;
SELECT right(id::text, 2) AS id, at AT TIME ZONE 'UTC' AS at, body FROM event ORDER BY 1, 2, 3;

-- the keys are in an ordinary set, which keeps 40 bits of a hash
SELECT key_type, keys, keep FROM bloom_set_info('event_id_unique');
SELECT bloom_set_contains('event_id_unique', '00000000-0000-0000-0000-000000000001'::uuid);
-- a rebuild leaves out what is gone
SELECT bloom_unique_rebuild('event', 'id');

-- fail: the server keeps the names
ALTER TABLE event DROP id;
\set VERBOSITY terse
ALTER TABLE event ALTER id TYPE text;
\set VERBOSITY default
DROP TABLE event_id_unique;
-- which can be changed, all of them
ALTER TABLE event RENAME TO happening;
ALTER TABLE happening RENAME id TO "Key";
ALTER TABLE event_id_unique RENAME TO key_unique;
CREATE SCHEMA unique_elsewhere;
ALTER TABLE key_unique SET SCHEMA unique_elsewhere;
INSERT INTO happening VALUES ('00000000-0000-0000-0000-000000000001', '2026-02-07Z', 'again');
ALTER TABLE unique_elsewhere.key_unique SET SCHEMA public;
DROP SCHEMA unique_elsewhere;
ALTER TABLE happening RENAME TO event;

-- partitions come and go
ALTER TABLE event DETACH PARTITION event_2;
INSERT INTO event_2 VALUES ('00000000-0000-0000-0000-000000000005', '2026-02-09Z', 'there, too');
-- fail
ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES FROM ('2026-02-01Z') TO ('2026-03-01Z');
DELETE FROM event_2 WHERE body = 'there, too';
INSERT INTO event_2 VALUES ('00000000-0000-0000-0000-000000000009', '2026-02-09Z', 'attached');
ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES FROM ('2026-02-01Z') TO ('2026-03-01Z');
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-01-09Z', 'again');
CREATE TABLE event_3 PARTITION OF event FOR VALUES FROM ('2026-03-01Z') TO ('2026-04-01Z');
INSERT INTO event_3 VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');

-- while the trigger is disabled, nothing is checked; it is when it is enabled
ALTER TABLE event DISABLE TRIGGER event_id_unique;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'unchecked');
ALTER TABLE event ENABLE TRIGGER event_id_unique;
DELETE FROM event WHERE body = 'unchecked';
ALTER TABLE event ENABLE TRIGGER event_id_unique;
ALTER TABLE event_3 DISABLE TRIGGER event_id_unique;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'unchecked');
ALTER TABLE event_3 ENABLE TRIGGER ALL;
DELETE FROM event WHERE body = 'unchecked';
ALTER TABLE event_3 ENABLE TRIGGER ALL;
-- ONLY leaves partitions as they are, and one that is made meanwhile is as its parent is
ALTER TABLE ONLY event DISABLE TRIGGER event_id_unique;
CREATE TABLE event_4 PARTITION OF event FOR VALUES FROM ('2026-04-01Z') TO ('2026-05-01Z');
ALTER TABLE ONLY event ENABLE TRIGGER event_id_unique;
SELECT bloom_unique_rebuild('event', '"Key"') > 0 AS rebuilt;
CALL bloom_unique_validate('event', '"Key"');
ALTER TABLE event ENABLE TRIGGER event_id_unique;
DROP TABLE event_4;
-- several that stay disabled, and a command of two parts: one warning each
ALTER TABLE event DISABLE TRIGGER USER, DISABLE TRIGGER event_id_unique;
ALTER TABLE ONLY event ENABLE TRIGGER event_id_unique, ENABLE TRIGGER USER;
ALTER TABLE event ENABLE TRIGGER USER;

-- many keys that one row has, which has another version in its page
UPDATE event SET body = 'updated' WHERE "Key" = '00000000-0000-0000-0000-000000000009';
INSERT INTO event SELECT '00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again' FROM generate_series(1, 100);
SET enable_seqscan = off;
SELECT body FROM event WHERE "Key" = '00000000-0000-0000-0000-000000000009';
RESET enable_seqscan;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');

-- TRUNCATE empties the set, and is rolled back with it
BEGIN;
TRUNCATE event;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'free');
SELECT keys FROM bloom_set_info('key_unique');
ROLLBACK;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');

-- a set that lost its keys is not relied on
TRUNCATE key_unique;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000010', '2026-03-09Z', 'new');
DELETE FROM event WHERE body = 'new';
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');
SELECT bloom_unique_rebuild('event', '"Key"') > 0 AS rebuilt;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');
-- and filled again while others write
TRUNCATE key_unique;
CALL bloom_unique_validate('event', '"Key"');
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');
-- with the table, in one command
BEGIN;
TRUNCATE event, key_unique;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'free');
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');
ROLLBACK;
-- fail: no index any more
DROP INDEX event_id_idx;
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');
CREATE INDEX ON event ("Key", at);
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000009', '2026-03-09Z', 'again');

-- what was made explains itself
SELECT tgname, replace(pg_get_triggerdef(t.oid), d.seed::text, 'seed') AS definition,
	   obj_description(t.oid, 'pg_trigger') AS comment
FROM pg_trigger AS t, bloom_set_info('key_unique') AS d
WHERE tgrelid IN ('event'::regclass, 'key_unique'::regclass) AND NOT tgisinternal ORDER BY tgname;
SELECT obj_description('key_unique'::regclass, 'pg_class') AS comment;

-- two keys of one table
SELECT bloom_unique_create('event', 'body, at', name => 'second');
CREATE INDEX ON event (at, body);
SELECT bloom_unique_create('event', 'body, at', name => 'second');
INSERT INTO event VALUES
	('00000000-0000-0000-0000-000000000011', '2026-03-10Z', 'a'),
	('00000000-0000-0000-0000-000000000012', '2026-03-11Z', 'a'),
	('00000000-0000-0000-0000-000000000013', '2026-03-10Z', NULL),
	('00000000-0000-0000-0000-000000000014', '2026-03-10Z', NULL);
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000011', '2026-03-10Z', 'b');
INSERT INTO event VALUES ('00000000-0000-0000-0000-000000000015', '2026-03-10Z', 'a');
SELECT bloom_unique_drop('event', 'body, at');
SELECT bloom_unique_drop('event', '"Key"');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'event'::regclass;
DROP TABLE event;

-- what a session knows of keys goes after them
CREATE TABLE gone (id int, p int) PARTITION BY LIST (p);
CREATE TABLE gone_1 PARTITION OF gone FOR VALUES IN (1);
CREATE INDEX ON gone (id);
DO $$
BEGIN
	FOR i IN 1..20 LOOP
		PERFORM bloom_unique_create('gone', 'id');
		INSERT INTO gone VALUES (i, 1);
		PERFORM bloom_unique_drop('gone', 'id');
	END LOOP;
END $$;
SELECT count(*) < 5 AS few FROM pg_backend_memory_contexts WHERE name = 'unique key';
DROP TABLE gone;
