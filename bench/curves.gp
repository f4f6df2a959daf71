# bench/curves.gp: a picture of bench/run; data, svg, picture and n are given.
#
# n blocks, each a line's name, and then x, y and the bounds of a band.  Ours are
# green and blue, and thick; the rivals are brown and yellow, and the floor, the
# last line, is grey and dashed.  The title goes into title_file, too.

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
set autoscale xfix

drawn = 0
ours = 2
array our_inks[3] = ["#3b7d4f", "#2f6db3", "#7fb58d"]
array rival_inks[5] = ["#9a6b3f", "#c9a14a", "#5b4b9a", "#7a4a5e", "#54606c"]

if (picture eq "build") {
	title_text = "Time to build a filter of n keys (lower is better)"
	set title title_text
	set xlabel "distinct keys n"
	set ylabel "ns a row"
}
if (picture eq "probe") {
	title_text = "Time to test a row against n keys (lower is better)"
	set title title_text
	set xlabel "keys n"
	set ylabel "ns a row"
}
if (picture eq "dedup") {
	ours = 3
	title_text = "Time to keep one row of each key (lower is better)"
	set title title_text
	set xlabel "rows n, one in twenty a repeat"
	set ylabel "seconds for 10^6 rows"
}
if (picture eq "prefilter") {
	# the colour says whether there is a filter, the dashes how much memory
	our_inks[2] = our_inks[1]
	rival_inks[2] = rival_inks[1]
	title_text = "Semi-join: time per row, with and without a Bloom filter (lower is better)"
	set title title_text
	set xlabel "rows that match"
	set ylabel "ns a row"
	unset logscale x
	set format x "%g %%"
}
if (picture eq "memory") {
	title_text = "Memory to keep one row of each key (lower is better)"
	set title title_text
	set xlabel "rows n, one in twenty a repeat"
	set ylabel "MB"
	set lmargin 11
	set logscale y
	set yrange [*:*]
}

if (picture eq "sets") {
	title_text = "Keys added a second, by sessions (higher is better)"
	set title title_text
	set xlabel "sessions that add at the same time"
	set ylabel "keys a second"
	unset logscale x
	set xtics (1, 2, 4, 8)
	set logscale y
	set yrange [1000:*]
	set format y "%.0s%c"
}

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
	title_text = "How often a filter says yes to a key that was never added"
	set title title_text
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
	drawn = 1
}

if (picture eq "size") {
	array names[8] = ["10 %", "1 %", "0.1 %", "0.0001 %", "room for 10^7, holds n", "unique index, bigint", "unique index, uuid", "hash table, bigint"]
	array texts[8] = ["filter at 10 %", "filter at 1 %", "filter at 0.1 %", "filter at 0.0001 %", "", "unique index of bigint", "unique index of uuid", "hash table of bigint"]
	array inks[8] = ["#7fb58d", "#3b7d4f", "#2f6db3", "#5b4b9a", "#3b7d4f", "#9a6b3f", "#c98a3c", "#54606c"]
	array move[8] = [-0.3, -0.15, 0.15, 0.3, 0, -0.2, 0.2, 0]
	unset logscale x
	array last_x[8]
	array last_y[8]
	do for [i = 1:8] {
		stats data index names[i] every ::1 using 1 nooutput
		last_x[i] = STATS_max
		stats data index names[i] every ::1 using 2 nooutput
		last_y[i] = STATS_max
	}
	title_text = "What it takes to hold n keys"
	set title title_text
	set xlabel "keys n"
	set ylabel "size"
	set logscale xy
	set xrange [80:1.2e7]
	set yrange [80:2e9]
	set format y "%.0s %cB"
	set lmargin 10
	set rmargin 24
	unset key
	do for [i = 1:8] {
		set label texts[i] at last_x[i], last_y[i] left offset 1, move[i] tc rgb inks[i]
	}
	set label "a filter for 10M keys at 1 % that holds only n:\n8 bytes a key in keys form, then its full size" at graph 0.38, graph 0.12 left offset 1 point pt 6 ps 0.6 lc rgb inks[5] tc rgb inks[5]
	plot for [i = 1:8] data index names[i] using 1:2 with linespoints \
		lw (i < 5 ? 2.5 : 1.5) pt (i == 5 ? 6 : 7) ps 0.5 lc rgb inks[i] notitle
	drawn = 1
}

if (picture eq "fill") {
	unset logscale x
	stats data index "bits and hashes" every ::1 using 1 nooutput
	m = STATS_max
	stats data index "bits and hashes" every ::1 using 2 nooutput
	k = STATS_max
	c(x) = k * x * 10000 / m
	deviation(x) = 100 * sqrt(m * (exp(c(x)) - c(x) - 1)) / k / (x * 10000)
	set lmargin 11
	set rmargin 24
	unset key
	set xrange [0:3]
	set xtics 0.5 format "%g"
	set samples 300
	set multiplot layout 2, 1
	title_text = "How full a filter is, and how well it counts its keys (10^4 keys at 1 %, many seeds)"
	set title title_text
	set ylabel "bits that are set"
	set format y "%g %%"
	set yrange [0:100]
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "#7a8594" lw 1
	set label "at capacity" at 1, graph 0.07 left offset 0.8 tc rgb "#54606c"
	set label "points: measured, the mean\nline: 1 - e^(-kn/m)" at graph 1, graph 0.85 left offset 1 tc rgb "#54606c"
	plot 100 * (1 - exp(-c(x))) lw 1.2 lc rgb "#3b7d4f" notitle, \
		data index "fill" using 1:(100 * $2) with points pt 7 ps 0.7 lc rgb "#3b7d4f" notitle
	unset label
	unset title
	set xlabel "distinct keys in the filter, divided by its capacity"
	set ylabel "error of the estimate"
	set format y "%+g %%"
	set yrange [-0.5:0.5]
	set ytics 0.25
	set label "points: measured, the mean\nbars: one standard deviation\nlines: that of the formula" at graph 1, graph 0.85 left offset 1 tc rgb "#54606c"
	plot deviation(x) lw 1.2 lc rgb "#2f6db3" notitle, \
		-deviation(x) lw 1.2 lc rgb "#2f6db3" notitle, \
		data index "error" using 1:(100 * $2):(100 * $3):(100 * $4) \
			with yerrorbars pt 7 ps 0.7 lc rgb "#2f6db3" notitle
	unset multiplot
	drawn = 1
}

if (!drawn) {
	floor_line = (picture eq "memory" || picture eq "prefilter" || picture eq "sets") ? 0 : n
	do for [i = 1:n] {
		ink = i == floor_line ? "#7a8594" : i <= ours ? our_inks[i] : rival_inks[i - ours]
		width = i <= ours ? 3 : 1.5
		# also where one line lies on another
		dashes = i == floor_line || (picture eq "prefilter" && i % 2 == 0) || (picture eq "memory" && i == n) ? 2 : 1
		set style line i lw width pt 7 ps 0.6 lc rgb ink dt dashes
	}
	plot for [i = 1:n] data index i - 1 using 1:2 with linespoints ls i title columnheader(1)
}

set print title_file
print title_text
unset print
