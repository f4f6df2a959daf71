# Logical replication: rows of a table with no key are found by all of their
# columns, which needs the equality of filters.  Sets and unique keys have tests of
# their own; here they go along, to extensions in other schemas.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
# one for each subscription, and those of the first copies
$subscriber->append_conf('postgresql.conf', 'max_logical_replication_workers = 8');
$subscriber->start;

for my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
}

for my $format ('text', 'binary')
{
	my $table = "filters_$format";
	$_->safe_psql('postgres', "CREATE TABLE $table (f bloom, n int); ALTER TABLE $table REPLICA IDENTITY FULL")
	  for $publisher, $subscriber;

	# what the first copy takes along
	$publisher->safe_psql('postgres', qq{
		INSERT INTO $table SELECT bloom_agg(i, 10000, 0.01), 1 FROM generate_series(1, 100) AS i;
		INSERT INTO $table SELECT bloom_agg(i, 100000, 0.01), 2 FROM generate_series(1, 30000) AS i;
		INSERT INTO $table SELECT bloom_agg(i), 3 FROM generate_series(1, 0) AS i;
		INSERT INTO $table VALUES (NULL, 4);
		CREATE PUBLICATION pub_$format FOR TABLE $table});
	my $connection = $publisher->connstr . ' dbname=postgres';
	my $with = $format eq 'binary' ? 'WITH (binary = true)' : '';
	$subscriber->safe_psql('postgres',
		"CREATE SUBSCRIPTION sub_$format CONNECTION '$connection' PUBLICATION pub_$format $with");
	$subscriber->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
	  or die 'no initial synchronization';

	my $query = qq{SELECT n, md5(f::bytea), f @> 1, f @> -1 FROM $table ORDER BY n, md5(f::bytea)};
	is($subscriber->safe_psql('postgres', $query), $publisher->safe_psql('postgres', $query),
		"$format: the table was copied");

	# rows that differ in their filters only, updated and deleted
	$publisher->safe_psql('postgres', qq{
		INSERT INTO $table SELECT bloom_agg(i, 10000, 0.01), 5 FROM generate_series(2, 101) AS i;
		INSERT INTO $table SELECT bloom_agg(i, 10000, 0.01), 5 FROM generate_series(3, 102) AS i;
		UPDATE $table SET f = bloom_add(f, -1) WHERE n <= 2;
		UPDATE $table SET n = 6 WHERE f @> 102 AND NOT f @> 2 AND n = 5;
		DELETE FROM $table WHERE n = 3});
	$publisher->wait_for_catchup("sub_$format");
	my $expected = $publisher->safe_psql('postgres', $query);
	like($expected, qr/^1\|\w+\|t\|t\n2\|\w+\|t\|t\n4\|\|\|\n5\|\w+\|f\|f\n6\|\w+\|f\|f$/,
		"$format: the publisher has what it should");
	is($subscriber->safe_psql('postgres', $query), $expected,
		"$format: rows were found by their filters, updated and deleted");

	$publisher->safe_psql('postgres', "UPDATE $table SET f = NULL; DELETE FROM $table");
	$publisher->wait_for_catchup("sub_$format");
	is($subscriber->safe_psql('postgres', "SELECT count(*) FROM $table"), '0', "$format: all rows were deleted");
}

# A column of one shape, on both sides or only one: rows are still found by their
# filters.  A filter without keys takes the shape of the subscriber's column.
$publisher->safe_psql('postgres', q{
	CREATE TABLE shaped (f bloom(1000, 0.01), n int); CREATE TABLE shaped_there (f bloom, n int);
	ALTER TABLE shaped REPLICA IDENTITY FULL; ALTER TABLE shaped_there REPLICA IDENTITY FULL});
$subscriber->safe_psql('postgres', 'CREATE TABLE shaped (f bloom(1000, 0.01), n int); CREATE TABLE shaped_there (f bloom(1000, 0.01), n int)');
my $all_keys = q{SELECT array_agg(i) FROM generate_series(1, 1000) AS i};
$publisher->safe_psql('postgres', qq{
	INSERT INTO shaped VALUES (bloom_empty(7), 1), (bloom_add_all(bloom_empty(1000), ($all_keys)), 2);
	INSERT INTO shaped_there VALUES (bloom_empty(50), 1), (bloom_add_all(bloom_empty(1000), ($all_keys)), 2);
	CREATE PUBLICATION pub_shaped FOR TABLE shaped, shaped_there});
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub_shaped CONNECTION '$connection' PUBLICATION pub_shaped");
$subscriber->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
  or die 'no initial synchronization';
