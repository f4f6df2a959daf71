--
-- ALTER EXTENSION bloomtype SET SCHEMA, with everything in use
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype;
RESET client_min_messages;
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'bloomtype' \gset
CREATE SCHEMA work;
SET search_path = work, :home;

CREATE TABLE url (url text);
INSERT INTO url SELECT 'u' || i FROM generate_series(1, 1000) AS i;
CREATE TABLE filter (
	id int,
	f bloom DEFAULT bloom_empty(100),
	c counting_bloom,
	keys float8 GENERATED ALWAYS AS (bloom_cardinality(f)) STORED,
	CHECK (bloom_fp_prob_now(f) < 0.5)
);
INSERT INTO filter (id, f, c)
SELECT i, bloom_agg(url, 1000, 0.01), counting_bloom_agg(url, 1000, 0.01)
FROM url, generate_series(1, 3) AS i WHERE length(url) > i GROUP BY i;
CREATE INDEX by_filter ON filter USING hash (f);
CREATE INDEX by_keys ON filter (bloom_cardinality(f)) WHERE f @> 'u7'::text;
CREATE VIEW hit AS SELECT id FROM filter WHERE f @> 'u7'::text AND c @> 'u7'::text;
CREATE MATERIALIZED VIEW merged AS SELECT bloom_union_agg(f) AS f FROM filter;

-- plans and caches of this session, too
PREPARE first_rows AS SELECT count(*) FROM (SELECT bloom_seen(url) OVER () AS seen FROM url) AS s WHERE NOT seen;
PREPARE probe(text) AS SELECT array_agg(id ORDER BY id) FROM filter WHERE f @> $1;
PREPARE lookup AS SELECT id FROM filter WHERE f = (SELECT f FROM filter WHERE id = 2);
CREATE PROCEDURE use_all() LANGUAGE plpgsql AS $$
BEGIN
	ASSERT (SELECT array_agg(id ORDER BY id) = '{1}' FROM hit);
	REFRESH MATERIALIZED VIEW merged;
	ASSERT (SELECT f @> 'u1000'::text FROM merged);
	INSERT INTO filter (id) VALUES (0);
	ASSERT (SELECT keys = 0 FROM filter WHERE id = 0);
	DELETE FROM filter WHERE id = 0;
END
$$;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
CALL use_all();
EXECUTE first_rows;
EXECUTE probe('u7');
EXECUTE lookup;

CREATE SCHEMA moved;
ALTER EXTENSION bloomtype SET SCHEMA moved;
SELECT count(*) AS left_behind FROM pg_proc
-- (sets are an extension of their own)
WHERE pronamespace = :'home'::regnamespace AND probin LIKE '%bloomtype';

-- fail: what looks names up when it runs needs the new schema in search_path
\set VERBOSITY sqlstate
CALL use_all();
\set VERBOSITY default
SET search_path = work, moved;
CALL use_all();
EXECUTE first_rows;
EXECUTE probe('u7');
EXECUTE lookup;

-- a new session
\c -
SET search_path = work, moved;
CALL use_all();

-- and back
ALTER EXTENSION bloomtype SET SCHEMA :home;
SET search_path = work, :home;
CALL use_all();
SET client_min_messages = warning;
DROP SCHEMA work, moved CASCADE;
