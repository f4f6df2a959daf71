#
# Each of clients/ passes its own test, against clients/vectors.json and against
# a server's filters: it makes them byte for byte, finds all keys in them, and
# refuses the bytes that the server refuses.
#
# A client without its tool-chain is skipped; with BLOOMTYPE_ALL_CLIENTS=1, as in
# .ci/run, that is a failure.
#
use strict;
use warnings;

use Cwd;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = getcwd();

# Debian's own, which sees Debian's modules
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';

# It does without the drivers, and then tests less.
my $modules = $ENV{BLOOMTYPE_ALL_CLIENTS} ? 'xxhash, psycopg2, psycopg' : 'xxhash';

# Name, what must succeed if the tool-chain is there, the test.  All of them are
# shell commands, which run in $top.  A test finds in the folder BLOOMTYPE_SERVER
#
#	urls		keys of type text, one a line
#	*.bloom		the bytes of filters of these keys, made with a capacity
#	combined	lines of two filters, their union and their intersection, each in
#				hexadecimal
#	full		lines of a filter, in hexadecimal, and t or f: bloom_is_overfull
#	printed/	a filter of 1, 2 and -3 as psql prints it, in several formats
#	verdicts	lines of "accepted FILE" and "refused FILE": does the server take
#				the bytes in this file for a bloom?
#
# and the server by PGHOST and so on.
my @clients = (
	[ 'Python', "$python -c 'import $modules'", "$python clients/python/test_bloomtype.py" ],
	[ 'JavaScript', 'node -e 1', 'node clients/js/test.js' ],
	# cargo keeps what it compiles in the folder, since the user may have no home
	[ 'Go', 'go version', 'cd clients/go && go vet . && go test -count=1 -v .' ],
	[
		'Rust', 'cargo --version',
		'cd clients/rust && export CARGO_HOME=$BLOOMTYPE_SERVER CARGO_TARGET_DIR=$BLOOMTYPE_SERVER/rust' .
		  ' && cargo test --offline && cargo check --offline --no-default-features'
	],
	[
		'Java', 'javac -version',
		'javac -Xlint:all -Werror -d $BLOOMTYPE_SERVER/java $(find clients/java/src -name "*.java")' .
		  ' && java -cp $BLOOMTYPE_SERVER/java bloomtype.ClientTest clients/vectors.json'
	],
	[ 'explore.html', 'node -e 1 && chromium --version', 'node clients/js/test-page.js' ],
);

my $node = PostgreSQL::Test::Cluster->new('clients');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype_set CASCADE');

my $folder = PostgreSQL::Test::Utils::tempdir;
# that of other tests, too: the user may have no home
$ENV{GOCACHE} = "$PostgreSQL::Test::Utils::tmp_check/gocache";
system("gzip -dc examples/data/homepages.txt.gz | LC_ALL=C sort -u >$folder/urls") == 0 or die;

sub write_bytes
{
	my ($name, $hex) = @_;
	open my $file, '>:raw', "$folder/$name" or die "$name: $!";
	print $file pack 'H*', $hex;
	close $file or die;
}

$node->safe_psql('postgres', qq{CREATE TABLE url (url text); COPY url FROM '$folder/urls'});
is($node->safe_psql('postgres', 'SELECT count(DISTINCT url) FROM url'), 24902, 'real URLs');
my %filters = (
	'bits.bloom' => 'bloom_agg(url, 24902, 0.01)',
	'keys.bloom' => 'bloom_agg(url, 10000000, 0.001)',
	'seed.bloom' => 'bloom_add_all(bloom_empty(20000, 0.0003, -5000000000), array_agg(url))',
);
write_bytes($_, $node->safe_psql('postgres', "SELECT encode(($filters{$_})::bytea, 'hex') FROM url")) for sort keys %filters;
# that of a stored set, with its seed
$node->safe_psql('postgres', q{SELECT bloom_set_create('known', 'text', seed => 8315047209334711045); SELECT bloom_set_load('known', 'SELECT url FROM url')});
write_bytes('set.bloom', $node->safe_psql('postgres', "SELECT encode(bloom_set_filter('known', 24902, 0.001)::bytea, 'hex')"));

# Of one shape: of no key, of some, in keys and in bits form, of a capacity
# nearby, with and without a key type; and the filter without a shape.
my $combined = $node->safe_psql('postgres', q{
	CREATE TABLE part AS
	SELECT capacity / 20 AS shape, bloom_add_all(bloom_empty(capacity, 0.011 - capacity * 1e-6, -3, key_type),
		array(SELECT generate_series(first, last))) AS f
	FROM unnest('{10,11,1000,1001}'::int[]) AS capacity,
		(VALUES (1, 0, NULL), (1, 0, regtype 'int4'), (1, 1, NULL), (1, 30, NULL), (5000, 5030, NULL), (20, 400, NULL), (300, 2000, NULL)) AS r (first, last, key_type)
	UNION ALL
	SELECT shape, (SELECT bloom_agg(i) FROM generate_series(1, 0) AS i) FROM (VALUES (0), (50)) AS s (shape);
	SELECT encode(a.f::bytea, 'hex'), encode(b.f::bytea, 'hex'), encode((a.f | b.f)::bytea, 'hex'), encode((a.f & b.f)::bytea, 'hex')
	FROM part AS a JOIN part AS b USING (shape)});
$combined =~ tr/|/ /;
cmp_ok(scalar(split /\n/, $combined), '>', 400, 'pairs of filters');
open my $pairs, '>', "$folder/combined" or die;
print $pairs "$combined\n";
close $pairs or die;

