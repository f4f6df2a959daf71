-- Star join: a large fact table, and dimensions of which a query needs little
--
-- A query joins sales with one product in a hundred.  It reads all sales, and
-- drops 99 of a hundred in the join.  Make a filter of the products' keys first,
-- and the query drops most of them in the scan: in each parallel worker,
-- in each partition, and, most important, on the other servers.
--
--     psql -v rows=1000000 -f examples/star_join/star_join.sql
--
-- The script makes the schema star_join, and the databases star_join_0 and
-- star_join_1, which stand for two other servers.  It checks that every form of
-- the query has the same result, and ends with an error if one has not.
--
--     -v rows=N       number of facts; default 10000000, which takes minutes
--     -v keep=1       keep everything at the end
--     -v host=H       where to reach the two databases; default :HOST
--     -v port=P       default :PORT

\set ON_ERROR_STOP on
\if :{?rows}
\else
	\set rows 10000000
\endif
\if :{?host}
\else
	\set host :HOST
\endif
\if :{?port}
\else
	\set port :PORT
\endif

SET client_min_messages = warning;
DROP SCHEMA IF EXISTS star_join CASCADE;
DROP DATABASE IF EXISTS star_join_0;
DROP DATABASE IF EXISTS star_join_1;
CREATE EXTENSION IF NOT EXISTS bloomtype;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'bloomtype' \gset
CREATE SCHEMA star_join;
SET search_path = star_join, :home;


--
-- The data: the same on every run
--

-- Three dimensions with keys of three kinds, a tenth as many as there are
-- facts.  A region is a hundredth of a dimension.
CREATE TABLE product AS
SELECT i * 7919 AS product, i % 100 AS region FROM generate_series(0, :rows / 10 - 1) AS s (n), LATERAL (SELECT n::bigint) AS t (i);
CREATE TABLE site AS
SELECT 'https://www.example.org/site/' || i AS site, i % 100 AS region FROM generate_series(0, :rows / 10 - 1) AS i;
CREATE TABLE visitor AS
SELECT md5(i::text)::uuid AS visitor, i % 100 AS region FROM generate_series(0, :rows / 10 - 1) AS i;

-- The facts choose from each dimension by a multiplication with a prime.
CREATE TABLE sale AS
SELECT i AS id, i * 48271 % (:rows / 10) * 7919 AS product,
	   'https://www.example.org/site/' || i * 69621 % (:rows / 10) AS site,
	   md5((i * 16807 % (:rows / 10))::text)::uuid AS visitor,
	   (i % 997)::int AS amount
FROM generate_series(0, :rows - 1) AS s (n), LATERAL (SELECT n::bigint) AS t (i);

-- the same in partitions
CREATE TABLE sale_parted (LIKE sale) PARTITION BY HASH (id);
SELECT format('CREATE TABLE sale_parted_%s PARTITION OF sale_parted FOR VALUES WITH (MODULUS 4, REMAINDER %1$s)', i)
FROM generate_series(0, 3) AS i \gexec
INSERT INTO sale_parted SELECT * FROM sale;

