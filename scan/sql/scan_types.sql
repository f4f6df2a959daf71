--
-- Keys of all types, in conditions that test filters and in joins: with the library
-- as without it, the same rows and the same errors.  tap/where.pl runs this once more
-- in a database whose texts are converted.
--
SET client_min_messages = warning;
LOAD 'bloomtype_scan';
CREATE SCHEMA scan_types;
SET search_path = scan_types, public;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET bloomtype_scan.testing = force;

CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE document AS (a int, b json);
CREATE DOMAIN json_domain AS json;
CREATE DOMAIN text_domain AS text;
CREATE DOMAIN int_domain AS int;
CREATE DOMAIN document_domain AS document;
CREATE TYPE bit_range AS RANGE (subtype = bit);
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- types, and two values of each
CREATE TABLE type (name text, one text, two text);
INSERT INTO type VALUES
	('bool', 't', 'f'), ('int2', '1', '-2'), ('int4', '1', '-2'), ('int8', '1', '5000000000'), ('oid', '1', '4294967295'), ('xid', '1', '3'), ('xid8', '1', '3'), ('cid', '1', '3'),
	('tid', '(0,1)', '(1,2)'), ('float4', '1.5', 'NaN'), ('float8', '1.5', '-0'), ('numeric', '1.50', 'NaN'), ('money', '1', '2'), ('"char"', 'a', 'b'), ('name', 'a', 'b'), ('text', 'a', 'b'),
	('varchar(5)', 'a', 'b'), ('bpchar', 'a ', 'b'), ('char(4)', 'a', 'b'), ('text COLLATE folded', 'a', 'A'), ('text COLLATE "C"', 'a', 'b'), ('bytea', 'a', 'b'), ('bit(8)', '10101010', '11111111'),
	('varbit', '101', '1'), ('date', '2026-01-01', 'infinity'), ('time', '10:00', '11:00'), ('timetz', '10:00+01', '11:00+02'), ('timestamp', '2026-01-01', 'infinity'),
	('timestamptz', '2026-01-01', '-infinity'), ('interval', '1 month', '30 days'), ('uuid', '00000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), ('inet', '10.0.0.1', '::1'), ('cidr', '10.0.0.0/8', '::/0'),
	('macaddr', '08:00:2b:01:02:03', '08:00:2b:01:02:04'), ('macaddr8', '08:00:2b:01:02:03:04:05', '08:00:2b:01:02:03:04:06'), ('json', '1', '{}'), ('jsonb', '1', '{}'), ('jsonpath', '$', '$.a'),
	('point', '(1,2)', '(2,3)'), ('lseg', '((1,2),(3,4))', '((1,2),(3,5))'), ('path', '((1,2),(3,4))', '((1,2),(3,5))'), ('box', '((1,2),(3,4))', '((1,2),(3,5))'), ('polygon', '((1,2),(3,4))', '((1,2),(3,5))'),
	('line', '{1,2,3}', '{1,2,4}'), ('circle', '<(1,2),3>', '<(1,2),4>'), ('tsvector', 'a', 'b'), ('tsquery', 'a', 'b'), ('pg_lsn', '0/1', '0/2'), ('pg_snapshot', '1:2:', '1:3:'), ('txid_snapshot', '1:2:', '1:3:'),
	('aclitem', '=r/postgres', '=w/postgres'), ('regclass', 'pg_class', 'pg_proc'), ('regtype', 'int4', 'text'), ('refcursor', 'a', 'b'), ('int4[]', '{1}', '{2,NULL}'), ('text[]', '{a}', '{b}'), ('json[]', '{1}', '{2}'), ('point[]', NULL, NULL),
	('numeric[]', '{1.0}', '{1.00}'), ('bloom', NULL, NULL), ('counting_bloom', NULL, NULL), ('int4range', '[1,2)', 'empty'), ('numrange', '[1,2)', 'empty'), ('int4multirange', '{[1,2)}', '{}'), ('mood', 'sad', 'happy'), ('pair', '(1,a)', '(2,)'),
	('document', '(1,1)', '(2,)'), ('json_domain', '1', '2'), ('text_domain', 'a', 'b'), ('int_domain', '1', '2'), ('document_domain', '(1,1)', '(2,)'), ('bit_range', '[0,1]', 'empty'), ('int2vector', '1 2', '3'), ('oidvector', '1 2', '3'), ('pg_node_tree', NULL, NULL);
SELECT count(*) AS types FROM type;

-- a query's rows, or its error
CREATE FUNCTION answer(query text, enabled text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	PERFORM set_config('bloomtype_scan.enabled', enabled, false);
	FOR line IN EXECUTE query LOOP
		result := result || line || E'\n';
	END LOOP;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

CREATE TABLE form (n serial, query text);
INSERT INTO form (query) VALUES
	('SELECT count(*) FROM keys WHERE id < 0 AND bloom_empty(10) @> k'),
	('SELECT count(*) FROM keys WHERE id < 0 AND k <@ bloom_empty(10)'),
	('SELECT count(*) FROM keys WHERE id < 0 AND bloom_contains((SELECT bloom_empty(10)), k)'),
	('SELECT count(*) FROM keys WHERE bloom_empty(10) @> k'),
	('SELECT count(*) FROM keys WHERE NULL::bloom @> k'),
	('SELECT count(*) FROM keys WHERE (SELECT bloom_empty(10, 0.01, 0, ''text'')) @> k AND id < 0'),
	('SELECT count(*), sum(id) FROM keys WHERE id % 2 = 0 AND (SELECT bloom_agg(k) FROM keys WHERE id < 3) @> k'),
	('SELECT count(*), sum(id) FROM keys WHERE (SELECT bloom_agg(k) FROM keys WHERE id % 3 = 1) @> k'),
	('SELECT count(*), sum(id) FROM keys WHERE (SELECT bloom_agg(i) FROM generate_series(1, 9) AS i) @> k'),
	('SELECT count(*) FROM (SELECT id, k FROM keys UNION ALL SELECT id, k FROM keys) AS u WHERE id < 0 AND bloom_empty(10) @> k'),
	('SELECT count(*), sum(a.id) FROM keys AS a JOIN keys AS b USING (k) WHERE b.id < 100'),
	('SELECT count(*), sum(a.id) FROM keys AS a JOIN keys AS b USING (k) WHERE a.id < 0'),
	('SELECT count(*), sum(a.id) FROM keys AS a JOIN keys AS b USING (k, id) WHERE b.id % 7 = 3 AND a.id % 2 = 1'),
	('SELECT count(*), sum(id) FROM keys WHERE k IN (SELECT k FROM keys WHERE id % 3 = 1)'),
	('SELECT count(*), sum(a.id) FROM keys AS a RIGHT JOIN (SELECT k FROM keys WHERE id < 3) AS b USING (k)'),
	('SELECT count(*), sum(a.id) FROM keys AS a JOIN (SELECT k FROM keys WHERE k IS NULL) AS b USING (k)');
-- and whether the plan can be shown
INSERT INTO form (query) SELECT 'SELECT left(''shown'', 5) FROM shown(' || quote_literal(query) || ')' FROM form WHERE n <= 3 ORDER BY n;
CREATE FUNCTION shown(query text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'EXPLAIN ' || query; RETURN 1; END $$;

CREATE FUNCTION compare(OUT compared bigint, OUT errors bigint, OUT different text[]) LANGUAGE plpgsql AS $$
DECLARE
	t type;
	f form;
	without text;
BEGIN
	compared := 0;
	errors := 0;
	FOR t IN SELECT * FROM type LOOP
		DROP TABLE IF EXISTS keys;
		EXECUTE format('CREATE TABLE keys (id int, k %s)', t.name);
		EXECUTE format('INSERT INTO keys SELECT i, %s FROM generate_series(1, 600) AS i',
			CASE WHEN t.one IS NULL THEN 'NULL' ELSE format('CASE i %% 3 WHEN 0 THEN NULL WHEN 1 THEN %L::%s ELSE %L::%2$s END', t.one, t.name, t.two) END);
		ANALYZE keys;
		FOR f IN SELECT * FROM form ORDER BY n LOOP
			without := answer(f.query, 'off');
			compared := compared + 1;
			errors := errors + (without ~ '^[0-9A-Z]{5} ')::int;
			IF without IS DISTINCT FROM answer(f.query, 'on') THEN
				different := different || format('%s: %s: off: %s, on: %s', t.name, f.query, without, answer(f.query, 'on'));
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT compared, errors > 100 AS with_errors, different FROM compare();

-- collations that cannot be known
CREATE TABLE strings AS SELECT i AS id, i::text COLLATE "C" AS c, i::text COLLATE "POSIX" AS d FROM generate_series(1, 600) AS i;
ANALYZE strings;
SELECT query, answer(query, 'off') = answer(query, 'on') AS same, left(answer(query, 'on'), 5) AS answer
FROM (VALUES ('SELECT count(*) FROM (SELECT id, c FROM strings UNION ALL SELECT id, d FROM strings) AS s WHERE id < 0 AND bloom_empty(10) @> c'),
	('SELECT count(*) FROM (SELECT id, c FROM strings UNION ALL SELECT id, d FROM strings) AS s WHERE bloom_empty(10) @> c'),
	('SELECT count(*) FROM strings WHERE id < 0 AND bloom_empty(10) @> ROW(c, d)')) AS v (query);

DROP SCHEMA scan_types CASCADE;
