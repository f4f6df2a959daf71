# bench/curves.gp: a picture of bench/draw; dir, picture and n are given.
#
# dir/points has n blocks, each a line's name, and then x, y and the bounds of a
# band.  dir/foot says what was measured, and how, dir/time which time.  The
# picture is dir/svg, and its title dir/title.
#
# The background is transparent.  Every colour has a contrast of at least 3 to white
# and to black, which test/tap/pictures.pl checks: a page may have either.  Ours are
# green and blue, and thick; the floor, the last line, is grey and dashed.

data = dir . "/points"
text = "#747980"
grid = "#c0808890"
green = "#2a9150"
blue = "#3b82d0"
brown = "#b5722c"
gold = "#b08a1e"
purple = "#8b6cc9"
plum = "#b0608a"
grey = "#808890"

set terminal svg size 820, 470 dynamic noenhanced font "sans-serif,13"
set output dir . "/svg"
set datafile separator "\t"
set encoding utf8

set border 3 lc rgb grey
set tics textcolor rgb text
set xtics nomirror enhanced
set ytics nomirror
set grid ytics lt 1 lw 1 lc rgb grid
set title textcolor rgb text
set xlabel textcolor rgb text
set ylabel textcolor rgb text
set logscale x
set format x "%.0s%c"
set yrange [0:*]
set lmargin 9
set bmargin 4.5
set autoscale xfix
unset key
set label 1000 system("cat " . dir . "/foot") at screen 0.012, 0.025 left font ",11" textcolor rgb text

# last(i, column): of a block, what the last point has there; name(i): its first line.
last(i, column) = real(system(sprintf("awk 'BEGIN { RS = \"\\n\\n\\n\"; FS = \"\\n\" } NR == %d { n = NF; while ($n == \"\") n--; split($n, f, \"\\t\"); print f[%d] }' %s", i, column, data)))
name(i) = system(sprintf("sed -n 's/^\"\\(.*\\)\"$/\\1/p' %s | sed -n '%d{s/, \\([^()]*\\)$/,\\n\\1/;p}'", data, i))

drawn = 0
ours = 2
has_floor = 1
array our_inks[2] = [green, blue]
array rival_inks[3] = [brown, gold, purple]

if (picture eq "build") {
	title_text = "Time to build a filter of n keys (lower is better)"
	set xlabel "distinct keys n (bigint)"
	set ylabel "ns per row"
}
if (picture eq "probe") {
	title_text = "Time to test a row against n keys (lower is better)"
	set xlabel "keys n (bigint)"
	set ylabel "ns per row"
}
if (picture eq "dedup") {
	title_text = "Time to keep one row of each key, work_mem 4 MB (lower is better)"
	set xlabel "rows n (two bigint), one in twenty a repeat"
	set ylabel "seconds per million rows"
}
if (picture eq "prefilter") {
	title_text = "Semi-join of 10M rows with 1M keys, work_mem 4 MB (lower is better)"
	ours = 1
	has_floor = 0
	set xlabel "rows that match"
	set ylabel "ns per row"
	unset logscale x
	set format x "%g %%"
}
if (picture eq "memory") {
	title_text = "Memory to keep one row of each key, nothing spilled (lower is better)"
	has_floor = 0
	set xlabel "rows n (two bigint), one in twenty a repeat"
	set ylabel "MB"
	set lmargin 10
	set logscale y
	set yrange [*:*]
}

