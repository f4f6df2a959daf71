#
# What the tests of unique keys in tap/ have in common: statements that are run in
# a schema of their own, and what came of them.
#
package Unique;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

our @EXPORT = qw(start_unique_server try session schema errors_of);

my $node;
my $schemas = 0;
my $files = 0;

# The tables: rows 1 and 2, in partitions of their own.
use constant TABLES => q{
	CREATE TABLE t (id bigint, p int, v bigint) PARTITION BY LIST (p);
	CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
	CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
	CREATE INDEX ON t (id);
};

# start_unique_server NAME, SETTINGS: one that has the extension, and can have collations
# of ICU.
sub start_unique_server
{
	my ($name, $settings) = @_;

	$node = start_server($name, "client_min_messages = error\n$settings", extra => [ '--encoding=UTF8', '--locale=C' ]);
	return $node;
}

# schema: that in which the last statements ran.
sub schema
{
	return "try_$schemas";
}

# session SQL: run it to its end, whatever fails; what it printed.  Of errors, that is
# only their SQLSTATE.
sub session
{
	my ($sql) = @_;
	my $file = $node->basedir . '/try' . ++$files . '.sql';
	my ($out, $err) = ('', '');

	append_to_file($file, 'SET search_path = ' . schema() . ", public;\n$sql");
	IPC::Run::run(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-f', $file, '-d', $node->connstr('postgres') ],
		'<', \undef, '>', \$out, '2>', \$err);
	return ($out, $err);
}

# errors_of TEXT: the SQLSTATEs of the errors that psql has printed.
sub errors_of
{
	my ($err) = @_;
	return join ' ', $err =~ /(?:ERROR|FATAL|PANIC): +(\w+)/g;
}

# try WHAT, SQL, ERRORS, ROWS, FROM: what these statements do to the tables, whose keys are
# unique: the SQLSTATEs of their errors, and the rows, as key:partition, of a table or query in
# the end.  SQL can be a reference to several texts, a session each.
sub try
{
	my ($what, $sql, $errors, $rows, $from) = @_;
	my $schema = 'try_' . ++$schemas;
	my @sessions = ref $sql ? @$sql : ($sql);

	$sessions[0] = "CREATE SCHEMA $schema;\n" . TABLES . "SELECT bloom_unique_create('t', 'id');\nINSERT INTO t VALUES (1, 1), (2, 2);\n$sessions[0]";
	push @sessions, q{SELECT 'rows ' || coalesce(string_agg(coalesce(id::text, '-') || ':' || p, ' ' ORDER BY id, p), '') FROM } . ($from // 't');
	# the last line of COPY's data ends a session as it is
	my ($out, $err) = session(join "\\c -\nSET search_path = $schema, public;\n", map { /\n$/ ? $_ : "$_;\n" } @sessions);
	my ($found) = $out =~ /^rows (.*)$/m;

	is(errors_of($err) . ' | ' . ($found // ''), "$errors | $rows", $what) or diag $err;
	return;
}

1;
