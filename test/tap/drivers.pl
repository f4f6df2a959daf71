#
# What docs/clients.md says of drivers, with those that are here: test/drivers;
# and its first programs, as they stand there, beside a copy of clients/.
#
# What is not here is skipped; with BLOOMTYPE_ALL_CLIENTS=1, as in .ci/run, a
# first program that is skipped is a failure.
#
use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('drivers');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
# JDBC knows no sockets
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype_set CASCADE');
$node->safe_psql('postgres', slurp_file('test/drivers/visited.sql'));

my $user = getpwuid($<);
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres', PGUSER => $user);
# Debian's own, which sees Debian's modules
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my $jar = '/usr/share/java/postgresql.jar';
my $url = 'jdbc:postgresql://127.0.0.1:' . $node->port . "/postgres?user=$user";

# First programs: a file and the commands that run it, without a network.
my $page = slurp_file('docs/clients.md');
my ($printed) = $page =~ /^ t +\| f +\| (AQ\S+)$/m or die 'the filter that they print';

my $scratch = PostgreSQL::Test::Utils::tempdir;
system("mkdir $scratch/bloomtype $scratch/bin && tar -cf - --exclude=target --exclude=build clients | tar -C $scratch/bloomtype -xf -") == 0 or die;
symlink(`which $python` =~ s{\n.*}{}sr, "$scratch/bin/python3") or die;
my %offline = (
	PATH => "$scratch/bin:$ENV{PATH}", PYTHONDONTWRITEBYTECODE => 1, PIP_NO_INDEX => 1, PIP_DISABLE_PIP_VERSION_CHECK => 1,
	PIP_CACHE_DIR => "$scratch/pip", npm_config_offline => 'true', npm_config_cache => "$scratch/npm", npm_config_update_notifier => 'false',
	GOPATH => "$scratch/gopath", GOCACHE => "$PostgreSQL::Test::Utils::tmp_check/gocache", GOENV => 'off', GOPROXY => 'off', GOTOOLCHAIN => 'local',
	CARGO_HOME => "$scratch/cargo", CARGO_NET_OFFLINE => 'true');

foreach my $case (
	[ 'Python', "python3 -c 'import xxhash'" ],
	[ 'JavaScript', 'node -e 1 && npm --version' ],
	[ 'Go', 'go version' ],
	[ 'Rust', 'cargo add --help' ],
	[ 'Java', 'javac -version' ])
{
	my ($language, $probe) = @$case;
	my ($file, $program, $commands) = $page =~ /^### $language\n\n`([^`]+)`:\n\n```\w+\n(.*?)^```\n\n```sh\n(.*?)^```$/ms
	  or die "a first program in $language";
	run_first("$language: the first program", $probe, $file, $program, $commands);

	next unless $language eq 'Python';
	($commands) = slurp_file('clients/python/README.md') =~ /^```sh\n(.*?)^```$/ms or die 'commands for pip';
	run_first('Python: the first program, by pip', "$probe && python3 -c 'import ensurepip, setuptools, venv, wheel'", $file, $program, $commands);
}

sub run_first
{
	my ($name, $probe, $file, $program, $commands) = @_;
	local %ENV = (%ENV, %offline);
	(my $folder = "$scratch/\L$name") =~ s/[: ,]+/-/g;

  SKIP:
	{
		my $is_here = system("($probe) >/dev/null 2>&1") == 0;
		skip "$name: not here: $probe", 1 if !$is_here && !$ENV{BLOOMTYPE_ALL_CLIENTS};
		$file = "$folder/$file";
		system('mkdir', '-p', dirname($file)) == 0 or die;
		append_to_file($file, $program);
		my ($out, $log) = ('', '');
		my $ran = IPC::Run::run([ 'sh', '-e' ], '<', \$commands, '>', \$out, '2>', \$log, init => sub { chdir $folder or die });
		my ($last) = $out =~ /^(.*)\n\z/m;
		$last //= '';
		ok($ran && $last =~ /^true false \Q$printed\E$/i, $name) or diag("$commands$out$log");
	}
}

# where clients in languages with a compiler are compiled
my $folder = PostgreSQL::Test::Utils::tempdir;
my $gopath = '/usr/share/gocode';
my $go = "export GO111MODULE=off GOPATH=$folder:$gopath GOCACHE=$PostgreSQL::Test::Utils::tmp_check/gocache\n"
  . "package=$folder/src/\$(sed -n 's/^module //p' clients/go/go.mod)\n"
  . 'mkdir -p $(dirname $package) && ln -sfn $PWD/clients/go $package && go run test/drivers/';
my $java = "javac -d $folder \$(find clients/java/src/main -name '*.java')"
  . " && java -cp $folder:$jar test/drivers/Drivers.java '$url'";

# a program, whether it can run here, and its command
foreach my $case (
	[ 'Python', "$python -c 'import psycopg2'", [ $python, 'test/drivers/drivers.py' ] ],
	[ 'JavaScript', 'node -e 1', [ 'node', 'test/drivers/drivers.mjs' ] ],
	[ 'Perl', 'perl -MDBD::Pg -e 1', [ 'perl', 'test/drivers/drivers.pl' ] ],
	[ 'Go', "test -d $gopath/src/github.com/lib/pq && go version", [ 'sh', '-c', "${go}drivers.go" ] ],
	[ 'pgx', "test -d $gopath/src/github.com/jackc/pgx/v4 && go version", [ 'sh', '-c', "${go}pgx.go" ] ],
	[ 'Java', "test -r $jar && javac --version", [ 'sh', '-c', $java ] ])
{
	my ($language, $probe, $command) = @$case;
	my $out = '';
	my $ran = 0;

  SKIP:
	{
		skip "$language: no interpreter or no driver here", 1 if system("($probe) >/dev/null 2>&1") != 0;
		IPC::Run::run($command, '>', \$out, '2>&1');
		foreach my $line (split /\n/, $out)
		{
			if ($line =~ /# SKIP (.*)/) { Test::More->builder->skip("$language: $1"); $ran++ }
			elsif ($line =~ /^(not )?ok \d+ - (.*)/) { ok(!$1, $2); $ran++ }
			elsif ($line !~ /^1\.\./) { diag($line) }
		}
		my ($planned) = $out =~ /^1\.\.(\d+)$/m;
		is($ran, $planned, "$language: it ran to its end");
	}
}
done_testing();
