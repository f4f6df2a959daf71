-- bench/files.sql
--     Which of many files have a key?  Measure each way of docs/cookbook.md.
--
--     createdb files; psql -X -d files -v files=10000 -v keys=100 -f bench/files.sql
--
-- As a superuser, on Linux: times are processor times of the server process.
-- Each file has so many keys, which no other file has.  10^6 files of 100 keys
-- take 1 GB, and some five minutes; exact pairs are left out where there would
-- be more than 10^7.
\set ON_ERROR_STOP on
\set QUIET on
\set seed 42
\set rows 1
SET client_min_messages = error;
\ir data.sql
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '2GB';
SET maintenance_work_mem = '1GB';
SET plan_cache_mode = force_generic_plan;
SET bench.keys = :keys;

-- one bucket for some 500 pairs of a full group
SELECT round(log(2, least(:files, 65536) * :keys / 500.0)) AS bits,
	   :files >= 100000 AS two_levels, :files::bigint * :keys <= 10000000 AS exact \gset

CREATE FUNCTION pg_temp.processor_ms() RETURNS float8 LANGUAGE sql VOLATILE AS
$$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1)::float8 / 1e6 $$;
CREATE TEMPORARY TABLE result (n int, way text, build_ms float8, bytes float8, ms float8, candidates float8);

CREATE PROCEDURE pg_temp.build(n int, way text, rel name, call text) LANGUAGE plpgsql AS
$$
DECLARE
	start float8 := pg_temp.processor_ms();
BEGIN
	EXECUTE call;
	INSERT INTO result VALUES (n, way, pg_temp.processor_ms() - start, pg_total_relation_size(rel::text::regclass));
END
$$;
CALL pg_temp.build(1, 'filters in line', 'fine', format('SELECT bench_fine(%s, %s)', :files, :keys));
CALL pg_temp.build(2, 'coarse filters above them', 'coarse', format('SELECT bench_coarse(%s, %s)', :files, :keys));
\if :two_levels
CALL pg_temp.build(3, 'and coarser ones above those', 'top', format('SELECT bench_top(%s, %s)', :files, :keys));
\endif
CALL pg_temp.build(4, 'packed pairs', 'packed', format('SELECT bench_packed(%s, %s, %s)', :files, :keys, :bits));
\if :exact
CREATE UNLOGGED TABLE pair (key bigint, file int, PRIMARY KEY (key, file));
CALL pg_temp.build(5, 'exact pairs', 'pair', format('INSERT INTO pair SELECT bench_file_key(file, i), file
	FROM generate_series(0, %s - 1) AS file, generate_series(1, %s) AS i ORDER BY 1', :files, :keys));
\endif
VACUUM ANALYZE;

PREPARE scan (bigint) AS SELECT file FROM fine WHERE keys @> $1;
PREPARE levels (bigint) AS
SELECT file FROM coarse JOIN fine USING (grp) WHERE coarse.keys @> $1 AND fine.keys @> $1;
PREPARE packed (bigint) AS
SELECT DISTINCT (grp << 16) | (code & 65535) AS file
FROM (SELECT bloom_hash($1) AS hash) AS k
	 JOIN packed ON bucket = (hash >> 64 - :bits) & (1 << :bits) - 1, unnest(codes) AS code
WHERE code >> 16 = (hash >> 49 - :bits) & 32767;
\if :two_levels
PREPARE two_levels (bigint) AS
SELECT file FROM top JOIN coarse USING (upper) JOIN fine USING (grp) WHERE top.keys @> $1 AND coarse.keys @> $1 AND fine.keys @> $1;
\endif
\if :exact
PREPARE pair (bigint) AS SELECT file FROM pair WHERE key = $1;
\endif

-- Ask for keys that one file has each; the first round only warms up.
CREATE PROCEDURE pg_temp.measure(way_n int, name text, nkeys int) LANGUAGE plpgsql AS
$$
DECLARE
	files bigint := (SELECT count(*) FROM fine);
	file bigint;
	spent float8;
	found int;
	total float8;
BEGIN
	FOR round IN 0..1 LOOP
		total := 0;
		spent := pg_temp.processor_ms();
		FOR j IN 1..nkeys LOOP
			file := (j * 7919 + round * 31) % files;
			EXECUTE format('EXECUTE %I (%s)', name, bench_file_key(file, 1 + j % current_setting('bench.keys')::int));
			GET DIAGNOSTICS found = ROW_COUNT;
			IF found = 0 THEN
				RAISE EXCEPTION 'file % is missing', file;
			END IF;
			total := total + found;
		END LOOP;
		spent := pg_temp.processor_ms() - spent;
	END LOOP;
	UPDATE result SET ms = spent / nkeys, candidates = total / nkeys WHERE n = way_n;
END
$$;
CALL pg_temp.measure(1, 'scan', 10);
CALL pg_temp.measure(2, 'levels', 100);
CALL pg_temp.measure(4, 'packed', 2000);
\if :two_levels
CALL pg_temp.measure(3, 'two_levels', 100);
\endif
\if :exact
CALL pg_temp.measure(5, 'pair', 2000);
\endif

-- with the room and the time of all levels
SELECT way, round(ms::numeric, 3) AS ms, round(candidates::numeric, 2) AS candidates,
	   round((CASE WHEN n <= 3 THEN sum(bytes) OVER w ELSE bytes END)::numeric / :files / :keys, 2) AS bytes_a_pair,
	   round((CASE WHEN n <= 3 THEN sum(build_ms) OVER w ELSE build_ms END / 1000)::numeric, 1) AS build_s
FROM result WINDOW w AS (ORDER BY n) ORDER BY n;
