#!/usr/bin/env bash
# Is the rate that --find-rate finds the true one? On null targets whose service times make queues
# with known responses (M/M/1, M/M/4, M/D/1), with limits on the mean and the 99th percentile that
# are met up to LOAD of the capacity; alone, and beside two busy loops.
#
# Wanted: alone within 5 % of the truth; beside the loops within 10 %, or `at least` a rate that is
# not above the truth, with exit code 4.
#
# Usage: bench/find-rate.sh [path of dbtime]
# Variables: LOADS ("0.8 0.9"), LENGTH (15 seconds a run), SERVICE_US (2000, of all connections
# together: 500/s), QUEUES ("mm1 mm4 md1"), BESIDE ("nothing loops")
set -euo pipefail
dbtime=${1:-target/release/dbtime}
loads=${LOADS:-0.8 0.9}
length=${LENGTH:-15}
service_us=${SERVICE_US:-2000}
queues=${QUEUES:-mm1 mm4 md1}
loops=()

begin_loops() {
    for _ in 1 2; do
        (while :; do :; done) &
        loops+=($!)
    done
}

end_loops() {
    for loop in ${loops[@]+"${loops[@]}"}; do kill "$loop" 2>/dev/null || true; done
    loops=()
}

# The limit in microseconds and the true rate: queue, metric, load.
truth() {
    python3 -c '
import math, sys
queue, metric, load, service = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
capacity = 1e6 / service
rate, servers = load * capacity, 4 if queue == "mm4" else 1
each, left = capacity / servers, capacity - load * capacity
lost = 1.0
for n in range(1, servers + 1):  # Erlang B
    lost = rate / each * lost / (n + rate / each * lost)
waiting = lost / (1 - load * (1 - lost))  # Erlang C

def longer(seconds):
    alone = math.exp(-each * seconds)
    both = (left * alone - each * math.exp(-left * seconds)) / (left - each)
    return (1 - waiting) * alone + waiting * both

if queue == "md1":  # Pollaczek and Khinchine
    response = (1 + rate / (2 * left)) / capacity
elif metric == "avg":
    response = 1 / each + waiting / left
else:
    low, high = 0.0, 1e4 / capacity
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if longer(middle) > 0.01 else (low, middle)
    response = low
print(round(response * 1e6), rate)' "$@" "$service_us"
}

search() { # queue, metric, load, what is beside it
    local queue=$1 metric=$2 load=$3 beside=$4 limit_us rate service connections=1 code=0
    read -r limit_us rate < <(truth "$queue" "$metric" "$load")
    case $queue in
    mm1) service=exp:${service_us}us ;;
    mm4) service=exp:$((4 * service_us))us connections=4 ;;
    md1) service=${service_us}us ;;
    esac
    "$dbtime" run values1 --target "null:?service=$service" --connections "$connections" \
        --arrivals poisson --warmup 2s --time "${length}s" --no-record --json --quiet \
        --find-rate "$metric<=${limit_us}us" >"$out" || code=$?
    tail -n 1 "$out" | python3 -c '
import json, sys
queue, metric, load, beside, truth, code = sys.argv[1:]
truth = float(truth)
found = json.load(sys.stdin)["found"]
rate, least = found["rate_tps"], found.get("at_least_tps")
shown = f"{rate:g}" if rate else f"≥ {least:g}" if least else "-"
ends = [found.get(end) for end in ("low_tps", "high_tps")]
ends = " .. ".join(f"{end:g}" for end in ends) if rate else ""
ratio = (rate or least or 0) / truth
most = 0.05 if beside == "nothing" else 0.10
fits = abs(ratio - 1) <= most if rate else beside != "nothing" and code == "4" and ratio <= 1 + most
verdict = "ok" if fits else "OFF"
print(f"{queue:5} {metric:4} {load:>5} {beside:8} {truth:7.1f} {shown:>8} {ratio:6.3f}  {ends:16} "
      f"{code:>4}  {verdict}")
if not rate:
    print("      " + (found["unknown"] or "no rate meets it"))' \
        "$queue" "$metric" "$load" "$beside" "$rate" "$code"
}

out=$(mktemp)
trap 'end_loops; rm -f "$out"' EXIT
printf '%-5s %-4s %5s %-8s %7s %8s %6s  %-16s %4s\n' \
    queue on load beside truth found ratio '95 % CI' exit
for beside in ${BESIDE:-nothing loops}; do
    [ "$beside" = nothing ] || begin_loops
    for queue in $queues; do
        for metric in avg p99; do
            # Of a constant service the 99th percentile has no formula.
            [ "$queue-$metric" = md1-p99 ] && continue
            for load in $loads; do search "$queue" "$metric" "$load" "$beside"; done
        done
    done
    end_loops
done
