# Stored sets of a release candidate, by the commands of docs/upgrading.md: a dump that
# was made there, in which each key type has a set.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../test";
use Server;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_server('rc3', "fsync = off\n");
my $top = "$FindBin::RealBin/../..";
my $page = slurp_file("$top/docs/upgrading.md");
my ($program) = $page =~ /^## Sets of a release candidate.*?^```perl\n(.*?)^```/ms;
my ($extensions, $restore) = $page =~ /^psql -d new -c '(.*?)'\npg_dump -d old \| (.*?) \| psql -d new$/m;
my $folder = $node->basedir;

is($restore, 'perl -p sets.pl', 'the page has the commands');
append_to_file("$folder/sets.pl", $program);
my $converted = `cd $folder && $restore <$FindBin::RealBin/rc3.sql`;
append_to_file("$folder/converted.sql", $converted);

my @before = split /\n/, slurp_file("$FindBin::RealBin/rc3.sql");
my @after = split /\n/, $converted;
is(scalar @after, scalar @before, 'no line more or less');
my @changed = grep { $before[$_] ne $after[$_] } 0 .. $#before;
is(scalar(grep { $before[$_] =~ /^    hashes bytea DEFAULT / } @changed), scalar @changed, 'only defaults are changed');
is(scalar @changed, 30, 'all of them');

answer('CREATE DATABASE new');
$node->safe_psql('new', $extensions);
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$folder/converted.sql", '-d', $node->connstr('new') ], 'restore');
is($node->safe_psql('new', 'SELECT count(*), count(problem) FROM bloom_sets()'), '30|0', 'all are sets');
is($node->safe_psql('new', q{SELECT set, key_type, keep FROM bloom_sets() WHERE set::text NOT LIKE 'types.%' ORDER BY set::text COLLATE "C"}),
	join("\n", 'ids|bigint|', 'kept."My Set"|text|31 days', 'moods|enum mood|', 'received|uuid|', q{sizes|enum "Größe's 100%"|}, 'visits|(text,bigint)[]|'),
	'with their parameters');
is($node->safe_psql('new', q{
	SELECT count(*), count(*) FILTER (WHERE s.key_type = i.key_type AND i.seed = 1 AND s.key_type = CASE relname WHEN 'char' THEN '"char"' ELSE format_type(to_regtype(relname::text), NULL) END)
	FROM pg_class JOIN bloom_sets() AS s ON s.set = oid, bloom_set_info(set) AS i WHERE relnamespace = 'types'::regnamespace}),
	'24|24', 'and with every built-in key type');
is($node->safe_psql('new', q{
	SELECT bloom_set_contains_all('ids', ARRAY(SELECT generate_series(1, 21))), bloom_set_add('ids', 21), bloom_set_add('ids', 22);
	SELECT bloom_set_add('kept."My Set"', 'b', '2026-01-02'), bloom_set_add('kept."My Set"', 'c', '2026-01-02');
	SELECT bloom_set_add('moods', 'sad'::mood), bloom_set_add('moods', 'ok'::mood);
	SELECT bloom_set_add('sizes', 'M'::"Größe's 100%"), bloom_set_add('sizes', 'S'::"Größe's 100%");
	SELECT bloom_set_add('visits', ARRAY[ROW('/', 1)::visit]), bloom_set_add('visits', ARRAY[ROW('/', 2)::visit])}),
	join("\n", 't|f|t', ('f|t') x 4), 'every set has its keys, and no others');
is($node->safe_psql('new', q{
	INSERT INTO inbox SELECT id, 'new' FROM unnest('{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid[]) AS id;
	SELECT string_agg(body, ' ' ORDER BY body) FROM inbox;
	SELECT count(*) FROM visitors, generate_series(1, 10) AS i WHERE seen @> i}),
	"first new\n10", 'the trigger drops repeats, and filters are as they were');
is($node->safe_psql('new', q{
	CREATE EXTENSION bloomtype_unique;
	SELECT bloom_unique_create('event', 'id');
	INSERT INTO event VALUES ('2030-01-02', 3)}),
	'event_id_unique', 'unique keys are made again');
my ($status, $out, $errors) = $node->psql('new', q{INSERT INTO event VALUES ('2026-01-02', 2)});
like($errors, qr/ERROR:  duplicate key value/, '... and checked');

$node->stop;
done_testing();
