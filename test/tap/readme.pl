#
# The first page: what a reader wants first is there, and the commands and
# statements of "Get started" work alone, as they stand, from a new clone to the
# first answer.
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

sub anchor { return lc($_[0]) =~ s/[^\w ]//gr =~ s/ /-/gr }
my %sections = map { /^## (.*)/ ? (anchor($1) => $_) : () } split /^(?=## )/m, $readme;

# What is behind the links of the first lines.
my $first = join '', @lines[ 0 .. 39 ];
like($first, qr/definitely not.*probably yes/, 'README begins with what a filter is');
foreach my $want (
	[ 'get started', qr/get-started/, qr/CREATE EXTENSION/ ],
	[ 'what a filter is', qr/how-a-filter/, qr/array of bits/ ],
	[ 'several ingest workers', qr/once/, qr/bloom_set_add_all\(/ ],
	[ 'drop repeated rows', qr/drop-repeated/, qr/bloom_seen\(id\) OVER \(\)/ ],
	[ 'size for n keys', qr/sizes/, qr/bloom_params\(capacity/ ],
	[ 'when not to use it', qr/better/, qr/unique index with/ ],
	[ 'upgrade', qr{docs/upgrading\.md}, qr/ALTER EXTENSION bloomtype UPDATE/ ])
{
	my ($text, $link, $content) = @$want;
	my ($target) = $first =~ /^\|[^|\n]*\Q$text\E[^|\n]*\|[^|\n]*\(#?([^)]*$link[^)]*)\)/m;

	ok(defined $target, "README: a link for \"$text\"") or next;
	like($target =~ /\.md$/ ? slurp_file($target) : $sections{$target},
		$content, "README: what is behind \"$text\"");
}

# The statements of "Get started", in an empty database.
my $doc = read_examples('README.md');
my ($begin) = grep { $lines[ $_ - 1 ] eq "## Get started\n" } 1 .. @lines;
my $end = $begin + ($sections{'get-started'} =~ tr/\n//);
my @examples = grep { $_->{line} > $begin && $_->{line} < $end } @{ $doc->{examples} };
$doc->{sessions} = [ { examples => \@examples } ];
ok((grep { $_->{sql} =~ /CREATE TABLE/ && defined $_->{result} && $_->{line} < 40 } @examples),
	'a table, and what is found in it, within the first 40 lines');
like($examples[0]->{sql}, qr/^CREATE EXTENSION bloomtype;/, 'it begins with the extension');

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
my ($commands) = $sections{'get-started'} =~ /^```sh\n(.*?)^```/ms;
my ($address) = slurp_file('META.json') =~ /"homepage": "([^"]+)"/;
my ($packages) = slurp_file('scripts/lib.sh') =~ /^build_packages=\((.*?)\)/ms;
my %named = map { $_ => 1 } $commands =~ /--no-install-recommends (.*)/ ? split ' ', $1 : ();

$packages =~ s/SERVER/postgresql-15/;
$packages =~ s/HEADERS/postgresql-server-dev-15/;
is( join(' ', grep { !$named{$_} } split ' ', $packages),
	'gzip', 'the packages that a build needs are named, but for gzip, which Debian always has');
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
foreach my $file ('bloomtype.so', 'bloomtype.control', 'bloomtype--1.0.sql', 'bloomtype_unique.control', 'bloomtype_unique--1.0.sql')
{
	ok((grep { $_ eq $file } @installed), "they install $file");
}

done_testing();
