# Filters over postgres_fdw, with a coordinator and two data nodes: results are
# those of one machine, and what should run on the data nodes does.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($coordinator, @data) = map {
	my $node = PostgreSQL::Test::Cluster->new($_);
	$node->init;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
	$node
} 'coordinator', 'data1', 'data2';

if ($coordinator->safe_psql('postgres',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0')
{
	plan skip_all => 'this PostgreSQL has no postgres_fdw';
}

# Ten days, five on each node; 20,000 events.
my $rows = q{
	SELECT date '2026-11-01' + i % 10 AS day, i::bigint AS id, 'https://example.org/' || i % 7000 AS url
	FROM generate_series(1, 20000) AS i};
for my $n (0, 1)
{
	$data[$n]->safe_psql('postgres', qq{
		CREATE TABLE event AS SELECT * FROM ($rows) AS s WHERE extract(day FROM day)::int % 10 / 5 = $n;
		CREATE TABLE hashed (day date, id bigint, url text)});
}

my $setup = q{
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE event (day date, id bigint, url text) PARTITION BY LIST (day);
	CREATE TABLE hashed (day date, id bigint, url text) PARTITION BY HASH (id);
};
for my $n (0, 1)
{
	my ($host, $port) = ($data[$n]->host, $data[$n]->port);
	my $days = join ',', map { sprintf "'2026-11-%02d'", $_ }
	  grep { int($_ % 10 / 5) == $n } 1 .. 10;
	for my $server ("data$n", "plain$n")
	{
		my $extensions = $server =~ /data/ ? ", extensions 'bloomtype'" : '';
		$setup .= qq{
			CREATE SERVER $server FOREIGN DATA WRAPPER postgres_fdw
				OPTIONS (host '$host', port '$port', dbname 'postgres', async_capable 'true'$extensions);
			CREATE USER MAPPING FOR PUBLIC SERVER $server;};
	}
	$setup .= qq{
		CREATE FOREIGN TABLE event$n PARTITION OF event FOR VALUES IN ($days)
			SERVER data$n OPTIONS (table_name 'event');
		CREATE FOREIGN TABLE hashed$n PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER $n)
			SERVER data$n OPTIONS (table_name 'hashed');
		CREATE FOREIGN TABLE plain$n (day date, id bigint, url text)
			SERVER plain$n OPTIONS (table_name 'event');};
}
$coordinator->safe_psql('postgres', qq{
	$setup
	CREATE TABLE one_machine AS SELECT day, id, url FROM ($rows) AS s;
	INSERT INTO hashed SELECT * FROM one_machine;
	CREATE TABLE wanted AS SELECT i::bigint AS id FROM generate_series(7, 2000000, 100) AS i;
	CREATE TABLE filter AS SELECT bloom_agg(id) AS f FROM wanted;
	CREATE FUNCTION wanted_ids() RETURNS bloom LANGUAGE sql STABLE
		AS 'SELECT f FROM public.filter';
	ANALYZE one_machine, wanted, event0, event1, hashed0, hashed1});
is($coordinator->safe_psql('postgres', 'SELECT count(*), sum(id), count(DISTINCT tableoid) FROM event'),
	$coordinator->safe_psql('postgres', 'SELECT count(*), sum(id), 2 FROM one_machine'),
	'the events are on the two data nodes');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM event0 WHERE extract(day FROM day)::int % 10 / 5 <> 0'),
	'0', 'each event is on its own');

my $session = 'SET enable_partitionwise_aggregate = on; SET enable_partitionwise_join = on; SET max_parallel_workers_per_gather = 0;';

