#
# The reader in Python, which was written from docs/format.md alone, agrees with
# the server: clients/python/test_bloomtype.py.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Debian's own, which sees Debian's modules
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';

plan skip_all => 'no modules xxhash and psycopg2 of Python 3 here'
  if system("$python -c 'import xxhash, psycopg2' 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('reader');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');

my $out = '';
{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres',
		PYTHONDONTWRITEBYTECODE => 1, PYTHONIOENCODING => 'utf-8');
	IPC::Run::run([ $python, 'clients/python/test_bloomtype.py' ], '>', \$out, '2>&1');
}

my ($planned) = $out =~ /^1\.\.(\d+)$/m;
my $ran = 0;
foreach my $line (split /\n/, $out)
{
	if ($line =~ /^(not )?ok \d+ - (.*)/)
	{
		ok(!$1, $2);
		$ran++;
	}
	elsif ($line !~ /^1\.\./)
	{
		diag($line);
	}
}
is($ran, $planned, 'it ran to its end');
done_testing();
