#
# The examples keep their promises: they raise an error if not.  And several
# workers at once take each page from the queue once.
#
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('examples');
$node->init;
$node->start;

sub run_example
{
	my ($file, @options) = @_;
	my ($out, $err);
	my $ok = IPC::Run::run([ 'psql', '-X', @options, '-f', $file, '-d', $node->connstr('postgres') ],
		'>', \$out, '2>', \$err);

	ok($ok, "$file runs to its end") or diag($out, $err);
	return ($out, $err);
}

my ($out, $err) = run_example('examples/click_dedup.sql');
is($err, '', 'without a warning');
like($out, qr/^ *100000 \| 100000 \| +0 \| +0$/m, 'it compares with the exact answer');

($out, $err) = run_example('examples/to_visit_queue.sql');
is($err, '', 'without a warning');
like($out, qr/^ *24902 \| +0 \| 24902 \| +0$/m, 'it compares with the exact answer');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'to_visit_queue'}),
	0, 'it leaves nothing behind');

# The demo; what it shows to superusers only, too, and first what is first in README.
($out, $err) = run_example('examples/demo.sql');
is($err, '', 'without a warning');
my @verdicts = $out =~ /\| (kept|BROKEN) *$/mg;
is_deeply([ grep { $_ ne 'kept' } @verdicts ], [], 'the demo keeps its promises');
cmp_ok(scalar @verdicts, '>=', 13, '... all of them');
like($out, qr/^\(a\)(?:(?!^\(b\)).)*bloom\(100000, 0\.01\).*users @> \d+;.*bloom_cardinality\(bloom_union_agg\(users\)\).*count\(DISTINCT user_id\).*^\(b\)/ms,
	'first a column, a test, and days merged beside count(DISTINCT)');
like($out, qr/Custom Scan \(Bloom Filter\)/, 'a join that filters by itself');
like($out, qr/duplicate key value violates unique constraint "event_id_unique"/, 'a key unique across partitions');

# What scripts/demo says is next, by a user who is no superuser, in a folder of his
# own that nobody else may enter.
my ($steps) = slurp_file('scripts/demo') =~ /^To use bloomtype in a database.*?\n\n(.*?)^END$/ms;
my @steps = map { s/^ +//r =~ s/ {2,}.*//r =~ s/\\\$/\$/gr } grep { !/ make / } split /\n/, $steps;
my $home = PostgreSQL::Test::Utils::tempdir;
mkdir "$home/home", 0700 or die;
system("tar -cf - examples | tar -C $home/home -xf -") == 0 or die;
cmp_ok(scalar @steps, '>', 3, 'scripts/demo has next steps');
foreach my $step (@steps)
{
	my $as_postgres = $step =~ s/^sudo -u postgres //;
	local %ENV = (%ENV, USER => 'ordinary', PGHOST => $node->host, PGPORT => $node->port);
	delete $ENV{$_} foreach 'PGDATABASE', 'PGUSER';
	$ENV{PGUSER} = 'ordinary' if !$as_postgres;
	my ($step_out, $step_err) = ('', '');
	my $ok = IPC::Run::run([ 'sh', '-c', $step ], '>', \$step_out, '2>', \$step_err, init => sub { chdir "$home/home" or die });
	ok($ok && $step_err eq '', "the next step: $step") or diag($step_out, $step_err);
	unlike($step_out, qr/BROKEN/, '... keeps its promises');
}
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'ordinary'}), 'f', 'it was no superuser');

SKIP:
{
	skip 'this PostgreSQL has no postgres_fdw', 3
	  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0';
	($out, $err) = run_example('examples/star_join/star_join.sql', '-v', 'rows=20000',
		'-v', 'host=' . $node->host, '-v', 'port=' . $node->port);
	like($out, qr/(^ *\w+ +\| as expected\n){4}/m, 'every form of the star join has the same result');
	like($out, qr/^ product \| +20000 \| +200 \| +20000 \| +\d{3} \|/m, 'with a filter, few rows cross the wire');
}

