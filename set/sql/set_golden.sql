--
-- The bytes of a set never change
--

-- The list of one key in a stored set, as set/pack.h says: version, 54 low bits,
-- 1 hash, the last hash of the range, its high part, its low part.
SELECT bloom_set_create('golden_set', 'bigint', seed => 1);
SELECT bloom_set_load('golden_set', 'SELECT 1') AS new;
SELECT to_hex(start # (1::bigint << 63)) AS first_hash, encode(hashes, 'hex') AS list
FROM golden_set WHERE octet_length(hashes) > 12;
DROP TABLE golden_set;
