--
-- bloom_insert: add keys, and return those that are new
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

-- in order, each once, without nulls
SELECT i.fresh, bloom_cardinality(i.filter) AS keys
FROM bloom_insert(bloom_empty(100), ARRAY[30, 10, NULL, 30, 20, 10]) AS i;

-- only those that the filter does not hold
SELECT i.fresh, bloom_cardinality(i.filter) AS keys
FROM bloom_insert(bloom_add_all(bloom_empty(100), ARRAY[10, 40]),
				  ARRAY[30, 10, 20, 40]) AS i;

-- nothing new: the same filter
SELECT i.fresh, i.filter = bloom_add(bloom_empty(100), 1) AS same
FROM bloom_insert(bloom_add(bloom_empty(100), 1), ARRAY[1, 1, NULL]) AS i;

-- The filter is the one that bloom_add_all makes, in keys and in bits form and
-- on the way from one to the other; and what is fresh are the keys that the
-- filter did not hold.
SELECT had, added, bool_and(i.filter::text = bloom_add_all(f, keys)::text) AS same_filter,
	   bool_and(i.fresh = bloom_missing(f, keys)) AS as_missing, min(cardinality(i.fresh)) AS fresh,
	   bool_and(bloom_contains_all(i.filter, keys)) AS all_there_after,
	   min((bloom_info(f)).representation) || ' -> ' || min((bloom_info(i.filter)).representation) AS forms
FROM (VALUES (0, 10), (0, 1000), (10, 10), (10, 1000), (1000, 10), (500, 500)) AS v (had, added),
	 LATERAL (SELECT bloom_add_all(bloom_empty(1000, 0.05), ARRAY(SELECT generate_series(1, had))) AS f,
					 ARRAY(SELECT generate_series(had + 1, had + added)) AS keys) AS a,
	 LATERAL bloom_insert(f, keys) AS i
GROUP BY had, added ORDER BY had, added;

-- A key is fresh or not by the filter alone: other keys of the same array
-- cannot hide it, however many, nor can their order.
SELECT n, i.fresh = bloom_missing(f, keys) AS as_missing, cardinality(i.fresh) AS fresh,
	   (SELECT array_agg(k ORDER BY k) FROM unnest(r.fresh) AS k) = i.fresh AS in_any_order, i.filter = r.filter AS same_filter
FROM (VALUES (300), (20000)) AS v (n),
	 LATERAL (SELECT bloom_add_all(bloom_empty(200, 0.2), ARRAY(SELECT generate_series(-50, -1))) AS f,
					 ARRAY(SELECT generate_series(1, n)) AS keys) AS a,
	 LATERAL bloom_insert(f, keys || keys) AS i,
	 LATERAL bloom_insert(f, ARRAY(SELECT k FROM unnest(keys) AS k ORDER BY k DESC)) AS r;

-- a large filter, and keys of other types
SELECT cardinality(i.fresh) AS fresh, bloom_contains_all(i.filter, keys) AS all_there
FROM (SELECT array_agg(md5(k::text)) || array_agg(md5(k::text)) AS keys
	  FROM generate_series(1, 20000) AS k) AS a,
	 bloom_insert(bloom_empty(10000000, 1e-9), keys) AS i;
SELECT fresh FROM bloom_insert(bloom_empty(100), ARRAY[1.0, 1.00, 2.5]);
SELECT fresh FROM bloom_insert(bloom_empty(100), ARRAY[[1, 2], [2, 3]]);
SELECT fresh FROM bloom_insert(bloom_empty(100), '{b, a, b}'::text[]);

-- the argument stays as it is
BEGIN READ ONLY;
WITH f AS MATERIALIZED (SELECT bloom_add(bloom_empty(1000000), 1) AS f)
SELECT bloom_cardinality(f) AS before,
	   bloom_cardinality((bloom_insert(f, ARRAY[1, 2, 3])).filter) AS after,
	   bloom_cardinality(f) AS still
FROM f;
COMMIT;

--
-- A stored row: lock it, add, and return what is new, in one statement
--
CREATE TABLE crawl (site text PRIMARY KEY, filter bloom NOT NULL);
INSERT INTO crawl VALUES ('a', bloom_empty(100000)), ('b', bloom_empty(100000));

PREPARE visit (text, text[]) AS
UPDATE crawl SET filter = (n.i).filter
FROM (SELECT site, bloom_insert(filter, $2) AS i
	  FROM crawl WHERE site = $1 FOR UPDATE) AS n
WHERE crawl.site = n.site
RETURNING (n.i).fresh;

EXECUTE visit('a', '{/, /about, /}');
EXECUTE visit('a', '{/news, /about}');
EXECUTE visit('b', '{/about}');
EXECUTE visit('c', '{/about}');
SELECT site, bloom_cardinality(filter) AS pages FROM crawl ORDER BY site;
DROP TABLE crawl;

--
-- Nulls, nothing, and wrong use
--
SELECT filter IS NULL AS null_filter, fresh IS NULL AS null_fresh
FROM bloom_insert(NULL, ARRAY[1]);
SELECT filter = bloom_empty(100) AS as_it_was, fresh IS NULL AS null_fresh
FROM bloom_insert(bloom_empty(100), NULL::int[]);
SELECT filter = bloom_empty(100) AS as_it_was, fresh
FROM bloom_insert(bloom_empty(100), '{}'::int[]);
SELECT filter = bloom_empty(100) AS as_it_was, fresh
FROM bloom_insert(bloom_empty(100), ARRAY[NULL]::int[]);

-- fail: another key type
SELECT fresh FROM bloom_insert(bloom_add(bloom_empty(100), 1), ARRAY['1']);

-- fail: no shape
SELECT fresh FROM bloom_insert((SELECT bloom_agg(1) WHERE false), ARRAY[1]);

-- fail: no hash function for the key type
SELECT fresh FROM bloom_insert(bloom_empty(100), ARRAY[point(1, 1)]);
