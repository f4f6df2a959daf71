--
-- Joins that filter, by keys at the ends of their types: pairs of integers, oids,
-- dates and times; in rows that have nulls, that are older than the column, or
-- a text before it.  All have to give the same answers as without filters.
--
LOAD 'bloomtype_scan';
CREATE SCHEMA scan_keys;
SET search_path = scan_keys, public;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET bloomtype_scan.testing = force;

CREATE TABLE value AS SELECT unnest('{-9223372036854775808, -9223372036854775807, -4294967296, -2147483649, -2147483648, -65536, -32769, -32768, -32767,
    32766, 32767, 32768, 65535, 65536, 2147483646, 2147483647, 2147483648, 4294967295, 4294967296, 4294967297, 9223372036854775806, 9223372036854775807}'::int8[]) AS v;
INSERT INTO value SELECT generate_series(-110, 110);
CREATE TABLE type (name text, low int8, high int8);
INSERT INTO type VALUES ('int2', -32768, 32767), ('int4', -2147483648, 2147483647), ('int8', -9223372036854775808, 9223372036854775807), ('oid', 0, 4294967295);

-- tables of each type: plain, with nulls, with a text before, with an older row
CREATE FUNCTION make(name text, low int8, high int8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rows text := format('value WHERE v BETWEEN %s AND %s', low, high);
BEGIN
    EXECUTE format('CREATE TABLE %1$s_plain AS SELECT v::int8::%1$s AS k, 1 AS x FROM %2$s', name, rows);
    EXECUTE format('CREATE TABLE %1$s_nulls AS SELECT CASE WHEN v %% 3 <> 0 THEN 7 END AS n, CASE WHEN v %% 5 <> 0 THEN v END::%1$s AS k, CASE WHEN v %% 2 <> 0 THEN 1 END AS x FROM %2$s', name, rows);
    EXECUTE format('CREATE TABLE %1$s_text AS SELECT repeat(''y'', abs(v %% 9)::int) AS t, v::%1$s AS k, 1 AS x FROM %2$s', name, rows);
    EXECUTE format('CREATE TABLE %1$s_late AS SELECT 1 AS x FROM generate_series(1, 300); ALTER TABLE %1$s_late ADD k %1$s DEFAULT 17; INSERT INTO %1$s_late SELECT 2, v::%1$s FROM %2$s', name, rows);
END $$;
SELECT make(name, low, high) FROM type;

CREATE TABLE inner_keys (name text, condition text);
INSERT INTO inner_keys VALUES ('dense', 'v BETWEEN 10 AND 90'), ('negative', 'v BETWEEN -90 AND -10'), ('most of int2', 'v BETWEEN 32700 AND 32767'), ('least of int2', 'v BETWEEN -32768 AND -32767'),
    ('most of int4', 'v IN (2147483646, 2147483647)'), ('least of int4', 'v = -2147483648'), ('most of int8', 'v >= 9223372036854775806'), ('least of int8', 'v <= -9223372036854775807'),
    ('both of int8', 'abs(v / 2) > 4611686018427387902'), ('most of oid', 'v BETWEEN 4294967295 AND 4294967297'), ('around int4', 'v BETWEEN 2147483646 AND 2147483648'),
    ('none', 'false'), ('one', 'v = 17'), ('all', 'true');

-- the filters that were made, as EXPLAIN ANALYZE shows them, and answers that differ
CREATE FUNCTION compare(query text, OUT dropped bigint, OUT differs boolean) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
    without text;
    with_filters text;
BEGIN
    SET bloomtype_scan.enabled = off;
    EXECUTE query INTO without;
    SET bloomtype_scan.enabled = on;
    EXECUTE query INTO with_filters;
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    dropped := coalesce((SELECT sum(n::text::numeric) FROM jsonb_path_query(plan, 'strict $.**."Rows Removed by Bloom Filter"') AS n), 0);
    differs := without IS DISTINCT FROM with_filters;
END $$;
CREATE FUNCTION all_pairs() RETURNS TABLE (outer_type text, inner_type text, compared bigint, dropped boolean, different bigint) LANGUAGE plpgsql AS $$
DECLARE
    i type;
    inner_key inner_keys;
BEGIN
    FOR outer_type, inner_type IN SELECT a.name, b.name FROM type AS a, type AS b WHERE (a.name = 'oid') = (b.name = 'oid') ORDER BY a.name, b.name LOOP
        SELECT * INTO i FROM type WHERE name = inner_type;
        compared := 0; different := 0; dropped := false;
        FOR inner_key IN SELECT * FROM inner_keys LOOP
            PERFORM set_config('client_min_messages', 'warning', true);
            DROP TABLE IF EXISTS i;
            EXECUTE format('CREATE TABLE i AS SELECT ''p'' AS p, v::%s AS k FROM value WHERE v BETWEEN %s AND %s AND (%s)', i.name, i.low, i.high, inner_key.condition);
            IF inner_key.name <> 'none' THEN INSERT INTO i VALUES ('n', NULL), ('n', NULL); END IF;
            ANALYZE i;
            SELECT all_pairs.compared + count(*), all_pairs.different + count(*) FILTER (WHERE c.differs), all_pairs.dropped OR sum(c.dropped) > 0
            INTO compared, different, dropped
            FROM unnest('{plain,nulls,text,late}'::text[]) AS t,
                unnest('{SELECT array_agg(a ORDER BY a) FROM (SELECT (o.k::text || '' '' || count(*)::text) AS a FROM %s_%s AS o JOIN i ON o.k = i.k GROUP BY o.k) AS a,
                    SELECT array_agg(a ORDER BY a) FROM (SELECT concat(o.k\, '' ''\, i.p\, '' ''\, i.k\, '' ''\, count(*)) AS a FROM %s_%s AS o RIGHT JOIN i ON o.k = i.k GROUP BY o.k\, i.p\, i.k) AS a}'::text[]) AS q,
                compare(format(q, outer_type, t)) AS c;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT * FROM all_pairs();

-- dates and times, with the infinities, and a domain
CREATE DOMAIN whole AS int4;
CREATE TABLE moment AS
SELECT date '2020-01-01' + i % 50 AS d, timestamptz '2020-01-01' + i % 50 * interval '1 us' AS ts, timestamp '2020-01-01' + i % 50 * interval '1 us' AS t, time '10:00' + i % 50 * interval '1 us' AS tm, (i % 50)::whole AS w
FROM generate_series(1, 2000) AS i;
INSERT INTO moment VALUES ('infinity', 'infinity', 'infinity', '24:00', 2147483647), ('-infinity', '-infinity', '-infinity', '00:00', -2147483648), (NULL, NULL, NULL, NULL, NULL);
CREATE TABLE chosen AS SELECT row_number() OVER (ORDER BY d) AS id, * FROM (SELECT DISTINCT * FROM moment) AS m;
ANALYZE moment, chosen;
SELECT k, count(*) AS compared, sum(c.dropped) > 0 AS dropped, count(*) FILTER (WHERE c.differs) AS different
FROM unnest('{d,ts,t,tm,w}'::text[]) AS k, unnest('{id < 10,id IN (1\, 30),id > 40,id IN (1\, 52),true}'::text[]) AS rows,
    compare(format('SELECT concat(count(*), min(m.%1$s), max(m.%1$s)) FROM moment AS m JOIN (SELECT * FROM chosen WHERE %2$s OFFSET 0) AS c ON m.%1$s = c.%1$s', k, rows)) AS c
GROUP BY k ORDER BY k;

SET client_min_messages = warning;
DROP SCHEMA scan_keys CASCADE;
