# filter @> key in a condition, tested a page at a time: one query for each rule, with
# the library and without; and with mutants of it, which the same queries must catch.
# Then who else looks at such a scan: cursors, row security, EXPLAIN, other sessions.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Scan;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('where');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
});
$node->start;

# the library with its counters, which a release has not
my $ours = library_of(undef);
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype;
	CREATE TABLE fact (k int, s int, c text);
	INSERT INTO fact SELECT CASE WHEN i % 7 > 0 THEN i END, i % 100, 'c' || i FROM generate_series(1, 20000) AS i;
	CREATE TABLE small AS SELECT i AS k FROM generate_series(1, 100) AS i;
	CREATE TABLE timed (t interval, gone int, k int);
	INSERT INTO timed SELECT i % 50 * interval '1 s', NULL, i FROM generate_series(1, 5000) AS i;
	ALTER TABLE timed DROP gone;
	CREATE TABLE times AS SELECT i * interval '1 s' AS t FROM generate_series(40, 60) AS i;
	CREATE TABLE filters (id int PRIMARY KEY, f bloom);
	INSERT INTO filters SELECT n, bloom_agg(i * n, 5000, 1e-6) FROM generate_series(1, 3) AS n, generate_series(0, 300) AS i GROUP BY n;
	INSERT INTO filters VALUES (4, NULL), (5, bloom_add(bloom_empty(10), 'x'::text)), (6, (SELECT bloom_agg(i) FROM generate_series(-20000, 200) AS i));
	CREATE SEQUENCE called;
	CREATE ROLE reader;
	CREATE TABLE secret AS SELECT * FROM fact;
	ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	CREATE POLICY visible ON secret USING (s < 10);
	GRANT SELECT ON secret, filters, fact TO reader;
	ANALYZE});

my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;};
my $filter = '(SELECT f FROM filters WHERE id = 2)';

# Each rule, and statements whose output is the same by pages and by rows
my %rules = (
	'the first row of a page' => qq{SELECT count(*), sum(k) FROM fact WHERE $filter @> k},
	'a null key' => q{SELECT count(*), count(k) FROM fact WHERE (SELECT f FROM filters WHERE id = 1) @> k},
	'another filter for the same page' => q{SELECT id, (SELECT count(*) FROM small WHERE f @> k) FROM filters WHERE id <= 3},
	'the same page again' => q{SELECT format('SELECT g, (SELECT count(*) FROM small WHERE %L::bloom @> k AND k > g) FROM generate_series(0, 3) AS g', f) FROM filters WHERE id = 2 \\gexec
},
	'a null filter' => q{SELECT count(*) FROM fact WHERE (SELECT f FROM filters WHERE id = 4) @> k},
	'another key type' => q{SELECT count(*) FROM fact WHERE (SELECT f FROM filters WHERE id = 5) @> k},
	'backward' => qq{BEGIN; DECLARE c SCROLL CURSOR FOR SELECT k FROM fact WHERE $filter @> k AND s < 60; FETCH 30 FROM c; FETCH BACKWARD 20 FROM c; FETCH 100 FROM c; FETCH BACKWARD ALL FROM c; FETCH ALL FROM c; ROLLBACK},
	'an InitPlan that no row needs' => q{SELECT count(*) FROM fact WHERE s < 0 AND (SELECT f FROM filters) @> k},
	'an InitPlan that fails' => q{SELECT count(*) FROM fact WHERE (SELECT f FROM filters) @> k},
	'volatile conditions' => qq{SELECT count(*) FROM fact WHERE $filter @> k AND nextval('called') > 0; SELECT last_value FROM called},
	'a cached plan' => q{SET plan_cache_mode = force_generic_plan; PREPARE q(int) AS SELECT count(*) FROM fact WHERE (SELECT f FROM filters WHERE id = $1) @> k; EXECUTE q(1); EXECUTE q(2); SET bloomtype_scan.enabled = off; EXECUTE q(1)},
	'WHERE CURRENT OF' => qq{BEGIN; DECLARE c CURSOR FOR SELECT k FROM fact WHERE $filter @> k; FETCH 5 FROM c; UPDATE fact SET c = 'here' WHERE CURRENT OF c; FETCH 3 FROM c; DELETE FROM fact WHERE CURRENT OF c RETURNING k; SELECT k FROM fact WHERE c = 'here'; ROLLBACK},
	'UPDATE, DELETE, FOR UPDATE' => qq{BEGIN; SELECT k FROM fact WHERE $filter @> k FOR UPDATE; UPDATE fact SET k = k + 2 WHERE $filter @> k; DELETE FROM fact WHERE $filter @> k AND s % 4 = 0; SELECT count(*), sum(k) FROM fact; ROLLBACK},
	'row security' => qq{SET ROLE reader; SELECT count(*), sum(s) FROM secret WHERE $filter @> k; SELECT count(*) FROM secret WHERE s > 50 AND (SELECT f FROM filters WHERE id = 5) @> k},
	'parallel' => $parallel . qq{SELECT count(*), sum(k) FROM fact WHERE $filter @> k; SELECT k FROM fact WHERE $filter @> k ORDER BY k},
	'below Gather' => $parallel . qq{SELECT count(*), sum(k) FROM (SELECT k FROM fact WHERE $filter @> k OFFSET 0) AS s},
	'a join with a filter of its own' => qq{SELECT count(*) FROM fact JOIN small USING (k) WHERE $filter @> k; SELECT count(*), sum(fact.k) FROM fact JOIN small ON small.k = s WHERE $filter @> fact.k AND s % 3 > 0},
	'a filter of a join that comes later' => qq{SELECT count(*), sum(k) FROM timed JOIN times USING (t) WHERE $filter @> k});

