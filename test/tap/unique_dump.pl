#
# Unique keys: dump and restore, of everything, of another owner, of schema and data
# apart; and pg_upgrade has them, too (pg_upgrade.pl).
#
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Utils;
use lib "$FindBin::RealBin/..";
use Sets;
use Test::More;

my $node = start_server('dump', "fsync = off\nclient_min_messages = error\n");

answer(q{
	CREATE ROLE keeper;
	CREATE SCHEMA kept AUTHORIZATION keeper;
	SET ROLE keeper;
	CREATE TABLE kept."My Table" ("The key" text, p int) PARTITION BY LIST (p);
	CREATE TABLE kept.part1 PARTITION OF kept."My Table" FOR VALUES IN (1);
	CREATE TABLE kept.part2 PARTITION OF kept."My Table" FOR VALUES IN (2);
	CREATE INDEX ON kept."My Table" ("The key");
	SELECT bloom_unique_create('kept."My Table"', '"The key"', keep => '10 years');
	RESET ROLE;
	CREATE TABLE event (id bigint, p int, old_name bigint) PARTITION BY LIST (p);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
	CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2) PARTITION BY LIST (id);
	CREATE TABLE event_3 PARTITION OF event_2 DEFAULT;
	CREATE INDEX ON event (id);
	CREATE INDEX ON event (id, old_name);
	SELECT bloom_unique_create('event', 'id', on_conflict => 'nothing');
	SELECT bloom_unique_create('event', 'old_name, id');
	ALTER TABLE event ENABLE ALWAYS TRIGGER event_id_unique_row;
	-- what is renamed after that keeps its place
	ALTER TABLE event RENAME old_name TO new_name;
	ALTER TABLE event_id_unique RENAME TO memory;
	INSERT INTO event SELECT i, 1 + i % 2, i FROM generate_series(1, 5000) AS i;
	INSERT INTO kept."My Table" SELECT 'key ' || i, 1 + i % 2 FROM generate_series(1, 1000) AS i;
	DELETE FROM event WHERE id = 7});

# what a database with these tables says
my $questions = q{
	SELECT count(*), count(DISTINCT id) FROM event;
	SELECT count(*), count(DISTINCT "The key") FROM kept."My Table";
	SELECT key_type, keep, seed FROM bloom_set_info('memory');
	SELECT key_type, keep, seed FROM bloom_set_info('kept."My Table_The key_unique"');
	SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid), obj_description(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname;
	SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('memory', 'My Table_The key_unique') ORDER BY relname};
my $answers = answer($questions);
like($answers, qr/WHEN \(\(false AND \('memory'::regclass IS NOT NULL\)\)\)/, 'the set is named by the idle trigger');

# and what its keys say
sub check_keys
{
	my ($database, $what) = @_;

	is($node->safe_psql($database, $questions), $answers, "$what: all is the same");
	is( $node->safe_psql($database, q{
		INSERT INTO event VALUES (8, 1), (7, 1), (8, 2), (7, 2) RETURNING id, p;
		INSERT INTO event_1 VALUES (9, 1) RETURNING id, p}), '7|1', "$what: repeats are dropped");
	foreach my $statement (
		q{INSERT INTO kept."My Table" VALUES ('key 5', 1)},
		q{INSERT INTO kept.part2 VALUES ('key 5', 2)},
		q{SET ROLE keeper; INSERT INTO kept."My Table" VALUES ('new', 1), ('new', 2)},
		q{UPDATE event SET id = 9 WHERE id = 7})
	{
		my ($status, $out, $err) = $node->psql($database, $statement);
		like($err, qr/duplicate key value violates unique constraint/, "$what: $statement");
	}
	my ($status, $out, $err) = $node->psql($database, 'DROP TABLE memory');
	like($err, qr/other objects depend on it/, "$what: the set cannot be dropped");
	is($node->safe_psql($database, q{SELECT bloom_unique_rebuild('event', 'id')}), '5000', "$what: and can be built anew");
	return;
}

my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
answer('CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
check_keys('restored', 'restored');

# in parts, by several processes
my $archive = $node->basedir . '/archive';
$node->command_ok([ 'pg_dump', '-Fd', '-j', '2', '-f', $archive, '-d', $node->connstr('postgres') ], 'pg_dump of an archive');
answer('CREATE DATABASE parts');
$node->command_ok([ 'pg_restore', '-j', '2', '-e', '-d', $node->connstr('parts'), $archive ], 'pg_restore');
check_keys('parts', 'parts');

# the schema alone: the tables are empty, and so is what the sets know
$node->command_ok([ 'pg_dump', '-s', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump of the schema');
answer('CREATE DATABASE alone');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('alone') ], 'restore');
is($node->safe_psql('alone', 'BEGIN; INSERT INTO event VALUES (1, 1), (3, 1) RETURNING id, p; ROLLBACK'), "1|1\n3|1", 'a schema without data is as new');
is($node->safe_psql('alone', 'INSERT INTO event VALUES (1, 1), (1, 2), (2, 1) RETURNING id, p'), "1|1\n2|1", 'also after a rollback');
my ($status, $out, $err) = $node->psql('alone', q{INSERT INTO kept."My Table" VALUES ('a', 1); SET ROLE keeper; INSERT INTO kept."My Table" VALUES ('a', 2)});
like($err, qr/duplicate key value violates unique constraint/, 'the table of another owner, too');

# its data, over that: the rows and the sets come in any order
$node->command_ok([ 'pg_dump', '-a', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump of the data');
$node->safe_psql('alone', 'TRUNCATE event, kept."My Table"; TRUNCATE memory, "event_old_name_id_unique", kept."My Table_The key_unique"');
$node->command_ok([ 'pg_dump', '-a', '--disable-triggers', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump of the data, for a superuser');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('alone') ], 'restore');
($status, $out, $err) = $node->psql('alone', q{INSERT INTO kept."My Table" VALUES ('key 5', 1)});
like($err, qr/duplicate key value violates unique constraint/, 'schema and data that come apart');
is($node->safe_psql('alone', 'INSERT INTO event VALUES (8, 1), (7, 1), (8, 2), (7, 2) RETURNING id, p'), '7|1', 'repeats are dropped');

$node->stop;
done_testing();
