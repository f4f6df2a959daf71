#
# Unique keys: races that are forced.  One session stops at a pause of its statement, or
# before it commits, while another does what must not come in between.  Each rule of
# src/unique/README has a mutant that lacks it, which must fail.
#
# Rows 1 and 2 are there, in partitions of their own; the set has seen key 5, whose row
# is deleted.  Keys are claimed when two are collected.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use Sets;
use Test::More;

my @mutants = qw(unique_claim unique_wait unique_look unique_list_check unique_rewrite_check unique_subxacts);
my $node = start_small_server('races', "fsync = off\nautovacuum = off\nclient_min_messages = error\n",
	'-DBLOOM_PAUSE_AT_GATE', '-DBLOOM_UNIQUE_BATCH=2');
my $schemas = 0;

use_mutant($_) foreach @mutants;
make_gate($_) foreach 'postgres', @mutants;

# Begin a schedule in a database: the tables, in a schema of their own.
sub make
{
	my ($database, $form) = @_;

	++$schemas;
	$node->safe_psql($database, qq{
		SET application_name = '';
		CREATE SCHEMA races_$schemas;
		ALTER DATABASE $database SET search_path = races_$schemas, public;
		SET search_path = races_$schemas, public;
		CREATE TABLE t (id bigint, p int) PARTITION BY LIST (p);
		CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
		CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
		CREATE INDEX ON t (id);
		SELECT bloom_unique_create('t', 'id', on_conflict => '$form');
		INSERT INTO t VALUES (1, 1), (2, 2), (5, 1);
		DELETE FROM t WHERE id = 5});
	return;
}

sub rows
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT string_agg(id || ':' || p, ' ' ORDER BY id, p) FROM t});
}

# What statements say, in short: the errors.
sub said
{
	my ($text) = @_;
	return join ' ', $text =~ /ERROR: +(duplicate key|could not serialize|deadlock|.*)/g;
}

# What SQL does while a transaction is open that has run other SQL, and then ends so.
sub beside
{
	my ($database, $other, $sql, $end) = @_;

	$node->safe_psql($database, "BEGIN; $other; PREPARE TRANSACTION 'other'");
	my ($session) = start_sessions_in($database, "SET application_name = 'beside';\nCREATE TABLE begun ();\n$sql");
	# it has ended, or it waits
	$node->poll_query_until($database, q{SELECT to_regclass('begun') IS NOT NULL AND count(*) = 0
		FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type IS DISTINCT FROM 'Lock'})
	  or die 'it neither ends nor waits';
	$node->safe_psql($database, "$end PREPARED 'other'");
	return said(end_sessions($session));
}

# Is it as it should be, and otherwise with the mutants?
sub check
{
	my ($what, $mutants, $expected, $schedule) = @_;

	foreach my $mutant ('', split / /, $mutants)
	{
		my $database = $mutant eq '' ? 'postgres' : $mutant;
		my $said = $schedule->($database);
		my $result = "$said | " . rows($database);
		$mutant eq '' ? is($result, $expected, $what) : isnt($result, $expected, "... and $mutant is caught");
	}
	return;
}

#
# Of two transactions that are open, one holds a key
#

foreach my $key (5, 7)
{
	my $which = $key == 5 ? 'that the set has seen' : 'that is new';
	foreach my $into ('t', 't2')
	{
		check("a key $which waits for the other, who commits: $into", $key == 5 ? 'unique_claim unique_wait' : '', "duplicate key | 1:1 2:2 $key:1",
			sub {
				my ($database) = @_;
				make($database, 'error');
				return beside($database, "INSERT INTO t VALUES ($key, 1)", "INSERT INTO $into VALUES ($key, 2)", 'COMMIT');
			});
		check("a key $which waits for the other, who rolls back: $into", '', " | 1:1 2:2 $key:2",
			sub {
				my ($database) = @_;
				make($database, 'error');
				return beside($database, "INSERT INTO t VALUES ($key, 1)", "INSERT INTO $into VALUES ($key, 2)", 'ROLLBACK');
			});
	}
	# that it is looked for once more after it was claimed
	check("a key $which waits for the other, and is dropped", $key == 5 ? 'unique_claim unique_wait unique_look' : '', " | 1:1 2:2 $key:1",
		sub {
			my ($database) = @_;
			make($database, 'nothing');
			return beside($database, "INSERT INTO t VALUES ($key, 1)", "INSERT INTO t VALUES ($key, 2)", 'COMMIT');
		});
}
check('two that take over a key', '', 'duplicate key | 2:2 5:1',
	sub {
		my ($database) = @_;
		make($database, 'error');
		return beside($database, 'UPDATE t SET id = 5 WHERE id = 1', 'UPDATE t SET id = 5 WHERE id = 2', 'COMMIT');
	});

#
# What is claimed is looked for
#

