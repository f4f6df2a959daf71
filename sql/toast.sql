--
-- Stored filters and keys: TOAST, updates, and values that must not change
--

CREATE TABLE toasted (id int PRIMARY KEY, f bloom);
-- 1.2 MB, out of line
INSERT INTO toasted SELECT 1, bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 200000) AS i;
-- in keys form, out of line, and inline
INSERT INTO toasted SELECT 2, bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 10000) AS i;
INSERT INTO toasted SELECT 3, bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 10) AS i;
INSERT INTO toasted VALUES (4, NULL), (5, bloom_empty(10));

SELECT attstorage FROM pg_attribute WHERE attrelid = 'toasted'::regclass AND attname = 'f';
SELECT id, (bloom_info(f)).representation, (bloom_info(f)).bytes, pg_column_size(f) < 10000 AS is_small,
	   f::text::bloom = f AS round_trip
FROM toasted ORDER BY id;

SELECT id, count(*) FILTER (WHERE f @> i) AS found
FROM toasted, generate_series(1, 10000) AS i
GROUP BY id ORDER BY id;
SELECT id, f @> 200000 AS found, f @> -1 AS absent FROM toasted ORDER BY id;

-- Other storage: compressed where it pays, and as it is.
CREATE TABLE stored (storage text, e bloom, x bloom, m bloom);
ALTER TABLE stored ALTER e SET STORAGE extended, ALTER m SET STORAGE main;
-- 80 kB with few bits set, which compress well
INSERT INTO stored SELECT 'sparse', f, f, f
FROM (SELECT bloom_add_all(bloom_empty_shaped(640000, 3), array_agg(i)) & bloom_add_all(bloom_empty_shaped(640000, 3), array_agg(CASE WHEN i < 100 THEN i ELSE -i END)) AS f
	  FROM generate_series(1, 10000) AS i) AS s;
INSERT INTO stored SELECT 'dense', f, f, f
FROM (SELECT bloom_agg(i) AS f FROM generate_series(1, 5000) AS i) AS s;
SELECT storage, pg_column_size(e) < pg_column_size(x) / 2 AS is_compressed, e = x AND x = m AS equal, _bloom_hash(e) = _bloom_hash(m) AS hashes_alike,
	   count(*) FILTER (WHERE e @> i AND x @> i AND m @> i) AS found
FROM stored, generate_series(1, 99) AS i
GROUP BY storage, e, x, m ORDER BY storage COLLATE "C";

-- A text key of 9.6 kB that is stored out of line is found by its value.
CREATE TABLE long_keys (k text, v text, c text);
ALTER TABLE long_keys ALTER v SET STORAGE external;
INSERT INTO long_keys
SELECT s, s, repeat('bloom ', 1600) || i
FROM generate_series(1, 50) AS i, LATERAL (SELECT string_agg(md5(i::text || j), '') AS s FROM generate_series(1, 300) AS j) AS s;
SELECT count(*) AS keys, min(length(v)) AS length, bool_and(pg_column_size(c) < 1000) AS c_is_compressed FROM long_keys;
SELECT count(*) AS keys, count(*) FILTER (WHERE f @> v) AS stored, count(*) FILTER (WHERE f @> k) AS other_column,
	   count(*) FILTER (WHERE f @> (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 300) AS j)) AS recomputed,
	   count(*) FILTER (WHERE g @> c AND g @> (repeat('bloom ', 1600) || i)) AS compressed
FROM (SELECT bloom_agg(v, 10000, 0.01) AS f, bloom_agg(c, 10000, 0.01) AS g FROM long_keys) AS s,
	 (SELECT *, row_number() OVER () AS i FROM long_keys) AS l;
SELECT bloom_add_all(bloom_empty(10000), array_agg(v)) = bloom_agg(k, 10000, 0.01) AS by_array FROM long_keys;

