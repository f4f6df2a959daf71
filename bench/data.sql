-- bench/data.sql: what the rows' setups build their data with.

CREATE EXTENSION bloomtype;
DO $do$
DECLARE
	extension text;
BEGIN
	FOR extension IN
		SELECT name FROM pg_available_extensions
		WHERE name IN ('hll', 'pg_prewarm')
	LOOP
		EXECUTE format('CREATE EXTENSION %I', extension);
	END LOOP;
END
$do$;

CREATE TABLE bench_settings (seed bigint, rows bigint);
INSERT INTO bench_settings VALUES (:seed, :rows);

-- The key of number i: int8, uuid, text of 36 bytes, a URL of 80, a numeric of
-- 12 digits and a fraction, a document of two members, a row of two columns.
CREATE TYPE bench_row AS (tenant int, url text);
CREATE FUNCTION bench_key(type text, i text) RETURNS text
	LANGUAGE sql AS $$
	SELECT CASE type
		WHEN 'int8' THEN format('hashint8extended(%s, %s)', i, seed)
		WHEN 'uuid' THEN format('md5(%L || (%s))::uuid', seed, i)
		WHEN 'text' THEN format('md5(%L || (%s))::uuid::text', seed, i)
		WHEN 'url' THEN format('left(''https://www.example'' || (%s) %% 1000 || ''.org/articles/'' || md5(%L || (%s)) || repeat(''/index'', 8), 80)', i, seed, i)
		WHEN 'numeric' THEN format('(hashint8extended(%s, %s) %% 1000000000000) / 100.0', i, seed)
		WHEN 'jsonb' THEN format('jsonb_build_object(''id'', hashint8extended(%s, %s), ''tag'', md5(%L || (%s)))', i, seed, seed, i)
		WHEN 'row' THEN format('ROW((%s) %% 1000, md5(%L || (%s)))::bench_row', i, seed, i)
		END
	FROM bench_settings
$$;

-- Have a table in memory.
CREATE FUNCTION bench_settle(name text) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	-- every page is visited once, so that the queries do not set hint bits
	EXECUTE format('SELECT count(*) FROM %I', name);
	EXECUTE format('ANALYZE %I', name);
	IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_prewarm') THEN
		EXECUTE format('SELECT pg_prewarm(%L)', name);
	END IF;
END
$$;

-- Have the table TYPE_DISTINCT: the keys of the numbers 1 to DISTINCT,
-- repeated in turn up to the benchmark's number of rows.
CREATE FUNCTION bench_keys(type text, "distinct" bigint) RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	name text := type || '_' || "distinct";
BEGIN
	IF to_regclass(name) IS NULL THEN
		EXECUTE format('CREATE UNLOGGED TABLE %I AS SELECT %s AS k FROM bench_settings, generate_series(1, rows) AS i',
			name, bench_key(type, format('1 + i * 7919 %% %s', "distinct")));
		PERFORM bench_settle(name);
	END IF;
END
$$;

-- Have the filter TYPE_CAPACITY_FIRST: it holds the keys of the numbers from
-- FIRST to FIRST + CAPACITY - 1.
CREATE TABLE bench_filters (name text PRIMARY KEY, filter bloom);
CREATE FUNCTION bench_make_filter(type text, capacity bigint, first bigint)
	RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	filter_name text := concat_ws('_', type, capacity, first);
BEGIN
	IF NOT EXISTS (SELECT FROM bench_filters WHERE name = filter_name) THEN
		EXECUTE format('INSERT INTO bench_filters SELECT %L, bloom_agg(%s, %s, 0.01) FROM generate_series(%s, %s) AS i',
			filter_name, bench_key(type, 'i'), capacity, first,
			first + capacity - 1);
	END IF;
END
$$;

-- The filter of this name, as a constant: declared immutable, the planner
-- puts its value into the plan of a prepared statement.
CREATE FUNCTION bench_filter(name text) RETURNS bloom
	LANGUAGE sql IMMUTABLE AS $$
	SELECT f.filter FROM bench_filters AS f WHERE f.name = bench_filter.name
$$;

-- The rows that the planner expects of a query; the same, divided by their number.
CREATE FUNCTION bench_expected(query text) RETURNS float8
	LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;
CREATE FUNCTION bench_estimate(query text) RETURNS float8
	LANGUAGE plpgsql AS $$
DECLARE
	actual float8;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) AS q', query) INTO actual;
	RETURN bench_expected(query) / actual;
END
$$;

