#
# What docs/clients.md says of drivers, with those that are here: test/drivers.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('drivers');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
# JDBC knows no sockets
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
$node->safe_psql('postgres', slurp_file('test/drivers/visited.sql'));

my $user = getpwuid($<);
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres', PGUSER => $user);
# Debian's own, which sees Debian's modules
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my $jar = '/usr/share/java/postgresql.jar';
my $url = 'jdbc:postgresql://127.0.0.1:' . $node->port . "/postgres?user=$user";

# where clients in languages with a compiler are compiled
my $folder = PostgreSQL::Test::Utils::tempdir;
my $gopath = '/usr/share/gocode';
my $go = "export GO111MODULE=off GOPATH=$folder:$gopath GOCACHE=$folder/cache\n"
  . "package=$folder/src/\$(sed -n 's/^module //p' clients/go/go.mod)\n"
  . 'mkdir -p $(dirname $package) && ln -s $PWD/clients/go $package && go run test/drivers/drivers.go';
my $java = "javac -d $folder \$(find clients/java/src/main -name '*.java')"
  . " && java -cp $folder:$jar test/drivers/Drivers.java '$url'";

# a program, whether it can run here, and its command
foreach my $case (
	[ 'Python', "$python -c 'import psycopg2'", [ $python, 'test/drivers/drivers.py' ] ],
	[ 'JavaScript', 'node -e 1', [ 'node', 'test/drivers/drivers.mjs' ] ],
	[ 'Perl', 'perl -MDBD::Pg -e 1', [ 'perl', 'test/drivers/drivers.pl' ] ],
	[ 'Go', "test -d $gopath/src/github.com/lib/pq && go version", [ 'sh', '-c', $go ] ],
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