$publisher->safe_psql('postgres', qq{
	INSERT INTO shaped VALUES (bloom_empty(8), 3);
	INSERT INTO shaped_there VALUES (bloom_add(bloom_empty(1000), 8), 3);
	UPDATE shaped SET f = bloom_add(f, -1) WHERE n > 1;
	UPDATE shaped SET n = n + 10;
	UPDATE shaped_there SET f = bloom_add(f, -1) WHERE n > 1;
	UPDATE shaped_there SET n = n + 10;
	DELETE FROM shaped_there WHERE n = 11});
$publisher->wait_for_catchup('sub_shaped');
my $shaped = q{SELECT n, (bloom_info(f)).bits, bloom_cardinality(f), f @> -1 FROM %s ORDER BY n};
is($subscriber->safe_psql('postgres', sprintf $shaped, 'shaped'), "11|10048|0|f\n12|10048|995|t\n13|10048|1|t",
	'shaped on both sides: the rows are there, updated');
is($subscriber->safe_psql('postgres', sprintf $shaped, 'shaped_there'), "12|10048|995|t\n13|10048|2|t",
	'shaped on the subscriber: filters took the shape; rows were found, updated and deleted');

# One key in another shape is as wrong as a million: the subscriber stops at once.
my $log_end = -s $subscriber->logfile;
$publisher->safe_psql('postgres', 'INSERT INTO shaped_there VALUES (bloom_add(bloom_empty(50), 7), 4)');
$subscriber->wait_for_log(qr/ERROR: .*Bloom filter does not have the shape of type bloom\(1000, 0\.01\)/, $log_end);
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM shaped_there WHERE n = 4'), '0', 'shaped on the subscriber: another shape is an error');
$subscriber->safe_psql('postgres', 'ALTER TABLE shaped_there ALTER f TYPE bloom');
$publisher->wait_for_catchup('sub_shaped');
is($subscriber->safe_psql('postgres', 'SELECT (bloom_info(f)).bits FROM shaped_there WHERE n = 4'), '512', 'which goes on when the column takes it');

# Shards, and parts of them, loaded while the subscriber follows.
$_->safe_psql('postgres', q{
	CREATE TABLE shards (shard int PRIMARY KEY, f bloom);
	CREATE TABLE parts (shard int, n int, part bytea, PRIMARY KEY (shard, n))})
  for $publisher, $subscriber;
$publisher->safe_psql('postgres', 'CREATE PUBLICATION pub_shards FOR TABLE shards, parts');
my $shards_from = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub_shards CONNECTION '$shards_from' PUBLICATION pub_shards");
$publisher->safe_psql('postgres', q{
	INSERT INTO shards SELECT bloom_shard(i, 7), bloom_agg(i, bloom_shard_capacity(70000, 7), 0.01)
	FROM generate_series(1, 70000) AS i GROUP BY 1;
	INSERT INTO parts
	SELECT shard, n, substring(b FROM n * 1000 + 1 FOR 1000) AS part
	FROM (SELECT shard, f::bytea AS b FROM shards OFFSET 0) AS s, generate_series(0, (octet_length(b) - 1) / 1000) AS n;
	UPDATE shards SET f = bloom_add(f, -1) WHERE shard = bloom_shard(-1, 7)});
$subscriber->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
  or die 'no initial synchronization';
$publisher->wait_for_catchup('sub_shards');
my $shards = 'SELECT shard, md5(f::bytea) FROM shards ORDER BY shard';
is($subscriber->safe_psql('postgres', $shards), $publisher->safe_psql('postgres', $shards), 'shards: equal filters');
is($subscriber->safe_psql('postgres', q{
		SELECT count(*), bool_and(f @> i) FROM generate_series(1, 70000) AS i JOIN shards ON shard = bloom_shard(i, 7)}),
	'70000|t', 'shards: the subscriber finds every key');
