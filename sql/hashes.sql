--
-- Keys as hashes: bloom_hash, bloom_positions, bloom_contains_hash, bloom_add_hashes
--

-- sql/golden.sql compares bloom_hash with the golden vectors.

-- The positions of a key are the bits that it sets, and those of its hash.
SELECT count(*) FILTER (WHERE bits <> positions) AS wrong, count(*) AS keys
FROM generate_series(1, 200) AS i, bloom_add(bloom_empty_shaped(64 * (i % 7 + 1), i % 64 + 1, i), 'key ' || i) AS f,
	 LATERAL (SELECT ARRAY(SELECT DISTINCT p FROM unnest(bloom_positions(f, 'key ' || i)) AS p ORDER BY p)) AS p (positions),
	 LATERAL (SELECT ARRAY(SELECT p::bigint FROM generate_series(0, 64 * (i % 7 + 1) - 1) AS p
						   WHERE get_byte(f::bytea, 44 + p / 8) >> p % 8 & 1 = 1)) AS b (bits)
WHERE (bloom_info(f)).representation = 'bits';
SELECT bloom_positions(bloom_empty_shaped(1024, 7), 5::bigint);
SELECT bloom_positions(bloom_empty_shaped(4294967296, 5), 5::bigint);

-- A literal is a text, as in bloom_contains; integers are one key type.
SELECT bloom_hash('bloom') = bloom_hash('bloom'::text) AS untyped, bloom_hash(5::int2) = bloom_hash(5::int8, 0) AS integers,
	   bloom_hash(5) = bloom_hash(5, 1) AS seeds, bloom_hash(1.0) = bloom_hash(1.00) AS numerics,
	   bloom_hash(ROW(1, 'a'::text)) = bloom_hash((1::int8, 'a'::varchar)) AS rows;
SELECT bloom_hash(NULL::int) IS NULL AS null_key, bloom_hash(1, NULL) IS NULL AS null_seed,
	   bloom_positions(NULL, 1) IS NULL AS null_filter, bloom_positions(bloom_empty(10), NULL::int) IS NULL AS no_positions,
	   bloom_contains_hash(NULL, 1) IS NULL AS not_contained, bloom_contains_hash(bloom_empty(10), NULL) IS NULL AS null_hash;
-- fail
SELECT bloom_hash(point(1, 1));
SELECT bloom_positions(bloom_add(bloom_empty(10), 1), 'one');

-- Numbers meet as with @>: a numeric that is no integer has no positions among integers.
SELECT bloom_positions(f, 1.0) = bloom_positions(f, 1) AS whole, bloom_positions(f, 1.5) AS none
FROM bloom_add(bloom_empty(10), 1) AS f;
-- A filter without a shape has no bits.
SELECT bloom_positions(f, 1), bloom_contains_hash(f, bloom_hash(1)) FROM (SELECT bloom_agg(i) AS f FROM generate_series(1, 0) AS i) AS s;

-- Keys by their hashes are the keys: the same filter, in both forms, from every seed.
SELECT capacity, seed, form,
	   f = bloom_add_all(bloom_empty(capacity, 0.01, seed), array_agg(i)) AS same,
	   f::bytea = bloom_add_all(bloom_empty(capacity, 0.01, seed), array_agg(i))::bytea AS same_bytes,
	   bool_and(bloom_contains_hash(f, bloom_hash(i, seed))) AS contained,
	   count(*) FILTER (WHERE bloom_contains_hash(f, bloom_hash(-i, seed)) <> (f @> -i)) AS other_answers
FROM (VALUES (10, 0), (1000, 0), (1000, -7), (100000, 42)) AS v (capacity, seed),
	 LATERAL (SELECT bloom_add_hashes(bloom_empty(capacity, 0.01, seed), array_agg(bloom_hash(i, seed)), 'int4') AS f
			  FROM generate_series(1, 1000) AS i) AS s,
	 LATERAL (SELECT (bloom_info(f)).representation AS form) AS r,
	 generate_series(1, 1000) AS i
GROUP BY capacity, seed, form, f
ORDER BY capacity, seed;

-- Nulls are ignored, repeats count once, a null array changes nothing.
SELECT bloom_add_hashes(f, '{1, NULL, 1, 2}') = bloom_add_hashes(f, '{2, 1}') AS same, bloom_add_hashes(f, NULL) = f AS no_array,
	   bloom_add_hashes(f, '{}') = f AS empty_array, bloom_add_hashes(NULL, '{1}', 'text') IS NULL AS null_filter,
	   (bloom_info(bloom_add_hashes(f, '{1,2}'))).key_type AS key_type
FROM bloom_empty(1000, 0.01, 0, 'uuid') AS f;
-- No key has the hash 0: it stands for 1.
SELECT bloom_add_hashes(f, '{0}') = bloom_add_hashes(f, '{1}') AS same, bloom_contains_hash(bloom_add_hashes(f, '{1}'), 0) AS contained
FROM bloom_empty(1000, 0.01, 0, 'text') AS f;
-- Unsigned: the order in the filter is not that of bigint.
SELECT bloom_add_hashes(bloom_empty(1000), '{-1, 5, -9223372036854775808}', 'text')::bytea::bloom
	 = bloom_add_hashes(bloom_empty(1000), '{5, -9223372036854775808, -1}', 'varchar') AS same;

CREATE TYPE hashes_mood AS ENUM ('sad', 'ok');
CREATE TYPE hashes_pair AS (a int, b text);
-- The key type is that of keys of this SQL type: composite types have their columns'.
SELECT type, (bloom_info(bloom_add_hashes(bloom_empty(10), '{7}', type::regtype))).key_type
FROM unnest('{int2,float4,char(3),hashes_mood,hashes_pair,int4[],"timestamp with time zone"}'::text[]) AS type;

-- fail: which type?
SELECT bloom_add_hashes(bloom_empty(10), '{7}');
-- fail: regtype cannot name the columns of an anonymous row
SELECT bloom_add_hashes(bloom_empty(10), '{7}', 'record');
SELECT bloom_add_hashes(bloom_empty(10), '{7}', 'point');
SELECT bloom_add_hashes(bloom_empty(10), '{7}', 4294967295::oid::regtype);
-- fail: another key type, even without a new key
SELECT bloom_add_hashes(bloom_add(bloom_empty(10), 1), ARRAY[bloom_hash(1)], 'text');
SELECT bloom_add_hashes(bloom_add(bloom_empty(10), 1), '{NULL}', 'text');
SELECT bloom_add_hashes(bloom_add(bloom_empty(10), 1), NULL, 'text');
SELECT bloom_add_hashes(bloom_agg(i), '{7}', 'int4') FROM generate_series(1, 0) AS i;

-- A stored filter is tested in slices, and many times.
CREATE TEMPORARY TABLE stored (f bloom);
INSERT INTO stored SELECT bloom_agg(i, 100000, 0.01) FROM generate_series(1, 100000) AS i;
SELECT bool_and(bloom_contains_hash(f, bloom_hash(i))) AS contained FROM stored, generate_series(1, 100000, 7) AS i;
SELECT count(*) FILTER (WHERE bloom_contains_hash(f, bloom_hash(i))) BETWEEN 800 AND 1300 AS at_its_rate
FROM stored, generate_series(100001, 200000) AS i;
SELECT bloom_positions(f, 5) = bloom_positions(bloom_empty(100000), 5) AS positions FROM stored;

DROP TYPE hashes_mood, hashes_pair;
