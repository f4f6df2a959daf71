#
# Stored sets: dump and restore, to another owner, and of one set alone.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_server('dump', "fsync = off\n");

answer('SELECT ' . create_set('batches', 'int', 'seed => 1'));
answer(q{
	SELECT FROM bloom_set_add_all('batches', ARRAY(SELECT generate_series(1, 60000)));
	SELECT FROM bloom_set_add_all('batches', ARRAY(SELECT generate_series(60001, 125000)));
	CREATE ROLE keeper;
	CREATE SCHEMA kept AUTHORIZATION keeper});
answer('SET ROLE keeper; SELECT '
	  . create_set('kept."My Set"', 'text', "keep => '1 month 2 days 03:00'", 'seed => 1'));
answer(q{
	SET ROLE keeper;
	SELECT count(bloom_set_add('kept."My Set"', 'key ' || k, '2020-01-01'::timestamptz + k * interval '1 hour'))
	FROM generate_series(1, 100) AS k});
is(answer(q{SELECT count(*) FILTER (WHERE lane = 0) > 0, count(*) FILTER (WHERE lane > 0) > 0 FROM batches}),
	't|t', 'there are lists and lanes');
my $questions = q{
	SELECT key_type, keys, fp_prob_now, rows, keep, oldest, seed FROM bloom_set_info('batches');
	SELECT key_type, keys, fp_prob_now, rows, keep, oldest, seed FROM bloom_set_info('kept."My Set"', '2020-01-05');
	SELECT count(*) FROM generate_series(100000, 200000) AS k WHERE bloom_set_contains('batches', k);
	SELECT count(*) FROM generate_series(1, 1000) AS k WHERE bloom_set_contains('kept."My Set"', 'key ' || k, '2020-01-05');
	SELECT md5(string_agg(concat_ws(' ', start, lane, slice, hashes), ',' ORDER BY start, lane)) FROM batches};
my $answers = answer($questions);
my $dump = $node->basedir . '/dump.sql';

$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
answer('CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', $questions), $answers, 'restored sets are the same');
is( $node->safe_psql('restored', q{
	SET ROLE keeper;
	SELECT bloom_set_add('kept."My Set"', 'key 5', '2020-01-05'), bloom_set_add('kept."My Set"', 'new', '2020-01-05')}),
	'f|t', 'and can be added to');

# one set alone
$node->command_ok([ 'pg_dump', '-f', $dump, '-t', 'batches', '-d', $node->connstr('postgres') ], 'pg_dump of a set');
answer('CREATE DATABASE alone');
$node->safe_psql('alone', 'CREATE EXTENSION bloomtype_set CASCADE');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('alone') ], 'restore');
is($node->safe_psql('alone', q{SELECT bloom_set_add('batches', 1), bloom_set_add('batches', -1)}),
	'f|t', 'a restored set is a set');

# a key type with a name in another encoding, from which and to which it is converted
answer("CREATE DATABASE latin ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0; CREATE DATABASE utf ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0; CREATE DATABASE latin_again ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0");
$node->safe_psql('latin', q{
	CREATE EXTENSION bloomtype_set CASCADE;
	CREATE TYPE U&"Gr\00f6\00dfe 100%" AS ENUM (U&'\00fc');
	SELECT bloom_set_create('sizes', U&'"Gr\00f6\00dfe 100%"', seed => 1);
	SELECT bloom_set_add('sizes', U&'\00fc'::U&"Gr\00f6\00dfe 100%")});
foreach my $to ([ 'latin', 'utf' ], [ 'utf', 'latin_again' ])
{
	my ($from, $into) = @$to;

	$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr($from) ], "pg_dump of $from");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr($into) ], "restore into $into");
	is($node->safe_psql($into, q{
		SET client_encoding = 'UTF8';
		SELECT bloom_set_contains('sizes', U&'\00fc'::U&"Gr\00f6\00dfe 100%");
		SELECT set, key_type, problem FROM bloom_sets()}), qq{t\nsizes|enum "Gr\xc3\xb6\xc3\x9fe 100%"|}, "the set has its keys and key type in $into");
}

$node->stop;
done_testing();
