#
# pg_dump and pg_upgrade: filters, sets and unique keys go over to another database and
# to another server as they are, the extensions in one schema or each in its own.
#
# BLOOMTYPE_UPGRADE_TO is the directory of the programs of another, newer
# PostgreSQL with bloomtype; without it, this one takes over from itself.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $here = `pg_config --bindir`;
chomp $here;
my $there = $ENV{BLOOMTYPE_UPGRADE_TO} || $here;

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->start;

# the databases, and how each gets the extensions
my %databases = (
	together => 'CREATE EXTENSION bloomtype_unique CASCADE',
	apart => q{
		CREATE SCHEMA "My type";
		CREATE SCHEMA sets;
		CREATE SCHEMA keys;
		CREATE EXTENSION bloomtype SCHEMA "My type";
		CREATE EXTENSION bloomtype_set SCHEMA sets;
		CREATE EXTENSION bloomtype_unique SCHEMA keys});

# create_database NAME: where the schemas of both are searched
sub create_database
{
	my ($name) = @_;
	$old->safe_psql('postgres', qq{CREATE DATABASE $name; ALTER DATABASE $name SET search_path = public, "My type", sets, keys});
	return;
}

foreach my $database (sort keys %databases)
{
	create_database($database);
	$old->safe_psql($database, $databases{$database});
	$old->safe_psql($database, q{
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
		CREATE TABLE filters (name text PRIMARY KEY, f bloom);
		INSERT INTO filters VALUES ('null', NULL), ('empty', bloom_empty(1000));
		INSERT INTO filters SELECT 'keys', bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 1000) AS i;
		INSERT INTO filters SELECT 'bits', bloom_agg(i) FROM generate_series(1, 100000) AS i;
		INSERT INTO filters SELECT 'enums', bloom_agg(m) FROM unnest(enum_range(NULL::mood)) AS m;
		INSERT INTO filters SELECT 'arrays', bloom_agg(ARRAY[m]) FROM unnest(enum_range(NULL::mood)) AS m;
		INSERT INTO filters SELECT 'numbers', bloom_agg(i / 8.0) FROM generate_series(1, 1000) AS i;
		SELECT bloom_set_create('visited', 'int');
		SELECT bloom_set_add_all('visited', ARRAY(SELECT generate_series(1, 1000)));
		CREATE TABLE event (id bigint, p int) PARTITION BY LIST (p);
		CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
		CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
		CREATE INDEX ON event (id);
		INSERT INTO event SELECT i, 1 + i % 2 FROM generate_series(1, 1000) AS i;
		SELECT bloom_unique_create('event', 'id');
		INSERT INTO event SELECT i, 1 + i % 2 FROM generate_series(1001, 1100) AS i;
		-- which is ALTER TABLE there
		ALTER TABLE event ENABLE ALWAYS TRIGGER event_id_unique;
		CREATE TABLE shaped (f bloom(1000, 1e-4), g counting_bloom(250), list bloom(10, 0.1)[]);
		INSERT INTO shaped VALUES (bloom_add(bloom_empty(50), 1)::bloom(1000, 1e-4), counting_bloom_empty(1), ARRAY[bloom_empty(1)]);
		CREATE VIEW uses AS SELECT name, f @> 5 AS there FROM filters WHERE name IN ('keys', 'bits');
		-- a set that drops rows, and a filter as a default and in an index
		CREATE TABLE inbox (id text, f bloom DEFAULT bloom_empty(10));
		CREATE INDEX ON inbox ((f @> 'a'::text));
		SELECT bloom_set_create('received', 'text', keep => '900 years');
		CREATE TRIGGER dedup BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('received', 'id');
		INSERT INTO inbox VALUES ('a'), ('b'), ('a')});
}
my $questions = q{
	SELECT name, md5(f::bytea), bloom_info(f)::text FROM filters ORDER BY name;
	SELECT attname, format_type(atttypid, atttypmod), atttypmod FROM pg_attribute WHERE attrelid = 'shaped'::regclass AND attnum > 0 ORDER BY attnum;
	SELECT * FROM shaped;
	SELECT * FROM uses ORDER BY name;
	SELECT count(*) FROM filters, generate_series(1, 2000) AS i WHERE name IN ('keys', 'bits') AND f @> i;
	SELECT count(*) FROM filters, unnest(enum_range(NULL::mood)) AS m WHERE name = 'enums' AND f @> m;
	SELECT count(*) FROM filters, unnest(enum_range(NULL::mood)) AS m WHERE name = 'arrays' AND f @> ARRAY[m];
	SELECT count(*) FROM filters, generate_series(1, 1000) AS i WHERE name = 'numbers' AND f @> (i / 8.00);
	SELECT count(*) FROM generate_series(1, 1000) AS i WHERE bloom_set_contains('visited', i);
	SELECT set, key_type, problem FROM bloom_sets() ORDER BY set::text;
	SELECT n.nspname, e.extname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = extnamespace ORDER BY 2;
	SELECT tgname, tgenabled, obj_description(oid, 'pg_trigger') FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname;
	SELECT id, f @> 'a'::text FROM inbox ORDER BY id;
	SELECT bloom_set_add('visited', 1)};
