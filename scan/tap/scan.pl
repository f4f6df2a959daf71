# Joins that filter, where a mistake would be a wrong answer: one query for each rule,
# with the library and without; and with mutants of it, which the same queries must
# catch.  Then the library beside others, cancelled, and executed many times.
#
# BLOOM_STRESS multiplies the executions.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Scan;
use Test::More;

my $stress = $ENV{BLOOM_STRESS} // 1;
my $node = PostgreSQL::Test::Cluster->new('scan');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
shared_preload_libraries = 'pg_stat_statements'
});
$node->start;

# the library with its counters, which a release has not
my $ours = library_of(undef);
$node->safe_psql('postgres', q{
	CREATE TABLE fact (k int, s int, f float4);
	INSERT INTO fact SELECT i % 1000, i % 100, i % 1000 / 2.0 FROM generate_series(1, 50000) AS i;
	CREATE TABLE thousand AS SELECT generate_series(0, 999) AS k;
	CREATE TABLE dim (k int8, g int, f float8);
	INSERT INTO dim SELECT i, i % 10, i / 2.0 FROM generate_series(1, 20) AS i;
	CREATE TABLE large AS SELECT i AS k, i % 10 AS g, repeat('x', 100) AS fill FROM generate_series(1, 20000) AS i;
	CREATE TABLE parts (LIKE fact) PARTITION BY LIST (s);
	CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1, 2, 3, 4);
	CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
	INSERT INTO parts SELECT * FROM fact;
	CREATE SEQUENCE called;
	CREATE TABLE ends AS SELECT k FROM (VALUES (63), (100), (128)) AS v (k);
	CREATE TABLE wide AS SELECT 2::int8 ^ 40 + i AS k FROM generate_series(1, 2000) AS i;
	ALTER TABLE wide ALTER k TYPE int8;
	CREATE TABLE oids AS SELECT (4294967295 - i)::oid AS k FROM generate_series(0, 2000) AS i;
	CREATE TABLE holes AS SELECT CASE WHEN i % 3 = 0 THEN i END AS n, i % 100 AS k, CASE WHEN i % 2 = 0 THEN i END AS m FROM generate_series(1, 2000) AS i;
	CREATE TABLE grown AS SELECT i AS n FROM generate_series(1, 500) AS i;
	ALTER TABLE grown ADD k int DEFAULT 7;
	INSERT INTO grown SELECT i, i % 100 FROM generate_series(1, 500) AS i;
	CREATE TABLE sorted AS SELECT * FROM fact ORDER BY k;
	CREATE TABLE lean AS SELECT CASE WHEN i % 4 = 0 THEN 7 ELSE i END AS k FROM generate_series(1, 40000) AS i;
	CREATE TABLE lump AS SELECT CASE WHEN i <= 1500 THEN 2 ELSE i % 1000 END AS k, repeat('x', 100) AS fill FROM generate_series(1, 5000) AS i;
	CREATE EXTENSION pg_stat_statements;
	CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE dear AS SELECT i AS id, md5(i::text) COLLATE folded AS k FROM generate_series(1, 5000) AS i;
	CREATE TABLE dear_few AS SELECT k FROM dear WHERE id % 50 = 1;
	CREATE TABLE far (id int, k text);
	ALTER TABLE far ALTER k SET STORAGE external;
	INSERT INTO far SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 500) AS i;
	CREATE TABLE far_few AS SELECT k FROM far WHERE id % 50 = 9;
	CREATE TABLE labels AS SELECT i % 1000 AS k, 'label ' || i % 777 AS t FROM generate_series(1, 20000) AS i;
	CREATE TABLE hundred AS SELECT generate_series(0, 99) AS s;
	CREATE TABLE hidden AS SELECT * FROM fact;
	CREATE VIEW seen WITH (security_barrier) AS SELECT * FROM hidden WHERE s < 10;
	CREATE FUNCTION many(n int) RETURNS SETOF int ROWS 10000000 STABLE LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT -i FROM generate_series(1, n) AS i; END';
	CREATE TABLE filed AS SELECT i AS k FROM generate_series(1, 100000) AS i;
	DO $$ BEGIN EXECUTE 'CREATE TABLE behind AS SELECT ' || (SELECT string_agg(format('%L::text AS x%s', 'x', i), ', ') FROM generate_series(1, 60) AS i) || ', i % 1000 AS k FROM generate_series(1, 5000) AS i'; END $$});

# a type whose hash function tells what it sees, and a table behind a security barrier
my ($one) = slurp_file("$FindBin::RealBin/../sql/scan.sql") =~ /^(CREATE TYPE one .*?^CREATE TABLE two .*?$)/ms;
$node->safe_psql('postgres', "$one\nANALYZE");