# plan_of QUERY: the plan, with what was sent and how many rows came back.
sub plan_of
{
	my ($query) = @_;
	return $coordinator->safe_psql('postgres',
		"$session EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
}

# fetched PLAN: the rows that came to the foreign scans of a plan.
sub fetched
{
	my ($plan) = @_;
	my $rows = 0;
	$rows += $1 while $plan =~ /Foreign Scan.*\(actual rows=(\d+)/g;
	$rows += $1 while $plan =~ /Rows Removed by Filter: (\d+)/g;
	return $rows;
}

# remote PLAN: the queries that were sent.
sub remote
{
	my ($plan) = @_;
	return join "\n", $plan =~ /Remote SQL: (.*)/g;
}

sub same
{
	my ($query, $name) = @_;
	my $there = $coordinator->safe_psql('postgres', $session . sprintf($query, 'event'));
	my $here = $coordinator->safe_psql('postgres', $session . sprintf($query, 'one_machine'));
	is($there, $here, "$name: the result is that of one machine");
	isnt($there, '', "$name: there is a result");
	return;
}

# A filter for each value of the partition key is made where the rows are.
my $by_day = 'SELECT day, bloom_agg(url, 2000, 0.01) FROM %s GROUP BY day ORDER BY day';
same($by_day, 'LIST partitions');
my $plan = plan_of(sprintf $by_day, 'event');
like(remote($plan), qr/^(SELECT day, public\.bloom_agg\(url, .*\) FROM public\.event GROUP BY 1.*\n?){2}$/,
	'LIST partitions: aggregated on the data nodes');
is(fetched($plan), 10, 'LIST partitions: a row for each day crosses the wire');

# One filter of all: a union of one for each partition, made at the same time.
for my $table ('event', 'hashed')
{
	my $union = qq{
		SELECT bloom_union_agg(f) FROM (
			SELECT bloom_agg(url, 7000, 0.01) AS f FROM ${table}0
			UNION ALL
			SELECT bloom_agg(url, 7000, 0.01) FROM ${table}1) AS parts};
	is($coordinator->safe_psql('postgres', $union),
		$coordinator->safe_psql('postgres', 'SELECT bloom_agg(url, 7000, 0.01) FROM one_machine'),
		"UNION ALL of $table: the filter is that of one machine");
	$plan = plan_of($union);
	is(fetched($plan), 2, "UNION ALL of $table: two filters cross the wire");
	my $scans = () = $plan =~ /Async Foreign Scan/g;
	is($scans, 2, "UNION ALL of $table: at the same time");
}

# A filter is sent ahead of the join: an initplan, a constant, a parameter, and
# a stable function in a subquery.  As a bare call it would be sent only if it
# were immutable, and all rows cross the wire.
my $join = 'SELECT count(*), sum(id) FROM %s JOIN wanted USING (id)';
my $matching = $coordinator->safe_psql('postgres',
	'SELECT count(*) FROM one_machine WHERE (SELECT bloom_agg(id) FROM wanted) @> id');
my $exact = $coordinator->safe_psql('postgres', 'SELECT count(*) FROM one_machine JOIN wanted USING (id)');
cmp_ok($exact, '==', 200, 'a hundredth of the rows match');
# at most 1.1 times fp_prob of the rest, and three standard deviations of 198
cmp_ok($matching, '<=', 200 + 1.1 * 198 + 3 * sqrt(198), 'and a hundredth of the rest is let through');
my $constant = $coordinator->safe_psql('postgres', 'SELECT bloom_agg(id) FROM wanted');
for my $case (
	[ 'initplan', '(SELECT bloom_agg(id) FROM wanted) @> id', 1 ],
	[ 'commuted', 'id <@ (SELECT bloom_agg(id) FROM wanted)', 1 ],
	[ 'bloom_contains', 'bloom_contains((SELECT bloom_agg(id) FROM wanted), id)', 1 ],
	[ 'constant', "'$constant'::bloom \@> id", 1 ],
	[ 'stable function in a subquery', '(SELECT wanted_ids()) @> id', 1 ],
	[ 'stable function', 'wanted_ids() @> id', 0 ],
	[ 'volatile expression', "bloom_add(wanted_ids(), (random() * 0)::bigint) \@> id", 0 ])
{
	my ($name, $condition, $shipped) = @$case;
	same("$join WHERE $condition", $name);
	$plan = plan_of(sprintf "$join WHERE $condition", 'event');
	if ($shipped)
	{
		like(remote($plan), qr/^(.* WHERE .*(OPERATOR\(public\.(@>|<@)\)|public\.bloom_contains\().*\n?){2}$/,
			"$name: the condition is sent");
		is(fetched($plan), $matching, "$name: only what the filter lets through crosses the wire");
	}
	else
	{
		unlike(remote($plan), qr/WHERE/, "$name: the condition is not sent");
		is(fetched($plan), 20000, "$name: all rows cross the wire");
	}
}
$plan = $coordinator->safe_psql('postgres', qq{
	SET plan_cache_mode = force_generic_plan;
	PREPARE p(bloom) AS SELECT count(*) FROM event WHERE \$1 @> id;
	EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE p('$constant')});
like(remote($plan), qr/^(SELECT .* WHERE \(\(\$1::public\.bloom OPERATOR\(public\.@>\) id\)\)\n?){2}$/, 'parameter: the condition is sent');

# The option of the server is what makes it so.
$plan = plan_of('SELECT count(*) FROM plain0 WHERE (SELECT bloom_agg(id) FROM wanted) @> id');
unlike(remote($plan), qr/bloom/, "without extensions 'bloomtype' nothing is sent");
is(fetched($plan), 10000, 'and all rows cross the wire');

# A set in shards, made on the data nodes and put together here.
is($coordinator->safe_psql('postgres', q{
		SELECT shard, bloom_union_agg(f) FROM (
			SELECT bloom_shard(id, 5) AS shard, bloom_agg(id, bloom_shard_capacity(20000, 5), 0.01) AS f FROM hashed0 GROUP BY 1
			UNION ALL
			SELECT bloom_shard(id, 5), bloom_agg(id, bloom_shard_capacity(20000, 5), 0.01) FROM hashed1 GROUP BY 1) AS parts
		GROUP BY shard ORDER BY shard}),
	$coordinator->safe_psql('postgres', q{
		SELECT bloom_shard(id, 5), bloom_agg(id, bloom_shard_capacity(20000, 5), 0.01) FROM one_machine GROUP BY 1 ORDER BY 1}),
	'shards: those of the data nodes, united, are those of one machine');

# A filter moves in parts.
$data[0]->safe_psql('postgres', q{
	CREATE TABLE part AS
	SELECT n, substring(b FROM n * 1000 + 1 FOR 1000) AS part
	FROM (SELECT bloom_agg(id)::bytea AS b FROM event OFFSET 0) AS s, generate_series(0, (octet_length(b) - 1) / 1000) AS n});
is($coordinator->safe_psql('postgres', q{
		CREATE FOREIGN TABLE part (n int, part bytea) SERVER data0;
		SELECT count(*) > 9, string_agg(part, '' ORDER BY n)::bloom = (SELECT bloom_agg(id) FROM event0) FROM part}),
	't|t', 'parts: the filter is the same here');

# A column of one shape is imported with it, and casts to it are sent.
$data[0]->safe_psql('postgres', q{
	CREATE TABLE day_filter (day date, f bloom(2000, 0.01));
	INSERT INTO day_filter SELECT day, bloom_agg(url, 2000, 0.01) FROM event GROUP BY day});
is($coordinator->safe_psql('postgres', q{
		IMPORT FOREIGN SCHEMA public LIMIT TO (day_filter) FROM SERVER data0 INTO public;
		SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'day_filter'::regclass AND attname = 'f';
		INSERT INTO day_filter VALUES ('2027-01-01', bloom_add(bloom_empty(2000), 'here'::text)), ('2027-01-02', bloom_empty(50));
		SELECT bits, keys FROM day_filter, bloom_info(f) WHERE day >= '2027-01-01' ORDER BY day}),
	"bloom(2000,0.01)\n20032|1\n20032|0", 'shape: imported, and taken by what is inserted');
my ($status, $out, $errors) = $coordinator->psql('postgres', q{INSERT INTO day_filter SELECT day, bloom_agg(url) FROM one_machine GROUP BY day});
like($errors, qr/^psql:<stdin>:1: ERROR:  Bloom filter does not have the shape of type bloom\(2000, 0\.01\)$/m, 'shape: another one is refused here');
unlike($errors, qr/Remote SQL/, '... before it is sent');
$plan = plan_of(q{SELECT day FROM day_filter WHERE bloom_cardinality(f::bloom(2000, 0.01)) = 1});
like(remote($plan), qr/ WHERE \(\(public\.bloom_cardinality\(f\) = 1\)\)$/, 'shape: a cast to the type of the column is none');
$plan = plan_of(q{SELECT day FROM day_filter WHERE bloom_cardinality((f | f)::bloom(2000, 0.01)) = 1});
like(remote($plan), qr/::public\.bloom\(2000,0\.01\)/, 'shape: a cast is sent');
is(fetched($plan), 1, '... and run there');

# A table that is declared with another shape than the remote one: its filters are not
# read, but for those without keys; a condition that is sent sees the remote filter.
is($coordinator->safe_psql('postgres', q{
		CREATE FOREIGN TABLE declared (day date, f bloom(3000, 0.01)) SERVER data0 OPTIONS (table_name 'day_filter');
		SELECT bits, (SELECT count(*) FROM declared WHERE day = '2027-01-01' AND bloom_superset(f, bloom_empty(2000))) FROM declared, bloom_info(f) WHERE day = '2027-01-02'}),
	'30016|1', 'shape: of the declaration here, of the table there');
($status, $out, $errors) = $coordinator->psql('postgres', q{SELECT f FROM declared WHERE day = '2027-01-01'});
like($errors, qr/ERROR:  Bloom filter does not have the shape of type bloom\(3000, 0\.01\)$/m, 'shape: a filter with a key is not read into another one');

$_->stop for $coordinator, @data;
done_testing();
