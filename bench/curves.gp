# bench/curves.gp: a picture of bench/run; data, svg, picture and n are given.
#
# n blocks, each a line's name and then x and y.  Ours are green and blue, and
# thick; the rivals are grey, and the floor is dashed.

set terminal svg size 900, 520 dynamic noenhanced font "sans-serif,13" background "white"
set output svg
set datafile separator "\t"
set encoding utf8

set logscale x
set format x "%.0s%c"
set border 3 lc rgb "#7a8594"
set xtics nomirror enhanced
set ytics nomirror
set grid ytics lc rgb "#e4e8ec"
set yrange [0:*]
set key outside right top Left reverse samplen 2 spacing 1.3
set lmargin 9

if (picture eq "build") {
	set title "To build a filter of n keys"
	set xlabel "distinct keys n"
	set ylabel "ns a row"
}
if (picture eq "probe") {
	set title "To test a row against n keys"
	set xlabel "keys n"
	set ylabel "ns a row"
}
if (picture eq "dedup") {
	set title "One row of each key, of n rows"
	set xlabel "rows n"
	set ylabel "seconds for 10^6 rows"
}
if (picture eq "memory") {
	set title "Memory for one row of each key, of n rows"
	set xlabel "rows n"
	set ylabel "MB"
}

array colours[8] = ["#3b7d4f", "#2f6db3", "#7fb58d", "#9a6b3f", "#7a8594", "#b0b8c1", "#54606c", "#c9a14a"]
plot for [i = 0:n - 1] data index i using 1:2 with linespoints \
	lw (i < 2 ? 3 : 1.5) pt 7 ps 0.6 lc rgb colours[i + 1] title columnheader(1)
