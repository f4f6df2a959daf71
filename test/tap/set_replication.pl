#
# Stored sets on a standby and on a logical subscriber.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use PostgreSQL::Test::Cluster;
use Sets;
use Test::More;

my $node = start_server('publisher', '', allows_streaming => 'logical');
my $create = create_set('keys', 'int', 'capacity => 1000', 'fp_prob => 1e-9', 'seed => 1');

answer("SELECT $create, " . create_set('cache', 'int', 'unlogged => true'));
answer(q{
	SELECT FROM bloom_set_add_all('keys', ARRAY(SELECT generate_series(1, 3000)));
	SELECT count(bloom_set_add('keys', k)) FROM generate_series(3001, 3500) AS k});
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
$subscriber->start;
$subscriber->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
$subscriber->safe_psql('postgres', "SELECT $create");
answer('CREATE PUBLICATION keys FOR TABLE keys');
my $publisher = $node->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION keys CONNECTION '$publisher' PUBLICATION keys");
$subscriber->poll_query_until('postgres', q{SELECT bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
  or die 'the subscription does not become ready';

answer(q{SELECT count(bloom_set_add('keys', -k)) FROM generate_series(1, 100) AS k});
answer(q{SELECT bloom_set_add_all('keys', ARRAY(SELECT generate_series(-2000, -1)))});
$node->wait_for_catchup('standby', 'replay', $node->lsn('insert'));
$node->wait_for_catchup('keys');

my $count = q{SELECT count(*) FROM generate_series(-3000, 100000) AS k WHERE bloom_set_contains('keys', k)};
my $answers = answer($count);
cmp_ok($answers, '>=', 5500, 'there are old and new keys');
is($standby->safe_psql('postgres', $count), $answers, 'a standby answers as the primary');
is($subscriber->safe_psql('postgres', $count), $answers, 'a subscriber answers as the publisher');
my ($status, $out, $err) = $standby->psql('postgres', q{SELECT bloom_set_contains('cache', 1)});
like($err, qr/cannot access temporary or unlogged relations during recovery/, 'an unlogged set is not there');
($status, $out, $err) = $standby->psql('postgres', q{SELECT bloom_set_add('keys', 1)});
like($err, qr/read-only transaction/, 'nothing can be added on a standby');

$node->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', q{SELECT bloom_set_add('keys', -1), bloom_set_add('keys', -5000), bloom_set_add('keys', -5000)}),
	'f|t|f', 'until it is promoted');

$standby->stop;
$subscriber->stop;
done_testing();