if (picture eq "sets") {
	array sides[2] = ["set", "index"]
	array texts[2] = ["set", "table with a\nunique index"]
	array inks[2] = [green, brown]
	array lows[2]
	do for [i = 1:2] {
		stats data index "bytes, " . sides[i] every ::1 using 2 nooutput
		lows[i] = STATS_min
	}
	title_text = "Adding random uuids in arrays of 10,000: a set, and INSERT … ON CONFLICT (lower is better)"
	unset logscale x
	set format x "%gM"
	set xlabel "keys that are there"
	set xrange [0:*]
	set tmargin 4
	set multiplot layout 1, 2
	set label 1 title_text at screen 0.5, 0.955 center textcolor rgb text
	set title system("cat " . dir . "/time")
	set ylabel "seconds" offset 1
	set rmargin 2
	plot for [i = 1:2] data index "seconds, " . sides[i] every ::1 using 1:2 with linespoints \
		lw (i < 2 ? 3 : 2) pt 7 ps 0.5 lc rgb inks[i] notitle
	unset label 1
	unset label 1000
	set title "space"
	set ylabel "bytes per key" offset 1
	do for [i = 1:2] {
		set label 10 + i texts[i] at graph 0.97, first lows[i] right offset 0, (i == 2 ? -1.2 : 2) textcolor rgb inks[i]
	}
	plot for [i = 1:2] data index "bytes, " . sides[i] every ::1 using 1:2 with linespoints \
		lw (i < 2 ? 3 : 2) pt 7 ps 0.5 lc rgb inks[i] notitle
	unset multiplot
	drawn = 1
}

if (picture eq "rate") {
	unset logscale x
	array asked[3] = ["10 %", "1 %", "0.1 %"]
	array inks[3] = [green, blue, brown]
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
	set xlabel "distinct keys in the filter, divided by its capacity"
	set ylabel "false-positive rate"
	set logscale y
	set xrange [0:3]
	set yrange [2e-4:100]
	set xtics 0.5 format "%g"
	set format y "%g %%"
	set lmargin 11
	set rmargin 14
	do for [i = 1:3] {
		rate = asked[i] + 0
		set arrow from 0, rate to 1, rate nohead dt (6, 4) lw 1.5 lc rgb inks[i]
		set label asked[i] . " requested" at 3, 100 * (1 - exp(-3.0 * k[i] / ratio[i])) ** k[i] left offset 0.8 tc rgb inks[i]
	}
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb grey lw 1
	set label "at its capacity" at 1, graph 0.04 left offset 0.8 tc rgb text
	set label "points: measured\nlines: the formula\ndashes: what was requested" at 1.7, graph 0.25 left tc rgb text
	set samples 300
	set title title_text
	plot for [i = 1:3] 100 * (1 - exp(-x * k[i] / ratio[i])) ** k[i] \
			lw 1.2 lc rgb inks[i] notitle, \
		for [i = 1:3] data index asked[i] using 1:(100 * $2) \
			with points pt 7 ps 0.7 lc rgb inks[i] notitle
	drawn = 1
}

