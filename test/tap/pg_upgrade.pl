#
# pg_upgrade: filters and sets go over to another server as they are.
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
plan skip_all => "no pg_upgrade in $there" unless -x "$there/pg_upgrade";

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->start;
$old->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype_unique CASCADE;
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
	ALTER TABLE event ENABLE ALWAYS TRIGGER event_id_unique_row;
	CREATE TABLE shaped (f bloom(1000, 1e-4), g counting_bloom(250), list bloom(10, 0.1)[]);
	INSERT INTO shaped VALUES (bloom_add(bloom_empty(50), 1), counting_bloom_empty(1), ARRAY[bloom_empty(1)]);
	CREATE VIEW uses AS SELECT name, f @> 5 AS there FROM filters WHERE name IN ('keys', 'bits')});
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
	SELECT bloom_set_add('visited', 1)};
my $answers = $old->safe_psql('postgres', $questions);
my $checksums = $old->safe_psql('postgres', 'SHOW data_checksums');
$old->stop;

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
is($new->safe_psql('postgres', $questions), $answers, 'filters and sets are the same');
is($new->safe_psql('postgres', q{SELECT bloom_set_add('visited', -1), bloom_set_add('visited', -1)}),
	't|f', 'a set takes keys');
$new->safe_psql('postgres', 'INSERT INTO event VALUES (-1, 1)');
foreach my $repeat ('(5, 1)', '(1050, 2)', '(-1, 2)')
{
	my ($status, $out, $err) = $new->psql('postgres', "INSERT INTO event VALUES $repeat");
	like($err, qr/duplicate key value violates unique constraint "event_id_unique"/, "keys are unique: $repeat");
}
$new->stop;
done_testing();
