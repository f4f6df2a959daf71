#
# Unique keys: what happens to the table, its partitions, the set and the triggers, one
# session at a time.
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

my $node = start_unique_server('schema', "fsync = off\n");
my $version = answer('SHOW server_version_num');
# whatever was done before: both keys are taken, and 3 is free
my $guarded = 'INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (2, 1); INSERT INTO t VALUES (3, 1); INSERT INTO t VALUES (3, 2);';
my $refused = '23505 23505 23505';
my $whole = '1:1 2:2 3:1';

# try_guarded WHAT, SQL, ERRORS, GUARDED: statements after which the keys are as unique as before.
sub try_guarded
{
	my ($what, $sql, $errors, $then) = @_;

	try($what, "$sql;\n" . ($then // $guarded), $errors ? "$errors $refused" : $refused, $whole);
	try("$what, in another session", [ "$sql;\n", $then // $guarded ], $errors ? "$errors $refused" : $refused, $whole);
	return;
}

#
# Names and owners
#

answer('CREATE ROLE regress_bloom_other; CREATE ROLE regress_bloom_clerk');

try('the table is renamed', 'ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (1, 2); INSERT INTO u VALUES (3, 1); INSERT INTO u VALUES (3, 2); INSERT INTO t1 VALUES (2, 1)',
	$refused, $whole, 'u');
try('another table gets its name', 'ALTER TABLE t RENAME TO u; CREATE TABLE t (LIKE u); INSERT INTO t VALUES (1, 2); INSERT INTO u VALUES (1, 2); INSERT INTO u VALUES (3, 1); INSERT INTO u VALUES (3, 2)',
	'23505 23505', $whole, 'u');
try_guarded('a partition is renamed', 'ALTER TABLE t1 RENAME TO first');
try('the schema is renamed', "SELECT current_schema AS was \\gset\nALTER SCHEMA :was RENAME TO elsewhere;\nSET search_path = elsewhere;\n$guarded\n\\c -\nSET search_path = elsewhere;\n$guarded\nALTER SCHEMA elsewhere RENAME TO :was;\n",
	"$refused $refused 23505", $whole);
try('the table moves to another schema', "CREATE SCHEMA moved; ALTER TABLE t SET SCHEMA moved; SET search_path = moved, public;\n$guarded\n\\c -\nSET search_path = moved;\n$guarded",
	"$refused $refused 23505", $whole, 'moved.t');
try('the set moves to another schema', "CREATE SCHEMA sets; ALTER TABLE t_id_unique SET SCHEMA sets; $guarded\n", $refused, $whole);
try_guarded('the set is renamed', 'ALTER TABLE t_id_unique RENAME TO memory');
try_guarded('and another set gets its name', "ALTER TABLE t_id_unique RENAME TO memory; SELECT bloom_set_create('t_id_unique', 'bigint')");
try('the column is renamed', 'ALTER TABLE t RENAME id TO key; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (3, 1); INSERT INTO t VALUES (3, 2); INSERT INTO t1 VALUES (2, 1); UPDATE t SET key = 1 WHERE key = 2',
	"$refused 23505", $whole, '(SELECT key AS id, p FROM t) AS keys');
try('two columns exchange their names', [ 'ALTER TABLE t RENAME id TO x; ALTER TABLE t RENAME v TO id; ALTER TABLE t RENAME x TO v; INSERT INTO t (v, p, id) VALUES (1, 2, 8)',
		'INSERT INTO t (v, p, id) VALUES (1, 2, 8); INSERT INTO t (v, p, id) VALUES (3, 1, 8); INSERT INTO t (v, p, id) VALUES (4, 1, 8); INSERT INTO t (v, p, id) VALUES (3, 2, 9)' ],
	$refused, '1:1 2:2 3:1 4:1', '(SELECT v AS id, p FROM t) AS keys');
try_guarded('triggers are renamed', join ';', map { "ALTER TRIGGER t_id_unique$_ ON t RENAME TO a$_" } '', '_open', '_close');
try_guarded('the table has another owner', 'ALTER TABLE t OWNER TO regress_bloom_other; ALTER TABLE t1 OWNER TO regress_bloom_clerk');
try('the owner of the table inserts', q{
	SELECT current_schema AS here \gset
	GRANT USAGE, CREATE ON SCHEMA :here TO regress_bloom_other;
	ALTER TABLE t OWNER TO regress_bloom_other;
	ALTER TABLE t1 OWNER TO regress_bloom_other;
	ALTER TABLE t2 OWNER TO regress_bloom_other;
	SET ROLE regress_bloom_other;
} . $guarded, $refused, $whole);

#
# The set
#

try('the set is truncated', "TRUNCATE t_id_unique; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (4, 1); SELECT bloom_unique_rebuild('t', 'id'); $guarded",
	"23505 $refused", "$whole 4:1");
try('the set is truncated, then seen by another session', [ 'TRUNCATE t_id_unique', "INSERT INTO t VALUES (1, 2); SELECT bloom_unique_rebuild('t', 'id'); $guarded" ],
	"23505 $refused", $whole);
try('directly into a partition', [ 'TRUNCATE t_id_unique', "INSERT INTO t2 VALUES (1, 2); COPY t2 (id, p) FROM stdin;\n1\t2\n\\.\n" ], '23505 23505', '1:1 2:2');
try('all rows of the set are deleted', [ 'DELETE FROM t_id_unique', "INSERT INTO t VALUES (1, 2); SELECT bloom_unique_rebuild('t', 'id'); $guarded" ],
	"23505 $refused", $whole);
try('the set is truncated in a savepoint', "BEGIN; SAVEPOINT s; TRUNCATE t_id_unique; ROLLBACK TO s; INSERT INTO t VALUES (3, 1); COMMIT; $guarded", "$refused 23505", $whole);
try_guarded('the set cannot be dropped', 'DROP TABLE t_id_unique', '2BP01');
try('the set is dropped with CASCADE', [ 'DROP TABLE t_id_unique CASCADE; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (4, 1)', 'INSERT INTO t VALUES (1, 2); INSERT INTO t1 VALUES (4, 1)' ], '55000 55000 55000 55000', '1:1 2:2');
try('and another set gets its name', [ "DROP TABLE t_id_unique CASCADE; SELECT bloom_set_create('t_id_unique', 'bigint'); INSERT INTO t VALUES (1, 2)", 'INSERT INTO t VALUES (1, 2)' ], '55000 55000', '1:1 2:2');
try('the set is unlogged', [ 'ALTER TABLE t_id_unique SET UNLOGGED; INSERT INTO t VALUES (1, 2)', "INSERT INTO t VALUES (1, 2); ALTER TABLE t_id_unique SET LOGGED; $guarded" ], "55000 55000 $refused", $whole);
try_guarded('the set is clustered, vacuumed, indexed anew, compacted', "CLUSTER t_id_unique USING t_id_unique_pkey;\nVACUUM FULL t_id_unique;\nREINDEX TABLE t_id_unique;\nSELECT bloom_set_compact('t_id_unique')");
try_guarded('the set is rebuilt', "SELECT bloom_unique_rebuild('t', 'id')");
try_guarded('rebuilt, rolled back', "BEGIN; SELECT bloom_unique_rebuild('t', 'id'); ROLLBACK");
try_guarded('rebuilt in a transaction that has inserted', "BEGIN; INSERT INTO t VALUES (4, 1); SELECT bloom_unique_rebuild('t', 'id'); INSERT INTO t VALUES (5, 1); SAVEPOINT s; INSERT INTO t VALUES (4, 2); ROLLBACK TO s; DELETE FROM t WHERE id > 3; COMMIT", '23505');
try('it has gone', "SELECT bloom_unique_drop('t', 'id'); INSERT INTO t VALUES (1, 2); SELECT bloom_unique_create('t', 'id'); DELETE FROM t WHERE p = 2 AND id = 1; SELECT bloom_unique_create('t', 'id'); $guarded",
	"23505 $refused", $whole);

#
# TRUNCATE
#

try('TRUNCATE', 'TRUNCATE t; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 1)', '23505', '1:2 2:1');
try('TRUNCATE, then INSERT in a transaction', 'BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 2); TRUNCATE t; INSERT INTO t VALUES (1, 2), (2, 1); COMMIT; INSERT INTO t VALUES (1, 1)', '23505', '1:2 2:1');
try('TRUNCATE after INSERT in a transaction', 'BEGIN; INSERT INTO t VALUES (3, 1); TRUNCATE t; INSERT INTO t VALUES (3, 2); COMMIT; INSERT INTO t VALUES (3, 1)', '23505', '3:2');
try('TRUNCATE that is rolled back', "BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 2); ROLLBACK; $guarded", $refused, $whole);
try('TRUNCATE that a savepoint undoes', "BEGIN; SAVEPOINT s; TRUNCATE t; INSERT INTO t VALUES (1, 2); ROLLBACK TO s; INSERT INTO t VALUES (4, 1); COMMIT; DELETE FROM t WHERE id = 4; $guarded", $refused, $whole);
try('TRUNCATE of a partition', 'TRUNCATE t1; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 1)', '23505 23505', '1:2 2:2');
try('TRUNCATE of a partition that is rolled back', "BEGIN; TRUNCATE t1; ROLLBACK; $guarded", $refused, $whole);
try('TRUNCATE of several tables', 'CREATE TABLE r (id int); TRUNCATE r, t, t1; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (1, 1)', '23505', '1:2');

#
# The key column and its type
#

try_guarded('the column cannot be dropped', 'ALTER TABLE t DROP COLUMN id', '2BP01');
try_guarded('nor replaced', 'ALTER TABLE t DROP COLUMN id, ADD COLUMN id bigint DEFAULT 5', '2BP01');
try('dropped with CASCADE', 'ALTER TABLE t DROP COLUMN id CASCADE; INSERT INTO t VALUES (1, 2); ALTER TABLE t ADD COLUMN id bigint DEFAULT 5; INSERT INTO t VALUES (1, 2)', '55000 55000', '5:1 5:2');
try_guarded('its type cannot change', 'ALTER TABLE t ALTER id TYPE bigint USING id + 10; ALTER TABLE t ALTER id TYPE int', '0A000 0A000');
try_guarded('other columns come and go', 'ALTER TABLE t DROP COLUMN v, ADD COLUMN w text, ALTER id SET DEFAULT 9, ALTER id SET STATISTICS 10, ALTER id SET NOT NULL');
SKIP:
{
	skip 'this PostgreSQL cannot change expressions', 1 if $version < 170000;

	try('the expression of a generated column', q{
		CREATE TABLE g (id bigint, p int, k bigint GENERATED ALWAYS AS (id % 10) STORED) PARTITION BY LIST (p);
		CREATE TABLE g1 PARTITION OF g FOR VALUES IN (1);
		CREATE TABLE g2 PARTITION OF g FOR VALUES IN (2);
		CREATE INDEX ON g (k);
		SELECT bloom_unique_create('g', 'k');
		INSERT INTO g VALUES (1, 1), (12, 2);
		INSERT INTO g VALUES (11, 2);
		ALTER TABLE g ALTER k SET EXPRESSION AS (id / 1000);
		ALTER TABLE g ALTER k SET EXPRESSION AS (id + 100);
		INSERT INTO g VALUES (12, 1);
		INSERT INTO g VALUES (2, 1);}, '23505 23505 23505', '101:1 102:1 112:2', '(SELECT k AS id, p FROM g) AS keys');
}
try('a generated column', q{
	CREATE TABLE g (id bigint, p int, k bigint GENERATED ALWAYS AS (id % 10) STORED) PARTITION BY LIST (p);
	CREATE TABLE g1 PARTITION OF g FOR VALUES IN (1);
	CREATE TABLE g2 PARTITION OF g FOR VALUES IN (2);
	CREATE INDEX ON g (k);
	SELECT bloom_unique_create('g', 'k');
	INSERT INTO g VALUES (1, 1), (12, 2);
	INSERT INTO g VALUES (11, 2);
	UPDATE g SET id = 21 WHERE id = 12;
	INSERT INTO g2 VALUES (3, 2), (13, 2);}, '23505 23505 23505', '1:1 2:2', '(SELECT k AS id, p FROM g) AS keys');
SKIP:
{
	skip 'this PostgreSQL has no virtual columns', 1 if $version < 180000;

	try('a virtual generated column', q{
		CREATE TABLE g (id bigint, p int, k bigint GENERATED ALWAYS AS (id % 10) VIRTUAL) PARTITION BY LIST (p);
		SELECT bloom_unique_create('g', 'k');}, '0A000', '1:1 2:2');
}

#
# Indexes: a key that is new needs none; any other is an error, if it cannot be looked up
#

try('no index', "DROP INDEX t_id_idx; INSERT INTO t VALUES (1, 2); INSERT INTO t1 VALUES (4, 1); UPDATE t SET id = 1 WHERE id = 2; CREATE INDEX ON t (id); $guarded", "55000 55000 $refused", "$whole 4:1");
foreach my $useless ('USING hash (id)', '(p, id)', '(id) WHERE p = 1', '((id + 0))', '(v)')
{
	try("an index $useless", "DROP INDEX t_id_idx; CREATE INDEX ON t $useless; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (5, 1)", '55000', '1:1 2:2 5:1');
}
foreach my $useful ('(id DESC NULLS LAST)', '(id, p)', '(id) INCLUDE (v)', '(id) WITH (fillfactor = 50)')
{
	try("an index $useful", "DROP INDEX t_id_idx; CREATE INDEX ON t $useful; $guarded", $refused, $whole);
}
try('one partition without an index', "DROP INDEX t_id_idx; CREATE INDEX ON t1 (id); INSERT INTO t VALUES (1, 2); INSERT INTO t1 VALUES (4, 1); CREATE UNIQUE INDEX ON t2 (id); $guarded", "55000 $refused", "$whole 4:1");
try('an index that is not valid', [ "DROP INDEX t_id_idx; CREATE INDEX ON t1 (id); CREATE INDEX t2_id ON t2 (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't2_id'::regclass",
		'INSERT INTO t VALUES (2, 1)' ], '55000', '1:1 2:2');
try('an index of another collation', q{
	CREATE TABLE c (id text COLLATE "C", p int) PARTITION BY LIST (p);
	CREATE TABLE c1 PARTITION OF c FOR VALUES IN (1);
	CREATE INDEX i ON c (id COLLATE "POSIX");
	SELECT bloom_unique_create('c', 'id');
	CREATE INDEX ON c (id);
	SELECT bloom_unique_create('c', 'id');
	DROP INDEX c_id_idx;
	INSERT INTO c VALUES ('a', 1);
	INSERT INTO c VALUES ('a', 1);}, '55000 55000', 'a:1', 'c');
try('an index with another equality', q{
	CREATE FUNCTION last_digit(a bigint, b bigint) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT (a % 10 - b % 10)::int';
	CREATE FUNCTION last_digit_is(a bigint, b bigint) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT a % 10 = b % 10';
	CREATE OPERATOR =# (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = last_digit_is);
	CREATE OPERATOR CLASS last_digit_ops FOR TYPE bigint USING btree AS OPERATOR 3 =#, FUNCTION 1 last_digit(bigint, bigint);
	DROP INDEX t_id_idx;
	CREATE INDEX ON t (id last_digit_ops);
	INSERT INTO t VALUES (1, 2);
	INSERT INTO t VALUES (11, 1);}, '55000', '1:1 2:2 11:1');
try_guarded('rows and indexes are rewritten', "CREATE INDEX ON t1 (id); CLUSTER t1 USING t1_id_idx;\nVACUUM FULL t2;\nREINDEX TABLE t1;\nALTER TABLE t1 SET UNLOGGED; ALTER TABLE t1 SET LOGGED; ALTER TABLE t2 SET UNLOGGED");

#
# Partitions that are attached
#

my $third = 'CREATE TABLE t3 (LIKE t);';
my $attach = 'ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3);';
try('a repeat is attached', "$third INSERT INTO t3 VALUES (3, 3), (2, 3); $attach DELETE FROM t3 WHERE id = 2; $attach INSERT INTO t VALUES (3, 1); INSERT INTO t3 VALUES (3, 3); INSERT INTO t3 VALUES (1, 3)",
	'23505 23505 23505 23505', '1:1 2:2 3:3');
try('seen by another session', [ "$third INSERT INTO t3 VALUES (3, 3), (5, 3); $attach", 'INSERT INTO t VALUES (3, 1); INSERT INTO t1 VALUES (5, 1)' ], '23505 23505', '1:1 2:2 3:3 5:3');
try('repeats in it', "$third INSERT INTO t3 VALUES (3, 3), (3, 3); $attach", '23505', '1:1 2:2');
try('nulls in it', "$third INSERT INTO t3 VALUES (NULL, 3), (NULL, 3); $attach", '', '1:1 2:2 -:3 -:3');
try('attached, and rolled back', "$third INSERT INTO t3 VALUES (3, 3); BEGIN; $attach ROLLBACK; INSERT INTO t VALUES (3, 1); $attach", '23505', '1:1 2:2 3:1');
try('attached after an insert of this transaction', "$third INSERT INTO t3 VALUES (3, 3); BEGIN; INSERT INTO t VALUES (3, 1); $attach COMMIT; BEGIN; INSERT INTO t VALUES (4, 1); $attach INSERT INTO t VALUES (3, 1); COMMIT", '23505 23505', '1:1 2:2');
try('attached after a delete of this transaction', "$third INSERT INTO t3 VALUES (1, 3); BEGIN; DELETE FROM t WHERE id = 1; $attach COMMIT; INSERT INTO t VALUES (1, 1)", '23505', '1:3 2:2');
try('attached, detached, filled and attached again in one transaction', "$third INSERT INTO t3 VALUES (3, 3); BEGIN; $attach ALTER TABLE t DETACH PARTITION t3; INSERT INTO t3 VALUES (1, 3); $attach COMMIT; INSERT INTO t VALUES (3, 1)", '23505', '1:1 2:2 3:1');
try('attached, rolled back to a savepoint, filled and attached', "$third INSERT INTO t3 VALUES (3, 3); BEGIN; SAVEPOINT s; $attach ROLLBACK TO s; INSERT INTO t3 VALUES (4, 3); $attach INSERT INTO t VALUES (5, 1); SAVEPOINT s; INSERT INTO t VALUES (3, 1); ROLLBACK TO s; INSERT INTO t VALUES (4, 1); ROLLBACK TO s; COMMIT; INSERT INTO t1 VALUES (3, 1); INSERT INTO t1 VALUES (4, 1)", '23505 23505 23505 23505', '1:1 2:2 3:3 4:3 5:1');
# each is read as often as the last one, after which none was attached
try('many in one transaction', "BEGIN;" . join('', map { "CREATE TABLE t$_ (LIKE t); INSERT INTO t$_ VALUES ($_, $_); ALTER TABLE t ATTACH PARTITION t$_ FOR VALUES IN ($_);" } 3 .. 9)
	  . "SELECT 1 / (min(seq_scan) = max(seq_scan))::int FROM pg_stat_xact_user_tables WHERE relname ~ '^t[3-9]\$' AND schemaname = current_schema; COMMIT; INSERT INTO t SELECT 3, 1; INSERT INTO t1 VALUES (9, 1)", '23505 23505', '1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9');
try('in a block with EXCEPTION', "$third INSERT INTO t3 VALUES (1, 3); DO \$\$ BEGIN $attach EXCEPTION WHEN unique_violation THEN DELETE FROM t3; INSERT INTO t3 VALUES (3, 3); END \$\$; INSERT INTO t VALUES (3, 1); $attach", '23505', '1:1 2:2 3:1');
try('in a function', "$third INSERT INTO t3 VALUES (1, 3); CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE '$attach'; END \$\$; SELECT f(); UPDATE t3 SET id = 3; SELECT f(); INSERT INTO t VALUES (3, 1)", '23505 23505', '1:1 2:2 3:3');
try('again', "ALTER TABLE t DETACH PARTITION t1; INSERT INTO t VALUES (1, 2); ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); DELETE FROM t WHERE id = 1; ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); $guarded",
	"23505 $refused", $whole);
try('again, after rows came to it', 'ALTER TABLE t DETACH PARTITION t1; INSERT INTO t1 VALUES (2, 1), (5, 1); ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); DELETE FROM t1 WHERE id = 2; ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); INSERT INTO t VALUES (5, 2)',
	'23505 23505', '1:1 2:2 5:1');
try('detached and attached in a transaction', "BEGIN; ALTER TABLE t DETACH PARTITION t1; INSERT INTO t VALUES (1, 2); ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); COMMIT; BEGIN; ALTER TABLE t DETACH PARTITION t1; ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1); COMMIT; $guarded",
	"23505 $refused", $whole);
try('what is detached is free', 'ALTER TABLE t DETACH PARTITION t1; INSERT INTO t1 VALUES (1, 1), (2, 1); INSERT INTO t VALUES (1, 2); SELECT FROM t1 WHERE id = 1', '', '1:2 2:2');
try('as the default', 'CREATE TABLE t3 (LIKE t); INSERT INTO t3 VALUES (1, 9), (4, 8); ALTER TABLE t ATTACH PARTITION t3 DEFAULT; DELETE FROM t3 WHERE id = 1; ALTER TABLE t ATTACH PARTITION t3 DEFAULT; INSERT INTO t VALUES (4, 1); INSERT INTO t VALUES (1, 7); INSERT INTO t VALUES (5, 7)',
	'23505 23505 23505', '1:1 2:2 4:8 5:7');
my $tree = 'CREATE TABLE t3 (LIKE t) PARTITION BY LIST (v); CREATE TABLE t31 PARTITION OF t3 FOR VALUES IN (1); CREATE TABLE t32 PARTITION OF t3 FOR VALUES IN (2);';
try('a tree', "$tree INSERT INTO t3 VALUES (3, 3, 1), (1, 3, 2); $attach DELETE FROM t32; $attach INSERT INTO t VALUES (3, 1); INSERT INTO t32 VALUES (3, 3, 2); INSERT INTO t VALUES (2, 3, 1); INSERT INTO t VALUES (5, 3, 2)",
	'23505 23505 23505 23505', '1:1 2:2 3:3 5:3');
try('a tree with repeats', "$tree INSERT INTO t3 VALUES (3, 3, 1), (3, 3, 2); $attach", '23505', '1:1 2:2');
try('to a tree', "$tree $attach INSERT INTO t VALUES (3, 3, 1); CREATE TABLE t33 (LIKE t); INSERT INTO t33 VALUES (3, 3, 3); ALTER TABLE t3 ATTACH PARTITION t33 FOR VALUES IN (3); UPDATE t33 SET id = 4; ALTER TABLE t3 ATTACH PARTITION t33 FOR VALUES IN (3); INSERT INTO t VALUES (4, 1)",
	'23505 23505', '1:1 2:2 3:3 4:3');
try('other numbers of columns', q{
	CREATE TABLE t3 (junk int, v bigint, more text, p int, id bigint);
	ALTER TABLE t3 DROP COLUMN junk, DROP COLUMN more;
	INSERT INTO t3 (id, p) VALUES (1, 3);
	ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3);
	UPDATE t3 SET id = 3;
	ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3);
	INSERT INTO t VALUES (3, 1, 5);
	INSERT INTO t VALUES (1, 3, 5);
	INSERT INTO t3 (id, p) VALUES (2, 3), (4, 3);
	INSERT INTO t3 (id, p) VALUES (4, 3);
	UPDATE t SET p = 3 WHERE id = 2;
	INSERT INTO t VALUES (4, 1), (2, 1);}, '23505 23505 23505 23505 23505', '1:1 2:3 3:3 4:3');
try('of another table with unique keys', q{
	CREATE TABLE u (LIKE t) PARTITION BY LIST (p);
	CREATE TABLE u1 PARTITION OF u FOR VALUES IN (1);
	CREATE INDEX ON u (id);
	SELECT bloom_unique_create('u', 'id');
	INSERT INTO u VALUES (1, 1), (4, 1);
	ALTER TABLE t DETACH PARTITION t2;
	ALTER TABLE u ATTACH PARTITION t2 FOR VALUES IN (2);
	INSERT INTO u VALUES (2, 1);
	INSERT INTO t VALUES (2, 1);
	INSERT INTO t2 VALUES (4, 2);
	ALTER TABLE u DETACH PARTITION u1;
	ALTER TABLE u1 DROP COLUMN v, ADD COLUMN v bigint;
	ALTER TABLE t ATTACH PARTITION u1 FOR VALUES IN (2);
	UPDATE u1 SET p = 2;
	ALTER TABLE t ATTACH PARTITION u1 FOR VALUES IN (2);
	DELETE FROM t1 WHERE id = 1;
	ALTER TABLE t ATTACH PARTITION u1 FOR VALUES IN (2);
	INSERT INTO t VALUES (4, 1);}, '23505 23505 23514 23505 23505', '1:2 2:1 4:2');
try('an empty partition is made', 'CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3); INSERT INTO t VALUES (1, 3); INSERT INTO t3 VALUES (3, 3), (2, 3); INSERT INTO t3 VALUES (3, 3); INSERT INTO t VALUES (3, 1)', '23505 23505 23505', '1:1 2:2 3:3');
try('in another schema, with a set of the same name', q{
	SELECT current_schema AS here \gset
	CREATE SCHEMA other;
	SELECT bloom_set_create('other.t_id_unique', 'bigint');
	CREATE TABLE other.t9 PARTITION OF t FOR VALUES IN (9);
	INSERT INTO t VALUES (1, 9);
	INSERT INTO other.t9 VALUES (3, 9);
	SET search_path = other;
	INSERT INTO t9 VALUES (2, 9);
	INSERT INTO :here.t VALUES (3, 1);}, '23505 23505 23505', '1:1 2:2 3:9');
try('partitions are dropped', 'ALTER TABLE t DETACH PARTITION t1; DROP TABLE t1; INSERT INTO t VALUES (1, 2); DROP TABLE t2', '', '');
try('DETACH CONCURRENTLY', "ALTER TABLE t DETACH PARTITION t1 CONCURRENTLY;\nINSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (2, 2);", '23505', '1:2 2:2');
SKIP:
{
	skip 'this PostgreSQL has no file_fdw', 2
	  if answer("SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'") == 0;

	answer('CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw');
	my $options = "SERVER files OPTIONS (filename '/dev/null')";
	try('a foreign partition is made', [ "CREATE FOREIGN TABLE t3 PARTITION OF t FOR VALUES IN (3) $options", $guarded ], "42809 $refused", $whole);
	try('a foreign partition is attached', "CREATE FOREIGN TABLE t3 (id bigint, p int, v bigint) $options; $attach $guarded", "42809 $refused", $whole);
}

#
# Triggers
#

foreach my $trigger ('open', 'close')
{
	try_guarded("trigger $trigger is disabled", "ALTER TABLE t DISABLE TRIGGER t_id_unique_$trigger");
	try("trigger $trigger is disabled in a transaction", "BEGIN; ALTER TABLE t DISABLE TRIGGER t_id_unique_$trigger; INSERT INTO t VALUES (3, 1); COMMIT; INSERT INTO t SELECT 4 + i / 2, 1 + i % 2 FROM generate_series(0, 3) AS i; $guarded", "23505 $refused 23505", $whole);
}
try('the constraint is dropped', [ 'DROP TRIGGER t_id_unique ON t; INSERT INTO t VALUES (1, 2)', 'INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (4, 2)' ], '55000 55000 55000', '1:1 2:2');
# as with foreign keys, rows come in while it is disabled; and they are checked when it is enabled
foreach my $how ('TRIGGER t_id_unique', 'TRIGGER USER', 'TRIGGER ALL')
{
	foreach my $enable ('ENABLE', 'ENABLE ALWAYS')
	{
		next if $enable eq 'ENABLE ALWAYS' && $how !~ /row/;
		try("$how of a partition, then $enable", "ALTER TABLE t1 DISABLE $how; INSERT INTO t1 VALUES (2, 1), (4, 1); ALTER TABLE t1 $enable $how; DELETE FROM t1 WHERE id = 2; ALTER TABLE t1 $enable $how; INSERT INTO t VALUES (4, 2); $guarded",
			"23505 23505 $refused", '1:1 2:2 3:1 4:1');
	}
	try("$how of the table", "ALTER TABLE t DISABLE $how; INSERT INTO t1 VALUES (2, 1), (4, 1); ALTER TABLE t ENABLE $how; DELETE FROM t1 WHERE id = 2; ALTER TABLE t ENABLE $how; INSERT INTO t VALUES (4, 2); $guarded",
		"23505 23505 $refused", '1:1 2:2 3:1 4:1');
}
try('a replica, and ENABLE ALWAYS', "ALTER TABLE t ENABLE ALWAYS TRIGGER t_id_unique; SET session_replication_role = replica; $guarded", $refused, $whole);
try('a replica, then the rows are checked', "SET session_replication_role = replica; INSERT INTO t VALUES (2, 1), (4, 1); RESET session_replication_role; ALTER TABLE t1 ENABLE TRIGGER t_id_unique; DELETE FROM t1 WHERE id = 2; ALTER TABLE t1 ENABLE TRIGGER t_id_unique; INSERT INTO t VALUES (4, 2); $guarded",
	"23505 23505 $refused", '1:1 2:2 3:1 4:1');

#
# Privileges
#

try('a role that may only insert', q{
	SELECT current_schema AS here \gset
	GRANT USAGE ON SCHEMA :here TO regress_bloom_clerk;
	GRANT INSERT ON t, t1 TO regress_bloom_clerk;
	SET ROLE regress_bloom_clerk;
	INSERT INTO t VALUES (3, 1);
	INSERT INTO t VALUES (1, 2);
	INSERT INTO t1 VALUES (2, 1);
	SELECT FROM t;
	SELECT FROM t_id_unique;
	UPDATE t_id_unique SET lane = 5;
	SELECT bloom_unique_rebuild('t', 'id');
	SELECT bloom_unique_drop('t', 'id');
	SELECT bloom_unique_create('t', 'v');}, '23505 23505 42501 42501 42501 42501 42501 42501', $whole);
try('rows that a policy hides', q{
	SELECT current_schema AS here \gset
	ALTER TABLE t ENABLE ROW LEVEL SECURITY;
	ALTER TABLE t FORCE ROW LEVEL SECURITY;
	ALTER TABLE t1 ENABLE ROW LEVEL SECURITY;
	CREATE POLICY mine ON t FOR SELECT USING (v = 1);
	CREATE POLICY anything ON t FOR INSERT WITH CHECK (true);
	GRANT USAGE ON SCHEMA :here TO regress_bloom_clerk;
	GRANT INSERT, SELECT ON t TO regress_bloom_clerk;
	SET ROLE regress_bloom_clerk;
} . $guarded, $refused, $whole);
try('the search path', q{
	SELECT current_schema AS here \gset
	CREATE SCHEMA trap;
	CREATE FUNCTION trap.always(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT false';
	CREATE OPERATOR trap.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.always);
	SET search_path = trap, pg_catalog;
	INSERT INTO :here.t VALUES (1, 2);
	INSERT INTO :here.t1 VALUES (2, 1);}, '23505 23505', '1:1 2:2');

#
# What ALTER TABLE did is told by the server
#

try('ENABLE TRIGGER beside other parts', 'ALTER TABLE t DISABLE TRIGGER ALL; INSERT INTO t VALUES (1, 2); ALTER TABLE t ENABLE TRIGGER ALL, ADD COLUMN s serial; DELETE FROM t WHERE p = 2 AND id = 1; ALTER TABLE t ADD COLUMN s serial, ENABLE TRIGGER ALL; ' . $guarded, "23505 $refused", $whole);
try('OWNER TO beside other parts', q{ALTER TABLE t OWNER TO regress_bloom_other, ADD COLUMN s int; SELECT 1 / (relowner = 'regress_bloom_other'::regrole)::int FROM pg_class WHERE relname = 't_id_unique' AND relnamespace = current_schema::regnamespace}, '', '1:1 2:2');
try('ATTACH where session_replication_role is replica', "$third INSERT INTO t3 VALUES (1, 3), (5, 3); SET session_replication_role = replica; $attach DELETE FROM t3 WHERE id = 1; $attach RESET session_replication_role; INSERT INTO t VALUES (5, 1)", '23505 23505', '1:1 2:2 5:3');
try('ENABLE REPLICA TRIGGER', "SET client_min_messages = warning; ALTER TABLE t ENABLE REPLICA TRIGGER t_id_unique; INSERT INTO t VALUES (1, 2); ALTER TABLE t ENABLE TRIGGER t_id_unique; DELETE FROM t WHERE p = 2; ALTER TABLE t ENABLE TRIGGER t_id_unique; INSERT INTO t VALUES (1, 2)", '23505 23505', '1:1');
try('a trigger of somebody else is enabled', q{
	CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER mine AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION nop();
	ALTER TABLE t DISABLE TRIGGER mine;
	SELECT pg_relation_filenode('t_id_unique') AS before \\gset
	ALTER TABLE t ENABLE TRIGGER mine;
	SELECT 1 / (pg_relation_filenode('t_id_unique') = :before)::int;}, '', '1:1 2:2');

#
# Several keys, and tables that have none
#

try('two unique columns', q{
	DELETE FROM t;
	CREATE INDEX ON t (v);
	SELECT bloom_unique_create('t', 'v');
	INSERT INTO t VALUES (3, 1, 7);
	INSERT INTO t VALUES (3, 2, 8);
	INSERT INTO t VALUES (4, 2, 7);
	INSERT INTO t VALUES (4, 2, 8);
	UPDATE t SET v = 7 WHERE id = 4;
	SELECT bloom_unique_drop('t', 'id');
	INSERT INTO t VALUES (3, 2, 9);
	INSERT INTO t VALUES (5, 2, 9);}, '23505 23505 23505 23505', '3:1 3:2 4:2');
try('two columns are one key', q{
	SELECT bloom_unique_drop('t', 'id');
	DELETE FROM t;
	CREATE INDEX ON t (v, id);
	SELECT bloom_unique_create('t', 'id, v');
	INSERT INTO t VALUES (1, 1, 1), (1, 2, 2), (2, 1, 1), (1, 1, NULL), (1, 2, NULL), (NULL, 1, 1), (NULL, 2, 1);
	INSERT INTO t VALUES (1, 2, 1);
	INSERT INTO t VALUES (5, 1, 5), (5, 2, 5);
	INSERT INTO t2 VALUES (2, 2, 1);
	UPDATE t SET v = 1 WHERE id = 1 AND v = 2;
	UPDATE t SET id = 1 WHERE id IS NULL;}, '23505 23505 23505 23505 23505', '1:1 1:1 1:2 1:2 2:1 -:1 -:2');
try('a subtree has keys of its own', q{
	CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3) PARTITION BY LIST (id);
	CREATE TABLE t31 PARTITION OF t3 FOR VALUES IN (11, 12);
	CREATE TABLE t32 PARTITION OF t3 FOR VALUES IN (13, 14);
	CREATE INDEX ON t3 (v);
	SELECT bloom_unique_create('t3', 'v');
	INSERT INTO t VALUES (11, 3, 1), (13, 3, 2), (8, 1, 1);
	INSERT INTO t VALUES (14, 3, 1);
	INSERT INTO t31 VALUES (12, 3, 2);
	INSERT INTO t3 VALUES (11, 3, 5);
	INSERT INTO t32 VALUES (13, 3, 6);
	INSERT INTO t3 VALUES (12, 3, 3);
	INSERT INTO t VALUES (12, 1, 3);}, '23505 23505 23505 23505 23505', '1:1 2:2 8:1 11:3 12:3 13:3');
try('a temporary table', q{
	CREATE TEMP TABLE u (LIKE t) PARTITION BY LIST (p);
	CREATE TEMP TABLE u1 PARTITION OF u FOR VALUES IN (1);
	CREATE TEMP TABLE u2 PARTITION OF u FOR VALUES IN (2);
	CREATE INDEX ON u (id);
	SELECT bloom_unique_create('u', 'id');
	INSERT INTO u VALUES (1, 1);
	INSERT INTO u VALUES (1, 2);
	INSERT INTO t SELECT id + 2, p FROM u;}, '23505', $whole);
try('names that need quotes', q{
	CREATE TABLE "T x" ("Id ""k" text, p int) PARTITION BY LIST (p);
	CREATE TABLE "T x1" PARTITION OF "T x" FOR VALUES IN (1);
	CREATE TABLE "T x2" PARTITION OF "T x" FOR VALUES IN (2);
	CREATE INDEX ON "T x" ("Id ""k");
	SELECT bloom_unique_create('"T x"', '"Id ""k"');
	INSERT INTO "T x" VALUES ('1', 1);
	INSERT INTO "T x" VALUES ('1', 2);
	ALTER TABLE "T x" DISABLE TRIGGER USER;
	ALTER TABLE "T x" ENABLE TRIGGER USER;
	INSERT INTO "T x2" VALUES ('1', 2);}, '23505 23505', '1:1', '(SELECT "Id ""k" AS id, p FROM "T x") AS keys');
try('rows that are there already', q{
	SELECT bloom_unique_drop('t', 'id');
	INSERT INTO t VALUES (1, 2);
	SELECT bloom_unique_create('t', 'id');
	SELECT bloom_unique_create('t', 'id', validate => false);
	INSERT INTO t VALUES (3, 1);
	INSERT INTO t VALUES (3, 2);
	CALL bloom_unique_validate('t', 'id');
	DELETE FROM t WHERE id = 1 AND p = 2;
	CALL bloom_unique_validate('t', 'id');
	INSERT INTO t VALUES (1, 2);
	INSERT INTO t VALUES (2, 1);}, '23505 23505 23505 23505 23505', $whole);
try('other tables are as before', q{
	CREATE TABLE r (LIKE t);
	ALTER TABLE r ADD COLUMN w int, DISABLE TRIGGER ALL, ENABLE TRIGGER ALL;
	CREATE TABLE u (LIKE t) PARTITION BY LIST (p);
	ALTER TABLE u ATTACH PARTITION t1 FOR VALUES IN (1);
	ALTER TABLE r DROP COLUMN w;
	ALTER TABLE u ATTACH PARTITION r FOR VALUES IN (1);}, '42809', '1:1 2:2');

$node->stop;
done_testing();
