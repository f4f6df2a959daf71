--
-- bloomtype makes no event trigger: unique keys are an extension of their own
--
CREATE TEMPORARY VIEW made AS
SELECT extname, CASE WHEN classid = 'pg_proc'::regclass THEN prokind::text END AS kind, classid::regclass AS catalog
FROM pg_extension AS e JOIN pg_depend AS d ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND deptype = 'e'
	 LEFT JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE extname LIKE 'bloomtype%';
-- functions, aggregates, procedures; types, casts, operators and what sorts by them
SELECT DISTINCT extname, catalog::text COLLATE "C", kind FROM made ORDER BY 1, 2, 3;
SELECT evtname, evtevent, evttags, evtenabled FROM pg_event_trigger;

-- each can be in a schema of its own, in which no set, table or search_path is
SELECT current_database() AS home \gset
CREATE DATABASE regress_bloom_unique_extension;
\c regress_bloom_unique_extension
CREATE SCHEMA apart_type;
CREATE SCHEMA apart_set;
CREATE SCHEMA apart_unique;
CREATE SCHEMA apart;
CREATE EXTENSION bloomtype SCHEMA apart_type;
SELECT count(*) FROM pg_event_trigger;
CREATE EXTENSION bloomtype_set SCHEMA apart_set;
SELECT count(*) FROM pg_event_trigger;
CREATE EXTENSION bloomtype_unique SCHEMA apart_unique;
CREATE TABLE apart.t (id int, p int) PARTITION BY LIST (p);
CREATE TABLE apart.t1 PARTITION OF apart.t FOR VALUES IN (1);
CREATE INDEX ON apart.t (id);
SELECT apart_unique.bloom_unique_create('apart.t', 'id');
INSERT INTO apart.t VALUES (1, 1);
INSERT INTO apart.t VALUES (1, 1);
ALTER EXTENSION bloomtype SET SCHEMA apart;
ALTER EXTENSION bloomtype_set SET SCHEMA apart;
INSERT INTO apart.t VALUES (1, 1);
SELECT apart_unique.bloom_unique_rebuild('apart.t', 'id');
-- fail, and without the extension, the table is as it was
DROP EXTENSION bloomtype_unique;
SET client_min_messages = warning;
-- nor is anything left to do of a transaction that has written rows
BEGIN;
INSERT INTO apart.t VALUES (2, 1);
DROP EXTENSION bloomtype_unique CASCADE;
COMMIT;
INSERT INTO apart.t VALUES (1, 1);
SELECT set, problem FROM apart.bloom_sets();
\c :home
DROP DATABASE regress_bloom_unique_extension;
