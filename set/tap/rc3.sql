-- A database with stored sets of release candidate 3, by pg_dump --no-owner, without comments and empty lines.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET client_min_messages = warning;
CREATE SCHEMA kept;
CREATE SCHEMA types;
CREATE EXTENSION IF NOT EXISTS bloomtype WITH SCHEMA public;
COMMENT ON EXTENSION bloomtype IS 'Bloom filters: a type, aggregates and operators that never deny a key that was added';
CREATE TYPE public."Größe's 100%" AS ENUM (
    'S',
    'M'
);
CREATE TYPE public.mood AS ENUM (
    'sad',
    'ok'
);
CREATE TYPE public.visit AS (
	page text,
	visitor integer
);
CREATE TABLE kept."My Set" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('2678400000000'::bigint, '7'::bigint, 64, 'AQEBABkAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY kept."My Set" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE kept."My Set" IS 'Bloom set of text keys, which forgets: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE public.event (
    day date,
    id bigint
)
PARTITION BY RANGE (day);
CREATE TABLE public.event_2026 (
    day date,
    id bigint
);
CREATE TABLE public.event_rest (
    day date,
    id bigint
);
CREATE TABLE public.ids (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '-7'::bigint, 64, 'AQEBABQAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY public.ids ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE public.ids IS 'Bloom set of bigint keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE public.inbox (
    id uuid,
    body text
);
CREATE TABLE public.moods (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAuiTuvABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAABlbnVtIG1vb2QAAAAAAAAA'::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY public.moods ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE public.moods IS 'Bloom set of enum mood keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE public.received (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '9223372036854775807'::bigint, 64, 'AQEBAIYLAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY public.received ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE public.received IS 'Bloom set of uuid keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE public.sizes (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAyfXDcABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAABlbnVtICJHcsO2w59lJ3MgMTAwJSIAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY public.sizes ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE public.sizes IS 'Bloom set of enum "Größe''s 100%" keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE public.visitors (
    day date,
    seen public.bloom
);
CREATE TABLE public.visits (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAj/xHdYBAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAAodGV4dCxpbnQ4KVtdAAAA'::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY public.visits ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE public.visits IS 'Bloom set of (text,bigint)[] keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.bool (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABAAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.bool ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.bool IS 'Bloom set of boolean keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.bytea (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABEAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.bytea ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.bytea IS 'Bloom set of bytea keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types."char" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABIAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types."char" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types."char" IS 'Bloom set of "char" keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.cid (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAB0AAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.cid ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.cid IS 'Bloom set of cid keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.date (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBADoEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.date ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.date IS 'Bloom set of date keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.float8 (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAL0CAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.float8 ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.float8 IS 'Bloom set of double precision keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.inet (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAGUDAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.inet ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.inet IS 'Bloom set of inet keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types."interval" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAKIEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types."interval" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types."interval" IS 'Bloom set of interval keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.jsonb (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBANoOAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.jsonb ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.jsonb IS 'Bloom set of jsonb keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.macaddr (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAD0DAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.macaddr ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.macaddr IS 'Bloom set of macaddr keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.macaddr8 (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAAYDAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.macaddr8 ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.macaddr8 IS 'Bloom set of macaddr8 keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.money (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABYDAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.money ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.money IS 'Bloom set of money keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types."numeric" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAKQGAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types."numeric" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types."numeric" IS 'Bloom set of numeric keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.oid (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABoAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.oid ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.oid IS 'Bloom set of oid keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.pg_lsn (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAJQMAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.pg_lsn ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.pg_lsn IS 'Bloom set of pg_lsn keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.text (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABkAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.text ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.text IS 'Bloom set of text keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.tid (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABsAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.tid ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.tid IS 'Bloom set of tid keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types."time" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBADsEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types."time" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types."time" IS 'Bloom set of time without time zone keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types."timestamp" (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAFoEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types."timestamp" ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types."timestamp" IS 'Bloom set of timestamp without time zone keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.timestamptz (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAKAEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.timestamptz ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.timestamptz IS 'Bloom set of timestamp with time zone keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.timetz (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAPIEAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.timetz ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.timetz IS 'Bloom set of time with time zone keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.varbit (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABoGAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.varbit ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.varbit IS 'Bloom set of bit varying keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.xid (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBABwAAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.xid ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.xid IS 'Bloom set of xid keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
CREATE TABLE types.xid8 (
    start bigint NOT NULL,
    slice timestamp with time zone,
    lane integer NOT NULL,
    hashes bytea DEFAULT public._bloom_set_params('0'::bigint, '1'::bigint, 64, 'AQEBAM0TAAABAAAAAAAAAAAAAAAsAAAAAAAAAAAAAAAAAOA/AAAAAAAAAAA='::public.bloom) NOT NULL
)
WITH (fillfactor='86');
ALTER TABLE ONLY types.xid8 ALTER COLUMN hashes SET STORAGE PLAIN;
COMMENT ON TABLE types.xid8 IS 'Bloom set of xid8 keys: see bloom_set_add, bloom_set_contains, bloom_set_info';
ALTER TABLE ONLY public.event ATTACH PARTITION public.event_2026 FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
ALTER TABLE ONLY public.event ATTACH PARTITION public.event_rest DEFAULT;
COPY kept."My Set" (start, slice, lane, hashes) FROM stdin;
2215771016666284032	2026-01-01 00:00:00+00	1	\\x94a0a2c58b88d59e0000000000000080
-639511147086610432	2026-01-01 00:00:00+00	1	\\xd31fbc41460a29770000000000000080
\.
COPY public.event_2026 (day, id) FROM stdin;
2026-01-01	1
\.
COPY public.event_rest (day, id) FROM stdin;
2030-01-01	2
\.
COPY public.ids (start, slice, lane, hashes) FROM stdin;
8358680908399640576	\N	0	\\x01350100fffffffffffffff40205563e59c16702
7998392938210000896	\N	0	\\x01360100ffffffffffffffef021a58db137b3925
6557241057451442176	\N	0	\\x01360100ffffffffffffffdb02250b39f2af141f
6485183463413514240	\N	0	\\x01370100ffffffffffffffda02c6ffeca74c5474
6413125869375586304	\N	0	\\x01370100ffffffffffffffd902b271cf90ff394e
3819052484010180608	\N	0	\\x01370100ffffffffffffffb50201980de59d0244
2594073385365405696	\N	0	\\x01370100ffffffffffffffa4025c85df06842962
2017612633061982208	\N	0	\\x01350100ffffffffffffff9c024885a812217f14
792633534417207296	\N	0	\\x01370100ffffffffffffff8b0289e1912f639114
504403158265495552	\N	0	\\x01360100ffffffffffffff87026398d52584a20e
0	\N	0	\\x01370100ffffffffffffff8002a13bca59f9a12c
-792633534417207296	\N	0	\\x01360100ffffffffffffff750276ba898e121921
-2377900603251621888	\N	0	\\x01370100ffffffffffffff5f02e4f3ee1f39af57
-2738188573441261568	\N	0	\\x01350100ffffffffffffff5a0201caba88daba08
-4467570830351532032	\N	0	\\x01370100ffffffffffffff4202765d66445e0f3e
-6052837899185946624	\N	0	\\x01330100ffffffffffffff2c02bbac85c0311803
-6845471433603153920	\N	0	\\x01360100ffffffffffffff2102a7486ee132c824
-7349874591868649472	\N	0	\\x01360100ffffffffffffff1a02fb62cc76b85212
-8142508126285856768	\N	0	\\x01370100ffffffffffffff0f028e499888c8d010
-8863084066665136128	\N	0	\\x01370100ffffffffffffff050259e1c36749ba3f
-1873497444986126336	\N	1	\\xa27f41dfd512b1660000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
COPY public.inbox (id, body) FROM stdin;
a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11	first
\.
COPY public.moods (start, slice, lane, hashes) FROM stdin;
3098476543630901248	\N	1	\\x65b7068853f5deab0000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
COPY public.received (start, slice, lane, hashes) FROM stdin;
-7061644215716937728	\N	1	\\x52568090178ce61e0000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
COPY public.sizes (start, slice, lane, hashes) FROM stdin;
7926335344172072960	\N	1	\\x3096691810c8c2ee0000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
COPY public.visitors (day, seen) FROM stdin;
2026-01-01	AQIFABQAAAACAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/KQAAAAAAAAAqtbRaMSEISKggPAWgCYEI
\.
COPY public.visits (start, slice, lane, hashes) FROM stdin;
-7205759403792793600	\N	1	\\x70a4908df635db1c0000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
COPY types.bool (start, slice, lane, hashes) FROM stdin;
\.
COPY types.bytea (start, slice, lane, hashes) FROM stdin;
\.
COPY types."char" (start, slice, lane, hashes) FROM stdin;
\.
COPY types.cid (start, slice, lane, hashes) FROM stdin;
\.
COPY types.date (start, slice, lane, hashes) FROM stdin;
\.
COPY types.float8 (start, slice, lane, hashes) FROM stdin;
\.
COPY types.inet (start, slice, lane, hashes) FROM stdin;
\.
COPY types."interval" (start, slice, lane, hashes) FROM stdin;
\.
COPY types.jsonb (start, slice, lane, hashes) FROM stdin;
\.
COPY types.macaddr (start, slice, lane, hashes) FROM stdin;
\.
COPY types.macaddr8 (start, slice, lane, hashes) FROM stdin;
\.
COPY types.money (start, slice, lane, hashes) FROM stdin;
\.
COPY types."numeric" (start, slice, lane, hashes) FROM stdin;
\.
COPY types.oid (start, slice, lane, hashes) FROM stdin;
\.
COPY types.pg_lsn (start, slice, lane, hashes) FROM stdin;
\.
COPY types.text (start, slice, lane, hashes) FROM stdin;
\.
COPY types.tid (start, slice, lane, hashes) FROM stdin;
\.
COPY types."time" (start, slice, lane, hashes) FROM stdin;
\.
COPY types."timestamp" (start, slice, lane, hashes) FROM stdin;
\.
COPY types.timestamptz (start, slice, lane, hashes) FROM stdin;
\.
COPY types.timetz (start, slice, lane, hashes) FROM stdin;
\.
COPY types.varbit (start, slice, lane, hashes) FROM stdin;
\.
COPY types.xid (start, slice, lane, hashes) FROM stdin;
\.
COPY types.xid8 (start, slice, lane, hashes) FROM stdin;
\.
ALTER TABLE ONLY kept."My Set"
    ADD CONSTRAINT "My Set_pkey" PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY public.ids
    ADD CONSTRAINT ids_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY public.moods
    ADD CONSTRAINT moods_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY public.received
    ADD CONSTRAINT received_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY public.sizes
    ADD CONSTRAINT sizes_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY public.visits
    ADD CONSTRAINT visits_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.bool
    ADD CONSTRAINT bool_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.bytea
    ADD CONSTRAINT bytea_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types."char"
    ADD CONSTRAINT char_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.cid
    ADD CONSTRAINT cid_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.date
    ADD CONSTRAINT date_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.float8
    ADD CONSTRAINT float8_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.inet
    ADD CONSTRAINT inet_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types."interval"
    ADD CONSTRAINT interval_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.jsonb
    ADD CONSTRAINT jsonb_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.macaddr8
    ADD CONSTRAINT macaddr8_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.macaddr
    ADD CONSTRAINT macaddr_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.money
    ADD CONSTRAINT money_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types."numeric"
    ADD CONSTRAINT numeric_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.oid
    ADD CONSTRAINT oid_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.pg_lsn
    ADD CONSTRAINT pg_lsn_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.text
    ADD CONSTRAINT text_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.tid
    ADD CONSTRAINT tid_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types."time"
    ADD CONSTRAINT time_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types."timestamp"
    ADD CONSTRAINT timestamp_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.timestamptz
    ADD CONSTRAINT timestamptz_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.timetz
    ADD CONSTRAINT timetz_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.varbit
    ADD CONSTRAINT varbit_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.xid8
    ADD CONSTRAINT xid8_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
ALTER TABLE ONLY types.xid
    ADD CONSTRAINT xid_pkey PRIMARY KEY (start, lane) WITH (deduplicate_items=off);
COMMENT ON INDEX kept."My Set_pkey" IS 'Primary key of a Bloom set';
CREATE INDEX event_id_idx ON ONLY public.event USING btree (id);
CREATE INDEX event_2026_id_idx ON public.event_2026 USING btree (id);
CREATE INDEX event_rest_id_idx ON public.event_rest USING btree (id);
COMMENT ON INDEX public.ids_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX public.moods_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX public.received_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX public.sizes_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX public.visits_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.bool_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.bytea_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.char_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.cid_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.date_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.float8_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.inet_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.interval_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.jsonb_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.macaddr8_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.macaddr_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.money_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.numeric_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.oid_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.pg_lsn_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.text_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.tid_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.time_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.timestamp_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.timestamptz_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.timetz_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.varbit_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.xid8_pkey IS 'Primary key of a Bloom set';
COMMENT ON INDEX types.xid_pkey IS 'Primary key of a Bloom set';
ALTER INDEX public.event_id_idx ATTACH PARTITION public.event_2026_id_idx;
ALTER INDEX public.event_id_idx ATTACH PARTITION public.event_rest_id_idx;
CREATE TRIGGER dedup BEFORE INSERT ON public.inbox FOR EACH ROW EXECUTE FUNCTION public.bloom_set_dedup('received', 'id');
