#
# What the tests of bloomtype_scan in tap/ have in common.
#
package Scan;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Utils;
use Server;

our @EXPORT = qw(library_of);

# library_of MUTANT [FLAGS]: what make builds of our files with this patch, or undef, and these flags
sub library_of
{
	my ($mutant, $flags) = @_;
	my $dir = "${PostgreSQL::Test::Utils::tmp_check}/" . ($mutant // $FindBin::Script =~ s/\.pl$//r . ($flags // ''));

	copy_sources($dir, 'src/batch.h', 'scan/*.c', 'scan/*.h', 'scan/Makefile');
	apply_mutant($mutant, $dir) if defined $mutant;
	system_or_bail('make', '-s', '-j', '2', '-C', "$dir/scan", 'COPT=-O1 -Wno-unused -DUSE_ASSERT_CHECKING ' . ($flags // ''), 'PG_CONFIG=' . ($ENV{PG_CONFIG} || 'pg_config'));
	return "$dir/scan/bloomtype_scan.so";
}

1;