-- Have the table dedup_events: events in the order of time, 5 of 100 of them a
-- repeat.
CREATE FUNCTION bench_events() RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	s bench_settings;
BEGIN
	IF to_regclass('dedup_events') IS NULL THEN
		SELECT * INTO s FROM bench_settings;
		CREATE UNLOGGED TABLE dedup_events AS
		SELECT i AS ts, CASE WHEN i % 20 = 0 THEN hashint8extended(i - 1 - (hashint8extended(i, s.seed) & 8190), s.seed)
							 ELSE hashint8extended(i, s.seed) END AS id
		FROM generate_series(1, s.rows) AS i;
		CREATE UNIQUE INDEX dedup_events_ts ON dedup_events (ts);
		PERFORM bench_settle('dedup_events');
	END IF;
END
$$;

-- Have the table visits: days 1 to 28 of visitors, uuids of whom there are a tenth
-- as many as rows; and the table day_filters: of each day, a filter that has room
-- for all of them.
CREATE FUNCTION bench_visits() RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	s bench_settings;
BEGIN
	IF to_regclass('visits') IS NULL THEN
		SELECT * INTO s FROM bench_settings;
		EXECUTE format('CREATE UNLOGGED TABLE visits AS SELECT (1 + i * 28 / %s)::int AS day, %s AS k FROM generate_series(0, %s) AS i',
			s.rows, bench_key('uuid', format('(hashint8extended(i, %s) & 2147483647) %% %s', s.seed, s.rows / 10)), s.rows - 1);
		PERFORM bench_settle('visits');
		CREATE UNLOGGED TABLE day_filters AS
		SELECT day, bloom_agg(k, s.rows / 10, 0.01) AS users FROM visits GROUP BY day;
		PERFORM bench_settle('day_filters');
	END IF;
END
$$;

-- Have the table dedup_wide: the same with rows of about 150 bytes.
CREATE FUNCTION bench_wide_events() RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	s bench_settings;
BEGIN
	IF to_regclass('dedup_wide') IS NULL THEN
		SELECT * INTO s FROM bench_settings;
		CREATE UNLOGGED TABLE dedup_wide AS
		SELECT i AS ts, md5((CASE WHEN i % 20 = 0 THEN i - 1 - (hashint8extended(i, s.seed) & 8190) ELSE i END)::text)::uuid AS id,
			   (hashint8extended(i, 1) & 1048575)::int AS usr, (hashint8extended(i, 2) & 1023)::int AS ad,
			   'https://www.example.org/articles/' || md5(i::text) || '/index.html?from=' || md5((i % 1000)::text) AS url
		FROM generate_series(1, s.rows) AS i;
		CREATE UNIQUE INDEX dedup_wide_ts ON dedup_wide (ts);
		PERFORM bench_settle('dedup_wide');
	END IF;
END
$$;

-- Have a table of the first n rows of another one.
CREATE FUNCTION bench_first_rows(name text, source text, n bigint) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	IF to_regclass(name) IS NULL THEN
		EXECUTE format('CREATE UNLOGGED TABLE %I AS SELECT * FROM %I WHERE ts <= %s ORDER BY ts', name, source, n);
		PERFORM bench_settle(name);
	END IF;
END
$$;

-- Blocks that a query writes to temporary files.
CREATE FUNCTION bench_temp_blocks(query text) RETURNS bigint
	LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Temp Written Blocks';
END
$$;

-- Bytes of a unique index on the keys of the rows that pass.
CREATE FUNCTION bench_index_size(name text, key text, pass text) RETURNS bigint
	LANGUAGE plpgsql AS $$
DECLARE
	bytes bigint;
BEGIN
	EXECUTE format('CREATE UNIQUE INDEX bench_index ON %I (%I) WHERE %s', name, key, pass);
	bytes := pg_relation_size('bench_index');
	DROP INDEX bench_index;
	RETURN bytes;
END
$$;

-- Bytes of the hash table that a query makes in memory.
CREATE FUNCTION bench_hash_memory(query text) RETURNS bigint
	LANGUAGE plpgsql
	SET enable_sort = off
	SET work_mem = '2GB' AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ' || query INTO plan;
	RETURN 1024 * (jsonb_path_query_first(plan::jsonb, '$.**."Peak Memory Usage"'))::bigint;
END
$$;

-- Have the tables many and many_inline: number copies of a hundred filters for
-- so many keys each, which a row keeps in TOAST, or in line up to 8 kB.
CREATE FUNCTION bench_many(number bigint, capacity bigint) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS many, many_inline;
	CREATE TABLE many (id bigint, filter bloom);
	CREATE TABLE many_inline (LIKE many) WITH (toast_tuple_target = 8160);
	INSERT INTO many
	SELECT i, filter
	FROM (SELECT n, bloom_agg(hashint8extended(n * 1000000 + i, seed), capacity, 0.01) AS filter
		  FROM bench_settings, generate_series(1, 100) AS n, generate_series(1, capacity) AS i
		  GROUP BY n) AS f,
		 generate_series(1, number / 100) AS i;
	INSERT INTO many_inline SELECT * FROM many;
	PERFORM bench_settle('many'), bench_settle('many_inline');
