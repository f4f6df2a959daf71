--
-- demo.sql
--		What bloomtype is for, on visitors of a web site and on real URLs.
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
-- What needs a superuser is shown to superusers.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset pager off
\pset footer off
\pset numericlocale on
SET client_min_messages = warning;
SELECT current_setting('is_superuser')::bool AS is_superuser \gset

CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;

-- What was promised, and what was measured; printed at the end.
CREATE TEMP TABLE verdict (
	promise		text,
	measured	text,
	kept		boolean
);

-- The answer of a query, a number, and its elapsed time.
CREATE FUNCTION pg_temp.timed(query text, OUT answer bigint, OUT ms numeric)
LANGUAGE plpgsql AS $$
DECLARE
	began	timestamptz := clock_timestamp();
BEGIN
	EXECUTE query INTO answer;
	ms := round(extract(epoch FROM clock_timestamp() - began) * 1000, 1);
END
$$;

--
-- (a) A filter for each day, and days merged
--

\echo
\echo '(a) A web site has 20,000 users a day.  A table keeps a filter of them for each day.'
\echo 'Its column says for how many keys a filter is, and how often it may err:'
\echo
\echo '    CREATE TABLE visitors (day date PRIMARY KEY, users bloom(100000, 0.01));'
\echo '    INSERT INTO visitors'
\echo '    SELECT day, bloom_agg(user_id, 100000, 0.01) FROM visit GROUP BY day;'
\echo

CREATE TEMP TABLE visit AS
SELECT date '2026-11-01' + i / 20000 AS day, i / 20000 * 1400 + i % 20000 * 3 AS user_id
FROM generate_series(0, 559999) AS i;
ANALYZE visit;

CREATE TEMP TABLE visitors (day date PRIMARY KEY, users bloom(100000, 0.01));
INSERT INTO visitors SELECT day, bloom_agg(user_id, 100000, 0.01) FROM visit GROUP BY day;

\echo 'Which of the 28 days can have user 90000?  "No" is certain; "yes" is wrong for at most'
\echo '1 % of the users whom a filter does not have:'
\echo
\echo '    SELECT day FROM visitors WHERE users @> 90000;'
\echo

SELECT day FROM visitors WHERE users @> 90000 ORDER BY day;

INSERT INTO verdict
SELECT 'no day is missed that has the user', count(*) FILTER (WHERE users @> 90000) || ' of ' || count(*) || ' found',
	   bool_and(users @> 90000)
FROM visitors
WHERE day IN (SELECT day FROM visit WHERE user_id = 90000);

\echo 'Filters merge.  How many different users came in a week, in two, in four?  Beside it,'
\echo 'the same from the visits:'
\echo
\echo '    SELECT bloom_cardinality(bloom_union_agg(users)) FROM visitors WHERE day < ...;'
\echo '    SELECT count(DISTINCT user_id) FROM visit WHERE day < ...;'
\echo

CREATE TEMP TABLE period AS
SELECT days, m.answer AS estimate, m.ms AS merge_ms, c.answer AS exact, c.ms AS count_ms
FROM unnest('{7, 14, 28}'::int[]) AS days,
	 LATERAL pg_temp.timed(format('SELECT bloom_cardinality(bloom_union_agg(users)) FROM visitors WHERE day < date %L + %s', '2026-11-01', days)) AS m,
	 LATERAL pg_temp.timed(format('SELECT count(DISTINCT user_id) FROM visit WHERE day < date %L + %s', '2026-11-01', days)) AS c;

SELECT days, estimate AS "merged filters", merge_ms AS "ms",
	   exact AS "count(DISTINCT)", count_ms AS "ms"
FROM period ORDER BY days;

SELECT 'visits' AS "kept in", round(pg_relation_size('visit') / 1024.0) AS "kB"
UNION ALL
SELECT '28 filters', round(sum(pg_column_size(users)) / 1024.0) FROM visitors
UNION ALL
SELECT 'all merged: ' || bloom_summary(f), round(pg_column_size(f) / 1024.0)
FROM (SELECT bloom_union_agg(users) AS f FROM visitors) AS u;

INSERT INTO verdict
SELECT 'merged filters estimate the number of users within 1 %',
	   max(round(abs(estimate - exact) * 100.0 / exact, 2)) || ' %',
	   max(abs(estimate - exact) * 100.0 / exact) <= 1
FROM period;

INSERT INTO verdict
SELECT 'merged days equal the filter of all days',
	   CASE WHEN u.f = w.f THEN 'equal' ELSE 'different' END, u.f = w.f
FROM (SELECT bloom_union_agg(users) AS f FROM visitors) AS u,
	 (SELECT bloom_agg(user_id, 100000, 0.01) AS f FROM visit) AS w;

--
-- (b) A stored set
--

CREATE TEMP TABLE link (
	id	int GENERATED ALWAYS AS IDENTITY,
	url	text NOT NULL
);
\copy link (url) FROM PROGRAM 'gzip -dc examples/data/homepages.txt.gz'
ANALYZE link;

