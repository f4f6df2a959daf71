--
-- Whatever a function returns can be dumped and restored: for every function of
-- type bloom, with any arguments, (f::text)::bloom = f, by the same bytes
--

-- Arguments of each type that our functions have: usual, extreme and wrong.
CREATE TEMPORARY TABLE argument (type text, value text);
INSERT INTO argument
SELECT type, value
FROM (VALUES
	('double precision', ARRAY['0.01', '0.5', '1e-12', '1', '2', '10.5', '1000', '4e8', '0', '-1', '''NaN''', '''Infinity''', 'NULL']),
	('integer', ARRAY['1', '7', '64', '0', '-5', '65', '2147483647', 'NULL']),
	('bigint', ARRAY['0', '-1', '64', '1000', '4294967296', '9223372036854775807', 'NULL']),
	('timestamp with time zone', ARRAY['now()', '''-infinity''', 'NULL']),
	('bytea', ARRAY['''''', '''\x01''', 'bloom_add(bloom_empty(10), 5)::bytea', '''\xff''::bytea || bloom_empty(10)::bytea', 'NULL']),
	('regtype', ARRAY['''bigint''', '''text''', '''numeric[]''', '''bloom''', '''json''', '0', '123456789', 'NULL']),
	('anycompatible', ARRAY['5', '''text''', '1.5', 'ARRAY[1, NULL]', '(5, ''x'')', '''(,]''::int4range', 'bloom_empty(10)', '''1''::json', 'NULL', 'NULL::int']),
	('anycompatiblearray', ARRAY['ARRAY[1, 2, NULL]', '''{a,b}''', '''{}''', '''{}''::int[]', 'ARRAY[1.5]', '''{{1,2},{3,4}}''::int[]', 'ARRAY(SELECT generate_series(1, 200))', 'ARRAY[(5, ''x'')]', 'NULL']),
	('bloom', ARRAY['bloom_empty(100)', 'bloom_empty_shaped(64, 64, -1)', 'bloom_empty_shaped(4294967296, 1)', 'bloom_add(bloom_empty(100), 5)', 'bloom_add_all(bloom_empty(100), ARRAY(SELECT generate_series(1, 100)))',
					'bloom_add(bloom_empty(100), ARRAY[1])', 'bloom_add_all(bloom_empty_shaped(64, 1), ARRAY(SELECT generate_series(1, 1000)))',
					'(SELECT bloom_agg(i) FROM generate_series(1, 0) AS i)', '(SELECT bloom_agg(i::text) FROM generate_series(1, 50) AS i)', 'NULL'])) AS v (type, pool),
	 unnest(pool) AS value;

-- Every function of ours that returns a filter, but for those whose arguments
-- only the server can make, and its parameters' types.  The aggregates' keys
-- are anyelement or of a concrete type.
CREATE TEMPORARY TABLE returning_bloom AS
SELECT p.oid::regprocedure AS function, proname, prokind, pronargs,
	   ARRAY(SELECT CASE WHEN t = 'anyelement'::regtype THEN 'anycompatible' ELSE format_type(t, NULL) END
			 FROM unnest(proargtypes) WITH ORDINALITY AS a (t, i) ORDER BY i) AS types,
	   prorettype = 'record'::regtype AS is_record
FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomtype')
  AND (prorettype = 'bloom'::regtype OR prorettype = 'record'::regtype
	   AND EXISTS (SELECT FROM unnest(proallargtypes, proargmodes) AS a (t, mode) WHERE t = 'bloom'::regtype AND mode = 'o'))
  AND NOT proargtypes::oid[] && ARRAY['internal'::regtype::oid, 'cstring'::regtype::oid];
-- the aggregates for concrete types take what can be cast to them
INSERT INTO argument
SELECT DISTINCT t, value
FROM returning_bloom, unnest(types) AS t, unnest(ARRAY['NULL', CASE t
	WHEN 'text' THEN '''text''' WHEN 'uuid' THEN '''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''' WHEN 'numeric' THEN '1.50'
	WHEN 'date' THEN '''infinity''' WHEN 'timestamp without time zone' THEN '''2026-01-01''' WHEN 'timestamp with time zone' THEN '''-infinity'''
	WHEN 'smallint' THEN '7' WHEN 'record' THEN '(5, ''x'')' END]) AS value
WHERE t NOT IN (SELECT type FROM argument) AND value IS NOT NULL;

-- One call: what is wrong with its result, or the SQLSTATE of its error.
CREATE FUNCTION pg_temp.result_of(proname text, is_record boolean, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f bloom;
BEGIN
	EXECUTE format('SELECT %s FROM generate_series(1, 3) LIMIT 1',
				   format(CASE WHEN is_record THEN '(%I(%s)).filter' ELSE '%I(%s)' END, proname, arguments)) INTO f;
	IF f IS NULL THEN
		RETURN 'null';
	ELSIF f::text::bloom <> f OR f::text::bloom::bytea <> f::bytea OR f::bytea::bloom::text <> f::text THEN
		RETURN 'differs';
	END IF;
	RETURN 'same';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;

-- Each value of each argument with some of another.
SET client_min_messages = error;
CREATE TEMPORARY TABLE call AS
SELECT function, arguments, pg_temp.result_of(proname, is_record, arguments) AS result
FROM (SELECT DISTINCT function, proname, is_record,
			 (SELECT string_agg(CASE WHEN value LIKE '%::%' OR types[i] LIKE 'any%' THEN value ELSE value || '::' || types[i] END, ', ' ORDER BY i)
			  FROM generate_series(1, pronargs) AS i,
				   LATERAL (SELECT pool[CASE i WHEN varied THEN a WHEN also THEN b ELSE 1 END] AS value
							FROM (SELECT array_agg(value ORDER BY value = 'NULL', ctid) AS pool FROM argument WHERE type = types[i]) AS p) AS v) AS arguments
	  FROM returning_bloom, generate_series(1, pronargs) AS varied, generate_series(1, pronargs) AS also,
		   generate_series(1, 13) AS a, generate_series(1, CASE WHEN prokind = 'a' THEN 1 ELSE 3 END) AS b
	  WHERE (varied <> also OR pronargs = 1)) AS c
WHERE arguments IS NOT NULL;
RESET client_min_messages;

SELECT count(DISTINCT function) > 35 AS functions, count(*) > 1000 AS calls, count(*) FILTER (WHERE result = 'same') > 300 AS results FROM call;
SELECT function, arguments, result FROM call WHERE result = 'differs' OR result LIKE 'XX%' ORDER BY 1, 2;
-- each function has returned something
SELECT function AS never_returned
FROM returning_bloom
WHERE function NOT IN (SELECT function FROM call WHERE result = 'same') AND proname NOT LIKE E'\\_%'
ORDER BY function::text COLLATE "C";
