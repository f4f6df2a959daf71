# bench/curves.gp: a picture of bench/run; data, svg, picture and n are given.
#
# n blocks, each a line's name, and then x, y and the bounds of a band.  Ours are
# green and blue, and thick; the rivals are grey, and the floor is dashed.

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

if (picture eq "rate") {
	unset logscale x
	array asked[3] = ["10 %", "1 %", "0.1 %"]
	array inks[3] = ["#3b7d4f", "#2f6db3", "#9a6b3f"]
	array k[3]
	array ratio[3]
	do for [i = 1:3] {
		shape = asked[i] . ", bits a key and hashes"
		stats data index shape every ::1 using 1 nooutput
		ratio[i] = STATS_max
		stats data index shape every ::1 using 2 nooutput
		k[i] = STATS_max
	}
	set title "How often a filter says yes to a key that was never added"
	set xlabel "distinct keys in the filter, divided by its capacity"
	set ylabel "false-positive rate"
	set logscale y
	set xrange [0:3]
	set yrange [2e-4:100]
	set xtics 0.5 format "%g"
	set format y "%g %%"
	set lmargin 11
	set rmargin 20
	unset key
	do for [i = 1:3] {
		rate = asked[i] + 0
		set arrow from 0, rate to 1, rate nohead dt (6, 4) lw 1.5 lc rgb inks[i]
		set label asked[i] . " asked" at 1, rate left offset 0.8, -0.5 tc rgb inks[i]
		set label asked[i] . " asked" at 3, 100 * (1 - exp(-3.0 * k[i] / ratio[i])) ** k[i] left offset 1 tc rgb inks[i]
	}
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "#7a8594" lw 1
	set label "at its capacity" at 1, graph 0.04 left offset 0.8 tc rgb "#54606c"
	set label "points: measured\nlines: the formula\ndashes: what was asked" at graph 1, graph 0.15 left offset 1 tc rgb "#54606c"
	set samples 300
	plot for [i = 1:3] 100 * (1 - exp(-x * k[i] / ratio[i])) ** k[i] \
			lw 1.2 lc rgb inks[i] notitle, \
		for [i = 1:3] data index asked[i] using 1:(100 * $2) \
			with points pt 7 ps 0.7 lc rgb inks[i] notitle
} else {
	plot for [i = 0:n - 1] data index i using 1:2 with linespoints \
		lw (i < 2 ? 3 : 1.5) pt 7 ps 0.6 lc rgb colours[i + 1] title columnheader(1)
}
