--
-- Input and output: text, binary, bytea
--

CREATE TEMPORARY TABLE filters (name text, filter bloom);
INSERT INTO filters
SELECT 'shapeless', bloom_agg(i) FROM generate_series(1, 0) AS i
UNION ALL SELECT 'empty', bloom_empty(1000)
UNION ALL SELECT 'keys', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 10) AS i
UNION ALL SELECT 'bits', bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i
UNION ALL SELECT 'seed', bloom_add(bloom_empty(10, 0.5, -42), 'a'::text)
UNION ALL SELECT 'one word', bloom_add(bloom_empty_shaped(64, 64), 1);

SELECT name, filter::text::bloom = filter AS by_text,
	   filter::bytea::bloom = filter AS by_bytea,
	   filter::text::bloom::bytea = filter::bytea AS same_bytes,
	   replace(encode(filter::bytea, 'base64'), E'\n', '') = filter::text AS is_base64,
	   length(filter::bytea) AS bytes, length(filter::text) AS characters
FROM filters;

SELECT filter FROM filters WHERE name = 'keys';

-- Just below and above the piece of 3 MiB by which base64 is made.
SELECT length(f::bytea) - 3 * 1024 * 1024 AS beyond, length(f::text) AS characters, f::text::bloom = f AS by_text,
	   md5(f::bytea) = md5(decode(f::text, 'base64')) AS is_base64
FROM generate_series(393210, 393212) AS n,
	 LATERAL (SELECT bloom_agg(i, 100000000, 0.01) AS f FROM generate_series(1, n) AS i) AS s
ORDER BY n;
-- and half a piece too many
SELECT (repeat('A', 4 * 1024 * 1024 - 4) || 'AA==' || 'AAAA')::bloom;

-- Binary.
\copy filters TO 'results/io.copy' (FORMAT binary)
CREATE TEMPORARY TABLE copied (LIKE filters);
\copy copied FROM 'results/io.copy' (FORMAT binary)
\! rm results/io.copy
SELECT name, c.filter = f.filter AS equal, c.filter::bytea = f.filter::bytea AS same_bytes
FROM filters AS f JOIN copied AS c USING (name)
ORDER BY name COLLATE "C";

