#!/usr/bin/env bash
# How long a run takes beside its load, where its data are loaded and where they are restored from a
# snapshot: tpcb at a scale, one second of load, on private servers and a temporary SQLite. Rounds
# alternate; medians in milliseconds, the second of load taken off.
#
# Usage: bench/data-restore.sh [path of dbtime]
# Variables: SCALE (10), PAIRS (5), TARGETS ("mariadb postgres sqlite")
set -euo pipefail
dbtime=${1:-target/release/dbtime}
scale=${SCALE:-10} pairs=${PAIRS:-5} targets=${TARGETS:-mariadb postgres sqlite}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Milliseconds of a run, without its second of load.
run() {
    local begun ended
    begun=$(date +%s%N)
    "$dbtime" run tpcb --scale "$scale" --target "$1" --time 1s --warmup 0s --no-record --quiet \
        "${@:2}" >"$folder/out" 2>&1 || { cat "$folder/out" >&2; exit 1; }
    ended=$(date +%s%N)
    echo $(((ended - begun) / 1000000 - 1000))
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

printf '%-10s %12s %12s %6s\n' target loaded restored ratio
for target in $targets; do
    : >"$folder/loaded"; : >"$folder/restored"
    run "$target" --snapshots "$folder/kept" >/dev/null
    for _ in $(seq "$pairs"); do
        run "$target" >>"$folder/loaded"
        run "$target" --snapshots "$folder/kept" >>"$folder/restored"
    done
    loaded=$(median "$folder/loaded") restored=$(median "$folder/restored")
    awk -v t="$target" -v l="$loaded" -v r="$restored" \
        'BEGIN { printf "%-10s %9d ms %9d ms %6.2f\n", t, l, r, r / l }'
done
