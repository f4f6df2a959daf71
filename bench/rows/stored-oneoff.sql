-- One probe a statement, 1,000 statements; the key is there, so that all of
-- its bits are looked at.  The largest filter is not full, which does not matter
-- for that.
-- each: mb = 10 100
-- title: 1,000 one-off probes of a stored filter
-- setup:
DROP TABLE IF EXISTS seen;
CREATE TABLE seen (id int PRIMARY KEY, day char(10), filter bloom);
INSERT INTO seen
SELECT mb, '2026-11-20', bloom_add_all(bloom_empty_shaped(8 * 1048576 * mb, 7), array_agg(hashint8extended(i, :seed)))
FROM unnest(ARRAY[1, :mb]::bigint[]) AS mb, generate_series(1, least(838860 * mb, 8388600)) AS i
GROUP BY mb;
VACUUM ANALYZE seen;
-- ours: of :mb MB
DO $$ BEGIN FOR i IN 1..1000 LOOP
PERFORM filter @> hashint8extended(i, :seed) FROM seen WHERE id = :mb;
END LOOP; END $$;
-- against: of 1 MB | at most 1.8
DO $$ BEGIN FOR i IN 1..1000 LOOP
PERFORM filter @> hashint8extended(i, :seed) FROM seen WHERE id = 1;
END LOOP; END $$;
