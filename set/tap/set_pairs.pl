#
# Stored sets: every pair of what a transaction can do, while another transaction,
# which is prepared, has keys in the same range.  That ends before, between or
# after the two, and is committed or rolled back.  Then all is done once more.
#
# Each transaction logs what it adds, and what it is told to be new.
#
use strict;
use warnings;

use FindBin;
use POSIX 'strftime';
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_small_server('bloomtype_set', 'pairs', "fsync = off\n");

answer(q{
	-- whoever waits but where it is expected is found out
	ALTER DATABASE postgres SET statement_timeout = '20s';
	ALTER DATABASE postgres SET client_min_messages = error;
	-- what is live in the end begins here
	CREATE TABLE program (id int PRIMARY KEY, what text, live timestamptz, now timestamptz);
	CREATE TABLE new (program int, key int, at timestamptz);
	CREATE TABLE tried (program int, key int, at timestamptz);
	CREATE TABLE compacted (program int, moved bigint);
	CREATE TABLE removed (program int, key int, at timestamptz);
	CREATE TABLE blocked (program int, key int);
	CREATE FUNCTION add_key(program int, k int, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF bloom_set_add(('s' || program)::regclass, k, at) THEN
			INSERT INTO new VALUES (program, k, at);
		END IF;
		INSERT INTO tried VALUES (program, k, at);
	END
	$$;
	CREATE FUNCTION remove_key(program int, k int, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF bloom_set_remove(('s' || program)::regclass, k, at) THEN
			INSERT INTO removed VALUES (program, k, at);
		END IF;
	END
	$$;
	-- the other transaction can hold the row of the key
	CREATE FUNCTION try_remove(program int, k int, at timestamptz) RETURNS void LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
	BEGIN
		PERFORM remove_key(program, k, at);
	EXCEPTION WHEN lock_not_available THEN
		INSERT INTO blocked VALUES (program, k);
	END
	$$;
	CREATE FUNCTION add_keys(program int, keys int[], at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO new SELECT program, k, at FROM unnest(bloom_set_add_all(('s' || program)::regclass, keys, at)) AS k;
		INSERT INTO tried SELECT program, k, at FROM unnest(keys) AS k WHERE k IS NOT NULL;
	END
	$$;
	-- committed keys in a lane, perhaps beside a list: the first of them moves
	-- those of the array
	CREATE PROCEDURE fill(program int, at timestamptz, with_list boolean) LANGUAGE plpgsql AS $$
	BEGIN
		IF with_list THEN
			PERFORM add_keys(program, ARRAY(SELECT generate_series(301, 330)), at);
			COMMIT;
		END IF;
		FOR k IN 1 .. 12 LOOP
			PERFORM add_key(program, k, at);
			COMMIT;
		END LOOP;
	END
	$$});

my @features = ('savepoint', 'two-phase', 'REPEATABLE READ', 'SERIALIZABLE', 'array', 'growth', 'slice', 'expiry', 'compaction', 'removal', 'cancel');
my $number;

# A time, so many hours after that of an hour ago
my $hour_ago = time - 3600;
sub hours { my ($hours) = @_; return strftime('%Y-%m-%d %H:%MZ', gmtime($hour_ago + $hours * 3600)) }

# Statements that add keys, a statement each, or all in an array.
sub add_key { my ($at, @keys) = @_; return join '', map { "SELECT FROM add_key($number, $_, '$at');\n" } @keys }
sub add_keys { my ($at, @keys) = @_; return "SELECT FROM add_keys($number, '{" . join(',', @keys) . "}', '$at');\n" }

# Statements that remove keys, and wait for nobody.
sub remove_key { my ($at, @keys) = @_; return join '', map { "SELECT FROM remove_key($number, $_, '$at');\n" } @keys }
sub try_remove { my ($at, @keys) = @_; return join '', map { "SELECT FROM try_remove($number, $_, '$at');\n" } @keys }

sub compact { return "INSERT INTO compacted SELECT $number, bloom_set_compact('s$number');\n" }

# What there is to do for a feature.
my %action = (
	'savepoint' => sub { "SAVEPOINT a;\n" . add_key($_[0], 111, 112, 113) . "ROLLBACK TO a;\n" . add_key($_[0], 112) . "RELEASE a;\nSAVEPOINT b;\n" . add_key($_[0], 114) . "RELEASE b;\n" },
	'array' => sub { add_keys($_[0], 121, 122, 121, 1, 'NULL', 123 .. 140, 122) },
	'growth' => sub { add_keys($_[0], 1001 .. 1150) . add_key($_[0], 1151 .. 1155) },
	# an hour later
	'slice' => sub { add_key(hours(1), 131, 1, 132, 101) },
	'expiry' => sub { compact() . add_key($_[0], 1, 141) },
	'compaction' => sub { compact() . add_key($_[0], 151, 2, 152) . compact() },
	# own keys, in lanes of this subtransaction and of another; keys that are in a lane or a
	# list; none at all; and the first and last of these once more
	'removal' => sub { add_key($_[0], 171 .. 174) . remove_key($_[0], 172) . "SAVEPOINT r;\n" . add_key($_[0], 175) . remove_key($_[0], 171, 175) . "RELEASE r;\n"
		  . try_remove($_[0], 4, 5, 301, 302, 999) . add_key($_[0], 171, 5, 302) . "SAVEPOINT r;\n" . try_remove($_[0], 6, 303) . "ROLLBACK TO r;\n" },
	# 201 is the other's
	'cancel' => sub { "SAVEPOINT c;\nSET LOCAL statement_timeout = '20ms';\n" . add_keys($_[0], 161, 162, 201) . "ROLLBACK TO c;\n" . add_key($_[0], 161) });

# A program with these two features.  The other transaction ends at this point: 0
# before them, 1 between, 2 after.
sub program
{
	my ($first, $second, $point, $end) = @_;
	my %has = ($first => 1, $second => 1);
	my $other_end = "$end PREPARED 'other $number';";
	my $from_outside = sub { $_[0] == $point ? "\\! psql -XAtq -d \"" . $node->connstr('postgres') . "\" -c \"$other_end\"\n" : '' };
	my ($level, $other_level) = ('READ COMMITTED', 'READ COMMITTED');
	my $keeps = $has{slice} || $has{expiry};
	my $create = create_set("s$number", 'int', 'seed => 1',
		$keeps ? ("keep => '4 hours'") : ());

	foreach my $feature ($first, $second)
	{
		next unless $feature =~ /READ|SERIAL/;
		$other_level = $feature;
		$level = $feature if $level eq 'READ COMMITTED';
	}
	# the keys that are there first have expired by the clock, or not
	my $at = hours(0);
	my $before = $has{expiry} ? hours(-6) : $at;
	my $live = $has{expiry} ? hours(-4.5) : hours(-0.5);
	my $now = $has{expiry} && !$has{slice} ? $at : hours(1);

	# the set, and the other transaction, which has keys in an old slice, too
	my $sql = "SELECT $create;\nINSERT INTO program VALUES ($number, '$first, $second, other transaction: $end ($point)', '$live', '$now');\n"
	  . "CALL fill($number, '$before', " . ($has{compaction} || $has{removal} ? 'true' : 'false') . ");\nBEGIN ISOLATION LEVEL $other_level;\n" . add_key($at, 201 .. 205) . add_keys($at, 206, 207, 206)
	  . ($keeps ? add_key($before, 209) : '')
	  . "PREPARE TRANSACTION 'other $number';\n";

	# a call that waits for the other is cancelled: first, in a savepoint; or last,
	# and then it ends the transaction
	my @features = $has{cancel} && $point == 1 ? ($second, $first) : ($first, $second);
	my @actions = map { $action{$_} ? $action{$_}->($at) : '' } @features;
	$actions[1] =~ s/^SAVEPOINT c;\n|^ROLLBACK TO c;\n.*//gms if $has{cancel} && $point == 2;

	my $begin = "BEGIN ISOLATION LEVEL %s;\n" . add_key($at, 101, 3);
	my $commit = $has{'two-phase'} ? "PREPARE TRANSACTION 'own $number';\n" : "COMMIT;\n";
	my $after = $has{'two-phase'} ? "COMMIT PREPARED 'own $number';\n" : '';
	$sql .= sprintf($begin, $level) . $from_outside->(0) . $actions[0] . add_key($at, 102) . $from_outside->(1) . $actions[1] . add_key($at, 103)
	  . $commit . $from_outside->(2) . $after;
	# once more, when nobody is waited for
	s/^SET LOCAL .*\n//m foreach @actions;
	$sql .= sprintf($begin, 'READ COMMITTED') . join(add_key($at, 102), @actions) . add_key($at, 103, 201 .. 207) . $commit . $after;
	return $sql;
}

# Three sessions share the programs.
my @sql = ('', '', '');
$number = 0;
foreach my $first (0 .. $#features)
{
	foreach my $second ($first + 1 .. $#features)
	{
		foreach my $point (0 .. 2)
		{
			$sql[ $number % 3 ] .= "\\echo $number\n" . program($features[$first], $features[$second], $point,
				($first + $second + $point) % 2 ? 'COMMIT' : 'ROLLBACK');
			$number++;
		}
	}
}
is($number, 165, '55 pairs, three times each');
my $errors = end_sessions(start_sessions(@sql));
my $expected = qr/could not serialize access|canceling statement due to statement timeout|current transaction is aborted|savepoint "\w" does not exist|prepared transaction with identifier "own \d+" does not exist/;
my @unexpected = grep { /ERROR|FATAL/ && !/$expected/ } split /\n/, $errors;
my ($serialized, $cancelled) = map { my $n = () = $errors =~ /$_/g; $n } 'could not serialize', 'canceling statement';

is(join("\n", @unexpected[ 0 .. ($#unexpected < 4 ? $#unexpected : 4) ]), '', 'no other errors than were expected');
note "$serialized serialization failures, $cancelled statements were cancelled";
# 10 pairs, two points at which the other is still open; but a SERIALIZABLE
# transaction can fail before that
cmp_ok($cancelled, '>=', 18, 'calls that wait were cancelled');
is(answer(q{SELECT count(*) FROM pg_prepared_xacts}), 0, 'all have ended');
is(answer(q{SELECT count(*) FROM program}), $number, 'all have run');

# What is wrong with these keys, by the log: the first five
sub wrong
{
	my ($keys) = @_;
	return answer("SELECT string_agg(format('%s in %s (%s)', key, program, what), ', ') FROM (SELECT program, key, what FROM ($keys) AS k JOIN program ON id = program ORDER BY program, key LIMIT 5) AS s");
}
# how often it was told new since the time from which keys are live, less how often it was removed
answer(q{
	CREATE VIEW balance AS SELECT program, key, is_live, sum(n) AS n
	FROM (SELECT program, key, at >= live AS is_live, 1 FROM new JOIN program ON id = program
		UNION ALL SELECT program, key, at >= live, -1 FROM removed JOIN program ON id = program) AS s (program, key, is_live, n)
	GROUP BY program, key, is_live});
is(wrong(q{SELECT program, key FROM balance WHERE n > 1}),
	'', 'no key is told new twice, but after it was removed');
is(wrong(q{SELECT program, key FROM balance WHERE n < 0}),
	'', 'none is removed twice, but after it was told new');
is(wrong(q{SELECT DISTINCT t.program, t.key FROM tried AS t JOIN program ON id = program JOIN balance AS b ON (b.program, b.key) = (t.program, t.key) AND b.is_live
	WHERE at >= live AND n = 1 AND NOT bloom_set_contains(('s' || id)::regclass, t.key, now)}),
	'', 'none is denied');
is(wrong(q{SELECT program, key FROM tried JOIN program ON id = program WHERE at >= live EXCEPT SELECT program, key FROM new JOIN program ON id = program WHERE at >= live}),
	'', 'each was new once');
is(wrong(q{SELECT id AS program, key FROM program, (SELECT generate_series(1, 350) UNION ALL SELECT generate_series(1000, 1200)) AS k (key)
	WHERE bloom_set_contains(('s' || id)::regclass, key, now) EXCEPT (SELECT program, key FROM tried EXCEPT SELECT program, key FROM balance WHERE is_live AND n = 0)}),
	'', 'nothing else is there');
cmp_ok(answer(q{SELECT count(*) FROM removed}), '>=', 300, 'keys were removed');
cmp_ok(answer(q{SELECT count(*) FROM blocked}), '>=', 10, '... or the other transaction held them');
# at the latest when all is done once more
is(answer(q{SELECT count(*) FROM program WHERE what LIKE '%compaction%' AND what NOT LIKE '%expiry%' AND NOT EXISTS (SELECT FROM compacted WHERE program = id AND moved > 0)}),
	0, 'compaction moved keys in all other programs');
cmp_ok(answer(q{SELECT min(n) FROM (SELECT count(*) AS n FROM tried GROUP BY program) AS s}), '>=', 20, 'all had something to add');

$node->stop;
done_testing();