my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;};

# tables that do not fit into memory: batches
my $spilled = q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1;};

# Each rule, and statements whose output is the same with filters and without
my %rules = (
	'a filter goes with its table' => q{SELECT g, (SELECT count(*) FROM parts JOIN (SELECT k FROM dim WHERE dim.g = groups.g OFFSET 0) AS d USING (k)) FROM generate_series(0, 9) AS groups (g)},
	'not below LIMIT' => q{SELECT count(*) FROM (SELECT * FROM fact ORDER BY k LIMIT 700) AS f JOIN (SELECT k FROM dim WHERE k > 9) AS d USING (k)},
	'LEFT JOIN keeps rows' => q{SELECT count(*) FROM fact LEFT JOIN dim USING (k)},
	'all chunks' => q{SELECT count(*) FROM fact JOIN large USING (k)},
	'all batches' => $spilled . q{SELECT count(*), sum(g), max(fill) FROM fact JOIN large USING (k)},
	'common keys of batches' => $spilled . q{SELECT count(*), sum(g), max(fill) FROM lean JOIN large USING (k)},
	'batches that become more later' => $spilled . q{SELECT count(*), sum(k), max(fill) FROM fact JOIN lump USING (k)},
	'hashes of two types' => q{SELECT count(*) FROM fact JOIN dim USING (f)},
	'ends of a bitmap' => q{SELECT k, count(*) FROM fact JOIN ends USING (k) GROUP BY k ORDER BY k},
	'wide integers' => q{SELECT count(*), sum(k) FROM wide JOIN (SELECT k FROM wide WHERE k % 20 = 0) AS w USING (k)},
	'large oids' => q{SELECT count(*), max(k) FROM oids JOIN (SELECT k FROM oids LIMIT 20) AS o USING (k)},
	'nulls before a key' => q{SELECT count(*), sum(n) FROM holes JOIN dim USING (k)},
	'columns that were added' => q{SELECT count(*), sum(n) FROM grown JOIN dim USING (k)},
	'volatile conditions' => q{SELECT count(*) FROM fact JOIN dim USING (k) WHERE fact.s + nextval('called') > 0; SELECT last_value FROM called},
	'volatile functions in subplans' => q{SELECT count(*) FROM fact JOIN dim USING (k) WHERE (SELECT nextval('called') WHERE fact.s >= 0) > 0; SELECT last_value FROM called},
	'volatile functions in nested loops' => q{SET enable_memoize = off; SET join_collapse_limit = 1; SELECT count(*) FROM fact CROSS JOIN LATERAL (SELECT nextval('called') WHERE fact.s >= 0 OFFSET 0) AS l JOIN dim ON fact.k = dim.k; SELECT last_value FROM called},
	'barriers hide rows' => q{SELECT count(*) FROM visible JOIN two ON visible.o OPERATOR(=) two.o},
	'rows are counted as read' => q{BEGIN; SELECT count(*) FROM fact JOIN dim USING (k); SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relid = 'fact'::regclass; COMMIT},
	'LIMIT over Gather' => $parallel . q{SET bloomtype_scan.testing = off; SELECT count_nodes('SELECT fact.k FROM fact JOIN dim USING (k) LIMIT 1') >= 0},
	'Gather in an InitPlan' => $parallel . q{SET bloomtype_scan.testing = off; SELECT count_nodes('SELECT (SELECT count(*) FROM fact JOIN dim USING (k)) FROM dim LIMIT 1') >= 0},
	'parallel, shared table' => $parallel . q{SELECT count(*), sum(large.g) FROM fact JOIN large USING (k)},
	'parallel, a shared table in batches' => $parallel . $spilled . q{SELECT count(*), sum(large.g) FROM fact JOIN large USING (k)},
	'parallel, tables of their own' => $parallel . q{SET enable_parallel_hash = off; SELECT count(*), sum(large.g) FROM fact JOIN large USING (k)});

# executes EXPLAIN ANALYZE; how many nodes are ours?
$node->safe_psql('postgres', q{
	CREATE FUNCTION count_nodes(query text) RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		line text;
		n int := 0;
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE) ' || query LOOP
			n := n + (line ~ 'Custom Scan')::int;
		END LOOP;
		RETURN n;
	END $$});

# ask LIBRARY, SETTINGS, SQL: what psql prints, with what the server says beside it
sub ask
{
	my ($library, $settings, $sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"SET enable_mergejoin = off; SET enable_nestloop = off; SELECT setval('called', 1); LOAD '$library'; $settings; $sql");
	return "$status\n$out\n$err";
}

