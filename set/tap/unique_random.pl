#
# Unique keys: random transactions against a table with a real unique constraint, by
# test/model/unique.py, on a library whose sets answer falsely about half of the time,
# since they keep few bits of each hash, and that claims the keys of a statement in
# small batches, and looks up even two by a pass over the index.  One session, whose answers must be the same, and four at a time.
#
# BLOOM_UNIQUE_OPERATIONS is the number of operations of each; BLOOM_UNIQUE_SEED another seed.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
plan skip_all => "needs Debian's python3-psycopg2" if system("$python -c 'import psycopg2' 2>/dev/null") != 0;

my $operations = $ENV{BLOOM_UNIQUE_OPERATIONS} // 2500;
my $seed = $ENV{BLOOM_UNIQUE_SEED} // 1;
my $node = start_small_server('bloomtype_set', 'random', "deadlock_timeout = '50ms'\nfsync = off\nautovacuum = off\n",
	'-DSTORED_SET_MIN_BITS=12', '-DBLOOM_UNIQUE_KEPT_BITS=12', '-DBLOOM_UNIQUE_BATCH=5',
	'-DBLOOM_UNIQUE_MANY=2', '-DBLOOM_UNIQUE_PER_PAGE=1');
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres');

foreach my $sessions (1, 4)
{
	my $said = `$python $FindBin::RealBin/../../test/model/unique.py --sessions $sessions --operations $operations --seed $seed 2>&1`;
	my ($verdict) = $said =~ /^((?:not )?ok of .*)$/m;

	is($?, 0, $verdict // "$sessions sessions") or diag $said;
	note $said;
	# it has done what it is for
	foreach my $what ('refused', 'directly', 'inserted after a claim', 'claimed in vain', 'cascades', 'exchanged', 'prepared', 'savepoints',
		'attached', 'others attached', 'detached', 'made', 'truncated', 'restored', 'loaded', 'keeper rewrite', 'keeper validate', $sessions == 1 ? 'attach refused' : ())
	{
		ok($said =~ /^# $what: \d+$/m, "$sessions sessions: $what");
	}
}

$node->stop;
done_testing();
