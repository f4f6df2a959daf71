# A standby answers as its primary does, also after it has taken over.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype;
	CREATE TABLE filters AS
	SELECT 1 AS id, bloom_agg(i, 200000, 0.01) AS f FROM generate_series(1, 50000) AS i});
$primary->backup('backup');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

# after the backup: new rows, an update, a filter in each form
$primary->safe_psql('postgres', q{
	INSERT INTO filters SELECT 2, bloom_agg(i, 1000000, 0.01) FROM generate_series(1, 20000) AS i;
	INSERT INTO filters SELECT 3, bloom_agg(i) FROM generate_series(1, 0) AS i;
	INSERT INTO filters SELECT 4, bloom_agg(i::text) FROM generate_series(1, 100) AS i;
	UPDATE filters SET f = bloom_add_all(f, '{-1,-2,-3}'::int[]) WHERE id <= 2;
	CREATE TABLE shards (shard int PRIMARY KEY, f bloom);
	INSERT INTO shards SELECT bloom_shard(i, 7), bloom_agg(i, bloom_shard_capacity(70000, 7), 0.01)
	FROM generate_series(1, 70000) AS i GROUP BY 1;
	CREATE TABLE parts AS
	SELECT shard, n, substring(b FROM n * 1000 + 1 FOR 1000) AS part
	FROM (SELECT shard, f::bytea AS b FROM shards OFFSET 0) AS s, generate_series(0, (octet_length(b) - 1) / 1000) AS n});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $query = q{
	SELECT id, md5(f::bytea), _bloom_hash(f), bloom_cardinality(f),
		   (SELECT count(*) FROM generate_series(-10, 60000, 7) AS i WHERE id < 4 AND f @> i)
	FROM filters ORDER BY id;
	SELECT bloom_add_all(f, array_agg(i)) @> 123456 AND md5(bloom_add_all(f, array_agg(i))::bytea) IS NOT NULL, md5(bloom_add_all(f, array_agg(i))::bytea)
	FROM filters, generate_series(123456, 123556) AS i WHERE id = 2 GROUP BY f};
my $expected = $primary->safe_psql('postgres', $query);
like($expected, qr/^1\|.*\n2\|.*\n3\|.*\n4\|.*\nt\|/, 'the primary has filters of all forms');
is($standby->safe_psql('postgres', $query), $expected, 'the standby answers as the primary does');
is($standby->safe_psql('postgres', q{
		SELECT count(*), bool_and(f @> i) FROM generate_series(1, 70000) AS i JOIN shards ON shard = bloom_shard(i, 7)}),
	'70000|t', 'the standby finds every key in its shard');
is($standby->safe_psql('postgres', q{
		SELECT count(*), bool_and(f = g) FROM shards JOIN
			(SELECT shard, string_agg(part, '' ORDER BY n)::bloom AS g FROM parts GROUP BY shard) AS c USING (shard)}),
	'7|t', 'and puts the parts of each together');
is($standby->safe_psql('postgres', 'SELECT bool_and(f @> -1) FROM filters WHERE id <= 2'), 't',
	'the standby has the update');

$primary->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', $query), $expected, 'and still does as a primary');
$standby->safe_psql('postgres', 'UPDATE filters SET f = bloom_add(f, -9) WHERE id <= 2');
is($standby->safe_psql('postgres', 'SELECT bool_and(f @> -9) FROM filters WHERE id <= 2'), 't',
	'a filter is updated there');

$standby->stop;
done_testing();
