#
# Stored sets: what others do with the table.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $times = $ENV{BLOOM_STRESS} // 1;
my $node = start_server('table', "fsync = off\nautovacuum = off\ndeadlock_timeout = '100ms'\n");

#
# Rows are locked and frozen while sessions add keys, so that headers of versions
# change while these are read.
#

# Transactions get numbers that no lock of several of them has, so that to take one
# for the other is an error.
$node->stop;
$node->command_ok([ 'pg_resetwal', '-x', 30 * 32768, $node->data_dir ], 'numbers of transactions go on elsewhere');
$node->start;

# Most adds are rolled back, so that ranges stay few.
answer('SELECT ' . create_set('keys', 'int', 'seed => 1'));
answer(q{
	CREATE PROCEDURE add_keys(session int, n int) LANGUAGE plpgsql AS $$
	DECLARE
		k int;
	BEGIN
		FOR i IN 1 .. n LOOP
			k := 1000000 * session + i;
			BEGIN
				IF bloom_set_add('keys', k) THEN
					INSERT INTO told (key) VALUES (k);
				END IF;
			EXCEPTION WHEN deadlock_detected OR serialization_failure THEN
				-- so much can come of row locks
			END;
			IF i % (n / 50) = 0 THEN
				COMMIT;
			ELSE
				ROLLBACK;
			END IF;
		END LOOP;
	END
	$$;
	-- two of these make a lock of several transactions
	CREATE PROCEDURE lock_rows(n int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. n LOOP
			BEGIN
				PERFORM FROM keys FOR KEY SHARE;
			EXCEPTION WHEN deadlock_detected THEN
			END;
			COMMIT;
		END LOOP;
	END
	$$});
my ($adds, $locks) = (8000 * $times, 5000 * $times);
my $errors = end_sessions(start_sessions(
	(map { "CALL add_keys($_, $adds)" } 1, 2),
	("CALL lock_rows($locks)") x 2,
	"\\set VERBOSITY verbose\n" . "VACUUM (FREEZE) keys;\n" x (300 * $times)));
is($errors, '', 'adds beside FOR KEY SHARE and VACUUM FREEZE: no error');
note answer(q{SELECT count(*), pg_size_pretty(pg_relation_size('keys')) FROM told});
is(answer(q{SELECT count(*) FROM (SELECT key FROM told GROUP BY key HAVING count(*) > 1) AS twice}), 0, 'no key is told new twice');
is(answer(q{SELECT count(*) FROM told WHERE NOT bloom_set_contains('keys', key)}), 0, 'none is denied');

#
# A REINDEX CONCURRENTLY that is cancelled leaves an index that nobody reads.  Any
# number of these makes a table slower, but not unusable; so it is with a set.
#

answer('SELECT ' . create_set('reindexed', 'int', 'seed => 1'));
answer(q{
	CREATE TABLE event (k int);
	CREATE TRIGGER dedup BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('reindexed', 'k')});

sub cancel_reindex
{
	my ($n) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"SET statement_timeout = '50ms';\n" . "REINDEX INDEX CONCURRENTLY reindexed_pkey;\n" x $n, on_error_stop => 0);
	my $cancelled = () = $err =~ /canceling statement due to statement timeout/g;

	is($cancelled, $n, "REINDEX CONCURRENTLY is cancelled $n times");
	# PostgreSQL 19 says what it waited for, too
	is($err =~ s/[^\n]*canceling statement due to statement timeout\n?|CONTEXT:  waiting for [^\n]*\n?//gr, '', 'and does not fail otherwise');
	return;
}

# Use the set, with keys of one's own.
sub use_set
{
	my ($what, $k) = @_;
	my $indexes = answer(q{SELECT count(*) || ', ready: ' || count(*) FILTER (WHERE indisready) FROM pg_index WHERE indrelid = 'reindexed'::regclass});
	my ($status, $out, $err) = $node->psql('postgres', qq{
		SELECT bloom_set_add('reindexed', $k), bloom_set_contains('reindexed', -$k), bloom_set_add_all('reindexed', ARRAY[$k + 1]);
		SELECT bloom_set_missing('reindexed', ARRAY[$k, $k + 1, $k + 3]);
		INSERT INTO event VALUES ($k), ($k + 2);
		SELECT k FROM event ORDER BY k DESC LIMIT 1});

	is($err, '', "$what: no error (indexes: $indexes)");
	is($out, join("\n", "t|f|{" . ($k + 1) . "}", "{" . ($k + 3) . "}", $k + 2), "$what: the set and the trigger work");
	return;
}

# one that waits for the end of an old snapshot has built its index, and all who
# add write to it, too
my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND backend_xmin IS NOT NULL};
my @old = start_sessions('SELECT pg_sleep(600)');
$node->poll_query_until('postgres', "$waiting", 1) or die 'the snapshot is not there';
cancel_reindex(8);
use_set('eight that are ready', 10);
# one that waits for the end of an add has not begun
answer(q{BEGIN; SELECT bloom_set_add('reindexed', 1); PREPARE TRANSACTION 'adds'});
cancel_reindex(3);
use_set('three more that are not', 20);
answer(q{COMMIT PREPARED 'adds'});
cancel_reindex(1);
use_set('a ninth one that is ready', 30);
answer(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND backend_xmin IS NOT NULL});
end_sessions(@old);
my ($status, $out, $err) = $node->psql('postgres', 'REINDEX INDEX CONCURRENTLY reindexed_pkey');
is("$out$err", '', 'REINDEX CONCURRENTLY');
use_set('one that was not cancelled', 40);
is(answer(q{SELECT bloom_set_missing('reindexed', ARRAY[1, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42])}), '{}', 'none is denied');

$node->stop;
done_testing();
