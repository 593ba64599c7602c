#!/usr/bin/env bash
# How many statements a second `dbtime trace --summary` keeps apart whose texts come once each, on a
# private MariaDB, and what becomes of one that begins to come again and again when rows have long been
# replaced. Tells of new texts a second, of the calls that the row of that one lacks, of the calls that
# any row may lack by dbtime's own word, and of the CPU and memory of the tracer with its helper.
#
# Usage: bench/trace-shapes.sh [path of dbtime]   as root
# Variables: LENGTH (6 seconds each), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
# shellcheck source=bench/tracer.bash
. bench/tracer.bash
length=${LENGTH:-6}
heavy=500

side_summary() {
    local tracer helper watchers ticks
    begin_tracer --summary
    ticks=$(tracer_ticks)
    on_client_cpu python3 bench/shapes.py "$socket" "$rate" "$length" "$heavy"
    measure "$case" summary 'new texts a second' "$(cat "$folder/out")"
    measure "$case" summary 'peak memory, MB' "$(tracer_peak)"
    measure "$case" summary 'CPU of one, %' "$(tracer_cpu "$ticks" "$length")"
    end_tracer
    measure "$case" summary 'calls that it lacks' "$(awk -v calls="$heavy" \
        'found { gsub(",", "", $3); print calls - $3; exit } $0 == "  DO ?*?" { found = 1 }' \
        "$folder/trace")"
    measure "$case" summary 'calls that any may lack' "$(tr -s ' \n' ' ' <"$folder/trace" |
        sed -n 's/.*of any one statement \([0-9,]*\) calls*.*/\1/p' | tr -d ,)"
}

start_mariadb
for rate in 10000 20000 40000; do
    case="$rate a second"
    alternate summary
    limit "$case" 'peak memory, MB' summary '<=' 64
done
limit '10000 a second' 'calls that it lacks' summary '<=' 0
limit '20000 a second' 'calls that it lacks' summary '<=' 0
verdict
