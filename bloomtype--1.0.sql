-- bloomtype: Bloom filters as PostgreSQL values

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomtype" to load this file. \quit

-- ----------------------------------------------------------------
--							THE TYPE
-- ----------------------------------------------------------------

CREATE TYPE bloom;

CREATE FUNCTION _bloom_in(cstring, oid, int) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_out(bloom) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_recv(internal, oid, int) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_send(bloom) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_typmod_in(cstring[]) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_typmod_out(int) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_typanalyze(internal) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE bloom (
	INPUT = _bloom_in,
	OUTPUT = _bloom_out,
	RECEIVE = _bloom_recv,
	SEND = _bloom_send,
	TYPMOD_IN = _bloom_typmod_in,
	TYPMOD_OUT = _bloom_typmod_out,
	ANALYZE = _bloom_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE bloom IS 'Bloom filter: a set of keys that never denies a key, with false positives at a known rate; bloom(capacity, fp_prob) has one shape, in which filters of one seed and key type can be combined';

CREATE FUNCTION _bloom_to_shape(bloom, int, boolean) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

CREATE CAST (bloom AS bloom) WITH FUNCTION _bloom_to_shape(bloom, int, boolean) AS IMPLICIT;
COMMENT ON CAST (bloom AS bloom) IS 'the filter in the shape of a type modifier; one of another shape is turned by an explicit cast if it still has its keys, else error 22023';

CREATE FUNCTION _bloom_to_bytea(bloom) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_from_bytea(bytea) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bloom AS bytea) WITH FUNCTION _bloom_to_bytea(bloom);
COMMENT ON CAST (bloom AS bytea) IS 'the bytes of a filter, as docs/format.md describes them';

CREATE CAST (bytea AS bloom) WITH FUNCTION _bloom_from_bytea(bytea);
COMMENT ON CAST (bytea AS bloom) IS 'the filter that has these bytes; invalid bytes are error 22P03';

-- ----------------------------------------------------------------
--							SIZING
-- ----------------------------------------------------------------

CREATE FUNCTION best_params(fp_prob float8, OUT k int, OUT bits_per_key int,
							OUT fp_prob float8)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION best_params(float8) IS 'the smallest number of bits per key that reaches fp_prob, the smallest number k of hashes that then does, and the rate of both';

CREATE FUNCTION bloom_params(capacity float8, fp_prob float8 DEFAULT 0.01,
							 OUT bits bigint, OUT hashes int, OUT bytes bigint,
							 OUT fp_prob float8)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_params(float8, float8) IS 'the shape of the filter that bloom_empty(capacity, fp_prob) makes, its largest size in bytes, and its rate at capacity';

CREATE FUNCTION bloom_fp_prob(bits_per_key float8, hashes int) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_fp_prob(float8, int) IS 'expected false-positive rate at capacity, (1 - e^(-hashes / bits_per_key))^hashes';

-- ----------------------------------------------------------------
--							CONSTRUCTION
-- ----------------------------------------------------------------

-- not STRICT; without a key_type, the first key determines it
CREATE FUNCTION bloom_empty(capacity float8, fp_prob float8 DEFAULT 0.01, seed bigint DEFAULT 0, key_type regtype DEFAULT NULL)
	RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_empty(float8, float8, bigint, regtype) IS 'empty filter for capacity distinct keys at false-positive rate fp_prob';

-- not STRICT; without a key_type, the first key determines it
CREATE FUNCTION bloom_empty_shaped(bits bigint, hashes int, seed bigint DEFAULT 0, key_type regtype DEFAULT NULL)
	RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_empty_shaped(bigint, int, bigint, regtype) IS 'empty filter of this number of bits, rounded up to a multiple of 64, and of hashes per key';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION bloom_add(filter bloom, key anycompatible) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_add(bloom, anycompatible) IS 'the filter with one more key; a null key changes nothing';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION bloom_add_all(filter bloom, keys anycompatiblearray) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_add_all(bloom, anycompatiblearray) IS 'the filter with all elements of the array that are not null';

-- ----------------------------------------------------------------
--							MEMBERSHIP
--
-- The tests cost as much as a hundred simple comparisons: so the planner
-- makes those first.  How many rows pass is estimated in plan/selfuncs.c.
-- ----------------------------------------------------------------

