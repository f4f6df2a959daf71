--
-- Numbers of different types meet as they do with SQL's =
--

CREATE FUNCTION pg_temp.attempt(expression text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT ' || expression INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;

-- Each number is added as each type that can hold it, and tested as each:
-- what does = say, and what the filter?  These are in keys form, so that
-- nothing is found by chance.
CREATE TEMPORARY TABLE verdicts AS
SELECT a_type, b_type, a, b,
	   pg_temp.attempt(format('%L::%s = %L::%s', a, a_type, b, b_type)) AS by_sql,
	   pg_temp.attempt(format('bloom_add(bloom_empty(10), %L::%s) @> %L::%s', a, a_type, b, b_type)) AS by_filter,
	   pg_temp.attempt(format('bloom_contains_any(bloom_add(bloom_empty(10), %L::%s), ARRAY[%L::%s])', a, a_type, b, b_type)) AS in_array,
	   pg_temp.attempt(format('bloom_add(bloom_add(bloom_empty(10), %L::%s), %L::%s) @> %3$L::%4$s', a, a_type, b, b_type)) AS added,
	   pg_temp.attempt(format('(SELECT bloom_add_all(bloom_add(bloom_empty(10), %L::%s), array_agg(b)) = bloom_add(bloom_add(bloom_empty(10), %1$L::%2$s), %3$L::%4$s) FROM (SELECT %3$L::%4$s AS b) AS s)', a, a_type, b, b_type)) AS aggregated
FROM unnest('{int2,int4,int8,numeric,float4,float8}'::text[]) AS a_type,
	 unnest('{int2,int4,int8,numeric,float4,float8}'::text[]) AS b_type,
	 unnest('{0,-0.0,7,7.00,7.5,-7,10000,100000000,-120000000,30000,0.1,16777217,
			  2147483648,4294967303,9007199254740992,9007199254740993,
			  9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,
			  1e18,1e19,1e38,1e-30,1e300,NaN}'::text[]) AS a,
	 unnest('{0,-0.0,7,7.00,7.5,-7,10000,100000000,-120000000,30000,0.1,16777217,
			  2147483648,4294967303,9007199254740992,9007199254740993,
			  9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,
			  1e18,1e19,1e38,1e-30,1e300,NaN}'::text[]) AS b;
-- numbers that a type does not hold
DELETE FROM verdicts
WHERE pg_temp.attempt(format('%L::%s IS NULL', a, a_type)) <> 'false' OR pg_temp.attempt(format('%L::%s IS NULL', b, b_type)) <> 'false';

-- Which meet?  42804: a key that was added could be denied.  The numbers count
-- where the filter says something else than =.
SELECT CASE WHEN a_type LIKE 'int%' THEN 'integer' WHEN a_type LIKE 'float%' THEN 'float' ELSE a_type END AS filter,
	   CASE WHEN b_type LIKE 'int%' THEN 'integer' WHEN b_type LIKE 'float%' THEN 'float' ELSE b_type END AS key,
	   min(CASE WHEN by_filter IN ('true', 'false') THEN 'meets' ELSE by_filter END) AS test,
	   min(CASE WHEN added = 'true' THEN 'meets' ELSE added END) AS add,
	   count(*) FILTER (WHERE by_filter IN ('true', 'false') AND by_filter <> by_sql) AS not_as_sql,
	   count(*) FILTER (WHERE in_array <> by_filter) AS not_as_one,
	   count(*) FILTER (WHERE aggregated NOT IN ('true', added)) AS not_as_aggregated,
	   bool_or(by_filter = 'true') AS some_found, bool_or(by_filter = 'false') AS some_not
FROM verdicts
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM verdicts WHERE by_filter IN ('true', 'false') AND by_filter <> by_sql ORDER BY 1, 2, 3, 4;

-- Many integers, as numerics, and their neighbors
SELECT count(*) AS tested, count(*) FILTER (WHERE f @> n) AS found, count(*) FILTER (WHERE f @> (n + 0.5)) AS halves, count(*) FILTER (WHERE n <> 0 AND f @> (n * 100000)) AS others
FROM (SELECT bloom_agg(x, 100000, 0.01) AS f, array_agg(x::numeric) AS keys FROM (SELECT hashint8extended(i, 0) / (10 ^ (i % 18))::bigint AS x FROM generate_series(1, 5000) AS i) AS s) AS s, unnest(keys) AS n;

-- More than a float8 holds: certainly not in, or not to be added.
SELECT bloom_add(bloom_empty(10), 1.5::float8) @> 1e400 AS too_large, bloom_add(bloom_empty(10), 1.5::float8) @> -1e400 AS too_small;
\set VERBOSITY sqlstate
SELECT bloom_add(bloom_add(bloom_empty(10), 1.5::float8), 1e400);
\set VERBOSITY default

-- Nothing is converted inside of other values, or beside other types.
SELECT bloom_add(bloom_empty(10), ARRAY[7]) @> ARRAY[7.0];
SELECT bloom_add(bloom_empty(10), (7, 'a')) @> (7.0, 'a');
SELECT bloom_add(bloom_empty(10), 7) @> 7::oid;
SELECT bloom_add(bloom_add(bloom_empty(10), 7), 7.0);
SELECT bloom_add(bloom_empty(10), 7.0) @> 7::float8;
SELECT bloom_add(bloom_empty(10), 7) | bloom_add(bloom_empty(10), 7.0);

-- A filter of numerics remains one.
SELECT i.key_type, i.keys, f @> 1.0 AS one, f @> 3.0 AS three, f @> 4 AS four
FROM (SELECT bloom_add_all(bloom_add(bloom_empty(10), 0.5), ARRAY[1, 2, 3]) AS f) AS s, bloom_info(f) AS i;
SELECT bloom_missing(bloom_add_all(bloom_empty(100), ARRAY[1.0, 2.0]), ARRAY[1, 2, 3]) AS missing;