sub differs
{
	my ($library, $rule) = @_;
	my $nestloop = $rule =~ /nested/ ? '; SET enable_nestloop = on' : '';
	return ask($library, "SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = off$nestloop", $rules{$rule})
	  ne ask($library, "SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on$nestloop", $rules{$rule});
}

# What the library tells of the node when it ends: does its filter drop rows?
sub nodes
{
	my ($library, $dim) = @_;
	my $said = ask($library, 'SET bloomtype_scan.testing = small; SET bloomtype_scan.enabled = on; SET client_min_messages = debug1',
		"SELECT count(*) FROM fact JOIN $dim USING (k)");
	return join ' ', map { /rejected=(\d+)/; $1 > 48000 ? 'works' : 'idle' } grep { /bloomtype_scan:/ } split /\n/, $said;
}

# reports LIBRARY, TESTING, SQL: what the library tells of each use of a filter, as hashes
sub reports
{
	my ($library, $testing, $sql) = @_;
	my $said = ask($library, "SET bloomtype_scan.testing = $testing; SET bloomtype_scan.enabled = on; SET client_min_messages = debug1", $sql);
	return map { +{ /(\w+)=(\d+)/g } } grep { /bloomtype_scan:/ } split /\n/, $said;
}

# count_of LIBRARY, SETTINGS, LABEL, SQL: a number that EXPLAIN ANALYZE shows; 0 if it does not
sub count_of
{
	my ($library, $settings, $label, $sql) = @_;
	return ask($library, "$settings; SET bloomtype_scan.enabled = on", "EXPLAIN (ANALYZE, BUFFERS) $sql") =~ /$label(?:: )?(?:shared hit=)?(\d+)/ ? $1 : 0;
}

