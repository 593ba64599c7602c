#!/usr/bin/env bash
# Where the spread of repeated runs comes from, and which order of runs resolves more in the same time:
# blocks of two servers with one configuration, both alive, each restarted for each block. In every
# other block their slices alternate (A B, B A, ...); in the others all slices of A come before those
# of B, as with runs one after the other. Prints, a product each, the deviation (of logarithms) of a
# slice, of neighbouring slices' ratio, of a server's life and of the machine from block to block; and
# of a block's ratio B/A in either order, which is what a study's interval is made of.
#
# Usage: bench/variance-components.sh [path of dbtime]
# Variables: PRODUCTS ("mariadb postgres sqlite"), BLOCKS (12 of each order), SLICES (8 a side),
# LENGTH (2 seconds), WORKLOAD (tpcb), CONNECTIONS (8), KEEP (a file that gets the slices)
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
workload=${WORKLOAD:-tpcb} slices=${SLICES:-8}

# Starts side A or B of a block, unpinned as people have it; sets `target`.
start_side() {
    instance=$1
    case $product in
    mariadb)
        server_cpu=0-$(($(nproc) - 1)) start_mariadb
        mariadb_execute 'CREATE DATABASE dbtime'
        target="mysql://root@/dbtime?socket=$socket"
        ;;
    postgres)
        pg_port=$((5432 + $2))
        server_cpu=0-$(($(nproc) - 1)) start_postgres
        target="postgres://postgres@/postgres?host=$folder&port=$pg_port"
        ;;
    sqlite) target="sqlite:$folder/file$1.db" ;;
    esac
    "$dbtime" init "$workload" --target "$target" --quiet >/dev/null 2>&1 || fail "init $target"
}

stop_sides() {
    stop_servers
    rm -rf "$folder"/mariadb[AB]* "$folder"/postgres[AB] "$folder"/file[AB].db*
}

# A slice: product, order, block, side, place.
slice() {
    local where=${targets[$4]} load="--connections ${CONNECTIONS:-8}"
    [ "$product" = sqlite ] && load="--workers 1"
    # shellcheck disable=SC2086 # words are wanted
    "$dbtime" run "$workload" --target "$where" $load --warmup 300ms --time "${LENGTH:-2}s" \
        --no-record --json --quiet >"$folder/out" 2>"$folder/err" || [ $? = 4 ] || fail "$(tail -n 3 "$folder/err")"
    echo "$1 $2 $3 $4 $5 $(field throughput_tps)" >>"$folder/slices"
}

block() {
    local order=$1 number=$2 at
    declare -gA targets=()
    start_side A 0
    targets[A]=$target
    start_side B 1
    targets[B]=$target
    # What goes first after a start is no slice.
    slice warm up 0 A 0
    slice warm up 0 B 0
    if [ "$order" = alternating ]; then
        for ((at = 0; at < slices; at++)); do
            ((at % 2)) && sides=(B A) || sides=(A B)
            for side in "${sides[@]}"; do slice "$product" "$order" "$number" "$side" "$at"; done
        done
    else
        # Either side is as often the first one.
        ((number / 2 % 2)) && sides=(B A) || sides=(A B)
        for side in "${sides[@]}"; do
            for ((at = 0; at < slices; at++)); do slice "$product" "$order" "$number" "$side" "$at"; done
        done
    fi
    stop_sides
}

for product in ${PRODUCTS:-mariadb postgres sqlite}; do
    for ((number = 0; number < 2 * ${BLOCKS:-12}; number++)); do
        ((number % 2)) && block contiguous "$number" || block alternating "$number"
    done
done
[ -z "${KEEP:-}" ] || cp "$folder/slices" "$KEEP"
python3 bench/variance.py "$folder/slices"
