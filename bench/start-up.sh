#!/usr/bin/env bash
# How long a run takes that does next to nothing: one transaction of sysbench's oltp_read_only, of
# pgbench's select-only and of `SELECT 1`, by the originals and by dbtime, from the start of the
# program to its end, on private servers. Rounds alternate, and every other begins from the other end.
# What a transaction itself takes (1 to 3 ms) is in all of them.
#
# Usage: bench/start-up.sh [path of dbtime]
# Variables: those of servers.bash, of which PAIRS is 20 here
set -euo pipefail
PAIRS=${PAIRS:-20}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
need sysbench pgbench

# Runs a command and remembers how many milliseconds it took.
timed() {
    local side=$1 begun ended
    shift
    begun=$(date +%s%N)
    taskset -c "$client_cpu" "$@" >"$folder/out" 2>"$folder/err" ||
        fail "$1: $(tail -n 3 "$folder/err" "$folder/out")"
    ended=$(date +%s%N)
    measure "$case" "$side" 'wall ms' "$(awk -v ns=$((ended - begun)) 'BEGIN { print ns / 1e6 }')"
}

sysbench_words=(oltp_read_only --mysql-user=root --threads=1 --events=1 --time=0)
pgbench_words=(-n -S -t 1 -h "$folder" -p "$pg_port" -U postgres postgres)
query_words=(--query 'SELECT 1' --connections 1 --transactions 1 --no-record)

side_sysbench() { timed sysbench sysbench "${sysbench_words[@]}" run; }
side_dbtime_sysbench() { timed dbtime "$dbtime" sysbench "${sysbench_words[@]}" run; }
side_classic_sysbench() { timed classic "$dbtime" sysbench --classic "${sysbench_words[@]}" run; }
side_pgbench() { timed pgbench pgbench "${pgbench_words[@]}"; }
side_dbtime_pgbench() { timed dbtime "$dbtime" pgbench "${pgbench_words[@]}"; }
side_classic_pgbench() { timed classic "$dbtime" pgbench --classic "${pgbench_words[@]}"; }
side_query() { timed dbtime "$dbtime" run --target "$target" "${query_words[@]}"; }
side_version() { timed version "$dbtime" --version; }

# A tool's words, those of dbtime in its place, and those without what it adds.
of_tool() {
    case=$1
    alternate "$1" "dbtime_$1" "classic_$1"
    limit "$1" 'wall ms' dbtime '<=' 50
    limit "$1" 'wall ms' classic '<=' 50
}

of_query() {
    case="query on $1"
    alternate query version
    limit "$case" 'wall ms' dbtime '<=' 100
}

start_mariadb
mariadb_execute 'CREATE DATABASE sbtest'
sysbench_words+=(--mysql-socket="$socket")
sysbench "${sysbench_words[@]}" prepare >/dev/null
of_tool sysbench
target="mariadb://root@/sbtest?socket=$socket"
of_query MariaDB
stop_servers

start_postgres
pgbench -q -i -h "$folder" -p "$pg_port" -U postgres postgres >/dev/null 2>&1
of_tool pgbench
target="postgres://postgres@/postgres?host=$folder&port=$pg_port"
of_query PostgreSQL
verdict
