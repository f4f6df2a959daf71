--
-- A filter in a row: one statement locks it, finds the keys that are new, and
-- adds them, with bloom_missing and bloom_add_all
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;

CREATE TABLE crawl (site text PRIMARY KEY, filter bloom NOT NULL);
INSERT INTO crawl VALUES ('a', bloom_empty(100000)), ('b', bloom_empty(100000));

PREPARE visit (text, text[]) AS
UPDATE crawl SET filter = bloom_add_all(old.filter, $2)
FROM (SELECT site, filter,
			 ARRAY(SELECT DISTINCT page FROM unnest(bloom_missing(filter, $2)) AS page ORDER BY page) AS fresh
	  FROM crawl WHERE site = $1 FOR UPDATE) AS old
WHERE crawl.site = old.site
RETURNING old.fresh;

-- each once, without nulls; only those that the row's filter does not hold
EXECUTE visit('a', '{/, /about, NULL, /}');
EXECUTE visit('a', '{/news, /about}');
EXECUTE visit('b', '{/about}');
EXECUTE visit('a', '{/, /about, /news, /}');
SELECT site, bloom_cardinality(filter) AS pages FROM crawl ORDER BY site;

-- nothing to add, and no such row: nothing changes
CREATE TEMPORARY TABLE before AS SELECT * FROM crawl;
EXECUTE visit('a', '{}');
EXECUTE visit('a', '{NULL}');
EXECUTE visit('a', NULL);
EXECUTE visit('c', '{/about}');
SELECT site, crawl.filter = before.filter AS as_it_was FROM crawl JOIN before USING (site) ORDER BY site;

-- under a plan for any parameters, too
SET plan_cache_mode = force_generic_plan;
EXECUTE visit('b', '{/about, /, /}');
RESET plan_cache_mode;

-- rolled back, it is forgotten
BEGIN;
EXECUTE visit('b', '{/late}');
ROLLBACK;
EXECUTE visit('b', '{/late}');

-- fail: another key type; the row stays as it is
PREPARE visit_number (text, int[]) AS
UPDATE crawl SET filter = bloom_add_all(old.filter, $2)
FROM (SELECT site, filter, bloom_missing(filter, $2) AS fresh
	  FROM crawl WHERE site = $1 FOR UPDATE) AS old
WHERE crawl.site = old.site
RETURNING old.fresh;
EXECUTE visit_number('b', '{1}');
SELECT site, bloom_cardinality(filter) AS pages FROM crawl ORDER BY site;

DROP TABLE crawl;

--
-- What is missing is new: in keys and in bits form, and on the way from one to
-- the other, the false positives apart, and whatever else is in the array.
--
SELECT had, added, cardinality(once) AS fresh,
	   (SELECT array_agg(k ORDER BY at) FROM unnest(missing) WITH ORDINALITY AS m (k, at)) = once || once AS twice_in_order,
	   once = ARRAY(SELECT k FROM unnest(keys) AS k WHERE NOT f @> k ORDER BY k) AS as_one_by_one,
	   bloom_missing(after, keys) = '{}' AS none_after,
	   after = bloom_add_all(f, keys) AS same_filter,
	   (bloom_info(f)).representation || ' -> ' || (bloom_info(after)).representation AS forms
FROM (VALUES (0, 10), (0, 1000), (10, 10), (10, 1000), (1000, 10), (500, 500)) AS v (had, added),
	 LATERAL (SELECT bloom_add_all(bloom_empty(1000, 0.05), ARRAY(SELECT generate_series(1, had))) AS f,
					 ARRAY(SELECT generate_series(had + 1, had + added)) AS keys) AS a,
	 LATERAL (SELECT bloom_missing(f, keys || keys) AS missing, bloom_add_all(f, keys || keys) AS after) AS m,
	 LATERAL (SELECT ARRAY(SELECT DISTINCT k FROM unnest(missing) AS k ORDER BY k) AS once) AS o
ORDER BY had, added;
