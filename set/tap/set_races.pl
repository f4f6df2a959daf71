#
# Stored sets: races that are forced.  One session stops at a pause of its call, for as
# long as the gate is shut, while another does what must not come in between.  Each
# schedule is run on the library, and on a mutant that lacks the rule, which must fail.
#
# Ranges are small, and split after a few keys.  All keys are chosen by their hashes, so
# that they are in one stripe.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my @mutants = ('set_picture', 'set_points', 'set_held', 'set_second_search', 'set_remove_early', 'set_updated', 'set_cells', 'set_grid', 'set_moved', 'set_removed');
my $node = start_small_server('bloomtype_set', 'races', "fsync = off\nautovacuum = off\n", '-DBLOOM_PAUSE_AT_GATE');

use_mutant($_) foreach @mutants;
foreach my $database ('postgres', @mutants)
{
	$node->safe_psql($database, q{
		-- key(n): the keys of the lower stripe in the order of their hashes
		CREATE TABLE key AS
		SELECT row_number() OVER (ORDER BY bloom_hash(i::bigint, 1)) AS n, i::bigint AS key
		FROM generate_series(1, 2000) AS i WHERE bloom_hash(i::bigint, 1) >= 0;
		CREATE FUNCTION key(number bigint) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT key FROM key WHERE n = number';
		CREATE FUNCTION keys(first bigint, step bigint, number bigint) RETURNS bigint[] LANGUAGE sql STABLE AS
			'SELECT array_agg(key(first + step * i)) FROM generate_series(0, number - 1) AS i';});
	make_gate($database);
}

# A set in which these keys were committed, in calls of their own.
sub make
{
	my ($database, @arrays) = @_;
	$node->safe_psql($database, join ";\n", 'DROP TABLE IF EXISTS s', "SELECT bloom_set_create('s', 'bigint', seed => 1)",
		map { "SELECT FROM bloom_set_add_all('s', $_)" } @arrays);
	return;
}

sub ask
{
	my ($database, $sql) = @_;
	my ($status, $out, $err) = $node->psql($database, $sql);
	return $out . ($err =~ s/^.*?(ERROR: [^\n]*).*$/$1/sr);
}

# Is the answer as it should be, and another of the mutant?
sub check
{
	my ($what, $mutants, $expected, $schedule) = @_;

	is($schedule->('postgres'), $expected, $what);
	isnt($schedule->($_), $expected, "... and $_ is caught") foreach split ' ', $mutants;
	return;
}

my $prepare = "BEGIN; %s; PREPARE TRANSACTION 'other'";

# One picture: a transaction that has merged and split commits after its upper part was
# read as open, and before the lower one is read
foreach my $end ('COMMIT', 'ROLLBACK')
{
	check("a key that another transaction moves while it is looked for: $end", $end eq 'COMMIT' ? 'set_picture' : '', "f\n",
		sub {
			my ($database) = @_;
			make($database, 'keys(400, 10, 6)');
			$node->safe_psql($database, sprintf $prepare, "SELECT FROM bloom_set_add_all('s', keys(11, 10, 37))");
			my $answer = paused($database, 'set-version', "SELECT bloom_set_add('s', key(450))", "$end PREPARED 'other'");
			is(ask($database, "SELECT bloom_set_missing('s', keys(400, 10, 6))"), '{}', 'none of the committed keys is denied')
			  if $database eq 'postgres';
			return $answer;
		});
}

# Before the check of the picture, and before writing: whoever ends there changes nothing
foreach my $pause ('set-read', 'set-write')
{
	foreach my $end ('COMMIT', 'ROLLBACK')
	{
		check("a transaction ends at pause $pause: $end", '', "t\n{}\nf\n",
			sub {
				my ($database) = @_;
				make($database, 'keys(400, 10, 6)');
				$node->safe_psql($database, sprintf $prepare, "SELECT FROM bloom_set_add_all('s', keys(11, 10, 37))");
				return paused($database, $pause, "SELECT bloom_set_add('s', key(445))", "$end PREPARED 'other'")
				  . ask($database, "SELECT bloom_set_missing('s', keys(400, 10, 6) || key(445)"
					  . ($end eq 'COMMIT' ? ' || keys(11, 10, 37)' : '') . ')') . "\n"
				  . ask($database, "SELECT bloom_set_add('s', key(445))") . "\n";
			});
	}
}

