#
# Unique keys: dump and restore, of everything, of another owner, of schema and data
# apart; and pg_upgrade has them, too (pg_upgrade.pl).
#
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Utils;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
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
	SELECT bloom_unique_create('kept."My Table"', '"The key"');
	RESET ROLE;
	CREATE TABLE event (id bigint, p int, old_name bigint) PARTITION BY LIST (p);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
	CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2) PARTITION BY LIST (id);
	CREATE TABLE event_3 PARTITION OF event_2 DEFAULT;
	CREATE INDEX ON event (id);
	CREATE INDEX ON event (id, old_name);
	SELECT bloom_unique_create('event', 'id');
	SELECT bloom_unique_create('event', 'old_name, id');
	ALTER TABLE event ENABLE ALWAYS TRIGGER event_id_unique;
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
	SELECT key_type, seed FROM bloom_set_info('memory');
	SELECT key_type, seed FROM bloom_set_info('kept."My Table_The key_unique"');
	SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger') FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname;
	SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('memory', 'My Table_The key_unique') ORDER BY relname};
my $answers = answer($questions);
like($answers, qr/FROM event .* WHEN \(false\)/, 'the set names the table');

# and what its keys say
sub check_keys
{
	my ($database, $what) = @_;

	is($node->safe_psql($database, $questions), $answers, "$what: all is the same");
	is( $node->safe_psql($database, q{
		INSERT INTO event SELECT id, p FROM (VALUES (8, 1), (7, 1), (8, 2), (7, 2)) AS r (id, p) WHERE bloom_unique_claim('event', 'id', id::bigint) RETURNING id, p;
		INSERT INTO event_1 SELECT 9, 1 WHERE bloom_unique_claim('event', 'id', 9::bigint) RETURNING id, p}), '7|1', "$what: repeats are left out");
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
is($node->safe_psql('alone', 'BEGIN; INSERT INTO event VALUES (1, 1), (3, 1); ROLLBACK; INSERT INTO event_1 VALUES (1, 1); INSERT INTO event VALUES (2, 1) RETURNING id, p'), '2|1', 'a schema without data is as new');
my ($status, $out, $err) = $node->psql('alone', q{INSERT INTO kept."My Table" VALUES ('a', 1); SET ROLE keeper; INSERT INTO kept."My Table" VALUES ('a', 2)});
like($err, qr/duplicate key value violates unique constraint/, 'the table of another owner, too');

# rows that come without triggers, as by partitions and several processes
$node->safe_psql('alone', 'TRUNCATE event, kept."My Table"; TRUNCATE memory, "event_old_name_id_unique", kept."My Table_The key_unique"');
$node->command_ok([ 'pg_dump', '-Fc', '-a', '--disable-triggers', '-T', 'memory', '-T', 'event_old_name_id_unique', '-T', 'kept."My Table_The key_unique"', '-f', $archive . '.c', '-d', $node->connstr('postgres') ], 'pg_dump of the data without the sets, for a superuser');
$node->command_ok([ 'pg_restore', '-a', '--disable-triggers', '-e', '-j', '4', '-d', $node->connstr('alone'), $archive . '.c' ], 'pg_restore by four processes');
sub repeats
{
	my ($what) = @_;
	($status, $out, $err) = $node->psql('alone', q{INSERT INTO kept."My Table" VALUES ('key 5', 1)});
	like($err, qr/duplicate key value violates unique constraint/, $what);
	($status, $out, $err) = $node->psql('alone', q{INSERT INTO event_1 VALUES (8, 1)});
	like($err, qr/duplicate key value violates unique constraint/, "$what: directly");
	return;
}
repeats('schema and data that come apart');
is($node->safe_psql('alone', $_->[0]), $_->[1], $_->[0]) foreach
  [ q{CALL bloom_unique_validate('event', 'id')}, '' ],
  [ q{CALL bloom_unique_validate('event', 'new_name, id')}, '' ],
  [ q{CALL bloom_unique_validate('kept."My Table"', '"The key"')}, '' ],
  [ q{SELECT (get_byte(hashes, 0) & 128) <> 0 FROM memory WHERE start = -9223372036854775808 AND lane = 0}, 't' ];
repeats('and are validated');

# the same with the triggers, which find what others have brought
$node->safe_psql('alone', 'TRUNCATE event, kept."My Table"; TRUNCATE memory, "event_old_name_id_unique", kept."My Table_The key_unique"');
$node->command_ok([ 'pg_restore', '-a', '-e', '-j', '4', '-d', $node->connstr('alone'), $archive . '.c' ], 'pg_restore by four processes, with triggers');
repeats('data that comes with triggers');

# a set that lost the trigger by which it names its table
$node->safe_psql('alone', 'DROP TRIGGER event_id_unique_belongs ON memory');
($status, $out, $err) = $node->psql('alone', q{INSERT INTO event VALUES (100000, 1)});
like($err, qr/bloom_unique_rebuild/, 'a set that names no table');
is($node->safe_psql('alone', q{SET client_min_messages = error; SELECT bloom_unique_rebuild('event', 'id'); INSERT INTO event VALUES (100000, 1)}), '4999', 'is made to name it');

# an owner restores what is not his; a superuser has made the extension
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
foreach my $options ([ '--no-owner', '--no-comments', '--role=keeper' ], [ '-1' ])
{
	my $name = 'other_' . scalar @$options;
	my $is_keeper = @$options > 1;
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $archive . '.d', '-d', $node->connstr('postgres') ], 'pg_dump of an archive');
	$node->safe_psql('postgres', "CREATE DATABASE $name" . ($is_keeper ? ' OWNER keeper' : ''));
	$node->safe_psql($name, 'GRANT ALL ON SCHEMA public TO keeper; GRANT ALL ON DATABASE ' . $name . ' TO keeper' . ($is_keeper ? '; CREATE EXTENSION bloomtype_unique CASCADE' : ''));
	$node->command_ok([ 'pg_restore', '-e', @$options, '-d', $node->connstr($name), $archive . '.d' ], "pg_restore @$options");
	($status, $out, $err) = $node->psql($name, q{INSERT INTO event VALUES (8, 1)});
	like($err, qr/duplicate key value violates unique constraint/, "@$options: keys are unique");
}

$node->stop;
done_testing();
