-- bloomtype_unique: keys that are unique across the partitions of a table

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomtype_unique CASCADE" to load this file. \quit

-- ----------------------------------------------------------------
--					KEYS UNIQUE ACROSS PARTITIONS
--
-- The owner of a table makes them.  Rows are checked with the privileges of the
-- owner, whoever writes them.
-- ----------------------------------------------------------------

-- not STRICT; without name, it is made of those of the table and the columns
CREATE FUNCTION bloom_unique_create(relation regclass, columns text,
									name text DEFAULT NULL,
									validate boolean DEFAULT true)
	RETURNS regclass
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION bloom_unique_create(regclass, text, text, boolean) IS 'keep the keys of a partitioned table unique across its partitions, exactly: a repeat is error 23505';

CREATE PROCEDURE bloom_unique_validate(relation regclass, columns text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE bloom_unique_validate(regclass, text) IS 'add the keys of the rows that are there to the set of a unique key, partition by partition; keys of more than one row are error 23505 at the end';

-- not STRICT, these: null is an error
CREATE FUNCTION bloom_unique_rebuild(relation regclass, columns text) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION bloom_unique_rebuild(regclass, text) IS 'check all rows of a table with a unique key, fill the set of its keys anew, and return their number';

CREATE FUNCTION bloom_unique_drop(relation regclass, columns text) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION bloom_unique_drop(regclass, text) IS 'undo bloom_unique_create: drop the triggers and the set of keys; also what is left of these where the constraint is gone';

-- not STRICT; a null key claims nothing
CREATE FUNCTION bloom_unique_claim(relation regclass, columns text, key anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bloom_unique_claim(regclass, text, anycompatible) IS 'true: no row has the key, and nobody else can write it before this transaction ends; false: a row has it';

CREATE FUNCTION bloom_unique_claim_all(relation regclass, columns text, keys anycompatiblearray)
	RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bloom_unique_claim_all(regclass, text, anycompatiblearray) IS 'the keys that no row has, each once and without nulls; nobody else can write them before this transaction ends';

CREATE FUNCTION bloom_unique() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE COST 10000;
COMMENT ON FUNCTION bloom_unique() IS 'trigger of a table with a unique key, which bloom_unique_create makes';

CREATE FUNCTION _bloom_unique_ddl() RETURNS event_trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION _bloom_unique_ddl() IS 'event trigger after ALTER TABLE: checks what comes to tables with unique keys, and what leaves them unchecked';

CREATE EVENT TRIGGER bloom_unique_ddl ON ddl_command_end
	WHEN TAG IN ('ALTER TABLE')
	EXECUTE FUNCTION _bloom_unique_ddl();
-- also where session_replication_role is replica: the keys of a partition that is attached there count later
ALTER EVENT TRIGGER bloom_unique_ddl ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER bloom_unique_ddl IS 'checks rows that come to tables with unique keys by ALTER TABLE: see bloom_unique_create';

CREATE FUNCTION _bloom_unique_check() RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _bloom_unique_check() IS 'an error, unless superusers own the extensions that unique keys require: the last statement of the install script';
SELECT _bloom_unique_check();