SELECT count(DISTINCT url) AS urls,
	   to_char(count(*), 'FM999,999,999') AS links_shown,
	   to_char(count(DISTINCT url), 'FM999,999,999') AS urls_shown
FROM link \gset

\echo '(b) Crawlers find' :links_shown 'links to' :urls_shown 'different URLs, and shall fetch each page once.'
\echo 'A stored set says of each link whether it is new, to any number of crawlers, and'
\echo 'forgets what a transaction has added that fails.  It needs no capacity and no rate:'
\echo
\echo '    INSERT INTO fetched SELECT url FROM link WHERE bloom_set_add(''known'', url);'
\echo

SELECT bloom_set_create('pg_temp.known', 'text') \g /dev/null

BEGIN;
SELECT cardinality(bloom_set_add_all('pg_temp.known', ARRAY(SELECT url FROM link))) AS "new, before a ROLLBACK";
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
-- (c) Rows dropped before a join
--

\echo '(c) A log has every link ten times.  How often were the pages of the GNU project'
\echo 'visited?  The query counts before it joins, so it sorts every visit.  A filter of'
\echo 'the few pages drops the other visits first; the join drops the false positives:'
\echo
\echo '    ... WHERE (SELECT bloom_agg(url) FROM gnu) @> url GROUP BY url ...'
\echo

CREATE TEMP TABLE log AS
SELECT url, day, md5(url || day) AS session
FROM link, generate_series(1, 10) AS day;
CREATE TEMP TABLE gnu AS
SELECT DISTINCT url FROM link WHERE url ~ '^https?://(www\.)?gnu\.org/';
ANALYZE log, gnu;

CREATE TEMP VIEW without_filter AS
SELECT url, sessions
FROM gnu
JOIN (SELECT url, count(DISTINCT session) AS sessions
	  FROM log
	  GROUP BY url) AS v USING (url);

CREATE TEMP VIEW with_filter AS
SELECT url, sessions
FROM gnu
JOIN (SELECT url, count(DISTINCT session) AS sessions
	  FROM log
	  WHERE (SELECT bloom_agg(url) FROM gnu) @> url
	  GROUP BY url) AS v USING (url);

CREATE TEMP TABLE answer_without AS TABLE without_filter;
CREATE TEMP TABLE answer_with AS TABLE with_filter;

SELECT name AS "query", r.answer AS "rows sorted", t.answer AS "visits", t.ms
FROM (VALUES (1, 'without a filter', 'without_filter', 'SELECT count(*) FROM log'),
			 (2, 'with a filter', 'with_filter', 'SELECT count(*) FROM log WHERE (SELECT bloom_agg(url) FROM gnu) @> url')) AS q (n, name, query, sorted),
	 LATERAL pg_temp.timed(sorted) AS r,
	 LATERAL pg_temp.timed('SELECT sum(sessions) FROM ' || query) AS t
ORDER BY n;

INSERT INTO verdict
SELECT 'a filter before a join changes no answer',
	   (SELECT count(*) FROM answer_with) || ' of ' || (SELECT count(*) FROM answer_without) || ' rows',
	   NOT EXISTS (TABLE answer_without EXCEPT ALL TABLE answer_with)
	   AND NOT EXISTS (TABLE answer_with EXCEPT ALL TABLE answer_without);

\if :is_superuser
\echo 'A plain join needs no change.  With LOAD ''bloomtype_scan'' (a preview), it makes the'
\echo 'filter by itself: SELECT count(*) FROM log JOIN gnu USING (url)'
\echo

LOAD 'bloomtype_scan';
SET max_parallel_workers_per_gather = 0;

CREATE TEMP TABLE plain_join (enabled boolean, answer bigint, ms numeric);
SET bloomtype_scan.enabled = off;
INSERT INTO plain_join SELECT false, * FROM pg_temp.timed('SELECT count(*) FROM log JOIN gnu USING (url)');
SET bloomtype_scan.enabled = on;
INSERT INTO plain_join SELECT true, * FROM pg_temp.timed('SELECT count(*) FROM log JOIN gnu USING (url)');

SELECT CASE WHEN enabled THEN 'on' ELSE 'off' END AS "bloomtype_scan.enabled", answer AS "visits", ms
FROM plain_join ORDER BY enabled;

EXPLAIN (COSTS OFF) SELECT count(*) FROM log JOIN gnu USING (url);

INSERT INTO verdict
SELECT 'bloomtype_scan changes no answer', string_agg(answer::text, ' and ' ORDER BY enabled), count(DISTINCT answer) = 1
FROM plain_join;
RESET max_parallel_workers_per_gather;
\endif

--
-- (d) Repeats
--

\echo '(d) One row of each URL, without a sort; exactly, or with a filter in place of the'
\echo 'keys, which is smaller and loses some of them, at most at the rate:'
\echo
\echo '    SELECT ... FROM (SELECT *, bloom_seen(url) OVER () AS seen FROM link) AS l WHERE NOT seen;'
\echo

