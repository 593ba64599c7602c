#!/usr/bin/env bash
# What joining a run with its trace takes.
#
#   traced run    peak memory of `dbtime run --trace` and all that it starts but the server, at 20,000
#                 statements a second, and whether each was matched; wanted: 150 MB
#   join          time and peak memory of `dbtime join` of a million statements with a recording, and
#                 of `dbtime report` alone on the same run, which says what of that the million takes;
#                 wanted: 2 s, 500 MB
#
# Point selects, prepared, on a private MariaDB; the run that is joined is flat out.
#
# Usage: bench/trace-join.sh [path of dbtime]   as root
# Variables: RATE (20000), LENGTH (10 seconds of each traced run), STATEMENTS (1000000), CONNECTIONS
# (8), PAIRS (3), and those of servers.bash
set -euo pipefail
PAIRS=${PAIRS:-3}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
# shellcheck source=bench/tracer.bash
. bench/tracer.bash
target() { echo "mysql://root@/bench?socket=$socket"; }
drive=(point-select --connections "${CONNECTIONS:-8}" --warmup 1s --quiet)

# The most memory that a process and its descendants have had while it ran, in MB.
peak_of() {
    local process=$1 now peak=0
    while [ -d "/proc/$process" ]; do
        watchers=$(descendants "$process" 2>/dev/null) || true
        now=$(tracer_peak 2>/dev/null) || true
        peak=$(awk -v a="$peak" -v b="${now:-0}" 'BEGIN { print (a > b ? a : b) }')
        sleep 0.2
    done
    echo "$peak"
}

side_traced() {
    local run peak
    rm -rf "$folder/traced"
    "$dbtime" run "${drive[@]}" --target "$(target)" --rate "${RATE:-20000}/s" \
        --time "${LENGTH:-10}s" --trace --out "$folder/traced" >"$folder/traced.txt" 2>&1 &
    run=$!
    peak=$(peak_of "$run")
    wait "$run" || [ -f "$folder/traced/run.json" ] || fail "$(tail -n 3 "$folder/traced.txt")"
    cp "$folder/traced/run.json" "$folder/out"
    measure "$case" traced 'statements a second' "$(field throughput_tps)"
    measure "$case" traced 'peak memory, MB' "$peak"
    measure "$case" traced 'matched, %' "$(matched)"
}

# How many statements were joined, or could not be.
joined() {
    awk -v a="$(field trace.join.matched)" -v b="$(field trace.join.unmatched)" \
        -v c="$(field trace.join.ambiguous)" 'BEGIN { print a + b + c }'
}

# Those that were matched, in percent, rounded down.
matched() {
    awk -v matched="$(field trace.join.matched)" -v all="$(joined)" \
        'BEGIN { printf "%.2f", int(10000 * matched / all) / 100 }'
}

# Runs a command; sets `seconds` and `megabytes`.
timed() {
    /usr/bin/time -f '%e %M' -o "$folder/time" "$@" >"$folder/out" 2>"$folder/err" ||
        [ -s "$folder/out" ] || fail "$*: $(tail -n 3 "$folder/err")"
    read -r seconds megabytes < <(tail -n 1 "$folder/time")
    megabytes=$((megabytes / 1024))
}

side_report() {
    timed "$dbtime" report "$folder/driven"
    measure "$case" report 's' "$seconds"
    measure "$case" report 'peak memory, MB' "$megabytes"
}

side_join() {
    timed "$dbtime" join "$folder/driven" "$folder/it.trace" --force --json
    measure "$case" join 's' "$seconds"
    measure "$case" join 'peak memory, MB' "$megabytes"
    measure "$case" join 'statements' "$(joined)"
    measure "$case" join 'matched, %' "$(matched)"
}

start_mariadb
mariadb_execute 'CREATE DATABASE bench'
"$dbtime" init point-select --target "$(target)" --scale 1
case='traced run' more=()
alternate traced
limit "$case" 'peak memory, MB' traced '<=' 150
limit "$case" 'matched, %' traced '>=' 99.9
case='a million'
begin_tracer --record "$folder/it.trace"
"$dbtime" run "${drive[@]}" --target "$(target)" --transactions "${STATEMENTS:-1000000}" --statements \
    --out "$folder/driven" >"$folder/driven.txt" 2>&1 || [ -f "$folder/driven/run.json" ] ||
    fail "$(tail -n 3 "$folder/driven.txt")"
end_tracer
alternate report join
limit "$case" s join '<=' 2
limit "$case" 'peak memory, MB' join '<=' 500
limit "$case" 'matched, %' join '>=' 99.9
verdict
