--
-- ALTER EXTENSION ... SET SCHEMA, of the sets and of the type, with everything in use
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;
RESET client_min_messages;
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'bloomtype' \gset
CREATE SCHEMA work;
SET search_path = work, :home;

SELECT bloom_set_create('seen', 'text'), bloom_set_create('received', 'text');
CREATE TABLE inbox (id text);
CREATE TRIGGER dedup BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('received', 'id');

-- plans and caches of this session, too
PREPARE add(text) AS SELECT bloom_set_add('seen', $1), bloom_set_contains('seen', $1);
CREATE PROCEDURE use_all() LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO inbox VALUES ('one'), ('two'), ('one');
	ASSERT (SELECT count(*) = 2 FROM inbox);
	TRUNCATE inbox, received;
END
$$;
SET plan_cache_mode = force_generic_plan;
CALL use_all();
EXECUTE add('before');

-- each in a schema of its own
CREATE SCHEMA moved;
CREATE SCHEMA moved_type;
ALTER EXTENSION bloomtype_set SET SCHEMA moved;
ALTER EXTENSION bloomtype SET SCHEMA moved_type;
SELECT count(*) AS left_behind FROM pg_proc
-- (unique keys are an extension of their own)
WHERE pronamespace = :'home'::regnamespace AND probin LIKE '%bloomtype%' AND proname !~ 'bloom_unique';

SET search_path = work, moved;
CALL use_all();
EXECUTE add('before');
EXECUTE add('after');
SELECT keys FROM bloom_set_info('seen');
SELECT bloom_set_create('made_there', 'int');
SELECT bloom_set_add('made_there', 1);
SELECT moved_type.bloom_cardinality(bloom_set_filter('seen', 100));

-- a new session
\c -
SET search_path = work, moved;
CALL use_all();
SELECT bloom_set_add('seen', 'before'), bloom_set_add('made_there', 1);

-- and back
ALTER EXTENSION bloomtype SET SCHEMA :home;
ALTER EXTENSION bloomtype_set SET SCHEMA :home;
SET search_path = work, :home;
CALL use_all();
SELECT bloom_set_add('made_there', 1), bloom_set_add('made_there', 2);
SET client_min_messages = warning;
DROP SCHEMA work, moved, moved_type CASCADE;
