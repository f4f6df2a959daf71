#
# kill -9 of the whole server in the middle of adds and unions, over and over.
#
# BLOOMTYPE_KILLS is how often (5).  What was committed is in, what was not is
# out, in stored sets as in filters in a column.
#
use strict;
use warnings;

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use lib "$FindBin::RealBin/..";
use Server qw(kill_server start_again);
use Test::More;

my $kills = $ENV{BLOOMTYPE_KILLS} || 5;
my $sessions = 3;
srand(20261121);

my $node = PostgreSQL::Test::Cluster->new('kill');
$node->init;
$node->append_conf('postgresql.conf', "max_connections = 20\nfull_page_writes = on\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype_set CASCADE;
	SELECT bloom_set_create('seen', 'bigint');
	SELECT bloom_set_create('lately', 'bigint', keep => '900 years');
	-- in keys form, so that its cardinality is exact
	CREATE TABLE united (id int PRIMARY KEY, f bloom);
	CREATE TABLE told (id int, key int);
	CREATE PROCEDURE add_until_killed(id int) LANGUAGE plpgsql AS $$
	DECLARE
		k int := id * 100000;
	BEGIN
		INSERT INTO united VALUES (add_until_killed.id, bloom_empty(1000000));
		COMMIT;
		LOOP
			k := k + 1;
			INSERT INTO told VALUES (add_until_killed.id, k);
			PERFORM bloom_set_add('seen', k), bloom_set_add_all('lately', ARRAY[k, -k]);
			UPDATE united AS u SET f = u.f | bloom_add(bloom_empty(1000000), k) WHERE u.id = add_until_killed.id;
			-- some are rolled back
			IF k % 7 = 0 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$});

sub answer
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

my $committed = 0;
my ($lost, $left, $broken) = (0, 0, 0);
for my $cycle (1 .. $kills)
{
	my @running;
	foreach my $session (1 .. $sessions)
	{
		my $id = $cycle * $sessions + $session;
		my $run = { out => '', err => '' };
		$run->{handle} = IPC::Run::start(
			[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "CALL add_until_killed($id)" ],
			'<', \undef, '>', \$run->{out}, '2>', \$run->{err});
		push @running, $run;
	}
	# all of them: one that connects later would outlive the list of processes
	my $enough = $committed + 10 + int(rand(100));
	my $all = $cycle * $sessions;
	$node->poll_query_until('postgres', "SELECT count(*) > $enough AND count(DISTINCT id) = $all FROM told")
	  or die 'the sessions do not add';
	kill_server($node);
	$_->{handle}->finish foreach @running;
	start_again($node);

	my $first = ($cycle * $sessions + 1) * 100000;
	my $last = ($cycle * $sessions + $sessions + 1) * 100000;
	my @found = split /\|/, answer(qq{
		SELECT (SELECT count(*) FROM told
				WHERE NOT bloom_set_contains('seen', key) OR NOT bloom_set_contains('lately', key)
				   OR NOT bloom_set_contains('lately', -key)),
			   -- keys that were not committed, among the next thousand of each session
			   (SELECT count(*) FROM (SELECT id, max(key) AS key FROM told WHERE key BETWEEN $first AND $last GROUP BY id) AS t,
					   LATERAL generate_series(id * 100000 + 1, key + 1000) AS k
				WHERE (bloom_set_contains('seen', k) OR bloom_set_contains('lately', k))
				  AND NOT EXISTS (SELECT FROM told WHERE told.key = k)),
			   (SELECT count(*) FROM united AS u LEFT JOIN
					   (SELECT id, count(*) AS n, array_agg(key) AS keys FROM told GROUP BY id) AS t USING (id)
				WHERE bloom_cardinality(f) <> coalesce(n, 0) OR NOT coalesce(bloom_contains_all(f, keys), true)),
			   (SELECT count(*) FROM told)});
	$lost += $found[0];
	$left += $found[1];
	$broken += $found[2];
	$committed = $found[3];
}
cmp_ok($committed, '>', 10 * $kills, "$committed keys were committed between $kills kills");
is($lost, 0, 'no committed key is lost from a set');
is($left, 0, 'no key is in a set that was not committed');
is($broken, 0, 'the filters in a column hold just what was committed');

$node->stop;
done_testing();
