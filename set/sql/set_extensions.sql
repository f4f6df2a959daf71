--
-- The extensions beside each other: what each has, who owns them, and what goes with them
--
SELECT current_database() AS home \gset
CREATE DATABASE regress_bloom_extensions;
\c regress_bloom_extensions
SET client_min_messages = warning;
-- from 18 on, it has the line of the script
\set SHOW_CONTEXT never

-- What an extension has, by kind and name; no object is of two.
CREATE VIEW ours AS
SELECT extname::text COLLATE "C" AS extension, o.type COLLATE "C" AS kind, COALESCE(proname, typname, evtname, o.identity)::text COLLATE "C" AS name, d.classid, d.objid
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
	 LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	 LEFT JOIN pg_event_trigger AS v ON d.classid = 'pg_event_trigger'::regclass AND d.objid = v.oid,
	 pg_identify_object(d.classid, d.objid, d.objsubid) AS o
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND extname LIKE 'bloomtype%'
	  AND COALESCE(t.typelem, 0) = 0;  -- arrays belong to extensions from 18 on

-- The type alone has nothing of sets.
CREATE EXTENSION bloomtype;
SELECT DISTINCT kind, name FROM ours WHERE kind <> 'function' OR name NOT LIKE E'\\_%' ORDER BY kind, name;
SELECT proname FROM pg_proc WHERE proname ~ 'bloom_(set|unique)' OR probin ~ 'bloomtype_';
-- fail: without its library nobody has these
\set VERBOSITY terse
SELECT bloom_set_create('s', 'int');
\set VERBOSITY default
CREATE TABLE visitors (day date, seen bloom);
INSERT INTO visitors SELECT '2026-01-01', bloom_agg(i) FROM generate_series(1, 10) AS i;

-- Sets, and unique keys: functions, and one event trigger.
CREATE EXTENSION bloomtype_unique CASCADE;
SELECT extension, kind, name FROM ours WHERE extension <> 'bloomtype' ORDER BY extension, kind, name;
SELECT count(*) - count(DISTINCT (classid, objid)) AS of_two FROM ours;
SELECT DISTINCT extension, probin FROM ours JOIN pg_proc ON classid = 'pg_proc'::regclass AND objid = oid WHERE probin IS NOT NULL ORDER BY 1;
-- (pg_available_extensions shows none while the Debian package is built)
SELECT e.extname, e.extrelocatable, r.extname AS requires
FROM pg_extension AS e LEFT JOIN pg_depend AS d ON d.classid = 'pg_extension'::regclass AND d.objid = e.oid AND d.refclassid = d.classid
	 LEFT JOIN pg_extension AS r ON r.oid = d.refobjid
WHERE e.extname LIKE 'bloomtype%' ORDER BY e.extname COLLATE "C";

-- Sets go, and take no filter with them.
SELECT bloom_set_create('s', 'int', seed => 1);
SELECT bloom_set_add_all('s', ARRAY[1, 2]);
CREATE TABLE event (day int, id bigint) PARTITION BY LIST (day);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id');
INSERT INTO event VALUES (1, 1);
-- fail: in use
\set VERBOSITY terse
DROP EXTENSION bloomtype_set;
\set VERBOSITY default
DROP EXTENSION bloomtype_set CASCADE;
SELECT extname FROM pg_extension WHERE extname LIKE 'bloom%';
SELECT day, bloom_cardinality(seen), seen @> 5 AS there FROM visitors;
INSERT INTO event VALUES (1, 1);
SELECT count(*) > 0 AS has_rows, (SELECT count(*) FROM pg_attrdef WHERE adrelid = 's'::regclass) AS defaults FROM s;
-- (its rows are a set again with the default that they had)
CREATE EXTENSION bloomtype_set;
ALTER TABLE s ALTER hashes SET DEFAULT _bloom_set_params('1 keep=0 seed=1 kept_bits=64 key_type=int8');
SELECT bloom_set_add('s', 2) AS seen, bloom_set_add('s', 3) AS new;
DROP EXTENSION bloomtype_set CASCADE;
DROP TABLE s, event, event_id_unique;

--
-- Roles that own one of them
--
CREATE ROLE regress_bloom_owner;
GRANT CREATE ON DATABASE regress_bloom_extensions TO regress_bloom_owner;
GRANT CREATE ON SCHEMA public TO regress_bloom_owner;
SET ROLE regress_bloom_owner;
CREATE EXTENSION bloomtype_set;
-- fail: unique keys are a superuser's, since their event trigger runs at everybody's ALTER TABLE
\set VERBOSITY terse
CREATE EXTENSION bloomtype_unique;
\set VERBOSITY default
RESET ROLE;
-- sets of others go, if the owner of their extension wants it; that is what a trusted extension is
SELECT bloom_set_create('s', 'int', seed => 1);
SET ROLE regress_bloom_owner;
-- fail
DROP EXTENSION bloomtype CASCADE;
DROP EXTENSION bloomtype_set;
DROP EXTENSION bloomtype_set CASCADE;
RESET ROLE;
SELECT extname FROM pg_extension WHERE extname LIKE 'bloom%';
DROP TABLE s;
-- the type is the superuser's, sets are not
SET ROLE regress_bloom_owner;
CREATE EXTENSION bloomtype_set;
RESET ROLE;
-- fail, and the SQLSTATE
CREATE EXTENSION bloomtype_unique;
\set VERBOSITY sqlstate
CREATE EXTENSION bloomtype_unique;
\set VERBOSITY default
DROP EXTENSION bloomtype CASCADE;
DROP TABLE visitors;
-- sets are the superuser's, the type is not
SET ROLE regress_bloom_owner;
CREATE EXTENSION bloomtype;
RESET ROLE;
CREATE EXTENSION bloomtype_set;
CREATE EXTENSION bloomtype_unique;
-- as the hint says
REASSIGN OWNED BY regress_bloom_owner TO CURRENT_USER;
CREATE EXTENSION bloomtype_unique;
SELECT extname, (SELECT rolsuper FROM pg_roles WHERE oid = extowner) AS of_superuser FROM pg_extension WHERE extname LIKE 'bloom%' ORDER BY extname COLLATE "C";
-- and then nobody else takes keys off a table
CREATE TABLE event (day int, id bigint) PARTITION BY LIST (day);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id');
SET ROLE regress_bloom_owner;
\set VERBOSITY terse
DROP EXTENSION bloomtype CASCADE;
DROP EXTENSION bloomtype_set CASCADE;
DROP EXTENSION bloomtype_unique CASCADE;
\set VERBOSITY default
RESET ROLE;
SELECT bloom_set_contains('event_id_unique', 1) AS still_a_set;

\c :home
DROP DATABASE regress_bloom_extensions;
DROP ROLE regress_bloom_owner;
