#
# Stored sets on standbys and on a logical subscriber.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

my $node = start_server('publisher', '', allows_streaming => 'logical');
my $create = create_set('keys', 'int', 'seed => 1');

answer("SELECT $create, " . create_set('cache', 'int', 'unlogged => true'));
answer(q{
	SELECT FROM bloom_set_add_all('keys', ARRAY(SELECT generate_series(1, 3000)));
	SELECT count(bloom_set_add('keys', k)) FROM generate_series(3001, 3500) AS k});
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
$subscriber->start;
$subscriber->safe_psql('postgres', 'CREATE EXTENSION bloomtype_set CASCADE');
$subscriber->safe_psql('postgres', "SELECT $create");
answer('CREATE PUBLICATION keys FOR TABLE keys');
my $publisher = $node->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION keys CONNECTION '$publisher' PUBLICATION keys");
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscription does not become ready';

answer(q{SELECT count(bloom_set_add('keys', -k)) FROM generate_series(1, 100) AS k});
answer(q{SELECT bloom_set_add_all('keys', ARRAY(SELECT generate_series(-2000, -1)))});
$node->wait_for_catchup('standby', 'replay', $node->lsn('insert'));
$node->wait_for_catchup('keys');

my $count = q{SELECT count(*) FROM generate_series(-3000, 100000) AS k WHERE bloom_set_contains('keys', k)};
my $answers = answer($count);
cmp_ok($answers, '>=', 5500, 'there are old and new keys');
is($standby->safe_psql('postgres', $count), $answers, 'a standby answers as the primary');
is($subscriber->safe_psql('postgres', $count), $answers, 'a subscriber answers as the publisher');
my ($status, $out, $err) = $standby->psql('postgres', q{SELECT bloom_set_contains('cache', 1)});
like($err, qr/cannot access temporary or unlogged relations during recovery/, 'an unlogged set is not there');
($status, $out, $err) = $standby->psql('postgres', q{SELECT bloom_set_add('keys', 1)});
like($err, qr/read-only transaction/, 'nothing can be added on a standby');

