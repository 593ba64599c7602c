#!/usr/bin/env bash
# Whether `dbtime run --trace` keeps up flat out, where server and driver keep all CPUs full and the
# tracer has to wait for one: statements that were not matched, and runs that lost any.
#
# `SELECT 1` on a private MariaDB that runs on all CPUs, a round after the other; with another dbtime
# both in turns. Wanted: 99.9 % matched in every run.
#
# Usage: bench/trace-loss.sh [path of dbtime] [path of another]   as root
# Variables: LENGTH (5 seconds of each run), CONNECTIONS (8), PAIRS (24), and those of servers.bash
set -euo pipefail
PAIRS=${PAIRS:-24}
SERVER_CPU=${SERVER_CPU:-0-$(($(nproc) - 1))}
another=${2:+$(realpath "$2")}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"

# One run by that program, measured as the side named.
run_of() {
    local side=$1
    "$2" run --query 'SELECT 1' --target "mysql://root@/mysql?socket=$socket" --trace --json \
        --connections "${CONNECTIONS:-8}" --warmup 100ms --time "${LENGTH:-5}s" --no-record \
        >"$folder/out" 2>"$folder/err" || [ -s "$folder/out" ] || fail "$(tail -n 3 "$folder/err")"
    local matched unmatched
    matched=$(field trace.join.matched)
    unmatched=$(field trace.join.unmatched)
    measure "$case" "$side" 'statements a second' "$(field throughput_tps)"
    measure "$case" "$side" 'matched, %' \
        "$(awk -v m="$matched" -v u="$unmatched" 'BEGIN { printf "%.3f", 100 * m / (m + u) }')"
    [ "$unmatched" = 0 ] || echo "$side: $unmatched of $((matched + unmatched)) not matched"
}

side_this() { run_of this "$dbtime"; }
side_other() { run_of other "$another"; }

start_mariadb
case='flat out'
if [ -n "$another" ]; then alternate this other; else alternate this; fi
limit "$case" 'matched, %' this '>=' 99.9
verdict
