# bloom_seen's plan node beside another library whose hook looks for windows, as
# TimescaleDB's does for time_bucket_gapfill, in either order of loading.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $module = "${PostgreSQL::Test::Utils::tmp_check}/hooks.so";
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $include = `$pg_config --includedir-server`);
system_or_bail('gcc', '-shared', '-fPIC', "-I$include", '-o', $module, 'test/tap/hooks.c');

my $groups = q{SELECT id, n, bloom_seen(n) OVER () FROM (SELECT 1) AS s, LATERAL (SELECT i % 10 AS id, count(*) AS n FROM generate_series(1, 105) AS i GROUP BY 1) AS g};
my $above = q{SELECT i % 10 AS id, count(*) AS n, bloom_seen(count(*)) OVER () AS seen FROM generate_series(1, 105) AS i GROUP BY 1};
my $rows = q{SELECT bloom_seen(i % 10) OVER () FROM generate_series(1, 105) AS i};

for my $order ("bloomtype,$module", "$module,bloomtype")
{
	my $name = $order =~ /^bloomtype/ ? 'it runs after ours' : 'it runs before ours';
	my $node = PostgreSQL::Test::Cluster->new($order =~ /^bloomtype/ ? 'after' : 'before');
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$order'");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE NOT seen) FROM ($above) AS s"),
		'10|2', "$name: its path below the window");
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE NOT bloom_seen) FROM ($groups) AS s"),
		'10|2', "$name: its path in a sub-select");
	like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $rows"), qr/Custom Scan \(bloom_seen\)/,
		"$name: other windows have the node");
	$node->stop;
}

# the other library's hook is the only reason
my $node = PostgreSQL::Test::Cluster->new('alone');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bloomtype'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $above"), qr/Custom Scan \(bloom_seen\)/,
	'above groups, without another library');

done_testing();
