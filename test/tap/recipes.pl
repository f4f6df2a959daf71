#
# The recipes that should read less than all do so, as they stand on the pages, on
# more rows: the filter is used, and a tenth of the rows at most is read, be the
# table of filters analysed or not.
#
use strict;
use warnings;

use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require './scripts/doc-examples';

my $node = PostgreSQL::Test::Cluster->new('recipes');
$node->init;
# Autovacuum would analyse some tables, at some time.
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->start;

# recipe FILE, SECTION: the statements of its examples; a statement is a query if it
# begins with SELECT.
sub recipe
{
	my ($file, $section) = @_;
	my $doc = read_examples($file);
	my ($begin) = grep { $doc->{lines}[ $_ - 1 ] eq "## $section\n" } 1 .. @{ $doc->{lines} };
	die "$file has no section $section" if !defined $begin;
	my ($end) = grep { ($doc->{lines}[ $_ - 1 ] // '## ') =~ /^## / } $begin + 1 .. @{ $doc->{lines} } + 1;

	return map { split /;[ \t]*(?:--.*)?\n\s*|;\s*$/, $_->{sql} =~ s/^\s*--.*\n//mgr } grep { $_->{line} > $begin && $_->{line} < $end } @{ $doc->{examples} };
}

# nodes PLAN: it, and all below it.
sub nodes
{
	my ($plan) = @_;

	return ($plan, map { nodes($_) } @{ $plan->{Plans} // [] });
}

# reads DATABASE, QUERY, TABLES: the rows of tables with such a name that the query
# reads, those that a filter drops included, and its plan.
sub reads
{
	my ($database, $query, $tables) = @_;
	my $plan = $node->safe_psql($database, "SET jit = off; EXPLAIN (ANALYZE, TIMING off, FORMAT json) $query");
	my @nodes = nodes(JSON::PP->new->decode($plan)->[0]{Plan});
	my $rows = 0;

	foreach my $scan (grep { ($_->{'Relation Name'} // '') =~ $tables } @nodes)
	{
		$rows += ($scan->{'Actual Rows'} + ($scan->{'Rows Removed by Filter'} // 0)) * $scan->{'Actual Loops'};
	}
	return ($rows, $plan);
}

# check NAME, FILE, SECTION, SIZES, TABLES, NROWS, QUERIES: run the statements with
# other numbers, and look at those that match.
my $number = 0;
sub check
{
	my ($name, $file, $section, $sizes, $tables, $nrows, @queries) = @_;

	foreach my $analyze ('ANALYZE of the large table', 'ANALYZE')
	{
		my $database = 'recipe' . $number++;
		my $done = 0;

		$node->safe_psql('postgres', "CREATE DATABASE $database");
		$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE');
		foreach my $statement (recipe($file, $section))
		{
			my $bigger = $statement;

			$bigger =~ s/\Q$_->[0]\E/$_->[1]/g foreach @$sizes;
			if (my ($query) = grep { $bigger =~ $_ } @queries)
			{
				$node->safe_psql($database, join ';', map { "ANALYZE $_" } split /\n/, $node->safe_psql($database, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '" . ($tables =~ s/^\(\?\^u?:(.*)\)$/$1/r) . "'"))
				  if $analyze =~ /large/;
				$node->safe_psql($database, 'ANALYZE') if $analyze eq 'ANALYZE';
				my ($rows, $plan) = reads($database, $bigger, $tables);
				ok($rows > 0 && $rows <= $nrows / 10, "$name: reads a tenth of the rows at most, after $analyze") or diag("$rows of $nrows rows\n$plan");
				like($plan, qr/\@>/, '... by a filter') if $bigger =~ /\@>/;
				$done++;
			}
			else { $node->safe_psql($database, $bigger) if $bigger =~ /\S/ }
		}
		is($done, scalar @queries, "$name: the queries are there");
		$node->safe_psql('postgres', "DROP DATABASE $database");
	}
	return;
}

my @thirty_days = ([ 'i / 1000', 'i / 10000' ], [ '9999)', '299999)' ], [ '(i * 7919) % 20000', '(i::bigint * 7919 % 600000)::int' ], [ '10000, 0.01)', '100000, 0.01)' ]);
check('rows of the days that saw a user', 'docs/cookbook.md', 'Which days saw this user?', \@thirty_days, qr/^visit$/, 300000, qr/JOIN visit USING/);
check('partitions that saw a user', 'docs/cookbook.md', 'Which days saw this user?', [ @thirty_days, [ 'CREATE TABLE visit_rest', <<'SQL' . 'CREATE TABLE visit_rest' ] ], qr/^visit_(\d|rest)/, 300000, qr/LATERAL/);
DO $$
BEGIN
	FOR i IN 2 .. 30 LOOP
		EXECUTE format('CREATE TABLE visit_%s PARTITION OF visit_by_day FOR VALUES FROM (%L) TO (%L)', i, date '2026-10-31' + i, date '2026-11-01' + i);
	END LOOP;
END
$$;
SQL
check('blocks of a log', 'docs/cookbook.md', 'A filter for each block of rows', [ [ '100000)', '200000)' ] ], qr/^log$/, 200000, qr/JOIN log ON/);
check('the latest rows', 'docs/dedup.md', 'The latest row of each key', [ [ '90000)', '300000)' ] ], qr/^click$/, 300000, qr/ORDER BY ts DESC/);

done_testing();
