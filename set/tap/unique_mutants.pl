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
	$node->safe_psql($database, 'DROP EVENT TRIGGER IF EXISTS a_first; DROP TABLE IF EXISTS t3, t35, t4, m, payroll, more CASCADE; DROP TABLE IF EXISTS u, u_id_unique CASCADE; DROP TABLE t; DROP TABLE IF EXISTS t_id_unique; DROP FUNCTION IF EXISTS f()');
	return "$said | $rows";
}

$node->safe_psql('postgres', 'CREATE ROLE clerk');
make_limited('postgres');
my $seed = q{SELECT convert_from(rtrim(tgargs, '\\x00'), 'UTF8') AS seed FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname = 't_id_unique' \gset
};
# another's event trigger, which is called before ours
my $first = sub { return "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS \$\$BEGIN IF pg_trigger_depth() = 0 AND current_setting('first.is_done', true) = '' THEN PERFORM set_config('first.is_done', 'yes', false); $_[0] END IF; END\$\$;
	CREATE EVENT TRIGGER a_first ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION f(); SET first.is_done = '';\n" };

foreach my $test (
	[ 'unique_image', 'numeric', "BEGIN; SELECT bloom_unique_claim('t', 'id', 5.0); INSERT INTO t VALUES (5.00, 1); INSERT INTO t VALUES (5.0, 2); COMMIT", 'duplicate key | 1:1 2:2' ],
	[ 'unique_entry_rollback', 'int', "BEGIN; SAVEPOINT s; SELECT bloom_unique_claim('t', 'id', 5); ROLLBACK TO s; INSERT INTO t VALUES (5, 1); COMMIT; INSERT INTO t VALUES (5, 2)", 'duplicate key | 1:1 5:1 2:2' ],
	[ 'unique_entry_attach', 'int', "CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3) PARTITION BY LIST (id); CREATE TABLE t35 (LIKE t); INSERT INTO t35 VALUES (5, 3); BEGIN; SELECT bloom_unique_claim('t', 'id', 5); ALTER TABLE t3 ATTACH PARTITION t35 FOR VALUES IN (5); INSERT INTO t VALUES (5, 1); COMMIT", 'duplicate key | 1:1 2:2' ],
	[ 'unique_collected', 'int', q{CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM bloom_unique_claim('t', 'id', NEW.id); RETURN NULL; END$$;
		CREATE TRIGGER z AFTER INSERT ON t FOR EACH ROW WHEN (NEW.p = 1) EXECUTE FUNCTION f();
		BEGIN; INSERT INTO t VALUES (5, 1); INSERT INTO t VALUES (5, 2); COMMIT}, 'duplicate key | 1:1 2:2' ],
	[ 'unique_naming', 'int', q{CREATE TABLE m (LIKE t) PARTITION BY LIST (p); CREATE TABLE m1 PARTITION OF m FOR VALUES IN (1); CREATE INDEX ON m (id);
		SELECT replace(pg_get_triggerdef(oid), 'ON public.t ', 'ON m ') FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal \gexec
		TRUNCATE m; INSERT INTO t VALUES (1, 2)}, '"t_id_unique" cannot be used as the Bloom set of the unique keys of table "m" duplicate key | 1:1 2:2' ],
	[ 'unique_owner', 'int', "${seed}CREATE TABLE more (LIKE t_id_unique INCLUDING ALL); ALTER TABLE more OWNER TO clerk; CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON more FROM t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');\n\\c -\nINSERT INTO t VALUES (1, 2)", 'duplicate key | 1:1 2:2' ],
	[ 'unique_identity', 'int', "${seed}CREATE TABLE m (LIKE t) PARTITION BY LIST (p); CREATE TABLE m1 PARTITION OF m FOR VALUES IN (1); CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON m FOR EACH ROW WHEN (NEW.id IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed');
		CREATE TABLE payroll (id int); CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF id ON payroll FROM m FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');
		SELECT bloom_unique_drop('m', 'id'); SELECT FROM payroll", ' | 1:1 2:2' ],
	[ 'unique_form', 'int', "${seed}DROP TRIGGER t_id_unique ON t; CREATE CONSTRAINT TRIGGER t_id_unique AFTER UPDATE ON t FOR EACH ROW WHEN (NEW.id IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t VALUES (1, 2)", 'cannot check | 1:1 2:2' ],
	[ 'unique_plain', 'int', "${seed}DROP TRIGGER t_id_unique ON t; CREATE TRIGGER t_id_unique AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.id IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t VALUES (5, 2)", 'cannot check | 1:1 2:2' ],
	# others' triggers: another constraint, one of another form, another trigger AFTER STATEMENT, one of a partition, and another set
	[ 'unique_second', 'int', "${seed}CREATE CONSTRAINT TRIGGER z AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.p IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t VALUES (5, 1)", 'cannot check | 1:1 2:2' ],
	[ 'unique_stranger', 'int', "${seed}CREATE CONSTRAINT TRIGGER z AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t VALUES (5, 1)", 'cannot check | 1:1 2:2' ],
	[ 'unique_close', 'int', "${seed}CREATE OR REPLACE TRIGGER t_id_unique_close AFTER INSERT OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT WHEN ('pg_class'::regclass IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t VALUES (5, 1)", 'cannot check | 1:1 2:2' ],
	[ 'unique_copy', 'int', "${seed}CREATE CONSTRAINT TRIGGER z AFTER INSERT OR UPDATE ON t2 FOR EACH ROW WHEN (NEW.p IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); INSERT INTO t2 VALUES (5, 2)", 'cannot check | 1:1 2:2' ],
	[ 'unique_two_sets', 'int', "${seed}CREATE TABLE more (LIKE t_id_unique INCLUDING ALL); CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON more FROM t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');\n\\c -\nINSERT INTO t VALUES (5, 1)",
		'"more" cannot be used as the Bloom set of the unique keys of table "t" | 1:1 2:2' ],
	[ 'unique_unclosed', 'int', 'ALTER TABLE t DISABLE TRIGGER t_id_unique_close; BEGIN; INSERT INTO t VALUES (1, 2); ROLLBACK', 'duplicate key | 1:1 2:2' ],
	[ 'unique_enable', 'int', 'ALTER TABLE t DISABLE TRIGGER t_id_unique; INSERT INTO t VALUES (1, 2); ALTER TABLE t ENABLE TRIGGER t_id_unique; DELETE FROM t WHERE p = 2; ALTER TABLE t ENABLE TRIGGER t_id_unique', 'could not create unique constraint "t_id_unique" | 1:1' ],
	[ 'unique_same', 'int', "${seed}CREATE INDEX ON t (p); BEGIN; SELECT limited('INSERT INTO t VALUES (5, 1), (6, 1) RETURNING id', 1); DROP TRIGGER t_id_unique ON t; CREATE CONSTRAINT TRIGGER t_id_unique AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.p IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); COMMIT", 'the unique key of table "t" was changed meanwhile | 1:1 2:2' ],
	[ 'unique_attached', 'int', $first->("BEGIN ALTER TABLE t ATTACH PARTITION t4 FOR VALUES IN (4); RAISE EXCEPTION 'back'; EXCEPTION WHEN raise_exception THEN NULL; END;") . 'CREATE TABLE t3 (LIKE t); INSERT INTO t3 VALUES (7, 3); CREATE INDEX ON t3 (id); CREATE TABLE t4 (LIKE t); CREATE INDEX ON t4 (id); SET first.is_done = $$$$; ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3); INSERT INTO t VALUES (7, 1)', 'duplicate key | 1:1 2:2 7:3' ],
	[ 'unique_parents', 'int', $first->('ALTER TABLE u ATTACH PARTITION t4 FOR VALUES IN (4);') . 'CREATE TABLE u (LIKE t) PARTITION BY LIST (p); CREATE TABLE t3 (LIKE t); INSERT INTO t3 VALUES (1, 3); CREATE INDEX ON t3 (id); CREATE TABLE t4 (LIKE t); CREATE INDEX ON t4 (id); SET first.is_done = $$$$; ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3)', 'duplicate key | 1:1 2:2' ],
	[ 'unique_fetch', 'int', 'UPDATE t SET p = 1 WHERE id = 1; INSERT INTO t SELECT 1, 1 FROM generate_series(1, 60); INSERT INTO t VALUES (1, 2)', 'duplicate key duplicate key | 1:1 2:2' ],
	[ 'unique_mark', 'int', "TRUNCATE t_id_unique; INSERT INTO t VALUES (5, 1);\n\\c -\nINSERT INTO t VALUES (6, 1); INSERT INTO t VALUES (1, 2)", 'duplicate key | 1:1 5:1 6:1 2:2' ])
{
	my ($mutant, $type, $sql, $expected) = @$test;

	use_mutant($mutant);
	make_limited($mutant);
	is(result('postgres', $type, $sql), $expected, "without $mutant");
	isnt(result($mutant, $type, $sql), $expected, "... which is caught");
}

$node->stop;
done_testing();
