# A filter means the same in databases of different encodings.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', "CREATE DATABASE utf TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
$node->safe_psql('utf', q{
	CREATE EXTENSION bloomtype;
	-- names of types are in key types
	CREATE TYPE U&"m\00F6od" AS ENUM (E'\u00e9', 'ok');
	CREATE TYPE pair AS (a text, b jsonb);
	CREATE TABLE keys (t text, n name, c char(9), m U&"m\00F6od", a text[], j jsonb, p pair, o U&"m\00F6od"[]);
	-- in UTF-8 and in LATIN1, these names sort differently: by
	-- their length the one, the other by their first bytes
	INSERT INTO keys VALUES
		(E'\u00e9', E'\u00e9', E'\u00e9 ', E'\u00e9', ARRAY[E'\u00e9', 'z', NULL], E'{"\u00e9": 1, "ab": 2, "z": 3, "\u00e9z": {"\u00e8": 1, "xyz": 2, "yy": 3}}',
		 (E'\u00e9', E'["\u00e9"]'), ARRAY[E'\u00e9', 'ok']::U&"m\00F6od"[]),
		('plain', 'plain', 'plain', 'ok', '{plain}', '{"b": 1, "a": 2}', ('plain', '{}'), '{ok}');
});
# the sequence of two characters in LATIN1 is one character in UTF-8
$node->safe_psql('utf', q{INSERT INTO keys (t) VALUES (E'\u00c3\u00a9')});

my @kinds = qw(t n c m a j p o);
my $build = join(', ', map { "bloom_agg($_, 1000, 0.01) AS $_" } @kinds);
$node->safe_psql('utf', "CREATE TABLE filters AS SELECT $build FROM keys");

# Each filter that came from elsewhere, and the one that is made here.
my $compare = join(' UNION ALL ',
	map { "SELECT '$_', (SELECT bool_and(f.$_ \@> k.$_) FROM filters AS f, keys AS k), (SELECT bloom_agg($_, 1000, 0.01) FROM keys) = (SELECT $_ FROM filters)" } @kinds);
my $all_found = join("\n", map { "$_|t|t" } @kinds);
is($node->safe_psql('utf', $compare), $all_found, 'UTF8');

my $dump = $node->basedir . '/dump.sql';
for my $encoding ('LATIN1', 'WIN1252', 'LATIN9')
{
	my $name = lc $encoding;

	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->command_ok([ 'pg_dump', '-f', $dump, 'utf' ], 'dump');
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $name ], "restore into $encoding");
	is($node->safe_psql($name, $compare), $all_found, $encoding);
	is($node->safe_psql($name, 'SELECT min(octet_length(t)), max(octet_length(t)) FROM keys'), '1|5', 'a character is one byte here');
	# and back
	$node->command_ok([ 'pg_dump', '-f', $dump, $name ], 'dump');
	$node->safe_psql('postgres', "CREATE DATABASE back_$name TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, "back_$name" ], 'restore into UTF8');
	is($node->safe_psql("back_$name", $compare), $all_found, "$encoding and back");
}

# The euro sign stands before the accented letter in LATIN9, and behind it in
# UTF-8: so does a name of two of them.
my $names = q{SELECT encode(bloom_add(bloom_empty(10), jsonb_build_object(%s || '_', 1, chr(233) || '__', 2))::bytea, 'hex')};
is($node->safe_psql('latin9', sprintf($names, 'chr(164)')), $node->safe_psql('utf', sprintf($names, 'chr(8364)')), 'names');

# A character that UTF-8 has not
my ($status, $out, $error) = $node->psql('win1252', "SELECT bloom_add(bloom_empty(10), chr(129))", extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
like($error, qr/22P05/, 'no equivalent');

# A filter from elsewhere can be inspected and refused, although the database has
# no letters for the type of its keys.  What it cannot show, it shows by number.
my $japanese = $node->safe_psql('utf', q{
	CREATE TYPE U&"m\00F6\6C17\5206\+01F600" AS ENUM ('a');
	SELECT bloom_add(bloom_empty(10), 'a'::U&"m\00F6\6C17\5206\+01F600");
	SET client_min_messages = error;
});
my $shown = q{SELECT (bloom_info(f)).key_type = 'enum "m' || %s || '"', starts_with(bloom_summary(f), 'enum "m' || %s || '" keys, 1 of 10 ') FROM CAST('%s' AS bloom) AS f};
for my $encoding ('latin1', 'win1252', 'latin9')
{
	my $letters = q{chr(246) || '\u6c17\u5206\U0001f600'};
	is($node->safe_psql($encoding, sprintf($shown, $letters, $letters, $japanese)), 't|t', "$encoding shows what it can");
	($status, $out, $error) = $node->psql($encoding, "SELECT '$japanese'::bloom @> 1", extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($error, qr/42804: key type bigint does not match .*\\u6c17\\u5206\\U0001f600"/, "$encoding: a mismatch");
}
is($node->safe_psql('utf', sprintf($shown, q{U&'\00F6\6C17\5206\+01F600'}, q{U&'\00F6\6C17\5206\+01F600'}, $japanese)), 't|t', 'UTF8 shows all');

# In SQL_ASCII nobody knows what the bytes are: they are taken as they are.
$node->safe_psql('postgres', "CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'");
$node->safe_psql('ascii', 'CREATE EXTENSION bloomtype');
is($node->safe_psql('ascii', q{SELECT bloom_add(bloom_empty(10), chr(255) || 'a') @> (chr(255) || 'a'),
									  encode(bloom_add(bloom_empty(10), chr(195) || chr(169))::bytea, 'hex')}),
	't|' . $node->safe_psql('utf', q{SELECT encode(bloom_add(bloom_empty(10), chr(233))::bytea, 'hex')}),
	'SQL_ASCII');

done_testing();