-- An array that is stored out of line is read once, whatever is done with it.
CREATE TABLE arrays (a bigint[]);
ALTER TABLE arrays ALTER a SET STORAGE external;
INSERT INTO arrays SELECT array_agg(i) FROM generate_series(1, 100000) AS i;
CREATE FUNCTION pg_temp.blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE query;				-- what it reads of the catalog, it has then
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END
$$;
SELECT call, pg_temp.blocks(format('SELECT %s FROM arrays', call)) < 1.2 * pg_temp.blocks('SELECT cardinality(a) FROM arrays') AS once
FROM unnest(ARRAY['bloom_add_all(bloom_empty(1e6, key_type => ''int''), a)', 'bloom_contains_all(bloom_empty(10), a)', 'bloom_contains_any(bloom_empty(10), a)', 'bloom_missing(bloom_empty(10), a)',
				  'bloom_add_hashes(bloom_empty(1e6), a, ''int'')', 'counting_bloom_add_all(counting_bloom_empty(1e6), a)', 'counting_bloom_remove_all(counting_bloom_empty(10), a)']) AS call;
DROP TABLE arrays;

-- No function changes a stored value, not even in a transaction that is read
-- only and rolled back.
CREATE TEMPORARY TABLE before AS SELECT id, md5(f::bytea) FROM toasted;
BEGIN TRANSACTION READ ONLY;
SELECT id, bloom_add(f, -1) @> -1 AS added, bloom_add_all(f, '{-2,-3}'::int[]) @> -2 AS added_all,
	   (f | bloom_empty(1000000)) = f AS union, (f & bloom_empty(1000000)) = bloom_empty(1000000) AS intersection,
	   (SELECT bloom_add_all(t.f, array_agg(i)) FROM generate_series(-9, -1) AS i) @> -5 AS added_agg,
	   (SELECT bloom_union_agg(u) FROM unnest(ARRAY[t.f, bloom_add(t.f, -7)]) AS u) @> -7 AS union_agg,
	   bloom_fit(f, 0.01) @> 1 AS fitted
FROM toasted AS t WHERE id <= 3 ORDER BY id;
SELECT bloom_cardinality(bloom_intersect_agg(bloom_empty(1000000) | f)) = 0 AS intersect_agg FROM toasted WHERE id <= 3;
ROLLBACK;
SELECT count(*) AS filters, count(*) FILTER (WHERE b.md5 IS NOT DISTINCT FROM md5(t.f::bytea)) AS unchanged
FROM toasted AS t JOIN before AS b USING (id);
-- nor a value that stays in a buffer, below the size that is stored out of line
SELECT bloom_add(f, 77) @> 77 AS added FROM toasted WHERE id = 3;
SELECT f @> 77 AS still_absent FROM toasted WHERE id = 3;
-- nor a variable, or a constant
DO $$
DECLARE
	a bloom := bloom_add(bloom_empty(64), 1);
	b bloom := a;
BEGIN
	b := bloom_add(b, 2);
	PERFORM bloom_add_all(a, array_agg(i)), bloom_union_agg(bloom_add(a, i)) FROM generate_series(1, 100) AS i;
	ASSERT NOT a @> 2 AND b @> 2 AND bloom_cardinality(a) = 1;
END
$$;

-- Updates: the probe sees the row as it is now, in loops and cursors.
UPDATE toasted SET f = bloom_add(f, -1) WHERE id <= 3;
SELECT id, f @> -1 AS updated FROM toasted WHERE id <= 3 ORDER BY id;
DO $$
DECLARE
	found boolean;
BEGIN
	FOR i IN 1 .. 20
	LOOP
		UPDATE toasted SET f = bloom_add(f, -1000 - i) WHERE id <= 2;
		SELECT bool_and(f @> (-1000 - i)) INTO found FROM toasted WHERE id <= 2;
		ASSERT found, 'the probe did not see the update ' || i;
	END LOOP;
	-- and what was rolled back is gone
	BEGIN
		UPDATE toasted SET f = bloom_add(f, -5555) WHERE id <= 2;
		SELECT bool_and(f @> -5555) INTO found FROM toasted WHERE id <= 2;
		ASSERT found;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
	SELECT bool_or(f @> -5555) INTO found FROM toasted WHERE id = 2;
	ASSERT NOT found, 'the probe saw what was rolled back';
