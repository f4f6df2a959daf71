#
# Stored sets: sessions that add the same keys at the same time.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

# Nothing is overwritten where the log must have each version of a row.
my $node = start_server('sets', '', allows_streaming => 'logical');

#
# Eight sessions add the same keys, each in an order of its own: a million adds
#

answer('SELECT ' . create_set('batches', 'int', 'seed => 1'));
is( in_sessions(8, q{
	SELECT format($$INSERT INTO told SELECT 'batches', %s, unnest(bloom_set_add_all('batches', %L::int[]))$$,
				  :session, array_agg(k))
	FROM (SELECT k, row_number() OVER (ORDER BY hashint8extended(k, :session)) / 1000 AS batch
		  FROM generate_series(1, 125000) AS k) AS shuffled
	GROUP BY batch
	\gexec
	}),
	'', 'eight sessions add the same keys in batches, without an error or a deadlock');
is(answer(q{SELECT count(*) FROM (SELECT key FROM told WHERE set = 'batches' GROUP BY key HAVING count(*) > 1) AS twice}),
	0, 'no key was new twice');
is(answer(q{SELECT count(*) FROM told WHERE set = 'batches'}), 125000, 'each was new once');
is(answer(q{SELECT bloom_set_contains_all('batches', array_agg(k)) FROM generate_series(1, 125000) AS k}),
	't', 'all are in');
cmp_ok(answer(q{SELECT count(DISTINCT session) FROM told WHERE set = 'batches'}),
	'>', 1, 'sessions were really at it at the same time');

# one by one, each add in a transaction of its own
answer('SELECT ' . create_set('singles', 'int', 'seed => 1'));
answer('SELECT ' . create_set('slices', 'int', "keep => '1 day'", 'seed => 1'));
answer(q{
	CREATE PROCEDURE add_singles(session int) LANGUAGE plpgsql AS $$
	DECLARE
		k int;
	BEGIN
		FOR k IN SELECT i FROM generate_series(1, 3000) AS i ORDER BY hashint8extended(i, session) LOOP
			IF bloom_set_add('singles', k) THEN
				INSERT INTO told VALUES ('singles', session, k);
			END IF;
			COMMIT;
		END LOOP;
	END
	$$;
	-- clocks that differ by up to two time slices
	CREATE PROCEDURE add_slices(session int) LANGUAGE plpgsql AS $$
	DECLARE
		k int;
	BEGIN
		FOR k IN SELECT i FROM generate_series(1, 1000) AS i ORDER BY hashint8extended(i, session) LOOP
			IF bloom_set_add('slices', k, '2020-01-01 05:00'::timestamptz + session * interval '75 minutes') THEN
				INSERT INTO told VALUES ('slices', session, k);
			END IF;
			COMMIT;
		END LOOP;
	END
	$$});
is(in_sessions(8, 'CALL add_singles(:session)'), '', 'eight sessions add the same keys one by one');
is(answer(q{SELECT count(*) FROM (SELECT key FROM told WHERE set = 'singles' GROUP BY key HAVING count(*) > 1) AS twice}),
	0, 'no key was new twice');
is(answer(q{SELECT count(*) FROM told WHERE set = 'singles'}), 3000, 'each was new once');

is(in_sessions(8, 'CALL add_slices(:session)'), '', 'eight sessions with different clocks add the same keys');
is(answer(q{SELECT count(*) || ' ' || count(DISTINCT key) FROM told WHERE set = 'slices'}),
	'1000 1000', 'each key was new just once');
cmp_ok(answer(q{SELECT count(DISTINCT slice) FROM slices}),
	'>', 1, 'they are in different time slices');

$node->stop;
done_testing();