# Adapters, with the real libraries.  What is not here is skipped; with
# BLOOMTYPE_ALL_CLIENTS=1, as in .ci/run, that is a failure.
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';

# adapter MODULE, DATABASE, COMMAND...: what it prints.
sub adapter
{
	my ($module, $database, @command) = @_;
	local %ENV = (%ENV, PYTHONDONTWRITEBYTECODE => 1, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => $database, PGUSER => scalar getpwuid($<));
	my ($printed, $errors) = ('', '');

	skip "no module $module here", 1 if system("$python -c 'import psycopg2, $module' >/dev/null 2>&1") != 0 && !$ENV{BLOOMTYPE_ALL_CLIENTS};
	IPC::Run::run([ $python, @command ], '>', \$printed, '2>', \$errors) or diag($errors);
	return $printed;
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'django', 'scrapy';
$node->safe_psql('scrapy', 'CREATE EXTENSION bloomtype_set CASCADE');
SKIP:
{
	is(adapter('django', 'django', 'examples/django_view.py'), "4 keys\nnew: [5, 6]\n", 'Django: bulk_create(ignore_conflicts=True) on a view');
}
SKIP:
{
	# of four requests, one for a page that another asks for: pages, and requests left out
	my @crawl = ('scrapy', 'scrapy', 'test/drivers/spider.py', 'examples');
	is(adapter(@crawl, 'requested', '1 day'), "3 1\n", 'Scrapy: each page is requested once');
	is(adapter(@crawl, 'requested', '1 day'), "0 4\n", '... and not by the next spider');
	is(adapter(@crawl, 'briefly', '1 second'), "3 1\n", 'Scrapy: another set');
	sleep 2;
	is(adapter(@crawl, 'briefly', '1 second'), "3 1\n", '... that has forgotten them');
}

#
# Four workers; each visits pages, finds links on them, some of which are new,
# and fails now and then
#

run_example('examples/to_visit_queue.sql', '-v', 'keep=1');
my $queued = $node->safe_psql('postgres', q{
	CREATE TABLE visited (worker int, id bigint, url text);
	CREATE PROCEDURE work(worker int) LANGUAGE plpgsql AS $$
	DECLARE
		popped bigint;
	BEGIN
		FOR round IN 1 .. 100000 LOOP
			WITH p AS (INSERT INTO visited AS v SELECT work.worker, p.id, p.url FROM to_visit_queue.pop(20) AS p RETURNING v.id)
			SELECT count(*) INTO popped FROM p;
			EXIT WHEN popped = 0;
			PERFORM to_visit_queue.push(array_agg(v.url || '#found' || work.worker / 3)) FROM visited AS v
			WHERE v.worker = work.worker AND v.id % 50 = 0 AND v.url NOT LIKE '%#found%';
			IF round % 10 = work.worker THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END
	$$;
	SET client_min_messages = error;
	SELECT count(*) FROM to_visit_queue.queue});
my @workers = map
{
	IPC::Run::start(
		[ 'psql', '-Xq', '-c', 'SET client_min_messages = error', '-c', "CALL work($_)", '-d', $node->connstr('postgres') ],
		'<', \undef, '>', \my $worker_out, '2>', \my $worker_err)
} 1 .. 4;
is((grep { !$_->finish } @workers), 0, 'four workers work off the queue');
is($node->safe_psql('postgres', 'SELECT count(*) FROM to_visit_queue.queue'), 0, 'it is empty in the end');
is($node->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT url) FROM visited'), 0, 'no page was visited twice');
is($node->safe_psql('postgres', q{SELECT count(*) FROM visited WHERE url NOT LIKE '%#found%'}), $queued, 'every page that was queued was visited');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM visited WHERE url LIKE '%#found%'}), '>', 100, 'so were pages that were found');
cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT worker) FROM visited'), '>', 1, 'by several workers');

$node->stop;
done_testing();
