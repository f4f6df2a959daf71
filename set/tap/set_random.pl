#
# Stored sets: random transactions of which every answer is predicted, by
# test/model/sets.py, on a library whose ranges are small, and split after a few keys,
# and which pauses between the steps of its calls.
#
# BLOOM_SETS_CALLS is the number of calls, for each set; BLOOM_SETS_SEED another seed.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
plan skip_all => "needs Debian's python3-psycopg2" if system("$python -c 'import psycopg2' 2>/dev/null") != 0;

my $calls = $ENV{BLOOM_SETS_CALLS} // 4000;
my $seed = $ENV{BLOOM_SETS_SEED} // 1;
my $node = start_small_server('bloomtype_set', 'random', "fsync = off\nautovacuum = off\n", '-DBLOOM_PAUSE_AT_RANDOM');
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres');

foreach my $form ('', '--keep --capacity', '--unlogged --sessions 6 --keys 150')
{
	my $said = `$python $FindBin::RealBin/../../test/model/sets.py --calls $calls --seed $seed $form 2>&1`;
	my ($verdict) = $said =~ /^((?:not )?ok of .*)$/m;

	is($?, 0, "$form " . ($verdict // 'failed')) or diag $said;
	note $said;
	# it has done what it is for
	foreach my $what ('told new', 'removed', 'removed in blocks', 'waited', 'waited, and went on', 'races', 'serialization failures', 'prepared', 'savepoints',
		'rows written or locked by SQL', 'rows deleted by SQL', 'null keys', 'vacuums', 'rewritten', 'rewritten in a transaction', 'restored')
	{
		ok($said =~ /^# $what: \d+$/m, "$form: $what");
	}
}

$node->stop;
done_testing();
