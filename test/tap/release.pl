#
# What says the version of the release, the address and the maintainer agrees, also
# after scripts/release has set them; META.json is what PGXN wants; the pages' links
# lead somewhere; the script of a released version is as it was; a build outside of
# a read-only source tree works, and one of the files that the Dockerfile gets.
#
use strict;
use warnings;

use Cwd;
use File::Basename;
use File::Find;
use File::Temp;
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = getcwd();

# copy_of FOLDER: another with the same, but for what a build or a test made.
sub copy_of
{
	my ($from) = @_;
	my $folder = File::Temp->newdir();
	my $exclude = join ' ', map { "--exclude='$_'" } '.git', '*.o', '*.so', '*.bc', 'tmp_check', 'results';

	system_or_bail('sh', '-c', "tar -C $from -cf - $exclude . | tar -C $folder -xf -");
	return $folder;
}

# edit FILE, PATTERN, VALUE: put the value in place of what the pattern finds.
sub edit
{
	my ($file, $pattern, $value) = @_;
	my $text = slurp_file($file);

	$text =~ s/$pattern/$value/ or die "$file is not as expected\n";
	unlink $file;
	append_to_file($file, $text);
	return;
}

# first FILE, PATTERN: what the group of the pattern finds there, or why not.
sub first
{
	my ($file, $pattern) = @_;

	return slurp_file($file) =~ $pattern ? $1 : "nothing";
}

