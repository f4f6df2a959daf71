# Transition functions that are called without an expression tree and without
# a collation, as a distributed engine does that passes arguments in a record.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $module = "${PostgreSQL::Test::Utils::tmp_check}/calls.so";
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $include = `$pg_config --includedir-server`);
system_or_bail('gcc', '-shared', '-fPIC', "-I$include", '-o', $module, 'test/tap/calls.c');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomtype;
	CREATE FUNCTION call_bare(bloom, regprocedure, bigint) RETURNS bloom AS '$module' LANGUAGE C;
	CREATE FUNCTION call_bare(bloom, regprocedure, bigint, float8, float8) RETURNS bloom AS '$module', 'call_bare' LANGUAGE C;
	CREATE AGGREGATE bare(regprocedure, bigint) (SFUNC = call_bare, STYPE = bloom, FINALFUNC = _bloom_agg_fit_final);
	CREATE AGGREGATE bare(regprocedure, bigint, float8, float8) (SFUNC = call_bare, STYPE = bloom, FINALFUNC = _bloom_agg_final);
	CREATE TABLE keys AS SELECT i::bigint AS k FROM generate_series(1, 1000) AS i;
});

is($node->safe_psql('postgres', q{SELECT bare('_bloom_agg_trans_int8(bloom, bigint)', k) = bloom_agg(k) FROM keys}),
	't', '(key)');
is($node->safe_psql('postgres', q{SELECT bare('_bloom_agg_trans_int8(bloom, bigint, float8, float8)', k, 1000, 0.1) = bloom_agg(k, 1000, 0.1) FROM keys}),
	't', '(key, capacity, fp_prob)');

# another library's type, whose input function has the name of ours
$node->safe_psql('postgres', qq{
	CREATE TYPE word;
	CREATE FUNCTION word_in(cstring) RETURNS word AS '$module', '_bloom_in' LANGUAGE C IMMUTABLE STRICT;
	CREATE FUNCTION word_out(word) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
	CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, LIKE = text);
	CREATE FUNCTION word_eq(word, word) RETURNS bool AS 'texteq' LANGUAGE internal IMMUTABLE STRICT;
	CREATE OPERATOR = (LEFTARG = word, RIGHTARG = word, FUNCTION = word_eq, HASHES);
	CREATE FUNCTION word_hash(word) RETURNS int AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT;
	CREATE FUNCTION word_hash_extended(word, int8) RETURNS int8 AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT;
	CREATE OPERATOR CLASS word_ops DEFAULT FOR TYPE word USING hash AS
		OPERATOR 1 =, FUNCTION 1 word_hash(word), FUNCTION 2 word_hash_extended(word, int8);
});
is($node->safe_psql('postgres', q{SELECT bloom_agg(k::word) @> '7'::word FROM (VALUES ('5'), ('7')) AS keys (k)}),
	't', 'a type whose input function has the name of ours is a key type');

done_testing();
