--
-- The catalog: what the planner and other engines are told of our objects
--

CREATE TEMPORARY VIEW ours AS
SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, d.objsubid) AS object
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND extname = 'bloomtype';

-- What there is.
SELECT classid::regclass AS catalog FROM ours GROUP BY classid ORDER BY classid::regclass::text COLLATE "C";

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

-- Every function is IMMUTABLE and PARALLEL SAFE, but those that look at the
-- planner's statistics.
SELECT p.oid::regprocedure AS function, provolatile, proparallel
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE prokind <> 'a' AND (provolatile <> 'i' OR proparallel <> 's')
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT p.oid::regprocedure AS aggregate, provolatile, proparallel
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE prokind = 'a' AND (provolatile <> 'i' OR proparallel <> 's')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every function in C has the symbol of its name (overloads may add their type),
-- but those that both types share.
SELECT p.oid::regprocedure AS function, prosrc AS symbol
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_language AS l ON l.oid = prolang
WHERE lanname = 'c' AND prosrc <> proname
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- All are STRICT, but those that must see a null: transition and final
-- functions, and these.
SELECT p.oid::regprocedure AS function_not_strict
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE prokind = 'f' AND NOT proisstrict
  AND NOT EXISTS (SELECT FROM pg_aggregate AS a
				  WHERE p.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn))
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- What a test costs where the planner does not know better.
SELECT p.oid::regprocedure AS test, procost
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proname ~ '^_?bloom_(contains|contained)$'
ORDER BY p.oid::regprocedure::text COLLATE "C";
-- and what works on whole filters, but for input, output and casts
SELECT p.oid::regprocedure AS too_cheap, procost
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE 'bloom'::regtype = ANY (proargtypes) AND prokind = 'f' AND procost < 100
  AND NOT EXISTS (SELECT FROM pg_aggregate AS a WHERE p.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn))
  AND NOT EXISTS (SELECT FROM pg_cast AS c WHERE p.oid = c.castfunc)
  AND NOT EXISTS (SELECT FROM pg_type AS t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend))
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Operators, their commutators and negators, and estimators.
SELECT o.oid::regoperator AS operator, oprcode::oid::regprocedure AS function, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator,
	   oprrest, oprjoin, oprcanhash, oprcanmerge
FROM ours JOIN pg_operator AS o ON classid = 'pg_operator'::regclass AND o.oid = objid
ORDER BY oprname COLLATE "C", oprleft::regtype::text COLLATE "C", oprright::regtype::text COLLATE "C";
-- each commutator's commutator is the operator; estimators fit
-- the kind
SELECT o.oid::regoperator AS operator_of_wrong_commutator
FROM ours JOIN pg_operator AS o ON classid = 'pg_operator'::regclass AND o.oid = objid
	 LEFT JOIN pg_operator AS c ON c.oid = o.oprcom
WHERE c.oprcom IS DISTINCT FROM o.oid OR c.oprrest <> o.oprrest OR c.oprjoin <> o.oprjoin;

-- Aggregates: those with a combine function have a state of a real type and
-- arguments of concrete types, which is what distributed engines ask for.
SELECT aggtranstype::regtype AS state, aggcombinefn <> 0 AS combines, aggserialfn <> 0 AS serializes,
	   aggmtransfn <> 0 AS moves, aggtransspace AS space, agginitval IS NULL AS no_initial_value,
	   aggfinalmodify, count(*) AS aggregates,
	   bool_or(p.proargtypes::oid[] && ARRAY['anyelement'::regtype::oid, 'anyarray'::regtype::oid, 'internal'::regtype::oid]) AS polymorphic
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 2, 5;
SELECT p.proname, string_agg(DISTINCT p.proargtypes[0]::regtype::text COLLATE "C", ' ' ORDER BY p.proargtypes[0]::regtype::text COLLATE "C") AS first_arguments
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE prokind = 'a'
GROUP BY p.proname
ORDER BY p.proname COLLATE "C";
-- bloom_agg is not for a preferred type, to which types of extensions would be
-- cast that have another equality: citext is no text
SELECT p.oid::regprocedure AS attracts_other_types
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_type AS t ON t.oid = p.proargtypes[0]
WHERE prokind = 'a' AND t.typispreferred;
-- the transition function of a type is that of its name
SELECT p.oid::regprocedure AS aggregate, s.proname AS transition_function
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
	 JOIN pg_proc AS s ON s.oid = a.aggtransfn
	 JOIN pg_type AS t ON t.oid = p.proargtypes[0],
	 replace(typname, 'anyelement', 'any') AS type
WHERE p.proname = 'bloom_agg'
  AND s.proname <> '_bloom_agg_trans_' || type
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- The type.
SELECT typlen, typbyval, typalign, typstorage, typcategory, typispreferred, typinput, typoutput, typreceive, typsend, typmodin, typmodout
FROM pg_type WHERE typname = 'bloom';
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext
FROM ours JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND c.oid = objid
ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

-- Every function is in C: a body in SQL or PL/pgSQL would look for names in
-- somebody's search_path.
SELECT p.oid::regprocedure AS function, lanname
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
	 JOIN pg_language AS l ON l.oid = prolang
WHERE lanname NOT IN ('c', 'internal')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- What is not for people begins with an underscore, and nothing else does, but
-- what only an operator needs.
WITH internal AS (
	SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze])::oid AS oid FROM pg_type WHERE typname IN ('bloom', 'counting_bloom')
	UNION
	SELECT castfunc FROM ours JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND c.oid = objid
	UNION
	SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn])
	FROM ours JOIN pg_aggregate AS a ON classid = 'pg_proc'::regclass AND aggfnoid = objid
	UNION
	SELECT unnest(ARRAY[oprrest, oprjoin]) FROM ours JOIN pg_operator AS o ON classid = 'pg_operator'::regclass AND o.oid = objid
	UNION
	SELECT amproc FROM pg_amproc WHERE amproclefttype IN ('bloom'::regtype, 'counting_bloom'::regtype)
	UNION
	SELECT prosupport FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
)
SELECT p.oid::regprocedure AS misnamed
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE (proname LIKE E'\\_%') <> (p.oid IN (SELECT oid FROM internal))
  AND NOT (proname LIKE E'\\_%' AND p.oid IN (SELECT oprcode FROM pg_operator))
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- How many names a user meets.
SELECT count(DISTINCT proname) AS names
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proname NOT LIKE E'\\_%';

-- What the library adds to a session that has loaded it: settings, which any role can
-- change for itself.  (Its hooks: scripts/check-symbols.)
SELECT bloom_cardinality(bloom_empty(10)) = 0 AS loaded;
SELECT name, context, vartype, boot_val FROM pg_settings WHERE name LIKE 'bloomtype.%' ORDER BY name;

-- Every operator class in this database, ours among them, is complete.
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE NOT amvalidate(oid)) AS incomplete FROM pg_opclass;

-- No operator became ambiguous: the server's own @>, <@, | and & with untyped
-- literals.
SELECT ARRAY[1,2] @> '{1}' AS array_contains, '{1}' <@ ARRAY[1,2] AS array_contained,
	   '{"a": 1}'::jsonb @> '{"a": 1}' AS jsonb_contains, int4range(1, 10) @> 5 AS range_contains,
	   5 <@ int4range(1, 10) AS range_contained, 6 & 3 AS bit_and, 6 | 3 AS bit_or,
	   '(1,1)'::point <@ '(2,2),(0,0)'::box AS in_box, B'110' | B'011' AS bits;
