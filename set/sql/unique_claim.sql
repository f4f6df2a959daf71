--
-- bloom_unique_claim and bloom_unique_claim_all: rows with keys that may be there
--
\set VERBOSITY default

CREATE TABLE event (id int, p int DEFAULT 0, note text) PARTITION BY LIST (p);
CREATE TABLE event_0 PARTITION OF event FOR VALUES IN (0);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE INDEX ON event (id);
SELECT bloom_unique_create('event', 'id');
INSERT INTO event VALUES (1, 0), (2, 1), (9, 1);
DELETE FROM event WHERE id = 9;

-- false: a row has it; true: none has; asked again, the answer is the same
SELECT id, bloom_unique_claim('event', 'id', id) AS first, bloom_unique_claim('event', 'id', id) AS again
FROM unnest(ARRAY[1, 2, 3, 9, NULL]) AS k (id);
SELECT bloom_unique_claim_all('event', 'id', ARRAY[1, 3, 2, 3, NULL, 9, 4, 4]) @> ARRAY[3, 4, 9] AS all_of_them,
	   cardinality(bloom_unique_claim_all('event', 'id', ARRAY[1, 3, 2, 3, NULL, 9, 4, 4])) AS how_many;
SELECT bloom_unique_claim_all('event', 'id', '{}'::int[]) AS none,
	   bloom_unique_claim_all('event', 'id', NULL::int[]) AS of_null,
	   bloom_unique_claim_all('event', 'id', ARRAY[NULL, 1]) AS without_nulls;

-- one key
INSERT INTO event SELECT 3, 0, 'three' WHERE bloom_unique_claim('event', 'id', 3);
INSERT INTO event SELECT 3, 1, 'again' WHERE bloom_unique_claim('event', 'id', 3);
INSERT INTO event VALUES (3, 1, 'again');
-- a key that a statement has more than once
INSERT INTO event SELECT i, p FROM (VALUES (4, 0), (4, 1), (5, 0)) AS v (i, p) WHERE bloom_unique_claim('event', 'id', i);
COPY event (id, p) FROM stdin WHERE bloom_unique_claim('event', 'id', id);
5	0
6	0
6	1
\.
INSERT INTO event SELECT i, p FROM (SELECT * FROM (VALUES (7, 0), (7, 1)) AS v (i, p) WHERE bloom_unique_claim('event', 'id', i) ORDER BY p OFFSET 0) AS s;
-- many
CREATE TEMPORARY TABLE staging (id int, p int, note text);
INSERT INTO staging VALUES (5, 0, 'there'), (7, 1, 'new'), (7, 0, 'twice'), (8, 0, 'new'), (NULL, 0, 'null');
INSERT INTO event
SELECT s.*
FROM unnest(bloom_unique_claim_all('event', 'id', (SELECT array_agg(id) FROM staging))) AS n (id)
JOIN (SELECT DISTINCT ON (id) * FROM staging ORDER BY id, note) AS s USING (id);
SELECT id, p, note FROM event ORDER BY id, p;
-- in a condition that is evaluated for each row
INSERT INTO event SELECT s.* FROM (VALUES (10, 0, 'ten'), (11, 1, 'eleven'), (1, 1, 'there')) AS s (id, p, note)
WHERE s.id = ANY (bloom_unique_claim_all('event', 'id', ARRAY[1, 10, 11]));
SELECT id FROM event WHERE id >= 10 ORDER BY id;

-- rows of this statement whose keys are not claimed before it ends: to a trigger, they are there
CREATE FUNCTION claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE 'free: %, all: %', bloom_unique_claim('event', 'id', NEW.id), bloom_unique_claim_all('event', 'id', ARRAY[NEW.id]);
	INSERT INTO event VALUES (NEW.id + 1, 1);
	RETURN NULL;
EXCEPTION WHEN unique_violation THEN
	RAISE NOTICE '%: %', NEW.id, SQLERRM;
	RETURN NULL;
