# A column of one shape, where sql/shape.sql cannot test it: dumps of a column without
# a shape, loaded into one with it, and filters of many million keys.

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('shape');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype;
	CREATE TABLE free (n int, f bloom, c counting_bloom);
	INSERT INTO free VALUES (0, bloom_empty(50), counting_bloom_empty(50));
	INSERT INTO free SELECT n, bloom_agg(i, 1000, 0.01), counting_bloom_agg(i, 1000, 0.01)
	FROM (VALUES (1, 10), (2, 900)) AS v (n, keys), generate_series(1, keys) AS i GROUP BY n});

# load(NAME, OPTION...): a dump of the rows of the table alone, restored into a database
# whose table has shapes; the exit status and what was said
sub load
{
	my ($name, @options) = @_;
	my $dump = "$PostgreSQL::Test::Utils::tmp_check/shape_$name.sql";
	my ($out, $err);

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, q{CREATE EXTENSION bloomtype; CREATE TABLE free (n int, f bloom(1000, 0.01), c counting_bloom(1000, 0.01))});
	$node->command_ok([ 'pg_dump', '--data-only', '--table=free', @options, "--file=$dump", 'postgres' ], "$name: dumped");
	my $connection = $node->connstr($name);
	my @load = grep({ /^--format/ } @options) ? ('pg_restore', '--exit-on-error', "--dbname=$connection", $dump) :
	  ('psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-f', $dump);
	my $status = IPC::Run::run(\@load, '>', \$out, '2>', \$err) ? 'loaded' : 'failed';
	my $rows = $node->safe_psql($name, q{SELECT count(*), count(*) FILTER (WHERE (bloom_info(f)).capacity = 1000 AND (counting_bloom_info(c)).capacity = 1000) FROM free});
	$node->safe_psql('postgres', "DROP DATABASE $name");
	return ($status, $rows, $err);
}

my %forms = (copy => [], inserts => ['--inserts'], custom => ['--format=custom']);
for my $form (sort keys %forms)
{
	my ($status, $rows, $err) = load($form, @{ $forms{$form} });
	is("$status $rows", 'loaded 3|3', "$form: filters of the shape, and one without keys") or diag $err;
}
# one key is enough: nothing of the table is loaded by COPY
$node->safe_psql('postgres', 'INSERT INTO free VALUES (3, bloom_add(bloom_empty(50), 1), NULL)');
for my $form (sort keys %forms)
{
	my ($status, $rows, $err) = load($form, @{ $forms{$form} });
	is("$status $rows", $form eq 'inserts' ? 'failed 3|3' : 'failed 0|0', "$form: another shape");
	like($err, qr/does not have the shape of type bloom\(1000, 0\.01\)/, "$form: and the error says so");
}

# The edge of forms at many million keys: a filter for 55 million has its keys up to
# 8.5 million of them.
$node->safe_psql('postgres', q{
	SET work_mem = '1GB';
	CREATE TABLE large (n int, f bloom);
	ALTER TABLE large ALTER f SET STORAGE external;
	INSERT INTO large SELECT 8, bloom_agg(i, 55e6, 0.01) FROM generate_series(1, 8000000) AS i;
	INSERT INTO large SELECT 9, bloom_agg(i, 55e6, 0.01) FROM generate_series(1, 9000000) AS i;
	CREATE TABLE shaped (n int, f bloom(1e7, 0.01))});
is($node->safe_psql('postgres', 'SELECT n, (bloom_info(f)).representation FROM large ORDER BY n'), "8|keys\n9|bits", 'large filters in both forms');
for my $n (8, 9)
{
	my ($out, $err);

	isnt($node->psql('postgres', "INSERT INTO shaped SELECT n, f FROM large WHERE n = $n", stderr => \$err), 0, "$n million keys: not assigned");
	like($err, qr/It has 550000000 bits and 5 hashes, not 100000000 bits and 5 hashes\./, "$n million keys: and the error says why");
	my $status = $node->psql('postgres', "INSERT INTO shaped SELECT n, f::bloom(1e7, 0.01) FROM large WHERE n = $n", stderr => \$err);
	is($status == 0 ? 'turned' : 'refused', $n == 8 ? 'turned' : 'refused', "$n million keys: by a cast");
}
is($node->safe_psql('postgres', q{
		SELECT f = (SELECT bloom_agg(i, 1e7, 0.01) FROM generate_series(1, 8000000) AS i) FROM shaped}),
	't', 'as if the keys had been added to a filter of the shape');

done_testing();
