#
# What tests of all products have in common: a server, libraries that are built for a
# test, and sessions that run at the same time.
#
package Server;

use strict;
use warnings;

use Cwd 'abs_path';
use Digest::MD5 'md5_hex';
use Exporter 'import';
use Fcntl ':flock';
use File::Basename;
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

our @EXPORT = qw(start_server start_small_server kill_server start_again use_library use_mutant copy_sources apply_mutant answer create_set start_sessions start_sessions_in start_sessions_on end_sessions in_sessions
	make_gate paused make_limited);

my $node;
my $gates = 0;
my $files = 0;
my $small;		# the product and the flags of start_small_server's library

my $top = abs_path(dirname(__FILE__) . '/..');

# What a library is built of, the scripts that make its functions, and what these require.
my %products = (
	bloomtype => {
		folder => '.',
		sources => [ qw(bloomtype.c src Makefile META.json bloomtype.control bloomtype--1.0.sql) ],
		scripts => ['bloomtype--1.0.sql'],
		requires => '' },
	bloomtype_set => {
		folder => 'set',
		sources => [ 'src', map { "set/$_" } qw(*.c *.h *.control *.sql Makefile unique) ],
		scripts => [ 'set/bloomtype_set--0.9.sql', 'set/bloomtype_unique--0.9.sql' ],
		requires => 'CREATE EXTENSION bloomtype;' });

# start_server NAME, SETTINGS, INIT...: one that has all extensions, and these tables:
# told, for keys that were told to be new, and the gate at which sessions wait for
# each other.
sub start_server
{
	my ($name, $settings, @init) = @_;

	start_node($name, $settings, @init);
	answer('CREATE EXTENSION bloomtype_unique CASCADE');
	return $node;
}

# start_small_server PRODUCT, NAME, SETTINGS, FLAG...: the same with a library of its own,
# built with assertions and these flags, in whose sets ranges are small, and stripes few:
# they split after a few keys, and all sessions meet in them.
sub start_small_server
{
	my ($product, $name, $settings, @flags) = @_;

	start_node($name, $settings);
	$small = [ $product, '-DUSE_ASSERT_CHECKING', '-DSTORED_SET_LIST_BYTES=70', '-DSTORED_SET_FEW_KEYS=4',
		'-DSTORED_SET_STRIPE_BITS=1', @flags ];
	use_library('postgres', @$small);
	return $node;
}

# use_library DATABASE, PRODUCT, FLAG...: build its library with these flags, unless another
# test has, and make its SQL functions in a database, without its extensions.
sub use_library
{
	my ($database, $product, @flags) = @_;
	my $dir = library_dir($product, md5_hex("@flags"));
	my $common = library_dir($product, 'common');

	open my $lock, '>', "$common.lock" or die "$common.lock: $!";
	flock $lock, LOCK_EX or die "$common.lock: $!";
	if (!-d $common)
	{
		copy_sources($common, @{ $products{$product}{sources} });
		build_library($common, $product, $flags[0]);
	}
	# only these files know the other flags
	copy_library($common, $dir, $product, sources_with($common, qr/"pause\.h"|"set\/\w+\.h"/)) if !-d $dir;
	make_functions($dir, $database, $product, @flags);
	close $lock;
	return;
}

