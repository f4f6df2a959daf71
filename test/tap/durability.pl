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
	CREATE DOMAIN day_filter AS bloom(250000, 1e-4);
	CREATE TYPE pair AS (f bloom(10, 0.1), g counting_bloom(1e6));
	CREATE TABLE shaped (f bloom(1000, 0.01) DEFAULT bloom_empty(7)::bloom(1000, 0.01), day day_filter, pair pair, list bloom(10, 0.1)[],
						 g bloom(7, 4.43e-14) GENERATED ALWAYS AS (bloom_empty(70)) STORED);
	INSERT INTO shaped VALUES (DEFAULT, bloom_empty(1), ROW(bloom_empty(1), counting_bloom_empty(1)), ARRAY[bloom_empty(1)]);
	CREATE VIEW as_shaped AS SELECT f::bloom(2000, 0.02) AS f FROM filters WHERE name = 'empty';
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

# What the types of columns are, and the filters in them.
my $shape_query = q{
	SELECT string_agg(attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attrelid::regclass::text COLLATE "C", attnum)
	FROM pg_attribute WHERE attrelid IN ('shaped'::regclass, 'as_shaped'::regclass, 'pair'::regclass) AND attnum > 0;
	SELECT format_type(typbasetype, typtypmod) FROM pg_type WHERE typname = 'day_filter';
	SELECT md5(shaped::text), md5(as_shaped::text) FROM shaped, as_shaped};

sub state_of
{
	my ($database) = @_;
	return $node->safe_psql($database, "$count_query; $probe_query; $shape_query");
}

my $before = state_of('postgres');
like($before, qr/^10\|9\|/, 'there are ten rows, one of them null');
like($before, qr/\n\d+\|1000\|ok happy$/m, 'all keys are found');
like($before, qr/^as_shaped\.f bloom\(2000,0\.02\), pair\.f bloom\(10,0\.1\), pair\.g counting_bloom\(1000000,0\.01\), shaped\.f bloom\(1000,0\.01\), shaped\.day day_filter, shaped\.pair pair, shaped\.list bloom\(10,0\.1\)\[\], shaped\.g bloom\(7,4\.43e-14\)\nbloom\(250000,0\.0001\)$/m,
	'columns have shapes');

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
