-- Each call of bloom_add copies the filter.
-- title: 10,000 keys for a filter of 100,000
-- setup:
CREATE TEMP TABLE IF NOT EXISTS added AS
SELECT hashint8extended(i, :seed) AS k FROM generate_series(1, 10000) AS i;
-- ours: bloom_add_all(filter, array)
SELECT bloom_cardinality(bloom_add_all(bloom_empty(100000), array_agg(k))) FROM added;
-- against: PL/pgSQL, filter := bloom_add(filter, k)
DO $$ DECLARE filter bloom := bloom_empty(100000); k bigint; BEGIN
FOR k IN SELECT a.k FROM added AS a LOOP filter := bloom_add(filter, k); END LOOP;
END $$;
-- against: bloom_agg(k, 100000, 0.01)
SELECT bloom_cardinality(bloom_agg(k, 100000, 0.01)) FROM added;
