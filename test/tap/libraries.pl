# The three libraries beside each other: in every order of loading, with a hook only
# after bloom_seen, with one that is gone, and with another build or another version of
# the one that sets are in.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

my @libraries = qw(bloomtype bloomtype_set bloomtype_scan);
my $node = start_server('libraries', "fsync = off\nallow_system_table_mods = on\n");
my $tmp = $PostgreSQL::Test::Utils::tmp_check;

# A filter, a set, unique keys, a window, and pages tested by a filter: what each says.
my $setup = q{
	CREATE TABLE numbers AS SELECT i FROM generate_series(1, 1000) AS i;
	CREATE TABLE filters AS SELECT bloom_agg(i) AS f FROM generate_series(1, 1000, 2) AS i;
	CREATE TABLE event (day int, id bigint) PARTITION BY LIST (day);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
	CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
	CREATE INDEX ON event (id);
	SELECT bloom_set_create('s', 'int', seed => 1), bloom_unique_create('event', 'id');
	SELECT bloom_set_add_all('s', ARRAY[1, 2, 3]);
	INSERT INTO event VALUES (1, 1);
};
my %questions = (
	filter => 'SELECT count(*) BETWEEN 500 AND 520 FROM numbers, filters WHERE f @> i',
	window => 'SELECT count(*) = 10 FROM (SELECT bloom_seen(i % 10) OVER () AS seen FROM numbers) AS s WHERE NOT seen',
	set => q{SELECT bloom_set_contains('s', 2) AND NOT bloom_set_contains('s', 4) AND bloom_set_filter('s', 10) @> 3},
	unique => q{INSERT INTO event VALUES (2, 2); DELETE FROM event WHERE id = 2; SELECT true});
my $all = 'BEGIN; ' . join('; ', map { $questions{$_} } sort keys %questions) . '; ROLLBACK;';
answer($setup);
my $answers = join "\n", ('t') x keys %questions;
is(answer($all), $answers, 'the answers');

