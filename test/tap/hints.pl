#
# Hints that work.  Each errhint of the sources stands in one of two lists.  A *typed*
# one has SQL in it: that is run as it stands, in the call that raised the error, and
# works.  A *text* is met by a statement of sql/, or by one that is here.  A hint in
# neither list fails, as does one of a list that no source has.
#
# A hint that an error is given by a variable is marked in the source by gettext_noop().
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# What a conversion of a format stands for
my $conversion = qr/%(?:\.\d+)?(?:zu|llu|[sdgu])|%\.\d+[fg]/;

# formats(): the hints of the sources, and where they are
sub formats
{
	my %formats;

	for my $file (glob 'bloomtype.c src/*.h src/*/*.[ch] set/*.[ch] set/unique/*.[ch] scan/*.[ch]')
	{
		my $text = slurp_file($file);

		while ($text =~ /\b(?:errhint|errhint_plural|gettext_noop)\(\s*/g)
		{
			my $format = '';

			while ($text =~ /\G\s*(?:"((?:[^"\\]|\\.)*)"|(U?INT64_FORMAT))/gc)
			{
				my $literal = $1;

				$format .= defined $literal ? $literal =~ s/\\(.)/$1/gr : '%d';
			}
			$formats{$format} = $file if $format ne '%s' && $format ne '';
		}
	}
	return %formats;
}

# matcher(FORMAT): an expression that matches the hints that it makes
sub matcher
{
	my $expression = join '.*?', map { quotemeta } split /$conversion/, $_[0], -1;
	return qr/$expression/;
}

# ---------------------------------------------------------------------
# Typed: [ hint, [ call, what to type, setup... ], ... ]
#
# In a call, [[ ]] is what the hint replaces.  "What to type" matches a part of
# the hint; in it, the words key, keys, filter and column stand for what is replaced.
# If the call has no [[ ]], the part is a statement to run before the call.
# ---------------------------------------------------------------------

