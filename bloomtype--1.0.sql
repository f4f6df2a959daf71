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
COMMENT ON TYPE bloom IS 'Bloom filter: a set of keys that never denies a key that was added, and has false positives at a known rate; a column of type bloom(capacity, fp_prob) takes only filters of that shape, which can be combined, and those that still hold their keys';

CREATE FUNCTION _bloom_to_shape(bloom, int, boolean) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

CREATE CAST (bloom AS bloom) WITH FUNCTION _bloom_to_shape(bloom, int, boolean) AS IMPLICIT;
COMMENT ON CAST (bloom AS bloom) IS 'a filter in the shape of a type modifier: the same if it has that shape, made anew if it still holds its keys, else error 22023';

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
COMMENT ON FUNCTION best_params(float8) IS 'the smallest whole number of bits per key (1 to 64) that reaches fp_prob, the smallest number k of hashes that then still does, and the rate of both, up to 0.3 % above fp_prob where the published table rounds; error 22023 unless 4.43e-14 <= fp_prob < 1';

CREATE FUNCTION bloom_params(capacity float8, fp_prob float8 DEFAULT 0.01,
							 OUT bits bigint, OUT hashes int, OUT bytes bigint,
							 OUT fp_prob float8)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_params(float8, float8) IS 'the shape of the filter that bloom_empty(capacity, fp_prob) builds: bits, hashes per key, size in bytes when it is full, and its rate at capacity';

CREATE FUNCTION bloom_fp_prob(bits_per_key float8, hashes int) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_fp_prob(float8, int) IS 'expected false-positive rate at capacity, (1 - e^(-hashes / bits_per_key))^hashes; bits_per_key > 0, hashes 1 to 64';

-- ----------------------------------------------------------------
--							CONSTRUCTION
-- ----------------------------------------------------------------

-- not STRICT; without a key_type, the first key determines it
CREATE FUNCTION bloom_empty(capacity float8, fp_prob float8 DEFAULT 0.01, seed bigint DEFAULT 0, key_type regtype DEFAULT NULL)
	RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_empty(float8, float8, bigint, regtype) IS 'empty filter for capacity distinct keys (any number from 1 to 2^32 divided by the bits per key, rounded up) at false-positive rate fp_prob; filters of the same capacity, fp_prob and seed can be combined; with a key_type it takes no other keys, without one it takes the type of the first key';

-- not STRICT; without a key_type, the first key determines it
CREATE FUNCTION bloom_empty_shaped(bits bigint, hashes int, seed bigint DEFAULT 0, key_type regtype DEFAULT NULL)
	RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_empty_shaped(bigint, int, bigint, regtype) IS 'empty filter of 64 to 2^32 bits, rounded up to a multiple of 64, with 1 to 64 hashes per key; its capacity is that of half the bits set; key_type as for bloom_empty';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION bloom_add(filter bloom, key anycompatible) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_add(bloom, anycompatible) IS 'the filter with one more key; a null key changes nothing; to add many, bloom_add_all and bloom_agg copy the filter only once';

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
COMMENT ON FUNCTION bloom_missing(bloom, anycompatiblearray) IS 'the elements that are certainly not contained, in their order, with repeats, without nulls';

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
COMMENT ON FUNCTION bloom_hash(anycompatible, bigint) IS 'the hash of a key in filters of this seed, as docs/format.md describes it: 64 bits, of which bigint shows the highest as the sign';