END
$$;
BEGIN;
DECLARE c CURSOR FOR SELECT id, f @> -6666 AS absent_at_start FROM toasted WHERE id = 2 UNION ALL SELECT id, f @> -6666 FROM toasted WHERE id = 2;
FETCH 1 FROM c;
UPDATE toasted SET f = bloom_add(f, -6666) WHERE id = 2;
FETCH 1 FROM c;
COMMIT;

-- Several filters in turn, each call site with its own.
CREATE TABLE many AS
SELECT n AS id, bloom_agg(n * 100000 + i, 20000, 0.01) AS f FROM generate_series(1, 70) AS n, generate_series(1, 2000) AS i GROUP BY n;
SELECT count(*) AS probes, count(*) FILTER (WHERE f @> (m.id * 100000 + i)) AS own_keys_found,
	   count(*) FILTER (WHERE f @> ((m.id + 1) * 100000 + i)) AS other_keys_found
FROM generate_series(1, 2000, 100) AS i, many AS m;
SELECT count(*) AS probes, count(*) FILTER (WHERE a.f @> (a.id * 100000 + i) AND b.f @> (b.id * 100000 + i)) AS both_found
FROM many AS a JOIN many AS b ON b.id = 71 - a.id, generate_series(1, 2000, 500) AS i;
-- deleted, vacuumed, and another in its place
DELETE FROM many WHERE id <= 35;
VACUUM many;
INSERT INTO many SELECT n, bloom_agg(-n * 100000 - i, 20000, 0.01) FROM generate_series(1, 35) AS n, generate_series(1, 2000) AS i GROUP BY n;
SELECT count(*) FILTER (WHERE f @> (-id * 100000 - i)) AS new_found, count(*) FILTER (WHERE f @> (id * 100000 + i)) AS old_found
FROM many, generate_series(1, 2000, 100) AS i WHERE id <= 35;

-- Small filters around the borders of parts, with and without a name of their
-- key type, more of them than a statement remembers: each is probed once, and
-- again after all the others, and for several keys.  What is read by parts
-- answers as what is there as a whole.
CREATE TABLE parted (id int, f bloom, r bloom, c counting_bloom, filler text);
ALTER TABLE parted ALTER filler SET STORAGE plain;
INSERT INTO parted
SELECT row_number() OVER (), bloom_add_all(e, keys), bloom_add_all(e, rows), counting_bloom_add_all(counting_bloom_empty(n * 1200 + d, 0.01), keys), repeat('x', 2000)
FROM generate_series(1, 11) AS n, generate_series(-7, 7) AS d,
	 LATERAL (SELECT bloom_empty_shaped(greatest((1996 * n - 44 + d * 8) * 8, 64), 7) AS e,
					 array_agg(d * 1000000 + i) AS keys, array_agg(ROW(d * 1000000 + i, 'x'::text)) AS rows
			  FROM generate_series(1, n * 1100) AS i) AS k;
SELECT count(*) > 128 AS many, count(*) FILTER (WHERE pg_column_size(f) < 2000) > 0 AS of_one_part FROM parted;
WITH whole AS MATERIALIZED (SELECT id, f::bytea::bloom AS f, r::bytea::bloom AS r, c::bytea::counting_bloom AS c FROM parted)
SELECT count(*) AS probes, bool_and(p.f @> k AND p.r @> ROW(k, 'x'::text)) AS found, bool_and(k <@ p.c) AS found_counting,
	   count(*) FILTER (WHERE (p.f @> -k) <> (w.f @> -k) OR (p.r @> ROW(-k, 'x'::text)) <> (w.r @> ROW(-k, 'x'::text)) OR (p.c @> -k) <> (w.c @> -k)) AS differ,
	   count(*) FILTER (WHERE bloom_contains_any(p.f, ARRAY[-k, -k - 1, -k - 2]) <> bloom_contains_any(w.f, ARRAY[-k, -k - 1, -k - 2])
						OR bloom_missing(p.f, ARRAY[-k, -k - 1, -k - 2]) <> bloom_missing(w.f, ARRAY[-k, -k - 1, -k - 2])) AS arrays_differ
