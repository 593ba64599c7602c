#!/usr/bin/env bash
# Can a gate be believed? Open-loop runs of the README's kind, so many of each:
#
#   valid   how many are NOT VALID, and for which cause
#   met     a limit far above the 99th percentile passes (exit 0)
#   missed  a limit at a tenth of the 99th percentile fails (exit 1)
#
# Wanted: all of `met` with 0, all of `missed` with 1, and no cause that the machine has not.
#
# Usage: bench/gates.sh [path of dbtime] [runs] [length of each window]
set -euo pipefail
dbtime=${1:-target/release/dbtime}
runs=${2:-20}
length=${3:-5s}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: >"$dir/p99"

run() { # name, flags…
    local name=$1 code=0
    shift
    "$dbtime" run "$@" --warmup 1s --time "$length" --no-record --json >"$dir/run.json" \
        2>/dev/null || code=$?
    python3 - "$dir" "$name" "$code" <<'P'
import json, sys
folder, name, code = sys.argv[1:]
run = json.load(open(f"{folder}/run.json"))
p99 = run["latency_us"]["without_lag"]["p99"]
machine, valid = run["environment"], run["validity"]["valid"]
if name == "met":
    print(p99, file=open(f"{folder}/p99", "a"))
why = "" if valid else run["validity"]["warnings"][0]["text"].split(":")[0]
print(f"{name:7} exit {code}  p99 {run['latency_us']['response']['p99']:9.1f} µs, without lag "
      f"{p99:8.1f}  foreign {machine['foreign_cpu_pct']:3.0f} %  steal {machine['steal_pct']:3.0f} %  "
      f"{why}")
print(name, code, valid, file=open(f"{folder}/all", "a"))
P
}

for _ in $(seq "$runs"); do run valid atm --rate 500/s --workers 4; done
for _ in $(seq "$runs"); do run met point-select --rate 500/s --limit 'p99<=5ms'; done
# A tenth of the median of what the runs had.
tenth=$(sort -g "$dir/p99" | awk '{ v[NR] = $1 } END { printf "%.0f", v[int((NR + 1) / 2)] * 100 }')
for _ in $(seq "$runs"); do run missed point-select --rate 500/s --limit "p99<=${tenth}ns"; done
echo
sort "$dir/all" | uniq -c | awk '{ printf "%-7s exit %s  valid %-5s  %d times\n", $2, $3, $4, $1 }'