END
$$;

-- Files, each with its own keys: the tables fine, a filter for each in line;
-- coarse, one for a thousand of them (grp); top, one for 32 of these (upper); and
-- packed, their pairs, in 2^bits buckets for each group of 65,536 files.
CREATE FUNCTION bench_file_key(file bigint, i bigint) RETURNS bigint
	LANGUAGE sql IMMUTABLE AS $$ SELECT hashint8extended(file * 1000000 + i, 42) $$;

CREATE FUNCTION bench_fine(files bigint, keys bigint) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS fine;
	CREATE UNLOGGED TABLE fine (grp int, file int, keys bloom, PRIMARY KEY (grp, file)) WITH (toast_tuple_target = 8160);
	INSERT INTO fine
	SELECT file / 1000, file, f
	FROM generate_series(0, files - 1) AS file,
		 LATERAL (SELECT bloom_agg(bench_file_key(file, i), bench_fine.keys, 0.0001) AS f FROM generate_series(1, bench_fine.keys) AS i) AS s;
END
$$;

CREATE FUNCTION bench_coarse(files bigint, keys bigint) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS coarse;
	CREATE UNLOGGED TABLE coarse (upper int, grp int, keys bloom, PRIMARY KEY (upper, grp));
	INSERT INTO coarse
	SELECT g / 32, g, f
	FROM generate_series(0, (files - 1) / 1000) AS g,
		 LATERAL (SELECT bloom_agg(bench_file_key(file, i), bench_coarse.keys * 1000, 0.01) AS f
				  FROM generate_series(g * 1000, least((g + 1) * 1000, files) - 1) AS file, generate_series(1, bench_coarse.keys) AS i) AS s;
END
$$;

CREATE FUNCTION bench_top(files bigint, keys bigint) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS top;
	CREATE UNLOGGED TABLE top (upper int PRIMARY KEY, keys bloom);
	INSERT INTO top
	SELECT u, f
	FROM generate_series(0, (files - 1) / 32000) AS u,
		 LATERAL (SELECT bloom_agg(bench_file_key(file, i), bench_top.keys * 32000, 0.01) AS f
				  FROM generate_series(u * 32000, least((u + 1) * 32000, files) - 1) AS file, generate_series(1, bench_top.keys) AS i) AS s;
END
$$;

CREATE FUNCTION bench_packed(files bigint, keys bigint, bits int) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS packed;
	CREATE UNLOGGED TABLE packed (bucket int, grp int, codes int[]) WITH (toast_tuple_target = 8160);
	ALTER TABLE packed ALTER codes SET STORAGE main;
	INSERT INTO packed
	SELECT bucket, g, c
	FROM generate_series(0, (files - 1) / 65536) AS g,
		 LATERAL (SELECT (hash >> 64 - bits) & (1 << bits) - 1 AS bucket,
						 array_agg((((hash >> 49 - bits) & 32767)::int << 16) | (file & 65535)::int) AS c
				  FROM (SELECT file, bloom_hash(bench_file_key(file, i)) AS hash
						FROM generate_series(g * 65536, least((g + 1) * 65536, files) - 1) AS file, generate_series(1, keys) AS i
						OFFSET 0) AS k
				  GROUP BY 1) AS s;
	ALTER TABLE packed ADD PRIMARY KEY (bucket, grp);
END
$$;

-- Have the table repeats_PERCENT, in which so many rows in 100 repeat the key of an
-- earlier one.
CREATE FUNCTION bench_repeats(percent bigint) RETURNS void
	LANGUAGE plpgsql AS $$
DECLARE
	name text := 'repeats_' || percent;
BEGIN
	IF to_regclass(name) IS NULL THEN
		EXECUTE format('CREATE UNLOGGED TABLE %1$I AS
			SELECT i AS ts, hashint8extended(CASE WHEN i %% 100 < %2$s AND i > 100
				THEN (hashint8extended(i, seed) & 2147483647) %% (i / 100 * (100 - %2$s))
				ELSE i / 100 * (100 - %2$s) + greatest(i %% 100 - %2$s, 0) END, seed) AS id
			FROM bench_settings, generate_series(1, rows) AS i', name, percent);
		PERFORM bench_settle(name);
	END IF;
END
$$;
