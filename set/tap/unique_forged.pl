#
# Unique keys: triggers that somebody has made or replaced by hand.  Whoever may create a
# table can make some that name what is not theirs; whoever has TRIGGER on a table can add
# and replace some there; and owners do so without malice.
#
# Two rows are there, 1 in partition 1 and 2 in partition 2.  Each test says which
# errors its statements raise, and which rows are there in the end.
#
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Utils;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;
use Unique;

my $node = start_unique_server('forged', "fsync = off\nmax_prepared_transactions = 5\n");
# whatever was done before: both keys are taken, and 3 is free
my $guarded = 'INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (2, 1); INSERT INTO t VALUES (3, 1); INSERT INTO t VALUES (3, 2);';
my $refused = '23505 23505 23505';
my $whole = '1:1 2:2 3:1';

make_limited('postgres');
answer('CREATE ROLE regress_bloom_other; CREATE ROLE regress_bloom_clerk');

# the schema of the test, and the seed of its key
my $here = q{
	SELECT current_schema AS here \gset
	SELECT convert_from(rtrim(tgargs, '\\x00'), 'UTF8') AS seed FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname = 't_id_unique' \gset
	GRANT USAGE ON SCHEMA public, :here TO regress_bloom_clerk;
};
my $gone = 'DROP SCHEMA forger CASCADE; REVOKE ALL ON SCHEMA public FROM regress_bloom_clerk;';
# the triggers of a key, on a table of the clerk's, that name something
my $forge = sub {
	my ($what) = @_;
	return qq{
		SELECT '$what'::regclass::oid AS set \\gset
		CREATE SCHEMA forger AUTHORIZATION regress_bloom_clerk;
		SET ROLE regress_bloom_clerk;
		CREATE TABLE forger.m (id bigint, p int, v bigint) PARTITION BY LIST (p);
		CREATE TABLE forger.m1 PARTITION OF forger.m FOR VALUES IN (1);
		CREATE INDEX ON forger.m (id);
		CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON forger.m FOR EACH ROW WHEN (NEW.id IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed');
		CREATE TRIGGER o BEFORE INSERT OR UPDATE ON forger.m FOR EACH STATEMENT EXECUTE FUNCTION bloom_unique(:'seed');
		CREATE TRIGGER c AFTER INSERT OR UPDATE OR TRUNCATE ON forger.m FOR EACH STATEMENT WHEN (:'set'::regclass IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed');
		RESET ROLE;
	};
};
# given away is what has this owner: division by zero, if it has not
my $given = sub {
	my ($what, $to) = @_;
	return "SELECT 1 / (relowner = '$to'::regrole)::int FROM pg_class WHERE oid = '$what'::regclass;\n";
};

#
# Tables of the forger's name what is not theirs
#

try('rows, TRUNCATE, claims of another table reach no set', "$here TRUNCATE t_id_unique;" . $forge->('t_id_unique') . q{
	SET ROLE regress_bloom_clerk;
	INSERT INTO forger.m SELECT 1, 1 WHERE false;
	INSERT INTO forger.m VALUES (1, 1);
	INSERT INTO forger.m1 VALUES (1, 1);
	TRUNCATE forger.m;
	SELECT bloom_unique_claim('forger.m', 'id', 1::bigint);
	SELECT bloom_unique_rebuild('forger.m', 'id');
	CALL bloom_unique_validate('forger.m', 'id');
	ALTER TABLE forger.m ENABLE TRIGGER r;
	RESET ROLE;
	SELECT count(*) AS rows FROM t_id_unique \gset
} . "\\if :rows\nSELECT 1 / 0;\n\\endif\nINSERT INTO t VALUES (1, 2); $gone", '55000 55000 55000 55000 55000 55000 55000 23505', '1:1 2:2');
try('nothing waits for a set of others', $here . $forge->('t_id_unique')
	  . "BEGIN; LOCK TABLE t_id_unique IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'locked'; SET lock_timeout = '2s'; SET ROLE regress_bloom_clerk; INSERT INTO forger.m1 VALUES (1, 1); TRUNCATE forger.m; RESET ROLE; ALTER TABLE forger.m OWNER TO regress_bloom_other; ROLLBACK PREPARED 'locked'; $gone", '55000 55000', '1:1 2:2');
# what has the privilege TRIGGER granted on it can name them back
foreach my $what (
	[ 'is no set', 'CREATE TABLE payroll (id text)', 'id' ],
	[ 'is a set of other keys', "SELECT bloom_set_create('payroll', 'bigint')", 'start' ],
	[ 'is a set with this seed', "SELECT bloom_set_create('payroll', 'bigint', seed => :'seed')", 'start' ],
	[ 'is a set as this one', 'CREATE TABLE payroll (LIKE t_id_unique INCLUDING ALL)', 'start' ])
{
	my ($is, $make, $column) = @$what;

	# who owns it matters for the last of them alone
	foreach my $owner ($is =~ /as this one/ ? 'regress_bloom_other' : ('regress_bloom_clerk', 'regress_bloom_other'))
	{
		my $text = "a table that $is and names theirs back, of " . ($owner =~ /clerk/ ? 'their own' : 'another owner');
		my $begin = "$here $make; ALTER TABLE payroll OWNER TO $owner;" . $forge->('payroll')
		  . "GRANT TRIGGER ON payroll TO regress_bloom_clerk; SET ROLE regress_bloom_clerk; CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF $column ON payroll FROM forger.m FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed'); RESET ROLE;";

		try("$text: rows, rebuild", "$begin INSERT INTO forger.m VALUES (1, 1); INSERT INTO forger.m1 VALUES (1, 1); TRUNCATE forger.m; SELECT bloom_unique_rebuild('forger.m', 'id'); SELECT 1 / (1 - count(*)) FROM payroll; $gone DROP TABLE payroll",
			'55000 55000 55000 55000', '1:1 2:2');
		try("$text: a superuser gives theirs away", "$begin ALTER TABLE forger.m OWNER TO postgres;" . $given->('payroll', 'postgres') . $gone, '22012', '1:1 2:2');
		try("$text: and drops its key", "$begin SELECT bloom_unique_drop('forger.m', 'id'); SELECT 1 / (1 - count(*)) FROM payroll; INSERT INTO forger.m VALUES (1, 1), (1, 1); $gone", '', '1:1 2:2');
		try("$text: and makes one, where the constraint is gone", "$begin DROP TRIGGER r ON forger.m; SELECT bloom_unique_create('forger.m', 'id'); SELECT 1 / (1 - count(*)) FROM payroll; INSERT INTO forger.m VALUES (1, 1), (1, 1); $gone", '23505', '1:1 2:2');
	}
}
# who has TRIGGER on the table of others can make a set that names it
my $fake = "CREATE SCHEMA forger AUTHORIZATION regress_bloom_clerk; GRANT ALL ON t_id_unique TO regress_bloom_clerk; GRANT TRIGGER ON t TO regress_bloom_clerk; SET ROLE regress_bloom_clerk;
	CREATE TABLE forger.fake (LIKE t_id_unique INCLUDING ALL); INSERT INTO forger.fake SELECT * FROM t_id_unique;
	CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON forger.fake FROM t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');";
try('a set of theirs names the table of others', "$here $fake RESET ROLE; $guarded $gone", $refused, $whole);
try('and a trigger of the table names it', "$here $fake CREATE OR REPLACE TRIGGER t_id_unique_close AFTER INSERT OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT WHEN ('forger.fake'::regclass IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed'); RESET ROLE;
	INSERT INTO t VALUES (1, 2); INSERT INTO t2 VALUES (1, 2); SELECT bloom_unique_rebuild('t', 'id'); TRUNCATE t; SELECT bloom_unique_drop('t', 'id'); SELECT 1 / (to_regclass('t_id_unique') IS NULL)::int; SELECT FROM forger.fake; $gone", '55000 55000 55000 55000', '1:1 2:2');
try('where the set is gone', "$here $fake RESET ROLE; DROP TABLE t_id_unique CASCADE; INSERT INTO t VALUES (1, 2); INSERT INTO t2 VALUES (1, 2); ALTER TABLE t OWNER TO regress_bloom_other; INSERT INTO t VALUES (1, 2); " . $given->('forger.fake', 'regress_bloom_other') . $gone, '55000 55000 55000 22012', '1:1 2:2');
try('a set of the same owner with another seed names the table', "$here SELECT bloom_set_create('more', 'bigint'); CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON more FROM t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed'); $guarded", $refused, $whole);
try('a copy of the set of the same owner names the table', [ "$here CREATE TABLE more (LIKE t_id_unique INCLUDING ALL); CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON more FROM t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed')",
	"INSERT INTO t VALUES (4, 1); DROP TABLE more; $guarded" ], "55000 $refused", $whole);
try('an owner who gives a table away gives no other', "$here CREATE TABLE payroll (id text);" . $forge->('payroll') . q{
	ALTER TABLE payroll OWNER TO regress_bloom_other;
	ALTER TABLE forger.m OWNER TO regress_bloom_other;
	GRANT TRIGGER ON payroll TO regress_bloom_clerk;
	GRANT TRIGGER ON forger.m TO regress_bloom_clerk;
	GRANT regress_bloom_clerk TO regress_bloom_other;
	GRANT CREATE ON SCHEMA :here TO regress_bloom_clerk;
	SET ROLE regress_bloom_clerk;
	CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF id ON payroll FROM forger.m FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');
	SET ROLE regress_bloom_other;
	ALTER TABLE forger.m OWNER TO regress_bloom_clerk;
	RESET ROLE;
	REVOKE regress_bloom_clerk FROM regress_bloom_other;
} . $given->('payroll', 'regress_bloom_clerk') . $gone, '22012', '1:1 2:2');
try('the set of others, whose trigger they replace', "$here GRANT ALL ON ALL TABLES IN SCHEMA :here TO regress_bloom_clerk;" . $forge->('t_id_unique') . q{
	SET ROLE regress_bloom_clerk;
	CREATE OR REPLACE CONSTRAINT TRIGGER t_id_unique_belongs AFTER UPDATE OF start ON t_id_unique FROM forger.m FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');
	CREATE OR REPLACE TRIGGER t_id_unique_belongs AFTER UPDATE ON t_id_unique FOR EACH ROW EXECUTE FUNCTION bloom_unique(:'seed');
	CREATE CONSTRAINT TRIGGER z AFTER UPDATE OF start ON t_id_unique FROM forger.m FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique(:'seed');
	INSERT INTO forger.m VALUES (1, 1);
	INSERT INTO t VALUES (1, 2);
	RESET ROLE;
	ALTER TABLE forger.m OWNER TO regress_bloom_other;
} . $given->('t_id_unique', 'regress_bloom_other') . "DROP TRIGGER z ON t_id_unique; INSERT INTO t VALUES (1, 2); $gone", '0A000 42710 55000 55000 22012 23505', '1:1 2:2');

#
# Whoever has TRIGGER on the table and on its partitions replaces or adds triggers, in any
# form: the constraint stays as it is, or nothing is written
#

my @conditions = ('NEW.v IS NOT NULL', 'NEW.id IS NOT NULL AND NEW.v IS NOT NULL', 'NEW.id IS NULL', 'NEW.id IS NOT NULL OR NEW.v IS NOT NULL', 'NEW.id IS NOT NULL AND %s IS NOT NULL',
	'NEW.id IS NOT NULL AND false', 'NEW.id + 0 IS NOT NULL', 'NEW.id IS NOT NULL AND NEW.id IS NOT NULL', 'NEW.tableoid IS NOT NULL', 'NEW IS NOT NULL', 'false');
my @forms = (
	[ '', 'AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (false)' ],
	[ '', 'AFTER INSERT OR UPDATE ON t FOR EACH ROW' ],
	[ '', 'AFTER INSERT ON t FOR EACH ROW' ],
	[ '', 'AFTER DELETE ON t FOR EACH ROW' ],
	[ '', 'BEFORE INSERT OR UPDATE ON t FOR EACH ROW' ],
	[ '', 'AFTER INSERT OR UPDATE OF v ON t FOR EACH ROW' ],
	[ '', 'AFTER INSERT OR UPDATE ON t FOR EACH STATEMENT' ],
	[ '', 'AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (new.v = 7)' ],
	(map { my $on = $_; map { [ '', "AFTER INSERT OR UPDATE ON $on FOR EACH ROW WHEN ($_)", 'CONSTRAINT ' ] } @conditions } 't', 't DEFERRABLE', 't FROM t2', 't1'),
	[ '', 'AFTER INSERT OR UPDATE OF v ON t FOR EACH ROW WHEN (NEW.id IS NOT NULL)', 'CONSTRAINT ' ],
	[ '', 'AFTER UPDATE ON t FOR EACH ROW WHEN (NEW.id IS NOT NULL)', 'CONSTRAINT ' ],
	[ '', 'AFTER INSERT ON t FOR EACH ROW WHEN (NEW.id IS NOT NULL)', 'CONSTRAINT ' ],
	[ '_open', 'BEFORE DELETE ON t FOR EACH STATEMENT' ],
	[ '_open', 'BEFORE INSERT OR UPDATE ON t FOR EACH STATEMENT WHEN (false)' ],
	[ '_open', 'BEFORE INSERT OR UPDATE OF v ON t FOR EACH STATEMENT' ],
	[ '_open', 'BEFORE TRUNCATE ON t FOR EACH STATEMENT' ],
	[ '_open', 'AFTER INSERT ON t FOR EACH STATEMENT' ],
	[ '_close', 'AFTER DELETE ON t FOR EACH STATEMENT' ],
	[ '_close', 'AFTER INSERT OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT WHEN (false)' ],
	[ '_close', 'AFTER INSERT OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT' ],
	[ '_close', q{AFTER INSERT OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT WHEN ('pg_class'::regclass IS NOT NULL)} ],
	[ '_close', 'AFTER INSERT ON t REFERENCING NEW TABLE AS x FOR EACH STATEMENT' ],
	[ '_close', 'BEFORE INSERT OR UPDATE ON t FOR EACH STATEMENT' ],
	[ '_keys', 'BEFORE UPDATE OF id, v ON t FOR EACH STATEMENT WHEN (false AND %s IS NOT NULL)' ],
	[ '_keys', 'BEFORE UPDATE OF v ON t FOR EACH STATEMENT WHEN (false AND %s IS NOT NULL)' ]);
my @repeats = ('INSERT INTO t VALUES (1, 2, 7)', 'INSERT INTO t2 VALUES (1, 2, 8)', 'UPDATE t SET id = 1, v = 9 WHERE id = 2', 'INSERT INTO t VALUES (8, 1, 1), (8, 2, 2)',
	'TRUNCATE t; INSERT INTO t VALUES (3, 1, 1), (3, 2, 2)', q{SELECT 1 / (NOT bloom_unique_claim('t', 'id', 1::bigint))::int});
my $cases = '';
foreach my $form (@forms)
{
	my ($suffix, $definition, $kind) = (@$form, '');
	my $text = sprintf $definition, "'t_id_unique'::regclass";

	foreach my $how ("OR REPLACE ${kind}TRIGGER t_id_unique$suffix", "${kind}TRIGGER another")
	{
		$cases .= "BEGIN; SET LOCAL ROLE regress_bloom_clerk; SAVEPOINT s; CREATE $how $text EXECUTE FUNCTION bloom_unique(:'seed');\n"
		  . "\\if :ERROR\nROLLBACK TO s;\n\\endif\nRESET ROLE; SAVEPOINT a; $_;\n"
		  . "\\if :ERROR\nROLLBACK TO a;\n\\else\nSELECT \$\$passed: $how $definition; $_\$\$ WHERE (SELECT count(*) > count(DISTINCT id) FROM t);\n\\endif\nROLLBACK;\n"
		  foreach @repeats;
	}
}
try('forms', q{
	CREATE INDEX ON t (v);
	CREATE INDEX ON t (id, v);
	UPDATE t SET v = id + 10;
	SELECT current_schema AS here \gset
	GRANT USAGE ON SCHEMA :here TO regress_bloom_clerk;
	GRANT TRIGGER ON t, t1, t2 TO regress_bloom_clerk}, '', '1:1 2:2');
my ($out, $err) = session($here . $cases);
my %errors;
$errors{$_}++ foreach split / /, errors_of($err);
is(join(' ', $out =~ /^passed.*$/gm), '', '... of which none lets a repeat pass, in ' . @forms * 2 * @repeats . ' cases');
is(join(' ', sort keys %errors), '0A000 23505 25P02 39P01 42710 55000', '... but each is refused') or diag substr($err, 0, 2000);
note explain \%errors;

try('triggers that never fire, whose argument is no seed, or none, or another', q{
	CREATE TRIGGER x1 BEFORE UPDATE OF v ON t FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION bloom_unique('abc');
	CREATE TRIGGER x2 BEFORE UPDATE OF v ON t FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION bloom_unique();
	CREATE TRIGGER x3 BEFORE UPDATE OF v ON t FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION bloom_unique('77');
	CREATE TRIGGER x4 AFTER UPDATE OF v ON t FOR EACH ROW WHEN (false) EXECUTE FUNCTION bloom_unique();
	ALTER TABLE t ADD COLUMN w int;
	ALTER TABLE t OWNER TO regress_bloom_other;
	ALTER TABLE t DISABLE TRIGGER ALL, ENABLE TRIGGER ALL;
	CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3);
	SELECT bloom_unique_drop('t', 'id');
	SELECT bloom_unique_create('t', 'id');} . $guarded, $refused, $whole);
try('one that fires', q{CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION bloom_unique('abc'); INSERT INTO t VALUES (4, 1); DROP TRIGGER x ON t; } . $guarded, "39P01 $refused", $whole);
# by the owner of a partition alone, who can make a constraint trigger of the same form
try('a constraint trigger of a partition is another key', $here . q{
	ALTER TABLE t2 OWNER TO regress_bloom_clerk;
	SET ROLE regress_bloom_clerk;
	CREATE CONSTRAINT TRIGGER mine AFTER INSERT OR UPDATE ON t2 FOR EACH ROW WHEN (NEW.v IS NOT NULL) EXECUTE FUNCTION bloom_unique(:'seed');
	DROP TRIGGER t_id_unique ON t2;
	ALTER TABLE t2 DROP CONSTRAINT t_id_unique;
	RESET ROLE;
	INSERT INTO t2 VALUES (4, 2, 4);
	INSERT INTO t2 VALUES (5, 2);
	DROP TRIGGER mine ON t2;
	INSERT INTO t2 VALUES (1, 2);}, '2BP01 2BP01 55000 23505', '1:1 2:2 5:2');

#
# Owners, without malice, or while keys are collected
#

foreach my $new ('new.note IS NOT NULL', 'new.id IS NOT NULL AND new.note IS NOT NULL', 'new.note IS NOT NULL AND new.id IS NOT NULL', 'new.v IS NOT NULL')
{
	try("the columns become those of $new while keys are collected", "ALTER TABLE t ADD COLUMN note text DEFAULT 'x'; CREATE INDEX ON t (note); CREATE INDEX ON t (id, note); CREATE INDEX ON t (v);" . qq{
	SELECT pg_get_triggerdef(oid) AS def FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname = 't_id_unique' \\gset
	SELECT replace(:'def', 'new.id IS NOT NULL', '$new') AS new \\gset
	BEGIN; SELECT limited('INSERT INTO t VALUES (139287474864128, 1, 5), (6, 1, 6), (7, 1, 7) RETURNING id', 2); DROP TRIGGER t_id_unique ON t; :new; COMMIT;
	DROP TRIGGER t_id_unique ON t; :def;
	} . $guarded, "55000 $refused", $whole);
}
try('the triggers of a table are made on another', q{
	CREATE TABLE u (LIKE t) PARTITION BY LIST (p);
	CREATE TABLE u1 PARTITION OF u FOR VALUES IN (1);
	CREATE INDEX ON u (id);
	SELECT replace(pg_get_triggerdef(oid), 'ON ' || current_schema || '.t ', 'ON u ') FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal \gexec
	INSERT INTO u VALUES (1, 1);
	TRUNCATE u;
	INSERT INTO t VALUES (1, 2);
	SELECT bloom_unique_drop('u', 'id');
	INSERT INTO u VALUES (1, 1);
	INSERT INTO t VALUES (1, 2);}, '55000 55000 23505 23505', '1:1 2:2');
try('the set no longer names the table', [ "DROP TRIGGER t_id_unique_belongs ON t_id_unique; INSERT INTO t VALUES (4, 1); SELECT bloom_unique_rebuild('t', 'id'); $guarded", "DROP TRIGGER t_id_unique_belongs ON t_id_unique; SELECT bloom_unique_drop('t', 'id'); DROP TABLE t_id_unique" ], "55000 $refused", $whole);
try('the set of another owner no longer names the table', "$here ALTER TABLE t_id_unique OWNER TO regress_bloom_other; DROP TRIGGER t_id_unique_belongs ON t_id_unique; SELECT bloom_unique_rebuild('t', 'id')", '55000', '1:1 2:2');
try('two triggers of a kind', 'SELECT replace(pg_get_triggerdef(oid), $$TRIGGER t_id_unique $$, $$TRIGGER t_id_unique2 $$) FROM pg_trigger WHERE tgrelid = $$t$$::regclass AND tgname = $$t_id_unique$$ \gexec' . "\nINSERT INTO t VALUES (4, 1); DROP TRIGGER t_id_unique2 ON t; $guarded", "55000 $refused", $whole);
try('a set whose owner is another', q{
	ALTER TABLE t OWNER TO regress_bloom_other;
	ALTER TABLE t_id_unique OWNER TO regress_bloom_clerk;
	SELECT current_schema AS here \gset
	GRANT USAGE ON SCHEMA :here TO regress_bloom_other;
	SET ROLE regress_bloom_other;
	SELECT bloom_unique_drop('t', 'id');
	RESET ROLE;
	SELECT FROM t_id_unique;}, '', '1:1 2:2');
# the schema of the table has a new owner, who may not create tables in that of the set
try('the set stays in a schema that is closed to the new owner', q{
	CREATE SCHEMA moved;
	GRANT ALL ON SCHEMA moved TO regress_bloom_other, regress_bloom_clerk;
	SELECT current_schema AS here \gset
	GRANT USAGE, CREATE ON SCHEMA :here TO regress_bloom_clerk;
	ALTER TABLE t OWNER TO regress_bloom_clerk;
	ALTER TABLE t SET SCHEMA moved;
	GRANT regress_bloom_other TO regress_bloom_clerk;
	SET ROLE regress_bloom_clerk;
	ALTER TABLE moved.t OWNER TO regress_bloom_other;
	ALTER TABLE t_id_unique SET SCHEMA moved;
	ALTER TABLE moved.t OWNER TO regress_bloom_other;
	RESET ROLE;
	REVOKE regress_bloom_other FROM regress_bloom_clerk;
} . $given->('moved.t_id_unique', 'regress_bloom_other') . 'INSERT INTO moved.t VALUES (1, 2); ALTER TABLE moved.t SET SCHEMA :here; DROP SCHEMA moved CASCADE', '42501 23505', '1:1 2:2');

$node->stop;
done_testing();
