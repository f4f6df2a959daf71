# bench/curves.gp: a picture of bench/draw; dir, picture and n are given.
#
# dir/points has n blocks, each a line's name, and then x, y and the bounds of a
# band.  dir/foot says what was measured, and how, dir/time which time.  The
# picture is dir/svg, and its title dir/title.
#
# A picture is for a telephone first: 420 units wide, so that letters of 12 have 9
# pixels where 320 show all of it, which test/tap/pictures.pl computes.  So panels
# stand below each other, and the names of lines at their ends, in two lines where
# they are long; where there is no room for that, below.
#
# The background is transparent.  Every colour has a contrast of at least 3 to white
# and to black, which that test checks: a page may have either.  Ours are
# green, blue and teal, and thick; the floor, the last line, is grey and dashed.

data = dir . "/points"
text = "#747980"
grid = "#c0808890"
green = "#2a9150"
blue = "#3b82d0"
brown = "#b5722c"
gold = "#b08a1e"
purple = "#8b6cc9"
teal = "#1d8c96"
grey = "#808890"

# What a picture says: above (two lines) and over its axes; and the lines whose names
# stand below it, with their inks.
ours = 2
has_floor = 1
panels = 1
panel_height = 215
unit = ""
lines = 0
array rival_inks[3] = [brown, gold, purple]
array our_inks[3] = [green, blue, teal]
array title_text[2] = ["", ""]
array note[3] = ["", "", ""]
if (picture eq "build") {
	title_text[1] = "Time to build a filter of n keys"
	below = "distinct keys n (bigint)"
	unit = "ns per row"
}
if (picture eq "probe") {
	title_text[1] = "Time to test a row against n keys"
	below = "keys n (bigint)"
	unit = "ns per row"
}
if (picture eq "dedup") {
	title_text[1] = "Time to keep one row of each key"
	title_text[2] = "work_mem 4 MB"
	ours = 3
	panel_height = 250
	below = "rows n (two bigint), one in twenty a repeat"
	unit = "elapsed s per million rows"
}
if (picture eq "prefilter") {
	title_text[1] = "Time of a semi-join of 10M rows with 1M keys"
	title_text[2] = "work_mem 4 MB"
	ours = 1
	has_floor = 0
	below = "rows that match"
	unit = "ns per row"
}
if (picture eq "memory") {
	title_text[1] = "Memory to keep one row of each key"
	title_text[2] = "nothing spilled"
	has_floor = 0
	below = "rows n (two bigint), one in twenty a repeat"
	unit = "memory"
	# GROUP BY has the ink of the picture before
	rival_inks[2] = purple
	rival_inks[3] = gold
}
if (picture eq "sets") {
	title_text[1] = "Adding random uuids in arrays of 10,000"
	title_text[2] = "a set, and INSERT … ON CONFLICT"
	note[1] = system("cat " . dir . "/time")
	below = "keys that are there"
	panels = 2
	panel_height = 140
	array texts[2] = ["set", "table with a\nunique index"]
	array inks[2] = [green, brown]
}
if (picture eq "unique") {
	title_text[1] = "Keys unique across 30 partitions"
	title_text[2] = system("cat " . dir . "/rows")
	note[1] = system("cat " . dir . "/time")
	below = ""
	panels = 2
	panel_height = 150
	lines = 0
	array texts[5] = ["index on the key, not unique", "bloom_unique_create", "unique index, no partitions", "trigger, a table of keys", "trigger that looks in all partitions"]
	array inks[5] = [grey, green, brown, gold, purple]
}
if (picture eq "rate") {
	title_text[1] = "How often a filter says yes"
	title_text[2] = "to a key that was never added"
	below = "distinct keys in the filter, divided by its capacity"
	unit = "false-positive rate"
	lines = 3
	array asked[3] = ["10 %", "1 %", "0.1 %"]
	array texts[3] = ["10 % requested", "1 % requested", "0.1 % requested"]
	array inks[3] = [green, blue, brown]
	note[1] = "points: measured; lines: the formula; dashes: requested"
}
if (picture eq "size") {
	title_text[1] = "What it takes to hold n keys"
	below = "keys n"
	unit = "size"
	lines = 5
	array names[5] = ["hash table, bigint", "unique index, bigint", "0.0001 %", "1 %", "room for 10^7, holds n"]
	array texts[5] = ["hash table, bigint", "unique index, bigint", "filter at 0.0001 %", "filter at 1 %", "filter for 10M keys at 1 %, with only n in it"]
	array inks[5] = [grey, brown, blue, green, gold]
}
if (picture eq "fill") {
	title_text[1] = "How full a filter is, and how well it counts its keys"
	title_text[2] = "10,000 keys at 1 %, 100 seeds"
	below = "distinct keys in the filter, divided by its capacity"
	panels = 2
	panel_height = 140
	lines = 0
	note[1] = "points: measured, the mean; bars: one standard deviation"
	note[2] = "lines: the formula, 1 - e^(-kn/m), and its deviation"
}

