#
# The pictures of the pages have no background and are readable on white and on
# black; those of a measurement say of which version it is, and its command.
#
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;

# luminance HEX: of a colour, as WCAG 2 defines it, from 0 to 1.
sub luminance
{
	my @part = map { $_ <= 0.04045 ? $_ / 12.92 : (($_ + 0.055) / 1.055)**2.4 }
	  map { hex($_) / 255 } $_[0] =~ /(..)/g;

	return 0.2126 * $part[0] + 0.7152 * $part[1] + 0.0722 * $part[2];
}

my @pictures = sort glob 'docs/*.svg';
cmp_ok(@pictures, '>', 9, 'there are pictures');
foreach my $file (@pictures)
{
	my $svg = slurp_file($file);
	my %colour;

	# gnuplot defines two filters for boxes of text, which nothing uses, and begins
	# groups in black that have nothing in them
	$svg =~ s{<filter .*?</filter>}{}gs;
	$svg =~ s{<g [^>]*>\s*</g>}{}g;
	$colour{ lc $1 }++ while $svg =~ /#([0-9a-f]{6})\b/gi;
	$colour{ sprintf '%02x%02x%02x', $1, $2, $3 }++
	  while $svg =~ /rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)/g;
	cmp_ok(scalar(keys %colour), '>', 1, "$file: has colours");
	foreach (sort keys %colour)
	{
		my $of = luminance($_) + 0.05;

		ok($of / 0.05 >= 3 && 1.05 / $of >= 3, "$file: #$_ is readable on white and on black");
	}
	ok($svg !~ /(fill|stroke)\s*=\s*['"](white|black)['"]/, "$file: nothing is white or black");
	ok($svg !~ /<path\b(?![^>]*stroke=)/, "$file: every line has a colour");
	ok($svg =~ m{<title>(?!Gnuplot)\S.*</title>}, "$file: has a title");
	next if $file =~ m{/how\.svg};
	ok($svg =~ m{>PostgreSQL \d[\d.]*, bloomtype \d[^<:]*: bench/(run|dedup) }, "$file: says what was measured, and how");
}

done_testing();