# A subscriber drops repeats of what other publishers have sent, and rows that move to
# another partition are deleted and inserted there: they stay, whatever the tables are
my $tables = q{
	CREATE TABLE parts (part int, id int, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
	CREATE TABLE to_one (LIKE parts INCLUDING INDEXES) %s;
	%s
	CREATE TABLE from_one (part int, id int, PRIMARY KEY (part, id)) %s;
	%s
	CREATE TABLE leaves (part int, id int, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
	CREATE TABLE leaves_1 PARTITION OF leaves FOR VALUES IN (1);
	CREATE TABLE leaves_2 PARTITION OF leaves FOR VALUES IN (2)};
my $partitions = 'PARTITION BY LIST (part)';
my $two = "CREATE TABLE %1\$s_1 PARTITION OF %1\$s FOR VALUES IN (1); CREATE TABLE %1\$s_2 PARTITION OF %1\$s FOR VALUES IN (2);";
answer(sprintf $tables, $partitions, sprintf($two, 'to_one'), '', '');
$subscriber->safe_psql('postgres', sprintf($tables, '', '', $partitions, sprintf $two, 'from_one')
	  . join '', map { ";SELECT bloom_set_create('set_$_', 'int', seed => 1);
		CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON $_ FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('set_$_', 'id');
		ALTER TABLE $_ ENABLE ALWAYS TRIGGER dedup;
		SELECT bloom_set_add('set_$_', 7)" } 'parts', 'to_one', 'from_one', 'leaves');
answer('CREATE PUBLICATION moves FOR TABLE parts, to_one, from_one WITH (publish_via_partition_root = true)');
answer('CREATE PUBLICATION leaves FOR TABLE leaves');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION moves CONNECTION '$publisher' PUBLICATION moves, leaves");
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscription does not become ready';
my $rows = "SELECT string_agg(part || ' ' || id, ', ' ORDER BY id) FROM %s WHERE id <> 7";
foreach my $table ('parts', 'to_one', 'from_one', 'leaves')
{
	answer($_) foreach "INSERT INTO $table SELECT 1, i FROM generate_series(1, 10) AS i", "UPDATE $table SET part = 2 WHERE id <= 6",
	  "UPDATE $table SET part = 3 - part WHERE id < 4 OR id = 10", "BEGIN; UPDATE $table SET part = 3 - part, id = 100 WHERE id = 9; INSERT INTO $table VALUES (1, 11); UPDATE $table SET part = 2 WHERE id = 11; COMMIT";
	$node->wait_for_catchup('moves');
	# 7 was seen before
	is($subscriber->safe_psql('postgres', sprintf $rows, $table), answer(sprintf $rows, $table), "rows that move stay on a subscriber: $table");
	is($subscriber->safe_psql('postgres', "SELECT count(*) FROM $table WHERE id = 7"), 0, '... where others are dropped');
}
# a row of a table moves while one of another does
answer(q{
	CREATE FUNCTION move_another() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE to_one SET part = 3 - part WHERE id = new.id; RETURN new; END';
	CREATE TRIGGER move_another BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION move_another();
	UPDATE parts SET part = 3 - part});
$node->wait_for_catchup('moves');
is($subscriber->safe_psql('postgres', sprintf $rows, $_), answer(sprintf $rows, $_), "rows of two tables move at once: $_") foreach 'parts', 'to_one';

# The first copy that a subscriber makes drops what its set has seen, with a WARNING, whatever is monitored
answer('CREATE TABLE copied (id int PRIMARY KEY); INSERT INTO copied VALUES (1), (2); CREATE PUBLICATION copied FOR TABLE copied');
$subscriber->safe_psql('postgres', q{ALTER SYSTEM SET track_activities = off});
$subscriber->safe_psql('postgres', q{
	SELECT pg_reload_conf();
	CREATE TABLE copied (id int PRIMARY KEY);
	SELECT bloom_set_create('set_copied', 'int', seed => 1);
	SELECT bloom_set_add('set_copied', 1);
	CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON copied FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('set_copied', 'id');
	ALTER TABLE copied ENABLE ALWAYS TRIGGER dedup});
my $copy = -s $subscriber->logfile;
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION copied CONNECTION '$publisher' PUBLICATION copied");
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscription does not become ready';
is($subscriber->safe_psql('postgres', 'SELECT * FROM copied'), '2', 'a first copy drops a key that the set has seen');
$subscriber->wait_for_log(qr/WARNING: .*COPY drops rows of "copied" whose keys Bloom set "set_copied" has seen/, $copy);
answer('INSERT INTO copied VALUES (3)');
$node->wait_for_catchup('copied');

# What a trigger of the publisher inserts between the two can have the key of the row
# that is moved, or none: that the next row with a seen key is a repeat is not known
answer(q{
	CREATE TABLE log (part int, id int, body text) PARTITION BY LIST (part);
	CREATE TABLE log_1 PARTITION OF log FOR VALUES IN (1);
	CREATE TABLE log_2 PARTITION OF log FOR VALUES IN (2);
	ALTER TABLE log REPLICA IDENTITY FULL;
	ALTER TABLE log_1 REPLICA IDENTITY FULL;
	ALTER TABLE log_2 REPLICA IDENTITY FULL;
	INSERT INTO log VALUES (1, NULL, 'a'), (1, 8, 'b'), (1, 9, 'c');
	CREATE FUNCTION add_one() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO log VALUES (1, nullif(new.body, 'a')::int, 'added');
		new.body := 'moved';
		RETURN new;
	END
	$$;
	CREATE TRIGGER add_one BEFORE INSERT ON log FOR EACH ROW WHEN (new.part = 2) EXECUTE FUNCTION add_one();
	ALTER PUBLICATION moves ADD TABLE log});
$subscriber->safe_psql('postgres', q{
	CREATE TABLE log (part int, id int, body text);
	SELECT bloom_set_create('set_log', 'int', seed => 1);
	CREATE TRIGGER dedup BEFORE INSERT OR DELETE ON log FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('set_log', 'id');
	ALTER TABLE log ENABLE ALWAYS TRIGGER dedup;
	ALTER SUBSCRIPTION moves REFRESH PUBLICATION});
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscription does not become ready';
$rows = q{SELECT string_agg(concat_ws(' ', part, id, body), ', ' ORDER BY part, id, body) FROM log};
foreach my $body ('a', '8')
{
	my $before = $subscriber->safe_psql('postgres', $rows);
	my $start = -s $subscriber->logfile;

	answer("UPDATE log SET part = 2, id = 9, body = '$body' WHERE id IS NOT DISTINCT FROM nullif('$body', 'a')::int AND body <> 'added'");
	$subscriber->wait_for_log(qr/ERROR: .*Bloom set "set_log" has seen the key of a row of "log", which may have moved/, $start);
	is($subscriber->safe_psql('postgres', $rows), $before, 'no part of such a move is applied');
	$subscriber->safe_psql('postgres', 'ALTER TABLE log DISABLE TRIGGER dedup');
	$node->wait_for_catchup('moves');
	$subscriber->safe_psql('postgres', 'ALTER TABLE log ENABLE ALWAYS TRIGGER dedup');
	is($subscriber->safe_psql('postgres', $rows), answer($rows), '... and no row is lost, when it is without the trigger');
}

$node->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', q{SELECT bloom_set_add('keys', -1), bloom_set_add('keys', -5000), bloom_set_add('keys', -5000)}),
	'f|t|f', 'until it is promoted');

$standby->stop;
$subscriber->stop;

#
# Where the log need not have each version, a transaction overwrites its lanes.  A
# standby that replays this shows none of it before it is committed, and no key is
# missed there meanwhile.
#

$node = start_server('primary', '', allows_streaming => 1);
answer('SELECT ' . create_set('keys', 'int', 'seed => 1'));
answer(q{
	-- seen by whoever looks for it, whatever the snapshot
	CREATE PROCEDURE wait_for(file text) LANGUAGE plpgsql AS $$
	BEGIN
		WHILE (pg_stat_file(file, true)).size IS NULL LOOP
			PERFORM pg_sleep(0.01);
		END LOOP;
	END
	$$;
	CREATE PROCEDURE add_singly(first int, last int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR k IN first .. last LOOP
			PERFORM bloom_set_add('keys', k);
			COMMIT;
		END LOOP;
	END
	$$;
	CREATE FUNCTION add(first int, last int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		FOR k IN first .. last LOOP
			PERFORM bloom_set_add('keys', k);
		END LOOP;
	END
	$$;
	CREATE FUNCTION missing() RETURNS text LANGUAGE sql AS
		$$SELECT format('%s %s', cardinality(bloom_set_missing('keys', ARRAY(SELECT generate_series(1, 12)))),
						cardinality(bloom_set_missing('keys', ARRAY(SELECT generate_series(101, 200)))))$$;
	CALL add_singly(1, 12)});
$node->backup('backup');
$standby = PostgreSQL::Test::Cluster->new('replica');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_receiver_status_interval = 1\n");
$standby->start;

# Wait until a session of this server waits for a file, and the standby has all.
sub wait_at
{
	my ($server, $file) = @_;

	$server->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query = 'CALL wait_for(''$file'');'")
	  or die "nobody waits for $file";
	# a commit, so that the log is written
	answer(q{INSERT INTO gate VALUES ('flushed')});
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	return;
}
my ($writer) = start_sessions(q{
	BEGIN;
	SELECT add(101, 140);
	CALL wait_for('more');
	SAVEPOINT s;
	SELECT add(141, 150);
	ROLLBACK TO s;
	SELECT bloom_set_add_all('keys', ARRAY(SELECT generate_series(141, 170)));
	SELECT add(171, 200);
	SELECT bloom_set_compact('keys');
	CALL wait_for('end');
	COMMIT;});
wait_at($node, 'more');
is($standby->safe_psql('postgres', 'SELECT missing()'), '0 100', 'a standby shows nothing of an open transaction');
my ($reader) = start_sessions_on($standby, q{
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT missing();
	CALL wait_for('end');
	SELECT missing();
	COMMIT;
	SELECT missing();});
wait_at($standby, 'end');
$node->poll_query_until('postgres', 'SELECT bool_and(backend_xmin IS NOT NULL) FROM pg_stat_replication')
  or die 'the primary does not know of the snapshot';
append_to_file($node->data_dir . '/more', '');
wait_at($node, 'end');
is($standby->safe_psql('postgres', 'SELECT missing()'), '0 100', 'nor of what it has overwritten and merged');
append_to_file($node->data_dir . '/end', '');
is(end_sessions($writer), '', 'it commits');
wait_at($standby, 'end');
is($standby->safe_psql('postgres', 'SELECT missing()'), '0 0', 'and the standby has it');
append_to_file($standby->data_dir . '/end', '');
is(end_sessions($reader), '', 'no error there');
is($reader->{out}, "0 100\n0 100\n0 0\n", 'a snapshot that is held there shows the same all the time');

# a transaction that is prepared goes over to a standby that is promoted
answer(q{BEGIN; SELECT add(201, 250); PREPARE TRANSACTION 'open'});
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$node->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', q{SELECT bloom_set_contains_any('keys', ARRAY(SELECT generate_series(201, 250))), bloom_set_add('keys', 300)}), 'f|t', 'it can be added to beside that');
$standby->safe_psql('postgres', q{COMMIT PREPARED 'open'});
is($standby->safe_psql('postgres', q{SELECT bloom_set_missing('keys', ARRAY(SELECT generate_series(201, 250))), missing()}), '{}|0 0', 'and has its keys when it is committed');

$standby->stop;
done_testing();