# Points: a key is added while another transaction's split is open
foreach my $end ('COMMIT', 'ROLLBACK')
{
	check("a key that is added while a range is being split: $end", $end eq 'COMMIT' ? 'set_points set_cells' : '', "{}\n{}\n0",
		sub {
			my ($database) = @_;
			make($database, 'keys(400, 10, 6)');
			$node->safe_psql($database, sprintf $prepare, "SELECT FROM bloom_set_add_all('s', keys(11, 10, 37))");
			$node->safe_psql($database, "SELECT FROM bloom_set_add_all('s', keys(12, 40, 12)); $end PREPARED 'other'");
			return ask($database, "SELECT bloom_set_missing('s', keys(12, 40, 12)); SELECT bloom_set_add_all('s', keys(12, 40, 12))") . "\n"
			  . ask($database, "SELECT count(*) FROM unnest(keys(12, 40, 12)) AS k WHERE bloom_set_add('s', k)");
		});
}
# ... by a transaction that keeps its snapshot, and tests its own keys
check('REPEATABLE READ places its keys by what is there, and finds them', '', "t\n{}\n{}",
	sub {
		my ($database) = @_;
		make($database, 'keys(400, 10, 6)');
		my $other = q{psql -XAtq -d "} . $node->connstr($database) . q{" -c "SELECT FROM bloom_set_add_all('s', keys(11, 10, 40))"};
		my ($session) = start_sessions_in($database, qq{BEGIN ISOLATION LEVEL REPEATABLE READ;
			SELECT count(*) FROM key WHERE n < 0 \\g /dev/null
			\\! $other
			SELECT bloom_set_add('s', key(447));
			SELECT bloom_set_missing('s', ARRAY[key(447)]);
			COMMIT;});
		my $errors = end_sessions($session);
		return $session->{out} . $errors . ask($database, "SELECT bloom_set_missing('s', keys(11, 10, 40) || keys(400, 10, 6) || key(447))");
	});

# ... by a transaction that still sees a key which another has removed from a lane since,
# and then splits the range above the lane
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	check("a split by who still sees a key that was removed: $level", 'set_removed', "t\n40\nt\nf\n{}",
		sub {
			my ($database) = @_;
			make($database, 'keys(400, 10, 6)');
			$node->safe_psql($database, "SELECT bloom_set_compact('s')");
			# two lanes: one with the key, and another that can be merged when that is gone
			$node->safe_psql($database, sprintf $prepare, "SELECT bloom_set_add('s', key(500))");
			$node->safe_psql($database, "SELECT FROM bloom_set_add_all('s', keys(402, 10, 3)); COMMIT PREPARED 'other'");
			my $other = q{psql -XAtq -d "} . $node->connstr($database) . q{" -c "SELECT FROM bloom_set_remove('s', key(500))"};
			my ($session) = start_sessions_in($database, qq{BEGIN ISOLATION LEVEL $level;
				SELECT bloom_set_contains('s', key(500));
				\\! $other
				SELECT cardinality(bloom_set_add_all('s', keys(11, 10, 40)));
				SELECT bloom_set_contains('s', key(500));
				SELECT bloom_set_add('s', key(500));
				COMMIT;});
			my $errors = end_sessions($session);
			return $session->{out} . $errors . ask($database, "SELECT bloom_set_missing('s', keys(11, 10, 40) || keys(400, 10, 6))");
		});
}

# Cells: a lane stands at or below its keys
check('keys that stand at cells are found', 'set_grid', "40\n{}\n{}",
	sub {
		my ($database) = @_;
		make($database);
		return join "\n", map { ask($database, $_) } "SELECT cardinality(bloom_set_add_all('s', keys(11, 10, 40)))",
		  "SELECT bloom_set_missing('s', keys(11, 10, 40))", "SELECT bloom_set_add_all('s', keys(11, 10, 40))";
	});

# Held: a range is to be split over the lane of another open transaction
foreach my $end ('COMMIT', 'ROLLBACK')
{
	check("a split beside another transaction's lane: $end", $end eq 'COMMIT' ? 'set_held' : '', $end eq 'COMMIT' ? "{}\n0" : "{}\n3",
		sub {
			my ($database) = @_;
			make($database);
			$node->safe_psql($database, sprintf $prepare, "SELECT FROM bloom_set_add_all('s', ARRAY[key(205), key(405), key(605)])");
			$node->safe_psql($database, "SELECT FROM bloom_set_add_all('s', keys(20, 100, 6)); SELECT FROM bloom_set_add_all('s', keys(11, 10, 40)); SELECT FROM bloom_set_add_all('s', keys(13, 10, 40)); $end PREPARED 'other'");
			return ask($database, "SELECT bloom_set_missing('s', keys(11, 10, 40) || keys(13, 10, 40)" . ($end eq 'COMMIT' ? ' || ARRAY[key(205), key(405), key(605)]' : '') . ')') . "\n"
			  . ask($database, "SELECT count(*) FROM unnest(ARRAY[key(205), key(405), key(605)]) AS k WHERE bloom_set_add('s', k)");
		});
}

