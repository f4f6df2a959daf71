#
# Unique keys: races that are forced.  One session stops at a pause of its statement, or
# before it commits, while another does what must not come in between.  Each rule of
# set/unique/README has a mutant that lacks it, which must fail.
#
# Rows 1 and 2 are there, in partitions of their own; the set has seen key 5, whose row
# is deleted.  Keys are claimed when two are collected.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my @mutants = qw(unique_claim unique_wait unique_look unique_messages unique_one_snapshot unique_second_look unique_subxacts unique_never_waits unique_rewritten unique_finish unique_blocker unique_same);
my $node = start_small_server('bloomtype_set', 'races', "fsync = off\nautovacuum = off\nclient_min_messages = error\nlock_timeout = 20s\n",
	'-DBLOOM_PAUSE_AT_GATE', '-DBLOOM_UNIQUE_BATCH=2');
my $schemas = 0;

use_mutant($_) foreach @mutants;
make_gate($_) foreach 'postgres', @mutants;

# Begin a schedule in a database: the tables, in a schema of their own.
sub make
{
	my ($database) = @_;

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
		SELECT bloom_unique_create('t', 'id');
		INSERT INTO t VALUES (1, 1), (2, 2), (5, 1);
		DELETE FROM t WHERE id = 5});
	return;
}

# The statement that inserts a key, or leaves it out if it is there.
sub insert
{
	my ($form, $key, $p, $into) = @_;

	$into //= 't';
	return $form eq 'error' ? "INSERT INTO $into VALUES ($key, $p)" : "INSERT INTO $into SELECT $key, $p WHERE bloom_unique_claim('t', 'id', ${key}::bigint)";
}

sub rows
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT string_agg(id || ':' || p, ' ' ORDER BY id, p) FROM t});
}

# A session that has written to a partition no longer locks its parent for that.
my $warm = 'INSERT INTO t2 VALUES (98, 2); DELETE FROM t2 WHERE id = 98';

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
				make($database);
				return beside($database, "INSERT INTO t VALUES ($key, 1)", "INSERT INTO $into VALUES ($key, 2)", 'COMMIT');
			});
		check("a key $which waits for the other, who rolls back: $into", '', " | 1:1 2:2 $key:2",
			sub {
				my ($database) = @_;
				make($database);
				return beside($database, "INSERT INTO t VALUES ($key, 1)", "INSERT INTO $into VALUES ($key, 2)", 'ROLLBACK');
			});
	}
	# that it is looked for once more after it was claimed
	check("a key $which is claimed, and waits for the other", $key == 5 ? 'unique_claim unique_wait unique_look' : '', " | 1:1 2:2 $key:1",
		sub {
			my ($database) = @_;
			make($database);
			return beside($database, "INSERT INTO t VALUES ($key, 1)", insert('claim', $key, 2), 'COMMIT');
		});
}
check('two that take over a key', '', 'duplicate key | 2:2 5:1',
	sub {
		my ($database) = @_;
		make($database);
		return beside($database, 'UPDATE t SET id = 5 WHERE id = 1', 'UPDATE t SET id = 5 WHERE id = 2', 'COMMIT');
	});

#
# What is claimed is looked for
#

