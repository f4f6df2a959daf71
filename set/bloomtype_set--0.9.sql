-- bloomtype_set: sets of keys in tables

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomtype_set CASCADE" to load this file. \quit

-- ----------------------------------------------------------------
--							STORED SETS
--
-- Keys in a table, by ranges of their hashes.  The functions run with the
-- privileges of the caller.  Their times are the clock of sets that forget.
-- ----------------------------------------------------------------

-- not STRICT; keeps the parameters of a set, as a text
CREATE FUNCTION _bloom_set_params(parameters text) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _bloom_set_params(text) IS 'default of a column in the table of a set: null; the argument is the parameters of the set';

-- not STRICT; without keep, keys are kept forever; without seed, it is random
CREATE FUNCTION bloom_set_create(name text, key_type regtype,
								 keep interval DEFAULT NULL,
								 unlogged boolean DEFAULT false,
								 seed bigint DEFAULT NULL,
								 if_not_exists boolean DEFAULT false,
								 capacity float8 DEFAULT NULL)
	RETURNS regclass
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION bloom_set_create(text, regtype, interval, boolean, bigint, boolean, float8) IS 'make the table of a set of keys of a type; with keep, it forgets each key after that time, or up to keep / 62 later';

-- not STRICT, these: a null set is an error; a null key is new, and gives null to tests and removals
CREATE FUNCTION bloom_set_add(set regclass, key anycompatible, at timestamptz DEFAULT pg_catalog.now())
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bloom_set_add(regclass, anycompatible, timestamptz) IS 'add a key to a set; true: it was new, or is null; false: it was there already, or (n / 2^64) one of n keys has the same hash';

CREATE FUNCTION bloom_set_add_all(set regclass, keys anycompatiblearray, at timestamptz DEFAULT pg_catalog.now())
	RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION bloom_set_add_all(regclass, anycompatiblearray, timestamptz) IS 'add the elements of an array that are not null to a set, and return those that were new, in their order, each once';

CREATE FUNCTION bloom_set_contains(set regclass, key anycompatible, at timestamptz DEFAULT pg_catalog.now())
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION bloom_set_contains(regclass, anycompatible, timestamptz) IS 'false: the key was certainly not added (within keep); true: it was, or (n / 2^64) one of n keys has the same hash';

CREATE FUNCTION bloom_set_contains_all(set regclass, keys anycompatiblearray, at timestamptz DEFAULT pg_catalog.now())
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 2000;
COMMENT ON FUNCTION bloom_set_contains_all(regclass, anycompatiblearray, timestamptz) IS 'is every element possibly in the set? null elements count as in ALL';

CREATE FUNCTION bloom_set_contains_any(set regclass, keys anycompatiblearray, at timestamptz DEFAULT pg_catalog.now())
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 2000;
COMMENT ON FUNCTION bloom_set_contains_any(regclass, anycompatiblearray, timestamptz) IS 'is any element possibly in the set? null elements count as in ANY';

CREATE FUNCTION bloom_set_missing(set regclass, keys anycompatiblearray, at timestamptz DEFAULT pg_catalog.now())
	RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 2000;
COMMENT ON FUNCTION bloom_set_missing(regclass, anycompatiblearray, timestamptz) IS 'the elements that are certainly not in the set, in their order, with repeats, without nulls';

CREATE FUNCTION bloom_set_load(set regclass, query text) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION bloom_set_load(regclass, text) IS 'add the keys that a query returns in its one column to a set, and return the number of new ones';

CREATE FUNCTION bloom_set_remove(set regclass, key anycompatible, at timestamptz DEFAULT pg_catalog.now())
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bloom_set_remove(regclass, anycompatible, timestamptz) IS 'remove a key from a set; true: it was there';

CREATE FUNCTION bloom_set_compact(set regclass) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION bloom_set_compact(regclass) IS 'merge recent keys into the packed lists of a set, drop expired keys, and return the number of keys merged';

CREATE FUNCTION bloom_set_dedup() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE COST 10000;
COMMENT ON FUNCTION bloom_set_dedup() IS 'trigger FOR EACH ROW, with the arguments (''set'', ''column'' [, ''column'' ...] [, ''time column'']): drops rows whose key the set has seen, and adds the keys of others';

CREATE FUNCTION bloom_set_info(set regclass, at timestamptz DEFAULT pg_catalog.now(),
							   OUT key_type text, OUT keys bigint,
							   OUT fp_prob_now float8, OUT bytes bigint,
							   OUT rows bigint, OUT keep interval,
							   OUT oldest timestamptz, OUT seed bigint)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000;
COMMENT ON FUNCTION bloom_set_info(regclass, timestamptz) IS 'one row: key type, number of distinct keys, probability that a new key is called seen, bytes on disk, rows, keep, oldest time that is remembered, seed; reads the whole set';

CREATE FUNCTION bloom_sets(OUT set regclass, OUT key_type text,
						   OUT keep interval, OUT bytes bigint,
						   OUT comment text, OUT problem text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;
COMMENT ON FUNCTION bloom_sets() IS 'the sets of the database: table, key type, keep, bytes on disk, comment, and what is wrong with a table that has the parameters of a set, but is none';

CREATE FUNCTION bloom_set_filter(set regclass, capacity float8,
								 fp_prob float8 DEFAULT 0.01,
								 at timestamptz DEFAULT pg_catalog.now())
	RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000;
COMMENT ON FUNCTION bloom_set_filter(regclass, float8, float8, timestamptz) IS 'a filter of the keys of a set, with its seed, for capacity keys at false-positive rate fp_prob';

CREATE FUNCTION _bloom_set_check() RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _bloom_set_check() IS 'an error, unless the filters of bloom_set_filter are those of bloomtype: the last statement of the install script';
SELECT _bloom_set_check();
