#
# Counting filters: sixteen sessions change a table whose filter follows it; a
# crash; dump and restore; replication.
#
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 16;
my $node = PostgreSQL::Test::Cluster->new('counting');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_connections = 30\n");
$node->start;

sub psql_file
{
	my ($file, @options) = @_;
	my ($out, $err);
	my $ok = IPC::Run::run([ 'psql', '-X', @options, '-f', $file, '-d', $node->connstr('postgres') ],
		'>', \$out, '2>', \$err);

	ok($ok, "$file runs to its end") or diag($out, $err);
	is($err, '', 'without a warning');
	return $out;
}

my $out = psql_file('examples/maintained_filter.sql');
like($out, qr/^ *100000 \| +\d+ \| +9999 \| +0$/m, 'it compares with the exact answer');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'maintained_filter'}),
	0, 'it leaves nothing behind');

#
# Sixteen sessions insert, update and delete, some of it rolled back
#

psql_file('examples/maintained_filter.sql', '-v', 'keep=1');
$node->safe_psql('postgres', q{
	-- no key so often that its counters are full: 40 customers of each session
	CREATE PROCEDURE work(session int) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM setseed(session / 100.0);
		FOR round IN 1 .. 60 LOOP
			INSERT INTO maintained_filter.orders (customer)
			SELECT session || '-' || trunc(random() * 40) FROM generate_series(1, 1 + trunc(random() * 8)::int);
			IF random() < 0.5 THEN
				UPDATE maintained_filter.orders SET customer = session || '+' || trunc(random() * 40)
				WHERE customer = session || '-' || trunc(random() * 40);
			END IF;
			IF random() < 0.7 THEN
				DELETE FROM maintained_filter.orders
				WHERE id IN (SELECT id FROM maintained_filter.orders
							 WHERE customer LIKE session || '_%' ORDER BY random() LIMIT 5);
			END IF;
			IF random() < 0.1 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$});
my @errors = ('') x $sessions;
my @workers = map
{
	IPC::Run::start([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-c', "CALL work($_)", '-d', $node->connstr('postgres') ],
		'<', \undef, '>', \my $worker_out, '2>', \$errors[ $_ - 1 ])
} 1 .. $sessions;
is((grep { !$_->finish } @workers), 0, 'sixteen sessions change the table');
is(join('', @errors), '', 'without an error');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM maintained_filter.orders'), '>', 100, 'and leave some of it');
is($node->safe_psql('postgres', 'SELECT max(n) < 15 FROM (SELECT count(*) AS n FROM maintained_filter.orders GROUP BY customer) AS c'),
	't', 'no key is there so often that its count must end');

my $check = q{
	SELECT f.filter = r.filter,
		   f.filter::bloom = (SELECT bloom_agg(customer, 20000, 0.01) FROM maintained_filter.orders),
		   (SELECT bool_and(f.filter @> customer) FROM maintained_filter.orders)
	FROM maintained_filter.customer_filter AS f, maintained_filter.recomputed AS r};
is($node->safe_psql('postgres', $check), 't|t|t', 'the filter is what it is when computed anew, and so is its cast');

#
# Durability
#

$node->safe_psql('postgres', q{
	CREATE TABLE filters (name text PRIMARY KEY, f counting_bloom);
	INSERT INTO filters VALUES ('null', NULL), ('empty', counting_bloom_empty(1000)), ('seed', counting_bloom_add(counting_bloom_empty(9, 0.5, -1), 5));
	INSERT INTO filters SELECT 'shapeless', counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 0) AS i;
	INSERT INTO filters SELECT 'keys', counting_bloom_agg(i % 50, 100000, 0.01) FROM generate_series(1, 100) AS i;
	INSERT INTO filters SELECT 'many keys', counting_bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 50000) AS i;
	INSERT INTO filters SELECT 'counters', counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i;
	INSERT INTO filters SELECT 'many counters', counting_bloom_agg(i, 300000, 0.01) FROM generate_series(1, 300000) AS i;
	INSERT INTO filters SELECT 'removed', counting_bloom_remove_all(f, array_agg(i)) FROM filters, generate_series(1, 990) AS i WHERE name = 'counters' GROUP BY f;
	INSERT INTO filters SELECT 'row', counting_bloom_agg((i, 'x'), 100, 0.01) FROM generate_series(1, 100) AS i});
my $state_query = q{
	SELECT count(*), md5(string_agg(name || coalesce(md5(f::bytea), '-'), ',' ORDER BY name COLLATE "C")),
		   md5(string_agg(counting_bloom_info(f)::text, ',' ORDER BY name COLLATE "C"))
	FROM filters};
my $before = $node->safe_psql('postgres', $state_query);
like($before, qr/^10\|/, 'there are ten filters');

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', q{UPDATE filters SET f = counting_bloom_add(f, 7) WHERE name = 'many counters';
	UPDATE filters SET f = counting_bloom_remove(f, 7) WHERE name = 'many counters'});
my $until = $node->lsn('write');
$node->wait_for_catchup($standby, 'replay', $until);
is($standby->safe_psql('postgres', $state_query), $before, 'a standby has the same filters');
$standby->stop;

$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $state_query), $before, 'they survive a crash');

my $dump = $PostgreSQL::Test::Utils::tmp_check . '/counting.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', $state_query), $before, 'they survive dump and restore');
is($node->safe_psql('restored', $check), 't|t|t', 'so does the filter that follows a table');
$node->safe_psql('restored', q{DELETE FROM maintained_filter.orders WHERE id % 3 = 0});
is($node->safe_psql('restored', $check), 't|t|t', 'and goes on to');

$node->stop;
done_testing();