foreach my $form ('error', 'claim')
{
	my $refused = $form eq 'error' ? 'duplicate key' : '';

	foreach my $pause ('unique-list', 'unique-leaf')
	{
		check("$form: rows are rewritten at pause $pause", $form eq 'error' ? 'unique_one_snapshot' : '', "$refused | 1:1 2:2",
			sub {
				my ($database) = @_;
				make($database);
				return said(paused($database, $pause, insert($form, 1, 2), 'ALTER TABLE t1 SET UNLOGGED'));
			});
		check("$form: rows are clustered and indexed anew at pause $pause", '', "$refused | 1:1 2:2",
			sub {
				my ($database) = @_;
				make($database);
				return said(paused($database, $pause, insert($form, 1, 2), "CLUSTER t1 USING t1_id_idx;\nVACUUM FULL t1;\nREINDEX TABLE t1"));
			});
		# a key whose row goes is not refused
		check("$form: the partition is emptied at pause $pause", '', ' | 1:2 2:2',
			sub {
				my ($database) = @_;
				make($database);
				return said(paused($database, $pause, insert($form, 1, 2), 'TRUNCATE t1'));
			});
		# who claims has locked the table
		next if $form eq 'claim';
		check("$form: the partition is dropped at pause $pause", '', ' | 1:2 2:2',
			sub {
				my ($database) = @_;
				make($database);
				return said(paused($database, $pause, "$warm; " . insert($form, 1, 2, 't2'), 'DROP TABLE t1'));
			});
		# a table that was detached is free, also for the key that is looked for
		check("$form: the partition is detached, and gets the key, at pause $pause", 'unique_second_look', ' | 2:2 5:2',
			sub {
				my ($database) = @_;
				make($database);
				return said(paused($database, $pause, "$warm; " . insert($form, 5, 2, 't2'), 'ALTER TABLE t DETACH PARTITION t1; INSERT INTO t1 VALUES (5, 1)'));
			});
		check("$form: a subtree is detached, and gets the key, at pause $pause", 'unique_second_look', ' | 1:1 2:2 5:2',
			sub {
				my ($database) = @_;
				make($database);
				$node->safe_psql($database, 'CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3) PARTITION BY LIST (id); CREATE TABLE t35 PARTITION OF t3 FOR VALUES IN (5)');
				return said(paused($database, $pause, "$warm; " . insert($form, 5, 2, 't2'), 'ALTER TABLE t DETACH PARTITION t3; INSERT INTO t35 VALUES (5, 3)'));
			});
	}
	# whoever comes while a key is looked for waits
	check("$form: another inserts the key at pause unique-claimed", '', ($form eq 'error' ? 'duplicate key' : 'duplicate key') . ' | 1:1 2:2 5:2',
		sub {
			my ($database) = @_;
			my $second;
			make($database);
			my $first = said(paused($database, 'unique-claimed', insert($form, 5, 2),
					sub {
						($second) = start_sessions_in($database, "SET application_name = 'beside'; INSERT INTO t VALUES (5, 1)");
						$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'})
						  or die 'it does not wait';
					}));
			return $first . said(end_sessions($second));
		});
}

# DETACH CONCURRENTLY that was cancelled: the partition is going, and its keys are free
check('a partition whose detaching was cancelled', '', 'canceling statement due to lock timeout | 1:2 2:2',
	sub {
		my ($database) = @_;
		make($database);
		$node->safe_psql($database, "BEGIN; SELECT FROM t; PREPARE TRANSACTION 'reader'");
		my ($status, $out, $err) = $node->psql($database, "INSERT INTO t VALUES (9, 2); DELETE FROM t WHERE id = 9;\nSET lock_timeout = 100;\nALTER TABLE t DETACH PARTITION t1 CONCURRENTLY;\nINSERT INTO t2 VALUES (1, 2);", on_error_stop => 0);
		$node->safe_psql($database, "ROLLBACK PREPARED 'reader'");
		return said($err);
	});

#
# A transaction that has committed is seen before its messages have come
#

my $bring = 'CREATE TABLE t3 (LIKE t); CREATE INDEX ON t3 (id); INSERT INTO t3 VALUES (7, 3); ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3)';
my %unheard = (
	'a partition is attached' => [ $bring, 7 ],
	'a partition is made' => [ 'CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3); INSERT INTO t VALUES (7, 3)', 7 ],
	'a tree is attached' => [ 'CREATE TABLE t3 (LIKE t) PARTITION BY LIST (id); CREATE TABLE t37 PARTITION OF t3 FOR VALUES IN (7); CREATE INDEX ON t3 (id); INSERT INTO t3 VALUES (7, 3); ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3)', 7 ],
	'a partition of a partition is attached' => [ 'CREATE TABLE t47 (LIKE t); CREATE INDEX ON t47 (id); INSERT INTO t47 VALUES (7, 4); ALTER TABLE t4 ATTACH PARTITION t47 FOR VALUES IN (7)', 7, '7:4' ]);

