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
length=${LENGTH:-6}

# Of the tracer and its helper together.
ticks() { cat "/proc/$1/stat" "/proc/$2/stat" | awk '{ sum += $14 + $15 } END { print sum }'; }
peak() {
    cat "/proc/$1/status" "/proc/$2/status" | awk '/^VmHWM/ { sum += $2 } END { printf "%.1f", sum / 1024 }'
}

# What a request takes of dbtime itself, by its own word.
in_dbtime() {
    sed -n 's/^cost .*, \([0-9.]* [nµ]s\) in dbtime.*/\1/p' "$folder/trace" |
        awk '{ print $2 == "ns" ? $1 / 1000 : $1 }'
}

recorded() {
    local case=$1 tracer helper ticks
    shift
    rm -f "$folder/it.trace" "$folder/trace.err"
    "$dbtime" trace -p "$server" --raw-sql --record "$folder/it.trace" >"$folder/trace" \
        2>"$folder/trace.err" &
    tracer=$!
    for _ in $(seq 500); do
        grep -qs watching "$folder/trace.err" && break
        sleep 0.02
    done
    helper=$(helper_of "$tracer")
    ticks=$(ticks "$tracer" "$helper")
    on_client_cpu "$dbtime" run point-select --target "mysql://root@/bench?socket=$socket" \
        --connections "${CONNECTIONS:-8}" --warmup 0s --time "${length}s" --no-budget --no-record \
        --json "$@"
    measure "$case" record 'requests a second' "$(field throughput_tps)"
    measure "$case" record 'peak memory, MB' "$(peak "$tracer" "$helper")"
    ticks=$(($(ticks "$tracer" "$helper") - ticks))
    measure "$case" record 'CPU of one, %' "$(awk -v ticks="$ticks" -v hz="$(getconf CLK_TCK)" \
        -v s="$length" 'BEGIN { printf "%.1f", 100 * ticks / hz / s }')"
    kill -INT "$tracer"
    wait "$tracer" || true
    measure "$case" record 'in dbtime, as it tells, µs' "$(in_dbtime)"
    measure "$case" record 'dropped' \
        "$(sed -n 's/^stream .* \([0-9,]*\) dropped$/\1/p' "$folder/trace" | tr -d ,)"
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
