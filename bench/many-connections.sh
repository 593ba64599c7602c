#!/usr/bin/env bash
# What thousands of connections cost the driver.
#
# First a steady rate of point selects over 2,048 and over 16 connections to a private MariaDB with
# its thread pool, then to a private PostgreSQL: the rate that was kept, lag, client CPU. Then 10,000
# connections to the null server, at once and under Poisson arrivals: time to connect, memory, lag.
# Server and driver are on different CPUs.
#
# Usage: bench/many-connections.sh [path of dbtime]
# Variables: PAIRS (3 rounds), LENGTH (60 seconds each), MANY (2048), RATE (1000), NULL_CONNECTIONS
# (10000), NULL_RATE (20000), PARTS ("mariadb postgres null"), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
PAIRS=${PAIRS:-3}
length=${LENGTH:-60}
many=${MANY:-2048}
rate=${RATE:-1000}
null_connections=${NULL_CONNECTIONS:-10000}
null_rate=${NULL_RATE:-20000}
ulimit -n "$(ulimit -Hn)"

# What the last run was offered and kept, under the name of a side.
measure_run() {
    local side=$1 offered=$2
    measure "$case" "$side" 'rate off by, %' "$(awk -v found="$(field throughput_tps)" \
        -v wanted="$offered" \
        'BEGIN { off = 100 * (found / wanted - 1); printf "%.3f", off < 0 ? -off : off }')"
    measure "$case" "$side" 'lag p99, µs' "$(field latency_us.lag.p99)"
    measure "$case" "$side" 'response p99, µs' "$(field latency_us.response.p99)"
    measure "$case" "$side" 'client CPU, µs' "$(field client.cpu_us_per_tx)"
    measure "$case" "$side" 'connecting, s' "$(field connections.opening_s)"
    measure "$case" "$side" 'resident, MiB' \
        "$(awk -v bytes="$(field client.rss_peak_bytes)" 'BEGIN { print bytes / 1048576 }')"
}

select_over() {
    on_client_cpu "$dbtime" run point-select --target "$target" --rate "$rate/s" \
        --connections "$1" --no-budget --no-record --json --time "${length}s"
    measure_run "$1" "$rate"
}

side_many() {
    select_over "$many"
}

side_few() {
    select_over 16
}

# A steady rate over many and over few connections of the server that was started.
at_a_steady_rate() {
    target=$1
    "$dbtime" init point-select --target "$target"
    alternate many few
    stop_servers
    limit "$case" 'rate off by, %' "$many" '<=' 0.5
    limit "$case" 'lag p99, µs' "$many" '<=' 200
    limit "$case" 'client CPU, µs' "$many/16" '<=' 1.3
}

on_mariadb() {
    case="point-select at a steady $rate/s on MariaDB's thread pool"
    start_mariadb --thread-handling=pool-of-threads
    mariadb_execute 'CREATE DATABASE ps'
    at_a_steady_rate "mysql://root@/ps?socket=$socket"
}

on_postgres() {
    case="point-select at a steady $rate/s on PostgreSQL"
    start_postgres -c "max_connections=$((many + 10))"
    at_a_steady_rate "postgres://postgres@/postgres?host=$folder"
}

# The null server on the server's CPU; sets `null_target`.
start_null_server() {
    cargo build --quiet --release --package dbtime-null-server --example null_server
    mkfifo "$folder/null"
    taskset -c "$server_cpu" "${CARGO_TARGET_DIR:-target}/release/examples/null_server" \
        --mysql 0 >"$folder/null" 2>"$folder/server.log" &
    server=$!
    read -r null_target <"$folder/null"
}

side_null() {
    on_client_cpu "$dbtime" run values1 --target "$null_target" --rate "$null_rate/s" \
        --arrivals poisson --connections "$null_connections" --no-budget --no-record --json \
        --time "${length}s"
    measure_run dbtime "$null_rate"
}

on_null_server() {
    case="values1 at a Poisson $null_rate/s over $null_connections connections to the null server"
    start_null_server
    alternate null
    stop_servers
    limit "$case" 'connecting, s' dbtime '<=' 3
    limit "$case" 'resident, MiB' dbtime '<=' 286
    limit "$case" 'lag p99, µs' dbtime '<=' 100
}

for part in ${PARTS:-mariadb postgres null}; do
    case $part in
        mariadb) on_mariadb ;;
        postgres) on_postgres ;;
        null) on_null_server ;;
        *) fail "PARTS are mariadb, postgres and null, not $part" ;;
    esac
done
verdict