foreach my $what (sort keys %unheard)
{
	my ($sql, $key, $there) = @{ $unheard{$what} };

	foreach my $form ('error', 'claim')
	{
		foreach my $into ($form eq 'claim' ? ('t') : ('t', 't2'))
		{
			# CREATE TABLE has locked the table until its messages are sent
			my $is_locked = $what eq 'a partition is made' && ($into eq 't' || $form eq 'claim');

			check("$form into $into: $what, and no message has come", $is_locked ? '' : 'unique_messages', ($form eq 'error' ? 'duplicate key' : '') . ' | 1:1 2:2 ' . ($there // '7:3') . ' 99:1',
				sub {
					my ($database) = @_;
					my $second;
					make($database);
					$node->safe_psql($database, 'CREATE TABLE t4 PARTITION OF t FOR VALUES IN (4) PARTITION BY LIST (id); CREATE TABLE t40 PARTITION OF t4 FOR VALUES IN (40)');
					# it has looked up keys before, and so may remember what there was
					($second) = start_sessions_in($database, "SET application_name = 'warm'; INSERT INTO t2 VALUES (5, 2); DELETE FROM t2 WHERE id = 5;\n"
						  . "DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 2026 AND NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;\n"
						  . "SET application_name = 'beside';\n" . insert($form, $key, 2, $into) . ";\nSET application_name = 'ended'");
					$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'warm' AND query ~ 'WHILE'}) or die 'it does not begin';
					my ($said) = said(paused($database, 'unique-commit', "BEGIN; INSERT INTO t VALUES (99, 1); $sql; COMMIT",
							sub {
								$node->poll_query_until($database, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'warm' OR application_name = 'beside' AND wait_event_type IS DISTINCT FROM 'Lock'})
								  or die 'it neither ends nor waits';
							}));
					return $said . said(end_sessions($second));
				});
		}
	}
}
check('a partition is detached, and no message has come', '', ' | 1:2 2:2',
	sub {
		my ($database) = @_;
		my $second;
		make($database);
		my ($said) = said(paused($database, 'unique-commit', 'BEGIN; INSERT INTO t VALUES (99, 1); DELETE FROM t WHERE id = 99; ALTER TABLE t DETACH PARTITION t1; COMMIT',
				sub {
					($second) = start_sessions_in($database, "$warm; SET application_name = 'beside'; INSERT INTO t2 VALUES (1, 2); SET application_name = 'ended'");
					$node->poll_query_until($database, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type IS DISTINCT FROM 'Lock'})
					  or die 'it neither ends nor waits';
				}));
		return $said . said(end_sessions($second));
	});

check('the row is deleted before it is looked for', '', ' | 1:2 2:2',
	sub {
		my ($database) = @_;
		make($database);
		return said(paused($database, 'unique-claimed', 'INSERT INTO t VALUES (1, 2)', 'DELETE FROM t WHERE id = 1'));
	});
check('a partition with the key is attached at pause unique-claimed of the insert', '', 'duplicate key | 1:1 2:2 5:2',
	sub {
		my ($database) = @_;
		my $second;
		make($database);
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
		make($database);
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

#
# Who validates waits for nobody while it holds keys, so that it does not deadlock with
# who moves two rows
#

check('keys are validated while their rows move', 'unique_never_waits', 'duplicate key duplicate key | 1:1 2:2 3:2 4:2',
	sub {
		my ($database) = @_;
		make($database);
		$node->safe_psql($database, "INSERT INTO t VALUES (3, 1), (4, 1); TRUNCATE t_id_unique; BEGIN; UPDATE t SET p = 2 WHERE id = 3; PREPARE TRANSACTION 'mover'");
		my ($status, $out, $err) = $node->psql($database, "SET lock_timeout = '1s';\nCALL bloom_unique_validate('t', 'id')");
		# one that holds a key waits for keys that are being added, and then goes on
		$node->safe_psql($database, "COMMIT PREPARED 'mover'; TRUNCATE t_id_unique");
		my $second;
		my $said = paused($database, 'unique-validate', "CALL bloom_unique_validate('t', 'id')",
			sub {
				($second) = start_sessions_in($database, "SET application_name = 'beside'; BEGIN; UPDATE t SET p = 2 WHERE id = 2 OR id = 4; COMMIT");
				$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'})
				  or die 'it does not wait';
			});
		$said .= end_sessions($second);
		($status, $out, my $refused) = $node->psql($database, "INSERT INTO t VALUES (3, 1);\nINSERT INTO t VALUES (4, 1)", on_error_stop => 0);
		return join ' ', grep { $_ ne '' } said($err), said($said), said($refused);
	});

#
# What a call needs goes while it waits for it
#

# What a session says at full length to SQL, beside a transaction that has run other SQL; it has
# run this before that.
sub says_beside
{
	my ($other, $before, $sql) = @_;
	my $session;

	make('postgres');
	($session) = start_sessions_in('postgres', "\\set VERBOSITY verbose\n$before;\nSET application_name = 'warm';\n"
		  . "DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_prepared_xacts) LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;\nSET application_name = 'beside';\n$sql");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'warm'}) or die 'it does not begin';
	$node->safe_psql('postgres', "BEGIN; $other; PREPARE TRANSACTION 'other'");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'}) or die 'it does not wait';
	$node->safe_psql('postgres', "COMMIT PREPARED 'other'");
	return end_sessions($session);
}