CREATE FUNCTION _bloom_sel(internal, oid, internal, int) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_contains_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_contains(filter bloom, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
	SUPPORT _bloom_contains_support;
COMMENT ON FUNCTION bloom_contains(bloom, anycompatible) IS 'false: the key was certainly never added; true: it probably was';

CREATE FUNCTION _bloom_contained(key anycompatible, filter bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
	SUPPORT _bloom_contains_support;

CREATE FUNCTION bloom_contains_all(filter bloom, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_contains_all(bloom, anycompatiblearray) IS 'is every element possibly contained? null elements count as in ALL';

CREATE FUNCTION bloom_contains_any(filter bloom, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_contains_any(bloom, anycompatiblearray) IS 'is some element possibly contained? null elements count as in ANY';

CREATE FUNCTION bloom_missing(filter bloom, keys anycompatiblearray) RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_missing(bloom, anycompatiblearray) IS 'the elements that are certainly not contained, in their order, without nulls';

CREATE OPERATOR @> (
	LEFTARG = bloom, RIGHTARG = anycompatible, FUNCTION = bloom_contains,
	COMMUTATOR = <@, RESTRICT = _bloom_sel, JOIN = _bloom_joinsel
);
COMMENT ON OPERATOR @> (bloom, anycompatible) IS 'possibly contains the key; false is certain';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = bloom, FUNCTION = _bloom_contained,
	COMMUTATOR = @>, RESTRICT = _bloom_sel, JOIN = _bloom_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, bloom) IS 'is possibly contained in the filter; false is certain';

-- ----------------------------------------------------------------
--							HASHES
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_hash(key anycompatible, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_hash(anycompatible, bigint) IS 'the 64-bit hash of a key in filters of this seed';

CREATE FUNCTION bloom_positions(filter bloom, key anycompatible) RETURNS bigint[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_positions(bloom, anycompatible) IS 'the bits of the filter that the key sets, one for each hash, counted from 0';

CREATE FUNCTION bloom_contains_hash(filter bloom, hash bigint) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_contains_hash(bloom, bigint) IS 'possibly contains the key with this hash, by the seed of the filter; false is certain';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION bloom_add_hashes(filter bloom, hashes bigint[], key_type regtype DEFAULT NULL) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_add_hashes(bloom, bigint[], regtype) IS 'the filter with the keys of these hashes, by its seed, which are of this type';

-- ----------------------------------------------------------------
--							SET OPERATIONS
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_superset(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_superset(bloom, bloom) IS 'does the first filter hold all keys, in bits form all bits, of the second?';

CREATE FUNCTION bloom_union(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_union(bloom, bloom) IS 'the filter of the keys of both, which have one shape, seed and key type';

CREATE FUNCTION bloom_intersect(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersect(bloom, bloom) IS 'a filter of at least the keys that are in both, which have one shape, seed and key type';

CREATE FUNCTION bloom_fit(filter bloom, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_fit(bloom, float8) IS 'the filter with no more bits than its keys need for fp_prob, in a shape of its own';

CREATE OPERATOR | (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_union,
	COMMUTATOR = |
);
COMMENT ON OPERATOR | (bloom, bloom) IS 'union of filters';

CREATE OPERATOR & (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_intersect,
	COMMUTATOR = &
);
COMMENT ON OPERATOR & (bloom, bloom) IS 'intersection of filters: a superset of the true one';

-- ----------------------------------------------------------------
--							EQUALITY
-- ----------------------------------------------------------------

CREATE FUNCTION _bloom_eq(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _bloom_ne(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _bloom_hash(bloom) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _bloom_hash_extended(bloom, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE OPERATOR = (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = _bloom_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (bloom, bloom) IS 'the same filter: shape, capacity, fp_prob, key type, representation and content';

CREATE OPERATOR <> (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = _bloom_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (bloom, bloom) IS 'not the same filter';

CREATE OPERATOR CLASS bloom_ops DEFAULT FOR TYPE bloom USING hash AS
	OPERATOR 1 = (bloom, bloom),
	FUNCTION 1 _bloom_hash(bloom),
	FUNCTION 2 _bloom_hash_extended(bloom, bigint);
COMMENT ON OPERATOR CLASS bloom_ops USING hash IS 'equality of filters, for DISTINCT, GROUP BY, UNION and replication';
COMMENT ON OPERATOR FAMILY bloom_ops USING hash IS 'equality of filters, for DISTINCT, GROUP BY, UNION and replication';

-- ----------------------------------------------------------------
--							INSPECTION
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_cardinality(filter bloom) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_cardinality(bloom) IS 'estimated number of distinct keys in the filter; exact while it is in keys form';

CREATE FUNCTION bloom_intersect_cardinality(bloom, bloom) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersect_cardinality(bloom, bloom) IS 'estimated number of distinct keys that are in both filters';

CREATE FUNCTION bloom_fp_prob_now(filter bloom) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_fp_prob_now(bloom) IS 'the false-positive rate that the filter has now, by its bits set';

CREATE FUNCTION bloom_is_overfull(filter bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_is_overfull(bloom) IS 'does the filter hold more keys than it is sized for, by the rule of the WARNING?';

CREATE FUNCTION bloom_summary(filter bloom) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_summary(bloom) IS 'a filter in one line: key type, number of keys, capacity, fp_prob, size';

CREATE FUNCTION bloom_info(filter bloom, OUT key_type text, OUT bits bigint,
						   OUT hashes int, OUT seed bigint, OUT capacity bigint,
						   OUT fp_prob float8, OUT keys bigint, OUT fp_prob_now float8,
						   OUT fill float8, OUT bytes bigint, OUT representation text)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_info(bloom) IS 'one row: key type, shape, seed, capacity, fp_prob, estimated number of keys, rate now, fraction of bits set, size in bytes, representation (keys or bits)';

-- ----------------------------------------------------------------
--							AGGREGATES
--
-- A state of type bloom is changed in place.  SSPACE is what a group of some
-- tens of keys takes: a capacity is not known to the planner, and a filter
-- that holds little is small, however large its capacity.
-- ----------------------------------------------------------------

-- not STRICT, none of these: a group of nulls still has a shape

CREATE FUNCTION _bloom_union_agg_trans(state bloom, filter bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_collect_combine(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_collect_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', '_bloom_agg_collect_combine_internal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_final(bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_fit_final(bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_final(internal) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_fit_final(internal) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- bloom_agg: in three forms, each for any type of key, with an internal state.
-- Two of them are there again for integers and uuid, with a state of type bloom,
-- which distributed engines require.  They are written out, since a loop would
-- call functions by names that another schema could capture.  There is one for
-- each of int2, int4 and int8, since the parser would cast one that has none to
-- another.  There is none for a preferred type, such as text, to which the parser
-- would cast citext.

-- sized by the keys, at a rate of 0.01: bloom_agg(key)

CREATE FUNCTION _bloom_agg_trans_any(state internal, key anyelement) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int2(state bloom, key int2) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int4(state bloom, key int4) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int8(state bloom, key int8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_uuid(state bloom, key uuid) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key anyelement) (
	SFUNC = _bloom_agg_trans_any, STYPE = internal, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	SERIALFUNC = _bloom_agg_serialize, DESERIALFUNC = _bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement) IS 'filter of the keys, of the size that they need for a false-positive rate of 0.01; for filters of one shape, bloom_agg(key, capacity, fp_prob)';

CREATE AGGREGATE bloom_agg(key int2) (
	SFUNC = _bloom_agg_trans_int2, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int2) IS 'bloom_agg(anyelement) for keys of type int2, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key int4) (
	SFUNC = _bloom_agg_trans_int4, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int4) IS 'bloom_agg(anyelement) for keys of type int4, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key int8) (
	SFUNC = _bloom_agg_trans_int8, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int8) IS 'bloom_agg(anyelement) for keys of type int8, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key uuid) (
	SFUNC = _bloom_agg_trans_uuid, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid) IS 'bloom_agg(anyelement) for keys of type uuid, in parts on other servers too';

-- sized by the keys, at a given rate: bloom_agg(key, fp_prob)

CREATE FUNCTION _bloom_agg_trans_any(state internal, key anyelement, fp_prob float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key anyelement, fp_prob float8) (
	SFUNC = _bloom_agg_trans_any, STYPE = internal, SSPACE = 512,
	FINALFUNC = _bloom_agg_fit_final, COMBINEFUNC = _bloom_agg_collect_combine,
	SERIALFUNC = _bloom_agg_serialize, DESERIALFUNC = _bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement, float8) IS 'filter of the keys, of the size that they need for false-positive rate fp_prob; for filters of one shape, bloom_agg(key, capacity, fp_prob)';

-- for a given capacity: bloom_agg(key, capacity, fp_prob)

CREATE FUNCTION _bloom_agg_trans_any(state internal, key anyelement, capacity float8, fp_prob float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int2(state bloom, key int2, capacity float8, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int4(state bloom, key int4, capacity float8, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_int8(state bloom, key int8, capacity float8, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _bloom_agg_trans_uuid(state bloom, key uuid, capacity float8, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key anyelement, capacity float8, fp_prob float8) (
	SFUNC = _bloom_agg_trans_any, STYPE = internal, SSPACE = 512,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_agg_combine,
	SERIALFUNC = _bloom_agg_serialize, DESERIALFUNC = _bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement, float8, float8) IS 'filter of the keys, for capacity distinct keys at false-positive rate fp_prob, as by bloom_empty';

CREATE AGGREGATE bloom_agg(key int2, capacity float8, fp_prob float8) (
	SFUNC = _bloom_agg_trans_int2, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int2, float8, float8) IS 'bloom_agg(anyelement, float8, float8) for keys of type int2, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key int4, capacity float8, fp_prob float8) (
	SFUNC = _bloom_agg_trans_int4, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int4, float8, float8) IS 'bloom_agg(anyelement, float8, float8) for keys of type int4, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key int8, capacity float8, fp_prob float8) (
	SFUNC = _bloom_agg_trans_int8, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(int8, float8, float8) IS 'bloom_agg(anyelement, float8, float8) for keys of type int8, in parts on other servers too';

CREATE AGGREGATE bloom_agg(key uuid, capacity float8, fp_prob float8) (
	SFUNC = _bloom_agg_trans_uuid, STYPE = bloom, SSPACE = 512,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid, float8, float8) IS 'bloom_agg(anyelement, float8, float8) for keys of type uuid, in parts on other servers too';

-- of filters

CREATE AGGREGATE bloom_union_agg(filter bloom) (
	SFUNC = _bloom_union_agg_trans, STYPE = bloom, SSPACE = 65536,
	FINALFUNC = _bloom_agg_final, COMBINEFUNC = _bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union_agg(bloom) IS 'the union of filters of one shape, seed and key type; over no rows, an empty filter';

CREATE FUNCTION _bloom_intersect_agg_trans(state bloom, filter bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_intersect_agg(filter bloom) (
	SFUNC = _bloom_intersect_agg_trans, STYPE = bloom, SSPACE = 65536,
	COMBINEFUNC = _bloom_intersect_agg_trans, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersect_agg(bloom) IS 'a filter of at least the keys that are in all filters, which have one shape, seed and key type; over no rows, null';

-- ----------------------------------------------------------------
--							SHARDS
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_shard(key anycompatible, shards int) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_shard(anycompatible, int) IS 'the shard of a key, 0 to shards - 1, by a frozen hash that is independent of the bits of a filter';

CREATE FUNCTION bloom_shard_capacity(capacity float8, shards int) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_shard_capacity(float8, int) IS 'the capacity to give each shard of a set of capacity keys, so that the fullest has enough';

-- ----------------------------------------------------------------
--							WINDOW FUNCTION
-- ----------------------------------------------------------------

CREATE FUNCTION _bloom_seen_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- not STRICT, which no window function is; a null key was never seen

CREATE FUNCTION bloom_seen(key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT _bloom_seen_support;
COMMENT ON FUNCTION bloom_seen(anycompatible) IS 'was the key in an earlier row of the partition, in the order of the window? exact, but for equal 64-bit hashes';

CREATE FUNCTION bloom_seen(key anycompatible, capacity float8, fp_prob float8) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10
	SUPPORT _bloom_seen_support;
COMMENT ON FUNCTION bloom_seen(anycompatible, float8, float8) IS 'was the key possibly in an earlier row of the partition? for capacity distinct keys at false-positive rate fp_prob, in the memory of a filter';

-- ----------------------------------------------------------------
--							COUNTING FILTERS
-- ----------------------------------------------------------------

CREATE TYPE counting_bloom;

CREATE FUNCTION _counting_bloom_in(cstring, oid, int) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_out(counting_bloom) RETURNS cstring
	AS 'MODULE_PATHNAME', '_bloom_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_recv(internal, oid, int) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_send(counting_bloom) RETURNS bytea
	AS 'MODULE_PATHNAME', '_bloom_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_typmod_in(cstring[]) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE counting_bloom (
	INPUT = _counting_bloom_in,
	OUTPUT = _counting_bloom_out,
	RECEIVE = _counting_bloom_recv,
	SEND = _counting_bloom_send,
	TYPMOD_IN = _counting_bloom_typmod_in,
	TYPMOD_OUT = _bloom_typmod_out,
	ANALYZE = _bloom_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE counting_bloom IS 'Bloom filter with 4-bit counters, from which keys can be removed; counting_bloom(capacity, fp_prob) has one shape, in which filters of one seed and key type can be combined';

CREATE FUNCTION _counting_bloom_to_shape(counting_bloom, int, boolean) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', '_bloom_to_shape' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

CREATE CAST (counting_bloom AS counting_bloom) WITH FUNCTION _counting_bloom_to_shape(counting_bloom, int, boolean) AS IMPLICIT;
COMMENT ON CAST (counting_bloom AS counting_bloom) IS 'the counting filter in the shape of a type modifier; one of another shape is turned by an explicit cast if it still has its keys, else error 22023';

CREATE FUNCTION _counting_bloom_to_bytea(counting_bloom) RETURNS bytea
	AS 'MODULE_PATHNAME', '_bloom_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_from_bytea(bytea) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_to_bloom(counting_bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

CREATE CAST (counting_bloom AS bytea) WITH FUNCTION _counting_bloom_to_bytea(counting_bloom);
COMMENT ON CAST (counting_bloom AS bytea) IS 'the bytes of a counting filter, as docs/format.md describes them';

CREATE CAST (bytea AS counting_bloom) WITH FUNCTION _counting_bloom_from_bytea(bytea);
COMMENT ON CAST (bytea AS counting_bloom) IS 'the counting filter that has these bytes; invalid bytes are error 22P03';

CREATE CAST (counting_bloom AS bloom) WITH FUNCTION _counting_bloom_to_bloom(counting_bloom);
COMMENT ON CAST (counting_bloom AS bloom) IS 'the plain filter of the same keys; without removals, it equals the one that bloom_agg makes of them';

-- adding and removing

-- not STRICT; the key type may be null
CREATE FUNCTION counting_bloom_empty(capacity float8, fp_prob float8 DEFAULT 0.01, seed bigint DEFAULT 0, key_type regtype DEFAULT NULL)
	RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION counting_bloom_empty(float8, float8, bigint, regtype) IS 'empty counting filter for capacity distinct keys at false-positive rate fp_prob';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION counting_bloom_add(filter counting_bloom, key anycompatible) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bloom_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_add(counting_bloom, anycompatible) IS 'the filter with one more key, or the same key once more, up to 15 times; a null key changes nothing';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION counting_bloom_remove(filter counting_bloom, key anycompatible) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_remove(counting_bloom, anycompatible) IS 'the filter with the key once less; a key that was never added must not be removed, as others may then be denied';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION counting_bloom_add_all(filter counting_bloom, keys anycompatiblearray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bloom_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_add_all(counting_bloom, anycompatiblearray) IS 'the filter with all elements of the array that are not null, each as often as it is there';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION counting_bloom_remove_all(filter counting_bloom, keys anycompatiblearray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_remove_all(counting_bloom, anycompatiblearray) IS 'the filter with each element once less; keys that were never added must not be removed, as others may then be denied';

CREATE FUNCTION counting_bloom_sum(counting_bloom, counting_bloom) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_sum(counting_bloom, counting_bloom) IS 'the filter of the keys of both, each as often as in both together, up to 15 times';

CREATE OPERATOR + (
	LEFTARG = counting_bloom, RIGHTARG = counting_bloom, FUNCTION = counting_bloom_sum,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (counting_bloom, counting_bloom) IS 'sum of counting filters';

-- membership

CREATE FUNCTION counting_bloom_contains(filter counting_bloom, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloom_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
	SUPPORT _bloom_contains_support;
COMMENT ON FUNCTION counting_bloom_contains(counting_bloom, anycompatible) IS 'false: the key was certainly never added, or was removed; true: it probably is there';

CREATE FUNCTION _counting_bloom_contained(key anycompatible, filter counting_bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', '_bloom_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
	SUPPORT _bloom_contains_support;

CREATE FUNCTION counting_bloom_count(filter counting_bloom, key anycompatible) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_count(counting_bloom, anycompatible) IS 'how often the key is in the filter, at most: 0 (certainly absent) to 15, which stands for 15 or more';

CREATE OPERATOR @> (
	LEFTARG = counting_bloom, RIGHTARG = anycompatible, FUNCTION = counting_bloom_contains,
	COMMUTATOR = <@, RESTRICT = _bloom_sel, JOIN = _bloom_joinsel
);
COMMENT ON OPERATOR @> (counting_bloom, anycompatible) IS 'possibly contains the key; false is certain';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = counting_bloom, FUNCTION = _counting_bloom_contained,
	COMMUTATOR = @>, RESTRICT = _bloom_sel, JOIN = _bloom_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, counting_bloom) IS 'is possibly contained in the filter; false is certain';

-- aggregates

CREATE FUNCTION _counting_bloom_union_agg_trans(counting_bloom, counting_bloom) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', '_bloom_union_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_agg_final(counting_bloom) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_agg_final(internal) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _counting_bloom_agg_trans_any(state internal, key anyelement, capacity float8, fp_prob float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE counting_bloom_agg(key anyelement, capacity float8, fp_prob float8) (
	SFUNC = _counting_bloom_agg_trans_any, STYPE = internal, SSPACE = 512,
	FINALFUNC = _counting_bloom_agg_final, COMBINEFUNC = _bloom_agg_combine,
	SERIALFUNC = _bloom_agg_serialize, DESERIALFUNC = _bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_bloom_agg(anyelement, float8, float8) IS 'counting filter of the keys, for capacity distinct keys at false-positive rate fp_prob, as by counting_bloom_empty';

CREATE AGGREGATE counting_bloom_sum_agg(filter counting_bloom) (
	SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom, SSPACE = 65536,
	FINALFUNC = _counting_bloom_agg_final, COMBINEFUNC = _counting_bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_bloom_sum_agg(counting_bloom) IS 'the sum of counting filters of one shape, seed and key type; over no rows, an empty filter';

-- equality

CREATE FUNCTION _counting_bloom_eq(counting_bloom, counting_bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', '_bloom_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _counting_bloom_ne(counting_bloom, counting_bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', '_bloom_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _counting_bloom_hash(counting_bloom) RETURNS int
	AS 'MODULE_PATHNAME', '_bloom_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION _counting_bloom_hash_extended(counting_bloom, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', '_bloom_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE OPERATOR = (
	LEFTARG = counting_bloom, RIGHTARG = counting_bloom, FUNCTION = _counting_bloom_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (counting_bloom, counting_bloom) IS 'the same filter: shape, capacity, fp_prob, key type, representation and content';

CREATE OPERATOR <> (
	LEFTARG = counting_bloom, RIGHTARG = counting_bloom, FUNCTION = _counting_bloom_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (counting_bloom, counting_bloom) IS 'not the same filter';

CREATE OPERATOR CLASS counting_bloom_ops DEFAULT FOR TYPE counting_bloom USING hash AS
	OPERATOR 1 = (counting_bloom, counting_bloom),
	FUNCTION 1 _counting_bloom_hash(counting_bloom),
	FUNCTION 2 _counting_bloom_hash_extended(counting_bloom, bigint);
COMMENT ON OPERATOR CLASS counting_bloom_ops USING hash IS 'equality of counting filters, for DISTINCT, GROUP BY, UNION and replication';
COMMENT ON OPERATOR FAMILY counting_bloom_ops USING hash IS 'equality of counting filters, for DISTINCT, GROUP BY, UNION and replication';

-- inspection

CREATE FUNCTION counting_bloom_cardinality(filter counting_bloom) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloom_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_cardinality(counting_bloom) IS 'estimated number of distinct keys in the filter; exact while it is in keys form';

CREATE FUNCTION counting_bloom_info(filter counting_bloom, OUT key_type text, OUT counters bigint,
									OUT hashes int, OUT seed bigint, OUT capacity bigint,
									OUT fp_prob float8, OUT keys bigint, OUT fp_prob_now float8,
									OUT fill float8, OUT counters_full bigint, OUT bytes bigint,
									OUT representation text)
	RETURNS record
	AS 'MODULE_PATHNAME', 'bloom_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_info(counting_bloom) IS 'one row: key type, shape, seed, capacity, fp_prob, estimated number of keys, rate now, fraction of counters in use, number of those at 15, size in bytes, representation (keys or counters)';