CREATE TEMP TABLE kept AS
SELECT 1 AS n, 'bloom_seen(url)' AS query, NULL::float8 AS rate, url
FROM (SELECT url, bloom_seen(url) OVER () AS seen FROM link) AS l WHERE NOT seen
UNION ALL
SELECT 2, format('bloom_seen(url, %s, 0.01)', :urls), 0.01, url
FROM (SELECT url, bloom_seen(url, :urls, 0.01) OVER () AS seen FROM link) AS l WHERE NOT seen
UNION ALL
SELECT 3, format('bloom_seen(url, %s, 0.001)', :urls), 0.001, url
FROM (SELECT url, bloom_seen(url, :urls, 0.001) OVER () AS seen FROM link) AS l WHERE NOT seen;

SELECT query, count(*) AS kept, count(*) - count(DISTINCT url) AS repeats, :urls - count(DISTINCT url) AS lost
FROM kept GROUP BY n, query ORDER BY n;

INSERT INTO verdict
SELECT 'bloom_seen keeps no row twice', sum(n) || ' twice', sum(n) = 0
FROM (SELECT count(*) - count(DISTINCT url) AS n FROM kept GROUP BY kept.n) AS k
UNION ALL
SELECT 'bloom_seen keeps one row of each URL', count(*) || ' of ' || :urls, count(*) = :urls
FROM kept WHERE rate IS NULL
UNION ALL
SELECT format('with %s and %s, it loses at most %s %%', :urls, rate, rate * 100),
	   round((100 - count(*) * 100.0 / :urls), 3) || ' %', :urls - count(*) <= :urls * rate
FROM kept WHERE rate IS NOT NULL GROUP BY rate;

--
-- (e) Keys unique across partitions
--

\if :is_superuser
\echo '(e) A key that is unique across the partitions of a table, whatever its partition key:'
\echo
\echo '    SELECT bloom_unique_create(''event'', ''id'');'
\echo

CREATE EXTENSION IF NOT EXISTS bloomtype_unique CASCADE;
CREATE TEMP TABLE event (id text, month int) PARTITION BY LIST (month);
CREATE TEMP TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE TEMP TABLE event_2 PARTITION OF event FOR VALUES IN (2);
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id') \g /dev/null

CREATE FUNCTION pg_temp.try(statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'done';
EXCEPTION WHEN unique_violation THEN
	RETURN SQLERRM;
END
$$;

CREATE TEMP TABLE attempt AS
SELECT n, statement, pg_temp.try(statement) AS result
FROM (VALUES (1, $$INSERT INTO event VALUES ('a', 1)$$),
			 (2, $$INSERT INTO event VALUES ('a', 2)$$),
			 (3, $$INSERT INTO event VALUES ('b', 2)$$)) AS s (n, statement);
SELECT statement, result FROM attempt ORDER BY n;

INSERT INTO verdict
SELECT 'a key is in one partition only', count(*) || ' rows, ' || count(DISTINCT id) || ' keys', count(*) = 2 AND count(DISTINCT id) = 2
FROM event;

SELECT bloom_unique_drop('event', 'id') \g /dev/null
\endif

--
-- (f) What a rate costs
--

\echo '(f) The same URLs in a table with a unique index, and in filters.  A filter cannot'
\echo 'list its keys, and says yes to other keys at its rate:'
\echo

CREATE TEMP TABLE seen (url text PRIMARY KEY);
INSERT INTO seen SELECT DISTINCT url FROM link;
ANALYZE seen;

-- no URL of ours has a fragment
CREATE TEMP TABLE filter AS
SELECT rate, f,
	   (SELECT avg((f @> (url || '#' || i))::int) FROM seen, generate_series(1, 8) AS i)::float8 AS measured,
	   (SELECT count(*) FROM seen WHERE NOT f @> url) AS denied
FROM unnest('{0.1, 0.01, 0.001}'::float8[]) AS rate,
	 LATERAL (SELECT bloom_agg(url, :urls, rate) AS f FROM seen OFFSET 0) AS s;

SELECT what AS "kept in", round(bytes / 1024.0) AS "kB", round(bytes * 8 / :urls::numeric, 1) AS "bits a URL",
	   coalesce(round(100 * measured::numeric, 3) || ' %', 'none') AS "wrong yes, measured"
FROM (
	SELECT 0 AS n, 'table and index' AS what, pg_total_relation_size('seen') AS bytes, NULL::float8 AS measured
	UNION ALL
	SELECT rate, 'filter, ' || rate * 100 || ' %', pg_column_size(f), measured FROM filter
) AS sizes
ORDER BY bytes DESC;

INSERT INTO verdict
SELECT 'a filter denies no key that was added', sum(denied) || ' of ' || 3 * :urls || ' denied', sum(denied) = 0
FROM filter
UNION ALL
SELECT 'a full filter says yes to other keys at 1.05 times its rate, at most',
	   max(round((measured / rate)::numeric, 3)) || ' times', bool_and(measured <= 1.05 * rate)
FROM filter;

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
	IF (SELECT count(*) < 9 OR NOT bool_and(kept) FROM verdict) THEN
		RAISE EXCEPTION 'a promise was broken';
	END IF;
END
$$;
