--
-- Chunks: a filter in parts, and the filter of its parts
--

CREATE TABLE filters (name text PRIMARY KEY, f bloom);
INSERT INTO filters SELECT 'empty', bloom_empty(1000);
INSERT INTO filters SELECT 'shapeless', bloom_agg(i) FROM generate_series(1, 0) AS i;
INSERT INTO filters SELECT 'few keys', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 3) AS i;
INSERT INTO filters SELECT 'keys', bloom_agg(i, 100000, 0.01) FROM generate_series(1, 5000) AS i;
INSERT INTO filters SELECT 'bits', bloom_agg(i, 100000, 0.01) FROM generate_series(1, 100000) AS i;
INSERT INTO filters SELECT 'named type', bloom_agg(i::text::information_schema.sql_identifier) FROM generate_series(1, 1000) AS i;

-- What a chunk is: see docs/format.md.
SELECT name, count(*) AS chunks, sum(octet_length(chunk) - 32) - octet_length(f::bytea) AS others,
	   max(octet_length(chunk)) AS largest, min(seq) AS first, max(seq) AS last,
	   string_agg(substr(chunk, 33), '' ORDER BY seq) = f::bytea AS are_its_bytes
FROM filters, bloom_chunks(f, 1000)
GROUP BY name, f ORDER BY name COLLATE "C";
SELECT seq, chunk FROM filters, bloom_chunks(f, 128) WHERE name = 'few keys';
SELECT seq, octet_length(chunk) FROM bloom_chunks(bloom_empty(10));

-- There and back, in several sizes and orders; stored, computed, compressed.
SELECT name, bytes, bloom_from_chunks(seq, chunk) = f AS forward,
	   bloom_from_chunks(seq, chunk ORDER BY seq DESC) = f AS backward,
	   (bloom_from_chunks(seq, chunk ORDER BY md5(chunk)))::bytea = f::bytea AS shuffled
FROM filters, (VALUES (128), (1000), (4711), (16777216), (2147483647)) AS v (bytes), bloom_chunks(f, bytes)
GROUP BY name, bytes, f ORDER BY name COLLATE "C", bytes;
SELECT bloom_from_chunks(seq, chunk) = f AS computed
FROM (SELECT bloom_agg(i, 100000, 0.01) AS f FROM generate_series(1, 50000) AS i OFFSET 0) AS s, bloom_chunks(f, 9999)
GROUP BY f;
CREATE TABLE compressed (f bloom);
ALTER TABLE compressed ALTER f SET STORAGE extended;
INSERT INTO compressed SELECT bloom_agg(i, 100000, 0.01) & bloom_agg(-i, 100000, 0.01) FROM generate_series(1, 16000) AS i;
SELECT pg_column_size(f) < octet_length(f::bytea) AS compressed, bloom_from_chunks(seq, chunk) = f AS same
FROM compressed, bloom_chunks(f, 100000) GROUP BY f;

-- in the select list, and one filter beside another
SELECT name, bloom_from_chunks((c).seq, (c).chunk) = f AS same
FROM (SELECT name, f, bloom_chunks(f, 2000) AS c FROM filters) AS s
GROUP BY name, f ORDER BY name COLLATE "C";
-- no more is read than is asked for
SELECT seq FROM (SELECT (bloom_chunks(f, 128)).seq FROM filters WHERE name = 'bits' LIMIT 2) AS s;

-- Not a filter is not an empty filter.
SELECT count(*) FROM bloom_chunks(NULL);
SELECT bloom_from_chunks(seq, chunk) IS NULL AS of_none FROM bloom_chunks(NULL);
SELECT bloom_from_chunks(1, NULL) IS NULL AS of_null;
SELECT bloom_from_chunks(seq, chunk) = bloom_empty(10) AS null_is_none
FROM (SELECT * FROM bloom_chunks(bloom_empty(10)) UNION ALL SELECT NULL, NULL UNION ALL SELECT 7, NULL) AS s;

