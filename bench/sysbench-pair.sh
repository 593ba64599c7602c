#!/usr/bin/env bash
# Client CPU per query and throughput of dbtime, sysbench and the floor, side by side: prepared
# point selects (and read-write transactions) on the same table of a private MariaDB, over a Unix
# socket, server and drivers on different CPUs. The sides alternate, and take turns in going first.
#
# dbtime's CPU is that of its measured window, as its record says, after a second of warm-up.
# sysbench has no such window: its CPU is that of the whole process, less that of a run which only
# connects, prepares and executes once on each connection.
#
# Usage: bench/sysbench-pair.sh [path of dbtime]
# Variables: LENGTH (5 seconds each), CONNECTIONS ("1 4 64 512"),
# WORKLOADS ("point-select oltp-read-write"), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
need sysbench cc
length=${LENGTH:-5}
rows=100000

declare -A script=([point-select]=oltp_point_select [oltp-read-write]=oltp_read_write)
declare -A database=([point-select]=ps [oltp-read-write]=rw)
# What client CPU may be of sysbench's, by connections.
declare -A share=([1]=0.95 [4]=0.8 [64]=0.45 [512]=0.4)

run_sysbench() {
    on_client_cpu sysbench "${script[$workload]}" --db-driver=mysql --mysql-socket="$socket" \
        --mysql-user=root --mysql-db="${database[$workload]}" --tables=1 --table-size="$rows" \
        --db-ps-mode=auto --rand-type=uniform --threads="$connections" "$@" run
    transactions=$(sed -n 's/^ *transactions: *\([0-9]*\).*/\1/p' "$folder/out")
}

# Sets `start_cpu` and `start_count`: what it takes to begin.
measure_start() {
    local costs=()
    for _ in 1 2 3; do
        run_sysbench --time=0 --events="$connections"
        costs+=("$spent")
    done
    start_cpu=$(printf '%s\n' "${costs[@]}" | sort -n | sed -n 2p)
    start_count=$transactions
}

side_sysbench() {
    run_sysbench --time="$length" --events=0
    measure "$case" sysbench 'client CPU, µs' "$(awk -v cpu=$((spent - start_cpu)) \
        -v count=$((transactions - start_count)) 'BEGIN { printf "%.3f", cpu / count }')"
    measure "$case" sysbench 'per second' \
        "$(sed -n 's/^ *transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$folder/out")"
}

side_dbtime() {
    on_client_cpu "$dbtime" run "$workload" \
        --target "mysql://root@/${database[$workload]}?socket=$socket" --connections "$connections" \
        --protocol prepared --no-budget --no-record --json --warmup 1s --time "${length}s"
    measure "$case" dbtime 'client CPU, µs' "$(field client.cpu_us_per_tx)"
    measure "$case" dbtime 'per second' "$(field throughput_tps)"
}

side_floor() {
    on_client_cpu "$folder/floor" "$socket" "${database[$workload]}" "$connections" "$length" "$rows"
    measure "$case" floor 'client CPU, µs' "$(sed 's/.*cpu_us_per_query \([0-9.]*\).*/\1/' "$folder/out")"
    measure "$case" floor 'per second' "$(sed 's/.*queries_per_second \([0-9.]*\).*/\1/' "$folder/out")"
}

cc -O2 -o "$folder/floor" bench/floor.c
start_mariadb
for workload in ${WORKLOADS:-point-select oltp-read-write}; do
    mariadb_execute "CREATE DATABASE ${database[$workload]}"
    "$dbtime" init "$workload" --target "mysql://root@/${database[$workload]}?socket=$socket"
    sides=(dbtime sysbench)
    [ "$workload" != point-select ] || sides+=(floor)
    for connections in ${CONNECTIONS:-1 4 64 512}; do
        case="$workload over $connections connections"
        measure_start
        alternate "${sides[@]}"
        [ -z "${share[$connections]:-}" ] ||
            limit "$case" 'client CPU, µs' dbtime/sysbench '<=' "${share[$connections]}"
        limit "$case" 'client CPU, µs' dbtime/floor '<=' 1.25
        limit "$case" 'per second' dbtime/sysbench '>=' 0.97
    done
done
verdict
