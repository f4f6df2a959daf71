--
-- Stored sets: what is forgotten, and what is not
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = postgres;

--
-- A burst: a hundred times the keys that the set is sized for, within a slice, and
-- then a day at the rate that it is sized for.  Adds delete what has expired, in
-- the generations of the burst, too.
--
SELECT bloom_set_create('burst', 'int', capacity => 2000, fp_prob => 0.001, keep => '2 hours', slices => 2, seed => 1);
SELECT cardinality(bloom_set_add_all('burst', ARRAY(SELECT generate_series(1, 200000)), '2020-01-01 00:30')) > 199000 AS nearly_all_new;
SELECT count(*) > 1000 AS many_rows FROM burst WHERE slice = '2020-01-01';
-- bloom_set_compact deletes it at once
BEGIN;
SELECT bloom_set_compact('burst') AS moved;
SELECT count(*) AS rows FROM burst WHERE bucket >= 0;
ROLLBACK;
SELECT count(*) > 1000 AS many_rows FROM burst WHERE slice = '2020-01-01';
SELECT sum(cardinality(bloom_set_add_all('burst', ARRAY(SELECT hour * 1000000 + minute * 1000 + i FROM generate_series(1, 16) AS i),
	'2020-01-01'::timestamptz + hour * interval '1 hour' + minute * interval '1 minute'))) > 22000 AS nearly_all_new
FROM generate_series(1, 24) AS hour, generate_series(0, 59) AS minute;
SELECT count(*) AS rows_of_the_burst FROM burst WHERE slice = '2020-01-01';
-- none of the last two hours is denied
SELECT bloom_set_contains_all('burst', array_agg(hour * 1000000 + minute * 1000 + i), '2020-01-02 00:59') AS none_denied
FROM generate_series(23, 24) AS hour, generate_series(0, 59) AS minute, generate_series(1, 16) AS i;
DROP TABLE burst;

--
-- A time may be ahead of the clock by a slice.  What must be remembered by the
-- clock is not deleted then: here, a key of the oldest slice.  All is in one bucket.
--
-- Within a transaction, the clock stands still.
--
BEGIN;
SELECT bloom_set_create('ahead', 'int', capacity => 100, fp_prob => 1e-9, keep => '4 days', slices => 4, grow => false, seed => 1);
SELECT bloom_set_add('ahead', 1, now() - interval '4 days') AS oldest, bloom_set_add('ahead', 2, now()) AS newest;
SELECT bloom_set_contains('ahead', 1) AS there, bloom_set_contains('ahead', 1, now() + interval '1 day') AS there_tomorrow;
SAVEPOINT s;
SELECT bloom_set_add('ahead', 3, now() + interval '1 day') AS ahead;
SELECT bloom_set_contains('ahead', 1) AS still_there, bloom_set_contains('ahead', 3) AS and_the_other;
SELECT bloom_set_add('ahead', 1) AS new;
ROLLBACK TO s;
SELECT bloom_set_add_all('ahead', ARRAY[4, 5, 4], now() + interval '1 day') AS ahead;
SELECT bloom_set_missing('ahead', ARRAY[1, 2, 4, 5]) AS denied;
ROLLBACK TO s;
-- nor by bloom_set_compact, which goes by the clock (and that does not stand still)
SELECT bloom_set_add('ahead', 3, now() + interval '1 day') AS ahead, bloom_set_compact('ahead') AS moved;
SELECT bloom_set_contains('ahead', 1) OR date(clock_timestamp()) > date(now()) AS still_there;
ROLLBACK TO s;
-- what need not be remembered by either is deleted
SELECT bloom_set_add('ahead', 6, now() - interval '6 days') AS old;
SELECT count(*) AS rows FROM ahead WHERE bucket >= 0 AND slice < now() - interval '5 days';
SELECT bloom_set_compact('ahead') AS moved;
SELECT count(*) AS rows FROM ahead WHERE bucket >= 0 AND slice < now() - interval '5 days';
ROLLBACK TO s;
SELECT bloom_set_add('ahead', 6, now() - interval '6 days') AS old, bloom_set_add('ahead', 7, now() + interval '1 day') AS ahead;
SELECT count(*) AS rows FROM ahead WHERE bucket >= 0 AND slice < now() - interval '5 days';
COMMIT;
DROP TABLE ahead;
