--
-- demo.sql
--		What a Bloom filter does for a crawler, on real URLs.
--
-- scripts/demo runs this in a cluster of its own.  Or run it from the top of the
-- checkout, in any database of a server that has bloomtype installed:
--
--		psql -X -f examples/demo.sql
--
-- The URLs are the home pages of the packages in Debian 12 (main, amd64), in
-- the order of its package index, without those on some package registries and
-- on Debian's own hosts.  Many packages share a home page, as many links lead a
-- crawler to the same page.
--
-- All tables are temporary.  The script computes every number that it prints.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset pager off
\pset footer off
\pset numericlocale on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;

CREATE TEMP TABLE link (
	id	int GENERATED ALWAYS AS IDENTITY,
	url	text NOT NULL
);
\copy link (url) FROM PROGRAM 'gzip -dc examples/data/homepages.txt.gz'
ANALYZE link;

-- What was promised, and what was measured; printed at the end.
CREATE TEMP TABLE verdict (
	promise		text,
	measured	text,
	kept		boolean
);

CREATE FUNCTION pg_temp.percent(x float8) RETURNS numeric
LANGUAGE sql AS 'SELECT round(100 * x::numeric, 4)';

SELECT count(DISTINCT url) AS urls,
	   to_char(count(*), 'FM999,999,999') AS links_shown,
	   to_char(count(DISTINCT url), 'FM999,999,999') AS urls_shown
FROM link \gset

--
-- (a) Crawler dedup
--

\echo
\echo '(a) A crawler finds' :links_shown 'links to' :urls_shown 'different URLs.'
\echo
\echo 'It tests each link against a filter.  "No" is certain: the crawler fetches the page'
\echo 'and adds the link, so it never fetches a page twice.  "Yes" is a false positive at'
\echo 'the requested rate when the filter is full, and less before: then a page is lost.'
\echo

-- One crawl: the URLs that a filter of this capacity and fp_prob lets through.
CREATE FUNCTION pg_temp.crawl(capacity bigint, fp_prob float8)
RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	seen	bloom := bloom_empty(capacity, fp_prob);
	next	text;
BEGIN
	FOR next IN SELECT url FROM link ORDER BY id
	LOOP
		IF NOT bloom_contains(seen, next) THEN
			seen := bloom_add(seen, next);
			RETURN NEXT next;
		END IF;
	END LOOP;
END
$$;

-- The filter fills while the crawl goes on: with i keys in it, it loses the
-- next new one at the rate (1 - e^(-k i / m))^k.  The mean of that over all i
-- is the loss to expect, well below the rate promised for the full filter.
CREATE TEMP TABLE crawl AS
SELECT asked AS fp_prob, fetched, distinct_fetched, expected_loss
FROM unnest('{0.1, 0.01, 0.001}'::float8[]) AS asked,
	 LATERAL (SELECT count(*) AS fetched, count(DISTINCT url) AS distinct_fetched
			  FROM pg_temp.crawl(:urls, asked) AS url) AS c,
	 LATERAL bloom_params(:urls, asked) AS p,
	 LATERAL (SELECT avg((1 - exp(-p.hashes::float8 * i / p.bits)) ^ p.hashes) AS expected_loss
			  FROM generate_series(0, :urls - 1) AS i) AS e;

SELECT pg_temp.percent(fp_prob) AS "asked, %",
	   :urls AS "URLs",
	   fetched,
	   fetched - distinct_fetched AS "fetched twice",
	   :urls - distinct_fetched AS lost,
	   pg_temp.percent((:urls - distinct_fetched) / :urls::float8) AS "loss, %",
	   pg_temp.percent(expected_loss) AS "to expect, %"
FROM crawl
ORDER BY fp_prob DESC;

INSERT INTO verdict
SELECT 'no page is fetched twice', string_agg(fetched - distinct_fetched || ' twice', ', '),
	   bool_and(fetched = distinct_fetched)
FROM crawl
UNION ALL
SELECT 'a crawl loses at most fp_prob = ' || pg_temp.percent(fp_prob) || ' %',
	   pg_temp.percent((:urls - distinct_fetched) / :urls::float8) || ' %',
	   (:urls - distinct_fetched) / :urls::float8 <= fp_prob
FROM crawl;

