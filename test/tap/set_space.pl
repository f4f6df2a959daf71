#
# Stored sets: the space that they take.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use Sets;
use Test::More;

my $node = start_server('space', "fsync = off\nautovacuum = off\n");

#
# Space that rows have left is used again when the transactions that others have
# open have ended, though these always have some open, which add to the set: here,
# the last four
#

answer('SELECT ' . create_set($_, 'int', 'capacity => 100000', 'seed => 1')) foreach 'held', 'alone';
my $add = "SELECT FROM bloom_set_add_all('%s', ARRAY(SELECT generate_series(%d00, %d99)));\n";
my ($held, $alone) = ('', '');
foreach my $i (1 .. 300)
{
	$held .= "BEGIN; " . sprintf($add, 'held', 10000 + $i, 10000 + $i) . "PREPARE TRANSACTION 'others $i';\n";
	$held .= "COMMIT PREPARED 'others " . ($i - 4) . "';\n" if $i > 4;
	$held .= sprintf $add, 'held', $i, $i;
	$alone .= sprintf $add, 'alone', $_, $_ foreach 10000 + $i, $i;
}
answer($held . join '', map { "COMMIT PREPARED 'others $_';\n" } 297 .. 300);
answer($alone);
# 1.9 times; 3.6 if only rows that move were noted, 5.2 if no session waited
cmp_ok(answer(q{SELECT round(1.0 * pg_relation_size('held') / pg_relation_size('alone'), 1)}), '<', 2.5, 'the table takes little more space');

$node->stop;
done_testing();
