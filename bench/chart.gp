# bench/chart.gp: the chart of bench/run; data, svg and n are given.
#
# Columns: number, ratio, limit, colour, text, ratio as text.

set terminal svg size 1600, 70 + 24 * n dynamic noenhanced font "sans-serif,12" background "white"
set output svg
set datafile separator "\t"
set encoding utf8

set logscale x
set format x "%g"
set yrange [n + 0.7 : 0.3]
set lmargin screen 0.66
set rmargin 8
set tmargin 1
set bmargin 3
set border 1 lc rgb "#7a8594"
set xtics nomirror
set ytics scale 0 noenhanced
set xlabel "ratio; less is better.  The mark is what was asked."
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "#30363d" lw 1.2 front
unset key

plot data using 2:1:(1):2:($1 - 0.3):($1 + 0.3):4:ytic(5) \
         with boxxyerror fs solid 1 noborder lc rgb variable, \
     data using 3:1:(0):(0.42) with vectors nohead lc rgb "#30363d" lw 2, \
     data using 3:1:(0):(-0.42) with vectors nohead lc rgb "#30363d" lw 2, \
     data using ($2 > 1 ? $2 : 1):1:6 with labels left offset 0.8, 0