-- and on two servers
CREATE TABLE sale_far (LIKE sale) PARTITION BY HASH (id);
\set here :DBNAME
CREATE DATABASE star_join_0 TEMPLATE template0;
CREATE DATABASE star_join_1 TEMPLATE template0;
\connect star_join_0
CREATE EXTENSION bloomtype SCHEMA :home;
CREATE TABLE public.sale (id bigint, product bigint, site text, visitor uuid, amount int);
\connect star_join_1
CREATE EXTENSION bloomtype SCHEMA :home;
CREATE TABLE public.sale (id bigint, product bigint, site text, visitor uuid, amount int);
\connect :here
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET search_path = star_join, :home;
DROP SERVER IF EXISTS star_join_0 CASCADE;
DROP SERVER IF EXISTS star_join_1 CASCADE;
SELECT format('CREATE SERVER star_join_%s FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host %L, port %L, dbname %L, extensions %L, fetch_size %L)', i, :'host', :'port', 'star_join_' || i, 'bloomtype', '10000'),
	format('CREATE USER MAPPING FOR CURRENT_USER SERVER star_join_%s', i),
	format('CREATE FOREIGN TABLE sale_far_%s PARTITION OF sale_far FOR VALUES WITH (MODULUS 2, REMAINDER %1$s)
	SERVER star_join_%1$s OPTIONS (schema_name %L, table_name %L)', i, 'public', 'sale')
FROM generate_series(0, 1) AS i \gexec
SELECT format('ALTER SERVER star_join_%s OPTIONS (ADD batch_size %L, ADD async_capable %L)', i, '1000', 'true')
FROM generate_series(0, 1) AS i \gexec
INSERT INTO sale_far SELECT * FROM sale;
ANALYZE;


--
-- The queries
--

-- What every form must give: the sales of region 7, for each dimension.
CREATE TABLE expected AS
SELECT 'product' AS key, count(*), sum(amount) FROM sale JOIN product USING (product) WHERE region = 7
UNION ALL
SELECT 'site', count(*), sum(amount) FROM sale JOIN site USING (site) WHERE region = 7
UNION ALL
SELECT 'visitor', count(*), sum(amount) FROM sale JOIN visitor USING (visitor) WHERE region = 7
UNION ALL
SELECT 'all three', count(*), sum(amount)
FROM sale JOIN product AS p USING (product) JOIN site AS s USING (site) JOIN visitor AS v USING (visitor)
WHERE p.region < 20 AND s.region < 30 AND v.region < 40;

-- The filter goes before the join.  It is a scalar subquery: computed once, and
-- a parameter of the scan, which is why it can be sent.
CREATE TABLE form (name text, facts regclass, workers int);
INSERT INTO form VALUES ('local', 'sale', 0), ('parallel', 'sale', 2), ('partitioned', 'sale_parted', 0), ('foreign', 'sale_far', 0);

CREATE FUNCTION check_form(name text, facts regclass, workers int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	dimension text;
	query text;
	got record;
	want record;
	has_workers boolean;
	line text;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	IF workers > 0 THEN
		PERFORM set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
				set_config('min_parallel_table_scan_size', '0', true);
	END IF;
	FOR dimension IN SELECT e.key FROM expected AS e LOOP
		IF dimension = 'all three' THEN
			query := format('SELECT count(*), sum(amount)
				FROM %s AS f JOIN product AS p USING (product) JOIN site AS s USING (site) JOIN visitor AS v USING (visitor)
				WHERE p.region < 20 AND s.region < 30 AND v.region < 40
				  AND (SELECT bloom_agg(product) FROM product WHERE region < 20) @> f.product
				  AND (SELECT bloom_agg(site) FROM site WHERE region < 30) @> f.site
				  AND (SELECT bloom_agg(visitor) FROM visitor WHERE region < 40) @> f.visitor', facts);
		ELSE
			query := format('SELECT count(*), sum(amount)
				FROM %1$s AS f JOIN %2$I AS d USING (%2$I)
				WHERE d.region = 7
				  AND (SELECT bloom_agg(%2$I) FROM %2$I WHERE region = 7) @> f.%2$I', facts, dimension);
		END IF;
		EXECUTE query INTO got;
		SELECT e.count, e.sum FROM expected AS e WHERE e.key = dimension INTO want;
		IF got IS DISTINCT FROM want THEN
			RAISE EXCEPTION '%, %: % instead of %', name, dimension, got, want;
		END IF;
		IF workers > 0 THEN
			has_workers := false;
			FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
				has_workers := has_workers OR line LIKE '%Workers Planned%';
			END LOOP;
			ASSERT has_workers, 'there are parallel workers';
		END IF;
	END LOOP;
	RETURN 'as expected';
END
$$;
SELECT name, check_form(name, facts, workers) FROM form;

-- What crosses the wire: the sales of the region, and a hundredth of the rest,
-- which are false positives.
CREATE FUNCTION rows_from_far(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN sum((scan ->> 'Actual Rows')::numeric + coalesce((scan ->> 'Rows Removed by Filter')::numeric, 0))
	FROM jsonb_path_query(plan, 'strict $.** ? (@."Node Type" == "Foreign Scan")', silent => true) AS scan
	WHERE scan ? 'Relation Name';
END
$$;
CREATE TABLE wire AS
SELECT key, :rows::bigint AS facts, e.count AS matching,
	   rows_from_far(format('SELECT f.amount FROM sale_far AS f JOIN %1$I AS d USING (%1$I) WHERE d.region = 7', key)) AS fetched_without,
	   rows_from_far(format('SELECT f.amount FROM sale_far AS f JOIN %1$I AS d USING (%1$I) WHERE d.region = 7
		AND (SELECT bloom_agg(%1$I) FROM %1$I WHERE region = 7) @> f.%1$I', key)) AS fetched_with
FROM expected AS e WHERE key <> 'all three';
SELECT *, matching + round(1.1 * 0.01 * (facts - matching)) AS bound FROM wire;

DO $$
BEGIN
	-- a filter of few keys is lucky or not: so many keys were imagined, each with ten sales
	ASSERT (SELECT bool_and(fetched_with <= matching + 1.1 * 0.01 * (facts - matching)
							+ 4 * 10 * sqrt(0.01 * facts / 10)) FROM star_join.wire),
		'the rows that cross the wire are the matching ones, and fp_prob of the rest';
	ASSERT (SELECT bool_and(fetched_without = facts) FROM star_join.wire), 'without a filter, all of them do';
END
$$;

\if :{?keep}
\else
	DROP SERVER star_join_0 CASCADE;
	DROP SERVER star_join_1 CASCADE;
	DROP SCHEMA star_join CASCADE;
	DROP DATABASE star_join_0;
	DROP DATABASE star_join_1;
\endif
