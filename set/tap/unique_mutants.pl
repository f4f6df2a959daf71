#
# Unique keys: rules that one session alone can show.  Each has a mutant that lacks it,
# and must give another result.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_small_server('bloomtype_set', 'mutants', "fsync = off\nautovacuum = off\nclient_min_messages = error\nlock_timeout = 20s\n");

# what statements say, in short, and the rows in the end
sub result
{
	my ($database, $type, $sql) = @_;
	my $tables = "CREATE TABLE t (id $type, p int) PARTITION BY LIST (p);
		CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
		CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
		CREATE INDEX ON t (id);
		SELECT bloom_unique_create('t', 'id');
		INSERT INTO t VALUES (1, 1), (2, 2);\n";
	my ($status, $out, $err) = $node->psql($database, "$tables$sql", on_error_stop => 0);
	my $said = join ' ', $err =~ /ERROR: +(duplicate key|cannot check|.*)/g;
	my $rows = $node->safe_psql($database, q{SELECT string_agg(id || ':' || p, ' ' ORDER BY p, id) FROM t});
	$node->safe_psql($database, 'DROP TABLE IF EXISTS t3, t35, m CASCADE; DROP TABLE t, t_id_unique CASCADE; DROP FUNCTION IF EXISTS f()');
	return "$said | $rows";
}

foreach my $test (
	[ 'unique_image', 'numeric', "BEGIN; SELECT bloom_unique_claim('t', 'id', 5.0); INSERT INTO t VALUES (5.00, 1); INSERT INTO t VALUES (5.0, 2); COMMIT", 'duplicate key | 1:1 2:2' ],
	[ 'unique_entry_rollback', 'int', "BEGIN; SAVEPOINT s; SELECT bloom_unique_claim('t', 'id', 5); ROLLBACK TO s; INSERT INTO t VALUES (5, 1); COMMIT; INSERT INTO t VALUES (5, 2)", 'duplicate key | 1:1 5:1 2:2' ],
	[ 'unique_entry_attach', 'int', "CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3) PARTITION BY LIST (id); CREATE TABLE t35 (LIKE t); INSERT INTO t35 VALUES (5, 3); BEGIN; SELECT bloom_unique_claim('t', 'id', 5); ALTER TABLE t3 ATTACH PARTITION t35 FOR VALUES IN (5); INSERT INTO t VALUES (5, 1); COMMIT", 'duplicate key | 1:1 2:2' ],
	[ 'unique_collected', 'int', q{CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM bloom_unique_claim('t', 'id', NEW.id); RETURN NULL; END$$;
		CREATE TRIGGER z AFTER INSERT ON t FOR EACH ROW WHEN (NEW.p = 1) EXECUTE FUNCTION f();
		BEGIN; INSERT INTO t VALUES (5, 1); INSERT INTO t VALUES (5, 2); COMMIT}, 'duplicate key | 1:1 2:2' ],
	[ 'unique_naming', 'int', q{CREATE TABLE m (LIKE t) PARTITION BY LIST (p); CREATE TABLE m1 PARTITION OF m FOR VALUES IN (1); CREATE INDEX ON m (id);
		SELECT replace(pg_get_triggerdef(oid), 'ON public.t ', 'ON m ') FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal \gexec
		TRUNCATE m; INSERT INTO t VALUES (1, 2)}, 'cannot check duplicate key | 1:1 2:2' ],
	[ 'unique_fetch', 'int', 'UPDATE t SET p = 1 WHERE id = 1; INSERT INTO t SELECT 1, 1 FROM generate_series(1, 60); INSERT INTO t VALUES (1, 2)', 'duplicate key duplicate key | 1:1 2:2' ],
	[ 'unique_mark', 'int', "TRUNCATE t_id_unique; INSERT INTO t VALUES (5, 1);\n\\c -\nINSERT INTO t VALUES (6, 1); INSERT INTO t VALUES (1, 2)", 'duplicate key | 1:1 5:1 6:1 2:2' ])
{
	my ($mutant, $type, $sql, $expected) = @$test;

	use_mutant($mutant);
	is(result('postgres', $type, $sql), $expected, "without $mutant");
	isnt(result($mutant, $type, $sql), $expected, "... which is caught");
}

$node->stop;
done_testing();
