--
-- Equality and the hash operator class
--

CREATE TEMPORARY TABLE filters AS
SELECT n % 10 AS content, n, bloom_agg(n % 10 * 100 + i, 1000, 0.01) AS f
FROM generate_series(0, 49) AS n, generate_series(1, 20 + n % 10) AS i GROUP BY n;
-- of many keys, in bits form
INSERT INTO filters
SELECT 10 + n % 10, 100 + n, bloom_agg(n % 10 * 10000 + i, 1000, 0.01)
FROM generate_series(0, 49) AS n, generate_series(1, 500) AS i GROUP BY n;
INSERT INTO filters VALUES (99, 999, NULL), (99, 998, NULL);
ANALYZE filters;

SELECT count(DISTINCT content) AS contents, (SELECT count(*) FROM (SELECT DISTINCT f FROM filters) AS s) AS distinct_filters FROM filters;
SELECT count(*) AS groups, min(size), max(size) FROM (SELECT count(*) AS size FROM filters WHERE f IS NOT NULL GROUP BY f) AS s;
SELECT count(*) AS of_union FROM (SELECT f FROM filters UNION SELECT f FROM filters) AS s;
SELECT count(*) AS of_except FROM (SELECT f FROM filters EXCEPT SELECT f FROM filters WHERE content < 10) AS s;

SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM filters AS a JOIN filters AS b USING (f);
SELECT count(*) AS pairs, count(*) FILTER (WHERE a.content = b.content) AS of_same_content FROM filters AS a JOIN filters AS b USING (f);
RESET enable_nestloop;
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT count(*) AS pairs_without_hashing FROM filters AS a JOIN filters AS b USING (f);
RESET enable_hashjoin;

-- = and <> are each other's negation; equal filters hash alike.
SELECT bool_and((a.f = b.f) = (a.content = b.content)) AS equal_means_equal,
	   bool_and((a.f = b.f) <> (a.f <> b.f)) AS negation,
	   bool_and((a.f = b.f) = (b.f = a.f)) AS commutes,
	   bool_and(a.f <> b.f OR _bloom_hash(a.f) = _bloom_hash(b.f)) AS hash_alike,
	   bool_and(a.f <> b.f OR _bloom_hash_extended(a.f, 42) = _bloom_hash_extended(b.f, 42)) AS hash_alike_extended,
	   count(*) FILTER (WHERE a.f <> b.f AND _bloom_hash(a.f) = _bloom_hash(b.f)) AS collisions
FROM filters AS a, filters AS b WHERE a.f IS NOT NULL AND b.f IS NOT NULL;
-- the rules of hash support functions: with seed 0, the lower half is the same
SELECT bool_and(_bloom_hash_extended(f, 0)::bit(64)::bit(64) & x'00000000FFFFFFFF' = _bloom_hash(f)::bigint::bit(64) & x'00000000FFFFFFFF') AS lower_half,
	   bool_and(_bloom_hash_extended(f, 0) <> _bloom_hash_extended(f, 1)) AS seeded
FROM filters WHERE f IS NOT NULL;

-- All of the header counts, also what does not change the bits.
SELECT bloom_empty(63) = bloom_empty(64) AS capacity, bloom_empty(64, 0.01) = bloom_empty(64, 0.0099) AS fp_prob,
	   bloom_empty(64) = bloom_empty(64, 0.01, 1) AS seed, bloom_empty(64) = bloom_empty(64, key_type => 'int') AS key_type,
	   (SELECT bloom_agg(i) FROM generate_series(1, 0) AS i) = bloom_empty(64) AS shape;
-- A combination takes the larger capacity and its fp_prob; of equal capacities,
-- the larger fp_prob.  The order does not count.
SELECT DISTINCT a.capacity, a.fp_prob, b.capacity, b.fp_prob, info.capacity, info.fp_prob,
	   f | g = g | f AS commutes, (f | g) | f = f | g AS absorbs, (SELECT bloom_union_agg(u) FROM unnest(ARRAY[f, g]) AS u) = f | g AS aggregate,
	   ((bloom_info(f & g)).capacity, (bloom_info(f & g)).fp_prob) = (info.capacity, info.fp_prob) AS intersection
FROM (VALUES (60, 0.01), (64, 0.01), (64, 0.0095), (63, 0.0099)) AS a (capacity, fp_prob),
	 (VALUES (60, 0.01), (64, 0.01), (64, 0.0095), (63, 0.0099)) AS b (capacity, fp_prob),
	 LATERAL (SELECT bloom_add(bloom_empty(a.capacity, a.fp_prob), 1) AS f, bloom_add(bloom_empty(b.capacity, b.fp_prob), 2) AS g OFFSET 0) AS s,
	 bloom_info(f | g) AS info
