--
-- Golden vectors: the bytes are frozen (docs/format.md)
--
-- The rows are those of test/unit/golden.c, which makes them without bloomtype.
-- If one of these tests fails, the code is wrong, never the row: filters that
-- were stored by an earlier version would deny their keys.
--

-- hashes of keys in keys form stand behind the 44 bytes of the header and the
-- name of the key type, little-endian
CREATE FUNCTION pg_temp.reversed(bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$
	SELECT pg_catalog.decode(pg_catalog.string_agg(pg_catalog.encode(substr($1, i, 1), 'hex'), '' ORDER BY i DESC), 'hex')
	FROM pg_catalog.generate_series(1, pg_catalog.length($1)) AS i
$$;

-- the hash of a key, in the usual notation
CREATE FUNCTION pg_temp.hash_of(type text, key text, seed bigint)
RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	bytes bytea;
BEGIN
	EXECUTE format('SELECT bloom_add(bloom_shape(1024, 7, %s), %L::%s)::bytea', seed, key, type)
		INTO bytes;
	RETURN encode(pg_temp.reversed(substr(bytes, 45 + 8 * get_byte(bytes, 3))), 'hex');
END
$$;

CREATE TYPE golden_enum AS ENUM ('flower', 'bloom');
CREATE TYPE golden_pair AS (a int, b text);

-- The hash of a key, the same by its canonical bytes as a bytea key.
CREATE TEMPORARY TABLE golden_hashes (type text, key text, seed bigint, bytes text, hash text);
INSERT INTO golden_hashes VALUES
	('int2', '5', 0, '0500000000000000', '8e03e9aa39aaa78c'),
	('int4', '5', 0, '0500000000000000', '8e03e9aa39aaa78c'),
	('int8', '5', 0, '0500000000000000', '8e03e9aa39aaa78c'),
	('int8', '5', 1, '0500000000000000', 'd95567d3795df2b2'),
	('int8', '5', -1, '0500000000000000', '2b0b237ed148b1e8'),
	('int2', '-1', 0, 'ffffffffffffffff', '5111c7e47d784413'),
	('int8', '0', 0, '0000000000000000', 'c77b3abb6f87acd9'),
	('int8', '9223372036854775807', 0, 'ffffffffffffff7f', 'a233cf376558df46'),
	('float8', '0', 0, '0000000000000000', 'c77b3abb6f87acd9'),
	('float8', '-0', 0, '0000000000000000', 'c77b3abb6f87acd9'),
	('float8', '1.5', 0, '000000000000f83f', '2561a4889ff63458'),
	('float4', '1.5', 0, '000000000000f83f', '2561a4889ff63458'),
	('float4', '0.1', 0, '000000a09999b93f', '55d86bc42c308476'),
	('float8', '0.1', 0, '9a9999999999b93f', 'c9d73e6076fe03cd'),
	('float8', '-Infinity', 0, '000000000000f0ff', '966b04ab6a2f4836'),
	('float8', 'NaN', 0, '000000000000f87f', '0aa61dcfa381c167'),
	('bool', 'false', 0, '00', 'c44bdff4074eecdb'),
	('bool', 'true', 0, '01', 'e12ef9d2eb86ceeb'),
	('date', '2000-01-01', 0, '00000000', '48b2c92616fc193d'),
	('date', '2026-11-20', 0, '5c260000', 'd41bd84b9518ea7f'),
	('date', '1999-12-31', 0, 'ffffffff', 'cd6b1c920d3f662c'),
	('date', 'infinity', 0, 'ffffff7f', '55506669e60fb0ff'),
	('timestamp', '2026-11-20 12:34:56.789012', 0, '14a68c3db3030300', '8cb349468c06a5df'),
	('timestamptz', '2026-11-20 14:34:56.789012+02', 0, '14a68c3db3030300', '8cb349468c06a5df'),
	('timestamp', '-infinity', 0, '0000000000000080', '828f2476789a0e5f'),
	('time', '12:34:56.789012', 0, '1426e68b0a000000', '4cae8e1b08a18d74'),
	('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 0, 'a0eebc999c0b4ef8bb6d6bb9bd380a11', '55df69482c6d3767'),
	('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 42, 'a0eebc999c0b4ef8bb6d6bb9bd380a11', '28d7581ecd824b50'),
	('text', '', 0, '', '2d06800538d394c2'),
	('text', 'bloom', 0, '626c6f6f6d', '7a5daa5b0153bb29'),
	('text', 'bloom', 42, '626c6f6f6d', '44ae27e76c0ff3a5'),
	('text', 'bloom ', 0, '626c6f6f6d20', '9a84008c4d0c786c'),
	('varchar', 'bloom', 0, '626c6f6f6d', '7a5daa5b0153bb29'),
	('name', 'bloom', 0, '626c6f6f6d', '7a5daa5b0153bb29'),
	('char(9)', 'bloom', 0, '626c6f6f6d', '7a5daa5b0153bb29'),
	('bytea', '\x00ff00', 0, '00ff00', 'e0d991af43624afa'),
	('golden_enum', 'bloom', 0, '626c6f6f6d', '7a5daa5b0153bb29'),
	('numeric', '0.00', 0, '00000000', '48b2c92616fc193d'),
	('numeric', '1.50', 0, '0000000001008813', 'a15df66d85553986'),
	('numeric', '-1.5', 0, '0000004001008813', 'f9d4ba272dea3e79'),
	('numeric', '100000000', 0, '020000000100', 'a6bf7cf7621105d0'),
	('numeric', '0.00001234', 0, 'feff0000d204', '85e9c9d4a6e2e52b'),
	('numeric', '98765432.1', 0, '0100000094263815e803', 'b180673317c2a686'),
	('numeric', 'NaN', 0, '000000c0', '60cf2b581c2e4ef9'),
	('timetz', '12:34:56.789012+02', 0, '1426e68b0a000000e0e3ffff', '738a90d5245670f8'),
	('interval', '1 month -1 day 2 hours', 0, '1d00000000000000004827ad01000000', '38b696a72205af58'),
	('interval', '29 days 2 hours', 0, '1d00000000000000004827ad01000000', '38b696a72205af58'),
	('interval', '-00:00:00.000001', 0, 'ffffffffffffffffff5fd71d14000000', '563539f4fa99d865'),
	('money', '0', 0, '0000000000000000', 'c77b3abb6f87acd9'),
	('oid', '4294967295', 0, 'ffffffff', 'cd6b1c920d3f662c'),
	('regtype', 'int8', 0, '14000000', '5239f17d4a4c4b02'),
	('xid', '7', 0, '07000000', '57ae44811628c14c'),
	('xid8', '18446744073709551615', 0, 'ffffffffffffffff', '5111c7e47d784413'),
	('pg_lsn', '1/A', 0, '0a00000001000000', 'e615c71b20abdabf'),
	('tid', '(70000,3)', 0, '701101000300', '19dd93d7524204f3'),
	('"char"', 'b', 0, '62', '575a0b1c44d8843f'),
	('inet', '10.1.2.3', 0, '04200a010203', 'ef3700aa71aa7591'),
	('inet', '10.1.2.3/8', 0, '04080a010203', '581b9bb3efb36801'),
	('cidr', '10.0.0.0/8', 0, '04080a000000', '54ec07595ce79c24'),
	('inet', '2001:db8::1/64', 0, '064020010db8000000000000000000000001', 'c8ea51d612c79e57'),
	('macaddr', '08:00:2b:01:02:03', 0, '08002b010203', 'd6f980e14eff2ef8'),
	('macaddr8', '08:00:2b:01:02:03:04:05', 0, '08002b0102030405', '2a5f33b8573bdb93'),
	('varbit', '', 0, '00000000', '48b2c92616fc193d'),
	('varbit', '1010000011', 0, '0a000000a0c0', 'd2d8b2e50590bb09'),
	('bit(3)', '101', 0, '03000000a0', '15410b15fe9a993d'),
	('int8[]', '{}', 0, '00000000', '48b2c92616fc193d'),
	('int2[]', '{1,NULL,-1}', 0, '010000000300000001000000080000000100000000000000ffffffff08000000ffffffffffffffff', 'b8dd9e52c01ac697'),
	('int4[]', '[0:0]={5}', 0, '010000000100000000000000080000000500000000000000', '0d8472b859e56d8a'),
	('int4[]', '{{1},{2}}', 0, '0200000002000000010000000100000001000000080000000100000000000000080000000200000000000000', 'acf5f5ff3813dc7f'),
	('text[]', '{bloom,"",NULL}', 0, '01000000030000000100000005000000626c6f6f6d00000000ffffffff', 'f646eb1ae7301c7c'),
	('golden_enum[]', '{flower}', 0, '01000000010000000100000006000000666c6f776572', '3758c5926c932cfb'),
	('numeric[]', '{1.50}', 0, '010000000100000001000000080000000000000001008813', '12fa5c1d6fc5db6d'),
	('golden_pair', '(5,x)', 0, '020000000800000005000000000000000100000078', 'a9d0a26223c78619'),
	('golden_pair', '(,"")', 0, '02000000ffffffff00000000', '585935df10dfa451'),
	('golden_pair[]', '{"(5,x)"}', 0, '01000000010000000100000015000000020000000800000005000000000000000100000078', 'd2ec27baab9113b8'),
	('int8range', '[1,4]', 0, '02080000000100000000000000080000000500000000000000', '97e3e9cabd2b7689'),
	('int4range', 'empty', 0, '01', 'e12ef9d2eb86ceeb'),
	('numrange', '(,1.5]', 0, '0c080000000000000001008813', '4345405e8b64bb69'),
	('daterange', '(,)', 0, '18', '83e4e2ca690d8fcf'),
	('int8multirange', '{[1,2),[4,)}', 0, '0200000019000000020800000001000000000000000800000002000000000000000d00000012080000000400000000000000', 'db55b4cff9478330'),
	('jsonb', 'null', 0, '00', 'c44bdff4074eecdb'),
	('jsonb', '1.50', 0, '03080000000000000001008813', 'd3fd1e7582e4cfbd'),
	('jsonb', '[true, false, "x"]', 0, '05030000000201040100000078', '9b2bfdacdffe32cf'),
	('jsonb', '{"aa": [], "b": {"c": 0}}', 0, '06020000000100000062060100000001000000630304000000000000000200000061610500000000', '33bcad8dabf2a7ce'),
	('tsvector', 'fat:2A,4 cat', 0, '0200000003000000636174000003000000666174020002c00400', '6b8d7ce3b32d60e7'),
	('tsquery', 'fat & !cat <3> rat', 0, '060000000204030000030000007261740100030000006361740003000000666174', 'b85111192b2d717c');

SELECT type, key, seed, hash,
	   pg_temp.hash_of(type, key, seed) AS hash_of_key,
	   pg_temp.hash_of('bytea', '\x' || bytes, seed) AS hash_of_bytes
FROM golden_hashes
-- PostgreSQL 13 has no multiranges
WHERE to_regtype(type) IS NOT NULL AND
	  (hash IS DISTINCT FROM pg_temp.hash_of(type, key, seed) OR
	   hash IS DISTINCT FROM pg_temp.hash_of('bytea', '\x' || bytes, seed));

SELECT count(*) AS hashes_checked FROM golden_hashes;

-- The first bytes of bloombloombloom..., with seeds 0 and 42.
CREATE TEMPORARY TABLE golden_lengths (length int, hash_0 text, hash_42 text);
INSERT INTO golden_lengths VALUES
	(1, '575a0b1c44d8843f', '72269bcb22eb92cc'),
	(3, '86353786408dfb5d', '1d8580f18cb26c8c'),
	(4, 'de2832204299c0ab', 'a8bcae752be8cbd7'),
	(8, '254305a218101091', '4db2b95f8a4df909'),
	(9, '086b51a0cf3b5632', '8db83b199e416614'),
	(16, '2f02fc80e9cbde93', 'a9fad084b5c4cc9f'),
	(17, 'be413aebc5cd019f', 'ff84891f4fe777a0'),
	(64, '039410e8e0154479', '0765062ee1df7220'),
	(128, '9a98fc1d1b109a5d', '62d25b385ec68e87'),
	(129, 'fd4aeb432138a2e6', '7952e2e6d4a54e27'),
	(240, '528dbbbf0498effa', '9f66928041d7e83e'),
	(241, 'cc041b7b876b9446', '763a0c9cbabda9d1'),
	(1024, 'ca9cf6a97a7d1ea4', '4798291d76360e68'),
	(1025, '94afda6826636b15', '1362b6d886dd95e9'),
	(3000, '77894cca1b6bbdeb', '42ba8d49df0459fd');

SELECT length, seed, hash, pg_temp.hash_of('text', left(repeat('bloom', 600), length), seed)
FROM (SELECT length, 0 AS seed, hash_0 AS hash FROM golden_lengths
	  UNION ALL
	  SELECT length, 42, hash_42 FROM golden_lengths) AS both_seeds
WHERE hash IS DISTINCT FROM pg_temp.hash_of('text', left(repeat('bloom', 600), length), seed);

SELECT count(*) AS lengths_checked FROM golden_lengths;

-- Positions.  test/unit/bits.c checks our code for these; here, the rows are
-- checked against the formula, in numeric arithmetic.
CREATE TEMPORARY TABLE golden_positions (hash text, bits numeric, hashes int, positions bigint[]);
INSERT INTO golden_positions VALUES
	('8e03e9aa39aaa78c', 64, 1, '{52}'),
	('8e03e9aa39aaa78c', 64, 7, '{52,61,35,10,9,12,23}'),
	('8e03e9aa39aaa78c', 192, 7, '{157,185,107,30,28,38,69}'),
	('8e03e9aa39aaa78c', 1024, 7, '{837,987,573,160,151,204,369}'),
	('8e03e9aa39aaa78c', 10048, 5, '{8221,9685,5625,1579,1488}'),
	('8e03e9aa39aaa78c', 10000000, 7, '{8182256,9639146,5598382,1571836,1480989,1999117,3610586}'),
	('8e03e9aa39aaa78c', 4294967296, 7, '{3514252307,4139981823,2404486778,675098491,636080101,858614550,1550735166}'),
	('0000000000000001', 1024, 7, '{985,164,633,1022,533,927,526}'),
	('ffffffffffffffff', 1024, 7, '{336,790,732,437,725,565,95}'),
	('ffffffffffffffff', 4294967296, 64, '{1410453325,3315134060,3070833419,1836581430,3044329984,2372013827,398637948,3982706338,3427959348,3575410481,1812729712,1444900372,313535355,310800794,1072360166,3668918023,2628477030,1263642401,1174543992,375957371,2659522554,1204146975,1765549506,2089804923,875313709,2519809773,2278366018,2063066935,883459104,1410085675,1847197496,1936035531,2225939311,4171131654,1231928256,1595277956,3211401535,2063348503,2294193188,3331161538,2012589487,4291646318,616954592,870927265,2405714823,2252845177,3884904089,1061542106,4143330888,1024319911,4210130260,1617458427,2033193669,2129828977,3575571508,1729373213,3751737380,1863868394,3398462336,2217232260,493104377,1523582328,1264054509,302295189}');

WITH RECURSIVE sequence AS (
	SELECT g.hash, g.bits, g.hashes, 0 AS i,
		   -- the hash as an unsigned number
		   mod(('x' || g.hash)::bit(64)::bigint::numeric + 18446744073709551616, 18446744073709551616) AS a
	FROM golden_positions AS g
	UNION ALL
	SELECT hash, bits, hashes, i + 1,
		   mod(a * 15074714826142052245 + 2685821657736338717, 18446744073709551616)
	FROM sequence
	WHERE i < hashes
), computed AS (
	SELECT hash, bits, hashes,
		   array_agg(div(a * bits, 18446744073709551616)::bigint ORDER BY i) AS positions
	FROM sequence
	WHERE i > 0
	GROUP BY hash, bits, hashes
)
SELECT count(*) AS positions_checked,
	   count(*) FILTER (WHERE g.positions = c.positions) AS positions_right
FROM golden_positions AS g JOIN computed AS c USING (hash, bits, hashes);

-- Shards.
CREATE TEMPORARY TABLE golden_shards (type text, key text, shards int, shard int);
INSERT INTO golden_shards VALUES
	('int4', '5', 1, '0'),
	('int4', '5', 2, '0'),
	('int4', '5', 16, '7'),
	('int4', '5', 2147483647, '967737684'),
	('int2', '-1', 1000, '912'),
	('numeric', '5.0', 2147483647, '967737684'),
	('numeric', '-9223372036854775808', 2147483647, '650100664'),
	('float4', '5', 2147483647, '967737684'),
	('float8', '5', 2147483647, '967737684'),
	('float8', '-0', 2147483647, '1446306249'),
	('float8', '0.5', 2147483647, '927640231'),
	('float8', '9223372036854775808', 2147483647, '1451160255'),
	('float8', 'NaN', 2147483647, '1930398866'),
	('text', 'bloom', 2147483647, '1862690560'),
	('char(9)', 'bloom', 2147483647, '1862690560'),
	('text', '', 2147483647, '1169951343'),
	('date', '2000-01-01', 2147483647, '362355352');

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
FROM golden_shards;

-- Whole filters.
CREATE TEMPORARY TABLE golden_filters (expression text, bytes text);
INSERT INTO golden_filters VALUES
	($$bloom_agg(i) FROM generate_series(1, 0) AS i$$, '0101000000000000000000000000000000000000000000000000000000000000000000000000000000000000'),
	($$bloom_empty(1000)$$, '01010500000000009d0000000000000000000000e8030000000000007b14ae47e17a843f0000000000000000'),
	($$bloom_add_all(bloom_empty(1000), '{1,2,3}'::int[])$$, '01010500140000009d0000000000000000000000e8030000000000007b14ae47e17a843f030000000000000043e2ee915cc686202e79db643559bc2f7d2ef4c12920924d'),
	($$bloom_add_all(bloom_empty(10), '{1}'::int8[])$$, '01010500140000000200000000000000000000000a000000000000007b14ae47e17a843f01000000000000002e79db643559bc2f'),
	($$bloom_add_all(bloom_empty(10), '{1,2}'::int8[])$$, '01020500140000000200000000000000000000000a000000000000007b14ae47e17a843f0a0000000000000002010010100108002000300000080000'),
	($$bloom_agg(i, 10, 0.01) FROM generate_series(1, 10) AS i$$, '01020500140000000200000000000000000000000a000000000000007b14ae47e17a843f29000000000000002ab5b45a31210848a8203c05a0098108'),
	($$bloom_agg(i::float8 / 2) FROM generate_series(1, 20) AS i$$, '01020500bd02000004000000000000000000000014000000000000007b14ae47e17a843f53000000000000009114411490202c58b5d404254b8030808de8c8520b4a024c01a31908c7018324'),
	($$bloom_add_all(bloom_empty(100, 0.001, 42), '{a,b}'::text[])$$, '0101070019000000180000002a000000000000006400000000000000fca9f1d24d62503f0200000000000000f416077fd47d434ccc92eb22cb9b2672'),
	($$bloom_add_all(bloom_shape(192, 3, -7), '{bloom,"",filter}'::text[])$$, '010203001900000003000000f9ffffffffffffff2c00000000000000000000000000c03f0900000000000000000000000010000000010008004000280008040000000080'),
	($$bloom_add(bloom_shape(64, 1), true)$$, '01020100100000000100000000000000000000002c00000000000000000000000000e03f01000000000000000000000000004000'),
	($$bloom_add(bloom_shape(64, 64), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)$$, '01024000860b00000100000000000000000000000100000000000000000000000000f03b29000000000000002bfd07f5cdbeae7c'),
	($$bloom_add(bloom_empty(10), '{1,2}'::int[])$$, '01010501fe8661e30200000000000000000000000a000000000000007b14ae47e17a843f0100000000000000696e74385b5d0000d990368983ef7d26'),
	($$bloom_add(bloom_empty(10), (5, 'x'))$$, '01010502d781928d0200000000000000000000000a000000000000007b14ae47e17a843f010000000000000028696e74382c746578742900000000001986c72362a2d0a9'),
	($$bloom_add_all(bloom_empty(10), ARRAY[(5, 'x'), (6, 'y')])$$, '01020502d781928d0200000000000000000000000a000000000000007b14ae47e17a843f0a0000000000000028696e74382c7465787429000000000000005000100020000820020000000412');

DO $do$
DECLARE
	golden record;
	filter bloom;
	bytes bytea;
BEGIN
	FOR golden IN SELECT * FROM golden_filters
	LOOP
		bytes := decode(golden.bytes, 'hex');
		EXECUTE 'SELECT ' || golden.expression INTO filter;
		IF filter::bytea <> bytes THEN
			RAISE WARNING '% has the bytes %, not %', golden.expression,
				encode(filter::bytea, 'hex'), golden.bytes;
		END IF;
		IF bytes::bloom <> filter OR filter <> bytes::bloom THEN
			RAISE WARNING '% is not equal to its bytes', golden.expression;
		END IF;
		IF filter::text <> replace(encode(bytes, 'base64'), E'\n', '') THEN
			RAISE WARNING 'the text of % is %', golden.expression, filter;
		END IF;
		IF _bloom_send(filter) <> bytes THEN
			RAISE WARNING '% is sent as %', golden.expression, _bloom_send(filter);
		END IF;
	END LOOP;
END
$do$;

SELECT i.key_type, i.bits, i.hashes, i.seed, i.capacity, i.keys, i.representation
FROM golden_filters, bloom_info(decode(bytes, 'hex')::bloom) AS i
ORDER BY expression COLLATE "C";

-- Counting filters.
CREATE TEMPORARY TABLE golden_counting (expression text, bytes text);
INSERT INTO golden_counting VALUES
	($$counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 0) AS i$$, '0111000000000000000000000000000000000000000000000000000000000000000000000000000000000000'),
	($$counting_bloom_empty(1000)$$, '01110500000000009d0000000000000000000000e8030000000000007b14ae47e17a843f0000000000000000'),
	($$counting_bloom_add_all(counting_bloom_empty(1000), '{1,2,2}'::int[])$$, '01110500140000009d0000000000000000000000e8030000000000007b14ae47e17a843f020000000000000043e2ee915cc686202e79db643559bc2f1200000000000000'),
	($$counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 17) AS i, generate_series(1, i)$$, '01110500140000009d0000000000000000000000e8030000000000007b14ae47e17a843f110000000000000086a03fe5bba53b069704751988af600743e2ee915cc686200cdf235b6b13bb2a2e79db643559bc2f3678e5c6a77914317d2ef4c12920924d3b676347da4b996baf96b5d6581e67818ca7aa39aae9038e5b7f470e4637539b9749810695459e9efedc7606153dfba178715ed90a2922ca89d39c655291cedb63f47101c156cee5752897a8e91bade69fb2e16357cf48fd0a00000000000000'),
	($$counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 5) AS i, generate_series(1, i)$$, '01120500140000000200000000000000000000000a000000000000007b14ae47e17a843f170000000000000050000000020000300005353000000200000002000100000000100000000000040000105000000000000021000404000000004070051000000000000000500000'),
	($$counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 20) AS i, generate_series(1, i)$$, '01120500140000000200000000000000000000000a000000000000007b14ae47e17a843f4300000000000000f080f000dffa6f30000d3c3ff0fbfc0ffff0f2000100f0000cf00f0000f0f004f0af1050f0f0a0000f9ff100f4040df0f00bfcd0f5f00be006000060c0f00e00'),
	($$counting_bloom_add(counting_bloom_empty(6, 0.01, 42), 'bloom'::text)$$, '0112050019000000010000002a0000000000000006000000000000007b14ae47e17a843f04000000000000000000000000000000001000000000010000000000001000000000000000000100'),
	($$counting_bloom_add(counting_bloom_empty(10), (5, 'x'))$$, '01110502d781928d0200000000000000000000000a000000000000007b14ae47e17a843f010000000000000028696e74382c746578742900000000001986c72362a2d0a90100000000000000');

