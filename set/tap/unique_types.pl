#
# Unique keys of every type: keys that are equal in another form are one key, keys that
# are not are two; and types that cannot be unique are refused.
#
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Utils;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;
use Unique;

my $node = start_unique_server('types', "fsync = off\nextra_float_digits = 1\n");

answer(q{
	CREATE DOMAIN amount AS numeric;
	CREATE DOMAIN code AS varchar(10)});
foreach my $extension ('citext', 'hstore')
{
	answer("CREATE EXTENSION $extension") if answer("SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'") > 0;
}
sub has_type { return answer("SELECT to_regtype('$_[0]') IS NOT NULL") eq 't' }

# a table whose key column has this type; and errors of what follows
sub keys_of_type
{
	my ($type, $sql) = @_;
	my ($out, $err);

	answer('DROP SCHEMA IF EXISTS ' . schema() . ' CASCADE; CREATE SCHEMA ' . schema());
	($out, $err) = session(qq{
		CREATE TABLE t (id $type, p int) PARTITION BY LIST (p);
		CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
		CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
		CREATE INDEX ON t (id);
		SELECT bloom_unique_create('t', 'id');
		$sql});
	$out =~ s/^t_id_unique\n//;
	return (errors_of($err), $out, $err);
}

# a type, a key, the same in other forms, and one that is not the same
my @types = (
	[ 'smallint', '1', '2' ],
	[ 'int', '1', '1.4', '2' ],
	[ 'bigint', '1', '-1' ],
	[ 'numeric', '1.0', '1.00', "'1'", '1e0', '1.1' ],
	[ 'numeric', "'NaN'", "'nan'", '0' ],
	[ 'numeric(10,2)', '1.001', '1', '1.01' ],
	[ 'amount', '-0', '0', '0.000', '1' ],
	[ 'float4', "'-0'", '0', '1' ],
	[ 'float8', "'-0'", '0.0', "'NaN'" ],
	[ 'float8', "'NaN'", "'nan'", "'Infinity'" ],
	[ 'boolean', 'true', "'on'", 'false' ],
	[ 'text', "'a'", "U&'\\0061'", "'a '" ],
	[ 'text', "''", "'a'" ],
	[ 'varchar', "'a'", "'a'::text", "'A'" ],
	[ 'code', "'a'", "'a'::varchar", "'b'" ],
	[ 'char(5)', "'a'", "'a  '", "'b'" ],
	[ 'name', "'a'", "'a'::text::name", "'b'" ],
	[ '"char"', "'a'", "'a'::text", "'b'" ],
	[ 'bytea', "'\\x61'", "'a'", "'b'" ],
	[ 'uuid', "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'" ],
	[ 'date', "'2026-01-01'", "'1 January 2026'", "'infinity'" ],
	[ 'timestamp', "'2026-01-01 12:00'", "'2026-01-01 12:00:00.0'", "'-infinity'" ],
	[ 'timestamptz', "'2026-01-01 12:00+00'", "'2026-01-01 14:00+02'", "'2026-01-01 12:00+02'" ],
	[ 'time', "'24:00'", "'23:59:60'", "'00:00'" ],
	[ 'timetz', "'12:00+00'", "'12:00:00+00'", "'14:00+02'" ],
	[ 'interval', "'1 month'", "'30 days'", "'720:00'", "'31 days'" ],
	[ 'interval', "'-1 day 24:00'", "'0'", "'1 day -23:00'" ],
	[ 'inet', "'10.0.0.1'", "'10.0.0.1/32'", "'10.0.0.1/24'" ],
	[ 'cidr', "'10.0.0.0/8'", "'10/8'", "'10.0.0.0/9'" ],
	[ 'macaddr', "'08:00:2b:01:02:03'", "'08002b010203'", "'08:00:2b:01:02:04'" ],
	[ 'pg_lsn', "'0/10'", "'00/010'", "'1/10'" ],
	[ 'oid', '1', "'1'", '2' ],
	[ 'bit(3)', "B'101'", "'101'", "B'100'" ],
	[ 'varbit', "B'101'", "'101'", "B'1010'" ],
	[ 'money', "'1'", "'1.00'", "'2'" ],
	[ 'jsonb', q{'{"a": 1, "b": [1.0]}'}, q{'{"b": [1.00], "a": 1.0}'}, q{'{"a": 1, "b": [2]}'} ],
	[ 'jsonb', q{'1'}, q{'1.0'}, q{'"1"'} ],
	[ 'int[]', "'{1,2}'", "'{ 1, 2 }'", "'{2,1}'" ],
	[ 'numeric[]', "'{1.0,NULL}'", "'{1.00,NULL}'", "'{1.0}'" ],
	[ 'text[]', "'{}'", "ARRAY[]::text[]", "'{NULL}'" ],
	[ 'int4range', "'[1,3]'", "'[1,4)'", "'(0,4)'", "'[1,5)'" ],
	[ 'int4range', "'empty'", "'[1,1)'", "'(,)'" ],
	[ 'numrange', "'[1.0,2.0)'", "'[1,2.00)'", "'[1,2]'" ],
	[ 'tsvector', "'a b'", "'b a a'", "'a c'" ],
	[ 'citext', "'a'", "'A'", "'b'" ],
	[ 'hstore', "'a=>1, b=>2'", "'b=>2, a=>1'", "'a=>1'" ],
	[ 'int4multirange', "'{[1,3]}'", "'{[1,2), [2,4)}'", "'{}'" ],
	[ 'xid8', "'1'", "'01'", "'2'" ]);