END
$$;
CREATE TRIGGER z AFTER INSERT ON event FOR EACH ROW WHEN (NEW.note = 'claims') EXECUTE FUNCTION claims();
BEGIN;
INSERT INTO event VALUES (14, 0, 'claims'), (12, 0, 'claims'), (13, 0, 'not');
INSERT INTO event VALUES (12, 1);
ROLLBACK;
DROP TRIGGER z ON event;
DROP FUNCTION claims();

-- a claim lasts until the end of its transaction, or subtransaction; rows that come otherwise are looked up
BEGIN;
SELECT bloom_unique_claim('event', 'id', 20);
INSERT INTO event VALUES (20, 0);
SAVEPOINT s;
INSERT INTO event VALUES (20, 1);
ROLLBACK TO s;
DELETE FROM event WHERE id = 20;
SELECT bloom_unique_claim('event', 'id', 20);
SAVEPOINT t;
INSERT INTO event VALUES (20, 1);
ROLLBACK TO t;
INSERT INTO event VALUES (20, 0);
SAVEPOINT u;
INSERT INTO event VALUES (20, 1);
ROLLBACK TO u;
COMMIT;
SELECT id, p FROM event WHERE id = 20;
BEGIN;
SELECT bloom_unique_claim('event', 'id', 21);
CREATE TABLE event_2 (LIKE event);
INSERT INTO event_2 VALUES (21, 2);
ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES IN (2);
INSERT INTO event VALUES (21, 0);
ROLLBACK;
BEGIN;
SELECT bloom_unique_claim('event', 'id', 21);
ALTER TABLE event DISABLE TRIGGER event_id_unique;
INSERT INTO event VALUES (21, 0);
ALTER TABLE event ENABLE TRIGGER event_id_unique;
INSERT INTO event VALUES (21, 1);
ROLLBACK;
BEGIN;
INSERT INTO event VALUES (22, 0);
SELECT bloom_unique_claim('event', 'id', 22), bloom_unique_claim('event', 'id', 23);
TRUNCATE event;
INSERT INTO event VALUES (23, 0);
INSERT INTO event VALUES (23, 1);
ROLLBACK;

-- keys that are equal and look different
CREATE TABLE n (id numeric, p int) PARTITION BY LIST (p);
CREATE TABLE n0 PARTITION OF n FOR VALUES IN (0);
CREATE TABLE n1 PARTITION OF n FOR VALUES IN (1);
CREATE INDEX ON n (id);
SELECT bloom_unique_create('n', 'id');
BEGIN;
SELECT bloom_unique_claim('n', 'id', 1.0);
INSERT INTO n VALUES (1.00, 0);
INSERT INTO n VALUES (1.0, 1);
ROLLBACK;
SELECT bloom_unique_claim_all('n', 'id', ARRAY[1.0, 1.00, 2, 2.0]);
INSERT INTO n SELECT x, p FROM (VALUES (2.0, 0), (2.00, 1)) AS v (x, p) WHERE bloom_unique_claim('n', 'id', x);
INSERT INTO n SELECT x, p FROM (SELECT * FROM (VALUES (3.0, 0), (3.00, 1)) AS v (x, p) WHERE bloom_unique_claim('n', 'id', x) ORDER BY p OFFSET 0) AS s;
SELECT * FROM n;
DROP TABLE n, n_id_unique;

-- a set without its mark, where all keys are looked up
TRUNCATE event_id_unique;
SELECT id, bloom_unique_claim('event', 'id', id) FROM unnest(ARRAY[1, 2, 30]) AS k (id);
INSERT INTO event SELECT i, 0 FROM unnest(ARRAY[1, 30, 30]) AS i WHERE bloom_unique_claim('event', 'id', i);