\echo 'Links that are in a table: bloom_seen keeps one row of each, exactly, without a sort.'
\echo

CREATE TEMP TABLE kept AS
SELECT url FROM (SELECT url, bloom_seen(url) OVER () AS seen FROM link) AS l WHERE NOT seen;

SELECT count(*) AS "rows kept", count(DISTINCT url) AS "different URLs" FROM kept;

INSERT INTO verdict
SELECT 'bloom_seen keeps one row of each URL', count(*) || ' of ' || :urls,
	   count(*) = :urls AND count(DISTINCT url) = :urls
FROM kept;

--
-- (b) Size
--

\echo '(b) The same URLs in a table with a unique index, and in filters.  A filter cannot'
\echo 'list its keys, and reports absent keys as present at the requested rate.'
\echo

CREATE TEMP TABLE seen (url text PRIMARY KEY);
INSERT INTO seen SELECT DISTINCT url FROM link;
ANALYZE seen;

SELECT what AS "kept in",
	   round(bytes / 1024.0) AS "kB",
	   round(bytes / :urls::numeric, 1) AS "bytes a URL",
	   round(bytes * 100.0 / sum(bytes) FILTER (WHERE n <= 2) OVER (), 1) AS "% of table and index"
FROM (
	SELECT 1 AS n, 'table' AS what, pg_relation_size('seen') AS bytes
	UNION ALL
	SELECT 2, 'its unique index', pg_relation_size('seen_pkey')
	UNION ALL
	SELECT 3, 'filter, fp_prob ' || p, pg_column_size(bloom_agg(url, :urls, p))
	FROM seen, unnest('{0.01, 0.001}'::float8[]) AS p
	GROUP BY p
) AS sizes
ORDER BY n, bytes;

--
-- (c) A filter before a join
--

\echo '(c) A log has every link ten times.  How often were the pages of the GNU project'
\echo 'visited?  The query counts before it joins, so it sorts every visit.  A filter of'
\echo 'the few pages drops the other visits first.  The join drops the false positives.'
\echo

CREATE TEMP TABLE visit AS
SELECT url, day, md5(url || day) AS session
FROM link, generate_series(1, 10) AS day;
CREATE TEMP TABLE gnu AS
SELECT DISTINCT url FROM link WHERE url ~ '^https?://(www\.)?gnu\.org/';
ANALYZE visit, gnu;

PREPARE without_filter AS
SELECT url, sessions
FROM gnu
JOIN (SELECT url, count(DISTINCT session) AS sessions
	  FROM visit
	  GROUP BY url) AS v USING (url);

PREPARE with_filter AS
SELECT url, sessions
FROM gnu
JOIN (SELECT url, count(DISTINCT session) AS sessions
	  FROM visit
	  WHERE (SELECT bloom_agg(url) FROM gnu) @> url
	  GROUP BY url) AS v USING (url);

\echo 'Without a filter:'
\echo
EXPLAIN (ANALYZE, COSTS OFF) EXECUTE without_filter;

\echo 'With WHERE (SELECT bloom_agg(url) FROM gnu) @> url before the GROUP BY:'
\echo
EXPLAIN (ANALYZE, COSTS OFF) EXECUTE with_filter;

CREATE TEMP TABLE answer_without AS EXECUTE without_filter;
CREATE TEMP TABLE answer_with AS EXECUTE with_filter;

WITH g AS MATERIALIZED (SELECT bloom_agg(url) AS f FROM gnu)
SELECT count(*) AS visits,
	   count(*) FILTER (WHERE (SELECT f FROM g) @> url) AS "pass the filter",
	   count(*) FILTER (WHERE url IN (SELECT url FROM gnu)) AS "belong to the answer"
FROM visit;

INSERT INTO verdict
SELECT 'a filter before a join changes no answer',
	   (SELECT count(*) FROM answer_with) || ' of ' || (SELECT count(*) FROM answer_without) || ' rows',
	   NOT EXISTS (TABLE answer_without EXCEPT ALL TABLE answer_with)
	   AND NOT EXISTS (TABLE answer_with EXCEPT ALL TABLE answer_without);

--
-- (d) Union
--

\echo '(d) Two crawlers share the links.  The union of their filters is, bit by bit, the'
\echo 'filter that one crawler would have.  A filter also estimates how many keys it holds.'
\echo

