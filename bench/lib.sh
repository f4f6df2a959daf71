# bench/lib.sh
#
#     What bench/dedup and bench/unique have in common: to ask a server, and to
#     measure what it takes; sourced after scripts/lib.sh.

# shellcheck shell=bash

# times_of SQL...: seconds of processor time and of elapsed time of the last statement, in one session.
times_of() {
    local args=() sql
    for sql in "$@"; do args+=(-c "$sql"); done
    run psql -XAtq -v ON_ERROR_STOP=1 -c "SET client_min_messages = log" \
        -c "SET log_statement_stats = on" "${args[@]}" 2>&1 >/dev/null |
        awk '/ s system, .* s elapsed/ { t = $2 + $5; e = $8 } END { printf "%.4f %.4f", t, e }'
}

# cpu SQL...: seconds of processor time that the last of these statements takes, in one session.
cpu() {
    local times
    times=$(times_of "$@")
    printf '%s' "${times% *}"
}

# check_parts "PART..." NAME...: leave with their names, if one is none of these.
check_parts() {
    local name
    for name in "${@:2}"; do
        [[ " $1 " == *" $name "* && $name != *' '* ]] || die "There is no part \"$name\". Choose from: $1"
    done
}

# loop N EACH SQL: a block that executes this N times, with i from 1, and commits after EACH.
loop() {
    echo "DO \$\$ BEGIN FOR i IN 1 .. $1 LOOP $3; IF i % $2 = 0 THEN COMMIT; END IF; END LOOP; END \$\$"
}

# bytes TABLE KEYS: bytes a key of all that it has on disk.
bytes() { ask "SELECT round(pg_total_relation_size('$1') / $2, 1)"; }

# ask SQL: its answer.
ask() { run psql -XAtq -v ON_ERROR_STOP=1 -c "SET client_min_messages = error" -c "$1"; }

# median "VALUES": of numbers.
median() {
    tr ' ' '\n' <<<"$1" | sed '/^$/d' | sort -g |
        awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# ratio A B: one by the other.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# line TEXT VALUE ASKED
line() { printf '  %-68s %10s  %s\n' "$1" "$2" "${3:-}"; }