-- several columns: a row
CREATE INDEX ON event (note, p);
SELECT bloom_unique_create('event', 'p, note');
SELECT bloom_unique_claim('event', 'p, note', ROW(0, 'three'::text)) AS there,
	   bloom_unique_claim('event', 'p, note', (1, 'three'::text)) AS free,
	   bloom_unique_claim('event', 'p, note', ROW(0, NULL::text)) AS with_null;
SELECT p, note FROM unnest(bloom_unique_claim_all('event', 'p, note', ARRAY[ROW(0, 'three'::text), ROW(1, 'three'::text), ROW(1, 'three'::text)])) AS n (p int, note text);

-- fail: arguments
SELECT bloom_unique_claim(NULL, 'id', 1);
SELECT bloom_unique_claim('event', NULL, 1);
SELECT bloom_unique_claim('event', 'p', 1);
SELECT bloom_unique_claim('event_0', 'id', 1);
SELECT bloom_unique_claim('event', 'id', 1::bigint);
SELECT bloom_unique_claim('event', 'id', '1');
PREPARE untyped AS SELECT bloom_unique_claim('event', 'id', $1);
EXECUTE untyped('1');
SELECT bloom_unique_claim('event', 'p, note', 1);
SELECT bloom_unique_claim('event', 'p, note', ROW(1));
SELECT bloom_unique_claim('event', 'p, note', ROW(1, 2));
SELECT bloom_unique_claim('event', 'p, note', ROW(1, 'a'::text, 2));
SELECT bloom_unique_claim_all('event', 'id', ARRAY['a']);
SELECT bloom_unique_claim(0, 'id', 1);
BEGIN READ ONLY;
SELECT bloom_unique_claim('event', 'id', 1000);
ROLLBACK;

-- who may insert may claim, unless a policy hides rows
CREATE ROLE regress_bloom_claimer;
SET ROLE regress_bloom_claimer;
SELECT bloom_unique_claim('event', 'id', 1);
RESET ROLE;
GRANT INSERT (note) ON event TO regress_bloom_claimer;
SET ROLE regress_bloom_claimer;
SELECT bloom_unique_claim('event', 'id', 1);
RESET ROLE;
GRANT INSERT (id) ON event TO regress_bloom_claimer;
SET ROLE regress_bloom_claimer;
SELECT bloom_unique_claim('event', 'id', 1), bloom_unique_claim('event', 'id', 40);
RESET ROLE;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
SET ROLE regress_bloom_claimer;
SELECT bloom_unique_claim('event', 'id', 1);
RESET ROLE;
SELECT bloom_unique_claim('event', 'id', 1);
ALTER TABLE event DISABLE ROW LEVEL SECURITY;

-- for programs that are not changed: a view
CREATE VIEW event_in AS SELECT * FROM event;
ALTER VIEW event_in ALTER p SET DEFAULT 0;
CREATE FUNCTION event_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF bloom_unique_claim('event', 'id', NEW.id) THEN
		INSERT INTO event VALUES (NEW.*);
		RETURN NEW;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER event_in INSTEAD OF INSERT ON event_in FOR EACH ROW EXECUTE FUNCTION event_in();
INSERT INTO event_in VALUES (1, 0, 'there'), (50, 0, 'fifty'), (50, 1, 'again') RETURNING id, note;
INSERT INTO event_in (id) VALUES (1), (51) ON CONFLICT DO NOTHING;
COPY event_in FROM stdin;
1	0	there
52	0	copied
\.
SELECT id, p, note FROM event WHERE id >= 50 ORDER BY id;
INSERT INTO event_in VALUES (53) ON CONFLICT (id) DO NOTHING;

-- a transaction that keeps its snapshot claims by it
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT bloom_unique_claim('event', 'id', 60), bloom_unique_claim('event', 'id', 1);
INSERT INTO event VALUES (60, 0);
SELECT bloom_unique_claim('event', 'id', 60);
COMMIT;

