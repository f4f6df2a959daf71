-- Bytes of a filter of n keys, of a unique index, and of the hash table that
-- SELECT DISTINCT keeps in memory.
-- title: size
-- setup:
CREATE UNLOGGED TABLE IF NOT EXISTS curve_sizes AS
SELECT i, hashint8extended(i, :seed) AS id, md5(:seed || i::text)::uuid AS uuid FROM generate_series(1, :rows) AS i;
CREATE UNIQUE INDEX IF NOT EXISTS curve_sizes_i ON curve_sizes (i);
SELECT bench_settle('curve_sizes');
-- points: size
SELECT percent || ' %', n, pg_column_size(filter)
FROM unnest('{10, 1, 0.1, 0.0001}'::numeric[]) WITH ORDINALITY AS a (percent, place),
	 unnest('{100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000, 10000000}'::int[]) AS n,
	 LATERAL (SELECT bloom_agg(i, n, percent / 100) AS filter FROM generate_series(1, n) AS i) AS f
WHERE n <= :rows
ORDER BY place, n;
-- points: size
SELECT 'room for 10^7, holds n', n, pg_column_size(filter)
FROM unnest('{100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 1562499, 1562500, 3000000, 10000000}'::int[]) AS n,
	 LATERAL (SELECT bloom_agg(i, 10000000, 0.01) AS filter FROM generate_series(1, n) AS i) AS f
WHERE n <= :rows
ORDER BY n;
-- points: size
SELECT line, n, bench_index_size('curve_sizes', key, format('i <= %s', n))
FROM (VALUES ('unique index, bigint', 'id'), ('unique index, uuid', 'uuid')) AS l (line, key),
	 unnest('{100, 1000, 10000, 100000, 1000000, 10000000}'::int[]) AS n
WHERE n <= :rows
ORDER BY line, n;
-- points: size
SELECT 'hash table, bigint', n, bench_hash_memory(format('SELECT DISTINCT id FROM curve_sizes WHERE i <= %s', n))
FROM unnest('{100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000, 10000000}'::int[]) AS n
WHERE n <= :rows
ORDER BY n;
