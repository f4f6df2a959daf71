#
# bloom_seen in parallel plans: of the rows of a key, exactly one is told that it is new,
# whatever the processes do at the same time.  BLOOM_STRESS multiplies the rounds.
#
# Eight processes read pages with the same keys at the same time, and give way to each
# other in the middle of an add.  Tables begin with room for 49,152 keys, since the
# planner expects few, and grow several times.  The same queries must fail on mutants.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use Server;
use Test::More;

use constant WORKERS => 7;

my $rounds = 2 * ($ENV{BLOOM_STRESS} // 1);
my %mutants = (seen_swap => 'exact', seen_closed_first => 'exact', seen_lock_by_value => 'several blocks');
my $node = start_small_server('bloomtype', 'seen_parallel', 'max_worker_processes = ' . (WORKERS + 4)
	. "\nmax_parallel_workers = " . WORKERS . "\nmax_parallel_workers_per_gather = " . WORKERS
	. "\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nwork_mem = '64MB'\nautovacuum = off\nfsync = off\njit = off\n",
	'-DBLOOM_PAUSE_BRIEFLY');

# The keys of 226 rows, which are a page, are the same on several pages
sub make_tables
{
	my ($database) = @_;

	$node->safe_psql($database, q{
		-- eight pages in turn, read one by one
		CREATE TABLE near AS SELECT hashint8extended(i / (226 * 8) * 226 + i % 226, 1) AS id FROM generate_series(0, 450000) AS i;
		-- eight pages and the next eight; so many are read by one process
		CREATE TABLE many AS SELECT hashint8extended(i / (226 * 16) * 226 * 8 + i % (226 * 8), 2) AS id FROM generate_series(0, 800000) AS i;
		-- a thousand, everywhere
		CREATE TABLE hot AS SELECT hashint8extended(hashint8extended(i, 3) & 1023, 3) AS id FROM generate_series(0, 300000) AS i;
	});
	$node->safe_psql($database, "ALTER TABLE $_ SET (parallel_workers = " . WORKERS . ')') foreach qw(near many hot);
	return;
}

my %form = (
	'exact' => 'bloom_seen(id) OVER ()',
	'one block' => 'bloom_seen(id, 1e6, 0.01) OVER ()',
	'several blocks' => 'bloom_seen(id, 5e5, 1e-9) OVER ()');

# What the planner is to expect: few keys, so that a table grows from small beginnings;
# many, since it shares no filter that is far too large for its keys.
sub expect_keys
{
	my ($database, $form) = @_;
	my $n = $form eq 'exact' ? 1000 : 400000;

	$node->safe_psql($database, join('', map { "ALTER TABLE $_ ALTER id SET (n_distinct = $n);" } qw(near many hot)) . 'ANALYZE');
	return;
}

# How many rows are told that they are new, and how many keys these have
sub seen
{
	my ($database, $form, $table) = @_;
	my ($status, $out, $err) = $node->psql($database, "
		SELECT count(*), count(DISTINCT id) FROM (SELECT id, $form{$form} AS seen FROM $table) AS s WHERE NOT seen");
	return $status == 0 ? $out : $err;
}

make_tables('postgres');
my %keys = map { $_ => $node->safe_psql('postgres', "SELECT count(DISTINCT id) FROM $_") } qw(near many hot);

foreach my $form (sort keys %form)
{
	expect_keys('postgres', $form);
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, TIMING OFF)
		SELECT count(*) FROM (SELECT id, $form{$form} AS seen FROM many) AS s WHERE NOT seen");
	like($plan, qr/Parallel Custom Scan \(bloom_seen\)/, "$form: in parallel");
	like($plan, qr/Workers Launched: ${\ WORKERS}/, '... by all workers');

	foreach my $table (qw(near many hot))
	{
		my %told;
		$told{ seen('postgres', $form, $table) }++ for 1 .. $rounds;
		if ($form eq 'one block')
		{
			# some keys are lost, of which nobody can say which
			my @wrong = grep { !/^(\d+)\|\1$/ || $1 > $keys{$table} || $1 < $keys{$table} * 0.98 } keys %told;
			is("@wrong", '', "$form, $table: no key is told twice");
		}
		else
		{
			is_deeply(\%told, { "$keys{$table}|$keys{$table}" => $rounds }, "$form, $table: each key once");
		}
	}
}

foreach my $mutant (sort keys %mutants)
{
	my $answer;
	my $tries = 0;

	use_mutant($mutant);
	make_tables($mutant);
	expect_keys($mutant, $mutants{$mutant});
	do
	{
		$answer = seen($mutant, $mutants{$mutant}, 'near');
	} while ($answer eq "$keys{near}|$keys{near}" && ++$tries < 20);
	isnt($answer, "$keys{near}|$keys{near}", "$mutant is caught");
	note "in try $tries: $answer";
}

$node->stop;
done_testing();
