# Mutants of the planner that knows of filters: each takes away one of its rules, and
# sql/scan_plan.sql, which has a query that the rule refuses, must tell.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Scan;
use Test::More;

my $scan = "$FindBin::RealBin/..";
my $node = PostgreSQL::Test::Cluster->new('plan');
$node->init(extra => [ '--locale=C', '-E', 'UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\njit = off\n");
$node->start;

# output_with LIBRARY: what pg_regress would compare
sub output_with
{
	my ($library) = @_;
	my $path = defined $library ? $library =~ s{/[^/]*$}{}r : '$libdir';
	local $ENV{PGOPTIONS} = "-c dynamic_library_path=$path";
	my ($stdout, $stderr);
	IPC::Run::run [ 'psql', '-X', '-a', '-q', '-d', $node->connstr('postgres'), '-f', "$scan/sql/scan_plan.sql" ],
		'>', \$stdout, '2>&1';
	return $stdout =~ s/^psql:[^ ]*:\d+: //gmr;
}

is(output_with(undef), slurp_file("$scan/expected/scan_plan.out"), 'the rules hold');
my @mutants = qw(
	plan_batches plan_cheap plan_fetched plan_filtered plan_index_only plan_keys plan_lookups
	plan_numbers plan_optional plan_order plan_passed plan_quiet plan_regret plan_share);
foreach my $mutant (@mutants)
{
	isnt(output_with(library_of($mutant)), slurp_file("$scan/expected/scan_plan.out"), "$mutant is caught");
}

done_testing();
