#
# bloom_seen in parallel plans where there is little shared memory, as in a container,
# whose /dev/shm has 64 MB by default: an answer, or an error that says what to do.
#
# The server runs in a mount namespace with a /dev/shm of 4 MB.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $small = 'mount -t tmpfs -o size=4m tmpfs /dev/shm && exec unshare -U --map-user=' . $> . ' --map-group=' . ($) + 0) . ' "$@"';

plan skip_all => 'no namespaces of mounts here'
	if $^O ne 'linux' || system("unshare -rm sh -c '$small' sh true >/dev/null 2>&1") != 0;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
	autovacuum = off
	fsync = off
	work_mem = '64MB'
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
	max_parallel_workers_per_gather = 2});

# what starts the server is our own pg_ctl
my ($pg_ctl) = grep { -x } map { "$_/pg_ctl" } split /:/, $ENV{PATH};
my $directory = PostgreSQL::Test::Utils::tempdir();
append_to_file("$directory/pg_ctl", "#!/bin/sh\nexec unshare -rm sh -c '$small' sh $pg_ctl \"\$\@\"\n");
chmod 0755, "$directory/pg_ctl";
{
	local $ENV{PATH} = "$directory:$ENV{PATH}";
	$node->start;
}

$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype;
	CREATE TABLE t AS SELECT i / 2 AS id FROM generate_series(0, 799999) AS i;
	CREATE FUNCTION expect(keys float8) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE 'ALTER TABLE t ALTER id SET (n_distinct = ' || keys || ')';
		ANALYZE t;
	END
	$$});
my $query = 'SELECT count(*), count(DISTINCT id) FROM (SELECT id, bloom_seen(id) OVER () AS seen FROM t) AS s WHERE NOT seen';

# The first table would take 6 MB.
$node->safe_psql('postgres', 'SELECT expect(-0.5)');
like($node->safe_psql('postgres', "EXPLAIN $query"), qr/Parallel Custom Scan \(bloom_seen\)/, 'for many keys: a parallel plan');
is($node->safe_psql('postgres', $query), '400000|400000', '... one process answers');
is($node->safe_psql('postgres', $query =~ s/bloom_seen\(id\)/bloom_seen(id, 400000, 1e-12)/r), '400000|400000', '... a filter, too');

# It would not, but those after it would.
$node->safe_psql('postgres', 'SELECT expect(1000)');
like($node->safe_psql('postgres', "EXPLAIN $query"), qr/Parallel Custom Scan \(bloom_seen\)/, 'for few keys: a parallel plan');
my ($status, $out, $errors) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");
like($errors, qr/ERROR:  53[12]00: /, '... without memory: an error');
like($errors, qr/HINT:  .*Enlarge \/dev\/shm, set max_parallel_workers_per_gather to 0 for this query, or name a capacity/, '... that says what to do');
is($node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $query"), '400000|400000', '... the settings that it names');
is($node->safe_psql('postgres', $query =~ s/bloom_seen\(id\)/bloom_seen(id, 400000, 1e-12)/r), '400000|400000', '... the capacity that it names');

# What was shared is free again.
is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT id) FROM (SELECT id, bloom_seen(id) OVER () AS seen FROM t WHERE id < 40000) AS s WHERE NOT seen}),
	'40000|40000', 'after the errors: fewer keys, which fit');

$node->stop;
done_testing();
