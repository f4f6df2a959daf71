#
# Stored sets: the space that they take.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_server('space', "fsync = off\nautovacuum = off\n");

#
# Space that rows have left is used again when the transactions that others have
# open have ended, though these always have some open, which add to the set: here,
# the last four
#

answer('SELECT ' . create_set($_, 'int', 'seed => 1')) foreach 'held', 'alone';
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

#
# Adds in many statements of one transaction: what one statement leaves, 0.6 MB,
# and not a version of a row for each
#

answer('SELECT ' . create_set('statements', 'int', 'seed => 1'));
answer(q{
	DO $$
	BEGIN
		FOR i IN 1 .. 40000 LOOP
			PERFORM bloom_set_add('statements', i);
		END LOOP;
	END
	$$});
cmp_ok(answer(q{SELECT pg_relation_size('statements')}), '<=', 2 * 1024 * 1024, '40,000 adds in a transaction, a statement each, leave at most 2 MB');
is(answer(q{SELECT cardinality(bloom_set_missing('statements', ARRAY(SELECT generate_series(1, 40000))))}), 0, 'none is denied');

#
# While an old snapshot is held anywhere, rows have versions that nobody can remove.
# A test reads those that it may see, and passes over the others: it reads at most
# three times the pages.
#

answer(q{
	CREATE PROCEDURE add_singles(set regclass) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 100000 LOOP
			PERFORM bloom_set_add(set, i);
			COMMIT;
		END LOOP;
	END
	$$});
answer('SELECT ' . create_set($_, 'int', 'seed => 1')) foreach 'free', 'under_snapshot';
answer(q{CALL add_singles('free')});
# to the horizon, a prepared transaction is what an old snapshot is
answer(q{BEGIN; INSERT INTO told VALUES ('', 0, 0); PREPARE TRANSACTION 'old'});
answer(q{CALL add_singles('under_snapshot')});

# pages that 200 statements, with a test each, read of a set
sub pages
{
	my ($set) = @_;
	my $plan = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT bloom_set_contains('$set', %d);\n";
	my $explained = answer(join '', map { sprintf $plan, 500 * $_ } 1 .. 200);
	my $pages = 0;

	$pages += $1 + ($2 // 0) while $explained =~ /Buffers: shared hit=(\d+)(?: read=(\d+))?/g;
	return $pages;
}
my ($held_pages, $free_pages) = map { pages($_) } 'under_snapshot', 'free';
cmp_ok($held_pages, '<=', 3 * $free_pages, "200 tests read $held_pages pages under an old snapshot, $free_pages without");
answer(q{ROLLBACK PREPARED 'old'});
is(answer(q{SELECT cardinality(bloom_set_missing('under_snapshot', ARRAY(SELECT generate_series(1, 100000))))}), 0, 'none is denied');

$node->stop;
done_testing();
