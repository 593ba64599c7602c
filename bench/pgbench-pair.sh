#!/usr/bin/env bash
# Client CPU per transaction and throughput of dbtime and pgbench, side by side: select-only and
# tpcb-like, simple and prepared, on the same tables of a private PostgreSQL, over a Unix socket,
# server and drivers on different CPUs, one thread each. The sides alternate, and take turns in
# going first. dbtime runs them twice: as a workload of its own, and as pgbench's script (side
# `script`, by `dbtime pgbench`).
#
# dbtime's CPU is that of its measured window, as its record says, after a second of warm-up.
# pgbench has no such window: its CPU is that of the whole process, less that of a run which only
# connects and executes once on each connection; that of the script is measured the same way.
#
# Usage: bench/pgbench-pair.sh [path of dbtime]
# Variables: LENGTH (5 seconds each; pgbench connects within them, which takes 512 clients two),
# CLIENTS ("1 8 64 512"), SCALE (10), WORKLOADS ("select-only tpcb-like"), MODES
# ("simple prepared"), SIDES ("dbtime script pgbench"), PG_BIN, and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
length=${LENGTH:-5}

declare -A file=([select-only]=bench/select-only.toml [tpcb-like]=tpcb)
declare -A database=([select-only]=select_only [tpcb-like]=tpcb)
declare -A protocol=([simple]=text [prepared]=prepared)
# What client CPU may be of pgbench's, by clients.
declare -A share=([1]=1.0 [8]=0.9 [64]=0.75 [512]=0.75)
# And that of the script.
declare -A script_share=([8]=1.0 [64]=0.8)

target() {
    echo "postgres://postgres@/${database[$workload]}?host=$folder&port=5432"
}

# Runs pgbench or its stand-in: side, then options.
run_as() {
    local program=("$pg_bin/pgbench") side=$1
    shift
    [ "$side" = pgbench ] || program=("$dbtime" pgbench --classic)
    on_client_cpu "${program[@]}" -h "$folder" -U postgres -n -b "$workload" -M "$mode" \
        -c "$clients" -j 1 "$@" "${database[$workload]}"
    transactions=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' \
        "$folder/out")
}

# Sets `start_cpu[side]` and `start_count[side]`: what it takes to begin.
declare -A start_cpu start_count
measure_start() {
    local side costs
    for side in pgbench script; do
        costs=()
        for _ in 1 2 3; do
            run_as "$side" -t 1
            costs+=("$spent")
        done
        start_cpu[$side]=$(printf '%s\n' "${costs[@]}" | sort -n | sed -n 2p)
        start_count[$side]=$transactions
    done
}

side() {
    run_as "$1" -T "$length"
    measure "$case" "$1" 'client CPU, µs' "$(awk -v cpu=$((spent - start_cpu[$1])) \
        -v count=$((transactions - start_count[$1])) 'BEGIN { printf "%.3f", cpu / count }')"
    measure "$case" "$1" 'per second' "$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/out")"
}

side_pgbench() { side pgbench; }
side_script() { side script; }

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
            # shellcheck disable=SC2086
            alternate ${SIDES:-dbtime script pgbench}
            [ -z "${share[$clients]:-}" ] ||
                limit "$case" 'client CPU, µs' dbtime/pgbench '<=' "${share[$clients]}"
            [ -z "${script_share[$clients]:-}" ] ||
                limit "$case" 'client CPU, µs' script/pgbench '<=' "${script_share[$clients]}"
            for side in dbtime script; do
                limit "$case" 'per second' "$side/pgbench" '>=' 0.97
            done
        done
    done
done
verdict