foreach my $call ("SELECT bloom_unique_claim('t', 'id', 5::bigint)", "SELECT bloom_unique_claim_all('t', 'id', '{5}'::bigint[])",
	"SELECT bloom_unique_rebuild('t', 'id')", "SELECT bloom_unique_drop('t', 'id')", "CALL bloom_unique_validate('t', 'id')")
{
	like(says_beside('DROP TABLE t CASCADE', 'SELECT', $call), qr/^\S* ERROR:  42P01: relation with OID \d+ does not exist$/m, "the table is dropped: $call");
}
foreach my $sql ('INSERT INTO t1 VALUES (7, 1)', 'COPY t1 (id, p) FROM stdin;' . "\n7\t1\n\\.\n")
{
	like(says_beside('DROP TABLE t_id_unique CASCADE', $warm, $sql), qr/ERROR:  55000: cannot check unique keys of table "t".*HINT:  Call bloom_unique_drop, and bloom_unique_create again/s,
		'the set is dropped: ' . substr $sql, 0, 6);
}
is(says_beside('ALTER TABLE t_id_unique RENAME TO other_name', 'SELECT', "SELECT bloom_unique_drop('t', 'id')"), '', 'the set is renamed, and the key dropped');
is($node->safe_psql('postgres', "SELECT to_regclass('other_name') IS NULL AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 't'::regclass)"), 't', '... with the set');
is(says_beside("SELECT bloom_unique_drop('t', 'id'), bloom_unique_create('t', 'id', validate => false)", $warm, "CALL bloom_unique_validate('t', 'id')"), '',
	'the key is made anew: bloom_unique_validate that begins');
foreach my $what ([ "SELECT bloom_unique_drop('t', 'id'); SELECT bloom_unique_create('t', 'id', validate => false)", 'the unique key of table "t" was dropped meanwhile' ],
	[ "SELECT bloom_unique_drop('t', 'id')", 'the unique key of table "t" was dropped meanwhile' ], [ 'DROP TABLE t CASCADE', 'relation with OID \d+ does not exist' ])
{
	my ($sql, $expected) = @$what;
	my $second;

	make('postgres');
	like(paused('postgres', 'unique-validate', "CALL bloom_unique_validate('t', 'id')",
			sub {
				($second) = start_sessions_in('postgres', "SET application_name = 'beside'; BEGIN; $sql; COMMIT");
				$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock'}) or die 'it does not wait';
			}), qr/ERROR:  $expected/, "$sql, while bloom_unique_validate adds keys");
	is(end_sessions($second), '', '... which is done');
}


# The columns become others
foreach my $database ('postgres', 'unique_same')
{
	make($database);
	$node->safe_psql($database, 'CREATE INDEX ON t (p)');
	my $said = paused($database, 'unique-validate', "CALL bloom_unique_validate('t', 'id')",
		"SELECT pg_get_triggerdef(oid) AS def FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname = 't_id_unique' \\gset\n"
		  . "BEGIN; DROP TRIGGER t_id_unique ON t;\nSELECT replace(:'def', 'new.id IS', 'new.p IS') \\gexec\nCOMMIT");
	$database eq 'postgres' ? like($said, qr/ERROR:  the unique key of table "t" was changed meanwhile/, 'the columns are exchanged while bloom_unique_validate adds keys')
	  : unlike($said, qr/was changed meanwhile/, "... and $database is caught");
}

# What is emptied, given away and dropped is found by OID: another table may have got the name
# of the set while a command waited for it
$node->safe_psql('postgres', 'CREATE ROLE regress_bloom_heir');
foreach my $test (
	[ 'TRUNCATE t', q{SELECT keys FROM bloom_set_info('other_name')} ],
	[ 'ALTER TABLE t OWNER TO regress_bloom_heir', q{SELECT count(*) FROM pg_class WHERE oid = 'other_name'::regclass AND relowner <> 'regress_bloom_heir'::regrole} ],
	[ "SELECT bloom_unique_rebuild('t', 'id')", q{SELECT keys - 2 FROM bloom_set_info('other_name')} ],
	[ "SELECT bloom_unique_drop('t', 'id')", q{SELECT count(*) FROM pg_class WHERE oid = to_regclass('other_name')} ])
{
	my ($sql, $left) = @$test;

	is(says_beside("ALTER TABLE t_id_unique RENAME TO other_name; CREATE TABLE t_id_unique (id text); INSERT INTO t_id_unique VALUES ('kept')", 'SELECT', $sql), '', "the set has another name since: $sql");
	is($node->safe_psql('postgres', "$left; SELECT id FROM t_id_unique; SELECT count(*) FROM pg_class WHERE oid = 't_id_unique'::regclass AND relowner = 'regress_bloom_heir'::regrole"), "0\nkept\n0", '... and the table that has its name is as it was');
}

