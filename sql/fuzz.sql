--
-- 10,000 mutations of valid bytes: each is an error, or a filter like any other
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
		-- a bit of the content flipped and the count corrected: must be accepted
		-- in bits form
		WHEN 9 THEN
			IF get_byte(bytes, 1) = 2 THEN
				r3 := 352 + r3 % ((size - 44) * 8);
				RETURN set_bit(set_byte(bytes, 36, get_byte(bytes, 36) + 1 - 2 * get_bit(bytes, r3)),
							   r3, 1 - get_bit(bytes, r3));
			END IF;
			-- or, in keys form, another seed
			RETURN overlay(bytes PLACING substr(random, 9, 8) FROM 13);
	END CASE;
END
$$;

-- Each function that takes a filter, on one that came out of the decoder.
CREATE FUNCTION pg_temp.inconsistency(filter bloom, bytes bytea) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	info record;
BEGIN
	IF filter::bytea <> bytes THEN RETURN 'other bytes'; END IF;
	IF filter::text::bloom <> filter THEN RETURN 'text'; END IF;
	IF _bloom_hash(filter) <> _bloom_hash(bytes::bloom) THEN RETURN 'hash'; END IF;
	IF NOT bloom_superset(filter, filter) THEN RETURN 'subset'; END IF;
	IF (filter | filter) <> filter THEN RETURN 'union'; END IF;
	IF (filter & filter) <> filter THEN RETURN 'intersection'; END IF;
	SELECT * INTO info FROM bloom_info(filter);
	IF NOT (info.fill BETWEEN 0 AND 1 AND info.fp_prob_now BETWEEN 0 AND 1) THEN
		RETURN 'rates';
	END IF;
	IF info.keys < 0 OR bloom_cardinality(filter) <> info.keys OR info.keys <> bloom_union_cardinality(filter, filter) THEN
		RETURN 'keys';
	END IF;
	IF bloom_is_empty(filter) <> (info.fill = 0) THEN RETURN 'empty'; END IF;
	IF bloom_jaccard(filter, filter) <> 1 THEN RETURN 'jaccard'; END IF;
	IF (SELECT bloom_union_agg(f) FROM unnest(ARRAY[filter, filter]) AS f) <> filter THEN
		RETURN 'union_agg';
	END IF;
	PERFORM bloom_fit(filter, 0.01);
	IF info.key_type IS NULL AND info.bits > 0 OR info.key_type = 'bigint' THEN
		IF NOT bloom_add(filter, 7) @> 7 OR NOT bloom_superset(bloom_add(filter, 7), filter) THEN
			RETURN 'add';
		END IF;
		IF NOT bloom_superset((SELECT bloom_agg(i, filter) FROM generate_series(1, 30) AS i), filter) THEN
			RETURN 'agg';
		END IF;
		PERFORM filter @> 1, bloom_contains_any(filter, '{1,2,3}'::int[]);
	END IF;
	RETURN NULL;
END
$$;

-- What became of a mutation: an SQLSTATE, or accepted.
CREATE FUNCTION pg_temp.outcome(bytes bytea, by_text boolean) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	filter bloom;
BEGIN
	BEGIN
		IF by_text THEN
			filter := encode(bytes, 'base64')::bloom;
		ELSE
			filter := bytes::bloom;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END;
	RETURN 'accepted' || coalesce(', but inconsistent: ' || pg_temp.inconsistency(filter, bytes), '');
END
$$;

CREATE TEMPORARY TABLE originals (i int, bytes bytea);
INSERT INTO originals
SELECT 0, bloom_agg(i)::bytea FROM generate_series(1, 0) AS i
UNION ALL SELECT 1, bloom_empty(10)::bytea
UNION ALL SELECT 2, bloom_agg(i, 1000, 0.01)::bytea FROM generate_series(1, 10) AS i
UNION ALL SELECT 3, bloom_agg(i, 20, 0.001)::bytea FROM generate_series(1, 20) AS i
UNION ALL SELECT 4, bloom_add(bloom_shape(64, 64, -1), 1)::bytea
UNION ALL SELECT 5, bloom_agg(i::text)::bytea FROM generate_series(1, 100) AS i
UNION ALL SELECT 6, bloom_agg(i, bloom_shape(192, 3))::bytea FROM generate_series(1, 2) AS i;

-- Half of the mutations take the way by bytea, half that by text; each has
-- the error of its way, or is accepted and consistent.
SET client_min_messages = error;	-- many are fuller than they say
CREATE TEMPORARY TABLE outcomes AS
SELECT n, n % 2 = 0 AS by_text, mutation.bytes,
	   pg_temp.outcome(mutation.bytes, n % 2 = 0) AS outcome
FROM generate_series(1, 10000) AS n
	 JOIN originals AS o ON o.i = n / 2 % 7,
	 LATERAL (SELECT pg_temp.mutation(o.bytes, n) AS bytes OFFSET 0) AS mutation;
RESET client_min_messages;

SELECT n, by_text, outcome, encode(bytes, 'hex') AS unexpected
FROM outcomes
WHERE outcome NOT IN ('accepted', CASE WHEN by_text THEN '22P02' ELSE '22P03' END)
ORDER BY n;

SELECT count(*) AS mutations,
	   count(*) FILTER (WHERE outcome = '22P03') > 2500 AS refused_as_binary,
	   count(*) FILTER (WHERE outcome = '22P02') > 2500 AS refused_as_text,
	   count(*) FILTER (WHERE outcome = 'accepted') > 1000 AS accepted
FROM outcomes;
