#
# What the tests of bloomtype_scan in tap/ have in common.
#
package Scan;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(library_of);

# library_of MUTANT: what make builds of our files with this patch
sub library_of
{
	my ($mutant) = @_;
	my $dir = "${PostgreSQL::Test::Utils::tmp_check}/$mutant";

	mkdir $dir;
	mkdir "$dir/src";
	system_or_bail('cp', '-r', 'src/scan', 'src/batch.h', "$dir/src");
	system_or_bail('patch', '-d', $dir, '-p1', '-s', '--fuzz=0', '--no-backup-if-mismatch', '-i', File::Spec->rel2abs("test/mutants/$mutant.patch"));
	system_or_bail('find', $dir, '-name', '*.[os]*', '-delete');
	system_or_bail('make', '-s', '-j', '2', '-C', "$dir/src/scan", 'COPT=-O1 -Wno-unused', 'PG_CONFIG=' . ($ENV{PG_CONFIG} || 'pg_config'));
	return "$dir/src/scan/bloomtype_scan.so";
}

1;