-- some hold more than they are made for
SET client_min_messages = error;
DO $do$
DECLARE
	golden record;
	filter counting_bloom;
	bytes bytea;
BEGIN
	FOR golden IN SELECT * FROM golden_counting
	LOOP
		bytes := decode(golden.bytes, 'hex');
		EXECUTE 'SELECT ' || golden.expression INTO filter;
		IF filter::bytea <> bytes OR _counting_bloom_send(filter) <> bytes THEN
			RAISE '% has the bytes %, not %', golden.expression,
				encode(filter::bytea, 'hex'), golden.bytes;
		END IF;
		IF bytes::counting_bloom <> filter THEN
			RAISE '% is not equal to its bytes', golden.expression;
		END IF;
		IF filter::text <> replace(encode(bytes, 'base64'), E'\n', '') THEN
			RAISE 'the text of % is %', golden.expression, filter;
		END IF;
	END LOOP;
END
$do$;
RESET client_min_messages;

SELECT i.key_type, i.counters, i.hashes, i.seed, i.keys, i.counters_full, i.representation
FROM golden_counting, counting_bloom_info(decode(bytes, 'hex')::counting_bloom) AS i
ORDER BY expression COLLATE "C";

-- The key type of each type with frozen hashes, as the bytes have it.
SELECT type, (bloom_info(filter)).key_type,
	   pg_temp.reversed(substr(filter::bytea, 5, 4)) AS in_bytes
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
