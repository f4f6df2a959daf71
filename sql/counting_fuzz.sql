--
-- counting_bloom: random changes of valid bytes
--
-- Whatever the decoder accepts comes out as it went in, is equal to itself in
-- every form, and survives every function.
--
SET client_min_messages = error;

-- A number below n, the same in every run.
CREATE FUNCTION pg_temp.roll(i int, what int, n int) RETURNS int LANGUAGE sql AS
$$
	SELECT ((hashint8extended(i, what) & x'7fffffffffffffff'::bigint) % n)::int
$$;
CREATE FUNCTION pg_temp.changed(bytes bytea, i int) RETURNS bytea LANGUAGE plpgsql AS
$$
DECLARE
	place int;
BEGIN
	FOR j IN 0 .. pg_temp.roll(i, 1, 3) LOOP
		place := pg_temp.roll(i, 10 + j, length(bytes));
		bytes := CASE pg_temp.roll(i, 20 + j, 8)
			WHEN 0 THEN substr(bytes, 1, place)
			WHEN 1 THEN bytes || substr(bytes, 1, pg_temp.roll(i, 30 + j, 16))
			WHEN 2 THEN set_byte(bytes, place, get_byte(bytes, place) # (1 << pg_temp.roll(i, 30 + j, 8)))
			ELSE set_byte(bytes, place, pg_temp.roll(i, 30 + j, 256)) END;
		EXIT WHEN length(bytes) = 0;
	END LOOP;
	RETURN bytes;
END
$$;
CREATE FUNCTION pg_temp.outcome(bytes bytea) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	f counting_bloom;
BEGIN
	BEGIN
		f := bytes::counting_bloom;
	EXCEPTION WHEN invalid_binary_representation THEN
		RETURN 'refused';
	END;
	IF f::bytea <> bytes OR f::text::counting_bloom::bytea <> bytes THEN
		RETURN 'other bytes: ' || bytes;
	END IF;
	IF f <> f OR f::text::counting_bloom <> f OR f::bloom::text::bloom <> f::bloom THEN
		RETURN 'not equal: ' || bytes;
	END IF;
	PERFORM counting_bloom_info(f), bloom_info(f::bloom), _counting_bloom_hash(f);
	IF (counting_bloom_info(f + f)).counters_full = 0 AND (f + f) - f <> f THEN
		RETURN 'no difference: ' || bytes;
	END IF;
	BEGIN
		PERFORM counting_bloom_sum_agg(f), counting_bloom_add(f, 5) @> 5, counting_bloom_remove(f, 5), counting_bloom_count(f, 5)
		FROM generate_series(1, 3) GROUP BY f;
	EXCEPTION WHEN datatype_mismatch OR object_not_in_prerequisite_state THEN
		NULL;
	END;
	RETURN 'accepted';
END
$$;
WITH source AS (
	SELECT ARRAY[counting_bloom_add_all(counting_bloom_empty(100), '{1,2,3,4,5,6,7,8,9,10,10}'::int[])::bytea,
				 counting_bloom_add_all(counting_bloom_empty(20), ARRAY(SELECT generate_series(1, 20)))::bytea,
				 counting_bloom_empty(10)::bytea,
				 counting_bloom_add(counting_bloom_empty(30), (1, 'a'))::bytea,
				 counting_bloom_add_all(counting_bloom_empty(6), array_fill(1, '{15}'))::bytea] AS bytes
)
SELECT outcome, count(*) > 1000 AS many
FROM source, generate_series(1, 10000) AS i, LATERAL (SELECT pg_temp.outcome(pg_temp.changed(bytes[1 + i % 5], i)) AS outcome) AS o
GROUP BY outcome ORDER BY outcome;