foreach my $case (@types)
{
	my ($type, @forms) = @$case;
	my $different = pop @forms;

  SKIP:
	{
		skip "this PostgreSQL has no $type", 1 if !has_type($type);
		my ($errors, $out, $err) = keys_of_type($type, join "\n",
			"INSERT INTO t VALUES ($forms[0], 1);", "INSERT INTO t VALUES ($different, 2);",
			(map { ("INSERT INTO t VALUES ($_, 2);", "INSERT INTO t1 VALUES ($_, 1);") } @forms),
			"UPDATE t SET id = $forms[0] WHERE p = 2;", "SELECT count(*), count(DISTINCT id) FROM t;");
		if ($errors =~ /^(?:42883|0A000|42704)\b/)
		{
			my ($why) = $err =~ /(.*ERROR.*)/;
			ok($type =~ /^(?:tsvector|money|bit|varbit|"char"|tsquery)/, "$type cannot be unique") or diag $why;
		}
		else
		{
			is("$errors | $out", join(' ', ('23505') x (2 * @forms + 1)) . " | 2|2\n", "$type: @forms are one key, $different is another");
		}
	}
}

#
# What cannot be unique
#

answer(q{CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b mood); CREATE TYPE numbers AS (a int, b int); CREATE TYPE moods AS RANGE (SUBTYPE = mood); CREATE DOMAIN feeling AS mood});
foreach my $type ('mood', 'feeling', 'mood[]', 'pair', 'pair[]', 'moods', 'numbers')
{
	my ($errors) = keys_of_type($type, '');
	is($errors, '0A000', "$type is refused: its values can change under the set");
}
foreach my $type ('json', 'point', 'xml')
{
	my ($errors) = keys_of_type($type, '');
	like($errors, qr/^42704 (?:42883|42704|55000)$/, "$type has no equality");
}
SKIP:
{
	skip 'this PostgreSQL has no ICU', 1 if answer(q{SELECT count(*) FROM pg_collation WHERE collprovider = 'i'}) == 0;

	answer(q{CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)});
	my ($errors, $out) = keys_of_type('text COLLATE folded', q{
		INSERT INTO t VALUES ('a', 1);
		INSERT INTO t VALUES ('A', 2);
		INSERT INTO t1 VALUES ('A', 1);
		INSERT INTO t VALUES ('b', 1), ('B', 2);
		INSERT INTO t VALUES ('b', 1);
		SELECT count(*), count(DISTINCT id) FROM t;});
	is("$errors | $out", "23505 23505 23505 | 2|2\n", 'a collation that ignores case');
}

#
# A type all of whose values have one hash, and are long
#

{
	my $functions = join ' ', map { "CREATE FUNCTION weak_$_->[0](weak, weak) RETURNS boolean AS '$_->[1]' LANGUAGE internal IMMUTABLE STRICT;" }
	  [ 'lt', 'bytealt' ], [ 'le', 'byteale' ], [ 'eq', 'byteaeq' ], [ 'ge', 'byteage' ], [ 'gt', 'byteagt' ];
	my $operators = join ' ', map { "CREATE OPERATOR $_->[0] (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_$_->[1]);" }
	  [ '<', 'lt' ], [ '<=', 'le' ], [ '>=', 'ge' ], [ '>', 'gt' ];
	answer(qq{
		CREATE TYPE weak;
		CREATE FUNCTION weak_in(cstring) RETURNS weak AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
		CREATE FUNCTION weak_out(weak) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
		CREATE TYPE weak (INPUT = weak_in, OUTPUT = weak_out, LIKE = text);
		$functions $operators
		CREATE OPERATOR = (LEFTARG = weak, RIGHTARG = weak, FUNCTION = weak_eq, HASHES, MERGES);
		CREATE FUNCTION weak_cmp(weak, weak) RETURNS int AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT;
		CREATE OPERATOR CLASS weak_ops DEFAULT FOR TYPE weak USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 weak_cmp(weak, weak);
		CREATE FUNCTION weak_hash(weak) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7';
		CREATE FUNCTION weak_hashx(weak, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 7::bigint';
		CREATE OPERATOR CLASS weak_hash_ops DEFAULT FOR TYPE weak USING hash AS OPERATOR 1 =, FUNCTION 1 weak_hash(weak), FUNCTION 2 weak_hashx(weak, bigint)});
	my ($errors, $out) = keys_of_type('weak', q{
		SELECT bloom_unique_drop('t', 'id');
		-- some 34 MB
		INSERT INTO t SELECT weak_in(textout((SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 60) AS j))), 1 FROM generate_series(1, 18000) AS i;
		INSERT INTO t VALUES ('last', 1), ('last', 2);
		SELECT bloom_unique_create('t', 'id');
		DELETE FROM t WHERE p = 2;
		SELECT bloom_unique_create('t', 'id');
		INSERT INTO t VALUES ('new', 2);
		INSERT INTO t VALUES ('last', 2), ('other', 1);
		SELECT count(*), count(DISTINCT id) FROM t;});
	is("$errors | " . ($out =~ s/^\n//mr), "23505 23505 | t_id_unique\n18002|18002\n", 'keys of one hash, more than memory has at once');
}

$node->stop;
done_testing();