my $write_first = qr/Write the keys? as (.*?)(?:\. (?:A literal|If the type).*|, or make .*|\.)$/;
my $build = qr/((?:counting_)?bloom_(?:add_all|agg)\(.*?\)\)|(?:counting_)?bloom_agg\([^()]*\))/;
my @typed = (
	[ 'Write the %s as %s. A literal or parameter without a type is text.',
		[ q{SELECT bloom_add(bloom_empty(10), 1) @> [['5']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), 1) @> [[key]] FROM (VALUES ('5')) AS v (key)}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), date '2026-01-01') @> [['2026-02-01']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), 'happy'::mood) @> [['sad']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), 'happy'::odd."My Mood") @> [['sad']]}, $write_first, 'SET search_path = odd, public' ],
		[ q{SELECT bloom_add(bloom_empty(10), '[1,2)'::int4range) @> [['[1,5)']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), '{[1,2)}'::int4multirange) @> [['{[1,5)}']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), '{happy}'::mood[]) @> [['{sad}']]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), ROW(1, 'a')) @> [['(1,a)']] FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), ROW(1, 'happy'::mood, '{1}'::int[])) @> [['(1,a)']] FROM (VALUES (1, 'sad', '{2}')) AS v (a, b, c)}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), '"'::"char") @> [['a']]}, $write_first ],
		[ q{SELECT bloom_add_all(bloom_add(bloom_empty(10), 1), [['{1,2}']])}, $write_first ],
		[ q{SELECT bloom_missing(bloom_add(bloom_empty(10), 1), [[keys]]) FROM (VALUES ('{1,2}'::text[])) AS v (keys)}, $write_first ],
		[ q{SELECT bloom_contains_any(bloom_add(bloom_empty(10), 'happy'::mood), [['{sad}']])}, $write_first ],
		[ q{SELECT bloom_contains_all(bloom_add(bloom_empty(10), ROW(1, 'a')), [['{"(1,a)"}']]) FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ],
		[ q{SELECT counting_bloom_remove(counting_bloom_add(counting_bloom_empty(10), 1), [['1']])}, $write_first ],
		[ q{SELECT counting_bloom_add_all(counting_bloom_add(counting_bloom_empty(10), uuid_in('00000000-0000-0000-0000-000000000009')), [['{00000000-0000-0000-0000-000000000009}']])}, $write_first ],
		[ q{SELECT bloom_set_add('numbers', [['5']])}, $write_first ],
		[ q{SELECT bloom_set_add_all('numbers', [['{1,2}']])}, $write_first ],
		[ q{SELECT bloom_set_missing('numbers', [['{1,2}']])}, $write_first ],
		[ q{SELECT bloom_set_contains('pairs', [['(1,a)']]) FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ],
		[ q{SELECT bloom_set_load('numbers', 'SELECT [[key]] FROM (SELECT ''5''::text AS key) AS s')}, $write_first ] ],
	[ 'Write the %s as %s, or make the %s anew for keys of type %s.',
		[ q{SELECT bloom_add(bloom_empty(10), 'a') @> [[5]]}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), 'a') @> [['happy'::mood]]}, $write_first ],
		[ q{SELECT bloom_contains_any(bloom_add(bloom_empty(10), 'a'), [[ARRAY[1, 2]]])}, $write_first ],
		[ q{SELECT bloom_set_add('texts', [[ROW(1, 2)]])}, $write_first ],
		[ q{SELECT bloom_set_add_all('texts', [['{1}'::int[]]])}, $write_first ] ],
	[ 'Write the %s as %s. If the type of the %s\'s keys was altered since, make it anew.',
		[ q{SELECT bloom_add(bloom_empty(10), ROW(1, 'a')) @> [[ROW(1, 2)]] FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ],
		[ q{SELECT bloom_set_add_all('pairs', [[ARRAY[ROW(1, 2, 3)]]]) FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ] ],
	[ 'Write the %s as %s.',
		[ q{SELECT bloom_add(bloom_empty(10), timestamp '2026-01-01') @> [[date '2026-01-01']]}, $write_first ],
		[ q{SELECT bloom_contains_any(bloom_add(bloom_empty(10), timestamp '2026-01-01'), [['{2026-01-01}'::date[]]])}, $write_first ],
		[ q{SELECT bloom_add(bloom_empty(10), 1) @> [['1'::oid]]}, $write_first ],
		[ q{SELECT bloom_set_add('pairs', [[5]]) FROM (VALUES (1, 'a')) AS v (a, b)}, $write_first ] ],
	[ 'A capacity is followed by an fp_prob: bloom_agg(key, %.0f, %g). A key of two columns is a row: bloom_agg(ROW(a, b)).',
		[ q{SELECT [[bloom_agg(key, 1000)]] FROM generate_series(1, 10) AS key}, qr/(bloom_agg\(key, 1000, 0\.01\))/ ],
		[ q{SELECT [[bloom_agg(a, b)]] FROM (VALUES (1, 2)) AS v (a, b)}, qr/(bloom_agg\(ROW\(a, b\)\))/ ] ],
	[ 'A key of two columns is a row: bloom_agg(ROW(a, b)). A rate of one percent is 0.01.',
		[ q{SELECT [[bloom_agg(a, b)]] FROM (VALUES (1, 0)) AS v (a, b)}, qr/(bloom_agg\(ROW\(a, b\)\))/ ],
		[ q{SELECT [[bloom_agg(a, b)]] FROM (VALUES (1, -5)) AS v (a, b)}, qr/(bloom_agg\(ROW\(a, b\)\))/ ],
		[ q{SELECT bloom_agg(1, [[1e12]])}, qr/(0\.01)\.$/ ] ],
	[ 'A rate of one percent is 0.01.', [ q{SELECT best_params([[1]])}, qr/(0\.01)\.$/ ], [ q{SELECT bloom_fit(bloom_empty(10), [[1]])}, qr/(0\.01)\.$/ ] ],
	[ 'Both still hold their keys. Cast them to one shape: filter::%s%s.',
		[ q{SELECT [[bloom_empty(10)]] | [[bloom_add(bloom_empty(1000), 1)]]}, qr/(filter::.*)\.$/ ],
		[ q{SELECT [[counting_bloom_empty(10)]] + [[counting_bloom_empty(1234, 0.0123)]]}, qr/(filter::.*)\.$/ ] ],
	[ 'The one of %d %s and %d hashes still holds its keys. Cast it: filter::%s%s.',
		[ q{SELECT bloom_agg(i) | [[bloom_add(bloom_empty(10), 1)]] FROM generate_series(1, 1000) AS i}, qr/(filter::.*)\.$/ ],
		[ q{SELECT [[counting_bloom_empty(1e6)]] + counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1000) AS i}, qr/(filter::.*)\.$/ ] ],
	[ 'Build both by %s_agg(key, %s, which a column of type %s%s ensures%s.',
		[ q{SELECT [[bloom_agg(key)]] | [[bloom_agg(key, 0.02)]] FROM generate_series(1, 1234) AS key}, $build ],
		[ q{SELECT [[counting_bloom_agg(key, 1000, 0.01)]] + [[counting_bloom_agg(key, 500, 0.01)]] FROM generate_series(1, 500) AS key}, $build ] ],
	[ 'Build both by %s_add_all(%s, array_agg(key)).',
		[ q{SELECT [[bloom_agg(key, 1000, 0.01)]] | [[bloom_add_all(bloom_empty(1000, 0.01, 42), array_agg(key))]] FROM generate_series(1, 1000) AS key}, $build ],
		[ q{SELECT [[bloom_agg(key)]] & [[bloom_add_all(bloom_empty(12345, 0.0123, -42), array_agg(key))]] FROM generate_series(1, 1000) AS key}, $build ],
		[ q{SELECT [[bloom_add_all(bloom_empty_shaped(12345, 3), array_agg(key))]] | [[bloom_add_all(bloom_empty(10, 0.01, -42), array_agg(key))]] FROM generate_series(1, 5) AS key}, $build ],
		[ q{SELECT bloom_superset([[bloom_agg(key, 100, 0.01)]], bloom_set_filter('numbers', 100)) FROM generate_series(1, 10) AS key}, $build ],
		[ q{SELECT [[counting_bloom_agg(key, 1000, 0.01)]] + [[counting_bloom_add_all(counting_bloom_empty(1000, 0.01, 42), array_agg(key))]] FROM generate_series(1, 1000) AS key}, $build ] ],
	[ 'Build both of keys of one type, such as %s.',
		[ q{SELECT bloom_agg([[i]], 10, 0.01) | bloom_agg([['5'::text]], 10, 0.01) FROM generate_series(1, 10) AS i}, qr/such as (.*)\.$/ ],
		[ q{SELECT bloom_agg([[i]], 10, 0.01) | bloom_agg([[1.5]], 10, 0.01) FROM generate_series(1, 10) AS i}, qr/such as (.*)\.$/ ],
		[ q{SELECT bloom_agg([[i]], 10, 0.01) | bloom_agg([['happy'::mood]], 10, 0.01) FROM generate_series(1, 10) AS i}, qr/such as (.*)\.$/ ],
		[ q{SELECT counting_bloom_agg([[current_date]], 10, 0.01) + counting_bloom_agg([[localtimestamp]], 10, 0.01)}, qr/such as (.*)\.$/ ] ],
	[ 'Build it by %s_agg(key, %s or from %s_empty%s.',
		[ q{INSERT INTO shaped (f) SELECT [[bloom_agg(key)]] FROM generate_series(1, 3) AS key}, $build ],
		[ q{INSERT INTO shaped (f) SELECT [[bloom_agg(key)]] FROM generate_series(1, 3) AS key}, qr/from (.*)\.$/ ],
		[ q{UPDATE shaped SET c = (SELECT [[counting_bloom_agg(key, 10, 0.1)]] FROM generate_series(1, 9) AS key)}, $build ] ],
	[ 'It holds %d keys, which are more than fit. Build it by %s_agg(key, %s or from %s_empty%s.',
		[ q{INSERT INTO shaped (f) SELECT [[bloom_agg(key, 1e6, 0.01)]]::bloom(1000, 0.01) FROM generate_series(1, 1001) AS key}, $build ],
		[ q{INSERT INTO shaped (c) SELECT [[counting_bloom_agg(key, 1e6, 0.01)]] FROM generate_series(1, 1001) AS key}, qr/from (.*)\.$/ ] ],
	[ 'Build it by %s_agg(key, %s or from %s_empty%s. It still holds its keys, so that a cast turns it: filter::%s%s. ALTER TABLE takes that after USING.',
		[ q{INSERT INTO shaped (f) SELECT [[bloom_agg(key, 5000, 0.01)]] FROM generate_series(1, 3) AS key}, $build ],
		[ q{INSERT INTO shaped (f) VALUES ([[bloom_add(bloom_empty(10, 0.001), 1)]])}, qr/from (bloom_empty\(.*?\))/ ],
		[ q{INSERT INTO shaped (f) SELECT [[filter]] FROM (SELECT bloom_add(bloom_empty(50), 1) AS filter) AS s}, qr/(filter::bloom\(.*?\))/ ],
		[ q{UPDATE shaped SET list[1] = [[(SELECT bloom_agg(i, 500, 0.01) FROM generate_series(1, 3) AS i)]]}, qr/(filter::bloom\(.*?\))/ ],
		[ q{INSERT INTO shaped (c) VALUES ([[counting_bloom_add(counting_bloom_empty(50), 1)]])}, qr/(filter::counting_bloom\(.*?\))/ ],
		[ q{ALTER TABLE free ALTER filter TYPE bloom(1000, 0.01) USING [[filter]]}, qr/(filter::bloom\(.*?\))/ ] ],
	[ 'A type that fits is %s%s.',
		[ q{CREATE TABLE new (f [[bloom(1048576, 0.01)]])}, qr/is (.*)\.$/ ], [ q{SELECT NULL::[[counting_bloom(12345.6, 0.012345)]]}, qr/is (.*)\.$/ ] ],
	[ 'For example, write %s(100000, 0.01).', [ q{SELECT NULL::[[bloom('abc')]]}, qr/write (.*)\.$/ ], [ q{SELECT NULL::[[counting_bloom(1, 2, 3)]]}, qr/write (.*)\.$/ ] ],
	[ 'The largest capacity that fits is %d; larger sets are divided into several filters by bloom_shard.',
		[ q{SELECT bloom_empty([[1e9]])}, qr/is (\d+);/ ], [ q{SELECT counting_bloom_empty([[1e9]], 0.001)}, qr/is (\d+);/ ] ],
	[ q{Name the type of the keys, as in bloom_add_hashes(filter, hashes, 'text').},
		[ q{SELECT [[bloom_add_hashes(filter, hashes)]] FROM (SELECT bloom_empty(10), '{1,2}'::bigint[]) AS s (filter, hashes)}, qr/(bloom_add_hashes\(.*\))\.$/ ] ],
	[ 'To compare two filters, use bloom_superset(filter, filter); to merge filters, use bloom_union_agg(filter).',
		[ q{SELECT [[filter @> filter]] FROM free}, qr/(bloom_superset\(filter, filter\))/ ], [ q{SELECT [[bloom_agg(filter)]] FROM free}, qr/(bloom_union_agg\(filter\))/ ] ],
	[ 'To compare two filters, use bloom_superset(filter::bloom, filter::bloom); to merge filters, use counting_bloom_sum_agg(filter).',
		[ q{SELECT [[filter @> filter]] FROM (SELECT counting_bloom_empty(10) AS filter) AS s}, qr/(bloom_superset\(filter::bloom, filter::bloom\))/ ],
		[ q{SELECT [[bloom_agg(filter)]] FROM (SELECT counting_bloom_empty(10) AS filter) AS s}, qr/(counting_bloom_sum_agg\(filter\))/ ] ],
	[ 'A filter is base64, as its output shows. To test a key, write filter @> key.',
		[ q{SELECT [[filter = 'mary']] FROM (SELECT bloom_empty(10) AS filter, 'mary' AS key) AS s}, qr/(filter @> key)/ ],
		[ q{SELECT [[filter = 'mary']] FROM (SELECT counting_bloom_empty(10) AS filter, 'mary' AS key) AS s}, qr/(filter @> key)/ ] ],
	[ 'Give the aggregate the final function of bloom_agg. What is stored is converted by its text, bloom_fit(filter::text::bloom, 0.01).',
		[ q{SELECT bloom_cardinality([[filter]]) FROM (SELECT no_final(i) AS filter FROM generate_series(1, 10) AS i) AS s}, qr/(bloom_fit\(.*\))\.$/ ] ],
	[ 'Give the aggregate the final function of counting_bloom_agg. What is stored is converted by its text, filter::text::counting_bloom.',
		[ q{SELECT counting_bloom_cardinality([[filter]]) FROM (SELECT no_final_sum(counting_bloom_add(counting_bloom_empty(10), i)) AS filter FROM generate_series(1, 10) AS i) AS s}, qr/(filter::text::counting_bloom)\.$/ ] ],
	[ 'CREATE OR REPLACE TRIGGER %s BEFORE INSERT OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s);',
		[ q{INSERT INTO "Item" VALUES (1, 1)}, qr/(.*)/, q{CREATE TRIGGER "De-dup" BEFORE INSERT ON "Item" FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('numbers', 'id')} ] ],
	[ 'CREATE INDEX ON %s (%s);', [ q{SELECT bloom_unique_create('"Item"', '"id"')}, qr/(.*)/ ] ],
	[ 'REASSIGN OWNED BY %s TO CURRENT_USER; gives you the extension, and all else that %s owns in this database.',
		[ q{CREATE EXTENSION bloomtype_unique CASCADE}, qr/(REASSIGN .*?;)/, 'DROP EXTENSION bloomtype CASCADE', 'CREATE ROLE "Clerk"',
			'GRANT CREATE ON DATABASE postgres TO "Clerk"', 'CREATE SCHEMA clerks AUTHORIZATION "Clerk"', 'SET ROLE "Clerk"', 'CREATE EXTENSION bloomtype SCHEMA clerks', 'RESET ROLE' ] ],
	[ 'Write it with a cast: %s',
		[ q{SELECT bloom_unique_claim('"Item"', 'id', [[id]]) FROM (VALUES ('5')) AS v (id)}, qr/cast: (.*)/, q{CREATE INDEX ON "Item" (id)}, q{SELECT bloom_unique_create('"Item"', 'id')} ] ],
	[ 'Claim keys that are arrays one by one: bloom_unique_claim(..., %s)',
		[ q{SELECT bloom_unique_claim('lists', 'id', [['5'::text]]) FROM (VALUES ('{5}')) AS v (id)}, qr/\.\.\., (.*)\)/, q{CREATE INDEX ON lists (id)}, q{SELECT bloom_unique_create('lists', 'id')} ] ],
);

