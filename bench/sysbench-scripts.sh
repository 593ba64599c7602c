#!/usr/bin/env bash
# What sysbench's own scripts cost under dbtime and under sysbench, side by side: client CPU per query
# and throughput of the stock Lua scripts on the same table of a private MariaDB, over a Unix socket,
# server and drivers on different CPUs. The sides alternate, and take turns in going first.
#
# The CPU of either is that of the whole process, less that of a run which only starts, connects,
# prepares and executes one event on each connection.
#
# Then what many threads take: the memory of 4,096 of them, and the lag of 2,048 at a steady rate; and
# what an event costs that does nothing.
#
# Usage: bench/sysbench-scripts.sh [path of dbtime]
# Variables: LENGTH (5 seconds each), THREADS ("1 16 64 512"), SCRIPTS ("oltp_point_select
# oltp_read_only oltp_read_write"), PARTS ("scripts many rate empty"), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
need sysbench
length=${LENGTH:-5}
rows=100000
ulimit -n "$(ulimit -Hn)"

# What client CPU may be of sysbench's, by threads.
declare -A share=([1]=1.1 [16]=0.75 [64]=0.55 [512]=0.5)

# Runs a script: driver, then its options.
run() {
    local driver=$1
    shift
    local program=(sysbench)
    [ "$driver" = sysbench ] || program=("$dbtime" sysbench --classic)
    on_client_cpu "${program[@]}" "$script" --mysql-socket="$socket" --mysql-user=root \
        --mysql-db=scripts --tables=1 --table-size="$rows" --rand-type=uniform \
        --threads="$threads" "$@" run
    queries=$(sed -n 's/^ *total: *\([0-9]*\)$/\1/p' "$folder/out")
}

# Sets `start_cpu[driver]` and `start_count[driver]`: what it takes to begin.
declare -A start_cpu start_count
measure_start() {
    local driver costs
    for driver in dbtime sysbench; do
        costs=()
        for _ in 1 2 3; do
            run "$driver" --time=0 --events="$threads"
            costs+=("$spent")
        done
        start_cpu[$driver]=$(printf '%s\n' "${costs[@]}" | sort -n | sed -n 2p)
        start_count[$driver]=$queries
    done
}

side() {
    run "$1" --time="$length" --events=0
    measure "$case" "$1" 'client CPU, µs' "$(awk -v cpu=$((spent - start_cpu[$1])) \
        -v count=$((queries - start_count[$1])) 'BEGIN { printf "%.3f", cpu / count }')"
    measure "$case" "$1" 'per second' \
        "$(sed -n 's/^ *queries:.*(\([0-9.]*\) per sec.*/\1/p' "$folder/out")"
}

side_dbtime() { side dbtime; }
side_sysbench() { side sysbench; }

side_many() {
    on_client_cpu "$dbtime" sysbench oltp_point_select --json --mysql-socket="$socket" \
        --mysql-user=root --mysql-db=scripts --table-size="$rows" --threads="$threads" "${more[@]}" \
        --time="$length" run
    measure "$case" many 'resident, MB' \
        "$(awk -v bytes="$(field client.rss_peak_bytes)" 'BEGIN { print bytes / 1e6 }')"
    measure "$case" many 'lag p99, µs' "$(field latency_us.lag.p99)"
    measure "$case" many 'per second' "$(field throughput_tps)"
}

side_empty() {
    on_client_cpu "$dbtime" sysbench --classic "$folder/empty.lua" --time="$length" run
    measure "$case" empty 'an event, µs' "$(awk -v length_s="$length" \
        '/total number of events:/ { print 1e6 * length_s / $NF }' "$folder/out")"
}

start_mariadb --max-connections=5000
mariadb_execute 'CREATE DATABASE scripts'
"$dbtime" sysbench oltp_read_write --mysql-socket="$socket" --mysql-user=root --mysql-db=scripts \
    --tables=1 --table-size="$rows" prepare
for part in ${PARTS:-scripts many rate empty}; do
    case $part in
    scripts)
        for script in ${SCRIPTS:-oltp_point_select oltp_read_only oltp_read_write}; do
            for threads in ${THREADS:-1 16 64 512}; do
                case="$script, $threads threads"
                measure_start
                alternate dbtime sysbench
                [ -z "${share[$threads]:-}" ] ||
                    limit "$case" 'client CPU, µs' dbtime/sysbench '<=' "${share[$threads]}"
                limit "$case" 'per second' dbtime/sysbench '>=' 0.97
            done
        done
        ;;
    many)
        threads=4096 more=() case='oltp_point_select, 4096 threads'
        PAIRS=3 alternate many
        limit "$case" 'resident, MB' many '<=' 600
        ;;
    rate)
        threads=2048 more=(--rate=1000) case='oltp_point_select, 2048 threads, 1000 a second'
        PAIRS=5 alternate many
        limit "$case" 'lag p99, µs' many '<=' 500
        ;;
    empty)
        echo 'function event() end' >"$folder/empty.lua"
        case='an empty event'
        PAIRS=5 alternate empty
        limit "$case" 'an event, µs' empty '<=' 0.3
        ;;
    *) fail "no part $part" ;;
    esac
done
verdict
