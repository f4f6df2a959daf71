--
-- Golden vectors: the bytes are frozen (docs/format.md)
--
-- clients/vectors.json is made by test/unit/golden.c, without bloomtype.  If one
-- of these tests fails, the code is wrong, never the vector: filters that were
-- stored by an earlier version would deny their keys.
--

\set vectors `cat "${PG_ABS_SRCDIR:-.}/clients/vectors.json"`
CREATE TEMPORARY TABLE file AS SELECT :'vectors'::jsonb AS vectors;

CREATE TYPE golden_enum AS ENUM ('flower', 'bloom');
CREATE TYPE golden_pair AS (a int, b text);

CREATE TEMPORARY TABLE hashes AS
SELECT h.*
FROM file, jsonb_to_recordset(vectors->'hashes')
	 AS h (type text, key text, bytes text, key_type bigint, key_type_name text, seed bigint, hash text);

-- a number in hexadecimal, little-endian
CREATE FUNCTION pg_temp.reversed(hex text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$
	SELECT pg_catalog.string_agg(substr($1, i, 2), '' ORDER BY i DESC)
	FROM pg_catalog.generate_series(1, pg_catalog.length($1), 2) AS i
$$;

-- the bytes of a filter with one key, without its shape: key type, name, hash
CREATE FUNCTION pg_temp.filter_of(type text, key text, seed bigint)
RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	bytes bytea;
BEGIN
	EXECUTE format('SELECT bloom_add(bloom_empty_shaped(1024, 7, %s), %L::%s)::bytea', seed, key, type)
		INTO bytes;
	RETURN encode(substr(bytes, 5, 4) || substr(bytes, 45), 'hex');
END
$$;

CREATE FUNCTION pg_temp.hash_of(type text, key text, seed bigint)
RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	hash bigint;
BEGIN
	EXECUTE format('SELECT bloom_hash(%L::%s, %s)', key, type, seed) INTO hash;
	RETURN lpad(to_hex(hash), 16, '0');
END
$$;

-- A key, and the same by its canonical bytes as a bytea key: no rows.
SELECT type, key, seed
FROM hashes
WHERE pg_temp.filter_of(type, key, seed) IS DISTINCT FROM
	  pg_temp.reversed(lpad(to_hex(key_type), 8, '0')) ||
	  encode(convert_to(key_type_name, 'UTF8'), 'hex') ||
	  repeat('00', mod(8 - mod(length(key_type_name), 8), 8)) ||
	  pg_temp.reversed(hash)
   OR pg_temp.filter_of('bytea', '\x' || bytes, seed) IS DISTINCT FROM
	  '11000000' || pg_temp.reversed(hash)
   OR pg_temp.hash_of(type, key, seed) IS DISTINCT FROM hash;
SELECT count(*) > 90 AS hashes_checked FROM hashes;

-- The first bytes of bloombloombloom...: no rows.
CREATE TEMPORARY TABLE lengths AS
SELECT l.* FROM file, jsonb_to_recordset(vectors->'lengths') AS l (length int, seed bigint, hash text);
SELECT length, seed
FROM lengths
WHERE pg_temp.filter_of('text', left(repeat('bloom', 600), length), seed) IS DISTINCT FROM
	  '19000000' || pg_temp.reversed(hash);
SELECT count(*) > 90 AS lengths_checked FROM lengths;

-- Positions.  test/unit/bits.c checks our code for these; here, they are checked
-- against the formula, in numeric arithmetic.
CREATE TEMPORARY TABLE positions AS
SELECT p.* FROM file, jsonb_to_recordset(vectors->'positions')
	   AS p (hash text, bits numeric, hashes int, positions jsonb);
WITH RECURSIVE sequence AS (
	SELECT p.hash, p.bits, p.hashes, 0 AS i,
		   -- the hash as an unsigned number
		   mod(('x' || p.hash)::bit(64)::bigint::numeric + 18446744073709551616, 18446744073709551616) AS a
	FROM positions AS p
	UNION ALL
	SELECT hash, bits, hashes, i + 1,
		   mod(a * 15074714826142052245 + 2685821657736338717, 18446744073709551616)
	FROM sequence
	WHERE i < hashes
), computed AS (
	SELECT hash, bits, hashes,
		   jsonb_agg(div(a * bits, 18446744073709551616) ORDER BY i) AS positions
	FROM sequence
	WHERE i > 0
	GROUP BY hash, bits, hashes
)
SELECT count(*) AS positions_checked,
	   count(*) FILTER (WHERE p.positions = c.positions) AS positions_right
FROM positions AS p JOIN computed AS c USING (hash, bits, hashes);

-- Shards.
CREATE FUNCTION pg_temp.shard_of(type text, key text, shards int)
RETURNS int LANGUAGE plpgsql AS
$$
DECLARE
	shard int;
BEGIN
	EXECUTE format('SELECT bloom_shard(%L::%s, %s)', key, type, shards) INTO shard;
	RETURN shard;
END
$$;
SELECT count(*) AS shards_checked,
	   count(*) FILTER (WHERE shard = pg_temp.shard_of(type, key, shards)) AS shards_right
FROM file, jsonb_to_recordset(vectors->'shards') AS s (type text, key text, shards int, shard int);

-- Sizes.
SELECT count(*) AS sizes_checked,
	   count(*) FILTER (WHERE (p.bits, p.hashes) = (s.bits, s.hashes)) AS sizes_right
FROM file, jsonb_to_recordset(vectors->'sizes') AS s (capacity bigint, fp_prob float8, bits bigint, hashes int),
	 bloom_params(s.capacity, s.fp_prob) AS p;

-- Whole filters.  An expression that is null: the server makes no such filter.
CREATE TEMPORARY TABLE filters AS
SELECT i AS number, type, f->>'sql' AS expression, decode(f->>'bytes', 'hex') AS bytes, f AS vector
FROM file,
	 LATERAL (VALUES ('bloom', vectors->'filters'), ('counting_bloom', vectors->'counting')) AS v (type, list),
	 jsonb_array_elements(list) WITH ORDINALITY AS e (f, i);

-- What is wrong with a filter, if anything.
CREATE FUNCTION pg_temp.wrong(type text, expression text, bytes bytea)
RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	answer boolean;
	test text;
BEGIN
	FOREACH test IN ARRAY ARRAY[
		'$1::%1$s::bytea = $1',
		'$1::%1$s::text::%1$s::bytea = $1',
		'$1::%1$s::text = translate(encode($1, ''base64''), chr(10), '''')',
		'_%1$s_send($1::%1$s) = $1'
	] || CASE WHEN expression IS NOT NULL THEN ARRAY[
		'(SELECT %2$s)::bytea = $1',
		'(SELECT %2$s) = $1::%1$s'
	] END
	LOOP
		EXECUTE format('SELECT ' || test, type, expression) INTO answer USING bytes;
		IF answer IS NOT TRUE THEN
			RETURN test;
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;

-- some hold more than they are made for
SET client_min_messages = error;
SELECT type, number, expression, wrong
FROM filters, pg_temp.wrong(type, expression, bytes) AS wrong
WHERE wrong IS NOT NULL;
RESET client_min_messages;

SELECT number, i.key_type, i.bits, i.hashes, i.seed, i.capacity, i.keys, i.representation
FROM filters, bloom_info(bytes::bloom) AS i
WHERE type = 'bloom'
ORDER BY number;

SELECT number, i.key_type, i.counters, i.hashes, i.seed, i.keys, i.counters_full, i.representation
FROM filters, counting_bloom_info(bytes::counting_bloom) AS i
WHERE type = 'counting_bloom'
ORDER BY number;

-- The fields of a vector are those of its filter; an unsized one has none.
SELECT number
FROM filters, bloom_info(bytes::bloom) AS i
WHERE type = 'bloom' AND (vector->>'bits')::bigint > 0 AND
	  ((vector->>'bits')::bigint, (vector->>'hashes')::int, (vector->>'seed')::bigint,
	   (vector->>'capacity')::bigint, (vector->>'fp_prob')::float8, vector->>'form')
	  IS DISTINCT FROM (i.bits, i.hashes, i.seed, i.capacity, i.fp_prob, i.representation);

-- Keys that are in a filter, and others.
CREATE FUNCTION pg_temp.answer(filter_type text, filter bytea, type text, key text)
RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
	answer boolean;
BEGIN
	EXECUTE format('SELECT $1::%s @> %L::%s', filter_type, key, type) INTO answer USING filter;
	RETURN answer;
END
$$;

SELECT f.type,
	   count(*) FILTER (WHERE k.contains) AS contained,
	   count(*) FILTER (WHERE NOT k.contains) AS not_contained,
	   count(*) FILTER (WHERE k.contains IS DISTINCT FROM pg_temp.answer(f.type, f.bytes, k.type, k.key)) AS wrong
FROM filters AS f,
	 LATERAL (SELECT type, key, true FROM jsonb_to_recordset(vector->'keys') AS k (type text, key text)
			  UNION ALL
			  SELECT type, key, contains FROM jsonb_to_recordset(vector->'others') AS o (type text, key text, contains boolean))
			 AS k (type, key, contains)
GROUP BY f.type
ORDER BY f.type;

-- Malformed bytes, and why.
CREATE FUNCTION pg_temp.refused(cast_to_bloom text, value text)
RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	reason text;
BEGIN
	EXECUTE format('SELECT ' || cast_to_bloom, value);
	RETURN 'it is accepted';
EXCEPTION WHEN invalid_binary_representation OR invalid_text_representation THEN
	GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
	RETURN reason;
END
$$;

CREATE TEMPORARY TABLE malformed AS
SELECT '\x' || bytes AS value, reason, pg_temp.refused('%L::bytea::bloom', '\x' || bytes) AS server_says
FROM file, jsonb_to_recordset(vectors->'malformed') AS m (bytes text, reason text)
UNION ALL
SELECT text, reason, pg_temp.refused('%L::bloom', text)
FROM file, jsonb_to_recordset(vectors->'malformed_text') AS m (text text, reason text);

SELECT * FROM malformed WHERE server_says <> reason;
SELECT reason, count(*) FROM malformed GROUP BY reason ORDER BY reason COLLATE "C";

-- The key type of each type with frozen hashes, as the bytes have it.
SELECT type, (bloom_info(filter)).key_type,
	   pg_temp.reversed(encode(substr(filter::bytea, 5, 4), 'hex')) AS in_bytes
FROM (SELECT 'int2' AS type, bloom_agg('1'::int2) AS filter
	  UNION ALL SELECT 'int4', bloom_agg('1'::int4)
	  UNION ALL SELECT 'int8', bloom_agg('1'::int8)
	  UNION ALL SELECT 'float4', bloom_agg('1'::float4)
	  UNION ALL SELECT 'float8', bloom_agg('1'::float8)
	  UNION ALL SELECT 'bool', bloom_agg('1'::bool)
	  UNION ALL SELECT 'date', bloom_agg('2000-01-01'::date)
	  UNION ALL SELECT 'timestamp', bloom_agg('2000-01-01'::timestamp)
	  UNION ALL SELECT 'timestamptz', bloom_agg('2000-01-01'::timestamptz)
	  UNION ALL SELECT 'time', bloom_agg('00:00'::time)
	  UNION ALL SELECT 'uuid', bloom_agg('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)
	  UNION ALL SELECT 'text', bloom_agg('1'::text)
	  UNION ALL SELECT 'varchar', bloom_agg('1'::varchar)
	  UNION ALL SELECT 'name', bloom_agg('1'::name)
	  UNION ALL SELECT 'char(5)', bloom_agg('1'::char(5))
	  UNION ALL SELECT 'bytea', bloom_agg('1'::bytea)
	  UNION ALL SELECT 'enum', bloom_agg('bloom'::golden_enum)) AS each_type;

DROP TYPE golden_enum, golden_pair;