# ---------------------------------------------------------------------
# Text: [ hint, [ statement that raises it, setup... ] ], without a statement if one of
# sql/ does, or with the test that needs more for it than one session, and its error.
# ---------------------------------------------------------------------

my @text = (
	['A rate of one percent is 0.01. A capacity stands before the rate: (capacity, fp_prob).'],
	['If this is fp_prob, name the capacity before it: (capacity, fp_prob).'],
	['Build both filters with one capacity, fp_prob and seed.', [q{SELECT counting_bloom_empty(1000, 0.01, 1) + set_byte(counting_bloom_empty(1000)::bytea, 21, 16)::counting_bloom}] ],
	['Build both filters with the same capacity and fp_prob.'],
	['Cast the columns, so that all rows have the same types.'],
	['Cast values of this type to one that has such a function, such as text.'],
	['Cast values of this type to text.'],
	['For single filters, use functions such as bloom_add or counting_bloom_add.'],
	['For the elements of an array, use %s.'],
	['Keys that are arrays are given one by one, to %s.', [q{SELECT bloom_contains_any(bloom_add(bloom_empty(10), '{1}'::int[]), '{1}'::text[])}] ],
	['Leave out key_type if the hashes are of keys of type %s.'],
	['Name a capacity: bloom_agg(key, capacity, fp_prob).'],
	['Name a capacity: bloom_seen(key, capacity, fp_prob).'],
	['Name a composite type with the columns of the keys.'],
	['Name a larger capacity.'],
	['Rebuild the filter with a larger capacity; its keys cannot be moved to another filter.'],
	['Start from bloom_empty(capacity, fp_prob), or take the union with such a filter.'],
	['Start from counting_bloom_empty(capacity, fp_prob), or take the sum with such a filter.'],
	['The bytes of a filter are those that the cast to bytea returns.'],
	['To limit the memory, name a capacity: bloom_seen(key, capacity, fp_prob). If there is enough, raise work_mem.'],
	['Use bloom_union_agg to combine filters.', [ q{SELECT collect(f) FROM (SELECT bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, 1000) AS i) AS s},
			q{CREATE AGGREGATE collect(bloom) (SFUNC = _bloom_agg_collect_combine, STYPE = bloom, FINALFUNC = _bloom_agg_fit_final)} ] ],
	['Use fewer columns, or cast the key to text.'],
	['Use keys of type %s.'],
	['Use keys of type %s. If their type was altered or renamed since, make the %s anew.'],
	['Use the COLLATE clause to set the collation explicitly.', [q{SELECT bloom_hash(a || b) FROM (SELECT 'a' COLLATE "C", 'b' COLLATE "POSIX") AS s (a, b)}] ],
	['A parallel plan of bloom_seen has its keys in shared memory, which cannot be left once there are some. Enlarge /dev/shm, set max_parallel_workers_per_gather to 0 for this query, or name a capacity: bloom_seen(key, capacity, fp_prob).',
		'test/tap/seen_memory.pl', 'shared memory' ],
	['A set is a table that bloom_set_create made and nobody has changed.'],
	['A time may be ahead by keep / %d at most.'],
	['ALTER TABLE ... ENABLE TRIGGER, without ONLY, checks all rows.'],
	['Add a column GENERATED ALWAYS AS (...) STORED, and name that.'],
	['Claim in a function with SECURITY DEFINER, of a role that may see all rows.'],
	['Delete rows until each key is there once, and call it again.'],
	['Detach it, or drop the constraint by bloom_unique_drop.', 
		[ q{SELECT bloom_unique_create('"Item"', 'id')}, q{CREATE INDEX ON "Item" (id)}, q{CREATE FOREIGN DATA WRAPPER w}, q{CREATE SERVER s FOREIGN DATA WRAPPER w},
			q{CREATE FOREIGN TABLE f PARTITION OF "Item" FOR VALUES IN (7) SERVER s} ] ],
	['Disable trigger "%s" until the transaction is applied.'],
	['Drop or rename the type, or create the extension in another schema.',
		[ 'CREATE EXTENSION bloomtype_set SCHEMA mine', 'DROP EXTENSION bloomtype_set CASCADE', 'CREATE SCHEMA mine', 'CREATE DOMAIN mine.bloom AS text' ] ],
	['Enable it for the partition, or disable it for the partitioned table.'],
	['If it was the set of these keys, drop it: DROP TABLE %s;'],
	['If it was made anew, repeat the call.', 'set/tap/unique_races.pl', 'was dropped meanwhile'],
	['It must return one column, with the keys; those of several columns are rows, ROW(a, b).'],
	['Make it a stored one.', 'set/tap/unique_schema.pl', 'virtual generated column'],
	['Make the trigger for the partitioned table.'],
	['Move the set to a schema in which role "%s" may create tables: ALTER TABLE %s SET SCHEMA ...', 'set/tap/unique_forged.pl', '42501 23505'],
	['Name several columns in place of one with a row type.'],
	['Name the partitioned table to which it belongs.'],
	['Name the set first, then the key. If the set was replaced while this call waited for it, repeat the statement.'],
	[q{Put a name with other characters than lower-case letters, digits and underscores in double quotes, as in '"my-set"' or 'my_schema."My Set"'.}],
	['Reading from this set needs the privilege SELECT.'],
	['Repeat the transaction.', 'set/tap/unique_mutants.pl', 'changed meanwhile'],
	[q{The arguments of trigger "%s" are 'set', or 'schema.set', and the columns of the key.}],
	[q{They are the set, the columns of the key and, if there is one, of the time: bloom_set_dedup('set', 'column', 'time').},
		[ q{INSERT INTO "Item" VALUES (1, 1)}, q{CREATE TRIGGER t BEFORE INSERT OR DELETE ON "Item" FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('numbers')} ] ],
	['To restore rows of which the set knows the keys already, disable trigger "%s", as pg_restore --disable-triggers does.'],
	['TRUNCATE the set before: then the load is faster, and the set smaller.'],
	['To make it anew, call bloom_unique_drop first.'],
	['Use CREATE UNIQUE INDEX.'],
	[q{Write it as for CREATE INDEX: 'tenant, id'.}],
	['Writing to this set needs the privileges %s.'],
	['Drop it, and call bloom_unique_create.', [ q{INSERT INTO lists VALUES (1, '{1}')}, q{CREATE TRIGGER t AFTER INSERT ON lists FOR EACH ROW EXECUTE FUNCTION bloom_unique()} ] ],
);