# ask LIBRARY, SETTINGS, SQL: what psql prints, with what the server says beside it
sub ask
{
	my ($library, $settings, $sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SET enable_mergejoin = off; SET enable_nestloop = off; SELECT setval('called', 1); LOAD '$library'; $settings; $sql", on_error_stop => 0);
	return "$status\n$out\n$err";
}

sub differs
{
	my ($library, $rule) = @_;
	my $by_rows = ask($library, 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = off', $rules{$rule});

	return grep { $by_rows ne ask($library, "SET bloomtype_scan.testing = $_; SET bloomtype_scan.enabled = on", $rules{$rule}) } qw(force small);
}

foreach my $rule (sort keys %rules)
{
	ok(!differs($ours, $rule), $rule)
	  or diag(ask($ours, 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on', $rules{$rule}));
}

# Mutants, and what catches each
my %mutants = (
	where_first_row => 'the first row of a page',
	where_null_key => 'a null key',
	where_rescan => 'the same page again',
	where_untested => 'a null filter',
	where_backward => 'backward',
	where_initplan => 'an InitPlan that no row needs',
	where_volatile => 'volatile conditions',
	where_cached_plan => 'a cached plan',
	where_current_of => 'WHERE CURRENT OF',
	where_gather => 'below Gather',
	where_joined => 'a filter of a join that comes later');

foreach my $mutant (sort keys %mutants)
{
	ok(differs(library_of($mutant), $mutants{$mutant}), "$mutant is caught: $mutants{$mutant}");
}

# Keys of each type: the same rows, and all types by pages
{
	my %types = (
		bool => 'i % 3 = 0', int2 => 'i', int4 => 'i', int8 => 'i', oid => 'i', float4 => 'i / 4.0', float8 => 'i / 4.0', numeric => 'i / 4.0',
		text => q{'k' || i}, varchar => q{'k' || i}, bytea => q{decode('k' || i, 'escape')}, date => q{date '2026-01-01' + i}, time => q{time '00:00' + i * interval '1 s'},
		timestamp => q{timestamp '2026-01-01' + i * interval '1 s'}, timestamptz => q{timestamptz '2026-01-01' + i * interval '1 s'}, uuid => 'md5(i::text)::uuid');

	$node->safe_psql('postgres', "CREATE TABLE typed_$_ AS SELECT i, ($types{$_})::$_ AS k FROM generate_series(1, 2000) AS i; "
		. "CREATE TABLE filter_$_ AS SELECT bloom_agg(k) AS f FROM typed_$_ WHERE i % 9 = 0; ANALYZE typed_$_, filter_$_") foreach keys %types;

	my $queries = join '; ', map { "SELECT '$_', count(*), md5(string_agg(i::text, ',' ORDER BY i)) FROM typed_$_ WHERE (SELECT f FROM filter_$_) @> k" } sort keys %types;
	my $by_rows = ask($ours, 'SET bloomtype_scan.enabled = off', $queries);
	my $settings = 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on';

	is(ask($ours, $settings, $queries), $by_rows, 'the same rows for keys of each type');
	my %paged = map { $_ => 1 } ask($ours, "$settings; SET client_min_messages = debug1", $queries) =~ /bloomtype_where: .*type=(\d+) pages=[1-9]/g;
	is(keys %paged, keys %types, 'all by pages');
}

# What EXPLAIN says, and that all rows are accounted for
my $forced = 'SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on';
my $analyze = 'EXPLAIN (ANALYZE, BUFFERS off, COSTS off, TIMING off, SUMMARY off)';
{
	my $plan = ask($ours, $forced, qq{$analyze SELECT count(*) FROM fact WHERE s < 50 AND $filter @> k});

	like($plan, qr/Custom Scan \(Bloom Filter\) \(actual rows=(\d+)\S* loops=1\)\n *Filter: \(\(s < 50\) AND \([^\n]* @> k\)\)\n *Rows Removed by Filter: (\d+)\n *->  Seq Scan on fact \(actual rows=20000\S* loops=1\)\n/, 'EXPLAIN ANALYZE');
	my $sum = 0;
	$sum += $_ foreach $plan =~ /Custom Scan \(Bloom Filter\) \(actual rows=(\d+)/, $plan =~ /@> k[^\n]*\n *Rows Removed by Filter: (\d+)/;
	is($sum, 20000, 'all rows are counted');
	unlike(ask($ours, 'SET bloomtype_scan.enabled = on', qq{EXPLAIN (COSTS off) SELECT count(*) FROM small WHERE $filter @> k}), qr/Custom/, 'a small table has no node');
	$plan = ask($ours, "$forced; $parallel", qq{EXPLAIN (ANALYZE, COSTS off) SELECT count(*) FROM fact WHERE $filter @> k});
	like($plan, qr/Custom Scan \(Bloom Filter\).*Parallel Seq Scan on fact \([^)]* loops=3\)/s, 'EXPLAIN ANALYZE with workers');
	my $below = sub { my ($library) = @_; return ask($library, "$forced; $parallel", qq{EXPLAIN (ANALYZE, COSTS off) SELECT k FROM fact WHERE $filter @> k}); };
	like($below->($ours), qr/Gather.*Parallel Seq Scan/s, 'below Gather');
	unlike($below->(library_of('where_worker')), qr/Parallel Seq Scan/, 'where_worker is caught');
}

# A join and a condition: one node, which tests pages for both
{
	my $sql = "SELECT count(*) FROM fact JOIN small ON small.k = s WHERE $filter @> fact.k";

	like(ask($ours, "$forced; SET client_min_messages = debug1", $sql), qr/bloomtype_where: [^\n]* dropped=[1-9][^\n]* joined=[1-9]/, 'both drop rows of pages');
	my $plan = ask($ours, $forced, "$analyze $sql");
	like($plan, qr/Custom Scan \(Bloom Filter\) \(actual rows=(\d+)\S* loops=1\)\n *Hash Cond: \(fact.s = small.k\)\n *Filter: \([^\n]* @> k\)\n *Rows Removed by Filter: (\d+)\n *Rows Removed by Bloom Filter: (\d+)\n.*->  Seq Scan on fact \(actual rows=20000\S* loops=1\)\n/s, 'EXPLAIN ANALYZE of both');
	my $sum = 0;
	$sum += $_ foreach $plan =~ /Custom Scan \(Bloom Filter\) \(actual rows=(\d+)/, $plan =~ /@> k[^\n]*\n *Rows Removed by Filter: (\d+)\n *Rows Removed by Bloom Filter: (\d+)/;
	is($sum, 20000, 'all rows are counted');
}

# Counts tell nothing of the rows that a policy hides, when that is a filter itself
{
	$node->safe_psql('postgres', q{
		CREATE TABLE owned AS SELECT i % 100 AS k, i % 50 AS s FROM generate_series(1, 10000) AS i;
		ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
		DO $$ BEGIN EXECUTE format('CREATE POLICY visible ON owned USING (%L::bloom @> k)', (SELECT bloom_agg(7))); END $$;
		GRANT SELECT ON owned, small TO reader;
		ANALYZE owned});
	my $counts = sub {
		my ($library, $sql) = @_;
		return [ask($library, "$forced; SET ROLE reader", "$analyze $sql") =~ /Rows Removed by (?:Bloom )?Filter: (\d+)/g];
	};
	is_deeply($counts->($ours, 'SELECT FROM owned WHERE s = 8'), [10000], 'of a condition of the user');
	my $join = 'SELECT FROM owned JOIN (SELECT k FROM small WHERE k <= 6 OFFSET 0) AS s ON s.k = s';
	cmp_ok($counts->($ours, $join)->[1], '<=', 100, 'of a join');
	cmp_ok($counts->(library_of('where_counts'), $join)->[1], '>', 100, 'where_counts is caught');
}

# What comes before a test in the condition, and drops nearly all, spares it
{
	my $sql = 'SELECT count(*) FROM fact WHERE s = 7 AND (SELECT bloom_agg(i) FROM generate_series(1, 16000) AS i) @> k';
	my $reports = sub { my ($library) = @_; return ask($library, 'SET bloomtype_scan.testing = small; SET bloomtype_scan.enabled = on; SET client_min_messages = debug1', $sql); };

	like($reports->($ours), qr/bloomtype_where: [^\n]* rests=[1-9]/, 'a condition before the test that drops nearly all rows');
	like($reports->(library_of('where_ahead')), qr/bloomtype_where: [^\n]* rests=0/, 'where_ahead is caught');
}

# In a database whose texts are converted: a character that has no equivalent, in a row that a policy hides;
# and keys of all types
{
	$node->safe_psql('postgres', q{CREATE DATABASE win TEMPLATE template0 ENCODING 'WIN1252' LC_COLLATE 'C' LC_CTYPE 'C'});
	$node->safe_psql('win', q{
		CREATE EXTENSION bloomtype;
		SET client_encoding = 'SQL_ASCII';
		CREATE TABLE owned (id int, who text, k text, v varchar);
		INSERT INTO owned SELECT i, 'reader', 'k' || i, 'k' || i FROM generate_series(1, 2000) AS i;
		INSERT INTO owned VALUES (0, 'boss', 'secret' || chr(129), 'secret' || chr(129));
		ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
		CREATE POLICY visible ON owned USING (who = current_user);
		GRANT SELECT ON owned TO reader;
		ANALYZE});
	foreach my $column ('k', 'v')
	{
		my $sql = "SET ROLE reader; SELECT count(*) FROM owned WHERE (SELECT bloom_agg(x) FROM (VALUES ('k1'::text), ('k2')) AS v (x)) @> $column";
		is($node->safe_psql('win', "LOAD 'bloomtype_scan'; $forced; $sql"), $node->safe_psql('win', $sql), "a character without an equivalent, in a hidden row: $column");
	}
	my ($status, $out, $err) = $node->psql('win', slurp_file("$FindBin::RealBin/../sql/scan_types.sql"));
	like($out, qr/^\d{4}\|t\|$/m, 'keys of all types, in WIN1252') or diag($out, $err);
}

# A few rows of each scan are tested one by one, since it may be read for them
{
	my $sql = "SELECT count(*) FROM small AS o, LATERAL (SELECT 1 FROM fact WHERE $filter @> k AND k > o.k * 0 LIMIT 1) AS s";
	my $reports = sub { my ($library) = @_; return ask($library, 'SET bloomtype_scan.testing = small; SET bloomtype_scan.enabled = on; SET client_min_messages = debug1', $sql); };

	like($reports->($ours), qr/bloomtype_where: [^\n]* pages=0 not=0 [^\n]* rescans=[1-9]/, 'each time that it begins');
	like($reports->(library_of('where_wait')), qr/bloomtype_where: [^\n]* pages=[1-9]/, 'where_wait is caught');
}

# Keys that are stored elsewhere are fetched only for rows that the rest of the condition lets pass
{
	$node->safe_psql('postgres', q{
		CREATE TABLE wide (id int, k text);
		ALTER TABLE wide ALTER k SET STORAGE external;
		INSERT INTO wide SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 500) AS i;
		CREATE TABLE filter_wide AS SELECT bloom_agg(k) AS f FROM wide WHERE id % 9 = 0;
		ANALYZE wide, filter_wide});
	my $sql = 'SELECT id FROM wide WHERE id = 9 AND (SELECT f FROM filter_wide) @> k';
	my $blocks = sub {
		my ($library) = @_;
		my ($n) = ask($library, $forced, "SELECT count(*) FROM wide, filter_wide; EXPLAIN (ANALYZE, BUFFERS, COSTS off) $sql") =~ /Buffers: shared hit=(\d+)/;
		return $n;
	};
	cmp_ok($blocks->($ours), '<', 50, 'keys that are stored elsewhere');
	cmp_ok($blocks->(library_of('where_elsewhere')), '>', 500, 'where_elsewhere is caught');
	$sql = 'SELECT count(*), sum(id) FROM wide WHERE (SELECT f FROM filter_wide) @> k';
	is(ask($ours, $forced, $sql), ask($ours, 'SET bloomtype_scan.enabled = off', $sql), 'they are found');
}

# Rows that another session changes meanwhile are looked at again, by the plain condition
{
	my $settings = "LOAD 'bloomtype_scan'; SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on; SET application_name = 'waits'";

	$node->safe_psql('postgres', 'CREATE TABLE changed (id int, k int)');
	foreach my $sql ("UPDATE changed SET id = -id WHERE $filter @> k RETURNING k", "SELECT k FROM changed WHERE $filter @> k FOR UPDATE", "DELETE FROM changed WHERE $filter @> k RETURNING k")
	{
		$node->safe_psql('postgres', 'TRUNCATE changed; INSERT INTO changed SELECT i, i FROM generate_series(1, 300) AS i');
		my $first = $node->background_psql('postgres');
		my $second = $node->background_psql('postgres', on_error_stop => 0);

		$second->query($settings);
		# 4 and 200 leave the filter, 10 stays in it, 5 and 7 come in, and are not seen
		$first->query_safe('BEGIN; UPDATE changed SET k = k + CASE k WHEN 10 THEN 2 ELSE 1 END WHERE k IN (4, 5, 7, 10, 200)');
		$second->query_until(qr/asked/, "\\echo asked\nBEGIN; $sql;\n\\echo answered\n");
		$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'waits' AND wait_event_type = 'Lock'});
		$first->query_safe('COMMIT');
		my $answer = $second->query('ROLLBACK; SELECT 1');
		my @keys = $answer =~ /^(\d+)$/mg;
		my $sum = 0;
		$sum += $_ foreach @keys;
		is($sum, 22650 - 4 - 200 - 10 + 12 + 1, (split / /, $sql)[0] . ': rows that another session has changed are looked at again');
		$first->quit;
		$second->quit;
	}
}

# SERIALIZABLE: a write skew is refused, as without
{
	my $settings = "LOAD 'bloomtype_scan'; SET bloomtype_scan.testing = force; SET bloomtype_scan.enabled = on";
	my ($first, $second) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;

	$node->safe_psql('postgres', 'CREATE TABLE doctors AS SELECT i AS k, 0 AS n FROM generate_series(1, 400) AS i');
	$_->query("$settings; BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(n) FROM doctors WHERE $filter @> k") foreach $first, $second;
	$first->query('INSERT INTO doctors VALUES (2, 1)');
	$second->query('INSERT INTO doctors VALUES (4, 1)');
	$first->query('COMMIT');
	$second->query('COMMIT');
	is($node->safe_psql('postgres', 'SELECT sum(n) FROM doctors'), 1, 'one of two transactions that read what the other writes');
	$first->quit;
	$second->quit;
}

done_testing();
