#
# Unique keys: every way in which rows arrive or change, one session at a time.
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

my $node = start_unique_server('rows', "fsync = off\n");

make_limited('postgres');

answer(q{
	-- insert a row; into the table, or directly into its partition
	CREATE FUNCTION put(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO t VALUES (id, p); RETURN id; END$$;
	CREATE FUNCTION put_directly(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN EXECUTE format('INSERT INTO t%s VALUES (%s, %1$s)', p, id); RETURN id; END$$;
	-- the same, and null if the key is there
	CREATE FUNCTION try_put(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN RETURN put(id, p); EXCEPTION WHEN unique_violation THEN RETURN NULL; END$$;
	CREATE FUNCTION try_put_directly(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN RETURN put_directly(id, p); EXCEPTION WHEN unique_violation THEN RETURN NULL; END$$;
	-- insert it, and take it back
	CREATE FUNCTION put_in_vain(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN PERFORM put_directly(id, p); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN RETURN id; END$$;
});
# all rows, and all keys
my $counts = '(SELECT count(*) AS id, count(DISTINCT id) AS p FROM t) AS counts';

#
# One statement
#

try('a key that is new', 'INSERT INTO t VALUES (3, 1), (4, 2)', '', '1:1 2:2 3:1 4:2');
try('in another partition', 'INSERT INTO t VALUES (1, 2)', '23505', '1:1 2:2');
try('in the same partition', 'INSERT INTO t VALUES (1, 1)', '23505', '1:1 2:2');
try('twice in a statement', 'INSERT INTO t VALUES (3, 1), (3, 2)', '23505', '1:1 2:2');
try('by INSERT ... SELECT', 'INSERT INTO t SELECT i, 1 + i % 2 FROM generate_series(2, 5) AS i', '23505', '1:1 2:2');
try('directly into a partition', 'INSERT INTO t1 VALUES (2, 1); INSERT INTO t1 VALUES (3, 1); INSERT INTO t2 VALUES (3, 2); INSERT INTO t VALUES (3, 2)',
	'23505 23505 23505', '1:1 2:2 3:1');
try('a repeat in the partition itself', 'INSERT INTO t1 VALUES (1, 1); INSERT INTO t1 VALUES (4, 1), (4, 1)', '23505 23505', '1:1 2:2');
try('by COPY', "COPY t (id, p) FROM stdin;\n3\t1\n4\t2\n1\t2\n\\.\nCOPY t (id, p) FROM stdin;\n3\t1\n4\t2\n\\.\nCOPY t (id, p) FROM stdin;\n5\t1\n5\t2\n\\.\n",
	'23505 23505', '1:1 2:2 3:1 4:2');
try('by COPY into a partition', "COPY t2 (id, p) FROM stdin;\n3\t2\n1\t2\n\\.\nCOPY t2 (id, p) FROM stdin;\n3\t2\n\\.\nINSERT INTO t VALUES (3, 1);",
	'23505 23505', '1:1 2:2 3:2');
try('by COPY with FREEZE', "BEGIN;\nCREATE TABLE t3 PARTITION OF t FOR VALUES IN (3);\nCOPY t3 (id, p) FROM stdin FREEZE;\n1\t3\n\\.\nCOMMIT;\n"
	  . "BEGIN;\nCREATE TABLE t3 PARTITION OF t FOR VALUES IN (3);\nCOPY t3 (id, p) FROM stdin FREEZE;\n3\t3\n\\.\nCOMMIT;\nINSERT INTO t VALUES (3, 1);",
	'23505 23505', '1:1 2:2 3:3');
try('nulls are distinct', 'INSERT INTO t VALUES (NULL, 1), (NULL, 1), (NULL, 2); UPDATE t SET id = NULL WHERE id = 1; INSERT INTO t VALUES (1, 2); UPDATE t SET id = 2 WHERE id IS NULL',
	'23505', '1:2 2:2 -:1 -:1 -:1 -:2');
try('by EXPLAIN ANALYZE and EXECUTE', 'EXPLAIN ANALYZE INSERT INTO t VALUES (1, 2); PREPARE i(bigint) AS INSERT INTO t VALUES ($1, 2); EXECUTE i(3); EXECUTE i(1); EXECUTE i(3)',
	'23505 23505 23505', '1:1 2:2 3:2');
try('through a view', 'CREATE VIEW w AS SELECT * FROM t; INSERT INTO w VALUES (1, 2); UPDATE w SET id = 1 WHERE id = 2', '23505 23505', '1:1 2:2');
try('by a rule', 'CREATE TABLE r (id bigint); CREATE RULE also AS ON INSERT TO r DO ALSO INSERT INTO t VALUES (NEW.id, 2); INSERT INTO r VALUES (1); INSERT INTO r VALUES (3)',
	'23505', '1:1 2:2 3:2');
try('more keys than a batch has', 'INSERT INTO t SELECT i, 1 + i % 2 FROM generate_series(3, 250000) AS i; INSERT INTO t SELECT i, 1 FROM generate_series(500000, 249999, -1) AS i',
	'23505', '250000:250000', $counts);

#
# Keys that change, rows that move
#

try('UPDATE of the key', 'UPDATE t SET id = 1 WHERE id = 2; UPDATE t SET id = 3 WHERE id = 2; INSERT INTO t VALUES (2, 1); INSERT INTO t VALUES (3, 1)',
	'23505 23505', '1:1 2:1 3:2');
try('UPDATE of a partition', 'UPDATE t2 SET id = 1; UPDATE t2 SET id = 3; INSERT INTO t1 VALUES (3, 1)', '23505 23505', '1:1 3:2');
try('UPDATE of the key and the partition', 'UPDATE t SET id = 1, p = 1 WHERE id = 2; UPDATE t SET id = 3, p = 1 WHERE id = 2; INSERT INTO t VALUES (3, 2)',
	'23505 23505', '1:1 3:1');
try('two rows change their keys', 'UPDATE t SET id = 3 - id', '', '1:2 2:1');
try('all rows get one key', 'UPDATE t SET id = 7', '23505', '1:1 2:2');
try('rows move', 'UPDATE t SET p = 3 - p; INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2)', '23505 23505', '1:2 2:1');
try('UPDATE of another column', 'UPDATE t SET v = 5; UPDATE t SET id = id', '', '1:1 2:2');
try('DELETE gives a key back', 'DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (1, 1)', '23505', '1:2 2:2');
try('DELETE and INSERT in a transaction', 'BEGIN; DELETE FROM t; INSERT INTO t VALUES (1, 2), (2, 1); COMMIT; INSERT INTO t VALUES (1, 1)', '23505', '1:2 2:1');
try('a trigger BEFORE UPDATE changes the key', q{
	CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 1; RETURN NEW; END';
	CREATE TRIGGER change BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION one();
	UPDATE t SET v = 1 WHERE id = 2;
	UPDATE t SET v = 1 WHERE id = 1;
	UPDATE t SET p = 1 WHERE id = 2;}, '23505 23505', '1:1 2:2');
try('a trigger BEFORE INSERT changes the key', q{
	CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 1; RETURN NEW; END';
	CREATE TRIGGER zz BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION one();
	INSERT INTO t VALUES (3, 1);
	DELETE FROM t WHERE id = 1;
	INSERT INTO t VALUES (3, 2);
	INSERT INTO t VALUES (3, 1);}, '23505 23505', '1:2 2:2');
try('a trigger AFTER INSERT changes the key', q{
	CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE t SET id = 1 WHERE id = NEW.id; RETURN NULL; END';
	CREATE TRIGGER zz AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION one();
	INSERT INTO t VALUES (3, 1);
	DELETE FROM t WHERE id = 1;
	INSERT INTO t VALUES (3, 2);
	INSERT INTO t VALUES (3, 2);}, '23505 23505', '1:2 2:2');
try('a trigger BEFORE INSERT drops the row', q{
	CREATE FUNCTION drop_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER zz BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.v = 0) EXECUTE FUNCTION drop_it();
	INSERT INTO t VALUES (3, 1, 0), (1, 2, 0);
	INSERT INTO t VALUES (3, 2, 1), (1, 2, 0);}, '', '1:1 2:2 3:2');
try('a foreign key changes the key', q{
	CREATE TABLE r (id bigint PRIMARY KEY);
	INSERT INTO r SELECT generate_series(1, 9);
	ALTER TABLE t ALTER id SET DEFAULT 2;
	ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES r ON UPDATE SET DEFAULT;
	UPDATE r SET id = 11 WHERE id = 1;
	ALTER TABLE t DROP CONSTRAINT t_id_fkey, ADD FOREIGN KEY (id) REFERENCES r ON UPDATE CASCADE;
	UPDATE r SET id = 11 WHERE id = 1;
	INSERT INTO t VALUES (11, 2);
	UPDATE r SET id = id + 100;
	INSERT INTO t VALUES (102, 1);}, '23505 23505 23505', '102:2 111:1');
try('a foreign key that is deferred', q{
	CREATE TABLE r (id bigint PRIMARY KEY);
	INSERT INTO r SELECT generate_series(1, 9);
	ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES r ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED;
	BEGIN;
	UPDATE r SET id = 11 WHERE id = 1;
	INSERT INTO t VALUES (11, 2);
	COMMIT;
	BEGIN;
	UPDATE r SET id = 11 WHERE id = 1;
	COMMIT;
	INSERT INTO t VALUES (11, 2);}, '23505 23505', '2:2 11:1');

#
# Several rows in one statement, in parts of it
#

try('two inserts in a WITH', 'WITH a AS (INSERT INTO t VALUES (3, 1)) INSERT INTO t VALUES (3, 2); WITH a AS (INSERT INTO t VALUES (4, 1)) INSERT INTO t VALUES (5, 2); INSERT INTO t VALUES (4, 2); INSERT INTO t VALUES (5, 1)',
	'23505 23505 23505', '1:1 2:2 4:1 5:2');
try('an insert into a partition in a WITH', 'WITH a AS (INSERT INTO t1 VALUES (3, 1)) INSERT INTO t VALUES (3, 2)', '23505', '1:1 2:2');
try('DELETE and INSERT in a WITH', 'WITH a AS (DELETE FROM t WHERE id = 1) INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (1, 1)', '23505', '1:2 2:2');
try('UPDATE and INSERT in a WITH', 'WITH a AS (UPDATE t SET id = 3 WHERE id = 1) INSERT INTO t VALUES (3, 2); WITH a AS (UPDATE t SET id = 3 WHERE id = 1) INSERT INTO t VALUES (1, 2)',
	'23505', '1:2 2:2 3:1');
my $arbiter = 'CREATE UNIQUE INDEX ON t (id, p);';
try('ON CONFLICT DO NOTHING on a wider index', "$arbiter INSERT INTO t VALUES (1, 1), (3, 1) ON CONFLICT (id, p) DO NOTHING; INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING",
	'23505', '1:1 2:2 3:1');
try('ON CONFLICT DO UPDATE', "$arbiter INSERT INTO t VALUES (1, 1), (3, 1) ON CONFLICT (id, p) DO UPDATE SET v = 7;
	INSERT INTO t VALUES (1, 1) ON CONFLICT (id, p) DO UPDATE SET id = 2;
	INSERT INTO t VALUES (1, 1) ON CONFLICT (id, p) DO UPDATE SET id = 9;
	INSERT INTO t VALUES (9, 2), (2, 2) ON CONFLICT (id, p) DO UPDATE SET v = 8;
	INSERT INTO t VALUES (9, 1), (10, 2) ON CONFLICT (id, p) DO UPDATE SET id = 10",
	'23505 23505 23505', '2:2 3:1 9:1');
{
	my $merge = 'MERGE INTO t USING (VALUES (%s)) AS s (id, p) ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN %s WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.p);';
	try('MERGE that inserts', sprintf($merge, '1, 1), (3, 1', 'DO NOTHING') . sprintf($merge, '1, 2', 'DO NOTHING') . sprintf($merge, '4, 1), (4, 2', 'DO NOTHING'),
		'23505 23505', '1:1 2:2 3:1');
	try('MERGE that updates', sprintf($merge, '1, 1', 'UPDATE SET id = 2') . sprintf($merge, '1, 1), (5, 2', 'UPDATE SET id = 5') . sprintf($merge, '1, 1), (1, 2', 'UPDATE SET id = 5') . 'INSERT INTO t VALUES (5, 2)',
		'23505 23505 23505', '1:2 2:2 5:1');
	try('MERGE that deletes and inserts', sprintf($merge, '1, 1), (1, 2', 'DELETE') . 'INSERT INTO t VALUES (1, 1)', '23505', '1:2 2:2');
}

#
# Statements in functions, and in triggers
#

try('a function inserts', 'SELECT put(3, 1); SELECT put(3, 2); SELECT put(1, 2)', '23505 23505', '1:1 2:2 3:1');
try('a statement whose function inserts the same key', 'INSERT INTO t SELECT put(3, 2), 1', '23505', '1:1 2:2');
try('and another', 'INSERT INTO t SELECT put(3, 2) + 1, 1; INSERT INTO t VALUES (4, 2); INSERT INTO t VALUES (3, 1)', '23505 23505', '1:1 2:2 3:2 4:1');
try('a statement whose function inserts the same key directly', 'INSERT INTO t SELECT put_directly(3, 2), 1', '23505', '1:1 2:2');
try('and another directly', 'INSERT INTO t SELECT put_directly(3, 2) + 1, 1; INSERT INTO t VALUES (4, 2); INSERT INTO t VALUES (3, 1)', '23505 23505', '1:1 2:2 3:2 4:1');
try('a statement into a partition whose function inserts the same key', 'INSERT INTO t1 SELECT put(3, 2), 1; INSERT INTO t1 SELECT put_directly(3, 2), 1', '23505 23505', '1:1 2:2');
try('a block with EXCEPTION', q{
	SELECT try_put(1, 2), try_put(3, 2), try_put(3, 1), try_put_directly(2, 1), try_put_directly(4, 1), try_put_directly(4, 2);}, '', '1:1 2:2 3:2 4:1');
try('in a statement', q{
	INSERT INTO t SELECT 20 + i, 1 FROM generate_series(1, 4) AS i WHERE try_put(i, 2) > 0 AND try_put_directly(10 + i, 1) > 0;
	INSERT INTO t SELECT 20 + i, 1 FROM generate_series(0, 4) AS i WHERE try_put_directly(20 + i, 2) IS NULL;}, '23505', '1:1 2:2 3:2 4:2 13:1 14:1 23:1 24:1');
try('a block that is rolled back', 'SELECT put_in_vain(3, 1); INSERT INTO t VALUES (3, 2); SELECT put_in_vain(3, 1)', '23505', '1:1 2:2 3:2');
try('a block that is rolled back, in a statement', 'INSERT INTO t SELECT put_in_vain(3, 1), 2; INSERT INTO t VALUES (3, 1)', '23505', '1:1 2:2 3:2');
# the rows of the statement are there when the block is rolled back
try('a block in a trigger that is rolled back', q{
	CREATE FUNCTION put_more() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM put_in_vain(NEW.id + 100, 2); RETURN NULL; END';
	CREATE TRIGGER zz AFTER INSERT ON t FOR EACH ROW WHEN (NEW.id < 100) EXECUTE FUNCTION put_more();
	INSERT INTO t SELECT i, 1 FROM generate_series(3, 9) AS i;
	INSERT INTO t SELECT i, 2 FROM generate_series(9, 3, -1) AS i;
	INSERT INTO t SELECT 100 + i, 2 FROM generate_series(3, 5) AS i;}, '23505', '1:1 2:2 3:1 4:1 5:1 6:1 7:1 8:1 9:1 103:2 104:2 105:2');
foreach my $when ('BEFORE', 'AFTER')
{
	try("a trigger $when INSERT inserts", qq{
		CREATE FUNCTION put_more() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM put(NEW.id + 100, 2); RETURN NEW; END';
		CREATE TRIGGER zz $when INSERT ON t FOR EACH ROW WHEN (NEW.id < 100) EXECUTE FUNCTION put_more();
		INSERT INTO t VALUES (3, 1), (4, 1);
		INSERT INTO t VALUES (103, 1);
		INSERT INTO t VALUES (5, 1), (105, 1);
		INSERT INTO t VALUES (104, 2);}, '23505 23505 23505', '1:1 2:2 3:1 4:1 103:2 104:2');
	try("a trigger $when INSERT inserts directly", qq{
		CREATE FUNCTION put_more() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM put_directly(NEW.id + 100, 2); RETURN NEW; END';
		CREATE TRIGGER aa $when INSERT ON t1 FOR EACH ROW EXECUTE FUNCTION put_more();
		INSERT INTO t VALUES (3, 1), (4, 1);
		INSERT INTO t VALUES (103, 1);
		INSERT INTO t VALUES (5, 1), (105, 2);
		INSERT INTO t VALUES (104, 2);}, '23505 23505 23505', '1:1 2:2 3:1 4:1 103:2 104:2');
	try("a statement trigger $when INSERT inserts", qq{
		CREATE FUNCTION put_more() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM put_directly(100, 2) WHERE pg_trigger_depth() = 1; RETURN NULL; END';
		CREATE TRIGGER aa $when INSERT ON t EXECUTE FUNCTION put_more();
		INSERT INTO t VALUES (100, 1);
		INSERT INTO t VALUES (3, 1);
		INSERT INTO t VALUES (100, 1);
		INSERT INTO t1 VALUES (100, 1);}, '23505 23505 23505', '1:1 2:2 3:1 100:2');
}
try('a loop over RETURNING that is left', q{
	DO $$ DECLARE r record; BEGIN FOR r IN INSERT INTO t VALUES (3, 1), (1, 2) RETURNING id LOOP EXIT; END LOOP; END $$;
	DO $$ DECLARE r record; BEGIN FOR r IN INSERT INTO t VALUES (3, 1), (4, 2) RETURNING id LOOP EXIT; END LOOP; END $$;
	INSERT INTO t VALUES (4, 1);}, '23505 23505', '1:1 2:2 3:1 4:2');
try('UPDATE WHERE CURRENT OF', q{
	BEGIN; DECLARE c CURSOR FOR SELECT FROM t WHERE id = 2; FETCH c; UPDATE t SET id = 1 WHERE CURRENT OF c; COMMIT;
	BEGIN; DECLARE c CURSOR FOR SELECT FROM t WHERE id = 2; FETCH c; UPDATE t SET id = 3 WHERE CURRENT OF c; COMMIT;
	INSERT INTO t VALUES (3, 1);}, '23505 23505', '1:1 3:2');
try('a cursor that is open', q{
	BEGIN; DECLARE c CURSOR FOR SELECT put(i, 2) FROM generate_series(5, 7) AS i; FETCH c; INSERT INTO t VALUES (6, 1); FETCH c; COMMIT;
	BEGIN; DECLARE c CURSOR FOR SELECT put(i, 2) FROM generate_series(5, 7) AS i; FETCH c; INSERT INTO t VALUES (7, 1); FETCH c; COMMIT;
	INSERT INTO t VALUES (6, 1);}, '23505 23505', '1:1 2:2 5:2 6:2 7:1');
try('DO with COMMIT', q{
	DO $$ BEGIN FOR i IN 3 .. 6 LOOP INSERT INTO t VALUES (i, 1 + i % 2); COMMIT; END LOOP; INSERT INTO t VALUES (4, 2); COMMIT; END $$;
	DO $$ BEGIN INSERT INTO t VALUES (7, 1); ROLLBACK; INSERT INTO t VALUES (7, 2); COMMIT; INSERT INTO t VALUES (7, 1); END $$;}, '23505 23505', '1:1 2:2 3:2 4:1 5:2 6:1 7:2');

#
# A limit of rows ends a statement before its triggers for statements: it is checked
# at the latest when the transaction ends
#

my $limited = q{limited('INSERT INTO t SELECT i, 1 FROM generate_series(%d, 9) AS i RETURNING id', %d)};
try('a limit of rows', 'SELECT ' . sprintf($limited, 3, 2) . '; INSERT INTO t VALUES (4, 2); INSERT INTO t VALUES (5, 2)', '23505', '1:1 2:2 3:1 4:1 5:2');
try('a repeat among them', 'SELECT ' . sprintf($limited, 2, 1) . '; BEGIN; SELECT ' . sprintf($limited, 2, 1) . '; COMMIT', '23505 23505', '1:1 2:2');
try('rolled back', 'BEGIN; SAVEPOINT s; SELECT ' . sprintf($limited, 2, 1) . '; ROLLBACK TO s; INSERT INTO t VALUES (3, 2); COMMIT; BEGIN; SELECT ' . sprintf($limited, 2, 1) . '; ROLLBACK; INSERT INTO t VALUES (3, 1)',
	'23505', '1:1 2:2 3:2');
try('and then the same key', 'BEGIN; SELECT ' . sprintf($limited, 3, 1) . '; INSERT INTO t VALUES (3, 2); COMMIT', '23505', '1:1 2:2');
try('and then the same key directly', 'BEGIN; SELECT ' . sprintf($limited, 3, 1) . '; INSERT INTO t2 VALUES (3, 2); COMMIT', '23505', '1:1 2:2');
try('and then others', 'BEGIN; SELECT ' . sprintf($limited, 3, 1) . '; INSERT INTO t VALUES (4, 2); INSERT INTO t1 VALUES (5, 1); COMMIT; INSERT INTO t VALUES (3, 2)', '23505', '1:1 2:2 3:1 4:2 5:1');
try('of keys that change', 'SELECT limited($$UPDATE t SET id = 1 WHERE id = 2 RETURNING id$$, 1); SELECT limited($$UPDATE t SET id = 3 WHERE id = 2 RETURNING id$$, 1); INSERT INTO t VALUES (3, 1)',
	'23505 23505', '1:1 3:2');
try('in a statement', 'INSERT INTO t SELECT ' . sprintf($limited, 3, 1) . ', 2; INSERT INTO t SELECT 3 + ' . sprintf($limited, 3, 1) . ', 2; INSERT INTO t VALUES (3, 2)',
	'23505 23505', '1:1 2:2 3:1 4:2');
try('prepared', 'BEGIN; SELECT ' . sprintf($limited, 2, 1) . "; PREPARE TRANSACTION 'x'; BEGIN; SELECT " . sprintf($limited, 3, 1) . "; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'; INSERT INTO t VALUES (3, 2)",
	'23505 23505', '1:1 2:2 3:1');

#
# Transactions
#

try('rolled back', 'BEGIN; INSERT INTO t VALUES (3, 1); ROLLBACK; INSERT INTO t VALUES (3, 2); INSERT INTO t VALUES (3, 1)', '23505', '1:1 2:2 3:2');
try('a savepoint', 'BEGIN; SAVEPOINT s; INSERT INTO t VALUES (3, 1); ROLLBACK TO s; INSERT INTO t VALUES (3, 2); SAVEPOINT s; INSERT INTO t VALUES (4, 1); RELEASE s; COMMIT; INSERT INTO t VALUES (3, 1); INSERT INTO t VALUES (4, 2)',
	'23505 23505', '1:1 2:2 3:2 4:1');
try('an error that a savepoint ends', 'BEGIN; SAVEPOINT s; INSERT INTO t VALUES (1, 2); ROLLBACK TO s; INSERT INTO t VALUES (3, 2); SAVEPOINT s; INSERT INTO t VALUES (3, 1); ROLLBACK TO s; COMMIT',
	'23505 23505', '1:1 2:2 3:2');
try('DELETE that a savepoint undoes', 'BEGIN; SAVEPOINT s; DELETE FROM t; INSERT INTO t VALUES (1, 2); ROLLBACK TO s; INSERT INTO t VALUES (1, 2); COMMIT', '23505', '1:1 2:2');
try('two-phase commit', "BEGIN; INSERT INTO t VALUES (3, 1); PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'; INSERT INTO t VALUES (3, 2); BEGIN; INSERT INTO t VALUES (4, 1); PREPARE TRANSACTION 'x'; ROLLBACK PREPARED 'x'; INSERT INTO t VALUES (4, 2)",
	'23505', '1:1 2:2 3:1 4:2');
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	try($level, "BEGIN ISOLATION LEVEL $level; INSERT INTO t VALUES (3, 1); INSERT INTO t VALUES (4, 1); UPDATE t SET p = 2 WHERE id = 3; DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 2); COMMIT;
		BEGIN ISOLATION LEVEL $level; INSERT INTO t VALUES (3, 1); COMMIT", '23505', '1:2 2:2 3:2 4:1');
}

#
# Rows that are written by several parts of a statement, and keys that are claimed first
#

# claiming ROWS, INTO: an INSERT that leaves out the rows whose key is there
sub claiming
{
	my ($rows, $into) = @_;
	$into //= 't';
	return "INSERT INTO $into SELECT id, p FROM (VALUES $rows) AS r (id, p) WHERE bloom_unique_claim('t', 'id', id::bigint)";
}
my $five = '1:1 2:2 3:1';
try('WITH an INSERT, an UPDATE that moves a row to a key that is there', 'INSERT INTO t VALUES (3, 1); WITH i AS (INSERT INTO t VALUES (9, 1) RETURNING id) UPDATE t SET p = 2, id = 1 FROM i WHERE t.id = 3', '23505', $five);
try('WITH an UPDATE, an INSERT of a key that is there', 'INSERT INTO t VALUES (3, 1); WITH u AS (UPDATE t SET v = 1 WHERE id = 1 RETURNING id) INSERT INTO t SELECT id, 2 FROM u', '23505', $five);
try('an INSERT that claims, WITH an UPDATE that moves a row to that key', 'WITH u AS (UPDATE t SET id = 3, p = 1 WHERE id = 2 RETURNING id) ' . claiming('(3, 2)') . ' OR (SELECT count(*) FROM u) > 5', '23505', '1:1 2:2');
try('a trigger moves a row below a partition of a partition', q{
	CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3) PARTITION BY LIST (v);
	CREATE TABLE t31 PARTITION OF t3 FOR VALUES IN (1);
	CREATE TABLE t32 PARTITION OF t3 FOR VALUES IN (2);
	INSERT INTO t VALUES (3, 3, 1);
	CREATE FUNCTION mv() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN UPDATE t3 SET v = 2, id = 1 WHERE id = 3; RETURN NULL; END$$;
	CREATE TRIGGER zz AFTER INSERT ON t FOR EACH ROW WHEN (NEW.id = 9) EXECUTE FUNCTION mv();
	INSERT INTO t VALUES (9, 2);}, '23505', '1:1 2:2 3:3');
foreach my $disabled ('', map { "ALTER TABLE t DISABLE TRIGGER t_id_unique_$_;" } 'open', 'close')
{
	try("two cascades give rows one key: $disabled", qq{
		CREATE TABLE r (id bigint, p int, PRIMARY KEY (id, p));
		INSERT INTO r VALUES (1, 1), (2, 2);
		ALTER TABLE t ADD FOREIGN KEY (id, p) REFERENCES r ON UPDATE CASCADE;
		$disabled
		UPDATE r SET id = 7;
		UPDATE r SET id = id + 10, p = 3 - p;}, '23505', '11:2 12:1');
	try("a row moves to a key that is there: $disabled", "$disabled UPDATE t SET id = 1, p = 1 WHERE id = 2", '23505', '1:1 2:2');
}
try('WITH an INSERT, a MERGE that moves a row to a key that is there', 'INSERT INTO t VALUES (3, 1); WITH i AS (INSERT INTO t VALUES (9, 1) RETURNING id) MERGE INTO t USING i ON t.id = 3 WHEN MATCHED THEN UPDATE SET p = 2, id = 1', '23505', $five);

try('claimed: keys that are there, and new', claiming('(1, 2), (3, 1)') . '; ' . claiming('(1, 2), (3, 2), (4, 2)', 't2'), '', '1:1 2:2 3:1 4:2');
try('claimed, twice in a statement', claiming('(3, 1), (3, 2), (1, 2), (4, 2), (4, 1)'), '', '1:1 2:2 3:1 4:2');
try('claimed, directly into a partition, in a session that has done nothing else', [ 'SELECT 1', claiming('(1, 1)', 't1') . '; ' . claiming('(2, 1)', 't1') . '; INSERT INTO t1 VALUES (2, 1)' ], '23505', '1:1 2:2');
try('claimed in a savepoint that is rolled back', 'BEGIN; SAVEPOINT s; ' . claiming('(9, 2)') . '; ROLLBACK TO s; UPDATE t1 SET id = 9 WHERE id = 1; COMMIT; INSERT INTO t VALUES (9, 2)', '23505', '2:2 9:1');
try('claimed, not used, and the key comes by an update', 'BEGIN; SELECT bloom_unique_claim($$t$$, $$id$$, 9::bigint); UPDATE t SET id = 9 WHERE id = 1; UPDATE t SET id = 9 WHERE id = 2; COMMIT', '23505', '1:1 2:2');
try('claimed, and a partition with the key is attached', 'CREATE TABLE t3 (LIKE t); INSERT INTO t3 VALUES (7, 3); BEGIN; SELECT bloom_unique_claim($$t$$, $$id$$, 7::bigint); ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3); INSERT INTO t VALUES (7, 1); COMMIT', '23505', '1:1 2:2');
try('claimed, and the table is emptied', 'BEGIN; SELECT bloom_unique_claim($$t$$, $$id$$, 5::bigint); TRUNCATE t; INSERT INTO t VALUES (5, 1), (5, 2); COMMIT', '23505', '1:1 2:2');
try('claimed in a block that is rolled back', 'DO $$ BEGIN PERFORM bloom_unique_claim($q$t$q$, $q$id$q$, 7::bigint); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN INSERT INTO t VALUES (7, 1), (7, 2); END $$', '23505', '1:1 2:2');
try('a trigger that gives the row a key that was not claimed', q{
	CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 1; RETURN NEW; END';
	CREATE TRIGGER zz BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION one();} . claiming('(3, 2)'), '23505', '1:1 2:2');
try('claimed by COPY', "COPY t (id, p) FROM stdin WHERE bloom_unique_claim('t', 'id', id);\n3\t1\n1\t2\n3\t2\n3\t1\n4\t2\n\\.\n", '', '1:1 2:2 3:1 4:2');
try('claimed, and prepared', 'BEGIN; ' . claiming('(3, 1), (1, 2)') . "; PREPARE TRANSACTION 'claimed'; COMMIT PREPARED 'claimed'; " . claiming('(3, 2), (4, 2)'), '', '1:1 2:2 3:1 4:2');

try('the table is dropped after an insert', "BEGIN; INSERT INTO t VALUES (3, 1); DROP TABLE t; COMMIT; CREATE TABLE t (id int, p int)", '', '');
my $unended = q{limited('INSERT INTO t SELECT i, 1 FROM generate_series(3, 5) AS i RETURNING id', 2)};
try('the table is dropped after a statement that has not ended', "BEGIN; SELECT $unended; DROP TABLE t; COMMIT; CREATE TABLE t (id int, p int)", '', '');
try('the extension is dropped after a statement that has not ended', "BEGIN; SELECT $unended; DROP EXTENSION bloomtype_unique CASCADE; COMMIT; CREATE EXTENSION bloomtype_unique SCHEMA public", '', '1:1 2:2 3:1 4:1');
# without the trigger AFTER STATEMENT, each row is checked in its statement
foreach my $without ('ALTER TABLE t DISABLE TRIGGER t_id_unique_close', 'ALTER TABLE t ENABLE REPLICA TRIGGER t_id_unique_close', 'DROP TRIGGER t_id_unique_close ON t',
	'CREATE OR REPLACE TRIGGER t_id_unique_close AFTER INSERT ON t EXECUTE FUNCTION nothing()')
{
	try("a repeat is caught: $without", qq{
		CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		$without;
		BEGIN;
		SELECT try_put(3, 1);
		SELECT try_put(1, 2);
		DO \$\$ BEGIN INSERT INTO t VALUES (4, 1), (4, 2); EXCEPTION WHEN unique_violation THEN RETURN; END \$\$;
		COMMIT;}, '', '1:1 2:2 3:1');
}
try('one of two keys is dropped after a statement that has not ended', q{
	DELETE FROM t;
	CREATE INDEX ON t (v);
	SELECT bloom_unique_create('t', 'v');
	BEGIN;
	SELECT limited('INSERT INTO t SELECT 900 + i, 1 + i % 2, 7 FROM generate_series(1, 3) AS i RETURNING id', 2);
	SELECT bloom_unique_drop('t', 'id');
	COMMIT;}, '23505', '');

$node->stop;
done_testing();