# A row moves to another page by SQL after the search has read the index
check('a row that an UPDATE moves while it is looked for', 'set_second_search', "f\n",
	sub {
		my ($database) = @_;
		# the other's lane is read first
		make($database, 'ARRAY[key(500)]');
		$node->safe_psql($database, sprintf $prepare, "SELECT FROM bloom_set_add_all('s', keys(600, 10, 4))");
		my $answer = paused($database, 'set-version', "SELECT bloom_set_add('s', key(500))", q{
			DO $$
			BEGIN
				WHILE (SELECT ctid < '(1,0)' FROM s WHERE lane = 1) LOOP
					UPDATE s SET hashes = hashes WHERE lane = 1;
				END LOOP;
			END
			$$});
		# had it ended before, all would have been read again
		$node->safe_psql($database, "ROLLBACK PREPARED 'other'");
		return $answer;
	});

# Keys that have expired count among those for which a list is written
check('lanes of a set that forgets do not become more', 'set_moved', "t\n",
	sub {
		my ($database) = @_;
		$node->safe_psql($database, "DROP TABLE IF EXISTS s; SELECT bloom_set_create('s', 'bigint', seed => 1, keep => '1 hour')");
		$node->safe_psql($database, q{DO $$ BEGIN FOR i IN 1 .. 300 LOOP PERFORM bloom_set_add('s', key(i), '2020-01-01 00:00Z'::timestamptz + i * interval '2 hours'); COMMIT; END LOOP; END $$});
		return ask($database, 'SELECT count(*) < 20 FROM s WHERE lane > 0') . "\n";
	});

# SQL writes a lane anew while it is merged, and the range is split
check('a lane that an UPDATE writes anew while its range is split', 'set_updated', "ERROR:  could not serialize access due to concurrent update37\n60\n0\n0\n",
	sub {
		my ($database) = @_;
		make($database, 'keys(11, 60, 8)');
		# the new keys are in other parts than the lane
		my $answer = paused($database, 'set-write', "SELECT cardinality(bloom_set_add_all('s', keys(300, 10, 37)))", 'UPDATE s SET hashes = hashes WHERE lane > 0');
		return $answer . join '', map { ask($database, $_) . "\n" } "SELECT cardinality(bloom_set_add_all('s', keys(300, 10, 37)))",
		  "SELECT count(*) FROM unnest(keys(12, 5, 60)) AS k WHERE bloom_set_add('s', k)",
		  "SELECT cardinality(bloom_set_missing('s', keys(11, 60, 8) || keys(300, 10, 37) || keys(12, 5, 60)))",
		  "SELECT count(*) FROM s WHERE bloom_set_compact('s') < 0";
	});

# A key is removed from a list that another transaction holds, be it for another key
foreach my $other ("bloom_set_remove('s', key(410))", "bloom_set_compact('s')", "count(*) FROM (SELECT FROM s WHERE lane = 0 FOR UPDATE) AS locked")
{
	check("a removal beside $other", $other =~ /locked/ ? '' : 'set_remove_early', "ERROR:  canceling statement due to statement timeout{}\nt{}\n",
		sub {
			my ($database) = @_;
			make($database, 'keys(400, 10, 6)');
			$node->safe_psql($database, "SELECT bloom_set_compact('s')");
			$node->safe_psql($database, "SELECT bloom_set_add('s', key(401))");
			$node->safe_psql($database, sprintf $prepare, "SELECT $other");
			my $answer = ask($database, "SET statement_timeout = '200ms'; SELECT bloom_set_remove('s', key(400))") . ask($database, "SELECT bloom_set_missing('s', ARRAY[key(400)])") . "\n";
			$node->safe_psql($database, "COMMIT PREPARED 'other'");
			return $answer . ask($database, "SELECT bloom_set_remove('s', key(400))") . ask($database, "SELECT bloom_set_missing('s', ARRAY[key(420), key(401)])") . "\n";
		});
}

# ... or from a lane, to which another has added: not an error of who keeps a snapshot
foreach my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	check("a removal from a lane to which another adds: $level", '', "ERROR:  canceling statement due to statement timeoutt",
		sub {
			my ($database) = @_;
			make($database, 'ARRAY[key(400)]');
			$node->safe_psql($database, sprintf $prepare, "SELECT bloom_set_add('s', key(401))");
			my $remove = "BEGIN ISOLATION LEVEL $level; SET LOCAL statement_timeout = '200ms'; SELECT bloom_set_remove('s', key(400)); COMMIT";
			my $answer = ask($database, $remove);
			$node->safe_psql($database, "COMMIT PREPARED 'other'");
			return $answer . ask($database, $remove);
		});
}

$node->stop;
done_testing();
