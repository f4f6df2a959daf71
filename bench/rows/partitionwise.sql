-- A plan with a large filter for each partition is slower, and must not be chosen.
-- title: 10^7 distinct int8 in 16 partitions
-- setup:
DROP TABLE IF EXISTS parts;
CREATE TABLE parts (k int8, part int) PARTITION BY LIST (part);
DO $$ BEGIN FOR i IN 0..15 LOOP
EXECUTE format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES IN (%s)', i, i);
END LOOP; END $$;
INSERT INTO parts SELECT hashint8extended(i, :seed), i % 16 FROM generate_series(1, :rows) AS i;
VACUUM ANALYZE parts;
-- ours: bloom_agg(k, :rows, 0.01), enable_partitionwise_aggregate = on
SET enable_partitionwise_aggregate = on;
SELECT bloom_agg(k, :rows, 0.01) IS NULL FROM parts;
-- against: off | at most 1.1
SET enable_partitionwise_aggregate = off;
SELECT bloom_agg(k, :rows, 0.01) IS NULL FROM parts;