-- The wrong text is an error, with SQLSTATE 22P02.
CREATE FUNCTION pg_temp.text_refusal(text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	detail text;
BEGIN
	PERFORM $1::bloom;
	RETURN 'none';
EXCEPTION WHEN invalid_text_representation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END
$$;
\set VERBOSITY sqlstate
SELECT ''::bloom;
SELECT 'a'::bloom;
SELECT '*'::bloom;
SELECT 'AAAA'::bloom;
\set VERBOSITY default
SELECT ''::bloom;
SELECT 'https://example.com/a/very/long/address/of/a/page'::bloom;
-- a long text is shown in part, in whole characters
SELECT repeat('é', 30)::bloom;
SELECT repeat('漢字', 3000)::bloom;
SELECT repeat('x', 41)::bloom;
SELECT repeat('x', 40)::bloom;
-- White space may stand anywhere, as encode() and editors make it.
SELECT bool_and(encode(filter::bytea, 'base64')::bloom::bytea = filter::bytea) AS by_encode,
	   bool_and((regexp_replace(filter::text, '(.)', E'\\1 \t\r\n', 'g'))::bloom::bytea = filter::bytea) AS everywhere,
	   bool_and((E' \n' || filter::text || E'\n\n')::bloom::bytea = filter::bytea) AS around
FROM filters WHERE length(filter::text) < 100000;
SELECT (left(filter::text, 40) || E'\f' || substr(filter::text, 41))::bloom FROM filters WHERE name = 'empty';
-- Of the texts for the same bytes, only one is right: spare bits are zero, the
-- padding is complete, and nothing comes after it.
SELECT name, decode(spare, 'base64') = filter::bytea AS same_bytes, pg_temp.text_refusal(spare) AS refusal, pg_temp.text_refusal(t) AS as_written
FROM filters, LATERAL (SELECT filter::text AS t, rtrim(filter::text, '=') AS u) AS v,
	 LATERAL (SELECT left(u, -1) || translate(right(u, 1), 'AEIMQUYcgkosw048', 'BFJNRVZdhlptx159') || substr(t, length(u) + 1) AS spare) AS w
WHERE t LIKE '%=' ORDER BY name COLLATE "C";
SELECT what, pg_temp.text_refusal(text) AS refusal
FROM (SELECT filter::text AS t FROM filters WHERE name = 'empty') AS f,
	 LATERAL (VALUES ('no padding', rtrim(t, '=')), ('half of it', t || '='), ('in the middle', left(t, 6) || '==' || substr(t, 9)),
			  ('text after it', t || 'AAAA'), ('more after it', t || '===='), ('only that', '====')) AS v (what, text);
-- cut off; extended
SELECT left(filter::text, 56)::bloom FROM filters WHERE name = 'empty';
SELECT (left(filter::text, 56) || '....')::bloom FROM filters WHERE name = 'empty';
SELECT (filter::text || filter::text)::bloom FROM filters WHERE name = 'empty';

-- The wrong bytes are an error, with SQLSTATE 22P03: what each check says.
CREATE FUNCTION pg_temp.refusal(bytea) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	filter bloom;
	detail text;
BEGIN
	filter := $1::bloom;
	IF filter::bytea <> $1 THEN
		RETURN 'accepted as something else';
	END IF;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || detail;
END
$$;

SELECT what, pg_temp.refusal(bytes) AS refusal
FROM (SELECT (SELECT filter::bytea FROM filters WHERE name = 'shapeless') AS none,
			 (SELECT filter::bytea FROM filters WHERE name = 'empty') AS empty,
			 (SELECT filter::bytea FROM filters WHERE name = 'keys') AS keys,
			 (SELECT filter::bytea FROM filters WHERE name = 'one word') AS bits,
			 -- a key of type "enum mood", by another program
			 '\x01010502e893baf00200000000000000000000000a000000000000007b14ae47e17a843f0100000000000000656e756d206d6f6f640000000000000022825ad2fe4caf38'::bytea AS named) AS f,
	 LATERAL (VALUES
		(1, 'unchanged shapeless', none),
		(2, 'unchanged empty', empty),
		(3, 'unchanged keys', keys),
		(4, 'unchanged bits', bits),
		(5, 'no byte', ''::bytea),
		(6, 'a byte less than a header', substr(empty, 1, 43)),
		(7, 'a byte more than a header', empty || '\x00'),
		(8, 'a byte more than its keys', keys || '\x00'),
		(9, 'a key less', substr(keys, 1, length(keys) - 8)),
		(10, 'a key more', keys || '\xffffffffffffffff'),
		(11, 'a byte less than its bits', substr(bits, 1, length(bits) - 1)),
		(12, 'a word more than its bits', bits || '\x0000000000000000'),
		(13, 'version 0', set_byte(keys, 0, 0)),
		(14, 'version 2', set_byte(keys, 0, 2)),
		(15, 'representation 0', set_byte(keys, 1, 0)),
		(16, 'representation 3, of aggregates', set_byte(keys, 1, 3)),
		(17, 'keys said to be bits', set_byte(keys, 1, 2)),
		(18, 'bits said to be keys', set_byte(bits, 1, 1)),
		(19, 'hashes 0', set_byte(keys, 2, 0)),
		(20, 'hashes 65', set_byte(keys, 2, 65)),
		(21, 'a named key type that has no name', set_byte(keys, 3, 1)),
		(22, 'key type 0 with keys', set_byte(keys, 4, 0)),
		(23, 'key type 20 without keys', set_byte(empty, 4, 20)),
		(24, 'key type 16404, a user''s', set_byte(keys, 5, 64)),
		(25, 'words 0', set_byte(keys, 8, 0)),
		(26, 'words past 2^26', set_byte(empty, 11, 5)),
		(27, 'words just past 2^26', set_byte(set_byte(empty, 11, 4), 8, 1)),
		(28, 'words too few for so many keys', set_byte(keys, 8, 10)),
		(29, 'capacity 0', set_byte(set_byte(keys, 20, 0), 21, 0)),
		(30, 'capacity negative', set_byte(keys, 27, 128)),
		(31, 'fp_prob negative', set_byte(keys, 35, 191)),
		(32, 'fp_prob 0', overlay(keys PLACING '\x0000000000000000' FROM 29)),
		(33, 'fp_prob 1', overlay(keys PLACING '\x000000000000f03f' FROM 29)),
		(34, 'fp_prob NaN', overlay(keys PLACING '\x000000000000f87f' FROM 29)),
		(35, 'fp_prob infinite', overlay(keys PLACING '\x000000000000f07f' FROM 29)),
		(36, 'count one less', set_byte(keys, 36, 9)),
		(37, 'count huge', set_byte(keys, 43, 255)),
		(38, 'count such that its size overflows', set_byte(keys, 43, 32)),
		(39, 'bits set one less', set_byte(bits, 36, get_byte(bits, 36) - 1)),
		(40, 'bits, none of them set', overlay(set_byte(bits, 36, 0) PLACING '\x0000000000000000' FROM 45)),
		(41, 'a bit flipped', set_bit(bits, 44 * 8, 1 - get_bit(bits, 44 * 8))),
		(42, 'two keys swapped', substr(keys, 1, 44) || substr(keys, 53, 8) || substr(keys, 45, 8) || substr(keys, 61)),
		(43, 'a key twice', substr(keys, 1, 52) || substr(keys, 45, 8) || substr(keys, 61)),
		(44, 'a zero key', overlay(keys PLACING '\x0000000000000000' FROM 45)),
		(45, 'shapeless with a seed', set_byte(none, 12, 1)),
		(46, 'shapeless with hashes', set_byte(none, 2, 1)),
		(47, 'shapeless with a capacity', set_byte(none, 20, 1)),
		(48, 'shapeless in bits form', set_byte(none, 1, 2)),
		(49, 'shapeless with a key', set_byte(none, 36, 1) || '\x0100000000000000'),
		(50, 'another seed', set_byte(keys, 12, 1)),
		(51, 'another key type, built in', set_byte(keys, 4, 25)),
		(52, 'unchanged, named key type', named),
		(53, 'another name', set_byte(named, 44, 69)),
		(54, 'another number', set_byte(named, 4, 0)),
		(55, 'a name without a number of its kind', set_byte(named, 7, 0)),
		(56, 'a name of length 0', overlay(named PLACING '\x00000000000000000000000000000000' FROM 45)),
		(57, 'a word more than the name', substr(set_byte(named, 3, 3), 1, 60) || '\x0000000000000000' || substr(named, 61)),
		(58, 'padding that is not zero', set_byte(named, 59, 1)),
		(59, 'a name that is not UTF-8', set_byte(named, 50, 255)),
		(60, 'a name that ends within a character', overlay(named PLACING '\x41414141414141e2' FROM 53)),
		(61, 'a control character', set_byte(named, 48, 10)),
		(62, 'a name longer than allowed', set_byte(named, 3, 129)),
		(63, 'a name without keys', set_byte(substr(named, 1, 60), 36, 0)))
	 AS v (n, what, bytes)
ORDER BY n;

-- The whole message.
SELECT '\x00'::bytea::bloom;

-- An input error can be asked for softly since PostgreSQL 16.
SELECT current_setting('server_version_num')::int >= 160000 AS has_soft_errors \gset
\if :has_soft_errors
	\set valid pg_input_is_valid
	\set error 'pg_input_error_info(\'AAAA\', \'bloom\')'
\else
	-- what newer servers say
	CREATE FUNCTION pg_temp.valid(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT length($1) > 4';
	\set valid pg_temp.valid
	\set error '(VALUES (\'22P02\', \'invalid input syntax for type bloom: "AAAA"\', \'There are fewer bytes than a header has.\')) AS e (sql_error_code, message, detail)'
\endif
SELECT :valid('AAAA', 'bloom') AS wrong, :valid(filter::text, 'bloom') AS is_right
FROM filters WHERE name = 'bits';
SELECT sql_error_code, message, detail FROM :error;

-- The casts between filters and bytea: stored in line at any alignment, out of
-- line, compressed, and computed.
CREATE TEMPORARY TABLE casts (pad text, bytes bytea, filter bloom);
INSERT INTO casts SELECT repeat('x', n % 9), f::bytea, f
FROM generate_series(1, 60) AS n, LATERAL (SELECT bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, n * 16) AS i) AS s;
SELECT count(*), bool_and(bytes::bloom = filter) AS to_filter, bool_and(filter::bytea = bytes) AS to_bytea,
	   bool_and((bytes || '')::bloom::bytea || '' = bytes) AS computed, bool_and(bytes::bloom @> 1) AS found
FROM casts;
-- an array is sent element by element
\copy (SELECT array_agg(filter) FROM casts) TO 'results/io.copy' (FORMAT binary)
CREATE TEMPORARY TABLE copied_array (filters bloom[]);
\copy copied_array FROM 'results/io.copy' (FORMAT binary)
\! rm results/io.copy
SELECT filters = (SELECT array_agg(filter) FROM casts) AS same FROM copied_array;
-- what is wrong is found at any alignment
SELECT count(*) AS refused
FROM casts, LATERAL (SELECT pg_temp.refusal(set_byte(bytes, 4, 255)) AS detail) AS r WHERE detail <> 'none';

-- A large filter in parts, and together again; without a part, or with the
-- parts of another filter, it is none.
CREATE TEMPORARY TABLE parts AS
SELECT n, substring(b FROM n * 1000 + 1 FOR 1000) AS part
FROM (SELECT bloom_agg(i, 100000, 0.01)::bytea AS b FROM generate_series(1, 50000) AS i OFFSET 0) AS s, generate_series(0, (octet_length(b) - 1) / 1000) AS n;
SELECT count(*) AS parts, string_agg(part, '' ORDER BY n)::bloom = (SELECT bloom_agg(i, 100000, 0.01) FROM generate_series(1, 50000) AS i) AS same FROM parts;
-- fail: a part is missing, or there twice
SELECT string_agg(part, '' ORDER BY n)::bloom FROM parts WHERE n <> 5;
SELECT string_agg(part, '' ORDER BY n)::bloom FROM (SELECT * FROM parts UNION ALL SELECT * FROM parts WHERE n = 5) AS p;
