--
-- counting_bloom: a random program against an exact count of every key
--
-- test/unit/counting.c takes a million steps over the arithmetic alone.  Here the
-- SQL functions take fewer; more by hand:
--
--		psql -v steps=1000000 -f sql/counting_model.sql
--
\if :{?steps}
\else
	\set steps 4000
\endif

-- Keys are the numbers 1 to twice the capacity.  Not more than the capacity are
-- there at a time.  No key is there more than four times, but in the second half
-- key 1 comes often, so that its counters fill; at the end it goes again.
CREATE FUNCTION pg_temp.model(steps int, capacity int, seed bigint,
							  OUT keys int, OUT full_counters boolean, OUT denied int, OUT too_low int,
							  OUT wrong_cast int, OUT wrong_difference int, OUT casts int)
LANGUAGE plpgsql AS
$$
DECLARE
	filter counting_bloom := counting_bloom_empty(capacity, 0.01, seed);
	times int[] := array_fill(0, ARRAY[2 * capacity]);
	there int := 0;
	other counting_bloom;
	random bigint;
	key int;
	batch int[];
BEGIN
	denied := 0; too_low := 0; wrong_cast := 0; wrong_difference := 0; casts := 0;
	FOR step IN 1 .. steps LOOP
		random := hashint8extended(step, seed) & x'7fffffffffffffff'::bigint;
		key := CASE WHEN random % 101 = 0 AND step > steps / 2 THEN 1 ELSE 2 + random / 1000 % (2 * capacity - 1) END;
		IF (key = 1 AND step < steps * 0.9) OR
		   (random % 10 < 5 AND (there < capacity OR times[key] > 0) AND times[key] < 4) THEN
			filter := counting_bloom_add(filter, key);
			there := there + (times[key] = 0)::int;
			times[key] := times[key] + 1;
		ELSIF times[key] > 0 AND random % 10 < 9 THEN
			filter := counting_bloom_remove(filter, key);
			times[key] := times[key] - 1;
			there := there - (times[key] = 0)::int;
		ELSIF times[key] > 0 THEN
			-- all of a key at once, by a difference or an array
			batch := array_fill(key, ARRAY[times[key]]);
			other := counting_bloom_add_all(counting_bloom_empty(capacity, 0.01, seed), batch);
			IF (counting_bloom_info(filter + other)).counters_full = 0 THEN
				wrong_difference := wrong_difference + ((filter + other) - other <> filter)::int;
			END IF;
			IF times[key] < 15 THEN
				filter := filter - other;
			ELSE
				filter := counting_bloom_remove_all(filter, batch);
			END IF;
			times[key] := 0;
			there := there - 1;
		END IF;
		too_low := too_low + (counting_bloom_count(filter, key) < least(times[key], 15))::int;
		IF step % 500 = 0 THEN
			denied := denied + (SELECT count(*) FROM generate_subscripts(times, 1) AS k WHERE times[k] > 0 AND NOT filter @> k);
			IF (counting_bloom_info(filter)).counters_full = 0 THEN
				casts := casts + 1;
				wrong_cast := wrong_cast + (SELECT bloom_add_all(bloom_empty(capacity, 0.01, seed), coalesce(array_agg(k), '{}')) <> filter::bloom
											FROM generate_subscripts(times, 1) AS k WHERE times[k] > 0)::int;
			END IF;
			filter := filter::text::counting_bloom;
		END IF;
	END LOOP;
	keys := there;
	full_counters := (counting_bloom_info(filter)).counters_full > 0;
END
$$;
SELECT capacity, keys > capacity / 4 AS many_keys, full_counters, denied, too_low, wrong_cast, wrong_difference, casts > 2 AS casts
FROM (VALUES (10, 1), (100, 2), (1000, 3)) AS v (capacity, seed), pg_temp.model(:steps, capacity, seed);
