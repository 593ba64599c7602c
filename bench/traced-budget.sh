#!/bin/sh
# Whether the sum of a traced run holds, and what watching changes: for four workloads on private
# servers, as text and prepared, at half of the flat-out rate and flat out. Each case runs without
# and with --trace in turns.
#
#   matched %     statements matched with requests, rounded down; wanted: 99.9
#   worst sum %   parts against response, the worst single transaction kept; wanted: 1
#   unexpl. %     sum of |unexplained| over the sum of responses, of all transactions; wanted: 2
#   slow %        the same of the slowest hundred; wanted: 5
#   p50, tx/s     traced over untraced, each the median of its runs; wanted at half: 0.95 to 1.05
#
# Usage: bench/traced-budget.sh [path of dbtime] [length of each window]
# Variables: SERVERS (mariadb postgres), WORKLOADS (atm oltp-read-write tpcb values1), PROTOCOLS
# (text prepared), CONNECTIONS (8), PAIRS (3)
set -eu
# A case that could not be compared, or whose sum does not hold, makes the script fail at its end.
failed=0
dbtime=${1:-target/release/dbtime}
length=${2:-5s}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# One run into a folder; a run that is doubtful is a run all the same. Without one nothing that
# follows makes sense.
drive() {
    folder=$1
    shift
    "$dbtime" run "$@" --connections "${CONNECTIONS:-8}" --time "$length" --warmup 1s --quiet \
        --out "$folder" >"$folder.txt" 2>&1 || [ -f "$folder/run.json" ] || {
        cat "$folder.txt" >&2
        exit 3
    }
}

throughput() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["throughput_tps"])' \
        "$1/run.json"
}

compare() {
    python3 - "$dir" "$1" <<'END'
import csv, glob, json, statistics, sys

folder, case = sys.argv[1:]
runs = {kind: [json.load(open(f)) for f in sorted(glob.glob(f"{folder}/{case}-{kind}-*/run.json"))]
        for kind in ("plain", "traced")}
joins = [run["trace"]["join"] for run in runs["traced"] if run.get("trace")]
if len(joins) < len(runs["traced"]) or not joins or not runs["plain"]:
    sys.exit("a run was not traced, or not made")
statements = sum(j["matched"] + j["unmatched"] + j["ambiguous"] for j in joins)
matched = 10_000 * sum(j["matched"] for j in joins) // max(statements, 1) / 100

# The columns that are parts have the names of the budget's.
names = [name for name in runs["traced"][0]["budget_us"] if name != "total"]
worst, slow_unexplained, slow_response = 0.0, 0.0, 0.0
for path in glob.glob(f"{folder}/{case}-traced-*/transactions.csv"):
    for row in csv.DictReader(open(path)):
        response = float(row["response_us"])
        parts = sum(float(row[name]) for name in names if row[name])
        worst = max(worst, 100 * abs(parts - response) / max(response, 1e-9))
        if row["kept"] == "slowest":
            slow_response += response
            slow_unexplained += abs(float(row["unexplained"] or 0))

def median(kind, of):
    return statistics.median(of(run) for run in runs[kind])

def ratio(of):
    return median("traced", of) / median("plain", of)

error = 100 * statistics.median(run["budget_error"] for run in runs["traced"])
slow = 100 * slow_unexplained / max(slow_response, 1e-9)
print(f'{matched:9.2f} {worst:12.4f} {error:10.2f} {slow:7.2f}'
      f' {ratio(lambda run: run["latency_us"]["response"]["p50"]):6.3f}'
      f' {ratio(lambda run: run["throughput_tps"]):6.3f}'
      f' {median("plain", lambda run: run["latency_us"]["response"]["p50"]):11.1f}'
      f' {median("plain", lambda run: run["throughput_tps"]):9.0f}')
if matched < 99.9 or worst > 1 or error > 2 or slow > 5:
    sys.exit("the sum does not hold")
END
}

printf '%-9s %-16s %-9s %-5s %9s %12s %10s %7s %6s %6s %11s %9s\n' server workload protocol load \
    'matched %' 'worst sum %' 'unexpl. %' 'slow %' p50 tx/s 'p50 alone µs' 'tx/s alone'
for server in ${SERVERS:-mariadb postgres}; do
    for workload in ${WORKLOADS:-atm oltp-read-write tpcb values1}; do
        for protocol in ${PROTOCOLS:-text prepared}; do
            for load in flat half; do
                rate=
                if [ "$load" = half ]; then
                    rate="--rate $(throughput "$dir/$server-$workload-$protocol-flat-plain-1" |
                        awk '{ printf "%d", $1 / 2 }')/s"
                fi
                case=$server-$workload-$protocol-$load
                for pair in $(seq "${PAIRS:-3}"); do
                    for kind in plain traced; do
                        flag=
                        [ "$kind" = plain ] || flag=--trace
                        # shellcheck disable=SC2086
                        drive "$dir/$case-$kind-$pair" "$workload" --target "$server" \
                            --protocol "$protocol" $rate $flag
                    done
                done
                printf '%-9s %-16s %-9s %-5s ' "$server" "$workload" "$protocol" "$load"
                compare "$case" || failed=3
            done
        done
    done
done
exit "$failed"
