--
-- maintained_filter.sql
--		A filter of a column's keys that follows the table: insert, update,
--		delete, truncate.
--
-- Triggers FOR EACH STATEMENT maintain a counting filter: their transition
-- tables contain the rows that were added and removed.  To drop rows early,
-- queries test its cast to bloom, which has a quarter of the size.  Run it from the top of the
-- checkout, in any database of a server that has bloomtype installed:
--
--		psql -X -f examples/maintained_filter.sql
--
-- Everything is in the schema maintained_filter.  The script drops it at the
-- end, unless you set the psql variable keep, and ends with an error if a
-- promise was not kept.
--
-- Before you copy it, know this:
--
--	 - Each statement writes the whole filter: a few kB for thousands of keys,
--	   5 MB for a million.  So use it for tables that change by many rows at a
--	   time.  If single rows change all the time, collect them in a table of
--	   changes, and apply these periodically.
--	 - The filter is one row: transactions that change the table wait for each
--	   other, from their first statement to their end.  In isolation levels
--	   above READ COMMITTED, one of two gets a serialization failure.
--	 - The triggers must see every change.  A user who can disable them, or change
--	   the filter, can make it deny keys.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset pager off
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS bloomtype;
CREATE SCHEMA maintained_filter;
SET search_path = maintained_filter, public;

--
-- A table, and the filter of its customers
--

CREATE TABLE orders (
	id			bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	customer	text
);

-- 20,000 different customers at a time are expected.
CREATE TABLE customer_filter (
	only_row	boolean PRIMARY KEY DEFAULT true CHECK (only_row),
	capacity	float8 NOT NULL,
	fp_prob		float8 NOT NULL,
	filter		counting_bloom(20000, 0.01) NOT NULL
);
INSERT INTO customer_filter (capacity, fp_prob, filter)
VALUES (20000, 0.01, counting_bloom_empty(20000, 0.01));

-- The triggers run this with the privileges of its owner, so that users who
-- change orders need no privileges on the filter.  So names are looked up in
-- trusted schemas only; replace public by the schema of the extension.
CREATE FUNCTION follow_orders() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
	-- lock the filter first, to see the changes of earlier transactions
	PERFORM FROM maintained_filter.customer_filter FOR UPDATE;
	IF TG_OP = 'TRUNCATE' THEN
		UPDATE maintained_filter.customer_filter
		SET filter = counting_bloom_empty(capacity, fp_prob);
	END IF;
	IF TG_OP IN ('INSERT', 'UPDATE') THEN
		UPDATE maintained_filter.customer_filter AS f
		SET filter = f.filter + (SELECT counting_bloom_agg(a.customer, f.capacity, f.fp_prob) FROM added AS a);
	END IF;
	-- all of this was added before
	IF TG_OP IN ('DELETE', 'UPDATE') THEN
		UPDATE maintained_filter.customer_filter AS f
		SET filter = counting_bloom_remove_all(f.filter, (SELECT array_agg(r.customer) FROM removed AS r));
	END IF;
	RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION follow_orders() FROM public;

CREATE TRIGGER follow_insert AFTER INSERT ON orders
	REFERENCING NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION follow_orders();
CREATE TRIGGER follow_update AFTER UPDATE ON orders
	REFERENCING OLD TABLE AS removed NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION follow_orders();
CREATE TRIGGER follow_delete AFTER DELETE ON orders
	REFERENCING OLD TABLE AS removed
	FOR EACH STATEMENT EXECUTE FUNCTION follow_orders();
CREATE TRIGGER follow_truncate AFTER TRUNCATE ON orders
	FOR EACH STATEMENT EXECUTE FUNCTION follow_orders();

-- What the filter must be, computed anew.
CREATE VIEW recomputed AS
SELECT counting_bloom_agg(o.customer, f.capacity, f.fp_prob) AS filter
FROM customer_filter AS f LEFT JOIN orders AS o ON true;

--
-- Changes
--

-- Two orders of each of 20,000 customers, and some without.
INSERT INTO orders (customer) SELECT 'customer ' || i % 20000 FROM generate_series(1, 40000) AS i;
INSERT INTO orders (customer) SELECT NULL FROM generate_series(1, 10);
-- The first half is deleted, once and then twice; other keys replace them.
DELETE FROM orders WHERE id <= 10000;
DELETE FROM orders WHERE id BETWEEN 20001 AND 30000;
UPDATE orders SET customer = 'new ' || id WHERE id BETWEEN 30001 AND 32000;
DELETE FROM orders WHERE id < 0;

\echo
\echo The filter follows the table, without a scan of the table:
SELECT (counting_bloom_info(filter)).keys AS keys_estimated,
	   (SELECT count(DISTINCT customer) FROM orders) AS keys_there,
	   pg_size_pretty((counting_bloom_info(filter)).bytes) AS counting,
	   pg_size_pretty((bloom_info(filter::bloom)).bytes) AS plain
FROM customer_filter;

--
-- Use
--

-- Of 100,000 visitors, those who may be customers; the others need no look-up
-- in the table.  The cast is in a subquery, so that it is computed once.
CREATE TEMP TABLE visitor AS
SELECT 'customer ' || i AS name FROM generate_series(1, 100000) AS i;
ANALYZE visitor;

\echo
\echo The filter drops most visitors who are not customers before the join:
SELECT count(*) AS visitors,
	   count(*) FILTER (WHERE maybe) AS maybe_customers,
	   count(*) FILTER (WHERE is_customer) AS customers,
	   count(*) FILTER (WHERE is_customer AND NOT maybe) AS denied
FROM (SELECT (SELECT filter::bloom FROM customer_filter) @> v.name AS maybe,
			 v.name IN (SELECT customer FROM orders WHERE customer IS NOT NULL) AS is_customer
	  FROM visitor AS v) AS s;

--
-- Was every promise kept?
--

DO $$
BEGIN
	ASSERT (SELECT f.filter = r.filter FROM maintained_filter.customer_filter AS f, maintained_filter.recomputed AS r),
		'the filter is not what it must be';
	ASSERT (SELECT filter::bloom = (SELECT bloom_agg(customer, 20000, 0.01) FROM maintained_filter.orders)
			FROM maintained_filter.customer_filter), 'the cast is not the filter of the survivors';
	ASSERT (SELECT bool_and(filter @> customer) FROM maintained_filter.customer_filter, maintained_filter.orders),
		'a customer is denied';
END
$$;
TRUNCATE orders;
DO $$
BEGIN
	ASSERT (SELECT filter = counting_bloom_empty(20000, 0.01) FROM maintained_filter.customer_filter),
		'the filter is not empty';
END
$$;

\if :{?keep}
\else
	SET client_min_messages = warning;
	DROP SCHEMA maintained_filter CASCADE;
\endif