# No statement is known that raises the first; the second takes libraries of two releases, the
# third another minor version of the server.
my @unmet = ('Do not change the table of a set in the statement that adds to the set.',
	'Install both from one release, and reconnect. If they are preloaded, restart the server.',
	'Build it for this version, if joins should behave strangely: it reads structs of the executor.');

my %formats = formats();
my %listed = map { $_ => 1 } @unmet, map { $_->[0] } @typed, @text;
is(join("\n", grep { !$listed{$_} } sort keys %formats), '', 'each hint of the sources is in a list');
is(join("\n", grep { !$formats{$_} } sort keys %listed), '', 'and each of the lists in a source');
is(scalar(keys %listed), @typed + @text + @unmet, 'once');

my $node = PostgreSQL::Test::Cluster->new('hints');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype_unique CASCADE;
	CREATE SCHEMA odd;
	CREATE TYPE mood AS ENUM ('happy', 'sad');
	CREATE TYPE odd."My Mood" AS ENUM ('happy', 'sad');
	CREATE TYPE pair AS (a bigint, b text);
	CREATE TABLE shaped (f bloom(1000, 0.01), c counting_bloom(1000, 0.01), list bloom(1000, 0.01)[]);
	INSERT INTO shaped DEFAULT VALUES;
	CREATE TABLE free (filter bloom);
	INSERT INTO free VALUES (bloom_add(bloom_empty(50), 1));
	CREATE AGGREGATE no_final(int4) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
	CREATE AGGREGATE no_final_sum(counting_bloom) (SFUNC = _counting_bloom_union_agg_trans, STYPE = counting_bloom);
	SELECT bloom_set_create('numbers', 'bigint', seed => 7), bloom_set_create('texts', 'text'), bloom_set_create('pairs', 'pair');
	SELECT bloom_set_add('numbers', 5::bigint);
	CREATE TABLE "Item" (id bigint, p int) PARTITION BY LIST (p);
	CREATE TABLE item_1 PARTITION OF "Item" DEFAULT;
	CREATE TABLE lists (p int, id bigint[]) PARTITION BY LIST (p);
	CREATE TABLE lists_1 PARTITION OF lists DEFAULT});