# What tests cost, and so where they go: a condition on the library, which its mutant does not meet
my %prices = (
	scan_price => ['keys that are dear to hash are not hashed ahead of the condition', sub {
		my ($use) = reports($_[0], 'small', 'SELECT count(*) FROM dear JOIN dear_few USING (k) WHERE id + 0 > 4940');
		return ($use->{stages} & 6) == 0; }],
	scan_elsewhere => ['keys that are stored elsewhere are not fetched', sub {
		return count_of($_[0], 'SET bloomtype_scan.testing = force', 'Buffers', 'SELECT count(*) FROM far JOIN far_few USING (k) WHERE id + 0 < 10') < 500; }],
	scan_order => ['that which drops more rows for its price goes first', sub {
		my %rejected = map { ($_->{bitmap} ? 'integers' : 'texts') => $_->{rejected} } reports($_[0], 'force',
			q{SELECT count(*) FROM labels JOIN (SELECT k FROM thousand WHERE k < 200) AS d USING (k) JOIN (SELECT 'label ' || k AS t FROM thousand WHERE k < 78 OFFSET 0) AS l USING (t)});
		return $rejected{integers} > $rejected{texts}; }],
	scan_walk => ['a key behind many columns is tested in its slot', sub {
		my ($use) = reports($_[0], 'force', 'SELECT count(*) FROM behind JOIN (SELECT k FROM thousand WHERE k % 10 < 4) AS d USING (k)');
		return $use->{rejected} > 2000 && $use->{paged} == 0; }],
	scan_budget => ['a filter that drops nothing looks at few rows', sub {
		return count_of($_[0], 'SET bloomtype_scan.testing = off', 'Rows Not Tested', 'SELECT count(*) FROM fact JOIN hundred USING (s)') > 25000; }],
	scan_make => ['files of batches are not read for few rows', sub {
		return count_of($_[0], "SET work_mem = '1MB'; SET hash_mem_multiplier = 1", '(?:Memory Usage: (?=\d+ kB))', 'SELECT count(*) FROM many(8000) AS m (k) JOIN filed USING (k)') == 0; }],
	scan_verify => ['a filter whose check compared nothing is refused', sub {
		my ($use) = reports($_[0], 'force', 'SELECT count(*) FROM fact RIGHT JOIN (SELECT NULL::int AS k FROM thousand WHERE k < 9 OFFSET 0) AS d USING (k)');
		return $use->{made} == 0; }],
	scan_counts => ['the rows of the scan are those that passed and those that were dropped', sub {
		my ($passed, $dropped, $scanned) = ask($_[0], 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on',
			'EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT count(*) FROM fact JOIN dim USING (k)') =~ /Bloom Filter\) \(actual rows=(\d+).*Removed by Bloom Filter: (\d+).*Seq Scan on fact \(actual rows=(\d+)/s;
		return $scanned == 50000 && $passed + $dropped == $scanned; }],
	scan_expected => ['few rows are expected, and many come', sub {
		return count_of($_[0], 'SET bloomtype_scan.testing = off', 'Rows Removed by Bloom Filter', 'SELECT count(*) FROM fact JOIN dim USING (k) WHERE s % 3 = 1') > 10000; }],
	scan_hidden => ['behind a security barrier, EXPLAIN ANALYZE counts rows of the view alone', sub {
		return count_of($_[0], 'SET bloomtype_scan.testing = force', 'Rows Removed by Bloom Filter', 'SELECT count(*) FROM (SELECT * FROM seen OFFSET 0) AS s JOIN dim USING (k)') <= 5000; }]);

# Rows in the order of their key: how many does a filter drop that finds them in the first, or in the last tenth?
sub dropped
{
	my ($library, $where) = @_;
	my $said = ask($library, 'SET bloomtype_scan.testing = small; SET bloomtype_scan.enabled = on',
		"EXPLAIN (ANALYZE) SELECT count(*) FROM sorted JOIN (SELECT k FROM thousand WHERE $where) AS t USING (k)");
	return $said =~ /Rows Removed by Bloom Filter: (\d+)/ ? $1 : 0;
}

foreach my $rule (sort keys %rules)
{
	ok(!differs($ours, $rule), $rule)
	  or diag(ask($ours, 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on', $rules{$rule}));
}
is(nodes($ours, 'dim'), 'works', 'a filter that pays goes on');
cmp_ok(dropped($ours, 'k < 100'), '>', 40000, 'partners in the first tenth: the others are dropped');
cmp_ok(dropped($ours, 'k >= 900'), '>', 40000, 'partners in the last tenth: the others are dropped');
like(ask($ours, 'SET bloomtype_scan.enabled = on; ' . $parallel, q{SELECT 'nodes', count_nodes('SELECT fact.k FROM fact JOIN dim USING (k) LIMIT 1')}),
	qr/^nodes\|1$/m, 'LIMIT over Gather has a filter');

foreach my $mutant (sort keys %prices)
{
	my ($rule, $holds) = @{$prices{$mutant}};
	ok($holds->($ours), $rule);
	ok(!$holds->(library_of($mutant)), "$mutant is caught");
}

# The library says so when it was built for another minor version
{
	my $log = -s $node->logfile;
	ask($ours, 'SELECT 1', 'SELECT 1');
	unlike(slurp_file($node->logfile, $log), qr/was built for/, 'the server that it was built for');
	ask(library_of(undef, '-DBUILT_FOR=150001'), 'SELECT 1', 'SELECT 1');
	like(slurp_file($node->logfile, $log), qr/LOG:  bloomtype_scan was built for PostgreSQL 15.1, and the server is/, 'another one');
}

# Mutants, and what catches each
my %mutants = (
	scan_generation => 'a filter goes with its table',
	scan_callback => 'a filter goes with its table',
	scan_limit => 'not below LIMIT',
	scan_left => 'LEFT JOIN keeps rows',
	scan_chunk => 'all chunks',
	scan_batch => 'all batches',
	scan_skew => 'common keys of batches',
	scan_shared => 'parallel, a shared table in batches',
	scan_cross_type => 'hashes of two types',
	scan_volatile => 'volatile conditions',
	scan_subplan => 'volatile functions in subplans',
	scan_loop => 'volatile functions in nested loops',
	scan_trusted => 'barriers hide rows',
	scan_worker => 'LIMIT over Gather',
	scan_bitmap_low => 'ends of a bitmap',
	scan_bitmap_high => 'ends of a bitmap',
	scan_int8 => 'wide integers',
	scan_oid => 'large oids',
	scan_nulls => 'nulls before a key',
	scan_natts => 'columns that were added',
	scan_current => 'ends of a bitmap',
	scan_last => 'all chunks',
	scan_statistics => 'rows are counted as read',
	scan_gives_up => undef,
	scan_dead => undef);

foreach my $mutant (sort keys %mutants)
{
	my $library = library_of($mutant);
	if (defined $mutants{$mutant})
	{
		ok(differs($library, $mutants{$mutant}), "$mutant is caught: $mutants{$mutant}");
	}
	elsif ($mutant eq 'scan_gives_up')
	{
		cmp_ok(dropped($library, 'k < 100'), '<', 40000, "$mutant is caught");
	}
	else
	{
		isnt(nodes($library, 'dim'), 'works', "$mutant is caught");
	}
}

# beside pg_stat_statements, and auto_explain that instruments all plans
{
	my $log = -s $node->logfile;
	my $sql = q{SELECT count(*) FROM fact JOIN dim USING (k); SELECT fact.k FROM fact JOIN dim USING (k) LIMIT 1; SELECT (SELECT count(*) FROM fact JOIN dim USING (k)) FROM dim LIMIT 1};
	my $out = ask($ours, "$parallel SET bloomtype_scan.enabled = on; LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_verbose = on", $sql);
	like($out, qr/^0\n.*\b1000\n.*\b1000\n$/s, 'beside pg_stat_statements and auto_explain');
	like(slurp_file($node->logfile, $log), qr/Custom Scan \(Bloom Filter\).*Rows Removed by Bloom Filter/s, 'auto_explain shows what was dropped');
	$log = -s $node->logfile;
	ask($ours, "$parallel SET bloomtype_scan.enabled = on; LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_format = json", $sql);
	like(slurp_file($node->logfile, $log), qr/"Custom Plan Provider": "Bloom Filter"/, 'also without ANALYZE');
}

# Cancelled at any time, the memory of filters is given back: there is room for one of them
{
	my $query = q{SELECT count(*) FROM large AS a JOIN large AS b USING (k) WHERE b.g < 5};
	my $sql = join "\n", map { "SET statement_timeout = '${_}ms'; $query;" } map { 1 + $_ % 30 } 1 .. 60 * $stress;
	my ($status, $out, $err) = $node->psql('postgres', "LOAD 'bloomtype_scan'; SET enable_mergejoin = off; SET enable_nestloop = off; SET work_mem = '8MB'; SET hash_mem_multiplier = 1;
		SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on; $sql
		SET statement_timeout = 0; $query; EXPLAIN (ANALYZE) $query", on_error_stop => 0);
	cmp_ok(scalar(() = $err =~ /canceling statement/g), '>', 0, 'some were cancelled');
	like($out, qr/^10000\n/m, 'then the answer is right');
	like($out, qr/Rows Removed by Bloom Filter: (9\d\d\d|10000)\b/, 'and there is a filter');
}

# Executed many times in one session, no memory stays behind: not even two bytes each time
{
	my $times = 5000 * $stress;
	my $out = $node->safe_psql('postgres', qq{
		LOAD 'bloomtype_scan'; SET enable_mergejoin = off; SET enable_nestloop = off; SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on; SET plan_cache_mode = force_generic_plan;
		CREATE TABLE few AS SELECT i AS k, 'k' || i AS n FROM generate_series(1, 50) AS i;
		PREPARE often AS SELECT count(*) FROM few AS a JOIN few AS b USING (k, n) WHERE b.k < 9;
		CREATE PROCEDURE often(times int) LANGUAGE plpgsql AS \$\$ BEGIN FOR i IN 1 .. times LOOP EXECUTE 'EXECUTE often'; END LOOP; END \$\$;
		CALL often(200);
		CREATE TEMP TABLE used (i serial, bytes numeric);
		INSERT INTO used (bytes) SELECT sum(used_bytes) FROM pg_backend_memory_contexts;
		INSERT INTO used (bytes) SELECT sum(used_bytes) FROM pg_backend_memory_contexts;
		CALL often($times);
		INSERT INTO used (bytes) SELECT sum(used_bytes) FROM pg_backend_memory_contexts;
		SELECT max(bytes) FILTER (WHERE i = 3) - max(bytes) FILTER (WHERE i = 2) < 2 * $times FROM used;
		DROP TABLE few});
	is($out, 't', "no memory stays behind after $times executions");
}

# A thousand partitions
{
	my $out = $node->safe_psql('postgres', q{
		CREATE TABLE many (k int, s int) PARTITION BY LIST (s);
		SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES IN (%s)', i, i) FROM generate_series(0, 999) AS i \gexec
		INSERT INTO many SELECT i % 500, i % 1000 FROM generate_series(1, 20000) AS i;
		ANALYZE many;
		LOAD 'bloomtype_scan'; SET enable_mergejoin = off; SET enable_nestloop = off; SET bloomtype_scan.testing = force;
		SELECT count(*), sum(s) FROM many JOIN dim USING (k);
		SET bloomtype_scan.enabled = on;
		SELECT count(*), sum(s) FROM many JOIN dim USING (k);
		SELECT count_nodes('SELECT count(*), sum(s) FROM many JOIN dim USING (k)')});
	is((split /\n/, $out)[-3], (split /\n/, $out)[-2], 'a thousand partitions: the same answer');
	is((split /\n/, $out)[-1], 1000, 'and a thousand nodes');
}

done_testing();
