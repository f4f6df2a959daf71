#
# What says the version of the release agrees; the pages' links lead somewhere;
# a build outside of a read-only source tree works.
#
use strict;
use warnings;

use Cwd;
use File::Basename;
use File::Temp;
use PostgreSQL::Test::Utils;
use Test::More;

my ($version) = slurp_file('META.json') =~ /"version": "([^"]+)"/;
(my $debian = $version) =~ s/-/~/;
(my $python = $version) =~ s/-//;

like($version, qr/^\d+\.\d+\.\d+(-rc\d+)?$/, 'META.json has a version');
my @provided = slurp_file('META.json') =~ /"version": "([^"]+)"/g;
is($provided[1], $version, 'META.json provides it');
my ($changelog) = slurp_file('CHANGELOG.md') =~ /^## (\S+)/m;
is($changelog, $version, 'CHANGELOG.md begins with it');
my ($package) = slurp_file('debian/changelog') =~ /^bloomtype \((\S+)-\d+\)/;
is($package, $debian, 'debian/changelog begins with it');
my ($module) = slurp_file('bloomtype.c') =~ /\.version = "([^"]+)"/;
is($module, $version, 'the module says it');
foreach my $file ('clients/python/pyproject.toml', 'clients/python/bloomtype.py')
{
	my ($found) = slurp_file($file) =~ /^(?:__version__|version) = "([^"]+)"/m;
	is($found, $python, "$file has it");
}
foreach my $file ('clients/rust/Cargo.toml', 'clients/java/pom.xml')
{
	my ($found) = slurp_file($file) =~ /^(?:version = "|  <version>)([^"<]+)/m;
	is($found, $version, "$file has it");
}
my ($extension) = slurp_file('bloomtype.control') =~ /default_version = '([^']+)'/;
ok($version =~ /^\Q$extension\E\./, 'the version of the extension belongs to it');
ok(-e "bloomtype--$extension.sql", 'its script is there');

# The owner of the project fills in one address: docs/packaging.md.
my ($home) = slurp_file('META.json') =~ /"homepage": "([^"]+)"/;
foreach my $file ('META.json', 'debian/control', 'debian/control.in', 'debian/watch')
{
	my @others = grep { $_ !~ /^\Q$home\E(\.git|\/issues|\/tags)?$/ } slurp_file($file) =~ m{(https?://[^"\s]+)}g;
	is("@others", '', "$file has the address of META.json, and no other");
}
(my $path = $home) =~ s{^https://}{};
foreach my $file ('clients/go/go.mod', 'clients/go/README.md', 'clients/rust/Cargo.toml', 'clients/java/pom.xml')
{
	like(slurp_file($file), qr{\b\Q$path\E\b}, "$file has the address, too");
}
unlike($home, qr/example\.org/, 'a release has an address') if $version !~ /-rc/;

# links
my %anchors;
sub anchors
{
	my ($file) = @_;
	$anchors{$file} //= do
	{
		my %found;
		my $text = slurp_file($file);
		$text =~ s/^```.*?^```//gms;
		foreach my $heading ($text =~ /^#+ (.*)$/mg)
		{
			(my $anchor = lc $heading) =~ s/[^\w\- ]//g;
			$anchor =~ tr/ /-/;
			$found{$anchor} = 1;
		}
		\%found;
	};
	return $anchors{$file};
}

foreach my $file (sort('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', glob 'docs/*.md'))
{
	my $text = slurp_file($file);
	my @dead;

	$text =~ s/^```.*?^```//gms;
	foreach my $link ($text =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ /^[a-z]+:/;
		my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my $target = $path eq '' ? $file : dirname($file) . "/$path";
		if (!-e $target) { push @dead, $link }
		elsif ($anchor ne '' && $target =~ /\.md$/ && !anchors($target)->{$anchor})
		{
			push @dead, $link;
		}
	}
	is("@dead", '', "links of $file");
	foreach my $command ($text =~ /`((?:scripts|bench|test|examples|clients)\/[\w.\/-]+)/g)
	{
		ok(-e $command, "$file: $command is there") unless -e $command;
	}
}

# out of tree
my $top = getcwd();
my $build = File::Temp->newdir();
my $source = File::Temp->newdir();
system_or_bail('sh', '-c', "tar -cf - --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude=tmp_check . | tar -C $source -xf - && chmod -R a-w $source");
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
ok(system("cd $build && make -s -f $source/Makefile PG_CONFIG=$pg_config with_llvm=no >make.log 2>&1") == 0
	  && -e "$build/bloomtype.so",
	'a build outside of a read-only source tree')
  or diag(slurp_file("$build/make.log"));
system('chmod', '-R', 'u+w', "$source");

done_testing();
