#
# The pictures of the pages have no background and are readable on white and on
# black; those of a measurement say of which version it is, and its command.  On a
# telephone, their letters can be read.
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
cmp_ok(@pictures, '>=', 12, 'there are pictures');
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
	my $smallest = smallest_letter($svg, 320);
	cmp_ok($smallest, '>=', 9, "$file: the smallest letter, in pixels where the picture is 320 wide");
	my ($from, $to) = text_bounds($svg);
	ok($from >= 0 && $to <= 1, "$file: no text is cut off") or diag("$from to $to of the width");
	next if $file =~ m{/(how|days|workers)\.svg};
	(my $words = $svg) =~ s/<[^>]*>/ /g;
	ok($words =~ m{PostgreSQL \d[\d.]*, bloomtype \d[^<:]*: \s*bench/(run|dedup|unique) }, "$file: says what was measured, and how");
}

# What days.svg says is the answer of the recipe beside it.
my ($recipe) = slurp_file('docs/cookbook.md') =~ /days\.svg\)(.*?)```text\n(?<answer>.*?)```/s or die 'the recipe of days.svg';
my $answer = $+{answer};
my $days_svg = slurp_file('docs/days.svg');
my ($user) = $recipe =~ /users @> (\d+)/;
my $days = $recipe =~ m{\+ i / (\d+) AS day.*?generate_series\(0, (\d+)\)}s ? ($2 + 1) / $1 : 0;
my ($days_found) = $answer =~ /^ +day\n-+\n(.*?)\n\n/s;
like($days_svg, qr/>Which days can have user $user\?</, 'days.svg asks for the user of its recipe');
is(scalar(my @boxes = $days_svg =~ /<text[^>]*>(\d+)</g), $days, '... has its days');
is_deeply([ $days_svg =~ /font-weight="bold">(\d+)</g ], [ map { /-(\d+)$/ ? $1 + 0 : () } split /\n/, $days_found ], '... and its answer');

# smallest_letter SVG, PIXELS: the size of the smallest letter, where the picture
# is that wide.  The size of a text is its own, or that of what it is in.
sub smallest_letter
{
	my ($svg, $pixels) = @_;
	my ($width) = $svg =~ /viewBox="0 0 ([\d.]+) /;
	my $smallest;
	my @sizes = (16);

	while ($svg =~ m{<(/?)(svg|g|text|tspan)\b([^>]*?)(/?)>}g)
	{
		my ($is_end, $name, $attributes, $is_empty) = ($1, $2, $3, $4);

		if ($is_end) { pop @sizes; next }
		push @sizes, $attributes =~ /font-size\s*[=:]\s*"?([\d.]+)/ ? $1 : $sizes[-1];
		$smallest = $sizes[-1] if $name =~ /^t/ && (!defined $smallest || $sizes[-1] < $smallest);
		pop @sizes if $is_empty;
	}
	return ($smallest // 0) * $pixels / $width;
}

# the test can fail
is(smallest_letter('<svg viewBox="0 0 640 1" font-size="20"><g font-size="18"><text>a</text></g><text>b</text></svg>', 320), 9, 'half of 18 is 9');
is(smallest_letter('<svg viewBox="0 0 640 1" font-size="20"><g font-size="18"></g><text>b<tspan font-size="12">c</tspan></text></svg>', 320), 6, 'a part of a text counts');

# text_bounds SVG: from where to where its lines of text go, as parts of its width,
# if a letter is 0.55 of its size wide.
sub text_bounds
{
	my ($svg) = @_;
	my ($width) = $svg =~ /viewBox="0 0 ([\d.]+) /;
	my ($from, $to) = (1, 0);

	# gnuplot moves a group to the place of its text
	while ($svg =~ m{(?:<g transform="translate\(([\d.]+),[^>]*text-anchor="(\w+)"[^>]*>\s*)?<text\b([^>]*)>(.*?)</text>}gs)
	{
		my ($place, $anchor, $attributes, $words) = ($1, $2, $3, $4);
		my ($size) = $words =~ /font-size="([\d.]+)/ ? $1 : $attributes =~ /font-size="([\d.]+)/ ? $1 : 12;

		$place //= $1 if $attributes =~ /\bx="([\d.]+)"/;
		$anchor //= $attributes =~ /text-anchor="(\w+)"/ ? $1 : 'start';
		next unless defined $place;
		$words =~ s/<[^>]*>//g;
		$words =~ s/&\w+;/-/g;
		utf8::decode($words);
		my $length = 0.55 * $size * length($words =~ s/^\s+|\s+$//gr);
		my $begin = $place - ($anchor eq 'middle' ? $length / 2 : $anchor eq 'end' ? $length : 0);
		$from = $begin / $width if $begin / $width < $from;
		$to = ($begin + $length) / $width if ($begin + $length) / $width > $to;
	}
	return ($from, $to);
}

done_testing();