is($subscriber->safe_psql('postgres', q{
		SELECT count(*), count(*) FILTER (WHERE f = g), string_agg(shard::text, ' ') FILTER (WHERE f <> g) = bloom_shard(-1, 7)::text
		FROM shards JOIN (SELECT shard, string_agg(part, '' ORDER BY n)::bloom AS g FROM parts GROUP BY shard) AS c USING (shard)}),
	'7|6|t', 'parts: equal filters, but for the one that was updated since');

# Filters, sets and unique keys, whose extensions are in other schemas there.
$_->safe_psql('postgres', 'CREATE DATABASE three; ALTER DATABASE three SET search_path = public, type, sets, keys')
  for $publisher, $subscriber;
$publisher->safe_psql('three', 'CREATE EXTENSION bloomtype_unique CASCADE');
$subscriber->safe_psql('three', q{
	CREATE SCHEMA type;
	CREATE SCHEMA sets;
	CREATE SCHEMA keys;
	CREATE EXTENSION bloomtype SCHEMA type;
	CREATE EXTENSION bloomtype_set SCHEMA sets;
	CREATE EXTENSION bloomtype_unique SCHEMA keys});
$_->safe_psql('three', q{
	CREATE TABLE filters (n int PRIMARY KEY, f bloom(100, 0.01));
	SELECT bloom_set_create('visited', 'text', seed => 1);
	CREATE TABLE event (id bigint, p int) PARTITION BY LIST (p);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
	CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
	ALTER TABLE event_1 REPLICA IDENTITY FULL;
	ALTER TABLE event_2 REPLICA IDENTITY FULL;
	CREATE INDEX ON event (id);
	SELECT bloom_unique_create('event', 'id');
	ALTER TABLE event ENABLE ALWAYS TRIGGER event_id_unique})
  for $publisher, $subscriber;
$publisher->safe_psql('three', q{
	INSERT INTO filters SELECT 1, bloom_agg(i, 100, 0.01) FROM generate_series(1, 100) AS i;
	SELECT bloom_set_add_all('visited', ARRAY['a', 'b']);
	INSERT INTO event SELECT i, 1 + i % 2 FROM generate_series(1, 1000) AS i;
	CREATE PUBLICATION pub_three FOR TABLE filters, visited, event});
my $three_from = $publisher->connstr . ' dbname=three';
$subscriber->safe_psql('three', "CREATE SUBSCRIPTION sub_three CONNECTION '$three_from' PUBLICATION pub_three WITH (binary = true)");
$subscriber->poll_query_until('three',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
  or die 'no initial synchronization';
$publisher->safe_psql('three', q{
	UPDATE filters SET f = bloom_add(f, 0);
	SELECT bloom_set_add('visited', 'c'), bloom_set_remove('visited', 'a');
	INSERT INTO event SELECT i, 1 + i % 2 FROM generate_series(1001, 1100) AS i;
	DELETE FROM event WHERE id = 7});
$publisher->wait_for_catchup('sub_three');
my $three = q{
	SELECT md5(f::bytea), f @> 0 FROM filters;
	SELECT bloom_set_contains_all('visited', ARRAY['b', 'c']), bloom_set_contains('visited', 'a');
	SELECT count(*), count(DISTINCT id) FROM event};
my $of_publisher = $publisher->safe_psql('three', $three);
like($of_publisher, qr/^\w+\|t\nt\|f\n1099\|1099$/, 'three extensions: the publisher has what it should');
is($subscriber->safe_psql('three', $three), $of_publisher, 'three extensions, in other schemas: the subscriber answers alike');
foreach my $id (5, 1050)
{
	my ($status, $out, $err) = $subscriber->psql('three', "INSERT INTO event VALUES ($id, 1 + ($id + 1) % 2)");
	like($err, qr/duplicate key value violates unique constraint "event_id_unique"/, "... a key is unique there, too: $id");
}
is($subscriber->safe_psql('three', 'INSERT INTO event VALUES (7, 1) RETURNING id'), '7', '... and one that was deleted is free');

unlike(slurp_file($subscriber->logfile), qr/could not identify an equality operator|terminated by signal/,
	'no apply worker failed');

$subscriber->stop('fast');
$publisher->stop('fast');
done_testing();
