#
# What each of clients/ packs for its registry: the licence, the page, the
# metadata that the registry shows, and nothing that is only ours.  What was packed
# works.
#
# A client without its tool-chain is skipped; with BLOOMTYPE_ALL_CLIENTS=1, as in
# .ci/run, that is a failure.
#
use strict;
use warnings;

use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir;
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my ($version) = slurp_file('META.json') =~ /"version": "(.*)"/;
my ($home) = slurp_file('META.json') =~ /"homepage": "(.*)"/;
local %ENV = (%ENV, PYTHONDONTWRITEBYTECODE => 1, CARGO_HOME => "$folder/cargo", CARGO_TARGET_DIR => "$folder/target", CARGO_NET_OFFLINE => 'true',
	npm_config_offline => 'true', npm_config_cache => "$folder/npm", npm_config_update_notifier => 'false');

# Not where a build leaves something in the tree.
system("mkdir $folder/clients && tar -cf - --exclude=target --exclude=build clients | tar -C $folder -xf -") == 0 or die;

# run COMMAND: in that copy; its output.
sub run
{
	my ($command) = @_;
	my ($out, $log) = ('', '');

	IPC::Run::run([ 'sh', '-ec', $command ], '>', \$out, '2>', \$log, init => sub { chdir "$folder/clients" or die }) or diag("$command\n$out$log");
	return $out;
}

# files ARCHIVE: names in it, without the folder that all are in.
sub files
{
	my ($archive) = @_;

	return join ' ', sort map { s{^[^/]*/}{}r } grep { !m{/$} } split /\n/, run("tar -tf $archive");
}

# packs NAME, PROBE, TEST: the tests, if the tool-chain is there.
sub packs
{
	my ($name, $probe, $test) = @_;

  SKIP:
	{
		skip "$name: not here: $probe", 1 if system("($probe) >/dev/null 2>&1") != 0 && !$ENV{BLOOMTYPE_ALL_CLIENTS};
		$test->();
	}
	return;
}

my $licence = slurp_file('LICENSE');
is(slurp_file("clients/$_/LICENSE"), $licence, "$_: the licence is ours") foreach qw(go java js python rust);

packs(
	'npm', 'node -e 1 && npm --version',
	sub {
		run("cd js && npm pack --pack-destination $folder");
		my $archive = "$folder/bloomtype-$version.tgz";
		is(files($archive), 'LICENSE README.md bloomtype.d.ts bloomtype.js package.json', 'npm: the files');
		my $package = JSON::PP->new->decode(run("tar -xOf $archive package/package.json"));
		is($package->{$_}, $home, "npm: $_") foreach 'homepage';
		is($package->{repository}{url}, "git+$home.git", 'npm: the repository');
		ok(@{ $package->{keywords} } > 2 && $package->{author} && $package->{bugs}, 'npm: keywords, author, bugs');
		is(run("mkdir -p $folder/use && cd $folder/use && npm init -y >/dev/null && npm install $archive >/dev/null && node --input-type=module -e \"import { BloomFilter } from 'bloomtype'; console.log(BloomFilter.builder({ capacity: 10, keyType: 'text' }).add('a').build().has('a'))\""),
			"true\n", 'npm: what was packed works');
	});

packs(
	'cargo', 'cargo --version',
	sub {
		run('cd rust && cargo package --allow-dirty');
		my $archive = "$folder/target/package/bloomtype-$version.crate";
		my $files = files($archive);
		$files =~ s/ ?\.cargo_vcs_info\.json//;
		is($files, join(' ', sort qw(Cargo.lock Cargo.toml Cargo.toml.orig LICENSE README.md examples/bench.rs), map { s{.*/rust/}{}r } glob 'clients/rust/src/*.rs'),
			'cargo: the files; they compile');
		my $manifest = run("tar -xOf $archive bloomtype-$version/Cargo.toml");
		like($manifest, qr/^$_/m, "cargo: $_") foreach "repository = \"\Q$home\E\"", "homepage = \"\Q$home\E\"", 'readme = "README.md"', 'license = "PostgreSQL AND BSD-2-Clause"', 'keywords = ', 'categories = ', 'description = ';
	});

packs(
	'Python', "$python -c 'import setuptools, wheel, xxhash'",
	sub {
		run("cd python && $python -c 'from setuptools import build_meta as b; b.build_sdist(\"$folder\"); b.build_wheel(\"$folder\")'");
		(my $short = $version) =~ s/-//;
		my $archive = "$folder/bloomtype-$short.tar.gz";
		my $files = files($archive);
		$files =~ s{ ?\bbloomtype\.egg-info/\S+}{}g;
		is($files, 'LICENSE PKG-INFO README.md bloomtype.py pyproject.toml setup.cfg', 'Python: the files of the source archive');
		my $info = run("tar -xOf $archive bloomtype-$short/PKG-INFO");
		like($info, qr/^$_/m, "Python: $_") foreach 'Project-URL: Homepage, ' . quotemeta $home, 'Project-URL: Issues, ', 'Keywords: .*bloom', 'Classifier: Topic :: Database',
		  'License: PostgreSQL', 'Author: the bloomtype authors', 'Description-Content-Type: text/markdown', '# bloomtype for Python';
		my $wheel = "$folder/bloomtype-$short-py3-none-any.whl";
		like(run("$python -m zipfile -l $wheel"), qr{^bloomtype\.py .*dist-info/LICENSE }ms, 'Python: the wheel has the module and the licence');
		is(run("cd / && PYTHONPATH=$wheel $python -c 'import bloomtype; f = bloomtype.Filter(10); f.add(1); print(1 in f, bloomtype.__version__)'"),
			"True $short\n", 'Python: what was packed works');
	});

packs(
	'Go', 'go version',
	sub {
		like(run("cd go && GOCACHE=$PostgreSQL::Test::Utils::tmp_check/gocache GOTOOLCHAIN=local go list -m"), qr{^\Q@{[ $home =~ s{https://}{}r ]}\E/clients/go$}, 'Go: the module is in the repository');
	});

my $pom = slurp_file('clients/java/pom.xml') =~ s/\s+//gr;
like($pom, qr{$_}, "Maven: $_")
  foreach '<groupId>[^<]+</groupId>', '<name>[^<]+</name>', '<description>[^<]+</description>', "<url>\Q$home\E</url>", '<licenses><license><name>PostgreSQL</name><url>',
  '<developers><developer><name>', "<scm><connection>scm:git:\Q$home\E.git</connection><url>\Q$home\E</url></scm>";

done_testing();