-- keys that all have one hash
SET client_min_messages = warning;
CREATE TYPE weak;
CREATE FUNCTION weak_in(cstring) RETURNS weak LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION weak_out(weak) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE weak (INPUT = weak_in, OUTPUT = weak_out, LIKE = int);
CREATE FUNCTION weak_eq(weak, weak) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION weak_lt(weak, weak) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4lt';
CREATE FUNCTION weak_le(weak, weak) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4le';
CREATE FUNCTION weak_gt(weak, weak) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4gt';
CREATE FUNCTION weak_ge(weak, weak) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4ge';
CREATE FUNCTION weak_cmp(weak, weak) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE FUNCTION weak_hash(weak) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7';
CREATE FUNCTION weak_hash(weak, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 7::bigint';
CREATE OPERATOR = (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_eq, HASHES, MERGES);
CREATE OPERATOR < (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_lt);
CREATE OPERATOR <= (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_le);
CREATE OPERATOR > (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_gt);
CREATE OPERATOR >= (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_ge);
CREATE OPERATOR CLASS weak_ops DEFAULT FOR TYPE weak USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 weak_cmp(weak, weak);
CREATE OPERATOR CLASS weak_ops DEFAULT FOR TYPE weak USING hash AS
	OPERATOR 1 =, FUNCTION 1 weak_hash(weak), FUNCTION 2 weak_hash(weak, bigint);
RESET client_min_messages;
CREATE TABLE w (id weak, p int, o int) PARTITION BY LIST (p);
CREATE TABLE w0 PARTITION OF w FOR VALUES IN (0);
CREATE TABLE w1 PARTITION OF w FOR VALUES IN (1);
CREATE INDEX ON w (id);
INSERT INTO w VALUES ('1', 0, 1), ('2', 1, 2);
SELECT bloom_unique_create('w', 'id');
INSERT INTO w VALUES ('1', 1, 3);
INSERT INTO w VALUES ('3', 0, 3);
SELECT bloom_unique_claim_all('w', 'id', ARRAY['1', '4', '5', '4', '2']::weak[]);
BEGIN;
SELECT bloom_unique_claim('w', 'id', '4'::weak), bloom_unique_claim('w', 'id', '5'::weak), bloom_unique_claim('w', 'id', '1'::weak);
INSERT INTO w VALUES ('5', 0, 5), ('4', 1, 4);
UPDATE w SET id = '6' WHERE id = '3';
SAVEPOINT s;
INSERT INTO w VALUES ('4', 0, 6);
ROLLBACK TO s;
UPDATE w SET id = '2' WHERE id = '6';
ROLLBACK;
DROP TABLE w, w_id_unique;
SET client_min_messages = warning;
DROP TYPE weak CASCADE;
RESET client_min_messages;

-- a claim takes what a set of that type takes, and what the server casts without being told
CREATE TABLE kind (id bigint, note varchar(20), s smallint, n numeric, c char(5), f float8, p int) PARTITION BY LIST (p);
CREATE TABLE kind_1 PARTITION OF kind FOR VALUES IN (1);
CREATE INDEX ON kind (id); CREATE INDEX ON kind (note); CREATE INDEX ON kind (s); CREATE INDEX ON kind (n); CREATE INDEX ON kind (c); CREATE INDEX ON kind (f); CREATE INDEX ON kind (id, note);
SELECT bloom_unique_create('kind', c) FROM unnest('{id,note,s,n,c,f,"id, note"}'::text[]) AS c;
INSERT INTO kind VALUES (5, 'a', 5, 5.0, 'ab', 0.5, 1);
SELECT bloom_unique_claim('kind', 'id', 5), bloom_unique_claim('kind', 'id', 5::smallint), bloom_unique_claim('kind', 'id', 6);
SELECT bloom_unique_claim('kind', 'note', 'a'), bloom_unique_claim('kind', 'note', 'a'::text), bloom_unique_claim('kind', 'note', 'a'::name), bloom_unique_claim('kind', 'note', 'a'::char(4)), bloom_unique_claim('kind', 'note', 'b'::text);
SELECT bloom_unique_claim('kind', 's', 5), bloom_unique_claim('kind', 's', 5::bigint), bloom_unique_claim('kind', 's', 7);
SELECT bloom_unique_claim('kind', 'n', 5), bloom_unique_claim('kind', 'n', 5.00), bloom_unique_claim('kind', 'n', 7);
SELECT bloom_unique_claim('kind', 'c', 'ab'), bloom_unique_claim('kind', 'c', 'ab   '), bloom_unique_claim('kind', 'c', 'ab'::varchar), bloom_unique_claim('kind', 'c', 'abc');
SELECT bloom_unique_claim('kind', 'f', 0.5::real), bloom_unique_claim('kind', 'f', 0.5), bloom_unique_claim('kind', 'f', 7);
SELECT bloom_unique_claim('kind', 'id, note', (5, 'a')), bloom_unique_claim('kind', 'id, note', ROW(5::smallint, 'a'::text)), bloom_unique_claim('kind', 'id, note', (5, 'b'::name)), bloom_unique_claim('kind', 'id, note', (NULL::int, 'b'));
SELECT bloom_unique_claim_all('kind', 'id', ARRAY[5, 9, 9, NULL, 10]), pg_typeof(bloom_unique_claim_all('kind', 'id', ARRAY[5]));
SELECT bloom_unique_claim_all('kind', 'id, note', ARRAY[ROW(5, 'a'::text), ROW(5, 'q'::text)]);
-- fail: no row can have it, or it is of another type
SELECT bloom_unique_claim('kind', 's', 70000);
SELECT bloom_unique_claim('kind', 'n', 5::float8);
SELECT bloom_unique_claim('kind', 'id', 5.0);
SELECT bloom_unique_claim('kind', 'id, note', (5, 6));
SELECT bloom_unique_claim('kind', 'id, note', (5, 'a', 'b'));
-- one that is claimed as another type is found by its row
BEGIN;
SELECT bloom_unique_claim('kind', 'id', 20), bloom_unique_claim('kind', 'note', 'n'::text);
INSERT INTO kind (id, note, p) VALUES (20, 'n', 1);
COMMIT;
INSERT INTO kind (id, p) VALUES (20, 1);
SET client_min_messages = warning;
DROP TABLE kind CASCADE;
DROP TABLE kind_id_unique, kind_note_unique, kind_s_unique, kind_n_unique, kind_c_unique, kind_f_unique, kind_id_note_unique;
RESET client_min_messages;

-- keys that are arrays: one by one
CREATE TABLE listed (id int[], p int) PARTITION BY LIST (p);
CREATE TABLE listed_0 PARTITION OF listed FOR VALUES IN (0);
CREATE INDEX ON listed (id);
SELECT bloom_unique_create('listed', 'id');
INSERT INTO listed SELECT '{1,2}', 0 WHERE bloom_unique_claim('listed', 'id', '{1,2}'::int[]);
SELECT bloom_unique_claim('listed', 'id', '{1,2}'::int[]), bloom_unique_claim('listed', 'id', '{2,1}'::int[]);
SELECT bloom_unique_claim_all('listed', 'id', '{{1,2},{2,1}}'::int[]);
DROP TABLE listed, listed_id_unique;

-- more keys than work_mem has space for are looked up
SET work_mem = 64;
BEGIN;
SELECT cardinality(bloom_unique_claim_all('event', 'id', (SELECT array_agg(i) FROM generate_series(1000, 4999) AS i)));
INSERT INTO event SELECT i, 0 FROM generate_series(1000, 4999) AS i;
INSERT INTO event SELECT 1500, 1;
ROLLBACK;
RESET work_mem;
DROP TABLE event CASCADE;
DROP TABLE event_id_unique, event_p_note_unique;
DROP FUNCTION event_in();
DROP ROLE regress_bloom_claimer;
