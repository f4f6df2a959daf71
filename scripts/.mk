#!/bin/bash
#
# scripts/pg-matrix [MAJOR...]
#     Run scripts/test on PostgreSQL versions that this machine does not have.
#
# For each version, a minimal Debian that comes with it is made once, below
# $BLOOMTYPE_MATRIX_DIR (/var/tmp/bloomtype-matrix; 1 to 2 GB each), and kept;
# remove that directory to begin anew.  The tests run inside it, in namespaces
# of their own: whatever happens, no mount and no process stays behind.  Needs
# root and debootstrap.  Packages come from where this machine's apt has its own.
#
# Without arguments: all versions below that are not installed here.  Prints a
# table; the exit status is 0 only if all tests passed on all versions.

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/debian-root.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian-root.sh"

matrix=$(realpath -m "${BLOOMTYPE_MATRIX_DIR:-/var/tmp/bloomtype-matrix}")
known=(13 15 17 18 19)     # 14 and 16 were in no Debian release
table=()                # one line per version
failures=()             # the versions that did not pass

main() {
    local majors=("$@") major
    for major in "${majors[@]}"; do
        [ -n "$(releases_with "$major")" ] ||
            die "No Debian release has PostgreSQL $major; choose from: ${known[*]}"
    done
    [ "${#majors[@]}" -gt 0 ] || mapfile -t majors < <(absent_majors)
    [ "${#majors[@]}" -gt 0 ] || die "All versions are installed here: use scripts/test."
    [ "$(id -u)" -eq 0 ] || die "Only root can make and enter a Debian root."

    wait_for_turn
    for major in "${majors[@]}"; do
        test_major "$major"
    done
    print_table
    verdict
}

# releases_with MAJOR: the Debian releases that have this PostgreSQL, to be tried in this order.
releases_with() {
    case $1 in
        13) echo bullseye ;;
        15) echo bookworm ;;
        17) echo trixie ;;
        18) echo forky sid ;;
        19) echo sid+experimental ;;
    esac
}

# absent_majors: the known versions that this machine does not have.
absent_majors() {
    local major
    for major in "${known[@]}"; do
        debian_majors postgres | grep -qx "$major" || echo "$major"
    done
}

# wait_for_turn: be the only one who works in $matrix, until we end.
wait_for_turn() {
    mkdir -p "$matrix"
    exec 9>"$matrix/lock"
    flock --nonblock 9 || {
        say "Waiting until another pg-matrix has ended"
        flock 9
    }
}


#
# Making a root
#

# ensure_root MAJOR: have $matrix/MAJOR, or make it of the first release that gives it.
ensure_root() {
    local release
    [ ! -d "$matrix/$1" ] || return 0
    for release in $(releases_with "$1"); do
        say "Making a Debian $release with PostgreSQL $1 (some minutes, once)"
        rm -rf --one-file-system "$matrix/$1.new"
        if make_root "$1" "$release" >"$matrix/$1.log" 2>&1 </dev/null; then
            mv "$matrix/$1.new" "$matrix/$1"
            return
        fi
        tail -n 5 "$matrix/$1.log" | sed 's/^/    | /'
    done
    return 1
}

# make_root MAJOR RELEASE: make $matrix/MAJOR.new.
make_root() {
    make_debian_root "$2" "$matrix/$1.new" \
        "postgresql-$1" "postgresql-server-dev-$1" gcc libc6-dev make \
        gzip libxxhash-dev binutils perl libipc-run-perl
}


#
# Testing in it
#

# test_major MAJOR: run the tests and add a line to the table.
test_major() {
    local root=$matrix/$1 log=$matrix/$1.log status=0
    if ! ensure_root "$1"; then
        add_line "$1" "no root: see $log"
        failures+=("$1")
        return
    fi
    say "Testing with PostgreSQL $1"
    run_tests "$1" "$root" >"$log" 2>&1 || status=$?
    summarize "$1" "$log"
    if [ "$status" -ne 0 ]; then
        failures+=("$1")
        grep -v '^ok ' "$log" | tail -n 100 | sed 's/^/    | /'
    fi
}

# run_tests MAJOR ROOT: copy the checkout there and run its scripts/test.
run_tests() {
    local status=0
    work=$(mktemp -d "$2/tmp/matrix.XXXXXX") || return
    chmod 755 "$work" && mkdir "$work/src" && copy_checkout || return
    enter "$2" PG_CONFIG="/usr/lib/postgresql/$1/bin/pg_config" \
        TMPDIR="/tmp/${work##*/}" \
        bash "/tmp/${work##*/}/src/scripts/test" || status=$?
    rm -rf "$work"
    work=''
    return "$status"
}

# summarize MAJOR LOG: read what scripts/test printed into a line of the table.
summarize() {
    local server
    server=$(sed -n 's/^bloomtype on PostgreSQL \([^ ,]*\).*/\1/p' "$2")
    add_line "$1" "${server:-?}" "$(compile_result "$2")" \
        "$(result_of 'regression tests' "$2")" \
        "$(result_of 'TAP tests' "$2")" \
        "$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1\/\2/p' "$2")"
}

# compile_result LOG: did it compile, and without a warning?  Nothing if it was not tried.
compile_result() {
    if grep -q '^Failed: build' "$1"; then
        echo FAILED
    elif grep -q '^FAIL  *no warnings' "$1"; then
        echo warnings
    elif grep -q '^ok  *no warnings' "$1"; then
        echo ok
    fi
}

# result_of STEP LOG: "passed/failed" of a step of scripts/test, nothing if it was not reached.
result_of() {
    sed -nE "s/^(ok|FAIL) +$1 +([0-9]+) passed(, +([0-9]+) failed)?( .*)?\$/\\2\\/\\4/p" "$2" |
        tail -n 1 | sed 's/\/$/\/0/'
}

# add_line FIELD...: one line for the table.
add_line() {
    table+=("$(printf '%-6s %-9s %-9s %-9s %-9s %s' "$1" "$2" \
        "${3:--}" "${4:--}" "${5:--}" "${6:--}")")
}

# print_table: what was found; numbers are passed/failed.
print_table() {
    say
    printf '%-6s %-9s %-9s %-9s %-9s %s\n' major server compile regress TAP all
    printf '%s\n' "${table[@]}"
}

# verdict: the last line, and the exit status.
verdict() {
    say
    if [ "${#failures[@]}" -eq 0 ]; then
        say "All tests passed on all of these versions."
    else
        say "NOT all tests passed: PostgreSQL ${failures[*]}"
    fi
    [ "${#failures[@]}" -eq 0 ]
}

wait_for_turn; for m in "$@"; do ensure_root $m; done