WHERE (a.capacity, a.fp_prob) < (b.capacity, b.fp_prob)
ORDER BY 1, 2, 3, 4;
-- One set of keys has one form, whichever functions made the filter: as many
-- words as keys, one fewer, and one more.
CREATE TEMPORARY TABLE made AS
SELECT n, g.*
FROM unnest('{1,18,19,20,21,100}'::int[]) AS n,
	 LATERAL (SELECT ARRAY(SELECT i FROM generate_series(1, n) AS i ORDER BY i % 7, i) AS keys) AS k,
	 LATERAL (SELECT bloom_agg(i, 120, 0.01) AS whole, coalesce(bloom_agg(i, 120, 0.01) FILTER (WHERE i % 3 = 0), bloom_empty(120)) AS thirds,
			  coalesce(bloom_agg(i, 120, 0.01) FILTER (WHERE i % 3 <> 0), bloom_empty(120)) AS others
			  FROM unnest(keys) AS i) AS w,
	 LATERAL (VALUES ('aggregate', whole),
			  ('into a filter', (SELECT bloom_add_all(bloom_empty(120, key_type => 'int'), array_agg(i)) FROM unnest(keys) AS i)),
			  ('any', (SELECT bloom_agg(i, 120, 0.01) FROM (SELECT unnest(keys)::int8 AS i) AS s)),
			  ('add all', bloom_add_all(bloom_empty(120, key_type => 'int'), keys)),
			  ('add all twice', bloom_add_all(bloom_add_all(bloom_empty(120, key_type => 'int'), keys[n / 2 + 1:]), keys)),
			  ('union', thirds | others), ('union with all', whole | thirds),
			  ('union aggregate', (SELECT bloom_union_agg(f) FROM unnest(ARRAY[others, bloom_empty(120), thirds]) AS f)),
			  ('of one each', (SELECT bloom_union_agg(bloom_add(bloom_empty(120), i)) | bloom_empty(120, key_type => 'int') FROM unnest(keys) AS i)),
			  ('itself', whole & whole), ('from intersection', whole & thirds | others),
			  ('counting', (SELECT counting_bloom_agg(i, 120, 0.01)::bloom FROM unnest(keys || keys) AS i)),
			  ('counting sum', (counting_bloom_add_all(counting_bloom_empty(120), keys[:n / 2]) + counting_bloom_add_all(counting_bloom_empty(120, key_type => 'int'), keys[n / 3:]))::bloom),
			  ('text', whole::text::bloom), ('bytea', whole::bytea::bloom)) AS g (way, f);
SELECT n, count(*) AS ways, count(DISTINCT f::text) AS filters, array_agg(way) FILTER (WHERE f <> whole) AS others, min((bloom_info(f)).representation) AS representation
FROM (SELECT *, first_value(f) OVER (PARTITION BY n ORDER BY way) AS whole FROM made) AS s
GROUP BY n ORDER BY n;

-- hash index, hash partitions
CREATE TABLE indexed AS SELECT n, f FROM filters;
CREATE INDEX ON indexed USING hash (f);
SET enable_seqscan = off;
SELECT i.n FROM indexed AS i WHERE f = (SELECT bloom_agg(100 + k, 1000, 0.01) FROM generate_series(1, 21) AS k) ORDER BY n;
RESET enable_seqscan;
DROP TABLE indexed;
CREATE TABLE partitioned (n int, f bloom) PARTITION BY HASH (f);
CREATE TABLE partitioned_0 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE partitioned_1 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO partitioned SELECT n, f FROM filters;
SELECT count(*), count(DISTINCT tableoid) AS partitions FROM partitioned;
DROP TABLE partitioned;

-- There is no order.
\set VERBOSITY sqlstate
SELECT f FROM filters ORDER BY f;
\set VERBOSITY default

-- Each operator class of ours is complete.
SELECT opcname, amvalidate(oc.oid)
FROM pg_opclass AS oc JOIN pg_type AS t ON t.oid = oc.opcintype
WHERE typname = 'bloom' ORDER BY opcname COLLATE "C";

-- Hash indexes and hash partitions keep the hashes, so that they must not
-- change.  (These are of little-endian machines.)
SELECT name, _bloom_hash(f), _bloom_hash_extended(f, 0), _bloom_hash_extended(f, 42)
FROM (SELECT 'empty' AS name, bloom_empty(1000) AS f
	  UNION ALL SELECT 'keys', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 10) AS i
	  UNION ALL SELECT 'dense keys', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 150) AS i
	  UNION ALL SELECT 'bits', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i) AS s;
