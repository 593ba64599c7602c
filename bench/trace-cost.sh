#!/usr/bin/env bash
# What watching costs: CPU of the whole machine per statement that `dbtime trace` adds while it writes
# a line for every request to a file, and what the slow log with long_query_time=0 adds; point selects
# of dbtime's own driver on a private MariaDB, over a Unix socket, at half of the rate it carries and
# flat out. Each measurement is a pair, with and without, one behind the other; every other pair
# begins with the other one.
#
# The CPU is that of all processes and the kernel (/proc/stat), by the server's own count of
# statements.
#
# Usage: bench/trace-cost.sh [path of dbtime]   as root
# Variables: LENGTH (5 seconds each), CONNECTIONS (8), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
length=${LENGTH:-5}
connections=${CONNECTIONS:-8}
turn=0

load() {
    on_client_cpu "$dbtime" run point-select --target "mysql://root@/bench?socket=$socket" \
        --connections "$connections" --warmup 0s --time "${length}s" --no-budget --no-record --json "$@"
}

status() {
    mariadb_execute "SHOW GLOBAL STATUS LIKE '$1'" | awk 'END { print $2 }'
}

busy() {
    awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat
}

# Sets `cost` (µs of CPU a statement), `rate` and `response` (p50, µs) of a load.
once() {
    local begun statements ended
    begun=$(busy)
    statements=$(status Questions)
    load "${more[@]}"
    ended=$(busy)
    statements=$(($(status Questions) - statements))
    cost=$(awk -v ticks=$((ended - begun)) -v hz="$(getconf CLK_TCK)" -v n="$statements" \
        'BEGIN { printf "%.3f", 1e6 * ticks / hz / n }')
    rate=$(field throughput_tps)
    response=$(field latency_us.response.p50)
}

watched() {
    "begin_$1"
    once
    "end_$1"
    with=("$cost" "$rate" "$response")
}

bare() {
    once
    without=("$cost" "$rate" "$response")
}

pair() {
    turn=$((turn + 1))
    if ((turn % 2)); then
        bare
        watched "$1"
    else
        watched "$1"
        bare
    fi
    difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a - b }'; }
    ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }
    measure "$case" "$1" 'CPU without, µs' "${without[0]}"
    measure "$case" "$1" 'CPU added, µs' "$(difference "${with[0]}" "${without[0]}")"
    measure "$case" "$1" 'throughput, of that without' "$(ratio "${with[1]}" "${without[1]}")"
    measure "$case" "$1" 'response p50 added, µs' "$(difference "${with[2]}" "${without[2]}")"
}

begin_stream() {
    "$dbtime" trace -p "$server" --raw-sql >"$folder/trace" 2>"$folder/trace.err" &
    tracer=$!
    until grep -q watching "$folder/trace.err"; do
        kill -0 "$tracer" || fail "the tracer: $(cat "$folder/trace.err")"
        sleep 0.02
    done
}

end_stream() {
    kill -INT "$tracer"
    wait "$tracer" || true
    measure "$case" stream 'dropped' \
        "$(sed -n 's/^stream .* \([0-9,]*\) dropped$/\1/p' "$folder/trace" | tr -d ,)"
    rm "$folder/trace"
}

begin_slowlog() {
    mariadb_execute "SET GLOBAL slow_query_log_file='$folder/slow.log'; SET GLOBAL long_query_time=0; \
        SET GLOBAL slow_query_log=1"
}

end_slowlog() {
    mariadb_execute 'SET GLOBAL slow_query_log=0'
    rm -f "$folder/slow.log"
}

side_stream() { pair stream; }
side_slowlog() { pair slowlog; }

start_mariadb
mariadb_execute 'CREATE DATABASE bench'
"$dbtime" init point-select --target "mysql://root@/bench?socket=$socket" --scale 1
more=()
once
half=$(awk -v rate="$rate" 'BEGIN { printf "%.0f", rate / 2 }')
case="flat out, $connections connections"
alternate stream slowlog
limit "$case" 'CPU added, µs' stream '<=' 6
case="$half a second, half of that" more=(--rate "$half/s")
alternate stream slowlog
limit "$case" 'CPU added, µs' stream '<=' 6
verdict
