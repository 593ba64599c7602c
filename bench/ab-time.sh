#!/usr/bin/env bash
# Whether `dbtime study ab --for` keeps its time, finds differences that are there, and none where
# there is none; all with default flags.
#
#   maria    20,000 hashes a statement against 25,000: about −20 % of throughput
#   sqlite   synchronous=full against off: a large gain where a disk syncs
#   pg       sums of 20,000 rows against 26,000: about −23 %
#   nulls    table_open_cache 2000 against 2100 on MariaDB, max_connections 100 against 110 on
#            PostgreSQL: none
#
# Wanted: each within 10 % of the time; the changes called with their signs, the nulls in at most 5 %
# of many studies.
#
# Usage: bench/ab-time.sh [path of dbtime]   on a machine as quiet as it gets
# Variables: ROUNDS (2), TIME (5min)
set -euo pipefail
dbtime=$(realpath "${1:-target/release/dbtime}")
rounds=${ROUNDS:-2}
time=${TIME:-5min}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# $1: the case, the rest: arguments of ab.
study() {
    local name=$1 begun code=0
    shift
    begun=$(date +%s)
    "$dbtime" study ab "$@" --for "$time" --out "$folder/$name-$round" \
        >"$folder/out" 2>"$folder/err" || code=$?
    echo "$name: $(($(date +%s) - begun)) s, exit code $code"
    [ -s "$folder/out" ] || { cat "$folder/err" >&2; exit 1; }
    sed -n '/verdict/,/^$/p' "$folder/out" | head -n 6
}

for round in $(seq "$rounds"); do
    study maria --target mariadb --connections 4 \
        --a "query='DO BENCHMARK(20000, SHA2(1,256))'" --b "query='DO BENCHMARK(25000, SHA2(1,256))'"
    study sqlite tpcb --a 'target=sqlite:?synchronous=full' --b 'target=sqlite:?synchronous=off'
    study pg --target postgres --connections 4 \
        --a "query='SELECT sum(i) FROM generate_series(1,20000) i'" \
        --b "query='SELECT sum(i) FROM generate_series(1,26000) i'"
    study maria-null tpcb --target mariadb --connections 8 \
        --a server-set=table_open_cache=2000 --b server-set=table_open_cache=2100
    study pg-null tpcb --target postgres --connections 8 \
        --a server-set=max_connections=100 --b server-set=max_connections=110
done
