--
-- The catalog: what the planner is told of sets and unique keys
--

CREATE TEMPORARY VIEW ours AS
SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, d.objsubid) AS object
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND extname IN ('bloomtype_set', 'bloomtype_unique');

-- (What there is: set_extensions.sql.)

-- Everything has a comment, but what belongs to something that has one, and the
-- functions of types, operators and aggregates, whose names begin with an underscore.
SELECT object AS without_comment
FROM ours
WHERE obj_description(objid, classid::regclass::name) IS NULL
  AND NOT (classid = 'pg_type'::regclass AND object LIKE '%bloom[]')
  AND object NOT LIKE E'function \\_%'
  -- the parts of an operator class
  AND classid NOT IN ('pg_amop'::regclass, 'pg_amproc'::regclass)
ORDER BY object COLLATE "C";
-- A comment is one sentence; the reference has the rest.
SELECT object, length(comment) FROM (SELECT object, obj_description(objid, classid::regclass::name) AS comment FROM ours) AS c
WHERE length(comment) > 200 OR comment ~ '[.?!] [A-Z]|\.$';

-- What they promise to the planner.
SELECT p.oid::regprocedure AS function, provolatile, proparallel
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE prokind <> 'a' AND (provolatile <> 'i' OR proparallel <> 's')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every function in C has the symbol of its name (overloads may add their type),
-- but those that both types share.
SELECT p.oid::regprocedure AS function, prosrc AS symbol
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_language AS l ON l.oid = prolang
WHERE lanname = 'c' AND prosrc <> proname
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- None is STRICT but these.
SELECT p.oid::regprocedure AS function_strict
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proisstrict
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every function is in C: a body in SQL or PL/pgSQL would look for names in
-- somebody's search_path.
SELECT p.oid::regprocedure AS function, lanname
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_language AS l ON l.oid = prolang
WHERE lanname NOT IN ('c', 'internal')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- What is not for people begins with an underscore.
SELECT p.oid::regprocedure AS internal
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proname LIKE E'\\_%'
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- How many names a user meets.
SELECT count(DISTINCT proname) AS names
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proname NOT LIKE E'\\_%';