# orders LIST: all of them.
sub orders
{
	my @list = @_;
	return [] if !@list;
	return map { my $i = $_; map { [ $list[$i], @$_ ] } orders(@list[ grep { $_ != $i } 0 .. $#list ]) } 0 .. $#list;
}

foreach my $order (orders(@libraries))
{
	is(answer(join('', map { "LOAD '$_'; " } @$order) . $all), $answers, "LOAD @$order");
}
foreach my $order (orders(@libraries), [qw(bloomtype_set)], [qw(bloomtype_scan)])
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '" . join(',', @$order) . "'");
	$node->restart;
	is(answer($all), $answers, "preloaded: @$order");
}
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;

#
# The hook, which the planner of every query would call
#
chomp(my $include = `@{[ $ENV{PG_CONFIG} || 'pg_config' ]} --includedir-server`);
system_or_bail('gcc', '-shared', '-fPIC', "-I$include", '-o', "$tmp/hook.so", "$FindBin::RealBin/hook.c");
answer("CREATE FUNCTION hook_is_set() RETURNS boolean AS '$tmp/hook' LANGUAGE C; CREATE VIEW seen AS SELECT bloom_seen(i) OVER () FROM numbers");
my $hook = 'SELECT hook_is_set();';
is(answer("$hook LOAD 'bloomtype'; $hook LOAD 'bloomtype_set'; $hook $questions{filter}; $hook $questions{set}; $hook"),
	"f\nf\nf\nt\nf\nt\nf", 'no hook when libraries are loaded, after filter @> key, and after sets');
is(answer("LOAD 'bloomtype_scan'; $hook $questions{filter}; $hook"), "f\nt\nf", '... and none of this kind by bloomtype_scan');
is(answer("$hook EXPLAIN SELECT * FROM numbers \\g /dev/null\nPREPARE p AS SELECT bloom_seen(i) OVER () FROM numbers; $hook EXPLAIN EXECUTE p \\g /dev/null\n$hook"),
	"f\nf\nt", 'it is there when a query with bloom_seen has been planned');
is(answer("$hook SELECT count(bloom_seen) FROM seen; $hook"), "f\n1000\nt", '... also by a view');

#
# Libraries that are not what they should be: files elsewhere, to which the functions
# of a database lead.
#
my %at = map { $_ => '$libdir/' . $_ } @libraries;

# use_file LIBRARY, FILE: where its functions are looked for from now on.
sub use_file
{
	my ($library, $file) = @_;

	answer("UPDATE pg_proc SET probin = '$file' WHERE probin = '$at{$library}'");
	$at{$library} = $file;
	return;
}

# error SQL: the first error, with its SQLSTATE, detail and hint.
sub error
{
	my ($status, $out, $errors) = $node->psql('postgres', "\\set VERBOSITY verbose\n$_[0]");
	return $errors =~ /^(?:psql:[^\n]*: )?(ERROR:  .*)/ms ? $1 =~ s/^(LOCATION|CONTEXT):.*//msr : $out;
}

# sets_are_gone WHAT, ERROR: what still works, and what has this error, as often as it is asked.
sub sets_are_gone
{
	my ($what, $pattern) = @_;

	is(answer("$questions{filter}; $questions{window}"), "t\nt", "$what: filters and windows work");
	is(answer("SELECT count(*) > 0 FROM s; INSERT INTO filters SELECT bloom_agg(1); DELETE FROM filters WHERE bloom_cardinality(f) < 10; SELECT count(*) FROM event"), "t\n1",
		'... and so do the tables, to be read');
	like(error("$_;"), $pattern, "... the error: $_")
	  foreach "SELECT bloom_set_contains('s', 2)", 'SELECT * FROM bloom_sets()', 'INSERT INTO event VALUES (2, 3)', "SELECT bloom_unique_drop('event', 'id')";
	is(answer("CREATE TABLE made (id int); CREATE TEMP TABLE for_now (id int); CREATE INDEX ON made (id); DROP TABLE made; SELECT 'done'"), 'done', '... and others make tables');
	is(answer("\\set ON_ERROR_STOP 0\nSELECT bloom_set_contains('s', 2);\nSELECT bloom_set_contains('s', 2);\n$questions{filter}"), 't', '... and the session goes on');
	return;
}

# build NAME, FROM, FILE, CHANGE: a library of sets of the sources of another folder, after code has changed a file.
sub build
{
	my ($name, $from, $file, $change) = @_;
	my $dir = "$tmp/libraries_$name";
	my $text = slurp_file("$from/$file");

	# with the times of the others, so that make keeps their objects
	system_or_bail('cp', '-a', $from, $dir);
	local $_ = $text;
	$change->();
	die "$file is as it was" if $_ eq $text;
	unlink "$dir/$file", "$dir/set/bloomtype_set.so";
	append_to_file("$dir/$file", $_);
	system_or_bail('make', '-s', '-C', "$dir/set", '-j', '2', 'with_llvm=no', 'COPT=-O0', 'PG_CONFIG=' . ($ENV{PG_CONFIG} || 'pg_config'), 'bloomtype_set.so');
	return "$dir/set/bloomtype_set.so";
}

# of_other NAME, CHANGE: a library that differs from the other build in what it asks of the type's.
sub of_other
{
	my ($name, $change) = @_;
	return build($name, "$tmp/libraries_other", 'set/module.c', $change);
}

# redefined MACRO, VALUE: code that makes it so.
sub redefined
{
	my ($macro, $value) = @_;
	return sub { s/(#include "set\/store.h"\n)/$1#undef $macro\n#define $macro $value\n/ };
}

copy_sources("$tmp/libraries_sources", 'src', map { "set/$_" } qw(*.c *.h *.control *.sql Makefile unique));
my $other = build('other', "$tmp/libraries_sources", 'set/set.h', sub { s/STORED_SET_LANE_KEYS\t\t127/STORED_SET_LANE_KEYS\t\t100/ });
use_file('bloomtype_set', $other);
is(answer($all), $answers, 'another build with the same numbers works with the type that is installed');
is(answer("$questions{filter}; $all"), "t\n$answers", '... also where that was loaded before');

my $numbers = qr/ERROR:  55000: library bloomtype_set does not work with the library bloomtype that is loaded\nDETAIL:  bloomtype_set needs interface (\d+) and hashing (\d+); bloomtype has (\d+) and (\d+)\.\nHINT:  Install both from one release, and reconnect\. If they are preloaded, restart the server\./;
my $interface = of_other('interface', redefined('BLOOM_BUILD_INTERFACE', 77));
use_file('bloomtype_set', $interface);
sets_are_gone('another interface', $numbers);
error("SELECT bloom_set_contains('s', 2);") =~ $numbers;
is("$1 $2", "77 $4", '... with both numbers');
my $hashing = of_other('hashing', redefined('BLOOM_HASHING', 88));
use_file('bloomtype_set', $hashing);
sets_are_gone('another hashing', $numbers);
error("SELECT bloom_set_contains('s', 2);") =~ $numbers;
is("$1 $2", "$3 88", '... with both numbers');
# a bloomtype without such a routine, as release candidates were
my $older = of_other('older', redefined('BLOOM_BUILD_ROUTINE', '"bloomtype of later"'));
use_file('bloomtype_set', $older);
like(error("SELECT bloom_set_contains('s', 2);"), qr/bloomtype has 0 and 0\./, 'a bloomtype without numbers');

use_file('bloomtype_set', "$tmp/gone/bloomtype_set");
sets_are_gone('no library of sets', qr/ERROR:  58P01: could not access file "\Q$tmp\E\/gone\/bloomtype_set": No such file or directory/);
# its own dependent, without the type
my $alone = of_other('alone', sub { s/\$libdir\/bloomtype"/$tmp\/gone\/bloomtype"/g });
use_file('bloomtype_set', $alone);
sets_are_gone('no type for it', qr/ERROR:  58P01: could not access file "\Q$tmp\E\/gone\/bloomtype": No such file or directory/);
use_file('bloomtype_set', '$libdir/bloomtype_set');
is(answer($all), $answers, 'with the right one all is as before');

# the type's own library
use_file('bloomtype', "$tmp/gone/bloomtype");
my $no_type = qr/ERROR:  58P01: could not access file "\Q$tmp\E\/gone\/bloomtype"/;
like(error("$questions{filter};"), $no_type, 'no type: no filters');
is(answer("$questions{unique}; SELECT bloom_set_add('s', 4)"), "t\nt", '... sets and unique keys have it from where they look for it');
like(error("SELECT bloom_set_filter('s', 10) @> 3;"), $no_type, '... but not the operators of filters');
is(answer('SELECT count(*) > 0 FROM numbers'), 't', '... and other queries go on');
use_file('bloomtype', '$libdir/bloomtype');

# preloading is stricter, since it is the server's start
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$interface'");
$node->stop;
ok(!$node->start(fail_ok => 1), 'a server does not start with libraries that do not fit');
like(slurp_file($node->logfile), qr/FATAL:  library bloomtype_set does not work with the library bloomtype that is loaded/, '... and says why');

done_testing();