CREATE TEMP TABLE half AS
SELECT bloom_agg(url, :urls, 0.01) FILTER (WHERE id % 2 = 0) AS even,
	   bloom_agg(url, :urls, 0.01) FILTER (WHERE id % 2 = 1) AS odd,
	   bloom_agg(url, :urls, 0.01) AS whole
FROM link;

SELECT name AS "filter",
	   exact AS "URLs in it",
	   bloom_cardinality(f) AS "by its own estimate",
	   f = whole AS "equals the whole"
FROM half,
	 LATERAL (VALUES
		(1, 'even links', even, (SELECT count(DISTINCT url) FROM link WHERE id % 2 = 0)),
		(2, 'odd links', odd, (SELECT count(DISTINCT url) FROM link WHERE id % 2 = 1)),
		(3, 'even | odd', even | odd, :urls),
		(4, 'all links', whole, :urls)) AS v (n, name, f, exact)
ORDER BY n;

INSERT INTO verdict
SELECT 'the union of two halves equals the whole',
	   CASE WHEN even | odd = whole THEN 'equal' ELSE 'different' END,
	   even | odd = whole
FROM half;

INSERT INTO verdict
SELECT 'a filter denies no key that was added',
	   count(*) FILTER (WHERE NOT (SELECT whole FROM half) @> url) || ' of '
	   || count(*) || ' denied',
	   bool_and((SELECT whole FROM half) @> url)
FROM link;

-- Absent keys: no URL of ours has a fragment.
INSERT INTO verdict
SELECT 'a full filter reports at most 1.05 * ' || pg_temp.percent(0.01) || ' % of absent keys as present',
	   pg_temp.percent(rate) || ' %', rate <= 0.01 * 1.05
FROM (SELECT avg(((SELECT whole FROM half) @> (url || '#' || i))::int)::float8 AS rate
	  FROM seen, generate_series(1, 20) AS i) AS s;

--
-- (e) Sizing and inspection
--

\echo '(e) best_params computes bits per key and hashes for a rate, by a published table of'
\echo 'three digits.  The last column is the size of a filter for these URLs:'
\echo

SELECT pg_temp.percent(asked) AS "asked, %", bits_per_key, k,
	   pg_temp.percent(b.fp_prob) AS "reached, %",
	   round(p.bytes / 1024.0) AS "kB"
FROM unnest('{0.2, 0.05, 0.01, 0.001, 0.0001}'::float8[]) AS asked,
	 LATERAL best_params(asked) AS b,
	 LATERAL bloom_params(:urls, asked) AS p
ORDER BY asked DESC;

\echo 'The properties of a filter: bloom_info.'
\echo
\x on
SELECT (bloom_info(whole)).* FROM half;
\x off

--
-- (f) A stored set
--

\echo '(f) A stored set says of each link whether it is new, to any number of crawlers, and'
\echo 'forgets what a transaction has added that fails.  It needs no capacity and no rate.'
\echo

SELECT bloom_set_create('pg_temp.known', 'text') \g /dev/null

BEGIN;
SELECT cardinality(bloom_set_add_all('pg_temp.known', ARRAY(SELECT url FROM link))) AS "new, before the ROLLBACK";
ROLLBACK;

CREATE TEMP TABLE fetched AS
SELECT url FROM (SELECT url FROM link ORDER BY id) AS l
WHERE bloom_set_add('pg_temp.known', url);

SELECT (SELECT count(*) FROM link) AS links, count(*) AS fetched, count(DISTINCT url) AS "different URLs"
FROM fetched;

INSERT INTO verdict
SELECT 'a set lets each URL through once', count(*) || ' of ' || :urls,
	   count(*) = :urls AND count(DISTINCT url) = :urls
FROM fetched;

-- drop it while the session's temporary schema is there
DROP TABLE pg_temp.known;

--
-- The verdict
--

\echo
\echo 'What was promised, and what happened:'
\echo
SELECT promise, measured, CASE WHEN kept THEN 'kept' ELSE 'BROKEN' END AS verdict
FROM verdict;

DO $$
BEGIN
	IF (SELECT count(*) < 7 OR NOT bool_and(kept) FROM verdict) THEN
		RAISE EXCEPTION 'a promise was broken';
	END IF;
END
$$;