# disagreements FOLDER: each place that does not say what META.json says, and what a
# version without -rc must not have.  Returns a line for each.
sub disagreements
{
	my ($folder) = @_;
	my $meta = JSON::PP->new->decode(slurp_file("$folder/META.json"));
	my ($version, $maintainer, $home) = ($meta->{version}, $meta->{maintainer}, $meta->{resources}{homepage});
	my @found;
	my $compare = sub {
		my ($file, $what, $pattern, $expected) = @_;
		my $is = first("$folder/$file", $pattern);

		push @found, "$file: $what is $is, not $expected" if $is ne $expected;
	};

	(my $debian = $version) =~ s/-/~/;
	(my $python = $version) =~ s/-//;
	my $in_changelog = $version =~ /-rc/ ? "$version (unreleased)" : $version;
	push @found, "META.json: the version is $version" unless $version =~ /^\d+\.\d+\.\d+(-rc\d+)?$/;
	$compare->('META.json', 'the status', qr/"release_status": "(.*)"/, $version =~ /-rc/ ? 'testing' : 'stable');
	$compare->('CHANGELOG.md', 'the first section', qr/^## (\S+(?: \(unreleased\))?)/m, $in_changelog);
	$compare->('debian/changelog', 'the version', qr/^bloomtype \((\S+)-\d+\)/, $debian);
	$compare->($_, 'the version', qr/PG_MODULE_MAGIC_EXT\(.*\.version = "([^"]+)"/, $version) foreach 'bloomtype.c', 'set/module.c', 'scan/scan.c';
	$compare->('clients/python/pyproject.toml', 'the version', qr/^version = "([^"]+)"/m, $python);
	$compare->('clients/python/bloomtype.py', 'the version', qr/^__version__ = "([^"]+)"/m, $python);
	$compare->('clients/rust/Cargo.toml', 'the version', qr/^version = "([^"]+)"/m, $version);
	$compare->('clients/rust/Cargo.lock', 'the version', qr/^name = "bloomtype"\nversion = "([^"]+)"/m, $version);
	$compare->('clients/java/pom.xml', 'the version', qr{^  <version>([^<]+)}m, $version);
	$compare->('clients/js/package.json', 'the version', qr/^  "version": "([^"]+)"/m, $version);
	# each extension has a version of its own, that of its SQL objects
	foreach my $control (map { glob "$folder/$_*.control" } '', 'set/')
	{
		my ($extension) = $control =~ m{([^/]+)\.control$};
		my $provided = $meta->{provides}{$extension};
		my $objects = first($control, qr/default_version = '([^']+)'/);

		push @found, "META.json provides $extension $provided->{version}, not $objects.0" if $provided->{version} ne "$objects.0";
		push @found, "META.json: the file of $extension is $provided->{file}" if $provided->{file} !~ /\b\Q$extension\E--(?:.*--)?\Q$objects\E\.sql$/;
	}

	# a maintainer without an address has one of this machine in debian/
	my $in_debian = $maintainer =~ /</ ? $maintainer : ucfirst($maintainer) . ' <bloomtype@localhost>';
	$compare->($_, 'the maintainer', qr/^Maintainer: (.*)/m, $in_debian) foreach 'debian/control', 'debian/control.in';
	$compare->('debian/changelog', 'the maintainer', qr/^ -- (.*>)  /m, $in_debian);

	foreach my $file ('META.json', 'debian/control', 'debian/control.in', 'debian/watch')
	{
		my @others = grep { $_ !~ /^\Q$home\E(\.git|\/issues|\/tags)?$/ } slurp_file("$folder/$file") =~ m{(https?://[^"\s]+)}g;
		push @found, "$file: the address is $_, not $home" foreach @others;
	}
	(my $path = $home) =~ s{^https://}{};
	foreach my $file ('clients/go/go.mod', 'clients/go/README.md', 'clients/rust/Cargo.toml', 'clients/java/pom.xml',
		'clients/js/package.json', 'clients/python/pyproject.toml', 'test/drivers/drivers.go', 'test/drivers/pgx.go')
	{
		push @found, "$file has another address" if slurp_file("$folder/$file") !~ m{\b\Q$path\E\b};
	}

	if ($version !~ /-rc/)
	{
		my $placeholder = qr{example\.org/OWNER|>org\.example\b|\@localhost|placeholder, until the project};

		push @found, "META.json: $maintainer has no address" if $maintainer !~ /<.+>/;
		find(
			{
				no_chdir => 1,
				wanted => sub {
					push @found, "$_ has a placeholder" if -f && -T && slurp_file($_) =~ $placeholder;
				}
			},
			map { "$folder/$_" } qw(README.md CONTRIBUTING.md CHANGELOG.md META.json docs debian clients test/drivers));
	}
	return sort map { s/^\Q$folder\E\///r } @found;
}

is(join("\n", disagreements($top)), '', 'version, address and maintainer are the same everywhere');

# release FOLDER, OPTION...: run the scripts/release of that folder; its status and output.
sub release
{
	my ($folder, @options) = @_;
	my ($output, $errors);

	my $ok = IPC::Run::run([ $^X, "$folder/scripts/release", @options ], '>', \$output, '2>', \$errors);
	return ($ok, $output . $errors);
}

# differences FOLDER, FOLDER: the lines of diff -r that name a file or show a line.
sub differences
{
	my ($from, $to) = @_;

	return grep { /^[-+\@O]/ && !/^(---|\+\+\+) / } `diff -r -U0 $from $to`;
}

# A copy as it is before a release, also if that has been.
my ($version_before) = first('META.json', qr/"version": "(.*)"/);
my ($major_minor, $patch) = $version_before =~ /^(\d+\.\d+)\.(\d+)/;
my ($next, $next_but_one) = map { "$major_minor." . ($patch + $_) } 1, 2;
my $base = copy_of($top);
my ($ok, $output) = (1, '');
($ok, $output) = release($base, '--address', 'https://example' . '.org/OWNER/bloomtype')
  unless slurp_file('META.json') =~ m{example[.]org/OWNER};
ok($ok, 'back to a placeholder') or diag($output);
edit("$base/META.json", qr/"maintainer": "\K[^"]*/, 'the bloomtype authors');
edit("$base/debian/$_", qr/^Maintainer: \K.*/m, 'The bloomtype authors <bloomtype@localhost>') foreach 'control', 'control.in';
edit("$base/debian/changelog", qr/^ -- \K.*?>/m, 'The bloomtype authors <bloomtype@localhost>');
edit("$base/CHANGELOG.md", qr/^## \S+ \(\K[^)]*/m, 'unreleased');

my @address = ('--address', 'https://code.example.net/Some-One/bloomtype');
my @maintainer = ('--maintainer', "Zo\xc3\xab O'Neil <zoe\@mail.example.net>");
my $released = copy_of($base);
($ok, $output) = release($released, '--version', $next);
ok($ok, 'scripts/release sets a final version') or diag($output);
like(join("\n", disagreements($released)), qr/^META.json: .* has no address$/m, '... without a maintainer, the test fails');
like(join("\n", disagreements($released)), qr/^META.json has a placeholder$/m, '... and without an address');
($ok, $output) = release($released, @address);
is(join("\n", disagreements($released)), join("\n", 'META.json: the bloomtype authors has no address',
		map { "$_ has a placeholder" } 'debian/changelog', 'debian/control', 'debian/control.in'),
	'... with it, the maintainer is still missing');
($ok, $output) = release($released, @maintainer);
ok($ok, '... and the maintainer') or diag($output);
is(join("\n", disagreements($released)), '', 'then all places agree');
my $before = 'example[.]org/OWNER|org[.]example<';
$before .= "|$version_before" if $version_before =~ /-rc/;	# else, others may have the same
# a measurement says which version was measured
my $measured = "--exclude='*.svg' --exclude-dir=points --exclude=RESULTS.md";
is(join('', `grep -rlIE $measured '$before' $released`), '', 'nothing else has what was there before');

# In each place, one line for another, and nothing else but comments that go.
my $value = qr{\Q$next\E|code\.example\.net/Some-One/bloomtype|<groupId>net\.example\.code\.some-one<|Zo\xc3\xab O'Neil <zoe\@mail\.example\.net>|"release_status": "stable"};
my @changes = differences($base, $released);
is(join('', grep { /^\+/ && $_ !~ $value } @changes), '', 'each changed line has one of the values');
is(join('', grep { /^Only/ } @changes), '', 'no file is new or gone');
is(scalar differences(map { "$_/test/tap/release.pl" } $base, $released), 0, 'this test stays as it is');
my $lost = grep { /^-/ } @changes;
$lost -= grep { /^\+/ } @changes;
$lost -= grep { m{^-\s*(?://|\#|<!--) .*placeholder, until the project has an address} } @changes;
is($lost, 0, 'no line is lost but a comment about the placeholder');

# the same values by another way
my $other = copy_of($base);
release($other, '--version', "77.7.7-rc12", '--address', 'https://github.com/' . 'x/bloomtype', '--maintainer', 'x <y@z.net>');
is(join("\n", disagreements($other)), '', 'another version, address and maintainer agree');
($ok, $output) = release($other, @address, @maintainer, '--version', $next);
is(join('', grep { !m{^[-+] -- } && !/^\@\@/ } differences($released, $other)), '', 'what was set before makes no difference');
($ok, $output) = release($other, @address, @maintainer, '--version', $next);
ok($ok && $output =~ /^Every file has these values already\.$/m, 'the same again changes nothing');

# a version after one that was released
($ok, $output) = release($other, '--version', $next_but_one);
ok(!$ok && $output =~ /was released/, 'the section of a released version is not taken for the next one');
edit("$other/CHANGELOG.md", qr/^(?=## )/m, "## $next_but_one (unreleased)\n\n- Something.\n\n");
($ok, $output) = release($other, '--version', $next_but_one);
is(join("\n", disagreements($other)), '', 'the next version has sections of its own');
like(slurp_file("$other/debian/changelog"), qr/^bloomtype \(\Q$next_but_one\E-1\).*^bloomtype \(\Q$next\E-1\)/ms, '... and leaves the one before it');

# wrong input
my $untouched = copy_of($base);
foreach my $wrong (
	[ '--address', 'http://code.example.net/x/bloomtype' ],
	[ '--address', 'https://code.example.net/x/bloomtype.git' ],
	[ '--address', 'https://code.example.net/bloomtype' ],
	[ '--address', "https://code.example.net/x';/bloomtype" ],
	[ '--maintainer', 'Zoe' ],
	[ '--maintainer', 'zoe@mail.example.net' ],
	[ '--maintainer', 'Zoe <zoe@localhost>' ],
	[ '--maintainer', "Zoe\n<zoe\@mail.example.net>" ],
	[ '--maintainer', 'Zoe "Z" <zoe@mail.example.net>' ],
	[ '--version', '1.0' ],
	[ '--version', '1.0.0rc2' ],
	[ '--version', '01.0.0' ],
	[ '--version', $next, '--address', 'nowhere' ],
	[ '--colour', 'red' ],
	[$next])
{
	($ok, $output) = release($untouched, @$wrong);
	ok(!$ok && $output =~ /\S/, "an error: @$wrong");
}
is(join('', differences($base, $untouched)), '', 'errors change nothing');
edit("$untouched/clients/rust/Cargo.lock", qr/^name = .*/ms, '');
($ok, $output) = release($untouched, '--version', $next);
ok(!$ok && $output =~ /Cargo\.lock has no version/, 'an error: a file without a place for the version');
unlink "$untouched/clients/rust/Cargo.lock";
is(join('', grep { /^[-+O]/ && !/^Only in .*: Cargo\.lock$/ } differences($base, $untouched)), '', '... and no other file is changed');

# The PGXN Meta Spec 1.0.0: what is mandatory, and what it says about the rest that is here.
my $meta = JSON::PP->new->decode(slurp_file('META.json'));
my $semver = qr/^\d+\.\d+\.\d+(-[0-9A-Za-z-]+)?$/;
my $term = qr/^[^\s\/\\]{2,}$/;
my %string = (
	name => $term,
	version => $semver,
	abstract => qr/./,
	maintainer => qr/./,
	license => qr/^postgresql$/,
	description => qr/./,
	release_status => qr/^(stable|testing|unstable)$/);
my %known = map { $_ => 1 } keys %string, qw(provides meta-spec prereqs no_index resources tags generated_by);
foreach my $field (sort keys %string)
{
	ok(!ref $meta->{$field} && $meta->{$field} =~ $string{$field}, "META.json: $field");
}
is(join(' ', grep { !$known{$_} } sort keys %$meta), '', 'META.json: no other field');
is($meta->{'meta-spec'}{version}, '1.0.0', 'META.json: meta-spec');
foreach my $name (sort keys %{ $meta->{provides} })
{
	my $provided = $meta->{provides}{$name};

	like($name, $term, "META.json provides $name");
	like($provided->{version}, $semver, '... with a version');
	ok(-f $provided->{$_}, "... whose $_ is there") foreach 'file', 'docfile';
}
ok(scalar %{ $meta->{provides} }, 'META.json provides something');
foreach my $phase (sort keys %{ $meta->{prereqs} })
{
	like($phase, qr/^(configure|build|test|runtime|develop)$/, "META.json: prerequisites of $phase");
	foreach my $relation (sort keys %{ $meta->{prereqs}{$phase} })
	{
		like($relation, qr/^(requires|recommends|suggests|conflicts)$/, "... $relation");
		like($_, $semver, '... a version') foreach values %{ $meta->{prereqs}{$phase}{$relation} };
	}
}
ok(-d $_, "META.json does not index $_, which is there") foreach @{ $meta->{no_index}{directory} };
my $resources = $meta->{resources};
like($_, qr{^https://[^/]+/}, "META.json: the address $_")
  foreach $resources->{homepage}, $resources->{bugtracker}{web}, @{ $resources->{repository} }{ 'url', 'web' };
ok($resources->{repository}{type} eq 'git', 'META.json: the repository is of git');
like($_, qr{^[^/\\]{1,256}$}, "META.json: the tag $_") foreach @{ $meta->{tags} };

# The script of a released version is never edited; objects change in a new one.
SKIP:
{
	my @tags = grep { /^v\d+\.\d+\.\d+$/ } split /\n/, `git -c safe.directory='*' tag 2>&1`;

	skip 'that install scripts are as they were released needs git, and the tag of a release', 1 unless @tags;
	foreach my $tag (@tags)
	{
		foreach my $script (grep { m{^(?:set/)?bloomtype\w*--.*\.sql$} } split /\n/, `git -c safe.directory='*' ls-tree -r --name-only $tag`)
		{
			my $was = `git -c safe.directory='*' show $tag:$script`;

			ok(-e $script && slurp_file($script) eq $was, "$script is as in $tag: change objects in a new script, as CONTRIBUTING.md says");
		}
	}
}

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

foreach my $file (sort(glob '*.md docs/*.md scripts/*.md test/*.md clients/*.md clients/*/*.md'))
{
	my $text = slurp_file($file);
	my @dead;

	$text =~ s/^```.*?^```//gms;
	foreach my $link ($text =~ /(?:\]\(|\b(?:src|srcset|href)=")([^)\s"]+)[)"]/g)
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
my $build = File::Temp->newdir();
my $source = copy_of($top);
system_or_bail('chmod', '-R', 'a-w', "$source");
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
ok(system("cd $build && make -s -f $source/Makefile PG_CONFIG=$pg_config with_llvm=no >make.log 2>&1") == 0
	  && -e "$build/bloomtype.so" && -e "$build/set/bloomtype_set.so" && -e "$build/scan/bloomtype_scan.so",
	'a build outside of a read-only source tree')
  or diag(slurp_file("$build/make.log"));
system('chmod', '-R', 'u+w', "$source");

# what .dockerignore leaves of the sources is enough to build and install them
my $context = File::Temp->newdir();
my @left = map { glob } slurp_file('.dockerignore') =~ /^!(.*)$/mg;
system_or_bail('cp', '-r', @left, "$context");
my $missing = `make -C $context -n install PG_CONFIG=$pg_config with_llvm=no 2>&1 >/dev/null`;
ok($? == 0, 'the Dockerfile has all files that it needs') or diag($missing);
like(slurp_file('.dockerignore'), qr{^\*\*/\*\.$_$}m, "... and none of another build: $_") foreach 'o', 'bc', 'so';

done_testing();
