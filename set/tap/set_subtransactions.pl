#
# Stored sets: blocks that roll back, as those of PL/pgSQL with EXCEPTION, beside
# sessions that add the same keys.  All keys of a moment are in a few ranges,
# so that sessions always read what others are writing.
#
# The steps are bounded, and the log is exact: what is told new, and what is added
# at all, is written by the transaction that adds it.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $times = $ENV{BLOOM_STRESS} // 1;
my $node = start_small_server('bloomtype_set', 'subtransactions', "fsync = off\ndeadlock_timeout = '100ms'\n");

answer(q{
	ALTER DATABASE postgres SET client_min_messages = error;
	CREATE TABLE tried (set text, key int);
	CREATE SEQUENCE adds;
	CREATE SEQUENCE position;

	-- add keys, and log them
	CREATE FUNCTION add_key(set regclass, k int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM nextval('adds');
		IF bloom_set_add(set, k) THEN
			INSERT INTO told (set, key) VALUES (set, k);
		END IF;
		INSERT INTO tried VALUES (set, k);
	END
	$$;
	CREATE FUNCTION add_keys(set regclass, keys int[]) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM nextval('adds');
		INSERT INTO told (set, key) SELECT set, k FROM unnest(bloom_set_add_all(set, keys)) AS k;
		INSERT INTO tried SELECT set, k FROM unnest(keys) AS k WHERE k IS NOT NULL;
	END
	$$;

	-- keys that nobody else adds, more than a short lane has place for
	CREATE FUNCTION private_keys() RETURNS int[] LANGUAGE sql VOLATILE AS
		$$SELECT array_agg(i) FROM nextval('adds') AS n, generate_series(-100 * n - 30, -100 * n) AS i$$;

	-- Add each key, and then others, in blocks that roll back.  Sometimes all that is
	-- committed moves to lists, before these blocks or in one.
	CREATE PROCEDURE add_and_roll_back(prefix text, nkeys int, in_a_set int) LANGUAGE plpgsql AS $$
	DECLARE
		set regclass;
		k int;
	BEGIN
		FOR i IN 1 .. nkeys LOOP
			k := nextval('position');
			set := prefix || '_' || k / in_a_set;
			PERFORM add_key(set, k);
			IF i % 50 = 0 THEN
				PERFORM bloom_set_compact(set);
			END IF;
			FOR j IN 1 .. 5 LOOP
				BEGIN
					PERFORM add_key(set, -j);
					IF i % 50 = j THEN
						PERFORM bloom_set_compact(set);
					END IF;
					RAISE division_by_zero;
				EXCEPTION WHEN division_by_zero THEN
				END;
			END LOOP;
			COMMIT;
		END LOOP;
	END
	$$;
	-- Add the key that the other session is adding, until that ends; or any that it
	-- has added to the set.
	CREATE PROCEDURE follow(prefix text, nkeys int, in_a_set int, any_key boolean) LANGUAGE plpgsql AS $$
	DECLARE
		k int := 0;
	BEGIN
		WHILE k < nkeys LOOP
			SELECT last_value INTO k FROM position;
			PERFORM add_key((prefix || '_' || k / in_a_set)::regclass,
							CASE WHEN any_key THEN k - floor(random() * (k % in_a_set))::int ELSE k END);
			COMMIT;
		END LOOP;
	END
	$$;

	-- Transactions of all kinds, with keys of the moment in ascending order.
	CREATE PROCEDURE add_at_random(prefix text, transactions int, in_a_set int, seed float8) LANGUAGE plpgsql AS $$
	DECLARE
		set regclass;
		k int;
		fate float8;
	BEGIN
		PERFORM setseed(seed);
		FOR i IN 1 .. transactions LOOP
			IF random() < 0.2 THEN
				PERFORM nextval('position');
			END IF;
			SELECT last_value INTO k FROM position;
			set := prefix || '_' || k / in_a_set;
			FOR j IN 1 .. 1 + floor(random() * 4) LOOP
				k := k + floor(random() * 3);
				fate := random();
				IF fate < 0.3 THEN
					PERFORM add_key(set, k);
				ELSIF fate < 0.4 THEN
					PERFORM add_keys(set, ARRAY[k, k, NULL, k]);
				ELSIF fate < 0.6 THEN
					BEGIN
						PERFORM add_key(set, k);
					EXCEPTION WHEN division_by_zero THEN
					END;
				ELSIF fate < 0.8 THEN
					BEGIN
						PERFORM add_key(set, k);
						RAISE division_by_zero;
					EXCEPTION WHEN division_by_zero THEN
					END;
				ELSE
					BEGIN
						PERFORM add_key(set, k);
						BEGIN
							PERFORM add_keys(set, private_keys());
							RAISE division_by_zero;
						EXCEPTION WHEN division_by_zero THEN
						END;
						IF fate < 0.9 THEN
							RAISE division_by_zero;
						END IF;
					EXCEPTION WHEN division_by_zero THEN
					END;
				END IF;
			END LOOP;
			IF random() < 0.1 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$;

	CREATE FUNCTION denied() RETURNS bigint LANGUAGE sql AS
		'SELECT count(*) FROM (SELECT DISTINCT set, key FROM tried) AS t WHERE NOT bloom_set_contains(set::regclass, key)'});

# Run these sessions on so many sets, and look at the log.
sub stress
{
	my ($what, $nsets, @sessions) = @_;

	answer(q{TRUNCATE told, tried; ALTER SEQUENCE position RESTART});
	answer(join ';', map { "SELECT " . create_set("${what}_$_", 'int', 'seed => 1') } 0 .. $nsets);
	my $before = answer(q{SELECT last_value FROM adds});
	is(end_sessions(start_sessions(@sessions)), '', "$what: no error");
	my $adds = answer(q{SELECT last_value FROM adds}) - $before;
	is(answer(q{SELECT count(*) FROM (SELECT set, key FROM told GROUP BY set, key HAVING count(*) > 1) AS twice}),
		0, "$what: in $adds adds, no key is told new twice");
	is(answer(q{SELECT denied()}), 0, "$what: none is denied");
	is(answer(q{SELECT count(*) FROM (SELECT set, key FROM tried EXCEPT SELECT set, key FROM told) AS never}),
		0, "$what: each was new once");
	return $adds;
}

# A set has 100 keys, or 1000
my ($keys, $sum) = (3000 * $times, 0);
foreach my $in_a_set (100, 1000)
{
	my $sets = $keys / $in_a_set + 1;

	$sum += stress("followed_$in_a_set", $sets, "CALL add_and_roll_back('followed_$in_a_set', $keys, $in_a_set)",
		("CALL follow('followed_$in_a_set', $keys, $in_a_set, false)") x 3, "CALL follow('followed_$in_a_set', $keys, $in_a_set, true)");
	$sum += stress("random_$in_a_set", $sets,
		map { "CALL add_at_random('random_$in_a_set', $keys, $in_a_set, 0.$_)" } 1 .. 4);
}
cmp_ok($sum, '>', 100000, "$sum adds in all");

$node->stop;
done_testing();
