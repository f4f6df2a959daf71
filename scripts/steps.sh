# scripts/steps.sh
#
#     Tests in steps, counted: for scripts/test and scripts/sanitize; sourced
#     after lib.sh, never run.
#
# Whatever ends the script, its last line says "N passed, N failed".  The logs
# of steps that failed are kept in a folder that is named before.

# shellcheck shell=bash

passed=0
failed=0
reached_end=no
table=()                # one line per step, for the end
skipped=()              # what was not tested, and why
kept=''                 # folder of the logs of what failed
exec 8>&1               # where the script prints, also while a step is running

# step TEXT LOG COUNTER COMMAND...: run the command and add its tests to the totals.
# A step that fails, or that runs nothing, has at least one failure.
step() {
    local text=$1 log=$work/log/$2 counter=$3 status=0 began=$SECONDS ran broke
    shift 3
    start_ticker "$text" "$log"
    run "$@" >"$log" 2>&1 || status=$?
    stop_ticker
    read -r ran broke < <("$counter" "$log" "$status")
    if [ "$broke" -eq 0 ] && [ $((status == 0 && ran > 0)) -eq 0 ]; then
        broke=1
    fi
    passed=$((passed + ran))
    failed=$((failed + broke))
    if [ "$broke" -eq 0 ]; then
        table+=("$(printf 'ok    %-26s %5d passed             %5d s' \
            "$text" "$ran" $((SECONDS - began)))")
        say "${table[-1]}"
    else
        table+=("$(printf 'FAIL  %-26s %5d passed, %3d failed %5d s' \
            "$text" "$ran" "$broke" $((SECONDS - began)))")
        say "${table[-1]}"
        show_failure "$log"
        keep_logs "$log"
    fi
    [ "$counter" != count_tap ] || skip_of_tap "$text" "$log"
}

# skip WHAT REASON: it is not tested here; the end of the output says so again.
skip() {
    skipped+=("$1: $2")
    say "skip  $1: $2"
}

# skip_of_tap TEXT LOG: the tests that a step has skipped, by their reasons; prove says in which file.
skip_of_tap() {
    local what reason
    while IFS=$'\t' read -r what reason; do
        skip "$what" "$reason"
    done < <(awk -v text="$1" '
        /^(\[[0-9:]+\] )?[^ ]+\.pl \.+/ { text = $0; gsub(/^.*\/|\.pl .*$/, "", text) }
        /^(ok [0-9]+|1\.\.0) .*# *(SKIP|skip) / {
            sub(/^.*# *(SKIP|skip) +/, "")
            if (!seen[text, $0]++) print text "\t" $0
        }' "$2")
}

# keep_logs LOG...: copy them, and those of servers, to where they outlive the workshop.
keep_logs() {
    local file
    [ -n "$kept" ] || kept=$(mktemp -d "${TMPDIR:-/tmp}/bloomtype-failed.XXXXXX")
    for file in "$@" "$work/log/server" "$work/src/tmp_check/log"; do
        [ ! -e "$file" ] || cp -r "$file" "$kept"
    done
}

# show_failure LOG: which tests failed and what they said, what was printed last, and what differs from
# the expected output.
show_failure() {
    local diffs
    # read to the end: what wrote to a pipe that is closed would end the script
    failed_of "$1" | sed -n '1,300s/^/    | /p'
    tail -n 100 "$1" | sed 's/^/    | /'
    for diffs in "$work"/src/{,set/,scan/}{,output_iso/}regression.diffs; do
        [ -s "$diffs" ] || continue
        head -n 1000 "$diffs" | sed 's/^/    | /'
        cat "$diffs" >>"$1"
        rm "$diffs"
    done
    grep -hE 'PANIC|TRAP|terminated by signal' "$work/log/server" \
        "$work"/src/tmp_check/log/*.log 2>/dev/null | sed 's/^/    | /' || true
}

# failed_of LOG: the TAP tests that failed, each below its file; then what they said, which prove prints
# when it comes.
failed_of() {
    awk '/^(\[[0-9:]+\] )?[^ ]+\.pl \.\.+/ { file = $0 }
         /^not ok / && !/# *(SKIP|skip|TODO)/ { if (file != "") print file; file = ""; print }' "$1"
    sed -n '/^Test Summary Report/,$p' "$1"
    awk '/^# +Failed test/ { lines = 12 }
         /^#/ && lines-- > 0' "$1"
}

# count_status LOG STATUS: the step is one test, its exit status the result.
count_status() {
    if [ "$2" -eq 0 ]; then echo 1 0; else echo 0 1; fi
}

# count_tap LOG: lines of the Test Anything Protocol; skipped and to-do tests count as nothing.
count_tap() {
    awk '/^(not )?ok / && /# *(SKIP|skip|TODO)/ { next }
         /^ok /     { passed++ }
         /^not ok / { failed++ }
         END        { print passed + 0, failed + 0 }' "$1"
}

# count_regress LOG: the lines of pg_regress, which up to PostgreSQL 15 are not TAP.
count_regress() {
    awk '/^ok / || / \.\.\. ok /                 { passed++ }
         /^not ok / || / \.\.\. (FAILED|failed)/ { failed++ }
         END { print passed + 0, failed + 0 }' "$1"
}

# all_ran LOG DIR... SUFFIX: a test file that the log does not name is a failure: it would rot.
# The log names it alone or, since the name of a TAP test is a common word, with its folder.
all_ran() {
    local log=$1 suffix=${*: -1} dir file name
    for dir in "${@:2:$#-2}"; do
        for file in "$work/src/$dir"/*"$suffix"; do
            name=$(basename "$file" "$suffix")
            [ "$suffix" != .pl ] || name=$dir/$name
            if [ -e "$file" ] && ! grep -qwF -- "$name" "$work/log/$log"; then
                say "FAIL  $dir/$(basename "$file") was not run"
                failed=$((failed + 1))
            fi
        done
    done
}

# verdict: the last lines, and the exit status.
verdict() {
    say
    say "$(printf '%s\n' "${table[@]}")"
    say
    if [ "${#skipped[@]}" -gt 0 ]; then
        say "Not tested here:"
        printf '      %s\n' "${skipped[@]}"
        say
    fi
    reached_end=yes
    if [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]; then
        say "All tests passed, in $SECONDS seconds."
    else
        say "NOT all tests passed."
        [ -z "$kept" ] || say "The logs of what failed are in $kept"
    fi
    say "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# at_exit: clean up; whatever kept us from the verdict counts as a failure.
at_exit() {
    exec >&8                # a step that was interrupted had its log here
    if [ "$reached_end" = no ] && [ -d "$work/log" ]; then
        keep_logs "$work"/log/*
    fi
    cleanup
    if [ "$reached_end" = no ]; then
        say
        say "The tests did not run to the end."
        [ -z "$kept" ] || say "The logs are in $kept"
        say "$passed passed, $((failed + 1)) failed"
    fi
}

trap at_exit EXIT