# The canvas, from above, in units: title, panels, names of lines, notes, foot.
title_lines = title_text[2] eq "" ? 1 : 2
notes = (note[1] ne "") + (note[2] ne "")
top = 12 + 17 * title_lines
below_panels = top + panels * (panel_height + 62) + 8
height = below_panels + 17 * (lines + notes) + 44
set terminal svg size 420, height fixed noenhanced font "sans-serif,12"
set output dir . "/svg"
set datafile separator "\t"
set encoding utf8
# of a place so far from above
down(y) = 1 - y / real(height)

set border 3 lc rgb grey
set tics textcolor rgb text
set xtics nomirror enhanced
set ytics nomirror
set grid ytics lt 1 lw 1 lc rgb grid
set logscale x
set format x "%.0s%c"
set yrange [0:*]
set autoscale xfix
unset key
# names at the ends of lines take the right third
named_at_ends = picture eq "build" || picture eq "probe" || picture eq "dedup" || picture eq "prefilter" || picture eq "memory"
right = named_at_ends ? 0.59 : picture eq "sets" ? 0.76 : 0.945
set lmargin at screen 0.155
set rmargin at screen right

do for [i = 1:title_lines] {
	set label 900 + i title_text[i] at screen 0.5, screen down(16 + 17 * (i - 1)) center font (i == 1 ? ",14" : ",12") textcolor rgb text
}
do for [i = 1:notes] {
	set label 910 + i note[i] at screen 0.03, screen down(below_panels + 17 * (lines + i - 1) + 8) left textcolor rgb text
}
foot = system("cat " . dir . "/foot")
colon = strstrt(foot, ": ")
set label 920 substr(foot, 1, colon) at screen 0.03, screen down(height - 28) left textcolor rgb text
set label 921 substr(foot, colon + 2, strlen(foot)) at screen 0.03, screen down(height - 11) left textcolor rgb text

# A panel, from 0; what the y axis is stands above it.
panel_top(i) = down(top + 22 + i * (panel_height + 62))
panel_bottom(i) = down(top + 22 + i * (panel_height + 62) + panel_height)
set tmargin at screen panel_top(0)
set bmargin at screen panel_bottom(0)
better = picture eq "rate" || picture eq "fill" ? "" : " (lower is better)"
set label 930 unit . better at graph 0, screen panel_top(0) left offset 0, 0.8 textcolor rgb text
set label 931 below at screen (0.155 + right) / 2, screen down(below_panels - 14) center textcolor rgb text

# last(i, column): of a block, what the last point has there; name(i): its first line.
last(i, column) = real(system(sprintf("awk 'BEGIN { RS = \"\\n\\n\\n\"; FS = \"\\n\" } NR == %d { n = NF; while ($n == \"\") n--; split($n, f, \"\\t\"); print f[%d] }' %s", i, column, data)))
two_lines(s) = strlen(s) <= 23 ? s : strstrt(s, "), ") ? s[1:strstrt(s, "), ")] . "\n" . s[strstrt(s, "), ") + 3:*] : strstrt(s, ", ") ? s[1:strstrt(s, ", ") - 1] . "\n" . s[strstrt(s, ", ") + 2:*] : s[1:strstrt(s, " before ") - 1] . "\n" . s[strstrt(s, " before ") + 1:*]
name(i) = system(sprintf("sed -n 's/^\"\\(.*\\)\"$/\\1/p' %s | sed -n '%dp'", data, i))

drawn = 0
scale = 1

if (picture eq "memory") {
	set logscale y
	set yrange [*:*]
	set format y "%.0s %cB"
	scale = 1048576
}
if (picture eq "prefilter") {
	unset logscale x
	set format x "%g %%"
}