# Filters around their capacity, and far beyond it.
my $full = $node->safe_psql('postgres', q{
	SELECT encode(f::bytea, 'hex'), bloom_is_overfull(f)
	FROM unnest('{1,2,10,100,1000}'::int[]) AS capacity, unnest('{0,1,2,5,9,10,11,90,100,110,900,950,980,1000,1020,1050,1100,5000}'::int[]) AS n,
		 LATERAL (SELECT bloom_add_all(bloom_empty(capacity), array(SELECT generate_series(1, n))) AS f OFFSET 0) AS s
	UNION ALL
	SELECT encode(f::bytea, 'hex'), bloom_is_overfull(f) FROM (SELECT bloom_agg(i) AS f FROM generate_series(1, 0) AS i) AS s});
$full =~ tr/|/ /;
foreach my $answer ('t', 'f')
{
	cmp_ok(scalar(grep { / $answer$/ } split /\n/, $full), '>', 20, "bloom_is_overfull: $answer");
}
open my $filters, '>', "$folder/full" or die;
print $filters "$full\n";
close $filters or die;

# What the server says of the bytes that its fuzzer has found.
$node->safe_psql('postgres', q{
	CREATE FUNCTION verdict(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM bytes::bloom;
		RETURN 'accepted';
	EXCEPTION WHEN invalid_binary_representation THEN
		RETURN 'refused';
	END
	$$});
my $verdicts = $node->safe_psql('postgres', qq{
	SELECT verdict(pg_read_binary_file(file)) || ' ' || file
	FROM pg_ls_dir('$top/test/fuzz/corpus/decode') AS name, LATERAL (SELECT '$top/test/fuzz/corpus/decode/' || name) AS f (file)
	ORDER BY file});
cmp_ok(scalar(grep { /^accepted/ } split /\n/, $verdicts), '>', 20, 'bytes that the server accepts');
cmp_ok(scalar(grep { /^refused/ } split /\n/, $verdicts), '>', 20, 'bytes that it refuses');
open my $file, '>', "$folder/verdicts" or die;
print $file "$verdicts\n";
close $file or die;

# A filter as psql prints it, for the page.
mkdir "$folder/printed" or die;
foreach my $type ('bloom', 'bytea')
{
	my $query = "SELECT 1 AS id, bloom_agg(i, 10, 0.01)::$type AS f FROM (VALUES (1), (2), (-3)) AS k (i)";
	my %settings = (aligned => '', border => '\pset border 2', unicode => '\pset linestyle unicode', expanded => '\x',
		unaligned => '\a', tuples => "\\a\n\\t", csv => '\pset format csv', html => '\pset format html', wrapped => "\\pset format wrapped\n\\pset columns 250");
	print_rows("$type $_", "$settings{$_}\n$query;") foreach sort keys %settings;
	print_rows("$type rows", "$query UNION ALL $query;");
	print_rows("$type copy", "COPY ($query) TO STDOUT;");
}

sub print_rows
{
	my ($name, $script) = @_;
	IPC::Run::run([ 'psql', '-Xq', '-d', $node->connstr('postgres') ], '<', \$script, '>', "$folder/printed/$name") or die $name;
}

local %ENV = (%ENV, BLOOMTYPE_SERVER => $folder, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres',
	PYTHONDONTWRITEBYTECODE => 1, PYTHONIOENCODING => 'utf-8');
foreach my $client (@clients)
{
	my ($name, $probe, $test) = @$client;
  SKIP:
	{
		my $is_here = system("($probe) >/dev/null 2>&1") == 0;
		skip "$name: no tool-chain here", 1 if !$is_here && !$ENV{BLOOMTYPE_ALL_CLIENTS};
		my $out = $is_here ? `($test) 2>&1` : "no tool-chain here: $probe\n";
		ok($is_here && $? == 0, $name);
		diag($out) if !$is_here || $? != 0;
		note($out);
		Test::More->builder->skip("$name: $_") foreach $out =~ /^ok \d+ # SKIP (.*)/mg;
	}
}

# An option that there is not is an error of the compiler; the tests of the others
# have it.
foreach my $case (
	[ 'Go', 'go version', 'unknown.go', qr/unknown field '?FpProb'?/, <<'PROGRAM', 'go run unknown.go' ],
package main

import bloomtype "MODULE"

func main() { bloomtype.NewBuilder(bloomtype.Options{Capacity: 1000, FpProb: 0.001}) }
PROGRAM
	[ 'Java', 'javac -version', 'Unknown.java', qr/cannot find symbol.*fpProb/s, <<'PROGRAM', "javac -cp $folder/java Unknown.java" ])
class Unknown {
    bloomtype.BloomFilter filter = bloomtype.BloomFilter.builder(1000).fpProb(0.001).build();
}
PROGRAM
{
	my ($name, $probe, $file, $error, $program, $command) = @$case;
	my ($module) = slurp_file('clients/go/go.mod') =~ /^module (\S+)/m;

  SKIP:
	{
		skip "$name: no tool-chain here", 1 if system("($probe) >/dev/null 2>&1") != 0;
		mkdir "$folder/unknown";
		append_to_file("$folder/unknown/$file", $program =~ s/MODULE/$module/r);
		append_to_file("$folder/unknown/go.mod", "module unknown\n\nrequire $module v0.0.0\nreplace $module => $top/clients/go\n") if $name eq 'Go';
		my $out = `cd $folder/unknown && GOTOOLCHAIN=local $command 2>&1`;
		ok($? != 0 && $out =~ $error, "$name: an unknown option") or diag($out);
	}
}

done_testing();
