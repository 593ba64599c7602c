#!/usr/bin/env bash
# Are the parts those of all transactions, and what does measuring them cost?
#
# For every shipped workload, at 1, 2 and 8 workers, on a quiet machine and with a busy loop per CPU
# beside it: the mean of the parts over the mean of all (wanted: within 1 %), and the mean response
# and throughput with the parts measured over those without (seven pairs in turn, medians; wanted:
# response within 3 %; flat out at least 0.90 of point-select's throughput and 0.96 of atm's).
#
# Usage: bench/parts.sh [path of dbtime] [pairs] [length of each window] [workloads]
set -euo pipefail
dbtime=${1:-target/release/dbtime}
pairs=${2:-7}
length=${3:-1s}
workloads=${4:-atm oltp-read-only oltp-read-write point-select report-scan tpcb values1}
dir=$(mktemp -d)
loops=()
finish() {
    for pid in "${loops[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$dir"
}
trap finish EXIT

one() { # workload workers flags…: mean of the parts, mean of all, throughput
    local workload=$1 workers=$2
    shift 2
    "$dbtime" run "$workload" --connections "$workers" --warmup 300ms --time "$length" \
        --no-record --json "$@" >"$dir/run.json" 2>/dev/null || true
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
parts = (r["budget_us"] or {}).get("total", 0)
print(parts, r["latency_us"]["response"]["mean"], r["throughput_tps"])' "$dir/run.json"
}

table() { # what stands beside
    for workload in $workloads; do
        for workers in 1 2 8; do
            : >"$dir/with"
            : >"$dir/without"
            for pair in $(seq "$pairs"); do
                # The order changes from pair to pair.
                if [ $((pair % 2)) = 0 ]; then
                    one "$workload" "$workers" >>"$dir/with"
                    one "$workload" "$workers" --no-budget >>"$dir/without"
                else
                    one "$workload" "$workers" --no-budget >>"$dir/without"
                    one "$workload" "$workers" >>"$dir/with"
                fi
            done
            python3 - "$dir" "$workload" "$workers" "$1" <<'P'
import statistics, sys
folder, workload, workers, beside = sys.argv[1:]
rows = lambda name: [tuple(map(float, line.split())) for line in open(f"{folder}/{name}")]
mine, plain = rows("with"), rows("without")
worst = max((abs(parts / whole - 1) for parts, whole, _ in mine), default=0)
ratio = lambda field: statistics.median(a[field] / b[field] for a, b in zip(mine, plain))
mean = statistics.median(whole for _, whole, _ in mine)
print(f"{workload:16} {workers:>7} {beside:>6} {mean:>12.1f} {100 * worst:>11.2f} "
      f"{ratio(1):>9.3f} {ratio(2):>11.3f}")
P
        done
    done
}

printf '%-16s %7s %6s %12s %11s %9s %11s\n' \
    workload workers loops 'mean µs' 'parts off %' response throughput
table 0
for _ in $(seq "$(nproc)"); do
    sh -c 'while :; do :; done' &
    loops+=($!)
done
table "$(nproc)"