if (picture eq "sets") {
	unset logscale x
	set format x "%gM"
	set xrange [0:*]
	do for [i = 1:2] {
		set label 800 + i texts[i] at graph 1.03, first last(i * 2 - 1, 2) left textcolor rgb inks[i]
	}
	set multiplot
	set label 930 "seconds per million keys" . better
	plot for [i = 1:2] data index "seconds, " . (i == 1 ? "set" : "index") every ::1 using 1:2 with linespoints \
		lw (i < 2 ? 3 : 2) pt 7 ps 0.5 lc rgb inks[i] notitle
	unset for [i = 801:921] label i
	do for [i = 1:2] {
		set label 800 + i texts[i] at graph 1.03, first last(i * 2, 2) left textcolor rgb inks[i]
	}
	unset label 931
	set tmargin at screen panel_top(1)
	set bmargin at screen panel_bottom(1)
	set label 930 "bytes per key" . better at graph 0, screen panel_top(1)
	plot for [i = 1:2] data index "bytes, " . (i == 1 ? "set" : "index") every ::1 using 1:2 with linespoints \
		lw (i < 2 ? 3 : 2) pt 7 ps 0.5 lc rgb inks[i] notitle
	unset multiplot
	drawn = 1
}

if (picture eq "unique") {
	unset logscale x
	set format x "%g"
	set xrange [0:*]
	set yrange [5.6:0.2]
	unset ytics
	# a line of the grid would cross a name
	unset grid
	length_of(panel, i) = real(system(sprintf("awk 'BEGIN { RS = \"\\n\\n\\n\" } NR == %d' %s | awk -F '\\t' '$1 == %d { print $2 }'", panel, data, i)))
	named(panel, i) = texts[i] . sprintf(length_of(panel, i) < 100 ? ": %.1f" : ": %.0f", length_of(panel, i))
	# what is far beyond the others is cut off: the bar has a gap
	cut = 40
	limit(t) = t > cut ? 36 : t
	set multiplot
	set label 930 "microseconds per row" . better
	set xrange [0:cut]
	do for [i = 1:5] {
		set label 800 + i named(1, i) at graph 0.01, first i - 0.33 left textcolor rgb inks[i]
		if (length_of(1, i) > cut) {
			set object i polygon from 36, i + 0.31 to 36.8, i + 0.03 to 36, i + 0.03 to 36, i + 0.31 fs solid noborder fc rgb inks[i]
			set object 10 + i polygon from 37, i + 0.31 to 37.8, i + 0.03 to cut, i + 0.03 to cut, i + 0.31 to 37, i + 0.31 fs solid noborder fc rgb inks[i]
		}
	}
	plot for [i = 1:5] data index "time" every ::i::i using (limit($2) / 2):($1 + 0.17):(limit($2) / 2):(0.14) with boxxyerror fs solid lc rgb inks[i] notitle
	unset object
	unset for [i = 901:921] label i
	unset label 931
	set tmargin at screen panel_top(1)
	set bmargin at screen panel_bottom(1)
	set label 930 "bytes per key, indexes and sets" . better at graph 0, screen panel_top(1)
	longest = 0
	do for [i = 1:5] { longest = length_of(2, i) > longest ? length_of(2, i) : longest }
	set xrange [0:1.05 * longest]
	do for [i = 1:5] {
		set label 800 + i named(2, i) at graph 0.01, first i - 0.33 left textcolor rgb inks[i]
	}
	plot for [i = 1:5] data index "bytes" every ::i::i using ($2 / 2):($1 + 0.17):($2 / 2):(0.14) with boxxyerror fs solid lc rgb inks[i] notitle
	unset multiplot
	drawn = 1
}

if (picture eq "rate") {
	unset logscale x
	array k[3]
	array ratio[3]
	do for [i = 1:3] {
		shape = asked[i] . ", bits a key and hashes"
		stats data index shape every ::1 using 1 nooutput
		ratio[i] = STATS_max
		stats data index shape every ::1 using 2 nooutput
		k[i] = STATS_max
	}
	set logscale y
	set xrange [0:3]
	set yrange [2e-4:100]
	set xtics 0.5 format "%g"
	set format y "%g %%"
	do for [i = 1:3] {
		rate = asked[i] + 0
		set arrow from 0, rate to 1, rate nohead dt (6, 4) lw 1.5 lc rgb inks[i]
		set label 800 + i texts[i] at screen 0.05, screen down(below_panels + 17 * (i - 1) + 8) left offset 1, -0.2 point pt 7 ps 0.7 lc rgb inks[i] textcolor rgb inks[i]
	}
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb grey lw 1
	set label 940 "at its capacity" at 1, graph 0.21 left offset 0.8 tc rgb text
	set samples 300
	plot for [i = 1:3] 100 * (1 - exp(-x * k[i] / ratio[i])) ** k[i] \
			lw 1.2 lc rgb inks[i] notitle, \
		for [i = 1:3] data index asked[i] using 1:(100 * $2) \
			with points pt 7 ps 0.6 lc rgb inks[i] notitle
	drawn = 1
}

