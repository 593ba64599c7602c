#!/usr/bin/env bash
# Client CPU per transaction and throughput of dbtime and pgbench, side by side: select-only and
# tpcb-like, simple and prepared, on the same tables of a private PostgreSQL, over a Unix socket,
# server and drivers on different CPUs, one thread each. The sides alternate, and take turns in
# going first.
#
# dbtime's CPU is that of its measured window, as its record says, after a second of warm-up.
# pgbench has no such window: its CPU is that of the whole process, less that of a run which only
# connects and executes once on each connection.
#
# Usage: bench/pgbench-pair.sh [path of dbtime]
# Variables: LENGTH (5 seconds each; pgbench connects within them, which takes 512 clients two),
# CLIENTS ("1 8 64 512"), SCALE (10), WORKLOADS ("select-only tpcb-like"), MODES
# ("simple prepared"), PG_BIN, and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
length=${LENGTH:-5}

declare -A file=([select-only]=bench/select-only.toml [tpcb-like]=tpcb)
declare -A database=([select-only]=select_only [tpcb-like]=tpcb)
declare -A protocol=([simple]=text [prepared]=prepared)
# What client CPU may be of pgbench's, by clients.
declare -A share=([1]=1.0 [8]=0.9 [64]=0.75 [512]=0.75)

target() {
    echo "postgres://postgres@/${database[$workload]}?host=$folder&port=5432"
}

run_pgbench() {
    on_client_cpu "$pg_bin/pgbench" -h "$folder" -U postgres -n -b "$workload" -M "$mode" \
        -c "$clients" -j 1 "$@" "${database[$workload]}"
    transactions=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' \
        "$folder/out")
}

# Sets `start_cpu` and `start_count`: what it takes to begin.
measure_start() {
    local costs=()
    for _ in 1 2 3; do
        run_pgbench -t 1
        costs+=("$spent")
    done
    start_cpu=$(printf '%s\n' "${costs[@]}" | sort -n | sed -n 2p)
    start_count=$transactions
}

side_pgbench() {
    run_pgbench -T "$length"
    measure "$case" pgbench 'client CPU, µs' "$(awk -v cpu=$((spent - start_cpu)) \
        -v count=$((transactions - start_count)) 'BEGIN { printf "%.3f", cpu / count }')"
    measure "$case" pgbench 'per second' "$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/out")"
}

side_dbtime() {
    on_client_cpu "$dbtime" run "${file[$workload]}" --target "$(target)" --connections "$clients" \
        --protocol "${protocol[$mode]}" --no-budget --no-record --json --warmup 1s \
        --time "${length}s"
    measure "$case" dbtime 'client CPU, µs' "$(field client.cpu_us_per_tx)"
    measure "$case" dbtime 'per second' "$(field throughput_tps)"
}

start_postgres
for workload in ${WORKLOADS:-select-only tpcb-like}; do
    "$pg_bin/createdb" -h "$folder" -U postgres "${database[$workload]}"
    "$dbtime" init "${file[$workload]}" --target "$(target)" --scale "${SCALE:-10}"
    for mode in ${MODES:-simple prepared}; do
        for clients in ${CLIENTS:-1 8 64 512}; do
            case="$workload, $mode, $clients clients"
            measure_start
            alternate dbtime pgbench
            [ -z "${share[$clients]:-}" ] ||
                limit "$case" 'client CPU, µs' dbtime/pgbench '<=' "${share[$clients]}"
            limit "$case" 'per second' dbtime/pgbench '>=' 0.97
        done
    done
done
verdict
