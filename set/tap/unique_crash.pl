#
# Unique keys: a crash in the middle, on the server and on a standby that is promoted.
# What was committed is in the table once, and cannot come again; what was not can.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use PostgreSQL::Test::Cluster;
use Server;
use Test::More;

my $node = start_server('crash', "client_min_messages = error\n", allows_streaming => 1);

answer(q{
	CREATE TABLE t (id int, p int) PARTITION BY LIST (p);
	CREATE TABLE t0 PARTITION OF t FOR VALUES IN (0);
	CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
	CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
	CREATE INDEX ON t (id);
	SELECT bloom_unique_create('t', 'id');
	-- of each key, what is there, and what is free
	CREATE PROCEDURE insert_until_crash(session int) LANGUAGE plpgsql AS $$
	DECLARE
		k int := 0;
	BEGIN
		LOOP
			FOR i IN 1 .. 1 + k % 4 LOOP
				k := k + 1;
				BEGIN
					INSERT INTO t VALUES (k, (k + session) % 3);
				EXCEPTION WHEN unique_violation THEN
					INSERT INTO told VALUES ('repeat', session, k);
				END;
			END LOOP;
			IF k % 7 = 0 THEN
				UPDATE t SET p = (p + 1) % 3 WHERE id = k;
			END IF;
			IF k % 11 = 0 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$});
# what is prepared holds its keys, whatever happens
answer("BEGIN; INSERT INTO t SELECT -i, i % 3 FROM generate_series(1, 300) AS i; PREPARE TRANSACTION 'committed'");
answer("BEGIN; INSERT INTO t SELECT -i, i % 3 FROM generate_series(1001, 1300) AS i; PREPARE TRANSACTION 'rolled back'");
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;

# insert over the whole of what came before the end
sub check
{
	my ($server, $what) = @_;
	my ($status, $out, $err);

	is($server->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM t'), 0, "$what: no key is there twice");
	($status, $out, $err) = $server->psql('postgres', q{SET statement_timeout = '100ms'; INSERT INTO t VALUES (-5, 1)});
	like($err, qr/statement timeout/, "$what: who inserts a key that is prepared waits");
	$server->safe_psql('postgres', q{COMMIT PREPARED 'committed'});
	$server->safe_psql('postgres', q{ROLLBACK PREPARED 'rolled back'});
	# each key again, in a partition that it is not in
	is( $server->safe_psql('postgres', q{
		CREATE TEMP TABLE refused (id int);
		DO $$
		DECLARE
			k int;
		BEGIN
			FOR k IN SELECT generate_series(-1400, (SELECT max(id) + 100 FROM t)) LOOP
				BEGIN
					INSERT INTO t VALUES (k, coalesce((SELECT (p + 1) % 3 FROM t WHERE id = k), 0));
				EXCEPTION WHEN unique_violation THEN
					INSERT INTO refused VALUES (k);
				END;
			END LOOP;
		END
		$$;
		SELECT count(*) - count(DISTINCT id) FROM t;
		SELECT count(*) FROM refused WHERE id BETWEEN -300 AND -1;
		SELECT count(*) FROM refused WHERE id < -300}), "0\n300\n0", "$what: just what is there is refused");
	is($server->safe_psql('postgres', q{SELECT bloom_unique_rebuild('t', 'id') = (SELECT count(*) FROM t)}), 't', "$what: all rows are counted");
	return;
}

my @crashing = start_sessions(('CALL insert_until_crash(:session)') x 3);
ok( $node->poll_query_until('postgres', q{SELECT count(*) > 1000 FROM t}), 'sessions insert the same keys')
  and ok($node->poll_query_until('postgres', q{SELECT count(*) > 300 FROM told}), 'and are refused repeats');
kill_server($node);
end_sessions(@crashing);
start_again($node);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
my ($status, $out, $err) = $standby->psql('postgres', 'INSERT INTO t VALUES (1, 1)');
like($err, qr/read-only transaction/, 'nothing can be inserted on a standby');
check($node, 'after a crash');
$node->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT count(*) > 1000, count(*) - count(DISTINCT id) FROM t'), 't|0', 'the standby has it all');
($status, $out, $err) = $standby->psql('postgres', 'INSERT INTO t SELECT id, (p + 1) % 3 FROM t ORDER BY id LIMIT 1');
like($err, qr/duplicate key/, 'and refuses what is there');
$standby->stop;

done_testing();