# A partition is rewritten between the snapshot by which repeats are looked for and its lock
foreach my $database ('postgres', 'unique_rewritten')
{
	make($database);
	$node->safe_psql($database, q{SELECT bloom_unique_drop('t', 'id'); INSERT INTO t VALUES (1, 2), (2, 1);
		SELECT bloom_unique_create('t', 'id', validate => false)});
	my $said = paused($database, 'unique-leaf', "CALL bloom_unique_validate('t', 'id')",
		sub { $node->safe_psql($database, 'ALTER TABLE t1 SET UNLOGGED; ALTER TABLE t2 SET UNLOGGED') });
	$database eq 'postgres' ? like($said, qr/ERROR:  2 keys of table "t"/, 'partitions are rewritten while repeats are looked for')
	  : unlike($said, qr/ERROR:  2 keys of table "t"/, "... and $database is caught");
}

# The last step of validate waits for its locks while the key is dropped
foreach my $database ('postgres', 'unique_finish')
{
	make($database);
	my ($holder) = start_sessions_in($database, "SET application_name = 'holder'; BEGIN; LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE;\n"
		  . "DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'beside' AND wait_event_type = 'Lock') LOOP PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END \$\$;\n"
		  . "SELECT bloom_unique_drop('t', 'id'); COMMIT");
	$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 't'::regclass AND mode = 'ShareUpdateExclusiveLock'}) or die 'it does not begin';
	my ($session) = start_sessions_in($database, "\\set VERBOSITY verbose\nSET application_name = 'beside';\nCALL bloom_unique_validate('t', 'id')");
	my $said = end_sessions($session);
	$database eq 'postgres' ? like($said, qr/ERROR:  42704: the unique key of table "t" was dropped meanwhile/, 'the key is dropped while validate waits for its last locks')
	  : unlike($said, qr/ERROR:  42704: /, "... and $database is caught");
	is(end_sessions($holder), '', '... which is done');
}

# The mark must wait for a transaction that has written the lowest list, and holds no lock
# on the table then.  Which hashes are in that list depends on the seed: so each key is the
# lowest until now, and it is asked when one of them has made its transaction write it.
foreach my $database ('postgres', 'unique_blocker')
{
	my $lowest = q{t_id_unique WHERE start = -9223372036854775808 AND lane = 0};

	foreach my $begin ('', 'BEGIN; ')
	{
		my $where = $begin eq '' ? 'CALL' : 'CALL in a transaction';
		my $is_held = 0;

		make($database);
		$node->safe_psql($database, q{SELECT bloom_unique_drop('t', 'id'); SELECT bloom_unique_create('t', 'id', validate => false)});
		foreach my $id (reverse split /\n/, $node->safe_psql($database, q{
			SELECT id FROM generate_series(1000, 11000) AS id, bloom_set_info('t_id_unique') AS i, bloom_hash(id::bigint, i.seed) AS hash
			WHERE hash >= 0 ORDER BY hash LIMIT 100}))
		{
			$node->safe_psql($database, "BEGIN; INSERT INTO t VALUES ($id, 2); PREPARE TRANSACTION 'other'");
			$is_held = $node->safe_psql($database, "SELECT count(*) FROM $lowest AND xmax <> 0");
			last if $is_held;
			$node->safe_psql($database, "COMMIT PREPARED 'other'");
		}
		$is_held or die 'no key makes its transaction write the lowest list';
		my ($session) = start_sessions_in($database, "SET application_name = 'beside'; SET client_min_messages = notice;\n${begin}CALL bloom_unique_validate('t', 'id');\nCOMMIT");
		$node->poll_query_until($database, q{SELECT count(*) = 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'beside' AND locktype = 'transactionid' AND NOT granted})
		  or die 'it does not wait';
		my $locks = $node->safe_psql($database, q{SELECT string_agg(mode, ' ') FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'beside' AND relation = 't'::regclass});
		my $expected = $begin eq '' ? '' : 'AccessShareLock';
		$database eq 'postgres' ? is($locks, $expected, "$where: the last step waits for the lowest list, and keeps no lock that others need")
		  : like($locks, qr/ShareUpdateExclusiveLock/, "... and $database is caught");
		$node->safe_psql($database, q{COMMIT PREPARED 'other'});
		my $said = end_sessions($session);
		like($said, qr/NOTICE:  all keys are in the set; waiting for transaction \d+, which has written to it$/m, '... says so') if $database eq 'postgres';
		is($node->safe_psql($database, "SELECT (get_byte(hashes, 0) & 128) <> 0 FROM $lowest"), 't', '... and goes on');
	}
}

$node->stop;
done_testing();