my %answers = map { $_ => $old->safe_psql($_, $questions) } keys %databases;

# check NODE, DATABASE, ORIGINAL: it says what the original did, and goes on
sub check
{
	my ($node, $database, $original) = @_;

	is($node->safe_psql($database, $questions), $answers{$original}, "$database: all is the same");
	is( $node->safe_psql($database, q{
		SELECT bloom_set_add('visited', -1), bloom_set_add('visited', -1);
		INSERT INTO inbox VALUES ('b'), ('c') RETURNING id, f @> 'c'::text}),
		"t|f\nc|f", "$database: sets take keys");
	$node->safe_psql($database, 'INSERT INTO event VALUES (-1, 1)');
	foreach my $repeat ('(5, 1)', '(1050, 2)', '(-1, 2)')
	{
		my ($status, $out, $err) = $node->psql($database, "INSERT INTO event VALUES $repeat");
		like($err, qr/duplicate key value violates unique constraint "event_id_unique"/, "$database: keys are unique: $repeat");
	}
	return;
}

# dumps, as a script and as an archive
foreach my $database (sort keys %databases)
{
	my $dump = $old->basedir . "/$database";
	my $script = "${database}_by_script";
	my $archive = "${database}_by_archive";

	create_database($_) foreach $script, $archive;
	$old->command_ok([ 'pg_dump', '-f', "$dump.sql", $database ], "$database: pg_dump");
	$old->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.sql", $script ], "$database: restored by psql");
	check($old, $script, $database);
	$old->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.dump", $database ], "$database: pg_dump -Fc");
	$old->command_ok([ 'pg_restore', '-e', '-j', '2', '-d', $archive, "$dump.dump" ], "$database: restored by pg_restore");
	check($old, $archive, $database);
}

my $checksums = $old->safe_psql('postgres', 'SHOW data_checksums');
$old->stop;

SKIP:
{
	skip "no pg_upgrade in $there", 1 unless -x "$there/pg_upgrade";
	my $new = $there eq $here ? PostgreSQL::Test::Cluster->new('new')
	  : PostgreSQL::Test::Cluster->new('new', install_path => ($there =~ s{/bin/?$}{}r));
	# from 18 on, initdb turns checksums on, and pg_upgrade wants them as they were
	my @as_before = $checksums eq 'off' && `$there/initdb --help` =~ /--no-data-checksums/ ? ('--no-data-checksums') : ();
	$new->init(extra => \@as_before);
	my $scratch = $new->basedir;
	chdir $scratch or die "$scratch: $!";
	command_ok(
		[
			"$there/pg_upgrade", '-b', $here, '-B', $there,
			'-d', $old->data_dir, '-D', $new->data_dir,
			'-s', $new->host, '-p', $old->port, '-P', $new->port
		],
		'pg_upgrade');
	$new->start;
	check($new, $_, $_) foreach sort keys %databases;
	$new->stop;
}
done_testing();
