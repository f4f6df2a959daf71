#
# Unique keys on a logical subscriber: with ENABLE ALWAYS the rows that are applied are
# checked there; otherwise the set can be replicated with them.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

my $node = start_server('publisher', "client_min_messages = error\n", allows_streaming => 'logical');
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
$subscriber->append_conf('postgresql.conf', "client_min_messages = error\nwal_retrieve_retry_interval = '100ms'\n");
$subscriber->start;
$subscriber->safe_psql('postgres', 'CREATE EXTENSION bloomtype_unique CASCADE');

my $tables = q{
	CREATE TABLE t (id bigint, p int, PRIMARY KEY (id, p)) PARTITION BY LIST (p);
	CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
	CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
	CREATE TABLE s (id bigint, p int, PRIMARY KEY (id, p)) PARTITION BY LIST (p);
	CREATE TABLE s1 PARTITION OF s FOR VALUES IN (1);
	CREATE TABLE s2 PARTITION OF s FOR VALUES IN (2);
	SELECT bloom_unique_create('t', 'id');
};
my $create_s = q{SELECT bloom_unique_create('s', 'id')};
answer("$tables $create_s;");
# the set of the second table is replicated: it must have the seed of the publisher's
my $dump = $node->basedir . '/s.sql';
$node->command_ok([ 'pg_dump', '-s', '-t', 's*', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump of the schema');
$subscriber->safe_psql('postgres', $tables =~ s/CREATE TABLE s.*?;\n//gsr);
$subscriber->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $subscriber->connstr('postgres') ], 'restore');
$subscriber->safe_psql('postgres', 'ALTER TABLE t ENABLE ALWAYS TRIGGER t_id_unique');
answer(q{
	INSERT INTO t SELECT i, 1 + i % 2 FROM generate_series(1, 1000) AS i;
	INSERT INTO s SELECT i, 1 + i % 2 FROM generate_series(1, 1000) AS i;
	CREATE PUBLICATION rows FOR TABLE t;
	CREATE PUBLICATION rows_and_set FOR TABLE s, s_id_unique});
my $publisher = $node->connstr . ' dbname=postgres';
foreach my $publication ('rows', 'rows_and_set')
{
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION $publication CONNECTION '$publisher' PUBLICATION $publication");
}
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscriptions do not become ready';

sub refused
{
	my ($sql) = @_;
	my ($status, $out, $err) = $subscriber->psql('postgres', $sql);
	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}
my $repeat = 'duplicate key value violates unique constraint';

# keys that are copied, inserted, moved, changed, deleted there
answer(q{
	INSERT INTO t VALUES (2001, 1), (2002, 2);
	UPDATE t SET p = 2 WHERE id = 2001;
	UPDATE t SET id = 2003 WHERE id = 2002;
	DELETE FROM t WHERE id = 5;
	INSERT INTO s VALUES (2001, 1), (2002, 2);
	UPDATE s SET p = 2 WHERE id = 2001;
	DELETE FROM s WHERE id = 5});
$node->wait_for_catchup($_) foreach 'rows', 'rows_and_set';
foreach my $table ('t', 's')
{
	is($subscriber->safe_psql('postgres', "SELECT count(*), count(DISTINCT id) FROM $table"), '1001|1001', "$table: all rows have come");
	like(refused("INSERT INTO $table SELECT $_, 3 - p FROM $table WHERE id = $_"), qr/$repeat/, "$table: key $_ is refused") foreach 7, 2001;
	is(refused("INSERT INTO $table VALUES (5, 1)"), '', "$table: what was deleted is free");
}
like(refused('INSERT INTO t VALUES (2003, 1)'), qr/$repeat/, 'a key that was changed');
is(refused('INSERT INTO t VALUES (2002, 1)'), '', 'and what it was is free');

# stops SQL: does what the publisher has done stop the worker?
sub stops
{
	my ($sql) = @_;
	my $log = -s $subscriber->logfile;

	answer($sql);
	foreach my $attempt (1 .. 600)
	{
		return 1 if substr(slurp_file($subscriber->logfile), $log) =~ /ERROR:  $repeat "t_id_unique"/;
		select undef, undef, undef, 0.1;
	}
	return 0;
}

# a row that is there already stops the worker, as a unique index would
$subscriber->safe_psql('postgres', 'INSERT INTO t VALUES (3000, 1)');
ok(stops('INSERT INTO t VALUES (3000, 2), (3001, 2)'), 'a repeat stops the apply');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM t WHERE id IN (3000, 3001)'), 1, 'and nothing of the transaction is there');
$subscriber->safe_psql('postgres', 'DELETE FROM t WHERE id = 3000');
$node->wait_for_catchup('rows');
is($subscriber->safe_psql('postgres', q{SELECT string_agg(id || ':' || p, ' ' ORDER BY id) FROM t WHERE id >= 3000}), '3000:2 3001:2', 'until the row is gone');

# rows are applied one by one: keys that are exchanged stop the worker, for good
answer('INSERT INTO t VALUES (3002, 1)');
$node->wait_for_catchup('rows');
ok(stops('UPDATE t SET id = 6002 - id WHERE id IN (3000, 3002)'), 'two rows exchange their keys, which stops the apply');
is($subscriber->safe_psql('postgres', q{SELECT string_agg(id || ':' || p, ' ' ORDER BY id) FROM t WHERE id >= 3000}), '3000:2 3001:2 3002:1', 'and nothing of it is there');

$subscriber->stop;
$node->stop;
done_testing();