check('a repeat is dropped', '', ' | 1:1 2:2',
	sub {
		my ($database) = @_;
		make($database, 'nothing');
		return said(($node->psql($database, "SET application_name = ''; INSERT INTO t VALUES (1, 2)"))[2]);
	});
foreach my $form ('error', 'nothing')
{
	my $refused = $form eq 'error' ? 'duplicate key' : '';

	# a repeat that is dropped need not be claimed
	my @pauses = $form eq 'error' ? ('unique-claimed', 'unique-list', 'unique-snapshot', 'unique-leaf') : ('unique-list', 'unique-snapshot', 'unique-leaf');

	# rows that move are looked for where they were, or where they are: without the trigger,
	# since that would wait
	my $move = 'SET session_replication_role = replica; UPDATE t SET p = 3 WHERE id = 1';
	foreach my $pause (@pauses)
	{
		check("$form: a row moves to a new partition at pause $pause", $pause eq 'unique-list' && $form eq 'error' ? 'unique_list_check' : '', "$refused | 1:3 2:2",
			sub {
				my ($database) = @_;
				make($database, $form);
				return said(paused($database, $pause, 'INSERT INTO t VALUES (1, 2)', "CREATE TABLE t3 (LIKE t); ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3); $move"));
			});
		check("$form: rows are rewritten at pause $pause", $pause eq 'unique-leaf' && $form eq 'error' ? 'unique_rewrite_check' : '', "$refused | 1:1 2:2",
			sub {
				my ($database) = @_;
				make($database, $form);
				return said(paused($database, $pause, 'INSERT INTO t VALUES (1, 2)', 'ALTER TABLE t1 SET UNLOGGED'));
			});
		check("$form: rows are clustered and indexed anew at pause $pause", '', "$refused | 1:1 2:2",
			sub {
				my ($database) = @_;
				make($database, $form);
				return said(paused($database, $pause, 'INSERT INTO t VALUES (1, 2)', "CLUSTER t1 USING t1_id_idx;\nVACUUM FULL t1;\nREINDEX TABLE t1"));
			});
		# a key whose row goes is not refused
		check("$form: the partition is emptied at pause $pause", '', ' | 1:2 2:2',
			sub {
				my ($database) = @_;
				make($database, $form);
				return said(paused($database, $pause, 'INSERT INTO t VALUES (1, 2)', 'TRUNCATE t1'));
			});
	}
	# whoever comes while a key is looked for waits
	check("$form: another inserts the key at pause unique-claimed", '', "$refused | 1:1 2:2 5:2",
		sub {
			my ($database) = @_;
			my $second;
			make($database, $form);
			my $first = said(paused($database, 'unique-claimed', 'INSERT INTO t VALUES (5, 2)',
					sub {
						($second) = start_sessions_in($database, "SET application_name = 'beside'; INSERT INTO t VALUES (5, 1)");
						$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'})
						  or die 'it does not wait';
					}));
			return $first . said(end_sessions($second));
		});
}
check('the row is deleted before it is looked for', '', ' | 1:2 2:2',
	sub {
		my ($database) = @_;
		make($database, 'error');
		return said(paused($database, 'unique-claimed', 'INSERT INTO t VALUES (1, 2)', 'DELETE FROM t WHERE id = 1'));
	});
check('a partition with the key is attached at pause unique-claimed of the insert', '', 'duplicate key | 1:1 2:2 5:2',
	sub {
		my ($database) = @_;
		my $second;
		make($database, 'error');
		my $first = said(paused($database, 'unique-claimed', 'INSERT INTO t VALUES (5, 2)',
				sub {
					($second) = start_sessions_in($database, "SET application_name = 'beside'; CREATE TABLE t3 (LIKE t); INSERT INTO t3 VALUES (5, 3); ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3)");
					$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'})
					  or die 'it does not wait';
				}));
		return $first . said(end_sessions($second));
	});

#
# A key is claimed in the subtransaction of its row
#

check('a block that is rolled back takes no claims of others with it', 'unique_subxacts', 'duplicate key duplicate key | 1:1 2:2 8:1 9:1',
	sub {
		my ($database) = @_;
		make($database, 'error');
		my ($status, $out, $err) = $node->psql($database, q{
			SET application_name = '';
			CREATE FUNCTION in_vain() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				-- a batch and one
				INSERT INTO t2 VALUES (NEW.id + 100, 2), (NEW.id + 200, 2);
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN
				RETURN NULL;
			END
			$$;
			CREATE TRIGGER zz AFTER INSERT ON t FOR EACH ROW WHEN (NEW.p = 1) EXECUTE FUNCTION in_vain();
			INSERT INTO t VALUES (8, 1), (9, 1);
			INSERT INTO t VALUES (8, 2);
			INSERT INTO t VALUES (9, 2)}, on_error_stop => 0);
		return said($err);
	});

$node->stop;
done_testing();
