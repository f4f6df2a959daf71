--
-- Random changes of valid bytes of both types, 10,000 each: each is an error, or
-- a filter like any other
--

-- A generator of its own, so that each run sees the same mutations.
CREATE FUNCTION pg_temp.mutation(bytes bytea, n int) RETURNS bytea LANGUAGE plpgsql AS
$$
DECLARE
	random bytea := decode(md5('mutation ' || n) || md5('more ' || n), 'hex');
	size int := length(bytes);
	-- two and three random bytes as numbers
	r2 int := get_byte(random, 1) * 256 + get_byte(random, 2);
	r3 int := get_byte(random, 3) * 65536 + get_byte(random, 4) * 256 + get_byte(random, 5);
	edges bytea[] := '{"\\x00","\\x01","\\x02","\\x03","\\x40","\\x41","\\x7f","\\x80","\\xff"}';
BEGIN
	CASE get_byte(random, 0) % 10
		-- one bit flipped, anywhere or in the header
		WHEN 0 THEN
			RETURN set_bit(bytes, r3 % (size * 8), 1 - get_bit(bytes, r3 % (size * 8)));
		WHEN 1, 2 THEN
			RETURN set_bit(bytes, r3 % 352, 1 - get_bit(bytes, r3 % 352));
		-- a byte of the header of a value at an edge, or of any
		WHEN 3 THEN
			RETURN overlay(bytes PLACING edges[1 + r2 % 9] FROM 1 + r3 % 44);
		WHEN 4 THEN
			RETURN set_byte(bytes, r3 % 44, r2 % 256);
		-- cut off, and extended
		WHEN 5 THEN
			RETURN substr(bytes, 1, r3 % size);
		WHEN 6 THEN
			RETURN bytes || substr(random, 1, 1 + r2 % 24);
		-- eight random bytes somewhere
		WHEN 7 THEN
			RETURN substr(overlay(bytes PLACING substr(random, 17, 8) FROM 1 + r3 % size), 1, size);
		-- a part repeated at another place
		WHEN 8 THEN
			RETURN overlay(bytes PLACING substr(bytes, 1 + r2 % size, 8) FROM 1 + r3 % size);
		-- of bits, one flipped and the count corrected; of counters, two in use set to
		-- other numbers; of keys, another seed
		WHEN 9 THEN
			IF get_byte(bytes, 1) = 2 THEN
				r3 := 352 + r3 % ((size - 44) * 8);
				RETURN set_bit(set_byte(bytes, 36, get_byte(bytes, 36) + 1 - 2 * get_bit(bytes, r3)),
							   r3, 1 - get_bit(bytes, r3));
			ELSIF get_byte(bytes, 1) = 18 THEN
				r3 := 44 + r3 % (size - 44);
				RETURN set_byte(bytes, r3, CASE WHEN get_byte(bytes, r3) % 16 > 0 THEN 1 + r2 % 15 ELSE 0 END +
										   CASE WHEN get_byte(bytes, r3) / 16 > 0 THEN 16 * (1 + r2 / 256 % 15) ELSE 0 END);
			END IF;
			RETURN overlay(bytes PLACING substr(random, 9, 8) FROM 13);
	END CASE;
END
$$;

-- What is wrong with a filter that came out of the decoder, by the functions
-- that take one.
CREATE FUNCTION pg_temp.inconsistency(filter bloom) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	info record;
BEGIN
	SELECT * INTO info FROM bloom_info(filter);
	IF info.key_type IS NULL AND info.bits > 0 OR info.key_type = 'bigint' THEN
		PERFORM filter @> 1, bloom_contains_any(filter, '{1,2,3}'::int[]);
		IF NOT bloom_add(filter, 7) @> 7 OR NOT bloom_superset(bloom_add(filter, 7), filter) THEN
			RETURN 'add';
		ELSIF NOT bloom_superset((SELECT bloom_add_all(filter, array_agg(i)) FROM generate_series(1, 30) AS i), filter) THEN
			RETURN 'agg';
		END IF;
	END IF;
	IF (SELECT bloom_union_agg(f) FROM unnest(ARRAY[filter, filter]) AS f) <> filter THEN
		RETURN 'union_agg';
	END IF;
	PERFORM bloom_fit(filter, 0.01);
	RETURN CASE
		WHEN filter::text::bloom <> filter THEN 'text'
		WHEN _bloom_hash(filter) <> _bloom_hash(filter::text::bloom) THEN 'hash'
		WHEN NOT bloom_superset(filter, filter) THEN 'subset'
		WHEN (filter | filter) <> filter THEN 'union'
		WHEN (filter & filter) <> filter THEN 'intersection'
		WHEN NOT (info.fill BETWEEN 0 AND 1 AND info.fp_prob_now BETWEEN 0 AND 1) THEN 'rates'
		WHEN info.keys < 0 OR bloom_cardinality(filter) <> info.keys OR info.keys <> bloom_cardinality(filter | filter) THEN 'keys' END;
