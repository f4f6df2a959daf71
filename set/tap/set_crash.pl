#
# Stored sets: a crash in the middle.  What was committed is in, what was not is
# out.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_server('crash', '');

answer('SELECT ' . create_set('crash', 'int', 'seed => 1'));
answer('SELECT ' . create_set('batches', 'int', 'seed => 1'));
answer('SELECT ' . create_set('cache', 'int', 'unlogged => true'));
answer(q{
	SELECT FROM bloom_set_add_all('batches', ARRAY(SELECT generate_series(1, 100000)));
	SELECT bloom_set_add('cache', 1);
	CREATE PROCEDURE add_until_crash(session int) LANGUAGE plpgsql AS $$
	DECLARE
		k int := session;
	BEGIN
		LOOP
			-- a transaction has one add, or several, which overwrite lanes
			FOR i IN 1 .. 1 + k % 5 LOOP
				IF bloom_set_add('crash', k) THEN
					INSERT INTO told VALUES ('crash', session, k);
				END IF;
				k := k + 4;
			END LOOP;
			-- some are rolled back
			IF k % 7 = 0 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$});
# prepared transactions outlive it: many adds, a statement each, and a savepoint
foreach my $name ('committed', 'rolled back')
{
	my $first = $name eq 'committed' ? -200 : -400;

	answer("BEGIN; SAVEPOINT s;" . join(';', map { "SELECT bloom_set_add('crash', " . ($first - $_) . ")" } 1 .. 10)
		  . "; ROLLBACK TO s;" . join(';', map { "SELECT bloom_set_add('crash', " . ($first + $_) . ")" } 1 .. 60)
		  . "; PREPARE TRANSACTION '$name'");
}
my @crashing = start_sessions(('CALL add_until_crash(:session)') x 4);
ok( $node->poll_query_until('postgres', q{SELECT count(*) > 2000 AND count(DISTINCT session) = 4 FROM told WHERE set = 'crash'}),
	'sessions are adding');
kill_server($node);
end_sessions(@crashing);
start_again($node);
is( answer(q{
	SELECT count(*) FROM generate_series(1, (SELECT max(key) + 1000 FROM told WHERE set = 'crash')) AS k
	WHERE bloom_set_contains('crash', k) <> EXISTS (SELECT FROM told WHERE set = 'crash' AND key = k)}),
	0, 'after a crash, just what was committed is in');
is(answer(q{SELECT bloom_set_contains_any('crash', ARRAY(SELECT generate_series(-410, -100)))}), 'f', 'of prepared transactions, nothing is in');
my ($status, $out, $err) = $node->psql('postgres', q{SET statement_timeout = '100ms'; SELECT bloom_set_add('crash', -150)});
like($err, qr/statement timeout/, 'but who adds such a key waits');
answer(q{COMMIT PREPARED 'committed'; ROLLBACK PREPARED 'rolled back'});
is(answer(q{SELECT count(*), min(k), max(k) FROM generate_series(-410, -100) AS k WHERE bloom_set_contains('crash', k)}), '60|-199|-140', 'what is committed is in, but not what was rolled back');
is(answer(q{SELECT cardinality(bloom_set_add_all('crash', ARRAY(SELECT generate_series(-410, -131))))}), 280 - 60, 'and is new again');
is(answer(q{SELECT bloom_set_contains_all('batches', array_agg(k)) FROM generate_series(1, 100000) AS k}),
	't', 'other sets are whole');
is(answer(q{SELECT bloom_set_contains('cache', 1), bloom_set_add('cache', 1)}),
	'f|t', 'an unlogged set is empty');

$node->stop;
done_testing();