# use_mutant MUTANT: a database of this name that has the library of start_small_server
# with the patch mutants/MUTANT.patch beside the test's folder, which compiles what the patch touches.
sub use_mutant
{
	my ($mutant) = @_;
	my ($product, @flags) = @$small;
	my $dir = library_dir($product, $FindBin::Script =~ s/\.pl$//r . "_$mutant");

	copy_library(library_dir($product, md5_hex("@flags")), $dir, $product, apply_mutant($mutant));
	apply_mutant($mutant, $dir);
	$node->safe_psql('postgres', "CREATE DATABASE $mutant");
	make_functions($dir, $mutant, $product, @flags);
	return;
}

# apply_mutant MUTANT, DIR: patch the sources in the directory, if there is one; the files
# that the patch touches.
sub apply_mutant
{
	my ($mutant, $dir) = @_;
	my $patch = "$FindBin::RealBin/../mutants/$mutant.patch";

	system_or_bail('patch', '-d', $dir, '-p1', '-s', '--fuzz=0', '--no-backup-if-mismatch', '-i', abs_path($patch)) if defined $dir;
	return slurp_file($patch) =~ m{^\+\+\+ b/(\S+)}mg;
}

# copy_sources DIR, FILE...: these of ours, without what was built of them.
sub copy_sources
{
	my ($dir, @files) = @_;

	mkdir $dir;
	foreach my $file (map { glob "$top/$_" } @files)
	{
		my $folder = dirname($file =~ s{^\Q$top\E}{$dir}r);

		mkdir $folder;
		system_or_bail('cp', '-r', $file, $folder);
	}
	system_or_bail('find', $dir, '-name', '*.[os]*', '!', '-name', '*.sql', '-delete');
	return;
}

sub library_dir
{
	my ($product, $name) = @_;
	return "$PostgreSQL::Test::Utils::tmp_check/${product}_$name";
}

# sources_with DIR, PATTERN: those whose text it matches, by their paths in the directory.
sub sources_with
{
	my ($dir, $pattern) = @_;
	return map { s{^\Q$dir\E/}{}r } grep { slurp_file($_) =~ $pattern } glob "$dir/*.c $dir/*/*.c $dir/*/*/*.c";
}

# copy_library FROM, TO, PRODUCT, FILE...: without the objects of these files.
sub copy_library
{
	my ($from, $to, $product, @files) = @_;

	# with the times of the others, so that make keeps them
	system_or_bail('cp', '-a', $from, $to);
	unlink library_file($to, $product), map { s/\.c$/.o/r } map { "$to/$_" } @files;
	return;
}

sub library_file
{
	my ($dir, $product) = @_;
	return "$dir/$products{$product}{folder}/$product.so";
}

sub build_library
{
	my ($dir, $product, @flags) = @_;

	system_or_bail('make', '-s', '-C', "$dir/$products{$product}{folder}", '-j', '2', 'with_llvm=no', "COPT=-O1 @flags",
		'PG_CONFIG=' . ($ENV{PG_CONFIG} || 'pg_config'), "$product.so");
	return;
}

# make_functions DIR, DATABASE, PRODUCT, FLAG...: build what is missing, and make the SQL functions.
sub make_functions
{
	my ($dir, $database, $product, @flags) = @_;
	my $library = library_file($dir, $product);

	build_library($dir, $product, @flags);
	my $script = join '', map { slurp_file("$dir/$_") } @{ $products{$product}{scripts} };
	$script =~ s/^\\.*$//mg;
	$script =~ s/'MODULE_PATHNAME'/'$library'/g;
	$node->safe_psql($database, $products{$product}{requires} . $script);
	return;
}

# start_node NAME, SETTINGS, INIT...: a server with the tables alone.
sub start_node
{
	my ($name, $settings, @init) = @_;

	$node = PostgreSQL::Test::Cluster->new($name);
	$node->init(@init);
	$node->append_conf('postgresql.conf',
		"timezone = 'UTC'\nmax_connections = 30\nmax_prepared_transactions = 20\n$settings");
	$node->start;
	answer(q{
		CREATE TABLE told (set text, session int, key int);
		CREATE TABLE gate (name text);
		CREATE PROCEDURE wait_at(gate text, sessions int) LANGUAGE plpgsql AS $$
		BEGIN
			INSERT INTO gate VALUES (wait_at.gate);
			COMMIT;
			WHILE (SELECT count(*) FROM gate WHERE name = wait_at.gate) < sessions LOOP
				PERFORM pg_sleep(0.01);
				COMMIT;
			END LOOP;
		END
		$$});
	return $node;
}

# kill_server NODE: kill -9 all of its processes at once.  A session outlives the postmaster
# until it waits for something, and one that waits for what a killed one holds, for ever:
# that of the query itself, too, which is about to end.
sub kill_server
{
	my ($on) = @_;
	my ($postmaster) = split /\n/, slurp_file($on->data_dir . '/postmaster.pid');
	my @others = split /\n/, $on->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');

	kill 'KILL', $postmaster, @others;
	$on->kill9;
	return;
}

# start_again NODE: after that; it takes a moment until the last process has gone.
sub start_again
{
	my ($on) = @_;

	foreach my $attempt (1 .. 600)
	{
		return if $on->start(fail_ok => 1);
		usleep(100_000);
		$on->stop('fast', fail_ok => 1);
	}
	die 'the server does not start again';
}

# answer SQL: what the server says to it, in a session of its own.
sub answer
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# create_set NAME, KEY TYPE, ARGUMENT...: the call that does it, in SQL.
sub create_set
{
	my ($name, $key_type, @arguments) = @_;
	return 'bloom_set_create(' . join(', ', "'$name'", "'$key_type'", @arguments) . ')';
}

# start_sessions SQL...: begin to run each of these in a session, all at once, with
# the psql variable session from 1.
sub start_sessions
{
	my @sql = @_;
	my $gate = 'gate ' . ++$gates;

	return start_sessions_on($node, map { "CALL wait_at('$gate', " . @sql . ");\n$_" } @sql);
}

# start_sessions_in DATABASE, SQL...: the same without waiting for each other.
sub start_sessions_in
{
	my ($database, @sql) = @_;
	return start_sessions_at($node, $database, @sql);
}

# start_sessions_on NODE, SQL...: the same on another server.
sub start_sessions_on
{
	my ($on, @sql) = @_;
	return start_sessions_at($on, 'postgres', @sql);
}

sub start_sessions_at
{
	my ($on, $database, @sql) = @_;
	my @sessions;

	foreach my $i (1 .. @sql)
	{
		my $file = $on->basedir . '/session' . ++$files . '.sql';
		my $session = { errors => '', out => '' };

		append_to_file($file, $sql[ $i - 1 ]);
		$session->{run} = IPC::Run::start(
			[ 'psql', '-XAtq', '-v', "session=$i", '-f', $file, '-d', $on->connstr($database) ],
			'<', \undef, '>', \$session->{out}, '2>', \$session->{errors});
		push @sessions, $session;
	}
	return @sessions;
}

# end_sessions SESSION...: what these have printed to stderr, when they have ended.
sub end_sessions
{
	my @sessions = @_;

	# read all of them: one that has many errors to tell stops while nobody reads, and
	# another can wait for its transaction
	while (my @running = grep { $_->{run}->pumpable } @sessions)
	{
		$_->{run}->pump_nb foreach @running;
		select undef, undef, undef, 0.01;
	}
	$_->{run}->finish foreach @sessions;
	return join '', map { $_->{errors} } @sessions;
}

# in_sessions N, SQL: the same, for so many sessions that stop at an error.
sub in_sessions
{
	my ($n, $sql) = @_;
	return end_sessions(start_sessions(("\\set ON_ERROR_STOP 1\n$sql") x $n));
}

# make_limited DATABASE: limited(statement, rows) that stops a statement before its end, as procedural languages
# can: its keys are collected until the transaction commits.
sub make_limited
{
	my ($database) = @_;
	my $module = "${PostgreSQL::Test::Utils::tmp_check}/limited.so";
	my $pg_config = $ENV{PG_CONFIG} || 'pg_config';

	if (!-e $module)
	{
		chomp(my $include = `$pg_config --includedir-server`);
		system_or_bail('gcc', '-shared', '-fPIC', "-I$include", '-o', $module, "$FindBin::RealBin/limited.c");
	}
	$node->safe_psql($database, "CREATE FUNCTION limited(text, int) RETURNS bigint AS '$module' LANGUAGE C");
	return;
}

# make_gate DATABASE: what paused needs there.
sub make_gate
{
	my ($database) = @_;

	$node->safe_psql($database, q{
		-- the gate, and whether a session stands before it
		CREATE TABLE open (name text);
		CREATE PROCEDURE shut(name text) LANGUAGE plpgsql AS $$
		BEGIN
			PERFORM pg_advisory_lock(2026);
			COMMIT;
			WHILE NOT EXISTS (SELECT FROM public.open WHERE open.name = shut.name) LOOP
				PERFORM pg_sleep(0.01);
				COMMIT;
			END LOOP;
			PERFORM pg_advisory_unlock(2026);
		END
		$$});
	return;
}

# paused DATABASE, PAUSE, CALL, MEANWHILE: what a call says that stops at a pause, while
# something is done: SQL, or a Perl function.  The pause is the name of a BLOOM_PAUSE.
sub paused
{
	my ($database, $pause, $call, $meanwhile) = @_;
	my $gate = 'gate ' . ++$gates;
	my $waits = "SELECT count(*) = %d FROM pg_locks WHERE locktype = 'advisory' AND objid = 2026 AND objsubid = 1 AND %s granted"
	  . ' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())';
	my ($shut) = start_sessions_in($database, "CALL shut('$gate')");
	my $call_session;

	$node->poll_query_until($database, sprintf($waits, 1, '')) or die 'the gate is not shut';
	($call_session) = start_sessions_in($database, "SET application_name = '$pause';\n$call");
	$node->poll_query_until($database, sprintf($waits, 1, 'NOT')) or die 'nobody waits';
	ref $meanwhile ? $meanwhile->() : $node->safe_psql($database, $meanwhile);
	$node->safe_psql($database, "INSERT INTO open VALUES ('$gate')");
	my $errors = end_sessions($shut, $call_session);
	return $call_session->{out} . ($errors =~ s/^.*?(ERROR: [^\n]*).*$/$1/sr);
}

1;
