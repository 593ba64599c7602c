#!/usr/bin/env bash
# What `dbtime trace --record` keeps up with: point selects of dbtime's own driver on a private MariaDB
# flat out and at 10,000 a second, every request recorded with its text. Tells of requests a second,
# of those that were dropped, of the CPU and memory of the tracer while the load runs, of what a
# request takes of dbtime by its own word, and of how long it takes until it watches, for single
# requests and for sums, while connections are at work.
#
# Usage: bench/trace-rate.sh [path of dbtime]   as root
# Variables: LENGTH (6 seconds each), CONNECTIONS (8), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
# shellcheck source=bench/tracer.bash
. bench/tracer.bash
length=${LENGTH:-6}

# What a request takes of dbtime itself, by its own word.
in_dbtime() {
    sed -n 's/^cost .*, \([0-9.]* [^ ]*s\) in dbtime.*/\1/p' "$folder/trace" |
        awk '{ print $2 == "ns" ? $1 / 1000 : $1 }'
}

recorded() {
    local case=$1 tracer helper watchers ticks
    shift
    rm -f "$folder/it.trace"
    begin_tracer --raw-sql --record "$folder/it.trace"
    ticks=$(tracer_ticks)
    on_client_cpu "$dbtime" run point-select --target "mysql://root@/bench?socket=$socket" \
        --connections "${CONNECTIONS:-8}" --warmup 0s --time "${length}s" --no-budget --no-record \
        --json "$@"
    measure "$case" record 'requests a second' "$(field throughput_tps)"
    measure "$case" record 'peak memory, MB' "$(tracer_peak)"
    measure "$case" record 'CPU of one, %' "$(tracer_cpu "$ticks" "$length")"
    end_tracer
    measure "$case" record 'in dbtime, as it tells, µs' "$(in_dbtime)"
    measure "$case" record 'dropped' "$(tracer_dropped "$folder/trace")"
}

# Until it says that it watches, under load.
attached() {
    local case=$1 load begin
    shift
    "$dbtime" run point-select --target "mysql://root@/bench?socket=$socket" --rate 1000/s \
        --connections "${CONNECTIONS:-8}" --warmup 0s --time 3s --no-budget --no-record \
        >/dev/null 2>&1 &
    load=$!
    sleep 1
    begin=$(date +%s%N)
    # Its first line says so.
    read -r < <("$dbtime" trace -p "$server" --time 500ms "$@" 2>&1 >/dev/null)
    measure "$case" attach ms $((($(date +%s%N) - begin) / 1000000))
    wait "$load"
}

side_attach() { attached "$case" "${more[@]}"; }

side_record() { recorded "$case" "${more[@]}"; }

start_mariadb
mariadb_execute 'CREATE DATABASE bench'
"$dbtime" init point-select --target "mysql://root@/bench?socket=$socket" --scale 1
case='flat out' more=()
alternate record
limit "$case" dropped record '<=' 0
case='10,000 a second' more=(--rate 10000/s)
alternate record
limit "$case" dropped record '<=' 0
limit "$case" 'CPU of one, %' record '<=' 10
limit "$case" 'peak memory, MB' record '<=' 64
case='attach for requests' more=()
alternate attach
limit "$case" ms attach '<=' 500
case='attach for sums' more=(--summary)
alternate attach
limit "$case" ms attach '<=' 500
verdict