# try(STATEMENT, SETUP...): its hint, or its error without one, or '' if it works; all
# is undone
sub try
{
	my ($statement, @setup) = @_;
	my $err;

	my $status = $node->psql('postgres', join(";\n", 'BEGIN', @setup, $statement, 'ROLLBACK'), stderr => \$err, on_error_stop => 1);
	return '' if $status == 0;
	return $err =~ /^HINT:  (.*)$/m ? $1 : $err;
}

# typed(CONTENT, PART): a part of a hint, with what it replaces in place of its words
sub typed
{
	my ($content, $part) = @_;
	return $part if $part =~ /^(?:counting_)?bloom_/ || $part !~ /\b(?:key|keys|filter)::/;
	return $part =~ s/\b(?:key|keys|filter)(?=::)/($content)/gr;
}

for my $hint (@typed)
{
	my ($format, @calls) = @$hint;
	my $matcher = matcher($format);

	for my $try (@calls)
	{
		my ($call, $part, @setup) = @$try;
		my $name = $call =~ s/\[\[(.*?)\]\](?!\])/$1/gr;
		my $said = try($name, @setup);

		like($said, qr/^$matcher$/, $name) or next;
		my ($type) = $said =~ $part or do { fail("nothing to type in: $said"); next };
		my $typed = $call;
		my @before = @setup;
		push @before, $type if $typed !~ s/\[\[(.*?)\]\](?!\])/typed($1, $type)/ge;
		is(try($typed, @before), '', "works: " . ($typed eq $call ? "$type $call" : $typed));
	}
}

my $expected = join '', map { slurp_file($_) } glob '{,set/,scan/}expected/*.out';
for my $hint (@text)
{
	my ($format, $met, $error) = @$hint;
	my $matcher = matcher($format);

	if (ref $met)
	{
		like(try(@$met), qr/^$matcher$/, $format);
	}
	elsif (defined $met)
	{
		like(slurp_file($met), qr/$error/, "$format ($met)");
	}
	else
	{
		ok($expected =~ $matcher, $format);
	}
}

done_testing();
