--
-- Guises: a key that was added is found in every form that is equal to it
--
-- Two equal values and a third, for every built-in type with a default btree
-- or hash operator class, as this server's catalog has them: a type that
-- nobody thought of makes this test fail.  Filters are in keys form here, so
-- that nothing is found by chance.
--

CREATE TYPE guise_mood AS ENUM ('sad', 'ok');
CREATE TYPE guise_pair AS (a numeric, b text);
CREATE TYPE guise_nested AS (p guise_pair, m guise_mood[]);
CREATE TYPE guise_range AS RANGE (subtype = numeric);
CREATE DOMAIN guise_domain AS numeric CHECK (VALUE < 100);
CREATE TYPE guise_of_domain AS (d guise_domain);

CREATE TEMPORARY TABLE guises (type text, one text, other text, third text);
INSERT INTO guises VALUES
	('int2', '5', '05', '-5'), ('int4', '5', '05', '-5'), ('int8', '5', '05', '4294967301'),
	('float4', '0', '-0', '1e-45'), ('float8', '0', '-0', '5e-324'), ('float8', 'NaN', '-NaN', 'Infinity'),
	('numeric', '1.5', '1.5000', '15'), ('numeric', '10000', '1e4', '1'), ('numeric', '0', '-0.00', 'NaN'),
	('money', '1', '1.00', '2'), ('bool', 'true', 'yes', 'false'), ('"char"', 'a', 'abc', 'b'),
	('text', 'a', 'a', 'a '), ('varchar', 'a', 'a', 'A'), ('bpchar', 'a', 'a  ', 'A'), ('char(7)', 'a', 'a  ', 'A'),
	('name', 'a', 'a', 'A'), ('bytea', '\x6100', 'a\000', '\x61'),
	('date', '2000-01-01', '1 January 2000', '1999-12-31'), ('time', '12:00', '12:00:00.000', '12:00:00.000001'),
	('timestamp', '2000-01-01 24:00', '2000-01-02 00:00', '2000-01-01 00:00'),
	('timestamptz', '2000-01-01 12:00+00', '2000-01-01 14:00+02', '2000-01-01 12:00+02'),
	('timetz', '12:00+02', '12:00:00+02:00', '10:00+00'),
	('interval', '1 month', '30 days', '31 days'), ('interval', '1 day', '24:00', '-1 day'),
	('interval', '-1 month 1 day', '-29 days', '29 days'), ('interval', '1 day -24:00', '0', '1 microsecond'),
	('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'),
	('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8'), ('inet', '::1', '0:0::1/128', '0.0.0.1'),
	('cidr', '10.0.0.0/8', '10/8', '10.0.0.0/9'),
	('macaddr', '08:00:2b:01:02:03', '08002b-010203', '08:00:2b:01:02:04'),
	('macaddr8', '08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05'),
	('bit', '1', 'B1', '0'), ('bit(12)', 'xa10', 'b101000010000', 'xa11'), ('varbit', 'xa0', '10100000', '101'),
	('oid', '5', '05', '6'), ('regtype', 'int4', 'integer', 'int8'), ('regproc', 'bloom_union_agg', 'bloom_union_agg', 'bloom_intersect_agg'),
	('regprocedure', 'abs(int4)', 'abs(integer)', 'abs(int8)'), ('regoper', '||/', '||/', '|/'), ('regoperator', '+(int4,int4)', '+(integer,integer)', '+(int8,int8)'),
	('regclass', 'pg_class', 'pg_catalog.pg_class', 'pg_type'), ('regconfig', 'simple', 'pg_catalog.simple', 'english'),
	('regdictionary', 'simple', 'pg_catalog.simple', 'english_stem'), ('regrole', 'pg_monitor', '3373', 'pg_signal_backend'), ('regnamespace', 'pg_catalog', '"pg_catalog"', 'public'),
	('regcollation', '"C"', 'pg_catalog."C"', '"POSIX"'), ('regdatabase', '1', '01', '2'),
	('xid', '5', '05', '6'), ('xid8', '5', '05', '4294967301'), ('cid', '5', '05', '6'), ('tid', '(1,2)', '(01,02)', '(2,1)'),
	('pg_lsn', '1/A', '01/0A', '0/A'), ('oid8', '5', '05', '6'),
	('jsonb', '{"a": 1, "bb": [2.0]}', '{"bb": [2], "a": 1.00, "a": 1}', '{"a": 1, "bb": 2}'),
	('jsonb', '[]', ' [ ] ', '[[]]'), ('jsonb', '5', '5.0', '[5]'), ('jsonb', '"a"', '"\u0061"', '["a"]'), ('jsonb', '{}', '{ }', '[]'),
	('int2vector', '1 2', ' 1  2', '2 1'), ('oidvector', '1 2', ' 1  2', '2 1'),
	('int2vector[]', '{"1 2"}', '{" 1  2"}', '{"2 1"}'), ('oidvector[]', '{"1 2"}', '{" 1  2"}', '{"2 1"}'),
	('int4[]', '{1,NULL}', '{01, null}', '{1}'), ('int4[]', '{1}', '[1:1]={1}', '[0:0]={1}'), ('int4[]', '{}', ' { } ', '{NULL}'),
	('int4[]', '{{1,2}}', '{ {01,02} }', '{{1},{2}}'), ('text[]', '{a,""}', '{"a",""}', '{a,NULL}'), ('bpchar[]', '{a}', '{"a "}', '{b}'),
	('numeric[]', '{1.0}', '{1}', '{10}'), ('jsonb[]', '{"1.0"}', '{1}', '{10}'), ('interval[]', '{1 mon}', '{30 d}', '{31 d}'),
	('int4range', '[1,5)', '[1,4]', '[1,5]'), ('int4range', 'empty', '[1,1)', '[1,1]'), ('int8range', '(,5)', '(,4]', '(,5]'), ('int8range', '(,)', '[,]', '(,0)'),
	('numrange', '[1.0,2)', '[1,2.00)', '[1,2]'), ('tsrange', '[2000-01-01,)', '[2000-01-01 00:00,]', '(2000-01-01,)'),
	('tstzrange', '[2000-01-01 12:00+00,)', '[2000-01-01 13:00+01,)', '[2000-01-01 13:00+00,)'), ('daterange', '[2000-01-01,2000-01-01]', '[2000-01-01,2000-01-02)', '[2000-01-01,infinity)'),
	('int4multirange', '{[1,3),[3,5)}', '{[1,4]}', '{[1,2),[3,5)}'), ('int8multirange', '{}', '{[1,1)}', '{(,)}'), ('nummultirange', '{[1.0,2)}', '{[1,2.0)}', '{[1,2]}'),
	('tsmultirange', '{[2000-01-01,)}', '{[2000-01-01 00:00,]}', '{}'), ('tstzmultirange', '{[2000-01-01 12:00+00,)}', '{[2000-01-01 13:00+01,)}', '{}'),
	('datemultirange', '{[2000-01-01,2000-01-01]}', '{[2000-01-01,2000-01-02)}', '{}'),
	('guise_mood', 'sad', 'sad', 'ok'), ('guise_mood[]', '{sad,ok}', '{"sad","ok"}', '{ok,sad}'),
	('guise_pair', '(1.0,a)', '(1,"a")', '(1,)'), ('guise_pair', '(,)', ' (,)', '(0,)'), ('guise_pair[]', '{"(1.0,a)"}', '{"(1,a)"}', '{"(1,b)"}'),
	('guise_nested', '("(1.0,a)","{ok}")', '("(1,a)",{ok})', '("(1,a)",{})'), ('guise_range', '[1.0,2]', '[1,2.0]', '[1,2)'),
	('guise_domain', '1.0', '1', '10'), ('guise_domain[]', '{1.0}', '{1}', '{10}'), ('guise_of_domain', '(1.0)', '(1)', '(10)');
