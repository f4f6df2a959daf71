-- title: 1,000 one-off probes of a stored filter
-- setup:
DROP TABLE IF EXISTS seen;
CREATE TABLE seen (id int PRIMARY KEY, day char(10), filter bloom);
INSERT INTO seen
SELECT 1, '2026-11-20', bloom_add_all(bloom_empty_shaped(8 * 1048576, 7), array_agg(hashint8extended(i, :seed)))
FROM generate_series(1, 838860) AS i;
VACUUM ANALYZE seen;
-- ours: of 1 MB
DO $$ BEGIN FOR i IN 1..1000 LOOP
PERFORM filter @> hashint8extended(i, :seed) FROM seen WHERE id = 1;
END LOOP; END $$;
-- against: reading 10 bytes of the same row | at most 4
DO $$ BEGIN FOR i IN 1..1000 LOOP
PERFORM day = '2026-11-21' FROM seen WHERE id = 1;
END LOOP; END $$;
