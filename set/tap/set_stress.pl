#
# Stored sets against an exact log: sessions that add the same keys in
# transactions of all kinds, with pauses between the steps of their calls.
# BLOOM_STRESS multiplies their number, BLOOM_STRESS_SEED makes others, and
# BLOOM_STRESS_FLAGS has flags for the compiler.  Mutants: apply one of test/mutants/ first.
#
use strict;
use warnings;

use FindBin;
use POSIX 'strftime';
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

use constant SESSIONS => 8;

my $times = $ENV{BLOOM_STRESS} // 1;
my $seed = $ENV{BLOOM_STRESS_SEED} // 1;
my $node = start_small_server('bloomtype_set', 'stress', "deadlock_timeout = '200ms'\nfsync = off\n",
	'-DBLOOM_PAUSE_AT_RANDOM', split ' ', $ENV{BLOOM_STRESS_FLAGS} // '');

answer('CREATE EXTENSION amcheck');
srand($seed);
note "seed $seed";

# Times of keys: 300 minutes from here.  They are before now, and stay live if the test
# lasts.
my $first = strftime("'%Y-%m-%d %H:00Z'::timestamptz", gmtime(time - 6 * 3600));

# The statement that adds keys, and logs those that are new, and all of them.
sub add
{
	my ($set, $clock, $array, @keys) = @_;
	my $keys = join ',', @keys;
	my $at = $clock ? ", $first + interval '" . int(rand 300) . " minutes'" : '';
	my $new = $array ? "unnest(bloom_set_add_all('$set', ARRAY[$keys]$at))" : "unnest(ARRAY[$keys])";
	my $where = $array ? '' : " WHERE bloom_set_add('$set', k$at)";

	return "INSERT INTO told (key) SELECT k FROM $new AS k$where;\n"
	  . "INSERT INTO tried SELECT unnest(ARRAY[$keys]);\n";
}

# The statement that removes a key, and logs it, if it was there.
sub remove
{
	my ($set, $clock, $key) = @_;
	my $at = $clock ? ", $first + interval '" . int(rand 300) . " minutes'" : '';

	return "INSERT INTO removed SELECT k FROM unnest(ARRAY[$key]) AS k WHERE bloom_set_remove('$set', k$at);\n";
}

# Keys of a call.  There are repeats, in the call and among sessions.
sub keys_of_call
{
	my ($most, $range) = @_;
	return map { 1 + int rand $range } 1 .. 1 + int rand $most;
}

# A transaction.  To add the same keys in opposite orders is to deadlock, as with
# a unique index.  So either all transactions add single keys in order, or all
# have one call of many keys, or one key.  Removals can wait for whoever holds a row, so
# that deadlocks are expected beside them.
sub transaction
{
	my ($name, $set, $clock, $range, $arrays, $removes) = @_;
	my $level = ('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')[ rand 4 ];
	my $sql = "BEGIN ISOLATION LEVEL $level;\n";
	my $end = rand;

	if ($arrays)
	{
		my @keys = keys_of_call((1, 40, 40, 1000)[ rand 4 ], $range);
		my $again = rand() < 0.3;

		$sql .= "SAVEPOINT s;\n" if $again;
		$sql .= add($set, $clock, @keys > 1, @keys);
		$sql .= "ROLLBACK TO s;\n" . add($set, $clock, @keys > 1, @keys) if $again;
	}
	else
	{
		my @keys = sort { $a <=> $b } keys_of_call(40, $range);
		while (my @some = splice @keys, 0, 1 + rand 8)
		{
			my $fate = rand;
			$sql .= "SAVEPOINT s;\n" if $fate < 0.5;
			$sql .= add($set, $clock, 0, @some);
			$sql .= "ROLLBACK TO s;\n" if $fate < 0.2;
			$sql .= "RELEASE s;\n" if $fate >= 0.2 && $fate < 0.4;
			$sql .= remove($set, $clock, rand() < 0.5 ? $some[0] : 1 + int rand $range) if $removes && rand() < 0.3;
		}
	}
	$sql .= remove($set, $clock, 1 + int rand $range) if $removes && rand() < 0.3;
	return $sql . ($end < 0.15 ? "ROLLBACK;\n" :
		  $end < 0.25 ? "PREPARE TRANSACTION '$name';\n" . (rand() < 0.3 ? 'ROLLBACK' : 'COMMIT') . " PREPARED '$name';\n" :
		  "COMMIT;\n");
}

# Run all sessions on a set, with so many transactions each.
sub stress
{
	my ($what, $create, $transactions, $range, $clock, $arrays, $removes) = @_;
	my $expected = $removes ? qr/could not serialize|deadlock detected/ : qr/could not serialize/;
	my @sql;

	answer("DROP TABLE IF EXISTS s, tried, removed; TRUNCATE told; CREATE TABLE tried (key int); CREATE TABLE removed (key int); SELECT $create");
	foreach my $session (1 .. SESSIONS)
	{
		my $sql = '';

		$sql .= transaction("p$session", 's', $clock, $range, $arrays, $removes) foreach 1 .. $transactions * $times;
		# nothing that is live is deleted, and keys move
		$sql .= "SELECT bloom_set_compact('s');\n" x 3 if $clock;
		push @sql, $sql;
	}
	my $errors = end_sessions(start_sessions(@sql));
	# after the failure of a transaction, its other statements and what it would have prepared
	my @unexpected = grep { /ERROR/ && !/$expected|current transaction is aborted|savepoint "s" does not exist|prepared transaction with identifier/ } split /\n/, $errors;
	my $retried = () = $errors =~ /ERROR:  (?:$expected)/g;

	is("@unexpected[0 .. ($#unexpected < 2 ? $#unexpected : 2)]", '', "$what: only serialization failures");
	note "$what: $retried serialization failures and deadlocks of " . SESSIONS * $transactions * $times . ' transactions';
	my $at = $clock ? ", $first + interval '2 hours'" : '';
	# how often each was told new, less how often it was removed
	answer('DROP TABLE IF EXISTS balances; CREATE TABLE balances AS SELECT key, sum(n) AS n FROM (SELECT key, 1 FROM told UNION ALL SELECT key, -1 FROM removed) AS s (key, n) GROUP BY key');
	is(answer('SELECT count(*) FROM balances WHERE n NOT IN (0, 1)'),
		0, "$what: no key was new twice, or removed twice");
	is(answer("SELECT count(*) FROM balances WHERE bloom_set_contains('s', key$at) <> (n = 1)"),
		0, "$what: no key is denied" . ($removes ? ', and none that was removed is there' : ''));
	cmp_ok(answer('SELECT count(*) FROM removed'), '>', 50 * $times, "$what: keys were removed") if $removes;
	is(answer('SELECT count(*) FROM (SELECT key FROM tried EXCEPT SELECT key FROM told) AS never'),
		0, "$what: each was new once");
	is(answer("SELECT count(*) FROM generate_series(1, $range) AS k WHERE bloom_set_contains('s', k$at) AND k NOT IN (SELECT key FROM tried)"),
		0, "$what: nothing else is there");
	answer("SELECT bt_index_check('s_pkey', true)");
	note answer(q{SELECT 'tried ' || (SELECT count(DISTINCT key) FROM tried) || ', ranges ' || count(*) FILTER (WHERE lane = 0) || ', lanes ' || count(*) FILTER (WHERE lane > 0) || ', bytes ' || pg_total_relation_size('s') FROM s});
	return;
}

# Sessions that add and remove keys of their own, so that each answer is known; others add
# arrays, which merge and split the ranges of those keys, and hold them until they commit
# or roll back, compact the set, or lock its rows by SQL.
answer(q{
	CREATE TABLE answered (session int, call text, wrong bigint, calls bigint);
	CREATE PROCEDURE remove_own(session int, calls int) LANGUAGE plpgsql AS $$
	DECLARE
		there boolean[] := array_fill(false, ARRAY[100]);
		n int;
		removes boolean;
		answer boolean;
		wrong bigint := 0;
		nremoves bigint := 0;
	BEGIN
		PERFORM setseed(session / 100.0);
		FOR i IN 1 .. calls LOOP
			n := 1 + floor(random() * 100);
			removes := random() < 0.5;
			IF removes THEN
				answer := bloom_set_remove('s', session * 1000 + n);
			ELSE
				answer := bloom_set_add('s', session * 1000 + n);
			END IF;
			wrong := wrong + (answer <> (there[n] = removes))::int;
			nremoves := nremoves + (answer AND removes)::int;
			IF random() < 0.2 THEN
				ROLLBACK;
			ELSE
				COMMIT;
				there[n] := NOT removes;
			END IF;
		END LOOP;
		INSERT INTO answered VALUES (session, 'call', wrong, calls), (session, 'removed', 0, nremoves),
			(session, 'test', (SELECT count(*) FROM generate_series(1, 100) AS k WHERE bloom_set_contains('s', session * 1000 + k) <> there[k]), 100);
	END
	$$;
	CREATE PROCEDURE disturb(session int, calls int) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM setseed(session / 100.0);
		FOR i IN 1 .. calls LOOP
			IF session = 8 AND random() < 0.7 THEN
				PERFORM FROM s WHERE lane = 0 OR random() < 0.5 FOR KEY SHARE SKIP LOCKED;
			ELSIF random() < 0.2 THEN
				PERFORM bloom_set_compact('s');
			ELSE
				PERFORM bloom_set_add_all('s', ARRAY(SELECT 100000 * session + floor(random() * 3000)::int FROM generate_series(1, 1 + floor(random() * 100)::int)));
			END IF;
			IF random() < 0.3 THEN
				PERFORM pg_sleep(0.002);
			END IF;
			IF random() < 0.3 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$});
foreach my $create (create_set('s', 'int', 'seed => 1'), create_set('s', 'int', 'seed => 1', "keep => '12 hours'"))
{
	my $calls = 300 * $times;

	answer("DROP TABLE IF EXISTS s; TRUNCATE answered; SELECT $create");
	is(end_sessions(start_sessions(map { "CALL " . ($_ <= 5 ? 'remove_own' : 'disturb') . "($_, $calls);" } 1 .. SESSIONS)), '', 'removals: no errors');
	is(answer("SELECT sum(wrong) FROM answered WHERE call = 'call'"), 0, 'removals: each answer is right');
	is(answer("SELECT sum(wrong) FROM answered WHERE call = 'test'"), 0, 'removals: what is there in the end is right');
	cmp_ok(answer("SELECT sum(calls) FROM answered WHERE call = 'removed'"), '>', 200 * $times, 'removals: many keys were removed');
	answer("SELECT bt_index_check('s_pkey', true)");
}

foreach my $arrays (0, 1)
{
	my $what = $arrays ? 'arrays' : 'single keys';

	stress("many keys, $what", create_set('s', 'int', 'seed => 1'), 60, 20000, 0, $arrays);
	stress("few keys, $what", create_set('s', 'int', 'seed => 1'), 60, 1000, 0, $arrays);
	stress("few keys, $what, removed", create_set('s', 'int', 'seed => 1'), 60, 500, 0, $arrays, 1);
	stress("time slices, $what", create_set('s', 'int', 'seed => 1', "keep => '12 hours'"), 60, 5000, 1, $arrays);
}

$node->stop;
done_testing();
