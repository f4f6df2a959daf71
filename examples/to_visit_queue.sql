--
-- to_visit_queue.sql
--		A crawler's queue of pages to visit, in which each page appears once.
--
-- You push links.  A stored set remembers them, even after they have left the
-- queue, and a link that was pushed before is dropped.  Several workers pop, in
-- order, and do not wait for each other.  Run it from the top of
-- the checkout, in any database of a server that has bloomtype installed:
--
--		psql -X -f examples/to_visit_queue.sql
--
-- The links are those of examples/demo.sql: the home pages of the packages in
-- Debian 12.  Everything is in the schema to_visit_queue.  The script drops it
-- at the end, unless you set the psql variable keep.  The script computes every
-- number that it prints, and ends with an error if a promise was not kept.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset pager off
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;
CREATE SCHEMA to_visit_queue;
SET search_path = to_visit_queue, public;

CREATE TEMP TABLE link (
	id	int GENERATED ALWAYS AS IDENTITY,
	url	text NOT NULL
);
\copy link (url) FROM PROGRAM 'gzip -dc examples/data/homepages.txt.gz'

--
-- The queue
--

CREATE TABLE queue (
	id	bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	url	text NOT NULL
);

-- What was pushed.  A set needs no number of pages.
SELECT bloom_set_create('pushed', 'text', seed => 0) \g /dev/null

-- Push links: the result is how many of them were new.
CREATE FUNCTION push(urls text[]) RETURNS bigint
LANGUAGE sql AS $$
	WITH new AS (
		INSERT INTO to_visit_queue.queue (url)
		SELECT url
		FROM unnest(bloom_set_add_all('to_visit_queue.pushed', urls)) WITH ORDINALITY AS u (url, place)
		ORDER BY place
		RETURNING 1
	)
	SELECT count(*) FROM new
$$;

-- Pop the first links that no other worker is popping.  If the worker's
-- transaction rolls back, they are in the queue again.
CREATE FUNCTION pop(wanted int) RETURNS TABLE (id bigint, url text)
LANGUAGE sql AS $$
	WITH popped AS (
		DELETE FROM to_visit_queue.queue AS q
		WHERE q.id IN (SELECT f.id FROM to_visit_queue.queue AS f
					   ORDER BY f.id LIMIT wanted FOR UPDATE SKIP LOCKED)
		RETURNING q.id, q.url
	)
	SELECT p.id, p.url FROM popped AS p ORDER BY p.id
$$;

\echo
\echo 'The crawler pushes links as it finds them, 6,000 at a time:'
\echo
SELECT min(id) || ' to ' || max(id) AS links, push(array_agg(url ORDER BY id)) AS new
FROM link GROUP BY (id - 1) / 6000 ORDER BY min(id);

\echo
\echo 'The content of the set:'
\echo
SELECT key_type, keys, pg_size_pretty(bytes) AS size FROM bloom_set_info('pushed');

\echo
\echo 'The queue, compared with the exact result.  No page is there twice, and none is lost.'
\echo
CREATE TEMP TABLE counted AS
SELECT queued, queued - distinct_pages AS twice, exact, exact - queued AS lost
FROM (SELECT count(*) AS queued, count(DISTINCT url) AS distinct_pages FROM queue) AS q,
	 (SELECT count(DISTINCT url) AS exact FROM link) AS l;
SELECT * FROM counted;

\echo
\echo 'The first pages, in order; when they are linked again, they are not queued again:'
\echo
SELECT * FROM pop(5);
SELECT push(array_agg(url ORDER BY id)) AS new FROM (SELECT * FROM link WHERE id <= 50) AS l;

DO $$
BEGIN
	ASSERT (SELECT twice = 0 FROM counted), 'a page was pushed twice';
	ASSERT (SELECT lost = 0 FROM counted), 'a page was lost';
	ASSERT (SELECT min(id) = 6 FROM queue), 'not popped in order';
END
$$;

\if :{?keep}
\else
DROP SCHEMA to_visit_queue CASCADE;
\endif
