--
-- click_dedup.sql
--		Count clicks exactly once, though messages arrive twice.
--
-- A queue delivers each message at least once.  If a user clicks twice within
-- seconds, the page sends its message twice.  Other messages arrive again hours
-- later.  Here, a stored set remembers the messages of a day, and a trigger
-- deduplicates them on arrival.  Run it in any database of a server that has bloomtype
-- installed:
--
--		psql -X -f examples/click_dedup.sql
--
-- Everything is temporary.  The script computes every number that it prints,
-- and ends with an error if a promise was not kept.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset pager off
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;

-- Three days of clicks: 100,000 messages, and when each arrives.  The random
-- numbers are hashes, so that they are the same in every run.
CREATE FUNCTION pg_temp.random(i int, what int) RETURNS float8
LANGUAGE sql AS 'SELECT (hashint8extended(i, what) & 1048575) / 1048576.0::float8';

CREATE TEMP TABLE message AS
SELECT md5(i::text)::uuid AS id, (pg_temp.random(i, 1) * 5000)::int AS usr,
	   (pg_temp.random(i, 2) * 20)::int AS ad,
	   timestamptz '2026-01-01 00:00Z' + i * interval '2.592 s' AS sent
FROM generate_series(1, 100000) AS i;

CREATE TEMP TABLE arrival AS
SELECT *, floor(extract(epoch FROM arrived - timestamptz '2026-01-01 00:00Z') / 600)::int AS batch
FROM (SELECT id, usr, ad, sent AS arrived FROM message
	  UNION ALL					-- 6 of 100 are double clicks
	  SELECT id, usr, ad, sent + pg_temp.random(hashtext(id::text), 3) * interval '5 s'
	  FROM message WHERE pg_temp.random(hashtext(id::text), 4) < 0.06
	  UNION ALL					-- 2 of 100 come again, up to 20 hours later
	  SELECT id, usr, ad, sent + pg_temp.random(hashtext(id::text), 5) * interval '20 h'
	  FROM message WHERE pg_temp.random(hashtext(id::text), 6) < 0.02) AS a;
CREATE INDEX ON arrival (batch);

\echo
\echo 'Clicks arrive, some more than once:'
\echo
SELECT count(*) AS arrivals, count(DISTINCT id) AS messages,
	   count(*) - count(DISTINCT id) AS repeats
FROM arrival;

-- The set remembers a message for a day.
SELECT bloom_set_create('pg_temp.seen', 'uuid', keep => '1 day', seed => 0) \g /dev/null

-- Each message is inserted once: a trigger drops those that are in the set.  The
-- time is that of the messages; without the third argument it would be now().
CREATE TEMP TABLE click (id uuid, ad int, arrived timestamptz);
CREATE TRIGGER dedup BEFORE INSERT ON click
	FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('seen', 'id', 'arrived');

-- A batch is what arrives within ten minutes.
CREATE FUNCTION pg_temp.process(batch int) RETURNS void
LANGUAGE sql AS $$
	INSERT INTO click
	SELECT id, ad, arrived FROM arrival AS a WHERE a.batch = process.batch
	ORDER BY arrived
$$;

-- Process all batches.  Every tenth fails at first, after its INSERT.  The
-- rollback undoes what it added to the table and to the set.  So when the batch
-- is processed again, its messages are still new.
DO $$
DECLARE
	batch int;
BEGIN
	FOR batch IN SELECT DISTINCT a.batch FROM arrival AS a ORDER BY a.batch LOOP
		BEGIN
			PERFORM pg_temp.process(batch);
			IF batch % 10 = 0 THEN
				RAISE 'something went wrong';
			END IF;
		EXCEPTION WHEN raise_exception THEN
			PERFORM pg_temp.process(batch);
		END;
		COMMIT;
	END LOOP;
END
$$;

\echo
\echo 'The clicks that were counted, beside the exact answer.  No repeat was counted, and no'
\echo 'message was lost:'
\echo
CREATE TEMP TABLE result AS
SELECT ad, coalesce(c.clicks, 0) AS counted, e.clicks AS exact
FROM (SELECT ad, count(DISTINCT id) AS clicks FROM arrival GROUP BY ad) AS e
LEFT JOIN (SELECT ad, count(*) AS clicks FROM click GROUP BY ad) AS c USING (ad);
SELECT sum(counted) AS counted, sum(exact) AS exact, sum(exact - counted) AS lost,
	   count(*) FILTER (WHERE counted > exact) AS ads_counted_too_often
FROM result;

\echo
\echo 'The set at the end.  What is older than a day is forgotten:'
\echo
SELECT key_type, keys, keep, to_char(oldest AT TIME ZONE 'UTC', 'DD HH24:MI') AS oldest
FROM bloom_set_info('pg_temp.seen', (SELECT max(arrived) FROM arrival));

DO $$
BEGIN
	ASSERT (SELECT bool_and(counted <= exact) FROM result), 'a repeat was counted';
	ASSERT (SELECT sum(exact - counted) = 0 FROM result), 'a click was lost';
END
$$;

-- drop it while the session's temporary schema is there
DROP TABLE pg_temp.seen;