FROM generate_series(1, 5) AS i, parted AS p JOIN whole AS w USING (id), LATERAL (SELECT ((id - 1) % 15 - 7) * 1000000 + i AS k) AS key;
SELECT count(*) FILTER (WHERE f @> -5000001 OR f @> -5000002) AS with_two_keys, count(*) FILTER (WHERE f @> 5000001) AS with_one FROM parted;
DROP TABLE parted;

-- Lists of hashes that are not evenly spread, as anybody can make them.  Each
-- probe is a statement, so that the list is searched by parts.
CREATE TABLE uneven AS
SELECT spread, hashes, bloom_add_hashes(bloom_empty(10000000, 0.01), hashes, 'int8') AS f
FROM (SELECT 'even' AS spread, array_agg(bloom_hash(i)) AS hashes FROM generate_series(1, 60000) AS i
	  UNION ALL SELECT 'all low', array_agg(i) FROM generate_series(1::bigint, 60000) AS i
	  UNION ALL SELECT 'all high', array_agg(-i) FROM generate_series(1::bigint, 60000) AS i
	  UNION ALL SELECT 'both ends', array_agg(i) FROM generate_series(-30000::bigint, 30000) AS i
	  UNION ALL SELECT 'two heaps', array_agg((i << 32) + (i % 2 << 62)) FROM generate_series(1::bigint, 60000) AS i
	  UNION ALL SELECT 'powers', array_agg(DISTINCT exp(i * 43.0 / 60000)::bigint) FROM generate_series(1, 60000) AS i) AS s;
CREATE FUNCTION pg_temp.wrong_answers(which text) RETURNS TABLE (present bigint, absent bigint, wrong bigint) LANGUAGE plpgsql AS $$
DECLARE h bigint; is_in bool; answer bool;
BEGIN
	present := 0; absent := 0; wrong := 0;
	FOR h, is_in IN SELECT x, x = ANY (hashes) FROM uneven, unnest(hashes) WITH ORDINALITY AS e (e, n), LATERAL (VALUES (e - 1), (e), (e + 1), (-e)) AS v (x) WHERE spread = which AND n % 907 = 2
	LOOP
		SELECT bloom_contains_hash(f, h) INTO answer FROM uneven WHERE spread = which;
		present := present + is_in::int;
		absent := absent + (NOT is_in)::int;
		wrong := wrong + (answer <> is_in)::int;
	END LOOP;
	RETURN NEXT;
END $$;
SELECT spread, (bloom_info(f)).representation AS form, w.* FROM uneven, pg_temp.wrong_answers(spread) AS w ORDER BY spread;
DROP TABLE uneven;

-- A TOAST table of another access method than heap: the same answers.
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE elsewhere (id int, f bloom, c counting_bloom) USING heap2;
INSERT INTO elsewhere
SELECT n, bloom_agg(i, 100000, 0.01), counting_bloom_agg(i, 100000, 0.01)
FROM generate_series(1, 20) AS n, generate_series(n * 1000000, n * 1000000 + 20000) AS i GROUP BY n;
CREATE TABLE here AS SELECT * FROM elsewhere;
SELECT count(*) AS probes, bool_and(e.f @> k AND e.c @> k) AS found,
	   sum((e.f @> -k)::int) AS imagined, sum((e.c @> -k)::int) AS imagined_counting,
	   bool_and((e.f @> -k) = (h.f @> -k) AND (e.c @> -k) = (h.c @> -k)) AS same
FROM elsewhere AS e JOIN here AS h USING (id), LATERAL (SELECT id * 1000000 + id AS k) AS key;
DROP TABLE elsewhere, here;
DROP ACCESS METHOD heap2;

DROP TABLE toasted, stored, long_keys, many;