-- fail: not all there, or more than all
CREATE TABLE part AS SELECT name, seq, chunk FROM filters, bloom_chunks(f, 1000) WHERE name IN ('bits', 'keys');
SELECT bloom_from_chunks(seq, chunk) FROM part WHERE name = 'bits' AND seq <> 0;
SELECT bloom_from_chunks(seq, chunk) FROM part WHERE name = 'bits' AND seq <> 77;
SELECT bloom_from_chunks(seq, chunk) FROM part WHERE name = 'bits' AND seq < 129;
SELECT bloom_from_chunks(seq, chunk) FROM (SELECT * FROM part WHERE name = 'bits' UNION ALL SELECT * FROM part WHERE name = 'bits' AND seq = 9) AS s;
SELECT bloom_from_chunks(seq, chunk ORDER BY seq, name) FROM part WHERE name = 'bits' OR seq = 5;
SELECT bloom_from_chunks(seq, chunk ORDER BY seq, octet_length(chunk))
FROM (SELECT seq, chunk FROM part WHERE name = 'bits' UNION SELECT seq, chunk FROM filters, bloom_chunks(f, 2000) WHERE name = 'bits' AND seq = 3) AS s;
-- fail: the wrong number
SELECT bloom_from_chunks(seq + 1, chunk) FROM part WHERE name = 'bits';
SELECT bloom_from_chunks(129 - seq, chunk) FROM part WHERE name = 'bits' AND seq = 1;
SELECT bloom_from_chunks(-seq, chunk) FROM part WHERE name = 'bits' AND seq = 1;
SELECT bloom_from_chunks(0, chunk) FROM part WHERE name = 'bits' AND seq = 1;
SELECT bloom_from_chunks(NULL, chunk) FROM part WHERE name = 'bits';
SELECT * FROM bloom_chunks(bloom_empty(10), 127);
SELECT * FROM bloom_chunks(bloom_empty(10), -1);

-- fail: bytes that are not, or no longer, a chunk
CREATE FUNCTION damage(at int, with_bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM bloom_from_chunks(seq, CASE WHEN seq = 1 THEN overlay(chunk PLACING with_bytes FROM at + 1) ELSE chunk END ORDER BY seq DESC)
	FROM part WHERE name = 'bits' AND seq <= 1;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || ': ' || detail;
END
$$;
SELECT damage(0, 'x') AS magic;
SELECT damage(8, '\xffffffffffffffff') ~ '^22023 chunk 0 belongs to another Bloom filter: ' AS hash;
SELECT damage(16, '\xffffffffffffffff') AS length;
SELECT damage(16, '\x2b00000000000000') AS short_length;
SELECT damage(24, '\xffffffffffffffff') AS "offset";
SELECT damage(24, '\xc803000000000001') AS offset_beyond;
SELECT damage(24, '\xc903000000000000') AS offset_by_one;
SELECT damage(24, '\x0000000000000000') AS offset_of_first;
SELECT bloom_from_chunks(0, '');
SELECT bloom_from_chunks(0, 'bloompt1');
SELECT bloom_from_chunks(0, f::bytea) FROM filters WHERE name = 'bits';
SELECT bloom_from_chunks(seq, substr(chunk, 1, 999)) FROM part WHERE name = 'bits' AND seq = 3;
SELECT bloom_from_chunks(seq, substr(chunk, 1, 32)) FROM part WHERE name = 'bits' AND seq = 3;
-- a bit flipped anywhere behind the header of a chunk
SELECT bloom_from_chunks(seq, CASE WHEN seq = 77 THEN set_bit(chunk, 5000, 1 - get_bit(chunk, 5000)) ELSE chunk END)
FROM part WHERE name = 'bits';
-- chunks so small that there would be too many
SELECT bloom_from_chunks(5, decode('626c6f6f6d707431' || repeat('00', 8) || 'ffff000000000000' || '0500000000000000' || '00', 'hex'));
-- bytes with their right hash that are no filter: the hash of sixty zeros
SELECT bloom_from_chunks(0, decode('626c6f6f6d707431' || '0202648db6963354' || '3c00000000000000' || '0000000000000000' || repeat('00', 60), 'hex'));

-- No bit of a chunk can change unnoticed.
CREATE FUNCTION survives(f bloom, nth int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RETURN bloom_from_chunks(seq, set_bit(chunk, nth, 1 - get_bit(chunk, nth))) IS NOT NULL FROM bloom_chunks(f);
EXCEPTION WHEN invalid_binary_representation OR invalid_parameter_value THEN
	RETURN false;
END
$$;
SELECT count(*) AS bits, count(*) FILTER (WHERE survives(f, nth)) AS unnoticed
FROM filters, bloom_chunks(f), generate_series(0, 8 * octet_length(chunk) - 1) AS nth
WHERE name = 'few keys';

-- fail: the final function uses the state up
SELECT bloom_from_chunks(seq, chunk) OVER () FROM bloom_chunks(bloom_empty(10));

DROP FUNCTION survives(bloom, int);
DROP FUNCTION damage(int, bytea);
DROP TABLE filters, compressed, part;
