#!/usr/bin/env bash
# Whether the main job is valid by default: `dbtime run` without arguments, RUNS times on the machine
# as it is, then RUNS/4 times with eight connections, and BUSY times beside two loops that want its
# CPUs. Prints the grade, throughput, 99th percentile and warnings of each run, and how many of each
# kind were sound, noisy and invalid.
#
# Usage: bench/default-runs.sh [path of dbtime]   on an idle machine
# Variables: RUNS (20), BUSY (3)
set -euo pipefail
dbtime=$(realpath "${1:-target/release/dbtime}")
runs=${RUNS:-20}
busy=${BUSY:-3}
folder=$(mktemp -d)
loops=()
end() {
    for loop in "${loops[@]}"; do kill "$loop" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap end EXIT

# $1: what kind of run it is, $2: how many, the rest: arguments.
measure() {
    local kind=$1 count=$2
    shift 2
    for _ in $(seq "$count"); do
        "$dbtime" run --no-record --json --quiet "$@" >"$folder/run.json" 2>"$folder/err" ||
            { cat "$folder/err" >&2; exit 1; }
        python3 - "$folder/run.json" "$kind" <<'P'
import json, sys
run = json.load(open(sys.argv[1]))
warnings = ", ".join(warning["kind"] for warning in run["validity"]["warnings"]) or "no warnings"
p99 = run["latency_us"]["response"]["p99"] / 1000
print(f'{sys.argv[2]:8} {run["validity"]["grade"]:8} {run["throughput_tps"]:8.0f}/s '
      f'p99 {p99:6.2f} ms  {warnings}')
P
    done | tee -a "$folder/all"
}

measure idle "$runs"
measure eight "$((runs / 4))" --connections 8
if [ "$busy" -gt 0 ]; then
    for _ in 1 2; do
        (while :; do :; done) &
        loops+=($!)
    done
    measure busy "$busy"
fi
echo
awk '{ count[$1 " " $2]++ } END { for (kind in count) print count[kind], kind }' "$folder/all" | sort -k2