CREATE FUNCTION bloom_positions(filter bloom, key anycompatible) RETURNS bigint[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_positions(bloom, anycompatible) IS 'the bits of the filter that the key sets, 0 to bits - 1, one for each hash; they can be equal; none if no key of the filter''s type is equal to the key';

CREATE FUNCTION bloom_contains_hash(filter bloom, hash bigint) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_contains_hash(bloom, bigint) IS 'the same as @> for a key of which only the hash is known, with the filter''s seed; the type of the key cannot be checked';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION bloom_add_hashes(filter bloom, hashes bigint[], key_type regtype DEFAULT NULL) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_add_hashes(bloom, bigint[], regtype) IS 'the filter with keys of this type, of which only the hashes are known, with the filter''s seed; without a key_type, they are of the filter''s type; nulls are ignored';

-- ----------------------------------------------------------------
--							SET OPERATIONS
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_superset(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_superset(bloom, bloom) IS 'does the first filter hold all of the second: each key of a filter in keys form, else each bit? filters of different shapes are error 42804';

CREATE FUNCTION bloom_union(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_union(bloom, bloom) IS 'the filter of the keys of both, exactly as if all had been added to one; it has the larger capacity and its fp_prob; a WARNING if there are more keys than that; filters of different shapes or key types are error 42804';

CREATE FUNCTION bloom_intersect(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersect(bloom, bloom) IS 'a filter of at least the keys that are in both: its rate is above that of a filter of only those keys; to count the common keys, bloom_intersect_cardinality; filters of different shapes or key types are error 42804';

CREATE FUNCTION bloom_fit(filter bloom, fp_prob float8) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_fit(bloom, float8) IS 'the filter with no more bits than its keys need for fp_prob; unchanged if it cannot be made smaller; a fitted filter can no longer be combined with unfitted ones';

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
COMMENT ON OPERATOR CLASS bloom_ops USING hash IS 'equality of filters, for DISTINCT, GROUP BY, UNION and replication; count(DISTINCT filter) would need an order';
COMMENT ON OPERATOR FAMILY bloom_ops USING hash IS 'equality of filters, for DISTINCT, GROUP BY, UNION and replication; count(DISTINCT filter) would need an order';

-- ----------------------------------------------------------------
--							INSPECTION
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_cardinality(filter bloom) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_cardinality(bloom) IS 'estimated number of distinct keys in the filter; exact while it is in keys form; too many for an intersection in bits form, for which there is bloom_intersect_cardinality';

CREATE FUNCTION bloom_intersect_cardinality(bloom, bloom) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersect_cardinality(bloom, bloom) IS 'estimated number of distinct keys in both filters, by inclusion and exclusion';

CREATE FUNCTION bloom_jaccard(bloom, bloom) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_jaccard(bloom, bloom) IS 'estimated Jaccard similarity, 0 to 1: keys in both filters divided by keys in either; 1 for two empty filters';

CREATE FUNCTION bloom_fp_prob_now(filter bloom) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_fp_prob_now(bloom) IS 'the false-positive rate that the filter has now, computed from its bits set; fp_prob of bloom_info is the rate that was requested';

CREATE FUNCTION bloom_is_empty(filter bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_is_empty(bloom) IS 'true: the filter certainly holds no key; false: it probably holds one; an intersection may keep bits of keys that only one filter held';

CREATE FUNCTION bloom_is_full(filter bloom) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_is_full(bloom) IS 'does the filter hold more keys than it is sized for: is its rate above fp_prob, and its estimated number of keys above the capacity by more than chance? As the WARNING';

CREATE FUNCTION bloom_summary(filter bloom) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_summary(bloom) IS 'a filter in one line: key type, number of keys (in bits form estimated, to three digits), capacity, fp_prob (and the rate now, if there are too many keys), size';

CREATE FUNCTION bloom_info(filter bloom, OUT key_type text, OUT bits bigint,
						   OUT hashes int, OUT seed bigint, OUT capacity bigint,
						   OUT fp_prob float8, OUT keys bigint, OUT fp_prob_now float8,
						   OUT fill float8, OUT bytes bigint, OUT representation text)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_info(bloom) IS 'one row: key type, shape (bits, hashes, seed), capacity, fp_prob, estimated number of keys, rate now, fraction of bits set (in keys form, what it would be on average), size in bytes, and representation (keys or bits); of a filter without a shape, its shape, capacity, fp_prob and fill are null';

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
-- call functions by names that another schema could capture.  int2, int4 and int8
-- stand or fall as one, or one would be taken for another.  There is none for a
-- preferred type, such as text, to which citext would be cast.

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
COMMENT ON AGGREGATE bloom_agg(anyelement) IS 'Bloom filter of a size of its own, which cannot be combined with others, nor go into a column of type bloom(capacity, fp_prob): for that, use bloom_agg(key, capacity, fp_prob); it has as many bits as its distinct keys need for a false-positive rate of 0.01; fewer than 67108864 distinct keys';

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
COMMENT ON AGGREGATE bloom_agg(anyelement, float8) IS 'Bloom filter of a size of its own, which cannot be combined with others, nor go into a column of type bloom(capacity, fp_prob): for that, use bloom_agg(key, capacity, fp_prob); it has as many bits as its distinct keys need for false-positive rate fp_prob; fewer than 67108864 distinct keys';

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
COMMENT ON AGGREGATE bloom_agg(anyelement, float8, float8) IS 'Bloom filter for capacity distinct keys at false-positive rate fp_prob, as by bloom_empty; capacity and fp_prob are those of the first row of each group; filters of the same capacity and fp_prob can be combined; a WARNING if there are more keys';

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
COMMENT ON AGGREGATE bloom_union_agg(bloom) IS 'the union of filters of one shape and key type; nulls are ignored; over no rows, an empty filter that can be combined with any other';

CREATE FUNCTION _bloom_intersect_agg_trans(state bloom, filter bloom) RETURNS bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_intersect_agg(filter bloom) (
	SFUNC = _bloom_intersect_agg_trans, STYPE = bloom, SSPACE = 65536,
	COMBINEFUNC = _bloom_intersect_agg_trans, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersect_agg(bloom) IS 'the intersection of filters of one shape and key type, a superset of the true one; nulls are ignored; over no rows, null';

-- ----------------------------------------------------------------
--							SHARDS
-- ----------------------------------------------------------------

CREATE FUNCTION bloom_shard(key anycompatible, shards int) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_shard(anycompatible, int) IS 'the shard of a key, 0 to shards - 1, by a frozen hash that is independent of the bits of a filter; equal whole numbers have the same shard in any type, floats only below 2^53 (real: 2^24); fewer than one shard is error 22023';

CREATE FUNCTION bloom_shard_capacity(capacity float8, shards int) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_shard_capacity(float8, int) IS 'the capacity to give each shard of a set of capacity keys (1 to 9e18): its share, and enough more for the fullest shard, except in one set in a million';

-- ----------------------------------------------------------------
--							WINDOW FUNCTION
-- ----------------------------------------------------------------

CREATE FUNCTION _bloom_seen_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- not STRICT, which no window function is; a null key was never seen

CREATE FUNCTION bloom_seen(key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT _bloom_seen_support;
COMMENT ON FUNCTION bloom_seen(anycompatible) IS 'was the key in an earlier row of the partition, in the order of the window? exact, except for keys with equal 64-bit hashes; takes 11 to 21 bytes for each key, whatever work_mem is (a WARNING at sixteen times work_mem times hash_mem_multiplier), and half as much again while it grows; fewer than 67108864 distinct keys';

CREATE FUNCTION bloom_seen(key anycompatible, capacity float8, fp_prob float8 DEFAULT 0.01) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10
	SUPPORT _bloom_seen_support;
COMMENT ON FUNCTION bloom_seen(anycompatible, float8, float8) IS 'was the key possibly in an earlier row of the partition, in the order of the window? true for every repeated key, and for a first one at most at rate fp_prob while there are no more than capacity distinct keys; takes the memory of a filter; a WARNING if there are more keys';

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
COMMENT ON TYPE counting_bloom IS 'Bloom filter with a 4-bit counter in place of each bit, so that keys can be removed; a column of type counting_bloom(capacity, fp_prob) has filters of one shape; it never denies a key that was added and not removed, as long as nobody removes a key that was not added';

CREATE FUNCTION _counting_bloom_to_shape(counting_bloom, int, boolean) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', '_bloom_to_shape' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

CREATE CAST (counting_bloom AS counting_bloom) WITH FUNCTION _counting_bloom_to_shape(counting_bloom, int, boolean) AS IMPLICIT;
COMMENT ON CAST (counting_bloom AS counting_bloom) IS 'a counting filter in the shape of a type modifier: the same if it has that shape, made anew if it still holds its keys, else error 22023';

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
COMMENT ON FUNCTION counting_bloom_empty(float8, float8, bigint, regtype) IS 'empty counting filter for capacity distinct keys (any number from 1 to 2^30 divided by the bits per key, rounded up) at false-positive rate fp_prob, of the same shape as by bloom_empty; with a key_type it takes no other keys';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION counting_bloom_add(filter counting_bloom, key anycompatible) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bloom_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_add(counting_bloom, anycompatible) IS 'the filter with one more key, or the same key once more; counts end at 15, which stands for any larger number; a null key changes nothing';

-- not STRICT; a null key leaves the filter as it is
CREATE FUNCTION counting_bloom_remove(filter counting_bloom, key anycompatible) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_remove(counting_bloom, anycompatible) IS 'the filter without one occurrence of the key; unchanged if the key is null or certainly absent; removing a key that was never added but tests as present subtracts from the counts of other keys, which the filter may then deny: the function cannot notice this, so remove only keys that were added';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION counting_bloom_add_all(filter counting_bloom, keys anycompatiblearray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bloom_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_add_all(counting_bloom, anycompatiblearray) IS 'the filter with all elements of the array that are not null, each as often as it is there';

-- not STRICT; a null array leaves the filter as it is
CREATE FUNCTION counting_bloom_remove_all(filter counting_bloom, keys anycompatiblearray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_remove_all(counting_bloom, anycompatiblearray) IS 'the filter without the elements of the array, each as often as it is there; those that are null or certainly absent change nothing; remove only keys that were added, as for counting_bloom_remove';

CREATE FUNCTION counting_bloom_sum(counting_bloom, counting_bloom) RETURNS counting_bloom
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION counting_bloom_sum(counting_bloom, counting_bloom) IS 'the filter of the keys of both, each as often as in both together; sums end at 15; a WARNING if there are more keys than the capacity; filters of different shapes or key types are error 42804';

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
COMMENT ON AGGREGATE counting_bloom_agg(anyelement, float8, float8) IS 'counting filter of the keys, each as often as it is there (15 stands for 15 or more), for capacity distinct keys at false-positive rate fp_prob, as by counting_bloom_empty; capacity and fp_prob are those of the first row of each group; a WARNING if there are more keys';

CREATE AGGREGATE counting_bloom_sum_agg(filter counting_bloom) (
	SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom, SSPACE = 65536,
	FINALFUNC = _counting_bloom_agg_final, COMBINEFUNC = _counting_bloom_union_agg_trans,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_bloom_sum_agg(counting_bloom) IS 'sum of counting filters of one shape, as by +; over no filter, an empty one without a shape';

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
COMMENT ON FUNCTION counting_bloom_info(counting_bloom) IS 'one row: key type, shape, capacity, fp_prob, estimated number of distinct keys, rate now, fraction of counters that are not 0, number of those that are 15 (in keys form: of keys counted so), size in bytes, and representation: keys (hashes with counts) or counters';
