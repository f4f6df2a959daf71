#
# The first page: what a reader wants first is there; its statements work, as they
# stand, in an empty database; its commands, from a new clone to what they install.
#
use strict;
use warnings;

use Cwd;
use File::Temp;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require './scripts/doc-examples';

my $readme = slurp_file('README.md');
my @lines = split /^/, $readme;

my %sections = map { /^## (.*)/ ? ($1 => $_) : () } split /^(?=## )/m, $readme;
(my $prose = $readme) =~ s/^```.*?^```$//gms;
$prose =~ s/\]\([^)]*\)//g;
cmp_ok(scalar(() = $prose =~ /\S*\w\S*/g), '<=', 750, 'at most 750 words outside of code');

# The first screen: what it is; a column, a test and a merge with their answers; and
# the commands that set all up.
my $first = join '', @lines[ 0 .. 44 ];
foreach my $want (
	[ 'what a filter answers', qr/definitely not.*probably yes/ ],
	[ 'a column of one shape', qr/^CREATE TABLE .* bloom\(100000, 0\.01\)/m ],
	[ 'a filter of a column', qr/^INSERT .*bloom_agg\(/m ],
	[ 'a test, with its answer', qr/WHERE users @> .*^```text\n.*^    day *\n-+\n/ms ],
	[ 'merged days beside count(DISTINCT), with their answers', qr/bloom_union_agg\(.*count\(DISTINCT .*^```text\n.*\babout [\d,]+ of 100,000 at 1 %.*\| \d+\n/ms ])
{
	like($first, $want->[1], "the first screen has $want->[0]");
}

# Its block of commands: a new clone, the demo, the tests.
my ($try) = $first =~ /^```sh\n(.*?)^```/ms;
my ($address) = slurp_file('META.json') =~ /"homepage": "([^"]+)"/;
like($try // '', qr/^git clone \Q$address\E(?: |$)/m, 'the first block of commands has a clone');
foreach my $want ('sudo scripts/demo', 'scripts/test --quick', 'scripts/test')
{
	like($try // '', qr/^\Q$want\E *(?:#.*)?$/m, "... it has $want");
	my ($script, $option) = $want =~ /(scripts\S+)(?: (\S+))?/;
	ok(-x $script, "... $script is a program");
	like(slurp_file($script), qr/^ +\Q$option\E\) /m, "... with an option $option") if defined $option;
}

# All statements, from an empty database on.
my $doc = read_examples('README.md');
my @examples = @{ $doc->{examples} };
is(scalar(grep { ($_->{sql} =~ tr/\n//) > 12 } @examples[ 1 .. $#examples ]), 0, 'after the first screen, twelve lines of SQL a section');
like($examples[0]->{sql}, qr/^CREATE EXTENSION bloomtype;/, 'it begins with the extension');
cmp_ok($examples[0]->{sql} =~ tr/\n//, '<=', 20, '... in twenty lines');

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init;
$node->start;
run_examples(
	$doc,
	sub {
		my ($script) = @_;
		my $printed;
		IPC::Run::run([ 'psql', '-Xq', '-d', $node->connstr('postgres') ],
			'<', \$script, '>&', \$printed);
		return $printed;
	});
foreach my $example (@examples)
{
	ok(is_right($example), title($doc, $example)) or diag("printed:\n$example->{printed}");
}

# The commands before them, on a machine that has the packages already.
my ($commands) = $sections{'Install'} =~ /^```sh\n(.*?)^```/ms;
my ($packages) = slurp_file('scripts/lib.sh') =~ /^build_packages=\((.*?)\)/ms;
my %named = map { $_ => 1 } $commands =~ /--no-install-recommends (.*)/ ? split ' ', $1 : ();

$packages =~ s/SERVER/postgresql-15/;
$packages =~ s/HEADERS/postgresql-server-dev-15/;
is( join(' ', grep { !$named{$_} } split ' ', $packages),
	'gzip', 'the packages that a build needs are named, but for gzip, which Debian always has');
like($commands, qr/apt-get install -y /, 'apt-get asks nothing');
like($commands, qr/^git clone \Q$address\E$/m, 'git clone has the address of META.json');

my $top = getcwd();
my $scratch = File::Temp->newdir();
my $script = <<"END" . $commands;
set -e
sudo() { case \$1 in apt-get) ;; *) "\$@" ;; esac; }
git() { mkdir bloomtype; (cd $top && tar -cf - --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude=tmp_check .) | tar -C bloomtype -xf -; }
cd $scratch
END
{
	local $ENV{DESTDIR} = "$scratch/installed";
	local $ENV{MAKEFLAGS} = '-s -j2 with_llvm=no';
	my $printed;
	ok(IPC::Run::run([ 'bash', '-c', $script ], '>&', \$printed), 'the commands from clone to install')
	  or diag($printed);
}
my @installed = map { s{.*/}{}r } split /\n/, `find $scratch/installed -type f`;
foreach my $file ('bloomtype.so', 'bloomtype.control', 'bloomtype--1.0.sql', 'bloomtype_set.so', 'bloomtype_set.control', 'bloomtype_set--0.9.sql', 'bloomtype_unique.control', 'bloomtype_unique--0.9.sql', 'bloomtype_scan.so')
{
	ok((grep { $_ eq $file } @installed), "they install $file");
}

done_testing();
