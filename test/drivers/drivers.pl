# What docs/clients.md says of DBD::Pg, tried on the server of PGHOST.
# Prints the Test Anything Protocol.

use strict;
use warnings;

use DBI;
use Test::More;

my $port = $ENV{PGPORT} || 5432;
my $dbh = DBI->connect("dbi:Pg:host=$ENV{PGHOST};port=$port;dbname=" . ($ENV{PGDATABASE} || 'postgres'),
	$ENV{PGUSER} || 'postgres', '', { RaiseError => 1, PrintError => 0 });

ok($dbh->selectrow_array('SELECT urls @> ? FROM visited', undef, 'https://example.org/1'), 'DBD::Pg: text');
ok($dbh->selectrow_array('SELECT ids @> ?::bigint FROM visited', undef, 42), 'DBD::Pg: bigint');
is_deeply($dbh->selectrow_array('SELECT bloom_missing(ids, ?::bigint[]) FROM visited', undef, [ 1, 2000 ]),
	[2000], 'DBD::Pg: list');
eval { $dbh->selectrow_array('SELECT ids @> ? FROM visited', undef, 42) };
is($dbh->state, '42804', 'DBD::Pg: without a cast, an error');
my $receive = $dbh->prepare(q{INSERT INTO activity SELECT ?, ? WHERE bloom_set_add('received', ?)});
is_deeply([ map { $receive->execute('DBD::Pg', 'x', 'DBD::Pg') + 0 } 1, 2 ], [ 1, 0 ], 'DBD::Pg: stored if new');
is_deeply($dbh->selectrow_array(q{SELECT bloom_set_add_all('received', ?::text[])}, undef, [ 'l1', 'l2' ]),
	[ 'l1', 'l2' ], 'DBD::Pg: a list given to bloom_set_add_all');
done_testing();