-- not all servers have all of these types
DELETE FROM guises WHERE to_regtype(type) IS NULL;

-- Do the type itself and the filter say the same of a pair?
CREATE FUNCTION pg_temp.same(one text, other text, OUT by_type boolean, OUT by_filter boolean) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format('SELECT (SELECT %s) = (SELECT %s), bloom_add(bloom_empty(10), %1$s) @> %2$s', one, other)
		INTO by_type, by_filter;
END
$$;

-- What a statement is refused with.
CREATE FUNCTION pg_temp.refusal(statement text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END
$$;

-- Alone, in an array, in a row, in a row in an array, beside others: this is
-- about what an item in another value is.
CREATE TEMPORARY TABLE verdicts AS
SELECT g.type, shape, one, other, third, equal.*, different.by_type AS different_by_type, different.by_filter AS different_by_filter
FROM guises AS g,
	 unnest('{%s,ARRAY[%s],ROW(%s),ARRAY[ROW(%s)],"(NULL::int, %s, ''x''::text)"}'::text[]) AS shape,
	 pg_temp.same(format(shape, format('%L::%s', one, type)), format(shape, format('%L::%s', other, type))) AS equal,
	 pg_temp.same(format(shape, format('%L::%s', one, type)), format(shape, format('%L::%s', third, type))) AS different
-- Before the minor releases of May 2025 this makes an oidvector of two
-- dimensions, and the = of oidvector compares the first of them alone.
WHERE NOT (type = 'oidvector' AND shape = 'ARRAY[%s]' AND pg_typeof(ARRAY['1 2'::oidvector]) = 'oidvector'::regtype);

-- these are three different values for the filter where they are for the type
SELECT * FROM verdicts
WHERE (by_type, by_filter, different_by_type, different_by_filter) IS DISTINCT FROM (true, true, false, false);
SELECT count(DISTINCT type) >= 70 AS most_types, count(*) >= 400 AS pairs FROM verdicts;

-- Every type with a default operator class, its own or by an implicit cast
-- that changes nothing, has a row above.  The first of those named have no input, so
-- that no keys can be made of them; the last are no keys.
SELECT t.oid::regtype AS untested
FROM pg_type AS t
WHERE t.oid < 16384 AND t.typtype IN ('b', 'r', 'm') AND t.typcategory <> 'A' AND
	  EXISTS (SELECT FROM pg_opclass AS o JOIN pg_am AS m ON m.oid = opcmethod
			  WHERE opcdefault AND amname IN ('btree', 'hash') AND
					(opcintype = t.oid OR opcintype = 'anyrange'::regtype AND typtype = 'r' OR opcintype = to_regtype('anymultirange') AND typtype = 'm' OR
					 EXISTS (SELECT FROM pg_cast
							 WHERE castsource = t.oid AND casttarget = opcintype AND castmethod = 'b' AND castcontext = 'i'))) AND
	  t.typname NOT IN ('pg_node_tree', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list', 'pg_brin_bloom_summary', 'pg_brin_minmax_multi_summary', 'tsvector', 'tsquery', 'aclitem') AND
	  NOT EXISTS (SELECT FROM guises WHERE to_regtype(type) = t.oid);

-- fail: the server has an order of these, but cannot hash them
SELECT bloom_add(bloom_empty(10), 'a'::tsvector);
SELECT bloom_add(bloom_empty(10), 'a'::tsquery);
-- fail: it can hash these, but the hash would be of OIDs of roles; nor in others
CREATE DOMAIN guise_acl AS aclitem;
CREATE TYPE guise_granted AS (id int, acl guise_acl);
CREATE TYPE guise_grants AS RANGE (subtype = guise_granted);
SELECT bloom_add(bloom_empty(10), makeaclitem(10, 10, 'SELECT', false));
SELECT template, refused.*
FROM unnest(ARRAY['bloom_add(bloom_empty(10), %s)', 'bloom_agg(%s)', 'bloom_agg(%s, 10, 0.01)', 'bloom_hash(%s)', 'counting_bloom_add(counting_bloom_empty(10), %s)',
				  'bloom_add_all(bloom_empty(10), ARRAY[%s])', 'bloom_missing(bloom_empty(10), ARRAY[%s])', 'bloom_empty(10) @> %s', 'bloom_shard(%s, 4)',
				  'bloom_add(bloom_empty(10), ARRAY[%s])', 'bloom_add(bloom_empty(10), ROW(1, %s))', 'bloom_add(bloom_empty(10), %s::guise_acl)',
				  'bloom_add(bloom_empty(10), ROW(1, %s)::guise_granted)', 'bloom_add(bloom_empty(10), ARRAY[ROW(1, %s)::guise_granted])',
				  'bloom_add(bloom_empty(10), guise_grants(ROW(1, %s)::guise_granted, NULL))']) AS template,
	 pg_temp.refusal('SELECT ' || format(template, $$makeaclitem(10, 10, 'SELECT', false)$$)) AS refused;
SELECT type, refused.*
FROM unnest(ARRAY['aclitem', 'aclitem[]', 'guise_acl', 'guise_acl[]', 'guise_granted', 'guise_grants', 'guise_grants[]', 'anyenum', 'anyarray', 'anyelement', 'anyrange', 'any', 'cstring', 'cstring[]', 'internal', 'void', 'trigger']) AS type,
	 pg_temp.refusal(format('SELECT bloom_empty(10, key_type => %L)', CASE type WHEN 'any' THEN '"any"' ELSE type END)) AS refused;
-- as text they can be keys
SELECT bloom_add(bloom_empty(10), makeaclitem(10, 10, 'SELECT', false)::text) @> makeaclitem(10, 10, 'SELECT', false)::text AS as_text,
	   bloom_add(bloom_empty(10), ROW(1, NULL::text)) @> ROW(1, NULL::text) AS in_row;
-- what PostgreSQL calls pseudo-types, and has values
SELECT bloom_add(bloom_empty(10), 'a'::unknown) @> 'a'::text AS unknown, bloom_add(bloom_empty(10), ROW(1)) @> ROW(1) AS record,
	   bloom_add(bloom_empty(10), ARRAY[ROW(1)]) @> ARRAY[ROW(1)] AS records;
DROP TYPE guise_grants, guise_granted;
DROP DOMAIN guise_acl;

-- Two types that SQL compares, be it with an operator of their own or by a cast to
-- one of them or to a third: a filter of keys of the one, tested with the other, says
-- what the join says, or is error 42804 (42883 where it has no operator).
CREATE DOMAIN guise_text AS text;
CREATE DOMAIN guise_chars AS char(5);
CREATE TEMPORARY TABLE compared AS
WITH pools (types, keys) AS (
	VALUES ('{text,varchar,char(5),name,"\"char\"",guise_text,guise_chars}'::text[], '{a,"a ",A,""}'::text[]),
		   ('{date,timestamp,timestamptz}', '{2000-01-01,2000-01-01 00:00+00,2000-01-01 12:00+00,2000-01-01 12:00+02,infinity}'),
		   ('{time,timetz,interval}', '{12:00,12:00+00,12:00+02,00:00}'),
		   ('{int2,int4,int8,numeric,float4,float8,money,oid,regclass,xid,xid8,cid,bool,guise_domain}', '{0,1,5,1.5}'),
		   ('{inet,cidr}', '{10.0.0.0/8,10.0.0.0,::1}'), ('{bit(3),varbit}', '{101,10,100}'),
		   ('{macaddr,macaddr8}', '{08:00:2b:01:02:03,08:00:2b:ff:fe:01:02:03}'), ('{json,jsonb,text}', '{1,1.0}'))
SELECT a_type, b_type, a, b, sql.state AS refused_by_sql, filter.state AS refused_by_filter, same.*
FROM pools, unnest(types) AS a_type, unnest(types) AS b_type, unnest(keys) AS a, unnest(keys) AS b,
	 format('%L::%s', a, a_type) AS a_key, format('%L::%s', b, b_type) AS b_key,
	 pg_temp.refusal(format('SELECT %s, %s', a_key, b_key)) AS none,
	 pg_temp.refusal(format('SELECT %s = %s', a_key, b_key)) AS sql,
	 pg_temp.refusal(format('SELECT bloom_add(bloom_empty(10), %s) @> %s', a_key, b_key)) AS filter,
	 LATERAL (SELECT NULL::bool AS by_sql, NULL::bool AS by_filter WHERE sql.state IS NOT NULL OR filter.state IS NOT NULL
			  UNION ALL SELECT s.* FROM pg_temp.same(a_key, b_key) AS s WHERE sql.state IS NULL AND filter.state IS NULL) AS same
WHERE a_type <> b_type AND none.state IS NULL;
SELECT a_type, b_type, count(*) FILTER (WHERE by_sql) AS equal, string_agg(format('%s %s', quote_literal(a), quote_literal(b)), ', ' ORDER BY a, b) FILTER (WHERE by_sql AND NOT by_filter) AS denied,
	   count(*) FILTER (WHERE NOT by_sql AND by_filter) AS imagined
FROM compared WHERE by_sql <> by_filter GROUP BY 1, 2 ORDER BY 1, 2;
SELECT refused_by_filter, count(DISTINCT (a_type, b_type)) > 5 AS pairs FROM compared WHERE refused_by_sql IS NULL GROUP BY 1 ORDER BY 1;
-- with the cast that the reference names, as the join
SELECT count(*) AS not_as_join
FROM (VALUES ('a '), ('a'), ('A'), ('')) AS v (v), (VALUES ('a'), ('A'), ('')) AS c (c)
WHERE (v::varchar = c::char(5)) <> (bloom_add(bloom_empty(10), v::char(5)) @> c::char(5)) OR (v::varchar = c::char(5)) <> (bloom_add(bloom_empty(10), c::char(5)) @> v::char(5));
-- every operator = of two types is among them
SELECT o.oid::regoperator AS untested
FROM pg_operator AS o
WHERE oprname = '=' AND oprleft <> oprright AND o.oid < 16384
  AND NOT EXISTS (SELECT FROM compared WHERE to_regtype(a_type) = oprleft AND to_regtype(b_type) = oprright);
DROP TABLE compared;
DROP DOMAIN guise_text, guise_chars;

-- Types that compare with each other are found in each other's filters.
SELECT pair[1] AS one, pair[2] AS other, (pg_temp.same(pair[1], pair[2])).*, (pg_temp.same(pair[2], pair[1])).by_filter AS swapped
FROM (VALUES (ARRAY['5::int2', '5::int8']), (ARRAY['1.5::float4', '1.5::float8']), (ARRAY[$$'a'::char(3)$$, $$'a'::text$$]),
			 (ARRAY[$$'a'::name$$, $$'a'::varchar$$]), (ARRAY[$$'10.0.0.0/8'::inet$$, $$'10.0.0.0/8'::cidr$$]),
			 (ARRAY[$$B'101'::bit(3)$$, $$B'101'::varbit$$]), (ARRAY[$$'pg_class'::regclass$$, $$1259::oid$$]),
			 (ARRAY[$$ROW(1::numeric, 'a'::text)$$, $$ROW(1.0, 'a')::guise_pair$$])) AS pairs (pair);
-- and so do columns and elements, which SQL does not compare
SELECT bloom_add(bloom_empty(10), (1::int2, 'a')) @> (1::int8, 'a'::name) AS columns,
	   bloom_add(bloom_empty(10), ROW(ROW(1.0, 'a'), 2)) @> ROW(ROW(1, 'a')::guise_pair, 2) AS nested,
	   bloom_add(bloom_empty(10), ARRAY[1::int2]) @> ARRAY[1::int8] AS elements,
	   bloom_add(bloom_empty(10), ARRAY['a'::char(9)]) @> ARRAY['a'] AS texts;

-- Different values in one array, row or document have different bytes,
-- wherever one ends and the next begins.
WITH keys AS (
	SELECT format('%L::text[]', k) AS key FROM unnest(ARRAY['{a,bc}', '{ab,c}', '{abc,""}', '{"",abc}', '{abc}', '{abc,NULL}', '{NULL,abc}', '{{abc}}', '[0:0]={abc}']) AS k
	UNION ALL SELECT format('%L::guise_pair', k) FROM unnest(ARRAY['(1,)', '(,1)', '(1,"")', '(,"")', '(,)', '(0,)']) AS k
	UNION ALL SELECT format('%L::jsonb', k) FROM unnest(ARRAY['{"a": "b", "c": "d"}', '{"a": "bc", "d": ""}', '["a", "b", "c", "d"]', '[["a", "b"], "c", "d"]', '[["a", "b", "c"], "d"]',
															  '[["a"], ["b"]]', '[["a", "b"]]', '[[["a"]], "b"]', '{"a": {"b": 1}}', '{"a": {}, "b": 1}', '[null, 0]', '[false, 0]', '["0", 0]', '[0, ["0"]]']) AS k
	UNION ALL SELECT format('%L::int4range', k) FROM unnest(ARRAY['[1,2)', '[1,)', '(,1)', '(,)', 'empty', '[2,3)']) AS k
)
SELECT count(*) AS keys, count(*) FILTER (WHERE by_type) AS equal_by_type, count(*) FILTER (WHERE by_filter) AS equal_by_filter
FROM (SELECT (pg_temp.same(a.key, b.key)).* FROM keys AS a, keys AS b
	  WHERE split_part(a.key, '::', 2) = split_part(b.key, '::', 2) AND a.key <> b.key) AS pairs;

-- An anonymous row's type comes from each value.
SELECT bloom_add_all(bloom_empty(10), ARRAY[(1, 'a'), (2, 'b')]) @> (2, 'b') AS found,
	   (bloom_info(bloom_add(bloom_empty(10), (1, NULL, (true, ARRAY[(1.5, now())]))))).key_type,
	   (bloom_info(bloom_add(bloom_empty(10), ROW()))).key_type AS no_column,
	   bloom_add(bloom_empty(10), (1, NULL::record)) @> (1, NULL::record) AS null_record;
SELECT bloom_agg((i, 'a')) @> (3, 'a') AS row_aggregate FROM generate_series(1, 3) AS i;
-- the same type of null after another value in the same call
SELECT i, (bloom_info(bloom_add(bloom_empty(10), (1, CASE WHEN i <> 2 THEN (2, 3) END)))).key_type FROM generate_series(1, 3) AS i;
SELECT i, (bloom_info(bloom_add(bloom_empty(10), CASE i WHEN 1 THEN (1, 2) WHEN 2 THEN ROW('a') ELSE (1, 2, 3) END))).key_type FROM generate_series(1, 4) AS i;

-- fail: rows of another type
SELECT bloom_add(bloom_add(bloom_empty(10), (1, 'a')), (1, 2));
SELECT bloom_add(bloom_empty(10), (1, 'a')) @> (1, 'a', 2);
SELECT bloom_add_all(bloom_empty(10), ARRAY[(1, 'a'), ROW(2)]);
SELECT bloom_add(bloom_empty(10), ARRAY[(1, 'a'), ROW(2)]);
SELECT bloom_agg(CASE WHEN i < 3 THEN (1, 'a') ELSE (i, i) END) FROM generate_series(1, 3) AS i;
SELECT bloom_seen(CASE WHEN i < 3 THEN (1, 'a') ELSE (i, i) END) OVER () FROM generate_series(1, 3) AS i;

DROP TYPE guise_of_domain, guise_nested, guise_pair, guise_range, guise_mood;
DROP DOMAIN guise_domain;
