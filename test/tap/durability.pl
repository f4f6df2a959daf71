# Filters survive a restart, a crash, dump and restore, and COPY.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype;
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE TABLE filters (name text PRIMARY KEY, f bloom);
	INSERT INTO filters VALUES ('null', NULL), ('empty', bloom_empty(1000)), ('seed', bloom_add(bloom_empty(9, 0.5, -1), 5));
	INSERT INTO filters SELECT 'shapeless', bloom_agg(i) FROM generate_series(1, 0) AS i;
	INSERT INTO filters SELECT 'keys', bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 100) AS i;
	INSERT INTO filters SELECT 'many keys', bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 50000) AS i;
	INSERT INTO filters SELECT 'bits', bloom_agg(i) FROM generate_series(1, 1000) AS i;
	INSERT INTO filters SELECT 'many bits', bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 300000) AS i;
	INSERT INTO filters SELECT 'text', bloom_agg(i::text) FROM generate_series(1, 1000) AS i;
	INSERT INTO filters SELECT 'enum', bloom_agg(m, 10, 0.01) FROM unnest('{ok,happy}'::mood[]) AS m;
});

# What the table of a database holds, and what its filters answer.
my $count_query = q{
	SELECT count(*), count(f), md5(string_agg(name || coalesce(md5(f::bytea), '-'), ',' ORDER BY name COLLATE "C")),
		   md5(string_agg(bloom_info(f)::text, ',' ORDER BY name COLLATE "C"))
	FROM filters};
my $probe_query = q{
	SELECT (SELECT count(*) FROM filters, generate_series(1, 2000) AS i
			WHERE name IN ('null', 'empty', 'seed', 'shapeless', 'keys', 'many keys', 'bits', 'many bits') AND f @> i),
		   (SELECT count(*) FROM filters, generate_series(1, 1000) AS i WHERE name = 'text' AND f @> i::text),
		   (SELECT string_agg(m::text, ' ') FROM filters, unnest(enum_range(NULL::mood)) AS m WHERE name = 'enum' AND f @> m)};

sub state_of
{
	my ($database) = @_;
	return $node->safe_psql($database, "$count_query; $probe_query");
}

my $before = state_of('postgres');
like($before, qr/^10\|9\|/, 'there are ten rows, one of them null');
like($before, qr/\n\d+\|1000\|ok happy$/, 'all keys are found');

$node->restart;
is(state_of('postgres'), $before, 'filters survive a restart');

# Without a checkpoint in between, recovery has all to do.
$node->safe_psql('postgres', q{
	CHECKPOINT;
	CREATE TABLE copy AS SELECT * FROM filters;
	UPDATE filters SET f = bloom_add(f, -77) WHERE name LIKE '%bits';
	UPDATE filters AS f SET f = c.f FROM copy AS c WHERE c.name = f.name;
	DROP TABLE copy});
$node->stop('immediate');
$node->start;
is(state_of('postgres'), $before, 'filters survive a crash');

# pg_dump, with text; in COPY and in INSERT commands
my $dump = $node->basedir . '/dump.sql';
for my $option ('--no-comments', '--inserts', '--format=custom')
{
	my $name = 'restored_' . ($option =~ s/\W+/_/gr);
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->command_ok(['pg_dump', $option, '-f', $dump, 'postgres'], "pg_dump $option");
	if ($option eq '--format=custom')
	{
		$node->command_ok(['pg_restore', '-d', $name, $dump], "pg_restore");
	}
	else
	{
		$node->command_ok(['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $name], "restore of $option");
	}
	is(state_of($name), $before, "filters survive pg_dump $option");
}

# COPY, in both formats
for my $format ('text', 'binary', 'csv')
{
	my $file = $node->basedir . "/filters.$format";
	$node->safe_psql('postgres', qq{
		COPY filters TO '$file' (FORMAT $format);
		TRUNCATE filters;
		COPY filters FROM '$file' (FORMAT $format)});
	is(state_of('postgres'), $before, "filters survive COPY in format $format");
}

# Hostile bytes in a binary COPY are an error like any.
my $file = $node->basedir . '/filters.binary';
my $bytes = slurp_file_raw($file);
my $at = index($bytes, "\x01\x02\x05\x00");
cmp_ok($at, '>', 0, 'found a filter in the file');
substr($bytes, $at + 36, 1) = chr(ord(substr($bytes, $at + 36, 1)) ^ 1);
append_raw("$file.damaged", $bytes);
my ($result, $stdout, $stderr) = $node->psql('postgres',
	qq{\\set VERBOSITY verbose\nTRUNCATE filters; COPY filters FROM '$file.damaged' (FORMAT binary)});
like($stderr, qr/22P03: .*invalid binary representation of a Bloom filter.*number of bits set does not match/s,
	'damaged bytes in a binary COPY are refused');

$node->stop;
done_testing();

sub slurp_file_raw
{
	my ($path) = @_;
	open my $in, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar <$in>;
}

sub append_raw
{
	my ($path, $content) = @_;
	open my $out, '>:raw', $path or die "$path: $!";
	print $out $content;
	close $out;
	chmod 0644, $path;
	return;
}