if (picture eq "size") {
	set logscale xy
	set xrange [80:1.2e7]
	set yrange [80:2e9]
	set format y "%.0s %cB"
	do for [i = 1:lines] {
		set label 800 + i texts[i] at screen 0.05, screen down(below_panels + 17 * (i - 1) + 8) left offset 1, -0.2 point pt (i == 5 ? 6 : 7) ps 0.7 lc rgb inks[i] textcolor rgb inks[i]
	}
	plot for [i = 1:lines] data index names[i] using 1:2 with linespoints \
		lw (i > 2 ? 2.5 : 1.5) pt (i == 5 ? 6 : 7) ps 0.5 lc rgb inks[i] notitle
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
	set xrange [0:3.05]
	set xtics 0.5 format "%g"
	set samples 300
	set multiplot
	set label 930 "bits that are set"
	set format y "%g %%"
	set yrange [0:100]
	set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb grey lw 1
	set label 940 "at capacity" at 1, graph 0.12 left offset 0.8 tc rgb text
	plot 100 * (1 - exp(-c(x))) lw 1.2 lc rgb green notitle, \
		data index "fill" using 1:(100 * $2) with points pt 7 ps 0.6 lc rgb green notitle
	unset label 940
	unset for [i = 801:921] label i
	unset label 931
	unset arrow
	set tmargin at screen panel_top(1)
	set bmargin at screen panel_bottom(1)
	set label 930 "error of the estimated number of keys" at graph 0, screen panel_top(1)
	set format y "%+g %%"
	set yrange [-1:1]
	set ytics 0.5 add ("0 %%" 0)
	plot deviation(x) lw 1.2 lc rgb blue notitle, \
		-deviation(x) lw 1.2 lc rgb blue notitle, \
		data index "error" using 1:(100 * $3):(0):(100 * ($4 - $3)) \
			with vectors heads size graph 0.006, 90 lc rgb blue notitle, \
		data index "error" using 1:(100 * $2) with points pt 7 ps 0.6 lc rgb blue notitle
	unset multiplot
	drawn = 1
}

if (!drawn) {
	array ink[n]
	array end[n]
	do for [i = 1:n] {
		ink[i] = has_floor && i == n ? grey : i <= ours ? our_inks[i] : rival_inks[i - ours]
		# dashes also where one line lies on another
		dashes = i == n && n > 2 ? 2 : 1
		set style line i lw (i <= ours ? 3 : 2) pt 7 ps 0.5 lc rgb ink[i] dt dashes
		end[i] = last(i, 2) * scale
	}
	# a first plot, unseen, for the range of y; then the names at the ends of the lines,
	# from below, each as far above the one before as its lines of text need
	set output "/dev/null"
	plot for [i = 1:n] data index i - 1 every ::1 using 1:($2 * scale) with linespoints ls i notitle
	set output dir . "/svg"
	at(y) = panel_bottom(0) + (panel_top(0) - panel_bottom(0)) * (picture eq "memory" ? \
		(log10(y) - log10(GPVAL_Y_MIN)) / (log10(GPVAL_Y_MAX) - log10(GPVAL_Y_MIN)) : (y - GPVAL_Y_MIN) / (GPVAL_Y_MAX - GPVAL_Y_MIN))
	free = 0
	do for [row = 1:n] {
		do for [i = 1:n] {
			lower = 1
			do for [j = 1:n] {
				lower = lower + (end[j] < end[i] || (end[j] == end[i] && j < i))
			}
			if (lower == row) {
				broken = two_lines(name(i))
				half = (strstrt(broken, "\n") ? 20.0 : 10.0) / height
				middle = at(end[i]) > free + half ? at(end[i]) : free + half
				free = middle + half
				# the first line of two stands where the label is
				set label 800 + i broken at graph 1.06, screen middle + (half - 10.0 / height) * 0.9 left textcolor rgb ink[i]
				set arrow 800 + i from graph 1.01, screen at(end[i]) to graph 1.05, screen middle nohead lw 1 lc rgb ink[i]
			}
		}
	}
	plot for [i = 1:n] data index i - 1 every ::1 using 1:($2 * scale) with linespoints ls i notitle
}

set print dir . "/title"
print title_text[1] . (title_text[2] eq "" ? "" : ", " . title_text[2])
unset print