END
$$;
CREATE FUNCTION pg_temp.inconsistency(filter counting_bloom) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	info record;
	sum counting_bloom := filter + filter;
BEGIN
	SELECT * INTO info FROM counting_bloom_info(filter);
	IF info.key_type IS NULL AND info.counters > 0 OR info.key_type = 'bigint' THEN
		PERFORM counting_bloom_remove(filter, 7);
		IF NOT counting_bloom_add(filter, 7) @> 7 OR
			counting_bloom_count(counting_bloom_add(filter, 7), 7) <> least(counting_bloom_count(filter, 7) + 1, 15) THEN
			RETURN 'add';
		END IF;
	END IF;
	IF (SELECT counting_bloom_sum_agg(f) FROM unnest(ARRAY[filter, filter]) AS f) <> sum THEN
		RETURN 'sum_agg';
	END IF;
	RETURN CASE
		WHEN filter::text::counting_bloom <> filter THEN 'text'
		WHEN _counting_bloom_hash(filter) <> _counting_bloom_hash(filter::text::counting_bloom) THEN 'hash'
		WHEN counting_bloom_cardinality(filter) <> info.keys THEN 'keys'
		ELSE pg_temp.inconsistency(filter::bloom) END;
END
$$;

-- What became of changed bytes: an SQLSTATE, or accepted.
CREATE FUNCTION pg_temp.outcome(type regtype, bytes bytea, by_text boolean) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	plain bloom;
	counting counting_bloom;
BEGIN
	BEGIN
		IF type = 'bloom'::regtype THEN
			plain := CASE WHEN by_text THEN encode(bytes, 'base64')::bloom ELSE bytes::bloom END;
		ELSE
			counting := CASE WHEN by_text THEN encode(bytes, 'base64')::counting_bloom ELSE bytes::counting_bloom END;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END;
	IF coalesce(plain::bytea, counting::bytea) <> bytes THEN
		RETURN 'other bytes';
	END IF;
	RETURN coalesce(CASE WHEN plain IS NULL THEN pg_temp.inconsistency(counting) ELSE pg_temp.inconsistency(plain) END, 'accepted');
END
$$;

CREATE TEMPORARY TABLE originals (type regtype, i int, bytes bytea);
INSERT INTO originals
SELECT 'bloom', i, (ARRAY[
	(SELECT bloom_agg(i) FROM generate_series(1, 0) AS i),
	bloom_empty(10),
	(SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 10) AS i),
	(SELECT bloom_agg(i, 20, 0.001) FROM generate_series(1, 20) AS i),
	bloom_add(bloom_empty_shaped(64, 64, -1), 1),
	(SELECT bloom_agg(i::text) FROM generate_series(1, 100) AS i),
	(SELECT bloom_add_all(bloom_empty_shaped(192, 3), array_agg(i)) FROM generate_series(1, 2) AS i),
	bloom_add(bloom_empty(30), (1, 'a'))])[1 + i]::bytea
FROM generate_series(0, 7) AS i;
INSERT INTO originals
SELECT 'counting_bloom', i, (ARRAY[
	counting_bloom_empty(10),
	counting_bloom_add_all(counting_bloom_empty(100), '{1,2,3,4,5,6,7,8,9,10,10}'::int[]),
	counting_bloom_add_all(counting_bloom_empty(20), ARRAY(SELECT generate_series(1, 20))),
	counting_bloom_add(counting_bloom_empty(30), (1, 'a')),
	counting_bloom_add_all(counting_bloom_empty(6), array_fill(1, '{15}'))])[1 + i]::bytea
FROM generate_series(0, 4) AS i;

-- Half of the mutations take the way by bytea, half that by text; each has
-- the error of its way, or is accepted and consistent.
SET client_min_messages = error;	-- many are fuller than they say
CREATE TEMPORARY TABLE outcomes AS
SELECT type, n, n % 2 = 0 AS by_text, mutation.bytes, pg_temp.outcome(type, mutation.bytes, n % 2 = 0) AS outcome
FROM (SELECT *, count(*) OVER (PARTITION BY type) AS many FROM originals) AS o
	 JOIN generate_series(1, 10000) AS n ON o.i = n / 2 % many,
	 LATERAL (SELECT pg_temp.mutation(o.bytes, n) AS bytes OFFSET 0) AS mutation;
RESET client_min_messages;

SELECT type, n, by_text, outcome, encode(bytes, 'hex') AS unexpected
FROM outcomes
WHERE outcome NOT IN ('accepted', CASE WHEN by_text THEN '22P02' ELSE '22P03' END)
ORDER BY type, n;
SELECT type, count(*) AS mutations,
	   count(*) FILTER (WHERE outcome = '22P03') > 2500 AS refused_as_binary,
	   count(*) FILTER (WHERE outcome = '22P02') > 2500 AS refused_as_text,
	   count(*) FILTER (WHERE outcome = 'accepted') > 1000 AS accepted
FROM outcomes
GROUP BY type ORDER BY type;