if (picture eq "size") {
	array names[8] = ["10 %", "1 %", "0.1 %", "0.0001 %", "room for 10^7, holds n", "unique index, bigint", "unique index, uuid", "hash table, bigint"]
	array texts[8] = ["filter at 10 %", "filter at 1 %", "filter at 0.1 %", "filter at 0.0001 %", "", "unique index, bigint", "unique index, uuid", "hash table, bigint"]
	array inks[8] = [gold, green, blue, purple, green, brown, plum, grey]
	array move[8] = [-0.4, -0.2, 0.3, 0.4, 0, -0.2, 0.3, 0.5]
	array last_x[8]
	array last_y[8]
	do for [i = 1:8] {
		stats data index names[i] every ::1 using 1 nooutput
		last_x[i] = STATS_max
		stats data index names[i] every ::1 using 2 nooutput
		last_y[i] = STATS_max
	}
	title_text = "What it takes to hold n keys"
	set xlabel "keys n"
	set ylabel "size"
	set logscale xy
	set xrange [80:1.2e7]
	set yrange [80:2e9]
	set format y "%.0s %cB"
	set lmargin 10
	set rmargin 17
	do for [i = 1:8] {
		set label texts[i] at last_x[i], last_y[i] left offset 1, move[i] tc rgb inks[i]
	}
	set label "a filter for 10M keys at 1 % that holds only n:\n8 bytes per key in keys form, then its full size" at graph 0.38, graph 0.12 left offset 1 point pt 6 ps 0.6 lc rgb inks[5] tc rgb inks[5]
	set title title_text
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
	set lmargin 10
	set rmargin 3
	set xrange [0:3.05]
	set xtics 0.5 format "%g"
	set samples 300
	title_text = "How full a filter is, and how well it counts its keys (10^4 keys at 1 %, 100 seeds)"
	set multiplot layout 2, 1
	set title title_text
	set bmargin 2
	set ylabel "bits that are set"
	set format y "%g %%"
	set yrange [0:100]
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb grey lw 1
	set label 1 "at capacity" at 1, graph 0.07 left offset 0.8 tc rgb text
	set label 2 "points: measured, the mean\nline: 1 - e^(-kn/m)" at 1.9, graph 0.35 left tc rgb text
	plot 100 * (1 - exp(-c(x))) lw 1.2 lc rgb green notitle, \
		data index "fill" using 1:(100 * $2) with points pt 7 ps 0.7 lc rgb green notitle
	unset label 1
	unset label 1000
	unset arrow
	unset title
	set bmargin 4.5
	set xlabel "distinct keys in the filter, divided by its capacity"
	set ylabel "error of the estimate"
	set format y "%+g %%"
	set yrange [-1:1]
	set ytics 0.5
	set label 2 "points: measured, the mean; bars: one standard deviation; lines: that of the formula" at 0.1, graph 0.92 left tc rgb text
	plot deviation(x) lw 1.2 lc rgb blue notitle, \
		-deviation(x) lw 1.2 lc rgb blue notitle, \
		data index "error" using 1:(100 * $3):(0):(100 * ($4 - $3)) \
			with vectors heads size graph 0.006, 90 lc rgb blue notitle, \
		data index "error" using 1:(100 * $2) with points pt 7 ps 0.7 lc rgb blue notitle
	unset multiplot
	drawn = 1
}

if (!drawn) {
	set title title_text
	set rmargin 20
	array ink[n]
	do for [i = 1:n] {
		ink[i] = has_floor && i == n ? grey : i <= ours ? our_inks[i] : rival_inks[i - ours]
		# dashes also where one line lies on another
		dashes = i == n && n > 2 ? 2 : 1
		set style line i lw (i <= ours ? 3 : 2) pt 7 ps 0.5 lc rgb ink[i] dt dashes
	}
	# each line's name stands behind its last point, and no two on the same place:
	# for the range of y, the picture is drawn once for nobody
	set output "/dev/null"
	plot for [i = 1:n] data index i - 1 every ::1 using 1:2
	set output dir . "/svg"
	logarithmic = picture eq "memory"
	low = logarithmic ? log(GPVAL_Y_MIN) : GPVAL_Y_MIN
	high = logarithmic ? log(GPVAL_Y_MAX) : GPVAL_Y_MAX
	array height[n]
	array label[n]
	array lines[n]
	do for [i = 1:n] {
		label[i] = name(i)
		lines[i] = strstrt(label[i], "\n") ? 2 : 1
		y = last(i, 2)
		height[i] = ((logarithmic ? log(y) : y) - low) / (high - low) - i * 1e-6
	}
	do for [round = 1:100] {
		do for [i = 1:n] {
			bottom = 0.03 * lines[i] - 0.01
			height[i] = height[i] < bottom ? bottom : height[i]
			do for [j = 1:n] {
				gap = 0.03 * (lines[i] + lines[j])
				if (i != j && height[i] >= height[j] && height[i] - height[j] < gap) {
					push = (gap - height[i] + height[j]) / 2
					height[i] = height[i] + push
					height[j] = height[j] - push
				}
			}
		}
	}
	do for [i = 1:n] {
		set label i label[i] at graph 1.02, graph height[i] left offset 0, (lines[i] - 1) / 2.0 textcolor rgb ink[i]
	}
	plot for [i = 1:n] data index i - 1 every ::1 using 1:2 with linespoints ls i notitle
}

set print dir . "/title"
print title_text
unset print
